//! Clones that borrow this repository's objects (`git clone --shared`, `--reference`). Only they know it, so those are found that lie
//! where one looks first.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::repo::handles::Durability;
use axiom_base::files;

/// The largest list of object folders that is read, and the most entries of a folder that are looked at.
const LIMIT: u64 = 1024 * 1024;
const ENTRIES: usize = 10_000;

impl Durability<'_> {
    /// Clones that name this repository's objects as theirs, among what lies beside it and `further` git directories; and this
    /// repository's own configuration, where it says that others do (`extensions.preciousObjects`). Others may be anywhere.
    pub fn known_borrowers(&self, beside: &[PathBuf], further: &[PathBuf]) -> Vec<String> {
        let Ok(objects) = self.repo.common_dir().join("objects").canonicalize() else { return Vec::new() };
        let mut places: BTreeSet<PathBuf> = further.iter().cloned().collect();
        for folder in beside.iter().map(PathBuf::as_path).chain([self.repo.common_dir()]).filter_map(Path::parent) {
            let entries = files::list(folder).unwrap_or_default().into_iter().take(ENTRIES);
            places.extend(entries.flat_map(|entry| [entry.path().join(".git"), entry.path()]));
        }
        let borrows = |place: &&PathBuf| named_by(place).contains(&objects);
        let mut found: Vec<String> = places.iter().filter(borrows).map(|place| format!("'{}'", place.display())).collect();
        let is_set = |gix: gix::Repository| gix.config_snapshot().boolean("extensions.preciousObjects") == Some(true);
        if self.repo.gix().is_ok_and(is_set) {
            found.push("whoever 'extensions.preciousObjects' is set for".to_owned());
        }
        found
    }
}

/// The object folders that a repository borrows from.
fn named_by(git_dir: &Path) -> Vec<PathBuf> {
    let objects = git_dir.join("objects");
    let text = files::read_optional(&objects.join("info/alternates"), LIMIT).ok().flatten().unwrap_or_default();
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    lines.filter_map(|line| objects.join(std::ffi::OsStr::from_bytes(line)).canonicalize().ok()).collect()
}
