//! One question per cause of a double charge.

use crate::domain::triage::Cause;

/// The file that finds others with a cause.
pub(super) fn others(cause: Cause) -> &'static str {
    match cause {
        Cause::KeyExpired => "get_others_key_expired",
        Cause::RecordDeleted => "get_others_record_deleted",
        Cause::TimeoutMarkedFailed => "get_others_timeout_marked_failed",
        Cause::LeaseTooShort => "get_others_lease_too_short",
        Cause::UnstableProviderKey => "get_others_unstable_provider_key",
        Cause::NoProviderKey => "get_others_no_provider_key",
        Cause::NewKeyPerAttempt => "get_others_new_key_per_attempt",
        Cause::ChargeWithoutPayment => "get_others_charge_without_payment",
        Cause::GlobalKey => "get_others_global_key",
        // Not in the list of questions: nothing can be looked for by it.
        Cause::Unknown => "get_others",
    }
}
