//! What follows for a task whose iteration a crash cut off. First what is certain ([`certain`]), then an evaluator of the user's where
//! there is one, then the rules ([`by_rules`]). Where a paused session has ended, less is certain ([`certain_after_pause`]). Pure.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::base::forms::plural::count;
use crate::work::iteration_marker::{CrashFollowUp, IterationMarker, IterationRecordState, ToolCallEffect, follow};
use axiom_base::error::{Code, Error, Result};

/// So many changed files, of which nothing was said, are more than a rule can judge.
pub const MANY_FILES: u64 = 30;

/// What becomes of the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CrashAction {
    /// It goes on where it was, with what is there.
    ContinueTask,
    /// It begins anew; what is there is kept aside.
    RestartTask,
    /// Its work is complete: it is verified, and the next one follows.
    NextTask,
    /// A human has to look at it.
    HumanReview,
}

impl CrashAction {
    /// All.
    pub const ALL: [Self; 4] = [Self::ContinueTask, Self::RestartTask, Self::NextTask, Self::HumanReview];

    /// The word in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ContinueTask => "continue_task",
            Self::RestartTask => "restart_task",
            Self::NextTask => "next_task",
            Self::HumanReview => "human_review",
        }
    }
}

impl std::str::FromStr for CrashAction {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == text).ok_or_else(|| {
            let words = Self::ALL.map(Self::as_str).join(", ");
            Error::new(Code::InvalidInput, format!("'{text}' is none of {words}"))
        })
    }
}

/// Who decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CrashDecider {
    /// The rules here.
    Rules,
    /// The command of `recovery.evaluator`.
    Evaluator,
    /// A human, by `recover --resume` or `--reset`.
    Human,
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CrashDecision {
    /// What becomes of the task.
    pub action: CrashAction,
    /// Why.
    pub reasoning: String,
    /// Who decided.
    pub by: CrashDecider,
    /// What the marker means for the iteration.
    pub follow: CrashFollowUp,
}

/// The last decision on a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastCrashDecision {
    /// The decision.
    #[serde(flatten)]
    pub decision: CrashDecision,
    /// When it was made.
    pub at: Timestamp,
    /// Whether its task is not released yet: it is carried out, and not made again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
    /// Whether what is there is kept aside before the task is claimed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub puts_aside: bool,
}

impl CrashDecision {
    /// Where its agent had reported that the task is complete before its keeper died.
    pub fn reported_complete() -> Self {
        Self {
            action: CrashAction::NextTask,
            reasoning: "the agent had reported that it is complete".to_owned(),
            by: CrashDecider::Rules,
            follow: CrashFollowUp::Continue,
        }
    }
}

/// Where the work on a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkPlace {
    /// In its workspace.
    There,
    /// Its folder is gone, and is made again with what the capture of this time holds.
    Captured(Timestamp),
    /// Its folder is gone, and is made again with what is committed.
    Committed,
    /// Its folder is gone, and nothing of the work was saved. Whether it may begin anew without a human is said with it.
    Gone(MayBeginAnew),
}

/// Whether a task may begin anew without a human, where nothing of its work is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayBeginAnew {
    /// It may: in autopilot.
    Yes,
    /// A human has to agree first.
    Asks,
}

/// Why a task begins anew whose work is gone.
pub const GONE: &str = "the folder of its workspace is gone, and nothing of its work was saved";

impl fmt::Display for CrashDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.action.as_str(), self.reasoning)
    }
}

/// What the last markers and files of an iteration say, and what is known of its task.
#[derive(Debug, Clone, PartialEq)]
pub struct CrashFacts {
    /// What is recorded of the iteration.
    pub recorded: IterationRecordState,
    /// Where its program was.
    pub program: CutOffProgram,
    /// The last sign of life, or the time of the pause.
    pub saved_at: Option<Timestamp>,
    /// Whether a human paused or stopped the work: it does not age.
    pub paused: bool,
    /// The iterations of the task.
    pub counted: IterationCounters,
    /// The progress in percent: what the agent said, else its parts.
    pub progress: Option<u8>,
    /// Whether nothing was changed since that progress was said in this iteration: it is said of what is there.
    pub said_of_this: bool,
    /// Whether the work was given back to an agent, and none has reported it as complete since.
    pub given_back: bool,
    /// Where the work is.
    pub place: WorkPlace,
    /// Whether the verify steps of the task passed, or one failed, on the commit that is there and on nothing else.
    pub tests_pass: Option<bool>,
    /// Whether the task has verify steps.
    pub has_steps: bool,
    /// What there is of the work.
    pub work: ChangedWork,
}

