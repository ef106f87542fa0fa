//! The real repository: doing a step, and looking at what is there.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use git_axiom::agents::interventions::task_rollback;
use git_axiom::agents::merge::{MergeOutcome, merge_task};
use git_axiom::agents::revert_task;
use git_axiom::agents::revert_task::TaskRollbackOutcome;
use git_axiom::agents::supervise::SupervisorOptions;
use git_axiom::base::error::{Code, Error, Result};
use git_axiom::model::base::ids::{CheckpointName, TaskId};
use git_axiom::model::checkpoint::trigger::CheckpointTrigger;
use git_axiom::model::operation::undo::UndoSelector;
use git_axiom::model::state::event_envelope::EventAuthor;
use git_axiom::model::work::gates::gate::AfterHalt;
use git_axiom::model::work::guarded::AllowedGuardedFiles;
use git_axiom::safety::checkpoint;
use git_axiom::safety::checkpoint::CheckpointRequest;
use git_axiom::safety::context::handle::Context;
use git_axiom::safety::{history, opening, rollback, undo};
use git_axiom::ui::commands::progress::ProgressPrinter;

use crate::common::nothing_lost::Holders;
use crate::support::{Scratch, contents};

/// Path → content.
pub type Files = BTreeMap<String, String>;

pub struct Real {
    pub scratch: Scratch,
    path: PathBuf,
    gix: gix::Repository,
    /// All contents that were in the worktree when an operation of ours changed it: their ids.
    seen: RefCell<BTreeSet<gix::ObjectId>>,
}

/// What became of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub status: String,
    pub merged: bool,
    pub branch: Option<String>,
    pub workspace: bool,
}

/// What is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct World {
    pub files: Files,
    pub index: Files,
    pub head: String,
    pub tasks: BTreeMap<String, Task>,
}

impl Real {
    pub fn new() -> Self {
        let scratch = Scratch::new();
        for task in super::model::TASKS {
            scratch.add_task(task);
        }
        let path = scratch.path();
        // Looking at the repository some ten times a step must not start a git each time.
        let gix = gix::open(&path).unwrap();
        Self { scratch, path, gix, seen: RefCell::default() }
    }

