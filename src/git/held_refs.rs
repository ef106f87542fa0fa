//! The local refs in a checkpoint: their list, and what keeps alive what they name.
//!
//! The tree of the commit with the document has a folder `refs`: `packed` and `loose` with a folder for each bucket (its lines
//! `oid SP name`, the contents of its tags, blobs and trees that these name), `links`, `stash`, newest first, and `config`, what
//! the configuration says of branches. What is loose
//! hides what is packed, and is a part of its own, so that thousands of packed refs are written once and then only named.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::branch_config::BranchConfigs;
use crate::domain::local_refs::{BUCKET, LocalRefs, STASH, StashEntry, buckets, is_held, of_lines, to_lines};
use crate::domain::names::{Oid, RefName};
use crate::env;
use crate::error::{Code, Error, Result};

use super::branch_config::{of_text, to_text};
use super::local_refs::{Listed, PackedStat};
use super::objects::{TREE, TreeEntry, gix_id};
use super::packed_memory::{Remembered, Source};
use super::repository::Repository;
use super::tips::Kept;

/// The name of the folder in the tree of the commit with the document.
pub(super) const REFS: &[u8] = b"refs";
/// The lines of a bucket.
const LIST: &str = "list";
/// What the configuration says of branches.
const CONFIG: &str = "config";
/// The largest list.
const LIMIT: u64 = 1024 * 1024 * 1024;

/// Local refs as objects, to which nothing refers yet.
#[derive(Debug, Clone)]
pub struct HeldRefs {
    /// The folder `refs`.
    pub(super) tree: Oid,
    /// What keeps alive what they name.
    pub(super) commits: Vec<Oid>,
    /// Refs of which something is missing or unclear: they are not held.
    pub not_held: Vec<RefName>,
    /// What may be remembered of the packed ones.
    pub(super) packed: Option<(PackedStat, Remembered)>,
}

/// Some refs as objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Group {
    /// A folder for each bucket; `None` where there is no ref.
    pub tree: Option<Oid>,
    /// What keeps alive what they name.
    pub commits: Vec<Oid>,
    /// Those of which something is missing.
    pub missing: Vec<RefName>,
}