/// Where the program of an iteration was that was cut off.
#[derive(Debug, Clone, PartialEq)]
pub struct CutOffProgram {
    /// The last marker.
    pub marker: Option<IterationMarker>,
    /// Whether the program's output has markers.
    pub tells_markers: bool,
    /// What is found of the effect of a begun call.
    pub effect: ToolCallEffect,
}

impl CutOffProgram {
    /// What follows for the iteration.
    pub fn follow(&self) -> CrashFollowUp {
        follow(self.marker.as_ref(), self.effect)
    }
}

/// How much was done in iterations, by their records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IterationCounters {
    /// How many there were.
    pub iterations: u32,
    /// The tokens that they used, where that is known.
    pub tokens: Option<u64>,
}

impl IterationCounters {
    /// Why they cannot both be right: fifty iterations cannot have used no tokens. Unknown is not 0.
    fn contradiction(&self) -> Option<String> {
        let iterations = count(self.iterations as usize, "iteration");
        (self.iterations > 1 && self.tokens == Some(0))
            .then(|| format!("its counters contradict each other: {iterations} and no tokens"))
    }
}

/// What there is of the work on a task, in its branch and workspace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChangedWork {
    /// How many files differ from where the task began.
    pub changed: u64,
    /// The empty ones of them.
    pub empty: u64,
    /// Those that were changed in the hour before the crash; `None` where none could be looked at.
    pub recent: Option<u64>,
    /// How many commits the agent made itself.
    pub commits: u64,
}

impl ChangedWork {
    /// The decision by what there is, where nothing was said of how far the work is.
    fn weigh(&self) -> (CrashAction, String) {
        let changed = self.in_words();
        if self.changed == 0 {
            return (CrashAction::RestartTask, "nothing was changed yet".into());
        }
        if self.empty == self.changed {
            return (CrashAction::RestartTask, format!("all that was changed is empty: {changed}"));
        }
        if self.commits > 0 {
            let commits = count(usize::try_from(self.commits).unwrap_or(usize::MAX), "commit");
            return (CrashAction::ContinueTask, format!("its agent made {commits}; {changed}"));
        }
        if self.recent == Some(0) {
            return (CrashAction::HumanReview, format!("{changed}, none of them in the last hour before it was cut off"));
        }
        if self.changed >= MANY_FILES {
            return (CrashAction::HumanReview, format!("{changed}, and nothing was said of how far the work is"));
        }
        (CrashAction::ContinueTask, format!("its work is there: {changed}"))
    }

    fn in_words(&self) -> String {
        count(usize::try_from(self.changed).unwrap_or(usize::MAX), "changed file")
    }
}

/// The settings that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashDecisionLimits {
    /// `recovery.resumeThreshold`: with less progress a task begins anew.
    pub threshold: u8,
    /// Whether it counts for programs with markers too: it was given on the command line.
    pub for_all: bool,
    /// `recovery.maxAgeHours`; 0 is none.
    pub max_age_hours: u32,
    /// `recovery.autoResetOrphaned`.
    pub auto_reset: bool,
}

/// Whether a time is too long ago. A time in the future is fresh.
pub fn is_too_old(saved: Timestamp, now: Timestamp, max_age_hours: u32) -> bool {
    max_age_hours > 0 && now.duration_since(saved) >= SignedDuration::from_hours(i64::from(max_age_hours))
}

/// The decision of a human, or else the one that is certain; `None` where it has to be weighed.
pub fn decided(
    facts: &CrashFacts,
    by_human: Option<CrashAction>,
    limits: CrashDecisionLimits,
    now: Timestamp,
) -> Option<CrashDecision> {
    let Some(action) = by_human else { return certain(facts, limits, now) };
    let follow = facts.program.follow();
    Some(CrashDecision { action, reasoning: "a human decided so".to_owned(), by: CrashDecider::Human, follow })
}

