//! Agent programs: the presets, and programs given on the command line.

use crate::error::{Code, Error, Result};

/// What the program gets as its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptKind {
    /// The whole prompt, in Markdown.
    Prompt,
    /// Only the body of the task, which is a script.
    Script,
}

/// An agent program, ready to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentProgram {
    /// The name of the preset or of the program.
    pub name: String,
    /// The program and its arguments. `{prompt}` and `{promptFile}` are replaced; without them the prompt is written to
    /// stdin.
    pub command: Vec<String>,
    /// Whether exit status 0 alone completes a task.
    pub exit_completes: bool,
    /// The signal that asks it to stop: TERM, INT, HUP or QUIT.
    pub stop_signal: String,
    /// What it gets as its prompt.
    pub prompt: PromptKind,
}

/// The presets. They differ because the programs were observed to behave differently.
const PRESETS: &[(&str, &[&str], bool, &str)] = &[
    ("shell", &["sh", "{promptFile}"], true, "TERM"),
    (
        "claude",
        &["claude", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits"],
        false,
        "TERM",
    ),
    ("codex", &["codex", "exec", "--json", "-"], false, "INT"),
    ("gemini", &["gemini", "-o", "stream-json", "--approval-mode", "yolo"], false, "TERM"),
    ("opencode", &["opencode", "run", "--format", "json"], false, "TERM"),
    ("aider", &["aider", "--message-file", "{promptFile}", "--yes-always"], false, "TERM"),
];

/// The preset of this name.
///
/// # Errors
/// `CONFIG_INVALID`, with the names of the presets.
pub fn preset(name: &str) -> Result<AgentProgram> {
    let found = PRESETS.iter().find(|(preset, ..)| *preset == name);
    let Some((name, command, exit_completes, stop_signal)) = found else {
        let names: Vec<&str> = PRESETS.iter().map(|(name, ..)| *name).collect();
        return Err(Error::new(Code::ConfigInvalid, format!("there is no agent program '{name}'"))
            .hint(format!("presets are {}; or give a program after '--'", names.join(", "))));
    };
    Ok(AgentProgram {
        name: (*name).to_owned(),
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        exit_completes: *exit_completes,
        stop_signal: (*stop_signal).to_owned(),
        prompt: if *name == "shell" { PromptKind::Script } else { PromptKind::Prompt },
    })
}

/// A program given on the command line: exit status 0 completes a task.
pub fn bare_program(command: Vec<String>) -> AgentProgram {
    let name = command.first().cloned().unwrap_or_default();
    AgentProgram { name, command, exit_completes: true, stop_signal: "TERM".into(), prompt: PromptKind::Prompt }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_known_and_others_are_refused() {
        assert_eq!(preset("shell").unwrap().prompt, PromptKind::Script);
        assert!(!preset("claude").unwrap().exit_completes);
        let error = preset("nope").unwrap_err();
        assert_eq!(error.code(), Code::ConfigInvalid);
        assert!(error.hints()[0].contains("codex"));
    }
}
