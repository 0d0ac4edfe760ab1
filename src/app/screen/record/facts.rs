//! The facts of a record: ids, lease, version; and everything raw, for `t`.

use super::words::lease;
use crate::app::model::Model;
use crate::app::screen::records::key_left;
use crate::domain::ids::RecordId;
use crate::domain::record::RecordStatus;
use crate::domain::time::Now;
use crate::ui::text::safe_value;
use crate::ui::{Line, Role};

/// Two lines under the sentence.
pub fn short_lines(model: &Model, id: &RecordId, now: Now) -> Vec<Line> {
    let Some(record) = model.record(id) else { return Vec::new() };
    let at = model.db_now(now);
    let or = |text: Option<String>| text.unwrap_or_else(|| "not known".into());
    vec![
        Line::of(Role::Dim, "   payment ")
            .then(or(record.payment.as_ref().map(ToString::to_string)))
            .and(Role::Dim, " · order ")
            .then(or(record.order.as_ref().map(ToString::to_string)))
            .and(Role::Dim, if record.status == RecordStatus::Done { " · recovery point " } else { " · stuck at " })
            .then(or(record.recovery_point.as_ref().map(ToString::to_string))),
        Line::of(Role::Dim, "   lease ")
            .then(lease(record, at))
            .and(Role::Dim, " · attempt ")
            .then(or(record.attempt.map(|a| a.0.to_string())))
            .and(Role::Dim, " · version ")
            .then(record.version.short()),
        Line::of(Role::Dim, "   the provider remembers the key for ").then(window(model, id, now)),
    ]
}

fn window(model: &Model, id: &RecordId, now: Now) -> String {
    let Some(record) = model.record(id) else { return "NOT KNOWN".into() };
    match key_left(model, record, now).as_str() {
        "?" => "NOT KNOWN: the provider's retention or the first use is not known".into(),
        "over" => "no longer: its key window is over".into(),
        left => format!("{left} more"),
    }
}

/// All facts, one a line.
pub fn fact_lines(model: &Model, id: &RecordId, now: Now) -> Vec<Line> {
    let Some(record) = model.record(id) else { return Vec::new() };
    let at = model.db_now(now);
    let dossier = model.dossiers.get(id);
    let or = |text: Option<String>| text.unwrap_or_else(|| "not known".into());
    let fact = |name: &str, value: String| {
        Line::of(Role::Dim, format!("   {name:<12} ")).then(safe_value(&value).into_owned())
    };
    let mut lines = vec![
        fact("scope", record.id.scope.to_string()),
        fact("key", record.id.key.to_string()),
        fact("payment", or(record.payment.as_ref().map(ToString::to_string))),
        fact("order", or(record.order.as_ref().map(ToString::to_string))),
        fact("amount", or(record.money.as_ref().map(ToString::to_string))),
        fact("provider", or(record.provider.as_ref().map(ToString::to_string))),
        fact("charge ref", record.provider_ref.as_ref().map_or_else(|| "none stored".into(), ToString::to_string)),
        fact("stuck at", or(record.recovery_point.as_ref().map(ToString::to_string))),
        fact("lease", lease(record, at)),
        fact("attempt", or(record.attempt.map(|a| a.0.to_string()))),
        fact("version", record.version.short()),
        fact("key window", window(model, id, now)),
    ];
    let Some(dossier) = dossier else { return lines };
    let detail = &dossier.detail;
    lines.push(fact("sent key", or(detail.provider_key.as_ref().map(ToString::to_string))));
    lines.push(fact("fingerprint", or(detail.fingerprint.clone())));
    lines.push(fact("answer code", detail.response_code.map_or_else(|| "none stored".into(), |c| c.to_string())));
    if let Some(owner) = &detail.ref_owner {
        lines.push(Line::of(Role::Critical, format!("!! payment {owner} carries the same charge ref")));
    }
    if detail.siblings.is_empty() {
        lines.push(fact("same order", "no other payment".into()));
    }
    for sibling in &detail.siblings {
        let money = sibling.money.as_ref().map_or_else(|| "amount not known".into(), ToString::to_string);
        let text = format!("{} {} {money} under {}/{}", sibling.payment, sibling.status, sibling.scope, sibling.key);
        lines.push(fact("same order", text));
    }
    lines
}

/// Everything, as it was read.
pub fn raw_lines(model: &Model, id: &RecordId) -> Vec<Line> {
    let text = match (model.dossiers.get(id), model.record(id)) {
        (Some(dossier), _) => serde_json::to_string_pretty(dossier),
        (None, Some(record)) => serde_json::to_string_pretty(record),
        (None, None) => Ok("nothing was read".to_owned()),
    };
    let text = text.unwrap_or_else(|error| error.to_string());
    text.lines().map(|line| Line::plain(format!("   {}", safe_value(line)))).collect()
}
