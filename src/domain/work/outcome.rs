//! What the end of an iteration means, and what follows from it. Pure tables.

use super::agent::{Outcome, SilentEnd};
use super::case::Status;
use super::signal::Signal;

/// The bare facts of a program's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It exited with this status.
    Exited(i32),
    /// A signal ended it that nobody of ours sent.
    Signalled(i32),
    /// Somebody stopped it.
    Stopped,
    /// Somebody killed it: what it said counts no more.
    Killed,
    /// It ran over a limit, named here.
    OverLimit(&'static str),
    /// The program cannot be started: no other try would be better.
    CannotStart(String),
    /// There was nothing to start it in.
    NotStarted(String),
    /// Its keeper died.
    KeeperDied,
    /// What it wrote is not known to be on disk, since the machine stopped: what it said cannot be believed.
    Unproved,
}

/// How an iteration ended. `verdict` is the last signal or marker that decides (complete, blocked, waiting); `exit_completes`
/// is whether exit 0 alone completes the task (preset `shell` and bare programs).
pub fn classify(end: &End, verdict: Option<&Signal>, exit_completes: bool) -> Outcome {
    let spoken = verdict.and_then(|signal| match signal {
        Signal::Complete {} => Some(Outcome::Complete),
        Signal::Blocked { reason } => Some(Outcome::Blocked { reason: reason.clone() }),
        Signal::Waiting { question } => Some(Outcome::Waiting { question: question.clone() }),
        Signal::Progress { .. }
        | Signal::Learning { .. }
        | Signal::Phase { .. }
        | Signal::Subtask { .. }
        | Signal::File(_)
        | Signal::Ready { .. }
        | Signal::ToolStarted(_)
        | Signal::ToolCompleted(_)
        | Signal::RequestSent {}
        | Signal::ResponseReceived {} => None,
    });
    match (end, spoken) {
        (End::Killed, _) => Outcome::Stopped,
        (End::Unproved, _) => Outcome::Crashed,
        // What the agent said stands, however its program ended: the signal was acknowledged.
        (_, Some(outcome)) => outcome,
        (End::KeeperDied, None) => Outcome::Crashed,
        (End::Stopped, None) => Outcome::Stopped,
        (End::Exited(0), None) if exit_completes => Outcome::Complete,
        (End::Exited(0), None) => Outcome::Unfinished { why: "it ended without saying that the task is complete".into() },
        (End::Exited(code), None) => Outcome::Unfinished { why: format!("it exited with status {code}") },
        (End::Signalled(signal), None) => Outcome::Unfinished { why: format!("signal {signal} ended it") },
        (End::OverLimit(limit), None) => Outcome::Unfinished { why: format!("it ran over its {limit}") },
        (End::CannotStart(why), None) => Outcome::Blocked { reason: why.clone() },
        (End::NotStarted(why), None) => Outcome::Unfinished { why: format!("it could not be started: {why}") },
    }
}

/// What follows from the end of an iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Another iteration.
    Iterate,
    /// Verify, then done; a failing step makes it another iteration.
    Verify,
    /// A human has to answer; then another iteration.
    Ask {
        /// The question.
        question: String,
    },
    /// The agent is free, and the task gets this status.
    Release {
        /// The status.
        status: Status,
        /// Why.
        reason: String,
        /// Whether a retry is counted.
        retry: bool,
    },
}

/// The limits that decide whether there is a next time.
#[derive(Debug, Clone, Copy)]
pub struct Limits<'a> {
    /// How often in a row a program that says nothing has ended in the same way, and how.
    pub same_end: Option<(u32, &'a SilentEnd)>,
    /// Iterations that this claim has had.
    pub iteration: u32,
    /// Iterations that a claim may have.
    pub max_iterations: u32,
    /// Crashes that the task has had.
    pub retry_count: u32,
    /// Crashes after which it is failed.
    pub max_retries: u32,
}

/// So often a program that says nothing may end in the same way.
pub const HOPELESS: u32 = 3;

/// What follows from an outcome.
pub fn after_iteration(outcome: &Outcome, limits: Limits<'_>) -> Next {
    let release = |status, reason: String, retry| Next::Release { status, reason, retry };
    match outcome {
        Outcome::Complete => Next::Verify,
        Outcome::Blocked { reason } => release(Status::Blocked, reason.clone(), false),
        Outcome::Waiting { question } => Next::Ask { question: question.clone() },
        Outcome::Stopped => release(Status::Pending, "stopped".into(), false),
        Outcome::Crashed if limits.retry_count >= limits.max_retries => {
            release(Status::Failed, format!("it crashed {} times", limits.retry_count + 1), true)
        }
        Outcome::Crashed => release(Status::Pending, "its keeper died".into(), true),
        Outcome::Unfinished { why } => match limits.same_end {
            Some((times, end)) if times >= HOPELESS => {
                let said = if end.lines.is_empty() { "it printed nothing".to_owned() } else { end.lines.join(" / ") };
                release(Status::Failed, format!("{times} times in a row nothing changed and {why}: {said}"), false)
            }
            Some(_) | None => another(why, limits),
        },
    }
}

/// How a human, or the end of a session, takes a task from an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// What the agent said stands.
    Stop,
    /// What it said is discarded.
    Kill,
}

/// What a halt leaves of an agent's work between two iterations: the task gets this status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The status.
    pub status: Status,
    /// Why.
    pub reason: String,
    /// Whether the work is complete and goes on at its verification, whenever the task is taken up again.
    pub complete: bool,
}