    /// Does one of our operations. What was in the worktree before counts if the operation changed files or moved the branch
    /// (or is a checkpoint): what people overwrite themselves is theirs to lose.
    fn doing<T>(&self, saves: bool, work: impl FnOnce(&mut Context) -> Result<T>) -> Result<T> {
        let before = (self.all_contents(), self.head());
        let outcome = work(&mut opening::open(&self.path, git_axiom::safety::context::placement::VerbPurpose::Write).unwrap());
        if saves || before != (self.all_contents(), self.head()) {
            let id = |bytes: &Vec<u8>| gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, bytes).unwrap();
            self.seen.borrow_mut().extend(before.0.iter().map(|(_, bytes)| id(bytes)));
        }
        outcome
    }

    /// The files of the main worktree and of all workspaces.
    fn all_contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let workspaces = super::model::TASKS.map(|task| self.scratch.workspace(task)).into_iter().filter(|path| path.is_dir());
        contents(&self.path).into_iter().chain(workspaces.flat_map(|path| contents(&path))).collect()
    }

    /// Writes something into the workspace of a task, if it has one.
    pub fn scribble(&self, task: &str, content: u64) {
        let workspace = self.scratch.workspace(task);
        if workspace.is_dir() {
            std::fs::write(workspace.join("scribbled.txt"), format!("scribble {content}\n")).unwrap();
        }
    }

    pub fn nothing_is_lost(&self, told: &dyn Fn() -> String) {
        let seen: Vec<String> = self.seen.borrow().iter().map(ToString::to_string).collect();
        let lost = Holders::refs(&self.scratch).lost(seen.iter().map(String::as_str));
        assert!(lost.is_empty(), "{}: {lost:?} cannot be reached from any ref", told());
        self.scratch.fsck();
    }

    pub fn world(&self) -> World {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let files = contents(&self.path).into_iter();
        let files = files.map(|(path, bytes)| (path.display().to_string(), text(bytes))).collect();
        let store = self.scratch.store();
        let restorable = &store.state().restorable;
        let task = |id: &TaskId| Task {
            status: restorable.tasks[id].status.to_string(),
            merged: restorable.tasks[id].merged.is_some(),
            branch: self.find(&format!("refs/heads/axiom/{id}")),
            workspace: restorable.workspaces.contains_key(id) && self.scratch.workspace(id.as_str()).is_dir(),
        };
        assert!(store.state().record.open.is_none());
        let index = self.gix.open_index().unwrap();
        let entry = |entry: &gix::index::Entry| {
            assert_eq!(entry.stage_raw(), 0, "a conflict");
            (entry.path(&index).to_string(), self.blob(entry.id))
        };
        World {
            files,
            index: index.entries().iter().map(entry).collect(),
            head: self.head(),
            tasks: restorable.tasks.keys().map(|id| (id.to_string(), task(id))).collect(),
        }
    }

    /// The commit of `main`, which is checked out throughout.
    pub fn head(&self) -> String {
        assert_eq!(std::fs::read_to_string(self.path.join(".git/HEAD")).unwrap(), "ref: refs/heads/main\n");
        self.find("refs/heads/main").unwrap()
    }

    pub fn find(&self, name: &str) -> Option<String> {
        self.gix.try_find_reference(name).unwrap().map(|found| found.target().id().to_string())
    }

    /// The first parents of a commit, newest first, itself included.
    pub fn line(&self, commit: &str) -> impl Iterator<Item = String> {
        let id = gix::ObjectId::from_hex(commit.as_bytes()).unwrap();
        let up = |id: &gix::ObjectId| Some(self.gix.find_commit(*id).unwrap().parent_ids().next()?.detach());
        std::iter::successors(Some(id), up).map(|id| id.to_string())
    }

    pub fn merge_base(&self, one: &str, other: &str) -> String {
        let [one, other] = [one, other].map(|id| gix::ObjectId::from_hex(id.as_bytes()).unwrap());
        self.gix.merge_base(one, other).unwrap().unwrap().to_string()
    }

    pub fn tree_of(&self, commit: &str) -> Files {
        let commit = self.gix.find_commit(gix::ObjectId::from_hex(commit.as_bytes()).unwrap()).unwrap();
        let entries = commit.tree().unwrap().traverse().breadthfirst.files().unwrap().into_iter();
        let blobs = entries.filter(|entry| entry.mode.is_blob());
        blobs.map(|entry| (entry.filepath.to_string(), self.blob(entry.oid))).collect()
    }

    fn blob(&self, id: gix::ObjectId) -> String {
        String::from_utf8(self.gix.find_blob(id).unwrap().detach().data).unwrap()
    }

    pub fn checkpoint(&self, name: &str) {
        let name = Some(CheckpointName::new(name).unwrap());
        let wanted = CheckpointRequest { name, ..CheckpointRequest::by(CheckpointTrigger::Manual) };
        self.doing(true, |context| checkpoint::create(context, &wanted)).unwrap();
    }

    pub fn rollback_to(&self, name: &str) -> Result<()> {
        self.doing(false, |context| {
            rollback::to_checkpoint(
                context,
                rollback::RollbackRequest {
                    name,
                    part: rollback::RollbackScope::Whole,
                    refs: rollback::LocalRefsPolicy::ComeBack,
                    afterwards: AfterHalt::Waits,
                    mode: None,
                },
                true,
            )
        })
        .map(drop)
    }

    pub fn merge(&self, task: &str) -> Result<()> {
        match self.doing(false, |context| merge_task(context, &TaskId::new(task).unwrap(), &AllowedGuardedFiles::Nothing))? {
            MergeOutcome::Merged(_) | MergeOutcome::Noted(_) | MergeOutcome::NothingToMerge(_) => Ok(()),
            MergeOutcome::Conflict { .. }
            | MergeOutcome::InTheWay { .. }
            | MergeOutcome::Guarded { .. }
            | MergeOutcome::Unverified { .. }
            | MergeOutcome::TargetMissing { .. } => Err(Error::new(Code::InTheWay, "not merged")),
        }
    }

    pub fn rollback_task(&self, task: &str) -> Result<()> {
        let wanted = revert_task::TaskRollbackRequest {
            task: TaskId::new(task).unwrap(),
            cascade: false,
            target: None,
            resolve: false,
            afterwards: AfterHalt::Waits,
        };
        let stop = Some(SupervisorOptions::attending());
        match self.doing(false, |context| task_rollback::roll_back(context, &wanted, stop, &mut ProgressPrinter::new(false)))? {
            TaskRollbackOutcome::Done(_) => Ok(()),
            TaskRollbackOutcome::Conflict(_) | TaskRollbackOutcome::ToSettle(..) => {
                Err(Error::new(Code::MergeConflict, "conflict"))
            }
        }
    }

    pub fn undo(&self, asked: &UndoSelector) -> Result<()> {
        self.doing(false, |context| {
            // What the supervisor did last is for people to name; the model takes back what people did.
            let asked = if asked == &UndoSelector::Undo { newest_of_people(context)? } else { asked.clone() };
            let transaction = undo::choose(context, &asked)?;
            undo::undo(context, &transaction).map(drop)
        })
    }
}

fn newest_of_people(context: &Context) -> Result<UndoSelector> {
    let all = history::transactions(context)?;
    let mut newest = all.into_iter().rev();
    let found = newest
        .find(|one| one.by == EventAuthor::User && one.undo.of.is_none() && one.undo.by.is_none() && one.changes_for_good());
    found.map(|one| UndoSelector::Named(one.id.to_string())).ok_or_else(|| Error::new(Code::NothingToUndo, "nobody did anything"))
}
