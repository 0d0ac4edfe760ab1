//! `unstuck demo` in a terminal, with a temporary folder of its own: what it leaves behind can be seen.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use super::launch::Launch;
use super::pty::Pty;
use super::{PATIENCE, now};

/// A temporary folder for one demo, and nothing else.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Self {
        // Started as root the server steps down to another account, which must be able to walk in.
        let open = fs::Permissions::from_mode(0o711);
        let folder = tempfile::Builder::new().prefix("ut-").permissions(open).tempdir().expect("a temporary folder");
        Place(folder)
    }

    /// The demo of this incident, to be started here.
    pub fn demo(&self, incident: &str) -> Launch {
        self.demo_with(incident, &[])
    }

    /// The same with more on its command line.
    pub fn demo_with(&self, incident: &str, more: &[&str]) -> Launch {
        Launch::unstuck(&[&["demo", incident], more].concat()).env("TMPDIR", self.0.path())
    }

    /// Any start of it, here.
    pub fn at_home(&self, launch: Launch) -> Launch {
        launch.env("TMPDIR", self.0.path())
    }

    /// A shell to start the demo from.
    pub fn shell(&self) -> Launch {
        Launch::shell().env("TMPDIR", self.0.path())
    }

    /// What is left: folders, and processes that were started on them.
    fn left(&self) -> Vec<String> {
        let folders = fs::read_dir(self.0.path()).into_iter().flatten().filter_map(Result::ok);
        let mut left: Vec<String> = folders.map(|entry| entry.path().display().to_string()).collect();
        let listed = Command::new("ps").args(["-eo", "pid=,args="]).output().expect("ps runs");
        let here = self.0.path().display().to_string();
        left.extend(String::from_utf8_lossy(&listed.stdout).lines().filter(|l| l.contains(&here)).map(str::to_owned));
        left
    }

    /// The world is up and lives here, so that an empty folder afterwards means something.
    #[track_caller]
    pub fn assert_in_use(&self) {
        if std::env::var_os("UNSTUCK_LAB_SERVER_URL").is_none() {
            assert!(self.left().len() >= 2, "a folder and a server are here: {:?}", self.left());
        }
    }

    /// Waits until no process and no file of the demo is left: a supervisor may still be at work.
    #[track_caller]
    pub fn assert_nothing_left(&self) {
        let deadline = now() + PATIENCE;
        while !self.left().is_empty() {
            assert!(now() < deadline, "this was left behind: {:#?}", self.left());
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Waits until the console shows a first picture of the world.
#[track_caller]
pub fn wait_for_console(pty: &mut Pty) {
    pty.wait_for("1 Overview");
    pty.wait_for("data fresh");
}

/// The provider of a running demo, asked over HTTP as its own support staff would: by order, past the
/// console and its database.
pub struct Provider(u16);

impl Provider {
    /// Finds it among the ports the demo listens on.
    #[track_caller]
    pub fn of(demo: Pid) -> Self {
        let ports = listening(demo);
        let found = ports.iter().copied().find(|port| Provider(*port).charges("none").is_some());
        Provider(found.unwrap_or_else(|| panic!("a provider listens on one of {ports:?}")))
    }

    /// How many charges of this order moved money, or still may.
    #[track_caller]
    pub fn charges_that_may_move_money(&self, order: &str) -> usize {
        let charges = self.charges(order).expect("the provider answers");
        let harmless = |charge: &&Value| charge["status"] == "failed" || charge["status"] == "canceled";
        charges.len() - charges.iter().filter(harmless).count()
    }

    /// Its list of charges for an order; `None` when this is no provider.
    fn charges(&self, order: &str) -> Option<Vec<Value>> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.0)).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        let asked = format!("GET /v1/charges?order_id={order}&limit=100 HTTP/1.1\r\nHost: provider\r\n");
        stream.write_all(format!("{asked}User-Agent: a-person\r\nConnection: close\r\n\r\n").as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (_, body) = answer.split_once("\r\n\r\n")?;
        let body: Value = serde_json::from_str(body).ok()?;
        body.get("data")?.as_array().cloned()
    }
}

/// The loopback ports a process listens on, as the system knows them.
fn listening(pid: Pid) -> Vec<u16> {
    let Ok(table) = fs::read_to_string(format!("/proc/{pid}/net/tcp")) else {
        let args = ["-aPn", "-p", &pid.to_string(), "-iTCP", "-sTCP:LISTEN", "-Fn"];
        let listed = Command::new("lsof").args(args).output().expect("without /proc, lsof tells the ports");
        let names = String::from_utf8_lossy(&listed.stdout).into_owned();
        return names.lines().filter_map(|line| line.rsplit_once(':')?.1.parse().ok()).collect();
    };
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().filter_map(Result::ok);
    let sockets: Vec<String> =
        open.filter_map(|fd| Some(fs::read_link(fd.path()).ok()?.to_string_lossy().into_owned())).collect();
    let listens = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (state, inode) = (words.get(3)?, words.get(9)?);
        let port = u16::from_str_radix(words.get(1)?.rsplit_once(':')?.1, 16).ok()?;
        (*state == "0A" && sockets.contains(&format!("socket:[{inode}]"))).then_some(port)
    };
    table.lines().filter_map(listens).collect()
}
