//! `git axiom plan …`: arguments and help of each verb here, the longer ones in files of their own; what is printed of a plan in
//! `view`. What the verbs do is in `agents::plan`. Begin reading with `start`.

mod add;
mod finish;
mod recover;
mod start;
mod view;

use clap::{Args, Subcommand};

use self::view::PlanJson;
use crate::cli::screen::Screen;
use crate::commands::foreground::VerbSpinner;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::{look, open, tell};
use axiom_agents::plan;
use axiom_agents::plan::{advance, by_hand};
use axiom_base::error::{Code, Error, Exit, Result, some_of};
use axiom_model::planning::next::{NextPlanStep, next};
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;

/// How many problems an error names at most.
const NAMED: usize = 10;

/// Verbs on the plan.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
A plan turns a goal into tasks: understand (questions and answers), analyze, propose (a human
approves), decompose (the tasks are made), validate. Nothing of it is in 'git axiom task list'
before 'git axiom plan finish', and no agent works on it. One plan is open at a time.

By hand:
  git axiom plan start 'Sign in with a key'
  git axiom plan add 'Store keys' --id keys
  git axiom plan add 'Check a key' --after keys
  git axiom plan approve
  git axiom plan finish")]
#[allow(missing_docs)] // what each does is in the table of verbs
pub enum PlanVerb {
    Start(start::PlanStartArgs),
    Show(PlanShowArgs),
    Answer(PlanAnswerArgs),
    Propose(PlanProposeArgs),
    Revise(PlanReviseArgs),
    Approve(PlanApproveArgs),
    #[command(alias = "add-case")]
    Add(add::PlanAddTaskArgs),
    Validate(PlanValidateArgs),
    Finish(finish::PlanFinishArgs),
    Recover(recover::PlanRecoverArgs),
    Abandon(PlanAbandonArgs),
}

/// Arguments of `plan show`.
#[derive(Debug, Args)]
#[command(after_help = "\
The same is in axiom/state/planning-state.json in the git directory, written anew at every
step.")]
pub struct PlanShowArgs {}

/// Arguments of `plan answer`.
#[derive(Debug, Args)]
#[command(after_help = "\
The gate of the question closes; 'git axiom gate answer GATE TEXT' does the same. After the last
answer the planner goes on; after an answer at a gate 'git axiom plan propose' lets it.")]
pub struct PlanAnswerArgs {
    /// The answer
    text: String,
    /// The number of the question, where several are open
    #[arg(long, value_name = "NUMBER")]
    question: Option<u32>,
}

/// Arguments of `plan propose`.
#[derive(Debug, Args)]
#[command(after_help = "\
It becomes the next version, which waits at a gate of kind planning until it is approved, or
until 'git axiom plan revise' says what is to be different. The tasks stay.")]
pub struct PlanProposeArgs {
    /// The proposal, at most 16 KiB; without it the planner goes on, in the phase in which it is
    text: Option<String>,
}

/// Arguments of `plan revise`.
#[derive(Debug, Args)]
#[command(after_help = "\
The version is not approved then, and waits no longer. 'git axiom gate reject GATE --reason
TEXT' does the same. A planner makes the next version at once.")]
pub struct PlanReviseArgs {
    /// What is to be different
    text: String,
}

/// Arguments of `plan approve`.
#[derive(Debug, Args)]
#[command(after_help = "\
The approval is for the tasks that there are; tasks that an agent adds afterwards need another
one. Where no version waits, the tasks as they are become the next version. A planner then makes
what it has outlined, and the tasks are checked.")]
pub struct PlanApproveArgs {
    /// The version that you have seen; refused if it is not the last one
    #[arg(value_name = "NUMBER")]
    version: Option<u32>,
}

/// Arguments of `plan validate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Ends with 1 and PLAN_INVALID where something is wrong. 'git axiom plan finish' checks it too.")]
pub struct PlanValidateArgs {}

