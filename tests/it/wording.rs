//! Rules for all that is said, held against the sources: commands that are named exist, numbers agree with their words, and
//! nothing is shown as only programmers would read it.

use std::path::Path;

use clap::{Command, CommandFactory};
use git_axiom::ui::commands::grammar::arguments::Cli;
use regex_automata::meta::Regex;

/// The sources, without their tests.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = walkdir::WalkDir::new(&root).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    let below = |entry: &walkdir::DirEntry| entry.path().strip_prefix(&root).unwrap().display().to_string();
    let text = |entry: walkdir::DirEntry| {
        let name = entry.path().display().to_string();
        let text = std::fs::read_to_string(entry.path()).unwrap();
        (name, text.split("#[cfg(test)]").next().unwrap().to_owned())
    };
    files.filter(|entry| !crate::source_paths::is_of_tests(&below(entry))).map(text).collect()
}

/// The lines of code: no comments for programmers.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// What is wrong with a command that is named, `git axiom` left out: a verb or an option that does not exist.
fn wrong(grammar: &Command, named: &str) -> Option<String> {
    let mut at = grammar;
    for (place, word) in named.split_whitespace().enumerate() {
        // What follows is a program of the user's.
        if word == "--" {
            return None;
        }
        if let Some(option) = word.strip_prefix("--") {
            let name = option.split(['=', ',', '.', '|', ']']).next().unwrap_or_default();
            let known = |command: &Command| command.get_arguments().any(|argument| argument.get_long() == Some(name));
            if !(known(at) || known(grammar) || matches!(name, "help" | "version")) {
                return Some(format!("--{name}"));
            }
        } else if let Some(verb) = at.find_subcommand(word.trim_end_matches([',', '.', ';', ':'])) {
            at = verb;
        } else if place == 0 && word.starts_with(|c: char| c.is_ascii_lowercase()) {
            return Some(word.to_owned());
        } else if place == 0 {
            // The verb is put in later.
            return None;
        }
    }
    None
}

#[test]
fn every_command_that_is_named_exists() {
    let mut grammar = Cli::command();
    grammar.build();
    let mut found = 0;
    for (file, text) in sources() {
        let text = code(&text).collect::<Vec<_>>().join(" ").replace("\\n", " ").replace("\\ ", " ");
        // In quotes, or as a hint of its own, which an explanation may follow.
        let quoted = text.split("'git axiom ").skip(1).map(|rest| rest.split('\'').next().unwrap());
        let own = |marker: &'static str| {
            text.split(marker)
                .skip(1)
                .map(|rest| rest.split("    ").next().unwrap().split('"').next().unwrap())
                .collect::<Vec<_>>()
        };
        for named in quoted.chain(own("hint(\"git axiom ")).chain(own("hint(format!(\"git axiom ")) {
            found += 1;
            assert_eq!(wrong(&grammar, named), None, "{file}: git axiom {named}");
        }
    }
    assert!(found > 100, "{found}");
}

/// The commands that a page names: in its blocks of code, and in quotes of code between.
fn on_page(page: &str) -> Vec<String> {
    let (blocks, rest) = crate::pages::blocks_and_rest(page);
    let rest = rest.replace('\n', " ");
    let quoted = rest.split('`').skip(1).step_by(2).filter_map(|code| code.strip_prefix("git axiom "));
    let lines = blocks.into_iter().flat_map(str::lines).flat_map(|line| line.split("git axiom ").skip(1));
    quoted.chain(lines).map(|named| named.replace('\\', "").replace(['\'', '"', ')'], " ")).collect()
}

#[test]
fn every_command_that_a_page_names_exists() {
    let mut grammar = Cli::command();
    grammar.build();
    let mut found = 0;
    let mut wrongly = Vec::new();
    for (page, text) in crate::pages::pages() {
        for named in on_page(&text) {
            found += 1;
            wrongly.extend(wrong(&grammar, &named).map(|word| format!("{page}: git axiom {named}: {word}")));
        }
    }
    assert!(wrongly.is_empty(), "{wrongly:#?}");
    assert!(found > 150, "{found}");
}

