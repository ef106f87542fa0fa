//! Notes below `refs/notes/axiom`, changed in memory: other people's notes in the same ref stay as they are.
//!
//! git spreads notes over folders of two digits each as it sees fit, and reads any mixture; so what is there is kept,
//! and only a folder that grows too long is split.

use std::collections::BTreeMap;

use crate::domain::names::{Oid, RefName};
use crate::error::Result;

use super::objects::{NewCommit, TREE, TreeEntry};
use super::refs::{Expected, RefEdit};
use super::repository::Repository;

/// The notes.
pub(super) const NOTES: &str = "refs/notes/axiom";

/// How many notes lie in one folder before it is split.
const FOLDER: usize = 256;

/// Changes within one folder: the rest of an object's digits, and its note.
type Edits<'a> = Vec<(&'a str, Option<&'a Oid>)>;

/// The notes as they are at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notes {
    commit: Option<Oid>,
    tree: Option<Oid>,
    has_history: bool,
}

impl Repository {
    /// The notes as they are now.
    ///
    /// # Errors
    /// `GIT_FAILED` where the commit that the ref names is damaged.
    pub fn notes(&self) -> Result<Notes> {
        let Some(commit) = self.read_ref(&RefName::new(NOTES))? else {
            return Ok(Notes { commit: None, tree: None, has_history: false });
        };
        let data = self.read_commit(&commit).map_err(|e| e.context(format!("the notes in {NOTES} are damaged")))?;
        Ok(Notes { commit: Some(commit), tree: Some(data.tree), has_history: !data.parents.is_empty() })
    }

    /// The note of an object, a blob.
    ///
    /// # Errors
    /// `GIT_FAILED` where the tree of the notes is damaged.
    pub fn note_of(&self, notes: &Notes, object: &Oid) -> Result<Option<Oid>> {
        let (mut tree, mut rest) = (notes.tree.clone(), object.as_str());
        while let Some(folder) = tree {
            let entries = self.read_tree(&folder)?;
            if let Some(note) = entries.iter().find(|entry| entry.mode != TREE && entry.name == rest.as_bytes()) {
                return Ok(Some(note.oid.clone()));
            }
            if rest.len() <= 2 {
                break;
            }
            let (first, last) = rest.split_at(2);
            tree = entries.into_iter().find(|e| e.mode == TREE && e.name == first.as_bytes()).map(|entry| entry.oid);
            rest = last;
        }
        Ok(None)
    }

    /// The change of the ref that sets (or with `None` removes) the notes of objects; `None` where nothing changes.
    ///
    /// # Errors
    /// As [`Repository::note_of`]; `IDENTITY_MISSING`, `DISK_FULL`.
    pub fn edit_notes(&self, notes: &Notes, changes: &BTreeMap<Oid, Option<Oid>>) -> Result<Option<RefEdit>> {
        let edits: Edits<'_> = changes.iter().map(|(object, note)| (object.as_str(), note.as_ref())).collect();
        if edits.is_empty() {
            return Ok(None);
        }
        let tree = match self.edit_folder(notes.tree.as_ref(), edits)? {
            Some(tree) => tree,
            None => self.empty_tree()?,
        };
        let is_empty = notes.tree.is_none() && tree == self.empty_tree()?;
        if notes.tree.as_ref() == Some(&tree) || is_empty {
            return Ok(None);
        }
        let parents = notes.commit.iter().cloned().collect();
        let who = self.signature()?;
        let new = self.write_commit(&NewCommit { tree: &tree, parents, who: &who, message: "git axiom: notes" })?;
        Ok(Some(RefEdit { name: RefName::new(NOTES), expected: Expected::from_old(notes.commit.clone()), new: Some(new) }))
    }

    /// The change of the ref that leaves the notes as they are and cuts off how they came to be; `None` where there is
    /// no history.
    ///
    /// # Errors
    /// `IDENTITY_MISSING`, `DISK_FULL`.
    pub fn cut_notes(&self, notes: &Notes) -> Result<Option<RefEdit>> {
        let (Some(commit), Some(tree), true) = (&notes.commit, &notes.tree, notes.has_history) else { return Ok(None) };
        let who = self.signature()?;
        let new = NewCommit { tree, parents: Vec::new(), who: &who, message: "git axiom: notes, compacted" };
        let new = Some(self.write_commit(&new)?);
        Ok(Some(RefEdit { name: RefName::new(NOTES), expected: Expected::Value(commit.clone()), new }))
    }

