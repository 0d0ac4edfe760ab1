//! The log of actions: whatever a superuser does to it is found, and what is exported is what stands there.

mod export;
mod read_back;
mod verify;

use serde_json::json;
use unstuck::domain::chain::{Head, Walk, Walked};
use unstuck::store::postgres::PgStore;

use crate::cli::Place;
use crate::support::orders::{call, intent, order};
use crate::support::store::{Ground, Tables};

/// What a person may have typed.
const HOSTILE: &str =
    "a | b\n# x [l](https://evil.test) `c` \u{1b}[2J\u{7}\u{1f}\u{7f}\u{202e} \\ \"q\" é 😀 <img src=x>";

/// A log of seven rows: the naming, a note and its outcome, a refusal with hostile words, a hold that has no
/// outcome, a hand-over and its outcome.
async fn filled() -> Ground {
    let ground = Ground::new(Tables::Installed).await;
    let mut kim = ground.in_psql().await;
    let note = intent(&mut kim, "note", &json!({ "ticket": "INC-1" })).await;
    assert_eq!(call(&mut kim, "do_note", &note).await.log, Some(3));
    let odd = json!({
        "action": "refused command", "key": HOSTILE, "why": HOSTILE, "ticket": "INC-2", "plan_hash": null, "more": "MORE",
    });
    // As text, because numbers keep their zeros only in the server.
    let more = r#"[1, -2.50, 1e30, 0.1000, {"b": null, "aa": true, "": "\u0001"}]"#;
    let odd = order(&odd).to_string().replace("\"MORE\"", more);
    let refused = sqlx::query_scalar::<_, i64>("SELECT log_id FROM unstuck.do_refusal($1::text::jsonb)").bind(odd);
    assert_eq!(refused.fetch_one(&mut kim).await.unwrap(), 4);
    intent(&mut kim, "hold", &json!({})).await;
    let hand_over = intent(&mut kim, "hand_over", &json!({ "key": "k-103", "owner": "lee" })).await;
    assert_eq!(call(&mut kim, "do_hand_over", &hand_over).await.log, Some(7));
    ground
}

/// Does something to the log that only a superuser can, and only on purpose.
async fn tamper(ground: &mut Ground, deed: &str) {
    let script = format!(
        "ALTER TABLE unstuck.action_log DISABLE TRIGGER only_grows; {deed}; ALTER TABLE unstuck.action_log ENABLE ALWAYS TRIGGER only_grows"
    );
    ground.run(&script).await;
}

/// Walks the log as the console's role.
async fn walked(store: &PgStore, noted: Option<&str>) -> Walked {
    let mut walk = Walk::new(noted.map(|head| Head::parse(head).unwrap()));
    let mut after = None;
    loop {
        let page = store.chain(after).await.unwrap();
        for row in &page.rows {
            walk.step(row);
        }
        after = page.next;
        if after.is_none() {
            return walk.finish();
        }
    }
}

/// The real binary, in an environment of its own.
fn place(ground: &Ground) -> Place {
    let config = "[environments.demo]\nkind = \"demo\"\n";
    Place::new().file("unstuck.toml", config).with("UNSTUCK_DATABASE_URL", &ground.url())
}
