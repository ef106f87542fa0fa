//! Verify steps as `task show` has them: what each is, and how it ended last.

use serde::Serialize;

use crate::base::forms::times;
use crate::base::names::Oid;
use crate::state::task_record::TaskRecord;
use crate::work::tasks::task::Task;
use crate::work::verifying::checks::named_step::NamedVerifyStep;
use crate::work::verifying::checks::step_report::VerifyStepReport;
use crate::work::verifying::checks::test_counts::TestCounts;
use crate::work::verifying::kept_results;
use crate::work::verifying::verification::{ProgramUsage, VerifyChecker, VerifyStepResult};

/// What a step is a check of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TaskCheckSubject {
    /// The work of the task, in its workspace.
    Task,
    /// The result of its merge.
    Merge,
}

impl TaskCheckSubject {
    /// The word, also of the folder of the step's files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Merge => "merge",
        }
    }
}

/// How a step ended last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TaskCheckState {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// Nothing is known of it.
    NotRun,
}

/// A step.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskCheck<'a> {
    /// What it is a check of: the work in the workspace, or the result of the merge.
    pub of: TaskCheckSubject,
    /// Its name, where it has one.
    pub name: Option<&'a str>,
    /// Its command.
    pub command: &'a str,
    /// How it ended last.
    pub state: TaskCheckState,
    /// Why it failed.
    pub failure: Option<&'a str>,
    /// The commit of the task's branch that it looked at: for another one it is run again.
    pub commit: Option<&'a Oid>,
    /// The commit of the target, where it looked at the result of a merge.
    pub target: Option<&'a Oid>,
    /// Its exit status.
    pub exit: Option<i32>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Where its output (cargo, nextest, pytest, jest, vitest, go test -v, TAP) or `$AXIOM_VERIFY_JUNIT` tells.
    pub tests: Option<TaskCheckTests<'a>>,
    /// The last of what it appended to `$AXIOM_VERIFY_REPORT`, at most 10, oldest first.
    pub reported: &'a [VerifyStepReport],
    /// What the program of a persona used.
    pub used: Option<&'a ProgramUsage>,
    /// The last lines of its output: at most 20, of one that passed 3.
    pub lines: &'a [String],
    /// The place of its files below those of the task.
    #[serde(skip)]
    pub files: String,
}

/// How the tests of a step ended.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskCheckTests<'a> {
    /// Those that passed.
    pub passed: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that were left out.
    pub skipped: u64,
    /// All but those that were left out.
    pub total: u64,
    /// The last one that ended.
    pub last: Option<&'a str>,
}

impl<'a> From<&'a TestCounts> for TaskCheckTests<'a> {
    fn from(counts: &'a TestCounts) -> Self {
        let TestCounts { passed, failed, skipped, planned: _, last } = counts;
        Self { passed: *passed, failed: *failed, skipped: *skipped, total: counts.total(), last: last.as_deref() }
    }
}

/// The verify steps of a task, and those of its merge as far as they were run.
pub fn checks<'a>(task: &'a Task, record: Option<&'a TaskRecord>) -> Vec<TaskCheck<'a>> {
    let kept = record.map_or(&[][..], |record| &record.verified);
    let own = task.verify.iter().enumerate().map(|(place, step)| {
        let last = kept_results::of_step(kept, step);
        check(TaskCheckSubject::Task, (place, step), last.map(|kept| (&kept.of, &kept.result)))
    });
    let merge = record.and_then(|record| record.merge_verified.as_deref());
    let of_merge = merge.into_iter().flat_map(|verification| {
        verification.demands.commands.iter().enumerate().map(|(place, step)| {
            let mut results = verification.results.iter();
            let last = results.find(|result| result.by == VerifyChecker::Command && result.command == *step);
            let check = check(TaskCheckSubject::Merge, (place, step), last.map(|result| (&verification.of.branch, result)));
            TaskCheck { target: check.commit.map(|_| &verification.of.target), ..check }
        })
    });
    own.chain(of_merge).collect()
}

fn check<'a>(
    of: TaskCheckSubject,
    (place, step): (usize, &'a String),
    last: Option<(&'a Oid, &'a VerifyStepResult)>,
) -> TaskCheck<'a> {
    let named = NamedVerifyStep::of(step);
    let result = last.map(|(_, result)| result);
    let run = result.and_then(|result| result.run.as_deref());
    let state = match result.map(|result| &result.failure) {
        None => TaskCheckState::NotRun,
        Some(None) => TaskCheckState::Passed,
        Some(Some(_)) => TaskCheckState::Failed,
    };
    TaskCheck {
        of,
        name: named.name,
        command: named.command,
        state,
        failure: result.and_then(|result| result.failure.as_deref()),
        commit: last.map(|(commit, _)| commit),
        target: None,
        exit: run.and_then(|run| run.exit),
        duration_ms: run.map(|run| run.duration_ms),
        tests: run.and_then(|run| run.tests.as_ref()).map(TaskCheckTests::from),
        reported: run.map_or(&[][..], |run| &run.reported),
        used: run.and_then(|run| run.used.as_ref()),
        lines: result.map_or(&[][..], |result| &result.lines),
        files: format!("{}/{}", of.as_str(), named.file_name(place)),
    }
}

impl TaskCheck<'_> {
    /// The step and how it ended, in one line.
    pub fn in_words(&self) -> String {
        let mut words = self.name.map_or_else(String::new, |name| format!("{name}: "));
        words.push_str(self.command);
        let ended = match (self.state, self.failure) {
            (TaskCheckState::NotRun, _) => return words,
            (TaskCheckState::Passed, _) => "passed",
            (TaskCheckState::Failed, why) => why.unwrap_or("failed"),
        };
        words.push_str(&format!("; {ended}"));
        if let Some(TaskCheckTests { passed, total, last, .. }) = self.tests {
            words.push_str(&format!(", {passed}/{total} tests passed"));
            if let Some(last) = last {
                words.push_str(&format!(", the last was {last}"));
            }
        }
        if let Some(ms) = self.duration_ms {
            words.push_str(&format!(", in {}", times::short_span(ms)));
        }
        if let Some(commit) = self.commit {
            words.push_str(&format!(", at {}", commit.short()));
        }
        if let Some(target) = self.target {
            words.push_str(&format!(" into {}", target.short()));
        }
        words
    }
}
