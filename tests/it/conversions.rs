//! What git converts on a file's way in and out: the bytes on disk are held, come back, and are never lost.

use std::path::Path;

use crate::conversion_rules::{LOSSY, bytes, commit_settled, converted, with_lossy};
use crate::support::{Scratch, contents};

#[test]
fn bytes_of_unchanged_files_that_a_checkout_would_not_give_back_are_held() {
    for lossy in LOSSY {
        let scratch = with_lossy(lossy);
        let before = contents(&scratch.path());
        assert_eq!(converted(&scratch, "safe"), 0, "{lossy:?}");
        scratch.remove("f.txt");
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(contents(&scratch.path()), before, "{lossy:?}");
        assert_eq!(scratch.git(&["status", "--porcelain"]), "", "{lossy:?}");
        scratch.axiom(&["undo", "--yes"]);
        assert!(!scratch.has("f.txt"), "{lossy:?}");
        scratch.axiom(&["redo", "--yes"]);
        assert_eq!(contents(&scratch.path()), before, "{lossy:?}");
        scratch.fsck();
    }
}

#[test]
fn they_are_held_beside_changes_conflicts_and_known_paths_too() {
    for lossy in LOSSY {
        let scratch = with_lossy(lossy);
        let before = bytes(&scratch, "f.txt");
        // git itself makes this capture.
        scratch.write("odd.txt", "x\n");
        scratch.git(&["add", "-N", "odd.txt"]);
        assert_eq!(converted(&scratch, "git"), 0, "{lossy:?}");
        scratch.git(&["rm", "-q", "--cached", "odd.txt"]);
        scratch.remove("odd.txt");
        assert_eq!(converted(&scratch, "whole"), 0, "{lossy:?}");
        scratch.axiom(&["checkpoint", "create", "known", "--only", "f.txt"]);
        for checkpoint in ["git", "whole", "known"] {
            scratch.remove("f.txt");
            scratch.axiom(&["rollback", "checkpoint", checkpoint, "--yes"]);
            assert_eq!(bytes(&scratch, "f.txt"), before, "{checkpoint} {lossy:?}");
        }
    }
}

#[test]
fn each_file_is_decided_once() {
    let scratch = Scratch::new();
    let log = scratch.path().join(".git/smudged");
    scratch.git(&["config", "filter.s.clean", "cat"]);
    scratch.git(&["config", "filter.s.smudge", &format!("sh -c 'echo x >> {}; cat'", log.display())]);
    scratch.write(".gitattributes", "*.txt filter=s\n");
    for number in 0..3 {
        scratch.write(&format!("{number}.txt"), "x\n");
    }
    commit_settled(&scratch);
    let _ = std::fs::remove_file(&log);
    let runs = || std::fs::read_to_string(&log).unwrap_or_default().lines().count();
    let files = || scratch.git(&["ls-files", "*.txt"]).lines().count();
    assert_eq!((converted(&scratch, "one"), runs()), (0, files()));
    assert_eq!((converted(&scratch, "two"), runs()), (0, files()), "remembered");
    scratch.write("sub/more.txt", "m\n");
    commit_settled(&scratch);
    let before = runs();
    assert_eq!((converted(&scratch, "three"), runs() - before), (0, 1), "the new one alone");
    scratch.git(&["config", "filter.s.clean", "cat -u"]);
    let before = runs();
    assert_eq!((converted(&scratch, "four"), runs() - before), (0, files()), "another configuration");
}

#[test]
fn what_was_not_tried_is_named_and_has_its_turn() {
    let scratch = Scratch::new();
    scratch.write(".gitattributes", "many/* ident\n");
    for number in 0..1003 {
        scratch.write(&format!("many/{number:04}"), "x\n");
    }
    commit_settled(&scratch);
    assert_eq!(converted(&scratch, "one"), 3);
    let said = "(3 files held only as git stores them, not with their original bytes)";
    assert!(scratch.axiom(&["checkpoint", "show", "one"]).contains(said));
    assert_eq!(converted(&scratch, "two"), 0);
}

