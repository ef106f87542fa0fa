//! Rolling backups of the active event log: `events.jsonl.backup`, `.backup.1`, `.backup.2`.

use std::path::PathBuf;

use crate::layout::StoreLayout;
use crate::log_files::line;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};

const MAX_LOG: u64 = 1024 * 1024 * 1024;

/// The path of backup `number`; 0 is the newest.
pub fn path(layout: &StoreLayout, number: u32) -> PathBuf {
    let name = match number {
        0 => "events.jsonl.backup".to_owned(),
        n => format!("events.jsonl.backup.{n}"),
    };
    layout.state_dir().join(name)
}

/// Renumbers the backups and copies the active log to the newest one; keeps `count` of them. Does nothing if no event was
/// appended since the last backup, so that an idle session does not replace older backups. A crash leaves every backup
/// whole, but a number may be missing or two backups may be equal.
pub fn roll(layout: &StoreLayout, count: u32) -> Result<()> {
    let log = layout.events();
    let Some(mut bytes) = files::read_optional(&log, MAX_LOG)? else { return Ok(()) };
    // Whole lines only: another process may be writing the last one.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    bytes.truncate(whole);
    if count == 0 || bytes.is_empty() || files::read_optional(&path(layout, 0), MAX_LOG)?.as_ref() == Some(&bytes) {
        return Ok(());
    }
    if let Some(bad) = bytes[..whole - 1].split(|byte| *byte == b'\n').position(|line| !line::is_intact(line)) {
        return Err(Error::new(Code::EventLogCorrupted, format!("line {} of '{}' is damaged", bad + 1, log.display()))
            .hint("see 'git axiom recover'"));
    }
    for number in (1..count).rev() {
        let newer = path(layout, number - 1);
        if newer.exists() {
            env::fault_point("store.before-backup-move");
            files::rename(&newer, &path(layout, number))?;
        }
    }
    env::fault_point("store.before-backup");
    files::write_atomic(&path(layout, 0), &bytes)
}
