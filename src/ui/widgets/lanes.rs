//! The timeline of a case: a row for each entry, its lane named; real lanes side by side where there is room.
//!
//! A lane without an entry is shown, too: "not reached" and "we do not have this source" are two things.

use crate::domain::lanes::{Entry, Gap, Lane, Lanes};
use crate::ui::lanes::{SHOWN, time};
use crate::ui::wide::{Align, Keep, fit, wrap};
use crate::ui::{Charset, Line, Role};

/// From this width on, lanes stand side by side.
const SIDE_BY_SIDE: usize = 110;
/// Columns of a time, and of how long after the first.
const TIME: usize = 13;
const AFTER: usize = 9;
/// Columns of a lane's name.
const NAME: usize = 11;

/// The timeline as rows of at most `width` columns.
pub fn lines(lanes: &Lanes, width: usize, charset: Charset) -> Vec<Line> {
    let mut lines = Vec::new();
    let side_by_side = width >= SIDE_BY_SIDE;
    let column = width.saturating_sub(TIME + AFTER + 4) / Lane::ALL.len();
    if side_by_side {
        let mut head =
            Line::of(Role::Heading, cell("   UTC", TIME + 3, charset)).then(" ").then(cell("", AFTER, charset));
        for lane in Lane::ALL {
            head.push(Role::Heading, cell(lane.word(), column, charset));
        }
        lines.push(head);
    }
    for entry in lanes.entries.iter().take(SHOWN) {
        let what = match &entry.reference {
            Some(reference) => format!("{} {reference}", entry.what),
            None => entry.what.clone(),
        };
        let lead = lead(entry, lanes, charset);
        if side_by_side {
            let texts = wrap(&what, column.saturating_sub(1).max(6), charset);
            for (nth, text) in texts.iter().enumerate() {
                let start = if nth == 0 { lead.clone() } else { Line::plain(" ".repeat(TIME + AFTER + 4)) };
                let before = " ".repeat(column.saturating_mul(place(entry.lane)));
                lines.push(start.then(before).and(role(entry.lane), text.clone()));
            }
        } else {
            let room = width.saturating_sub(TIME + AFTER + NAME + 4).max(10);
            for (nth, text) in wrap(&what, room, charset).into_iter().enumerate() {
                let start = if nth == 0 {
                    lead.clone().and(role(entry.lane), cell(entry.lane.word(), NAME, charset))
                } else {
                    Line::plain(" ".repeat(TIME + AFTER + NAME + 4))
                };
                lines.push(start.then(text));
            }
        }
    }
    let more = lanes.entries.len().saturating_sub(SHOWN);
    if more > 0 {
        lines.push(Line::of(Role::Dim, format!("   and {more} more")));
    }
    lines.extend(lanes.gaps.iter().map(|(lane, gap)| missing(*lane, *gap, charset)));
    lines
}

/// The time of an entry, and how long after the first it was.
fn lead(entry: &Entry, lanes: &Lanes, charset: Charset) -> Line {
    let after = lanes.after_start(entry).unwrap_or_default();
    Line::of(Role::Dim, "   ")
        .and(Role::Dim, cell(&time(entry), TIME, charset))
        .then(" ")
        .and(Role::Dim, cell(&after, AFTER, charset))
}

fn missing(lane: Lane, gap: Gap, charset: Charset) -> Line {
    let (sign, role) = match gap {
        Gap::NotReached => ("   ", Role::Dim),
        Gap::NoSource => (" ? ", Role::Unknown),
    };
    Line::of(role, sign)
        .and(Role::Dim, cell("--:--:--", TIME + 1 + AFTER, charset))
        .and(role, cell(lane.word(), NAME, charset))
        .and(role, gap.word())
}

fn cell(text: &str, width: usize, charset: Charset) -> String {
    fit(text, width, Align::Left, Keep::Start, charset)
}

fn place(lane: Lane) -> usize {
    Lane::ALL.iter().position(|other| *other == lane).unwrap_or(0)
}

/// What the provider says is what a verdict rests on: it stands out.
fn role(lane: Lane) -> Role {
    match lane {
        Lane::Provider | Lane::Settlement => Role::Heading,
        Lane::Client | Lane::Api | Lane::Record | Lane::Webhook => Role::Normal,
    }
}
