//! The one form a `do_*` file may have: a call of its own function.
//!
//! Word for word against a template, so that there is nothing to parse and nothing to slip in.

use super::Reason;
use super::lex::{Dress, Kind, lex};

/// The guarded functions, by file name without `.sql`. The closed list of what can change anything.
pub const CALLS: &[&str] = &[
    "do_intent",
    "do_evidence",
    "do_adopt",
    "do_fail",
    "do_reverse",
    "do_not_charged",
    "do_hand_back",
    "do_ask",
    "do_decide",
    "do_withdraw",
    "do_hold",
    "do_release",
    "do_note",
    "do_hand_over",
    "do_refusal",
    "do_close",
    "do_settle",
];

/// Checks the text of the file that ends in `name.sql`; returns the statement to send.
pub(super) fn check(file: &str, text: &str) -> Result<String, Reason> {
    let stem = file.rsplit('/').next().unwrap_or(file).trim_end_matches(".sql");
    let refused = || Reason::Call { name: stem.to_owned() };
    if !CALLS.contains(&stem) {
        return Err(Reason::Function { name: format!("unstuck.{stem}") });
    }
    let lexed = lex(text, Dress::Query)?;
    let mut found: Vec<Kind> = lexed.tokens.into_iter().map(|token| token.kind).collect();
    if found.last() == Some(&Kind::Mark(';')) {
        found.pop();
    }
    if found == template(stem) {
        Ok(lexed.bare.trim().trim_end_matches(';').trim_end().to_owned())
    } else {
        Err(refused())
    }
}

/// `SELECT d.outcome, …, d.read_back FROM unstuck.do_x($1::jsonb) AS d AS d`
fn template(function: &str) -> Vec<Kind> {
    let word = |text: &str| Kind::Word(text.to_owned());
    let mut words = vec![word("select")];
    for (place, column) in ["outcome", "why", "log_id", "version", "read_back"].into_iter().enumerate() {
        if place > 0 {
            words.push(Kind::Mark(','));
        }
        words.extend([word("d"), Kind::Mark('.'), word(column)]);
    }
    words.extend([word("from"), word("unstuck"), Kind::Mark('.'), word(function)]);
    words.extend([Kind::Mark('('), Kind::Param(1), Kind::Op("::".to_owned()), word("jsonb"), Kind::Mark(')')]);
    words.extend([word("as"), word("d")]);
    words
}

#[cfg(test)]
mod tests {
    use super::super::change;

    const ADOPT: &str =
        "SELECT d.outcome, d.why, d.log_id, d.version, d.read_back FROM unstuck.do_adopt($1::jsonb) AS d";

    #[test]
    fn its_own_call_passes() {
        let text = format!("-- do_adopt: finishes\n{ADOPT};\n");
        let checked = change("reference/do_adopt.sql", &text).unwrap();
        assert_eq!(checked.sql(), ADOPT);
        assert_eq!(checked.parameters(), 1);
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "SELECT 1",
            "DELETE FROM payments",
            "SELECT d.outcome, d.why, d.log_id, d.version, d.read_back FROM unstuck.do_fail($1::jsonb) AS d",
            "SELECT outcome, why, log_id, version, read_back FROM public.do_adopt($1::jsonb)",
            "SELECT d.outcome, d.why, d.log_id, d.version, d.read_back FROM unstuck.\"do_adopt\"($1::jsonb)",
            "SELECT d.outcome, d.why, d.log_id, d.version, d.read_back FROM unstuck.do_adopt('{}'::jsonb) AS d",
            "SELECT d.outcome, d.why, d.log_id, d.version, d.read_back FROM unstuck.do_adopt($2::jsonb) AS d",
            "SELECT d.outcome, d.why, d.log_id, d.version, d.read_back FROM unstuck.do_adopt($1::jsonb) AS d, payments",
            "SELECT d.outcome, d.why, d.log_id, d.version, d.read_back FROM unstuck.do_adopt($1::jsonb) AS d WHERE pg_sleep(9) IS NULL",
            "SELECT d.outcome, d.why, d.log_id, d.version, d.read_back FROM unstuck.do_adopt($1::jsonb) AS d; SELECT 1",
            "SELECT * FROM unstuck.do_adopt($1::jsonb)",
            "CALL unstuck.do_adopt($1::jsonb)",
        ] {
            assert!(change("reference/do_adopt.sql", text).is_err(), "should be refused: {text}");
        }
    }

    #[test]
    fn a_function_that_is_not_listed_is_refused_whatever_the_file_says() {
        let text = "SELECT d.outcome, d.why, d.log_id, d.version, d.read_back FROM unstuck.do_delete($1::jsonb) AS d";
        assert!(change("reference/do_delete.sql", text).is_err());
    }
}
