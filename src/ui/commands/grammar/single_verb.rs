//! The grammar with the called verb alone: clap gives each verb that it knows a copy of the options that every verb takes,
//! which costs a page of memory a verb.

use std::ffi::{OsStr, OsString};
use std::mem::ManuallyDrop;

use clap::{Args, Command, CommandFactory};

use super::arguments::{Cli, GlobalArgs};
use super::lazy_args::MAX_WIDTH;
use super::overview::overview_text;

/// A grammar that parses this command line as the whole one does: with the called verb alone where only options that every
/// verb takes come before a verb's exact name, and else the whole, whose help is the map of verbs.
pub fn grammar(arguments: &[OsString]) -> Command {
    // Where one verb is called, the others stay until the process ends: to free them costs as much as to parse.
    let whole = ManuallyDrop::new(Cli::command());
    let Some(verb) = first_word(arguments).and_then(|word| whole.find_subcommand(word)) else {
        return ManuallyDrop::into_inner(whole).override_help(overview_text());
    };
    let alone = Command::new("git-axiom").bin_name("git axiom").disable_help_subcommand(true).max_term_width(MAX_WIDTH);
    GlobalArgs::augment_args(alone).subcommand(verb.clone())
}

/// The first word that is neither an option that every verb takes nor its value.
fn first_word(arguments: &[OsString]) -> Option<&OsStr> {
    let mut rest = arguments.iter().skip(1);
    while let Some(word) = rest.next() {
        match word.to_str() {
            Some("--json" | "--non-interactive") => {}
            Some("-C") => drop(rest.next()),
            Some(_) | None => return Some(word),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches;

    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn only_the_called_verb_is_known() {
        let verbs = |line: &str| grammar(&words(line)).get_subcommands().count();
        let all = Cli::command().get_subcommands().count();
        for line in
            ["git-axiom status", "git-axiom -C status --json --non-interactive -C x task list", "git-axiom checkpoints nonsense"]
        {
            assert_eq!(verbs(line), 1, "{line}");
        }
        for line in
            ["git-axiom", "git-axiom -C", "git-axiom statu", "git-axiom -h status", "git-axiom -- status", "git-axiom -Cx"]
        {
            assert_eq!(verbs(line), all, "{line}");
        }
    }

    /// Help and errors included, which are rendered with their colours.
    #[test]
    fn it_parses_as_the_whole_grammar_does() {
        let mut lines: Vec<String> = Vec::new();
        for verb in Cli::command().get_subcommands() {
            for name in verb.get_name_and_visible_aliases() {
                lines.extend(
                    ["", " -h", " --help", " help", " --nonsense", " nonsense", " --json -C x", " -C"]
                        .map(|rest| format!("{name}{rest}")),
                );
            }
        }
        for line in &lines {
            let line = words(&format!("git-axiom --json -C y {line}"));
            let [ours, whole] = [grammar(&line), Cli::command()].map(|grammar| {
                let parsed = grammar.try_get_matches_from(&line).and_then(|matches| Cli::from_arg_matches(&matches));
                parsed.map(|cli| format!("{cli:?}")).map_err(|error| error.render().ansi().to_string())
            });
            assert_eq!(ours, whole, "{line:?}");
        }
    }
}
