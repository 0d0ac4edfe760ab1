//! One charge from all rows about it. Two looks at one charge differ by what happened in between, which is no
//! contradiction: it became final, more was captured, more was given back. Two final states are one.

use std::collections::BTreeSet;

use super::books::Contradiction;
use super::report::Lines;
use super::standing::{Money, Seen, Source};
use crate::domain::case::Charge;
use crate::domain::evidence::Class;

/// What all rows about one charge say together.
pub(super) fn one<'a>(
    name: &str,
    rows: &[&'a Charge],
    lines: Option<&Lines<'a>>,
    contradictions: &mut Vec<Contradiction>,
) -> Option<Seen<'a>> {
    let main = *rows.iter().max_by_key(|row| says(row))?;
    let mut odd = |what: String| contradictions.push(Contradiction::of(name, what));
    let classes: Vec<Class> = rows.iter().filter_map(|row| row.class).collect();
    let class = classes.iter().copied().max_by_key(|class| finality(*class)).unwrap_or(Class::Unrecognised);
    let unclear = (classes.contains(&Class::Failed) && classes.iter().any(|class| class.moved_money()))
        || differ(rows.iter().filter_map(|row| row.amount))
        || differ(rows.iter().filter_map(|row| row.currency.as_deref().map(str::to_ascii_uppercase)));
    if unclear {
        odd(format!("charge {name} is there more than once, and what is said of it cannot all be true"));
    }
    let most = |of: fn(&Charge) -> Option<i64>| rows.iter().filter_map(|row| of(row)).max();
    let (amount, captured, refunded) = (most(|row| row.amount), most(|row| row.captured), most(|row| row.refunded));
    for row in rows {
        for (what, amount) in [("amount", row.amount), ("captured", row.captured), ("refunded", row.refunded)] {
            if let Some(amount) = amount.filter(|amount| *amount < 0) {
                odd(format!("charge {name}: {what} is {amount}, below zero"));
            }
        }
    }
    let taken = match class {
        Class::Succeeded | Class::Reversed => captured.or(amount),
        Class::Authorised | Class::Pending | Class::Open | Class::Failed | Class::Unrecognised => captured,
    };
    let refunded = refunded.unwrap_or(0).max(0);
    if let Some(taken) = taken.filter(|taken| *taken >= 0 && refunded > *taken) {
        odd(format!("charge {name}: {refunded} was refunded of {taken} taken"));
    }
    if class == Class::Failed && captured.is_some_and(|taken| taken > 0) {
        odd(format!("charge {name} is {} and yet something was captured of it", class.word()));
    }
    let returned = lines.map_or(refunded, |lines| lines.returned(refunded));
    // Refunded and charged back is more than was taken: then nothing stands.
    let returned = taken.map_or(returned, |taken| returned.min(taken.max(refunded)));
    let rest = taken.is_some_and(|taken| taken > returned);
    let money = match class {
        _ if unclear => Money::Open,
        Class::Succeeded if taken == Some(0) => Money::Held,
        Class::Succeeded if rest || taken.is_none() => Money::Stands,
        // Given back in part, as the figures say.
        Class::Reversed if rest && returned > 0 => Money::Stands,
        Class::Succeeded | Class::Reversed => Money::GivenBack,
        // Captured in part: the rest is still a hold.
        Class::Authorised if taken.is_some_and(|taken| taken > 0) => {
            if rest {
                Money::Stands
            } else {
                Money::GivenBack
            }
        }
        Class::Authorised => Money::Held,
        Class::Pending | Class::Open | Class::Unrecognised => Money::Open,
        Class::Failed => Money::Refused,
    };
    Some(Seen {
        name: name.to_owned(),
        charge: Some(main),
        source: Source::Provider,
        money,
        kept: taken.map(|taken| taken.saturating_sub(returned)),
        returned,
        currency: main.currency.as_ref().or_else(|| rows.iter().filter_map(|row| row.currency.as_ref()).min()),
        at: rows.iter().filter_map(|row| row.created_at).min(),
    })
}

/// How much a row says of where its charge belongs; what comes after only makes the choice the same every time.
fn says(row: &Charge) -> impl Ord + use<> {
    (
        row.provider_key.is_some(),
        row.reference.is_some(),
        row.class.map(finality),
        row.captured,
        row.refunded,
        row.amount,
        row.provider_key.clone(),
        row.reference.clone(),
        row.currency.clone(),
        row.created_at,
    )
}

/// Of two states of one charge, which came later.
fn finality(class: Class) -> u8 {
    match class {
        Class::Unrecognised => 0,
        Class::Open => 1,
        Class::Pending => 2,
        Class::Authorised => 3,
        Class::Failed => 4,
        Class::Succeeded => 5,
        Class::Reversed => 6,
    }
}

fn differ<T: Ord>(all: impl Iterator<Item = T>) -> bool {
    all.collect::<BTreeSet<T>>().len() > 1
}
