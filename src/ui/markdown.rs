//! Markdown: text of others inside pages of ours. It cannot end its cell, and it cannot become a link or a picture.

use super::text::safe_value;

/// Text as text: hidden characters shown, everything that Markdown would read escaped.
pub fn plain(raw: &str) -> String {
    let safe = safe_value(raw);
    let mut text = String::with_capacity(safe.len());
    let mut rest = safe.chars().peekable();
    while let Some(c) = rest.next() {
        // An address is only turned into a link when its colon or its dot is bare.
        let links = (c == ':' && rest.peek() == Some(&'/')) || (c == '.' && text.to_ascii_lowercase().ends_with("www"));
        // Inside a word an underscore is only an underscore, and names are full of them.
        let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let emphasis = c == '_' && !(word(text.chars().next_back()) && word(rest.peek().copied()));
        if links || emphasis || "\\`*[]<>|&~$@#!".contains(c) {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_person_wrote_is_read_as_markdown() {
        assert_eq!(plain("a | b\n\u{202e}`x`"), "a \\| b⏎\\<202E\\>\\`x\\`");
        assert_eq!(
            plain("![p](https://x.test/a) <img> @all www.x.test"),
            "\\!\\[p\\](https\\://x.test/a) \\<img\\> \\@all www\\.x.test"
        );
        assert_eq!(plain("EUR 75.95, 12:03, half-done, au_1"), "EUR 75.95, 12:03, half-done, au_1");
        assert_eq!(plain("_loud_ __x"), "\\_loud\\_ \\_\\_x");
    }
}
