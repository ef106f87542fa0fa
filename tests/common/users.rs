//! Whom permissions bind.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A user id that is not root, and not of a user of this machine.
pub const NOBODY: u32 = 65_534;

/// A copy of `git-axiom` in a folder, for users who may not be able to read the folder in which it was built.
pub fn copy_of_program(folder: &Path) -> PathBuf {
    let program = folder.join("git-axiom");
    // Copied by another process: if this one wrote the file, a child that another test starts meanwhile would inherit the
    // open file, and the program could not be executed.
    assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_git-axiom")).arg(&program).status().unwrap().success());
    program
}

/// Whether the user who runs the tests is root, to whom permissions do not apply.
pub fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status").unwrap().lines().any(|line| line.starts_with("Uid:\t0\t"))
}
