//! One run of a planner: its agent program runs below a keeper like that of a persona, in a scratch worktree, so that nothing that it
//! writes is in the user's way.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_git::Head;
use axiom_model::agent::adapter::{AdapterPromptKind, AgentAdapter};
use axiom_model::agent::stream::readable::ReadableLineKind;
use axiom_model::base::ids::AgentId;
use axiom_model::planning::plan::{GoalPlan, PLANNER_AGENT, PlanningPhase};
use axiom_model::planning::prompt;
use axiom_model::planning::reply::{self, MOST_OUTPUT, PlannerReply};
use axiom_model::planning::step::PlannerRun;
use axiom_model::prompt::validator::OneOffRunPurpose;
use axiom_model::work::tasks::task::TaskStatus;
use axiom_model::work::verifying::verification::VerifyChecker;
use axiom_process::run_folder::spec::KeeperSpec;
use axiom_safety::beside_log::step_files::{RUNS_OF_PLANNER, StepFiles};
use axiom_safety::context::handle::{Context, fresh_token};
use axiom_safety::folders::scratch_worktrees;
use axiom_safety::history::task_texts;
use axiom_safety::running::output::logs;
use axiom_safety::running::output::logs::LogLineSource;
use axiom_safety::running::output::readable::{AgentLogReader, ReadablePiece};
use axiom_safety::running::programs;
use axiom_safety::running::steps;
use axiom_safety::running::steps::personas;
use axiom_safety::running::steps::personas::{PersonaProgram, PersonaRun};
use axiom_safety::running::steps::program_told;
use axiom_safety::running::steps::{AfterStepFailure, StepCommand, StepJob, StepProgram, StepRunner, StepSpec};
use axiom_safety::running::wait_observer::{ForegroundWait, WaitObserver};

/// How much longer the step's keeper waits than the keeper of the program, which tells more of its end.
const LONGER: Duration = Duration::from_secs(60);
/// How many tasks that exist a planner is told.
const MOST_KNOWN: usize = 200;

/// What came of a run of a planner's program.
pub(super) struct PlannerRunOutcome {
    /// What it used.
    pub(super) run: PlannerRun,
    /// What it printed.
    pub(super) text: String,
    /// Why it did not end by itself, or not well.
    why: Option<PlannerCutOff>,
    name: String,
    log: PathBuf,
}

enum PlannerCutOff {
    /// The user ended it.
    ByUser,
    /// It failed, for this reason.
    Failed(String),
}

impl PlannerRunOutcome {
    /// Its reply, where it was not cut off.
    pub(super) fn reply(&self, phase: PlanningPhase) -> Result<PlannerReply> {
        reply::read(&self.text, phase).map_err(|error| error.hint(self.seen()))
    }

    /// The error of one that was cut off.
    pub(super) fn cut_off(&self, plan: &GoalPlan) -> Option<Error> {
        let phase = plan.phase.as_str();
        Some(match self.why.as_ref()? {
            PlannerCutOff::ByUser => Error::new(Code::Interrupted, format!("the planner was ended in the phase {phase}"))
                .hint("git axiom plan show    shows what is next"),
            PlannerCutOff::Failed(why) => {
                Error::new(Code::PlannerFailed, format!("{} {why}: the plan stays in the phase {phase}", self.name))
                    .hint("git axiom plan propose    runs it again, in the phase in which it was")
                    .hint(self.seen())
            }
        })
    }

    fn seen(&self) -> String {
        format!("what it printed is in {}", self.log.display())
    }
}

