//! Whether an iteration that was cut off is gone on with in the program's own session. Pure.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::agent::{IterationReport, Outcome};
use super::last_run::LastRun;
use super::outcome::End;
use crate::domain::agent::adapter::{Adapter, PromptKind};
use crate::domain::agent::stream::seen::Usage;
use crate::domain::agent::stream::summary::Summary;
use crate::domain::base::names::Oid;

/// The longest id of a session that is put into a command.
const LONGEST_ID: usize = 200;
/// The signals by which somebody else ends a program: SIGHUP, SIGINT, SIGQUIT, SIGKILL, SIGTERM. By others it crashes itself.
const KILLED_BY: [i32; 5] = [1, 2, 3, 9, 15];
/// Where the id stands in an adapter's command.
const PLACE: &str = "{session}";

/// The session of an agent program, as its last run left it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgramSession {
    /// Its id, as the program gave it.
    pub id: String,
    /// The name of the agent program.
    pub program: String,
    /// The workspace in which it ran.
    pub path: String,
    /// What the program has counted last of it.
    #[serde(default)]
    pub usage: Usage,
    /// Whether the run was cut off, so that it is to be gone on with. One that ended by itself is not.
    #[serde(default)]
    pub open: bool,
}

/// How a run went that was to go on with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Resumed {
    /// The agent worked.
    WentOn,
    /// It was ended, or refused by the model's service, before its agent had done anything.
    NotYet,
    /// The program ended by itself before its agent had done anything: it does not know the session.
    InVain,
}

/// Whether an iteration was cut off, where its program could go on: it did not end by itself, and what it did is all there.
pub fn was_cut_off(end: &End, outcome: &Outcome) -> bool {
    match outcome {
        // After a stop of the machine its own files may be incomplete as well.
        Outcome::Crashed => *end == End::KeeperDied,
        Outcome::Stopped => true,
        Outcome::Unfinished { .. } => match end {
            End::Signalled(signal) => KILLED_BY.contains(signal),
            End::OverLimit(_) => true,
            End::Exited(_)
            | End::Stopped
            | End::Killed
            | End::CannotStart(_)
            | End::NotStarted(_)
            | End::KeeperDied
            | End::Unproved => false,
        },
        Outcome::Complete
        | Outcome::Blocked { .. }
        | Outcome::Waiting { .. }
        | Outcome::Limited { .. }
        | Outcome::NeedsHuman { .. } => false,
    }
}

/// How a run went that was to go on with a session.
pub fn how_it_went(end: &End, outcome: &Outcome, told: &Summary, changed: bool) -> Resumed {
    if told.responses > 0 || told.texts > 0 || told.tool_calls > 0 || changed {
        return Resumed::WentOn;
    }
    match outcome {
        // It was silent: the next one could be as well.
        Outcome::Unfinished { .. } if !matches!(end, End::Signalled(_)) => Resumed::InVain,
        Outcome::Stopped
        | Outcome::Crashed
        | Outcome::Limited { .. }
        | Outcome::NeedsHuman { .. }
        | Outcome::Unfinished { .. } => Resumed::NotYet,
        // It has reported something.
        Outcome::Complete | Outcome::Blocked { .. } | Outcome::Waiting { .. } => Resumed::WentOn,
    }
}

/// Where the next iteration begins.
#[derive(Debug, Clone, Copy)]
pub struct Now<'a> {
    /// The program that works on the task.
    pub program: &'a Adapter,
    /// The path of the workspace.
    pub path: &'a str,
    /// The commit of the branch, where the workspace is on it.
    pub head: Option<&'a Oid>,
    /// The paths that are uncommitted there; `None` where that is not known.
    pub changes: Option<&'a [String]>,
}

/// Why an iteration that was cut off begins anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anew {
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

