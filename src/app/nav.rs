//! Going from place to place, with a history; and small things many screens do to the model.

use super::effect::Effect;
use super::keymap::Motion;
use super::list::Reading;
use super::model::{Model, Place};
use super::notice::Notice;
use super::screen::{ScreenId, record, sync_all, ticket};
use crate::domain::port::Dossier;
use crate::domain::time::Now;

/// Places kept in history.
const HISTORY: usize = 50;
/// Records kept whole.
const DOSSIERS: usize = 200;

impl Model {
    /// Goes to a place; the one before is in history.
    pub fn go(&mut self, place: Place, now: Now) -> Vec<Effect> {
        if self.place == place {
            return vec![];
        }
        let before = self.place.clone();
        self.past.back.push(before);
        if self.past.back.len() > HISTORY {
            self.past.back.remove(0);
        }
        self.past.forward.clear();
        self.arrive(place, now)
    }

    /// Goes to a place instead of this one (next and previous record).
    pub fn replace(&mut self, place: Place, now: Now) -> Vec<Effect> {
        if let Place::Record(id, from) = &place {
            let id = id.clone();
            match from {
                ScreenId::Stuck => self.screens.stuck.list.select(&id),
                ScreenId::Unknown => self.screens.unknown.list.select(&id),
                ScreenId::Overview
                | ScreenId::Conflicts
                | ScreenId::Invariants
                | ScreenId::Reconciliation
                | ScreenId::Ticket
                | ScreenId::Audit => {}
            }
        }
        self.arrive(place, now)
    }

    /// One place back; `None` when there is none.
    pub fn back(&mut self, now: Now) -> Option<Vec<Effect>> {
        let place = self.past.back.pop()?;
        self.past.forward.push(self.place.clone());
        Some(self.arrive(place, now))
    }

    /// One place on; `None` when there is none.
    pub fn forward(&mut self, now: Now) -> Option<Vec<Effect>> {
        let place = self.past.forward.pop()?;
        self.past.back.push(self.place.clone());
        Some(self.arrive(place, now))
    }

    /// The place before this one; pressed again, this one.
    pub fn last_view(&mut self, now: Now) -> Option<Vec<Effect>> {
        let place = self.past.back.pop()?;
        self.past.back.push(self.place.clone());
        Some(self.arrive(place, now))
    }

    fn arrive(&mut self, place: Place, _: Now) -> Vec<Effect> {
        let from_record = matches!(self.place, Place::Record(..) | Place::Ticket(..));
        let same_screen = self.screen() == screen_of(&place);
        self.place = place;
        self.dialog = None;
        self.screens.record = record::State { shown: self.screens.record.shown, ..record::State::default() };
        match &self.place {
            Place::Record(id, _) => vec![Effect::Open(id.clone())],
            Place::Ticket(id, _) => {
                let id = id.clone();
                ticket::arrive(self, id)
            }
            Place::Screen(_) => {
                // Coming back from a record the list is still being read; a new screen sorts first.
                let reading = if from_record && same_screen { Reading::Yes } else { Reading::No };
                sync_all(self, reading);
                if reading == Reading::No && self.screen() == ScreenId::Audit {
                    // Newest first: the cursor of a visit before would hide what happened since.
                    self.screens.audit.list.go(Motion::First, 1);
                }
                vec![]
            }
        }
    }

    /// Says something for a while.
    pub fn say(&mut self, text: impl Into<String>, now: Now) {
        self.notice = Some(Notice::info(text, now));
    }

    /// Keeps a record that was read whole, with the session's own look-ups added, and returns it.
    pub fn keep(&mut self, mut dossier: Dossier) -> Dossier {
        let id = dossier.detail.record.id.clone();
        if let Some(own) = self.session_evidence.get(&id) {
            let stored: Vec<_> = dossier.evidence.iter().map(|e| e.started_at).collect();
            dossier.evidence.extend(own.iter().filter(|e| !stored.contains(&e.started_at)).cloned());
            dossier.evidence.sort_by_key(|e| std::cmp::Reverse((e.started_at, e.id)));
        }
        self.hand_backs.read_whole(&dossier, &self.setup.context.operator);
        let newer_is_kept = self.dossiers.get(&id).is_some_and(|kept| kept.at > dossier.at);
        if !newer_is_kept {
            self.dossiers.insert(id, dossier.clone());
        }
        while self.dossiers.len() > DOSSIERS {
            let oldest = self.dossiers.iter().min_by_key(|(_, d)| d.at).map(|(id, _)| id.clone());
            match oldest {
                Some(oldest) => self.dossiers.remove(&oldest),
                None => break,
            };
        }
        dossier
    }
}

fn screen_of(place: &Place) -> ScreenId {
    match place {
        Place::Screen(id) | Place::Record(_, id) | Place::Ticket(_, id) => *id,
    }
}
