//! What the lines between an editor and an agent mean. Both sides are looked at; nothing that they say fails.

use super::hook_call::{AcpHookCall, AcpSessionAct};
use super::newest_by_id::NewestById;
use super::watched_session::WatchedAcpSession;
use crate::acp::line::{AcpLine, AcpLineKind};

/// The most sessions of one agent that are known, and the most requests of a side that wait for their answers.
const MOST_SESSIONS: usize = 200;
const MOST_REQUESTS: usize = 1000;

/// What a line leads to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AcpLineStep {
    /// What is said of it.
    pub call: Option<AcpHookCall>,
    /// Whether the line waits until that is done.
    pub waits: bool,
    /// Whether the agent can be told something with this line.
    pub tells: bool,
}

/// A request of the editor.
#[derive(Debug)]
enum EditorRequest {
    /// A new session in this folder.
    New(String),
    /// A session goes on.
    Load(String),
    Prompt(String),
    Close(String),
}

/// A request of the agent.
#[derive(Debug)]
enum AgentRequest {
    Write(String, String),
    CommandEnd(String),
}

/// What is known of the agent behind one pair of pipes.
#[derive(Debug, Default)]
pub struct AcpWatcher {
    agent: String,
    sessions: NewestById<WatchedAcpSession, MOST_SESSIONS>,
    of_editor: NewestById<EditorRequest, MOST_REQUESTS>,
    of_agent: NewestById<AgentRequest, MOST_REQUESTS>,
}

impl AcpWatcher {
    /// One for an agent that is called so.
    pub fn new(agent: String) -> Self {
        Self { agent, ..Self::default() }
    }

    /// Looks at a line of the editor's.
    pub fn from_editor(&mut self, line: &AcpLine<'_>) -> AcpLineStep {
        match line.kind {
            AcpLineKind::Request => self.editor_asks(line),
            AcpLineKind::Response => self.editor_answers(line),
            AcpLineKind::Notification | AcpLineKind::NotRpc => AcpLineStep::default(),
        }
    }

    /// Looks at a line of the agent's.
    pub fn from_agent(&mut self, line: &AcpLine<'_>) -> AcpLineStep {
        match line.kind {
            AcpLineKind::Request => self.agent_asks(line),
            AcpLineKind::Notification => self.agent_tells(line),
            AcpLineKind::Response => self.agent_answers(line),
            AcpLineKind::NotRpc => AcpLineStep::default(),
        }
    }

    /// Both are gone: what is said of each session.
    pub fn ends(&mut self) -> Vec<AcpHookCall> {
        let open: Vec<String> = self.sessions.iter().filter(|(_, one)| !one.ended).map(|(id, _)| id.clone()).collect();
        open.iter().map(|session| self.call("end", session, AcpSessionAct::End)).collect()
    }

    fn editor_asks(&mut self, line: &AcpLine<'_>) -> AcpLineStep {
        let id = line.id_key().unwrap_or_default();
        let (session, folder) = (line.session().unwrap_or_default(), line.text_param("cwd").unwrap_or_default());
        match line.method.as_ref() {
            "session/new" | "session/fork" => self.of_editor.add(id, EditorRequest::New(folder)),
            "session/load" | "session/resume" => {
                let known = self.sessions.of(&session);
                known.folder = folder;
                known.replays = true;
                known.ended = false;
                self.of_editor.add(id, EditorRequest::Load(session));
            }
            "session/close" | "session/delete" => self.of_editor.add(id, EditorRequest::Close(session)),
            "session/prompt" => {
                let known = self.sessions.of(&session);
                // Whatever was said before is no answer to this.
                known.replays = false;
                known.ended = false;
                let act = AcpSessionAct::Prompt(line.prompt_text());
                let call = Some(self.call("session/prompt", &session, act));
                self.of_editor.add(id, EditorRequest::Prompt(session));
                return AcpLineStep { call, waits: true, tells: true };
            }
            _ => {}
        }
        AcpLineStep::default()
    }

