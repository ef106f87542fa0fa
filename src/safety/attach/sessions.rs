//! The attached sessions of a repository, as files: what a hook notes while the program waits has to be cheap.

pub mod attached_session;
mod excludes;
mod unstarted;

use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;

use self::attached_session::AttachedSession;
use super::newest_checkpoint::newest_coverage;
use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_git::Repository;
use axiom_model::agent::attached_program::AttachedProgram;
use axiom_model::checkpoint::stamp::AttachedSessionStamp;
use axiom_process::os::caller;
use axiom_store::beside::attach::AttachFiles;
use axiom_store::layout::StoreLayout;

/// A session as `sessions` and `status` show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachedSessionJson {
    /// Its key.
    pub id: String,
    /// Its program.
    pub program: AttachedProgram,
    /// What its agent is called, where its program stands for many; see `acp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The worktree that it works in.
    pub worktree: String,
    /// When it was first heard of.
    pub since: Timestamp,
    /// When it was last heard of.
    pub last_activity: Timestamp,
    /// How many prompts it had.
    pub prompts: u32,
    /// How many files changed in its worktree from its first checkpoint that is kept to the newest one; absent where that is not known, and in
    /// `status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// Whether its program still runs.
    pub alive: bool,
    /// Why its last prompt or risky command was not saved before.
    pub unprotected: Option<String>,
    /// How many risky commands its agent ran for which it asked nobody: they may have begun before something was saved. Absent for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unasked: Option<u32>,
    /// What of its worktree the newest checkpoint does not hold, since it was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_held: Option<String>,
    /// The newest files outside of its worktree that its edit tools named.
    pub outside: Vec<String>,
    /// The newest nested repositories that are no submodules and in which its edit tools named files: no checkpoint holds what is
    /// in them.
    pub nested: Vec<String>,
    /// What came to `checkpoints.exclude` or `info/exclude` since it began, or went.
    pub exclude_changes: Vec<String>,
}

impl AttachedSessionJson {
    /// How its agent is called.
    pub fn title(&self) -> &str {
        self.agent.as_deref().unwrap_or(self.program.title())
    }
}

impl From<AttachedSession> for AttachedSessionJson {
    fn from(one: AttachedSession) -> Self {
        let alive = one.is_alive();
        let AttachedSession {
            program,
            id,
            worktree,
            since,
            last_activity,
            prompts,
            unprotected,
            not_held,
            outside,
            nested,
            exclude_changes,
            agent,
            unasked,
            ..
        } = one;
        Self {
            id,
            program,
            worktree,
            since,
            last_activity,
            prompts,
            files: None,
            alive,
            agent,
            unasked: Some(unasked).filter(|count| *count > 0),
            unprotected,
            not_held,
            outside,
            nested,
            exclude_changes,
        }
    }
}

/// The session of a stamp as it is known, or a new one.
pub(super) fn of(files: &AttachFiles, stamp: &AttachedSessionStamp) -> AttachedSession {
    let known = files.session(&stamp.session).and_then(|json| serde_json::from_slice::<AttachedSession>(&json).ok());
    let now = env::now();
    let new = || AttachedSession::fresh(stamp.program, stamp.session.clone(), stamp.worktree.clone(), now);
    let known = known.unwrap_or_else(new);
    AttachedSession { process: caller::caller(), last_activity: now, ended: false, ..known }
}

/// The session of the program that calls, where it does not say which: the one of its process that was heard of last.
pub(super) fn of_caller(files: &AttachFiles, program: AttachedProgram) -> Option<String> {
    let process = caller::caller()?;
    let all = files.sessions().into_iter().filter_map(|(json, _)| serde_json::from_slice::<AttachedSession>(&json).ok());
    let its = all.filter(|one| one.program == program && one.process == Some(process));
    its.max_by_key(|one| one.last_activity).map(|one| one.id)
}

/// Whether a shell command of another session ran in this worktree since then.
pub(super) fn another_ran(files: &AttachFiles, (session, worktree): (&AttachedSession, &str), since: Timestamp) -> bool {
    let all = files.sessions().into_iter().filter_map(|(json, _)| serde_json::from_slice::<AttachedSession>(&json).ok());
    let mut others = all.filter(|one| one.id != session.id && one.call_in.as_deref() == Some(worktree));
    others.any(|one| one.ran_since(since))
}

/// Whether a program asked the human for this verb in the command that runs now, in the repository of this folder.
pub fn was_asked(folder: &Path, program: AttachedProgram, verb: &str) -> bool {
    let Ok(repo) = Repository::discover(folder) else { return false };
    let files = AttachFiles::of(&StoreLayout::new(repo.common_dir()));
    let sessions = files.sessions().into_iter().filter_map(|(json, _)| serde_json::from_slice::<AttachedSession>(&json).ok());
    let mut sessions = sessions.filter(|one| one.program == program && one.is_alive());
    sessions.any(|one| one.asked.iter().any(|asked| asked == verb))
}

/// Writes down what is known of a session.
pub(super) fn write(files: &AttachFiles, session: &AttachedSession) -> Result<()> {
    files.write_session(&session.id, &serde_json::to_vec(session).unwrap_or_default())
}

/// Why no checkpoint could be written now: a folder in which each one writes is closed to this user. Whoever failed for that reason could
/// not write that down either.
pub(crate) fn nothing_can_be_written(ctx: &Context) -> Option<String> {
    let common = ctx.repo.common_dir();
    let mut folders = ["", "objects", "refs", "axiom", "axiom/attach"].into_iter().map(|name| common.join(name));
    folders.find_map(|folder| {
        let refused = files::refuses_changes(&folder).filter(|e| !files::says_nothing_is_there(e))?;
        Some(format!("no checkpoint can be written in '{}': {refused}", folder.display()))
    })
}

/// The sessions of a repository, the newest activity first. One in whose worktree nothing could be captured is unprotected, it alone.
pub fn list(ctx: &Context) -> Vec<AttachedSession> {
    let files = AttachFiles::of(ctx.layout());
    let read = |(json, is_unsaved): (Vec<u8>, bool)| {
        let session = serde_json::from_slice::<AttachedSession>(&json).ok()?;
        let why = || is_unsaved.then(|| "what happened could not be written down: is the disk full?".to_owned());
        Some(AttachedSession { unprotected: session.unprotected.clone().or_else(why), ..session })
    };
    let mut all: Vec<AttachedSession> = files.sessions().into_iter().filter_map(read).collect();
    all.extend(unstarted::list(ctx, &all));
    all.sort_by_key(|session| std::cmp::Reverse(session.last_activity));
    if let Some(why) = nothing_can_be_written(ctx) {
        for session in all.iter_mut().filter(|session| session.is_alive()) {
            session.unprotected.get_or_insert_with(|| why.clone());
        }
    }
    if all.iter().any(AttachedSession::is_alive)
        && let Some(coverage) = newest_coverage(ctx)
    {
        for session in &mut all {
            let Some(coverage) = coverage.get(&session.worktree) else { continue };
            let nothing = || coverage.why_nothing().map(|why| format!("no checkpoint holds its worktree: {why}"));
            session.unprotected = session.unprotected.take().or_else(nothing);
            session.not_held = coverage.not_held_in_words();
        }
    }
    all
}
