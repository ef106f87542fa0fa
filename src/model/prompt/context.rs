//! What an agent is told of the attempts before its own: as JSON, and as lines of its prompt. Pure.

use jiff::Timestamp;
use serde::Serialize;

use crate::recovery::decide::{CrashAction, CrashDecision};
use crate::state::attempt::{AttemptDetails, AttemptEventKind, TestStatus};
use crate::state::audit::AuditEntry;
use crate::work::endings::last_run::LastIteration;
use crate::work::iteration::IterationOutcome;
use crate::work::iteration_marker::{CutOffPoint, follow};
use crate::work::verifying::checks::test_counts::TestCounts;
use crate::work::verifying::kept_results::KeptVerifyResult;

/// The event with which the attempts in a workspace begin.
const OPENED: &str = "workspaceOpened";
/// How many parts of attempts are told.
const MOST: usize = 50;
/// How many files of the last attempt are named in a prompt.
const MOST_FILES: usize = 20;

/// What is known of the attempts before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryContext {
    /// How many attempts a crash ended.
    pub previous_attempts: u32,
    /// What they did, oldest first; at most the newest 50 parts.
    pub audit_log: Vec<AttemptEntry>,
    /// Whether something is uncommitted in the workspace; `None` where that is not known.
    pub workspace_has_changes: Option<bool>,
    /// What happened, and what to do.
    pub instruction: String,
}

/// A part of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttemptEntry {
    /// When it happened.
    pub timestamp: Timestamp,
    /// What happened.
    pub event: AttemptEventKind,
    /// More about it.
    pub details: AttemptDetails,
}

/// The facts that a context is made of.
#[derive(Debug, Clone, Default)]
pub struct RecoveryContextFacts<'a> {
    /// How many attempts crashed.
    pub retries: u32,
    /// The history of the task.
    pub entries: &'a [AuditEntry],
    /// How the last iteration ended.
    pub last: Option<&'a LastIteration>,
    /// Whether something is uncommitted in the workspace; `None` where that was not looked at.
    pub has_changes: Option<bool>,
    /// The results of the verify steps.
    pub verified: &'a [KeptVerifyResult],
    /// Whether the tests passed when its agent ran them last.
    pub tests_pass: Option<bool>,
    /// What was decided when the last attempt was cut off.
    pub decision: Option<&'a CrashDecision>,
    /// The newest commit of an agent, and the newest one that was made of what was left: id and subject.
    pub commits: Vec<(&'static str, String)>,
    /// The last lines that the program printed.
    pub printed: Vec<String>,
}

/// How the attempts before are told of, where a crash ended one or a human the last: `crashed` or `was stopped`.
pub fn how_cut_off(retries: u32, last: Option<&LastIteration>) -> Option<&'static str> {
    match last.map(|last| &last.outcome) {
        Some(IterationOutcome::Stopped) => Some("was stopped"),
        Some(IterationOutcome::Crashed) => Some("crashed"),
        None
        | Some(
            IterationOutcome::Complete
            | IterationOutcome::Blocked { .. }
            | IterationOutcome::Waiting { .. }
            | IterationOutcome::Unfinished { .. }
            | IterationOutcome::Limited { .. }
            | IterationOutcome::NeedsHuman { .. },
        ) => (retries > 0).then_some("crashed"),
    }
}

/// The context; `None` where no attempt was cut off.
pub fn context(known: &RecoveryContextFacts<'_>) -> Option<RecoveryContext> {
    how_cut_off(known.retries, known.last)?;
    let parts = known.entries.iter().filter_map(|entry| {
        let attempt = entry.attempt.as_ref()?;
        Some(AttemptEntry { timestamp: entry.at, event: attempt.event, details: attempt.details.clone() })
    });
    let mut audit_log: Vec<AttemptEntry> = parts.filter(|part| part.event != AttemptEventKind::Signal).collect();
    // What an earlier workspace had is not there any more.
    let opened = known.entries.iter().rev().find(|entry| entry.event == OPENED).map(|entry| entry.at);
    for part in audit_log.iter_mut().filter(|part| opened.is_some_and(|opened| part.timestamp < opened)) {
        (part.details.files_modified, part.details.last_commit) = (Vec::new(), None);
    }
    audit_log.drain(..audit_log.len().saturating_sub(MOST));
    let is_end = |part: &&mut AttemptEntry| matches!(part.event, AttemptEventKind::Crash | AttemptEventKind::Iteration);
    if let Some(end) = audit_log.iter_mut().rfind(is_end) {
        end.details.test_status = counted(known.verified);
    }
    Some(RecoveryContext {
        previous_attempts: attempts(known),
        audit_log,
        workspace_has_changes: known.has_changes,
        instruction: match known.last {
            None => begins_anew(known.decision),
            Some(last) => instruction(&last.outcome),
        },
    })
}

