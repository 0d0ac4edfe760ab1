//! `unstuck audit read-back`: what a console that is gone left open is closed, once, by whoever asks.

use super::{filled, place, tamper};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_left_open_is_closed_once_and_what_is_young_is_left_alone() {
    let mut ground = filled().await;
    let place = place(&ground);
    let ran = place.run(&["audit", "read-back"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let young = "left alone: au_5 hold on acme/k-102 by kim, for ";
    assert!(ran.said.contains(young) && ran.said.ends_with("nothing to read back\n"), "{}", ran.said);
    assert_eq!(ground.number("SELECT count(*) FROM unstuck.action_log").await, 7);

    let ran = place.run(&["audit", "read-back", "au_5"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.said.contains("au_5 hold on acme/k-102 by kim, for "), "{}", ran.said);
    assert!(ran.said.ends_with(": not done (read back: the change did not arrive)\n"), "{}", ran.said);
    let written =
        "SELECT concat_ws(' ', entry, action, result, intent_id) FROM unstuck.action_log ORDER BY id DESC LIMIT 1";
    assert_eq!(ground.text(written).await, "outcome hold not done 5");

    // An intent that has its outcome is not open, whoever asks how often.
    let again = place.run(&["audit", "read-back", "5"]);
    assert_eq!((again.code, again.complained.as_str()), (1, "au_5 is no intent that is open\n"), "{again:?}");
    assert_eq!(ground.number("SELECT count(*) FROM unstuck.action_log").await, 8);
    let verified = place.run(&["audit", "verify"]);
    assert!(verified.code == 0 && !verified.said.contains("open: "), "{verified:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_intent_needs_no_name_even_in_a_log_that_is_broken() {
    let mut ground = filled().await;
    // Nobody can wait for it to grow old; its hash is wrong from here on.
    tamper(&mut ground, "UPDATE unstuck.action_log SET at = at - interval '5 minutes' WHERE id = 5").await;
    let place = place(&ground);
    let ran = place.run(&["audit", "read-back"]);
    assert!(ran.code == 0 && ran.said.contains("au_5 hold on acme/k-102 by kim, for 5m"), "{ran:?}");
    assert!(ran.said.contains(": not done"), "{}", ran.said);
    assert!(place.run(&["audit", "verify"]).said.contains("BROKEN at au_5"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_nothing_may_be_written_nothing_is_and_it_says_so() {
    let mut ground = filled().await;
    let place = place(&ground).file("unstuck.toml", "[environments.prod]\nkind = \"production\"\n");
    let ran = place.run(&["audit", "read-back", "au_5"]);
    assert!(ran.code != 0, "{ran:?}");
    assert_eq!(ground.number("SELECT count(*) FROM unstuck.action_log").await, 7);
    assert_eq!(place.run(&["audit", "read-back", "rm"]).code, 3);
}
