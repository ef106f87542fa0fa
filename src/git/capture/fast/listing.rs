//! The names in one folder, with as few system calls as the kernel needs.

use std::ffi::CStr;
use std::ops::Range;

use rustix::fd::OwnedFd;
use rustix::fs::FileType;
#[cfg(target_os = "linux")]
use rustix::io::Errno;

/// The names in a folder except `.` and `..`.
#[derive(Default)]
pub(super) struct FolderNames {
    bytes: Vec<u8>,
    names: Vec<(Range<usize>, FileType)>,
}

/// Where the kernel writes names; used for one folder after another.
#[cfg(target_os = "linux")]
pub(super) struct ListingBuffer(Vec<u8>);

/// Other systems list folders in their own room.
#[cfg(not(target_os = "linux"))]
#[derive(Default)]
pub(super) struct ListingBuffer;

#[cfg(target_os = "linux")]
impl Default for ListingBuffer {
    fn default() -> Self {
        // What git's listing uses: a thousand names of usual length.
        Self(Vec::with_capacity(32 * 1024))
    }
}

impl FolderNames {
    /// All names in a folder; `None` if it cannot be read.
    #[cfg(target_os = "linux")]
    pub fn read(dir: &OwnedFd, room: &mut ListingBuffer) -> Option<Self> {
        let mut listing = Self::default();
        let mut entries = rustix::fs::RawDir::new(dir, room.0.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            match entry {
                Ok(entry) => listing.add(entry.file_name(), entry.file_type()),
                Err(Errno::INTR) => {}
                // The folder was removed meanwhile: that is its end.
                Err(Errno::NOENT) => break,
                Err(_) => return None,
            }
        }
        Some(listing)
    }

    /// All names in a folder; `None` if it cannot be read.
    #[cfg(not(target_os = "linux"))]
    pub fn read(dir: &OwnedFd, _room: &mut ListingBuffer) -> Option<Self> {
        let mut listing = Self::default();
        for entry in rustix::fs::Dir::read_from(dir).ok()? {
            let entry = entry.ok()?;
            listing.add(entry.file_name(), entry.file_type());
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

    /// Each name with the kind of the file, which not every file system tells.
    pub fn iter(&self) -> impl Iterator<Item = (&CStr, FileType)> {
        let name = |range: &Range<usize>| CStr::from_bytes_with_nul(&self.bytes[range.clone()]).unwrap_or_default();
        self.names.iter().map(move |(range, kind)| (name(range), *kind))
    }
}
