//! The timeline as a picture: one lane a column, time downwards. It stands alone: no script, no style from elsewhere.

use std::fmt::Write as _;

use super::{SHOWN, days, stamp};
use crate::domain::lanes::{Gap, Lane, Lanes};
use crate::ui::Charset;
use crate::ui::wide::{Keep, cut, wrap};

/// Pixels from lane to lane, from line to line, between entries, left of the lanes for the times, and above them.
const LANE: usize = 190;
const LINE: usize = 13;
const SPACE: usize = 8;
const LEFT: usize = 190;
const TOP: usize = 78;
/// Columns of letters that fit a lane, and the left side: a letter of this size is 6.6 pixels wide.
const LETTERS: usize = 27;
const STAMP: usize = 26;
/// Lines that what happened may take.
const LINES: usize = 4;

/// The whole picture. `title` and `subtitle` stand above it.
pub fn svg(lanes: &Lanes, title: &str, subtitle: &str) -> String {
    let shown = lanes.entries.len().min(SHOWN);
    let more = lanes.entries.len().saturating_sub(shown);
    let rows: Vec<Vec<String>> = lanes.entries.iter().take(shown).map(|entry| words(&entry.what)).collect();
    let tall = |lines: &Vec<String>| LINE * (lines.len() + 1) + SPACE;
    // The first line is left to what stands in an empty lane.
    let bottom = TOP + LINE * 2 + rows.iter().map(tall).sum::<usize>();
    let (width, height) = (LEFT + LANE * Lane::ALL.len() + 20, bottom + 36);
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
    for (column, lane) in Lane::ALL.into_iter().enumerate() {
        let x = LEFT + LANE * column;
        put(format_args!("<text x=\"{x}\" y=\"62\" font-weight=\"bold\" fill=\"#1b1b1b\">{}</text>\n", lane.word()));
        let gap = lanes.gaps.iter().find(|(of, _)| *of == lane).map(|(_, gap)| *gap);
        // A lane we know nothing of is not a lane in which nothing happened.
        let dash = if gap == Some(Gap::NoSource) { " stroke-dasharray=\"3 5\"" } else { "" };
        put(format_args!("<line x1=\"{x}\" y1=\"{TOP}\" x2=\"{x}\" y2=\"{bottom}\" stroke=\"#b0b0b0\"{dash}/>\n"));
        if let Some(gap) = gap {
            let y = TOP + LINE;
            put(format_args!(
                "<text x=\"{}\" y=\"{y}\" font-style=\"italic\" fill=\"#666666\">{}</text>\n",
                x + 8,
                gap.word()
            ));
        }
    }
    let mut y = TOP + LINE * 3;
    for (entry, lines) in lanes.entries.iter().zip(&rows) {
        let column = Lane::ALL.into_iter().position(|lane| lane == entry.lane).unwrap_or(0);
        let x = LEFT + LANE * column;
        let after = lanes.after_start(entry).unwrap_or_default();
        put(format_args!("<text x=\"12\" y=\"{y}\" fill=\"#444444\">{}</text>\n", xml(&stamp(lanes, entry), STAMP)));
        put(format_args!("<text x=\"12\" y=\"{}\" fill=\"#6b6b6b\">{}</text>\n", y + LINE, xml(&after, STAMP)));
        put(format_args!("<circle cx=\"{x}\" cy=\"{}\" r=\"4\" fill=\"#1b5e91\"/>\n", y - 4));
        for (nth, part) in lines.iter().enumerate() {
            let (x, y) = (x + 8, y + LINE * nth);
            put(format_args!("<text x=\"{x}\" y=\"{y}\" fill=\"#1b1b1b\">{}</text>\n", xml(part, LETTERS)));
        }
        // Keys and refs differ at their ends.
        let about = entry.reference.as_deref().unwrap_or_default();
        let about = escaped(&cut(about, LETTERS, Keep::End, Charset::Unicode));
        let below = y + LINE * lines.len();
        put(format_args!("<text x=\"{}\" y=\"{below}\" fill=\"#5c5c5c\">{about}</text>\n", x + 8));
        y += tall(lines);
    }
    let end = if more > 0 { format!("and {more} more entries") } else { String::new() };
    put(format_args!("<text x=\"12\" y=\"{}\" fill=\"#444444\">{}</text>\n</svg>\n", bottom + 22, xml(&end, 60)));
    text
}

/// What happened, in lines of a lane; the last one ends in a mark where there was more.
fn words(what: &str) -> Vec<String> {
    // A line more than there is room for is enough to know that something has to be cut.
    let near = cut(what, LETTERS * (LINES + 1), Keep::Start, Charset::Unicode);
    let mut lines = wrap(&near, LETTERS, Charset::Unicode);
    if lines.len() > LINES {
        let rest = lines.split_off(LINES - 1).join(" ");
        lines.push(cut(&rest, LETTERS, Keep::Start, Charset::Unicode));
    }
    lines
}

/// Text for XML: hidden characters shown, at most so many columns, everything that XML would read escaped.
fn xml(raw: &str, columns: usize) -> String {
    escaped(&cut(raw, columns, Keep::Start, Charset::Unicode))
}

fn escaped(safe: &str) -> String {
    let mut text = String::with_capacity(safe.len());
    for c in safe.chars() {
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
    fn no_words_run_into_the_next_lane_and_the_end_of_a_key_is_shown() {
        use unicode_width::UnicodeWidthStr as _;
        for what in
            ["charge CAPTURED EUR 50.00, key pay:shop:k-1-7f3a", "注文番号の確認をお願いします", "x x x x x x x x x "]
        {
            let picture = svg(&lanes(&what.repeat(3), 2), "t", "s");
            let texts = picture
                .lines()
                .filter(|line| !line.starts_with("<text x=\"12\""))
                .filter_map(|line| line.strip_prefix("<text ")?.split_once('>')?.1.strip_suffix("</text>"));
            for text in texts {
                assert!(text.width() <= LETTERS, "{text}");
            }
        }
        let picture = svg(&lanes("charge CAPTURED EUR 50.00, key pay:shop:k-1-7f3a", 1), "t", "s");
        assert!(picture.contains(">key pay:shop:k-1-7f3a<"), "{picture}");
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
