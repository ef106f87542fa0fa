//! What watches a verb that the panel carries out, and its words as lines.

use axiom_agents::supervise::notice::{SessionNotice, SessionWatcher};
use axiom_safety::running::wait_observer::{ForegroundWait, WaitObserver};

/// The panel shows by itself what the log says.
pub struct SilentPanelWatch;

impl SessionWatcher for SilentPanelWatch {
    fn notice(&mut self, _notice: SessionNotice) {}
}

impl WaitObserver for SilentPanelWatch {
    fn begun(&mut self, _what: ForegroundWait<'_>) {}

    fn ended(&mut self) {}

    fn shall_end(&self) -> bool {
        false
    }
}

/// The lines of a text.
pub(super) fn lines_of(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}
