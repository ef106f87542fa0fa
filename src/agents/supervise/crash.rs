//! What becomes of a task whose iteration a crash cut off. The rules are in `model::recovery`; an evaluator runs as a step of its
//! own, and other agents go on meanwhile.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::after_pause::open_decision;
use super::agent_runs::AgentRuns;
use super::core::SessionCore;
use super::desk::SessionDesk;
use super::notice::SessionNotice;
use super::task_memory::TaskMemory;
use crate::crashed_tasks::orphans::{last_sign, limits};
use crate::crashed_tasks::scan::TaskIterationTotals;
use crate::crashed_tasks::{earlier_attempts, scan};
use crate::revert_task;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::document_schema::SCHEMA;
use axiom_model::base::forms::plural::count;
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::recovery::decide::{CrashAction, CrashDecider, CrashDecision, CrashFacts, by_rules, decided};
use axiom_model::recovery::evaluator::{CurrentTask, EvaluatorQuestion, PastTask, answer};
use axiom_model::state::event::{Event, EventAuthor};
use axiom_model::work::agent::AgentWork;
use axiom_model::work::iteration::ReviewCause;
use axiom_model::work::iteration_marker::{CutOffPoint, IterationMarker, IterationRecordState, LastHeard};
use axiom_model::work::tasks::task::{Task, TaskKind, TaskStatus};
use axiom_process::client::proof_of_life::lived_until;
use axiom_process::keeper::spec::KeeperState;
use axiom_process::keeper_state;
use axiom_safety::checkpoint::live::live_ref;
use axiom_safety::context::handle::Context;
use axiom_safety::running::steps;
use axiom_safety::running::steps::{AfterStepFailure, StepCommand, StepContext, StepJob, StepProgram, StepRunner};

/// How many finished tasks an evaluator is told.
const MOST_PAST: usize = 200;

/// What becomes of the tasks that the crash before a session cut off, in numbers.
#[derive(Debug, Default)]
pub(super) struct CrashedTaskCounts {
    resumable: usize,
    reset: usize,
    failed: usize,
}

/// Whose an order is in the log: what a human decided is the human's, the rest is of `whoever` looks after it.
fn who_orders(decision: &CrashDecision, whoever: &EventAuthor) -> EventAuthor {
    match decision.by {
        CrashDecider::Human => EventAuthor::User,
        CrashDecider::Rules | CrashDecider::Evaluator => whoever.clone(),
    }
}

impl CrashedTaskCounts {
    fn in_words(&self) -> Option<String> {
        let Self { resumable, reset, failed } = self;
        let all = resumable + reset + failed;
        (all > 0).then(|| {
            let tasks = count(all, "task");
            format!("{tasks} that a crash had cut off: {resumable} resumable, {reset} reset, {failed} failed")
        })
    }
}

impl TaskMemory {
    /// Counts what becomes of a task, until that was said.
    pub(super) fn count_crash(&mut self, action: Option<CrashAction>) {
        let Some(taken_up) = &mut self.taken_up else { return };
        match action {
            Some(CrashAction::ContinueTask | CrashAction::NextTask | CrashAction::HumanReview) => taken_up.resumable += 1,
            Some(CrashAction::RestartTask) => taken_up.reset += 1,
            None => taken_up.failed += 1,
        }
    }
}

