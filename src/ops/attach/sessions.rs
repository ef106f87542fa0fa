//! The attached sessions of a repository, as files: what a hook notes while the program waits has to be cheap.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::attach::program::Program;
use crate::domain::attach::stamp::Stamp;
use crate::env;
use crate::error::Result;
use crate::ops::context::handle::Context;
use crate::process::keeper::spec::ProcessId;
use crate::process::os::{caller, foreground};
use crate::store::attach::AttachFiles;

/// For how long a session whose process is not known counts as living after it was heard of.
const HEARD_OF: i64 = 60 * 60;

/// An attached session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Its program.
    pub program: Program,
    /// Its key.
    pub id: String,
    /// The worktree that it works in.
    pub worktree: String,
    /// Its process, where the system shows it.
    #[serde(default)]
    pub process: Option<ProcessId>,
    /// When it was first heard of.
    pub since: Timestamp,
    /// When it was last heard of.
    pub last_activity: Timestamp,
    /// How many prompts it had.
    #[serde(default)]
    pub prompts: u32,
    /// Why its last prompt or risky command was not saved before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unprotected: Option<String>,
    /// How many events the log had at its last prompt.
    #[serde(default)]
    pub seen: u64,
    /// Whether it has ended.
    #[serde(default)]
    pub ended: bool,
}

impl Session {
    /// Whether its program still runs, as far as can be seen.
    pub fn is_alive(&self) -> bool {
        let heard = env::now().duration_since(self.last_activity).as_secs() < HEARD_OF;
        !self.ended && self.process.map_or(heard, foreground::is_alive)
    }
}

/// The session of a stamp as it is known, or a new one.
pub(super) fn of(files: &AttachFiles, stamp: &Stamp) -> Session {
    let known = files.session(&stamp.session).and_then(|json| serde_json::from_slice::<Session>(&json).ok());
    let now = env::now();
    let new = || Session {
        program: stamp.program,
        id: stamp.session.clone(),
        worktree: stamp.worktree.clone(),
        process: None,
        since: now,
        last_activity: now,
        prompts: 0,
        unprotected: None,
        seen: 0,
        ended: false,
    };
    let known = known.unwrap_or_else(new);
    Session { process: caller::caller(), last_activity: now, worktree: stamp.worktree.clone(), ended: false, ..known }
}

/// Writes down what is known of a session.
///
/// # Errors
/// `IO_FAILED`, `DISK_FULL`.
pub(super) fn write(files: &AttachFiles, session: &Session) -> Result<()> {
    files.write_session(&session.id, &serde_json::to_vec(session).unwrap_or_default())
}

/// The sessions of a repository, the newest activity first.
pub fn list(ctx: &Context) -> Vec<Session> {
    let files = AttachFiles::of(ctx.layout());
    let read = |json: Vec<u8>| serde_json::from_slice::<Session>(&json).ok();
    let mut all: Vec<Session> = files.sessions().into_iter().filter_map(read).collect();
    all.sort_by_key(|session| std::cmp::Reverse(session.last_activity));
    all
}
