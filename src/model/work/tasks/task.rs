//! Tasks: units of planned work, and the changes of their fields.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::ids::TaskId;
use crate::base::names::{Oid, RefName};
use crate::base::text::{TextOrBlob, ValueChange};

use crate::work::money::budget::BudgetLimits;
use crate::work::signals::signal::MAX_NAME;
use axiom_base::error::{Code, Error, Result};
use std::str::FromStr;

/// The level of a task in the tree of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TaskKind {
    /// The goal; others call it a directive or an epic.
    #[serde(alias = "directive", alias = "epic")]
    Goal,
    /// A group of tasks; others call it an operation or a sprint.
    #[serde(alias = "operation", alias = "sprint")]
    Group,
    /// What one agent works on; others call it a case.
    #[serde(alias = "case")]
    Task,
}

/// The stored status of a task. `waiting` and `interrupted` are derived when shown, never stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TaskStatus {
    /// To be worked on.
    Pending,
    /// An agent works on it.
    Active,
    /// Reported and verified. `merged` shows whether it is in the target too.
    Done,
    /// It cannot go on, for the given reason.
    Blocked,
    /// No iterations or retries are left.
    Failed,
    /// No longer part of the plan; kept for the record.
    Archived,
}

macro_rules! words {
    ($type:ident, $what:literal, $hint:literal, $($variant:ident $word:literal $(| $alias:literal)*),+) => {
        impl $type {
            /// All values, in the order in which people expect them.
            pub const ALL: &[$type] = &[$($type::$variant),+];

            /// The word used in JSON.
            pub const fn as_str(self) -> &'static str { match self { $($type::$variant => $word),+ } }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.pad(self.as_str()) }
        }

        impl std::str::FromStr for $type {
            type Err = Error;
            fn from_str(text: &str) -> Result<Self> {
                match text {
                    $($word $(| $alias)* => Ok($type::$variant),)+
                    _ => Err(Error::new(Code::InvalidInput, format!(concat!("'{}' is not a ", $what), text)).hint($hint)),
                }
            }
        }
    };
}

words!(TaskKind, "kind of task", "kinds are task, group and goal",
    Goal "goal" | "directive" | "epic", Group "group" | "operation" | "sprint", Task "task" | "case");
words!(TaskStatus, "status", "statuses are pending, active, done, blocked, failed and archived",
    Pending "pending" | "todo" | "queued", Active "active" | "doing" | "running", Done "done",
    Blocked "blocked" | "stuck", Failed "failed", Archived "archived");

/// A record that a task's work is in the target branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MergedTaskWork {
    /// The commit of the target branch that contains the work.
    pub commit: Oid,
    /// The branch it was merged into.
    pub target: RefName,
}

/// A unit of planned work, with everything that a rollback restores of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// Its kind.
    pub kind: TaskKind,
    /// One line.
    pub title: String,
    /// The task for the agent; with the preset `shell`, a script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<TextOrBlob>,
    /// The task it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<TaskId>,
    /// The tasks that have to be merged before it can start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<TaskId>,
    /// What of these tasks has to be ready before it begins, in place of their merged work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<NeededReadyPoint>,
    /// Whether an agent begins, once, on what needs none of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub start_early: bool,
    /// The kind of agent that works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// Commands that must pass before it is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<String>,
    /// What it may use; what is not limited here may be by the configuration.
    #[serde(default, skip_serializing_if = "BudgetLimits::is_empty")]
    pub limits: BudgetLimits,
    /// Its status.
    pub status: TaskStatus,
    /// The merge of its work, if it is merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<MergedTaskWork>,
    /// Why it is blocked or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it was added.
    pub created_at: Timestamp,
}

impl Task {
    /// Whether nothing is left to do: it is merged or archived.
    pub fn is_settled(&self) -> bool {
        match self.status {
            TaskStatus::Archived => true,
            TaskStatus::Done => self.merged.is_some() || self.kind != TaskKind::Task,
            TaskStatus::Pending | TaskStatus::Active | TaskStatus::Blocked | TaskStatus::Failed => false,
        }
    }
}

