//! Attaching and detaching one program. What was there is kept before the file is written, so a crash between any two steps leaves
//! what the same call, made again, completes.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::kept::{self, Kept, digest};
use super::place::{Place, Scope, caller, place};
use crate::domain::base::names::RepoPath;
use crate::domain::program_hooks::command::Caller;
use crate::domain::program_hooks::edit::{LARGEST, attached, detached, is_changed_plugin};
use crate::domain::program_hooks::recipe::Recipe;
use crate::error::{Code, Error, Result};
use crate::files::{self, EditedFile, Small};
use crate::ops::context::handle::Context;
use crate::ops::context::placement;
use crate::process::os::command::command;

/// Whether anything is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// It is.
    Really,
    /// Only what would be is told.
    DryRun,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Became {
    /// It was there already, or nothing of ours was.
    Unchanged,
    /// It was made.
    Made,
    /// It was changed.
    Changed,
    /// It is again, to the byte, what it was before.
    PutBack,
    /// It was made by us, and is gone.
    Deleted,
}

/// A file that was to be changed.
#[derive(Debug)]
pub struct Done {
    /// Its path.
    pub path: PathBuf,
    /// What became of it.
    pub became: Became,
    /// How the program calls us.
    pub calls: Option<String>,
}

/// Puts our hooks into the program's file.
///
/// # Errors
/// `INVALID_INPUT` where the file cannot be changed as it is, or is committed; `IN_THE_WAY`, `CHANGED_MEANWHILE`, `BUSY`, `IO_FAILED`,
/// `DISK_FULL`.
pub fn attach(ctx: &Context, recipe: &Recipe, scope: Scope, doing: Doing) -> Result<Done> {
    let at = place(ctx, recipe, scope)?;
    let caller = caller(scope)?;
    if scope == Scope::Here && is_tracked(ctx, &at)? {
        return Err(Error::new(Code::InvalidInput, format!("'{}' is committed", at.path.display()))
            .hint(format!("git axiom attach {} --shared    changes it for everybody", recipe.name))
            .hint(format!("git axiom attach {} --user      attaches it for you alone", recipe.name)));
    }
    let calls = Some(caller.line(recipe.name));
    let record = kept::file(ctx, &at.path, scope == Scope::User)?;
    let wanted = |text: Option<&str>| {
        nobody_elses(recipe, &at, &record, text)?;
        attached(recipe, text, &caller).map_err(|why| refused(&at.path, &why))
    };
    let became = |before: Option<&str>, new: &str| match before {
        None => Became::Made,
        Some(before) if before == new => Became::Unchanged,
        Some(_) => Became::Changed,
    };
    no_link_above(&at)?;
    if doing == Doing::DryRun {
        let before = look(&at.path)?;
        let became = became(before.as_deref(), &wanted(before.as_deref())?);
        return Ok(Done { path: at.path, became, calls });
    }
    answers(&caller, recipe)?;
    // A hook does nothing in a repository that is not prepared.
    ctx.layout().ensure()?;
    placement::write_down(ctx.layout(), &ctx.repo)?;
    let made_folders = missing_above(&at.path)?;
    if at.in_worktree.is_some() {
        // The last is made with the file, where it is no link.
        made_folders.iter().skip(1).rev().try_for_each(|folder| files::create_users_dir(folder))?;
    }
    let file = EditedFile::open(&at.path, at.links, LARGEST as u64)?;
    let before = text(file.path(), file.read()?)?;
    let new = wanted(before.as_deref())?;
    let became = became(before.as_deref(), &new);
    if became != Became::Unchanged {
        writable(file.path())?;
        keep(&record, recipe, &at, before.as_deref(), &new, made_folders)?;
        file.replace(before.as_deref().map(str::as_bytes), new.as_bytes())?;
    }
    if let (Scope::Here, Some(path)) = (scope, at.in_worktree) {
        ctx.repo.workspaces().exclude_file(&RepoPath::new(path.as_bytes()))?;
    }
    Ok(Done { path: at.path, became, calls })
}

