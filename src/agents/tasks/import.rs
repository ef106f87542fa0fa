//! Importing tasks from JSON lines: all or nothing, in one event.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::edit::{self, NewTaskRequest, TaskPrerequisites};
use super::limits;
use axiom_base::error::{Code, Error, Result};
use axiom_git::Head;
use axiom_model::base::ids::TaskId;
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::state::graph;
use axiom_model::work::money::budget::BudgetLimits;
use axiom_model::work::tasks::task::{MergedTaskWork, Task, TaskDependency, TaskKind, TaskStatus};
use axiom_safety::context::handle::Context;
use axiom_safety::history::task_texts;

/// The most tasks in one import.
pub const MAX_TASKS: usize = 100_000;

/// One line, with the keys of `task list --json`; derived keys are ignored.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TaskImportLine {
    id: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    title: String,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    parent: Option<String>,
    #[serde(default)]
    after: Option<ImportOneOrMany>,
    #[serde(default)]
    needs: Option<ImportOneOrMany>,
    #[serde(default)]
    start_early: bool,
    #[serde(default)]
    persona: Option<String>,
    #[serde(default)]
    verify: Option<ImportOneOrMany>,
    #[serde(default)]
    limits: Option<BudgetLimits>,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    merged: Option<MergedTaskWork>,
    // Derived keys: `task list --json` prints them, but they are no fields of a task.
    #[serde(default, rename = "schema")]
    _schema: IgnoredAny,
    #[serde(default, rename = "verb")]
    _verb: IgnoredAny,
    #[serde(default, rename = "shown")]
    _shown: IgnoredAny,
    #[serde(default, rename = "progress")]
    _progress: IgnoredAny,
    /// Called `agent` in schema 1.
    #[serde(default, rename = "agentId", alias = "agent")]
    _agent: IgnoredAny,
    #[serde(default, rename = "waitsFor")]
    _waits_for: IgnoredAny,
    #[serde(default, rename = "retryCount")]
    _retry_count: IgnoredAny,
    #[serde(default, rename = "iterations")]
    _iterations: IgnoredAny,
    #[serde(default, rename = "tokensUsed")]
    _tokens_used: IgnoredAny,
    #[serde(default, rename = "costUsd")]
    _cost_usd: IgnoredAny,
    #[serde(default, rename = "used")]
    _used: IgnoredAny,
    #[serde(default, rename = "duration")]
    _duration: IgnoredAny,
    #[serde(default, rename = "timeUnknown")]
    _time_unknown: IgnoredAny,
    #[serde(default, rename = "createdAt")]
    _created_at: IgnoredAny,
    #[serde(default, rename = "bodySize")]
    _body_size: IgnoredAny,
    #[serde(default, rename = "branch")]
    _branch: IgnoredAny,
    #[serde(default, rename = "workspace")]
    _workspace: IgnoredAny,
    #[serde(default, rename = "parts")]
    _parts: IgnoredAny,
    #[serde(default, rename = "startedAt")]
    _started_at: IgnoredAny,
    #[serde(default, rename = "lastCheckpoint")]
    _last_checkpoint: IgnoredAny,
    #[serde(default, rename = "waitingSince")]
    _waiting_since: IgnoredAny,
    #[serde(default, rename = "confidence")]
    _confidence: IgnoredAny,
    #[serde(default, rename = "dependencies")]
    _dependencies: IgnoredAny,
    #[serde(default, rename = "reports")]
    _reports: IgnoredAny,
    #[serde(default, rename = "verification")]
    _verification: IgnoredAny,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ImportOneOrMany {
    One(String),
    Many(Vec<String>),
}