/// The change of one field of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)] // each variant is the field of `Task` of that name
pub enum TaskFieldChange {
    Title(ValueChange<String>),
    Body(ValueChange<Option<TextOrBlob>>),
    Parent(ValueChange<Option<TaskId>>),
    After(ValueChange<Vec<TaskId>>),
    Needs(ValueChange<Vec<NeededReadyPoint>>),
    StartEarly(ValueChange<bool>),
    Persona(ValueChange<Option<String>>),
    Verify(ValueChange<Vec<String>>),
    Limits(ValueChange<BudgetLimits>),
    Status(ValueChange<TaskStatus>),
    Merged(ValueChange<Option<MergedTaskWork>>),
    Reason(ValueChange<Option<String>>),
}

impl TaskFieldChange {
    /// The name of the field.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Title(_) => "title",
            Self::Body(_) => "body",
            Self::Parent(_) => "parent",
            Self::After(_) => "after",
            Self::Needs(_) => "needs",
            Self::StartEarly(_) => "startEarly",
            Self::Persona(_) => "persona",
            Self::Verify(_) => "verify",
            Self::Limits(_) => "limits",
            Self::Status(_) => "status",
            Self::Merged(_) => "merged",
            Self::Reason(_) => "reason",
        }
    }

    /// The merge, where the change marks the task as merged.
    pub fn merges(&self) -> Option<&MergedTaskWork> {
        if let Self::Merged(change) = self { change.new.as_ref() } else { None }
    }

    /// The change that undoes this one.
    #[must_use]
    pub fn inverse(self) -> Self {
        match self {
            Self::Title(c) => Self::Title(c.inverse()),
            Self::Body(c) => Self::Body(c.inverse()),
            Self::Parent(c) => Self::Parent(c.inverse()),
            Self::After(c) => Self::After(c.inverse()),
            Self::Needs(c) => Self::Needs(c.inverse()),
            Self::StartEarly(c) => Self::StartEarly(c.inverse()),
            Self::Persona(c) => Self::Persona(c.inverse()),
            Self::Verify(c) => Self::Verify(c.inverse()),
            Self::Limits(c) => Self::Limits(c.inverse()),
            Self::Status(c) => Self::Status(c.inverse()),
            Self::Merged(c) => Self::Merged(c.inverse()),
            Self::Reason(c) => Self::Reason(c.inverse()),
        }
    }

    /// Makes the change if the field has the old value. Returns whether it had.
    pub fn apply(&self, task: &mut Task) -> bool {
        fn put<T: PartialEq + Clone>(field: &mut T, change: &ValueChange<T>) -> bool {
            let fits = *field == change.old;
            if fits {
                *field = change.new.clone();
            }
            fits
        }
        match self {
            Self::Title(c) => put(&mut task.title, c),
            Self::Body(c) => put(&mut task.body, c),
            Self::Parent(c) => put(&mut task.parent, c),
            Self::After(c) => put(&mut task.after, c),
            Self::Needs(c) => put(&mut task.needs, c),
            Self::StartEarly(c) => put(&mut task.start_early, c),
            Self::Persona(c) => put(&mut task.persona, c),
            Self::Verify(c) => put(&mut task.verify, c),
            Self::Limits(c) => put(&mut task.limits, c),
            Self::Status(c) => put(&mut task.status, c),
            Self::Merged(c) => put(&mut task.merged, c),
            Self::Reason(c) => put(&mut task.reason, c),
        }
    }

    /// Whether work that was complete before the change is still complete. Verification runs again in any case.
    pub fn leaves_complete(&self) -> bool {
        let open = |status: TaskStatus| matches!(status, TaskStatus::Pending | TaskStatus::Blocked);
        match self {
            Self::Title(_) | Self::Body(_) | Self::Merged(_) => false,
            Self::Status(change) => open(change.old) && open(change.new),
            Self::Parent(_)
            | Self::After(_)
            | Self::Needs(_)
            | Self::StartEarly(_)
            | Self::Persona(_)
            | Self::Verify(_)
            | Self::Limits(_)
            | Self::Reason(_) => true,
        }
    }

    /// The changes that turn `old` into `new`, field by field. Id, kind and time of creation never change.
    pub fn between(old: &Task, new: &Task) -> Vec<Self> {
        fn differ<T: PartialEq + Clone>(a: &T, b: &T, wrap: fn(ValueChange<T>) -> TaskFieldChange) -> Option<TaskFieldChange> {
            (a != b).then(|| wrap(ValueChange::new(a.clone(), b.clone())))
        }
        [
            differ(&old.title, &new.title, Self::Title),
            differ(&old.body, &new.body, Self::Body),
            differ(&old.parent, &new.parent, Self::Parent),
            differ(&old.after, &new.after, Self::After),
            differ(&old.needs, &new.needs, Self::Needs),
            differ(&old.start_early, &new.start_early, Self::StartEarly),
            differ(&old.persona, &new.persona, Self::Persona),
            differ(&old.verify, &new.verify, Self::Verify),
            differ(&old.limits, &new.limits, Self::Limits),
            differ(&old.status, &new.status, Self::Status),
            differ(&old.merged, &new.merged, Self::Merged),
            differ(&old.reason, &new.reason, Self::Reason),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// All changes of one task within one event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskChangeSet {
    /// The task.
    pub id: TaskId,
    /// The changes.
    pub changes: Vec<TaskFieldChange>,
}

impl TaskChangeSet {
    /// What turns a task into `new`; `None` where nobody would see it: the reason belongs to the status.
    pub fn between(old: &Task, new: &Task) -> Option<Self> {
        let changes = TaskFieldChange::between(old, new);
        let is_seen = changes.iter().any(|change| !matches!(change, TaskFieldChange::Reason(_)));
        is_seen.then(|| Self { id: old.id.clone(), changes })
    }

    /// The change of the status, where that changes.
    pub fn status(&self) -> Option<&ValueChange<TaskStatus>> {
        self.changes.iter().find_map(|change| if let TaskFieldChange::Status(status) = change { Some(status) } else { None })
    }

    /// The change of the title, where there is one.
    pub fn title(&self) -> Option<&ValueChange<String>> {
        self.changes.iter().find_map(|change| if let TaskFieldChange::Title(title) = change { Some(title) } else { None })
    }

    /// Says that the task had another status before, which becomes `to`.
    pub fn begins_with(&mut self, from: TaskStatus, to: TaskStatus) {
        self.changes.retain(|change| !matches!(change, TaskFieldChange::Status(_)));
        self.changes.insert(0, TaskFieldChange::Status(ValueChange::new(from, to)));
    }
}

/// The persona of tasks that do not name one.
pub const DEFAULT_PERSONA: &str = "agent";

/// What the agent of another task reports as ready: `TASK:NAME`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NeededReadyPoint {
    /// The other task, which is one of those that the task comes after.
    pub task: TaskId,
    /// The name by which its agent reports it.
    pub name: String,
}

