//! What an install script may contain: a closed list of statement kinds, and no word of removal.
//!
//! The script is printed, or run by an administrator on a connection of its own; the console never
//! runs it. Its functions are what the console later may call, so their bodies are read here too:
//! every word, also inside strings, also inside nested quotes. Fails closed: a statement that is
//! not on the list, or a body that cannot be cut into words, refuses the whole script.

use super::lex::{Dress, Kind, Token, lex};
use super::{Reason, Refused};

/// Words that may not occur anywhere: removal, running text as SQL, leaving the database, other
/// sessions. REVOKE and the trigger that refuses removal may name what they forbid.
const FORBIDDEN: &[&str] = &[
    "delete",
    "truncate",
    "drop",
    "merge",
    "copy",
    "call",
    "prepare",
    "vacuum",
    "cluster",
    "reindex",
    "lo_unlink",
    "lo_import",
    "lo_export",
    "dblink",
    "dblink_exec",
    "query_to_xml",
    "pg_read_file",
    "pg_read_binary_file",
    "pg_terminate_backend",
    "pg_cancel_backend",
    "pg_reload_conf",
    "superuser",
    "bypassrls",
    "createrole",
    "createdb",
    "replication",
];

/// Words of everyday English too: refused as words of the script, not inside a message for people.
const ENGLISH: &[&str] = &["merge", "copy", "call", "prepare", "cluster", "replication"];

/// The one text that may be run as SQL: a role that cannot log in, its name quoted by the server.
const ROLE: &str = "CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION";

/// What REVOKE and a trigger's event list may name.
const MAY_BE_FORBIDDEN: &[&str] = &["delete", "truncate"];

/// An install script that passed the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    text: String,
}

impl Script {
    /// The whole script, comments included: it is made to be read.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Checks an install script.
pub fn install(file: &str, text: &str) -> Result<Script, Refused> {
    check(text).map(|()| Script { text: text.to_owned() }).map_err(super::named(file))
}

fn check(text: &str) -> Result<(), Reason> {
    let lexed = lex(text, Dress::Script)?;
    let statements: Vec<&[Token]> =
        lexed.tokens.split(|token| token.kind == Kind::Mark(';')).filter(|statement| !statement.is_empty()).collect();
    if statements.is_empty() {
        return Err(Reason::Count { count: 0 });
    }
    statements.into_iter().try_for_each(statement)
}

/// The kinds of statement a script may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kinds {
    Plain,
    Function,
    Block,
    Grant,
    Revoke,
    Trigger,
}

fn statement(tokens: &[Token]) -> Result<(), Reason> {
    let line = tokens.first().map_or(0, |token| token.line);
    let words: Vec<&str> = tokens
        .iter()
        .map(|token| match &token.kind {
            Kind::Word(word) => word.as_str(),
            Kind::Mark('.') => ".",
            Kind::Mark(_) | Kind::Op(_) => "·",
            Kind::Quoted(_) | Kind::Number(_) | Kind::Text(_) | Kind::Body(_) | Kind::Param(_) => "…",
        })
        .collect();
    let at = |what: &str| Reason::Text { line, why: what.to_owned() };
    let kind = kind_of(&words).ok_or_else(|| {
        at(&format!(
            "this kind of statement is not on the list: {}",
            words.iter().take(4).copied().collect::<Vec<_>>().join(" ")
        ))
    })?;
    match kind {
        Kinds::Grant if words.iter().any(|word| matches!(*word, "all" | "trigger" | "references" | "maintain")) => {
            return Err(at("a grant names each right it gives"));
        }
        Kinds::Grant if words.windows(2).any(|pair| pair == ["grant", "option"] || pair == ["admin", "option"]) => {
            return Err(at("a grant may not be passed on"));
        }
        Kinds::Function => function(&words, line)?,
        Kinds::Plain | Kinds::Grant | Kinds::Block | Kinds::Revoke | Kinds::Trigger => {}
    }
    scan(tokens, kind)
}

