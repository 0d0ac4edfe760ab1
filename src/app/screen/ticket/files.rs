//! What leaves the screen: the facts for engineering, and the files of a case. Customers are masked in all of them.

use super::Answered;
use crate::app::effect::ExportFile;
use crate::domain::lanes::Lanes;
use crate::domain::mask::Masks;
use crate::domain::reply::{self, Language};
use crate::domain::time::{Instant, Now};
use crate::domain::triage::judge;
use crate::ui::lanes::{markdown::markdown, svg::svg};
use crate::ui::text::safe_text;

/// Longest part of a file's name that comes from an order or a key.
const LONGEST_NAME: usize = 40;

/// The way back to a case, as a command.
fn link(answered: &Answered) -> String {
    let link = format!("unstuck triage {} --scope {}", answered.id.key, answered.id.scope);
    Masks::default().hide_in_id(&link).into_owned()
}

/// The facts for engineering, as Markdown.
pub fn facts(answered: &Answered, now: Now) -> String {
    let masked = answered.case.clone().masked();
    let text = reply::engineering(&masked, &judge(&masked), &link(answered), now.0);
    text.lines().map(safe_text).collect::<Vec<_>>().join("\n")
}

/// The evidence, the answer and the timeline.
pub fn of(answered: &Answered, language: Language, now: Now) -> Vec<ExportFile> {
    let masked = answered.case.clone().masked();
    let triage = judge(&masked);
    let name = format!("ticket-{}-{}", plain(answered.id.key.as_str()), stamp(now.0));
    let file = |ending: &str, text: String| ExportFile { name: format!("{name}.{ending}"), text };
    vec![
        // A case is plain data: it can always be written.
        file("json", serde_json::to_string_pretty(&masked).unwrap_or_default()),
        file("md", markdown(&masked, &triage, language, &link(answered))),
        file("svg", svg(&Lanes::of(&masked), &answered.id.to_string(), triage.verdict.word())),
    ]
}

/// A moment as part of a name.
pub fn stamp(at: Instant) -> String {
    at.format("%Y%m%dT%H%M%SZ").to_string()
}

/// A name with nothing in it a file system or a shell would take for something else.
pub fn plain(text: &str) -> String {
    let safe = text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' });
    let name: String = safe.take(LONGEST_NAME).collect();
    name.trim_start_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_folder() {
        assert_eq!(plain("../../etc/passwd"), "______etc_passwd");
        assert_eq!(plain("-rf ~"), "rf__");
        assert_eq!(plain("\u{202e}\u{1b}[2J"), "___2J");
        assert_eq!(plain(&"k".repeat(500)).len(), LONGEST_NAME);
    }
}
