//! Walks a parsed statement and refuses whatever the grammar table does not name.
//!
//! Owns the meaning of the table's notation and the checks on names. Knows nothing about files.

use serde_json::Value;

use super::grammar::{Node, node};
use super::{Reason, names};

/// Checks one statement, as serde writes it.
pub(super) fn check(statement: &Value) -> Result<(), Reason> {
    visit("Statement", statement)
}

/// `value` must be a `kind` (see [`super::grammar`] for the notation).
fn visit(kind: &str, value: &Value) -> Result<(), Reason> {
    if let Some(inner) = kind.strip_suffix('?') {
        return if value.is_null() { Ok(()) } else { visit(inner, value) };
    }
    if let Some(inner) = kind.strip_suffix('*') {
        let Value::Array(items) = value else {
            return Err(shape(inner, value));
        };
        return items.iter().try_for_each(|item| visit(inner, item));
    }
    match (kind, value) {
        ("-", Value::Null | Value::Bool(false))
        | ("bool", Value::Bool(_))
        | ("yes", Value::Bool(true))
        | ("text", Value::String(_))
        | ("span", _) => Ok(()),
        ("-", Value::Array(items)) if items.is_empty() => Ok(()),
        ("-", Value::String(none)) if none == "None" => Ok(()),
        ("-" | "bool" | "yes" | "text", other) => Err(shape(kind, other)),
        _ => {
            names_of(kind, value)?;
            match node(kind) {
                Some(Node::Fields(fields)) => visit_fields(kind, fields, value),
                Some(Node::OneOf(variants)) => visit_variant(kind, variants, value),
                Some(Node::Parts(kinds)) => visit_parts(kind, kinds, value),
                None => Err(shape(kind, value)),
            }
        }
    }
}

/// Exactly the listed fields: one more or one less is a tree we have not read about.
fn visit_fields(kind: &str, fields: &[(&str, &str)], value: &Value) -> Result<(), Reason> {
    let Value::Object(object) = value else {
        return Err(shape(kind, value));
    };
    if let Some(stranger) = object.keys().find(|key| !fields.iter().any(|(name, _)| name == key)) {
        return Err(Reason::NotAllowed { what: format!("{kind}.{stranger}") });
    }
    fields.iter().try_for_each(|(name, field)| {
        let found = object.get(*name).ok_or_else(|| Reason::NotAllowed { what: format!("{kind} without {name}") })?;
        visit(field, found)
            .map_err(|reason| if *field == "-" { Reason::NotAllowed { what: clause(kind, name) } } else { reason })
    })
}

/// What people call a field that must stay empty.
fn clause(kind: &str, field: &str) -> String {
    match (kind, field) {
        ("Query", "locks") => "a locking clause (FOR UPDATE, FOR SHARE …)".to_owned(),
        ("Query", "fetch") => "FETCH (write LIMIT)".to_owned(),
        ("Query", "for_clause") => "a FOR clause".to_owned(),
        ("Select", "into") => "SELECT INTO".to_owned(),
        ("With", "recursive") => "WITH RECURSIVE".to_owned(),
        ("LimitOffset", "offset") => "OFFSET".to_owned(),
        _ => format!("{kind}.{field}"),
    }
}

fn visit_variant(kind: &str, variants: &[(&str, &str)], value: &Value) -> Result<(), Reason> {
    let nothing = Value::Null;
    let (tag, carried) = match value {
        Value::String(tag) => (tag.as_str(), &nothing),
        Value::Object(object) => match object.iter().next() {
            Some((tag, carried)) if object.len() == 1 => (tag.as_str(), carried),
            _ => return Err(shape(kind, value)),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            return Err(shape(kind, value));
        }
    };
    match variants.iter().find(|(name, _)| *name == tag) {
        Some((_, inner)) => visit(inner, carried),
        None => Err(Reason::NotAllowed { what: format!("{kind} {tag}") }),
    }
}

fn visit_parts(kind: &str, kinds: &[&str], value: &Value) -> Result<(), Reason> {
    // A tuple of one is written without its array.
    if let [only] = kinds {
        return visit(only, value);
    }
    match value.as_array() {
        Some(items) if items.len() == kinds.len() => {
            kinds.iter().zip(items).try_for_each(|(inner, item)| visit(inner, item))
        }
        Some(_) | None => Err(shape(kind, value)),
    }
}

/// The checks a table of shapes cannot make: which names may be called, read, cast to.
fn names_of(kind: &str, value: &Value) -> Result<(), Reason> {
    match kind {
        "Function" => {
            let name = name_of(value.get("name"))?;
            if names::function(&name.parts) && !name.quoted {
                Ok(())
            } else {
                Err(Reason::Function { name: name.parts.join(".") })
            }
        }
        "TableFunction" => table_function(value),
        "Table" if value.get("args").is_some_and(|args| !args.is_null()) => table_function(value),
        "Table" => {
            let name = name_of(value.get("name"))?;
            if names::relation(&name.parts) { Ok(()) } else { Err(Reason::Relation { name: name.parts.join(".") }) }
        }
        "PlainType" => {
            let name = name_of(value.get(0))?;
            match name.parts.as_slice() {
                [plain] if !name.quoted && names::PLAIN_TYPES.contains(&plain.to_ascii_lowercase().as_str()) => Ok(()),
                _ => Err(Reason::Type { name: name.parts.join(".") }),
            }
        }
        "Type" if value == "Regclass" => Err(Reason::Type { name: "regclass".to_owned() }),
        _ => Ok(()),
    }
}

fn table_function(value: &Value) -> Result<(), Reason> {
    let name = name_of(value.get("name"))?;
    if names::table_function(&name.parts) && !name.quoted {
        Ok(())
    } else {
        Err(Reason::Function { name: name.parts.join(".") })
    }
}

/// A possibly qualified name.
struct Name {
    parts: Vec<String>,
    quoted: bool,
}

fn name_of(value: Option<&Value>) -> Result<Name, Reason> {
    let unreadable = || Reason::Shape { what: "a name".to_owned() };
    let mut name = Name { parts: Vec::new(), quoted: false };
    for part in value.and_then(Value::as_array).ok_or_else(unreadable)? {
        let ident = part.get("Identifier").ok_or_else(unreadable)?;
        name.quoted |= ident.get("quote_style").is_none_or(|style| !style.is_null());
        name.parts.push(ident.get("value").and_then(Value::as_str).ok_or_else(unreadable)?.to_owned());
    }
    Ok(name)
}

fn shape(kind: &str, value: &Value) -> Reason {
    let found = match value {
        Value::Object(object) => object.keys().next().cloned().unwrap_or_default(),
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            value.to_string().chars().take(40).collect()
        }
    };
    Reason::Shape { what: format!("{kind}, found {found}") }
}
