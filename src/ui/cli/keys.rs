//! Parsing a terminal's input into keys and pasted text. Pure: bytes in, keys out.

/// A key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPress {
    /// A printable character, or a space.
    Char(char),
    /// Return.
    Enter,
    /// The Escape key.
    Escape,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// To the beginning.
    Home,
    /// To the end.
    End,
    /// Deletes the character before the cursor.
    Backspace,
    /// Deletes the whole line.
    ClearLine,
    /// Ctrl+C.
    Interrupt,
    /// Ctrl+Z.
    Suspend,
    /// Ctrl+D: no answer.
    EndOfInput,
    /// Pasted text, if the terminal marks it.
    Pasted(String),
    /// A key that questions have no use for.
    Other(OtherKeyPress),
}

/// Keys that only some programs have a use for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherKeyPress {
    /// The Tab key.
    Tab,
    /// Shift and Tab.
    BackTab,
    /// Arrow to the left.
    Left,
    /// Arrow to the right.
    Right,
    /// Deletes the character at the cursor.
    Delete,
    /// A letter with Ctrl that has no name of its own here.
    Ctrl(char),
    /// The first button of the mouse was pressed on this cell, from 0.
    Click(u16, u16),
    /// The wheel, upwards.
    WheelUp,
    /// The wheel, downwards.
    WheelDown,
    /// Anything else.
    Unknown,
}

/// The sequences with which the terminal marks pasted text, when it was asked to.
const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// Splits input into keys. An incomplete sequence is kept for the next call.
#[derive(Debug, Default)]
pub struct KeyPressParser {
    waiting: Vec<u8>,
}

impl KeyPressParser {
    /// The keys in these bytes and in the bytes kept before.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<KeyPress> {
        self.waiting.extend_from_slice(bytes);
        let mut keys = Vec::new();
        let mut rest = std::mem::take(&mut self.waiting);
        while !rest.is_empty() {
            match one(&rest) {
                Some((key, length)) => {
                    keys.push(key);
                    rest.drain(..length);
                }
                None => break,
            }
        }
        self.waiting = rest;
        keys
    }

    /// Whether incomplete input is kept: an Escape, or the beginning of a sequence.
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The key for the kept bytes when no more arrive: Escape, or an unknown key. A paste is kept until its end arrives.
    pub fn give_up_waiting(&mut self) -> Option<KeyPress> {
        if self.waiting.starts_with(PASTE_BEGINS) {
            return None;
        }
        let waited = std::mem::take(&mut self.waiting);
        (!waited.is_empty()).then(|| if waited == [0x1b] { KeyPress::Escape } else { KeyPress::Other(OtherKeyPress::Unknown) })
    }
}

/// The first key, and the number of its bytes; `None` where it is incomplete.
fn one(bytes: &[u8]) -> Option<(KeyPress, usize)> {
    let key = match bytes[0] {
        0x1b => return sequence(bytes),
        b'\r' | b'\n' => KeyPress::Enter,
        0x7f | 0x08 => KeyPress::Backspace,
        0x15 => KeyPress::ClearLine,
        0x03 => KeyPress::Interrupt,
        0x1a => KeyPress::Suspend,
        0x04 => KeyPress::EndOfInput,
        0x0e => KeyPress::Down,
        0x10 => KeyPress::Up,
        b'\t' => KeyPress::Other(OtherKeyPress::Tab),
        byte @ 0x01..=0x1a => KeyPress::Other(OtherKeyPress::Ctrl(char::from(byte + 0x60))),
        byte if byte < 0x20 => KeyPress::Other(OtherKeyPress::Unknown),
        _ => return character(bytes),
    };
    Some((key, 1))
}

fn character(bytes: &[u8]) -> Option<(KeyPress, usize)> {
    let chunk = bytes.utf8_chunks().next()?;
    match chunk.valid().chars().next() {
        Some(c) if c.is_control() => Some((KeyPress::Other(OtherKeyPress::Unknown), c.len_utf8())),
        Some(c) => Some((KeyPress::Char(c), c.len_utf8())),
        // The beginning of an incomplete character. Anything else is not UTF-8.
        None if chunk.invalid().len() == bytes.len() && bytes.len() < 4 && could_begin(bytes) => None,
        None => Some((KeyPress::Other(OtherKeyPress::Unknown), chunk.invalid().len().max(1))),
    }
}

fn could_begin(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|e| e.error_len().is_none())
}

/// Escape, an escape sequence, or a paste.
fn sequence(bytes: &[u8]) -> Option<(KeyPress, usize)> {
    if bytes.starts_with(PASTE_BEGINS) {
        let text = &bytes[PASTE_BEGINS.len()..];
        let end = text.windows(PASTE_ENDS.len()).position(|window| window == PASTE_ENDS)?;
        let pasted = String::from_utf8_lossy(&text[..end]).into_owned();
        return Some((KeyPress::Pasted(pasted), PASTE_BEGINS.len() + end + PASTE_ENDS.len()));
    }
    match bytes.get(1)? {
        b'[' => {
            let end = 2 + bytes.get(2..)?.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
            Some((named(&bytes[2..=end]), end + 1))
        }
        b'O' => bytes.get(2).map(|last| (named(&[*last]), 3)),
        // Two Escapes are one Escape key. Escape and another character are that key with Alt.
        0x1b => Some((KeyPress::Escape, 1)),
        _ => Some((KeyPress::Other(OtherKeyPress::Unknown), 2)),
    }
}