#[test]
fn where_nothing_is_converted_nothing_is_remembered() {
    let scratch = Scratch::new();
    scratch.git(&["config", "core.autocrlf", "false"]);
    commit_settled(&scratch);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    assert!(!Path::new(&scratch.path()).join(".git/axiom/tmp/given-back").exists());
}

#[test]
fn bytes_of_a_conversion_that_is_no_more_are_held_too() {
    let scratch = with_lossy(&LOSSY[1]);
    let before = bytes(&scratch, "f.txt");
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.git(&["config", "--unset", "core.autocrlf"]);
    assert_eq!(scratch.git(&["status", "--porcelain"]), "", "git still takes it for unchanged");
    assert_eq!(converted(&scratch, "two"), 0);
    scratch.remove("f.txt");
    scratch.axiom(&["rollback", "checkpoint", "two", "--yes"]);
    assert_eq!(bytes(&scratch, "f.txt"), before);
}

#[test]
fn a_file_that_is_only_stored_otherwise_is_not_named_as_changed() {
    for attributes in ["*.txt text eol=crlf\n", "*.txt filter=upper\n"] {
        let scratch = Scratch::new();
        scratch.git(&["config", "filter.upper.clean", "tr a-z A-Z"]);
        scratch.git(&["config", "filter.upper.smudge", "tr A-Z a-z"]);
        scratch.git(&["branch", "plain"]);
        scratch.write(".gitattributes", attributes);
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-q", "-m", "attributes"]);
        scratch.write("new.txt", "one\r\ntwo\r\n");
        scratch.axiom(&["checkpoint", "create", "converted"]);
        scratch.git(&["checkout", "-q", "plain"]);
        scratch.axiom(&["checkpoint", "create", "plain"]);
        let named = |args: &[&str]| {
            let told = scratch.axiom(&[args, &["--dry-run", "--json"]].concat());
            let told: serde_json::Value = serde_json::from_str(&told).unwrap();
            let files = told["files"].as_array().unwrap();
            files.iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(named(&["rollback", "checkpoint", "converted"]), [".gitattributes"], "{attributes}");
        scratch.axiom(&["rollback", "checkpoint", "converted", "--yes"]);
        assert_eq!(scratch.read("new.txt"), "one\r\ntwo\r\n", "{attributes}");
        assert_eq!(named(&["undo"]), [".gitattributes"], "{attributes}");
        assert_eq!(named(&["rollback", "checkpoint", "plain"]), [".gitattributes"], "{attributes}");
        scratch.write("new.txt", "one\ntwo\n");
        assert_eq!(named(&["rollback", "checkpoint", "plain"]), [".gitattributes", "new.txt"], "{attributes}");
    }
}

#[test]
fn line_ends_that_git_add_refuses_are_held() {
    for (setting, attributes) in [("input", ""), ("true", ""), ("true", "*.x filter=none\n")] {
        let scratch = Scratch::new();
        scratch.write(".gitattributes", attributes);
        scratch.git(&["config", "core.autocrlf", setting]);
        scratch.git(&["config", "core.safecrlf", "true"]);
        scratch.axiom(&["checkpoint", "create", "before"]);
        for (path, text) in [("crlf.txt", "a\r\nb\r\n"), ("mixed.txt", "a\r\nb\n"), ("a.txt", "lf\n"), ("sub/b.txt", "x\r\n")] {
            scratch.write(path, text);
        }
        let before = contents(&scratch.path());
        assert_eq!(converted(&scratch, "one"), 0);
        scratch.axiom(&["rollback", "checkpoint", "before", "--yes"]);
        assert_eq!(scratch.read("a.txt"), "a\n");
        scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
        assert_eq!(contents(&scratch.path()), before, "{setting}");
    }
}
