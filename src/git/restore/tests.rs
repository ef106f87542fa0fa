//! Captures and restores of random worktrees, and crashes in the middle.
#![allow(clippy::disallowed_methods)]

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use axiom_base::error::Code;
use axiom_model::base::names::{Oid, RepoPath};

use crate::base::flat_name::flat_name;
use crate::repo::scratch::{ScratchRepository, crash_child_of, git_at};
use crate::{CaptureExtras, CaptureOptions, ChangeAttempt, Repository, RestoreReport, Worktree, WorktreeRestore};

#[derive(Debug, Clone)]
enum Thing {
    File(u8, bool),
    Link(u8),
}

/// Few names, so that files, folders and links change places often; one of them is not UTF-8.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let part = prop::sample::select(vec![&b"a"[..], b"b\xff", b"c \"\n", b"d\\"]);
    prop::collection::vec(part, 1..4).prop_map(|parts| parts.join(&b'/'))
}

fn thing() -> impl Strategy<Value = Thing> {
    prop_oneof![(0..4_u8, any::<bool>()).prop_map(|(c, x)| Thing::File(c, x)), (0..3_u8).prop_map(Thing::Link)]
}

fn things() -> impl Strategy<Value = Vec<(Vec<u8>, Thing)>> {
    prop::collection::vec((name(), thing()), 0..8)
}

fn put(root: &Path, things: &[(Vec<u8>, Thing)]) {
    for entry in std::fs::read_dir(root).unwrap().map(Result::unwrap) {
        if entry.file_name() != ".git" {
            if entry.file_type().unwrap().is_dir() {
                std::fs::remove_dir_all(entry.path()).unwrap();
            } else {
                std::fs::remove_file(entry.path()).unwrap();
            }
        }
    }
    for (name, thing) in things {
        let path = root.join(std::ffi::OsStr::from_bytes(name));
        // What does not fit what is there already is left out.
        if std::fs::create_dir_all(path.parent().unwrap()).is_err() || path.symlink_metadata().is_ok() {
            continue;
        }
        match thing {
            Thing::File(content, executable) => {
                std::fs::write(&path, [b'0' + content, b'\n']).unwrap();
                let mode = if *executable { 0o755 } else { 0o644 };
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            }
            Thing::Link(target) => symlink(["a", "nowhere", ".."][usize::from(*target)], &path).unwrap(),
        }
    }
}

fn tree_of(repo: &Repository, worktree: &Worktree) -> Oid {
    let options =
        CaptureOptions { max_file_size: 1 << 20, excluded: vec![RepoPath::new(&b".worktrees"[..])], ..Default::default() };
    let tree = repo.captures().capture_worktree(worktree, &options).unwrap().tree;
    repo.durability().sync_objects().unwrap();
    tree
}

