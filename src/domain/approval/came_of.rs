//! What came of a hand back: what was asked of the recoverer beside what the record says now.
//!
//! "Finished" is a word of the recoverer's; whether it is so is read from the record and the provider.

use super::super::evidence::{Class, Evidence, LookupOutcome, Match, Observed};
use super::super::payment::PaymentStatus;
use super::super::port::Dossier;
use super::super::promise::Said;
use super::super::record::RecordStatus;
use super::super::time;
use super::ResumeRequest;

/// One line: what was asked, and what the record says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What was asked.
    pub asked: String,
    /// What is read back.
    pub said: Said,
}

/// What was asked with a hand back, each line with what the record, read after its end, says.
pub fn came_of(resume: &ResumeRequest, after: &Dossier) -> Vec<Line> {
    let key = after.detail.provider_key.as_ref().map_or_else(|| "the same key".to_owned(), |key| format!("key {key}"));
    let line = |asked: String, said: Said| Line { asked, said };
    let from = resume.attempt.0;
    vec![
        line(
            format!("recoverer takes the lease (attempt {from} -> {})", from.saturating_add(1)),
            attempt(resume, after),
        ),
        line(format!("at most ONE charge, with {key}"), charges(resume, after)),
        line("the payment ends as the provider says".to_owned(), payment(after)),
        line("record done: retries stop getting 409".to_owned(), done(after)),
    ]
}

fn attempt(resume: &ResumeRequest, after: &Dossier) -> Said {
    match after.detail.record.attempt {
        Some(now) if now > resume.attempt => Said::Yes(format!("attempt {}", now.0)),
        Some(now) => Said::No(format!("attempt is still {}", now.0)),
        None => Said::NotKnown("this schema keeps no attempt".to_owned()),
    }
}

/// How many charges there are only the provider can say, in a look-up made after the end.
fn charges(resume: &ResumeRequest, after: &Dossier) -> Said {
    let record = &after.detail.record;
    let stored = record.provider_ref.as_ref();
    let latest = after.evidence.iter().max_by_key(|evidence| (evidence.started_at, evidence.id));
    let Some(latest) = latest.filter(|evidence| evidence.started_at > resume.state_at) else {
        let stored = stored.map_or_else(|| "no charge is stored".to_owned(), |one| format!("{one} is stored"));
        return Said::NotKnown(format!("{stored}; how many there are the provider tells (a l)"));
    };
    let at = time::clock(latest.started_at);
    match moved(latest, after).as_deref() {
        None => Said::NotKnown(format!("the provider's answer at {at} says nothing about it")),
        Some([]) if record.payment_status == Some(PaymentStatus::Succeeded) => {
            Said::No(format!("our books have a success, the provider at {at} no charge"))
        }
        Some([]) => Said::Yes(format!("none moved money, says the provider at {at}")),
        Some([one]) if stored == Some(&one.provider_ref) => {
            Said::Yes(format!("one: {}, {}, says the provider at {at}", one.provider_ref, one.money()))
        }
        Some([one]) => Said::No(format!("the provider at {at} has {}, which is not the stored one", one.provider_ref)),
        Some([first, second, ..]) => {
            Said::No(format!("more than one: {} and {}", first.provider_ref, second.provider_ref))
        }
    }
}

/// The charges of this record or its order that moved money, by one look-up; `None` when it does not tell.
fn moved<'e>(evidence: &'e Evidence, after: &Dossier) -> Option<Vec<&'e Observed>> {
    match &evidence.outcome {
        LookupOutcome::Found { observed } => {
            let ours = |hit: &&Observed| hit.matches(&after.detail) != Match::Foreign;
            let all: Vec<&Observed> = observed.iter().filter(ours).collect();
            // A charge that is on its way is no answer yet.
            let open = |hit: &&&Observed| matches!(hit.class, Class::Pending | Class::Open | Class::Unrecognised);
            if all.iter().any(|hit| open(&hit)) {
                return None;
            }
            Some(all.into_iter().filter(|hit| hit.class.moved_money()).collect())
        }
        LookupOutcome::NotFound { .. } | LookupOutcome::Unreachable { .. } => None,
    }
}

