//! What the guard shows: every step in words, asked and read back side by side.

use ratatui::layout::Rect;

use super::{FieldName, Guard, Phase, REASON_LIMIT, Second, Way};
use crate::app::hand_backs::handed;
use crate::app::model::{Model, SecondSeat};
use crate::domain::action::{Ladder, Request};
use crate::domain::approval::{ApprovalRequest, Standing, newest_of};
use crate::domain::environment::Environment;
use crate::domain::guard::{Context, Plan, Refused, Wording, letters};
use crate::domain::ids::PlanHash;
use crate::domain::log::Outcome;
use crate::domain::promise::Promise;
use crate::domain::time::{Now, until, words};
use crate::ui::layout::top;
use crate::ui::widgets::panel::dialog;
use crate::ui::{Canvas, Line, Role};

mod result;
mod second;

/// Draws the step.
pub fn view(model: &Model, guard: &Guard, canvas: &mut Canvas<'_>, area: Rect, now: Now) {
    let context = &model.setup.context;
    let environment = &context.environment;
    let (head, rest) = top(area, 1);
    canvas.clear(head, Role::Normal);
    canvas.line(head, &steps(guard));
    let (loud, frame) = match guard.way {
        Way::BreakGlass => (Role::Critical, Role::Critical),
        Way::Act | Way::Ask | Way::Approve | Way::Refuse | Way::TakeBack => (Role::Heading, Role::Dialog),
    };
    let title = Line::of(loud, title(guard, environment));
    let width = usize::from(rest.width.min(100).saturating_sub(4));
    let mut lines = whole_page(model, guard, width, now);
    if title.width(canvas.charset()) > width.saturating_sub(4) {
        // The frame would cut the title: what is acted on must be readable whole.
        lines.insert(0, Line::of(Role::Heading, "RECORD ").then(guard.id.to_string()));
    }
    match &guard.phase {
        Phase::Reason => lines.extend(reason(guard, model)),
        Phase::Phrase => lines.extend(phrase(guard, now)),
        Phase::Result(_) if guard.request == Request::LookUp => {
            lines.push(Line::empty());
            lines.extend(crate::app::screen::record::next_lines(model, &guard.id, now));
        }
        Phase::Result(finished) => {
            let asked = model.dossiers.get(&guard.id).and_then(|dossier| newest_of(dossier, context));
            lines.extend(second::next_lines(guard, &finished.outcome, asked));
            let alone = matches!(model.setup.second, SecondSeat::Free(_));
            if alone && guard.way == Way::Ask && matches!(finished.outcome, Outcome::Done { .. }) {
                lines.push(Line::of(Role::Info, " i ").then("Alone? :second shows how to be the second person."));
            }
        }
        Phase::Preparing
        | Phase::Plan
        | Phase::Send
        | Phase::Checking
        | Phase::Acting
        | Phase::ActingAskedToLeave
        | Phase::Refused(_) => {}
    }
    dialog(canvas, rest, &title, frame, &lines, guard.from);
}

fn title(guard: &Guard, environment: &Environment) -> String {
    let what = match (guard.way, guard.answers) {
        (Way::Ask, _) => "Ask a second person".to_owned(),
        (Way::BreakGlass, _) => "BREAK GLASS: resume".to_owned(),
        (Way::Act | Way::Approve | Way::Refuse | Way::TakeBack, Some(number)) => format!("Request {number}"),
        (Way::Act | Way::Approve | Way::Refuse | Way::TakeBack, None) => guard.request.title().to_owned(),
    };
    format!("{what} · {} on {}", guard.id, environment.kind.band())
}

