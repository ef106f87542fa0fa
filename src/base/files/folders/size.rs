//! The size of files and folders.

use std::path::Path;

use walkdir::WalkDir;

/// The bytes of the file at a path, or of all files below it; links count with their own size. `None` where there is
/// nothing, where a part cannot be read, or where there are more entries than `entries`, which is reduced by the number of
/// entries read.
pub fn size_below(path: &Path, entries: &mut u64) -> Option<u64> {
    let mut bytes = 0;
    for entry in WalkDir::new(path) {
        *entries = entries.checked_sub(1)?;
        let meta = entry.ok()?.metadata().ok()?;
        bytes += if meta.is_dir() { 0 } else { meta.len() };
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;

    #[test]
    fn a_folder_is_as_large_as_its_files() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("d")).unwrap();
        std::fs::write(dir.path().join("d/x"), [0; 10]).unwrap();
        std::fs::write(dir.path().join("y"), [0; 5]).unwrap();
        let size = |path: &str, mut limit: u64| size_below(&dir.path().join(path), &mut limit);
        assert_eq!([size(".", 9), size("y", 9), size("d", 9)], [Some(15), Some(5), Some(10)]);
        assert_eq!([size("none", 9), size(".", 3)], [None, None]);
    }
}