impl SessionCore<'_> {
    /// Says once, in numbers, what became of the tasks that the crash before this session cut off.
    pub(super) fn tell_of_crash(&mut self) {
        if self.runs.any(|run| run.evaluating.is_some()) {
            return;
        }
        if let Some(what) = self.tasks.taken_up.take().and_then(|taken_up| taken_up.in_words()) {
            self.desk.tell(SessionNotice::Recovered { what });
        }
    }

    /// Before anything is done about an iteration that a crash cut off, since recovery captures too: when its last sign of life was. And
    /// where its folder is gone, it is made again with what was saved.
    pub(super) fn look_at_crash(&mut self, agent: &AgentId, work: &AgentWork) {
        let sign = self.runs.last_sign(self.desk.ctx, agent, work);
        if let Some(watch) = self.runs.watch_mut(agent) {
            watch.last_sign.get_or_insert(sign);
        }
        if let Err(error) = self.tasks.bring_back_folder(&mut self.desk, &work.task) {
            self.desk
                .warn(format!("{}: the folder of its workspace is gone, and could not be made again yet: {error}", work.task));
        }
    }

    /// Decides what becomes of the task, and does it; returns whether anything was done.
    pub(super) fn after_crash(&mut self, agent: &AgentId, work: &AgentWork) -> Result<bool> {
        let decision = match open_decision(self.desk.ctx, &work.task) {
            Some(decided) => decided.decision.clone(),
            None => {
                let Some((decision, puts_aside)) = self.decision(agent, work)? else { return Ok(false) };
                self.desk.ctx.act_as(who_orders(&decision, &self.desk.by))?;
                self.desk.ctx.append(Event::RecoveryDecided {
                    agent: agent.clone(),
                    decision: Box::new(decision.clone()),
                    puts_aside,
                    paused: false,
                })?;
                env::fault_point("crash.decided");
                self.tasks.count_crash(Some(decision.action));
                decision
            }
        };
        match decision.action {
            // Its state says now that it is complete: verification follows.
            CrashAction::NextTask => {}
            CrashAction::ContinueTask | CrashAction::RestartTask => {
                self.release(agent, TaskStatus::Pending, &format!("its keeper died: {decision}"), true)?;
                put_aside_now(&mut self.desk, &work.task);
            }
            CrashAction::HumanReview => self.review_agent(agent, ReviewCause::Recovery, &decision.reasoning)?,
        }
        Ok(true)
    }

    /// The decision, and whether what is there is kept aside; `None` while an evaluator is asked.
    fn decision(&mut self, agent: &AgentId, work: &AgentWork) -> Result<Option<(CrashDecision, bool)>> {
        let task = &work.task;
        let last = self.desk.ctx.state().record.tasks.get(task).and_then(|record| record.last_run.as_ref());
        let cut = last.and_then(|run| run.cut.as_deref()).cloned();
        let recorded = cut.as_ref().map_or(IterationRecordState::Nothing, |cut| cut.recorded);
        let facts =
            scan::facts(self.desk.ctx, task, (recorded, cut.as_ref()), &TaskIterationTotals::of(self.desk.ctx.state(), task))?;
        let with = |decision: CrashDecision| {
            let puts_aside = decision.action == CrashAction::RestartTask && facts.changed > 0;
            Some((decision, puts_aside))
        };
        let (wanted, by_human) = (&self.setup.options.after_crash, self.setup.options.after_crash.decided.get(task).copied());
        if let Some(decision) = decided(&facts, by_human, limits(self.desk.ctx, wanted.threshold), env::now()) {
            return Ok(with(decision));
        }
        Ok(self.evaluated(agent, work, &facts)?.and_then(with))
    }

    /// What the evaluator says, or the rules where there is none or its answer is none.
    pub(super) fn evaluated(&mut self, agent: &AgentId, work: &AgentWork, facts: &CrashFacts) -> Result<Option<CrashDecision>> {
        let Some(command) = self.desk.ctx.config.recovery.evaluator.clone() else { return Ok(Some(by_rules(facts))) };
        let Some(running) = self.runs.get(agent).and_then(|run| run.evaluating.as_ref()) else {
            let job = evaluation(self.desk.ctx, work, facts, &command)?;
            self.runs.at(agent).evaluating = Some(steps::start(job, self.bell.rope().ok()));
            self.desk.tell(SessionNotice::Evaluating { agent: agent.clone(), task: work.task.clone() });
            return Ok(None);
        };
        let Some(verdict) = running.verdict() else { return Ok(None) };
        self.runs.at(agent).evaluating = None;
        self.desk.tell(SessionNotice::ChecksEnded { agent: agent.clone() });
        let said = match (verdict.not_run, verdict.ran.first()) {
            (Some(error), _) => Err(error),
            (None, Some(ran)) => match &ran.result.failure {
                Some(why) => Err(Error::new(Code::InvalidInput, format!("recovery.evaluator {why}"))),
                None => answer(&ran.output, facts),
            },
            (None, None) => Err(Error::new(Code::InvalidInput, "recovery.evaluator was not run")),
        };
        Ok(Some(said.unwrap_or_else(|error| {
            self.desk.warn(format!("{}: {error}; the rules decide", work.task));
            let decision = by_rules(facts);
            CrashDecision { reasoning: format!("{} ({error})", decision.reasoning), ..decision }
        })))
    }
}

impl AgentRuns {
    /// Where an iteration was that is ending by a crash.
    pub(super) fn cut_off(&self, ctx: &Context, agent: &AgentId, work: &AgentWork, run: &Path) -> CutOffPoint {
        let watch = self.watch(agent);
        let saved_at = watch.and_then(|watch| watch.last_sign).unwrap_or_else(|| self.last_sign(ctx, agent, work));
        let workspace = ctx.state().restorable.workspaces.get(&work.task);
        let log = ctx.layout().agent_log(agent, &work.task);
        let (marker, progress_at) = watch.map_or((None, None), |watch| (watch.marker.clone(), watch.progress_at));
        scan::cut_off(run, &log, workspace, LastHeard { marker, saved_at, progress_at })
    }