fn steps(guard: &Guard) -> Line {
    let names: &[&str] = match (guard.way, guard.ladder(), guard.request) {
        (Way::Approve, _, _) => &["Request", "Type to confirm", "Result"],
        (Way::Refuse, _, _) => &["Request", "Refuse", "Result"],
        (Way::TakeBack, _, _) => &["Request", "Take back", "Result"],
        (Way::Ask, _, _) => &["Plan", "Reason", "Ask", "Result"],
        (Way::BreakGlass, _, _) => &["Plan", "Break glass", "Type to confirm", "Result"],
        (Way::Act, _, _) if guard.answers.is_some() => &["Request", "Answer", "Result"],
        (Way::Act, _, Request::LookUp) | (Way::Act, Ladder::PlanLine, _) => &["Plan", "Result"],
        (Way::Act, _, Request::Note | Request::HandOver | Request::Withdraw) | (Way::Act, Ladder::Reason, _) => {
            &["Plan", "Reason", "Result"]
        }
        (Way::Act, Ladder::Phrase, Request::Resume | Request::Hold | Request::Release) => match &guard.second {
            Second::Own(Standing::ToAsk { .. } | Standing::Waits(_)) => &["Plan", "Reason", "Ask", "Result"],
            Second::Own(Standing::NotNeeded | Standing::Approved(_))
            | Second::Nobody
            | Second::Last(_)
            | Second::Reading(_) => &["Plan", "Reason", "Type to confirm", "Result"],
        },
    };
    let here = match &guard.phase {
        Phase::Preparing | Phase::Plan => 0,
        Phase::Reason => 1,
        Phase::Send | Phase::Phrase => names.len().saturating_sub(2),
        Phase::Checking | Phase::Acting | Phase::ActingAskedToLeave | Phase::Result(_) | Phase::Refused(_) => {
            names.len().saturating_sub(1)
        }
    };
    let mut line = Line::plain(" ");
    for (place, name) in names.iter().enumerate() {
        let text = format!("{} {name}", place.saturating_add(1));
        if place == here {
            line.push(Role::Selected, format!("[{text}]"));
        } else {
            line.push(Role::Dim, text);
        }
        line.push(Role::Normal, "  ");
    }
    line
}

/// The page of a step, as lines; also what is copied. Where a hand back stands comes right below its headline.
pub fn whole_page(model: &Model, guard: &Guard, width: usize, now: Now) -> Vec<Line> {
    let mut lines = page(guard, &model.setup.context, width, now);
    if let Phase::Result(finished) = &guard.phase
        && let Some(made) = finished.handed_back
    {
        lines.splice(1..1, handed::made_lines(model, &guard.id, made.after, width, now));
    }
    lines
}

/// The page of a step without what is read beside it.
fn page(guard: &Guard, context: &Context, width: usize, now: Now) -> Vec<Line> {
    let environment = &context.environment;
    match &guard.phase {
        Phase::Preparing if guard.answers.is_some() => {
            vec![Line::plain("Reading the request and its record. Nothing has been sent.")]
        }
        Phase::Preparing => vec![Line::plain("Reading the record, to draw up a plan. Nothing has been sent.")],
        Phase::Checking => vec![
            Line::plain("Checking: the record is read again. Everything the plan rests on must still be the same."),
            Line::of(Role::Dim, "Nothing has been sent yet. Esc cancels."),
        ],
        Phase::Acting => vec![
            Line::of(Role::Write, " SENT "),
            Line::plain("Waiting for the answer and the read-back. It cannot be taken back now."),
        ],
        Phase::ActingAskedToLeave => vec![
            Line::of(Role::Write, " SENT ").and(Role::Caution, "  no answer yet."),
            Line::plain("If you leave now you do not see what came of it; the log will have it (screen 8)."),
            Line::plain("Esc stays. Q leaves anyway."),
        ],
        Phase::Plan => match (&guard.second, &guard.plan) {
            (Second::Reading(answering), _) => second::request_lines(answering, context),
            (Second::Own(standing), Some(plan)) => plan_lines(plan, standing, now),
            (Second::Own(_) | Second::Nobody | Second::Last(_), _) => Vec::new(),
        },
        Phase::Send => guard.plan.as_ref().map_or_else(Vec::new, |plan| second::send_lines(guard, plan, context, now)),
        Phase::Reason | Phase::Phrase => {
            let mut lines = second::glass_lines(guard);
            lines.extend(match (&guard.plan, &guard.second) {
                (Some(plan), _) if guard.way == Way::BreakGlass => vec![expiry(plan, now), Line::empty()],
                (Some(plan), _) => short_plan(plan, now),
                (None, Second::Reading(answering)) => short_request(&answering.request),
                (None, Second::Nobody | Second::Own(_) | Second::Last(_)) => Vec::new(),
            });
            lines
        }
        Phase::Refused(refused) => {
            let mut lines = refused_lines(refused);
            lines.extend(second::last_lines(&guard.second));
            lines
        }
        Phase::Result(finished) => result::lines(guard, finished, environment, width),
    }
}

