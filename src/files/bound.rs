//! Tests of what permissions forbid, which do not bind root.
#![allow(clippy::disallowed_methods)]

use std::path::Path;
use std::process::Command;

/// A user to whom permissions apply.
const NOBODY: u32 = 65_534;

/// Calls something in a thread without root's privileges, in a folder that is given to it.
pub(crate) fn bound_by_permissions(dir: &Path, work: impl FnOnce() + Send) {
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        assert!(Command::new("chown").arg("-R").arg(NOBODY.to_string()).arg(dir).status().unwrap().success());
    }
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if is_root {
                rustix::thread::set_thread_res_uid(None, rustix::process::Uid::from_raw(NOBODY), None).unwrap();
            }
            work();
        });
        thread.join().unwrap();
    });
}
