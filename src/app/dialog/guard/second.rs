//! The second person in the flow: a plan of one's own that needs one, and somebody's request that is read and answered.
//!
//! Owns where the person is heading and what is known of the request. Every check is the domain's
//! (`domain::approval`), made when the request is shown and again, on facts re-read, before anything is sent.

use super::{Guard, Phase, guard_of, next_run, open};
use crate::app::effect::Effect;
use crate::app::keymap::GuardCommand;
use crate::app::model::Model;
use crate::app::notice::Notice;
use crate::domain::action::Request;
use crate::domain::approval::{self, ApprovalRequest, ApprovalState, Consent, Standing};
use crate::domain::guard::{Context, Phrase, Refused, Words};
use crate::domain::ids::{ApprovalId, RecordId};
use crate::domain::port::Dossier;
use crate::domain::promise::Promise;
use crate::domain::time::{Instant, Now, Seconds, age, clock};

/// Where the person is heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// To carry the plan out.
    Act,
    /// To ask a second person for it.
    Ask,
    /// To carry it out without the answer, for an incident.
    BreakGlass,
    /// To say yes to somebody's plan.
    Approve,
    /// To say no.
    Refuse,
    /// To take one's own question back.
    TakeBack,
}

/// What is known of the second person.
#[derive(Debug)]
pub enum Second {
    /// Nothing: none is needed, or the record was not read yet.
    Nobody,
    /// Where a plan of one's own stands.
    Own(Standing),
    /// One's newest request for the record, beside a plan that could not be drawn up.
    Last(Box<ApprovalRequest>),
    /// A request that is read.
    Reading(Box<Answering>),
}

/// A request that is read, and which answers this person could give.
#[derive(Debug)]
pub struct Answering {
    /// The request.
    pub request: ApprovalRequest,
    /// What has to be typed for a yes, or why there is none.
    pub yes: Result<Phrase, Refused>,
    /// Why there is no no.
    pub no: Option<Refused>,
    /// Why it cannot be taken back.
    pub back: Option<Refused>,
    /// What this person's own look-up says, in words.
    pub looked_up: String,
}

impl Second {
    /// Whether the plan on screen cannot be carried out as things stand.
    pub fn stands_in_the_way(&self) -> bool {
        match self {
            Self::Own(Standing::ToAsk { .. } | Standing::Waits(_)) | Self::Last(_) | Self::Reading(_) => true,
            Self::Own(Standing::NotNeeded | Standing::Approved(_)) | Self::Nobody => false,
        }
    }

    /// What has to be typed to approve.
    pub fn phrase(&self) -> Option<&Phrase> {
        match self {
            Self::Reading(answering) => answering.yes.as_ref().ok(),
            Self::Nobody | Self::Own(_) | Self::Last(_) => None,
        }
    }

    /// The request it is about, if there is one.
    pub fn request(&self) -> Option<&ApprovalRequest> {
        match self {
            Self::Own(Standing::Waits(request) | Standing::Approved(request)) | Self::Last(request) => Some(request),
            Self::Reading(answering) => Some(&answering.request),
            Self::Nobody | Self::Own(Standing::NotNeeded | Standing::ToAsk { .. }) => None,
        }
    }
}

/// A request read again is on screen at most this long before it is read once more.
const REREAD_AFTER: Seconds = Seconds(5);

/// Opens a request for approval: reads its record, to show the plan and what may be answered. Sends nothing.
pub fn read_request(model: &mut Model, id: RecordId, number: ApprovalId) -> Vec<Effect> {
    let mut guard = Guard::new(next_run(model), Request::Resume, id.clone(), "");
    guard.answers = Some(number);
    model.reading = Some((id, number));
    open(model, guard)
}

/// Back to the request that was being read when a dialog for the same record was opened from it; `None`: there is none.
pub fn read_again(model: &mut Model, id: &RecordId) -> Option<Vec<Effect>> {
    let (read, number) = model.reading.take()?;
    (read == *id).then(|| read_request(model, read, number))
}

