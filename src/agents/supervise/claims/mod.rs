//! Claims: which task an agent takes next, who is sent where, and the gates that keep a task from being started.

pub(crate) mod claim;
pub(crate) mod claim_failing;
pub(crate) mod preparing;
pub(crate) mod redirecting;
pub(crate) mod start_gates;
pub(crate) mod waiting_claims;
