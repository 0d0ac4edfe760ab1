//! A key without a scope: an answer that belongs to one tenant reached another. Charged or not, it is a data leak.

use std::collections::{BTreeSet, HashMap};

use super::books::Books;
use super::cause::at;
use crate::domain::case::Request;
use crate::domain::ids::{Key, PaymentId, Scope};

/// Who used each key, by what shows it.
struct Users<'a> {
    /// Whose the payments are.
    payments: HashMap<&'a PaymentId, &'a Scope>,
    /// In whose scope something of a key is stored: a record, a payment, or an answer that was made and not replayed.
    stored: HashMap<&'a Key, BTreeSet<&'a Scope>>,
}

/// The first leak across scopes, in one sentence.
pub(super) fn find(books: &Books<'_>) -> Option<String> {
    let mut requests: Vec<&Request> = books.case.requests.iter().flatten().collect();
    requests.sort_by_key(|request| (request.at, &request.scope, &request.key));
    let users = Users::of(books);
    let sources = books.case.records.is_some() || books.case.payments.is_some();
    requests.into_iter().find_map(|request| {
        let scope = request.scope.as_ref()?;
        let from = users.logged(request).or_else(|| users.unlogged(request).filter(|_| sources))?;
        (from != scope).then(|| {
            format!(
                "The request of {scope} at {}{} was answered with what belongs to {from}: keys were looked up without \
                 their scope.",
                at(request.at),
                request.key.as_ref().map(|key| format!(" with key {key}")).unwrap_or_default(),
            )
        })
    })
}

impl<'a> Users<'a> {
    fn of(books: &Books<'a>) -> Self {
        let case = books.case;
        let mut users = Self { payments: HashMap::new(), stored: HashMap::new() };
        for row in case.payments.iter().flatten() {
            if let (Some(id), Some(scope)) = (&row.id, &row.scope) {
                users.payments.entry(id).or_insert(scope);
            }
        }
        let records = case.records.iter().flatten().map(|row| (row.key.as_ref(), row.scope.as_ref()));
        let payments = case.payments.iter().flatten().map(|row| (row.key.as_ref(), row.scope.as_ref()));
        // Its record may have expired since: an answer made for it shows that there was one.
        let made =
            |row: &&Request| row.replayed != Some(true) && row.status.is_some_and(|code| (200..300).contains(&code));
        let requests = case.requests.iter().flatten().filter(made).map(|row| (row.key.as_ref(), row.scope.as_ref()));
        for (key, scope) in records.chain(payments).chain(requests) {
            if let (Some(key), Some(scope)) = (key, scope) {
                users.stored.entry(key).or_default().insert(scope);
            }
        }
        users
    }

    /// Whose the answer was, where the service logs it.
    fn logged(&self, request: &'a Request) -> Option<&'a Scope> {
        let of_payment = || request.answered_payment.as_ref().and_then(|of| self.payments.get(of).copied());
        request.answered_scope.as_ref().or_else(of_payment)
    }

    /// Nobody logged it: a stored answer, and nothing stored under this scope.
    fn unlogged(&self, request: &'a Request) -> Option<&'a Scope> {
        let stored = self.stored.get(request.key.as_ref()?)?;
        let mine = request.scope.as_ref().is_some_and(|scope| stored.contains(scope));
        (request.replayed == Some(true) && !mine).then(|| stored.first().copied()).flatten()
    }
}
