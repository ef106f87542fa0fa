//! Tasks: adding, changing and archiving them.
//!
//! Checks against the state run under the state lock, so that two commands at the same time cannot take the same id. Long
//! texts are stored before the lock is taken.

use std::collections::BTreeSet;

use super::limits;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::forms::plural::count;
use axiom_model::base::ids::{AgentId, GateId, TaskId};
use axiom_model::base::text::TextOrBlob;
use axiom_model::planning::plan::GoalPlan;
use axiom_model::queries::needs;
use axiom_model::state::current_state::State;
use axiom_model::state::event::{Event, EventAuthor};
use axiom_model::work::gates::gate::GateDecision;
use axiom_model::work::money::budget::{BudgetLimits, NewBudgetLimits};
use axiom_model::work::tasks::task::{
    MergedTaskWork, NeededReadyPoint, Task, TaskChangeSet, TaskDependency, TaskFieldChange, TaskKind, TaskStatus,
};
use axiom_model::work::verifying::checks::named_step;
use axiom_safety::context::handle::Context;
use axiom_safety::history::task_texts;

/// The longest title, in characters.
pub const MAX_TITLE: usize = 500;
/// The longest command of a verify step, in bytes.
const MAX_COMMAND: usize = 64 * 1024;
/// The most dependencies or verify steps of one task.
const MAX_LIST: usize = 1000;

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
    /// The tasks that must be done before it.
    pub after: Vec<TaskId>,
    /// What of them has to be ready, in place of their merged work.
    pub needs: Vec<NeededReadyPoint>,
    /// Whether an agent begins before that.
    pub start_early: bool,
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
            after: Vec::new(),
            needs: Vec::new(),
            start_early: false,
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
        after: without_repeats(new.after),
        needs: new.needs,
        start_early: new.start_early,
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

/// Checks the fields for which the state is not needed.
pub(crate) fn check(new: &NewTaskRequest) -> Result<()> {
    check_title(&new.title)?;
    new.persona.as_deref().map_or(Ok(()), check_persona)?;
    check_verify(&new.verify)?;
    check_length("dependencies", new.after.len())?;
    check_limits(new.kind, new.limits)?;
    check_early(new.kind, &new.needs, new.start_early)
}

fn check_limits(kind: TaskKind, limits: BudgetLimits) -> Result<()> {
    if kind != TaskKind::Task && !limits.is_empty() {
        return Err(Error::new(Code::InvalidInput, format!("only a task has a budget, not a {kind}"))
            .hint("give it to its tasks, or to all: git config axiom.budget.maxCost USD"));
    }
    Ok(())
}

fn check_early(kind: TaskKind, needs: &[NeededReadyPoint], start_early: bool) -> Result<()> {
    if kind != TaskKind::Task && !needs.is_empty() {
        return Err(Error::new(Code::InvalidInput, format!("only a task waits for what is ready, not a {kind}"))
            .hint("--after ID    waits until all of it is merged"));
    }
    if start_early && needs.is_empty() {
        return Err(Error::new(Code::InvalidInput, "nothing says what the early start does not need")
            .hint("name it: --after TASK:NAME --start-early"));
    }
    check_length("needs", needs.len())
}

pub(crate) fn check_title(title: &str) -> Result<()> {
    let length = title.chars().count();
    if title.trim().is_empty() {
        return Err(Error::new(Code::InvalidInput, "a task needs a title").hint("say in one line what is to be done"));
    }
    if length > MAX_TITLE {
        return Err(Error::new(Code::TooLarge, format!("the title has {length} characters, the limit is {MAX_TITLE}"))
            .hint("put the details into the body: --body or --body-file"));
    }
    match title.chars().find(|c| c.is_control()) {
        Some(c) => Err(Error::new(Code::InvalidInput, format!("the title has the character {c:?}"))
            .hint("a title is one line; put the rest into the body: --body or --body-file")),
        None => Ok(()),
    }
}

fn check_persona(persona: &str) -> Result<()> {
    // The ids of agents are made from the persona: `<persona>-NNN`.
    AgentId::new(format!("{persona}-0001")).map(drop).map_err(|error| {
        Error::new(Code::InvalidId, format!("'{persona}' cannot be a persona"))
            .why(error.causes().join(": "))
            .hint("use letters, digits, '-' and '_', beginning with a letter or digit")
    })
}

fn check_verify(verify: &[String]) -> Result<()> {
    check_length("verify steps", verify.len())?;
    if let Some(name) = named_step::repeated(verify) {
        return Err(
            Error::new(Code::InvalidInput, format!("two verify steps are called '{name}'")).hint("give each a name of its own")
        );
    }
    for command in verify {
        if command.trim().is_empty() {
            return Err(Error::new(Code::InvalidInput, "a verify step is empty").hint("give a shell command that must pass"));
        }
        if command.len() > MAX_COMMAND {
            let what = format!("a verify step has {} bytes, the limit is {MAX_COMMAND}", command.len());
            return Err(Error::new(Code::TooLarge, what).hint("put it into a script of the repository and call that"));
        }
    }
    Ok(())
}

