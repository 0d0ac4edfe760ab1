//! Reads one look-up of an adapter: what is asked, the shape of the answer, and what silence is worth.

use super::super::adapter::{Consistency, Cursor, LookUp, NoSuchObject, Paging, Shape};
use super::super::declared::Section;
use super::super::json::Pointer;
use super::super::template::{Id, Template, Values};
use super::{one_of, pointer, required_pointer};

/// A `not_found` table.
pub fn no_such_object(mut section: Section<'_>) -> Option<NoSuchObject> {
    let status = section.number("status");
    let pointer = required_pointer(&mut section, "pointer");
    let value = section.required("value");
    let place = section.place();
    let status = status.and_then(|found| u16::try_from(found.into_inner()).ok());
    if !status.is_some_and(|status| (400..500).contains(&status) || status == 200) {
        section.wrong(&place, "`status` must be an HTTP status such as 404");
    }
    section.close();
    Some(NoSuchObject { status: status?, pointer: pointer?, value: value?.into_inner() })
}

/// One `[[lookup]]`; `absent` is the file's own "no such object".
pub fn read(mut section: Section<'_>, absent: Option<&NoSuchObject>) -> Option<LookUp> {
    let name = section.required("name");
    section.require("path");
    let path = section.parsed("path", Template::parse);
    let values = section.parsed("values", |word| one_of(word, &[("any", Values::Any), ("plain", Values::Plain)]));
    section.require("match");
    let matched = section.parsed("match", |word| {
        let known =
            [("ref", Id::ProviderRef), ("key", Id::ProviderKey), ("reference", Id::Payment), ("order", Id::Order)];
        one_of(word, &known)
    });
    section.require("consistency");
    let consistency = section.parsed("consistency", |word| {
        let known = [("strong", Consistency::Strong), ("search", Consistency::Search)];
        one_of(word, &known)
    });
    let own_absent = section.section("not_found").and_then(no_such_object);
    let shape = shape(&mut section);
    section.close();
    // The file's own "no such object" is what a look-up of one object says. A list says it by being empty.
    let absent = own_absent.or_else(|| match shape {
        Some(Shape::One) => absent.cloned(),
        Some(Shape::List { .. }) | None => None,
    });
    Some(LookUp {
        name: name?.into_inner(),
        path: path?.into_inner(),
        values: values.map_or(Values::Any, toml::Spanned::into_inner),
        shape: shape?,
        matched: matched?.into_inner(),
        consistency: consistency?.into_inner(),
        absent,
    })
}

fn shape(section: &mut Section<'_>) -> Option<Shape> {
    section.require("answer");
    let answer = section.parsed("answer", |word| one_of(word, &[("one", Word::One), ("list", Word::List)]));
    let items = pointer(section, "items");
    let paging = section.section("paging").and_then(paging);
    match answer?.into_inner() {
        Word::One => Some(Shape::One),
        Word::List => {
            if items.is_none() {
                let place = section.place();
                section.wrong(&place, "a list needs `items`, such as \"/data\"");
            }
            Some(Shape::List { items: items?, paging })
        }
    }
}

#[derive(Clone, Copy)]
enum Word {
    One,
    List,
}

fn paging(mut section: Section<'_>) -> Option<Paging> {
    let more = pointer(&mut section, "more");
    let parameter = section.required("parameter");
    section.require("cursor");
    let cursor = section.parsed("cursor", |word| match word {
        "last_ref" => Ok(Cursor::LastRef),
        pointer => {
            Pointer::parse(pointer).map(Cursor::At).map_err(|_| "must be \"last_ref\" or a JSON pointer".to_owned())
        }
    });
    if more.is_none()
        && let Some(found) = &cursor
        && found.get_ref() == &Cursor::LastRef
    {
        section.wrong(&found.span(), "\"last_ref\" needs `more`: nothing else says where the list ends");
    }
    section.close();
    Some(Paging { more, cursor: cursor?.into_inner(), parameter: parameter?.into_inner() })
}
