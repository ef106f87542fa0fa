//! Finding out whether this repository is still where it was when its place was recorded, and adapting to a change: a moved
//! or restored repository continues here; a copy becomes a repository of its own, and nothing that belongs to the original
//! is touched.
//!
//! The rules are in [`model::state::place`](axiom_model::state::repository_location). Other code does not read recorded paths as they
//! are: an event says from where to where the repository moved, and all paths recorded before it are translated to the new
//! place.

mod copied;
mod moved;

use axiom_model::work::tasks::branch_names;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt};
use axiom_git::{Repository, WorktreeOwner};
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::state::repository_location::{
    self, RecordedLocationState, RelocationCause, RepositoryLocation, RepositoryProvenance, RepositoryRelocation,
};
use axiom_store::beside::known_repositories;
use axiom_store::identity::{self, RecordedIdentity};
use axiom_store::layout::StoreLayout;

use super::handle::Context;
use super::ownership;
use super::recorded_place::{here, write_down};

/// How long to wait for another process that settles the same change.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whether a verb writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerbPurpose {
    /// It only reads: nothing is written, and the state is shown as it will be once the change is settled.
    Look,
    /// As `Look`, and it needs the newest part of the log: the state is read together with that.
    LookBack,
    /// It may write.
    Write,
}

/// The result of comparing the repository with its recorded place.
enum PlacementFinding {
    /// The place is the recorded one: nothing to settle.
    Settled,
    /// No place is recorded yet, and nothing shows that this is a copy.
    Unknown,
    /// The same repository in the same place under another inode.
    SamePlace(RecordedIdentity),
    /// The repository was moved, restored or copied here.
    Placed(RepositoryRelocation, Option<RecordedIdentity>),
}

/// Settles the place of the repository, before anything else is done; returns notes for the user.
pub fn settle(ctx: &mut Context, purpose: VerbPurpose) -> Result<Vec<String>> {
    let found = if ctx.layout().exists() { look(ctx)? } else { PlacementFinding::Settled };
    if purpose == VerbPurpose::Write {
        ownership::root_is_the_owner(&ctx.repo)?;
        ctx.repo.worktree_owners().not_in_a_copied_worktree()?;
    }
    match found {
        PlacementFinding::Settled => Ok(Vec::new()),
        PlacementFinding::Unknown | PlacementFinding::SamePlace(_) | PlacementFinding::Placed(..)
            if purpose == VerbPurpose::Write =>
        {
            locked(ctx)
        }
        PlacementFinding::Unknown | PlacementFinding::SamePlace(_) => Ok(Vec::new()),
        PlacementFinding::Placed(placing, _) => {
            let said = format!("{}; the next command that changes something will record this", placing.words());
            ctx.store.look_as(&placing);
            Ok(vec![said])
        }
    }
}

/// Lists the repository for `recover --all`.
pub fn list(layout: &StoreLayout) -> Result<()> {
    known_repositories::note(layout)
}

/// Chooses the recorded main worktree of a bare repository, for callers without a [`Context`].
pub fn recall_main(repo: &Repository) -> Result<()> {
    if let Some(entry) = identity::read(&StoreLayout::new(repo.common_dir()))?.and_then(|identity| identity.main_entry) {
        repo.bare().choose_main(&entry);
    }
    Ok(())
}

/// Checks that the main worktree of a bare repository is recorded. For a repository that became bare after its place was
/// recorded, none is; without this check, the worktree of whichever command comes first would become the main one.
pub fn main_is_chosen(ctx: &Context) -> Result<()> {
    let repo = &ctx.repo;
    if repo.git_dir() == repo.common_dir() || repo.bare().main_entry().is_none() {
        return Ok(());
    }
    match identity::read(ctx.layout())? {
        Some(identity) if identity.main_entry.is_none() => Err(repo.bare().none_is_chosen()?),
        Some(_) | None => Ok(()),
    }
}

/// Makes the current worktree the main one, where that of the bare repository is missing or was never chosen. Returns
/// `false` where the main worktree is there, or the repository is not bare.
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
    // The workspace of a task cannot be the main worktree, and an agent cannot choose one.
    if ctx.by() != &EventAuthor::User
        || repo.refs().head(&main)?.branch().is_some_and(|branch| branch_names::task_of(branch).is_some())
    {
        return Err(gone);
    }
    let chosen = RecordedIdentity { main_entry: repo.bare().main_entry(), ..identity };
    identity::write(ctx.layout(), &chosen.at(here(&repo))?)?;
    ctx.repo = repo.into();
    Ok(true)
}

