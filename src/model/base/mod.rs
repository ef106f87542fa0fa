//! What the rest of the domain is built on: ids, git's names as types, texts, times, numbers in words, orders. Pure.
//!
//! Nothing here knows of tasks, checkpoints or operations, except how `change_json` writes their changes as JSON.
//!
//! Begin reading with `ids` and `names`.

pub mod ciphertext;
pub mod defaults;
pub mod document_schema;
pub mod forms;
pub mod git_config;
pub mod ids;
pub mod lfs_pointer;
pub mod log_version;
pub mod names;
mod operation_start;
pub mod own_names;
pub mod path_set;
pub mod ref_change;
pub mod screen_colors;
pub mod sealed;
pub mod text;
pub mod text_hash;
