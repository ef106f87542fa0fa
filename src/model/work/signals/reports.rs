//! What agents have reported of the work on a task: parts, files, phase, estimate, libraries. Pure.
//!
//! It belongs to the work in the task's workspace: a new workspace begins without it, and a rollback brings back what was
//! reported then. How it is shown is in `task_standing`.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::report_parts::{PhaseConfidence, ReadyPoint, Subtask, SubtaskStage, TaskCaptureRecord};
use crate::base::defaults::is_default;
use crate::work::iteration::{IterationOutcome, IterationReport};
use crate::work::signals::signal::{AgentSignal, FileReport};

/// How many parts of a task are kept.
pub const MOST_SUBTASKS: usize = 200;
/// How many files of a task are kept.
pub const MOST_FILES: usize = 500;
/// How many libraries of a task are kept.
pub const MOST_DEPENDENCIES: usize = 100;
/// How many things of a task that are ready are kept.
pub const MOST_READY: usize = 50;
/// How many names of changed files are kept while a task is worked on.
const MOST_CHANGED: usize = 500;
/// Of how many phases it is kept how sure the agent was.
const MOST_PHASES: usize = 50;
/// How many bytes the names of one task may have together, so that the state stays small.
pub const MOST_BYTES: usize = 128 * 1024;

/// All that was reported of the work on one task.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskReports {
    /// When the task was first claimed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When something was last recorded of the work: its claim, a report, a capture, the end of an iteration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<Timestamp>,
    /// The progress in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<u8>,
    /// The phase of the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// How sure the agent said that it is of each phase (each loop of its work), in their order; of the last [`MOST_PHASES`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub confidences: Vec<PhaseConfidence>,
    /// When the agent expects to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_at: Option<Timestamp>,
    /// The parts of the task, in the order in which they were first named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subtasks: Vec<Subtask>,
    /// The files, in the order in which they were first named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileReport>,
    /// The libraries that the work uses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// What others may begin with, in the order in which it was first named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ready: Vec<ReadyPoint>,
    /// How many reports were left out because of the limits.
    #[serde(skip_serializing_if = "is_default")]
    pub left_out: u64,
    /// Names of the files that its iterations changed, while it is worked on.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub changed: BTreeSet<String>,
    /// How many files its iterations changed.
    #[serde(skip_serializing_if = "is_default")]
    pub files_modified: u64,
    /// Whether its verification passed when it was last run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// The newest capture of its workspace that was made while an agent worked in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captured: Option<TaskCaptureRecord>,
    /// Whether the work was given back to an agent, and none has reported it as complete since.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub given_back: bool,
    /// Whether its workspace was handed on to another task, and the work is on its branch.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub on_branch: bool,
    /// How many iterations this attempt has had, cut-off ones too: the numbers go on after a cut.
    #[serde(skip_serializing_if = "is_default")]
    pub iteration: u32,
}

impl TaskReports {
    /// Takes up a signal of the task's agent.
    pub fn hear(&mut self, signal: &AgentSignal, at: Timestamp) {
        self.recorded_at = Some(at);
        match signal {
            AgentSignal::Progress { percent } => self.progress = Some(*percent),
            AgentSignal::Phase { name, confidence } => {
                self.phase = Some(name.clone());
                if let Some(confidence) = *confidence {
                    self.put_confidence(name, confidence);
                }
            }
            AgentSignal::Subtask { name, done, planned } => {
                let stage = match (done, planned) {
                    (true, _) => SubtaskStage::Done,
                    (false, true) => SubtaskStage::Planned,
                    (false, false) => SubtaskStage::Begun,
                };
                self.put_subtask(name, stage);
            }
            AgentSignal::File(report) => self.put_file(report),
            AgentSignal::Ready { name, text } => self.put_ready(name, text),
            AgentSignal::Estimate { seconds } => {
                let seconds = i64::try_from(*seconds).unwrap_or(i64::MAX);
                self.expected_at = at.checked_add(SignedDuration::from_secs(seconds)).ok();
            }
            AgentSignal::Depends { names } => names.iter().for_each(|name| self.put_dependency(name)),
            AgentSignal::Complete {}
            | AgentSignal::Blocked { .. }
            | AgentSignal::Waiting { .. }
            | AgentSignal::Learning { .. }
            | AgentSignal::PermissionAsked(_)
            | AgentSignal::PermissionEnded { .. }
            | AgentSignal::ToolStarted(_)
            | AgentSignal::ToolCompleted(_)
            | AgentSignal::RequestSent(_)
            | AgentSignal::ResponseReceived(_)
            | AgentSignal::Session { .. }
            | AgentSignal::Seen(_) => {}
        }
    }

    /// Takes up the end of an iteration.
    pub fn iterated(&mut self, report: &IterationReport, at: Timestamp) {
        // An end may be recorded much later: what a crash cut off, and what nobody attended to.
        let last_sign = report.cut.as_ref().map(|cut| cut.saved_at).or(report.ended_at).map_or(at, |sign| sign.min(at));
        self.recorded_at = self.recorded_at.max(Some(last_sign));
        let room = MOST_CHANGED.saturating_sub(self.changed.len());
        let new: Vec<&String> = report.files.iter().filter(|name| !self.changed.contains(*name)).take(room).collect();
        self.changed.extend(new.into_iter().cloned());
        // An earlier attempt, or what was captured since, may know of more.
        self.files_modified = self.files_modified.max(self.changed.len() as u64);
        self.given_back &= report.outcome != IterationOutcome::Complete;
    }

