//! Which tasks an event changes: these get new lines in `cases.jsonl`, and are shown as changed by the transaction.

use crate::base::ids::{AgentId, TaskId};
use crate::planning::step::PlanStep;
use crate::state::current_state::State;
use crate::state::event::Event;
use crate::state::repository_location::RelocationCause;
use crate::work::tasks::task::TaskStatus;

/// The tasks that an event may change.
enum TouchedTasks<'e> {
    /// None.
    Nothing,
    /// These tasks.
    These(Vec<&'e TaskId>),
    /// These tasks, and all that existed before.
    TheseAndAll(Vec<&'e TaskId>),
    /// The task that the agent was working on.
    WorkOf(&'e AgentId),
    /// All tasks that were active.
    Active,
}

fn touched(event: &Event) -> TouchedTasks<'_> {
    match event {
        Event::TasksAdded { tasks } => TouchedTasks::These(tasks.iter().map(|case| &case.id).collect()),
        Event::TasksChanged { edits } => TouchedTasks::These(edits.iter().map(|edit| &edit.id).collect()),
        Event::Planned { step } => of_plan(step),
        Event::TaskClaimed { task, .. } => TouchedTasks::These(vec![task]),
        Event::WorkReleased { agent, .. } => TouchedTasks::WorkOf(agent),
        Event::OperationEnded { edits, changes, .. } => {
            let restored = changes.iter().flat_map(|changes| changes.tasks.keys());
            TouchedTasks::These(restored.chain(edits.iter().map(|edit| &edit.id)).collect())
        }
        Event::StateAdopted { state: new, .. } => TouchedTasks::TheseAndAll(new.restorable.tasks.keys().collect()),
        Event::RepositoryPlaced { placing } if placing.how == RelocationCause::Copied => TouchedTasks::Active,
        Event::RepositoryPlaced { .. }
        | Event::Audited { .. }
        | Event::HookRan { .. }
        | Event::MergeVerified { .. }
        | Event::SessionStarted { .. }
        | Event::SessionChanged { .. }
        | Event::ModeChanged { .. }
        | Event::Requested { .. }
        | Event::RequestHandled { .. }
        | Event::WorkspaceOpened { .. }
        | Event::WorkspaceClosed { .. }
        | Event::MergedBranchesLeave { .. }
        | Event::MergedBranchesLeft { .. }
        | Event::IterationIntended { .. }
        | Event::IterationStarted { .. }
        | Event::Signalled { .. }
        | Event::RecoveryDecided { .. }
        | Event::IterationEnded { .. }
        | Event::VerificationFailed { .. }
        | Event::LookCutOff { .. }
        | Event::StepVerified { .. }
        | Event::ConflictGivenBack { .. }
        | Event::Delayed { .. }
        | Event::GateOpened { .. }
        | Event::GateDecided { .. }
        | Event::GateClosed { .. }
        | Event::CheckpointIntended { .. }
        | Event::CheckpointCreated { .. }
        | Event::CheckpointAbandoned { .. }
        | Event::Purged(_)
        | Event::CheckpointsDeleted { .. }
        | Event::OperationBegan { .. }
        | Event::OperationReversed { .. }
        | Event::WorkspaceCaptured { .. }
        | Event::LearningEdited { .. }
        | Event::LearningForgotten { .. }
        | Event::ConfigBackupRestored { .. }
        | Event::LogRepaired { .. } => TouchedTasks::Nothing,
    }
}

fn of_plan(step: &PlanStep) -> TouchedTasks<'_> {
    match step {
        PlanStep::Finished { tasks, .. } => TouchedTasks::These(tasks.iter().map(|task| &task.id).collect()),
        PlanStep::Started { .. }
        | PlanStep::PlannerStarted {}
        | PlanStep::PlannerEnded { .. }
        | PlanStep::PlannerRan { .. }
        | PlanStep::Asked { .. }
        | PlanStep::Answered { .. }
        | PlanStep::Understood {}
        | PlanStep::Analyzed { .. }
        | PlanStep::Proposed { .. }
        | PlanStep::Revised { .. }
        | PlanStep::Approved { .. }
        | PlanStep::TasksMade { .. }
        | PlanStep::Checked { .. }
        | PlanStep::Resumed { .. }
        | PlanStep::StartedOver { .. }
        | PlanStep::Abandoned { .. } => TouchedTasks::Nothing,
    }
}

/// The tasks that an event may change; some may keep their old values. `state` is the state before the event.
pub fn touched_tasks(state: &State, event: &Event) -> Vec<TaskId> {
    let before = &state.restorable;
    match touched(event) {
        TouchedTasks::Nothing => Vec::new(),
        TouchedTasks::These(ids) => ids.into_iter().cloned().collect(),
        TouchedTasks::TheseAndAll(ids) => ids.into_iter().chain(before.tasks.keys()).cloned().collect(),
        TouchedTasks::WorkOf(agent) => {
            let work = before.agents.get(agent).and_then(|agent| agent.work.as_ref());
            work.map(|work| work.task.clone()).into_iter().collect()
        }
        TouchedTasks::Active => {
            let active = before.tasks.values().filter(|task| task.status == TaskStatus::Active);
            active.map(|task| task.id.clone()).collect()
        }
    }
}

/// Whether an event may change any task: [`touched_tasks`] without the ids.
pub fn changes_tasks(event: &Event) -> bool {
    match touched(event) {
        TouchedTasks::Nothing => false,
        TouchedTasks::These(ids) => !ids.is_empty(),
        TouchedTasks::TheseAndAll(_) | TouchedTasks::WorkOf(_) | TouchedTasks::Active => true,
    }
}
