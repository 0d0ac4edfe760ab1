//! Writing a recording beside the running console. The loop hands events over and never waits for a disk:
//! a thread of its own writes them, line by line. When it cannot, it says so once and the console goes on.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::app::model::{Model, Setup};
use crate::app::msg::Msg;
use crate::app::recording::{Event, Header, Pen, event_of};
use crate::domain::time::Now;

/// Events that may wait for the disk. A disk that is further behind is given up.
const WAITING: usize = 512;

/// How long leaving waits for the last lines, and how often it tries to hand over the very last one.
const LAST_LINES: Duration = Duration::from_secs(5);
const LAST_TRIES: u32 = 50;
const LAST_PAUSE: Duration = Duration::from_millis(100);

/// Why there is nothing to record to.
#[derive(Debug, thiserror::Error)]
pub enum CannotRecord {
    /// A file of that name is there.
    #[error("{0} is there already, and a recording never overwrites anything. Give another name")]
    Exists(PathBuf),
    /// It cannot be made.
    #[error("{path} cannot be written: {why}. Give a name in a folder of your own")]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
}

/// A new, empty file for a recording, readable for its owner only.
#[derive(Debug)]
pub struct Paper {
    file: File,
    path: PathBuf,
}

impl Paper {
    /// Whether a file of this name could be made, as far as that can be told without making it: for whoever has
    /// something long to do before.
    ///
    /// # Errors
    /// When there is one of that name.
    pub fn free(path: &Path) -> Result<(), CannotRecord> {
        if path.symlink_metadata().is_ok() { Err(CannotRecord::Exists(path.to_owned())) } else { Ok(()) }
    }

    /// Makes the file.
    ///
    /// # Errors
    /// When there is one of that name, or none can be made.
    pub fn create(path: &Path) -> Result<Self, CannotRecord> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(path) {
            Ok(file) => Ok(Self { file, path: path.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(CannotRecord::Exists(path.to_owned())),
            Err(why) => Err(CannotRecord::Unwritable { path: path.to_owned(), why }),
        }
    }

    /// Begins to write on it.
    pub fn begin(self, setup: &Setup, now: Now, said: mpsc::Sender<Msg>) -> Recorder {
        let name = self.path.display().to_string();
        Recorder::begin(Box::new(self.file), name, setup, now, said)
    }
}

/// A recording that is being written.
pub struct Recorder {
    events: Option<SyncSender<(Now, Event)>>,
    done: Receiver<()>,
    said: mpsc::Sender<Msg>,
}

impl Recorder {
    /// Writes a recording to `paper`; what goes wrong there is said by way of `said`.
    pub fn begin(paper: Box<dyn Write + Send>, name: String, setup: &Setup, now: Now, said: mpsc::Sender<Msg>) -> Self {
        let (events, waiting) = sync_channel(WAITING);
        let (done, finished) = sync_channel(1);
        let (pen, first) = Pen::new(&Header::of(setup, now.0));
        let complaints = said.clone();
        let writer = move || {
            if let Err(why) = write(paper, pen, &first, &waiting) {
                // Nobody listens any more: the console is gone.
                let _ = complaints.blocking_send(Msg::Said(format!(
                    "RECORDING STOPPED: {name} cannot be written ({why}). The console goes on; what was written stays."
                )));
            }
            let _ = done.send(());
        };
        thread::spawn(writer);
        Self { events: Some(events), done: finished, said }
    }

    /// Notes what is about to happen to the model.
    pub fn note(&mut self, model: &Model, msg: &Msg, now: Now) {
        let Some(events) = &self.events else { return };
        let Some(event) = event_of(model, msg, now) else { return };
        match events.try_send((now, event)) {
            Ok(()) => {}
            // The writer has ended, and has said why.
            Err(TrySendError::Disconnected(_)) => self.events = None,
            Err(TrySendError::Full(_)) => {
                self.events = None;
                let why = "RECORDING STOPPED: the disk does not keep up. The console goes on; what was written stays.";
                // A full channel has more pressing things to say.
                let _ = self.said.try_send(Msg::Said(why.to_owned()));
            }
        }
    }

    /// Ends it with the mark that nothing is missing, and waits for the last lines, within reason.
    pub fn finish(mut self, now: Now) {
        let Some(events) = self.events.take() else { return };
        for _ in 0..LAST_TRIES {
            match events.try_send((now, Event::End)) {
                Ok(()) => {
                    drop(events);
                    // Whether it came in time or not: nothing more can be done.
                    let _ = self.done.recv_timeout(LAST_LINES);
                    return;
                }
                Err(TrySendError::Disconnected(_)) => return,
                // The disk is behind: without the mark the recording says that it is cut off, which is then true.
                Err(TrySendError::Full(_)) => match self.done.recv_timeout(LAST_PAUSE) {
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {}
                },
            }
        }
    }
}

fn write(
    mut paper: Box<dyn Write + Send>,
    mut pen: Pen,
    first: &str,
    events: &Receiver<(Now, Event)>,
) -> io::Result<()> {
    writeln!(paper, "{first}")?;
    for (now, event) in events {
        let line = pen.line(&event, now);
        // In one piece, and at once: what a crash cuts off is the last line at most.
        paper.write_all(format!("{line}\n").as_bytes())?;
        paper.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
