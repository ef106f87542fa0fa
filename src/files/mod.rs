//! Durable files: the one place that writes, renames and deletes files.
//!
//! Every function here names its path in its error, and says in its documentation what a crash leaves behind.
//! What the files mean is not known here.

mod append;
mod durable;
mod lock;
mod look;
mod scratch;
mod size;

pub use append::{AppendFile, append_public, open_append};
pub use durable::{
    create_dir_all, create_dirs_unsynced, create_new, create_public_dir, create_users_dir, hard_link, read, read_optional,
    remove_empty_dir, remove_file, rename, rename_no_replace, replace_unsynced, set_mode, sync_dir, sync_dir_if_there,
    sync_dirs_if_there, sync_file, touch, write_atomic, write_public, write_read_only, write_scratch, write_users_file,
};
pub use lock::{FileLock, LockAttempt, is_locked};
pub use look::{list, metadata, open_optional};
pub use scratch::{SCRATCH_PREFIX, is_trashed_name, remove_scratch, remove_trashed, write_stand_in};
pub use size::size_below;
