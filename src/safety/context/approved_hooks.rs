//! Which hooks may run, and what they are still to be told.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use crate::context::trust::ProjectTrust;
use crate::project_hooks::approved_tree::ApprovedTree;
use crate::project_hooks::selection::{ProjectHook, hooks_of};
use axiom_base::env;
use axiom_base::error::{Code, Error};
use axiom_model::hook::facts::HookFacts;
use axiom_model::work::hooks::hook_event::{HookEvent, HookPower};
use axiom_model::work::hooks::hook_run::HookRun;

/// How many hooks one below the other there may be, where hooks call git axiom: the hooks of the deepest are not run.
const DEEPEST: u32 = 3;
/// The variable that carries how many hooks are above a process.
pub const DEPTH: &str = "AXIOM_HOOK_DEPTH";
/// At most so many events wait to be told; where hooks are slower than that, the oldest learnings are dropped, then the oldest.
const MOST_DUE: usize = 1000;

/// Of a hook that was due when the process ended that was to run it.
const NOT_RUN: &str = "was not run: the process that was to run it ended before";
/// Of a hook that ran then, or was about to.
const CUT_OFF: &str = "may not have run to its end: the process that ran it ended before";

fn not_told(facts: &HookFacts, hook: &ProjectHook, (at, why): (Timestamp, &str)) -> HookRun {
    HookRun {
        event: facts.event,
        hook: hook.place.to_string(),
        task: facts.task_id.clone(),
        took_ms: None,
        at: Some(at),
        failure: Some(why.to_owned()),
        lines: Vec::new(),
        trial: facts.trial,
    }
}

/// What may run at an event.
#[derive(Debug, Clone)]
pub enum EventHooks {
    /// There is no hook.
    Nothing,
    /// These hooks.
    Run(Vec<ProjectHook>, Arc<ApprovedTree>),
    /// There is one, or may be, that nobody approved as it is; what it is, in words.
    NotApproved(String),
}

/// The error for what runs only once a human has approved it.
pub fn not_approved(what: impl Into<String>) -> Error {
    Error::new(Code::NotTrusted, what).hint("git axiom trust    shows the project's files, and asks")
}

/// Which hooks may run, read once when the configuration is.
#[derive(Debug, Default)]
enum HookApproval {
    #[default]
    Nothing,
    Approved(Arc<ApprovedTree>),
    /// Not approved as they are now, or not there any more.
    Waiting(Vec<ProjectHook>),
    /// Nobody knows what there is, for this reason.
    Unknown(String),
}

/// The hooks of a repository, and what they are still to be told.
#[derive(Debug, Default)]
pub struct RepositoryHooks {
    standing: HookApproval,
    due: VecDeque<HookFacts>,
    /// What is being told, and since when.
    told: Option<(HookFacts, Timestamp)>,
    /// What is kept on disk in task that this process ends.
    kept: Vec<HookRun>,
    /// How many events were dropped since somebody asked.
    dropped: usize,
    /// How many hooks are above this process.
    depth: u32,
}

impl RepositoryHooks {
    /// Those of the project's files and this clone, as far as they are trusted. Approved ones are to be run from below `trusted`.
    pub fn of(trust: &ProjectTrust, trusted: &Path) -> Self {
        let all = |files| HookEvent::ALL.into_iter().flat_map(move |event| hooks_of(files, event));
        let standing = match trust {
            ProjectTrust::Nothing => HookApproval::Nothing,
            ProjectTrust::Approved(files) if all(files).next().is_none() => HookApproval::Nothing,
            ProjectTrust::Approved(files) => HookApproval::Approved(Arc::new(ApprovedTree::new(files.clone(), trusted))),
            ProjectTrust::Waiting { now, .. } => {
                let before = trust.lapsed().unwrap_or_default();
                HookApproval::Waiting(all(now).chain(all(&before)).collect())
            }
            ProjectTrust::Unusable { why, .. } => HookApproval::Unknown(why.to_string()),
        };
        let depth = env::var(DEPTH).and_then(|text| text.to_str().and_then(|text| text.parse().ok())).unwrap_or(0);
        Self { standing, depth, ..Self::default() }
    }

