//! Which version of the log's format an event or a state needs: the oldest whose readers understand all that is in it. An older
//! program would ignore a field that it does not know, and call a line damaged that has a word that it does not know.

use super::event::Event;
use super::whole::{Restorable, State};
use crate::domain::operation::journaled::Operation;
use crate::domain::work::gate::{Gate, Held};

/// The version of the log's format that this program writes, and the newest that it reads.
pub const LOG_VERSION: u32 = 2;

/// The version that every program can read.
const FIRST_VERSION: u32 = 1;

const fn newest_where(is_newer: bool) -> u32 {
    if is_newer { LOG_VERSION } else { FIRST_VERSION }
}

impl Event {
    /// The oldest version of the log whose readers understand the event.
    pub fn version(&self) -> u32 {
        newest_where(if let Self::Delayed { .. } = self {
            true
        } else if let Self::GateOpened { gate } = self {
            of_gate(gate)
        } else if let Self::WorkReleased { gate, .. } = self {
            gate.as_deref().is_some_and(of_gate)
        } else if let Self::OperationBegan { operation } = self {
            of_operation(operation)
        } else if let Self::OperationEnded { changes, restored, .. } = self {
            changes.is_some() || restored.as_deref().is_some_and(needs_newest)
        } else if let Self::StateAdopted { state, .. } = self {
            of_state(state)
        } else {
            false
        })
    }
}

impl State {
    /// The oldest version of the log whose readers understand the state.
    pub fn version(&self) -> u32 {
        newest_where(of_state(self))
    }
}

fn of_state(state: &State) -> bool {
    let record = &state.record;
    needs_newest(&state.restorable)
        || !record.delays.is_empty()
        || record.cases.values().any(|case| case.answer.is_some())
        || record.open.as_ref().is_some_and(|open| of_operation(&open.operation))
}

fn of_operation(operation: &Operation) -> bool {
    // The first version does not find files in the trash by the names that they have now.
    let moves_files = !(operation.worktrees.is_empty() && operation.advances.is_empty() && operation.workspaces.is_empty());
    moves_files
        || operation.changes.is_some()
        || operation.restored.as_deref().is_some_and(needs_newest)
        || operation.gates.iter().any(|change| of_gate(&change.gate))
}

/// Whether the first version does not understand this state.
fn needs_newest(restorable: &Restorable) -> bool {
    restorable.gates.values().any(of_gate)
}

fn of_gate(gate: &Gate) -> bool {
    gate.held.is_some_and(|held| match held {
        Held::Stopped | Held::Killed | Held::Redirected | Held::RolledBack | Held::Broken => false,
        Held::Failed => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::base::ids::{AgentId, CaseId};
    use crate::domain::operation::journaled::{GateChange, OperationKind, Way};
    use crate::domain::state::event::OperationEnd;
    use crate::domain::state::whole::OpenOperation;
    use crate::domain::work::case::Status;

    /// What version 1 knew; fixed for ever.
    const FIRST_KNEW: [&str; 5] = ["stopped", "killed", "redirected", "rolledBack", "broken"];

    fn adopted(state: State) -> Event {
        Event::StateAdopted { source: String::new(), state: Box::new(state) }
    }

    /// Every event and state that can hold a gate.
    fn versions_with(gate: &Gate) -> Vec<u32> {
        let task = CaseId::new("t").unwrap();
        let gates = [(gate.id.clone(), gate.clone())].into();
        let restorable = Restorable { gates, ..Restorable::default() };
        let kind = OperationKind::Merge { task };
        let of = |restored, gates| Operation { restored, gates, ..Operation::new(kind.clone(), String::new()) };
        let operations = [
            of(Some(Box::new(restorable.clone())), Vec::new()),
            of(None, vec![GateChange { gate: gate.clone(), way: Way::PutAside }]),
        ];
        let state = State { restorable: restorable.clone(), ..State::default() };
        let mut open = State::default();
        let txn = crate::domain::base::ids::TxnId::new("x").unwrap();
        open.record.open = Some(OpenOperation { txn, operation: operations[0].clone(), reversing: false });
        let mut versions = vec![state.version(), open.version()];
        let ended = Event::OperationEnded {
            end: OperationEnd::Done,
            edits: Vec::new(),
            restored: Some(Box::new(restorable)),
            changes: None,
            mode: None,
            moved: Vec::new(),
        };
        let released = Event::WorkReleased {
            agent: AgentId::new("a-001").unwrap(),
            status: Status::Pending,
            reason: String::new(),
            retry: false,
            complete: None,
            gate: Some(Box::new(gate.clone())),
        };
        let opened = Event::GateOpened { gate: Box::new(gate.clone()) };
        let events = [ended, released, opened, adopted(state), adopted(open)];
        versions.extend(events.iter().map(Event::version));
        versions.extend(operations.map(|operation| Event::OperationBegan { operation: Box::new(operation) }.version()));
        versions
    }

    #[test]
    fn a_word_that_version_1_did_not_know_is_in_no_line_of_version_1() {
        for held in Held::ALL {
            let word = serde_json::to_value(held).unwrap();
            let version = if FIRST_KNEW.contains(&word.as_str().unwrap()) { FIRST_VERSION } else { LOG_VERSION };
            let gate = Gate::holding(&CaseId::new("t").unwrap(), held, jiff::Timestamp::UNIX_EPOCH).unwrap();
            let versions = versions_with(&gate);
            assert!(versions.iter().all(|found| *found == version), "{held:?}: {versions:?}");
        }
    }

    #[test]
    fn an_operation_that_moves_files_needs_the_newest_version() {
        use crate::domain::base::names::{Oid, RefName};
        use crate::domain::base::text::Change;
        use crate::domain::operation::journaled::BranchAdvance;
        let mut operation = Operation::new(OperationKind::Merge { task: CaseId::new("t").unwrap() }, "x");
        let began = |operation: &Operation| Event::OperationBegan { operation: Box::new(operation.clone()) }.version();
        assert_eq!(began(&operation), FIRST_VERSION);
        let commit = Change::new(Oid::new("1".repeat(40)).unwrap(), Oid::new("2".repeat(40)).unwrap());
        operation.advances.push(BranchAdvance { path: "/r".into(), branch: RefName::branch("b"), commit });
        assert_eq!(began(&operation), LOG_VERSION);
    }

    #[test]
    fn a_state_with_a_delay_needs_the_newest_version() {
        use crate::domain::work::delay::Delay;
        use crate::domain::work::failures::Step;
        let mut state = State::default();
        assert_eq!((state.version(), adopted(state.clone()).version()), (FIRST_VERSION, FIRST_VERSION));
        let (code, why, failed_at) = ("DISK_FULL".to_owned(), String::new(), jiff::Timestamp::UNIX_EPOCH);
        let delay = Delay { step: Step::Claim, code, why, tried: 0, failed_at };
        state.record.delays.insert(CaseId::new("t").unwrap(), delay);
        assert_eq!((state.version(), adopted(state.clone()).version()), (LOG_VERSION, LOG_VERSION));
    }

    #[test]
    fn a_state_with_an_answer_that_waits_needs_the_newest_version() {
        let mut state = State::default();
        let answer = Some(crate::domain::work::answer::Answer { question: "which?".to_owned(), text: "that".to_owned() });
        let record = crate::domain::state::whole::CaseRecord { answer, ..Default::default() };
        state.record.cases.insert(CaseId::new("t").unwrap(), record);
        assert_eq!((state.version(), adopted(state.clone()).version()), (LOG_VERSION, LOG_VERSION));
    }
}
