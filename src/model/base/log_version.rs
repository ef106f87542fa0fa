//! The version of the log, of its snapshots and of the documents of checkpoints. Each line of the log, each snapshot and each document
//! says it under the key `axiom`. How the format may change is in `CONTRIBUTING.md`.
//!
//! Builds from before the first release had other keys, with versions from 1 to 8. What they wrote is not read.

/// The version that this program writes, and the newest that it reads.
pub const VERSION: u32 = 1;

/// Why something is not read that has a version under a key from before the first release.
pub const BEFORE: &str = "a git axiom from before the first release wrote it";
