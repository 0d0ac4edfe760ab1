//! A customer's question as a recording has it: what happened, and nobody's name.
//!
//! The judge compares customers, so two of them stay two; which ones they were is gone.

use super::typed::stand_in;
use crate::app::msg::TicketMsg;
use crate::domain::case::Case;

/// An answer for the ticket screen without people's words.
pub(super) fn of_heard(heard: &mut TicketMsg) {
    match heard {
        TicketMsg::Found(_, Ok(candidates)) => {
            for candidate in candidates {
                candidate.why = matched(&candidate.why);
            }
        }
        TicketMsg::Case(_, Ok(Some(case))) => of_case(case),
        TicketMsg::Found(_, Err(_)) | TicketMsg::Case(_, Ok(None) | Err(_)) | TicketMsg::Others(..) => {}
    }
}

/// Why a candidate matched may repeat what the customer gave, after the first words.
fn matched(why: &str) -> String {
    match why.split_once(' ') {
        Some((what, rest)) => format!("{what} {}", stand_in(rest)),
        None => why.to_owned(),
    }
}

fn of_case(case: &mut Case) {
    for words in [&mut case.about, &mut case.asked] {
        *words = words.as_deref().map(stand_in);
    }
    let mut met: Vec<String> = Vec::new();
    for payment in case.payments.iter_mut().flatten() {
        let Some(customer) = &mut payment.customer else { continue };
        let nth = met.iter().position(|known| known == customer).unwrap_or_else(|| {
            met.push(customer.clone());
            met.len().saturating_sub(1)
        });
        *customer = format!("<customer {}>", nth.saturating_add(1));
    }
}
