//! What git converts on a file's way in and out: the bytes on disk are held, come back, and are never lost.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods
)]

#[path = "support/mod.rs"]
mod support;

use std::path::Path;

use support::{Scratch, contents};

/// A configuration, a file of attributes, and the bytes of a file `f.txt` that git takes for unchanged although a checkout
/// would write others.
type Lossy = (&'static [(&'static str, &'static str)], &'static str, &'static str);

const SECRETS: &[(&str, &str)] = &[("filter.s.clean", "sed s/SECRET=.*/SECRET=/"), ("filter.s.smudge", "cat")];

const LOSSY: &[Lossy] = &[
    (SECRETS, "*.txt filter=s\n", "SECRET=hunter2\n"),
    (&[("core.autocrlf", "input")], "", "one\r\ntwo\r\n"),
    (&[], "* text=auto\n", "one\r\ntwo\n"),
    (&[("core.autocrlf", "true")], "", "one\ntwo\n"),
    (&[], "*.txt text eol=crlf\n", "one\r\ntwo\n"),
    (&[], "*.txt ident\n", "$Id: mine $\n"),
    (&[], "f.txt working-tree-encoding=UTF-16\n", ""),
];

/// A repository with a committed `f.txt` that git takes for unchanged, older than its index.
fn with_lossy((config, attributes, text): &Lossy) -> Scratch {
    let scratch = Scratch::new();
    for (key, value) in *config {
        scratch.git(&["config", key, value]);
    }
    if !attributes.is_empty() {
        scratch.write(".gitattributes", attributes);
    }
    if attributes.contains("encoding") {
        // Low byte first, with a mark: a checkout writes the high one first.
        std::fs::write(scratch.path().join("f.txt"), b"\xff\xfeh\0i\0\n\0").unwrap();
    } else {
        scratch.write("f.txt", text);
    }
    commit_settled(&scratch);
    scratch
}

/// Commits everything, and lets the index be younger than all files: by seconds, for that is what git goes by.
fn commit_settled(scratch: &Scratch) {
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "all"]);
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(100);
    for path in scratch.git(&["ls-files"]).lines() {
        let file = std::fs::File::open(scratch.path().join(path)).unwrap();
        if file.metadata().unwrap().modified().unwrap() > long_ago + std::time::Duration::from_secs(50) {
            file.set_modified(long_ago).unwrap();
        }
    }
    std::fs::remove_file(scratch.path().join(".git/index")).unwrap();
    scratch.git(&["read-tree", "HEAD"]);
    scratch.git(&["update-index", "-q", "--refresh"]);
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    std::thread::sleep(std::time::Duration::from_millis(150));
}

/// What a new checkpoint says that it holds only as git converts it.
fn converted(scratch: &Scratch, name: &str) -> u64 {
    let made = scratch.json(&["checkpoint", "create", name]);
    made["coverage"][scratch.path().to_str().unwrap()]["converted"]["count"].as_u64().unwrap()
}

fn bytes(scratch: &Scratch, path: &str) -> Vec<u8> {
    std::fs::read(scratch.path().join(path)).unwrap()
}

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
    assert!(scratch.axiom(&["checkpoint", "show", "one"]).contains("(3 files only as git converts them, not their bytes)"));
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
