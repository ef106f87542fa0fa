//! Replaces some entries of an index file without starting git. All other entries are copied unchanged, and the cached trees
//! are updated, so that git need not look at all files or all folders again.
//!
//! Only index files that are fully understood are edited: versions 2, 3 and 4, each in its own version, with the extensions
//! that `extensions` knows. For everything else the answer is `None`, and git makes the edit.

mod entries;
mod extensions;
mod trees;

use crate::base::formats::HashKind;
use crate::base::tree_change::FileId;
use axiom_model::base::forms::hex::to_hex;
use axiom_model::base::names::{Oid, RepoPath};

use entries::{ASSUME_VALID, EXTENDED, HEADER, IndexEntryReader, IndexEntryWriter, IndexHeader, SIZE, STAGE, opened};
pub(crate) use trees::CachedTreeUpdate;

/// An edit of the entry of one path.
#[derive(Debug, Clone)]
pub(crate) struct IndexEntryEdit<'a> {
    pub path: &'a RepoPath,
    pub kind: IndexEntryEditKind<'a>,
    /// Whether the old tree does not have the path.
    pub is_new: bool,
}

/// What an edit does to an entry.
#[derive(Debug, Clone)]
pub(crate) enum IndexEntryEditKind<'a> {
    /// The entry is set to this file. Stat data is given if the file on disk is certainly this file.
    Set(&'a FileId, Option<std::fs::Metadata>),
    /// The entry is removed.
    Remove,
    /// The entry stays. If it is this file, it gets this stat data.
    Look(&'a FileId, std::fs::Metadata),
}

/// An index file with some entries replaced.
#[derive(Debug)]
pub(crate) struct EditedIndex {
    pub bytes: Vec<u8>,
    /// Whether a file changed in the second in which the index was written, or later. Such a file may differ from its entry.
    /// git compares its content only if the index is not newer, so the new index must keep the time of the old one.
    pub is_racy: bool,
}

/// Returns the bytes of an index file with some entries replaced; `None` if git has to do it. `edits` are sorted by path and
/// contain each path once. `modified` is when the index file was written, in seconds.
pub(crate) fn edit(
    bytes: &[u8],
    hash: HashKind,
    modified: i64,
    edits: &[IndexEntryEdit<'_>],
    trees: &CachedTreeUpdate<'_>,
) -> Option<EditedIndex> {
    let width = hash.bytes();
    let (body, IndexHeader { names, count }) = opened(bytes, width)?;
    let mut out = Vec::with_capacity(bytes.len() + 200 * edits.len());
    out.extend_from_slice(&body[..HEADER]);
    let mut writer = IndexEntryWriter { out, count: 0, names, width, modified, is_racy: false, last: Vec::new() };
    let mut reader = IndexEntryReader::new(body, names, width);
    let mut open = edits.iter().peekable();
    for _ in 0..count {
        let entry = reader.next()?;
        // The entry has the flag 'intent-to-add' or 'skip-worktree'.
        if entry.flags & EXTENDED != 0 {
            return None;
        }
        while let Some(edit) = open.next_if(|edit| edit.path.as_bytes() < entry.name) {
            writer.add(edit)?;
        }
        match open.next_if(|edit| edit.path.as_bytes() == entry.name) {
            Some(edit) => writer.replace(&entry, edit)?,
            None => writer.copy(&entry)?,
        }
    }
    for edit in open {
        writer.add(edit)?;
    }
    if !fits(&writer, edits)? {
        return None;
    }
    writer.out[8..12].copy_from_slice(&writer.count.to_be_bytes());
    extensions::write(&body[reader.at..], width, edits, trees, &mut writer.out)?;
    // With 'index.skipHash', git writes zeros in place of the checksum. This is kept.
    let sum = if bytes[body.len()..].iter().all(|byte| *byte == 0) { vec![0; width] } else { hash.digest(&writer.out).ok()? };
    writer.out.extend_from_slice(&sum);
    Some(EditedIndex { bytes: writer.out, is_racy: writer.is_racy })
}

/// The name of the file beside a split index that has its other entries; `None` where it has all itself, or cannot be read.
pub(crate) fn shared_index(bytes: &[u8], hash: HashKind) -> Option<String> {
    let (body, IndexHeader { names, count }) = opened(bytes, hash.bytes())?;
    let mut reader = IndexEntryReader::new(body, names, hash.bytes());
    for _ in 0..count {
        reader.next()?;
    }
    let id = extensions::link_in(body.get(reader.at..)?)?.get(..hash.bytes())?;
    // Without one, its entries are its own all the same.
    let is_named = id.iter().any(|byte| *byte != 0);
    is_named.then(|| format!("sharedindex.{}", to_hex(id)))
}

/// An index whose entries of files that changed in the second `since` (in which it was written) or later are believed by nobody:
/// they have no size, as where git itself is not sure. For file systems that do not let a copy have the time of the original.
/// `None` for what is not supported here, and where entries are in another file (a split index).
pub(crate) fn without_racy_sizes(bytes: &[u8], hash: HashKind, since: i64) -> Option<Vec<u8>> {
    let (body, IndexHeader { names, count }) = opened(bytes, hash.bytes())?;
    let (mut out, mut reader) = (body.to_vec(), IndexEntryReader::new(body, names, hash.bytes()));
    for _ in 0..count {
        let start = reader.at;
        let changed = reader.next()?.changed_at()?;
        if changed >= since {
            out.get_mut(start..)?.get_mut(SIZE)?.fill(0);
        }
    }
    if extensions::link_in(&body[reader.at..]).is_some() {
        return None;
    }
    let sum = if bytes[body.len()..].iter().all(|byte| *byte == 0) { vec![0; hash.bytes()] } else { hash.digest(&out).ok()? };
    out.extend_from_slice(&sum);
    Some(out)
}

/// The tree of an index, if the index has it as a cached tree and holds nothing that a tree cannot hold.
pub(crate) fn tree_of(bytes: &[u8], hash: HashKind) -> Option<Oid> {
    let width = hash.bytes();
    let (body, IndexHeader { names, count }) = opened(bytes, width)?;
    let mut reader = IndexEntryReader::new(body, names, width);
    for _ in 0..count {
        if reader.next()?.flags & (ASSUME_VALID | EXTENDED | STAGE) != 0 {
            return None;
        }
    }
    trees::root(extensions::trees_in(&body[reader.at..])?, hash.gix(), count)
}

/// An index file without its cached trees, all else byte for byte; `None` where there are none, or it is not fully understood.
pub(crate) fn without_cached_trees(bytes: &[u8], hash: HashKind) -> Option<Vec<u8>> {
    let width = hash.bytes();
    let (body, IndexHeader { names, count }) = opened(bytes, width)?;
    let mut reader = IndexEntryReader::new(body, names, width);
    for _ in 0..count {
        reader.next()?;
    }
    let mut out = body[..reader.at].to_vec();
    extensions::write_without_trees(&body[reader.at..], &mut out)?;
    let sum = if bytes[body.len()..].iter().all(|byte| *byte == 0) { vec![0; width] } else { hash.digest(&out).ok()? };
    out.extend_from_slice(&sum);
    Some(out)
}

/// Whether no path is both a file and a folder.
fn fits(writer: &IndexEntryWriter, edits: &[IndexEntryEdit<'_>]) -> Option<bool> {
    let is_added = |edit: &&IndexEntryEdit<'_>| edit.is_new && matches!(edit.kind, IndexEntryEditKind::Set(..));
    let set: Vec<&RepoPath> = edits.iter().filter(is_added).map(|edit| edit.path).collect();
    if set.is_empty() {
        return Some(true);
    }
    // All names in one piece, and where each is.
    let (mut text, mut names) = (Vec::with_capacity(writer.out.len()), Vec::with_capacity(writer.count as usize));
    let mut reader = IndexEntryReader::new(&writer.out, writer.names, writer.width);
    for _ in 0..writer.count {
        let start = text.len();
        text.extend_from_slice(reader.next()?.name);
        names.push(start..text.len());
    }
    let name = |range: &std::ops::Range<usize>| &text[range.clone()];
    let clashes = |path: &&RepoPath| {
        let is_file = |folder: &RepoPath| names.binary_search_by(|range| name(range).cmp(folder.as_bytes())).is_ok();
        let below = [path.as_bytes(), b"/"].concat();
        let next = names.partition_point(|range| name(range) < below.as_slice());
        path.folders_above().any(|folder| is_file(&folder)) || names.get(next).is_some_and(|at| name(at).starts_with(&below))
    };
    Some(!set.iter().any(clashes))
}

#[cfg(test)]
mod tests;
