//! The names in one folder, with as few system calls as the kernel needs.

use std::ffi::CStr;
use std::ops::Range;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType};

pub(super) use axiom_base::platform::ListingBuffer;
use axiom_base::platform::read_folder;

/// The names in a folder except `.` and `..`.
#[derive(Default)]
pub(super) struct FolderNames {
    bytes: Vec<u8>,
    names: Vec<(Range<usize>, FileType)>,
}

impl FolderNames {
    /// All names in a folder, each with its kind, which not every file system tells with the name; `None` if it cannot be read.
    pub fn read(dir: &OwnedFd, room: &mut ListingBuffer) -> Option<Self> {
        let mut listing = Self::default();
        read_folder(dir, room, |name, kind| listing.add(name, kind))?;
        for (range, kind) in listing.names.iter_mut().filter(|(_, kind)| *kind == FileType::Unknown) {
            let name = CStr::from_bytes_with_nul(&listing.bytes[range.clone()]).unwrap_or_default();
            let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            *kind = FileType::from_raw_mode(stat.st_mode);
        }
        Some(listing)
    }

    fn add(&mut self, name: &CStr, kind: FileType) {
        let name = name.to_bytes_with_nul();
        if !matches!(name, b".\0" | b"..\0") {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(name);
            self.names.push((start..self.bytes.len(), kind));
        }
    }

    /// Each name with the kind of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&CStr, FileType)> {
        let name = |range: &Range<usize>| CStr::from_bytes_with_nul(&self.bytes[range.clone()]).unwrap_or_default();
        self.names.iter().map(move |(range, kind)| (name(range), *kind))
    }
}
