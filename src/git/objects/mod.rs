//! The object database: reading objects, comparing trees, and writing objects so that a power loss or a `git gc` cannot
//! leave a ref with missing or empty objects.
//!
//! What the objects mean (histories, captures) is in other folders.
//!
//! Begin reading with `database`, then `stage`: how new objects get into the object database.

pub(super) mod connectivity;
pub(super) mod database;
pub(super) mod durability;
pub(super) mod forget;
pub(super) mod freshen;
pub(super) mod graph;
pub(crate) mod interrupted_landing;
pub(super) mod landing;
pub(super) mod new_blobs;
pub(super) mod read_back;
pub(super) mod size;
pub(super) mod stage;
pub(super) mod staged;
pub(super) mod tree_diff;
pub(super) mod tree_edit;
pub(super) mod tree_read;
mod tree_reader;
