//! A persona as a verify step: what its agent program is told, and what follows from its end. Pure.
//!
//! It looks and says whether the work is what was asked for. What it changes does not become part of the work: in a task's workspace a
//! change makes the step fail, on the result of a merge it goes with the worktree that was made for it.

use crate::base::ids::Token;
use crate::prompt::pieces::{line, list, text};
use crate::prompt::{BODY_BYTES, BranchCommit, MOST_COMMITS, MOST_ITEMS, PARENT_BYTES, PromptTask, SECTION_BYTES};
use crate::work::iteration::IterationOutcome;
use crate::work::tasks::task::Task;
use crate::work::verifying::checks::named_step::NamedVerifyStep;
use axiom_base::error::{Code, Error, Result};

/// What its program is told.
#[derive(Debug, Clone, Copy)]
pub struct ValidatorBrief<'a> {
    /// What the configuration says to the persona.
    pub persona: Option<&'a str>,
    /// The task.
    pub task: &'a Task,
    /// Its text.
    pub body: &'a str,
    /// What it is a part of, outermost first.
    pub parents: &'a [PromptTask<'a>],
    /// Its commits, newest first.
    pub commits: &'a [BranchCommit],
    /// The files that differ, as far as they are known.
    pub files: &'a [String],
    /// The arguments of `git diff` that show the work.
    pub range: &'a str,
    /// Whose token its verdict needs.
    pub token: &'a Token,
}

/// The prompt.
pub fn prompt(brief: &ValidatorBrief<'_>) -> String {
    let ValidatorBrief { persona, task, body, parents, commits, files, range, token } = *brief;
    let parents = parents.iter().map(|part| format!("{}\n\n{}", part.task.title, text(&part.body, PARENT_BYTES, "")));
    let parents: Vec<String> = parents.map(|part| part.trim_end().to_owned()).collect();
    let commits: Vec<String> = commits.iter().map(|commit| format!("{} {}", commit.oid.short(), commit.subject)).collect();
    let section = |title: &str, text: String| if text.is_empty() { text } else { format!("## {title}\n\n{text}") };
    let parts = [
        persona.map_or_else(String::new, |said| text(said, BODY_BYTES, "")),
        format!("# Check the work on task {}: {}", task.id, task.title),
        "Another agent has done this work. Decide whether it is what was asked for. You change nothing: the files here are the work \
         itself, and if any of them differs when you end, or a commit was made, the work has not passed."
            .to_owned(),
        section("What was asked for", text(body, BODY_BYTES, "")),
        section("What it is a part of", parents.join("\n\n")),
        section("What was done", list(&commits, MOST_COMMITS, SECTION_BYTES)),
        section("The files that differ", list(files, MOST_ITEMS, SECTION_BYTES)),
        format!("`git diff {range}` shows it."),
        section("How to report", report(token)),
    ];
    let parts: Vec<String> = parts.into_iter().map(|part| part.trim_end().to_owned()).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n") + "\n"
}

fn report(token: &Token) -> String {
    format!(
        "Run `git axiom signal complete` if the work may be merged as it is, `git axiom signal blocked REASON` if not. REASON goes to\n\
         the agent that works on the task: say what is wrong, where, and what you expect instead.\n\
         Or end your last message with one of these, alone on its line: `<axiom {token}>COMPLETE</axiom>`,\n\
         `<axiom {token}>BLOCKED: reason</axiom>`. Without one of them the work has not passed."
    )
}

/// The longest reason in one line, in bytes; all of it is in what the next iteration is told.
const LONGEST_REASON: usize = 400;

/// What a program is asked for whose run is no iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OneOffRunPurpose {
    /// Whether work passes.
    Verdict,
    /// A plan.
    Plan,
}

/// Why the work did not pass, or there is no plan, in one line; `None` if it did, or there may be one.
pub fn verdict(
    step: &str,
    asked_for: OneOffRunPurpose,
    outcome: &IterationOutcome,
    cannot_start: bool,
) -> Result<Option<String>> {
    let (who, blocked, waits, unfinished) = match asked_for {
        OneOffRunPurpose::Verdict => (
            format!("the persona of '{}'", NamedVerifyStep::of(step).label()),
            "did not pass",
            "asks, and so did not pass",
            "came to no verdict",
        ),
        // Whoever tells of it says who it was.
        OneOffRunPurpose::Plan => ("failed".to_owned(), "gave up", "asks", "failed"),
    };
    let of = |code: Code, why: &str| Err(Error::new(code, &*who).why(why));
    let because = |what: &str, why: &str| Ok(Some(format!("{what}: {}", line(why, LONGEST_REASON))));
    match outcome {
        IterationOutcome::Complete => Ok(None),
        IterationOutcome::Blocked { reason } if cannot_start => of(Code::ProgramNotFound, reason),
        IterationOutcome::Blocked { reason } => because(blocked, reason),
        IterationOutcome::Waiting { question } => because(waits, question),
        IterationOutcome::Unfinished { why } => because(unfinished, why),
        IterationOutcome::Limited { why, .. } => of(Code::ModelBusy, why),
        IterationOutcome::NeedsHuman { why, .. } => of(Code::AgentFailed, why),
        IterationOutcome::Stopped => of(Code::KeeperFailed, "it was stopped"),
        IterationOutcome::Crashed => of(Code::KeeperFailed, "its keeper died"),
    }
}

