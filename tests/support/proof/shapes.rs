//! The shapes a statement of the console may have. Everything else is not allowed, whatever it does.

use std::sync::LazyLock;

use regex::Regex;
use unstuck::store::gate;

/// What a statement is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Begins or ends a transaction.
    Control(Control),
    /// Reads, in a read-only transaction.
    Read,
    /// One guarded call, by the function's name.
    Call(String),
    /// Allowed in a transaction and outside.
    Anywhere,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    BeginReadOnly,
    Begin,
    End,
}

/// What the console says of its own accord, besides its files. Word for word.
const OWN_READS: &[&str] = &[
    "SAVEPOINT question",
    "ROLLBACK TO SAVEPOINT question",
    "DEALLOCATE ALL",
    "SELECT pg_catalog.pg_backend_pid() AS pid, pg_catalog.now() AS now, pg_catalog.set_config('statement_timeout', $1, true), pg_catalog.set_config('idle_in_transaction_session_timeout', '10s', true), pg_catalog.set_config('lock_timeout', '100ms', true), pg_catalog.set_config('jit', 'off', true)",
    "SELECT pg_catalog.set_config('statement_timeout', $1, true)",
    "SELECT c.relname::text AS relation, a.attname::text AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_catalog.pg_table_is_visible(c.oid) AND c.relname = ANY ($1)",
    "SELECT pg_catalog.current_setting('server_version') AS version, pg_catalog.current_database()::text AS database, session_user::text AS role, pg_catalog.pg_is_in_recovery() AS standby, EXISTS (SELECT 1 FROM pg_catalog.pg_namespace n WHERE n.nspname = 'unstuck') AS installed",
    "SELECT c.relname::text AS name FROM pg_catalog.pg_class c WHERE c.relkind IN ('i', 'I') AND c.relname = ANY ($1)",
];

/// Outside a transaction: is anybody there; stop my own statement.
const OWN_ANYWHERE: &[&str] = &["SELECT 1", "SELECT pg_catalog.pg_cancel_backend($1)"];

/// The driver's own question when it prepares a statement: where its columns come from.
static ORIGINS: LazyLock<Regex> = LazyLock::new(|| {
    let text = r"^SELECT attrelid table_oid, attrelid::regclass::text table_name, array_agg\(ROW\(attnum, attname\)\) AS columns FROM \(VALUES [(), 0-9]+\) lookup\(table_oid, attribute_num\) INNER JOIN pg_catalog\.pg_attribute ON lookup\.table_oid = attrelid AND lookup\.attribute_num = attnum GROUP BY attrelid$";
    Regex::new(text).expect("a pattern")
});

static CALL: LazyLock<Regex> = LazyLock::new(|| {
    let text = r"^SELECT d\.outcome, d\.why, d\.log_id, d\.version, d\.read_back FROM unstuck\.(do_[a-z_]+)\(\$1::jsonb\) AS d$";
    Regex::new(text).expect("a pattern")
});

/// Verbs that no statement of the console has, wherever in it.
static VERBS: LazyLock<Regex> = LazyLock::new(|| {
    let verbs = "delete|truncate|insert|update|merge|drop|alter|create|grant|revoke|copy|call|do|lock|vacuum|cluster|reindex|refresh|reassign|import|load|listen|notify|prepare|execute|deallocate|discard|reset|set";
    Regex::new(&format!(r"(?i)\b(?:{verbs})\b")).expect("a pattern")
});

/// Texts, quoted names and comments: what stands in them is not SQL.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?s)--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([a-z_]*)\$.*?\$[a-z_]*\$"#)
        .expect("a pattern")
});

/// The shape of a statement, or why it has none.
pub fn shape(statement: &str) -> Result<Shape, String> {
    let words: Vec<&str> = statement.split_whitespace().collect();
    let line = words.join(" ");
    match line.as_str() {
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" => return Ok(Shape::Control(Control::BeginReadOnly)),
        "BEGIN" => return Ok(Shape::Control(Control::Begin)),
        "COMMIT" | "ROLLBACK" => return Ok(Shape::Control(Control::End)),
        _ => {}
    }
    if OWN_ANYWHERE.contains(&line.as_str()) {
        return Ok(Shape::Anywhere);
    }
    if OWN_READS.contains(&line.as_str()) || ORIGINS.is_match(&line) {
        return Ok(Shape::Read);
    }
    if let Some(verb) = VERBS.find(&QUOTED.replace_all(statement, "''")) {
        return Err(format!("the word {}", verb.as_str().to_uppercase()));
    }
    if let Some(call) = CALL.captures(&line) {
        let function = call[1].to_owned();
        return if gate::CALLS.contains(&function.as_str()) {
            Ok(Shape::Call(function))
        } else {
            Err(format!("{function} is not a guarded function"))
        };
    }
    let read = statement.strip_prefix("EXPLAIN (FORMAT JSON) ").unwrap_or(statement);
    gate::read("the log", read).map(|_| Shape::Read).map_err(|refused| refused.to_string())
}

#[test]
fn only_reads_and_guarded_calls_have_a_shape() {
    for wrong in [
        "DELETE FROM payments",
        "delete\nfrom payments",
        "TRUNCATE payments",
        "WITH gone AS (DELETE FROM payments RETURNING *) SELECT * FROM gone",
        "EXPLAIN (ANALYZE) SELECT 1",
        "EXPLAIN (FORMAT JSON) UPDATE payments SET status = 'failed'",
        "SELECT 1; DELETE FROM payments",
        "SELECT id FROM payments FOR UPDATE",
        "SELECT pg_terminate_backend(1)",
        "SELECT d.outcome, d.why, d.log_id, d.version, d.read_back FROM unstuck.do_remove($1::jsonb) AS d",
        "SELECT unstuck.do_adopt($1)",
        "BEGIN READ WRITE",
        "SET ROLE unstuck_definer",
        "SELECT pg_catalog.set_config('transaction_read_only', 'off', true)",
    ] {
        assert!(shape(wrong).is_err(), "{wrong}: {:?}", shape(wrong));
    }
    assert_eq!(shape("SELECT id, 'DELETE' AS word FROM payments ORDER BY id LIMIT 1"), Ok(Shape::Read));
    let adopt = "SELECT d.outcome, d.why, d.log_id, d.version, d.read_back\nFROM unstuck.do_adopt($1::jsonb) AS d";
    assert_eq!(shape(adopt), Ok(Shape::Call("do_adopt".to_owned())));
    assert_eq!(shape("COMMIT"), Ok(Shape::Control(Control::End)));
}
