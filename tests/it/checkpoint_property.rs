//! Random states of a worktree: capture, wreck, restore, and everything is as it was: files, modes, index, HEAD,
//! operation in progress; ignored files and nested repositories are untouched, and the user's index is the same byte for
//! byte after the capture.
//!
//! `AXIOM_ROUNDS=20000 cargo test --test it checkpoint_property` tries more; a failure prints the seed of its one state;
//! `AXIOM_ONLY=SparseIndex` tries one kind of repository.
#![allow(
    // A table of changes, one after the other; kinds of repositories that need nothing special.
    clippy::too_many_lines,
    clippy::wildcard_enum_match_arm
)]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::git_since;
use crate::common::random::Random;
use crate::common::trials::AskedCases;
use crate::common::workers::try_asked;
use git_axiom::git::{
    CaptureExtras, CaptureOptions, ChangeAttempt, ExpectedRefValue, Head, IndexLock, RefEdit, Repository, Worktree,
    WorktreeCapture, WorktreeRestore,
};
use git_axiom::model::base::text::ValueChange;
use git_axiom::model::journal::journaled_changes::HeadState;

/// Where a test run begins, and how many states it tries.
const TRIED: (u64, u64) = (20_260_113, 200);

#[test]
fn whatever_state_a_worktree_is_in_comes_back() {
    try_asked("checkpoint_property::whatever_state_a_worktree_is_in_comes_back", TRIED, || {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let asked = AskedCases::read();
        let is_made = |kind: Kind| kind != Kind::Reftable || git_since(45, "reftables");
        let kinds = KINDS.iter().filter(|kind| asked.has(&format!("{kind:?}")) && is_made(**kind));
        let templates: Vec<(PathBuf, Kind)> = kinds.map(|kind| (template(&root, *kind), *kind)).collect();
        move |seed| {
            let _until_here = &dir;
            one_state(&root, &templates, seed);
        }
    });
}

/// What kind of repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Sha256,
    Reftable,
    SplitIndex,
    SparseIndex,
    NoFileMode,
    HiddenUntracked,
    IndexVersion4,
    AutoCrlf,
    UntrackedCache,
}

const KINDS: &[Kind] = &[
    Kind::Plain,
    Kind::Plain,
    Kind::Sha256,
    Kind::Reftable,
    Kind::SplitIndex,
    Kind::NoFileMode,
    Kind::HiddenUntracked,
    Kind::IndexVersion4,
    Kind::AutoCrlf,
    Kind::UntrackedCache,
    Kind::SparseIndex,
];

fn git_raw(folder: &Path, args: &[&OsStr]) -> Output {
    Command::new("git").args(["-c", "gc.auto=0"]).args(args).current_dir(folder).output().unwrap()
}

fn try_git(folder: &Path, args: &[&str]) -> Output {
    git_raw(folder, &args.iter().map(OsStr::new).collect::<Vec<_>>())
}

