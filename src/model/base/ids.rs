//! Ids as types of their own, so that a task can not be passed where an agent is meant.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use axiom_base::error::{Code, Error, Result};

/// The longest id or checkpoint name.
pub const MAX_ID_LENGTH: usize = 100;

fn check(what: &str, text: &str) -> Result<()> {
    let bad = |why: String| {
        Err(Error::new(Code::InvalidId, format!("'{text}' cannot be a {what}"))
            .why(why)
            .hint("use letters, digits, '-' and '_', beginning with a letter or digit"))
    };
    if text.is_empty() {
        return bad("it is empty".into());
    }
    if text.len() > MAX_ID_LENGTH {
        return bad(format!("it has {} characters, the limit is {MAX_ID_LENGTH}", text.len()));
    }
    if is_id(text.as_bytes()) {
        return Ok(());
    }
    if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return bad("it does not begin with a letter or digit".into());
    }
    match text.chars().find(|c| !(c.is_ascii_alphanumeric() || *c == '-' || *c == '_')) {
        Some(c) => bad(format!("it has the character {c:?}")),
        None => Ok(()),
    }
}

/// Whether the bytes are a valid id. [`check`] says why they are not.
fn is_id(bytes: &[u8]) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    bytes.len() <= MAX_ID_LENGTH && bytes.first().is_some_and(u8::is_ascii_alphanumeric) && bytes.iter().all(allowed)
}

/// Reads an id without making an owned string first.
struct IdVisitor<F>(F);

impl<T, F: FnOnce(&str) -> Result<T>> de::Visitor<'_> for IdVisitor<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }
}

/// The ids that were read last. A log names the same few agents and tasks a million times: with this cache, each id needs no
/// new check and no new memory. Only checked ids are in it.
struct RecentIdCache([Option<Arc<str>>; RECENT]);

const RECENT: usize = 256;

thread_local! {
    static READ_LAST: RefCell<RecentIdCache> = const { RefCell::new(RecentIdCache([const { None }; RECENT])) };
}

/// A hash of the length and the first and last eight bytes of an id. A collision only costs memory for another copy of an
/// id.
fn place_of(bytes: &[u8]) -> u64 {
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => mix(mix(bytes.len() as u64, u64::from_le_bytes(*first)), u64::from_le_bytes(*last)),
        (Some(_) | None, _) => bytes.iter().fold(0, |sum, byte| mix(sum, u64::from(*byte))),
    }
}

/// The id with this text; `None` where the text is not a valid id.
fn shared(text: &str) -> Option<Arc<str>> {
    let hash = place_of(text.as_bytes());
    READ_LAST.with_borrow_mut(|recent| {
        let slot = &mut recent.0[(hash >> 56) as usize % RECENT];
        match slot {
            Some(known) if **known == *text => Some(Arc::clone(known)),
            Some(_) | None if is_id(text.as_bytes()) => Some(Arc::clone(slot.insert(text.into()))),
            Some(_) | None => None,
        }
    })
}

macro_rules! id {
    ($name:ident $what:literal $doc:literal) => {
        #[doc = $doc]
        ///
        /// `[A-Za-z0-9][A-Za-z0-9_-]*`, at most [`MAX_ID_LENGTH`] characters; checked when it is made, also from JSON.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks and makes the id.
            pub fn new(text: impl Into<String>) -> Result<Self> {
                let text = text.into();
                check($what, &text)?;
                Ok(Self(text.into()))
            }

            /// The id with these bytes; `None` where they are not a valid id.
            pub fn from_ascii(bytes: &[u8]) -> Option<Self> {
                shared(std::str::from_utf8(bytes).ok()?).map(Self)
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The form in which two ids that differ in case only are the same.
            pub fn folded(&self) -> String {
                self.0.to_ascii_lowercase()
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(IdVisitor(|text: &str| match shared(text) {
                    Some(id) => Ok(Self(id)),
                    None => Self::new(text),
                }))
            }
        }

        impl TryFrom<String> for $name {
            type Error = Error;
            fn try_from(text: String) -> Result<Self> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.as_str().to_owned()
            }
        }

        impl std::str::FromStr for $name {
            type Err = Error;
            fn from_str(text: &str) -> Result<Self> {
                Self::new(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

id!(TaskId "task id" "The id of a task, a group or a goal.");
id!(AgentId "agent id" "The id of an agent, a slot that runs an agent program: `<persona>-NNN`.");
id!(CheckpointName "checkpoint name" "The name of a checkpoint.");
id!(OperationId "operation id" "The id of an operation: one user command or supervisor step.");
id!(SessionId "session id" "The id of a session: from the start of `git axiom run` to its end.");
id!(GateId "gate id" "The id of a gate.");
id!(RequestId "request id" "The id of a request to the supervisor.");
impl RequestId {
    /// The id of a request made after the event `seq`. Requests are handled in the order of their ids, which is the order in
    /// which they were made. `unique` distinguishes requests with the same `seq`, which two histories of one log can have.
    pub fn after(seq: u64, unique: &str) -> Result<Self> {
        Self::new(format!("r{seq:020}-{unique}"))
    }
}

id!(LockName "name of a lock" "The name of a lock of `git axiom lock`.");
id!(Token "iteration token" "The secret of one iteration: a signal counts only with it.");

impl AgentId {
    /// Whether it is the id of an agent of this persona: `<persona>-NNN`.
    pub fn is_of(&self, persona: &str) -> bool {
        self.as_str().rsplit_once('-').is_some_and(|(name, _)| name == persona)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_valid_ref_parts() {
        for good in ["a", "task-001", "A_b-9", &"x".repeat(100)] {
            assert!(TaskId::new(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", "_a", "a b", "a/b", "a..b", "ä", "a\n", "@{", &"x".repeat(101)] {
            assert_eq!(TaskId::new(bad).unwrap_err().code(), Code::InvalidId, "{bad}");
        }
    }

    #[test]
    fn a_bad_id_in_json_is_refused() {
        assert!(serde_json::from_str::<TaskId>("\"../x\"").is_err());
    }
}
