//! Merges the extras of three captures when a transaction is undone. Conflict stages, flags, permissions and operations in
//! progress that the user changed after the transaction stay; if the transaction changed the same, the undo stops. Pure.

use std::collections::{BTreeMap, BTreeSet};

use axiom_model::base::names::{Oid, RepoPath};

use super::extras::{CaptureExtras, GitOperationFile};
use super::permissions::{RecordedPermissions, recorded};
use crate::base::conflict_stage::ConflictStage;
use crate::base::tree_change::TreeChange;
use crate::index::file::IndexExtras;

/// Files of git that outlive an operation, or exist without one.
const REMAINS: [&str; 4] = ["MERGE_MSG", "SQUASH_MSG", "MERGE_RR", "AUTO_MERGE"];

/// The extras of a worktree at three moments.
#[derive(Debug, Clone, Copy)]
pub struct ExtrasMergeInput<'a> {
    /// When the transaction ended.
    pub left: &'a CaptureExtras,
    /// Before the transaction: the state to which the undo goes back.
    pub back: &'a CaptureExtras,
    /// The present state.
    pub now: &'a CaptureExtras,
    /// How the undo changes the index entries that the transaction changed.
    pub entries: &'a [TreeChange],
    /// How the index entries now differ from those that the transaction left.
    pub since: &'a [TreeChange],
}

/// What an index holds about one path that a tree cannot hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct PathIndexExtras {
    stages: Vec<(u8, u32, Oid)>,
    intent: Option<u32>,
    skip: bool,
    assume: bool,
    left_out: bool,
}

impl ExtrasMergeInput<'_> {
    /// The merged extras: what the transaction changed is as before it, everything else is as it is now. Kept bytes belong
    /// to the files: they are those from before the transaction, and the caller handles files that stay.
    pub fn settle(&self) -> Result<CaptureExtras, Vec<String>> {
        let mut conflicts = Vec::new();
        let operation = self.operation().unwrap_or_else(|what| {
            conflicts.push(what);
            Vec::new()
        });
        let index = self.index().unwrap_or_else(|paths| {
            conflicts.extend(paths);
            IndexExtras::default()
        });
        let modes = self.modes().unwrap_or_else(|paths| {
            conflicts.extend(paths);
            Vec::new()
        });
        if conflicts.is_empty() { Ok(CaptureExtras { index, operation, modes, ..self.back.clone() }) } else { Err(conflicts) }
    }

    /// Permissions that the transaction did not change stay as they are now. For files that git takes for unchanged,
    /// permissions may not be recorded now: such files count as not changed since.
    fn modes(&self) -> Result<Vec<RecordedPermissions>, Vec<String>> {
        let [left, back, now] = [self.left, self.back, self.now].map(|extras| &extras.modes[..]);
        let paths: BTreeSet<&RepoPath> = back.iter().chain(now).map(|one| &one.path).collect();
        let (mut settled, mut conflicts) = (Vec::new(), Vec::new());
        for path in paths {
            let [left, back, now] = [left, back, now].map(|modes| recorded(modes, path));
            let is_both = |now: &RecordedPermissions| left.is_some_and(|left| left != now) && back.is_none_or(|back| back != now);
            match now {
                _ if left == back => settled.extend(now.cloned()),
                Some(now) if is_both(now) => conflicts.push(format!("the permissions of {path}")),
                Some(_) | None => settled.extend(back.cloned()),
            }
        }
        if conflicts.is_empty() { Ok(settled) } else { Err(conflicts) }
    }

    /// If the transaction did not change the operation in progress, it stays as it is now, whatever was begun or ended
    /// since. The caller must check which paths and branches that operation may still change.
    fn operation(&self) -> Result<Vec<GitOperationFile>, String> {
        let [left, now] = [self.left, self.now].map(|extras| files(extras, |_| true));
        if left == now {
            return Ok(self.back.operation.clone());
        }
        if self.left.has_operation_of(self.back) {
            return Ok(self.now.operation.clone());
        }
        Err(match (in_progress(self.left), in_progress(self.now)) {
            (Some(then), Some(now)) if then == now => format!("{now} was continued"),
            (_, Some(now)) => format!("{now} is in progress"),
            (Some(then), None) => format!("{then} has ended"),
            (None, None) => {
                let differs = |path: &&&RepoPath| left.get(**path) != now.get(**path);
                let other = left.keys().chain(now.keys()).find(differs).map(ToString::to_string);
                format!("git's file '{}'", other.unwrap_or_default())
            }
        })
    }

    fn index(&self) -> Result<IndexExtras, Vec<String>> {
        let [left, back, now] = [self.left, self.back, self.now].map(|extras| by_path(&extras.index));
        if left == now && self.since.is_empty() {
            return Ok(self.back.index.clone());
        }
        let entries: BTreeMap<&RepoPath, &TreeChange> = self.entries.iter().map(|change| (&change.path, change)).collect();
        let since: BTreeSet<&RepoPath> = self.since.iter().map(|change| &change.path).collect();
        let nothing = PathIndexExtras::default();
        let (mut settled, mut conflicts) = (BTreeMap::new(), Vec::new());
        let paths: BTreeSet<&RepoPath> = left.keys().chain(back.keys()).chain(now.keys()).copied().collect();
        for path in paths {
            let [left, back, now] = [&left, &back, &now].map(|said| said.get(path).unwrap_or(&nothing));
            match settled_path([left, back, now], entries.get(path).copied(), since.contains(path)) {
                Some(said) if *said == nothing => {}
                Some(said) => drop(settled.insert(path, said.clone())),
                None => conflicts.push(path.to_string()),
            }
        }
        if !conflicts.is_empty() {
            return Err(conflicts);
        }
        Ok(if settled == back { self.back.index.clone() } else { extras_of(&settled) })
    }
}

