//! `git axiom hooks`.

use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde::Serialize;

use super::foreground::Foreground;
use super::{look, open, open_configured};
use crate::cli::prompt;
use crate::cli::screen::{Screen, table};
use crate::cli::{visible, words};
use crate::commands::grammar::arguments::Global;
use crate::domain::base::ids::CaseId;
use crate::domain::base::nearest;
use crate::domain::hook::event::HookEvent;
use crate::domain::hook::run::HookRun;
use crate::error::{Code, Error, Exit, Result};
use crate::hook::project_files::Origin;
use crate::hook::samples::{SAMPLES, Sample};
use crate::ops::context::handle::Context;
use crate::ops::hooks::install::{Copied, Installed, install};
use crate::ops::hooks::listing::{self, Ended, Listed};
use crate::ops::hooks::standing::{AtEvent, not_approved};
use crate::ops::hooks::{report, trial};

/// How many runs are shown where nothing else is asked for.
const SHOWN: usize = 50;

/// Verbs on hooks.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
A hook is an executable file EVENT, EVENT.sh, or any name in a folder EVENT.d, below
.axiom/hooks (the project's) or axiom/hooks in the git directory (this clone's). It runs once
you have approved it: git axiom trust. Events:

  pre-task-start      before an agent starts a task; if it fails, the task waits for you
  post-task-complete  the work on a task has ended, done or failed
  pre-merge           before a merge; if it fails, nothing is merged
  post-merge          a task was merged
  on-conflict         a merge has conflicts
  on-learning         an agent reported something worth knowing
  on-pause            the session pauses or is interrupted
  on-error            something failed
  post-checkpoint     a checkpoint was made
  on-gate             something waits for you
  on-idle             nothing is left to do: all is finished, or what is left waits for you

A hook gets AXIOM_EVENT and variables of its event, and the same and more as JSON on standard
input. It runs in the task's workspace, else in the main worktree, for at most hooks.timeout
seconds. It may call git axiom, with the verbs that agents have.")]
#[allow(missing_docs)] // what each does is in the table of verbs
pub enum Hooks {
    List,
    Run(Run),
    Install(Install),
    Show(Show),
    Log(Log),
}

/// Arguments of `hooks run`.
#[derive(Debug, Args)]
#[command(after_help = "\
The hooks get the variables as they are now, and AXIOM_TRIAL=1. Ends with 1 if one fails.

Example:
  git axiom hooks run pre-merge --task login-form")]
pub struct Run {
    /// The event, such as pre-merge
    event: HookEvent,
    /// The task that the event is about
    #[arg(long, value_name = "ID")]
    task: Option<CaseId>,
}

/// Arguments of `hooks install`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without a name, a terminal asks; otherwise the samples are listed. A sample is copied to EVENT.d
for each event that it is meant for. Nothing is overwritten. Read it, then: git axiom trust")]
pub struct Install {
    /// The samples' names
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Into .axiom, for everybody who works on the project and approves it
    #[arg(long)]
    shared: bool,
}

/// Arguments of `hooks show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example, which runs the project's pre-commit hook on each task before it is merged:
  git config --add axiom.merge.verify 'commit-hooks=git axiom hooks show commit-hooks | sh'")]
pub struct Show {
    /// The sample's name
    #[arg(value_name = "NAME")]
    name: String,
}

