//! The Agent Client Protocol as lines: JSON-RPC, one message a line, between an editor and an agent. What one line is, is read loosely
//! (`line`), and what it says of a tool (`tool`); a keeper is the client of one session (`client`, `plan`, `agent_words`, `effect`). A prompt can be given one more
//! block (`told`). Nothing here fails: what is not understood is nothing, so that whoever passes lines on passes on any.
//!
//! Pure and bounded: what is read borrows from the line, objects are looked at no deeper than what is asked for, and lists are cut.
//!
//! Begin reading with `line`.

mod agent_words;
pub mod client;
#[cfg(test)]
mod client_tests;
mod effect;
mod json_fields;
pub mod line;
mod plan;
#[cfg(test)]
mod recordings_tests;
pub mod told;
pub mod tool;
#[cfg(test)]
mod unanswered_tests;
