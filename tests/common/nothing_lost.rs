//! Nothing is lost: what has to be found again, and the search for it, for every test that asks so.
//!
//! Two kinds of things can be owed. Contents and commits have ids: [`Holders`] says where they may be (refs, indexes, files on the disk), and
//! looks there. What was acknowledged has a name: [`Acknowledged`] is a list of that, and tells what another one lacks. What may be gone
//! (a person deleted it, `purge` took it out, a step that is under way may have taken it) each test leaves out of what it asks for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::{Path, PathBuf};

use super::TestEnv;

/// The id that git gives to a content.
pub fn blob(hash: gix::hash::Kind, content: &[u8]) -> String {
    gix::objs::compute_hash(hash, gix::objs::Kind::Blob, content).unwrap().to_string()
}

/// Where contents and commits may be found again.
pub struct Holders<'a> {
    env: &'a TestEnv,
    hash: gix::hash::Kind,
    /// Repositories, by their git directories.
    git_dirs: Vec<PathBuf>,
    /// What reaches an object in them beside their refs and stash, as `git rev-list` takes it.
    further: Vec<&'static str>,
    /// Folders in whose files it may lie, and those that are passed by.
    folders: Vec<PathBuf>,
    passed_by: Option<PathBuf>,
}

impl<'a> Holders<'a> {
    /// The refs of the repository, those of ours too, and its stash.
    pub fn refs(env: &'a TestEnv) -> Self {
        let git_dirs = vec![env.repo().join(".git")];
        Self { env, hash: gix::hash::Kind::Sha1, git_dirs, further: Vec::new(), folders: Vec::new(), passed_by: None }
    }

    /// In these repositories, whose objects have such ids.
    #[must_use]
    pub fn in_repositories(self, git_dirs: Vec<PathBuf>, hash: gix::hash::Kind) -> Self {
        Self { git_dirs, hash, ..self }
    }

    /// And their indexes.
    #[must_use]
    pub fn and_indexes(mut self) -> Self {
        self.further.push("--indexed-objects");
        self
    }

    /// And the files below these folders, without what is below one of them.
    #[must_use]
    pub fn and_files(self, folders: Vec<PathBuf>, passed_by: Option<PathBuf>) -> Self {
        Self { folders, passed_by, ..self }
    }

    /// git in one of the repositories, whose folder may be gone.
    pub fn git_of(env: &TestEnv, git_dir: &Path, args: &[&str]) -> super::Run {
        if git_dir == env.repo().join(".git") {
            return env.try_git(args);
        }
        let at = git_dir.display();
        let place = [&format!("--git-dir={at}")[..], &format!("--work-tree={at}")];
        env.try_git_in(git_dir, &[&place[..], args].concat())
    }

    /// The ids of all objects that are reached, with a path of each.
    fn listed(&self) -> Vec<String> {
        let of = |git_dir: &PathBuf| {
            let stash = Self::git_of(self.env, git_dir, &["stash", "list", "--format=%H"]).stdout;
            let further = self.further.iter().copied().chain(stash.lines());
            let args: Vec<&str> = ["rev-list", "--objects", "--all"].into_iter().chain(further).collect();
            let run = Self::git_of(self.env, git_dir, &args).success();
            run.stdout.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        self.git_dirs.iter().flat_map(of).collect()
    }

    /// The ids of all objects that are reached.
    pub fn reachable(&self) -> BTreeSet<String> {
        self.listed().into_iter().map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
    }

    /// The files on the disk with their contents.
    fn files(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        let walk = self.folders.iter().flat_map(|folder| {
            walkdir::WalkDir::new(folder).into_iter().filter_entry(|entry| self.passed_by.as_deref() != Some(entry.path()))
        });
        let files = walk.flatten().filter(|entry| entry.file_type().is_file());
        files.filter_map(|entry| std::fs::read(entry.path()).ok())
    }

    /// The ids of the contents on the disk.
    pub fn on_disk(&self) -> BTreeSet<String> {
        self.files().map(|content| blob(self.hash, &content)).collect()
    }

    /// Those of these ids that are nowhere. Looks no further than it has to.
    pub fn lost<'i>(&self, ids: impl IntoIterator<Item = &'i str>) -> Vec<&'i str> {
        let mut lost: Vec<&str> = ids.into_iter().collect();
        for look in [Self::on_disk, Self::reachable] {
            if lost.is_empty() {
                break;
            }
            let found = look(self);
            lost.retain(|id| !found.contains(*id));
        }
        lost
    }

    /// Those of these lines that no file has, of those whose path ends so: none on the disk, and none that is reached.
    pub fn lost_lines<'l>(&self, lines: impl IntoIterator<Item = &'l str>, ending: &str) -> Vec<&'l str> {
        let ids = self.listed().into_iter().filter(|line| line.ends_with(ending));
        let ids: String = ids.filter_map(|line| Some(line.split_once(' ')?.0.to_owned() + "\n")).collect();
        let mut batch = self.env.program("git", &self.env.repo());
        batch.args(["cat-file", "--batch"]);
        let batch = self.env.run(batch, Some(ids.as_bytes())).success().stdout;
        let on_disk: String = self.files().map(|content| String::from_utf8_lossy(&content).into_owned() + "\n").collect();
        let held: BTreeSet<&str> = batch.lines().chain(on_disk.lines()).collect();
        lines.into_iter().filter(|line| !held.contains(line)).collect()
    }
}

/// What was acknowledged: of each thing its kind and name, and what it was then.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Acknowledged(BTreeMap<(&'static str, String), String>);

impl Acknowledged {
    /// One more; without a value it has to be there, whatever it is.
    pub fn add(&mut self, kind: &'static str, name: impl Display, value: impl Into<String>) {
        self.0.insert((kind, name.to_string()), value.into());
    }

    /// Refs that are to be there, of lines of their ids and names.
    pub fn add_refs(&mut self, listed: &str, are_promised: impl Fn(&str) -> bool) {
        for (id, name) in listed.lines().filter_map(|line| line.split_once(' ')).filter(|(_, name)| are_promised(name)) {
            self.add("ref", name, id);
        }
    }

    /// What all of these have alike, of which the first was promised: a step that is under way leaves that as it is.
    pub fn of_all<'f>(all: impl IntoIterator<Item = &'f Self>) -> Self {
        let mut all = all.into_iter();
        let mut common = all.next().cloned().unwrap_or_default();
        for other in all {
            common.0.retain(|what, value| other.0.get(what) == Some(value));
        }
        common
    }

    /// What is not there, or is otherwise.
    pub fn lost(&self, now: &Self) -> Vec<String> {
        let is_lost = |(what, value): &(&(&'static str, String), &String)| now.0.get(*what) != Some(*value);
        let say = |((kind, name), value): (&(&'static str, String), &String)| match now.0.get(&(*kind, name.clone())) {
            None => format!("{kind} {name} is lost: {value}"),
            Some(now) => format!("{kind} {name} was {value} and is {now}"),
        };
        self.0.iter().filter(is_lost).map(say).collect()
    }
}
