//! All that differs between systems, and nothing else does: a module for each system, with the same functions.
//!
//! | module | what lives there |
//! | --- | --- |
//! | `linux` | what Linux has: `/proc`, pidfds, inotify, `syncfs`, `openat2`, `statx` |
//! | `macos` | what macOS has: libproc, `sysctl`, `fsync_volume_np`, flags of files. Of the rest it has the portable ones |
//! | `portable` | what every Unix has: `ps`, looking again and again, one file after another |
//! | `unix` | what all three have, and what their functions speak of |
//!
//! `build.rs` chooses one of them; `AXIOM_SYSTEM=portable` at the build chooses the third on any system. What each
//! difference costs is in `docs/PLATFORMS.md`. A test keeps the names of systems, and calls that one system alone has, out of all
//! other rooms.

#[cfg(axiom_system = "linux")]
mod linux;
#[cfg(axiom_system = "macos")]
mod macos;
mod portable;
mod unix;

#[cfg(axiom_system = "linux")]
use linux as system;
#[cfg(axiom_system = "macos")]
use macos as system;
#[cfg(axiom_system = "portable")]
use portable as system;

pub use system::attributes::{NO_ATTRIBUTE, is_copied_attribute};
pub use system::folders::{
    ADMINISTRATORS_SETTINGS, LONGEST_PATH, constraints, give_owner_access, is_same_mount, mount_points, open_below, read_folder,
};
pub use system::machine::{IS_TRIED, SYSTEM, boot_id, boot_time, file_system_name, keeps_times, own_image, own_terminal};
pub use system::processes::{
    ADOPTS_ORPHANS, ExaminedProcess, adopt_orphans, command_lines_above, end_with_parent, examinable, offspring, peer, process,
    process_name, processes, processes_started_with, send_exactly,
};
pub use system::syncing::{SYNCS_WHOLE_FILE_SYSTEM, sync_below, sync_data, sync_file};
pub use system::watching::{
    TELLS_CHANGES, forget_watch, hear_nothing, read_changes, start_watching, watch_entries, watch_folder, watches_of_user,
};
pub use unix::folders::{ListingBuffer, MoveConstraints, StatThroughLink};
pub use unix::machine::{built_for, children_cpu_millis, host_name, is_ignored, is_not_supported, mode_of, system_release};
pub use unix::processes::RunningProcess;
pub use unix::watching::{FolderChange, FolderTrigger, WatchedFolderId};
