//! The attached sessions of a repository, as files: what a hook notes while the program waits has to be cheap.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::prompts;
use super::standing::newest_coverage;
use crate::domain::attach::program::Program;
use crate::domain::attach::stamp::Stamp;
use crate::domain::base::names::Oid;
use crate::domain::checkpoint::document::Coverage;
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
    /// Files outside of its worktree that its edit tools named, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
    /// Nested repositories that are no submodules and in which its edit tools named files, the newest last: no checkpoint holds them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<String>,
    /// What was checked out when a shell command of the session began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Oid>,
    /// From where to where HEAD moved while its shell commands ran, the newest last: the commits in between are the session's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<(Oid, Oid)>,
}

/// The most moves of HEAD that are kept of a session.
const MOVES: usize = 200;
/// The most files outside of its worktree that are kept of a session.
const OUTSIDE: usize = 5;

/// A session as `sessions` and `status` show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    /// Its key.
    pub id: String,
    /// Its program.
    pub program: Program,
    /// The worktree that it works in.
    pub worktree: String,
    /// When it was first heard of.
    pub since: Timestamp,
    /// When it was last heard of.
    pub last_activity: Timestamp,
    /// How many prompts it had.
    pub prompts: u32,
    /// How many files changed in its worktree since its first checkpoint that is kept; `None` where that is not known or not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// Whether its program still runs.
    pub alive: bool,
    /// Why its last prompt or risky command was not saved before.
    pub unprotected: Option<String>,
    /// Files outside of its worktree that its edit tools named.
    pub outside: Vec<String>,
    /// Nested repositories that no checkpoint holds and in which its edit tools named files.
    pub nested: Vec<String>,
}

impl From<Session> for SessionView {
    fn from(one: Session) -> Self {
        let alive = one.is_alive();
        let Session { program, id, worktree, since, last_activity, prompts, unprotected, outside, nested, .. } = one;
        Self { id, program, worktree, since, last_activity, prompts, files: None, alive, unprotected, outside, nested }
    }
}

impl Session {
    /// Whether its program still runs, as far as can be seen.
    pub fn is_alive(&self) -> bool {
        let heard = env::now().duration_since(self.last_activity).as_secs() < HEARD_OF;
        !self.ended && self.process.map_or(heard, foreground::is_alive)
    }

    /// A shell command begins, with this HEAD; none: what comes is not the work of one.
    pub(super) fn commands_begin(&mut self, head: Option<Oid>) {
        self.before = head;
    }

    /// A shell command has ended with this HEAD. Another one may still run.
    pub(super) fn commands_ended(&mut self, head: Option<Oid>) {
        if let (Some(from), Some(to)) = (self.before.clone(), head)
            && from != to
        {
            self.moves.push((from, to.clone()));
            let over = self.moves.len().saturating_sub(MOVES);
            self.moves.drain(..over);
            self.before = Some(to);
        }
    }

    /// An edit tool named files in these nested repositories.
    pub(super) fn named_nested(&mut self, folders: Vec<String>) {
        self.nested.retain(|known| !folders.contains(known));
        self.nested.extend(folders);
        let over = self.nested.len().saturating_sub(OUTSIDE);
        self.nested.drain(..over);
    }

    /// An edit tool named these files, which are outside of the worktree: `status` shows the newest.
    pub(super) fn named_outside(&mut self, paths: Vec<String>) {
        self.outside.retain(|known| !paths.contains(known));
        self.outside.extend(paths);
        let over = self.outside.len().saturating_sub(OUTSIDE);
        self.outside.drain(..over);
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
        outside: Vec::new(),
        nested: Vec::new(),
        before: None,
        moves: Vec::new(),
    };
    let known = known.unwrap_or_else(new);
    Session { process: caller::caller(), last_activity: now, worktree: stamp.worktree.clone(), ended: false, ..known }
}

/// The session of the program that calls, where it does not say which: the one of its process that was heard of last.
pub(super) fn of_caller(files: &AttachFiles, program: Program) -> Option<String> {
    let process = caller::caller()?;
    let all = files.sessions().into_iter().filter_map(|(json, _)| serde_json::from_slice::<Session>(&json).ok());
    let its = all.filter(|one| one.program == program && one.process == Some(process));
    its.max_by_key(|one| one.last_activity).map(|one| one.id)
}

/// Writes down what is known of a session.
///
/// # Errors
/// `IO_FAILED`, `DISK_FULL`.
pub(super) fn write(files: &AttachFiles, session: &Session) -> Result<()> {
    files.write_session(&session.id, &serde_json::to_vec(session).unwrap_or_default())
}

/// The sessions of a repository, the newest activity first. One in whose worktree nothing could be captured is unprotected, it alone.
pub fn list(ctx: &Context) -> Vec<Session> {
    let files = AttachFiles::of(ctx.layout());
    let read = |(json, is_unsaved): (Vec<u8>, bool)| {
        let session = serde_json::from_slice::<Session>(&json).ok()?;
        let why = || is_unsaved.then(|| "what happened could not be written down: is the disk full?".to_owned());
        Some(Session { unprotected: session.unprotected.clone().or_else(why), ..session })
    };
    let mut all: Vec<Session> = files.sessions().into_iter().filter_map(read).collect();
    all.sort_by_key(|session| std::cmp::Reverse(session.last_activity));
    if all.iter().any(Session::is_alive)
        && let Some(coverage) = newest_coverage(ctx)
    {
        for session in &mut all {
            let nothing = || coverage.get(&session.worktree).and_then(Coverage::why_nothing);
            let why =
                session.unprotected.take().or_else(|| nothing().map(|why| format!("no checkpoint holds its worktree: {why}")));
            session.unprotected = why;
        }
    }
    all
}

/// How many files of its worktree changed since the first checkpoint of the session that is kept.
///
/// # Errors
/// Where the checkpoints cannot be read.
pub fn files_changed(ctx: &Context, session: &Session) -> Result<Option<usize>> {
    let mut all = ctx.state().record.checkpoints.all()?;
    all.sort_by_key(|record| record.age());
    let is_of_it = |stamp: &Stamp| stamp.session == session.id;
    let first = all.iter().find(|record| record.attached.as_deref().is_some_and(is_of_it));
    let (Some(first), Some(newest)) = (first, all.last()) else { return Ok(None) };
    let [old, new] = [first, newest].map(|record| prompts::files_of(ctx, record, &session.worktree));
    let (Some(old), Some(new)) = (old, new) else { return Ok(None) };
    Ok(ctx.repo.history().diff_trees(&old, &new).ok().map(|changes| changes.len()))
}
