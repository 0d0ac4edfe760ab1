//! What there is to learn, as plain data: whoever knows the incidents hands it in.

use serde::{Deserialize, Serialize};

use super::super::screen::ScreenId;

/// What a drill asks of the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// Look up and finish records.
    Finish,
    /// See it, understand it, and say what should be done; no action of this console cures it.
    Understand,
}

/// A rule that names the mistake, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caught {
    /// The rule's id: `I5`.
    pub rule: String,
    /// When it would have.
    pub when: String,
}

/// One drill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lesson {
    /// The incident's name.
    pub name: String,
    /// What happened, in one sentence.
    pub sentence: String,
    /// The screen that shows it.
    pub shown_on: ScreenId,
    /// What is asked.
    pub job: Job,
    /// What can be seen.
    pub must_see: Vec<String>,
    /// What should be done.
    pub should_do: Vec<String>,
    /// What must not be done.
    pub must_not: Vec<String>,
    /// The rules that would have caught it, or the mistake most people make in it.
    pub caught_by: Vec<Caught>,
}

/// A drill on the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The incident's name.
    pub name: String,
    /// What happens in it, in one sentence.
    pub sentence: String,
}

/// What a console knows about practising.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Practice {
    /// Every drill there is.
    pub drills: Vec<Offer>,
    /// How this program is called at a prompt.
    pub program: String,
    /// The drill that this console was started for.
    pub lesson: Option<Lesson>,
}
