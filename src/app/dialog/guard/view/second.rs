//! What is shown of the second person: where a plan stands, what is asked, the request that is read, and what comes next.

use super::super::{Answering, Guard, Second, Way};
use super::{expiry, words_of};
use crate::domain::approval::{ApprovalRequest, ApprovalState, Need, Standing};
use crate::domain::guard::{Context, Plan, Refused};
use crate::domain::log::Outcome;
use crate::domain::record::Record;
use crate::domain::time::{Now, clock};
use crate::ui::{Line, Role};

fn row(name: &str, text: impl Into<String>) -> Line {
    Line::of(Role::Heading, format!("{name:<21} ")).then(text.into())
}

fn indented(text: impl AsRef<str>) -> Line {
    Line::plain(format!("   {}", text.as_ref()))
}

/// Over a plan of one's own: whether a second person is needed, was asked, or has answered. It must be seen first.
pub fn standing_lines(standing: &Standing) -> Vec<Line> {
    let mut lines = match standing {
        Standing::NotNeeded => return Vec::new(),
        Standing::ToAsk { why, last } => {
            let mut lines = vec![Line::of(Role::Caution, " ! A second person is needed. ").then(why.clone())];
            if let Some(last) = last {
                lines.push(indented(format!("Asked before: {}: {}. {}", last.number, last.became(), last.way_on())));
            }
            lines
        }
        Standing::Waits(request) => {
            let mut lines = vec![
                Line::of(Role::Info, " i ").then(format!("{} {}.", request.number, request.became())),
                indented(format!(
                    "A second person types :approve {} or opens screen 8. {}",
                    request.plan_hash.short(),
                    request.way_on()
                )),
            ];
            lines.push(match request.break_glass_from {
                Some(from) => Line::plain("   ").and(Role::Key, "b").then(format!(
                    "  from {} on: goes on without an answer, for an incident, logged in red.",
                    clock(from)
                )),
                None => indented("Nobody goes on alone here: it waits for the answer."),
            });
            lines.push(Line::plain("   ").and(Role::Key, "w").then("  reads the request; there it can be taken back."));
            lines
        }
        Standing::Approved(request) => {
            vec![Line::of(Role::Good, "ok ").then(format!("{} {}.", request.number, request.became()))]
        }
    };
    lines.push(Line::empty());
    lines
}

/// Under a plan of one's own: what Enter does, and for how long.
pub fn onward_lines(plan: &Plan, standing: &Standing, now: Now) -> Vec<Line> {
    match standing {
        Standing::NotNeeded | Standing::Approved(_) => vec![expiry(plan, now)],
        Standing::ToAsk { .. } => vec![
            Line::of(Role::Key, "Enter").then(" writes the reason, then asks them. Asking changes nothing."),
            expiry(plan, now),
        ],
        Standing::Waits(_) => vec![Line::of(Role::Key, "Enter").then(" closes it: it waits for the answer.")],
    }
}

/// Beside a refused plan: one's newest request for the record.
pub fn last_lines(second: &Second) -> Vec<Line> {
    match second {
        Second::Last(request) => vec![
            Line::empty(),
            Line::of(Role::Info, " i ").then(format!("{}: {}.", request.number, request.became())),
            indented(request.way_on()),
        ],
        Second::Nobody | Second::Own(_) | Second::Reading(_) => Vec::new(),
    }
}

/// Over the steps of breaking the glass.
pub fn glass_lines(guard: &Guard) -> Vec<Line> {
    let (Way::BreakGlass, Second::Own(Standing::Waits(request))) = (guard.way, &guard.second) else {
        return Vec::new();
    };
    vec![
        Line::of(Role::Critical, "!! BREAK GLASS  Nobody approved this.").then(" You adopt on your own look-up alone."),
        Line::of(
            Role::Critical,
            format!("   Logged in red, for ever: you, the incident, and {} without an answer.", request.number),
        ),
        Line::empty(),
    ]
}

/// What exactly goes to a second person.
pub fn send_lines(guard: &Guard, plan: &Plan, context: &Context, now: Now) -> Vec<Line> {
    let short = plan.hash().short();
    let reason = guard.form.reason.text().trim().to_owned();
    let ticket = guard.form.ticket.text().trim().to_owned();
    vec![
        Line::of(Role::Heading, "NOTHING IS CHANGED.")
            .then(format!(" Plan {short}, whole, goes to a second person: every line you have read, with")),
        row("YOUR REASON", reason),
        row("YOUR TICKET", ticket),
        row(
            "WHO CAN ANSWER",
            format!(
                "somebody with a login of their own that may approve; never {} or login {}",
                context.operator, context.role
            ),
        ),
        row("WHAT THEY DO", "read it, look the payment up themselves, and say yes or no"),
        row("HOW LONG", "they have 30 minutes to answer, unless your database's limits say otherwise"),
        row("AFTER A YES", "you look up again, and have 2 minutes to act (the limits may say otherwise)"),
        Line::empty(),
        Line::of(Role::Key, "Enter").then(" asks. The record is read again first; Esc cancels."),
        expiry(plan, now),
    ]
}

