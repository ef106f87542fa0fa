//! Prompts below a repository of ours that cannot be used: git refuses it, or its worktree is said to be elsewhere. Nothing is saved then,
//! and that is noted in the repository itself, which is found without git.

use std::path::{Path, PathBuf};

use super::call_folder::folder_of;
use super::not_saved;
use axiom_base::env;
use axiom_base::files;
use axiom_git::Repository;
use axiom_model::agent::attached_program::AttachedProgram;
use axiom_model::attach::payload::{AgentHookEvent, AgentHookMoment};
use axiom_model::checkpoint::stamp::session_key;
use axiom_store::beside::attach::AttachFiles;
use axiom_store::beside::attach::prompt_files::NotSavedPromptLine;
use axiom_store::layout::StoreLayout;

/// The largest pointer to a git directory that is read.
const POINTER: u64 = 64 * 1024;

/// Notes a prompt, where its folder is in a repository that was prepared.
pub(super) fn note(program: AttachedProgram, event: &AgentHookEvent, here: &Path) {
    let folder = folder_of(event, here);
    let Some((top, common_dir)) = prepared_around(&folder).filter(|_| matches!(event.moment, AgentHookMoment::Prompt { .. }))
    else {
        return;
    };
    let why = match Repository::discover(&folder) {
        Err(error) => error.to_string(),
        Ok(_) => "by its configuration, the folder is in none of its worktrees".to_owned(),
    };
    let (at, session, worktree) = (env::now(), session_key(program, &event.session), top.display().to_string());
    let prompt = NotSavedPromptLine { at, until: at, program, session, worktree, text: None, why };
    let files = AttachFiles::of(&StoreLayout::new(&common_dir));
    if let Err(error) = files.ensure().and_then(|()| not_saved::note(&files, prompt, None)) {
        tracing::debug!(%error, "a prompt that was not saved is not in the list of prompts");
    }
}

/// The nearest folder with a `.git`, and the common git directory that it leads to, where that is one of ours.
fn prepared_around(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let top = folder.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())?;
    let place = top.join(".git");
    let common_dir = if place.is_dir() {
        place
    } else {
        let pointer = files::read_optional(&place, POINTER).ok().flatten()?;
        let pointer = String::from_utf8(pointer).ok()?;
        top.join(pointer.strip_prefix("gitdir: ")?.trim_end()).ancestors().nth(2)?.to_owned()
    };
    StoreLayout::new(&common_dir).exists().then(|| (top.to_owned(), common_dir))
}
