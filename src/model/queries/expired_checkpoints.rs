//! Which checkpoints and captures have expired, and which go when somebody cleans up or the disk is full. Pure.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::retention::{RetentionProtection, RetentionRules, age_in_days, newest_first, protections_of};
use crate::base::ids::{CheckpointName, TaskId};
use crate::checkpoint::older_checkpoints::{RetentionClass, RetentionGroup};
use crate::checkpoint::record::CheckpointRecord;
use crate::checkpoint::trigger::{CheckpointTrigger, CheckpointType};
use crate::state::current_state::State;
use axiom_base::error::Result;

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
