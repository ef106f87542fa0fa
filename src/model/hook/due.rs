//! Which hooks an event of the log is told to: those that only report. Hooks that decide are asked before anything happens.

use jiff::Timestamp;

use super::facts::{HookCompletion, HookFacts};
use crate::base::ids::{AgentId, TaskId};
use crate::base::text::ValueChange;
use crate::journal::journaled::OperationEnd;
use crate::journal::journaled::OperationKind;
use crate::planning::gates::gates_of;
use crate::planning::step::PlanStep;
use crate::state::current_state::State;
use crate::state::event::Event;
use crate::work::agent::IterationStage;
use crate::work::gates::gate::Gate;
use crate::work::hooks::hook_event::HookEvent;
use crate::work::iteration::IterationOutcome;
use crate::work::sessions::session::SessionState;
use crate::work::signals::learning_scope::LearningScope;
use crate::work::signals::signal::AgentSignal;
use crate::work::tasks::learnings::LearningId;
use crate::work::tasks::task::{TaskChangeSet, TaskFieldChange, TaskStatus};
use axiom_base::error::Code;

/// What hooks are told of an event that is appended to `before` as number `seq` at `at`.
pub fn due(event: &Event, before: &State, seq: u64, at: Timestamp) -> Vec<HookFacts> {
    match event {
        Event::WorkReleased { agent, status, reason, gate, .. } => {
            let ended = released(before, agent, *status, reason, at);
            let opened = gate.as_ref().and_then(|gate| opened(before, gate, at));
            ended.into_iter().chain(gave_up(before, agent, *status, reason, at)).chain(opened).collect()
        }
        Event::Signalled { agent, signal: signal @ AgentSignal::Learning { text, scope }, .. } => {
            // What was known before is told once.
            let new = before.learns(agent, signal, seq, at);
            new.map(|id| learnt(before, agent, (id, text, scope.as_deref()), at)).into_iter().collect()
        }
        Event::Planned { step } => planned(before, step, at),
        Event::GateOpened { gate } => opened(before, gate, at).into_iter().collect(),
        Event::IterationEnded { agent, report, .. } if report.outcome == IterationOutcome::Crashed => {
            vec![failed(before, agent, Code::KeeperFailed, "its keeper or the machine died during an iteration", at)]
        }
        Event::VerificationFailed { agent, why, round: _ } => vec![failed(before, agent, Code::VerifyFailed, why, at)],
        Event::MergeVerified { id, verification } => match verification.summary() {
            Some(why) => vec![of_task(before, id, HookEvent::OnError, at).with_error(Code::VerifyFailed, why)],
            None => Vec::new(),
        },
        Event::SessionChanged { state: SessionState::Pausing | SessionState::Paused | SessionState::Ending, reason } => {
            paused(before, reason, at).into_iter().collect()
        }
        Event::CheckpointCreated { checkpoint } => vec![HookFacts {
            checkpoint: Some(checkpoint.name.clone()),
            trigger: Some(checkpoint.trigger),
            commit_hash: checkpoint.git_commit.clone(),
            ..HookFacts::new(HookEvent::PostCheckpoint, at)
        }],
        Event::TasksChanged { edits } => merged(before, edits, at),
        Event::OperationEnded { end: OperationEnd::Done, edits, .. } => merged_by_operation(before, edits, at),
        Event::IterationEnded { .. }
        | Event::RecoveryDecided { .. }
        | Event::OperationEnded { .. }
        | Event::SessionChanged { .. }
        | Event::Signalled { .. }
        | Event::TasksAdded { .. }
        | Event::Audited { .. }
        | Event::HookRan { .. }
        | Event::LookCutOff { .. }
        | Event::StepVerified { .. }
        | Event::ConflictGivenBack { .. }
        | Event::SessionStarted { .. }
        | Event::ModeChanged { .. }
        | Event::Requested { .. }
        | Event::RequestHandled { .. }
        | Event::WorkspaceOpened { .. }
        | Event::WorkspaceClosed { .. }
        | Event::MergedBranchesLeave { .. }
        | Event::MergedBranchesLeft { .. }
        | Event::TaskClaimed { .. }
        | Event::IterationIntended { .. }
        | Event::IterationStarted { .. }
        | Event::Delayed { .. }
        | Event::GateDecided { .. }
        | Event::GateClosed { .. }
        | Event::CheckpointIntended { .. }
        | Event::CheckpointAbandoned { .. }
        | Event::Purged(_)
        | Event::CheckpointsDeleted { .. }
        | Event::OperationBegan { .. }
        | Event::OperationReversed { .. }
        | Event::StateAdopted { .. }
        | Event::RepositoryPlaced { .. }
        | Event::WorkspaceCaptured { .. }
        | Event::LearningEdited { .. }
        | Event::LearningForgotten { .. }
        | Event::ConfigBackupRestored { .. }
        | Event::LogRepaired { .. } => Vec::new(),
    }
}

fn merged_by_operation(before: &State, edits: &[TaskChangeSet], at: Timestamp) -> Vec<HookFacts> {
    match &before.record.open {
        Some(open) if matches!(open.operation.kind, OperationKind::Merge { .. }) => {
            merged(before, if edits.is_empty() { &open.operation.edits } else { edits }, at)
        }
        Some(_) | None => Vec::new(),
    }
}

fn learnt(before: &State, agent: &AgentId, (id, text, scope): (LearningId, &str, Option<&str>), at: Timestamp) -> HookFacts {
    let scope = Some(LearningScope::of_signal(scope).as_str().to_owned());
    HookFacts {
        learning_id: Some(id.to_string()),
        scope,
        content: Some(text.to_owned()),
        ..of_work(before, agent, HookEvent::OnLearning, at)
    }
}

