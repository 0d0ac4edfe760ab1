//! A hand back that this run made: its result page follows it until it ended.

use super::Phase;
use crate::app::dialog::Dialog;
use crate::app::model::Model;
use crate::domain::ids::{RecordId, ResumeId};
use crate::domain::promise::Promise;

/// A hand back that was made: the newest of the record that is newer than this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandedBack {
    /// The newest there was before.
    pub after: Option<ResumeId>,
}

impl HandedBack {
    /// What a promise hands back, if it does.
    pub fn of(promise: &Promise) -> Option<Self> {
        if let Promise::HandedBack { newest } = promise { Some(Self { after: *newest }) } else { None }
    }
}

/// The record whose hand back the result page follows.
pub fn followed(model: &Model) -> Option<&RecordId> {
    let Some(Dialog::Guard(guard)) = &model.dialog else { return None };
    let Phase::Result(finished) = &guard.phase else { return None };
    finished.handed_back.map(|_| &guard.id)
}
