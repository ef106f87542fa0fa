//! Finding out whether this repository is where it was when that was written down, and settling what follows: what was moved or
//! restored goes on here; a copy becomes a repository of its own, and nothing that names the original is touched.
//!
//! [`domain::state::place`](crate::domain::state::place) decides. Nobody else believes a recorded path: the log says from where to where the
//! repository came, and all that was recorded before is read as if it had been recorded here.

mod copied;
mod moved;

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use crate::domain::state::event::{By, Event};
use crate::domain::state::place::{self, Arrival, Finding, Place, Placing, Recorded};
use crate::domain::work::task_branches;
use crate::env;
use crate::error::{Code, Error, Result};
use crate::files::{self, FileLock, LockAttempt};
use crate::git::{Repository, Whose};
use crate::store::identity::{self, Identity};
use crate::store::layout::Layout;

use super::handle::Context;
use super::ownership;

/// Arrival long somebody else is waited for who settles the same.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a verb is going to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// It only looks: nothing is written, and the state is shown as it will be.
    Look,
    /// It may write.
    Write,
}

/// What is found of a repository that is not where it was.
enum Found {
    /// Nothing to settle.
    Settled,
    /// Nothing is written down yet, and nothing of it is somebody else's.
    Unknown,
    /// The same repository in the same place under another inode.
    SamePlace(Identity),
    /// It came here.
    Placed(Placing, Option<Identity>),
}

/// Settles where the repository is, before anything else is done; returns what a human should hear of it.
///
/// # Errors
/// `BUSY`, `IO_FAILED`, `DISK_FULL`; `REPOSITORY_UNSUPPORTED` where a copy has the original's main worktree;
/// `WORKSPACE_NOT_OURS` where we were called in the copy of a linked worktree; `NOT_THE_OWNER` for root in another's repository.
pub fn settle(ctx: &mut Context, purpose: Purpose) -> Result<Vec<String>> {
    let found = if ctx.layout().exists() { look(ctx)? } else { Found::Settled };
    if purpose == Purpose::Write {
        ownership::root_is_the_owner(&ctx.repo)?;
        ctx.repo.worktrees().not_in_a_copied_worktree()?;
    }
    match (purpose, found) {
        (_, Found::Settled) | (Purpose::Look, Found::Unknown) => Ok(Vec::new()),
        (Purpose::Look, Found::SamePlace(_)) => Ok(Vec::new()),
        (Purpose::Look, Found::Placed(placing, _)) => {
            let said = format!("{}; the next command that changes something settles that", placing.words());
            ctx.store.look_as(&placing);
            Ok(vec![said])
        }
        (Purpose::Write, Found::Unknown | Found::SamePlace(_) | Found::Placed(..)) => locked(ctx),
    }
}

/// Writes down where the repository is, where nothing is written down yet.
///
/// # Errors
/// `IO_FAILED`, `DISK_FULL`.
pub fn write_down(layout: &Layout, repo: &Repository) -> Result<()> {
    if files::metadata(&layout.identity())?.is_some() {
        return Ok(());
    }
    env::fault_point("placement.before-identity");
    identity::write(layout, &Identity::fresh(here(repo), repo.worktrees().main_entry())?)
}

/// Which worktree of a bare repository is the main one, for whoever looks without a [`Context`].
///
/// # Errors
/// `IO_FAILED`; `EVENT_LOG_TOO_NEW`.
pub fn recall_main(repo: &Repository) -> Result<()> {
    if let Some(entry) = identity::read(&Layout::new(repo.common_dir()))?.and_then(|identity| identity.main_entry) {
        repo.worktrees().choose_main(&entry);
    }
    Ok(())
}

/// Checks that it is written down which worktree of a bare repository is the main one. Of one that became bare since nothing is,
/// and whichever worktree somebody calls in would be it.
///
/// # Errors
/// `BARE_REPOSITORY`; `IO_FAILED`.
pub fn main_is_chosen(ctx: &Context) -> Result<()> {
    let repo = &ctx.repo;
    if repo.git_dir() == repo.common_dir() || repo.worktrees().main_entry().is_none() {
        return Ok(());
    }
    match identity::read(ctx.layout())? {
        Some(identity) if identity.main_entry.is_none() => Err(repo.worktrees().none_is_chosen()?),
        Some(_) | None => Ok(()),
    }
}

/// Makes the worktree in which we were called the main one, where the bare repository's is gone, or was never chosen; says `false`
/// where it is neither.
///
/// # Errors
/// As [`Worktrees::main_worktree`]; `IO_FAILED`, `DISK_FULL`.
pub fn choose_here(ctx: &mut Context, cwd: &Path) -> Result<bool> {
    let gone = match ctx.repo.worktrees().main_worktree().and_then(|_| main_is_chosen(ctx)) {
        Ok(()) => return Ok(false),
        Err(error) if error.code() == Code::BareRepository => error,
        Err(error) => return Err(error),
    };
    let repo = Repository::discover(cwd)?;
    let (Ok(main), Some(identity)) = (repo.worktrees().main_worktree(), identity::read(ctx.layout())?) else {
        return Err(gone);
    };
    // The workspace of a task is nobody's own.
    if ctx.by() != &By::User || repo.refs().head(&main)?.branch().is_some_and(|branch| task_branches::task_of(branch).is_some()) {
        return Err(gone);
    }
    let chosen = Identity { main_entry: repo.worktrees().main_entry(), ..identity };
    identity::write(ctx.layout(), &chosen.at(here(&repo))?)?;
    ctx.repo = repo.into();
    Ok(true)
}

