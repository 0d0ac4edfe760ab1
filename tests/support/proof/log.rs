//! A PostgreSQL log as entries: one message each, however many lines it has.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::LazyLock;

use regex::Regex;

/// `TIME pid=… user=… db=… app=… LEVEL:  text`; further lines of the text begin with a tab.
static HEAD: LazyLock<Regex> = LazyLock::new(|| {
    let levels = "DEBUG[1-5]?|LOG|INFO|NOTICE|WARNING|ERROR|FATAL|PANIC|DETAIL|HINT|QUERY|CONTEXT|LOCATION|STATEMENT";
    let pattern = format!(r"^\d{{4}}-\S+ \S+ \S+ pid=(\d+) user=(\S*) db=(\S*) app=(.*?) ({levels}):  (.*)$");
    Regex::new(&pattern).expect("a pattern")
});

/// `execute sqlx_s_3: …`, `execute <unnamed>: …`, `execute fetch from a/b: …`, `statement: …`.
static SENT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)^(?:statement|execute [^:]*): (.*)$").expect("a pattern"));

/// One message of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub pid: u32,
    pub user: String,
    pub database: String,
    pub application: String,
    pub level: String,
    pub text: String,
}

impl Entry {
    fn of(line: &str) -> Option<Self> {
        let head = HEAD.captures(line)?;
        Some(Self {
            pid: head[1].parse().ok()?,
            user: head[2].to_owned(),
            database: head[3].to_owned(),
            application: head[4].to_owned(),
            level: head[5].to_owned(),
            text: head[6].to_owned(),
        })
    }

    /// The statement this entry shows: one that was sent, or one that an error speaks of.
    pub fn statement(&self) -> Option<&str> {
        match self.level.as_str() {
            "LOG" => SENT.captures(&self.text).and_then(|sent| sent.get(1)).map(|sent| sent.as_str()),
            "STATEMENT" => Some(&self.text),
            _ => None,
        }
    }
}

/// Reads a growing log, from where it was left.
pub struct Follower {
    path: PathBuf,
    offset: u64,
    last: Option<Entry>,
}

impl Follower {
    pub fn new(path: PathBuf) -> Self {
        Self { path, offset: 0, last: None }
    }

    /// The entries since the last time. A text that went on meanwhile comes again, whole.
    pub fn entries(&mut self) -> Vec<Entry> {
        let mut fresh = String::new();
        // The server writes an entry in one piece; a reader may still meet it halfway.
        loop {
            self.read_on(&mut fresh);
            if fresh.is_empty() || fresh.ends_with('\n') {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        self.split(&fresh)
    }

    fn read_on(&mut self, fresh: &mut String) {
        // Gone with its server: what it said until then was read, or nobody can read it.
        let Ok(mut file) = File::open(&self.path) else { return };
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(self.offset)).expect("a log can be read from anywhere");
        file.read_to_end(&mut bytes).expect("the log can be read");
        self.offset += u64::try_from(bytes.len()).expect("a length");
        fresh.push_str(&String::from_utf8_lossy(&bytes));
    }

    fn split(&mut self, fresh: &str) -> Vec<Entry> {
        let mut entries = Vec::new();
        let mut open = self.last.take();
        let mut changed = false;
        for line in fresh.lines() {
            if let Some(entry) = Entry::of(line) {
                entries.extend(open.replace(entry).filter(|_| changed));
                changed = true;
            } else if let Some(entry) = &mut open {
                entry.text.push('\n');
                entry.text.push_str(line.strip_prefix('\t').unwrap_or(line));
                changed = true;
            }
        }
        self.last.clone_from(&open);
        entries.extend(open.filter(|_| changed));
        entries
    }
}

#[test]
fn statements_of_many_lines_are_one_and_executions_are_seen() {
    let at = "2026-11-30 18:35:01.123 UTC";
    let text = format!(
        "{at} pid=7 user=console_x db=d app=unstuck LOG:  execute sqlx_s_2: DELETE\n\tFROM payments\n\
         {at} pid=7 user=console_x db=d app=unstuck DETAIL:  parameters: $1 = 'statement: DELETE'\n\
         {at} pid=8 user=postgres db=d app=psql, of LOG: LOG:  statement: SELECT 1\n\
         {at} pid=7 user=console_x db=d app=unstuck ERROR:  permission denied\n\
         {at} pid=7 user=console_x db=d app=unstuck STATEMENT:  TRUNCATE payments\n"
    );
    let mut follower = Follower::new(PathBuf::new());
    let entries = follower.split(&text);
    let said: Vec<_> = entries.iter().filter_map(Entry::statement).collect();
    assert_eq!(said, ["DELETE\nFROM payments", "SELECT 1", "TRUNCATE payments"]);
    assert_eq!((entries[0].pid, entries[0].application.as_str(), entries.len()), (7, "unstuck", 5));
    assert_eq!(follower.split("\tCASCADE\n")[0].text, "TRUNCATE payments\nCASCADE");
    assert_eq!(follower.split(""), Vec::new());
}
