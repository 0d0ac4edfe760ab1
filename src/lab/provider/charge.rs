//! A charge as the provider tells it.

use serde::Serialize;

/// The provider's own words for how a charge stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChargeStatus {
    /// Captured: the money moved.
    Succeeded,
    /// Refused for good, with a failure code.
    Failed,
    /// Not decided yet.
    Pending,
    /// A hold on the money, not captured.
    Authorised,
    /// A hold that was let go.
    Canceled,
}

impl ChargeStatus {
    /// Whether money moved or still may.
    pub fn may_move_money(self) -> bool {
        match self {
            Self::Succeeded | Self::Pending | Self::Authorised => true,
            Self::Failed | Self::Canceled => false,
        }
    }
}

/// One charge. Amounts are minor units of `currency`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Charge {
    /// The provider's id, `ch_…`.
    pub id: String,
    /// The payment id of the service that asked.
    pub reference: Option<String>,
    /// The key it was asked with; `None` when it was sent without.
    pub idempotency_key: Option<String>,
    /// The order it pays.
    pub order_id: String,
    /// How it stands.
    pub status: ChargeStatus,
    /// Asked for.
    pub amount: i64,
    /// Taken so far.
    pub captured: i64,
    /// Given back so far.
    pub refunded: i64,
    /// ISO 4217, upper case.
    pub currency: String,
    /// Unix seconds.
    pub created: i64,
    /// Always false: nothing here is real money.
    pub livemode: bool,
    /// Why it failed.
    pub failure_code: Option<String>,
}
