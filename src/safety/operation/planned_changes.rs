//! What an operation changes, once for all of them: a rollback to a checkpoint or of a task, a merge, an undo, a redo. Previews and
//! reports hold it, and `--json` and the words for people are made from it. Not here: what only one of them has to say, and how any of
//! it is found out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::gates_of_its_merges;
use super::in_progress::GitOperationLine;
use super::staged::StagedChanges;
use super::standing_lines::{ChangedGateLine, ChangedProgressLine, GateFate};
use super::stop_agents::StoppedAgentLine;
use crate::context::handle::Context;
use axiom_git::TreeChange;
use axiom_model::base::ids::{GateId, TaskId};
use axiom_model::base::names::RepoPath;
use axiom_model::base::ref_change::{ChangeDirection, RefChange};
use axiom_model::base::text::ValueChange;
use axiom_model::checkpoint::branch_config::BranchConfigChange;
use axiom_model::journal::journaled::JournaledOperation;
use axiom_model::journal::journaled_changes::{GateChange, HeadState, StashChange};
use axiom_model::operation::change_json;
use axiom_model::operation::change_json::{FileChange, WorkspaceFate};
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::work::gates::gate::Gate;
use axiom_model::work::restorable::restorable_state::RestorableState;
use axiom_model::work::restorable::standing_changes::TaskStandingChanges;
use axiom_model::work::sessions::session::SessionMode;
use axiom_model::work::tasks::task::{TaskChangeSet, TaskStatus};

/// What an operation changes. Old is what is there before it.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedChanges {
    /// Agents that are stopped first.
    pub agents: Vec<StoppedAgentLine>,
    /// HEADs that change to another branch or commit.
    pub heads: Vec<MovedHeadLine>,
    /// Refs that move, come back or are deleted, including branches that move with the worktree in which they are checked out.
    #[serde(serialize_with = "change_json::refs")]
    pub refs: Vec<RefChange>,
    /// Configuration of branches that comes back or is removed.
    #[serde(serialize_with = "change_json::branch_configs")]
    pub branch_configs: Vec<BranchConfigChange>,
    /// Entries of the stash that come back or are removed, the newest first.
    #[serde(serialize_with = "change_json::stash")]
    pub stash: Vec<StashChange>,
    /// Git's own operations that are ended, replaced or brought back.
    pub operations: Vec<GitOperationLine>,
    /// Every file that changes.
    pub files: Vec<AffectedFileLine>,
    /// Files and folders whose contents stay, and that get back the permissions, ACL or attributes that are held.
    pub permissions: Vec<FileLossLine>,
    /// What is staged now and will not be, or differently.
    pub staged: Vec<FileLossLine>,
    /// What will be staged and is not now, or differently.
    pub staged_back: Vec<FileLossLine>,
    /// Workspaces that change.
    pub workspaces: Vec<AffectedWorkspaceLine>,
    /// Fields of tasks that change.
    #[serde(serialize_with = "change_json::tasks")]
    pub tasks: Vec<TaskChangeSet>,
    /// Tasks whose progress becomes another one.
    pub progress: Vec<ChangedProgressLine>,
    /// Gates that close or open.
    pub gates: Vec<ChangedGateLine>,
    /// The mode, where it changes.
    pub mode: Option<ValueChange<SessionMode>>,
}

impl PlannedChanges {
    /// Adds what is staged differently in a worktree.
    pub(crate) fn add_staged(&mut self, worktree: &str, staged: StagedChanges) {
        let line = |path| FileLossLine { worktree: worktree.to_owned(), path };
        self.staged.extend(staged.lost.into_iter().map(line));
        self.staged_back.extend(staged.back.into_iter().map(line));
    }

    /// Adds what changes of the standing of tasks: their progress, and the gates that open and close, those at which a task waits before it
    /// starts and those of merges that are taken back too.
    pub fn add_standing(
        &mut self,
        now: &State,
        operation: &JournaledOperation,
        (standing, held): (&TaskStandingChanges, &[GateChange]),
    ) {
        self.add_gates_of(&now.restorable, standing, held);
        self.add_progress(&now.restorable, operation);
        self.add_gates(&now.restorable, gates_of_its_merges(now, operation));
    }

    fn add_gates_of(&mut self, now: &RestorableState, standing: &TaskStandingChanges, held: &[GateChange]) {
        let is_open = |gate: &Gate| now.gates.values().any(|open| open.is_same_wait(gate));
        let opens = |id: &GateId| held.iter().any(|change| change.way == ChangeDirection::BringBack && change.gate.id == *id);
        for GateChange { gate, way } in held {
            match way {
                ChangeDirection::PutAside if is_open(gate) && !gate.goes_on() => {
                    self.gates.push(ChangedGateLine::of(gate, GateFate::Closed))
                }
                ChangeDirection::BringBack if !is_open(gate) && !gate.goes_on() => {
                    self.gates.push(ChangedGateLine::of(gate, GateFate::Opened))
                }
                ChangeDirection::PutAside | ChangeDirection::BringBack => {}
            }
        }
        for change in standing.gates.iter().filter(|(id, _)| !opens(id)).map(|(_, change)| change) {
            let shown = |gate: &Option<Gate>, fate| {
                gate.as_ref().filter(|gate| !gate.goes_on()).map(|gate| ChangedGateLine::of(gate, fate))
            };
            self.gates.extend(shown(&change.old, GateFate::Closed));
            self.gates.extend(shown(&change.new, GateFate::Opened));
        }
    }

