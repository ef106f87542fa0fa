//! Agent programs as data: how each is started, stopped and gone on with (`adapter`), the ones that are built in (`presets`),
//! and what their output says (`stream`). Pure.
//!
//! Begin reading with `presets/claude.toml`, which explains every key, then `stream`.

mod acp_lines;
pub mod adapter;
pub mod attached_program;
pub mod hook_call_source;
pub mod overlay;
pub mod presets;
pub mod stream;
pub mod tool_kind;
