//! The recoverer that `docs/recoverer.md` shows, run as it stands there: another service's own code on the contract.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;
use unstuck::lab::provider::Fate;
use unstuck::lab::service::{Recoverer, Service, ServiceOptions};

use super::port::{Seen, Yours, serve};
use crate::support::handing::{Two, brisk_service, never_arrived};
use crate::support::scene::{Scene, Stuck};

/// A team's own code around the contract: its provider, its tables.
struct Ours {
    db: PgPool,
    provider: String,
    client: reqwest::Client,
    /// Sleeps after its look-up until the hand back's time is up.
    sleepy: Option<i64>,
}

impl Ours {
    async fn charge_of(&self, key: &str) -> Option<Value> {
        let asked = self.client.get(format!("{}/v1/charges?idempotency_key=pay:shop-eu:{key}", self.provider));
        let page: Value = asked.send().await.ok()?.json().await.ok()?;
        page["data"].get(0).cloned()
    }
}

fn seen(charge: &Value) -> Seen {
    let charge_id = charge["id"].as_str().unwrap_or_default().to_owned();
    match charge["status"].as_str() {
        Some("succeeded") => Seen::Charged(charge_id),
        Some("failed") => Seen::Declined(charge["failure_code"].as_str().unwrap_or("declined").to_owned()),
        other => Seen::NotCertain(format!("{charge_id} is {}", other.unwrap_or("nothing known"))),
    }
}

