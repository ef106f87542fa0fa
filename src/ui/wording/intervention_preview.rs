//! What an intervention will do, and how it is taken back, before it is agreed to. Lines for people; pure.

use axiom_model::base::ids::TaskId;
use axiom_model::planning::plan::PLANNER_AGENT;
use axiom_model::work::gates::gate::{Gate, GateKind};
use axiom_model::work::sessions::session::SessionMode;

/// An agent with its task, as far as these texts need it.
#[derive(Debug, Clone, Copy)]
pub struct BusyAgent<'a> {
    /// The agent.
    pub agent: &'a str,
    /// The task and its title.
    pub task: (&'a str, &'a str),
    /// The iteration and the most of them.
    pub iteration: (u32, Option<u32>),
    /// Progress in percent.
    pub progress: Option<u8>,
    /// Its workspace.
    pub workspace: Option<&'a str>,
}

impl BusyAgent<'_> {
    fn line(&self) -> String {
        if self.is_planner() {
            return format!("{} works on the plan", self.agent);
        }
        let most = self.iteration.1.map_or_else(String::new, |most| format!("/{most}"));
        let progress = self.progress.map_or_else(String::new, |percent| format!(", {percent}%"));
        let (task, title) = self.task;
        format!("{} works on {task}: {title} (iteration {}{most}{progress})", self.agent, self.iteration.0)
    }

    fn is_planner(&self) -> bool {
        self.agent == PLANNER_AGENT
    }

    fn kept(&self) -> Vec<String> {
        self.workspace.map(|path| format!("• Its workspace stays: {path}")).into_iter().collect()
    }

    fn waits(&self) -> String {
        format!("• {} is pending again and waits for you, in autopilot too", self.task.0)
    }

    fn back(&self) -> Vec<String> {
        let gate = TaskId::new(self.task.0).and_then(|task| Gate::id_for(GateKind::Claim, &task));
        let gate = gate.map_or_else(|_| self.task.0.to_owned(), |gate| gate.to_string());
        vec![String::new(), format!("To take it back: {}", GateKind::Claim.command(&gate))]
    }
}

fn of_planner(mut lines: Vec<String>) -> Vec<String> {
    lines.push("• Its program is ended, with everything that it started".to_owned());
    lines.push("• The plan stays in its phase; tasks that it had printed are kept".to_owned());
    lines.extend([String::new(), "To run it again: git axiom plan propose".to_owned()]);
    lines
}

/// Before an agent is stopped.
pub fn stop(who: BusyAgent<'_>) -> Vec<String> {
    let mut lines = vec![who.line(), String::new()];
    if who.is_planner() {
        return of_planner(lines);
    }
    lines.push("• Its program, if one runs, gets its signal, a grace time, then SIGKILL".to_owned());
    lines.push("• What it did is committed on the task's branch".to_owned());
    lines.extend(who.kept());
    lines.push(who.waits());
    lines.extend(who.back());
    lines
}

/// Before an agent is killed.
pub fn kill(who: BusyAgent<'_>) -> Vec<String> {
    let mut lines = vec![who.line(), String::new()];
    if who.is_planner() {
        return of_planner(lines);
    }
    lines.push("• Its program is ended at once, with everything that it started".to_owned());
    lines.push("• What it reported in this iteration is discarded".to_owned());
    lines.push("• Its workspace is captured first, then what it did is committed".to_owned());
    lines.extend(who.kept());
    lines.push(who.waits());
    lines.extend(who.back());
    lines
}

/// Before an agent is sent to another task.
pub fn redirect(who: BusyAgent<'_>) -> Vec<String> {
    let mut lines = vec![who.line(), String::new()];
    lines.push("• A checkpoint is made, and what it did is committed on the task's branch".to_owned());
    lines.extend(who.kept());
    lines.push(who.waits());
    lines
}

/// Before a task is blocked, with the agent that works on it.
pub fn block(task: (&str, &str), who: Option<BusyAgent<'_>>) -> Vec<String> {
    let (id, title) = task;
    let mut lines = vec![format!("{id}: {title}"), String::new()];
    if let Some(who) = who {
        lines.push(format!("• {} is stopped and free for other tasks; what it did is committed", who.agent));
        lines.extend(who.kept());
    }
    lines.push("• The task is blocked, with the reason, until you unblock it".to_owned());
    lines.push(String::new());
    lines.push(format!("To take it back: git axiom task unblock {id}"));
    lines
}

/// Before the mode changes.
pub fn mode(old: SessionMode, new: SessionMode) -> Vec<String> {
    let does = match new {
        SessionMode::SemiAuto => "Each claim and each merge waits for you.",
        SessionMode::Review => "Tasks are claimed by themselves; each merge waits for you.",
        SessionMode::Autopilot => "Tasks are claimed and merged by themselves; questions and merges that conflict wait for you.",
    };
    let mut lines = vec![format!("{} → {}", old.as_str(), new.as_str()), String::new(), does.to_owned()];
    if new == SessionMode::Autopilot {
        lines.push("A checkpoint is made first (checkpoints.beforeAutopilot).".to_owned());
    }
    lines.push(String::new());
    lines.push(format!("To take it back: git axiom mode {}", old.as_str()));
    lines
}