/// `1 agents` was shown: numbers go through `model::plural`.
#[test]
fn numbers_agree_with_their_words() {
    let things = [
        "agent",
        "branche",
        "capture",
        "checkpoint",
        "commit",
        "day",
        "event",
        "file",
        "gate",
        "line",
        "object",
        "operation",
        "page",
        "path",
        "processe",
        "question",
        "signal",
        "task",
        "thing",
        "tool",
        "workspace",
        "worktree",
    ];
    let mut wrong = Vec::new();
    for (file, text) in sources().iter().filter(|(file, _)| !file.contains("/demo/")) {
        for line in code(text) {
            for thing in things {
                for end in ["s ", "s\"", "s,", "s.", "s:", "s\\n", "s)"] {
                    let word = format!("}} {thing}{end}");
                    // A limit has a name in capitals, and is never one.
                    let of_number = |(before, _): &(&str, &str)| !before.ends_with(|c: char| c.is_ascii_uppercase() || c == '_');
                    if line.split_once(&word).filter(of_number).is_some() {
                        wrong.push(format!("{file}: {line}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// `LeftoversEnded { ended: [] }` was shown: what people read is made for them. A character in quotes reads the same.
#[test]
fn nothing_is_shown_as_programmers_see_it() {
    for (file, text) in sources().iter().filter(|(file, _)| !file.contains("/demo/")) {
        for line in code(text).filter(|line| !line.contains("the character {c:?}") && !line.contains("assert")) {
            assert!(!line.contains(":?}"), "{file}: {line}");
        }
    }
}

#[test]
fn every_question_can_be_answered_by_y_on_the_command_line() {
    fn check(command: &Command, found: &mut usize) {
        for argument in command.get_arguments().filter(|argument| argument.get_long() == Some("yes")) {
            assert_eq!(argument.get_short(), Some('y'), "{}", command.get_name());
            *found += 1;
        }
        command.get_subcommands().for_each(|verb| check(verb, found));
    }
    let mut grammar = Cli::command();
    grammar.build();
    let mut found = 0;
    check(&grammar, &mut found);
    assert!(found >= 9, "{found}");
}

/// A task is a task or a group, and what undo takes back is an operation: these were other words for them.
const ONCE: [&str; 10] =
    ["case", "cases", "directive", "directives", "epic", "epics", "sprint", "transaction", "transactions", "txn"];

/// Where they stand for something else.
const OTHERWISE: [(&str, &str); 16] = [
    ("lower-case", "of letters"),
    ("lower case", "of letters"),
    ("case, invisible characters", "of letters"),
    ("regard to case", "of letters"),
    ("ignores case", "of letters"),
    ("kebab-case", "of serde"),
    ("snake_case", "of serde"),
    ("cases.jsonl", "a file whose name stays"),
    ("--from cases", "a choice of `recover`, named after that file"),
    ("backup, cases, checkpoint", "the choices of `recover`"),
    ("`cases`", "that choice on a page, and a key of `planning-state.json`"),
    ("\"cases\"", "that choice and that key in the sources"),
    ("\"case\"", "a word that a shell or another program's task may have"),
    ("\"add-case\"", "an older name of `plan add`"),
    ("reference-transaction", "a hook of git"),
    ("\"txn\":", "a key of the stored log"),
];

/// The words of other programs for the kinds of tasks: they are read, and never written.
const READ_ONLY: &str = "src/model/work/tasks/task.rs";

/// Those of [`ONCE`] that a text says.
fn said_of_once(text: &str) -> Vec<String> {
    let mut text = text.to_owned();
    for (phrase, _) in OTHERWISE {
        text = text.replace(phrase, " ");
        let mut first = phrase.chars();
        let capital: String = first.next().into_iter().flat_map(char::to_uppercase).chain(first).collect();
        text = text.replace(&capital, " ");
    }
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase);
    words.filter(|word| ONCE.contains(&word.as_str())).collect()
}

/// What a source may print: its strings, one a line, without the names of variables in them.
fn strings(text: &str) -> String {
    let tokens = Regex::new(r##"(?s)//[^\n]*|r#".*?"#|"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^'\\])'"##).unwrap();
    let variables = Regex::new(r"\{\w+(:[^}]*)?\}").unwrap();
    let mut all = String::new();
    for found in
        tokens.find_iter(text).map(|found| &text[found.range()]).filter(|found| found.contains('"') && !found.starts_with("//"))
    {
        let mut at = 0;
        for variable in variables.find_iter(found) {
            all.push_str(&found[at..variable.start()]);
            at = variable.end();
        }
        all.push_str(&found[at..]);
        all.push('\n');
    }
    all
}

#[test]
fn a_thing_has_one_name_in_all_that_is_said() {
    let mut found = Vec::new();
    let mut look = |place: &str, text: &str| found.extend(said_of_once(text).into_iter().map(|word| format!("{place}: {word}")));
    for (file, text) in sources().iter().filter(|(file, _)| !file.ends_with(READ_ONLY)) {
        look(file, &strings(text));
    }
    for (page, text) in crate::pages::pages() {
        look(&page, &text);
    }
    fn help(command: &mut Command, look: &mut impl FnMut(&str, &str)) {
        let text = command.render_long_help().to_string();
        look(command.get_bin_name().unwrap_or_default(), &text);
        command.get_subcommands_mut().for_each(|below| help(below, look));
    }
    let mut grammar = Cli::command();
    grammar.build();
    help(&mut grammar, &mut look);
    assert!(found.is_empty(), "docs/GLOSSARY.md has the words: {found:#?}");
}

#[test]
fn a_second_name_is_found() {
    assert_eq!(said_of_once("The cases of an Epic; in lower case, caseStates and cases.jsonl"), ["cases", "epic"]);
    assert_eq!(strings("let txn = \"undo {txn} of a case\"; // a case\n"), "\"undo  of a case\"\n");
}
