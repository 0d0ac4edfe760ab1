//! The query contract as data: the fixed set of questions, what each is given and what it answers with.
//!
//! Owns the comparison with what a server says about a prepared statement. Knows no connection.

use std::fmt;

use crate::domain::triage::Cause;

mod cause;
mod columns;

use columns::{
    APPROVALS, BREACH, BREAKS, CHAIN, EVIDENCE, FOUND, LOG, OFFENDERS, OTHERS, PROVIDERS, PULSE, RATES, RECORD,
    RECORD_MORE, REPORTS, REQUESTS, TIMELINE,
};

/// A question the console knows. A profile answers it in `<word>.sql`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
    /// One line per signal and currency.
    Pulse,
    /// The oldest stuck records.
    Stuck,
    /// The oldest unresolved payments.
    Unknown,
    /// Requests per minute since a watermark.
    Rates,
    /// The watermark to start from.
    RatesStart,
    /// How the providers do.
    Providers,
    /// What the service's recoverer does.
    Recoverer,
    /// Who causes 409 and 422.
    Offenders,
    /// One record whole.
    Record,
    /// The stored evidence of one record.
    Evidence,
    /// Everything known about one record in time order.
    Timeline,
    /// Any id a person may have.
    Find,
    /// Payments of an amount within a time.
    FindPaid,
    /// What our books know of an order, for a support case.
    Case,
    /// Who else, for one cause of a double charge. There is none for [`Cause::Unknown`].
    Others(Cause),
    /// What changed around the start.
    Changes,
    /// The newest rows of the action log.
    Log,
    /// The action log whole, as its hash chain is over it.
    Chain,
    /// What came of one intent.
    Outcome,
    /// Where we are, as the database knows it.
    Environment,
    /// Rights beyond what the console needs.
    Rights,
    /// What was handed over and not taken up.
    HandedOver,
    /// Settlement reports that were loaded.
    Reports,
    /// Where they and the books disagree.
    Breaks,
    /// Plans that wait, or waited, for a second person.
    Approvals,
    /// Records handed back to the recoverer, and what became of them.
    Requests,
}

impl Question {
    /// All of them.
    pub const ALL: [Self; 34] = [
        Self::Pulse,
        Self::Stuck,
        Self::Unknown,
        Self::Rates,
        Self::RatesStart,
        Self::Providers,
        Self::Recoverer,
        Self::Offenders,
        Self::Record,
        Self::Evidence,
        Self::Timeline,
        Self::Find,
        Self::FindPaid,
        Self::Case,
        Self::Others(Cause::KeyExpired),
        Self::Others(Cause::RecordDeleted),
        Self::Others(Cause::TimeoutMarkedFailed),
        Self::Others(Cause::LeaseTooShort),
        Self::Others(Cause::UnstableProviderKey),
        Self::Others(Cause::NoProviderKey),
        Self::Others(Cause::NewKeyPerAttempt),
        Self::Others(Cause::ChargeWithoutPayment),
        Self::Others(Cause::GlobalKey),
        Self::Changes,
        Self::Log,
        Self::Chain,
        Self::Outcome,
        Self::Environment,
        Self::Rights,
        Self::HandedOver,
        Self::Reports,
        Self::Breaks,
        Self::Approvals,
        Self::Requests,
    ];

