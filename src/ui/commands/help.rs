//! `git axiom help`, and the answer of `git axiom` without a verb.

use clap::{Args, Command, CommandFactory};

use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::{Cli, GlobalArgs};
use crate::commands::grammar::man_pages;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::forms::nearest;
use axiom_model::verbs::{self, VerbGroup};

/// How far the verbs of the overview are from its edge, and where its lines end.
const INDENT: usize = 12;
const WIDTH: usize = 78;

/// Arguments of `help`.
#[derive(Debug, Args)]
#[command(after_help = "\
The same as VERB -h, for every verb and its verbs, such as 'git axiom help task add'. It needs
no manual page. 'git axiom --help' is handled by git, and opens the page that 'git axiom man
--out FOLDER' has written to a folder where man looks.")]
pub struct HelpArgs {
    /// The verb, such as 'task' or 'task add'; all verbs without it
    verb: Vec<String>,
}

/// Prints the help of a verb, or the list of verbs.
pub fn run(args: &HelpArgs, _global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
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
pub fn overview(screen: &mut Screen) -> Result<Exit> {
    if screen.wants_json() {
        return Err(Error::new(Code::Usage, "a verb is missing").hint("git axiom help    lists all verbs"));
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
    let wanted = words.join(" ");
    let verbs = man_pages::verbs();
    let error = Error::new(Code::InvalidInput, format!("there is no verb '{wanted}'"));
    let error = match nearest::to(&wanted, verbs.iter().map(String::as_str)) {
        Some(verb) => error.hint(format!("did you mean '{verb}'?")),
        None => error,
    };
    error.hint("git axiom help    lists all verbs")
}

/// The overview, made of the table of verbs. It fits a terminal of 80 columns and 24 lines.
pub fn overview_text() -> String {
    let mut text = "git axiom: the safety net and control room for coding agents in a git repository\n\n".to_owned();
    for (group, heading) in VerbGroup::SHOWN {
        let mut line = format!("  {heading:width$}", width = INDENT - 2);
        let shown: Vec<&str> =
            verbs::all().filter(|row| row.group == group).map(|row| row.shown).filter(|shown| !shown.is_empty()).collect();
        for (place, verb) in shown.iter().enumerate() {
            let comma = if place + 1 < shown.len() { "," } else { "" };
            let space = if line.len() > INDENT { " " } else { "" };
            if line.len() + space.len() + verb.len() + comma.len() > WIDTH {
                text.push_str(&line);
                line = format!("\n{:INDENT$}{verb}{comma}", "");
            } else {
                line.push_str(&format!("{space}{verb}{comma}"));
            }
        }
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str(
        "\n  git axiom help           all verbs\n  git axiom help VERB      one of them, with its options; VERB -h does the same\n  \
         git axiom status         what is happening right now\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overview_names_every_verb_and_fits_a_small_terminal() {
        let text = overview_text();
        let words: Vec<&str> = text.split([' ', ',', ';', '\n']).collect();
        for verb in verbs::all().filter(|row| row.group != VerbGroup::Hidden && !row.name.contains(' ')) {
            assert!(words.contains(&verb.name), "{}", verb.name);
        }
        assert!(text.lines().count() < 23 && text.lines().all(|line| line.len() <= 80), "{text}");
    }
}
