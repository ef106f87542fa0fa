//! What the rest of the domain is built on: ids, git's names as types, texts, times, numbers in words, orders. Pure.
//!
//! Nothing here knows of tasks, checkpoints or operations, except how `change_json` writes their changes as JSON.
//!
//! Begin reading with `ids` and `names`.

pub mod ciphertext;
pub mod defaults;
pub mod document_schema;
pub mod git_config;
pub mod hex;
pub mod ids;
pub mod lfs_pointer;
pub mod line_ends;
pub mod log_version;
pub mod names;
pub mod natural;
pub mod nearest;
mod operation_start;
pub mod own_names;
pub mod path_set;
pub mod plural;
pub mod ref_change;
pub mod sealed;
pub mod shell_word;
pub mod text;
pub mod text_hash;
pub mod times;
pub mod with_unit;
