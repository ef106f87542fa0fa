//! How a program is attached: what its files say, and when its hooks really fired.

use jiff::Timestamp;

use super::attach::answers;
use super::place::{Scope, caller, place};
use super::put::look;
use super::settings::settings;
use crate::domain::program_hooks::edit::{Found, standing};
use crate::domain::program_hooks::recipe::{Format, Recipe};
use crate::domain::program_hooks::switches::{Off, off};
use crate::error::Result;
use crate::ops::context::handle::Context;
use crate::store::fired;

/// An event of a program in one of its files.
#[derive(Debug)]
pub struct Standing {
    /// The program.
    pub program: &'static str,
    /// The file.
    pub path: String,
    /// The event.
    pub event: &'static str,
    /// How it stands there.
    pub found: Found,
    /// What keeps it from being called.
    pub off: Option<Off>,
    /// Whether the command that it calls works.
    pub works: bool,
    /// When it fired last in this repository.
    pub fired: Option<Timestamp>,
}

/// Each event in each file of a program that has ours. Changes nothing.
///
/// # Errors
/// `INVALID_INPUT` where a file cannot be read as it is; `IO_FAILED`.
pub fn status(ctx: &Context, recipe: &'static Recipe) -> Result<Vec<Standing>> {
    let (mut all, mut seen) = (Vec::new(), Vec::new());
    for scope in [Scope::Here, Scope::Shared, Scope::User] {
        let Ok(at) = place(ctx, recipe, scope) else { continue };
        let Some(text) = look(&at.path)?.filter(|_| !seen.contains(&at.path)) else { continue };
        let caller = caller(scope)?;
        // A file that does not parse has no hooks that count.
        let found = standing(recipe, Some(&text), &caller).unwrap_or_default();
        if found.iter().all(|(_, found)| *found == Found::Missing) {
            continue;
        }
        let path = at.path.display().to_string();
        let (works, off) = (answers(&caller, recipe).is_ok(), off(recipe, &settings(ctx, recipe), &path));
        for (event, found) in found {
            let fired = match recipe.format {
                Format::Json(_) => fired::last(ctx.layout(), recipe.name, event)?,
                Format::Plugin(_) | Format::Yaml => fired::last_of_any(ctx.layout(), recipe.name)?,
            };
            let fired = fired.and_then(|time| Timestamp::try_from(time).ok());
            let fired = fired.and_then(|time| Timestamp::from_millisecond(time.as_millisecond()).ok());
            all.push(Standing { program: recipe.name, path: path.clone(), event, found, off: off.clone(), works, fired });
        }
        seen.push(at.path);
    }
    Ok(all)
}
