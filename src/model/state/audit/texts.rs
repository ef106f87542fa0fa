//! Events of a task in words.

use super::super::current_state::State;
use super::super::event::Event;
use crate::base::forms::plural::{count, count_of};
use crate::base::forms::times;
use crate::base::ids::{AgentId, GateId, TaskId};
use crate::base::names::RefName;
use crate::base::text::TextOrBlob;
use crate::journal::journaled::OperationEnd;
use crate::work::gates::gate::{Gate, GateDecision};
use crate::work::iteration::IterationOutcome;
use crate::work::permissions::permission_question::{PermissionQuestion, PermissionStanding};
use crate::work::sessions::session::{SessionState, SupervisorRequest};
use crate::work::signals::signal::{AgentSignal, FileReport, ReportedFileRole, ToolReport};
use crate::work::tasks::task::{MergedTaskWork, Task, TaskChangeSet, TaskFieldChange, TaskStatus};
use crate::work::verifying::checks::named_step::NamedVerifyStep;
use crate::work::verifying::verification::{MergeVerification, VerifyStepResult};

/// Branches in words: the name of a single one, or how many.
fn branches<'n>(names: impl IntoIterator<Item = &'n RefName>) -> String {
    let names: Vec<&RefName> = names.into_iter().collect();
    match names.as_slice() {
        [one] => one.short().to_owned(),
        many => count_of(many.len(), "branch", "branches"),
    }
}

/// A change of a field in words.
pub fn change_text(change: &TaskFieldChange) -> String {
    fn or_none<T: ToString>(value: Option<&T>) -> String {
        value.map_or_else(|| "none".into(), ToString::to_string)
    }
    fn list<T: ToString>(values: &[T]) -> String {
        if values.is_empty() { "none".into() } else { values.iter().map(T::to_string).collect::<Vec<_>>().join(", ") }
    }
    let (old, new) = match change {
        TaskFieldChange::Title(c) => (format!("\"{}\"", c.old), format!("\"{}\"", c.new)),
        TaskFieldChange::Body(c) => (size(c.old.as_ref()), size(c.new.as_ref())),
        TaskFieldChange::Parent(c) => (or_none(c.old.as_ref()), or_none(c.new.as_ref())),
        TaskFieldChange::After(c) => (list(&c.old), list(&c.new)),
        TaskFieldChange::Needs(c) => (list(&c.old), list(&c.new)),
        TaskFieldChange::StartEarly(c) => (c.old.to_string(), c.new.to_string()),
        TaskFieldChange::Persona(c) => (or_none(c.old.as_ref()), or_none(c.new.as_ref())),
        TaskFieldChange::Verify(c) => (list(&c.old), list(&c.new)),
        TaskFieldChange::Limits(c) => (c.old.in_words(), c.new.in_words()),
        TaskFieldChange::Status(c) => (c.old.to_string(), c.new.to_string()),
        TaskFieldChange::Merged(c) => {
            let commit = |merged: &Option<MergedTaskWork>| or_none(merged.as_ref().map(|one| one.commit.short()).as_ref());
            (commit(&c.old), commit(&c.new))
        }
        TaskFieldChange::Reason(c) => (or_none(c.old.as_ref()), or_none(c.new.as_ref())),
    };
    format!("{} {old} → {new}", change.field())
}

fn size(text: Option<&TextOrBlob>) -> String {
    match text {
        None => "none".into(),
        Some(TextOrBlob::Inline(text)) => format!("{} bytes", text.len()),
        Some(TextOrBlob::Stored { size, .. }) => format!("{size} bytes"),
    }
}

