//! What a hook answers its program, in the form that the program understands. Mostly nothing.

use serde_json::json;

use crate::agent::attached_program::AttachedProgram;

/// What is written to standard output and standard error, and the exit status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentHookAnswer {
    /// For standard output.
    pub stdout: String,
    /// For standard error.
    pub stderr: String,
    /// Whether the program is kept from what it was about to do: exit status 2. Else it is 0.
    pub blocks: bool,
}

impl AgentHookAnswer {
    /// The human is asked before a tool is used; nothing where the program cannot.
    pub fn ask(program: AttachedProgram, event: &str, reason: &str) -> Self {
        let text = match program {
            AttachedProgram::Claude => json!({"hookSpecificOutput": {
                "hookEventName": event, "permissionDecision": "ask", "permissionDecisionReason": reason}}),
            AttachedProgram::Cursor => json!({"permission": "ask", "user_message": reason, "agent_message": reason}),
            AttachedProgram::Codex
            | AttachedProgram::Gemini
            | AttachedProgram::Opencode
            | AttachedProgram::Aider
            | AttachedProgram::Acp => {
                return Self::default();
            }
        };
        Self { stdout: format!("{text}\n"), ..Self::default() }
    }

    /// What is kept for humans: asked for, or refused where the program cannot ask.
    pub fn decided(program: AttachedProgram, event: &str, verbs: &[String]) -> Self {
        let named = verbs.iter().map(|verb| format!("'git axiom {verb}'")).collect::<Vec<_>>().join(" and ");
        let decides = if verbs.len() > 1 { "decide" } else { "decides" };
        let reason = format!("{named} {decides} for the human who runs this agent");
        if program.can_ask() {
            return Self::ask(program, event, &reason);
        }
        let reason = format!("{reason}: tell them what you would do and why, and let them call it");
        match program {
            // The plugin of opencode reads the reason from standard output.
            AttachedProgram::Opencode => Self { stdout: format!("{reason}\n"), blocks: true, ..Self::default() },
            AttachedProgram::Claude
            | AttachedProgram::Codex
            | AttachedProgram::Gemini
            | AttachedProgram::Cursor
            | AttachedProgram::Aider
            | AttachedProgram::Acp => Self { stderr: format!("{reason}\n"), blocks: true, ..Self::default() },
        }
    }

    /// Whether a program hands what is answered at an event to its agent at once.
    pub fn is_read_by_agent(program: AttachedProgram, event: &str) -> bool {
        match program {
            // What comes after a shell command is not waited for.
            AttachedProgram::Claude => matches!(event, "PreToolUse" | "PostToolBatch" | "UserPromptSubmit"),
            AttachedProgram::Codex => matches!(event, "PreToolUse" | "PostToolUse" | "UserPromptSubmit"),
            AttachedProgram::Gemini => matches!(event, "AfterTool" | "BeforeAgent"),
            AttachedProgram::Opencode => matches!(event, "PostToolUse" | "UserPromptSubmit"),
            AttachedProgram::Acp => event == "session/prompt",
            AttachedProgram::Cursor | AttachedProgram::Aider => false,
        }
    }

    /// A fact for the agent, beside a prompt or the call of a tool; nothing where the program has no place for it.
    pub fn context(program: AttachedProgram, event: &str, fact: &str) -> Self {
        let text = match program {
            AttachedProgram::Claude | AttachedProgram::Codex | AttachedProgram::Gemini => {
                json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": fact}})
            }
            AttachedProgram::Opencode | AttachedProgram::Acp => json!({"additionalContext": fact}),
            AttachedProgram::Cursor | AttachedProgram::Aider => return Self::default(),
        };
        Self { stdout: format!("{text}\n"), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_agent_reads_is_said_where_it_reads_it() {
        for program in AttachedProgram::ALL {
            let said = !AgentHookAnswer::context(program, "x", "fact").stdout.is_empty();
            let events = ["PreToolUse", "PostToolUse", "PostToolBatch", "AfterTool", "session/prompt"];
            assert_eq!(said, events.iter().any(|event| AgentHookAnswer::is_read_by_agent(program, event)), "{program}");
            assert!(!AgentHookAnswer::is_read_by_agent(program, "Stop"), "{program}");
        }
    }

    #[test]
    fn a_program_that_cannot_ask_refuses_only_our_own_verbs() {
        for program in AttachedProgram::ALL {
            let asked = AgentHookAnswer::ask(program, "PreToolUse", "why");
            assert_eq!(asked.stdout.is_empty(), !program.can_ask(), "{program}");
            let own = AgentHookAnswer::decided(program, "PreToolUse", &["undo".to_owned()]);
            assert_eq!(own.blocks, !program.can_ask(), "{program}");
            assert!(!own.stdout.is_empty() || !own.stderr.is_empty(), "{program}");
            assert!(!asked.blocks && !AgentHookAnswer::context(program, "x", "y").blocks);
        }
        let asked = AgentHookAnswer::ask(AttachedProgram::Claude, "PreToolUse", "why");
        let value: serde_json::Value = serde_json::from_str(&asked.stdout).unwrap();
        assert_eq!(value["hookSpecificOutput"]["permissionDecision"], "ask");
    }
}
