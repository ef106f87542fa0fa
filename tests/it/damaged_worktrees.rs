//! A linked worktree that git cannot work with, since git was killed or the machine stopped while a file of it was written: it
//! costs that worktree alone, it is named with its way out, and recovery mends what is certain.

use std::path::{Path, PathBuf};

use crate::support::{Scratch, contents};

/// A file of a worktree's, by its registration and its folder.
type Place = fn(&Path, &Path) -> PathBuf;

const FILES: [(&str, Place); 6] = [
    ("commondir", |registration, _| registration.join("commondir")),
    ("gitdir", |registration, _| registration.join("gitdir")),
    ("HEAD", |registration, _| registration.join("HEAD")),
    (".git", |_, folder| folder.join(".git")),
    ("branch", |registration, _| {
        let head = std::fs::read_to_string(registration.join("HEAD")).unwrap();
        registration.join("../..").join(head.trim().strip_prefix("ref: ").unwrap())
    }),
    ("index", |registration, _| registration.join("index")),
];

/// What a power loss leaves of a file.
#[derive(Debug, Clone, Copy)]
enum Left {
    Empty,
    Zeros,
    Nothing,
}

impl Left {
    fn of(self, file: &Path) {
        let length = std::fs::metadata(file).unwrap().len() as usize;
        match self {
            Self::Empty => std::fs::write(file, b"").unwrap(),
            Self::Zeros => std::fs::write(file, vec![0; length]).unwrap(),
            Self::Nothing => std::fs::remove_file(file).unwrap(),
        }
    }
}

/// A linked worktree of the user's, with a commit of its own and something that is not committed; a checkpoint `safe`; and
/// since then a task that is done.
fn with_side() -> (Scratch, PathBuf, PathBuf) {
    let scratch = Scratch::new();
    let side = scratch.path().with_file_name("side");
    scratch.git(&["worktree", "add", "-q", "-b", "side", side.to_str().unwrap()]);
    std::fs::write(side.join("own.txt"), "own\n").unwrap();
    scratch.git(&["-C", side.to_str().unwrap(), "add", "own.txt"]);
    scratch.git(&["-C", side.to_str().unwrap(), "commit", "-q", "-m", "own"]);
    std::fs::write(side.join("mine"), "not committed\n").unwrap();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.done_task("t1");
    scratch.done_task("t2");
    let registration = scratch.path().join(".git/worktrees/side");
    (scratch, side, registration)
}

/// Every verb that has to do with worktrees, refs or files, as if nothing was.
fn every_verb(scratch: &Scratch, what: &str) {
    let does = |args: &[&str]| {
        let output = scratch.axiom_with(args, &[]);
        let words = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(output.status.success(), "{what}: {args:?}: {words}");
        words
    };
    for args in [
        &["status"][..],
        &["log"],
        &["task", "add", "more"],
        &["checkpoint", "list"],
        &["checkpoint", "show", "safe"],
        &["checkpoint", "diff", "safe"],
        &["checkpoint", "create", "quick", "--only", "a.txt"],
        &["merge", "t1"],
        &["undo", "--dry-run"],
        &["undo", "--yes"],
        &["redo", "--yes"],
        &["rollback", "task", "t1", "--dry-run"],
        &["rollback", "task", "t1", "--yes"],
        &["checkpoint", "delete", "quick", "--protected", "--yes"],
        &["checkpoint", "compact"],
    ] {
        does(args);
    }
    scratch.write("a.txt", "changed\n");
    let said = does(&["checkpoint", "create", "without"]);
    // Without an index, its files are saved all the same.
    let named = if what.ends_with("index") { "entry that cannot be read (" } else { "cannot be captured" };
    assert!(said.contains(named) && (what.ends_with("index") || said.contains("git axiom recover")), "{what}: {said}");
    for args in [
        &["rollback", "checkpoint", "safe", "--dry-run"][..],
        &["rollback", "checkpoint", "safe", "--yes"],
        &["undo", "--yes"],
        &["checkpoint", "cleanup", "--keep", "2", "--dry-run"],
    ] {
        does(args);
    }
    assert_eq!(scratch.read("a.txt"), "changed\n");
}

