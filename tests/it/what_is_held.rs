//! What a checkpoint holds of unusual worktrees, and that it names what it does not hold.

use crate::common::git_since;
use crate::support::{Scratch, contents};

/// Makes a checkpoint and returns what it says that it does not hold, of one kind.
fn not_held(scratch: &Scratch, name: &str, kind: &str) -> Vec<String> {
    let made = scratch.json(&["checkpoint", "create", name]);
    let sample = &made["coverage"][scratch.path().to_str().unwrap()][kind];
    let paths: Vec<String> = sample["paths"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().to_owned()).collect();
    assert_eq!(sample["count"], paths.len());
    paths
}

/// Forgets everything that nothing refers to.
fn forget(scratch: &Scratch) {
    scratch.git(&["reflog", "expire", "--expire=now", "--all"]);
    scratch.git(&["gc", "-q", "--prune=now"]);
}

/// A merge of `x` that conflicts in `a.txt`, about to be made: the branches are there.
fn with_conflict() -> Scratch {
    conflicting_in(Scratch::new())
}

/// The branches of a merge of `x` that conflicts in `a.txt`.
fn conflicting_in(scratch: Scratch) -> Scratch {
    scratch.branch_in_conflict("x");
    scratch
}

#[test]
fn files_whose_names_git_refuses_are_named_and_left_alone() {
    let scratch = Scratch::new();
    scratch.write("git~1", "x\n");
    scratch.write(".Git/f", "y\n");
    scratch.write("plain", "p\n");
    assert_eq!(not_held(&scratch, "safe", "refusedNames"), [".Git/f", "git~1"]);
    assert!(scratch.axiom(&["checkpoint", "show", "safe"]).contains("(2 files whose names git refuses)"));
    let before = contents(&scratch.path());
    scratch.remove("plain");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(contents(&scratch.path()), before);
}

#[test]
fn a_tracked_file_that_git_refuses_by_now_is_named_too() {
    let scratch = Scratch::new();
    scratch.write(".gitmodules", "");
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "modules"]);
    scratch.remove(".gitmodules");
    std::os::unix::fs::symlink("a.txt", scratch.path().join(".gitmodules")).unwrap();
    assert_eq!(not_held(&scratch, "safe", "refusedNames"), [".gitmodules"]);
}

#[test]
fn repositories_in_tracked_places_are_named() {
    let scratch = Scratch::new();
    let inner = Scratch::new();
    let url = inner.path().display().to_string();
    scratch.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "sm"]);
    scratch.git(&["commit", "-q", "-m", "submodule"]);
    scratch.git(&["init", "-q", "sub"]);
    scratch.write("sub/new", "n\n");
    scratch.remove("a.txt");
    scratch.git(&["init", "-q", "a.txt"]);
    scratch.write("a.txt/x", "x\n");
    scratch.git(&["init", "-q", "a.txt/deeper"]);
    scratch.git(&["init", "-q", "whole"]);
    scratch.write("whole/w", "w\n");
    scratch.write("lost/.git", "gitdir: /nonexistent\n");
    scratch.write("lost/file", "f\n");
    let mut named = not_held(&scratch, "safe", "nestedRepositories");
    named.sort();
    assert_eq!(named, ["a.txt", "lost/.git", "sub/.git", "whole"]);
    let held = scratch.git(&["ls-tree", "-r", "--name-only", "refs/axiom/captures/safe"]);
    assert_eq!(held, ".gitmodules\nlost/file\nsm\nstaged.txt\nsub/b.txt\nsub/new");
    // What is held beside a `.git` is not taken for unknown.
    scratch.write("sub/later", "l\n");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert!(!scratch.has("sub/later") && scratch.has("sub/.git/HEAD") && scratch.has("a.txt/x"));
}