    /// What may run at an event.
    pub fn at(&self, event: HookEvent) -> EventHooks {
        match &self.standing {
            HookApproval::Nothing => EventHooks::Nothing,
            HookApproval::Approved(tree) => match hooks_of(tree.files(), event) {
                hooks if hooks.is_empty() => EventHooks::Nothing,
                hooks => EventHooks::Run(hooks, Arc::clone(tree)),
            },
            HookApproval::Waiting(hooks) => match hooks.iter().find(|hook| hook.event == event) {
                Some(hook) => EventHooks::NotApproved(format!("the hook {} is not approved as it is", hook.place)),
                None => EventHooks::Nothing,
            },
            HookApproval::Unknown(why) => EventHooks::NotApproved(format!("nobody knows which hooks there are ({why})")),
        }
    }

    /// Whether some events are told to hooks.
    pub fn listen(&self) -> bool {
        matches!(self.standing, HookApproval::Approved(_)) && self.depth < DEEPEST
    }

    /// Whether there are some that a human approved.
    pub fn are_approved(&self) -> bool {
        matches!(self.standing, HookApproval::Approved(_))
    }

    /// Whether a human has to approve them first.
    pub fn wait_for_approval(&self) -> bool {
        matches!(self.standing, HookApproval::Waiting(_) | HookApproval::Unknown(_))
    }

    /// What was due before stays due, beside what is read anew.
    pub fn read_again(&mut self, now: Self) {
        self.standing = now.standing;
    }

    /// How many hooks are above a hook that this process runs, itself counted.
    pub fn depth_below(&self) -> u32 {
        self.depth.saturating_add(1)
    }

    /// An event has happened: where there are hooks for it, it is due to be told.
    pub fn note(&mut self, facts: HookFacts) {
        if !self.listen() || facts.event.power() == HookPower::Veto || matches!(self.at(facts.event), EventHooks::Nothing) {
            return;
        }
        if self.due.len() >= MOST_DUE {
            // Agents report learnings as fast as they like: those go first.
            let place = self.due.iter().position(|due| due.event == HookEvent::OnLearning).unwrap_or(0);
            self.due.remove(place);
            self.dropped += 1;
        }
        self.due.push_back(facts);
    }

    /// Forgets what is due; returns how many events it was.
    pub fn forget_due(&mut self) -> usize {
        self.told = None;
        std::mem::take(&mut self.due).len()
    }

    /// Whether something is due.
    pub fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// What is due next. It is being told until [`RepositoryHooks::told`].
    pub fn next_due(&mut self) -> Option<HookFacts> {
        self.told = self.due.pop_front().map(|facts| (facts, env::now()));
        self.told.as_ref().map(|(facts, _)| facts.clone())
    }

    /// What was due has been told, or there is nobody to tell it.
    pub fn told(&mut self) {
        self.told = None;
    }

    /// What became of the hooks that are told something, and of those that are due, if this process ended now.
    pub fn if_we_ended(&self) -> Vec<HookRun> {
        let told = self.told.iter().map(|(facts, since)| (facts, (*since, CUT_OFF)));
        let all = told.chain(self.due.iter().map(|facts| (facts, (facts.at, NOT_RUN))));
        all.flat_map(|(facts, when)| match self.at(facts.event) {
            EventHooks::Run(hooks, _) => hooks.into_iter().map(|hook| not_told(facts, &hook, when)).collect(),
            EventHooks::Nothing | EventHooks::NotApproved(_) => Vec::new(),
        })
        .collect()
    }

    /// From now on this is what is kept on disk; returns whether it was anything else.
    pub fn is_kept(&mut self, runs: &[HookRun]) -> bool {
        let is_new = self.kept != runs;
        self.kept = runs.to_vec();
        is_new
    }

    /// How many events hooks were too slow for, since this was asked last.
    pub fn take_dropped(&mut self) -> usize {
        std::mem::take(&mut self.dropped)
    }
}
