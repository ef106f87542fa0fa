//! `git axiom help`, and the answer of `git axiom` without a verb.

use std::collections::BTreeSet;

use clap::{Args, Command, CommandFactory};

use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::{Cli, Global};
use crate::commands::grammar::pages;
use crate::domain::base::nearest;
use crate::error::{Code, Error, Exit, Result};

/// The overview. It fits a terminal of 80 columns and 24 lines.
pub const OVERVIEW: &str = "\
git axiom: the safety net and control room for coding agents in a git repository

  begin     init, task add TITLE, plan, run; demo in a scratch repository
  look      panel, status, task, output AGENT, diff TASK, log, graph,
            events, learnings, stats
  decide    gate, merge TASK, mode, pause, resume, quit
            stop AGENT, kill AGENT, redirect AGENT, debug TASK
  attached  attach PROGRAM, detach, prompts, sessions, watch
  save      checkpoint create
  go back   undo, redo, restore, rollback
  repair    recover, disk, purge PATH
  set up    config, agents, trust, hooks, completions SHELL, man, help, deinit
  agents    signal; lock NAME -- COMMAND

  git axiom help           all verbs
  git axiom help VERB      one of them, with its options; VERB -h does the same
  git axiom status         what is happening right now
";

/// Arguments of `help`.
#[derive(Debug, Args)]
#[command(after_help = "\
The same as VERB -h, for every verb and its verbs, such as 'git axiom help task add'. It needs
no manual page. 'git axiom --help' is handled by git, and opens the page that 'git axiom man
--out FOLDER' has written to a folder where man looks.")]
pub struct Help {
    /// The verb, such as 'task' or 'task add'; all verbs without it
    verb: Vec<String>,
}

/// Prints the help of a verb, or the list of verbs.
///
/// # Errors
/// `INVALID_INPUT` for a verb that does not exist.
pub fn run(args: &Help, _global: &Global, screen: &mut Screen) -> Result<Exit> {
    let words: Vec<&str> = args.verb.iter().flat_map(|verb| verb.split_whitespace()).collect();
    let mut command = Cli::command();
    command.build();
    let mut found = command;
    for (place, word) in words.iter().enumerate() {
        found = below(&found, word).ok_or_else(|| unknown(&words[..=place]))?;
    }
    let text = found.render_help().to_string();
    screen.answer(&serde_json::json!({ "name": words.join(" "), "text": text }), || text.clone())?;
    Ok(Exit::Done)
}

/// Prints the overview, for `git axiom` without a verb. Ends with the status of a usage error, so that a script notices it.
///
/// # Errors
/// `USAGE` where JSON was asked for.
pub fn overview(screen: &mut Screen) -> Result<Exit> {
    if screen.wants_json() {
        return Err(Error::new(Code::Usage, "a verb is missing").hint("git axiom help    lists all verbs"));
    }
    screen.write(OVERVIEW.as_bytes())?;
    Ok(Exit::Usage)
}

fn below(command: &Command, word: &str) -> Option<Command> {
    let named = |verb: &&Command| verb.get_name() == word || verb.get_all_aliases().any(|alias| alias == word);
    command.get_subcommands().filter(|verb| !verb.is_hide_set()).find(named).cloned()
}

/// The error for an unknown verb, with the verb that may have been meant.
pub(super) fn unknown(words: &[&str]) -> Error {
    let wanted = words.join(" ");
    let verbs = pages::verbs();
    let error = Error::new(Code::InvalidInput, format!("there is no verb '{wanted}'"));
    let error = match nearest::to(&wanted, verbs.iter().map(String::as_str)) {
        Some(verb) => error.hint(format!("did you mean '{verb}'?")),
        None => error,
    };
    error.hint("git axiom help    lists all verbs")
}

/// The verbs that are named in [`OVERVIEW`].
pub fn verbs_of_overview() -> BTreeSet<&'static str> {
    let verbs = OVERVIEW.lines().skip(2).take_while(|line| !line.is_empty()).filter_map(|line| line.get(12..));
    verbs.flat_map(|line| line.split([',', ';'])).filter_map(|part| part.split_whitespace().next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overview_names_every_verb_and_fits_a_small_terminal() {
        let command = Cli::command();
        for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
            assert!(verbs_of_overview().contains(verb.get_name()), "{}", verb.get_name());
        }
        assert_eq!(verbs_of_overview().len(), command.get_subcommands().filter(|verb| !verb.is_hide_set()).count());
        assert!(OVERVIEW.lines().count() < 23 && OVERVIEW.lines().all(|line| line.len() <= 80));
    }
}
