//! The service's tables: the reference profile's schema and the indexes that profile asks for.

use serde::Deserialize;
use sqlx::PgConnection;

use super::{checkout, consumer, job, large, order, records, webhook};
use crate::lab::{LabError, sql};

const TABLES: &str = include_str!("../../../queries/reference/schema.sql");
const PROFILE: &str = include_str!("../../../queries/reference/profile.toml");
/// What only the correct service has: the database itself refuses a second succeeded payment of one order.
const ONE_SUCCESS: &str =
    "CREATE UNIQUE INDEX IF NOT EXISTS uq_payment_order_succeeded ON payments (order_id) WHERE status = 'succeeded'";

/// What the service has beside: tables no question of the console reads, each beside the code that owns it.
const SYSTEMS: &[&str] = &[
    large::TABLES,
    job::EXPIRED_KEYS,
    webhook::TABLES,
    consumer::TABLES,
    order::TABLES,
    checkout::TABLES,
    job::FINDINGS,
    records::SWEEP_TURNS,
];

/// The part of the profile that concerns whoever owns the tables.
#[derive(Debug, Deserialize)]
struct Profile {
    #[serde(default)]
    index: Vec<Index>,
}

#[derive(Debug, Deserialize)]
struct Index {
    definition: String,
}

pub(super) async fn create(connection: &mut PgConnection) -> Result<(), LabError> {
    sql::run(connection, TABLES).await?;
    for definition in indexes() {
        sql::run(connection, &definition).await?;
    }
    sql::run(connection, ONE_SUCCESS).await?;
    for tables in SYSTEMS {
        sql::run(connection, tables).await?;
    }
    Ok(())
}

/// The tables are empty and nobody writes yet: building without `CONCURRENTLY` is the same, only faster.
fn indexes() -> Vec<String> {
    let profile: Profile = toml::from_str(PROFILE).unwrap_or(Profile { index: Vec::new() });
    profile.index.iter().map(|index| index.definition.replace("INDEX CONCURRENTLY ", "INDEX ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_names_its_indexes() {
        assert!(indexes().iter().any(|definition| definition.contains("ix_keys_processing")));
        assert!(indexes().iter().all(|definition| !definition.contains("CONCURRENTLY")));
    }
}
