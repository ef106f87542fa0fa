//! Reads back the local refs that a checkpoint holds, and checks that their targets are all kept.

use std::collections::{BTreeMap, BTreeSet};

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::checkpoint::branch_config::BranchConfigs;
use axiom_model::checkpoint::local_refs::{LocalRefSnapshot, STASH, StashEntry, of_lines};

use super::held_refs::{CONFIG, LIMIT, LIST, REFS};
use crate::objects::database::{CommitContent, TreeEntry, gix_id};
use crate::repo::branch_config::of_text;
use crate::repo::handles::Checkpoints;

impl Checkpoints<'_> {
    /// The local refs that a checkpoint holds.
    pub fn refs_of_checkpoint(&self, capture: &Oid) -> Result<LocalRefSnapshot> {
        let (_, folder) = self.refs_in_record(capture)?;
        let unclear = || Error::new(Code::CheckpointDamaged, format!("the refs in {} cannot be read", folder.oid.short()));
        let (mut held, mut loose, mut stash) = (LocalRefSnapshot::default(), BTreeMap::new(), String::new());
        for entry in self.repo.trees().read_tree(&folder.oid)? {
            let text =
                || Ok::<_, Error>(String::from_utf8_lossy(&self.repo.objects().read_blob(&entry.oid, LIMIT)?).into_owned());
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
        Ok(held)
    }

    /// The commit with a checkpoint's document, and the folder of the refs that it holds.
    fn refs_in_record(&self, capture: &Oid) -> Result<(CommitContent, TreeEntry)> {
        let damaged = || Error::new(Code::CheckpointDamaged, format!("capture {} holds no refs", capture.short()));
        let (record, entries) = self.record_of(capture)?.ok_or_else(damaged)?;
        let folder = entries.into_iter().find(|entry| entry.name == REFS).ok_or_else(damaged)?;
        Ok((record, folder))
    }

    /// The branch sections of the configuration that a checkpoint holds.
    pub fn branch_configs_of_checkpoint(&self, capture: &Oid) -> Result<BranchConfigs> {
        let (_, folder) = self.refs_in_record(capture)?;
        let config = self.repo.trees().read_tree(&folder.oid)?.into_iter().find(|entry| entry.name == CONFIG.as_bytes());
        let Some(config) = config else { return Ok(BranchConfigs::new()) };
        let damaged =
            || Error::new(Code::CheckpointDamaged, format!("the configuration in {} cannot be read", config.oid.short()));
        of_text(&self.repo.objects().read_blob(&config.oid, LIMIT)?).ok_or_else(damaged)
    }

    fn read_group(&self, tree: &Oid) -> Result<BTreeMap<RefName, Oid>> {
        let mut refs = BTreeMap::new();
        for folder in self.repo.trees().read_tree(tree)? {
            for entry in self.repo.trees().read_tree(&folder.oid)?.into_iter().filter(|entry| entry.name == LIST.as_bytes()) {
                let text = String::from_utf8_lossy(&self.repo.objects().read_blob(&entry.oid, LIMIT)?).into_owned();
                let damaged = || Error::new(Code::CheckpointDamaged, format!("the refs in {} cannot be read", entry.oid.short()));
                for (oid, name) in of_lines(&text).ok_or_else(damaged)? {
                    refs.insert(RefName::new(name), Oid::new(oid)?);
                }
            }
        }
        Ok(refs)
    }

    /// Writes those of `tips` again that are tags that the checkpoint holds, and that are missing now.
    pub fn write_tags_of_checkpoint(&self, capture: &Oid, tips: &[Oid]) -> Result<()> {
        if tips.iter().all(|tip| self.repo.connectivity().holds(tip)) {
            return Ok(());
        }
        self.repo.tips().write_tags_again(&self.refs_in_record(capture)?.1.oid, tips)
    }

    /// The tags that a checkpoint holds by their content, if one of `tips` is missing now; otherwise nothing.
    pub fn tags_of_checkpoint(&self, capture: &Oid, tips: &[Oid]) -> Result<BTreeSet<Oid>> {
        if tips.iter().all(|tip| self.repo.connectivity().holds(tip)) {
            return Ok(BTreeSet::new());
        }
        Ok(self.repo.tips().tags_below(&self.refs_in_record(capture)?.1.oid)?.into_keys().collect())
    }

    /// What is wrong with the refs that a checkpoint holds, one message each: a ref whose target is not kept, or a tag whose
    /// content does not match its id.
    pub fn refs_not_kept(&self, capture: &Oid) -> Result<Vec<String>> {
        let (held, (record, folder)) = (self.refs_of_checkpoint(capture)?, self.refs_in_record(capture)?);
        let mut kept = self.repo.tips().without_buckets(&record.parents)?;
        kept.append(&mut self.repo.tips().objects_below(&folder.oid)?);
        let mut wrong = Vec::new();
        for (oid, content) in self.repo.tips().tags_below(&folder.oid)? {
            let hash = gix::objs::compute_hash(self.repo.hash().gix(), gix::objs::Kind::Tag, &content).ok();
            if hash == Some(gix_id(&oid)?) {
                kept.insert(oid);
            } else {
                wrong.push(format!("the content of tag {} does not match its id", oid.short()));
            }
        }
        let not = |oid: &Oid| !kept.contains(oid);
        let refs = held.refs.iter().filter(|(_, oid)| not(oid));
        wrong.extend(refs.map(|(name, oid)| format!("{name} at {} is in the checkpoint, but is not kept", oid.short())));
        let stash = held.stash.iter().filter(|entry| not(&entry.id));
        wrong.extend(stash.map(|entry| format!("stash entry {} is in the checkpoint, but is not kept", entry.id.short())));
        Ok(wrong)
    }
}

impl super::held_ref_group::HeldRefs {
    /// Whether these are the local refs that a checkpoint holds.
    pub fn are_those_of(&self, repo: &crate::Repository, capture: &Oid) -> Result<bool> {
        let Some((_, entries)) = repo.checkpoints().record_of(capture)? else { return Ok(false) };
        Ok(entries.into_iter().any(|entry| entry.name == REFS && entry.oid == self.tree))
    }
}
