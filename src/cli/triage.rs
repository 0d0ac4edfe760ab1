//! `unstuck triage`: was this customer charged twice, and why? It asks with SELECT and GET, and changes nothing.

pub mod args;
pub mod bundle;
mod gather;
mod others;
mod text;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use super::out::{ExitCode, Out};
use super::settings::Settings;
use crate::domain::case::Case;
use crate::domain::case::file::to_json;
use crate::domain::lanes::Lanes;
use crate::domain::triage::{self, Cause, Confidence, Triage, Verdict};
use crate::ui::lanes::{markdown::markdown, svg::svg};
use args::TriageArgs;

/// Judges a bundle: without a database, a provider or a configuration.
pub fn from_bundle(args: &TriageArgs, file: &Path, out: &mut Out<'_>) -> ExitCode {
    match bundle::read(file) {
        Ok(read) => {
            read.passed_over.iter().for_each(|said| out.complain(said));
            let link = format!("unstuck triage --from {}", file.display());
            answer(args, &read.case, &link, out)
        }
        Err(why) => {
            out.complain(&format!("NOT KNOWN: {why}"));
            ExitCode::NotKnown
        }
    }
}

/// Finds what was asked for in the database, and judges it.
pub async fn run(
    args: &TriageArgs,
    settings: &Settings,
    variable: &dyn Fn(&str) -> Option<String>,
    out: &mut Out<'_>,
) -> ExitCode {
    let what = args.what.as_deref().unwrap_or_default();
    let gathered = match gather::gather(args, what, settings, variable).await {
        Ok(gathered) => gathered,
        Err(refused) => return refused.tell(out),
    };
    for said in &gathered.unanswered {
        out.complain(said);
    }
    if args.others {
        return others::list(args, &gathered, out).await;
    }
    answer(args, &gathered.case, &gathered.link(), out)
}

/// The answer in the form that was asked for.
fn answer(args: &TriageArgs, case: &Case, link: &str, out: &mut Out<'_>) -> ExitCode {
    if let Some(file) = &args.export
        && let Err(why) = export(file, case)
    {
        out.complain(&format!("{} was not written: {why}", file.display()));
        return ExitCode::NotKnown;
    }
    let masked = case.clone().masked();
    let is = triage::judge(&masked);
    if args.form.json {
        out.json(&as_json(&is));
    } else if args.form.md {
        out.block(&markdown(&masked, &is, args.language.into(), link));
    } else if args.form.svg {
        let title = masked.asked.clone().unwrap_or_else(|| "A case".to_owned());
        let subtitle = format!("Verdict: {}. Confidence: {}.", is.verdict.word(), is.confidence.word());
        out.block(&svg(&Lanes::of(&masked), &title, &subtitle));
    } else {
        text::print(&masked, &is, args.language.into(), link, out);
    }
    if let Some(file) = &args.export {
        out.complain(&format!("The evidence is in {}, customers masked.", file.display()));
    }
    code(&is)
}

/// Everything as one object: what is not known is null, nothing is left out.
fn as_json(is: &Triage) -> Value {
    json!({
        "verdict": is.verdict,
        "cause": is.cause,
        "note": is.note,
        "charges": is.charges,
        "next": is.next,
        "confidence": is.confidence,
        "story": is.story,
        "because": is.because,
        "missing": is.missing,
        "too_much": is.too_much,
    })
}

fn code(is: &Triage) -> ExitCode {
    if is.cause == Some(Cause::GlobalKey) {
        return ExitCode::Finding;
    }
    match is.verdict {
        Verdict::ChargedOnce | Verdict::NotCharged | Verdict::TwoOrders => match is.confidence {
            Confidence::High | Confidence::Medium => ExitCode::Ok,
            // No promise is no "all is well".
            Confidence::Low => ExitCode::NotKnown,
        },
        Verdict::ChargedTwice | Verdict::LatentDouble | Verdict::PaidNotRecorded => ExitCode::Finding,
        Verdict::InDoubt | Verdict::NotKnown => ExitCode::NotKnown,
    }
}

/// Writes a new file that only its owner reads. One that is there stays as it is.
fn export(file: &Path, case: &Case) -> std::io::Result<()> {
    let text = to_json(case)?;
    let mut to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    to.write_all(text.as_bytes())?;
    to.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_promise_is_no_all_is_well() {
        let of = |verdict, confidence| {
            let is = triage::judge(&Case::default());
            code(&Triage { verdict, confidence, ..is }).number()
        };
        assert_eq!(of(Verdict::ChargedOnce, Confidence::Medium), 0);
        assert_eq!(of(Verdict::ChargedOnce, Confidence::Low), 3);
        assert_eq!(of(Verdict::ChargedTwice, Confidence::Low), 1);
        assert_eq!(of(Verdict::InDoubt, Confidence::High), 3);
    }
}