fn here(repo: &Repository) -> Place {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let worktree = repo.worktrees().main_worktree().ok().map(|main| text(main.path()));
    Place { common_dir: text(repo.common_dir()), worktree }
}

fn look(ctx: &Context) -> Result<Found> {
    let Some(identity) = identity::read(ctx.layout())? else {
        return Ok(original_by_workspaces(ctx)?.map_or(Found::Unknown, |placing| Found::Placed(placing, None)));
    };
    if let Some(entry) = &identity.main_entry {
        ctx.repo.worktrees().choose_main(entry);
    }
    let (recorded, inode) = identity.compare(ctx.repo.common_dir())?;
    let how = match (place::find(recorded, inode), recorded) {
        (Finding::Ours, Recorded::ThisFolder) if !main_has_moved(ctx, &identity) => return Ok(Found::Settled),
        (Finding::Ours, Recorded::ThisFolder) => Arrival::Moved,
        (Finding::Restored, Recorded::ThisFolder) => return Ok(Found::SamePlace(identity)),
        (Finding::Ours, Recorded::OtherWithTheId | Recorded::WithoutTheId | Recorded::Unknown) => Arrival::Moved,
        (Finding::Restored, Recorded::OtherWithTheId | Recorded::WithoutTheId | Recorded::Unknown) => Arrival::Restored,
        (Finding::Copy, _) => Arrival::Copied,
    };
    // A session that goes on works with the paths that it knows.
    if how == Arrival::Moved && ctx.supervisor_alive()? {
        return Ok(Found::Settled);
    }
    let placing = Placing { how, from: identity.place.clone(), to: here(&ctx.repo) };
    Ok(Found::Placed(placing, Some(identity)))
}

/// Whether the main worktree of a bare repository is elsewhere than it was, and this is no copy of it. Of others it moves with the
/// repository.
fn main_has_moved(ctx: &Context, identity: &Identity) -> bool {
    let now = identity.main_entry.as_ref().and_then(|_| here(&ctx.repo).worktree);
    now.is_some() && now != identity.place.worktree && ctx.repo.worktrees().not_in_a_copied_worktree().is_ok()
}

/// Of a repository of an older version, which wrote nothing down: it is a copy where one of its workspaces is another
/// repository's, and that one says so too.
fn original_by_workspaces(ctx: &Context) -> Result<Option<Placing>> {
    for workspace in ctx.state().restorable.workspaces.values() {
        let Whose::Others(other) = ctx.repo.worktrees().whose(Path::new(&workspace.path))? else { continue };
        let common = other.git_dir.ancestors().nth(2).filter(|_| other.names_back);
        let Some(common) = common else { continue };
        let worktree = common.parent().filter(|_| common.ends_with(".git")).map(|path| path.to_string_lossy().into_owned());
        let from = Place { common_dir: common.to_string_lossy().into_owned(), worktree };
        return Ok(Some(Placing { how: Arrival::Copied, from, to: here(&ctx.repo) }));
    }
    Ok(None)
}

fn locked(ctx: &mut Context) -> Result<Vec<String>> {
    let common = ctx.repo.common_dir();
    let inode = std::fs::metadata(common).map_err(|e| Error::io("look at", common, e))?.ino();
    files::create_dir_all(&ctx.layout().locks_dir())?;
    let LockAttempt::Taken(_lock) = FileLock::take(&ctx.layout().placing_lock(inode), PATIENCE)? else {
        return Err(Error::new(Code::Busy, "another process settles where this repository is")
            .hint("wait for it to end, then run the command again"));
    };
    // Somebody else may have settled it while we waited.
    ctx.store.refresh()?;
    match look(ctx)? {
        Found::Settled => Ok(Vec::new()),
        Found::Unknown => write_down(ctx.layout(), &ctx.repo).map(|()| Vec::new()),
        Found::SamePlace(identity) => {
            let place = here(&ctx.repo);
            identity::write(ctx.layout(), &identity.at(place)?)?;
            Ok(vec!["the repository was restored in its place: what names it back is its own".into()])
        }
        Found::Placed(placing, identity) => {
            let mut said = vec![placing.words()];
            said.extend(match placing.how {
                Arrival::Copied => copied::leave_the_original_alone(ctx, &placing)?,
                Arrival::Moved | Arrival::Restored => moved::take_along(ctx, &placing)?,
            });
            env::fault_point("placement.before-event");
            tell(ctx, &placing)?;
            env::fault_point("placement.before-identity");
            let identity = match (placing.how, identity) {
                (Arrival::Moved | Arrival::Restored, Some(identity)) => identity.at(placing.to)?,
                (Arrival::Copied, identity) => {
                    let chosen = identity.and_then(|identity| identity.main_entry);
                    Identity::fresh(placing.to, chosen.or_else(|| ctx.repo.worktrees().main_entry()))?
                }
                (Arrival::Moved | Arrival::Restored, None) => Identity::fresh(placing.to, ctx.repo.worktrees().main_entry())?,
            };
            identity::write(ctx.layout(), &identity)?;
            Ok(said)
        }
    }
}

/// The event. A crash after it leads here again: then it is told already.
fn tell(ctx: &mut Context, placing: &Placing) -> Result<()> {
    ctx.in_its_own_transaction(By::Recovery, |ctx| {
        ctx.append_with(|state| {
            let told = state.record.placings.last().is_some_and(|last| last.placing == *placing);
            Ok(if told { Vec::new() } else { vec![Event::RepositoryPlaced { placing: Box::new(placing.clone()) }] })
        })
    })?;
    Ok(())
}
