//! What a call of a hook says, whoever calls.

use super::acp::hook_call::AcpHookCall;
use super::payload::{self, AgentHookEvent};
use crate::agent::attached_program::AttachedProgram;

/// The event that `program` tells of; `None` for what is no call of that program, or nothing that we act on.
pub fn read_call(program: AttachedProgram, bytes: &[u8]) -> Option<AgentHookEvent> {
    match program {
        AttachedProgram::Acp => AcpHookCall::read(&String::from_utf8_lossy(bytes)).map(AcpHookCall::event),
        AttachedProgram::Claude
        | AttachedProgram::Codex
        | AttachedProgram::Gemini
        | AttachedProgram::Opencode
        | AttachedProgram::Cursor
        | AttachedProgram::Aider => payload::read(program, bytes),
    }
}