fn restore(scratch: &ScratchRepository, from: &Oid, to: &Oid, trash: &Path) -> axiom_base::error::Result<RestoreReport> {
    let (repo, worktree) = (scratch.repo(), scratch.main());
    repo.restore().restore_files(&WorktreeRestore {
        worktree: &worktree,
        from,
        to,
        trash,
        attempt: ChangeAttempt::First,
        beside: None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_restore_brings_back_exactly_what_was_captured(one in things(), two in things(), prepared in any::<bool>()) {
        let scratch = ScratchRepository::empty(&[]);
        let (repo, main) = (scratch.repo(), scratch.main());
        put(&scratch.path(), &one);
        if prepared {
            scratch.git(&["add", "-A"]);
        }
        let first = tree_of(&repo, &main);
        put(&scratch.path(), &two);
        let second = tree_of(&repo, &main);
        let trash = scratch.path().join(".git/trash");
        let report = restore(&scratch, &second, &first, &trash.join("1")).unwrap();
        prop_assert_eq!(&tree_of(&repo, &main), &first);
        prop_assert!(report.moved_aside.is_empty());
        // Again: nothing to do. Backwards: as before.
        let again = restore(&scratch, &second, &first, &trash.join("1")).unwrap();
        prop_assert!(again.written.is_empty(), "{:?}", again);
        restore(&scratch, &first, &second, &trash.join("2")).unwrap();
        prop_assert_eq!(&tree_of(&repo, &main), &second);
    }
}

#[test]
fn a_link_and_a_folder_change_places_and_no_link_in_the_trash_is_followed() {
    let (link, folder) = ((b"a".to_vec(), Thing::Link(0)), (b"a/a".to_vec(), Thing::File(0, false)));
    for (one, two) in [(&link, &folder), (&folder, &link)] {
        let scratch = ScratchRepository::empty(&[]);
        let (repo, main) = (scratch.repo(), scratch.main());
        let trees = [one, two].map(|thing| {
            put(&scratch.path(), std::slice::from_ref(thing));
            tree_of(&repo, &main)
        });
        let trash = scratch.path().join(".git/trash");
        for (number, (from, to)) in [(1, 0), (0, 1)].into_iter().enumerate() {
            restore(&scratch, &trees[from], &trees[to], &trash.join(number.to_string())).unwrap();
            assert_eq!(tree_of(&repo, &main), trees[to]);
        }
    }
}

/// A repository, the trees before and after, and where the trash is: with every kind of change.
fn prepared() -> (ScratchRepository, Oid, Oid, PathBuf) {
    let scratch = ScratchRepository::new(&[]);
    let (repo, main) = (scratch.repo(), scratch.main());
    scratch.write("swap/x", b"in a folder\n");
    scratch.write("deleted", b"deleted\n");
    let wanted = tree_of(&repo, &main);
    scratch.write("a.txt", b"changed\n");
    std::fs::remove_dir_all(scratch.path().join("swap")).unwrap();
    scratch.write("swap", b"a file\n");
    std::fs::remove_file(scratch.path().join("deleted")).unwrap();
    scratch.write("deep/new/file", b"new\n");
    let now = tree_of(&repo, &main);
    let trash = scratch.path().join(".git/axiom/trash/t1");
    (scratch, now, wanted, trash)
}

#[test]
fn an_edit_after_the_capture_stops_everything_before_the_first_change() {
    let (scratch, now, wanted, trash) = prepared();
    scratch.write("a.txt", b"edited by somebody\n");
    let error = restore(&scratch, &now, &wanted, &trash).unwrap_err();
    assert_eq!(error.code(), Code::ChangedMeanwhile);
    assert!(error.to_string().contains("a.txt"), "{error}");
    assert_eq!(scratch.read("a.txt"), "edited by somebody\n");
    assert_eq!(scratch.read("swap"), "a file\n");
    assert!(!scratch.path().join("deleted").exists());
}

#[test]
fn ignored_files_in_the_way_go_to_the_trash_and_are_reported() {
    let scratch = ScratchRepository::new(&[]);
    let (repo, main) = (scratch.repo(), scratch.main());
    scratch.write("out", b"a tracked file\n");
    scratch.write("secret", b"from the capture\n");
    scratch.write("f/g", b"from the capture\n");
    let wanted = tree_of(&repo, &main);
    for path in ["out", "secret", "f/g"] {
        std::fs::remove_file(scratch.path().join(path)).unwrap();
    }
    std::fs::remove_dir(scratch.path().join("f")).unwrap();
    scratch.write(".git/info/exclude", b"/out/\n/secret\n/f\n");
    scratch.write("out/cache", b"ignored 1");
    scratch.write("secret", b"ignored 2");
    scratch.write("f", b"ignored 3");
    let now = tree_of(&repo, &main);
    let trash = scratch.path().join(".git/axiom/trash/t1");
    let report = restore(&scratch, &now, &wanted, &trash).unwrap();
    assert_eq!(scratch.read("out"), "a tracked file\n");
    assert_eq!(scratch.read("f/g"), "from the capture\n");
    let mut saved: Vec<String> = Vec::new();
    for moved in &report.moved_aside {
        let file = if moved.now_at.is_dir() { moved.now_at.join("cache") } else { moved.now_at.clone() };
        saved.push(std::fs::read_to_string(file).unwrap());
    }
    saved.sort();
    assert_eq!(saved, ["ignored 1", "ignored 2", "ignored 3"]);
}

#[test]
fn a_folder_with_ignored_content_survives_the_removal_of_its_tracked_files() {
    let scratch = ScratchRepository::new(&[]);
    let (repo, main) = (scratch.repo(), scratch.main());
    let wanted = tree_of(&repo, &main);
    scratch.write(".git/info/exclude", b"*.log\n");
    scratch.write("deep/er/file", b"untracked");
    scratch.write("deep/x.log", b"ignored");
    let now = tree_of(&repo, &main);
    restore(&scratch, &now, &wanted, &scratch.path().join(".git/t")).unwrap();
    assert_eq!(scratch.read("deep/x.log"), "ignored");
    assert!(!scratch.path().join("deep/er").exists());
}

#[test]
fn a_link_that_replaced_a_folder_is_not_followed() {
    let (scratch, now, wanted, trash) = prepared();
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(outside.path().join("new")).unwrap();
    std::fs::write(outside.path().join("new/file"), b"new\n").unwrap();
    std::fs::remove_dir_all(scratch.path().join("deep")).unwrap();
    symlink(outside.path(), scratch.path().join("deep")).unwrap();
    restore(&scratch, &now, &wanted, &trash).unwrap();
    assert_eq!(std::fs::read(outside.path().join("new/file")).unwrap(), b"new\n");
}

#[test]
fn filters_of_the_wanted_tree_apply() {
    let scratch = ScratchRepository::new(&[]);
    let (repo, main) = (scratch.repo(), scratch.main());
    scratch.write(".gitattributes", b"*.dos text eol=crlf\n");
    scratch.write("x.dos", b"one\r\ntwo\r\n");
    let wanted = tree_of(&repo, &main);
    assert_eq!(scratch.git(&["show", &format!("{wanted}:x.dos")]), "one\ntwo");
    std::fs::remove_file(scratch.path().join(".gitattributes")).unwrap();
    scratch.write("x.dos", b"other\n");
    let now = tree_of(&repo, &main);
    restore(&scratch, &now, &wanted, &scratch.path().join(".git/t1")).unwrap();
    assert_eq!(scratch.read("x.dos"), "one\r\ntwo\r\n");
    restore(&scratch, &wanted, &now, &scratch.path().join(".git/t2")).unwrap();
    assert_eq!(scratch.read("x.dos"), "other\n");
}

#[test]
fn a_linked_worktree_is_restored_from_any_folder() {
    let scratch = ScratchRepository::new(&[]);
    let linked = scratch.path().join(".worktrees/w");
    scratch.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let repo = Repository::discover(&linked.join("sub")).unwrap().isolated();
    let worktree = repo.worktrees().current_worktree().unwrap();
    let wanted = tree_of(&repo, &worktree);
    std::fs::write(linked.join("a.txt"), b"agent\n").unwrap();
    let now = tree_of(&repo, &worktree);
    let trash = scratch.path().join(".worktrees/trash/t1");
    repo.restore()
        .restore_files(&WorktreeRestore {
            worktree: &worktree,
            from: &now,
            to: &wanted,
            trash: &trash,
            attempt: ChangeAttempt::First,
            beside: None,
        })
        .unwrap();
    assert_eq!(std::fs::read(linked.join("a.txt")).unwrap(), b"a\n");
    assert_eq!(git_at(&linked, &["status", "--porcelain"]), "");
}

/// Runs as a process of its own in the crash test; does nothing otherwise.
#[test]
fn crash_child() {
    let Some(arguments) = axiom_base::env::var("AXIOM_TEST_RESTORE").and_then(|text| text.into_string().ok()) else { return };
    let parts: Vec<&str> = arguments.split('|').collect();
    let [root, from, to, trash] = parts[..] else { panic!("{arguments}") };
    let repo = Repository::discover(Path::new(root)).unwrap().isolated();
    let worktree = repo.worktrees().main_worktree().unwrap();
    let (from, to) = (Oid::new(from).unwrap(), Oid::new(to).unwrap());
    repo.restore()
        .restore_files(&WorktreeRestore {
            worktree: &worktree,
            from: &from,
            to: &to,
            trash: Path::new(trash),
            attempt: ChangeAttempt::First,
            beside: None,
        })
        .unwrap();
}

#[test]
fn a_crash_at_every_fault_point_is_finished_or_reversed() {
    let points = [
        "git.restore-begin:1",
        "git.restore-before-trash:1",
        "git.restore-before-trash:3",
        "git.restore-in-trash:1",
        "git.restore-in-trash:2",
        "git.restore-in-trash:3",
        "git.restore-placed:1",
        "git.restore-placed:2",
        "git.restore-before-sync:1",
    ];
    for point in points {
        for forwards in [true, false] {
            let (scratch, now, wanted, trash) = prepared();
            let root = scratch.path();
            let arguments = format!("{}|{now}|{wanted}|{}", root.display(), trash.display());
            let child = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", &crash_child_of(module_path!()), "-q"])
                .env("AXIOM_TEST_RESTORE", arguments)
                .env("AXIOM_TEST_FAULT", point)
                .output()
                .unwrap();
            assert!(!child.status.success(), "{point} was not reached");
            let (from, to) = if forwards { (&now, &wanted) } else { (&wanted, &now) };
            let attempt = if forwards { ChangeAttempt::Again } else { ChangeAttempt::Back };
            let (repo, worktree) = (scratch.repo(), scratch.main());
            let report = repo
                .restore()
                .restore_files(&WorktreeRestore { worktree: &worktree, from, to, trash: &trash, attempt, beside: None })
                .unwrap();
            assert_eq!(report.left, [], "{point}");
            assert_eq!(tree_of(&scratch.repo(), &scratch.main()), *to, "{point}, forwards: {forwards}");
        }
    }
}

#[test]
fn a_file_that_becomes_private_after_the_contents_were_prepared_stays_private() {
    let (scratch, now, wanted, trash) = prepared();
    let (repo, worktree) = (scratch.repo(), scratch.main());
    let (from, to) = (&now, &wanted);
    let restore = WorktreeRestore { worktree: &worktree, from, to, trash: &trash, attempt: ChangeAttempt::First, beside: None };
    let ready = repo.restore().prepare_restore(&restore).unwrap();
    let place = scratch.path().join("a.txt");
    std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o600)).unwrap();
    repo.restore().restore_prepared(&restore, Some(&ready)).unwrap();
    assert_eq!(scratch.read("a.txt"), "a\n");
    assert_eq!(place.metadata().unwrap().mode() & 0o777, 0o600);
}

