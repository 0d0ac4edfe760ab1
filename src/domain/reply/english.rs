//! What a customer is told in English.

use super::Message;

/// One paragraph. `amount`: what was taken once, with its currency.
pub(super) fn say(message: Message, amount: Option<String>) -> String {
    let once = amount
        .map_or_else(|| "You were charged once.".to_owned(), |amount| format!("You were charged once, {amount}."));
    match message {
        Message::Once => format!("{once} We found no second charge for this purchase."),
        Message::Hold => format!(
            "{once} The other line on your statement is a reservation. No money was taken for it, and your bank removes \
             it by itself; how soon depends on your bank."
        ),
        Message::Declined => format!(
            "{once} An earlier attempt was declined, and no money was taken for it. If your bank still shows it, it is a \
             reservation that your bank removes by itself."
        ),
        Message::Refunded => format!(
            "{once} The other amount was already given back. How soon it shows on your statement depends on your bank."
        ),
        Message::ShownTwice => {
            format!("{once} The payment was confirmed to you more than once, but it is one payment and one charge.")
        }
        Message::Twice => {
            "You are right: we see more than one charge for this purchase. We are sorry. Our payments team \
            is looking into it now, and we will write to you as soon as we know more. Please do not pay again."
                .to_owned()
        }
        Message::Nothing => {
            "We found no charge for this purchase: no money stands taken. If your bank shows an amount, \
            it is a reservation or a payment that was given back, and your bank removes it by itself."
                .to_owned()
        }
        Message::TwoOrders => "We found two separate purchases, and each was charged once. If you meant to buy only \
            once, please tell us, and we will look at the orders with you."
            .to_owned(),
        Message::PaidNotShown => {
            "We found your payment. It was charged once, and our own system does not show it yet. \
            Our payments team is correcting that. Please do not pay again."
                .to_owned()
        }
        Message::Checking => {
            "Thank you for telling us. We cannot yet say for certain what was charged, so our payments \
            team is checking it with the payment provider. We will write to you as soon as we know. Please do not pay \
            again until then."
                .to_owned()
        }
    }
}
