//! The whole picture: band, tabs, rule or banner, the screen's body, a dialog over it, notice, keys.
//!
//! Pure: the same model at the same moment is the same picture. Must not change anything.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::dialog::{self, Dialog};
use super::drill;
use super::keymap::{self, AppCommand, Command, Scope};
use super::model::{Acting, Model, Place, Typing};
use super::picture::Freshness;
use super::replay::Playback;
use super::screen::{SCREENS, record, screen, ticket};
use crate::domain::environment::EnvironmentKind;
use crate::domain::time::{Now, clock, words};
use crate::ui::layout::{Page, Room, bottom, inset, top};
use crate::ui::wide::{Keep, cut};
use crate::ui::widgets::band::{self, Band};
use crate::ui::widgets::footer;
use crate::ui::widgets::panel::wrapped;
use crate::ui::widgets::tabs::{self, Here, Tab};
use crate::ui::{Canvas, Line, Role};

/// Draws the model.
pub fn view(model: &Model, frame: &mut Frame<'_>, now: Now) {
    draw(model, model.replay.as_ref(), frame, now);
}

/// Draws what a recorded console showed, marked as a recording.
pub fn view_recorded(model: &Model, how: &Playback, frame: &mut Frame<'_>, now: Now) {
    draw(model, Some(how), frame, now);
}

