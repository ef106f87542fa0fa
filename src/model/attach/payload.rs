//! What a program's hook says, as one internal event, whatever keys the program uses. Payloads of other programs that read the same
//! configuration files are told apart, and what is not known is nothing.

use serde_json::Value;

use super::shell;
use super::shorten::CUT;
use crate::agent::attached_program::AttachedProgram;
use crate::program_hooks::plugin_commands::COMMAND_MARK;
use axiom_base::shell_word::quoted_word;

/// What a hook of a program says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentHookEvent {
    /// The program's id of its session; empty where it has none.
    pub session: String,
    /// The folder it is about; `None` where it says none, and ours counts.
    pub folder: Option<String>,
    /// The name of the event in the program's words.
    pub name: String,
    /// Whether it comes from inside a subagent.
    pub subagent: bool,
    /// The file in which the program writes the conversation down, where it names one.
    pub transcript: Option<String>,
    /// What the agent is called, where one program stands for many.
    pub agent: Option<String>,
    /// What happened or is about to.
    pub moment: AgentHookMoment,
}

/// What happened or is about to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentHookMoment {
    /// A session starts or goes on.
    SessionStart,
    /// The human has sent a prompt; the agent has not begun with it.
    Prompt {
        /// Its text, where the program tells it.
        text: String,
    },
    /// The program sent a prompt itself: a task that the agent began has ended, or it wakes up. What follows belongs to the human's prompt
    /// before it.
    OwnPrompt,
    /// The human called a command of our plugin: it asks about prompts, and is none.
    PluginCommand,
    /// Files are about to be edited.
    BeforeEdit {
        /// The files, as the program names them.
        paths: Vec<String>,
    },
    /// A shell command is about to run.
    BeforeShell {
        /// The command.
        command: String,
    },
    /// Files were edited.
    AfterEdit {
        /// The files, as the program names them.
        paths: Vec<String>,
    },
    /// A shell command was run.
    AfterShell,
    /// The agent has ended its turn, or was interrupted.
    TurnEnd,
    /// An answer has ended, and the program tells nothing else: what there is now is what the next prompt begins with.
    AnswerEnd,
    /// A subagent has ended.
    SubagentEnd,
    /// A worktree is about to be removed.
    WorktreeRemove,
    /// The session ends.
    SessionEnd,
}

impl AgentHookEvent {
    /// That this happened, where nothing more is said of it.
    pub fn without_payload(name: &str, moment: AgentHookMoment) -> Self {
        let (session, name) = (String::new(), name.to_owned());
        Self { session, folder: None, name, subagent: false, transcript: None, agent: None, moment }
    }
}

impl AgentHookMoment {
    /// Whether a program waits before it acts on files itself.
    pub fn is_before_an_act(&self) -> bool {
        match self {
            Self::BeforeEdit { .. } | Self::BeforeShell { .. } => true,
            Self::SessionStart
            | Self::Prompt { .. }
            | Self::OwnPrompt
            | Self::PluginCommand
            | Self::AfterEdit { .. }
            | Self::AfterShell
            | Self::TurnEnd
            | Self::AnswerEnd
            | Self::SubagentEnd
            | Self::WorktreeRemove
            | Self::SessionEnd => false,
        }
    }
}

/// The most files of one event.
const MOST_PATHS: usize = 500;

/// Whether what came is a payload of any program: else nobody knows what it said.
pub fn is_payload(bytes: &[u8]) -> bool {
    serde_json::from_str::<Value>(&String::from_utf8_lossy(bytes)).is_ok_and(|value| value.is_object())
}

/// What a payload of `program` says, as [`super::shorten`] leaves it; `None` for what is no payload of that program, or nothing that we act on.
pub fn read(program: AttachedProgram, bytes: &[u8]) -> Option<AgentHookEvent> {
    if program == AttachedProgram::Aider {
        // It sends nothing, at the end of each answer.
        return Some(AgentHookEvent::without_payload("notification", AgentHookMoment::AnswerEnd));
    }
    let text = String::from_utf8_lossy(bytes);
    let value: Value = serde_json::from_str(&text).ok()?;
    if !value.is_object() || is_of_another(program, &value) {
        return None;
    }
    let name = text_of(&value, "hook_event_name");
    let moment = match program {
        AttachedProgram::Claude | AttachedProgram::Opencode | AttachedProgram::Codex => of_claude(program, &name, &value)?,
        AttachedProgram::Gemini => of_gemini(&name, &value)?,
        AttachedProgram::Cursor => of_cursor(&name, &value)?,
        AttachedProgram::Aider | AttachedProgram::Acp => return None,
    };
    let session = match program {
        AttachedProgram::Cursor => text_of(&value, "conversation_id"),
        AttachedProgram::Claude
        | AttachedProgram::Codex
        | AttachedProgram::Gemini
        | AttachedProgram::Opencode
        | AttachedProgram::Aider
        | AttachedProgram::Acp => text_of(&value, "session_id"),
    };
    let subagent = value.get("agent_id").is_some_and(|id| !id.is_null());
    let transcript = Some(text_of(&value, "transcript_path")).filter(|path| !path.is_empty());
    Some(AgentHookEvent { session, folder: folder_of(program, &value), name, subagent, transcript, agent: None, moment })
}

