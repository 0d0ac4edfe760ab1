//! What the guard shows: every step in words, asked and read back side by side.

use ratatui::layout::Rect;

use super::{FieldName, Guard, Phase, REASON_LIMIT};
use crate::app::hand_backs::handed;
use crate::app::model::Model;
use crate::domain::action::{Availability, Ladder, Request};
use crate::domain::environment::Environment;
use crate::domain::guard::{Plan, Refused, letters};
use crate::domain::time::{Now, until, words};
use crate::ui::layout::top;
use crate::ui::widgets::panel::dialog;
use crate::ui::{Canvas, Line, Role};

mod result;

/// Draws the step.
pub fn view(model: &Model, guard: &Guard, canvas: &mut Canvas<'_>, area: Rect, now: Now) {
    let environment = &model.setup.context.environment;
    let (head, rest) = top(area, 1);
    canvas.clear(head, Role::Normal);
    canvas.line(head, &steps(guard));
    let title = Line::of(Role::Heading, title(guard, environment));
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
        Phase::Preparing
        | Phase::Plan
        | Phase::Checking
        | Phase::Acting
        | Phase::ActingAskedToLeave
        | Phase::Result(_)
        | Phase::Refused(_) => {}
    }
    dialog(canvas, rest, &title, Role::Dialog, &lines, guard.from);
}

fn title(guard: &Guard, environment: &Environment) -> String {
    format!("{} · {} on {}", guard.request.title(), guard.id, environment.kind.band())
}

fn steps(guard: &Guard) -> Line {
    let names: &[&str] = match (guard.ladder(), guard.request) {
        (_, Request::LookUp) | (Ladder::PlanLine, _) => &["Plan", "Result"],
        (_, Request::Note | Request::HandOver | Request::Withdraw) | (Ladder::Reason, _) => {
            &["Plan", "Reason", "Result"]
        }
        (Ladder::Phrase, Request::Resume | Request::Hold | Request::Release) => {
            &["Plan", "Reason", "Type to confirm", "Result"]
        }
    };
    let here = match &guard.phase {
        Phase::Preparing | Phase::Plan => "Plan",
        Phase::Reason => "Reason",
        Phase::Phrase => "Type to confirm",
        Phase::Checking | Phase::Acting | Phase::ActingAskedToLeave | Phase::Result(_) | Phase::Refused(_) => "Result",
    };
    let mut line = Line::plain(" ");
    for (place, name) in names.iter().enumerate() {
        let text = format!("{} {name}", place.saturating_add(1));
        if *name == here {
            line.push(Role::Selected, format!("[{text}]"));
        } else {
            line.push(Role::Dim, text);
        }
        line.push(Role::Normal, "  ");
    }
    if guard.request == Request::Resume {
        line.push(Role::Dim, "approval: not yet available");
    }
    line
}

/// The page of a step, as lines; also what is copied. Where a hand back stands comes right below its headline.
pub fn whole_page(model: &Model, guard: &Guard, width: usize, now: Now) -> Vec<Line> {
    let mut lines = page(guard, &model.setup.context.environment, width, now);
    if let Phase::Result(finished) = &guard.phase
        && let Some(made) = finished.handed_back
    {
        lines.splice(1..1, handed::made_lines(model, &guard.id, made.after, width, now));
    }
    lines
}

/// The page of a step without what is read beside it.
fn page(guard: &Guard, environment: &Environment, width: usize, now: Now) -> Vec<Line> {
    match &guard.phase {
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
        Phase::Plan => guard.plan.as_ref().map_or_else(Vec::new, |plan| plan_lines(plan, now)),
        Phase::Reason | Phase::Phrase => guard.plan.as_ref().map_or_else(Vec::new, |plan| short_plan(plan, now)),
        Phase::Refused(refused) => refused_lines(refused),
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

fn plan_lines(plan: &Plan, now: Now) -> Vec<Line> {
    let wording = plan.wording();
    let mut lines = vec![
        Line::of(Role::Heading, "WHAT WILL HAPPEN, IN ORDER")
            .and(Role::Dim, format!("    plan {}", plan.hash().short())),
    ];
    for (place, promise) in plan.promises().iter().enumerate() {
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
    lines.push(Line::empty());
    match plan.availability() {
        Availability::NotYet(why) => lines.push(Line::of(Role::Caution, format!(" ! {why}"))),
        Availability::Ready => {
            lines.push(expiry(plan, now));
            match plan.change().ladder() {
                Ladder::PlanLine => lines.push(Line::of(Role::Key, "Enter").then(" asks the provider now.")),
                Ladder::Reason | Ladder::Phrase => {}
            }
        }
    }
    lines
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
            FieldName::Reason if guard.request == Request::Note => ("Note (what you saw):", &form.reason),
            FieldName::Reason => ("Reason (what you saw, not what you do):", &form.reason),
            FieldName::Ticket => ("Ticket or incident:", &form.ticket),
        };
        lines.push(Line::of(Role::Heading, says));
        let here = *name == form.focus;
        let text = if here { field.shown() } else { field.text().to_owned() };
        let mark = if here { "> " } else { "  " };
        lines.push(Line::of(Role::Key, mark).and(Role::Field, if text.is_empty() { " ".to_owned() } else { text }));
        if *name == FieldName::Reason {
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
    let context = &model.setup.context;
    lines.push(Line::of(
        Role::Dim,
        format!("You: {} (database role {}). This text stays in the log for ever.", context.operator, context.role),
    ));
    lines
}

fn phrase(guard: &Guard, now: Now) -> Vec<Line> {
    let Some(plan) = &guard.plan else { return Vec::new() };
    let wanted = plan.phrase().shown();
    let typed = guard.form.phrase.text();
    let verdict = match plan.phrase().left(typed) {
        _ if plan.phrase().is(typed) && guard.on_screen.can_be_answered(now) => {
            Line::of(Role::Write, " the same: Enter runs it ")
        }
        _ if plan.phrase().is(typed) => Line::of(Role::Write, " the same "),
        Some(left) => Line::of(Role::Dim, format!("not yet the same ({left} to go)")),
        None => Line::of(Role::Caution, " ! not the same: Backspace goes back"),
    };
    vec![
        Line::plain("Type the environment, the scope, the end of the key and the amount, to run it:"),
        Line::empty(),
        marked(wanted, plan),
        Line::empty(),
        Line::of(Role::Key, " > ").and(Role::Field, guard.form.phrase.shown()),
        Line::plain("   ").join(verdict),
        Line::empty(),
        Line::of(Role::Dim, "Pasting is off. Enter does nothing until the text is the same."),
    ]
}

/// The phrase with the end of the key marked: the part to read with care.
fn marked(wanted: &str, plan: &Plan) -> Line {
    let tail = plan.record().id.key.tail().unwrap_or_else(|| plan.hash().short());
    let needle = format!(" {tail}");
    match wanted.rsplit_once(&needle) {
        Some((before, after)) => {
            Line::of(Role::Phrase, format!("   {before} ")).and(Role::Read, tail).and(Role::Phrase, after.to_owned())
        }
        None => Line::of(Role::Phrase, format!("   {wanted}")),
    }
}