fn draw(model: &Model, how: Option<&Playback>, frame: &mut Frame<'_>, now: Now) {
    let area = frame.area();
    let mut canvas = Canvas::new(frame.buffer_mut(), &model.setup.look);
    canvas.clear(area, Role::Normal);
    let mut page = Page::of(area);
    let coach = coach(model, &mut page, &canvas, now);
    let freshness = model.freshness(now);
    let band = band_of(model, freshness, now);
    band::draw(&mut canvas, page.band, &how.map_or_else(|| band.clone(), |how| how.band(&band)));
    where_we_are(model, &mut canvas, page.tabs);
    rule(model, how, &mut canvas, page.rule, freshness, now);
    let covered = match &model.dialog {
        Some(Dialog::Bulk(bulk)) => bulk.scope() != Scope::Marked,
        Some(Dialog::Guard(_)) => true,
        Some(Dialog::Menu(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None => false,
    };
    if !covered {
        let mut body = page.body;
        if freshness.is_old() && model.picture.snapshot().is_some() {
            let (head, rest) = top(body, 1);
            let as_of = Line::of(Role::Stale, format!(" as of {} ", model.picture.as_of()));
            canvas.line(head, &as_of.then("  Numbers and ages are of that moment. Trend: not known now."));
            body = rest;
        }
        canvas.lay_over(freshness.is_old().then_some(Role::Old));
        match &model.place {
            Place::Screen(id) => (screen(*id).view)(model, &mut canvas, body, page.room, now),
            Place::Record(id, _) => record::view(model, id, &mut canvas, body, page.room, now),
            Place::Ticket(id, _) => ticket::view_answer(model, id, &mut canvas, body, page.room, now),
        }
        canvas.lay_over(None);
    }
    if model.dialog.is_some() && page.room < Room::Preview {
        // Too narrow for a dialog beside anything: scraps of the screen around it only distract.
        canvas.clear(page.body, Role::Normal);
    }
    dialog::view(model, &mut canvas, inset(page.body), now);
    if let Some((place, rows)) = coach {
        canvas.lines(place, &rows);
    }
    notice(model, how, &mut canvas, page.notice, freshness, now);
    footer::draw(&mut canvas, page.footer, &keymap::footer(&keys_that_work(model, how, now)));
}

/// The coach's rows and their place, which a drill takes from the body: one row where it fits, two in a narrow window.
fn coach(model: &Model, page: &mut Page, canvas: &Canvas<'_>, now: Now) -> Option<(Rect, Vec<Line>)> {
    let line = drill::line(model, page.body.width, now)?;
    let mut rows = wrapped(&[line], usize::from(page.body.width), canvas);
    rows.truncate(2);
    let (body, place) = bottom(page.body, u16::try_from(rows.len()).unwrap_or(1).min(page.body.height / 3));
    page.body = body;
    Some((place, rows))
}

/// The scopes whose keys do something. In a recording that is followed, the operator's keys do not.
fn keys_that_work(model: &Model, how: Option<&Playback>, now: Now) -> Vec<Scope> {
    match how {
        Some(how) if !how.is_viewers() => vec![Scope::Replay, Scope::Global],
        Some(_) | None => model.scopes(now),
    }
}

fn band_of(model: &Model, freshness: Freshness, now: Now) -> Band {
    let environment = &model.setup.context.environment;
    let role = match environment.kind {
        EnvironmentKind::Production => Role::BandProduction,
        EnvironmentKind::Staging => Role::BandStaging,
        EnvironmentKind::Development => Role::BandDevelopment,
        EnvironmentKind::Demo => Role::BandDemo,
    };
    let writes = match &model.dialog {
        Some(Dialog::Bulk(bulk)) => bulk.writes(),
        Some(Dialog::Guard(guard)) => guard.writes(),
        Some(Dialog::Menu(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None => false,
    };
    let mode = if writes {
        ("WRITE (this plan only)".to_owned(), Role::Write)
    } else {
        ("READ-ONLY".to_owned(), Role::Normal)
    };
    let age = match freshness {
        Freshness::Waiting => ("data NOT KNOWN".to_owned(), Role::Unknown),
        Freshness::Fresh(old) => (format!("data fresh {}", words(old)), Role::Normal),
        Freshness::Ageing(old) => (format!("data {} old", words(old)), Role::Caution),
        Freshness::Stale(old) => (format!("data STALE {}", words(old)), Role::Stale),
        Freshness::Lost(Some(old)) => (format!("data STALE {}", words(old)), Role::Lost),
        Freshness::Lost(None) => ("data NOT KNOWN".to_owned(), Role::Lost),
        Freshness::Paused(old) => (format!("PAUSED {}", words(old)), Role::Stale),
    };
    let mut extra = vec![model.setup.context.operator.to_string()];
    if model.setup.acting == Acting::Off {
        extra.push("look-ups only (no --act)".into());
    }
    Band {
        environment: (environment.kind.band().to_owned(), role),
        database: model.facts.as_ref().map_or_else(|| "not connected".to_owned(), |f| f.database.clone()),
        mode,
        extra,
        age,
        clock: clock(now.0),
        help: keymap::label(Scope::Global, Command::App(AppCommand::Help)),
    }
}

fn where_we_are(model: &Model, canvas: &mut Canvas<'_>, area: Rect) {
    match &model.place {
        Place::Record(id, from) | Place::Ticket(id, from) => {
            let from_title = screen(*from).titles.first().copied().unwrap_or_default();
            let order = model.screens.records(*from);
            let mut right = Line::empty();
            let walks = matches!(model.place, Place::Record(..));
            if let Some(place) = order.iter().position(|other| other == id).filter(|_| walks) {
                let text = format!("{} of {}  ", place.saturating_add(1), order.len());
                right = Line::of(Role::Dim, text).and(Role::Key, "J/K").then(" next ");
            }
            let what = match &model.place {
                Place::Ticket(..) => "charged twice? > ",
                Place::Record(..) | Place::Screen(_) => "",
            };
            let lead = format!(" {from_title} > {what}");
            let taken = lead.len() + right.width(canvas.charset()) + 4;
            let room = usize::from(area.width).saturating_sub(taken);
            let name = cut(&id.to_string(), room, Keep::End, canvas.charset());
            canvas.line(area, &Line::of(Role::Dim, lead).and(Role::Selected, format!(" {name} ")));
            canvas.line_right(area, &right);
        }
        Place::Screen(here) => {
            let row: Vec<Tab> = SCREENS
                .iter()
                .map(|screen| {
                    let (count, role) = (screen.count)(model);
                    let on = if screen.id == *here { Here::Yes } else { Here::No };
                    Tab { digit: screen.digit, titles: screen.titles, count, role, here: on }
                })
                .collect();
            tabs::draw(canvas, area, &row);
        }
    }
}

fn rule(model: &Model, how: Option<&Playback>, canvas: &mut Canvas<'_>, area: Rect, freshness: Freshness, now: Now) {
    match freshness {
        Freshness::Lost(_) => {
            canvas.clear(area, Role::Lost);
            canvas.line(area, &Line::of(Role::Lost, lost_banner(model, now)));
        }
        Freshness::Stale(_) | Freshness::Paused(_) => {
            canvas.clear(area, Role::Stale);
            let why = model.picture.why_no_action(model.setup.poll_every, now).unwrap_or_default();
            canvas.line(area, &Line::of(Role::Stale, format!(" {why}")));
        }
        Freshness::Waiting | Freshness::Fresh(_) | Freshness::Ageing(_) => {
            if let Some(how) = how {
                canvas.line(area, &how.line());
                return;
            }
            let across = canvas.look().glyphs.line.0.repeat(usize::from(area.width));
            canvas.line(area, &Line::of(Role::Dim, across));
        }
    }
}

fn lost_banner(model: &Model, now: Now) -> String {
    let since = model
        .picture
        .lost_since()
        .map_or_else(String::new, |since| format!(" {} ago", words(crate::domain::time::age(since.0, now.0))));
    let seen = if model.picture.snapshot().is_some() {
        format!("Numbers are as of {}.", model.picture.as_of())
    } else {
        "Nothing has been seen yet.".to_owned()
    };
    format!("XX DATABASE LOST{since}. {seen} Actions are off. XX")
}

fn notice(model: &Model, how: Option<&Playback>, canvas: &mut Canvas<'_>, area: Rect, freshness: Freshness, now: Now) {
    // What is to be found is typed in the box at the top of its screen.
    if let Some(line) = model.line.as_ref().filter(|line| !matches!(line.typing, Typing::Find)) {
        let (sign, hint) = match line.typing {
            Typing::Filter { .. } => ("/", "words, or field:value; ! turns it round"),
            Typing::Command | Typing::Find => (":", "a screen, open SCOPE KEY, find TEXT"),
        };
        let shown = Line::of(Role::Key, sign).and(Role::Field, line.field.shown()).and(Role::Dim, format!("   {hint}"));
        canvas.line(area, &shown);
        return;
    }
    if let Some(notice) = model.notice.as_ref().filter(|n| n.is_current(now)) {
        let sign = if notice.role == Role::Caution { " ! " } else { " i " };
        let text = Line::of(notice.role, format!("{sign}{}", notice.text));
        let rows = wrapped(&[text], usize::from(area.width), canvas);
        // A long one takes the row above, too.
        let more = u16::from(rows.len() > 1 && area.y > 3);
        let place = Rect { y: area.y.saturating_sub(more), height: area.height.saturating_add(more), ..area };
        canvas.clear(place, Role::Normal);
        canvas.lines(place, &rows);
        return;
    }
    // A small window has no rule: what the banner says must still be on it.
    if matches!(freshness, Freshness::Lost(_)) && canvas.area().height < 12 {
        canvas.line(area, &Line::of(Role::Lost, lost_banner(model, now)));
        return;
    }
    // A banner, or a small window, takes the place where a recording says how it is played.
    if let Some(how) = how.filter(|_| freshness.is_old() || canvas.area().height < 12) {
        canvas.line(area, &how.line());
    }
}
