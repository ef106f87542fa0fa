//! The end of an iteration: uncommitted changes are committed, the report is recorded.

use jiff::Timestamp;

use super::keeping::{IterationCommit, keep_what_is_left};
use super::not_committed::{CommittedIteration, committed};
use crate::supervise::core::SessionCore;
use crate::supervise::core::iteration_watch::IterationWatch;
use crate::supervise::core::work_ends::{HaltedTaskFate, WorkEnd};
use crate::supervise::iterations::iteration_care::IterationCare;
use crate::supervise::iterations::releasing::waits_for_others;
use crate::supervise::iterations::resuming::{new_usage, session_after};
use crate::supervise::merges::shared_stash::stash_after;
use crate::supervise::setup::SessionSetup;
use crate::supervise::shown::notice::SessionNotice;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::agent::stream::summary::StreamSummary;
use axiom_model::base::ids::{AgentId, Token};
use axiom_model::base::names::Oid;
use axiom_model::recovery::decide::CrashDecision;
use axiom_model::state::event::Event;
use axiom_model::work::agent::AgentWork;
use axiom_model::work::endings::after_iteration::TaskHalt;
use axiom_model::work::endings::last_run;
use axiom_model::work::endings::outcome::{AgentProgramEnd, IterationBranchChange, by_output, classify};
use axiom_model::work::endings::resuming::was_cut_off;
use axiom_model::work::iteration::{IterationOutcome, IterationReport, ProgramSession, ResumedRunResult, SilentProgramEnd};
use axiom_model::work::tasks::task::Task;
use axiom_process::run_folder::records::ExitRecord;
use axiom_safety::context::handle::Context;

impl IterationCare {
    /// Commits what the iteration left uncommitted and records how it ended; returns `false` while filters are still at work on it.
    /// Its program has ended by now, with all of its processes.
    pub(crate) fn finish(
        &mut self,
        core: &mut SessionCore<'_>,
        agent: &AgentId,
        end: &AgentProgramEnd,
        exit: Option<&ExitRecord>,
    ) -> Result<bool> {
        core.desk.act()?;
        let Some(work) = core.desk.ctx.state().restorable.agents.get(agent).and_then(|agent| agent.work.clone()) else {
            return Ok(true);
        };
        let Some(token) = work.stage.token().cloned() else { return Ok(true) };
        if let (Some(exit), Some(watch)) = (exit, core.runs.watch_mut(agent)) {
            watch.time.ran_ms = Some(exit.millis());
        }
        let halted = core.runs.halt_of(agent, &token).cloned();
        let end = if halted.as_ref().is_some_and(|halted| halted.how == TaskHalt::Kill) { &AgentProgramEnd::Killed } else { end };
        let case = core.desk.ctx.state().task(&work.task)?.clone();
        let marker = exit.and_then(|exit| exit.markers.last().cloned());
        let verdict = core.runs.watch(agent).and_then(|watch| watch.verdict.clone()).or(marker);
        let outcome = classify(end, verdict.as_ref(), work.exit_completes);
        self.room.note_lack_of_space(core.desk.ctx, &core.setup, &token, end, &outcome);
        let Some(from) = work.from.clone() else {
            return Err(Error::new(Code::Internal, format!("the iteration of {agent} has no beginning")));
        };
        let Some(kept) = keep_what_is_left(core, (agent, &case), (&work, end), &token, &outcome, &from) else { return Ok(false) };
        let Some(committed) = committed(&mut core.desk, &mut core.failures, &mut core.tasks, kept, end, outcome, (&case, &from))?
        else {
            return Ok(true);
        };
        let CommittedIteration { outcome, broken, kept, left } = committed;
        env::fault_point("finish.leftovers-committed");
        let run = core.desk.ctx.layout().agents().run(agent, &token);
        stash_after(&mut core.desk, &case.id, &run);
        let (told, refused) = core.runs.watch(agent).map(IterationWatch::told_and_refused).unwrap_or_default();
        let outcome = outcome_by_output(core.desk.ctx, &work, outcome, end, &told, left);
        let silent_end = core.runs.silent_end(core.desk.ctx, (agent, &case), (end, exit), (&outcome, &told), &kept.to)?;
        let left_out = kept.left_out.clone();
        let cut_off = outcome == IterationOutcome::Crashed || was_cut_off(end, &outcome, &told);
        let (resumed, session) = session_after(core.desk.ctx, &work, end, &outcome, &told, kept.to != from);
        let cut = last_run::tells_where(end, &outcome).then(|| Box::new(core.runs.cut_off(core.desk.ctx, agent, &work, &run)));
        let by_keeper = exit.map(|exit| (exit.millis(), Some(exit.ended_at)));
        let ran = by_keeper.unwrap_or_else(|| core.runs.ran_until_cut_off(core.desk.ctx, agent, &work, &run));
        let (task, told, outcome) = (&case, &told, &outcome);
        let ran = EndedIteration { task, exit, ran, told, refused, outcome, silent_end, from, resumed, session, cut_off };
        let discarded = *end == AgentProgramEnd::Killed;
        let how = if discarded { "killed".to_owned() } else { describe(outcome) };
        let report = IterationReport { cut, discarded, ..report_of(core.desk.ctx, &core.setup, ran, kept) };
        let ended_at = report.ended_at.unwrap_or_else(env::now);
        record_end(core.desk.ctx, agent, &token, (end, report))?;
        env::fault_point("finish.recorded");
        core.runs.at(agent).watch = None;
        if !last_run::leaves_open(outcome) && resumed != Some(ResumedRunResult::InVain) && *end != AgentProgramEnd::Unproved {
            core.tasks.notes.remove(&case.id);
        }
        core.runs.ended.push(run);
        if let IterationOutcome::Unfinished { .. } = outcome {
            core.runs.back_off(agent)
        } else {
            core.runs.no_back_off(agent)
        }
        let no_space = self.room.was_out_of_space(&token, outcome).map(WorkEnd::OutOfSpace);
        // Whoever wanted it ended has the last word, but for the session itself where there is no space.
        let halted = halted.filter(|halted| no_space.is_none() || halted.then != HaltedTaskFate::GoesOn);
        let halted = halted.map(|halted| WorkEnd::Halted(halted, broken.clone()));
        core.runs.at(agent).ends_with(&token, halted.or(broken.map(WorkEnd::Broken)).or(no_space));
        core.desk.tell(SessionNotice::IterationEnded { agent: agent.clone(), task: case.id.clone(), how, left_out, ended_at });
        core.failures.passed(&mut core.desk, &case.id)?;
        core.failures.wait_for_model(&mut core.desk, &case.id, outcome)?;
        core.end_work(agent)?;
        Ok(true)
    }
}

