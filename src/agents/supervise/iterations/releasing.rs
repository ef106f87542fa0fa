//! An agent lets go of its task: with which status, and at which gate the task waits then.

use super::budget_gates::budget_gate;
use crate::supervise::core::SessionCore;
use crate::supervise::core::task_verification::TaskVerificationRun;
use crate::supervise::core::work_ends::{HaltedTaskFate, WorkEnd};
use crate::supervise::shown::notice::SessionNotice;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::forms::plural::count;
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::base::names::Oid;
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::queries::needs;
use axiom_model::state::event::Event;
use axiom_model::work::agent::{AgentWork, IterationStage};
use axiom_model::work::endings::after_iteration::{TaskHalt, after_halt};
use axiom_model::work::endings::failures::SessionStep;
use axiom_model::work::gates::crash_answer::CrashGateAnswer;
use axiom_model::work::gates::gate::{Gate, GateKind, TaskHoldReason};
use axiom_model::work::iteration::{IterationOutcome, ReviewCause};
use axiom_model::work::tasks::task::TaskStatus;
use axiom_model::work::verifying::kept_results;
use axiom_safety::context::handle::Context;
use axiom_safety::running::steps::RunningStepJob;

/// What a release records for the task.
struct ReleaseCounts {
    /// Whether a retry is counted.
    retry: bool,
    /// The commit that completes the work, where it is not verified yet.
    complete: Option<Oid>,
    /// At which gate the task waits, where it is pending.
    gate: Option<Gate>,
    /// Whether what the agent said last does not count.
    discarded: bool,
    /// Whether its question stays: the task is not begun again before it is answered.
    keeps_question: bool,
}

impl ReleaseCounts {
    fn of(retry: bool, complete: Option<Oid>, gate: Option<Gate>) -> Self {
        Self { retry, complete, gate, discarded: false, keeps_question: false }
    }
}

