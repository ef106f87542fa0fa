//! Files and folders that cannot be read. Where root runs the tests, all programs of such a history are another user's.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{somewhere, write};
use crate::common::random::Random;
use crate::histories::place::Place;

/// More than the step in which file systems count their times.
const TICK: Duration = Duration::from_millis(20);

/// Who makes an entry readable again, and closes it as it was when this is dropped.
pub struct Opened(Vec<(PathBuf, u32)>);

impl Drop for Opened {
    fn drop(&mut self) {
        // A file that an index was told of while it was open has another time of change then: file systems count in ticks.
        if !self.0.is_empty() {
            std::thread::sleep(TICK);
        }
        self.0.iter().rev().for_each(|(path, mode)| set_mode(path, *mode));
    }
}

fn set_mode(path: &Path, mode: u32) {
    let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode));
}

/// Opens what is closed below a folder, for a look of ours.
pub fn opened(folder: &Path) -> Opened {
    let mut all = Opened(Vec::new());
    open_below(folder, &mut all.0);
    all
}

/// Opens it for good.
pub fn open_all(folder: &Path) {
    std::mem::forget(opened(folder));
}

fn open_below(path: &Path, opened: &mut Vec<(PathBuf, u32)>) {
    let Ok(meta) = path.symlink_metadata() else { return };
    let mode = meta.permissions().mode() & 0o7777;
    if !meta.is_symlink() && is_closed(&meta) {
        set_mode(path, mode | if meta.is_dir() { 0o700 } else { 0o400 });
        opened.push((path.to_owned(), mode));
    }
    if meta.is_dir() {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        entries.for_each(|entry| open_below(&entry.path(), opened));
    }
}

fn is_closed(meta: &std::fs::Metadata) -> bool {
    let mode = meta.permissions().mode();
    if meta.is_dir() { mode & 0o500 != 0o500 } else { mode & 0o400 == 0 }
}

/// The topmost entries of a folder that cannot be read, by their paths in it.
pub fn closed_in(folder: &Path) -> BTreeSet<String> {
    let (mut closed, mut walk) = (BTreeSet::new(), walkdir::WalkDir::new(folder).min_depth(1).into_iter());
    while let Some(entry) = walk.next() {
        // A folder of which only the names are refused is an error of the walk, after its own entry.
        let Ok(entry) = entry else { continue };
        if entry.depth() == 1 && [".git", ".worktrees"].iter().any(|name| entry.file_name() == *name) {
            if entry.file_type().is_dir() {
                walk.skip_current_dir();
            }
            continue;
        }
        if !entry.path_is_symlink() && entry.metadata().is_ok_and(|meta| is_closed(&meta)) {
            closed.insert(entry.path().strip_prefix(folder).unwrap().to_string_lossy().into_owned());
            if entry.file_type().is_dir() {
                walk.skip_current_dir();
            }
        }
    }
    closed
}

pub fn step(place: &mut Place, dice: &mut Random) {
    let at = somewhere(place, dice);
    let name = *dice.pick(&["closed", "secret.txt", "sub/b.txt", "d.txt", "sub/deep", "new"]).unwrap();
    let path = at.join(name);
    match dice.below(6) {
        0..=3 => {
            place.says(&format!("closed: {}", path.display()));
            match name {
                "closed" | "new" if !path.exists() => write(place, &path.join("file.txt")),
                "secret.txt" => write(place, &path),
                _ => {}
            }
            if !path.is_symlink() {
                set_mode(&path, *dice.pick(&[0o000, 0o200]).unwrap());
            }
        }
        4 => {
            place.says(&format!("open again: {}", path.display()));
            if !path.is_symlink() && path.exists() {
                set_mode(&path, if path.is_dir() { 0o755 } else { 0o644 });
            }
        }
        _ => {
            place.says(&format!("all open again: {}", at.display()));
            open_all(&at);
        }
    }
}
