//! The measured table as text: two columns in 80 characters.

use crate::lab::verify::{Ended, Row, Which};

/// What stands before the two columns, and how wide each of them is.
const LABEL: usize = 10;
const CELL: usize = 34;
/// Where the table has nothing to say.
const NONE: &str = "-";

/// What runs, said before anything runs.
pub(super) const ABOUT: &str = "\
The table this product rests on, measured again. The same clients meet a payment
service twice: as most teams write it first (naive: look, insert, charge, store)
and as it should be (correct). Two pods with warm connections, PostgreSQL, and a
payment provider over HTTP that counts its charges. Nothing is left to chance:
the provider holds a charge until the others have their answers, and an hour
passes because the record is told so.";

/// The columns' names and a rule below.
pub(super) fn head() -> Vec<String> {
    vec![line("", "naive", "correct"), "-".repeat(LABEL + 2 * CELL + 2)]
}

/// One row of the table.
pub(super) fn row(row: &Row, naive: &Ended, correct: &Ended) -> Vec<String> {
    let mut lines = vec![row.name.to_owned()];
    lines.extend(wrap(row.what, LABEL + 2 * CELL).into_iter().map(|text| format!("  {text}")));
    let expected = |which| row.side(which).map_or_else(|| wrap(NONE, CELL), |side| facts(side.expected));
    lines.extend(pair("  expected", &expected(Which::Naive), &expected(Which::Correct)));
    lines.extend(pair("  seen", &seen(naive), &seen(correct)));
    lines.push(String::new());
    lines
}

fn seen(ended: &Ended) -> Vec<String> {
    match ended {
        Ended::NotInTable => wrap(NONE, CELL),
        Ended::AsExpected(seen) => facts(&seen.0),
        Ended::Differs(seen) => [wrap("DIFFERS:", CELL), facts(&seen.0)].concat(),
        Ended::NotRun(why) => wrap(&format!("NOT RUN: {why}"), CELL),
    }
}

/// Each fact begins a line of its own.
fn facts<Text: AsRef<str>>(facts: &[Text]) -> Vec<String> {
    facts.iter().flat_map(|fact| wrap(fact.as_ref(), CELL)).collect()
}

fn pair(label: &str, left: &[String], right: &[String]) -> Vec<String> {
    let text = |lines: &[String], nth: usize| lines.get(nth).cloned().unwrap_or_default();
    (0..left.len().max(right.len()))
        .map(|nth| line(if nth == 0 { label } else { "" }, &text(left, nth), &text(right, nth)))
        .collect()
}

fn line(label: &str, left: &str, right: &str) -> String {
    format!("{label:LABEL$}  {left:CELL$}{right}").trim_end().to_owned()
}

/// Words on lines of at most `width` characters less a gap; a longer word is cut across lines.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.saturating_sub(2);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut letters: Vec<char> = word.chars().collect();
        while !letters.is_empty() {
            let part: String = letters.drain(..letters.len().min(width)).collect();
            match lines.last_mut() {
                Some(line) if line.is_empty() => line.push_str(&part),
                Some(line) if line.chars().count() + 1 + part.chars().count() <= width => {
                    line.push(' ');
                    line.push_str(&part);
                }
                Some(_) | None => lines.push(part),
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::verify::{ALL, Seen};

    #[test]
    fn everything_fits_eighty_columns_whatever_was_seen() {
        let long = Ended::Differs(Seen(vec!["x".repeat(300), "500, then 200 with an empty body".to_owned()]));
        let failed = Ended::NotRun("the lab's database: no such thing, and ".repeat(9));
        let mut lines: Vec<String> = ABOUT.lines().map(str::to_owned).collect();
        lines.extend(head());
        for one in ALL {
            lines.extend(row(one, &long, &failed));
            lines.extend(row(one, &Ended::NotInTable, &Ended::AsExpected(Seen(vec!["1 charge".to_owned()]))));
        }
        for line in &lines {
            assert!(line.chars().count() <= 80 && line.is_ascii(), "{line:?}");
        }
    }

    #[test]
    fn a_difference_stands_out() {
        let row = row(ALL[2], &Ended::Differs(Seen(vec!["2 charges".to_owned()])), &Ended::NotInTable).join("\n");
        assert!(row.contains("\n  seen      DIFFERS:                          -\n            2 charges\n"), "{row}");
        assert!(row.contains("\n  expected  200, then 200 with amount 100     201, then 422\n"), "{row}");
    }

    #[test]
    fn words_are_kept_whole_where_they_can_be() {
        assert_eq!(wrap("one two three", 10), ["one two", "three"]);
        assert_eq!(wrap("abcdefghijkl m", 7), ["abcde", "fghij", "kl m"]);
        assert_eq!(wrap("", 7), [""]);
    }
}
