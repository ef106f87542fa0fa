//! The present status of session, agents and tasks, from the state and the supervisor's lock. Opens no git objects.

use std::collections::{BTreeSet, HashSet};

use jiff::Timestamp;
use serde::Serialize;

use super::doing;
use super::keeper_now::{KeeperObservation, worked_until};
use crate::plan;
use crate::revert_task::settling;
use crate::tasks::usage;
use axiom_base::error::{Code, Result};
use axiom_model::base::forms::natural;
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::planning::plan::PLANNER_AGENT;
use axiom_model::queries::gate_line::OpenGateJson;
use axiom_model::queries::needs;
use axiom_model::queries::project::{LiveSessionStatus, ProjectStatus, current_agent, project_status};
use axiom_model::queries::task_standing::TaskPartCounts;
use axiom_model::queries::view::{TaskProgress, TaskStatusCounts, count_tasks, stuck};
use axiom_model::state::current_state::State;
use axiom_model::work::agent::{Agent, AgentWork, IterationStage};
use axiom_model::work::endings::delay::DelayedSessionStep;
use axiom_model::work::gates::gate::{Gate, GateKind};
use axiom_model::work::money::budget::{BudgetLimits, BudgetUsage, BudgetUsageJson};
use axiom_model::work::sessions::session::{SessionState, SupervisorRequest};
use axiom_model::work::sessions::supervisor_activity::{SupervisorActivity, SupervisorActivityKind};
use axiom_model::work::signals::reports::TaskReports;
use axiom_model::work::tasks::task::{Task, TaskKind, TaskStatus};
use axiom_model::work::usd::Usd;
use axiom_safety::attach::attach_status::{AttachStatus, attached};
use axiom_safety::beside_log::session_lock;
use axiom_safety::context::conflict_notes::RevertConflictWorktree;
use axiom_safety::context::handle::{Context, OpenOperationProgress};
use axiom_safety::running::output::last::last_printed;
use axiom_safety::settings::trust;

/// The answer of `git axiom status`; its JSON keys are a contract.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusDocument {
    /// The session.
    pub session: SessionStatusJson,
    /// A summary of the project.
    pub project: ProjectStatusJson,
    /// The supervisor.
    pub supervisor: SupervisorStatusJson,
    /// Whether a process looks after agents: the supervisor, or a verb in its place.
    #[serde(skip)]
    pub attended: bool,
    /// All agents that have ever worked, by id.
    pub agents: Vec<AgentStatusJson>,
    /// The number of tasks by stored status.
    pub tasks: TaskStatusCounts,
    /// Derived counts, in addition to the stored status.
    pub progress: TaskProgress,
    /// Gates that wait for a human.
    pub gates: Vec<OpenGateJson>,
    /// Gates that a human has decided, until that is carried out.
    pub decided: Vec<OpenGateJson>,
    /// Tasks that are done and wait to be merged, where no gate says why they wait.
    pub to_merge: Vec<MergeQueueJson>,
    /// Tasks that do not go on unless a human does something, by id.
    pub stuck: Vec<StuckTaskJson>,
    /// What is being done now besides the programs of agents.
    pub doing: Vec<SupervisorActivity>,
    /// What the session tries again later.
    pub delays: Vec<DelayedTaskJson>,
    /// Why the configuration does not count as it is written; `None` where it does, or where nobody has looked.
    pub configuration: Option<String>,
    /// Conflicts of rollbacks that a user is resolving.
    pub settling: Vec<RevertConflictWorktree>,
    /// Whether a recovery is needed.
    pub recovery: RecoveryNeedJson,
    /// Agents that a human runs, and watches.
    pub attached: AttachStatus,
}

impl StatusDocument {
    /// The active tasks that a crash cut off and that nothing has recovered yet: nobody works on them, while the log still has them active.
    pub fn cut_off(&self) -> HashSet<TaskId> {
        let dead = self.agents.iter().filter(|agent| agent.is_dead() && !self.attended);
        dead.filter_map(|agent| TaskId::new(agent.task_id.as_deref()?).ok()).collect()
    }
}

