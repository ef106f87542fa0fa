//! What keeps a repository in order: mending what a crash left half-done, deleting what has expired, a damaged log. Begin reading with `tidy`.

pub mod log_recovery;
pub mod mend;
pub mod tidy;
