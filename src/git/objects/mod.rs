//! Objects: read, written so that a power loss or a `git gc` cannot hollow them, and compared.
//!
//! What the objects say (histories, captures) is in other rooms.
//!
//! Begin reading with `database`, then `stage`: how new objects get their names.

pub(super) mod beside_gc;
pub(super) mod connectivity;
pub(super) mod database;
pub(super) mod durability;
pub(super) mod freshen;
pub(super) mod landing;
pub(super) mod loose;
pub(super) mod proof;
pub(super) mod read_back;
pub(super) mod size;
pub(super) mod stage;
pub(super) mod tree_diff;
pub(super) mod tree_edit;
