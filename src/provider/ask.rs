//! Makes one look-up of an adapter: its requests, page after page, and what they said.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::domain::evidence::{LookupStep, Observed};
use crate::domain::port::Query;

use super::adapter::{Adapter, Cursor, LookUp, Paging, Shape};
use super::get_only::{GetOnly, Limits, Reply};
use super::json::{Json, Pointer};
use super::read::{self, Hit};
use super::template::{self, Id, NotAsked};

/// What one look-up came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// It was not made.
    NotAsked(NotAsked),
    /// No answer that means anything.
    Silent {
        /// What happened.
        why: String,
        /// Seconds the provider asked us to wait.
        retry_after_s: Option<u64>,
    },
    /// It was answered to the end.
    Said {
        /// The charges that may be ours.
        hits: Vec<Observed>,
        /// How sure it is that there are no others.
        rest: Rest,
    },
}

/// What an answer says about charges that are not in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// There are none by this id.
    None,
    /// Nothing says that the list is whole.
    Unpaged,
    /// The list held charges of others: its filter cannot be trusted.
    Foreign,
}

/// One adapter asking about one record.
#[derive(Debug)]
pub struct Asking<'a> {
    /// The provider's file.
    pub adapter: &'a Adapter,
    /// The client.
    pub client: &'a GetOnly,
    /// What it may cost.
    pub limits: Limits,
    /// What is asked about.
    pub query: &'a Query,
    /// Every request made so far.
    pub steps: &'a mut Vec<LookupStep>,
}

fn silent(why: impl Into<String>) -> Heard {
    Heard::Silent { why: why.into(), retry_after_s: None }
}

impl Asking<'_> {
    /// Makes one look-up.
    pub async fn make(&mut self, look_up: &LookUp) -> Heard {
        let encoding = self.adapter.key_encoding;
        let target = match look_up.path.fill(self.query, encoding, look_up.values) {
            Ok(target) => target,
            Err(why) => return Heard::NotAsked(why),
        };
        let heard = match &look_up.shape {
            Shape::One => self.one(look_up, &target).await,
            Shape::List { items, paging } => self.list(look_up, target, items, paging.as_ref()).await,
        };
        heard.unwrap_or_else(|silence| silence)
    }

    async fn one(&mut self, look_up: &LookUp, target: &str) -> Result<Heard, Heard> {
        let Some(json) = self.request(look_up, target).await? else {
            return Ok(Heard::Said { hits: Vec::new(), rest: Rest::None });
        };
        let hit = read::charge(self.adapter, &json).map_err(silent)?;
        match read::recheck(&hit, look_up.matched, self.query) {
            Hit::Ours if look_up.matched != Id::ProviderRef || self.is_the_ref(&hit) => {
                Ok(Heard::Said { hits: vec![hit], rest: Rest::None })
            }
            Hit::Ours | Hit::Foreign => Err(silent("it answered with another charge than the one asked for")),
        }
    }

    fn is_the_ref(&self, hit: &Observed) -> bool {
        self.query.provider_ref.as_ref() == Some(&hit.provider_ref)
    }

    async fn list(
        &mut self,
        look_up: &LookUp,
        target: String,
        items: &Pointer,
        paging: Option<&Paging>,
    ) -> Result<Heard, Heard> {
        let mut hits = Vec::new();
        let mut rest = if paging.is_some() { Rest::None } else { Rest::Unpaged };
        let mut seen_cursors: Vec<String> = Vec::new();
        let mut page = target.clone();
        for _ in 0..self.limits.pages {
            let Some(json) = self.request(look_up, &page).await? else {
                return Ok(Heard::Said { hits, rest });
            };
            let Some(Json::List(found)) = json.at(items) else {
                return Err(silent("the answer has no list where the adapter expects one"));
            };
            let mut last = None;
            for item in found {
                let hit = read::charge(self.adapter, item).map_err(silent)?;
                last = Some(hit.provider_ref.as_str().to_owned());
                match read::recheck(&hit, look_up.matched, self.query) {
                    Hit::Ours => hits.push(hit),
                    Hit::Foreign => rest = Rest::Foreign,
                }
            }
            let Some(paging) = paging else {
                return Ok(Heard::Said { hits, rest });
            };
            let Some(cursor) = next(&json, paging, last).map_err(silent)? else {
                return Ok(Heard::Said { hits, rest });
            };
            if seen_cursors.contains(&cursor) {
                return Err(silent("its pages go round in a circle"));
            }
            page.clone_from(&target);
            page.push(if target.contains('?') { '&' } else { '?' });
            page.push_str(&paging.parameter);
            page.push('=');
            template::encode(&cursor, &mut page);
            seen_cursors.push(cursor);
        }
        Err(silent(format!("its list goes on after {} pages: cut off", self.limits.pages)))
    }

    /// One request. `None`: the provider truly says that there is no such object.
    async fn request(&mut self, look_up: &LookUp, target: &str) -> Result<Option<Json>, Heard> {
        let asked = format!("GET {target}");
        let reply = match self.client.get(target).await {
            Ok(reply) => reply,
            Err(why) => {
                self.steps.push(LookupStep {
                    asked,
                    answered: why.to_string(),
                    body_sha256: None,
                    retry_after_s: None,
                });
                return Err(silent(why.to_string()));
            }
        };
        let answer = understand(&reply, look_up);
        let answered = match &answer {
            Ok(Some(_)) => reply.status.to_string(),
            Ok(None) => format!("{}, no such object", reply.status),
            Err(why) => format!("{}, {why}", reply.status),
        };
        let retry_after_s = reply.retry_after_s.filter(|_| answer.is_err());
        self.steps.push(LookupStep { asked, answered, body_sha256: Some(sha256(&reply.body)), retry_after_s });
        answer.map_err(|why| Heard::Silent { why, retry_after_s: reply.retry_after_s })
    }
}