fn git(folder: &Path, args: &[&str]) -> Vec<u8> {
    let output = try_git(folder, args);
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn write(root: &Path, path: &str, bytes: impl AsRef<[u8]>) {
    let place = root.join(path);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(place, bytes).unwrap();
}

/// A repository with a few commits, and branches that conflict.
fn template(root: &Path, kind: Kind) -> PathBuf {
    let path = root.join(format!("template-{kind:?}"));
    if path.exists() {
        return path;
    }
    let extra: &[&str] = match kind {
        Kind::Sha256 => &["--object-format=sha256"],
        Kind::Reftable => &["--ref-format=reftable"],
        _ => &[],
    };
    git(root, &[&["init", "-q", "-b", "main", path.to_str().unwrap()], extra].concat());
    let eol = if kind == Kind::AutoCrlf { "\r\n" } else { "\n" };
    match kind {
        Kind::NoFileMode => drop(git(&path, &["config", "core.fileMode", "false"])),
        Kind::HiddenUntracked => drop(git(&path, &["config", "status.showUntrackedFiles", "no"])),
        Kind::AutoCrlf => drop(git(&path, &["config", "core.autocrlf", "true"])),
        Kind::UntrackedCache => drop(git(&path, &["config", "core.untrackedCache", "true"])),
        _ => {}
    }
    // Not in a file of the worktree: the wrecking itself must not come to commit what is ignored.
    std::fs::write(path.join(".git/info/exclude"), "*.ign\n/ignored-dir/\n").unwrap();
    write(&path, ".gitignore", format!("*.other{eol}"));
    for name in ["a.txt", "b.txt", "dir/c.txt", "dir/deep/d.txt", "other/e.txt", "other/f.txt", "sp ace/g", "h"] {
        write(&path, name, format!("first of {name}{eol}second{eol}"));
    }
    std::os::unix::fs::symlink("a.txt", path.join("link")).unwrap();
    write(&path, "run.sh", format!("#!/bin/sh{eol}"));
    std::fs::set_permissions(path.join("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    git(&path, &["add", "-A"]);
    git(&path, &["commit", "-q", "-m", "base"]);
    for side in ["left", "right"] {
        git(&path, &["checkout", "-q", "-b", side, "main"]);
        write(&path, "a.txt", format!("{side}{eol}second{eol}"));
        write(&path, "both.txt", format!("added by {side}{eol}"));
        git(&path, &["rm", "-q", if side == "left" { "b.txt" } else { "h" }]);
        write(&path, if side == "left" { "h" } else { "b.txt" }, format!("changed by {side}{eol}"));
        git(&path, &["add", "-A"]);
        git(&path, &["commit", "-q", "-m", side]);
    }
    git(&path, &["checkout", "-q", "main"]);
    match kind {
        Kind::SplitIndex => drop(git(&path, &["update-index", "--split-index"])),
        Kind::IndexVersion4 => drop(git(&path, &["update-index", "--index-version", "4"])),
        Kind::SparseIndex => drop(git(&path, &["sparse-checkout", "set", "--cone", "--sparse-index", "dir"])),
        Kind::UntrackedCache => drop(git(&path, &["update-index", "--untracked-cache"])),
        _ => {}
    }
    path
}

/// A state being made.
struct Shape<'d> {
    root: PathBuf,
    kind: Kind,
    dice: &'d mut Random,
}

const ODD: &[&[u8]] = &[
    b"plain-new.txt",
    b"with space",
    b"quo\"te",
    b"new\nline",
    b"tab\there",
    b"-dash",
    "\u{fc}n\u{ef}".as_bytes(),
    b"\xff\xfe-bytes",
    b"*glob?[x]",
    b".hidden",
    b"back\\slash",
    b":colon",
    b"dir/inside new",
    b"new dir/deep/er/file",
    b"other/out-of-cone",
    b"UPPER",
];

impl Shape<'_> {
    fn git(&self, args: &[&str]) -> bool {
        try_git(&self.root, args).status.success()
    }

    fn git_on(&self, args: &[&str], path: &Path) -> bool {
        let mut all: Vec<&OsStr> = vec![OsStr::new("--literal-pathspecs")];
        all.extend(args.iter().map(OsStr::new));
        all.extend([OsStr::new("--"), path.as_os_str()]);
        git_raw(&self.root, &all).status.success()
    }

    /// Files and links below the root that belong to this repository and are not ignored, as relative paths.
    fn files(&self) -> Vec<PathBuf> {
        let walk = walkdir::WalkDir::new(&self.root).sort_by_file_name().into_iter();
        let own = walk.filter_entry(|e| e.file_name() != ".git" && e.file_name() != "nested" && e.file_name() != "ignored-dir");
        let files = own.map(Result::unwrap).filter(|e| !e.file_type().is_dir());
        let named = files.map(|e| e.path().strip_prefix(&self.root).unwrap().to_owned());
        named.filter(|path| path.extension() != Some(OsStr::new("ign")) && path != Path::new(".gitignore")).collect()
    }

    fn content(&mut self) -> Vec<u8> {
        let number = self.dice.below(1000);
        if self.kind == Kind::AutoCrlf {
            return format!("line {number}\r\nsecond\r\n").into_bytes();
        }
        match self.dice.below(6) {
            0 => Vec::new(),
            1 => (0..=255_u8).cycle().take(300 + number as usize).collect(),
            2 => format!("no end {number}").into_bytes(),
            3 => format!("crlf {number}\r\nand lf\n").into_bytes(),
            _ => format!("line {number}\nsecond\n").into_bytes(),
        }
    }

    fn some_file(&mut self) -> Option<PathBuf> {
        let files = self.files();
        self.dice.pick(&files).cloned()
    }

    /// Clears whatever stands where a path shall be, and makes its folders.
    fn room_for(&self, path: &Path) -> PathBuf {
        let place = self.root.join(path);
        for above in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
            let above = self.root.join(above);
            if above.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
                std::fs::remove_file(&above).unwrap();
            }
        }
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        match place.symlink_metadata() {
            Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(&place).unwrap(),
            Ok(_) => std::fs::remove_file(&place).unwrap(),
            Err(_) => {}
        }
        place
    }

    fn odd_name(&mut self) -> PathBuf {
        let name = self.dice.pick(ODD).unwrap();
        PathBuf::from(OsStr::from_bytes(name))
    }

    /// An operation that stops half-way, begun on a clean worktree.
    fn begin_operation(&mut self) {
        match self.dice.below(14) {
            0 => drop((self.git(&["checkout", "-q", "left"]), self.git(&["merge", "-q", "right"]))),
            1 => drop((self.git(&["checkout", "-q", "left"]), self.git(&["cherry-pick", "right"]))),
            2 => drop((self.git(&["checkout", "-q", "left"]), self.git(&["rebase", "-q", "right"]))),
            3 => drop((self.git(&["checkout", "-q", "left"]), self.git(&["revert", "--no-commit", "left"]))),
            4 => drop((self.git(&["bisect", "start"]), self.git(&["bisect", "bad", "left"]))),
            5 => drop((self.git(&["checkout", "-q", "left"]), self.git(&["merge", "-q", "--squash", "right"]))),
            6 => drop(self.git(&["merge", "-q", "--no-commit", "--no-ff", "left"])),
            _ => {}
        }
    }

    fn mutate(&mut self) {
        match self.dice.below(24) {
            0 | 1 => {
                if let Some(path) = self.some_file() {
                    let content = self.content();
                    let place = self.room_for(&path);
                    std::fs::write(place, content).unwrap();
                }
            }
            2 => {
                if let Some(path) = self.some_file() {
                    std::fs::remove_file(self.root.join(path)).unwrap();
                }
            }
            3..=5 => {
                let (path, content) = (self.odd_name(), self.content());
                std::fs::write(self.room_for(&path), content).unwrap();
            }
            6 => {
                if let Some(path) = self.some_file() {
                    let place = self.root.join(path);
                    let meta = place.symlink_metadata().unwrap();
                    if meta.is_file() && self.kind != Kind::NoFileMode {
                        let mode = if meta.permissions().mode() & 0o100 == 0 { 0o755 } else { 0o644 };
                        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(mode)).unwrap();
                    }
                }
            }
            7 => {
                if let Some(path) = self.some_file() {
                    let target = if self.dice.below(2) == 0 { "a.txt" } else { "no/such\nplace" };
                    std::os::unix::fs::symlink(target, self.room_for(&path)).unwrap();
                }
            }
            8 => {
                // A file becomes a folder.
                if let Some(path) = self.some_file() {
                    let content = self.content();
                    let inside = path.join("was a file");
                    std::fs::write(self.room_for(&inside), content).unwrap();
                }
            }
            9 => {
                // A folder becomes a file.
                let folder = *self.dice.pick(&["dir", "dir/deep", "other", "sp ace"]).unwrap();
                if self.kind != Kind::SparseIndex
                    && self.root.join(folder).is_dir()
                    && !self.root.join(folder).join("nested").exists()
                {
                    let content = self.content();
                    std::fs::write(self.room_for(Path::new(folder)), content).unwrap();
                }
            }
            10 => {
                if let Some(path) = self.some_file() {
                    let to = self.odd_name();
                    if !to.starts_with(&path) && !path.starts_with(&to) && path != to {
                        let old = self.root.join(&path);
                        let bytes = std::fs::read(&old).unwrap_or_default();
                        std::fs::remove_file(old).unwrap();
                        std::fs::write(self.room_for(&to), bytes).unwrap();
                    }
                }
            }
            11 | 12 => drop(self.git(&["add", "-A"])),
            13 | 14 => {
                if let Some(path) = self.some_file() {
                    self.git_on(&["add"], &path);
                    if self.dice.below(2) == 0 {
                        let content = self.content();
                        std::fs::write(self.room_for(&path), content).unwrap();
                    }
                }
            }
            15 => {
                if let Some(path) = self.some_file() {
                    self.git_on(&["rm", "-q", "--cached"], &path);
                }
            }
            16 => {
                let (path, content) = (self.odd_name(), self.content());
                std::fs::write(self.room_for(&path), content).unwrap();
                self.git_on(&["add", "-N"], &path);
            }
            17 => {
                if let Some(path) = self.some_file() {
                    self.git_on(&["update-index", "--assume-unchanged"], &path);
                }
            }
            18 => {
                if let Some(path) = self.some_file() {
                    self.git_on(&["update-index", "--skip-worktree"], &path);
                }
            }
            19 => {
                let number = self.dice.below(3);
                write(&self.root, &format!("kept-{number}.ign"), format!("ignored {}", self.dice.below(100)));
                write(&self.root, "ignored-dir/deep/file", "ignored too");
            }
            20 => drop(self.git(&["commit", "-q", "-a", "-m", "more"])),
            21 => drop(self.git(&["checkout", "-q", "--detach"])),
            // In a sparse checkout a reset would then forget what is not checked out, and bring it all in later.
            22 if self.kind != Kind::SparseIndex => drop(self.git(&["symbolic-ref", "HEAD", "refs/heads/never/born"])),
            _ => {
                if !self.root.join("nested").exists() {
                    git(&self.root, &["init", "-q", "nested"]);
                    write(&self.root, "nested/file", "in a repository of its own");
                }
            }
        }
    }

    /// Damage of the kind that agents do.
    fn wreck(&mut self) {
        for _ in 0..1 + self.dice.below(5) {
            if self.kind == Kind::SparseIndex && self.dice.below(4) == 0 {
                let cone = *self.dice.pick(&["dir", "other", "sp ace"]).unwrap();
                let _ = (self.git(&["sparse-checkout", "set", "--cone", cone]), self.git(&["reset", "-q", "--hard"]));
            }
            match self.dice.below(8) {
                0 => {
                    for path in self.files() {
                        if self.dice.below(2) == 0 {
                            std::fs::remove_file(self.root.join(path)).unwrap();
                        }
                    }
                }
                1 => drop(self.git(&["reset", "-q"])),
                2 => drop(self.git(&["reset", "-q", "--hard"])),
                3 => drop((self.git(&["add", "-A"]), self.git(&["commit", "-q", "-m", "wrecked"]))),
                4 => drop(self.git(&["checkout", "-q", "-f", "right"])),
                5 => {
                    let _ = std::fs::remove_file(self.root.join(".git/MERGE_HEAD"));
                    self.git(&["rm", "-q", "-r", "--cached", "--ignore-unmatch", "dir"]);
                }
                _ => self.mutate_files(),
            }
        }
        // A git that failed in the middle of all this.
        let _ = std::fs::remove_file(self.root.join(".git/index.lock"));
    }

    fn mutate_files(&mut self) {
        for _ in 0..3 {
            let content = self.content();
            let path = if self.dice.below(2) == 0 { Some(self.odd_name()) } else { self.some_file() };
            if let Some(path) = path {
                std::fs::write(self.room_for(&path), content).unwrap();
            }
        }
    }
}

