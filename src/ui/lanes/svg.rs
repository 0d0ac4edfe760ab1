//! The timeline as a picture: one lane a column, time downwards. It stands alone: no script, no style from elsewhere.

use std::fmt::Write as _;

use super::{SHOWN, days, time};
use crate::domain::lanes::{Gap, Lane, Lanes};
use crate::ui::text::safe_text;

/// Pixels from lane to lane, from row to row, and left of the lanes for the times.
const LANE: usize = 190;
const ROW: usize = 34;
const LEFT: usize = 150;
const TOP: usize = 78;
/// Letters that fit a lane.
const LETTERS: usize = 30;

/// The whole picture. `title` and `subtitle` stand above it.
pub fn svg(lanes: &Lanes, title: &str, subtitle: &str) -> String {
    let shown = lanes.entries.len().min(SHOWN);
    let more = lanes.entries.len().saturating_sub(shown);
    let columns = Lane::ALL.len();
    let (width, height) = (LEFT + LANE * columns + 20, TOP + ROW * (shown + 2) + 24);
    let mut text = String::new();
    // Writing to a String cannot fail.
    let mut put = |part: std::fmt::Arguments<'_>| {
        let _ = text.write_fmt(part);
    };
    put(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    ));
    put(format_args!(
        "<text x=\"12\" y=\"22\" font-size=\"15\" font-weight=\"bold\" fill=\"#1b1b1b\">{}</text>\n",
        xml(title, 110)
    ));
    let day = days(lanes).map(|days| format!("{days} UTC. ")).unwrap_or_default();
    put(format_args!("<text x=\"12\" y=\"40\" fill=\"#444444\">{}</text>\n", xml(&format!("{day}{subtitle}"), 160)));
    let bottom = TOP + ROW * (shown + 1);
    for (column, lane) in Lane::ALL.into_iter().enumerate() {
        let x = LEFT + LANE * column;
        put(format_args!("<text x=\"{x}\" y=\"62\" font-weight=\"bold\" fill=\"#1b1b1b\">{}</text>\n", lane.word()));
        let gap = lanes.gaps.iter().find(|(of, _)| *of == lane).map(|(_, gap)| *gap);
        // A lane we know nothing of is not a lane in which nothing happened.
        let dash = if gap == Some(Gap::NoSource) { " stroke-dasharray=\"3 5\"" } else { "" };
        put(format_args!("<line x1=\"{x}\" y1=\"{TOP}\" x2=\"{x}\" y2=\"{bottom}\" stroke=\"#b0b0b0\"{dash}/>\n"));
        if let Some(gap) = gap {
            let y = TOP + ROW / 2;
            put(format_args!(
                "<text x=\"{}\" y=\"{y}\" font-style=\"italic\" fill=\"#666666\">{}</text>\n",
                x + 8,
                gap.word()
            ));
        }
    }
    for (row, entry) in lanes.entries.iter().take(shown).enumerate() {
        let y = TOP + ROW * (row + 1);
        let column = Lane::ALL.into_iter().position(|lane| lane == entry.lane).unwrap_or(0);
        let x = LEFT + LANE * column;
        let after = lanes.after_start(entry).unwrap_or_default();
        put(format_args!("<text x=\"12\" y=\"{y}\" fill=\"#444444\">{}</text>\n", xml(&time(entry), 16)));
        put(format_args!("<text x=\"12\" y=\"{}\" fill=\"#777777\">{}</text>\n", y + 13, xml(&after, 16)));
        put(format_args!("<circle cx=\"{x}\" cy=\"{}\" r=\"4\" fill=\"#1b5e91\"/>\n", y - 4));
        put(format_args!("<text x=\"{}\" y=\"{y}\" fill=\"#1b1b1b\">{}</text>\n", x + 8, xml(&entry.what, LETTERS)));
        let about = entry.reference.as_deref().unwrap_or_default();
        put(format_args!("<text x=\"{}\" y=\"{}\" fill=\"#666666\">{}</text>\n", x + 8, y + 13, xml(about, LETTERS)));
    }
    let end = if more > 0 { format!("and {more} more entries") } else { String::new() };
    put(format_args!("<text x=\"12\" y=\"{}\" fill=\"#444444\">{}</text>\n</svg>\n", bottom + 22, xml(&end, 60)));
    text
}

/// Text for XML: hidden characters shown, at most so many letters, everything that XML would read escaped.
fn xml(raw: &str, letters: usize) -> String {
    let short: String = raw.chars().take(letters.saturating_add(1)).collect();
    let safe = safe_text(&short);
    let cut = safe.chars().count() > letters;
    let mut text = String::new();
    for c in safe.chars().take(if cut { letters.saturating_sub(1) } else { letters }) {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\'' => text.push_str("&#39;"),
            // What XML cannot hold, even escaped.
            '\u{fffe}' | '\u{ffff}' => text.push('\u{fffd}'),
            other => text.push(other),
        }
    }
    if cut {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::lanes::Entry;

    fn lanes(what: &str, count: usize) -> Lanes {
        let entry = |nth: i64| Entry {
            at: chrono::DateTime::from_timestamp(1_775_034_000 + nth, 0),
            lane: Lane::Provider,
            what: what.to_owned(),
            reference: Some(what.to_owned()),
        };
        Lanes {
            entries: (0..i64::try_from(count).expect("few")).map(entry).collect(),
            gaps: vec![(Lane::Client, Gap::NoSource), (Lane::Webhook, Gap::NotReached)],
        }
    }

    /// Every tag is closed in order, every attribute quoted, and nothing stands raw that XML reads.
    fn well_formed(text: &str) {
        let mut open: Vec<String> = Vec::new();
        let mut parts = text.split('<');
        assert!(parts.next().is_some_and(str::is_empty));
        for part in parts {
            let (tag, body) = part.split_once('>').expect("a tag ends");
            assert!(!body.contains('>') && body.split('&').skip(1).all(|after| after.contains(';')), "{body}");
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop().as_deref(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(tag.split(' ').next().expect("a name").to_owned());
            }
        }
        assert!(open.is_empty(), "{open:?}");
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "no raw control character");
    }

    #[test]
    fn whatever_is_in_a_case_the_picture_is_xml() {
        for hostile in
            ["<script>alert(1)</script>", "\" onload=\"x", "&&&", "]]>", "\u{1b}[2J\u{202e}\u{0}\u{ffff}", "'"]
        {
            let picture = svg(&lanes(hostile, 3), hostile, hostile);
            well_formed(&picture);
            assert!(!picture.contains("<script") && !picture.contains("onload=\"x"), "{picture}");
            assert!(!picture.contains('\u{202e}'));
        }
    }

    #[test]
    fn a_lane_without_a_source_says_so_and_a_long_timeline_is_counted() {
        let picture = svg(&lanes("charge", 500), "t", "s");
        well_formed(&picture);
        assert!(picture.contains("we do not have this source") && picture.contains("not reached"));
        assert!(picture.contains("and 300 more entries"));
        assert!(picture.contains("+1m40s"));
    }
}