    /// The name of its file, without `.sql`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pulse => "get_pulse",
            Self::Stuck => "get_stuck",
            Self::Unknown => "get_unknown",
            Self::Rates => "get_rates",
            Self::RatesStart => "get_rates_start",
            Self::Providers => "get_providers",
            Self::Recoverer => "get_recoverer",
            Self::Offenders => "get_offenders",
            Self::Record => "get_record",
            Self::Evidence => "get_evidence",
            Self::Timeline => "get_timeline",
            Self::Find => "get_find",
            Self::FindPaid => "get_find_paid",
            Self::Case => "get_case",
            Self::Others(cause) => cause::others(cause),
            Self::Changes => "get_changes",
            Self::Log => "get_log",
            Self::Chain => "get_chain",
            Self::Outcome => "get_outcome",
            Self::Environment => "get_environment",
            Self::Rights => "get_rights",
            Self::HandedOver => "get_handed_over",
            Self::Reports => "get_reports",
            Self::Breaks => "get_breaks",
            Self::Approvals => "get_approvals",
            Self::Requests => "get_requests",
        }
    }

    /// Reads the name of a file without `.sql`.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|question| question.word() == word)
    }

    /// What it is given and what it answers with.
    pub fn signature(self) -> Signature {
        let (given, answers): (&str, &[&str]) = match self {
            Self::Pulse => ("stuck_after_s int8, outbox_limit_s int8", &[PULSE]),
            Self::Stuck => ("stuck_after_s int8, limit int8", &[RECORD]),
            Self::Unknown => ("limit int8", &[RECORD]),
            Self::Rates => ("after_id int8, limit int8", &[RATES]),
            Self::RatesStart => ("minutes int8", &["start_id int8"]),
            Self::Providers => ("since timestamptz", &[PROVIDERS]),
            Self::Recoverer => ("", &["last_at timestamptz?, last_what text?, next_at timestamptz?"]),
            Self::Offenders => ("since timestamptz, limit int8", &[OFFENDERS]),
            Self::Record => ("scope text, key text", &[RECORD, RECORD_MORE]),
            Self::Evidence => ("scope text, key text, limit int8", &[EVIDENCE]),
            Self::Timeline => ("scope text, key text, limit int8", &[TIMELINE]),
            Self::Find => ("id text, limit int8", &[FOUND]),
            Self::FindPaid => ("amounts jsonb, from timestamptz, to timestamptz, limit int8", &[FOUND]),
            Self::Others(_) => ("since timestamptz, limit int8, retention_s int8", &[OTHERS]),
            Self::Case => ("scope text, key text, limit int8", &["source text, data jsonb?"]),
            Self::Changes => ("since timestamptz, limit int8", &["at timestamptz, kind text, what text, who text?"]),
            Self::Log => ("limit int8", &[LOG]),
            Self::Chain => ("after_id int8, limit int8", &[CHAIN]),
            Self::Outcome => ("intent_id int8", &[LOG]),
            Self::Environment => ("", &["name text, kind text"]),
            Self::Rights => ("", &["right text, on_what text"]),
            Self::HandedOver => {
                ("limit int8", &["scope text, key text, owner text?, by text, at timestamptz, note text"])
            }
            Self::Reports => ("limit int8", &[REPORTS]),
            Self::Breaks => ("limit int8", &[BREAKS]),
            Self::Approvals => ("limit int8", &[APPROVALS]),
            Self::Requests => ("limit int8", &[REQUESTS]),
        };
        Signature::new(given, answers)
    }
}

/// What every rule is given and answers with.
pub fn rule_signature() -> Signature {
    Signature::new("since timestamptz, policy jsonb", &[BREACH])
}

/// What every guarded function is given and answers with.
pub fn call_signature() -> Signature {
    Signature::new("order jsonb", &["outcome text, why text?, log_id int8?, version text?, read_back jsonb?"])
}

/// The types the contract uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// `text`; `varchar`, `bpchar` and `name` are read the same way.
    Text,
    /// `int4`
    Int4,
    /// `int8`
    Int8,
    /// `float8`
    Float8,
    /// `bool`
    Bool,
    /// `timestamptz`
    Timestamptz,
    /// `jsonb`
    Jsonb,
}

impl Type {
    const ALL: [Self; 7] =
        [Self::Text, Self::Int4, Self::Int8, Self::Float8, Self::Bool, Self::Timestamptz, Self::Jsonb];

    /// PostgreSQL's word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Int4 => "int4",
            Self::Int8 => "int8",
            Self::Float8 => "float8",
            Self::Bool => "bool",
            Self::Timestamptz => "timestamptz",
            Self::Jsonb => "jsonb",
        }
    }

    /// Whether the server's word means it.
    fn is(self, found: &str) -> bool {
        self.word() == found || (self == Self::Text && ["varchar", "bpchar", "name"].contains(&found))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A parameter or a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name. Parameters have one only for messages.
    pub name: &'static str,
    /// Its type.
    pub kind: Type,
    /// Whether it may be absent.
    pub null: Null,
}

/// Whether a column may be absent. The server does not tell; reading a row does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Null {
    /// Always there.
    Never,
    /// May be NULL.
    Maybe,
}

/// What a statement is given and answers with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The parameters `$1`, `$2` … A file may leave out the last ones.
    pub parameters: Vec<Field>,
    /// The columns, in order.
    pub columns: Vec<Field>,
}

impl Signature {
    fn new(parameters: &'static str, columns: &[&'static str]) -> Self {
        Self { parameters: fields(parameters), columns: columns.iter().flat_map(|list| fields(list)).collect() }
    }
}

/// Reads `name type, name type? …`. What is not readable is left out, and a test says so.
fn fields(list: &'static str) -> Vec<Field> {
    list.split(',')
        .filter_map(|field| {
            let (name, word) = field.trim().split_once(' ')?;
            let null = if word.ends_with('?') { Null::Maybe } else { Null::Never };
            let kind = Type::ALL.into_iter().find(|kind| kind.word() == word.trim_end_matches('?'))?;
            Some(Field { name, kind, null })
        })
        .collect()
}

/// What a server says about a prepared statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Described {
    /// The types of the parameters, in PostgreSQL's words, lower case.
    pub parameters: Vec<String>,
    /// Name and type of the columns.
    pub columns: Vec<(String, String)>,
}

