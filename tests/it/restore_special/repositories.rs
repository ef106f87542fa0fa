//! Repositories within: submodules go back in their own repositories, others are moved as a whole and come back as a whole.

use crate::common::git_since;
use crate::support::{Scratch, contents};

/// With a submodule `sm` and a checkpoint `safe`.
fn with_submodule() -> (Scratch, Scratch) {
    let (inner, scratch) = (Scratch::new(), Scratch::new());
    let url = inner.path().display().to_string();
    scratch.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "sm"]);
    scratch.git(&["commit", "-q", "-m", "submodule"]);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    (scratch, inner)
}

fn view(scratch: &Scratch) -> (String, Vec<(std::path::PathBuf, Vec<u8>)>) {
    (scratch.git(&["status", "--porcelain=v2"]), contents(&scratch.path()))
}

#[test]
fn a_submodule_goes_back_with_its_commits_and_the_preview_and_the_undo_know() {
    let (scratch, _inner) = with_submodule();
    scratch.write("sm/a.txt", "changed\n");
    scratch.git(&["-C", "sm", "commit", "-q", "-a", "-m", "more"]);
    scratch.write("a.txt", "edited\n");
    let before = view(&scratch);
    let dry = scratch.json(&["rollback", "checkpoint", "safe", "--dry-run"]);
    assert_eq!(dry["submodules"].as_array().unwrap().len(), 0, "{dry}");
    assert_eq!((&dry["files"][0]["path"], &dry["commits"][0]["subject"]), (&"sm/a.txt".into(), &"more".into()), "{dry}");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!((scratch.read("sm/a.txt"), scratch.read("a.txt")), ("a\n".into(), "a\n".into()));
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(view(&scratch), before);
    scratch.axiom(&["redo", "--yes"]);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(view(&scratch), before);
}

#[test]
fn a_submodule_that_became_a_file_or_went_away_comes_back() {
    for file in [true, false] {
        let (scratch, _inner) = with_submodule();
        scratch.git(&["rm", "-q", "sm"]);
        if file {
            scratch.write("sm", "a file\n");
        }
        let before = view(&scratch);
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(scratch.git(&["status", "--porcelain"]), "");
        assert_eq!((scratch.read("sm/a.txt"), scratch.has("sm/.git")), ("a\n".into(), true));
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(view(&scratch), before, "file: {file}");
    }
}

#[test]
fn a_submodule_that_is_new_is_no_longer_tracked_and_keeps_its_files() {
    let (scratch, inner) = with_submodule();
    let url = inner.path().display().to_string();
    scratch.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "other"]);
    let before = view(&scratch);
    let dry = scratch.json(&["rollback", "checkpoint", "safe", "--dry-run"]);
    assert_eq!(dry["submodules"][0]["path"], "other", "{dry}");
    assert!(!dry["files"].as_array().unwrap().iter().any(|file| file["path"] == "other"), "its files stay: {dry}");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(scratch.read("other/a.txt"), "a\n");
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(view(&scratch), before);
}

#[test]
fn a_repository_where_a_folder_was_is_moved_as_a_whole_and_comes_back() {
    let scratch = Scratch::new();
    scratch.write("q/q", "captured\n");
    scratch.write("q/deep/r", "captured\n");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    std::fs::remove_dir_all(scratch.path().join("q")).unwrap();
    scratch.git(&["init", "-q", "q"]);
    scratch.write("q/q", "in a repository of its own\n");
    scratch.write("q/own", "own\n");
    let before = contents(&scratch.path());
    let dry = scratch.json(&["rollback", "checkpoint", "safe", "--dry-run"]);
    assert_eq!(dry["movedAside"].as_array().unwrap().len(), 1, "{dry}");
    let done = scratch.json(&["rollback", "checkpoint", "safe", "--yes"]);
    let aside = std::path::PathBuf::from(done["movedAside"][0].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(aside.join("q")).unwrap(), "in a repository of its own\n");
    assert_eq!((scratch.read("q/q"), scratch.has("q/.git"), scratch.has("q/own")), ("captured\n".into(), false, false));
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(contents(&scratch.path()), before);
    scratch.git(&["-C", "q", "status"]);
    // Interrupted and taken back: the repository is where it was, nothing was written into it.
    for point in ["git.restore-before-aside:1", "git.restore-placed:1", "git.restore-placed:2"] {
        scratch.killed_at(&["rollback", "checkpoint", "safe", "--yes"], point);
        scratch.axiom(&["rollback", "--abort"]);
        assert_eq!(contents(&scratch.path()), before, "{point}");
        assert!(scratch.has("q/.git"));
    }
}

