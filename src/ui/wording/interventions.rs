//! Interventions in words: what was done, who still works, what a human can choose.

use crate::cli::table::table;
use crate::cli::{visible, words};
use axiom_agents::interventions::pausing::{PauseReport, WorkingAgent};
use axiom_agents::interventions::quitting::SaveBeforeQuit;
use axiom_agents::interventions::redirect::RedirectReport;
use axiom_agents::interventions::{EndedAgent, TaskWaitGates};
use axiom_model::base::forms::plural::count_of;
use axiom_model::base::ids::{CheckpointName, TaskId};
use axiom_model::queries::choices::ReadyTaskChoice;
use axiom_model::queries::gate_line::OpenGateDecisionJson;
use axiom_model::work::endings::after_iteration::TaskHalt;
use axiom_model::work::gates::gate::{Gate, GateDecision, GateKind};

/// How many agents a question names.
const NAMED: usize = 6;

/// After `resume`.
pub const RESUMED: &str = "Resumed: agents begin their next iterations, and ready tasks are claimed again.";

/// What can be done with a session whose agents run; `None` is to let it go on.
pub const QUITTING: [(Option<SaveBeforeQuit>, &str); 3] = [
    (Some(SaveBeforeQuit::Nothing), "Quit: what they did is committed"),
    (Some(SaveBeforeQuit::Checkpoint), "Make a checkpoint, then quit"),
    (None, "Cancel"),
];

/// After `quit`, with the checkpoint that was made before; whether the session has ended by now.
pub fn quitting(checkpoint: Option<&CheckpointName>, has_ended: bool) -> String {
    let made = checkpoint.map(|name| format!("Checkpoint: {name}\n"));
    let what =
        if has_ended { "The session has ended." } else { "Quitting: agents at work get 5 seconds to end their iterations." };
    format!("{}{what}\n", made.unwrap_or_default())
}

/// What became of an agent that was stopped or killed, and of its task.
pub fn ended(ended: &EndedAgent) -> String {
    let EndedAgent { agent, how, completed, waits_at } = ended;
    let done = match how {
        TaskHalt::Stop => "Stopped",
        TaskHalt::Kill => "Killed",
    };
    let stands = completed.as_ref().map(|task| format!(" It had completed {task}, and that stands."));
    let waits = to_continue(waits_at).map(|commands| format!(" To let its task continue: {commands}"));
    format!("{done} {agent}.{}{}\n", stands.unwrap_or_default(), waits.unwrap_or_default())
}

/// All commands that a task needs to be taken up again.
fn to_continue(waits_at: &TaskWaitGates) -> Option<String> {
    let gates = [(GateKind::Claim, &waits_at.claim), (GateKind::Question, &waits_at.question)];
    let commands: Vec<String> = gates.iter().filter_map(|(kind, gate)| Some(kind.command(gate.as_ref()?.as_str()))).collect();
    (!commands.is_empty()).then(|| commands.join(", and "))
}

/// Who still runs, and who is paused.
pub fn pausing(all: &PauseReport) -> String {
    let iterations = (!all.running.is_empty()).then(|| words::count(all.running.len(), "iteration"));
    let verifications = (!all.verifying.is_empty()).then(|| words::count(all.verifying.len(), "verification"));
    let waits: Vec<String> = iterations.into_iter().chain(verifications).collect();
    let mut text = match waits.as_slice() {
        [] if all.session => "Paused: no agent runs.\n".to_owned(),
        [] => "No session runs, and no agent.\n".to_owned(),
        some if !all.session && !all.at_once => {
            format!("No session runs that could be paused. Still to end, as the last one left them: {}.\n", some.join(" and "))
        }
        some if all.at_once => format!("Pausing: ending {}.\n", some.join(" and ")),
        some => format!("Pausing: waiting for {} to end.\n", some.join(" and ")),
    };
    if !all.verifying.is_empty() {
        text.push_str("What passes is still merged, where its merge is approved.\n");
    }
    let row = |working: &WorkingAgent, how: String| {
        let progress = working.progress.map_or_else(String::new, |percent| format!("{percent}%"));
        vec![format!("  {}", working.agent), working.task.to_string(), how, progress]
    };
    let running = all.running.iter().map(|working| row(working, format!("runs, iteration {}", working.iteration)));
    let paused = all.paused.iter().map(|working| row(working, "runs no iteration".to_owned()));
    let rows: Vec<Vec<String>> = running.chain(paused).collect();
    if !rows.is_empty() {
        text.push_str(&table(&rows));
    }
    for doing in &all.verifying {
        text.push_str(&format!("  {}\n", visible::line(&doing.what_in_words())));
    }
    text.push_str(after_pause(all, waits.is_empty()));
    text
}

