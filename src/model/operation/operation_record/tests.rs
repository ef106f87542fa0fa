//! What an operation changed, as its events tell.

use super::*;
use crate::base::ids::RequestId;
use crate::base::names::{Oid, RefName};
use crate::base::ref_change::RefChange;
use crate::journal::journaled::JournaledOperation;
use crate::journal::journaled::OperationEnd;
use crate::journal::journaled::OperationKind;
use crate::state::event::Event;
use crate::work::sessions::session::SupervisorRequest;
use crate::work::tasks::task::TaskKind;
use crate::work::tasks::task::{Task, TaskFieldChange};

fn id(text: &str) -> TaskId {
    TaskId::new(text).unwrap()
}

fn task(text: &str) -> Task {
    Task {
        id: id(text),
        kind: TaskKind::Task,
        title: format!("title of {text}"),
        body: None,
        parent: None,
        after: vec![],
        needs: vec![],
        start_early: false,
        persona: None,
        verify: vec![],
        limits: crate::work::money::budget::BudgetLimits::default(),
        status: TaskStatus::Pending,
        merged: None,
        reason: None,
        created_at: Timestamp::UNIX_EPOCH,
    }
}

fn title(of: &str, old: &str, new: &str) -> Event {
    let changes = vec![TaskFieldChange::Title(ValueChange::new(old.into(), new.into()))];
    Event::TasksChanged { edits: vec![TaskChangeSet { id: id(of), changes }] }
}

fn operation(kind: OperationKind) -> Event {
    let change = RefChange { name: RefName::branch("main"), value: ValueChange::new(None, Some(oid('a'))) };
    let mut operation = JournaledOperation::new(kind, "move main");
    operation.refs.push(change);
    Event::OperationBegan { operation: Box::new(operation) }
}

fn oid(digit: char) -> Oid {
    Oid::new(digit.to_string().repeat(40)).unwrap()
}

fn ended(end: OperationEnd, edits: Vec<TaskChangeSet>) -> Event {
    Event::OperationEnded { end, edits, changes: None, mode: None, moved: vec![] }
}

fn fold(events: Vec<(&str, Event)>) -> Vec<OperationRecord> {
    fold_of(&EventAuthor::User, events)
}

fn fold_of(by: &EventAuthor, events: Vec<(&str, Event)>) -> Vec<OperationRecord> {
    let mut fold = OperationFold::default();
    for (seq, (txn, event)) in (1..).zip(events) {
        let (txn, by) = (OperationId::new(txn).unwrap(), by.clone());
        fold.push(&EventEnvelope { seq, at: Timestamp::UNIX_EPOCH, txn, by, event }).unwrap();
    }
    fold.finish()
}

fn undo(of: &str) -> OperationKind {
    OperationKind::Undo { of: OperationId::new(of).unwrap() }
}

#[test]
fn each_transaction_has_its_own_old_and_new() {
    let all = fold(vec![
        ("t1", Event::TasksAdded { tasks: vec![task("a"), task("b")] }),
        ("t2", title("a", "title of a", "x")),
        ("t2", title("a", "x", "y")),
        ("t3", title("a", "y", "z")),
    ]);
    assert_eq!(all[0].tasks.added.keys().cloned().collect::<Vec<_>>(), [id("a"), id("b")]);
    assert_eq!((all[0].what.as_str(), all[0].tasks.edits.len()), ("import 2 tasks", 0));
    let change = |n: usize| all[n].tasks.edits[0].changes.clone();
    assert_eq!(change(1), [TaskFieldChange::Title(ValueChange::new("title of a".into(), "y".into()))], "two events, one change");
    assert_eq!(change(2), [TaskFieldChange::Title(ValueChange::new("y".into(), "z".into()))]);
    assert!(all.iter().all(OperationRecord::undoable));
}

#[test]
fn what_another_transaction_did_in_between_is_its_own() {
    let all = fold(vec![
        ("t1", Event::TasksAdded { tasks: vec![task("a"), task("b")] }),
        ("t2", title("b", "title of b", "begins")),
        ("t3", title("a", "title of a", "x")),
        ("t2", title("a", "x", "y")),
    ]);
    let of_a = |n: usize| all[n].tasks.edits.iter().find(|edit| edit.id == id("a")).map(|edit| edit.changes.clone());
    assert_eq!(of_a(1), Some(vec![TaskFieldChange::Title(ValueChange::new("x".into(), "y".into()))]));
    assert_eq!(of_a(2), Some(vec![TaskFieldChange::Title(ValueChange::new("title of a".into(), "x".into()))]));
}

