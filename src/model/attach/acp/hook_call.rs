//! What is said of a session to `git axiom hook acp`: one object of JSON, as programs send it to their hooks.

use serde::{Deserialize, Serialize};

use crate::attach::payload::{AgentHookEvent, AgentHookMoment};
use crate::attach::shorten::CUT;

/// The name of the event of an act that was only announced: it may have begun.
pub const ANNOUNCED: &str = "announced";
/// The name of the event of a risky command that has ended, and for which nobody was asked.
pub const UNASKED: &str = "unasked";
/// The longest text of a prompt that is handed on: of it the first line is kept.
const LONGEST_TEXT: usize = 16 * 1024;

/// What is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcpHookCall {
    /// The name of the event in the agent's program.
    #[serde(rename = "hook_event_name", default)]
    pub name: String,
    /// The session, as the agent names it.
    #[serde(rename = "session_id")]
    pub session: String,
    /// Its folder; empty where it is not known, and ours counts.
    #[serde(rename = "cwd", default)]
    pub folder: String,
    /// What the agent is called.
    #[serde(default)]
    pub agent: String,
    /// What happened or is about to.
    pub act: AcpSessionAct,
}

/// What happened in a session, or is about to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AcpSessionAct {
    /// It begins or goes on.
    Start,
    /// The human has sent a prompt.
    Prompt(String),
    /// Files are about to be changed; none where nobody knows which.
    BeforeEdit(Vec<String>),
    /// A command is about to run.
    BeforeShell(String),
    /// Files were changed; none where nobody knows which.
    AfterEdit(Vec<String>),
    /// A command was run.
    AfterShell,
    /// The agent has answered a prompt.
    TurnEnd,
    /// It ends.
    End,
}

impl AcpHookCall {
    /// The bytes that are sent.
    pub fn payload(&self) -> Vec<u8> {
        let mut short = self.clone();
        if let AcpSessionAct::Prompt(text) = &mut short.act {
            let end = (0..=LONGEST_TEXT.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
            text.truncate(end);
        }
        serde_json::to_vec(&short).unwrap_or_default()
    }

    /// What a payload says, as [`crate::attach::shorten`] leaves it; `None` for what is none.
    pub fn read(payload: &str) -> Option<Self> {
        serde_json::from_str(payload).ok()
    }

    /// The same as an event of a hook.
    pub fn event(self) -> AgentHookEvent {
        let uncut = |text: String| text.trim_end_matches(CUT).to_owned();
        let moment = match self.act {
            AcpSessionAct::Start => AgentHookMoment::SessionStart,
            AcpSessionAct::Prompt(text) => AgentHookMoment::Prompt { text: uncut(text) },
            // Of a list that was cut, or a name, nobody knows all.
            AcpSessionAct::BeforeEdit(paths) => AgentHookMoment::BeforeEdit { paths: whole(paths) },
            AcpSessionAct::BeforeShell(command) => AgentHookMoment::BeforeShell { command },
            AcpSessionAct::AfterEdit(paths) => AgentHookMoment::AfterEdit { paths: whole(paths) },
            AcpSessionAct::AfterShell => AgentHookMoment::AfterShell,
            AcpSessionAct::TurnEnd => AgentHookMoment::TurnEnd,
            AcpSessionAct::End => AgentHookMoment::SessionEnd,
        };
        let folder = Some(uncut(self.folder)).filter(|folder| !folder.is_empty());
        let agent = Some(uncut(self.agent)).filter(|agent| !agent.is_empty());
        let (session, name) = (uncut(self.session), self.name);
        AgentHookEvent { session, folder, name, subagent: false, transcript: None, agent, moment }
    }
}

fn whole(paths: Vec<String>) -> Vec<String> {
    if paths.iter().any(|path| path.ends_with(CUT)) { Vec::new() } else { paths }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attach::shorten::JsonShortener;

    fn call(act: AcpSessionAct) -> AcpHookCall {
        AcpHookCall { name: "n".into(), session: "s".into(), folder: "/r".into(), agent: "a".into(), act }
    }

    fn sent(call: &AcpHookCall) -> AcpHookCall {
        let mut shortener = JsonShortener::default();
        shortener.add(&call.payload());
        AcpHookCall::read(std::str::from_utf8(&shortener.end()).unwrap()).unwrap()
    }

    #[test]
    fn what_is_sent_is_what_is_read() {
        for act in [
            AcpSessionAct::Start,
            AcpSessionAct::Prompt("tidy \"up\"\n".into()),
            AcpSessionAct::BeforeEdit(vec!["/r/a b".into()]),
            AcpSessionAct::BeforeShell("rm -rf x".into()),
            AcpSessionAct::AfterEdit(Vec::new()),
            AcpSessionAct::AfterShell,
            AcpSessionAct::TurnEnd,
            AcpSessionAct::End,
        ] {
            assert_eq!(sent(&call(act.clone())), call(act));
        }
        assert_eq!(AcpHookCall::read("{}"), None);
        assert_eq!(AcpHookCall::read("{\"session_id\":\"s\",\"act\":\"dance\"}"), None);
    }

    #[test]
    fn what_was_cut_is_not_taken_for_a_name() {
        let long = sent(&call(AcpSessionAct::BeforeEdit(vec!["/r/a".into(), "x".repeat(70_000)]))).event();
        assert_eq!(long.moment, AgentHookMoment::BeforeEdit { paths: Vec::new() });
        let event = sent(&call(AcpSessionAct::Prompt("é".repeat(1_000_000)))).event();
        let AgentHookMoment::Prompt { text } = event.moment else { panic!("no prompt") };
        assert_eq!((text.len(), event.folder.as_deref(), event.agent.as_deref()), (LONGEST_TEXT, Some("/r"), Some("a")));
    }
}
