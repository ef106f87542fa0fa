//! What is shown of a session: its notices, its status, and what is seen of its keepers. Nothing here changes anything.

pub mod doing;
pub mod keeper_now;
pub mod notice;
pub mod status;