/// Records the end of an iteration, and what was decided where its keeper died after its agent had reported that it is complete.
fn record_end(
    ctx: &mut Context,
    agent: &AgentId,
    token: &Token,
    (end, report): (&AgentProgramEnd, IterationReport),
) -> Result<()> {
    let is_decided = *end == AgentProgramEnd::KeeperDied && report.outcome == IterationOutcome::Complete;
    let decided = is_decided.then(|| reported_complete(agent));
    let ended = Event::IterationEnded { agent: agent.clone(), token: token.clone(), report: Box::new(report) };
    ctx.append_with(|_| Ok([ended].into_iter().chain(decided).collect())).map(drop)
}

/// What follows from the output. Where what the task needs is not ready yet, only the agent itself says that it is complete.
fn outcome_by_output(
    ctx: &Context,
    work: &AgentWork,
    outcome: IterationOutcome,
    end: &AgentProgramEnd,
    told: &StreamSummary,
    left: IterationBranchChange,
) -> IterationOutcome {
    match (by_output(outcome.clone(), end, told, left), waits_for_others(ctx, work)) {
        (IterationOutcome::Complete, Some(why)) if outcome != IterationOutcome::Complete => IterationOutcome::Unfinished { why },
        (by_output, _) => by_output,
    }
}

fn report_of(ctx: &Context, setup: &SessionSetup, ran: EndedIteration<'_>, kept: IterationCommit) -> IterationReport {
    let EndedIteration {
        task,
        exit,
        ran: (ran_ms, ended_at),
        told,
        refused,
        outcome,
        silent_end,
        from,
        resumed,
        session,
        cut_off,
    } = ran;
    let usage = new_usage(ctx, setup, task, &told.usage, resumed.is_some());
    IterationReport {
        outcome: outcome.clone(),
        exit_code: exit.and_then(|exit| exit.code),
        signal: exit.and_then(|exit| exit.signal),
        from,
        to: kept.to,
        files: kept.files,
        left_out: kept.left_out,
        duration_ms: ran_ms,
        ended_at,
        tokens: usage.tokens(),
        cost_usd: setup.options.programs.of(task).cost_of(&usage),
        not_started: false,
        // That the program did not know its session says nothing of the task.
        silent_end: silent_end.filter(|_| resumed != Some(ResumedRunResult::InVain)),
        denied: last_run::denied(told, &refused),
        unfinished: last_run::unfinished(told, cut_off),
        cut: None,
        session,
        resumed,
        ran: setup.options.programs.of(task).name.clone(),
        cut_off,
        conflict_round: kept.conflict_round,
        discarded: false,
        end_unseen: exit.is_none() && ran_ms > 0,
    }
}

/// What becomes of a task whose keeper died after its agent had reported that it is complete.
fn reported_complete(agent: &AgentId) -> Event {
    let decision = Box::new(CrashDecision::reported_complete());
    Event::RecoveryDecided { agent: agent.clone(), decision, puts_aside: false, paused: false }
}

/// What is known of an iteration that has ended.
struct EndedIteration<'a> {
    task: &'a Task,
    exit: Option<&'a ExitRecord>,
    /// How long it ran, in milliseconds, and when it ended, where that is known.
    ran: (u64, Option<Timestamp>),
    told: &'a StreamSummary,
    /// The permissions that its agent did not get, in words.
    refused: Vec<String>,
    outcome: &'a IterationOutcome,
    silent_end: Option<SilentProgramEnd>,
    from: Oid,
    resumed: Option<ResumedRunResult>,
    session: Option<Box<ProgramSession>>,
    cut_off: bool,
}

fn describe(outcome: &IterationOutcome) -> String {
    match outcome {
        IterationOutcome::Complete => "complete".into(),
        IterationOutcome::Blocked { reason } => format!("blocked: {reason}"),
        IterationOutcome::Waiting { question } => format!("asks: {question}"),
        IterationOutcome::Unfinished { why } => format!("not complete: {why}"),
        IterationOutcome::Limited { why, .. } => format!("the model's service refuses for now: {why}"),
        IterationOutcome::NeedsHuman { cause, why } => format!("{}: {why}", cause.in_words()),
        IterationOutcome::Stopped => "stopped".into(),
        IterationOutcome::Crashed => "its keeper died".into(),
    }
}