/// A plugin is replaced and deleted as a whole: one that somebody changed since we wrote it may hold what they wrote.
fn nobody_elses(recipe: &Recipe, at: &Place, record: &Path, text: Option<&str>) -> Result<()> {
    let changed = text.filter(|text| is_changed_plugin(recipe, text));
    let Some(text) = changed else { return Ok(()) };
    match kept::read(record)?.is_some_and(|kept| kept.is_of(text)) {
        true => Ok(()),
        false => Err(refused(&at.path, "it is not as git axiom wrote it, and may hold what you wrote")
            .hint("keep what is yours in another file, delete this one, and run the command again")),
    }
}

/// Keeps what was there: the original, for as long as nobody else changes the file.
fn keep(record: &Path, recipe: &Recipe, at: &Place, before: Option<&str>, new: &str, made_folders: Vec<PathBuf>) -> Result<()> {
    let written = digest(new.as_bytes());
    let from = before.map(|before| digest(before.as_bytes()));
    let earlier = kept::read(record)?;
    let is_ours = |earlier: &Kept| before.is_some_and(|before| earlier.is_of(before));
    let kept = match (earlier, before) {
        (Some(earlier), _) if is_ours(&earlier) => Kept { written, from, ..earlier },
        // Somebody deleted the file; the folders that were made for it are ours all the same.
        (Some(earlier), None) => {
            let made_folders = made_folders.into_iter().chain(earlier.made_folders).collect();
            Kept { before: None, written, from, made_folders }
        }
        (None, None) => Kept { before: None, written, from, made_folders },
        (_, Some(before)) => {
            let before = detached(recipe, before).map_err(|why| refused(&at.path, &why))?;
            Kept { before, written, from, made_folders: Vec::new() }
        }
    };
    kept::write(record, &kept)
}

/// Takes our hooks out of the program's file: puts back what was there where nobody changed it since, else cuts out ours alone.
///
/// # Errors
/// As [`attach`].
pub fn detach(ctx: &Context, recipe: &Recipe, scope: Scope, doing: Doing) -> Result<Done> {
    let at = place(ctx, recipe, scope)?;
    no_link_above(&at)?;
    let record = kept::file(ctx, &at.path, scope == Scope::User)?;
    let done = |became| Done { path: at.path.clone(), became, calls: None };
    let is_there = files::metadata(&at.path)?.is_some();
    if doing == Doing::DryRun || !is_there {
        let became = Cut::of(recipe, &at, &record, look(&at.path)?)?.became;
        if doing == Doing::Really {
            forget(&record, &at.path)?;
        }
        return Ok(done(became));
    }
    // Nobody of ours changes the file or what is kept of it meanwhile.
    let file = EditedFile::open(&at.path, at.links, LARGEST as u64)?;
    let found = text(file.path(), file.read()?)?;
    let Cut { new, became } = Cut::of(recipe, &at, &record, found.clone())?;
    let found = found.as_deref().map(str::as_bytes);
    if became != Became::Unchanged {
        writable(file.path())?;
        match &new {
            Some(new) => file.replace(found, new.as_bytes())?,
            None if file.read()?.as_deref() == found => files::remove_file(file.path())?,
            None => return Err(Error::new(Code::ChangedMeanwhile, format!("'{}' was changed", at.path.display()))),
        }
    }
    forget(&record, &at.path)?;
    Ok(done(became))
}

/// What a file is to hold once ours is out of it.
struct Cut {
    new: Option<String>,
    became: Became,
}

impl Cut {
    fn of(recipe: &Recipe, at: &Place, record: &Path, found: Option<String>) -> Result<Self> {
        let Some(found) = found else { return Ok(Self { new: None, became: Became::Unchanged }) };
        nobody_elses(recipe, at, record, Some(&found))?;
        let kept = kept::read(record)?;
        let unchanged = kept.as_ref().filter(|kept| kept.is_of(&found));
        let new = match unchanged {
            Some(kept) => kept.before.clone(),
            None => detached(recipe, &found).map_err(|why| refused(&at.path, &why))?,
        };
        let became = match &new {
            None => Became::Deleted,
            Some(new) if *new == found => Became::Unchanged,
            Some(_) if unchanged.is_some() => Became::PutBack,
            Some(_) => Became::Changed,
        };
        Ok(Self { new, became })
    }
}

