//! The name of the called verb with all its words: `task add`.

use std::ffi::{OsStr, OsString};

use clap::{ArgMatches, Command, CommandFactory};

use super::arguments::Cli;

/// The verb of a parsed command line.
pub fn verb(matches: &ArgMatches) -> Option<String> {
    let (first, mut matches) = matches.subcommand()?;
    let mut words = first.to_owned();
    while let Some((next, below)) = matches.subcommand() {
        words = format!("{words} {next}");
        matches = below;
    }
    Some(words)
}

/// The verb of a command line that cannot be parsed, as far as it can be recognised.
pub fn verb_meant(arguments: &[OsString]) -> Option<String> {
    let mut whole = Cli::command();
    whole.build();
    let (mut at, mut words): (&Command, Vec<&str>) = (&whole, Vec::new());
    let mut rest = arguments.iter().skip(1);
    while let Some(argument) = rest.next() {
        if argument == "--" {
            break;
        }
        if argument.to_string_lossy().starts_with('-') {
            if takes_the_next(at, argument) {
                rest.next();
            }
            continue;
        }
        let Some(next) = at.find_subcommand(argument) else { break };
        words.push(next.get_name());
        at = next;
    }
    (!words.is_empty()).then(|| words.join(" "))
}

/// Whether the argument after this option is its value.
fn takes_the_next(command: &Command, option: &OsStr) -> bool {
    let Some(text) = option.to_str() else { return false };
    let named = |arg: &&clap::Arg| {
        let long = arg.get_long().is_some_and(|long| text.strip_prefix("--") == Some(long));
        long || arg.get_short().is_some_and(|short| text.strip_prefix('-') == Some(short.encode_utf8(&mut [0; 4])))
    };
    command.get_arguments().find(named).is_some_and(|arg| arg.get_action().takes_values())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verb_is_told_from_a_command_line_that_is_not_understood() {
        for (line, verb) in [
            ("git-axiom", None),
            ("git-axiom nonsense", None),
            ("git-axiom --json task", Some("task")),
            ("git-axiom -C task checkpoint show", Some("checkpoint show")),
            ("git-axiom checkpoints list -n many", Some("checkpoint list")),
            ("git-axiom task ad", Some("task")),
            ("git-axiom task --json add", Some("task add")),
            ("git-axiom rollback --nonsense checkpoint", Some("rollback checkpoint")),
            ("git-axiom stop -- kill", Some("stop")),
            ("git-axiom task -- add", Some("task")),
        ] {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(verb_meant(&arguments).as_deref(), verb, "{line}");
        }
    }
}
