//! Landings that a power loss interrupted: what has content but no name in the object database yet.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::base::names::Oid;

use super::landing::{LANDING, land_folder, lay_out, loose_in, packs_in};
use crate::repo::handles::Durability;
use crate::repo::orphan_scratch::OrphanScratchFolder;

/// The largest pack that is taken in after a power loss. Our packs contain only what one operation made.
const PACK_LIMIT: u64 = 2 * 1024 * 1024 * 1024;

/// What a loose object names, but for commits of submodules.
pub(crate) struct LooseObjectLinks {
    /// What it has in it: the entries of a tree, the tree of a commit, what a tag is of.
    pub content: Vec<Oid>,
    /// The parents of a commit.
    pub parents: Vec<Oid>,
}

impl Durability<'_> {
    /// Finishes landings that were interrupted after all objects were on disk and before all of them were in the database,
    /// and removes the stage folders of dead processes. Each object is read back first. Safe to repeat, and to be
    /// interrupted.
    pub fn finish_landings(&self) -> Result<usize> {
        let mut finished = 0;
        for folder in self.repo.scratch_folders().dead()? {
            if folder.path.join(LANDING).is_file() {
                finished += self.finish_landing(&folder.path)?;
            }
            // All of its objects are in the database now.
            give_up(&folder);
        }
        Ok(finished)
    }

    /// Removes what processes that were killed left in our scratch folder, as long as `until` has not come; what has to be finished first
    /// ([`Durability::finish_landings`]) stays. Costs one list of names where nothing is left.
    pub fn clear_dead_folders(&self, until: Option<Instant>) {
        let dead = self.repo.scratch_folders().dead().unwrap_or_else(|error| {
            tracing::debug!(%error, "what was killed cannot be told");
            Vec::new()
        });
        for folder in dead.iter().filter(|folder| !folder.path.join(LANDING).is_file()) {
            if until.is_some_and(|until| Instant::now() >= until) {
                return;
            }
            give_up(folder);
        }
    }

    fn finish_landing(&self, folder: &Path) -> Result<usize> {
        let mut finished = 0;
        lay_out(folder)?;
        let whole = |id: &gix::ObjectId| self.is_whole_at(folder, id);
        let waiting: Vec<_> = loose_in(folder)?.into_iter().filter(whole).collect();
        for pack in packs_in(folder)?.iter().filter(|name| name.ends_with(".pack")) {
            self.take_in_pack(&folder.join("pack").join(pack))?;
            finished += 1;
        }
        if !waiting.is_empty() {
            tracing::info!(objects = waiting.len(), "what a power loss left without names gets them");
            let ordered = self.after_what_they_name(folder, &waiting);
            land_folder(self.repo, folder, Some(&ordered))?;
            finished += waiting.len();
        }
        Ok(finished)
    }

    /// Has git index a pack again and add it to the object database, if the pack is whole.
    fn take_in_pack(&self, pack: &Path) -> Result<()> {
        let output = self.repo.git().writing().args(["index-pack", "--stdin"]).stdin(files::read(pack, PACK_LIMIT)?).run()?;
        if !output.ok() {
            tracing::warn!(pack = %pack.display(), why = %output.error(), "a pack that never got its name is not whole");
        }
        Ok(())
    }

    /// Whether a loose object in a folder of objects can be read and matches its id.
    pub(crate) fn is_whole_at(&self, objects: &Path, id: &gix::oid) -> bool {
        self.read_loose(objects, id).is_some()
    }

    /// Kind and content of a loose object in a folder of objects, if they match its id.
    pub(crate) fn read_loose(&self, objects: &Path, id: &gix::oid) -> Option<(gix::objs::Kind, Vec<u8>)> {
        let store = gix::odb::loose::Store::at(objects, self.repo.hash().gix());
        let mut content = Vec::new();
        let kind = store.try_find(id, &mut content).ok()??.kind;
        let is = gix::objs::compute_hash(self.repo.hash().gix(), kind, &content).ok()?;
        (*is == *id).then_some((kind, content))
    }

    /// What a loose object of a folder names; nothing where it cannot be read.
    pub(crate) fn loose_links(&self, folder: &Path, id: &gix::oid) -> Result<LooseObjectLinks> {
        let store = gix::odb::loose::Store::at(folder, self.repo.hash().gix());
        let is_commit = matches!(store.try_header(id), Ok(Some((_, gix::objs::Kind::Commit))));
        let named = named_by(&store, id, self.repo.hash().gix());
        let mut content = named.iter().map(|one| Oid::from_bytes(one.as_bytes())).collect::<Result<Vec<_>>>()?;
        // A commit names its tree first.
        let parents = if is_commit { content.split_off(content.len().min(1)) } else { Vec::new() };
        Ok(LooseObjectLinks { content, parents })
    }

    /// The objects of a folder, each after those that it refers to.
    pub(super) fn after_what_they_name(&self, folder: &Path, all: &[gix::ObjectId]) -> Vec<gix::ObjectId> {
        let store = gix::odb::loose::Store::at(folder, self.repo.hash().gix());
        let waiting: BTreeSet<gix::ObjectId> = all.iter().copied().collect();
        let (mut seen, mut ordered) = (BTreeSet::new(), Vec::new());
        // Each object is pushed twice: first to visit what it refers to, then to add the object.
        let mut open: Vec<(gix::ObjectId, bool)> = all.iter().rev().map(|id| (*id, false)).collect();
        while let Some((id, is_ready)) = open.pop() {
            if is_ready {
                ordered.push(id);
            } else if seen.insert(id) {
                open.push((id, true));
                let named = named_by(&store, &id, self.repo.hash().gix());
                open.extend(named.into_iter().filter(|one| waiting.contains(one)).map(|one| (one, false)));
            }
        }
        ordered
    }
}

