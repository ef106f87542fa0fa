//! `git axiom hooks`.

use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde::Serialize;

use super::foreground::VerbSpinner;
use super::{look, open, open_configured};
use crate::cli::grid::StyledGrid;
use crate::cli::screen::Screen;
use crate::cli::styled::StyledText;
use crate::cli::{prompt, visible, words};
use crate::commands::grammar::arguments::GlobalArgs;
use crate::wording::trust::{NO_HOOKS, session_goes_by, unapproved_hooks};
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::forms::nearest;
use axiom_model::base::ids::TaskId;
use axiom_model::work::hooks::hook_event::HookEvent;
use axiom_model::work::hooks::hook_run::HookRun;
use axiom_safety::context::approved_hooks::{EventHooks, not_approved};
use axiom_safety::context::handle::Context;
use axiom_safety::project_hooks::project_files::ProjectFileOrigin;
use axiom_safety::project_hooks::samples::{HookSample, SAMPLES};
use axiom_safety::running::hooks::install::{CopiedHookSample, HookSampleOutcome, install};
use axiom_safety::running::hooks::listing;
use axiom_safety::running::hooks::listing::{EndedHookRun, HookListing};
use axiom_safety::running::hooks::{report, trial};

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
pub enum HooksVerb {
    List,
    Run(HooksRunArgs),
    Install(HooksInstallArgs),
    Show(HooksShowArgs),
    Log(HooksLogArgs),
}

/// Arguments of `hooks run`.
#[derive(Debug, Args)]
#[command(after_help = "\
The hooks get the variables as they are now, and AXIOM_TRIAL=1. Ends with 1 if one fails.

Example:
  git axiom hooks run pre-merge --task login-form")]
pub struct HooksRunArgs {
    /// The event, such as pre-merge
    event: HookEvent,
    /// The task that the event is about
    #[arg(long, value_name = "ID")]
    task: Option<TaskId>,
}

/// Arguments of `hooks install`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without a name, a terminal asks; otherwise the samples are listed. A sample is copied to EVENT.d
for each event that it is meant for. Nothing is overwritten. Read it, then: git axiom trust")]
pub struct HooksInstallArgs {
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
pub struct HooksShowArgs {
    /// The sample's name
    #[arg(value_name = "NAME")]
    name: String,
}

/// Arguments of `hooks log`.
#[derive(Debug, Args)]
pub struct HooksLogArgs {
    /// Show at most this many
    #[arg(short = 'n', long = "max-count", value_name = "NUMBER", default_value_t = SHOWN)]
    count: usize,
}

/// The hooks.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HooksListJson {
    /// In the order in which they run.
    hooks: Vec<HookJson>,
}

/// A hook.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookJson {
    event: HookEvent,
    /// Its file.
    hook: String,
    /// The project's, or this clone's.
    origin: ProjectFileOrigin,
    approved: bool,
    /// Why it cannot be run.
    problem: Option<&'static str>,
    /// Its last run.
    last: Option<HookRunJson>,
}

/// A run of a hook.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookRunJson {
    /// Not for `hooks run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    event: HookEvent,
    /// Its file.
    hook: String,
    task_id: Option<TaskId>,
    /// Null: it was cut off, or not run.
    took_ms: Option<u64>,
    /// Why it failed.
    failure: Option<String>,
    /// The last lines of its output.
    lines: Vec<String>,
    /// Whether it was tried, and nothing had happened.
    trial: bool,
}

/// A sample of a hook.
#[derive(Serialize)]
struct HooksShowJson {
    name: &'static str,
    /// What it does.
    does: &'static str,
    /// The script.
    text: &'static str,
}

/// How hooks ran; of `hooks log`, newest first.
#[derive(Serialize)]
struct HooksRunJson {
    runs: Vec<HookRunJson>,
}

/// The hooks that were copied, or else the samples.
#[derive(Serialize)]
struct HooksInstallJson {
    files: Vec<HookFileJson>,
    /// What there is, where no name was given.
    samples: Vec<HookSampleJson>,
}

/// A file of a hook.
#[derive(Serialize)]
struct HookFileJson {
    event: HookEvent,
    path: String,
    /// `new` (it was copied), `same` (it is there already) or `taken` (left alone, because another file is there).
    is: &'static str,
}

/// A sample of a hook.
#[derive(Serialize)]
struct HookSampleJson {
    name: &'static str,
    /// Those that it is meant for.
    events: &'static [HookEvent],
    does: &'static str,
}

