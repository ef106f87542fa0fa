//! The attached sessions of a repository, as files: what a hook notes while the program waits has to be cheap.

use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::attach_status::newest_coverage;
use super::{elsewhere, excludes, prompts, unstarted};
use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_git::{Repository, TreeChange};
use axiom_model::agent::attached_program::AttachedProgram;
use axiom_model::attach::head_history::{HeadPosition, OwnHeadMove};
use axiom_model::attach::shell::head_moves::HeadMove;
use axiom_model::base::names::Oid;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::checkpoint::stamp::AttachedSessionStamp;
use axiom_process::os::process_id::ProcessId;
use axiom_process::os::{caller, foreground};
use axiom_store::beside::attach::AttachFiles;
use axiom_store::layout::StoreLayout;

/// For how long a session whose process is not known counts as living after it was heard of.
const HEARD_OF: i64 = 60 * 60;

/// An attached session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachedSession {
    /// Its program.
    pub program: AttachedProgram,
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
    /// What the newest checkpoint does not hold of its worktree, for whoever shows it; never written down.
    #[serde(skip)]
    pub not_held: Option<String>,
    /// How many events the log had at its last prompt.
    #[serde(default)]
    pub seen: u64,
    /// Until which of a human's changes its agent was told of them in the middle of a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<(i64, i64)>,
    /// Whether it has ended.
    #[serde(default)]
    pub ended: bool,
    /// Files outside of its worktree that its edit tools named, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
    /// Nested repositories that are no submodules and in which its edit tools named files, the newest last: no checkpoint holds them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<String>,
    /// The shell command that runs, as far as is known: its program may have been kept from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ShellCall>,
    /// The worktree of the shell command that runs, or ran last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_in: Option<String>,
    /// When its last shell command ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_ended: Option<Timestamp>,
    /// What was left out of captures by a setting or a file when it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excludes: Option<Vec<String>>,
    /// How that changed since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude_changes: Vec<String>,
    /// Whether its turn has ended: what changes then is not its work.
    #[serde(default)]
    pub rests: bool,
    /// What is kept for humans and its program has just asked for: until the command has ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
    /// From where to where HEAD moved by what its shell commands say themselves, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<OwnHeadMove>,
}

/// A shell command that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShellCall {
    /// When it began.
    pub began: Timestamp,
    /// What was checked out then.
    pub head: HeadPosition,
    /// How long the log of HEAD was.
    pub logged: u64,
    /// What its own words do to HEAD.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<HeadMove>,
}

/// The most moves of HEAD that are kept of a session.
const MOVES: usize = 100;
/// The most files outside of its worktree that are kept of a session.
const OUTSIDE: usize = 5;

/// A session as `sessions` and `status` show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachedSessionJson {
    /// Its key.
    pub id: String,
    /// Its program.
    pub program: AttachedProgram,
    /// The worktree that it works in.
    pub worktree: String,
    /// When it was first heard of.
    pub since: Timestamp,
    /// When it was last heard of.
    pub last_activity: Timestamp,
    /// How many prompts it had.
    pub prompts: u32,
    /// How many files changed in its worktree since its first checkpoint that is kept; absent where that is not known, and in
    /// `status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// Whether its program still runs.
    pub alive: bool,
    /// Why its last prompt or risky command was not saved before.
    pub unprotected: Option<String>,
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
            unprotected,
            not_held,
            outside,
            nested,
            exclude_changes,
        }
    }
}

impl AttachedSession {
    /// One of which nothing else is known yet.
    fn fresh(program: AttachedProgram, id: String, worktree: String, at: Timestamp) -> Self {
        Self {
            program,
            id,
            worktree,
            process: None,
            since: at,
            last_activity: at,
            prompts: 0,
            unprotected: None,
            not_held: None,
            seen: 0,
            told: None,
            ended: false,
            outside: Vec::new(),
            nested: Vec::new(),
            call: None,
            call_in: None,
            call_ended: None,
            excludes: None,
            exclude_changes: Vec::new(),
            rests: false,
            asked: Vec::new(),
            moves: Vec::new(),
        }
    }

