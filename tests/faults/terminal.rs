//! The same with the real binary in a real terminal: ended in the middle of the main job, started again, finished.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;

use nix::sys::signal::Signal;

use super::plan::Depth;
use crate::support::PATIENCE;
use crate::support::cluster::shared;
use crate::support::keys::Key;
use crate::support::launch::binary;
use crate::support::pty::Ended;
use crate::support::scene::{Scene, by_hand};
use crate::support::seat::{Seat, ask_about_the_oldest, finish_the_oldest, send_the_resume};

/// Where the console is ended, and whether its look-up or its resume is under way then.
const MOMENTS: &[(&str, Job)] = &[
    ("under-way GET head", Job::LookUp),
    ("under-way call reference/do_adopt.sql", Job::Resume),
    ("before call reference/do_evidence.sql", Job::LookUp),
    ("before call reference/do_adopt.sql", Job::Resume),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Job {
    LookUp,
    Resume,
}

/// A line that lets a console go on up to a moment. Gives its address, and word when the console waits there.
fn line(until: &'static str) -> (String, mpsc::Receiver<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let (mut answers, _) = listener.accept().expect("the console calls");
        let heard = BufReader::new(answers.try_clone().expect("a socket"));
        for said in heard.lines().map_while(Result::ok) {
            if said == format!("at {until}") {
                tell.send(()).ok();
                // It waits until it is ended.
                continue;
            }
            if answers.write_all(b"go\n").is_err() {
                return;
            }
        }
    });
    (address, told)
}

/// The real binary on the command line, on the scene's database.
fn audit(seat: &Seat, words: &[&str]) -> String {
    let mut command = std::process::Command::new(binary());
    let ran = command.arg("audit").args(words).current_dir(seat.folder()).env("UNSTUCK_DATABASE_URL", seat.address());
    let ran = ran.output().expect("the binary");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    said
}

async fn ended_at(moment: &'static str, job: Job) {
    let mut scene = Scene::open("ended in a terminal", by_hand()).await;
    let stuck = scene.stuck(1).await.remove(0);
    scene.run("UPDATE idempotency_keys SET locked_until = now() - interval '1 hour'").await;
    let login = scene.login("kim").await;
    let Some(seat) = Seat::at(shared().await, &scene, &login) else { return scene.close().await.broken.clear() };
    let (address, waits) = line(moment);
    let mut pty = seat.sit_with(&[("UNSTUCK_FAULT_LINE", &address)]);
    ask_about_the_oldest(&mut pty, &stuck.order);
    if job == Job::Resume {
        pty.wait_for("ok DONE");
        send_the_resume(&mut pty);
    }
    waits.recv_timeout(PATIENCE).expect("it comes to that moment");
    pty.signal(Signal::SIGKILL);
    assert_ne!(pty.wait_exit(), Ended::Code(0), "{}", pty.screen());
    drop(pty);

    let mut pty = seat.sit();
    if moment == "under-way call reference/do_adopt.sql" {
        // The server did what it had been sent; the console that was started again shows it.
        let succeeded =
            format!("SELECT count(*) FROM payments WHERE order_id = '{}' AND status = 'succeeded'", stuck.order);
        scene.until(&succeeded, 1).await;
        pty.wait_for("2 Stuck 0");
    } else {
        finish_the_oldest(&mut pty, &stuck.order);
        let open = scene.text("SELECT 'au_' || max(i.id) FROM unstuck.action_log i WHERE i.entry = 'intent' AND NOT EXISTS (SELECT 1 FROM unstuck.action_log o WHERE o.intent_id = i.id)").await;
        assert!(audit(&seat, &["verify"]).contains(&format!("open: {open} ")), "{open}");
        let said = audit(&seat, &["read-back", &open]);
        assert!(said.contains(&open) && said.contains(": not done (read back"), "{said}");
    }
    assert!(!audit(&seat, &["verify"]).contains("open: "));
    pty.press(Key::Char('1'));
    pty.wait_for(r"\[1 Overview\]");
    pty.press(Key::Char('q'));
    assert_eq!(pty.wait_exit(), Ended::Code(0), "{}", pty.screen());
    let charges = scene.desk().charges(&stuck.order);
    assert_eq!(charges.len(), 1, "{charges:?}");
    assert_eq!(scene.payments(&stuck.order).await, format!("succeeded {}", charges[0].id));
    println!("ended {moment}: one charge, one payment, nothing open");
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_console_ended_in_its_terminal_is_started_again_and_finishes() {
    let moments = if Depth::asked() == Depth::Deep { MOMENTS } else { &MOMENTS[..2] };
    for (moment, job) in moments {
        ended_at(moment, *job).await;
    }
}