impl fmt::Display for NeededReadyPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.task, self.name)
    }
}

/// A task that another one comes after, and what it needs of it, where that is not its merged work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskDependency {
    /// The task.
    pub task: TaskId,
    /// What has to be ready of it.
    pub name: Option<String>,
}

impl FromStr for TaskDependency {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some((task, name)) = text.split_once(':') else { return Ok(Self { task: TaskId::new(text)?, name: None }) };
        if name.trim().is_empty() || name.len() > MAX_NAME || name.chars().any(char::is_control) {
            return Err(Error::new(Code::InvalidInput, format!("'{text}' does not name what has to be ready"))
                .hint("TASK:NAME waits for 'git axiom signal ready NAME TEXT' of the agent of TASK"));
        }
        Ok(Self { task: TaskId::new(task)?, name: Some(name.to_owned()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(title: &str, status: TaskStatus) -> Task {
        Task {
            id: TaskId::new("a").unwrap(),
            kind: TaskKind::Task,
            title: title.into(),
            body: None,
            parent: None,
            after: vec![],
            needs: vec![],
            start_early: false,
            persona: None,
            verify: vec![],
            limits: crate::work::money::budget::BudgetLimits::default(),
            status,
            merged: None,
            reason: None,
            created_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn aliases_of_statuses_are_accepted() {
        for (word, status) in [("todo", TaskStatus::Pending), ("doing", TaskStatus::Active), ("stuck", TaskStatus::Blocked)] {
            assert_eq!(word.parse::<TaskStatus>().unwrap(), status);
        }
        assert!("nope".parse::<TaskStatus>().is_err());
    }

    #[test]
    fn changes_between_two_tasks_turn_one_into_the_other_and_back() {
        let (old, new) = (task("x", TaskStatus::Pending), task("y", TaskStatus::Blocked));
        let changes = TaskFieldChange::between(&old, &new);
        let mut now = old.clone();
        assert!(changes.iter().all(|change| change.apply(&mut now)));
        assert_eq!(now, new);
        assert!(changes.into_iter().all(|change| change.inverse().apply(&mut now)));
        assert_eq!(now, old);
        assert!(!TaskFieldChange::Title(ValueChange::new("other".into(), "z".into())).apply(&mut now), "expects the old value");
    }
}
