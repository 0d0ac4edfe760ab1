//! Following a person through a drill: what is so before a message, and what it led to.

use super::super::dialog::{self, Dialog, reader};
use super::super::effect::{Effect, Run};
use super::super::model::{Model, Place};
use super::super::msg::{GuardMsg, Msg};
use super::{Drill, Job, Page, Plainness, Stage, What, Word, debrief, shows};
use crate::domain::action::Request;
use crate::domain::alarm::{self, Level};
use crate::domain::guard::Refused;
use crate::domain::ids::RecordId;
use crate::domain::log::Outcome;
use crate::domain::time::{Instant, Now};

/// The words in the log of what a resume comes to.
const RESUMES: [&str; 5] = ["adopt", "fail", "reverse", "not_charged", "hand_back"];

/// What was so before a message; made only for a drill.
pub struct Before {
    deletes: u32,
    refused: Option<Refusal>,
    ended: Option<(Run, Outcome)>,
    polled: bool,
}

/// A refusal on screen.
#[derive(PartialEq, Eq)]
struct Refusal {
    run: Run,
    request: Request,
    id: Option<RecordId>,
    why: Refused,
}

impl Before {
    /// What is so now; `None` when there is nothing to follow.
    pub fn of(model: &Model, msg: &Msg) -> Option<Self> {
        model.drill.as_ref()?;
        let ended = match msg {
            Msg::Guard(run, GuardMsg::Acted(acted)) => Some((*run, acted.outcome.clone())),
            Msg::Guard(_, GuardMsg::Prepared(_) | GuardMsg::Checked(_) | GuardMsg::ReadBack(_))
            | Msg::Key(_)
            | Msg::Paste(_)
            | Msg::Focus
            | Msg::Resumed
            | Msg::Resized(..)
            | Msg::Drawn
            | Msg::Wake
            | Msg::Connected(_)
            | Msg::Polled(_)
            | Msg::Dossier(..)
            | Msg::Found(..)
            | Msg::Ticket(_)
            | Msg::Said(_)
            | Msg::Terminate => None,
        };
        let polled = matches!(msg, Msg::Polled(_));
        Some(Self { deletes: model.delete_presses, refused: refusal(model), ended, polled })
    }
}

/// Notes what a message led to, and opens the debrief when nothing is left.
pub fn follow(model: &mut Model, before: Option<Before>, effects: &[Effect], now: Now) {
    let Some(before) = before else { return };
    let Some(mut drill) = model.drill.take() else { return };
    if before.polled {
        drill.note_picture(model, now);
    }
    drill.note_deeds(model, before, effects, now);
    if let Some(word) = drill.last.as_mut().filter(|word| word.since == now.0) {
        word.on = model.dialog.as_ref().map(Dialog::scope);
    }
    drill.note_times(model, now);
    let stage = Stage::of(&drill, model, now);
    if stage != drill.stage.0 {
        drill.stage = (stage, now.0);
        drill.asked = Plainness::Nudge;
    }
    let over = drill.times.done.is_some() && drill.page == Page::ToCome;
    let free = model.dialog.is_none() && model.line.is_none();
    if over && free {
        drill.page = Page::Shown;
    }
    model.drill = Some(drill);
    // A page is not put before somebody who reads another one, or types.
    if over && free {
        open_debrief(model, now);
    }
}

/// Opens the debrief; says so when there is none.
pub fn open_debrief(model: &mut Model, now: Now) {
    if let Some(drill) = &mut model.drill {
        drill.page = Page::Shown;
    }
    match debrief::markdown(model, now) {
        Some(text) => model.dialog = Some(Dialog::Reader(reader::debrief(&text))),
        None => model.say("No drill runs here. :learn lists them.", now),
    }
}