    /// Adds the tasks whose progress becomes another one by an operation; those that are archived have none any more.
    fn add_progress(&mut self, now: &RestorableState, operation: &JournaledOperation) {
        let then = operation.leads_to(now);
        let is_there = |task: &&TaskId| then.tasks.get(*task).is_some_and(|task| task.status != TaskStatus::Archived);
        let tasks: BTreeSet<&TaskId> = now.reports.keys().chain(then.reports.keys()).filter(is_there).collect();
        let lines = tasks.into_iter().map(|task| {
            let (old, new) = (now.progress_of(task), then.progress_of(task));
            ChangedProgressLine { task_id: task.clone(), old, new }
        });
        self.progress.extend(lines.filter(|line| line.old != line.new));
    }

    /// Adds the gates that these events open and close after all else: what one says then counts.
    fn add_gates(&mut self, now: &RestorableState, events: Vec<Event>) {
        for event in events {
            let line = if let Event::GateOpened { gate } = &event {
                Some(ChangedGateLine::of(gate, GateFate::Opened))
            } else if let Event::GateClosed { id, .. } = &event {
                now.gates.get(id).map(|gate| ChangedGateLine::of(gate, GateFate::Closed))
            } else {
                None
            };
            let Some(line) = line else { continue };
            self.gates.retain(|known| (&known.id, known.action) != (&line.id, line.action));
            self.gates.push(line);
        }
    }
}

/// A file that changes.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AffectedFileLine {
    /// The worktree; `None` where the branch that changes is checked out nowhere.
    pub worktree: Option<String>,
    /// The file.
    pub path: RepoPath,
    /// How it changes.
    pub change: FileChange,
    /// Whether its present content is in no commit of the branch (the safety checkpoint holds it).
    pub uncommitted: bool,
}

impl AffectedFileLine {
    /// The change of a file, as a preview shows it.
    pub fn of(worktree: Option<String>, file: TreeChange, uncommitted: bool) -> Self {
        Self { worktree, change: file.what(), path: file.path, uncommitted }
    }

    /// Its path from the worktree `here`; absolute in others, and its path in the branch where that is checked out nowhere.
    pub fn place_from(&self, here: &Path) -> String {
        match &self.worktree {
            Some(worktree) => place_from(here, worktree, &self.path),
            None => self.path.to_path().display().to_string(),
        }
    }
}

/// A HEAD that changes to another branch or commit.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MovedHeadLine {
    /// The worktree.
    pub worktree: String,
    /// What is checked out before and after.
    #[serde(flatten)]
    pub head: ValueChange<HeadState>,
}

/// A file or folder that a rollback affects.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileLossLine {
    /// The worktree.
    pub worktree: String,
    /// The file.
    pub path: RepoPath,
}

impl FileLossLine {
    /// Its path from the worktree `here`; absolute in others.
    pub fn place_from(&self, here: &Path) -> String {
        place_from(here, &self.worktree, &self.path)
    }

    /// Its absolute path.
    pub fn place(&self) -> String {
        Path::new(&self.worktree).join(self.path.to_path()).display().to_string()
    }
}

/// A workspace that changes.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AffectedWorkspaceLine {
    /// Its path.
    pub path: String,
    /// `madeAgain`: from its capture, without ignored files; `notCaptured`: it stays as it is.
    pub action: WorkspaceFate,
    /// The task.
    pub task_id: TaskId,
}

impl AffectedWorkspaceLine {
    /// The line for a workspace that goes to the trash. If its folder is missing or never existed, its registration is only
    /// removed.
    pub fn going(path: &str, task_id: &TaskId) -> Self {
        let is_gone = Path::new(path).symlink_metadata().is_err();
        let action = if is_gone { WorkspaceFate::Forgotten } else { WorkspaceFate::PutAside };
        Self { path: path.to_owned(), action, task_id: task_id.clone() }
    }
}

/// The worktree from which paths are named for people: the one in which the user is, else the main one.
pub fn here(ctx: &Context) -> PathBuf {
    let worktrees = ctx.repo.worktrees();
    let here = worktrees.current_worktree().or_else(|_| worktrees.main_worktree());
    here.map(|worktree| worktree.path().to_owned()).unwrap_or_default()
}

/// A file of a worktree as people find it: from the worktree in which they are, absolute in others.
pub fn place_from(here: &Path, worktree: &str, path: &RepoPath) -> String {
    let place = Path::new(worktree).join(path.to_path());
    place.strip_prefix(here).unwrap_or(&place).display().to_string()
}
