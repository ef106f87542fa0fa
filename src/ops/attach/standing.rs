//! What is attached and watched now, for `status`.

use serde::Serialize;

use super::sessions::{self, SessionView};
use super::watching::record::{self, Standing};
use crate::ops::context::handle::Context;

/// What is attached and watched now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attached {
    /// The sessions whose program runs, the newest activity first.
    pub sessions: Vec<SessionView>,
    /// The watches, by worktree.
    pub watches: Vec<Standing>,
}

/// What is attached and watched now.
pub fn attached(ctx: &Context) -> Attached {
    let sessions = sessions::list(ctx).into_iter().map(SessionView::from).filter(|one| one.alive).collect();
    Attached { sessions, watches: record::list(ctx) }
}
