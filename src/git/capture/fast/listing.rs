//! The names in one folder, with as few system calls as the kernel needs.

use std::ffi::CStr;
use std::ops::Range;

use rustix::fd::OwnedFd;
use rustix::fs::FileType;

pub(super) use axiom_base::platform::ListingBuffer;
use axiom_base::platform::read_folder;

/// The names in a folder except `.` and `..`.
#[derive(Default)]
pub(super) struct FolderNames {
    bytes: Vec<u8>,
    names: Vec<(Range<usize>, FileType)>,
}

impl FolderNames {
    /// All names in a folder; `None` if it cannot be read.
    pub fn read(dir: &OwnedFd, room: &mut ListingBuffer) -> Option<Self> {
        let mut listing = Self::default();
        read_folder(dir, room, |name, kind| listing.add(name, kind))?;
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

    /// Each name with the kind of the file, which not every file system tells.
    pub fn iter(&self) -> impl Iterator<Item = (&CStr, FileType)> {
        let name = |range: &Range<usize>| CStr::from_bytes_with_nul(&self.bytes[range.clone()]).unwrap_or_default();
        self.names.iter().map(move |(range, kind)| (name(range), *kind))
    }
}
