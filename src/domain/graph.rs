//! The graph of cases: parents, dependencies, and that nothing depends on itself.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::ids::CaseId;
use super::state::State;
use crate::error::{Code, Error, Result};

/// Checks cases that are about to be added: ids free in every spelling, all references known, no cycle.
///
/// # Errors
/// `DUPLICATE_ID`, `UNKNOWN_DEPENDENCY`, `DEPENDENCY_CYCLE`.
pub fn check_added(state: &State, cases: &[Case]) -> Result<()> {
    let mut batch = BTreeSet::new();
    for case in cases {
        if !batch.insert(case.id.folded()) || state.is_taken(case.id.as_str()) {
            return Err(Error::new(Code::DuplicateId, format!("the id '{}' is taken", case.id))
                .hint("ids and checkpoint names are unique without regard to case: choose another with --id"));
        }
    }
    check_changed(state, cases)
}

/// Checks cases that are about to be put in place of others: all references known, no cycle.
///
/// # Errors
/// `UNKNOWN_DEPENDENCY`, `DEPENDENCY_CYCLE`.
pub fn check_changed(state: &State, cases: &[Case]) -> Result<()> {
    let new: BTreeMap<&CaseId, &Case> = cases.iter().map(|case| (&case.id, case)).collect();
    let find = |id: &CaseId| new.get(id).copied().or_else(|| state.restorable.cases.get(id));
    for case in cases {
        for other in case.after.iter().chain(&case.parent) {
            if find(other).is_none() {
                return Err(Error::new(
                    Code::UnknownDependency,
                    format!("'{}' refers to '{other}', which does not exist", case.id),
                )
                .hint("add that case first, or import both in one file"));
            }
        }
    }
    // A case that refers to nothing can close no cycle.
    if cases.iter().all(|case| case.after.is_empty() && case.parent.is_none()) {
        return Ok(());
    }
    let mut parts: BTreeMap<&CaseId, Vec<&CaseId>> = BTreeMap::new();
    let unchanged = state.restorable.cases.values().filter(|case| !new.contains_key(&case.id));
    for case in unchanged.chain(cases) {
        if let Some(parent) = &case.parent {
            parts.entry(parent).or_default().push(&case.id);
        }
    }
    for case in cases {
        if let Some(path) = way_back(&case.id, |id| find(id).and_then(|case| case.parent.as_ref()).into_iter().collect()) {
            return cycle("cases would be parts of themselves", &path);
        }
        // A group is done when its parts are, and what a group waits for, its parts wait for.
        let needs = |id| match find(id) {
            Some(case) => {
                let inherited = case.parent.as_ref().and_then(&find).map(|parent| parent.after.iter()).into_iter().flatten();
                case.after.iter().chain(inherited).chain(parts.get(id).into_iter().flatten().copied()).collect()
            }
            None => Vec::new(),
        };
        if let Some(path) = way_back(&case.id, needs) {
            return cycle("cases would wait for themselves", &path);
        }
    }
    Ok(())
}

fn cycle(what: &str, path: &[&CaseId]) -> Result<()> {
    let path: Vec<&str> = path.iter().map(|id| id.as_str()).collect();
    Err(Error::new(Code::DependencyCycle, format!("{what}: {}", path.join(" → "))).hint("leave one of these dependencies out"))
}

/// A way from `start` back to itself over `next`, both ends included.
fn way_back<'a>(start: &'a CaseId, next: impl Fn(&'a CaseId) -> Vec<&'a CaseId>) -> Option<Vec<&'a CaseId>> {
    let mut came_from: BTreeMap<&CaseId, &CaseId> = BTreeMap::new();
    let mut todo = vec![start];
    while let Some(here) = todo.pop() {
        for id in next(here) {
            if id == start {
                let mut path = vec![start];
                let mut step = Some(&here);
                while let Some(id) = step {
                    path.push(id);
                    step = came_from.get(*id).filter(|_| *id != start);
                }
                path.reverse();
                if path[0] != start {
                    path.insert(0, start);
                }
                return Some(path);
            }
            if !came_from.contains_key(id) {
                came_from.insert(id, here);
                todo.push(id);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::case::{Kind, Status};
    use super::*;

    fn case(id: &str, parent: Option<&str>, after: &[&str]) -> Case {
        Case {
            id: CaseId::new(id).unwrap(),
            kind: Kind::Task,
            title: id.into(),
            body: None,
            parent: parent.map(|p| CaseId::new(p).unwrap()),
            after: after.iter().map(|a| CaseId::new(*a).unwrap()).collect(),
            persona: None,
            verify: vec![],
            status: Status::Pending,
            merged: None,
            reason: None,
            created_at: jiff::Timestamp::UNIX_EPOCH,
        }
    }

    fn check(cases: &[Case]) -> std::result::Result<(), Code> {
        check_added(&State::default(), cases).map_err(|error| error.code())
    }

    #[test]
    fn what_may_be_added() {
        let cycle = Err(Code::DependencyCycle);
        assert_eq!(check(&[case("a", None, &[]), case("b", None, &["a"])]), Ok(()));
        assert_eq!(check(&[case("a", None, &["a"])]), cycle);
        assert_eq!(check(&[case("a", None, &["b"]), case("b", None, &["c"]), case("c", None, &["a"])]), cycle);
        assert_eq!(check(&[case("a", Some("b"), &[]), case("b", Some("a"), &[])]), cycle);
        assert_eq!(check(&[case("g", None, &[]), case("a", Some("g"), &["g"])]), cycle, "a part waits for its group");
        assert_eq!(check(&[case("g", None, &["a"]), case("a", Some("g"), &[])]), cycle, "a group waits for its part");
        assert_eq!(check(&[case("g", None, &[]), case("b", Some("g"), &["a"]), case("a", None, &["g"])]), cycle);
        assert_eq!(check(&[case("a", None, &["x"])]), Err(Code::UnknownDependency));
        assert_eq!(check(&[case("a", None, &[]), case("A", None, &[])]), Err(Code::DuplicateId));
    }

    #[test]
    fn the_cycle_is_named() {
        let cases = [case("a", None, &["b"]), case("b", None, &["c"]), case("c", None, &["a"])];
        let error = check_added(&State::default(), &cases).unwrap_err();
        assert!(error.to_string().ends_with("a → b → c → a"), "{error}");
    }
}
