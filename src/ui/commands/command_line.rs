//! One command line: parsing it, calling its verb, reporting the result.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};

use super::grammar::arguments::Cli;
use super::grammar::{complete, single_verb, usage_error, verb_name};
use super::taste::GitTaste;
use super::{VerbExit, dispatch, hook, version, working_dir};
use crate::cli::report;
use crate::cli::screen::Screen;
use axiom_base::env;
use axiom_base::error::Exit;
use axiom_base::own_process::{end_signals, limits, verb as own_verb};
use axiom_model::verbs::short_ways;

/// Runs one command line and returns its exit status. Errors have been reported by then.
pub fn run(arguments: Vec<OsString>) -> VerbExit {
    if env::var("NO_COLOR").is_some() {
        console::set_colors_enabled(false);
        console::set_colors_enabled_stderr(false);
    }
    if let Some(ended) = hook::at_once(&arguments) {
        return ended;
    }
    if let Some(ended) = version::at_once(&arguments) {
        return ended;
    }
    if let Some(candidates) = complete::answer(&arguments) {
        // If the shell has closed the pipe, the candidates are not needed.
        let _ = Screen::new(false, None).write(&candidates);
        return VerbExit::Ours(Exit::Done);
    }
    let arguments = short_ways::written_out(&arguments);
    // Parsing errors are to be reported as JSON too, so this is checked before parsing.
    let json = arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json");
    let called = called(&arguments);
    let parsed = single_verb::grammar(&arguments).try_get_matches_from(&arguments).and_then(|mut matches| {
        let verb = verb_name::verb(&matches);
        let cli = Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut Cli::command()))?;
        Ok((cli, verb))
    });
    let (cli, verb) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            let (meant, said) = (
                || verb_name::verb_meant(&arguments),
                || usage_error::with_odd_dashes(usage_error::explained(&error, &arguments), &arguments),
            );
            return VerbExit::Ours(report::usage(
                &error,
                json,
                Box::new(GitTaste::from(env::current_dir().unwrap_or_default())),
                meant,
                said,
            ));
        }
    };
    report::start_tracing();
    limits::say_what_is_too_large();
    verb.as_deref().into_iter().for_each(own_verb::set);
    let taste = Box::new(GitTaste::from(working_dir(&cli.global).unwrap_or_default()));
    let mut screen = Screen::new(cli.global.json, verb).without_questions(cli.global.non_interactive).to_the_taste_of(taste);
    match limits::check_memory().and_then(|()| dispatch(cli, &mut screen)) {
        Ok(ended) => match end_signals::signal_that_waited() {
            Some(signal) => {
                screen.complain(&format!("{signal} was received; the operation was finished first"));
                VerbExit::Ours(Exit::Interrupted)
            }
            None => ended,
        },
        Err(error) => {
            let said = error.not_hinting_at(&called);
            let is_usage = said.code().exit() == Exit::Usage;
            let said = if is_usage { usage_error::with_odd_dashes(said, &arguments) } else { said };
            VerbExit::Ours(report::error(&mut screen, &said))
        }
    }
}

/// The words of the command line without the program and what every verb takes.
fn called(arguments: &[OsString]) -> String {
    let words = arguments.iter().skip(1).filter(|word| *word != "--json" && *word != "--non-interactive");
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
