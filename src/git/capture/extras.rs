//! What a stash cannot hold: conflict stages, flags, an operation in progress and more. It is kept in a commit that is a
//! parent of the index commit.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::DirEntry;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::forms::line_ends::LineEndConfig;
use axiom_model::base::names::{Oid, RepoPath};

use super::coverage::CaptureCoverage;
use super::permissions::RecordedPermissions;
use super::raw_file::RawFile;
use crate::base::limits;
use crate::base::modes::{GITLINK, TREE};
use crate::index::file::{IndexExtras, IndexFacts};
use crate::objects::database::{NewCommit, TreeEntry};
use crate::repo::handles::Index;
use crate::repo::person_ident::PersonIdent;
use crate::repo::repository::Repository;
use crate::repo::worktrees::Worktree;

/// Files and folders in a worktree's git directory that belong to an operation in progress.
pub(crate) const OPERATION: &[&str] = &[
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "MERGE_AUTOSTASH",
    "MERGE_RR",
    "SQUASH_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "AUTO_MERGE",
    "BISECT_START",
    "BISECT_LOG",
    "BISECT_HEAD",
    "BISECT_RUN",
    "BISECT_NAMES",
    "BISECT_TERMS",
    "BISECT_EXPECTED_REV",
    "BISECT_ANCESTORS_OK",
    "BISECT_FIRST_PARENT",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    // Refs of this worktree alone, which are never packed. With the reftable format they are not files: see
    // `operation_refs`.
    "refs/bisect",
    "refs/rewritten",
];

/// The name of the file with the extras in the tree of an extras commit.
pub(super) const LIST: &[u8] = b"extras.json";

/// The message of a commit with extras.
pub(super) const SUBJECT: &str = "flags, conflicts and operation in progress";

/// One file of an operation in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitOperationFile {
    /// Its path below the worktree's git directory.
    pub path: RepoPath,
    /// The blob of its content.
    pub oid: Oid,
}

/// What a stash cannot hold about a worktree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CaptureExtras {
    /// What the index holds in addition to its tree.
    pub index: IndexExtras,
    /// The files of the operation in progress.
    pub operation: Vec<GitOperationFile>,
    /// Files and folders that have unusual permissions, an ACL or user attributes; ordered by path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<RecordedPermissions>,
    /// The bytes of files that git would not give back unchanged, ordered by path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub raw: Vec<RawFile>,
    /// What could not be read, the topmost paths, in order: the trees say nothing of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<RepoPath>,
    /// The configuration of line ends at the time of the capture: with it, a checkout of the tree writes the bytes that the
    /// files had.
    #[serde(skip_serializing_if = "LineEndConfig::is_default")]
    pub line_ends: LineEndConfig,
}

impl CaptureExtras {
    /// Collects the extras: `facts` of the index, the operation in progress (as blobs), and the configuration of line ends.
    /// `modes` and `raw` stay empty. What of the operation's files is none that can be read is left out, and named in the coverage.
    pub(crate) fn read(r: &Repository, worktree: &Worktree, facts: IndexFacts, coverage: &mut CaptureCoverage) -> Result<Self> {
        let (intent_to_add, intent_modes) = facts.intent_to_add.into_iter().unzip();
        let index = IndexExtras {
            unmerged: facts.unmerged,
            intent_to_add,
            intent_modes,
            skip_worktree: facts.skip_worktree,
            assume_unchanged: facts.assume_unchanged,
            ..IndexExtras::default()
        };
        // One listing instead of a look for each of two dozen names, of which none is there in most cases.
        let there: HashSet<OsString> = files::list(worktree.git_dir())?.iter().map(DirEntry::file_name).collect();
        let may_be_there = |name: &&&str| name.split('/').next().is_some_and(|first| there.contains(OsStr::new(first)));
        let mut operation = Vec::new();
        for name in OPERATION.iter().filter(may_be_there) {
            let top = worktree.git_dir().join(name);
            if std::fs::symlink_metadata(&top).is_err() {
                continue;
            }
            for entry in WalkDir::new(&top).follow_root_links(false).sort_by_file_name() {
                let place = entry.as_ref().map_or_else(|e| e.path().unwrap_or(&top), walkdir::DirEntry::path).to_owned();
                let read = match entry {
                    Ok(entry) if entry.file_type().is_dir() => continue,
                    Ok(entry) if entry.file_type().is_file() => operation_file(r, worktree, &place),
                    Ok(_) => Err(Error::new(Code::FileUnreadable, "neither a file nor a folder")),
                    Err(e) => Err(Error::io("list", &top, e)),
                };
                match read {
                    Ok(file) => operation.push(file),
                    Err(error) if error.is_of_something_gone() && place.symlink_metadata().is_err() => {}
                    Err(error) if error.is_everybodys() => return Err(error),
                    Err(error) => {
                        tracing::warn!(%error, place = %place.display(), "a file of an operation in progress is not held");
                        coverage.unreadable.add(RepoPath::new([b".git/", in_git_dir(worktree, &place).as_bytes()].concat()));
                    }
                }
            }
        }
        for one in r.git_operations().operation_refs(worktree)? {
            if !operation.iter().any(|file| file.path == one.path) {
                operation.push(one);
            }
        }
        Ok(Self { index, operation, line_ends: r.conversions().line_end_settings(worktree)?, ..Self::default() })
    }

