//! Scratch repositories for unit tests, made with real git and without the machine's configuration.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A repository in a temporary folder.
pub struct ScratchRepository {
    dir: tempfile::TempDir,
}

impl ScratchRepository {
    /// A repository with `extra` arguments to `git init`, and no commit.
    pub fn empty(extra: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let scratch = Self { dir };
        std::fs::create_dir(scratch.path()).unwrap();
        let init = ["init", "-q", "-b", "main"];
        // Before git 2.45 there is no reftable: then it is a repository with refs in files once more.
        let asked = try_git_at(&scratch.path(), &[&init[..], extra].concat());
        if !asked.status.success() {
            let said = String::from_utf8_lossy(&asked.stderr);
            assert!(said.contains("unknown option `ref-format"), "git init {extra:?}: {said}");
            scratch.git(&init);
        }
        for (key, value) in [("user.name", "A U Thor"), ("user.email", "author@example.org"), ("core.excludesFile", "/dev/null")]
        {
            scratch.git(&["config", key, value]);
        }
        scratch
    }

    /// A repository in the middle of a merge with a conflict in `a.txt`; `files` are new on main.
    pub fn in_a_merge(files: &[&str]) -> Self {
        let scratch = Self::new(&[]);
        scratch.git(&["switch", "-q", "-c", "side"]);
        scratch.write("a.txt", b"side\n");
        scratch.git(&["commit", "-qam", "side"]);
        scratch.git(&["switch", "-q", "main"]);
        scratch.write("a.txt", b"main\n");
        files.iter().for_each(|file| scratch.write(file, b"1"));
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-qam", "main"]);
        assert!(!try_git_at(&scratch.path(), &["merge", "-q", "side"]).status.success());
        scratch
    }

    /// A repository with a first commit of `a.txt` and `sub/b.txt`.
    pub fn new(extra: &[&str]) -> Self {
        let scratch = Self::empty(extra);
        scratch.write("a.txt", b"a\n");
        scratch.write("sub/b.txt", b"b\n");
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-q", "-m", "first"]);
        scratch
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("r")
    }

    pub fn git(&self, args: &[&str]) -> String {
        git_at(&self.path(), args)
    }

    pub fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// A file beside the repository.
    pub fn other(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let place = self.path().with_file_name(name);
        std::fs::write(&place, bytes).unwrap();
        place
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap()
    }
}

pub fn git_at(folder: &Path, args: &[&str]) -> String {
    let output = try_git_at(folder, args);
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

pub fn try_git_at(folder: &Path, args: &[&str]) -> std::process::Output {
    Command::new("git")
        // Upkeep goes on in the background after the command: a test would meet its locks.
        .args(["-c", "maintenance.auto=false"])
        .args(args)
        .current_dir(folder)
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap()
}

/// The path of the test `crash_child` in a module, as the test runner expects it: without the crate's name.
pub fn crash_child_of(module: &str) -> String {
    format!("{}::crash_child", module.split_once("::").map_or(module, |(_, path)| path))
}
