//! Verbs whose options are built only when they are called.
//!
//! Building the options of some sixty verbs would cost more than the rest of a call. A verb's name and its line in the list
//! of verbs are in `arguments`; its options are built when clap parses it.

use std::ops::Deref;

use clap::builder::Resettable;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

/// The arguments `T` of a verb, or its verbs, built when clap needs them. Code that reads a [`Command`] without parsing must
/// call [`Command::build`] first.
#[derive(Debug)]
pub struct Later<T>(pub T);

impl<T> Deref for Later<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Args> Args for Later<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| described(command, T::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(|command| described(command, T::augment_args_for_update))
    }
}

impl<T: Subcommand> Subcommand for Later<T> {
    fn augment_subcommands(command: Command) -> Command {
        command.defer(|command| described(command, T::augment_subcommands))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        command.defer(|command| described(command, T::augment_subcommands_for_update))
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}

impl<T: FromArgMatches> FromArgMatches for Later<T> {
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

/// Adds the arguments, but keeps the description from the list of verbs: the type's own documentation is for programmers.
fn described(command: Command, augment: fn(Command) -> Command) -> Command {
    let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
    augment(command).about(Resettable::from(about)).long_about(Resettable::from(long_about))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

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

    #[test]
    fn the_grammar_of_every_verb_is_sound() {
        Cli::command().debug_assert();
    }
}
