//! Whether a transaction can be undone now, for lists: from the log, from later changes, and from missing objects.
//!
//! Most transactions are ruled out with data in memory: a task that was worked on, a branch that moved. Only for the others
//! the worktrees are captured, once, as for a dry run of the undo.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use super::{UndoTarget, holds, needs, operation};
use crate::checkpoint;
use crate::checkpoint::CheckpointCaptures;
use crate::context::handle::Context;
use crate::operation::{check, stop_agents};
use axiom_base::error::Result;
use axiom_model::base::ids::OperationId;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::operation::operation_record::{JournaledChanges, OperationRecord};
use axiom_model::operation::undo;
use axiom_model::work::tasks::branch_names::task_of;

/// Whether each transaction of the log can be undone.
pub struct UndoabilityCheck<'a> {
    ctx: &'a Context,
    lost: BTreeMap<&'a OperationId, String>,
    refs: RefCell<BTreeMap<RefName, Option<Oid>>>,
    worktrees: OnceCell<std::result::Result<CheckpointCaptures, String>>,
}

impl<'a> UndoabilityCheck<'a> {
    /// Takes all transactions of the log.
    pub fn new(ctx: &'a Context, all: &'a [OperationRecord]) -> Result<Self> {
        let lost = needs::lost_needs(ctx, all.iter())?.into_iter().collect();
        Ok(Self { ctx, lost, refs: RefCell::default(), worktrees: OnceCell::new() })
    }

    /// Why the transaction cannot be undone; `None` where it can.
    pub fn obstacle(&self, transaction: &OperationRecord) -> Option<String> {
        let known = transaction.obstacle().or_else(|| self.lost_need(transaction));
        known.map(str::to_owned).or_else(|| self.refused(transaction).err().map(|error| error.to_string()))
    }

    /// The missing objects that an undo needs, in words, where the log itself says that it can be undone.
    pub fn lost_need(&self, transaction: &OperationRecord) -> Option<&str> {
        self.lost.get(&transaction.id).map(String::as_str)
    }

    fn refused(&self, transaction: &OperationRecord) -> Result<()> {
        self.ctx.no_open_operation()?;
        let state = self.ctx.state();
        undo::state_back(transaction, state, &|task, merged| holds(self.ctx, task, merged))?;
        if !transaction.moves() {
            return Ok(());
        }
        self.refs_stand(&transaction.changes)?;
        let in_worktrees = !(transaction.changes.worktrees.is_empty() && transaction.changes.workspaces.is_empty());
        let captured = if in_worktrees { Some(self.worktrees()?) } else { None };
        let (transaction, what) = (transaction.clone(), transaction.what.clone());
        let chosen = UndoTarget { transaction, what, redo: false, as_of: state.seq };
        let (operation, _) = operation(self.ctx, &chosen, captured)?;
        check(self.ctx, &operation)?;
        if super::stops_agents(&chosen.transaction) {
            super::nothing_is_committed_by_a_stop(self.ctx, &operation, captured, &stop_agents::at_work(self.ctx)?)?;
        }
        Ok(())
    }

    /// Checks that the refs are where the transaction left them. Each ref is read only once for all transactions.
    fn refs_stand(&self, changes: &JournaledChanges) -> Result<()> {
        let advanced = changes.advances.iter().map(|change| (&change.branch, Some(&change.commit.new)));
        let moved = changes.refs.iter().map(|change| (&change.name, change.value.new.as_ref()));
        for (name, expected) in advanced.chain(moved) {
            let known = self.refs.borrow().get(name).cloned();
            let now = match known {
                Some(now) => now,
                None => {
                    let now = self.ctx.repo.refs().read_ref(name)?;
                    self.refs.borrow_mut().insert(name.clone(), now.clone());
                    now
                }
            };
            // A branch of a task may be where the undo brings it already.
            let is_back = || changes.refs.iter().any(|one| one.name == *name && one.value.old == now && task_of(name).is_some());
            if now.as_ref() != expected && !is_back() {
                return Err(super::changed(&[format!("{} moved", name.short())]));
            }
        }
        Ok(())
    }

    fn worktrees(&self) -> Result<&CheckpointCaptures> {
        let captured = self.worktrees.get_or_init(|| checkpoint::capture_all(self.ctx).map_err(|error| error.to_string()));
        captured.as_ref().map_err(|why| super::changed(std::slice::from_ref(why)))
    }
}
