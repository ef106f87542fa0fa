//! How a program ended, from what its keeper recorded.

use axiom_model::work::endings::outcome::AgentProgramEnd;
use axiom_process::run_folder::records::{EndCause, ExitRecord};

/// The end of a run.
pub fn of(exit: &ExitRecord) -> AgentProgramEnd {
    match &exit.cause {
        EndCause::Exited | EndCause::Other => match (exit.code, exit.signal) {
            (Some(code), _) => AgentProgramEnd::Exited(code),
            (None, signal) => AgentProgramEnd::Signalled(signal.unwrap_or(0)),
        },
        EndCause::Stopped => AgentProgramEnd::Stopped,
        EndCause::Killed => AgentProgramEnd::Killed,
        EndCause::TimeLimit => AgentProgramEnd::OverLimit("time limit"),
        EndCause::SilenceLimit => AgentProgramEnd::OverLimit("silence limit"),
        EndCause::SpawnFailed { why } => AgentProgramEnd::CannotStart(why.clone()),
        EndCause::LostWorkspace => AgentProgramEnd::NotStarted("the workspace is not a worktree any more".into()),
    }
}
