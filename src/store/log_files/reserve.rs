//! A file that only takes space: it is given up where the disk is full, so that the last events of a session still fit.
//!
//! Best effort: on file systems that compress or copy on write (btrfs, ZFS), and under a quota, giving it up may free nothing.

use crate::layout::StoreLayout;
use axiom_base::error::Result;
use axiom_base::files;

/// Its size: some hundred events.
const SIZE: usize = 256 * 1024;

/// Makes the file where it is missing. A crash leaves it or nothing.
pub fn keep(layout: &StoreLayout) -> Result<()> {
    let path = layout.reserve();
    if path.symlink_metadata().is_ok_and(|meta| meta.len() == SIZE as u64) {
        return Ok(());
    }
    files::write_atomic(&path, &vec![b'.'; SIZE])
}

/// Gives the space back; returns whether there was any.
pub fn give_up(layout: &StoreLayout) -> bool {
    let path = layout.reserve();
    path.symlink_metadata().is_ok() && files::remove_file(&path).is_ok()
}