#[test]
fn an_operation_names_its_transaction_and_brings_its_changes() {
    let merged = Some(MergedTaskWork { commit: oid('a'), target: RefName::branch("main") });
    let edit = TaskChangeSet { id: id("a"), changes: vec![TaskFieldChange::Merged(ValueChange::new(None, merged))] };
    let merge = || operation(OperationKind::Merge { task: id("a") });
    let added = ("t1", Event::TasksAdded { tasks: vec![task("a")] });
    let open = fold(vec![added.clone(), ("t2", merge())]);
    assert_eq!((open[1].progress, open[1].undoable()), (OperationRecordState::Open, false));
    let aborted = fold(vec![added.clone(), ("t2", merge()), ("t2", ended(OperationEnd::Aborted, vec![]))]);
    assert_eq!(
        (aborted[1].progress, aborted[1].undoable(), aborted[1].changes.refs.len()),
        (OperationRecordState::Aborted, false, 0)
    );
    let steps = vec![added, ("t2", merge()), ("t2", ended(OperationEnd::Done, vec![edit.clone()]))];
    let done = fold(steps.clone());
    assert_eq!((done[1].what.as_str(), done[1].changes.refs.len()), ("move main", 1));
    assert_eq!(done[1].tasks.edits, [edit]);
    assert!(done[1].undoable());
    // What is put away afterwards comes after a checkpoint of the merge.
    let put_away = ("t2", title("a", "title of a", "x"));
    assert_eq!(fold([steps, vec![put_away]].concat())[1].events.last, done[1].events.last);
}

#[test]
fn retention_can_be_undone_and_is_only_a_step_while_a_human_s_deletion_matters() {
    let kind = || OperationKind::DeleteCheckpoints { until: Timestamp::UNIX_EPOCH };
    let events = |end| vec![("t1", operation(kind())), ("t1", ended(end, vec![]))];
    let of = |by: &EventAuthor, end| fold_of(by, events(end)).pop().unwrap();
    let seen = |one: OperationRecord| (one.matters(), one.undoable());
    assert_eq!(seen(of(&EventAuthor::Supervisor, OperationEnd::Done)), (false, true));
    assert_eq!(seen(of(&EventAuthor::User, OperationEnd::Done)), (true, true));
    assert!(of(&EventAuthor::Supervisor, OperationEnd::Aborted).matters(), "one that failed is shown");
    assert!(fold_of(&EventAuthor::Supervisor, vec![("t1", operation(kind()))])[0].matters(), "one that is open is shown");
    let merge = || operation(OperationKind::Merge { task: id("a") });
    assert!(fold_of(&EventAuthor::Supervisor, vec![("t1", merge()), ("t1", ended(OperationEnd::Done, vec![]))])[0].matters());
}

#[test]
fn an_undo_takes_back_and_an_undo_of_it_brings_to_life_again() {
    let can = |events: usize| fold(operations(events)).iter().map(OperationRecord::undoable).collect::<Vec<_>>();
    assert_eq!(can(4), [false, true]);
    assert_eq!(can(6), [true, false, true], "undone, then brought back");
}

/// A merge, its undo, and the undo of that: two events each.
fn operations(count: usize) -> Vec<(&'static str, Event)> {
    let kinds = [("t1", OperationKind::Merge { task: id("a") }), ("t2", undo("t1")), ("t3", undo("t2"))];
    let pairs = kinds.into_iter().flat_map(|(txn, kind)| [(txn, operation(kind)), (txn, ended(OperationEnd::Done, vec![]))]);
    pairs.take(count).collect()
}

fn fold_by(events: Vec<(&str, EventAuthor, Event)>) -> Vec<OperationRecord> {
    let mut fold = OperationFold::default();
    for (seq, (txn, by, event)) in (1..).zip(events) {
        let txn = OperationId::new(txn).unwrap();
        fold.push(&EventEnvelope { seq, at: Timestamp::UNIX_EPOCH, txn, by, event }).unwrap();
    }
    fold.finish()
}

