//! A case that may leave: customers masked, and whatever else in its texts names a person or opens a door.

use std::collections::BTreeMap;

use super::Case;
use crate::domain::mask::Masks;

impl Case {
    /// The same case with its customers masked. One customer has one mask, so that two stay two.
    #[must_use]
    pub fn masked(mut self) -> Self {
        let mut masks = Masks::default();
        let mut customers: BTreeMap<String, String> = BTreeMap::new();
        for payment in self.payments.iter_mut().flatten() {
            if let Some(customer) = &mut payment.customer {
                let number = customers.len().saturating_add(1);
                let mask = customers.entry(customer.clone()).or_insert_with(|| format!("<customer {number}>"));
                mask.clone_into(customer);
            }
        }
        // What support typed may be the customer's id alone, which no pattern knows.
        for text in [&mut self.about, &mut self.asked].into_iter().flatten() {
            for (customer, mask) in &customers {
                if customer.chars().count() >= 3 {
                    *text = text.replace(customer.as_str(), mask);
                }
            }
            *text = masks.hide(text).into_owned();
        }
        let said = self.transitions.iter_mut().flatten().filter_map(|change| change.by.as_mut());
        let paths = self.requests.iter_mut().flatten().filter_map(|request| request.path.as_mut());
        for text in said.chain(paths) {
            *text = masks.hide(text).into_owned();
        }
        self
    }
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
}
