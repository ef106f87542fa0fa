//! How a program is attached in a worktree: what the files say that it reads there, and when its hooks really fired there.

use jiff::Timestamp;

use super::attach::answers;
use super::file_edit::look;
use super::program_files::{AttachScope, ProgramFilePlace, caller, is_there, layout_of, place, read_in};
use super::settings::{plugin_said_in, settings};
use crate::context::handle::Context;
use axiom_base::error::Result;
use axiom_git::Worktree;
use axiom_model::program_hooks::edit::{HookEntryStatus, called_files, standing};
use axiom_model::program_hooks::plugins::{MARKETPLACE, PLUGIN_NAME};
use axiom_model::program_hooks::recipe::{HookFileFormat, HookRecipe};
use axiom_model::program_hooks::switches::{DisabledHooksReason, off};
use axiom_store::beside::fired;
use axiom_store::layout::StoreLayout;

/// An event of a program in one of its files.
#[derive(Debug, Clone)]
pub struct ProgramEventStatus {
    /// The program.
    pub program: &'static str,
    /// The file.
    pub path: String,
    /// The event.
    pub event: &'static str,
    /// How it stands there.
    pub found: HookEntryStatus,
    /// What keeps it from being called.
    pub off: Option<DisabledHooksReason>,
    /// Whether the command that it calls is there, and the one that would be written now works.
    pub works: bool,
    /// Whether that it has not fired says nothing.
    pub seldom: bool,
    /// When it fired last in this worktree.
    pub fired: Option<Timestamp>,
    /// When it fired there for the first time since the program was attached.
    pub since: Option<Timestamp>,
}

/// Each event in each file that has ours, of those that a program reads in a worktree. Changes nothing.
pub fn status(ctx: &Context, recipe: &'static HookRecipe, worktree: &Worktree) -> Result<Vec<ProgramEventStatus>> {
    let (mut all, mut seen) = (Vec::new(), Vec::new());
    let layout = layout_of(ctx, worktree);
    for (scope, at) in places(ctx, recipe, worktree)? {
        let Some(text) = look(&at.path)?.filter(|_| !seen.contains(&at.path)) else { continue };
        let caller = caller(scope)?;
        // A file that does not parse has no hooks that count.
        let found = standing(recipe, Some(&text), &caller).unwrap_or_default();
        if found.iter().all(|(_, found)| *found == HookEntryStatus::Missing) {
            continue;
        }
        let path = at.path.display().to_string();
        // What stands there may be of a version that is gone.
        let works = called_files(recipe, &text).iter().all(|file| is_there(file)) && answers(&caller, recipe).is_ok();
        let off = off(recipe, &settings(worktree, recipe), &path);
        for (event, found) in found {
            let (fired, since) = times(&layout, recipe, event)?;
            let (path, off, seldom) = (path.clone(), off.clone(), recipe.is_seldom(event));
            all.push(ProgramEventStatus { program: recipe.name, path, event, found, off, works, seldom, fired, since });
        }
        // What stands in the file that covers more stands in the other one so that older versions call it: once.
        if scope == AttachScope::Here {
            seen.extend(
                read_in(ctx, recipe, worktree)?.files_of.iter().filter_map(|one| Some(place(one, recipe, scope).ok()?.path)),
            );
        }
        seen.push(at.path);
    }
    all.extend(of_plugin(&layout, recipe, worktree)?);
    Ok(all)
}

/// Each event of our plugin, where the program's settings name it. Whether its launcher finds us shows when it calls.
fn of_plugin(layout: &StoreLayout, recipe: &'static HookRecipe, worktree: &Worktree) -> Result<Vec<ProgramEventStatus>> {
    let settings = settings(worktree, recipe);
    let Some(path) = plugin_said_in(&settings, recipe) else { return Ok(Vec::new()) };
    let off = off(recipe, &settings, &format!("{PLUGIN_NAME}@{MARKETPLACE}"));
    let of = |event: &'static str| {
        let (fired, since) = times(layout, recipe, event)?;
        let (path, off, seldom) = (path.clone(), off.clone(), recipe.is_seldom(event));
        let (program, found) = (recipe.name, HookEntryStatus::Plugin);
        Ok(ProgramEventStatus { program, path, event, found, off, works: true, seldom, fired, since })
    };
    recipe.events().into_iter().map(of).collect()
}

/// The files that a program reads that is started in a worktree.
fn places(ctx: &Context, recipe: &HookRecipe, worktree: &Worktree) -> Result<Vec<(AttachScope, ProgramFilePlace)>> {
    let read = read_in(ctx, recipe, worktree)?;
    let mut all = Vec::new();
    for one in &read.files_of {
        let at = place(one, recipe, AttachScope::Here)?;
        let folder = at.in_worktree.and_then(|path| worktree.path().join(path).parent().map(std::path::Path::to_owned));
        if !read.once_folder || folder.is_some_and(|folder| folder.is_dir()) {
            all.push((AttachScope::Here, at));
        }
    }
    for scope in [AttachScope::Shared, AttachScope::User] {
        all.extend(place(worktree, recipe, scope).ok().map(|at| (scope, at)));
    }
    Ok(all)
}

/// When an event fired last, and for the first time.
fn times(layout: &StoreLayout, recipe: &HookRecipe, event: &str) -> Result<(Option<Timestamp>, Option<Timestamp>)> {
    let (fired, since) = match recipe.format {
        HookFileFormat::Json(_) => (fired::last(layout, recipe.name, event)?, fired::first(layout, recipe.name, event)?),
        HookFileFormat::Plugin(_) | HookFileFormat::Yaml => {
            (fired::last_of_any(layout, recipe.name)?, fired::first_of_any(layout, recipe.name)?)
        }
    };
    let in_milliseconds = |time: Timestamp| Timestamp::from_millisecond(time.as_millisecond()).ok();
    let fired = fired.and_then(|time| Timestamp::try_from(time).ok());
    Ok((fired.and_then(in_milliseconds), since.and_then(in_milliseconds)))
}
