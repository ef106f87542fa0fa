//! What agents may do without being asked about, and what is asked of a human: stored forms. The decision is in `permission`.
//!
//! Begin reading with `permission_rule`.

pub mod permission_question;
pub mod permission_rule;
