//! Which cases an event changes: these get new lines in `cases.jsonl`, and are shown as changed by the transaction.

use crate::domain::base::ids::{AgentId, CaseId};
use crate::domain::planning::step::PlanStep;
use crate::domain::state::event::Event;
use crate::domain::state::place::Arrival;
use crate::domain::state::whole::State;
use crate::domain::work::case::Status;

/// The cases that an event may change.
enum Touched<'e> {
    /// None.
    Nothing,
    /// These cases.
    These(Vec<&'e CaseId>),
    /// These cases, and all that existed before.
    TheseAndAll(Vec<&'e CaseId>),
    /// The case that the agent was working on.
    WorkOf(&'e AgentId),
    /// All cases that were active.
    Active,
}

fn touched(event: &Event) -> Touched<'_> {
    match event {
        Event::CasesAdded { cases } => Touched::These(cases.iter().map(|case| &case.id).collect()),
        Event::CasesChanged { edits } => Touched::These(edits.iter().map(|edit| &edit.id).collect()),
        Event::Planned { step } => of_plan(step),
        Event::TaskClaimed { task, .. } => Touched::These(vec![task]),
        Event::WorkReleased { agent, .. } => Touched::WorkOf(agent),
        Event::OperationEnded { edits, changes, .. } => {
            let restored = changes.iter().flat_map(|changes| changes.cases.keys());
            Touched::These(restored.chain(edits.iter().map(|edit| &edit.id)).collect())
        }
        Event::StateAdopted { state: new, .. } => Touched::TheseAndAll(new.restorable.cases.keys().collect()),
        Event::RepositoryPlaced { placing } if placing.how == Arrival::Copied => Touched::Active,
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
        | Event::StepVerified { .. }
        | Event::ConflictGivenBack { .. }
        | Event::Delayed { .. }
        | Event::GateOpened { .. }
        | Event::GateDecided { .. }
        | Event::GateClosed { .. }
        | Event::CheckpointIntended { .. }
        | Event::CheckpointCreated { .. }
        | Event::CheckpointAbandoned { .. }
        | Event::Purged { .. }
        | Event::CheckpointsDeleted { .. }
        | Event::OperationBegan { .. }
        | Event::OperationReversed { .. }
        | Event::WorkspaceCaptured { .. }
        | Event::LearningEdited { .. }
        | Event::LearningForgotten { .. }
        | Event::ConfigBackupRestored { .. }
        | Event::LogRepaired { .. } => Touched::Nothing,
    }
}

fn of_plan(step: &PlanStep) -> Touched<'_> {
    match step {
        PlanStep::Finished { cases, .. } => Touched::These(cases.iter().map(|case| &case.id).collect()),
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
        | PlanStep::CasesMade { .. }
        | PlanStep::Checked { .. }
        | PlanStep::Resumed { .. }
        | PlanStep::StartedOver { .. }
        | PlanStep::Abandoned { .. } => Touched::Nothing,
    }
}

/// The cases that an event may change; some may keep their old values. `state` is the state before the event.
pub fn touched_cases(state: &State, event: &Event) -> Vec<CaseId> {
    let before = &state.restorable;
    match touched(event) {
        Touched::Nothing => Vec::new(),
        Touched::These(ids) => ids.into_iter().cloned().collect(),
        Touched::TheseAndAll(ids) => ids.into_iter().chain(before.cases.keys()).cloned().collect(),
        Touched::WorkOf(agent) => {
            let work = before.agents.get(agent).and_then(|agent| agent.work.as_ref());
            work.map(|work| work.task.clone()).into_iter().collect()
        }
        Touched::Active => {
            let active = before.cases.values().filter(|case| case.status == Status::Active);
            active.map(|case| case.id.clone()).collect()
        }
    }
}

/// Whether an event may change any case: [`touched_cases`] without the ids.
pub fn changes_cases(event: &Event) -> bool {
    match touched(event) {
        Touched::Nothing => false,
        Touched::These(ids) => !ids.is_empty(),
        Touched::TheseAndAll(_) | Touched::WorkOf(_) | Touched::Active => true,
    }
}
