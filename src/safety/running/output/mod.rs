//! What agents printed: the keepers' logs of a task (`logs`), their lines as a person reads them (`readable`), and the last of them
//! without reading all (`last`); what verify steps printed (`steps`).
//!
//! Not here: writing the logs (`process::keeper::output`), and what lines of a program mean (`model::agent::stream`).
//!
//! Begin reading with `logs`, then `readable`.

pub mod last;
pub mod logs;
pub mod readable;
pub mod steps;
