//! What the output of an agent program says: rules as data (`rules`, checked in `check`), lines out of bytes (`lines`, `json`),
//! rules applied to a line (`read`), the decoder that does all of this as bytes come (`decode`), the sum of what was seen
//! (`summary`), and lines for people (`readable`, `tool_call`, `dumps`). Pure; whatever a program prints, nothing here fails, and what is kept is bounded.
//!
//! Begin reading with `stream_event`, then `decode`.

mod answers;
mod check;
pub mod decode;
mod dumps;
mod json;
pub mod lines;
mod plain;
mod read;
pub mod readable;
pub mod rules;
pub mod stream_event;
pub mod summary;
pub mod tool_call;
pub mod trouble;

#[cfg(test)]
mod ends_tests;
#[cfg(test)]
mod expected_tests;
#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod readable_tests;
#[cfg(test)]
mod recordings_tests;
#[cfg(test)]
mod tags_tests;
