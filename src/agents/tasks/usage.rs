//! How the limits of a task stand, with the iteration that runs for it: the one rule for the supervisor, which ends what has used up its
//! budget, and for whoever shows it from the outside.

use std::path::Path;

use jiff::Timestamp;

use axiom_base::env;
use axiom_model::agent::adapter::AgentAdapter;
use axiom_model::agent::stream::stream_event::TokenUsage;
use axiom_model::agent::stream::summary::since;
use axiom_model::base::ids::TaskId;
use axiom_model::queries::gate_use::{limits_of_tasks, spent_on};
use axiom_model::state::current_state::State;
use axiom_model::work::agent::{Agent, AgentWork};
use axiom_model::work::money::budget::{BudgetLimits, BudgetSpending, BudgetUsage, RunningIterationUsage};
use axiom_model::work::tasks::task::Task;
use axiom_model::work::usd::Usd;
use axiom_process::client::leftovers::worked_until;
use axiom_process::{KeeperState, keeper_state};
use axiom_safety::context::handle::Context;
use axiom_safety::running::programs::SessionPrograms;
use axiom_safety::running::steps::cut_off;
use axiom_safety::running::steps::cut_off::UncountedLook;
use axiom_safety::running::steps::program_told::heard;

/// The limits of a task: its own, and else those of the configuration.
pub(crate) fn limits_of(task: &Task, configured: BudgetLimits) -> BudgetLimits {
    task.limits.or(configured)
}

/// How the limits of a task stand: its own, and else those that the newest session has for each task.
pub fn used_of(ctx: &Context, task: &Task, now: Timestamp) -> Vec<BudgetUsage> {
    let state = ctx.state();
    let limits = limits_of(task, limits_of_tasks(state));
    let agent = state.agent_on(&task.id).filter(|_| !limits.is_empty());
    let running = agent.map(|agent| seen(ctx, (agent, task), limits, now)).unwrap_or_default();
    let looks = if limits.is_empty() { Vec::new() } else { looks_at(ctx, &task.id) };
    looks.iter().map(used_by_look).fold(spent_on(state, &task.id).with(running), BudgetSpending::with).of(limits)
}

/// The looks of personas at the work on a task that run, or that a crash cut off, and are not counted yet.
pub(crate) fn looks_at(ctx: &Context, task: &TaskId) -> Vec<UncountedLook> {
    let is_iteration = ctx.state().agent_on(task).is_some_and(|agent| agent.token().is_some());
    if is_iteration { Vec::new() } else { cut_off::uncounted(ctx, task) }
}

fn used_by_look(look: &UncountedLook) -> RunningIterationUsage {
    let UncountedLook { used, ran_ms, .. } = look;
    RunningIterationUsage { tokens: used.tokens, cost: used.cost_usd, time_ms: *ran_ms, end_unseen: used.end_unseen }
}

/// What the iteration of an agent has used, as its keeper's folder tells; tokens and cost where they are limited. What cannot be read
/// tells nothing.
pub(crate) fn seen(ctx: &Context, (agent, task): (&Agent, &Task), limits: BudgetLimits, now: Timestamp) -> RunningIterationUsage {
    let (Some(token), Some(work)) = (agent.token(), &agent.work) else { return RunningIterationUsage::default() };
    let run = ctx.layout().agents().run(&agent.id, token);
    let keeper = keeper_of(&run);
    let (time_ms, end_unseen) = (ran((&run, &keeper), now, None), is_cut_off(&run, &keeper));
    let only_time = RunningIterationUsage { time_ms, end_unseen, ..RunningIterationUsage::default() };
    if limits.max_cost.is_none() && limits.max_tokens.is_none() {
        return only_time;
    }
    match (SessionPrograms::configured(&ctx.config), heard(&run)) {
        (Ok(programs), Ok((told, _))) => {
            RunningIterationUsage { end_unseen, ..counted(ctx.state(), (work, programs.of(task)), &told.usage, time_ms) }
        }
        (_, _) => only_time,
    }
}

/// What the folder of a run says of its keeper; what cannot be read is taken for that of none.
pub(crate) fn keeper_of(run: &Path) -> KeeperState {
    keeper_state(run).unwrap_or(KeeperState::NotStarted)
}

