//! What is traced of an event for a supporter: names, numbers and codes. No words of agents or humans, no output, no environment:
//! traces are sent to others. Pure.

use super::current_state::State;
use super::event::Event;
use crate::base::ids::{AgentId, TaskId};
use crate::journal::journaled::OperationEnd;
use crate::journal::journaled::{JournaledOperation, OperationKind};
use crate::work::endings::delay::DelayedSessionStep;
use crate::work::gates::gate::GateDecision;
use crate::work::iteration::{IterationOutcome, IterationReport};
use crate::work::sessions::session::{Session, SessionState, SupervisorRequest};
use crate::work::tasks::task::TaskChangeSet;
use crate::work::verifying::verification::VerifyStepResult;

/// How much somebody has to ask for to see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceInterest {
    /// It says what happened.
    Info,
    /// It is a step in between.
    Debug,
}

/// What is known of an event, as `key=value`.
pub type TraceFacts = Vec<(&'static str, String)>;

fn known<T: ToString>(name: &'static str, value: Option<T>) -> Option<(&'static str, String)> {
    value.map(|value| (name, value.to_string()))
}

/// What is traced of an event; `state` is the state after it.
pub fn facts(event: &Event, state: &State) -> (TraceInterest, TraceFacts) {
    match event {
        Event::SessionStarted { session } => (TraceInterest::Info, begun(session, state)),
        Event::SessionChanged { state: now, .. } => (TraceInterest::Info, session_facts(*now, state)),
        Event::ModeChanged { mode } => info([("from", mode.old.as_str().to_owned()), ("to", mode.new.as_str().to_owned())]),
        Event::Requested { id, request, .. } => info([("request", id.to_string()), ("what", request_word(request).to_owned())]),
        Event::RequestHandled { id, done, message: _ } => info([("request", id.to_string()), ("done", done.to_string())]),
        Event::TaskClaimed { agent, .. } => of_agent(agent, [], state),
        Event::IterationIntended { agent, iteration, program, resumes, .. } => {
            let facts =
                [("iteration", iteration.to_string()), ("program", program.clone()), ("resumes", resumes.is_some().to_string())];
            of_agent(agent, facts, state)
        }
        Event::IterationEnded { agent, report, .. } => of_agent(agent, iteration_facts(report), state),
        Event::WorkReleased { agent, status, retry, gate, .. } => {
            let held = ("gate", gate.is_some().to_string());
            of_agent(agent, [("status", status.to_string()), ("retry", retry.to_string()), held], state)
        }
        Event::RecoveryDecided { agent, decision, .. } => {
            of_agent(agent, [("decision", decision.action.as_str().to_owned())], state)
        }
        Event::VerificationFailed { agent, round, why: _ } => of_agent(agent, [("round", round.to_string())], state),
        Event::LookCutOff { id, persona, used, duration_ms } => {
            let tokens = used.tokens.map(|tokens| tokens.to_string());
            let told = [("task", id.to_string()), ("persona", persona.clone()), ("ms", duration_ms.to_string())];
            (TraceInterest::Info, told.into_iter().chain(known("tokens", tokens)).collect())
        }
        Event::StepVerified { id, result, .. } => (TraceInterest::Info, step_facts(id, result)),
        Event::MergeVerified { id, verification: of } => {
            let steps = ("steps", of.results.len().to_string());
            info([("task", id.to_string()), steps, ("passed", of.passed().to_string())])
        }
        Event::ConflictGivenBack { id, conflict: of } => {
            info([("task", id.to_string()), ("files", of.files.len().to_string()), ("round", of.round.to_string())])
        }
        Event::Delayed { id, delay } => (TraceInterest::Info, delay_facts(id, delay.as_deref())),
        Event::GateOpened { gate } => info([("gate", gate.id.to_string())]),
        Event::GateDecided { id, decision, .. } => {
            info([("gate", id.to_string()), ("decision", decision_word(decision).to_owned())])
        }
        Event::CheckpointCreated { checkpoint } => info([("checkpoint", checkpoint.name.to_string())]),
        Event::CheckpointsDeleted { names } => info([("checkpoints", names.len().to_string())]),
        Event::OperationBegan { operation } => (TraceInterest::Info, operation_facts(operation)),
        Event::OperationEnded { end, edits, .. } => {
            info([("end", end_word(*end).to_owned()), ("tasks", edits.len().to_string()), ("merges", merges(edits).to_string())])
        }
        Event::MergedBranchesLeft { gone, stay } => info([("gone", gone.len().to_string()), ("stay", stay.len().to_string())]),
        Event::ConfigBackupRestored { what } => info([("what", what.clone())]),
        Event::LogRepaired { bytes, .. } => info([("bytes", bytes.to_string())]),
        Event::OperationReversed { .. } | Event::StateAdopted { .. } | Event::RepositoryPlaced { .. } => info([]),
        Event::Planned { step: _ } => (
            TraceInterest::Info,
            known("phase", state.record.plan.as_ref().map(|plan| plan.phase.as_str())).into_iter().collect(),
        ),
        Event::TasksAdded { tasks } => debug([("tasks", tasks.len().to_string())]),
        Event::TasksChanged { edits } => debug([("tasks", edits.len().to_string()), ("merges", merges(edits).to_string())]),
        Event::HookRan { run } => debug([("failed", run.failure.is_some().to_string())]),
        Event::WorkspaceOpened { task, .. } | Event::WorkspaceClosed { task, .. } | Event::WorkspaceCaptured { task, .. } => {
            debug([("task", task.to_string())])
        }
        Event::MergedBranchesLeave { refs } => debug([("branches", refs.len().to_string())]),
        Event::IterationStarted { agent, pid, .. } => debug([("agent", agent.to_string()), ("pid", pid.to_string())]),
        Event::Signalled { agent, .. } => debug([("agent", agent.to_string())]),
        Event::GateClosed { id, reason: _ } => debug([("gate", id.to_string())]),
        Event::Purged(purge) => info([("checkpoints", purge.made_anew.len().to_string())]),
        Event::CheckpointIntended { name } | Event::CheckpointAbandoned { name, .. } => debug([("checkpoint", name.to_string())]),
        Event::Audited { id, text: _ } => debug([("task", id.to_string())]),
        Event::LearningEdited { .. } | Event::LearningForgotten { .. } => debug([]),
    }
}

/// The agent, what is known of it, and the task that it works on.
fn of_agent(
    agent: &AgentId,
    facts: impl IntoIterator<Item = (&'static str, String)>,
    state: &State,
) -> (TraceInterest, TraceFacts) {
    let work = state.restorable.agents.get(agent).and_then(|agent| agent.work.as_ref());
    let facts = std::iter::once(("agent", agent.to_string())).chain(facts);
    (TraceInterest::Info, facts.chain(known("task", work.map(|work| &work.task))).collect())
}

fn info<const N: usize>(facts: [(&'static str, String); N]) -> (TraceInterest, TraceFacts) {
    (TraceInterest::Info, facts.into())
}

fn debug<const N: usize>(facts: [(&'static str, String); N]) -> (TraceInterest, TraceFacts) {
    (TraceInterest::Debug, facts.into())
}

fn begun(session: &Session, state: &State) -> TraceFacts {
    vec![
        ("session", session.id.to_string()),
        ("pid", session.pid.to_string()),
        ("slots", session.slots.to_string()),
        ("mode", state.restorable.mode.as_str().to_owned()),
    ]
}

fn delay_facts(task: &TaskId, delay: Option<&DelayedSessionStep>) -> TraceFacts {
    let why = delay.into_iter().flat_map(|delay| [("code", delay.code.clone()), ("tried", delay.tried.to_string())]);
    std::iter::once(("task", task.to_string())).chain(why).collect()
}

fn operation_facts(operation: &JournaledOperation) -> TraceFacts {
    vec![
        ("what", operation_word(&operation.kind).to_owned()),
        ("refs", (operation.refs.len() + operation.advances.len()).to_string()),
        ("worktrees", operation.worktrees.len().to_string()),
        ("submodules", operation.submodules.len().to_string()),
        ("workspaces", operation.workspaces.len().to_string()),
    ]
}

/// The session, and when it ended, what it came to.
fn session_facts(now: SessionState, state: &State) -> TraceFacts {
    let mut facts = vec![("state", now.as_str().to_owned())];
    if !now.is_open() {
        let spent = &state.record.session_spent;
        facts.push(("iterations", spent.iterations.to_string()));
        facts.push(("merged", spent.results.merged.to_string()));
        facts.push(("failed", spent.results.failed.to_string()));
        facts.push(("programMs", spent.duration_ms.to_string()));
        facts.extend(known("tokens", spent.tokens));
        facts.extend(known("cost", spent.cost));
    }
    facts
}

fn iteration_facts(report: &IterationReport) -> TraceFacts {
    let mut facts = vec![
        ("outcome", outcome_word(&report.outcome).to_owned()),
        ("ms", report.duration_ms.to_string()),
        ("files", report.files.len().to_string()),
        ("leftOut", report.left_out.len().to_string()),
    ];
    facts.extend(known("exit", report.exit_code));
    facts.extend(known("signal", report.signal));
    facts.extend(known("tokens", report.tokens));
    facts.extend(known("cost", report.cost_usd));
    facts
}

fn step_facts(task: &TaskId, result: &VerifyStepResult) -> TraceFacts {
    let run = result.run.as_deref();
    let tests = run.and_then(|run| run.tests.as_ref()).map(|tests| format!("{}/{}", tests.passed, tests.total()));
    let mut facts = vec![("task", task.to_string()), ("passed", result.failure.is_none().to_string())];
    facts.extend(known("exit", run.and_then(|run| run.exit)));
    facts.extend(known("ms", run.map(|run| run.duration_ms)));
    facts.extend(known("tests", tests));
    facts
}

fn merges(edits: &[TaskChangeSet]) -> usize {
    edits.iter().filter(|edit| edit.changes.iter().any(|change| change.merges().is_some())).count()
}

const fn decision_word(decision: &GateDecision) -> &'static str {
    match decision {
        GateDecision::Approved => "approved",
        GateDecision::Rejected { .. } => "rejected",
        GateDecision::Answered { .. } => "answered",
    }
}

const fn end_word(end: OperationEnd) -> &'static str {
    match end {
        OperationEnd::Done => "done",
        OperationEnd::Aborted => "reversed",
    }
}

const fn request_word(request: &SupervisorRequest) -> &'static str {
    match request {
        SupervisorRequest::Stop { .. } => "stop",
        SupervisorRequest::Kill { .. } => "kill",
        SupervisorRequest::Pause { .. } => "pause",
        SupervisorRequest::Resume => "resume",
        SupervisorRequest::Merge { .. } => "merge",
        SupervisorRequest::Quit => "quit",
        SupervisorRequest::Redirect { .. } => "redirect",
        SupervisorRequest::Block { .. } => "block",
    }
}

const fn operation_word(kind: &OperationKind) -> &'static str {
    match kind {
        OperationKind::Merge { .. } => "merge",
        OperationKind::RollbackCheckpoint { .. } => "rollbackCheckpoint",
        OperationKind::RollbackTask { .. } => "rollbackTask",
        OperationKind::DeleteCheckpoints { .. } => "deleteCheckpoints",
        OperationKind::BeginMerge { .. } => "beginMerge",
        OperationKind::RecoverFiles { .. } => "recoverFiles",
        OperationKind::StashTaken { .. } => "stashTaken",
        OperationKind::Undo { .. } => "undo",
    }
}

/// The outcome without the agent's words.
const fn outcome_word(outcome: &IterationOutcome) -> &'static str {
    match outcome {
        IterationOutcome::Complete => "complete",
        IterationOutcome::Blocked { .. } => "blocked",
        IterationOutcome::Waiting { .. } => "waiting",
        IterationOutcome::Unfinished { .. } => "unfinished",
        IterationOutcome::Limited { .. } => "limited",
        IterationOutcome::NeedsHuman { .. } => "needsHuman",
        IterationOutcome::Stopped => "stopped",
        IterationOutcome::Crashed => "crashed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_traced_and_words_are_not() {
        let (agent, state) = (AgentId::new("ed-001").unwrap(), State::default());
        let report =
            crate::work::money::spending::tests::used(Some(5), None, IterationOutcome::Blocked { reason: "my secret".into() });
        let token = crate::base::ids::Token::new("k-secret").unwrap();
        let (interest, facts) = facts(&Event::IterationEnded { agent, token, report: Box::new(report) }, &state);
        let words = format!("{facts:?}");
        assert_eq!(interest, TraceInterest::Info);
        assert!(facts.contains(&("outcome", "blocked".to_owned())) && facts.contains(&("tokens", "5".to_owned())), "{words}");
        assert!(!words.contains("secret"), "{words}");
    }
}
