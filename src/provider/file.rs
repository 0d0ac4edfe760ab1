//! Reads an adapter's TOML file. Every mistake is reported, each with its line.

mod look_up;

use std::collections::BTreeMap;

use crate::domain::evidence::Class;
use crate::domain::ids::ProviderName;
use crate::domain::policy::ProviderTerms;

use super::adapter::{Adapter, Auth, Fields, KeyEncoding, LookUp};
use super::address;
use super::amount::{Counting, Notation};
use super::declared::{Mistake, Reading, Section};
use super::json::Pointer;

/// Reads the text of an adapter file.
pub fn read(text: &str) -> Result<Adapter, Vec<Mistake>> {
    let reading = Reading::new(text);
    let adapter = adapter(reading.top());
    let mistakes = reading.mistakes();
    match adapter {
        Some(adapter) if mistakes.is_empty() => Ok(adapter),
        Some(_) | None => Err(mistakes),
    }
}

/// Reads every part before any missing one ends it, so that all mistakes are seen.
fn adapter(mut top: Section<'_>) -> Option<Adapter> {
    let name = top.required("name");
    let address = top.parsed("base_url", |text| address::check(text).map(|_| text.to_owned()));
    let counting = counting(&mut top);
    let key_encoding = top
        .parsed("key_encoding", |word| one_of(word, &[("raw", KeyEncoding::Raw), ("quoted", KeyEncoding::Quoted)]))
        .map_or(KeyEncoding::Raw, |found| *found.get_ref());
    let terms = ProviderTerms {
        key_retention: top.length("key_retention").map(|found| *found.get_ref()),
        settle: top.length("settle").map(|found| *found.get_ref()).unwrap_or_default(),
    };
    let auth = top.section("auth").and_then(auth);
    let fields = required_section(&mut top, "fields").and_then(fields);
    let words = required_section(&mut top, "status").map(words);
    let absent = top.section("not_found").and_then(look_up::no_such_object);
    let declared = top.sections("lookup");
    if declared.is_empty() {
        top.wrong(&top.place(), "at least one [[lookup]] is needed");
    }
    let look_ups: Vec<LookUp> =
        declared.into_iter().filter_map(|section| look_up::read(section, absent.as_ref())).collect();
    top.close();
    Some(Adapter {
        name: ProviderName::new(name?.into_inner()),
        address: address.map(toml::Spanned::into_inner),
        auth,
        fields: fields?,
        words: words?,
        counting: counting?,
        key_encoding,
        look_ups,
        terms,
    })
}

fn required_section<'r>(top: &mut Section<'r>, key: &'static str) -> Option<Section<'r>> {
    let found = top.section(key);
    if found.is_none() {
        top.wrong(&top.place(), format!("the section [{key}] is missing"));
    }
    found
}

/// The value of a word, or a mistake that lists the words.
fn one_of<T: Copy>(word: &str, known: &[(&str, T)]) -> Result<T, String> {
    known.iter().find(|(known, _)| *known == word).map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
        format!("must be one of: {}", words.join(", "))
    })
}

fn counting(top: &mut Section<'_>) -> Option<Counting> {
    let known = [("minor", Notation::Minor), ("decimal", Notation::Decimal)];
    top.require("amounts");
    let notation = top.parsed("amounts", |word| one_of(word, &known));
    let mut exponents = BTreeMap::new();
    if let Some(mut section) = top.section("exponents") {
        for (code, exponent) in section.rest_numbers() {
            match u32::try_from(exponent) {
                Ok(exponent @ 0..=6) => {
                    exponents.insert(code.into_inner().to_uppercase(), exponent);
                }
                Ok(_) | Err(_) => section.wrong(&code.span(), "an exponent is between 0 and 6"),
            }
        }
    }
    Some(Counting { notation: *notation?.get_ref(), exponents })
}

fn auth(mut section: Section<'_>) -> Option<Auth> {
    let variable = section.required("env");
    let header = section.text("header");
    let prefix = section.text("prefix");
    let refused = section.texts("refuse");
    section.close();
    Some(Auth {
        variable: variable?.into_inner(),
        header: header.map_or_else(|| "Authorization".to_owned(), toml::Spanned::into_inner),
        prefix: prefix.map_or_else(String::new, toml::Spanned::into_inner),
        refused: refused.map_or_else(Vec::new, toml::Spanned::into_inner),
    })
}

fn pointer(section: &mut Section<'_>, key: &'static str) -> Option<Pointer> {
    section.parsed(key, Pointer::parse).map(toml::Spanned::into_inner)
}

fn required_pointer(section: &mut Section<'_>, key: &'static str) -> Option<Pointer> {
    section.require(key);
    pointer(section, key)
}

fn fields(mut section: Section<'_>) -> Option<Fields> {
    let provider_ref = required_pointer(&mut section, "ref");
    let status = required_pointer(&mut section, "status");
    let amount = required_pointer(&mut section, "amount");
    let currency = required_pointer(&mut section, "currency");
    let reference = pointer(&mut section, "reference");
    let order = pointer(&mut section, "order");
    let provider_key = pointer(&mut section, "key");
    let captured = pointer(&mut section, "captured");
    let refunded = pointer(&mut section, "refunded");
    let created = pointer(&mut section, "created");
    let live = pointer(&mut section, "live");
    section.close();
    Some(Fields {
        provider_ref: provider_ref?,
        reference,
        order,
        provider_key,
        status: status?,
        amount: amount?,
        captured,
        refunded,
        currency: currency?,
        created,
        live,
    })
}

/// The class of each status word. A word in two classes is a mistake.
fn words(mut section: Section<'_>) -> BTreeMap<String, Class> {
    const CLASSES: [(&str, Class); 6] = [
        ("succeeded", Class::Succeeded),
        ("authorised", Class::Authorised),
        ("pending", Class::Pending),
        ("open", Class::Open),
        ("failed", Class::Failed),
        ("reversed", Class::Reversed),
    ];
    let mut words = BTreeMap::new();
    for (key, class) in CLASSES {
        let Some(listed) = section.texts(key) else {
            continue;
        };
        let place = listed.span();
        for word in listed.into_inner() {
            if words.insert(word.clone(), class).is_some() {
                section.wrong(&place, format!("the status word \"{word}\" is listed twice"));
            }
        }
    }
    section.close();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_mistakes_of_a_file_are_reported() {
        let text = r#"
name = "x"
base_url = "http://example.com"
amounts = "float"
[auth]
env = "X"
[fields]
ref = "id"
status = "/status"
[status]
succeeded = ["ok"]
failed = ["ok"]
[[lookup]]
name = "by customer"
path = "/c/{customer}"
answer = "list"
match = "name"
[lookup.paging]
cursor = "last_ref"
parameter = "after"
"#;
        let mistakes = read(text).unwrap_err();
        let said = mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        for part in [
            "line 3: `base_url`",
            "https",
            "line 4: `amounts`",
            "line 8: `fields.ref`",
            "`fields.amount` is missing",
            "listed twice",
            "{customer} is not an id",
            "`lookup.match`",
            "`lookup.consistency` is missing",
            "needs `items`",
            "needs `more`",
        ] {
            assert!(said.contains(part), "{part} in\n{said}");
        }
    }
}