#[test]
fn what_a_merge_in_progress_names_outlives_a_gc() {
    let scratch = with_conflict();
    scratch.write("sub/b.txt", "dirty\n");
    scratch.try_git(&["merge", "--autostash", "x"]);
    assert!(scratch.has(".git/MERGE_AUTOSTASH"));
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.git(&["merge", "--abort"]);
    scratch.git(&["checkout", "-q", "--", "."]);
    scratch.git(&["branch", "-q", "-D", "x"]);
    forget(&scratch);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    scratch.write("a.txt", "resolved\n");
    scratch.git(&["commit", "-q", "-a", "-m", "merged"]);
    assert_eq!(scratch.git(&["log", "-1", "--format=%s", "HEAD^2"]), "x");
    assert_eq!(scratch.read("sub/b.txt"), "dirty\n", "the stash was applied");
    scratch.fsck();
}

#[test]
fn an_autostash_goes_with_the_merge_that_is_rolled_back() {
    let scratch = with_conflict();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("sub/b.txt", "dirty\n");
    scratch.try_git(&["merge", "--autostash", "x"]);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert!(!scratch.has(".git/MERGE_AUTOSTASH") && !scratch.has(".git/MERGE_HEAD"));
    scratch.write("a.txt", "more\n");
    scratch.git(&["commit", "-q", "-a", "-m", "more"]);
    assert_eq!(scratch.read("sub/b.txt"), "b\n");
}

#[test]
fn what_a_rebase_in_progress_names_outlives_a_gc() {
    let scratch = with_conflict();
    scratch.git(&["switch", "-q", "x"]);
    for number in 0..5 {
        scratch.write(&format!("more{number}"), "x\n");
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-q", "-m", &format!("more {number}")]);
    }
    scratch.git(&["switch", "-q", "--detach"]);
    assert!(!scratch.try_git(&["rebase", "-q", "main"]).status.success());
    scratch.axiom(&["checkpoint", "create", "safe"]);
    let parents = scratch.git(&["log", "-1", "--format=%P", "refs/axiom/captures/safe^2^2"]);
    assert!(parents.split(' ').count() < 4, "commits keep their own parents: {parents}");
    scratch.git(&["rebase", "--abort"]);
    scratch.git(&["switch", "-q", "main"]);
    scratch.git(&["branch", "-q", "-D", "x"]);
    forget(&scratch);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    scratch.write("a.txt", "resolved\n");
    scratch.git(&["add", "a.txt"]);
    scratch.git(&["-c", "core.editor=true", "rebase", "--continue"]);
    assert!(scratch.has("more4"));
}

#[test]
fn a_bisection_comes_back_whole_and_goes_whole() {
    let scratch = Scratch::new();
    for number in 0..6 {
        scratch.git(&["commit", "-q", "--allow-empty", "-m", &format!("{number}")]);
    }
    scratch.axiom(&["checkpoint", "create", "before"]);
    scratch.git(&["bisect", "start", "HEAD", "HEAD~5"]);
    let refs = || scratch.git(&["for-each-ref", "refs/bisect"]);
    let in_it = refs();
    scratch.axiom(&["checkpoint", "create", "within"]);
    scratch.git(&["bisect", "reset"]);
    scratch.axiom(&["rollback", "checkpoint", "within", "--yes"]);
    assert_eq!(refs(), in_it);
    assert!(scratch.git(&["bisect", "good"]).contains("Bisecting"));
    scratch.axiom(&["rollback", "checkpoint", "before", "--yes"]);
    assert_eq!(refs(), "");
    assert!(!scratch.has(".git/BISECT_LOG"));
    scratch.axiom(&["undo", "--yes"]);
    assert!(refs().lines().count() > in_it.lines().count(), "the one more that was good");
}

/// As [`with_conflict`], with refs in a reftable.
fn with_conflict_in_reftable() -> Option<Scratch> {
    if !git_since(45, "reftables") {
        return None;
    }
    let scratch = Scratch::empty();
    std::fs::remove_dir_all(scratch.path().join(".git")).unwrap();
    scratch.git(&["init", "-q", "-b", "main", "--ref-format=reftable"]);
    for (path, text) in [("a.txt", "a\n"), ("sub/b.txt", "b\n")] {
        scratch.write(path, text);
    }
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "first"]);
    Some(conflicting_in(scratch))
}

