//! What is said of a command line that cannot be understood: what is wrong with it, what may be meant, and where to look it up.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::verb_name;
use axiom_base::error::{Code, Error};
use axiom_base::shell_word::shell_word;
use axiom_model::base::forms::nearest;
use axiom_model::verbs::{self, VerbGroup, meant};

/// Where the values of an argument are listed, by its name in the help.
const LISTED: &[(&str, &str)] = &[
    ("TASK", "git axiom task list    lists the tasks"),
    ("ID", "git axiom task list    lists the tasks"),
    ("AGENT", "git axiom status    lists the agents that work"),
    ("AGENT|TASK", "git axiom status    lists the agents that work, 'git axiom task list' the tasks"),
    ("GATE", "git axiom gate list    lists what waits for you"),
    ("OPERATION", "git axiom log    lists the operations"),
    ("NUMBER", "git axiom prompts    lists the prompts"),
    ("EVENT", "git axiom hooks list    lists the hooks and their events"),
];

/// Options of other programs, and the call that does what they mean.
const OPTIONS: &[(&str, &[&str], &str)] = &[
    ("", &["-v", "-V", "--verbose"], "git axiom --version    prints the version; with --verbose, what a report of a fault needs"),
    ("log", &["--oneline", "--graph"], "git axiom log -10    has a line for each operation"),
    ("graph", &["--oneline"], "git axiom graph    has a line for each of them"),
    ("status", &["-s", "--short"], "git axiom status    is short; --json is for scripts"),
    ("undo", &["--last"], "git axiom undo    undoes the last operation"),
    ("checkpoint list", &["--all", "-a"], "git axiom checkpoint list    lists all"),
    ("task list", &["--all", "-a"], "git axiom task list    lists all but the archived ones"),
    ("checkpoint", &["-m", "--message"], "git axiom checkpoint create NAME    saves everything under a name"),
    ("checkpoint create", &["-m", "--message"], "git axiom checkpoint create NAME    saves everything under a name"),
    (
        "rollback",
        &["--hard", "--soft"],
        "git axiom rollback NAME    goes back to a checkpoint, after a checkpoint of what is there",
    ),
];

/// What clap could not understand, as an error of ours.
pub fn explained(error: &clap::Error, arguments: &[OsString]) -> Error {
    // If one of git axiom's own types refused a value, its error has the reason.
    if let Some(own) = std::error::Error::source(error).and_then(|source| source.downcast_ref::<Error>()) {
        return own.again();
    }
    let verb = verb_name::verb_meant(arguments).unwrap_or_default();
    let call = format!("git axiom {verb}").trim_end().to_owned();
    #[allow(clippy::wildcard_enum_match_arm)] // clap may get more kinds
    let report = match error.kind() {
        _ if mistyped(&verb, arguments).is_some() => {
            let (word, rest) = mistyped(&verb, arguments).unwrap_or_default();
            no_such_verb(&verb, &word, &rest.iter().map(String::as_str).collect::<Vec<_>>())
        }
        ErrorKind::InvalidSubcommand => unknown_verb(&verb, text(error, ContextKind::InvalidSubcommand), arguments),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Error::new(Code::Usage, format!("a verb is missing after '{call}'"))
        }
        ErrorKind::MissingRequiredArgument => missing(error, &call),
        ErrorKind::UnknownArgument => unknown_argument(error, (&verb, &call), arguments),
        ErrorKind::InvalidValue => invalid_value(error),
        ErrorKind::ValueValidation => not_valid(error),
        ErrorKind::ArgumentConflict if verb == "rollback" && first_sentence(error).contains("[NAME]") => {
            let files = "git axiom rollback … -- FILE    files follow '--'; a NAME is that of a checkpoint";
            Error::new(Code::Usage, first_sentence(error)).hint(files)
        }
        _ => Error::new(Code::Usage, first_sentence(error)),
    };
    let report = match below(&verb) {
        names if names.is_empty() || error.kind() == ErrorKind::UnknownArgument => report,
        names => report.hint(format!("verbs of '{verb}' are {}", names.join(", "))),
    };
    // What may not be combined stands beside each other in a usage.
    let says_nothing = matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::ArgumentConflict);
    let is_told = |usage: &String| !says_nothing && usage != "git axiom --version";
    let report = match usage(error).filter(is_told) {
        Some(usage) => report.hint(format!("usage: {usage}")),
        None => report,
    };
    report.hint(match verb.as_str() {
        "" => "git axiom help --all    lists all verbs".to_owned(),
        _ => format!("{call} -h    says all of it"),
    })
}

/// With a word about a dash that only looks like one, as texts on the web have them: no option begins with it.
#[must_use]
pub fn with_odd_dashes(error: Error, arguments: &[OsString]) -> Error {
    let own = arguments.iter().skip(1).take_while(|word| *word != "--");
    own.filter_map(|word| plain_dashes(&word.to_string_lossy()).map(|plain| (word.to_string_lossy().into_owned(), plain)))
        .fold(error, |error, (word, plain)| error.hint(format!("'{word}' begins with a dash of texts: did you mean '{plain}'?")))
}

