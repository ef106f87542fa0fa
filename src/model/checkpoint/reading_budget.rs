//! What a capture reads while a program waits for it: tracked files first, then untracked ones, the smallest first, as far as the time
//! allows. Pure: whoever reads measures.
//!
//! In each rank, what comes after the first that does not fit is larger, so it does not fit either.

use std::time::Duration;

/// So much is read of each kind however late it is: it takes no time that matters, and most of what people write by hand is in it.
const ALWAYS: FileAmount = FileAmount { files: 100, bytes: 4 * 1024 * 1024 };

/// What a file takes where nothing was measured yet, whatever is in it.
const A_FILE: Duration = Duration::from_micros(200);
/// The same for a megabyte.
const A_MEGABYTE: Duration = Duration::from_millis(25);
/// Less than this says nothing of how fast the machine is.
const TELLS: Duration = Duration::from_millis(100);
/// At most so much is read before the clock is looked at again.
const AT_ONCE: Duration = Duration::from_millis(500);
/// How much faster than expected a machine is at most taken for.
const FASTEST: f64 = 0.1;

/// The part of a deadline that is for reading: the rest is for what was found to be written, synced and named.
pub fn for_reading(deadline: Duration) -> Duration {
    deadline * 3 / 5
}

/// The part of files with some property.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct FileAmount {
    files: u64,
    bytes: u64,
}

impl FileAmount {
    fn and(self, bytes: u64) -> Self {
        Self { files: self.files + 1, bytes: self.bytes.saturating_add(bytes) }
    }

    /// What it takes on a machine of which nothing is known.
    fn assumed(self) -> Duration {
        A_FILE
            .saturating_mul(u32::try_from(self.files).unwrap_or(u32::MAX))
            .saturating_add(A_MEGABYTE.mul_f64(self.bytes as f64 / (1024.0 * 1024.0)))
    }
}

/// How far the reading of one kind of files has come, and how long that took.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadingPace {
    done: FileAmount,
    took: Duration,
    /// Whether something of this rank was read.
    is_begun: bool,
}

impl ReadingPace {
    /// How many of the files that are left, in the order of [`ordered`], are to be read next, where so much time is left. 0: nothing more
    /// fits.
    pub fn next(&self, sizes: &[u64], left: Duration) -> usize {
        if !self.is_begun {
            let always = fitting(sizes, |amount| amount.files <= ALWAYS.files && amount.bytes <= ALWAYS.bytes);
            if always > 0 {
                return always;
            }
        }
        let at_once = AT_ONCE.min(left / 2);
        let several = fitting(sizes, |amount| self.expected(amount) <= at_once);
        let one = || fitting(sizes.get(..1).unwrap_or_default(), |amount| self.expected(amount) <= left);
        if several > 0 { several } else { one() }
    }

    /// Files of another rank come.
    pub fn begins(&mut self) {
        self.is_begun = false;
    }

    /// Notes what was read, and how long it took.
    pub fn took(&mut self, sizes: &[u64], time: Duration) {
        self.is_begun = true;
        self.done = sizes.iter().fold(self.done, |done, bytes| done.and(*bytes));
        self.took += time;
    }

    fn expected(&self, amount: FileAmount) -> Duration {
        let known = self.done.assumed();
        let factor = if known < TELLS { 1.0 } else { (self.took.as_secs_f64() / known.as_secs_f64()).max(FASTEST) };
        amount.assumed().mul_f64(factor)
    }
}

/// How many of the first ones together are what `fits` says.
fn fitting(sizes: &[u64], fits: impl Fn(FileAmount) -> bool) -> usize {
    let mut all = FileAmount::default();
    sizes
        .iter()
        .take_while(|bytes| {
            all = all.and(**bytes);
            fits(all)
        })
        .count()
}

