//! A recording of a model that is driven by a test: its lines, and every picture it showed, to compare with.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use unstuck::app::recording::{Event, Head, Header, Pen, Reading, event_of, head};
use unstuck::app::replay::{Cut, Next, Player, Source};
use unstuck::app::{Model, Msg};
use unstuck::domain::time::Now;

use super::picture::{draw, styled};
use super::scenario::look;

/// The size pictures are compared at.
const SIZE: (u16, u16) = (100, 32);

/// What is recorded, and what was on screen meanwhile.
pub struct Recorded {
    pen: Pen,
    started: Now,
    /// The lines of the file.
    pub lines: Vec<String>,
    /// The last picture of each millisecond, when they are kept.
    pub pictures: BTreeMap<u64, String>,
    keep: Keep,
}

/// What a recording of a test keeps besides its lines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Nothing.
    Lines,
    /// Every picture, to compare with.
    Pictures,
}

impl Recorded {
    /// A recording that begins now.
    pub fn begin(model: &Model, now: Now, keep: Keep) -> Self {
        let (pen, first) = Pen::new(&Header::of(&model.setup, now.0));
        Self { pen, started: now, lines: vec![first], pictures: BTreeMap::new(), keep }
    }

    pub fn note(&mut self, model: &Model, msg: &Msg, now: Now) {
        if let Some(event) = event_of(model, msg, now) {
            self.lines.push(self.pen.line(&event, now));
        }
    }

    pub fn shown(&mut self, model: &Model, now: Now) {
        if self.keep == Keep::Lines {
            return;
        }
        let ms = now.0.signed_duration_since(self.started.0).num_milliseconds();
        let picture = styled(&draw(model, SIZE.0, SIZE.1, now), model);
        self.pictures.insert(u64::try_from(ms).expect("after the start"), picture);
    }

    /// Ends it as a console that is left does.
    pub fn end(&mut self, now: Now) {
        self.lines.push(self.pen.line(&Event::End, now));
    }

    /// All of it, as the file has it.
    pub fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }
}

/// The lines of a recording as a player reads them.
pub struct Lines {
    all: Vec<String>,
    left: VecDeque<String>,
    reading: Reading,
}

impl Source for Lines {
    fn next(&mut self) -> Next {
        let Some(line) = self.left.pop_front() else { return Next::Over };
        match self.reading.line(line.as_bytes()) {
            Ok((ms, event)) => Next::Event(ms, Box::new(event)),
            Err(why) => Next::Unreadable(why),
        }
    }

    fn rewind(&mut self) {
        self.left = self.all.iter().cloned().collect();
        self.reading = Reading::default();
    }
}

/// A player of these lines, the first of which is the header.
pub fn player(lines: &[String]) -> Player<Lines> {
    source_of(lines, None)
}

fn source_of(lines: &[String], cut: Option<Cut>) -> Player<Lines> {
    let Head::Ours(header) = head(lines[0].as_bytes()) else { panic!("no recording: {}", lines[0]) };
    let all = lines[1..].to_vec();
    let length = all.last().and_then(|line| unstuck::app::recording::stub(line.as_bytes())).map_or(0, |stub| stub.ms);
    let mut source = Lines { all, left: VecDeque::new(), reading: Reading::default() };
    source.rewind();
    Player::new(*header, look("dark"), source, length, cut)
}

/// The operator's picture as it was at the moment a player shows, without the marks of a replay.
pub fn as_it_was(player: &Player<Lines>) -> String {
    styled(&draw(player.operator(), SIZE.0, SIZE.1, player.now()), player.operator())
}

/// What a player shows, marks and all.
pub fn played(player: &Player<Lines>, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    terminal.draw(|frame| player.view(frame)).expect("a frame");
    styled(terminal.backend().buffer(), player.operator())
}

/// A player of a recording that breaks off after these lines.
pub fn player_cut(lines: &[String], cut: impl FnOnce(unstuck::domain::time::Instant) -> Cut) -> Player<Lines> {
    let mut whole = player(lines);
    whole.advance(u64::MAX);
    let last = whole.now().0;
    source_of(lines, Some(cut(last)))
}
