//! Who may know whom: the arrows of docs/ARCHITECTURE.md, held against the paths that the source names. And names of ours, which
//! are spelled out in one place.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What each place may name, itself aside.
const ARROWS: [(&str, &[&str]); 17] = [
    ("error", &[]),
    ("env", &["error"]),
    ("own_process", &["error"]),
    ("domain", &["error"]),
    ("files", &["error", "env"]),
    ("config", &["error", "env", "files", "domain"]),
    ("store", &["error", "env", "own_process", "files", "domain"]),
    ("process", &["error", "env", "own_process", "files", "domain"]),
    ("hook", &["error", "env", "files", "domain", "process"]),
    ("git", &["error", "env", "own_process", "files", "domain", "process"]),
    ("ops", &["error", "env", "own_process", "files", "domain", "config", "store", "process", "git", "hook"]),
    ("cli", &["error", "env", "own_process", "files", "domain"]),
    ("demo", &["error", "env", "files", "domain", "process", "cli"]),
    ("wording", &["error", "env", "domain", "hook", "ops", "cli"]),
    ("panel", &["error", "env", "own_process", "domain", "ops", "cli", "wording"]),
    ("commands", &["error", "env", "files", "domain", "own_process", "config", "hook", "ops", "cli", "wording", "panel", "demo"]),
    ("main", &["env", "commands"]),
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

/// The files of the source, by their paths below it.
pub fn sources() -> Vec<(String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let all = walkdir::WalkDir::new(&src).into_iter().map(|entry| entry.unwrap().into_path());
    let files: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|end| end == "rs")).collect();
    let named = |file: &PathBuf| file.strip_prefix(&src).unwrap().to_str().unwrap().to_owned();
    files.iter().map(|file| (named(file), std::fs::read_to_string(file).unwrap())).collect()
}

/// The names in a line of code that are ours, and that only one file may spell out.
fn names_of_ours(line: &str) -> Vec<&'static str> {
    let code = line.split("//").next().unwrap_or_default();
    let texts: Vec<&str> = code.split('"').skip(1).step_by(2).collect();
    let names = ["refs/axiom", "refs/tags/axiom", "refs/heads/axiom", "refs/notes/axiom", "axiom/tmp", "worktrees/"];
    names.into_iter().filter(|name| texts.iter().any(|text| text.contains(name))).collect()
}

#[test]
fn names_of_ours_are_spelled_out_in_one_place() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let of_tests = path.ends_with("tests.rs") || path.contains("/tests/") || path.ends_with("/scratch.rs");
        if of_tests || path == "domain/base/own_names.rs" {
            continue;
        }
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for line in code.lines().filter(|line| !names_of_ours(line).is_empty()) {
            wrong.push(format!("{path}: {}", line.trim()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn names_of_ours_are_found_in_texts_and_not_in_comments() {
    assert_eq!(names_of_ours(r#"let x = format!("refs/axiom/kept/{txn}"); // "axiom/tmp""#), ["refs/axiom"]);
    assert_eq!(names_of_ours(r#"name.starts_with("worktrees/")"#), ["worktrees/"]);
    assert!(names_of_ours("/// as refs/axiom/captures").is_empty());
}

#[test]
fn each_place_names_only_what_it_may_know() {
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.into_iter().collect();
    let places: BTreeSet<&str> = allowed.keys().copied().collect();
    let mut wrong = BTreeSet::new();
    for (path, text) in sources() {
        let place = path.split(['/', '.']).next().unwrap();
        let Some(may) = allowed.get(place) else {
            assert_eq!(place, "lib", "{path} is in no place that the arrows know");
            continue;
        };
        for line in text.lines() {
            let others = named(line).into_iter().filter(|name| places.contains(name) && *name != place);
            wrong.extend(others.filter(|name| !may.contains(name)).map(|name| format!("{path} names {name}: {}", line.trim())));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn paths_are_found_in_every_way_to_write_them() {
    assert_eq!(named("use crate::git::Repository;"), ["git"]);
    assert_eq!(named("use crate::{cli, ops::merge}; // crate::store"), ["cli", "ops"]);
    assert_eq!(named("pub(in crate::ops) fn f(x: crate::error::Error) {"), ["ops", "error"]);
    assert_eq!(named("use git_axiom::{commands, env};"), ["commands", "env"]);
    assert!(named("let x = 1;").is_empty());
}
