//! Tests press a key and look at the screen when the panel is at rest: everything that was typed was taken, and nothing is being done
//! or found out. In debug builds, where `AXIOM_TEST_PANEL=rest` asks for it, the panel says so, in a sequence that terminals ignore.

use std::io::Write;
use std::time::Duration;

use axiom_base::env;

/// How long to wait for the rest of a key's sequence, where a test types whole ones.
const SEQUENCE: Duration = Duration::from_millis(3);

/// Whether a test wants to know.
#[derive(Debug)]
pub struct PanelIdleReport {
    wanted: bool,
}

impl PanelIdleReport {
    /// As the environment says.
    pub fn begin() -> Self {
        Self { wanted: env::test_var("AXIOM_TEST_PANEL").is_some_and(|value| value == "rest") }
    }

    /// Says that so many bytes were taken, and that the screen shows what came of them.
    pub fn say(&self, taken: usize) {
        if self.wanted {
            let mut out = std::io::stdout();
            let _ = write!(out, "\x1b]7777;{taken}\x07").and_then(|()| out.flush());
        }
    }

    /// How long to wait for the rest of a key's sequence.
    pub fn sequence(&self, usual: Duration) -> Duration {
        if self.wanted { SEQUENCE } else { usual }
    }
}
