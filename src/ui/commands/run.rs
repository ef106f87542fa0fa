//! `git axiom run`: the options of a session, and its result. The supervisor itself is in `agents::supervise`.

mod at_gates;
mod detach;

use std::io::IsTerminal;
use std::path::Path;

use clap::Args;
use serde::Serialize;

use super::{open_configured, recover};
use crate::cli::screen::Screen;
use crate::cli::words;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::progress::ProgressPrinter;
use crate::commands::task::budget::BudgetArgs;
use axiom_agents::supervise;
use axiom_agents::supervise::detach::BackgroundWatcher;
use axiom_agents::supervise::last_options::{ChosenProgram, RepeatableSession};
use axiom_agents::supervise::target::SessionTarget;
use axiom_agents::supervise::{CrashTaskDecisions, InterruptCounter, SessionOutcome, SupervisorOptions, target};
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::names::RefName;
use axiom_model::queries::gate_use::{asks_no_more, session_that_goes_on};
use axiom_model::queries::view::{next_commands, undecided_gates};
use axiom_model::work::sessions::session::{Session, SessionMode};
use axiom_safety::context::handle::Context;

/// How another agent program is chosen.
const OTHERS: &str = "git axiom run -- PROGRAM, or git config axiom.agents.default NAME, choose another";

/// The largest number of agents.
const MOST_AGENTS: u32 = 100;

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git axiom run --mode autopilot --until-idle      the bodies of tasks are shell scripts
  git axiom run --agents 3 -- ./my-agent --fast    any program; the prompt comes on its stdin

In mode semi-auto each claim and each merge waits at a gate: see 'git axiom gate list'. With
--until-idle a terminal asks about them, and goes on. Without one: 'git axiom gate approve
--all' in another shell while 'git axiom run' goes on, or before the next 'git axiom run'.

Ctrl+C pauses, waits 5 seconds for the agents, stops them and keeps their work; a second Ctrl+C
leaves at once. With --detach, closing the terminal ends nothing: 'git axiom quit' does.

After a crash, target, agents and limits are those of the session that crashed, and what it used
counts, unless options say otherwise.")]
pub struct RunArgs {
    /// The number of agents that may work at once
    #[arg(long, value_name = "N")]
    pub agents: Option<u32>,
    /// semi-auto (each claim and merge waits for a human), review (each merge) or autopilot
    #[arg(long, value_name = "MODE")]
    pub mode: Option<SessionMode>,
    /// The branch to merge into; without it merge.target, or the branch that is checked out here
    #[arg(long, value_name = "BRANCH")]
    pub target: Option<String>,
    /// Iterations that an attempt at a task may take, over crashes and sessions
    #[arg(long, value_name = "N")]
    pub max_iterations: Option<u32>,
    /// End when nothing more can be done: exit 0 if every task is merged; a terminal asks at gates
    #[arg(long)]
    pub until_idle: bool,
    /// Also start tasks that wait at claim gates because they were stopped, killed or taken back
    #[arg(long)]
    pub retry: bool,
    /// What the session may use
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// Run in the background; return when the session has begun
    #[arg(long)]
    pub detach: bool,
    /// Run in the background, and show the panel; closing it ends nothing
    #[arg(long, conflicts_with_all = ["detach", "detached", "until_idle"])]
    pub panel: bool,
    /// This is the session in the background
    #[arg(long, hide = true, conflicts_with = "detach")]
    pub detached: bool,
    /// The agent program and its arguments; without one agents.default, or that of the last session
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<String>,
}

/// How the session ended; with `error` where tasks are left that are not merged.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunJson {
    /// `allMerged`, `idle`, `quit` or `interrupted`.
    ending: &'static str,
    /// What keeps tasks from being merged.
    reasons: Vec<String>,
}

/// Checks that no limit of the project on agents, such as a sandbox, has lapsed with its approval.
fn still_protected(ctx: &Context) -> Result<()> {
    let protects = |key: &&String| ["agents.", "verify."].iter().any(|section| key.starts_with(section));
    match ctx.found.lapsed_keys.iter().find(protects) {
        None => Ok(()),
        Some(key) => {
            Err(Error::new(Code::NotTrusted, format!("you approved the project's '{key}', and its files have changed since"))
                .hint("git axiom trust    shows what has changed, and asks")
                .hint("git axiom trust --revoke    goes on without the project's configuration"))
        }
    }
}

