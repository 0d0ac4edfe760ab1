//! What a played tape wrote to its terminal, as asciicast v2: one JSON header, then one line per piece of output.
//!
//! Players: `asciinema play docs/demo.cast`, or any tool that turns a cast into a GIF.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Camera;

/// What a film shows: pieces of output with their time, hidden stretches cut to nothing.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Cast {
    size: (u16, u16),
    pieces: Vec<(Duration, String)>,
}

impl Cast {
    /// A film of what was written, cut by the camera.
    pub fn new(size: (u16, u16), written: &[(Instant, Vec<u8>)], cuts: &[(Instant, Camera)]) -> Self {
        let mut pieces: Vec<(Duration, String)> = Vec::new();
        // A piece may end inside a character: its bytes wait for the rest.
        let mut open: Vec<u8> = Vec::new();
        for (at, bytes) in written {
            open.extend_from_slice(bytes);
            let whole = match std::str::from_utf8(&open) {
                Ok(_) => open.len(),
                Err(error) => error.valid_up_to(),
            };
            let rest = open.split_off(whole);
            let text = String::from_utf8(std::mem::replace(&mut open, rest)).expect("it was looked at just now");
            if !text.is_empty() {
                pieces.push((shown_before(*at, cuts), text));
            }
        }
        Self { size, pieces }
    }

    /// The file.
    pub fn text(&self) -> String {
        let (width, height) = self.size;
        let header = json!({
            "version": 2, "width": width, "height": height, "title": "unstuck", "idle_time_limit": 3.0,
            "env": { "TERM": "xterm-256color", "SHELL": "/bin/bash" },
        });
        let mut text = format!("{header}\n");
        for (at, piece) in &self.pieces {
            let seconds = format!("{:.3}", at.as_secs_f64());
            writeln!(text, "[{seconds}, \"o\", {}]", Value::from(piece.as_str())).expect("a String takes all");
        }
        text
    }

    /// How long the film is.
    pub fn length(&self) -> Duration {
        self.pieces.last().map_or(Duration::ZERO, |(at, _)| *at)
    }

    /// Reads a file of [`Cast::text`].
    pub fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let header: Value = serde_json::from_str(lines.next()?).ok()?;
        let size = |name: &str| header[name].as_u64().and_then(|cells| u16::try_from(cells).ok());
        let piece = |line: &str| {
            let event: Value = serde_json::from_str(line).ok()?;
            let at = Duration::try_from_secs_f64(event[0].as_f64()?).ok()?;
            (event[1] == "o").then(|| Some((at, event[2].as_str()?.to_owned())))?
        };
        Some(Self { size: (size("width")?, size("height")?), pieces: lines.map(piece).collect::<Option<_>>()? })
    }

    /// Everything it writes to a terminal.
    pub fn written(&self) -> String {
        self.pieces.iter().map(|(_, piece)| piece.as_str()).collect()
    }
}

/// How much film was shown before this moment.
fn shown_before(at: Instant, cuts: &[(Instant, Camera)]) -> Duration {
    let ends = cuts.iter().skip(1).map(|(end, _)| *end).chain([at]);
    let shown = cuts.iter().zip(ends).filter(|((_, camera), _)| *camera == Camera::Show);
    shown.map(|((from, _), to)| to.min(at).saturating_duration_since(*from)).sum()
}
