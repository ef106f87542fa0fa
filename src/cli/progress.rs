//! What the supervisor does, as it does it: lines with a time on standard error, and on a terminal a live line per agent.

use std::collections::BTreeMap;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::domain::ids::AgentId;
use crate::env;
use crate::ops::supervise::notice::{Notice, Watcher};

/// Shows notices.
#[derive(Debug)]
pub struct Progress {
    live: Option<MultiProgress>,
    bars: BTreeMap<AgentId, ProgressBar>,
}

impl Progress {
    /// With `terminal`, running agents get a live line each; otherwise there are plain lines only.
    pub fn new(terminal: bool) -> Self {
        Self { live: terminal.then(MultiProgress::new), bars: BTreeMap::new() }
    }

    /// Clears the live lines.
    pub fn finish(&mut self) {
        for bar in self.bars.values() {
            bar.finish_and_clear();
        }
        self.bars.clear();
    }

    fn line(&self, text: &str) {
        let now = env::now().strftime("%H:%M:%S");
        let line = format!("{now} {text}");
        match &self.live {
            Some(live) => drop(live.println(line)),
            None => super::screen::Screen::new(false).complain(&line),
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
        bar.set_message(text);
    }

    fn end(&mut self, agent: &AgentId) {
        if let Some(bar) = self.bars.remove(agent) {
            bar.finish_and_clear();
        }
    }
}

impl Watcher for Progress {
    fn notice(&mut self, notice: Notice) {
        match notice {
            Notice::Started { session, target, slots, program } => {
                let agents = if slots == 1 { "1 agent".to_owned() } else { format!("{slots} agents") };
                self.line(&format!("session {session}: {agents} of '{program}', into {target}"));
            }
            Notice::Recovered { what } => self.line(&format!("recovered: {what}")),
            Notice::Claimed { agent, task, title, workspace } => {
                self.line(&format!("{agent} claimed {task} \"{title}\" in {workspace}"));
            }
            Notice::IterationStarted { agent, task, iteration } => {
                self.begin(&agent, format!("{agent} {task} iteration {iteration}"));
                if iteration > 1 {
                    self.line(&format!("{agent} begins iteration {iteration} of {task}"));
                }
            }
            Notice::Progress { agent, task, percent } => match self.bars.get(&agent) {
                Some(bar) => bar.set_message(format!("{agent} {task} {percent}%")),
                None => self.line(&format!("{agent} {task} {percent}%")),
            },
            Notice::IterationEnded { agent, task, how, left_out } => {
                self.end(&agent);
                self.line(&format!("{agent} {task}: {how}"));
                for path in left_out {
                    self.line(&format!("{agent} {task}: not committed: {path}"));
                }
            }
            Notice::Released { agent: _, task, status, reason } => self.line(&format!("{task} is {status}: {reason}")),
            Notice::Merged { task, commit } => self.line(&format!("{task} is merged as {}", commit.short())),
            Notice::GateOpened { id, reason, details } => {
                self.line(&format!("gate {id}: {reason} (git axiom gate approve {id})"));
                for detail in details {
                    self.line(&format!("gate {id}:   {detail}"));
                }
            }
            Notice::Checkpoint { name } => self.line(&format!("checkpoint {name}")),
            Notice::Warning { text } => self.line(&format!("warning: {text}")),
            Notice::Pausing { why } => self.line(&why),
            Notice::Ended { how } => self.line(&format!("session ended: {how}")),
        }
    }
}