/// Arguments of `plan abandon`.
#[derive(Debug, Args)]
#[command(after_help = "\
No task is made, and another plan can be started. What this one had come to is shown by 'git
axiom plan show' until then.")]
pub struct PlanAbandonArgs {
    /// Why
    #[arg(long, default_value = "abandoned by hand")]
    reason: String,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// Runs a verb on the plan.
pub fn run(args: &PlanVerb, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    match args {
        PlanVerb::Start(args) => start::run(args, global, screen),
        PlanVerb::Show(PlanShowArgs {}) => show(&look(global, screen)?, screen),
        PlanVerb::Add(args) => add::run(args, global, screen),
        PlanVerb::Finish(args) => finish::run(args, global, screen),
        PlanVerb::Recover(args) => recover::run(args, global, screen),
        PlanVerb::Abandon(args) => abandon(args, global, screen),
        PlanVerb::Validate(PlanValidateArgs {}) => validate(global, screen),
        PlanVerb::Answer(PlanAnswerArgs { text, question }) => changed(global, screen, |ctx| {
            by_hand::answer(ctx, *question, text)?;
            Ok("Answered.".to_owned())
        }),
        PlanVerb::Propose(PlanProposeArgs { text: Some(text) }) => changed(global, screen, |ctx| {
            by_hand::propose(ctx, text)?;
            Ok("Proposed.".to_owned())
        }),
        PlanVerb::Propose(PlanProposeArgs { text: None }) => changed(global, screen, |ctx| {
            if plan::open(ctx.state())?.planner.is_none() {
                return Err(Error::new(Code::InvalidInput, "the plan has no planner, so a proposal is needed")
                    .hint("git axiom plan propose TEXT"));
            }
            // Where a version waits for an answer, it is not run, and what is next is all that is said.
            let runs = matches!(next(plan::at_rest(ctx)?), NextPlanStep::Plan(_) | NextPlanStep::Check);
            Ok(if runs { "The planner has run." } else { "The planner has nothing to do." }.to_owned())
        }),
        PlanVerb::Revise(PlanReviseArgs { text }) => changed(global, screen, |ctx| {
            by_hand::revise(ctx, text)?;
            Ok("Another version is asked for.".to_owned())
        }),
        PlanVerb::Approve(PlanApproveArgs { version }) => changed(global, screen, |ctx| {
            let (version, is_new) = by_hand::approve(ctx, *version)?;
            Ok(if is_new {
                format!("Version {version} is approved.")
            } else {
                format!("Version {version} was approved already.")
            })
        }),
    }
}

/// Does `work`, and prints what it says and what is next.
fn changed(global: &GlobalArgs, screen: &mut Screen, work: impl FnOnce(&mut Context) -> Result<String>) -> Result<Exit> {
    let mut ctx = open_healed(global, screen)?;
    let said = work(&mut ctx)?;
    go_on(&mut ctx, &said, screen)?;
    let answer = PlanJson::of(&ctx)?;
    screen.answer(&answer, || format!("{said}\n{}", answer.next_line()))?;
    Ok(Exit::Done)
}

/// Runs the planner, if the plan has one, until it is a human's turn. Where that fails, `said` is still true, and is told.
fn go_on(ctx: &mut Context, said: &str, screen: &mut Screen) -> Result<()> {
    if plan::open(ctx.state())?.planner.is_none() {
        return Ok(());
    }
    let outcome = load_config(ctx, screen).and_then(|()| advance::advance(ctx, &mut VerbSpinner::default()));
    if outcome.is_err() {
        screen.note(said);
    }
    outcome
}

fn load_config(ctx: &mut Context, screen: &mut Screen) -> Result<()> {
    let told = ctx.load_config(Vec::new())?;
    tell(ctx, &told, VerbPurpose::Write, screen);
    Ok(())
}

/// The repository; a copy of the plan that is damaged or behind is written anew.
fn open_healed(global: &GlobalArgs, screen: &mut Screen) -> Result<Context> {
    let ctx = open(global, screen)?;
    if let Some(kept) = plan::heal(&ctx)? {
        screen.note(&format!("note: planning-state.json was damaged and is written anew; the damaged file is {kept}"));
    }
    Ok(ctx)
}

fn show(ctx: &Context, screen: &mut Screen) -> Result<Exit> {
    let answer = PlanJson::of(ctx)?;
    screen.answer(&answer, || view::in_words(&answer))?;
    Ok(Exit::Done)
}

fn validate(global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_healed(global, screen)?;
    let problems = by_hand::validate(&mut ctx)?;
    let answer = PlanJson::of(&ctx)?;
    if problems.is_empty() {
        screen.answer(&answer, || format!("The tasks are valid.\n{}", answer.next_line()))?;
        return Ok(Exit::Done);
    }
    let error = Error::new(Code::PlanInvalid, "the tasks of the plan cannot be made as they are")
        .why(some_of(&problems, NAMED))
        .hint("git axiom plan add TITLE --id ID    makes what is only outlined")
        .hint("git axiom plan abandon    then start anew with other tasks");
    screen.answer_with(&answer, &error, || view::problems(&problems))?;
    Err(error)
}

fn abandon(args: &PlanAbandonArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_healed(global, screen)?;
    let goal = plan::open(ctx.state())?.goal.jtbd.clone();
    screen.confirm(&format!("Abandon the plan '{goal}'? No task is made"), args.yes)?;
    by_hand::abandon(&mut ctx, &args.reason)?;
    let answer = PlanJson::of(&ctx)?;
    screen.answer(&answer, || "The plan is abandoned. No task was made.\n".to_owned())?;
    Ok(Exit::Done)
}