/// Arguments of `hooks log`.
#[derive(Debug, Args)]
pub struct Log {
    /// Show at most this many
    #[arg(short = 'n', long = "max-count", value_name = "NUMBER", default_value_t = SHOWN)]
    count: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HooksListAnswer {
    hooks: Vec<HookView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookView {
    event: HookEvent,
    hook: String,
    origin: Origin,
    approved: bool,
    problem: Option<&'static str>,
    last: Option<RunView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunView {
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    event: HookEvent,
    hook: String,
    task_id: Option<CaseId>,
    took_ms: u64,
    failure: Option<String>,
    lines: Vec<String>,
    trial: bool,
}

#[derive(Serialize)]
struct HooksShowAnswer {
    name: &'static str,
    does: &'static str,
    text: &'static str,
}

#[derive(Serialize)]
struct HooksRunAnswer {
    runs: Vec<RunView>,
}

#[derive(Serialize)]
struct HooksInstallAnswer {
    files: Vec<FileView>,
    samples: Vec<SampleView>,
}

#[derive(Serialize)]
struct FileView {
    event: HookEvent,
    path: String,
    /// `new`, `same` or `taken`.
    is: &'static str,
}

#[derive(Serialize)]
struct SampleView {
    name: &'static str,
    events: &'static [HookEvent],
    does: &'static str,
}

/// Runs a verb on hooks.
///
/// # Errors
/// Those of the verb.
pub fn run(verb: Hooks, global: &Global, screen: &mut Screen) -> Result<Exit> {
    match verb {
        Hooks::List => list(global, screen),
        Hooks::Run(args) => try_out(&args, global, screen),
        Hooks::Install(args) => copy(&args, global, screen),
        Hooks::Show(args) => show(&args, screen),
        Hooks::Log(args) => log(&args, global, screen),
    }
}

fn view(run: HookRun, at: Option<Timestamp>) -> RunView {
    let HookRun { event, hook, task: task_id, took_ms, failure, lines, trial } = run;
    RunView { at, event, hook, task_id, took_ms, failure, lines, trial }
}

fn list(global: &Global, screen: &mut Screen) -> Result<Exit> {
    let ctx = look(global, screen)?;
    let listed = listing::hooks(&ctx)?;
    let text = in_words(&listed);
    let of = |Listed { hook, approved, last }: Listed| HookView {
        event: hook.event,
        hook: hook.place.to_string(),
        origin: hook.place.origin,
        approved,
        problem: hook.problem,
        last: last.map(|Ended { at, run }| view(run, Some(at))),
    };
    let hooks: Vec<HookView> = listed.into_iter().map(of).collect();
    let waits = hooks.iter().any(|hook| !hook.approved);
    screen.answer(&HooksListAnswer { hooks }, || text)?;
    if waits {
        screen.note("Hooks that are not approved do not run: git axiom trust");
    }
    Ok(Exit::Done)
}

fn in_words(listed: &[Listed]) -> String {
    if listed.is_empty() {
        return "There are no hooks. Samples: git axiom hooks install\n".to_owned();
    }
    let mut rows = vec![["EVENT", "HOOK", "APPROVED", &words::time_heading("LAST RUN"), "RESULT"].map(String::from).to_vec()];
    for Listed { hook, approved, last } in listed {
        let result = match (&hook.problem, last) {
            (Some(problem), _) => (*problem).to_owned(),
            (None, Some(Ended { run, .. })) => run.failure.clone().unwrap_or_else(|| "passed".to_owned()),
            (None, None) => "-".to_owned(),
        };
        let at = last.as_ref().map_or_else(|| "-".to_owned(), |ended| words::time(ended.at));
        let approved = if *approved { "yes" } else { "no" };
        rows.push(vec![hook.event.to_string(), hook.place.to_string(), approved.to_owned(), at, result]);
    }
    table(&rows)
}

fn try_out(args: &Run, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_configured(global, Vec::new(), screen)?;
    match ctx.hooks.at(args.event) {
        AtEvent::Run(..) => {}
        AtEvent::Nothing => {
            screen.answer(&HooksRunAnswer { runs: Vec::new() }, || format!("There is no hook of {}.\n", args.event))?;
            return Ok(Exit::Done);
        }
        AtEvent::NotApproved(what) => return Err(not_approved(what)),
    }
    let facts = trial::facts(&ctx, args.event, args.task.as_ref())?;
    let runs = report::run(&mut ctx, &facts, &mut Foreground::default())?;
    let runs = runs.ok_or_else(|| Error::new(Code::Interrupted, "the hooks were interrupted"))?;
    let failed = runs.iter().filter(|run| run.failure.is_some()).count();
    let text = runs.iter().map(run_in_words).collect::<String>();
    let answer = HooksRunAnswer { runs: runs.into_iter().map(|run| view(run, None)).collect() };
    if failed == 0 {
        return screen.answer(&answer, || text).map(|()| Exit::Done);
    }
    let error = Error::new(Code::HookFailed, format!("{} of {} failed", words::count(failed, "hook"), args.event));
    screen.answer_with(&answer, &error, || text)?;
    Err(error)
}

fn run_in_words(run: &HookRun) -> String {
    let how = run.failure.as_deref().unwrap_or("passed");
    let mut text = format!("{} {how} ({} ms)\n", run.hook, run.took_ms);
    for line in &run.lines {
        text.push_str(&format!("  {}\n", visible::line(line)));
    }
    text
}

fn copy(args: &Install, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let ctx = open(global, screen)?;
    let chosen = match args.names.as_slice() {
        [] if screen.can_ask() => ask()?,
        [] => {
            let samples = SAMPLES.iter().map(|Sample { name, events, does, .. }| SampleView { name, events, does });
            let answer = HooksInstallAnswer { files: Vec::new(), samples: samples.collect() };
            screen.answer(&answer, samples_in_words)?;
            return Ok(Exit::Done);
        }
        names => names.iter().map(|name| sample(name)).collect::<Result<Vec<_>>>()?,
    };
    install_all(&ctx, &chosen, if args.shared { Origin::Shared } else { Origin::Own }, screen)
}

fn install_all(ctx: &Context, chosen: &[&Sample], to: Origin, screen: &mut Screen) -> Result<Exit> {
    let files = install(ctx, chosen, to)?;
    let word = |how| match how {
        Installed::New => "new",
        Installed::Same => "same",
        Installed::Taken => "taken",
    };
    let line = |Copied { path, how, .. }: &Copied| {
        let path = path.display().to_string();
        match how {
            Installed::New => format!("Installed {}\n", visible::line(&path)),
            Installed::Same => format!("Is there already: {}\n", visible::line(&path)),
            Installed::Taken => format!("Left alone, another file is there: {}\n", visible::line(&path)),
        }
    };
    let text: String = files.iter().map(line).collect();
    let has_new = files.iter().any(|file| file.how == Installed::New);
    let of = |Copied { event, path, how }: Copied| FileView { event, path: path.display().to_string(), is: word(how) };
    let answer = HooksInstallAnswer { files: files.into_iter().map(of).collect(), samples: Vec::new() };
    screen.answer(&answer, || text)?;
    if has_new {
        screen.note("They run once you have approved them: git axiom trust");
    }
    Ok(Exit::Done)
}

fn show(args: &Show, screen: &mut Screen) -> Result<Exit> {
    let Sample { name, does, text, .. } = sample(&args.name)?;
    screen.answer(&HooksShowAnswer { name, does, text }, || (*text).to_owned())?;
    Ok(Exit::Done)
}

fn sample(name: &str) -> Result<&'static Sample> {
    let found = SAMPLES.iter().find(|sample| sample.name == name || sample.name.strip_suffix(".sh") == Some(name));
    found.ok_or_else(|| {
        let error = Error::new(Code::InvalidInput, format!("there is no sample '{name}'"));
        nearest::hinted(error, name, SAMPLES.iter().map(|sample| sample.name), "git axiom hooks install    lists them")
    })
}

fn ask() -> Result<Vec<&'static Sample>> {
    let items: Vec<String> = SAMPLES.iter().map(|sample| format!("{}: {}", sample.name, sample.does)).collect();
    let chosen = prompt::some_of("Which samples?", None, &items)?.unwrap_or_default();
    Ok(chosen.into_iter().filter_map(|at| SAMPLES.get(at)).collect())
}

fn samples_in_words() -> String {
    let mut rows = vec![["NAME", "DOES", "EVENTS"].map(String::from).to_vec()];
    for Sample { name, events, does, .. } in SAMPLES {
        let events = match events {
            [one] => one.to_string(),
            many if many.len() == HookEvent::ALL.len() => "all".to_owned(),
            many => words::count(many.len(), "event"),
        };
        rows.push(vec![(*name).to_owned(), (*does).to_owned(), events]);
    }
    format!("{}\ngit axiom hooks install NAME    copies one to this clone\n", table(&rows))
}

fn log(args: &Log, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let ctx = look(global, screen)?;
    let runs: Vec<Ended> = listing::runs(&ctx)?.into_iter().rev().take(args.count).collect();
    let text = if runs.is_empty() { "No hook has run yet.\n".to_owned() } else { log_in_words(&runs) };
    let runs = runs.into_iter().map(|Ended { at, run }| view(run, Some(at))).collect();
    screen.answer(&HooksRunAnswer { runs }, || text)?;
    Ok(Exit::Done)
}

fn log_in_words(runs: &[Ended]) -> String {
    let mut text = String::new();
    for Ended { at, run } in runs {
        text.push_str(&format!("{}  {} ({} ms)\n", words::time(*at), visible::line(&run.summary()), run.took_ms));
        for line in &run.lines {
            text.push_str(&format!("    {}\n", visible::line(line)));
        }
    }
    text
}