/// A file that does not answer as the contract says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: column {column} is {found}, the contract says {expected}")]
pub struct Mismatch {
    /// The file.
    pub file: String,
    /// The column, or `$2`.
    pub column: String,
    /// What the contract says.
    pub expected: String,
    /// What the server says.
    pub found: String,
}

/// Compares; the first difference counts.
pub fn compare(file: &str, signature: &Signature, described: &Described) -> Result<(), Mismatch> {
    let wrong = |column: String, expected: &str, found: &str| Mismatch {
        file: file.to_owned(),
        column,
        expected: expected.to_owned(),
        found: found.to_owned(),
    };
    for (place, found) in described.parameters.iter().enumerate() {
        let name = format!("${}", place.saturating_add(1));
        match signature.parameters.get(place) {
            Some(expected) if expected.kind.is(found) => {}
            Some(expected) => return Err(wrong(name, expected.kind.word(), found)),
            None => return Err(wrong(name, "absent", found)),
        }
    }
    for (place, expected) in signature.columns.iter().enumerate() {
        match described.columns.get(place) {
            Some((name, kind)) if name == expected.name && expected.kind.is(kind) => {}
            Some((name, kind)) if name == expected.name => {
                return Err(wrong(expected.name.to_owned(), expected.kind.word(), kind));
            }
            Some((name, kind)) => {
                let found = format!("{name} {kind}");
                return Err(wrong(
                    format!("{} ({})", place.saturating_add(1), expected.name),
                    &format!("{} {}", expected.name, expected.kind),
                    &found,
                ));
            }
            None => {
                return Err(wrong(expected.name.to_owned(), expected.kind.word(), "absent"));
            }
        }
    }
    match described.columns.get(signature.columns.len()) {
        Some((name, kind)) => Err(wrong(name.clone(), "absent", kind)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(signature: &Signature) -> Described {
        Described {
            parameters: signature.parameters.iter().map(|field| field.kind.to_string()).collect(),
            columns: signature.columns.iter().map(|f| (f.name.to_owned(), f.kind.to_string())).collect(),
        }
    }

    #[test]
    fn every_line_of_the_contract_is_read_whole() {
        for question in Question::ALL {
            assert_eq!(Question::from_word(question.word()), Some(question));
            let signature = question.signature();
            assert_eq!(compare("f", &signature, &described(&signature)), Ok(()));
        }
        let counts = |list: &'static str| (fields(list).len(), list.split(',').count());
        for list in
            [RECORD, RECORD_MORE, PULSE, RATES, PROVIDERS, OFFENDERS, EVIDENCE, LOG, CHAIN, BREACH, APPROVALS, REQUESTS]
        {
            let (read, written) = counts(list);
            assert_eq!(read, written, "{list}");
        }
        assert_eq!(Question::Record.signature().columns.len(), 26);
        assert_eq!(call_signature().columns.len(), 5);
    }

    #[test]
    fn a_difference_names_file_column_and_both_types() {
        let signature = Question::Changes.signature();
        let mut other = described(&signature);
        other.columns[0].1 = "timestamp".to_owned();
        assert_eq!(
            compare("mine/get_changes.sql", &signature, &other).unwrap_err().to_string(),
            "mine/get_changes.sql: column at is timestamp, the contract says timestamptz"
        );
        let mut fewer = described(&signature);
        fewer.columns.pop();
        assert_eq!(compare("f", &signature, &fewer).unwrap_err().found, "absent");
        let mut more = described(&signature);
        more.columns.push(("x".to_owned(), "text".to_owned()));
        assert_eq!(compare("f", &signature, &more).unwrap_err().column, "x");
        let mut swapped = described(&signature);
        swapped.columns.swap(1, 2);
        assert_eq!(compare("f", &signature, &swapped).unwrap_err().column, "2 (kind)");
    }

    #[test]
    fn trailing_parameters_may_be_left_out_but_not_added_or_changed() {
        let signature = Question::Pulse.signature();
        let mut other = described(&signature);
        other.parameters.pop();
        assert_eq!(compare("f", &signature, &other), Ok(()));
        other.parameters = vec!["int4".to_owned()];
        assert_eq!(compare("f", &signature, &other).unwrap_err().column, "$1");
        other.parameters = vec!["int8".to_owned(), "int8".to_owned(), "int8".to_owned()];
        assert_eq!(compare("f", &signature, &other).unwrap_err().expected, "absent");
    }

    #[test]
    fn kinds_of_text_are_text() {
        assert!(Type::Text.is("varchar") && Type::Text.is("name") && !Type::Text.is("uuid"));
        assert!(!Type::Int8.is("int4"));
    }
}
