//! What a repository holds: what a verb may have changed, and what has to be there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::bench::in_time;
use crate::common::nothing_lost::Acknowledged;
use crate::common::{TestEnv, files_below};

/// What a repository holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// Of each task: its status, whether it is merged, its title and its gate.
    tasks: BTreeMap<String, String>,
    /// Names of checkpoints, automatic ones without their time.
    checkpoints: BTreeSet<String>,
    /// Branches and tags of the user's with what they hold, and the index and files of the main worktree.
    pub users: Users,
    /// Every ref that was promised, with its id.
    refs: BTreeMap<String, String>,
    /// Settings.
    settings: String,
    /// How far the plan is.
    plan: String,
    /// Files of ours in the worktree that were being written.
    pub leftovers: Vec<PathBuf>,
}

/// What is the user's.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Users {
    branches: String,
    status: Vec<String>,
    files: BTreeMap<PathBuf, String>,
}

impl Facts {
    /// Looks.
    ///
    /// # Errors
    /// What an asked program said, where it failed.
    pub fn look(env: &TestEnv) -> Result<Self, String> {
        let json = |args: &[&str]| -> Result<Value, String> {
            let run = in_time(env, &[args, &["--json"]].concat());
            if run.code != Some(0) {
                return Err(format!("{args:?} afterwards: {run}"));
            }
            serde_json::from_str(&run.stdout).map_err(|error| format!("{args:?}: {error}"))
        };
        let git = |args: &[&str]| env.try_git(args).stdout;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let listed = |document: &Value, name: &str| document[name].as_array().cloned().unwrap_or_default();
        let (tasks, checkpoints) = (json(&["task", "list"])?, json(&["checkpoint", "list"])?);
        let in_words = |task: &Value| format!("{} {} {}", task["status"], task["merged"].is_object(), task["title"]);
        let refs = git(&["for-each-ref", "--format=%(objectname) %(refname)"]);
        let promised = |name: &str| {
            let of_user = (name.starts_with("refs/heads/") || name.starts_with("refs/tags/")) && !name.contains("/axiom/");
            of_user || name.contains("/captures/")
        };
        let (mut files, status) = (files(env), git(&["status", "--porcelain=v1", "-uall"]));
        let leftovers: Vec<PathBuf> = files.keys().filter(|path| is_leftover(path)).cloned().collect();
        files.retain(|path, _| !is_leftover(path));
        let status = status.lines().filter(|line| !is_leftover(Path::new(line))).map(str::to_owned).collect();
        let settings = [".git/config", ".axiom/config.toml", "../home/.config/git-axiom/config.toml"];
        let settings = settings.map(|path| std::fs::read_to_string(env.repo().join(path)).unwrap_or_default());
        Ok(Self {
            tasks: listed(&tasks, "tasks").iter().map(|each| (text(&each["id"]), in_words(each))).collect(),
            // The one after a merge is made where it can be: the merge is done without it.
            checkpoints: listed(&checkpoints, "checkpoints")
                .iter()
                .filter(|each| each["trigger"] != "after-merge")
                .map(|each| timeless(&text(&each["name"])))
                .collect(),
            users: Users {
                branches: git(&["for-each-ref", "--format=%(refname) %(tree)", "refs/heads/main", "refs/tags/v*"]),
                status,
                files,
            },
            refs: refs
                .lines()
                .filter_map(|line| line.split_once(' '))
                .filter(|(_, name)| promised(name))
                .map(|(id, name)| (name.to_owned(), id.to_owned()))
                .collect(),
            settings: settings.concat(),
            plan: crate::power_loss::oracle::plan(&in_time(env, &["plan", "show", "--json"]).stdout),
            leftovers,
        })
    }

    fn acknowledged(&self) -> Acknowledged {
        let mut all = Acknowledged::default();
        self.tasks.keys().for_each(|id| all.add("task", id, ""));
        self.checkpoints.iter().for_each(|name| all.add("checkpoint", name, ""));
        self.refs.iter().for_each(|(name, id)| all.add("ref", name, id));
        all
    }

    /// What is wrong after a verb that said that it has done its work: `done` is what there is when nothing failed.
    pub fn is_not(&self, done: &Self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut compare = |what: &str, one: &dyn std::fmt::Debug, other: &dyn std::fmt::Debug| {
            let [one, other] = [one, other].map(|value| format!("{value:?}"));
            if one != other {
                wrong.push(format!("{what}: {one}\n  and undisturbed: {other}"));
            }
        };
        compare("tasks", &self.tasks, &done.tasks);
        compare("checkpoints", &self.checkpoints, &done.checkpoints);
        compare("the user's", &self.users.differs(&done.users), &[] as &[String; 0]);
        compare("settings", &self.settings, &done.settings);
        compare("the plan", &self.plan, &done.plan);
        wrong
    }

    /// What is missing at the end of a session that was gone on with: it may have more checkpoints than one that was not.
    pub fn has_come_to(&self, end: &Self) -> Vec<String> {
        let mut now = self.clone();
        now.checkpoints = end.checkpoints.clone();
        now.is_not(end)
    }

    /// What is wrong after a verb that said that it failed: all of the user's has to be as before or as after it, and what both
    /// have has to be there.
    pub fn is_neither(&self, before: &Self, after: &Self) -> Vec<String> {
        let mut wrong = Vec::new();
        if self.users != before.users && self.users != after.users {
            let [from_before, from_after] = [before, after].map(|facts| self.users.differs(&facts.users));
            wrong.push(format!("a mixture: from before {from_before:?}\n  from after {from_after:?}"));
        }
        for (id, task) in &before.tasks {
            let possible = [Some(task), after.tasks.get(id)];
            if let Some(now) = self.tasks.get(id).filter(|now| !possible.contains(&Some(*now))) {
                wrong.push(format!("task {id}: {now}, not of {possible:?}"));
            }
        }
        let promised = Acknowledged::of_all(&[before.acknowledged(), after.acknowledged()]);
        wrong.extend(promised.lost(&self.acknowledged()));
        if ![&before.settings, &after.settings].contains(&&self.settings) {
            wrong.push(format!("settings: {}", self.settings));
        }
        if ![&before.plan, &after.plan].contains(&&self.plan) {
            wrong.push(format!("the plan: {}, not {} or {}", self.plan, before.plan, after.plan));
        }
        wrong
    }
}

impl Users {
    /// What is otherwise.
    fn differs(&self, other: &Self) -> Vec<String> {
        let mut words = Vec::new();
        if self.branches != other.branches {
            words.push(format!("branches {} {}", self.branches, other.branches));
        }
        if self.status != other.status {
            words.push(format!("status {:?} {:?}", self.status, other.status));
        }
        let paths: BTreeSet<&PathBuf> = self.files.keys().chain(other.files.keys()).collect();
        for path in paths.into_iter().filter(|path| self.files.get(*path) != other.files.get(*path)) {
            words.push(format!("{}: {:?} {:?}", path.display(), self.files.get(path), other.files.get(path)));
        }
        words
    }
}

fn is_leftover(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp-"))
}

/// A name without its digits.
fn timeless(name: &str) -> String {
    let mut text: String = name.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    // A second one in the same second.
    while text.ends_with("-0") && text.contains("T00-00-00") && !text.ends_with("T00-00-00") {
        text.truncate(text.len() - 2);
    }
    text
}

fn files(env: &TestEnv) -> BTreeMap<PathBuf, String> {
    let all = files_below(&env.repo(), &[".git", ".worktrees"]).into_iter();
    all.map(|(path, content)| (path, String::from_utf8_lossy(&content).into_owned())).collect()
}