/// Everything that has to be the same again.
#[derive(Debug, PartialEq, Eq)]
struct View {
    files: BTreeMap<PathBuf, (String, Vec<u8>)>,
    entries: String,
    status: String,
    operation: BTreeMap<PathBuf, Vec<u8>>,
}

const OPERATION: &[&str] = &[
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "SQUASH_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "BISECT_START",
    "BISECT_LOG",
    "BISECT_NAMES",
    "BISECT_TERMS",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
];

fn files_of(root: &Path, kind: Kind) -> BTreeMap<PathBuf, (String, Vec<u8>)> {
    let mut files = BTreeMap::new();
    for entry in walkdir::WalkDir::new(root).into_iter().filter_entry(|entry| entry.file_name() != ".git") {
        let entry = entry.unwrap();
        let meta = entry.path().symlink_metadata().unwrap();
        let path = entry.path().strip_prefix(root).unwrap().to_owned();
        if meta.is_symlink() {
            let target = std::fs::read_link(entry.path()).unwrap();
            files.insert(path, ("link".to_owned(), target.as_os_str().as_bytes().to_vec()));
        } else if meta.is_file() {
            let executable = meta.permissions().mode() & 0o100 != 0 && kind != Kind::NoFileMode;
            files.insert(path, (format!("file {executable}"), std::fs::read(entry.path()).unwrap()));
        }
    }
    files
}

