//! `State::apply`: the one place that defines how an event changes the state.
//!
//! Pure, and all or nothing: an event that does not fit is refused and changes nothing. Appending validates with it, and
//! replay calls the same function, so the log cannot hold an event that the state would refuse.

mod agent_work;
mod decided;
mod iterations;
mod learnings;
mod operations;
mod placed;
mod planning;
mod session;
mod spending;
mod tasks;
mod work;

use super::current_state::State;
use super::event::Event;
use super::event_envelope::EventEnvelope;
use crate::base::ids::{AgentId, Token};
use crate::planning::gates;
use crate::state::settle::OperationSettlement;
use crate::work::signals::report_parts::TaskCaptureRecord;
use crate::work::signals::signal::AgentSignal;
use crate::work::tasks::task::TaskStatus;
use axiom_base::error::{Code, Error, Result};

fn refuse<T>(code: Code, what: impl Into<String>) -> Result<T> {
    Err(Error::new(code, what))
}

impl State {
    /// Applies one event.
    pub fn apply(&mut self, envelope: &EventEnvelope) -> Result<()> {
        // A state that recovery adopted may skip numbers: it gets a number above all that were ever known.
        let adopted = matches!(envelope.event, Event::StateAdopted { .. }) && envelope.seq > self.seq;
        let follows = adopted || envelope.seq == self.seq + 1;
        if !follows {
            return refuse(Code::EventSchemaInvalid, format!("event {} does not follow event {}", envelope.seq, self.seq));
        }
        let before = self.record.last_action.take();
        if let Err(error) = self.apply_event(envelope) {
            self.record.last_action = before;
            return Err(error);
        }
        match self.record.last_action {
            Some(_) => self.record.last_action_at = Some(envelope.at),
            None => self.record.last_action = before,
        }
        work::end_delays(self);
        self.seq = envelope.seq;
        self.updated_at = Some(envelope.at);
        Ok(())
    }

    fn adopt(&mut self, state: &Self) {
        *self = state.clone();
        self.take_branches_for_ours();
        gates::settle(&mut self.restorable.gates, self.record.plan.as_deref());
    }

    fn apply_event(&mut self, envelope: &EventEnvelope) -> Result<()> {
        let at = envelope.at;
        match &envelope.event {
            Event::TasksAdded { tasks } => tasks::add_tasks_by(self, &envelope.by, tasks)?,
            Event::TasksChanged { edits } => tasks::change_tasks_by(self, &envelope.by, edits, at)?,
            Event::Planned { step } => planning::plan(self, step, &envelope.by, at)?,
            Event::Audited { id, .. } => drop(self.task(id)?),
            Event::SessionStarted { session } => session::start_session(self, session)?,
            Event::SessionChanged { state, reason } => session::change_session(self, *state, reason, at)?,
            Event::ModeChanged { mode } => session::change_mode(self, mode)?,
            Event::Requested { id, request, .. } => drop(self.record.requests.insert(id.clone(), request.clone())),
            Event::RequestHandled { id, .. } => drop(self.record.requests.remove(id)),
            Event::WorkspaceOpened { task, workspace, goes_on } => work::open_workspace(self, task, workspace, *goes_on)?,
            Event::WorkspaceClosed { task, handed_on, .. } => work::close_workspace(self, task, *handed_on),
            Event::MergedBranchesLeft { gone, stay: _ } => self.forget_branches(gone),
            Event::TaskClaimed { agent, task, complete } => work::claim(self, agent, task, *complete, at)?,
            Event::IterationIntended { agent, iteration, token, from, exit_completes, program, resumes } => {
                let work = iterations::intend(self, agent, *iteration, token, at)?;
                work.from = Some(from.clone());
                work.exit_completes = *exit_completes;
                (work.program, work.resumes) = (program.clone(), resumes.clone());
            }
            Event::IterationStarted { agent, token, pid } => iterations::start_iteration(self, agent, token, *pid, at)?,
            Event::Signalled { agent, token, signal, .. } => hear(self, envelope, (agent, token, signal))?,
            Event::RecoveryDecided { agent, decision, puts_aside, paused } => {
                decided::decide(self, agent, decision, (*puts_aside, *paused), at)?
            }
            Event::IterationEnded { agent, token, report } => iterations::end_iteration(self, agent, token, report, at)?,
            Event::VerificationFailed { agent, why, round } => iterations::fail_verification(self, agent, why, *round, at)?,
            Event::LookCutOff { id, persona, used, duration_ms } => {
                iterations::look_cut_off(self, id, persona, (used, *duration_ms), at)?
            }
            Event::StepVerified { id, of, result } => iterations::step_verified(self, id, of, result, at)?,
            Event::MergeVerified { id, verification } => iterations::verified(self, id, verification, at)?,
            Event::ConflictGivenBack { id, conflict } => work::give_back(self, id, conflict)?,
            Event::Delayed { id, delay } => work::delay(self, id, delay.as_deref())?,
            Event::WorkReleased { agent, status, reason, retry, complete, gate, discarded } => {
                let goes_on = *status == TaskStatus::Pending && gate.as_ref().is_none_or(|gate| gate.goes_on());
                work::release(self, agent, *status, reason, (*retry, *discarded, goes_on), complete.as_ref(), at)?;
                if let Some(gate) = gate {
                    session::hold(self, gate);
                }
            }
            Event::GateOpened { gate } => session::open_gate(self, gate),
            Event::GateDecided { id, decision, complete } => session::decide_gate(self, id, decision, complete.as_ref(), at)?,
            Event::GateClosed { id, .. } => drop(self.restorable.gates.remove(id)),
            Event::CheckpointIntended { name } => operations::intend_checkpoint(self, name)?,
            Event::CheckpointCreated { checkpoint } => operations::create_checkpoint(self, checkpoint, at)?,
            Event::CheckpointAbandoned { .. } => self.record.checkpoint_intent = None,
            Event::Purged(purge) => operations::purge(self, purge, at)?,
            Event::CheckpointsDeleted { names } => operations::delete_checkpoints(self, names)?,
            Event::OperationBegan { operation } => operations::begin_operation(self, &envelope.txn, operation)?,
            Event::OperationReversed { .. } => operations::reverse_operation(self)?,
            Event::OperationEnded { end, edits, changes, mode, moved: _ } => {
                let settled = OperationSettlement { edits: edits.clone(), changes: changes.clone(), mode: *mode };
                operations::end_operation(self, *end, settled, at)?
            }
            Event::StateAdopted { state, .. } => self.adopt(state),
            Event::RepositoryPlaced { placing } => self.place(placing, envelope.seq),
            Event::WorkspaceCaptured { task, capture, lines, changed_at } => work::captured(
                self,
                task,
                TaskCaptureRecord { at, capture: capture.clone(), lines: *lines, changed_at: *changed_at },
            )?,
            Event::LearningEdited { id, text } => learnings::edit_learning(self, *id, text)?,
            Event::LearningForgotten { id } => learnings::forget_learning(self, *id)?,
            Event::ConfigBackupRestored { what } => self.record.config_restored = Some(what.clone()),
            Event::HookRan { .. } | Event::LogRepaired { .. } | Event::MergedBranchesLeave { .. } => {}
        }
        Ok(())
    }
}

/// What an agent said counts from when it said it; a learning from when it is known.
fn hear(state: &mut State, envelope: &EventEnvelope, (agent, token, signal): (&AgentId, &Token, &AgentSignal)) -> Result<()> {
    state.signalled(agent, token, signal, envelope.happened_at())?;
    learnings::learn(state, agent, signal, envelope.seq, envelope.at);
    Ok(())
}
