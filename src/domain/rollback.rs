//! What going back to a checkpoint means, decided from what is: refs, workspaces, the state. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::agent::Workspace;
use super::case::{Merged, Status};
use super::checkpoint::{CheckpointDocument, WorkspaceState};
use super::ids::CaseId;
use super::names::{Oid, RefName};
use super::operation::RefChange;
use super::state::{Restorable, State};
use super::text::Change;

/// What becomes of one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It stands, and its files, index and HEAD go back.
    Restore {
        /// The task.
        task: CaseId,
        /// What the checkpoint holds of it.
        then: WorkspaceState,
    },
    /// It is of later: it goes to the trash.
    PutAside {
        /// The task.
        task: CaseId,
        /// The workspace.
        workspace: Workspace,
    },
    /// It stood then, and is made again.
    MakeAgain {
        /// The task.
        task: CaseId,
        /// The workspace as the state knew it then.
        workspace: Workspace,
        /// What the checkpoint holds of it.
        then: WorkspaceState,
    },
}

/// What becomes of the workspaces, by task. `standing` are the paths at which one stands now.
pub fn workspaces(document: &CheckpointDocument, now: &Restorable, standing: &BTreeSet<String>) -> Vec<Fate> {
    let held = |task: &CaseId, workspace: &Workspace| {
        let same = |held: &&WorkspaceState| held.task_id.as_ref() == Some(task) && held.path == workspace.path;
        document.workspaces.iter().find(same)
    };
    let mut fates = Vec::new();
    for (task, workspace) in &now.workspaces {
        let then = document.state_snapshot.workspaces.get(task);
        let stays = then.is_some_and(|then| then.path == workspace.path && held(task, then).is_some());
        if standing.contains(&workspace.path) && !stays {
            fates.push(Fate::PutAside { task: task.clone(), workspace: workspace.clone() });
        }
    }
    for (task, workspace) in &document.state_snapshot.workspaces {
        let Some(then) = held(task, workspace) else { continue };
        let is_there =
            now.workspaces.get(task).is_some_and(|now| now.path == workspace.path) && standing.contains(&workspace.path);
        fates.push(if is_there {
            Fate::Restore { task: task.clone(), then: then.clone() }
        } else {
            Fate::MakeAgain { task: task.clone(), workspace: workspace.clone(), then: then.clone() }
        });
    }
    fates
}

/// The refs that move: those that the checkpoint names, its branch, and task branches that were made since.
pub fn refs(document: &CheckpointDocument, now: &BTreeMap<RefName, Oid>, state: &State) -> Vec<RefChange> {
    let mut wanted: BTreeMap<RefName, Option<Oid>> =
        document.refs.iter().map(|(name, oid)| (name.clone(), Some(oid.clone()))).collect();
    if let Some(branch) = &document.branch {
        wanted.insert(branch.clone(), document.git_commit.clone());
    }
    // A branch below axiom/ that belongs to no task is the user's.
    let of_a_task = |name: &RefName| {
        let id = name.as_str().strip_prefix("refs/heads/axiom/");
        id.is_some_and(|id| state.restorable.cases.contains_key(id))
    };
    for name in now.keys().filter(|name| of_a_task(name)) {
        wanted.entry(name.clone()).or_insert(None);
    }
    let changes = wanted.into_iter().map(|(name, new)| {
        let old = now.get(&name).cloned();
        RefChange { name, value: Change::new(old, new) }
    });
    changes.filter(|change| change.value.old != change.value.new).collect()
}

/// The restorable state as it will be: that of the checkpoint, where what was active is pending (no retry counted), and
/// only workspaces that stand afterwards are known. Cases that were added since are archived when the operation ends.
pub fn restored(document: &CheckpointDocument, now: &Restorable, fates: &[Fate]) -> Restorable {
    let mut restored = document.state_snapshot.clone();
    for case in restored.cases.values_mut().filter(|case| case.status == Status::Active) {
        case.status = Status::Pending;
    }
    for (id, agent) in &now.agents {
        restored.agents.entry(id.clone()).or_insert_with(|| agent.clone());
    }
    restored.agents.values_mut().for_each(|agent| agent.work = None);
    let standing: BTreeSet<&CaseId> = fates
        .iter()
        .filter_map(|fate| match fate {
            Fate::Restore { task, .. } | Fate::MakeAgain { task, .. } => Some(task),
            Fate::PutAside { .. } => None,
        })
        .collect();
    restored.workspaces.retain(|task, _| standing.contains(task));
    restored
}

/// A task whose state goes back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskChange {
    /// The task.
    pub id: CaseId,
    /// Its status now.
    pub from: Status,
    /// Its status afterwards.
    pub to: Status,
    /// Whether it is merged now and will not be.
    pub unmerged: bool,
}

/// The tasks whose status or merge goes back.
pub fn tasks(now: &Restorable, restored: &Restorable) -> Vec<TaskChange> {
    let changes = now.cases.values().filter_map(|case| {
        let (to, merged): (Status, Option<&Merged>) = match restored.cases.get(&case.id) {
            Some(then) => (then.status, then.merged.as_ref()),
            None => (Status::Archived, case.merged.as_ref()),
        };
        let unmerged = case.merged.is_some() && merged.is_none();
        (to != case.status || unmerged).then(|| TaskChange { id: case.id.clone(), from: case.status, to, unmerged })
    });
    changes.collect()
}