fn look(ctx: &Context) -> Result<PlacementFinding> {
    let Some(identity) = identity::read(ctx.layout())? else {
        return Ok(
            original_by_workspaces(ctx)?.map_or(PlacementFinding::Unknown, |placing| PlacementFinding::Placed(placing, None))
        );
    };
    if let Some(entry) = &identity.main_entry {
        ctx.repo.bare().choose_main(entry);
    }
    let (recorded, inode) = identity.compare(ctx.repo.common_dir())?;
    let how = match (repository_location::find(recorded, inode), recorded) {
        (RepositoryProvenance::Ours, RecordedLocationState::ThisFolder) if !main_has_moved(ctx, &identity) => {
            return Ok(PlacementFinding::Settled);
        }
        (RepositoryProvenance::Ours, RecordedLocationState::ThisFolder) => RelocationCause::Moved,
        (RepositoryProvenance::Restored, RecordedLocationState::ThisFolder) => return Ok(PlacementFinding::SamePlace(identity)),
        (
            RepositoryProvenance::Ours,
            RecordedLocationState::OtherWithTheId | RecordedLocationState::WithoutTheId | RecordedLocationState::Unknown,
        ) => RelocationCause::Moved,
        (
            RepositoryProvenance::Restored,
            RecordedLocationState::OtherWithTheId | RecordedLocationState::WithoutTheId | RecordedLocationState::Unknown,
        ) => RelocationCause::Restored,
        (RepositoryProvenance::Copy, _) => RelocationCause::Copied,
    };
    // A running session keeps using the paths that it knows.
    if how == RelocationCause::Moved && ctx.supervisor_alive()? {
        return Ok(PlacementFinding::Settled);
    }
    let placing = RepositoryRelocation { how, from: identity.place.clone(), to: here(&ctx.repo) };
    Ok(PlacementFinding::Placed(placing, Some(identity)))
}

/// Whether the main worktree of a bare repository is at another path than recorded, and is not a copy. (Where the repository
/// is not bare, its main worktree moves together with it.)
fn main_has_moved(ctx: &Context, identity: &RecordedIdentity) -> bool {
    let now = identity.main_entry.as_ref().and_then(|_| here(&ctx.repo).worktree);
    now.is_some() && now != identity.place.worktree && ctx.repo.worktree_owners().not_in_a_copied_worktree().is_ok()
}

/// For a repository whose recorded place is lost: it is a copy where one of its workspaces belongs to
/// another repository, and that repository's registration names this workspace too.
fn original_by_workspaces(ctx: &Context) -> Result<Option<RepositoryRelocation>> {
    for workspace in ctx.state().restorable.workspaces.values() {
        let WorktreeOwner::Others(other) = ctx.repo.worktree_owners().whose(Path::new(&workspace.path))? else { continue };
        let common = other.git_dir.ancestors().nth(2).filter(|_| other.names_back);
        let Some(common) = common else { continue };
        let worktree = common.parent().filter(|_| common.ends_with(".git")).map(|path| path.to_string_lossy().into_owned());
        let from = RepositoryLocation { common_dir: common.to_string_lossy().into_owned(), worktree };
        return Ok(Some(RepositoryRelocation { how: RelocationCause::Copied, from, to: here(&ctx.repo) }));
    }
    Ok(None)
}

fn locked(ctx: &mut Context) -> Result<Vec<String>> {
    let common = ctx.repo.common_dir();
    let inode = std::fs::metadata(common).map_err(|e| Error::io("access", common, e))?.ino();
    files::create_dir_all(&ctx.layout().locks().folder())?;
    let LockAttempt::Taken(_lock) = FileLock::take(&ctx.layout().locks().placing(inode), PATIENCE)? else {
        return Err(Error::new(Code::Busy, "another process is recording the new location of this repository")
            .hint("wait for it to end, then run the command again"));
    };
    // Another process may have settled it while this one waited for the lock.
    ctx.store.refresh()?;
    match look(ctx)? {
        PlacementFinding::Settled => Ok(Vec::new()),
        PlacementFinding::Unknown => write_down(ctx.layout(), &ctx.repo).map(|()| Vec::new()),
        PlacementFinding::SamePlace(identity) => {
            let place = here(&ctx.repo);
            identity::write(ctx.layout(), &identity.at(place)?)?;
            Ok(vec!["the repository was restored in the same place; its worktrees still belong to it".into()])
        }
        PlacementFinding::Placed(placing, identity) => {
            let mut said = vec![placing.words()];
            said.extend(match placing.how {
                RelocationCause::Copied => copied::leave_the_original_alone(ctx, &placing)?,
                RelocationCause::Moved | RelocationCause::Restored => moved::take_along(ctx, &placing)?,
            });
            env::fault_point("placement.before-event");
            tell(ctx, &placing)?;
            env::fault_point("placement.before-identity");
            let identity = match (placing.how, identity) {
                (RelocationCause::Moved | RelocationCause::Restored, Some(identity)) => identity.at(placing.to)?,
                (RelocationCause::Copied, identity) => {
                    let chosen = identity.and_then(|identity| identity.main_entry);
                    RecordedIdentity::fresh(placing.to, chosen.or_else(|| ctx.repo.bare().main_entry()))?
                }
                (RelocationCause::Moved | RelocationCause::Restored, None) => {
                    RecordedIdentity::fresh(placing.to, ctx.repo.bare().main_entry())?
                }
            };
            identity::write(ctx.layout(), &identity)?;
            Ok(said)
        }
    }
}

/// Appends the event. A crash after it leads here again: then the event is there already.
fn tell(ctx: &mut Context, placing: &RepositoryRelocation) -> Result<()> {
    ctx.in_its_own_transaction(EventAuthor::Recovery, |ctx| {
        ctx.append_with(|state| {
            let told = state.record.placings.last().is_some_and(|last| last.placing == *placing);
            Ok(if told { Vec::new() } else { vec![Event::RepositoryPlaced { placing: Box::new(placing.clone()) }] })
        })
    })?;
    Ok(())
}
