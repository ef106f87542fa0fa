//! What is left alone, in words, with the way to take it out by hand.

use axiom_base::error::Result;
use axiom_base::files;
use axiom_base::shell_word::shell_word;
use axiom_git::RefValue;
use axiom_model::base::names::RefName;
use axiom_model::base::own_names::NOTES;
use axiom_model::operation::deinit_branches::TaskBranchFate;
use axiom_model::program_hooks::recipe::RECIPES;
use axiom_safety::context::handle::Context;
use axiom_safety::context::trust;
use axiom_safety::program_hooks::attach;
use axiom_safety::program_hooks::file_edit::{ProgramFileChange, WriteProgramFiles};
use axiom_safety::program_hooks::program_files::AttachScope;
use axiom_safety::program_hooks::settings::plugin_said_by;

/// What the plan has found.
pub(super) struct DeinitFindings<'a> {
    pub branches: &'a [DeinitBranch],
    pub foreign: &'a [RefName],
    pub locked: &'a [String],
    pub notes: bool,
}

/// All that stays.
pub(super) fn all(ctx: &Context, known: &DeinitFindings<'_>) -> Result<Vec<String>> {
    let mut stays = vec!["all commits on your branches, those of agents too".to_owned()];
    for branch in known.branches {
        let name = branch.value.name.short();
        stays.extend(match branch.fate {
            TaskBranchFate::Goes => None,
            TaskBranchFate::HasCommits => {
                Some(format!("the branch {name}, which is not merged: git branch -D {name}    deletes it"))
            }
            TaskBranchFate::IsUsed => Some(format!("the branch {name}, which a worktree uses")),
            TaskBranchFate::IsUsers => Some(format!("the branch {name}, which git axiom did not make")),
        });
    }
    stays.extend(known.foreign.iter().map(|tag| format!("the tag {}, which is no checkpoint's", tag.short())));
    stays.extend(known.locked.iter().map(|path| format!("the worktree '{path}', which is locked: see 'git worktree unlock'")));
    if known.notes {
        stays.push(format!("the notes of others in {NOTES}"));
    }
    files_of_the_project(ctx, &mut stays)?;
    for (key, _) in ctx.repo.settings().settings_in(&ctx.repo.settings().own_config().unwrap_or_default())? {
        stays.push(format!("your setting {key}: git config --local --unset-all {key}    takes it out"));
    }
    // An approval that cannot be read may be one.
    if trust::approved(&ctx.repo).map_or(true, |approved| approved.is_some()) {
        let repository = shell_word(&ctx.repo.common_dir().to_string_lossy());
        stays.push(format!("what you approved: git axiom trust --revoke {repository}    takes it back"));
    }
    Ok(stays)
}

fn files_of_the_project(ctx: &Context, stays: &mut Vec<String>) -> Result<()> {
    let Ok(main) = ctx.repo.worktrees().main_worktree() else { return Ok(()) };
    if files::metadata(&main.path().join(".axiom"))?.is_some() {
        stays.push("the project's own files in .axiom: git rm -r .axiom    takes them out for everybody".to_owned());
    }
    for recipe in &RECIPES {
        for (scope, option) in [(AttachScope::Shared, "--shared"), (AttachScope::User, "--user")] {
            // A file that cannot be read is not ours to tell of.
            let Ok(all) = attach::detach(ctx, recipe, scope, WriteProgramFiles::DryRun) else { continue };
            for done in all {
                let is_of_one_file = scope == AttachScope::Shared && attached_here(ctx, recipe, &done.path);
                if done.became != ProgramFileChange::Unchanged && !is_of_one_file {
                    let (path, name) = (done.path.display(), recipe.name);
                    stays.push(format!("our hooks in '{path}': git axiom detach {name} {option}    takes them out"));
                    if scope == AttachScope::User {
                        stays.push(PREPARES.to_owned());
                    }
                }
            }
        }
        if let Some(path) = plugin_said_by(&main, recipe) {
            stays.push(format!("our plugin for {}, named in '{path}': the program takes it out", recipe.title));
            stays.push(PREPARES.to_owned());
        }
    }
    Ok(())
}

/// What is there for all repositories prepares this one at the next prompt.
const PREPARES: &str = "git config axiom.attach off    keeps it from preparing this repository again";

/// Whether the file of everybody is the one of this user too: then it is detached.
fn attached_here(ctx: &Context, recipe: &axiom_model::program_hooks::recipe::HookRecipe, path: &std::path::Path) -> bool {
    attach::detach(ctx, recipe, AttachScope::Here, WriteProgramFiles::DryRun)
        .is_ok_and(|all| all.iter().any(|done| done.path == path))
}

/// A branch of a task, and what becomes of it.
pub(super) struct DeinitBranch {
    pub value: RefValue,
    pub fate: TaskBranchFate,
}
