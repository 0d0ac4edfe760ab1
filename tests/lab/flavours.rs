//! Providers that can do less: what cannot be known is UNKNOWN, nobody is charged twice, and the truth comes
//! by webhook or with the settlement.

use unstuck::domain::ids::RecordId;
use unstuck::domain::policy::ProviderTerms;
use unstuck::domain::time::Seconds;
use unstuck::lab::provider::{Answer, Fate, Habits, Keys, Lookup, Notice, Sequence};
use unstuck::lab::service::job::RECONCILE;
use unstuck::lab::service::{Recovered, ServiceOptions};

use super::town::{Town, by_hand};

fn open(payment: &str) -> (String, String) {
    (payment.to_owned(), "processing".to_owned())
}

fn done(payment: &str) -> (String, String) {
    (payment.to_owned(), "done".to_owned())
}

/// A service that knows its provider reads no keys.
fn without_keys() -> ServiceOptions {
    ServiceOptions { terms: ProviderTerms { key_retention: None, settle: Seconds(2) }, ..by_hand() }
}

/// How often the provider was asked to charge.
fn charges_asked(town: &Town) -> usize {
    town.desk().access_log().iter().filter(|access| access.method == "POST" && access.path == "/v1/charges").count()
}

#[tokio::test]
async fn without_keys_an_ordinary_day_is_an_ordinary_day() {
    let town = Town::open_with("no keys", Habits::without_keys(), without_keys()).await;
    assert_eq!(town.pay("K-1", "ord_1", 500).await.code, 201);
    let again = town.pay("K-1", "ord_1", 500).await;
    assert_eq!((again.code, again.replayed), (201, true));
    let charges = town.desk().charges("ord_1");
    assert_eq!((charges.len(), charges[0].idempotency_key.clone()), (1, None));
}

#[tokio::test]
async fn without_keys_a_lost_answer_is_looked_up_and_never_sent_again() {
    let town = Town::open_with("no keys, lost", Habits::without_keys(), without_keys()).await;
    town.desk().destine("ord_1", Fate { answer: Answer::Lost, ..Fate::default() });
    town.desk().destine("ord_2", Fate { answer: Answer::NeverArrived, ..Fate::default() });
    for order in ["ord_1", "ord_2"] {
        assert_eq!(town.pay(order, order, 500).await.code, 503);
    }
    for _ in 0..3 {
        town.much_later().await;
        town.pay("ord_1", "ord_1", 500).await;
        assert_eq!(town.pay("ord_2", "ord_2", 500).await.code, 503);
        town.much_later().await;
        let recovered = town.service.recover(&RecordId::new("shop-eu", "ord_2")).await.unwrap();
        assert!(matches!(recovered, Recovered::Left(_)), "{recovered:?}");
    }
    assert_eq!(town.state("ord_1").await, done("succeeded"));
    assert_eq!(town.state("ord_2").await, open("unknown"));
    assert_eq!(charges_asked(&town), 2, "once each, whatever came back");
    assert_eq!(town.breaches().await, Vec::<String>::new());
}

#[tokio::test]
async fn without_look_up_the_payment_waits_for_the_webhook() {
    let town = Town::open_with("no look-up", Habits::without_lookup(), by_hand()).await;
    town.subscribe();
    town.desk().destine("ord_1", Fate { answer: Answer::Lost, notice: Some(Notice::Kept), ..Fate::default() });
    assert_eq!(town.pay("K-1", "ord_1", 500).await.code, 503);
    for _ in 0..3 {
        town.much_later().await;
        assert_eq!(town.pay("K-1", "ord_1", 500).await.code, 503);
        town.much_later().await;
        let recovered = town.service.recover(&RecordId::new("shop-eu", "K-1")).await.unwrap();
        assert!(matches!(recovered, Recovered::Left(_)), "{recovered:?}");
    }
    assert_eq!(town.state("ord_1").await, open("unknown"));
    town.much_later().await;
    town.desk().send_kept("ord_1", Sequence::AsHappened);
    town.until("SELECT count(*) FROM webhook_events WHERE applied_at IS NOT NULL", 1).await;
    assert_eq!(town.state("ord_1").await, done("succeeded"));
    assert_eq!(charges_asked(&town), 1);
    assert_eq!(town.breaches().await, Vec::<String>::new());
}

#[tokio::test]
async fn with_neither_and_the_webhook_lost_the_settlement_tells() {
    let habits = Habits { keys: Keys::Ignored, lookup: Lookup::OwnIdOnly, ..Habits::default() };
    let town = Town::open_with("neither", habits, without_keys()).await;
    town.subscribe();
    town.desk().destine("ord_1", Fate { answer: Answer::Lost, notice: Some(Notice::Lost), ..Fate::default() });
    assert_eq!(town.pay("K-1", "ord_1", 500).await.code, 503);
    town.much_later().await;
    assert_eq!(town.pay("K-1", "ord_1", 500).await.code, 503);
    town.much_later().await;
    town.desk().close_report().unwrap();
    assert_eq!(town.run(RECONCILE).await.changed, 1);
    assert_eq!(
        town.count("SELECT count(*) FROM settlement_findings WHERE class = 'late' AND closed_at IS NOT NULL").await,
        1
    );
    assert_eq!(town.state("ord_1").await, done("succeeded"));
    let replayed = town.pay("K-1", "ord_1", 500).await;
    assert_eq!((replayed.code, replayed.replayed), (201, true));
    assert_eq!(charges_asked(&town), 1);
    assert_eq!(town.breaches().await, Vec::<String>::new());
}
