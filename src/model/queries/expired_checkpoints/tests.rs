//! What expires and what stays, of all kinds of checkpoints and captures.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::{SignedDuration, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{cleanup, expired, live_capture_ends, thinnable};
use crate::base::ids::{AgentId, CheckpointName, OperationId, SessionId, TaskId};
use crate::base::names::{Oid, RefName};
use crate::checkpoint::catalog::{CheckpointCatalog, OlderCheckpoints};
use crate::checkpoint::known_scope::KnownPathsCount;
use crate::checkpoint::older_checkpoints;
use crate::checkpoint::record::CheckpointRecord;
use crate::checkpoint::trigger::{CheckpointTrigger, CheckpointType};
use crate::journal::journaled::{JournaledOperation, OperationKind};
use crate::queries::retention::{RetentionProtection, RetentionRules, protections};
use crate::state::current_state::OpenOperation;
use crate::state::current_state::State;
use crate::work::agent::Workspace;
use crate::work::sessions::session::{Session, SessionState};

const RULES: RetentionRules =
    RetentionRules { max_count: 5, max_age_days: 30, protect_named: true, keep_deleted_days: 7, keep_prompts: 3 };

fn now() -> Timestamp {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

fn days(count: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * count)
}

#[test]
fn a_live_capture_ends_after_its_time_where_its_workspace_is_gone_and_never_where_it_stands() {
    let (task, mut state) = (TaskId::new("t").unwrap(), State::default());
    let ends = |state: &State, age| live_capture_ends(state, &task, || now().checked_sub(days(age)).ok(), &RULES, now());
    assert_eq!([6, 7, 8].map(|age| ends(&state, age)), [false, false, true]);
    let workspace = Workspace {
        agent: AgentId::new("ed-001").unwrap(),
        path: "/w".into(),
        branch: RefName::branch("axiom/t"),
        base: Oid::new("1".repeat(40)).unwrap(),
    };
    state.restorable.workspaces.insert(task.clone(), workspace);
    assert!(!ends(&state, 1000));
}

/// Checkpoints, oldest first: trigger and age in days.
fn state(all: &[(CheckpointTrigger, i64)]) -> State {
    let mut state = State::default();
    for (number, (trigger, age)) in all.iter().enumerate() {
        let kind = if *trigger == CheckpointTrigger::Manual { CheckpointType::Named } else { CheckpointType::Auto };
        let record = CheckpointRecord {
            name: CheckpointName::new(format!("c{number}")).unwrap(),
            kind,
            trigger: *trigger,
            created_at: now().checked_sub(days(*age)).unwrap(),
            git_commit: None,
            capture: Oid::new("1".repeat(40)).unwrap(),
            tag: Oid::new("2".repeat(40)).unwrap(),
            seq: number as u64 + 1,
            tasks_completed: 0,
            size: None,
            only: None,
            attached: None,
            marked: None,
        };
        state.record.checkpoints.insert(record).unwrap();
    }
    state
}

fn on(name: &str) -> KnownPathsCount {
    let all_else_as_of = CheckpointName::new(name).unwrap();
    KnownPathsCount { paths: 1, all_else_as_of, all_else_capture: Oid::new("1".repeat(40)).unwrap(), all_else_gone: false }
}

/// The same checkpoints, the older ones not in memory, and how often they were read.
fn divided(state: &State) -> (State, Arc<AtomicUsize>) {
    let all = state.record.checkpoints.all().unwrap();
    let Some((stay, older)) = older_checkpoints::divide(&all) else { return (state.clone(), Arc::default()) };
    let (count, records): (Arc<AtomicUsize>, Vec<CheckpointRecord>) = (Arc::default(), older.iter().copied().cloned().collect());
    let counted = Arc::clone(&count);
    let read = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(records.clone())
    };
    let older = OlderCheckpoints::new(older_checkpoints::OlderCheckpointSummary::of(&older), Arc::new(read));
    let recent = all.into_iter().filter(|record| stay.contains(&record.name)).cloned();
    let mut divided = state.clone();
    divided.record.checkpoints = CheckpointCatalog::new(recent, Some(older));
    (divided, count)
}

#[test]
fn attached_ones_are_thinned_by_age_and_push_nothing_out() {
    let mut state = State::default();
    let add = |state: &mut State, name: String, trigger, minutes: i64| {
        let made = now().checked_sub(SignedDuration::from_mins(minutes)).unwrap();
        let mut record = self::state(&[(trigger, 0)]).record.checkpoints.all().unwrap()[0].clone();
        (record.name, record.created_at) = (CheckpointName::new(name).unwrap(), made);
        record.seq = 1_000_000 - minutes as u64;
        state.record.checkpoints.insert(record).unwrap();
    };
    for minutes in [5, 10, 55, 61, 65, 119, 121, 180, 1439, 1441, 1442, 3000, 45_000] {
        add(&mut state, format!("e{minutes}"), CheckpointTrigger::Edits, minutes);
    }
    for (number, minutes) in [(1, 500), (2, 400), (3, 300), (4, 200), (5, 100)] {
        add(&mut state, format!("prompt-000{number}"), CheckpointTrigger::Prompt, minutes);
    }
    for number in 0..5 {
        add(&mut state, format!("p{number}"), CheckpointTrigger::Periodic, number);
    }
    assert_eq!(gone(&state, &RULES), "e45000 e1442 prompt-0001 prompt-0002 e180 e119 e65");
}

