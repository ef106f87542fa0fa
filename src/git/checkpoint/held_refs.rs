//! The local refs in a checkpoint: their list, and the objects that keep their targets reachable.
//!
//! The tree of the commit with the document has a folder `refs`. It contains `packed` and `loose`, each with a folder for
//! each bucket (its lines `oid SP name`, the contents of its tags, and the blobs and trees that its refs point to), `links`
//! (symbolic refs), `stash`, newest first, and `config`, the branch sections of the configuration. A loose ref hides a
//! packed one. The two are stored separately so that thousands of packed refs are written once and then only referred to.

use std::collections::BTreeSet;

use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::checkpoint::local_refs::{BUCKET, STASH, StashEntry, buckets, to_lines};

use super::held_ref_group::{HeldRefGroup, HeldRefs};
use crate::base::modes::TREE;
use crate::objects::database::{TreeEntry, gix_id};
use crate::refs::local::ListedRefs;
use crate::refs::tips::KeptTips;
use crate::repo::branch_config::to_text;
use crate::repo::handles::Checkpoints;

/// The name of the folder in the tree of the commit with the document.
pub(crate) const REFS: &[u8] = b"refs";
/// The name of the file with the lines of a bucket.
pub(crate) const LIST: &str = "list";
/// The name of the file with the branch sections of the configuration.
pub(crate) const CONFIG: &str = "config";
/// The largest list that is read.
pub(crate) const LIMIT: u64 = 1024 * 1024 * 1024;

/// How many of the newest stash entries are looked at each time: the others were when they were new.
const NEW_ENTRIES: usize = 5;

