//! 3 Unknown: which payments may have taken money without us knowing.
//!
//! The same list as Stuck, of payments in UNKNOWN or PENDING: sort by money or by the key window (o).

use super::{Screen, ScreenId, records, stuck};
use crate::app::model::Model;
use crate::domain::snapshot::Signal;
use crate::ui::{Line, Role};

/// This screen.
pub const SCREEN: Screen = Screen {
    id: ScreenId::Unknown,
    digit: '3',
    titles: ["Unknown", "Unkn"],
    word: "unknown",
    questions: &["get_unknown"],
    count: |model| stuck::count(model, Signal::Unknown),
    sync: |screens, snapshot, reading| screens.unknown.sync(&snapshot.unknown, reading),
    on: |model, command, now| records::on(model, ScreenId::Unknown, command, now),
    view: |model, canvas, area, room, now| {
        let Some(snapshot) = model.picture.snapshot() else {
            canvas.line(area, &super::not_known("unknown payments", "no picture of the database yet"));
            return;
        };
        let head = head(model);
        let both = [Signal::Unknown, Signal::Pending].map(|signal| snapshot.pulse_of(signal).map(|p| p.count));
        let all = both.into_iter().try_fold(0_u64, |sum, count| Some(sum.saturating_add(count?)));
        let list = records::ListOf { state: &model.screens.unknown, answer: &snapshot.unknown, all, head };
        records::view(model, list, canvas, area, room, now);
    },
};

fn head(model: &Model) -> Vec<Line> {
    let pulse = |signal| model.picture.snapshot().and_then(|s| s.pulse_of(signal));
    let mut line = match pulse(Signal::Unknown) {
        Some(p) if p.count == 0 => Line::of(Role::Good, "ok No payment has an unknown outcome."),
        Some(p) => Line::of(Role::Critical, format!("!! {} UNKNOWN", p.count)).then(format!(
            "  We asked to charge {} and got no final answer. Money may have moved.",
            if p.money.is_empty() { "an amount that is not known".to_owned() } else { p.money.to_string() }
        )),
        None => Line::of(Role::Unknown, " ? NOT KNOWN how many payments have an unknown outcome."),
    };
    if let Some(p) = pulse(Signal::Pending).filter(|p| p.count > 0) {
        line.push(Role::Normal, format!(" {} more PENDING for long.", p.count));
    }
    vec![line]
}
