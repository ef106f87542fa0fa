//! The prompt of an iteration: a template (`template`), its placeholders (`values`), and what they stand for. Pure.

pub mod pieces;
mod prompt_history;
pub mod template;
pub mod values;

use crate::base::ids::Token;
use crate::base::names::Oid;
use crate::base::text::MAX_TEXT;
use crate::work::endings::last_run::LastIteration;
use crate::work::endings::resuming::FreshStartReason;
use crate::work::gates::pending_answer::PendingAnswer;
use crate::work::signals::reports::TaskReports;
use crate::work::tasks::task::Task;
use crate::work::verifying::checks::named_step::NamedVerifyStep;
use axiom_base::error::Result;
use pieces::{list, text};
use template::PromptTemplate;
use values::{Name, PromptValues};

/// The template where none is configured.
pub const BUILT_IN: &str = include_str!("template.md");

/// How many bytes of a task's text, and of a persona's, a prompt holds: all that a task can have.
pub const BODY_BYTES: usize = MAX_TEXT;
/// How many bytes of the text of each task that the task is a part of.
pub const PARENT_BYTES: usize = 16 * 1024;
/// How many bytes of other sections: how the last iteration ended, answers, verification, lists.
pub const SECTION_BYTES: usize = 16 * 1024;
/// How many commits a prompt names.
pub const MOST_COMMITS: usize = 30;
/// How many uncommitted files, commands, history entries.
pub const MOST_ITEMS: usize = 100;

/// A task with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptTask<'a> {
    /// The task.
    pub task: &'a Task,
    /// Its text.
    pub body: String,
}

/// A commit on the task's branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchCommit {
    /// The commit.
    pub oid: Oid,
    /// The first line of its message.
    pub subject: String,
}

/// What is in the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromptWorkspaceState {
    /// The newest commits on the branch, newest first; one more than [`MOST_COMMITS`] where there are more.
    pub commits: Vec<BranchCommit>,
    /// Uncommitted paths, without ignored ones.
    pub changes: Vec<String>,
    /// Whether the commit with which the last iteration ended is on the branch.
    pub has_last: bool,
}

/// What happened before.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PromptHistory {
    /// How the last iteration ended.
    pub last_run: Option<LastIteration>,
    /// Whether the program goes on with the session of the last iteration.
    pub resumes: bool,
    /// Why it does not, where the last iteration was cut off in a session.
    pub anew: Option<FreshStartReason>,
    /// What this task and others wait for of each other.
    pub ready_points: PromptReadyPoints,
    /// What was reported of the work.
    pub reports: Option<TaskReports>,
    /// The attempts that were cut off, where they are to be told.
    pub attempts: CutOffAttempts,
    /// That it begins anew after earlier attempts, and why.
    pub begins_anew: Option<String>,
    /// The verification that failed, with its output; where only its summary is known, that.
    pub verification: Vec<String>,
    /// What else the next iteration has to know.
    pub notes: Vec<String>,
    /// A human's answers.
    pub answers: PromptAnswers,
    /// What a human changed of the task since a program was started the last time.
    pub edited: Vec<String>,
    /// What agents learnt in earlier work, oldest first.
    pub learnings: Vec<String>,
}

/// What a task and others wait for of each other, in their words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromptReadyPoints {
    /// What is ready of what the task needs of others.
    pub ready: Vec<String>,
    /// What is not.
    pub not_ready: Vec<String>,
    /// What other tasks wait for of this one.
    pub awaited: Vec<String>,
}

/// The attempts that were cut off.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CutOffAttempts {
    /// How many there were.
    pub count: u32,
    /// How the last of them was cut off.
    pub how: Option<&'static str>,
    /// What is known of the last one.
    pub audit: Vec<String>,
}

/// What a human answered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromptAnswers {
    /// The answers, oldest first.
    pub all: Vec<PendingAnswer>,
    /// Whether no program was started with the last one yet.
    pub last_is_new: bool,
}

