//! The folder that gets what is taken out: beside the repository, and in no worktree, where the next `git add` would take it.

use std::path::{Path, PathBuf};

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_git::outermost_worktree;
use axiom_safety::context::handle::Context;
use axiom_store::beside::known_repositories;

/// How many folders of one day get a number.
const MOST_A_DAY: u32 = 100;

/// The folder that was named, or a free name beside the outermost worktree that the repository lies in.
pub(super) fn folder(ctx: &Context, wanted: Option<&Path>) -> Result<PathBuf> {
    let known = worktrees(ctx)?;
    if let Some(wanted) = wanted {
        return checked(ctx, wanted, &known);
    }
    let main = ctx.repo.worktrees().main_worktree()?;
    let outermost = outermost_worktree(main.path(), &known).unwrap_or_else(|| main.path().to_owned());
    let name = main.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // The day alone: so a plan names the folder that the command makes a moment later.
    let day = env::time_zone().to_datetime(env::now()).strftime("%Y-%m-%d").to_string();
    let place = match outermost.parent() {
        Some(above) if above.parent().is_some() => above,
        Some(_) | None => return Err(no_place(&outermost, "beside it there is only '/'")),
    };
    if let Some(error) = files::refuses_changes(place) {
        return Err(no_place(&outermost, &format!("nothing can be written beside it: {error}")));
    }
    let named = |number: u32| match number {
        1 => place.join(format!("{name}-axiom-{day}")),
        _ => place.join(format!("{name}-axiom-{day}-{number}")),
    };
    let free = (1..=MOST_A_DAY).map(named).find(|folder| folder.symlink_metadata().is_err());
    checked(ctx, &free.unwrap_or_else(|| place.join(format!("{name}-axiom-{day}-{}", env::fresh_id()))), &known)
}

fn no_place(outermost: &Path, why: &str) -> Error {
    let what = format!("the folder for what is taken out has no place: '{}' is a worktree", outermost.display());
    to(Error::new(Code::InvalidInput, what).why(why.to_owned()))
}

fn to(error: Error) -> Error {
    error.hint("git axiom deinit --to DIR    makes that folder instead")
}

/// The worktrees that are known, of this repository and of all others that git axiom was used in.
fn worktrees(ctx: &Context) -> Result<Vec<PathBuf>> {
    let own = ctx.repo.worktrees();
    let mut known: Vec<PathBuf> = own.list()?.into_iter().map(|entry| entry.worktree.path().to_owned()).collect();
    known.push(own.main_worktree()?.path().to_owned());
    let others = known_repositories::all().unwrap_or_default();
    known.extend(others.iter().filter_map(|one| one.still_there()?.place.worktree).map(PathBuf::from));
    Ok(known)
}

fn checked(ctx: &Context, folder: &Path, known: &[PathBuf]) -> Result<PathBuf> {
    let refused = |what: &str| Err(to(Error::new(Code::InvalidInput, format!("'{}' {what}", folder.display()))));
    let Some(above) = folder.parent().and_then(|above| above.canonicalize().ok()) else {
        return refused("is in a folder that does not exist");
    };
    let place = above.join(folder.file_name().unwrap_or_default());
    if folder.symlink_metadata().is_ok() {
        return refused("exists already");
    }
    if ctx.repo.common_dir().canonicalize().is_ok_and(|own| place.starts_with(own)) {
        return refused("is in the repository itself");
    }
    if let Some(worktree) = outermost_worktree(&above, known) {
        return refused(&format!("is in a worktree, '{}': a 'git add' there would take it", worktree.display()));
    }
    if let Some(error) = files::refuses_changes(&above) {
        return refused(&format!("cannot be made: {error}"));
    }
    if place.to_str().is_none() {
        return refused("is not UTF-8");
    }
    Ok(place)
}
