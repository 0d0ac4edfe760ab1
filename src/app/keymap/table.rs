//! The rows of the key table.

use super::super::key::{Chord, Key};
use super::super::screen::ScreenId;
use super::{AppCommand, GuardCommand, ReplayCommand, RowCommand};
use super::{Binding, Command, Later, Motion, Scope};
use crate::domain::action::Request;

const fn row(
    scope: Scope,
    chords: &'static [Chord],
    command: Command,
    says: &'static str,
    footer: Option<(u8, &'static str)>,
) -> Binding {
    Binding { scope, chords, command, says, footer }
}

const fn c(c: char) -> Chord {
    Chord::char(c)
}

const fn k(key: Key) -> Chord {
    Chord::plain(key)
}

const fn ctrl(c: char) -> Chord {
    Chord::ctrl(c)
}

use AppCommand as App;
use Command as Do;
use GuardCommand as Guard;
use ReplayCommand as Play;
use RowCommand as Row;
use Scope as S;

/// The table. One row a line: it is read as a table.
#[rustfmt::skip]
pub const KEYMAP: &[Binding] = &[
    row(S::Global, &[c('1')], Do::Go(ScreenId::Overview), "Overview: how bad, getting worse, since when, what next", None),
    row(S::Global, &[c('2')], Do::Go(ScreenId::Stuck), "Stuck: records that hold customers back", None),
    row(S::Global, &[c('3')], Do::Go(ScreenId::Unknown), "Unknown: payments that may have taken money without us knowing", None),
    row(S::Global, &[c('4')], Do::Go(ScreenId::Conflicts), "Conflicts: 409 (key in use) and 422 (key reused with other content)", None),
    row(S::Global, &[c('5')], Do::Go(ScreenId::Invariants), "Invariants: is the money correct right now", None),
    row(S::Global, &[c('6')], Do::Go(ScreenId::Reconciliation), "Reconciliation: where the provider's reports and our books disagree", None),
    row(S::Global, &[c('7')], Do::NotYet(Later::Ticket), "Ticket triage: not available yet", None),
    row(S::Global, &[c('8')], Do::Go(ScreenId::Audit), "Audit: who did, tried or was refused what", None),
    row(S::Global, &[c('?')], Do::App(App::Help), "This help", Some((90, "help"))),
    row(S::Global, &[c(':')], Do::App(App::CommandLine), "Command line: screens and records by name; never a shell", Some((40, "command"))),
    row(S::Global, &[k(Key::Esc)], Do::Row(Row::Back), "Back, close, leave the filter. Never acts", None),
    row(S::Global, &[c('q')], Do::App(App::Quit), "Quit at the top level, else back", Some((95, "quit"))),
    row(S::Global, &[ctrl('c')], Do::App(App::Interrupt), "Cancel a dialog; twice at the top level quits", None),
    row(S::Global, &[c('p')], Do::App(App::Pause), "Pause: hold this picture; p again for now", Some((60, "pause"))),
    row(S::Global, &[c('y')], Do::App(App::Copy), "Copy the key or the text on screen", Some((50, "copy"))),
    row(S::Global, &[c('s')], Do::App(App::Sql), "The SQL behind these numbers", Some((55, "SQL"))),
    row(S::Global, &[c('z')], Do::App(App::Zone), "Times as UTC or as ages", None),
    row(S::Global, &[c('[')], Do::App(App::HistoryBack), "Back in history", None),
    row(S::Global, &[c(']')], Do::App(App::HistoryForward), "On in history", None),
    row(S::Global, &[c('-')], Do::App(App::LastView), "The view before this one", None),
    row(S::Global, &[c('R')], Do::App(App::Resort), "Take new rows in, sort, and poll now", None),
    row(S::Global, &[ctrl('l')], Do::App(App::Redraw), "Draw everything anew", None),
    row(S::Global, &[k(Key::Delete), c('D'), c('x'), ctrl('k')], Do::App(App::NoDelete), "Why nothing can be deleted here, and what to do instead", None),
    row(S::List, &[c('j'), k(Key::Down)], Do::Row(Row::Move(Motion::Down)), "Down", None),
    row(S::List, &[c('k'), k(Key::Up)], Do::Row(Row::Move(Motion::Up)), "Up", None),
    row(S::List, &[c('g'), k(Key::Home)], Do::Row(Row::Move(Motion::First)), "First", None),
    row(S::List, &[c('G'), k(Key::End)], Do::Row(Row::Move(Motion::Last)), "Last", None),
    row(S::List, &[ctrl('d')], Do::Row(Row::Move(Motion::HalfDown)), "Half a page down (only scrolls)", None),
    row(S::List, &[ctrl('u')], Do::Row(Row::Move(Motion::HalfUp)), "Half a page up", None),
    row(S::List, &[k(Key::PageDown)], Do::Row(Row::Move(Motion::PageDown)), "A page down", None),
    row(S::List, &[k(Key::PageUp)], Do::Row(Row::Move(Motion::PageUp)), "A page up", None),
    row(S::List, &[k(Key::Enter), c('d')], Do::Row(Row::Enter), "Open what is under the cursor (d describes, never deletes)", Some((10, "open"))),
    row(S::List, &[c('a')], Do::App(App::Actions), "Actions for this record, or for the marked ones: the only door to them", Some((15, "actions"))),
    row(S::List, &[c(' ')], Do::Row(Row::Mark), "Mark the record for an action on several, or take its mark away (2 and 3)", Some((17, "mark"))),
    row(S::List, &[c('U')], Do::Row(Row::Unmark), "Take all marks away", None),
    row(S::List, &[c('/')], Do::App(App::Filter), "Filter rows: words, or field:value; ! turns it round", Some((20, "filter"))),
    row(S::List, &[c('f')], Do::Row(Row::Only), "Breaks of the next kind only, then all again (6)", None),
    row(S::List, &[c('o')], Do::Row(Row::Sort), "Next sort order", Some((30, "sort"))),
    row(S::List, &[c('O')], Do::Row(Row::Reverse), "Turn the order round", None),
    row(S::Record, &[c('j'), k(Key::Down)], Do::Row(Row::Move(Motion::Down)), "Scroll down", None),
    row(S::Record, &[c('k'), k(Key::Up)], Do::Row(Row::Move(Motion::Up)), "Scroll up", None),
    row(S::Record, &[c('g'), k(Key::Home)], Do::Row(Row::Move(Motion::First)), "To the start", None),
    row(S::Record, &[c('G'), k(Key::End)], Do::Row(Row::Move(Motion::Last)), "To the end", None),
    row(S::Record, &[ctrl('d')], Do::Row(Row::Move(Motion::HalfDown)), "Half a page down (only scrolls)", None),
    row(S::Record, &[ctrl('u')], Do::Row(Row::Move(Motion::HalfUp)), "Half a page up", None),
    row(S::Record, &[k(Key::PageDown)], Do::Row(Row::Move(Motion::PageDown)), "A page down", None),
    row(S::Record, &[k(Key::PageUp)], Do::Row(Row::Move(Motion::PageUp)), "A page up", None),
    row(S::Record, &[c('a')], Do::App(App::Actions), "Actions for this record: the only door to them", Some((5, "actions"))),
    row(S::Record, &[c('J')], Do::Row(Row::Next), "Next record of the list", Some((10, "next"))),
    row(S::Record, &[c('K')], Do::Row(Row::Previous), "Previous record of the list", Some((11, "previous"))),
    row(S::Record, &[c('t')], Do::Row(Row::Raw), "Words or raw values", Some((20, "raw"))),
    row(S::Lost, &[c('r')], Do::App(App::Reconnect), "Try the database now", Some((1, "reconnect now"))),
    row(S::Menu, &[c('l')], Do::Ask(Request::LookUp), "Provider look-up: asks what happened, charges nothing", Some((1, "look up"))),
    row(S::Menu, &[c('r')], Do::Ask(Request::Resume), "Resume: finish from the last safe point", Some((2, "resume"))),
    row(S::Menu, &[c('o')], Do::Ask(Request::Hold), "Hold: keep sweepers and retries off while you look", Some((3, "hold"))),
    row(S::Menu, &[c('u')], Do::Ask(Request::Release), "Release a hold", Some((4, "release"))),
    row(S::Menu, &[c('w')], Do::Ask(Request::Withdraw), "Withdraw a hand back that no recoverer took up yet", None),
    row(S::Menu, &[c('n')], Do::Ask(Request::Note), "Add a note, visible to everyone on this record", Some((5, "note"))),
    row(S::Menu, &[c('h')], Do::Ask(Request::HandOver), "Hand over to a person, with what you saw", Some((6, "hand over"))),
    row(S::Menu, &[c('j'), k(Key::Down)], Do::Row(Row::Move(Motion::Down)), "Scroll down", None),
    row(S::Menu, &[c('k'), k(Key::Up)], Do::Row(Row::Move(Motion::Up)), "Scroll up", None),
    row(S::Menu, &[k(Key::Delete), c('D'), c('x'), ctrl('k')], Do::App(App::NoDelete), "Why nothing can be deleted here", None),
    row(S::Menu, &[k(Key::Esc), c('q'), ctrl('c')], Do::Row(Row::Back), "Close the menu. Nothing was sent", Some((9, "close"))),
    row(S::Marked, &[c('l')], Do::Ask(Request::LookUp), "Look up every marked record, one by one: charges nothing", Some((1, "look up all"))),
    row(S::Marked, &[c('r')], Do::Ask(Request::Resume), "Resume the marked records, one by one: adopt only", Some((2, "resume, adopt only"))),
    row(S::Marked, &[c('U')], Do::Row(Row::Unmark), "Take all marks away", Some((3, "unmark all"))),
    row(S::Marked, &[c('j'), k(Key::Down)], Do::Row(Row::Move(Motion::Down)), "Scroll down", None),
    row(S::Marked, &[c('k'), k(Key::Up)], Do::Row(Row::Move(Motion::Up)), "Scroll up", None),
    row(S::Marked, &[k(Key::Delete), c('D'), c('x'), ctrl('k')], Do::App(App::NoDelete), "Why nothing can be deleted here", None),
    row(S::Marked, &[k(Key::Esc), c('q'), ctrl('c')], Do::Row(Row::Back), "Close the menu. Nothing was sent", Some((9, "close"))),
    row(S::Plan, &[k(Key::Enter)], Do::Row(Row::Enter), "Next step", Some((1, "next step"))),
    row(S::Plan, &[c('j'), k(Key::Down)], Do::Row(Row::Move(Motion::Down)), "Scroll down", None),
    row(S::Plan, &[c('k'), k(Key::Up)], Do::Row(Row::Move(Motion::Up)), "Scroll up", None),
    row(S::Plan, &[c('c'), c('y')], Do::App(App::Copy), "Copy the plan", Some((5, "copy plan"))),
    row(S::Plan, &[k(Key::Esc), c('q'), ctrl('c')], Do::Row(Row::Back), "Cancel. Nothing was sent", Some((2, "cancel (nothing was sent)"))),
    row(S::Plan, &[c('w')], Do::Guard(Guard::TakeBack), "Read the request that waits for this plan; there it can be taken back", None),
    row(S::Plan, &[c('b')], Do::Guard(Guard::BreakGlass), "Break-glass: adopt without the answer, for an incident; leads to a page", None),
    row(S::Asked, &[c('A')], Do::Guard(Guard::Approve), "Approve: leads to what has to be typed", Some((1, "approve…"))),
    row(S::Asked, &[c('R')], Do::Guard(Guard::Refuse), "Refuse: leads to a page where a reason may be written", Some((2, "refuse…"))),
    row(S::Asked, &[c('w')], Do::Guard(Guard::TakeBack), "Take your own request back: leads to a page", None),
    row(S::Asked, &[c('a')], Do::App(App::Actions), "Actions for its record: a l looks up; then back here", Some((3, "actions"))),
    row(S::Asked, &[c('j'), k(Key::Down)], Do::Row(Row::Move(Motion::Down)), "Scroll down", Some((4, "down"))),
    row(S::Asked, &[c('k'), k(Key::Up)], Do::Row(Row::Move(Motion::Up)), "Scroll up", None),
    row(S::Asked, &[c('c'), c('y')], Do::App(App::Copy), "Copy the request", Some((6, "copy"))),
    row(S::Asked, &[k(Key::Esc), c('q'), ctrl('c')], Do::Row(Row::Back), "Close. Nothing was sent", Some((5, "close"))),
    row(S::Send, &[k(Key::Enter)], Do::Row(Row::Enter), "Send the plan to a second person", Some((1, "ask a second person"))),
    row(S::Send, &[k(Key::BackTab)], Do::Guard(Guard::PreviousField), "Back to the reason", Some((3, "back"))),
    row(S::Send, &[c('j'), k(Key::Down)], Do::Row(Row::Move(Motion::Down)), "Scroll down", None),
    row(S::Send, &[c('k'), k(Key::Up)], Do::Row(Row::Move(Motion::Up)), "Scroll up", None),
    row(S::Send, &[k(Key::Esc), c('q'), ctrl('c')], Do::Row(Row::Back), "Cancel. Nothing was sent", Some((2, "cancel (nothing was sent)"))),
    row(S::Reason, &[k(Key::Enter)], Do::Row(Row::Enter), "Next step", Some((1, "next step"))),
    row(S::Reason, &[k(Key::Tab), k(Key::Down)], Do::Guard(Guard::NextField), "Next field", Some((2, "next field"))),
    row(S::Reason, &[k(Key::BackTab), k(Key::Up)], Do::Guard(Guard::PreviousField), "Previous field, or back to the plan", Some((3, "back"))),
    row(S::Reason, &[k(Key::Esc), ctrl('c')], Do::Row(Row::Back), "Cancel. Nothing was sent", Some((4, "cancel (nothing was sent)"))),
    row(S::Answer, &[k(Key::Enter)], Do::Row(Row::Enter), "Send the answer; the words may be empty", Some((1, "send it"))),
    row(S::Answer, &[k(Key::BackTab)], Do::Guard(Guard::PreviousField), "Back to the request", Some((3, "back"))),
    row(S::Answer, &[k(Key::Esc), ctrl('c')], Do::Row(Row::Back), "Cancel. Nothing was sent", Some((2, "cancel (nothing was sent)"))),
    row(S::Phrase, &[k(Key::Enter)], Do::Row(Row::Enter), "Run it, once the text is the same", Some((1, "run, once the text is the same"))),
    row(S::Phrase, &[k(Key::BackTab)], Do::Guard(Guard::PreviousField), "Back to the reason", Some((3, "back"))),
    row(S::Phrase, &[k(Key::Esc), ctrl('c')], Do::Row(Row::Back), "Cancel. Nothing was sent", Some((2, "cancel (nothing was sent)"))),
    row(S::Waiting, &[k(Key::Esc), ctrl('c')], Do::Row(Row::Back), "Cancel before it is sent; afterwards nothing can be taken back", Some((1, "cancel, while nothing is sent"))),
    row(S::Running, &[k(Key::Esc), ctrl('c')], Do::Row(Row::Back), "Stop after the record that is on its way; nothing sent is taken back", Some((1, "stop after this one"))),
    row(S::Running, &[c('j'), k(Key::Down)], Do::Row(Row::Move(Motion::Down)), "Scroll down", None),
    row(S::Running, &[c('k'), k(Key::Up)], Do::Row(Row::Move(Motion::Up)), "Scroll up", None),
    row(S::Result, &[k(Key::Enter), k(Key::Esc), c('q'), ctrl('c')], Do::Row(Row::Back), "Close", Some((1, "close"))),
    row(S::Result, &[c('y'), c('c')], Do::App(App::Copy), "Copy the result", Some((2, "copy result"))),
    row(S::Result, &[c('n')], Do::Guard(Guard::Again), "A new plan for the same record", Some((3, "new plan"))),
    row(S::Result, &[c('r')], Do::Guard(Guard::ReadBack), "Ask once more what came of it, when that is not known", Some((4, "read back"))),
    row(S::Result, &[c('j'), k(Key::Down)], Do::Row(Row::Move(Motion::Down)), "Scroll down", None),
    row(S::Result, &[c('k'), k(Key::Up)], Do::Row(Row::Move(Motion::Up)), "Scroll up", None),
    row(S::NoDelete, &[c('l')], Do::Ask(Request::LookUp), "Look up instead", Some((1, "look up"))),
    row(S::NoDelete, &[c('r')], Do::Ask(Request::Resume), "Resume instead", Some((2, "resume"))),
    row(S::NoDelete, &[c('n')], Do::Ask(Request::Note), "Note instead", Some((3, "note"))),
    row(S::NoDelete, &[c('h')], Do::Ask(Request::HandOver), "Hand over instead", Some((4, "hand over"))),
    row(S::NoDelete, &[c('y')], Do::App(App::Copy), "Copy this text", Some((6, "copy"))),
    row(S::NoDelete, &[c('j'), k(Key::Down)], Do::Row(Row::Move(Motion::Down)), "Scroll down", None),
    row(S::NoDelete, &[c('k'), k(Key::Up)], Do::Row(Row::Move(Motion::Up)), "Scroll up", None),
    row(S::NoDelete, &[k(Key::Esc), c('q'), ctrl('c')], Do::Row(Row::Back), "Back; nothing happened", Some((5, "back"))),
    row(S::Reader, &[c('j'), k(Key::Down)], Do::Row(Row::Move(Motion::Down)), "Scroll down", Some((2, "down"))),
    row(S::Reader, &[c('k'), k(Key::Up)], Do::Row(Row::Move(Motion::Up)), "Scroll up", Some((3, "up"))),
    row(S::Reader, &[c('g'), k(Key::Home)], Do::Row(Row::Move(Motion::First)), "To the start", None),
    row(S::Reader, &[c('G'), k(Key::End)], Do::Row(Row::Move(Motion::Last)), "To the end", None),
    row(S::Reader, &[k(Key::PageDown), ctrl('d'), c(' ')], Do::Row(Row::Move(Motion::PageDown)), "A page down", None),
    row(S::Reader, &[k(Key::PageUp), ctrl('u')], Do::Row(Row::Move(Motion::PageUp)), "A page up", None),
    row(S::Reader, &[c('y')], Do::App(App::Copy), "Copy the text", Some((4, "copy"))),
    row(S::Reader, &[k(Key::Esc), c('q'), c('?'), ctrl('c')], Do::Row(Row::Back), "Close", Some((1, "close"))),
    row(S::Line, &[k(Key::Enter)], Do::Row(Row::Enter), "Take it", Some((1, "take it"))),
    row(S::Line, &[k(Key::Esc), ctrl('c')], Do::Row(Row::Back), "Leave it as it was", Some((2, "leave"))),
    row(S::Leaving, &[k(Key::Esc), k(Key::Enter), ctrl('c')], Do::Row(Row::Back), "Stay", Some((1, "stay"))),
    row(S::Leaving, &[c('Q')], Do::Guard(Guard::LeaveAnyway), "Leave anyway", Some((2, "leave anyway"))),
    row(S::Drill, &[c('H')], Do::App(App::Hint), "The coach says more: where to look, then which keys", Some((45, "hint"))),
    row(S::Replay, &[c('p')], Do::App(App::Pause), "Pause the recording, or go on; at its end, from the start again", Some((1, "pause"))),
    row(S::Replay, &[c('n')], Do::Replay(Play::Step), "The next thing that happened, then wait", Some((2, "step"))),
    row(S::Replay, &[c('c')], Do::Replay(Play::NextChange), "On to the next key, answer or change of the picture", Some((3, "next change"))),
    row(S::Replay, &[c('f')], Do::Replay(Play::Follow), "Follow: show what the operator saw. Walking about leaves it", Some((4, "follow"))),
    row(S::Replay, &[c('>')], Do::Replay(Play::Faster), "Faster: 1, 2, 5, 10, 30 times", Some((5, "faster"))),
    row(S::Replay, &[c('<')], Do::Replay(Play::Slower), "Slower", Some((6, "slower"))),
    row(S::Replay, &[c('0')], Do::Replay(Play::Restart), "From the start again", Some((7, "start"))),
    row(S::Replay, &[c('q')], Do::App(App::Quit), "Leave the recording; from a record, back", Some((8, "leave"))),
];