/// Runs a verb on hooks.
pub fn run(verb: HooksVerb, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    match verb {
        HooksVerb::List => list(global, screen),
        HooksVerb::Run(args) => try_out(&args, global, screen),
        HooksVerb::Install(args) => copy(&args, global, screen),
        HooksVerb::Show(args) => show(&args, screen),
        HooksVerb::Log(args) => log(&args, global, screen),
    }
}

fn view(run: HookRun, at: Option<Timestamp>) -> HookRunJson {
    let HookRun { event, hook, task: task_id, took_ms, at: _, failure, lines, trial } = run;
    HookRunJson { at, event, hook, task_id, took_ms, failure, lines, trial }
}

fn list(global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let ctx = look(global, screen)?;
    let listed = listing::hooks(&ctx)?;
    let text = in_words(&listed);
    let of = |HookListing { hook, approved, last }: HookListing| HookJson {
        event: hook.event,
        hook: hook.place.to_string(),
        origin: hook.place.origin,
        approved,
        problem: hook.problem,
        last: last.map(|EndedHookRun { at, run }| view(run, Some(at))),
    };
    let hooks: Vec<HookJson> = listed.into_iter().map(of).collect();
    let waits = hooks.iter().any(|hook| !hook.approved);
    screen.answer(&HooksListJson { hooks }, || text)?;
    if waits {
        screen.note(unapproved_hooks(&ctx.repo));
    }
    session_goes_by(&ctx.repo).into_iter().for_each(|note| screen.note(note));
    Ok(Exit::Done)
}

fn in_words(listed: &[HookListing]) -> StyledText {
    if listed.is_empty() {
        return NO_HOOKS.into();
    }
    let mut rows = vec![["EVENT", "HOOK", "APPROVED", "LAST RUN", "RESULT"].map(String::from).to_vec()];
    for HookListing { hook, approved, last } in listed {
        let result = match (&hook.problem, last) {
            (Some(problem), _) => (*problem).to_owned(),
            (None, Some(EndedHookRun { run, .. })) => run.failure.clone().unwrap_or_else(|| "passed".to_owned()),
            (None, None) => "-".to_owned(),
        };
        let at = last.as_ref().map_or_else(|| "-".to_owned(), |ended| words::time(ended.at));
        let approved = if *approved { "yes" } else { "no" };
        rows.push(vec![hook.event.to_string(), hook.place.to_string(), approved.to_owned(), at, result]);
    }
    StyledGrid::of(rows).headed().cut(&[4, 1]).into()
}

fn try_out(args: &HooksRunArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_configured(global, Vec::new(), screen)?;
    match ctx.hooks.at(args.event) {
        EventHooks::Run(..) => {}
        EventHooks::Nothing => {
            screen.answer(&HooksRunJson { runs: Vec::new() }, || format!("There is no hook of {}.\n", args.event))?;
            return Ok(Exit::Done);
        }
        EventHooks::NotApproved(what) => return Err(not_approved(what)),
    }
    let facts = trial::facts(&ctx, args.event, args.task.as_ref())?;
    let runs = report::run(&mut ctx, &facts, &mut VerbSpinner::default())?;
    let runs = runs.ok_or_else(|| Error::new(Code::Interrupted, "the hooks were interrupted"))?;
    let failed = runs.iter().filter(|run| run.failure.is_some()).count();
    let text = runs.iter().map(run_in_words).collect::<String>();
    let answer = HooksRunJson { runs: runs.into_iter().map(|run| view(run, None)).collect() };
    if failed == 0 {
        return screen.answer(&answer, || text).map(|()| Exit::Done);
    }
    let error = Error::new(Code::HookFailed, format!("{} of {} failed", words::count(failed, "hook"), args.event));
    screen.answer_with(&answer, &error, || text)?;
    Err(error)
}

fn run_in_words(run: &HookRun) -> String {
    let how = run.failure.as_deref().unwrap_or("passed");
    let mut text = format!("{} {how}{}\n", run.hook, took(run));
    for line in &run.lines {
        text.push_str(&format!("  {}\n", visible::line(line)));
    }
    text
}

/// How long it took, where that is known.
fn took(run: &HookRun) -> String {
    run.took_ms.map_or_else(String::new, |ms| format!(" ({ms} ms)"))
}

fn copy(args: &HooksInstallArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let ctx = open(global, screen)?;
    let chosen = match args.names.as_slice() {
        [] if screen.can_ask() => ask()?,
        [] => {
            let samples = SAMPLES.iter().map(|HookSample { name, events, does, .. }| HookSampleJson { name, events, does });
            let answer = HooksInstallJson { files: Vec::new(), samples: samples.collect() };
            screen.answer(&answer, samples_in_words)?;
            return Ok(Exit::Done);
        }
        names => names.iter().map(|name| sample(name)).collect::<Result<Vec<_>>>()?,
    };
    install_all(&ctx, &chosen, if args.shared { ProjectFileOrigin::Shared } else { ProjectFileOrigin::Own }, screen)
}

