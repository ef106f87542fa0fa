//! Merges and reverts in memory are those of `git merge` and `git revert`: random histories, attributes, drivers and settings, each
//! tried by git in a clean clone and by ours where the worktree has an uncommitted `.gitattributes`.
//!
//! `AXIOM_ROUNDS=2000 cargo test --test it merge_random` tries more; a failure prints its seed.

use std::path::{Path, PathBuf};

use git_axiom::base::error::Result;
use git_axiom::git::{MergeResult, Repository};
use git_axiom::model::base::names::Oid;

use crate::common::TestEnv;
use crate::common::random::Random;
use crate::common::trials::{AskedCases, case_of};

/// How many histories are tried when nothing else is asked.
const HISTORIES: u64 = 12;

const PATHS: [&str; 9] =
    ["a.txt", "b.lock", "CHANGES", "d/a.txt", "d/b.lock", "d/e/CHANGES", "d/e/long.txt", "f/x.bin", "f/g/y.txt"];

const ATTRIBUTES: [&str; 16] = [
    "*.lock -merge",
    "CHANGES merge=union",
    "*.txt merge=driven",
    "*.lock merge=ours",
    "*.lock merge=fails",
    "* merge=binary",
    "*.txt binary",
    "* merge=unknown",
    "a.txt -diff",
    "*.txt text=auto",
    "*.txt text eol=crlf",
    "CHANGES !merge",
    "* conflict-marker-size=12",
    "[attr]odd merge=union\nCHANGES odd",
    "/d/** merge=union",
    "# nothing",
];

const SETTINGS: [(&str, &[&str]); 9] = [
    ("merge.renormalize", &["true", "false"]),
    ("merge.renames", &["true", "false"]),
    ("diff.renames", &["true", "false", "copies"]),
    ("merge.directoryRenames", &["true", "false", "conflict"]),
    ("merge.renameLimit", &["1", "1000"]),
    ("merge.conflictStyle", &["merge", "diff3", "zdiff3"]),
    ("merge.default", &["union", "binary", "driven"]),
    ("diff.algorithm", &["myers", "patience", "histogram", "minimal"]),
    ("merge.driven.recursive", &["binary", "text"]),
];

/// A driver that needs a file of the repository beside it, and reads and writes as git tells it.
const DRIVER: &str = "#!/bin/sh\n[ -e tools/word ] || exit 2\ncat tools/word \"$2\" \"$3\" > \"$2.new\" && mv \"$2.new\" \"$2\"\ncase $4 in *e*) exit 0;; esac; exit 1\n";

struct History {
    env: TestEnv,
    random: Random,
}

