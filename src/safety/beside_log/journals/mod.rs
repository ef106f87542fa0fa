//! Journals beside our folder, of what changes all of it: taking a secret out, and taking git axiom out. Until such a journal is gone, a
//! repository is not opened to be written.

pub mod deinit;
pub mod journal_file;
pub mod purge;
