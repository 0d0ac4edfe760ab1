//! How the steps over several records look.

use ratatui::layout::Rect;

use super::{Bulk, Phase, Reading, Writing, menu};
use crate::app::dialog::Dialog;
use crate::app::dialog::guard::REASON_LIMIT;
use crate::app::model::{Model, Place};
use crate::domain::guard::{Baseline, BulkPlan, BulkRequest, Plan, Refused, letters};
use crate::domain::time::{Now, until, words};
use crate::ui::layout::top;
use crate::ui::widgets::panel::dialog;
use crate::ui::{Canvas, Line, Role};

mod progress;

/// Draws the step.
pub fn view(model: &Model, bulk: &Bulk, canvas: &mut Canvas<'_>, area: Rect, now: Now) {
    let environment = &model.setup.context.environment;
    if let Phase::Menu = bulk.phase {
        let count = model.marks.len();
        let title = format!("Actions for the {count} MARKED ({})", environment.kind.band());
        dialog(canvas, area, &Line::of(Role::Heading, title), Role::Dialog, &menu::lines(model, now), bulk.from);
        return;
    }
    let (head, rest) = top(area, 1);
    canvas.clear(head, Role::Normal);
    canvas.line(head, &steps(bulk));
    let what = match model.place {
        Place::Ticket(..) => "Look up every record of this case",
        Place::Screen(_) | Place::Record(..) => bulk.request.title(),
    };
    let title = format!("{what} · on {}", environment.kind.band());
    let width = usize::from(rest.width.min(100).saturating_sub(4));
    let lines = page(model, width, now);
    dialog(canvas, rest, &Line::of(Role::Heading, title), Role::Dialog, &lines, bulk.from);
}

fn steps(bulk: &Bulk) -> Line {
    let names: &[&str] = match bulk.request {
        BulkRequest::LookUp => &["Plan", "Type to confirm", "One by one", "Result"],
        BulkRequest::Adopt => &["Plan", "Reason", "Type to confirm", "One by one", "Result"],
    };
    let here = match bulk.phase {
        Phase::Menu | Phase::Preparing(_) | Phase::Plan => "Plan",
        Phase::Reason => "Reason",
        Phase::Phrase => "Type to confirm",
        Phase::Running(..) => "One by one",
        Phase::Result(_) | Phase::Refused(_) => "Result",
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
    line
}

/// The page of a step, as lines; also what is copied.
pub(super) fn page(model: &Model, width: usize, now: Now) -> Vec<Line> {
    let Some(Dialog::Bulk(bulk)) = &model.dialog else { return Vec::new() };
    match &bulk.phase {
        Phase::Menu => menu::lines(model, now),
        Phase::Preparing(Reading { waiting, read }) => vec![
            Line::plain(format!(
                "Reading the marked records, to draw up a plan: {} of {}.",
                read.len(),
                read.len().saturating_add(waiting.len())
            )),
            Line::of(Role::Dim, "Nothing has been sent. Esc cancels."),
        ],
        Phase::Plan => bulk.plan.as_ref().map_or_else(Vec::new, |plan| plan_lines(model, bulk, plan, width, now)),
        Phase::Reason => {
            let mut lines = bulk.plan.as_ref().map_or_else(Vec::new, |plan| short(plan, now));
            lines.extend(reason(model, bulk));
            lines
        }
        Phase::Phrase => bulk.plan.as_ref().map_or_else(Vec::new, |plan| {
            let mut lines = short(plan, now);
            lines.extend(phrase(bulk, plan, now));
            lines
        }),
        Phase::Running(doing, wish) => progress::running(model, bulk, *doing, *wish, now),
        Phase::Result(ended) => progress::result(model, bulk, ended),
        Phase::Refused(refused) => refused_lines(model, refused),
    }
}

fn refused_lines(model: &Model, refused: &Refused) -> Vec<Line> {
    let sent = if refused.way_out.contains("Nothing was sent") { "" } else { "Nothing was sent. " };
    vec![
        Line::of(Role::Caution, " ! REFUSED. ").then(refused.why.clone()),
        Line::empty(),
        Line::plain(format!("   {}", refused.way_out)),
        Line::of(Role::Dim, format!("   {sent}{}n = new plan, Esc = close.", stay(model))),
    ]
}

/// What becomes of the marks, when it is about marks.
fn stay(model: &Model) -> &'static str {
    match model.place {
        Place::Ticket(..) => "",
        Place::Screen(_) | Place::Record(..) => "The marks stay. ",
    }
}

