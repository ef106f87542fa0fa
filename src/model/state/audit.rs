//! Events in words: one line for `log`, and the history of one task.

mod texts;

use jiff::Timestamp;

use super::attempt;
use super::attempt::AttemptRecord;
use super::current_state::State;
use super::event::Event;
use super::event_envelope::{EventAuthor, EventEnvelope};
use crate::base::ids::{AgentId, GateId, OperationId, TaskId};
use crate::journal::journaled::OperationEnd;
use crate::work::gates::gate::Gate;
use crate::work::signals::reports::TaskReports;
use crate::work::tasks::branch_names::task_of;
use crate::work::tasks::task::TaskFieldChange;
use axiom_base::error::Result;
pub(crate) use texts::session_text;
pub use texts::{change_text, describe, signal_text, with_further};

/// One line of a task's history.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEntry {
    /// The event's number.
    pub seq: u64,
    /// When it happened.
    pub at: Timestamp,
    /// Who did it.
    pub by: EventAuthor,
    /// Its transaction.
    pub txn: OperationId,
    /// The event's name, as in JSON.
    pub event: &'static str,
    /// What happened, in words.
    pub text: String,
    /// What an attempt at the task did.
    pub attempt: Option<AttemptRecord>,
}

/// The history of one task, event by event; see [`AuditTrail::push`].
#[derive(Debug)]
pub struct AuditTrail {
    id: TaskId,
    state: State,
    entries: Vec<AuditEntry>,
}

/// What an operation may change of a task beside its fields.
#[derive(Debug, PartialEq)]
struct TaskStandingNow {
    /// Whether the operation that is open changes files of its workspace.
    is_in_operation: bool,
    reports: Option<TaskReports>,
    gates: Vec<Gate>,
}

impl AuditTrail {
    /// Begins the history of a task.
    pub fn of(id: TaskId) -> Self {
        Self { id, state: State::default(), entries: Vec::new() }
    }

    /// As [`AuditTrail::of`], where the events up to this state are not passed.
    pub fn after(id: TaskId, state: State) -> Self {
        Self { id, state, entries: Vec::new() }
    }

    /// Adds the next event. The caller passes all events, from the first on.
    pub fn push(&mut self, envelope: &EventEnvelope) -> Result<()> {
        let old = self.state.restorable.tasks.get(&self.id).cloned();
        let concerned = self.concerns(&envelope.event);
        // An operation may bring back what was reported of the task, or its files, and change none of its fields.
        let ends = matches!(envelope.event, Event::OperationEnded { end: OperationEnd::Done, .. });
        let standing = ends.then(|| self.standing());
        // Most gates are opened by an event of their own, some follow from another one.
        let follows = matches!(envelope.event, Event::OperationEnded { .. } | Event::Purged(_) | Event::StateAdopted { .. });
        let says_it = matches!(envelope.event, Event::GateOpened { .. } | Event::WorkReleased { .. });
        let may_open = (concerned || follows) && !says_it;
        let known: Option<Vec<GateId>> = may_open.then(|| self.gates().map(|gate| gate.id.clone()).collect());
        self.state.apply(envelope)?;
        let opened = known.iter().flat_map(|known| self.gates().filter(|gate| !known.contains(&gate.id)));
        let opened: String = opened.map(|gate| format!("; gate {}: {}", gate.id, gate.reason)).collect();
        let concerned =
            concerned || !opened.is_empty() || standing.is_some_and(|before| before.is_in_operation || before != self.standing());
        let new = self.state.restorable.tasks.get(&self.id);
        let edits = match (&old, new) {
            (Some(old), Some(new)) => TaskFieldChange::between(old, new),
            (None, Some(_)) | (Some(_), None) | (None, None) => Vec::new(),
        };
        let appeared = old.is_none() && new.is_some();
        if concerned || appeared || !edits.is_empty() {
            let (_, what) = describe(&envelope.event, &self.state);
            // The text of a release has its reason already.
            let said = |edit: &TaskFieldChange| {
                let released = if let Event::WorkReleased { reason, .. } = &envelope.event { Some(reason) } else { None };
                released.is_some() && matches!(edit, TaskFieldChange::Reason(change) if change.new.as_ref() == released)
            };
            let changes: Vec<String> = edits.iter().filter(|edit| !said(edit)).map(change_text).collect();
            let is_changed = matches!(envelope.event, Event::TasksChanged { .. });
            let text = match (new.filter(|_| appeared), changes.is_empty()) {
                (Some(task), _) => format!("added: {}", task.title),
                (None, true) => what,
                // Its commit would be that of another.
                (None, false) if is_changed && edits.iter().any(|edit| edit.merges().is_some()) => what,
                (None, false) if is_changed => changes.join("; "),
                (None, false) => format!("{what}: {}", changes.join("; ")),
            } + &opened;
            let EventEnvelope { seq, at: _, txn, by, event } = envelope;
            let (by, txn, at) = (by.clone(), txn.clone(), envelope.happened_at());
            self.entries.push(AuditEntry { seq: *seq, at, by, txn, event: event.name(), text, attempt: attempt::of(event) });
        }
        Ok(())
    }

    /// The history, oldest first.
    pub fn finish(self) -> Vec<AuditEntry> {
        self.entries
    }