/// The contents of a prompt.
#[derive(Debug, Clone, Copy)]
pub struct PromptContents<'a> {
    /// The task.
    pub task: &'a Task,
    /// Its text.
    pub body: &'a str,
    /// What it is a part of, outermost first.
    pub parents: &'a [PromptTask<'a>],
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
    /// The steps of `merge.verify`.
    pub merge_verify: &'a [String],
    /// What happened before.
    pub history: &'a PromptHistory,
    /// What is in the workspace.
    pub found: &'a PromptWorkspaceState,
}

/// The prompt by a template, or by the one that is built in.
pub fn prompt(template: Option<&str>, parts: &PromptContents<'_>) -> Result<String> {
    Ok(PromptTemplate::read(template.unwrap_or(BUILT_IN))?.fill(&values(parts)))
}

fn values(parts: &PromptContents<'_>) -> PromptValues {
    let PromptContents {
        task,
        body,
        parents,
        token,
        iteration,
        max_iterations,
        branch,
        target,
        persona,
        merge_verify,
        history,
        found,
    } = *parts;
    let mut values = PromptValues::default();
    let rest = format!(", see 'git axiom task show {}'", task.id);
    let (goal, groups) = match parents.split_first() {
        Some((goal, groups)) => (Some(goal), groups),
        None => (None, parents),
    };
    let groups: Vec<String> = groups.iter().map(part).collect();
    let steps = |steps: &[String]| {
        let words: Vec<String> = steps.iter().map(|step| in_words(NamedVerifyStep::of(step))).collect();
        list(&words, MOST_ITEMS, SECTION_BYTES)
    };
    for (name, value) in [
        (Name::Persona, persona.map_or_else(String::new, |said| text(said, BODY_BYTES, ""))),
        (Name::Goal, goal.map_or_else(String::new, part)),
        (Name::Parents, groups.join("\n\n")),
        (Name::Id, task.id.to_string()),
        (Name::Title, task.title.clone()),
        (Name::Body, text(body, BODY_BYTES, &rest)),
        (Name::Branch, branch.to_owned()),
        (Name::Target, target.to_owned()),
        (Name::Iteration, iteration.to_string()),
        (Name::MaxIterations, max_iterations.to_string()),
        (Name::Verify, steps(&task.verify)),
        (Name::MergeVerify, steps(merge_verify)),
        (Name::Learnings, list(&history.learnings, usize::MAX, usize::MAX)),
        (Name::Report, report(token)),
        (Name::Token, token.to_string()),
    ] {
        values.put(name, value);
    }
    prompt_history::put(&mut values, history, found);
    values
}

fn in_words(step: NamedVerifyStep<'_>) -> String {
    let named = step.name.map_or_else(String::new, |name| format!("{name}: "));
    match step.persona() {
        Some(persona) => format!("{named}the persona {persona} looks at the work"),
        None => format!("{named}`{}`", step.command),
    }
}

fn part(part: &PromptTask<'_>) -> String {
    let rest = format!(", see 'git axiom task show {}'", part.task.id);
    let body = text(&part.body, PARENT_BYTES, &rest);
    format!("{}: {}\n\n{body}", part.task.id, part.task.title).trim_end().to_owned()
}

fn report(token: &Token) -> String {
    format!(
        "Run `git axiom signal complete` when the task is complete, `git axiom signal blocked REASON` when you cannot continue,\n\
         `git axiom signal waiting QUESTION` to ask a human, `git axiom signal progress PERCENT` in between.\n\
         A human sees what you are at by `git axiom signal phase NAME --confidence 0.8`, `git axiom signal estimate 20min`,\n\
         `git axiom signal subtask NAME` (and again with `--done`), and for each file `git axiom signal file PATH --section DONE\n\
         --next NEXT --line N` (at its end `--done`): after a crash the work goes on from there.\n\
         Or end your last message with one of these, alone on its line: `<axiom {token}>COMPLETE</axiom>`,\n\
         `<axiom {token}>BLOCKED: reason</axiom>`, `<axiom {token}>WAITING: question</axiom>`."
    )
}

pub mod context;
#[cfg(test)]
mod tests;
pub mod validator;
