//! What is being done, and whether the human was told that leaving has to wait for it.

use crate::panel::request::PanelAction;

/// What is being done, the oldest first; nothing of it twice.
#[derive(Debug, Clone, Default)]
pub struct ActionsUnderWay {
    actions: Vec<PanelAction>,
    /// Whether Ctrl+C was pressed while something was being done.
    warned: bool,
}

impl ActionsUnderWay {
    /// Each of them.
    pub fn all(&self) -> &[PanelAction] {
        &self.actions
    }

    /// The one that has taken longest.
    pub fn first(&self) -> Option<&PanelAction> {
        self.actions.first()
    }

    /// Whether it is begun: what is under way already is not begun a second time.
    pub(super) fn begin(&mut self, action: &PanelAction) -> bool {
        let is_new = !self.actions.contains(action);
        if is_new {
            self.actions.push(action.clone());
        }
        is_new
    }

    pub(super) fn end(&mut self, action: &PanelAction) {
        if let Some(place) = self.actions.iter().position(|other| other == action) {
            self.actions.remove(place);
        }
        self.warned = false;
    }

    /// What Ctrl+C has to wait for, in words; `None` where there is nothing, and the second time.
    pub(super) fn warn(&mut self) -> Option<String> {
        let what = self.first().filter(|_| !self.warned)?.in_words();
        self.warned = true;
        Some(what)
    }

    /// The next Ctrl+C is the first one again.
    pub(super) fn forget_warning(&mut self) {
        self.warned = false;
    }
}
