//! Triggers on every table, which write down who changed what: they see what functions do, the log does not.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::{ConnectOptions, PgConnection, Row};
use unstuck::lab::sql;

const INSTALL: &str = r"
CREATE SCHEMA proof;
CREATE TABLE proof.seen (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, xid text NOT NULL, who text NOT NULL, application text NOT NULL,
  action text NOT NULL, tab text NOT NULL, log_id bigint, entry text, word text, result text, intent bigint);
CREATE FUNCTION proof.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO proof.seen (xid, who, application, action, tab) VALUES (
    pg_current_xact_id()::text, session_user, current_setting('application_name'), TG_OP, TG_TABLE_SCHEMA || '.' || TG_TABLE_NAME);
  RETURN NULL;
END $$;
CREATE FUNCTION proof.note_log() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO proof.seen (xid, who, application, action, tab, log_id, entry, word, result, intent)
    SELECT pg_current_xact_id()::text, session_user, current_setting('application_name'), TG_OP, 'unstuck.action_log',
      f.id, f.entry, f.action, f.result, f.intent_id
    FROM fresh f;
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION proof.note(), proof.note_log() FROM PUBLIC;
DO $$
DECLARE
  tab record;
BEGIN
  FOR tab IN SELECT c.oid::regclass AS name, c.oid::regclass::text = 'unstuck.action_log' AS is_log
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname IN ('public', 'unstuck') AND c.relkind IN ('r', 'p')
  LOOP
    EXECUTE format('CREATE TRIGGER proof_removed BEFORE DELETE OR TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION proof.note()', tab.name);
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER proof_removed', tab.name);
    IF tab.is_log THEN
      EXECUTE format('CREATE TRIGGER proof_logged AFTER INSERT ON %s REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION proof.note_log()', tab.name);
      EXECUTE format('CREATE TRIGGER proof_changed AFTER UPDATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION proof.note()', tab.name);
    ELSE
      EXECUTE format('CREATE TRIGGER proof_changed AFTER INSERT OR UPDATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION proof.note()', tab.name);
    END IF;
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER proof_changed', tab.name);
  END LOOP;
END $$;
";

/// Puts the triggers on every table of the service and of schema `unstuck`, as a superuser, while nobody writes yet.
pub async fn install(admin: &mut PgConnection) {
    sql::run(admin, INSTALL).await.expect("the triggers");
}

/// What an application changed, and what of it must not be.
#[derive(Debug, Default)]
pub struct Seen {
    /// Transactions that changed anything, by the log row they wrote: `outcome adopt done`.
    pub transactions: BTreeMap<String, usize>,
    pub broken: Vec<String>,
}

/// A row of the log as a transaction wrote it.
#[derive(Debug, Clone)]
struct Logged {
    id: i64,
    entry: String,
    word: String,
    result: Option<String>,
    intent: Option<i64>,
}

#[derive(Debug, Default)]
struct Transaction {
    changes: BTreeSet<(String, String)>,
    logged: Vec<Logged>,
}

/// Reads what the triggers saw of an application.
pub async fn seen(admin: &mut PgConnection, application: &str) -> Seen {
    let rows = sqlx::query("SELECT xid, action, tab, log_id, entry, word, result, intent FROM proof.seen WHERE application = $1 ORDER BY id")
        .bind(application)
        .fetch_all(admin)
        .await
        .expect("what the triggers saw");
    let mut order = Vec::new();
    let mut transactions: BTreeMap<String, Transaction> = BTreeMap::new();
    for row in &rows {
        let xid: String = row.get("xid");
        if !transactions.contains_key(&xid) {
            order.push(xid.clone());
        }
        let transaction = transactions.entry(xid).or_default();
        transaction.changes.insert((row.get("action"), row.get("tab")));
        if let Some(id) = row.get::<Option<i64>, _>("log_id") {
            let (entry, word) = (row.get("entry"), row.get("word"));
            transaction.logged.push(Logged { id, entry, word, result: row.get("result"), intent: row.get("intent") });
        }
    }
    judge(order.iter().filter_map(|xid| transactions.get(xid)))
}