impl SessionCore<'_> {
    /// Releases the task of an agent that runs no program, because the agent is to be ended. The outcome of its last
    /// iteration decides the status of the task; a pending task is held where that is wanted.
    /// `not_kept` says why what it left could not be committed, where it could not.
    pub(crate) fn halt(&mut self, agent: &AgentId, halt: TaskHalt, then: HaltedTaskFate, not_kept: Option<String>) -> Result<()> {
        let Some(work) = self.desk.work_of(agent).cloned() else { return Ok(()) };
        let last = match &work.stage {
            IterationStage::Between { last } => last.as_ref(),
            IterationStage::Intended { .. } | IterationStage::Running { .. } => None,
        };
        let left = after_halt(halt, last, &self.desk.ctx.state().task(&work.task)?.verify);
        let branch = self.desk.ctx.state().restorable.workspaces.get(&work.task).map(|workspace| workspace.branch.clone());
        let complete = match branch.filter(|_| left.complete) {
            Some(branch) => self.desk.ctx.repo.refs().read_ref(&branch)?,
            None => None,
        };
        let is_open = left.status == TaskStatus::Pending;
        let (status, reason, gate) = match then {
            HaltedTaskFate::Free => {
                let gate = budget_gate(self.desk.ctx, &work.task)?;
                let reason = if is_open && gate.is_some() { "its budget is used up".to_owned() } else { left.reason };
                (left.status, reason, gate)
            }
            HaltedTaskFate::Held(held) => {
                let gate = Gate::holding(&work.task, held, env::now());
                (left.status, left.reason, gate.map(|gate| Gate { details: not_kept.into_iter().collect(), ..gate }))
            }
            HaltedTaskFate::GoesOn if is_open => {
                (left.status, format!("{}, and goes on later", left.reason), Gate::going_on(&work.task, env::now()))
            }
            HaltedTaskFate::GoesOn => (left.status, left.reason, Gate::going_on(&work.task, env::now())),
            // What its agent had completed before stands.
            HaltedTaskFate::Blocked(_) if left.status == TaskStatus::Done => (left.status, left.reason, None),
            HaltedTaskFate::Blocked(reason) => (TaskStatus::Blocked, reason, None),
        };
        let discarded = halt == TaskHalt::Kill;
        let keeps_question = !discarded && status == TaskStatus::Pending;
        if let (true, Some(IterationOutcome::Waiting { question })) = (keeps_question, last)
            && self.desk.gate(GateKind::Question, &work.task).is_none()
        {
            // It was ended before anybody was asked.
            self.desk.open_gate(GateKind::Question, &work.task, question.clone(), Vec::new())?;
        }
        let counts = ReleaseCounts { discarded, keeps_question, ..ReleaseCounts::of(false, complete, gate) };
        self.release_with(agent, status, &reason, counts)
    }

    /// Releases the agent's task with `status`.
    pub(crate) fn release(&mut self, agent: &AgentId, status: TaskStatus, reason: &str) -> Result<()> {
        self.release_with(agent, status, reason, ReleaseCounts::of(false, None, None))
    }

    /// Releases a task that crashes have cut off too often.
    pub(crate) fn release_given_up(&mut self, agent: &AgentId, task: &TaskId) -> Result<()> {
        let crashes = self.desk.ctx.state().record.tasks.get(task).map_or(0, |record| record.retry_count).saturating_add(1);
        let reason = format!("it crashed {}", count(u64::from(crashes), "time"));
        self.release_with(agent, TaskStatus::Failed, &reason, ReleaseCounts::of(true, None, None))
    }

    /// Releases a task that a crash cut off and that goes on or begins anew; where nothing of its budget is left, a human is asked first.
    pub(crate) fn release_cut_off(&mut self, agent: &AgentId, task: &TaskId, reason: &str) -> Result<()> {
        let gate = budget_gate(self.desk.ctx, task)?;
        self.release_with(agent, TaskStatus::Pending, reason, ReleaseCounts::of(true, None, gate))
    }

    /// Releases the agent's task, which it takes up again anew: no human is asked once more.
    pub(crate) fn release_to_begin_anew(&mut self, agent: &AgentId, task: &TaskId, reason: &str) -> Result<()> {
        let counts = ReleaseCounts::of(false, None, Gate::going_on(task, env::now()));
        self.release_with(agent, TaskStatus::Pending, reason, counts)
    }

    fn release_with(&mut self, agent: &AgentId, status: TaskStatus, reason: &str, counts: ReleaseCounts) -> Result<()> {
        let Some(work) = self.desk.ctx.state().restorable.agents.get(agent).and_then(|agent| agent.work.clone()) else {
            return Ok(());
        };
        let verifying = self.runs.at(agent).verifying.take().map(TaskVerificationRun::give_up);
        let evaluating = self.runs.at(agent).evaluating.take().map(RunningStepJob::give_up);
        verifying.into_iter().chain(evaluating).for_each(|thread| self.leaving.add(&work.task, thread, None));
        let ReleaseCounts { retry, complete, gate, discarded, keeps_question } = counts;
        let gate = gate.filter(|_| status == TaskStatus::Pending);
        let opened = gate
            .as_ref()
            .filter(|gate| gate.decision.is_none())
            .map(|gate| (gate.id.to_string(), gate.reason.clone(), gate.details.clone()));
        let (reason_said, gate) = (reason.to_owned(), gate.map(Box::new));
        // A rollback may have taken the work from the agent meanwhile.
        let is_this = |now: &AgentWork| (&now.task, now.claimed_at) == (&work.task, work.claimed_at);
        self.desk.step_if(|state| {
            let now = state.restorable.agents.get(agent)?.work.as_ref()?;
            let agent = agent.clone();
            is_this(now).then(|| Event::WorkReleased { agent, status, reason: reason_said, retry, complete, gate, discarded })
        })?;
        env::fault_point("settle.released");
        if !keeps_question {
            self.desk.close_gate(GateKind::Question, &work.task, "the task was released")?;
        }
        self.runs.no_back_off(agent);
        self.failures.troubles.remove(&work.task);
        if status == TaskStatus::Done {
            self.tasks.notes.remove(&work.task);
        }
        self.runs.at(agent).end = None;
        self.desk.tell(SessionNotice::Released {
            agent: agent.clone(),
            task: work.task.clone(),
            status,
            reason: reason.to_owned(),
        });
        if let Some((id, reason, details)) = opened {
            self.desk.tell(SessionNotice::GateOpened { id, reason, details });
        }
        let every = self.desk.ctx.config.checkpoints.periodic;
        if status == TaskStatus::Done && every > 0 && self.desk.ctx.state().record.tasks_completed.is_multiple_of(every) {
            // The task is done already.
            match self.desk.make_checkpoint(CheckpointTrigger::Periodic) {
                Ok(()) => drop(self.failures.told_without.remove(&SessionStep::Checkpoint)),
                Err(error) => {
                    self.failures.goes_on_without(&mut self.desk, SessionStep::Checkpoint, "no periodic checkpoint", error)?
                }
            }
        }
        Ok(())
    }

    /// Releases the task because a human has to see to its agent program first: it waits at a gate, and other tasks continue.
    pub(crate) fn review_agent(&mut self, agent: &AgentId, cause: ReviewCause, why: &str) -> Result<()> {
        let Some(task) = self.desk.work_of(agent).map(|work| work.task.clone()) else { return Ok(()) };
        let program = self.desk.ctx.state().task(&task).map_or("NAME", |case| &self.setup.options.programs.of(case).name);
        let what_to_do = match cause {
            ReviewCause::SignIn => format!("sign in with '{program}', or give it its key, then approve"),
            ReviewCause::ToolDenied => {
                format!("allow the tool (agents.{program}.command, or the program's own settings), or approve to try again")
            }
            ReviewCause::VerifyFailed | ReviewCause::HookVeto => "approve to try again".to_owned(),
            ReviewCause::Recovery => "approve to let an agent go on, or answer 'complete' or 'anew'".to_owned(),
        };
        let reason = format!("{task}: {}: {}; {what_to_do}", cause.in_words(), first_line(why));
        // Approved, it is verified again, as long as nobody has changed it.
        let (complete, details) = match cause {
            ReviewCause::VerifyFailed => what_did_not_pass(self.desk.ctx, &task)?,
            ReviewCause::Recovery => (None, CrashGateAnswer::offered(&task)),
            ReviewCause::SignIn | ReviewCause::ToolDenied | ReviewCause::HookVeto => (None, Vec::new()),
        };
        let held = (cause == ReviewCause::VerifyFailed).then_some(TaskHoldReason::Failed);
        let gate = Gate { cause: Some(cause), held, details, ..Gate::of_task(GateKind::HumanReview, &task, reason, env::now())? };
        // A pause is no crash.
        let crashed = self
            .desk
            .work_of(agent)
            .is_some_and(|work| work.stage == IterationStage::Between { last: Some(IterationOutcome::Crashed) });
        let retry = cause == ReviewCause::Recovery && crashed;
        self.release_with(agent, TaskStatus::Pending, cause.in_words(), ReleaseCounts::of(retry, complete, Some(gate)))
    }

    /// Releases the task because a human has to look at what went wrong: it waits at a gate, and other tasks continue.
    pub(crate) fn hold_back(&mut self, agent: &AgentId, held: TaskHoldReason, why: &str) -> Result<()> {
        let Some(task) = self.desk.work_of(agent).map(|work| work.task.clone()) else { return Ok(()) };
        let details =
            if matches!(held, TaskHoldReason::Broken | TaskHoldReason::Failed) { vec![why.to_owned()] } else { Vec::new() };
        let gate = Gate::holding(&task, held, env::now()).map(|gate| Gate { details, ..gate });
        self.release_with(agent, TaskStatus::Pending, why, ReleaseCounts::of(false, None, gate))
    }

    /// Ends the work of an agent whose iteration has ended, where that is wanted; returns whether it was. Until it is recorded, it
    /// is wanted.
    pub(crate) fn end_work(&mut self, agent: &AgentId) -> Result<bool> {
        match self.runs.get(agent).and_then(|run| run.end.clone()) {
            None => return Ok(false),
            Some(WorkEnd::Halted(halted, left)) => self.halt(agent, halted.how, halted.then, left)?,
            Some(WorkEnd::Broken(why)) => self.hold_back(agent, TaskHoldReason::Broken, &why)?,
            Some(WorkEnd::OutOfSpace(why)) => self.release(agent, TaskStatus::Blocked, &why)?,
        }
        self.runs.at(agent).end = None;
        Ok(true)
    }
}

/// What a task that began early waits for now, in words.
pub(crate) fn waits_for_others(ctx: &Context, work: &AgentWork) -> Option<String> {
    let state = ctx.state();
    let open: Vec<String> = needs::open(state, state.restorable.tasks.get(&work.task)?).map(ToString::to_string).collect();
    (!open.is_empty()).then(|| format!("it waits for {}", open.join(", ")))
}

/// The commit on which a verify step of the task failed, as long as it is the newest, and the last lines of that step.
fn what_did_not_pass(ctx: &Context, task: &TaskId) -> Result<(Option<Oid>, Vec<String>)> {
    let state = ctx.state();
    let Some(workspace) = state.restorable.workspaces.get(task) else { return Ok((None, Vec::new())) };
    let Some(tip) = ctx.repo.refs().read_ref(&workspace.branch)? else { return Ok((None, Vec::new())) };
    let known = state.record.tasks.get(task).map_or(&[][..], |record| &record.verified);
    let lines = kept_results::failed_on(known, &tip).map(|failed| failed.lines.clone());
    Ok((lines.is_some().then_some(tip), lines.unwrap_or_default()))
}

/// The beginning of what a program said, in one line.
fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().chars().take(200).collect()
}
