//! What a human wants of the tasks that a crash cut off, by the options of `recover`, and what becomes of each: one rule for showing
//! it and for doing it. Pure.

use std::collections::BTreeSet;

use super::decide::{Action, CrashDecision, Decider};
use crate::domain::base::ids::CaseId;

/// What a human wants of the tasks that a crash cut off.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// What becomes of them; `None` leaves it to the rules.
    pub action: Option<Action>,
    /// The tasks or groups; all, where there is none.
    pub only: Option<Vec<CaseId>>,
    /// Only those that begin anew or failed.
    pub failed_only: bool,
    /// The least progress, in percent, with which a task goes on.
    pub threshold: Option<u8>,
}

/// What a human may choose after a crash, for all tasks that it cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Go on, as the rules say.
    Resume,
    /// Begin those anew that cannot go on or failed.
    FailedOnly,
    /// Only look.
    Inspect,
    /// Take them out of the plan.
    Abandon,
}

impl Choice {
    /// The choices in their order.
    pub const ALL: [Self; 4] = [Self::Resume, Self::FailedOnly, Self::Inspect, Self::Abandon];
}

/// What becomes of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Becomes {
    /// It goes on, or a human is asked.
    Resumed,
    /// It begins anew.
    Reset,
    /// It has crashed too often.
    Failed,
    /// It stays as the crash left it.
    Left,
}

impl Becomes {
    /// What a decision makes of a task that has had so many retries of so many. What a human decides needs none.
    pub fn of(decision: &CrashDecision, retries: u32, most: u32) -> Self {
        let gives_up = decision.by != Decider::Human && retries >= most;
        match decision.action {
            Action::NextTask => Self::Resumed,
            Action::ContinueTask | Action::RestartTask | Action::HumanReview if gives_up => Self::Failed,
            Action::RestartTask => Self::Reset,
            Action::ContinueTask | Action::HumanReview => Self::Resumed,
        }
    }
}

/// Who decides on a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meant {
    /// Nobody: it stays as it is.
    Left,
    /// The rules.
    Rules,
    /// The human did.
    Human(Action),
}

impl Wanted {
    /// The same, where only what cannot go on or failed begins anew: [`Choice::FailedOnly`].
    #[must_use]
    pub fn failed_only(self) -> Self {
        Self { action: Some(Action::RestartTask), failed_only: true, ..self }
    }

    /// Whether some tasks may be left as they are.
    pub fn is_limited(&self) -> bool {
        self.only.is_some() || self.failed_only
    }

    /// What is meant for a task. `chosen` are the tasks that the ids mean; `by_rules` is what becomes of it without a human. Who names a
    /// task wants that it goes on; of a group it goes on what the rules let go on.
    pub fn of(&self, task: &CaseId, chosen: Option<&BTreeSet<CaseId>>, by_rules: Becomes) -> Meant {
        let is_chosen = chosen.is_none_or(|chosen| chosen.contains(task));
        if !is_chosen || self.failed_only && by_rules == Becomes::Resumed {
            return Meant::Left;
        }
        let is_named = self.only.iter().flatten().any(|id| id == task);
        match self.action {
            None => Meant::Rules,
            Some(Action::ContinueTask) if !is_named => Meant::Rules,
            Some(action @ (Action::ContinueTask | Action::RestartTask | Action::NextTask | Action::HumanReview)) => {
                Meant::Human(action)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::recovery::marker::Follow;

    fn id(text: &str) -> CaseId {
        CaseId::new(text).unwrap()
    }

    #[test]
    fn options_say_who_decides_on_each_task() {
        let (task, other) = (id("t"), id("other"));
        let group: BTreeSet<CaseId> = [task.clone()].into();
        let named = |action| Wanted { action, only: Some(vec![task.clone()]), ..Wanted::default() };
        let in_group = |action| Wanted { action, only: Some(vec![id("group")]), ..Wanted::default() };
        let (go_on, anew) = (Some(Action::ContinueTask), Some(Action::RestartTask));
        let failed_only = Wanted { action: anew, failed_only: true, ..Wanted::default() };
        for (wanted, by_rules, expected) in [
            (Wanted::default(), Becomes::Reset, Meant::Rules),
            (Wanted { action: anew, ..Wanted::default() }, Becomes::Resumed, Meant::Human(Action::RestartTask)),
            (named(go_on), Becomes::Reset, Meant::Human(Action::ContinueTask)),
            (named(None), Becomes::Reset, Meant::Rules),
            (in_group(go_on), Becomes::Reset, Meant::Rules),
            (in_group(anew), Becomes::Resumed, Meant::Human(Action::RestartTask)),
            (failed_only.clone(), Becomes::Resumed, Meant::Left),
            (failed_only.clone(), Becomes::Reset, Meant::Human(Action::RestartTask)),
            (failed_only, Becomes::Failed, Meant::Human(Action::RestartTask)),
        ] {
            let chosen = wanted.only.as_ref().map(|_| &group);
            assert_eq!(wanted.of(&task, chosen, by_rules), expected, "{wanted:?}, by the rules {by_rules:?}");
            assert_eq!(wanted.of(&other, Some(&group), Becomes::Reset), Meant::Left);
        }
    }

    #[test]
    fn what_the_rules_decide_gives_up_after_the_retries_and_a_human_does_not() {
        let decided = |action, by| CrashDecision { action, reasoning: "x".into(), by, follow: Follow::Continue };
        for (action, before, at_last) in [
            (Action::ContinueTask, Becomes::Resumed, Becomes::Failed),
            (Action::RestartTask, Becomes::Reset, Becomes::Failed),
            (Action::HumanReview, Becomes::Resumed, Becomes::Failed),
            (Action::NextTask, Becomes::Resumed, Becomes::Resumed),
        ] {
            let by_rules = decided(action, Decider::Rules);
            assert_eq!((Becomes::of(&by_rules, 2, 3), Becomes::of(&by_rules, 3, 3)), (before, at_last), "{action:?}");
            assert_eq!(Becomes::of(&decided(action, Decider::Human), 9, 3), before, "{action:?}");
        }
    }
}