    /// The folder with the edits made; `None` where nothing is left in it.
    fn edit_folder(&self, tree: Option<&Oid>, edits: Edits<'_>) -> Result<Option<Oid>> {
        let mut entries: BTreeMap<Vec<u8>, TreeEntry> = match tree {
            Some(tree) => self.read_tree(tree)?.into_iter().map(|entry| (entry.name.clone(), entry)).collect(),
            None => BTreeMap::new(),
        };
        let mut below: BTreeMap<&str, Edits<'_>> = BTreeMap::new();
        let length = edits.first().map_or(0, |(rest, _)| rest.len());
        for (rest, note) in edits {
            let folder = rest.get(..2).filter(|_| rest.len() > 2);
            if let Some(folder) = folder
                && entries.get(folder.as_bytes()).is_some_and(|entry| entry.mode == TREE)
            {
                // A note that lies flat beside its folder would be a second one.
                entries.remove(rest.as_bytes());
                below.entry(folder).or_default().push((&rest[2..], note));
                continue;
            }
            match note {
                Some(note) => {
                    let name = rest.as_bytes().to_vec();
                    entries.insert(name.clone(), TreeEntry { mode: 0o100_644, oid: note.clone(), name });
                }
                None => drop(entries.remove(rest.as_bytes())),
            }
        }
        for (folder, edits) in below {
            self.edit_below(&mut entries, folder, edits)?;
        }
        self.split(&mut entries, length)?;
        if entries.is_empty() {
            return Ok(None);
        }
        self.write_tree(&entries.into_values().collect::<Vec<_>>()).map(Some)
    }

    fn edit_below(&self, entries: &mut BTreeMap<Vec<u8>, TreeEntry>, folder: &str, edits: Edits<'_>) -> Result<()> {
        let name = folder.as_bytes().to_vec();
        let old = entries.get(&name).map(|entry| entry.oid.clone());
        match self.edit_folder(old.as_ref(), edits)? {
            Some(oid) => drop(entries.insert(name.clone(), TreeEntry { mode: TREE, oid, name })),
            None => drop(entries.remove(&name)),
        }
        Ok(())
    }

    /// Spreads the notes of a folder that has grown too long.
    fn split(&self, entries: &mut BTreeMap<Vec<u8>, TreeEntry>, length: usize) -> Result<()> {
        let is_note = |entry: &TreeEntry| {
            entry.mode == 0o100_644 && entry.name.len() == length && entry.name.iter().all(u8::is_ascii_hexdigit)
        };
        if length <= 2 || entries.values().filter(|entry| is_note(entry)).count() <= FOLDER {
            return Ok(());
        }
        let flat: Vec<TreeEntry> = entries.values().filter(|entry| is_note(entry)).cloned().collect();
        entries.retain(|_, entry| !is_note(entry));
        let names: Vec<String> = flat.iter().map(|entry| String::from_utf8_lossy(&entry.name).into_owned()).collect();
        let mut below: BTreeMap<&str, Edits<'_>> = BTreeMap::new();
        for (name, entry) in names.iter().zip(&flat) {
            below.entry(&name[..2]).or_default().push((&name[2..], Some(&entry.oid)));
        }
        below.into_iter().try_for_each(|(folder, edits)| self.edit_below(entries, folder, edits))
    }
}

#[cfg(test)]
mod tests {
    use super::super::scratch::Scratch;
    use super::*;

    #[test]
    fn git_and_we_read_each_others_notes_few_and_many() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = Scratch::new(kind);
            let repo = scratch.repo();
            scratch.git(&["notes", "--ref=axiom", "add", "-m", "of somebody else", "HEAD"]);
            let head = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
            let objects: Vec<Oid> = (0..700).map(|n| repo.write_blob(format!("object {n}").as_bytes()).unwrap()).collect();
            let note = repo.write_blob(b"ours\n").unwrap();
            let set = |changes: &[Oid], note: Option<&Oid>| {
                let changes = changes.iter().map(|object| (object.clone(), note.cloned())).collect();
                let edit = repo.edit_notes(&repo.notes().unwrap(), &changes).unwrap();
                repo.update_refs(&edit.into_iter().collect::<Vec<_>>(), "test").unwrap();
            };
            let count = || scratch.git(&["notes", "--ref=axiom", "list"]).lines().count();
            set(&objects[..3], Some(&note));
            assert_eq!(count(), 4);
            set(&objects, Some(&note));
            assert_eq!(count(), 701);
            // git changes them too, and spreads them its way.
            scratch.git(&["notes", "--ref=axiom", "add", "-f", "-m", "of git", objects[5].as_str()]);
            set(&objects[600..], None);
            let notes = repo.notes().unwrap();
            assert_eq!(repo.note_of(&notes, &objects[0]).unwrap(), Some(note.clone()));
            assert_ne!(repo.note_of(&notes, &objects[5]).unwrap(), Some(note.clone()));
            assert_eq!(repo.note_of(&notes, &objects[600]).unwrap(), None);
            assert_eq!(scratch.git(&["notes", "--ref=axiom", "show", objects[1].as_str()]), "ours");
            let cut = repo.cut_notes(&notes).unwrap().unwrap();
            repo.update_refs(&[cut], "test").unwrap();
            assert_eq!(scratch.git(&["rev-list", "--count", "refs/notes/axiom"]), "1");
            set(&objects, None);
            assert_eq!(count(), 1);
            assert_eq!(scratch.git(&["notes", "--ref=axiom", "show", head.as_str()]), "of somebody else");
            set(std::slice::from_ref(&head), None);
            assert_eq!(count(), 0);
            scratch.git(&["fsck", "--strict"]);
        }
    }
}
