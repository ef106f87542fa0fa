//! Durable files: the one place that writes, renames and deletes files, and takes file locks.
//!
//! Every function here names its path in its error, and documents what a crash leaves. What the files contain and mean is
//! not known here. Begin reading with `durable`.

mod append;
mod attributes;
#[cfg(test)]
#[path = "../../../tests/support/bound.rs"]
mod bound;
mod copied_beside;
mod durable;
mod edited;
mod folder_entries;
mod folders;
mod git_files;
mod hashed_copy;
mod lock;
mod moving;
mod optional_read;
mod owner;
mod packed;
mod retry_interrupted;
mod rotated;
mod scratch;

pub use append::{AppendFile, append_public, open_append};
pub use attributes::{ACL, DEFAULT_ACL, ExtendedAttributes, attribute, attributes, knows_attribute, set_attributes};
pub use copied_beside::copy_beside;
pub use durable::{
    create_if_free, create_new, read, read_from, read_optional, set_modified, set_times, touch, write_atomic,
    write_atomic_unsynced, write_public, write_read_only, write_scratch, write_users_file,
};
pub use edited::{EditThroughLink, EditedFile};
pub use folder_entries::{
    create_dir_all, create_dirs_unsynced, create_private_dir, create_public_dir, create_users_dir, move_unsynced,
    remove_empty_dir, remove_file, rename, replace_unsynced, set_mode, sync_dir, sync_dir_if_there, sync_dirs_if_there,
    sync_file,
};
pub use folders::beneath::DeletionFolder;
pub use folders::folder_sync::{FolderToSync, sync_file_system, sync_file_systems};
pub use folders::mounts::{holds_mount, holds_no_mount, mounts_within};
pub use folders::own_folder::OwnFolder;
pub use folders::private::PrivateFolder;
pub use folders::read_below::{ScanLimits, ScannedContent, ScannedEntry, read_below};
pub use folders::size::size_below;
pub use folders::space::{FreeSpace, space_at};
pub use git_files::{append_keeping, create_keeping, look_like, replace_keeping, replace_keeping_if, with_inode_of_its_own};
pub use hashed_copy::{copy_hashed, sha256_of};
pub use lock::{FileLock, LockAttempt, is_held, is_locked};
pub use moving::move_constraints::{MoveConstraints, may_open, mount_of, refuses_changes, standing};
pub use moving::moves::{hard_link, rename_into, rename_no_replace, symbolic_link};
pub use moving::piecewise_move::{half_moved_name, is_half_moved, turn_back};
pub use moving::whole_move::move_whole;
pub use optional_read::{
    ForeignFileReason, SmallFile, begins_with, foreign, list, metadata, open_optional, read_end, read_end_of_regular, read_small,
    read_small_of_user, read_start, same_bytes, says_nothing_is_there,
};
pub use owner::{hand_group, hand_owner, may_give_to_group, opens_for_another_group};
pub use packed::{MaybePackedFile, is_packed, pack_file, packed, packed_name, unpacked_name};
pub use retry_interrupted::open_at;
pub use rotated::{RotatedFile, rotate};
pub use scratch::{
    SCRATCH_PREFIX, is_trashed_name, link_in_scratch, make_scratch_folder, remove_scratch, remove_trashed, remove_trashed_but,
    temporaries_in, write_stand_in,
};
