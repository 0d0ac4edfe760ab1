//! The file of a recording: read line by line with a limit, so that no file, whatever is in it, fills the memory.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use crate::app::recording::{Head, Header, LONGEST_LINE, LONGEST_PICTURE, Reading, head, moment, stub};
use crate::app::replay::{Cut, Next, Source};

/// Why a file is not played.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It is not there, or may not be read.
    #[error("{path} cannot be read: {why}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// A folder, a pipe, a device.
    #[error("{0} is not a file. A recording is one: unstuck --record FILE writes it")]
    NoFile(PathBuf),
    /// Another kind of file.
    #[error("{0} is not a recording of unstuck. unstuck --record FILE writes one")]
    NoRecording(PathBuf),
    /// Of a later version.
    #[error(
        "{path} was recorded by unstuck {tool}, which writes version {version} of the format. This one shows up to \
         version {ours}: play it with that version"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of the format.
        version: u32,
        /// Who wrote it.
        tool: String,
        /// What this one can show.
        ours: u32,
    },
    /// The first line says that it is one, and no more.
    #[error("{path} is a recording whose first line is damaged ({why}): where and when it was is not known")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// A recording that can be played.
#[derive(Debug)]
pub struct Found {
    /// Its first line.
    pub header: Header,
    /// Its other lines.
    pub lines: Lines,
    /// Milliseconds from its start to its last readable line.
    pub length: u64,
    /// Where it breaks off, when it does.
    pub cut: Option<Cut>,
}

/// Finds a recording and looks it through once, without keeping it.
///
/// # Errors
/// When there is nothing to show.
pub fn load(path: &Path) -> Result<Found, Refused> {
    let unreadable = |why: io::Error| Refused::Unreadable { path: path.to_owned(), why };
    // Asked first: opening a pipe would wait for somebody to write.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(Refused::NoFile(path.to_owned()));
    }
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    let mut line = Vec::new();
    let header = match next_line(&mut file, &mut line, LONGEST_LINE).map_err(unreadable)? {
        Piece::Whole | Piece::CutOff => match head(&line) {
            Head::Ours(header) => *header,
            Head::Other => return Err(Refused::NoRecording(path.to_owned())),
            Head::Newer(version, tool) => {
                return Err(Refused::Newer {
                    path: path.to_owned(),
                    version,
                    tool,
                    ours: crate::app::recording::VERSION,
                });
            }
            Head::Damaged(why) => return Err(Refused::Damaged { path: path.to_owned(), why }),
        },
        Piece::TooLong | Piece::Over => return Err(Refused::NoRecording(path.to_owned())),
    };
    let begin = file.stream_position().map_err(unreadable)?;
    let (mut count, mut length) = (0_usize, 0_u64);
    let why = loop {
        let number = count.saturating_add(2);
        match next_line(&mut file, &mut line, LONGEST_PICTURE).map_err(unreadable)? {
            Piece::Whole => match stub(&line) {
                Some(stub) => {
                    count = count.saturating_add(1);
                    length = length.max(stub.ms);
                    if stub.is_end {
                        break None;
                    }
                }
                None => break Some(format!("line {number} cannot be read")),
            },
            Piece::CutOff => break Some(format!("line {number} is not complete")),
            Piece::TooLong => break Some(format!("line {number} is longer than any console writes")),
            Piece::Over => break Some("its console was killed, or still writes".to_owned()),
        }
    };
    let cut = why.map(|why| Cut { at: moment(header.started_at, length), why });
    let lines = Lines { file, begin, count, read: 0, reading: Reading::default() };
    let mut found = Found { header, lines, length, cut };
    found.lines.rewind();
    Ok(found)
}

/// The lines after the first, as far as they can be counted.
#[derive(Debug)]
pub struct Lines {
    file: BufReader<File>,
    begin: u64,
    count: usize,
    read: usize,
    reading: Reading,
}

impl Source for Lines {
    fn next(&mut self) -> Next {
        if self.read >= self.count {
            return Next::Over;
        }
        self.read = self.read.saturating_add(1);
        let number = self.read.saturating_add(1);
        let mut line = Vec::new();
        match next_line(&mut self.file, &mut line, LONGEST_PICTURE) {
            Ok(Piece::Whole) => match self.reading.line(&line) {
                Ok((ms, event)) => Next::Event(ms, Box::new(event)),
                Err(why) => Next::Unreadable(format!("line {number} cannot be read ({why})")),
            },
            Ok(Piece::CutOff | Piece::TooLong | Piece::Over) => {
                Next::Unreadable(format!("line {number} is not what it was a moment ago"))
            }
            Err(why) => Next::Unreadable(format!("line {number} cannot be read ({why})")),
        }
    }

    fn rewind(&mut self) {
        self.read = 0;
        self.reading = Reading::default();
        if self.file.seek(SeekFrom::Start(self.begin)).is_err() {
            // A file that cannot be sought in has nothing more to show.
            self.count = 0;
        }
    }
}

/// What the next line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// A line with its end.
    Whole,
    /// The last one, and it has no end.
    CutOff,
    /// Longer than `most`.
    TooLong,
    /// There is none.
    Over,
}

/// Reads a line of at most `most` bytes.
fn next_line(file: &mut impl BufRead, line: &mut Vec<u8>, most: usize) -> io::Result<Piece> {
    line.clear();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    file.by_ref().take(limit).read_until(b'\n', line)?;
    Ok(match line.last() {
        None => Piece::Over,
        Some(b'\n') => Piece::Whole,
        Some(_) if line.len() > most => Piece::TooLong,
        Some(_) => Piece::CutOff,
    })
}

#[cfg(test)]
mod tests;
