//! The debrief: what was seen, done, tried and left, as Markdown, for the page and for a file.

use std::fmt::Write as _;

use super::super::model::Model;
use super::super::screen::screen;
use super::{Drill, Job, What};
use crate::domain::ids::RecordId;
use crate::domain::log::Outcome;
use crate::domain::record::Record;
use crate::domain::recovery::Step;
use crate::domain::time::{Instant, Now, Seconds, age};
use crate::ui::text::safe_value;

/// The whole of it; `None` without a drill.
pub fn markdown(model: &Model, now: Now) -> Option<String> {
    let drill = model.drill.as_ref()?;
    let lesson = &drill.lesson;
    let mut out = format!("# Debrief: {}\n\n{}\n", text(&lesson.name), text(&lesson.sentence));
    let context = &model.setup.context;
    let at = now.0.format("%Y-%m-%d %H:%MZ");
    let _ = write!(out, "\nBy {}, {at}. Times count from the moment it showed.\n", text(context.operator.as_str()));
    section(&mut out, "Times", &times(drill, now));
    section(&mut out, "Done", &or(done(drill), "nothing"));
    section(&mut out, "Tried, and refused", &or(refused(drill), "nothing"));
    section(&mut out, "Left undone", &left_undone(drill, model, now));
    section(&mut out, "What would have caught it", &caught(drill, model));
    section(&mut out, "What could be seen", &list(&lesson.must_see));
    section(&mut out, "What should be done", &list(&lesson.should_do));
    section(&mut out, "What must not be done", &must_not(drill));
    Some(out)
}

fn section(out: &mut String, title: &str, items: &[String]) {
    let _ = write!(out, "\n## {title}\n\n");
    for item in items {
        let _ = writeln!(out, "- {item}");
    }
}

fn or(items: Vec<String>, nothing: &str) -> Vec<String> {
    if items.is_empty() { vec![nothing.to_owned()] } else { items }
}

fn list(items: &[String]) -> Vec<String> {
    items.iter().map(|item| text(item)).collect()
}

/// Minutes and seconds: `3:07`.
pub fn minutes(length: Seconds) -> String {
    format!("{:02}:{:02}", length.0 / 60, length.0 % 60)
}

fn times(drill: &Drill, now: Now) -> Vec<String> {
    let Some(start) = drill.start() else {
        return vec!["it never showed: there was nothing to see, or the console was left before".to_owned()];
    };
    let shown_on = screen(drill.lesson.shown_on);
    let since = |what: &str, at: Option<Instant>| {
        let said = at.map_or_else(|| "never".to_owned(), |at| minutes(age(start, at)));
        format!("{what}: {said}")
    };
    let title = shown_on.titles.first().copied().unwrap_or_default();
    let mut all = vec![since(&format!("to see it ({} {title} opened)", shown_on.digit), drill.times.seen)];
    if drill.lesson.job == Job::Finish {
        all.push(since("to the first record", drill.times.opened));
        all.push(since("to the first look-up", drill.times.look_up));
        all.push(since("to the first resume", drill.times.resume));
        all.push(since("to nothing stuck any more", drill.times.done));
    }
    all.push(since("in all", Some(drill.times.done.unwrap_or(now.0))));
    all
}

fn done(drill: &Drill) -> Vec<String> {
    drill
        .deeds
        .iter()
        .filter_map(|deed| match &deed.what {
            What::Sent { action, id, outcome, .. } => {
                let came = match outcome {
                    Some(Outcome::Done { .. }) => "done".to_owned(),
                    None => "NOT KNOWN: no answer yet".to_owned(),
                    Some(Outcome::Unknown { why, .. }) => format!("UNKNOWN: {}", text(why)),
                    Some(Outcome::Refused { .. } | Outcome::Conflict { .. }) => return None,
                };
                Some(format!("{} {} of {}: {came}", when(drill, deed.at), spoken(action), name(id)))
            }
            What::Delete | What::Refused { .. } => None,
        })
        .collect()
}