/// A word that begins with dashes of texts, with those of a command line.
fn plain_dashes(word: &str) -> Option<String> {
    const ODD: [char; 5] = ['\u{2010}', '\u{2011}', '\u{2013}', '\u{2014}', '\u{2212}'];
    let name = word.trim_start_matches(|c: char| c == '-' || ODD.contains(&c));
    let dashes = &word[..word.len() - name.len()];
    let is_odd = dashes.contains(ODD) && name.starts_with(|c: char| c.is_ascii_alphanumeric());
    is_odd.then(|| if name.chars().count() == 1 { format!("-{name}") } else { format!("--{name}") })
}

/// The error for a verb that does not exist, below another or below none.
pub fn no_such_verb(above: &str, word: &str, rest: &[&str]) -> Error {
    let what = match above {
        "" => format!("there is no verb '{word}'"),
        above => format!("'{above}' has no verb '{word}'"),
    };
    let error = Error::new(Code::Usage, what);
    meant::calls(above, word, rest).into_iter().fold(error, |error, call| error.hint(format!("did you mean 'git axiom {call}'?")))
}

fn unknown_verb(above: &str, word: String, arguments: &[OsString]) -> Error {
    let all: Vec<String> = arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let at = all.iter().rposition(|argument| *argument == word).unwrap_or(all.len());
    let rest: Vec<&str> = all.iter().skip(at + 1).map(String::as_str).filter(|word| !is_of_every_verb(word)).collect();
    match (above, word.as_str(), rest.as_slice()) {
        ("config", "set", [key, value, ..]) if key.contains('.') => {
            let key = format!("axiom.{}", key.strip_prefix("axiom.").unwrap_or(key));
            let set = format!("git config {} {}    sets it in this repository", shell_word(&key), shell_word(value));
            Error::new(Code::Usage, "'config' has no verb 'set'").hint(set).hint("git axiom config show    shows every value")
        }
        ("recover", word, _) => Error::new(Code::Usage, format!("'recover' has no verb '{word}'"))
            .hint(format!("git axiom recover inspect {}    if it is a task", shell_word(word))),
        (above, word, rest) => {
            let error = no_such_verb(above, word, rest);
            let is_meant = !error.hints().is_empty();
            match above {
                _ if is_meant => error,
                "checkpoint" => {
                    error.hint(format!("git axiom checkpoint create {}    saves everything under this name", shell_word(word)))
                }
                "gate" => error.hint(format!("git axiom gate show {}    if it waits there", shell_word(word))),
                "task" if word.contains(' ') => error.hint(format!("git axiom task add {}    adds a task", shell_word(word))),
                _ => error,
            }
        }
    }
}

/// The first word after a verb that has others below it, where that word is meant to be one of them: `prompts show 1`; with what follows.
fn mistyped(verb: &str, arguments: &[OsString]) -> Option<(String, Vec<String>)> {
    if verb.is_empty() || verb == "recover" || verb == "config" || below(verb).is_empty() {
        return None;
    }
    let all = arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).take_while(|word| word != "--");
    let last = verb.rsplit(' ').next().unwrap_or_default();
    let is_it = |word: &String| word == last || verbs::aliases(verb).any(|alias| alias == word);
    let mut rest = all.skip_while(|word| !is_it(word)).skip(1).filter(|word| !is_of_every_verb(word));
    let word = rest.next().filter(|word| !word.starts_with('-'))?;
    let rest: Vec<String> = rest.collect();
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    (!meant::calls(verb, &word, &words).is_empty()).then_some((word, rest))
}

fn is_of_every_verb(word: &str) -> bool {
    matches!(word, "--json" | "--non-interactive")
}

fn missing(error: &clap::Error, call: &str) -> Error {
    let names = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(names)) => names.clone(),
        Some(ContextValue::String(name)) => vec![name.clone()],
        Some(_) | None => Vec::new(),
    };
    let plain: Vec<String> = names.iter().map(|name| name.replace(['<', '>'], "").trim_end_matches("...").to_owned()).collect();
    let verb = if plain.len() == 1 { "is" } else { "are" };
    let report = Error::new(Code::Usage, format!("{} {verb} missing after '{call}'", plain.join(" and ")));
    let first = plain.first().map(String::as_str).unwrap_or_default();
    let checkpoint = call.contains("checkpoint") || call.contains("restore");
    match LISTED.iter().find(|(name, _)| *name == first) {
        Some((_, hint)) => report.hint(*hint),
        None if checkpoint && first == "NAME" => report.hint("git axiom checkpoint list    lists the checkpoints"),
        None => report,
    }
}

