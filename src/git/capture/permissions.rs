//! Permissions that are other than usual, ACLs and the user's attributes, of which git keeps nothing: a secret must not come
//! back readable by all. What a capture records of them is in its extras; `restore_permissions` brings them back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::domain::base::names::{Oid, RepoPath};
use crate::error::Result;
use crate::files::{self, Attributes};

use crate::git::history::questions::TreeChange;
use crate::git::repo::handles::Captures;
use crate::git::repo::repository::Repository;
use crate::git::repo::worktrees::Worktree;

/// Reading by group and others.
const READ: u32 = 0o044;

/// Writing by the owner.
const WRITE: u32 = 0o200;

/// The largest value of an attribute that Linux knows.
const VALUE_LIMIT: u64 = 64 * 1024;

/// The name of an attribute; in JSON as a path is: text, or the hex of what is none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AttributeName(RepoPath);

/// An attribute, or an ACL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    /// Its name.
    pub name: AttributeName,
    /// Its value, as a blob.
    pub oid: Oid,
}

/// What is recorded of a file or folder whose permissions are not as usual.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permissions {
    /// Where.
    pub path: RepoPath,
    /// Its mode.
    pub mode: u32,
    /// Its ACLs and the user's attributes, all of them; `None` where an older build did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Vec<Attribute>>,
}

impl Permissions {
    /// Whether both say the same, as far as both know.
    pub(in crate::git) fn is_as(&self, other: &Self) -> bool {
        let unknown = self.attributes.is_none() || other.attributes.is_none();
        self.mode == other.mode && (unknown || self.attributes == other.attributes)
    }
}

/// What is usual in a worktree.
#[derive(Debug, Clone, Copy)]
pub(in crate::git) struct Usual {
    /// Reading and writing of a file that git makes.
    mode: u32,
}

impl Usual {
    /// By the index, which git makes with the user's umask.
    pub fn of(worktree: &Worktree) -> Self {
        let mode = std::fs::metadata(worktree.index_file()).map_or(0o644, |meta| meta.permissions().mode());
        Self { mode: (mode & 0o666) | 0o600 }
    }

    /// Reading and writing of a file that git makes.
    pub fn mode(self) -> u32 {
        self.mode
    }

    /// Whether fewer may read a file than usual, or its owner may not write it: that is told of unchanged files too.
    pub fn is_narrow(self, mode: u32) -> bool {
        let wanted = (self.mode & READ) | WRITE;
        mode & wanted != wanted
    }

    /// Whether it is the mode that git would give.
    fn is_usual(self, mode: u32, is_folder: bool) -> bool {
        let executes = is_folder || mode & 0o100 != 0;
        let usual = if executes { self.mode | ((self.mode & 0o444) >> 2) } else { self.mode };
        mode & 0o777 == usual
    }

    /// Those of the paths, and of the folders above them, that are not as usual, in order. Links have no permissions of
    /// their own.
    ///
    /// # Errors
    /// `IO_FAILED`, `DISK_FULL`, `GIT_FAILED`.
    pub fn unusual_ones<'p>(
        self,
        repository: &Repository,
        root: &Path,
        paths: impl Iterator<Item = &'p RepoPath>,
    ) -> Result<Vec<Permissions>> {
        repository.captures().permissions(root, paths, |found, is_folder| {
            found.attributes.iter().any(|attributes| !attributes.is_empty()) || !self.is_usual(found.mode, is_folder)
        })
    }
}