/// The decision where it is certain; `None` where it has to be weighed.
pub fn certain(facts: &CrashFacts, limits: CrashDecisionLimits, now: Timestamp) -> Option<CrashDecision> {
    let follow = facts.program.follow();
    let decided = |action, reasoning: String| Some(CrashDecision { action, reasoning, by: CrashDecider::Rules, follow });
    if let Some(gone) = gone(facts) {
        return Some(CrashDecision { follow, ..gone });
    }
    let is_under = facts.progress.filter(|progress| *progress < limits.threshold);
    if facts.given_back && limits.auto_reset && is_under.filter(|_| limits.for_all).is_none() {
        return decided(CrashAction::ContinueTask, given_back());
    }
    match facts.recorded {
        IterationRecordState::Complete => return Some(CrashDecision { follow, ..CrashDecision::reported_complete() }),
        IterationRecordState::Nothing => return decided(CrashAction::RestartTask, "nothing is recorded of the iteration".into()),
        IterationRecordState::Damaged => {
            return decided(CrashAction::RestartTask, "the record of the iteration is damaged".into());
        }
        IterationRecordState::Whole => {}
    }
    if let Some(why) = facts.counted.contradiction() {
        return decided(CrashAction::RestartTask, why);
    }
    if !limits.auto_reset {
        return decided(CrashAction::HumanReview, "recovery.autoResetOrphaned is off".into());
    }
    if let Some(saved) = facts.saved_at.filter(|saved| !facts.paused && is_too_old(*saved, now, limits.max_age_hours)) {
        let hours = now.duration_since(saved).as_hours();
        return decided(CrashAction::RestartTask, format!("its last sign of life was {hours} hours ago"));
    }
    if let Some(progress) = is_under.filter(|_| limits.for_all || facts.program.marker.is_none()) {
        return decided(CrashAction::RestartTask, format!("{progress}% is under the threshold of {}%", limits.threshold));
    }
    let tells_markers = facts.program.tells_markers;
    match &facts.program.marker {
        Some(marker) => decided(CrashAction::ContinueTask, format!("{}; {}", marker.in_words(), follow.in_words())),
        None if tells_markers && facts.work.changed > 0 && facts.work.commits == 0 && facts.counted.iterations <= 1 => {
            decided(CrashAction::RestartTask, "files were changed, and its program has told nothing".into())
        }
        None if tells_markers => decided(CrashAction::ContinueTask, format!("no request was sent; {}", follow.in_words())),
        None => None,
    }
}

/// Where nothing of the work is left: there is nothing to weigh.
fn gone(facts: &CrashFacts) -> Option<CrashDecision> {
    let action = match facts.place {
        WorkPlace::There | WorkPlace::Captured(_) | WorkPlace::Committed => return None,
        WorkPlace::Gone(MayBeginAnew::Yes) => CrashAction::RestartTask,
        WorkPlace::Gone(MayBeginAnew::Asks) => CrashAction::HumanReview,
    };
    Some(CrashDecision { action, reasoning: GONE.to_owned(), by: CrashDecider::Rules, follow: CrashFollowUp::RestartIteration })
}

fn given_back() -> String {
    "its work was given back to an agent: what was reported and verified before does not count".to_owned()
}

/// The decision on work whose session was paused and then ended, where it is certain; `None` where it has to be weighed. Its iterations
/// were ended, not cut off, however long ago and however little was done.
pub fn certain_after_pause(facts: &CrashFacts) -> Option<CrashDecision> {
    let follow = facts.program.follow();
    let decided = |action, reasoning| Some(CrashDecision { action, reasoning, by: CrashDecider::Rules, follow });
    match gone(facts) {
        Some(gone) => Some(gone),
        None if facts.given_back => decided(CrashAction::ContinueTask, given_back()),
        None => facts.counted.contradiction().and_then(|why| decided(CrashAction::RestartTask, why)),
    }
}

/// The decision by files, counters and reports.
pub fn by_rules(facts: &CrashFacts) -> CrashDecision {
    let (action, reasoning) = weigh(facts);
    CrashDecision { action, reasoning, by: CrashDecider::Rules, follow: facts.program.follow() }
}

fn weigh(facts: &CrashFacts) -> (CrashAction, String) {
    match (facts.progress, facts.tests_pass) {
        (Some(100), Some(true)) if facts.said_of_this => {
            (CrashAction::NextTask, "it was reported as 100% done, and its tests pass".into())
        }
        (Some(100), None) if facts.said_of_this && facts.has_steps => {
            (CrashAction::NextTask, "it was reported as 100% done; whether its tests pass is found out first".into())
        }
        (Some(percent), _) => {
            (CrashAction::ContinueTask, format!("{percent}% of it was reported as done; {}", facts.work.in_words()))
        }
        (None, _) => facts.work.weigh(),
    }
}
