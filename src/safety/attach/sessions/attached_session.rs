//! An attached session: what is known of it, and what becomes known while it works.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::excludes;
use crate::context::handle::Context;
use axiom_base::env;
use axiom_model::agent::attached_program::AttachedProgram;
use axiom_model::attach::acp::hook_call::UNASKED;
use axiom_model::attach::head_history::{HeadPosition, OwnHeadMove};
use axiom_model::attach::payload::AgentHookEvent;
use axiom_model::attach::shell::head_moves::HeadMove;
use axiom_model::base::defaults::is_default;
use axiom_process::os::foreground;
use axiom_process::os::process_id::ProcessId;

/// For how long a session whose process is not known counts as living after it was heard of.
const HEARD_OF: i64 = 60 * 60;

/// The most moves of HEAD that are kept of a session.
const MOVES: usize = 100;

/// The most files outside of its worktree that are kept of a session.
const OUTSIDE: usize = 5;

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
    /// What its agent is called, where its program stands for many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// How many risky commands its agent ran for which it asked nobody, so that nothing could be saved before they began.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unasked: u32,
    /// Whether its program calls a hook of its own before it acts, though its editor has us.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hooked: bool,
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

impl AttachedSession {
    /// One of which nothing else is known yet.
    pub(super) fn fresh(program: AttachedProgram, id: String, worktree: String, at: Timestamp) -> Self {
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
            agent: None,
            unasked: 0,
            hooked: false,
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

    /// What an event says of the agent itself, and whether a hook of its program tells it, which waits.
    pub(in crate::attach) fn learn_of_agent(&mut self, event: &AgentHookEvent, by_hook: bool) {
        self.hooked |= by_hook;
        if event.agent.is_some() {
            self.agent.clone_from(&event.agent);
        }
        if event.name == UNASKED && !self.hooked {
            self.unasked = self.unasked.saturating_add(1);
        }
    }

    /// No shell command runs any more.
    pub(in crate::attach) fn call_ends(&mut self) -> Option<ShellCall> {
        let call = self.call.take();
        self.call_ended = call.as_ref().map(|_| env::now()).or(self.call_ended);
        call
    }

    /// Whether a shell command of it ran at any time since then, as far as can be known.
    pub(super) fn ran_since(&self, since: Timestamp) -> bool {
        (self.call.is_some() && self.is_alive()) || self.call_ended.is_some_and(|ended| ended >= since)
    }

    /// HEAD moved by what a shell command says itself.
    pub(in crate::attach) fn moved(&mut self, one: OwnHeadMove) {
        self.moves.push(one);
        let over = self.moves.len().saturating_sub(MOVES);
        self.moves.drain(..over);
    }

    /// An edit tool named files in these nested repositories.
    pub(in crate::attach) fn named_nested(&mut self, folders: Vec<String>) {
        add_newest(&mut self.nested, folders);
    }

    /// An edit tool named these files, which are outside of the worktree: `status` shows the newest.
    pub(in crate::attach) fn named_outside(&mut self, paths: Vec<String>) {
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
