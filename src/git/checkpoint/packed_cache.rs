//! A cache of the objects with which the last checkpoint holds the packed refs. It saves reading thousands of refs and
//! writing the same objects again. Without the cache, or if it is out of date, everything is read again.
//!
//! The cache is valid while the packed-refs file is the same, the names of the loose refs are the same, and the capture that
//! holds the objects is still in its ref: then all of these objects exist.

use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::base::names::{Oid, RefName};

use super::held_ref_group::{PackedRefsHolder, PackedRefsSource};
use crate::checkpoint::held_ref_group::{HeldRefGroup, HeldRefs};
use crate::refs::local::{ListedRefs, PackedRefsStat};
use crate::refs::own_refs::REF_LIMIT;
use crate::repo::handles::PackedRefsFile;

/// The name of the cache file, in git axiom's scratch folder.
const FILE: &str = "packed-refs";
/// The first line.
const HEADER: &str = "git axiom: packed refs 1";
/// The largest cache file that is read.
const LIMIT: u64 = 16 * 1024 * 1024;
/// A file must be older than this many nanoseconds before its times distinguish it from a later version.
const OLD: i128 = 100_000_000;
/// The same for file systems that store whole seconds only.
const OLD_IN_SECONDS: i128 = 2_000_000_000;

impl PackedRefsFile<'_> {
    /// Whether the file was old enough, when it was read, that a later version cannot have the same times.
    pub(crate) fn tells_apart(stat: &PackedRefsStat, read_at: i128) -> bool {
        let whole_seconds = stat.changed % 1_000_000_000 == 0;
        read_at - stat.changed >= if whole_seconds { OLD_IN_SECONDS } else { OLD }
    }

    /// A digest of the names of loose refs.
    pub(crate) fn digest_of_names(&self, listed: &ListedRefs) -> Result<String> {
        let names: String = listed.refs.keys().chain(listed.links.keys()).flat_map(|name| [name.as_str(), "\n"]).collect();
        self.digest(names.as_bytes())
    }

    fn digest(&self, bytes: &[u8]) -> Result<String> {
        let hash = gix::objs::compute_hash(self.repo.hash().gix(), gix::objs::Kind::Blob, bytes);
        Ok(hash
            .map_err(|e| axiom_base::error::Error::new(axiom_base::error::Code::GitFailed, "cannot make a digest").because(e))?
            .to_string())
    }

    /// The cached objects for the packed refs, if the cache is valid, and the capture that holds them.
    pub(crate) fn remembered(&self, stat: &PackedRefsStat, hiding: &str) -> Result<Option<(HeldRefGroup, PackedRefsHolder)>> {
        // A cache that cannot be read is ignored.
        let Ok(Some(content)) = files::read_optional(&self.repo.scratch_folders().own().join(FILE), LIMIT) else {
            return Ok(None);
        };
        let Ok(text) = String::from_utf8(content) else { return Ok(None) };
        let Some((body, sum)) = text.trim_end().rsplit_once('\n') else { return Ok(None) };
        if self.digest(body.as_bytes())? != sum {
            return Ok(None);
        }
        let mut lines = body.lines();
        if lines.next() != Some(HEADER) || lines.next() != Some(stat.text.as_str()) || lines.next() != Some(hiding) {
            return Ok(None);
        }
        let Some((name, capture)) = lines.next().and_then(|line| line.split_once(' ')) else { return Ok(None) };
        let holder = PackedRefsHolder { name: RefName::new(name), capture: Oid::new(capture)? };
        if !self.still_holds(&holder)? {
            return Ok(None);
        }
        let mut group = HeldRefGroup::default();
        for line in lines {
            match line.split_once(' ') {
                Some(("tree", oid)) => group.tree = Some(Oid::new(oid)?),
                Some(("commit", oid)) => group.commits.push(Oid::new(oid)?),
                Some(("missing", name)) => group.missing.push(RefName::new(name)),
                Some(_) | None => return Ok(None),
            }
        }
        Ok(Some((group, holder)))
    }

    /// Whether a ref still has this capture as its value.
    pub(crate) fn still_holds(&self, holder: &PackedRefsHolder) -> Result<bool> {
        Ok(self.value_now(&holder.name)?.as_ref() == Some(&holder.capture))
    }

    /// The value of a ref, from its loose file if it has one.
    fn value_now(&self, name: &RefName) -> Result<Option<Oid>> {
        let content = files::read_optional(&self.repo.common_dir().join(name.in_git()), REF_LIMIT).ok().flatten();
        match content.and_then(|content| Oid::new(String::from_utf8_lossy(&content).trim_end()).ok()) {
            Some(oid) => Ok(Some(oid)),
            None => self.repo.refs().read_ref(name),
        }
    }

    /// Writes the cache after a checkpoint's capture ref exists. A failure does no harm: the next checkpoint reads the
    /// packed refs again.
    pub fn remember_packed_refs(&self, held: &HeldRefs, name: &RefName, capture: &Oid) {
        let Some((stat, memory)) = held.packed.as_ref().filter(|(_, memory)| memory.source == PackedRefsSource::File) else {
            return;
        };
        let mut text = format!("{HEADER}\n{}\n{}\n{name} {capture}\n", stat.text, memory.hiding);
        let group = &memory.group;
        let tree = group.tree.iter().map(|oid| format!("tree {oid}\n"));
        let commits = group.commits.iter().map(|oid| format!("commit {oid}\n"));
        let missing = group.missing.iter().map(|name| format!("missing {name}\n"));
        text.extend(tree.chain(commits).chain(missing));
        let written = self.digest(text.trim_end().as_bytes()).and_then(|sum| {
            text.push_str(&sum);
            let folder = self.repo.scratch_folders().make()?;
            let new = folder.path().join("packed-refs");
            files::write_scratch(&new, text.as_bytes())?;
            files::replace_unsynced(&new, &self.repo.scratch_folders().own().join(FILE))
        });
        if let Err(error) = written {
            tracing::warn!(%error, "the packed refs are not remembered");
        }
    }
}
