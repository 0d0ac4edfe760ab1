//! The gate's second reading: what the server says it would do.
//!
//! Reads the answer of EXPLAIN (FORMAT JSON). A closed list again: a plan step that is not a known
//! way of reading refuses the query, so ModifyTable and LockRows need not even be named.

use serde_json::Value;

/// Steps that only read.
const READING: &[&str] = &[
    "Aggregate",
    "Append",
    "Bitmap Heap Scan",
    "Bitmap Index Scan",
    "BitmapAnd",
    "BitmapOr",
    "CTE Scan",
    "Function Scan",
    "Gather",
    "Gather Merge",
    "Group",
    "Hash",
    "Hash Join",
    "Incremental Sort",
    "Index Only Scan",
    "Index Scan",
    "Limit",
    "Materialize",
    "Memoize",
    "Merge Append",
    "Merge Join",
    "Nested Loop",
    "ProjectSet",
    "Result",
    "Seq Scan",
    "SetOp",
    "Sort",
    "Subquery Scan",
    "Tid Range Scan",
    "Tid Scan",
    "Unique",
    "Values Scan",
    "WindowAgg",
];

/// Why a plan is not a read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotARead {
    /// A step that is not a known way of reading.
    #[error("the server would run a step that is not a read: {step}")]
    Step {
        /// As the server names it.
        step: String,
    },
    /// The answer is not a plan.
    #[error("the server's plan could not be read")]
    NoPlan,
}

/// Checks every step of a plan, as `EXPLAIN (FORMAT JSON)` returns it.
///
/// # Errors
/// The first step that is not a known way of reading; also when there is no step at all.
pub fn only_reads(plan: &Value) -> Result<(), NotARead> {
    let Value::Array(statements) = plan else {
        return Err(NotARead::NoPlan);
    };
    let [statement] = statements.as_slice() else {
        return Err(NotARead::NoPlan);
    };
    step(statement.get("Plan").ok_or(NotARead::NoPlan)?)
}

fn step(node: &Value) -> Result<(), NotARead> {
    let kind = node.get("Node Type").and_then(Value::as_str).ok_or(NotARead::NoPlan)?;
    if !READING.contains(&kind) {
        return Err(NotARead::Step { step: kind.to_owned() });
    }
    match node.get("Plans") {
        None => Ok(()),
        Some(Value::Array(children)) => children.iter().try_for_each(step),
        Some(_) => Err(NotARead::NoPlan),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_read_passes_and_a_write_below_it_does_not() {
        let read = json!([{"Plan": {"Node Type": "Limit", "Plans": [{"Node Type": "Seq Scan"}]}}]);
        assert_eq!(only_reads(&read), Ok(()));
        for step in ["ModifyTable", "LockRows", "Custom Scan", "Foreign Scan", "Something New"] {
            let write = json!([{"Plan": {"Node Type": "Limit", "Plans": [{"Node Type": step}]}}]);
            assert_eq!(only_reads(&write), Err(NotARead::Step { step: step.to_owned() }));
        }
    }

    #[test]
    fn what_is_no_plan_is_refused() {
        for odd in [
            json!(null),
            json!([]),
            json!([{}]),
            json!([{"Plan": {}}]),
            json!([{"Plan": {"Node Type": "Limit", "Plans": 1}}]),
        ] {
            assert_eq!(only_reads(&odd), Err(NotARead::NoPlan));
        }
    }
}
