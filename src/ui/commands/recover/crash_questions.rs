//! The questions after a crash: what becomes of the tasks that it cut off. `recover` asks them at a terminal, `run` where
//! `recovery.auto` is off.

use crate::cli::prompt;
use crate::cli::screen::Screen;
use crate::commands::progress::ProgressPrinter;
use crate::wording::recovery;
use crate::wording::recovery::RecoveryAsker;
use axiom_agents::recover::survey;
use axiom_agents::recover::survey::RecoverySurvey;
use axiom_agents::supervise::SupervisorOptions;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::forms::plural::count;
use axiom_model::base::ids::TaskId;
use axiom_model::recovery::decide::CrashAction;
use axiom_model::recovery::human_choice::CrashRecoveryChoice;
use axiom_safety::context::handle::Context;

/// Where a session is to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionProcess {
    /// In this process.
    Here,
    /// In another one, which nobody can answer.
    InBackground,
}

/// Asks what becomes of the tasks; `None` where nothing was chosen.
pub(super) fn choose(view: &RecoverySurvey, asking: RecoveryAsker) -> Result<Option<CrashRecoveryChoice>> {
    let cut_off = count(view.cut_off().count(), "task");
    let words = CrashRecoveryChoice::ALL.map(|choice| recovery::choice(choice, asking));
    let picked = prompt::one_of(&format!("A crash cut off {cut_off}. What next? (Escape changes nothing)"), None, &words, 0)?;
    Ok(picked.and_then(|number| CrashRecoveryChoice::ALL.get(number)).copied())
}

/// Asks before a session what becomes of the tasks that a crash cut off, if a human is to decide. Otherwise the session decides, and
/// says it in numbers.
pub fn ask(ctx: &mut Context, options: &mut SupervisorOptions, session: SessionProcess, screen: &mut Screen) -> Result<()> {
    if ctx.config.recovery.auto {
        return Ok(());
    }
    let view = survey::tasks(ctx)?;
    if view.cut_off().next().is_none() {
        return Ok(());
    }
    if !screen.can_ask() {
        let what = format!("a crash cut off {}, and recovery.auto is off", count(view.cut_off().count(), "task"));
        return Err(Error::new(Code::RecoveryNeeded, what)
            .hint("git axiom recover    shows what was cut off")
            .hint("git axiom recover --yes    goes on, as the rules say; then run again"));
    }
    screen.complain_text(&recovery::tasks(&view, screen.terminal().columns()));
    let declined = |what: &str| Error::new(Code::Declined, format!("{what}; no session was begun"));
    match choose(&view, RecoveryAsker::Run)? {
        Some(CrashRecoveryChoice::Resume) => at_once(ctx, options, session),
        Some(CrashRecoveryChoice::FailedOnly) => {
            let anew = view.reset.iter().chain(&view.failed).map(|orphan| (orphan.task_id.clone(), CrashAction::RestartTask));
            options.after_crash.decided = anew.collect();
            at_once(ctx, options, session)
        }
        Some(CrashRecoveryChoice::Abandon) => {
            let of: Vec<TaskId> = view.cut_off().map(|orphan| orphan.task_id.clone()).collect();
            let done = super::cut_off_tasks::abandon_in(ctx, &of, false, screen)?;
            Err(declined(&format!("{} abandoned", count(done.len(), "task"))).hint("git axiom undo    takes that back"))
        }
        Some(CrashRecoveryChoice::Inspect) => {
            Err(declined("nothing was changed").hint("git axiom recover inspect    shows what is there"))
        }
        None => Err(declined("nothing was chosen")),
    }
}

/// What was chosen is done now where the session is another process: it would ask once more, and nobody could answer.
fn at_once(ctx: &mut Context, options: &SupervisorOptions, session: SessionProcess) -> Result<()> {
    match session {
        SessionProcess::Here => Ok(()),
        SessionProcess::InBackground => {
            let after_crash = options.after_crash.clone();
            survey::recover(
                ctx,
                SupervisorOptions { after_crash, ..SupervisorOptions::attending() },
                &mut ProgressPrinter::new(false),
            )
        }
    }
}
