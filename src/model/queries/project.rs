//! The project in short, for scripts that need no more: its status as one word, and the agent that was active last. Pure.

use serde::Serialize;

use crate::queries::view::{TaskProgress, TaskStatusCounts};
use crate::state::current_state::State;
use crate::work::agent::Agent;

/// The status of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ProjectStatus {
    /// No session runs.
    Idle,
    /// A session is running, or it crashed and its work waits to be recovered.
    Active,
    /// A session is pausing or paused, or it ended while it was paused.
    Paused,
    /// Every task is merged.
    Completed,
    /// The remaining tasks have failed or are blocked.
    Failed,
}

/// The status of the session, from the record and from whether its supervisor process is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LiveSessionStatus {
    /// No session is open.
    Idle,
    /// It is running.
    Running,
    /// It is pausing.
    Pausing,
    /// It is paused.
    Paused,
    /// It is ending: nothing new begins, and agents get a moment.
    Ending,
    /// Its supervisor died.
    Crashed,
}

impl LiveSessionStatus {
    /// The word used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Pausing => "pausing",
            Self::Paused => "paused",
            Self::Ending => "ending",
            Self::Crashed => "crashed",
        }
    }
}

/// The status of a project, from its session and its tasks; `set_aside` are those whose session ended while it was paused.
pub fn project_status(
    session: LiveSessionStatus,
    tasks: &TaskStatusCounts,
    progress: &TaskProgress,
    set_aside: usize,
) -> ProjectStatus {
    let is_over = progress.total > 0 && progress.merged == progress.total;
    let is_stuck = tasks.failed + tasks.blocked > 0 && tasks.active == 0 && progress.ready == 0;
    match session {
        LiveSessionStatus::Crashed if is_over => ProjectStatus::Completed,
        LiveSessionStatus::Crashed => ProjectStatus::Active,
        LiveSessionStatus::Pausing | LiveSessionStatus::Paused => ProjectStatus::Paused,
        LiveSessionStatus::Running | LiveSessionStatus::Ending => ProjectStatus::Active,
        LiveSessionStatus::Idle if is_over => ProjectStatus::Completed,
        LiveSessionStatus::Idle if set_aside > 0 => ProjectStatus::Paused,
        LiveSessionStatus::Idle if is_stuck => ProjectStatus::Failed,
        LiveSessionStatus::Idle => ProjectStatus::Idle,
    }
}

/// The agent with the latest activity, among those that work on a task.
pub fn current_agent(state: &State) -> Option<&Agent> {
    state.busy_agents().max_by_key(|agent| agent.work.as_ref().map(|work| work.last_activity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_stands_as_its_session_does_and_without_one_as_its_tasks() {
        use ProjectStatus::{Active, Completed, Failed, Idle, Paused};
        let tasks = |failed, ready, merged, total| {
            let counts = TaskStatusCounts { failed, ..TaskStatusCounts::default() };
            (counts, TaskProgress { total, merged, ready, ..TaskProgress::default() })
        };
        let table = [
            (tasks(0, 0, 0, 0), Idle),
            (tasks(0, 1, 1, 2), Idle),
            (tasks(1, 1, 0, 2), Idle),
            (tasks(1, 0, 1, 2), Failed),
            (tasks(0, 0, 2, 2), Completed),
        ];
        for ((counts, progress), alone) in table {
            let status = |session| project_status(session, &counts, &progress, 0);
            let all = [
                LiveSessionStatus::Idle,
                LiveSessionStatus::Running,
                LiveSessionStatus::Ending,
                LiveSessionStatus::Paused,
                LiveSessionStatus::Crashed,
            ];
            // A crash alone is no failure: what it cut off waits to be recovered.
            let crashed = if alone == Completed { Completed } else { Active };
            assert_eq!(all.map(status), [alone, Active, Active, Paused, crashed], "{counts:?} {progress:?}");
        }
        let (counts, progress) = tasks(0, 1, 0, 2);
        assert_eq!(
            project_status(LiveSessionStatus::Idle, &counts, &progress, 1),
            Paused,
            "its session ended while it was paused"
        );
    }
}
