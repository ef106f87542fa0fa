//! The floors of `ops`: which of its rooms may name which. How the rooms of the whole source know each other is in `arrows`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The rooms of `ops`, users first, a floor a line: a file names only rooms of floors below its own, and none beside it.
const FLOORS: &[&[&str]] = &[
    &["interventions", "keeper", "learnings", "lock", "open_panels", "own_verb", "pager", "work_at_risk"],
    &["agents", "purge", "recover"],
    &["deinit", "supervise"],
    &["crashed_tasks", "hide_refs", "program_hooks", "trust"],
    &["attach", "repair"],
    &["disk", "revert_task", "settings", "task_diff"],
    &["merge", "undo"],
    &["hooks", "plan"],
    &["opening", "rollback", "steps"],
    &["checkpoint"],
    &["operation"],
    &["mend", "scratch_worktrees", "tidy", "workspaces"],
    &["disk_space", "trash"],
    &[
        "tasks",
        "history",
        "journals",
        "log_recovery",
        "output",
        "signing",
        "supervisor_requests",
        "telling",
        "workspace_folder",
        "workspace_submodules",
    ],
    &["context"],
    &["conflict_notes", "editor", "programs", "run_end", "session_lock", "step_files", "wait_observer"],
];

/// How many names of other rooms are read at least: fewer are a sign that the paths are not understood any more.
const LEAST: usize = 500;

fn floor_of(room: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&room))
}

/// The modules around the text of a file below `src`, and its own.
fn module_of(path: &str) -> Vec<&str> {
    let module = path.trim_end_matches(".rs");
    module.trim_end_matches("/mod").split('/').collect()
}

/// The files of `ops` but for tests, by their paths below `src`.
fn sources() -> Vec<(String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let all = walkdir::WalkDir::new(src.join("ops")).into_iter().map(|entry| entry.unwrap().into_path());
    let files: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|end| end == "rs")).collect();
    let named = |file: &PathBuf| file.strip_prefix(&src).unwrap().to_str().unwrap().to_owned();
    let all = files.iter().map(|file| (named(file), std::fs::read_to_string(file).unwrap()));
    all.filter(|(path, _)| !path.ends_with("tests.rs") && !path.contains("/tests/")).collect()
}

/// What a text names by `crate` or `super`, from the root of the crate on: `a::{b, c::d}` is two paths.
fn named(module: &[&str], text: &str) -> Vec<Vec<String>> {
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::").chain(code.match_indices("super::")) {
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
    if path.first().is_some_and(|first| first == "crate") {
        return path[1..].to_vec();
    }
    let up = path.iter().take_while(|word| *word == "super").count();
    let above = module[..module.len().saturating_sub(up)].iter().map(|word| (*word).to_owned());
    above.chain(path[up..].iter().cloned()).collect()
}

#[test]
fn rooms_of_ops_name_only_floors_below() {
    let (mut wrong, mut rooms, mut read) = (BTreeSet::new(), BTreeSet::new(), 0);
    for (path, text) in sources() {
        let module = module_of(&path);
        let Some(room) = module.get(1) else { continue };
        let Some(floor) = floor_of(room) else {
            wrong.insert(format!("{path} is on no floor"));
            continue;
        };
        rooms.insert((*room).to_owned());
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for named in named(&module, code) {
            let [top, other, ..] = named.as_slice() else { continue };
            if top == "ops" && other != room {
                read += 1;
                if floor_of(other).is_none_or(|below| below <= floor) {
                    wrong.insert(format!("{path} names {other}, which is not below {room}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(read >= LEAST, "only {read} names of other rooms were read");
    let gone: Vec<&&str> = FLOORS.iter().copied().flatten().filter(|room| !rooms.contains(**room)).collect();
    assert!(gone.is_empty(), "no files are in {gone:?}");
}

#[test]
fn paths_of_ops_are_found_in_every_way_to_write_them() {
    let module = ["ops", "merge", "plan"];
    let paths = |text| -> Vec<String> { named(&module, text).iter().map(|path| path.join("::")).collect() };
    assert_eq!(paths("use crate::ops::{disk, trash::{self, of as x}};"), ["ops::disk", "ops::trash::self", "ops::trash::of"]);
    assert_eq!(paths("use super::super::disk;\nuse super::guarded::{\n    a,\n};"), ["ops::disk", "ops::merge::guarded::a"]);
    assert_eq!(paths("pub(super) fn f() { crate::ops::tidy::when_due(super::x()) }"), ["ops::tidy::when_due", "ops::merge::x"]);
    assert!(paths("// use crate::ops::disk;\nlet x = y::z;").is_empty());
    assert_eq!(module_of("ops/merge/plan.rs"), module);
    assert_eq!(module_of("ops/hooks/mod.rs"), ["ops", "hooks"]);
}
