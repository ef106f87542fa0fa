//! What is known of a session of an agent, and of the calls of tools that it has begun.

use super::hook_call::{ANNOUNCED, AcpSessionAct, UNASKED};
use super::newest_by_id::NewestById;
use crate::acp::tool::AcpToolAct;
use crate::attach::shell;

/// The most calls that are known: the oldest are forgotten.
const MOST_CALLS: usize = 1000;
/// What changes nothing. A hint of the agent's: a call with a command is none of these.
const QUIET: [&str; 5] = ["read", "search", "think", "fetch", "switch_mode"];

/// A session.
#[derive(Debug, Default)]
pub(super) struct WatchedAcpSession {
    /// Its folder; empty where it is not known.
    pub folder: String,
    /// Whether the agent tells what happened earlier.
    pub replays: bool,
    /// Whether it has ended.
    pub ended: bool,
    calls: NewestById<WatchedToolCall, MOST_CALLS>,
}

/// A call of a tool that has not ended.
#[derive(Debug, Default)]
struct WatchedToolCall {
    kind: String,
    command: Option<String>,
    paths: Vec<String>,
    is_named: bool,
    asked: bool,
    announced: bool,
}

/// What a call leads to: the name of the event, and the act.
pub(super) type NamedAcpAct = (&'static str, AcpSessionAct);

impl WatchedToolCall {
    fn learn(&mut self, act: AcpToolAct) {
        if !act.kind.is_empty() {
            self.kind = act.kind;
        }
        self.command = act.command.or(self.command.take());
        if let Some(path) = act.path {
            (self.paths, self.is_named) = (vec![path], true);
        }
        for path in act.located {
            if !self.paths.contains(&path) {
                self.paths.push(path);
            }
        }
    }

    fn is_quiet(&self) -> bool {
        self.command.is_none() && QUIET.contains(&self.kind.as_str())
    }

    fn is_risky(&self) -> bool {
        match &self.command {
            Some(command) => shell::risk(command, &|_| None).is_some(),
            None => matches!(self.kind.as_str(), "execute" | "delete" | "move"),
        }
    }

    /// What is saved before it. What the input does not name may be anything, and of a folder that goes no bytes are kept.
    fn before(&self) -> Option<AcpSessionAct> {
        match &self.command {
            Some(command) => Some(AcpSessionAct::BeforeShell(command.clone())),
            None if self.is_quiet() => None,
            None if self.is_named && self.kind == "edit" => Some(AcpSessionAct::BeforeEdit(self.paths.clone())),
            None => Some(AcpSessionAct::BeforeEdit(Vec::new())),
        }
    }

    fn after(&self) -> Option<NamedAcpAct> {
        let name = if self.announced && !self.asked && self.is_risky() { UNASKED } else { "tool_call" };
        match self.kind.as_str() {
            _ if self.is_quiet() => None,
            "edit" if self.command.is_none() => Some((name, AcpSessionAct::AfterEdit(self.paths.clone()))),
            _ => Some((name, AcpSessionAct::AfterShell)),
        }
    }
}

impl WatchedAcpSession {
    /// The agent asks for a permission.
    pub(super) fn asks(&mut self, act: AcpToolAct) -> Option<AcpSessionAct> {
        let call = self.call(act);
        call.asked = true;
        call.before()
    }

    /// The agent tells of a call of a tool.
    pub(super) fn tells(&mut self, act: AcpToolAct) -> Option<NamedAcpAct> {
        if self.replays {
            return None;
        }
        if act.has_ended() {
            let mut call = self.calls.take(&act.id).unwrap_or_default();
            call.learn(act);
            return call.after();
        }
        let call = self.call(act);
        // What an edit is about is told with its input; a kind alone may be followed by it.
        let is_known = call.command.is_some() || call.is_named || matches!(call.kind.as_str(), "delete" | "move");
        if call.asked || call.announced || !is_known {
            return None;
        }
        call.announced = true;
        call.before().map(|act| (ANNOUNCED, act))
    }

    /// The turn is over: what has not ended does not end any more.
    pub(super) fn rests(&mut self) {
        self.calls.clear();
    }

    fn call(&mut self, act: AcpToolAct) -> &mut WatchedToolCall {
        let call = self.calls.of(&act.id);
        call.learn(act);
        call
    }
}
