//! How checkpoints go: deleted by name, since they are old, or since all hold too much. Begin reading with `remove`.

pub(super) mod release;
pub(super) mod remove;
pub(super) mod retain;
pub(super) mod total_size;