/// How long the program of the run in this folder has run, whose keeper this is, in milliseconds; of one that was cut off, until its last
/// sign of life at least.
pub(crate) fn ran((run, keeper): (&Path, &KeeperState), now: Timestamp, sign: Option<Timestamp>) -> u64 {
    let began = match keeper {
        KeeperState::Ended(exit) => return exit.millis(),
        KeeperState::Alive(record) | KeeperState::Dead(record) | KeeperState::Unproved(record) => record.started_at,
        KeeperState::NotStarted | KeeperState::Starting => return 0,
    };
    let until = worked_until(run, keeper, sign.unwrap_or(began)).unwrap_or(now);
    u64::try_from(until.duration_since(began).as_millis()).unwrap_or(0)
}

/// Whether nobody recorded the end of the run in this folder, whose keeper this is, and its program does not run any more.
pub(crate) fn is_cut_off(run: &Path, keeper: &KeeperState) -> bool {
    matches!(keeper, KeeperState::Dead(_) | KeeperState::Unproved(_)) && worked_until(run, keeper, Timestamp::MIN).is_some()
}

/// The limits of a task that are reached, with what runs for it, as a session would find.
pub(crate) fn reached(ctx: &Context, task: &Task, running: RunningIterationUsage) -> Vec<BudgetUsage> {
    let limits = limits_of(task, ctx.config.budget.of_a_task());
    if limits.is_empty() { Vec::new() } else { spent_on(ctx.state(), &task.id).with(running).reached(limits) }
}

/// What becomes of a task that could go on but for its budget, in words; `None` where some of it is left.
pub(crate) fn waits_for_budget(ctx: &Context, task: &Task, running: RunningIterationUsage) -> Option<String> {
    let reached: Vec<String> = reached(ctx, task, running).iter().map(BudgetUsage::in_words).collect();
    (!reached.is_empty()).then(|| format!("waits for you at a gate: its budget is used up ({})", reached.join("; ")))
}

/// The same of the task of an agent whose iteration was cut off, and whose last sign of life was then.
pub(crate) fn waits_when_cut_off(ctx: &Context, (agent, task): (&Agent, &Task), sign: Timestamp) -> Option<String> {
    let limits = limits_of(task, ctx.config.budget.of_a_task());
    let run = ctx.layout().agents().run(&agent.id, agent.token()?);
    let now = env::now();
    let seen = RunningIterationUsage {
        time_ms: ran((&run, &keeper_of(&run)), now, Some(sign)),
        ..seen(ctx, (agent, task), limits, now)
    };
    waits_for_budget(ctx, task, seen)
}

/// The tokens and the cost of all iterations that run, and of these looks, where a session with these limits counts them.
pub(crate) fn of_all_running(
    ctx: &Context,
    looks: &[UncountedLook],
    limits: BudgetLimits,
    now: Timestamp,
) -> (Option<u64>, Option<Usd>) {
    let counts = limits.max_cost.is_some() || limits.max_tokens.is_some();
    let busy = ctx.state().busy_agents().filter(|_| counts);
    let task_of = |agent: &Agent| ctx.state().task(&agent.work.as_ref()?.task).ok();
    let mut running: Vec<RunningIterationUsage> =
        busy.filter_map(|agent| Some(seen(ctx, (agent, task_of(agent)?), limits, now))).collect();
    running.extend(looks.iter().filter(|_| counts).map(used_by_look));
    let tokens = running.iter().filter_map(|one| one.tokens).reduce(u64::saturating_add);
    let cost = running.iter().filter_map(|one| one.cost).reduce(|one, other| Usd(one.0.saturating_add(other.0)));
    (tokens, cost)
}

/// What an iteration has used that has run for so long, and whose program has told this.
pub(crate) fn counted(
    state: &State,
    (work, program): (&AgentWork, &AgentAdapter),
    told: &TokenUsage,
    time_ms: u64,
) -> RunningIterationUsage {
    let usage = since(*told, counted_before(state, &work.task, work.resumes.is_some()), &program.stream);
    let (tokens, cost) = (usage.tokens(), program.cost_of(&usage).and_then(Usd::of));
    RunningIterationUsage { tokens, cost, time_ms, end_unseen: false }
}

/// What a program's session had counted before a run that went on with it.
pub(crate) fn counted_before(state: &State, task: &TaskId, resumed: bool) -> TokenUsage {
    let last = state.record.tasks.get(task).and_then(|record| record.last_run.as_deref()).filter(|_| resumed);
    last.and_then(|run| run.session.as_ref()).map_or_else(TokenUsage::default, |session| session.usage)
}