    fn editor_answers(&mut self, line: &AcpLine<'_>) -> AcpLineStep {
        let request = line.id_key().and_then(|id| self.of_agent.take(&id));
        match request {
            Some(AgentRequest::Write(session, path)) => {
                self.later("fs/write_text_file", &session, AcpSessionAct::AfterEdit(vec![path]))
            }
            Some(AgentRequest::CommandEnd(session)) => self.later("terminal/wait_for_exit", &session, AcpSessionAct::AfterShell),
            None => AcpLineStep::default(),
        }
    }

    fn agent_asks(&mut self, line: &AcpLine<'_>) -> AcpLineStep {
        let id = line.id_key().unwrap_or_default();
        let session = line.session().unwrap_or_default();
        let (name, act) = match line.method.as_ref() {
            "session/request_permission" => {
                // What cannot be read may be anything.
                let act =
                    line.tool().map_or(Some(AcpSessionAct::BeforeEdit(Vec::new())), |act| self.sessions.of(&session).asks(act));
                ("session/request_permission", act)
            }
            "fs/write_text_file" => {
                let path = line.text_param("path").unwrap_or_default();
                self.of_agent.add(id, AgentRequest::Write(session.clone(), path.clone()));
                ("fs/write_text_file", Some(AcpSessionAct::BeforeEdit(vec![path])))
            }
            "terminal/create" => ("terminal/create", Some(AcpSessionAct::BeforeShell(line.terminal_command()))),
            "terminal/wait_for_exit" | "terminal/release" => {
                self.of_agent.add(id, AgentRequest::CommandEnd(session));
                return AcpLineStep::default();
            }
            _ => return AcpLineStep::default(),
        };
        let call = act.map(|act| self.call(name, &session, act));
        AcpLineStep { waits: call.is_some(), call, tells: false }
    }

    fn agent_tells(&mut self, line: &AcpLine<'_>) -> AcpLineStep {
        let Some(act) = line.tool().filter(|_| line.method == "session/update") else { return AcpLineStep::default() };
        let session = line.session().unwrap_or_default();
        match self.sessions.of(&session).tells(act) {
            Some((name, act)) => self.later(name, &session, act),
            None => AcpLineStep::default(),
        }
    }

    fn agent_answers(&mut self, line: &AcpLine<'_>) -> AcpLineStep {
        match line.id_key().and_then(|id| self.of_editor.take(&id)) {
            Some(EditorRequest::New(folder)) => {
                let Some(session) = line.text_result("sessionId") else { return AcpLineStep::default() };
                self.sessions.of(&session).folder = folder;
                self.later("session/new", &session, AcpSessionAct::Start)
            }
            Some(EditorRequest::Load(session)) => {
                self.sessions.of(&session).replays = false;
                if line.result().is_none() {
                    return AcpLineStep::default();
                }
                self.later("session/load", &session, AcpSessionAct::Start)
            }
            Some(EditorRequest::Prompt(session)) => {
                self.sessions.of(&session).rests();
                self.later("session/prompt", &session, AcpSessionAct::TurnEnd)
            }
            Some(EditorRequest::Close(session)) => {
                self.sessions.of(&session).ended = true;
                self.later("session/close", &session, AcpSessionAct::End)
            }
            None => AcpLineStep::default(),
        }
    }

    fn call(&mut self, name: &str, session: &str, act: AcpSessionAct) -> AcpHookCall {
        let folder = self.sessions.of(session).folder.clone();
        AcpHookCall { name: name.to_owned(), session: session.to_owned(), folder, agent: self.agent.clone(), act }
    }

    fn later(&mut self, name: &str, session: &str, act: AcpSessionAct) -> AcpLineStep {
        AcpLineStep { call: Some(self.call(name, session, act)), waits: false, tells: false }
    }
}