impl fmt::Display for Anew {
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
pub fn session<'a>(last: Option<&'a LastRun>, now: Now<'_>) -> Option<Result<&'a str, Anew>> {
    let last = last?;
    let session = last.session.as_ref().filter(|session| session.open)?;
    let as_it_was = |changes: &[String]| changes.iter().all(|path| last.left_out_why(path).is_some());
    Some(if now.program.name != session.program {
        Err(Anew::OtherProgram)
    } else if now.program.resume.is_empty() || now.program.prompt != PromptKind::Prompt {
        Err(Anew::NoCommand)
    } else if !can_be_in_a_command(&session.id) {
        Err(Anew::OddId)
    } else if now.path != session.path {
        Err(Anew::OtherPlace)
    } else if now.head != Some(&last.to) || !now.changes.is_some_and(as_it_was) {
        Err(Anew::OtherFiles)
    } else {
        Ok(session.id.as_str())
    })
}

/// The command that goes on with a session.
pub fn command(program: &Adapter, id: &str) -> Vec<String> {
    program.resume.iter().map(|word| word.replace(PLACE, id)).collect()
}

/// An id is what a program printed: it becomes no option, and no other placeholder.
fn can_be_in_a_command(id: &str) -> bool {
    let may_be = |c: char| c.is_ascii_alphanumeric() || "-_.:/@+=".contains(c);
    !id.is_empty() && id.len() <= LONGEST_ID && !id.starts_with('-') && id.chars().all(may_be)
}

/// The session as a run leaves it. `before` is what it was to go on with.
pub fn left_by(report: &IterationReport, before: Option<&ProgramSession>) -> Option<ProgramSession> {
    match report.resumed {
        Some(Resumed::InVain) => None,
        // Nothing has happened in it.
        Some(Resumed::NotYet) => before.map(|before| {
            let usage = report.session.as_ref().map_or(before.usage, |session| session.usage);
            ProgramSession { usage, ..before.clone() }
        }),
        Some(Resumed::WentOn) | None => report.session.as_deref().cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agent::presets;
    use crate::domain::work::last_run::tests::last;

    fn oid(digit: &str) -> Oid {
        Oid::new(digit.repeat(40)).unwrap()
    }

    fn claude() -> Adapter {
        presets::preset("claude").unwrap()
    }

    fn open(id: &str) -> LastRun {
        let session =
            ProgramSession { id: id.into(), program: "claude".into(), path: "/w".into(), usage: Usage::default(), open: true };
        LastRun { session: Some(Box::new(session)), left_out: vec!["a b (too large)".into()], ..last(Outcome::Stopped) }
    }

    #[test]
    fn what_is_as_it_was_is_gone_on_with() {
        let (program, head, other) = (claude(), oid("1"), oid("2"));
        let codex = Adapter { name: "codex".into(), ..claude() };
        let cannot = Adapter { resume: Vec::new(), ..claude() };
        let (left, more) = (["a b".to_owned()], ["a b".to_owned(), "a".to_owned()]);
        let now = Now { program: &program, path: "/w", head: Some(&head), changes: Some(&left) };
        let run = open("0b-c");
        for (now, expected) in [
            (now, Ok("0b-c")),
            (Now { changes: Some(&[]), ..now }, Ok("0b-c")),
            (Now { changes: Some(&more), ..now }, Err(Anew::OtherFiles)),
            (Now { changes: None, ..now }, Err(Anew::OtherFiles)),
            (Now { head: Some(&other), ..now }, Err(Anew::OtherFiles)),
            (Now { head: None, ..now }, Err(Anew::OtherFiles)),
            (Now { path: "/v", ..now }, Err(Anew::OtherPlace)),
            (Now { program: &codex, ..now }, Err(Anew::OtherProgram)),
            (Now { program: &cannot, ..now }, Err(Anew::NoCommand)),
        ] {
            assert_eq!(session(Some(&run), now), Some(expected), "{now:?}");
        }
        for odd in ["", "--dangerous", "a b", "{prompt}", "a\n", &"x".repeat(LONGEST_ID + 1)] {
            assert_eq!(session(Some(&open(odd)), now), Some(Err(Anew::OddId)), "{odd}");
        }
        assert_eq!(session(Some(&last(Outcome::Stopped)), now), None);
        assert_eq!(session(None, now), None);
        assert!(command(&program, "0b-c").ends_with(&["--resume".to_owned(), "0b-c".to_owned()]));
    }

    #[test]
    fn what_ended_by_itself_is_not_cut_off() {
        let unfinished = || Outcome::Unfinished { why: "x".into() };
        for (end, outcome, expected) in [
            (End::Stopped, Outcome::Stopped, true),
            (End::Killed, Outcome::Stopped, true),
            (End::KeeperDied, Outcome::Crashed, true),
            (End::Unproved, Outcome::Crashed, false),
            (End::Signalled(9), unfinished(), true),
            (End::OverLimit("time limit"), unfinished(), true),
            (End::Signalled(11), unfinished(), false),
            (End::Exited(1), unfinished(), false),
            (End::NotStarted("x".into()), unfinished(), false),
            (End::Stopped, Outcome::Complete, false),
            (End::Exited(1), Outcome::Limited { why: "x".into(), seconds: None }, false),
        ] {
            assert_eq!(was_cut_off(&end, &outcome), expected, "{end:?} {outcome:?}");
        }
    }

    #[test]
    fn a_run_that_did_nothing_was_in_vain_where_it_ended_by_itself() {
        let (nothing, mut something) = (Summary::default(), Summary::default());
        something.responses = 1;
        let unfinished = || Outcome::Unfinished { why: "x".into() };
        for (end, outcome, told, changed, expected) in [
            (End::Exited(1), unfinished(), &nothing, false, Resumed::InVain),
            (End::OverLimit("silence limit"), unfinished(), &nothing, false, Resumed::InVain),
            (End::Exited(1), unfinished(), &something, false, Resumed::WentOn),
            (End::Exited(1), unfinished(), &nothing, true, Resumed::WentOn),
            (End::Signalled(9), unfinished(), &nothing, false, Resumed::NotYet),
            (End::Stopped, Outcome::Stopped, &nothing, false, Resumed::NotYet),
            (End::Exited(1), Outcome::Limited { why: "x".into(), seconds: None }, &nothing, false, Resumed::NotYet),
            (End::Exited(0), Outcome::Complete, &nothing, false, Resumed::WentOn),
        ] {
            assert_eq!(how_it_went(&end, &outcome, told, changed), expected, "{end:?} {outcome:?}");
        }
    }
}
