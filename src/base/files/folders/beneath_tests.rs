//! Deleting stays below the folder that was opened: links, mounts, permissions, depth, with `openat2` and without it.
#![allow(clippy::disallowed_methods)]

use std::ffi::OsStr;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::error::{Code, Error, Result};

use crate::files::DeletionFolder;
use crate::files::bound::bound_by_permissions;
use crate::platform::SYSTEM;

/// The folder for the tests that mount something, which run in a process and a namespace of their own.
const PLACE: &str = "AXIOM_TEST_BENEATH";

fn open(folder: &Path) -> [DeletionFolder; 2] {
    let open = || DeletionFolder::at(folder).unwrap().unwrap();
    [open(), open().by_looking()]
}

fn both_ways(test: impl Fn(&Path, &DeletionFolder)) {
    for way in 0..2 {
        let dir = tempfile::tempdir().unwrap();
        let folders = open(dir.path());
        test(dir.path(), &folders[way]);
    }
}

fn remove(folder: &DeletionFolder, name: &str) -> Result<()> {
    folder.remove(OsStr::new(name))
}

#[test]
fn links_go_and_what_they_lead_to_stays() {
    both_ways(|dir, folder| {
        std::fs::create_dir_all(dir.join("e/deep")).unwrap();
        std::fs::create_dir(dir.join("other")).unwrap();
        std::fs::write(dir.join("other/mine"), "mine").unwrap();
        for link in ["e/link", "e/deep/link", "alone"] {
            symlink(dir.join("other"), dir.join(link)).unwrap();
        }
        symlink(dir.join("other/mine"), dir.join("e/file-link")).unwrap();
        for name in ["e", "alone", "none"] {
            remove(folder, name).unwrap();
        }
        let mut left = folder.names().unwrap();
        left.sort();
        assert_eq!(left, ["other"]);
        assert_eq!(std::fs::read(dir.join("other/mine")).unwrap(), b"mine");
        for name in ["", ".", "..", "other/mine", "/"] {
            assert_eq!(remove(folder, name).unwrap_err().code(), Code::Internal, "{name}");
        }
    });
}

#[test]
fn a_link_on_the_way_is_refused() {
    both_ways(|dir, _| {
        std::fs::create_dir_all(dir.join("a/b/c")).unwrap();
        symlink(dir.join("a"), dir.join("link")).unwrap();
        symlink("b", dir.join("a/back")).unwrap();
        for folder in open(dir) {
            assert!(folder.down(Path::new("a/b/c")).unwrap().is_some());
        }
        for (below, code) in [("link", Code::InTheWay), ("link/b", Code::InTheWay), ("a/back/c", Code::InTheWay)] {
            for folder in open(dir) {
                assert_eq!(folder.down(Path::new(below)).unwrap_err().code(), code, "{below}");
            }
            let folder = DeletionFolder::at(dir).unwrap().unwrap();
            assert_eq!(folder.down_into_mounts(Path::new(below)).unwrap_err().code(), code, "{below}");
        }
        for below in ["..", "a/../a", "/"] {
            assert_eq!(DeletionFolder::open(dir, Path::new(below)).unwrap_err().code(), Code::Internal, "{below}");
        }
        assert!(DeletionFolder::open(dir, Path::new("a/none")).unwrap().is_none());
        assert!(DeletionFolder::open(&dir.join("none"), Path::new("a")).unwrap().is_none());
    });
}

#[test]
fn folders_that_their_owner_may_not_change_or_read_go_too() {
    both_ways(|dir, folder| {
        std::fs::create_dir_all(dir.join("e/none/x")).unwrap();
        for path in ["e/none/x/file", "e/file"] {
            std::fs::write(dir.join(path), "").unwrap();
        }
        for (path, mode) in [("e/none/x", 0o500), ("e/none", 0), ("e", 0o500)] {
            std::fs::set_permissions(dir.join(path), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755)).unwrap();
        bound_by_permissions(|| {
            // The permissions of the opened folder must not be changed.
            std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o555)).unwrap();
            assert_eq!(remove(folder, "e").unwrap_err().code(), Code::IoFailed);
            assert_eq!(dir.metadata().unwrap().permissions().mode() & 0o777, 0o555);
            std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755)).unwrap();
            remove(folder, "e").unwrap();
        });
        assert!(!dir.join("e").exists());
    });
}

