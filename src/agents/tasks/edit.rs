//! Tasks: adding, changing and archiving them.
//!
//! Checks against the state run under the state lock, so that two commands at the same time cannot take the same id. Long
//! texts are stored before the lock is taken.

mod checks;
mod prerequisites;
mod standing;

use std::collections::BTreeSet;

use checks::{check_length, check_limits, check_persona, check_verify};

use super::limits;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::forms::plural::count;
use axiom_model::base::ids::{GateId, TaskId};
use axiom_model::base::text::TextOrBlob;
use axiom_model::planning::plan::GoalPlan;
use axiom_model::queries::ready::ready_tasks;
use axiom_model::queries::view::undecided_gates;
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::work::gates::gate::{Gate, GateKind};
use axiom_model::work::money::budget::{BudgetLimits, NewBudgetLimits};
use axiom_model::work::tasks::task::{
    MergedTaskWork, Task, TaskChangeSet, TaskDependency, TaskFieldChange, TaskKind, TaskStatus,
};
use axiom_safety::context::handle::Context;
use axiom_safety::history::task_texts;
pub use checks::MAX_TITLE;
pub(crate) use checks::{check, check_title};
pub use prerequisites::TaskPrerequisites;
pub use standing::{archive, block, may_block, unblock};

/// A task to add.
#[derive(Debug, Clone)]
pub struct NewTaskRequest {
    /// Its id; generated where `None`.
    pub id: Option<TaskId>,
    /// Its kind.
    pub kind: TaskKind,
    /// Its title: one line.
    pub title: String,
    /// The body: the instructions for the agent.
    pub body: Option<String>,
    /// The task it is a part of.
    pub parent: Option<TaskId>,
    /// What it waits for.
    pub waits_for: TaskPrerequisites,
    /// The kind of agent that works on it.
    pub persona: Option<String>,
    /// Commands that must pass before it is done.
    pub verify: Vec<String>,
    /// What it may use.
    pub limits: BudgetLimits,
    /// Its status; never active.
    pub status: TaskStatus,
    /// Why it is blocked or failed.
    pub reason: Option<String>,
    /// The commit and branch that hold its work, once merged.
    pub merged: Option<MergedTaskWork>,
}

impl NewTaskRequest {
    /// A pending task of which only the title is known.
    pub fn titled(title: impl Into<String>) -> Self {
        Self {
            id: None,
            kind: TaskKind::Task,
            title: title.into(),
            body: None,
            parent: None,
            waits_for: TaskPrerequisites::default(),
            persona: None,
            verify: Vec::new(),
            limits: BudgetLimits::default(),
            status: TaskStatus::Pending,
            reason: None,
            merged: None,
        }
    }
}

/// The new values of a task's fields; `None` leaves a field unchanged.
#[derive(Debug, Clone, Default)]
pub struct TaskEditRequest {
    /// The new title.
    pub title: Option<String>,
    /// The new body; `Some(None)` removes it.
    pub body: Option<Option<String>>,
    /// The new parent; `Some(None)` removes it.
    pub parent: Option<Option<TaskId>>,
    /// The new dependencies.
    pub after: Option<Vec<TaskDependency>>,
    /// Whether an agent begins before what it needs is ready.
    pub start_early: Option<bool>,
    /// The new persona; `Some(None)` removes it.
    pub persona: Option<Option<String>>,
    /// The new verify steps.
    pub verify: Option<Vec<String>>,
    /// The new limits.
    pub limits: NewBudgetLimits,
}

/// Adds one task and returns it as stored.
pub fn add(ctx: &mut Context, new: NewTaskRequest) -> Result<Task> {
    check(&new)?;
    limits::personas_exist(&ctx.config, &new.verify)?;
    if matches!(ctx.by(), EventAuthor::Agent(_)) && !new.limits.is_empty() {
        return Err(Error::new(Code::NotForAgents, "an agent does not decide what a task may use")
            .hint("add the task without --max-cost, --max-tokens and --max-time"));
    }
    if new.kind == TaskKind::Task {
        limits::can_be_kept(&ctx.config, new.persona.as_deref(), &new.verify, new.limits)?;
    }
    let body = match &new.body {
        Some(text) => task_texts::store(&ctx.repo, &[text.as_str()])?.pop(),
        None => None,
    };
    env::fault_point("tasks.before-append");
    let mut added = None;
    let by = ctx.by().clone();
    ctx.append_with(|state| {
        agents_may_add(state, &by)?;
        let id = match &new.id {
            Some(id) => id.clone(),
            None => next_ids(state, new.kind, 1, &BTreeSet::new())?.remove(0),
        };
        let task = added.insert(build(new, id, body));
        Ok(vec![Event::TasksAdded { tasks: vec![task.clone()] }])
    })?;
    added.ok_or_else(|| Error::new(Code::Internal, "the task was not added"))
}

/// How many tasks one agent may add in one iteration, and all agents in one session: each task costs work, and perhaps
/// money.
const IN_AN_ITERATION: u32 = 20;
const IN_A_SESSION: u32 = 200;