/// The session's part of the answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionStatusJson {
    /// Its id; `None` where there has been no session.
    pub id: Option<String>,
    /// Its present state.
    pub state: LiveSessionStatus,
    /// semi-auto or autopilot.
    pub mode: &'static str,
    /// How many tasks were cut short by a session that ended while it was paused.
    pub set_aside: usize,
    /// The last action, in words.
    pub last_action: Option<String>,
    /// When that was.
    pub last_action_at: Option<Timestamp>,
    /// The time of the last event.
    pub updated_at: Option<Timestamp>,
    /// More about the session.
    pub metadata: SessionMetadataJson,
    /// What the session may use.
    pub limits: Option<BudgetLimits>,
    /// What its iterations used, also those that run where it has limits; `None` before the first session.
    pub tokens_used: Option<u64>,
    /// The same in US dollars.
    pub cost_usd: Option<f64>,
    /// How long programs ran in it, in milliseconds.
    pub time_used_ms: u64,
}

/// A summary of the project for scripts: one task, one agent, one word.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectStatusJson {
    /// The task with the most recent activity, among those that agents work on.
    pub current_task_id: Option<String>,
    /// The agent that works on it.
    pub current_agent_id: Option<String>,
    /// The last action, in words.
    pub last_action: Option<String>,
    /// Its status.
    pub status: ProjectStatus,
    /// The time of the last event.
    pub updated_at: Option<Timestamp>,
    /// As in the session, and more.
    pub metadata: ProjectMetadataJson,
}

/// More about the project.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectMetadataJson {
    /// The same as in the session.
    #[serde(flatten)]
    pub session: SessionMetadataJson,
    /// How many files the iterations of the current or newest task changed.
    pub files_modified: u64,
    /// Whether its verification passed when it was last run.
    pub tests_passing: Option<bool>,
}

/// More about the session.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionMetadataJson {
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// The branch that work is merged into.
    pub target: Option<String>,
    /// How many agents may work at the same time.
    pub slots: Option<u32>,
    /// The checkpoint for a rollback of the session.
    pub start_checkpoint: Option<String>,
    /// How many checkpoints there are.
    pub checkpoints: usize,
    /// The number of the last event.
    pub events: u64,
}

/// The supervisor's part of the answer.
#[derive(Debug, Serialize)]
pub struct SupervisorStatusJson {
    /// Whether it runs, which its lock shows for certain.
    pub alive: bool,
    /// Its process id, while it runs.
    pub pid: Option<u32>,
}

/// One agent.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentStatusJson {
    /// Its id.
    pub id: String,
    /// idle, running, verifying, waiting, paused, held, stopping, ended or dead.
    pub state: &'static str,
    /// The task it works on.
    pub task_id: Option<String>,
    /// The task's title.
    pub title: Option<String>,
    /// Iterations of this attempt so far.
    pub iteration: u32,
    /// The most iterations that the session allows.
    pub max_iterations: Option<u32>,
    /// The workspace's path.
    pub workspace: Option<String>,
    /// The task's branch.
    pub branch: Option<String>,
    /// Progress in percent, as the agent reports it.
    pub progress: Option<u8>,
    /// The phase that the agent reports.
    pub phase: Option<String>,
    /// The parts of the task that its agents named; `None` where it works on none.
    pub parts: Option<TaskPartCounts>,
    /// How sure the agent is of its work, 0 to 1.
    pub confidence: Option<f64>,
    /// When it expects to be done.
    pub estimated_completion: Option<Timestamp>,
    /// Since when the task waits for a human.
    pub waiting_since: Option<Timestamp>,
    /// Seconds since the claim.
    pub duration: Option<u64>,
    /// When it was claimed.
    #[serde(skip)]
    pub claimed_at: Option<Timestamp>,
    /// Until when it worked, where it does not any more and no supervisor goes on with it; of a dead one the least.
    #[serde(skip)]
    pub worked_until: Option<Timestamp>,
    /// Tokens used on the task, where the program reports them.
    pub tokens_used: Option<u64>,
    /// Cost of the task in US dollars, where the program reports it.
    pub cost_usd: Option<f64>,
    /// How the limits of its task stand, with what runs.
    pub limits: Vec<BudgetUsageJson>,
    /// The same in words, where there are some.
    #[serde(skip)]
    pub budget: Option<String>,
    /// When it last did something: what is recorded of it, or what it printed.
    pub last_activity: Option<Timestamp>,
    /// What is being done for it now, where its program does not run.
    pub doing: Option<String>,
    /// The last line that it printed.
    pub last_line: Option<String>,
    /// How many lines the newest capture of its workspace adds to where the branch was started.
    pub insertions: Option<u64>,
    /// How many it removes.
    pub deletions: Option<u64>,
}

