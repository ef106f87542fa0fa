//! Verbs whose options are built only when they are called.
//!
//! Building the options of some sixty verbs would cost more than the rest of a call. A verb's options are built when clap parses
//! it. Its line in the lists, and those of the verbs below it, are in the table of verbs (`model::verbs`).

use std::ops::Deref;

use clap::builder::{Resettable, StyledStr};
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

use crate::cli::terminal_look::{TerminalLook, columns_told};
use axiom_model::verbs::{self, VerbRow, short_ways};

/// The width of help on a terminal that is wider, in columns.
pub const MAX_WIDTH: usize = 100;

/// A line of help that is shorter was not ended by the width.
const SHORTEST_WRAPPED: usize = 70;

/// The arguments `T` of a verb, or its verbs, built when clap needs them. Code that reads a [`Command`] without parsing must
/// call [`Command::build`] first.
#[derive(Debug)]
pub struct LazyArgs<T>(pub T);

impl<T> Deref for LazyArgs<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Args> Args for LazyArgs<T> {
    fn augment_args(command: Command) -> Command {
        listed(command).defer(|command| described(command, T::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        listed(command).defer(|command| described(command, T::augment_args_for_update))
    }
}

impl<T: Subcommand> Subcommand for LazyArgs<T> {
    fn augment_subcommands(command: Command) -> Command {
        listed(command).defer(|command| described(command, T::augment_subcommands))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        listed(command).defer(|command| described(command, T::augment_subcommands_for_update))
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}

impl<T: FromArgMatches> FromArgMatches for LazyArgs<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }

    fn update_from_arg_matches_mut(&mut self, matches: &mut ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches_mut(matches)
    }
}

/// With what the table says of the verb.
fn listed(command: Command) -> Command {
    let row = verbs::row(command.get_name());
    let aliases: Vec<&str> = verbs::aliases(command.get_name()).collect();
    let is_hidden = row.is_some_and(|row| row.group == verbs::VerbGroup::Hidden);
    summed_up(command, row).hide(is_hidden).visible_aliases(aliases)
}

/// With the verb's own line: the type's documentation is for programmers.
fn summed_up(command: Command, row: Option<&VerbRow>) -> Command {
    let summary = row.map(|row| StyledStr::from(row.summary));
    command.about(Resettable::from(summary)).long_about(Resettable::Reset)
}

/// Adds the arguments, and what the table says of the verb and of those below it.
fn described(command: Command, augment: fn(Command) -> Command) -> Command {
    let name = command.get_name().to_owned();
    let below = |command: Command| match verbs::row_below(&name, command.get_name()) {
        Some(row) => command.about(row.summary).long_about(Resettable::Reset),
        None => command,
    };
    let described = summed_up(augment(command).mut_subcommands(|verb| for_this_terminal(below(verb))), verbs::row(&name));
    let described = for_this_terminal(described);
    match short_ways::commonest(&name) {
        Some(common) => described.before_help(format!("'git axiom {name}' alone: 'git axiom {name} {common}'")),
        None => described,
    }
}

/// Where the terminal is narrower than the lines that were wrapped by hand, they are wrapped anew for it. In a pipe clap goes by COLUMNS.
fn for_this_terminal(command: Command) -> Command {
    let columns = TerminalLook::of(false).columns().or_else(columns_told);
    let is_narrow = columns.is_some_and(|columns| columns < MAX_WIDTH);
    match command.get_after_help().filter(|_| is_narrow).map(ToString::to_string) {
        Some(text) => command.after_help(with_whole_paragraphs(&text)),
        None => command,
    }
}

/// A text whose paragraphs are one line each. What is set in, or in columns, stays as it is.
fn with_whole_paragraphs(text: &str) -> String {
    let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ') && !line.contains("  ");
    let mut whole = String::with_capacity(text.len());
    let mut before = "";
    for line in text.lines() {
        let goes_on = is_prose(before) && is_prose(line) && before.len() >= SHORTEST_WRAPPED;
        whole.push_str(if goes_on { " " } else { "\n" });
        whole.push_str(line);
        before = line;
    }
    whole.trim_start_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::commands::grammar::arguments::Cli;

    #[test]
    fn verbs_are_built_when_they_are_needed_and_described_as_in_the_list() {
        let mut command = Cli::command();
        let listed: Vec<_> = command.get_subcommands().map(|verb| verb.get_about().cloned()).collect();
        assert!(listed.iter().all(Option::is_some));
        assert!(command.get_subcommands().all(|verb| verb.get_arguments().next().is_none() && !verb.has_subcommands()));
        command.build();
        let built: Vec<_> = command.get_subcommands().map(|verb| verb.get_about().cloned()).collect();
        assert_eq!(built, listed);
        assert!(command.get_subcommands().all(|verb| verb.get_arguments().next().is_some()));
    }

    /// A verb without a row would be everybody's, and one without a verb a promise that nothing keeps.
    #[test]
    fn every_verb_has_a_row_and_every_row_a_verb() {
        fn walk(command: &Command, above: &str, seen: &mut Vec<String>) {
            for verb in command.get_subcommands().filter(|verb| above.is_empty() || verb.get_name() != "help") {
                let name = format!("{above} {}", verb.get_name()).trim_start().to_owned();
                let row = verbs::row(&name).unwrap_or_else(|| panic!("'{name}' has no row"));
                assert_eq!(verb.get_about().map(ToString::to_string).as_deref(), Some(row.summary), "{name}");
                assert_eq!(verb.is_hide_set(), row.group == verbs::VerbGroup::Hidden, "{name}");
                let aliases: Vec<_> = verb.get_all_aliases().collect();
                assert_eq!(aliases, verbs::aliases(&name).collect::<Vec<_>>(), "{name}");
                for word in row.callers.words() {
                    let known = verb.get_arguments().any(|arg| {
                        let long = arg.get_long().map(|long| format!("--{long}"));
                        let short = arg.get_short().map(|short| format!("-{short}"));
                        arg.is_positional() || [long, short].contains(&Some(word.to_owned()))
                    });
                    assert!(known, "'{name}' has no {word}");
                }
                walk(verb, &name, seen);
                seen.push(name);
            }
        }
        let mut command = Cli::command();
        command.build();
        let mut seen = Vec::new();
        walk(&command, "", &mut seen);
        let missing: Vec<_> = verbs::all().filter(|row| !seen.iter().any(|name| name == row.name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn only_paragraphs_that_the_width_has_wrapped_are_made_whole() {
        let long = "a line of a paragraph that is as long as the help of a verb is wide, and so";
        assert_eq!(
            with_whole_paragraphs(&format!("{long}\ngoes on.\n\n  set in\nkey  x")),
            format!("{long} goes on.\n\n  set in\nkey  x")
        );
        assert_eq!(with_whole_paragraphs("short\nlines"), "short\nlines");
    }

    #[test]
    fn the_grammar_of_every_verb_is_sound() {
        Cli::command().debug_assert();
    }
}
