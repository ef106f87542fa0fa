use super::*;
use crate::base::ids::OperationId;
use crate::state::current_state::State;
use crate::state::event::Event;
use crate::state::event_envelope::{EventAuthor, EventEnvelope};
use crate::work::tasks::task::{Task, TaskKind, TaskStatus};

fn oid(name: &str) -> Oid {
    let hex: String = name.bytes().map(|byte| format!("{byte:02x}")).collect();
    Oid::new(format!("{hex:0<40}")).unwrap()
}

/// One commit: `name parents : tasks : reverts`.
fn commit(line: &str) -> HistoryCommit {
    let parts: Vec<&str> = line.split(':').collect();
    let mut words = parts[0].split_whitespace();
    let name = words.next().unwrap();
    let list = |index: usize| parts.get(index).copied().unwrap_or_default().split_whitespace();
    HistoryCommit {
        oid: oid(name),
        parents: words.map(oid).collect(),
        subject: name.to_owned(),
        marks: CommitMarks { tasks: list(1).map(str::to_owned).collect(), reverts: list(2).map(oid).collect() },
    }
}

fn wanted(task: &str) -> RolledBackTask {
    RolledBackTask { task: TaskId::new(task).unwrap(), recorded: BTreeSet::new() }
}

fn planned(log: &[&str], tasks: &[RolledBackTask]) -> TaskRevertPlan {
    plan(&log.iter().map(|line| commit(line)).collect::<Vec<_>>(), tasks)
}

fn units(log: &[&str], tasks: &[RolledBackTask]) -> String {
    planned(log, tasks).units.iter().map(|unit| unit.subject.clone()).collect::<Vec<_>>().join(" ")
}

#[test]
fn plain_commits_are_taken_newest_first_and_those_of_others_are_left() {
    let log = ["e d", "d c:t1", "c b:t2", "b a:t1", "a"];
    assert_eq!(units(&log, &[wanted("t1")]), "d b");
    assert_eq!(units(&log, &[wanted("t1"), wanted("t2")]), "d c b");
    assert_eq!(units(&log, &[wanted("nobody")]), "");
    assert_eq!(units(&[], &[wanted("t1")]), "");
    let plan = planned(&["a:t1"], &[wanted("T1")]);
    assert_eq!((plan.units.len(), &plan.units[0].parent), (1, &None), "a root commit, in another spelling");
}

#[test]
fn recorded_commits_need_no_mark() {
    let mut one = wanted("t1");
    one.recorded.insert(oid("b"));
    assert_eq!(units(&["c b", "b a", "a"], &[one]), "b");
}

#[test]
fn a_merge_of_the_task_is_one_with_what_it_took_in_marked_or_not() {
    let plan = planned(&["e m", "m b y:t1", "b a:t2", "y x", "x a:t1", "a"], &[wanted("t1")]);
    assert_eq!(plan.units.len(), 1);
    assert_eq!((plan.units[0].parent.clone(), plan.units[0].is_merge), (Some(oid("b")), true));
    let brought: Vec<&str> = plan.units[0].brings.iter().map(|(_, subject)| subject.as_str()).collect();
    assert_eq!(brought, ["y", "x"]);
    // A merge made by hand, without a mark of its own.
    assert_eq!(units(&["m a y", "y x:t1", "x a:t1", "a"], &[wanted("t1")]), "m");
}

#[test]
fn a_merge_with_work_of_others_is_not_reverted_as_one() {
    let log = ["m a z", "z y:t2", "y x:t1", "x a:t1", "a"];
    assert_eq!(units(&log, &[wanted("t1")]), "y x");
    assert_eq!(units(&log, &[wanted("t1"), wanted("t2")]), "m");
    assert_eq!(units(&["m a z:t1", "z y:t2", "y x", "x a:t1", "a"], &[wanted("t1")]), "y x", "even if it says so");
    assert_eq!(units(&["m a z", "z y", "y a:t1", "a"], &[wanted("t1")]), "y", "unmarked work is nobody's");
}

#[test]
fn a_merge_of_the_target_into_the_task_takes_nothing_of_the_target_away() {
    // A merge within the task's branch: reverted together with the merge that brought it in.
    let log = ["m c j:t1", "j x b:t1", "x a:t1", "c b", "b a", "a"];
    assert_eq!(units(&log, &[wanted("t1")]), "m");
    // The target was moved to the branch: the first parent of the joining merge is the task's.
    let log = ["j x b:t1", "x a:t1", "b a", "a"];
    let plan = planned(&log, &[wanted("t1")]);
    assert_eq!(plan.units.iter().map(|unit| unit.subject.as_str()).collect::<Vec<_>>(), ["x"]);
    assert_eq!(plan.skipped[0].why, NoRevertReason::Joins);
}

