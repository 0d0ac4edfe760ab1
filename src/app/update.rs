//! What happens: one message in, the model changed, wishes out. No IO, no clock, no runtime.

use super::dialog::{self, Dialog, guard, menu, no_delete, reader};
use super::drill;
use super::effect::Effect;
use super::hand_backs;
use super::input::Verdict;
use super::key::Chord;
use super::keymap::{self, AppCommand, Command, RowCommand, Scope};
use super::line;
use super::list::Reading;
use super::model::{Acting, Leave, Model, Place, Zone};
use super::msg::{GuardMsg, Msg, Polled};
use super::notice::Notice;
use super::paste;
use super::picture::{Freshness, Taken};
use super::screen::{ScreenId, reconciliation, record, screen, sync_all, ticket};
use crate::domain::approval;
use crate::domain::ids::RecordId;
use crate::domain::port::{Dossier, StoreError};
use crate::domain::snapshot::Signal;
use crate::domain::time::{Now, age};

/// A record on view is read again when its reading is older than this.
const REREAD_AFTER: u64 = 5;

/// Takes a message. A drill looks on and changes nothing of it.
pub fn update(model: &mut Model, msg: Msg, now: Now) -> Vec<Effect> {
    let before = drill::Before::of(model, &msg);
    let effects = take(model, msg, now);
    drill::follow(model, before, &effects, now);
    effects
}

fn take(model: &mut Model, msg: Msg, now: Now) -> Vec<Effect> {
    if model.notice.as_ref().is_some_and(|n| !n.is_current(now)) {
        model.notice = None;
        if model.card == super::model::CardSeen::LineShown {
            model.card = super::model::CardSeen::Once;
        }
    }
    match msg {
        Msg::Key(chord) => key(model, chord, now),
        Msg::Paste(text) => paste::take(model, &text, now),
        Msg::Focus => {
            model.input.focus(now);
            vec![]
        }
        Msg::Resumed => {
            // The picture is as old as the pause was long, and whoever came back types on.
            model.input.focus(now);
            vec![Effect::PollNow]
        }
        Msg::Resized(width, height) => {
            model.size = (width, height);
            vec![]
        }
        Msg::Drawn => {
            dialog::drawn(model, now);
            vec![]
        }
        Msg::Wake => dialog::wake(model, now),
        Msg::Connected(facts) => {
            model.setup.context.role.clone_from(&facts.role);
            if let Some(why) = facts.read_only.as_ref().filter(|_| model.setup.acting == Acting::On) {
                model.notice = Some(Notice::caution(format!("Only reading here: {why}"), now));
            }
            model.facts = Some(*facts);
            vec![]
        }
        Msg::Polled(polled) => take_poll(model, polled, now),
        Msg::Dossier(id, read) => dossier(model, &id, read, now),
        Msg::Found(text, found) => match found {
            Err(error) => {
                model.notice = Some(Notice::caution(format!("Nothing could be looked for: {error}."), now));
                vec![]
            }
            // A plan, or records on their way, are not taken from under a person's eyes.
            Ok(candidates) if model.dialog.is_some() => {
                model.say(format!("{} found for {text}. Ask again when this is closed.", candidates.len()), now);
                vec![]
            }
            Ok(candidates) => match candidates.as_slice() {
                [] => {
                    model.say(format!("Nothing carries {text}."), now);
                    vec![]
                }
                [one] => {
                    let from = model.screen();
                    model.go(Place::Record(one.id.clone(), from), now)
                }
                several => {
                    model.dialog = Some(Dialog::Reader(reader::found(&text, several)));
                    vec![]
                }
            },
        },
        Msg::Guard(run, msg) => {
            let ended = matches!(msg, GuardMsg::Acted(_));
            let mut effects = dialog::heard(model, run, msg, now);
            if ended {
                effects.extend(ticket::after_action(model));
            }
            effects
        }
        Msg::Ticket(heard) => ticket::heard(model, heard, now),
        Msg::Said(text) => {
            model.say(text, now);
            vec![]
        }
        Msg::Terminate => terminate(model, now),
    }
}

fn terminate(model: &mut Model, now: Now) -> Vec<Effect> {
    if dialog::settles(model) == dialog::Settles::Later {
        model.leave = Leave::WhenSettled;
        model.notice = Some(Notice::caution("Asked to end: waiting for the outcome of the running action first.", now));
        return vec![];
    }
    model.leave = Leave::Now;
    vec![Effect::Quit]
}

