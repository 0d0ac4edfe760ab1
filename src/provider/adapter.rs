//! What a provider's file declares: where to ask, how to read the answer, and what it proves.
//!
//! Owns the checked form of an adapter; [`super::file`] reads it, [`super::http`] carries it out.
//! Holds the *name* of the variable with the secret, never the secret.

use std::collections::BTreeMap;

use crate::domain::evidence::Class;
use crate::domain::ids::{ProviderKey, ProviderName};
use crate::domain::policy::ProviderTerms;

use super::amount::Counting;
use super::json::Pointer;
use super::template::{Id, Template, Values};

/// One provider, as declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adapter {
    /// The provider as the payment service writes it in its records.
    pub name: ProviderName,
    /// Where it is; `None` when it has to be given at run time.
    pub address: Option<String>,
    /// How it knows us; `None` when it asks for nothing.
    pub auth: Option<Auth>,
    /// Where the fields of a charge stand in its answers.
    pub fields: Fields,
    /// What its status words mean; any other word is unrecognised, never final.
    pub words: BTreeMap<String, Class>,
    /// How it writes amounts.
    pub counting: Counting,
    /// How the payment service's key stands in the provider's header.
    pub key_encoding: KeyEncoding,
    /// The look-ups, in the order they are made.
    pub look_ups: Vec<LookUp>,
    /// What the provider promises about keys and delays.
    pub terms: ProviderTerms,
}

impl Adapter {
    /// The same adapter under the name the service uses.
    #[must_use]
    pub fn named(mut self, name: ProviderName) -> Self {
        self.name = name;
        self
    }

    /// The same adapter at another address: the lab's, a test account's.
    #[must_use]
    pub fn at(mut self, address: impl Into<String>) -> Self {
        self.address = Some(address.into());
        self
    }

    /// The same adapter with its secret in another variable.
    #[must_use]
    pub fn secret_from(mut self, variable: impl Into<String>) -> Self {
        if let Some(auth) = &mut self.auth {
            auth.variable = variable.into();
        }
        self
    }
}

/// How a provider knows us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Auth {
    /// The environment variable with the secret.
    pub variable: String,
    /// The header it goes into.
    pub header: String,
    /// What stands before it there.
    pub prefix: String,
    /// How a secret may not begin: full keys that could do more than read.
    pub refused: Vec<String>,
}

/// Where the fields of a charge stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fields {
    /// The provider's id.
    pub provider_ref: Pointer,
    /// Our payment, as it was sent along.
    pub reference: Option<Pointer>,
    /// The order, as it was sent along.
    pub order: Option<Pointer>,
    /// The idempotency key.
    pub provider_key: Option<Pointer>,
    /// The status word.
    pub status: Pointer,
    /// What was asked for.
    pub amount: Pointer,
    /// What was captured.
    pub captured: Option<Pointer>,
    /// What was given back.
    pub refunded: Option<Pointer>,
    /// The currency.
    pub currency: Pointer,
    /// When it was made: unix seconds or RFC 3339.
    pub created: Option<Pointer>,
    /// Test or live: true/false, or the words live/test.
    pub live: Option<Pointer>,
}

/// How a key stands in the provider's header. `"k"` and `k` are two keys to a provider that takes
/// the header as it comes, so the service's habit has to be declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyEncoding {
    /// As it is.
    Raw,
    /// In quotation marks.
    Quoted,
}

impl KeyEncoding {
    /// The key as the provider was sent it.
    pub fn sent(self, key: &ProviderKey) -> String {
        match self {
            Self::Raw => key.as_str().to_owned(),
            Self::Quoted => format!("\"{}\"", key.as_str()),
        }
    }

    /// The key behind what the provider stores. Without its quotation marks a quoted key is another key.
    pub fn read(self, stored: String) -> ProviderKey {
        match self {
            Self::Raw => ProviderKey::new(stored),
            Self::Quoted => stored
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'))
                .map_or_else(|| ProviderKey::new(format!("{stored} (sent without quotation marks)")), ProviderKey::new),
        }
    }
}

/// One way to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookUp {
    /// Its name in steps and reasons: "by key".
    pub name: String,
    /// What is asked.
    pub path: Template,
    /// Which values it may be asked about.
    pub values: Values,
    /// One charge or a list.
    pub shape: Shape,
    /// The id every hit is checked against on our side.
    pub matched: Id,
    /// Whether a charge that exists is always in the answer.
    pub consistency: Consistency,
    /// The answer that truly means "no such object"; any other 404 may be a missing route.
    pub absent: Option<NoSuchObject>,
}

/// The shape of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// The charge itself.
    One,
    /// A list of charges.
    List {
        /// Where the list stands.
        items: Pointer,
        /// How to get the rest. Without it nothing says that the list is whole.
        paging: Option<Paging>,
    },
}

/// How to get the rest of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paging {
    /// Where the answer says whether there is more; without it a cursor means more.
    pub more: Option<Pointer>,
    /// What the next page is asked by.
    pub cursor: Cursor,
    /// The parameter it goes into.
    pub parameter: String,
}

/// What the next page is asked by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cursor {
    /// The ref of the last charge of this page.
    LastRef,
    /// A value in the answer.
    At(Pointer),
}

/// Whether a look-up can miss a charge that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consistency {
    /// It cannot.
    Strong,
    /// A search index: it lags behind.
    Search,
}

/// The answer that means "no such object".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoSuchObject {
    /// The HTTP status.
    pub status: u16,
    /// Where in the body.
    pub pointer: Pointer,
    /// What stands there.
    pub value: String,
}
