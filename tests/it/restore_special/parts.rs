//! What no rename moves, because it is on a lower layer or the trash is elsewhere: it goes in parts, and a crash at any of them
//! leaves before or after.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

use crate::support::Scratch;

/// What the system is made to say: of folders alone, as an overlay does, and of everything, as another file system does.
const ELSEWHERE: [&str; 2] = ["files.across:18", "files.across:18,files.part-across:18"];

/// A checkpoint `safe` with the file `q`; by now there is a folder `q` with ignored things of all kinds.
fn in_the_way() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("q", "captured\n");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.remove("q");
    scratch.write(".git/info/exclude", "/.worktrees/\n*.ign\n");
    scratch.write("q/deep/x.ign", "ignored\n");
    scratch.write("q/deep/read-only.ign/y", "module\n");
    scratch.write("q/untracked", "untracked\n");
    let at = |path: &str| scratch.path().join("q").join(path);
    std::fs::create_dir(at("deep/empty")).unwrap();
    std::os::unix::fs::symlink("x.ign", at("deep/link.ign")).unwrap();
    let set = |path: &str, mode| std::fs::set_permissions(at(path), std::fs::Permissions::from_mode(mode)).unwrap();
    set("deep/x.ign", 0o640);
    set("deep", 0o750);
    set("deep/read-only.ign", 0o555);
    scratch
}

/// Everything below a folder: modes, contents, texts of links.
fn all(folder: &Path) -> BTreeMap<PathBuf, (u32, String)> {
    let hidden = |entry: &walkdir::DirEntry| entry.file_name() == ".git" || entry.file_name() == ".worktrees";
    let walk = walkdir::WalkDir::new(folder).min_depth(1).into_iter().filter_entry(|entry| !hidden(entry));
    let look = |entry: walkdir::DirEntry| {
        let (meta, path) = (entry.metadata().unwrap(), entry.path());
        let text = if meta.is_file() { std::fs::read_to_string(path).unwrap() } else { String::new() };
        let text = if meta.is_symlink() { path.read_link().unwrap().display().to_string() } else { text };
        (path.strip_prefix(folder).unwrap().to_owned(), (meta.permissions().mode(), text))
    };
    walk.map(Result::unwrap).map(look).collect()
}

/// What still waits. An empty folder does not: it goes with the trash.
fn left_over(scratch: &Scratch) -> Vec<PathBuf> {
    let is_empty = |path: &Path| path.is_dir() && path.read_dir().unwrap().next().is_none();
    let named =
        |entry: &walkdir::DirEntry| entry.file_name().to_string_lossy().starts_with(".axiom-half-") && !is_empty(entry.path());
    let walk = walkdir::WalkDir::new(scratch.path()).into_iter().map(Result::unwrap);
    walk.filter(named).map(walkdir::DirEntry::into_path).collect()
}

