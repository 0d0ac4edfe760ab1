//! The closed list of actions, what each is played on, and what each leaves behind when it was done.

use super::worker::Deed;

/// One guarded action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    LookUp,
    Adopt,
    Fail,
    Reverse,
    NotCharged,
    HandBack,
    Hold,
    Release,
    Note,
    HandOver,
    Ask,
    Approve,
    Refuse,
    Withdraw,
    TakeBack,
}

/// What the provider knows of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    Charged,
    Declined,
    /// Charged, given back, and the order paid by another payment.
    GivenBack,
    Absent,
}

/// Every action there is.
pub const ALL: &[Action] = &[
    Action::LookUp,
    Action::Adopt,
    Action::Fail,
    Action::Reverse,
    Action::NotCharged,
    Action::HandBack,
    Action::Hold,
    Action::Release,
    Action::Note,
    Action::HandOver,
    Action::Ask,
    Action::Approve,
    Action::Refuse,
    Action::Withdraw,
    Action::TakeBack,
];

impl Action {
    /// Its place in the list.
    pub fn place(self) -> usize {
        ALL.iter().position(|action| *action == self).unwrap_or_default()
    }

    pub fn deed(self) -> Deed {
        match self {
            Self::LookUp => Deed::LookUp,
            Self::Adopt | Self::Fail | Self::Reverse | Self::NotCharged | Self::HandBack => Deed::Resume,
            Self::Hold => Deed::Hold,
            Self::Release => Deed::Release,
            Self::Note => Deed::Note,
            Self::HandOver => Deed::HandOver,
            Self::Ask => Deed::Ask,
            Self::Approve => Deed::Approve,
            Self::Refuse => Deed::Refuse,
            Self::Withdraw => Deed::Withdraw,
            Self::TakeBack => Deed::TakeBack,
        }
    }

    /// The word of the log.
    pub fn word(self) -> &'static str {
        match self {
            Self::LookUp => "lookup",
            Self::Adopt => "adopt",
            Self::Fail => "fail",
            Self::Reverse => "reverse",
            Self::NotCharged => "not_charged",
            Self::HandBack => "hand_back",
            Self::Hold => "hold",
            Self::Release => "release",
            Self::Note => "note",
            Self::HandOver => "hand_over",
            Self::Ask => "ask",
            Self::Approve => "approve",
            Self::Refuse => "refuse",
            Self::Withdraw | Self::TakeBack => "withdraw",
        }
    }

    /// The guarded function that does it.
    pub fn function(self) -> &'static str {
        match self {
            Self::LookUp => "do_evidence",
            Self::Adopt => "do_adopt",
            Self::Fail => "do_fail",
            Self::Reverse => "do_reverse",
            Self::NotCharged => "do_not_charged",
            Self::HandBack => "do_hand_back",
            Self::Hold => "do_hold",
            Self::Release => "do_release",
            Self::Note => "do_note",
            Self::HandOver => "do_hand_over",
            Self::Ask => "do_ask",
            Self::Approve | Self::Refuse => "do_decide",
            Self::Withdraw | Self::TakeBack => "do_withdraw",
        }
    }

    /// Whether its function waits for the record's own lock, so that it can be made to come late.
    pub fn locks_the_record(self) -> bool {
        !matches!(self, Self::LookUp | Self::Note | Self::HandOver)
    }

    pub fn truth(self) -> Truth {
        match self {
            Self::LookUp | Self::Adopt | Self::Hold | Self::Release | Self::Note | Self::HandOver => Truth::Charged,
            Self::Fail => Truth::Declined,
            Self::Reverse => Truth::GivenBack,
            Self::NotCharged
            | Self::HandBack
            | Self::Ask
            | Self::Approve
            | Self::Refuse
            | Self::Withdraw
            | Self::TakeBack => Truth::Absent,
        }
    }

    /// Who does it.
    pub fn who(self) -> &'static str {
        if matches!(self, Self::Approve | Self::Refuse) { "lee" } else { "kim" }
    }

    /// How often it has come to pass for record `$1`: 1 when it was done once.
    pub fn effect(self) -> &'static str {
        match self {
            Self::LookUp => {
                "SELECT count(*) FROM unstuck.evidence WHERE key = $1 AND outcome = 'found' AND intent_id IS NOT NULL"
            }
            Self::Adopt | Self::Fail | Self::Reverse | Self::NotCharged => {
                "SELECT count(*) FROM outbox WHERE payment_id = 'pay_' || $1"
            }
            Self::HandBack => "SELECT count(*) FROM unstuck.resume_request WHERE key = $1",
            Self::Hold => "SELECT count(*) FROM payment_attempts WHERE key = $1 AND outcome = 'held'",
            Self::Release => "SELECT count(*) FROM payment_attempts WHERE key = $1 AND outcome = 'released'",
            Self::Note | Self::HandOver => "SELECT count(*) FROM unstuck.note WHERE key = $1",
            Self::Ask => "SELECT count(*) FROM unstuck.approval_request WHERE key = $1",
            Self::Approve | Self::Refuse | Self::Withdraw => {
                "SELECT count(*) FROM unstuck.approval_decision d JOIN unstuck.approval_request r ON r.id = d.request WHERE r.key = $1"
            }
            Self::TakeBack => {
                "SELECT count(*) FROM unstuck.resume_event e JOIN unstuck.resume_request r ON r.id = e.request WHERE r.key = $1"
            }
        }
    }
}