fn take_poll(model: &mut Model, polled: Polled, now: Now) -> Vec<Effect> {
    let Polled { generation, result, next_try } = polled;
    let news;
    let was_lost = matches!(model.freshness(now), Freshness::Lost(_));
    let taken = match result {
        Ok(snapshot) => {
            for signal in Signal::ALL {
                if let Some(pulse) = snapshot.pulse_of(signal) {
                    model.histories.entry(signal).or_default().push(snapshot.db_now, pulse.count);
                }
            }
            news = model.picture.snapshot().and_then(|before| approval::news(before, &snapshot, &model.setup.context));
            model.picture.take(generation, snapshot, now)
        }
        Err(error) => {
            model.picture.fail(generation, error, next_try, now);
            return dialog::wake(model, now);
        }
    };
    if taken != Taken::Shown {
        return vec![];
    }
    if was_lost {
        model.say("The database answers again. Numbers are now.", now);
    }
    if let Some(notice) = sync_all(model, Reading::Yes) {
        model.say(notice, now);
    }
    if let Some(news) = news {
        model.notice = Some(Notice::caution(news, now));
    }
    let mut effects = dialog::watch(model, now);
    effects.extend(hand_backs::polled(model, now));
    effects.extend(ticket::polled(model, now));
    for again in reread(model, now) {
        if !effects.iter().any(|effect| matches!(effect, Effect::Open(id) if *id == again)) {
            effects.push(Effect::Open(again));
        }
    }
    effects
}

/// A record on view is kept as new as the lists: read again when it changed, or when its reading is old.
fn reread(model: &Model, now: Now) -> Vec<RecordId> {
    let here = match &model.place {
        Place::Record(id, _) | Place::Ticket(id, _) => Some(id),
        Place::Screen(_) => None,
    };
    let mut on_view: Vec<&RecordId> = here.into_iter().chain(guard::followed(model)).collect();
    on_view.dedup();
    let behind = |id: &&RecordId| {
        let Some(kept) = model.dossiers.get(id) else { return true };
        let changed = model.picture.record(id).is_some_and(|r| r.version != kept.detail.record.version);
        // What a recoverer is at right now is read with every poll.
        let handed_back = model.hand_backs.of(id).is_some_and(|seen| seen.request.state.is_open());
        changed || handed_back || age(kept.at, model.db_now(now)).0 > REREAD_AFTER
    };
    on_view.into_iter().filter(behind).cloned().collect()
}

fn dossier(model: &mut Model, id: &RecordId, read: Result<Option<Box<Dossier>>, StoreError>, now: Now) -> Vec<Effect> {
    let trouble = match read {
        Ok(Some(dossier)) => {
            model.keep(*dossier);
            None
        }
        Ok(None) => Some("there is no record with this scope and key".to_owned()),
        Err(error) => Some(error.to_string()),
    };
    model.screens.record.trouble = trouble.map(|why| (id.clone(), why));
    hand_backs::tell(model, now)
}

fn key(model: &mut Model, chord: Chord, now: Now) -> Vec<Effect> {
    let scopes = model.scopes(now);
    let typing = scopes.iter().any(|s| matches!(s, Scope::Line | Scope::Reason | Scope::Answer | Scope::Phrase));
    match model.input.judge(chord, now) {
        Verdict::Counts => {}
        Verdict::TooSoonAfterFocus => return vec![],
        Verdict::Burst(count) => {
            if scopes.contains(&Scope::Phrase) {
                if let Some(phrase) = dialog::field(model) {
                    phrase.clear();
                }
                model.notice =
                    Some(Notice::caution("Too fast for typing: the phrase was cleared. Type it again.", now));
                return vec![];
            }
            if !typing {
                let said = format!("Ignored {count} fast keys, looks like pasted text.");
                model.notice = Some(Notice::caution(said, now));
                return vec![];
            }
        }
    }
    if typing && text(model, chord, &scopes) {
        return vec![];
    }
    match keymap::lookup(&scopes, chord) {
        Some(asked) => command(model, asked, now),
        None => vec![],
    }
}

/// Gives a key to the field that is being written; keys of the scope that are no text win.
fn text(model: &mut Model, chord: Chord, scopes: &[Scope]) -> bool {
    if chord.typed().is_none() && keymap::lookup(scopes, chord).is_some() {
        return false;
    }
    if let Some(line) = &mut model.line {
        let taken = line.field.key(chord);
        line::typed(model);
        return taken;
    }
    dialog::field(model).is_some_and(|field| field.key(chord))
}

fn command(model: &mut Model, asked: Command, now: Now) -> Vec<Effect> {
    if asked != Command::App(AppCommand::Interrupt) && matches!(model.leave, Leave::AskedOnce(_)) {
        model.leave = Leave::No;
    }
    if model.line.is_some() {
        return line::on(model, asked, now);
    }
    if model.dialog.is_some() {
        return dialog::on(model, asked, now);
    }
    match asked {
        Command::Go(id) => model.go(Place::Screen(id), now),
        Command::Ticket(asked) => ticket::turn(model, asked, now),
        Command::Row(asked) => rows(model, asked, now),
        Command::App(asked) => app(model, asked, now),
        Command::Guard(_) | Command::Replay(_) | Command::Ask(_) => vec![],
    }
}

