//! The bytes of files that are about to be edited: kept at once, for a checkpoint that the joiner makes.

use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::AttachHookCall;
use axiom_base::error::Result;
use axiom_base::files::SmallFile;
use axiom_base::{env, files};
use axiom_model::attach::act::DeferredSave;

/// The largest file whose bytes are kept before an edit: larger ones are in captures only where they are tracked.
const LARGEST: u64 = 50 * 1024 * 1024;

impl AttachHookCall {
    /// Keeps the bytes of files that are about to be edited, where they were changed since the last look: at once, and not synced. The joiner
    /// makes a checkpoint of that moment of them.
    pub(super) fn keep(&self, paths: &[String]) {
        let mut failed = None;
        for path in paths {
            let place = self.folder.join(path);
            if let Err(error) = self.keep_one(&place) {
                failed = Some(error.to_string());
            }
        }
        self.note(|session| session.unprotected = failed.or(session.unprotected.take()));
    }

    fn keep_one(&self, place: &Path) -> Result<()> {
        let Ok(meta) = std::fs::symlink_metadata(place) else { return Ok(()) };
        // Not its time of modification: a file that was moved or copied here may have an old one.
        let changed = (meta.ctime(), meta.ctime_nsec());
        let looked = std::fs::symlink_metadata(self.files.looked_at()).map_or((0, 0), |meta| (meta.mtime(), meta.mtime_nsec()));
        if changed < looked || !place.starts_with(&self.stamp.worktree) {
            return Ok(());
        }
        let (bytes, mode) = match (meta.is_file(), meta.is_symlink()) {
            (true, _) => match files::read_small_of_user(place, LARGEST)? {
                SmallFile::Content(bytes) => (bytes, if meta.mode() & 0o100 == 0 { 0o100_644 } else { 0o100_755 }),
                // It went, or no capture would hold it.
                SmallFile::Nothing | SmallFile::Odd(_) => return Ok(()),
            },
            (false, true) => match std::fs::read_link(place) {
                Ok(to) => (to.into_os_string().into_vec(), 0o120_000),
                Err(_) => return Ok(()),
            },
            (false, false) => return Ok(()),
        };
        let copy = self.files.keep(&bytes)?;
        env::fault_point("attach.copied");
        self.hand_over(DeferredSave::Kept { path: place.display().to_string(), copy, mode });
        Ok(())
    }
}
