//! Whether an iteration that was cut off is gone on with in the program's own session. Pure.

use crate::work::iteration::{IterationOutcome, ResumedRunResult};
use std::fmt;

use crate::agent::adapter::{AdapterPromptKind, AgentAdapter};
use crate::agent::stream::summary::StreamSummary;
use crate::base::names::Oid;
use crate::work::endings::last_run::LastIteration;
use crate::work::endings::outcome::AgentProgramEnd;

/// The longest id of a session that is put into a command.
const LONGEST_ID: usize = 200;
/// The signals by which somebody else ends a program: SIGHUP, SIGINT, SIGQUIT, SIGKILL, SIGTERM. By others it crashes itself.
const KILLED_BY: [i32; 5] = [1, 2, 3, 9, 15];
/// Where the id stands in an adapter's command.
const PLACE: &str = "{session}";

/// Whether an iteration was cut off, where its program could go on: it did not end by itself, and what it did is all there.
pub fn was_cut_off(end: &AgentProgramEnd, outcome: &IterationOutcome, told: &StreamSummary) -> bool {
    match outcome {
        // After a stop of the machine its own files may be incomplete as well.
        IterationOutcome::Crashed => *end == AgentProgramEnd::KeeperDied,
        IterationOutcome::Stopped => true,
        IterationOutcome::Unfinished { .. } => match end {
            AgentProgramEnd::Signalled(signal) => KILLED_BY.contains(signal),
            AgentProgramEnd::OverLimit(_) => true,
            // What it runs may have died, and not it.
            AgentProgramEnd::Exited(_) => told.failed.as_ref().is_some_and(|failed| failed.broke_off),
            AgentProgramEnd::Stopped
            | AgentProgramEnd::Killed
            | AgentProgramEnd::CannotStart(_)
            | AgentProgramEnd::NotStarted(_)
            | AgentProgramEnd::KeeperDied
            | AgentProgramEnd::Unproved => false,
        },
        IterationOutcome::Complete
        | IterationOutcome::Blocked { .. }
        | IterationOutcome::Waiting { .. }
        | IterationOutcome::Limited { .. }
        | IterationOutcome::NeedsHuman { .. } => false,
    }
}

/// How a run went that was to go on with a session.
pub fn how_it_went(end: &AgentProgramEnd, outcome: &IterationOutcome, told: &StreamSummary, changed: bool) -> ResumedRunResult {
    if told.responses > 0 || told.texts > 0 || told.calls.count > 0 || changed {
        return ResumedRunResult::WentOn;
    }
    match outcome {
        // It was silent: the next one could be as well.
        IterationOutcome::Unfinished { .. } if !matches!(end, AgentProgramEnd::Signalled(_)) => ResumedRunResult::InVain,
        IterationOutcome::Stopped
        | IterationOutcome::Crashed
        | IterationOutcome::Limited { .. }
        | IterationOutcome::NeedsHuman { .. }
        | IterationOutcome::Unfinished { .. } => ResumedRunResult::NotYet,
        // It has reported something.
        IterationOutcome::Complete | IterationOutcome::Blocked { .. } | IterationOutcome::Waiting { .. } => {
            ResumedRunResult::WentOn
        }
    }
}

/// Where the next iteration begins.
#[derive(Debug, Clone, Copy)]
pub struct NextIterationStart<'a> {
    /// The program that works on the task.
    pub program: &'a AgentAdapter,
    /// The path of the workspace.
    pub path: &'a str,
    /// The commit of the branch, where the workspace is on it.
    pub head: Option<&'a Oid>,
    /// The paths that are uncommitted there; `None` where that is not known.
    pub changes: Option<&'a [String]>,
}

/// Why an iteration that was cut off begins anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FreshStartReason {
    /// The program has no command for it.
    NoCommand,
    /// The id cannot stand in a command.
    OddId,
    /// Another program works on the task now.
    OtherProgram,
    /// The workspace is elsewhere.
    OtherPlace,
    /// The branch or the files are not as they were.
    OtherFiles,
}

impl fmt::Display for FreshStartReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoCommand => "the program cannot",
            Self::OddId => "its id cannot stand in a command",
            Self::OtherProgram => "another program works on the task now",
            Self::OtherPlace => "the workspace is elsewhere now",
            Self::OtherFiles => "the files are not as it left them",
        })
    }
}

/// The session to go on with; `None` where nothing was cut off that could be gone on with.
pub fn session<'a>(last: Option<&'a LastIteration>, now: NextIterationStart<'_>) -> Option<Result<&'a str, FreshStartReason>> {
    let last = last?;
    let session = last.session.as_ref().filter(|session| session.open)?;
    let as_it_was = |changes: &[String]| changes.iter().all(|path| last.left_out_why(path).is_some());
    Some(if now.program.name != session.program {
        Err(FreshStartReason::OtherProgram)
    } else if !now.program.can_resume() || now.program.prompt != AdapterPromptKind::Prompt {
        Err(FreshStartReason::NoCommand)
    } else if !can_be_in_a_command(&session.id) {
        Err(FreshStartReason::OddId)
    } else if now.path != session.path {
        Err(FreshStartReason::OtherPlace)
    } else if now.head != Some(&last.to) || !now.changes.is_some_and(as_it_was) {
        Err(FreshStartReason::OtherFiles)
    } else {
        Ok(session.id.as_str())
    })
}

/// The command that goes on with a session.
pub fn command(program: &AgentAdapter, id: &str) -> Vec<String> {
    program.resume.iter().map(|word| word.replace(PLACE, id)).collect()
}

