//! What the end of an operation does to the state. Pure.

use super::journaled::Operation;
use crate::domain::base::text::Change;
use crate::domain::state::changes::RestorableChanges;
use crate::domain::state::whole::{Restorable, State};
use crate::domain::work::case::{Case, CaseChange, CaseEdit, Status};
use crate::domain::work::gate::Gate;
use crate::domain::work::session::Mode;

/// What the end of an operation does to the state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settled {
    /// Fields of cases that change.
    pub edits: Vec<CaseEdit>,
    /// The restorable state that replaces the current one, in logs of older versions.
    pub restored: Option<Box<Restorable>>,
    /// What changes in the restorable state.
    pub changes: Option<Box<RestorableChanges>>,
    /// The change of the mode.
    pub mode: Option<Change<Mode>>,
}

impl Operation {
    /// What the end of the operation does to the current state. A field that was changed since the operation began keeps
    /// that change. A rollback archives the cases that were added after its checkpoint, and forgets none.
    pub fn settle(&self, now: &State) -> Settled {
        if let Some(mut then) = self.restores(&now.restorable) {
            keep_held(&mut then, &now.restorable);
            let changes = RestorableChanges::between(&now.restorable, &archived_since(then, &now.restorable));
            return Settled { changes: Some(Box::new(changes)), ..Settled::default() };
        }
        let fits = |edit: &CaseEdit| now.restorable.cases.get(&edit.id).is_some_and(|case| edit_fits(edit, case));
        let mode = self.mode.filter(|mode| mode.old == now.restorable.mode);
        Settled { edits: self.edits.iter().filter(|edit| fits(edit)).cloned().collect(), restored: None, changes: None, mode }
    }

    /// The restorable state that it restores, where it does.
    pub fn restores(&self, now: &Restorable) -> Option<Restorable> {
        let changed = |changes: &RestorableChanges| {
            let mut then = now.clone();
            changes.apply(&mut then);
            then
        };
        self.changes.as_deref().map(changed).or_else(|| self.restored.as_deref().cloned())
    }
}

/// A restored state with the cases that were added since: they are archived, never forgotten.
pub fn archived_since(mut then: Restorable, now: &Restorable) -> Restorable {
    for (id, case) in &now.cases {
        then.cases.entry(id.clone()).or_insert_with(|| Case { status: Status::Archived, ..case.clone() });
    }
    then
}

/// Whether all changes of an edit find the values they expect, and none changes a status from or to active.
pub fn edit_fits(edit: &CaseEdit, case: &Case) -> bool {
    let mut case = case.clone();
    let active = |change: &CaseChange| match change {
        CaseChange::Status(status) => status.old == Status::Active || status.new == Status::Active,
        CaseChange::Title(_)
        | CaseChange::Body(_)
        | CaseChange::Parent(_)
        | CaseChange::After(_)
        | CaseChange::Persona(_)
        | CaseChange::Verify(_)
        | CaseChange::Merged(_)
        | CaseChange::Reason(_) => false,
    };
    edit.changes.iter().all(|change| !active(change) && change.apply(&mut case))
}

/// A rollback does not override what a human decided about a task: the gates that hold tasks stay as they are now, whatever
/// the checkpoint has. The gates that the operation itself opens and closes are not handled here.
fn keep_held(restored: &mut Restorable, now: &Restorable) {
    restored.gates.retain(|_, gate| gate.held.is_none());
    let pending = |gate: &&Gate| {
        let case = gate.task_id.as_ref().and_then(|task| restored.cases.get(task));
        gate.held.is_some() && case.is_some_and(|case| case.status == Status::Pending)
    };
    let held: Vec<Gate> = now.gates.values().filter(pending).cloned().collect();
    restored.gates.extend(held.into_iter().map(|gate| (gate.id.clone(), gate)));
}
