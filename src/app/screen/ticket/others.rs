//! Who else? Others to whom the same happened, within a window of time, with the money at risk.

use std::collections::HashSet;

use ratatui::layout::Rect;

use super::{Answered, files, words};
use crate::app::effect::{Effect, ExportFile, TicketWish};
use crate::app::keymap::RowCommand;
use crate::app::list::{ListState, Reading};
use crate::app::model::{Model, Place};
use crate::app::screen::{not_known, page_rows, rows, sentence};
use crate::app::sheet;
use crate::domain::ids::{OrderId, ProviderRef, RecordId};
use crate::domain::mask::Masks;
use crate::domain::money::Totals;
use crate::domain::port::{MOST_OTHERS, Other, StoreError};
use crate::domain::time::{Instant, Now, Seconds};
use crate::domain::triage::Cause;
use crate::ui::layout::Room;
use crate::ui::text::safe_value;
use crate::ui::widgets::table::Column;
use crate::ui::{Canvas, Line, Role, Span};

/// How far back is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Window {
    /// 24 hours.
    #[default]
    Day,
    /// Seven days.
    Week,
}

impl Window {
    fn length(self) -> Seconds {
        match self {
            Self::Day => Seconds(86_400),
            Self::Week => Seconds(7 * 86_400),
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Day => Self::Week,
            Self::Week => Self::Day,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Day => "24 hours",
            Self::Week => "7 days",
        }
    }
}

/// The others, as far as they are known.
#[derive(Debug, Clone)]
pub struct Others {
    cause: Cause,
    window: Window,
    since: Instant,
    found: Option<Result<Vec<Other>, String>>,
    /// Their records and the cursor.
    pub list: ListState<Id>,
}

/// What tells one line from the others.
pub type Id = (Option<RecordId>, Option<OrderId>, Option<ProviderRef>);

fn id_of(other: &Other) -> Id {
    (other.id.clone(), other.order.clone(), other.provider_ref.clone())
}

impl Others {
    /// Takes what was found, when it is what was asked for last.
    pub fn take(&mut self, cause: Cause, since: Instant, found: Result<Vec<Other>, StoreError>) {
        if (cause, since) != (self.cause, self.since) {
            return;
        }
        if let Ok(found) = &found {
            let mut seen = HashSet::new();
            let ids = found.iter().map(id_of).filter(|id| seen.insert(id.clone())).collect();
            self.list.sync(ids, Reading::No);
        }
        self.found = Some(found.map_err(|why| why.to_string()));
    }

    fn known(&self) -> &[Other] {
        match &self.found {
            Some(Ok(found)) => found,
            Some(Err(_)) | None => &[],
        }
    }

    fn at_risk(&self) -> Totals {
        self.known().iter().filter_map(|other| other.at_risk.clone()).collect()
    }

    /// The list as text.
    pub fn text(&self) -> String {
        let head = format!(
            "{}: {} in the last {}. At risk: {}",
            words::cause(self.cause),
            self.many(),
            self.window.word(),
            self.risk()
        );
        let mut masks = Masks::default();
        let rows = self.known().iter().map(|other| {
            let order = other.order.as_ref().map_or("-", |order| order.as_str());
            let money = other.at_risk.as_ref().map_or_else(|| "not known".to_owned(), ToString::to_string);
            let row = format!("{} {} {order} {money} {}", stamp(other.at), name(other), other.what);
            safe_value(&masks.hide_in_id(&row)).into_owned()
        });
        std::iter::once(head).chain(rows).collect::<Vec<_>>().join("\n")
    }

    /// The list as a file of comma-separated values.
    pub fn file(&self, now: Now) -> ExportFile {
        let mut text = "scope,key,order,provider_ref,at,amount,currency,what\r\n".to_owned();
        let mut masks = Masks::default();
        for other in self.known() {
            let money = other.at_risk.as_ref();
            let cells = [
                other.id.as_ref().map(|id| id.scope.to_string()).unwrap_or_default(),
                other.id.as_ref().map(|id| id.key.to_string()).unwrap_or_default(),
                other.order.as_ref().map(ToString::to_string).unwrap_or_default(),
                other.provider_ref.as_ref().map(ToString::to_string).unwrap_or_default(),
                stamp(other.at),
                money.map(crate::domain::money::Money::amount).unwrap_or_default(),
                money.map(|money| money.currency.to_string()).unwrap_or_default(),
                other.what.clone(),
            ];
            text.push_str(&sheet::line(cells, &mut masks));
        }
        ExportFile { name: format!("others-{}.csv", files::stamp(now.0)), text }
    }

    /// How many there are, as far as they are listed.
    fn many(&self) -> String {
        match self.known().len() {
            MOST_OTHERS.. => format!("{MOST_OTHERS} or more"),
            fewer => fewer.to_string(),
        }
    }

