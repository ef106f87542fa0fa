//! Decides what a restore does with one path. Pure: no file is looked at here.

/// What is at a path now, compared with the two trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PresentState {
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
pub(crate) enum RestoreStep {
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
pub(crate) fn decide(old: bool, new: bool, now: PresentState) -> RestoreStep {
    match (old, new, now) {
        (_, _, PresentState::Unknown) => RestoreStep::Conflict,
        (_, true, PresentState::New) => RestoreStep::Done,
        (true, true, PresentState::Old) => RestoreStep::Swap,
        (true, true, PresentState::MissingButSaved) => RestoreStep::Place,
        (true, true, PresentState::Missing | PresentState::Folder | PresentState::NeededFolder | PresentState::Other) => {
            RestoreStep::Conflict
        }
        (true, false, PresentState::Missing | PresentState::MissingButSaved | PresentState::NeededFolder) => RestoreStep::Done,
        (true, false, PresentState::Old) => RestoreStep::Remove,
        (true, false, PresentState::New | PresentState::Folder | PresentState::Other) => RestoreStep::Conflict,
        (false, true, PresentState::Missing | PresentState::MissingButSaved) => RestoreStep::Place,
        (false, true, PresentState::Old | PresentState::Folder | PresentState::NeededFolder | PresentState::Other) => {
            RestoreStep::Place
        }
        (false, false, _) => RestoreStep::Done,
    }
}

/// As [`decide`], for reversing what an earlier attempt may have done. What is there and in neither tree was put there by
/// the user or another process: it stays, and does not stop the rest.
pub(crate) fn decide_back(old: bool, new: bool, now: PresentState) -> RestoreStep {
    match (decide(old, new, now), now) {
        (RestoreStep::Conflict, _) | (RestoreStep::Place, PresentState::Other | PresentState::Old) => RestoreStep::Leave,
        (step @ (RestoreStep::Done | RestoreStep::Remove | RestoreStep::Swap | RestoreStep::Place | RestoreStep::Leave), _) => {
            step
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_neither_old_nor_new_is_never_replaced_where_a_capture_should_know_it() {
        for now in [PresentState::Other, PresentState::Folder, PresentState::Unknown, PresentState::Missing] {
            assert_eq!(decide(true, true, now), RestoreStep::Conflict);
        }
        assert_eq!(decide(true, false, PresentState::Other), RestoreStep::Conflict);
    }

    #[test]
    fn taking_back_never_stops_and_never_replaces_what_is_in_neither_tree() {
        let all = [
            PresentState::Missing,
            PresentState::MissingButSaved,
            PresentState::Old,
            PresentState::New,
            PresentState::NeededFolder,
            PresentState::Folder,
            PresentState::Other,
        ];
        for now in all {
            for (old, new) in [(true, true), (true, false), (false, true), (false, false)] {
                assert_ne!(decide_back(old, new, now), RestoreStep::Conflict, "{old} {new} {now:?}");
            }
        }
        assert_eq!(decide_back(true, true, PresentState::Other), RestoreStep::Leave);
        assert_eq!(decide_back(true, true, PresentState::Missing), RestoreStep::Leave);
        assert_eq!(decide_back(true, false, PresentState::Other), RestoreStep::Leave);
        assert_eq!(decide_back(false, true, PresentState::Other), RestoreStep::Leave);
        assert_eq!(decide_back(true, true, PresentState::MissingButSaved), RestoreStep::Place);
    }

    #[test]
    fn doing_it_again_finds_everything_done() {
        assert_eq!(decide(true, true, PresentState::New), RestoreStep::Done);
        assert_eq!(decide(false, true, PresentState::New), RestoreStep::Done);
        assert_eq!(decide(true, false, PresentState::Missing), RestoreStep::Done);
        assert_eq!(decide(true, true, PresentState::MissingButSaved), RestoreStep::Place);
    }
}
