//! The files in which a program's hooks can be switched off.

use std::path::{Path, PathBuf};

use super::file_edit::look;
use super::program_files::{AttachScope, place};
use axiom_base::env;
use axiom_git::Worktree;
use axiom_model::program_hooks::recipe::HookRecipe;
use axiom_model::program_hooks::switches::ProgramSettingsFile;

/// Those of a program that is started in a worktree, as far as they are there and can be read, the strongest first.
pub(super) fn settings(worktree: &Worktree, recipe: &HookRecipe) -> Vec<ProgramSettingsFile> {
    let at = |scope| place(worktree, recipe, scope).ok().map(|at| at.path);
    let beside = |path: Option<PathBuf>, name: &str| path.map(|path| path.with_file_name(name));
    let (managed, own): (Option<PathBuf>, Vec<Option<PathBuf>>) = match recipe.name {
        "claude" => (Some(managed()), vec![at(AttachScope::Here), at(AttachScope::Shared), at(AttachScope::User)]),
        "codex" => (None, vec![beside(at(AttachScope::Here), "config.toml"), beside(at(AttachScope::User), "config.toml")]),
        _ => (None, vec![at(AttachScope::Here), at(AttachScope::User)]),
    };
    let read = |path: PathBuf, managed| {
        let text = look(&path).ok().flatten()?;
        Some(ProgramSettingsFile { path: path.display().to_string(), text, managed })
    };
    let managed = managed.and_then(|path| read(path, true));
    managed.into_iter().chain(own.into_iter().flatten().filter_map(|path| read(path, false))).collect()
}

/// What an administrator sets for Claude Code. `AXIOM_TEST_MANAGED` (debug builds) names another file.
fn managed() -> PathBuf {
    let usual = if cfg!(target_os = "macos") { "/Library/Application Support/ClaudeCode" } else { "/etc/claude-code" };
    env::test_var("AXIOM_TEST_MANAGED").map_or_else(|| Path::new(usual).join("managed-settings.json"), PathBuf::from)
}
