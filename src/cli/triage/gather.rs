//! From what the customer gave to a case: find it, read it, and ask the provider when that is wanted.

use std::sync::Arc;

use super::args::TriageArgs;
use crate::cli::out::{ExitCode, Out};
use crate::cli::settings::{Settings, connect};
use crate::domain::case::{Case, money};
use crate::domain::clue::Trail;
use crate::domain::evidence::{Absence, Evidence, LookupOutcome};
use crate::domain::ids::{ProviderName, RecordId};
use crate::domain::mask::Masks;
use crate::domain::port::{Candidate, MOST_CANDIDATES, Matched, Provider as _, Query, Store, StoreError};
use crate::domain::time::{self, Instant, Seconds};
use crate::provider::{HttpProvider, OpenError};
use crate::shell::clock;

/// How many payments of a case the provider is asked about, as in a bulk look-up.
const LOOK_UPS: usize = 25;

/// A case, and where it came from.
pub(super) struct Gathered {
    pub id: RecordId,
    pub case: Case,
    pub store: Arc<dyn Store>,
    /// What could not be asked, or was answered without proving anything, in sentences.
    pub unanswered: Vec<String>,
}

impl Gathered {
    /// How to come back, without what names a person.
    pub(super) fn link(&self) -> String {
        let link = format!("unstuck triage {} --scope {}", word(self.id.key.as_str()), word(self.id.scope.as_str()));
        Masks::default().hide_in_id(&link).into_owned()
    }
}

/// A word for a shell, quoted when it has to be.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Why there is no case.
pub(super) enum Refused {
    /// Nothing matches.
    Nothing(String),
    /// More than one thing matches: a person chooses.
    Several(Vec<Candidate>),
    /// It could not be told.
    NotKnown(String),
}

impl Refused {
    /// Says so, and how to go on.
    pub(super) fn tell(self, out: &mut Out<'_>) -> ExitCode {
        match self {
            Self::Nothing(what) => {
                out.complain(&format!(
                    "Nothing was found for {what:?}. It takes an order, payment, key, provider ref or customer as it is written, an amount with its day, or a message with one of them in it."
                ));
                ExitCode::Finding
            }
            Self::Several(candidates) => {
                let s = if candidates.len() == 1 { "" } else { "s" };
                out.complain(&format!("{} candidate{s}; name one with its key and --scope:", candidates.len()));
                for one in &candidates {
                    let order = one.order.as_ref().map_or("-", |order| order.as_str());
                    let money = one.money.as_ref().map_or_else(|| "amount NOT KNOWN".to_owned(), ToString::to_string);
                    let at = one.at.map(|at| at.format(", %Y-%m-%d %H:%MZ").to_string()).unwrap_or_default();
                    out.complain(&format!(
                        "  unstuck triage {} --scope {}   order {order}, {money}{at}, matched by {}",
                        word(one.id.key.as_str()),
                        word(one.id.scope.as_str()),
                        one.why
                    ));
                }
                if candidates.iter().any(|one| one.matched == Matched::Amount) {
                    out.complain("An amount and a day may be anybody's: be sure of the order before you say anything.");
                }
                ExitCode::Finding
            }
            Self::NotKnown(why) => {
                out.complain(&format!("NOT KNOWN: {why}"));
                ExitCode::NotKnown
            }
        }
    }
}

/// Finds, reads, asks.
pub(super) async fn gather(
    args: &TriageArgs,
    what: &str,
    settings: &Settings,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Gathered, Refused> {
    let not_known = |why: String| Refused::NotKnown(why);
    let store = connect::patient_store(settings).map_err(|error| not_known(error.to_string()))?;
    let store: Arc<dyn Store> = Arc::new(store);
    let found = find(store.as_ref(), what, args.scope.as_deref()).await;
    let one = found.map_err(|error| not_known(error.to_string()))?.only(what)?;
    let case = store.case(&one.id).await.map_err(|error| not_known(error.to_string()))?;
    let mut case = *case.ok_or_else(|| Refused::Nothing(what.to_owned()))?;
    case.asked = Some(what.to_owned());
    let mut unanswered = Vec::new();
    if args.lookup {
        look_up(store.as_ref(), settings, variable, &mut case, &mut unanswered).await;
    }
    Ok(Gathered { id: one.id, case, store, unanswered })
}

/// What was found, and whether there may be more that was not read: of other scopes, too.
struct Found {
    candidates: Vec<Candidate>,
    read: Read,
}

/// Whether everything that matches was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Read {
    Whole,
    Cut,
}

/// Everything that was given is looked for, in the order of [`Trail`].
async fn find(store: &dyn Store, what: &str, scope: Option<&str>) -> Result<Found, StoreError> {
    let mut trail = Trail::of(what, clock::now().0);
    let mut found = Found { candidates: Vec::new(), read: Read::Whole };
    while let Some(clue) = trail.next(found.candidates.len()) {
        let page = store.find(&clue).await?;
        if page.len() >= MOST_CANDIDATES {
            found.read = Read::Cut;
        }
        for one in page {
            let wanted = scope.is_none_or(|scope| one.id.scope.as_str() == scope);
            // Two words of one sentence may name the same purchase.
            if wanted && !found.candidates.iter().any(|known| known.id == one.id) {
                found.candidates.push(one);
            }
        }
    }
    Ok(found)
}

