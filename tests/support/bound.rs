//! Tests of what permissions forbid, which do not bind root.
#![allow(clippy::disallowed_methods)]

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

/// Calls something in a thread whose files' permissions bind it, as they bind a user who owns those files: root's are without
/// its privileges. It stays the same user, so that the folders above may be of any mode.
pub fn bound_by_permissions(work: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if rustix::process::geteuid().is_root() {
                let mut sets = capabilities(None).unwrap();
                sets.effective = CapabilitySet::empty();
                set_capabilities(None, sets).unwrap();
            }
            work();
        });
        thread.join().unwrap();
    });
}
