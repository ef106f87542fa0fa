//! Which files of a program cover a worktree, and how they call us.

use std::path::{Path, PathBuf};

use crate::context::handle::Context;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files::EditThroughLink;
use axiom_git::Worktree;
use axiom_model::program_hooks::command::HookInvocation;
use axiom_model::program_hooks::recipe::{HookRecipe, SettingsFileReach};
use axiom_store::beside::noted_program;
use axiom_store::layout::StoreLayout;

/// For whom a program is attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttachScope {
    /// For this user in this repository: nothing that is committed is changed.
    Here,
    /// For everybody who works on the project: the file that is committed.
    Shared,
    /// For this user in all repositories.
    User,
}

/// The file.
#[derive(Debug, Clone)]
pub struct ProgramFilePlace {
    /// Its path.
    pub path: PathBuf,
    /// Its path in its worktree; `None` for the user's own.
    pub in_worktree: Option<&'static str>,
    /// Whether it may be a link.
    pub links: EditThroughLink,
}

/// The files in a worktree that are attached for this user alone: those that git does not list as untracked while they are.
pub const OF_THIS_USER: [&str; 6] = [
    ".claude/settings.local.json",
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".opencode/plugin/git-axiom.js",
    ".cursor/hooks.json",
    ".aider.conf.yml",
];

/// The user's own file of a program, for all repositories.
pub fn place_of_user(recipe: &HookRecipe) -> Result<ProgramFilePlace> {
    Ok(ProgramFilePlace {
        path: of_user(recipe, project_file(recipe, AttachScope::User))?,
        in_worktree: None,
        links: EditThroughLink::Followed,
    })
}

/// The path of a program's file in a worktree, and below a home folder.
fn project_file(recipe: &HookRecipe, scope: AttachScope) -> &'static str {
    match (recipe.name, scope) {
        ("claude", AttachScope::Here) => ".claude/settings.local.json",
        ("claude", _) => ".claude/settings.json",
        ("codex", _) => ".codex/hooks.json",
        ("gemini", _) => ".gemini/settings.json",
        ("opencode", _) => ".opencode/plugin/git-axiom.js",
        ("cursor", _) => ".cursor/hooks.json",
        (_, _) => ".aider.conf.yml",
    }
}

/// The file of a program in a worktree; for [`AttachScope::User`] the user's own.
pub fn place(worktree: &Worktree, recipe: &HookRecipe, scope: AttachScope) -> Result<ProgramFilePlace> {
    let project = project_file(recipe, scope);
    match scope {
        AttachScope::Here | AttachScope::Shared => Ok(ProgramFilePlace {
            path: worktree.path().join(project),
            in_worktree: Some(project),
            links: EditThroughLink::Refused,
        }),
        AttachScope::User => place_of_user(recipe),
    }
}

/// What a program that is started in a worktree reads of this user's files there.
#[derive(Debug, Clone)]
pub struct ProgramFilesRead {
    /// The worktrees whose file it reads, the one that covers most first.
    pub files_of: Vec<Worktree>,
    /// Whether it reads them only once the worktree has the folder of its own file.
    pub once_folder: bool,
}

/// Whose files a program reads that is started in a worktree: where a file of the main worktree covers all, that one too.
pub fn read_in(ctx: &Context, recipe: &HookRecipe, worktree: &Worktree) -> Result<ProgramFilesRead> {
    let main = match ctx.repo.worktrees().main_worktree() {
        Ok(main) => Some(main).filter(|main| main.git_dir() != worktree.git_dir()),
        Err(error) if error.code() == Code::BareRepository => None,
        Err(error) => return Err(error),
    };
    let own = worktree.clone();
    Ok(match (recipe.reach, main) {
        (SettingsFileReach::MainAndOwn, Some(main)) => ProgramFilesRead { files_of: vec![main, own], once_folder: false },
        (SettingsFileReach::MainBesideFolder, Some(main)) => ProgramFilesRead { files_of: vec![main], once_folder: true },
        (SettingsFileReach::Own, _) | (SettingsFileReach::MainAndOwn | SettingsFileReach::MainBesideFolder, None) => {
            ProgramFilesRead { files_of: vec![own], once_folder: false }
        }
    })
}

/// Where is kept what concerns attached programs in one worktree.
pub fn layout_of(ctx: &Context, worktree: &Worktree) -> StoreLayout {
    StoreLayout::of_worktree(ctx.repo.common_dir(), worktree.git_dir())
}

fn of_user(recipe: &HookRecipe, project: &str) -> Result<PathBuf> {
    let folder = |variable: &str| env::var(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let own = match recipe.name {
        "claude" => folder("CLAUDE_CONFIG_DIR").map(|folder| folder.join("settings.json")),
        "codex" => folder("CODEX_HOME").map(|folder| folder.join("hooks.json")),
        "opencode" => env::user_config_dir().map(|folder| folder.join("opencode/plugin/git-axiom.js")),
        _ => None,
    };
    own.or_else(|| env::home_dir().map(|home| home.join(project)))
        .ok_or_else(|| Error::new(Code::InvalidInput, "you have no home folder: HOME is not set"))
}

/// Folders of one version of a program: a path in them is gone after the next update.
const VERSIONED: [&str; 5] = ["/nix/store/", "/Cellar/", "/mise/installs/", "/asdf/installs/", "/target/"];

/// How the program is to call us: by a path that stays when git axiom is updated.
pub fn caller(scope: AttachScope) -> Result<HookInvocation> {
    if scope == AttachScope::Shared {
        return Ok(HookInvocation::IfThere);
    }
    let own = env::own_program()?;
    let stays = |path: &Path| path.to_str().is_some_and(|path| !VERSIONED.iter().any(|part| path.contains(part)));
    let on_path = on_path("git-axiom");
    let ours =
        on_path.iter().find(|path| stays(path) && path.canonicalize().is_ok_and(|real| Some(real) == own.canonicalize().ok()));
    let chosen = match ours {
        Some(path) => path.display().to_string(),
        None if !on_path.is_empty() => "git-axiom".to_owned(),
        None => own.display().to_string(),
    };
    Ok(if scope == AttachScope::User { HookInvocation::ForAll(chosen) } else { HookInvocation::Binary(chosen) })
}

/// Notes by which file plugins call us. Without it they look on the `PATH`.
pub fn note_program() {
    let noted = caller(AttachScope::User).map(|caller| PathBuf::from(caller.file())).map(|file| match file.is_absolute() {
        true => noted_program::note(&file),
        // Only its name stays when it is updated.
        false => Ok(()),
    });
    if let Err(error) = noted.and_then(|noted| noted) {
        tracing::debug!(%error, "plugins are not told where the program is");
    }
}

/// Whether a program is installed.
pub fn is_installed(recipe: &HookRecipe) -> bool {
    let name = if recipe.name == "cursor" { "cursor-agent" } else { recipe.name };
    !on_path(name).is_empty()
}

/// Whether what hooks call is there. It is not executed: a file of the project may name it.
pub fn is_there(file: &str) -> bool {
    if file.contains('/') { Path::new(file).is_file() } else { !on_path(file).is_empty() }
}

/// Where a program of this name is.
pub(super) fn on_path(name: &str) -> Vec<PathBuf> {
    let path = env::var("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).filter(|file| file.is_file()).collect()
}