/// A task that is done and waits to be merged.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MergeQueueJson {
    /// The task.
    pub task_id: TaskId,
    /// The tasks that are merged before it.
    pub after: Vec<TaskId>,
}

/// A task that failed or is blocked.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StuckTaskJson {
    /// The task.
    pub task_id: TaskId,
    /// failed or blocked.
    pub status: TaskStatus,
    /// Why.
    pub reason: Option<String>,
}

/// A task for which a step failed and is tried again later.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DelayedTaskJson {
    /// The task.
    pub task_id: String,
    /// What failed, and why.
    #[serde(flatten)]
    pub delay: DelayedSessionStep,
}

/// Whether a recovery is needed.
#[derive(Debug, Serialize)]
pub struct RecoveryNeedJson {
    /// Whether `git axiom recover` has something to do.
    pub needed: bool,
    /// Why, in words.
    pub reasons: Vec<String>,
}

impl RecoveryNeedJson {
    /// What is to be recovered, and how; empty where nothing is.
    pub fn in_words(&self) -> String {
        if !self.needed {
            return String::new();
        }
        format!("To be recovered: {}; see 'git axiom recover'.\n", self.reasons.join("; "))
    }
}

/// The state of an agent whose program has ended and whose end nobody has seen yet, as there is no session.
const ENDED: &str = "ended";
/// The state of an agent whose work is verified.
const VERIFYING: &str = "verifying";
/// The state of an agent whose keeper has died.
const DEAD: &str = "dead";

impl AgentStatusJson {
    /// Whether it is at work on a task, as far as is seen.
    pub fn works(&self) -> bool {
        ["running", VERIFYING, "stopping"].contains(&self.state)
    }

    /// Whether it has work, and was not left with it: its program has not ended, or somebody goes on with what it did.
    pub fn is_there(&self) -> bool {
        self.task_id.is_some() && ![ENDED, DEAD].contains(&self.state)
    }

    /// Whether a crash ended it, and nobody has seen to that yet.
    pub fn is_dead(&self) -> bool {
        self.state == DEAD
    }
}

/// The status, from the state when it was last read. `now` is for durations.
pub fn status(ctx: &Context, now: Timestamp) -> Result<StatusDocument> {
    let who = alive(ctx)?;
    let mut status = StatusDocument { settling: settling(ctx)?, ..view(ctx.state(), &who, now) };
    status.recovery = with_what_is_seen(ctx, status.recovery)?;
    status.attached = attached(ctx);
    let gates = status.gates.iter_mut().chain(&mut status.decided);
    trust::say_what_is_approved(ctx, gates.map(OpenGateJson::reason_and_decided));
    status.doing = doing::now(ctx)?;
    // A session is at rest once its verifications have ended, too.
    if status.session.state == LiveSessionStatus::Paused && status.doing.iter().any(SupervisorActivity::is_verification) {
        status.session.state = LiveSessionStatus::Pausing;
    }
    let planner = status.doing.iter().find(|doing| doing.what == SupervisorActivityKind::Plans).map(planner_view);
    status.agents.extend(planner);
    for view in &mut status.agents {
        let of_agent = |doing: &&SupervisorActivity| doing.agent_id.as_ref().is_some_and(|agent| agent.as_str() == view.id);
        // What is said of what is done may be a moment older than the state.
        let doing = status.doing.iter().find(of_agent).filter(|doing| doing.task_id.is_none() || view.task_id.is_some());
        view.doing = doing.map(SupervisorActivity::what_in_words);
        match doing.map(|doing| doing.what) {
            Some(SupervisorActivityKind::Ends) => view.state = "stopping",
            Some(SupervisorActivityKind::HoldsAgent) => view.state = "held",
            Some(SupervisorActivityKind::Verifies) => view.state = VERIFYING,
            Some(_) | None => {}
        }
        if view.doing.is_some() && view.state == "paused" {
            // Its program does not run, and a pause waits for what is done for it.
            view.state = "running";
        }
        let Some(agent) = ctx.state().restorable.agents.get(view.id.as_str()) else { continue };
        let seen = KeeperObservation::of(ctx, agent);
        match (seen, status.attended) {
            (KeeperObservation::Dead, true) => view.state = DEAD,
            (_, true) => {}
            // Nobody has seen its end yet.
            (KeeperObservation::Ended, false) => view.state = ENDED,
            (seen, false) if seen.leaves(agent) => view.state = DEAD,
            (_, false) => {}
        }
        if let Some(task) = agent.work.as_ref().and_then(|work| ctx.state().restorable.tasks.get(&work.task)) {
            let used = usage::used_of(ctx, task, now);
            view.limits = used.iter().map(BudgetUsageJson::from).collect();
            view.budget = (!used.is_empty()).then(|| used.iter().map(BudgetUsage::in_words).collect::<Vec<_>>().join("; "));
        }
        let Some(work) = &agent.work else { continue };
        // The status does not fail because of a log that cannot be read.
        let printed = last_printed(&ctx.layout().agent_log(&agent.id, &work.task), &ctx.config, work.iteration);
        let printed = printed.ok().flatten();
        view.last_activity = view.last_activity.max(printed.as_ref().map(|printed| printed.at));
        view.last_line = printed.and_then(|printed| printed.line);
        if let Some(sign) = view.last_activity.filter(|_| !status.attended) {
            view.worked_until = worked_until(ctx, agent, sign);
            view.duration = Some(whole_seconds(work.claimed_at, view.worked_until.unwrap_or(now)));
        }
    }
    let (tokens, cost) = usage::of_all_running(ctx, status.session.limits.unwrap_or_default(), now);
    let session = &mut status.session;
    session.tokens_used = sum(session.tokens_used, tokens, u64::saturating_add);
    session.cost_usd = sum(session.cost_usd, cost.map(Usd::dollars), |one, other| one + other);
    if let Some(until) = ran_until(ctx, &status, now) {
        status.session.time_used_ms = ctx.state().record.session_time.millis(until);
    }
    Ok(status)
}

