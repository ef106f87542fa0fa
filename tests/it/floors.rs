//! The floors inside `domain`, `git` and `ops`: which of their rooms may name which. How the rooms of the whole source know each other
//! is in `arrows`. The tables, with what each room does, are at the heads of the three `mod.rs`.

use std::collections::{BTreeMap, BTreeSet};

use crate::arrows::sources;

/// A part of the source whose rooms are floors.
struct Layers {
    /// Its folder below `src`.
    name: &'static str,
    /// Its rooms, users first, a floor a line: a file names only rooms of floors below its own, and none beside it.
    floors: &'static [&'static [&'static str]],
    /// How many names of other rooms are read at least: fewer are a sign that the paths are not understood any more.
    least: usize,
    /// Files that are only compiled for tests.
    of_tests: &'static [&'static str],
}

const DOMAIN: Layers = Layers {
    name: "domain",
    floors: &[
        &["picture"],
        &["hook"],
        &["attach"],
        &["program_hooks"],
        &["operation"],
        &["prompt"],
        &["queries"],
        &["state"],
        &["recovery"],
        &["planning"],
        &["journal"],
        &["verbs"],
        &["checkpoint"],
        &["work"],
        &["agent"],
        &["base"],
    ],
    least: 300,
    of_tests: &[],
};

const GIT: Layers = Layers {
    name: "git",
    floors: &[
        &["workspace"],
        &["restore"],
        &["checkpoint"],
        &["capture"],
        &["lost"],
        &["history"],
        &["index"],
        &["refs"],
        &["objects"],
        &["repo"],
        &["base"],
    ],
    least: 300,
    of_tests: &["git/repo/scratch.rs"],
};

const OPS: Layers = Layers {
    name: "ops",
    floors: &[
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
    ],
    least: 500,
    of_tests: &[],
};

/// The modules around the text of a file below `src`, and its own.
fn module_of(path: &str) -> Vec<&str> {
    let module = path.trim_end_matches(".rs");
    module.trim_end_matches("/mod").split('/').collect()
}

/// A text without its comments and without its tests, which are its end.
fn code_of(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// What code names by `crate` or `super`, from the root of the crate on: `a::{b, c::d}` is two paths.
fn named(module: &[&str], code: &str) -> Vec<Vec<String>> {
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

/// What the face of a part passes on from its rooms: name and room.
fn passed_on(face: &str) -> BTreeMap<String, String> {
    let mut found = Vec::new();
    for part in face.split("use ").skip(1) {
        read_tree(part, &[], &mut found);
    }
    found.into_iter().filter_map(|path| Some((path.last()?.clone(), path.first()?.clone()))).collect()
}

impl Layers {
    fn floor_of(&self, room: &str) -> Option<usize> {
        self.floors.iter().position(|floor| floor.contains(&room))
    }

    /// The room that a path from the root leads to; `None` outside of this part. What the face passes on is of the room that has it.
    fn room_of<'p>(&self, path: &'p [String], face: &'p BTreeMap<String, String>) -> Option<&'p str> {
        let [top, inside, ..] = path else { return None };
        let passed_on = || face.get(inside).filter(|_| self.floor_of(inside).is_none());
        (top == self.name).then(|| passed_on().unwrap_or(inside).as_str())
    }

    fn are_held(&self) {
        let (inside, face_path) = (format!("{}/", self.name), format!("{}/mod.rs", self.name));
        let of_tests = |path: &str| path.ends_with("tests.rs") || path.contains("/tests/") || self.of_tests.contains(&path);
        let mut files = sources();
        files.retain(|(path, _)| path.starts_with(&inside) && !of_tests(path));
        let face = files.iter().find(|(path, _)| *path == face_path).map(|(_, text)| passed_on(&code_of(text))).unwrap();
        let (mut wrong, mut rooms, mut read) = (BTreeSet::new(), BTreeSet::new(), 0);
        for (path, text) in files.iter().filter(|(path, _)| *path != face_path) {
            let module = module_of(path);
            let Some(floor) = self.floor_of(module[1]) else {
                wrong.insert(format!("{path} is on no floor"));
                continue;
            };
            rooms.insert(module[1]);
            for named in named(&module, &code_of(text)) {
                let Some(other) = self.room_of(&named, &face).filter(|other| *other != module[1]) else { continue };
                read += 1;
                if self.floor_of(other).is_none_or(|below| below <= floor) {
                    wrong.insert(format!("{path} names {}, and {other} is not below {}", named.join("::"), module[1]));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert!(read >= self.least, "only {read} names of other rooms were read");
        let gone: Vec<&&str> = self.floors.iter().copied().flatten().filter(|room| !rooms.contains(**room)).collect();
        assert!(gone.is_empty(), "no files are in {gone:?}");
    }
}

#[test]
fn rooms_of_the_domain_name_only_floors_below() {
    DOMAIN.are_held();
}

#[test]
fn rooms_of_git_name_only_floors_below() {
    GIT.are_held();
}

#[test]
fn rooms_of_ops_name_only_floors_below() {
    OPS.are_held();
}

#[test]
fn paths_are_found_in_every_way_to_write_them() {
    let module = ["ops", "merge", "plan"];
    let paths = |text: &str| -> Vec<String> { named(&module, &code_of(text)).iter().map(|path| path.join("::")).collect() };
    assert_eq!(paths("use crate::ops::{disk, trash::{self, of as x}};"), ["ops::disk", "ops::trash::self", "ops::trash::of"]);
    assert_eq!(paths("use super::super::disk;\nuse super::guarded::{\n    a,\n};"), ["ops::disk", "ops::merge::guarded::a"]);
    assert_eq!(paths("pub(super) fn f() { crate::ops::tidy::when_due(super::x()) }"), ["ops::tidy::when_due", "ops::merge::x"]);
    assert!(paths("// use crate::ops::disk;\nlet x = y::z;").is_empty());
    assert_eq!(code_of("a // crate::git::b\n#[cfg(test)]\nmod tests { super::x }"), "a ");
    assert_eq!(module_of("ops/merge/plan.rs"), module);
    assert_eq!(module_of("git/capture/fast/mod.rs"), ["git", "capture", "fast"]);
}

#[test]
fn the_room_of_a_path_is_found_in_every_way_to_write_it() {
    let face =
        passed_on("pub use base::head::Head;\npub use refs::edits::{RefEdit, RefValue as Value};\npub use base::limits;\n");
    let module = module_of("git/index/edit/trees.rs");
    for (path, expected) in [
        ("crate::git::capture::gaps::is_gap", Some("capture")),
        ("super::super::lock", Some("index")),
        ("super::super::super::restore", Some("restore")),
        ("crate::git::Head", Some("base")),
        ("crate::git::limits::EXTRAS", Some("base")),
        ("super::super::super::RefEdit", Some("refs")),
        ("crate::error::Error", None),
    ] {
        let found = named(&module, path);
        assert_eq!(GIT.room_of(&found[0], &face), expected, "{path}");
    }
    let code = "use crate::git::{\n    capture::{gaps::is_gap, raw},\n    Head as H,\n};\nfn f(x: &super::lock::Lock) {}";
    let found: Vec<String> = named(&module, code).iter().map(|path| path.join("::")).collect();
    let expected = ["git::capture::gaps::is_gap", "git::capture::raw", "git::Head", "git::index::edit::lock::Lock"];
    assert_eq!(found, expected);
}
