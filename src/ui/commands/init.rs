//! `git axiom init`.

use clap::Args;
use serde::Serialize;

use super::{attach, open_to_choose, tell_of_missing_identity, working_dir};
use crate::cli::screen::Screen;
use crate::cli::{prompt, visible};
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_base::error::{Exit, Result};
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement;
use axiom_safety::context::placement::VerbPurpose;
use axiom_safety::folders::{workspace_folder, workspaces};
use axiom_safety::program_hooks::skill;
use axiom_safety::program_hooks::skill::SkillFileOutcome;
use axiom_safety::running::hooks::commit_hooks;
use axiom_safety::settings::hide_refs;
use axiom_safety::settings::shared;
use axiom_safety::settings::shared::ProjectStarterFile;

/// Suggestions for the next step.
const NEXT: &str = "\
next:  git axiom task add TITLE --body SCRIPT    adds a task
       git axiom run                             starts agents on the tasks
       git axiom demo                            shows all of it in a scratch repository";

/// Arguments of `init`.
#[derive(Debug, Args)]
#[command(after_help = "\
Makes the folder 'axiom' in the git directory, readable only by you; nothing in your worktree.
Other verbs make it too if it is missing. 'git axiom demo' shows all of it in a scratch
repository.

If the repository is bare and you work in linked worktrees, the one in which you run this
becomes the main one: it is rolled back, and work is merged in it. It stays the main one when it
is moved; if it is gone, run this in another.

With --shared, the project's files are begun in the main worktree, where they are missing:
.axiom/config.toml, with every useful key commented out, and .axiom/hooks/README.md. Nothing is
overwritten, and as they are they change nothing. Commit them; each person approves them once,
and again after each change: git axiom trust.

With --skill, agents are told how to look at tasks, to save, to report and to ask, and what is
for humans only: a skill in .claude/skills/git-axiom, and a few lines between markers in
AGENTS.md of the main worktree. Everything else in that file stays byte for byte.

With --hide-refs, three lines of transfer.hideRefs hide our refs from fetches and mirror clones
of this repository; 'git axiom deinit' takes them out again. With --workspaces-beside,
workspaces are made in ../NAME-worktrees and not in .worktrees: agents.workspaceRoot, in this
repository's git config. The first 'init' asks about both at a terminal; with nobody to ask,
with --json, --non-interactive or --yes, nothing is hidden and .worktrees is used.")]
pub struct InitArgs {
    /// Begin .axiom in the main worktree too, for everybody who works on the project
    #[arg(long)]
    shared: bool,
    /// Tell agents of it: a skill, and lines in AGENTS.md
    #[arg(long)]
    skill: bool,
    /// Hide our refs from fetches and mirror clones of this repository
    #[arg(long)]
    hide_refs: bool,
    /// Make workspaces in a folder beside the repository
    #[arg(long)]
    workspaces_beside: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// What to do with the project's files.
const COMMIT: &str = "\
next:  git add .axiom && git commit    gives them to everybody who works on the project
       git axiom trust                 approves them for you, here";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InitJson {
    path: String,
    created: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<Vec<InitSharedJson>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skill: Option<Vec<InitSkillJson>>,
    /// The values of `transfer.hideRefs` that were added.
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<Vec<String>>,
    /// Where workspaces are made.
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace_root: Option<String>,
}

#[derive(Serialize)]
struct InitSkillJson {
    path: &'static str,
    /// `made`, `changed` or `unchanged`.
    became: &'static str,
}

#[derive(Serialize)]
struct InitSharedJson {
    path: String,
    created: bool,
}

impl InitJson {
    fn in_words(&self) -> String {
        let mut text = format!("{} {}\n", if self.created { "Initialised" } else { "Already initialised:" }, self.path);
        for file in self.shared.iter().flatten() {
            text.push_str(&format!("{} {}\n", if file.created { "Wrote" } else { "Left as it is:" }, file.path));
        }
        for InitSkillJson { path, became } in self.skill.iter().flatten() {
            let what = match *became {
                "unchanged" => "Left as it is:",
                "made" => "Wrote",
                _ => "Changed",
            };
            text.push_str(&format!("{what} {path}\n"));
        }
        match self.hidden.as_deref() {
            Some([]) => text.push_str("Left as it is: transfer.hideRefs\n"),
            Some(values) => values.iter().for_each(|value| text.push_str(&format!("Added to transfer.hideRefs: {value}\n"))),
            None => {}
        }
        if let Some(root) = &self.workspace_root {
            text.push_str(&format!("Workspaces are made in {}\n", visible::line(root)));
        }
        text
    }
}

