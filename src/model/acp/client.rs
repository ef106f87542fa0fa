//! The side of the client: one session of the Agent Client Protocol, one prompt. Lines of the agent go in, and what is to be done comes out.
//! Only the stable version 1 is spoken. What the lines say of the work (texts, calls, tokens) is read elsewhere, by rules.
//!
//! Nothing that an agent says fails here: what is not understood is passed over, and a request that is not served is answered so.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use super::agent_words;
pub use super::effect::{AcpEffect, AcpPermissionRequest};
use super::line::{AcpLine, AcpLineKind};
use super::plan::AcpPlan;
use crate::agent::stream::stream_event::{AgentRunFailure, MAX_WORDS, StreamEvent, ToolCallDenial, cut};
use crate::agent::stream::trouble::{ModelTrouble, classify, status_in};

/// The most permissions that an agent may wait for at once. More are refused at once.
const MOST_ASKED: usize = 64;
/// The longest id of a request that is answered.
const LONGEST_ID: usize = 1000;
/// The method by which an agent asks for a permission.
const ASKS: &str = "session/request_permission";
/// The error of a method that is not served, and of an agent that wants its user to sign in.
const NOT_SERVED: i64 = -32601;
const SIGN_IN: i64 = -32000;

/// What a session is begun with.
#[derive(Debug, Clone, Default)]
pub struct AcpOpening {
    /// The workspace.
    pub folder: String,
    /// The prompt.
    pub prompt: String,
    /// The session that is to be gone on with.
    pub resumes: Option<String>,
    /// The mode of the session, as the agent calls it.
    pub mode: Option<String>,
    /// Texts of errors, and what they mean.
    pub trouble: BTreeMap<String, ModelTrouble>,
    /// The version of this program.
    pub version: String,
}

/// What the agent was asked last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AcpStage {
    Initializing,
    New,
    Resuming,
    Loading,
    ChangingMode,
    Prompting,
    Over,
}

/// A permission that the agent waits for: its id as it is written, and the options that are chosen, once only.
#[derive(Debug)]
struct AcpPendingPermission {
    number: u64,
    id: String,
    allow: Option<String>,
    reject: Option<String>,
}

/// One session with an agent.
#[derive(Debug)]
pub struct AcpClient {
    opening: AcpOpening,
    stage: AcpStage,
    /// The id of the request that is open.
    id: u64,
    session: Option<String>,
    can_load: bool,
    /// How the user signs in, as the agent says it.
    sign_in: Vec<String>,
    asked: VecDeque<AcpPendingPermission>,
    numbers: u64,
    plan: AcpPlan,
    /// The text that came last, where nothing was done after it.
    last_words: String,
    cancelled: bool,
}

