//! A key without a scope: an answer that belongs to one tenant reached another. Charged or not, it is a data leak.

use super::books::Books;
use super::cause::at;
use crate::domain::case::Request;
use crate::domain::ids::Scope;

/// The first leak across scopes, in one sentence.
pub(super) fn find(books: &Books<'_>) -> Option<String> {
    let requests = books.case.requests.as_deref().unwrap_or_default();
    requests.iter().find_map(|request| {
        let scope = request.scope.as_ref()?;
        let from = answered_by(books, request, scope)?;
        Some(format!(
            "The request of {scope} at {}{} was answered with what belongs to {from}: keys were looked up without their scope.",
            at(request.at),
            request.key.as_ref().map(|key| format!(" with key {key}")).unwrap_or_default(),
        ))
    })
}

/// The other scope whose answer this request got.
fn answered_by(books: &Books<'_>, request: &Request, scope: &Scope) -> Option<Scope> {
    if let Some(from) = &request.answered_scope {
        return (from != scope).then(|| from.clone());
    }
    if let Some(of) = &request.answered_payment {
        let payment = books.case.payments.as_deref()?.iter().find(|payment| payment.id.as_ref() == Some(of));
        if let Some(from) = payment.and_then(|payment| payment.scope.as_ref()) {
            return (from != scope).then(|| from.clone());
        }
    }
    // Nobody logged it: a stored answer, and nothing stored under this scope.
    let key = request.key.as_ref()?;
    if request.replayed != Some(true) {
        return None;
    }
    let records = books.case.records.as_deref()?;
    let mine = records.iter().any(|record| record.key.as_ref() == Some(key) && record.scope.as_ref() == Some(scope));
    let paid = books.case.payments.as_deref().unwrap_or_default();
    let paid = paid.iter().any(|payment| payment.key.as_ref() == Some(key) && payment.scope.as_ref() == Some(scope));
    let theirs = records.iter().find(|record| record.key.as_ref() == Some(key) && record.scope.as_ref() != Some(scope));
    if mine || paid { None } else { theirs.and_then(|record| record.scope.clone()) }
}
