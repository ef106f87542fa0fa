//! Whether the machine lets us read what is at one place, and what it means where it does not.

use std::io;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};

use crate::error::{Error, is_everybodys_limit};
use crate::files;

/// How much is read at once of a file that is only tried.
const PART: usize = 1024 * 1024;

/// Whether an error says that this one place cannot be read: not that nothing is there, and not that this process or the
/// machine is at a limit, which would make a gap of everything.
pub(in crate::git) fn is_gap(error: &io::Error) -> bool {
    !files::says_nothing_is_there(error) && !is_everybodys_limit(error)
}

/// Whether an error was caused by one place that cannot be read.
pub(in crate::git) fn is_caused_by_gap(error: &Error) -> bool {
    error.io_cause().is_some_and(is_gap)
}

/// Whether a file can be opened, or a link be read. Also true for what is missing, and for other kinds: those are not read.
pub(in crate::git) fn can_be_read(place: &Path) -> bool {
    try_it(place, |_| Ok(()))
}

/// As [`can_be_read`], to the last byte.
pub(in crate::git) fn reads_through(place: &Path) -> bool {
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
}
