//! The provider was called without a key, so that it took the retry for another charge.

use super::{Known, Twice, at, later};
use crate::domain::triage::Cause;
use crate::domain::triage::books::sent;

pub(in crate::domain::triage) const KNOWN: Known = Known { cause: Cause::NoProviderKey, shows };

fn shows(twice: &Twice<'_, '_>) -> Option<String> {
    // With a key of ours for each charge, a key at the provider would have been another one, too.
    let (key, [first, second]) = twice.same_key()?;
    (sent(first) == Some("") || sent(second) == Some("")).then(|| {
        format!(
            "Key {key} was charged at {} and again at {}{}, and the provider was sent no key by which to know it again.",
            at(first.seen.at),
            at(second.seen.at),
            later(first.seen.at, second.seen.at),
        )
    })
}
