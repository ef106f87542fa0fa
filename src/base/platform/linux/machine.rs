//! What Linux says of the machine and of this program.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The name of these modules.
pub const SYSTEM: &str = "linux";

/// Whether the program was ever tried on this system.
pub const IS_TRIED: bool = true;

/// Identifies the current boot of the machine.
pub fn boot_id() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok().map(|id| id.trim().to_owned())
}

/// When the machine was started, by its own clock.
pub fn boot_time() -> Option<SystemTime> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    let seconds = stat.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse().ok())?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// What starts this program again, even after its file was replaced or removed.
pub fn own_image() -> Option<PathBuf> {
    Some(PathBuf::from("/proc/self/exe")).filter(|image| image.exists())
}

/// The terminal of this process, to be read and waited for.
pub fn own_terminal() -> io::Result<File> {
    File::open("/dev/tty")
}

/// The name of the file system that a path is on.
pub fn file_system_name(path: &Path) -> Option<String> {
    const NAMES: [(i64, &str); 15] = [
        (0xEF53, "ext4"),
        (0x5846_5342, "xfs"),
        (0x9123_683E, "btrfs"),
        (0x0102_1994, "tmpfs"),
        (0x794C_7630, "overlay"),
        (0x2FC1_2FC1, "zfs"),
        (0xF2F5_2010, "f2fs"),
        (0xCA45_1A4E, "bcachefs"),
        (0x6969, "nfs"),
        (0x6573_5546, "fuse"),
        (0x0102_1997, "9p"),
        (0xFF53_4D42, "cifs"),
        (0xFE53_4D42, "smb"),
        (0x2011_BAB0, "exfat"),
        (0x4D44, "vfat"),
    ];
    #[allow(clippy::unnecessary_cast)] // the type differs between processors
    let magic = rustix::fs::statfs(path).ok()?.f_type as i64 & 0xFFFF_FFFF;
    let known = NAMES.iter().find(|(number, _)| *number == magic);
    Some(known.map_or_else(|| format!("{magic:#x}"), |(_, name)| (*name).to_owned()))
}

/// Whether the file system of a folder is known to keep the time at which a file was changed, and its number. Not those that are on
/// another machine or in another program: who knows what they keep.
pub fn keeps_times(folder: &Path) -> bool {
    const RELIABLE: [&str; 8] = ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "f2fs", "zfs", "bcachefs"];
    file_system_name(folder).is_some_and(|name| RELIABLE.contains(&name.as_str()))
}
