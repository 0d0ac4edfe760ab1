//! The service's tables: the reference profile's schema and the indexes that profile asks for.

use serde::Deserialize;
use sqlx::PgConnection;

use super::flaw::Conduct;
use super::{checkout, consumer, job, large, order, records, webhook};
use crate::lab::{LabError, sql};

const TABLES: &str = include_str!("../../../queries/reference/schema.sql");
const PROFILE: &str = include_str!("../../../queries/reference/profile.toml");
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

pub(super) async fn create(connection: &mut PgConnection, conduct: Conduct) -> Result<(), LabError> {
    sql::run(connection, TABLES).await?;
    for definition in indexes(conduct) {
        sql::run(connection, &definition).await?;
    }
    for tables in SYSTEMS {
        sql::run(connection, tables).await?;
    }
    Ok(())
}

/// Only the correct service has the database itself refuse a second succeeded payment of one order.
///
/// The tables are empty and nobody writes yet: building without `CONCURRENTLY` is the same, only faster.
fn indexes(conduct: Conduct) -> Vec<String> {
    let profile: Profile = toml::from_str(PROFILE).unwrap_or(Profile { index: Vec::new() });
    let built = profile.index.iter().map(|index| index.definition.replace("INDEX CONCURRENTLY ", "INDEX "));
    built.filter(|definition| conduct.serves_correctly() || !definition.starts_with("CREATE UNIQUE ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_names_its_indexes_and_a_flawed_service_lacks_the_unique_one() {
        let unique = |definition: &&String| definition.contains("UNIQUE INDEX uq_payment_order_succeeded");
        let (correct, naive) = (indexes(Conduct::CORRECT), indexes(Conduct::naive()));
        assert!(correct.iter().any(|definition| definition.contains("ix_keys_processing")));
        assert!(correct.iter().all(|definition| !definition.contains("CONCURRENTLY")));
        assert_eq!((correct.iter().filter(unique).count(), naive.iter().filter(unique).count()), (1, 0));
        assert_eq!(naive.len() + 1, correct.len());
    }
}
