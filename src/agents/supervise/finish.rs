//! The end of an iteration: uncommitted changes are committed, the report is recorded.

use std::path::Path;

use jiff::Timestamp;

use super::agent_runs::{AgentRuns, HaltedTaskFate, IterationHalt};
use super::conflicts::{CompletionInConflict, claim_in_conflict};
use super::core::SessionCore;
use super::desk::SessionDesk;
use super::failing::{StepFailures, reason_of};
use super::iterate::IterationCare;
use super::lost_files::is_gone_for_good;
use super::notice::SessionNotice;
use super::resuming::{new_usage, session_after, workplace};
use super::settle::waits_for_others;
use super::setup::SessionSetup;
use super::shared_stash::stash_after;
use super::task_memory::TaskMemory;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_git::{CompletionClaim, FilteredIndex, LeftoverSkipReason, LeftoversRequest};
use axiom_model::agent::stream::summary::StreamSummary;
use axiom_model::base::ids::{AgentId, TaskId, Token};
use axiom_model::base::names::Oid;
use axiom_model::recovery::decide::CrashDecision;
use axiom_model::state::event::Event;
use axiom_model::work::agent::{AgentWork, Workspace};
use axiom_model::work::endings::failures::{FailureResponse, SessionStep, StepFailureCounts, what_follows};
use axiom_model::work::endings::last_run;
use axiom_model::work::endings::outcome::{
    AgentProgramEnd, IterationBranchChange, TaskHalt, by_output, classify, with_open_conflicts,
};
use axiom_model::work::endings::resuming::was_cut_off;
use axiom_model::work::gates::gate::TaskHoldReason;
use axiom_model::work::iteration::{IterationOutcome, IterationReport, ProgramSession, ResumedRunResult, SilentProgramEnd};
use axiom_model::work::signals::reports::TaskReports;
use axiom_model::work::tasks::task::{Task, TaskStatus};
use axiom_model::work::tasks::wip;
use axiom_process::keeper::spec::ExitRecord;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::workspaces;
use axiom_safety::running::output::logs;

/// At most this many names of changed files are recorded.
const MOST_FILES: usize = 100;

/// How many of the last lines of output are compared and shown, and how many characters of each.
const LAST_LINES: usize = 3;
const LONGEST_LINE: usize = 200;

impl IterationCare {
    /// Commits what the iteration left uncommitted and records how it ended; returns `false` while filters are still at work on it.
    /// Its program has ended by now, with all of its processes.
    pub(super) fn finish(
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
        let run = core.desk.ctx.layout().run_dir(agent, &token);
        stash_after(&mut core.desk, &case.id, &run);
        let told = core.runs.watch(agent).map(|watch| watch.told.clone()).unwrap_or_default();
        let outcome = outcome_by_output(core.desk.ctx, &work, outcome, end, &told, left);
        let silent_end = core.runs.silent_end(core.desk.ctx, (agent, &case), (end, exit), (&outcome, &told), &kept.to)?;
        let left_out = kept.left_out.clone();
        let cut_off = outcome == IterationOutcome::Crashed || was_cut_off(end, &outcome);
        let (resumed, session) = session_after(core.desk.ctx, &work, end, &outcome, &told, kept.to != from);
        let cut = last_run::tells_where(end, &outcome).then(|| Box::new(core.runs.cut_off(core.desk.ctx, agent, &work, &run)));
        let by_keeper = exit.map(|exit| (exit.millis(), Some(exit.ended_at)));
        let ran = by_keeper.unwrap_or_else(|| core.runs.ran_until_cut_off(core.desk.ctx, agent, &work, &run));
        let (task, told, outcome) = (&case, &told, &outcome);
        let ran = EndedIteration { task, exit, ran, told, outcome, silent_end, from, resumed, session, cut_off };
        let discarded = *end == AgentProgramEnd::Killed;
        let how = if discarded { "killed".to_owned() } else { describe(outcome) };
        let report = IterationReport { cut, discarded, ..report_of(core.desk.ctx, &core.setup, ran, kept) };
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
        core.runs.at(agent).ends_with(&token, halted.map(WorkEnd::Halted).or(broken.map(WorkEnd::Broken)).or(no_space));
        core.desk.tell(SessionNotice::IterationEnded { agent: agent.clone(), task: case.id.clone(), how, left_out });
        core.failures.passed(&mut core.desk, &case.id)?;
        core.failures.wait_for_model(&mut core.desk, &case.id, outcome)?;
        if core.end_work(agent)? { Ok(true) } else { core.failures.save_snapshot(&mut core.desk).map(|()| true) }
    }
}

