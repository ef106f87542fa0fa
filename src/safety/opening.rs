//! Opening a repository for a purpose, and what its first operation after a start of the machine does first.

use std::path::Path;
use std::sync::Arc;

use crate::beside_log::journals::deinit::not_leaving;
use crate::beside_log::journals::purge::not_purging;
use crate::checkpoint;
use crate::context::handle::Context;
use crate::context::placement;
use crate::context::placement::VerbPurpose;
use crate::upkeep::log_recovery;
use crate::upkeep::mend::worktrees;
use axiom_base::error::Result;
use axiom_git::Repository;
use axiom_store::layout::StoreLayout;
use axiom_store::states::handle::Store;

/// Finds the repository around `cwd` and loads its state. Takes no lock and writes nothing, unless the repository was moved,
/// restored or copied since: see [`placement::settle`].
///
/// # Errors
/// `NOT_A_REPOSITORY` and the other errors of [`Repository::discover`]; `REPOSITORY_UNSUPPORTED` where the path of the
/// repository is not UTF-8; those of [`placement::settle`]; the codes of a damaged log;
/// `OPERATION_OPEN` where git axiom is half out of the repository.
pub fn open(cwd: &Path, purpose: VerbPurpose) -> Result<Context> {
    open_found(Arc::new(Repository::discover(cwd)?), purpose)
}

/// As [`open`], where the repository is known.
pub(crate) fn open_found(repo: Arc<Repository>, purpose: VerbPurpose) -> Result<Context> {
    not_leaving(repo.common_dir())?;
    not_purging(repo.common_dir(), purpose)?;
    of(repo, purpose)
}

/// As [`open`], for the verb that completes a purge.
pub fn open_to_purge(cwd: &Path) -> Result<Context> {
    let repo = Repository::discover(cwd)?;
    not_leaving(repo.common_dir())?;
    of(Arc::new(repo), VerbPurpose::Write)
}

fn of(repo: Arc<Repository>, purpose: VerbPurpose) -> Result<Context> {
    repo.worktrees().require_plain_place()?;
    let newest = match purpose {
        VerbPurpose::LookBack => Store::load_with_newest_events(StoreLayout::new(repo.common_dir()))?,
        VerbPurpose::Look | VerbPurpose::Write => None,
    };
    let store = newest.map_or_else(|| log_recovery::load(&repo), Ok)?;
    let mut ctx = Context::of(repo, store, after_start)?;
    ctx.found.said = placement::settle(&mut ctx, purpose)?;
    ctx.found.unsettled = purpose != VerbPurpose::Write && !ctx.found.said.is_empty();
    Ok(ctx)
}

/// The first operation after the machine was started mends what a power loss left, before anything reads it.
fn after_start(ctx: &mut Context) -> Result<()> {
    // A damaged worktree registration makes every git command fail, so it is repaired first.
    ctx.found.mended = worktrees::registrations(ctx)?;
    ctx.found.proof = ctx.repo.power_losses().prove_objects()?;
    if !ctx.found.proof.put_aside.is_empty() {
        checkpoint::write_again(ctx);
    }
    Ok(())
}