fn sum<T>(one: Option<T>, other: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(add(one, other)),
        (one, other) => one.or(other),
    }
}

/// Until when the programs have run that the log has as running, where nobody attends to them.
fn ran_until(ctx: &Context, status: &StatusDocument, now: Timestamp) -> Option<Timestamp> {
    let runs = |agent: &&Agent| agent.work.as_ref().is_some_and(|work| matches!(work.stage, IterationStage::Running { .. }));
    let running = ctx.state().restorable.agents.values().filter(|_| !status.attended).filter(runs);
    let shown = |agent: &Agent| status.agents.iter().find(|view| view.id == agent.id.as_str());
    running.filter_map(shown).map(|view| view.worked_until.unwrap_or(now)).max()
}

/// Looks which of the processes in the state are running.
fn alive(ctx: &Context) -> Result<LiveProcesses> {
    let supervisor = ctx.supervisor_alive()?;
    let session = supervisor && session_lock::is_of(ctx.layout(), ctx.state().record.session.as_ref())?;
    let operation = !matches!(ctx.open_operation()?, Some((_, OpenOperationProgress::Interrupted)));
    let wants = |agent: &&Agent| {
        agent
            .work
            .as_ref()
            .is_some_and(|work| work.stage.wants_recovery(KeeperObservation::of(ctx, agent) == KeeperObservation::Works))
    };
    let unattended =
        if supervisor { Vec::new() } else { ctx.state().busy_agents().filter(wants).map(|agent| agent.id.clone()).collect() };
    Ok(LiveProcesses { supervisor, session, operation, unattended })
}

/// What is to be recovered now: what a crash left, and what is damaged.
pub fn to_recover(ctx: &Context) -> Result<RecoveryNeedJson> {
    with_what_is_seen(ctx, recovery(ctx.state(), &alive(ctx)?))
}

/// The same with what the state does not say: planning that was cut off, and damage.
fn with_what_is_seen(ctx: &Context, mut recovery: RecoveryNeedJson) -> Result<RecoveryNeedJson> {
    if let Some(plan) = ctx.state().open_plan().filter(|plan| plan.running.is_some())
        && !plan::planner_runs(ctx)?
    {
        recovery.needed = true;
        let phase = plan.phase.as_str();
        recovery.reasons.push(format!("planning was cut off in the phase {phase} (git axiom plan recover)"));
    }
    if let Some(damage) = damaged(ctx)? {
        recovery.needed = true;
        recovery.reasons.push(damage);
    }
    Ok(recovery)
}

