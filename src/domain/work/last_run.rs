//! How the last iteration of a task ended, for the next one. Pure.
//!
//! It belongs to the workspace: a new one begins without it. A rollback does not change it; whoever uses it compares the commit.

use serde::{Deserialize, Serialize};

use super::agent::{IterationReport, Outcome};
use super::outcome::End;
use super::resuming::{ProgramSession, Resumed, left_by};
use crate::domain::agent::adapter::ToolKind;
use crate::domain::agent::stream::seen::ToolStarted;
use crate::domain::agent::stream::summary::Summary;
use crate::domain::base::names::Oid;
use crate::domain::recovery::marker::CutOff;

/// How many refused calls, calls without an end, and files are kept.
const MOST: usize = 20;
/// How many characters of each.
const LONGEST: usize = 300;

/// How the last iteration of a task ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastRun {
    /// Its number.
    pub iteration: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// The branch's commit after it.
    pub to: Oid,
    /// Files that were left uncommitted, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The tool calls that its program refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// Calls that had begun and not ended, and may not simply be repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<String>,
    /// Where its program was, where a crash cut it off or somebody stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Box<CutOff>>,
    /// The verify step that failed after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_verify: Option<String>,
    /// The program's own session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Box<ProgramSession>>,
    /// What the program said when it was to go on with its session and could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_vain: Option<String>,
}

impl LastRun {
    /// What a report says. `before` is how the one before it ended.
    pub fn of(report: &IterationReport, iteration: u32, before: Option<&Self>) -> Self {
        let failed_verify = before.filter(|_| leaves_open(&report.outcome)).and_then(|before| before.failed_verify.clone());
        let session = left_by(report, before.and_then(|before| before.session.as_deref())).map(Box::new);
        let left_out = report.left_out.iter().take(MOST).cloned().collect();
        let in_vain = match (&report.resumed, &report.outcome) {
            (Some(Resumed::InVain), Outcome::Unfinished { why }) => Some(short(why)),
            (_, _) => None,
        };
        // What was cut off is still the last that an agent did.
        if let (Some(Resumed::InVain | Resumed::NotYet), Some(before)) = (report.resumed, before) {
            return Self { to: report.to.clone(), left_out, session, in_vain, ..before.clone() };
        }
        Self {
            iteration,
            outcome: report.outcome.clone(),
            to: report.to.clone(),
            left_out,
            denied: report.denied.clone(),
            unfinished: report.unfinished.clone(),
            cut: report.cut.clone(),
            failed_verify,
            session,
            in_vain,
        }
    }

    /// Why a path was left uncommitted, if it was.
    pub fn left_out_why(&self, path: &str) -> Option<&str> {
        self.left_out.iter().find_map(|left| left.strip_prefix(path)?.strip_prefix(" (")?.strip_suffix(')'))
    }
}

/// Whether an iteration with this end did not come to what it was told: the next one is told it again.
pub fn leaves_open(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Stopped | Outcome::Crashed | Outcome::Limited { .. } | Outcome::NeedsHuman { .. } => true,
        Outcome::Complete | Outcome::Blocked { .. } | Outcome::Waiting { .. } | Outcome::Unfinished { .. } => false,
    }
}

/// The refused calls in words.
pub fn denied(told: &Summary) -> Vec<String> {
    told.denied.iter().take(MOST).map(|one| short(&one.in_words())).collect()
}

/// Whether it is told where the program was: where a crash cut it off or somebody stopped it, and its work counts.
pub fn tells_where(end: &End, outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Crashed => true,
        Outcome::Stopped => *end == End::Stopped,
        Outcome::Complete
        | Outcome::Blocked { .. }
        | Outcome::Waiting { .. }
        | Outcome::Unfinished { .. }
        | Outcome::Limited { .. }
        | Outcome::NeedsHuman { .. } => false,
    }
}

/// The calls in words that had begun and not ended, of tools that may have effects beyond the files of the workspace. Where the run
/// was cut off, with those that the program itself broke off then.
pub fn unfinished(told: &Summary, cut_off: bool) -> Vec<String> {
    let may_repeat = |kind| match kind {
        ToolKind::Read | ToolKind::Write | ToolKind::Edit => true,
        ToolKind::Shell | ToolKind::Other => false,
    };
    let is_denied = |call: &&ToolStarted| told.denied.iter().any(|denied| denied.id.is_some() && denied.id == call.id);
    let broken = told.broken.iter().filter(|call| cut_off && !is_denied(call));
    let open = broken.chain(&told.begun).filter(|call| !may_repeat(call.kind));
    open.take(MOST)
        .map(|call| match call.input.as_str().map(short).filter(|about| !about.is_empty()) {
            Some(about) => format!("{}: {about}", short(&call.name)),
            None => short(&call.name),
        })
        .collect()
}

fn short(text: &str) -> String {
    let clean = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    clean.take(LONGEST).collect()
}

#[cfg(test)]
pub(in crate::domain) mod tests {
    use super::*;
    use crate::domain::agent::stream::seen::{Denied, Exchange, Seen, ToolCompleted};

    /// A run with this outcome that left nothing else.
    pub fn last(outcome: Outcome) -> LastRun {
        let to = Oid::new("1".repeat(40)).unwrap();
        let nothing = Vec::new();
        LastRun {
            iteration: 1,
            outcome,
            to,
            left_out: nothing.clone(),
            denied: nothing.clone(),
            unfinished: nothing,
            cut: None,
            failed_verify: None,
            session: None,
            in_vain: None,
        }
    }

    #[test]
    fn only_calls_that_may_not_be_repeated_are_named() {
        let mut told = Summary::default();
        for (name, kind, input) in [
            ("Bash", ToolKind::Shell, serde_json::json!("deploy\n--now")),
            ("Read", ToolKind::Read, serde_json::json!("a")),
            ("Edit", ToolKind::Edit, serde_json::json!("a")),
            ("Write", ToolKind::Write, serde_json::json!("a")),
            ("mail", ToolKind::Other, serde_json::json!({"to": "all"})),
        ] {
            told.add(&Seen::ToolStarted(ToolStarted { id: Some(name.into()), name: name.into(), kind, input, hash: "".into() }));
        }
        told.add(&Seen::Denied(Denied {
            id: None,
            tool: "Bash".into(),
            about: Some("git push\n  && make".into()),
            why: "not\u{7} allowed".into(),
        }));
        told.add(&Seen::Denied(Denied { id: None, tool: "x".into(), about: None, why: String::new() }));
        assert_eq!(unfinished(&told, false), ["Bash: deploy --now", "mail"]);
        // As a program ends its calls when it is stopped.
        let ended = |failed| {
            let (id, name) = (Some("Bash".to_owned()), String::new());
            Seen::ToolCompleted(ToolCompleted { id, name, failed, exit: None, output: String::new(), hash: String::new() })
        };
        let (mut broken, mut done) = (told.clone(), told.clone());
        broken.add(&ended(true));
        done.add(&ended(false));
        assert_eq!(unfinished(&broken, true), ["Bash: deploy --now", "mail"]);
        assert_eq!((unfinished(&broken, false), unfinished(&done, true)), (vec!["mail".into()], vec!["mail".to_owned()]));
        broken.add(&Seen::ResponseReceived(Exchange::default()));
        assert_eq!(unfinished(&broken, true), ["mail"]);
        assert_eq!(denied(&told), ["Bash git push && make: not  allowed", "x"]);
    }
}
