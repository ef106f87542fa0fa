//! The version of the documents that others read: on standard output, and on the standard input of hooks. See docs/JSON.md.

/// The version of all of them. New keys may be added without a new version. Stored files have version numbers of their own.
pub const SCHEMA: u32 = 2;
