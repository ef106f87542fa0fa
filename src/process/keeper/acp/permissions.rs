//! Permissions that a program asks for: judged by the policy; what a human has to decide is recorded for the supervisor, which answers with a
//! file in the folder of the run.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::real_path::place;
use crate::keeper::spool::SignalSpool;
use crate::run_folder::record_files::read_json;
use crate::run_folder::spec::{AcpRunSettings, KeeperSpec, permission_file};
use axiom_model::acp::client::AcpPermissionRequest;
use axiom_model::permission::judge::{PermissionVerdict, judge, risk};
use axiom_model::permission::question::{PermissionCallTexts, question};
use axiom_model::permission::requested::requested;
use axiom_model::work::permissions::permission_question::{
    PermissionAnswer, PermissionEnd, PermissionQuestion, PermissionStanding,
};
use axiom_model::work::permissions::permission_rule::PermissionPolicy;
use axiom_model::work::signals::signal::AgentSignal;

/// How many questions of one run are recorded, and how many acts that a rule forbids. What is asked after them is refused.
const MOST_QUESTIONS: u64 = 2_000;
/// How long a file may be looked for.
const LOOK: Duration = Duration::from_millis(200);

/// A question that is not answered.
#[derive(Debug)]
struct WaitingPermission {
    number: u64,
    since: Instant,
}

/// The permissions of one run.
#[derive(Debug)]
pub(in crate::keeper) struct PermissionDesk {
    policy: PermissionPolicy,
    timeout: Duration,
    workspace: PathBuf,
    dir: PathBuf,
    waiting: Vec<WaitingPermission>,
    asked: u64,
    forbidden: u64,
    /// What could not be recorded yet.
    unrecorded: Vec<AgentSignal>,
    /// For how long the program has waited, and since when it does.
    waited: Duration,
    waits_since: Option<Instant>,
}

impl PermissionDesk {
    /// Nothing was asked for yet.
    pub(super) fn new(spec: &KeeperSpec, settings: &AcpRunSettings) -> Self {
        Self {
            policy: settings.policy.clone(),
            timeout: Duration::from_secs(settings.timeout_seconds),
            workspace: spec.workspace.clone(),
            dir: spec.dir.clone(),
            waiting: Vec::new(),
            asked: 0,
            forbidden: 0,
            unrecorded: Vec::new(),
            waited: Duration::ZERO,
            waits_since: None,
        }
    }

    /// For how long the program has waited for a human, so that it is not counted as its time.
    pub fn waited(&self) -> Duration {
        self.waited + self.waits_since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Whether it waits now.
    pub fn is_waited_for(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// When to look again.
    pub fn next_look(&self) -> Duration {
        if self.waiting.is_empty() && self.unrecorded.is_empty() { Duration::MAX } else { LOOK }
    }

    /// The turn is over, or is to end: nobody waits any more.
    pub fn end(&mut self, spool: &mut SignalSpool) {
        for WaitingPermission { number, .. } in std::mem::take(&mut self.waiting) {
            self.unrecorded.push(AgentSignal::PermissionEnded { number, end: PermissionEnd::Cancelled });
        }
        self.count();
        self.record(spool);
    }

    pub(super) fn judge(&mut self, connection: &dyn Fn(u64, bool), request: &AcpPermissionRequest) {
        let AcpPermissionRequest { number, kind, title, input, content } = request;
        let at = |path: &str| place(&self.workspace, path);
        let act = requested(kind, input.as_ref(), content.as_ref(), &at);
        let texts = PermissionCallTexts { input: input.as_ref(), content: content.as_ref() };
        let verdict = judge(&self.policy, &act, &self.workspace.to_string_lossy());
        let risk = risk(&act);
        let asked = match verdict {
            PermissionVerdict::Allowed if risk.is_none() => return connection(*number, true),
            PermissionVerdict::Rejected { by } => {
                connection(*number, false);
                if self.forbidden < MOST_QUESTIONS {
                    self.forbidden += 1;
                    let asked = question(*number, &act, title, texts, format!("a rule says so: {by}"));
                    let told = PermissionQuestion { standing: PermissionStanding::Forbidden, rule: None, ..asked };
                    self.unrecorded.push(AgentSignal::PermissionAsked(Box::new(told)));
                }
                return;
            }
            PermissionVerdict::Allowed => {
                let asked = question(*number, &act, title, texts, "it is risky".into());
                PermissionQuestion { standing: PermissionStanding::Allowed, ..asked }
            }
            PermissionVerdict::Asked { why } => question(*number, &act, title, texts, why),
        };
        if self.asked >= MOST_QUESTIONS {
            return connection(*number, false);
        }
        self.asked += 1;
        self.waiting.push(WaitingPermission { number: *number, since: Instant::now() });
        self.unrecorded.push(AgentSignal::PermissionAsked(Box::new(asked)));
    }

    /// Takes up the answers that are there, and refuses what nobody answered in time.
    pub(super) fn answers(&mut self, answer: &dyn Fn(u64, bool)) {
        let mut left = Vec::new();
        for WaitingPermission { number, since } in std::mem::take(&mut self.waiting) {
            let found: Option<PermissionAnswer> = read_json(&permission_file(&self.dir, number)).ok().flatten();
            let end = match found {
                Some(PermissionAnswer { allowed, rule, .. }) => {
                    if let Some(rule) = rule {
                        self.policy.rules.insert(0, rule);
                    }
                    answer(number, allowed);
                    if allowed { PermissionEnd::Allowed } else { PermissionEnd::Rejected }
                }
                None if since.elapsed() >= self.timeout => {
                    answer(number, false);
                    PermissionEnd::Unanswered
                }
                None => {
                    left.push(WaitingPermission { number, since });
                    continue;
                }
            };
            self.unrecorded.push(AgentSignal::PermissionEnded { number, end });
        }
        self.waiting = left;
    }

    pub(super) fn count(&mut self) {
        match (self.waiting.is_empty(), self.waits_since) {
            (false, None) => self.waits_since = Some(Instant::now()),
            (true, Some(since)) => {
                self.waited += since.elapsed();
                self.waits_since = None;
            }
            (false, Some(_)) | (true, None) => {}
        }
    }

    /// Records what happened. Where that fails, it is tried again with the next look.
    pub(super) fn record(&mut self, spool: &mut SignalSpool) {
        if self.unrecorded.is_empty() {
            return;
        }
        match spool.record_all(&self.unrecorded) {
            Ok(()) => self.unrecorded.clear(),
            Err(error) => tracing::warn!(%error, "a question for a permission is not recorded yet"),
        }
    }
}