/// The closed list, by how a statement begins.
fn kind_of(words: &[&str]) -> Option<Kinds> {
    const PLAIN: &[&[&str]] = &[
        &["create", "schema", "if", "not", "exists", "unstuck"],
        &["create", "schema", "unstuck"],
        &["create", "table", "if", "not", "exists", "unstuck", "."],
        &["create", "table", "unstuck", "."],
        &["create", "view", "unstuck", "."],
        &["create", "or", "replace", "view", "unstuck", "."],
        &["create", "index"],
        &["create", "unique", "index"],
        &["create", "role"],
        &["comment", "on"],
        &["insert", "into", "unstuck", "."],
        &["alter", "schema", "unstuck", "owner", "to"],
    ];
    let begins = |start: &&[&str]| words.starts_with(start);
    if matches!(words, ["begin" | "commit"]) || PLAIN.iter().any(begins) {
        return Some(Kinds::Plain);
    }
    let holds = |part: &[&str]| words.windows(part.len()).any(|found| found == part);
    match words {
        ["create", "function", "unstuck", ".", ..] | ["create", "or", "replace", "function", "unstuck", ".", ..] => {
            Some(Kinds::Function)
        }
        ["create", "trigger", ..] | ["create", "or", "replace", "trigger", ..] if holds(&["on", "unstuck", "."]) => {
            Some(Kinds::Trigger)
        }
        ["alter", "table" | "function" | "view" | "sequence", "unstuck", ".", ..] if holds(&["owner", "to"]) => {
            Some(Kinds::Plain)
        }
        ["alter", "table", "unstuck", ".", _, "enable", "always", "trigger", _] => Some(Kinds::Plain),
        ["do", "…"] | ["do", "language", "plpgsql", "…"] => Some(Kinds::Block),
        ["grant", ..] => Some(Kinds::Grant),
        ["revoke", ..] | ["alter", "default", "privileges", "in", "schema", "unstuck", "revoke", ..] => {
            Some(Kinds::Revoke)
        }
        _ => None,
    }
}

/// A function is written in SQL or PL/pgSQL and, when it runs with its owner's rights, pins its search path.
fn function(words: &[&str], line: usize) -> Result<(), Reason> {
    let at = |why: &str| Reason::Text { line, why: why.to_owned() };
    let languages: Vec<&str> =
        words.windows(2).filter_map(|pair| if let ["language", name] = pair { Some(*name) } else { None }).collect();
    match languages.as_slice() {
        ["plpgsql" | "sql"] => {}
        _ => return Err(at("a function says LANGUAGE plpgsql or sql, once")),
    }
    let definer = words.windows(2).any(|pair| pair == ["security", "definer"]);
    let pinned = words.windows(2).any(|pair| pair == ["set", "search_path"]);
    if definer && !pinned {
        return Err(at("a SECURITY DEFINER function must SET search_path"));
    }
    Ok(())
}

