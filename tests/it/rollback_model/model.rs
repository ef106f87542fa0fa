//! The model: maps from paths to contents, and what each step makes of them.

use std::collections::BTreeMap;

use git_axiom::base::error::{Exit, Result};
use git_axiom::model::operation::undo::UndoSelector;

use super::real::{Files, Real, Task, World};

pub const TASKS: [&str; 2] = ["t1", "t2"];
/// `t1.txt` is what the task's own work is, too.
const PATHS: [&str; 5] = ["a.txt", "sub/b.txt", "staged.txt", "new.txt", "t1.txt"];

/// One step of a row.
#[derive(Debug, Clone)]
pub enum Step {
    Write(&'static str, u64),
    Remove(&'static str),
    Stage(&'static str),
    Commit,
    /// A commit of one file that names a task, as an agent in the user's own worktree makes it.
    CommitFor(&'static str, &'static str, u64),
    Work(&'static str),
    /// Something uncommitted in the workspace of a task.
    Scribble(&'static str, u64),
    Merge(&'static str),
    Checkpoint,
    RollbackTo(usize),
    RollbackTask(&'static str),
    Undo,
    Redo,
}

impl Step {
    pub fn random(below: &mut dyn FnMut(u64) -> u64, checkpoints: usize) -> Self {
        let path = PATHS[below(PATHS.len() as u64) as usize];
        let task = TASKS[below(2) as usize];
        match below(23) {
            0..=3 => Self::Write(path, below(4)),
            4 => Self::Remove(path),
            5 | 6 => Self::Stage(path),
            7 => Self::Commit,
            8 | 9 => Self::CommitFor(task, path, below(4)),
            10 | 11 => Self::Work(task),
            12 | 13 => Self::Merge(task),
            14 => Self::Checkpoint,
            15 | 16 if checkpoints > 0 => Self::RollbackTo(below(checkpoints as u64) as usize),
            15..=17 => Self::RollbackTask(task),
            18 | 19 => Self::Undo,
            20 => Self::Redo,
            21 => Self::Scribble(task, below(1000)),
            _ => Self::CommitFor(task, path, below(4)),
        }
    }
}

/// A commit of the first-parent line.
#[derive(Debug, Clone)]
struct Made {
    parent: Option<String>,
    tree: Files,
    task: Option<&'static str>,
    reverts: Option<String>,
}

/// One of the user's transactions.
#[derive(Debug, Clone)]
struct Transaction {
    before: World,
    after: World,
    /// Whether it moved the branch with its worktree, around the user's own changes.
    advances: bool,
    undo_of: Option<usize>,
    undone: bool,
}

pub struct Model {
    now: World,
    commits: BTreeMap<String, Made>,
    saved: Vec<World>,
    transactions: Vec<Transaction>,
}

impl Model {
    pub fn new(real: &Real) -> Self {
        let now = real.world();
        let first = Made { parent: None, tree: now.index.clone(), task: None, reverts: None };
        Self { commits: BTreeMap::from([(now.head.clone(), first)]), now, saved: Vec::new(), transactions: Vec::new() }
    }

    pub fn checkpoints(&self) -> usize {
        self.saved.len()
    }

    /// Takes a step in both worlds and compares them.
    pub fn take(&mut self, step: &Step, real: &Real, told: &dyn Fn() -> String) {
        match step {
            Step::Write(..) | Step::Remove(_) | Step::Stage(_) | Step::Commit | Step::CommitFor(..) => self.edit(step, real),
            Step::Work(task) => self.work(task, real),
            Step::Scribble(task, content) => real.scribble(task, *content),
            Step::Checkpoint => {
                real.checkpoint(&format!("c{}", self.saved.len()));
                self.saved.push(self.now.clone());
            }
            Step::RollbackTo(number) => {
                let then = self.saved[*number].clone();
                self.done(real.rollback_to(&format!("c{number}")), Some(then), false, None, told);
            }
            Step::Merge(task) => {
                let wanted = self.merged(task, real);
                let outcome = real.merge(task);
                let wanted = wanted.map(|(wanted, tree)| self.new_head(real, wanted, tree, Some(task), &outcome));
                // The workspace is put aside after the merge, and stays so when the merge is undone: the branch, which comes back,
                // has it all.
                if outcome.is_ok() {
                    self.now.tasks.get_mut(*task).unwrap().workspace = false;
                }
                self.done(outcome, wanted, true, None, told);
            }
            Step::RollbackTask(task) => {
                let wanted = self.taken_back(task);
                let outcome = real.rollback_task(task);
                let wanted = wanted.map(|(wanted, reverts)| self.reverted(real, wanted, &reverts, &outcome));
                self.done(outcome, wanted, true, None, told);
            }
            Step::Undo => self.undo(real, &UndoSelector::Undo, told),
            Step::Redo => self.undo(real, &UndoSelector::Redo, told),
        }
        let found = real.world();
        assert_eq!(found, self.now, "{}", told());
    }

    /// What a person does, with plain git.
    fn edit(&mut self, step: &Step, real: &Real) {
        let now = &mut self.now;
        match step {
            Step::Write(path, content) => {
                real.scratch.write(path, text(*content));
                now.files.insert((*path).to_owned(), text(*content));
            }
            Step::Remove(path) if now.files.remove(*path).is_some() => real.scratch.remove(path),
            Step::Stage(path) if now.files.contains_key(*path) || now.index.contains_key(*path) => {
                real.scratch.git(&["add", "-A", "--", path]);
                put(&mut now.index, path, now.files.get(*path).cloned());
            }
            Step::Commit => {
                real.scratch.git(&["commit", "-q", "--allow-empty", "-m", "a person's"]);
                let tree = now.index.clone();
                self.committed(real, tree, None);
            }
            Step::CommitFor(task, path, content) => {
                real.scratch.write(path, text(*content));
                real.scratch.git(&["add", "--", path]);
                let message = format!("work #{task} @ed-001");
                real.scratch.git(&["commit", "-q", "--allow-empty", "--only", "-m", &message, "--", path]);
                for files in [&mut now.files, &mut now.index] {
                    files.insert((*path).to_owned(), text(*content));
                }
                let mut tree = self.commits[&self.now.head].tree.clone();
                tree.insert((*path).to_owned(), text(*content));
                self.committed(real, tree, Some(task));
            }
            // There is no such file; or it is no edit.
            Step::Remove(_)
            | Step::Stage(_)
            | Step::Work(_)
            | Step::Scribble(..)
            | Step::Merge(_)
            | Step::Checkpoint
            | Step::RollbackTo(_)
            | Step::RollbackTask(_)
            | Step::Undo
            | Step::Redo => {}
        }
    }

    fn committed(&mut self, real: &Real, tree: Files, task: Option<&'static str>) {
        let parent = Some(self.now.head.clone());
        self.now.head = real.head();
        self.commits.insert(self.now.head.clone(), Made { parent, tree, task, reverts: None });
    }

    /// An agent does a task from beginning to end.
    fn work(&mut self, id: &str, real: &Real) {
        let task = &self.now.tasks[id];
        if task.status != "pending" || task.branch.is_some() || task.workspace {
            return;
        }
        real.scratch.reopen_task(id);
        std::fs::write(real.scratch.workspace(id).join(format!("{id}.txt")), format!("{id}\n")).unwrap();
        real.scratch.finish_task(id);
        let branch = real.find(&format!("refs/heads/axiom/{id}")).unwrap();
        let mut tree = self.commits[&self.now.head].tree.clone();
        tree.insert(format!("{id}.txt"), format!("{id}\n"));
        self.commits.insert(branch.clone(), Made { parent: Some(self.now.head.clone()), tree, task: None, reverts: None });
        let task = Task { status: "done".into(), merged: false, branch: Some(branch), workspace: true };
        self.now.tasks.insert(id.to_owned(), task);
    }

    /// The world after a merge, without the new commit, and that commit's tree; `None` where it is refused.
    fn merged(&self, id: &str, real: &Real) -> Option<(World, Option<Files>)> {
        let mut then = self.now.clone();
        let task = then.tasks.get_mut(id)?;
        if task.merged {
            (task.workspace, task.branch) = (false, None);
            return Some((then, None));
        }
        let branch = task.branch.clone().filter(|_| task.status == "done")?;
        (task.merged, task.workspace, task.branch) = (true, false, None);
        let base = real.merge_base(&self.now.head, &branch);
        if base == branch {
            return Some((then, None));
        }
        let ours = &self.commits[&self.now.head].tree;
        let tree = three_way(&self.commits[&base].tree, ours, &self.commits[&branch].tree)?;
        self.advance(&mut then, &tree)?;
        Some((then, Some(tree)))
    }

    /// The world after a task was taken back, and the commits that are reverted with the trees after each.
    fn taken_back(&self, id: &'static str) -> Option<(World, Vec<(String, Files)>)> {
        let mut then = self.now.clone();
        let task = then.tasks.get_mut(id)?;
        let untouched = Task { status: "pending".into(), merged: false, branch: None, workspace: false };
        let was_untouched = *task == untouched;
        *task = untouched;
        let line = self.line();
        let mut tree = self.commits[&self.now.head].tree.clone();
        let mut reverts = Vec::new();
        for commit in line.iter().filter(|commit| self.commits[*commit].task == Some(id)) {
            if self.is_reverted(commit, &line) {
                continue;
            }
            let made = &self.commits[commit];
            let empty = Files::new();
            let parent = made.parent.as_ref().map_or(&empty, |parent| &self.commits[parent].tree);
            let next = three_way(&made.tree, &tree, parent)?;
            if next != tree {
                tree = next;
                reverts.push((commit.clone(), tree.clone()));
            }
        }
        if reverts.is_empty() && was_untouched {
            return None;
        }
        self.advance(&mut then, &tree)?;
        Some((then, reverts))
    }

    /// The first-parent line, newest first.
    fn line(&self) -> Vec<String> {
        let up = |commit: &String| self.commits[commit].parent.clone();
        std::iter::successors(Some(self.now.head.clone()), up).collect()
    }

    fn is_reverted(&self, commit: &str, line: &[String]) -> bool {
        let reverts = |other: &&String| self.commits[*other].reverts.as_deref() == Some(commit);
        line.iter().filter(reverts).any(|revert| !self.is_reverted(revert, line))
    }

    /// Moves the branch to a tree, around what the user has changed; `None` where that is in the way.
    fn advance(&self, then: &mut World, tree: &Files) -> Option<()> {
        let head = &self.commits[&self.now.head].tree;
        for path in differing(head, tree) {
            if self.now.files.get(&path) != head.get(&path) || self.now.index.get(&path) != head.get(&path) {
                return None;
            }
            put(&mut then.files, &path, tree.get(&path).cloned());
            put(&mut then.index, &path, tree.get(&path).cloned());
        }
        Some(())
    }

    /// Takes in the commit that the real merge made, checking its tree.
    fn new_head(
        &mut self,
        real: &Real,
        mut then: World,
        tree: Option<Files>,
        task: Option<&'static str>,
        outcome: &Result<()>,
    ) -> World {
        if let (Some(tree), Ok(())) = (tree, outcome) {
            let head = real.head();
            assert_eq!(real.tree_of(&head), tree);
            let parent = Some(std::mem::replace(&mut then.head, head.clone()));
            self.commits.insert(head, Made { parent, tree, task, reverts: None });
        }
        then
    }

    fn reverted(&mut self, real: &Real, mut then: World, reverts: &[(String, Files)], outcome: &Result<()>) -> World {
        if outcome.is_err() || reverts.is_empty() {
            return then;
        }
        let mut made: Vec<String> = real.line(&real.head()).take(reverts.len()).collect();
        made.reverse();
        for (commit, (reverts, tree)) in made.into_iter().zip(reverts) {
            assert_eq!(&real.tree_of(&commit), tree);
            let parent = Some(std::mem::replace(&mut then.head, commit.clone()));
            let made = Made { parent, tree: tree.clone(), task: None, reverts: Some(reverts.clone()) };
            self.commits.insert(commit, made);
        }
        then
    }

    fn undo(&mut self, real: &Real, asked: &UndoSelector, told: &dyn Fn() -> String) {
        let depth = |number: usize| std::iter::successors(Some(number), |at| self.transactions[*at].undo_of).count() - 1;
        let fits = |number: &usize| match asked {
            UndoSelector::Redo => depth(*number) % 2 == 1,
            UndoSelector::Undo | UndoSelector::Named(_) => self.transactions[*number].undo_of.is_none(),
        };
        let mut newest = (0..self.transactions.len()).rev();
        let Some(number) = newest.find(|number| !self.transactions[*number].undone && fits(number)) else {
            self.done(real.undo(asked), None, false, None, told);
            return;
        };
        let transaction = self.transactions[number].clone();
        let wanted = self.inverted(&transaction);
        self.done(real.undo(asked), wanted, transaction.advances, Some(number), told);
    }

    /// The world with a transaction taken back; `None` where what it changed was changed since.
    fn inverted(&self, transaction: &Transaction) -> Option<World> {
        let Transaction { before, after, advances, .. } = transaction;
        let mut then = self.now.clone();
        for (id, was) in &before.tasks {
            if after.tasks[id] != *was {
                (self.now.tasks[id] == after.tasks[id]).then_some(())?;
                then.tasks.insert(id.clone(), was.clone());
            }
        }
        if before.head != after.head {
            (self.now.head == after.head).then_some(())?;
            then.head.clone_from(&before.head);
        }
        if *advances {
            self.advance(&mut then, &self.commits[&before.head].tree.clone())
                .filter(|()| before.head != after.head)
                .or((before.head == after.head).then_some(()))?;
            if before.head == after.head {
                (then.files, then.index) = (self.now.files.clone(), self.now.index.clone());
            }
            return Some(then);
        }
        let parts = [
            (&before.files, &after.files, &self.now.files, &mut then.files),
            (&before.index, &after.index, &self.now.index, &mut then.index),
        ];
        for (before, after, now, then) in parts {
            for path in differing(before, after) {
                (now.get(&path) == after.get(&path)).then_some(())?;
                put(then, &path, before.get(&path).cloned());
            }
        }
        Some(then)
    }

    /// Compares an outcome with what was expected of it, and goes on from there.
    fn done(
        &mut self,
        outcome: Result<()>,
        wanted: Option<World>,
        advances: bool,
        undo_of: Option<usize>,
        told: &dyn Fn() -> String,
    ) {
        match (outcome, wanted) {
            (Ok(()), Some(after)) => {
                let before = std::mem::replace(&mut self.now, after.clone());
                // A merge of what is merged changes nothing that could be undone.
                if before == after && advances {
                    return;
                }
                if let Some(of) = undo_of {
                    self.transactions[of].undone = true;
                    if let Some(revived) = self.transactions[of].undo_of {
                        self.transactions[revived].undone = false;
                    }
                }
                self.transactions.push(Transaction { before, after, advances, undo_of, undone: false });
            }
            (Err(error), None) => {
                let exit = error.code().exit();
                assert!(matches!(exit, Exit::Conflict | Exit::Failed), "{}: {error}", told());
            }
            (Ok(()), None) => panic!("{}: it was done, and should have been refused", told()),
            (Err(error), Some(_)) => panic!("{}: it was refused: {}: {error}", told(), error.code()),
        }
    }
}

fn text(content: u64) -> String {
    format!("content {content}\n")
}

fn put(files: &mut Files, path: &str, content: Option<String>) {
    match content {
        Some(content) => drop(files.insert(path.to_owned(), content)),
        None => drop(files.remove(path)),
    }
}

fn differing(one: &Files, other: &Files) -> Vec<String> {
    let mut paths: Vec<String> =
        one.keys().chain(other.keys()).filter(|path| one.get(*path) != other.get(*path)).cloned().collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Every content is one line, so a file is merged whole or not at all.
fn three_way(base: &Files, ours: &Files, theirs: &Files) -> Option<Files> {
    let mut merged = ours.clone();
    for path in differing(base, theirs) {
        let (base, ours, theirs) = (base.get(&path), ours.get(&path), theirs.get(&path));
        if ours == base {
            put(&mut merged, &path, theirs.cloned());
        } else if ours != theirs {
            return None;
        }
    }
    Some(merged)
}