/// How many and how much, in words.
fn sums(plan: &BulkPlan) -> String {
    let count = plan.plans().len();
    let mut parts = vec![if count == 1 { "1 record".to_owned() } else { format!("{count} records") }];
    if !plan.totals().is_empty() {
        parts.push(plan.totals().to_string());
    }
    if plan.unpriced() > 0 {
        parts.push(format!("and {} with an amount that is NOT KNOWN", plan.unpriced()));
    }
    parts.join(", ")
}

fn plan_lines(model: &Model, bulk: &Bulk, plan: &BulkPlan, width: usize, now: Now) -> Vec<Line> {
    let mut lines = Vec::new();
    if plan.plans().is_empty() {
        let none = " ! None of the marked records can be done like this. ";
        lines.push(Line::of(Role::Caution, none).then("Nothing was sent."));
    } else {
        let hash = format!("   plan {}", plan.hash().short());
        lines.push(Line::of(Role::Dim, "TOTAL  ").and(Role::Heading, sums(plan)).and(Role::Dim, hash));
        if !bulk.left_out.is_empty() {
            let said = format!(" ! {} of the marked are LEFT OUT: see below the list.", bulk.left_out.len());
            lines.push(Line::of(Role::Caution, said));
        }
        lines.push(expiry(plan, now));
        lines.push(Line::of(Role::Heading, "WHAT WILL HAPPEN, ONE BY ONE"));
    }
    for (place, (one, entry)) in plan.plans().iter().zip(&bulk.entries).enumerate() {
        lines.extend(row(place.saturating_add(1), bulk.request, one, &entry.asked, width));
    }
    if !bulk.left_out.is_empty() {
        lines.push(Line::of(Role::Caution, format!(" ! LEFT OUT, {} of the marked:", bulk.left_out.len())));
        for (id, why) in &bulk.left_out {
            lines.push(
                Line::plain(format!("   {id}  ")).and(Role::Caution, why.why.clone()).then(format!(" {}", why.way_out)),
            );
        }
    }
    lines.push(Line::empty());
    if plan.plans().is_empty() {
        lines.push(Line::of(Role::Dim, format!("Enter or Esc closes this page. {}", stay(model))));
        return lines;
    }
    lines.extend(terms(model, bulk.request, plan));
    lines
}

/// One record of the list: which, at which version, how much, what.
fn row(place: usize, request: BulkRequest, plan: &Plan, asked: &str, width: usize) -> Vec<Line> {
    let record = plan.record();
    let canary = if request == BulkRequest::Adopt && place == 1 { "canary: " } else { "" };
    let money = record.money.as_ref().map_or_else(|| "amount NOT KNOWN".to_owned(), ToString::to_string);
    let attempt = record.attempt.map_or_else(|| "?".to_owned(), |attempt| attempt.0.to_string());
    let head = Line::plain(format!("{place:>2} "))
        .and(Role::Read, canary)
        .then(format!("{}  ", record.id))
        .and(Role::Heading, money);
    let facts =
        format!("version {} · attempt {attempt} · {asked} · plan {}", record.version.short(), plan.hash().short());
    if head.words().chars().count() + facts.chars().count() + 2 <= width {
        return vec![head.and(Role::Dim, format!("  {facts}"))];
    }
    vec![head, Line::of(Role::Dim, format!("   {facts}"))]
}