/// The refs that say what is in progress.
fn root_refs(scratch: &Scratch) -> String {
    let all = scratch.git(&["for-each-ref", "--include-root-refs", "--format=%(refname) %(objectname)"]);
    let ours = |line: &&str| !line.starts_with("refs/") && !line.starts_with("HEAD") && !line.starts_with("ORIG_HEAD");
    let in_it = |line: &&str| ours(line) || line.starts_with("refs/bisect") || line.starts_with("refs/rewritten");
    all.lines().filter(in_it).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_cherry_pick_comes_back_into_a_reftable_and_goes_on() {
    let Some(scratch) = with_conflict_in_reftable() else { return };
    scratch.axiom(&["checkpoint", "create", "before"]);
    scratch.try_git(&["cherry-pick", "x"]);
    assert!(!scratch.has(".git/CHERRY_PICK_HEAD"), "it is in the reftable");
    let in_it = root_refs(&scratch);
    assert!(in_it.contains("CHERRY_PICK_HEAD") && in_it.contains("AUTO_MERGE"), "{in_it}");
    scratch.axiom(&["checkpoint", "create", "within"]);
    scratch.git(&["cherry-pick", "--abort"]);
    scratch.git(&["branch", "-q", "-D", "x"]);
    forget(&scratch);
    assert_eq!(root_refs(&scratch), "");
    scratch.axiom(&["rollback", "checkpoint", "within", "--yes"]);
    assert_eq!(root_refs(&scratch), in_it);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(root_refs(&scratch), "");
    scratch.axiom(&["rollback", "checkpoint", "within", "--yes"]);
    scratch.write("a.txt", "resolved\n");
    scratch.git(&["add", "a.txt"]);
    scratch.git(&["-c", "core.editor=true", "cherry-pick", "--continue"]);
    assert_eq!(scratch.git(&["log", "-1", "--format=%s"]), "x");
    assert_eq!(root_refs(&scratch), "");
    scratch.axiom(&["rollback", "checkpoint", "before", "--yes"]);
    assert_eq!(scratch.read("a.txt"), "main\n");
    scratch.fsck();
}

/// The conflict's own side is what is committed before and after: only the stages differ.
#[test]
fn a_dry_run_names_the_conflict_that_comes_back_and_the_one_that_goes() {
    let Some(scratch) = with_conflict_in_reftable() else { return };
    scratch.try_git(&["cherry-pick", "x"]);
    scratch.axiom(&["checkpoint", "create", "within"]);
    scratch.git(&["commit", "-q", "-a", "-m", "with its markers"]);
    scratch.axiom(&["checkpoint", "create", "after"]);
    let named = |args: &[&str]| {
        let dry = scratch.json(&[args, &["--dry-run"]].concat());
        let paths = |key: &str| {
            dry[key].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        [paths("staged"), paths("stagedBack")]
    };
    let none = Vec::<String>::new();
    assert_eq!(named(&["rollback", "checkpoint", "within"]), [none.clone(), vec!["a.txt".to_owned()]]);
    scratch.axiom(&["rollback", "checkpoint", "within", "--yes"]);
    assert!(scratch.git(&["status", "--porcelain", "a.txt"]).starts_with("UU"));
    assert_eq!(named(&["rollback", "checkpoint", "after"]), [vec!["a.txt".to_owned()], none.clone()]);
    assert_eq!(named(&["rollback", "checkpoint", "within"]), [none.clone(), none]);
}

#[test]
fn refs_of_an_operation_survive_a_crash_of_the_rollback() {
    for fault in ["git.before-operation-refs:1", "git.after-operation-refs:1", "git.before-operation-file:1"] {
        let Some(scratch) = with_conflict_in_reftable() else { return };
        scratch.try_git(&["cherry-pick", "x"]);
        let in_it = root_refs(&scratch);
        scratch.axiom(&["checkpoint", "create", "within"]);
        scratch.git(&["cherry-pick", "--abort"]);
        let rollback = ["rollback", "checkpoint", "within", "--yes"];
        scratch.killed_at(&rollback, fault);
        scratch.axiom(&["rollback", "--continue"]);
        assert_eq!(root_refs(&scratch), in_it, "{fault}");
        scratch.write("a.txt", "resolved\n");
        scratch.git(&["add", "a.txt"]);
        scratch.git(&["-c", "core.editor=true", "cherry-pick", "--continue"]);
        scratch.fsck();
    }
}

#[test]
fn a_revert_in_a_linked_worktree_comes_back_into_its_reftable() {
    let Some(scratch) = with_conflict_in_reftable() else { return };
    let linked = scratch.path().parent().unwrap().join("linked");
    let linked = linked.to_str().unwrap();
    scratch.git(&["worktree", "add", "-q", "--detach", linked]);
    // The first commit's file was changed since: reverting that conflicts.
    scratch.try_git(&["-C", linked, "revert", "--no-edit", "HEAD~1"]);
    let head = || scratch.try_git(&["-C", linked, "rev-parse", "-q", "--verify", "REVERT_HEAD"]);
    let reverting = head().stdout;
    assert!(!reverting.is_empty());
    scratch.axiom(&["checkpoint", "create", "within"]);
    scratch.git(&["-C", linked, "revert", "--abort"]);
    assert!(head().stdout.is_empty());
    scratch.axiom(&["rollback", "checkpoint", "within", "--worktree", linked, "--yes"]);
    assert_eq!(head().stdout, reverting);
    assert_eq!(root_refs(&scratch), "", "those of the main worktree are its own");
    scratch.git(&["-C", linked, "revert", "--abort"]);
    assert_eq!(scratch.git(&["-C", linked, "status", "--porcelain"]), "");
}

#[test]
fn a_bisection_comes_back_into_a_reftable_and_an_autostash_too() {
    let Some(scratch) = with_conflict_in_reftable() else { return };
    for number in 0..6 {
        scratch.git(&["commit", "-q", "--allow-empty", "-m", &format!("{number}")]);
    }
    scratch.git(&["bisect", "start", "HEAD", "HEAD~5"]);
    let in_it = root_refs(&scratch);
    assert!(in_it.contains("refs/bisect/bad") && in_it.contains("BISECT_EXPECTED_REV"), "{in_it}");
    scratch.axiom(&["checkpoint", "create", "within"]);
    scratch.git(&["bisect", "reset"]);
    scratch.axiom(&["checkpoint", "create", "after"]);
    scratch.axiom(&["rollback", "checkpoint", "within", "--yes"]);
    assert_eq!(root_refs(&scratch), in_it);
    assert!(scratch.git(&["bisect", "good"]).contains("Bisecting"));
    scratch.axiom(&["rollback", "checkpoint", "after", "--yes"]);
    assert_eq!(root_refs(&scratch), "");

    scratch.write("sub/b.txt", "dirty\n");
    scratch.try_git(&["merge", "--autostash", "x"]);
    let in_it = root_refs(&scratch);
    assert!(in_it.contains("MERGE_AUTOSTASH"), "{in_it}");
    scratch.axiom(&["checkpoint", "create", "merging"]);
    scratch.git(&["merge", "--abort"]);
    scratch.git(&["checkout", "-q", "--", "."]);
    forget(&scratch);
    scratch.axiom(&["rollback", "checkpoint", "merging", "--yes"]);
    assert_eq!(root_refs(&scratch), in_it);
    scratch.write("a.txt", "resolved\n");
    scratch.git(&["commit", "-q", "-a", "-m", "merged"]);
    assert_eq!(scratch.read("sub/b.txt"), "dirty\n", "the stash was applied");
    scratch.fsck();
}

#[test]
fn a_merge_refuses_beside_a_cherry_pick_in_a_reftable() {
    let Some(scratch) = with_conflict_in_reftable() else { return };
    scratch.done_task("task-1");
    scratch.try_git(&["cherry-pick", "x"]);
    scratch.refused(&["merge", "task-1"], "IN_THE_WAY", 4);
}

#[test]
fn a_file_that_changes_while_its_bytes_are_kept_is_named() {
    let scratch = with_conversion(&[("core.autocrlf", "true")], "");
    scratch.write("ends.txt", "one\ntwo\r\n");
    // Whoever edits between the tree and its bytes: a filter may do that too.
    scratch.git(&["config", "filter.odd.clean", "sh -c 'cat; if test -e .git/odd; then date +%N; fi'"]);
    scratch.write(".git/odd", "");
    scratch.write(".git/info/attributes", "odd.bin filter=odd\n");
    scratch.write("odd.bin", "x\n");
    assert_eq!(not_held(&scratch, "safe", "converted"), ["odd.bin"]);
    let said = "(1 file held only as git stores it, not with its original bytes)";
    assert!(scratch.axiom(&["checkpoint", "show", "safe"]).contains(said));
    scratch.remove(".git/odd");
    scratch.write("ends.txt", "gone\n");
    scratch.write("odd.bin", "later\n");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(scratch.read("ends.txt"), "one\ntwo\r\n", "these bytes are held");
    assert!(scratch.read("odd.bin").starts_with("x\r\n"), "held as git converts it");
}

/// A worktree whose conversions would change these bytes on their way in and out.
fn with_conversion(config: &[(&str, &str)], attributes: &str) -> Scratch {
    let scratch = Scratch::new();
    for (key, value) in config {
        scratch.git(&["config", key, value]);
    }
    if !attributes.is_empty() {
        scratch.write(".gitattributes", attributes);
    }
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "attributes"]);
    scratch
}

