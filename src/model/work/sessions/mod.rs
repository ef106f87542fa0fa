//! A session: its state, its time, what it does now, and the levels of space on the disk. Begin reading with `session`.

pub mod disk;
pub mod lock;
pub mod session;
pub mod session_time;
pub mod supervisor_activity;