/// What the index holds about a path afterwards; `None` if both sides changed it. `entry` is how the undo changes the path's
/// entry, `since` whether the entry was changed after the transaction.
fn settled_path<'s>(
    [left, back, now]: [&'s PathIndexExtras; 3],
    entry: Option<&TreeChange>,
    since: bool,
) -> Option<&'s PathIndexExtras> {
    const NOTHING: &PathIndexExtras =
        &PathIndexExtras { stages: Vec::new(), intent: None, skip: false, assume: false, left_out: false };
    let by_transaction = entry.is_some() || left != back;
    let by_others = since || left != now;
    let marks_only = left == back && left.stages == now.stages && left.intent == now.intent;
    match (by_transaction, by_others) {
        (_, false) => Some(back),
        (false, true) => Some(now),
        (true, true) if now == back => Some(back),
        // A flag stays with its entry, and disappears if the undo removes the entry.
        (true, true) if marks_only => Some(if entry.is_some_and(|change| change.new.is_none()) { NOTHING } else { now }),
        (true, true) => None,
    }
}

impl CaptureExtras {
    /// Whether both have the same operation in progress, or none. Files that an earlier operation may have left do not
    /// count.
    pub fn has_operation_of(&self, other: &Self) -> bool {
        let itself = |extras| files(extras, |name| !REMAINS.contains(&name));
        itself(self) == itself(other)
    }
}

fn files(extras: &CaptureExtras, wanted: impl Fn(&str) -> bool) -> BTreeMap<&RepoPath, &Oid> {
    let wanted = |file: &&GitOperationFile| wanted(&file.path.to_string());
    extras.operation.iter().filter(wanted).map(|file| (&file.path, &file.oid)).collect()
}

/// The operation in progress, in words.
fn in_progress(extras: &CaptureExtras) -> Option<&'static str> {
    extras.in_progress().first().map(|kind| kind.words())
}

fn by_path(index: &IndexExtras) -> BTreeMap<&RepoPath, PathIndexExtras> {
    let mut all: BTreeMap<&RepoPath, PathIndexExtras> = BTreeMap::new();
    for ConflictStage { path, stage, mode, oid } in &index.unmerged {
        all.entry(path).or_default().stages.push((*stage, *mode, oid.clone()));
    }
    for (place, path) in index.intent_to_add.iter().enumerate() {
        all.entry(path).or_default().intent = Some(index.intent_modes.get(place).copied().unwrap_or(0o100_644));
    }
    let left_out = index.left_out();
    for path in &index.skip_worktree {
        let said = all.entry(path).or_default();
        (said.skip, said.left_out) = (true, left_out.contains(path));
    }
    for path in &index.assume_unchanged {
        all.entry(path).or_default().assume = true;
    }
    all
}