impl Found {
    /// The one candidate. Records of one order in one scope are one case; another scope is never mixed in.
    fn only(mut self, what: &str) -> Result<Candidate, Refused> {
        let Some(first) = self.candidates.first().cloned() else {
            return Err(match self.read {
                Read::Whole => Refused::Nothing(what.to_owned()),
                Read::Cut => Refused::NotKnown(format!(
                    "{what:?} names more than {MOST_CANDIDATES}, none of that scope among the first: name the key"
                )),
            });
        };
        let same = |one: &Candidate| {
            one.id == first.id || (one.id.scope == first.id.scope && one.order.is_some() && one.order == first.order)
        };
        // An amount and a day name nobody: a person chooses, even when there is only one.
        let named = first.matched == Matched::Id && self.read == Read::Whole;
        if named && self.candidates.iter().all(same) {
            return Ok(self.candidates.swap_remove(0));
        }
        Err(Refused::Several(self.candidates))
    }
}

/// Asks the provider about the keys of a case, one by one. Nothing of it is stored.
async fn look_up(
    store: &dyn Store,
    settings: &Settings,
    variable: &dyn Fn(&str) -> Option<String>,
    case: &mut Case,
    unanswered: &mut Vec<String>,
) {
    let opened = connect::providers(settings, variable);
    let keys = case.keys();
    for id in keys.iter().take(LOOK_UPS) {
        match ask(store, settings, &opened, case, id).await {
            Ok(asked) => match asked.unproved(id, settings) {
                None => case.heard(id, &asked.evidence),
                Some(why) => {
                    unanswered.push(why);
                    case.add_evidence(&asked.evidence);
                    leave_open(case, id);
                }
            },
            Err(why) => {
                unanswered.push(format!("The provider was not asked about {id}: {why}."));
                leave_open(case, id);
            }
        }
    }
    let more = keys.len().saturating_sub(LOOK_UPS);
    if more > 0 {
        unanswered.push(format!("The provider was not asked about {more} more keys: at most {LOOK_UPS} at once."));
        keys.iter().skip(LOOK_UPS).for_each(|id| leave_open(case, id));
    }
}

/// The provider may know of more charges under this key: the verdict is careful with it, here and from an export.
fn leave_open(case: &mut Case, id: &RecordId) {
    if !case.not_asked.contains(id) {
        case.not_asked.push(id.clone());
    }
}

/// One look-up, and when the provider may last have been called before it.
struct Asked {
    evidence: Evidence,
    last_attempt: Option<Instant>,
    settle: Seconds,
}

impl Asked {
    /// Why it proves nothing, if it does not. A charge that may still appear is not one that was never made.
    fn unproved(&self, id: &RecordId, settings: &Settings) -> Option<String> {
        match &self.evidence.outcome {
            LookupOutcome::Found { .. } => None,
            LookupOutcome::Unreachable { why, .. } => Some(format!("The provider did not answer about {id}: {why}.")),
            LookupOutcome::NotFound { absence: Absence::MayHaveMissed, why } => {
                Some(format!("The provider found nothing for {id}, which is not proof: {why}."))
            }
            LookupOutcome::NotFound { absence: Absence::Consistent, .. } => {
                let settled = settings.policy.skew.after(self.settle.after(self.last_attempt?));
                (self.evidence.started_at < settled).then(|| {
                    let until = time::clock(settled);
                    format!("The provider found nothing for {id}, and a charge may still appear until {until}.")
                })
            }
        }
    }
}

async fn ask(
    store: &dyn Store,
    settings: &Settings,
    opened: &[(ProviderName, Result<HttpProvider, OpenError>)],
    case: &Case,
    id: &RecordId,
) -> Result<Asked, String> {
    let read = store.dossier(id).await.map_err(|error| error.to_string())?;
    let (name, query, last_attempt) = match read {
        Some(dossier) => {
            let record = dossier.detail.record;
            let query = Query {
                id: record.id,
                provider_ref: record.provider_ref,
                provider_key: dossier.detail.provider_key,
                payment: record.payment,
                order: record.order,
                money: record.money,
                operator: settings.operator.clone(),
            };
            let last = dossier.detail.last_attempt_at.max(record.lease.until).or(Some(record.changed_at));
            (record.provider, query, last)
        }
        // The record may be gone and its payment there: that is what some questions are about.
        None => of_the_payment(case, id, settings).ok_or("neither its record nor a payment is there")?,
    };
    let provider = match opened.iter().find(|(known, _)| Some(known) == name.as_ref()) {
        Some((_, Ok(provider))) => provider,
        Some((_, Err(why))) => return Err(why.to_string()),
        None => {
            let name = name.as_ref().map_or("(not known)", |name| name.as_str());
            return Err(format!("no adapter is configured for provider {name}"));
        }
    };
    let settle = connect::terms(settings, name.as_ref()).settle;
    Ok(Asked { evidence: provider.lookup(&query).await, last_attempt, settle })
}

fn of_the_payment(
    case: &Case,
    id: &RecordId,
    settings: &Settings,
) -> Option<(Option<ProviderName>, Query, Option<Instant>)> {
    let row = case
        .payments
        .iter()
        .flatten()
        .find(|row| row.scope.as_ref() == Some(&id.scope) && row.key.as_ref() == Some(&id.key))?;
    let query = Query {
        id: id.clone(),
        provider_ref: row.provider_ref.clone(),
        provider_key: None,
        payment: row.id.clone(),
        order: row.order.clone(),
        money: money(row.amount, row.currency.as_ref()),
        operator: settings.operator.clone(),
    };
    Some((row.provider.clone(), query, row.updated_at.max(row.created_at)))
}
