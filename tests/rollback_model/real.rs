//! The real repository: doing a step, and looking at what is there.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use git_axiom::cli::progress::Progress;
use git_axiom::domain::adapter;
use git_axiom::domain::checkpoint::Trigger;
use git_axiom::domain::ids::{CaseId, CheckpointName};
use git_axiom::domain::undo::Asked;
use git_axiom::error::{Code, Error, Result};
use git_axiom::ops::checkpoint::{self, Wanted};
use git_axiom::ops::context::Context;
use git_axiom::ops::merge::{MergeOutcome, merge_task};
use git_axiom::ops::rollback_task::{self, Outcome};
use git_axiom::ops::supervise::Options;
use git_axiom::ops::{rollback, undo};

use crate::support::{Scratch, contents};

/// Path → content.
pub type Files = BTreeMap<String, String>;

pub struct Real {
    pub scratch: Scratch,
    /// Ids of all contents that were in the worktree when an operation of ours changed it.
    seen: RefCell<BTreeSet<String>>,
    /// Contents by blob id.
    blobs: RefCell<BTreeMap<String, String>>,
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
            scratch.add_case(task);
        }
        Self { scratch, seen: RefCell::default(), blobs: RefCell::default() }
    }

    /// Does one of our operations. What was in the worktree before counts if the operation changed files or moved the branch
    /// (or is a checkpoint): what people overwrite themselves is theirs to lose.
    fn doing<T>(&self, saves: bool, work: impl FnOnce(&mut Context) -> Result<T>) -> Result<T> {
        let before = (contents(&self.scratch.path()), self.scratch.head());
        let files: Vec<String> = before.0.iter().map(|(path, _)| path.display().to_string()).collect();
        let names: Vec<&str> = files.iter().map(String::as_str).collect();
        let ids = match names.is_empty() {
            true => String::new(),
            false => self.scratch.git(&[&["hash-object", "--no-filters", "--"][..], &names].concat()),
        };
        let outcome = work(&mut Context::open(&self.scratch.path()).unwrap());
        if saves || before != (contents(&self.scratch.path()), self.scratch.head()) {
            self.seen.borrow_mut().extend(ids.lines().map(str::to_owned));
        }
        outcome
    }

    pub fn nothing_is_lost(&self, told: &dyn Fn() -> String) {
        let reachable = self.scratch.git(&["rev-list", "--objects", "--all", "--no-object-names"]);
        let reachable: BTreeSet<&str> = reachable.lines().collect();
        let lost: Vec<String> = self.seen.borrow().iter().filter(|id| !reachable.contains(id.as_str())).cloned().collect();
        assert!(lost.is_empty(), "{}: {lost:?} cannot be reached from any ref", told());
        self.scratch.fsck();
    }

    pub fn world(&self) -> World {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let files = contents(&self.scratch.path()).into_iter();
        let files = files.map(|(path, bytes)| (path.display().to_string(), text(bytes))).collect();
        let store = self.scratch.store();
        let restorable = &store.state().restorable;
        let refs = self.scratch.git(&["for-each-ref", "--format=%(refname:lstrip=3) %(objectname)", "refs/heads/axiom"]);
        let refs: BTreeMap<&str, &str> = refs.lines().filter_map(|line| line.split_once(' ')).collect();
        let task = |id: &CaseId| Task {
            status: restorable.cases[id].status.to_string(),
            merged: restorable.cases[id].merged.is_some(),
            branch: refs.get(id.as_str()).map(|oid| (*oid).to_owned()),
            workspace: restorable.workspaces.contains_key(id) && self.scratch.workspace(id.as_str()).is_dir(),
        };
        assert_eq!(self.scratch.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
        assert!(store.state().record.open.is_none());
        World {
            files,
            index: self.tree(&["ls-files", "--format=%(objectname) %(path)"]),
            head: self.scratch.head().to_string(),
            tasks: restorable.cases.keys().map(|id| (id.to_string(), task(id))).collect(),
        }
    }

    pub fn tree_of(&self, commit: &str) -> Files {
        self.tree(&["ls-tree", "-r", "--format=%(objectname) %(path)", commit])
    }

    fn tree(&self, args: &[&str]) -> Files {
        let listed = self.scratch.git(args);
        let entry = |line: &str| {
            let (oid, path) = line.split_once(' ').unwrap();
            let read = || format!("{}\n", self.scratch.git(&["cat-file", "blob", oid]));
            (path.to_owned(), self.blobs.borrow_mut().entry(oid.to_owned()).or_insert_with(read).clone())
        };
        listed.lines().map(entry).collect()
    }

    pub fn checkpoint(&self, name: &str) {
        let name = Some(CheckpointName::new(name).unwrap());
        let wanted = Wanted { name, ..Wanted::by(Trigger::Manual) };
        self.doing(true, |context| checkpoint::create(context, &wanted)).unwrap();
    }

    pub fn rollback_to(&self, name: &str) -> Result<()> {
        self.doing(false, |context| rollback::to_checkpoint(context, rollback::Wish { name, only: None }, true)).map(drop)
    }

    pub fn merge(&self, task: &str) -> Result<()> {
        match self.doing(false, |context| merge_task(context, &CaseId::new(task).unwrap(), false))? {
            MergeOutcome::Merged(_) | MergeOutcome::NothingToMerge(_) => Ok(()),
            MergeOutcome::Conflict { .. }
            | MergeOutcome::InTheWay { .. }
            | MergeOutcome::TouchesAxiom { .. }
            | MergeOutcome::TargetMissing { .. } => Err(Error::new(Code::InTheWay, "not merged")),
        }
    }

    pub fn rollback_task(&self, task: &str) -> Result<()> {
        let wanted = rollback_task::Wanted { task: CaseId::new(task).unwrap(), cascade: false, target: None };
        let program = adapter::preset("shell").unwrap();
        let stop = Some(Options::attending(program));
        match self.doing(false, |context| rollback_task::run(context, &wanted, stop, &mut Progress::new(false)))? {
            Outcome::Done(_) => Ok(()),
            Outcome::Conflict(_) => Err(Error::new(Code::MergeConflict, "conflict")),
        }
    }

    pub fn undo(&self, asked: &Asked) -> Result<()> {
        self.doing(false, |context| {
            let transaction = undo::choose(context, asked)?;
            undo::undo(context, &transaction).map(drop)
        })
    }
}
