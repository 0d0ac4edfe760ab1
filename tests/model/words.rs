//! A trace as a person would tell it.

use super::protocol::{Action, Outcome, Who};
use super::state::{Answer, At, Change, Class, Console, Key, Request, Seen, Since, State};

fn who(who: Who) -> String {
    match who {
        Who::Pod(0) => "pod A".to_owned(),
        Who::Pod(_) => "pod B".to_owned(),
        Who::Recoverer => "the recoverer".to_owned(),
    }
}

fn person(console: usize) -> &'static str {
    if console == 0 { "dana" } else { "lee" }
}

fn class(class: Class) -> &'static str {
    match class {
        Class::Succeeded => "takes the money",
        Class::Failed => "declines",
        Class::Pending => "keeps it pending",
    }
}

fn seen(seen: Seen) -> &'static str {
    match seen {
        Seen::None | Seen::Silence => "gets no answer",
        Seen::Nothing => "finds nothing",
        Seen::MaybeNothing => "finds nothing in an index",
        Seen::Yes => "finds the charge",
        Seen::No => "finds a final no",
        Seen::Pending => "finds a pending charge",
        Seen::YesAndPending => "finds the charge and a pending one",
        Seen::TwoYes => "finds two charges",
        Seen::OthersOnly => "finds somebody else's charge of the order",
        Seen::YesAndOthers => "finds the charge and somebody else's",
    }
}

impl Action {
    /// The step in words.
    pub fn tell(self, before: &State, after: &State) -> String {
        let refused = |by: Who| {
            if before.of(by).current && !before.is_done() { "" } else { "; it is no longer the owner" }
        };
        match self {
            Action::Requested(pod) => {
                let what = if before.record.is_none() { "makes the record" } else { "takes the expired lease" };
                format!("a client's request reaches {}, which {what}", who(Who::Pod(pod)))
            }
            Action::Sweep => "the recoverer takes the expired lease by itself".to_owned(),
            Action::WriteCalled(by) => format!("{} writes provider_called{}", who(by), refused(by)),
            Action::Call(by, outcome) => {
                let by = who(by);
                let again = before.charges == after.charges;
                match outcome {
                    Outcome::Decided { class: Class::Succeeded, heard: true } if again => {
                        format!("{by} calls the provider, which repeats the charge it made under this key")
                    }
                    Outcome::Decided { class: one, heard: true } => {
                        format!("{by} calls the provider, which {}", class(one))
                    }
                    Outcome::Decided { class: one, heard: false } => {
                        format!("{by} calls the provider, which {}; the answer is lost", class(one))
                    }
                    Outcome::Late => format!("{by} calls the provider and times out; the call is still on its way"),
                    Outcome::Never => format!("{by} calls the provider; the call is lost"),
                }
            }
            Action::Save(by) => {
                let heard = |class| before.of(by).at == At::Answered(Answer::Charge(class));
                let what = if heard(Class::Succeeded) {
                    "the charge"
                } else if heard(Class::Failed) {
                    "the final no"
                } else if after.is_done() && !before.is_done() {
                    "the time-out as FAILED"
                } else {
                    "UNKNOWN"
                };
                format!("{} writes {what}{}", who(by), refused(by))
            }
            Action::Finish(by) => format!("{} finishes the record{}", who(by), refused(by)),
            Action::WorkerLooks(by, sight) => {
                let then = match (before.of(by).at, after.of(by).at) {
                    (At::HandedBack, At::ToCharge(_)) => " and may charge, as it was handed back",
                    (At::HandedBack, At::Idle) => " and gives the hand back up",
                    (_, At::ToCharge(Key::New)) => " and makes a new key",
                    _ => "",
                };
                format!("{} looks up and {}{then}", who(by), seen(sight))
            }
            Action::Crash(by) => format!("{} dies", who(by)),
            Action::PickUp => "the recoverer takes the lease for the hand back".to_owned(),
            Action::RefuseHandBack => {
                "the recoverer refuses the hand back: past its time, or another attempt".to_owned()
            }
            Action::Look(console, sight) => format!("{} looks up and {}", person(console), seen(sight)),
            Action::Plan(console) => {
                let Console::Plan(change, _) = after.consoles[console] else { return "no plan".to_owned() };
                format!("{} plans: {change:?}", person(console))
            }
            Action::Act(console) => {
                let Console::Plan(change, since) = before.consoles[console] else { return "no plan".to_owned() };
                let done = before.record != after.record || (before.request != after.request);
                let how = match (done, since) {
                    (true, Since::Nothing) => "done",
                    (true, _) => "done, on a record that others have taken or changed",
                    (false, _) => "refused",
                };
                format!("{} acts on the plan to {change:?}: {how}", person(console))
            }
            Action::Hold(console) => format!("{} holds the record", person(console)),
            Action::Release(console) => format!("{} releases the record", person(console)),
            Action::Withdraw => "the hand back is withdrawn".to_owned(),
            Action::LeaseEnds => "the lease ends".to_owned(),
            Action::TimePasses => "a settle time passes".to_owned(),
            Action::HandBackExpires => {
                let held = before.request == Request::Live && before.recoverer.at == At::HandedBack;
                format!("the hand back expires{}", if held { " in the recoverer's hands" } else { "" })
            }
            Action::KeyCloses => "the provider key comes near the end of its retention".to_owned(),
            Action::KeyForgotten => "the provider forgets the key".to_owned(),
            Action::Settles(one) => format!("the provider decides the pending charge: it {}", class(one)),
            Action::Lands(one) => format!("the late call arrives at the provider, which {}", class(one)),
            Action::Delete => "a job deletes the stuck record".to_owned(),
        }
    }
}

