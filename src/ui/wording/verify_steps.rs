//! Verify steps as `task show` and `gate show` have them.

use serde::Serialize;

use crate::cli::visible;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::Oid;
use axiom_model::queries::task_checks;
use axiom_model::queries::task_checks::{TaskCheck, TaskCheckState, TaskCheckSubject};
use axiom_model::work::tasks::task::Task;
use axiom_model::work::verifying::checks::step_report::VerifyStepReport;
use axiom_safety::context::handle::Context;
use axiom_safety::running::output::steps::StepLog;

/// A verify step, with the log of its last run where there is one.
#[derive(Debug, Serialize)]
pub struct LoggedVerifyStep<'a> {
    #[serde(flatten)]
    check: TaskCheck<'a>,
    /// The file with all that it printed, up to 16 MiB; of a persona's program lines of JSON: see `git axiom output ID --step
    /// STEP`.
    log: Option<String>,
}

impl LoggedVerifyStep<'_> {
    /// The commit of the target, where it looked at the result of a merge.
    pub fn target(&self) -> Option<&Oid> {
        self.check.target
    }
}

/// The verify steps of a task, and those of its merge as far as they were run.
pub fn of<'a>(ctx: &'a Context, task: &'a Task) -> Vec<LoggedVerifyStep<'a>> {
    let checks = task_checks::checks(task, ctx.state().record.tasks.get(&task.id)).into_iter();
    checks
        .map(|check| {
            let log = StepLog::of(ctx, &task.id, &check).map(|log| log.path().display().to_string());
            LoggedVerifyStep { check, log }
        })
        .collect()
}

/// Rows about a step: how it ended, what it reported last, and where it failed, its log.
pub fn rows(id: &TaskId, verified: &LoggedVerifyStep<'_>) -> Vec<Vec<String>> {
    let LoggedVerifyStep { check, log } = verified;
    let what = match check.of {
        TaskCheckSubject::Task => "verify:",
        TaskCheckSubject::Merge => "verify merge:",
    };
    let reported = check.reported.last().map(VerifyStepReport::in_words);
    let name = check.files.strip_prefix("task/").unwrap_or(&check.files);
    let how = || format!("see: git axiom output {id} --step {name}");
    let log = log.as_ref().filter(|_| check.state == TaskCheckState::Failed).map(|_| how());
    let lines = std::iter::once(check.in_words()).chain(reported).chain(log).enumerate();
    lines
        .map(|(place, text)| vec![if place == 0 { what.to_owned() } else { String::new() }, visible::line(&text).into_owned()])
        .collect()
}
