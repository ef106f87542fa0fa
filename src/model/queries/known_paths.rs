//! Checkpoints of known paths: the caller names the paths that changed, only those are looked at, and the rest is taken from
//! a complete checkpoint. Pure: which checkpoint that is, and which content comes from where.

use crate::checkpoint::record::{CheckpointRecord, newest_complete, newest_on};

use crate::base::names::RepoPath;
use crate::base::path_set::PathSet;
use crate::checkpoint::coverage::{CaptureCoverage, LISTED, PathSample};
use crate::checkpoint::trigger::CheckpointTrigger;
use crate::state::current_state::State;

/// The checkpoints that a checkpoint of known paths can be built on.
#[derive(Debug, Clone, Copy)]
pub struct KnownPathsBase<'s> {
    /// The newest complete checkpoint.
    pub complete: &'s CheckpointRecord,
    /// The newest one that was built on it. Its paths are looked at again, so that what it recorded is not lost.
    pub last: Option<&'s CheckpointRecord>,
}

/// The checkpoints to build on, or in words why everything has to be looked at.
pub fn base(state: &State) -> Result<KnownPathsBase<'_>, String> {
    // Both are always among the recent ones: see `older::divide`.
    let recent = || state.record.checkpoints.recent();
    let Some(complete) = newest_complete(recent()) else {
        return Err("there is no complete checkpoint yet to take the rest from".to_owned());
    };
    if changes_files_next(complete.trigger) {
        return Err(format!("files were changed by git axiom itself after the newest complete checkpoint, {}", complete.name));
    }
    Ok(KnownPathsBase { complete, last: newest_on(recent(), complete) })
}

/// Whether git axiom itself changes files after such a checkpoint, at paths that no caller names. (A merge changes files
/// too, but it also changes the index, and that is seen.)
fn changes_files_next(trigger: CheckpointTrigger) -> bool {
    // A cleanup removes checkpoints, and no files.
    crate::checkpoint::trigger::is_safety(trigger) && trigger != CheckpointTrigger::BeforeCleanup
}

/// All differences from the index: for the paths that were looked at, those that were seen; for the rest, those of the base
/// capture. `then` are the differences of the base capture's files from the current index. Ordered by path.
pub fn together<T>(then: Vec<T>, looked_at: &PathSet, seen: Vec<T>, path: impl Fn(&T) -> &RepoPath) -> Vec<T> {
    let mut all: Vec<T> = then.into_iter().filter(|one| !looked_at.covers(path(one))).collect();
    all.extend(seen);
    all.sort_by(|one, other| path(one).cmp(path(other)));
    all
}

