//! What a human wants of the tasks that a crash cut off, by the options of `recover`, and what becomes of each: one rule for showing
//! it and for doing it. Pure.

use std::collections::BTreeSet;

use super::decide::{CrashAction, CrashDecider, CrashDecision};
use crate::base::ids::TaskId;

/// What a human wants of the tasks that a crash cut off.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecoverySelection {
    /// What becomes of them; `None` leaves it to the rules.
    pub action: Option<CrashAction>,
    /// The tasks or groups; all, where there is none.
    pub only: Option<Vec<TaskId>>,
    /// Only those that begin anew or failed.
    pub failed_only: bool,
    /// The least progress, in percent, with which a task goes on.
    pub threshold: Option<u8>,
}

/// What a human may choose after a crash, for all tasks that it cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashRecoveryChoice {
    /// Go on, as the rules say.
    Resume,
    /// Begin those anew that cannot go on or failed.
    FailedOnly,
    /// Only look.
    Inspect,
    /// Take them out of the plan.
    Abandon,
}

impl CrashRecoveryChoice {
    /// The choices in their order.
    pub const ALL: [Self; 4] = [Self::Resume, Self::FailedOnly, Self::Inspect, Self::Abandon];
}

/// What becomes of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashedTaskFate {
    /// It goes on, or a human is asked.
    Resumed,
    /// It begins anew.
    Reset,
    /// It has crashed too often.
    Failed,
    /// It stays as the crash left it.
    Left,
}

impl CrashedTaskFate {
    /// What a decision makes of a task, and whether that has been begun again after crashes as often as it may. What a human decides, and
    /// what is complete, is not begun again by that.
    pub fn of(decision: &CrashDecision, retries_used_up: bool) -> Self {
        let gives_up = decision.by != CrashDecider::Human && retries_used_up;
        match decision.action {
            CrashAction::NextTask => Self::Resumed,
            CrashAction::ContinueTask | CrashAction::RestartTask | CrashAction::HumanReview if gives_up => Self::Failed,
            CrashAction::RestartTask => Self::Reset,
            CrashAction::ContinueTask | CrashAction::HumanReview => Self::Resumed,
        }
    }
}

/// Who decides on a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionAuthority {
    /// Nobody: it stays as it is.
    Left,
    /// The rules.
    Rules,
    /// The human did.
    Human(CrashAction),
}

impl RecoverySelection {
    /// The same, where only what cannot go on or failed begins anew: [`CrashRecoveryChoice::FailedOnly`].
    #[must_use]
    pub fn failed_only(self) -> Self {
        Self { action: Some(CrashAction::RestartTask), failed_only: true, ..self }
    }

    /// Whether some tasks may be left as they are.
    pub fn is_limited(&self) -> bool {
        self.only.is_some() || self.failed_only
    }

    /// What is meant for a task. `chosen` are the tasks that the ids mean; `by_rules` is what becomes of it without a human. Who names a
    /// task wants that it goes on; of a group it goes on what the rules let go on.
    pub fn of(&self, task: &TaskId, chosen: Option<&BTreeSet<TaskId>>, by_rules: CrashedTaskFate) -> DecisionAuthority {
        let is_chosen = chosen.is_none_or(|chosen| chosen.contains(task));
        if !is_chosen || self.failed_only && by_rules == CrashedTaskFate::Resumed {
            return DecisionAuthority::Left;
        }
        let is_named = self.only.iter().flatten().any(|id| id == task);
        match self.action {
            None => DecisionAuthority::Rules,
            Some(CrashAction::ContinueTask) if !is_named => DecisionAuthority::Rules,
            Some(
                action
                @ (CrashAction::ContinueTask | CrashAction::RestartTask | CrashAction::NextTask | CrashAction::HumanReview),
            ) => DecisionAuthority::Human(action),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::iteration_marker::CrashFollowUp;

    fn id(text: &str) -> TaskId {
        TaskId::new(text).unwrap()
    }

    #[test]
    fn options_say_who_decides_on_each_task() {
        let (task, other) = (id("t"), id("other"));
        let group: BTreeSet<TaskId> = [task.clone()].into();
        let named = |action| RecoverySelection { action, only: Some(vec![task.clone()]), ..RecoverySelection::default() };
        let in_group = |action| RecoverySelection { action, only: Some(vec![id("group")]), ..RecoverySelection::default() };
        let (go_on, anew) = (Some(CrashAction::ContinueTask), Some(CrashAction::RestartTask));
        let failed_only = RecoverySelection { action: anew, failed_only: true, ..RecoverySelection::default() };
        for (wanted, by_rules, expected) in [
            (RecoverySelection::default(), CrashedTaskFate::Reset, DecisionAuthority::Rules),
            (
                RecoverySelection { action: anew, ..RecoverySelection::default() },
                CrashedTaskFate::Resumed,
                DecisionAuthority::Human(CrashAction::RestartTask),
            ),
            (named(go_on), CrashedTaskFate::Reset, DecisionAuthority::Human(CrashAction::ContinueTask)),
            (named(None), CrashedTaskFate::Reset, DecisionAuthority::Rules),
            (in_group(go_on), CrashedTaskFate::Reset, DecisionAuthority::Rules),
            (in_group(anew), CrashedTaskFate::Resumed, DecisionAuthority::Human(CrashAction::RestartTask)),
            (failed_only.clone(), CrashedTaskFate::Resumed, DecisionAuthority::Left),
            (failed_only.clone(), CrashedTaskFate::Reset, DecisionAuthority::Human(CrashAction::RestartTask)),
            (failed_only, CrashedTaskFate::Failed, DecisionAuthority::Human(CrashAction::RestartTask)),
        ] {
            let chosen = wanted.only.as_ref().map(|_| &group);
            assert_eq!(wanted.of(&task, chosen, by_rules), expected, "{wanted:?}, by the rules {by_rules:?}");
            assert_eq!(wanted.of(&other, Some(&group), CrashedTaskFate::Reset), DecisionAuthority::Left);
        }
    }

    #[test]
    fn what_the_rules_decide_gives_up_after_the_retries_and_a_human_does_not() {
        let decided = |action, by| CrashDecision { action, reasoning: "x".into(), by, follow: CrashFollowUp::Continue };
        for (action, before, at_last) in [
            (CrashAction::ContinueTask, CrashedTaskFate::Resumed, CrashedTaskFate::Failed),
            (CrashAction::RestartTask, CrashedTaskFate::Reset, CrashedTaskFate::Failed),
            (CrashAction::HumanReview, CrashedTaskFate::Resumed, CrashedTaskFate::Failed),
            (CrashAction::NextTask, CrashedTaskFate::Resumed, CrashedTaskFate::Resumed),
        ] {
            let by_rules = decided(action, CrashDecider::Rules);
            assert_eq!(
                (CrashedTaskFate::of(&by_rules, false), CrashedTaskFate::of(&by_rules, true)),
                (before, at_last),
                "{action:?}"
            );
            assert_eq!(CrashedTaskFate::of(&decided(action, CrashDecider::Human), true), before, "{action:?}");
        }
    }
}