#[test]
fn bytes_that_git_would_convert_come_back_as_they_were() {
    let upper = ("filter.up.clean", "tr a-z A-Z");
    for (config, attributes, text) in [
        (&[("core.autocrlf", "input")][..], "", "l1\r\nl2\n"),
        (&[("core.autocrlf", "true")], "", "l1\nl2\n"),
        (&[("core.eol", "crlf")], "* text=auto\n", "l1\nl2\n"),
        (&[], "* text=auto\n", "l1\r\nl2\n"),
        (&[], "*.txt text eol=crlf\n", "l1\nl2\n"),
        (&[], "*.txt ident\n", "$Id: mine $\n"),
        (&[upper], "*.txt filter=up\n", "Low\n"),
        (&[upper, ("filter.up.smudge", "false"), ("filter.up.required", "false")], "*.txt filter=up\n", "Low\n"),
    ] {
        let scratch = with_conversion(config, attributes);
        scratch.write("new.txt", text);
        scratch.write("a.txt", text);
        scratch.write("link.txt.d/plain", "p\n");
        std::os::unix::fs::symlink("a.txt", scratch.path().join("link.txt")).unwrap();
        let before = contents(&scratch.path());
        assert!(not_held(&scratch, "safe", "converted").is_empty());
        scratch.remove("new.txt");
        scratch.write("a.txt", "other\n");
        let wrecked = contents(&scratch.path());
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(contents(&scratch.path()), before, "{config:?} {attributes}");
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(contents(&scratch.path()), wrecked, "{config:?} {attributes}");
        scratch.axiom(&["redo", "--yes"]);
        assert_eq!(contents(&scratch.path()), before, "{config:?} {attributes}");
        scratch.fsck();
    }
}

