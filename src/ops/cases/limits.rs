//! Whether the limits of tasks can be kept: an agent program that does not say what it uses would never reach them.

use crate::config::Config;
use crate::domain::agent::adapter::Adapter;
use crate::domain::work::budget::Limits;
use crate::error::{Code, Error, Result};
use crate::ops::programs::Programs;

/// Checks it for a task of this persona, by the configured programs.
///
/// # Errors
/// `USAGE_UNKNOWN`; `CONFIG_INVALID` where the programs are not known.
pub fn can_be_kept(config: &Config, persona: Option<&str>, limits: Limits) -> Result<()> {
    if limits.max_cost.is_none() && limits.max_tokens.is_none() {
        return Ok(());
    }
    program_keeps(Programs::configured(config)?.of_persona(persona), limits)
}

/// Checks it for an agent program.
///
/// # Errors
/// `USAGE_UNKNOWN`.
pub fn program_keeps(program: &Adapter, limits: Limits) -> Result<()> {
    let name = &program.name;
    if limits.max_cost.is_some() && !program.tells_cost() {
        let what = format!("a limit on the cost cannot be kept: '{name}' does not tell what it costs");
        let error = Error::new(Code::UsageUnknown, what);
        return Err(if program.tells_tokens() {
            error.hint(format!("say what its tokens cost: agents.{name}.price = {{ input = 3, cachedInput = 0.3, output = 15 }}"))
        } else {
            error.hint("limit the time: --max-time, or use an agent program that tells it: git axiom agents")
        });
    }
    if limits.max_tokens.is_some() && !program.tells_tokens() {
        let what = format!("a limit on tokens cannot be kept: '{name}' does not tell how many it uses");
        return Err(Error::new(Code::UsageUnknown, what)
            .hint("limit the time: --max-time, or use an agent program that tells it: git axiom agents"));
    }
    Ok(())
}
