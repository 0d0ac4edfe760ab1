//! The open breaks as a file: for whoever settles them with the provider.

use crate::app::effect::ExportFile;
use crate::app::sheet;
use crate::domain::mask::Masks;
use crate::domain::money::Money;
use crate::domain::recon::{Break, Reconciliation};
use crate::domain::time::Now;

/// Every break of a list, with its report.
pub fn breaks<'a>(all: &Reconciliation, shown: impl Iterator<Item = &'a Break>, now: Now) -> ExportFile {
    let mut text =
        "break,kind,provider,provider_ref,scope,key,order,payment,ours,ours_currency,theirs,theirs_currency,\
        at,first_seen,owner,report,line\r\n"
            .to_owned();
    let mut masks = Masks::default();
    for one in shown {
        let or_none = |text: Option<String>| text.unwrap_or_default();
        let amount = |money: &Option<Money>| or_none(money.as_ref().map(Money::amount));
        let currency = |money: &Option<Money>| or_none(money.as_ref().map(|money| money.currency.to_string()));
        let report = all.reports.iter().find(|report| report.hash == one.report);
        text.push_str(&sheet::line(
            [
                format!("rb_{}", one.number),
                one.kind.word().to_owned(),
                one.provider.to_string(),
                or_none(one.provider_ref.as_ref().map(ToString::to_string)),
                or_none(one.record.as_ref().map(|id| id.scope.to_string())),
                or_none(one.record.as_ref().map(|id| id.key.to_string())),
                or_none(one.order.as_ref().map(ToString::to_string)),
                or_none(one.payment.as_ref().map(ToString::to_string)),
                amount(&one.ours),
                currency(&one.ours),
                amount(&one.theirs),
                currency(&one.theirs),
                or_none(one.at.map(|at| at.format("%Y-%m-%d %H:%M:%SZ").to_string())),
                one.first_seen.format("%Y-%m-%d %H:%M:%SZ").to_string(),
                or_none(one.owner.clone()),
                report.map_or_else(|| one.report.clone(), |report| report.name.clone()),
                or_none(one.line.map(|line| line.to_string())),
            ],
            &mut masks,
        ));
    }
    ExportFile { name: format!("breaks-{}.csv", now.0.format("%Y%m%dT%H%M%SZ")), text }
}
