//! How the end of an iteration is classified: by how its program ended, what its agent said, and what was printed. Pure tables. What
//! happens next: `after_iteration`.

use crate::agent::stream::stream_event::{AgentRunFailure, AgentRunResult};
use crate::agent::stream::summary::StreamSummary;
use crate::agent::stream::trouble::ModelTrouble;
use crate::work::iteration::{IterationOutcome, ReviewCause};
use crate::work::signals::signal::AgentSignal;

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentProgramEnd {
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

impl AgentProgramEnd {
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
pub fn classify(end: &AgentProgramEnd, verdict: Option<&AgentSignal>, exit_completes: bool) -> IterationOutcome {
    let spoken = verdict.and_then(|signal| match signal {
        AgentSignal::Complete {} => Some(IterationOutcome::Complete),
        AgentSignal::Blocked { reason } => Some(IterationOutcome::Blocked { reason: reason.clone() }),
        AgentSignal::Waiting { question } => Some(IterationOutcome::Waiting { question: question.clone() }),
        AgentSignal::Progress { .. }
        | AgentSignal::Learning { .. }
        | AgentSignal::Phase { .. }
        | AgentSignal::Subtask { .. }
        | AgentSignal::File(_)
        | AgentSignal::Ready { .. }
        | AgentSignal::ToolStarted(_)
        | AgentSignal::ToolCompleted(_)
        | AgentSignal::RequestSent(_)
        | AgentSignal::ResponseReceived(_)
        | AgentSignal::Session { .. }
        | AgentSignal::Seen(_)
        | AgentSignal::PermissionAsked(_)
        | AgentSignal::PermissionEnded { .. }
        | AgentSignal::Estimate { .. }
        | AgentSignal::Depends { .. } => None,
    });
    match (end, spoken) {
        (AgentProgramEnd::Killed, _) => IterationOutcome::Stopped,
        (AgentProgramEnd::Unproved, _) => IterationOutcome::Crashed,
        // The agent's signal decides, however its program ended: the signal was acknowledged.
        (_, Some(outcome)) => outcome,
        (AgentProgramEnd::KeeperDied, None) => IterationOutcome::Crashed,
        (AgentProgramEnd::Stopped, None) => IterationOutcome::Stopped,
        (AgentProgramEnd::Exited(0), None) if exit_completes => IterationOutcome::Complete,
        (AgentProgramEnd::Exited(0), None) => {
            IterationOutcome::Unfinished { why: "it ended without saying that the task is complete".into() }
        }
        (AgentProgramEnd::Exited(code), None) => IterationOutcome::Unfinished { why: format!("it exited with status {code}") },
        (AgentProgramEnd::Signalled(signal), None) => IterationOutcome::Unfinished { why: format!("signal {signal} ended it") },
        (AgentProgramEnd::OverLimit(limit), None) => IterationOutcome::Unfinished { why: format!("it ran over its {limit}") },
        (AgentProgramEnd::CannotStart(why), None) => IterationOutcome::Blocked { reason: why.clone() },
        (AgentProgramEnd::NotStarted(why), None) => {
            IterationOutcome::Unfinished { why: format!("it could not be started: {why}") }
        }
    }
}

/// The outcome where a merge in progress could not be committed, as conflicts are open: what would have completed the task has not, and
/// anything else stands, with the merge in the workspace.
pub fn with_open_conflicts(outcome: IterationOutcome, why: String) -> IterationOutcome {
    match outcome {
        IterationOutcome::Complete | IterationOutcome::Unfinished { .. } => IterationOutcome::Unfinished { why },
        IterationOutcome::Blocked { .. }
        | IterationOutcome::Waiting { .. }
        | IterationOutcome::Limited { .. }
        | IterationOutcome::NeedsHuman { .. }
        | IterationOutcome::Stopped
        | IterationOutcome::Crashed => outcome,
    }
}

/// What an iteration left on the task's branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IterationBranchChange {
    /// Other commits than before.
    Changed,
    /// The same commit as before.
    Unchanged,
    /// The same commit, and a merge in the workspace whose conflicts are open: the outcome says which.
    InConflict,
}

/// What follows from a program's output, where the agent gave no signal that decides.
pub fn by_output(
    outcome: IterationOutcome,
    end: &AgentProgramEnd,
    told: &StreamSummary,
    left: IterationBranchChange,
) -> IterationOutcome {
    let IterationOutcome::Unfinished { why } = &outcome else { return outcome };
    let said = |text: &str| if text.trim().is_empty() { why.clone() } else { text.to_owned() };
    // It was ended, or gave up, while it waited for the model.
    let waited = told.waits.now.as_ref().filter(|_| told.failed.is_none() && told.ended.is_none());
    let in_the_wait = waited.and_then(|waits| of_trouble(waits.trouble, said(&waits.why), waits.seconds));
    match end {
        AgentProgramEnd::Exited(_) | AgentProgramEnd::Signalled(_) => {}
        AgentProgramEnd::OverLimit(_) => return in_the_wait.unwrap_or(outcome),
        AgentProgramEnd::Stopped
        | AgentProgramEnd::Killed
        | AgentProgramEnd::CannotStart(_)
        | AgentProgramEnd::NotStarted(_)
        | AgentProgramEnd::KeeperDied
        | AgentProgramEnd::Unproved => {
            return outcome;
        }
    }
    if let Some(AgentRunFailure { trouble, message, .. }) = &told.failed {
        let seconds = told.waits.last.as_ref().and_then(|waits| waits.seconds);
        return of_trouble(*trouble, said(message), seconds).unwrap_or(IterationOutcome::Unfinished { why: said(message) });
    }
    if let Some(outcome) = in_the_wait {
        return outcome;
    }
    if let Some(denied) = told.calls.denied.first() {
        return IterationOutcome::NeedsHuman { cause: ReviewCause::ToolDenied, why: denied.in_words() };
    }
    // Another exit status than 0 beats a success that the program told.
    if !matches!(end, AgentProgramEnd::Exited(0)) {
        return outcome;
    }
    match (&told.ended, left) {
        (Some(AgentRunResult { success: true, .. }), IterationBranchChange::Changed) => IterationOutcome::Complete,
        (Some(AgentRunResult { success: true, .. }), IterationBranchChange::Unchanged) => {
            IterationOutcome::Unfinished { why: "it ended without a change and without saying that the task is complete".into() }
        }
        (Some(AgentRunResult { success: true, .. }), IterationBranchChange::InConflict)
        | (Some(AgentRunResult { success: false, .. }) | None, _) => outcome,
    }
}

fn of_trouble(trouble: ModelTrouble, why: String, seconds: Option<u64>) -> Option<IterationOutcome> {
    match trouble {
        ModelTrouble::SignIn => Some(IterationOutcome::NeedsHuman { cause: ReviewCause::SignIn, why }),
        ModelTrouble::RateLimit | ModelTrouble::Overload => Some(IterationOutcome::Limited { why, seconds }),
        ModelTrouble::Other => None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn with_open_conflicts_nothing_is_complete_and_whatever_else_happened_stands() {
        let unfinished = |why: &str| IterationOutcome::Unfinished { why: why.into() };
        let waiting = IterationOutcome::Waiting { question: "q".into() };
        for (outcome, expected) in [
            (IterationOutcome::Complete, unfinished("open")),
            (unfinished("x"), unfinished("open")),
            (waiting.clone(), waiting),
            (IterationOutcome::Stopped, IterationOutcome::Stopped),
            (IterationOutcome::Crashed, IterationOutcome::Crashed),
        ] {
            assert_eq!(with_open_conflicts(outcome, "open".into()), expected);
        }
    }

    use super::*;
    use crate::agent::stream::stream_event::{ModelWait, StreamEvent, ToolCallDenial};

    #[test]
    fn another_exit_status_beats_a_success_that_was_told() {
        let mut told = StreamSummary::default();
        told.add(&StreamEvent::Ended(AgentRunResult { success: true, text: None }));
        let unfinished = IterationOutcome::Unfinished { why: "it exited with status 1".into() };
        for (end, expected) in [
            (AgentProgramEnd::Exited(0), IterationOutcome::Complete),
            (AgentProgramEnd::Exited(1), unfinished.clone()),
            (AgentProgramEnd::Signalled(15), unfinished.clone()),
        ] {
            assert_eq!(by_output(unfinished.clone(), &end, &told, IterationBranchChange::Changed), expected, "{end:?}");
        }
    }

    #[test]
    fn ends_are_classified() {
        let complete = AgentSignal::Complete {};
        let progress = AgentSignal::Progress { percent: 5 };
        let table = [
            (AgentProgramEnd::Exited(0), None, true, "Complete"),
            (AgentProgramEnd::Exited(0), None, false, "Unfinished"),
            (AgentProgramEnd::Exited(0), Some(&progress), false, "Unfinished"),
            (AgentProgramEnd::Exited(1), None, true, "Unfinished"),
            (AgentProgramEnd::Exited(1), Some(&complete), false, "Complete"),
            (AgentProgramEnd::Signalled(9), None, true, "Unfinished"),
            (AgentProgramEnd::Stopped, None, true, "Stopped"),
            (AgentProgramEnd::Stopped, Some(&complete), true, "Complete"),
            (AgentProgramEnd::OverLimit("time limit"), None, true, "Unfinished"),
            (AgentProgramEnd::CannotStart("x".into()), None, true, "Blocked"),
            (AgentProgramEnd::NotStarted("x".into()), None, true, "Unfinished"),
            (AgentProgramEnd::KeeperDied, None, true, "Crashed"),
            (AgentProgramEnd::KeeperDied, Some(&complete), false, "Complete"),
            (AgentProgramEnd::Killed, None, true, "Stopped"),
            (AgentProgramEnd::Killed, Some(&complete), true, "Stopped"),
            (AgentProgramEnd::Unproved, None, true, "Crashed"),
            (AgentProgramEnd::Unproved, Some(&complete), true, "Crashed"),
        ];
        for (end, verdict, exit_completes, expected) in table {
            let outcome = format!("{:?}", classify(&end, verdict, exit_completes));
            assert!(outcome.starts_with(expected), "{end:?} {verdict:?}: {outcome}");
        }
    }

    #[test]
    fn ends_that_a_program_brings_about_can_be_compared() {
        let statuses = [
            AgentProgramEnd::Exited(3),
            AgentProgramEnd::Signalled(9),
            AgentProgramEnd::OverLimit("time limit"),
            AgentProgramEnd::OverLimit("silence limit"),
        ];
        assert_eq!(statuses.map(|end| end.status()), [Some(3), Some(137), Some(-1), Some(-1)]);
        for end in [
            AgentProgramEnd::Stopped,
            AgentProgramEnd::Killed,
            AgentProgramEnd::CannotStart("x".into()),
            AgentProgramEnd::KeeperDied,
            AgentProgramEnd::Unproved,
        ] {
            assert_eq!(end.status(), None, "{end:?}");
        }
    }

    #[test]
    fn what_is_ended_while_it_waits_for_the_model_is_no_failure_of_the_agent() {
        let after = |trouble, end: &AgentProgramEnd, ended: Option<bool>| {
            let mut told = StreamSummary::default();
            told.waits.now = Some(ModelWait { trouble, status: None, why: "slow down".into(), seconds: Some(9) });
            told.ended = ended.map(|success| AgentRunResult { success, text: None });
            by_output(IterationOutcome::Unfinished { why: "x".into() }, end, &told, IterationBranchChange::Unchanged)
        };
        let over = AgentProgramEnd::OverLimit("silence limit");
        let limited = IterationOutcome::Limited { why: "slow down".into(), seconds: Some(9) };
        let signed_out = IterationOutcome::NeedsHuman { cause: ReviewCause::SignIn, why: "slow down".into() };
        let unfinished = IterationOutcome::Unfinished { why: "x".into() };
        for (trouble, end, ended, expected) in [
            (ModelTrouble::RateLimit, &over, None, &limited),
            (ModelTrouble::Overload, &AgentProgramEnd::Signalled(9), None, &limited),
            (ModelTrouble::SignIn, &over, None, &signed_out),
            (ModelTrouble::SignIn, &AgentProgramEnd::Exited(1), None, &signed_out),
            (ModelTrouble::Other, &over, None, &unfinished),
            (ModelTrouble::RateLimit, &over, Some(false), &unfinished),
            (ModelTrouble::RateLimit, &AgentProgramEnd::NotStarted(String::new()), None, &unfinished),
        ] {
            assert_eq!(&after(trouble, end, ended), expected, "{trouble:?} {end:?}");
        }
    }

    #[test]
    fn a_last_word_completes_what_it_changed_and_no_conflict_that_is_open() {
        let open = with_open_conflicts(IterationOutcome::Complete, "README is in conflict".into());
        let after = |failed: bool, left| {
            let mut told = StreamSummary::default();
            told.ended = Some(AgentRunResult { success: !failed, text: None });
            told.failed = failed.then(|| AgentRunFailure {
                trouble: ModelTrouble::Overload,
                status: None,
                message: "busy".into(),
                broke_off: false,
            });
            by_output(open.clone(), &AgentProgramEnd::Exited(0), &told, left)
        };
        let mut success = StreamSummary::default();
        success.ended = Some(AgentRunResult { success: true, text: None });
        for end in [AgentProgramEnd::Exited(1), AgentProgramEnd::Signalled(9)] {
            assert_eq!(
                by_output(open.clone(), &end, &success, IterationBranchChange::Changed),
                open,
                "how it exited counts for more"
            );
        }
        assert_eq!(after(false, IterationBranchChange::Changed), IterationOutcome::Complete);
        assert!(
            matches!(after(false, IterationBranchChange::Unchanged), IterationOutcome::Unfinished { why } if why.contains("without a change"))
        );
        assert_eq!(
            after(false, IterationBranchChange::InConflict),
            open,
            "it may have said in so many words that it is complete"
        );
        assert_eq!(
            after(true, IterationBranchChange::InConflict),
            IterationOutcome::Limited { why: "busy".into(), seconds: None }
        );
    }

    #[test]
    fn a_refusal_names_its_tool_and_its_call_where_they_are_known() {
        let denied = |tool: &str, about: Option<&str>| {
            let mut told = StreamSummary::default();
            let about = about.map(str::to_owned);
            told.calls.denied.push(ToolCallDenial { id: None, tool: tool.into(), about, why: "rm rejected".into() });
            let unfinished = IterationOutcome::Unfinished { why: String::new() };
            by_output(unfinished, &AgentProgramEnd::Exited(0), &told, IterationBranchChange::Changed)
        };
        let expected = |why: &str| IterationOutcome::NeedsHuman { cause: ReviewCause::ToolDenied, why: why.into() };
        assert_eq!((denied("", None), denied("Bash", None)), (expected("rm rejected"), expected("Bash: rm rejected")));
        assert_eq!(denied("Bash", Some("cd x\n  rm y")), expected("Bash cd x rm y: rm rejected"));
        let long = format!("Bash {}…: rm rejected", "é".repeat(95));
        assert_eq!(denied("Bash", Some(&"é".repeat(500))), expected(&long));
    }
}
