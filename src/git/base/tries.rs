//! How often and after how long something is tried again that another process may change at the same time.

/// How often a compare-and-swap is tried again after another process changed the ref.
pub(crate) const TRIES: u32 = 50;

/// Waits until the other process has probably finished.
pub(crate) fn wait_a_little() {
    std::thread::sleep(std::time::Duration::from_millis(5 + u64::from(std::process::id() % 7)));
}
