//! Waiting for events: signals, threads that ring, folders in which something changes, for at most a given time. A watch only
//! saves looks: where none can be had (another system, none left, a folder that was replaced), the waiting is short, and the
//! caller looks as often as it would without.

use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use axiom_base::error::{Code, Error, Result};
use axiom_base::platform;
pub use axiom_base::platform::FolderTrigger;

/// The longest wait: not every change can be watched, and a watch may be silent.
pub const LONGEST: Duration = Duration::from_secs(1);

/// What wakes the waiting process.
#[derive(Debug)]
pub struct WakeListener {
    heard: UnixStream,
    rope: UnixStream,
    watches: Option<OwnedFd>,
    folders: Vec<WatchedFolder>,
}

/// A folder that is to be watched.
#[derive(Debug)]
struct WatchedFolder {
    path: PathBuf,
    what: FolderTrigger,
    watch: Option<i32>,
}

/// What a wait heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WakeOutcome {
    /// Whether something rang, as far as that is known.
    pub rang: bool,
    /// The terminal.
    pub input: TerminalInput,
}

/// What became of a terminal during a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalInput {
    /// Nobody typed.
    Nothing,
    /// Something can be read, or its end.
    Ready,
    /// It was closed.
    Gone,
}

/// Rings from another thread.
#[derive(Debug)]
pub struct WakeSender(UnixStream);

impl WakeSender {
    /// The same, for one more thread.
    pub fn another(&self) -> Option<Self> {
        self.0.try_clone().ok().map(Self)
    }

    /// Wakes the waiting thread, or the one that waits next.
    pub fn ring(&self) {
        // Where it is full, it rings already.
        let _ = (&self.0).write(&[1]);
    }
}

impl WakeListener {
    /// A bell that nothing rings yet.
    pub fn new() -> Result<Self> {
        let pair = UnixStream::pair().and_then(|(heard, rope)| {
            heard.set_nonblocking(true)?;
            rope.set_nonblocking(true)?;
            Ok((heard, rope))
        });
        let (heard, rope) = pair.map_err(|e| failed().because(e))?;
        Ok(Self { heard, rope, watches: platform::start_watching(), folders: Vec::new() })
    }

    /// From now on a signal rings.
    pub fn ring_on(&self, signal: i32) -> Result<()> {
        let rope = self.rope.try_clone().map_err(|e| failed().because(e))?;
        signal_hook::low_level::pipe::register(signal, rope).map(drop).map_err(|e| failed().because(e))
    }

    /// For another thread.
    pub fn rope(&self) -> Result<WakeSender> {
        self.rope.try_clone().map(WakeSender).map_err(|e| failed().because(e))
    }

    /// From now on changes of these folders ring, and of no others. Returns whether all were watched before: see
    /// [`WakeListener::watch_again`].
    pub fn watch_only(&mut self, wanted: Vec<(PathBuf, FolderTrigger)>) -> bool {
        let before = std::mem::take(&mut self.folders);
        for (path, what) in wanted {
            let known = before.iter().find(|folder| (&folder.path, folder.what) == (&path, what));
            self.folders.push(WatchedFolder { watch: known.and_then(|folder| folder.watch), path, what });
        }
        let is_kept = |watch: i32| self.folders.iter().any(|folder| folder.watch == Some(watch));
        for (watches, watch) in before.iter().filter_map(|folder| self.watches.as_ref().zip(folder.watch)) {
            if !is_kept(watch) {
                platform::forget_watch(watches, watch);
            }
        }
        self.watch_again()
    }

    /// Watches what is not watched: what was replaced since, or could not be watched. Returns whether all was watched before
    /// already: if not, something may have changed unseen, so look once more before a long wait.
    pub fn watch_again(&mut self) -> bool {
        let Some(watches) = &self.watches else { return self.folders.is_empty() };
        let mut all = true;
        for folder in &mut self.folders {
            // Of the same folder it is the same watch; a folder in its place is another one.
            let watch = platform::watch_folder(watches, &folder.path, folder.what);
            if watch.is_some() && watch == folder.watch {
                continue;
            }
            if let Some(old) = folder.watch.take() {
                platform::forget_watch(watches, old);
            }
            folder.watch = watch;
            all = false;
        }
        all
    }

    /// Waits until something rings, at most this long, and never longer than [`LONGEST`]. Returns whether something rang, as
    /// far as that is known.
    pub fn wait(&mut self, most: Duration) -> bool {
        self.wait_or_read(most, None).rang
    }

    /// As [`WakeListener::wait`]; what can be read from a terminal ends the wait too.
    pub fn wait_or_read(&mut self, most: Duration, input: Option<BorrowedFd<'_>>) -> WakeOutcome {
        let most = most.min(LONGEST);
        let timeout =
            Timespec { tv_sec: i64::try_from(most.as_secs()).unwrap_or(i64::MAX), tv_nsec: i64::from(most.subsec_nanos()) };
        let mut polled = vec![PollFd::from_borrowed_fd(self.heard.as_fd(), PollFlags::IN)];
        polled.extend(self.watches.iter().map(|watches| PollFd::from_borrowed_fd(watches.as_fd(), PollFlags::IN)));
        let own = polled.len();
        polled.extend(input.map(|input| PollFd::from_borrowed_fd(input, PollFlags::IN)));
        if poll(&mut polled, Some(&timeout)).is_err() {
            // A signal came, and rings too; or nothing can be waited for.
            return WakeOutcome { rang: false, input: TerminalInput::Nothing };
        }
        let of_input = polled.get(own).map_or(PollFlags::empty(), PollFd::revents);
        let rang = polled.iter().take(own).any(|fd| !fd.revents().is_empty());
        let mut bytes = [0; 256];
        while matches!((&self.heard).read(&mut bytes), Ok(1..)) {}
        self.watches.iter().for_each(platform::hear_nothing);
        let input = match of_input {
            flags if flags.contains(PollFlags::IN) => TerminalInput::Ready,
            flags if flags.is_empty() => TerminalInput::Nothing,
            _ => TerminalInput::Gone,
        };
        WakeOutcome { rang, input }
    }
}