/// An id is what a program printed: it becomes no option, and no other placeholder.
fn can_be_in_a_command(id: &str) -> bool {
    let may_be = |c: char| c.is_ascii_alphanumeric() || "-_.:/@+=".contains(c);
    !id.is_empty() && id.len() <= LONGEST_ID && !id.starts_with('-') && id.chars().all(may_be)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::presets;
    use crate::agent::stream::stream_event::TokenUsage;
    use crate::work::endings::last_run::tests::last;
    use crate::work::iteration::ProgramSession;

    fn oid(digit: &str) -> Oid {
        Oid::new(digit.repeat(40)).unwrap()
    }

    fn claude() -> AgentAdapter {
        presets::preset("claude").unwrap()
    }

    fn open(id: &str) -> LastIteration {
        let session = ProgramSession {
            id: id.into(),
            program: "claude".into(),
            path: "/w".into(),
            usage: TokenUsage::default(),
            open: true,
        };
        LastIteration {
            session: Some(Box::new(session)),
            left_out: vec!["a b (too large)".into()],
            ..last(IterationOutcome::Stopped)
        }
    }

    #[test]
    fn what_is_as_it_was_is_gone_on_with() {
        let (program, head, other) = (claude(), oid("1"), oid("2"));
        let codex = AgentAdapter { name: "codex".into(), ..claude() };
        let cannot = AgentAdapter { resume: Vec::new(), ..claude() };
        let (left, more) = (["a b".to_owned()], ["a b".to_owned(), "a".to_owned()]);
        let now = NextIterationStart { program: &program, path: "/w", head: Some(&head), changes: Some(&left) };
        let run = open("0b-c");
        for (now, expected) in [
            (now, Ok("0b-c")),
            (NextIterationStart { changes: Some(&[]), ..now }, Ok("0b-c")),
            (NextIterationStart { changes: Some(&more), ..now }, Err(FreshStartReason::OtherFiles)),
            (NextIterationStart { changes: None, ..now }, Err(FreshStartReason::OtherFiles)),
            (NextIterationStart { head: Some(&other), ..now }, Err(FreshStartReason::OtherFiles)),
            (NextIterationStart { head: None, ..now }, Err(FreshStartReason::OtherFiles)),
            (NextIterationStart { path: "/v", ..now }, Err(FreshStartReason::OtherPlace)),
            (NextIterationStart { program: &codex, ..now }, Err(FreshStartReason::OtherProgram)),
            (NextIterationStart { program: &cannot, ..now }, Err(FreshStartReason::NoCommand)),
        ] {
            assert_eq!(session(Some(&run), now), Some(expected), "{now:?}");
        }
        for odd in ["", "--dangerous", "a b", "{prompt}", "a\n", &"x".repeat(LONGEST_ID + 1)] {
            assert_eq!(session(Some(&open(odd)), now), Some(Err(FreshStartReason::OddId)), "{odd}");
        }
        assert_eq!(session(Some(&last(IterationOutcome::Stopped)), now), None);
        assert_eq!(session(None, now), None);
        assert!(command(&program, "0b-c").ends_with(&["--resume".to_owned(), "0b-c".to_owned()]));
    }

    #[test]
    fn what_ended_by_itself_is_not_cut_off() {
        let unfinished = || IterationOutcome::Unfinished { why: "x".into() };
        for (end, outcome, expected) in [
            (AgentProgramEnd::Stopped, IterationOutcome::Stopped, true),
            (AgentProgramEnd::Killed, IterationOutcome::Stopped, true),
            (AgentProgramEnd::KeeperDied, IterationOutcome::Crashed, true),
            (AgentProgramEnd::Unproved, IterationOutcome::Crashed, false),
            (AgentProgramEnd::Signalled(9), unfinished(), true),
            (AgentProgramEnd::OverLimit("time limit"), unfinished(), true),
            (AgentProgramEnd::Signalled(11), unfinished(), false),
            (AgentProgramEnd::Exited(1), unfinished(), false),
            (AgentProgramEnd::NotStarted("x".into()), unfinished(), false),
            (AgentProgramEnd::Stopped, IterationOutcome::Complete, false),
            (AgentProgramEnd::Exited(1), IterationOutcome::Limited { why: "x".into(), seconds: None }, false),
        ] {
            assert_eq!(was_cut_off(&end, &outcome, &StreamSummary::new(&claude().stream)), expected, "{end:?} {outcome:?}");
        }
    }

    #[test]
    fn a_run_that_did_nothing_was_in_vain_where_it_ended_by_itself() {
        let (nothing, mut something) = (StreamSummary::default(), StreamSummary::default());
        something.responses = 1;
        let unfinished = || IterationOutcome::Unfinished { why: "x".into() };
        for (end, outcome, told, changed, expected) in [
            (AgentProgramEnd::Exited(1), unfinished(), &nothing, false, ResumedRunResult::InVain),
            (AgentProgramEnd::OverLimit("silence limit"), unfinished(), &nothing, false, ResumedRunResult::InVain),
            (AgentProgramEnd::Exited(1), unfinished(), &something, false, ResumedRunResult::WentOn),
            (AgentProgramEnd::Exited(1), unfinished(), &nothing, true, ResumedRunResult::WentOn),
            (AgentProgramEnd::Signalled(9), unfinished(), &nothing, false, ResumedRunResult::NotYet),
            (AgentProgramEnd::Stopped, IterationOutcome::Stopped, &nothing, false, ResumedRunResult::NotYet),
            (
                AgentProgramEnd::Exited(1),
                IterationOutcome::Limited { why: "x".into(), seconds: None },
                &nothing,
                false,
                ResumedRunResult::NotYet,
            ),
            (AgentProgramEnd::Exited(0), IterationOutcome::Complete, &nothing, false, ResumedRunResult::WentOn),
        ] {
            assert_eq!(how_it_went(&end, &outcome, told, changed), expected, "{end:?} {outcome:?}");
        }
    }
}