/// The facts of an event about a task: its title, agent, branch and workspace.
pub fn of_task(state: &State, task: &TaskId, event: HookEvent, at: Timestamp) -> HookFacts {
    let workspace = state.restorable.workspaces.get(task);
    let last = || state.record.tasks.get(task).and_then(|record| record.last_agent.as_ref());
    HookFacts {
        task_id: Some(task.clone()),
        title: state.restorable.tasks.get(task).map(|case| case.title.clone()),
        agent: workspace.map(|workspace| &workspace.agent).or_else(last).cloned(),
        worktree: workspace.map(|workspace| workspace.path.clone()),
        branch: workspace.map(|workspace| workspace.branch.clone()),
        ..HookFacts::new(event, at)
    }
}

/// The facts of an event about the task that an agent works on.
fn of_work(state: &State, agent: &AgentId, event: HookEvent, at: Timestamp) -> HookFacts {
    let work = state.restorable.agents.get(agent).and_then(|agent| agent.work.as_ref());
    let about = work.map_or_else(|| HookFacts::new(event, at), |work| of_task(state, &work.task, event, at));
    HookFacts { agent: Some(agent.clone()), ..about }
}

fn failed(state: &State, agent: &AgentId, code: Code, why: &str, at: Timestamp) -> HookFacts {
    of_work(state, agent, HookEvent::OnError, at).with_error(code, why.to_owned())
}

fn released(state: &State, agent: &AgentId, status: TaskStatus, reason: &str, at: Timestamp) -> Option<HookFacts> {
    let completion = match status {
        TaskStatus::Done => HookCompletion::Done,
        TaskStatus::Blocked | TaskStatus::Failed => HookCompletion::Failed,
        TaskStatus::Pending | TaskStatus::Active | TaskStatus::Archived => return None,
    };
    let work = state.restorable.agents.get(agent).and_then(|agent| agent.work.as_ref())?;
    // All that agents worked on it, over all its claims: as `task show` and `stats` count it.
    let worked = state.record.tasks.get(&work.task).map_or(0, |record| record.duration_ms / 1000);
    Some(HookFacts {
        status: Some(completion),
        duration: Some(worked),
        reason: Some(reason.to_owned()),
        ..of_work(state, agent, HookEvent::PostTaskComplete, at)
    })
}

/// A task failed because its program did: each of its ends was another iteration, and only the last one is an error.
fn gave_up(state: &State, agent: &AgentId, status: TaskStatus, reason: &str, at: Timestamp) -> Option<HookFacts> {
    let work = state.restorable.agents.get(agent).and_then(|agent| agent.work.as_ref())?;
    let by_itself = matches!(work.stage, IterationStage::Between { last: Some(IterationOutcome::Unfinished { .. }) });
    (status == TaskStatus::Failed && by_itself).then(|| failed(state, agent, Code::AgentFailed, reason, at))
}

/// Something waits for a human: told once, also where it is opened again for the same.
fn opened(before: &State, gate: &Gate, at: Timestamp) -> Option<HookFacts> {
    let waits = |known: &Gate| known.decision.is_none() && known.reason == gate.reason;
    let known = before.restorable.gates.get(&gate.id).is_some_and(waits);
    (gate.decision.is_none() && !known).then(|| of_gate(before, gate, at))
}

/// The gates that a step of planning opens.
fn planned(before: &State, step: &PlanStep, at: Timestamp) -> Vec<HookFacts> {
    let Some(plan) = before.open_plan().and_then(|plan| plan.after(step, at).ok()) else { return Vec::new() };
    gates_of(&plan).iter().filter_map(|gate| opened(before, gate, at)).collect()
}

/// The facts of a gate.
pub fn of_gate(state: &State, gate: &Gate, at: Timestamp) -> HookFacts {
    let about = match &gate.task_id {
        Some(task) => of_task(state, task, HookEvent::OnGate, at),
        None => HookFacts::new(HookEvent::OnGate, at),
    };
    HookFacts {
        gate_id: Some(gate.id.clone()),
        kind: Some(gate.kind),
        reason: Some(one_line(&gate.reason)),
        command: Some(gate.kind.command(gate.id.as_str())),
        ..about
    }
}

/// A text as one line that does nothing to a terminal: hooks show it.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A pause is told once, when a running session begins to pause.
fn paused(state: &State, reason: &str, at: Timestamp) -> Option<HookFacts> {
    state.record.session.as_ref().filter(|session| session.state == SessionState::Running)?;
    Some(HookFacts {
        reason: Some(reason.to_owned()),
        running_tasks: running_tasks(state),
        ..HookFacts::new(HookEvent::OnPause, at)
    })
}

/// The tasks that agents work on.
pub fn running_tasks(state: &State) -> Vec<TaskId> {
    state.busy_agents().filter_map(|agent| agent.work.as_ref()).map(|work| work.task.clone()).collect()
}

fn merged(state: &State, edits: &[TaskChangeSet], at: Timestamp) -> Vec<HookFacts> {
    let each = edits.iter().flat_map(|edit| edit.changes.iter().map(move |change| (&edit.id, change)));
    let merges = each.filter_map(|(task, change)| {
        let TaskFieldChange::Merged(ValueChange { old: None, new: Some(merged) }) = change else { return None };
        Some((task, merged))
    });
    let told = merges.map(|(task, merged)| HookFacts {
        commit_hash: Some(merged.commit.clone()),
        target: Some(merged.target.clone()),
        ..of_task(state, task, HookEvent::PostMerge, at)
    });
    told.collect()
}
