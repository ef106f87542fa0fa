//! The files in which a program's hooks can be switched off.

use std::path::{Path, PathBuf};

use super::file_edit::look;
use super::program_files::{AttachScope, place, place_of_user};
use axiom_base::{env, platform};
use axiom_git::Worktree;
use axiom_model::program_hooks::plugins::EXTENSION;
use axiom_model::program_hooks::recipe::HookRecipe;
use axiom_model::program_hooks::switches::{ProgramSettingsFile, plugin_in};

/// Those of a program that is started in a worktree, as far as they are there and can be read, the strongest first.
pub(super) fn settings(worktree: &Worktree, recipe: &HookRecipe) -> Vec<ProgramSettingsFile> {
    let at = |scope| place(worktree, recipe, scope).ok().map(|at| at.path);
    let beside = |path: Option<PathBuf>, name: &str| path.map(|path| path.with_file_name(name));
    let (managed, own): (Option<PathBuf>, Vec<Option<PathBuf>>) = match recipe.name {
        "claude" => (Some(managed()), vec![at(AttachScope::Here), at(AttachScope::Shared), at(AttachScope::User)]),
        "codex" => (None, vec![beside(at(AttachScope::Here), "config.toml"), beside(at(AttachScope::User), "config.toml")]),
        "opencode" => {
            let below = |folder: Option<PathBuf>| folder.map(|folder| folder.join("opencode.json"));
            let above = |path: Option<PathBuf>| path?.parent()?.parent().map(Path::to_owned);
            (None, vec![below(Some(worktree.path().to_owned())), below(above(at(AttachScope::User)))])
        }
        _ => (None, vec![at(AttachScope::Here), at(AttachScope::User)]),
    };
    let read = |path: PathBuf, managed| {
        let text = look(&path).ok().flatten()?;
        Some(ProgramSettingsFile { path: path.display().to_string(), text, managed })
    };
    let managed = managed.and_then(|path| read(path, true));
    managed.into_iter().chain(own.into_iter().flatten().filter_map(|path| read(path, false))).collect()
}

/// The file that says that the program has our plugin, where it has: as far as that can be seen.
pub fn plugin_said_by(worktree: &Worktree, recipe: &HookRecipe) -> Option<String> {
    plugin_said_in(&settings(worktree, recipe), recipe)
}

/// The same, where the settings were read.
pub(super) fn plugin_said_in(settings: &[ProgramSettingsFile], recipe: &HookRecipe) -> Option<String> {
    if recipe.name == "gemini" {
        let folder = place_of_user(recipe).ok()?.path.parent()?.join("extensions").join(EXTENSION);
        return Some(folder.join("gemini-extension.json")).filter(|path| path.is_file()).map(|path| path.display().to_string());
    }
    plugin_in(recipe, settings).map(|one| one.path.clone())
}

/// What an administrator sets for Claude Code. `AXIOM_TEST_MANAGED` (debug builds) names another file.
fn managed() -> PathBuf {
    let usual = || Path::new(platform::ADMINISTRATORS_SETTINGS).join("managed-settings.json");
    env::test_var("AXIOM_TEST_MANAGED").map_or_else(usual, PathBuf::from)
}
