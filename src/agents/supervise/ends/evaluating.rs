//! The evaluator of a task that a crash cut off, or that was paused: a step of its own, beside other agents.

use std::path::PathBuf;
use std::time::Duration;

use crate::crashed_tasks::{earlier_attempts, scan};
use crate::supervise::core::SessionCore;
use crate::supervise::shown::notice::SessionNotice;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::document_schema::SCHEMA;
use axiom_model::base::ids::AgentId;
use axiom_model::recovery::decide::{CrashDecision, CrashFacts, by_rules};
use axiom_model::recovery::evaluator::{CurrentTask, EvaluatorQuestion, PastTask, answer};
use axiom_model::work::agent::AgentWork;
use axiom_model::work::iteration_marker::IterationMarker;
use axiom_model::work::tasks::task::{Task, TaskKind, TaskStatus};
use axiom_safety::context::handle::Context;
use axiom_safety::running::steps;
use axiom_safety::running::steps::{AfterStepFailure, StepCommand, StepContext, StepJob, StepProgram, StepRunner};

/// How many finished tasks an evaluator is told.
const MOST_PAST: usize = 200;

impl SessionCore<'_> {
    /// What the evaluator says, or the rules where there is none or its answer is none.
    pub(crate) fn evaluated(&mut self, agent: &AgentId, work: &AgentWork, facts: &CrashFacts) -> Result<Option<CrashDecision>> {
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
            files_changed: facts.work.changed,
            tests_passing: facts.tests_pass,
            last_activity: facts.saved_at,
        },
        last_action: facts
            .program
            .marker
            .as_ref()
            .map(IterationMarker::in_words)
            .or_else(|| earlier_attempts::last_action(ctx, &work.task)),
        file_state: &scan::file_state(ctx, &work.task, facts.saved_at),
        task_history: past.map(|task| PastTask { id: &task.id, title: &task.title }).collect(),
        marker: facts.program.marker.as_ref(),
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