impl AcpClient {
    /// A session that has not begun, and the first line to the agent.
    pub fn begin(opening: AcpOpening) -> (Self, AcpEffect) {
        let mut client = Self {
            opening,
            stage: AcpStage::Initializing,
            id: 0,
            session: None,
            can_load: false,
            sign_in: Vec::new(),
            asked: VecDeque::new(),
            numbers: 0,
            plan: AcpPlan::default(),
            last_words: String::new(),
            cancelled: false,
        };
        let params = json!({
            "protocolVersion": 1,
            "clientCapabilities": {"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false},
            "clientInfo": {"name": "git-axiom", "title": "git axiom", "version": client.opening.version},
        });
        let first = client.request(AcpStage::Initializing, "initialize", params);
        (client, first)
    }

    /// Whether what the agent says now is what was said in earlier runs: it tells the session again.
    pub fn is_told_again(&self) -> bool {
        matches!(self.stage, AcpStage::Resuming | AcpStage::Loading)
    }

    /// What follows from a line of the agent.
    pub fn line(&mut self, line: &str) -> Vec<AcpEffect> {
        let line = AcpLine::of(line);
        match line.kind {
            AcpLineKind::Request => self.requested(&line),
            AcpLineKind::Response if line.id.is_some_and(|id| id.trim() == self.id.to_string()) => self.answered(&line),
            AcpLineKind::Notification if !self.is_told_again() => self.updated(&line),
            AcpLineKind::Response | AcpLineKind::Notification | AcpLineKind::NotRpc => Vec::new(),
        }
    }

    fn updated(&mut self, line: &AcpLine<'_>) -> Vec<AcpEffect> {
        let update = || line.params().and_then(|params| serde_json::from_str::<Value>(params).ok()).unwrap_or_default();
        match line.update().as_deref() {
            Some("plan") => self.plan.changes(&update()["update"]).into_iter().map(AcpEffect::Reports).collect(),
            Some("agent_message_chunk") => {
                let text = update()["update"]["content"]["text"].as_str().unwrap_or_default().trim().to_owned();
                self.last_words = cut(text, MAX_WORDS);
                Vec::new()
            }
            Some("tool_call" | "tool_call_update") => {
                self.last_words.clear();
                Vec::new()
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// What follows from a line that is too long to be held: `line` is what its JSON says without its long texts. Nobody can decide about what
    /// was left out, so no permission is given; and where it cannot be read who waits for an answer, nobody goes on waiting.
    pub fn long_line(&mut self, text: &str) -> Vec<AcpEffect> {
        let line = AcpLine::of(text);
        match line.kind {
            AcpLineKind::Request if line.method == ASKS => self.refused(&line, "it asks for it in a line that is too long"),
            AcpLineKind::Request | AcpLineKind::Response => self.line(text),
            AcpLineKind::NotRpc if text.trim_start().starts_with('{') => {
                self.gives_up("the agent sent a line that is too long, and that cannot be read")
            }
            AcpLineKind::Notification | AcpLineKind::NotRpc => Vec::new(),
        }
    }

    /// The turn cannot go on.
    pub fn gives_up(&mut self, why: &str) -> Vec<AcpEffect> {
        if self.stage == AcpStage::Over { Vec::new() } else { self.over(ModelTrouble::Other, why.to_owned()) }
    }

    /// Nothing more comes from the agent. Where its turn was not over, something ended it.
    pub fn hears_no_more(&mut self) -> Vec<AcpEffect> {
        if self.stage != AcpStage::Prompting || self.cancelled {
            return Vec::new();
        }
        self.breaks_off(ModelTrouble::Other, "the agent ended in the middle of its turn".into())
    }

    /// The turn is to end: all that the agent waits for is answered so.
    pub fn cancel(&mut self) -> Vec<AcpEffect> {
        if std::mem::replace(&mut self.cancelled, true) || self.stage == AcpStage::Over {
            return Vec::new();
        }
        let Some(session) = self.session.clone().filter(|_| self.stage == AcpStage::Prompting) else {
            self.stage = AcpStage::Over;
            return vec![AcpEffect::Ends];
        };
        let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}});
        let pending = std::mem::take(&mut self.asked);
        let answers = pending.iter().map(|asked| answer_line(&asked.id, &json!({"outcome": "cancelled"})));
        std::iter::once(cancel.to_string()).chain(answers).map(AcpEffect::Sends).collect()
    }

    /// Answers a permission: always once only. Nothing where the agent does not wait for it any more.
    pub fn answer(&mut self, number: u64, allowed: bool) -> Option<AcpEffect> {
        let at = self.asked.iter().position(|asked| asked.number == number)?;
        let AcpPendingPermission { id, allow, reject, .. } = self.asked.remove(at)?;
        let option = if allowed { allow } else { reject };
        // An agent that offers no such option gets the answer that every client may give.
        let outcome =
            option.map_or_else(|| json!({"outcome": "cancelled"}), |option| json!({"outcome": "selected", "optionId": option}));
        Some(AcpEffect::Sends(answer_line(&id, &outcome)))
    }

    fn request(&mut self, stage: AcpStage, method: &str, params: Value) -> AcpEffect {
        self.stage = stage;
        self.id += 1;
        AcpEffect::Sends(json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}).to_string())
    }

    fn requested(&mut self, line: &AcpLine<'_>) -> Vec<AcpEffect> {
        let Some(id) = line.id.filter(|id| id.len() <= LONGEST_ID) else {
            return self.gives_up("the id of a request of the agent is too long to be answered");
        };
        if line.method != ASKS {
            let method: String = line.method.chars().take(100).collect();
            let error = json!({"code": NOT_SERVED, "message": format!("{method} is not served")});
            return vec![AcpEffect::Sends(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}"))];
        }
        let params = line.params().and_then(|params| serde_json::from_str::<Value>(params).ok()).unwrap_or_default();
        let option = |kind: &str| {
            let options = params["options"].as_array()?.iter();
            let chosen = options.filter(|option| option["kind"] == kind).find_map(|option| option["optionId"].as_str())?;
            Some(chosen.to_owned())
        };
        let (allow, reject) = (option("allow_once"), option("reject_once"));
        if self.cancelled || self.stage != AcpStage::Prompting {
            return vec![AcpEffect::Sends(answer_line(id, &json!({"outcome": "cancelled"})))];
        }
        self.numbers += 1;
        let number = self.numbers;
        self.asked.push_back(AcpPendingPermission { number, id: id.to_owned(), allow, reject });
        if self.asked.len() > MOST_ASKED {
            return self.answer(number, false).into_iter().collect();
        }
        let call = &params["toolCall"];
        let text = |key: &str| call[key].as_str().unwrap_or_default().to_owned();
        let asks = AcpPermissionRequest {
            number,
            kind: text("kind"),
            title: text("title"),
            input: call.get("rawInput").cloned(),
            content: call.get("content").cloned(),
        };
        vec![AcpEffect::Asks(Box::new(asks))]
    }

    /// Refuses a permission that nobody is asked about; the run knows of it.
    fn refused(&mut self, line: &AcpLine<'_>, why: &str) -> Vec<AcpEffect> {
        let mut effects = self.requested(line);
        let asked = effects.iter().position(|effect| matches!(effect, AcpEffect::Asks(_))).map(|at| effects.remove(at));
        if let Some(AcpEffect::Asks(request)) = asked {
            effects.extend(self.answer(request.number, false));
            let AcpPermissionRequest { kind: tool, title, .. } = *request;
            let about = Some(cut(title, MAX_WORDS));
            effects.push(AcpEffect::Says(StreamEvent::Denied(ToolCallDenial { id: None, tool, about, why: why.to_owned() })));
        }
        effects
    }

    fn answered(&mut self, line: &AcpLine<'_>) -> Vec<AcpEffect> {
        let of = |text: Option<&str>| text.and_then(|text| serde_json::from_str::<Value>(text).ok());
        if let Some(error) = line.error() {
            let error = of(Some(error)).unwrap_or_default();
            return match self.stage {
                AcpStage::Resuming if self.can_load && error["code"] != SIGN_IN => vec![self.load()],
                AcpStage::Initializing
                | AcpStage::New
                | AcpStage::Resuming
                | AcpStage::Loading
                | AcpStage::ChangingMode
                | AcpStage::Prompting => self.failed(&error),
                AcpStage::Over => Vec::new(),
            };
        }
        let result = of(line.result()).unwrap_or_default();
        match self.stage {
            AcpStage::Initializing => self.initialized(&result),
            AcpStage::New => match result["sessionId"].as_str() {
                Some(id) => {
                    self.session = Some(id.to_owned());
                    vec![self.opened(id, &result)]
                }
                None => self.over(ModelTrouble::Other, "the agent gave its session no id".into()),
            },
            AcpStage::Resuming | AcpStage::Loading => {
                let id = self.opening.resumes.clone().unwrap_or_default();
                self.session = Some(id.clone());
                vec![AcpEffect::Says(StreamEvent::Session { id: id.clone() }), self.opened(&id, &result)]
            }
            AcpStage::ChangingMode => {
                let id = self.session.clone().unwrap_or_default();
                vec![self.prompt(&id)]
            }
            AcpStage::Prompting => self.ended(result["stopReason"].as_str().unwrap_or_default()),
            AcpStage::Over => Vec::new(),
        }
    }

    fn initialized(&mut self, result: &Value) -> Vec<AcpEffect> {
        if let Some(version) = result["protocolVersion"].as_u64().filter(|version| *version != 1) {
            let why = format!("the agent speaks version {version} of the Agent Client Protocol, and not version 1");
            return self.over(ModelTrouble::Other, why);
        }
        let can = &result["agentCapabilities"];
        self.can_load = can["loadSession"] == true;
        self.sign_in = agent_words::of_sign_in(&result["authMethods"]);
        let can_resume = can["sessionCapabilities"].get("resume").is_some_and(|resume| !resume.is_null());
        let folder = self.opening.folder.clone();
        vec![match self.opening.resumes.clone() {
            None => self.request(AcpStage::New, "session/new", json!({"cwd": folder, "mcpServers": []})),
            Some(id) if can_resume => {
                let params = json!({"sessionId": id, "cwd": folder, "mcpServers": []});
                self.request(AcpStage::Resuming, "session/resume", params)
            }
            Some(_) if self.can_load => self.load(),
            Some(_) => return self.over(ModelTrouble::Other, "the agent cannot go on with its session".into()),
        }]
    }

    fn load(&mut self) -> AcpEffect {
        let id = self.opening.resumes.clone().unwrap_or_default();
        let params = json!({"sessionId": id, "cwd": self.opening.folder, "mcpServers": []});
        self.request(AcpStage::Loading, "session/load", params)
    }

    /// The session is open: where it is in another mode than wanted, that is changed first. An agent that would ask nobody is no agent to begin
    /// with, so a mode that it does not have is an error.
    fn opened(&mut self, session: &str, result: &Value) -> AcpEffect {
        match self.opening.mode.clone().filter(|mode| result["modes"]["currentModeId"] != mode.as_str()) {
            Some(mode) => self.request(AcpStage::ChangingMode, "session/set_mode", json!({"sessionId": session, "modeId": mode})),
            None => self.prompt(session),
        }
    }

    fn prompt(&mut self, session: &str) -> AcpEffect {
        let text = std::mem::take(&mut self.opening.prompt);
        let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
        self.request(AcpStage::Prompting, "session/prompt", params)
    }

    fn ended(&mut self, why: &str) -> Vec<AcpEffect> {
        let failure = match why {
            "end_turn" | "cancelled" => None,
            "refusal" => Some("the model refused to go on (refusal)".to_owned()),
            "max_tokens" => Some("the model's answer reached its limit of tokens (max_tokens)".to_owned()),
            "max_turn_requests" => Some("the turn reached its limit of requests to the model (max_turn_requests)".to_owned()),
            other => Some(format!("the turn ended with '{}'", other.chars().take(100).collect::<String>())),
        };
        let words = self.last_words.to_lowercase();
        let begins = |text: &String| words.starts_with(text.to_lowercase().as_str());
        let gave_up = self.opening.trouble.keys().any(begins) && !self.cancelled;
        match failure {
            Some(why) => self.over(ModelTrouble::Other, why),
            None if gave_up => {
                let why = std::mem::take(&mut self.last_words);
                let trouble = classify(status_in(&why), &why, &self.opening.trouble);
                self.over(trouble, why)
            }
            None => {
                self.stage = AcpStage::Over;
                vec![AcpEffect::Ends]
            }
        }
    }

    fn failed(&mut self, error: &Value) -> Vec<AcpEffect> {
        let (why, status) = agent_words::of_error(error);
        if error["code"] == SIGN_IN {
            let why = [vec![why], self.sign_in.clone()].concat().join("; ");
            return self.over(ModelTrouble::SignIn, why);
        }
        let trouble = classify(status.or_else(|| status_in(&why)), &why, &self.opening.trouble);
        self.breaks_off(trouble, why)
    }

    /// The turn is over in its middle: as where the program behind an adapter dies, which the adapter says, and ends well itself.
    fn breaks_off(&mut self, trouble: ModelTrouble, why: String) -> Vec<AcpEffect> {
        let broke_off = self.stage == AcpStage::Prompting && trouble == ModelTrouble::Other;
        let mut effects = self.over(trouble, why);
        if let Some(AcpEffect::Says(StreamEvent::Failed(failed))) = effects.first_mut() {
            failed.broke_off = broke_off;
        }
        effects
    }

    fn over(&mut self, trouble: ModelTrouble, why: String) -> Vec<AcpEffect> {
        self.stage = AcpStage::Over;
        let status = status_in(&why);
        let failed = AgentRunFailure { trouble, status, message: cut(why, MAX_WORDS), broke_off: false };
        vec![AcpEffect::Says(StreamEvent::Failed(failed)), AcpEffect::Ends]
    }
}

/// The answer to a request of the agent, with its id as it is written.
fn answer_line(id: &str, outcome: &Value) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{}}}", json!({"outcome": outcome}))
}
