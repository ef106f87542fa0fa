//! Whether the machine lets us read what is at one place, and what it means where it does not.

use std::io;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};

use axiom_base::error::{Error, is_everybodys_limit};
use axiom_base::files;
use axiom_model::base::names::RepoPath;

/// How much is read at once of a file that is only tried.
const PART: usize = 1024 * 1024;

/// Whether an error says that this one place cannot be read: not that nothing is there, and not that this process or the
/// machine is at a limit, which would make a gap of everything.
pub(crate) fn is_gap(error: &io::Error) -> bool {
    !files::says_nothing_is_there(error) && !is_everybodys_limit(error)
}

/// Whether an error was caused by one place that cannot be read.
pub(crate) fn is_caused_by_gap(error: &Error) -> bool {
    error.io_cause().is_some_and(is_gap)
}

/// Whether a file can be opened, or a link be read. Also true for what is missing, and for other kinds: those are not read.
pub(crate) fn can_be_read(place: &Path) -> bool {
    try_it(place, |_| Ok(()))
}

/// What keeps a path from being read: the topmost folder above it that cannot be entered, or itself. `None` where it can be read, and
/// where nothing is there.
pub fn gap_above(root: &Path, path: &RepoPath) -> Option<RepoPath> {
    let place = |path: &RepoPath| root.join(path.to_path());
    if can_be_read(&place(path)) {
        return None;
    }
    for folder in path.folders_above() {
        match place(&folder).symlink_metadata() {
            Ok(meta) if meta.is_dir() && can_be_read(&place(&folder).join(".")) => {}
            Ok(meta) if meta.is_dir() => return Some(folder),
            // A link: what it leads to is not at the path.
            Ok(_) | Err(_) => return None,
        }
    }
    Some(path.clone())
}

/// As [`can_be_read`], to the last byte.
pub(crate) fn reads_through(place: &Path) -> bool {
    try_it(place, |mut file| {
        let mut part = vec![0; PART];
        while io::Read::read(&mut file, &mut part)? > 0 {}
        Ok(())
    })
}

fn try_it(place: &Path, read: impl Fn(std::fs::File) -> io::Result<()>) -> bool {
    let tried = std::fs::symlink_metadata(place).and_then(|meta| match meta.file_type() {
        kind if kind.is_symlink() => std::fs::read_link(place).map(drop),
        kind if kind.is_file() => {
            // Does not follow a link, and does not block if the file is a fifo by now.
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            files::open_at(CWD, place, flags, Mode::empty()).map_err(io::Error::from).and_then(|file| read(file.into()))
        }
        _ => Ok(()),
    });
    !tried.is_err_and(|error| is_gap(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_that_cannot_be_read_is_a_gap_and_a_limit_of_all_is_an_error() {
        use rustix::io::Errno;
        let gap = |errno: Errno| is_gap(&io::Error::from(errno));
        let places = [Errno::ACCESS, Errno::PERM, Errno::IO, Errno::STALE, Errno::NOTCONN, Errno::TIMEDOUT, Errno::NOKEY];
        assert!(places.into_iter().all(gap));
        let all = [Errno::NOENT, Errno::NOTDIR, Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOSPC, Errno::DQUOT];
        assert!(!all.into_iter().any(gap));
    }

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn a_path_is_kept_from_being_read_by_the_topmost_folder_that_cannot_be_entered() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let place = |path: &str| dir.path().join(path);
        std::fs::create_dir_all(place("shut/in")).unwrap();
        ["shut/in/x", "alone", "open"].iter().for_each(|path| std::fs::write(place(path), "x").unwrap());
        symlink("shut", place("link")).unwrap();
        let set = |path: &str, mode| std::fs::set_permissions(place(path), std::fs::Permissions::from_mode(mode)).unwrap();
        ["alone", "shut/in", "shut"].iter().for_each(|path| set(path, 0));
        crate::bound::bound_by_permissions(|| {
            for (path, gap) in [
                ("open", None),
                ("missing/x", None),
                ("open/x", None),
                ("shut", None),
                ("alone", Some("alone")),
                ("shut/y", Some("shut")),
                ("shut/in/x", Some("shut")),
                ("link/y", None),
            ] {
                assert_eq!(gap_above(dir.path(), &RepoPath::new(path)), gap.map(RepoPath::new), "{path}");
            }
        });
        ["shut", "shut/in"].iter().for_each(|path| set(path, 0o700));
    }
}
