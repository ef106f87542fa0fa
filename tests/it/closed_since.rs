//! What was closed between an operation and the next one: it is left as it is and named, and the rest goes back and forth.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::Scratch;

fn set_mode(place: &Path, mode: u32) {
    std::fs::set_permissions(place, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// As the user whom permissions bind, with `--json`.
fn bound(scratch: &Scratch, args: &[&str]) -> Value {
    let output = scratch.bound_by_permissions().arg("--json").args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What plain git says of a repository that was given to that user.
fn git_there(scratch: &Scratch, args: &[&str]) -> String {
    scratch.git(&[&["-c", "safe.directory=*"], args].concat())
}

/// The paths that a rollback left as they are.
fn left(said: &Value) -> Vec<&str> {
    said["notRestored"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect()
}

/// What lies in the repository: a file, or a file in a folder.
const PLACES: [(&str, &str); 2] = [("secret", "secret"), ("shut", "shut/inner")];

#[test]
fn what_a_rollback_left_though_it_takes_it_from_the_index_is_left_by_its_undo_too() {
    for linked in [false, true] {
        for (closed, file) in PLACES {
            let scratch = Scratch::new();
            let root = if linked { scratch.path().join("../linked") } else { scratch.path() };
            if linked {
                scratch.git(&["worktree", "add", "-q", "--detach", "../linked"]);
            }
            let (root, there) = (root.canonicalize().unwrap(), root.to_str().unwrap().to_owned());
            bound(&scratch, &["checkpoint", "create", "c"]);
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "x\n").unwrap();
            std::fs::write(root.join("a.txt"), "edited\n").unwrap();
            git_there(&scratch, &["-C", &there, "add", file]);
            set_mode(&root.join(closed), 0);
            let tracked = || git_there(&scratch, &["-C", &there, "ls-files", "--", closed]);
            let rollback = ["rollback", "checkpoint", "c", "--worktree", root.to_str().unwrap(), "--yes"];
            assert_eq!(left(&bound(&scratch, &rollback)), [closed]);
            for (verb, in_index, text) in [("undo", file, "edited\n"), ("redo", "", "a\n"), ("undo", file, "edited\n")] {
                bound(&scratch, &[verb, "--yes"]);
                let a = std::fs::read_to_string(root.join("a.txt")).unwrap();
                assert_eq!((tracked().as_str(), a.as_str()), (in_index, text), "{verb} {closed}");
            }
            set_mode(&root.join(closed), 0o755);
            assert_eq!(std::fs::read_to_string(root.join(file)).unwrap(), "x\n");
        }
    }
}

#[test]
fn what_a_rollback_brought_back_and_is_closed_by_now_is_no_conflict() {
    for (closed, file) in PLACES {
        for ignored in [false, true] {
            let scratch = Scratch::new();
            let root = scratch.path();
            scratch.write(file, "x\n");
            set_mode(&root.join(file), 0o600);
            bound(&scratch, &["checkpoint", "create", "c"]);
            scratch.remove(file);
            scratch.write("a.txt", "edited\n");
            bound(&scratch, &["rollback", "checkpoint", "c", "--yes"]);
            if ignored {
                scratch.write(".git/info/exclude", format!("/{closed}\n"));
            }
            set_mode(&root.join(closed), 0);
            for how in ["--dry-run", "--yes"] {
                let said = bound(&scratch, &["undo", how]);
                assert_eq!(said["unread"], json!([root.join(file).to_str().unwrap()]), "{closed}, ignored: {ignored}");
            }
            assert_eq!(scratch.read("a.txt"), "edited\n");
            set_mode(&root.join(closed), 0o700);
            assert_eq!(scratch.read(file), "x\n");
        }
    }
}

#[test]
fn permissions_in_a_folder_that_is_closed_by_now_stay() {
    let scratch = Scratch::new();
    let key = scratch.path().join("shut/key");
    scratch.write("shut/key", "x\n");
    scratch.git(&["add", "shut"]);
    set_mode(&key, 0o600);
    bound(&scratch, &["checkpoint", "create", "c"]);
    set_mode(&key, 0o644);
    scratch.write("a.txt", "edited\n");
    bound(&scratch, &["rollback", "checkpoint", "c", "--yes"]);
    set_mode(key.parent().unwrap(), 0);
    for how in ["--dry-run", "--yes"] {
        assert_eq!(bound(&scratch, &["undo", how])["permissions"], json!([]));
    }
    set_mode(key.parent().unwrap(), 0o755);
    assert_eq!((scratch.read("a.txt").as_str(), key.metadata().unwrap().permissions().mode() & 0o777), ("edited\n", 0o600));
}

#[test]
fn a_rollback_leaves_what_git_ignores_by_now_and_is_closed() {
    for (closed, file) in PLACES {
        let scratch = Scratch::new();
        let root = scratch.path();
        scratch.write(file, "x\n");
        bound(&scratch, &["checkpoint", "create", "c"]);
        scratch.write(".git/info/exclude", format!("/{closed}\n"));
        scratch.write(file, "newer\n");
        scratch.write("a.txt", "edited\n");
        set_mode(&root.join(closed), 0);
        for how in ["--dry-run", "--yes"] {
            assert_eq!(left(&bound(&scratch, &["restore", "c", how, "--", file])), [closed], "{how} {file}");
            assert_eq!(left(&bound(&scratch, &["rollback", "checkpoint", "c", how])), [closed]);
        }
        set_mode(&root.join(closed), 0o755);
        assert_eq!((scratch.read("a.txt").as_str(), scratch.read(file).as_str()), ("a\n", "newer\n"));
    }
}

#[test]
fn a_submodule_that_cannot_be_entered_is_left_and_named() {
    let scratch = Scratch::new();
    let folder = scratch.path().join("deep/lib");
    let file = folder.join("l.txt");
    scratch.git(&["init", "-q", "../lib"]);
    scratch.git(&["-C", "../lib", "commit", "-q", "--allow-empty", "-m", "one"]);
    scratch.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", "../lib", "deep/lib"]);
    std::fs::write(&file, "then\n").unwrap();
    bound(&scratch, &["checkpoint", "create", "c"]);
    for closed in ["deep", "deep/lib"] {
        let shut = |mode| set_mode(&scratch.path().join(closed), mode);
        let texts = || (scratch.read("a.txt"), std::fs::read_to_string(&file).unwrap());
        let edit = || {
            std::fs::write(&file, "now\n").unwrap();
            scratch.write("a.txt", "edited\n");
        };
        edit();
        shut(0);
        let said = bound(&scratch, &["rollback", "checkpoint", "c", "--yes"]);
        assert!(left(&said).contains(&"deep/lib"), "{said}");
        shut(0o755);
        assert_eq!(texts(), ("a\n".to_owned(), "now\n".to_owned()), "{closed}");
        edit();
        bound(&scratch, &["rollback", "checkpoint", "c", "--yes"]);
        shut(0);
        assert_eq!(bound(&scratch, &["undo", "--yes"])["unread"], json!([folder.to_str().unwrap()]));
        shut(0o755);
        assert_eq!(texts(), ("edited\n".to_owned(), "then\n".to_owned()), "{closed}");
    }
}

#[test]
fn what_was_closed_since_a_crash_keeps_nothing_else_from_being_put_back() {
    let scratch = Scratch::new();
    let shut = scratch.path().join("shut");
    scratch.git(&["init", "-q", "../lib"]);
    scratch.git(&["-C", "../lib", "commit", "-q", "--allow-empty", "-m", "one"]);
    scratch.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", "../lib", "lib"]);
    ["shut/key", "lib/l.txt"].iter().for_each(|path| scratch.write(path, "then\n"));
    bound(&scratch, &["checkpoint", "create", "c"]);
    ["shut/key", "lib/l.txt", "a.txt"].iter().for_each(|path| scratch.write(path, "now\n"));
    let mut killed = scratch.bound_by_permissions();
    killed.args(["rollback", "checkpoint", "c", "--yes"]).env("AXIOM_TEST_FAULT", "journal.before-submodule:1");
    assert!(killed.output().unwrap().status.code().is_none() && scratch.read("a.txt") == "a\n");
    let closed = [shut.clone(), scratch.path().join("lib")];
    closed.iter().for_each(|place| set_mode(place, 0));
    let said = bound(&scratch, &["rollback", "--abort"]).to_string();
    assert!(said.contains("shut/key") && said.contains("/lib'"), "{said}");
    assert_eq!(scratch.read("a.txt"), "now\n");
    closed.iter().for_each(|place| set_mode(place, 0o755));
    assert_eq!((scratch.read("shut/key").as_str(), scratch.read("lib/l.txt").as_str()), ("then\n", "now\n"));
}
