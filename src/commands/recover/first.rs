//! The question that `run` asks first where a crash cut tasks off and `recovery.auto` is off.

use crate::cli::prompt;
use crate::cli::screen::Screen;
use crate::domain::base::plural::count;
use crate::domain::recovery::decide::Action;
use crate::error::{Code, Error, Result};
use crate::ops::context::handle::Context;
use crate::ops::recover::survey;
use crate::ops::supervise::Options;

/// What may be chosen, in this order.
const CHOICES: [&str; 3] = ["Go on where the tasks were", "Begin the tasks anew; what is there is kept aside", "Look first"];

/// Asks what becomes of the tasks that a crash cut off, if a human is to decide.
///
/// # Errors
/// `RECOVERY_NEEDED` without a terminal; `DECLINED` where the session is not to begin; as [`survey::look`].
pub fn ask(ctx: &mut Context, options: &mut Options, screen: &mut Screen) -> Result<()> {
    if ctx.config.recovery.auto {
        return Ok(());
    }
    let view = survey::look(ctx)?;
    let cut_off: Vec<_> = view.reset.iter().chain(&view.failed).map(|orphan| orphan.task_id.clone()).collect();
    if cut_off.is_empty() {
        return Ok(());
    }
    let what = format!("a crash cut off {}", count(cut_off.len(), "task"));
    if !screen.can_ask() {
        return Err(Error::new(Code::RecoveryNeeded, format!("{what}, and recovery.auto is off"))
            .hint("git axiom recover    shows what was cut off")
            .hint("git axiom recover --yes    goes on, as the rules say; then run again"));
    }
    match prompt::one_of(&format!("{what}. What next?"), None, &CHOICES, 0)? {
        Some(0) => Ok(()),
        Some(1) => {
            options.after_crash.decided = cut_off.into_iter().map(|task| (task, Action::RestartTask)).collect();
            Ok(())
        }
        Some(_) => Err(Error::new(Code::Declined, "no session was begun").hint("git axiom recover    shows what was cut off")),
        None => Err(Error::new(Code::Declined, "no session was begun")),
    }
}