/// On file systems where open files stay under a hidden name (FUSE), a folder cannot be removed yet.
fn give_up(folder: &OrphanScratchFolder) {
    if let Err(error) = folder.remove() {
        tracing::warn!(%error, "a temporary folder stays for cleanup");
    }
}

/// The objects that a loose object refers to, but for commits of submodules.
fn named_by(store: &gix::odb::loose::Store, id: &gix::oid, hash: gix::hash::Kind) -> Vec<gix::ObjectId> {
    use gix::objs::Kind;
    let mut content = Vec::new();
    let kind = match store.try_header(id) {
        Ok(Some((_, Kind::Blob))) | Ok(None) | Err(_) => return Vec::new(),
        Ok(Some((_, kind))) => kind,
    };
    if !matches!(store.try_find(id, &mut content), Ok(Some(_))) {
        return Vec::new();
    }
    match kind {
        Kind::Blob => Vec::new(),
        Kind::Tree => named_by_tree(&content, hash),
        Kind::Commit | Kind::Tag => {
            let header = content.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
            let ids = header.filter_map(|line| {
                let (key, value) = line.split_at(line.iter().position(|byte| *byte == b' ')?);
                let is_named = matches!(key, b"tree" | b"parent" | b"object");
                is_named.then(|| gix::ObjectId::from_hex(value.trim_ascii()).ok()).flatten()
            });
            ids.collect()
        }
    }
}

/// The objects that a tree with this content refers to, but for commits of submodules.
pub(crate) fn named_by_tree(content: &[u8], hash: gix::hash::Kind) -> Vec<gix::ObjectId> {
    let entries = gix::objs::TreeRefIter::from_bytes(content, hash).filter_map(std::result::Result::ok);
    entries.filter(|entry| !entry.mode.is_commit()).map(|entry| entry.oid.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::base::loose::{encoded, loose_file};
    use crate::base::object_kind::ObjectKind;
    use crate::objects::database::gix_id;
    use crate::repo::own_scratch::OWNED;
    use crate::repo::scratch::ScratchRepository;
    use axiom_model::base::names::Oid;

    #[test]
    fn a_landing_that_power_loss_interrupted_is_finished_and_a_folder_without_one_goes() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let tree = {
            let blob = repo.objects().write_blob(b"in a tree").unwrap();
            let entry = crate::objects::database::TreeEntry { mode: 0o100_644, oid: blob, name: b"x".to_vec() };
            repo.trees().write_tree(&[entry]).unwrap()
        };
        let from = repo.durability().stage_folder().unwrap().unwrap().path().to_owned();
        let tmp = scratch.path().join(".git/axiom/tmp");
        let copied = |name: &str| {
            let to = tmp.join(name);
            let done = std::process::Command::new("cp").arg("-a").arg(&from).arg(&to).status().unwrap();
            assert!(done.success());
            to
        };
        let dead = copied("git-dead-0123456789abcdef");
        let landing = copied("git-landing-0123456789abcdef");
        std::fs::write(landing.join(LANDING), b"").unwrap();
        let torn = loose_file(&landing, &gix_id(&Oid::new("1".repeat(40)).unwrap()).unwrap());
        std::fs::create_dir_all(torn.parent().unwrap()).unwrap();
        std::fs::write(&torn, b"").unwrap();
        assert_eq!(repo.durability().finish_landings().unwrap(), 2);
        let named = loose_file(&scratch.path().join(".git/objects"), &gix_id(&tree).unwrap());
        assert!(named.is_file());
        assert!(!dead.exists() && !landing.exists() && from.exists(), "the living keep theirs");
        assert_eq!(repo.durability().finish_landings().unwrap(), 0);
        scratch.git(&["fsck", "--strict"]);
    }

    #[test]
    fn a_landing_from_memory_is_finished_too_without_what_is_torn() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let whole = [b"one".as_slice(), &[7; 5000]].map(|content| repo.objects().id_of(ObjectKind::Blob, content).unwrap());
        let left = scratch.path().join(".git/axiom/tmp/git-landing-0123456789abcdef");
        std::fs::create_dir_all(&left).unwrap();
        for file in [OWNED, LANDING] {
            std::fs::write(left.join(file), b"").unwrap();
        }
        let file = |content: &[u8]| encoded(gix::objs::Kind::Blob, content).unwrap();
        std::fs::write(left.join(whole[0].to_string()), file(b"one")).unwrap();
        std::fs::write(left.join(whole[1].to_string()), file(&[7; 5000])).unwrap();
        let torn = repo.objects().id_of(ObjectKind::Blob, b"torn").unwrap();
        std::fs::write(left.join(torn.to_string()), &file(b"torn")[..5]).unwrap();
        assert_eq!(repo.durability().finish_landings().unwrap(), 2);
        assert!(!left.exists());
        let is_named = |id: &gix::ObjectId| loose_file(&scratch.path().join(".git/objects"), id).is_file();
        assert!(whole.iter().all(is_named) && !is_named(&torn));
        scratch.git(&["fsck", "--strict"]);
    }
}
