//! How events change the session, the mode, and gates.

use jiff::Timestamp;

use super::{Result, refuse};
use crate::base::ids::{GateId, TaskId};
use crate::base::names::Oid;
use crate::base::text::ValueChange;
use crate::state::audit;
use crate::state::current_state::State;
use crate::work::agent::{AgentWork, IterationStage};
use crate::work::gates::gate::{Gate, GateDecision, GateKind, TaskHoldReason};
use crate::work::gates::pending_answer::PendingAnswer;
use crate::work::iteration::IterationReport;
use crate::work::money::spending::UsageTally;
use crate::work::sessions::session::{Session, SessionMode, SessionState};
use crate::work::sessions::session_time::SessionRunTime;
use crate::work::tasks::masked::may_run;
use crate::work::tasks::task::TaskStatus;
use axiom_base::error::Code;

impl State {
    pub(super) fn start_session(&mut self, session: &Session) -> Result<()> {
        self.record.session = Some(session.clone());
        self.record.added_by_agents = 0;
        (self.record.session_spent, self.record.session_counted_from) = (UsageTally::default(), None);
        self.record.session_time = SessionRunTime::beginning(self.programs_run(), session.started_at);
        self.record.delays.clear();
        self.record.last_action = Some("session started".into());
        Ok(())
    }

    /// Follows the end of an iteration, which was seen `at` this time; its program may have been so quick that nobody saw it begin.
    pub(super) fn end_program(&mut self, report: &IterationReport, never_seen: bool, at: Timestamp) {
        let ended = report.ended_at.map_or(at, |ended| ended.min(at));
        let others_run = self.programs_run();
        match never_seen {
            true => self.record.session_time.ran(report.duration_ms, ended, others_run),
            false => self.record.session_time.ended(ended, others_run),
        }
    }

    fn programs_run(&self) -> bool {
        let runs = |work: &AgentWork| matches!(work.stage, IterationStage::Running { .. });
        self.restorable.agents.values().any(|agent| agent.work.as_ref().is_some_and(runs))
    }

    pub(super) fn change_session(&mut self, state: SessionState, reason: &str, at: Timestamp) -> Result<()> {
        let Some(session) = &mut self.record.session else {
            return refuse(Code::InvalidTransition, "there is no session to change");
        };
        session.state = state;
        match state {
            SessionState::Pausing | SessionState::Paused => session.paused_at = Some(at),
            SessionState::Running => session.paused_at = None,
            SessionState::Ending | SessionState::Ended | SessionState::Interrupted | SessionState::Crashed => {}
        }
        let paused_at = session.paused_at;
        if !state.is_open() {
            self.record.delays.clear();
            if let Some(paused_at) = paused_at {
                self.set_aside(paused_at);
            }
        }
        self.record.last_action = Some(audit::session_text(state, reason));
        Ok(())
    }

    /// A paused session has ended: before the work that it had begun goes on, it is decided how. What waits for a human in any case is
    /// a human's decision.
    fn set_aside(&mut self, paused_at: Timestamp) {
        let waits = |task: &TaskId| {
            let mut gates = self.restorable.gates.values().filter(|gate| gate.task_id.as_ref() == Some(task));
            gates.any(|gate| gate.holds() || gate.kind == GateKind::HumanReview)
        };
        for task in self.restorable.workspaces.keys().filter(|task| !waits(task)) {
            let status = self.restorable.tasks.get(task).map(|case| case.status);
            let Some(record) = self.record.tasks.get_mut(task) else { continue };
            let has_begun = match status {
                Some(TaskStatus::Active) => true,
                Some(TaskStatus::Pending) => record.last_run.is_some(),
                Some(TaskStatus::Done | TaskStatus::Blocked | TaskStatus::Failed | TaskStatus::Archived) | None => false,
            };
            record.set_aside = has_begun.then_some(paused_at);
        }
    }

    pub(super) fn change_mode(&mut self, mode: &ValueChange<SessionMode>) -> Result<()> {
        if self.restorable.mode != mode.old {
            return refuse(Code::ChangedMeanwhile, "the mode is not what the change expects");
        }
        self.restorable.mode = mode.new;
        self.record.last_action = Some(format!("mode {}", mode.new.as_str()));
        Ok(())
    }

    pub(super) fn open_gate(&mut self, gate: &Gate) {
        self.restorable.gates.insert(gate.id.clone(), gate.clone());
        self.record.last_action = Some(format!("gate {} opened", gate.id));
    }

    /// Opens a gate on a task, if the task could be claimed otherwise.
    pub(super) fn hold(&mut self, gate: &Gate) {
        let case = gate.task_id.as_ref().and_then(|task| self.restorable.tasks.get(task));
        if case.is_some_and(|case| case.status == TaskStatus::Pending) {
            self.restorable.gates.insert(gate.id.clone(), gate.clone());
        }
    }

    /// Tasks whose words a purge masked wait for a human, before whatever runs them next.
    pub(super) fn hold_masked(&mut self, tasks: &[TaskId], at: Timestamp) {
        for task in tasks {
            let gate = Gate::holding(task, TaskHoldReason::Masked, at);
            let may_run = self.restorable.tasks.get(task).is_some_and(may_run);
            self.restorable.gates.extend(gate.filter(|_| may_run).map(|gate| (gate.id.clone(), gate)));
        }
    }

    pub(super) fn decide_gate(&mut self, id: &GateId, decision: &GateDecision, complete: Option<&Oid>) -> Result<()> {
        match self.restorable.gates.get_mut(id) {
            Some(gate) => {
                gate.decision = Some(decision.clone());
                let gate = gate.clone();
                if gate.kind == GateKind::Budget {
                    self.decide_budget(&gate, decision)?;
                }
                if let (Some(complete), Some(task)) = (complete, &gate.task_id) {
                    self.record.tasks.entry(task.clone()).or_default().complete = Some(complete.clone());
                }
                if let (Some(answer), Some(task)) = (PendingAnswer::given(&gate, decision), &gate.task_id) {
                    self.record.tasks.entry(task.clone()).or_default().answer = Some(answer);
                }
                self.record.last_action = Some(format!("decided {id}"));
                Ok(())
            }
            None => refuse(Code::UnknownGate, format!("there is no open gate '{id}'")),
        }
    }
}