#[test]
fn a_folder_of_any_depth_goes() {
    both_ways(|dir, folder| {
        std::fs::create_dir(dir.join("e")).unwrap();
        // Longer than the longest path that is allowed.
        let name = "d".repeat(100);
        let mut deepest = rustix::fs::open(dir.join("e"), rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty()).unwrap();
        for _ in 0..300 {
            rustix::fs::mkdirat(&deepest, &name, rustix::fs::Mode::RWXU).unwrap();
            rustix::fs::mkdirat(&deepest, "beside", rustix::fs::Mode::RWXU).unwrap();
            deepest = rustix::fs::openat(&deepest, &name, rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty()).unwrap();
        }
        remove(folder, "e").unwrap();
        assert_eq!(folder.names().unwrap(), [] as [&str; 0]);
    });
}

#[test]
fn nothing_that_is_mounted_is_touched() {
    if SYSTEM == "macos" {
        eprintln!("SKIPPED: nothing can be mounted here by a test");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new("unshare");
    command.arg("-Urm").arg(std::env::current_exe().unwrap());
    command.args(["--exact", "files::folders::beneath_tests::within_a_namespace", "--nocapture"]).env(PLACE, dir.path());
    let output = command.output().expect("unshare is needed for this test");
    let words = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && words.contains("both ways looked at"), "{words}");
}

/// Runs in a process of its own; does nothing in the normal test run.
#[test]
fn within_a_namespace() {
    let Some(dir) = crate::env::var(PLACE) else { return };
    let dir = Path::new(&dir).canonicalize().unwrap();
    let run = |program: &str, args: &[&str]| {
        assert!(Command::new(program).args(args).current_dir(&dir).status().unwrap().success(), "{program} {args:?}");
    };
    for way in 0..2 {
        let case = dir.join(way.to_string());
        std::fs::create_dir_all(case.join("e/beside")).unwrap();
        for folder in ["precious", "e/bound", "e/deep/tmpfs"] {
            std::fs::create_dir_all(case.join(folder)).unwrap();
        }
        for file in ["precious/mine", "e/file", "e/beside/file"] {
            std::fs::write(case.join(file), "mine").unwrap();
        }
        let place = |path: &str| case.join(path).display().to_string();
        // A bind mount on the same device, which only differs in its mount number; a file; a file system of its own.
        for (kind, path) in [("bind", "e/bound"), ("file", "e/file"), ("tmpfs", "e/deep/tmpfs")] {
            let at = place(path);
            match kind {
                "bind" => run("mount", &["--bind", &place("precious"), &at]),
                "file" => run("mount", &["--bind", &place("precious/mine"), &at]),
                _ => run("mount", &["-t", "tmpfs", "none", &at]),
            }
            let code = |outcome: Result<()>| outcome.map_err(|e: Error| e.code());
            let folder = &open(&case)[way];
            assert_eq!(code(remove(folder, "e")), Err(Code::HoldsMount), "{kind}");
            assert!(case.join("e/beside/file").exists() && case.join("e/file").exists(), "{kind}: nothing goes of it");
            // Mounts that appear after the check.
            assert_eq!(code(folder.remove_own(OsStr::new("e"))), Err(Code::HoldsMount), "{kind}");
            assert_eq!(std::fs::read(case.join("precious/mine")).unwrap(), b"mine", "{kind}");
            assert!(Path::new(&at).exists(), "{kind}");
            assert_eq!(crate::files::mounts_within(&case.join("e")).unwrap(), [Path::new(&at)], "{kind}");
            assert_eq!(crate::files::move_whole(&case.join("e"), &case.join("moved")).unwrap_err().code(), Code::HoldsMount);
            run("umount", &[&at]);
            for path in ["e/beside", "e/bound", "e/deep/tmpfs"] {
                std::fs::create_dir_all(case.join(path)).unwrap();
            }
            for path in ["e/file", "e/beside/file"] {
                std::fs::write(case.join(path), "mine").unwrap();
            }
        }
        // A mount on the path down.
        run("mount", &["--bind", &place("precious"), &place("e/bound")]);
        let folder = || open(&case).into_iter().nth(way).unwrap();
        assert_eq!(folder().down(Path::new("e/bound")).unwrap_err().code(), Code::HoldsMount);
        assert!(folder().down_into_mounts(Path::new("e/bound")).unwrap().is_some());
        run("umount", &[&place("e/bound")]);
        remove(&folder(), "e").unwrap();
        assert!(!case.join("e").exists() && case.join("precious/mine").exists());
    }
    println!("both ways looked at");
}
