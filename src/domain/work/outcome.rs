//! How the end of an iteration is classified, and what happens next. Pure tables.

use super::agent::{Outcome, SilentEnd};
use super::case::Status;
use super::gate::Cause;
use super::signal::Signal;
use crate::domain::agent::stream::seen::{Ended, Failed};
use crate::domain::agent::stream::summary::Summary;
use crate::domain::agent::stream::trouble::Trouble;

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It exited with this status.
    Exited(i32),
    /// A signal ended it that git axiom did not send.
    Signalled(i32),
    /// It was stopped on request.
    Stopped,
    /// It was killed on request: its signals no longer count.
    Killed,
    /// It exceeded this limit.
    OverLimit(&'static str),
    /// The program cannot be started, and trying again would not help.
    CannotStart(String),
    /// It was not started: its workspace was not usable, or something else failed before the start.
    NotStarted(String),
    /// Its keeper died.
    KeeperDied,
    /// The machine stopped before its output was known to be on disk, so its signals cannot be trusted.
    Unproved,
}

/// Stands for the exit status of a program that was ended because it exceeded a limit.
const OVER_LIMIT: i32 = -1;

impl End {
    /// The exit status by which two ends of a program are compared: as a shell says it, and one of our own for a limit. `None` where
    /// the end is not the program's own.
    pub fn status(&self) -> Option<i32> {
        match self {
            Self::Exited(status) => Some(*status),
            Self::Signalled(signal) => Some(signal.saturating_add(128)),
            Self::OverLimit(_) => Some(OVER_LIMIT),
            Self::Stopped | Self::Killed | Self::CannotStart(_) | Self::NotStarted(_) | Self::KeeperDied | Self::Unproved => None,
        }
    }
}

/// The outcome of an iteration. `verdict` is the last deciding signal or marker (complete, blocked, waiting);
/// `exit_completes` says whether exit status 0 alone completes the task (preset `shell` and bare programs).
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
        | Signal::RequestSent(_)
        | Signal::ResponseReceived(_)
        | Signal::Session { .. }
        | Signal::Seen(_)
        | Signal::Estimate { .. }
        | Signal::Depends { .. } => None,
    });
    match (end, spoken) {
        (End::Killed, _) => Outcome::Stopped,
        (End::Unproved, _) => Outcome::Crashed,
        // The agent's signal decides, however its program ended: the signal was acknowledged.
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

/// The outcome where a merge in progress could not be committed, as conflicts are open: what would have completed the task has not, and
/// anything else stands, with the merge in the workspace.
pub fn with_open_conflicts(outcome: Outcome, why: String) -> Outcome {
    match outcome {
        Outcome::Complete | Outcome::Unfinished { .. } => Outcome::Unfinished { why },
        Outcome::Blocked { .. }
        | Outcome::Waiting { .. }
        | Outcome::Limited { .. }
        | Outcome::NeedsHuman { .. }
        | Outcome::Stopped
        | Outcome::Crashed => outcome,
    }
}

/// What an iteration left on the task's branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftBehind {
    /// Other commits than before.
    Changed,
    /// The same commit as before.
    Unchanged,
    /// The same commit, and a merge in the workspace whose conflicts are open: the outcome says which.
    InConflict,
}

/// What follows from a program's output, where the agent gave no signal that decides.
pub fn by_output(outcome: Outcome, end: &End, told: &Summary, left: LeftBehind) -> Outcome {
    let Outcome::Unfinished { why } = &outcome else { return outcome };
    let said = |text: &str| if text.trim().is_empty() { why.clone() } else { text.to_owned() };
    // It was ended, or gave up, while it waited for the model.
    let waited = told.waits.as_ref().filter(|_| told.failed.is_none() && told.ended.is_none());
    let in_the_wait = waited.and_then(|waits| of_trouble(waits.trouble, said(&waits.why), waits.seconds));
    match end {
        End::Exited(_) | End::Signalled(_) => {}
        End::OverLimit(_) => return in_the_wait.unwrap_or(outcome),
        End::Stopped | End::Killed | End::CannotStart(_) | End::NotStarted(_) | End::KeeperDied | End::Unproved => {
            return outcome;
        }
    }
    if let Some(Failed { trouble, message, .. }) = &told.failed {
        let seconds = told.last_wait.as_ref().and_then(|waits| waits.seconds);
        return of_trouble(*trouble, said(message), seconds).unwrap_or(Outcome::Unfinished { why: said(message) });
    }
    if let Some(outcome) = in_the_wait {
        return outcome;
    }
    if let Some(denied) = told.denied.first() {
        return Outcome::NeedsHuman { cause: Cause::ToolDenied, why: denied.in_words() };
    }
    // Another exit status than 0 beats a success that the program told.
    if !matches!(end, End::Exited(0)) {
        return outcome;
    }
    match (&told.ended, left) {
        (Some(Ended { success: true, .. }), LeftBehind::Changed) => Outcome::Complete,
        (Some(Ended { success: true, .. }), LeftBehind::Unchanged) => {
            Outcome::Unfinished { why: "it ended without a change and without saying that the task is complete".into() }
        }
        (Some(Ended { success: true, .. }), LeftBehind::InConflict) | (Some(Ended { success: false, .. }) | None, _) => outcome,
    }
}

