//! What a test cannot prove on this machine, said so that it is seen.

use std::io::Write;

/// Says on the real standard error that the calling test proves nothing here, and why. The test runner captures only what
/// `println!` and `eprintln!` write.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let _ = writeln!(std::io::stderr(), "\nSKIPPED {}: {why}", thread.name().unwrap_or("a test"));
}
