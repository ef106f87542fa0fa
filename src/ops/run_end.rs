//! How a program ended, from what its keeper recorded.

use crate::domain::work::outcome::End;
use crate::process::keeper::spec::{EndCause, ExitRecord};

/// The end of a run.
pub fn of(exit: &ExitRecord) -> End {
    match &exit.cause {
        EndCause::Exited | EndCause::Other => match (exit.code, exit.signal) {
            (Some(code), _) => End::Exited(code),
            (None, signal) => End::Signalled(signal.unwrap_or(0)),
        },
        EndCause::Stopped => End::Stopped,
        EndCause::Killed => End::Killed,
        EndCause::TimeLimit => End::OverLimit("time limit"),
        EndCause::SilenceLimit => End::OverLimit("silence limit"),
        EndCause::SpawnFailed { why } => End::CannotStart(why.clone()),
        EndCause::LostWorkspace => End::NotStarted("the workspace is not a worktree any more".into()),
    }
}
