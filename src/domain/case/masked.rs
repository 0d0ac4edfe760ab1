//! A case that may leave: customers masked, and whatever else in its texts names a person or opens a door.

use std::borrow::Cow;

use super::Case;
use crate::domain::ids::{Key, OrderId, PaymentId, ProviderKey, ProviderRef, RecordId, Scope};
use crate::domain::mask::Masks;

/// An id without what names a person: the same id stays the same everywhere.
macro_rules! hide_ids {
    ($masks:ident: $($type:ident $id:expr),* $(,)?) => {$(
        if let Some(id) = &mut $id
            && let Cow::Owned(hidden) = $masks.hide_in_id(id.as_str())
        {
            *id = $type::new(hidden);
        }
    )*};
}

impl Case {
    /// The same case with its customers masked. One customer has one mask, so that two stay two; doing it twice
    /// changes nothing.
    #[must_use]
    pub fn masked(mut self) -> Self {
        let mut masks = Masks::default();
        self.texts().for_each(|text| masks.keep(text));
        let mut customers: Vec<(String, String)> = Vec::new();
        for customer in self.payments.iter_mut().flatten().filter_map(|row| row.customer.as_mut()) {
            let mask = masks.customer(customer);
            let known = std::mem::replace(customer, mask.clone());
            if known != mask {
                customers.push((known, mask));
            }
        }
        // The longest first: one may be part of another.
        customers.sort_by(|a, b| (b.0.len(), &a.0).cmp(&(a.0.len(), &b.0)));
        customers.dedup();
        // What support typed may be the customer's id alone, which no pattern knows.
        for text in [&mut self.about, &mut self.asked].into_iter().flatten() {
            *text = masks.hide(&without(text, &customers)).into_owned();
        }
        let said = self.transitions.iter_mut().flatten().filter_map(|change| change.by.as_mut());
        let paths = self.requests.iter_mut().flatten().filter_map(|request| request.path.as_mut());
        for text in said.chain(paths) {
            *text = masks.hide(&without(text, &customers)).into_owned();
        }
        self.hide_ids(&mut masks);
        self
    }

    /// Every text a mask may already stand in.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let customers = self.payments.iter().flatten().filter_map(|row| row.customer.as_deref());
        let said = self.transitions.iter().flatten().filter_map(|change| change.by.as_deref());
        let paths = self.requests.iter().flatten().filter_map(|request| request.path.as_deref());
        let ids = self.payments.iter().flatten().flat_map(|row| {
            let id = row.id.as_ref().map(PaymentId::as_str);
            [id, row.scope.as_ref().map(Scope::as_str), row.key.as_ref().map(Key::as_str)].into_iter().flatten()
        });
        let head = [self.about.as_deref(), self.asked.as_deref()].into_iter().flatten();
        customers.chain(said).chain(paths).chain(ids).chain(head)
    }

    fn hide_ids(&mut self, masks: &mut Masks) {
        for said in &mut self.cut {
            *said = masks.hide(said).into_owned();
        }
        for id in &mut self.not_asked {
            *id = RecordId::new(masks.hide_in_id(id.scope.as_str()), masks.hide_in_id(id.key.as_str()));
        }
        for row in self.requests.iter_mut().flatten() {
            hide_ids!(masks: Scope row.scope, Key row.key, OrderId row.order, Scope row.answered_scope,
                PaymentId row.answered_payment);
        }
        for row in self.records.iter_mut().flatten() {
            hide_ids!(masks: Scope row.scope, Key row.key, ProviderRef row.provider_ref);
        }
        for row in self.payments.iter_mut().flatten() {
            hide_ids!(masks: PaymentId row.id, OrderId row.order, Scope row.scope, Key row.key,
                ProviderRef row.provider_ref);
        }
        for row in self.transitions.iter_mut().flatten() {
            hide_ids!(masks: PaymentId row.payment);
        }
        for row in self.charges.iter_mut().flatten() {
            hide_ids!(masks: ProviderRef row.provider_ref, ProviderKey row.provider_key);
            if let Some(reference) = &mut row.reference {
                *reference = masks.hide_in_id(reference).into_owned();
            }
        }
        for row in self.webhooks.iter_mut().flatten() {
            hide_ids!(masks: ProviderRef row.provider_ref);
        }
        for row in self.settlements.iter_mut().flatten() {
            hide_ids!(masks: ProviderRef row.provider_ref);
        }
    }
}

