//! What a task may be: its title, persona, verify steps, limits and neighbours.

use super::NewTaskRequest;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::AgentId;
use axiom_model::work::money::budget::BudgetLimits;
use axiom_model::work::tasks::task::TaskKind;
use axiom_model::work::verifying::checks::named_step;

/// The longest title, in characters.
pub const MAX_TITLE: usize = 500;
/// The longest command of a verify step, in bytes.
pub(super) const MAX_COMMAND: usize = 64 * 1024;

/// The most dependencies or verify steps of one task.
const MAX_LIST: usize = 1000;

/// Checks the fields for which the state is not needed.
pub(crate) fn check(new: &NewTaskRequest) -> Result<()> {
    check_title(&new.title)?;
    new.persona.as_deref().map_or(Ok(()), check_persona)?;
    check_verify(&new.verify)?;
    check_length("dependencies", new.waits_for.after.len())?;
    check_limits(new.kind, new.limits)?;
    new.waits_for.check(new.kind)
}

pub(super) fn check_limits(kind: TaskKind, limits: BudgetLimits) -> Result<()> {
    if kind != TaskKind::Task && !limits.is_empty() {
        return Err(Error::new(Code::InvalidInput, format!("only a task has a budget, not a {kind}"))
            .hint("give it to its tasks, or to all: git config axiom.budget.maxCost USD"));
    }
    Ok(())
}

pub(crate) fn check_title(title: &str) -> Result<()> {
    let length = title.chars().count();
    if title.trim().is_empty() {
        return Err(Error::new(Code::InvalidInput, "a task needs a title").hint("say in one line what is to be done"));
    }
    if length > MAX_TITLE {
        return Err(Error::new(Code::TooLarge, format!("the title has {length} characters, the limit is {MAX_TITLE}"))
            .hint("put the details into the body: --body or --body-file"));
    }
    match title.chars().find(|c| c.is_control()) {
        Some(c) => Err(Error::new(Code::InvalidInput, format!("the title has the character {c:?}"))
            .hint("a title is one line; put the rest into the body: --body or --body-file")),
        None => Ok(()),
    }
}

pub(super) fn check_persona(persona: &str) -> Result<()> {
    // The ids of agents are made from the persona: `<persona>-NNN`.
    AgentId::new(format!("{persona}-0001")).map(drop).map_err(|error| {
        Error::new(Code::InvalidId, format!("'{persona}' cannot be a persona"))
            .why(error.causes().join(": "))
            .hint("use letters, digits, '-' and '_', beginning with a letter or digit")
    })
}

pub(super) fn check_verify(verify: &[String]) -> Result<()> {
    check_length("verify steps", verify.len())?;
    if let Some(name) = named_step::repeated(verify) {
        return Err(
            Error::new(Code::InvalidInput, format!("two verify steps are called '{name}'")).hint("give each a name of its own")
        );
    }
    for command in verify {
        if command.trim().is_empty() {
            return Err(Error::new(Code::InvalidInput, "a verify step is empty").hint("give a shell command that must pass"));
        }
        if command.len() > MAX_COMMAND {
            let what = format!("a verify step has {} bytes, the limit is {MAX_COMMAND}", command.len());
            return Err(Error::new(Code::TooLarge, what).hint("put it into a script of the repository and call that"));
        }
    }
    Ok(())
}

pub(super) fn check_length(what: &str, length: usize) -> Result<()> {
    if length > MAX_LIST {
        let what = format!("a task has {length} {what}, the limit is {MAX_LIST}");
        return Err(Error::new(Code::TooLarge, what).hint("put a group in between: --kind group"));
    }
    Ok(())
}