/// What keeps checkpoints from being made, as far as it can be seen without reading objects: a main worktree whose commit, branch or
/// index is damaged.
fn damaged(ctx: &Context) -> Result<Option<String>> {
    let Ok(main) = ctx.repo.worktrees().main_worktree() else { return Ok(None) };
    let head = ctx.repo.workspaces().head_damage(&main)?;
    let damage = match head {
        Some(head) => Some(head),
        None => ctx.repo.workspaces().blank_index(&main)?,
    };
    Ok(damage.map(|damage| damage.words()))
}

/// Which of the processes in the state are running.
#[derive(Debug, Clone)]
pub struct LiveProcesses {
    /// Whether a process looks after agents: the supervisor, or a verb in its place.
    pub supervisor: bool,
    /// Whether that is the supervisor of the newest session.
    pub session: bool,
    /// Whether a process carries out the open operation; true where none is open.
    pub operation: bool,
    /// The agents whose work waits for a recovery.
    pub unattended: Vec<AgentId>,
}

/// The status, from the state and the running processes.
pub fn view(state: &State, who: &LiveProcesses, now: Timestamp) -> StatusDocument {
    let alive = who.supervisor;
    let session = state.record.session.as_ref();
    let (tasks, progress) = count_tasks(state);
    let metadata = SessionMetadataJson {
        started_at: session.map(|session| session.started_at),
        target: session.map(|session| session.target.to_string()),
        slots: session.map(|session| session.slots),
        start_checkpoint: session.and_then(|session| session.start_checkpoint.as_ref()).map(ToString::to_string),
        checkpoints: state.record.checkpoints.len(),
        events: state.seq,
    };
    // Without a supervisor, nobody knows how long what still runs has run.
    let until = if alive { now } else { state.updated_at.unwrap_or(now) };
    let (waiting, decided): (Vec<&Gate>, Vec<&Gate>) = state.restorable.gates.values().partition(|gate| gate.decision.is_none());
    let lines = |gates: Vec<&Gate>| {
        natural::sorted(gates, |gate| gate.id.as_str()).into_iter().map(OpenGateJson::from).collect::<Vec<_>>()
    };
    // What is held at another gate waits there; what goes on by itself was decided by nobody.
    let waits = |task: &TaskId| waiting.iter().any(|gate| gate.task_id.as_ref() == Some(task));
    let is_held = |gate: &Gate| gate.task_id.as_ref().is_some_and(waits);
    let decided = decided.into_iter().filter(|gate| !gate.goes_on() && !is_held(gate)).collect();
    let now_is = session_now(state, who.session);
    // What waits for a human's answer is what 'run' does not go on with.
    let set_aside = state.record.tasks.iter().filter(|(task, record)| record.set_aside.is_some() && !waits(task)).count();
    StatusDocument {
        project: project_view(state, project_status(now_is, &tasks, &progress, set_aside), metadata.clone()),
        session: SessionStatusJson {
            id: session.map(|session| session.id.to_string()),
            state: now_is,
            mode: state.restorable.mode.as_str(),
            set_aside,
            last_action: state.record.last_action.clone(),
            last_action_at: state.record.last_action_at,
            updated_at: state.updated_at,
            metadata,
            limits: session.map(|session| session.limits),
            tokens_used: state.record.session_spent.tokens,
            cost_usd: state.record.session_spent.cost.map(Usd::dollars),
            time_used_ms: state.record.session_time.millis(until),
        },
        supervisor: SupervisorStatusJson { alive: who.session, pid: session.filter(|_| who.session).map(|session| session.pid) },
        attended: alive,
        agents: state.restorable.agents.values().map(|agent| agent_view(state, agent, alive.then_some(now))).collect(),
        tasks,
        progress,
        gates: lines(waiting),
        decided: lines(decided),
        to_merge: to_merge(state),
        stuck: natural::sorted(stuck(state), |task| task.id.as_str()).into_iter().map(stuck_line).collect(),
        doing: Vec::new(),
        delays: delays(state, who.session),
        configuration: None,
        settling: Vec::new(),
        recovery: recovery(state, who),
        attached: AttachStatus::default(),
    }
}

fn stuck_line(task: &Task) -> StuckTaskJson {
    StuckTaskJson { task_id: task.id.clone(), status: task.status, reason: task.reason.clone() }
}

