//! The repository in which something happened that a hook tells of.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::HookCaller;
use super::prepare::prepare;
use axiom_base::env;
use axiom_base::files;
use axiom_base::files::SmallFile;
use axiom_git::Repository;
use axiom_model::agent::hook_call_source::HookCallSource;
use axiom_model::attach::hook_answer::AgentHookAnswer;
use axiom_model::base::own_names::CAPTURES;
use axiom_process::os::command::command;
use axiom_store::layout::StoreLayout;

/// The setting of git with which hooks that are there for all repositories are switched off in one.
const SWITCH: &str = "axiom.attach";
/// How many submodules may lie in one another.
const DEEPEST: usize = 16;
/// The largest `.gitmodules` that is read.
const LARGEST: u64 = 1024 * 1024;

/// Why a hook has nothing to do in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoHookRepository {
    /// It is there for all repositories, and switched off in this one.
    SwitchedOff,
    /// There is no repository that it could use.
    Nothing,
}

/// The prepared repository that a folder is in; where that is a submodule that nobody prepared, the one around it, whose checkpoints are
/// those of the session. A hook that is there for all repositories prepares it, and does nothing where it is switched off.
pub(super) fn repository_around(folder: &Path, source: HookCallSource) -> Result<Repository, NoHookRepository> {
    let found = Repository::discover(folder).ok();
    // The nearest one decides.
    if found.as_ref().is_some_and(|repo| source.is_for_all() && repo.settings().switch(SWITCH) == Some(false)) {
        return Err(NoHookRepository::SwitchedOff);
    }
    found.and_then(|nearest| prepared_around(nearest, source)).ok_or(NoHookRepository::Nothing)
}

fn prepared_around(nearest: Repository, source: HookCallSource) -> Option<Repository> {
    let mut repo = nearest;
    for _ in 0..DEEPEST {
        if StoreLayout::new(repo.common_dir()).exists() || was_prepared(&repo) {
            return Some(repo);
        }
        let top = repo.worktrees().current_worktree().ok()?.path().to_owned();
        match superproject_of(&top, repo.common_dir()) {
            Some(outer) => repo = Repository::discover(&outer).ok()?,
            None => return (source.is_for_all() && prepare(&repo, &top)).then_some(repo),
        }
    }
    None
}

/// Whether a repository has checkpoints of ours, though our folder is gone: then nothing can be saved, and that has to be said.
fn was_prepared(repo: &Repository) -> bool {
    let names = repo.ref_lists().ref_names(CAPTURES).unwrap_or_default();
    // In a submodule, those that checkpoints of the repository around it name are below `_superproject/`.
    names.iter().any(|name| !name.starts_with('_'))
}

/// The worktree of which the repository with this top folder is a submodule. Costs a few looks at files where it is none.
fn superproject_of(top: &Path, common_dir: &Path) -> Option<PathBuf> {
    let outer = top.ancestors().skip(1).find(|above| above.join(".git").symlink_metadata().is_ok())?;
    let inside = top.strip_prefix(outer).ok()?.to_str()?;
    // Its git directory is in that of the worktree around it, or its folder is named there.
    let is_absorbed = !common_dir.starts_with(top) && common_dir.components().any(|part| part.as_os_str() == "modules");
    let is_named = || match files::read_small(&outer.join(".gitmodules"), LARGEST) {
        Ok(SmallFile::Content(bytes)) => String::from_utf8_lossy(&bytes).lines().any(|line| names(line, inside)),
        Ok(SmallFile::Nothing | SmallFile::Odd(_)) | Err(_) => false,
    };
    (is_absorbed || is_named()).then(|| outer.to_owned())
}

/// Whether a line of `.gitmodules` names this path.
fn names(line: &str, path: &str) -> bool {
    line.split_once('=').is_some_and(|(key, value)| key.trim() == "path" && value.trim().trim_matches('"') == path)
}

/// The same call once more without the variables by which git's own hooks and aliases name a repository to the programs that they start:
/// where that is not the one in which the agent works, its folder decides. `None` where there are no such variables.
pub(super) fn without_variables(caller: HookCaller, payload: &[u8], here: &Path) -> Option<AgentHookAnswer> {
    env::var("GIT_DIR").or_else(|| env::var("GIT_WORK_TREE"))?;
    let mut command = command(env::own_program().ok()?);
    command.args(["hook", caller.program.as_str()]).args(caller.source.word()).current_dir(here);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().ok()?;
    // It reads all of it before it says anything.
    child.stdin.take()?.write_all(payload).ok()?;
    let ended = child.wait_with_output().ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(AgentHookAnswer { stdout: text(&ended.stdout), stderr: text(&ended.stderr), blocks: ended.status.code() == Some(2) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_submodule_is_one_that_is_named_by_its_path() {
        assert!(names("\tpath = a/b", "a/b") && names("path=\"a b\"", "a b"));
        assert!(!names("\turl = a/b", "a/b") && !names("\tpath = a/bc", "a/b") && !names("[submodule \"a/b\"]", "a/b"));
    }
}
