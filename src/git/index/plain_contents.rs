//! Files that git stores byte for byte. If nothing can ask for a filter or a conversion of line ends, contents are read and
//! written here, without a process and without an index of the whole tree.

use super::odd_names::is_odd;
use std::collections::HashMap;
use std::path::PathBuf;

use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::base::names::{Oid, RepoPath};

use crate::objects::database::TreeEntry;
use crate::objects::tree_read::RawTreeEntry;
use crate::repo::handles::Conversions;
use crate::repo::repository::Repository;
use crate::repo::shortcuts::FastWay;
use crate::repo::worktrees::Worktree;

/// Files over this many bytes are left to git, which does not hold them in memory.
const LIMIT: u64 = 32 * 1024 * 1024;

/// The entries of a folder by name: one may have very many files, and each is asked for.
type FolderTreeEntries = HashMap<Vec<u8>, TreeEntry>;

/// The trees of folders; each is read once.
struct FolderTrees<'r> {
    repository: &'r Repository,
    /// `None` where git has to do it: there is no such tree, or attributes are in it.
    known: HashMap<RepoPath, Option<FolderTreeEntries>>,
}

impl<'r> FolderTrees<'r> {
    fn below(repository: &'r Repository, root: &Oid) -> Self {
        Self { repository, known: HashMap::from([(RepoPath::new(Vec::new()), without_attributes(repository, root))]) }
    }

    /// A folder's tree, if no attributes are in it or above it.
    fn get(&mut self, folder: &RepoPath) -> Option<&FolderTreeEntries> {
        if !self.known.contains_key(folder) {
            let (above, name) = folder.split();
            let entry = self.get(&RepoPath::new(above)).and_then(|above| above.get(name));
            let tree = entry.map(|entry| entry.oid.clone()).and_then(|tree| without_attributes(self.repository, &tree));
            self.known.insert(folder.clone(), tree);
        }
        self.known.get(folder)?.as_ref()
    }
}

fn without_attributes(repository: &Repository, tree: &Oid) -> Option<FolderTreeEntries> {
    let raw = repository.trees().raw_tree(tree).ok()?;
    let harmless = |entry: &RawTreeEntry<'_>| !entry.name.eq_ignore_ascii_case(b".gitattributes");
    let named = |entry: Result<RawTreeEntry<'_>>| {
        let entry = entry.ok().filter(harmless)?.to_owned().ok()?;
        Some((entry.name.clone(), entry))
    };
    raw.entries().map(named).collect()
}