/// Only a running supervisor tries anything again.
fn delays(state: &State, alive: bool) -> Vec<DelayedTaskJson> {
    let all = state.record.delays.iter().filter(|_| alive);
    let sorted = natural::sorted(all, |(task, _)| task.as_str());
    sorted.into_iter().map(|(task, delay)| DelayedTaskJson { task_id: task.to_string(), delay: delay.clone() }).collect()
}

fn session_now(state: &State, alive: bool) -> LiveSessionStatus {
    match state.record.session.as_ref().map(|session| session.state) {
        Some(state) if state.is_crash_without_supervisor() && !alive => LiveSessionStatus::Crashed,
        Some(SessionState::Running) => LiveSessionStatus::Running,
        Some(SessionState::Ending) if !alive => LiveSessionStatus::Idle,
        Some(SessionState::Ending) => LiveSessionStatus::Ending,
        Some(SessionState::Pausing) => LiveSessionStatus::Pausing,
        Some(SessionState::Paused) => LiveSessionStatus::Paused,
        Some(SessionState::Ended | SessionState::Interrupted | SessionState::Crashed) | None => LiveSessionStatus::Idle,
    }
}

fn project_view(state: &State, status: ProjectStatus, metadata: SessionMetadataJson) -> ProjectStatusJson {
    let agent = current_agent(state);
    let task = agent.and_then(|agent| agent.work.as_ref()).map(|work| &work.task);
    let reports = task.and_then(|task| state.reports(task)).or_else(|| newest_reports(state));
    ProjectStatusJson {
        current_task_id: task.map(ToString::to_string),
        current_agent_id: agent.map(|agent| agent.id.to_string()),
        last_action: state.record.last_action.clone(),
        status,
        updated_at: state.updated_at,
        metadata: ProjectMetadataJson {
            session: metadata,
            files_modified: reports.map_or(0, |reports| reports.files_modified),
            tests_passing: reports.and_then(|reports| reports.verified),
        },
    }
}

/// What was reported of the task of which something was recorded last.
fn newest_reports(state: &State) -> Option<&TaskReports> {
    let all = state.restorable.reports.keys().filter_map(|task| state.reports(task));
    all.max_by_key(|reports| reports.recorded_at)
}

fn recovery(state: &State, who: &LiveProcesses) -> RecoveryNeedJson {
    let mut reasons = Vec::new();
    if let Some(open) = &state.record.open
        && !who.operation
    {
        reasons.push(format!("'{}' was interrupted", open.operation.title));
    }
    if !who.supervisor {
        if state.record.session.as_ref().is_some_and(|session| session.state.is_crash_without_supervisor()) {
            reasons.push("the last session ended unexpectedly".to_owned());
        }
        let left: Vec<&str> = who.unattended.iter().map(AgentId::as_str).collect();
        if !left.is_empty() {
            reasons.push(format!("no supervisor attends to {}", left.join(", ")));
        }
    }
    RecoveryNeedJson { needed: !reasons.is_empty(), reasons }
}

/// Without a supervisor (`now` is `None`), nobody knows how long it has worked: up to its last sign of life.
fn agent_view(state: &State, agent: &Agent, now: Option<Timestamp>) -> AgentStatusJson {
    let work = agent.work.as_ref();
    let record = work.and_then(|work| state.record.tasks.get(&work.task));
    let workspace = work.and_then(|work| state.restorable.workspaces.get(&work.task));
    let reports = work.and_then(|work| state.reports(&work.task));
    let captured = reports.and_then(|reports| reports.captured.as_ref());
    let (captured_at, lines) = (captured.map(|captured| captured.at), captured.and_then(|captured| captured.lines));
    let heard = work.map(|work| captured_at.map_or(work.last_activity, |at| at.max(work.last_activity)));
    let since_claimed = |work: &AgentWork| now.or(heard).map(|until| whole_seconds(work.claimed_at, until));
    AgentStatusJson {
        id: agent.id.to_string(),
        state: work.map_or("idle", |work| agent_state(state, agent, (work, now.is_some()))),
        task_id: work.map(|work| work.task.to_string()),
        title: work.and_then(|work| state.restorable.tasks.get(&work.task)).map(|task| task.title.clone()),
        iteration: work.map_or(0, |work| work.iteration),
        max_iterations: state.record.session.as_ref().map(|session| session.max_iterations),
        workspace: workspace.map(|workspace| workspace.path.clone()),
        branch: workspace.map(|workspace| workspace.branch.to_string()),
        progress: work.and_then(|work| work.progress),
        phase: work.and_then(|work| work.phase.clone()),
        parts: work.map(|_| reports.map(TaskPartCounts::of_reports).unwrap_or_default()),
        confidence: reports.and_then(TaskReports::confidence),
        estimated_completion: reports.and_then(|reports| reports.expected_at),
        waiting_since: work.and_then(|work| waiting_since(state, work)),
        claimed_at: work.map(|work| work.claimed_at),
        worked_until: heard.filter(|_| now.is_none()),
        duration: work.and_then(since_claimed),
        tokens_used: record.and_then(|record| record.tokens_used),
        cost_usd: record.and_then(|record| record.cost_usd),
        limits: Vec::new(),
        budget: None,
        last_activity: heard,
        doing: None,
        last_line: None,
        insertions: lines.map(|lines| lines.insertions),
        deletions: lines.map(|lines| lines.deletions),
    }
}

