use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::mpsc as std_mpsc;
use std::sync::{Arc, Mutex};

use chrono::DateTime;

use super::*;
use crate::app::drill::Practice;
use crate::app::key::Chord;
use crate::app::model::{Acting, SecondSeat};
use crate::domain::environment::{Environment, EnvironmentKind};
use crate::domain::guard::Context;
use crate::domain::ids::Operator;
use crate::domain::policy::Policy;
use crate::domain::time::Seconds;
use crate::ui::{Charset, Look, Theme};

fn now() -> Now {
    Now(DateTime::from_timestamp(1_796_047_407, 0).unwrap())
}

fn setup() -> Setup {
    Setup {
        context: Context {
            environment: Environment { name: "prod".into(), kind: EnvironmentKind::Production },
            operator: Operator::new("dana"),
            role: String::new(),
            policy: Policy::default(),
            terms: std::collections::BTreeMap::new(),
        },
        acting: Acting::Off,
        look: Look::new(Theme::named("mono").unwrap(), Charset::Ascii),
        poll_every: Seconds(2),
        normals: std::collections::BTreeMap::new(),
        second: SecondSeat::None,
        practice: Practice::default(),
    }
}

fn press(recorder: &mut Recorder) {
    recorder.note(&Model::new(setup()), &Msg::Key(Chord::char('2')), now());
}

#[test]
fn the_file_is_new_its_owners_alone_and_written_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("night.rec");
    let (said, _heard) = mpsc::channel(8);
    let mut recorder = Paper::create(&path).unwrap().begin(&setup(), now(), said);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    press(&mut recorder);
    recorder.finish(now());
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.ends_with("{\"event\":\"end\",\"ms\":0}\n"), "{text}");
    let refused = Paper::create(&path).unwrap_err().to_string();
    assert!(refused.contains("never overwrites") && refused.contains("another name"), "{refused}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    assert!(matches!(Paper::free(&path), Err(CannotRecord::Exists(_))));
}

#[test]
fn a_link_to_somewhere_else_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (link, target) = (folder.path().join("night.rec"), folder.path().join("elsewhere"));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    assert!(matches!(Paper::create(&link), Err(CannotRecord::Exists(_))));
    assert!(matches!(Paper::free(&link), Err(CannotRecord::Exists(_))));
    assert!(!target.exists());
    let nowhere = folder.path().join("no/such/folder/night.rec");
    assert!(matches!(Paper::create(&nowhere), Err(CannotRecord::Unwritable { .. })));
}

/// A disk that takes so many writes, and then is full.
struct Full(usize, Arc<Mutex<Vec<u8>>>);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
        self.1.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_said_once_and_what_was_written_stays() {
    let written = Arc::new(Mutex::new(Vec::new()));
    let (said, mut heard) = mpsc::channel(8);
    let paper = Box::new(Full(4, Arc::clone(&written)));
    let mut recorder = Recorder::begin(paper, "night.rec".into(), &setup(), now(), said);
    press(&mut recorder);
    press(&mut recorder);
    press(&mut recorder);
    let Some(Msg::Said(why)) = heard.blocking_recv() else { panic!("it is said") };
    assert!(why.starts_with("RECORDING STOPPED: night.rec") && why.contains("The console goes on"), "{why}");
    for _ in 0..WAITING * 2 {
        press(&mut recorder);
    }
    recorder.finish(now());
    assert!(heard.try_recv().is_err(), "once");
    let text = String::from_utf8(written.lock().unwrap().clone()).unwrap();
    assert!(text.starts_with("{\"format\":\"unstuck recording\"") && !text.contains("end\""), "{text}");
}

/// A disk that hangs until it is let go.
struct Hangs(std_mpsc::Receiver<()>);

impl Write for Hangs {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Let go, or the test is over.
        let _ = self.0.recv();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_disk_that_hangs_does_not_hold_the_console() {
    let (let_go, hangs) = std_mpsc::channel();
    let (said, mut heard) = mpsc::channel(8);
    let mut recorder = Recorder::begin(Box::new(Hangs(hangs)), "night.rec".into(), &setup(), now(), said);
    for _ in 0..WAITING * 2 {
        press(&mut recorder);
    }
    let Ok(Msg::Said(why)) = heard.try_recv() else { panic!("it is said") };
    assert!(why.contains("the disk does not keep up"), "{why}");
    recorder.finish(now());
    drop(let_go);
}