fn install_all(ctx: &Context, chosen: &[&HookSample], to: ProjectFileOrigin, screen: &mut Screen) -> Result<Exit> {
    let files = install(ctx, chosen, to)?;
    let word = |how| match how {
        HookSampleOutcome::New => "new",
        HookSampleOutcome::Same => "same",
        HookSampleOutcome::Taken => "taken",
    };
    let line = |CopiedHookSample { path, how, .. }: &CopiedHookSample| {
        let path = path.display().to_string();
        match how {
            HookSampleOutcome::New => format!("Installed {}\n", visible::line(&path)),
            HookSampleOutcome::Same => format!("Is there already: {}\n", visible::line(&path)),
            HookSampleOutcome::Taken => format!("Left alone, another file is there: {}\n", visible::line(&path)),
        }
    };
    let text: String = files.iter().map(line).collect();
    let has_new = files.iter().any(|file| file.how == HookSampleOutcome::New);
    let of = |CopiedHookSample { event, path, how }: CopiedHookSample| HookFileJson {
        event,
        path: path.display().to_string(),
        is: word(how),
    };
    let answer = HooksInstallJson { files: files.into_iter().map(of).collect(), samples: Vec::new() };
    screen.answer(&answer, || text)?;
    if has_new {
        screen.note("They run once you have approved them: git axiom trust");
    }
    Ok(Exit::Done)
}

fn show(args: &HooksShowArgs, screen: &mut Screen) -> Result<Exit> {
    let HookSample { name, does, text, .. } = sample(&args.name)?;
    screen.answer(&HooksShowJson { name, does, text }, || StyledText::verbatim(text))?;
    Ok(Exit::Done)
}

fn sample(name: &str) -> Result<&'static HookSample> {
    let found = SAMPLES.iter().find(|sample| sample.name == name || sample.name.strip_suffix(".sh") == Some(name));
    found.ok_or_else(|| {
        let error = Error::new(Code::InvalidInput, format!("there is no sample '{name}'"));
        let error =
            nearest::hinted(error, name, SAMPLES.iter().map(|sample| sample.name), "git axiom hooks install    lists them");
        match HookEvent::ALL.iter().any(|event| name.starts_with(event.as_str())) {
            true => error.hint("git axiom trust --show    prints your own hooks"),
            false => error,
        }
    })
}

fn ask() -> Result<Vec<&'static HookSample>> {
    let items: Vec<String> = SAMPLES.iter().map(|sample| format!("{}: {}", sample.name, sample.does)).collect();
    let chosen = prompt::some_of("Which samples?", None, &items)?.unwrap_or_default();
    Ok(chosen.into_iter().filter_map(|at| SAMPLES.get(at)).collect())
}

fn samples_in_words() -> StyledText {
    let mut rows = vec![["NAME", "DOES", "EVENTS"].map(String::from).to_vec()];
    for HookSample { name, events, does, .. } in SAMPLES {
        let events = match events {
            [one] => one.to_string(),
            many if many.len() == HookEvent::ALL.len() => "all".to_owned(),
            many => words::count(many.len(), "event"),
        };
        rows.push(vec![(*name).to_owned(), (*does).to_owned(), events]);
    }
    let samples = StyledText::from(StyledGrid::of(rows).headed().cut(&[1]));
    samples + "\ngit axiom hooks install NAME    copies one to this clone\n"
}

fn log(args: &HooksLogArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let ctx = look(global, screen)?;
    let runs: Vec<EndedHookRun> = listing::runs(&ctx)?.into_iter().rev().take(args.count).collect();
    let text = if runs.is_empty() { "No hook has run yet.\n".to_owned() } else { log_in_words(&runs) };
    let runs = runs.into_iter().map(|EndedHookRun { at, run }| view(run, Some(at))).collect();
    screen.answer(&HooksRunJson { runs }, || text)?;
    Ok(Exit::Done)
}

fn log_in_words(runs: &[EndedHookRun]) -> String {
    let mut text = String::new();
    for EndedHookRun { at, run } in runs {
        text.push_str(&format!("{}  {}{}\n", words::time(*at), visible::line(&run.summary()), took(run)));
        for line in &run.lines {
            text.push_str(&format!("    {}\n", visible::line(line)));
        }
    }
    text
}