/// An event in words, and its rank: the event with the highest rank gives its transaction the title.
pub fn describe(event: &Event, state: &State) -> (u8, String) {
    match event {
        Event::OperationBegan { operation } => (9, operation.title.clone()),
        Event::StateAdopted { source, .. } => (8, format!("state taken from {source}")),
        Event::LearningEdited { id, .. } => (7, format!("edit {id}")),
        Event::LearningForgotten { id } => (7, format!("forget {id}")),
        Event::TasksAdded { tasks } => (7, added_text(tasks)),
        Event::Planned { step } => (step.rank(), step.in_words()),
        Event::TasksChanged { edits } => (7, edits_text(edits)),
        Event::ModeChanged { mode } => (7, format!("mode {}", mode.new.as_str())),
        Event::CheckpointsDeleted { names } => (6, format!("delete {}", listed("checkpoint", names))),
        Event::SessionStarted { session } => (6, format!("session begins, into {}", session.target.short())),
        Event::SessionChanged { state, reason } => (5, session_text(*state, reason)),
        Event::CheckpointCreated { checkpoint } => (5, format!("checkpoint {}", checkpoint.name)),
        Event::GateDecided { id, decision, .. } => (5, decision_text(id, decision)),
        // Above the checkpoint that is made before it, in the same transaction.
        Event::Requested { request, for_operation, .. } => (6, request_text(request, *for_operation)),
        Event::OperationEnded { end: OperationEnd::Aborted, .. } => (4, "operation reversed".into()),
        Event::OperationEnded { end: OperationEnd::Done, .. } => (4, state.record.last_action.clone().unwrap_or_default()),
        Event::TaskClaimed { agent, task, complete: false } => (4, format!("{agent} claimed {task}")),
        Event::TaskClaimed { agent, task, complete: true } => (4, format!("{agent} claimed {task}, which is complete")),
        Event::WorkReleased { agent, status, reason, gate, .. } => (4, released_text(agent, *status, reason, gate.as_deref())),
        Event::Audited { id, text } => (3, format!("{id}: {text}")),
        Event::HookRan { run } => (3, run.summary()),
        Event::MergeVerified { id, verification } => (3, verified_text(id, verification)),
        Event::ConflictGivenBack { id, conflict } => {
            // Above the change of its status.
            (8, format!("{id} conflicts with {}, and is given back to its agent", conflict.target.short()))
        }
        Event::Delayed { id, delay: Some(delay) } => (3, format!("{id} {}", delay.in_words())),
        Event::Delayed { id, delay: None } => (2, format!("{id} waits no longer")),
        Event::RecoveryDecided { agent, decision, puts_aside, paused } => {
            let what = if *paused { "takes up what was paused" } else { "crashed" };
            let aside = if *puts_aside { "; what is there is kept aside" } else { "" };
            (4, format!("{agent} {what}, {decision}{aside}"))
        }
        Event::LookCutOff { id, persona, .. } => (2, format!("{id}: the look of {persona} was cut off")),
        Event::StepVerified { id: _, of: _, result } => (3, step_text(result)),
        Event::VerificationFailed { agent: _, why, round: _ } => (4, format!("verification failed: {why}")),
        Event::IterationEnded { agent, report, .. } => {
            (3, format!("iteration of {agent} ended: {}", outcome_text(&report.outcome)))
        }
        Event::IterationIntended { agent, iteration, resumes: None, .. } => (2, format!("{agent} begins iteration {iteration}")),
        Event::IterationIntended { agent, iteration, resumes: Some(id), .. } => {
            (2, format!("{agent} begins iteration {iteration}, and goes on with session {id}"))
        }
        Event::IterationStarted { agent, .. } => (2, format!("the program of {agent} runs")),
        Event::Signalled { agent, signal, .. } => (2, format!("{agent}{SIGNALLED}{}", signal_text(signal))),
        Event::WorkspaceOpened { workspace, .. } => (2, format!("workspace {}", workspace.path)),
        Event::WorkspaceClosed { task, handed_on: true, .. } => {
            (2, format!("the workspace of {task} is another task's now, and its work is on its branch"))
        }
        Event::WorkspaceClosed { task, trash: Some(_), .. } => (2, format!("workspace of {task} moved to the trash")),
        // It was never made, or another task has it now: what follows says so.
        Event::WorkspaceClosed { task, trash: None, .. } => (1, format!("{task} has no workspace any more")),
        Event::MergedBranchesLeave { refs } => {
            // It can be taken back, so the step is called by it and not by the pause or the release beside it.
            (6, format!("{} deleted: merged", branches(refs.iter().map(|change| &change.name))))
        }
        Event::MergedBranchesLeft { gone, stay } if stay.is_empty() => (1, format!("{} deleted", branches(gone))),
        Event::MergedBranchesLeft { gone: _, stay } => (1, format!("{} not deleted: somebody moved it", branches(stay))),
        Event::GateOpened { gate } => (2, format!("gate {}: {}", gate.id, gate.reason)),
        Event::GateClosed { id, reason } => (2, format!("gate {id} closed: {reason}")),
        Event::RequestHandled { message, .. } => (2, format!("request handled: {message}")),
        Event::Purged(purge) => (9, format!("purge {}: {} made anew", purge.what, count(purge.made_anew.len(), "checkpoint"))),
        Event::CheckpointAbandoned { name, reason } => (2, format!("checkpoint {name} abandoned: {reason}")),
        Event::OperationReversed { reason } => (2, format!("reversed: {reason}")),
        Event::RepositoryPlaced { placing } => (8, placing.words()),
        Event::ConfigBackupRestored { what } => (1, format!("CONFIG_BACKUP_RESTORED: {what}")),
        Event::LogRepaired { bytes, .. } => (1, format!("an incomplete end of {bytes} bytes was cut off the log")),
        Event::WorkspaceCaptured { task, capture, .. } => (1, format!("captured the workspace of {task} as {}", capture.short())),
        Event::CheckpointIntended { name } => (1, format!("checkpoint {name} begins")),
    }
}

