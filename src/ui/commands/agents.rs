//! `git axiom agents`.

mod check;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::open_configured_for;
use crate::cli::grid::StyledGrid;
use crate::cli::screen::Screen;
use crate::cli::styled::StyledText;
use crate::cli::visible;
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_agents::agent_list;
use axiom_agents::agent_list::{AgentProgramListing, AgentProgramOrigin};
use axiom_agents::supervise::last_options::ChosenProgram;
use axiom_agents::supervise::status;
use axiom_agents::supervise::status::AgentStatusJson;
use axiom_agents::task_diff;
use axiom_base::env;
use axiom_base::error::{Exit, Result};
use axiom_model::base::forms::natural;
use axiom_model::work::agent::Agent;
use axiom_safety::attach::sessions;
use axiom_safety::attach::sessions::AttachedSessionJson;
use axiom_safety::attach::sessions::attached_session::AttachedSession;
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;
use axiom_safety::running::output::logs;

/// Arguments of `agents`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Agent programs are built in (presets) or described in the configuration, in a table
[agents.NAME]. 'git axiom run' gives tasks to agents.default, or, where nobody has set that, to
the last session's program, and those with a persona to the program that [personas.NAME] names.
Those that are found are asked for their version.

Choose one:
  git config axiom.agents.default claude
Change one key of a preset:
  git config axiom.agents.codex.stopSignal TERM
Try one, which costs some tokens:
  git axiom agents check claude")]
pub struct AgentsArgs {
    #[command(subcommand)]
    verb: Option<AgentsVerb>,
}

#[derive(Debug, Subcommand)]
#[allow(missing_docs)] // what each does is in the table of verbs
enum AgentsVerb {
    Check(check::AgentsCheckArgs),
}

/// The agent programs, and who works here.
#[derive(Serialize)]
struct AgentsJson<'a> {
    /// Presets first, then the configuration's own.
    agents: Vec<AgentProgramJson<'a>>,
    /// Those of a session first.
    working: Vec<WorkingAgentJson>,
    /// Those of sessions that worked and do not now, also where nobody has seen yet that their programs ended.
    idle: Vec<IdleAgentJson>,
}

/// An agent that does not work now.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct IdleAgentJson {
    id: String,
    /// Whether something is there of that work: what `diff` shows.
    #[serde(skip)]
    has_work: bool,
    /// The task on which it worked last.
    task_id: String,
}

/// An agent that works here: of a session, or one that a human runs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkingAgentJson {
    /// The id of an agent of a session, or the name of an attached program.
    id: String,
    /// `session` or `attached`.
    kind: &'static str,
    /// Of an agent of a session, as in `status`.
    state: Option<&'static str>,
    /// Of an agent of a session.
    task_id: Option<String>,
    worktree: Option<String>,
}

/// Those of a session that have work, and attached programs that are alive.
fn working(ctx: &Context) -> Result<Vec<WorkingAgentJson>> {
    let seen = status::status(ctx, env::now())?.agents;
    let there = seen.into_iter().filter(AgentStatusJson::is_there);
    let of_session = natural::sorted(there, |agent| agent.id.as_str()).into_iter().map(|agent| WorkingAgentJson {
        id: agent.id,
        kind: "session",
        state: Some(agent.state),
        worktree: agent.workspace,
        task_id: agent.task_id,
    });
    let alive = sessions::list(ctx).into_iter().filter(AttachedSession::is_alive);
    let attached = alive.map(AttachedSessionJson::from).map(|one| WorkingAgentJson {
        id: one.program.to_string(),
        kind: "attached",
        state: None,
        task_id: None,
        worktree: Some(one.worktree),
    });
    Ok(of_session.chain(attached).collect())
}

/// The agents of sessions that have worked on a task and are not among those that work.
fn idle(ctx: &Context, working: &[WorkingAgentJson]) -> Vec<IdleAgentJson> {
    let works = |agent: &&Agent| working.iter().any(|one| one.state.is_some() && one.id == agent.id.as_str());
    let agents = ctx.state().restorable.agents.values().filter(|agent| !works(agent));
    let all = natural::sorted(agents, |agent| agent.id.as_str()).into_iter();
    all.filter_map(|agent| {
        let task_id = logs::newest_task_of(ctx, agent.id.as_str())?;
        let has_work = task_diff::has_work(ctx, &task_id);
        Some(IdleAgentJson { id: agent.id.to_string(), has_work, task_id: task_id.to_string() })
    })
    .collect()
}

fn working_in_words(working: &[WorkingAgentJson]) -> StyledText {
    if working.is_empty() {
        return "No agent works here.\n".into();
    }
    let mut rows = vec![["WORKS HERE", "RUN BY", "ON"].map(String::from).to_vec()];
    for one in working {
        let by = match one.state {
            Some(status::ORPHANED) => "nobody (git axiom recover)",
            Some("waiting" | "held" | "paused") => "nobody now (git axiom run)",
            Some(_) => "git axiom run",
            None => "you",
        };
        let on = one.task_id.as_deref().or(one.worktree.as_deref()).unwrap_or("-");
        rows.push(vec![one.id.clone(), by.to_owned(), visible::line(on).into_owned()]);
    }
    StyledGrid::of(rows).headed().into()
}

