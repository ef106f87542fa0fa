//! Verify steps: what they are, what their output says of tests, what they report of themselves, and which results still count.
//! Pure. Not here: the verification of a merge as a whole, which is in [`crate::work::verification`].

pub mod junit;
pub mod kept_results;
pub mod named_step;
pub mod step_report;
pub mod test_counts;
pub mod tests_in_output;