/// What is true of every record of the list, and when it stops.
fn terms(model: &Model, request: BulkRequest, plan: &BulkPlan) -> Vec<Line> {
    let wording = plan.plans().first().map(Plan::wording);
    let (each, stops) = match request {
        BulkRequest::LookUp => (
            "GET only, one line of evidence kept; 2 a second at most".to_owned(),
            "3 look-ups without an answer, a database that refuses or goes away, or Esc".to_owned(),
        ),
        BulkRequest::Adopt => {
            let known = model.picture.snapshot().map_or(0, |s| Baseline::of(&s.rules).len());
            let all = model.picture.snapshot().map_or(0, |s| s.rules.len());
            (
                "lease taken, NO new charge, payment SUCCEEDED, record done (201); 1 a second at most".to_owned(),
                format!(
                    "anything not confirmed by reading back, a new breach of a rule ({known} of {all} can be judged), or Esc"
                ),
            )
        }
    };
    let mut lines = Vec::new();
    let mut line = |name: &str, text: &str| {
        lines.push(Line::of(Role::Heading, format!("{name:<21} ")).then(text.to_owned()));
    };
    line("EACH, RE-READ FIRST", &each);
    if request == BulkRequest::Adopt {
        line("THE CANARY", "alone; read back; then the rules are read again; only then the others");
    }
    line("STOPS AT", &stops);
    if let Some(wording) = wording {
        line("WHAT WILL NOT HAPPEN", &wording.will_not);
        line("CANNOT BE UNDONE", &wording.cannot_undo);
    }
    lines
}

fn expiry(plan: &BulkPlan, now: Now) -> Line {
    let left = until(plan.expires_at(), now.0);
    Line::plain(format!("Start within {}. ", words(left)))
        .and(Role::Dim, "A record that changes until then is refused.")
}

/// The plan in two lines, above a form.
fn short(plan: &BulkPlan, now: Now) -> Vec<Line> {
    vec![
        Line::of(Role::Dim, format!("plan {}: ", plan.hash().short()))
            .and(Role::Heading, sums(plan))
            .then(format!("; {} left out.", plan.left_out().len())),
        expiry(plan, now),
        Line::empty(),
    ]
}

fn reason(model: &Model, bulk: &Bulk) -> Vec<Line> {
    let (form, context) = (&bulk.form, &model.setup.context);
    let mut lines = Vec::new();
    let fields = [
        (Writing::Reason, "Reason for all of them (what you saw, not what you do):", &form.reason),
        (Writing::Ticket, "Ticket or incident:", &form.ticket),
    ];
    for (name, says, field) in fields {
        let here = name == form.focus;
        let text = if here { field.shown() } else { field.text().to_owned() };
        let text = if text.is_empty() { " ".to_owned() } else { text };
        lines.push(Line::of(Role::Heading, says));
        lines.push(Line::of(Role::Key, if here { "> " } else { "  " }).and(Role::Field, text));
        if name == Writing::Reason {
            let (count, least) = (field.text().chars().count(), context.policy.reason_min);
            let letters = letters(field.text());
            let said = format!("   {letters} of at least {least} letters; {count}/{REASON_LIMIT}");
            lines.push(Line::of(Role::Dim, said));
        }
    }
    lines.push(Line::empty());
    if let Some(trouble) = &form.trouble {
        lines.push(Line::of(Role::Caution, format!(" ! {} {}", trouble.why, trouble.way_out)));
    }
    lines.push(Line::of(
        Role::Dim,
        format!(
            "You: {} (database role {}). The text, with the plan's hash, stays in the log of each record.",
            context.operator, context.role
        ),
    ));
    lines
}

fn phrase(bulk: &Bulk, plan: &BulkPlan, now: Now) -> Vec<Line> {
    let typed = bulk.form.phrase.text();
    let verdict = match plan.phrase().left(typed) {
        _ if plan.phrase().is(typed) && bulk.on_screen.can_be_answered(now) => {
            Line::of(Role::Write, " the same: Enter starts it ")
        }
        _ if plan.phrase().is(typed) => Line::of(Role::Write, " the same "),
        Some(left) => Line::of(Role::Dim, format!("not yet the same ({left} to go)")),
        None => Line::of(Role::Caution, " ! not the same: Backspace goes back"),
    };
    let what = match bulk.request {
        BulkRequest::LookUp => "Type how many are looked up, to start:",
        BulkRequest::Adopt => "Type the environment, how many, and the sum of each currency, to start with the canary:",
    };
    vec![
        Line::plain(what),
        Line::empty(),
        Line::of(Role::Phrase, format!("   {}", plan.phrase().shown())),
        Line::empty(),
        Line::of(Role::Key, " > ").and(Role::Field, bulk.form.phrase.shown()),
        Line::plain("   ").join(verdict),
        Line::empty(),
        Line::of(Role::Dim, "Pasting is off. Enter does nothing until the text is the same."),
    ]
}
