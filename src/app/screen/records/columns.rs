//! The columns of the lists of records.

use crate::app::model::Zone;
use crate::ui::widgets::table::Column;

/// What the longest word of the NEXT column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// A step.
    Step,
    /// For how long a record is handed back.
    HandedBack,
}

/// The columns; times are ages, or since when.
pub(super) fn of(zone: Zone, next: Next) -> &'static [Column] {
    match (zone, next) {
        (Zone::Ages, Next::Step) => &AGES,
        (Zone::Utc, Next::Step) => &TIMES,
        (Zone::Ages, Next::HandedBack) => &AGES_HANDED,
        (Zone::Utc, Next::HandedBack) => &TIMES_HANDED,
    }
}

const fn table_columns(when: &'static str, next: Next) -> [Column; 11] {
    // A hand back says since when: it gets the room of the number of attempts and a little of the recovery point's.
    let (at, next) = match next {
        Next::Step => (15, 9),
        Next::HandedBack => (13, 15),
    };
    [
        Column::ids("SCOPE", 8, 1).up_to(16),
        Column::ids("KEY", 12, 0).up_to(24),
        Column::words(when, 6, 1).up_to(17),
        Column::words("STUCK AT", at, 2).up_to(15),
        Column::numbers("AMOUNT", 12, 1).up_to(14),
        Column::words("PROVIDER", 9, 6).up_to(12),
        Column::numbers("TRY", 3, 5),
        Column::words("KEY LEFT", 8, 7),
        Column::words("NEXT", next, 3),
        Column::ids("ORDER", 10, 8).up_to(14),
        Column::words("OWNER", 8, 9).up_to(12),
    ]
}

const AGES: [Column; 11] = table_columns("AGE", Next::Step);
const TIMES: [Column; 11] = table_columns("SINCE", Next::Step);
const AGES_HANDED: [Column; 11] = table_columns("AGE", Next::HandedBack);
const TIMES_HANDED: [Column; 11] = table_columns("SINCE", Next::HandedBack);
