//! Gates, and what a human answers at them. Begin reading with `gate`.

pub mod crash_answer;
pub mod gate;
pub mod pending_answer;