    fn standing(&self) -> TaskStandingNow {
        let (open, restorable) = (self.state.record.open.as_ref(), &self.state.restorable);
        let workspace = restorable.workspaces.get(&self.id);
        let changes = |place: &str| open.is_some_and(|open| open.operation.worktrees.iter().any(|change| change.path == place));
        let moves = open.is_some_and(|open| open.operation.workspaces.iter().any(|change| change.task == self.id));
        TaskStandingNow {
            is_in_operation: workspace.is_some_and(|workspace| changes(&workspace.path)) || moves,
            reports: restorable.reports_of(&self.id).cloned(),
            gates: self.gates().cloned().collect(),
        }
    }

    fn gates(&self) -> impl Iterator<Item = &Gate> {
        self.state.restorable.gates.values().filter(|gate| gate.task_id.as_ref() == Some(&self.id))
    }

    fn works_on_it(&self, agent: &AgentId) -> bool {
        let work = self.state.restorable.agents.get(agent).and_then(|agent| agent.work.as_ref());
        work.is_some_and(|work| work.task == self.id)
    }

    /// Whether an event is about the task, even where it changes none of its fields.
    fn concerns(&self, event: &Event) -> bool {
        match event {
            Event::Audited { id, .. }
            | Event::MergeVerified { id, .. }
            | Event::LookCutOff { id, .. }
            | Event::StepVerified { id, .. }
            | Event::ConflictGivenBack { id, .. }
            | Event::Delayed { id, .. } => *id == self.id,
            Event::HookRan { run } => run.task.as_ref() == Some(&self.id),
            Event::WorkspaceOpened { task, .. } | Event::WorkspaceClosed { task, .. } | Event::TaskClaimed { task, .. } => {
                *task == self.id
            }
            Event::WorkspaceCaptured { task, .. } => *task == self.id,
            Event::IterationIntended { agent, .. } | Event::IterationStarted { agent, .. } => self.works_on_it(agent),
            Event::Signalled { agent, .. } | Event::IterationEnded { agent, .. } => self.works_on_it(agent),
            Event::WorkReleased { agent, .. }
            | Event::VerificationFailed { agent, .. }
            | Event::RecoveryDecided { agent, .. } => self.works_on_it(agent),
            Event::GateOpened { gate } => gate.task_id.as_ref() == Some(&self.id),
            Event::GateDecided { id, .. } | Event::GateClosed { id, .. } => {
                self.state.restorable.gates.get(id).is_some_and(|gate| gate.task_id.as_ref() == Some(&self.id))
            }
            Event::MergedBranchesLeave { refs } => refs.iter().any(|change| task_of(&change.name).as_ref() == Some(&self.id)),
            Event::MergedBranchesLeft { .. }
            | Event::TasksAdded { .. }
            | Event::Planned { .. }
            | Event::TasksChanged { .. }
            | Event::SessionStarted { .. }
            | Event::SessionChanged { .. }
            | Event::ModeChanged { .. }
            | Event::Requested { .. }
            | Event::RequestHandled { .. }
            | Event::CheckpointIntended { .. }
            | Event::CheckpointCreated { .. }
            | Event::CheckpointAbandoned { .. }
            | Event::Purged(_)
            | Event::CheckpointsDeleted { .. }
            | Event::OperationBegan { .. }
            | Event::OperationReversed { .. }
            | Event::OperationEnded { .. }
            | Event::StateAdopted { .. }
            | Event::RepositoryPlaced { .. }
            | Event::LearningEdited { .. }
            | Event::LearningForgotten { .. }
            | Event::ConfigBackupRestored { .. }
            | Event::LogRepaired { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::texts::LONGEST_TITLE;
    use super::*;
    use crate::base::ids::GateId;
    use crate::work::gates::gate::GateDecision;

    #[test]
    fn the_title_names_each_gate_that_was_approved_at_once() {
        let approved = |number: usize| Event::GateDecided {
            id: GateId::new(format!("claim-t{number}")).unwrap(),
            decision: GateDecision::Approved,
            complete: None,
        };
        let titled = |count| {
            (1..count).fold("approved gate claim-t0".to_owned(), |title, n| with_further(&title, &approved(n)).unwrap_or(title))
        };
        assert_eq!(titled(3), "approved gates claim-t0, claim-t1, claim-t2");
        assert_eq!(titled(1), "approved gate claim-t0");
        assert!(titled(900).ends_with(", …") && titled(900).len() < LONGEST_TITLE + 10);
        assert_eq!(with_further("checkpoint before-recovery", &approved(1)), None);
        let signalled = |agent: &str, percent| Event::Signalled {
            agent: AgentId::new(agent).unwrap(),
            token: crate::base::ids::Token::new("0123456789abcdef").unwrap(),
            signal: crate::work::signals::signal::AgentSignal::Progress { percent },
            said_at: None,
        };
        let first = "a-001 signalled progress 10%";
        let more = with_further(first, &signalled("a-001", 20)).unwrap();
        assert_eq!(more, "a-001 signalled progress 10%, progress 20%");
        assert_eq!(with_further(&more, &signalled("b-001", 5)).unwrap(), format!("{more}, b-001 signalled progress 5%"));
        assert_eq!(with_further("the program of a-001 runs", &signalled("a-001", 20)), None);
    }
}
