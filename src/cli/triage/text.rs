//! The answer as a person reads it in a terminal: yes, no or not known first, what to say last.

use crate::cli::out::Out;
use crate::domain::case::Case;
use crate::domain::lanes::Lanes;
use crate::domain::reply::{Language, customer};
use crate::domain::triage::Triage;
use crate::ui::lanes::{days, time};

/// How many entries of the timeline are printed; the others are counted.
const ENTRIES: usize = 60;

/// Prints the whole answer.
pub(super) fn print(case: &Case, is: &Triage, language: Language, link: &str, out: &mut Out<'_>) {
    if let Some(asked) = &case.asked {
        out.line(&format!("Asked: {asked}"));
    }
    out.line(&format!(
        "ANSWER  {}. Confidence {}.",
        is.verdict.word().to_uppercase(),
        is.confidence.word().to_uppercase()
    ));
    if let Some(cause) = is.cause {
        out.line(&format!("Cause: {}.", cause.word()));
    }
    if let Some(note) = is.note {
        out.line(&format!("Also: {}.", note.word()));
    }
    if let Some(story) = &is.story {
        out.line(story);
    }
    let refs: Vec<&str> = is.charges.iter().map(crate::domain::ids::ProviderRef::as_str).collect();
    out.line(&format!("Charges that stand: {}", if refs.is_empty() { "none".to_owned() } else { refs.join(", ") }));
    if !is.too_much.is_empty() {
        out.line(&format!("Taken too much: {}", is.too_much));
    }
    section("Because", &is.because, out);
    section("Not known", &is.missing, out);
    let lanes = Lanes::of(case);
    out.line("");
    out.line(&format!("Timeline{}", days(&lanes).map(|days| format!(", {days} UTC")).unwrap_or_default()));
    for entry in lanes.entries.iter().take(ENTRIES) {
        let after = lanes.after_start(entry).unwrap_or_default();
        let about = entry.reference.as_deref().map(|about| format!("  {about}")).unwrap_or_default();
        out.line(&format!("  {:<13} {after:<9} {:<10} {}{about}", time(entry), entry.lane.word(), entry.what));
    }
    for (lane, gap) in &lanes.gaps {
        out.line(&format!("  {:<13} {:<9} {:<10} {}", "--:--:--", "", lane.word(), gap.word()));
    }
    let more = lanes.entries.len().saturating_sub(ENTRIES);
    if more > 0 {
        out.line(&format!("  and {more} more; all of them: --md"));
    }
    out.line("");
    out.line("Tell the customer:");
    out.line(&format!("  {}", customer(case, is, language)));
    out.line("");
    out.line(&format!("Next: {}.", is.next.word()));
    out.line(&format!("Look again: {link}"));
}

fn section(title: &str, lines: &[String], out: &mut Out<'_>) {
    if !lines.is_empty() {
        out.line("");
        out.line(title);
        for line in lines {
            out.line(&format!("  {line}"));
        }
    }
}
