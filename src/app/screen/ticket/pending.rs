//! Stand-ins until the rest is there.
use crate::domain::case::Case;
use crate::domain::lanes::Lanes;
use crate::domain::triage::Triage;
use crate::ui::{Charset, Line};
pub fn lines(lanes: &Lanes, _: usize, _: Charset) -> Vec<Line> {
    lanes.entries.iter().map(|e| Line::plain(format!("   {:?} {}", e.at, e.what))).collect()
}
pub fn to_json(case: &Case) -> String {
    serde_json::to_string_pretty(case).unwrap_or_default()
}
pub fn markdown(_: &Case, _: &Lanes, t: &Triage) -> String {
    format!("{t:?}")
}
pub fn svg(l: &Lanes, _: &str) -> String {
    format!("{l:?}")
}
