//! Packing the objects that checkpoints hold, and the refs.

use serde::Serialize;

use super::heal;
use crate::checkpoint::HealDepth;
use crate::context::handle::Context;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};

/// The disk space that the repository takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RepositorySpace {
    /// The number of loose objects.
    pub loose: u64,
    /// Bytes of loose objects and packs.
    pub bytes: u64,
}

/// What compacting did.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactReport {
    /// The space before.
    #[serde(rename = "old")]
    pub before: RepositorySpace,
    /// The space after.
    #[serde(rename = "new")]
    pub after: RepositorySpace,
    /// Whether the history of the notes was cut.
    pub notes_cut: bool,
    /// Why nothing was packed: git packs only where it can work with every worktree, and where nothing is lost that it reaches.
    pub not_packed: Option<String>,
}

/// The objects of the repository, as git counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepositoryObjectCounts {
    /// The number of loose objects.
    pub loose: u64,
    /// Their bytes.
    pub loose_bytes: u64,
    /// The number of packs.
    pub packs: u64,
    /// Their bytes, with their indexes.
    pub packed_bytes: u64,
}

/// Measures the disk space that the repository takes now.
pub fn space(ctx: &Context) -> Result<RepositorySpace> {
    let objects = objects(ctx)?;
    Ok(RepositorySpace { loose: objects.loose, bytes: objects.loose_bytes + objects.packed_bytes })
}

/// Counts the objects of the repository.
pub fn objects(ctx: &Context) -> Result<RepositoryObjectCounts> {
    let text = ctx.repo.git().args(["count-objects", "-v"]).text()?;
    let value = |key: &str| -> Result<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        line.and_then(|value| value.parse().ok())
            .ok_or_else(|| Error::new(Code::GitFailed, format!("'git count-objects' did not say {key}")))
    };
    Ok(RepositoryObjectCounts {
        loose: value("count")?,
        loose_bytes: value("size")? * 1024,
        packs: value("packs")?,
        packed_bytes: value("size-pack")? * 1024,
    })
}

/// Packs loose objects and refs, those of checkpoints included, and cuts the history of the notes; the notes themselves stay, also
/// those of other tools. No unreferenced object is deleted. A crash leaves at worst more packs than needed.
pub fn compact(ctx: &mut Context) -> Result<CompactReport> {
    ctx.with_change_lock(|ctx| {
        heal::heal(ctx, HealDepth::Notes)?;
        let before = space(ctx)?;
        env::fault_point("checkpoint.before-cut");
        let cut = ctx.repo.notes().cut_notes(&ctx.repo.notes().load()?)?;
        let edits: Vec<_> = cut.into_iter().collect();
        ctx.repo.refs().update_refs(&edits, "git axiom: compact")?;
        env::fault_point("checkpoint.before-pack");
        let damaged = ctx.repo.registrations().damaged_worktrees()?.into_iter().next();
        let mut not_packed = damaged.map(|one| format!("the worktree '{}' is damaged: {}", one.place().display(), one.why()));
        if not_packed.is_none() {
            match ctx.repo.durability().pack_loose() {
                // Something is lost that git reaches, perhaps from a reflog alone.
                Err(error) if error.code() == Code::GitFailed => not_packed = Some(error.to_string()),
                outcome => outcome?,
            }
        }
        env::fault_point("checkpoint.packed");
        ctx.repo.durability().finish_landings()?;
        ctx.repo.concurrent_gc().clear_kept_packs()?;
        ctx.repo.durability().join_small_packs()?;
        if not_packed.is_none()
            && let Err(error) = ctx.repo.packed_refs().pack()
        {
            // Another git process may be at it: then it packs them.
            tracing::warn!(%error, "the refs stay loose");
        }
        Ok(CompactReport { before, after: space(ctx)?, notes_cut: !edits.is_empty(), not_packed })
    })
}