fn rows(model: &mut Model, asked: RowCommand, now: Now) -> Vec<Effect> {
    let handled = match model.place {
        Place::Record(..) => record::on(model, asked, now),
        Place::Ticket(..) => ticket::on_answer(model, asked, now),
        Place::Screen(id) => (screen(id).on)(model, asked, now),
    };
    if let Some(effects) = handled {
        return effects;
    }
    match asked {
        RowCommand::Back => back(model, now),
        RowCommand::Sort | RowCommand::Reverse => {
            model.say("This screen has one order.", now);
            vec![]
        }
        RowCommand::Mark | RowCommand::Unmark => {
            model.say("Marks are for records on 2 and 3.", now);
            vec![]
        }
        RowCommand::Only => {
            model.say("Rows here are of one kind. 6 has several.", now);
            vec![]
        }
        RowCommand::Move(_) | RowCommand::Enter | RowCommand::Next | RowCommand::Previous | RowCommand::Raw => vec![],
    }
}

/// Esc: a record closes to its list; at the top level nothing happens.
fn back(model: &mut Model, now: Now) -> Vec<Effect> {
    match model.place.clone() {
        Place::Record(id, from) | Place::Ticket(id, from) => {
            let before = Place::Screen(from);
            let came_from = [before.clone(), Place::Record(id.clone(), from), Place::Ticket(id, from)];
            if model.past.back.last().is_some_and(|last| came_from.contains(last)) {
                model.back(now).unwrap_or_default()
            } else {
                model.replace(before, now)
            }
        }
        Place::Screen(_) => vec![],
    }
}

fn app(model: &mut Model, asked: AppCommand, now: Now) -> Vec<Effect> {
    match asked {
        AppCommand::Quit => match model.place {
            Place::Record(..) | Place::Ticket(..) => return back(model, now),
            Place::Screen(_) => {
                model.leave = Leave::Now;
                return vec![Effect::Quit];
            }
        },
        AppCommand::Interrupt => {
            if matches!(model.leave, Leave::AskedOnce(_)) {
                model.leave = Leave::Now;
                return vec![Effect::Quit];
            }
            model.leave = Leave::AskedOnce(now);
            model.say("Ctrl-c once more leaves the console.", now);
        }
        AppCommand::Help => model.dialog = Some(Dialog::Reader(reader::help(model, now))),
        AppCommand::CommandLine => line::open_command(model),
        AppCommand::Filter => return line::open_filter(model, now),
        AppCommand::Resort => {
            sync_all(model, Reading::No);
            let mut effects = vec![Effect::PollNow];
            effects.extend(ticket::again(model));
            return effects;
        }
        AppCommand::Pause => {
            model.picture.toggle_pause(now);
            if model.picture.is_paused() {
                model.say("Paused: this picture stays. Actions are off. p for now.", now);
            } else {
                sync_all(model, Reading::Yes);
            }
        }
        AppCommand::Copy if model.place == Place::Screen(ScreenId::Ticket) && model.target().is_none() => {
            model.say("There is nothing to copy yet.", now);
        }
        AppCommand::Copy => return vec![Effect::Copy(copied(model, now))],
        AppCommand::Sql => model.dialog = Some(Dialog::Reader(reader::sql(model))),
        AppCommand::Zone => {
            model.zone = match model.zone {
                Zone::Ages => Zone::Utc,
                Zone::Utc => Zone::Ages,
            }
        }
        AppCommand::HistoryBack => return moved(model, now, Model::back),
        AppCommand::HistoryForward => return moved(model, now, Model::forward),
        AppCommand::LastView => return moved(model, now, Model::last_view),
        AppCommand::Redraw => return vec![Effect::Redraw],
        AppCommand::Reconnect => {
            if model.replay.is_some() {
                model.say("This is a recording: there is no database to try.", now);
                return vec![];
            }
            model.say("Trying the database now.", now);
            return vec![Effect::PollNow];
        }
        AppCommand::Actions => return menu::open(model, now),
        AppCommand::NoDelete => return no_delete::press(model, now),
        AppCommand::Hint => {
            if let Some(drill) = &mut model.drill {
                drill.speak_plainly(now);
            }
        }
    }
    vec![]
}

fn moved(model: &mut Model, now: Now, go: impl Fn(&mut Model, Now) -> Option<Vec<Effect>>) -> Vec<Effect> {
    go(model, now).unwrap_or_else(|| {
        model.say("There is no further place in the history.", now);
        vec![]
    })
}

/// What `y` copies: the break or the record under the cursor, else the sentence.
fn copied(model: &Model, now: Now) -> String {
    if let Some(text) = ticket::copied(model).or_else(|| reconciliation::copied(model)) {
        return text;
    }
    if let Some(id) = model.target() {
        return id.to_string();
    }
    let lines = super::screen::overview::sentence_lines(model, now);
    let words: Vec<String> = lines.iter().map(|l| l.words().trim().to_owned()).collect();
    format!("{} {}", model.setup.context.environment, words.join(" "))
}
