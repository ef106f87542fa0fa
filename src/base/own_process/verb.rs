//! The verb as which this process was called, for whoever asks from elsewhere who does something.

use std::sync::OnceLock;

static VERB: OnceLock<String> = OnceLock::new();

/// Says which verb this process is. The first one counts.
pub fn set(verb: &str) {
    let _ = VERB.set(verb.to_owned());
}

/// The verb that this process is, with all its words: `task add`.
pub fn get() -> Option<&'static str> {
    VERB.get().map(String::as_str)
}
