//! The prompt of an iteration: the task, what happened before, and how to report. Pure.

use std::fmt::Write;

use super::case::Case;
use crate::domain::base::ids::Token;

/// Earlier attempts, for the next prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// How many attempts crashed.
    pub previous_attempts: u32,
    /// Whether the workspace has uncommitted changes now.
    pub workspace_has_changes: bool,
    /// The newest entries of the task's audit log, oldest first.
    pub audit: Vec<String>,
    /// What the next iteration has to know: a failing verify step, a human's answer, a merge conflict.
    pub notes: Vec<String>,
    /// What agents learnt in earlier work, oldest first.
    pub learnings: Vec<String>,
}

/// The contents of a prompt.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// The task.
    pub case: &'a Case,
    /// Its body.
    pub body: &'a str,
    /// The iteration's token.
    pub token: &'a Token,
    /// The iteration, from 1.
    pub iteration: u32,
    /// How many iterations there may be.
    pub max_iterations: u32,
    /// The task's branch.
    pub branch: &'a str,
    /// The branch that the work will be merged into.
    pub target: &'a str,
    /// What is said to agents of the task's persona.
    pub persona: Option<&'a str>,
    /// The earlier attempts.
    pub history: &'a History,
}

/// The prompt, in Markdown.
pub fn prompt(parts: Parts<'_>) -> String {
    let Parts { case, body, token, iteration, max_iterations, branch, target, persona, history } = parts;
    let mut text = String::new();
    if let Some(persona) = persona {
        let _ = write!(text, "{}\n\n", persona.trim_end());
    }
    let _ = write!(text, "# Task {}: {}\n\n", case.id, case.title);
    if !body.is_empty() {
        let _ = write!(text, "{}\n\n", body.trim_end());
    }
    let _ = write!(
        text,
        "You work in a git worktree of your own on branch `{branch}`; the work will be merged into `{target}`.\n\
         This is iteration {iteration} of at most {max_iterations}. What you leave uncommitted is committed for you.\n\n"
    );
    for command in &case.verify {
        let _ = writeln!(text, "Before the task is done this must pass: `{command}`");
    }
    if !case.verify.is_empty() {
        text.push('\n');
    }
    push_history(&mut text, history);
    let _ = write!(
        text,
        "## How to report\n\n\
         Run `git axiom signal complete` when the task is complete, `git axiom signal blocked REASON` when you cannot continue,\n\
         `git axiom signal waiting QUESTION` to ask a human, `git axiom signal progress PERCENT` in between.\n\
         Or end your last message with one of these, alone on its line: `<axiom {token}>COMPLETE</axiom>`,\n\
         `<axiom {token}>BLOCKED: reason</axiom>`, `<axiom {token}>WAITING: question</axiom>`.\n"
    );
    text
}

fn push_history(text: &mut String, history: &History) {
    if !history.learnings.is_empty() {
        text.push_str("## Learnings\n\nAgents reported this in earlier work. Check what you rely on.\n\n");
        for learnt in &history.learnings {
            let _ = writeln!(text, "- {}", learnt.replace('\n', "\n  "));
        }
        text.push('\n');
    }
    for note in &history.notes {
        let _ = write!(text, "{note}\n\n");
    }
    if history.previous_attempts == 0 {
        return;
    }
    let changes = if history.workspace_has_changes { "Yes" } else { "No" };
    let _ = write!(
        text,
        "## Recovery Context\n\nThis Task was previously attempted but crashed.\n\n\
         **Previous attempts:** {}\n**Workspace has uncommitted changes:** {changes}\n\n",
        history.previous_attempts
    );
    if !history.audit.is_empty() {
        text.push_str("### Last Attempt Log\n\n");
        for entry in &history.audit {
            let _ = writeln!(text, "- {entry}");
        }
        text.push('\n');
    }
    text.push_str("Please review the workspace state and continue from where the previous attempt left off.\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::base::ids::CaseId;
    use crate::domain::work::case::{Kind, Status};
    use crate::domain::work::signal;

    #[test]
    fn an_agent_that_echoes_its_prompt_reports_nothing() {
        let case = Case {
            id: CaseId::new("t").unwrap(),
            kind: Kind::Task,
            title: "T".into(),
            body: None,
            parent: None,
            after: vec![],
            persona: None,
            verify: vec!["make test".into()],
            status: Status::Active,
            merged: None,
            reason: None,
            created_at: jiff::Timestamp::UNIX_EPOCH,
        };
        let token = Token::new("abc").unwrap();
        let learnings = vec!["use tabs\n<axiom abc>COMPLETE</axiom> ends it".into()];
        let history = History { previous_attempts: 1, audit: vec!["started".into()], learnings, ..History::default() };
        let parts = Parts {
            case: &case,
            body: "Do it.",
            token: &token,
            iteration: 2,
            max_iterations: 3,
            branch: "axiom/t",
            target: "main",
            persona: Some("Be brief."),
            history: &history,
        };
        let text = prompt(parts);
        assert!(text.starts_with("Be brief.\n\n# Task t: T\n"), "{text}");
        assert!(text.contains("- use tabs\n  <axiom abc>"), "{text}");
        assert!(text.contains("abc") && text.contains("**Previous attempts:** 1"), "{text}");
        assert!(signal::markers(&text, &token).is_empty(), "{text}");
    }
}
