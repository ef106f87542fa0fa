//! Permissions narrower than usual: a secret never comes back readable by all.

use std::os::unix::fs::PermissionsExt;

use crate::support::Scratch;

fn chmod(scratch: &Scratch, path: &str, mode: u32) {
    std::fs::set_permissions(scratch.path().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(scratch: &Scratch, path: &str) -> u32 {
    scratch.path().join(path).symlink_metadata().unwrap().permissions().mode() & 0o777
}

/// Secrets: untracked, in a private folder, tracked; `split` makes git itself do the capture.
fn with_secrets(split: bool) -> Scratch {
    let scratch = Scratch::new();
    if split {
        scratch.git(&["update-index", "--split-index"]);
    }
    scratch.write("key", "secret\n");
    scratch.write("private/key", "secret\n");
    scratch.write("run", "#!/bin/sh\n");
    chmod(&scratch, "key", 0o600);
    chmod(&scratch, "private", 0o700);
    chmod(&scratch, "run", 0o750);
    scratch.write("sub/b.txt", "secret by now\n");
    chmod(&scratch, "sub/b.txt", 0o640);
    scratch
}

#[test]
fn what_was_private_comes_back_private_and_so_does_the_undo() {
    for split in [false, true] {
        let scratch = with_secrets(split);
        let modes = |scratch: &Scratch| ["key", "private", "run", "sub/b.txt"].map(|path| mode(scratch, path));
        let before = modes(&scratch);
        scratch.axiom(&["checkpoint", "create", "safe"]);
        scratch.remove("key");
        std::fs::remove_dir_all(scratch.path().join("private")).unwrap();
        scratch.remove("run");
        scratch.remove("sub/b.txt");
        scratch.write("later", "secret\n");
        chmod(&scratch, "later", 0o600);
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(modes(&scratch), before, "split: {split}");
        assert!(!scratch.has("later"));
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(mode(&scratch, "later"), 0o600);
        scratch.axiom(&["redo", "--yes"]);
        assert_eq!(modes(&scratch), before, "split: {split}");
    }
}

#[test]
fn what_was_opened_since_is_closed_again_and_what_was_closed_since_stays_closed() {
    let scratch = with_secrets(false);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    chmod(&scratch, "key", 0o644);
    scratch.write("a.txt", "changed\n");
    chmod(&scratch, "a.txt", 0o600);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!((mode(&scratch, "key"), mode(&scratch, "a.txt")), (0o600, 0o600));
    assert_eq!(scratch.read("a.txt"), "a\n");
}

#[test]
fn a_tracked_file_that_was_private_is_private_again() {
    let scratch = Scratch::new();
    chmod(&scratch, "a.txt", 0o600);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.remove("a.txt");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(mode(&scratch, "a.txt"), 0o600);
}
