//! Tokens to commands.

use std::time::Duration;

use regex::Regex;

use super::lexer::{Kind, Token, tokens};
use super::names::{RESERVED, named, with_modifiers};
use super::{Camera, Command, Mistake, On, Setting, Step, Tape};

/// Reads a tape.
///
/// # Errors
/// Every mistake of the tape with its line.
pub fn parse(text: &str) -> Result<Tape, Vec<Mistake>> {
    let (tokens, mut mistakes) = tokens(text);
    let mut parser = Parser { tokens, at: 0 };
    let mut steps: Vec<Step> = Vec::new();
    while let Some(token) = parser.next() {
        let line = token.line;
        match parser.command(&token) {
            Ok(command) => steps.push(Step { line, command }),
            Err(what) => {
                mistakes.push(Mistake { line, what });
                parser.skip_line(line);
            }
        }
    }
    mistakes.extend(too_late(&steps));
    mistakes.sort_by_key(|m| m.line);
    if mistakes.is_empty() { Ok(Tape { steps }) } else { Err(mistakes) }
}

/// `Set` and `Require` count only before the first other command; VHS drops the later ones.
fn too_late(steps: &[Step]) -> Vec<Mistake> {
    let first = |step: &Step| matches!(step.command, Command::Set(_) | Command::Require(_) | Command::Output(_));
    steps
        .iter()
        .skip_while(|step| first(step))
        .filter(|step| matches!(step.command, Command::Set(_) | Command::Require(_)))
        .filter(|step| !matches!(step.command, Command::Set(Setting::TypingSpeed(_))))
        .map(|step| Mistake {
            line: step.line,
            what: "Set and Require count only at the top, before the first other command".to_owned(),
        })
        .collect()
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

type Parsed<T> = Result<T, String>;

impl Parser {
    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    fn peek(&self) -> Option<&Kind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn take_sign(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Kind::Sign(sign));
        self.at += usize::from(found);
        found
    }

    fn skip_line(&mut self, line: usize) {
        while self.tokens.get(self.at).is_some_and(|t| t.line <= line) {
            self.at += 1;
        }
    }

    fn command(&mut self, token: &Token) -> Parsed<Command> {
        let Kind::Word(word) = &token.kind else {
            return Err(format!("a command was expected, not {:?}", token.kind));
        };
        match word.as_str() {
            "Output" => self.text("a path").and_then(output),
            "Require" => self.text("a program").map(Command::Require),
            "Env" => {
                let name = self.text("a name")?;
                let value = self.text("a value")?;
                Ok(Command::Env { name, value })
            }
            "Source" => self.path(".tape").map(Command::Source),
            "Screenshot" => self.path(".png").map(Command::Screenshot),
            "Copy" => self.text("a text").map(Command::Copy),
            "Paste" => Ok(Command::Paste),
            "Hide" => Ok(Command::Camera(Camera::Hide)),
            "Show" => Ok(Command::Camera(Camera::Show)),
            "Sleep" => self.time().map(Command::Sleep),
            "Type" => self.typed(),
            "Wait" => self.wait(),
            "Set" => self.setting().map(Command::Set),
            "Ctrl" | "Alt" | "Shift" => self.chord(word),
            "ScrollUp" | "ScrollDown" => self.speed_and_times().map(|_| Command::Scroll),
            name => match named(name) {
                Some(key) => {
                    let (speed, times) = self.speed_and_times()?;
                    Ok(Command::Press { key, speed, times })
                }
                None => Err(format!("{name} is no command of a tape")),
            },
        }
    }

    /// A text in quotes, or a bareword.
    fn text(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Some(Kind::Word(word)) if RESERVED.contains(&word.as_str()) || named(word).is_some() => {
                Err(format!("{what} was expected; {word} means something else unless it is quoted"))
            }
            Some(Kind::Text(text) | Kind::Word(text)) => {
                let text = text.clone();
                self.at += 1;
                Ok(text)
            }
            other => Err(format!("{what} was expected, not {}", said(other))),
        }
    }

    /// A bareword of the language: a setting, `Line`, `true`.
    fn word(&mut self, what: &str) -> Parsed<String> {
        match self.peek().cloned() {
            Some(Kind::Word(word)) => {
                self.at += 1;
                Ok(word)
            }
            other => Err(format!("{what} was expected, not {}", said(other.as_ref()))),
        }
    }

    fn path(&mut self, ending: &str) -> Parsed<String> {
        let path = self.text("a path")?;
        if path.ends_with(ending) { Ok(path) } else { Err(format!("{path} must end in {ending}")) }
    }

    fn number(&mut self, what: &str) -> Parsed<f64> {
        let Some(Kind::Number(digits)) = self.peek().cloned() else {
            return Err(format!("{what} was expected, not {}", said(self.peek())));
        };
        self.at += 1;
        digits.parse().map_err(|_| format!("{digits} is no number"))
    }

    /// A number with `ms`, `s` or `m` behind it; seconds without.
    fn time(&mut self) -> Parsed<Duration> {
        let number = self.number("a time")?;
        let unit = match self.peek() {
            Some(Kind::Word(unit)) if ["ms", "s", "m"].contains(&unit.as_str()) => unit.clone(),
            _ => return seconds(number),
        };
        self.at += 1;
        match unit.as_str() {
            "ms" => seconds(number / 1000.0),
            "m" => seconds(number * 60.0),
            _ => seconds(number),
        }
    }

    fn at_time(&mut self) -> Parsed<Option<Duration>> {
        if self.take_sign('@') { self.time().map(Some) } else { Ok(None) }
    }

    fn speed_and_times(&mut self) -> Parsed<(Option<Duration>, usize)> {
        let speed = self.at_time()?;
        let Some(Kind::Number(digits)) = self.peek().cloned() else {
            return Ok((speed, 1));
        };
        self.at += 1;
        let times = digits.parse().map_err(|_| format!("{digits} is no number of times"))?;
        Ok((speed, times))
    }

    fn typed(&mut self) -> Parsed<Command> {
        let speed = self.at_time()?;
        let mut texts = vec![self.text("a text in quotes")?];
        // A command may follow on the same line: only quoted texts belong to this one.
        while let Some(Kind::Text(more)) = self.peek() {
            texts.push(more.clone());
            self.at += 1;
        }
        Ok(Command::Type { text: texts.join(" "), speed })
    }

    fn wait(&mut self) -> Parsed<Command> {
        let mut on = On::Line;
        if self.take_sign('+') {
            on = match self.word("Line or Screen")?.as_str() {
                "Line" => On::Line,
                "Screen" => On::Screen,
                other => return Err(format!("Wait looks at Line or Screen, not at {other}")),
            };
        }
        let timeout = self.at_time()?;
        let pattern = match self.peek() {
            Some(Kind::Regex(_)) => Some(self.pattern()?),
            _ => None,
        };
        Ok(Command::Wait { on, timeout, pattern })
    }

    fn pattern(&mut self) -> Parsed<Regex> {
        let Some(Kind::Regex(pattern)) = self.peek().cloned() else {
            return Err(format!("a /pattern/ was expected, not {}", said(self.peek())));
        };
        self.at += 1;
        Regex::new(&pattern).map_err(|e| format!("/{pattern}/ is no pattern: {e}"))
    }

    fn setting(&mut self) -> Parsed<Setting> {
        let name = self.word("a setting")?;
        let picture = |_| Setting::Picture;
        match name.as_str() {
            "Shell" => self.text("a shell").map(Setting::Shell),
            "TypingSpeed" => self.time().map(Setting::TypingSpeed),
            "WaitTimeout" => self.time().map(Setting::WaitTimeout),
            "WaitPattern" => self.pattern().map(Setting::WaitPattern),
            "FontFamily" | "MarginFill" => self.text("a text").map(|_| Setting::Picture),
            "FontSize" | "LetterSpacing" | "LineHeight" | "Framerate" | "PlaybackSpeed" | "Width" | "Height"
            | "Padding" | "Margin" | "WindowBarSize" | "BorderRadius" => self.number("a number").map(picture),
            "LoopOffset" => {
                let offset = self.number("a number").map(picture)?;
                self.take_sign('%');
                Ok(offset)
            }
            "CursorBlink" => one_of(&self.word("true or false")?, &["true", "false"]),
            "WindowBar" => {
                let bars = ["Colorful", "ColorfulRight", "Rings", "RingsRight"];
                one_of(&self.text("a window bar")?, &bars)
            }
            "Theme" => {
                if let Some(Kind::Json(json)) = self.peek().cloned() {
                    self.at += 1;
                    serde_json::from_str::<serde_json::Value>(&json)
                        .map_err(|e| format!("the theme is no JSON: {e}"))?;
                    return Ok(Setting::Picture);
                }
                self.text("a theme").map(|_| Setting::Picture)
            }
            "Columns" | "Rows" => Err(format!("Set {name} is refused by VHS before 0.12")),
            other => Err(format!("{other} is no setting of a tape")),
        }
    }

    /// `Ctrl+C`, `Ctrl+Alt+X`, `Alt+Enter`, `Shift+Tab`.
    fn chord(&mut self, first: &str) -> Parsed<Command> {
        let mut modifiers = vec![first.to_owned()];
        loop {
            if !self.take_sign('+') {
                return Err(format!("{} needs a + and a key", modifiers.join("+")));
            }
            let part = match self.peek().cloned() {
                Some(Kind::Word(word)) => word,
                Some(Kind::Sign(sign)) if first == "Ctrl" && "-@[]^\\".contains(sign) => sign.to_string(),
                other => {
                    return Err(format!("{}+ needs a key, not {}", modifiers.join("+"), said(other.as_ref())));
                }
            };
            self.at += 1;
            if first == "Ctrl" && ["Alt", "Shift"].contains(&part.as_str()) {
                modifiers.push(part);
                continue;
            }
            let with: Vec<&str> = modifiers.iter().map(String::as_str).collect();
            let Some(key) = with_modifiers(&with, &part) else {
                return Err(format!("{}+{part} is no key of a tape", modifiers.join("+")));
            };
            return Ok(Command::Press { key, speed: None, times: 1 });
        }
    }
}

fn output(path: String) -> Parsed<Command> {
    let endings = [".gif", ".mp4", ".webm", ".png", ".txt", ".ascii", ".test", "/"];
    if endings.iter().any(|ending| path.ends_with(ending)) {
        Ok(Command::Output(path))
    } else {
        Err(format!("Output {path} must end in one of {}", endings.join(" ")))
    }
}

fn one_of(word: &str, words: &[&str]) -> Parsed<Setting> {
    if words.contains(&word) { Ok(Setting::Picture) } else { Err(format!("{word} is none of {}", words.join(", "))) }
}

fn seconds(number: f64) -> Parsed<Duration> {
    Duration::try_from_secs_f64(number).map_err(|e| e.to_string())
}

fn said(kind: Option<&Kind>) -> String {
    kind.map_or_else(|| "the end of the tape".to_owned(), |kind| format!("{kind:?}"))
}
