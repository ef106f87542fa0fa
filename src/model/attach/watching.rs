//! When a watch saves, what, and how much of the system it may use. Pure: moments are spans since the watch began.

use std::collections::BTreeSet;
use std::time::Duration;

use super::act::DeferredSave;

/// How long nothing has to change before files count as settled.
pub const QUIET: Duration = Duration::from_secs(1);
/// How long is waited for that at most.
const LONGEST: Duration = Duration::from_secs(10);
/// With more paths than this, everything is looked at.
const MOST: usize = 500;
/// A scan takes at most this part of a core.
const PART: u32 = 200;
/// The bounds of the pause between two scans.
const PAUSES: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(600));

/// What has changed since it was handed over the last time.
#[derive(Debug, Default)]
pub struct PendingWatchChanges {
    what: PendingWatchScope,
    /// When the first and the last change was seen.
    seen: Option<(Duration, Duration)>,
}

#[derive(Debug, Default)]
enum PendingWatchScope {
    #[default]
    Nothing,
    Paths(BTreeSet<String>),
    Everything,
}

impl PendingWatchChanges {
    /// A path changed; a folder stands for all that is below it.
    pub fn path(&mut self, path: String, now: Duration) {
        match &mut self.what {
            PendingWatchScope::Nothing => self.what = PendingWatchScope::Paths(BTreeSet::from([path])),
            PendingWatchScope::Paths(paths) => {
                paths.insert(path);
                if paths.len() > MOST {
                    self.what = PendingWatchScope::Everything;
                }
            }
            PendingWatchScope::Everything => {}
        }
        self.changed(now);
    }

    /// Anything may have changed.
    pub fn everything(&mut self, now: Duration) {
        self.what = PendingWatchScope::Everything;
        self.changed(now);
    }

    fn changed(&mut self, now: Duration) {
        let first = self.seen.map_or(now, |(first, _)| first);
        self.seen = Some((first, now));
    }

    /// When the files have settled; `None` where nothing changed.
    pub fn due(&self) -> Option<Duration> {
        self.seen.map(|(first, last)| (last + QUIET).min(first + LONGEST))
    }

    /// The paths that are named, where not everything has to be looked at.
    pub fn paths(&self) -> Option<&BTreeSet<String>> {
        match &self.what {
            PendingWatchScope::Paths(paths) => Some(paths),
            PendingWatchScope::Nothing | PendingWatchScope::Everything => None,
        }
    }

    /// What is to be saved, but for the paths that are not `wanted`; `None` where nothing is left.
    pub fn later(&self, wanted: impl Fn(&str) -> bool) -> Option<DeferredSave> {
        match &self.what {
            PendingWatchScope::Nothing => None,
            PendingWatchScope::Everything => Some(DeferredSave::Anything),
            PendingWatchScope::Paths(paths) => {
                let paths: Vec<String> = paths.iter().filter(|path| wanted(path)).cloned().collect();
                (!paths.is_empty()).then_some(DeferredSave::Edited { paths })
            }
        }
    }
}

/// How many folders a watch may watch: a quarter of what the system allows the user, together with the other watches of the repository.
pub fn allowance(of_user: u64, of_others: u64) -> usize {
    usize::try_from((of_user / 4).saturating_sub(of_others)).unwrap_or(usize::MAX)
}

/// The pause before the next scan, by what the last one took.
pub fn pause(took: Duration) -> Duration {
    took.saturating_mul(PART).clamp(PAUSES.0, PAUSES.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn files_have_settled_after_a_quiet_second_and_at_the_latest_after_ten() {
        let mut pending = PendingWatchChanges::default();
        assert_eq!(pending.due(), None);
        pending.path("a".into(), at(5));
        assert_eq!(pending.due(), Some(at(6)));
        (6..=14).for_each(|second| pending.path("a".into(), at(second)));
        assert_eq!(pending.due(), Some(at(15)));
        pending.everything(at(100));
        assert_eq!(pending.due(), Some(at(15)));
    }

    #[test]
    fn what_is_not_wanted_is_not_saved_and_too_many_paths_are_everything() {
        let mut pending = PendingWatchChanges::default();
        assert_eq!(pending.later(|_| true), None);
        ["b", "a", "b"].into_iter().for_each(|path| pending.path(path.into(), at(0)));
        assert_eq!(pending.later(|_| true), Some(DeferredSave::Edited { paths: vec!["a".into(), "b".into()] }));
        assert_eq!(pending.later(|path| path == "b"), Some(DeferredSave::Edited { paths: vec!["b".into()] }));
        assert_eq!(pending.later(|_| false), None);
        (0..MOST - 2).for_each(|number| pending.path(number.to_string(), at(0)));
        assert_eq!(pending.paths().unwrap().len(), MOST);
        pending.path("one more".into(), at(0));
        assert!(pending.paths().is_none());
        assert_eq!(pending.later(|_| false), Some(DeferredSave::Anything));
        pending.path("a".into(), at(0));
        assert_eq!(pending.later(|_| false), Some(DeferredSave::Anything));
    }

    #[test]
    fn a_quarter_of_the_watches_and_half_a_hundredth_of_a_core() {
        assert_eq!(allowance(8192, 0), 2048);
        assert_eq!(allowance(8192, 2000), 48);
        assert_eq!(allowance(8192, 4000), 0);
        assert_eq!(pause(Duration::ZERO), at(2));
        assert_eq!(pause(Duration::from_millis(100)), at(20));
        assert_eq!(pause(at(60)), at(600));
    }
}