impl ImportOneOrMany {
    fn into_vec(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}

/// A task with the number of its line, for errors.
struct NumberedTask {
    line: usize,
    task: NewTaskRequest,
}

/// What an import has done.
#[derive(Debug)]
pub struct TaskImportReport {
    /// The ids, in the order of the file.
    pub ids: Vec<TaskId>,
    /// How many were active in the file: they are imported as pending, since none of our agents works on them.
    pub were_active: usize,
}

/// Adds the tasks of a file, all or none. A line may refer to a task of a later line.
pub fn import(ctx: &mut Context, text: &str) -> Result<TaskImportReport> {
    let (mut numbered, were_active) = parse(text)?;
    let personas_exist =
        |n: &NumberedTask| limits::personas_exist(&ctx.config, &n.task.verify).map_err(|error| at_line(n.line, error));
    numbered.iter().try_for_each(personas_exist)?;
    settle_done(ctx, &mut numbered)?;
    let bodies: Vec<&str> = numbered.iter().filter_map(|n| n.task.body.as_deref()).collect();
    let mut stored = task_texts::store(&ctx.repo, &bodies)?.into_iter();
    let bodies: Vec<_> = numbered.iter().map(|n| n.task.body.is_some().then(|| stored.next()).flatten()).collect();
    let mut ids = Vec::new();
    if numbered.is_empty() {
        return Ok(TaskImportReport { ids, were_active });
    }
    ctx.append_with(|state| {
        check_ids(state, &numbered)?;
        let lines: Vec<usize> = numbered.iter().map(|n| n.line).collect();
        let tasks = name_all(state, numbered, bodies)?;
        check_references(state, &tasks, &lines)?;
        graph::check_changed(state, &tasks)?;
        ids = tasks.iter().map(|task| task.id.clone()).collect();
        Ok(vec![Event::TasksAdded { tasks }])
    })?;
    Ok(TaskImportReport { ids, were_active })
}

fn at_line(line: usize, error: Error) -> Error {
    error.context(format!("line {line}"))
}

fn parse(text: &str) -> Result<(Vec<NumberedTask>, usize)> {
    let (mut all, mut were_active) = (Vec::new(), 0);
    for (index, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let line = index + 1;
        if all.len() == MAX_TASKS {
            return Err(Error::new(Code::TooLarge, format!("line {line}: more than {MAX_TASKS} tasks in one import"))
                .hint("split the file: parts that refer to each other belong together"));
        }
        let parsed: TaskImportLine = serde_json::from_str(text).map_err(|e| {
            Error::new(Code::InvalidInput, format!("line {line} is not a task"))
                .because(e)
                .hint("one JSON object per line, with the keys of 'git axiom task list --json'; only title is needed")
        })?;
        let (task, was_active) = convert(parsed).map_err(|error| at_line(line, error))?;
        edit::check(&task).map_err(|error| at_line(line, error))?;
        were_active += usize::from(was_active);
        all.push(NumberedTask { line, task });
    }
    Ok((all, were_active))
}

fn convert(line: TaskImportLine) -> Result<(NewTaskRequest, bool)> {
    let status = line.status.as_deref().map_or(Ok(TaskStatus::Pending), str::parse::<TaskStatus>)?;
    let was_active = status == TaskStatus::Active;
    let status = if was_active { TaskStatus::Pending } else { status };
    let named = line.after.into_iter().chain(line.needs).flat_map(ImportOneOrMany::into_vec);
    let named = named.map(|text| text.parse()).collect::<Result<Vec<TaskDependency>>>()?;
    let task = NewTaskRequest {
        id: line.id.map(TaskId::new).transpose()?,
        kind: line.kind.as_deref().map_or(Ok(TaskKind::Task), str::parse)?,
        title: line.title,
        body: line.body,
        parent: line.parent.map(TaskId::new).transpose()?,
        waits_for: TaskPrerequisites::of(named, line.start_early),
        persona: line.persona,
        verify: line.verify.map(ImportOneOrMany::into_vec).unwrap_or_default(),
        limits: line.limits.unwrap_or_default(),
        status,
        reason: line.reason,
        merged: line.merged.filter(|_| status == TaskStatus::Done),
    };
    Ok((task, was_active))
}

/// Tasks that are done in the file, without a merge: their work is taken to be in the branch that is checked out now.
fn settle_done(ctx: &Context, all: &mut [NumberedTask]) -> Result<()> {
    let unsettled =
        |n: &&mut NumberedTask| n.task.status == TaskStatus::Done && n.task.kind == TaskKind::Task && n.task.merged.is_none();
    let mut unsettled = all.iter_mut().filter(unsettled).peekable();
    let Some(first) = unsettled.peek().map(|n| n.line) else { return Ok(()) };
    let head = ctx.repo.refs().head(&ctx.repo.worktrees().main_worktree()?)?;
    let Head::Branch { name, commit: Some(commit) } = head else {
        let what = format!("line {first}: a done task needs a commit that holds its work, and no branch with one is checked out");
        return Err(Error::new(Code::UnbornBranch, what)
            .hint("check out the branch that has the work, or import such tasks with the status archived"));
    };
    for n in unsettled {
        n.task.merged = Some(MergedTaskWork { commit: commit.clone(), target: name.clone() });
    }
    Ok(())
}

/// Checks that all given ids are free, and that none is given twice.
fn check_ids(state: &State, all: &[NumberedTask]) -> Result<()> {
    let tasks = state.restorable.tasks.keys().map(TaskId::folded);
    let mut taken: BTreeMap<String, Option<usize>> = tasks.map(|id| (id, None)).collect();
    taken.extend(state.record.checkpoints.folded_names().map(|name| (name.to_owned(), None)));
    for NumberedTask { line, task } in all {
        let Some(id) = &task.id else { continue };
        if let Some(by) = taken.insert(id.folded(), Some(*line)) {
            let by = by.map_or_else(String::new, |line| format!(" by line {line}"));
            return Err(Error::new(Code::DuplicateId, format!("line {line}: the id '{id}' is taken{by}"))
                .hint("ids and checkpoint names are unique without regard to case"));
        }
    }
    Ok(())
}

/// Gives the next free ids to the tasks without one, and builds all tasks.
fn name_all(
    state: &State,
    all: Vec<NumberedTask>,
    bodies: Vec<Option<axiom_model::base::text::TextOrBlob>>,
) -> Result<Vec<Task>> {
    let given: BTreeSet<String> = all.iter().filter_map(|n| n.task.id.as_ref().map(TaskId::folded)).collect();
    let mut fresh: BTreeMap<&str, std::vec::IntoIter<TaskId>> = BTreeMap::new();
    for kind in TaskKind::ALL {
        let count = all.iter().filter(|n| n.task.id.is_none() && n.task.kind == *kind).count();
        fresh.insert(kind.as_str(), edit::next_ids(state, *kind, count, &given)?.into_iter());
    }
    let mut made = Vec::with_capacity(all.len());
    for (NumberedTask { mut task, .. }, body) in all.into_iter().zip(bodies) {
        let id = task.id.take().or_else(|| fresh.get_mut(task.kind.as_str()).and_then(Iterator::next));
        let id = id.ok_or_else(|| Error::new(Code::Internal, "there are fewer fresh ids than tasks"))?;
        made.push(edit::build(task, id, body));
    }
    Ok(made)
}

fn check_references(state: &State, tasks: &[Task], lines: &[usize]) -> Result<()> {
    let new: BTreeSet<&TaskId> = tasks.iter().map(|task| &task.id).collect();
    for (task, line) in tasks.iter().zip(lines) {
        for other in task.after.iter().chain(&task.parent) {
            if !new.contains(other) && !state.restorable.tasks.contains_key(other) {
                let what = format!("line {line}: '{}' refers to '{other}', which does not exist", task.id);
                return Err(Error::new(Code::UnknownDependency, what).hint("add that task, or correct the reference"));
            }
        }
    }
    Ok(())
}