pub(crate) fn agents_may_add(state: &State, by: &EventAuthor) -> Result<()> {
    let EventAuthor::Agent(agent) = by else { return Ok(()) };
    let work = state.restorable.agents.get(agent).and_then(|agent| agent.work.as_ref());
    let refused = |who: String, most: u32, time: &str| {
        let tasks = count(most, "task");
        Err(Error::new(Code::TooManyTasks, format!("{who} added {tasks} in this {time} already, and may add no more"))
            .hint("git axiom signal waiting QUESTION    asks a human to add them"))
    };
    match work {
        Some(work) if work.added >= IN_AN_ITERATION => refused(format!("agent '{agent}' has"), IN_AN_ITERATION, "iteration"),
        Some(_) | None if state.record.added_by_agents >= IN_A_SESSION => refused("agents have".into(), IN_A_SESSION, "session"),
        Some(_) | None => Ok(()),
    }
}

/// Builds the task from the request.
pub(crate) fn build(new: NewTaskRequest, id: TaskId, body: Option<TextOrBlob>) -> Task {
    Task {
        id,
        kind: new.kind,
        title: new.title,
        body,
        parent: new.parent,
        after: without_repeats(new.waits_for.after),
        needs: new.waits_for.needs,
        start_early: new.waits_for.start_early,
        persona: new.persona,
        verify: new.verify,
        limits: new.limits,
        status: new.status,
        merged: new.merged,
        reason: new.reason,
        created_at: env::now(),
    }
}

fn without_repeats(ids: Vec<TaskId>) -> Vec<TaskId> {
    let mut seen = BTreeSet::new();
    ids.into_iter().filter(|id| seen.insert(id.clone())).collect()
}

/// The next free ids `<kind>-NNN`: they continue after the highest number that a known task or checkpoint has.
pub(crate) fn next_ids(state: &State, kind: TaskKind, count: usize, reserved: &BTreeSet<String>) -> Result<Vec<TaskId>> {
    let prefix = format!("{kind}-");
    let known =
        state.restorable.tasks.keys().map(TaskId::folded).chain(state.record.checkpoints.folded_names().map(str::to_owned));
    let promised = state.open_plan().map(GoalPlan::ids).unwrap_or_default();
    let known = known.chain(promised.iter().map(|id| id.folded()));
    let number = |id: &str| id.strip_prefix(&prefix).and_then(|digits| digits.parse::<u64>().ok());
    let highest = known.chain(reserved.iter().cloned()).filter_map(|id| number(&id)).max().unwrap_or(0);
    // A number this high is in an id that a user chose; it is not a continuation of generated ids.
    let start = if highest > u64::from(u32::MAX) { 0 } else { highest };
    (1..).map(|step| format!("{prefix}{:03}", start + step)).take(count).map(TaskId::new).collect()
}

/// Changes fields of a task and returns the changes; an empty list where every field had its new value already.
pub fn edit(ctx: &mut Context, id: &TaskId, edit: TaskEditRequest) -> Result<Vec<TaskFieldChange>> {
    edit.title.as_deref().map_or(Ok(()), check_title)?;
    edit.persona.iter().flatten().try_for_each(|persona| check_persona(persona))?;
    if let Some(verify) = &edit.verify {
        check_verify(verify)?;
        limits::personas_exist(&ctx.config, verify)?;
    }
    check_length("dependencies", edit.after.as_ref().map_or(0, Vec::len))?;
    let old = ctx.state().task(id)?;
    let persona = edit.persona.clone().unwrap_or_else(|| old.persona.clone());
    if !edit.limits.is_empty() || edit.persona.is_some() || edit.verify.is_some() {
        let new = edit.limits.on(old.limits);
        check_limits(old.kind, new)?;
        limits::can_be_kept(&ctx.config, persona.as_deref(), edit.verify.as_ref().unwrap_or(&old.verify), new)?;
    }
    let body = match edit.body {
        Some(Some(text)) => Some(task_texts::store(&ctx.repo, &[text.as_str()])?.pop()),
        Some(None) => Some(None),
        None => None,
    };
    let mut made = Vec::new();
    ctx.append_with(|state| {
        let old = state.task(id)?;
        let mut waits_for = match edit.after {
            Some(list) => TaskPrerequisites::of(list, old.start_early),
            None => TaskPrerequisites { after: old.after.clone(), needs: old.needs.clone(), start_early: old.start_early },
        };
        // Where nothing is named any more, there is nothing to begin before.
        waits_for.start_early = edit.start_early.unwrap_or(old.start_early && !waits_for.needs.is_empty());
        waits_for.check(old.kind)?;
        let new = Task {
            title: edit.title.unwrap_or_else(|| old.title.clone()),
            body: body.unwrap_or_else(|| old.body.clone()),
            parent: edit.parent.unwrap_or_else(|| old.parent.clone()),
            after: without_repeats(waits_for.after),
            needs: waits_for.needs,
            start_early: waits_for.start_early,
            persona: edit.persona.unwrap_or_else(|| old.persona.clone()),
            verify: edit.verify.unwrap_or_else(|| old.verify.clone()),
            limits: edit.limits.on(old.limits),
            ..old.clone()
        };
        made = TaskFieldChange::between(old, &new);
        if made.iter().any(|change| matches!(change, TaskFieldChange::Verify(_))) {
            verify_counts(state, old)?;
        }
        Ok(changed(id, made.clone()))
    })?;
    Ok(made)
}

