//! The names a query file may call, cast to or read from the system catalogue.
//!
//! Closed lists: a name that is not here is refused, whatever it would do. Every function here
//! is free of side effects and cannot reach another session, a file, the network or a setting.

/// Functions, aggregates and window functions, lower case, all from `pg_catalog`.
pub(super) const FUNCTIONS: &[&str] = &[
    // aggregates
    "array_agg",
    "bool_and",
    "bool_or",
    "count",
    "jsonb_agg",
    "max",
    "min",
    "percentile_cont",
    "string_agg",
    "sum",
    // windows
    "first_value",
    "lag",
    "last_value",
    "lead",
    "rank",
    "row_number",
    // values
    "abs",
    "coalesce",
    "greatest",
    "least",
    "nullif",
    "round",
    "btrim",
    "concat",
    "concat_ws",
    "convert_to",
    "encode",
    "left",
    "length",
    "lower",
    "replace",
    "right",
    "sha256",
    "starts_with",
    "strpos",
    "substr",
    "to_char",
    "upper",
    "array_length",
    "cardinality",
    // time
    "age",
    "date_trunc",
    "make_interval",
    "now",
    // documents
    "jsonb_array_length",
    "jsonb_build_array",
    "jsonb_build_object",
    "jsonb_typeof",
    "to_jsonb",
    // the catalogue: what a role may do
    "acldefault",
    "current_database",
    "current_user",
    "format_type",
    "has_any_column_privilege",
    "has_column_privilege",
    "has_database_privilege",
    "has_function_privilege",
    "has_schema_privilege",
    "has_sequence_privilege",
    "pg_backend_pid",
    "has_table_privilege",
    "pg_get_userbyid",
    "pg_has_role",
    "session_user",
];

/// Functions that may stand in FROM.
pub(super) const TABLE_FUNCTIONS: &[&str] = &["aclexplode", "jsonb_array_elements", "jsonb_each", "unnest"];

/// Relations of the system catalogue that hold no secret and run nothing.
pub(super) const CATALOGUE: &[&str] = &[
    "pg_attribute",
    "pg_auth_members",
    "pg_class",
    "pg_database",
    "pg_index",
    "pg_namespace",
    "pg_prepared_xacts",
    "pg_proc",
    "pg_roles",
    "pg_stat_activity",
];

/// Types a parser keeps as a plain name. Object identifiers that look names up (regclass, regproc …) are not here.
pub(super) const PLAIN_TYPES: &[&str] = &["name", "oid", "aclitem", "\"char\""];

/// May this function be called? `parts` are the parts of its name as written.
pub(super) fn function(parts: &[String]) -> bool {
    listed(parts, FUNCTIONS)
}

/// May this function stand in FROM?
pub(super) fn table_function(parts: &[String]) -> bool {
    listed(parts, TABLE_FUNCTIONS)
}

/// Bare, or spelled with `pg_catalog.`: no other schema may give a listed name another meaning.
fn listed(parts: &[String], list: &[&str]) -> bool {
    match parts {
        [name] => list.contains(&name.to_ascii_lowercase().as_str()),
        [schema, name] => {
            schema.eq_ignore_ascii_case("pg_catalog") && list.contains(&name.to_ascii_lowercase().as_str())
        }
        _ => false,
    }
}

/// May this relation be read? Everything of the service's, nothing of the system's that is not listed.
pub(super) fn relation(parts: &[String]) -> bool {
    let system = |name: &str| name.to_ascii_lowercase().starts_with("pg_");
    let catalogue = |name: &str| CATALOGUE.contains(&name.to_ascii_lowercase().as_str());
    match parts {
        [name] => !system(name) || catalogue(name),
        [schema, name] if schema.eq_ignore_ascii_case("pg_catalog") => catalogue(name),
        [schema, name] => !system(schema) && !system(name) && !schema.eq_ignore_ascii_case("information_schema"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(name: &str) -> Vec<String> {
        name.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn only_listed_functions_of_the_catalogue() {
        assert!(function(&parts("count")));
        assert!(function(&parts("pg_catalog.now")));
        assert!(!function(&parts("public.now")));
        assert!(!function(&parts("db.pg_catalog.now")));
        assert!(!function(&parts("pg_sleep")));
        assert!(!function(&[]));
    }

    #[test]
    fn only_listed_relations_of_the_catalogue() {
        assert!(relation(&parts("payments")));
        assert!(relation(&parts("unstuck.action_log")));
        assert!(relation(&parts("pg_catalog.pg_class")));
        assert!(!relation(&parts("pg_catalog.pg_authid")));
        assert!(!relation(&parts("pg_shadow")));
        assert!(!relation(&parts("pg_temp.payments")));
        assert!(!relation(&parts("information_schema.tables")));
        assert!(!relation(&parts("otherdb.public.payments")));
    }
}
