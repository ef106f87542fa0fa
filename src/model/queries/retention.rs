//! Which checkpoints are kept, and why. Pure.

use crate::checkpoint::trigger::{CheckpointTrigger, CheckpointType, is_safety};
use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::base::ids::{CheckpointName, TaskId};
use crate::checkpoint::older_checkpoints::{RetentionClass, RetentionGroup};
use crate::checkpoint::record::CheckpointRecord;
use crate::journal::journaled::OperationKind;
use crate::state::current_state::State;
use axiom_base::error::Result;

/// How many of the newest checkpoints are always kept.
pub const NEWEST: usize = 3;

/// The configured rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionRules {
    /// How many checkpoints are kept.
    pub max_count: u32,
    /// How many days they are kept.
    pub max_age_days: u32,
    /// Whether named checkpoints are always kept.
    pub protect_named: bool,
    /// For how many days an operation can be undone, and a deleted checkpoint brought back.
    pub keep_deleted_days: u32,
    /// How many checkpoints of prompts are kept.
    pub keep_prompts: u32,
}

impl RetentionRules {
    /// Whether what was made then is over its age; never where `maxAgeDays` is 0.
    fn is_too_old(&self, made: Timestamp, now: Timestamp) -> bool {
        self.max_age_days > 0 && age_in_days(made, now) >= i64::from(self.max_age_days)
    }
}

/// Why a checkpoint is not removed automatically. Ordered: of several reasons, the last is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetentionProtection {
    /// It is one of the newest, or the newest complete one.
    Newest,
    /// The user named it.
    Named,
    /// It was made before an operation that can still be undone.
    Undo,
    /// The session began with it.
    SessionStart,
    /// An open operation needs it.
    OpenOperation,
}

impl RetentionProtection {
    /// In words, after "is kept:".
    pub const fn why(self) -> &'static str {
        match self {
            Self::Newest => "it is one of the newest",
            Self::Named => "it was named",
            Self::Undo => "what was done after it can still be undone",
            Self::SessionStart => "the session began with it",
            Self::OpenOperation => "an unfinished operation needs it",
        }
    }
}

/// These checkpoints, newest first.
fn newest_first<'r>(records: impl IntoIterator<Item = &'r CheckpointRecord>) -> Vec<&'r CheckpointRecord> {
    let mut records: Vec<&CheckpointRecord> = records.into_iter().collect();
    records.sort_by_key(|record| std::cmp::Reverse(record.age()));
    records
}

/// The reasons that protect each checkpoint. All of them, because a caller may ignore one of them.
pub fn protections(
    state: &State,
    rules: &RetentionRules,
    now: Timestamp,
) -> Result<BTreeMap<CheckpointName, BTreeSet<RetentionProtection>>> {
    Ok(protections_of(&newest_first(state.record.checkpoints.all()?), state, rules, now))
}

fn protections_of(
    newest_first: &[&CheckpointRecord],
    state: &State,
    rules: &RetentionRules,
    now: Timestamp,
) -> BTreeMap<CheckpointName, BTreeSet<RetentionProtection>> {
    let mut kept: BTreeMap<CheckpointName, BTreeSet<RetentionProtection>> = BTreeMap::new();
    let mut keep = |name: &CheckpointName, why: RetentionProtection| {
        kept.entry(name.clone()).or_default().insert(why);
    };
    newest_first.iter().take(NEWEST).for_each(|record| keep(&record.name, RetentionProtection::Newest));
    // Checkpoints of known paths are built on it.
    let complete = newest_first.iter().find(|record| record.only.is_none());
    complete.into_iter().for_each(|record| keep(&record.name, RetentionProtection::Newest));
    for record in newest_first {
        if rules.protect_named && record.kind == CheckpointType::Named {
            keep(&record.name, RetentionProtection::Named);
        }
        if is_safety(record.trigger) && age_in_days(record.created_at, now) < i64::from(rules.keep_deleted_days) {
            keep(&record.name, RetentionProtection::Undo);
        }
    }
    if let Some(start) = state.record.session.as_ref().and_then(|session| session.start_checkpoint.as_ref()) {
        keep(start, RetentionProtection::SessionStart);
    }
    if let Some(open) = &state.record.open {
        open.operation.safety.iter().for_each(|name| keep(name, RetentionProtection::OpenOperation));
        if let OperationKind::RollbackCheckpoint { checkpoint, .. } = &open.operation.kind {
            keep(checkpoint, RetentionProtection::OpenOperation);
        }
    }
    kept
}

