//! What a hook answers its program, in the form that the program understands. Mostly nothing.

use serde_json::json;

use super::program::Program;

/// What is written to standard output and standard error, and the exit status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// For standard output.
    pub stdout: String,
    /// For standard error.
    pub stderr: String,
    /// Whether the program is kept from what it was about to do: exit status 2. Else it is 0.
    pub blocks: bool,
}

impl Answer {
    /// The human is asked before a tool is used; nothing where the program cannot.
    pub fn ask(program: Program, event: &str, reason: &str) -> Self {
        let text = match program {
            Program::Claude => json!({"hookSpecificOutput": {
                "hookEventName": event, "permissionDecision": "ask", "permissionDecisionReason": reason}}),
            Program::Cursor => json!({"permission": "ask", "user_message": reason, "agent_message": reason}),
            Program::Codex | Program::Gemini | Program::Opencode | Program::Aider => return Self::default(),
        };
        Self { stdout: format!("{text}\n"), ..Self::default() }
    }

    /// What is kept for humans: asked for, or refused where the program cannot ask.
    pub fn decided(program: Program, event: &str, verbs: &[String]) -> Self {
        let named = verbs.iter().map(|verb| format!("'git axiom {verb}'")).collect::<Vec<_>>().join(" and ");
        let decides = if verbs.len() > 1 { "decide" } else { "decides" };
        let reason = format!("{named} {decides} for the human who runs this agent");
        if program.can_ask() {
            return Self::ask(program, event, &reason);
        }
        let reason = format!("{reason}: tell them what you would do and why, and let them call it");
        match program {
            // The plugin of opencode reads the reason from standard output.
            Program::Opencode => Self { stdout: format!("{reason}\n"), blocks: true, ..Self::default() },
            Program::Claude | Program::Codex | Program::Gemini | Program::Cursor | Program::Aider => {
                Self { stderr: format!("{reason}\n"), blocks: true, ..Self::default() }
            }
        }
    }

    /// A fact for the agent, beside a prompt; nothing where the program has no place for it.
    pub fn context(program: Program, event: &str, fact: &str) -> Self {
        let text = match program {
            Program::Claude | Program::Codex | Program::Gemini => {
                json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": fact}})
            }
            Program::Opencode => json!({"additionalContext": fact}),
            Program::Cursor | Program::Aider => return Self::default(),
        };
        Self { stdout: format!("{text}\n"), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_cannot_ask_refuses_only_our_own_verbs() {
        for program in Program::ALL {
            let asked = Answer::ask(program, "PreToolUse", "why");
            assert_eq!(asked.stdout.is_empty(), !program.can_ask(), "{program}");
            let own = Answer::decided(program, "PreToolUse", &["undo".to_owned()]);
            assert_eq!(own.blocks, !program.can_ask(), "{program}");
            assert!(!own.stdout.is_empty() || !own.stderr.is_empty(), "{program}");
            assert!(!asked.blocks && !Answer::context(program, "x", "y").blocks);
        }
        let asked = Answer::ask(Program::Claude, "PreToolUse", "why");
        let value: serde_json::Value = serde_json::from_str(&asked.stdout).unwrap();
        assert_eq!(value["hookSpecificOutput"]["permissionDecision"], "ask");
    }
}