impl Drill {
    fn note_deeds(&mut self, model: &Model, before: Before, effects: &[Effect], now: Now) {
        for _ in before.deletes..model.delete_presses {
            self.note(What::Delete, now);
        }
        if let Some(refusal) = refusal(model).filter(|refusal| before.refused.as_ref() != Some(refusal)) {
            let Refusal { request, id, why, .. } = refusal;
            self.note(What::Refused { request, id, why }, now);
        }
        for effect in effects {
            match effect {
                Effect::Act(run, armed) => self.sent(*run, armed.order().action, armed.id(), now),
                Effect::Consent(run, consent) => self.sent(*run, consent.order().action, consent.id(), now),
                Effect::Quit
                | Effect::Redraw
                | Effect::PollNow
                | Effect::Open(_)
                | Effect::Find(_)
                | Effect::Prepare(..)
                | Effect::Check(..)
                | Effect::ReadBack(..)
                | Effect::Copy(_)
                | Effect::Ticket(_)
                | Effect::Export(_)
                | Effect::Refused(_) => {}
            }
        }
        if let Some((of, came)) = before.ended {
            for (nth, deed) in self.deeds.iter_mut().enumerate() {
                if let What::Sent { run, outcome: outcome @ None, .. } = &mut deed.what
                    && *run == of
                {
                    *outcome = Some(came.clone());
                    self.last = Some(Word { deed: nth, since: now.0, on: None });
                }
            }
        }
    }

    fn sent(&mut self, run: Run, action: &'static str, id: RecordId, now: Now) {
        if action == "lookup" {
            self.times.look_up.get_or_insert(now.0);
        } else if RESUMES.contains(&action) {
            self.times.resume.get_or_insert(now.0);
        }
        self.note(What::Sent { run, action, id, outcome: None }, now);
    }

    fn note_times(&mut self, model: &Model, now: Now) {
        if self.times.visible.is_none() {
            return;
        }
        if shows(&self.lesson, model.screen()) {
            self.times.seen.get_or_insert(now.0);
        }
        if matches!(model.place, Place::Record(..)) {
            self.times.opened.get_or_insert(now.0);
        }
    }

    fn note_picture(&mut self, model: &Model, now: Now) {
        let Some(snapshot) = model.picture.snapshot() else { return };
        self.times.began.get_or_insert(now.0);
        if self.times.visible.is_none()
            && is_visible(self.lesson.job, alarm::assess(snapshot, &model.setup.normals).level)
        {
            self.times.visible = Some(now.0);
        }
        let Some(stuck) = snapshot.stuck.value() else { return };
        self.met.extend(stuck.iter().map(|record| record.id.clone()));
        let emptied = stuck.is_empty() && !self.met.is_empty();
        if self.lesson.job == Job::Finish && emptied && self.times.resume.is_some() {
            self.times.done.get_or_insert(now.0);
        }
    }

    /// The moment the times are counted from: when it showed.
    pub(super) fn start(&self) -> Option<Instant> {
        self.times.visible
    }
}

/// Whether such a picture shows an incident of this kind.
fn is_visible(job: Job, level: Level) -> bool {
    match (job, level) {
        (_, Level::Critical) | (Job::Understand, Level::Caution) => true,
        (Job::Finish, Level::Caution) | (_, Level::Ok | Level::NotKnown) => false,
    }
}

/// The refusal that is on screen, if one is.
fn refusal(model: &Model) -> Option<Refusal> {
    match &model.dialog {
        Some(Dialog::Guard(guard)) => {
            let dialog::guard::Phase::Refused(why) = &guard.phase else { return None };
            Some(Refusal { run: guard.run, request: guard.request, id: Some(guard.id.clone()), why: why.clone() })
        }
        Some(Dialog::Bulk(bulk)) => {
            let dialog::bulk::Phase::Refused(why) = &bulk.phase else { return None };
            Some(Refusal { run: bulk.run, request: bulk.request.request(), id: None, why: why.clone() })
        }
        Some(Dialog::Menu(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None => None,
    }
}