/// The checkpoints that have expired, oldest first: over the age, or over the count. Complete ones and those of known paths
/// are counted separately: the latter can be made after every edit of an agent, and are built on complete ones.
pub fn expired(state: &State, rules: &RetentionRules, now: Timestamp) -> Result<Vec<CheckpointName>> {
    let checkpoints = &state.record.checkpoints;
    let recent = newest_first(checkpoints.recent());
    let counted = |of_paths| recent.iter().filter(|record| record.only.is_some() == of_paths).count();
    let may_expire = |group: &RetentionGroup| may_expire(group, counted(group.of_paths), rules, now);
    let all = match checkpoints.older() {
        // Those of attached sessions are thinned by age, one by one.
        Some(_) if state.record.attached.checkpoints > 0 => newest_first(checkpoints.all()?),
        Some(older) if older.summary().groups.iter().any(may_expire) => newest_first(checkpoints.all()?),
        Some(_) | None => recent,
    };
    let kept = protections_of(&all, state, rules, now);
    let mut gone = Vec::new();
    let (mut complete, mut of_paths) = (0, 0);
    let mut attached = AttachedThinning::default();
    for record in all {
        if record.trigger.is_attached() {
            if attached.expires(record, rules, now) && !kept.contains_key(&record.name) {
                gone.push(record.name.clone());
            }
            continue;
        }
        let counted = if record.only.is_none() { &mut complete } else { &mut of_paths };
        *counted += 1;
        let over_count = *counted > rules.max_count;
        let over_age = rules.is_too_old(record.created_at, now);
        if (over_count || over_age) && !kept.contains_key(&record.name) {
            gone.push(record.name.clone());
        }
    }
    gone.reverse();
    Ok(gone)
}

/// Thinning of checkpoints of attached sessions, newest first. They are outside of `maxCount`.
#[derive(Default)]
struct AttachedThinning {
    prompts: u32,
    /// The hours and days that have one already.
    hours: BTreeSet<i64>,
    days: BTreeSet<i64>,
}

impl AttachedThinning {
    /// Prompts are counted; of the others stay all of the last hour, one of each hour of the last day, and one of each day.
    fn expires(&mut self, record: &CheckpointRecord, rules: &RetentionRules, now: Timestamp) -> bool {
        const HOUR: i64 = 60 * 60;
        if rules.is_too_old(record.created_at, now) {
            return true;
        }
        if record.trigger == CheckpointTrigger::Prompt {
            self.prompts += 1;
            return self.prompts > rules.keep_prompts;
        }
        let (age, made) = (now.duration_since(record.created_at).as_secs(), record.created_at.as_second());
        if age < HOUR {
            return false;
        }
        if age < 24 * HOUR { !self.hours.insert(made.div_euclid(HOUR)) } else { !self.days.insert(made.div_euclid(24 * HOUR)) }
    }
}

/// Whether one of a group of older checkpoints may have expired, where `recent` newer ones are counted with it. Where this
/// is false, none has.
fn may_expire(group: &RetentionGroup, recent: usize, rules: &RetentionRules, now: Timestamp) -> bool {
    let age = age_in_days(group.oldest, now);
    let is_protected = match group.sort {
        RetentionClass::Named => rules.protect_named,
        RetentionClass::Safety => age < i64::from(rules.keep_deleted_days),
        RetentionClass::Automatic => false,
    };
    let over_count = recent + group.last > rules.max_count as usize;
    !is_protected && (over_count || rules.is_too_old(group.oldest, now))
}