    /// Whether there is nothing to record.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Writes a commit that holds the extras as `extras.json`. It keeps alive the blobs that they name, and the objects that
    /// the operation in progress names. `None` if there is nothing to record.
    pub(crate) fn commit(&self, repository: &Repository, who: &PersonIdent) -> Result<Option<Oid>> {
        if self.is_empty() {
            return Ok(None);
        }
        let json = serde_json::to_vec_pretty(self).map_err(|e| Error::new(Code::Internal, "cannot write extras").because(e))?;
        limits::fits("the list of flags, conflicts and files beside a capture", &json, limits::EXTRAS)?;
        let file = |name: String, oid: &Oid| TreeEntry { mode: 0o100_644, oid: oid.clone(), name: name.into_bytes() };
        // The names are numbers, because the paths may be unusual; the list holds the paths.
        let operation = self.operation.iter().enumerate().map(|(i, part)| file(format!("{i:06}"), &part.oid));
        let sides = self.index.unmerged.iter().filter(|stage| stage.mode != GITLINK).enumerate();
        let sides: Vec<TreeEntry> = sides.map(|(i, stage)| file(format!("{i:06}"), &stage.oid)).collect();
        let operation: Vec<TreeEntry> = operation.collect();
        let raw = self.raw.iter().enumerate().map(|(i, one)| file(format!("{i:06}"), &one.oid)).collect();
        let named = repository.captures().named_by(&self.operation)?;
        let tree = |(i, oid): (usize, &Oid)| TreeEntry { mode: TREE, oid: oid.clone(), name: format!("{i:06}").into_bytes() };
        let trees = named.trees.iter().enumerate().map(tree).collect();
        let mut entries = vec![file(String::from_utf8_lossy(LIST).into_owned(), &repository.objects().write_blob(&json)?)];
        let attributes: BTreeSet<&Oid> = self.modes.iter().flat_map(|one| &one.attributes).map(|one| &one.oid).collect();
        let attributes = attributes.into_iter().enumerate().map(|(i, oid)| file(format!("{i:06}"), oid)).collect();
        let parts = [("operation", operation), ("unmerged", sides), ("raw", raw), ("trees", trees), ("attributes", attributes)];
        for (name, part) in parts {
            if !part.is_empty() {
                entries.push(TreeEntry { mode: TREE, oid: repository.trees().write_tree(&part)?, name: name.into() });
            }
        }
        let tree = repository.trees().write_tree(&entries)?;
        repository.objects().write_commit(&NewCommit { tree: &tree, parents: named.commits, who, message: SUBJECT }).map(Some)
    }

    /// Reads the extras that [`CaptureExtras::commit`] wrote, from a capture's commit.
    pub fn of_capture(repository: &Repository, capture: &Oid) -> Result<Self> {
        // Only the first can be the extras commit; the others keep refs and captures alive.
        let further = repository.captures().capture_parts(capture)?.further;
        let Some(parent) = further.first() else { return Ok(Self::default()) };
        Self::of_tree(repository, &repository.objects().read_commit(parent)?.tree)
    }

    /// The same, from the tree of the commit with the extras.
    pub(crate) fn of_tree(repository: &Repository, tree: &Oid) -> Result<Self> {
        let Some(list) = repository.trees().read_tree(tree)?.into_iter().find(|entry| entry.name == LIST) else {
            return Ok(Self::default());
        };
        let json = repository.objects().read_blob(&list.oid, limits::EXTRAS)?;
        let damaged =
            |e| Error::new(Code::CheckpointDamaged, format!("the tree {} of a capture is damaged", tree.short())).because(e);
        serde_json::from_slice(&json).map_err(damaged)
    }
}

fn operation_file(repository: &Repository, worktree: &Worktree, path: &Path) -> Result<GitOperationFile> {
    let oid = repository.objects().write_blob(&files::read(path, limits::EXTRAS)?)?;
    Ok(GitOperationFile { path: in_git_dir(worktree, path), oid })
}

/// The path of a file within the git directory of a worktree.
fn in_git_dir(worktree: &Worktree, path: &Path) -> RepoPath {
    RepoPath::new(path.strip_prefix(worktree.git_dir()).unwrap_or(path).as_os_str().as_bytes())
}

impl Index<'_> {
    /// The extras of a capture, for a worktree that may no longer be a sparse checkout. If it is none, all files are
    /// restored: otherwise nobody would notice that some are left out.
    pub fn for_checkout_of_now(&self, mut extras: CaptureExtras) -> Result<CaptureExtras> {
        if extras.index.sparse && !self.is_sparse()? {
            extras.index.sparse = false;
            extras.index.skip_worktree = std::mem::take(&mut extras.index.present);
        }
        Ok(extras)
    }
}