#[test]
fn it_goes_and_comes_back_with_all_that_it_is() {
    for elsewhere in ELSEWHERE {
        let scratch = in_the_way();
        let axiom = |args: &[&str]| {
            let output = scratch.axiom_with(args, &[("AXIOM_TEST_REFUSE", elsewhere)]);
            assert!(output.status.success(), "{elsewhere}, {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        };
        let before = all(&scratch.path());
        axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        let after = all(&scratch.path());
        assert_eq!(scratch.read("q"), "captured\n");
        for (verb, wanted) in [("undo", &before), ("redo", &after), ("undo", &before)] {
            axiom(&[verb, "--yes"]);
            assert_eq!(&all(&scratch.path()), wanted, "{elsewhere}, {verb}");
        }
        assert_eq!(left_over(&scratch), [] as [PathBuf; 0]);
    }
}

#[test]
fn a_crash_at_any_part_leaves_before_or_after() {
    let points = ["begun:1", "part:1", "part:4", "copied:2", "synced:1", "whole:1", "named:1", "back:1"];
    let mut reached = 0;
    for elsewhere in ELSEWHERE {
        for point in points {
            for verb in ["rollback", "undo"] {
                for way in ["--continue", "--abort"] {
                    let scratch = in_the_way();
                    let before = all(&scratch.path());
                    let (refuse, fault) = (("AXIOM_TEST_REFUSE", elsewhere), format!("files.half-{point}"));
                    let rollback = ["rollback", "checkpoint", "safe", "--yes"];
                    let verb: &[&str] = if verb == "undo" { &["undo", "--yes"] } else { &rollback };
                    if verb[0] == "undo" {
                        scratch.axiom(&rollback);
                    }
                    let killed = scratch.axiom_with(verb, &[refuse, ("AXIOM_TEST_FAULT", &fault)]);
                    if killed.status.success() {
                        break;
                    }
                    assert_eq!(killed.status.signal(), Some(9), "{fault}");
                    reached += 1;
                    let ended = scratch.axiom_with(&["rollback", way], &[refuse]);
                    assert!(ended.status.success(), "{fault} {way}: {}", String::from_utf8_lossy(&ended.stderr));
                    if (verb[0] == "undo") == (way == "--abort") {
                        assert!(scratch.path().join("q").is_file(), "{elsewhere} {fault} {verb:?} {way}");
                        scratch.axiom(&["undo", "--yes"]);
                    }
                    assert_eq!(all(&scratch.path()), before, "{elsewhere} {fault} {verb:?} {way}");
                    assert_eq!(left_over(&scratch), [] as [PathBuf; 0], "{elsewhere} {fault} {verb:?} {way}");
                }
            }
        }
    }
    assert!(reached > 20, "{reached}");
}

/// A workspace that a rollback puts aside, with an ignored file; the checkpoint `safe` is from before.
fn with_workspace() -> Scratch {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.open_task("t1");
    scratch.write(".git/info/exclude", "/.worktrees/\n*.ign\n");
    let place = scratch.workspace("t1");
    std::fs::create_dir(place.join("deep")).unwrap();
    std::fs::write(place.join("deep/x.ign"), "ignored\n").unwrap();
    std::fs::write(place.join("new"), "new\n").unwrap();
    scratch
}

#[test]
fn a_workspace_goes_and_comes_back_and_a_crash_leaves_before_or_after() {
    let rollback = ["rollback", "checkpoint", "safe", "--yes"];
    let points = ["begun:1", "part:1", "part:9", "whole:1", "whole:2", "named:1", "named:2"];
    let mut reached = 0;
    for elsewhere in ELSEWHERE {
        for point in points {
            for way in ["--continue", "--abort"] {
                let scratch = with_workspace();
                let place = scratch.workspace("t1");
                let (before, status) = (all(&place), scratch.git(&["-C", place.to_str().unwrap(), "status", "--porcelain"]));
                let (refuse, fault) = (("AXIOM_TEST_REFUSE", elsewhere), format!("files.half-{point}"));
                let killed = scratch.axiom_with(&rollback, &[refuse, ("AXIOM_TEST_FAULT", &fault)]);
                if killed.status.success() {
                    break;
                }
                assert_eq!(killed.status.signal(), Some(9), "{fault}");
                reached += 1;
                // Every other time the machine was started again meanwhile, and what a power loss leaves is mended first.
                let boot = if reached / 2 % 2 == 0 { "" } else { "later" };
                let ended = scratch.axiom_with(&["rollback", way], &[("AXIOM_TEST_BOOT", boot)]);
                assert!(ended.status.success(), "{fault} {way} {boot}: {}", String::from_utf8_lossy(&ended.stderr));
                if way == "--continue" {
                    assert!(!place.exists(), "{fault}");
                    let undone = scratch.axiom_with(&["undo", "--yes"], &[refuse]);
                    assert!(undone.status.success(), "{fault}: {}", String::from_utf8_lossy(&undone.stderr));
                }
                assert_eq!(all(&place), before, "{elsewhere} {fault} {way}");
                assert_eq!(scratch.git(&["-C", place.to_str().unwrap(), "status", "--porcelain"]), status, "{fault} {way}");
                assert_eq!(left_over(&scratch), [] as [PathBuf; 0], "{elsewhere} {fault} {way}");
                scratch.fsck();
            }
        }
    }
    assert!(reached > 20, "{reached}");
}
