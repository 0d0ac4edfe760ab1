//! `unstuck show SCOPE KEY`: one record whole, for a ticket or a script. It asks no provider and changes nothing.

mod text;

use serde_json::{Value, json};

use super::args::ShowArgs;
use super::out::{ExitCode, Out};
use super::settings::{Settings, connect};
use crate::domain::action;
use crate::domain::ids::{Holder, RecordId};
use crate::domain::port::{Dossier, Store as _};
use crate::domain::recovery::{self, Decision};

/// Reads the record again and prints it.
pub async fn run(args: &ShowArgs, settings: &Settings, out: &mut Out<'_>) -> ExitCode {
    let id = RecordId::new(args.scope.as_str(), args.key.as_str());
    let read = match connect::patient_store(settings) {
        Ok(store) => store.dossier(&id).await.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match read {
        Ok(Some(dossier)) => {
            let decision = decide(&dossier, settings);
            if args.json {
                out.json(&as_json(&dossier, &decision));
            } else {
                text::print(&dossier, &decision, out);
            }
            ExitCode::Ok
        }
        Ok(None) => {
            out.complain(&format!("There is no record {id}. A key belongs to its scope: unstuck show SCOPE KEY"));
            ExitCode::Finding
        }
        Err(why) => {
            out.complain(&format!("NOT KNOWN: {why}"));
            ExitCode::NotKnown
        }
    }
}

/// The step the recovery table names at the moment of the reading, for the person at the console.
fn decide(dossier: &Dossier, settings: &Settings) -> Decision {
    let record = &dossier.detail.record;
    recovery::next_step(
        &dossier.detail,
        &dossier.evidence,
        &Holder::of_operator(&settings.operator),
        &settings.policy,
        &connect::terms(settings, record.provider.as_ref()),
        dossier.at,
    )
}

/// Everything as one object. What is not known is null.
fn as_json(dossier: &Dossier, decision: &Decision) -> Value {
    json!({
        "as_of": dossier.at,
        "environment": dossier.environment,
        "record": dossier.detail.record,
        "provider_key": dossier.detail.provider_key,
        "fingerprint": dossier.detail.fingerprint,
        "response_code": dossier.detail.response_code,
        "last_attempt_at": dossier.detail.last_attempt_at,
        "ref_owner": dossier.detail.ref_owner,
        "siblings": dossier.detail.siblings,
        "evidence": dossier.evidence,
        "timeline": dossier.timeline.value(),
        "timeline_not_known": dossier.timeline.why_not(),
        "next_step": {
            "row": decision.row,
            "word": action::next_word(&decision.step),
            "title": action::resume_title(&decision.step),
            "says": text::step(&decision.step),
            "step": decision.step,
        },
    })
}

#[cfg(test)]
mod tests;