/// Runs the planner in the phase in which the plan is.
pub(super) fn run(ctx: &mut Context, plan: &GoalPlan, watch: &mut dyn WaitObserver) -> Result<PlannerRunOutcome> {
    let agent = plan.planner.as_ref().map(|planner| planner.agent.clone()).unwrap_or_default();
    let program = Arc::new(programs::program(&ctx.config, &agent)?);
    let task = plan.goal.id.clone();
    let commit = commit(ctx)?;
    let lock = scratch_worktrees::claim(ctx, &task, scratch_worktrees::ScratchPurpose::Planner)?;
    let place = ctx.with_change_lock(|ctx| {
        scratch_worktrees::set_up(ctx, (&task, scratch_worktrees::ScratchPurpose::Planner), &commit, lock)
    })?;
    env::fault_point("plan.place-made");
    let outcome = run_in(ctx, plan, &program, &place.path, watch);
    let removal = place.take_down(ctx)?;
    removal.into_iter().for_each(|removal| drop(removal.join()));
    outcome
}

/// The commit that the planner looks at.
fn commit(ctx: &Context) -> Result<axiom_model::base::names::Oid> {
    match ctx.repo.refs().head(&ctx.repo.worktrees().main_worktree()?)? {
        Head::Branch { commit: Some(commit), .. } | Head::Detached { commit } => Ok(commit),
        Head::Branch { commit: None, .. } => {
            Err(Error::new(Code::UnbornBranch, "a planner looks at a commit, and the branch has none yet")
                .hint("git commit --allow-empty -m start    makes one"))
        }
    }
}

fn run_in(
    ctx: &Context,
    plan: &GoalPlan,
    program: &Arc<AgentAdapter>,
    folder: &Path,
    watch: &mut dyn WaitObserver,
) -> Result<PlannerRunOutcome> {
    let phase = plan.phase;
    let files = StepFiles { folder: folder_of(ctx, plan), about: env::fresh_id() };
    let told = told(ctx, plan, program)?;
    let spec = spec(ctx, plan, program, folder, &files)?;
    let (log, begun) = (spec.log.clone(), Instant::now());
    let name = format!("planner {}", program.name);
    let work = StepSpec {
        name: name.clone(),
        by: VerifyChecker::Command,
        program: StepProgram {
            wrapper: Vec::new(),
            is: StepCommand::Persona(Box::new(PersonaProgram::new(
                spec.clone(),
                told,
                Arc::clone(program),
                OneOffRunPurpose::Plan,
            ))),
        },
        folder: folder.to_owned(),
        env: Vec::new(),
        without: Vec::new(),
        stdin: String::new(),
        limit: Duration::from_secs(ctx.config.verify.time_limit).saturating_add(LONGER),
        files: Some(files),
    };
    let running = steps::start(StepJob::new(ctx, StepRunner::Verb, AfterStepFailure::GoOn, vec![work]), None);
    watch.begun(ForegroundWait::Planner(phase.as_str()));
    let verdict = running.verdict_unless_ended(watch, || {});
    watch.ended();
    let why = match verdict {
        // When it is dropped, its processes are ended, and waited for.
        None => Some(PlannerCutOff::ByUser),
        Some(mut verdict) => {
            let result = verdict.ran.pop().map(|ran| ran.result);
            let exit = result.as_ref().and_then(|result| result.run.as_ref()).and_then(|run| run.exit);
            result.and_then(|result| result.failure).filter(|_| exit != Some(0)).map(PlannerCutOff::Failed)
        }
    };
    drop(running);
    env::fault_point("plan.planner-ended");
    let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let run = PlannerRun { used: program_told::used_by(&spec, program, why.is_some())?, duration_ms };
    Ok(PlannerRunOutcome { run, text: printed(ctx, &log)?, why, name, log })
}

/// The folder with the files of a planner's runs in a phase.
fn folder_of(ctx: &Context, plan: &GoalPlan) -> PathBuf {
    ctx.layout().checks_dir().join(plan.goal.id.as_str()).join(RUNS_OF_PLANNER).join(plan.phase.as_str())
}

/// What a planner that was cut off had printed by then.
pub(super) fn printed_before(ctx: &Context, plan: &GoalPlan) -> Result<String> {
    let log = StepFiles { folder: folder_of(ctx, plan), about: String::new() }.log_of_lines();
    printed(ctx, &log)
}

