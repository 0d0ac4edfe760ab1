//! The words of a SQL text as PostgreSQL itself would cut them, comments left out.
//!
//! Owns the alphabet: whatever PostgreSQL and a second parser could read differently (escape
//! strings, dollar quotes, block comments, operators run together, a lone carriage return) is
//! refused here, before any parser sees it. Knows nothing about statements.

/// How a text may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dress {
    /// A query file: the narrow alphabet.
    Query,
    /// An install script: dollar quotes and block comments too, because functions need them.
    Script,
}

/// One word of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// What it is.
    pub(super) kind: Kind,
    /// The line it starts on, from 1.
    pub(super) line: usize,
}

/// The kinds of word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or a bare name, lower-cased as PostgreSQL folds it.
    Word(String),
    /// A name in double quotes.
    Quoted(String),
    /// Digits, perhaps with a point.
    Number(String),
    /// A string in single quotes, its quotes undoubled.
    Text(String),
    /// What stands between dollar quotes.
    Body(String),
    /// `$n`.
    Param(u16),
    /// An operator.
    Op(String),
    /// One of `( ) [ ] , . ;`.
    Mark(char),
}

/// A text cut into words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lexed {
    /// The words in order.
    pub(super) tokens: Vec<Token>,
    /// The text with every comment replaced by a space: what a parser and the server are given.
    pub(super) bare: String,
}

/// Why a text could not be cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreadable {
    /// The line, from 1.
    pub(super) line: usize,
    /// The reason, as the end of a sentence.
    pub(super) why: String,
}

/// Every operator a query file may use. A run of operator characters must be one of these whole.
const OPERATORS: &[&str] = &[
    "=", "<>", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "||", "->", "->>", "#>", "#>>", "@>", "<@", "&&",
    "~", "!~", "~*", "!~*", "::", "=>", "?",
];

/// Only install scripts need these: an assignment, a range of a loop.
const SCRIPT_OPERATORS: &[&str] = &[":=", "#", ":"];

/// Longer than any honest query file; a parser's worst case stays small.
const LONGEST: usize = 256 * 1024;

/// Cuts `text` into words.
pub(super) fn lex(text: &str, dress: Dress) -> Result<Lexed, Unreadable> {
    let mut cursor = Cursor { rest: text, line: 1 };
    let mut lexed = Lexed { tokens: Vec::new(), bare: String::with_capacity(text.len()) };
    if text.len() > LONGEST {
        return Err(cursor.refuse("the file is longer than 256 kB"));
    }
    while let Some(first) = cursor.peek() {
        let line = cursor.line;
        let before = cursor.rest;
        let token = match first {
            ' ' | '\t' | '\n' => {
                cursor.step();
                None
            }
            '\r' if cursor.rest.starts_with("\r\n") => {
                cursor.step();
                cursor.step();
                None
            }
            '-' if cursor.rest.starts_with("--") => {
                cursor.line_comment()?;
                lexed.bare.push(' ');
                continue;
            }
            '/' if cursor.rest.starts_with("/*") => {
                cursor.block_comment(dress)?;
                lexed.bare.push(' ');
                continue;
            }
            '\'' => Some(Kind::Text(cursor.text()?)),
            '"' => Some(Kind::Quoted(cursor.quoted()?)),
            '$' => Some(cursor.dollar(dress)?),
            '(' | ')' | '[' | ']' | ',' | '.' | ';' => {
                cursor.step();
                Some(Kind::Mark(first))
            }
            'a'..='z' | 'A'..='Z' | '_' => Some(cursor.word()?),
            '0'..='9' => Some(cursor.number(dress)?),
            '+' | '*' | '<' | '>' | '=' | '~' | '!' | '@' | '#' | '%' | '^' | '&' | '|' | '`' | '?' | ':' | '-'
            | '/' => Some(cursor.operator(dress)?),
            other => {
                return Err(
                    cursor.refuse(&format!("the character U+{:04X} may not stand outside a string", u32::from(other)))
                );
            }
        };
        lexed.bare.push_str(taken(before, cursor.rest));
        if let Some(kind) = token {
            lexed.tokens.push(Token { kind, line });
        }
    }
    Ok(lexed)
}

/// The part of `before` that has been read when `after` is what is left.
fn taken<'a>(before: &'a str, after: &str) -> &'a str {
    before.strip_suffix(after).unwrap_or(before)
}

