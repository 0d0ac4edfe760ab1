//! A look-up in the words of the recovery table: by ref, key, reference and order, each list whole or not at all.

use reqwest::StatusCode;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Gateway;
use crate::domain::evidence::{Absence, Class, LookupOutcome, Mode, Observed, ObservedMoney};
use crate::domain::ids::{OrderId, PaymentId, ProviderKey, ProviderRef};
use crate::lab::service::records::Held;

/// A charge with everything the provider says of it.
#[derive(Debug, Clone, Deserialize)]
struct Charge {
    id: String,
    reference: Option<String>,
    idempotency_key: Option<String>,
    order_id: Option<String>,
    status: String,
    amount: i64,
    captured: Option<i64>,
    refunded: Option<i64>,
    currency: String,
    livemode: Option<bool>,
    failure_code: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Page {
    data: Vec<Charge>,
    has_more: bool,
}

#[derive(Debug, Deserialize)]
struct Refusal {
    error: RefusalCode,
}

#[derive(Debug, Deserialize)]
struct RefusalCode {
    code: String,
}

/// What one GET came to: something, the provider's own "no such object", or no answer that means anything.
type Got<T> = Result<Option<T>, String>;

impl Gateway {
    /// Asks everything there is to ask about a record. One question without an answer and nothing is concluded.
    pub(in crate::lab::service) async fn sight(&self, record: &Held) -> LookupOutcome {
        match self.charges(record).await {
            Ok(charges) if charges.is_empty() => LookupOutcome::NotFound {
                absence: Absence::Consistent,
                why: "by ref, key, reference and order, in a consistent list".to_owned(),
            },
            Ok(charges) => LookupOutcome::Found { observed: charges.into_iter().map(observed).collect() },
            Err(why) => LookupOutcome::Unreachable { why, retry_after_s: None },
        }
    }

    async fn charges(&self, record: &Held) -> Result<Vec<Charge>, String> {
        let mut found = Vec::new();
        if let Some(provider_ref) = &record.provider_ref {
            found.extend(self.get::<Charge>(&format!("/v1/charges/{provider_ref}"), &[]).await?);
        }
        let lists =
            [("idempotency_key", &record.provider_key), ("reference", &record.payment), ("order_id", &record.order)];
        for (field, value) in lists {
            let asked = [(field, value.as_str()), ("limit", "100")];
            let page = self.get::<Page>("/v1/charges", &asked).await?.ok_or("the provider has no such list")?;
            if page.has_more {
                return Err(format!("the list by {field} has more than one page"));
            }
            for charge in page.data {
                if !found.iter().any(|known| known.id == charge.id) {
                    found.push(charge);
                }
            }
        }
        Ok(found)
    }

    async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, &str)]) -> Got<T> {
        let request = self.client.get(format!("{}{path}", self.base)).query(query).timeout(self.timeout);
        let answer = request.send().await.map_err(|_| "the provider did not answer".to_owned())?;
        match answer.status() {
            StatusCode::OK => answer.json().await.map(Some).map_err(|_| "its answer makes no sense".to_owned()),
            StatusCode::NOT_FOUND => match answer.json::<Refusal>().await {
                Ok(refusal) if refusal.error.code == "charge_not_found" => Ok(None),
                Ok(_) | Err(_) => Err("the provider answered 404, and not for a charge".to_owned()),
            },
            other => Err(format!("the provider answered {}", other.as_u16())),
        }
    }
}

fn observed(charge: Charge) -> Observed {
    let class = match charge.status.as_str() {
        "succeeded" => Class::Succeeded,
        "authorised" => Class::Authorised,
        "pending" => Class::Pending,
        "requires_action" => Class::Open,
        "failed" | "canceled" => Class::Failed,
        _ => Class::Unrecognised,
    };
    Observed {
        provider_ref: ProviderRef::new(charge.id),
        reference: charge.reference.map(PaymentId::new),
        order: charge.order_id.map(OrderId::new),
        provider_key: charge.idempotency_key.map(ProviderKey::new),
        class,
        raw: charge.failure_code.unwrap_or(charge.status),
        money: ObservedMoney {
            amount: charge.amount,
            captured: charge.captured,
            refunded: charge.refunded,
            currency: charge.currency,
        },
        created_at: None,
        mode: charge.livemode.map(Mode::from),
    }
}
