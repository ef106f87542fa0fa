//! The repository of a history, what was done in it so far, and what the oracle remembers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use crate::common::random::Random;
use crate::common::trials::case_of;
use crate::common::{Run, TestEnv, git_since};
use crate::histories::held;
use crate::histories::look::look;
use crate::histories::places::{self, Odd};
use crate::histories::transcript::Transcript;
use crate::histories::world::World;

/// Where a history happens.
pub struct Place {
    pub env: TestEnv,
    seed: u64,
    story: Vec<String>,
    /// How many contents were made up so far: each is another.
    contents: u64,
    /// What our program said.
    pub transcript: Transcript,
    /// Checkpoints that were made and not deleted, with the world at that moment.
    pub checkpoints: BTreeMap<String, World>,
    /// Where each content lay when a verb of ours saved it: the paths that `purge` knows it by.
    pub paths: BTreeMap<String, BTreeSet<String>>,
    /// Ids of contents and commits that a verb of ours saved, with the step that did it.
    pub owed: BTreeMap<String, String>,
    /// Those of them that are in the repository of a submodule: whoever deletes that deletes them.
    pub inside: BTreeSet<String>,
    /// The object format of the repository.
    pub hash: gix::hash::Kind,
    /// What is odd about it.
    pub odd: Odd,
    /// The folders of linked worktrees that git could not work with when the step began.
    pub broken: BTreeSet<PathBuf>,
    /// Whether somebody made a repository in a worktree.
    pub has_repositories_within: bool,
}

impl Place {
    /// A repository with a few files, a history, a remote, tags, an ignored file.
    pub fn new(seed: u64, dice: &mut Random) -> Self {
        let mut env = TestEnv::empty();
        let odd = Odd::of(seed);
        if odd.has(places::Oddity::Closed) {
            env.bind_by_permissions();
        }
        let sha256 = dice.once_in(8);
        let reftable = dice.once_in(12) && git_since(45, "reftables");
        let mut init = vec!["init", "-q", "-b", "main"];
        init.extend(sha256.then_some("--object-format=sha256"));
        init.extend(reftable.then_some("--ref-format=reftable"));
        init.push("repo");
        env.git_in(env.root(), &init);
        let hash = if sha256 { gix::hash::Kind::Sha256 } else { gix::hash::Kind::Sha1 };
        let mut place = Self {
            env,
            seed,
            story: Vec::new(),
            contents: 0,
            transcript: Transcript::default(),
            checkpoints: BTreeMap::new(),
            paths: BTreeMap::new(),
            owed: BTreeMap::new(),
            inside: BTreeSet::new(),
            hash,
            odd,
            broken: BTreeSet::new(),
            has_repositories_within: false,
        };
        let kind = format!("init{}{}", if sha256 { " sha256" } else { "" }, if reftable { " reftable" } else { "" });
        place.says(&kind);
        for path in ["a.txt", "sub/b.txt", "sub/deep/c.txt", "d.txt"] {
            let text = place.text();
            place.env.write(path, text);
        }
        place.env.write(".gitignore", "*.ignored\nbuild/\n");
        place.env.give();
        place.env.git(&["add", "-A"]);
        place.env.git(&["commit", "-q", "-m", "first"]);
        place.env.git(&["branch", "side"]);
        place.env.git(&["tag", "v1"]);
        place.env.git(&["tag", "-a", "-m", "annotated", "v2"]);
        place.env.git_in(place.env.root(), &["init", "-q", "--bare", "remote.git"]);
        place.env.git(&["remote", "add", "origin", "../remote.git"]);
        place.env.git(&["config", "gc.auto", "0"]);
        places::set_up(&mut place);
        place.env.ok(&["init"]);
        place
    }

    /// A content that nothing else has.
    pub fn text(&mut self) -> String {
        self.contents += 1;
        let mut text = String::new();
        for line in 0..3 {
            writeln!(text, "content {} of history {}, line {line}", self.contents, self.seed).unwrap();
        }
        text
    }