/// A request that is read: who asks and why, what this person can answer, and the whole plan.
pub fn request_lines(answering: &Answering, context: &Context) -> Vec<Line> {
    let request = &answering.request;
    let mut lines = vec![
        Line::of(role_of(request.state), sign_of(request.state))
            .and(role_of(request.state), format!("{} {}. ", request.number, request.state.word().to_uppercase()))
            .then(format!("{}: {}.", what_of(request), request.became())),
        row("ASKED BY", format!("{} (login {})", request.operator, request.session_user)),
        row("REASON", request.reason.clone()),
        row("TICKET", request.ticket.clone().unwrap_or_else(|| "none".to_owned())),
    ];
    if request.state == ApprovalState::Waiting {
        lines.push(row("YOUR LOOK-UP", answering.looked_up.clone()));
        lines.extend(answers(answering, context));
    } else {
        lines.push(indented(if request.is_of(context) { request.way_on() } else { "Nobody answers it any more." }));
    }
    lines.push(Line::empty());
    match &request.plan {
        None => lines
            .push(Line::of(Role::Unknown, " ? NOT KNOWN").then("  the plan cannot be read, so it cannot be approved.")),
        Some(plan) => {
            lines.extend(words_of(&plan.hash, &plan.promises, &plan.wording));
            if let Need::Yes(why) = &plan.need {
                lines.push(row("WHY A SECOND PERSON", why.clone()));
            }
            lines.extend(record_lines(&plan.record));
        }
    }
    lines.push(row("PLAN HASH", request.plan_hash.to_string()));
    lines
}

fn answers(answering: &Answering, context: &Context) -> Vec<Line> {
    let request = &answering.request;
    let off = |line: Line, refused: &Refused| line.and(Role::Caution, "  off: ").then(refused.to_string());
    let key = |key: &str, does: &str| Line::of(Role::Key, format!("{key}  ")).and(Role::Heading, does.to_owned());
    let yes = key("A", "approve");
    let no = key("R", "refuse");
    if let (Err(yes), Some(no)) = (&answering.yes, &answering.no)
        && yes == no
    {
        let mut lines = vec![off(key("A R", "approve, refuse"), no)];
        if request.is_of(context) && answering.back.is_none() {
            lines.push(key("w", "take it back").then("  then Enter"));
        }
        return lines;
    }
    vec![
        match &answering.yes {
            Ok(_) => yes.then("  then type what you have read"),
            Err(refused) => off(yes, refused),
        },
        match &answering.no {
            None => no.then("   then Enter; a reason may be written"),
            Some(refused) => off(no, refused),
        },
    ]
}

fn record_lines(record: &Record) -> Vec<Line> {
    let or = |text: Option<String>| text.unwrap_or_else(|| "not known".to_owned());
    vec![
        row("RECORD", record.id.to_string()),
        row("AMOUNT", or(record.money.as_ref().map(ToString::to_string))),
        row(
            "PAYMENT",
            format!(
                "{} ({}), order {}",
                or(record.payment.as_ref().map(ToString::to_string)),
                or(record.payment_status.as_ref().map(ToString::to_string)),
                or(record.order.as_ref().map(ToString::to_string))
            ),
        ),
        row(
            "AS IT WAS",
            format!(
                "{}, stuck at {}, attempt {}, version {}",
                record.status,
                or(record.recovery_point.as_ref().map(ToString::to_string)),
                or(record.attempt.map(|attempt| attempt.0.to_string())),
                record.version.short()
            ),
        ),
    ]
}

/// The action and the amount the database has for it.
fn what_of(request: &ApprovalRequest) -> String {
    match &request.money {
        Some(money) => format!("{} {money}", request.action),
        None => format!("{}, an amount not known", request.action),
    }
}

fn sign_of(state: ApprovalState) -> &'static str {
    match state {
        ApprovalState::Waiting => " i ",
        ApprovalState::Approved | ApprovalState::Used => "ok ",
        ApprovalState::Refused | ApprovalState::Withdrawn | ApprovalState::Expired | ApprovalState::Lapsed => " ! ",
    }
}

fn role_of(state: ApprovalState) -> Role {
    match state {
        ApprovalState::Waiting => Role::Info,
        ApprovalState::Approved | ApprovalState::Used => Role::Good,
        ApprovalState::Refused | ApprovalState::Withdrawn | ApprovalState::Expired | ApprovalState::Lapsed => {
            Role::Caution
        }
    }
}

/// What was done, for the headline of a result.
pub fn what(guard: &Guard) -> &'static str {
    match guard.way {
        Way::Act => guard.request.title(),
        Way::BreakGlass => "Resume, without an answer (break-glass)",
        Way::Ask => "Asked a second person",
        Way::Approve => "Approved",
        Way::Refuse => "Refused",
        Way::TakeBack => "Taken back",
    }
}

/// Under the result of a question or an answer that was done: what to tell whom, and how to come back.
pub fn next_lines(guard: &Guard, outcome: &Outcome, asked: Option<&ApprovalRequest>) -> Vec<Line> {
    let lines: Vec<String> = match (guard.way, outcome) {
        (Way::Ask, Outcome::Done { .. }) => {
            let number = asked.map_or_else(|| "the request".to_owned(), |request| request.number.to_string());
            let hash = asked.map_or_else(|| "its hash".to_owned(), |request| request.plan_hash.short());
            vec![
                format!("Tell a second person: in their console, :approve {hash}, or screen 8 and Enter on {number}."),
                "You may go on with other work; screen 8 lists it, and a notice says when it is answered.".to_owned(),
                "Then look up again (a l) and resume (a r): the same answer is the same plan.".to_owned(),
            ]
        }
        (Way::Approve, Outcome::Done { .. }) => {
            vec!["Nothing was changed by your yes. Whoever asked looks up again and carries it out.".to_owned()]
        }
        (Way::Refuse, Outcome::Done { .. }) => vec!["It cannot be carried out now. Whoever asked is told.".to_owned()],
        (Way::TakeBack, Outcome::Done { .. }) => vec!["Nobody can approve it any more. You may ask again.".to_owned()],
        (Way::Act | Way::BreakGlass, _)
        | (
            Way::Ask | Way::Approve | Way::Refuse | Way::TakeBack,
            Outcome::Refused { .. } | Outcome::Conflict { .. } | Outcome::Unknown { .. },
        ) => Vec::new(),
    };
    lines.iter().map(indented).collect()
}
