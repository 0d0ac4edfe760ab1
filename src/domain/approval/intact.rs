//! Whether a stored plan is what its hash says, word for word.
//!
//! Any operator can store any plan: what an approver reads must follow from what is hashed, or the words could
//! promise one thing and the change do another.

use super::super::action::Change;
use super::super::guard::{hash_of, said_of};
use super::super::payment::PaymentStatus;
use super::super::promise::Promise;
use super::{ApprovalRequest, StoredPlan};

impl StoredPlan {
    /// Whether the hash is over what stands in the plan, the plan is for this record, amount and action, and its
    /// words are those of its change.
    pub(super) fn is_intact(&self, request: &ApprovalRequest) -> bool {
        let parts: Vec<&str> = self.hashed.iter().map(String::as_str).collect();
        let attempt = request.attempt.map(|attempt| attempt.0.to_string()).unwrap_or_default();
        let named =
            [request.id.scope.as_str(), request.id.key.as_str(), request.version.as_str(), &attempt, &request.action];
        let record = &self.record;
        hash_of(&parts) == request.plan_hash
            && self.hash == request.plan_hash
            && parts.starts_with(&named)
            && self.change.word() == request.action
            && self.action == request.action
            && self.hashed.ends_with(&self.change.parts())
            && (&record.id, &record.version, record.attempt) == (&request.id, &request.version, request.attempt)
            && record.money == request.money
            && self.words_fit()
    }

    /// Whether the words a person reads are the words of the change.
    fn words_fit(&self) -> bool {
        let wording = &self.wording;
        let said = [wording.will_not.as_str(), &wording.cannot_undo, &wording.if_it_fails];
        said == said_of(&self.change) && self.promises_fit()
    }

    fn promises_fit(&self) -> bool {
        let from = self.record.attempt;
        let lease = |promise: &Promise| matches!(promise, Promise::LeaseTaken { from: seen } if Some(*seen) == from);
        let ends = |promise: &Promise, wanted: PaymentStatus, charge| matches!(promise, Promise::PaymentEnds { status, provider_ref } if *status == wanted && provider_ref == charge);
        let code = |promise: &Promise, wanted: i32| matches!(promise, Promise::RecordDone { code } if *code == wanted);
        match (&self.change, self.promises.as_slice()) {
            (
                Change::Adopt { provider_ref: charge, .. },
                [first, Promise::NoCharge { provider_ref, .. }, payment, done],
            ) => {
                lease(first)
                    && provider_ref == charge
                    && ends(payment, PaymentStatus::Succeeded, charge)
                    && code(done, 201)
            }
            (
                Change::Fail { provider_ref: charge, .. } | Change::Reverse { provider_ref: charge, .. },
                [first, Promise::NoCharge { provider_ref, .. }, payment, done],
            ) => {
                lease(first)
                    && provider_ref == charge
                    && ends(payment, PaymentStatus::Failed, charge)
                    && code(done, 402)
            }
            (Change::NotCharged { .. }, [first, Promise::EndsUncharged, done]) => lease(first) && code(done, 402),
            (Change::HandBack { .. }, [Promise::HandedBack { .. }]) => true,
            (
                Change::Adopt { .. }
                | Change::Fail { .. }
                | Change::Reverse { .. }
                | Change::NotCharged { .. }
                | Change::HandBack { .. }
                | Change::LookUp
                | Change::Hold { .. }
                | Change::Release
                | Change::Withdraw { .. }
                | Change::Note
                | Change::HandOver,
                _,
            ) => false,
        }
    }
}
