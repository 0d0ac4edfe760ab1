//! What a key can ask for, in small closed groups.

use super::super::screen::ScreenId;
use crate::domain::action::Request;

/// How far to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Motion {
    /// One on.
    Down,
    /// One back.
    Up,
    /// To the start.
    First,
    /// To the end.
    Last,
    /// Half a page on.
    HalfDown,
    /// Half a page back.
    HalfUp,
    /// A page on.
    PageDown,
    /// A page back.
    PageUp,
}

/// What a key asks of the rows or the text on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowCommand {
    /// Move the cursor or scroll.
    Move(Motion),
    /// Open what is under the cursor; in the guard, the next step.
    Enter,
    /// One step back; never acts.
    Back,
    /// Next sort order.
    Sort,
    /// Turn the order round.
    Reverse,
    /// Next record of the list.
    Next,
    /// Previous record of the list.
    Previous,
    /// Words or raw values.
    Raw,
    /// Mark the record under the cursor, or take its mark away.
    Mark,
    /// Take all marks away.
    Unmark,
    /// Rows of the next kind only, then all again.
    Only,
}

/// What a key asks of the console as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AppCommand {
    /// Leave at the top level, else back.
    Quit,
    /// Cancel; twice at the top level leaves.
    Interrupt,
    /// Help for this screen.
    Help,
    /// The command line.
    CommandLine,
    /// Filter rows.
    Filter,
    /// Take new rows in and sort.
    Resort,
    /// Hold the picture.
    Pause,
    /// Copy the key or text.
    Copy,
    /// The SQL behind the numbers.
    Sql,
    /// UTC or ages.
    Zone,
    /// Back in history.
    HistoryBack,
    /// On in history.
    HistoryForward,
    /// Last view.
    LastView,
    /// Draw everything anew.
    Redraw,
    /// Try the database now.
    Reconnect,
    /// What can be done with this record.
    Actions,
    /// A delete habit: opens the card.
    NoDelete,
    /// The coach says more.
    Hint,
}

/// What a key asks of the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GuardCommand {
    /// Next field.
    NextField,
    /// Previous field, or the step before.
    PreviousField,
    /// A new plan for the same record.
    Again,
    /// Ask once more what came of it.
    ReadBack,
    /// Say yes to the request that is read.
    Approve,
    /// Say no to it.
    Refuse,
    /// Take one's own question back.
    TakeBack,
    /// Go on without an answer, for an incident.
    BreakGlass,
    /// Leave although something is running.
    LeaveAnyway,
}

/// What a key asks of a recording that is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReplayCommand {
    /// The next thing that happened, then wait.
    Step,
    /// On to the next change.
    NextChange,
    /// Play faster.
    Faster,
    /// Play slower.
    Slower,
    /// From the start again.
    Restart,
    /// Show what the operator saw.
    Follow,
}

/// What a key asks about a customer's question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TicketCommand {
    /// Whether the customer of the record was charged twice.
    Verdict,
    /// Copy the facts for engineering.
    Facts,
    /// The customer's text in the other language.
    Language,
    /// Others to whom the same happened; there, the other window of time.
    Others,
    /// Write it to files.
    Export,
}

/// What a key asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Command {
    /// Open a screen.
    Go(ScreenId),
    /// Something about a customer's question.
    Ticket(TicketCommand),
    /// Something about rows or text.
    Row(RowCommand),
    /// Something about the console.
    App(AppCommand),
    /// Something about the guard.
    Guard(GuardCommand),
    /// Something about the recording that is played.
    Replay(ReplayCommand),
    /// Prepare an action: only from the menu and the no-delete card, and only as far as a plan.
    Ask(Request),
}