fn named(sequence: &[u8]) -> KeyPress {
    match sequence {
        b"A" => KeyPress::Up,
        b"B" => KeyPress::Down,
        b"5~" => KeyPress::PageUp,
        b"6~" => KeyPress::PageDown,
        b"H" | b"1~" | b"7~" => KeyPress::Home,
        b"F" | b"4~" | b"8~" => KeyPress::End,
        b"C" => KeyPress::Other(OtherKeyPress::Right),
        b"D" => KeyPress::Other(OtherKeyPress::Left),
        b"Z" => KeyPress::Other(OtherKeyPress::BackTab),
        b"3~" => KeyPress::Other(OtherKeyPress::Delete),
        [b'<', report @ ..] => KeyPress::Other(mouse(report).unwrap_or(OtherKeyPress::Unknown)),
        _ => KeyPress::Other(OtherKeyPress::Unknown),
    }
}

/// What the mouse did: `button;column;row` from 1, and `M` where a button was pressed.
fn mouse(report: &[u8]) -> Option<OtherKeyPress> {
    let pressed = std::str::from_utf8(report).ok()?.strip_suffix('M')?;
    let mut numbers = pressed.split(';').map(|number| number.parse::<u16>().ok());
    let (button, column, row) = (numbers.next()??, numbers.next()??, numbers.next()??);
    match button {
        0 => Some(OtherKeyPress::Click(column.checked_sub(1)?, row.checked_sub(1)?)),
        64 => Some(OtherKeyPress::WheelUp),
        65 => Some(OtherKeyPress::WheelDown),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<KeyPress> {
        KeyPressParser::default().take(bytes)
    }

    #[test]
    fn keys_are_told_apart_also_where_they_come_at_once() {
        assert_eq!(all(b"y\r"), [KeyPress::Char('y'), KeyPress::Enter]);
        assert_eq!(
            all(b"\x1b[A\x1b[B\x1bOB\x1b[5~\x1b[1;5C\x03\x1a"),
            [
                KeyPress::Up,
                KeyPress::Down,
                KeyPress::Down,
                KeyPress::PageUp,
                KeyPress::Other(OtherKeyPress::Unknown),
                KeyPress::Interrupt,
                KeyPress::Suspend
            ]
        );
        assert_eq!(all("ü中\u{7f}".as_bytes()), [KeyPress::Char('ü'), KeyPress::Char('中'), KeyPress::Backspace]);
        assert_eq!(all(b"\x1b\x1b["), [KeyPress::Escape]);
        assert_eq!(all(b"\xff\x00"), [KeyPress::Other(OtherKeyPress::Unknown), KeyPress::Other(OtherKeyPress::Unknown)]);
    }

    #[test]
    fn further_keys_and_the_mouse_are_told_apart() {
        let further = |bytes: &[u8]| match all(bytes).as_slice() {
            [KeyPress::Other(other)] => *other,
            keys => panic!("{keys:?}"),
        };
        assert_eq!(further(b"\t"), OtherKeyPress::Tab);
        assert_eq!(
            [&b"\x1b[Z"[..], b"\x1b[C", b"\x1bOD", b"\x1b[3~"].map(further),
            [OtherKeyPress::BackTab, OtherKeyPress::Right, OtherKeyPress::Left, OtherKeyPress::Delete]
        );
        assert_eq!((further(b"\x0c"), further(b"\x00")), (OtherKeyPress::Ctrl('l'), OtherKeyPress::Unknown));
        assert_eq!(further(b"\x1b[<0;7;3M"), OtherKeyPress::Click(6, 2));
        assert_eq!((further(b"\x1b[<64;1;1M"), further(b"\x1b[<65;1;1M")), (OtherKeyPress::WheelUp, OtherKeyPress::WheelDown));
        for none in [&b"\x1b[<0;7;3m"[..], b"\x1b[<0;0;3M", b"\x1b[<0;99999;3M", b"\x1b[<2;7;3M", b"\x1b[<M"] {
            assert_eq!(further(none), OtherKeyPress::Unknown);
        }
    }

    #[test]
    fn what_comes_in_parts_is_one_key() {
        for whole in [&b"\x1b[A"[..], "中".as_bytes(), b"\x1b[200~y\r\x1b[201~"] {
            let wanted = all(whole);
            assert_eq!(wanted.len(), 1);
            for cut in 1..whole.len() {
                let mut keys = KeyPressParser::default();
                let mut found = keys.take(&whole[..cut]);
                assert!(keys.is_waiting(), "{cut} of {whole:?}");
                found.extend(keys.take(&whole[cut..]));
                assert_eq!(found, wanted, "{cut} of {whole:?}");
            }
        }
    }

    #[test]
    fn escape_is_a_key_once_nothing_follows_and_a_paste_is_no_key() {
        let mut keys = KeyPressParser::default();
        assert_eq!((keys.take(b"\x1b"), keys.give_up_waiting()), (vec![], Some(KeyPress::Escape)));
        assert_eq!((keys.take(b"\x1b["), keys.give_up_waiting()), (vec![], Some(KeyPress::Other(OtherKeyPress::Unknown))));
        assert_eq!(keys.give_up_waiting(), None);
        assert_eq!(keys.take(b"\x1b[200~y\ry\r"), []);
        assert_eq!(keys.give_up_waiting(), None, "it goes on");
        assert_eq!(keys.take(b"\x1b[201~n"), [KeyPress::Pasted("y\ry\r".into()), KeyPress::Char('n')]);
    }
}
