//! Which checkpoints are kept, and why. Pure.

use crate::checkpoint::trigger::{CheckpointType, is_safety};
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;

use crate::base::ids::CheckpointName;
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
    pub(super) fn is_too_old(&self, made: Timestamp, now: Timestamp) -> bool {
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
pub(super) fn newest_first<'r>(records: impl IntoIterator<Item = &'r CheckpointRecord>) -> Vec<&'r CheckpointRecord> {
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

pub(super) fn protections_of(
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

pub(super) fn age_in_days(made: Timestamp, now: Timestamp) -> i64 {
    now.duration_since(made).as_secs() / (24 * 60 * 60)
}
