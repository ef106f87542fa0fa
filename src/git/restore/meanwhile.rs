//! The errors for what others changed while a restore was made.

use std::path::Path;

use axiom_base::error::{Code, Error, some_of};

/// Turns the error for something that vanished between look and move into `CHANGED_MEANWHILE`: another process removed it.
pub(crate) fn vanished(error: Error) -> Error {
    if error.is_of_something_gone() {
        Error::new(Code::ChangedMeanwhile, "something was moved or removed meanwhile").why(error.to_string())
    } else {
        error
    }
}

pub(crate) fn changed_meanwhile(root: &Path, paths: &[String]) -> Error {
    Error::new(Code::ChangedMeanwhile, format!("files in '{}' changed meanwhile", root.display())).why(some_of(paths, 10))
}