/// Those that crashed, and the last one where a human ended it.
fn attempts(known: &RecoveryContextFacts<'_>) -> u32 {
    let is_stopped = known.last.is_some_and(|last| last.outcome == IterationOutcome::Stopped);
    known.retries.saturating_add(u32::from(is_stopped)).max(1)
}

/// What is said where the task begins anew in a fresh workspace, after attempts that are not there any more.
pub fn begins_anew(decision: Option<&CrashDecision>) -> String {
    let why = decision.filter(|decision| decision.action == CrashAction::RestartTask);
    let why = why.map_or_else(String::new, |decision| format!(": {}", decision.reasoning));
    format!(
        "The task begins anew{why}. The workspace is fresh: nothing that earlier attempts did is in it, it was put aside or lost. \
         Begin from the beginning."
    )
}

fn instruction(last: &IterationOutcome) -> String {
    match last {
        IterationOutcome::Crashed => "Previous attempt crashed. Review log.".into(),
        IterationOutcome::Stopped => "Previous attempt was stopped. Go on where it was.".into(),
        IterationOutcome::Complete => "Previous attempt was complete and not accepted.".into(),
        IterationOutcome::Blocked { reason } => format!("Previous attempt could not go on: {reason}"),
        IterationOutcome::Waiting { question } => format!("Previous attempt asked a human: {question}"),
        IterationOutcome::Unfinished { why }
        | IterationOutcome::Limited { why, .. }
        | IterationOutcome::NeedsHuman { why, .. } => {
            format!("Previous attempt did not complete the task: {why}")
        }
    }
}

/// How many tests passed and failed when the verify steps ran last, where they were counted.
fn counted(verified: &[KeptVerifyResult]) -> Option<TestStatus> {
    let counts = verified.iter().filter_map(|kept| kept.result.run.as_ref()?.tests.as_ref());
    let sum = |one: Option<TestStatus>, counts: &TestCounts| {
        let TestStatus { passed, failed } = one.unwrap_or_default();
        Some(TestStatus { passed: passed.saturating_add(counts.passed), failed: failed.saturating_add(counts.failed) })
    };
    counts.fold(None, sum)
}

fn tests_in_words(known: &RecoveryContextFacts<'_>) -> Option<String> {
    match (counted(known.verified), known.tests_pass) {
        (Some(TestStatus { passed, failed }), _) => Some(format!("{passed}/{} passing", passed.saturating_add(failed))),
        (None, Some(true)) => Some("passing".into()),
        (None, Some(false)) => Some("failing".into()),
        (None, None) => None,
    }
}

/// The last attempt in lines, as a prompt has them.
pub fn last_attempt(known: &RecoveryContextFacts<'_>) -> Vec<String> {
    if known.last.is_none() {
        return vec![begins_anew(known.decision)];
    }
    let at_last = |step| last_of(known.entries, step);
    let started = started(known.entries).map(|at| format!("Started: {}", at.strftime("%Y-%m-%dT%H:%M:%SZ")));
    let mut lines: Vec<String> = started.into_iter().collect();
    let ended =
        at_last(AttemptEventKind::Crash).into_iter().chain(at_last(AttemptEventKind::Iteration)).max_by_key(|entry| entry.seq);
    if let Some(attempt) = ended.and_then(|entry| entry.attempt.as_ref()) {
        lines.extend(files_in_words(&attempt.details.files_modified));
    }
    lines.extend(tests_in_words(known).map(|tests| format!("Tests: {tests}")));
    lines.extend(known.commits.iter().map(|(what, commit)| format!("{what}: {commit}")));
    if let Some(last) = known.last {
        match &last.outcome {
            IterationOutcome::Crashed => lines.push(format!("Crashed during iteration {}", last.iteration)),
            IterationOutcome::Stopped => lines.push(format!("Stopped during iteration {}", last.iteration)),
            IterationOutcome::Complete
            | IterationOutcome::Blocked { .. }
            | IterationOutcome::Waiting { .. }
            | IterationOutcome::Unfinished { .. }
            | IterationOutcome::Limited { .. }
            | IterationOutcome::NeedsHuman { .. } => {}
        }
        lines.extend(last.cut.as_deref().and_then(where_it_was).map(|words| format!("Where it was: {words}")));
        lines.extend(known.decision.map(|decision| format!("What was decided then: {decision}")));
    }
    if !known.printed.is_empty() {
        lines.push(format!("The last lines of its output:\n{}", known.printed.join("\n")));
    }
    lines
}

/// Where the program was that was cut off, and what that means for what it did last.
pub fn where_it_was(cut: &CutOffPoint) -> Option<String> {
    let marker = cut.marker.as_ref()?;
    Some(format!("{}; {}", marker.in_words(), follow(Some(marker), cut.effect).in_words()))
}

/// What an agent reported last, in words.
pub fn last_report(entries: &[AuditEntry]) -> Option<String> {
    last_of(entries, AttemptEventKind::Signal).map(|entry| entry.text.clone())
}

