//! Submodules: whether one is ours, and its repository.
//!
//! A submodule is ours only while its git directory is below the superproject's (`modules/…`, `worktrees/*/modules/…`) or in the
//! submodule's own folder, and names that folder back, or none after `git submodule deinit`. Its own configuration starts nothing that
//! the superproject's would not: its hooks do not run, and of its filters those count that the superproject has too.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use gix::bstr::ByteSlice;
use gix::config::file::Metadata;
use gix::config::{File, Source};

use super::nested::{is_git_dir, is_repository};
use super::ownership::named_by;
use super::repository::{Repository, RepositoryPlace};
use super::worktrees::Worktree;
use crate::base::formats::{HashKind, RefFormat};
use crate::repo::handles::Worktrees;
use crate::repo::pointer_files::{is_same_place, path_of};
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::names::without_dots;

/// The largest configuration file that is read.
const CONFIG_LIMIT: u64 = 1024 * 1024;

/// How many folders below `modules` are looked into.
const MODULES: usize = 10_000;

/// What starts a program for the contents of files.
const FILTER_KEYS: [&str; 4] = ["clean", "smudge", "process", "required"];

/// What is in the folder of a submodule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubmoduleFolder {
    /// Its files; this is its git directory.
    Ours(PathBuf),
    /// Nothing that leads to its repository, which is here: the folder, or its `.git`, was deleted.
    Deleted(PathBuf),
    /// It is not initialised: it has no repository.
    NotInitialised,
    /// A repository that is not this submodule's.
    Elsewhere(String),
}

impl Worktrees<'_> {
    /// What is in the folder of a submodule of `above`, a worktree of this repository.
    pub fn submodule_folder(&self, above: &Worktree, folder: &Path) -> Result<SubmoduleFolder> {
        let dot = folder.join(".git");
        let git_dir = match std::fs::symlink_metadata(&dot) {
            Ok(meta) if meta.is_dir() => is_git_dir(&dot).then_some(dot),
            Ok(meta) if meta.is_file() => named_by(folder)?.filter(|named| is_git_dir(named)),
            Ok(_) => return Ok(SubmoduleFolder::Elsewhere("its .git is neither a file nor a folder".to_owned())),
            Err(e) if files::says_nothing_is_there(&e) => {
                let found = modules_below(&above.git_dir().join("modules"));
                let found = found.into_iter().find(|git_dir| names(git_dir, folder));
                return Ok(found.map_or(SubmoduleFolder::NotInitialised, SubmoduleFolder::Deleted));
            }
            Err(e) => return Err(Error::io("access", &dot, e)),
        };
        let Some(git_dir) = git_dir else {
            return Ok(SubmoduleFolder::Elsewhere("its .git leads to no repository".to_owned()));
        };
        let git_dir = git_dir.canonicalize().map_err(|e| Error::io("find", &git_dir, e))?;
        Ok(match self.is_submodule(folder, &git_dir) {
            true => SubmoduleFolder::Ours(git_dir),
            false => SubmoduleFolder::Elsewhere(format!("its .git leads to '{}'", git_dir.display())),
        })
    }

    /// The worktree of the submodule in a folder.
    pub fn submodule_at(&self, folder: &Path) -> Result<Option<Worktree>> {
        let dot = folder.join(".git");
        let git_dir = if dot.is_dir() { Some(dot) } else { named_by(folder)? };
        let git_dir = git_dir.and_then(|named| named.canonicalize().ok()).filter(|git_dir| self.is_submodule(folder, git_dir));
        Ok(git_dir.map(|git_dir| Worktree::submodule(folder.to_owned(), git_dir)))
    }

    /// Whether a git directory is that of a submodule of ours in a folder: it lies where such a one lies, and names the folder back.
    pub fn is_submodule(&self, folder: &Path, git_dir: &Path) -> bool {
        // A linked worktree of a submodule's repository has another one's refs.
        if git_dir.join("commondir").exists() || !is_git_dir(git_dir) {
            return false;
        }
        let owner = |path: &Path| std::fs::metadata(path).map(|meta| meta.uid()).ok();
        if owner(git_dir) != owner(self.repo.common_dir()) {
            return false;
        }
        let common = self.repo.common_dir().canonicalize();
        let is_below = common.is_ok_and(|common| git_dir.strip_prefix(&common).is_ok_and(is_place_of_module));
        let real = folder.canonicalize();
        let real = real.as_deref().unwrap_or(folder);
        let is_inside = real.ancestors().any(|above| {
            let rest = git_dir.strip_prefix(above.join(".git"));
            rest.is_ok_and(|rest| rest.as_os_str().is_empty() && above == real || is_place_of_module(rest))
        });
        // `git submodule deinit` makes it forget its folder: a `.git` file, or a checkpoint, knows it still.
        (is_below || is_inside) && (names(git_dir, folder) || is_below && names_none(git_dir))
    }

    /// The folders and git directories of all submodules below the common git directory, of every worktree, whether they are checked
    /// out or not.
    pub fn submodule_git_dirs(&self) -> Vec<(PathBuf, PathBuf)> {
        self.modules().filter_map(|git_dir| Some((self.folder_of_submodule(&git_dir)?, git_dir))).collect()
    }

    /// The folder that a git directory below the common one names as its worktree, where it is that of a submodule of ours.
    pub fn folder_of_submodule(&self, git_dir: &Path) -> Option<PathBuf> {
        let named = git_dir.join(path_of(&config_of(git_dir)?.string("core.worktree")?));
        let folder = named.canonicalize().unwrap_or_else(|_| without_dots(&named));
        self.is_submodule(&folder, git_dir).then_some(folder)
    }

    /// Whether the configuration in a git directory can be read.
    pub fn has_configuration(&self, git_dir: &Path) -> bool {
        config_of(git_dir).is_some()
    }

    /// Where the repository of a submodule may be that was in `recorded`: there, or in any place below `modules`. Git moves it there
    /// when it absorbs a git directory or removes the submodule. One that names no folder is of the worktree in whose `modules` it is.
    pub fn places_of_submodule(&self, recorded: &Path) -> impl Iterator<Item = PathBuf> {
        let others = std::iter::once_with(move || {
            let common = self.repo.common_dir().canonicalize().unwrap_or_default();
            let of = worktree_of_module(&common, recorded);
            let is_of_another = move |place: &Path| names_none(place) && of.is_some() && worktree_of_module(&common, place) != of;
            self.modules().filter_map(|place| place.canonicalize().ok()).filter(move |place| !is_of_another(place))
        });
        std::iter::once(recorded.to_owned()).chain(others.flatten())
    }

    fn modules(&self) -> impl Iterator<Item = PathBuf> {
        let common = self.repo.common_dir();
        let linked = files::list(&common.join("worktrees")).unwrap_or_default();
        let places = std::iter::once(common.join("modules")).chain(linked.into_iter().map(|entry| entry.path().join("modules")));
        places.filter(|place| place.is_dir()).flat_map(|place| modules_below(&place))
    }

    /// The nested repositories of a worktree that are no submodules any more for its index, but whose repository is still kept as
    /// that of one: `git rm --cached` leaves them.
    pub fn keeps_as_module(&self, above: &Worktree, folder: &Path) -> bool {
        is_repository(folder)
            && named_by(folder).ok().flatten().and_then(|named| named.canonicalize().ok()).is_some_and(|git_dir| {
                let modules = above.git_dir().join("modules").canonicalize();
                modules.is_ok_and(|modules| git_dir.starts_with(modules)) && self.is_submodule(folder, &git_dir)
            })
    }
}