/// What a human may do next.
fn after_pause(all: &PauseReport, nothing_runs: bool) -> &'static str {
    match (all.session, nothing_runs || all.at_once) {
        (true, false) => "To end them at once: git axiom pause --force. To go on: git axiom resume\n",
        (true, true) => "To go on: git axiom resume. To end the session: git axiom quit\n",
        (false, false) => "To end them at once: git axiom pause --force\n",
        (false, true) => "",
    }
}

/// A line for each ready task to which an agent can be sent, the best first.
pub fn choices(open: &[ReadyTaskChoice]) -> Vec<String> {
    let row = |(place, choice): (usize, &ReadyTaskChoice)| {
        let group = choice.groups.iter().rev().map(TaskId::as_str).collect::<Vec<_>>().join(" > ");
        let best = if place == 0 { "  recommended" } else { "" };
        vec![choice.id.to_string(), choice.title.clone(), group, format!("({}){best}", choice.what_waits())]
    };
    let rows: Vec<Vec<String>> = open.iter().enumerate().map(row).collect();
    table(&rows).lines().map(str::to_owned).collect()
}

/// Where an agent went, and what became of the task that it left.
pub fn redirected(done: &RedirectReport) -> String {
    let RedirectReport { agent, from, to, completed, waits_at, checkpoint, waits_for } = done;
    let after = waits_for.map_or_else(String::new, |command| format!(", after '{command}',"));
    let mut text = format!("{agent} left {from} and goes on{after} with {to}. Checkpoint: {checkpoint}\n");
    if *completed {
        text.push_str(&format!("It had completed {from}, and that stands.\n"));
    }
    if let Some(commands) = to_continue(waits_at) {
        text.push_str(&format!("To let an agent take up {from} again: {commands}\n"));
    }
    text
}

/// Who runs, in one line: what is asked about before a session ends.
pub fn at_work(running: &[WorkingAgent]) -> String {
    if running.is_empty() {
        return "no agent is running just now".to_owned();
    }
    let named = running.iter().take(NAMED).map(|working| {
        let percent = working.progress.map_or_else(String::new, |percent| format!(" ({percent}%)"));
        format!("{} on {}{percent}", working.agent, working.task)
    });
    let more = running.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(", and {more} more") };
    format!(
        "{}: {}{more}",
        count_of(running.len(), "agent is running", "agents are running"),
        named.collect::<Vec<_>>().join(", ")
    )
}

/// What was decided about, as it was at that moment: somebody may have named a gate from an older list.
pub fn decided(gates: &[Gate], decision: &GateDecision) -> String {
    if gates.is_empty() {
        return "Nothing waits for an approval.\n".to_owned();
    }
    let is = OpenGateDecisionJson::from(decision).is;
    let mut text = String::new();
    for gate in gates {
        text.push_str(&format!("{is}: {}: {}\n", gate.id, visible::line(&gate.reason)));
        for detail in gate.details_decided() {
            text.push_str(&format!("  {}\n", visible::set_in(&detail, "    ")));
        }
    }
    text
}