/// The request among the facts, and what may be answered.
pub(super) fn reading(number: ApprovalId, facts: &Dossier, context: &Context) -> Result<Answering, Refused> {
    let request = facts.approvals.iter().find(|request| request.number == number).cloned().ok_or_else(|| {
        Refused::new(format!("{number} is not on the list any more."), "The log has it (8). Ask for a new request.")
    })?;
    Ok(Answering {
        yes: approval::approvable(&request, facts, context),
        no: approval::refuse(&request, "", context, facts.at).err(),
        back: approval::withdraw(&request, "", context).err(),
        looked_up: looked_up(facts, context),
        request,
    })
}

fn looked_up(facts: &Dossier, context: &Context) -> String {
    match facts.evidence.iter().max_by_key(|evidence| (evidence.started_at, evidence.id)) {
        Some(own) if own.operator == context.operator => {
            let stored = if own.id.is_some() { "" } else { ", not stored" };
            format!("your look-up at {}: {}{stored}", clock(own.started_at), own.outcome.word())
        }
        Some(theirs) => format!(
            "you have not looked up yet: a l. The newest look-up is {}'s, at {}: {}",
            theirs.operator,
            clock(theirs.started_at),
            theirs.outcome.word()
        ),
        None => "you have not looked up yet: a l".to_owned(),
    }
}

/// The answer of this person, checked on facts re-read just now; and what it promises.
pub(super) fn answer(
    way: Way,
    number: ApprovalId,
    facts: &Dossier,
    words: &Words,
    context: &Context,
) -> Result<(Consent, Vec<Promise>), Refused> {
    let Answering { request, .. } = reading(number, facts, context)?;
    let as_it_is = Promise::Untouched { version: facts.detail.record.version.clone() };
    let (consent, state) = match way {
        Way::Approve => (approval::approve(&request, facts, words, context)?, ApprovalState::Approved),
        Way::Refuse => (approval::refuse(&request, &words.reason, context, facts.at)?, ApprovalState::Refused),
        Way::TakeBack => (approval::withdraw(&request, &words.reason, context)?, ApprovalState::Withdrawn),
        Way::Act | Way::Ask | Way::BreakGlass => {
            return Err(Refused::new("This is no answer to a request.", "Nothing was sent. Read it again (n)."));
        }
    };
    let mut promises = vec![Promise::Answered { request: number, state }];
    if way == Way::Approve {
        promises.push(Promise::MayAct { request: number, asker: request.operator.clone() });
    }
    promises.push(as_it_is);
    Ok((consent, promises))
}

/// Why a request on screen is over, by the database's clock; `None` while it is not.
pub(super) fn over(second: &Second, at: Instant) -> Option<String> {
    let request = second.request()?;
    match request.state {
        ApprovalState::Waiting if at > request.expires_at => {
            Some(format!("{}: nobody answered until {}.", request.number, clock(request.expires_at)))
        }
        ApprovalState::Approved if request.act_until.is_some_and(|until| at > until) => {
            Some(format!("{} was good until {}.", request.number, request.act_until.map_or_else(String::new, clock)))
        }
        ApprovalState::Waiting
        | ApprovalState::Approved
        | ApprovalState::Refused
        | ApprovalState::Withdrawn
        | ApprovalState::Expired
        | ApprovalState::Lapsed
        | ApprovalState::Used => None,
    }
}