#[test]
fn older_ones_are_read_only_where_one_may_have_expired() {
    let many = state(
        &[&[(CheckpointTrigger::Manual, 400); 30][..], &[(CheckpointTrigger::BeforeUndo, 2), (CheckpointTrigger::Periodic, 1)]]
            .concat(),
    );
    let (divided, count) = divided(&many);
    assert_eq!(gone(&divided, &RULES), "");
    assert_eq!(count.load(Ordering::Relaxed), 0, "named ones and what can still be undone");
    assert_eq!(gone(&divided, &RetentionRules { protect_named: false, ..RULES }).split(' ').count(), 29);
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whether the older ones are in memory or not, the same expire.
    #[test]
    fn what_is_not_in_memory_expires_all_the_same(
        all in vec((select(&TRIGGERS[..]), 0..40_i64, any::<bool>()), 0..30),
        max_count in 1..25_u32,
        protect_named in any::<bool>(),
    ) {
        let mut whole = state(&all.iter().map(|(trigger, age, _)| (*trigger, *age)).collect::<Vec<_>>());
        let records: Vec<CheckpointRecord> = whole.record.checkpoints.recent().cloned().collect();
        for record in records.into_iter().filter(|record| all[record.name.as_str()[1..].parse::<usize>().unwrap()].2) {
            whole.record.checkpoints.insert(CheckpointRecord { only: Some(on("c0")), ..record }).unwrap();
        }
        let rules = RetentionRules { max_count, protect_named, ..RULES };
        prop_assert_eq!(gone(&divided(&whole).0, &rules), gone(&whole, &rules));
    }
}

const TRIGGERS: [CheckpointTrigger; 4] =
    [CheckpointTrigger::Manual, CheckpointTrigger::Periodic, CheckpointTrigger::BeforeUndo, CheckpointTrigger::AfterMerge];

#[test]
fn complete_ones_and_those_of_known_paths_do_not_push_each_other_out() {
    for (complete, expected) in [(1, "c1 c2 c3"), (2, "c2 c3"), (5, ""), (7, "c0 c1")] {
        let mut state = state(&[(CheckpointTrigger::Periodic, 0); 9]);
        let all: Vec<CheckpointRecord> = state.record.checkpoints.recent().cloned().collect();
        for record in all.into_iter().filter(|record| record.seq > complete) {
            state.record.checkpoints.insert(CheckpointRecord { only: Some(on("c0")), ..record }).unwrap();
        }
        assert_eq!(gone(&state, &RULES), expected, "{complete} complete ones");
    }
}

fn gone(state: &State, rules: &RetentionRules) -> String {
    expired(state, rules, now()).unwrap().iter().map(CheckpointName::as_str).collect::<Vec<_>>().join(" ")
}

/// What it shows; checkpoints with their age in days; the rules; the names that go.
type Row<'a> = (&'a str, &'a [(CheckpointTrigger, i64)], RetentionRules, &'a str);

#[test]
fn what_goes_and_what_stays() {
    use CheckpointTrigger::{BeforeMerge as M, BeforeRollback as R, Manual as N, Periodic as P, SessionStart as S};
    let table: &[Row] = &[
        ("nothing", &[], RULES, ""),
        ("all fit", &[(P, 1); 5], RULES, ""),
        ("over the count, the oldest go", &[(P, 1); 7], RULES, "c0 c1"),
        ("over the age", &[(P, 40), (P, 31), (P, 30), (P, 29), (P, 1), (P, 1)], RULES, "c0 c1 c2"),
        ("0 days is no age", &[(P, 400), (P, 1), (P, 1), (P, 1), (P, 1)], RetentionRules { max_age_days: 0, ..RULES }, ""),
        ("the last three stay at any age", &[(P, 50), (P, 40), (P, 40), (P, 40)], RULES, "c0"),
        ("the last three stay at any count", &[(P, 1); 4], RetentionRules { max_count: 0, ..RULES }, "c0"),
        ("named ones stay", &[(N, 90), (P, 90), (P, 1), (P, 1), (P, 1)], RULES, "c1"),
        ("named ones go", &[(N, 90), (P, 1), (P, 1), (P, 1)], RetentionRules { protect_named: false, ..RULES }, "c0"),
        ("named ones count", &[(N, 1), (P, 1), (N, 1), (P, 1), (P, 1), (P, 1), (P, 1)], RULES, "c1"),
        ("safety stays for undo", &[(R, 6), (P, 6), (P, 1), (P, 1), (P, 1), (P, 1), (P, 1)], RULES, "c1"),
        ("safety goes afterwards", &[(R, 7), (P, 6), (P, 1), (P, 1), (P, 1), (P, 1), (P, 1)], RULES, "c0 c1"),
        ("a session's start is like others", &[(S, 1), (M, 1), (M, 1), (M, 1), (M, 1), (M, 1)], RULES, "c0"),
        ("a clock that went back", &[(P, -3), (P, -2), (P, -1), (P, 0)], RULES, ""),
    ];
    for (what, all, rules, expected) in table {
        assert_eq!(gone(&state(all), rules), *expected, "{what}");
    }
}

