//! Tasks that are active while no supervisor runs: what was found of each, and what becomes of it. Looking changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;

use crate::crashed_tasks::scan;
use crate::crashed_tasks::scan::TaskIterationTotals;
use crate::crashed_tasks::verified;
use crate::tasks::usage;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::{AgentId, TaskId, Token};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::recovery::decide::{CrashAction, CrashDecision, CrashDecisionLimits, WorkPlace, by_rules, decided};
use axiom_model::recovery::estimate::CrashedTaskTimes;
use axiom_model::recovery::human_choice::{CrashedTaskFate, DecisionAuthority, RecoverySelection};
use axiom_model::recovery::last_signals::{CrashedIterationSignals, LifeSigns};
use axiom_model::work::agent::{Agent, AgentWork, IterationStage};
use axiom_model::work::endings::outcome::{AgentProgramEnd, classify};
use axiom_model::work::gates::gate::{Gate, GateKind};
use axiom_model::work::iteration::IterationOutcome;
use axiom_model::work::iteration_marker::{IterationMarker, LastHeard};
use axiom_model::work::signals::report_parts::TaskCaptureRecord;
use axiom_model::work::signals::reports::TaskReports;
use axiom_process::client::leftovers::worked_until;
use axiom_process::run_folder::records::{EndCause, KeeperState};
use axiom_process::{IterationState, iteration_state, read_signals};
use axiom_safety::checkpoint::live::live_ref;
use axiom_safety::context::handle::Context;
use axiom_safety::running::output::last;

/// The settings that count for a decision.
pub fn limits(ctx: &Context, threshold: Option<u8>) -> CrashDecisionLimits {
    let config = &ctx.config.recovery;
    CrashDecisionLimits {
        threshold: threshold.unwrap_or(config.resume_threshold),
        for_all: threshold.is_some(),
        max_age_hours: config.max_age_hours,
        auto_reset: config.auto_reset_orphaned,
    }
}

/// A task that is active while no supervisor runs.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OrphanTask {
    /// The task.
    pub task_id: TaskId,
    /// Its agent.
    pub agent_id: AgentId,
    /// The iteration it was in.
    pub iteration: u32,
    /// What was found, and what follows from it.
    pub reason: String,
    /// What becomes of it; `None` where its program still runs or has ended by itself.
    pub decision: Option<CrashAction>,
    /// What a human decided on it.
    #[serde(skip)]
    pub by_human: Option<CrashAction>,
    /// Whether a recovery does nothing about it: it waits for an answer or for the next session.
    #[serde(skip)]
    pub rests: bool,
    /// What was reported of it, also what is not recorded yet.
    #[serde(skip)]
    pub reports: Option<TaskReports>,
    /// Where its program was.
    pub marker: Option<IterationMarker>,
    /// The last sign of life.
    pub saved_at: Option<Timestamp>,
    /// As far as that is known.
    pub tokens_used: Option<u64>,
    /// As far as that is known.
    pub cost_usd: Option<f64>,
    /// Its progress in percent.
    pub progress: Option<u8>,
    /// How many of the files that its agent named are done.
    pub files_completed: usize,
    /// How many it named.
    pub files_total: usize,
    /// The file that it worked on last.
    pub last_file: Option<OrphanLastFile>,
    /// How sure its agent is, 0 to 1: of its work, else of that file.
    pub confidence: Option<f64>,
}

/// A file that is worked on.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)] // as in `FileReport`
pub struct OrphanLastFile {
    pub path: String,
    pub line: Option<u64>,
    /// What was done last.
    pub section: Option<String>,
    /// What comes next.
    pub next: Option<String>,
}

/// What was found of one task.
#[derive(Debug)]
pub struct OrphanFindings {
    /// The task.
    pub orphan: OrphanTask,
    /// What becomes of it.
    pub becomes: CrashedTaskFate,
    /// What its crash costs, where one cut it off.
    pub piece: Option<CrashedTaskTimes>,
    /// Its last sign of life, where the machine stopped.
    pub stopped: Option<Timestamp>,
}

/// What a human wants, and the tasks that the ids of it mean; all, where there is none.
#[derive(Debug, Clone, Copy)]
pub struct RecoveryRequest<'a> {
    /// What is wanted.
    pub wanted: &'a RecoverySelection,
    /// The tasks.
    pub chosen: Option<&'a BTreeSet<TaskId>>,
    /// The newest captures of all workspaces.
    pub captures: &'a BTreeMap<RefName, Oid>,
}