/// The checkpoints that `cleanup` removes, oldest first: those older than `older_than`, except the newest `keep` and the
/// protected ones. With `named`, a name does not protect.
pub fn cleanup(
    state: &State,
    rules: &RetentionRules,
    now: Timestamp,
    older_than: SignedDuration,
    keep: usize,
    named: bool,
) -> Result<Vec<CheckpointName>> {
    let all = newest_first(state.record.checkpoints.all()?);
    let kept = protections_of(&all, state, rules, now);
    let stands = |why: &RetentionProtection| match why {
        RetentionProtection::Named => !named,
        RetentionProtection::Newest
        | RetentionProtection::Undo
        | RetentionProtection::SessionStart
        | RetentionProtection::OpenOperation => true,
    };
    let is_protected = |name: &CheckpointName| kept.get(name).is_some_and(|reasons| reasons.iter().any(stands));
    let old = all.into_iter().skip(keep).filter(|record| now.duration_since(record.created_at) >= older_than);
    let mut gone: Vec<CheckpointName> = old.filter(|r| !is_protected(&r.name)).map(|record| record.name.clone()).collect();
    gone.reverse();
    Ok(gone)
}

/// The checkpoints that may go where all of them hold too much, in this order: the automatic ones, then others, the oldest first, without
/// the protected ones.
pub fn thinnable(state: &State, rules: &RetentionRules, now: Timestamp) -> Result<Vec<CheckpointName>> {
    let all = newest_first(state.record.checkpoints.all()?);
    let kept = protections_of(&all, state, rules, now);
    let (automatic, named): (Vec<_>, Vec<_>) = all
        .into_iter()
        .rev()
        .filter(|record| !kept.contains_key(&record.name))
        .partition(|record| record.kind == CheckpointType::Auto);
    Ok(automatic.into_iter().chain(named).map(|record| record.name.clone()).collect())
}

/// Whether the newest capture of a task's workspace (`refs/axiom/live/<task>`), made at `made`, has expired. It never
/// expires while the state knows the workspace: the capture may be the only copy of uncommitted work there. After the
/// workspace was discarded or moved to the trash, the capture is kept for `keepDeletedDays`, like the trash.
///
/// `made` is asked only where it matters; `None` where it is not known, and then the capture stays.
pub fn live_capture_ends(
    state: &State,
    task: &TaskId,
    made: impl FnOnce() -> Option<Timestamp>,
    rules: &RetentionRules,
    now: Timestamp,
) -> bool {
    let limit = SignedDuration::from_hours(24 * i64::from(rules.keep_deleted_days));
    !state.restorable.workspaces.contains_key(task) && made().is_some_and(|made| now.duration_since(made) > limit)
}

fn age_in_days(made: Timestamp, now: Timestamp) -> i64 {
    now.duration_since(made).as_secs() / (24 * 60 * 60)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::base::ids::{AgentId, OperationId, SessionId};
    use crate::base::names::{Oid, RefName};
    use crate::checkpoint::catalog::{CheckpointCatalog, OlderCheckpoints};
    use crate::checkpoint::known_scope::KnownPathsCount;
    use crate::checkpoint::older_checkpoints;
    use crate::journal::journaled::JournaledOperation;
    use crate::state::current_state::OpenOperation;
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
        let (count, records): (Arc<AtomicUsize>, Vec<CheckpointRecord>) =
            (Arc::default(), older.iter().copied().cloned().collect());
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
            &[
                &[(CheckpointTrigger::Manual, 400); 30][..],
                &[(CheckpointTrigger::BeforeUndo, 2), (CheckpointTrigger::Periodic, 1)],
            ]
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
        let mut state = state(&[
            (CheckpointTrigger::Periodic, 90),
            (CheckpointTrigger::BeforeRollback, 90),
            (CheckpointTrigger::Periodic, 80),
        ]);
        let name = |text: &str| CheckpointName::new(text).unwrap();
        let mut operation =
            JournaledOperation::new(OperationKind::RollbackCheckpoint { partly: false, checkpoint: name("c0") }, "x");
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
}
