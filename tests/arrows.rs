//! Who may know whom: the arrows of docs/ARCHITECTURE.md, held against the paths that the source names.
#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What each place may name, itself aside.
const ARROWS: [(&str, &[&str]); 12] = [
    ("error", &[]),
    ("env", &["error"]),
    ("domain", &["error"]),
    ("files", &["error", "env"]),
    ("config", &["error", "env", "files", "domain"]),
    ("store", &["error", "env", "files", "domain"]),
    ("process", &["error", "env", "files", "domain"]),
    ("git", &["error", "env", "files", "domain", "process"]),
    ("ops", &["error", "env", "files", "domain", "config", "store", "process", "git"]),
    ("cli", &["error", "env", "files", "domain"]),
    ("commands", &["error", "env", "files", "domain", "config", "ops", "cli"]),
    ("main", &["env", "commands"]),
];

/// Who still reaches past the arrows, and to whom. One that no longer does so has to go from here.
const DEBTS: [(&str, &str); 13] = [
    ("cli/prompt/terminal.rs", "process"),
    ("commands/checkpoint/mod.rs", "git"),
    ("commands/demo/stage.rs", "process"),
    ("commands/events.rs", "store"),
    ("commands/keeper.rs", "process"),
    ("commands/keeper.rs", "store"),
    ("commands/line.rs", "process"),
    ("commands/merge.rs", "process"),
    ("commands/mod.rs", "git"),
    ("commands/recover/damaged.rs", "store"),
    ("commands/recover/mod.rs", "store"),
    ("commands/run.rs", "process"),
    ("commands/signal.rs", "process"),
];

/// The places that a line of code names: what follows `crate::`, or the library's name in the binary.
fn named(line: &str) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or_default();
    let after = |root| code.split(root).skip(1);
    after("crate::").chain(after("git_axiom::")).flat_map(first_words).collect()
}

/// The first word, or those of a list in braces.
fn first_words(rest: &str) -> Vec<&str> {
    let words = match rest.strip_prefix('{') {
        Some(list) => list.split('}').next().unwrap_or_default().split(',').collect(),
        None => vec![rest],
    };
    let word = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_lowercase() || c == '_').len();
    words.into_iter().map(str::trim).map(|text| &text[..word(text)]).filter(|text| !text.is_empty()).collect()
}

#[test]
fn each_place_names_only_what_it_may_know() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.into_iter().collect();
    let places: BTreeSet<&str> = allowed.keys().copied().collect();
    let all = walkdir::WalkDir::new(&src).into_iter().map(|entry| entry.unwrap().into_path());
    let files: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|end| end == "rs")).collect();
    let (mut wrong, mut debts) = (BTreeSet::new(), BTreeSet::new());
    for file in &files {
        let path = file.strip_prefix(&src).unwrap().to_str().unwrap().to_owned();
        let place = path.split(['/', '.']).next().unwrap();
        let Some(may) = allowed.get(place) else {
            assert_eq!(place, "lib", "{path} is in no place that the arrows know");
            continue;
        };
        for line in std::fs::read_to_string(file).unwrap().lines() {
            for name in named(line).into_iter().filter(|name| places.contains(name) && *name != place && !may.contains(name)) {
                match DEBTS.iter().find(|debt| **debt == (path.as_str(), name)) {
                    Some(debt) => drop(debts.insert(*debt)),
                    None => drop(wrong.insert(format!("{path} names {name}: {}", line.trim()))),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(debts, DEBTS.into_iter().collect(), "debts that were paid have to go");
}

#[test]
fn paths_are_found_in_every_way_to_write_them() {
    assert_eq!(named("use crate::git::Repository;"), ["git"]);
    assert_eq!(named("use crate::{cli, ops::merge}; // crate::store"), ["cli", "ops"]);
    assert_eq!(named("pub(in crate::ops) fn f(x: crate::error::Error) {"), ["ops", "error"]);
    assert_eq!(named("use git_axiom::{commands, env};"), ["commands", "env"]);
    assert!(named("let x = 1;").is_empty());
}
