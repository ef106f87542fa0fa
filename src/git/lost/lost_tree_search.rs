//! What may have been in a folder whose tree is lost: it was like a version that is still known, but for a few names. Pure: a
//! version is tried by its content, and whoever asks compares ids.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::modes::TREE;

/// How many contents are tried at most.
const TRIES: usize = 20_000;

/// What is in a folder: mode and id by name, in the order of a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FolderEntries {
    /// By the name, which ends in `/` where it is a folder's: so git orders them.
    entries: BTreeMap<Vec<u8>, (u32, gix::ObjectId)>,
}

/// What a folder may have under a name.
type MaybeEntry = Option<(u32, gix::ObjectId)>;

impl FolderEntries {
    /// What a tree has in it; `None` if it cannot be read.
    pub fn of(content: &[u8], hash: gix::hash::Kind) -> Option<Self> {
        let mut folder = Self::default();
        for entry in gix::objs::TreeRefIter::from_bytes(content, hash) {
            let entry = entry.ok()?;
            folder.set(entry.filename, u32::from(entry.mode.value()), entry.oid.to_owned());
        }
        Some(folder)
    }

    /// Adds a file or folder.
    pub fn set(&mut self, name: &[u8], mode: u32, id: gix::ObjectId) {
        let end: &[u8] = if mode == TREE { b"/" } else { b"" };
        self.entries.insert([name, end].concat(), (mode, id));
    }

    /// The tree.
    pub fn content(&self) -> Vec<u8> {
        let mut content = Vec::new();
        for (name, (mode, id)) in &self.entries {
            content.extend_from_slice(format!("{mode:o} ").as_bytes());
            content.extend_from_slice(if *mode == TREE { &name[..name.len() - 1] } else { name });
            content.push(0);
            content.extend_from_slice(id.as_slice());
        }
        content
    }

    fn with(&self, changes: &[(&[u8], MaybeEntry)]) -> Self {
        let mut changed = self.clone();
        for (name, value) in changes {
            match value {
                Some(value) => drop(changed.entries.insert(name.to_vec(), *value)),
                None => drop(changed.entries.remove(*name)),
            }
        }
        changed
    }
}

/// The content of the first folder that `is_it`: one of the versions, or one of them with one or two names as another version has
/// them. Not all are tried where there are many.
pub(crate) fn found_among(versions: &[FolderEntries], is_it: impl Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
    let mut tries = TRIES;
    let mut tried = |folder: &FolderEntries| {
        tries = tries.checked_sub(1)?;
        let content = folder.content();
        Some(is_it(&content).then_some(content))
    };
    for version in versions {
        if let Some(content) = tried(version)? {
            return Some(content);
        }
    }
    let mut values: BTreeMap<&[u8], BTreeSet<MaybeEntry>> = BTreeMap::new();
    for name in versions.iter().flat_map(|version| version.entries.keys()) {
        let all = versions.iter().map(|version| version.entries.get(name).copied());
        values.insert(name, all.collect());
    }
    values.retain(|_, values| values.len() > 1);
    let single: Vec<(&[u8], MaybeEntry)> =
        values.iter().flat_map(|(name, values)| values.iter().map(|value| (*name, *value))).collect();
    for version in versions {
        for one in &single {
            if let Some(content) = tried(&version.with(std::slice::from_ref(one)))? {
                return Some(content);
            }
        }
    }
    for version in versions {
        for (number, one) in single.iter().enumerate() {
            for other in single[number + 1..].iter().filter(|other| other.0 != one.0) {
                if let Some(content) = tried(&version.with(&[*one, *other]))? {
                    return Some(content);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(entries: &[(&str, u8)]) -> FolderEntries {
        let mut folder = FolderEntries::default();
        for (name, id) in entries {
            let mode = if name.ends_with('/') { TREE } else { 0o100_644 };
            folder.set(name.trim_end_matches('/').as_bytes(), mode, gix::ObjectId::from_bytes_or_panic(&[*id; 20]));
        }
        folder
    }

    #[test]
    fn a_folder_is_found_that_is_like_two_others() {
        let versions = [folder(&[("a", 1), ("b", 1), ("d/", 1)]), folder(&[("a", 2), ("b", 2), ("c", 2), ("d/", 2)])];
        let is = |wanted: &FolderEntries| found_among(&versions, |content| content == wanted.content()).is_some();
        assert!(is(&versions[1]));
        assert!(is(&folder(&[("a", 2), ("b", 1), ("d/", 1)])), "one name of the other");
        assert!(is(&folder(&[("a", 1), ("b", 2), ("c", 2), ("d/", 1)])), "two names");
        assert!(!is(&folder(&[("b", 2), ("c", 2), ("d/", 2)])), "what no version shows is not guessed");
        assert!(!is(&folder(&[("a", 3), ("b", 1), ("d/", 1)])));
        assert_eq!(found_among(&[], |_| true), None);
    }

    #[test]
    fn what_is_read_from_a_tree_makes_it_again_in_its_order() {
        let whole = folder(&[("a", 1), ("a.c", 2), ("a-b", 3), ("a/", 4)]);
        // git orders the folder 'a' as 'a/', which is behind 'a.c'.
        let content = whole.content();
        let second = FolderEntries::of(&content, gix::hash::Kind::Sha1).unwrap();
        assert_eq!((second.content(), second.entries.len()), (content, 4));
        assert_eq!(FolderEntries::of(b"100644 torn", gix::hash::Kind::Sha1), None);
    }
}
