//! Tracked files that need not be read although the index does not have their stat data: they are remembered.

use axiom_model::base::names::RepoPath;

use crate::capture::file_blob_cache::RememberedFile;

use super::content::{ContentDifferences, LineEndConversion, WorktreeReader};
use super::memory::FileMemory;
use super::walk::UnsureEntry;

impl WorktreeReader<'_> {
    /// What differs of the entries whose files are as they were; and the entries that have to be read. `None` if git has to read them.
    pub(super) fn recall_tracked(
        &self,
        entries: Vec<UnsureEntry>,
        conversion: LineEndConversion,
        memory: &mut Option<FileMemory<'_>>,
    ) -> Option<(ContentDifferences, Vec<UnsureEntry>)> {
        let mut found = ContentDifferences::default();
        let Some(memory) = memory else { return Some((found, entries)) };
        let (mut others, mut known) = (Vec::new(), Vec::new());
        let mut likely = memory.likely();
        for one in entries {
            let path = RepoPath::new(self.index.path(one.entry));
            let was = memory.was();
            let recalled = one.seen.and_then(|seen| Some((seen, was.recall(&path, &seen, likely)?)));
            match recalled.and_then(|(seen, place)| Some((seen, place, was.file(place)?))) {
                Some((.., file)) if conversion.forbids(file.content) => return None,
                Some((seen, place, file)) => {
                    likely = place + 1;
                    known.push((one, path, seen, (place, file)));
                }
                None => others.push(one),
            }
        }
        // The blobs of the others are the index's.
        let differs = |entry: usize, file: &RememberedFile| *self.index.id(entry) != *file.content.blob;
        let differing = known.iter().filter(|(one, .., (_, file))| differs(one.entry, file));
        let blobs: Vec<_> = differing.map(|(.., (_, file))| file.content.blob).collect();
        let mut fresh = memory.fresh(&blobs).into_iter();
        for (one, path, seen, (place, file)) in known {
            if differs(one.entry, &file) && fresh.next() != Some(true) {
                others.push(one);
                continue;
            }
            memory.keep(place);
            let is = (seen.git_mode(), file.content, file.permissions(seen.mode));
            self.compare(one.entry, path, is, conversion, &mut found);
        }
        Some((found, others))
    }
}
