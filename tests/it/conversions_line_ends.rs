//! Files with line ends that git converts, or leaves as they are because of what is committed: rollbacks, merges and undo
//! over them work, and give the exact bytes back, also where the configuration was switched meanwhile.

use std::os::unix::fs::MetadataExt;

use crate::support::{Scratch, contents};

/// Attributes and configuration under which what is committed with carriage returns stays so.
const RULES: [(&str, &str); 5] =
    [("* text=auto\n", "false"), ("", "input"), ("", "true"), ("* text=auto eol=crlf\n", "false"), ("* text=auto\n", "true")];

/// A repository in which `dos.txt` was committed with carriage returns before there was a rule.
fn with_dos((attributes, autocrlf): (&str, &str)) -> Scratch {
    let scratch = Scratch::new();
    for path in ["dos.txt", "dos2.txt", "dos3.txt"] {
        scratch.write(path, "1\r\n2\r\n");
    }
    for path in ["mixed.txt", "mixed2.txt", "mixed3.txt"] {
        scratch.write(path, "1\r\n2\n");
    }
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "dos"]);
    scratch.git(&["config", "core.autocrlf", autocrlf]);
    if !attributes.is_empty() {
        scratch.write(".gitattributes", attributes);
        scratch.git(&["add", ".gitattributes"]);
        scratch.git(&["commit", "-q", "-m", "attributes"]);
    }
    scratch
}

fn status(scratch: &Scratch) -> String {
    scratch.git(&["status", "--porcelain"])
}

#[test]
fn a_rollback_over_a_file_committed_with_carriage_returns_works() {
    for rule in RULES {
        let scratch = with_dos(rule);
        let (before, was) = (contents(&scratch.path()), status(&scratch));
        scratch.axiom(&["checkpoint", "create", "safe"]);
        for (number, edited) in [("", "1\r\n2\r\n3\r\n"), ("2", "1\n2\n3\n"), ("3", "1\r\n2\n\r\n")] {
            for path in ["dos", "mixed", "new"] {
                scratch.write(&format!("{path}{number}.txt"), edited);
            }
        }
        let wrecked = contents(&scratch.path());
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(contents(&scratch.path()), before, "{rule:?}");
        assert_eq!(status(&scratch), was, "{rule:?}");
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(contents(&scratch.path()), wrecked, "{rule:?}");
        scratch.axiom(&["redo", "--yes"]);
        assert_eq!(contents(&scratch.path()), before, "{rule:?}");
        assert_eq!(status(&scratch), was, "{rule:?}");
    }
}

#[test]
fn a_rollback_over_one_that_was_edited_then_and_is_committed_now_works() {
    for rule in RULES {
        let scratch = with_dos(rule);
        scratch.write("dos.txt", "1\r\nthen\r\n");
        scratch.write("mixed.txt", "then\n1\r\n");
        let before = contents(&scratch.path());
        scratch.axiom(&["checkpoint", "create", "safe"]);
        scratch.write("dos.txt", "now\r\n");
        scratch.write("mixed.txt", "now\n");
        scratch.git(&["commit", "-q", "-a", "-m", "now"]);
        let now = contents(&scratch.path());
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(contents(&scratch.path()), before, "{rule:?}");
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(contents(&scratch.path()), now, "{rule:?}");
        assert_eq!(status(&scratch), "", "{rule:?}");
    }
}

#[test]
fn a_merge_over_a_file_committed_with_carriage_returns_works() {
    for rule in RULES {
        let scratch = with_dos(rule);
        let was = contents(&scratch.path());
        scratch.open_task("t1");
        let folder = scratch.workspace("t1");
        std::fs::write(folder.join("dos.txt"), "1\r\n2\r\nmore\r\n").unwrap();
        std::fs::write(folder.join("mixed.txt"), "1\r\n2\nmore\r\n").unwrap();
        scratch.finish_task("t1");
        scratch.axiom(&["merge", "t1"]);
        assert_eq!(scratch.read("dos.txt"), "1\r\n2\r\nmore\r\n", "{rule:?}");
        assert_eq!(status(&scratch), "", "{rule:?}");
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(contents(&scratch.path()), was, "{rule:?}");
        assert_eq!(status(&scratch), "", "{rule:?}");
        scratch.axiom(&["redo", "--yes"]);
        scratch.axiom(&["rollback", "task", "t1", "--yes"]);
        assert_eq!(contents(&scratch.path()), was, "{rule:?}");
    }
}

/// The values of `core.autocrlf` before and after a switch.
const SWITCHES: [(&str, &str); 6] =
    [("false", "true"), ("true", "false"), ("input", "true"), ("true", "input"), ("false", "input"), ("input", "false")];

#[test]
fn where_autocrlf_was_switched_the_exact_bytes_come_back_and_untouched_files_stay() {
    for (then, now) in SWITCHES {
        let scratch = Scratch::new();
        scratch.git(&["config", "core.autocrlf", then]);
        for (path, text) in [("dos.txt", "1\r\n2\r\n"), ("unix.txt", "1\n2\n"), ("mixed.txt", "1\r\n2\n")] {
            scratch.write(path, text);
            scratch.write(&format!("untouched/{path}"), text);
            scratch.write(&format!("untracked/{path}"), text);
        }
        scratch.git(&["add", "dos.txt", "unix.txt", "mixed.txt", "untouched"]);
        scratch.git(&["commit", "-q", "-m", "all"]);
        let before = contents(&scratch.path());
        let untouched = || {
            let place = scratch.path().join("untouched");
            let files = std::fs::read_dir(place).unwrap().map(|file| file.unwrap().path());
            files.map(|file| (file.metadata().unwrap().ino(), file)).collect::<Vec<_>>()
        };
        let inodes = untouched();
        scratch.axiom(&["checkpoint", "create", "safe"]);
        for path in ["dos.txt", "unix.txt", "mixed.txt", "untracked/dos.txt", "untracked/unix.txt", "untracked/mixed.txt"] {
            scratch.write(path, "other\n");
        }
        let wrecked = contents(&scratch.path());
        scratch.git(&["config", "core.autocrlf", now]);
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(contents(&scratch.path()), before, "{then} {now}");
        scratch.git(&["config", "core.autocrlf", then]);
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(contents(&scratch.path()), wrecked, "{then} {now}");
        scratch.git(&["config", "core.autocrlf", now]);
        scratch.axiom(&["redo", "--yes"]);
        assert_eq!(contents(&scratch.path()), before, "{then} {now}");
        assert_eq!(untouched(), inodes, "{then} {now}");
    }
}
