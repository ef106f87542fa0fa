//! Whether a checkpoint that the state knows can still be restored: from its ref, its data, and what a rewrite of the history says.
//! Pure. `list`, `verify` and `recover` say the same of it.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::base::names::Oid;

/// How a checkpoint stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckpointAvailability {
    /// Its ref names it.
    There,
    /// Its ref is gone, and all that it held is there: the ref can be made again.
    RefGone,
    /// A rewrite of the history has put something else in its place, or has taken it away.
    Rewritten,
    /// Ref and data are gone.
    Gone,
}

impl CheckpointAvailability {
    /// Of a checkpoint with this capture: what its ref names now, whether all of the capture is there, and whether a rewrite says that
    /// the capture became something else.
    pub fn of(capture: &Oid, now: Option<&Oid>, is_whole: bool, is_rewritten: bool) -> Self {
        match now {
            Some(now) if now == capture => Self::There,
            Some(_) => Self::Rewritten,
            None if is_rewritten => Self::Rewritten,
            None if is_whole => Self::RefGone,
            None => Self::Gone,
        }
    }

    /// Whether nothing of the checkpoint can be restored any more.
    pub fn is_ended(self) -> bool {
        matches!(self, Self::Rewritten | Self::Gone)
    }

    /// Why it cannot be restored as it is, in a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::There => "is there",
            Self::RefGone => "its ref is gone; 'git axiom checkpoint verify --repair' makes it again",
            Self::Rewritten => "ended by a rewrite of the history",
            Self::Gone => "its data is gone",
        }
    }
}

/// The commits that a rewrite has made something else of, from lines `old new`, as `git filter-repo` leaves them in `commit-map`.
pub fn rewritten_in(map: &str) -> BTreeSet<Oid> {
    let lines = map.lines().filter_map(|line| line.trim().split_once(' ')).filter(|(old, new)| old != new);
    lines.filter_map(|(old, _)| Oid::new(old).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_ends_by_a_rewrite_or_by_losing_its_data_and_not_by_losing_its_ref() {
        let (capture, other) = (Oid::new("1".repeat(40)).unwrap(), Oid::new("2".repeat(40)).unwrap());
        let table = [
            (Some(&capture), true, false, CheckpointAvailability::There),
            (Some(&capture), false, true, CheckpointAvailability::There),
            (Some(&other), true, false, CheckpointAvailability::Rewritten),
            (None, true, false, CheckpointAvailability::RefGone),
            (None, true, true, CheckpointAvailability::Rewritten),
            (None, false, true, CheckpointAvailability::Rewritten),
            (None, false, false, CheckpointAvailability::Gone),
        ];
        for (now, is_whole, is_rewritten, standing) in table {
            assert_eq!(
                CheckpointAvailability::of(&capture, now, is_whole, is_rewritten),
                standing,
                "{now:?} {is_whole} {is_rewritten}"
            );
        }
    }

    #[test]
    fn a_map_of_a_rewrite_names_what_became_something_else() {
        let [one, two, none] = ["1", "2", "0"].map(|digit| digit.repeat(40));
        let map = format!("old                                      new\n{one} {two}\n{two} {two}\n{} {none}\n", "3".repeat(40));
        let found: Vec<String> = rewritten_in(&map).iter().map(ToString::to_string).collect();
        assert_eq!(found, [one, "3".repeat(40)]);
    }
}
