//! Recording what the supervisor decides. What depends on the state is decided under the lock of the log, on the newest state:
//! a human, too, changes tasks and gates, and where one was first, nothing is recorded and the next pass looks again.

use super::notice::{SessionNotice, SessionWatcher};
use axiom_base::error::Result;
use axiom_model::base::ids::{OperationId, TaskId};
use axiom_model::base::text::ValueChange;
use axiom_model::state::current_state::State;
use axiom_model::state::event::{Event, EventAuthor};
use axiom_model::work::tasks::task::{TaskChangeSet, TaskFieldChange, TaskStatus};
use axiom_safety::context::handle::Context;

/// What all parts of a session share: the log that they record in, who acts, and who is told.
pub(super) struct SessionDesk<'a> {
    pub(super) ctx: &'a mut Context,
    pub(super) watcher: &'a mut dyn SessionWatcher,
    /// Who does what is done here.
    pub(super) by: EventAuthor,
    /// The transaction of a verb, where all that is done is a part of it.
    pub(super) within: Option<OperationId>,
}

impl SessionDesk<'_> {
    /// What follows is done by whoever runs this: the supervisor of a session, or who attends to its agents afterwards. It is a transaction
    /// of its own, or a part of the one of the verb.
    pub(super) fn act(&mut self) -> Result<()> {
        self.ctx.act_as(self.by.clone())?;
        if let Some(txn) = &self.within {
            self.ctx.join(txn.clone());
        }
        Ok(())
    }

    /// By whom something on the way is recorded as a transaction of its own; `None` where it is a part of the one of the verb.
    pub(super) fn apart(&self) -> Option<EventAuthor> {
        self.within.is_none().then(|| self.by.clone())
    }

    /// Appends one event, in a transaction of its own.
    pub(super) fn step(&mut self, event: Event) -> Result<()> {
        self.act()?;
        self.ctx.append(event).map(|_| ())
    }

    /// Appends several events in one transaction.
    pub(super) fn steps(&mut self, events: Vec<Event>) -> Result<()> {
        if events.is_empty() {
            return Ok(());
        }
        self.act()?;
        self.ctx.append_with(|_| Ok(events)).map(drop)
    }

    /// Appends the event that `decide` returns for the newest state, in a transaction of its own; returns whether there was one.
    pub(super) fn step_if(&mut self, decide: impl FnOnce(&State) -> Option<Event>) -> Result<bool> {
        self.act()?;
        Ok(!self.ctx.append_with(|state| Ok(decide(state).into_iter().collect()))?.is_empty())
    }

    /// Blocks a task that no agent works on, if it still has this status.
    pub(super) fn block(&mut self, task: &TaskId, from: TaskStatus, reason: &str) -> Result<()> {
        self.step_if(|state| {
            let case = state.restorable.tasks.get(task).filter(|case| case.status == from && case.merged.is_none())?;
            let changes = vec![
                TaskFieldChange::Status(ValueChange::new(from, TaskStatus::Blocked)),
                TaskFieldChange::Reason(ValueChange::new(case.reason.clone(), Some(reason.to_owned()))),
            ];
            Some(Event::TasksChanged { edits: vec![TaskChangeSet { id: task.clone(), changes }] })
        })
        .map(drop)
    }

    pub(super) fn tell(&mut self, notice: SessionNotice) {
        self.watcher.notice(notice);
    }

    pub(super) fn warn(&mut self, text: impl Into<String>) {
        self.watcher.notice(SessionNotice::Warning { text: text.into() });
    }
}