fn refused_lines(refused: &Refused) -> Vec<Line> {
    let sent = if refused.way_out.contains("Nothing was sent") { "" } else { "Nothing was sent. " };
    vec![
        Line::of(Role::Caution, " ! REFUSED. ").then(refused.why.clone()),
        Line::empty(),
        Line::plain(format!("   {}", refused.way_out)),
        Line::of(Role::Dim, format!("   {sent}n = new plan, Esc = close.")),
    ]
}

fn plan_lines(plan: &Plan, standing: &Standing, now: Now) -> Vec<Line> {
    let mut lines = second::standing_lines(standing);
    lines.extend(words_of(plan.hash(), plan.promises(), plan.wording()));
    lines.push(Line::empty());
    lines.extend(second::onward_lines(plan, standing, now));
    match plan.change().ladder() {
        Ladder::PlanLine => lines.push(Line::of(Role::Key, "Enter").then(" asks the provider now.")),
        Ladder::Reason | Ladder::Phrase => {}
    }
    lines
}

/// A plan in its own words: what will happen, what will not, and what it rests on.
fn words_of(hash: &PlanHash, promises: &[Promise], wording: &Wording) -> Vec<Line> {
    let mut lines = vec![
        Line::of(Role::Heading, "WHAT WILL HAPPEN, IN ORDER").and(Role::Dim, format!("    plan {}", hash.short())),
    ];
    for (place, promise) in promises.iter().enumerate() {
        lines.push(Line::plain(format!(" {}  {}", place.saturating_add(1), promise.asked())));
    }
    lines.push(Line::empty());
    let mut row = |name: &str, text: &str| {
        lines.push(Line::of(Role::Heading, format!("{name:<21} ")).then(text.to_owned()));
    };
    row("WHAT WILL NOT HAPPEN", &wording.will_not);
    row("RELIES ON", &wording.relies_on.join(" · "));
    row("CANNOT BE UNDONE", &wording.cannot_undo);
    row("IF A STEP FAILS", &wording.if_it_fails);
    lines
}

/// The request in one line, above an answer.
fn short_request(request: &ApprovalRequest) -> Vec<Line> {
    let money = request.money.as_ref().map_or_else(|| "an amount not known".to_owned(), ToString::to_string);
    let asked: Vec<String> = request.plan.iter().flat_map(|plan| plan.promises.iter().map(Promise::asked)).collect();
    vec![
        Line::of(Role::Dim, format!("{} ", request.number))
            .then(format!("{} asks to {} {money} of {}.", request.operator, request.action, request.id)),
        Line::of(Role::Dim, format!("plan {}: ", request.plan_hash.short())).then(asked.join("; ")),
        Line::empty(),
    ]
}

fn expiry(plan: &Plan, now: Now) -> Line {
    let left = until(plan.expires_at(), now.0);
    let line = Line::plain(format!("Plan expires in {}. ", words(left)));
    line.and(Role::Dim, "If the record changes, the plan is refused.")
}

/// The plan in three lines, above a form.
fn short_plan(plan: &Plan, now: Now) -> Vec<Line> {
    let asked: Vec<String> = plan.promises().iter().map(crate::domain::promise::Promise::asked).collect();
    vec![
        Line::of(Role::Dim, format!("plan {}: ", plan.hash().short())).then(asked.join("; ")),
        expiry(plan, now),
        Line::empty(),
    ]
}

