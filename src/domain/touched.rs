//! Which cases an event changes: what `cases.jsonl` gets a new word on, and what a transaction is shown to have done.

use super::case::Status;
use super::event::Event;
use super::ids::CaseId;
use super::place::How;
use super::state::State;

/// The cases that an event may change, some of them perhaps to what they were. `state` is the one before it.
pub fn touched_cases(state: &State, event: &Event) -> Vec<CaseId> {
    match event {
        Event::CasesAdded { cases } => cases.iter().map(|case| case.id.clone()).collect(),
        Event::CasesChanged { edits } => edits.iter().map(|edit| edit.id.clone()).collect(),
        Event::TaskClaimed { task, .. } => vec![task.clone()],
        Event::WorkReleased { agent, .. } => {
            let work = state.restorable.agents.get(agent).and_then(|agent| agent.work.as_ref());
            work.map(|work| work.task.clone()).into_iter().collect()
        }
        Event::OperationEnded { edits, restored, .. } => {
            let edited = edits.iter().map(|edit| edit.id.clone());
            match restored {
                Some(restored) => restored.cases.keys().chain(state.restorable.cases.keys()).cloned().chain(edited).collect(),
                None => edited.collect(),
            }
        }
        Event::StateAdopted { state: new, .. } => {
            new.restorable.cases.keys().chain(state.restorable.cases.keys()).cloned().collect()
        }
        Event::RepositoryPlaced { placing } => {
            let active = state.restorable.cases.values().filter(|case| case.status == Status::Active);
            let at_rest = placing.how == How::Copied;
            active.filter(|_| at_rest).map(|case| case.id.clone()).collect()
        }
        Event::Audited { .. }
        | Event::SessionStarted { .. }
        | Event::SessionChanged { .. }
        | Event::ModeChanged { .. }
        | Event::Requested { .. }
        | Event::RequestHandled { .. }
        | Event::WorkspaceOpened { .. }
        | Event::WorkspaceClosed { .. }
        | Event::IterationIntended { .. }
        | Event::IterationStarted { .. }
        | Event::Signalled { .. }
        | Event::IterationEnded { .. }
        | Event::VerificationFailed { .. }
        | Event::GateOpened { .. }
        | Event::GateDecided { .. }
        | Event::GateClosed { .. }
        | Event::CheckpointIntended { .. }
        | Event::CheckpointCreated { .. }
        | Event::CheckpointAbandoned { .. }
        | Event::CheckpointsDeleted { .. }
        | Event::OperationBegan { .. }
        | Event::OperationReversed { .. }
        | Event::LogRepaired { .. } => Vec::new(),
    }
}

/// Whether an event may change a case at all: [`touched_cases`] without the names.
pub fn changes_cases(event: &Event) -> bool {
    match event {
        Event::CasesAdded { cases } => !cases.is_empty(),
        Event::CasesChanged { edits } => !edits.is_empty(),
        Event::OperationEnded { edits, restored, .. } => restored.is_some() || !edits.is_empty(),
        Event::TaskClaimed { .. } | Event::WorkReleased { .. } | Event::StateAdopted { .. } => true,
        Event::RepositoryPlaced { placing } => placing.how == How::Copied,
        Event::Audited { .. }
        | Event::SessionStarted { .. }
        | Event::SessionChanged { .. }
        | Event::ModeChanged { .. }
        | Event::Requested { .. }
        | Event::RequestHandled { .. }
        | Event::WorkspaceOpened { .. }
        | Event::WorkspaceClosed { .. }
        | Event::IterationIntended { .. }
        | Event::IterationStarted { .. }
        | Event::Signalled { .. }
        | Event::IterationEnded { .. }
        | Event::VerificationFailed { .. }
        | Event::GateOpened { .. }
        | Event::GateDecided { .. }
        | Event::GateClosed { .. }
        | Event::CheckpointIntended { .. }
        | Event::CheckpointCreated { .. }
        | Event::CheckpointAbandoned { .. }
        | Event::CheckpointsDeleted { .. }
        | Event::OperationBegan { .. }
        | Event::OperationReversed { .. }
        | Event::LogRepaired { .. } => false,
    }
}