#[test]
fn bytes_of_many_files_are_kept_too() {
    let scratch = with_conversion(&[], "* text=auto\n");
    for number in 0..150 {
        scratch.write(&format!("many/{number}"), format!("{number}\r\nx\n"));
    }
    let before = contents(&scratch.path());
    assert!(not_held(&scratch, "safe", "converted").is_empty());
    std::fs::remove_dir_all(scratch.path().join("many")).unwrap();
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(contents(&scratch.path()), before);
}

#[test]
fn bytes_that_git_would_convert_survive_a_crash_of_the_rollback() {
    for fault in ["git.restore-begin:1", "git.restore-in-trash:2", "git.restore-before-sync:1", "journal.files-restored:1"] {
        for (end, goes_back) in [("--continue", true), ("--abort", false)] {
            let scratch = with_conversion(&[("core.autocrlf", "input")], "");
            scratch.write("a.txt", "l1\r\nl2\n");
            scratch.write("new.txt", "n1\r\nn2\n");
            let before = contents(&scratch.path());
            scratch.axiom(&["checkpoint", "create", "safe"]);
            scratch.write("a.txt", "now1\nnow2\r\n");
            scratch.write("new.txt", "now3\nnow4\r\n");
            let wrecked = contents(&scratch.path());
            scratch.killed_at(&["rollback", "checkpoint", "safe", "--yes"], fault);
            scratch.axiom(&["rollback", end]);
            assert_eq!(contents(&scratch.path()), if goes_back { before } else { wrecked }, "{fault:?} {end}");
        }
    }
}

