//! What taking git axiom out of a repository has begun: a file beside our folder, so that it outlives the folder. Until it is
//! removed, the same call completes it, and other verbs refuse.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::journal_file::JournalFile;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_git::TrashedWorkspace;
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::{Oid, RefName};

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DeinitPhase {
    /// The bundle is being made: nothing has been taken out, and the next call begins anew.
    Preparing,
    /// The bundle is in place. What is recorded here is being taken out.
    Leaving,
    /// Only our folder is left to be moved.
    Folder,
}

/// A ref that goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeinitRef {
    /// Its name.
    pub name: RefName,
    /// Its value: with another one it stays.
    pub oid: Oid,
}

/// Something that moves beside the repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeinitMove {
    /// Where it is.
    pub from: PathBuf,
    /// Where it goes.
    pub to: PathBuf,
}

/// A workspace that moves beside the repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeinitWorkspace {
    /// Where it was.
    pub path: PathBuf,
    /// Where it is.
    pub moved_to: PathBuf,
    /// How many files and folders of it the bundle does not have: ignored ones, and what no capture can hold. `None` where it
    /// could not be captured: then the bundle has nothing of it but its commits.
    pub not_held: Option<u64>,
}

/// All that is taken out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeinitJournal {
    schema: u32,
    /// How far it has come.
    pub phase: DeinitPhase,
    /// The folder beside the repository.
    pub folder: PathBuf,
    /// The checkpoint that was made first.
    pub checkpoint: Option<CheckpointName>,
    /// The refs that go. Their values are in the bundle.
    pub refs: Vec<DeinitRef>,
    /// Objects whose notes are ours, where others have notes in the same ref.
    pub notes: Vec<Oid>,
    /// Registered workspaces.
    pub asides: Vec<TrashedWorkspace>,
    /// Workspaces, as told.
    pub workspaces: Vec<DeinitWorkspace>,
    /// Other folders of ours.
    pub moves: Vec<DeinitMove>,
    /// Lines of `info/exclude`.
    pub exclude: Vec<String>,
    /// Values of `transfer.hideRefs`.
    pub hidden: Vec<String>,
    /// The folder of the workspaces, which goes where it is empty.
    pub workspace_folder: Option<PathBuf>,
    /// The repository's id in the list of repositories.
    pub id: Option<String>,
    /// What is left alone, in words.
    pub stays: Vec<String>,
}

impl DeinitJournal {
    /// One with nothing in it yet.
    pub fn new(folder: PathBuf) -> Self {
        Self {
            schema: Self::SCHEMA,
            phase: DeinitPhase::Preparing,
            folder,
            checkpoint: None,
            refs: Vec::new(),
            notes: Vec::new(),
            asides: Vec::new(),
            workspaces: Vec::new(),
            moves: Vec::new(),
            exclude: Vec::new(),
            hidden: Vec::new(),
            workspace_folder: None,
            id: None,
            stays: Vec::new(),
        }
    }

    /// The bundle.
    pub fn bundle(&self) -> PathBuf {
        self.folder.join("axiom.bundle")
    }

    /// Where our folder goes.
    pub fn state(&self) -> PathBuf {
        self.folder.join("axiom")
    }
}

impl JournalFile for DeinitJournal {
    const NAME: &str = "axiom-deinit.json";
    const LIMIT: u64 = 256 * 1024 * 1024;
    const SCHEMA: u32 = 1;
    const SAYS: &str = "it says how far git axiom has been taken out of this repository";

    fn schema(&self) -> u32 {
        self.schema
    }
}

/// Refuses while git axiom is half out of a repository.
pub fn not_leaving(common_dir: &Path) -> Result<()> {
    if files::metadata(&DeinitJournal::place(common_dir))?.is_none() {
        return Ok(());
    }
    match DeinitJournal::read(common_dir)?.map(|journal| journal.phase) {
        None | Some(DeinitPhase::Preparing) => Ok(()),
        Some(DeinitPhase::Leaving | DeinitPhase::Folder) => {
            Err(Error::new(Code::OperationOpen, "git axiom is being taken out of this repository, and that was interrupted")
                .hint("git axiom deinit    completes it"))
        }
    }
}
