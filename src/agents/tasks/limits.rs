//! Whether the limits of tasks can be kept: an agent program that does not say what it uses would never reach them. And whether the
//! personas exist that are to check their work.

use axiom_base::error::{Code, Error, Result};
use axiom_model::agent::adapter::AgentAdapter;
use axiom_model::base::forms::nearest;
use axiom_model::work::money::budget::BudgetLimits;
use axiom_model::work::verifying::checks::named_step::NamedVerifyStep;
use axiom_safety::config::Config;
use axiom_safety::running::programs::SessionPrograms;

/// Checks it for a task of this persona and for the personas among its verify steps, by the configured programs.
pub fn can_be_kept(config: &Config, persona: Option<&str>, verify: &[String], limits: BudgetLimits) -> Result<()> {
    if limits.max_cost.is_none() && limits.max_tokens.is_none() {
        return Ok(());
    }
    program_keeps(SessionPrograms::configured(config)?.of_persona(persona), limits)?;
    personas_keep(config, verify, limits)
}

/// Checks it for the personas among verify steps.
pub fn personas_keep(config: &Config, verify: &[String], limits: BudgetLimits) -> Result<()> {
    let mut named = personas(verify).filter(|persona| config.personas.contains_key(*persona)).peekable();
    if named.peek().is_none() {
        return Ok(());
    }
    let programs = SessionPrograms::configured(config)?;
    named.try_for_each(|persona| program_keeps(programs.of_persona(Some(persona)), limits))
}

/// Checks that the configuration has the personas that verify steps name: a mistyped one would let no work pass.
pub fn personas_exist(config: &Config, verify: &[String]) -> Result<()> {
    let Some(unknown) = personas(verify).find(|persona| !config.personas.contains_key(*persona)) else { return Ok(()) };
    let error = Error::new(Code::InvalidInput, format!("a verify step names the persona '{unknown}', which is not configured"));
    let how = "git config axiom.personas.NAME.prompt 'What to look for'    makes one";
    Err(nearest::hinted(error, unknown, config.personas.keys().map(String::as_str), how))
}

/// Whether verify steps name a persona, which only the configuration knows.
pub fn name_persona(verify: &[String]) -> bool {
    personas(verify).next().is_some()
}

fn personas(verify: &[String]) -> impl Iterator<Item = &str> {
    verify.iter().filter_map(|step| NamedVerifyStep::of(step).persona())
}

/// Checks it for an agent program.
pub fn program_keeps(program: &AgentAdapter, limits: BudgetLimits) -> Result<()> {
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
