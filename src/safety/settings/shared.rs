//! The project's files for a beginning: a configuration that changes nothing, and what hooks are called. Nothing is overwritten.

use std::path::PathBuf;

use super::{WritableLayer, layer_files};
use crate::config::sample;
use crate::context::Repository;
use crate::project_hooks::project_files::{CONFIG, HOOKS, LARGEST, SHARED};
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::{EditThroughLink, EditedFile};

/// The file on hooks, in their folder.
const README: &str = "README.md";

const ON_HOOKS: &str = "\
# Hooks of the project

A hook is an executable file here with the name of an event: `EVENT.sh`, `EVENT`, or any name in a folder `EVENT.d`, whose files run
in the order of their names. The events: `pre-task-start`, `post-task-complete`, `pre-merge`, `post-merge`, `on-conflict`,
`on-learning`, `on-pause`, `on-error`, `post-checkpoint`, `on-gate`, `on-idle`.

A hook gets the facts as variables (AXIOM_EVENT, AXIOM_TASK_ID and others) and as JSON on standard input. `pre-task-start` and
`pre-merge` decide: if one fails, the task waits for a human. `git axiom hooks -h` says more, `git axiom hooks install --shared` copies
samples here, `git axiom hooks run EVENT` tries them.

Each person who works on the project approves these files as they are, and again after each change, before anything is run: `git
axiom trust`.
";

/// A file of the beginning.
#[derive(Debug)]
pub struct ProjectStarterFile {
    /// Its path below the main worktree.
    pub path: String,
    /// Whether it was written; otherwise something is there already.
    pub created: bool,
}

/// Writes those of the files that are not there yet, into the main worktree. On disk when this returns; a crash leaves each file whole
/// or not there, and calling this again goes on.
pub fn begin(repo: &Repository) -> Result<Vec<ProjectStarterFile>> {
    let Some(config) = layer_files::file_of(Some(repo), WritableLayer::Project)? else {
        return Err(Error::new(Code::Internal, "the project's configuration has no file"));
    };
    let main = repo.worktrees().main_worktree()?;
    let hooks = main.path().join(SHARED).join(HOOKS);
    if files::metadata(&hooks)?.is_some_and(|meta| !meta.is_dir()) {
        // Before anything is written.
        return Err(Error::new(Code::InTheWay, format!("'{}' is no folder, so it is left alone", hooks.display()))
            .hint("look at it, and move it away"));
    }
    let config =
        ProjectStarterFile { path: format!("{SHARED}/{CONFIG}"), created: config.open()?.create(sample::text()?.as_bytes())? };
    let readme = EditedFile::open(&hooks.join(README), EditThroughLink::Refused, LARGEST)?.create(ON_HOOKS.as_bytes())?;
    Ok(vec![config, ProjectStarterFile { path: format!("{SHARED}/{HOOKS}/{README}"), created: readme }])
}

/// The folders in which files are made.
pub fn folders(repo: &Repository) -> Result<[PathBuf; 2]> {
    let shared = repo.worktrees().main_worktree()?.path().join(SHARED);
    Ok([shared.join(HOOKS), shared])
}

/// Whether git ignores the project's files, so that they have to be added with `--force`.
pub fn is_ignored(repo: &Repository) -> Result<bool> {
    let main = repo.worktrees().main_worktree()?;
    let output = repo.git_in(&main).args(["check-ignore", "--quiet", "--", &format!("{SHARED}/{CONFIG}")]).run()?;
    Ok(output.ok())
}
