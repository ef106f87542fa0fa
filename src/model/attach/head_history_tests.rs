//! Tests of where HEAD went.

use super::*;

fn oid(digit: char) -> Oid {
    Oid::new(digit.to_string().repeat(40)).unwrap()
}

fn position(branch: &str, commit: char) -> HeadPosition {
    HeadPosition { branch: (!branch.is_empty()).then(|| RefName::branch(branch)), commit: Some(oid(commit)) }
}

fn entry(old: char, new: char, message: &str) -> HeadLogEntry {
    HeadLogEntry { old: oid(old).to_string(), new: oid(new).to_string(), message: message.into() }
}

/// Follows from `main` at 1, where `main`, `topic` and `feature` are branches.
fn followed(entries: &[HeadLogEntry]) -> Option<(HeadPosition, Vec<String>)> {
    let at = HeadLogSurroundings {
        is_branch: &|name| ["main", "topic", "feature"].contains(&name),
        last_step: &|_, new| (new == oid('9').as_str()).then(|| oid('8')),
    };
    let digit = |oid: &Oid| oid.as_str()[..1].to_owned();
    let (to, steps) = follow(&position("main", '1'), entries, &at)?;
    let said = |step: BranchStep| {
        format!("{} {}{}", step.branch.short(), step.old.as_ref().map_or_else(|| "-".to_owned(), digit), digit(&step.new))
    };
    Some((to, steps.into_iter().map(said).collect()))
}

#[test]
fn what_git_writes_is_followed() {
    let of = |entries: &[HeadLogEntry]| followed(entries).unwrap();
    assert_eq!(of(&[entry('1', '2', "commit: x")]), (position("main", '2'), vec!["main 12".to_owned()]));
    assert_eq!(of(&[entry('1', '2', "commit (amend): x"), entry('2', '3', "reset: moving to HEAD~1")]).1, ["main 13"]);
    let away = [entry('1', '1', "checkout: moving from main to feature"), entry('1', '2', "commit: x")];
    assert_eq!(of(&away), (position("feature", '2'), vec!["feature 12".to_owned()]));
    assert_eq!(of(&[entry('1', '1', "reset: moving to HEAD")]), (position("main", '1'), vec![]), "a stash");
    assert_eq!(of(&[entry('1', '5', "checkout: moving from main to v1")]), (position("", '5'), vec![]), "a tag");
    assert_eq!(of(&[entry('1', '5', "checkout: moving from main to main")]).1, ["main 15"], "checkout -B");
    let renamed = "Branch: renamed refs/heads/main to refs/heads/trunk";
    assert_eq!(of(&[entry('1', '0', renamed), entry('0', '1', renamed)]), (position("trunk", '1'), vec![]));
}

#[test]
fn a_rebase_moves_its_branch_at_its_end() {
    let of = |entries: &[HeadLogEntry]| followed(entries).unwrap();
    let rebase = [
        entry('1', '4', "rebase (start): checkout topic"),
        entry('4', '5', "rebase (pick): x"),
        entry('5', '5', "rebase (finish): returning to refs/heads/main"),
    ];
    assert_eq!(of(&rebase), (position("main", '5'), vec!["main 15".to_owned()]));
    assert_eq!(of(&rebase[..2]), (position("", '5'), vec![]), "it waits");
    let ended = [entry('1', '9', "rebase (pick): x"), entry('9', '9', "rebase (finish): returning to refs/heads/topic")];
    assert_eq!(of(&ended).1.last().unwrap(), "topic 89", "begun by an earlier command");
    assert_eq!(followed(&[entry('1', '7', "rebase (finish): returning to refs/heads/topic")]), None);
    let aborted = [rebase[0].clone(), entry('4', '1', "rebase (abort): returning to refs/heads/main")];
    assert_eq!(of(&aborted), (position("main", '1'), vec![]));
}

/// A command that moved HEAD, and these branches.
fn own(from: HeadPosition, to: HeadPosition, steps: &[(&str, char, char)]) -> OwnHeadMove {
    let step = |(branch, old, new): &(&str, char, char)| BranchStep {
        branch: RefName::branch(branch),
        old: Some(oid(*old)),
        new: oid(*new),
    };
    let at = Timestamp::UNIX_EPOCH;
    OwnHeadMove { worktree: "/r".into(), at, from, to, branches: steps.iter().map(step).collect() }
}

#[test]
fn only_what_own_commands_lead_to_is_explained() {
    let main = |commit| position("main", commit);
    let commit = |old, new| own(main(old), main(new), &[("main", old, new)]);
    let is_own = |moves: &[OwnHeadMove], now: HeadPosition, tip: Option<char>| {
        let tip = tip.map(oid);
        is_explained(moves, &main('1'), &now, tip.as_ref())
    };
    assert!(is_own(&[commit('1', '2'), commit('2', '3')], main('3'), Some('3')));
    assert!(!is_own(&[commit('1', '2'), commit('4', '3')], main('3'), Some('3')), "somebody else in between");
    assert!(!is_own(&[commit('1', '2')], main('4'), Some('4')), "somebody else at the end");
    assert!(is_own(&[commit('1', '2'), commit('1', '3')], main('3'), Some('3')), "gone back to in between");
    assert!(is_own(&[commit('1', '2'), commit('2', '3'), commit('2', '4')], main('4'), Some('4')));
    let away = own(main('1'), position("feature", '2'), &[("feature", '1', '2')]);
    assert!(is_own(std::slice::from_ref(&away), position("feature", '2'), Some('1')));
    assert!(is_own(std::slice::from_ref(&away), position("feature", '2'), None), "the branch is gone");
    assert!(!is_own(std::slice::from_ref(&away), position("feature", '2'), Some('5')), "moved from elsewhere");
    let back = own(position("feature", '2'), main('5'), &[]);
    assert!(!is_own(&[away, back], main('5'), Some('5')), "another's commits were checked out");
    assert!(is_own(&[commit('1', '0')], main('0'), Some('0')), "reset to an earlier one");
}