#[test]
fn a_folder_that_became_a_submodule_comes_back_with_its_dirty_files() {
    let (inner, scratch) = (Scratch::new(), Scratch::new());
    scratch.write("sm/a.txt", "plain\n");
    scratch.write("sm/b", "plain\n");
    scratch.git(&["add", "."]);
    scratch.git(&["commit", "-q", "-m", "plain"]);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.git(&["rm", "-rq", "sm"]);
    let url = inner.path().display().to_string();
    scratch.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "sm"]);
    scratch.write("sm/a.txt", "dirty\n");
    scratch.write("sm/untracked", "dirty\n");
    let before = view(&scratch);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    let after = view(&scratch);
    assert_eq!((scratch.read("sm/a.txt"), scratch.has("sm/.git")), ("plain\n".into(), false));
    for _ in 0..2 {
        let undone = scratch.json(&["undo", "--yes"]);
        assert_eq!(undone["stillAside"].as_array().unwrap().len(), 0, "{undone}");
        assert_eq!(view(&scratch), before);
        scratch.axiom(&["redo", "--yes"]);
        assert_eq!(view(&scratch), after);
    }
    // An undo that is interrupted ends either way.
    for (point, way) in
        [("git.before-put-back:1", "--continue"), ("journal.before-end:1", "--continue"), ("journal.before-end:1", "--abort")]
    {
        scratch.killed_at(&["undo", "--yes"], point);
        scratch.axiom(&["rollback", way]);
        let wanted = if way == "--abort" { &after } else { &before };
        assert_eq!(&view(&scratch), wanted, "{point} {way}");
        if way == "--continue" {
            scratch.axiom(&["redo", "--yes"]);
        }
    }
}

#[test]
fn a_folder_that_git_looks_into_stays_where_it_is_whatever_its_git_folder_says() {
    for dangling in [true, false] {
        let scratch = Scratch::new();
        scratch.axiom(&["checkpoint", "create", "safe"]);
        if dangling {
            scratch.write("n/.git", "gitdir: /nowhere\n");
        } else {
            scratch.write("n/.git/HEAD", "");
            scratch.write("n/.git/config", "[user]\n");
        }
        scratch.write("n/x", "x\n");
        let before = view(&scratch);
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert!(!scratch.has("n/x") && scratch.has("n/.git"));
        let undone = scratch.json(&["undo", "--yes"]);
        assert_eq!(undone["movedAside"].as_array().unwrap().len(), 0, "{undone}");
        assert_eq!(view(&scratch), before, "dangling: {dangling}");
    }
}

/// git fills the id up with zeros; a tree with the short one could not be read again.
#[test]
fn a_repository_within_may_have_ids_of_another_length() {
    if !git_since(45, "a repository in one with other ids") {
        return;
    }
    for (outer, inner) in [("sha256", "sha1"), ("sha1", "sha256")] {
        let scratch = Scratch::empty();
        std::fs::remove_dir_all(scratch.path().join(".git")).unwrap();
        scratch.git(&["init", "-q", "-b", "main", &format!("--object-format={outer}")]);
        scratch.write("a.txt", "a\n");
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-q", "-m", "first"]);
        scratch.axiom(&["checkpoint", "create", "safe"]);
        scratch.git(&["init", "-q", &format!("--object-format={inner}"), "within"]);
        scratch.git(&["-C", "within", "commit", "-q", "--allow-empty", "-m", "within"]);
        scratch.git(&["add", "-A"]);
        let staged = scratch.git(&["ls-files", "--stage"]);
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(scratch.git(&["ls-files", "--stage"]), staged, "{inner} in {outer}");
        scratch.axiom(&["checkpoint", "verify"]);
    }
}
