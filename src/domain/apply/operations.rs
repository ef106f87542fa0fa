//! What events do to checkpoints and to the open operation.

use super::{Result, refuse};
use crate::domain::case::CaseEdit;
use crate::domain::checkpoint::{CheckpointRecord, Trigger};
use crate::domain::event::OperationEnd;
use crate::domain::ids::{CheckpointName, TxnId};
use crate::domain::operation::{Operation, Way, WorkspaceChange};
use crate::domain::state::{OpenOperation, Restorable, State};
use crate::error::Code;

impl State {
    pub(super) fn intend_checkpoint(&mut self, name: &CheckpointName) -> Result<()> {
        if self.is_taken(name.as_str()) {
            return refuse(Code::DuplicateId, format!("the name '{name}' is taken"));
        }
        self.record.checkpoint_intent = Some(name.clone());
        Ok(())
    }

    pub(super) fn create_checkpoint(&mut self, checkpoint: &CheckpointRecord) -> Result<()> {
        self.record.checkpoint_intent = None;
        if checkpoint.trigger == Trigger::SessionStart
            && let Some(session) = &mut self.record.session
            && session.start_checkpoint.is_none()
        {
            session.start_checkpoint = Some(checkpoint.name.clone());
        }
        self.record.last_action = Some(format!("checkpoint {}", checkpoint.name));
        self.record.checkpoints.insert(checkpoint.name.clone(), checkpoint.clone());
        Ok(())
    }

    pub(super) fn begin_operation(&mut self, txn: &TxnId, operation: &Operation) -> Result<()> {
        if let Some(open) = &self.record.open {
            return refuse(Code::OperationOpen, format!("'{}' was interrupted", open.operation.title));
        }
        self.record.open = Some(OpenOperation { txn: txn.clone(), operation: operation.clone(), reversing: false });
        Ok(())
    }

    pub(super) fn reverse_operation(&mut self) -> Result<()> {
        match &mut self.record.open {
            Some(open) => {
                open.reversing = true;
                Ok(())
            }
            None => refuse(Code::InvalidTransition, "no operation is open"),
        }
    }

    pub(super) fn end_operation(&mut self, end: OperationEnd, edits: &[CaseEdit], restored: Option<&Restorable>) -> Result<()> {
        let Some(open) = &self.record.open else {
            return refuse(Code::InvalidTransition, "no operation is open");
        };
        let title = open.operation.title.clone();
        let workspaces = open.operation.workspaces.clone();
        if end == OperationEnd::Done {
            self.change_cases(edits)?;
            match restored {
                Some(restored) => self.restorable = restored.clone(),
                None => self.move_workspaces(workspaces),
            }
            self.record.last_action = Some(title);
        }
        self.record.open = None;
        Ok(())
    }

    fn move_workspaces(&mut self, changes: Vec<WorkspaceChange>) {
        for change in changes {
            match change.way {
                Way::PutAside => drop(self.restorable.workspaces.remove(&change.task)),
                Way::BringBack => drop(self.restorable.workspaces.insert(change.task, change.workspace)),
            }
        }
    }
}