/// Makes record `$1` as a pod left it an hour ago: the provider was asked to charge, and never answered.
pub const RECORD: &[&str] = &[
    "INSERT INTO idempotency_keys (scope, key, fingerprint, status, recovery_point, locked_until, locked_by, attempt, order_id, provider, provider_key, created_at, updated_at) \
     VALUES ('shop-eu', $1, 'f', 'processing', 'provider_called', now() - interval '59 minutes', 'pod-a', 1, 'ord_' || $1, 'labpay', 'pay:shop-eu:' || $1, \
     now() - interval '1 hour', now() - interval '1 hour')",
    "INSERT INTO payments (id, order_id, scope, key, customer_id, provider, status, amount, currency, created_at, updated_at) \
     VALUES ('pay_' || $1, 'ord_' || $1, 'shop-eu', $1, 'cus_1', 'labpay', 'unknown', 4250, 'EUR', now() - interval '1 hour', now() - interval '1 hour')",
    "INSERT INTO payment_attempts (scope, key, attempt, worker, lease_until, started_at) \
     VALUES ('shop-eu', $1, 1, 'pod-a', now() - interval '59 minutes', now() - interval '1 hour')",
    "INSERT INTO provider_calls (at, scope, key, payment_id, provider, purpose, provider_key, timeout_ms, finished_at, outcome, pod) \
     VALUES (now() - interval '1 hour', 'shop-eu', $1, 'pay_' || $1, 'labpay', 'charge', 'pay:shop-eu:' || $1, 2000, now() - interval '1 hour', 'timeout', 'pod-a')",
    "INSERT INTO payment_transitions (payment_id, from_status, to_status, at, actor) SELECT 'pay_' || $1, s.f, s.t, now() - interval '1 hour', 'pod-a' \
     FROM (VALUES (NULL, 'created'), ('created', 'pending'), ('pending', 'unknown')) s(f, t)",
];

/// Another payment that paid the order of record `$1`.
pub const SIBLING: &str = "INSERT INTO payments (id, order_id, scope, key, provider, status, amount, currency, provider_ref) \
    VALUES ('other_' || $1, 'ord_' || $1, 'shop-eu', 'other-' || $1, 'labpay', 'succeeded', 4250, 'EUR', 'ch_other_' || $1)";

/// A look-up of long ago that found nothing of record `$1`.
pub const NOTHING_FOUND: &str = "INSERT INTO unstuck.evidence (at, scope, key, operator, session_role, provider, started_at, outcome, definitive, observed, steps) \
    SELECT t, 'shop-eu', $1, 'nobody', 'nobody', 'labpay', t, 'not_found', true, '[]', '[]' FROM (SELECT now() - interval '400 seconds' AS t) x";