impl Repository {
    /// Writes the local refs of now, and what keeps alive what they name, as objects. Where no packed ref has changed since an
    /// earlier checkpoint, the packed ones are not read.
    ///
    /// # Errors
    /// `GIT_FAILED`, `IO_FAILED`, `DISK_FULL`.
    pub fn hold_local_refs(&self) -> Result<HeldRefs> {
        let mut listed = self.listed_refs()?;
        let mut packed = None;
        if listed.but_packed {
            match self.packed_group(&listed)? {
                Some(found) => packed = Some(found),
                None => listed = self.listed_by_git()?,
            }
        }
        let Listed { refs, links, mut stash, unclear, but_packed: _ } = listed;
        let gix = self.gix()?;
        stash.retain(|entry| self.keep_tip(&gix, &entry.id, &mut Kept::default()).unwrap_or(false));
        let lines = refs.iter().map(|(name, oid)| (oid.clone(), name.as_str()));
        let stashed = stash.iter().map(|entry| (entry.id.clone(), STASH));
        let loose = self.write_group(lines.chain(stashed).collect())?;
        // Since they were listed somebody may have deleted them, and what they named.
        for (oid, _) in refs.values().map(|oid| (oid, ())).chain(stash.iter().map(|entry| (&entry.id, ()))) {
            if !loose.missing.iter().any(|name| refs.get(name.as_str()) == Some(oid)) {
                self.note_written(gix_id(oid)?);
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
            add("links", 0o100_644, &self.write_blob(text.as_bytes())?);
        }
        let configs = self.branch_configs()?.unwrap_or_default();
        if !configs.is_empty() {
            add(CONFIG, 0o100_644, &self.write_blob(to_text(&configs).as_bytes())?);
        }
        if !stash.is_empty() {
            let text = to_lines(stash.iter().map(|entry| (entry.id.as_str(), entry.message.as_str())));
            add("stash", 0o100_644, &self.write_blob(text.as_bytes())?);
        }
        let mut commits = packed_group.map_or_else(Vec::new, |group| group.commits.clone());
        commits.extend(loose.commits);
        let missing = packed_group.map_or_else(Vec::new, |group| group.missing.clone());
        let not_held = [unclear, loose.missing, missing].concat();
        Ok(HeldRefs { tree: self.write_tree(&entries)?, commits, not_held, packed })
    }

    /// The packed refs, remembered or written; `None` where git has to read them.
    fn packed_group(&self, listed: &Listed) -> Result<Option<(PackedStat, Remembered)>> {
        let Some(stat) = self.packed_stat() else {
            // No file is no packed ref; what is no file is for git to follow.
            let nothing = std::fs::symlink_metadata(self.packed_refs_file()).is_err();
            let none = PackedStat { text: String::new(), changed: 0 };
            return Ok(nothing.then(|| (none, Remembered::default())));
        };
        let hiding = self.digest_of_names(listed)?;
        if let Some((group, holder)) = self.remembered(&stat, &hiding)? {
            for oid in group.tree.iter().chain(&group.commits) {
                self.note_written(gix_id(oid)?);
            }
            return Ok(Some((stat, Remembered { group, hiding, source: Source::Memory(holder) })));
        }
        let now = env::now().as_nanosecond();
        let Some(packed) = self.packed_refs() else { return Ok(None) };
        let Ok(range) = packed.below("refs/") else { return Ok(None) };
        let mut lines = Vec::new();
        for (name, value) in packed.values(range).filter(|(name, _)| is_held(name) && !listed.hides(name)) {
            lines.push((Oid::new(value)?, name));
        }
        let group = self.write_group(lines)?;
        // Were it another file by now, this stat would be that of something else.
        let is_same = self.packed_stat().as_ref() == Some(&stat);
        let source = if is_same && Self::tells_apart(&stat, now) { Source::File } else { Source::NewFile };
        Ok(Some((stat, Remembered { group, hiding, source })))
    }

    /// Makes sure that what keeps packed refs is whole, where they have changed since they were looked at: what those named that
    /// were deleted may be gone, and only of tags the content is kept. What is loose is noted anyway. To be called once a ref
    /// holds it.
    ///
    /// # Errors
    /// `BUSY` where something is gone; `GIT_FAILED`.
    pub fn packed_tips_are_there(&self, held: &HeldRefs) -> Result<()> {
        let Some((stat, memory)) = &held.packed else { return Ok(()) };
        let is_same = self.packed_stat().map_or(stat.text.is_empty(), |now| now == *stat);
        let Some(tree) = memory.group.tree.as_ref().filter(|_| !is_same) else { return Ok(()) };
        let mut kept = self.objects_below(tree)?;
        for bucket in &memory.group.commits {
            kept.extend(self.read_commit(bucket)?.parents);
        }
        for oid in kept {
            if !self.is_there_now(&gix_id(&oid)?)? {
                return Err(Error::new(Code::Busy, format!("{oid}, which a packed ref named, was removed at this moment")));
            }
        }
        Ok(())
    }

    /// The tree of packed refs that an earlier checkpoint holds, if it still does.
    ///
    /// # Errors
    /// `GIT_FAILED`.
    pub fn held_before(&self, held: &HeldRefs) -> Result<Option<Oid>> {
        let Some((_, Remembered { group, source: Source::Memory(holder), .. })) = &held.packed else { return Ok(None) };
        Ok(if self.still_holds(holder)? { group.tree.clone() } else { None })
    }

    /// Writes refs bucket by bucket, ordered by what they name.
    fn write_group(&self, mut lines: Vec<(Oid, &str)>) -> Result<Group> {
        lines.sort_unstable();
        lines.dedup();
        let gix = self.gix()?;
        let mut group = Group::default();
        let mut tips: Vec<Oid> = lines.iter().map(|(oid, _)| oid.clone()).collect();
        tips.dedup();
        let mut folders = Vec::new();
        for (number, part) in buckets(&tips, BUCKET).into_iter().enumerate() {
            let tips = tips.get(part).unwrap_or_default();
            let (Some(first), Some(last)) = (tips.first(), tips.last()) else { continue };
            let mut kept = Kept::default();
            let mut missing = BTreeSet::new();
            for tip in tips {
                if !self.keep_tip(&gix, tip, &mut kept)? {
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
            let mut entries = kept.entries(self)?;
            let list = self.write_blob(list.as_bytes())?;
            entries.push(TreeEntry { mode: 0o100_644, oid: list, name: LIST.into() });
            folders.push(TreeEntry { mode: TREE, oid: self.write_tree(&entries)?, name: format!("{number:06}").into_bytes() });
            group.commits.extend(kept.buckets(self)?);
        }
        if !folders.is_empty() {
            group.tree = Some(self.write_tree(&folders)?);
        }
        Ok(group)
    }

    /// The local refs that a checkpoint holds; `None` where it is of a time when none were held.
    ///
    /// # Errors
    /// `CHECKPOINT_DAMAGED`; `GIT_FAILED` where an object is missing.
    pub fn refs_of_checkpoint(&self, capture: &Oid) -> Result<Option<LocalRefs>> {
        let Some((_, entries)) = self.record_of(capture)? else { return Ok(None) };
        let Some(folder) = entries.into_iter().find(|entry| entry.name == REFS) else { return Ok(None) };
        let unclear = || Error::new(Code::CheckpointDamaged, format!("the refs in {} cannot be read", folder.oid.short()));
        let (mut held, mut loose, mut stash) = (LocalRefs::default(), BTreeMap::new(), String::new());
        for entry in self.read_tree(&folder.oid)? {
            let text = || Ok::<_, Error>(String::from_utf8_lossy(&self.read_blob(&entry.oid, LIMIT)?).into_owned());
            match entry.name.as_slice() {
                b"packed" => held.refs = self.read_group(&entry.oid)?,
                b"loose" => loose = self.read_group(&entry.oid)?,
                b"links" => {
                    let links = text()?;
                    let links = of_lines(&links).ok_or_else(unclear)?.into_iter();
                    held.links = links.map(|(target, name)| (RefName::new(name), RefName::new(target))).collect();
                }
                b"stash" => stash = text()?,
                _ => {}
            }
        }
        held.refs.append(&mut loose);
        held.refs.remove(&RefName::new(STASH));
        for (id, message) in of_lines(&stash).ok_or_else(unclear)? {
            held.stash.push(StashEntry { id: Oid::new(id)?, message: message.to_owned() });
        }
        Ok(Some(held))
    }

    /// What a checkpoint holds of the configuration of branches; nothing where it is of a time when none was held.
    ///
    /// # Errors
    /// `CHECKPOINT_DAMAGED`; `GIT_FAILED` where an object is missing.
    pub fn branch_configs_of_checkpoint(&self, capture: &Oid) -> Result<BranchConfigs> {
        let Some((_, entries)) = self.record_of(capture)? else { return Ok(BranchConfigs::new()) };
        let Some(folder) = entries.into_iter().find(|entry| entry.name == REFS) else { return Ok(BranchConfigs::new()) };
        let config = self.read_tree(&folder.oid)?.into_iter().find(|entry| entry.name == CONFIG.as_bytes());
        let Some(config) = config else { return Ok(BranchConfigs::new()) };
        let damaged =
            || Error::new(Code::CheckpointDamaged, format!("the configuration in {} cannot be read", config.oid.short()));
        of_text(&self.read_blob(&config.oid, LIMIT)?).ok_or_else(damaged)
    }

    fn read_group(&self, tree: &Oid) -> Result<BTreeMap<RefName, Oid>> {
        let mut refs = BTreeMap::new();
        for folder in self.read_tree(tree)? {
            for entry in self.read_tree(&folder.oid)?.into_iter().filter(|entry| entry.name == LIST.as_bytes()) {
                let text = String::from_utf8_lossy(&self.read_blob(&entry.oid, LIMIT)?).into_owned();
                let damaged = || Error::new(Code::CheckpointDamaged, format!("the refs in {} cannot be read", entry.oid.short()));
                for (oid, name) in of_lines(&text).ok_or_else(damaged)? {
                    refs.insert(RefName::new(name), Oid::new(oid)?);
                }
            }
        }
        Ok(refs)
    }

    /// Writes those of `tips` that are tags that a checkpoint holds, and that are not here any more.
    ///
    /// # Errors
    /// `CHECKPOINT_DAMAGED`, `DISK_FULL`, `GIT_FAILED`.
    pub fn write_tags_of_checkpoint(&self, capture: &Oid, tips: &[Oid]) -> Result<()> {
        if tips.iter().all(|tip| self.holds(tip)) {
            return Ok(());
        }
        let Some((_, entries)) = self.record_of(capture)? else { return Ok(()) };
        let folder = entries.iter().find(|entry| entry.name == REFS);
        folder.map_or(Ok(()), |folder| self.write_tags_again(&folder.oid, tips))
    }

    /// The tags that a checkpoint holds by their content, where one of `tips` is not here any more; else nothing.
    ///
    /// # Errors
    /// `CHECKPOINT_DAMAGED`, `GIT_FAILED`.
    pub fn tags_of_checkpoint(&self, capture: &Oid, tips: &[Oid]) -> Result<BTreeSet<Oid>> {
        if tips.iter().all(|tip| self.holds(tip)) {
            return Ok(BTreeSet::new());
        }
        let Some((_, entries)) = self.record_of(capture)? else { return Ok(BTreeSet::new()) };
        let Some(folder) = entries.into_iter().find(|entry| entry.name == REFS) else { return Ok(BTreeSet::new()) };
        Ok(self.tags_below(&folder.oid)?.into_keys().collect())
    }

    /// What is wrong with the refs that a checkpoint holds, in words: a ref of which nothing keeps what it names, a tag whose
    /// content is another.
    ///
    /// # Errors
    /// `GIT_FAILED` where an object is missing; `CHECKPOINT_DAMAGED`.
    pub fn refs_not_kept(&self, capture: &Oid) -> Result<Vec<String>> {
        let (Some(held), Some((record, entries))) = (self.refs_of_checkpoint(capture)?, self.record_of(capture)?) else {
            return Ok(Vec::new());
        };
        let Some(folder) = entries.into_iter().find(|entry| entry.name == REFS) else { return Ok(Vec::new()) };
        let mut kept = self.without_buckets(&record.parents)?;
        kept.append(&mut self.objects_below(&folder.oid)?);
        let mut wrong = Vec::new();
        for (oid, content) in self.tags_below(&folder.oid)? {
            let hash = gix::objs::compute_hash(self.hash().gix(), gix::objs::Kind::Tag, &content).ok();
            if hash == Some(gix_id(&oid)?) {
                kept.insert(oid);
            } else {
                wrong.push(format!("the content of tag {} is another", oid.short()));
            }
        }
        let not = |oid: &Oid| !kept.contains(oid);
        let refs = held.refs.iter().filter(|(_, oid)| not(oid));
        wrong.extend(refs.map(|(name, oid)| format!("{name} at {} is named and not kept", oid.short())));
        let stash = held.stash.iter().filter(|entry| not(&entry.id));
        wrong.extend(stash.map(|entry| format!("stash entry {} is named and not kept", entry.id.short())));
        Ok(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::super::objects::NewCommit;
    use super::super::scratch::{Scratch, git_at};
    use super::*;

    /// Names what was held as a checkpoint does it.
    fn publish(repo: &Repository, held: &HeldRefs) -> Oid {
        let (who, tree, parents) = (repo.signature().unwrap(), &held.tree, held.commits.clone());
        let record = repo.write_commit(&NewCommit { tree, parents, who: &who, message: "record" }).unwrap();
        repo.sync_objects().unwrap();
        record
    }

    fn make_refs(scratch: &Scratch) {
        let oid = |what: &str| scratch.git(&["rev-parse", what]);
        scratch.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
        scratch.git(&["tag", "-a", "-m", "x", "v1"]);
        scratch.git(&["tag", "-a", "-m", "of a tag", "nested", "v1"]);
        scratch.git(&["tag", "tree", &oid("HEAD^{tree}")]);
        scratch.git(&["tag", "-a", "-m", "of a blob", "blob", &oid("HEAD:a.txt")]);
        for name in ["refs/heads/side", "refs/worktree/own", "refs/notes/theirs", "refs/custom/x", "refs/heads/axiom/t"] {
            scratch.git(&["update-ref", name, "HEAD~"]);
        }
        scratch.git(&["symbolic-ref", "refs/heads/link", "refs/heads/side"]);
        let other = scratch.git(&["commit-tree", "-m", "other", "HEAD^{tree}"]);
        scratch.git(&["replace", &other, "HEAD"]);
        scratch.git(&["worktree", "add", "-q", "../linked"]);
        git_at(&scratch.path().join("../linked"), &["update-ref", "refs/worktree/there", "HEAD"]);
        for text in ["one", "two"] {
            scratch.write("a.txt", text.as_bytes());
            scratch.git(&["stash", "push", "-q", "-m", text]);
        }
    }

    #[test]
    fn refs_of_every_kind_are_held_and_read_back_in_every_format() {
        for kind in [&[][..], &["--ref-format=reftable"], &["--object-format=sha256"]] {
            let scratch = Scratch::new(kind);
            make_refs(&scratch);
            let repo = scratch.repo();
            let now = repo.local_refs().unwrap();
            let names: Vec<&str> = now.refs.keys().map(RefName::as_str).filter(|name| !name.contains("replace")).collect();
            let expected = "refs/custom/x refs/heads/linked refs/heads/main refs/heads/side refs/notes/theirs refs/tags/blob \
                            refs/tags/nested refs/tags/tree refs/tags/v1 refs/worktree/own worktrees/linked/refs/worktree/there";
            assert_eq!(names.join(" "), expected, "{kind:?}");
            assert_eq!(now.refs.len(), names.len() + 1);
            let messages: Vec<&str> = now.stash.iter().map(|entry| entry.message.as_str()).collect();
            assert_eq!(messages, ["On main: two", "On main: one"]);
            let held = repo.hold_local_refs().unwrap();
            assert_eq!(held.not_held, []);
            let record = publish(&repo, &held);
            scratch.git(&["update-ref", "refs/axiom/captures/x", record.as_str()]);
            assert_eq!(repo.hold_local_refs().unwrap().tree, held.tree, "equal refs, equal objects");
            if kind != ["--ref-format=reftable"] {
                scratch.git(&["pack-refs", "--all"]);
                assert_eq!(repo.local_refs().unwrap(), now);
                scratch.git(&["update-ref", "refs/heads/side", "HEAD"]);
                assert_eq!(repo.hold_local_refs().unwrap().not_held, []);
                scratch.git(&["update-ref", "refs/heads/side", "HEAD~"]);
            }
            // All of it goes, and what it named with it.
            git_at(&scratch.path().join("../linked"), &["update-ref", "-d", "refs/worktree/there"]);
            scratch.git(&["stash", "clear"]);
            for name in now.refs.keys().chain(now.links.keys()).filter(|name| !name.as_str().starts_with("worktrees/")) {
                scratch.git(&["update-ref", "--no-deref", "-d", name.as_str()]);
            }
            scratch.git(&["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"]);
            scratch.git(&["gc", "-q", "--prune=now"]);
            scratch.git(&["fsck", "--strict"]);
            let repo = scratch.repo();
            let tips: Vec<Oid> = now.refs.values().chain(now.stash.iter().map(|entry| &entry.id)).cloned().collect();
            assert!(tips.iter().any(|tip| !repo.holds(tip)), "tags went");
            repo.write_tags_again(&held.tree, &tips).unwrap();
            repo.sync_objects().unwrap();
            for tip in &tips {
                scratch.git(&["rev-list", "--objects", "--quiet", tip.as_str()]);
            }
        }
    }

    #[test]
    fn a_ref_of_which_something_is_missing_is_named_and_in_no_ones_way() {
        let scratch = Scratch::new(&[]);
        let gone = "1".repeat(40);
        scratch.write(".git/refs/heads/broken", format!("{gone}\n").as_bytes());
        scratch.write(".git/refs/heads/empty", b"");
        let tag = format!("object {gone}\ntype commit\ntag t\ntagger A <a@b> 0 +0000\n\nx\n");
        scratch.write("tag", tag.as_bytes());
        let tag = scratch.git(&["hash-object", "-t", "tag", "-w", "--literally", "tag"]);
        scratch.write(".git/refs/tags/hollow", format!("{tag}\n").as_bytes());
        let repo = scratch.repo();
        let mut held = repo.hold_local_refs().unwrap();
        held.not_held.sort();
        let names: Vec<&str> = held.not_held.iter().map(RefName::as_str).collect();
        assert_eq!(names, ["refs/heads/broken", "refs/heads/empty", "refs/tags/hollow"]);
        let record = publish(&repo, &held);
        assert_eq!(repo.missing_below(&[record]).unwrap(), None);
    }

    #[test]
    fn packed_refs_are_remembered_as_long_as_nothing_about_them_changes() {
        let scratch = Scratch::new(&[]);
        let head = scratch.git(&["rev-parse", "HEAD"]);
        let mut text = "# pack-refs with: peeled fully-peeled sorted \n".to_owned();
        (0..2000).for_each(|n| text.push_str(&format!("{head} refs/tags/t{n:05}\n")));
        scratch.write(".git/packed-refs", text.as_bytes());
        let repo = scratch.repo();
        let capture = RefName::new("refs/axiom/captures/x");
        std::thread::sleep(std::time::Duration::from_millis(150));
        let first = repo.hold_local_refs().unwrap();
        let remembered =
            |held: &HeldRefs| held.packed.as_ref().is_some_and(|(_, memory)| matches!(memory.source, Source::Memory(_)));
        assert!(!remembered(&first));
        let record = publish(&repo, &first);
        scratch.git(&["update-ref", capture.as_str(), record.as_str()]);
        repo.remember_packed_refs(&first, &capture, &record);
        let again = repo.hold_local_refs().unwrap();
        assert!(remembered(&again));
        assert_eq!((&again.tree, &again.commits), (&first.tree, &first.commits));
        // A loose ref may hide a packed one.
        scratch.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
        assert!(remembered(&repo.hold_local_refs().unwrap()), "the same names");
        scratch.git(&["tag", "-f", "t00007"]);
        let hidden = repo.hold_local_refs().unwrap();
        assert!(!remembered(&hidden) && hidden.tree != first.tree);
        scratch.git(&["tag", "-d", "t00007"]);
        assert!(!remembered(&repo.hold_local_refs().unwrap()), "packed-refs was written again");
        // Without what holds them, nothing says that they are still there.
        scratch.write(".git/packed-refs", text.as_bytes());
        std::thread::sleep(std::time::Duration::from_millis(150));
        let held = repo.hold_local_refs().unwrap();
        repo.remember_packed_refs(&held, &capture, &record);
        assert!(remembered(&repo.hold_local_refs().unwrap()));
        let memory = scratch.read(".git/axiom/tmp/packed-refs");
        scratch.write(".git/axiom/tmp/packed-refs", &memory.as_bytes()[..memory.len() - 1]);
        assert!(!remembered(&repo.hold_local_refs().unwrap()), "torn");
        scratch.write(".git/axiom/tmp/packed-refs", memory.as_bytes());
        scratch.git(&["update-ref", "-d", capture.as_str()]);
        assert!(!remembered(&repo.hold_local_refs().unwrap()), "its holder is gone");
    }

    #[test]
    fn a_record_that_does_not_keep_what_it_names_is_found() {
        let scratch = Scratch::new(&[]);
        make_refs(&scratch);
        let repo = scratch.repo();
        let held = repo.hold_local_refs().unwrap();
        let who = repo.signature().unwrap();
        let commit = |tree: &Oid, parents: &[&Oid]| {
            let parents = parents.iter().map(|oid| (*oid).clone()).collect();
            repo.write_commit(&NewCommit { tree, parents, who: &who, message: "x" }).unwrap()
        };
        let json = repo.write_blob(b"{}").unwrap();
        let entries = [
            TreeEntry { mode: 0o100_644, oid: json, name: b"checkpoint.json".to_vec() },
            TreeEntry { mode: TREE, oid: held.tree.clone(), name: REFS.to_vec() },
        ];
        let (tree, nothing) = (repo.write_tree(&entries).unwrap(), repo.empty_tree().unwrap());
        let capture = |kept: &[Oid]| {
            let (base, record) = (repo.root_commit().unwrap(), commit(&tree, &kept.iter().collect::<Vec<_>>()));
            commit(&nothing, &[&base, &commit(&nothing, &[&base, &record])])
        };
        assert_eq!(repo.refs_not_kept(&capture(&held.commits)).unwrap(), Vec::<String>::new());
        let wrong = repo.refs_not_kept(&capture(&[])).unwrap();
        assert!(wrong.iter().any(|line| line.starts_with("refs/heads/side at ")), "{wrong:?}");
        assert!(wrong.iter().any(|line| line.starts_with("stash entry ")), "{wrong:?}");
        assert!(!wrong.iter().any(|line| line.contains("refs/tags/")), "their content is kept: {wrong:?}");
    }
}