fn failed() -> Error {
    Error::new(Code::IoFailed, "cannot wait for events")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use std::time::Instant;

    use super::*;

    /// Whether it rings when `work` is done, and not before.
    fn rings(bell: &mut WakeListener, work: impl FnOnce()) -> bool {
        bell.wait(Duration::ZERO);
        let quiet = Instant::now();
        bell.wait(Duration::from_millis(30));
        assert!(quiet.elapsed() >= Duration::from_millis(30), "it rings for nothing");
        work();
        let begun = Instant::now();
        bell.wait(LONGEST);
        begun.elapsed() < LONGEST
    }

    #[test]
    fn threads_and_folders_ring() {
        if !platform::TELLS_CHANGES {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let (inbox, workspace) = (dir.path().join("inbox"), dir.path().join("workspace"));
        std::fs::create_dir(&inbox).unwrap();
        std::fs::create_dir(&workspace).unwrap();
        std::fs::write(workspace.join(".git"), "").unwrap();
        let mut bell = WakeListener::new().unwrap();
        let rope = bell.rope().unwrap();
        let folders = || vec![(inbox.clone(), FolderTrigger::Comes), (workspace.clone(), FolderTrigger::Goes)];
        assert!(!bell.watch_only(folders()) && bell.watch_only(folders()));
        assert!(rings(&mut bell, || rope.ring()));
        assert!(rings(&mut bell, || std::fs::write(inbox.join("one"), "").unwrap()));
        assert!(rings(&mut bell, || std::fs::rename(workspace.join(".git"), dir.path().join("moved")).unwrap()));
        for _ in 0..100_000 {
            rope.ring();
        }
        assert!(rings(&mut bell, || rope.ring()), "a flood of rings is heard once");
    }

    #[test]
    fn a_folder_that_is_replaced_is_watched_again() {
        if !platform::TELLS_CHANGES {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let inbox = dir.path().join("inbox");
        let mut bell = WakeListener::new().unwrap();
        assert!(!bell.watch_only(vec![(inbox.clone(), FolderTrigger::Comes)]), "it is not there yet");
        std::fs::create_dir(&inbox).unwrap();
        assert!(!bell.watch_again(), "something may have come before it was watched");
        assert!(bell.watch_again());
        assert!(rings(&mut bell, || std::fs::rename(&inbox, dir.path().join("old")).unwrap()));
        assert!(!bell.watch_again());
        // Perhaps with the number of the one before.
        for _ in 0..3 {
            std::fs::create_dir(&inbox).unwrap();
            assert!(!bell.watch_again());
            assert!(bell.watch_again());
            assert!(rings(&mut bell, || std::fs::remove_dir(&inbox).unwrap()));
        }
        std::fs::create_dir(&inbox).unwrap();
        assert!(!bell.watch_again() && bell.watch_again());
        assert!(rings(&mut bell, || std::fs::write(inbox.join("one"), "").unwrap()));
    }

    #[test]
    fn only_what_is_wanted_rings() {
        if !platform::TELLS_CHANGES {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| dir.path().join(name));
        [&one, &two].into_iter().for_each(|path| std::fs::create_dir(path).unwrap());
        let log = one.join("log");
        std::fs::write(&log, "").unwrap();
        let mut bell = WakeListener::new().unwrap();
        let append =
            || std::io::Write::write_all(&mut std::fs::OpenOptions::new().append(true).open(&log).unwrap(), b"x").unwrap();
        let both = || vec![(one.clone(), FolderTrigger::Changes), (two.clone(), FolderTrigger::Changes)];
        assert!(!bell.watch_only(both()) && bell.watch_only(both()));
        assert!(rings(&mut bell, append) && rings(&mut bell, || std::fs::write(two.join("x"), "").unwrap()));
        assert!(bell.watch_only(vec![(one.clone(), FolderTrigger::Changes)]));
        std::fs::write(two.join("y"), "").unwrap();
        assert!(rings(&mut bell, append), "and not before");
        assert!(!bell.watch_only(vec![(dir.path().join("none"), FolderTrigger::Changes)]));
        // The end of a watch rings too.
        bell.wait(Duration::ZERO);
        append();
        let begun = Instant::now();
        bell.wait(Duration::from_millis(30));
        assert!(begun.elapsed() >= Duration::from_millis(30));
    }

    #[test]
    fn a_file_rings_when_the_last_of_those_who_could_write_to_it_closes_it() {
        if !platform::TELLS_CHANGES {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let lock = dir.path().join("lock");
        let mut bell = WakeListener::new().unwrap();
        let folder = || vec![(dir.path().to_owned(), FolderTrigger::Closes)];
        let file = std::fs::File::create(&lock).unwrap();
        assert!(!bell.watch_only(folder()) && bell.watch_only(folder()));
        let copy = file.try_clone().unwrap();
        assert!(!rings(&mut bell, || drop(std::fs::File::open(&lock).unwrap())), "who only looks wakes nobody");
        assert!(!rings(&mut bell, || drop(file)), "another process still has it");
        assert!(rings(&mut bell, || drop(copy)));
    }
}
