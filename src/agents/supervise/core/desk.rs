//! Recording what the supervisor decides. What depends on the state is decided under the lock of the log, on the newest state:
//! a human, too, changes tasks and gates, and where one was first, nothing is recorded and the next pass looks again.

use crate::supervise::shown::notice::{SessionNotice, SessionWatcher};
use axiom_base::error::Result;
use axiom_model::base::ids::{AgentId, OperationId, TaskId};
use axiom_model::base::text::ValueChange;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::work::agent::AgentWork;
use axiom_model::work::sessions::session::SessionState;
use axiom_model::work::tasks::task::{TaskChangeSet, TaskFieldChange, TaskStatus};
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::{CheckpointRequest, live};
use axiom_safety::context::handle::Context;
use axiom_safety::running::steps::cut_off;
use axiom_safety::upkeep::mend::locks;
use axiom_store::log_files::reserve;

/// What all parts of a session share: the log that they record in, who acts, and who is told.
pub(crate) struct SessionDesk<'a> {
    pub(crate) ctx: &'a mut Context,
    pub(crate) watcher: &'a mut dyn SessionWatcher,
    /// Who does what is done here.
    pub(crate) by: EventAuthor,
    /// The transaction of a verb, where all that is done is a part of it.
    pub(crate) within: Option<OperationId>,
}

impl SessionDesk<'_> {
    /// What follows is done by whoever runs this: the supervisor of a session, or who attends to its agents afterwards. It is a transaction
    /// of its own, or a part of the one of the verb.
    pub(crate) fn act(&mut self) -> Result<()> {
        self.ctx.act_as(self.by.clone())?;
        if let Some(txn) = &self.within {
            self.ctx.join(txn.clone());
        }
        Ok(())
    }

    /// By whom something on the way is recorded as a transaction of its own; `None` where it is a part of the one of the verb.
    pub(crate) fn apart(&self) -> Option<EventAuthor> {
        self.within.is_none().then(|| self.by.clone())
    }

    /// Appends one event, in a transaction of its own.
    pub(crate) fn step(&mut self, event: Event) -> Result<()> {
        self.act()?;
        self.ctx.append(event).map(|_| ())
    }

    /// Appends several events in one transaction.
    pub(crate) fn steps(&mut self, events: Vec<Event>) -> Result<()> {
        if events.is_empty() {
            return Ok(());
        }
        self.act()?;
        self.ctx.append_with(|_| Ok(events)).map(drop)
    }

    /// Appends the event that `decide` returns for the newest state, in a transaction of its own; returns whether there was one.
    pub(crate) fn step_if(&mut self, decide: impl FnOnce(&State) -> Option<Event>) -> Result<bool> {
        self.act()?;
        Ok(!self.ctx.append_with(|state| Ok(decide(state).into_iter().collect()))?.is_empty())
    }

    /// Blocks a task that no agent works on, if it still has this status.
    pub(crate) fn block(&mut self, task: &TaskId, from: TaskStatus, reason: &str) -> Result<()> {
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

    pub(crate) fn tell(&mut self, notice: SessionNotice) {
        self.watcher.notice(notice);
    }

    pub(crate) fn warn(&mut self, text: impl Into<String>) {
        self.watcher.notice(SessionNotice::Warning { text: text.into() });
    }

    pub(crate) fn session_state(&self) -> SessionState {
        self.ctx.state().record.session.as_ref().map_or(SessionState::Ended, |session| session.state)
    }

    pub(crate) fn change_session(&mut self, state: SessionState, reason: &str) -> Result<()> {
        self.step(Event::SessionChanged { state, reason: reason.to_owned() })
    }

    pub(crate) fn work_of(&self, agent: &AgentId) -> Option<&AgentWork> {
        self.ctx.state().restorable.agents.get(agent)?.work.as_ref()
    }

    /// Makes an automatic checkpoint.
    pub(crate) fn make_checkpoint(&mut self, trigger: CheckpointTrigger) -> Result<()> {
        self.act()?;
        let made = self.ctx.patiently(|ctx| checkpoint::create(ctx, &CheckpointRequest::by(trigger)))?;
        self.tell(SessionNotice::Checkpoint { name: made.name });
        Ok(())
    }

    /// Sets space aside for the last events of a full disk. Work does not depend on it.
    pub(crate) fn keep_reserve(&mut self) {
        if let Err(error) = reserve::keep(self.ctx.layout()) {
            tracing::warn!(%error, "no space is set aside");
        }
    }

    /// Captures the workspace before its changes are discarded, to `refs/axiom/live/<task>`. A failed capture does not
    /// prevent the end of the agent.
    pub(crate) fn capture_first(&mut self, task: &TaskId) {
        let apart = self.apart();
        if let Err(error) = self.ctx.patiently(|ctx| live::capture(ctx, task, apart.clone())) {
            self.warn(format!("the workspace of {task} could not be captured first: {error}"));
        }
    }

    /// Counts what personas used whose looks at this task, or at any, were cut off.
    pub(crate) fn count_cut_off(&mut self, task: Option<&TaskId>) -> Result<()> {
        for look in cut_off::find(self.ctx, task)? {
            look.event.clone().map_or(Ok(()), |event| self.step(event))?;
            look.recorded();
        }
        Ok(())
    }

    /// Removes lock files whose owners are dead. What cannot be done now is tried with the next look.
    pub(crate) fn clear_dead_locks(&mut self) {
        match locks::clear_dead_locks(self.ctx) {
            Ok(report) => report.done.into_iter().for_each(|what| self.tell(SessionNotice::Recovered { what })),
            Err(error) => tracing::info!(%error, "dead locks could not be looked for"),
        }
    }
}