    /// How long an iteration ran whose keeper recorded no end, in milliseconds, and until when: at least so long.
    pub(super) fn ran_until_cut_off(
        &self,
        ctx: &Context,
        agent: &AgentId,
        work: &AgentWork,
        run: &Path,
    ) -> (u64, Option<Timestamp>) {
        let sign = self.watch(agent).and_then(|watch| watch.last_sign).unwrap_or_else(|| self.last_sign(ctx, agent, work));
        let began = match keeper_state(run).unwrap_or(KeeperState::NotStarted) {
            KeeperState::Dead(record) | KeeperState::Unproved(record) => Some(record.started_at),
            KeeperState::NotStarted | KeeperState::Starting | KeeperState::Alive(_) | KeeperState::Ended(_) => None,
        };
        let until = lived_until(run, sign);
        (began.and_then(|began| u64::try_from(until.duration_since(began).as_millis()).ok()).unwrap_or(0), Some(until))
    }

    fn last_sign(&self, ctx: &Context, agent: &AgentId, work: &AgentWork) -> Timestamp {
        let (refs, objects) = (ctx.repo.refs(), ctx.repo.objects());
        let newest = refs.read_ref(&live_ref(&work.task)).ok().flatten();
        let captured = newest.and_then(|capture| objects.commit_time(&capture).ok()?);
        last_sign(ctx, (agent, work), self.watch(agent).and_then(|watch| watch.heard_at), captured)
    }
}

fn evaluation(ctx: &Context, work: &AgentWork, facts: &CrashFacts, command: &str) -> Result<StepJob> {
    let state = ctx.state();
    let task = state.task(&work.task)?;
    let record = state.record.tasks.get(&work.task).cloned().unwrap_or_default();
    let workspace = state.restorable.workspaces.get(&work.task).map(|workspace| workspace.path.as_str());
    let goal = state.restorable.groups_around(task).last().map(|goal| goal.title.as_str());
    let is_past = |task: &&Task| task.kind == TaskKind::Task && task.status == TaskStatus::Done;
    let past = state.restorable.tasks.values().filter(is_past).take(MOST_PAST);
    let question = EvaluatorQuestion {
        schema: SCHEMA,
        goal,
        current_task: CurrentTask {
            id: &task.id,
            title: &task.title,
            workspace,
            iterations: record.iterations,
            retry_count: record.retry_count,
            tokens_used: record.tokens_used,
            cost_usd: record.cost_usd,
            files_changed: facts.changed,
            tests_passing: facts.tests_pass,
            last_activity: facts.saved_at,
        },
        last_action: facts
            .marker
            .as_ref()
            .map(IterationMarker::in_words)
            .or_else(|| earlier_attempts::last_action(ctx, &work.task)),
        file_state: &scan::file_state(ctx, &work.task, facts.saved_at),
        task_history: past.map(|task| PastTask { id: &task.id, title: &task.title }).collect(),
        marker: facts.marker.as_ref(),
        progress: facts.progress,
    };
    let json = serde_json::to_string(&question).map_err(|e| Error::new(Code::Internal, "no JSON for an evaluator").because(e))?;
    let folder = match workspace.map(PathBuf::from).filter(|folder| folder.is_dir()) {
        Some(folder) => folder,
        None => ctx.repo.common_dir().to_owned(),
    };
    let command = command.to_owned();
    let about = StepContext { task: &work.task, agent: None, what: "recovery", of: "", work: None };
    let mut steps = steps::commands(ctx, &[(0, &command)], &folder, about)?;
    for step in &mut steps {
        step.files = None;
        step.stdin = format!("{json}\n");
        step.limit = Duration::from_secs(ctx.config.recovery.evaluator_timeout);
        step.program = StepProgram { wrapper: Vec::new(), is: StepCommand::Command(command.clone()) };
    }
    Ok(StepJob::new(ctx, StepRunner::Session, AfterStepFailure::GoOn, steps))
}

/// Puts aside what is there of a task that begins anew. Where that fails now, it is tried again before the task is claimed.
pub(super) fn put_aside_now(desk: &mut SessionDesk<'_>, task: &TaskId) {
    if let Err(error) = put_aside_first(desk, task) {
        desk.warn(format!("{task}: {error}"));
    }
}

/// Before a task is claimed that begins anew: what is there goes aside, and an undo brings it back.
pub(super) fn put_aside_first(desk: &mut SessionDesk<'_>, task: &TaskId) -> Result<()> {
    let state = desk.ctx.state();
    let recovery = state.record.tasks.get(task).and_then(|record| record.recovery.as_ref());
    let Some(recovery) = recovery.filter(|recovery| recovery.puts_aside && state.restorable.workspaces.contains_key(task)) else {
        return Ok(());
    };
    let by = who_orders(&recovery.decision, &desk.by);
    desk.ctx.act_as(by)?;
    let done = match revert_task::put_aside(desk.ctx, task) {
        Err(error) if error.code() == Code::HasDependents => {
            desk.warn(format!("{task} goes on with what is there: {error}"));
            return Ok(());
        }
        done => done?,
    };
    desk.warn(format!("{task} begins anew; 'git axiom undo {done}' brings back what was there"));
    Ok(())
}
