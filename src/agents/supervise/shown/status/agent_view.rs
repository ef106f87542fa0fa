//! One agent as the state has it.

use jiff::Timestamp;

use super::documents::{AgentStatusJson, ENDED};
use axiom_base::error::Code;
use axiom_model::planning::plan::PLANNER_AGENT;
use axiom_model::queries::groups::progress_of;
use axiom_model::queries::task_standing::TaskPartCounts;
use axiom_model::state::current_state::State;
use axiom_model::work::agent::{Agent, AgentWork, IterationStage};
use axiom_model::work::gates::gate::GateKind;
use axiom_model::work::sessions::session::{SessionState, SupervisorRequest};
use axiom_model::work::sessions::supervisor_activity::SupervisorActivity;
use axiom_model::work::signals::report_parts::TaskCaptureRecord;
use axiom_model::work::signals::reports::TaskReports;

/// Without a supervisor (`now` is `None`), nobody knows how long it has worked: up to its last sign of life.
pub(super) fn agent_view(state: &State, agent: &Agent, now: Option<Timestamp>) -> AgentStatusJson {
    let work = agent.work.as_ref();
    let record = work.and_then(|work| state.record.tasks.get(&work.task));
    let workspace = work.and_then(|work| state.restorable.workspaces.get(&work.task));
    let reports = work.and_then(|work| state.reports(&work.task));
    let captured = reports.and_then(|reports| reports.captured.as_ref());
    // Of what an earlier agent had left, nobody can tell what this one did.
    let captured = captured.filter(|captured| work.is_none_or(|work| captured.at >= work.claimed_at));
    let (captured_at, lines) = (captured.map(TaskCaptureRecord::seen_at_work), captured.and_then(|captured| captured.lines));
    let heard = work.map(|work| captured_at.map_or(work.last_activity, |at| at.max(work.last_activity)));
    let waiting_since = work.and_then(|work| waiting_since(state, work));
    let shown_state = work.map_or("idle", |work| agent_state(state, agent, (work, now.is_some())));
    // Whose program has ended works no longer, also while the session that is at its end looks after others.
    let works_now = now.filter(|_| shown_state != ENDED);
    let since_claimed =
        |work: &AgentWork| waiting_since.or(works_now).or(heard).map(|until| whole_seconds(work.claimed_at, until));
    AgentStatusJson {
        id: agent.id.to_string(),
        state: shown_state,
        task_id: work.map(|work| work.task.to_string()),
        title: work.and_then(|work| state.restorable.tasks.get(&work.task)).map(|task| task.title.clone()),
        iteration: work.map_or(0, |work| work.iteration),
        max_iterations: state.record.session.as_ref().map(|session| session.max_iterations),
        workspace: workspace.map(|workspace| workspace.path.clone()),
        branch: workspace.map(|workspace| workspace.branch.clone()),
        progress: work.and_then(|work| progress_of(state, work)),
        phase: work.and_then(|work| work.phase.clone()),
        parts: work.map(|_| reports.map(TaskPartCounts::of_reports).unwrap_or_default()),
        confidence: reports.and_then(TaskReports::confidence),
        estimated_completion: reports.and_then(|reports| reports.expected_at),
        waiting_since,
        claimed_at: work.map(|work| work.claimed_at),
        worked_until: waiting_since.or(heard.filter(|_| works_now.is_none())),
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
pub(super) fn planner_view(doing: &SupervisorActivity) -> AgentStatusJson {
    AgentStatusJson { id: PLANNER_AGENT.to_owned(), state: "running", phase: doing.name.clone(), ..AgentStatusJson::default() }
}

pub(super) fn waiting_since(state: &State, work: &AgentWork) -> Option<Timestamp> {
    let open = state.restorable.gates.values().filter(|gate| gate.decision.is_none());
    open.filter(|gate| gate.task_id.as_ref() == Some(&work.task)).map(|gate| gate.opened_at).min()
}

pub(super) fn whole_seconds(since: Timestamp, until: Timestamp) -> u64 {
    until.duration_since(since).as_secs().max(0).unsigned_abs()
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
        // No iteration of it begins any more: its task is released when the session ends.
        Some(SessionState::Ending) => ENDED,
        Some(SessionState::Paused | SessionState::Pausing) => "paused",
        // Between two iterations it waits for its next one; the first begins at once.
        Some(SessionState::Running) if gate.is_none() && matches!(work.stage, IterationStage::Between { last: None }) => {
            "running"
        }
        // Without a session somebody looks after what it left: 'recover', for example.
        Some(SessionState::Ended | SessionState::Interrupted | SessionState::Crashed) | None => "running",
        Some(SessionState::Running) => "waiting",
    }
}