/// What became of a session, in words.
pub(crate) fn session_text(state: SessionState, reason: &str) -> String {
    let state = match state {
        SessionState::Running => "continues",
        SessionState::Pausing => "is to pause",
        SessionState::Paused if reason == "paused" => return "session paused".into(),
        SessionState::Paused => "paused",
        SessionState::Ending => "is to end",
        SessionState::Ended => "ended",
        SessionState::Interrupted if reason == "interrupted" => return "session interrupted".into(),
        SessionState::Interrupted => "interrupted",
        // That was before: this is when it was seen.
        SessionState::Crashed => return "session found crashed".into(),
    };
    format!("session {state}: {reason}")
}

/// How the title of what was approved begins, of one gate and of several, and the longest one in bytes.
const APPROVED: &str = "approved gate ";
const APPROVED_ALL: &str = "approved gates ";

pub(super) const LONGEST_TITLE: usize = 200;

/// What is before the tasks that are archived.
const ARCHIVE: &str = "archive ";

/// What is between an agent's name and what it signalled.
const SIGNALLED: &str = " signalled ";

/// The title of a transaction that several such events make: each gate that a human let continue is named, and each signal.
pub fn with_further(title: &str, event: &Event) -> Option<String> {
    if let Event::Signalled { agent, signal, .. } = event {
        return with_further_signal(title, agent, signal);
    }
    if let Event::TasksChanged { edits } = event {
        return with_further_archived(title, edits);
    }
    let Event::GateDecided { id, decision: GateDecision::Approved, .. } = event else { return None };
    let named =
        title.strip_prefix(APPROVED).or_else(|| title.strip_prefix(APPROVED_ALL)).filter(|named| !named.ends_with('…'))?;
    let further = if title.len() + id.as_str().len() > LONGEST_TITLE { "…".to_owned() } else { id.to_string() };
    Some(format!("{APPROVED_ALL}{named}, {further}"))
}

/// Of a group, what agents work on is archived after they were stopped.
fn with_further_archived(title: &str, edits: &[TaskChangeSet]) -> Option<String> {
    let before = title.strip_prefix(ARCHIVE)?;
    edits_text(edits).strip_prefix(ARCHIVE)?;
    let number = before.strip_suffix(" tasks").and_then(|number| number.parse().ok()).unwrap_or(1);
    Some(format!("{ARCHIVE}{}", count(edits.len().saturating_add(number), "task")))
}

fn with_further_signal(title: &str, agent: &AgentId, signal: &AgentSignal) -> Option<String> {
    let (first, _) = title.split_once(SIGNALLED).filter(|(first, _)| !first.contains(' ') && !title.ends_with('…'))?;
    let by = if first == agent.as_str() { String::new() } else { format!("{agent}{SIGNALLED}") };
    let further = format!("{by}{}", signal_text(signal));
    let fits = title.len() + further.len() < LONGEST_TITLE;
    Some(format!("{title}, {}", if fits { further.as_str() } else { "…" }))
}