fn of_trouble(trouble: Trouble, why: String, seconds: Option<u64>) -> Option<Outcome> {
    match trouble {
        Trouble::SignIn => Some(Outcome::NeedsHuman { cause: Cause::SignIn, why }),
        Trouble::RateLimit | Trouble::Overload => Some(Outcome::Limited { why, seconds }),
        Trouble::Other => None,
    }
}

/// What happens after an iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
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
        cause: Cause,
        /// What the program said.
        why: String,
    },
    /// The agent becomes free, and the task gets this status.
    Release {
        /// The status.
        status: Status,
        /// The reason.
        reason: String,
        /// Whether a retry is counted.
        retry: bool,
    },
}

/// The limits that decide whether there is another iteration or attempt.
#[derive(Debug, Clone, Copy)]
pub struct Limits<'a> {
    /// How many times in a row a program without signals has ended in the same way, and that end.
    pub same_end: Option<(u32, &'a SilentEnd)>,
    /// How many iterations this attempt has had.
    pub iteration: u32,
    /// How many iterations an attempt may have.
    pub max_iterations: u32,
    /// How many crashes the task has had.
    pub retry_count: u32,
    /// How many verifications in a row have failed since the task was claimed.
    pub failed_rounds: u32,
    /// How many times the task is begun again after a crash (the next crash fails it), and after how many failed verifications a human
    /// decides.
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
pub fn after_iteration(outcome: &Outcome, limits: Limits<'_>) -> Next {
    let release = |status, reason: String, retry| Next::Release { status, reason, retry };
    match outcome {
        Outcome::Complete => Next::Verify,
        Outcome::Blocked { reason } => release(Status::Blocked, reason.clone(), false),
        Outcome::Waiting { question } => Next::Ask { question: question.clone() },
        Outcome::NeedsHuman { cause, why } => Next::Review { cause: *cause, why: why.clone() },
        // After a pause, however often.
        Outcome::Limited { .. } => Next::Iterate,
        Outcome::Stopped => release(Status::Pending, "stopped".into(), false),
        Outcome::Crashed if limits.retry_count >= limits.max_retries => {
            release(Status::Failed, format!("it crashed {} times", limits.retry_count + 1), true)
        }
        Outcome::Crashed => release(Status::Pending, "its keeper died".into(), true),
        Outcome::Unfinished { why } if limits.failed_rounds >= limits.max_retries.max(1) => {
            Next::Review { cause: Cause::VerifyFailed, why: why.clone() }
        }
        Outcome::Unfinished { why } => match limits.same_end {
            Some((times, end)) if times >= HOPELESS => {
                let said = if end.lines.is_empty() { "it printed nothing".to_owned() } else { end.lines.join(" / ") };
                // A failure that the program told is the reason itself.
                let said = if why.contains(&said) { String::new() } else { format!(": {said}") };
                release(
                    Status::Failed,
                    format!("it ended {times} times in a row in the same way and with the same files: {why}{said}"),
                    false,
                )
            }
            Some(_) | None => another(why, limits),
        },
    }
}

/// How a task is taken from its agent, by a human or at the end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// The agent's signals still count.
    Stop,
    /// The agent's signals are discarded.
    Kill,
}

/// The result of a halt between two iterations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The new status of the task.
    pub status: Status,
    /// The reason.
    pub reason: String,
    /// Whether the work is complete, so that the task continues with verification when it is claimed again.
    pub complete: bool,
}