/// What of the work could be committed; `None` while filters are at work on it.
fn keep_what_is_left(
    core: &mut SessionCore<'_>,
    (agent, task): (&AgentId, &Task),
    (work, end): (&AgentWork, &AgentProgramEnd),
    token: &Token,
    outcome: &IterationOutcome,
    from: &Oid,
) -> Option<Result<IterationCommit>> {
    if *outcome == IterationOutcome::Crashed && is_gone_for_good(core.desk.ctx, &task.id).is_some() {
        return Some(Ok(IterationCommit::nothing(from)));
    }
    let workspace = match workspace_of(core.desk.ctx, task) {
        Ok(workspace) => workspace,
        Err(error) => return Some(Err(error)),
    };
    let stored = match core.runs.stored_aside(&core.desk, &core.bell, (agent, token), Path::new(&workspace.path))? {
        Ok(stored) => stored,
        Err(error) => return Some(Err(error)),
    };
    // What a killed agent said is in no message.
    let said = work.said_before.as_ref().filter(|_| *end == AgentProgramEnd::Killed).map(|before| &before.reports);
    Some(keep_work(core.desk.ctx, (agent, task), (work.iteration, said), outcome, (&workspace, from, stored.as_ref())))
}

impl SessionCore<'_> {
    /// Ends the work of an agent whose iteration has ended, where that is wanted; returns whether it was. Until it is recorded, it
    /// is wanted.
    pub(super) fn end_work(&mut self, agent: &AgentId) -> Result<bool> {
        match self.runs.get(agent).and_then(|run| run.end.clone()) {
            None => return Ok(false),
            Some(WorkEnd::Halted(halted)) => self.halt(agent, halted.how, halted.then)?,
            Some(WorkEnd::Broken(why)) => self.hold_back(agent, TaskHoldReason::Broken, &why)?,
            Some(WorkEnd::OutOfSpace(why)) => self.release(agent, TaskStatus::Blocked, &why, false)?,
        }
        self.runs.at(agent).end = None;
        Ok(true)
    }

    /// Handles an iteration that could not be started: its program did not run, so it does not count, and the table says what
    /// follows. A keeper that starts late finds its intent withdrawn.
    pub(super) fn never_began(&mut self, agent: &AgentId, token: &Token, from: Oid, error: Error) -> Result<()> {
        let report = IterationReport {
            outcome: IterationOutcome::Unfinished { why: error.to_string() },
            exit_code: None,
            signal: None,
            to: from.clone(),
            from,
            files: Vec::new(),
            left_out: Vec::new(),
            duration_ms: 0,
            ended_at: None,
            tokens: None,
            cost_usd: None,
            not_started: true,
            silent_end: None,
            denied: Vec::new(),
            unfinished: Vec::new(),
            cut: None,
            session: None,
            resumed: None,
            ran: String::new(),
            cut_off: false,
            conflict_round: None,
            discarded: false,
        };
        self.desk.step(Event::IterationEnded { agent: agent.clone(), token: token.clone(), report: Box::new(report) })?;
        let run = self.runs.at(agent);
        run.end = run.take_halt(token).map(WorkEnd::Halted).or(run.end.take());
        if self.end_work(agent)? { Ok(()) } else { self.agent_failed(agent, SessionStep::Start, error) }
    }
}