/// What was said of the work, where the outcome has words for it.
pub fn words(outcome: &IterationOutcome) -> Option<&str> {
    match outcome {
        IterationOutcome::Blocked { reason } => Some(reason),
        IterationOutcome::Waiting { question } => Some(question),
        IterationOutcome::Complete
        | IterationOutcome::Unfinished { .. }
        | IterationOutcome::Limited { .. }
        | IterationOutcome::NeedsHuman { .. }
        | IterationOutcome::Stopped
        | IterationOutcome::Crashed => None,
    }
}

/// Why the work did not pass where the persona changed it: it has to be left as it was.
pub fn changed(files: &[String], commits: bool) -> Option<String> {
    let what = match (files, commits) {
        ([], false) => return None,
        ([], true) => "a commit".to_owned(),
        (files, _) => axiom_base::error::some_of(files, 5),
    };
    Some(format!("changed the workspace, which only the agent of the task may do: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::names::Oid;
    use crate::work::iteration::ReviewCause;
    use crate::work::tasks::wip::tests::task;

    #[test]
    fn it_is_told_the_task_the_goal_the_work_and_how_to_report() {
        let (task, token) = (task(), Token::new("tok").unwrap());
        let goal = PromptTask { task: &task, body: "All of it.".into() };
        let commit = BranchCommit { oid: Oid::new("1".repeat(40)).unwrap(), subject: "one".into() };
        let brief = ValidatorBrief {
            persona: Some("You review.\n"),
            task: &task,
            body: "Do it.",
            parents: &[goal],
            commits: &[commit],
            files: &["a.txt".to_owned()],
            range: "main...HEAD",
            token: &token,
        };
        let said = prompt(&brief);
        let words =
            ["You review.\n\n# Check the work on task", "asked for\n\nDo it.\n\n", "part of\n\n", "All of it.", "1111111 one"];
        for word in
            words.iter().chain(&["- a.txt", "git diff main...HEAD", "<axiom tok>COMPLETE</axiom>", "signal blocked REASON"])
        {
            assert!(said.contains(word), "{word}: {said}");
        }
        let bare = prompt(&ValidatorBrief { persona: None, body: "", parents: &[], commits: &[], files: &[], ..brief });
        assert!(bare.starts_with("# Check") && !bare.contains("\n\n\n") && !bare.contains("What was asked for"), "{bare}");
    }

    #[test]
    fn only_a_verdict_passes_and_what_says_nothing_of_the_work_is_an_error() {
        let said = |outcome: IterationOutcome| verdict("review=@ed", OneOffRunPurpose::Verdict, &outcome, false);
        assert_eq!(said(IterationOutcome::Complete).unwrap(), None);
        for failed in [
            IterationOutcome::Blocked { reason: "no".into() },
            IterationOutcome::Waiting { question: "no".into() },
            IterationOutcome::Unfinished { why: "no".into() },
        ] {
            assert!(said(failed.clone()).unwrap().is_some_and(|why| why.ends_with("no")), "{failed:?}");
        }
        for (outcome, code) in [
            (IterationOutcome::Limited { why: "slow".into(), seconds: None }, Code::ModelBusy),
            (IterationOutcome::NeedsHuman { cause: ReviewCause::SignIn, why: "sign in".into() }, Code::AgentFailed),
            (IterationOutcome::Stopped, Code::KeeperFailed),
            (IterationOutcome::Crashed, Code::KeeperFailed),
        ] {
            assert_eq!(said(outcome.clone()).unwrap_err().code(), code, "{outcome:?}");
        }
        let missing = IterationOutcome::Blocked { reason: "no such file".into() };
        assert_eq!(verdict("@ed", OneOffRunPurpose::Verdict, &missing, true).unwrap_err().code(), Code::ProgramNotFound);
        // A planner judges nothing.
        let planner = |outcome: &IterationOutcome| verdict("planner ed", OneOffRunPurpose::Plan, outcome, false);
        let unfinished = IterationOutcome::Unfinished { why: "error 400".into() };
        assert_eq!(planner(&unfinished).unwrap().as_deref(), Some("failed: error 400"));
        let busy = planner(&IterationOutcome::Limited { why: "slow".into(), seconds: None }).unwrap_err();
        assert_eq!(busy.to_string(), "failed: slow");
    }

    #[test]
    fn a_change_is_named() {
        assert_eq!(changed(&[], false), None);
        assert!(changed(&[], true).is_some_and(|why| why.ends_with(": a commit")));
        assert!(changed(&["a".into(), "b".into()], true).is_some_and(|why| why.ends_with(": a, b")));
    }
}
