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
        for one in entries {
            let path = RepoPath::new(self.index.path(one.entry));
            match one.seen.and_then(|seen| Some((seen, memory.recall(&path, &seen)?))) {
                Some((_, file)) if conversion.forbids(file.content) => return None,
                Some((seen, file)) => known.push((one, path, seen, file)),
                None => others.push(one),
            }
        }
        // The blobs of the others are the index's.
        let differs = |entry: usize, file: &RememberedFile| *self.index.id(entry) != *file.content.blob;
        let blobs = known.iter().filter(|(one, _, _, file)| differs(one.entry, file)).map(|(.., file)| file.content.blob);
        let fresh = memory.fresh(&blobs.collect());
        for (one, path, seen, file) in known {
            if differs(one.entry, &file) && !fresh.contains(&file.content.blob) {
                others.push(one);
                continue;
            }
            memory.keep(file);
            let is = (seen.git_mode(), file.content, file.permissions(&seen));
            self.compare(one.entry, path, is, conversion, &mut found);
        }
        Some((found, others))
    }
}