fn payment(after: &Dossier) -> Said {
    let record = &after.detail.record;
    let money = record.money.as_ref().map_or_else(String::new, |money| format!(", {money}"));
    match (&record.payment_status, &record.provider_ref) {
        (Some(PaymentStatus::Succeeded), Some(stored)) => {
            Said::Yes(format!("payment SUCCEEDED{money}, charge {stored}"))
        }
        (Some(PaymentStatus::Succeeded), None) => Said::No("payment SUCCEEDED, but no charge is stored".to_owned()),
        (Some(PaymentStatus::Failed), _) => Said::Yes(format!("payment FAILED{money}")),
        (Some(PaymentStatus::Unknown), _) => Said::NotKnown("payment is UNKNOWN".to_owned()),
        (Some(other), _) => Said::No(format!("payment is {other}")),
        (None, _) => Said::NotKnown("no payment is readable".to_owned()),
    }
}

fn done(after: &Dossier) -> Said {
    match (&after.detail.record.status, after.detail.response_code) {
        (RecordStatus::Done, Some(code)) => Said::Yes(format!("done, stored answer {code}")),
        (RecordStatus::Done, None) => Said::NotKnown("done; the stored code is not readable".to_owned()),
        (other @ (RecordStatus::Processing | RecordStatus::Unrecognised(_)), _) => {
            Said::No(format!("record is {other}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{Attempt, ProviderRef};
    use crate::domain::samples::{ago, asked, dossier, found, handed_back, hit, nothing, stuck};

    /// The record as a recoverer that charged leaves it.
    fn finished() -> Dossier {
        let mut detail = stuck();
        detail.record.status = RecordStatus::Done;
        detail.record.payment_status = Some(PaymentStatus::Succeeded);
        detail.record.provider_ref = Some(ProviderRef::new("ch_1"));
        detail.record.attempt = Some(Attempt(2));
        detail.response_code = Some(201);
        dossier(detail, vec![nothing(90)])
    }

    fn said(after: &Dossier) -> Vec<Said> {
        came_of(&handed_back(super::super::ResumeState::Finished, 60), after)
            .into_iter()
            .map(|line| line.said)
            .collect()
    }

    #[test]
    fn finished_is_believed_only_as_far_as_it_is_read_back() {
        let lines = said(&finished());
        let [Said::Yes(attempt), Said::NotKnown(charges), Said::Yes(payment), Said::Yes(done)] = lines.as_slice()
        else {
            panic!("{lines:?}");
        };
        assert_eq!((attempt.as_str(), done.as_str()), ("attempt 2", "done, stored answer 201"));
        assert!(charges.contains("ch_1 is stored") && payment.contains("SUCCEEDED, EUR 128.40, charge ch_1"));
        let open = said(&dossier(stuck(), vec![]));
        assert!(
            matches!(open.as_slice(), [Said::No(_), Said::NotKnown(_), Said::NotKnown(_), Said::No(_)]),
            "{open:?}"
        );
    }

    #[test]
    fn how_many_charges_there_are_is_the_providers_word_after_the_end() {
        let with = |evidence| Dossier { evidence: vec![evidence], ..finished() };
        let charges = |evidence| said(&with(evidence)).remove(1);
        assert!(matches!(charges(found(5, vec![hit("ch_1", Class::Succeeded)])), Said::Yes(_)));
        assert!(matches!(charges(found(70, vec![hit("ch_1", Class::Succeeded)])), Said::NotKnown(_)), "asked before");
        let two = vec![hit("ch_1", Class::Succeeded), hit("ch_2", Class::Succeeded)];
        assert!(matches!(charges(found(5, two)), Said::No(_)));
        assert!(matches!(charges(found(5, vec![hit("ch_9", Class::Succeeded)])), Said::No(_)));
        assert!(matches!(charges(found(5, vec![hit("ch_1", Class::Failed)])), Said::No(_)), "a success without money");
        let pending = vec![hit("ch_1", Class::Succeeded), hit("ch_2", Class::Pending)];
        assert!(matches!(charges(found(5, pending)), Said::NotKnown(_)));
        assert!(matches!(charges(nothing(5)), Said::NotKnown(_)));
        let silent = LookupOutcome::Unreachable { why: "timed out".to_owned(), retry_after_s: None };
        assert!(matches!(charges(asked(5, silent)), Said::NotKnown(_)));
        assert!(ago(5) > ago(60));
    }
}
