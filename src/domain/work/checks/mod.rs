//! Verify steps: what they are, what their output says of tests, what they report of themselves, and which results still count.
//! Pure. Not here: the verification of a merge as a whole, which is in [`super::verification`].

pub mod counted;
pub mod junit;
pub mod kept;
pub mod named;
pub mod reported;
pub mod shown;
pub mod tests_in_output;
pub mod validator;