/// A place in the text.
struct Cursor<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn step(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next()?;
        self.rest = chars.as_str();
        if next == '\n' {
            self.line = self.line.saturating_add(1);
        }
        Some(next)
    }

    fn refuse(&self, why: &str) -> Unreadable {
        Unreadable { line: self.line, why: why.to_owned() }
    }

    fn take_while(&mut self, wanted: fn(char) -> bool) -> &'a str {
        let before = self.rest;
        while self.peek().is_some_and(wanted) {
            self.step();
        }
        taken(before, self.rest)
    }

    /// PostgreSQL ends the comment at a carriage return as well; other parsers do not.
    fn line_comment(&mut self) -> Result<(), Unreadable> {
        while let Some(next) = self.peek() {
            match next {
                '\n' => return Ok(()),
                '\r' if self.rest.starts_with("\r\n") => return Ok(()),
                '\r' => {
                    return Err(self.refuse("a carriage return inside a comment would end it for PostgreSQL"));
                }
                '\0' => return Err(self.refuse("a NUL character")),
                _ => self.step(),
            };
        }
        Ok(())
    }

    fn block_comment(&mut self, dress: Dress) -> Result<(), Unreadable> {
        if dress == Dress::Query {
            return Err(self.refuse("block comments are not used in query files; write --"));
        }
        let mut depth = 0_usize;
        loop {
            if self.rest.starts_with("/*") {
                self.step();
                depth = depth.saturating_add(1);
            } else if self.rest.starts_with("*/") {
                self.step();
                depth = depth.saturating_sub(1);
            }
            if self.step().is_none() {
                return Err(self.refuse("a block comment is not closed"));
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// A plain string. A backslash is refused: its meaning depends on a server setting.
    fn text(&mut self) -> Result<String, Unreadable> {
        self.step();
        let mut content = String::new();
        loop {
            match self.step() {
                None => return Err(self.refuse("a string is not closed")),
                Some('\'') if self.peek() == Some('\'') => {
                    self.step();
                    content.push('\'');
                }
                Some('\'') => return Ok(content),
                Some('\\') => return Err(self.refuse("a backslash inside a string")),
                Some(other) if other.is_control() && other != '\n' => {
                    return Err(self.refuse("a control character inside a string"));
                }
                Some(other) => content.push(other),
            }
        }
    }

    /// A quoted name: plain letters only, so that it means what it shows.
    fn quoted(&mut self) -> Result<String, Unreadable> {
        self.step();
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() || self.step() != Some('"') || self.peek() == Some('"') {
            return Err(self.refuse("a quoted name may hold letters, digits and _ only"));
        }
        Ok(name.to_owned())
    }

    fn word(&mut self) -> Result<Kind, Unreadable> {
        let word = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_').to_ascii_lowercase();
        match self.peek() {
            Some('\'') => Err(self.refuse(&format!("{word}'…' is a string in another notation"))),
            Some('"') => Err(self.refuse(&format!("{word}\"…\" is a name in another notation"))),
            Some('$') => Err(self.refuse("a name with a $ in it")),
            Some('&') if self.rest.starts_with("&'") || self.rest.starts_with("&\"") => {
                Err(self.refuse("Unicode escapes (U&) hide what a text says"))
            }
            Some(other) if !other.is_ascii() => Err(self.refuse("a name with a letter outside ASCII")),
            Some(_) | None => Ok(Kind::Word(word)),
        }
    }

    /// Digits with at most one point inside. In a script `1..9` is the range of a loop: two numbers.
    fn number(&mut self, dress: Dress) -> Result<Kind, Unreadable> {
        let before = self.rest;
        self.take_while(|c| c.is_ascii_digit());
        let range = dress == Dress::Script && self.rest.starts_with("..");
        if self.peek() == Some('.') && !range {
            self.step();
            if self.take_while(|c| c.is_ascii_digit()).is_empty() || self.peek() == Some('.') {
                return Err(self.refuse("a number must be digits with at most one point inside"));
            }
        }
        if self.peek().is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            return Err(self.refuse("a letter directly after a number"));
        }
        Ok(Kind::Number(taken(before, self.rest).to_owned()))
    }

    fn operator(&mut self, dress: Dress) -> Result<Kind, Unreadable> {
        let mut run = String::new();
        while let Some(next) = self.peek() {
            let comment = self.rest.starts_with("--") || self.rest.starts_with("/*");
            if comment && !run.is_empty() {
                return Err(self.refuse("a comment directly after an operator"));
            }
            if comment || !"+-*/<>=~!@#%^&|`?:".contains(next) {
                break;
            }
            self.step();
            run.push(next);
        }
        let known =
            OPERATORS.contains(&run.as_str()) || (dress == Dress::Script && SCRIPT_OPERATORS.contains(&run.as_str()));
        if known { Ok(Kind::Op(run)) } else { Err(self.refuse(&format!("the operator {run} is not on the list"))) }
    }

    /// `$1`, or in a script a dollar quote.
    fn dollar(&mut self, dress: Dress) -> Result<Kind, Unreadable> {
        self.step();
        let tag = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if let Some(number) = param(tag) {
            return match self.peek() {
                Some('$') => Err(self.refuse("a dollar quote whose tag is a number")),
                Some(_) | None => Ok(Kind::Param(number)),
            };
        }
        if dress == Dress::Query {
            return Err(self.refuse("dollar quotes are not used in query files"));
        }
        if self.step() != Some('$') || tag.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.refuse("a $ that is neither a parameter nor a quote"));
        }
        let end = format!("${tag}$");
        let before = self.rest;
        while !self.rest.starts_with(&end) {
            if self.step().is_none() {
                return Err(self.refuse("a dollar quote is not closed"));
            }
        }
        let body = taken(before, self.rest).to_owned();
        self.rest = self.rest.strip_prefix(end.as_str()).unwrap_or("");
        Ok(Kind::Body(body))
    }
}

