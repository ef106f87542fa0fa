//! `git axiom help`, and the map of verbs: the answer of `git axiom`, and of `git axiom -h`.

use clap::{Args, Command, CommandFactory};
use serde::Serialize;

use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::{Cli, GlobalArgs};
use crate::commands::grammar::overview::{all_verbs, overview_text};
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::verbs;

/// Arguments of `help`.
#[derive(Debug, Args)]
#[command(after_help = "\
The same as VERB -h, for every verb and its verbs, such as 'git axiom help task add'. It needs
no manual page. 'git axiom --help' is handled by git, and opens the page that 'git axiom man
--install' has put where man looks.")]
pub struct HelpArgs {
    /// The verb, such as 'task' or 'task add'; the map of verbs without it
    verb: Vec<String>,
    /// All verbs, each with what it does
    #[arg(long, conflicts_with = "verb")]
    all: bool,
}

/// The help of a verb.
#[derive(Serialize)]
struct HelpJson {
    /// The verb; empty for all of them.
    name: String,
    /// Its help.
    text: String,
}

/// Prints the help of a verb, the map of verbs, or all verbs.
pub fn run(args: &HelpArgs, _global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let words: Vec<&str> = args.verb.iter().flat_map(|verb| verb.split_whitespace()).collect();
    let text = match (args.all, words.as_slice()) {
        (true, _) => all_verbs(),
        (false, []) => overview_text(),
        (false, words) => help_of(words)?,
    };
    let answer = HelpJson { name: words.join(" "), text };
    screen.answer(&answer, || answer.text.clone())?;
    Ok(Exit::Done)
}

fn help_of(words: &[&str]) -> Result<String> {
    let mut command = Cli::command();
    command.build();
    let mut found = command;
    for (place, word) in words.iter().enumerate() {
        found = below(&found, word).ok_or_else(|| unknown(&words[..=place]))?;
    }
    Ok(found.render_help().to_string())
}

/// Prints the overview, for `git axiom` without a verb. Ends with the status of a usage error, so that a script notices it.
pub fn overview(screen: &mut Screen) -> Result<Exit> {
    if screen.wants_json() {
        return Err(Error::new(Code::Usage, "a verb is missing").hint("git axiom help --all    lists all verbs"));
    }
    screen.write(overview_text().as_bytes())?;
    Ok(Exit::Usage)
}

fn below(command: &Command, word: &str) -> Option<Command> {
    let named = |verb: &&Command| verb.get_name() == word || verb.get_all_aliases().any(|alias| alias == word);
    command.get_subcommands().filter(|verb| !verb.is_hide_set()).find(named).cloned()
}

/// The error for an unknown verb, with the verb that may have been meant.
pub(super) fn unknown(words: &[&str]) -> Error {
    let (above, word) = words.split_last().map(|(word, above)| (above.join(" "), *word)).unwrap_or_default();
    let known = verbs::meant::verbs(&above, word);
    let error = Error::new(Code::InvalidInput, format!("there is no verb '{}'", words.join(" ")));
    let error = known.into_iter().fold(error, |error, verb| error.hint(format!("did you mean 'git axiom help {verb}'?")));
    error.hint("git axiom help --all    lists all verbs")
}
