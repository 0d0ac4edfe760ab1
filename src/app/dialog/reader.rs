//! A page to read: the help, made from the key table; the SQL behind the numbers; what was found.

use ratatui::layout::Rect;

use super::super::keymap::{KEYMAP, Motion, Scope, labels};
use super::super::list::moved;
use super::super::model::{Model, SecondSeat};
use super::super::screen::screen;
use crate::domain::port::Candidate;
use crate::domain::time::Now;
use crate::ui::text::safe_value;
use crate::ui::widgets::panel::dialog;
use crate::ui::{Canvas, Line, Role};

/// A page.
#[derive(Debug, Clone)]
pub struct Reader {
    title: String,
    lines: Vec<Line>,
    from: usize,
    copied: Option<String>,
}

impl Reader {
    /// A page from its lines.
    pub fn new(title: impl Into<String>, lines: Vec<Line>) -> Self {
        Self { title: title.into(), lines, from: 0, copied: None }
    }

    /// Scrolls.
    pub fn go(&mut self, motion: Motion, page: usize) {
        self.from = moved(self.from, motion, page, self.lines.len().saturating_sub(1));
    }

    /// The text to copy: the one thing on the page that is to be typed elsewhere, else all of it.
    pub fn text(&self) -> String {
        if let Some(copied) = &self.copied {
            return copied.clone();
        }
        self.lines.iter().map(Line::words).collect::<Vec<_>>().join("\n")
    }
}

/// The help: keys that work here first, then all others.
pub fn help(model: &Model, now: Now) -> Reader {
    let here = model.scopes(now);
    let mut order: Vec<Scope> = here.clone();
    order.extend(Scope::ALL.iter().filter(|s| !here.contains(s)));
    let mut lines = vec![
        Line::plain("Signs: ")
            .and(Role::Critical, "!! act now")
            .then("   ")
            .and(Role::Caution, " ! act soon")
            .then("   ")
            .and(Role::Unknown, " ? not known")
            .then("   ")
            .and(Role::Good, "ok checked and good"),
        Line::plain("Nothing can be deleted here, and no single key sends anything anywhere."),
        Line::empty(),
    ];
    for scope in order {
        let mark = if here.contains(&scope) { "  (works here)" } else { "" };
        lines.push(Line::of(Role::Heading, scope.title()).and(Role::Dim, mark));
        for binding in KEYMAP.iter().filter(|b| b.scope == scope) {
            lines.push(Line::of(Role::Key, format!("  {:<16} ", labels(binding))).then(binding.says));
        }
        lines.push(Line::empty());
    }
    lines.push(Line::of(Role::Heading, "Commands"));
    for (command, says) in super::super::command::COMMANDS {
        lines.push(Line::of(Role::Key, format!("  :{command:<15} ")).then(*says));
    }
    Reader::new("Help", lines)
}

/// The SQL behind the screen that is shown.
pub fn sql(model: &Model) -> Reader {
    let screen = screen(model.screen());
    let questions: &[&str] = match model.place {
        super::super::model::Place::Screen(_) => screen.questions,
        super::super::model::Place::Ticket(..) => &["get_case", "get_evidence"],
        super::super::model::Place::Record(..) => &["get_record", "get_evidence", "get_timeline"],
    };
    let mut lines = vec![
        Line::of(Role::Dim, "Every read is one SELECT in a read-only transaction with a time limit."),
        Line::empty(),
    ];
    if model.replay.is_some() {
        lines = vec![
            Line::plain("The SQL is not in a recording. The files of queries/ have it, by these names:"),
            Line::empty(),
        ];
        lines.extend(questions.iter().map(|question| Line::of(Role::Heading, format!("  {question}"))));
        return Reader::new("SQL", lines);
    }
    for question in questions {
        let known = model.facts.iter().flat_map(|facts| &facts.sql);
        let texts: Vec<(&String, &String)> = known.filter(|(name, _)| name.contains(question)).collect();
        if texts.is_empty() {
            lines.push(Line::of(Role::Unknown, format!(" ? {question}: this profile does not answer it")));
        }
        for (name, text) in texts {
            lines.push(Line::of(Role::Heading, name.clone()));
            lines.extend(text.lines().map(|line| Line::plain(safe_value(&line.replace('\t', "  ")).into_owned())));
            lines.push(Line::empty());
        }
    }
    Reader::new(format!("SQL behind {}", screen.titles.first().copied().unwrap_or_default()), lines)
}

/// How a second person sits down at a demo; or why nobody can.
pub fn second(model: &Model) -> Result<Reader, &'static str> {
    let command = match &model.setup.second {
        SecondSeat::Free(command) => command,
        SecondSeat::None => {
            return Err("Only a demo has a second seat. Here the second person has a console of their own.");
        }
        SecondSeat::Here => {
            return Err("This is the second seat: you look up, approve and refuse what the first one asks.");
        }
    };
    let lines = vec![
        Line::plain("Handing back, and ending a payment without the provider's no, need a second person."),
        Line::plain("Nobody decides about their own plan. To be both, run this in another terminal:"),
        Line::empty(),
        Line::of(Role::Key, format!("  {command}")),
        Line::empty(),
        Line::plain("There you are somebody else, with a login that looks up, approves and refuses, and nothing more."),
        Line::plain("It is the same throw-away world, and it ends with this console."),
        Line::empty(),
        Line::of(Role::Key, "y").then(" copies the command."),
    ];
    Ok(Reader { copied: Some(command.clone()), ..Reader::new("A second seat", lines) })
}

/// A debrief from its Markdown, which is what `y` copies.
pub fn debrief(markdown: &str) -> Reader {
    let lines = markdown.lines().map(|line| match line.strip_prefix("## ") {
        Some(heading) => Line::of(Role::Heading, heading),
        None => Line::plain(read(line)),
    });
    // The first line is the title.
    let mut lines: Vec<Line> = lines.skip(2).collect();
    // Markdown wants a gap under a heading; a small window does not.
    let mut under_heading = false;
    lines.retain(|line| {
        let gap = std::mem::replace(&mut under_heading, line.0.iter().any(|piece| piece.role == Role::Heading));
        !(gap && line.words().is_empty())
    });
    let title = markdown.lines().next().map(read).unwrap_or_default();
    Reader { copied: Some(markdown.to_owned()), ..Reader::new(title, lines) }
}

/// A line of our own Markdown as it reads, without its signs.
fn read(line: &str) -> String {
    let mut out = String::new();
    let mut letters = line.trim_start_matches("# ").chars();
    while let Some(c) = letters.next() {
        match c {
            '\\' => out.extend(letters.next()),
            '`' => {}
            other => out.push(other),
        }
    }
    out
}

/// What was found for an id.
pub fn found(text: &str, candidates: &[Candidate]) -> Reader {
    let mut lines = vec![
        Line::plain(format!("{} records carry {}. Open one with its command:", candidates.len(), safe_value(text))),
        Line::empty(),
    ];
    for candidate in candidates {
        lines.push(
            Line::of(Role::Key, format!("  :open {} {}", candidate.id.scope, candidate.id.key))
                .and(Role::Dim, format!("   {}", candidate.why)),
        );
    }
    Reader::new("Found", lines)
}

/// Draws it.
pub fn view(reader: &Reader, canvas: &mut Canvas<'_>, area: Rect) {
    let title = Line::of(Role::Heading, reader.title.clone());
    dialog(canvas, area, &title, Role::Dim, &reader.lines, reader.from);
}
