//! Decides what a restore does with one path. Pure: no file is looked at here.

/// What is at a path now, compared with the two trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::git) enum Now {
    /// Nothing.
    Missing,
    /// Nothing, but this transaction's trash holds what was there: an earlier attempt got that far.
    MissingButSaved,
    /// The file of the first tree.
    Old,
    /// The file of the second tree.
    New,
    /// A folder that the second tree needs.
    NeededFolder,
    /// Another folder.
    Folder,
    /// Anything else.
    Other,
    /// Not determined yet.
    Unknown,
}

/// What to do with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::git) enum Step {
    /// Nothing.
    Done,
    /// Move the file to the trash.
    Remove,
    /// Move the file to the trash, and put the new file in its place.
    Swap,
    /// Put the new file in its place. If something is there, no capture holds it, and it goes to the trash.
    Place,
    /// Stop before anything is changed.
    Conflict,
    /// Leave what is there: it is the user's.
    Leave,
}

/// Decides what to do, from whether the first tree (`old`) and the second tree (`new`) have the path, and what is there.
pub(in crate::git) fn decide(old: bool, new: bool, now: Now) -> Step {
    match (old, new, now) {
        (_, _, Now::Unknown) => Step::Conflict,
        (_, true, Now::New) => Step::Done,
        (true, true, Now::Old) => Step::Swap,
        (true, true, Now::MissingButSaved) => Step::Place,
        (true, true, Now::Missing | Now::Folder | Now::NeededFolder | Now::Other) => Step::Conflict,
        (true, false, Now::Missing | Now::MissingButSaved | Now::NeededFolder) => Step::Done,
        (true, false, Now::Old) => Step::Remove,
        (true, false, Now::New | Now::Folder | Now::Other) => Step::Conflict,
        (false, true, Now::Missing | Now::MissingButSaved) => Step::Place,
        (false, true, Now::Old | Now::Folder | Now::NeededFolder | Now::Other) => Step::Place,
        (false, false, _) => Step::Done,
    }
}

/// As [`decide`], for reversing what an earlier attempt may have done. What is there and in neither tree was put there by
/// the user or another process: it stays, and does not stop the rest.
pub(in crate::git) fn decide_back(old: bool, new: bool, now: Now) -> Step {
    match (decide(old, new, now), now) {
        (Step::Conflict, _) | (Step::Place, Now::Other | Now::Old) => Step::Leave,
        (step @ (Step::Done | Step::Remove | Step::Swap | Step::Place | Step::Leave), _) => step,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_neither_old_nor_new_is_never_replaced_where_a_capture_should_know_it() {
        for now in [Now::Other, Now::Folder, Now::Unknown, Now::Missing] {
            assert_eq!(decide(true, true, now), Step::Conflict);
        }
        assert_eq!(decide(true, false, Now::Other), Step::Conflict);
    }

    #[test]
    fn taking_back_never_stops_and_never_replaces_what_is_in_neither_tree() {
        let all = [Now::Missing, Now::MissingButSaved, Now::Old, Now::New, Now::NeededFolder, Now::Folder, Now::Other];
        for now in all {
            for (old, new) in [(true, true), (true, false), (false, true), (false, false)] {
                assert_ne!(decide_back(old, new, now), Step::Conflict, "{old} {new} {now:?}");
            }
        }
        assert_eq!(decide_back(true, true, Now::Other), Step::Leave);
        assert_eq!(decide_back(true, true, Now::Missing), Step::Leave);
        assert_eq!(decide_back(true, false, Now::Other), Step::Leave);
        assert_eq!(decide_back(false, true, Now::Other), Step::Leave);
        assert_eq!(decide_back(true, true, Now::MissingButSaved), Step::Place);
    }

    #[test]
    fn doing_it_again_finds_everything_done() {
        assert_eq!(decide(true, true, Now::New), Step::Done);
        assert_eq!(decide(false, true, Now::New), Step::Done);
        assert_eq!(decide(true, false, Now::Missing), Step::Done);
        assert_eq!(decide(true, true, Now::MissingButSaved), Step::Place);
    }
}