/// The prompt; of a program that runs scripts, the script.
fn told(ctx: &Context, plan: &GoalPlan, program: &AgentAdapter) -> Result<String> {
    let script = plan.planner.as_ref().and_then(|planner| planner.script.as_ref());
    match (program.prompt, script) {
        (AdapterPromptKind::Script, Some(script)) => task_texts::load(&ctx.repo, script),
        (AdapterPromptKind::Script, None) => Err(no_script(program)),
        (AdapterPromptKind::Prompt, _) => {
            let body = match &plan.goal.body {
                Some(body) => task_texts::load(&ctx.repo, body)?,
                None => String::new(),
            };
            let open = ctx.state().restorable.tasks.values().filter(|task| task.status != TaskStatus::Archived);
            let known: Vec<String> = open.take(MOST_KNOWN).map(|task| format!("- {}: {}", task.id, task.title)).collect();
            Ok(prompt::prompt(plan, &body, &known))
        }
    }
}

fn spec(ctx: &Context, plan: &GoalPlan, program: &AgentAdapter, folder: &Path, files: &StepFiles) -> Result<KeeperSpec> {
    let variables: [(&str, OsString); 3] = [
        ("AXIOM_PLAN_PHASE", plan.phase.as_str().into()),
        ("AXIOM_PLAN_GOAL", plan.goal.jtbd.as_str().into()),
        ("AXIOM_PLAN_STATE", ctx.layout().planning_state().into()),
    ];
    let env = variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let (agent, token) = (AgentId::new(PLANNER_AGENT)?, fresh_token()?);
    Ok(personas::keeper_spec(ctx, program, PersonaRun { agent, task: &plan.goal.id, token, folder, files, env }))
}

/// What the program said: of a program with rules its words, of another all that it printed.
fn printed(ctx: &Context, log: &Path) -> Result<String> {
    let (mut text, mut reader, mut offset) = (String::new(), AgentLogReader::default(), 0);
    let mut add = |printed: Vec<ReadablePiece>| {
        for one in printed {
            match one {
                ReadablePiece::Bytes(bytes) => text.push_str(&String::from_utf8_lossy(&bytes)),
                ReadablePiece::Line(line) if matches!(line.part, ReadableLineKind::Said | ReadableLineKind::Other) => {
                    text.push_str(&line.text);
                    text.push('\n');
                }
                ReadablePiece::Line(_) | ReadablePiece::Begins { .. } => {}
            }
        }
        if text.len() > MOST_OUTPUT {
            return Err(Error::new(Code::TooLarge, format!("the planner printed more than {} MiB", MOST_OUTPUT >> 20))
                .hint(format!("what it printed is in {}", log.display()))
                .hint("git axiom plan propose    runs it again, in the phase in which it was"));
        }
        Ok(())
    };
    loop {
        let part = logs::read(log, offset)?;
        if part.next == offset {
            break;
        }
        offset = part.next;
        for line in part.lines.iter().filter(|line| line.stream == LogLineSource::Stdout) {
            add(reader.take(line, &ctx.config))?;
        }
    }
    add(reader.end())?;
    Ok(text)
}

/// Checks that an agent program can plan.
pub fn check(ctx: &Context, agent: &str, script: Option<&str>) -> Result<()> {
    let program = programs::program(&ctx.config, agent)?;
    match (program.prompt, script) {
        (AdapterPromptKind::Script, Some(_)) | (AdapterPromptKind::Prompt, None) => Ok(()),
        (AdapterPromptKind::Script, None) => Err(no_script(&program)),
        (AdapterPromptKind::Prompt, Some(_)) => {
            Err(Error::new(Code::InvalidInput, format!("'{agent}' gets a prompt, and runs no script")).hint("leave out --script"))
        }
    }
}

fn no_script(program: &AgentAdapter) -> Error {
    Error::new(Code::InvalidInput, format!("'{}' runs a script, and there is none", program.name))
        .hint("git axiom plan start GOAL --agent shell --script FILE")
}
