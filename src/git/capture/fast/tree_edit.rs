//! Makes the tree of an index with edits; only trees that change are written.

use std::collections::HashMap;
use std::ops::Range;

use gix::index::extension::Tree;

use crate::base::modes::TREE;
use crate::base::object_kind::ObjectKind;
use crate::objects::database::gix_id;
use crate::repo::repository::Repository;
use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RepoPath};

use super::live_index::LiveIndex;
use super::oid;

/// A path that differs from the index.
#[derive(Debug, Clone)]
pub(super) struct PathEdit {
    /// The path.
    pub path: RepoPath,
    /// Mode and blob; `None` if there is no file.
    pub new: Option<(u32, gix::ObjectId)>,
    /// Its permissions, where they are known, and that it has no attributes beside them.
    pub permissions: Option<u32>,
}

impl PathEdit {
    /// There is no file.
    pub fn gone(path: RepoPath) -> Self {
        Self { path, new: None, permissions: None }
    }
}

/// What trees are built from.
struct IndexTreeBuilder<'a> {
    repository: &'a Repository,
    gix: gix::Repository,
    index: &'a LiveIndex,
    edits: &'a [PathEdit],
}

/// The entries and edits below one folder.
#[derive(Debug, Clone)]
struct FolderSpan {
    /// The length of the folder's path in bytes, with the `/`.
    depth: usize,
    entries: Range<usize>,
    edits: Range<usize>,
}

/// A tree, or why there is none.
enum BuiltTree {
    Tree(gix::ObjectId),
    Empty,
    /// An object is missing, or a file is below a file: git reports this in its own words.
    Odd,
}

impl LiveIndex {
    /// Makes the tree of the index with `edits`, which are ordered by path; `None` if git has to make it. Nothing refers to
    /// the tree yet.
    pub fn tree(&self, repository: &Repository, edits: &[PathEdit]) -> Result<Option<Oid>> {
        let builder = IndexTreeBuilder { repository, gix: repository.gix()?, index: self, edits };
        let all = FolderSpan { depth: 0, entries: 0..self.len(), edits: 0..edits.len() };
        match builder.tree(&all, self.cached_trees())? {
            BuiltTree::Tree(id) => oid(&id).map(Some),
            BuiltTree::Empty => repository.trees().empty_tree().map(Some),
            BuiltTree::Odd => Ok(None),
        }
    }
}

impl<'a> IndexTreeBuilder<'a> {
    fn has(&self, id: &gix::oid) -> bool {
        use gix::objs::Exists;
        self.gix.objects.exists(id)
    }

    fn tree(&self, span: &FolderSpan, cached: Option<&Tree>) -> Result<BuiltTree> {
        if span.edits.is_empty()
            && let Some(known) = cached
            && known.num_entries.is_some_and(|count| count as usize == span.entries.len())
            && self.has(&known.id)
        {
            return Ok(if span.entries.is_empty() { BuiltTree::Empty } else { BuiltTree::Tree(known.id) });
        }
        let mut content = Vec::new();
        let mut rest = span.clone();
        let cached: HashMap<&[u8], &Tree> =
            cached.iter().flat_map(|tree| &tree.children).map(|child| (child.name.as_slice(), child)).collect();
        while let Some(first) = self.first(&rest) {
            let tail = &first[span.depth..];
            match tail.iter().position(|byte| *byte == b'/') {
                None => {
                    // A file that the index does not have was stored, or found to be stored, a moment ago.
                    let is_new = rest.entries.is_empty() || self.index.path(rest.entries.start) != first;
                    let found = match self.take_file(&mut rest, first) {
                        Some((mode, id)) if is_new || self.has(&id) => Some((mode, id)),
                        Some(_) => return Ok(BuiltTree::Odd),
                        None => None,
                    };
                    if let Some((mode, id)) = found {
                        line(&mut content, mode, tail, &id);
                    }
                }
                Some(end) => {
                    let name = &tail[..end];
                    let below = self.take_folder(&mut rest, &first[..span.depth + end + 1]);
                    match self.tree(&below, cached.get(name).copied())? {
                        BuiltTree::Tree(_) if self.is_file(span, name) => return Ok(BuiltTree::Odd),
                        BuiltTree::Tree(id) => line(&mut content, TREE, name, &id),
                        BuiltTree::Empty => {}
                        BuiltTree::Odd => return Ok(BuiltTree::Odd),
                    }
                }
            }
        }
        if content.is_empty() {
            return Ok(BuiltTree::Empty);
        }
        let written = self.repository.objects().write_object(ObjectKind::Tree, &content)?;
        gix_id(&written).map(BuiltTree::Tree)
    }

    /// The first path of a span among entries and edits, in byte order.
    fn first(&self, span: &FolderSpan) -> Option<&'a [u8]> {
        let entry = (!span.entries.is_empty()).then(|| self.index.path(span.entries.start));
        let edit = self.edits[span.edits.clone()].first().map(|edit| edit.path.as_bytes());
        match (entry, edit) {
            (Some(entry), Some(edit)) => Some(entry.min(edit)),
            (entry, edit) => entry.or(edit),
        }
    }

    /// Removes a file from the beginning of a span and returns it: the edit's file if there is an edit.
    fn take_file(&self, span: &mut FolderSpan, path: &[u8]) -> Option<(u32, gix::ObjectId)> {
        let mut found = None;
        if !span.entries.is_empty() && self.index.path(span.entries.start) == path {
            found = Some((self.index.mode(span.entries.start), self.index.id(span.entries.start).to_owned()));
            span.entries.start += 1;
        }
        if let Some(edit) = self.edits[span.edits.clone()].first().filter(|edit| edit.path.as_bytes() == path) {
            found = edit.new;
            span.edits.start += 1;
        }
        found
    }

    /// Removes everything that begins with `prefix` from the beginning of a span and returns it.
    fn take_folder(&self, span: &mut FolderSpan, prefix: &[u8]) -> FolderSpan {
        let entries = span.entries.start..self.index.run_end(span.entries.clone(), prefix);
        let below = &self.edits[span.edits.clone()];
        let edits = span.edits.start..span.edits.start + below.partition_point(|edit| edit.path.as_bytes().starts_with(prefix));
        span.entries.start = entries.end;
        span.edits.start = edits.end;
        FolderSpan { depth: prefix.len(), entries, edits }
    }

    /// Whether this folder also has a file with the name, because something changed during the capture.
    fn is_file(&self, span: &FolderSpan, name: &[u8]) -> bool {
        let edits = &self.edits[span.edits.clone()];
        match edits.binary_search_by(|edit| edit.path.as_bytes()[span.depth..].cmp(name)) {
            Ok(at) => edits[at].new.is_some(),
            Err(_) => !edits.is_empty() && self.index.has_file(span.entries.clone(), span.depth, name),
        }
    }
}

fn line(content: &mut Vec<u8>, mode: u32, name: &[u8], id: &gix::oid) {
    match mode {
        0o100_644 => content.extend_from_slice(b"100644 "),
        0o100_755 => content.extend_from_slice(b"100755 "),
        TREE => content.extend_from_slice(b"40000 "),
        other => content.extend_from_slice(format!("{other:o} ").as_bytes()),
    }
    content.extend_from_slice(name);
    content.push(0);
    content.extend_from_slice(id.as_bytes());
}