#[test]
fn what_was_reverted_is_skipped_and_reverts_of_reverts_count() {
    let plan = planned(&["r b:t1:b", "b a:t1", "a"], &[wanted("t1")]);
    assert!(plan.units.is_empty());
    assert_eq!(plan.skipped, [skipped(&commit("b a:t1"), NoRevertReason::RevertedBy(oid("r")))]);
    assert_eq!(units(&["s r:t1:r", "r b:t1:b", "b a:t1", "a"], &[wanted("t1")]), "b");
    assert_eq!(units(&["t s:t1:s", "s r:t1:r", "r b:t1:b", "b a:t1", "a"], &[wanted("t1")]), "");
    assert_eq!(units(&["t s:t1:b", "s r:t1:r", "r b:t1:b", "b a:t1", "a"], &[wanted("t1")]), "");
}

#[test]
fn a_reverted_merge_takes_what_it_brought_along_and_a_second_one_counts_by_itself() {
    let log = ["n r y:t1", "y r:t1", "r m:t1:m", "m a x:t1", "x a:t1", "a"];
    assert_eq!(units(&log, &[wanted("t1")]), "n");
    let log = ["r m::m", "m a y", "y x:t2", "x a:t1", "a"];
    assert_eq!(units(&log, &[wanted("t1")]), "", "x is gone with its merge");
}

#[test]
fn a_task_whose_work_is_a_revert_is_taken_back_by_reverting_that() {
    let log = ["r b:t2:b", "b a:t1", "a"];
    assert_eq!(units(&log, &[wanted("t2")]), "r");
    assert_eq!(units(&log, &[wanted("t1")]), "");
    assert_eq!(units(&log, &[wanted("t1"), wanted("t2")]), "r b", "once r is gone, b is there again");
}

#[test]
fn a_long_row_of_reverts_of_reverts_is_no_matter() {
    let name = |number: usize| format!("c{number}");
    let mut lines: Vec<String> = vec!["c0:t1".into()];
    for number in 1..5000 {
        lines.push(format!("{} {}:t1:{}", name(number), name(number - 1), name(number - 1)));
    }
    lines.reverse();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(units(&lines, &[wanted("t1")]), "", "an odd number of reverts");
    assert_eq!(units(&lines[1..], &[wanted("t1")]), "c0");
}

fn task(name: &str, after: &[&str], parent: Option<&str>, status: TaskStatus) -> Task {
    let id = |text: &str| TaskId::new(text).unwrap();
    Task {
        id: id(name),
        kind: if name.starts_with("group") { TaskKind::Group } else { TaskKind::Task },
        title: String::new(),
        body: None,
        parent: parent.map(id),
        after: after.iter().map(|text| id(text)).collect(),
        needs: vec![],
        start_early: false,
        persona: None,
        verify: vec![],
        limits: crate::work::money::budget::BudgetLimits::default(),
        status,
        merged: None,
        reason: Some("why".into()),
        created_at: jiff::Timestamp::UNIX_EPOCH,
    }
}

fn state(tasks: Vec<Task>) -> State {
    let mut state = State::default();
    let (txn, at) = (OperationId::new("t").unwrap(), jiff::Timestamp::UNIX_EPOCH);
    state.apply(&EventEnvelope { seq: 1, at, txn, by: EventAuthor::User, event: Event::TasksAdded { tasks } }).unwrap();
    state
}

#[test]
fn dependents_are_the_begun_ones_also_through_groups_and_through_others() {
    use TaskStatus::{Archived, Done, Pending};
    let state = state(vec![
        task("group1", &[], None, Pending),
        task("t1", &[], Some("group1"), Done),
        task("direct", &["t1"], None, Done),
        task("far", &["waiting"], None, Done),
        task("waiting", &["direct"], None, Pending),
        task("group2", &["group1"], None, Pending),
        task("in-group", &[], Some("group2"), Done),
        task("gone", &["t1"], None, Archived),
        task("free", &[], None, Done),
    ]);
    let id = |text: &str| TaskId::new(text).unwrap();
    assert_eq!(dependents(&state, &[id("t1")]), [id("direct"), id("far"), id("in-group")]);
    assert_eq!(dependents(&state, &[id("free")]), []);
    assert_eq!(dependents(&state, &[id("unknown")]), []);
    let edits = edits(&state, &[id("t1"), id("gone"), id("unknown"), id("waiting")]);
    let changed: Vec<(&str, usize)> = edits.iter().map(|edit| (edit.id.as_str(), edit.changes.len())).collect();
    assert_eq!(changed, [("t1", 2), ("waiting", 1)], "status and reason; what is archived stays so");
}
