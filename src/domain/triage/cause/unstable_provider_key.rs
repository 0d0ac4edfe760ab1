//! One key of ours became two keys at the provider, which then could not tell that it was one charge.

use std::collections::HashMap;

use super::{Known, Twice};
use crate::domain::ids::RecordId;
use crate::domain::triage::Cause;
use crate::domain::triage::books::{Placed, sent};
use crate::domain::triage::cause::{at, later};

pub(in crate::domain::triage) const KNOWN: Known = Known { cause: Cause::UnstableProviderKey, shows };

fn shows(twice: &Twice<'_, '_>) -> Option<String> {
    let mut known: HashMap<&RecordId, &Placed<'_>> = HashMap::new();
    twice.standing.iter().copied().find_map(|other| {
        let key = other.key.as_ref()?;
        let theirs = sent(other).filter(|sent| !sent.is_empty())?;
        let first = *known.entry(key).or_insert(other);
        let mine = sent(first).filter(|mine| *mine != theirs)?;
        Some(format!(
            "Key {key} was sent to the provider as {mine} at {} and as {} at {}{}: two provider keys, two charges.",
            at(first.seen.at),
            theirs,
            at(other.seen.at),
            later(first.seen.at, other.seen.at),
        ))
    })
}