fn view(root: &Path, kind: Kind) -> View {
    let lossy = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).replace('\0', "\n");
    let files = files_of(root, kind);
    let mut operation = BTreeMap::new();
    for name in OPERATION {
        for entry in walkdir::WalkDir::new(root.join(".git").join(name)).into_iter().flatten() {
            if entry.file_type().is_file() {
                operation.insert(entry.path().to_owned(), std::fs::read(entry.path()).unwrap());
            }
        }
    }
    let status = ["status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", "--ignored=matching", "--no-renames"];
    View { files, entries: lossy(git(root, &["ls-files", "-z", "-v", "--stage"])), status: lossy(git(root, &status)), operation }
}

/// git 2.47 sometimes makes a sparse index that lists one entry several times; it then writes trees that do so too.
fn git_broke_the_index(root: &Path) -> bool {
    repeats(&git(root, &["ls-files", "-z", "--stage"]))
}

fn repeats(listed: &[u8]) -> bool {
    let entries: Vec<&[u8]> = listed.split(|byte| *byte == 0).collect();
    entries.windows(2).any(|two| two[0] == two[1] && !two[0].is_empty())
}

fn one_state(root: &Path, templates: &[(PathBuf, Kind)], seed: u64) {
    let mut dice = Random(seed);
    let (template, kind) = dice.pick(templates).unwrap().clone();
    let path = root.join("state");
    let _ = std::fs::remove_dir_all(&path);
    assert!(Command::new("cp").arg("-a").arg(&template).arg(&path).status().unwrap().success());
    let mut shape = Shape { root: path.clone(), kind, dice: &mut dice };
    shape.begin_operation();
    for _ in 0..1 + shape.dice.below(9) {
        shape.mutate();
    }
    if git_broke_the_index(&path) {
        return;
    }
    let before = view(&path, kind);
    let index = || std::fs::read(path.join(".git/index")).ok();
    let index_before = index();
    let repo = Repository::discover(&path).unwrap();
    let main = repo.worktrees().main_worktree().unwrap();
    let options = CaptureOptions { max_file_size: 1 << 20, excluded: Vec::new(), ..CaptureOptions::default() };
    let saved = repo.captures().capture_worktree(&main, &options).unwrap_or_else(|e| panic!("{kind:?}: {e}"));
    assert_eq!(index(), index_before, "{kind:?}: the user's index was changed");
    assert_eq!(files_of(&path, kind), before.files, "{kind:?}: the capture changed something");
    let commit = repo.captures().commit_capture(&saved, "test", &[]).unwrap();
    let edit = RefEdit {
        name: git_axiom::model::base::names::RefName::new("refs/axiom/test"),
        expected: ExpectedRefValue::Absent,
        new: Some(commit.commit.clone()),
    };
    repo.refs().update_refs(&[edit], "test").unwrap();
    shape.wreck();
    if git_broke_the_index(&path) {
        return;
    }
    let repo = Repository::discover(&path).unwrap();
    let now = repo.captures().capture_worktree(&main, &options).unwrap_or_else(|e| panic!("{kind:?}, wrecked: {e}"));
    // Only then do they have their names.
    repo.durability().sync_objects().unwrap();
    if repeats(&git(&path, &["ls-tree", "-r", "-z", "--name-only", now.tree.as_str()])) {
        return;
    }
    let extras = CaptureExtras::of_capture(&repo, &commit.commit).unwrap();
    assert_eq!(extras, saved.extras, "{kind:?}: the extras are stored as they were read");
    restore(&repo, &main, &now, &saved, &root.join(format!("trash-{seed}")));
    let after = view(&path, kind);
    if after != before {
        differ(&before, &after, kind);
    }
    let _ = std::fs::remove_dir_all(root.join(format!("trash-{seed}")));
}