/// Runs a session to its end.
pub fn run(args: &RunArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_configured(global, Vec::new(), screen)?;
    still_protected(&ctx)?;
    let program = ChosenProgram::of(&ctx, from_here(args.program.clone(), &super::working_dir(global)?)?)?;
    if args.program.is_empty() && program != ChosenProgram::Named(ctx.config.agents.default.clone()) && !args.detached {
        screen.note(&format!("note: the agent program is that of the last session, '{}': {OTHERS}", program.name()));
    }
    let mut options = options(&ctx, args, &program)?;
    if let Some(crashed) = crashed(&ctx).filter(|_| !args.detached) {
        screen.note(&as_it_was_begun(crashed, args));
    }
    if args.panel && (screen.wants_json() || !std::io::stdout().is_terminal()) {
        return Err(Error::new(Code::Usage, "--panel needs a terminal")
            .hint("git axiom run --detach    runs in the background without one"));
    }
    let session = if args.detach || args.panel {
        recover::crash_questions::SessionProcess::InBackground
    } else {
        recover::crash_questions::SessionProcess::Here
    };
    recover::crash_questions::ask(&mut ctx, &mut options, session, screen)?;
    if args.detach {
        return detach::run(&mut ctx, screen);
    }
    if args.panel {
        detach::begin(&mut ctx)?;
        return super::panel::show(ctx, crate::panel::PanelPlacement::OwnScreen, screen);
    }
    if args.detached {
        axiom_base::own_process::session::begin_session()?;
    }
    let target = target::of_session(&ctx, options.target.as_ref())?;
    options.again = Some(again(args, &target, program));
    // Rounds that follow at a terminal are of the same session to the human.
    options.target = Some(target.branch.clone());
    let mode = options.mode.unwrap_or(ctx.state().restorable.mode);
    let asked = undecided_gates(ctx.state()).into_iter().filter(|gate| !asks_no_more(gate, mode));
    let waiting = asked.count();
    if waiting > 0 && !args.detached {
        screen.note(&format!("note: {} from before: git axiom gate list", waits_for_you(waiting)));
    }
    let longest = supervise::longest_end(ctx.config.agents.grace_seconds);
    let interrupts = InterruptCounter::install(|text| Screen::for_people().complain(text), leave_at_once, longest)?;
    let mut progress =
        ProgressPrinter::new(std::io::stderr().is_terminal()).seen_from(ctx.repo.worktrees().main_worktree()?.path());
    let log = ctx.layout().session_log();
    let ending = if args.detached {
        let ending = supervise::run(&mut ctx, options, &interrupts, &mut BackgroundWatcher::new(&mut progress, log))?;
        progress.finish();
        ending
    } else {
        loop {
            let ending = supervise::run(&mut ctx, options.clone(), &interrupts, &mut progress)?;
            progress.finish();
            if !matches!(ending, SessionOutcome::Idle(_)) || !at_gates::approved(&mut ctx, screen)? {
                break ending;
            }
        }
    };
    tell_end(&ctx, ending, screen)
}

fn tell_end(ctx: &Context, ending: SessionOutcome, screen: &mut Screen) -> Result<Exit> {
    let (name, reasons, exit) = match ending {
        SessionOutcome::AllMerged => ("allMerged", Vec::new(), Exit::Done),
        SessionOutcome::Idle(reasons) => ("idle", reasons, Exit::Failed),
        SessionOutcome::Quit => ("quit", Vec::new(), Exit::Done),
        SessionOutcome::Interrupted => ("interrupted", Vec::new(), Exit::Interrupted),
    };
    let answer = RunJson { ending: name, reasons };
    let people = || answer.reasons.iter().map(|reason| format!("{reason}\n")).collect::<String>();
    if exit == Exit::Failed {
        let what = format!("nothing more can be done, and {}", not_merged(answer.reasons.len()));
        let error = Error::new(Code::NotIdle, what).hints_of(next_commands(ctx.state()));
        screen.answer_with(&answer, &error, people)?;
        return Err(error);
    }
    screen.answer(&answer, people)?;
    Ok(exit)
}

fn waits_for_you(gates: usize) -> String {
    format!("{} {} for you", words::count(gates, "gate"), words::verb(gates, "waits", "wait"))
}

fn not_merged(tasks: usize) -> String {
    format!("{} {} not merged", words::count(tasks, "task"), words::verb(tasks, "is", "are"))
}

/// Makes a program's relative path absolute: it is relative to the user's folder, not to an agent's workspace.
fn from_here(mut program: Vec<String>, here: &Path) -> Result<Vec<String>> {
    if let Some(first) = program.first_mut().filter(|first| first.contains('/') && !first.starts_with('/')) {
        let path = here.join(first.as_str());
        let text = path.to_str().map(str::to_owned);
        *first = text.ok_or_else(|| Error::new(Code::InvalidInput, format!("the path '{}' is not UTF-8", path.display())))?;
    }
    Ok(program)
}

