//! The progress of the supervisor: lines with a time on standard error, and on a terminal a live line for each agent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use jiff::Timestamp;

use crate::cli::{visible, words};
use axiom_agents::supervise::notice::{SessionNotice, SessionWatcher};
use axiom_base::env;
use axiom_model::base::forms::beginning::beginning;
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::work::gates::gate::{GateKind, first_command, to_settle_first};
use axiom_model::work::tasks::task::TaskStatus;

/// How many characters of a step are shown.
const LONGEST_STEP: usize = 60;

/// Prints notices.
#[derive(Debug)]
pub struct ProgressPrinter {
    live: Option<MultiProgress>,
    bars: BTreeMap<AgentId, ProgressBar>,
    /// The folder to which paths are shown relative.
    base: Option<PathBuf>,
    /// How the last iteration of each task ended, so that the next line need not repeat it.
    ended: BTreeMap<TaskId, String>,
}

impl ProgressPrinter {
    /// With `terminal`, each running agent has a live line; otherwise there are plain lines only.
    pub fn new(terminal: bool) -> Self {
        let live = terminal.then(MultiProgress::new);
        Self { live, bars: BTreeMap::new(), base: None, ended: BTreeMap::new() }
    }

    /// Shows paths below `base` relative to it.
    #[must_use]
    pub fn seen_from(self, base: &Path) -> Self {
        Self { base: Some(base.to_owned()), ..self }
    }

    /// Clears the live lines.
    pub fn finish(&mut self) {
        for bar in self.bars.values() {
            bar.finish_and_clear();
        }
        self.bars.clear();
    }

    fn line(&self, text: &str) {
        self.line_at(env::now(), text);
    }

    /// Of what was so before it is told.
    fn line_at(&self, at: Timestamp, text: &str) {
        let line = format!("{} {}", words::clock(at), visible::line(text));
        match &self.live {
            Some(live) => drop(live.println(line)),
            None => crate::cli::screen::Screen::for_people().complain(&line),
        }
    }