/// The agents of sessions that have no work now, and where to look at what they did last.
fn idle_in_words(idle: &[IdleAgentJson]) -> StyledText {
    if idle.is_empty() {
        return StyledText::new();
    }
    let row = |one: &IdleAgentJson| {
        let diff = if one.has_work { format!("git axiom diff {}", one.id) } else { "nothing is there now".to_owned() };
        vec![one.id.clone(), one.task_id.clone(), diff, format!("git axiom output {}", one.id)]
    };
    let heading = vec![["WORKED HERE", "ON LAST", "WHAT IT CHANGED", "WHAT IT PRINTED"].map(String::from).to_vec()];
    StyledText::from("\n") + StyledGrid::of(heading.into_iter().chain(idle.iter().map(row))).headed()
}

/// An agent program.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentProgramJson<'a> {
    name: &'a str,
    /// `preset` (built in), `changed` (built in and changed by the configuration) or `own` (described by the configuration).
    origin: &'static str,
    /// Whether it gets tasks without a persona's own program.
    is_default: bool,
    /// Whose tasks it gets.
    personas: &'a [String],
    /// Where it was found.
    path: Option<String>,
    /// What it calls its version.
    version: Option<&'a str>,
    /// What would run.
    command: &'a [String],
    /// The command that goes on with a session; empty: it cannot.
    resume: &'a [String],
    /// Whether exit status 0 alone completes a task.
    exit_completes: bool,
    /// `TERM`, `INT`, `HUP` or `QUIT`.
    stop_signal: &'static str,
    /// Seconds without output after which it is ended.
    silence_limit: Option<u64>,
    /// What nothing confines.
    unconfined: &'a str,
}

/// Lists the agent programs, or tries one.
pub fn run(args: &AgentsArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    if let Some(AgentsVerb::Check(args)) = &args.verb {
        return check::run(args, global, screen);
    }
    let ctx = open_configured_for(VerbPurpose::Look, global, Vec::new(), screen)?;
    let chosen = ChosenProgram::of(&ctx, Vec::new())?;
    let (default, given) = match &chosen {
        ChosenProgram::Named(name) => (Some(name.as_str()), None),
        ChosenProgram::Given(_) => (None, Some(chosen.name().to_owned())),
    };
    let all = agent_list::all(&ctx.config, default)?;
    let working = working(&ctx)?;
    let idle = idle(&ctx, &working);
    let answer = AgentsJson { agents: all.iter().map(view).collect(), working, idle };
    screen.answer(&answer, || {
        let last = |command: String| format!("\nTasks go to the program of the last session: {}\n", visible::line(&command));
        working_in_words(&answer.working)
            + idle_in_words(&answer.idle)
            + "\n"
            + in_words(&all)
            + given.map_or_else(String::new, last)
    })?;
    Ok(Exit::Done)
}

fn view(
    AgentProgramListing { adapter, origin, path, version, is_default, personas }: &AgentProgramListing,
) -> AgentProgramJson<'_> {
    AgentProgramJson {
        name: &adapter.name,
        origin: word(*origin),
        is_default: *is_default,
        personas,
        path: path.as_ref().map(|path| path.display().to_string()),
        version: version.as_deref(),
        command: &adapter.command,
        resume: &adapter.resume,
        exit_completes: adapter.exit_completes,
        stop_signal: adapter.stop_signal.as_str(),
        silence_limit: adapter.silence_limit,
        unconfined: &adapter.unconfined,
    }
}

fn word(origin: AgentProgramOrigin) -> &'static str {
    match origin {
        AgentProgramOrigin::Preset => "preset",
        AgentProgramOrigin::Changed => "changed",
        AgentProgramOrigin::Own => "own",
    }
}

fn in_words(all: &[AgentProgramListing]) -> StyledText {
    let mut rows = vec![["AGENT", "FOUND", "VERSION", "FROM", "WORKS ON"].map(String::from).to_vec()];
    for one in all {
        let found = if one.path.is_some() { "yes" } else { "no" };
        let version = one.version.clone().unwrap_or_else(|| "-".to_owned());
        let works = one.is_default.then(|| "tasks".to_owned()).into_iter().chain(one.personas.iter().cloned());
        let works = works.collect::<Vec<_>>().join(", ");
        let works = if works.is_empty() { "-".to_owned() } else { works };
        let from = word(one.origin).to_owned();
        rows.push(vec![one.adapter.name.clone(), found.to_owned(), version, from, works]);
    }
    let mut text = StyledText::from(StyledGrid::of(rows).headed().cut(&[4, 2]));
    for one in all.iter().filter(|one| one.is_default || !one.personas.is_empty()) {
        let command = one.adapter.command.join(" ");
        text.push_str(&format!("\n{} runs: {}\n", visible::line(&one.adapter.name), visible::line(&command)));
        if !one.adapter.unconfined.is_empty() {
            text.push_str(&format!("  not confined: {}\n", visible::line(&one.adapter.unconfined)));
        }
    }
    text
}
