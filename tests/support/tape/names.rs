//! The names a tape gives to keys, and the words it keeps for itself.

use crate::support::keys::Key;

/// Barewords that a tape reads as commands or units, never as text.
pub const RESERVED: &[&str] = &[
    "Output",
    "Require",
    "Env",
    "Source",
    "Screenshot",
    "Copy",
    "Paste",
    "Hide",
    "Show",
    "Sleep",
    "Type",
    "Wait",
    "Set",
    "Ctrl",
    "Alt",
    "Shift",
    "ScrollUp",
    "ScrollDown",
    "Line",
    "Screen",
    "ms",
    "s",
    "m",
    "em",
    "px",
    "true",
    "false",
];

/// The keys with a name. Home, End and the function keys have none in a tape.
pub fn named(name: &str) -> Option<Key> {
    Some(match name {
        "Enter" => Key::Enter,
        "Space" => Key::Space,
        "Tab" => Key::Tab,
        "Backspace" => Key::Backspace,
        "Delete" => Key::Delete,
        "Insert" => Key::Insert,
        "Escape" => Key::Escape,
        "Up" => Key::Up,
        "Down" => Key::Down,
        "Left" => Key::Left,
        "Right" => Key::Right,
        "PageUp" => Key::PageUp,
        "PageDown" => Key::PageDown,
        _ => return None,
    })
}

/// A key together with Ctrl, Alt or Shift.
pub fn with_modifiers(modifiers: &[&str], part: &str) -> Option<Key> {
    let mut chars = part.chars();
    let single = chars.next().filter(|c| chars.next().is_none() && !c.is_ascii_digit());
    Some(match (modifiers, part, single) {
        (["Ctrl"] | ["Ctrl", "Shift"], _, Some(c)) => Key::Ctrl(c),
        (["Ctrl", "Alt"], _, Some(c)) => Key::CtrlAlt(c),
        (["Ctrl"], "Space", _) => Key::Ctrl('@'),
        (["Ctrl" | "Shift"], "Enter", _) => Key::Enter,
        (["Ctrl"], "Backspace", _) => Key::Sends("\x08"),
        (["Ctrl"], "Up", _) => Key::Sends("\x1b[1;5A"),
        (["Ctrl"], "Down", _) => Key::Sends("\x1b[1;5B"),
        (["Ctrl"], "Right", _) => Key::Sends("\x1b[1;5C"),
        (["Ctrl"], "Left", _) => Key::Sends("\x1b[1;5D"),
        (["Alt"], _, Some(c)) => Key::Alt(c),
        (["Alt"], "Enter", _) => Key::Sends("\x1b\r"),
        (["Alt"], "Tab", _) => Key::Sends("\x1b\t"),
        (["Shift"], _, Some(c)) => Key::Char(c.to_ascii_uppercase()),
        (["Shift"], "Tab", _) => Key::BackTab,
        _ => return None,
    })
}