fn decision_text(id: &GateId, decision: &GateDecision) -> String {
    match decision {
        GateDecision::Approved => format!("{APPROVED}{id}"),
        GateDecision::Rejected { reason } => format!("rejected gate {id}: {reason}"),
        GateDecision::Answered { text } => format!("answered gate {id}: {text}"),
    }
}

fn verified_text(task: &TaskId, verification: &MergeVerification) -> String {
    match verification.summary() {
        Some(failure) => format!("the merge of {task} is not verified: {failure}"),
        None if verification.passed() && verification.ran_commands() => format!("the merge of {task} is verified"),
        None if verification.passed() => format!("pre-merge hooks allow the merge of {task}"),
        None => {
            let all = verification.demands.names().count();
            format!("the merge of {task} passed {} of {}", verification.results.len(), count(all, "verify step"))
        }
    }
}

fn step_text(result: &VerifyStepResult) -> String {
    match (result.why(), result.tests_in_words()) {
        (Some(why), _) => format!("verify step '{}' {why}", NamedVerifyStep::of(&result.command).label()),
        (None, Some(tests)) => format!("verified: {}, {tests}", result.command),
        (None, None) => format!("verified: {}", result.command),
    }
}

fn released_text(agent: &AgentId, status: TaskStatus, reason: &str, gate: Option<&Gate>) -> String {
    let opened = gate.filter(|gate| gate.decision.is_none());
    let opened = opened.map_or_else(String::new, |gate| format!("; gate {}: {}", gate.id, gate.reason));
    match status {
        TaskStatus::Done => format!("{agent} ended its work: {reason}{opened}"),
        TaskStatus::Pending | TaskStatus::Active | TaskStatus::Blocked | TaskStatus::Failed | TaskStatus::Archived => {
            format!("{agent} ended its work, {status}: {reason}{opened}")
        }
    }
}

fn request_text(request: &SupervisorRequest, for_operation: bool) -> String {
    let why = if for_operation { ", for an operation" } else { "" };
    let whom = |agents: &[AgentId]| {
        if agents.is_empty() { "all agents".into() } else { agents.iter().map(AgentId::as_str).collect::<Vec<_>>().join(", ") }
    };
    match request {
        SupervisorRequest::Stop { agents, .. } => format!("stop {}", whom(agents)),
        SupervisorRequest::Kill { agents, .. } => format!("kill {}", whom(agents)),
        SupervisorRequest::Pause { force: false } => format!("pause{why}"),
        SupervisorRequest::Pause { force: true } => format!("pause at once{why}"),
        SupervisorRequest::Resume => format!("resume{why}"),
        SupervisorRequest::Merge { task } => format!("merge {task}"),
        SupervisorRequest::Redirect { agent, to, .. } => format!("redirect {agent} to {to}"),
        SupervisorRequest::Block { tasks, reason } => format!("block {}: {reason}", named("task", tasks)),
        SupervisorRequest::Quit => "end the session".into(),
    }
}

fn outcome_text(outcome: &IterationOutcome) -> String {
    match outcome {
        IterationOutcome::Complete => "complete".into(),
        IterationOutcome::Blocked { reason } => format!("blocked: {reason}"),
        IterationOutcome::Waiting { question } => format!("asks: {question}"),
        IterationOutcome::Unfinished { why } => format!("unfinished: {why}"),
        IterationOutcome::Limited { why, .. } => format!("not counted, the model's service refuses for now: {why}"),
        IterationOutcome::NeedsHuman { cause, why } => format!("{}: {why}", cause.in_words()),
        IterationOutcome::Stopped => "stopped".into(),
        IterationOutcome::Crashed => "crashed".into(),
    }
}

