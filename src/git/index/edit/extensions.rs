//! The extensions of an index file after an edit of its entries: copied where they stay true, brought up to date, emptied,
//! or left out.
//!
//! git reads an index without any of the optional extensions; it then finds out again what they said. It believes what an
//! extension says, so none may be kept that has become wrong.

use super::entries::{number, varint};
use super::{CachedTreeUpdate, IndexEntryEdit};
use crate::repo::shortcuts::Condition;

/// The stat data of two exclude files, as the untracked cache holds them, and its flags; in bytes.
const EXCLUDES: usize = 2 * 36 + 4;

/// What becomes of an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExtensionFate {
    /// The cached trees are brought up to date.
    Trees,
    /// It does not depend on the entries.
    Kept,
    /// The untracked cache has lists of untracked files, and an edit makes tracked files of some. Without the lists git makes
    /// them again. Without the extension it would do so only with `core.untrackedCache=true`.
    Emptied,
    /// It only saves work: offsets in the file, or which entries the file system monitor has seen unchanged (by their
    /// positions). git makes it again.
    LeftOut,
    /// git has to edit the index.
    Gits(Condition),
}

fn fate(name: &[u8]) -> ExtensionFate {
    match name {
        b"TREE" => ExtensionFate::Trees,
        b"REUC" => ExtensionFate::Kept,
        b"UNTR" => ExtensionFate::Emptied,
        b"EOIE" | b"IEOT" | b"FSMN" => ExtensionFate::LeftOut,
        b"link" => ExtensionFate::Gits(Condition::SplitIndex),
        b"sdir" => ExtensionFate::Gits(Condition::SparseIndex),
        _ => ExtensionFate::Gits(Condition::UnknownPart),
    }
}

/// What a split index says of the file that its other entries are in; its id comes first.
pub(super) fn link_in(mut rest: &[u8]) -> Option<&[u8]> {
    while let Some((name, data, more)) = next(rest)? {
        if name == b"link" {
            return Some(data);
        }
        rest = more;
    }
    None
}

/// Writes the extensions that follow the entries; `None` if git has to edit the index.
pub(super) fn write(
    mut rest: &[u8],
    width: usize,
    edits: &[IndexEntryEdit<'_>],
    trees: &CachedTreeUpdate<'_>,
    out: &mut Vec<u8>,
) -> Option<()> {
    while let Some((name, data, more)) = next(rest)? {
        let data = match fate(name) {
            ExtensionFate::Trees => Some(trees.updated(data, edits)?),
            ExtensionFate::Kept => Some(data.to_vec()),
            ExtensionFate::Emptied => Some(emptied(data, width)?),
            ExtensionFate::LeftOut => None,
            ExtensionFate::Gits(condition) => {
                tracing::debug!(?condition, why = condition.row().why, "the index is left to git");
                return None;
            }
        };
        if let Some(data) = data {
            out.extend_from_slice(name);
            out.extend_from_slice(&u32::try_from(data.len()).ok()?.to_be_bytes());
            out.extend_from_slice(&data);
        }
        rest = more;
    }
    Some(())
}

/// Copies the extensions that follow the entries, but for the cached trees and for what only saves work; `None` where there are no
/// cached trees, or the file is cut short.
pub(super) fn write_without_trees(mut rest: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut had_trees = false;
    while let Some((name, data, more)) = next(rest)? {
        match fate(name) {
            ExtensionFate::Trees => had_trees = true,
            // Offsets of what has moved. What the monitor has seen stays true: the entries are the same.
            ExtensionFate::LeftOut if name != b"FSMN" => {}
            ExtensionFate::Gits(_) => return None,
            ExtensionFate::Kept | ExtensionFate::Emptied | ExtensionFate::LeftOut => {
                out.extend_from_slice(name);
                out.extend_from_slice(&u32::try_from(data.len()).ok()?.to_be_bytes());
                out.extend_from_slice(data);
            }
        }
        rest = more;
    }
    had_trees.then_some(())
}

/// The data of the extension with the cached trees, if there is one.
pub(super) fn trees_in(mut rest: &[u8]) -> Option<&[u8]> {
    while let Some((name, data, more)) = next(rest)? {
        match fate(name) {
            ExtensionFate::Trees => return Some(data),
            ExtensionFate::Kept | ExtensionFate::Emptied | ExtensionFate::LeftOut | ExtensionFate::Gits(_) => rest = more,
        }
    }
    None
}

/// The next extension: its name, its data, and what follows it. `None` if the file is cut short.
#[allow(clippy::type_complexity)]
fn next(rest: &[u8]) -> Option<Option<(&[u8], &[u8], &[u8])>> {
    if rest.is_empty() {
        return Some(None);
    }
    let (name, size) = (rest.get(..4)?, number(rest, 4)? as usize);
    let (data, more) = rest.get(8..)?.split_at_checked(size)?;
    Some(Some((name, data, more)))
}

/// An untracked cache without any folder: for whom it is, what it knows of the exclude files, and the name of those in
/// folders.
fn emptied(data: &[u8], width: usize) -> Option<Vec<u8>> {
    let (length, size) = varint(data)?;
    let fixed = size.checked_add(length)?.checked_add(EXCLUDES + 2 * width)?;
    let name = memchr::memchr(0, data.get(fixed..)?)?;
    let mut out = data[..fixed + name + 1].to_vec();
    // The number of folders.
    out.push(0);
    Some(out)
}