impl Captures<'_> {
    /// The permissions of the paths, and of the folders above them, that `wanted` asks for (it is told which are folders), in
    /// order.
    fn permissions<'p>(
        &self,
        root: &Path,
        paths: impl Iterator<Item = &'p RepoPath>,
        wanted: impl Fn(&Permissions, bool) -> bool,
    ) -> Result<Vec<Permissions>> {
        let mut all: BTreeSet<RepoPath> = BTreeSet::new();
        for path in paths {
            all.extend(path.folders_above());
            all.insert(path.clone());
        }
        let mut found = Vec::new();
        for path in all {
            let Some((meta, attributes)) = read(&root.join(path.to_path()))? else { continue };
            let mut recorded = Vec::with_capacity(attributes.len());
            for (name, value) in attributes {
                recorded
                    .push(Attribute { name: AttributeName(RepoPath::new(name)), oid: self.repo.objects().write_blob(&value)? });
            }
            let one = Permissions { path, mode: mode_of(&meta), attributes: Some(recorded) };
            if wanted(&one, meta.is_dir()) {
                found.push(one);
            }
        }
        Ok(found)
    }

    /// What a capture has `known` of permissions, with what only the disk says of files that a restore replaces or removes,
    /// and of those to which it gives what `comes`: usual ones too, for the way back. In order.
    ///
    /// # Errors
    /// `IO_FAILED`, `DISK_FULL`, `GIT_FAILED`.
    pub fn with_permissions_replaced(
        &self,
        worktree: &Worktree,
        replaced: &[TreeChange],
        known: &[Permissions],
        comes: &[Permissions],
    ) -> Result<Vec<Permissions>> {
        let usual = Usual::of(worktree);
        let goes = replaced.iter().filter(|change| change.old.is_some()).map(|change| &change.path);
        let unusual = usual.unusual_ones(self.repo, worktree.path(), goes)?;
        let is_given = |one: &Permissions, _| recorded(comes, &one.path).is_some();
        let given: Vec<RepoPath> =
            comes.iter().filter(|one| recorded(known, &one.path) != Some(one)).map(|one| one.path.clone()).collect();
        let given = self.permissions(worktree.path(), given.iter(), is_given)?;
        let mut all: BTreeMap<RepoPath, Permissions> = BTreeMap::new();
        for one in unusual.into_iter().chain(given).chain(known.iter().cloned()) {
            all.insert(one.path.clone(), one);
        }
        Ok(all.into_values().collect())
    }

    /// The files and folders to which a restore gives other permissions, and nothing else: their paths are none of those
    /// that `changes` between the trees.
    ///
    /// # Errors
    /// `IO_FAILED`, `GIT_FAILED`.
    pub fn permissions_that_change(
        &self,
        worktree: &Worktree,
        (now, then): (&[Permissions], &[Permissions]),
        changes: impl Fn(&RepoPath) -> bool,
    ) -> Result<Vec<RepoPath>> {
        let mut paths = Vec::new();
        for one in then.iter().filter(|one| recorded(now, &one.path) != Some(one) && !changes(&one.path)) {
            let Some((meta, attributes)) = read(&worktree.path().join(one.path.to_path()))? else { continue };
            if self.known(one)?.differs(mode_of(&meta), &attributes) {
                paths.push(one.path.clone());
            }
        }
        Ok(paths)
    }

    /// What is recorded, with the values.
    ///
    /// # Errors
    /// `GIT_FAILED` where a blob is missing.
    pub(in crate::git) fn known(&self, one: &Permissions) -> Result<Known> {
        let read = |attributes: &Vec<Attribute>| -> Result<Attributes> {
            let value =
                |one: &Attribute| Ok((one.name.0.as_bytes().to_vec(), self.repo.objects().read_blob(&one.oid, VALUE_LIMIT)?));
            attributes.iter().map(value).collect()
        };
        Ok(Known { mode: one.mode & 0o777, attributes: one.attributes.as_ref().map(read).transpose()? })
    }
}

/// What was recorded of a file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::git) struct Known {
    /// Its mode.
    pub mode: u32,
    /// Its ACLs and attributes; `None` where nobody looked.
    pub attributes: Option<Attributes>,
}

impl Known {
    /// Whether putting this back changes anything.
    fn differs(&self, mode: u32, attributes: &Attributes) -> bool {
        match &self.attributes {
            Some(wanted) => self.mode != mode || wanted != attributes,
            None => mode & !self.mode & 0o777 != 0,
        }
    }
}

/// What is said of a file or folder; `None` of anything else.
fn read(place: &Path) -> Result<Option<(Metadata, Attributes)>> {
    let Some(meta) = files::metadata(place)?.filter(|meta| meta.is_file() || meta.is_dir()) else { return Ok(None) };
    Ok(Some((meta, files::attributes(place)?)))
}

fn mode_of(meta: &Metadata) -> u32 {
    meta.permissions().mode() & 0o777
}

/// What is recorded of a path; it is recorded in order.
pub(in crate::git) fn recorded<'m>(modes: &'m [Permissions], path: &RepoPath) -> Option<&'m Permissions> {
    modes.get(modes.binary_search_by(|one| one.path.cmp(path)).ok()?)
}
