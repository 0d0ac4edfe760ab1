//! One key of ours became two keys at the provider, which then could not tell that it was one charge.

use super::{Known, Twice};
use crate::domain::triage::Cause;
use crate::domain::triage::books::sent;
use crate::domain::triage::cause::{at, later};

pub(in crate::domain::triage) const KNOWN: Known = Known { cause: Cause::UnstableProviderKey, shows };

fn shows(twice: &Twice<'_, '_>) -> Option<String> {
    twice.standing.iter().find_map(|first| {
        let key = first.key.as_ref()?;
        let mine = sent(first).filter(|sent| !sent.is_empty())?;
        let other = twice.standing.iter().find(|other| {
            other.key.as_ref() == Some(key) && sent(other).is_some_and(|sent| !sent.is_empty() && sent != mine)
        })?;
        Some(format!(
            "Key {key} was sent to the provider as {mine} at {} and as {} at {}{}: two provider keys, two charges.",
            at(first.seen.at),
            sent(other).unwrap_or_default(),
            at(other.seen.at),
            later(first.seen.at, other.seen.at),
        ))
    })
}