impl TaskMemory {
    /// Repairs the git data of a workspace (branch, index), where its files are not the problem; returns whether anything
    /// was repaired.
    fn mend_contents(&mut self, desk: &mut SessionDesk<'_>, task: &Task) -> Result<bool> {
        let Some(workspace) = desk.ctx.state().restorable.workspaces.get(&task.id).cloned() else { return Ok(false) };
        if self.mended.contains(&task.id) {
            return Ok(false);
        }
        let mended = desk.ctx.with_change_lock(|ctx| workspaces::mend_contents(ctx, &workspace));
        if mended.is_ok() {
            self.mended.insert(task.id.clone());
        }
        match mended {
            Ok(Some(what)) => {
                desk.tell(SessionNotice::Recovered { what: format!("the workspace '{}' {what}", workspace.path) });
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(error)
                if what_follows(SessionStep::Finish, error.code(), StepFailureCounts::default())
                    == FailureResponse::EndSession =>
            {
                Err(error)
            }
            Err(error) => {
                desk.warn(format!("the workspace '{}' could not be repaired: {error}", workspace.path));
                Ok(false)
            }
        }
    }
}

impl AgentRuns {
    /// How a program ended whose agent has sent no signal and did not complete the task.
    fn silent_end(
        &self,
        ctx: &Context,
        (agent, task): (&AgentId, &Task),
        (end, exit): (&AgentProgramEnd, Option<&ExitRecord>),
        (outcome, told): (&IterationOutcome, &StreamSummary),
        to: &Oid,
    ) -> Result<Option<SilentProgramEnd>> {
        let (Some(status), IterationOutcome::Unfinished { .. }) = (end.status(), outcome) else { return Ok(None) };
        if !self.said_nothing(agent) {
            return Ok(None);
        }
        let told = told.failed.as_ref().map(|failed| &failed.message).or(told.last_text.as_ref());
        let lines = match told.filter(|text| !text.trim().is_empty()) {
            Some(text) => vec![text.chars().take(LONGEST_LINE).collect()],
            None => {
                let since = exit.map_or(Timestamp::UNIX_EPOCH, |exit| exit.started_at);
                last_lines(&ctx.layout().agent_log(agent, &task.id), since)
            }
        };
        Ok(Some(SilentProgramEnd { exit: status, tree: ctx.repo.objects().tree_of(to)?, lines }))
    }