fn reason(guard: &Guard, model: &Model) -> Vec<Line> {
    let form = &guard.form;
    let mut lines = Vec::new();
    for name in guard.fields() {
        let (says, field) = match name {
            FieldName::Owner => ("To whom (empty = to whoever takes it):", &form.owner),
            FieldName::Incident => ("Incident for which nobody is waited for:", &form.incident),
            FieldName::Reason if guard.way == Way::Refuse => {
                ("Why not (may be empty; whoever asked reads it):", &form.reason)
            }
            FieldName::Reason if guard.way == Way::TakeBack => ("Why it is taken back (may be empty):", &form.reason),
            FieldName::Reason if guard.request == Request::Note => ("Note (what you saw):", &form.reason),
            FieldName::Reason => ("Reason (what you saw, not what you do):", &form.reason),
            FieldName::Ticket => ("Ticket or incident:", &form.ticket),
        };
        lines.push(Line::of(Role::Heading, says));
        let here = *name == form.focus;
        let text = if here { field.shown() } else { field.text().to_owned() };
        let mark = if here { "> " } else { "  " };
        lines.push(Line::of(Role::Key, mark).and(Role::Field, if text.is_empty() { " ".to_owned() } else { text }));
        if *name == FieldName::Reason && guard.plan.is_some() {
            let count = field.text().chars().count();
            let least = model.setup.context.policy.reason_min;
            let letters = letters(field.text());
            let said = format!("   {letters} of at least {least} letters; {count}/{REASON_LIMIT}");
            lines.push(Line::of(Role::Dim, said));
        }
    }
    lines.push(Line::empty());
    if let Some(trouble) = &form.trouble {
        lines.push(Line::of(Role::Caution, format!(" ! {} {}", trouble.why, trouble.way_out)));
    }
    let enter = match guard.way {
        Way::Refuse => Some(" refuses it. Nothing else is asked."),
        Way::TakeBack => Some(" takes it back. Nothing else is asked."),
        Way::Act | Way::Ask | Way::BreakGlass | Way::Approve => None,
    };
    if let Some(does) = enter {
        lines.push(Line::of(Role::Key, "Enter").then(does));
    }
    let context = &model.setup.context;
    lines.push(Line::of(
        Role::Dim,
        format!("You: {} (database role {}). This text stays in the log for ever.", context.operator, context.role),
    ));
    lines
}

fn phrase(guard: &Guard, now: Now) -> Vec<Line> {
    let Some(phrase) = guard.phrase() else { return Vec::new() };
    let wanted = phrase.shown();
    let typed = guard.form.phrase.text();
    let (what, runs) = match guard.way {
        Way::Approve => ("to approve it", " the same: Enter approves it "),
        Way::Act | Way::Ask | Way::BreakGlass | Way::Refuse | Way::TakeBack => {
            ("to run it", " the same: Enter runs it ")
        }
    };
    let verdict = match phrase.left(typed) {
        _ if phrase.is(typed) && guard.on_screen.can_be_answered(now) => Line::of(Role::Write, runs),
        _ if phrase.is(typed) => Line::of(Role::Write, " the same "),
        Some(left) => Line::of(Role::Dim, format!("not yet the same ({left} to go)")),
        None => Line::of(Role::Caution, " ! not the same: Backspace goes back"),
    };
    vec![
        Line::plain(format!("Type the environment, the scope, the end of the key and the amount, {what}:")),
        Line::empty(),
        marked(wanted, guard),
        Line::empty(),
        Line::of(Role::Key, " > ").and(Role::Field, guard.form.phrase.shown()),
        Line::plain("   ").join(verdict),
        Line::empty(),
        Line::of(Role::Dim, "Pasting is off. Enter does nothing until the text is the same."),
    ]
}

/// The phrase with the end of the key marked: the part to read with care.
fn marked(wanted: &str, guard: &Guard) -> Line {
    let hash = guard.plan.as_ref().map(Plan::hash).or_else(|| guard.second.request().map(|request| &request.plan_hash));
    let tail = guard.id.key.tail().or_else(|| hash.map(PlanHash::short)).unwrap_or_default();
    let needle = format!(" {tail}");
    match wanted.rsplit_once(&needle) {
        Some((before, after)) => {
            Line::of(Role::Phrase, format!("   {before} ")).and(Role::Read, tail).and(Role::Phrase, after.to_owned())
        }
        None => Line::of(Role::Phrase, format!("   {wanted}")),
    }
}