/// Looks at every word, through strings and bodies.
fn scan(tokens: &[Token], kind: Kinds) -> Result<(), Reason> {
    for (index, token) in tokens.iter().enumerate() {
        let at = |why: String| Reason::Text { line: token.line, why };
        match &token.kind {
            Kind::Word(word) | Kind::Quoted(word) => {
                let word = word.to_ascii_lowercase();
                if word == "execute" && !harmless_execute(tokens.get(index.saturating_add(1)..).unwrap_or(&[])) {
                    return Err(at("EXECUTE runs text as SQL".to_owned()));
                }
                let named_to_be_refused = matches!(kind, Kinds::Revoke | Kinds::Trigger);
                if FORBIDDEN.contains(&word.as_str())
                    && !(named_to_be_refused && MAY_BE_FORBIDDEN.contains(&word.as_str()))
                {
                    return Err(at(format!("the word {} may not occur", word.to_ascii_uppercase())));
                }
            }
            Kind::Text(text) => {
                let found = text
                    .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .map(str::to_ascii_lowercase)
                    .find(|word| FORBIDDEN.contains(&word.as_str()) && !ENGLISH.contains(&word.as_str()));
                if let Some(word) = found {
                    return Err(at(format!(
                        "the word {} may not occur, not even in a string",
                        word.to_ascii_uppercase()
                    )));
                }
            }
            Kind::Body(body) => {
                let inner = lex(body, Dress::Script).map_err(|unreadable| Reason::Text {
                    line: token.line.saturating_add(unreadable.line).saturating_sub(1),
                    why: unreadable.why,
                })?;
                let shifted: Vec<Token> = inner
                    .tokens
                    .into_iter()
                    .map(|t| Token { line: token.line.saturating_add(t.line).saturating_sub(1), ..t })
                    .collect();
                scan(&shifted, Kinds::Plain)?;
            }
            Kind::Number(_) | Kind::Param(_) | Kind::Op(_) | Kind::Mark(_) => {}
        }
    }
    Ok(())
}