/// Forgets what was kept, and the folders that were made for the file where they are empty now.
fn forget(record: &Path, path: &Path) -> Result<()> {
    let kept = kept::read(record)?;
    if files::metadata(path)?.is_none() {
        for folder in kept.into_iter().flat_map(|kept| kept.made_folders) {
            let is_there = path.starts_with(&folder) && files::metadata(&folder)?.is_some_and(|meta| meta.is_dir());
            if !is_there || !files::remove_empty_dir(&folder)? {
                break;
            }
        }
    }
    match files::metadata(record)? {
        Some(_) => files::remove_file(record),
        None => Ok(()),
    }
}

/// A link of the repository's might lead anywhere.
fn no_link_above(at: &Place) -> Result<()> {
    let depth = at.in_worktree.map_or(0, |path| path.matches('/').count());
    for folder in at.path.ancestors().skip(1).take(depth) {
        if files::metadata(folder)?.is_some_and(|meta| meta.is_symlink()) {
            return Err(Error::new(Code::InTheWay, format!("'{}' is a symbolic link, so it is left alone", folder.display())));
        }
    }
    Ok(())
}

/// The folders of a file that are not there, the innermost first.
fn missing_above(path: &Path) -> Result<Vec<PathBuf>> {
    let mut missing = Vec::new();
    for folder in path.ancestors().skip(1) {
        match files::metadata(folder)? {
            Some(_) => break,
            None => missing.push(folder.to_owned()),
        }
    }
    Ok(missing)
}

/// The text of a file, without any lock.
pub(super) fn look(path: &Path) -> Result<Option<String>> {
    match files::read_small_of_user(path, LARGEST as u64)? {
        Small::Nothing => Ok(None),
        Small::Content(bytes) => text(path, Some(bytes)),
        Small::Odd(what) => Err(refused(path, &format!("it is {what}"))),
    }
}

fn text(path: &Path, bytes: Option<Vec<u8>>) -> Result<Option<String>> {
    bytes.map(|bytes| String::from_utf8(bytes).map_err(|_| refused(path, "it is not encoded in UTF-8"))).transpose()
}

fn refused(path: &Path, why: &str) -> Error {
    Error::new(Code::InvalidInput, format!("'{}' is left as it is", path.display())).why(why.to_owned())
}

/// A file that is read-only is meant to stay as it is, even where its folder would let us replace it.
fn writable(path: &Path) -> Result<()> {
    match files::metadata(path)? {
        Some(meta) if meta.permissions().readonly() => Err(refused(path, "it is read-only")),
        Some(_) | None => Ok(()),
    }
}

fn is_tracked(ctx: &Context, at: &Place) -> Result<bool> {
    let Some(path) = at.in_worktree else { return Ok(false) };
    let main = ctx.repo.worktrees().main_worktree()?;
    Ok(ctx.repo.git_in(&main).args(["ls-files", "--error-unmatch", "--", path]).run()?.ok())
}

/// Asks the command that hooks will call for nothing at all: one that does not know `hook` would keep the agent from its work.
///
/// # Errors
/// `INVALID_INPUT` where it cannot be started or fails.
pub fn answers(caller: &Caller, recipe: &Recipe) -> Result<()> {
    let failed = |why: String| {
        Error::new(Code::InvalidInput, format!("'{}' cannot be called by hooks", caller.line(recipe.name)))
            .why(why)
            .hint("install this version of git axiom in a folder of your PATH")
    };
    let mut command = command(caller.file());
    // In no repository: aider says nothing of what happened, so there each call counts as one that fired.
    command.args(["hook", recipe.name]).current_dir("/");
    let ended = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(format!("it ended with {status}"))),
        Err(error) => Err(failed(error.to_string())),
    }
}
