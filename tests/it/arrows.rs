//! Who may know whom: the arrows of docs/ARCHITECTURE.md between the crates and within the smallest of them, held against the paths that
//! the source names. And names of ours, which are spelled out in one place.

use std::collections::{BTreeMap, BTreeSet};

use crate::source_paths::{code_of, is_of_tests, module_of, named, sources};

/// What each place may name, itself aside: crates, and rooms of a crate where they differ.
const ARROWS: [(&str, &[&str]); 19] = [
    ("base::error", &[]),
    ("base::platform", &[]),
    ("base::shell_word", &[]),
    ("base::env", &["base::error", "base::platform"]),
    ("base::own_process", &["base::error", "base::platform"]),
    ("base::files", &["base::error", "base::platform", "base::env", "base::shell_word"]),
    // No file system, clock or process.
    ("model", &["base::error", "base::shell_word"]),
    ("store", &["base", "model"]),
    ("process", &["base", "model"]),
    ("git", &["base", "model", "process"]),
    ("safety::config", &["base", "model"]),
    ("safety::project_hooks", &["base", "model", "process"]),
    ("safety", &["base", "model", "store", "process", "git", "safety"]),
    ("agents", &["base", "model", "store", "process", "git", "safety"]),
    ("ui::cli", &["base", "model"]),
    ("ui::demo", &["base", "model", "process", "ui::cli"]),
    ("ui::wording", &["base", "model", "safety", "agents", "ui::cli"]),
    ("ui::panel", &["base", "model", "safety", "agents", "ui::cli", "ui::wording"]),
    ("ui::commands", &["base", "model", "safety", "agents", "ui"]),
];

/// Whether a path is of a place.
fn is_of(path: &[&str], place: &str) -> bool {
    place.split("::").enumerate().all(|(at, word)| path.get(at) == Some(&word))
}

/// The place that a path belongs to: the narrowest.
fn place_of(path: &[&str]) -> Option<&'static str> {
    ARROWS.iter().map(|(place, _)| *place).filter(|place| is_of(path, place)).max_by_key(|place| place.len())
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
        if is_of_tests(&path) || path == "model/base/own_names.rs" {
            continue;
        }
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        // Git's own refs of linked worktrees begin as the folder of ours ends.
        let is_gits =
            |line: &str| path == "model/base/names.rs" && line.contains("LINKED") && names_of_ours(line) == ["worktrees/"];
        for line in code.lines().filter(|line| !names_of_ours(line).is_empty() && !is_gits(line)) {
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

/// The arrows in a text that no place may have.
fn forbidden(path: &str, text: &str) -> Vec<String> {
    let module = module_of(path);
    let Some(place) = place_of(&module) else { return vec![format!("{path} is in no place that the arrows know")] };
    let may: &BTreeMap<&str, &[&str]> = &ARROWS.into_iter().collect();
    let allowed = |path: &[&str]| may[place].iter().any(|other| is_of(path, other));
    let names = named(&module, &code_of(text));
    let others = names.iter().filter_map(|path| {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        let elsewhere = place_of(&words).is_some_and(|other| other != place);
        (elsewhere && !allowed(&words)).then(|| path.join("::"))
    });
    others.map(|other| format!("{path} names {other}")).collect()
}

#[test]
fn each_place_names_only_what_it_may_know() {
    let (mut wrong, mut places) = (BTreeSet::new(), BTreeSet::new());
    for (path, text) in sources() {
        if path.contains('/') && !is_of_tests(&path) && !path.ends_with("/lib.rs") {
            places.extend(place_of(&module_of(&path)));
            wrong.extend(forbidden(&path, &text));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(places.len(), ARROWS.len(), "files of each place are read: {places:?}");
}

#[test]
fn an_arrow_that_points_up_is_found() {
    assert_eq!(forbidden("git/refs/own.rs", "use axiom_safety::rollback;"), ["git/refs/own.rs names safety::rollback"]);
    assert_eq!(
        forbidden("model/work/task.rs", "use axiom_base::{error::Code, files};"),
        ["model/work/task.rs names base::files"]
    );
    assert_eq!(forbidden("ui/cli/keys.rs", "crate::panel::draw()"), ["ui/cli/keys.rs names ui::panel::draw"]);
    assert!(forbidden("ui/commands/undo.rs", "use axiom_agents::merge;\nuse crate::{cli, wording::undo};").is_empty());
    assert!(forbidden("x.rs", "").len() == 1);
}
