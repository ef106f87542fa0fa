//! Unusual permissions, ACLs and user attributes. git keeps none of them, but a secret must not come back readable by
//! everyone. A capture records them in its extras; `restore::permissions` brings them back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use axiom_base::error::Result;
use axiom_base::files;
use axiom_base::files::ExtendedAttributes;
use axiom_model::base::names::{Oid, RepoPath};

use crate::base::readable::{can_be_read, is_caused_by_gap};
use crate::base::tree_change::TreeChange;
use crate::repo::handles::CapturedPermissions;
use crate::repo::repository::Repository;
use crate::repo::worktrees::Worktree;
use axiom_base::own_process::threads;

/// The read bits of group and others.
const READ: u32 = 0o044;

/// The write bit of the owner.
const WRITE: u32 = 0o200;

/// What is recorded of a mode: of a folder also that what is in it gets its group, and that only owners remove entries. Of a file the bits
/// above are no permissions that a checkpoint gives.
const RECORDED: (u32, u32) = (0o777, 0o3777);

/// The bit of a folder of which only the owners of entries may remove them.
const STICKY: u32 = 0o1000;

/// So many are looked at faster by one thread.
const FEW: usize = 500;

/// The largest value of an attribute on Linux, in bytes.
const VALUE_LIMIT: u64 = 64 * 1024;

/// The name of an attribute. In JSON it is written like a path: as text, or as hex if it is not text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExtendedAttributeName(RepoPath);

/// An extended attribute, or an ACL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtendedAttribute {
    /// Its name.
    pub name: ExtendedAttributeName,
    /// Its value, as a blob.
    pub oid: Oid,
}

/// The recorded permissions of a file or folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedPermissions {
    /// Its path.
    pub path: RepoPath,
    /// Its mode.
    pub mode: u32,
    /// Whether it is a folder: what comes to its path as another kind of entry does not get these permissions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub folder: bool,
    /// All its ACLs and user attributes.
    pub attributes: Vec<ExtendedAttribute>,
}

/// The usual permissions in a worktree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UsualPermissions {
    /// The read and write bits of a file that git creates.
    mode: u32,
    /// Whether a file that may be executed says something that git does not.
    executable_is_unusual: bool,
}

impl UsualPermissions {
    /// Reads them from the index file, which git creates with the user's umask.
    pub fn of(worktree: &Worktree) -> Self {
        let mode = index_mode(worktree);
        Self { mode: (mode & 0o666) | 0o600, executable_is_unusual: false }
    }

    /// The same where git does not look at the executable bit (`core.fileMode=false`): then it is recorded. Not where every file has it, as
    /// on file systems without modes: there the index has it too.
    pub fn of_repository(repository: &Repository, worktree: &Worktree) -> Self {
        let executable_is_unusual = !repository.settings().keeps().modes && index_mode(worktree) & 0o100 == 0;
        Self { executable_is_unusual, ..Self::of(worktree) }
    }

    /// The read and write bits of a file that git creates.
    pub fn mode(self) -> u32 {
        self.mode
    }

    /// Whether fewer users may read a file than usual, or its owner may not write it. Such permissions are recorded for
    /// unchanged files too.
    pub fn is_narrow(self, mode: u32) -> bool {
        let wanted = (self.mode & READ) | WRITE;
        mode & wanted != wanted
    }

    /// Whether this is the mode that git would give.
    pub fn is_usual(self, mode: u32, is_folder: bool) -> bool {
        let executes = is_folder || mode & 0o100 != 0 && !self.executable_is_unusual;
        let usual = if executes { self.mode | ((self.mode & 0o444) >> 2) } else { self.mode };
        mode & (0o777 | STICKY) == usual
    }

    /// The permissions of those paths, and folders above them, that are unusual, in order. Links have no permissions of
    /// their own. What is closed to us is not held, so its permissions are not either: a rollback leaves it as it is, and does not close
    /// what is open by then.
    pub fn unusual_ones<'p>(
        self,
        repository: &Repository,
        root: &Path,
        paths: impl Iterator<Item = &'p RepoPath>,
    ) -> Result<Vec<RecordedPermissions>> {
        self.unusual_ones_and_above(repository, root, paths, std::iter::empty())
    }

    /// As [`UsualPermissions::unusual_ones`], also of the folders above files that are `known` to have usual ones.
    pub fn unusual_ones_and_above<'p>(
        self,
        repository: &Repository,
        root: &Path,
        paths: impl Iterator<Item = &'p RepoPath>,
        known: impl Iterator<Item = &'p RepoPath>,
    ) -> Result<Vec<RecordedPermissions>> {
        let is_closed = |found: &RecordedPermissions| {
            let place = root.join(found.path.to_path());
            found.mode & READ != READ && !can_be_read(&if found.folder { place.join(".") } else { place })
        };
        repository.captured_permissions().permissions(root, (paths, known), |found, is_folder| {
            let is_unusual = !found.attributes.is_empty() || !self.is_usual(found.mode, is_folder);
            is_unusual && !is_closed(found)
        })
    }
}

fn index_mode(worktree: &Worktree) -> u32 {
    std::fs::metadata(worktree.index_file()).map_or(0o644, |meta| meta.permissions().mode())
}