/// Creates git axiom's folders; existing ones are left as they are.
pub fn run(args: &InitArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_to_choose(VerbPurpose::Write, global, screen)?;
    ctx.repo.require_git_version()?;
    let chosen = placement::choose_here(&mut ctx, &working_dir(global)?)?;
    let main = ctx.repo.worktrees().main_worktree()?;
    let created = !ctx.layout().exists();
    ctx.layout().ensure()?;
    placement::write_down(ctx.layout(), &ctx.repo)?;
    if let Err(error) = placement::list(ctx.layout()) {
        screen.note(&format!("warning: 'git axiom recover --all' will not know of this repository: {error}"));
    }
    let path = ctx.layout().root().display().to_string();
    let wanted = if created { wanted(args, &ctx, screen)? } else { InitGitSettings::given(args) };
    let begun = args.shared.then(|| shared::begin(&ctx.repo)).transpose()?;
    let view = |file: ProjectStarterFile| InitSharedJson { path: file.path, created: file.created };
    let told = args.skill.then(|| skill::write(&ctx)).transpose()?;
    let skill_view = |SkillFileOutcome { file, became }| InitSkillJson { path: file, became: attach::word(became) };
    let answer = InitJson {
        path,
        created,
        shared: begun.map(|files| files.into_iter().map(view).collect()),
        skill: told.map(|files| files.into_iter().map(skill_view).collect()),
        hidden: wanted.hide_refs.then(|| hide_refs::hide(&ctx)).transpose()?,
        workspace_root: wanted.workspaces_beside.then(|| workspace_folder::beside(&ctx)).transpose()?,
    };
    screen.answer(&answer, || answer.in_words())?;
    if ctx.repo.worktrees().main_entry().is_some() && (created || chosen || ctx.repo.worktrees().current_worktree()? != main) {
        screen.note(&format!("note: the repository is bare; its main worktree is '{}'", main.path().display()));
    }
    tell_of_missing_identity(&ctx, screen)?;
    tell_of_commit_hooks(&mut ctx, screen)?;
    if let Some(branch) = workspaces::in_the_way_of_all(&ctx)? {
        let name = branch.short();
        screen.note(&format!(
            "note: the branch '{name}' is in the way of the branches of tasks, '{name}/TASK': no task can be started"
        ));
        screen.note(&format!("hint: git branch -m {name} ANOTHER    renames it"));
    }
    if answer.shared.iter().flatten().any(|file| file.created) {
        if shared::is_ignored(&ctx.repo)? {
            screen.note("note: git ignores .axiom here, so only 'git add --force' adds it");
        }
        screen.note_text(COMMIT);
    } else if args.skill {
        screen.note("next:  git add AGENTS.md .claude/skills && git commit    gives them to everybody who works on the project");
    } else if created {
        screen.note_text(NEXT);
    }
    Ok(Exit::Done)
}

/// Says where the project has commit hooks that do not run on the work of agents.
pub(in crate::commands) fn tell_of_commit_hooks(ctx: &mut Context, screen: &mut Screen) -> Result<()> {
    // What cannot be used of it is told by whoever uses it.
    ctx.load_usable_config()?;
    if let Some(what) = commit_hooks::not_run(ctx)? {
        screen.note(&format!("note: {}", visible::line(&what)));
        screen.note(&format!("hint: {}    runs them before each merge", commit_hooks::HINT));
    }
    Ok(())
}

/// What of git's settings is to be changed.
struct InitGitSettings {
    hide_refs: bool,
    workspaces_beside: bool,
}

impl InitGitSettings {
    fn given(args: &InitArgs) -> Self {
        Self { hide_refs: args.hide_refs, workspaces_beside: args.workspaces_beside }
    }
}

/// Asks about what was neither given nor is set already.
fn wanted(args: &InitArgs, ctx: &Context, screen: &Screen) -> Result<InitGitSettings> {
    let mut wanted = InitGitSettings::given(args);
    let may_ask = screen.can_ask() && !args.yes;
    if may_ask && !wanted.hide_refs && !hide_refs::are_hidden(&ctx.repo)? {
        wanted.hide_refs = prompt::confirm("Whoever fetches from this repository sees our refs. Hide them?")?;
    }
    let is_bare = ctx.repo.worktrees().main_entry().is_some();
    if may_ask && !wanted.workspaces_beside && !is_bare && ctx.repo.own_values(workspace_folder::ROOT_KEY)?.is_empty() {
        let main = ctx.repo.worktrees().main_worktree()?;
        let name = main.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let question = format!("Agents work in .worktrees. In ../{}-worktrees instead?", visible::line(&name));
        wanted.workspaces_beside = prompt::confirm(&question)?;
    }
    Ok(wanted)
}