/// The session that crashed, with which the next one goes on.
fn crashed(ctx: &Context) -> Option<&Session> {
    let session = session_that_goes_on(ctx.state())?;
    ctx.supervisor_alive().is_ok_and(|is_alive| !is_alive).then_some(session)
}

/// Which options of a session that crashed count again, as nobody has given others.
fn as_it_was_begun(crashed: &Session, args: &RunArgs) -> String {
    let target = args.target.is_none().then(|| format!(", into {}", crashed.target.short()));
    let agents = args.agents.is_none().then(|| format!(", {} at once", words::count(crashed.slots as usize, "agent")));
    let limits = (!crashed.limits.is_empty()).then(|| format!(", limits of the session {}", crashed.limits.in_words()));
    let as_before: String = [target, agents, limits].into_iter().flatten().collect();
    format!("note: goes on as the session was begun that crashed{as_before}; options of 'git axiom run' change that")
}

/// The options of a session: the command line has priority over those of a session that crashed, and these over the configuration.
fn options(ctx: &Context, args: &RunArgs, program: &ChosenProgram) -> Result<SupervisorOptions> {
    let within = |what: &str, value: u32, most: u32| match value {
        0 => Err(Error::new(Code::InvalidInput, format!("{what} cannot be 0")).hint("leave it out, or give 1 or more")),
        n if n > most => Err(Error::new(Code::InvalidInput, format!("{what} cannot be more than {most}"))),
        n => Ok(n),
    };
    let config = &ctx.config.agents;
    // What a crash cut off goes on as it was begun.
    let (slots, iterations, limits) = match crashed(ctx) {
        Some(session) => (session.slots, session.max_iterations, session.limits),
        None => (config.count, config.max_iterations, ctx.config.budget.of_a_session()),
    };
    Ok(SupervisorOptions {
        slots: within("--agents", args.agents.unwrap_or(slots), MOST_AGENTS)?,
        max_iterations: within("--max-iterations", args.max_iterations.unwrap_or(iterations), 1_000_000)?,
        until_idle: args.until_idle,
        mode: args.mode,
        target: args.target.as_deref().map(RefName::branch_named),
        retry: args.retry,
        after_crash: CrashTaskDecisions::default(),
        again: None,
        limits: args.budget.read()?.on(limits),
        programs: program.programs(&ctx.config)?,
    })
}

/// How the session is made again, in the main worktree.
fn again(args: &RunArgs, target: &SessionTarget, program: ChosenProgram) -> RepeatableSession {
    let target = (args.target.is_some() || target.in_linked_worktree).then(|| target.branch.short().to_owned());
    RepeatableSession { arguments: arguments(args, target, &program), program }
}

/// The options that make a session like this one again.
fn arguments(args: &RunArgs, target: Option<String>, program: &ChosenProgram) -> Vec<String> {
    let RunArgs { agents, mode, target: _, max_iterations, until_idle, budget, .. } = args;
    let valued = [
        ("--target", target),
        ("--agents", agents.map(|n| n.to_string())),
        ("--mode", mode.map(|mode| mode.as_str().to_owned())),
        ("--max-iterations", max_iterations.map(|n| n.to_string())),
        ("--max-cost", budget.max_cost.clone()),
        ("--max-tokens", budget.max_tokens.clone()),
        ("--max-time", budget.max_time.clone()),
    ];
    let mut all: Vec<String> = valued.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?])).flatten().collect();
    all.extend(until_idle.then(|| "--until-idle".to_owned()));
    if let ChosenProgram::Given(command) = program {
        all.push("--".to_owned());
        all.extend(command.iter().cloned());
    }
    all
}

/// At the second Ctrl+C. Leaving is safe: operations in progress are journaled or durable, and agents belong to their
/// keepers.
#[allow(clippy::disallowed_methods)] // the one place besides main that ends the process: main waits for the session
fn leave_at_once(running: &[String]) {
    let mut screen = Screen::for_people();
    if running.is_empty() {
        screen.complain("left at once; no running agent is known");
    } else {
        screen.complain(&format!("left at once; still running: {}", running.join(", ")));
        screen.complain("hint: 'git axiom stop --all' stops them, 'git axiom run' takes them over");
    }
    std::process::exit(Exit::Interrupted as i32);
}
