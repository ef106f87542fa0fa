//! What a purge is about to do: a file beside our folder. It names objects only by their ids. Until it is removed, the same call completes
//! it, and verbs that write refuse.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::journal_file::JournalFile;
use crate::context::placement::VerbPurpose;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::ids::{CheckpointName, TaskId};
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::checkpoint::purge::PurgeLeftover;
use axiom_model::checkpoint::record::CheckpointRecord;

/// A change of a ref of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeRefChange {
    /// Its name.
    pub name: RefName,
    /// Its value before.
    pub old: Oid,
    /// Its value after; `None`: it goes.
    pub new: Option<Oid>,
}

/// What becomes of objects that nothing refers to any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PurgedObjectsFate {
    /// They are deleted at once, whoever borrows them.
    Deleted,
    /// They are left to git, which deletes them when they are old enough: until then whoever borrows them has them.
    LeftToGit,
}

/// All that is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PurgeJournal {
    schema: u32,
    /// What is taken out, as it was given.
    pub what: String,
    /// What becomes of the objects.
    pub fate: PurgedObjectsFate,
    /// The path that is taken out; `None` where a content was named.
    pub path: Option<RepoPath>,
    /// The contents that are to go.
    pub secrets: BTreeSet<Oid>,
    /// Those of them that something else holds.
    pub held: BTreeSet<Oid>,
    /// Those of them that other paths of what was saved have.
    pub elsewhere: BTreeSet<Oid>,
    /// The refs that change.
    pub refs: Vec<PurgeRefChange>,
    /// The checkpoints that are made anew.
    pub made_anew: Vec<CheckpointRecord>,
    /// The checkpoints that go.
    pub gone: Vec<CheckpointName>,
    /// Captures of deleted checkpoints that can no longer be brought back.
    pub forgotten: Vec<Oid>,
    /// The tasks whose text or verify steps are masked.
    pub masked: Vec<TaskId>,
    /// Long texts that were masked, with their new ids.
    pub texts: Vec<(Oid, Oid)>,
    /// All objects that only our refs held before.
    pub ours: Vec<Oid>,
    /// What is done in submodules.
    pub submodules: Vec<SubmodulePurge>,
}

/// What is done in the repository of one submodule.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubmodulePurge {
    /// Its folder.
    pub folder: PathBuf,
    /// Its git directory.
    pub git_dir: PathBuf,
    /// The contents that are to go.
    pub secrets: BTreeSet<Oid>,
    /// Those of them that something else holds.
    pub held: BTreeSet<Oid>,
    /// The refs that change.
    pub refs: Vec<PurgeRefChange>,
    /// All objects that only our refs held before.
    pub ours: Vec<Oid>,
}

impl PurgeJournal {
    /// One that does nothing yet.
    pub fn new(what: &str) -> Self {
        Self {
            schema: Self::SCHEMA,
            what: what.to_owned(),
            fate: PurgedObjectsFate::Deleted,
            path: None,
            secrets: BTreeSet::new(),
            held: BTreeSet::new(),
            elsewhere: BTreeSet::new(),
            refs: Vec::new(),
            made_anew: Vec::new(),
            gone: Vec::new(),
            forgotten: Vec::new(),
            masked: Vec::new(),
            texts: Vec::new(),
            ours: Vec::new(),
            submodules: Vec::new(),
        }
    }

    /// The contents that go.
    pub fn going(&self) -> Vec<Oid> {
        let stays = |oid: &&Oid| self.held.contains(*oid) || self.elsewhere.contains(*oid);
        let own = self.secrets.iter().filter(|oid| !stays(oid));
        let of_submodules = self.submodules.iter().flat_map(|plan| plan.secrets.difference(&plan.held));
        own.chain(of_submodules).cloned().collect()
    }

    /// The contents of the path that stay somewhere; `None` where no path was named.
    pub fn left(&self) -> Option<PurgeLeftover> {
        let stays =
            |oid: &&Oid| self.fate == PurgedObjectsFate::LeftToGit || self.held.contains(*oid) || self.elsewhere.contains(*oid);
        let contents = self.secrets.iter().filter(stays).cloned().collect();
        self.path.clone().map(|path| PurgeLeftover { path, contents })
    }
}

impl JournalFile for PurgeJournal {
    const NAME: &str = "axiom-purge.json";
    const LIMIT: u64 = 1024 * 1024 * 1024;
    const SCHEMA: u32 = 1;
    const SAYS: &str = "it says how far a purge has come";

    fn schema(&self) -> u32 {
        self.schema
    }
}

/// Refuses to write while a purge is half done.
pub fn not_purging(common_dir: &Path, purpose: VerbPurpose) -> Result<()> {
    match purpose {
        VerbPurpose::Look | VerbPurpose::LookBack => Ok(()),
        VerbPurpose::Write if files::metadata(&PurgeJournal::place(common_dir))?.is_none() => Ok(()),
        VerbPurpose::Write => {
            Err(Error::new(Code::OperationOpen, "a purge was interrupted").hint("git axiom purge --continue    completes it"))
        }
    }
}
