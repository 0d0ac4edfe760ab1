//! What the terminal sends, in the console's own words. Presses only; a repeat counts only for movement;
//! a release never does anything.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::app::key::{Chord, Held, Key};
use crate::app::msg::Msg;

/// What one terminal event comes to.
#[derive(Debug)]
pub enum Input {
    /// A message for the model.
    Msg(Box<Msg>),
    /// Ctrl-z: in raw mode it is a key, not a signal.
    Suspend,
    /// Nothing.
    Nothing,
}

/// Translates one event.
pub fn translate(event: Event) -> Input {
    match event {
        Event::Key(key) => pressed(key),
        Event::Paste(text) => Input::Msg(Box::new(Msg::Paste(text))),
        Event::FocusGained => Input::Msg(Box::new(Msg::Focus)),
        Event::Resize(columns, rows) => Input::Msg(Box::new(Msg::Resized(columns, rows))),
        Event::FocusLost | Event::Mouse(_) => Input::Nothing,
    }
}

fn pressed(event: KeyEvent) -> Input {
    let Some(key) = key(event.code) else {
        return Input::Nothing;
    };
    match event.kind {
        KeyEventKind::Press => {}
        KeyEventKind::Repeat if is_movement(key) => {}
        KeyEventKind::Repeat | KeyEventKind::Release => return Input::Nothing,
    }
    let held = if event
        .modifiers
        .intersects(KeyModifiers::ALT | KeyModifiers::META | KeyModifiers::SUPER | KeyModifiers::HYPER)
    {
        Held::Alt
    } else if event.modifiers.contains(KeyModifiers::CONTROL) {
        Held::Ctrl
    } else {
        Held::Nothing
    };
    if held == Held::Ctrl && key == Key::Char('z') {
        return Input::Suspend;
    }
    Input::Msg(Box::new(Msg::Key(Chord { key, held })))
}

fn key(code: KeyCode) -> Option<Key> {
    let key = match code {
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Insert => Key::Insert,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::F(number) => Key::F(number),
        KeyCode::Null
        | KeyCode::CapsLock
        | KeyCode::ScrollLock
        | KeyCode::NumLock
        | KeyCode::PrintScreen
        | KeyCode::Pause
        | KeyCode::Menu
        | KeyCode::KeypadBegin
        | KeyCode::Media(_)
        | KeyCode::Modifier(_) => return None,
    };
    Some(key)
}

fn is_movement(key: Key) -> bool {
    matches!(key, Key::Up | Key::Down | Key::PageUp | Key::PageDown | Key::Char('j' | 'k'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(code: KeyCode, kind: KeyEventKind) -> Event {
        Event::Key(KeyEvent::new_with_kind(code, KeyModifiers::NONE, kind))
    }

    #[test]
    fn releases_and_repeats_never_act() {
        assert!(matches!(translate(event(KeyCode::Enter, KeyEventKind::Release)), Input::Nothing));
        assert!(matches!(translate(event(KeyCode::Enter, KeyEventKind::Repeat)), Input::Nothing));
        assert!(matches!(translate(event(KeyCode::Char('a'), KeyEventKind::Repeat)), Input::Nothing));
        assert!(matches!(translate(event(KeyCode::Down, KeyEventKind::Repeat)), Input::Msg(_)));
        assert!(matches!(translate(event(KeyCode::Enter, KeyEventKind::Press)), Input::Msg(_)));
    }

    #[test]
    fn ctrl_z_suspends() {
        let event = Event::Key(KeyEvent::new(KeyCode::Char('z'), KeyModifiers::CONTROL));
        assert!(matches!(translate(event), Input::Suspend));
    }
}
