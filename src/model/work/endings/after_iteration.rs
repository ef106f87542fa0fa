//! What happens after an iteration, and after a halt between two: another one, a verification, a human, or the end of the attempt.

use crate::work::iteration::{IterationOutcome, ReviewCause, SilentProgramEnd};
use crate::work::tasks::task::TaskStatus;

/// What happens after an iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AfterIteration {
    /// Another iteration.
    Iterate,
    /// Verification, then the task is done. If a step fails, there is another iteration.
    Verify,
    /// A human has to answer a question; then there is another iteration.
    Ask {
        /// The question.
        question: String,
    },
    /// A human has to see to something first: the task waits at a gate.
    Review {
        /// What is missing.
        cause: ReviewCause,
        /// What the program said.
        why: String,
    },
    /// A crash cut it off: what is there decides (`recovery::decide`).
    Recover,
    /// The agent becomes free, and the task gets this status.
    Release {
        /// The status.
        status: TaskStatus,
        /// The reason.
        reason: String,
    },
}

/// The limits that decide whether there is another iteration or attempt.
#[derive(Debug, Clone, Copy)]
pub struct AttemptLimits<'a> {
    /// How many times in a row a program without signals has ended in the same way, and that end.
    pub same_end: Option<(u32, &'a SilentProgramEnd)>,
    /// How many iterations this attempt has had.
    pub iteration: u32,
    /// How many iterations an attempt may have.
    pub max_iterations: u32,
    /// How many verifications in a row have failed since the task was claimed.
    pub failed_rounds: u32,
    /// After how many failed verifications a human decides.
    pub max_retries: u32,
}

/// The number of the next iteration of an attempt that has had `made` of at most `most`. The last one that is allowed may be made again: it
/// was cut off, or an answer or a session with another limit came after it.
pub fn next_iteration(made: u32, most: u32) -> u32 {
    made.min(most.saturating_sub(1)).saturating_add(1)
}

/// How many times in a row a program without signals may end in the same way.
pub const HOPELESS: u32 = 3;

/// Decides what happens after an outcome.
pub fn after_iteration(outcome: &IterationOutcome, limits: AttemptLimits<'_>) -> AfterIteration {
    let release = |status, reason: String| AfterIteration::Release { status, reason };
    match outcome {
        IterationOutcome::Complete => AfterIteration::Verify,
        IterationOutcome::Blocked { reason } => release(TaskStatus::Blocked, reason.clone()),
        IterationOutcome::Waiting { question } => AfterIteration::Ask { question: question.clone() },
        IterationOutcome::NeedsHuman { cause, why } => AfterIteration::Review { cause: *cause, why: why.clone() },
        // After a pause, however often.
        IterationOutcome::Limited { .. } => AfterIteration::Iterate,
        IterationOutcome::Stopped => release(TaskStatus::Pending, "stopped".into()),
        IterationOutcome::Crashed => AfterIteration::Recover,
        IterationOutcome::Unfinished { why } if limits.failed_rounds >= limits.max_retries.max(1) => {
            AfterIteration::Review { cause: ReviewCause::VerifyFailed, why: why.clone() }
        }
        IterationOutcome::Unfinished { why } => match limits.same_end {
            Some((times, end)) if times >= HOPELESS => {
                let said = if end.lines.is_empty() { "it printed nothing".to_owned() } else { end.lines.join(" / ") };
                // A failure that the program told is the reason itself.
                let said = if why.contains(&said) { String::new() } else { format!(": {said}") };
                release(
                    TaskStatus::Failed,
                    format!("it ended {times} times in a row in the same way and with the same files: {why}{said}"),
                )
            }
            Some(_) | None => another(why, limits),
        },
    }
}

/// How a task is taken from its agent, by a human or at the end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskHalt {
    /// The agent's signals still count.
    Stop,
    /// The agent's signals are discarded.
    Kill,
}

/// The result of a halt between two iterations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskHaltResult {
    /// The new status of the task.
    pub status: TaskStatus,
    /// The reason.
    pub reason: String,
    /// Whether the work is complete, so that the task continues with verification when it is claimed again.
    pub complete: bool,
}

/// The result of a halt, depending on the outcome of the last iteration. Completed work is kept when it is stopped: it is
/// done where there is nothing to `verify`.
pub fn after_halt(halt: TaskHalt, last: Option<&IterationOutcome>, verify: &[String]) -> TaskHaltResult {
    let left = |status, reason: &str| TaskHaltResult { status, reason: reason.to_owned(), complete: false };
    match (halt, last) {
        (TaskHalt::Kill, _) => left(TaskStatus::Pending, "killed"),
        (TaskHalt::Stop, Some(IterationOutcome::Complete)) if verify.is_empty() => left(TaskStatus::Done, "complete"),
        (TaskHalt::Stop, Some(IterationOutcome::Complete)) => {
            TaskHaltResult { complete: true, ..left(TaskStatus::Pending, "complete, and stopped before it was verified") }
        }
        (TaskHalt::Stop, Some(IterationOutcome::Blocked { reason })) => left(TaskStatus::Blocked, reason),
        (
            TaskHalt::Stop,
            Some(
                IterationOutcome::Waiting { .. }
                | IterationOutcome::Unfinished { .. }
                | IterationOutcome::Limited { .. }
                | IterationOutcome::NeedsHuman { .. }
                | IterationOutcome::Stopped
                | IterationOutcome::Crashed,
            )
            | None,
        ) => left(TaskStatus::Pending, "stopped"),
    }
}