/// What plain undo may mean: what somebody did, and no step on the way.
#[test]
fn what_changes_things_for_good() {
    let agent = || crate::base::ids::AgentId::new("ed-001").unwrap();
    let delete = || OperationKind::DeleteCheckpoints { until: Timestamp::UNIX_EPOCH };
    let released = Event::WorkReleased {
        agent: agent(),
        status: TaskStatus::Blocked,
        reason: "x".into(),
        retry: false,
        complete: None,
        gate: None,
        discarded: false,
    };
    let mode = Event::ModeChanged { mode: ValueChange::new(SessionMode::SemiAuto, SessionMode::Autopilot) };
    let adopted = Event::StateAdopted { source: "backup".into(), state: Box::default() };
    let all = fold_by(vec![
        ("added", EventAuthor::User, Event::TasksAdded { tasks: vec![task("a")] }),
        ("claim", EventAuthor::Supervisor, Event::TaskClaimed { agent: agent(), task: id("a"), complete: false }),
        ("release", EventAuthor::Supervisor, released),
        ("mode", EventAuthor::User, mode),
        ("deleted", EventAuthor::User, operation(delete())),
        ("deleted", EventAuthor::User, ended(OperationEnd::Done, vec![])),
        ("retention", EventAuthor::Supervisor, operation(delete())),
        ("retention", EventAuthor::Supervisor, ended(OperationEnd::Done, vec![])),
        ("merge", EventAuthor::Supervisor, operation(OperationKind::Merge { task: id("a") })),
        ("merge", EventAuthor::Supervisor, ended(OperationEnd::Done, vec![])),
        ("aborted", EventAuthor::User, operation(undo("merge"))),
        ("aborted", EventAuthor::User, ended(OperationEnd::Aborted, vec![])),
        ("edit", EventAuthor::Supervisor, title("a", "title of a", "x")),
    ]);
    let for_good: Vec<&str> = all.iter().filter(|one| one.changes_for_good()).map(|one| one.id.as_str()).collect();
    assert_eq!(for_good, ["added", "deleted", "merge", "edit"]);
    let anew = fold_by(vec![("anew", EventAuthor::Recovery, adopted)]);
    assert!(anew[0].obstacle().unwrap().contains("restarted here"));
}

/// With a session the request is a transaction without changes; without one the agent's end is a part of it.
#[test]
fn what_blocked_a_task_under_work_says_how_that_is_taken_back() {
    let agent = || crate::base::ids::AgentId::new("ed-001").unwrap();
    let asked = |number: u64| Event::Requested {
        id: RequestId::after(number, "00010001").unwrap(),
        request: SupervisorRequest::Block { tasks: vec![id("a")], reason: "no longer wanted".into() },
        for_operation: false,
    };
    let workspace =
        crate::work::agent::Workspace { agent: agent(), path: "/w".into(), branch: RefName::branch("axiom/a"), base: oid('a') };
    let released = Event::WorkReleased {
        agent: agent(),
        status: TaskStatus::Blocked,
        reason: "no longer wanted".into(),
        retry: false,
        complete: None,
        gate: None,
        discarded: false,
    };
    let all = fold(vec![
        ("t1", Event::TasksAdded { tasks: vec![task("a")] }),
        ("t2", Event::WorkspaceOpened { task: id("a"), workspace, goes_on: false }),
        ("t2", Event::TaskClaimed { agent: agent(), task: id("a"), complete: false }),
        ("t3", asked(3)),
        ("t4", asked(4)),
        ("t4", released),
    ]);
    for one in &all[2..] {
        assert_eq!(one.what, "block a: no longer wanted");
        assert!(one.obstacle().unwrap().contains("git axiom task unblock a "), "{:?}", one.obstacle());
    }
    assert_eq!(all.len(), 4);
}

#[test]
fn a_task_that_has_nothing_to_merge_is_more_than_tidying() {
    let merged = Some(MergedTaskWork { commit: oid('a'), target: RefName::branch("main") });
    let edit = TaskChangeSet { id: id("a"), changes: vec![TaskFieldChange::Merged(ValueChange::new(None, merged))] };
    let change = RefChange { name: RefName::branch("axiom/a"), value: ValueChange::new(Some(oid('a')), None) };
    let leave = || Event::MergedBranchesLeave { refs: vec![change.clone()] };
    let all = fold_of(
        &EventAuthor::Supervisor,
        vec![
            ("t1", Event::TasksAdded { tasks: vec![task("a")] }),
            ("t2", Event::TasksChanged { edits: vec![edit] }),
            ("t2", leave()),
            ("t3", leave()),
        ],
    );
    assert_eq!((all[1].what.as_str(), all[1].matters(), all[2].matters()), ("a has nothing to merge", true, false));
}

#[test]
fn what_changed_nothing_cannot_be_undone() {
    let all = fold(vec![
        ("t1", Event::TasksAdded { tasks: vec![task("a")] }),
        ("t2", Event::Audited { id: id("a"), text: "seen".into() }),
        ("t3", Event::TaskClaimed { agent: crate::base::ids::AgentId::new("ed-001").unwrap(), task: id("a"), complete: false }),
    ]);
    assert_eq!(all.iter().map(OperationRecord::undoable).collect::<Vec<_>>(), [true, false, false]);
    assert!(all[2].obstacle().unwrap().contains("an agent's work"));
    assert_eq!(all[1].what, "a: seen");
}
