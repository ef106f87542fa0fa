//! Rolling backups of the active event log: `events.jsonl.backup`, `.backup.1`, `.backup.2`.

use std::path::PathBuf;

use super::layout::Layout;
use crate::error::Result;
use crate::files;

const MAX_LOG: u64 = 1024 * 1024 * 1024;

/// The path of backup `number`; 0 is the newest.
pub fn path(layout: &Layout, number: u32) -> PathBuf {
    let name = match number {
        0 => "events.jsonl.backup".to_owned(),
        n => format!("events.jsonl.backup.{n}"),
    };
    layout.state_dir().join(name)
}

/// Copies the active log to the newest backup, after moving the others on by one; keeps `count` of them. A crash leaves
/// every backup whole, perhaps with a number twice or missing.
///
/// # Errors
/// `IO_FAILED`, `DISK_FULL`; the log itself is never touched.
pub fn roll(layout: &Layout, count: u32) -> Result<()> {
    let Some(mut bytes) = files::read_optional(&layout.events(), MAX_LOG)? else { return Ok(()) };
    // Whole lines only: a line that is just being written is not ours to keep.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    bytes.truncate(whole);
    if count == 0 || bytes.is_empty() {
        return Ok(());
    }
    for number in (1..count).rev() {
        let newer = path(layout, number - 1);
        if newer.exists() {
            files::rename(&newer, &path(layout, number))?;
        }
    }
    files::write_atomic(&path(layout, 0), &bytes)
}