/// A signal in words.
pub fn signal_text(signal: &AgentSignal) -> String {
    match signal {
        AgentSignal::Complete {} => "complete".into(),
        AgentSignal::Blocked { reason } => format!("blocked: {reason}"),
        AgentSignal::Waiting { question } => format!("waiting: {question}"),
        AgentSignal::Progress { percent } => format!("progress {percent}%"),
        AgentSignal::Learning { text, .. } => format!("learning: {text}"),
        AgentSignal::Phase { name, confidence } => format!("phase {name}{}", sure_text(*confidence)),
        AgentSignal::Subtask { name, planned: true, .. } => format!("subtask {name} planned"),
        AgentSignal::Subtask { name, done, .. } => format!("subtask {name}{}", if *done { " done" } else { "" }),
        AgentSignal::File(file) => format!("file {}{}", file.path, file_text(file)),
        AgentSignal::Ready { name, .. } => format!("ready: {name}"),
        AgentSignal::ToolStarted(ToolReport { name, about: None, .. }) => format!("tool {name} started"),
        AgentSignal::ToolStarted(ToolReport { name, about: Some(about), .. }) => format!("tool {name} started: {about}"),
        AgentSignal::ToolCompleted(ToolReport { name, failed: true, .. }) => format!("tool {name} failed"),
        AgentSignal::ToolCompleted(ToolReport { name, .. }) => format!("tool {name} ended"),
        AgentSignal::RequestSent(_) => "request sent".into(),
        AgentSignal::ResponseReceived(_) => "response received".into(),
        AgentSignal::Session { id } => format!("session {id}"),
        AgentSignal::PermissionAsked(question) => {
            let PermissionQuestion { about, why, .. } = &**question;
            match question.standing {
                PermissionStanding::Asked => format!("asks whether it may {about} ({why})"),
                PermissionStanding::Allowed => format!("may {about}, after a checkpoint"),
                PermissionStanding::Forbidden => format!("may not {about} ({why})"),
            }
        }
        AgentSignal::PermissionEnded { number, end } => format!("question {number}: {}", end.in_words()),
        AgentSignal::Seen(_) => "output".into(),
        AgentSignal::Estimate { seconds } => format!("{} to go", times::span(*seconds)),
        AgentSignal::Depends { names } => format!("uses {}", names.join(", ")),
    }
}

fn sure_text(confidence: Option<f64>) -> String {
    confidence.map_or_else(String::new, |sure| format!(", {:.0}% sure", sure * 100.0))
}

fn file_text(file: &FileReport) -> String {
    let what = match file.role {
        Some(ReportedFileRole::Related) => " is related",
        Some(ReportedFileRole::Test) => " is a test",
        None if file.done => " done",
        None => "",
    };
    let line = file.line.map_or_else(String::new, |line| format!(", line {line}"));
    let section = file.section.as_ref().map_or_else(String::new, |section| format!(", after {section}"));
    let next = file.next.as_ref().map_or_else(String::new, |next| format!(", next {next}"));
    format!("{what}{line}{section}{next}{}", sure_text(file.confidence))
}

/// As [`listed`], where what stands before it says already what it is.
fn named<T: ToString>(what: &str, names: &[T]) -> String {
    match names {
        [one] => one.to_string(),
        many => count(many.len(), what),
    }
}

fn listed<T: ToString>(what: &str, names: &[T]) -> String {
    match names {
        [one] => format!("{what} {}", one.to_string()),
        many => count(many.len(), what),
    }
}

fn added_text(tasks: &[Task]) -> String {
    match tasks {
        [one] => format!("add {}: {}", one.id, one.title),
        many => format!("import {}", count(many.len(), "task")),
    }
}

fn edits_text(edits: &[TaskChangeSet]) -> String {
    let status = |edit: &TaskChangeSet| {
        edit.changes.iter().find_map(|change| if let TaskFieldChange::Status(status) = change { Some(status.new) } else { None })
    };
    let Some(first) = edits.first() else { return "change nothing".into() };
    let ids: Vec<&TaskId> = edits.iter().map(|edit| &edit.id).collect();
    let whom = named("task", &ids);
    match status(first).filter(|first| edits.iter().all(|edit| status(edit) == Some(*first))) {
        Some(TaskStatus::Pending) => format!("unblock {whom}"),
        Some(TaskStatus::Blocked) => format!("block {whom}"),
        Some(TaskStatus::Archived) => format!("{ARCHIVE}{whom}"),
        Some(TaskStatus::Done) => format!("{whom} done"),
        Some(TaskStatus::Failed) => format!("{whom} failed"),
        Some(TaskStatus::Active) => format!("{whom} active"),
        None if first.changes.iter().any(|change| change.merges().is_some()) => format!("{whom} has nothing to merge"),
        None => {
            let fields: Vec<&str> = first.changes.iter().map(TaskFieldChange::field).collect();
            format!("edit {whom}: {}", fields.join(", "))
        }
    }
}
