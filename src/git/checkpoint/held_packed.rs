//! The packed refs in a checkpoint: reused from an earlier checkpoint through the cache, or written.

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::Oid;
use axiom_model::checkpoint::local_refs::is_held;

use super::held_ref_group::HeldRefs;
use crate::checkpoint::held_ref_group::{CachedPackedRefs, PackedRefsSource};
use crate::objects::database::gix_id;
use crate::refs::local::{ListedRefs, PackedRefsStat};
use crate::repo::handles::Checkpoints;

impl Checkpoints<'_> {
    /// The packed refs as objects, from the cache or newly written; `None` where git has to read the packed refs.
    pub(crate) fn packed_group(&self, listed: &ListedRefs) -> Result<Option<(PackedRefsStat, CachedPackedRefs)>> {
        let Some(stat) = self.repo.packed_refs().packed_stat() else {
            // No file means no packed refs. Where it is not a regular file, git has to read it.
            let nothing = std::fs::symlink_metadata(self.repo.packed_refs().packed_refs_file()).is_err();
            let none = PackedRefsStat { text: String::new(), changed: 0 };
            return Ok(nothing.then(|| (none, CachedPackedRefs::default())));
        };
        let hiding = self.repo.packed_refs().digest_of_names(listed)?;
        if let Some((group, holder)) = self.repo.packed_refs().remembered(&stat, &hiding)? {
            for oid in group.tree.iter().chain(&group.commits) {
                self.repo.durability().note_written([gix_id(oid)?]);
            }
            return Ok(Some((stat, CachedPackedRefs { group, hiding, source: PackedRefsSource::Memory(holder) })));
        }
        let now = env::now().as_nanosecond();
        let Some(packed) = self.repo.packed_refs().lines() else { return Ok(None) };
        let Ok(range) = packed.below("refs/") else { return Ok(None) };
        let mut lines = Vec::new();
        for (name, value) in packed.values(range).filter(|(name, _)| is_held(name) && !listed.hides(name)) {
            lines.push((Oid::new(value)?, name));
        }
        let group = self.write_group(lines)?;
        // If the file was replaced meanwhile, `stat` does not belong to the refs that were read.
        let is_same = self.repo.packed_refs().packed_stat().as_ref() == Some(&stat);
        let source = if is_same && crate::repo::handles::PackedRefsFile::tells_apart(&stat, now) {
            PackedRefsSource::File
        } else {
            PackedRefsSource::NewFile
        };
        Ok(Some((stat, CachedPackedRefs { group, hiding, source })))
    }

    /// Checks that all objects that keep packed refs still exist, if the packed refs have changed since they were read: the
    /// targets of deleted refs may have been removed, and only for tags the content is kept. (The targets of loose refs are
    /// noted and checked elsewhere.) To be called once a ref holds the checkpoint.
    pub fn packed_tips_are_there(&self, held: &HeldRefs) -> Result<()> {
        let Some((stat, memory)) = &held.packed else { return Ok(()) };
        let is_same = self.repo.packed_refs().packed_stat().map_or(stat.text.is_empty(), |now| now == *stat);
        let Some(tree) = memory.group.tree.as_ref().filter(|_| !is_same) else { return Ok(()) };
        let mut kept = self.repo.tips().objects_below(tree)?;
        for bucket in &memory.group.commits {
            kept.extend(self.repo.objects().read_commit(bucket)?.parents);
        }
        for oid in kept {
            if !self.repo.durability().is_there_now(&gix_id(&oid)?)? {
                return Err(Error::new(Code::Busy, format!("{oid}, which a packed ref named, was removed at this moment")));
            }
        }
        Ok(())
    }

    /// The tree of packed refs that an earlier checkpoint holds, if its capture is still in its ref.
    pub fn held_before(&self, held: &HeldRefs) -> Result<Option<Oid>> {
        let Some((_, CachedPackedRefs { group, source: PackedRefsSource::Memory(holder), .. })) = &held.packed else {
            return Ok(None);
        };
        Ok(if self.repo.packed_refs().still_holds(holder)? { group.tree.clone() } else { None })
    }
}