impl Repository {
    /// The repository of a submodule, with its worktree. The same one for each call.
    pub fn submodule(&self, folder: &Path, git_dir: &Path) -> Result<Arc<Self>> {
        let key = (folder.to_owned(), git_dir.to_owned());
        let mut open = self.shared.open();
        if let Some(known) = open.get(&key) {
            return Ok(Arc::clone(known));
        }
        open.retain(|(_, git_dir), _| git_dir.is_dir());
        let opened = Arc::new(self.open_submodule(folder, git_dir)?);
        open.insert(key, Arc::clone(&opened));
        Ok(opened)
    }

    /// The worktree of a repository that [`Repository::submodule`] opened.
    pub fn submodule_worktree(&self) -> Worktree {
        let RepositoryPlace { cwd, git_dir, .. } = &self.place;
        self.main.worktree.get().cloned().unwrap_or_else(|| Worktree::submodule(cwd.clone(), git_dir.clone()))
    }

    fn open_submodule(&self, folder: &Path, git_dir: &Path) -> Result<Self> {
        let format = format_of(git_dir)?;
        let mut opened = Self::at(git_dir.to_owned(), git_dir.to_owned(), format, folder.to_owned());
        opened.main.worktree.get_or_init(|| Worktree::submodule(folder.to_owned(), git_dir.to_owned()));
        opened.given.callers.clone_from(&self.given.callers);
        opened.shared = Arc::clone(&self.shared);
        if let Ok(who) = self.identities().committer() {
            opened.identities.committer.get_or_init(|| who);
        }
        let mut forced = vec!["core.hooksPath=/dev/null".to_owned()];
        forced.extend(self.filters_in_place_of(&opened)?);
        opened.given.forced = forced;
        // It was opened without them.
        opened.forget_gix();
        Ok(opened)
    }

    /// For each filter that the configuration of a submodule defines otherwise than this repository's: the definition that counts.
    fn filters_in_place_of(&self, submodule: &Self) -> Result<Vec<String>> {
        let (theirs, ours) = (submodule.gix()?, self.gix()?);
        let (theirs, ours) = (theirs.config_snapshot(), ours.config_snapshot());
        let mut forced = Vec::new();
        for section in theirs.plumbing().sections_by_name("filter").into_iter().flatten() {
            let Some(driver) = section.header().subsection_name().and_then(|name| name.to_str().ok()) else { continue };
            for key in FILTER_KEYS {
                let key = format!("filter.{driver}.{key}");
                let value = |config: &gix::config::Snapshot<'_>| config.string(key.as_str()).map(|value| value.to_string());
                let ours = value(&ours);
                if value(&theirs) != ours {
                    forced.push(format!("{key}={}", ours.unwrap_or_default()));
                }
            }
        }
        Ok(forced)
    }
}

