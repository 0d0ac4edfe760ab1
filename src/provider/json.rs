//! JSON as it was sent: numbers stay text, and an object that names a key twice is refused.
//!
//! A usual JSON tree turns `12.30` into a float and lets the last of two equal keys win. Both are
//! guesses about money. Must not know what a charge is.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// How deep an answer may be nested; real ones stay below ten.
const DEEPEST: usize = 32;

/// One JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true`, `false`
    Truth(bool),
    /// A number, digit by digit as it was sent.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object; every key once.
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// Reads a whole body.
    pub fn parse(text: &str) -> Result<Self, String> {
        let raw: &RawValue = serde_json::from_str(text).map_err(|error| reason(&error))?;
        Self::read(raw, 0)
    }

    fn read(raw: &RawValue, depth: usize) -> Result<Self, String> {
        if depth > DEEPEST {
            return Err(format!("nested deeper than {DEEPEST} levels"));
        }
        let text = raw.get();
        let below = depth.saturating_add(1);
        match text.bytes().next() {
            Some(b'{') => {
                let Members(members) = serde_json::from_str(text).map_err(|e| reason(&e))?;
                let object: Result<_, String> =
                    members.into_iter().map(|(key, value)| Ok((key, Self::read(value, below)?))).collect();
                object.map(Self::Object)
            }
            Some(b'[') => {
                let Items(items) = serde_json::from_str(text).map_err(|e| reason(&e))?;
                let list: Result<_, String> = items.into_iter().map(|item| Self::read(item, below)).collect();
                list.map(Self::List)
            }
            Some(b'"') => serde_json::from_str(text).map(Self::Text).map_err(|error| reason(&error)),
            Some(b't' | b'f') => Ok(Self::Truth(text == "true")),
            Some(b'n') => Ok(Self::Null),
            Some(_) => Ok(Self::Number(text.to_owned())),
            None => Err("empty".to_owned()),
        }
    }

    /// The value at a JSON pointer (RFC 6901). `null` counts as absent.
    pub fn at(&self, pointer: &Pointer) -> Option<&Self> {
        let mut here = self;
        for step in &pointer.0 {
            here = match here {
                Self::Object(members) => members.get(step)?,
                Self::List(items) => items.get(step.parse::<usize>().ok()?)?,
                Self::Null | Self::Truth(_) | Self::Number(_) | Self::Text(_) => return None,
            };
        }
        (here != &Self::Null).then_some(here)
    }

    /// What kind of value it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Truth(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

/// Where a parser stopped, without the text it stopped at.
fn reason(error: &serde_json::Error) -> String {
    if error.is_data() { error.to_string() } else { format!("line {} column {}", error.line(), error.column()) }
}

/// The members of an object, in order, every key once.
struct Members<'a>(BTreeMap<String, &'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = BTreeMap::new();
                while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
                    if members.insert(key, value).is_some() {
                        return Err(A::Error::custom("an object names the same key twice"));
                    }
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// The items of a list.
struct Items<'a>(Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Items<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Items<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Items(items))
            }
        }
        deserializer.deserialize_seq(Reader)
    }
}

/// A JSON pointer, taken apart once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer(Vec<String>);

impl Pointer {
    /// Reads `/data/0/id`.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let Some(rest) = text.strip_prefix('/') else {
            return Err("a JSON pointer starts with /, such as \"/error/code\"".to_owned());
        };
        Ok(Self(rest.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_as_they_were_sent() {
        let json = Json::parse(r#" {"amount": 12.30, "list": [1, "x", null, true]} "#).unwrap();
        let at = |pointer: &str| json.at(&Pointer::parse(pointer).unwrap()).cloned();
        assert_eq!(at("/amount"), Some(Json::Number("12.30".to_owned())));
        assert_eq!(at("/list/1"), Some(Json::Text("x".to_owned())));
        assert_eq!(at("/list/2"), None, "null is absent");
        assert_eq!(at("/list/9"), None);
        assert_eq!(at("/amount/x"), None);
    }

    #[test]
    fn a_key_named_twice_is_refused_at_any_depth() {
        assert!(Json::parse(r#"{"a":{"status":"failed","status":"succeeded"}}"#).is_err());
        assert!(Json::parse(r#"{"a":1,"\u0061":2}"#).is_err(), "also when spelled differently");
    }

    #[test]
    fn depth_and_garbage_are_refused() {
        let deep = format!("{}1{}", "[".repeat(60), "]".repeat(60));
        assert!(Json::parse(&deep).is_err());
        for bad in ["", "{", "{}x", "nul", "\"\\ud800\"", "01"] {
            assert!(Json::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn pointers_follow_the_standard() {
        let json = Json::parse(r#"{"a/b":{"~":1}}"#).unwrap();
        assert!(json.at(&Pointer::parse("/a~1b/~0").unwrap()).is_some());
        assert!(Pointer::parse("a").is_err());
    }

    proptest::proptest! {
        #[test]
        fn it_agrees_with_the_usual_reader_or_refuses(text in r#"[\[\]{}:,"a-c0-9.\-eE \\ntrufls]{0,40}"#) {
            let usual = serde_json::from_str::<serde_json::Value>(&text);
            if Json::parse(&text).is_ok() {
                proptest::prop_assert!(usual.is_ok(), "{}", text);
            }
        }
    }
}