impl CapturedPermissions<'_> {
    /// The permissions of the paths, and of the folders above them and above others, that `wanted` selects, in order. Its second
    /// argument is whether the path is a folder.
    fn permissions<'p>(
        &self,
        root: &Path,
        (paths, others): (impl Iterator<Item = &'p RepoPath>, impl Iterator<Item = &'p RepoPath>),
        wanted: impl Fn(&RecordedPermissions, bool) -> bool,
    ) -> Result<Vec<RecordedPermissions>> {
        let mut all: BTreeSet<RepoPath> = BTreeSet::new();
        let mut last: &[u8] = b"";
        for path in others {
            let (folder, _) = path.split();
            if folder != last {
                all.extend(path.folders_above());
                last = folder;
            }
        }
        for path in paths {
            all.extend(path.folders_above());
            all.insert(path.clone());
        }
        let all: Vec<RepoPath> = all.into_iter().collect();
        let looks = threads::for_each(&all, FEW, |path| match read(&root.join(path.to_path())) {
            // What cannot be read is named as a gap where its content is read.
            Err(error) if is_caused_by_gap(&error) => Ok(None),
            read => read,
        })?;
        let mut found = Vec::new();
        for (path, there) in all.into_iter().zip(looks) {
            let Some((meta, attributes)) = there else { continue };
            let mut recorded = Vec::with_capacity(attributes.len());
            for (name, value) in attributes {
                recorded.push(ExtendedAttribute {
                    name: ExtendedAttributeName(RepoPath::new(name)),
                    oid: self.repo.objects().write_blob(&value)?,
                });
            }
            let one = RecordedPermissions { path, mode: mode_of(&meta), folder: meta.is_dir(), attributes: recorded };
            if wanted(&one, meta.is_dir()) {
                found.push(one);
            }
        }
        Ok(found)
    }

    /// The permissions that a capture recorded (`known`), completed for the way back by those on disk: of files that a
    /// restore replaces or removes, of the folders in which anything changes, and of paths that get permissions from `comes`, even usual
    /// ones. In order.
    pub fn with_permissions_replaced(
        &self,
        worktree: &Worktree,
        replaced: &[TreeChange],
        known: &[RecordedPermissions],
        comes: &[RecordedPermissions],
    ) -> Result<Vec<RecordedPermissions>> {
        let usual = UsualPermissions::of_repository(self.repo, worktree);
        let looked_at = |change: &TreeChange| match &change.old {
            Some(_) => Some(change.path.clone()),
            None => change.path.folders_above().last(),
        };
        let goes: Vec<RepoPath> = replaced.iter().filter_map(looked_at).collect();
        let unusual = usual.unusual_ones(self.repo, worktree.path(), goes.iter())?;
        let is_given = |one: &RecordedPermissions, _| recorded(comes, &one.path).is_some();
        let given: Vec<RepoPath> =
            comes.iter().filter(|one| recorded(known, &one.path) != Some(one)).map(|one| one.path.clone()).collect();
        let given = self.permissions(worktree.path(), (given.iter(), std::iter::empty()), is_given)?;
        let mut all: BTreeMap<RepoPath, RecordedPermissions> = BTreeMap::new();
        for one in unusual.into_iter().chain(given).chain(known.iter().cloned()) {
            all.insert(one.path.clone(), one);
        }
        Ok(all.into_values().collect())
    }

    /// The files and folders of which a restore changes only the permissions. `changes` says whether the trees differ at a
    /// path; such paths are left out.
    pub fn permissions_that_change(
        &self,
        worktree: &Worktree,
        (now, then): (&[RecordedPermissions], &[RecordedPermissions]),
        changes: impl Fn(&RepoPath) -> bool,
    ) -> Result<Vec<RepoPath>> {
        let mut paths = Vec::new();
        for one in then.iter().filter(|one| recorded(now, &one.path) != Some(one) && !changes(&one.path)) {
            let Some((meta, attributes)) = read(&worktree.path().join(one.path.to_path()))? else { continue };
            if meta.is_dir() == one.folder && self.known(one)?.differs(mode_of(&meta), &attributes) {
                paths.push(one.path.clone());
            }
        }
        Ok(paths)
    }

    /// The recorded permissions, with the values of the attributes.
    pub(crate) fn known(&self, one: &RecordedPermissions) -> Result<ResolvedPermissions> {
        let read = |attributes: &Vec<ExtendedAttribute>| -> Result<ExtendedAttributes> {
            let value = |one: &ExtendedAttribute| {
                Ok((one.name.0.as_bytes().to_vec(), self.repo.objects().read_blob(&one.oid, VALUE_LIMIT)?))
            };
            attributes.iter().map(value).collect()
        };
        let bits = if one.folder { RECORDED.1 } else { RECORDED.0 };
        Ok(ResolvedPermissions { mode: one.mode & bits, folder: one.folder, attributes: read(&one.attributes)? })
    }
}

/// The recorded permissions of a file or folder, with values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResolvedPermissions {
    /// Its mode.
    pub mode: u32,
    /// Whether it is a folder.
    pub folder: bool,
    /// Its ACLs and attributes.
    pub attributes: ExtendedAttributes,
}

impl ResolvedPermissions {
    /// Whether putting this back changes anything.
    fn differs(&self, mode: u32, attributes: &ExtendedAttributes) -> bool {
        (self.mode, &self.attributes) != (mode, attributes)
    }
}

/// The metadata and attributes of a file or folder; `None` for anything else.
fn read(place: &Path) -> Result<Option<(Metadata, ExtendedAttributes)>> {
    let Some(meta) = files::metadata(place)?.filter(|meta| meta.is_file() || meta.is_dir()) else { return Ok(None) };
    Ok(Some((meta, files::attributes(place)?)))
}

fn mode_of(meta: &Metadata) -> u32 {
    meta.permissions().mode() & if meta.is_dir() { RECORDED.1 } else { RECORDED.0 }
}

/// The recorded permissions of a path; `modes` are ordered by path.
pub(crate) fn recorded<'m>(modes: &'m [RecordedPermissions], path: &RepoPath) -> Option<&'m RecordedPermissions> {
    modes.get(modes.binary_search_by(|one| one.path.cmp(path)).ok()?)
}