/// Whether a task was begun again after crashes as often as it may: the next crash fails it, unless it was complete.
pub fn retries_used_up(ctx: &Context, task: &TaskId) -> bool {
    let retries = ctx.state().record.tasks.get(task).map_or(0, |record| record.retry_count);
    retries >= ctx.config.recovery.max_retries
}

/// Looks at the task of an agent; `None` where it has none.
pub fn look(ctx: &Context, agent: &Agent, asked: RecoveryRequest<'_>) -> Result<Option<OrphanFindings>> {
    let Some(work) = &agent.work else { return Ok(None) };
    let resumed = |reason: &str, lives: bool| {
        let rests = !work.stage.wants_recovery(lives);
        let becomes = match asked.wanted.of(&work.task, asked.chosen, CrashedTaskFate::Resumed) {
            DecisionAuthority::Left => CrashedTaskFate::Left,
            // What a human decides is for what was cut off.
            DecisionAuthority::Rules | DecisionAuthority::Human(_) => CrashedTaskFate::Resumed,
        };
        let heard = work.stage.token().map(|token| heard(ctx, &agent.id, work, token)).transpose()?;
        let reports = heard.as_ref().map(|heard| &heard.reports).or_else(|| ctx.state().reports(&work.task));
        let orphan = orphan(ctx, &agent.id, work, (reason.to_owned(), reports));
        Ok(Some(OrphanFindings { orphan: OrphanTask { rests, ..orphan }, becomes, piece: None, stopped: None }))
    };
    let token = match &work.stage {
        IterationStage::Between { last: Some(IterationOutcome::Complete) } => {
            return resumed(&verified::in_words(ctx, &work.task)?, false);
        }
        IterationStage::Between { last: Some(IterationOutcome::Waiting { .. }) } => {
            return resumed(question_in_words(ctx, &work.task), false);
        }
        IterationStage::Between { .. } => return resumed("it is between two iterations", false),
        IterationStage::Intended { token } | IterationStage::Running { token, .. } => token,
    };
    let state = match iteration_state(&ctx.layout().agents().run(&agent.id, token), &work.stage)? {
        IterationState::Lost(why) => return cut_off(ctx, agent, work, token, (&why, asked)).map(Some),
        IterationState::Known(state) => state,
    };
    match state {
        KeeperState::Alive(_) | KeeperState::Starting => resumed("it still runs, and the next run takes it over", true),
        KeeperState::Ended(exit) => resumed(ended_in_words(&exit.cause), false),
        KeeperState::NotStarted => resumed("its program was never started", false),
        // What its agent said last counts, whatever ended its keeper.
        KeeperState::Dead(_) => match last_word(&heard(ctx, &agent.id, work, token)?, work) {
            Some(said) => resumed(&said, false),
            None => cut_off(ctx, agent, work, token, ("its keeper died", asked)).map(Some),
        },
        KeeperState::Unproved(_) => {
            let why = "the machine stopped before its work was on disk";
            let found = cut_off(ctx, agent, work, token, (why, asked))?;
            Ok(Some(OrphanFindings { stopped: found.orphan.saved_at, ..found }))
        }
    }
}

/// What becomes of an agent that has asked something.
fn question_in_words(ctx: &Context, task: &TaskId) -> &'static str {
    let gate = Gate::id_for(GateKind::Question, task).ok().and_then(|id| ctx.state().restorable.gates.get(&id));
    match gate {
        Some(gate) if gate.decision.is_some() => "it has its answer, and goes on with the next run",
        Some(_) | None => "it waits for an answer: git axiom gate list",
    }
}

/// What becomes of an iteration that has ended and whose end no session has handled.
fn ended_in_words(cause: &EndCause) -> &'static str {
    match cause {
        EndCause::Killed => "it was killed, and what it said is discarded",
        EndCause::Stopped => "it was stopped, and what it has done is kept",
        EndCause::Exited
        | EndCause::TimeLimit
        | EndCause::SilenceLimit
        | EndCause::SpawnFailed { .. }
        | EndCause::LostWorkspace
        | EndCause::Other => "it has ended, and its result is used",
    }
}