/// What a halt leaves, by the outcome of the last iteration. Completed work survives being stopped: done, where there is
/// nothing to `verify`.
pub fn after_halt(halt: Halt, last: Option<&Outcome>, verify: &[String]) -> Left {
    let left = |status, reason: &str| Left { status, reason: reason.to_owned(), complete: false };
    match (halt, last) {
        (Halt::Kill, _) => left(Status::Pending, "killed"),
        (Halt::Stop, Some(Outcome::Complete)) if verify.is_empty() => left(Status::Done, "complete"),
        (Halt::Stop, Some(Outcome::Complete)) => {
            Left { complete: true, ..left(Status::Pending, "complete, and stopped before it was verified") }
        }
        (Halt::Stop, Some(Outcome::Blocked { reason })) => left(Status::Blocked, reason),
        (Halt::Stop, Some(Outcome::Waiting { .. } | Outcome::Unfinished { .. } | Outcome::Stopped | Outcome::Crashed) | None) => {
            left(Status::Pending, "stopped")
        }
    }
}

/// What follows when the work is not good enough yet: another iteration while there is one left.
fn another(why: &str, limits: Limits<'_>) -> Next {
    if limits.iteration < limits.max_iterations {
        Next::Iterate
    } else {
        let times = if limits.iteration == 1 { "1 iteration".to_owned() } else { format!("{} iterations", limits.iteration) };
        Next::Release { status: Status::Failed, reason: format!("not complete after {times}: {why}"), retry: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(iteration: u32, retry_count: u32) -> Limits<'static> {
        Limits { same_end: None, iteration, max_iterations: 3, retry_count, max_retries: 2 }
    }

    #[test]
    fn ends_are_classified() {
        let complete = Signal::Complete {};
        let progress = Signal::Progress { percent: 5 };
        let table = [
            (End::Exited(0), None, true, "Complete"),
            (End::Exited(0), None, false, "Unfinished"),
            (End::Exited(0), Some(&progress), false, "Unfinished"),
            (End::Exited(1), None, true, "Unfinished"),
            (End::Exited(1), Some(&complete), false, "Complete"),
            (End::Signalled(9), None, true, "Unfinished"),
            (End::Stopped, None, true, "Stopped"),
            (End::Stopped, Some(&complete), true, "Complete"),
            (End::OverLimit("time limit"), None, true, "Unfinished"),
            (End::CannotStart("x".into()), None, true, "Blocked"),
            (End::NotStarted("x".into()), None, true, "Unfinished"),
            (End::KeeperDied, None, true, "Crashed"),
            (End::KeeperDied, Some(&complete), false, "Complete"),
            (End::Killed, None, true, "Stopped"),
            (End::Killed, Some(&complete), true, "Stopped"),
            (End::Unproved, None, true, "Crashed"),
            (End::Unproved, Some(&complete), true, "Crashed"),
        ];
        for (end, verdict, exit_completes, expected) in table {
            let outcome = format!("{:?}", classify(&end, verdict, exit_completes));
            assert!(outcome.starts_with(expected), "{end:?} {verdict:?}: {outcome}");
        }
    }

    #[test]
    fn completed_work_survives_a_stop_and_no_kill() {
        let (steps, none) = (vec!["make test".to_owned()], Vec::new());
        let blocked = Outcome::Blocked { reason: "no key".into() };
        let table = [
            (Halt::Stop, Some(&Outcome::Complete), &none, (Status::Done, false)),
            (Halt::Stop, Some(&Outcome::Complete), &steps, (Status::Pending, true)),
            (Halt::Stop, Some(&blocked), &steps, (Status::Blocked, false)),
            (Halt::Stop, Some(&Outcome::Stopped), &none, (Status::Pending, false)),
            (Halt::Stop, None, &none, (Status::Pending, false)),
            (Halt::Kill, Some(&Outcome::Complete), &none, (Status::Pending, false)),
            (Halt::Kill, Some(&Outcome::Complete), &steps, (Status::Pending, false)),
            (Halt::Kill, Some(&blocked), &steps, (Status::Pending, false)),
        ];
        for (halt, last, verify, expected) in table {
            let left = after_halt(halt, last, verify);
            assert_eq!((left.status, left.complete), expected, "{halt:?} {last:?} {verify:?}");
        }
    }

    #[test]
    fn the_third_same_end_is_a_failure_with_what_was_printed() {
        let unfinished = Outcome::Unfinished { why: "it exited with status 1".into() };
        let tree = crate::domain::base::names::Oid::new("1".repeat(40)).unwrap();
        let end = SilentEnd { exit: 1, tree, lines: vec!["not logged in".into()] };
        let after = |times| after_iteration(&unfinished, Limits { same_end: Some((times, &end)), ..limits(1, 0) });
        assert_eq!(after(2), Next::Iterate);
        let Next::Release { status: Status::Failed, reason, retry: false } = after(3) else { panic!("{:?}", after(3)) };
        assert_eq!(reason, "3 times in a row nothing changed and it exited with status 1: not logged in");
    }

    #[test]
    fn iterations_and_retries_run_out() {
        let unfinished = Outcome::Unfinished { why: "x".into() };
        assert_eq!(after_iteration(&unfinished, limits(2, 0)), Next::Iterate);
        assert!(matches!(after_iteration(&unfinished, limits(3, 0)), Next::Release { status: Status::Failed, retry: false, .. }));
        assert!(matches!(
            after_iteration(&Outcome::Crashed, limits(1, 1)),
            Next::Release { status: Status::Pending, retry: true, .. }
        ));
        assert!(matches!(
            after_iteration(&Outcome::Crashed, limits(1, 2)),
            Next::Release { status: Status::Failed, retry: true, .. }
        ));
        assert!(matches!(
            after_iteration(&Outcome::Stopped, limits(1, 0)),
            Next::Release { status: Status::Pending, retry: false, .. }
        ));
    }
}
