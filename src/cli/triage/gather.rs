//! From what the customer gave to a case: find it, read it, and ask the provider when that is wanted.

use std::sync::Arc;

use super::args::TriageArgs;
use crate::cli::out::{ExitCode, Out};
use crate::cli::settings::{Settings, connect};
use crate::domain::case::{Case, money};
use crate::domain::evidence::{Evidence, LookupOutcome};
use crate::domain::ids::{ProviderName, RecordId};
use crate::domain::port::{Candidate, Provider, Query, Store};
use crate::provider::HttpProvider;

/// How many payments of a case the provider is asked about, as in a bulk look-up.
const LOOK_UPS: usize = 25;

/// A case, and where it came from.
pub(super) struct Gathered {
    pub id: RecordId,
    pub case: Case,
    pub store: Arc<dyn Store>,
    /// What could not be asked, in sentences.
    pub unanswered: Vec<String>,
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
                    "Nothing was found for {what:?}. It takes an order, payment, key, provider ref or customer, as it is written."
                ));
                ExitCode::Finding
            }
            Self::Several(candidates) => {
                out.complain(&format!("{} candidates; name one with its key and --scope:", candidates.len()));
                for one in &candidates {
                    let order = one.order.as_ref().map_or("-", |order| order.as_str());
                    out.complain(&format!(
                        "  unstuck triage {} --scope {}   order {order}, matched by {}",
                        one.id.key, one.id.scope, one.why
                    ));
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
    let found = store.find(what).await.map_err(|error| not_known(error.to_string()))?;
    let one = only(found, args.scope.as_deref(), what)?;
    let case = store.case(&one.id).await.map_err(|error| not_known(error.to_string()))?;
    let mut case = *case.ok_or_else(|| Refused::Nothing(what.to_owned()))?;
    case.asked = Some(what.to_owned());
    let mut unanswered = Vec::new();
    if args.lookup {
        look_up(store.as_ref(), settings, variable, &mut case, &mut unanswered).await;
    }
    Ok(Gathered { id: one.id, case, store, unanswered })
}

/// The one candidate. Records of one order in one scope are one case; another scope is never mixed in.
fn only(found: Vec<Candidate>, scope: Option<&str>, what: &str) -> Result<Candidate, Refused> {
    let mut found: Vec<Candidate> =
        found.into_iter().filter(|one| scope.is_none_or(|scope| one.id.scope.as_str() == scope)).collect();
    let Some(first) = found.first().cloned() else { return Err(Refused::Nothing(what.to_owned())) };
    let same = |one: &Candidate| {
        one.id == first.id || (one.id.scope == first.id.scope && one.order.is_some() && one.order == first.order)
    };
    if found.iter().all(same) {
        return Ok(found.swap_remove(0));
    }
    Err(Refused::Several(found))
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
    let providers: Vec<HttpProvider> = opened.into_iter().filter_map(|(_, opened)| opened.ok()).collect();
    for id in case.keys().into_iter().take(LOOK_UPS) {
        match ask(store, settings, &providers, case, &id).await {
            Ok(evidence) => {
                if let LookupOutcome::Unreachable { why, .. } = &evidence.outcome {
                    unanswered.push(format!("The provider did not answer about {id}: {why}"));
                }
                case.heard(&id, &evidence);
            }
            Err(why) => unanswered.push(format!("The provider was not asked about {id}: {why}")),
        }
    }
}

async fn ask(
    store: &dyn Store,
    settings: &Settings,
    providers: &[HttpProvider],
    case: &Case,
    id: &RecordId,
) -> Result<Evidence, String> {
    let read = store.dossier(id).await.map_err(|error| error.to_string())?;
    let (name, query) = match read {
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
            (record.provider, query)
        }
        // The record may be gone and its payment there: that is what some questions are about.
        None => of_the_payment(case, id, settings).ok_or("neither its record nor a payment is there")?,
    };
    let provider = providers.iter().find(|provider| Some(provider.name()) == name.as_ref()).ok_or_else(|| {
        let name = name.as_ref().map_or("(not known)", |name| name.as_str());
        format!("no adapter is configured for provider {name}")
    })?;
    Ok(provider.lookup(&query).await)
}

fn of_the_payment(case: &Case, id: &RecordId, settings: &Settings) -> Option<(Option<ProviderName>, Query)> {
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
    Some((row.provider.clone(), query))
}
