//! The files of the event log: lines, segments, backups. Begin reading with `line`.

pub mod backup;
pub(crate) mod decode_ahead;
pub(crate) mod head;
pub mod line;
pub mod log;
pub mod reserve;
pub mod segments;