fn check_length(what: &str, length: usize) -> Result<()> {
    if length > MAX_LIST {
        let what = format!("a task has {length} {what}, the limit is {MAX_LIST}");
        return Err(Error::new(Code::TooLarge, what).hint("put a group in between: --kind group"));
    }
    Ok(())
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
        let (after, needs) = match edit.after {
            Some(list) => needs::split(list),
            None => (old.after.clone(), old.needs.clone()),
        };
        // Where nothing is named any more, there is nothing to begin before.
        let start_early = edit.start_early.unwrap_or(old.start_early && !needs.is_empty());
        check_early(old.kind, &needs, start_early)?;
        let new = Task {
            title: edit.title.unwrap_or_else(|| old.title.clone()),
            body: body.unwrap_or_else(|| old.body.clone()),
            parent: edit.parent.unwrap_or_else(|| old.parent.clone()),
            after: without_repeats(after),
            needs,
            start_early,
            persona: edit.persona.unwrap_or_else(|| old.persona.clone()),
            verify: edit.verify.unwrap_or_else(|| old.verify.clone()),
            limits: edit.limits.on(old.limits),
            ..old.clone()
        };
        made = TaskFieldChange::between(old, &new);
        Ok(changed(id, made.clone()))
    })?;
    Ok(made)
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

fn no_way(task: &Task, verb: &str) -> Error {
    Error::new(Code::InvalidTransition, format!("'{}' is {}, so it cannot be {verb}", task.id, task.status)).hint(instead(task))
}

/// A hint at the right command, where a verb does not apply to the status of a task.
fn instead(task: &Task) -> String {
    let id = &task.id;
    match task.status {
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

/// Blocks tasks: no agent takes them until they are unblocked.
pub fn block(ctx: &mut Context, ids: &[TaskId], reason: &str) -> Result<Vec<TaskId>> {
    may_block(ctx.state(), ids, reason)?;
    restate(ctx, ids, |state, task| match task.status {
        TaskStatus::Pending | TaskStatus::Blocked | TaskStatus::Failed => {
            Ok(RestatedTask::to(TaskStatus::Blocked, Some(reason.to_owned())))
        }
        TaskStatus::Active => Err(active(state, task, "blocked")),
        TaskStatus::Done | TaskStatus::Archived => Err(no_way(task, "blocked")),
    })
}

/// Checks whether tasks can be blocked for this reason, once no agent works on them any more.
pub fn may_block(state: &State, ids: &[TaskId], reason: &str) -> Result<()> {
    if reason.trim().is_empty() {
        return Err(Error::new(Code::InvalidInput, "a reason is needed").hint("give it with --reason"));
    }
    if reason.len() > MAX_COMMAND {
        return Err(Error::new(Code::TooLarge, format!("the reason is over {MAX_COMMAND} bytes")));
    }
    ids.iter().try_for_each(|id| {
        let task = state.task(id)?;
        match task.status {
            TaskStatus::Pending | TaskStatus::Blocked | TaskStatus::Failed | TaskStatus::Active => Ok(()),
            TaskStatus::Done | TaskStatus::Archived => Err(no_way(task, "blocked")),
        }
    })
}

/// Makes tasks pending again: blocked and failed ones, and unmerged pending or done ones with a rejected gate on which no
/// session has acted yet. Closes their rejected gates.
pub fn unblock(ctx: &mut Context, ids: &[TaskId]) -> Result<Vec<TaskId>> {
    restate(ctx, ids, |state, task| {
        let closes = rejected_gates(state, &task.id);
        let pending = RestatedTask { status: TaskStatus::Pending, reason: None, closes };
        match task.status {
            TaskStatus::Blocked | TaskStatus::Failed => Ok(pending),
            TaskStatus::Pending | TaskStatus::Done if task.merged.is_none() && !pending.closes.is_empty() => Ok(pending),
            TaskStatus::Active if !pending.closes.is_empty() => Err(no_way(task, "unblocked")
                .hint(format!("its gate was rejected: once a session has blocked it, git axiom task unblock {}", task.id))),
            TaskStatus::Pending | TaskStatus::Active | TaskStatus::Done | TaskStatus::Archived => Err(no_way(task, "unblocked")),
        }
    })
}

/// The gates of a task that a human rejected, which no session has acted on yet.
fn rejected_gates(state: &State, id: &TaskId) -> Vec<GateId> {
    let gates = state.restorable.gates.values().filter(|gate| gate.task_id.as_ref() == Some(id));
    let rejected = gates.filter(|gate| matches!(gate.decision, Some(GateDecision::Rejected { .. })));
    rejected.map(|gate| gate.id.clone()).collect()
}

/// Archives tasks. Tasks that depend on them no longer wait for them.
pub fn archive(ctx: &mut Context, ids: &[TaskId]) -> Result<Vec<TaskId>> {
    restate(ctx, ids, |state, task| match task.status {
        TaskStatus::Active => Err(active(state, task, "archived")),
        TaskStatus::Pending | TaskStatus::Done | TaskStatus::Blocked | TaskStatus::Failed | TaskStatus::Archived => {
            Ok(RestatedTask::to(TaskStatus::Archived, task.reason.clone()))
        }
    })
}
