//! What a hook or a watch hands over to the joiner.

use serde::{Deserialize, Serialize};

use axiom_model::attach::act::DeferredSave;
use axiom_model::checkpoint::stamp::AttachedSessionStamp;

/// A line for the joiner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::attach) struct JoinerLine {
    /// The session; a watch has none.
    #[serde(default)]
    pub stamp: Option<AttachedSessionStamp>,
    /// The worktree in which it happened.
    pub worktree: String,
    /// The folder that the paths are relative to.
    pub folder: String,
    pub later: DeferredSave,
}