impl Worktree {
    /// Writes the `.git` file that leads from the folder to the git directory, as git does for a submodule, and lets that name the
    /// folder where it names none.
    pub fn name_git_dir(&self, repo: &Repository) -> Result<()> {
        if names_none(self.git_dir()) {
            let folder = relative(self.git_dir(), self.path()).unwrap_or_else(|| self.path().to_owned());
            repo.git().args(["config", "core.worktree"]).arg(folder).writing().text()?;
        }
        let target = relative(self.path(), self.git_dir()).unwrap_or_else(|| self.git_dir().to_owned());
        let content = [b"gitdir: ", target.as_os_str().as_bytes(), b"\n"].concat();
        files::replace_keeping(&self.path().join(".git"), &content)
    }
}

/// The git directory of the worktree in whose `modules` a repository is, below this common one; `None` where it is in its own folder.
fn worktree_of_module(common: &Path, git_dir: &Path) -> Option<PathBuf> {
    let mut parts = git_dir.strip_prefix(common).ok()?.components();
    match parts.next()?.as_os_str().to_str()? {
        "worktrees" => Some(common.join("worktrees").join(parts.next()?)),
        _ => Some(common.to_owned()),
    }
}

/// Whether a path below a git directory is one at which git keeps the repository of a submodule.
fn is_place_of_module(rest: &Path) -> bool {
    let mut parts = rest.components().map(Component::as_os_str);
    match parts.next().and_then(|first| first.to_str()) {
        Some("modules") => parts.next().is_some(),
        Some("worktrees") => parts.nth(1).is_some_and(|part| part == "modules") && parts.next().is_some(),
        Some(_) | None => false,
    }
}

/// Whether a git directory names a folder as its worktree. The folder may be gone.
fn names(git_dir: &Path, folder: &Path) -> bool {
    let Some(config) = config_of(git_dir) else { return false };
    match config.string("core.worktree") {
        Some(named) => {
            let named = git_dir.join(path_of(&named));
            is_same_place(&named, folder) || without_dots(&named) == without_dots(folder)
        }
        None => is_same_place(&folder.join(".git"), git_dir),
    }
}

/// Whether a git directory names no folder as its worktree.
fn names_none(git_dir: &Path) -> bool {
    config_of(git_dir).is_some_and(|config| config.string("core.worktree").is_none())
}

fn config_of(git_dir: &Path) -> Option<File> {
    let text = files::read_optional(&git_dir.join("config"), CONFIG_LIMIT).ok().flatten()?;
    File::from_bytes_no_includes(&text, Metadata::from(Source::Local), Default::default()).ok()
}

fn format_of(git_dir: &Path) -> Result<(HashKind, RefFormat)> {
    let unknown = |why: String| {
        Error::new(Code::RepositoryUnsupported, format!("the repository '{}' cannot be used", git_dir.display())).why(why)
    };
    let config = config_of(git_dir).ok_or_else(|| unknown("its configuration cannot be read".to_owned()))?;
    let text = |key: &str| config.string(key).map(|value| value.to_string().to_ascii_lowercase());
    let hash = match text("extensions.objectFormat").as_deref() {
        None | Some("sha1") => HashKind::Sha1,
        Some("sha256") => HashKind::Sha256,
        Some(other) => return Err(unknown(format!("its object format is '{other}'"))),
    };
    match text("extensions.refStorage").as_deref() {
        None | Some("files") => Ok((hash, RefFormat::Files)),
        Some("reftable") => Ok((hash, RefFormat::Reftable)),
        Some(other) => Err(unknown(format!("its ref format is '{other}'"))),
    }
}

/// The git directories below a folder `modules`, those in others too: the name of a submodule may have slashes.
pub(crate) fn modules_below(modules: &Path) -> Vec<PathBuf> {
    let (mut open, mut found, mut seen) = (vec![modules.to_owned()], Vec::new(), 0);
    while let Some(folder) = open.pop() {
        for entry in files::list(&folder).unwrap_or_default() {
            seen += 1;
            if seen > MODULES || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let path = entry.path();
            if is_git_dir(&path) {
                open.extend(Some(path.join("modules")).filter(|inner| inner.is_dir()));
                found.push(path);
            } else {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The path of `to` as seen from the folder `from`; both are absolute.
pub(crate) fn relative(from: &Path, to: &Path) -> Option<PathBuf> {
    let from = from.canonicalize().unwrap_or_else(|_| from.to_owned());
    let common = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    (common > 1).then(|| up.chain(to.components().skip(common)).map(Component::as_os_str).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_git_file_names_the_git_directory_as_git_would() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        axiom_base::files::create_dir_all(&root.join("r/libs/x")).unwrap();
        let found = relative(&root.join("r/libs/x"), &root.join("r/.git/modules/libs/x"));
        assert_eq!(found.unwrap(), Path::new("../../.git/modules/libs/x"));
    }
}
