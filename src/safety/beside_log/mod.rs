//! Files of ours beside the log: journals of verbs that take the log away, the lock of a session, requests to it, files of steps.

pub mod journals;
pub mod session_lock;
pub mod step_files;
pub mod supervisor_requests;