/// The result of a halt, depending on the outcome of the last iteration. Completed work is kept when it is stopped: it is
/// done where there is nothing to `verify`.
pub fn after_halt(halt: Halt, last: Option<&Outcome>, verify: &[String]) -> Left {
    let left = |status, reason: &str| Left { status, reason: reason.to_owned(), complete: false };
    match (halt, last) {
        (Halt::Kill, _) => left(Status::Pending, "killed"),
        (Halt::Stop, Some(Outcome::Complete)) if verify.is_empty() => left(Status::Done, "complete"),
        (Halt::Stop, Some(Outcome::Complete)) => {
            Left { complete: true, ..left(Status::Pending, "complete, and stopped before it was verified") }
        }
        (Halt::Stop, Some(Outcome::Blocked { reason })) => left(Status::Blocked, reason),
        (
            Halt::Stop,
            Some(
                Outcome::Waiting { .. }
                | Outcome::Unfinished { .. }
                | Outcome::Limited { .. }
                | Outcome::NeedsHuman { .. }
                | Outcome::Stopped
                | Outcome::Crashed,
            )
            | None,
        ) => left(Status::Pending, "stopped"),
    }
}

/// Decides what happens when the work is not good enough yet: another iteration if the limit allows it.
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
    #[test]
    fn with_open_conflicts_nothing_is_complete_and_whatever_else_happened_stands() {
        let unfinished = |why: &str| Outcome::Unfinished { why: why.into() };
        let waiting = Outcome::Waiting { question: "q".into() };
        for (outcome, expected) in [
            (Outcome::Complete, unfinished("open")),
            (unfinished("x"), unfinished("open")),
            (waiting.clone(), waiting),
            (Outcome::Stopped, Outcome::Stopped),
            (Outcome::Crashed, Outcome::Crashed),
        ] {
            assert_eq!(with_open_conflicts(outcome, "open".into()), expected);
        }
    }

    use super::*;
    use crate::domain::agent::stream::seen::{Denied, Seen, Waits};

    fn limits(iteration: u32, retry_count: u32) -> Limits<'static> {
        Limits { same_end: None, iteration, max_iterations: 3, retry_count, failed_rounds: 0, max_retries: 2 }
    }

    #[test]
    fn numbers_of_iterations_go_on_and_the_last_one_may_be_made_again() {
        let numbers = |most| (0..6).map(|made| next_iteration(made, most)).collect::<Vec<_>>();
        assert_eq!((numbers(4), numbers(1), numbers(0)), (vec![1, 2, 3, 4, 4, 4], vec![1; 6], vec![1; 6]));
    }

    #[test]
    fn another_exit_status_beats_a_success_that_was_told() {
        let mut told = Summary::default();
        told.add(&Seen::Ended(Ended { success: true, text: None }));
        let unfinished = Outcome::Unfinished { why: "it exited with status 1".into() };
        for (end, expected) in
            [(End::Exited(0), Outcome::Complete), (End::Exited(1), unfinished.clone()), (End::Signalled(15), unfinished.clone())]
        {
            assert_eq!(by_output(unfinished.clone(), &end, &told, LeftBehind::Changed), expected, "{end:?}");
        }
    }

    #[test]
    fn verifications_that_go_on_failing_are_for_a_human() {
        let unfinished = Outcome::Unfinished { why: "x".into() };
        let is_review = |failed_rounds, max_retries| {
            let next = after_iteration(&unfinished, Limits { failed_rounds, max_retries, ..limits(1, 0) });
            matches!(next, Next::Review { cause: Cause::VerifyFailed, .. })
        };
        let rounds = |most| (0..=4).map(|round| is_review(round, most)).collect::<Vec<_>>();
        assert_eq!(rounds(3), [false, false, false, true, true]);
        assert_eq!((rounds(0), rounds(1)), (vec![false, true, true, true, true], vec![false, true, true, true, true]));
        let complete = Limits { failed_rounds: 9, ..limits(1, 0) };
        assert_eq!(after_iteration(&Outcome::Complete, complete), Next::Verify);
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
    fn ends_that_a_program_brings_about_can_be_compared() {
        let statuses = [End::Exited(3), End::Signalled(9), End::OverLimit("time limit"), End::OverLimit("silence limit")];
        assert_eq!(statuses.map(|end| end.status()), [Some(3), Some(137), Some(-1), Some(-1)]);
        for end in [End::Stopped, End::Killed, End::CannotStart("x".into()), End::KeeperDied, End::Unproved] {
            assert_eq!(end.status(), None, "{end:?}");
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
        assert_eq!(
            reason,
            "it ended 3 times in a row in the same way and with the same files: it exited with status 1: not logged in"
        );
        // What it said is the reason already.
        let told = Outcome::Unfinished { why: "API error: not logged in, sorry".into() };
        let after = after_iteration(&told, Limits { same_end: Some((3, &end)), ..limits(1, 0) });
        let Next::Release { reason, .. } = &after else { panic!("{after:?}") };
        assert_eq!(reason, "it ended 3 times in a row in the same way and with the same files: API error: not logged in, sorry");
    }

    #[test]
    fn what_is_ended_while_it_waits_for_the_model_is_no_failure_of_the_agent() {
        let after = |trouble, end: &End, ended: Option<bool>| {
            let mut told = Summary::default();
            told.waits = Some(Waits { trouble, status: None, why: "slow down".into(), seconds: Some(9) });
            told.ended = ended.map(|success| Ended { success, text: None });
            by_output(Outcome::Unfinished { why: "x".into() }, end, &told, LeftBehind::Unchanged)
        };
        let over = End::OverLimit("silence limit");
        let limited = Outcome::Limited { why: "slow down".into(), seconds: Some(9) };
        let signed_out = Outcome::NeedsHuman { cause: Cause::SignIn, why: "slow down".into() };
        let unfinished = Outcome::Unfinished { why: "x".into() };
        for (trouble, end, ended, expected) in [
            (Trouble::RateLimit, &over, None, &limited),
            (Trouble::Overload, &End::Signalled(9), None, &limited),
            (Trouble::SignIn, &over, None, &signed_out),
            (Trouble::SignIn, &End::Exited(1), None, &signed_out),
            (Trouble::Other, &over, None, &unfinished),
            (Trouble::RateLimit, &over, Some(false), &unfinished),
            (Trouble::RateLimit, &End::NotStarted(String::new()), None, &unfinished),
        ] {
            assert_eq!(&after(trouble, end, ended), expected, "{trouble:?} {end:?}");
        }
    }

    #[test]
    fn a_last_word_completes_what_it_changed_and_no_conflict_that_is_open() {
        let open = with_open_conflicts(Outcome::Complete, "README is in conflict".into());
        let after = |failed: bool, left| {
            let mut told = Summary::default();
            told.ended = Some(Ended { success: !failed, text: None });
            told.failed = failed.then(|| Failed { trouble: Trouble::Overload, status: None, message: "busy".into() });
            by_output(open.clone(), &End::Exited(0), &told, left)
        };
        let mut success = Summary::default();
        success.ended = Some(Ended { success: true, text: None });
        for end in [End::Exited(1), End::Signalled(9)] {
            assert_eq!(by_output(open.clone(), &end, &success, LeftBehind::Changed), open, "how it exited counts for more");
        }
        assert_eq!(after(false, LeftBehind::Changed), Outcome::Complete);
        assert!(matches!(after(false, LeftBehind::Unchanged), Outcome::Unfinished { why } if why.contains("without a change")));
        assert_eq!(after(false, LeftBehind::InConflict), open, "it may have said in so many words that it is complete");
        assert_eq!(after(true, LeftBehind::InConflict), Outcome::Limited { why: "busy".into(), seconds: None });
    }

    #[test]
    fn a_refusal_names_its_tool_and_its_call_where_they_are_known() {
        let denied = |tool: &str, about: Option<&str>| {
            let mut told = Summary::default();
            let about = about.map(str::to_owned);
            told.denied.push(Denied { id: None, tool: tool.into(), about, why: "rm rejected".into() });
            let unfinished = Outcome::Unfinished { why: String::new() };
            by_output(unfinished, &End::Exited(0), &told, LeftBehind::Changed)
        };
        let expected = |why: &str| Outcome::NeedsHuman { cause: Cause::ToolDenied, why: why.into() };
        assert_eq!((denied("", None), denied("Bash", None)), (expected("rm rejected"), expected("Bash: rm rejected")));
        assert_eq!(denied("Bash", Some("cd x\n  rm y")), expected("Bash cd x rm y: rm rejected"));
        let long = format!("Bash {}…: rm rejected", "é".repeat(95));
        assert_eq!(denied("Bash", Some(&"é".repeat(500))), expected(&long));
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
