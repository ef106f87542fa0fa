//! What happened since a prompt, and whose it was. Begin reading with `own_commits`.

pub mod head_since;
pub(in crate::attach) mod own_commits;
