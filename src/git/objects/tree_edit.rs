//! Trees with some paths replaced. Only the folders on the paths are read and written.

use std::collections::BTreeMap;

use axiom_base::error::Result;
use axiom_model::base::names::Oid;

use super::database::TreeEntry;
use crate::base::modes::TREE;
use crate::base::tree_change::TreeChange;
use crate::repo::handles::Trees;

/// The rest of a change's path below the current folder, and the change.
type RelativeChange<'c> = (&'c [u8], &'c TreeChange);

impl Trees<'_> {
    /// Returns `tree` with each change's new value at its path. The old value of a change is not compared with the tree. A
    /// file replaces a folder and the other way round, and empty folders are left out. Nothing refers to the new tree yet; a
    /// crash leaves unreachable objects.
    pub fn edit_tree(&self, tree: &Oid, changes: &[TreeChange]) -> Result<Oid> {
        if changes.is_empty() {
            return Ok(tree.clone());
        }
        let below: Vec<RelativeChange<'_>> = changes.iter().map(|change| (change.path.as_bytes(), change)).collect();
        self.folder_with(Some(tree), &below)?.map_or_else(|| self.empty_tree(), Ok)
    }

    /// Returns `None` if the folder becomes empty.
    fn folder_with(&self, folder: Option<&Oid>, changes: &[RelativeChange<'_>]) -> Result<Option<Oid>> {
        let listed = folder.map_or_else(|| Ok(Vec::new()), |folder| self.read_tree(folder))?;
        let mut entries: BTreeMap<Vec<u8>, TreeEntry> = listed.into_iter().map(|entry| (entry.name.clone(), entry)).collect();
        let mut names: BTreeMap<&[u8], Vec<RelativeChange<'_>>> = BTreeMap::new();
        for (rest, change) in changes {
            let (name, rest) = match rest.iter().position(|byte| *byte == b'/') {
                Some(end) => (&rest[..end], &rest[end + 1..]),
                None => (*rest, &rest[rest.len()..]),
            };
            names.entry(name).or_default().push((rest, change));
        }
        for (name, changes) in names {
            let (here, below): (Vec<RelativeChange<'_>>, Vec<RelativeChange<'_>>) =
                changes.into_iter().partition(|(rest, _)| rest.is_empty());
            let was_folder = entries.get(name).filter(|entry| entry.mode == TREE).map(|entry| entry.oid.clone());
            let comes = here.iter().find_map(|(_, change)| change.new.as_ref());
            let goes = !here.is_empty() && comes.is_none() && was_folder.is_none();
            if let Some(file) = comes {
                entries.insert(name.to_vec(), TreeEntry { mode: file.mode, oid: file.oid.clone(), name: name.to_vec() });
                continue;
            }
            if goes {
                entries.remove(name);
            }
            let is_file = entries.contains_key(name) && was_folder.is_none();
            // Below a file there is nothing to remove.
            if below.is_empty() || (is_file && below.iter().all(|(_, change)| change.new.is_none())) {
                continue;
            }
            match self.folder_with(was_folder.as_ref(), &below)? {
                Some(oid) => drop(entries.insert(name.to_vec(), TreeEntry { mode: TREE, oid, name: name.to_vec() })),
                None => drop(entries.remove(name)),
            }
        }
        if entries.is_empty() {
            return Ok(None);
        }
        self.write_tree(&entries.into_values().collect::<Vec<_>>()).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::tree_change::FileId;
    use crate::repo::scratch::ScratchRepository;
    use axiom_model::base::names::RepoPath;

    #[test]
    fn what_differs_between_two_trees_makes_the_one_of_the_other() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let tree = |files: &[(&str, &str)]| {
            let blob = |text: &str| repo.objects().write_blob(text.as_bytes()).unwrap();
            let file = |(path, text): &(&str, &str)| TreeChange {
                path: RepoPath::new(path.as_bytes()),
                old: None,
                new: Some(FileId { mode: 0o100_644, oid: blob(text) }),
            };
            repo.trees().edit_tree(&repo.trees().empty_tree().unwrap(), &files.iter().map(file).collect::<Vec<_>>()).unwrap()
        };
        let trees = [
            tree(&[("a", "1"), ("a.c", "2"), ("d/x", "3"), ("d/deep/y", "4"), ("f", "5")]),
            tree(&[("a/b/c", "1"), ("a.c", "2"), ("d", "file"), ("f/g", "5")]),
            tree(&[("d/deep/y", "other"), ("d/deep/z", "4")]),
            tree(&[]),
        ];
        for (old, new) in trees.iter().flat_map(|old| trees.iter().map(move |new| (old, new))) {
            let mut changes = repo.history().diff_trees(old, new).unwrap();
            assert_eq!(repo.trees().edit_tree(old, &changes).unwrap(), *new);
            changes.reverse();
            assert_eq!(repo.trees().edit_tree(old, &changes).unwrap(), *new, "in any order");
        }
        let rest = [TreeChange { path: RepoPath::new(&b"a/b"[..]), old: None, new: None }];
        assert_eq!(repo.trees().edit_tree(&trees[0], &rest).unwrap(), trees[0], "nothing is below a file");
        // The same trees as git makes.
        repo.durability().sync_objects().unwrap();
        assert_eq!(scratch.git(&["rev-parse", &format!("{}:d/deep", trees[0])]).len(), trees[0].as_str().len());
        scratch.git(&["read-tree", trees[0].as_str()]);
        assert_eq!(scratch.git(&["write-tree"]), trees[0].as_str());
    }
}