#[test]
fn every_verb_works_beside_a_damaged_worktree_of_the_user_s_and_recovery_mends_it() {
    for (name, place) in FILES {
        let (scratch, side, registration) = with_side();
        let files = contents(&side);
        let damaged = place(&registration, &side);
        let before = std::fs::read(&damaged).unwrap();
        Left::Empty.of(&damaged);
        every_verb(&scratch, name);
        assert!(damaged.metadata().unwrap().len() == 0 || name == "commondir", "{name}: left alone, where it does not stop git");
        Left::Empty.of(&damaged);
        let looked = scratch.axiom(&["recover"]);
        assert!(looked.contains(&format!("repair     git cannot work with the worktree '{}'", side.display())), "{looked}");
        assert_eq!(scratch.json(&["recover"])["wedges"][0]["reason"], "damagedWorktree");
        scratch.axiom(&["recover", "--yes"]);
        let git = |args: &[&str]| scratch.git(&[&["-C", side.to_str().unwrap()], args].concat());
        assert_eq!((git(&["symbolic-ref", "HEAD"]), git(&["show", "HEAD:own.txt"])), ("refs/heads/side".into(), "own".into()));
        assert_eq!(git(&["status", "--porcelain"]), "?? mine", "{name}");
        if name != "index" {
            assert_eq!(std::fs::read(&damaged).unwrap(), before, "{name}");
        }
        assert_eq!(contents(&side), files, "{name}");
        assert_eq!(scratch.axiom(&["recover"]), "Nothing has to be recovered.\n");
        scratch.axiom(&["checkpoint", "create", "whole"]);
        let held = &scratch.json(&["checkpoint", "show", "whole"])["checkpoint"]["document"]["workspaces"];
        assert!(held.as_array().unwrap().iter().any(|one| one["path"] == side.to_str().unwrap()), "{held}");
        scratch.fsck();
    }
}

#[test]
fn what_a_power_loss_may_leave_of_each_file_is_mended_and_twice_is_once() {
    for (name, place) in FILES {
        for left in [Left::Zeros, Left::Nothing] {
            // Without an index git takes all for deleted, and without its `.git` a folder is no worktree: people do both.
            if matches!(left, Left::Nothing) && ["index", ".git", "branch"].contains(&name) {
                continue;
            }
            let (scratch, side, registration) = with_side();
            left.of(&place(&registration, &side));
            scratch.axiom(&["recover", "--yes"]);
            let status = scratch.git(&["-C", side.to_str().unwrap(), "status", "--porcelain", "--branch"]);
            assert_eq!(status, "## side\n?? mine", "{name} {left:?}");
            let (refs, git_dir) = (scratch.git(&["for-each-ref"]), contents(&registration));
            let again = scratch.axiom_with(&["recover", "--yes"], &[]);
            assert_eq!(String::from_utf8_lossy(&again.stdout), "Nothing has to be recovered.\n");
            assert_eq!((scratch.git(&["for-each-ref"]), contents(&registration)), (refs, git_dir), "{name} {left:?}");
            scratch.fsck();
        }
    }
}

#[test]
fn what_nobody_knows_any_more_is_named_with_the_way_out_and_left_alone() {
    let (scratch, side, registration) = with_side();
    // Its folder was moved by hand, and what says where it was has no content.
    let elsewhere = scratch.path().with_file_name("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::rename(&side, elsewhere.join("side")).unwrap();
    Left::Empty.of(&registration.join("gitdir"));
    every_verb(&scratch, "nowhere");
    assert!(scratch.axiom(&["recover"]).contains("git worktree repair PATH"));
    let output = scratch.axiom_with(&["recover", "--yes"], &[]);
    assert!(output.status.success());
    assert_eq!(std::fs::read(registration.join("gitdir")).unwrap(), b"");
    scratch.git(&["worktree", "repair", elsewhere.join("side").to_str().unwrap()]);
    assert_eq!(scratch.axiom(&["recover"]), "Nothing has to be recovered.\n");
}

#[test]
fn a_damaged_workspace_of_a_task_costs_nothing_but_itself() {
    for (name, place) in FILES {
        let (scratch, ..) = with_side();
        scratch.add_task("t3");
        scratch.reopen_task("t3");
        let folder = scratch.workspace("t3");
        std::fs::write(folder.join("half"), "half\n").unwrap();
        Left::Empty.of(&place(&scratch.path().join(".git/worktrees/ed-001-t3"), &folder));
        every_verb(&scratch, &format!("workspace, {name}"));
        scratch.axiom(&["recover", "--yes"]);
        scratch.axiom(&["checkpoint", "create", "after"]);
        assert_eq!(scratch.axiom(&["recover"]), "Nothing has to be recovered.\n", "{name}");
        // Its file is in its place or in the trash.
        let kept = walkdir::WalkDir::new(scratch.path().join(".worktrees")).into_iter().map(Result::unwrap);
        assert!(kept.map(walkdir::DirEntry::into_path).any(|path| path.ends_with("half")), "{name}");
    }
}
