//! The folder of a call of a hook.

use std::path::{Path, PathBuf};

use axiom_model::attach::payload::AgentHookEvent;

/// The folder in which something happened: the one that the event names, else that in which the hook was called.
pub(super) fn folder_of(event: &AgentHookEvent, here: &Path) -> PathBuf {
    let named = event.folder.as_ref().map(PathBuf::from).filter(|folder| folder.is_absolute());
    named.unwrap_or_else(|| here.to_owned())
}