fn extras_of(all: &BTreeMap<&RepoPath, PathIndexExtras>) -> IndexExtras {
    let mut index = IndexExtras { sparse: all.values().any(|said| said.left_out), ..IndexExtras::default() };
    for (path, said) in all {
        let path = || (*path).clone();
        let stages = said.stages.iter();
        index.unmerged.extend(stages.map(|(stage, mode, oid)| ConflictStage {
            path: path(),
            stage: *stage,
            mode: *mode,
            oid: oid.clone(),
        }));
        if let Some(mode) = said.intent {
            index.intent_to_add.push(path());
            index.intent_modes.push(mode);
        }
        if said.skip {
            index.skip_worktree.push(path());
        }
        if said.skip && index.sparse && !said.left_out {
            index.present.push(path());
        }
        if said.assume {
            index.assume_unchanged.push(path());
        }
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::tree_change::FileId;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text.as_bytes())
    }

    fn oid(digit: &str) -> Oid {
        Oid::new(digit.repeat(40)).unwrap()
    }

    fn doing(names: &[&str]) -> CaptureExtras {
        let file = |name: &&str| GitOperationFile { path: path(name), oid: oid("1") };
        CaptureExtras { operation: names.iter().map(file).collect(), ..CaptureExtras::default() }
    }

    fn marked(assume: &[&str], skip: &[&str]) -> CaptureExtras {
        let paths = |names: &[&str]| names.iter().map(|name| path(name)).collect();
        let index = IndexExtras { assume_unchanged: paths(assume), skip_worktree: paths(skip), ..IndexExtras::default() };
        CaptureExtras { index, ..CaptureExtras::default() }
    }

    fn change(name: &str, comes: bool) -> TreeChange {
        let file = FileId { mode: 0o100_644, oid: oid("2") };
        TreeChange { path: path(name), old: Some(file.clone()), new: comes.then_some(file) }
    }

    fn settle([left, back, now]: [&CaptureExtras; 3], entries: &[TreeChange]) -> Result<CaptureExtras, Vec<String>> {
        ExtrasMergeInput { left, back, now, entries, since: &[] }.settle()
    }

    #[test]
    fn an_operation_stays_where_the_transaction_left_it_alone() {
        let (none, merge, remains) = (doing(&[]), doing(&["MERGE_HEAD", "MERGE_MSG"]), doing(&["MERGE_RR"]));
        assert_eq!(settle([&none, &none, &merge], &[]).as_ref(), Ok(&merge));
        assert_eq!(settle([&merge, &merge, &none], &[]).as_ref(), Ok(&none));
        let rebase = doing(&["rebase-merge/done"]);
        assert_eq!(settle([&none, &merge, &rebase], &[]), Err(vec!["a rebase is in progress".to_owned()]));
        assert_eq!(settle([&merge, &none, &none], &[]), Err(vec!["a merge has ended".to_owned()]));
        assert_eq!(settle([&none, &merge, &none], &[]).as_ref(), Ok(&merge));
        assert_eq!(settle([&merge, &none, &merge], &[]).as_ref(), Ok(&none));
        assert_eq!(settle([&none, &none, &remains], &[]).as_ref(), Ok(&remains));
        assert_eq!(settle([&none, &merge, &remains], &[]), Err(vec!["git's file 'MERGE_RR'".to_owned()]));
    }

    #[test]
    fn permissions_that_the_transaction_did_not_touch_are_as_they_are_now() {
        let with = |modes: &[(&str, u32)]| {
            let one = |(name, mode): &(&str, u32)| RecordedPermissions {
                path: path(name),
                mode: *mode,
                folder: false,
                attributes: Vec::new(),
            };
            CaptureExtras { modes: modes.iter().map(one).collect(), ..CaptureExtras::default() }
        };
        let (none, closed, open) = (with(&[]), with(&[("a", 0o600)]), with(&[("a", 0o644)]));
        assert_eq!(settle([&none, &none, &closed], &[]).as_ref(), Ok(&closed));
        assert_eq!(settle([&closed, &closed, &none], &[]).as_ref(), Ok(&none));
        assert_eq!(settle([&closed, &open, &closed], &[]).as_ref(), Ok(&open));
        assert_eq!(settle([&closed, &open, &none], &[]).as_ref(), Ok(&open));
        assert_eq!(settle([&none, &closed, &open], &[]).as_ref(), Ok(&closed));
        let other = with(&[("a", 0o640)]);
        assert_eq!(settle([&closed, &open, &other], &[]), Err(vec!["the permissions of a".to_owned()]));
    }

    #[test]
    fn marks_that_the_transaction_did_not_touch_are_carried_over() {
        let (none, mine, theirs) = (marked(&[], &[]), marked(&["a"], &[]), marked(&["b"], &["a"]));
        assert_eq!(settle([&none, &none, &mine], &[]).as_ref(), Ok(&mine));
        // One that the transaction removed comes back beside it, one that it set goes.
        assert_eq!(settle([&none, &marked(&["z"], &[]), &mine], &[]).as_ref(), Ok(&marked(&["a", "z"], &[])));
        assert_eq!(settle([&marked(&["z"], &[]), &none, &marked(&["a", "z"], &[])], &[]).as_ref(), Ok(&mine));
        // Marked by both, in different ways.
        assert_eq!(settle([&none, &mine, &theirs], &[]), Err(vec!["a".to_owned()]));
        // The mark stays with an entry that goes back, and goes with one that goes.
        assert_eq!(settle([&none, &none, &mine], &[change("a", true)]).as_ref(), Ok(&mine));
        assert_eq!(settle([&none, &none, &mine], &[change("a", false)]).as_ref(), Ok(&none));
    }

    #[test]
    fn a_conflict_or_an_announced_file_where_the_transaction_changed_the_entry_stops_it() {
        let none = CaptureExtras::default();
        let mut conflict = none.clone();
        conflict.index.unmerged = vec![ConflictStage { path: path("a"), stage: 2, mode: 0o100_644, oid: oid("3") }];
        let mut announced = none.clone();
        (announced.index.intent_to_add, announced.index.intent_modes) = (vec![path("a")], vec![0o100_755]);
        for now in [conflict, announced] {
            assert_eq!(settle([&none, &none, &now], &[]).as_ref(), Ok(&now));
            assert_eq!(settle([&none, &none, &now], &[change("a", true)]), Err(vec!["a".to_owned()]));
        }
    }

    #[test]
    fn what_is_left_out_of_a_sparse_checkout_stays_so() {
        let mut now = marked(&[], &["in", "out"]);
        (now.index.sparse, now.index.present) = (true, vec![path("in")]);
        let none = CaptureExtras::default();
        assert_eq!(settle([&none, &none, &now], &[]).as_ref(), Ok(&now));
    }
}
