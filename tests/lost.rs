//! The console on a database of one's own that dies and comes back, and one that only freezes:
//! the real binary by its address, in a real terminal.

use std::time::Duration;

use nix::sys::signal::Signal;
use unstuck::lab::incident;
use unstuck::lab::world::{World, WorldOptions};

use crate::support::cluster::own;
use crate::support::keys::Key;
use crate::support::launch::Launch;
use crate::support::proof::LogGuard;
use crate::support::pty::{Ended, Pty};

/// Says LOST, keeps the last picture and says of when it is, and says why nothing can be done.
#[track_caller]
fn says_what_it_knows(pty: &mut Pty) {
    pty.wait_for("DATABASE LOST");
    pty.wait_for(r"as of \d\d:\d\d:\d\dZ");
    assert!(
        ["3 Unkn 1", "3 Unknown 1"].iter().any(|tab| pty.screen().contains(tab)),
        "the last picture stays:\n{}",
        pty.screen()
    );
    pty.press(Key::Char('3'));
    pty.wait_for(r"\[3 Unkn(own)? 1\]");
    pty.press(Key::Char('a'));
    pty.wait_for("(?i)lost|not answer|old");
    pty.press(Key::Escape);
    pty.press(Key::Char('1'));
    pty.wait_for(r"\[1 Overview\]");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_dies_or_freezes_is_a_banner_and_comes_back() {
    let cluster = own().await;
    if cluster.directory().is_none() {
        return;
    }
    let _log = LogGuard::over(&cluster);
    let story = incident::find("oom-kill").expect("the story");
    let world = World::start_in(&cluster, WorldOptions::quiet(Some(story))).await.expect("a world");
    world.story().await.expect("the story was told");
    let mut pty = Launch::unstuck(&[]).env("UNSTUCK_DATABASE_URL", world.console_url()).start();
    pty.wait_for("3 Unkn(own)? 1");
    pty.wait_for("data fresh");

    cluster.kill9().expect("a server of ours");
    says_what_it_knows(&mut pty);
    cluster.restart().await.expect("the server comes back");
    pty.wait_for("data fresh");
    pty.wait_gone("DATABASE LOST");

    cluster.pause().await.expect("a server of ours");
    says_what_it_knows(&mut pty);
    // The screen is alive all the while.
    let written = pty.bytes_written();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(pty.bytes_written() > written, "its clock goes on");
    cluster.resume().expect("a server of ours");
    pty.wait_for("data fresh");
    pty.wait_gone("DATABASE LOST");

    pty.signal(Signal::SIGTERM);
    assert_eq!(pty.wait_exit(), Ended::Code(0));
    assert!(pty.view().modes.restored(), "{}", pty.screen());
}
