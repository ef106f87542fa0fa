//! What a dry run named, and what changed: of each thing a set of words.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::histories::place::Place;
use crate::histories::world::{Tree, World, keys};

/// Names of things.
pub type Words = BTreeSet<String>;

/// What a dry run named, and what changed.
pub struct Seen<'a> {
    pub place: &'a Place,
    pub before: &'a World,
    pub after: &'a World,
    pub document: &'a Value,
}

impl<'a> Seen<'a> {
    fn list(&self, key: &str) -> impl Iterator<Item = &'a Value> {
        self.document[key].as_array().into_iter().flatten()
    }

    /// A path below the test's folder.
    fn below(&self, path: &str) -> String {
        path.strip_prefix(&format!("{}/", self.place.env.root().display())).unwrap_or(path).to_owned()
    }

    fn in_worktree(&self, line: &Value) -> Option<String> {
        Some(format!("{}/{}", self.below(line["worktree"].as_str()?), line["path"].as_str()?))
    }

    /// The worktrees that are there before and after: one that comes or goes as a whole is named as a workspace.
    fn worktrees(&self) -> impl Iterator<Item = (&'a String, &'a Tree, &'a Tree)> {
        self.before.worktrees.iter().filter_map(|(name, tree)| Some((name, tree, self.after.worktrees.get(name)?)))
    }

    fn is_in_one_that_stays(&self, path: &str) -> bool {
        self.worktrees().any(|(name, _, _)| path.starts_with(&format!("{name}/")))
    }

    pub fn files_named(&self) -> Words {
        let files = self.list("files").filter_map(|line| self.in_worktree(line));
        // Of folders only what is in them is looked at.
        let is_folder = |path: &String| self.place.env.root().join(path).is_dir();
        let permissions = self.list("permissions").filter_map(|line| self.in_worktree(line)).filter(|path| !is_folder(path));
        let changed = self.files_changed();
        let mut all: Words = files.chain(permissions).filter(|path| self.is_in_one_that_stays(path)).collect();
        all.retain(|path| changed.contains(path) || !self.is_left_out(path));
        // What is moved aside as a whole is named by its topmost folder.
        all.extend(changed.into_iter().filter(|path| self.is_below_what_moves(path)));
        all
    }

    /// What a sparse checkout leaves out changes in the index alone.
    fn is_left_out(&self, path: &str) -> bool {
        let left_out = |tree: &Tree, inside: &str| {
            tree.index.lines().any(|line| line.starts_with("S ") && line.split_once('\t').is_some_and(|(_, name)| name == inside))
        };
        self.worktrees().any(|(name, was, is)| {
            let inside = path.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('/'));
            inside.is_some_and(|inside| left_out(was, inside) || left_out(is, inside))
        })
    }

    fn is_below_what_moves(&self, path: &str) -> bool {
        let full = self.place.env.root().join(path);
        let aside = ["movedAside", "broughtBack"].iter().flat_map(|key| self.list(key));
        aside.filter_map(|entry| entry.as_str().or(entry["path"].as_str())).any(|entry| {
            let entry = Path::new(entry);
            full.starts_with(entry) || entry.is_relative() && full.starts_with(self.place.env.repo().join(entry))
        })
    }

    pub fn files_changed(&self) -> Words {
        let mut changed = Words::new();
        // A submodule that comes or goes is none of itself: its files are those of the worktree that it is in.
        for (name, ..) in self.worktrees().filter(|(_, was, _)| was.submodule.is_none()) {
            let [was, is] = [self.before, self.after].map(|world| world.whole(name).files);
            let differs = |path: &&String| was.get(*path) != is.get(*path);
            changed.extend(keys(&was, &is).into_iter().filter(differs).map(|path| format!("{name}/{path}")));
        }
        changed
    }

    /// Only paths whose file stays: the index goes with a file that changes.
    pub fn staged_named(&self) -> Words {
        let all = self.list("staged").chain(self.list("stagedBack")).filter_map(|line| self.in_worktree(line));
        let with_files = self.files_changed();
        all.filter(|path| self.is_in_one_that_stays(path) && !with_files.contains(path)).collect()
    }

    pub fn staged_changed(&self) -> Words {
        let mut changed = Words::new();
        for (name, was, is) in self.worktrees() {
            let differs = |path: &&String| was.staged.get(*path) != is.staged.get(*path);
            changed.extend(keys(&was.staged, &is.staged).into_iter().filter(differs).map(|path| format!("{name}/{path}")));
        }
        changed.difference(&self.files_changed()).cloned().collect()
    }

    pub fn heads_named(&self) -> Words {
        let stays = |name: &String| self.worktrees().any(|(other, _, _)| other == name);
        self.list("heads").filter_map(|line| Some(self.below(line["worktree"].as_str()?))).filter(stays).collect()
    }

    pub fn heads_changed(&self) -> Words {
        let moved = self.worktrees().filter(|(_, was, is)| was.head != is.head);
        moved.map(|(name, _, _)| name.clone()).collect()
    }

    pub fn operations_named(&self) -> Words {
        let stays = |name: &String| self.worktrees().any(|(other, _, _)| other == name);
        self.list("operations").filter_map(|line| Some(self.below(line["worktree"].as_str()?))).filter(stays).collect()
    }

    pub fn operations_changed(&self) -> Words {
        self.worktrees().filter(|(_, was, is)| was.sequencer != is.sequencer).map(|(name, _, _)| name.clone()).collect()
    }

    /// The stash is named entry by entry.
    pub fn refs_named(&self) -> Words {
        let names = self.list("refs").filter_map(|line| line["name"].as_str());
        // The rollback of a task names the branch that gets the reverts beside those that go.
        let target = self.document["target"].as_str().filter(|_| self.document["commits"] != Value::Array(Vec::new()));
        let names = names.chain(target);
        // Those of an operation in progress belong to one worktree; only the main one's are looked at.
        let main = self.place.env.repo();
        let operations = self.list("operations").filter(|line| line["worktree"].as_str().map(Path::new) == Some(&main));
        let of_operations = operations.flat_map(|line| line["refs"].as_array().into_iter().flatten()).filter_map(Value::as_str);
        let names = names.chain(of_operations);
        names.filter(|name| *name != "refs/stash" && !is_ours(name)).map(str::to_owned).collect()
    }

    pub fn refs_changed(&self) -> Words {
        let differs = |name: &&String| self.before.refs.get(*name) != self.after.refs.get(*name);
        let names = keys(&self.before.refs, &self.after.refs).into_iter().filter(differs);
        names.filter(|name| *name != "refs/stash").cloned().collect()
    }

    pub fn stash_named(&self) -> Words {
        self.list("stash").filter_map(|line| line["id"].as_str()).map(str::to_owned).collect()
    }

    pub fn stash_changed(&self) -> Words {
        let [was, is]: [BTreeSet<&String>; 2] = [&self.before.stash, &self.after.stash].map(|stash| stash.iter().collect());
        was.symmetric_difference(&is).map(|id| (*id).clone()).collect()
    }

    pub fn tasks_named(&self) -> Words {
        let lines = self.list("tasks");
        let agents = self.list("agents").filter_map(|line| line["taskId"].as_str());
        let changed = self.tasks_changed();
        let with_agents: Vec<&str> = agents.filter(|id| changed.contains(*id)).collect();
        lines.filter_map(|line| line["id"].as_str()).chain(with_agents).map(str::to_owned).collect()
    }

    pub fn tasks_changed(&self) -> Words {
        let of = |world: &'a World, id: &str| (world.tasks.get(id), world.titles.get(id));
        let differs = |id: &&String| of(self.before, id) != of(self.after, id);
        keys(&self.before.tasks, &self.after.tasks).into_iter().filter(differs).cloned().collect()
    }

    pub fn mode_named(&self) -> Words {
        let mode = &self.document["mode"];
        if mode.is_null() { Words::new() } else { Words::from(["mode".to_owned()]) }
    }

    pub fn mode_changed(&self) -> Words {
        if self.before.mode == self.after.mode { Words::new() } else { Words::from(["mode".to_owned()]) }
    }

    pub fn workspaces_named(&self) -> Words {
        // `restored`: it stays, and files in it change; `forgotten`: its folder is gone already.
        let stays = |line: &&Value| !["restored", "forgotten"].contains(&line["action"].as_str().unwrap_or_default());
        let lines = self.list("workspaces").filter(stays);
        lines.filter_map(|line| Some(self.below(line["path"].as_str()?))).collect()
    }

    pub fn workspaces_changed(&self) -> Words {
        let own = |world: &'a World| world.worktrees.iter().filter(|(_, tree)| tree.submodule.is_none()).map(|(name, _)| name);
        let [was, is] = [self.before, self.after].map(|world| own(world).collect::<BTreeSet<_>>());
        was.symmetric_difference(&is).map(|name| (*name).clone()).collect()
    }
}

fn is_ours(name: &str) -> bool {
    ["refs/axiom/", "refs/tags/axiom/", "refs/notes/axiom"].iter().any(|prefix| name.starts_with(prefix))
}