/// Decides what happens when the work is not good enough yet: another iteration if the limit allows it.
fn another(why: &str, limits: AttemptLimits<'_>) -> AfterIteration {
    if limits.iteration < limits.max_iterations {
        AfterIteration::Iterate
    } else {
        let times = if limits.iteration == 1 { "1 iteration".to_owned() } else { format!("{} iterations", limits.iteration) };
        AfterIteration::Release { status: TaskStatus::Failed, reason: format!("not complete after {times}: {why}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(iteration: u32) -> AttemptLimits<'static> {
        AttemptLimits { same_end: None, iteration, max_iterations: 3, failed_rounds: 0, max_retries: 2 }
    }

    #[test]
    fn numbers_of_iterations_go_on_and_the_last_one_may_be_made_again() {
        let numbers = |most| (0..6).map(|made| next_iteration(made, most)).collect::<Vec<_>>();
        assert_eq!((numbers(4), numbers(1), numbers(0)), (vec![1, 2, 3, 4, 4, 4], vec![1; 6], vec![1; 6]));
    }

    #[test]
    fn verifications_that_go_on_failing_are_for_a_human() {
        let unfinished = IterationOutcome::Unfinished { why: "x".into() };
        let is_review = |failed_rounds, max_retries| {
            let next = after_iteration(&unfinished, AttemptLimits { failed_rounds, max_retries, ..limits(1) });
            matches!(next, AfterIteration::Review { cause: ReviewCause::VerifyFailed, .. })
        };
        let rounds = |most| (0..=4).map(|round| is_review(round, most)).collect::<Vec<_>>();
        assert_eq!(rounds(3), [false, false, false, true, true]);
        assert_eq!((rounds(0), rounds(1)), (vec![false, true, true, true, true], vec![false, true, true, true, true]));
        let complete = AttemptLimits { failed_rounds: 9, ..limits(1) };
        assert_eq!(after_iteration(&IterationOutcome::Complete, complete), AfterIteration::Verify);
    }

    #[test]
    fn completed_work_survives_a_stop_and_no_kill() {
        let (steps, none) = (vec!["make test".to_owned()], Vec::new());
        let blocked = IterationOutcome::Blocked { reason: "no key".into() };
        let table = [
            (TaskHalt::Stop, Some(&IterationOutcome::Complete), &none, (TaskStatus::Done, false)),
            (TaskHalt::Stop, Some(&IterationOutcome::Complete), &steps, (TaskStatus::Pending, true)),
            (TaskHalt::Stop, Some(&blocked), &steps, (TaskStatus::Blocked, false)),
            (TaskHalt::Stop, Some(&IterationOutcome::Stopped), &none, (TaskStatus::Pending, false)),
            (TaskHalt::Stop, None, &none, (TaskStatus::Pending, false)),
            (TaskHalt::Kill, Some(&IterationOutcome::Complete), &none, (TaskStatus::Pending, false)),
            (TaskHalt::Kill, Some(&IterationOutcome::Complete), &steps, (TaskStatus::Pending, false)),
            (TaskHalt::Kill, Some(&blocked), &steps, (TaskStatus::Pending, false)),
        ];
        for (halt, last, verify, expected) in table {
            let left = after_halt(halt, last, verify);
            assert_eq!((left.status, left.complete), expected, "{halt:?} {last:?} {verify:?}");
        }
    }

    #[test]
    fn the_third_same_end_is_a_failure_with_what_was_printed() {
        let unfinished = IterationOutcome::Unfinished { why: "it exited with status 1".into() };
        let tree = crate::base::names::Oid::new("1".repeat(40)).unwrap();
        let end = SilentProgramEnd { exit: 1, tree, lines: vec!["not logged in".into()] };
        let after = |times| after_iteration(&unfinished, AttemptLimits { same_end: Some((times, &end)), ..limits(1) });
        assert_eq!(after(2), AfterIteration::Iterate);
        let AfterIteration::Release { status: TaskStatus::Failed, reason } = after(3) else { panic!("{:?}", after(3)) };
        assert_eq!(
            reason,
            "it ended 3 times in a row in the same way and with the same files: it exited with status 1: not logged in"
        );
        // What it said is the reason already.
        let told = IterationOutcome::Unfinished { why: "API error: not logged in, sorry".into() };
        let after = after_iteration(&told, AttemptLimits { same_end: Some((3, &end)), ..limits(1) });
        let AfterIteration::Release { reason, .. } = &after else { panic!("{after:?}") };
        assert_eq!(reason, "it ended 3 times in a row in the same way and with the same files: API error: not logged in, sorry");
    }

    #[test]
    fn iterations_run_out() {
        let unfinished = IterationOutcome::Unfinished { why: "x".into() };
        assert_eq!(after_iteration(&unfinished, limits(2)), AfterIteration::Iterate);
        assert!(matches!(after_iteration(&unfinished, limits(3)), AfterIteration::Release { status: TaskStatus::Failed, .. }));
        assert_eq!(after_iteration(&IterationOutcome::Crashed, limits(3)), AfterIteration::Recover);
        assert!(matches!(
            after_iteration(&IterationOutcome::Stopped, limits(1)),
            AfterIteration::Release { status: TaskStatus::Pending, .. }
        ));
    }
}