/// Reads a reply: a body to look into, the true "no such object", or nothing that means anything.
fn understand(reply: &Reply, look_up: &LookUp) -> Result<Option<Json>, String> {
    let declared = look_up.absent.as_ref().filter(|absent| absent.status == reply.status);
    match reply.status {
        200 => {}
        401 => return Err("401: it does not know us; check the secret".to_owned()),
        403 => return Err("403: our key may not read this".to_owned()),
        404 if declared.is_none() => {
            return Err("404, which may be a missing route: not proof of anything".to_owned());
        }
        429 => return Err("429: it asks us to slow down".to_owned()),
        300..=399 => {
            return Err(format!("{}: a redirect, which is never followed", reply.status));
        }
        500..=599 => return Err(format!("{}: it has trouble itself", reply.status)),
        _ if declared.is_some() => {}
        other => return Err(format!("{other}: not an answer to a look-up")),
    }
    if reply.html || reply.body.trim_ascii_start().first() == Some(&b'<') {
        return Err("a page for people, not an answer of its API".to_owned());
    }
    let text = std::str::from_utf8(&reply.body).map_err(|_| "the answer is not UTF-8")?;
    let json = Json::parse(text).map_err(|why| format!("the answer is not usable JSON ({why})"))?;
    let says_absent = declared.is_some_and(|absent| match json.at(&absent.pointer) {
        Some(Json::Text(text) | Json::Number(text)) => *text == absent.value,
        Some(Json::Null | Json::Truth(_) | Json::List(_) | Json::Object(_)) | None => false,
    });
    match (says_absent, reply.status) {
        (true, _) => Ok(None),
        (false, 200) => Ok(Some(json)),
        (false, other) => Err(format!("{other} without the words for \"no such object\": not proof of anything")),
    }
}

/// The cursor of the next page; `None` at the true end.
fn next(json: &Json, paging: &Paging, last: Option<String>) -> Result<Option<String>, String> {
    if let Some(more) = &paging.more {
        match json.at(more) {
            Some(Json::Truth(false)) => return Ok(None),
            Some(Json::Truth(true)) => {}
            Some(Json::Null | Json::Number(_) | Json::Text(_) | Json::List(_) | Json::Object(_)) | None => {
                return Err("the answer does not say whether its list is whole".to_owned());
            }
        }
    }
    let cursor = match &paging.cursor {
        Cursor::LastRef => last,
        Cursor::At(pointer) => match json.at(pointer) {
            Some(Json::Text(text) | Json::Number(text)) if !text.is_empty() => Some(text.clone()),
            Some(Json::Text(_) | Json::Number(_)) | None => None,
            Some(Json::Null | Json::Truth(_) | Json::List(_) | Json::Object(_)) => {
                return Err("the answer's cursor is not a text".to_owned());
            }
        },
    };
    match (cursor, &paging.more) {
        (None, Some(_)) => Err("it says there is more, and not where".to_owned()),
        (cursor, _) => Ok(cursor),
    }
}

fn sha256(body: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(body) {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
