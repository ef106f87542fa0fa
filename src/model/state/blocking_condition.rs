//! Lasting reasons for which verbs refuse, and how to resolve each: `recover` finds and shows them.
//!
//! If a verb is made to refuse for a new lasting reason (one that is not in the user's input), add the reason here and the
//! check for it in `agents::recover::wedged`. A test runs the binary with all of them.

use serde::Serialize;

use crate::base::forms::plural::count;
use crate::recovery::git_damage::GitDamage;
use axiom_base::shell_word::shell_word;

/// A lasting condition because of which a verb refuses or does less than it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockingCondition {
    /// A lock file of git's. Its owner is proved dead.
    DeadLock {
        /// Its path.
        path: String,
    },
    /// Lines of the log are damaged, but a good snapshot covers them: the state is sound, the history is not.
    EarlierDamage {
        /// What is damaged.
        what: String,
    },
    /// The state knows checkpoints, but git has none of their objects.
    CheckpointsGone {
        /// Their names.
        names: Vec<String>,
        /// Whether these are all checkpoints that the state knows: the state may have come from another repository.
        all: bool,
    },
    /// The refs of checkpoints are gone, and all that they held is there.
    CheckpointRefsGone {
        /// Their names.
        names: Vec<String>,
    },
    /// A rewrite of the history (`git filter-repo`) has ended checkpoints: perhaps it took a secret out, so nothing is made again.
    CheckpointsRewritten {
        /// Their names.
        names: Vec<String>,
    },
    /// Files or objects of git's own are damaged.
    Git(GitDamage),
    /// The folder of a linked worktree holds something else: another repository, a worktree of another repository, or no
    /// `.git`.
    NotTheWorktree {
        /// The path of the folder.
        path: String,
        /// What it holds.
        what: String,
        /// Whether it is an agent's workspace: then `recover` makes it again.
        workspace: bool,
        /// Whether another repository is certainly what is there.
        taken: bool,
    },
    /// The links between a linked worktree and its repository, or its branch or index, are damaged.
    DamagedWorktree {
        /// Its path, or that of its git directory.
        path: String,
        /// What is wrong.
        what: String,
        /// The command that repairs it, where it is not certain what was there.
        by_hand: Option<String>,
    },
    /// A linked worktree was moved by hand, or deleted.
    WorktreeMoved {
        /// Where it was.
        path: String,
        /// Where it is now, if that was found.
        now_at: Option<String>,
    },
    /// A workspace that the state does not know: it is left over from a lost state.
    LeftWorkspace {
        /// Its path.
        path: String,
        /// Its branch.
        branch: String,
    },
    /// A branch with the name of a task's branch that this state did not make.
    LeftBranch {
        /// Its short name.
        branch: String,
    },
    /// An agent's workspace exists and cannot be captured: its task waits, others go on.
    NotCaptured {
        /// Its path.
        path: String,
        /// The reason.
        why: String,
    },
    /// A planner was cut off: its plan waits.
    PlanCutOff {
        /// The phase in which it was.
        phase: &'static str,
    },
    /// A purge was cut off: nothing is written before it is complete.
    PurgeCutOff,
    /// No checkpoint can be made, and so no verb works that makes one first.
    NoCheckpoint {
        /// The error code of these verbs.
        code: &'static str,
        /// The reason.
        why: String,
        /// What to do about it.
        hints: Vec<String>,
    },
}

/// Who resolves a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionRemedy {
    /// `git axiom recover --yes`.
    Recover,
    /// A human, with these commands; each has an explanation.
    ByHand(Vec<String>),
}

/// A condition as `recover` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockingConditionView {
    /// The name of the condition.
    pub reason: &'static str,
    /// The condition in words.
    pub what: String,
    /// Whether a verb refuses because of it.
    pub stops: bool,
    /// Whether `recover --yes` puts it right.
    pub recovers: bool,
    /// The commands that do otherwise.
    pub hints: Vec<String>,
}

