//! The one place where programs are started.
//!
//! No child's environment has git's repository-local variables (`git rev-parse --local-env-vars`): with them, an agent's
//! `git commit` would change the user's worktree when `git axiom` was called from a hook or an alias.

#![allow(clippy::disallowed_methods)]

use std::ffi::{OsStr, OsString};
use std::process::Command;

use axiom_base::env;

/// The variables that `git rev-parse --local-env-vars` lists (git 2.47), and further ones that would redirect git.
const REPOSITORY_LOCAL: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Set for git children that hold the change lock, so that `git axiom` knows when one of their hooks calls it. Not set
/// for other programs (agents, keepers, verification), which are not part of the operation.
pub const IN_OPERATION: &str = "AXIOM_IN_OPERATION";

/// The variable that hands a caller's `git -c …` to the keepers of agents, whose git it is for too.
pub(crate) const CALLERS_CONFIG: &str = "AXIOM_CALLERS_GIT_CONFIG";

/// Whether a variable belongs to the caller's repository and must not reach a child.
pub fn is_repository_local(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    REPOSITORY_LOCAL.contains(&name) || name.starts_with("GIT_CONFIG_KEY_") || name.starts_with("GIT_CONFIG_VALUE_")
}

/// A command for `program` whose environment has none of git's repository-local variables, and not [`IN_OPERATION`].
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::all_vars() {
        if is_repository_local(&name) {
            command.env_remove(&name);
        }
    }
    command.env_remove(IN_OPERATION);
    command
}

/// A command for `program` with the caller's whole environment, including git's repository-local variables.
///
/// Only for the call that discovers the caller's repository, for starting git axiom itself on behalf of the caller, and for a
/// program that the caller runs through git axiom (`lock`).
pub fn command_with_callers_repository(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// `PATH` with the folder of this program added at the end, so that `git axiom signal` and `lock` work even if it is not
/// installed.
pub(crate) fn path_with_us() -> Option<(&'static str, OsString)> {
    let own = env::own_program().ok()?;
    let mut path = env::var("PATH").unwrap_or_default();
    if !path.is_empty() {
        path.push(":");
    }
    path.push(own.parent()?);
    Some(("PATH", path))
}
