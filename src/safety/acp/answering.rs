//! `git axiom hook acp --each-line` itself: a call in each line of its standard input, its answer in a line of its standard output, until nobody calls
//! any more.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::attach::hook::{self, HookCaller, HookPayload};
use crate::attach::saving::SOONEST_GIVEN_UP;
use axiom_base::error::{Code, Error, Result};
use axiom_base::own_process::session;
use axiom_model::agent::attached_program::AttachedProgram;
use axiom_model::agent::hook_call_source::HookCallSource;
use axiom_model::attach::hook_answer::AgentHookAnswer;
use axiom_model::attach::shorten::JsonShortener;
use axiom_process::os::child_reaper;

/// How it is called.
pub const EACH_LINE: &str = "--each-line";

/// The longest call in bytes: more than the longest line that is looked at as a whole.
const LONGEST_CALL: u64 = 32 * 1024 * 1024;

/// Whose hook it is.
pub(super) const CALLER: HookCaller = HookCaller { program: AttachedProgram::Acp, source: HookCallSource::User };

/// The answer to a call.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AcpHookAnswer {
    /// What the agent is told.
    pub fact: Option<String>,
    /// What the human of the editor is told.
    pub complaint: Option<String>,
    /// Whether it answers no more.
    pub is_last: bool,
}

/// What a hook says to its program's agent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HookSaid {
    additional_context: String,
}

impl AcpHookAnswer {
    fn of(AgentHookAnswer { stdout, stderr, blocks: _ }: &AgentHookAnswer) -> Self {
        let fact = serde_json::from_str::<HookSaid>(stdout).ok().map(|said| said.additional_context);
        let complaint = Some(stderr.trim()).filter(|words| !words.is_empty()).map(str::to_owned);
        Self { fact, complaint, is_last: false }
    }

    /// What a line says; `None` for what is no answer.
    pub fn read(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }
}

/// Answers calls until there are no more. A call in whose session no folder is named is about `here`.
pub fn answer_calls(here: &Path) -> Result<()> {
    let (calls, mut answers) = (session::own_pipe(std::io::stdin().as_fd())?, session::own_pipe(std::io::stdout().as_fd())?);
    // No program that a call starts reads the next ones, or writes between the answers.
    session::leave_pipes()?;
    let mut calls = BufReader::new(calls);
    loop {
        let mut call = Vec::new();
        calls
            .by_ref()
            .take(LONGEST_CALL)
            .read_until(b'\n', &mut call)
            .map_err(|e| Error::new(Code::IoFailed, "a pipe is closed").because(e))?;
        if call.pop() != Some(b'\n') {
            return Ok(());
        }
        let mut shortener = JsonShortener::default();
        shortener.add(&call);
        let begun = Instant::now();
        let answer = hook::run(CALLER, &HookPayload { bytes: shortener.end(), is_late: false }, here);
        // What was given up goes on in a thread that ends with this process, and has to before the act that is waiting.
        let answer = AcpHookAnswer { is_last: begun.elapsed() >= SOONEST_GIVEN_UP, ..AcpHookAnswer::of(&answer) };
        let mut line = serde_json::to_vec(&answer).unwrap_or_default();
        line.push(b'\n');
        if answers.write_all(&line).is_err() || answer.is_last {
            return Ok(());
        }
        // What saves in the background is a child of this process, which otherwise ends before it.
        child_reaper::collect_ended();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_answered_is_what_is_read() {
        let told =
            AgentHookAnswer { stderr: " not saved\n".into(), ..AgentHookAnswer::context(CALLER.program, "x", "a \"b\"\n") };
        let answer = AcpHookAnswer::of(&told);
        assert_eq!((answer.fact.as_deref(), answer.complaint.as_deref()), (Some("a \"b\"\n"), Some("not saved")));
        let line = serde_json::to_vec(&answer).unwrap();
        assert!(!line.contains(&b'\n'));
        assert_eq!(AcpHookAnswer::read(&line), Some(answer));
        assert_eq!(AcpHookAnswer::of(&AgentHookAnswer::default()), AcpHookAnswer::default());
        assert_eq!(AcpHookAnswer::read(b""), None);
    }
}
