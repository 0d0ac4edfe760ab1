//! Keys as a person names them, and the bytes a terminal sends for them.

/// One key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Ctrl(char),
    Alt(char),
    CtrlAlt(char),
    Enter,
    Escape,
    Tab,
    BackTab,
    Space,
    Backspace,
    Delete,
    Insert,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    /// A key that has no name here, by what the terminal sends for it.
    Sends(&'static str),
}

/// Whether the program asked for application cursor keys (DECCKM).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorKeys {
    Normal,
    Application,
}

impl Key {
    /// What xterm sends for this key.
    pub fn bytes(self, mode: CursorKeys) -> Vec<u8> {
        let arrow = |letter: &str| match mode {
            CursorKeys::Normal => format!("\x1b[{letter}").into_bytes(),
            CursorKeys::Application => format!("\x1bO{letter}").into_bytes(),
        };
        match self {
            Key::Char(c) => c.to_string().into_bytes(),
            Key::Ctrl(c) => vec![control(c)],
            Key::Alt(c) => format!("\x1b{c}").into_bytes(),
            Key::CtrlAlt(c) => vec![0x1b, control(c)],
            Key::Enter => b"\r".to_vec(),
            Key::Escape => b"\x1b".to_vec(),
            Key::Tab => b"\t".to_vec(),
            Key::BackTab => b"\x1b[Z".to_vec(),
            Key::Space => b" ".to_vec(),
            Key::Backspace => b"\x7f".to_vec(),
            Key::Delete => b"\x1b[3~".to_vec(),
            Key::Insert => b"\x1b[2~".to_vec(),
            Key::Up => arrow("A"),
            Key::Down => arrow("B"),
            Key::Right => arrow("C"),
            Key::Left => arrow("D"),
            Key::Home => arrow("H"),
            Key::End => arrow("F"),
            Key::PageUp => b"\x1b[5~".to_vec(),
            Key::PageDown => b"\x1b[6~".to_vec(),
            Key::Sends(bytes) => bytes.as_bytes().to_vec(),
        }
    }
}

/// Ctrl takes the upper bits off a character: Ctrl-c is 3, Ctrl-@ and Ctrl-Space are 0.
fn control(c: char) -> u8 {
    let plain = u8::try_from(c.to_ascii_uppercase()).unwrap_or(b'@');
    plain & 0x1f
}

#[test]
fn keys_become_the_bytes_a_terminal_sends() {
    let normal = |key: Key| key.bytes(CursorKeys::Normal);
    assert_eq!(normal(Key::Ctrl('c')), [3]);
    assert_eq!(normal(Key::Ctrl('@')), [0]);
    assert_eq!(normal(Key::Ctrl('\\')), [0x1c]);
    assert_eq!(normal(Key::Alt('x')), b"\x1bx");
    assert_eq!(normal(Key::CtrlAlt('k')), [0x1b, 0x0b]);
    assert_eq!(normal(Key::Char('é')), "é".as_bytes());
    assert_eq!(normal(Key::Up), b"\x1b[A");
    assert_eq!(normal(Key::Home), b"\x1b[H");
    assert_eq!(normal(Key::End), b"\x1b[F");
    assert_eq!(Key::Up.bytes(CursorKeys::Application), b"\x1bOA");
}
