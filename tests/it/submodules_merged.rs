//! Merges that move a submodule: the main worktree changes as `git merge` and `git revert` would change it, in every direction.

use std::path::PathBuf;

use crate::support::{Scratch, contents};

const FILE: [&str; 2] = ["-c", "protocol.file.allow=always"];

/// The task `t1` is done; its merge moves the submodule `sm`.
struct Moving {
    scratch: Scratch,
    origin: Scratch,
    old: String,
    new: String,
}

/// What the user has: the commit of the submodule in HEAD, the status, and all files with the commit that is checked out in `sm`.
#[derive(Debug, PartialEq, Eq)]
struct View {
    link: String,
    status: String,
    files: Vec<(PathBuf, Vec<u8>)>,
    inside: String,
}

fn in_submodule(scratch: &Scratch, args: &[&str]) -> String {
    scratch.git(&[&["-C", "sm"], args].concat())
}

fn forget(scratch: &Scratch) {
    scratch.git(&["submodule", "--quiet", "deinit", "-f", "sm"]);
    std::fs::remove_dir_all(scratch.path().join(".git/modules")).unwrap();
}

impl Moving {
    /// Main's is initialised, or not; an agent committed in that of its workspace.
    fn new(initialised: bool) -> Self {
        let (scratch, origin) = (Scratch::new(), Scratch::new());
        scratch.git(&[&FILE[..], &["submodule", "--quiet", "add", &origin.path().display().to_string(), "sm"]].concat());
        scratch.git(&["commit", "-q", "-m", "submodule"]);
        let old = in_submodule(&scratch, &["rev-parse", "HEAD"]);
        if !initialised {
            forget(&scratch);
        }
        scratch.open_task("t1");
        let there = scratch.workspace("t1");
        let at = |args: &[&str]| scratch.git(&[&["-C", there.to_str().unwrap()], args].concat());
        at(&[&FILE[..], &["submodule", "--quiet", "update", "--init"]].concat());
        std::fs::write(there.join("sm/agent.txt"), "agent\n").unwrap();
        at(&["-C", "sm", "add", "."]);
        at(&["-C", "sm", "commit", "-q", "-m", "in sm"]);
        let new = at(&["-C", "sm", "rev-parse", "HEAD"]);
        scratch.finish_task("t1");
        Self { scratch, origin, old, new }
    }

    fn view(&self) -> View {
        let scratch = &self.scratch;
        let inside = scratch.has("sm/.git").then(|| in_submodule(scratch, &["rev-parse", "HEAD"]));
        View {
            link: scratch.git(&["rev-parse", "HEAD:sm"]),
            status: scratch.git(&["status", "--porcelain=v2", "-uall"]),
            files: contents(&scratch.path()),
            inside: inside.unwrap_or_default(),
        }
    }

    /// Checks that HEAD and index have this commit, and that files are as they were.
    #[track_caller]
    fn is_at(&self, link: &str, before: &View) {
        let now = self.view();
        assert_eq!(now.link, link);
        let staged = self.scratch.git(&["ls-files", "--stage", "sm"]);
        assert_eq!(staged, format!("160000 {link} 0\tsm"));
        assert_eq!((now.files, now.inside), (before.files.clone(), before.inside.clone()));
    }
}

#[test]
fn undo_redo_and_the_rollback_of_the_task_move_its_entry_and_no_file() {
    let all = Moving::new(true);
    let (scratch, old, new) = (&all.scratch, &all.old, &all.new);
    scratch.make_dirty_elsewhere();
    scratch.write("sm/a.txt", "mine\n");
    scratch.write("sm/untracked", "mine too\n");
    let before = all.view();
    scratch.axiom(&["merge", "t1"]);
    all.is_at(new, &before);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(all.view(), before);
    scratch.axiom(&["redo", "--yes"]);
    all.is_at(new, &before);
    in_submodule(scratch, &["gc", "-q", "--prune=now"]);
    // The user takes it, and only then is the task taken back.
    scratch.git(&["submodule", "--quiet", "update"]);
    assert_eq!((scratch.read("sm/agent.txt"), scratch.read("sm/a.txt")), ("agent\n".into(), "mine\n".into()));
    let taken = all.view();
    let dry = scratch.json(&["rollback", "task", "t1", "--dry-run"]);
    assert_eq!((dry["commits"].as_array().unwrap().len(), dry["conflicts"].as_array().unwrap().len()), (1, 0), "{dry}");
    scratch.axiom(&["rollback", "task", "t1", "--yes"]);
    all.is_at(old, &taken);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(all.view(), taken);
    scratch.axiom(&["redo", "--yes"]);
    all.is_at(old, &taken);
    scratch.git(&["submodule", "--quiet", "update"]);
    assert!(!scratch.has("sm/agent.txt") && scratch.read("sm/untracked") == "mine too\n");
    scratch.fsck();
    in_submodule(scratch, &["fsck"]);
}

