//! How the last iteration of a task ended, for the next one. Pure.
//!
//! It belongs to the workspace: a new one begins without it. A rollback does not change it; whoever uses it compares the commit.

use serde::{Deserialize, Serialize};

use crate::agent::stream::stream_event::{ToolCallDenial, ToolCallStart};
use crate::agent::stream::summary::StreamSummary;
use crate::agent::tool_kind::ToolKind;
use crate::base::names::Oid;
use crate::work::endings::outcome::AgentProgramEnd;
use crate::work::iteration::{IterationOutcome, IterationReport, ProgramSession, ResumedRunResult, left_by};
use crate::work::iteration_marker::CutOffPoint;

/// How many refused calls, calls without an end, and files are kept.
const MOST: usize = 20;
/// How many characters of each.
const LONGEST: usize = 300;

/// How the last iteration of a task ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastIteration {
    /// Its number.
    pub iteration: u32,
    /// How it ended.
    pub outcome: IterationOutcome,
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
    pub cut: Option<Box<CutOffPoint>>,
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

impl LastIteration {
    /// What a report says. `before` is how the one before it ended.
    pub fn of(report: &IterationReport, iteration: u32, before: Option<&Self>) -> Self {
        let failed_verify = before.filter(|_| leaves_open(&report.outcome)).and_then(|before| before.failed_verify.clone());
        let session = left_by(report, before.and_then(|before| before.session.as_deref())).map(Box::new);
        let left_out = report.left_out.iter().take(MOST).cloned().collect();
        let in_vain = match (&report.resumed, &report.outcome) {
            (Some(ResumedRunResult::InVain), IterationOutcome::Unfinished { why }) => Some(short(why)),
            (_, _) => None,
        };
        // What was cut off is still the last that an agent did.
        if let (Some(ResumedRunResult::InVain | ResumedRunResult::NotYet), Some(before)) = (report.resumed, before) {
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
pub fn leaves_open(outcome: &IterationOutcome) -> bool {
    match outcome {
        IterationOutcome::Stopped
        | IterationOutcome::Crashed
        | IterationOutcome::Limited { .. }
        | IterationOutcome::NeedsHuman { .. } => true,
        IterationOutcome::Complete
        | IterationOutcome::Blocked { .. }
        | IterationOutcome::Waiting { .. }
        | IterationOutcome::Unfinished { .. } => false,
    }
}

/// The refused calls in words: by the program, and by whoever was asked for a permission.
pub fn denied(told: &StreamSummary, refused: &[String]) -> Vec<String> {
    let by_program = told.calls.denied.iter().map(ToolCallDenial::in_words);
    by_program.chain(refused.iter().cloned()).take(MOST).map(|one| short(&one)).collect()
}

/// Whether it is told where the program was: where a crash cut it off or somebody stopped it, and its work counts.
pub fn tells_where(end: &AgentProgramEnd, outcome: &IterationOutcome) -> bool {
    match outcome {
        IterationOutcome::Crashed => true,
        IterationOutcome::Stopped => *end == AgentProgramEnd::Stopped,
        IterationOutcome::Complete
        | IterationOutcome::Blocked { .. }
        | IterationOutcome::Waiting { .. }
        | IterationOutcome::Unfinished { .. }
        | IterationOutcome::Limited { .. }
        | IterationOutcome::NeedsHuman { .. } => false,
    }
}

/// The calls in words that had begun and not ended, of tools that may have effects beyond the files of the workspace. Where the run
/// was cut off, with those that the program itself broke off then.
pub fn unfinished(told: &StreamSummary, cut_off: bool) -> Vec<String> {
    let may_repeat = |kind| match kind {
        ToolKind::Read | ToolKind::Write | ToolKind::Edit => true,
        ToolKind::Shell | ToolKind::Other => false,
    };
    let is_denied = |call: &&ToolCallStart| told.calls.denied.iter().any(|denied| denied.id.is_some() && denied.id == call.id);
    let broken = told.calls.broken.iter().filter(|call| cut_off && !is_denied(call));
    let open = broken.chain(&told.calls.begun).filter(|call| !may_repeat(call.kind));
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
pub(crate) mod tests {
    use super::*;
    use crate::agent::stream::stream_event::{ModelExchange, StreamEvent, ToolCallDenial, ToolCallEnd};

    /// A run with this outcome that left nothing else.
    pub fn last(outcome: IterationOutcome) -> LastIteration {
        let to = Oid::new("1".repeat(40)).unwrap();
        let nothing = Vec::new();
        LastIteration {
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
        let mut told = StreamSummary::default();
        for (name, kind, input) in [
            ("Bash", ToolKind::Shell, serde_json::json!("deploy\n--now")),
            ("Read", ToolKind::Read, serde_json::json!("a")),
            ("Edit", ToolKind::Edit, serde_json::json!("a")),
            ("Write", ToolKind::Write, serde_json::json!("a")),
            ("mail", ToolKind::Other, serde_json::json!({"to": "all"})),
        ] {
            told.add(&StreamEvent::ToolStarted(ToolCallStart {
                id: Some(name.into()),
                name: name.into(),
                kind,
                input,
                hash: "".into(),
            }));
        }
        told.add(&StreamEvent::Denied(ToolCallDenial {
            id: None,
            tool: "Bash".into(),
            about: Some("git push\n  && make".into()),
            why: "not\u{7} allowed".into(),
        }));
        told.add(&StreamEvent::Denied(ToolCallDenial { id: None, tool: "x".into(), about: None, why: String::new() }));
        assert_eq!(unfinished(&told, false), ["Bash: deploy --now", "mail"]);
        // As a program ends its calls when it is stopped.
        let ended = |failed| {
            let (id, name) = (Some("Bash".to_owned()), String::new());
            StreamEvent::ToolCompleted(ToolCallEnd { id, name, failed, exit: None, output: String::new(), hash: String::new() })
        };
        let (mut broken, mut done) = (told.clone(), told.clone());
        broken.add(&ended(true));
        done.add(&ended(false));
        assert_eq!(unfinished(&broken, true), ["Bash: deploy --now", "mail"]);
        assert_eq!((unfinished(&broken, false), unfinished(&done, true)), (vec!["mail".into()], vec!["mail".to_owned()]));
        broken.add(&StreamEvent::ResponseReceived(ModelExchange::default()));
        assert_eq!(unfinished(&broken, true), ["mail"]);
        assert_eq!(
            denied(&told, &["run: ls (rejected)".into()]),
            ["Bash git push && make: not  allowed", "x", "run: ls (rejected)"]
        );
    }
}