impl History {
    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.random.below(all.len() as u64) as usize]
    }

    fn happens(&mut self, of: u64) -> bool {
        self.random.below(of) == 0
    }

    fn file(&self, path: &str) -> PathBuf {
        self.env.repo().join(path)
    }

    fn begin(seed: u64) -> Self {
        let mut history = Self { env: TestEnv::new(), random: Random::of(seed) };
        for (key, values) in SETTINGS {
            if history.happens(4) {
                let value = history.pick(values).to_owned();
                history.env.git(&["config", key, value]);
            }
        }
        for (name, command) in [("driven", "./tools/driver %O %A %B %P"), ("ours", "true"), ("fails", "exit 1")] {
            if !history.happens(4) {
                history.env.git(&["config", &format!("merge.{name}.driver"), command]);
            }
        }
        history.env.write("tools/driver", DRIVER);
        std::fs::set_permissions(history.file("tools/driver"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        history.env.write("tools/word", "driven\n");
        for path in PATHS {
            let lines: Vec<String> = (0..12).map(|n| format!("{n} of {path} {}", n * 7)).collect();
            history.env.write(path, lines.join("\n") + "\n");
        }
        history.attributes();
        if history.happens(4) {
            let line = *history.pick(&ATTRIBUTES);
            history.env.write(".git/info/attributes", format!("{line}\n"));
        }
        if history.happens(5) {
            let line = *history.pick(&ATTRIBUTES);
            history.env.write("../attributes", format!("{line}\n"));
            let own = history.env.repo().parent().unwrap().join("attributes");
            history.env.git(&["config", "core.attributesFile", own.to_str().unwrap()]);
        }
        history.commit();
        history
    }

    fn attributes(&mut self) {
        let place = *self.pick(&[".gitattributes", ".gitattributes", "d/.gitattributes", "d/e/.gitattributes"]);
        let lines: Vec<&str> = (0..1 + self.random.below(3)).map(|_| *self.pick(&ATTRIBUTES)).collect();
        self.env.write(place, lines.join("\n") + "\n");
    }

    fn commit(&self) {
        self.env.git(&["add", "-A"]);
        self.env.git(&["commit", "-q", "--allow-empty", "-m", "some changes"]);
    }

    /// Changes, moves and deletes some files, and commits that.
    fn change(&mut self) {
        for _ in 0..1 + self.random.below(4) {
            let path = *self.pick(&PATHS);
            let file = self.file(path);
            let Ok(content) = std::fs::read_to_string(&file) else {
                self.env.write(path, "anew\n");
                continue;
            };
            match self.random.below(10) {
                0 => std::fs::remove_file(&file).unwrap(),
                1 => {
                    let to = *self.pick(&["moved/a.txt", "d/e/z.txt", "h/CHANGES"]);
                    std::fs::create_dir_all(self.file(to).parent().unwrap()).unwrap();
                    std::fs::rename(&file, self.file(to)).unwrap();
                }
                2 if self.file("f").exists() && !self.file("k").exists() => {
                    std::fs::rename(self.file("f"), self.file("k")).unwrap();
                }
                3 => self.env.write(path, content.replace('\n', "\r\n")),
                4 => self.attributes(),
                _ => {
                    let mut lines: Vec<String> = content.lines().map(str::to_owned).collect();
                    let (at, word) = (self.random.below(lines.len() as u64 + 1) as usize, self.random.below(50));
                    if self.happens(2) && at < lines.len() {
                        lines[at] = format!("changed {word}");
                    } else {
                        lines.insert(at, format!("new {word}"));
                    }
                    self.env.write(path, lines.join("\n") + "\n");
                }
            }
        }
        self.commit();
    }

    /// Two branches, which may have merged each other on the way.
    fn grow(&mut self) {
        self.env.git(&["branch", "side"]);
        for _ in 0..2 {
            for branch in ["side", "main"] {
                self.env.git(&["switch", "-q", branch]);
                self.change();
            }
            if self.happens(4) {
                let (one, other) = (self.env.git(&["rev-parse", "main"]), self.env.git(&["rev-parse", "side"]));
                for (branch, with) in [("main", &other), ("side", &one)] {
                    self.env.git(&["switch", "-q", branch]);
                    self.env.try_git(&["merge", "-q", "--no-ff", "-m", "across", with]);
                    // A conflict is committed as it is.
                    self.commit();
                }
            }
        }
        self.env.git(&["switch", "-q", "main"]);
    }
}

/// What came of a merge: its tree, or the files in conflict; nothing where git gave up.
#[derive(Debug, PartialEq, Eq)]
enum Came {
    Clean(String),
    Conflict(Vec<String>),
    Nothing,
}

impl Came {
    fn of_ours(result: Result<MergeResult>) -> Self {
        match result {
            Ok(MergeResult::Clean(tree)) => Self::Clean(tree.to_string()),
            Ok(MergeResult::Conflict(files)) => Self::Conflict(files.iter().map(ToString::to_string).collect()),
            Err(_) => Self::Nothing,
        }
    }

    /// What git does with these arguments in a clean worktree, which is left as it was; `None` where git takes line ends that it
    /// would store in another way for changes of the user's.
    fn of_git(env: &TestEnv, folder: &Path, args: &[&str]) -> Option<Self> {
        let ran = env.try_git_in(folder, args);
        let (code, is_in_the_way) = (ran.code, ran.stderr.contains("would be overwritten"));
        if code.is_none_or(|code| code > 1) && !is_in_the_way {
            println!("git {args:?}: {}", ran.stderr);
        }
        let files = env.git_in(folder, &["-c", "core.quotePath=false", "ls-files", "-u", "--format=%(path)"]);
        let mut files: Vec<String> = files.lines().map(str::to_owned).collect();
        files.dedup();
        let came = match code {
            Some(0) => Self::Clean(env.git_in(folder, &["write-tree"])),
            Some(1) => Self::Conflict(files),
            Some(_) | None => Self::Nothing,
        };
        env.git_in(folder, &["reset", "-q", "--hard"]);
        env.git_in(folder, &["clean", "-fdxq"]);
        (!is_in_the_way).then_some(came)
    }
}

fn try_one(seed: u64) -> Vec<Came> {
    let mut history = History::begin(seed);
    history.grow();
    let env = &history.env;
    let there = env.root().join("there");
    env.git(&["worktree", "add", "-q", "--detach", there.to_str().unwrap(), "main"]);
    let (main, side) = (Oid::new(env.git(&["rev-parse", "main"])).unwrap(), Oid::new(env.git(&["rev-parse", "side"])).unwrap());
    // Newest first: reverting the newest needs no merge at all.
    let commits = env.git(&["rev-list", "--no-merges", "--first-parent", "--skip=1", "--max-count=1", "main"]);
    let by_git = [
        Came::of_git(env, &there, &["merge", "--no-ff", "--no-commit", "side"]),
        Came::of_git(env, &there, &["revert", "--no-commit", &commits]),
    ];
    env.write(".gitattributes", "* merge=union\n*.lock merge=driven\n");
    env.write("d/.gitattributes", "* -merge\n");
    let repo = Repository::discover(&env.repo()).unwrap();
    let parent = Oid::new(env.git(&["rev-parse", &format!("{commits}^")])).unwrap();
    let reverted = repo.merges().merge_with_base(&Oid::new(commits).unwrap(), (&main, &main), &parent);
    let by_us = [Came::of_ours(repo.merges().merge_in_memory(&main, &side)), Came::of_ours(reverted)];
    for (ours, git) in by_us.iter().zip(by_git).filter_map(|(ours, git)| Some((ours, git?))) {
        assert_eq!(*ours, git, "{}", case_of(seed));
    }
    by_us.into()
}

#[test]
fn merges_and_reverts_come_to_what_git_makes_of_them() {
    let seeds = AskedCases::read().seeds(0, HISTORIES);
    let came: Vec<Came> = seeds.clone().flat_map(try_one).collect();
    let count = |of: fn(&Came) -> bool| came.iter().filter(|one| of(one)).count();
    let (clean, conflicts) = (count(|one| matches!(one, Came::Clean(_))), count(|one| matches!(one, Came::Conflict(_))));
    println!("{clean} clean, {conflicts} in conflict, of {}", came.len());
    assert!(seeds.end - seeds.start < HISTORIES || clean > 0 && conflicts > 0);
}
