//! Folders: reading, deleting, syncing, measuring what is below one. Begin reading with `beneath`.

pub(in crate::files) mod beneath;
#[cfg(test)]
mod beneath_tests;
pub(in crate::files) mod descent;
pub(in crate::files) mod folder_sync;
pub(in crate::files) mod mounts;
pub(in crate::files) mod own_folder;
pub(in crate::files) mod private;
pub(in crate::files) mod read_below;
pub(in crate::files) mod size;
pub(in crate::files) mod space;
