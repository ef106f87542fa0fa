//! The locks of `git axiom lock`: how many may hold one, which files stand for it, and what a holder says of itself. Pure.
//!
//! How they are taken is in `safety::lock`.

use std::ffi::OsString;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::forms::beginning::beginning;
use crate::base::ids::LockName;
use axiom_base::error::{Code, Error, Result};
use axiom_base::shell_word::quoted_word;

/// The most that may hold a lock at once.
const MOST_SLOTS: u32 = 1000;

/// How many bytes of a command line are recorded.
const MOST_COMMAND: usize = 4096;
/// How many characters of it are in a message.
const MOST_SHOWN: usize = 80;

/// How many may hold a lock at once: 1 to 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockSlots(u32);

impl LockSlots {
    /// Their number.
    pub fn count(self) -> u32 {
        self.0
    }

    /// The slots, from 1. Whoever asks for fewer uses the first ones.
    pub fn each(self) -> impl Iterator<Item = u32> {
        1..=self.0
    }
}

impl Default for LockSlots {
    fn default() -> Self {
        Self(1)
    }
}

impl FromStr for LockSlots {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.parse() {
            Ok(count @ 1..=MOST_SLOTS) => Ok(Self(count)),
            Ok(_) | Err(_) => {
                let what = format!("'{text}' is no number of slots");
                Err(Error::new(Code::InvalidInput, what).hint(format!("write a number from 1 to {MOST_SLOTS}")))
            }
        }
    }
}

impl fmt::Display for LockSlots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The file that is locked by the holder of a slot. Names that differ in case only are one lock.
pub fn slot_file(name: &LockName, slot: u32) -> String {
    format!("{}.{slot}", name.folded())
}

/// The file that is locked by the first of those who wait. There is a queue for each number of slots, so that who waits for
/// few slots does not hold up who may use more.
pub fn queue_file(name: &LockName, slots: LockSlots) -> String {
    format!("{}.queue-{slots}", name.folded())
}

/// The lock and the slot that a file stands for; `None` for other files.
pub fn slot_of(file: &str) -> Option<(LockName, u32)> {
    let (name, slot) = file.split_once('.')?;
    let name = LockName::new(name).ok()?;
    let slot = slot.parse().ok().filter(|slot| (1..=MOST_SLOTS).contains(slot))?;
    (slot_file(&name, slot) == file).then_some((name, slot))
}

/// What the holder of a slot wrote into its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LockHolderRecord {
    /// The process that took it: the command, or git axiom on its behalf.
    pub pid: i32,
    /// When that process began, as the system counts.
    pub start: u64,
    /// Of how many slots it took one.
    pub slots: u32,
    /// Its command line.
    pub command: String,
    /// The folder in which it was called.
    pub folder: String,
    /// When it took the slot.
    pub taken_at: Timestamp,
}

impl LockHolderRecord {
    /// The content of the file: one line.
    pub fn to_line(&self) -> Result<Vec<u8>> {
        let text = serde_json::to_string(self);
        let text = text.map_err(|e| Error::new(Code::Internal, "a lock cannot be described").because(e))?;
        Ok(format!("{text}\n").into_bytes())
    }

    /// Reads the content of a file; `None` where it is empty, unfinished or damaged.
    pub fn of_line(content: &[u8]) -> Option<Self> {
        let end = content.iter().position(|byte| *byte == b'\n')?;
        serde_json::from_slice(&content[..end]).ok()
    }

    /// The beginning of its command line for a message, on one line. Other control characters are left to whoever prints it.
    pub fn shown_command(&self) -> String {
        let one_line = self.command.replace(['\n', '\r'], "⏎");
        beginning(&one_line, MOST_SHOWN)
    }
}

/// A command line as it is recorded: words that are not plain are in single quotes, and a very long one is cut.
pub fn command_line(words: &[OsString]) -> String {
    let plain = |word: &str| {
        !word.is_empty()
            && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '=' | ':' | ',' | '+' | '%' | '@'))
    };
    let mut line = String::new();
    for word in words {
        let word = word.to_string_lossy();
        if !line.is_empty() {
            line.push(' ');
        }
        match plain(&word) {
            true => line.push_str(&word),
            false => line.push_str(&quoted_word(&word)),
        }
        if line.len() > MOST_COMMAND {
            let end = (0..=MOST_COMMAND).rev().find(|at| line.is_char_boundary(*at));
            line.truncate(end.unwrap_or(0));
            line.push('…');
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(command: &str) -> LockHolderRecord {
        let taken_at = "2026-01-13T12:00:00Z".parse().unwrap();
        LockHolderRecord { pid: 12, start: 34, slots: 3, command: command.to_owned(), folder: "/x".to_owned(), taken_at }
    }

    #[test]
    fn slots_are_few_and_at_least_one() {
        for good in ["1", "3", "1000"] {
            assert_eq!(good.parse::<LockSlots>().unwrap().to_string(), good);
        }
        for bad in ["0", "1001", "-1", "", "x", "1.5", "99999999999999999999"] {
            assert_eq!(bad.parse::<LockSlots>().unwrap_err().code(), Code::InvalidInput, "{bad}");
        }
    }

    #[test]
    fn a_file_stands_for_one_slot_of_one_lock() {
        let name = LockName::new("Test-DB_1").unwrap();
        assert_eq!(slot_file(&name, 7), "test-db_1.7");
        assert_eq!(slot_of("test-db_1.7"), Some((LockName::new("test-db_1").unwrap(), 7)));
        let queue = queue_file(&name, "7".parse().unwrap());
        for other in [queue.as_str(), "db", "db.0", "db.01", "db.+1", "db.1001", "DB.1", ".1", "a.b.1", "../x.1", "db.1 "] {
            assert_eq!(slot_of(other), None, "{other}");
        }
    }

    #[test]
    fn what_a_holder_says_is_read_again_unless_it_is_unfinished() {
        let holder = holder("make 'a\nb'");
        let line = holder.to_line().unwrap();
        assert_eq!(LockHolderRecord::of_line(&line), Some(holder.clone()));
        assert_eq!(LockHolderRecord::of_line(&[line.as_slice(), b"the end of a longer one\n"].concat()), Some(holder));
        assert_eq!(LockHolderRecord::of_line(&line[..line.len() - 1]), None);
        assert_eq!(LockHolderRecord::of_line(b""), None);
        assert_eq!(LockHolderRecord::of_line(b"{}\n"), None);
    }

    #[test]
    fn a_command_line_is_recorded_as_it_would_be_typed() {
        let line = |words: &[&str]| command_line(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(line(&["make", "-j4", "T=x"]), "make -j4 T=x");
        assert_eq!(line(&["sh", "-c", "echo 'a b'; $x", ""]), r"sh -c 'echo '\''a b'\''; $x' ''");
        let long = line(&["ä".repeat(5000).as_str(), "end"]);
        assert!(long.len() < MOST_COMMAND + 8 && long.ends_with('…'), "{}", long.len());
    }

    #[test]
    fn a_command_is_one_short_line_in_a_message() {
        assert_eq!(holder("sh -c 'a\r\nb'").shown_command(), "sh -c 'a⏎⏎b'");
        let long = holder(&"ä".repeat(200)).shown_command();
        assert_eq!(long.chars().count(), MOST_SHOWN + 1);
    }
}
