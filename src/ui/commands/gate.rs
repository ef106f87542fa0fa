//! `git axiom gate`: decisions that wait for a human.

mod show;

use clap::Subcommand;
use serde::Serialize;

use super::{open_configured_for, open_for};
use crate::cli::grid::{StyledCell, StyledGrid};
use crate::cli::screen::Screen;
use crate::cli::styled::StyledText;
use crate::cli::{visible, words};
use crate::commands::grammar::arguments::GlobalArgs;
use crate::wording::interventions::decided as decided_in_words;
use axiom_agents::interventions;
use axiom_agents::supervise::status;
use axiom_agents::supervise::status::RecoveryNeedJson;
use axiom_agents::supervise::target;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::forms::natural;
use axiom_model::base::screen_colors::ColoredPart;
use axiom_model::queries::gate_line::{OpenGateDecisionJson, OpenGateJson};
use axiom_model::queries::view::open_gates;
use axiom_model::work::gates::gate::{Gate, GateDecision, GateKind, asks_of_planner, first_command};
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;
use axiom_safety::settings::trust;

/// Verbs on gates.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
In mode semi-auto each claim and each merge waits at a gate; in any mode, questions of agents
wait, and merges that cannot be done or change guarded files (merge.guarded). A decision is
recorded at once. The supervisor acts on it within a second; if none runs, the next
'git axiom run' does.")]
#[allow(missing_docs)] // what each does is in the table of verbs
pub enum GateVerb {
    #[command(after_help = "\
The last column is the command that lets it continue, or your decision if you have made one.")]
    List,
    #[command(after_help = "\
'git axiom diff TASK' prints the patch. Files that no commit holds are named: they are
untracked, or changed since, and are not merged.")]
    Show {
        /// The gate's id, or its task's
        gate: String,
    },
    #[command(after_help = "\
At a gate of kind claim: an agent starts on the task. At one of kind merge: the task is merged;
a merge that was in conflict is tried again, so resolve it on the task's branch first; guarded
files are merged only as they were when the gate showed them, or it waits again. A
question needs 'git axiom gate answer'. At a budget: it goes on once, with as much again,
counted from now; 'git axiom gate answer GATE $10' raises the limit instead. At the disk's, the
space is looked at again at once; that gate closes by itself once there is enough. At one of
kind planning: that version of the plan is approved, at once. At a permission: the agent may do
it this once. If no supervisor runs, the next
'git axiom run' acts on it; a merge can be done at once by
'git axiom merge TASK'.")]
    #[command(override_usage = "git axiom gate approve <GATE>...\n       git axiom gate approve --all")]
    Approve {
        /// The gates' ids, or their tasks'
        #[arg(value_name = "GATE", required_unless_present = "all")]
        gates: Vec<String>,
        /// All gates except questions, budgets and permissions: these are allowed for each by its name
        #[arg(long, conflicts_with = "gates")]
        all: bool,
    },
    #[command(after_help = "\
The task is blocked with the reason, and what the agent did stays on its branch and in its
workspace. 'git axiom task unblock TASK' makes it pending again. A version of a plan is not
approved, and the reason is what is to be different in the next one. If no supervisor runs, the
next 'git axiom run' blocks it, unless you unblock it first. At the gate of the disk, or of the
session's budget, the session ends. At a permission the agent goes on without it, and no task is
blocked.")]
    Reject {
        /// The gate's id, or its task's
        gate: String,
        /// Why
        #[arg(long, default_value = "rejected at the gate")]
        reason: String,
    },
    #[command(after_help = "\
The agent gets question and answer in the prompt of its next iteration. It begins at once if a
supervisor runs, otherwise with the next 'git axiom run'. At a gate of kind planning it is the
answer to a planner's question. Where a crash cut a task off, 'complete' lets what is on its
branch be verified and merged, and 'anew' begins the task anew. Where an agent asks for a
permission, 'always' allows the same for the rest of its task, by the rule that the gate shows.")]
    Answer {
        /// The gate's id, or its task's
        gate: String,
        /// The answer
        text: String,
    },
}

/// The open gates.
#[derive(Serialize)]
struct GateListJson {
    gates: Vec<OpenGateJson>,
}

/// Which gates were decided.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GateDecisionJson {
    /// The gates that were decided at.
    gate_ids: Vec<String>,
}

