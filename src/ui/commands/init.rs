//! `git axiom init`.

use clap::Args;
use serde::Serialize;

use super::{attach, man, open_to_choose, tell_of_missing_identity, working_dir};
use crate::cli::screen::Screen;
use crate::cli::visible;
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_base::error::{Exit, Result};
use axiom_model::program_hooks::recipe::{HookRecipe, RECIPES};
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement;
use axiom_safety::context::placement::VerbPurpose;
use axiom_safety::context::recorded_place;
use axiom_safety::folders::{workspace_folder, workspaces};
use axiom_safety::program_hooks::program_files::{is_installed, note_program};
use axiom_safety::program_hooks::skill;
use axiom_safety::program_hooks::skill::SkillFileOutcome;
use axiom_safety::running::hooks::commit_hooks;
use axiom_safety::settings::hide_refs;
use axiom_safety::settings::shared;
use axiom_safety::settings::shared::ProjectStarterFile;

/// Suggestions for the next step: first the net, where an agent program is here that it is for.
fn next_steps(installed: &[&HookRecipe]) -> String {
    let mut steps = Vec::new();
    if let Some(first) = installed.first() {
        let others: Vec<&str> = installed.iter().skip(1).map(|recipe| recipe.name).collect();
        let others = if others.is_empty() { String::new() } else { format!("; the same for {}", others.join(", ")) };
        let attach = format!("git axiom attach {}", first.name);
        steps.push(format!("{attach:WIDTH$}has {} save each prompt{others}", first.title));
    }
    for (call, does) in NEXT {
        steps.push(format!("{call:WIDTH$}{does}"));
    }
    format!("next:  {}", steps.join("\n       "))
}

/// The width of the calls.
const WIDTH: usize = 42;

const NEXT: [(&str, &str); 3] = [
    ("git axiom task add TITLE --body SCRIPT", "adds a task"),
    ("git axiom run", "starts agents on the tasks"),
    ("git axiom demo", "shows all of it in a scratch repository"),
];

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
repository's git config. Both can be given later too. Nothing is asked.")]
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
    /// Accepted for scripts: nothing is asked
    #[arg(long, short, hide = true)]
    yes: bool,
}

/// What to do with the project's files.
const COMMIT: &str = "\
next:  git add .axiom && git commit    gives them to everybody who works on the project
       git axiom trust                 approves them for you, here";

/// What was prepared.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InitJson {
    /// Our folder in the git directory.
    path: String,
    /// Whether it was made by this call.
    created: bool,
    /// With `--shared`: the project's files.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<Vec<InitSharedJson>>,
    /// With `--skill`: what agents are told.
    #[serde(skip_serializing_if = "Option::is_none")]
    skill: Option<Vec<InitSkillJson>>,
    /// With `--hide-refs`: the values that were added to `transfer.hideRefs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<Vec<String>>,
    /// With `--workspaces-beside`: where workspaces are made.
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace_root: Option<String>,
}

/// A file that tells agents of git axiom.
#[derive(Serialize)]
struct InitSkillJson {
    /// Below the main worktree.
    path: &'static str,
    /// `made`, `changed` or `unchanged`.
    became: &'static str,
}

/// One of the project's files.
#[derive(Serialize)]
struct InitSharedJson {
    /// Below the main worktree.
    path: String,
    /// Whether it was written by this call; otherwise something was there.
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
    recorded_place::write_down(ctx.layout(), &ctx.repo)?;
    if let Err(error) = placement::list(ctx.layout()) {
        screen.note(&format!("warning: 'git axiom recover --all' will not know of this repository: {error}"));
    }
    note_program();
    let path = ctx.layout().root().display().to_string();
    let begun = args.shared.then(|| shared::begin(&ctx.repo)).transpose()?;
    let view = |file: ProjectStarterFile| InitSharedJson { path: file.path, created: file.created };
    let told = args.skill.then(|| skill::write(&ctx)).transpose()?;
    let skill_view = |SkillFileOutcome { file, became }| InitSkillJson { path: file, became: attach::word(became) };
    let answer = InitJson {
        path,
        created,
        shared: begun.map(|files| files.into_iter().map(view).collect()),
        skill: told.map(|files| files.into_iter().map(skill_view).collect()),
        hidden: args.hide_refs.then(|| hide_refs::hide(&ctx)).transpose()?,
        workspace_root: args.workspaces_beside.then(|| workspace_folder::beside(&ctx)).transpose()?,
    };
    screen.answer(&answer, || answer.in_words())?;
    if ctx.repo.bare().main_entry().is_some() && (created || chosen || ctx.repo.worktrees().current_worktree()? != main) {
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
        let installed: Vec<&HookRecipe> = RECIPES.iter().filter(|recipe| is_installed(recipe)).collect();
        screen.note_text(&next_steps(&installed));
        man::tell_of_missing_page(screen);
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

#[cfg(test)]
mod tests {
    use super::*;
    use axiom_model::program_hooks::recipe::recipe;

    #[test]
    fn attaching_comes_first_where_there_is_something_to_attach() {
        let of = |names: &[&str]| next_steps(&names.iter().filter_map(|name| recipe(name)).collect::<Vec<_>>());
        assert!(of(&[]).starts_with("next:  git axiom task add"));
        let both = of(&["claude", "codex"]);
        assert!(both.starts_with("next:  git axiom attach claude"), "{both}");
        assert!(both.contains("has Claude Code save each prompt; the same for codex\n       git axiom task add"), "{both}");
    }
}