/// Files in the order in which they are read, the ranks apart: in each the smallest first, then by name.
pub fn ordered<T: Ord>(files: impl IntoIterator<Item = T>, place: impl Fn(&T) -> (ReadingPriority, u64)) -> Vec<Vec<(T, u64)>> {
    let mut all: Vec<(ReadingPriority, u64, T)> = files
        .into_iter()
        .map(|file| {
            let (rank, bytes) = place(&file);
            (rank, bytes, file)
        })
        .collect();
    all.sort();
    let mut ranks: Vec<(ReadingPriority, Vec<(T, u64)>)> = Vec::new();
    for (rank, bytes, file) in all {
        match ranks.last_mut().filter(|(last, _)| *last == rank) {
            Some((_, same)) => same.push((file, bytes)),
            None => ranks.push((rank, vec![(file, bytes)])),
        }
    }
    ranks.into_iter().map(|(_, files)| files).collect()
}

/// What comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadingPriority {
    /// What git tracks.
    Tracked,
    /// What is about to be changed by a command that names it.
    Named,
    /// What git does not track.
    Untracked,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1024 * 1024;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn tracked_files_come_first_and_the_smallest_of_each_kind() {
        let all = [
            ("b", ReadingPriority::Untracked, 1),
            ("c", ReadingPriority::Tracked, 9),
            ("d", ReadingPriority::Tracked, 2),
            ("a", ReadingPriority::Untracked, 1),
            ("n", ReadingPriority::Named, 5),
        ];
        let order = ordered(all, |(_, rank, bytes)| (*rank, *bytes));
        let names = |rank: &Vec<((&'static str, ReadingPriority, u64), u64)>| {
            rank.iter().map(|((name, ..), _)| *name).collect::<String>()
        };
        assert_eq!(order.iter().map(names).collect::<Vec<_>>(), ["dc", "n", "ab"]);
        assert_eq!(order[0][0].1, 2);
    }

    #[test]
    fn a_few_small_files_are_read_however_late_it_is_and_nothing_else() {
        let pace = ReadingPace::default();
        assert_eq!(pace.next(&[0, 10, MB, 2 * MB, 2 * MB], Duration::ZERO), 4);
        assert_eq!(pace.next(&[0; 1000], Duration::ZERO), 100);
        assert_eq!(pace.next(&[5 * MB, 6 * MB], Duration::ZERO), 0);
        let mut late = pace;
        late.took(&[0; 100], Duration::from_millis(1));
        assert_eq!(late.next(&[0; 900], Duration::ZERO), 0);
        assert_eq!(late.next(&[], seconds(9)), 0);
        // A few of the next rank, whatever became of this one.
        late.begins();
        assert_eq!(late.next(&[0; 900], Duration::ZERO), 100);
    }

    #[test]
    fn what_does_not_fit_is_not_begun() {
        let mut pace = ReadingPace::default();
        // 48 MB take more than a second, as far as is known.
        assert_eq!((pace.next(&[48 * MB], seconds(1)), pace.next(&[48 * MB], seconds(2))), (0, 1));
        // Then it is seen how fast the machine is.
        pace.took(&[48 * MB], seconds(4));
        assert_eq!((pace.next(&[48 * MB], seconds(3)), pace.next(&[48 * MB], seconds(5))), (0, 1));
        let mut fast = ReadingPace::default();
        fast.took(&[48 * MB], Duration::from_millis(200));
        assert_eq!(fast.next(&[48 * MB], Duration::from_millis(500)), 1);
        assert!(
            ReadingPace { took: Duration::ZERO, ..fast }.expected(FileAmount { files: 1, bytes: 100 * MB })
                > Duration::from_millis(100)
        );
    }

    #[test]
    fn the_clock_is_looked_at_again_and_again() {
        let (mut pace, sizes) = (ReadingPace::default(), vec![MB; 2000]);
        let (mut at, mut left, mut parts) = (0, seconds(6), 0);
        loop {
            let next = pace.next(&sizes[at..], left);
            if next == 0 {
                break;
            }
            // A machine that takes twice what is expected.
            let time = FileAmount { files: next as u64, bytes: next as u64 * MB }.assumed() * 2;
            assert!(time <= left, "{next} of {at} take {time:?} of {left:?}");
            pace.took(&sizes[at..at + next], time);
            (at, left, parts) = (at + next, left - time, parts + 1);
        }
        assert!((100..130).contains(&at) && parts > 5, "{at} in {parts}");
        assert!(for_reading(seconds(10)) < seconds(7));
    }
}
