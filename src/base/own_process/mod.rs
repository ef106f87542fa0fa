//! This very process: the signals that ask it to end, the system's limits on it, its session, its threads. Not here: programs that we
//! start, which are in `process`. Begin reading at [`end_signals`].

pub mod end_signals;
pub mod limits;
pub mod session;
pub mod threads;
pub mod verb;
