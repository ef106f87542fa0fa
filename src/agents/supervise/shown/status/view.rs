//! The status as the state and the running processes have it.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::agent_view::agent_view;
use super::documents::{
    DelayedTaskJson, MergeQueueJson, ProjectMetadataJson, ProjectStatusJson, SessionMetadataJson, SessionStatusJson,
    StatusDocument, StuckTaskJson, SupervisorStatusJson,
};
use super::live_processes::{LiveProcesses, recovery};
use axiom_model::base::forms::natural;
use axiom_model::base::ids::TaskId;
use axiom_model::queries::gate_line::OpenGateJson;
use axiom_model::queries::needs;
use axiom_model::queries::project::{LiveSessionStatus, ProjectStatus, current_agent, project_status};
use axiom_model::queries::view::{commands_of_stuck, count_tasks, open_gates, stuck};
use axiom_model::state::current_state::State;
use axiom_model::work::gates::gate::Gate;
use axiom_model::work::sessions::session::SessionState;
use axiom_model::work::signals::reports::TaskReports;
use axiom_model::work::tasks::task::{Task, TaskKind, TaskStatus};
use axiom_model::work::usd::Usd;
use axiom_safety::attach::attach_status::AttachStatus;

/// The status, from the state, the running processes, and the merges that are no longer in their targets.
pub fn view(state: &State, (who, lost_merges): (&LiveProcesses, Vec<TaskId>), now: Timestamp) -> StatusDocument {
    let alive = who.supervisor;
    let session = state.record.session.as_ref();
    let (tasks, mut progress) = count_tasks(state);
    progress.merged = progress.merged.saturating_sub(u32::try_from(lost_merges.len()).unwrap_or(u32::MAX));
    let metadata = SessionMetadataJson {
        started_at: session.map(|session| session.started_at),
        target: session.map(|session| session.target.clone()),
        slots: session.map(|session| session.slots),
        start_checkpoint: session.and_then(|session| session.start_checkpoint.as_ref()).map(ToString::to_string),
        checkpoints: state.record.checkpoints.len(),
        events: state.seq,
    };
    // Without a supervisor, nobody knows how long what still runs has run.
    let until = if alive { now } else { state.updated_at.unwrap_or(now) };
    let (waiting, decided): (Vec<&Gate>, Vec<&Gate>) = open_gates(state).into_iter().partition(|gate| gate.decision.is_none());
    let lines = |gates: Vec<&Gate>| {
        natural::sorted(gates, |gate| gate.id.as_str()).into_iter().map(OpenGateJson::from).collect::<Vec<_>>()
    };
    let waits = |task: &TaskId| waiting.iter().any(|gate| gate.task_id.as_ref() == Some(task));
    // What goes on by itself was decided by nobody.
    let decided = decided.into_iter().filter(|gate| !gate.goes_on()).collect();
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
            time_used_is_least: state.record.session_spent.time_doubt > 0,
        },
        supervisor: SupervisorStatusJson { alive: who.session, pid: session.filter(|_| who.session).map(|session| session.pid) },
        attended: alive,
        agents: state.restorable.agents.values().map(|agent| agent_view(state, agent, alive.then_some(now))).collect(),
        tasks,
        progress,
        gates: lines(waiting),
        decided: lines(decided),
        decided_by: String::new(),
        to_merge: to_merge(state),
        lost_merges,
        stuck: natural::sorted(stuck(state), |task| task.id.as_str()).into_iter().map(|task| stuck_line(state, task)).collect(),
        doing: Vec::new(),
        delays: delays(state, who.session),
        configuration: None,
        settling: Vec::new(),
        recovery: recovery(state, who),
        attached: AttachStatus::default(),
    }
}

fn stuck_line(state: &State, task: &Task) -> StuckTaskJson {
    let commands = commands_of_stuck(state, &task.id);
    StuckTaskJson { task_id: task.id.clone(), status: task.status, reason: task.reason.clone(), commands }
}

/// Only a running supervisor tries anything again.
pub(super) fn delays(state: &State, alive: bool) -> Vec<DelayedTaskJson> {
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

/// Tasks that are done, wait at no gate, and are merged when it is their turn.
pub(super) fn to_merge(state: &State) -> Vec<MergeQueueJson> {
    let at_gate: BTreeSet<&TaskId> = open_gates(state).into_iter().filter_map(|gate| gate.task_id.as_ref()).collect();
    let tasks = state.restorable.tasks.values().filter(|task| task.kind == TaskKind::Task && task.merged.is_none());
    let done = tasks.filter(|task| task.status == TaskStatus::Done && !at_gate.contains(&task.id));
    done.map(|task| MergeQueueJson { task_id: task.id.clone(), after: needs::to_merge_first(state, task).cloned().collect() })
        .collect()
}
