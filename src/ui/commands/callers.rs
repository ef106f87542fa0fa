//! Who calls, and whether they may: the table of verbs for the agents of a session and for agents that a human runs.

use super::working_dir;
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::agent::attached_program::AttachedProgram;
use axiom_model::attach::act::VARIABLES;
use axiom_model::verbs;
use axiom_safety::attach::sessions;
use axiom_safety::context::handle::agent_in;

/// Refuses what is kept for humans where an agent calls. Agents are asked nothing either.
pub(super) fn may_call(global: &GlobalArgs, screen: &mut Screen) -> Result<()> {
    let words: Vec<String> = env::arguments().iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let kept = verbs::kept_for_humans(&words);
    if program().is_some() {
        screen.show_plainly();
    }
    if (kept.is_some() || screen.can_ask() || screen.terminal().is_shown())
        && let Some(agent) = agent_in(&working_dir(global)?)
    {
        screen.ask_nothing();
        screen.show_plainly();
        if let Some(verb) = &kept {
            return Err(Error::new(Code::NotForAgents, format!("'{verb}' is for humans, and this is agent '{agent}'"))
                .hint("ask with 'git axiom signal waiting QUESTION'"));
        }
    }
    match (program(), kept.or_else(|| agrees(&words, screen))) {
        (Some(program), Some(verb)) if !screen.can_ask() => of_attached(program, &verb, global),
        (Some(_) | None, _) => Ok(()),
    }
}

/// An agent that a human runs, with nobody at a terminal: what is kept for humans is done where its program has just asked for it.
fn of_attached(program: AttachedProgram, verb: &str, global: &GlobalArgs) -> Result<()> {
    if sessions::was_asked(&working_dir(global)?, program, verb) {
        return Ok(());
    }
    let error = Error::new(Code::NotForAgents, format!("'{verb}' is for humans, and {} is calling", program.title()))
        .hint(format!("git axiom {verb}    in a terminal of your own"));
    let asks = format!("git axiom attach {program}    then it asks you before it calls such a verb");
    Err(if program.can_ask() { error.hint(asks) } else { error })
}

/// The agent program whose variable is in the environment.
fn program() -> Option<AttachedProgram> {
    VARIABLES.iter().find(|(name, _)| env::var(name).is_some()).map(|(_, program)| *program)
}

/// The verb of a call that agrees in advance to what would be asked: an agent does not agree in the human's place. What `lock` is
/// given belongs to the command that it runs.
fn agrees(words: &[String], screen: &Screen) -> Option<String> {
    let agrees = words.iter().take_while(|word| *word != "--").any(|word| word == "--yes" || word == "-y");
    let verb = screen.verb().filter(|verb| agrees && *verb != "lock")?;
    Some(format!("{verb} --yes"))
}
