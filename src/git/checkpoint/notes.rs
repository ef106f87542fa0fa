//! The notes in `refs/notes/axiom`, changed in memory. Other people's notes in the same ref are kept.
//!
//! git spreads notes over fan-out folders of two digits each, and reads any mixture of depths. So existing folders are kept,
//! and only a folder with too many notes is split.
//!
//! The notes are a copy of data in the captures. Where a commit or tree of the notes is missing or damaged, that part counts
//! as lost, and a new notes commit without a parent is made from what can still be read: no operation may fail because of a
//! copy. The old value stays in the reflog of the ref.

use std::cell::Cell;
use std::collections::BTreeMap;

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::NOTES;

use crate::base::modes::TREE;
use crate::objects::database::{NewCommit, TreeEntry};
use crate::refs::edits::{ExpectedRefValue, RefEdit};
use crate::repo::handles::NoteStore;

/// How many notes a folder may contain before it is split.
const FOLDER: usize = 256;

/// How many commits the history of the notes may have before it is begun anew: notes that were removed stay in it, and nothing
/// of ours reads it. Long enough that whoever shares the notes has to force a push rarely; in debug builds short enough that
/// tests see it.
const LONGEST_HISTORY: usize = if cfg!(debug_assertions) { 40 } else { 1000 };

/// What our commits of the notes say of the length of their history, so that none is walked for each note.
const LENGTH: &str = "Notes-History: ";

/// Changes within one folder: the rest of an object's hex digits, and its new note.
type NoteEdits<'a> = Vec<(&'a str, Option<&'a Oid>)>;

/// The notes at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotesSnapshot {
    commit: Option<Oid>,
    tree: Option<Oid>,
    /// The first parent of the commit.
    parent: Option<Oid>,
    /// The message of the commit.
    message: String,
    /// Whether the ref exists, but its commit cannot be read.
    unreadable: bool,
}

impl NotesSnapshot {
    /// Whether the commit of the ref is missing or damaged: then all notes are lost.
    pub fn are_lost(&self) -> bool {
        self.unreadable
    }

    /// The tree of the notes.
    pub(super) fn tree(&self) -> Option<&Oid> {
        self.tree.as_ref()
    }

    /// The commit before.
    pub(super) fn parent(&self) -> Option<&Oid> {
        self.parent.as_ref()
    }
}

/// The state of one change of the notes.
struct NoteEditState {
    /// Whether a tree of the notes was missing or damaged.
    damaged: Cell<bool>,
}