fn cut_off(
    ctx: &Context,
    agent: &Agent,
    work: &AgentWork,
    token: &Token,
    (why, asked): (&str, RecoveryRequest<'_>),
) -> Result<OrphanFindings> {
    let heard = heard(ctx, &agent.id, work, token)?;
    let captured = captured_at(ctx, &work.task, asked.captures);
    let saved_at = last_sign(ctx, (&agent.id, work), heard.at);
    let workspace = ctx.state().restorable.workspaces.get(&work.task);
    let run = ctx.layout().agents().run(&agent.id, token);
    let last = LastHeard { marker: heard.marker.clone(), saved_at, progress_at: heard.progress_at };
    let cut = scan::cut_off(&run, &ctx.layout().agents().log(&agent.id, &work.task), workspace, last);
    let counted = TaskIterationTotals::with(ctx.state(), &work.task, &heard);
    let facts = scan::facts(ctx, &work.task, (cut.recorded, Some(&cut)), &counted)?;
    let limits = limits(ctx, asked.wanted.threshold);
    let is_last = retries_used_up(ctx, &work.task);
    let decision = |by_human| {
        let certain = decided(&facts, by_human, limits, env::now());
        let asks = certain.is_none() && !is_last && ctx.config.recovery.evaluator.is_some();
        let decision = certain.unwrap_or_else(|| by_rules(&facts));
        let becomes = CrashedTaskFate::of(&decision, is_last);
        (decision, becomes, asks)
    };
    let by_rules = decision(None);
    let (decision, becomes, asks, by_human) = match asked.wanted.of(&work.task, asked.chosen, by_rules.1) {
        DecisionAuthority::Human(action) => {
            let (decision, becomes, asks) = decision(Some(action));
            (decision, becomes, asks, Some(action))
        }
        DecisionAuthority::Rules => (by_rules.0, by_rules.1, by_rules.2, None),
        DecisionAuthority::Left => (by_rules.0, CrashedTaskFate::Left, by_rules.2, None),
    };
    let goes_on = matches!(decision.action, CrashAction::ContinueTask | CrashAction::RestartTask);
    let task = ctx.state().restorable.tasks.get(&work.task).filter(|_| goes_on);
    let waits = task.and_then(|task| usage::waits_when_cut_off(ctx, (agent, task), saved_at));
    let then = waits.map_or_else(String::new, |waits| format!("; then it {waits}"));
    let why = match back_from(facts.place) {
        None => why.to_owned(),
        Some(from) => format!("{why}; the folder of its workspace is gone, and is made again {from}"),
    };
    let reason = match (becomes, asks) {
        (CrashedTaskFate::Failed, _) => format!("{why}, and it has crashed too often"),
        (CrashedTaskFate::Resumed | CrashedTaskFate::Reset | CrashedTaskFate::Left, true) => {
            format!("{why}; recovery.evaluator decides; by the rules: {}{then}", in_words(&decision, facts.work.changed))
        }
        (CrashedTaskFate::Resumed | CrashedTaskFate::Reset | CrashedTaskFate::Left, false) => {
            format!("{why}; {}{then}", in_words(&decision, facts.work.changed))
        }
    };
    let reported = heard.reports.recorded_at;
    let kept = captured.max(reported).unwrap_or(work.claimed_at).max(work.claimed_at);
    let anew = decision.action == CrashAction::RestartTask;
    let is_there = facts.work.changed > 0 && facts.place == WorkPlace::There;
    let keeper = usage::keeper_of(&run);
    let piece = CrashedTaskTimes {
        begun: work.claimed_at,
        ended: worked_until(&run, &keeper, saved_at).unwrap_or_else(env::now),
        kept,
        worked: worked(ctx, &work.task, usage::ran((&run, &keeper), env::now(), Some(saved_at))),
        progress: facts.progress,
        anew,
        is_there,
        is_left: becomes == CrashedTaskFate::Left,
    };
    let orphan = OrphanTask {
        decision: Some(decision.action),
        by_human,
        marker: cut.marker,
        saved_at: Some(saved_at),
        progress: facts.progress,
        ..orphan(ctx, &agent.id, work, (reason, Some(&heard.reports)))
    };
    Ok(OrphanFindings { orphan, becomes, piece: Some(piece), stopped: None })
}

/// For how many seconds a task was worked on, with the iteration that was cut off after so many milliseconds.
fn worked(ctx: &Context, task: &TaskId, cut_off_ms: u64) -> u64 {
    let before = ctx.state().record.tasks.get(task).map_or(0, |record| record.duration_ms);
    before.saturating_add(cut_off_ms) / 1_000
}

/// The last sign of life of an iteration, of which something was heard last at this time. A log that cannot be read tells nothing.
pub fn last_sign(ctx: &Context, (agent, work): (&AgentId, &AgentWork), heard: Option<Timestamp>) -> Timestamp {
    let captured = ctx.state().reports(&work.task).and_then(|reports| reports.captured.as_ref());
    let changed = captured.map(TaskCaptureRecord::seen_at_work);
    let printed = last::printed_at(&ctx.layout().agents().log(agent, &work.task)).ok().flatten();
    let own = |at: &Timestamp| *at >= work.claimed_at;
    let signs = LifeSigns { heard, recorded: work.last_activity, changed: changed.filter(own), printed: printed.filter(own) };
    signs.last()
}

/// When the workspace of a task was captured last.
fn captured_at(ctx: &Context, task: &TaskId, captures: &BTreeMap<RefName, Oid>) -> Option<Timestamp> {
    ctx.repo.objects().commit_time(captures.get(&live_ref(task))?).ok()?
}

/// Where a folder that is gone has its files from when it is made again, in words.
pub fn back_from(place: WorkPlace) -> Option<String> {
    match place {
        WorkPlace::Captured(at) => Some(format!("from its newest capture, of {}", at.strftime("%Y-%m-%dT%H:%M:%SZ"))),
        WorkPlace::Committed => Some("from the commits on its branch".to_owned()),
        WorkPlace::There | WorkPlace::Gone(_) => None,
    }
}

fn in_words(decision: &CrashDecision, changed: u64) -> String {
    let what = match decision.action {
        CrashAction::ContinueTask => "it goes on",
        CrashAction::RestartTask if changed == 0 => "it begins anew",
        CrashAction::RestartTask => "it begins anew, and what is there is kept aside",
        CrashAction::NextTask => "it is complete",
        CrashAction::HumanReview => "a human has to look at it",
    };
    format!("{what} ({})", decision.reasoning)
}

/// What an agent had said before its keeper died, where that ends its iteration.
fn last_word(heard: &CrashedIterationSignals, work: &AgentWork) -> Option<String> {
    match classify(&AgentProgramEnd::KeeperDied, heard.verdict.as_ref(), work.exit_completes) {
        IterationOutcome::Complete => Some("its keeper died; its agent had reported that it is complete".to_owned()),
        IterationOutcome::Blocked { reason } => {
            Some(format!("its keeper died; its agent had reported that it is blocked: {reason}"))
        }
        IterationOutcome::Waiting { question } => Some(format!("its keeper died; its agent had asked: {question}")),
        IterationOutcome::Crashed
        | IterationOutcome::Stopped
        | IterationOutcome::Unfinished { .. }
        | IterationOutcome::Limited { .. }
        | IterationOutcome::NeedsHuman { .. } => None,
    }
}

/// What was heard of an iteration.
fn heard(ctx: &Context, agent: &AgentId, work: &AgentWork, token: &Token) -> Result<CrashedIterationSignals> {
    let mut heard = CrashedIterationSignals::beginning(ctx.state().reports(&work.task));
    for received in read_signals(&ctx.layout().agents().run(agent, token), 0)?.signals {
        heard.hear(&received.signal, received.at, work.signals);
    }
    Ok(heard)
}

fn orphan(ctx: &Context, agent: &AgentId, work: &AgentWork, (reason, reports): (String, Option<&TaskReports>)) -> OrphanTask {
    let record = ctx.state().record.tasks.get(&work.task);
    let named = |reports: &TaskReports| reports.files.iter().filter(|file| file.role.is_none()).count();
    let done = |reports: &TaskReports| reports.files.iter().filter(|file| file.role.is_none() && file.done).count();
    let last = reports.and_then(|reports| reports.files.iter().rev().find(|file| file.role.is_none() && !file.done));
    OrphanTask {
        task_id: work.task.clone(),
        agent_id: agent.clone(),
        iteration: work.iteration,
        reason,
        decision: None,
        by_human: None,
        rests: false,
        reports: reports.cloned(),
        marker: None,
        saved_at: Some(work.last_activity),
        tokens_used: record.and_then(|record| record.tokens_used),
        cost_usd: record.and_then(|record| record.cost_usd),
        progress: reports.and_then(|reports| reports.progress),
        files_completed: reports.map_or(0, done),
        files_total: reports.map_or(0, named),
        last_file: last.map(|file| OrphanLastFile {
            path: file.path.clone(),
            line: file.line,
            section: file.section.clone(),
            next: file.next.clone(),
        }),
        confidence: reports.and_then(TaskReports::confidence).or_else(|| last?.confidence),
    }
}
