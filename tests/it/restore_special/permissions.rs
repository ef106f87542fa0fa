//! ACLs, attributes of the user's and modes: what a capture holds of them is put back, and what a restore replaces hands its
//! own to what takes its place. Nothing is ever more open than it was.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use crate::support::Scratch;

const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";

/// Mode, ACLs and attributes of the user's.
type Said = (u32, BTreeMap<String, Vec<u8>>);

fn set(place: &Path, name: &str, value: &[u8]) {
    rustix::fs::setxattr(place, name, value, rustix::fs::XattrFlags::empty()).unwrap();
}

fn said(place: &Path) -> Said {
    let mut names = vec![0_u8; 4096];
    let length = rustix::fs::llistxattr(place, &mut names[..]).unwrap();
    let names = names[..length].split(|byte| *byte == 0).map(|name| String::from_utf8_lossy(name).into_owned());
    let ours = names.filter(|name| name.starts_with("user.") || name.starts_with("system.posix_acl"));
    let value = |name: String| {
        let mut value = vec![0_u8; 65536];
        let length = rustix::fs::lgetxattr(place, &name, &mut value[..]).unwrap();
        value.truncate(length);
        (name, value)
    };
    (place.symlink_metadata().unwrap().permissions().mode() & 0o777, ours.map(value).collect())
}

