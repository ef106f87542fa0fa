//! Configuration: its keys with their defaults, its layers, and where each value comes from.
//!
//! What a value means is for the part that uses it. Nothing here looks for files or calls git: the layers are handed in.

mod file;
pub mod keys;
pub mod layers;
pub mod schema;

pub use file::entries as file_entries;
pub use layers::{GitEntry, Layers, Loaded, Setting, Source, load, nothing_called};
pub use schema::Config;
