//! The screens, in one list. Each keeps its state, its keys and its view in one file.
//!
//! Adding a screen is one file, one variant of [`ScreenId`] and one line in [`SCREENS`].

use ratatui::layout::Rect;
use serde::{Deserialize, Serialize};

use super::effect::Effect;
use super::keymap::RowCommand;
use super::list::Reading;
use super::model::{Model, Place};
use crate::domain::ids::RecordId;
use crate::domain::snapshot::Snapshot;
use crate::domain::time::Now;
use crate::ui::layout::{Room, top};
use crate::ui::widgets::panel::wrapped;
use crate::ui::{Canvas, Line, Role};

pub mod audit;
pub mod conflicts;
pub mod invariants;
pub mod overview;
pub mod reconciliation;
pub mod record;
pub mod records;
pub mod rows;
pub mod stuck;
pub mod ticket;
pub mod unknown;

/// Which screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScreenId {
    /// 1.
    Overview,
    /// 2.
    Stuck,
    /// 3.
    Unknown,
    /// 4.
    Conflicts,
    /// 5.
    Invariants,
    /// 6.
    Reconciliation,
    /// 7.
    Ticket,
    /// 8.
    Audit,
}

/// What a screen is: its name, its keys, its view.
pub struct Screen {
    /// Which.
    pub id: ScreenId,
    /// The digit that opens it.
    pub digit: char,
    /// Titles for tabs, longest first.
    pub titles: [&'static str; 2],
    /// Its name on the command line.
    pub word: &'static str,
    /// The questions whose answers it shows, for `s`.
    pub questions: &'static [&'static str],
    /// The number on its tab.
    pub count: fn(&Model) -> (String, Role),
    /// Takes a new snapshot in.
    pub sync: fn(&mut Screens, &Snapshot, Reading),
    /// Takes a command; `None` when it is not this screen's.
    pub on: fn(&mut Model, RowCommand, Now) -> Option<Vec<Effect>>,
    /// Draws its body.
    pub view: fn(&Model, &mut Canvas<'_>, Rect, Room, Now),
}

/// Every screen, in the order of the tabs.
pub const SCREENS: &[Screen] = &[
    overview::SCREEN,
    stuck::SCREEN,
    unknown::SCREEN,
    conflicts::SCREEN,
    invariants::SCREEN,
    reconciliation::SCREEN,
    ticket::SCREEN,
    audit::SCREEN,
];

/// A screen by id.
pub fn screen(id: ScreenId) -> &'static Screen {
    SCREENS.iter().find(|s| s.id == id).unwrap_or(&overview::SCREEN)
}

/// State of every screen.
#[derive(Debug, Clone, Default)]
pub struct Screens {
    /// 1.
    pub overview: overview::State,
    /// 2.
    pub stuck: records::State,
    /// 3.
    pub unknown: records::State,
    /// 4.
    pub conflicts: conflicts::State,
    /// 5.
    pub invariants: invariants::State,
    /// 6.
    pub reconciliation: reconciliation::State,
    /// 7.
    pub ticket: ticket::State,
    /// 8.
    pub audit: audit::State,
    /// Record detail.
    pub record: record::State,
}

impl Screens {
    /// The record under the cursor of a screen.
    pub fn target(&self, id: ScreenId, model: &Model) -> Option<RecordId> {
        match id {
            ScreenId::Overview => None,
            ScreenId::Stuck => self.stuck.list.cursor().cloned(),
            ScreenId::Unknown => self.unknown.list.cursor().cloned(),
            ScreenId::Conflicts => self.conflicts.target(),
            ScreenId::Invariants => self.invariants.target(model),
            ScreenId::Reconciliation => self.reconciliation.target(model),
            ScreenId::Ticket => self.ticket.list.cursor().cloned(),
            ScreenId::Audit => self.audit.target(model),
        }
    }

    /// The records of a list screen in their order, for next and previous.
    pub fn records(&self, id: ScreenId) -> &[RecordId] {
        match id {
            ScreenId::Stuck => self.stuck.list.order(),
            ScreenId::Unknown => self.unknown.list.order(),
            ScreenId::Overview
            | ScreenId::Conflicts
            | ScreenId::Invariants
            | ScreenId::Reconciliation
            | ScreenId::Ticket
            | ScreenId::Audit => &[],
        }
    }
}

/// Takes a snapshot into every screen. A screen on view keeps its order; the others sort anew.
/// Returns a notice when the row under the cursor left.
pub fn sync_all(model: &mut Model, all: Reading) -> Option<String> {
    let seen = model.picture.shown()?;
    let here = model.screen();
    let snapshot = &*seen.snapshot;
    for screen in SCREENS {
        let reading = if screen.id == here && all == Reading::Yes { Reading::Yes } else { Reading::No };
        (screen.sync)(&mut model.screens, snapshot, reading);
    }
    let on_list = matches!(model.place, Place::Screen(_));
    let gone = match here {
        ScreenId::Stuck => model.screens.stuck.list.take_gone(),
        ScreenId::Unknown => model.screens.unknown.list.take_gone(),
        ScreenId::Conflicts => model.screens.conflicts.list.take_gone(),
        ScreenId::Reconciliation => model.screens.reconciliation.list.take_gone(),
        ScreenId::Overview | ScreenId::Invariants | ScreenId::Ticket | ScreenId::Audit => false,
    };
    (gone && on_list).then(|| "The row under the cursor left the list: the cursor is on the one after it.".to_owned())
}

/// Draws the sentence of a screen, wrapped, and returns what is left below it after a gap.
pub fn sentence(canvas: &mut Canvas<'_>, area: Rect, lines: &[Line]) -> Rect {
    let rows = wrapped(lines, usize::from(area.width), canvas);
    // The sentence may take half of a small window; the rows below are worth less without it.
    let most = (area.height / 2).max(3);
    let height = u16::try_from(rows.len()).unwrap_or(most).min(most);
    let (place, rest) = top(area, height);
    canvas.lines(place, &rows);
    let gap = u16::from(rest.height > 10);
    top(rest, gap).1
}

/// A line that says why a panel is empty.
pub fn not_known(what: &str, why: &str) -> Line {
    Line::of(Role::Unknown, " ? NOT KNOWN").then(format!("  {what}: {why}"))
}

/// The rows of a body that fit a page of a list, for page motions.
pub fn page_rows(model: &Model) -> usize {
    usize::from(model.size.1.saturating_sub(12)).max(1)
}