#[test]
fn after_a_hundred_merges_the_sessions_start_is_still_there() {
    let mut all = vec![(CheckpointTrigger::Periodic, 2), (CheckpointTrigger::SessionStart, 1)];
    all.extend([(CheckpointTrigger::BeforeMerge, 1); 100]);
    let mut state = state(&all);
    state.record.session = Some(Session {
        id: SessionId::new("s1").unwrap(),
        started_at: now(),
        pid: 1,
        target: RefName::branch("main"),
        slots: 1,
        max_iterations: 1,
        limits: crate::work::money::budget::BudgetLimits::default(),
        task_limits: crate::work::money::budget::BudgetLimits::default(),
        state: SessionState::Running,
        paused_at: None,
        start_checkpoint: Some(CheckpointName::new("c1").unwrap()),
        in_linked_worktree: false,
    });
    let gone = expired(&state, &RULES, now()).unwrap();
    assert!(!gone.iter().any(|name| name.as_str() == "c1"));
    assert_eq!(gone.len(), 102 - 5 - 1);
}

#[test]
fn what_an_open_rollback_needs_stays() {
    let mut state =
        state(&[(CheckpointTrigger::Periodic, 90), (CheckpointTrigger::BeforeRollback, 90), (CheckpointTrigger::Periodic, 80)]);
    let name = |text: &str| CheckpointName::new(text).unwrap();
    let mut operation = JournaledOperation::new(OperationKind::RollbackCheckpoint { partly: false, checkpoint: name("c0") }, "x");
    operation.safety = Some(name("c1"));
    state.record.open = Some(OpenOperation { txn: OperationId::new("t1").unwrap(), operation, reversing: false });
    let kept = protections(&state, &RULES, now()).unwrap();
    assert_eq!(kept[&name("c0")].last(), Some(&RetentionProtection::OpenOperation));
    assert_eq!(kept[&name("c1")].last(), Some(&RetentionProtection::OpenOperation));
}

#[test]
fn thinned_are_automatic_ones_first_the_oldest_first_and_no_protected_one() {
    use CheckpointTrigger::{BeforeRollback as R, Manual as N, Periodic as P, Prompt as A};
    let state = state(&[(N, 9), (R, 6), (P, 5), (R, 8), (A, 4), (P, 1), (P, 1), (P, 1)]);
    let of = |rules: &RetentionRules| {
        let names = thinnable(&state, rules, now()).unwrap();
        names.iter().map(CheckpointName::as_str).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(of(&RULES), "c2 c3 c4");
    assert_eq!(of(&RetentionRules { protect_named: false, ..RULES }), "c2 c3 c4 c0");
}

#[test]
fn cleaning_up_spares_the_newest_and_the_protected() {
    use CheckpointTrigger::{BeforeRollback as R, Manual as N, Periodic as P, SessionStart as S};
    let mixed: &[(CheckpointTrigger, i64)] = &[(P, 9), (N, 9), (P, 8), (P, 6), (P, 1), (P, 1), (P, 1)];
    // What it shows; checkpoints; the least age, the count, whether named ones go too; the names that go.
    type Row<'a> = (&'a str, &'a [(CheckpointTrigger, i64)], (i64, usize, bool), &'a str);
    let table: &[Row] = &[
        ("named ones stay", mixed, (7, 0, false), "c0 c2"),
        ("named ones go where that is asked", mixed, (7, 0, true), "c0 c1 c2"),
        ("so many newest stay", mixed, (7, 5, true), "c0 c1"),
        ("at any age", mixed, (0, 0, false), "c0 c2 c3"),
        ("more newest than there are", mixed, (0, 100, true), ""),
        ("the last three stay though they are named", &[(N, 1); 6], (0, 0, true), "c0 c1 c2"),
        ("and whichever of them are", &[(N, 9), (P, 9), (N, 1), (P, 1), (N, 1)], (0, 0, true), "c0 c1"),
        ("and named ones before them only where asked", &[(N, 9), (P, 9), (N, 1), (P, 1), (N, 1)], (0, 0, false), "c1"),
        ("safety stays, though named ones go", &[(R, 1), (N, 1), (P, 1), (P, 1), (P, 1)], (0, 0, true), "c1"),
        ("a session's start is like others", &[(S, 1), (N, 1), (N, 1), (N, 1)], (0, 0, true), "c0"),
    ];
    for (what, all, (age, keep, named), expected) in table {
        let gone = cleanup(&state(all), &RULES, now(), days(*age), *keep, *named).unwrap();
        let gone = gone.iter().map(CheckpointName::as_str).collect::<Vec<_>>().join(" ");
        assert_eq!(gone, *expected, "{what}");
    }
}