/// Takes a key that turns to another way. It leads to a page, and sends nothing.
pub(super) fn turn(model: &mut Model, command: GuardCommand, now: Now) -> Vec<Effect> {
    let at = model.picture.db_now(now);
    let off = model.why_not(Request::Resume, now);
    let Some(guard) = guard_of(model) else { return vec![] };
    if !matches!(guard.phase, Phase::Plan) || !guard.on_screen.can_be_answered(now) {
        return vec![];
    }
    let to = match (&guard.second, command) {
        (Second::Own(Standing::Waits(request)), GuardCommand::TakeBack) => {
            let number = request.number;
            let id = guard.id.clone();
            return read_request(model, id, number);
        }
        (Second::Own(Standing::Waits(request)), GuardCommand::BreakGlass) => {
            guard.plan.as_ref().map_or(Ok(Way::Ask), |plan| plan.glass(request, at).map(|()| Way::BreakGlass))
        }
        (Second::Reading(answering), GuardCommand::Approve) => answering.yes.clone().map(|_| Way::Approve),
        (Second::Reading(answering), GuardCommand::Refuse) => answering.no.clone().map_or(Ok(Way::Refuse), Err),
        (Second::Reading(answering), GuardCommand::TakeBack) => answering.back.clone().map_or(Ok(Way::TakeBack), Err),
        _ => Err(Refused::new("No request for this very plan waits.", "Enter is the next step.")),
    };
    let to = match (to, off) {
        (Ok(_), Some(why)) => Err(why),
        (Ok(way), None) => Ok(way),
        (Err(refused), _) => Err(refused.to_string()),
    };
    match to {
        Ok(way) => guard.turn_to(way),
        Err(why) => model.notice = Some(Notice::caution(why, now)),
    }
    vec![]
}

impl Guard {
    /// Goes to the first page of a way.
    fn turn_to(&mut self, way: Way) {
        self.way = way;
        self.form.trouble = None;
        self.form.phrase.clear();
        if let Some(first) = self.fields().first() {
            self.form.focus = *first;
        }
        match way {
            Way::Approve => self.go(Phase::Phrase),
            Way::Refuse | Way::TakeBack | Way::BreakGlass | Way::Act | Way::Ask => self.go(Phase::Reason),
        }
    }

    /// The next step of a plan of one's own, by where the second person stands; `None`: it waits.
    pub(super) fn way_on(&self) -> Option<Way> {
        match &self.second {
            Second::Own(Standing::ToAsk { .. }) => Some(Way::Ask),
            Second::Own(Standing::NotNeeded | Standing::Approved(_)) | Second::Nobody => Some(Way::Act),
            Second::Own(Standing::Waits(_)) | Second::Last(_) | Second::Reading(_) => None,
        }
    }
}

/// After a poll: a request that was answered meanwhile is not answered again, and one that is read is kept new.
pub(super) fn watch(model: &mut Model, now: Now) -> Vec<Effect> {
    let at = model.db_now(now);
    let read_at = guard_of(model).map(|guard| guard.id.clone()).and_then(|id| Some(model.dossiers.get(&id)?.at));
    let seen: Vec<(ApprovalId, ApprovalState, String)> = model
        .picture
        .snapshot()
        .and_then(|snapshot| snapshot.approvals.value())
        .map(|all| all.iter().map(|one| (one.number, one.state, one.became())).collect())
        .unwrap_or_default();
    let Some(guard) = guard_of(model) else { return vec![] };
    let waited = guard.second.request().filter(|request| request.state == ApprovalState::Waiting);
    let Some(number) = waited.map(|request| request.number) else { return vec![] };
    let news = seen.into_iter().find(|(one, state, _)| *one == number && *state != ApprovalState::Waiting);
    let old = read_at.is_none_or(|read| age(read, at) > REREAD_AFTER);
    match (&guard.phase, news) {
        (Phase::Plan, Some(_)) => vec![Effect::Prepare(guard.run, guard.id.clone())],
        (Phase::Plan, None) if old && guard.answers.is_some() => vec![Effect::Prepare(guard.run, guard.id.clone())],
        (Phase::Reason | Phase::Phrase, Some((_, _, became))) => {
            let why = format!("{number}: {became}.");
            guard.refuse(Refused::new(why.clone(), "Nothing was sent. Read it again (n)."));
            model.notice = Some(Notice::caution(why, now));
            vec![]
        }
        (
            Phase::Plan
            | Phase::Reason
            | Phase::Phrase
            | Phase::Preparing
            | Phase::Send
            | Phase::Checking
            | Phase::Acting
            | Phase::ActingAskedToLeave
            | Phase::Result(_)
            | Phase::Refused(_),
            _,
        ) => vec![],
    }
}