/// The text without customers, whose masks are known. One of a letter or two is only meant where it stands alone.
fn without(text: &str, customers: &[(String, String)]) -> String {
    let mut text = text.to_owned();
    for (customer, mask) in customers {
        if customer.chars().count() >= 3 {
            text = outside_masks(&text, |part| part.replace(customer.as_str(), mask));
        } else if !customer.is_empty() {
            let alone = |part: &str| {
                let words = part.split_inclusive(|c: char| !c.is_alphanumeric());
                words
                    .map(|word| match word.strip_prefix(customer.as_str()) {
                        Some(rest) if !rest.starts_with(char::is_alphanumeric) => format!("{mask}{rest}"),
                        Some(_) | None => word.to_owned(),
                    })
                    .collect()
            };
            text = outside_masks(&text, alone);
        }
    }
    text
}

/// Changes a text, and leaves the masks in it as they are: a customer may be called `customer`.
fn outside_masks(text: &str, change: impl Fn(&str) -> String) -> String {
    let mut done = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<customer ") {
        done.push_str(&change(before));
        done.push_str("<customer ");
        match after.split_once('>') {
            Some((number, next)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                done.push_str(number);
                done.push('>');
                rest = next;
            }
            Some(_) | None => rest = after,
        }
    }
    done.push_str(&change(rest));
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::case::{PaymentRow, Transition};

    #[test]
    fn customers_keep_apart_and_are_not_named() {
        let row = |customer: &str| PaymentRow { customer: Some(customer.to_owned()), ..PaymentRow::default() };
        let case = Case {
            asked: Some("customer 90210-X, lan@example.test".to_owned()),
            payments: Some(vec![row("90210-X"), row("77"), row("90210-X")]),
            transitions: Some(vec![Transition {
                by: Some("api for lan@example.test".to_owned()),
                ..Transition::default()
            }]),
            ..Case::default()
        };
        let masked = case.masked();
        let customers: Vec<_> = masked.payments.iter().flatten().filter_map(|row| row.customer.clone()).collect();
        assert_eq!(customers, ["<customer 1>", "<customer 2>", "<customer 1>"]);
        let all = serde_json::to_string(&masked).expect("json");
        assert!(!all.contains("90210") && !all.contains("lan@"), "{all}");
        assert_eq!(masked.clone().masked(), masked, "twice is once");
    }

    fn masked(asked: &str, customers: &[&str]) -> (String, Vec<String>) {
        let rows =
            customers.iter().map(|one| PaymentRow { customer: Some((*one).to_owned()), ..PaymentRow::default() });
        let case = Case { asked: Some(asked.to_owned()), payments: Some(rows.collect()), ..Case::default() };
        let masked = case.masked();
        assert_eq!(masked.clone().masked(), masked, "twice is once");
        (masked.asked.unwrap(), masked.payments.into_iter().flatten().filter_map(|row| row.customer).collect())
    }

    #[test]
    fn awkward_customers_are_masked_whole_and_stay_apart() {
        let said = |asked: &str, customers: &[&str]| masked(asked, customers).0;
        assert_eq!(said("anna@x.test or anna", &["anna", "anna@x.test"]), "<customer 2> or <customer 1>");
        assert_eq!(said("77, not 177 or 778; 77", &["77"]), "<customer 1>, not 177 or 778; <customer 1>");
        assert_eq!(said("customer 12 and 1", &["customer", "12", "1"]), "<customer 1> <customer 2> and <customer 3>");
        assert_eq!(said("x", &[""]), "x");
        let mixed = masked("<customer 1> or dana", &["<customer 1>", "dana"]);
        assert_eq!(mixed.0, "<customer 1> or <customer 2>");
        assert_eq!(mixed.1, ["<customer 1>", "<customer 2>"], "a mask that was there is not given again");
    }

    #[test]
    fn an_address_in_an_id_is_hidden_everywhere_the_same() {
        use crate::domain::case::Charge;
        let case = Case {
            payments: Some(vec![PaymentRow { key: Some(Key::new("lan@example.test:7")), ..PaymentRow::default() }]),
            charges: Some(vec![Charge {
                provider_key: Some(ProviderKey::new("pay:lan@example.test:7")),
                provider_ref: Some(ProviderRef::new("4111111111111111")),
                ..Charge::default()
            }]),
            ..Case::default()
        };
        let all = serde_json::to_string(&case.masked()).expect("json");
        assert!(all.contains("\"<e-mail 1>:7\"") && all.contains("\"pay:<e-mail 1>:7\""), "{all}");
        assert!(all.contains("4111111111111111"), "a ref keeps its digits: {all}");
    }
}