/// What a run must have come across, or it proves less than it seems to.
pub const DEEDS: [&str; 18] = [
    "a pod charges",
    "a call is answered with the charge made before",
    "a timed-out call arrives late",
    "a look-up misses a charge",
    "a worker dies between charge and record",
    "a pod finishes what another pod charged",
    "a former owner's write is refused",
    "a person's hold ends by itself",
    "a person adopts",
    "a person finishes with the provider's no",
    "a person finishes as not charged",
    "a person's act is refused",
    "a hand back is taken",
    "a hand back is refused",
    "a hand back expires in the recoverer's hands",
    "a hand back ends in a charge",
    "a hand back finds a charge after all",
    "the provider forgets a key",
];

/// Which of [`DEEDS`] a step is, if any.
#[expect(clippy::wildcard_enum_match_arm, reason = "most steps are none")]
pub fn deed(before: &State, action: Action, after: &State) -> Option<usize> {
    let charged = before.charges != after.charges;
    let finished = !before.is_done() && after.is_done();
    let former = |by: Who| !before.of(by).current;
    let name = match action {
        Action::Call(Who::Pod(_), Outcome::Decided { class: Class::Succeeded, .. }) if charged => DEEDS[0],
        Action::Call(Who::Recoverer, Outcome::Decided { class: Class::Succeeded, .. }) if charged => DEEDS[15],
        Action::Call(_, Outcome::Decided { .. }) => DEEDS[1],
        Action::Lands(_) => DEEDS[2],
        Action::Look(_, Seen::Nothing) | Action::WorkerLooks(_, Seen::Nothing) if before.charges[0].is_some() => {
            DEEDS[3]
        }
        Action::Crash(by) if before.of(by).at == At::Answered(Answer::Charge(Class::Succeeded)) => DEEDS[4],
        Action::WorkerLooks(Who::Pod(_), Seen::Yes) => DEEDS[5],
        Action::WriteCalled(by) | Action::Save(by) | Action::Finish(by) if former(by) => DEEDS[6],
        Action::LeaseEnds if matches!(before.lease(), super::state::Lease::Person(_)) => DEEDS[7],
        Action::Act(console) => match before.consoles[console] {
            Console::Plan(Change::Adopt, _) if finished => DEEDS[8],
            Console::Plan(Change::Fail, _) if finished => DEEDS[9],
            Console::Plan(Change::NotCharged, _) if finished => DEEDS[10],
            Console::Plan(..) if before.request == after.request => DEEDS[11],
            Console::Plan(..) | Console::Idle => return None,
        },
        Action::PickUp => DEEDS[12],
        Action::RefuseHandBack => DEEDS[13],
        Action::HandBackExpires if before.recoverer.at == At::HandedBack => DEEDS[14],
        Action::WorkerLooks(Who::Recoverer, Seen::Yes) if before.recoverer.at == At::HandedBack => DEEDS[16],
        Action::KeyForgotten => DEEDS[17],
        _ => return None,
    };
    DEEDS.iter().position(|one| *one == name)
}