/// The planner, which works on no task.
fn planner_view(doing: &SupervisorActivity) -> AgentStatusJson {
    AgentStatusJson { id: PLANNER_AGENT.to_owned(), state: "running", phase: doing.name.clone(), ..AgentStatusJson::default() }
}

fn waiting_since(state: &State, work: &AgentWork) -> Option<Timestamp> {
    let open = state.restorable.gates.values().filter(|gate| gate.decision.is_none());
    open.filter(|gate| gate.task_id.as_ref() == Some(&work.task)).map(|gate| gate.opened_at).min()
}

fn whole_seconds(since: Timestamp, until: Timestamp) -> u64 {
    until.duration_since(since).as_secs().max(0).unsigned_abs()
}

/// Tasks that are done, wait at no gate, and are merged when it is their turn.
fn to_merge(state: &State) -> Vec<MergeQueueJson> {
    let at_gate: BTreeSet<&TaskId> = state.restorable.gates.values().filter_map(|gate| gate.task_id.as_ref()).collect();
    let tasks = state.restorable.tasks.values().filter(|task| task.kind == TaskKind::Task && task.merged.is_none());
    let done = tasks.filter(|task| task.status == TaskStatus::Done && !at_gate.contains(&task.id));
    done.map(|task| MergeQueueJson { task_id: task.id.clone(), after: needs::to_merge_first(state, task).cloned().collect() })
        .collect()
}

fn agent_state(state: &State, agent: &Agent, (work, is_supervised): (&AgentWork, bool)) -> &'static str {
    // Asked for, and not begun yet.
    let stopping = state.record.requests.values().any(|request| match request {
        SupervisorRequest::Stop { agents, .. } | SupervisorRequest::Kill { agents, .. } => {
            agents.is_empty() || agents.contains(&agent.id)
        }
        SupervisorRequest::Redirect { agent: sent, .. } => *sent == agent.id,
        SupervisorRequest::Block { tasks, .. } => tasks.contains(&work.task),
        // An agent has a moment to end its iteration by itself: who is really being ended is seen in what is done.
        SupervisorRequest::Quit
        | SupervisorRequest::Pause { .. }
        | SupervisorRequest::Resume
        | SupervisorRequest::Merge { .. } => false,
    });
    if stopping {
        return "stopping";
    }
    let gate = state.restorable.gates.values().find(|gate| gate.task_id.as_ref() == Some(&work.task));
    if gate.is_some_and(|gate| gate.kind == GateKind::Question && gate.decision.is_none()) {
        return "waiting";
    }
    match &work.stage {
        IterationStage::Intended { .. } | IterationStage::Running { .. } => return "running",
        // What it did is known, and nobody goes on with it.
        IterationStage::Between { .. } if !is_supervised => return ENDED,
        IterationStage::Between { .. } => {}
    }
    if state.record.delays.get(&work.task).is_some_and(|delay| delay.code == Code::ModelBusy.as_str()) {
        return "waiting";
    }
    match state.record.session.as_ref().map(|session| session.state) {
        // No iteration of it begins any more, and its task is released in a moment.
        Some(SessionState::Ending) => "stopping",
        Some(SessionState::Paused | SessionState::Pausing) => "paused",
        Some(SessionState::Running) if gate.is_none() => "running",
        // Without a session somebody looks after what it left: 'recover', for example.
        Some(SessionState::Ended | SessionState::Interrupted | SessionState::Crashed) | None => "running",
        Some(SessionState::Running) => "waiting",
    }
}