/// Cursor and editors of Microsoft run the hooks of Claude Code's settings too, with keys of their own.
fn is_of_another(program: AttachedProgram, value: &Value) -> bool {
    let is_cursors = value.get("cursor_version").is_some() || value.get("workspace_roots").is_some();
    let transcript = text_of(value, "transcript_path").to_ascii_lowercase();
    let is_copilots = transcript.contains("copilot") || transcript.contains("/code/user/workspacestorage/");
    match program {
        AttachedProgram::Cursor => !is_cursors,
        AttachedProgram::Claude => is_cursors || is_copilots,
        AttachedProgram::Codex | AttachedProgram::Gemini | AttachedProgram::Opencode => is_cursors,
        AttachedProgram::Aider | AttachedProgram::Acp => false,
    }
}

/// Cursor names the folders that are open, and only for shell commands the one that the command runs in.
fn folder_of(program: AttachedProgram, value: &Value) -> Option<String> {
    let cwd = text_of(value, "cwd");
    if !cwd.is_empty() {
        return Some(cwd);
    }
    let roots = value.get("workspace_roots").and_then(Value::as_array).filter(|_| program == AttachedProgram::Cursor)?;
    let root = roots.first()?.as_str()?;
    // `/c:/Users/…` is how Windows paths are written there.
    Some(root.to_owned())
}

fn of_claude(program: AttachedProgram, name: &str, value: &Value) -> Option<AgentHookMoment> {
    let tool = text_of(value, "tool_name");
    let input = value.get("tool_input").unwrap_or(&Value::Null);
    let is_shell = matches!(tool.as_str(), "Bash" | "PowerShell" | "bash");
    let is_edit = matches!(
        tool.as_str(),
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "apply_patch" | "edit" | "write" | "multiedit" | "patch"
    );
    match name {
        "SessionStart" => Some(AgentHookMoment::SessionStart),
        "UserPromptSubmit" => Some(prompt(program, value)),
        "PreToolUse" if is_shell => Some(before_shell(command_of(input))),
        "PreToolUse" if is_edit => Some(AgentHookMoment::BeforeEdit { paths: paths_of(input) }),
        "PostToolUse" | "PostToolUseFailure" if is_shell => Some(AgentHookMoment::AfterShell),
        "PostToolUse" | "PostToolUseFailure" if is_edit => Some(AgentHookMoment::AfterEdit { paths: paths_of(input) }),
        "PostToolBatch" => after_batch(value),
        "Stop" | "StopFailure" | "Interrupt" => Some(AgentHookMoment::TurnEnd),
        "SubagentStop" => Some(AgentHookMoment::SubagentEnd),
        "WorktreeRemove" => Some(AgentHookMoment::WorktreeRemove),
        "SessionEnd" => Some(AgentHookMoment::SessionEnd),
        _ => None,
    }
}

/// A shell command is about to run. Codex edits files by a command `apply_patch <<EOF` where its model has no tool for that, and then
/// tells nothing afterwards.
fn before_shell(command: String) -> AgentHookMoment {
    let is_patch = command.trim_start().starts_with("apply_patch") && shell::risk(&command, &|_| None).is_none();
    let paths: Vec<String> = if is_patch { paths_in_patch(&command).collect() } else { Vec::new() };
    match paths.len() {
        0 => AgentHookMoment::BeforeShell { command },
        1..=MOST_PATHS => AgentHookMoment::BeforeEdit { paths },
        _ => AgentHookMoment::BeforeEdit { paths: Vec::new() },
    }
}

/// A batch of calls that has ended: the edits among them. Shell calls have an event of their own.
fn after_batch(value: &Value) -> Option<AgentHookMoment> {
    let calls = value.get("tool_calls").and_then(Value::as_array)?;
    let mut paths = Vec::new();
    for call in calls {
        let tool = text_of(call, "tool_name");
        if matches!(tool.as_str(), "Edit" | "Write" | "MultiEdit" | "NotebookEdit") {
            paths.extend(paths_of(call.get("tool_input").unwrap_or(&Value::Null)));
        }
    }
    let is_known = !paths.is_empty();
    if paths.len() > MOST_PATHS {
        paths.clear();
    }
    is_known.then_some(AgentHookMoment::AfterEdit { paths })
}

fn of_gemini(name: &str, value: &Value) -> Option<AgentHookMoment> {
    let tool = text_of(value, "tool_name");
    let input = value.get("tool_input").unwrap_or(&Value::Null);
    let is_edit = matches!(tool.as_str(), "write_file" | "replace");
    let is_shell = tool == "run_shell_command";
    match name {
        "SessionStart" => Some(AgentHookMoment::SessionStart),
        "BeforeAgent" => Some(prompt(AttachedProgram::Gemini, value)),
        "BeforeTool" if is_shell => Some(AgentHookMoment::BeforeShell { command: command_of(input) }),
        "BeforeTool" if is_edit => Some(AgentHookMoment::BeforeEdit { paths: paths_of(input) }),
        "AfterTool" if is_shell => Some(AgentHookMoment::AfterShell),
        "AfterTool" if is_edit => Some(AgentHookMoment::AfterEdit { paths: paths_of(input) }),
        "AfterAgent" => Some(AgentHookMoment::TurnEnd),
        "SessionEnd" => Some(AgentHookMoment::SessionEnd),
        _ => None,
    }
}

