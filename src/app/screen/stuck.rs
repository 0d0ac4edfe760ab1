//! 2 Stuck: which records hold customers back, what can be done with each.
//!
//! ```text
//!  Stuck: processing, lease over for more than 5m00s. 31 records.
//!    SCOPE    KEY        AGE     STUCK AT         AMOUNT      TRY  NEXT
//! !! shop-eu  …7Q4K-91   21m23s  provider_called  EUR 128.40    3  lookup
//! ```

use super::{Screen, ScreenId, records};
use crate::app::model::Model;
use crate::domain::snapshot::Signal;
use crate::domain::time::words;
use crate::ui::{Line, Role};

/// This screen.
pub const SCREEN: Screen = Screen {
    id: ScreenId::Stuck,
    digit: '2',
    titles: ["Stuck", "Stuck"],
    word: "stuck",
    questions: &["get_stuck"],
    count: |model| count(model, Signal::Stuck),
    sync: |screens, snapshot, reading| screens.stuck.sync(&snapshot.stuck, reading),
    on: |model, command, now| records::on(model, ScreenId::Stuck, command, now),
    view: |model, canvas, area, room, now| {
        let Some(snapshot) = model.picture.snapshot() else {
            canvas.line(area, &super::not_known("stuck records", "no picture of the database yet"));
            return;
        };
        let head = vec![head(model)];
        let list = records::ListOf {
            state: &model.screens.stuck,
            answer: &snapshot.stuck,
            all: snapshot.pulse_of(Signal::Stuck).map(|p| p.count),
            head,
        };
        records::view(model, list, canvas, area, room, now);
    },
};

fn head(model: &Model) -> Line {
    let limit = words(model.setup.context.policy.stuck_after);
    let line = Line::plain(format!(" Stuck: lease over for more than {limit}. "));
    match model.picture.snapshot().and_then(|s| s.pulse_of(Signal::Stuck)) {
        Some(pulse) if pulse.money.is_empty() => line.and(Role::Heading, format!("{} records.", pulse.count)),
        Some(pulse) => line.and(Role::Heading, format!("{} records, {}.", pulse.count, pulse.money)),
        None => line.and(Role::Unknown, "How many is NOT KNOWN."),
    }
}

/// The number on a tab: `?` when it is not known.
pub fn count(model: &Model, signal: Signal) -> (String, Role) {
    let Some(snapshot) = model.picture.snapshot() else { return ("?".into(), Role::Unknown) };
    match snapshot.pulse_of(signal) {
        None => ("?".into(), Role::Unknown),
        Some(pulse) if pulse.count == 0 => ("0".into(), Role::Normal),
        Some(pulse) => {
            let level = crate::domain::alarm::level_of(pulse, &model.setup.normals);
            (pulse.count.to_string(), super::overview::level_role(level))
        }
    }
}
