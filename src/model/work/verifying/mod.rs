//! Verify steps and validators, and what came of them. Begin reading with `verification`.

pub mod agent_check;
pub mod checks;
pub mod kept_results;
pub mod verification;