impl Checkpoints<'_> {
    /// Writes the current local refs, and what keeps their targets reachable, as objects. If the packed refs have not
    /// changed since an earlier checkpoint, they are not read.
    pub fn hold_local_refs(&self) -> Result<HeldRefs> {
        let mut listed = self.repo.ref_lists().listed_refs()?;
        let mut packed = None;
        let broken = self.broken_ones(&mut listed)?;
        if listed.but_packed {
            match self.packed_group(&listed)? {
                Some(found) => packed = Some(found),
                None => listed = self.repo.ref_lists().listed_by_git()?,
            }
        }
        let ListedRefs { refs, links, stash, unclear, but_packed: _ } = listed;
        let lines = refs.iter().map(|(name, oid)| (oid.clone(), name.as_str()));
        let stashed = stash.iter().map(|entry| (entry.id.clone(), STASH));
        let loose = self.write_group(lines.chain(stashed).collect())?;
        // Another process may have deleted refs, and their targets, since they were listed.
        for (oid, _) in refs.values().map(|oid| (oid, ())).chain(stash.iter().map(|entry| (&entry.id, ()))) {
            if !loose.missing.iter().any(|name| refs.get(name.as_str()) == Some(oid)) {
                self.repo.durability().note_written([gix_id(oid)?]);
            }
        }
        let mut entries = Vec::new();
        let mut add = |name: &str, mode: u32, oid: &Oid| {
            entries.push(TreeEntry { mode, oid: oid.clone(), name: name.into() });
        };
        let packed_group = packed.as_ref().map(|(_, remembered)| &remembered.group);
        if let Some(tree) = packed_group.and_then(|group| group.tree.as_ref()) {
            add("packed", TREE, tree);
        }
        if let Some(tree) = &loose.tree {
            add("loose", TREE, tree);
        }
        if !links.is_empty() {
            let text = to_lines(links.iter().map(|(name, target)| (target.as_str(), name.as_str())));
            add("links", 0o100_644, &self.repo.objects().write_blob(text.as_bytes())?);
        }
        let configs = self.repo.settings().branch_configs()?.unwrap_or_default();
        if !configs.is_empty() {
            add(CONFIG, 0o100_644, &self.repo.objects().write_blob(&to_text(&configs))?);
        }
        if !stash.is_empty() {
            let text = to_lines(stash.iter().map(|entry| (entry.id.as_str(), entry.message.as_str())));
            add("stash", 0o100_644, &self.repo.objects().write_blob(text.as_bytes())?);
        }
        let mut commits = packed_group.map_or_else(Vec::new, |group| group.commits.clone());
        commits.extend(loose.commits);
        let missing = packed_group.map_or_else(Vec::new, |group| group.missing.clone());
        let not_held = [unclear, broken, loose.missing, missing].concat();
        Ok(HeldRefs { tree: self.repo.trees().write_tree(&entries)?, commits, not_held, packed })
    }

    /// Takes refs and stash entries out of which something is known to be missing, however far down: a checkpoint that held them
    /// would not be whole. Returns their names. All are looked at where objects are known to be lost; otherwise only stash entries, and
    /// only what git wrote together with them: git syncs none of it.
    fn broken_ones(&self, listed: &mut ListedRefs) -> Result<Vec<RefName>> {
        let mut broken = BTreeSet::new();
        if !self.repo.power_losses().lost_objects()?.is_empty() {
            if listed.but_packed {
                let unclear = std::mem::take(&mut listed.unclear);
                *listed = ListedRefs { unclear, ..self.repo.ref_lists().listed_by_git()? };
            }
            let tips: BTreeSet<&Oid> = listed.refs.values().chain(listed.stash.iter().map(|entry| &entry.id)).collect();
            broken = self.repo.connectivity().broken_tips(&tips.into_iter().cloned().collect::<Vec<_>>(), None)?;
        }
        let mut names = Vec::new();
        for (name, _) in listed.refs.iter().filter(|(_, oid)| broken.contains(*oid)) {
            names.push(RefName::new(name.as_str()));
        }
        listed.refs.retain(|_, oid| !broken.contains(oid));
        let is_whole = |entry: &StashEntry| !broken.contains(&entry.id) && self.repo.connectivity().is_whole_nearby(&entry.id);
        let all = std::mem::take(&mut listed.stash);
        for (number, entry) in all.into_iter().enumerate() {
            let is_old = number >= NEW_ENTRIES && !broken.contains(&entry.id) && self.repo.connectivity().holds(&entry.id);
            match is_old || is_whole(&entry) {
                true => listed.stash.push(entry),
                false => names.push(RefName::new(format!("{STASH}@{{{number}}}"))),
            }
        }
        Ok(names)
    }

    /// Writes refs bucket by bucket, ordered by the ids of their targets.
    pub(crate) fn write_group(&self, mut lines: Vec<(Oid, &str)>) -> Result<HeldRefGroup> {
        lines.sort_unstable();
        lines.dedup();
        let gix = self.repo.gix()?;
        let mut group = HeldRefGroup::default();
        let mut tips: Vec<Oid> = lines.iter().map(|(oid, _)| oid.clone()).collect();
        tips.dedup();
        let mut folders = Vec::new();
        for (number, part) in buckets(&tips, BUCKET).into_iter().enumerate() {
            let tips = tips.get(part).unwrap_or_default();
            let (Some(first), Some(last)) = (tips.first(), tips.last()) else { continue };
            let mut kept = KeptTips::default();
            let mut missing = BTreeSet::new();
            for tip in tips {
                if !self.repo.tips().keep_tip(&gix, tip, &mut kept)? {
                    missing.insert(tip);
                }
            }
            let own = &lines[lines.partition_point(|(oid, _)| oid < first)..lines.partition_point(|(oid, _)| oid <= last)];
            let (gone, own): (Vec<_>, Vec<_>) = own.iter().partition(|(oid, _)| missing.contains(oid));
            group.missing.extend(gone.into_iter().map(|(_, name)| RefName::new(*name)));
            if own.is_empty() {
                continue;
            }
            let list = to_lines(own.into_iter().map(|(oid, name)| (oid.as_str(), *name)));
            let mut entries = kept.entries(self.repo)?;
            let list = self.repo.objects().write_blob(list.as_bytes())?;
            entries.push(TreeEntry { mode: 0o100_644, oid: list, name: LIST.into() });
            folders.push(TreeEntry {
                mode: TREE,
                oid: self.repo.trees().write_tree(&entries)?,
                name: format!("{number:06}").into_bytes(),
            });
            group.commits.extend(kept.buckets(self.repo)?);
        }
        if !folders.is_empty() {
            group.tree = Some(self.repo.trees().write_tree(&folders)?);
        }
        Ok(group)
    }
}

#[cfg(test)]
mod tests;