/// An ACL in the kernel's form: the owner may read and write, one more user may read, the group nothing.
fn acl(bits_of_owner: u16) -> Vec<u8> {
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, bits, id) in
        [(0x01_u16, bits_of_owner, u32::MAX), (0x02, 4, 1234), (0x04, 0, u32::MAX), (0x10, 4, u32::MAX), (0x20, 0, u32::MAX)]
    {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(bits.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

fn chmod(scratch: &Scratch, path: &str, mode: u32) {
    std::fs::set_permissions(scratch.path().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Untracked, dirty and in a folder of its own; `split` makes git itself do the capture.
fn with_acls(split: bool) -> Scratch {
    let scratch = Scratch::new();
    if split {
        scratch.git(&["update-index", "--split-index"]);
    }
    for (path, text) in [("key", "secret\n"), ("locked", "l\n"), ("private/key", "secret\n"), ("a.txt", "dirty\n")] {
        scratch.write(path, text);
    }
    let place = |path: &str| scratch.path().join(path);
    set(&place("key"), ACCESS, &acl(6));
    set(&place("key"), "user.note", b"mine\0\xff");
    set(&place("private"), DEFAULT, &acl(7));
    set(&place("private"), ACCESS, &acl(7));
    set(&place("a.txt"), ACCESS, &acl(6));
    set(&place("private/key"), "user.empty", b"");
    chmod(&scratch, "locked", 0o444);
    scratch
}

const PATHS: [&str; 5] = ["key", "locked", "private", "private/key", "a.txt"];

fn all(scratch: &Scratch, paths: &[&str]) -> Vec<Option<Said>> {
    let of = |path: &&str| scratch.has(path).then(|| said(&scratch.path().join(path)));
    paths.iter().map(of).collect()
}

#[test]
fn what_was_captured_is_put_back_and_what_is_replaced_hands_its_own_on() {
    for split in [false, true] {
        let scratch = with_acls(split);
        let before = all(&scratch, &PATHS);
        scratch.axiom(&["checkpoint", "create", "safe"]);
        for path in ["key", "locked", "private/key", "a.txt"] {
            scratch.remove(path);
        }
        std::fs::remove_dir(scratch.path().join("private")).unwrap();
        scratch.write("a.txt", "later\n");
        // Of this one the checkpoint holds nothing.
        scratch.write("sub/b.txt", "later\n");
        set(&scratch.path().join("sub/b.txt"), ACCESS, &acl(6));
        set(&scratch.path().join("sub/b.txt"), "user.b", b"b");
        scratch.write("new/later", "n\n");
        set(&scratch.path().join("new/later"), "user.later", b"l");
        set(&scratch.path().join("new"), ACCESS, &acl(7));
        let more = [&PATHS[..], &["sub/b.txt", "new", "new/later"]].concat();
        let wrecked = all(&scratch, &more);

        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        let after = all(&scratch, &more);
        assert_eq!(after[..PATHS.len()], before, "split: {split}");
        assert_eq!((scratch.read("sub/b.txt").as_str(), &after[5]), ("b\n", &wrecked[5]), "handed on");
        assert_eq!(after[6..], [None, None]);
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(all(&scratch, &more), wrecked, "split: {split}");
        scratch.axiom(&["redo", "--yes"]);
        assert_eq!(all(&scratch, &more), after, "split: {split}");
        scratch.fsck();
    }
}

#[test]
fn where_nothing_else_differs_permissions_are_named_and_go_back_alone() {
    let scratch = with_acls(false);
    let before = all(&scratch, &PATHS);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    rustix::fs::removexattr(scratch.path().join("key"), ACCESS).unwrap();
    chmod(&scratch, "key", 0o644);
    chmod(&scratch, "locked", 0o600);
    set(&scratch.path().join("private/key"), "user.empty", b"not any more");
    let opened = all(&scratch, &PATHS);
    let told = scratch.json(&["rollback", "checkpoint", "safe", "--dry-run"]);
    let paths: Vec<&str> = told["permissions"].as_array().unwrap().iter().map(|line| line["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["key", "locked", "private/key"]);
    assert!(told["files"].as_array().unwrap().is_empty());
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(all(&scratch, &PATHS), before);
    // What somebody does to others since is theirs.
    set(&scratch.path().join("a.txt"), "user.since", b"s");
    scratch.axiom(&["undo", "--yes"]);
    let undone = all(&scratch, &PATHS);
    assert_eq!(undone[..4], opened[..4]);
    assert!(undone[4].as_ref().unwrap().1.contains_key("user.since"));
}

#[test]
fn nothing_is_more_open_than_it_was_at_any_moment() {
    for number in 1..=5 {
        let scratch = with_acls(false);
        let before = all(&scratch, &PATHS);
        scratch.axiom(&["checkpoint", "create", "safe"]);
        scratch.remove("private/key");
        std::fs::remove_dir(scratch.path().join("private")).unwrap();
        for path in ["key", "locked", "a.txt"] {
            scratch.remove(path);
        }
        scratch.write("a.txt", "later\n");
        let fault = format!("git.restore-placed:{number}");
        let output = scratch.axiom_with(&["rollback", "checkpoint", "safe", "--yes"], &[("AXIOM_TEST_FAULT", &fault)]);
        assert!(number > 1 || output.status.signal() == Some(9), "{fault} was not reached");
        let there = all(&scratch, &PATHS);
        for (place, path) in PATHS.iter().enumerate() {
            let is_new = scratch.has(path) && (*path == "private" || scratch.read(path) != "later\n");
            assert!(!is_new || there[place] == before[place], "{path} after {number}: {:?}", there[place]);
        }
        if !output.status.success() {
            scratch.axiom(&["rollback", "--continue"]);
        }
        assert_eq!(all(&scratch, &PATHS), before, "{number}");
    }
}

#[test]
fn a_merge_and_its_undo_hand_an_acl_on() {
    let scratch = Scratch::new();
    scratch.open_task("task-1");
    std::fs::write(scratch.workspace("task-1").join("a.txt"), "merged\n").unwrap();
    scratch.finish_task("task-1");
    set(&scratch.path().join("a.txt"), ACCESS, &acl(6));
    set(&scratch.path().join("a.txt"), "user.note", b"n");
    chmod(&scratch, "sub", 0o755);
    let before = all(&scratch, &["a.txt"]);
    scratch.axiom(&["merge", "task-1"]);
    assert_eq!((scratch.read("a.txt").as_str(), all(&scratch, &["a.txt"])), ("merged\n", before.clone()));
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!((scratch.read("a.txt").as_str(), all(&scratch, &["a.txt"])), ("a\n", before));
}

#[test]
fn a_file_that_comes_into_a_folder_gets_what_one_made_there_would() {
    let scratch = Scratch::new();
    set(&scratch.path().join("sub"), DEFAULT, &acl(7));
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.remove("sub/b.txt");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    scratch.write("sub/made", "m\n");
    assert_eq!(all(&scratch, &["sub/b.txt"]), all(&scratch, &["sub/made"]));
}

#[test]
fn a_checkpoint_of_known_paths_holds_them_too() {
    let scratch = with_acls(false);
    scratch.axiom(&["checkpoint", "create", "base"]);
    scratch.write("more", "m\n");
    set(&scratch.path().join("more"), "user.more", b"m");
    set(&scratch.path().join("key"), "user.unnamed", b"not looked at");
    let more = [&PATHS[..], &["more"]].concat();
    let now = all(&scratch, &more);
    scratch.axiom(&["checkpoint", "create", "named", "--only", "more"]);
    for path in ["key", "locked", "private/key", "a.txt", "more"] {
        scratch.remove(path);
    }
    scratch.axiom(&["rollback", "checkpoint", "named", "--yes"]);
    let back = all(&scratch, &more);
    assert_eq!(back[1..], now[1..]);
    assert!(!back[0].as_ref().unwrap().1.contains_key("user.unnamed"), "as of the checkpoint that it is built on");
}

#[test]
fn what_the_file_system_has_not_or_refuses_is_found_before_anything_is_changed() {
    let scratch = with_acls(false);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.remove("key");
    scratch.write("a.txt", "since\n");
    let before = all(&scratch, &PATHS);
    // Not there at all, as on exFAT; and there, but this one cannot be set, which only trying tells.
    for (refuse, last) in
        [("files.attributes:95", "--dry-run"), ("files.attributes:95", "--yes"), ("files.attributes:1:5+", "--yes")]
    {
        let output = scratch.axiom_with(&["rollback", "checkpoint", "safe", last], &[("AXIOM_TEST_REFUSE", refuse)]);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(words.contains("error[PERMISSIONS_LOST]"), "{refuse} {last}: {words}");
        assert!(!words.contains("everything was put back"), "it had begun: {words}");
        assert_eq!((output.status.code(), all(&scratch, &PATHS)), (Some(4), before.clone()), "{refuse} {last}");
    }
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert!(scratch.has("key"));
}

/// Owner, group and mode.
fn owner(scratch: &Scratch, path: &str) -> (u32, u32, u32) {
    use std::os::unix::fs::MetadataExt;
    let meta = scratch.path().join(path).symlink_metadata().unwrap();
    (meta.uid(), meta.gid(), meta.mode() & 0o7777)
}

fn chown(scratch: &Scratch, path: &str, uid: u32, gid: u32) {
    std::os::unix::fs::lchown(scratch.path().join(path), Some(uid), Some(gid)).unwrap();
}

#[test]
fn what_is_replaced_hands_owner_and_group_on_where_root_may_give_them() {
    if !rustix::process::geteuid().is_root() {
        return crate::skipped::skipped("only root gives files away");
    }
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("a.txt", "since\n");
    scratch.write("staged.txt", "since\n");
    chown(&scratch, "a.txt", 1234, 5678);
    chmod(&scratch, "a.txt", 0o640);
    chown(&scratch, "staged.txt", 0, 5678);
    for (verb, text) in [("rollback checkpoint safe", "a\n"), ("undo", "since\n"), ("redo", "a\n")] {
        let args: Vec<&str> = verb.split(' ').chain(["--yes"]).collect();
        scratch.axiom(&args);
        assert_eq!(scratch.read("a.txt"), text);
        assert_eq!(owner(&scratch, "a.txt"), (1234, 5678, 0o640), "{verb}");
        assert_eq!(owner(&scratch, "staged.txt"), (0, 5678, 0o644), "{verb}");
    }
}

#[test]
fn another_user_hands_a_group_on_that_he_is_in_and_is_refused_where_another_would_get_its_rights() {
    const USER: u32 = 65_534;
    const HIS: u32 = 5678;
    const OTHERS: u32 = 6789;
    if !rustix::process::geteuid().is_root() {
        return crate::skipped::skipped("only root gives files away");
    }
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    for path in ["a.txt", "staged.txt", "sub/b.txt"] {
        scratch.write(path, "since\n");
    }
    let top = scratch.path().parent().unwrap().to_owned();
    for entry in walkdir::WalkDir::new(&top).into_iter().map(Result::unwrap) {
        std::os::unix::fs::lchown(entry.path(), Some(USER), Some(USER)).unwrap();
    }
    // Where only root may go, nobody else finds the program.
    let program = crate::common::copy_of_program(&top);
    let axiom = |args: &[&str]| {
        let mut command = scratch.command("setpriv");
        let (user, group) = (format!("--reuid={USER}"), format!("--regid={USER}"));
        command.args([&user, &group, &format!("--groups={HIS}")]).arg(&program).args(args);
        command.output().unwrap()
    };
    chown(&scratch, "a.txt", USER, HIS);
    chmod(&scratch, "a.txt", 0o640);
    // Everybody may what this group may: it is nobody's loss.
    chown(&scratch, "staged.txt", USER, OTHERS);
    chmod(&scratch, "staged.txt", 0o644);
    chown(&scratch, "sub/b.txt", USER, OTHERS);
    chmod(&scratch, "sub/b.txt", 0o640);
    for last in ["--dry-run", "--yes"] {
        let output = axiom(&["rollback", "checkpoint", "safe", last]);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(words.contains("error[PERMISSIONS_LOST]") && words.contains("sub/b.txt"), "{last}: {words}");
        assert!(!words.contains("a.txt") && !words.contains("put back\n"), "{last}: {words}");
        assert_eq!((output.status.code(), scratch.read("a.txt").as_str()), (Some(4), "since\n"), "{last}");
    }
    chmod(&scratch, "sub/b.txt", 0o600);
    let output = axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(owner(&scratch, "a.txt"), (USER, HIS, 0o640));
    assert_eq!(owner(&scratch, "staged.txt"), (USER, USER, 0o644));
    assert_eq!(owner(&scratch, "sub/b.txt"), (USER, USER, 0o600));
}

#[test]
fn a_file_that_comes_into_a_folder_of_a_group_is_that_group_s() {
    if !rustix::process::geteuid().is_root() {
        return crate::skipped::skipped("only root gives files away");
    }
    let scratch = Scratch::new();
    chown(&scratch, "sub", 0, 5678);
    chmod(&scratch, "sub", 0o2775);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.remove("sub/b.txt");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(owner(&scratch, "sub/b.txt"), (0, 5678, 0o644));
}
