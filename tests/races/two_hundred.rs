//! Two hundred rounds: two consoles, the recoverer and the client's retry on the same record at the same moment.
//!
//! 160 records were charged and the answer lost: both consoles adopt, the recoverer recovers, the client retries. 40
//! were never charged: one console hands back what two people approved, the other holds, the recoverer serves, the
//! client retries. Whatever the order: one charge, one payment, every intent ended, and the tables name the one who won.

use std::collections::BTreeMap;
use std::time::Duration;

use unstuck::domain::action::Request;
use unstuck::domain::guard::Armed;
use unstuck::domain::log::Outcome;
use unstuck::lab::provider::{Answer, Fate};
use unstuck::lab::service::Recovered;

use super::{every_intent_ended, insist, is_done, is_no, paid_once};
use crate::support::handing::{Two, brisk_service, never_arrived};
use crate::support::scene::{Console, Scene, Stuck, Told};

const LOST: usize = 160;
const NEVER: usize = 40;
/// So many are approved at once: an approval must not grow old.
const BATCH: usize = 20;

/// Rounds by winner.
type Split = BTreeMap<String, usize>;

/// Who finished the payment, as the service's own table has it: `operator:kim`, `recoverer`, `pod-b`.
async fn winner(scene: &Scene, stuck: &Stuck) -> String {
    let won = "SELECT string_agg(t.actor, ' and ') FROM payment_transitions t JOIN payments p ON p.id = t.payment_id \
        WHERE t.to_status = 'succeeded' AND p.order_id = ";
    scene.text(&format!("{won}'{}'", stuck.order)).await
}

/// The operator whose change of this record is in the log as done; nobody: a dash.
async fn logged(scene: &Scene, stuck: &Stuck) -> String {
    let done = "SELECT coalesce(string_agg('operator:' || operator, ' and '), '-') FROM unstuck.action_log \
        WHERE entry = 'outcome' AND action = 'adopt' AND result = 'done' AND key = ";
    scene.text(&format!("{done}'{}'", stuck.id.key)).await
}

/// Whom a round favours: everybody else sets off when the database shows that this one has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Favoured {
    Kim,
    Lee,
    Recoverer,
    Nobody,
}

const TURNS: [Favoured; 4] = [Favoured::Kim, Favoured::Lee, Favoured::Recoverer, Favoured::Nobody];

impl Favoured {
    /// Shows, as one row, that the favoured one is under way with a record.
    fn sign(self, stuck: &Stuck, look_ups: i64) -> Option<String> {
        let key = &stuck.id.key;
        let intent = |who: &str| {
            format!(
                "SELECT count(*) FROM unstuck.action_log WHERE key = '{key}' AND entry = 'intent' AND action = 'adopt' AND operator = '{who}'"
            )
        };
        match self {
            Self::Kim => Some(intent("kim")),
            Self::Lee => Some(intent("lee")),
            // At least one more: the first to see it may add its own before the next one looks.
            Self::Recoverer => {
                Some(format!("SELECT least(1, count(*) - {look_ups}) FROM provider_calls WHERE key = '{key}'"))
            }
            Self::Nobody => None,
        }
    }
}

/// Does a part of a round: at once, or when the favoured one has begun.
async fn after<T>(scene: &Scene, sign: Option<&String>, work: impl Future<Output = T>) -> T {
    if let Some(sign) = sign {
        scene.until(sign, 1).await;
    }
    work.await
}

/// Who says of themselves that they finished it.
fn claims(outcomes: [(&str, &Outcome); 2], recovered: &Recovered, told: Option<Told>) -> Vec<String> {
    let mut claims: Vec<String> =
        outcomes.iter().filter(|(_, outcome)| is_done(outcome)).map(|(who, _)| format!("operator:{who}")).collect();
    if *recovered == Recovered::Finished {
        claims.push("recoverer".to_owned());
    }
    if told == Some(Told { code: 201, fresh: true }) {
        claims.push("pod-b".to_owned());
    }
    claims
}