    /// The work is given back to an agent (a conflict, a rejected merge, a failed verification, a human): what was reported and
    /// verified of it does not count any more. What it uses, and what others began with, stays.
    pub fn give_back(&mut self) {
        (self.progress, self.phase, self.expected_at) = (None, None, None);
        self.confidences.clear();
        self.subtasks.clear();
        self.files.retain(|file| file.role.is_some());
        self.verified = None;
        self.given_back = true;
    }

    /// Takes back what agents have said since `before`: what git axiom itself found out stays.
    pub fn withdraw(&mut self, before: &Self) {
        let said = before.clone();
        (self.progress, self.phase, self.confidences) = (said.progress, said.phase, said.confidences);
        (self.expected_at, self.left_out) = (said.expected_at, said.left_out);
        (self.subtasks, self.files) = (said.subtasks, said.files);
        (self.dependencies, self.ready) = (said.dependencies, said.ready);
    }

    /// Forgets what counts only while the task is worked on.
    pub fn completed(&mut self) {
        self.changed.clear();
        self.expected_at = None;
    }

    /// How sure the agent is of the work, 0 to 1, as it said last of a phase.
    pub fn confidence(&self) -> Option<f64> {
        self.confidences.last().map(|last| last.confidence)
    }

    fn put_confidence(&mut self, phase: &str, confidence: f64) {
        match self.confidences.last_mut().filter(|last| last.phase == phase) {
            Some(last) => last.confidence = confidence,
            None => self.confidences.push(PhaseConfidence { phase: phase.to_owned(), confidence }),
        }
        let over = self.confidences.len().saturating_sub(MOST_PHASES);
        self.confidences.drain(..over);
    }

    fn put_subtask(&mut self, name: &str, stage: SubtaskStage) {
        if let Some(known) = self.subtasks.iter_mut().find(|known| known.name == name) {
            known.stage = stage;
        } else if self.subtasks.len() < MOST_SUBTASKS && self.has_room(name.len()) {
            self.subtasks.push(Subtask { name: name.to_owned(), stage });
        } else {
            self.left_out += 1;
        }
    }

    /// A later report of a file replaces the earlier one, except for what it does not mention.
    fn put_file(&mut self, report: &FileReport) {
        let known = self.files.iter().position(|known| known.path == report.path);
        let before = known.and_then(|index| self.files.get(index)).cloned().unwrap_or_default();
        let merged = FileReport {
            section: report.section.clone().or(before.section),
            next: if report.done { None } else { report.next.clone().or(before.next) },
            line: report.line.or(before.line),
            confidence: report.confidence.or(before.confidence),
            ..report.clone()
        };
        if !self.has_room(bytes_of(&merged)) || known.is_none() && self.files.len() >= MOST_FILES {
            self.left_out += 1;
            return;
        }
        match known.and_then(|index| self.files.get_mut(index)) {
            Some(place) => *place = merged,
            None => self.files.push(merged),
        }
    }

    fn put_ready(&mut self, name: &str, text: &str) {
        let known = self.ready.iter().position(|point| point.name == name);
        let before = known.and_then(|index| self.ready.get(index)).map_or(0, |point| point.text.len());
        let more = (name.len() + text.len()).saturating_sub(before);
        if !self.has_room(more) || known.is_none() && self.ready.len() >= MOST_READY {
            self.left_out += 1;
            return;
        }
        match known.and_then(|index| self.ready.get_mut(index)) {
            Some(point) => text.clone_into(&mut point.text),
            None => self.ready.push(ReadyPoint { name: name.to_owned(), text: text.to_owned() }),
        }
    }

    fn put_dependency(&mut self, name: &str) {
        if self.dependencies.iter().any(|known| known == name) {
            return;
        }
        if self.dependencies.len() < MOST_DEPENDENCIES && self.has_room(name.len()) {
            self.dependencies.push(name.to_owned());
        } else {
            self.left_out += 1;
        }
    }

    fn has_room(&self, more: usize) -> bool {
        let subtasks: usize = self.subtasks.iter().map(|part| part.name.len()).sum();
        let files: usize = self.files.iter().map(bytes_of).sum();
        let libraries: usize = self.dependencies.iter().map(String::len).sum();
        let ready: usize = self.ready.iter().map(|point| point.name.len() + point.text.len()).sum();
        subtasks + files + libraries + ready + more <= MOST_BYTES
    }
}

