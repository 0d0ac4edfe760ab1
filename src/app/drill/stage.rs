//! Where in a drill the person is: read off the model, so that no order of steps is forced on anybody.

use super::super::dialog::Dialog;
use super::super::model::{Model, Place};
use super::{Drill, Job, Lookup};
use crate::domain::ids::RecordId;
use crate::domain::recovery::Step;
use crate::domain::time::Now;

/// What the next useful step is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nothing can be seen yet.
    Watch,
    /// It shows; the screen with it has not been opened.
    Open,
    /// A list is open: which record first?
    Choose,
    /// A record is open that the provider was not asked about.
    Ask,
    /// A record is open that can be finished.
    Finish,
    /// A record is open on which nothing can be concluded yet, or that needs somebody else.
    NotAlone,
    /// A record is open on which nothing is left to do.
    Next,
    /// It was seen, and no action here cures it: say what should be done.
    Understand,
    /// What one person can do was done.
    RestWaits,
    /// Nothing is stuck any more.
    Done,
}

impl Stage {
    /// The stage of a drill, as the model stands.
    pub(super) fn of(drill: &Drill, model: &Model, now: Now) -> Self {
        if drill.times.visible.is_none() {
            return Self::Watch;
        }
        if drill.times.seen.is_none() {
            return Self::Open;
        }
        if drill.lesson.job == Job::Understand {
            return Self::Understand;
        }
        if drill.times.done.is_some() {
            return Self::Done;
        }
        match open_record(model) {
            Some(id) => on_a_record(drill, model, &id, now),
            None if rest_waits(drill, model, now) => Self::RestWaits,
            None => Self::Choose,
        }
    }
}

/// The record a person is at: a dialog about one, else the one that is open.
fn open_record(model: &Model) -> Option<RecordId> {
    match (&model.dialog, &model.place) {
        (Some(Dialog::Guard(guard)), _) => Some(guard.id.clone()),
        (Some(Dialog::Menu(menu)), _) => Some(menu.id.clone()),
        (
            Some(Dialog::Bulk(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None,
            Place::Record(id, _) | Place::Ticket(id, _),
        ) => Some(id.clone()),
        (Some(Dialog::Bulk(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None, Place::Screen(_)) => None,
    }
}

fn on_a_record(drill: &Drill, model: &Model, id: &RecordId, now: Now) -> Stage {
    match model.step(id, now) {
        None | Some(Step::LookUpFirst { .. }) => Stage::Ask,
        Some(Step::Adopt { .. } | Step::FinishAsFailed { .. } | Step::FinishAsReversed { .. }) => Stage::Finish,
        Some(Step::Wait { .. } | Step::HandBack | Step::FinishAsNotCharged | Step::Refuse(_)) => {
            // Somebody else may have looked it up: here it was not done yet.
            match drill.looked_up(id) {
                Lookup::Answered => Stage::NotAlone,
                Lookup::Missing => Stage::Ask,
            }
        }
        Some(Step::NothingToDo) => Stage::Next,
    }
}

/// Whether every stuck record was looked up and none of them can be finished by one person now.
pub(super) fn rest_waits(drill: &Drill, model: &Model, now: Now) -> bool {
    let Some(left) = Drill::left(model) else { return false };
    !left.is_empty()
        && left.iter().all(|record| {
            drill.looked_up(&record.id) == Lookup::Answered
                && match model.step(&record.id, now) {
                    Some(Step::Adopt { .. } | Step::FinishAsFailed { .. } | Step::FinishAsReversed { .. }) => false,
                    // A look-up that grew old is still a look-up that was made.
                    Some(
                        Step::LookUpFirst { .. }
                        | Step::Wait { .. }
                        | Step::HandBack
                        | Step::FinishAsNotCharged
                        | Step::NothingToDo
                        | Step::Refuse(_),
                    )
                    | None => true,
                }
        })
}