#[test]
fn nothing_is_kept_twice_where_git_gives_the_bytes_back() {
    let scratch = with_conversion(&[], "* text=auto\n*.bat text eol=crlf\n");
    scratch.write("a.txt", "changed\n");
    scratch.write("run.bat", "l1\r\nl2\r\n");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    let further = scratch.git(&["log", "-1", "--format=%P", "refs/axiom/captures/safe^2"]);
    let first = further.split(' ').nth(1).unwrap_or_default();
    assert!(!scratch.git(&["ls-tree", "--name-only", first]).contains("extras.json"), "{further}");
}

#[test]
fn a_namespace_of_the_caller_is_for_servers_only() {
    let scratch = Scratch::new();
    let output = scratch.axiom_with(&["checkpoint", "create", "safe"], &[("GIT_NAMESPACE", "ns")]);
    assert!(output.status.success(), "{output:?}");
    assert!(scratch.axiom(&["checkpoint", "list"]).contains("safe"));
}

#[test]
fn attributes_that_git_ignores_hold_for_rollback_and_undo_too() {
    for (config, attributes, text) in [
        (&[("core.autocrlf", "input")][..], "* -text\n", "x\r\n"),
        (&[], "* text eol=crlf\n", "x\r\n"),
        (&[], "* text eol=crlf\n", "x\n"),
        (&[("filter.up.clean", "tr a-z A-Z")], "* filter=up\n", "low\n"),
    ] {
        let scratch = with_conversion(config, "");
        scratch.write(".git/info/exclude", "/.worktrees/\n.gitattributes\n");
        scratch.write("u/.gitattributes", attributes);
        scratch.write("u/f", text);
        let before = contents(&scratch.path());
        assert!(not_held(&scratch, "safe", "converted").is_empty());
        scratch.remove("u/f");
        for (verb, there) in [(&["rollback", "checkpoint", "safe"][..], true), (&["undo"], false), (&["redo"], true)] {
            scratch.axiom(&[verb, &["--yes"]].concat());
            assert_eq!(scratch.has("u/f"), there, "{verb:?} {attributes}");
        }
        assert_eq!(contents(&scratch.path()), before, "{attributes}");
    }
}

#[test]
fn what_replaces_an_object_is_not_restored_in_its_place() {
    let scratch = Scratch::new();
    scratch.write("replacement", "REPLACED\n");
    let blob = scratch.git(&["hash-object", "-w", "replacement"]);
    scratch.remove("replacement");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.git(&["replace", &scratch.git(&["rev-parse", ":a.txt"]), &blob]);
    scratch.axiom(&["checkpoint", "create", "replaced"]);
    for name in ["safe", "replaced"] {
        scratch.write("a.txt", name);
        scratch.git(&["commit", "-q", "-a", "-m", "work"]);
        scratch.axiom(&["rollback", "checkpoint", name, "--yes"]);
        assert_eq!(scratch.read("a.txt"), "a\n", "{name}");
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(scratch.read("a.txt"), name);
    }
}

