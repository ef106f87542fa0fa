//! How `recovery.evaluator` is asked, and what counts as its answer. Pure.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::decide::{CrashAction, CrashDecider, CrashDecision, CrashFacts};
use super::files::FileState;
use crate::base::ids::TaskId;
use crate::work::iteration_marker::IterationMarker;
use axiom_base::error::{Code, Error, Result};

/// How many characters of a reasoning are kept.
const LONGEST: usize = 2000;

/// What the evaluator finds on its standard input.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EvaluatorQuestion<'a> {
    /// The version of these keys.
    pub schema: u32,
    /// The goal that the task belongs to.
    pub goal: Option<&'a str>,
    /// The task.
    pub current_task: CurrentTask<'a>,
    /// What its agent did or printed last, in words.
    pub last_action: Option<String>,
    /// What is in its workspace.
    pub file_state: &'a FileState,
    /// The tasks that are done.
    pub task_history: Vec<PastTask<'a>>,
    /// Where its program was.
    pub marker: Option<&'a IterationMarker>,
    /// Its progress in percent.
    pub progress: Option<u8>,
}

/// The task.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)] // as in the task and its record
pub struct CurrentTask<'a> {
    pub id: &'a TaskId,
    pub title: &'a str,
    pub workspace: Option<&'a str>,
    pub iterations: u32,
    pub retry_count: u32,
    pub tokens_used: Option<u64>,
    pub cost_usd: Option<f64>,
    pub files_changed: u64,
    pub tests_passing: Option<bool>,
    pub last_activity: Option<Timestamp>,
}

/// A task that is done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct PastTask<'a> {
    pub id: &'a TaskId,
    pub title: &'a str,
}

#[derive(Deserialize)]
struct EvaluatorAnswer {
    action: CrashAction,
    reasoning: String,
}

/// The decision in what an evaluator printed: one object with `action` and `reasoning`.
pub fn answer(output: &str, facts: &CrashFacts) -> Result<CrashDecision> {
    let bad = |why: &str| Error::new(Code::InvalidInput, format!("recovery.evaluator gave no usable answer: {why}"));
    let text = output.trim();
    if text.is_empty() {
        return Err(bad("it printed nothing"));
    }
    let answer: EvaluatorAnswer = serde_json::from_str(text).map_err(|e| bad(&e.to_string()))?;
    let reasoning: String = answer.reasoning.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect();
    if reasoning.trim().is_empty() {
        return Err(bad("it gives no reasoning"));
    }
    let follow = facts.program.follow();
    Ok(CrashDecision { action: answer.action, reasoning: reasoning.trim().to_owned(), by: CrashDecider::Evaluator, follow })
}
