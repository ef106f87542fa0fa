//! Which cases an event changes: what `cases.jsonl` gets a new word on, and what a transaction is shown to have done.

use super::event::Event;
use super::ids::CaseId;
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