/// Refuses other verify steps for work that is done and waits for its merge: nobody would run them before that.
fn verify_counts(state: &State, task: &Task) -> Result<()> {
    if task.kind != TaskKind::Task || task.status != TaskStatus::Done || task.merged.is_some() {
        return Ok(());
    }
    let id = &task.id;
    let asks = |gate: &&Gate| gate.kind == GateKind::Merge && gate.task_id.as_ref() == Some(id) && gate.decision.is_none();
    let hint = match state.restorable.gates.values().find(asks) {
        Some(gate) => format!(
            "git axiom gate reject {}    blocks it: then edit it, and 'git axiom task unblock {id}' lets an agent take it up again",
            gate.id
        ),
        None => format!("git axiom rollback task {id}    takes its work back: then edit it"),
    };
    let why = "what is changed now would not be run before it is merged";
    Err(Error::new(Code::InvalidTransition, format!("'{id}' is done, and its verify steps have been run")).why(why).hint(hint))
}

fn changed(id: &TaskId, changes: Vec<TaskFieldChange>) -> Vec<Event> {
    if changes.is_empty() {
        return Vec::new();
    }
    vec![Event::TasksChanged { edits: vec![TaskChangeSet { id: id.clone(), changes }] }]
}

/// The new status and reason of a task.
struct RestatedTask {
    status: TaskStatus,
    reason: Option<String>,
    /// Those of its gates that this closes.
    closes: Vec<GateId>,
}

impl RestatedTask {
    fn to(status: TaskStatus, reason: Option<String>) -> Self {
        Self { status, reason, closes: Vec::new() }
    }
}

/// Changes status and reason of tasks, all or none, and returns the ids of those that changed.
fn restate(ctx: &mut Context, ids: &[TaskId], decide: impl Fn(&State, &Task) -> Result<RestatedTask>) -> Result<Vec<TaskId>> {
    let mut touched = Vec::new();
    ctx.append_with(|state| {
        let (mut edits, mut events) = (Vec::new(), Vec::new());
        for id in without_repeats(ids.to_vec()) {
            let old = state.task(&id)?;
            let RestatedTask { status, reason, closes } = decide(state, old)?;
            let changes = TaskFieldChange::between(old, &Task { status, reason, ..old.clone() });
            if !changes.is_empty() || !closes.is_empty() {
                touched.push(id.clone());
            }
            if !changes.is_empty() {
                edits.push(TaskChangeSet { id, changes });
            }
            events.extend(closes.into_iter().map(|id| Event::GateClosed { id, reason: format!("made {status} by hand") }));
        }
        if !edits.is_empty() {
            events.push(Event::TasksChanged { edits });
        }
        Ok(events)
    })?;
    Ok(touched)
}

fn no_way(state: &State, task: &Task, verb: &str) -> Error {
    Error::new(Code::InvalidTransition, format!("'{}' is {}, so it cannot be {verb}", task.id, task.status))
        .hint(instead(state, task))
}

/// A hint at the right command, where a verb does not apply to the status of a task.
fn instead(state: &State, task: &Task) -> String {
    let id = &task.id;
    match task.status {
        TaskStatus::Pending if !ready_tasks(state).iter().any(|ready| ready.id == task.id) => {
            format!("it waits for others: git axiom task show {id}")
        }
        TaskStatus::Pending if undecided_gates(state).iter().any(|gate| gate.task_id.as_ref() == Some(id)) => {
            "it waits for you: git axiom gate list".to_owned()
        }
        TaskStatus::Pending => format!("agents may claim it already; 'git axiom task block {id} --reason R' prevents that"),
        TaskStatus::Active => "an agent works on it: see 'git axiom status'".to_owned(),
        TaskStatus::Done if task.merged.is_some() => {
            "its work is merged: 'git axiom log --undoable' lists what can be taken back".to_owned()
        }
        TaskStatus::Done => {
            format!("git axiom merge {id}    merges its work; git axiom task archive {id}    archives it")
        }
        TaskStatus::Archived => "'git axiom undo ID' restores it: see 'git axiom log' for the id".to_owned(),
        TaskStatus::Blocked | TaskStatus::Failed => format!("git axiom task show {id}    shows the reason"),
    }
}

fn active(state: &State, task: &Task, verb: &str) -> Error {
    let agent = state.agent_on(&task.id).map_or_else(|| "AGENT".to_owned(), |agent| agent.id.to_string());
    Error::new(Code::InvalidTransition, format!("an agent works on '{}', so it cannot be {verb}", task.id))
        .hint(format!("git axiom stop {agent}    then run the command again"))
}