fn refused(drill: &Drill) -> Vec<String> {
    let mut all: Vec<(Instant, String)> = Vec::new();
    let first = drill.deeds.iter().find(|deed| deed.what == What::Delete);
    if let Some(first) = first {
        let times = match drill.deletes() {
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            many => format!("{many} times"),
        };
        let why = "nothing was deleted; the record is what stops a second charge";
        all.push((first.at, format!("Delete, {times}: {why}")));
    }
    for deed in &drill.deeds {
        let said = match &deed.what {
            What::Refused { request, id, why } => {
                let of = id.as_ref().map_or_else(|| "several records".to_owned(), name);
                format!("{} of {of}: {} {}", request.title().to_lowercase(), text(&why.why), text(&why.way_out))
            }
            What::Sent { action, id, outcome: Some(Outcome::Refused { why } | Outcome::Conflict { why }), .. } => {
                format!("{} of {}: {}", spoken(action), name(id), text(why))
            }
            What::Sent { .. } | What::Delete => continue,
        };
        all.push((deed.at, said));
    }
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(at, said)| format!("{} {said}", when(drill, at))).collect()
}

fn left_undone(drill: &Drill, model: &Model, now: Now) -> Vec<String> {
    let Some(left) = Drill::left(model) else {
        return vec!["NOT KNOWN: the list of stuck records could not be read".to_owned()];
    };
    let mut all: Vec<String> = left.into_iter().map(|record| left_record(drill, model, record, now)).collect();
    if drill.lesson.job == Job::Finish && !drill.deeds.iter().any(|deed| matches!(deed.what, What::Sent { .. })) {
        all.push("nothing was looked up, and nothing was finished".to_owned());
    }
    or(all, "nothing is stuck")
}

fn left_record(drill: &Drill, model: &Model, record: &Record, now: Now) -> String {
    let money = record.money.as_ref().map_or_else(|| "amount NOT KNOWN".to_owned(), ToString::to_string);
    let old = crate::domain::time::words(age(record.created_at, model.db_now(now)));
    let next = match (drill.looked_up(&record.id), model.step(&record.id, now)) {
        (super::Lookup::Missing, _) => match drill.lesson.job {
            Job::Finish => "never looked up",
            // Nobody was asked to: it is no reproach.
            Job::Understand => "still stuck; to finish it was not the lesson",
        },
        (_, Some(Step::Adopt { .. })) => "looked up; the charge could have been adopted",
        (_, Some(Step::FinishAsFailed { .. } | Step::FinishAsReversed { .. })) => {
            "looked up; it could have been finished as failed"
        }
        (_, Some(Step::HandBack | Step::FinishAsNotCharged)) => "looked up; it needs a second person",
        (_, Some(Step::Wait { .. } | Step::LookUpFirst { .. })) => {
            "looked up; look again later, nothing is certain yet"
        }
        (_, Some(Step::Refuse(_))) => "looked up; it needs a person with the provider's books",
        (_, Some(Step::NothingToDo) | None) => "looked up",
    };
    format!("{} {}, {old} old: {next}", name(&record.id), text(&money))
}

fn caught(drill: &Drill, model: &Model) -> Vec<String> {
    let all = drill.lesson.caught_by.iter().map(|caught| {
        let reports = model.picture.snapshot().into_iter().flat_map(|snapshot| &snapshot.rules);
        let sentence = reports
            .filter(|report| report.rule.id == caught.rule)
            .map(|report| text(&report.rule.sentence))
            .next()
            .unwrap_or_else(|| "(not asked here)".to_owned());
        format!("{}: {sentence} {}", text(&caught.rule), text(&caught.when))
    });
    or(all.collect(), "no rule about the money: the counts of the Overview show it")
}

fn must_not(drill: &Drill) -> Vec<String> {
    let mut all = list(&drill.lesson.must_not);
    if drill.deletes() > 0 {
        all.push(format!(
            "you reached for Delete ({}): here it does nothing; a tool that can would have charged again",
            drill.deletes()
        ));
    }
    all
}

fn when(drill: &Drill, at: Instant) -> String {
    drill.start().filter(|start| *start <= at).map_or_else(|| "before:".to_owned(), |start| minutes(age(start, at)))
}

/// The log's word, as people say it.
fn spoken(action: &str) -> String {
    match action {
        "lookup" => "look-up".to_owned(),
        other => other.replace('_', " "),
    }
}

/// An identity, so that nothing in it is read as Markdown.
fn name(id: &RecordId) -> String {
    format!("`{}`", safe_value(&id.to_string()).replace('`', "'"))
}

/// Words, so that nothing in them is read as Markdown.
fn text(raw: &str) -> String {
    let mut out = String::new();
    for c in safe_value(raw).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '|' | '#') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
