//! A place at the real binary: `unstuck --act` on a scene, configured as a team would, in a terminal.

use std::fs;
use std::thread;
use std::time::Duration;

use regex::Regex;
use tempfile::TempDir;
use unstuck::lab::cluster::{Cluster, Login};

use super::keys::Key;
use super::launch::{Launch, binary};
use super::pty::Pty;
use super::scene::Scene;

/// A step that asks for a key takes it only after it was on screen for a moment.
const READING: Duration = Duration::from_millis(700);

/// A folder with a configuration, and the address of a scene's database.
pub struct Seat {
    folder: TempDir,
    address: String,
    operator: String,
}

impl Seat {
    /// `None` on a server that has no loopback port of ours.
    pub fn at(cluster: &Cluster, scene: &Scene, login: &Login) -> Option<Self> {
        Self::of(cluster, scene, login, "kim", "demo")
    }

    /// The same for somebody else, where the database is of another kind.
    pub fn of(cluster: &Cluster, scene: &Scene, login: &Login, operator: &str, kind: &str) -> Option<Self> {
        let (port, _) = cluster.loopback()?;
        let folder = tempfile::tempdir().expect("a folder");
        let config = format!(
            "[environments.demo]\nkind = \"{kind}\"\n[providers.labpay]\nfile = \"lab.toml\"\nbase_url = \"{}\"\n\
             [policy]\nstuck_after = \"1s\"\nevidence_freshness = \"120s\"\nnot_found_gap = \"2s\"\nskew = \"1s\"\n",
            scene.provider.url()
        );
        fs::write(folder.path().join("unstuck.toml"), config).expect("a configuration");
        // Nothing in the lab is live, and production takes nothing else: an adapter that does not tell.
        let adapter = include_str!("../../src/provider/lab.toml").replace("live = \"/livemode\"\n", "");
        fs::write(folder.path().join("lab.toml"), adapter).expect("an adapter");
        let name = scene.database.name();
        let address = format!("postgres://{}:{}@127.0.0.1:{port}/{name}?sslmode=disable", login.name, login.password);
        Some(Self { folder, address, operator: operator.to_owned() })
    }

    /// What `unstuck check` says here, with these arguments.
    pub fn check(&self, args: &[&str]) -> String {
        let mut check = std::process::Command::new(binary());
        check.arg("check").args(args).current_dir(self.folder.path()).env_clear();
        let said = check.env("UNSTUCK_DATABASE_URL", &self.address).output().expect("an answer");
        String::from_utf8_lossy(&said.stdout).into_owned()
    }

    /// Where its configuration is.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// The address of the scene's database, with its password.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Opens the console and waits for its first picture.
    #[track_caller]
    pub fn sit(&self) -> Pty {
        self.sit_with(&[])
    }

    /// The same, with more in its environment.
    #[track_caller]
    pub fn sit_with(&self, variables: &[(&str, &str)]) -> Pty {
        let launch = Launch::unstuck(&["--act", "--poll", "1"]).folder(self.folder.path());
        let launch = launch.env("UNSTUCK_DATABASE_URL", &self.address).env("UNSTUCK_OPERATOR", &self.operator);
        let launch = launch.size(120, 32);
        let mut pty = variables.iter().fold(launch, |launch, (name, value)| launch.env(name, *value)).start();
        pty.wait_for("1 Overview");
        pty.wait_for("data fresh");
        pty
    }
}

#[track_caller]
pub fn step(pty: &mut Pty, pattern: &str) {
    pty.wait_for(pattern);
    thread::sleep(READING);
}

/// Opens the oldest stuck record, asks the provider, and resumes it.
#[track_caller]
pub fn finish_the_oldest(pty: &mut Pty, order: &str) {
    ask_about_the_oldest(pty, order);
    step(pty, "ok DONE");
    send_the_resume(pty);
    step(pty, "ok DONE");
    pty.press(Key::Enter);
    pty.wait_for("Payment SUCCEEDED");
}

/// Opens the oldest stuck record and asks the provider.
#[track_caller]
pub fn ask_about_the_oldest(pty: &mut Pty, order: &str) {
    pty.wait_for("2 Stuck 1");
    pty.press(Key::Char('2'));
    step(pty, "(?i)rows keep their place");
    pty.press(Key::Enter);
    pty.wait_for(&format!("order {order}"));
    pty.press(Key::Char('a'));
    step(pty, "Nothing has been sent");
    pty.press(Key::Char('l'));
    step(pty, "Enter asks the provider now");
    pty.press(Key::Enter);
}

/// From the answer of a look-up to the phrase and its Enter.
#[track_caller]
pub fn send_the_resume(pty: &mut Pty) {
    pty.press(Key::Enter);
    pty.wait_for("NEXT +resume");
    pty.press(Key::Char('a'));
    step(pty, "r +Resume +adopt the charge, no new charge");
    pty.press(Key::Char('r'));
    step(pty, "NO new charge");
    pty.press(Key::Enter);
    step(pty, "Reason");
    pty.type_text("the pod died after the charge");
    pty.press(Key::Tab);
    pty.type_text("INC-1");
    pty.press(Key::Enter);
    step(pty, "not yet the same");
    let phrase = Regex::new(r"demo shop-eu \S+ EUR [\d.]+").expect("a pattern");
    let phrase = phrase.find(&pty.screen()).expect("a phrase on the screen").as_str().to_owned();
    pty.type_text(&phrase);
    step(pty, "the same: Enter runs it");
    pty.press(Key::Enter);
}
