//! Secrets come from environment variables. One that stands in the file is a mistake, and is never repeated.

use crate::provider::declared::Reading;

/// The name of an environment variable. An address or a key in its place is refused unseen.
pub fn variable(text: &str) -> Result<String, String> {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let rest = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if starts && rest && !is_key(text) {
        Ok(text.to_owned())
    } else {
        Err("must be the name of an environment variable, such as \"UNSTUCK_PROD_URL\"; the secret itself \
             never stands in a file"
            .to_owned())
    }
}

/// Looks through the whole text, comments too: a commented-out password is still in the file.
pub fn look_for(text: &str, reading: &Reading<'_>) {
    let mut start: usize = 0;
    for line in text.split_inclusive('\n') {
        let place = start..start;
        if has_password(line) {
            reading.wrong(
                &place,
                "an address with a password stands here; move it into an environment variable, and change the password",
            );
        }
        let mut words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        if words.any(is_key) {
            reading.wrong(
                &place,
                "a provider's secret key stands here; move it into an environment variable, and replace the key",
            );
        }
        start = start.saturating_add(line.len());
    }
}

/// `scheme://user:password@host`, anywhere in the line.
fn has_password(line: &str) -> bool {
    line.split("://").skip(1).any(|after| {
        let authority = after.split(['/', '"', '\'', ' ', '?', '#']).next().unwrap_or("");
        authority
            .rsplit_once('@')
            .and_then(|(user, _)| user.split_once(':'))
            .is_some_and(|(_, password)| !password.is_empty())
    })
}

/// The beginnings of known secret keys, with something behind them: a bare beginning is a rule of an adapter.
fn is_key(word: &str) -> bool {
    ["sk_live_", "sk_test_", "rk_live_", "rk_test_"]
        .iter()
        .any(|begin| word.strip_prefix(begin).is_some_and(|rest| rest.len() >= 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<usize> {
        let reading = Reading::new(text);
        look_for(text, &reading);
        reading.mistakes().iter().map(|mistake| mistake.line).collect()
    }

    #[test]
    fn secrets_are_found_wherever_they_stand() {
        let text = "a = 1\nurl = \"postgres://me:hunter2@db/x\"\n# postgres://me:old@db/x\nk = 'sk_live_abcd1234'\n";
        assert_eq!(found(text), [2, 3, 4]);
        let fine =
            "url = \"https://api.example.com:8080/x@y:z\"\nb = \"postgres://me@db/x\"\nrefuse = [\"sk_live_\"]\n";
        assert!(found(fine).is_empty(), "{:?}", found(fine));
    }

    #[test]
    fn a_variable_is_a_name() {
        assert!(variable("UNSTUCK_PROD_URL").is_ok());
        for bad in ["postgres://me:hunter2@db/x", "", "9X", "A B", "$X", "sk_live_abcd1234"] {
            let why = variable(bad).unwrap_err();
            assert!(!why.contains("hunter2") && !why.contains("abcd1234"), "{why}");
        }
    }
}
