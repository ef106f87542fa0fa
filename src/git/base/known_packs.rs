//! What a `Repository` remembers of packs, and of objects that were written since refs last moved. What fills it is in
//! `objects::freshen`.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use gix::odb::pack::index::File as PackIndex;

use axiom_base::error::Result;
use axiom_base::files;

/// The packs of one `pack` folder, read when the folder last changed.
#[derive(Default)]
pub(crate) struct PackFolder {
    pub(crate) packs: PathBuf,
    pub(crate) changed: Option<SystemTime>,
    pub(crate) known: Vec<IndexedPack>,
}

pub(crate) struct IndexedPack {
    /// The path of the `.pack`.
    pub(crate) file: PathBuf,
    index: PackIndex,
    /// Whether the pack is a cruft pack, which records the age of its objects.
    pub(crate) is_cruft: bool,
}

/// What is known of the packs, and which objects were written or reused since refs last moved.
#[derive(Default)]
pub(crate) struct FreshenState {
    pub(crate) folders: Mutex<Vec<PackFolder>>,
    pub(crate) noted: Mutex<Vec<gix::ObjectId>>,
    /// Whether a `git gc` removed needed objects in the last attempt.
    pub too_late: AtomicBool,
    /// Whether the loose objects were checked since the machine was booted.
    pub proved: AtomicBool,
}

impl std::fmt::Debug for FreshenState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Written")
    }
}

impl PackFolder {
    /// Lists the packs again if the folder has changed.
    pub(crate) fn look(&mut self, hash: gix::hash::Kind) -> Result<()> {
        let changed = files::metadata(&self.packs)?.and_then(|meta| meta.modified().ok());
        if changed == self.changed {
            return Ok(());
        }
        let mut known = Vec::new();
        for entry in files::list(&self.packs)? {
            let path = entry.path();
            if path.extension().is_none_or(|kind| kind != "idx") {
                continue;
            }
            // A pack whose index cannot be read is ignored.
            if let Ok(index) = PackIndex::at(&path, hash) {
                let is_cruft = path.with_extension("mtimes").exists();
                known.push(IndexedPack { file: path.with_extension("pack"), index, is_cruft });
            }
        }
        (self.known, self.changed) = (known, changed);
        Ok(())
    }
}

impl IndexedPack {
    pub(crate) fn has(&self, id: &gix::oid) -> bool {
        self.index.lookup(id).is_some()
    }
}