    fn begin(&mut self, agent: &AgentId, text: String) {
        let Some(live) = &self.live else { return };
        let bar = self.bars.entry(agent.clone()).or_insert_with(|| {
            let bar = live.add(ProgressBar::new_spinner());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        bar.reset_elapsed();
        bar.set_message(visible::line(&text).into_owned());
    }

    /// Shows that something runs for an agent's task: on a terminal as long as it does, else in a line.
    fn runs(&mut self, agent: &AgentId, text: String) {
        match self.live {
            Some(_) => self.begin(agent, text),
            None => self.line(&text),
        }
    }

    fn end(&mut self, agent: &AgentId) {
        if let Some(bar) = self.bars.remove(agent) {
            bar.finish_and_clear();
        }
    }
}

impl SessionWatcher for ProgressPrinter {
    fn notice(&mut self, notice: SessionNotice) {
        match notice {
            SessionNotice::Started { session, target, slots, program, mode } => {
                let agents = words::count(slots, "agent");
                self.line(&format!("session {session}: {agents} of '{program}', {}, into {target}", mode.as_str()));
            }
            SessionNotice::Recovered { what } => self.line(&format!("recovered: {what}")),
            SessionNotice::Claimed { agent, task, title, workspace } => {
                let workspace = words::below(self.base.as_deref(), &workspace);
                self.line(&format!("{agent} claimed {task} \"{title}\" in {workspace}"));
            }
            SessionNotice::IterationStarted { agent, task, iteration } => {
                self.begin(&agent, format!("{agent} {task} iteration {iteration}"));
                if iteration > 1 {
                    self.line(&format!("{agent} begins iteration {iteration} of {task}"));
                }
            }
            SessionNotice::Progress { agent, task, percent, said_at } => match self.bars.get(&agent) {
                Some(bar) => bar.set_message(format!("{agent} {task} {percent}%")),
                None => self.line_at(said_at, &format!("{agent} {task} {percent}%")),
            },
            SessionNotice::IterationEnded { agent, task, how, left_out, ended_at } => {
                self.end(&agent);
                self.line_at(ended_at, &format!("{agent} {task}: {how}"));
                self.ended.insert(task.clone(), how);
                for path in left_out {
                    self.line(&format!("{agent} {task}: not committed: {path}"));
                }
            }
            SessionNotice::Released { agent, task, status, reason } => {
                self.end(&agent);
                let said = self.ended.remove(&task);
                self.line(&released(&task, status, &reason, said.as_deref()));
            }
            SessionNotice::Verifying { agent, task, steps } => self.runs(&agent, verifying(&task, &steps)),
            SessionNotice::Evaluating { agent, task } => {
                self.runs(&agent, format!("{task}: recovery.evaluator is asked what becomes of it"))
            }
            SessionNotice::ChecksEnded { agent } => self.end(&agent),
            SessionNotice::VerifyingMerge { task } => self.line(&format!("{task}: the result of its merge is being verified")),
            SessionNotice::NothingToMerge { task, target } => {
                self.line(&format!("{task} needs no merge: {} has all of it", target.short()));
            }
            SessionNotice::Merged { task, commit } => self.line(&format!("{task} is merged as {}", commit.short())),
            SessionNotice::GateOpened { id, reason, details } => {
                let command = first_command(GateKind::of_gate(&id).unwrap_or(GateKind::HumanReview), &id, &reason);
                self.line(&format!("gate {id}: {reason} ({command})"));
                for detail in details.into_iter().chain(to_settle_first(&reason)) {
                    self.line(&format!("gate {id}:   {detail}"));
                }
            }
            SessionNotice::Checkpoint { name } => self.line(&format!("checkpoint {name}")),
            SessionNotice::Warning { text } => self.line(&format!("warning: {text}")),
            SessionNotice::SessionChanges { why } => self.line(&why),
            SessionNotice::WaitingFor { what } => self.line(&format!("waiting: {what}")),
            SessionNotice::Ended { how } => self.line(&format!("session ended: {how}")),
        }
    }
}

/// Which steps of a task begin, in words.
fn verifying(task: &TaskId, steps: &[String]) -> String {
    let first = beginning(steps.first().map_or("", String::as_str), LONGEST_STEP);
    match steps.len() {
        0 | 1 => format!("{task}: its verify step '{first}' runs"),
        // A step begins where the one before has passed.
        all => format!("{task}: its {all} verify steps begin, the first is '{first}'"),
    }
}

/// What happened to a task, without the part that the line on its last iteration had already.
fn released(task: &TaskId, status: TaskStatus, reason: &str, said: Option<&str>) -> String {
    let word = match status {
        TaskStatus::Done if reason == "complete" => return format!("{task} is done"),
        TaskStatus::Done => return format!("{task} is done: {reason}"),
        TaskStatus::Failed => "failed",
        TaskStatus::Blocked => "is blocked",
        TaskStatus::Pending => "is pending again",
        TaskStatus::Active => "is active",
        TaskStatus::Archived => "is archived",
    };
    let said = said.unwrap_or_default();
    let blocked = said.strip_prefix("blocked: ");
    if reason == said || Some(reason) == blocked {
        return format!("{task} {word}");
    }
    let why = said.strip_prefix("not complete: ").and_then(|why| reason.strip_suffix(why)?.strip_suffix(": "));
    format!("{task} {word}: {}", why.unwrap_or(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_that_run_are_named() {
        let task = TaskId::new("t").unwrap();
        let said = |steps: &[&str]| verifying(&task, &steps.iter().map(|step| (*step).to_owned()).collect::<Vec<_>>());
        assert_eq!(said(&["tests"]), "t: its verify step 'tests' runs");
        assert_eq!(said(&["@first", "@second"]), "t: its 2 verify steps begin, the first is '@first'");
        assert_eq!(said(&[&"ä".repeat(61)]), format!("t: its verify step '{}…' runs", "ä".repeat(60)));
    }

    #[test]
    fn what_was_said_is_not_said_again() {
        let task = TaskId::new("t").unwrap();
        let line = |status, reason: &str, said: &str| released(&task, status, reason, Some(said));
        assert_eq!(line(TaskStatus::Done, "complete", "complete"), "t is done");
        assert_eq!(line(TaskStatus::Done, "complete and verified", "complete"), "t is done: complete and verified");
        assert_eq!(
            line(TaskStatus::Failed, "not complete after 2 iterations: exit 3", "not complete: exit 3"),
            "t failed: not complete after 2 iterations"
        );
        assert_eq!(line(TaskStatus::Failed, "it crashed 4 times", "its keeper died"), "t failed: it crashed 4 times");
        assert_eq!(line(TaskStatus::Blocked, "no key", "blocked: no key"), "t is blocked");
        assert_eq!(line(TaskStatus::Pending, "stopped", "stopped"), "t is pending again");
        assert_eq!(released(&task, TaskStatus::Blocked, "its workspace is gone", None), "t is blocked: its workspace is gone");
    }
}