fn bytes_of(file: &FileReport) -> usize {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    file.path.len() + length(&file.section) + length(&file.next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::names::Oid;
    use crate::work::signals::signal::ReportedFileRole;

    fn heard(signals: &[AgentSignal]) -> TaskReports {
        let mut reports = TaskReports::default();
        signals.iter().for_each(|signal| reports.hear(signal, Timestamp::UNIX_EPOCH));
        reports
    }

    fn subtask(name: &str, done: bool, planned: bool) -> AgentSignal {
        AgentSignal::Subtask { name: name.into(), done, planned }
    }

    fn file(report: FileReport) -> AgentSignal {
        AgentSignal::File(Box::new(report))
    }

    #[test]
    fn a_part_is_named_once_and_has_its_newest_stage() {
        let reports = heard(&[subtask("a", false, true), subtask("b", false, false), subtask("a", true, false)]);
        let found: Vec<_> = reports.subtasks.iter().map(|part| (part.name.as_str(), part.stage)).collect();
        assert_eq!(found, [("a", SubtaskStage::Done), ("b", SubtaskStage::Begun)]);
    }

    #[test]
    fn a_later_report_of_a_file_keeps_what_it_does_not_mention() {
        let first = FileReport {
            path: "a".into(),
            section: Some("one".into()),
            next: Some("two".into()),
            line: Some(7),
            ..FileReport::default()
        };
        let second = FileReport { path: "a".into(), confidence: Some(0.5), ..FileReport::default() };
        let reports = heard(&[file(first.clone()), file(second)]);
        assert_eq!(reports.files, [FileReport { confidence: Some(0.5), ..first.clone() }]);
        let done = FileReport { path: "a".into(), done: true, ..FileReport::default() };
        let role = FileReport { path: "b".into(), role: Some(ReportedFileRole::Test), ..FileReport::default() };
        let reports = heard(&[file(first.clone()), file(done), file(role.clone())]);
        assert_eq!(reports.files, [FileReport { done: true, next: None, ..first }, role]);
    }

    #[test]
    fn an_estimate_is_a_time_and_confidence_is_kept_by_phase() {
        let phase = |name: &str, confidence| AgentSignal::Phase { name: name.into(), confidence };
        let all = [phase("loop1", Some(0.2)), phase("loop1", Some(0.5)), phase("loop2", Some(0.7)), phase("b", None)];
        let reports = heard(&[&[AgentSignal::Estimate { seconds: 60 }][..], &all].concat());
        assert_eq!(reports.expected_at, Some(Timestamp::from_second(60).unwrap()));
        assert_eq!((reports.phase.as_deref(), reports.confidence()), (Some("b"), Some(0.7)));
        let series: Vec<_> = reports.confidences.iter().map(|one| (one.phase.as_str(), one.confidence)).collect();
        assert_eq!(series, [("loop1", 0.5), ("loop2", 0.7)]);
        let many: Vec<AgentSignal> = (0..100).map(|number| phase(&number.to_string(), Some(0.5))).collect();
        let reports = heard(&many);
        assert_eq!((reports.confidences.len(), reports.confidences[0].phase.as_str()), (MOST_PHASES, "50"));
    }

    #[test]
    fn what_is_over_a_limit_is_counted() {
        let mut reports = TaskReports::default();
        for number in 0..600 {
            let name = format!("n{number}");
            for signal in [
                subtask(&name, false, false),
                file(FileReport { path: name.clone(), ..FileReport::default() }),
                AgentSignal::Depends { names: vec![name.clone()] },
            ] {
                reports.hear(&signal, Timestamp::UNIX_EPOCH);
            }
        }
        let kept = [reports.subtasks.len(), reports.files.len(), reports.dependencies.len()];
        assert_eq!(kept, [MOST_SUBTASKS, MOST_FILES, MOST_DEPENDENCIES]);
        assert_eq!(reports.left_out, 400 + 100 + 500);
        let long = "x".repeat(4096);
        let many: Vec<AgentSignal> = (0..100).map(|number| subtask(&format!("{number}{long}"), false, false)).collect();
        let reports = heard(&many);
        let bytes: usize = reports.subtasks.iter().map(|part| part.name.len()).sum();
        assert!(bytes <= MOST_BYTES && reports.left_out > 0, "{bytes}");
    }

    #[test]
    fn changed_files_are_counted_once() {
        use crate::work::iteration::IterationOutcome;
        let oid = Oid::new("1".repeat(40)).unwrap();
        let of = |files: &[&str]| IterationReport {
            outcome: IterationOutcome::Complete,
            exit_code: None,
            signal: None,
            from: oid.clone(),
            to: oid.clone(),
            files: files.iter().map(|name| (*name).to_owned()).collect(),
            left_out: vec![],
            duration_ms: 0,
            ended_at: None,
            tokens: None,
            cost_usd: None,
            not_started: false,
            silent_end: None,
            denied: vec![],
            unfinished: vec![],
            cut: None,
            session: None,
            resumed: None,
            ran: String::new(),
            cut_off: false,
            conflict_round: None,
            discarded: false,
            end_unseen: false,
        };
        let mut reports = TaskReports::default();
        reports.iterated(&of(&["a", "b"]), Timestamp::UNIX_EPOCH);
        reports.iterated(&of(&["b", "c"]), Timestamp::UNIX_EPOCH);
        assert_eq!(reports.files_modified, 3);
        reports.completed();
        assert_eq!((reports.files_modified, reports.changed.len()), (3, 0));
    }
}