impl BlockingCondition {
    /// The name of the condition, for scripts.
    pub fn name(&self) -> &'static str {
        match self {
            Self::DeadLock { .. } => "deadLock",
            Self::EarlierDamage { .. } => "earlierDamage",
            Self::CheckpointsGone { .. } => "checkpointsGone",
            Self::CheckpointRefsGone { .. } => "checkpointRefsGone",
            Self::CheckpointsRewritten { .. } => "checkpointsRewritten",
            Self::Git(_) => "gitDamage",
            Self::NotTheWorktree { .. } => "notTheWorktree",
            Self::DamagedWorktree { .. } => "damagedWorktree",
            Self::WorktreeMoved { .. } => "worktreeMoved",
            Self::LeftWorkspace { .. } => "leftWorkspace",
            Self::LeftBranch { .. } => "leftBranch",
            Self::NotCaptured { .. } => "notCaptured",
            Self::PlanCutOff { .. } => "planCutOff",
            Self::PurgeCutOff => "purgeCutOff",
            Self::NoCheckpoint { .. } => "noCheckpoint",
        }
    }

    /// Whether a verb refuses because of it. Otherwise something is not held or not known.
    pub fn stops(&self) -> bool {
        match self {
            Self::DeadLock { .. }
            | Self::EarlierDamage { .. }
            | Self::CheckpointsGone { .. }
            | Self::CheckpointRefsGone { .. }
            | Self::CheckpointsRewritten { .. }
            | Self::LeftWorkspace { .. }
            | Self::LeftBranch { .. }
            | Self::PlanCutOff { .. }
            | Self::PurgeCutOff
            | Self::NoCheckpoint { .. } => true,
            Self::NotTheWorktree { workspace, .. } => *workspace,
            Self::Git(damage) => damage.stops(),
            Self::DamagedWorktree { .. } | Self::WorktreeMoved { .. } | Self::NotCaptured { .. } => false,
        }
    }

    /// The condition in words.
    pub fn words(&self) -> String {
        match self {
            Self::DeadLock { path } => format!("the lock '{path}' was left by a process that ended"),
            Self::EarlierDamage { what } => {
                format!("{what}; the present state is not affected, but 'log', 'events' and 'undo' cannot read the older events")
            }
            Self::CheckpointsGone { names, all } => {
                let whence = if *all { ": this state may have come from another repository" } else { "" };
                format!("git has no data of {}{whence}", checkpoints(names))
            }
            Self::CheckpointRefsGone { names } => format!(
                "the refs of {} are gone, and all data is there: made again, as by 'git axiom checkpoint verify --repair'",
                checkpoints(names)
            ),
            Self::CheckpointsRewritten { names } => {
                format!("a rewrite of the history has ended {}: nothing of it is made again", checkpoints(names))
            }
            Self::Git(damage) => damage.words(),
            Self::NotTheWorktree { path, what, workspace: false, .. } => {
                format!("'{path}' is registered as a worktree, and {what}: no checkpoint holds it")
            }
            Self::NotTheWorktree { path, what, workspace: true, .. } => {
                format!("the workspace '{path}' is not a worktree any more: {what}")
            }
            Self::DamagedWorktree { path, what, .. } => {
                format!("git cannot work with the worktree '{path}': {what}; no checkpoint holds it")
            }
            Self::WorktreeMoved { path, now_at: Some(now_at) } => {
                format!("the worktree '{path}' was moved to '{now_at}': no checkpoint holds it")
            }
            Self::WorktreeMoved { path, now_at: None } => format!("the worktree '{path}' is gone, and git still lists it"),
            Self::LeftWorkspace { path, branch } => {
                format!("'{path}' is a workspace on '{branch}' that this state does not know: its task cannot be claimed")
            }
            Self::LeftBranch { branch } => {
                format!("'{branch}' has the name of a task's branch, and this state did not make it: that task cannot be claimed")
            }
            Self::NotCaptured { path, why } => {
                format!("the workspace '{path}' cannot be captured, and no checkpoint holds it: {why}")
            }
            Self::PlanCutOff { phase } => format!("planning was cut off in the phase {phase}: nothing of the plan goes on"),
            Self::PurgeCutOff => {
                "a purge was interrupted: nothing is saved, gone back to or run before it is complete".to_owned()
            }
            Self::NoCheckpoint { code, why, .. } => format!("no checkpoint can be made ({code}): {why}"),
        }
    }

    /// How to resolve it.
    pub fn way_out(&self) -> ConditionRemedy {
        let by_hand = |hints: &[String]| ConditionRemedy::ByHand(hints.to_vec());
        match self {
            Self::DeadLock { .. }
            | Self::CheckpointRefsGone { .. }
            | Self::NotTheWorktree { workspace: true, .. }
            | Self::DamagedWorktree { by_hand: None, .. } => ConditionRemedy::Recover,
            Self::DamagedWorktree { by_hand: Some(command), .. } => by_hand(std::slice::from_ref(command)),
            Self::EarlierDamage { .. } => by_hand(&[
                "git axiom recover --from partial --yes    continues with the state as it is; the damaged files are kept"
                    .to_owned(),
            ]),
            Self::CheckpointsGone { all: true, .. } => by_hand(&[
                "git axiom recover --from fresh --yes    starts a state of this repository's own; tasks stay, old files are kept"
                    .to_owned(),
            ]),
            Self::CheckpointsGone { names, all: false } | Self::CheckpointsRewritten { names } => by_hand(&[format!(
                "git axiom checkpoint delete --protected --yes {}    forgets the checkpoints that cannot be restored",
                names.join(" ")
            )]),
            Self::Git(damage) if damage.recovers() => ConditionRemedy::Recover,
            Self::Git(damage) => by_hand(&damage.by_hand()),
            Self::NotTheWorktree { path, workspace: false, taken: true, .. } => by_hand(&[
                format!("mv {} ELSEWHERE && git worktree prune    if you no longer need that worktree", shell_word(path)),
                format!("git worktree repair {}    if its files are right and only its .git is missing", shell_word(path)),
            ]),
            Self::NotTheWorktree { path, workspace: false, taken: false, .. } => by_hand(&[
                format!("git worktree repair {}    if its files are right and only its .git is missing", shell_word(path)),
                "git worktree prune    if you no longer need that worktree: removes its entry, and no file of the folder"
                    .to_owned(),
            ]),
            Self::WorktreeMoved { now_at: Some(now_at), .. } => {
                by_hand(&[format!("git worktree repair {}    tells git where it is", shell_word(now_at))])
            }
            Self::WorktreeMoved { now_at: None, .. } => by_hand(&[
                "git worktree repair PATH    if it was moved: tells git where it is".to_owned(),
                "git worktree prune    if it was deleted: removes its entry".to_owned(),
            ]),
            Self::LeftWorkspace { path, branch } => by_hand(&[
                format!(
                    "git worktree move {} ELSEWHERE && git branch -m {branch} ANOTHER    keeps its work under other names",
                    shell_word(path)
                ),
                format!("git worktree remove --force {} && git branch -D {branch}    deletes its work", shell_word(path)),
            ]),
            Self::LeftBranch { branch } => by_hand(&[format!("git branch -m {branch} ANOTHER    keeps it under another name")]),
            Self::NotCaptured { path, .. } => by_hand(&[
                format!("git -C {} status    shows what git reports; fix that", shell_word(path)),
                "git axiom gate list    its task waits there".to_owned(),
            ]),
            Self::PlanCutOff { .. } => by_hand(&["git axiom plan recover    offers the choices".to_owned()]),
            Self::PurgeCutOff => by_hand(&["git axiom purge --continue    completes it".to_owned()]),
            Self::NoCheckpoint { hints, .. } => by_hand(hints),
        }
    }

    /// For display by `recover`.
    pub fn view(&self) -> BlockingConditionView {
        let (recovers, hints) = match self.way_out() {
            ConditionRemedy::Recover => (true, Vec::new()),
            ConditionRemedy::ByHand(hints) => (false, hints),
        };
        BlockingConditionView { reason: self.name(), what: self.words(), stops: self.stops(), recovers, hints }
    }
}