async fn lost_answers(scene: &Scene, kim: &mut Console, lee: &mut Console) -> Split {
    let lost = Fate { answer: Answer::Lost, ..Fate::default() };
    let cast = (0..LOST).map(|nth| (format!("L{nth:03}-ABCD"), format!("ord_l{nth}"), lost.clone()));
    let mut split = Split::new();
    for (round, stuck) in scene.stuck_as(cast).await.iter().enumerate() {
        let (one, two) = (kim.ready(stuck).await, lee.ready(stuck).await);
        let turn = TURNS[round % TURNS.len()];
        let calls = format!("SELECT count(*) FROM provider_calls WHERE key = '{}'", stuck.id.key);
        let sign = turn.sign(stuck, scene.number(&calls).await);
        let waits = |who: Favoured| sign.as_ref().filter(|_| who != turn);
        let (one, two, recovered, told) = tokio::join!(
            after(scene, waits(Favoured::Kim), kim.act(one)),
            after(scene, waits(Favoured::Lee), lee.act(two)),
            after(scene, waits(Favoured::Recoverer), scene.service.recover(&stuck.id)),
            after(scene, waits(Favoured::Nobody), scene.told(1, stuck)),
        );
        let (one, two, recovered) = (&one.outcome, &two.outcome, recovered.expect("the recoverer works"));
        assert!([one, two].iter().all(|o| is_done(o) || is_no(o)), "round {round}: {one:?}, {two:?}");
        let mut claimed = claims([("kim", one), ("lee", two)], &recovered, told);
        // Nobody has to have won: a retry may hold the lease and meet another's fence. Then the client comes again.
        if claimed.is_empty() && !scene.payments(&stuck.order).await.starts_with("succeeded") {
            scene.until_expired(&stuck.id).await;
            claimed = vec!["pod-b".to_owned()];
        }
        assert_eq!(insist(scene, stuck).await, 201, "the client gets the one answer");
        paid_once(scene, stuck).await;
        let won = winner(scene, stuck).await;
        assert_eq!(claimed, std::slice::from_ref(&won), "round {round}: who says so, and who did");
        let in_the_log = if won.starts_with("operator:") { won.as_str() } else { "-" };
        assert_eq!(logged(scene, stuck).await, in_the_log, "round {round}");
        *split.entry(won).or_default() += 1;
    }
    split
}

