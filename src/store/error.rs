//! What a failure of the database means for the person at the screen.
//!
//! The server's own words go to the log and nowhere else: they may carry data. The screen gets a
//! meaning and the SQLSTATE.

use sqlx::error::DatabaseError;

use crate::domain::port::StoreError;

/// Turns a failure into its meaning. `what` says what was being done: `get_stuck`, `connecting`.
pub(super) fn meaning(error: &sqlx::Error, what: &str) -> StoreError {
    tracing::warn!(what, error = %error, "the database answered with an error");
    match error.as_database_error() {
        Some(said) => database(said, what),
        None => client(error, what),
    }
}

/// What the server said.
fn database(said: &dyn DatabaseError, what: &str) -> StoreError {
    let code = said.code().unwrap_or_default();
    let timed_out = |why: &str| StoreError::TimedOut { what: format!("{what}: {why}") };
    let unreachable = |why: &str| StoreError::Unreachable { why: why.to_owned() };
    match code.as_ref() {
        "57014" => timed_out("the server stopped it at the time limit"),
        "55P03" => timed_out("somebody holds a lock on the table"),
        "25P03" => timed_out("the transaction was idle for too long"),
        // The text of this one names the object and nothing else.
        "42501" => StoreError::Denied { what: format!("{what}: {}", said.message()) },
        // A wrong password, no such role, or a server that takes nobody from here: no grant puts that right.
        "28000" | "28P01" => StoreError::Database {
            sqlstate: code.into_owned(),
            meaning: "this login: the role, its password, or who may come from where".to_owned(),
        },
        "3D000" => unreachable("there is no database of that name"),
        "53300" => unreachable("the server has no free connection slot"),
        "57P01" => unreachable("the server closed our connection"),
        "57P02" => unreachable("the server crashed or was stopped"),
        "57P03" => unreachable("the server is starting up"),
        other if other.starts_with("08") => unreachable("the connection was lost"),
        other => StoreError::Database { sqlstate: other.to_owned(), meaning: format!("{what}: {}", class(other)) },
    }
}

/// The class of a SQLSTATE in words.
fn class(code: &str) -> &'static str {
    match code.get(..2).unwrap_or("") {
        "22" => "a value could not be converted",
        "23" => "a constraint does not allow it",
        "25" => "the transaction does not allow it",
        "40" => "somebody else was faster",
        "42" => "the statement does not fit this database",
        "53" => "the server is out of resources",
        "54" => "a limit of the server is too low",
        "58" | "XX" => "the server has an internal error",
        _ => "an error of the server",
    }
}

/// What went wrong on our side of the wire.
fn client(error: &sqlx::Error, what: &str) -> StoreError {
    let why = if matches!(error, sqlx::Error::Tls(_)) {
        "the encrypted connection could not be made"
    } else if matches!(error, sqlx::Error::Configuration(_)) {
        "the address of the database is not valid"
    } else if matches!(
        error,
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::ColumnNotFound(_) | sqlx::Error::Decode(_)
    ) {
        return StoreError::Database {
            sqlstate: "none".to_owned(),
            meaning: format!("{what}: the answer could not be read"),
        };
    } else {
        "no connection"
    };
    StoreError::Unreachable { why: why.to_owned() }
}

/// Whether the connection can be used again after this.
pub(super) fn is_lost(error: &sqlx::Error) -> bool {
    match error.as_database_error().and_then(DatabaseError::code) {
        Some(code) => code.starts_with("57P") || code.starts_with("08") || code == "25P03",
        None => !matches!(
            error,
            sqlx::Error::ColumnDecode { .. }
                | sqlx::Error::ColumnNotFound(_)
                | sqlx::Error::Decode(_)
                | sqlx::Error::Encode(_)
                | sqlx::Error::TypeNotFound { .. }
                | sqlx::Error::RowNotFound
        ),
    }
}

/// Whether tables, columns or types are not what they were when the statement was prepared: somebody changed
/// the schema under us. A missing right is not that.
pub(super) fn does_not_fit(error: &sqlx::Error) -> bool {
    match sqlstate(error).as_deref() {
        Some("42501") | None => false,
        // A plan kept on the connection whose columns changed.
        Some("0A000") => true,
        Some(code) => code.starts_with("42"),
    }
}

/// The SQLSTATE, when the server gave one.
pub(super) fn sqlstate(error: &sqlx::Error) -> Option<String> {
    Some(error.as_database_error()?.code()?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_connection_is_unreachable_and_lost() {
        let error = sqlx::Error::Io(std::io::Error::other("secret host name"));
        assert!(is_lost(&error));
        assert_eq!(meaning(&error, "get_stuck"), StoreError::Unreachable { why: "no connection".to_owned() });
    }

    #[test]
    fn an_unreadable_answer_does_not_lose_the_connection() {
        let error = sqlx::Error::ColumnNotFound("x".to_owned());
        assert!(!is_lost(&error));
        assert!(matches!(meaning(&error, "get_stuck"), StoreError::Database { .. }));
    }
}