/// The parameter number a run of letters and digits after `$` means, if it is one.
fn param(tag: &str) -> Option<u16> {
    if tag.is_empty() || tag.starts_with('0') || !tag.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    tag.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Kind> {
        lex(text, Dress::Query).unwrap().tokens.into_iter().map(|t| t.kind).collect()
    }

    #[test]
    fn cuts_a_plain_query() {
        assert_eq!(
            words("SELECT a.b::text -- why\nWHERE x >= $2 AND y <> 'it''s'"),
            vec![
                Kind::Word("select".into()),
                Kind::Word("a".into()),
                Kind::Mark('.'),
                Kind::Word("b".into()),
                Kind::Op("::".into()),
                Kind::Word("text".into()),
                Kind::Word("where".into()),
                Kind::Word("x".into()),
                Kind::Op(">=".into()),
                Kind::Param(2),
                Kind::Word("and".into()),
                Kind::Word("y".into()),
                Kind::Op("<>".into()),
                Kind::Text("it's".into()),
            ]
        );
    }

    #[test]
    fn the_bare_text_has_no_comment_and_keeps_everything_else() {
        let lexed = lex("-- one; two\nSELECT 'x -- y', 1 -- end\nFROM t", Dress::Query).unwrap();
        assert_eq!(lexed.bare, " \nSELECT 'x -- y', 1  \nFROM t");
    }

    #[test]
    fn what_two_parsers_could_read_differently_is_refused() {
        for text in [
            "SELECT E'\\'' ",
            "SELECT e'x'",
            "SELECT U&'\\0041'",
            "SELECT U&\"a\"",
            "SELECT B'1'",
            "SELECT x'ff'",
            "SELECT N'n'",
            "SELECT 'a\\'",
            "SELECT $$x$$",
            "SELECT $a$x$a$",
            "SELECT $1$x$1$",
            "SELECT /* c */ 1",
            "SELECT /* a /* b */ 1",
            "SELECT 1 -- x\rFROM t",
            "SELECT 1\rFROM t",
            "SELECT a=-1",
            "SELECT a<--1\n2",
            "SELECT @-@ x",
            "SELECT a OPERATOR(public.+) `b`",
            "SELECT 1e5",
            "SELECT 0x1F",
            "SELECT 1_000",
            "SELECT 1.2.3",
            "SELECT a$b",
            "SELECT $1a",
            "SELECT $0",
            "SELECT \u{0430}",
            "SELECT p\u{0430}yments",
            "SELECT \"a\"\"b\"",
            "SELECT \"a b\"",
            "SELECT 'x",
            "SELECT \u{a0}1",
            "SELECT\u{b}1",
            "SELECT 'a\0b'",
            "SELECT -- a\0b",
            "SELECT {fn now()}",
            "SELECT a ^ b",
        ] {
            assert!(lex(text, Dress::Query).is_err(), "should be refused: {text:?}");
        }
    }

    #[test]
    fn a_script_may_quote_with_dollars_and_nest_comments() {
        let lexed = lex("/* a /* b */ c */ DO $x$ a := 1; $$ $x$;", Dress::Script).unwrap();
        assert_eq!(
            lexed.tokens.into_iter().map(|t| t.kind).collect::<Vec<_>>(),
            vec![Kind::Word("do".into()), Kind::Body(" a := 1; $$ ".into()), Kind::Mark(';')]
        );
        assert!(lex("/* open", Dress::Script).is_err());
        assert!(lex("DO $x$ never closed $y$", Dress::Script).is_err());
    }

    #[test]
    fn an_error_names_the_line() {
        assert_eq!(lex("SELECT 1\n\nFROM 'x", Dress::Query).unwrap_err().line, 3);
    }
}
