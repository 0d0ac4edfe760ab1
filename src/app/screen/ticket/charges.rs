//! What the customer sees on the statement, beside what our books say about each line.

use crate::domain::case::{Case, Charge, PaymentRow, money};
use crate::domain::evidence::Class;
use crate::domain::ids::PaymentId;
use crate::domain::money::Money;
use crate::domain::time::Instant;
use crate::ui::wide::{Align, Keep, fit};
use crate::ui::{Charset, Line, Role};

/// Columns of amount, time, what it is and our books; the reference has the rest.
const WIDTHS: (usize, usize, usize, usize) = (15, 16, 20, 11);
/// Rows shown; a case may have hundreds.
const MOST: usize = 20;

/// The table; what the provider was not asked is said so.
pub fn lines(case: &Case, width: usize, charset: Charset) -> Vec<Line> {
    let row = |cells: [&str; 5], role: Role, keep: Keep| {
        let rest = width.saturating_sub(WIDTHS.0 + WIDTHS.1 + WIDTHS.2 + WIDTHS.3 + 11).max(6);
        let cell = |text: &str, width, align, keep| fit(text, width, align, keep, charset);
        let [amount, at, what, books, reference] = cells;
        Line::of(Role::Normal, "   ")
            .and(role, cell(amount, WIDTHS.0, Align::Left, Keep::Start))
            .then("  ")
            .and(role, cell(at, WIDTHS.1, Align::Left, Keep::Start))
            .then("  ")
            .and(role, cell(what, WIDTHS.2, Align::Left, Keep::Start))
            .then("  ")
            .and(role, cell(books, WIDTHS.3, Align::Left, Keep::Start))
            .then("  ")
            .and(role, cell(reference, rest, Align::Left, keep))
    };
    let mut lines =
        vec![row(["CUSTOMER SEES", "WHEN (UTC)", "WHAT IT IS", "OUR BOOKS", "PROVIDER"], Role::Heading, Keep::Start)];
    let Some(charges) = &case.charges else {
        lines.push(
            Line::of(Role::Unknown, " ? NOT KNOWN  ")
                .then("the provider was not asked, or did not answer: ")
                .and(Role::Key, "a l")
                .then(" asks it, and charges nothing."),
        );
        for payment in case.payments.iter().flatten().take(MOST) {
            let amount = shown(money(payment.amount, payment.currency.as_ref()));
            let status = payment.status.as_ref().map_or_else(|| "NOT KNOWN".to_owned(), ToString::to_string);
            let reference = payment.provider_ref.as_ref().map_or("-", |reference| reference.as_str());
            lines.push(row(
                [&amount, &moment(payment.created_at), "NOT KNOWN", &status, reference],
                Role::Normal,
                Keep::End,
            ));
        }
        return lines;
    };
    if charges.is_empty() {
        lines.push(Line::plain("   The provider knows no charge for it."));
    }
    for charge in charges.iter().take(MOST) {
        let amount = shown(money(charge.captured.filter(|c| *c > 0).or(charge.amount), charge.currency.as_ref()));
        let (role, what) = what(charge);
        let reference = charge.provider_ref.as_ref().map_or("-", |reference| reference.as_str());
        lines.push(row([&amount, &moment(charge.created_at), &what, &books(case, charge), reference], role, Keep::End));
    }
    if charges.len() > MOST {
        let more = charges.len().saturating_sub(MOST);
        lines.push(Line::of(Role::Dim, format!("   … {more} more; e exports all of them.")));
    }
    lines
}

fn shown(money: Option<Money>) -> String {
    money.map_or_else(|| "NOT KNOWN".to_owned(), |money| money.to_string())
}

/// Day and time; a time of day alone would not tell two days apart.
fn moment(at: Option<Instant>) -> String {
    at.map_or_else(|| "NOT KNOWN".to_owned(), |at| at.format("%m-%d %H:%M:%SZ").to_string())
}

/// What a charge is to a customer.
fn what(charge: &Charge) -> (Role, String) {
    let given_back = charge.refunded.unwrap_or(0) > 0;
    let (role, word) = match charge.class {
        Some(Class::Succeeded) if given_back => (Role::Caution, "taken, part returned"),
        Some(Class::Succeeded) => (Role::Heading, "taken"),
        Some(Class::Authorised) => (Role::Dim, "hold, not taken"),
        Some(Class::Pending) => (Role::Caution, "not final yet"),
        Some(Class::Open) => (Role::Dim, "waits for customer"),
        Some(Class::Failed) => (Role::Dim, "declined, not taken"),
        Some(Class::Reversed) => (Role::Dim, "given back"),
        Some(Class::Unrecognised) | None => (Role::Unknown, "NOT KNOWN"),
    };
    (role, word.to_owned())
}

/// What our books say about a charge.
fn books(case: &Case, charge: &Charge) -> String {
    let Some(payments) = &case.payments else { return "NOT KNOWN".to_owned() };
    let same = |payment: &&PaymentRow| {
        let by_ref = payment.provider_ref.is_some() && payment.provider_ref == charge.provider_ref;
        let by_name = |ours: Option<&str>| ours.is_some() && ours == charge.reference.as_deref();
        // Our provider keys end with our own.
        let by_key = payment.provider_ref.is_none()
            && matches!((&charge.provider_key, &payment.key), (Some(theirs), Some(ours))
                if !ours.as_str().is_empty() && theirs.as_str().ends_with(ours.as_str()));
        by_ref || by_name(payment.id.as_ref().map(PaymentId::as_str)) || by_key
    };
    let ours = payments.iter().find(same).and_then(|payment| payment.status.as_ref());
    ours.map_or_else(|| "no payment".to_owned(), ToString::to_string)
}