fn judge<'t>(transactions: impl Iterator<Item = &'t Transaction>) -> Seen {
    let mut seen = Seen::default();
    let mut intents = BTreeSet::new();
    for transaction in transactions {
        let [logged] = transaction.logged.as_slice() else {
            let why = format!("{} log rows for {:?}", transaction.logged.len(), transaction.changes);
            seen.broken.push(why);
            continue;
        };
        let result = logged.result.as_deref().unwrap_or("");
        let name = format!("{} {} {result}", logged.entry, logged.word);
        if logged.entry == "intent" {
            intents.insert(logged.id);
        }
        // Anybody may close what somebody else, in whatever program, left open: it changes nothing.
        let closes = logged.result.as_deref() == Some("not done") && logged.intent.is_some();
        if logged.entry == "outcome" && !closes && !logged.intent.is_some_and(|intent| intents.contains(&intent)) {
            seen.broken.push(format!("{name}: its intent {:?} was not written before", logged.intent));
        }
        if !allowed(logged).contains(&transaction.changes) {
            seen.broken.push(format!("{name}: {:?}", transaction.changes));
        }
        *seen.transactions.entry(name.trim_end().to_owned()).or_default() += 1;
    }
    seen
}

/// What finishing a record and its payment changes.
const FINISHED: &[&str] = &[
    "UPDATE public.idempotency_keys",
    "INSERT public.payment_attempts",
    "UPDATE public.payments",
    "INSERT public.payment_transitions",
    "INSERT public.outbox",
];

/// The sets of changes a transaction may consist of, by the one log row it wrote.
fn allowed(logged: &Logged) -> Vec<BTreeSet<(String, String)>> {
    let set = |changes: &[&str]| -> BTreeSet<(String, String)> {
        let all = std::iter::once(&"INSERT unstuck.action_log").chain(changes);
        all.map(|change| change.split_once(' ').expect("an action and a table"))
            .map(|(action, table)| (action.to_owned(), table.to_owned()))
            .collect()
    };
    let approved = |changes: &[&str]| set(&[changes, &["INSERT unstuck.approval_use"]].concat());
    let append = set(&[]);
    let evidence = set(&["INSERT unstuck.evidence"]);
    let done = logged.result.as_deref() == Some("done");
    match (logged.entry.as_str(), logged.word.as_str()) {
        ("outcome" | "event", "lookup") => vec![append, evidence],
        ("outcome", "adopt" | "fail") if done => vec![set(FINISHED), approved(FINISHED)],
        ("outcome", "reverse" | "not_charged") if done => vec![approved(FINISHED)],
        // Asking, answering and handing back touch nothing of the service's.
        ("outcome", "hand_back") if done => vec![approved(&["INSERT unstuck.resume_request"])],
        ("outcome", "ask") if done => vec![set(&["INSERT unstuck.approval_request"])],
        ("outcome", "approve" | "refuse") if done => vec![set(&["INSERT unstuck.approval_decision"])],
        ("outcome", "withdraw") if done => {
            vec![set(&["INSERT unstuck.approval_decision"]), set(&["INSERT unstuck.resume_event"])]
        }
        ("outcome", "hold") if done => vec![set(&["UPDATE public.idempotency_keys", "INSERT public.payment_attempts"])],
        ("outcome", "release") if done => {
            vec![set(&["UPDATE public.idempotency_keys", "UPDATE public.payment_attempts"])]
        }
        ("outcome", "note" | "hand_over") if done => vec![set(&["INSERT unstuck.note"])],
        ("intent" | "outcome" | "event", _) => vec![append],
        _ => Vec::new(),
    }
}

/// Looks from a place that cannot wait (a drop): panics on what the console did and must not have.
pub fn look(options: &sqlx::postgres::PgConnectOptions) {
    let options = options.clone();
    let looking = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            // A test that took its server away has nothing to show.
            let mut admin = options.connect().await.ok()?;
            Some(seen(&mut admin, unstuck::store::options::APPLICATION).await.broken)
        })
    });
    let broken = looking.join().expect("the look at the triggers").unwrap_or_default();
    assert!(broken.is_empty(), "the console changed what it may not: {broken:#?}");
}
