//! What several look-ups come to together. Where they do not agree, nothing is concluded.

use std::collections::BTreeMap;

use crate::domain::evidence::{Absence, LookupOutcome, Observed};
use crate::domain::ids::ProviderRef;

use super::adapter::{Consistency, LookUp};
use super::ask::{Heard, Rest};
use super::template::{Id, NotAsked};

/// The outcome of a whole look-up from what each part heard.
pub fn conclude(heard: &[(&LookUp, Heard)]) -> LookupOutcome {
    if let Some(silence) = first_silence(heard) {
        return silence;
    }
    let mut hits: BTreeMap<ProviderRef, Observed> = BTreeMap::new();
    for (_, part) in heard {
        let Heard::Said { hits: said, .. } = part else {
            continue;
        };
        for hit in said {
            let before = hits.insert(hit.provider_ref.clone(), hit.clone());
            if before.is_some_and(|before| before != *hit) {
                return unreachable("two look-ups disagree about the same charge; ask again");
            }
        }
    }
    if !hits.is_empty() {
        return LookupOutcome::Found { observed: hits.into_values().collect() };
    }
    if !heard.iter().any(|(_, part)| matches!(part, Heard::Said { .. })) {
        return unreachable("the record carries no id this provider can be asked by");
    }
    LookupOutcome::NotFound {
        absence: absence(heard),
        why: heard.iter().map(|(look_up, part)| in_words(look_up, part)).collect::<Vec<_>>().join("; "),
    }
}

fn unreachable(why: &str) -> LookupOutcome {
    LookupOutcome::Unreachable { why: why.to_owned(), retry_after_s: None }
}

/// One part that could not be asked makes the whole uncertain: the charge may be just there.
fn first_silence(heard: &[(&LookUp, Heard)]) -> Option<LookupOutcome> {
    // One reason that all look-ups share is said once.
    let mut reasons: Vec<(Vec<&str>, &str)> = Vec::new();
    let mut longest = None;
    for (look_up, part) in heard {
        if let Heard::Silent { why, retry_after_s } = part {
            match reasons.iter_mut().find(|(_, known)| known == why) {
                Some((names, _)) => names.push(&look_up.name),
                None => reasons.push((vec![&look_up.name], why)),
            }
            longest = longest.max(*retry_after_s);
        }
    }
    let said: Vec<String> = reasons.iter().map(|(names, why)| format!("{}: {why}", names.join(", "))).collect();
    (!said.is_empty()).then(|| LookupOutcome::Unreachable { why: said.join("; "), retry_after_s: longest })
}

/// Absence is certain only when a consistent look-up by the key or by our reference was read to its
/// end. A missing ref says nothing about other charges, and an order is not this record alone.
fn absence(heard: &[(&LookUp, Heard)]) -> Absence {
    let foreign = heard.iter().any(|(_, part)| matches!(part, Heard::Said { rest: Rest::Foreign, .. }));
    let proven = heard.iter().any(|(look_up, part)| {
        matches!(part, Heard::Said { rest: Rest::None, .. })
            && look_up.consistency == Consistency::Strong
            && matches!(look_up.matched, Id::ProviderKey | Id::Payment)
    });
    if proven && !foreign { Absence::Consistent } else { Absence::MayHaveMissed }
}

fn in_words(look_up: &LookUp, part: &Heard) -> String {
    let name = &look_up.name;
    match part {
        Heard::NotAsked(NotAsked::Absent(id)) => {
            format!("{name}: not asked, no {} stored", id.word())
        }
        Heard::NotAsked(NotAsked::Unfit(id)) => {
            format!("{name}: not asked, the {} has characters it cannot take", id.word())
        }
        Heard::Silent { why, .. } => format!("{name}: {why}"),
        Heard::Said { rest: Rest::Foreign, .. } => {
            format!("{name}: only charges of others, so its filter cannot be trusted")
        }
        Heard::Said { rest: Rest::Unpaged, .. } => format!("{name}: none, in a list that may be cut off"),
        Heard::Said { rest: Rest::None, .. } => match look_up.consistency {
            Consistency::Strong => format!("{name}: none"),
            Consistency::Search => format!("{name}: none yet (a search index lags behind)"),
        },
    }
}