fn unknown_argument(error: &clap::Error, (verb, call): (&str, &str), arguments: &[OsString]) -> Error {
    let word = text(error, ContextKind::InvalidArg);
    if !word.starts_with('-') {
        let report = Error::new(Code::Usage, format!("'{word}' is more than '{call}' takes"));
        return match verb {
            "rollback" => report.hint(format!("git axiom restore NAME {}    brings back files alone", shell_word(&word))),
            "run" => report.hint(format!("git axiom run -- {}    runs this program as the agent", shell_word(&word))),
            "checkpoint create" => report.hint(one_word(&word, arguments)),
            _ => report,
        };
    }
    let option = word.split([' ', '=']).next().unwrap_or_default();
    let report = Error::new(Code::Usage, format!("'{call}' has no option '{option}'"));
    let means = |name: &str| name.is_empty() || name == verb;
    if let Some((.., hint)) = OPTIONS.iter().find(|(name, words, _)| means(name) && words.contains(&option)) {
        return report.hint(*hint);
    }
    let number = option.trim_start_matches('-').parse::<u32>().ok();
    if let Some(number) = number.filter(|_| matches!(verb, "rollback" | "rollback checkpoint")) {
        return report.hint(format!("git axiom rollback --prompt {number}    goes back to before this prompt"));
    }
    let suggested = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(name)) => nearest::to(option, [name.as_str()]).map(str::to_owned),
        Some(_) | None => None,
    };
    match suggested {
        Some(name) => report.hint(format!("did you mean '{name}'?")),
        None => report,
    }
}

/// The name that was written as several words.
fn one_word(second: &str, arguments: &[OsString]) -> String {
    let all: Vec<String> = arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let at = all.iter().position(|word| word == second).unwrap_or_default();
    let words = at.checked_sub(1).and_then(|before| all.get(before..)).unwrap_or_default();
    let name: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    format!("git axiom checkpoint create {}    a name is one word", shell_word(&name.join("-")))
}

fn invalid_value(error: &clap::Error) -> Error {
    let (value, argument) = (text(error, ContextKind::InvalidValue), text(error, ContextKind::InvalidArg));
    let possible = match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(names)) => names.clone(),
        Some(_) | None => Vec::new(),
    };
    let option = argument.split(' ').next().filter(|word| word.starts_with('-'));
    if value.is_empty() {
        return Error::new(Code::Usage, format!("{} needs a value", option.unwrap_or(&argument)));
    }
    let of = option.map(|option| format!("{option} takes no '{value}'")).unwrap_or_else(|| format!("'{value}' is not known"));
    let report = Error::new(Code::Usage, of).why(format!("it is one of {}", possible.join(", ")));
    match nearest::to(&value, possible.iter().map(String::as_str)) {
        Some(name) => report.hint(format!("did you mean '{name}'?")),
        None => report,
    }
}

/// A value that its type refuses.
fn not_valid(error: &clap::Error) -> Error {
    let (value, argument) = (text(error, ContextKind::InvalidValue), text(error, ContextKind::InvalidArg));
    let name = argument.split(' ').next().unwrap_or_default().replace(['<', '>', '[', ']'], "");
    let why = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    let is_number = why.contains("digit") || why.contains("float") || why.contains("number") || why.contains("integer");
    if is_number && !name.is_empty() {
        return Error::new(Code::Usage, format!("{name} takes a number, and '{value}' is none"));
    }
    Error::new(Code::Usage, first_sentence(error))
}

/// The verbs below a verb.
fn below(verb: &str) -> Vec<&'static str> {
    if verb.is_empty() {
        return Vec::new();
    }
    let shown = verbs::all().filter(|row| row.group != VerbGroup::Hidden);
    shown.filter_map(|row| row.name.strip_prefix(verb)?.strip_prefix(' ')).collect()
}

fn text(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(_) | None => String::new(),
    }
}

/// The ways to write the verb.
fn usage(error: &clap::Error) -> Option<String> {
    let rendered = error.render().to_string();
    let usage = rendered.split("\n\n").map(str::trim).find_map(|text| text.strip_prefix("Usage:"))?;
    let lines: Vec<&str> = usage.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    Some(lines.join(", or "))
}

fn first_sentence(error: &clap::Error) -> String {
    let rendered = error.render().to_string();
    let first = rendered.split("\n\n").map(str::trim).find(|text| !text.is_empty()).unwrap_or_default();
    first.strip_prefix("error: ").unwrap_or(first).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_of_texts_are_known_and_names_stay_as_they_are() {
        for (word, plain) in [("–prompt", "--prompt"), ("—yes", "--yes"), ("-–dry-run", "--dry-run"), ("–y", "-y"), ("−3", "-3")]
        {
            assert_eq!(plain_dashes(word).as_deref(), Some(plain), "{word}");
        }
        for word in ["--prompt", "-y", "–", "a–b", "", "-", "–/x"] {
            assert_eq!(plain_dashes(word), None, "{word}");
        }
    }
}