    /// Notes what is done next; says it at once, where `AXIOM_HISTORIES_LOUD` is set: of a history that hangs nothing else is seen.
    pub fn says(&mut self, what: &str) {
        if std::env::var_os("AXIOM_HISTORIES_LOUD").is_some() {
            eprintln!("{} {what}", self.seed);
        }
        self.story.push(what.to_owned());
    }

    /// What was done, for a failure.
    pub fn story(&self) -> String {
        format!("\n{}\n  {}\n", case_of(self.seed), self.story.join("\n  "))
    }

    /// The last thing that was done.
    pub fn last(&self) -> String {
        self.story.last().cloned().unwrap_or_default()
    }

    /// git, whatever comes of it, as a person calls it in a worktree.
    pub fn git_at(&mut self, folder: &std::path::Path, args: &[&str]) -> Run {
        let at = folder.strip_prefix(self.env.root()).unwrap_or(folder).display().to_string();
        self.env.give();
        let run = self.env.try_git_in(folder, args);
        self.says(&format!("{at}: git {} -> {:?}", args.join(" "), run.code));
        run
    }

    /// git in the main worktree.
    pub fn git(&mut self, args: &[&str]) -> Run {
        let repo = self.env.repo();
        self.git_at(&repo, args)
    }

    /// Our program, whatever comes of it; never may it end by a panic.
    pub fn axiom(&mut self, args: &[&str]) -> Run {
        let command = self.env.axiom_command(&self.env.repo(), args);
        self.axiom_run(command, args)
    }

    /// Our program, prepared by the caller.
    pub fn axiom_run(&mut self, command: Command, args: &[&str]) -> Run {
        self.env.give();
        let run = self.env.run(command, None);
        self.transcript.add(args, &run);
        let last = run.stderr.lines().find(|line| line.starts_with("error[")).unwrap_or_default().to_owned();
        self.says(&format!("git axiom {} -> {:?} {last}", args.join(" "), run.code));
        assert!(!run.stderr.contains("panicked"), "{}{run}", self.story());
        assert_ne!(run.code, Some(101), "{}{run}", self.story());
        run
    }

    /// What is there now.
    pub fn look(&self) -> World {
        look(self)
    }

    /// Sees with which worktrees git cannot work: for the length of a step their files are looked at as files alone.
    pub fn look_at_broken(&mut self) {
        let mut broken = std::mem::take(&mut self.broken);
        broken.retain(|folder| folder.is_dir() && places::is_broken(self, folder));
        self.broken = broken;
    }

    /// Gives files an attribute.
    pub fn attribute(&self, line: &str) {
        let before = std::fs::read_to_string(self.env.repo().join(".gitattributes")).unwrap_or_default();
        self.env.write(".gitattributes", format!("{before}{line}\n"));
        self.env.give();
    }

    /// Does what a person does. It may take whole repositories of submodules, and with them all that is in these alone.
    pub fn by_a_person(&mut self, step: impl FnOnce(&mut Self)) {
        let before = held::repositories(self);
        step(self);
        self.env.give();
        if before.iter().any(|git_dir| !git_dir.is_dir()) {
            let gone = held::anywhere(self).lost(self.owed.keys().map(String::as_str).filter(|id| self.inside.contains(*id)));
            let gone: BTreeSet<String> = gone.into_iter().map(str::to_owned).collect();
            self.owed.retain(|id, _| !gone.contains(id));
        }
    }

    /// The main worktree, every linked worktree of the user's, every workspace: those that are there, and with which git works.
    pub fn worktrees(&self) -> Vec<PathBuf> {
        let listed = self.env.try_git(&["worktree", "list", "--porcelain", "-z"]).stdout;
        let paths = listed.split('\0').filter_map(|line| line.strip_prefix("worktree "));
        paths
            .map(PathBuf::from)
            .filter(|path| path.starts_with(self.env.root()) && path.join(".git").exists() && !self.broken.contains(path))
            .collect()
    }
}
