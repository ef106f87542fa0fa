//! What decides whether something can be moved, and where the names of a folder are read into.

/// The properties that decide whether a file or folder can be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveConstraints {
    /// The device and, if the system shows it, the mount. A rename cannot leave either.
    pub mount: (u64, u64),
    /// Whether it is a folder. On an overlay, only folders have its device number: files have that of their layer.
    pub is_folder: bool,
    /// It and its entries cannot be changed (`chattr +i`, `chflags uchg`).
    pub immutable: bool,
    /// Entries cannot be removed from it (`chattr +a`, `chflags uappnd`).
    pub append_only: bool,
}

/// What a link is looked at as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatThroughLink {
    /// Itself.
    AsLinks,
    /// What it leads to.
    Followed,
}

/// Where a system may write the names of a folder; used for one folder after another.
#[derive(Debug)]
pub struct ListingBuffer(#[allow(dead_code)] pub(in crate::platform) Vec<u8>);

impl Default for ListingBuffer {
    fn default() -> Self {
        // What git's listing uses: a thousand names of usual length.
        Self(Vec::with_capacity(32 * 1024))
    }
}
