//! Which fault is played at which moment: in the suite each moment has one, and each kind of moment has them all over
//! the actions; with `UNSTUCK_FAULTS_DEEP=1` every moment of every action has every fault.

use super::cast::Action;
use super::play::Point;
use super::round::Fault;

/// How much is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// One fault at each moment.
    Cover,
    /// Every fault at each moment.
    Deep,
}

impl Depth {
    pub fn asked() -> Self {
        if std::env::var_os("UNSTUCK_FAULTS_DEEP").is_some() { Self::Deep } else { Self::Cover }
    }
}

/// Which moments of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// From the connection of the intent to the goodbye after the change, the provider's answers among them.
    Acting,
    /// The re-reading of the record, before a look-up and after every action: the same for all of them.
    Reading,
}

impl Part {
    pub fn of(point: &Point) -> Self {
        let reading = point.name == "alive" || point.name.ends_with(" reading") || point.name.contains("/get_");
        if reading { Self::Reading } else { Self::Acting }
    }
}

/// The rounds of one action, from the moments a run without faults showed.
pub fn rounds(action: Action, points: &[Point], part: Part, depth: Depth) -> Vec<(Point, Fault)> {
    let asks_provider = action == Action::LookUp;
    let faults: &[Fault] = match (asks_provider, depth) {
        (false, Depth::Cover) => &[Fault::Kill, Fault::Cut, Fault::Away],
        (true, _) | (false, Depth::Deep) => &[Fault::Kill, Fault::Cut, Fault::Away, Fault::Provider],
    };
    let chosen = points.iter().filter(|point| Part::of(point) == part).enumerate();
    let mut rounds = Vec::new();
    for (place, point) in chosen {
        match depth {
            Depth::Deep => rounds.extend(faults.iter().map(|fault| (point.clone(), *fault))),
            Depth::Cover => {
                // Each action begins with another fault, so that the same moment has them all in turn.
                let turn = (place + place / faults.len() + action.place()) % faults.len();
                rounds.push((point.clone(), faults[turn]));
            }
        }
        if point.moment == "under-way" && point.name.starts_with("call ") {
            rounds.push((point.clone(), Fault::AnswerLost));
            if action.locks_the_record() && point.name.contains(&format!("{}.sql", action.function())) {
                rounds.push((point.clone(), Fault::Late));
            }
        }
    }
    rounds
}
