//! Older snapshots, `state/anchor-<seq>.json`: from one of them on, the newest part of the log can be folded without reading
//! what is before it.
//!
//! Each was the snapshot once; its file only has a second name. The newer an event, the nearer is the anchor before it, so their
//! number grows with the logarithm of the log. Losing them costs time, never data.

use std::path::{Path, PathBuf};

use crate::layout::StoreLayout;
use axiom_base::error::Result;
use axiom_base::{env, files};

/// How many events are at least between two of them. Few in debug builds, so that tests have some.
const APART: u64 = if cfg!(debug_assertions) { 24 } else { 1000 };

/// An anchor is superfluous if the one before it is at most so many times as far away as the one after it.
const WIDENING: u64 = 4;

/// The numbers of the events after which there is an anchor, newest first.
pub fn all(layout: &StoreLayout) -> Result<Vec<u64>> {
    let entries = files::list(&layout.state_dir())?;
    let mut found: Vec<u64> = entries.into_iter().filter_map(|entry| number(&entry.path())).collect();
    found.sort_unstable_by(|one, other| other.cmp(one));
    Ok(found)
}

/// The number in the name of such a file.
pub(crate) fn number(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix("anchor-")?.strip_suffix(".json")?.parse().ok()
}

/// The file of the anchor after event `seq`.
pub(super) fn path(layout: &StoreLayout, seq: u64) -> PathBuf {
    layout.state_dir().join(format!("anchor-{seq:020}.json"))
}

/// Keeps the snapshot of event `seq` as an anchor if the newest one is far enough away, and removes those that became
/// superfluous. The caller holds the snapshot lock and has just written that snapshot. A crash leaves one more or one less.
pub fn keep(layout: &StoreLayout, seq: u64) -> Result<()> {
    let mut anchors = all(layout)?;
    if anchors.first().is_some_and(|newest| seq < newest + APART) {
        return Ok(());
    }
    env::fault_point("store.before-anchor");
    // Where there are no hard links, there are no anchors: a copy of each would be written and synced in vain.
    files::hard_link(&layout.snapshot(), &path(layout, seq))?;
    anchors.insert(0, seq);
    for superfluous in superfluous(&anchors) {
        files::remove_file(&path(layout, superfluous))?;
    }
    Ok(())
}

/// Which of these anchors, newest first, are not needed any more. The newest and the oldest always are.
fn superfluous(anchors: &[u64]) -> Vec<u64> {
    let Some(now) = anchors.first() else { return Vec::new() };
    let mut last_kept = *now;
    let mut found = Vec::new();
    for pair in anchors.windows(2).skip(1) {
        let (one, before) = (pair[0], pair[1]);
        if now - before <= WIDENING * (now - last_kept) {
            found.push(one);
        } else {
            last_kept = one;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The anchors after so many events, with a chance for one every `step` events.
    fn after(events: u64, step: u64) -> Vec<u64> {
        let mut anchors: Vec<u64> = Vec::new();
        for seq in (step..=events).step_by(step as usize) {
            anchors.insert(0, seq);
            let gone = superfluous(&anchors);
            anchors.retain(|seq| !gone.contains(seq));
        }
        anchors
    }

    #[test]
    fn there_are_few_and_one_is_never_much_farther_away_than_needed() {
        for events in [1, 2, 3, 10, 100, 1000, 10_000, 50_001] {
            let anchors = after(events, 1);
            assert!(anchors.len() <= 3 + 2 * events.ilog(WIDENING) as usize, "{events}: {anchors:?}");
            assert_eq!((anchors.first(), anchors.last()), (Some(&events), Some(&1)), "{events}");
            for pair in anchors.windows(2).skip(1) {
                let (near, far) = (events - pair[0], events - pair[1]);
                assert!(far <= 2 * WIDENING * near, "{events}: {anchors:?}");
            }
        }
    }

    #[test]
    fn a_number_is_read_from_its_own_names_only() {
        let layout = StoreLayout::new(Path::new("/x"));
        assert_eq!(number(&path(&layout, 7)), Some(7));
        assert_eq!(number(&layout.snapshot()), None);
        assert_eq!(number(Path::new("anchor-7.json.tmp")), None);
    }
}
