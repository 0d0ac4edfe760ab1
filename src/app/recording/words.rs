//! People's own words, as the database keeps them: reasons and notes name customers more often than not. A
//! recording has their shape and nothing of what they say.

use std::borrow::Cow;

use super::typed::stand_in;
use crate::app::dialog::Dialog;
use crate::app::model::Model;
use crate::app::msg::GuardMsg;
use crate::domain::answer::Answer;
use crate::domain::approval::{ApprovalRequest, ResumeRequest};
use crate::domain::log::LogEntry;
use crate::domain::port::Dossier;
use crate::domain::snapshot::Snapshot;

/// A picture without them.
pub(super) fn of_snapshot(snapshot: &mut Snapshot) {
    known(&mut snapshot.log).iter_mut().for_each(of_entry);
    for handed in known(&mut snapshot.handed_over) {
        hide(&mut handed.note);
    }
    known(&mut snapshot.approvals).iter_mut().for_each(of_approval);
    known(&mut snapshot.resumes).iter_mut().for_each(of_resume);
}

/// A record without them.
pub(super) fn of_dossier(dossier: &mut Dossier) {
    for line in known(&mut dossier.timeline).iter_mut().filter(|line| line.lane == "operator") {
        let Some(detail) = &mut line.detail else { continue };
        // Who it was stays; what they wrote follows.
        let (who, words) = match detail.split_once(", ").filter(|(who, _)| who.starts_with("by ")) {
            Some((who, words)) => (format!("{who}, "), words),
            None if detail.starts_with("by ") => continue,
            None => (String::new(), detail.as_str()),
        };
        *detail = format!("{who}{}", stand_in(words));
    }
    dossier.approvals.iter_mut().for_each(of_approval);
    dossier.resumes.iter_mut().for_each(of_resume);
}

/// An answer to the guard without them.
pub(super) fn of_heard(heard: &mut GuardMsg) {
    match heard {
        GuardMsg::Prepared(Ok(Some(dossier))) | GuardMsg::Checked(Ok(Some(dossier))) => of_dossier(dossier),
        GuardMsg::Acted(acted) => {
            if let Ok(Some(dossier)) = &mut acted.after {
                of_dossier(dossier);
            }
        }
        GuardMsg::ReadBack(Ok(Some(entry))) => of_entry(entry),
        GuardMsg::Prepared(Ok(None) | Err(_))
        | GuardMsg::Checked(Ok(None) | Err(_))
        | GuardMsg::ReadBack(Ok(None) | Err(_)) => {}
    }
}

/// What the shell says, without what was just typed: it repeats what was copied.
pub(super) fn of_said(text: &str, model: &Model) -> String {
    let fields = match &model.dialog {
        Some(Dialog::Guard(guard)) => vec![&guard.form.reason, &guard.form.owner],
        Some(Dialog::Bulk(bulk)) => vec![&bulk.form.reason],
        Some(Dialog::Menu(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None => vec![],
    };
    let mut said = Cow::Borrowed(text);
    for typed in fields.into_iter().map(|field| field.text().trim()) {
        if !typed.is_empty() && said.contains(typed) {
            said = Cow::Owned(said.replace(typed, &stand_in(typed)));
        }
    }
    said.into_owned()
}

fn of_entry(entry: &mut LogEntry) {
    hide_some(&mut entry.reason);
    if entry.entry == "event" {
        // What somebody typed that does not exist.
        hide_some(&mut entry.detail);
    }
}

fn of_approval(request: &mut ApprovalRequest) {
    hide(&mut request.reason);
    hide_some(&mut request.decided_reason);
}

fn of_resume(request: &mut ResumeRequest) {
    hide(&mut request.reason);
}

fn hide(text: &mut String) {
    *text = stand_in(text);
}

fn hide_some(text: &mut Option<String>) {
    *text = text.as_deref().map(stand_in);
}

fn known<T>(answer: &mut Answer<Vec<T>>) -> &mut [T] {
    match answer {
        Answer::Known { value, .. } => value,
        Answer::NotKnown { .. } => &mut [],
    }
}
