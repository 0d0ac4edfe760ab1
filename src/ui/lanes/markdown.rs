//! A case as a page to paste into a ticket: the answer first, then what proves it.

use std::fmt::Write as _;

use super::{SHOWN, days, time};
use crate::domain::case::Case;
use crate::domain::lanes::Lanes;
use crate::domain::reply::{Language, customer};
use crate::domain::triage::Triage;
use crate::ui::markdown::plain;

/// The whole page, in the language the customer is answered in. `link`: how to come back.
pub fn markdown(case: &Case, triage: &Triage, language: Language, link: &str) -> String {
    let lanes = Lanes::of(case);
    let mut page = String::new();
    // Writing to a String cannot fail.
    let mut line = |text: &str| {
        let _ = writeln!(page, "{text}");
    };
    line(&format!("# {}", plain(&upper(triage.verdict.word()))));
    line("");
    if let Some(asked) = &case.asked {
        line(&format!("- Asked: {}", plain(asked)));
    }
    if let Some(now) = case.now {
        line(&format!("- As of: {}", now.format("%Y-%m-%d %H:%M:%SZ")));
    }
    line(&format!("- Confidence: {}", triage.confidence.word()));
    if let Some(cause) = triage.cause {
        line(&format!("- Cause: {}", plain(cause.word())));
    }
    if let Some(note) = triage.note {
        line(&format!("- Also: {}", plain(note.word())));
    }
    let refs: Vec<String> = triage.charges.iter().map(|of| plain(of.as_str())).collect();
    line(&format!("- Charges that stand: {}", if refs.is_empty() { "none".to_owned() } else { refs.join(", ") }));
    if !triage.too_much.is_empty() {
        line(&format!("- Taken too much: {}", plain(&triage.too_much.to_string())));
    }
    line(&format!("- Next: {}", plain(triage.next.word())));
    line(&format!("- Look again: {}", plain(link)));
    if let Some(story) = &triage.story {
        line(&format!("\n{}", plain(story)));
    }
    line("\n## Tell the customer\n");
    line(&format!("> {}", plain(&customer(case, triage, language))));
    line("\n## Because\n");
    for said in &triage.because {
        line(&format!("- {}", plain(said)));
    }
    if !triage.missing.is_empty() {
        line("\n## Not known\n");
        for said in &triage.missing {
            line(&format!("- {}", plain(said)));
        }
    }
    line(&format!("\n## Timeline{}\n", days(&lanes).map(|days| format!(", {days} UTC")).unwrap_or_default()));
    line("| UTC | after | lane | what | about |");
    line("|---|---|---|---|---|");
    for entry in lanes.entries.iter().take(SHOWN) {
        let after = lanes.after_start(entry).unwrap_or_default();
        let about = entry.reference.as_deref().map(plain).unwrap_or_default();
        line(&format!("| {} | {after} | {} | {} | {about} |", time(entry), entry.lane.word(), plain(&entry.what)));
    }
    for (lane, gap) in &lanes.gaps {
        line(&format!("| – | | {} | {} | |", lane.word(), gap.word()));
    }
    let more = lanes.entries.len().saturating_sub(SHOWN);
    if more > 0 {
        line(&format!("\nAnd {more} more entries."));
    }
    page
}

fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::case::{Charge, Request};
    use crate::domain::ids::ProviderRef;
    use crate::domain::triage::judge;

    #[test]
    fn the_answer_stands_first_and_nothing_of_others_is_read_as_markdown() {
        let hostile = "x | y\n# z <img> `w`\u{202e}";
        let case = Case {
            asked: Some(hostile.to_owned()),
            charges: Some(vec![Charge { provider_ref: Some(ProviderRef::new(hostile)), ..Charge::default() }]),
            requests: Some(vec![Request { path: Some(hostile.to_owned()), status: Some(201), ..Request::default() }]),
            ..Case::default()
        };
        let page = markdown(&case, &judge(&case), Language::English, "unstuck triage x");
        assert!(page.starts_with("# In doubt\n") || page.starts_with("# Not known\n"), "{page}");
        assert!(!page.contains("<img>") && !page.contains('\u{202e}') && !page.contains("\n# z"), "{page}");
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
        assert!(rows.iter().all(|row| row.replace("\\|", "").matches('|').count() == 6), "{rows:#?}");
        assert!(page.contains("we do not have this source"));
    }
}