impl Conversions<'_> {
    /// Writes `paths` of a tree, each to the place that is told for it, with the content and mode that a checkout gives it.
    /// The folders of the places exist. Returns `false` if git has to do it; some of the files may have been written then.
    pub(crate) fn write_plain(
        &self,
        tree: &Oid,
        paths: &[RepoPath],
        place: impl Fn(&RepoPath) -> Result<PathBuf>,
    ) -> Result<bool> {
        let Some(found) = self.plain(tree, paths.iter()) else { return Ok(false) };
        for (path, entry) in paths.iter().zip(found) {
            let Ok(bytes) = self.repo.objects().read_blob(&entry.oid, LIMIT) else { return Ok(false) };
            files::write_users_file(&place(path)?, &bytes, entry.mode & 0o100 != 0)?;
        }
        Ok(true)
    }

    /// The blob ids that files of a worktree would get with the attributes of a tree; `None` if git has to compute them.
    pub(crate) fn hash_plain(&self, worktree: &Worktree, tree: &Oid, paths: &[&RepoPath]) -> Option<Vec<Oid>> {
        self.plain(tree, paths.iter().copied())?;
        let kind = self.repo.hash().gix();
        let hash = |path: &&RepoPath| {
            let place = worktree.path().join(path.to_path());
            let bytes = files::read_small(&place, LIMIT).ok()?.content()?;
            Oid::from_bytes(gix::objs::compute_hash(kind, gix::objs::Kind::Blob, &bytes).ok()?.as_bytes()).ok()
        };
        paths.iter().map(hash).collect()
    }

    /// The entries of paths in a tree, if git would convert none of them: regular files with harmless names, and no
    /// attributes anywhere. Otherwise `None`.
    pub(crate) fn plain<'p>(&self, tree: &Oid, paths: impl Iterator<Item = &'p RepoPath>) -> Option<Vec<TreeEntry>> {
        if !self.repo.shortcuts().allow(FastWay::PlainContents) {
            return None;
        }
        let root = self.repo.trees().tree_of(tree).ok()?;
        let mut folders = FolderTrees::below(self.repo, &root);
        let mut found = Vec::new();
        for path in paths {
            if is_odd(path) {
                return None;
            }
            let (folder, name) = path.split();
            let entry = folders.get(&RepoPath::new(folder))?.get(name)?;
            if entry.mode & 0o170_000 != 0o100_000 {
                return None;
            }
            found.push(entry.clone());
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::scratch::ScratchRepository;
    use crate::skipped::skipped;

    const ATTRIBUTES_FOR_ALL: &str = "this machine has attributes or conversions for all repositories";

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text.as_bytes())
    }

    #[test]
    fn contents_are_written_and_hashed_as_git_does() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = ScratchRepository::new(kind);
            scratch.write("run.sh", b"#!/bin/sh\r\n");
            scratch.git(&["add", "-A"]);
            scratch.git(&["update-index", "--chmod=+x", "run.sh"]);
            scratch.git(&["commit", "-qm", "more"]);
            let repo = Repository::discover(&scratch.path()).unwrap();
            let head = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
            let there = tempfile::tempdir().unwrap();
            let paths = [path("run.sh"), path("sub/b.txt")];
            if !repo.shortcuts().allow(FastWay::PlainContents) {
                return skipped(ATTRIBUTES_FOR_ALL);
            }
            let place = |path: &RepoPath| Ok(there.path().join(RepoPath::new(path.file_name()).to_path()));
            assert!(repo.conversions().write_plain(&head, &paths, place).unwrap());
            assert_eq!(std::fs::read(there.path().join("run.sh")).unwrap(), b"#!/bin/sh\r\n");
            let main = scratch.main();
            let hashes = repo.conversions().hash_plain(&main, &head, &[&paths[0]]).unwrap();
            assert_eq!(hashes[0].as_str(), scratch.git(&["hash-object", "run.sh"]));
        }
    }

    #[test]
    fn attributes_configuration_links_and_odd_names_are_left_to_git() {
        let scratch = ScratchRepository::new(&[]);
        let repo = || Repository::discover(&scratch.path()).unwrap();
        let head = || Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        if !repo().shortcuts().allow(FastWay::PlainContents) {
            return skipped(ATTRIBUTES_FOR_ALL);
        }
        let is_plain = |file: &str| repo().conversions().plain(&head(), [path(file)].iter()).is_some();
        assert!(is_plain("sub/b.txt"));
        for (key, value) in [("core.autocrlf", "input"), ("core.attributesFile", "/x"), ("core.symlinks", "false")] {
            scratch.git(&["config", key, value]);
            assert!(!is_plain("sub/b.txt"), "{key}");
            scratch.git(&["config", "--unset", key]);
        }
        scratch.write(".git/info/attributes", b"* text\n");
        assert!(!is_plain("sub/b.txt"));
        std::fs::remove_file(scratch.path().join(".git/info/attributes")).unwrap();
        std::os::unix::fs::symlink("a.txt", scratch.path().join("link")).unwrap();
        scratch.write("sub/.gitattributes", b"*.txt text eol=crlf\n");
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-qm", "attributes"]);
        assert!(is_plain("a.txt") && !is_plain("sub/b.txt") && !is_plain("link"));
    }
}