fn last_of(entries: &[AuditEntry], step: AttemptEventKind) -> Option<&AuditEntry> {
    entries.iter().rev().find(|entry| entry.attempt.as_ref().is_some_and(|one| one.event == step))
}

/// Whether these newest entries of a task have all that is told.
pub fn are_enough(entries: &[AuditEntry]) -> bool {
    let told = entries.iter().filter(|entry| entry.attempt.as_ref().is_some_and(|one| one.event != AttemptEventKind::Signal));
    told.count() >= MOST && started(entries).is_some()
}

/// When the last iteration began.
pub fn started(entries: &[AuditEntry]) -> Option<Timestamp> {
    last_of(entries, AttemptEventKind::Start).map(|entry| entry.at)
}

fn files_in_words(files: &[String]) -> Option<String> {
    let named: Vec<&str> = files.iter().take(MOST_FILES).map(String::as_str).collect();
    let more = files.len().saturating_sub(MOST_FILES);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| format!("Files modified: {}{rest}", named.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::OperationId;
    use crate::base::names::Oid;
    use crate::state::attempt::AttemptRecord;
    use crate::state::event_envelope::EventAuthor;
    use crate::work::endings::last_run::tests::last;
    use crate::work::verifying::verification::{VerifyStepResult, VerifyStepRun};

    fn entry(seq: u64, event: AttemptEventKind, files: &[&str]) -> AuditEntry {
        let details = AttemptDetails {
            files_modified: files.iter().map(|file| (*file).to_owned()).collect(),
            last_commit: Some(Oid::new("a".repeat(40)).unwrap()),
            ..AttemptDetails::default()
        };
        AuditEntry {
            seq,
            at: Timestamp::from_second(1_768_471_200).unwrap(),
            by: EventAuthor::Supervisor,
            txn: OperationId::new("t").unwrap(),
            event: "x",
            text: String::new(),
            attempt: Some(AttemptRecord { event, details }),
        }
    }

    #[test]
    fn a_crash_is_told_in_the_documented_words() {
        let entries = [
            entry(1, AttemptEventKind::Start, &[]),
            entry(2, AttemptEventKind::Signal, &[]),
            entry(3, AttemptEventKind::Crash, &["src/a.ts", "src/b.ts"]),
        ];
        let run = LastIteration { iteration: 5, ..last(IterationOutcome::Crashed) };
        let tests = TestCounts { passed: 4, failed: 2, ..TestCounts::default() };
        let result = VerifyStepResult {
            command: "make test".into(),
            by: crate::work::verifying::verification::VerifyChecker::default(),
            failure: Some("exited with 1".into()),
            lines: Vec::new(),
            run: Some(Box::new(VerifyStepRun { tests: Some(tests), ..VerifyStepRun::default() })),
        };
        let known = RecoveryContextFacts {
            retries: 2,
            entries: &entries,
            last: Some(&run),
            has_changes: Some(true),
            verified: &[KeptVerifyResult { of: Oid::new("a".repeat(40)).unwrap(), result }],
            tests_pass: None,
            decision: None,
            commits: vec![("Last commit", "abc123 \"feat: add auth module\"".into())],
            printed: vec!["one".into(), "two".into()],
        };
        assert_eq!(
            last_attempt(&known),
            [
                "Started: 2026-01-15T10:00:00Z",
                "Files modified: src/a.ts, src/b.ts",
                "Tests: 4/6 passing",
                "Last commit: abc123 \"feat: add auth module\"",
                "Crashed during iteration 5",
                "The last lines of its output:\none\ntwo",
            ]
        );
        let json = serde_json::to_value(context(&known)).unwrap();
        assert_eq!((&json["previousAttempts"], &json["workspaceHasChanges"]), (&2.into(), &true.into()));
        assert_eq!(json["instruction"], "Previous attempt crashed. Review log.");
        let events: Vec<&str> = json["auditLog"].as_array().unwrap().iter().map(|one| one["event"].as_str().unwrap()).collect();
        assert_eq!(events, ["start", "crash"]);
        assert_eq!(json["auditLog"][1]["details"]["testStatus"]["failed"], 2, "{json}");
    }

    #[test]
    fn what_a_human_ended_is_told_too_and_nothing_else() {
        let stopped = last(IterationOutcome::Stopped);
        let told = context(&RecoveryContextFacts { last: Some(&stopped), ..RecoveryContextFacts::default() }).unwrap();
        assert_eq!((told.previous_attempts, told.instruction.as_str()), (1, "Previous attempt was stopped. Go on where it was."));
        assert_eq!(how_cut_off(0, Some(&stopped)), Some("was stopped"));
        let complete = last(IterationOutcome::Complete);
        assert_eq!((how_cut_off(1, Some(&complete)), how_cut_off(0, Some(&complete))), (Some("crashed"), None));
        assert_eq!(context(&RecoveryContextFacts { last: Some(&complete), ..RecoveryContextFacts::default() }), None);
        assert_eq!(how_cut_off(0, None), None);
    }
}