#[test]
fn staged_and_trashed_files_need_no_folders_of_their_own() {
    let (scratch, now, wanted, trash) = prepared();
    restore(&scratch, &now, &wanted, &trash).unwrap();
    let names = |folder: &Path| {
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect::<std::collections::BTreeSet<String>>()
    };
    assert_eq!(names(&trash).into_iter().collect::<Vec<_>>(), ["found-0"]);
    let flat = |path: &str| flat_name(&RepoPath::new(path.as_bytes())).unwrap();
    assert_eq!(names(&trash.join("found-0")), ["a.txt", "swap", "deep/new/file"].map(flat).into());
}

#[test]
fn permissions_that_cannot_be_kept_stop_a_restore_before_anything_moves_and_never_its_way_back() {
    let scratch = ScratchRepository::new(&[]);
    let from = Oid::new(scratch.git(&["rev-parse", "HEAD^{tree}"])).unwrap();
    scratch.write("a.txt", b"then\n");
    scratch.git(&["add", "-A"]);
    let to = Oid::new(scratch.git(&["write-tree"])).unwrap();
    scratch.write("a.txt", b"a\n");
    let blob = scratch.git(&["hash-object", "-w", "a.txt"]);
    // A longer name than there can be.
    let name = format!("user.{}", "x".repeat(300));
    let attributes = serde_json::json!([{"name": name, "oid": blob}]);
    let then = serde_json::json!({"modes": [{"path": "a.txt", "mode": 0o644, "attributes": attributes}]});
    let (now, then): (_, CaptureExtras) = (CaptureExtras::default(), serde_json::from_value(then).unwrap());
    let (repo, worktree, trash) = (scratch.repo(), scratch.main(), scratch.path().parent().unwrap().join("trash"));
    let beside = Some(axiom_model::base::text::ValueChange::new(&now, &then));
    let restore =
        WorktreeRestore { worktree: &worktree, from: &from, to: &to, trash: &trash, attempt: ChangeAttempt::First, beside };
    let error = repo.restore().restore_files(&restore).unwrap_err();
    assert_eq!((error.code(), scratch.read("a.txt").as_str()), (Code::PermissionsLost, "a\n"), "{error}");
    assert!(error.what().contains("a.txt") && !trash.join("found-0").exists());
    repo.restore().restore_files(&WorktreeRestore { attempt: ChangeAttempt::Back, ..restore }).unwrap();
    assert_eq!(scratch.read("a.txt"), "then\n");
    assert_eq!(scratch.path().join("a.txt").metadata().unwrap().permissions().mode() & 0o777, 0o600, "its owner's alone");
}
