//! Keys, as the panel knows them: their names in help, footer and configuration.

use std::fmt;
use std::str::FromStr;

use axiom_base::error::{Code, Error, Result};

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // the keys of that name
pub enum PanelKey {
    /// A character; capital letters are characters of their own.
    Char(char),
    /// A letter with Ctrl.
    Ctrl(char),
    Enter,
    Escape,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
}

/// The keys that have a name.
const NAMED: [(PanelKey, &str); 15] = [
    (PanelKey::Char(' '), "Space"),
    (PanelKey::Enter, "Enter"),
    (PanelKey::Escape, "Esc"),
    (PanelKey::Tab, "Tab"),
    (PanelKey::BackTab, "Shift+Tab"),
    (PanelKey::Backspace, "Backspace"),
    (PanelKey::Delete, "Delete"),
    (PanelKey::Up, "Up"),
    (PanelKey::Down, "Down"),
    (PanelKey::Left, "Left"),
    (PanelKey::Right, "Right"),
    (PanelKey::PageUp, "PageUp"),
    (PanelKey::PageDown, "PageDown"),
    (PanelKey::Home, "Home"),
    (PanelKey::End, "End"),
];

impl fmt::Display for PanelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMED.iter().find(|(key, _)| key == self) {
            Some((_, name)) => f.write_str(name),
            None => match self {
                Self::Ctrl(letter) => write!(f, "Ctrl+{}", letter.to_ascii_uppercase()),
                Self::Char(letter) => write!(f, "{letter}"),
                Self::Enter | Self::Escape | Self::Tab | Self::BackTab | Self::Backspace | Self::Delete => Ok(()),
                Self::Up | Self::Down | Self::Left | Self::Right => Ok(()),
                Self::PageUp | Self::PageDown | Self::Home | Self::End => Ok(()),
            },
        }
    }
}

impl FromStr for PanelKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some((key, _)) = NAMED.iter().find(|(_, name)| name.eq_ignore_ascii_case(text)) {
            return Ok(*key);
        }
        let mut letters = text.chars();
        if let (Some(letter), None) = (letters.next(), letters.next()) {
            return Ok(Self::Char(letter)).and_then(|key| if letter.is_control() { Err(unknown(text)) } else { Ok(key) });
        }
        let ctrl = text.get(..5).filter(|begin| begin.eq_ignore_ascii_case("ctrl+")).and_then(|_| text.get(5..));
        let mut letters = ctrl.unwrap_or_default().chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) if letter.is_ascii_alphabetic() => Ok(Self::Ctrl(letter.to_ascii_lowercase())),
            (_, _) => Err(unknown(text)),
        }
    }
}

fn unknown(text: &str) -> Error {
    let names: Vec<&str> = NAMED.iter().map(|(_, name)| *name).collect();
    Error::new(Code::InvalidInput, format!("'{text}' is no key"))
        .hint(format!("a key is one character, Ctrl+ and a letter, or one of {}", names.join(", ")))
}

/// What a human does at the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PanelInput {
    /// A key.
    Key(PanelKey),
    /// Pasted text: never a command.
    Paste(String),
    /// A click on a cell.
    Click {
        /// From the left, from 0.
        column: u16,
        /// From the top, from 0.
        row: u16,
    },
    /// The wheel, up or down.
    Wheel(PanelDirection),
}

/// A direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PanelDirection {
    /// To what is above, or before.
    Up,
    /// To what is below, or after.
    Down,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read_by_its_name() {
        let named = NAMED.iter().map(|(key, _)| *key);
        for key in
            named.chain([PanelKey::Char('x'), PanelKey::Char('X'), PanelKey::Char('?'), PanelKey::Char('ü'), PanelKey::Ctrl('c')])
        {
            assert_eq!(key.to_string().parse::<PanelKey>().unwrap(), key, "{key}");
        }
        assert_eq!("ctrl+c".parse::<PanelKey>().unwrap(), PanelKey::Ctrl('c'));
        for none in ["", "xx", "Ctrl+", "Ctrl+cc", "Ctrl+1", "\u{1b}", "F1"] {
            assert!(none.parse::<PanelKey>().is_err(), "{none:?}");
        }
    }
}