    fn risk(&self) -> String {
        let sum = self.at_risk();
        let unpriced = self.known().iter().filter(|other| other.at_risk.is_none()).count();
        let least = if self.known().len() >= MOST_OTHERS { "at least " } else { "" };
        let sum = if sum.is_empty() { "none that is known".to_owned() } else { format!("{least}{sum}") };
        if unpriced == 0 { sum } else { format!("{sum}, and {unpriced} of NOT KNOWN amount") }
    }

    /// Draws the list.
    pub fn view(&self, _: &Model, canvas: &mut Canvas<'_>, area: Rect, room: Room, _: Now) {
        let mut lines = vec![Line::of(Role::Heading, " WHO ELSE?  ").then(format!("{}.", words::cause(self.cause)))];
        match &self.found {
            None => lines.push(Line::of(Role::Info, " i being looked for")),
            Some(Err(why)) => lines.push(not_known("to whom else it happened", why)),
            Some(Ok(_)) => lines.push(
                Line::plain(format!(" {} in the last {}. At risk: ", self.many(), self.window.word()))
                    .and(Role::Heading, self.risk())
                    .then("."),
            ),
        }
        lines.push(
            Line::plain(" ")
                .and(Role::Key, "w")
                .then(format!(" the last {}   ", self.window.other().word()))
                .and(Role::Key, "Enter")
                .then(" its answer   ")
                .and(Role::Key, "e")
                .then(" writes the list to a file   ")
                .and(Role::Key, "Esc")
                .then(" back to the answer"),
        );
        let rest = sentence(canvas, area, &lines);
        if self.known().is_empty() {
            return;
        }
        let cells = |id: &Id| self.known().iter().find(|other| id_of(other) == *id).map(cells);
        rows::draw(canvas, rest, COLUMNS, (self.list.order(), self.list.position()), rows::form(room), cells);
    }
}

const COLUMNS: &[Column] = &[
    Column::words("WHEN (UTC)", 20, 1),
    Column::ids("SCOPE", 8, 0).up_to(16),
    Column::ids("ORDER", 10, 0).up_to(24),
    Column::numbers("AT RISK", 12, 0).up_to(16),
    Column::ids("KEY", 10, 3).up_to(24),
    Column::words("WHAT SHOWS IT", 16, 2).up_to(60),
];

fn cells(other: &Other) -> Vec<Span> {
    vec![
        rows::span(Role::Normal, ""),
        rows::span(Role::Normal, stamp(other.at)),
        rows::span(Role::Normal, other.id.as_ref().map_or_else(|| "-".to_owned(), |id| id.scope.to_string())),
        rows::span(Role::Normal, other.order.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string)),
        match &other.at_risk {
            Some(money) => rows::span(Role::Normal, money.to_string()),
            None => rows::span(Role::Unknown, "NOT KNOWN"),
        },
        rows::span(Role::Normal, key(other)),
        rows::span(Role::Normal, other.what.clone()),
    ]
}

/// The key, or the provider's ref where our books have none.
fn key(other: &Other) -> String {
    let theirs = || other.provider_ref.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    other.id.as_ref().map_or_else(theirs, |id| id.key.to_string())
}

fn name(other: &Other) -> String {
    other.id.as_ref().map_or_else(|| key(other), ToString::to_string)
}

fn stamp(at: Instant) -> String {
    at.format("%Y-%m-%d %H:%M:%SZ").to_string()
}

/// Looks for others like a case, or, when they are on view, over the other window.
pub fn open(model: &mut Model, answered: &Answered, now: Now) -> Vec<Effect> {
    let Some(cause) = answered.triage.cause else {
        model.say("There is no cause here to look for others by.", now);
        return vec![];
    };
    let window = model.screens.ticket.others.as_ref().map_or(Window::Day, |others| others.window.other());
    let since = window.length().before(model.db_now(now));
    model.screens.ticket.others = Some(Others { cause, window, since, found: None, list: ListState::default() });
    vec![Effect::Ticket(TicketWish::Others(cause, since))]
}

/// The keys of the list.
pub fn on(model: &mut Model, command: RowCommand, now: Now) -> Option<Vec<Effect>> {
    let page = page_rows(model);
    let from = model.screen();
    let others = model.screens.ticket.others.as_mut()?;
    match command {
        RowCommand::Move(motion) => {
            others.list.go(motion, page);
            Some(vec![])
        }
        RowCommand::Enter => match others.list.cursor().cloned() {
            Some((Some(id), ..)) if model.place == Place::Ticket(id.clone(), from) => {
                model.screens.ticket.others = None;
                Some(vec![])
            }
            Some((Some(id), ..)) => Some(model.go(Place::Ticket(id, from), now)),
            Some((None, ..)) => {
                model.say("No record is named here: its ref is all there is.", now);
                Some(vec![])
            }
            None => Some(vec![]),
        },
        RowCommand::Back => {
            model.screens.ticket.others = None;
            Some(vec![])
        }
        RowCommand::Only
        | RowCommand::Sort
        | RowCommand::Reverse
        | RowCommand::Next
        | RowCommand::Previous
        | RowCommand::Raw
        | RowCommand::Mark
        | RowCommand::Unmark => None,
    }
}