/// What follows EXECUTE: `FUNCTION f()` of a trigger, `ON` of a grant, or the making of one harmless role.
fn harmless_execute(rest: &[Token]) -> bool {
    let mut kinds = rest.iter().map(|token| &token.kind);
    let word = |text: &str| Kind::Word(text.to_owned());
    let role = [
        word("pg_catalog"),
        Kind::Mark('.'),
        word("format"),
        Kind::Mark('('),
        Kind::Text(ROLE.to_owned()),
        Kind::Mark(','),
        word("wanted"),
        Kind::Mark(')'),
        Kind::Mark(';'),
    ];
    rest.first().is_some_and(|next| next.kind == word("function") || next.kind == word("on"))
        || role.iter().all(|expected| kinds.next() == Some(expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "
        -- nothing here can DELETE
        CREATE SCHEMA IF NOT EXISTS unstuck;
        DO $$ BEGIN
          IF NOT EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = 'unstuck_definer') THEN
            CREATE ROLE unstuck_definer NOLOGIN;
          END IF;
        END $$;
        CREATE TABLE IF NOT EXISTS unstuck.action_log (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL);
        CREATE OR REPLACE FUNCTION unstuck.log_only_grows() RETURNS trigger LANGUAGE plpgsql AS $f$
          BEGIN RAISE EXCEPTION 'the log only grows'; END $f$;
        CREATE TRIGGER only_grows BEFORE UPDATE OR DELETE ON unstuck.action_log FOR EACH ROW EXECUTE FUNCTION unstuck.log_only_grows();
        REVOKE ALL ON ALL TABLES IN SCHEMA unstuck FROM PUBLIC;
        REVOKE DELETE, TRUNCATE ON unstuck.action_log FROM unstuck_definer;
        GRANT SELECT ON unstuck.action_log TO unstuck_operator;
        GRANT EXECUTE ON FUNCTION unstuck.do_note(jsonb) TO unstuck_operator;
        ALTER TABLE unstuck.action_log OWNER TO unstuck_definer;
        COMMENT ON SCHEMA unstuck IS 'operators of payments';
        INSERT INTO unstuck.environment (name, kind) VALUES ('demo', 'lab');";

    #[test]
    fn an_honest_script_passes() {
        install("install.sql", GOOD).unwrap();
    }

    #[test]
    fn removal_in_any_dress_is_refused() {
        for statement in [
            "DELETE FROM payments",
            "TRUNCATE payments",
            "DROP TABLE payments",
            "DROP SCHEMA unstuck CASCADE",
            "ALTER TABLE payments OWNER TO unstuck_definer",
            "ALTER TABLE unstuck.x ADD COLUMN y int",
            "UPDATE payments SET status = 'failed'",
            "INSERT INTO payments (id) VALUES ('x')",
            "SELECT 1",
            "COPY payments TO PROGRAM 'sh'",
            "CALL p()",
            "SET ROLE postgres",
            "CREATE EXTENSION dblink",
            "CREATE RULE r AS ON UPDATE TO payments DO INSTEAD NOTHING",
            "CREATE TRIGGER t BEFORE UPDATE ON payments FOR EACH ROW EXECUTE FUNCTION unstuck.f()",
            "CREATE TABLE unstuck.t (o text REFERENCES payments ON DELETE CASCADE)",
            "CREATE FUNCTION public.f() RETURNS void LANGUAGE sql AS $$ SELECT 1 $$",
            "CREATE FUNCTION unstuck.f() RETURNS void LANGUAGE sql AS $$ DELETE FROM payments $$",
            "CREATE FUNCTION unstuck.f() RETURNS void LANGUAGE sql AS $$ SELECT 1; delete\nfrom payments $$",
            "CREATE FUNCTION unstuck.f() RETURNS void LANGUAGE sql AS $$ DELETE/**/FROM payments $$",
            "CREATE FUNCTION unstuck.f() RETURNS void LANGUAGE sql AS 'DELETE FROM payments'",
            "CREATE FUNCTION unstuck.f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DEL' || 'ETE FROM payments'; END $$",
            "CREATE FUNCTION unstuck.f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM f($q$DELETE FROM payments$q$); END $$",
            "CREATE FUNCTION unstuck.f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN MERGE INTO payments USING x ON a WHEN MATCHED THEN UPDATE SET b = 1; END $$",
            "CREATE FUNCTION unstuck.f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN DROP TABLE payments; END $$",
            "CREATE FUNCTION unstuck.f() RETURNS void LANGUAGE c AS 'lib', 'f'",
            "CREATE FUNCTION unstuck.f() RETURNS void LANGUAGE plpython3u AS $$ x $$",
            "CREATE FUNCTION unstuck.f() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN END $$",
            "CREATE FUNCTION unstuck.f() RETURNS void LANGUAGE sql BEGIN ATOMIC SELECT 1; DELETE FROM payments; END",
            "DO $$ BEGIN DELETE FROM payments; END $$",
            "DO $a$ BEGIN EXECUTE $b$ TRUNCATE payments $b$; END $a$",
            "DO $a$ BEGIN EXECUTE wanted; END $a$",
            "DO $a$ BEGIN EXECUTE pg_catalog.format('CREATE ROLE %I LOGIN', wanted); END $a$",
            "DO $a$ BEGIN EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION', wanted) || x; END $a$",
            "DO LANGUAGE plpython3u $$ x $$",
            "GRANT DELETE ON payments TO unstuck_operator",
            "GRANT ALL ON payments TO unstuck_operator",
            "GRANT SELECT ON payments TO unstuck_operator WITH GRANT OPTION",
            "CREATE ROLE boss SUPERUSER",
            "CREATE ROLE boss BYPASSRLS",
            "/* /* */ DELETE FROM payments",
            "U&\"\\0064elete\" FROM payments",
            "DELETE FROM payments -- x",
            "WITH gone AS (DELETE FROM payments RETURNING 1) SELECT 1",
            "EXPLAIN ANALYZE DELETE FROM payments",
        ] {
            let script = format!("{GOOD}\n{statement};");
            assert!(install("install.sql", &script).is_err(), "should be refused: {statement}");
        }
    }

    #[test]
    fn the_error_names_file_and_line() {
        let error =
            install("x/install.sql", "CREATE SCHEMA unstuck;\nDO $$\nBEGIN\n DELETE FROM t; END $$;").unwrap_err();
        assert_eq!(error.to_string(), "x/install.sql: line 4: the word DELETE may not occur");
    }

    #[test]
    fn nothing_is_not_a_script() {
        assert!(install("install.sql", "-- only a comment").is_err());
    }
}
