//! `unstuck demo --drill INCIDENT`: the incident as a lesson for the console, and the debrief when it is left.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::super::out::{ExitCode, Out};
use super::program;
use crate::app::drill::{Drill, Lesson, Offer, Practice, debrief};
use crate::app::model::Model;
use crate::domain::ids::RecordId;
use crate::domain::money::Money;
use crate::lab::incident::{self, Incident, StuckRecord};
use crate::lab::world::World;
use crate::shell::clock;

mod lessons;

/// What a console knows about practising; `drilled`: the incident it is started to drill.
pub fn practice(drilled: Option<&Incident>) -> Practice {
    let offer = |incident: &&Incident| Offer { name: incident.name.into(), sentence: incident.sentence.into() };
    Practice { drills: incident::ALL.iter().map(offer).collect(), program: program(), lesson: drilled.map(lesson) }
}

fn lesson(incident: &Incident) -> Lesson {
    let words = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
    let lessons::Plan { shown_on, job, caught_by } = lessons::of(incident.name);
    Lesson {
        name: incident.name.to_owned(),
        sentence: incident.sentence.to_owned(),
        shown_on,
        job,
        must_see: words(incident.must_see),
        should_do: words(incident.should_do),
        must_not: words(incident.must_not),
        caught_by,
    }
}

/// Whether a debrief can be written to this file, asked before a world is made. Nothing is ever overwritten.
pub fn can_debrief(file: Option<&Path>, out: &mut Out<'_>) -> Result<(), ExitCode> {
    let Some(file) = file else { return Ok(()) };
    if file.symlink_metadata().is_ok() {
        let name = file.display();
        out.complain(&format!("--debrief: {name} is there already, and nothing is overwritten. Give another name"));
        return Err(ExitCode::Finding);
    }
    Ok(())
}

/// The debrief of a drill that was left, with what only the provider knew. `None`: it was no drill.
pub fn after(model: &Model, world: &World) -> Option<String> {
    let mut text = debrief::markdown(model, clock::now())?;
    let Some(story) = world.told() else { return Some(text) };
    text.push_str("\n## What the provider knew\n\n");
    for record in &story.records {
        text.push_str(&truth(record, stands(model, record), world.charges_for_order(&record.order)));
    }
    Some(text)
}

/// How a record of the story stood when the drill was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Stuck,
    NotAnyMore,
    NeverWas,
    NotKnown,
}

fn stands(model: &Model, record: &StuckRecord) -> Stands {
    let Some(left) = Drill::left(model) else { return Stands::NotKnown };
    let id = RecordId::new(&record.scope, &record.key);
    if left.iter().any(|seen| seen.id == id) {
        Stands::Stuck
    } else if model.drill.as_ref().is_some_and(|drill| drill.met(&id)) {
        Stands::NotAnyMore
    } else {
        Stands::NeverWas
    }
}

fn truth(record: &StuckRecord, stands: Stands, charges: usize) -> String {
    let StuckRecord { scope, key, amount, currency, .. } = record;
    let now = match stands {
        Stands::Stuck => "still stuck",
        Stands::NotAnyMore => "not stuck any more",
        Stands::NeverWas => "not stuck, and never was",
        Stands::NotKnown => "NOT KNOWN whether it is still stuck",
    };
    let count = match charges {
        0 => "no charge that took money".to_owned(),
        1 => "1 charge that took money, or still may".to_owned(),
        many => format!("{many} charges that took money, or still may: one is too many"),
    };
    format!("- `{scope}/{key}` {}: {count}; {now}\n", Money::new(*amount, currency))
}

/// Says the debrief, and writes it where it was asked for.
pub fn tell(text: &str, file: Option<&PathBuf>, out: &mut Out<'_>) -> ExitCode {
    out.block(text);
    let Some(file) = file else {
        out.line("That was the debrief. In the console :debrief shows it as a page; --debrief FILE keeps it.");
        return ExitCode::Ok;
    };
    let written = OpenOptions::new().write(true).create_new(true).open(file);
    match written.and_then(|mut file| file.write_all(text.as_bytes())) {
        Ok(()) => {
            out.line(&format!("Written to {}.", file.display()));
            ExitCode::Ok
        }
        Err(error) => {
            out.complain(&format!("--debrief: {} cannot be written: {error}", file.display()));
            ExitCode::NotKnown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::drill::Job;

    #[test]
    fn every_incident_is_a_lesson_and_on_the_list() {
        let practice = practice(incident::ALL.first().copied());
        assert_eq!(practice.drills.len(), incident::ALL.len());
        assert_eq!(practice.lesson.unwrap().name, incident::ALL[0].name);
        for incident in incident::ALL {
            let lesson = lesson(incident);
            assert!(lesson.job == Job::Understand || !lesson.should_do.is_empty(), "{}", incident.name);
        }
    }

    #[test]
    fn charges_are_counted_and_what_is_not_known_is_never_called_done() {
        let record = StuckRecord {
            scope: "shop".into(),
            key: "k1".into(),
            order: "ord_1".into(),
            amount: 1_250,
            currency: "EUR",
            truth: crate::lab::incident::Truth::Charged,
        };
        let said = truth(&record, Stands::Stuck, 1);
        assert_eq!(said, "- `shop/k1` EUR 12.50: 1 charge that took money, or still may; still stuck\n");
        let said = truth(&record, Stands::NotKnown, 2);
        assert!(said.contains("2 charges") && said.contains("NOT KNOWN whether it is still stuck"), "{said}");
    }

    #[test]
    fn a_debrief_overwrites_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("debrief.md");
        let (mut said, mut complained) = (Vec::new(), Vec::new());
        let mut out = Out::new(&mut said, &mut complained);
        assert!(can_debrief(Some(&file), &mut out).is_ok());
        assert_eq!(tell("# Debrief\n", Some(&file), &mut out), ExitCode::Ok);
        assert_eq!(can_debrief(Some(&file), &mut out), Err(ExitCode::Finding));
        assert_eq!(tell("# Another\n", Some(&file), &mut out), ExitCode::NotKnown);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "# Debrief\n");
    }
}