#[test]
fn show_says_how_much_is_at_what_is_not_held() {
    let scratch = Scratch::new();
    scratch.write(".gitignore", "out/\n");
    scratch.write("out/a/x", "x".repeat(2000));
    scratch.write("out/y", "y".repeat(1096));
    scratch.axiom(&["checkpoint", "create", "c"]);
    let shown = scratch.json(&["checkpoint", "show", "c"]);
    let place = scratch.path().join("out");
    assert_eq!(shown["checkpoint"]["sizesNow"][place.to_str().unwrap()], 3096, "{shown}");
    let words = scratch.axiom(&["checkpoint", "show", "c"]);
    assert!(words.contains(&format!("not held (1 ignored entry): {} (3.0 KiB)", place.display())), "{words}");
}

#[test]
fn what_has_changed_is_told_of_the_worktree_one_stands_in() {
    let scratch = Scratch::new();
    let beside = scratch.path().with_file_name("beside");
    scratch.git(&["worktree", "add", "-q", beside.to_str().unwrap()]);
    scratch.axiom(&["checkpoint", "create", "c"]);
    scratch.write("a.txt", "main\n");
    std::fs::write(beside.join("sub/b.txt"), "beside\n").unwrap();
    let names = |folder: &std::path::Path, more: &[&str]| -> Vec<String> {
        let args = [&["-C", folder.to_str().unwrap(), "--json", "checkpoint", "diff", "c"], more].concat();
        let told: serde_json::Value = serde_json::from_str(&scratch.axiom(&args)).unwrap();
        told["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&scratch.path(), &[]), ["a.txt"]);
    assert_eq!(names(&beside.join("sub"), &[]), ["sub/b.txt"]);
    scratch.axiom(&["checkpoint", "create", "d"]);
    assert_eq!(names(&beside, &["d"]), ["sub/b.txt"]);
    let later = scratch.path().with_file_name("later");
    scratch.git(&["worktree", "add", "-q", later.to_str().unwrap()]);
    scratch.refused(&["-C", later.to_str().unwrap(), "checkpoint", "diff", "c"], "INVALID_INPUT", 2);
}

#[test]
fn the_users_own_files_beside_the_workspaces_are_named() {
    let scratch = Scratch::new();
    scratch.write(".worktrees/tracked", "tracked\n");
    scratch.git(&["add", "-f", ".worktrees/tracked"]);
    scratch.git(&["commit", "-q", "-m", "tracked"]);
    scratch.open_task("t1");
    scratch.axiom(&["checkpoint", "create", "first"]);
    scratch.axiom(&["rollback", "checkpoint", "first", "--yes"]);
    assert_eq!(not_held(&scratch, "ours", "ignored"), Vec::<String>::new());
    scratch.write(".worktrees/mine", "mine\n");
    scratch.write(".worktrees/notes/of/mine", "mine\n");
    scratch.write(".worktrees/trash/mine", "mine\n");
    scratch.git(&["init", "-q", ".worktrees/clone"]);
    let named = [".worktrees/clone", ".worktrees/mine", ".worktrees/notes", ".worktrees/trash/mine"];
    assert_eq!(not_held(&scratch, "theirs", "ignored"), named);
    scratch.write(".worktrees/tracked", "changed\n");
    scratch.axiom(&["rollback", "checkpoint", "theirs", "--yes"]);
    assert!(named.iter().all(|path| scratch.path().join(path).exists()));
    assert_eq!(scratch.read(".worktrees/tracked"), "tracked\n");
    // A file in the place of the folder.
    let other = Scratch::new();
    other.write(".worktrees", "a file\n");
    assert_eq!(not_held(&other, "theirs", "ignored"), [".worktrees"]);
}

/// Rolls back to a checkpoint, then undoes, redoes and undoes; each step has to leave what is said of `path`, each way back
/// the same.
fn there_and_back(scratch: &Scratch, checkpoint: &str, [there, back]: [Option<&[u8]>; 2], path: &str) {
    for (verb, wanted) in
        [(&["rollback", "checkpoint", checkpoint][..], there), (&["undo"], back), (&["redo"], there), (&["undo"], back)]
    {
        scratch.axiom(&[verb, &["--yes"]].concat());
        let is = std::fs::read(scratch.path().join(path)).ok();
        assert_eq!(is.as_deref().map(String::from_utf8_lossy), wanted.map(String::from_utf8_lossy), "{verb:?}");
    }
    scratch.fsck();
}

const SECRETS: &[(&str, &str)] = &[("filter.s.clean", "sed s/SECRET=.*/SECRET=/"), ("filter.s.smudge", "cat")];

#[test]
fn bytes_of_a_file_that_came_since_survive_a_rollback_and_its_undo() {
    for (config, attributes, path, bytes) in
        [(SECRETS, "*.env filter=s\n", "u.env", "SECRET=hunter2\n"), (&[("core.autocrlf", "input")], "", "f", "two\r\n")]
    {
        let scratch = with_conversion(config, attributes);
        scratch.axiom(&["checkpoint", "create", "c"]);
        scratch.write(path, bytes);
        there_and_back(&scratch, "c", [None, Some(bytes.as_bytes())], path);
    }
}

#[test]
fn bytes_of_a_file_that_was_unchanged_then_survive_a_rollback_and_its_undo() {
    let scratch = with_conversion(&[("core.autocrlf", "input")], "");
    scratch.write("f", "one\r\n");
    scratch.git(&["add", "f"]);
    scratch.git(&["commit", "-q", "-m", "f"]);
    scratch.axiom(&["checkpoint", "create", "c"]);
    scratch.write("f", "two\r\n");
    there_and_back(&scratch, "c", [Some(b"one\r\n"), Some(b"two\r\n")], "f");
}

#[test]
fn bytes_of_a_file_that_git_takes_for_unchanged_go_back_too_and_are_named() {
    for (config, attributes, path, then, now) in [
        (&[("core.autocrlf", "input")][..], "", "f", "1\r\n", "1\r\n"),
        (&[("core.autocrlf", "input")], "", "f", "1\r\n", "1\n"),
        (SECRETS, "*.env filter=s\n", "u.env", "SECRET=old\n", "SECRET=new\n"),
    ] {
        let scratch = with_conversion(config, attributes);
        scratch.write(path, then);
        scratch.axiom(&["checkpoint", "create", "c"]);
        scratch.write(path, now);
        scratch.git(&["add", path]);
        scratch.git(&["commit", "-q", "-m", "now"]);
        let dry = scratch.json(&["rollback", "checkpoint", "c", "--dry-run"]);
        let names_it = dry["files"].as_array().unwrap().iter().any(|file| file["path"] == path);
        assert_eq!(names_it, then != now, "{dry}");
        there_and_back(&scratch, "c", [Some(then.as_bytes()), Some(now.as_bytes())], path);
    }
}

#[test]
fn a_file_of_which_only_the_line_ends_differ_gets_those_that_it_had() {
    for (then, now) in [("l1\r\nl2\n", "l1\nl2\n"), ("l1\nl2\n", "l1\r\nl2\n"), ("l1\r\nl2\n", "l1\r\nl2\r\n")] {
        let scratch = with_conversion(&[("core.autocrlf", "input")], "");
        scratch.write("new.txt", then);
        scratch.axiom(&["checkpoint", "create", "c"]);
        scratch.write("new.txt", now);
        there_and_back(&scratch, "c", [Some(then.as_bytes()), Some(now.as_bytes())], "new.txt");
    }
}

#[test]
fn bytes_of_a_file_that_git_takes_for_unchanged_come_back_by_undo() {
    for (config, attributes, path, bytes) in
        [(SECRETS, "*.env filter=s\n", "u.env", "SECRET=new\n"), (&[("core.autocrlf", "input")], "", "f", "two\r\n")]
    {
        for before in [None, Some("other\n")] {
            let scratch = with_conversion(config, attributes);
            before.into_iter().for_each(|text| scratch.write(path, text));
            scratch.axiom(&["checkpoint", "create", "c"]);
            scratch.write(path, bytes);
            scratch.git(&["add", path]);
            scratch.git(&["commit", "-q", "-m", "now"]);
            there_and_back(&scratch, "c", [before.map(str::as_bytes), Some(bytes.as_bytes())], path);
            assert_eq!(scratch.git(&["status", "--porcelain"]), "");
        }
    }
}