impl NoteStore<'_> {
    /// The current notes; none where the commit of the ref is missing or damaged.
    pub fn load(&self) -> Result<NotesSnapshot> {
        let Some(commit) = self.repo.refs().read_ref(&RefName::new(NOTES))? else {
            return Ok(NotesSnapshot::default());
        };
        match self.repo.objects().read_commit(&commit) {
            Ok(data) => {
                let (tree, parent) = (Some(data.tree), data.parents.into_iter().next());
                Ok(NotesSnapshot { commit: Some(commit), tree, parent, message: data.message, unreadable: false })
            }
            Err(error) if is_damage(&error) => {
                Ok(NotesSnapshot { commit: Some(commit), unreadable: true, ..NotesSnapshot::default() })
            }
            Err(error) => Err(error),
        }
    }

    /// The blob of an object's note; `None` also where a tree on the way to it is missing or damaged.
    pub fn note_of(&self, notes: &NotesSnapshot, object: &Oid) -> Result<Option<Oid>> {
        let (mut tree, mut rest) = (notes.tree.clone(), object.as_str());
        while let Some(folder) = tree {
            let entries = match self.repo.trees().read_tree(&folder) {
                Ok(entries) => entries,
                Err(error) if is_damage(&error) => break,
                Err(error) => return Err(error),
            };
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

    /// All notes by object; each tree is read once. Notes below a missing or damaged tree are left out.
    pub fn all_notes(&self, notes: &NotesSnapshot) -> Result<BTreeMap<Oid, Oid>> {
        let mut all = BTreeMap::new();
        let mut folders: Vec<(String, Oid)> = notes.tree.iter().map(|tree| (String::new(), tree.clone())).collect();
        while let Some((above, folder)) = folders.pop() {
            let entries = match self.repo.trees().read_tree(&folder) {
                Ok(entries) => entries,
                Err(error) if is_damage(&error) => continue,
                Err(error) => return Err(error),
            };
            for entry in entries {
                let name = format!("{above}{}", String::from_utf8_lossy(&entry.name));
                if entry.mode == TREE {
                    folders.push((name, entry.oid));
                } else if let Ok(object) = Oid::new(name) {
                    all.insert(object, entry.oid);
                }
            }
        }
        Ok(all)
    }

    /// The ref edits that set the notes of objects, or remove them (`None`); empty where nothing changes. If notes are
    /// damaged, the new commit contains what can still be read and has no parent.
    pub fn edit_notes(&self, notes: &NotesSnapshot, changes: &BTreeMap<Oid, Option<Oid>>) -> Result<Vec<RefEdit>> {
        let edits: NoteEdits<'_> = changes.iter().map(|(object, note)| (object.as_str(), note.as_ref())).collect();
        if edits.is_empty() {
            return Ok(Vec::new());
        }
        let editing = NoteEditState { damaged: Cell::new(notes.unreadable) };
        let tree = match self.edit_folder(&editing, notes.tree.as_ref(), edits)? {
            Some(tree) => tree,
            None => self.repo.trees().empty_tree()?,
        };
        let is_empty = notes.tree.is_none() && tree == self.repo.trees().empty_tree()?;
        let begun_anew = editing.damaged.get();
        if is_empty || (notes.tree.as_ref() == Some(&tree) && !begun_anew) {
            return Ok(Vec::new());
        }
        let mut parents: Vec<Oid> = notes.commit.iter().cloned().collect();
        let mut length = self.history_length(notes)? + 1;
        if begun_anew {
            // The old commit must not stay reachable: `git gc` fails if objects of a reachable commit are missing.
            for old in parents.drain(..) {
                tracing::warn!(%old, "the notes in {NOTES} are damaged, and are begun anew");
            }
        } else if length > LONGEST_HISTORY {
            parents.clear();
        }
        length = if parents.is_empty() { 1 } else { length };
        let who = self.repo.objects().signature()?;
        let what = if begun_anew { "git axiom: notes, begun anew" } else { "git axiom: notes" };
        let message = format!("{what}\n\n{LENGTH}{length}");
        let new = self.repo.objects().write_commit(&NewCommit { tree: &tree, parents, who: &who, message: &message })?;
        let expected = ExpectedRefValue::from_old(notes.commit.clone());
        Ok(vec![RefEdit { name: RefName::new(NOTES), expected, new: Some(new) }])
    }

    /// How many commits the history of the notes has, at most [`LONGEST_HISTORY`]. Commits of others do not
    /// say it and are counted, as far as the newest that does.
    fn history_length(&self, notes: &NotesSnapshot) -> Result<usize> {
        if notes.commit.is_none() {
            return Ok(0);
        }
        let said = |message: &str| message.lines().find_map(|line| line.strip_prefix(LENGTH)?.parse::<usize>().ok());
        let (mut message, mut parent) = (notes.message.clone(), notes.parent.clone());
        let mut counted = 0;
        while counted < LONGEST_HISTORY {
            if let Some(length) = said(&message) {
                return Ok(length.saturating_add(counted).min(LONGEST_HISTORY));
            }
            counted += 1;
            let Some(next) = parent else { break };
            match self.repo.objects().read_commit(&next) {
                Ok(data) => (message, parent) = (data.message, data.parents.into_iter().next()),
                Err(error) if is_damage(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(counted)
    }

    /// The ref edit that keeps the notes and drops their history; `None` where there is no history.
    pub fn cut_notes(&self, notes: &NotesSnapshot) -> Result<Option<RefEdit>> {
        let (Some(commit), Some(tree), Some(_)) = (&notes.commit, &notes.tree, &notes.parent) else { return Ok(None) };
        let who = self.repo.objects().signature()?;
        let new = NewCommit { tree, parents: Vec::new(), who: &who, message: "git axiom: notes, compacted" };
        let new = Some(self.repo.objects().write_commit(&new)?);
        Ok(Some(RefEdit { name: RefName::new(NOTES), expected: ExpectedRefValue::Value(commit.clone()), new }))
    }

    /// The folder after the edits; `None` where it becomes empty.
    fn edit_folder(&self, editing: &NoteEditState, tree: Option<&Oid>, edits: NoteEdits<'_>) -> Result<Option<Oid>> {
        let there = match tree.map(|tree| self.repo.trees().read_tree(tree)).transpose() {
            Ok(there) => there.unwrap_or_default(),
            Err(error) if is_damage(&error) => {
                editing.damaged.set(true);
                Vec::new()
            }
            Err(error) => return Err(error),
        };
        let mut entries: BTreeMap<Vec<u8>, TreeEntry> = there.into_iter().map(|entry| (entry.name.clone(), entry)).collect();
        let mut below: BTreeMap<&str, NoteEdits<'_>> = BTreeMap::new();
        let length = edits.first().map_or(0, |(rest, _)| rest.len());
        for (rest, note) in edits {
            let folder = rest.get(..2).filter(|_| rest.len() > 2);
            if let Some(folder) = folder
                && entries.get(folder.as_bytes()).is_some_and(|entry| entry.mode == TREE)
            {
                // A note for the same object next to the fan-out folder would be a duplicate.
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
            self.edit_below(editing, &mut entries, folder, edits)?;
        }
        self.split(editing, &mut entries, length)?;
        if entries.is_empty() {
            return Ok(None);
        }
        self.repo.trees().write_tree(&entries.into_values().collect::<Vec<_>>()).map(Some)
    }

    fn edit_below(
        &self,
        editing: &NoteEditState,
        entries: &mut BTreeMap<Vec<u8>, TreeEntry>,
        folder: &str,
        edits: NoteEdits<'_>,
    ) -> Result<()> {
        let name = folder.as_bytes().to_vec();
        let old = entries.get(&name).map(|entry| entry.oid.clone());
        match self.edit_folder(editing, old.as_ref(), edits)? {
            Some(oid) => drop(entries.insert(name.clone(), TreeEntry { mode: TREE, oid, name })),
            None => drop(entries.remove(&name)),
        }
        Ok(())
    }

    /// Splits a folder that has too many notes.
    fn split(&self, editing: &NoteEditState, entries: &mut BTreeMap<Vec<u8>, TreeEntry>, length: usize) -> Result<()> {
        let is_note = |entry: &TreeEntry| {
            entry.mode == 0o100_644 && entry.name.len() == length && entry.name.iter().all(u8::is_ascii_hexdigit)
        };
        if length <= 2 || entries.values().filter(|entry| is_note(entry)).count() <= FOLDER {
            return Ok(());
        }
        let flat: Vec<TreeEntry> = entries.values().filter(|entry| is_note(entry)).cloned().collect();
        entries.retain(|_, entry| !is_note(entry));
        let names: Vec<String> = flat.iter().map(|entry| String::from_utf8_lossy(&entry.name).into_owned()).collect();
        let mut below: BTreeMap<&str, NoteEdits<'_>> = BTreeMap::new();
        for (name, entry) in names.iter().zip(&flat) {
            below.entry(&name[..2]).or_default().push((&name[2..], Some(&entry.oid)));
        }
        below.into_iter().try_for_each(|(folder, edits)| self.edit_below(editing, entries, folder, edits))
    }
}

/// Whether an error means that an object is missing or has the wrong type or content.
fn is_damage(error: &Error) -> bool {
    matches!(error.code(), Code::GitFailed | Code::InvalidInput)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn git_and_we_read_each_others_notes_few_and_many() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = ScratchRepository::new(kind);
            let repo = scratch.repo();
            scratch.git(&["notes", "--ref=axiom", "add", "-m", "of somebody else", "HEAD"]);
            let head = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
            let objects: Vec<Oid> =
                (0..700).map(|n| repo.objects().write_blob(format!("object {n}").as_bytes()).unwrap()).collect();
            let note = repo.objects().write_blob(b"ours\n").unwrap();
            let set = |changes: &[Oid], note: Option<&Oid>| {
                let changes = changes.iter().map(|object| (object.clone(), note.cloned())).collect();
                let edit = repo.notes().edit_notes(&repo.notes().load().unwrap(), &changes).unwrap();
                repo.refs().update_refs(&edit, "test").unwrap();
            };
            let count = || scratch.git(&["notes", "--ref=axiom", "list"]).lines().count();
            set(&objects[..3], Some(&note));
            assert_eq!(count(), 4);
            set(&objects, Some(&note));
            assert_eq!(count(), 701);
            // git changes the notes too, with its own fan-out.
            scratch.git(&["notes", "--ref=axiom", "add", "-f", "-m", "of git", objects[5].as_str()]);
            set(&objects[600..], None);
            let notes = repo.notes().load().unwrap();
            assert_eq!(repo.notes().note_of(&notes, &objects[0]).unwrap(), Some(note.clone()));
            assert_ne!(repo.notes().note_of(&notes, &objects[5]).unwrap(), Some(note.clone()));
            assert_eq!(repo.notes().note_of(&notes, &objects[600]).unwrap(), None);
            let all = repo.notes().all_notes(&notes).unwrap();
            assert!(objects.iter().all(|object| all.get(object).cloned() == repo.notes().note_of(&notes, object).unwrap()));
            assert_eq!(scratch.git(&["notes", "--ref=axiom", "show", objects[1].as_str()]), "ours");
            let cut = repo.notes().cut_notes(&notes).unwrap().unwrap();
            repo.refs().update_refs(&[cut], "test").unwrap();
            assert_eq!(scratch.git(&["rev-list", "--count", "refs/notes/axiom"]), "1");
            set(&objects, None);
            assert_eq!(count(), 1);
            assert_eq!(scratch.git(&["notes", "--ref=axiom", "show", head.as_str()]), "of somebody else");
            set(std::slice::from_ref(&head), None);
            assert_eq!(count(), 0);
            scratch.git(&["fsck", "--strict"]);
        }
    }

    #[test]
    fn the_history_of_the_notes_is_begun_anew_before_it_is_long_and_the_notes_stay() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        // Of git and of others: nothing says how long it is.
        scratch.git(&["notes", "--ref=axiom", "add", "-m", "of somebody else", "HEAD"]);
        let first = Oid::new(scratch.git(&["rev-parse", "refs/notes/axiom"])).unwrap();
        let mut newest = first.clone();
        let (tree, who) = (repo.trees().tree_of(&newest).unwrap(), repo.objects().signature().unwrap());
        for _ in 0..LONGEST_HISTORY - 3 {
            let commit = NewCommit { tree: &tree, parents: vec![newest], who: &who, message: "git axiom: notes" };
            newest = repo.objects().write_commit(&commit).unwrap();
        }
        let edit = RefEdit { name: RefName::new(NOTES), expected: ExpectedRefValue::Value(first), new: Some(newest) };
        repo.refs().update_refs(&[edit], "test").unwrap();
        let note = repo.objects().write_blob(b"ours\n").unwrap();
        let mut lengths = Vec::new();
        for number in 0..4 {
            let object = repo.objects().write_blob(format!("object {number}").as_bytes()).unwrap();
            repo.notes().set_notes(&BTreeMap::from([(object, Some(note.clone()))])).unwrap();
            lengths.push(scratch.git(&["rev-list", "--count", "refs/notes/axiom"]).parse::<usize>().unwrap());
        }
        assert_eq!(lengths, [LONGEST_HISTORY - 1, LONGEST_HISTORY, 1, 2]);
        assert_eq!(scratch.git(&["notes", "--ref=axiom", "list"]).lines().count(), 5);
    }

    #[test]
    fn lost_objects_of_the_notes_are_lost_notes_and_no_error() {
        for kind in [&[][..], &["--ref-format=reftable"]] {
            for (what, has_commit) in [("refs/notes/axiom", false), ("refs/notes/axiom^{tree}", true)] {
                let scratch = ScratchRepository::new(kind);
                let set = |object: &Oid, note: &str| {
                    let repo = scratch.repo();
                    let note = repo.objects().write_blob(note.as_bytes()).unwrap();
                    repo.notes().set_notes(&BTreeMap::from([(object.clone(), Some(note))])).unwrap();
                };
                let object = |spec: &str| Oid::new(scratch.git(&["rev-parse", spec])).unwrap();
                let (commit, tree) = (object("HEAD"), object("HEAD^{tree}"));
                set(&commit, "first");
                let gone = object(what);
                let (folder, rest) = gone.as_str().split_at(2);
                axiom_base::files::remove_file(&scratch.path().join(".git/objects").join(folder).join(rest)).unwrap();
                let repo = scratch.repo();
                let notes = repo.notes().load().unwrap();
                assert_eq!(notes.are_lost(), !has_commit);
                assert_eq!(repo.notes().note_of(&notes, &commit).unwrap(), None);
                set(&tree, "second");
                assert_eq!(scratch.git(&["notes", "--ref=axiom", "show", tree.as_str()]), "second");
                assert_eq!(scratch.git(&["rev-list", "--count", "refs/notes/axiom"]), "1");
                let log = scratch.git(&["reflog", "show", "--format=%H", "refs/notes/axiom"]);
                assert!(has_commit || kind.len() == 1 || !log.is_empty(), "{log}");
                assert!(!repo.notes().load().unwrap().are_lost());
            }
        }
    }
}