fn checkpoints(names: &[String]) -> String {
    match names {
        [one] => format!("checkpoint {one}"),
        many => format!("{} ({})", count(many.len(), "checkpoint"), axiom_base::error::some_of(many, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_words_and_a_way_out() {
        let text = || "x".to_owned();
        let not_it = |workspace, taken| BlockingCondition::NotTheWorktree { path: text(), what: text(), workspace, taken };
        let all = [
            BlockingCondition::DeadLock { path: text() },
            BlockingCondition::EarlierDamage { what: text() },
            BlockingCondition::CheckpointsGone { names: vec![text()], all: true },
            BlockingCondition::CheckpointsGone { names: vec![text(), text()], all: false },
            BlockingCondition::CheckpointRefsGone { names: vec![text()] },
            BlockingCondition::CheckpointsRewritten { names: vec![text()] },
            BlockingCondition::Git(GitDamage::Stash { number: 1, unlogged: None }),
            BlockingCondition::Git(GitDamage::Index { worktree: text() }),
            not_it(true, false),
            not_it(false, true),
            not_it(false, false),
            BlockingCondition::DamagedWorktree { path: text(), what: text(), by_hand: None },
            BlockingCondition::DamagedWorktree { path: text(), what: text(), by_hand: Some(text()) },
            BlockingCondition::WorktreeMoved { path: text(), now_at: Some(text()) },
            BlockingCondition::WorktreeMoved { path: text(), now_at: None },
            BlockingCondition::LeftWorkspace { path: text(), branch: text() },
            BlockingCondition::LeftBranch { branch: text() },
            BlockingCondition::NotCaptured { path: text(), why: text() },
            BlockingCondition::PlanCutOff { phase: "decompose" },
            BlockingCondition::PurgeCutOff,
            BlockingCondition::NoCheckpoint { code: "X", why: text(), hints: vec![text()] },
        ];
        for wedge in all {
            let view = wedge.view();
            assert_eq!(view.recovers, view.hints.is_empty(), "{view:?}");
            assert!(view.what.len() > 10 && !view.what.ends_with('.'), "{view:?}");
        }
    }
}