/// Lists gates or decides at some.
pub fn run(verb: GateVerb, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let purpose = match verb {
        GateVerb::List | GateVerb::Show { .. } => VerbPurpose::Look,
        GateVerb::Approve { .. } | GateVerb::Reject { .. } | GateVerb::Answer { .. } => VerbPurpose::Write,
    };
    let mut ctx = match verb {
        GateVerb::Show { .. } => open_configured_for(purpose, global, Vec::new(), screen)?,
        GateVerb::List | GateVerb::Approve { .. } | GateVerb::Reject { .. } | GateVerb::Answer { .. } => {
            open_for(purpose, global, screen)?
        }
    };
    let (gates, decision) = match verb {
        GateVerb::List => {
            let gates: Vec<&Gate> = natural::sorted(shown(&ctx), |gate| gate.id.as_str());
            let mut lines: Vec<OpenGateJson> = gates.iter().map(|gate| OpenGateJson::from(*gate)).collect();
            trust::say_what_is_approved(&ctx, lines.iter_mut().map(OpenGateJson::reason_and_decided));
            let answer = GateListJson { gates: lines };
            // What a crash left waits for a human too, at no gate.
            let recovery = status::to_recover(&ctx)?;
            screen.answer(&answer, || list(&gates, &answer.gates, &recovery))?;
            return Ok(Exit::Done);
        }
        GateVerb::Show { gate } => {
            show::run(&ctx, &gate, screen)?;
            return Ok(Exit::Done);
        }
        GateVerb::Approve { all: true, gates: _ } => (all_together(&ctx), GateDecision::Approved),
        GateVerb::Approve { all: false, gates } => (gates, GateDecision::Approved),
        GateVerb::Reject { gate, reason } => (vec![gate], GateDecision::Rejected { reason }),
        GateVerb::Answer { gate, text } => (vec![gate], GateDecision::Answered { text }),
    };
    let approves = decision == GateDecision::Approved;
    if let Some(gate) = gates.iter().find(|gate| approves && is_question(&ctx, gate)) {
        return Err(
            Error::new(Code::InvalidInput, "a question needs an answer").hint(format!("git axiom gate answer {gate} TEXT"))
        );
    }
    let mut gates = interventions::decide(&mut ctx, &gates, &decision)?;
    trust::say_what_is_approved(&ctx, gates.iter_mut().map(|gate| (&mut gate.reason, true)));
    let for_sessions = gates.iter().any(|gate| gate.kind != GateKind::Planning);
    if for_sessions && !ctx.supervisor_alive()? {
        let run = target::command_for(&ctx, gates.iter().filter(|_| approves));
        screen.note(&format!("note: no supervisor runs; the next '{run}' acts on it"));
        screen.note(&format!("hint: {run} --until-idle    carries it out, and goes on"));
    }
    screen.answer(&GateDecisionJson { gate_ids: gates.iter().map(|gate| gate.id.to_string()).collect() }, || {
        decided_in_words(&gates, &decision)
    })?;
    Ok(Exit::Done)
}

/// The gates at which a human decides, or has decided: not those of tasks that go on by themselves after a pause.
fn shown(ctx: &Context) -> impl Iterator<Item = &Gate> {
    open_gates(ctx.state()).into_iter().filter(|gate| !gate.goes_on())
}

/// What a human may approve without a look at each: not what asks for words, and not what asks for money or time.
fn all_together(ctx: &Context) -> Vec<String> {
    let waiting = open_gates(ctx.state()).into_iter().filter(|gate| gate.goes_with_all());
    waiting.map(|gate| gate.id.to_string()).collect()
}

fn is_question(ctx: &Context, name: &str) -> bool {
    let named = |gate: &Gate| gate.id.as_str() == name || gate.task_id.as_ref().is_some_and(|task| task.as_str() == name);
    let mut gates = ctx.state().restorable.gates.values();
    gates.any(|gate| (gate.kind == GateKind::Question || asks_of_planner(gate.id.as_str())) && named(gate))
}

fn list(gates: &[&Gate], lines: &[OpenGateJson], recovery: &RecoveryNeedJson) -> StyledText {
    let to_recover = recovery.in_words();
    if gates.is_empty() {
        return if recovery.needed { to_recover.into() } else { "Nothing waits for you.\n".into() };
    }
    let mut rows = vec![["GATE", "SINCE", "WHAT WAITS", "TO CONTINUE"].map(StyledCell::from).to_vec()];
    for (gate, line) in gates.iter().zip(lines) {
        let command = match &gate.decision {
            Some(decision) => OpenGateDecisionJson::from(decision).in_words(),
            None => first_command(gate.kind, gate.id.as_str(), &line.reason),
        };
        let part = gate.decision.is_none().then_some(ColoredPart::Waiting);
        let id = StyledCell::of(part, gate.id.as_str());
        rows.push(vec![id, words::time(gate.opened_at).into(), StyledCell::of(part, line.reason.as_str()), command.into()]);
    }
    // The command names the gate too.
    let list = StyledGrid::of(rows).headed().cut(&[2]).at_least(32).may_go(&[0, 1]);
    let mut text = StyledText::from(list);
    for gate in gates {
        for detail in gate.lines_below() {
            text.push_str(&format!("{}: {}\n", gate.id, visible::set_in(&detail, "  ")));
        }
    }
    text + to_recover
}
