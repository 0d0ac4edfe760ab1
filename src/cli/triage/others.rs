//! `unstuck triage WHAT --others`: who else had it for the same cause, and how much is at risk.

use serde_json::json;

use super::args::TriageArgs;
use super::gather::Gathered;
use crate::cli::out::{ExitCode, Out};
use crate::domain::money::Totals;
use crate::domain::port::{MOST_OTHERS, Other};
use crate::domain::triage;

/// The record, or the provider's ref of a charge that our books know nothing of.
fn name(other: &Other) -> String {
    let theirs = || other.provider_ref.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    other.id.as_ref().map_or_else(theirs, ToString::to_string)
}

/// Lists them, with the sum per currency.
pub(super) async fn list(args: &TriageArgs, gathered: &Gathered, out: &mut Out<'_>) -> ExitCode {
    let is = triage::judge(&gathered.case);
    let Some(cause) = is.cause else {
        out.complain(&format!("The verdict is {}: there is no cause to look for.", is.verdict.word()));
        return ExitCode::Finding;
    };
    let Some(now) = gathered.case.now else {
        out.complain("NOT KNOWN: the database did not say what time it is.");
        return ExitCode::NotKnown;
    };
    let since = args.since.before(now);
    let others = match gathered.store.others(cause, since).await {
        Ok(others) => others,
        Err(why) => {
            out.complain(&format!("NOT KNOWN: {why}"));
            return ExitCode::NotKnown;
        }
    };
    let at_risk: Totals = others.iter().filter_map(|other| other.at_risk.clone()).collect();
    if args.form.json {
        out.json(&json!({"cause": cause, "since": since, "as_of": now, "cut": others.len() >= MOST_OTHERS, "at_risk": at_risk, "others": others}));
        return ExitCode::Ok;
    }
    let more = if others.len() >= MOST_OTHERS { " or more" } else { "" };
    out.line(&format!(
        "{}{more} with the same cause since {}: {}.",
        others.len(),
        since.format("%Y-%m-%d %H:%MZ"),
        cause.word()
    ));
    if !at_risk.is_empty() {
        let least = if more.is_empty() { "" } else { "at least " };
        out.line(&format!("At risk: {least}{at_risk}"));
    }
    for other in &others {
        let order = other.order.as_ref().map_or("-", |order| order.as_str());
        let money = other.at_risk.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
        out.line(&format!(
            "  {}  {}  order {order}  {money}  {}",
            other.at.format("%Y-%m-%d %H:%M:%SZ"),
            name(other),
            other.what
        ));
    }
    ExitCode::Ok
}