/// As a rollback does it.
fn restore(repo: &Repository, main: &Worktree, now: &WorktreeCapture, saved: &WorktreeCapture, trash: &Path) {
    let lock = IndexLock::take(main, "test").unwrap();
    let (from, to, beside) = (&now.tree, &saved.tree, Some(ValueChange::new(&now.extras, &saved.extras)));
    repo.restore()
        .restore_files(&WorktreeRestore { worktree: main, from, to, trash, attempt: ChangeAttempt::First, beside })
        .unwrap();
    repo.index_edits(main).install_index(&saved.index_tree, &saved.extras.index, &lock).unwrap();
    repo.index_edits(main).restore_operation(&saved.extras, trash).unwrap();
    lock.release().unwrap();
    let target = match &saved.head {
        Head::Branch { name, .. } => HeadState::Branch(name.clone()),
        Head::Detached { commit } => HeadState::Detached(commit.clone()),
    };
    if now.head != saved.head {
        repo.refs().set_head(main, &now.head, &target, "test").unwrap();
    }
    if let Head::Branch { name, commit } = &saved.head {
        let edit = RefEdit { name: name.clone(), expected: ExpectedRefValue::Any, new: commit.clone() };
        repo.refs().update_refs(&[edit], "test").unwrap();
    }
}

fn differ(before: &View, after: &View, kind: Kind) -> ! {
    let paths = before.files.keys().chain(after.files.keys());
    let files: Vec<String> = paths
        .filter(|path| before.files.get(*path) != after.files.get(*path))
        .map(|path| format!("{path:?}: {:?} became {:?}", before.files.get(path), after.files.get(path)))
        .collect();
    let operations: Vec<&PathBuf> = before
        .operation
        .keys()
        .chain(after.operation.keys())
        .filter(|path| before.operation.get(*path) != after.operation.get(*path))
        .collect();
    panic!(
        "{kind:?}\nfiles: {files:#?}\noperation: {operations:?}\n--- index before\n{}\n--- after\n{}\n--- status before\n{}\n--- after\n{}",
        before.entries, after.entries, before.status, after.status
    );
}
