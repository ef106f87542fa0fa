//! What a repair reports.

/// What was repaired, and what was left as it is.
#[derive(Debug, Default)]
pub struct RepairReport {
    /// One line for each repair.
    pub done: Vec<String>,
    /// One line for each problem that a human has to look at.
    pub left: Vec<String>,
}