/// One round on a record that was never charged; whether it was handed back.
async fn handed_back(
    scene: &Scene,
    round: usize,
    stuck: &Stuck,
    (kim, send): (&mut Console, Armed),
    lee: &mut Console,
) -> bool {
    let hold = lee.armed(Request::Hold, stuck).await.unwrap_or_else(|no| panic!("{no}"));
    // Once the hand back is there, once the hold is on its way, once all together.
    let key = &stuck.id.key;
    let there = format!("SELECT count(*) FROM unstuck.resume_request WHERE key = '{key}'");
    let holding =
        format!("SELECT count(*) FROM unstuck.action_log WHERE key = '{key}' AND entry = 'intent' AND action = 'hold'");
    let (first, second) = [(None, Some(&there)), (Some(&holding), None), (None, None)][round % 3];
    let third = first.or(second);
    let (sent, held, told) = tokio::join!(
        after(scene, first, kim.act(send)),
        after(scene, second, lee.act(hold)),
        after(scene, third, scene.told(1, stuck)),
    );
    for outcome in [&sent.outcome, &held.outcome] {
        assert!(is_done(outcome) || is_no(outcome), "round {round}: {outcome:?}");
    }
    if is_done(&held.outcome) {
        let release = lee.armed(Request::Release, stuck).await.unwrap_or_else(|no| panic!("{no}"));
        let released = lee.act(release).await.outcome;
        assert!(is_done(&released), "{released:?}");
    }
    let mut fresh = usize::from(told == Some(Told { code: 201, fresh: true }));
    let answered = async {
        loop {
            match scene.told(1, stuck).await {
                Some(Told { code: 201, fresh: now }) => break usize::from(now),
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    };
    fresh += tokio::time::timeout(crate::support::PATIENCE, answered).await.expect("a final answer");
    paid_once(scene, stuck).await;
    let won = winner(scene, stuck).await;
    assert_eq!(fresh, usize::from(won == "pod-b"), "round {round}: {won} did it");
    is_done(&sent.outcome)
}

/// Every hand back ends, and says `finished` by its own doing exactly where the recoverer finished the payment.
async fn hand_backs_ended(scene: &Scene) {
    let open = "SELECT count(*) FROM unstuck.resume_request q WHERE 1 <> \
        (SELECT count(*) FROM unstuck.resume_event v WHERE v.request = q.id AND v.event <> 'taken')";
    scene.until(open, 0).await;
    let wrong = "SELECT count(*) FROM unstuck.resume_request q \
        JOIN unstuck.resume_event v ON v.request = q.id AND v.event <> 'taken' \
        JOIN payment_transitions t ON t.payment_id = q.payment_id AND t.to_status = 'succeeded' \
        WHERE (t.actor = 'recoverer') <> (v.event = 'finished' AND v.detail NOT LIKE 'found it done%')";
    assert_eq!(scene.number(wrong).await, 0, "a hand back says what the recoverer did");
}

/// The scene, two people who may hand back, and a second operator.
async fn opened(purpose: &str) -> (Scene, Two, Console) {
    let mut scene = Scene::open(purpose, brisk_service()).await;
    let lees = scene.login("lee-at-work").await;
    let two = Two::at(&mut scene).await;
    let lee = scene.console("lee", &lees).await;
    (scene, two, lee)
}

/// Everything is done, nothing twice, and the log has an end for every beginning.
async fn all_done(scene: &Scene, rounds: usize) {
    every_intent_ended(scene).await;
    let twice = "SELECT count(*) FROM (SELECT 1 FROM payments WHERE status = 'succeeded' GROUP BY order_id HAVING count(*) > 1) x";
    assert_eq!(scene.number(twice).await, 0);
    let done = scene.number("SELECT count(*) FROM idempotency_keys WHERE status = 'done'").await;
    assert_eq!(usize::try_from(done), Ok(rounds));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_consoles_the_recoverer_and_a_retry_on_a_charge_that_was_lost() {
    let (scene, mut two, mut lee) = Box::pin(opened("a lost charge")).await;
    let split = Box::pin(lost_answers(&scene, &mut two.kim, &mut lee)).await;
    println!("{LOST} rounds with a charge, by winner: {split:?}");
    assert_eq!(split.values().sum::<usize>(), LOST);
    all_done(&scene, LOST).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hand_back_a_hold_the_recoverer_and_a_retry_on_what_was_never_charged() {
    let (scene, mut two, mut lee) = Box::pin(opened("never charged")).await;
    let cast = (0..NEVER).map(|nth| (format!("N{nth:02}-ABCD"), format!("ord_n{nth}"), never_arrived()));
    let records = scene.stuck_as(cast).await;
    let (mut split, mut accepted) = (Split::new(), 0);
    for batch in records.chunks(BATCH) {
        for stuck in batch {
            scene.desk().destine(&stuck.order, Fate::default());
        }
        let armed = two.approved(&batch.iter().collect::<Vec<_>>()).await;
        for (round, (stuck, send)) in batch.iter().zip(armed).enumerate() {
            accepted += usize::from(handed_back(&scene, round, stuck, (&mut two.kim, send), &mut lee).await);
            *split.entry(winner(&scene, stuck).await).or_default() += 1;
        }
    }
    println!("{NEVER} rounds without one, {accepted} handed back, by winner: {split:?}");
    hand_backs_ended(&scene).await;
    all_done(&scene, NEVER).await;
    scene.close().await;
}