    /// One that could not call us, and of which nothing is known but that.
    pub(super) fn unstarted(program: AttachedProgram, id: String, worktree: String, at: Timestamp, why: &str) -> Self {
        Self { unprotected: Some(why.to_owned()), rests: true, ..Self::fresh(program, id, worktree, at) }
    }

    /// Whether its program still runs, as far as can be seen.
    pub fn is_alive(&self) -> bool {
        let heard = env::now().duration_since(self.last_activity).as_secs() < HEARD_OF;
        !self.ended && self.process.map_or(heard, foreground::is_alive)
    }

    /// Compares what is left out of captures now with what was when it began; of one that has ended, what it saw last counts. The
    /// context has the configuration.
    pub fn sees_excludes(&mut self, ctx: &Context) {
        let now = excludes::now(ctx);
        match &self.excludes {
            Some(before) => self.exclude_changes = excludes::changes(before, &now),
            None => self.excludes = Some(now),
        }
    }

    /// No shell command runs any more.
    pub(super) fn call_ends(&mut self) -> Option<ShellCall> {
        let call = self.call.take();
        self.call_ended = call.as_ref().map(|_| env::now()).or(self.call_ended);
        call
    }

    /// Whether a shell command of it ran at any time since then, as far as can be known.
    fn ran_since(&self, since: Timestamp) -> bool {
        (self.call.is_some() && self.is_alive()) || self.call_ended.is_some_and(|ended| ended >= since)
    }

    /// HEAD moved by what a shell command says itself.
    pub(super) fn moved(&mut self, one: OwnHeadMove) {
        self.moves.push(one);
        let over = self.moves.len().saturating_sub(MOVES);
        self.moves.drain(..over);
    }

    /// An edit tool named files in these nested repositories.
    pub(super) fn named_nested(&mut self, folders: Vec<String>) {
        add_newest(&mut self.nested, folders);
    }

    /// An edit tool named these files, which are outside of the worktree: `status` shows the newest.
    pub(super) fn named_outside(&mut self, paths: Vec<String>) {
        add_newest(&mut self.outside, paths);
    }
}

/// Adds what was named just now, and keeps the newest.
fn add_newest(known: &mut Vec<String>, named: Vec<String>) {
    known.retain(|one| !named.contains(one));
    known.extend(named);
    let over = known.len().saturating_sub(OUTSIDE);
    known.drain(..over);
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

/// How many files of its worktree changed since the first checkpoint of the session that is kept.
pub fn files_changed(ctx: &Context, session: &AttachedSession) -> Result<Option<usize>> {
    let all = ctx.state().record.checkpoints.by_age()?;
    let is_of_it = |stamp: &AttachedSessionStamp| stamp.session == session.id;
    let first = all.iter().find(|record| record.attached.as_deref().is_some_and(is_of_it));
    let (Some(first), Some(newest)) = (first, all.last()) else { return Ok(None) };
    let changes = |repo: &Repository, old: &Oid, new: &Oid| -> Result<Vec<TreeChange>> {
        let changes = repo.history().diff_trees(old, new)?.into_iter();
        Ok(changes.filter(TreeChange::changes_a_file).collect())
    };
    let own = prompts::between(ctx, (first, newest), &session.worktree, changes).map(|changes| changes.len());
    let Some(stamp) = first.attached.as_deref() else { return Ok(own) };
    let later: Vec<&CheckpointRecord> = all.iter().skip_while(|one| one.name != first.name).skip(1).copied().collect();
    let stamp = AttachedSessionStamp { worktree: session.worktree.clone(), ..stamp.clone() };
    let elsewhere = elsewhere::files_of_session(ctx, (first, &stamp), &later)?;
    Ok(own.map(|own| own + elsewhere))
}