fn of_cursor(name: &str, value: &Value) -> Option<AgentHookMoment> {
    let tool = text_of(value, "tool_name");
    let input = value.get("tool_input").unwrap_or(&Value::Null);
    let is_edit = matches!(tool.as_str(), "Write" | "Delete" | "StrReplace" | "ApplyPatch");
    match name {
        "sessionStart" => Some(AgentHookMoment::SessionStart),
        "beforeSubmitPrompt" => Some(prompt(AttachedProgram::Cursor, value)),
        "preToolUse" if tool == "Shell" => Some(AgentHookMoment::BeforeShell { command: command_of(input) }),
        "preToolUse" if is_edit => Some(AgentHookMoment::BeforeEdit { paths: paths_of(input) }),
        "postToolUse" | "postToolUseFailure" if tool == "Shell" => Some(AgentHookMoment::AfterShell),
        "postToolUse" | "postToolUseFailure" if is_edit => Some(AgentHookMoment::AfterEdit { paths: paths_of(input) }),
        "beforeShellExecution" => Some(AgentHookMoment::BeforeShell { command: command_of(value) }),
        "afterShellExecution" => Some(AgentHookMoment::AfterShell),
        "afterFileEdit" => Some(AgentHookMoment::AfterEdit { paths: paths_of(value) }),
        "stop" => Some(AgentHookMoment::TurnEnd),
        "subagentStop" => Some(AgentHookMoment::SubagentEnd),
        "sessionEnd" => Some(AgentHookMoment::SessionEnd),
        _ => None,
    }
}

/// What Claude Code names as the source of a prompt that no human sent.
const OWN_SOURCES: [&str; 4] = ["system", "loop_wakeup", "schedule_wakeup", "poll_event"];
/// What a program puts around a prompt that it sends itself.
const OWN_MARKS: [&str; 6] = [
    "<task-notification>",
    "<subagent_notification>",
    "<agent-notification>",
    "<teammate-message",
    "<background-task",
    "<system-reminder>",
];

/// The commands of our plugins, as a human types them.
const COMMANDS: [&str; 2] = ["/axiom:undo", "/axiom:prompts"];

/// Whether a prompt is a command of our plugins, or its text.
fn is_command(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(COMMAND_MARK) || text.split_whitespace().next().is_some_and(|word| COMMANDS.contains(&word))
}

/// A prompt of a human, or of the program itself.
fn prompt(program: AttachedProgram, value: &Value) -> AgentHookMoment {
    let mut text = text_of(value, "prompt");
    if program == AttachedProgram::Opencode && text.is_empty() {
        text = text_of(value, "text");
    }
    let is_marked = OWN_MARKS.iter().any(|mark| text.trim_start().starts_with(mark));
    if is_marked || OWN_SOURCES.contains(&text_of(value, "source").as_str()) {
        return AgentHookMoment::OwnPrompt;
    }
    if is_command(&text) { AgentHookMoment::PluginCommand } else { AgentHookMoment::Prompt { text } }
}

/// A text of an object, without the sign that it was cut; empty where there is none.
fn text_of(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().trim_end_matches(CUT).to_owned()
}

/// The command of a shell tool: a text, or its words. Whoever looks at it sees that it was cut.
fn command_of(input: &Value) -> String {
    let Some(command) = input.get("command") else { return String::new() };
    match command.as_array() {
        Some(words) => words.iter().filter_map(Value::as_str).map(quoted_word).collect::<Vec<_>>().join(" "),
        None => command.as_str().unwrap_or_default().to_owned(),
    }
}

/// The files that the input of an edit tool names; none where not all of them are known, and then everything is looked at.
fn paths_of(input: &Value) -> Vec<String> {
    let named = ["file_path", "filePath", "notebook_path", "path"].into_iter();
    let mut paths: Vec<String> = named.map(|key| text_of(input, key)).filter(|path| !path.is_empty()).take(1).collect();
    for key in ["command", "patchText", "patch", "input"] {
        if let Some(patch) = input.get(key).and_then(Value::as_str) {
            paths.extend(paths_in_patch(patch));
            let is_patch = patch.contains("*** ");
            if patch.ends_with(CUT) && is_patch {
                return Vec::new();
            }
        }
    }
    if paths.len() > MOST_PATHS { Vec::new() } else { paths }
}

fn paths_in_patch(patch: &str) -> impl Iterator<Item = String> {
    const MARKS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let path = |line: &str| MARKS.iter().find_map(|mark| line.trim_end().strip_prefix(mark)).map(str::to_owned);
    patch.lines().filter_map(path)
}

#[cfg(test)]
#[path = "payload_tests.rs"]
mod tests;
