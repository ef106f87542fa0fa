//! The thread that runs the steps of a job, one after the other or together.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{
    AfterStepFailure, EndedStepReport, KEEP, RunningStep, StepCommand, StepExit, StepFailure, StepJob, StepJobOutcome, StepSpec,
    cut_off, personas,
};
use crate::beside_log::step_files::StepFiles;
use crate::project_hooks::selection;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::work::verifying::checks::named_step::NamedVerifyStep;
use axiom_model::work::verifying::verification::{
    VerifyChecker, VerifyStepResult, VerifyStepRun, last_lines, last_lines_of_passed,
};
use axiom_process::client::step::StepEnd;
use axiom_process::client::{leftovers, step};

pub(super) fn run(
    job: &StepJob,
    cancelled: &AtomicBool,
    begins: &dyn Fn(RunningStep),
    each: &dyn Fn(&EndedStepReport),
) -> StepJobOutcome {
    let mut ran = Vec::new();
    for (place, work) in job.work.iter().enumerate() {
        let begun = Instant::now();
        let of = job.work.len();
        begins(RunningStep {
            name: work.name.clone(),
            place,
            of,
            since: env::now(),
            limit: work.program.told_limit().unwrap_or(work.limit),
        });
        let ended = run_step(job, work, cancelled);
        cut_off::ended(work, ended.is_ok() && !cancelled.load(Ordering::Relaxed));
        let StepExit { failure, output, exit, used } = match ended {
            Ok(done) => done,
            Err(error) if job.after == AfterStepFailure::GoOn => {
                StepExit { failure: Some(error.to_string()), output: String::new(), exit: None, used: None }
            }
            Err(error) => {
                let not_run = Some(error.context(format!("'{}' could not be run", work.name)));
                return StepJobOutcome { ran, failure: None, not_run };
            }
        };
        let took = begun.elapsed();
        let run = work.files.as_ref().map(|files| run_of(files, exit, took, &output));
        let run = run.map(|run| Box::new(VerifyStepRun { used, ..run }));
        let lines = match (&failure, work.by) {
            (Some(_), _) => last_lines(&output),
            (None, VerifyChecker::Command) => last_lines_of_passed(&output),
            (None, VerifyChecker::Hook) => Vec::new(),
        };
        let result = VerifyStepResult { command: work.name.clone(), by: work.by, failure, lines, run };
        let failed = result.why().filter(|_| job.after == AfterStepFailure::Stop).map(|why| failure_of(work, &why, &output));
        let ended = EndedStepReport { result, took, output };
        // What was stopped, has no result.
        if !cancelled.load(Ordering::Relaxed) {
            each(&ended);
        }
        ran.push(ended);
        if failed.is_some() {
            return StepJobOutcome { ran, failure: failed, not_run: None };
        }
        if cancelled.load(Ordering::Relaxed) {
            break;
        }
    }
    StepJobOutcome { ran, failure: None, not_run: None }
}

fn run_of(files: &StepFiles, exit: Option<i32>, took: Duration, output: &str) -> VerifyStepRun {
    let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    VerifyStepRun { exit, duration_ms, tests: files.tests(output), reported: files.reported(), used: None }
}

fn failure_of(work: &StepSpec, why: &str, output: &str) -> StepFailure {
    let command = &work.name;
    let mut from = output.len().saturating_sub(KEEP);
    while !output.is_char_boundary(from) {
        from += 1;
    }
    let details = format!("`{command}` {why}:\n\n```\n{}\n```", output[from..].trim_end());
    let summary = match work.by {
        VerifyChecker::Command => format!("verify step '{}' {why}", NamedVerifyStep::of(command).label()),
        VerifyChecker::Hook => format!("hook {command} {why}"),
    };
    StepFailure { summary, details }
}

fn run_step(job: &StepJob, work: &StepSpec, cancelled: &AtomicBool) -> Result<StepExit> {
    let (program, interpreter) = match &work.program.is {
        StepCommand::Command(command) => (["sh", "-c", command].map(OsString::from).to_vec(), None),
        StepCommand::Approved(tree, place) => {
            (vec![tree.ready(place)?.into()], tree.files().get(place).and_then(selection::first_line))
        }
        StepCommand::Persona(persona) => return personas::run(job, work, persona, cancelled),
        StepCommand::Nothing(why) => {
            return Ok(StepExit { failure: Some(why.clone()), output: String::new(), exit: None, used: None });
        }
    };
    work.files.as_ref().map_or(Ok(()), StepFiles::make_ready)?;
    let done = step::run(&job.step(work, program), cancelled)?;
    // If the keeper was killed, its processes may remain: they are ended here.
    leftovers::end_marked(&job.marker)?;
    let exit = match &done.end {
        StepEnd::Exited { code } => Some(*code),
        StepEnd::Signalled { .. } | StepEnd::OverTime | StepEnd::Stopped | StepEnd::CannotStart { .. } | StepEnd::Unknown => None,
    };
    if exit.is_some() {
        work.files.iter().for_each(StepFiles::ended_by_itself);
    }
    let could_start = !matches!(done.end, StepEnd::CannotStart { .. });
    let why = done.end.failure(work.limit).map(|why| match interpreter {
        Some(line) if !could_start => format!("{why} (its first line: #!{line})"),
        Some(_) | None => why,
    });
    Ok(StepExit { failure: why, output: done.output, exit, used: None })
}
