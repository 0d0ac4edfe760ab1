//! Statements the lab has to build: names of databases and roles cannot be parameters.
//!
//! The one place of the room that vouches for SQL text; everything else uses literals and `$1`.

use sqlx::{AssertSqlSafe, Executor, PgConnection};

/// Runs a script of ours (schema, installation) or a statement built with [`ident`] and [`literal`].
///
/// # Errors
/// Whatever the server says.
pub async fn run(connection: &mut PgConnection, script: &str) -> Result<(), sqlx::Error> {
    connection.execute(sqlx::raw_sql(AssertSqlSafe(script.to_owned()))).await.map(drop)
}

/// A quoted identifier.
pub fn ident(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A quoted text literal (`standard_conforming_strings` is on everywhere since 9.1).
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''").replace('\0', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_doubled() {
        assert_eq!(ident(r#"a"b"#), r#""a""b""#);
        assert_eq!(literal("it's"), "'it''s'");
    }
}
