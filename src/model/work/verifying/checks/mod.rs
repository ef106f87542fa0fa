//! Verify steps: what they are, what their output says of tests, and what they report of themselves.
//! Pure. Not here: the verification of a merge as a whole, which is in [`crate::work::verification`].

pub mod junit;
pub mod named_step;
pub mod step_report;
pub mod test_counts;
pub mod tests_in_output;
