//! The paths that the source names: `use` and what stands in code, in every way to write them, from the name of a crate on. Read by the
//! tests of arrows and floors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files of the source, by their paths below it.
pub fn sources() -> Vec<(String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let all = walkdir::WalkDir::new(&src).into_iter().map(|entry| entry.unwrap().into_path());
    let files: Vec<PathBuf> =
        all.filter(|path| path.extension().is_some_and(|end| end == "rs") && !path.ends_with("build.rs")).collect();
    let named = |file: &PathBuf| file.strip_prefix(&src).unwrap().to_str().unwrap().to_owned();
    files.iter().map(|file| (named(file), std::fs::read_to_string(file).unwrap())).collect()
}

/// The modules around the text of a file below `src`, and its own; the first is the crate.
pub fn module_of(path: &str) -> Vec<&str> {
    let module = path.trim_end_matches(".rs");
    module.trim_end_matches("/mod").trim_end_matches("/lib").split('/').collect()
}

/// A text without its comments and without its tests, which are its end.
pub fn code_of(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Whether a file is compiled for tests alone.
pub fn is_of_tests(path: &str) -> bool {
    path.ends_with("tests.rs") || path.contains("/tests/") || path.ends_with("/scratch.rs")
}

/// What code names of the crates below `src`, from the name of the crate on: `a::{b, c::d}` is two paths.
pub fn named(module: &[&str], code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (at, _) in ["crate::", "super::", "axiom_"].iter().flat_map(|root| code.match_indices(root)) {
        let is_within = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        if !code[..at].ends_with(is_within) {
            read_tree(&code[at..], &[], &mut found);
        }
    }
    found.iter().map(|path| from_root(module, path)).collect()
}

/// Reads a path, or a tree of paths as `use` has them; returns what follows.
fn read_tree<'t>(text: &'t str, before: &[String], found: &mut Vec<Vec<String>>) -> &'t str {
    let (mut path, mut rest) = (before.to_vec(), text);
    loop {
        if let Some(list) = rest.strip_prefix('{') {
            return read_list(list, &path, found);
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        path.push(rest[..end].to_owned());
        match rest[end..].strip_prefix("::") {
            Some(more) => rest = more,
            None => {
                found.push(path);
                return &rest[end..];
            }
        }
    }
}

/// Reads the trees of a list up to its end.
fn read_list<'t>(list: &'t str, before: &[String], found: &mut Vec<Vec<String>>) -> &'t str {
    let mut rest = list.trim_start();
    while !rest.is_empty() && !rest.starts_with('}') {
        let after = read_tree(rest, before, found);
        let end = after.find([',', '}']).unwrap_or(after.len());
        rest = after[end..].trim_start_matches(',').trim_start();
    }
    rest.strip_prefix('}').unwrap_or(rest)
}

fn from_root(module: &[&str], path: &[String]) -> Vec<String> {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let (mut above, rest) = match path.first().map(String::as_str) {
        Some("crate") => (owned(&module[..1]), &path[1..]),
        Some("super") => {
            let up = path.iter().take_while(|word| *word == "super").count();
            (owned(&module[..module.len().saturating_sub(up)]), &path[up..])
        }
        Some(first) => (owned(&[first.strip_prefix("axiom_").unwrap_or(first)]), &path[1..]),
        None => return Vec::new(),
    };
    above.extend(rest.iter().cloned());
    above
}

/// What the face of a part passes on from its rooms: name and room.
pub fn passed_on(face: &str) -> BTreeMap<String, String> {
    let mut found = Vec::new();
    for part in face.split("use ").skip(1) {
        read_tree(part, &[], &mut found);
    }
    found.into_iter().filter_map(|path| Some((path.last()?.clone(), path.first()?.clone()))).collect()
}

#[test]
fn paths_are_found_in_every_way_to_write_them() {
    let module = ["agents", "merge", "plan"];
    let paths = |text: &str| -> Vec<String> { named(&module, &code_of(text)).iter().map(|path| path.join("::")).collect() };
    assert_eq!(paths("use crate::{disk, trash::{self, of as x}};"), ["agents::disk", "agents::trash::self", "agents::trash::of"]);
    assert_eq!(
        paths("use super::super::disk;\nuse super::guarded::{\n    a,\n};"),
        ["agents::disk", "agents::merge::guarded::a"]
    );
    assert_eq!(paths("pub(super) fn f() { axiom_git::x(super::x()) }"), ["agents::merge::x", "git::x"]);
    assert_eq!(paths("use axiom_base::{error::{Code, Result}, env};"), ["base::error::Code", "base::error::Result", "base::env"]);
    assert!(paths("// use crate::disk;\nlet x = y::z;").is_empty());
    assert_eq!(code_of("a // crate::git::b\n#[cfg(test)]\nmod tests { super::x }"), "a ");
    assert_eq!(module_of("agents/merge/plan.rs"), module);
    assert_eq!(module_of("git/capture/fast/mod.rs"), ["git", "capture", "fast"]);
    assert_eq!(module_of("git/lib.rs"), ["git"]);
}
