//! The words of a tape. Newlines are plain white space; every token knows its line.

use super::Mistake;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A bareword: a command, a key, a setting, or text without quotes.
    Word(String),
    /// A quoted text.
    Text(String),
    Number(String),
    Regex(String),
    Json(String),
    /// `@ = + - % ^ \ [ ]`
    Sign(char),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub line: usize,
    pub kind: Kind,
}

/// Splits a tape into tokens; what is none becomes a mistake with its line.
pub fn tokens(tape: &str) -> (Vec<Token>, Vec<Mistake>) {
    let mut lexer = Lexer { chars: tape.chars().collect(), at: 0, line: 1 };
    let mut tokens = Vec::new();
    let mut mistakes = Vec::new();
    while let Some(start) = lexer.skip_blank() {
        let line = lexer.line;
        match lexer.token(start) {
            Ok(kind) => tokens.push(Token { line, kind }),
            Err(what) => mistakes.push(Mistake { line, what }),
        }
    }
    (tokens, mistakes)
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    line: usize,
}

impl Lexer {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        if c == '\n' {
            self.line += 1;
        }
        Some(c)
    }

    fn take_while(&mut self, test: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|c| test(*c)) {
            text.push(c);
            self.bump();
        }
        text
    }

    /// To the next token, over white space and comments.
    fn skip_blank(&mut self) -> Option<char> {
        loop {
            match self.peek()? {
                '#' => {
                    self.take_while(|c| c != '\n');
                }
                c if c.is_ascii_whitespace() => {
                    self.bump();
                }
                c => return Some(c),
            }
        }
    }

    fn token(&mut self, start: char) -> Result<Kind, String> {
        match start {
            '"' | '\'' | '`' => self.closed(start, "the text").map(Kind::Text),
            '{' => self.json(),
            '/' => self.regex(),
            '@' | '=' | '+' | '-' | '%' | '^' | '\\' | '[' | ']' => {
                self.bump();
                Ok(Kind::Sign(start))
            }
            '0'..='9' => Ok(Kind::Number(self.number())),
            '.' if self.chars.get(self.at + 1).is_some_and(char::is_ascii_digit) => Ok(Kind::Number(self.number())),
            'a'..='z' | 'A'..='Z' | '.' => Ok(Kind::Word(self.take_while(is_word))),
            other => {
                self.bump();
                Err(format!("{other:?} starts nothing a tape knows; put text in quotes"))
            }
        }
    }

    fn number(&mut self) -> String {
        self.take_while(|c| c.is_ascii_digit() || c == '.')
    }

    /// A quoted text has no escapes and ends with its line.
    fn closed(&mut self, quote: char, what: &str) -> Result<String, String> {
        self.bump();
        let text = self.take_while(|c| c != quote && c != '\n');
        if self.peek() == Some(quote) {
            self.bump();
            Ok(text)
        } else {
            Err(format!("{what} is not closed with {quote} on its line"))
        }
    }

    /// JSON up to its first closing brace.
    fn json(&mut self) -> Result<Kind, String> {
        let mut text = self.take_while(|c| c != '}');
        if self.bump().is_none() {
            return Err("the JSON is not closed with }".to_owned());
        }
        text.push('}');
        Ok(Kind::Json(text))
    }

    /// A pattern on one line; `\/` stands for a slash.
    fn regex(&mut self) -> Result<Kind, String> {
        self.bump();
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|c| *c != '\n') {
            self.bump();
            match c {
                '/' => return Ok(Kind::Regex(text)),
                '\\' if self.peek() == Some('/') => {
                    self.bump();
                    text.push('/');
                }
                '\\' => {
                    text.push('\\');
                    text.extend(self.peek().filter(|c| *c != '\n'));
                    if self.peek() != Some('\n') {
                        self.bump();
                    }
                }
                _ => text.push(c),
            }
        }
        Err("the pattern is not closed with / on its line (quote absolute paths)".to_owned())
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._/%-".contains(c)
}