impl Yours for Ours {
    async fn look_up(&self, _scope: &str, key: &str) -> Seen {
        let found = self.charge_of(key).await.as_ref().map_or(Seen::Absent, seen);
        while let Some(id) = self.sleepy {
            let over =
                "SELECT count(*) FROM unstuck.recoverer_unfinished() WHERE id = $1 AND not_after > clock_timestamp()";
            if sqlx::query_scalar::<_, i64>(over).bind(id).fetch_one(&self.db).await.unwrap() == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        found
    }

    async fn charge(&self, _scope: &str, key: &str) -> Seen {
        let payment = "SELECT id, order_id, amount, currency FROM payments WHERE key = $1";
        let (payment, order, amount, currency): (String, String, i64, String) =
            sqlx::query_as(payment).bind(key).fetch_one(&self.db).await.unwrap();
        let sent = self
            .client
            .post(format!("{}/v1/charges", self.provider))
            .header("idempotency-key", format!("pay:shop-eu:{key}"));
        let body = json!({"order_id": order, "reference": payment, "amount": amount, "currency": currency});
        let answer: Value = match sent.json(&body).timeout(Duration::from_secs(20)).send().await {
            Ok(answer) => answer.json().await.unwrap_or_default(),
            Err(error) => return Seen::NotCertain(error.to_string()),
        };
        seen(answer.pointer("/error/charge").unwrap_or(&answer))
    }

    async fn finish(&self, scope: &str, key: &str, attempt: i64, how: &Seen) -> bool {
        let (status, code, charge, reason) = match how {
            Seen::Charged(charge) => ("succeeded", 201, Some(charge), None),
            Seen::Declined(reason) => ("failed", 402, None, Some(reason)),
            Seen::Absent | Seen::NotCertain(_) => return false,
        };
        let finished = "WITH k AS (UPDATE idempotency_keys SET status = 'done', recovery_point = 'done', response_code = $5, response_body = '{}', \
              provider_ref = $6, updated_at = clock_timestamp() \
            WHERE scope = $1 AND key = $2 AND status = 'processing' AND attempt = $3 RETURNING scope, key), \
          p AS (UPDATE payments q SET status = $4, provider_ref = $6, failure_reason = $7, updated_at = clock_timestamp() FROM k \
            WHERE q.scope = k.scope AND q.key = k.key RETURNING q.id), \
          t AS (INSERT INTO payment_transitions (payment_id, from_status, to_status, actor) SELECT id, 'unknown', $4, 'port' FROM p), \
          o AS (INSERT INTO outbox (payment_id, type, payload) SELECT id, 'payment.' || $4, '{}' FROM p) \
          SELECT count(*) FROM k";
        let rows = sqlx::query_scalar::<_, i64>(finished)
            .bind(scope)
            .bind(key)
            .bind(attempt)
            .bind(status)
            .bind(code)
            .bind(charge)
            .bind(reason);
        rows.fetch_one(&self.db).await.unwrap() == 1
    }
}

/// A service whose own recoverer does not run, and another in its place.
async fn opened(names: &[&str]) -> (Scene, Two, Ours, Vec<Stuck>) {
    let down = ServiceOptions { recoverer: Recoverer::Down { why: "another one is in its place" }, ..brisk_service() };
    let mut scene = Scene::open("the contract", down).await;
    let login = Service::recoverer_login(&mut scene.database).await.unwrap().application_name("port");
    let db = PgPoolOptions::new().max_connections(3).connect_with(login).await.unwrap();
    let client = reqwest::Client::builder().no_proxy().user_agent("payment-service/port").build().unwrap();
    let ours = Ours { db, provider: scene.provider.url(), client, sleepy: None };
    let two = Box::pin(Two::at(&mut scene)).await;
    let cast = names.iter().map(|name| (format!("{name}-ABCD"), format!("ord_{name}"), never_arrived()));
    let records = scene.stuck_as(cast).await;
    for record in &records {
        scene.desk().destine(&record.order, Fate::default());
    }
    (scene, two, ours, records)
}

async fn events(scene: &Scene, id: i64) -> String {
    let query = "SELECT coalesce(string_agg(event || ': ' || coalesce(detail, ''), ', ' ORDER BY id), '') FROM unstuck.resume_event WHERE request = ";
    scene.text(&format!("{query}{id}")).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_recoverer_of_the_page_ends_hand_backs_with_one_charge_or_none() {
    let (scene, mut two, mut ours, records) = opened(&["absent", "shows", "no", "sleepy", "client"]).await;
    let mut ids = Vec::new();
    for record in &records[..3] {
        ids.push(two.hand_back(record).await);
    }
    scene.charge_directly(&records[1]).await;
    scene.desk().destine(&records[2].order, Fate::declined("card_declined"));
    serve(&ours.db, "port-1", 3.0, &ours).await.unwrap();
    for (record, status) in records.iter().zip(["succeeded", "succeeded", "failed"]) {
        let charges = scene.desk().charges(&record.order);
        assert_eq!(charges.len(), 1, "{record:?}: {charges:?}");
        assert!(scene.payments(&record.order).await.starts_with(status), "{record:?}");
    }
    for id in &ids {
        assert_eq!(events(&scene, *id).await, "taken: , finished: see the payment");
    }
    // Taken in time, and then it slept.
    scene.run("SELECT unstuck.set_limit('resume_life_s', 1)").await;
    let late = two.hand_back(&records[3]).await;
    ours.sleepy = Some(late);
    serve(&ours.db, "port-1", 3.0, &ours).await.unwrap();
    assert_eq!(events(&scene, late).await, "taken: , refused: too late: nothing was sent");
    assert!(scene.desk().charges(&records[3].order).is_empty());
    // Taken by one that died; a client was next, and the restarted worker says how it ended.
    scene.run("SELECT unstuck.set_limit('resume_life_s', 900)").await;
    let left = two.hand_back(&records[4]).await;
    sqlx::query("SELECT unstuck.recoverer_take($1, 'port-0')").bind(left).execute(&ours.db).await.unwrap();
    assert_eq!(crate::races::insist(&scene, &records[4]).await, 201);
    ours.sleepy = None;
    serve(&ours.db, "port-1", 3.0, &ours).await.unwrap();
    assert_eq!(events(&scene, left).await, "taken: , finished: found it done");
    scene.close().await;
}

#[test]
fn the_page_shows_the_recoverer_that_is_tested() {
    let page = include_str!("../../docs/recoverer.md");
    let code = include_str!("port.rs").split_once("\n\n").unwrap().1;
    assert!(page.contains(&format!("```rust\n{code}```\n")), "docs/recoverer.md shows tests/lab/port.rs as it is");
}
