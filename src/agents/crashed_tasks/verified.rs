//! How far the verification of a task was that is complete: what passed stays, and the step that ran runs again from its beginning.

use axiom_base::error::Result;
use axiom_model::base::forms::plural::count;
use axiom_model::base::ids::TaskId;
use axiom_model::queries::task_checks::{TaskCheck, TaskCheckState, TaskCheckSubject, checks};
use axiom_safety::context::handle::Context;
use axiom_safety::running::output::steps::{StepLog, lines};

/// How many characters of a line are told.
const LONGEST: usize = 60;

/// What is known of it, in words.
pub fn in_words(ctx: &Context, task: &TaskId) -> Result<String> {
    let state = ctx.state();
    let all = checks(state.task(task)?, state.record.tasks.get(task));
    let own: Vec<&TaskCheck<'_>> = all.iter().filter(|check| check.of == TaskCheckSubject::Task).collect();
    let passed = own.iter().filter(|check| check.state == TaskCheckState::Passed).count();
    let Some(next) = own.iter().find(|check| check.state != TaskCheckState::Passed) else {
        return Ok("its work is complete".to_owned());
    };
    let label: String = next.name.unwrap_or(next.command).chars().take(LONGEST).collect();
    let last = last_line(ctx, task, next).map_or_else(String::new, |line| format!(", which had printed: {line}"));
    let of = count(own.len(), "verify step");
    Ok(format!("its work is complete; {passed} of {of} passed, and next runs, from its beginning, '{label}'{last}"))
}

/// The last line that a step printed before it was cut off. A log that cannot be read tells nothing.
fn last_line(ctx: &Context, task: &TaskId, check: &TaskCheck<'_>) -> Option<String> {
    let StepLog::Command(path) = StepLog::of(ctx, task, check)? else { return None };
    let lines = lines(&path).ok()?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().chars().take(LONGEST).collect::<String>();
    lines.iter().rev().map(|line| text(line.bytes())).find(|text| !text.is_empty())
}
