//! Where the console is: the name a person types, and how careful that place has to be.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What kind of place an environment is. It decides the band's colour and how strict the guard is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EnvironmentKind {
    /// Real customers, real money.
    Production,
    /// A rehearsal of production.
    Staging,
    /// A developer's own.
    Development,
    /// The lab's throw-away world.
    Demo,
}

impl EnvironmentKind {
    /// The word in the band.
    pub fn band(self) -> &'static str {
        match self {
            Self::Production => "PROD",
            Self::Staging => "STAGING",
            Self::Development => "DEV",
            Self::Demo => "DEMO DATA",
        }
    }
}

/// An environment as configuration and database both name it. When they differ the console only reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// The name people use, and type in the phrase: `prod`, `demo`.
    pub name: String,
    /// How careful to be there.
    pub kind: EnvironmentKind,
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}