#[test]
fn the_same_where_mains_is_not_initialised() {
    let all = Moving::new(false);
    let (scratch, old, new) = (&all.scratch, &all.old, &all.new);
    let before = all.view();
    assert_eq!(before.inside, "");
    scratch.axiom(&["merge", "t1"]);
    all.is_at(new, &before);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(all.view(), before);
    scratch.axiom(&["redo", "--yes"]);
    all.is_at(new, &before);
    scratch.axiom(&["rollback", "task", "t1", "--yes"]);
    all.is_at(old, &before);
    scratch.axiom(&["undo", "--yes"]);
    all.is_at(new, &before);
    // Nobody else has the commit.
    std::fs::remove_dir_all(all.origin.path()).unwrap();
    scratch.git(&["submodule", "--quiet", "update", "--init"]);
    assert_eq!(scratch.read("sm/agent.txt"), "agent\n");
}

#[test]
fn what_a_task_removes_or_adds_comes_and_goes_as_git_would_have_it() {
    for checked_out in [true, false] {
        let all = Moving::new(true);
        let scratch = &all.scratch;
        scratch.axiom(&["merge", "t1"]);
        // Removed by another task: the files stay, as they do with git, and are no longer those of a submodule.
        scratch.open_task("t2");
        let there = scratch.workspace("t2");
        let at = |args: &[&str]| scratch.git(&[&["-C", there.to_str().unwrap()], args].concat());
        at(&["rm", "-q", "-f", "sm"]);
        scratch.finish_task("t2");
        if !checked_out {
            forget(scratch);
        }
        let before = all.view();
        let gone = |step: &str| {
            assert_eq!(scratch.git(&["ls-files", "sm"]), "", "{step}");
            assert_eq!(scratch.has("sm"), checked_out, "{step}");
            assert_eq!(scratch.has("sm/a.txt"), checked_out, "{step}");
        };
        scratch.axiom(&["merge", "t2"]);
        gone("merge");
        for step in [&["undo"][..], &["redo"], &["rollback", "task", "t2"], &["undo"], &["undo"]] {
            scratch.axiom(&[step, &["--yes"]].concat());
            match scratch.git(&["ls-files", "sm"]).as_str() {
                "" => gone(&format!("{step:?}, checked out: {checked_out}")),
                _ => assert_eq!(all.view(), before, "{step:?}, checked out: {checked_out}"),
            }
        }
    }
}

#[test]
fn that_no_remote_has_the_commit_is_said_and_stops_nothing() {
    let all = Moving::new(true);
    let scratch = &all.scratch;
    let output = scratch.axiom_with(&["merge", "t1"], &[]);
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("no remote of the submodule 'sm' has its new commit"), "{said}");
    scratch.axiom(&["undo", "--yes"]);
    in_submodule(scratch, &["push", "-q", "origin", &format!("{}:refs/heads/agents", all.new)]);
    in_submodule(scratch, &["fetch", "-q", "origin"]);
    scratch.axiom(&["redo", "--yes"]);
    let again = scratch.axiom_with(&["merge", "t1"], &[]);
    assert!(!String::from_utf8_lossy(&again.stderr).contains("no remote"));
}

/// Another task built on it: as with `git revert`, nobody but a human can say which commit it is to have.
#[test]
fn a_submodule_that_moved_on_since_is_a_conflict_that_is_settled_in_a_worktree() {
    let all = Moving::new(true);
    let scratch = &all.scratch;
    scratch.axiom(&["merge", "t1"]);
    scratch.open_task("t2");
    let there = scratch.workspace("t2");
    let at = |args: &[&str]| scratch.git(&[&["-C", there.to_str().unwrap()], args].concat());
    let mains = scratch.path().join(".git/modules/sm");
    at(&[&FILE[..], &["-c", &format!("submodule.sm.url={}", mains.display()), "submodule", "--quiet", "update", "--init"]]
        .concat());
    std::fs::write(there.join("sm/more.txt"), "more\n").unwrap();
    at(&["-C", "sm", "add", "."]);
    at(&["-C", "sm", "commit", "-q", "-m", "more in sm"]);
    scratch.finish_task("t2");
    scratch.axiom(&["merge", "t2"]);
    let before = all.view();
    scratch.refused(&["rollback", "task", "t1", "--yes"], "MERGE_CONFLICT", 4);
    assert_eq!(all.view(), before);
    scratch.axiom_with(&["rollback", "task", "t1", "--resolve", "--yes"], &[]);
    let place = scratch.path().join(".worktrees/resolve-t1");
    let settle = |args: &[&str]| scratch.git(&[&["-C", place.to_str().unwrap()], args].concat());
    settle(&["update-index", "--cacheinfo", &format!("160000,{},sm", all.old)]);
    settle(&["-c", "core.editor=true", "revert", "--continue"]);
    scratch.axiom(&["rollback", "task", "t1", "--resolve", "--yes"]);
    all.is_at(&all.old, &before);
}
