//! The files of a run, which both sides know: what the keeper is to do, what it recorded, and how such a file is written and read.
//!
//! What is done with them is in `keeper` and `client`. Begin reading with `spec`.

pub mod record_files;
pub mod records;
pub mod spec;
