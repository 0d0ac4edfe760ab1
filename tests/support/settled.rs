//! A settlement report as it is after loading: what matched, and what did not.

use unstuck::domain::ids::{OrderId, PaymentId, ProviderName, ProviderRef};
use unstuck::domain::money::Money;
use unstuck::domain::recon::{Break, BreakKind, Reconciliation, Report};

use super::scenario::{ago, stuck_records};

/// Two reports that agree with our books, whatever breaks are put beside them.
pub fn matching() -> Reconciliation {
    let of = |minor| [Money::new(minor, "EUR")].into_iter().collect();
    let report = |hash: &str, name: &str, provider: &str, lines: u64, matched: u64, hours: u64| Report {
        hash: hash.repeat(64),
        name: name.into(),
        provider: ProviderName::new(provider),
        lines,
        matched,
        loaded_at: ago(hours * 3_600),
        from: Some(ago(hours * 3_600 + 86_400)),
        to: Some(ago(hours * 3_600)),
        ours: of(120_644_022),
        theirs: of(120_632_734),
        stated: None,
    };
    let mut first = report("a", "settlement-2026-11-29.csv", "acme-psp", 41_206, 41_206, 5);
    let second = report("b", "payout-28.csv", "beta-pay", 812, 812, 29);
    first.stated = Some(of(120_632_734));
    Reconciliation { reports: vec![first, second], breaks: vec![] }
}

/// The same with four breaks of four kinds, two of them older than a day.
pub fn breaks() -> Reconciliation {
    let stuck = stuck_records();
    let one = |number, kind, ours: Option<i64>, theirs: Option<i64>, age| Break {
        number,
        kind,
        provider: ProviderName::new("acme-psp"),
        provider_ref: theirs.map(|_| ProviderRef::new(format!("ch_{number}aa"))),
        record: None,
        order: Some(OrderId::new(format!("ord_{}", 88_000 + number))),
        payment: ours.map(|_| PaymentId::new(format!("pay_{}", 5_500 + number))),
        ours: ours.map(|minor| Money::new(minor, "EUR")),
        theirs: theirs.map(|minor| Money::new(minor, "EUR")),
        at: Some(ago(age)),
        first_seen: ago(540),
        owner: None,
        report: "a".repeat(64),
        line: theirs.map(|_| 17 + u64::try_from(number).expect("a number")),
    };
    let mut known = one(71, BreakKind::Orphan, None, Some(7_500), 542);
    known.record = stuck.first().map(|record| record.id.clone());
    let mut missing = one(64, BreakKind::Missing, Some(12_800), None, 111_600);
    missing.owner = Some("lee".into());
    let amount = one(66, BreakKind::Amount, Some(11_960), Some(11_482), 93_600);
    let mut currency = one(68, BreakKind::Currency, Some(1_990), None, 7_200);
    currency.theirs = Some(Money::new(1_990, "USD"));
    let mut all = matching();
    if let Some(report) = all.reports.first_mut() {
        report.matched = 41_204;
    }
    Reconciliation { breaks: vec![known, missing, amount, currency], ..all }
}

/// The same with a report and a break whose every text tries to be something else, and amounts at the end of numbers.
pub fn hostile_breaks() -> Reconciliation {
    let mut all = breaks();
    if let Some(report) = all.reports.first_mut() {
        report.name = format!("\u{1b}]0;title\u{7}{}\u{202e}vsc.exe", "settlement".repeat(40));
        report.matched = u64::MAX;
    }
    if let Some(evil) = all.breaks.get_mut(1) {
        evil.provider_ref = Some(ProviderRef::new("ch\n\u{9b}2J\u{200b}9"));
        evil.order = Some(OrderId::new("o".repeat(100_000)));
        evil.owner = Some("\u{1b}[31mroot\u{2028}".into());
        evil.ours = Some(Money::new(i64::MIN, "E\u{202e}R"));
        evil.theirs = Some(Money::new(i64::MAX, "E\u{202e}R"));
        evil.at = Some(chrono::DateTime::<chrono::Utc>::MAX_UTC);
        evil.line = Some(u64::MAX);
    }
    all
}