/// All that is not held: for the paths that were looked at, what was seen; for the rest, what the base capture did not hold.
/// `is_there` decides whether a path still exists.
pub fn held_else(
    then: &CaptureCoverage,
    looked_at: &PathSet,
    seen: CaptureCoverage,
    is_there: impl Fn(&RepoPath) -> bool,
) -> CaptureCoverage {
    let join = |then: &PathSample, seen: PathSample| {
        let new = PathSet::new(seen.paths.iter().cloned());
        let goes =
            |path: &&RepoPath| looked_at.covers(path) || new.covers(path) || (looked_at.has_below(path) && !is_there(path));
        let (gone, mut paths): (Vec<&RepoPath>, Vec<&RepoPath>) = then.paths.iter().partition(goes);
        let count = then.count - gone.len() as u64 + seen.count;
        paths.extend(&seen.paths);
        paths.sort();
        PathSample { count, paths: paths.into_iter().take(LISTED).cloned().collect() }
    };
    let CaptureCoverage { ignored, nested_repositories, dirty_submodules, too_large, special, .. } = seen;
    let CaptureCoverage { unreadable, refused_names, converted, excluded, purged, over_include_limit, included, .. } = seen;
    let CaptureCoverage {
        git_directories, missing, not_captured, only, unfiltered, encrypted, not_in_time, others_may_read, ..
    } = seen;
    // The index is always the present one.
    let CaptureCoverage { staged_not_held, .. } = seen;
    CaptureCoverage {
        ignored: join(&then.ignored, ignored),
        nested_repositories: join(&then.nested_repositories, nested_repositories),
        dirty_submodules: join(&then.dirty_submodules, dirty_submodules),
        too_large: join(&then.too_large, too_large),
        special: join(&then.special, special),
        unreadable: join(&then.unreadable, unreadable),
        not_in_time: join(&then.not_in_time, not_in_time),
        others_may_read: join(&then.others_may_read, others_may_read),
        git_directories: join(&then.git_directories, git_directories),
        refused_names: join(&then.refused_names, refused_names),
        converted: join(&then.converted, converted),
        excluded: join(&then.excluded, excluded),
        purged: join(&then.purged, purged),
        over_include_limit: join(&then.over_include_limit, over_include_limit),
        included: join(&then.included, included),
        encrypted: join(&then.encrypted, encrypted),
        unfiltered: join(&then.unfiltered, unfiltered),
        staged_not_held,
        missing,
        not_captured,
        only,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::CheckpointName;
    use crate::base::names::Oid;
    use crate::checkpoint::known_scope::KnownPathsCount;
    use crate::checkpoint::trigger::CheckpointType;

    fn name(text: &str) -> CheckpointName {
        CheckpointName::new(text).unwrap()
    }

    /// Checkpoints in their order: name, what made it, and what it was built on.
    fn state(all: &[(&str, CheckpointTrigger, Option<&str>)]) -> State {
        let mut state = State::default();
        for (number, (text, trigger, on)) in all.iter().enumerate() {
            let record = CheckpointRecord {
                name: name(text),
                kind: CheckpointType::Auto,
                trigger: *trigger,
                created_at: "2026-03-01T00:00:00Z".parse().unwrap(),
                git_commit: None,
                capture: Oid::new("1".repeat(40)).unwrap(),
                tag: Oid::new("2".repeat(40)).unwrap(),
                seq: number as u64,
                tasks_completed: 0,
                size: None,
                only: on.map(|on| KnownPathsCount {
                    paths: 1,
                    all_else_as_of: name(on),
                    all_else_capture: Oid::new("1".repeat(40)).unwrap(),
                    all_else_gone: false,
                }),
                attached: None,
                marked: None,
            };
            state.record.checkpoints.insert(record).unwrap();
        }
        state
    }

    #[test]
    fn the_rest_is_taken_from_the_newest_complete_checkpoint_unless_files_were_changed_after_it() {
        type Row = (
            &'static [(&'static str, CheckpointTrigger, Option<&'static str>)],
            Result<(&'static str, Option<&'static str>), ()>,
        );
        let table: &[Row] = &[
            (&[], Err(())),
            (&[("z", CheckpointTrigger::Manual, Some("gone"))], Err(())),
            (&[("a", CheckpointTrigger::Manual, None)], Ok(("a", None))),
            (&[("b", CheckpointTrigger::Manual, None), ("a", CheckpointTrigger::Periodic, None)], Ok(("a", None))),
            (&[("a", CheckpointTrigger::Manual, None), ("z", CheckpointTrigger::Manual, Some("a"))], Ok(("a", Some("z")))),
            (
                &[
                    ("a", CheckpointTrigger::Manual, None),
                    ("z", CheckpointTrigger::Manual, Some("a")),
                    ("y", CheckpointTrigger::Manual, Some("a")),
                ],
                Ok(("a", Some("y"))),
            ),
            (
                &[
                    ("a", CheckpointTrigger::Manual, None),
                    ("z", CheckpointTrigger::Manual, Some("a")),
                    ("b", CheckpointTrigger::Periodic, None),
                ],
                Ok(("b", None)),
            ),
            (&[("a", CheckpointTrigger::Manual, None), ("b", CheckpointTrigger::BeforeRollback, None)], Err(())),
            (&[("b", CheckpointTrigger::BeforeUndo, None), ("c", CheckpointTrigger::AfterMerge, None)], Ok(("c", None))),
            (&[("b", CheckpointTrigger::BeforeMerge, None)], Ok(("b", None))),
        ];
        for (checkpoints, expected) in table {
            let state = state(checkpoints);
            let found = base(&state).map(|base| (base.complete.name.as_str(), base.last.map(|last| last.name.as_str())));
            assert_eq!(found.map_err(drop), *expected, "{checkpoints:?}");
        }
    }

    #[test]
    fn another_checkpoint_of_the_name_is_not_what_it_was_built_on() {
        let mut state = state(&[("b", CheckpointTrigger::Manual, None), ("q", CheckpointTrigger::Manual, Some("b"))]);
        let capture = |digit: &str| Oid::new(digit.repeat(40)).unwrap();
        for (of, same) in [(capture("1"), true), (capture("3"), false)] {
            let mut record = state.record.checkpoints.get(&name("q")).unwrap().unwrap().clone();
            let only = record.only.as_mut().unwrap();
            only.all_else_capture = of.clone();
            assert_eq!(state.record.checkpoints.shown(only).unwrap().all_else_gone, !same, "{of:?}");
            state.record.checkpoints.insert(record).unwrap();
            assert_eq!(base(&state).unwrap().last.is_some(), same, "{of:?}");
        }
        let only = state.record.checkpoints.get(&name("q")).unwrap().unwrap().only.clone().unwrap();
        state.record.checkpoints.remove(&name("b")).unwrap();
        assert!(state.record.checkpoints.shown(&only).unwrap().all_else_gone);
    }

    #[test]
    fn where_somebody_looked_only_what_was_seen_counts() {
        let path = |text: &str| RepoPath::new(text.as_bytes());
        let of = |list: &[&str], value: u8| list.iter().map(|text| (path(text), value)).collect::<Vec<_>>();
        let looked = PathSet::new(["a", "d/e"].map(path));
        let all = together(of(&["a", "a/b", "c", "d/e/f", "d/g"], 1), &looked, of(&["d/e/f", "a/x"], 2), |one| &one.0);
        let expected = [("a/x", 2), ("c", 1), ("d/e/f", 2), ("d/g", 1)].map(|(text, value)| (path(text), value));
        assert_eq!(all, expected);
    }
}