    /// Whether the agent has sent no signal in the iteration that is ending.
    fn said_nothing(&self, agent: &AgentId) -> bool {
        self.watch(agent).is_none_or(|watch| watch.signals.reported == 0)
    }
}

/// What follows where the work could not be committed.
fn not_committed(
    desk: &mut SessionDesk<'_>,
    failures: &mut StepFailures,
    tasks: &mut TaskMemory,
    end: &AgentProgramEnd,
    outcome: IterationOutcome,
    error: Error,
    task: &Task,
) -> Result<CommitFailureOutcome> {
    let unproved = *end == AgentProgramEnd::Unproved;
    let ended = |outcome, broken| Ok(CommitFailureOutcome::Ended(outcome, broken));
    let unfinished = |why| IterationOutcome::Unfinished { why };
    if error.code() == Code::MergeConflict {
        let open = |outcome| with_open_conflicts(outcome, error.to_string());
        return Ok(match claim_in_conflict(desk.ctx, &task.id) {
            _ if outcome != IterationOutcome::Complete => CommitFailureOutcome::InConflict(open(outcome), None),
            CompletionInConflict::Stands => CommitFailureOutcome::InConflict(outcome, None),
            CompletionInConflict::IsNone { round } => CommitFailureOutcome::InConflict(open(outcome), round),
        });
    }
    match failures.decide(desk, SessionStep::Finish, &task.id, &error) {
        FailureResponse::EndSession => Err(error),
        FailureResponse::Wait { after } => {
            failures.delay(desk, SessionStep::Finish, &task.id, &error, after).map(|()| CommitFailureOutcome::Yet)
        }
        FailureResponse::Again | FailureResponse::GoOn | FailureResponse::Answer => {
            ended(if unproved { outcome } else { unfinished(error.to_string()) }, None)
        }
        FailureResponse::Retry { after } => {
            if !unproved && tasks.mend_contents(desk, task)? {
                return ended(unfinished(cannot_be_committed(&error)), None);
            }
            failures.delay(desk, SessionStep::Finish, &task.id, &error, after).map(|()| CommitFailureOutcome::Yet)
        }
        // The agent's commits may be as incomplete as its files.
        FailureResponse::Gate(_) | FailureResponse::Block if unproved => ended(
            IterationOutcome::Blocked { reason: format!("what was left when the machine stopped is incomplete: {error}") },
            None,
        ),
        // The agent did something unforeseen, and a human has to look at it.
        FailureResponse::Gate(_) | FailureResponse::Block => {
            let why = cannot_be_committed(&error);
            // A filter is nothing that can be repaired here.
            let is_mended = error.code() != Code::FilterFailed && tasks.mend_contents(desk, task)?;
            let broken = (!is_mended).then(|| why.clone());
            ended(unfinished(why), broken)
        }
    }
}

/// How the iteration ended with what was committed of its work; `None` where that is tried again later: its end is recorded by the
/// keeper and is handled again.
fn committed(
    desk: &mut SessionDesk<'_>,
    failures: &mut StepFailures,
    tasks: &mut TaskMemory,
    kept: Result<IterationCommit>,
    end: &AgentProgramEnd,
    outcome: IterationOutcome,
    (task, from): (&Task, &Oid),
) -> Result<Option<CommittedIteration>> {
    let error = match kept {
        Ok(kept) => {
            let left = if kept.to == *from { IterationBranchChange::Unchanged } else { IterationBranchChange::Changed };
            return Ok(Some(CommittedIteration { outcome, broken: None, kept, left }));
        }
        Err(error) => error,
    };
    Ok(match not_committed(desk, failures, tasks, end, outcome, error, task)? {
        CommitFailureOutcome::Yet => None,
        CommitFailureOutcome::Ended(outcome, broken) => {
            let (kept, left) = (IterationCommit::nothing(from), IterationBranchChange::Unchanged);
            Some(CommittedIteration { outcome, broken, kept, left })
        }
        CommitFailureOutcome::InConflict(outcome, conflict_round) => {
            let left_out = left_in_conflict(desk.ctx, &task.id);
            let kept = IterationCommit { conflict_round, left_out, ..IterationCommit::nothing(from) };
            Some(CommittedIteration { outcome, broken: None, kept, left: IterationBranchChange::InConflict })
        }
    })
}

/// What an iteration that left a conflict open has left uncommitted: its next one finds the same, and may go on from there.
fn left_in_conflict(ctx: &Context, task: &TaskId) -> Vec<String> {
    let workspace = ctx.state().restorable.workspaces.get(task);
    let place = workspace.and_then(|workspace| workplace(ctx, workspace).ok());
    let changes = place.and_then(|place| place.changes).unwrap_or_default();
    changes.iter().take(MOST_FILES).map(|path| format!("{path} (a conflict is open)")).collect()
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
    let EndedIteration { task, exit, ran: (ran_ms, ended_at), told, outcome, silent_end, from, resumed, session, cut_off } = ran;
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
        denied: last_run::denied(told),
        unfinished: last_run::unfinished(told, cut_off),
        cut: None,
        session,
        resumed,
        ran: setup.options.programs.of(task).name.clone(),
        cut_off,
        conflict_round: kept.conflict_round,
        discarded: false,
    }
}

fn workspace_of(ctx: &Context, task: &Task) -> Result<Workspace> {
    let known = ctx.state().restorable.workspaces.get(&task.id).cloned();
    known.ok_or_else(|| Error::new(Code::WorkspaceBroken, format!("the workspace of '{}' is not known", task.id)))
}

/// Commits the uncommitted changes in the workspace, and makes the agent's own commits durable too.
fn keep_work(
    ctx: &mut Context,
    (agent, task): (&AgentId, &Task),
    (iteration, said): (u32, Option<&TaskReports>),
    outcome: &IterationOutcome,
    (workspace, from, stored): (&Workspace, &Oid, Option<&FilteredIndex>),
) -> Result<IterationCommit> {
    let reports = said.or_else(|| ctx.state().reports(&task.id));
    let message = wip::message(&wip::WipCommitContext { task, agent, iteration, outcome, reports });
    let limit = ctx.config.checkpoints.max_file_size.saturating_mul(1024 * 1024);
    let claim = if *outcome == IterationOutcome::Complete { CompletionClaim::Complete } else { CompletionClaim::None };
    ctx.with_change_lock(|ctx| keep_in(ctx, workspace, (from, stored), (&message, claim), limit))
}

/// What becomes of a task whose keeper died after its agent had reported that it is complete.
fn reported_complete(agent: &AgentId) -> Event {
    let decision = Box::new(CrashDecision::reported_complete());
    Event::RecoveryDecided { agent: agent.clone(), decision, puts_aside: false, paused: false }
}

