//! Path templates: where an id goes into a request, encoded so that it can only ever be an id.

use crate::domain::port::Query;

use super::adapter::KeyEncoding;

/// An id of the record that a look-up can ask by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id {
    /// The provider's own id for the charge.
    ProviderRef,
    /// The key the provider was sent.
    ProviderKey,
    /// Our payment.
    Payment,
    /// The order.
    Order,
}

impl Id {
    const ALL: [Self; 4] = [Self::ProviderRef, Self::ProviderKey, Self::Payment, Self::Order];

    /// The word between the braces.
    pub fn word(self) -> &'static str {
        match self {
            Self::ProviderRef => "provider_ref",
            Self::ProviderKey => "provider_key",
            Self::Payment => "payment",
            Self::Order => "order",
        }
    }

    fn of(self, query: &Query, encoding: KeyEncoding) -> Option<String> {
        match self {
            Self::ProviderRef => query.provider_ref.as_ref().map(|id| id.as_str().to_owned()),
            Self::ProviderKey => query.provider_key.as_ref().map(|id| encoding.sent(id)),
            Self::Payment => query.payment.as_ref().map(|id| id.as_str().to_owned()),
            Self::Order => query.order.as_ref().map(|id| id.as_str().to_owned()),
        }
    }
}

/// Which values a look-up may be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Any: percent-encoding is enough.
    Any,
    /// Letters, digits and a few signs: the value goes into a query language of the provider, where a
    /// quotation mark would change the question.
    Plain,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Id(Id),
}

/// `/v1/charges/{provider_ref}`, taken apart once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

/// Why a look-up is not asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotAsked {
    /// The record has no such id.
    Absent(Id),
    /// The id cannot be put into this request without changing its meaning.
    Unfit(Id),
}

impl Template {
    /// Reads a template; only the four ids may stand in braces.
    pub fn parse(text: &str) -> Result<Self, String> {
        if !text.starts_with('/') {
            return Err("a path starts with /, such as \"/v1/charges/{provider_ref}\"".to_owned());
        }
        if text.contains('#') || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err("a path has no spaces and no #".to_owned());
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((literal, after)) = rest.split_once('{') {
            let Some((word, tail)) = after.split_once('}') else {
                return Err("a { without its }".to_owned());
            };
            let Some(id) = Id::ALL.into_iter().find(|id| id.word() == word) else {
                let known: Vec<&str> = Id::ALL.into_iter().map(Id::word).collect();
                return Err(format!("{{{word}}} is not an id; known: {}", known.join(", ")));
            };
            pieces.push(Piece::Literal(literal.to_owned()));
            pieces.push(Piece::Id(id));
            rest = tail;
        }
        pieces.push(Piece::Literal(rest.to_owned()));
        let template = Self(pieces);
        if template.ids().next().is_none() {
            return Err("a look-up has to ask by an id, such as {provider_ref}".to_owned());
        }
        Ok(template)
    }

    /// The ids it asks by.
    pub fn ids(&self) -> impl Iterator<Item = Id> + '_ {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Id(id) => Some(*id),
            Piece::Literal(_) => None,
        })
    }

    /// The path and query to ask, every id percent-encoded.
    pub fn fill(&self, query: &Query, encoding: KeyEncoding, values: Values) -> Result<String, NotAsked> {
        let mut target = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Literal(text) => target.push_str(text),
                Piece::Id(id) => {
                    let value =
                        id.of(query, encoding).filter(|value| !value.is_empty()).ok_or(NotAsked::Absent(*id))?;
                    // A URL reader takes these for "here" and "one up", encoded or not.
                    let walks = value == "." || value == "..";
                    let odd = values == Values::Plain
                        && !value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:/@+=~".contains(c));
                    if walks || odd || value.chars().count() > 512 {
                        return Err(NotAsked::Unfit(*id));
                    }
                    encode(&value, &mut target);
                }
            }
        }
        Ok(target)
    }
}

/// Percent-encodes everything but the unreserved characters of RFC 3986.
pub fn encode(value: &str, into: &mut String) {
    const HEX: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or('0');
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            into.push(char::from(byte));
        } else {
            into.push('%');
            into.push(digit(byte >> 4));
            into.push(digit(byte & 15));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::{Operator, OrderId, PaymentId, ProviderKey, ProviderRef, RecordId};

    fn query(text: &str) -> Query {
        Query {
            id: RecordId::new("s", "k"),
            provider_ref: Some(ProviderRef::new(text)),
            provider_key: Some(ProviderKey::new(text)),
            payment: Some(PaymentId::new(text)),
            order: Some(OrderId::new(text)),
            money: None,
            operator: Operator::new("ada"),
        }
    }

    fn fill(path: &str, text: &str, encoding: KeyEncoding, values: Values) -> Result<String, NotAsked> {
        Template::parse(path).unwrap().fill(&query(text), encoding, values)
    }

    #[test]
    fn an_id_can_only_be_an_id() {
        let at = |text| fill("/v1/charges/{provider_ref}?x=1", text, KeyEncoding::Raw, Values::Any);
        assert_eq!(at("ch_1").unwrap(), "/v1/charges/ch_1?x=1");
        assert_eq!(
            at("../refunds?a=b#c&d e%2f\u{202e}").unwrap(),
            "/v1/charges/..%2Frefunds%3Fa%3Db%23c%26d%20e%252f%E2%80%AE?x=1"
        );
        for walks in [".", ".."] {
            assert_eq!(at(walks), Err(NotAsked::Unfit(Id::ProviderRef)));
        }
        assert_eq!(at(""), Err(NotAsked::Absent(Id::ProviderRef)));
    }

    #[test]
    fn a_quoted_key_is_another_key() {
        let at = |encoding| fill("/c?k={provider_key}", "k 1", encoding, Values::Any).unwrap();
        assert_eq!(at(KeyEncoding::Raw), "/c?k=k%201");
        assert_eq!(at(KeyEncoding::Quoted), "/c?k=%22k%201%22");
    }

    #[test]
    fn a_query_language_gets_plain_values_only() {
        let at = |text| fill("/s?q='{payment}'", text, KeyEncoding::Raw, Values::Plain);
        assert_eq!(at("pay_1").unwrap(), "/s?q='pay_1'");
        assert_eq!(at("x' OR status:'succeeded"), Err(NotAsked::Unfit(Id::Payment)));
    }

    #[test]
    fn templates_are_checked() {
        for bad in ["v1", "/v1/{customer}", "/v1/{order", "/v1/charges", "/v1/ {order}", "/{order}#x"] {
            assert!(Template::parse(bad).is_err(), "{bad}");
        }
        let ids: Vec<Id> = Template::parse("/{order}/{payment}").unwrap().ids().collect();
        assert_eq!(ids, [Id::Order, Id::Payment]);
    }
}
