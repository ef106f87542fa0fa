//! `git axiom plan recover`: what becomes of a plan whose planner was cut off.

use clap::Args;
use serde::Serialize;

use super::view::PlanJson;
use crate::cli::screen::Screen;
use crate::cli::{prompt, words};
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_agents::plan;
use axiom_agents::plan::recover::{carry_out, cut_off, take_up_printed};
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::planning::plan::GoalPlan;
use axiom_model::planning::recover::{PlanRecoveryChoice, PlanRecoveryDecision, by_rule, keeps_nothing, resuming};

/// Arguments of `plan recover`.
#[derive(Debug, Args)]
#[command(after_help = "\
Where a crash cut planning off, a terminal offers the choices:
  [R] Resume from phase     understand: questions and answers are kept; analyze: run again;
                            propose: the last version; decompose: the pending tasks are made;
                            validate: the tasks are checked again
  [S] Start planning over   what there is, is archived in the plan, and it begins anew
  [K] Keep tasks, skip      the tasks that were created are made, the pending ones are dropped

With nobody to ask (no terminal, or --non-interactive): if less than 50% of the tasks were
created, it starts over; else it keeps them. The decision and its reason are in
'git axiom log'.")]
pub struct PlanRecoverArgs {
    /// Go on in the phase in which it was
    #[arg(long, group = "choice")]
    resume: bool,
    /// Archive what there is, and begin anew
    #[arg(long, group = "choice")]
    start_over: bool,
    /// Make the tasks that were created, and plan no further
    #[arg(long, group = "choice")]
    keep: bool,
}

/// The plan, and what became of what was cut off.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlanRecoverJson<'a> {
    #[serde(flatten)]
    plan: &'a PlanJson<'a>,
    /// Null: nothing was cut off.
    choice: Option<PlanRecoveryChoice>,
    reason: Option<&'a str>,
    /// Tasks that were kept, and are made.
    task_ids: &'a [TaskId],
    undo: Option<String>,
}

/// Decides what becomes of a plan that was cut off, and does it.
pub fn run(args: &PlanRecoverArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = super::open_healed(global, screen)?;
    plan::open(ctx.state())?;
    let taken_up = take_up_printed(&mut ctx)?;
    if taken_up > 0 {
        screen.note(&format!("taken up: {} that the planner had printed before", words::count(taken_up, "task")));
    }
    let open = plan::open(ctx.state())?;
    let is_cut_off = cut_off(&ctx)?.is_some();
    let decided = match chosen(args) {
        Some(choice) => Some(PlanRecoveryDecision { choice, why: "a human chose it".to_owned() }),
        None if !is_cut_off => None,
        None if !screen.can_ask() => Some(by_rule(open)),
        None => Some(PlanRecoveryDecision { choice: ask(open)?, why: "a human chose it".to_owned() }),
    };
    let Some(decided) = decided else {
        let answer = PlanJson::of(&ctx)?;
        let nothing = PlanRecoverJson { plan: &answer, choice: None, reason: None, task_ids: &[], undo: None };
        screen.answer(&nothing, || format!("Nothing was cut off.\n{}", answer.next_line()))?;
        return Ok(Exit::Done);
    };
    let made = carry_out(&mut ctx, &decided)?;
    if decided.choice != PlanRecoveryChoice::Keep {
        super::go_on(&mut ctx, "The decision is recorded.", screen)?;
    }
    let undo = (!made.is_empty()).then(|| format!("git axiom undo {}", ctx.txn()));
    let answer = PlanJson::of(&ctx)?;
    let (choice, reason) = (Some(decided.choice), Some(decided.why.as_str()));
    let document = PlanRecoverJson { plan: &answer, choice, reason, task_ids: &made, undo: undo.clone() };
    screen.answer(&document, || {
        let what = match decided.choice {
            PlanRecoveryChoice::Resume => "Planning goes on".to_owned(),
            PlanRecoveryChoice::StartOver => "Planning is started over; what there was is archived".to_owned(),
            PlanRecoveryChoice::Keep => format!("{} kept, planning is skipped", words::count(made.len(), "task")),
        };
        let undo = undo.iter().map(|undo| format!("To undo: {undo}\n")).collect::<String>();
        format!("{what}: {}.\n{undo}{}", decided.why, answer.next_line())
    })?;
    Ok(Exit::Done)
}

const fn chosen(args: &PlanRecoverArgs) -> Option<PlanRecoveryChoice> {
    match (args.resume, args.start_over, args.keep) {
        (true, _, _) => Some(PlanRecoveryChoice::Resume),
        (_, true, _) => Some(PlanRecoveryChoice::StartOver),
        (_, _, true) => Some(PlanRecoveryChoice::Keep),
        (false, false, false) => None,
    }
}

/// Asks at the terminal.
fn ask(open: &GoalPlan) -> Result<PlanRecoveryChoice> {
    let (made, all) = (open.created().count(), open.tasks.len());
    let phase = open.phase;
    let heading =
        format!("Planning was cut off in the phase {}: {made} of {} created", phase.as_str(), words::count(all, "task"));
    let offered: Vec<PlanRecoveryChoice> = PlanRecoveryChoice::ALL
        .into_iter()
        .filter(|choice| *choice != PlanRecoveryChoice::Keep || !keeps_nothing(open))
        .collect();
    let items: Vec<String> = offered.iter().map(|choice| item(*choice, open)).collect();
    let picked = prompt::one_of("What becomes of it? (Escape changes nothing)", Some(&heading), &items, 0)?;
    let choice = picked.and_then(|place| offered.get(place).copied());
    choice.ok_or_else(|| Error::new(Code::Declined, "nothing was chosen"))
}

fn item(choice: PlanRecoveryChoice, open: &GoalPlan) -> String {
    let phase = open.phase;
    match choice {
        PlanRecoveryChoice::Resume => format!("{} ({}: {})", choice.offered(), phase.as_str(), resuming(phase)),
        PlanRecoveryChoice::StartOver | PlanRecoveryChoice::Keep => choice.offered().to_owned(),
    }
}