/// The last lines of a program's output, as far as the log has them.
fn last_lines(log: &Path, since: Timestamp) -> Vec<String> {
    let lines = logs::last_lines(log, since, LAST_LINES).unwrap_or_default();
    lines.into_iter().map(|line| line.chars().take(LONGEST_LINE).collect()).collect()
}

fn cannot_be_committed(error: &Error) -> String {
    let reason = reason_of(error);
    let next = if error.hints().is_empty() { " (look at it: git status, in its workspace)" } else { "" };
    format!("what it left cannot be committed: {reason}{next}")
}

/// How the work of an agent ends after an iteration, whatever its outcome says.
#[derive(Debug, Clone)]
pub(super) enum WorkEnd {
    /// Somebody wants it ended.
    Halted(IterationHalt),
    /// A human has to look at the workspace first; the reason.
    Broken(String),
    /// Its program failed while there was no space: another try would end as this one did; the reason.
    OutOfSpace(String),
}

/// What follows where the work of an iteration could not be committed.
enum CommitFailureOutcome {
    /// It is tried again later.
    Yet,
    /// The iteration has ended with this outcome; with a problem that a human has to look at before the next one.
    Ended(IterationOutcome, Option<String>),
    /// The iteration has ended with this outcome and left a conflict open; with the round of the conflict that follows, where it is
    /// another one.
    InConflict(IterationOutcome, Option<u32>),
}

/// An iteration whose work was committed as far as possible.
struct CommittedIteration {
    outcome: IterationOutcome,
    /// A problem that a human has to look at before the next iteration.
    broken: Option<String>,
    kept: IterationCommit,
    left: IterationBranchChange,
}

/// What is known of an iteration that has ended.
struct EndedIteration<'a> {
    task: &'a Task,
    exit: Option<&'a ExitRecord>,
    /// How long it ran, in milliseconds, and when it ended, where that is known.
    ran: (u64, Option<Timestamp>),
    told: &'a StreamSummary,
    outcome: &'a IterationOutcome,
    silent_end: Option<SilentProgramEnd>,
    from: Oid,
    resumed: Option<ResumedRunResult>,
    session: Option<Box<ProgramSession>>,
    cut_off: bool,
}

struct IterationCommit {
    to: Oid,
    files: Vec<String>,
    left_out: Vec<String>,
    conflict_round: Option<u32>,
}

impl IterationCommit {
    /// Where nothing could be committed.
    fn nothing(from: &Oid) -> Self {
        Self { to: from.clone(), files: Vec::new(), left_out: Vec::new(), conflict_round: None }
    }
}

fn keep_in(
    ctx: &mut axiom_safety::context::handle::Context,
    workspace: &Workspace,
    (from, stored): (&Oid, Option<&FilteredIndex>),
    (message, claim): (&str, CompletionClaim),
    limit: u64,
) -> Result<IterationCommit> {
    let path = Path::new(&workspace.path);
    let Some(entry) = ctx.repo.worktrees().worktree_at(path)? else {
        return Err(Error::new(Code::WorkspaceBroken, format!("'{}' is not a workspace any more", workspace.path)));
    };
    if let Some(stored) = stored {
        ctx.repo.workspaces().take_stored(&entry.worktree, stored)?;
    }
    let leftovers =
        LeftoversRequest { workspace: &entry.worktree, branch: &workspace.branch, message, max_file_size: limit, claim };
    let leftovers = ctx.repo.workspaces().commit_leftovers(&leftovers)?;
    let Some(to) = ctx.repo.refs().read_ref(&workspace.branch)? else {
        return Err(Error::new(Code::TargetMissing, format!("the branch '{}' is gone", workspace.branch.short())));
    };
    let changes = ctx.repo.history().diff_trees(from, &to)?;
    Ok(IterationCommit {
        to,
        files: changes.iter().take(MOST_FILES).map(|change| change.path.to_string()).collect(),
        left_out: leftovers.skipped.iter().map(|(path, why)| format!("{path} ({})", why_skipped(*why))).collect(),
        conflict_round: None,
    })
}

fn why_skipped(why: LeftoverSkipReason) -> &'static str {
    match why {
        LeftoverSkipReason::TooLarge => "over the size limit",
        LeftoverSkipReason::Secret => "looks like a secret",
        LeftoverSkipReason::NestedRepository => "a nested repository",
        LeftoverSkipReason::Unreadable => "cannot be read",
    }
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
