//! The graph of tasks: checks of parents and dependencies, and that there is no cycle.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::base::ids::TaskId;
use crate::state::current_state::State;
use crate::work::tasks::task::Task;
use axiom_base::error::{Code, Error, Result};

/// Checks tasks that are about to be added: ids not taken (in upper or lower case), all references known, no cycle.
pub fn check_added(state: &State, tasks: &[Task]) -> Result<()> {
    let mut batch = HashSet::new();
    for task in tasks {
        if state.is_taken(task.id.as_str()) || !batch.insert(task.id.folded()) {
            return Err(taken(&task.id));
        }
    }
    check_changed(state, tasks)
}

/// The error for an id that something has already.
pub fn taken(id: &TaskId) -> Error {
    Error::new(Code::DuplicateId, format!("the id '{id}' is taken"))
        .hint("ids and checkpoint names are unique without regard to case: choose another with --id")
}

/// Checks tasks that are about to replace existing ones: all references known, no cycle.
pub fn check_changed(state: &State, tasks: &[Task]) -> Result<()> {
    let new: HashMap<&TaskId, &Task> = tasks.iter().map(|task| (&task.id, task)).collect();
    let find = |id: &TaskId| new.get(id).copied().or_else(|| state.restorable.tasks.get(id));
    for task in tasks {
        for other in task.after.iter().chain(&task.parent) {
            if find(other).is_none() {
                return Err(Error::new(
                    Code::UnknownDependency,
                    format!("'{}' refers to '{other}', which does not exist", task.id),
                )
                .hint("add that task first, or import both in one file"));
            }
        }
    }
    // A task without references cannot close a cycle.
    if tasks.iter().all(|task| task.after.is_empty() && task.parent.is_none()) {
        return Ok(());
    }
    let mut parts: BTreeMap<&TaskId, Vec<&TaskId>> = BTreeMap::new();
    let unchanged = state.restorable.tasks.values().filter(|task| !new.contains_key(&task.id));
    for task in unchanged.chain(tasks) {
        if let Some(parent) = &task.parent {
            parts.entry(parent).or_default().push(&task.id);
        }
    }
    let changed = || tasks.iter().map(|task| &task.id);
    if let Some(path) = find_cycle(changed(), |id| find(id).and_then(|task| task.parent.as_ref()).into_iter().collect()) {
        return cycle("tasks would be parts of themselves", &path);
    }
    // A group is done when its parts are. A part also waits for everything that its groups wait for.
    let needs = |id| {
        let up = std::iter::successors(find(id), |task| task.parent.as_ref().and_then(find));
        let after = up.flat_map(|task| &task.after);
        after.chain(parts.get(id).into_iter().flatten().copied()).collect()
    };
    match find_cycle(changed(), needs) {
        Some(path) => cycle("tasks would wait for themselves", &path),
        None => Ok(()),
    }
}

fn cycle(what: &str, path: &[&TaskId]) -> Result<()> {
    let path: Vec<&str> = path.iter().map(|id| id.as_str()).collect();
    Err(Error::new(Code::DependencyCycle, format!("{what}: {}", path.join(" → "))).hint("leave one of these dependencies out"))
}

/// A cycle reachable from `starts` by `next`; its first task is also the last. Looks at each task once.
fn find_cycle<'a>(
    starts: impl Iterator<Item = &'a TaskId>,
    next: impl Fn(&'a TaskId) -> Vec<&'a TaskId>,
) -> Option<Vec<&'a TaskId>> {
    let mut seen: HashSet<&TaskId> = HashSet::new();
    // The path from the start to the current task, each with the neighbours still to be visited.
    let mut way: Vec<(&TaskId, std::vec::IntoIter<&TaskId>)> = Vec::new();
    let mut on_way: HashSet<&TaskId> = HashSet::new();
    for start in starts {
        if seen.insert(start) {
            on_way.insert(start);
            way.push((start, next(start).into_iter()));
        }
        while let Some((here, ahead)) = way.last_mut() {
            let here = *here;
            match ahead.next() {
                Some(id) if on_way.contains(id) => {
                    let path = way.iter().map(|(id, _)| *id).skip_while(|step| *step != id);
                    return Some(path.chain([id]).collect());
                }
                Some(id) if seen.insert(id) => {
                    on_way.insert(id);
                    way.push((id, next(id).into_iter()));
                }
                Some(_) => {}
                None => {
                    on_way.remove(here);
                    way.pop();
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::tasks::task::{TaskKind, TaskStatus};

    fn task(id: &str, parent: Option<&str>, after: &[&str]) -> Task {
        Task {
            id: TaskId::new(id).unwrap(),
            kind: TaskKind::Task,
            title: id.into(),
            body: None,
            parent: parent.map(|p| TaskId::new(p).unwrap()),
            after: after.iter().map(|a| TaskId::new(*a).unwrap()).collect(),
            needs: vec![],
            start_early: false,
            persona: None,
            verify: vec![],
            limits: crate::work::money::budget::BudgetLimits::default(),
            status: TaskStatus::Pending,
            merged: None,
            reason: None,
            created_at: jiff::Timestamp::UNIX_EPOCH,
        }
    }

    fn check(tasks: &[Task]) -> std::result::Result<(), Code> {
        check_added(&State::default(), tasks).map_err(|error| error.code())
    }

    #[test]
    fn what_may_be_added() {
        let cycle = Err(Code::DependencyCycle);
        assert_eq!(check(&[task("a", None, &[]), task("b", None, &["a"])]), Ok(()));
        assert_eq!(check(&[task("a", None, &["a"])]), cycle);
        assert_eq!(check(&[task("a", None, &["b"]), task("b", None, &["c"]), task("c", None, &["a"])]), cycle);
        assert_eq!(check(&[task("a", Some("b"), &[]), task("b", Some("a"), &[])]), cycle);
        assert_eq!(check(&[task("g", None, &[]), task("a", Some("g"), &["g"])]), cycle, "a part waits for its group");
        assert_eq!(check(&[task("g", None, &["a"]), task("a", Some("g"), &[])]), cycle, "a group waits for its part");
        assert_eq!(check(&[task("g", None, &[]), task("b", Some("g"), &["a"]), task("a", None, &["g"])]), cycle);
        let nested = [task("x", None, &["t"]), task("g", None, &["x"]), task("p", Some("g"), &[]), task("t", Some("p"), &[])];
        assert_eq!(check(&nested), cycle, "what a group waits for, the parts of its parts wait for");
        assert_eq!(check(&[task("a", None, &["x"])]), Err(Code::UnknownDependency));
        assert_eq!(check(&[task("a", None, &[]), task("A", None, &[])]), Err(Code::DuplicateId));
    }

    #[test]
    fn long_chains_take_no_longer_than_they_are() {
        let id = |n: usize| format!("c{n}");
        let mut tasks: Vec<Task> = (0..20_000).map(|n| task(&id(n), None, &[&id(n.max(1) - 1)])).collect();
        tasks[0].after.clear();
        assert_eq!(check(&tasks), Ok(()));
        tasks.reverse();
        assert_eq!(check(&tasks), Ok(()));
        tasks[19_999].after.push(TaskId::new("c19999").unwrap());
        assert_eq!(check(&tasks), Err(Code::DependencyCycle));
    }

    #[test]
    fn the_cycle_is_named() {
        let tasks = [task("a", None, &["b"]), task("b", None, &["c"]), task("c", None, &["a"])];
        let error = check_added(&State::default(), &tasks).unwrap_err();
        assert!(error.to_string().ends_with("a → b → c → a"), "{error}");
    }
}
