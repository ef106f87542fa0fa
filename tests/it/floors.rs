//! The floors inside the crates: which of a crate's rooms may name which. How the crates know each other is in `arrows`. The tables,
//! with what each room does, are at the heads of the crates' `lib.rs`.

use std::collections::{BTreeMap, BTreeSet};

use crate::source_paths::{code_of, is_of_tests, module_of, named, passed_on, sources};

/// A crate whose rooms are floors.
struct Layers {
    /// Its folder below `src`.
    name: &'static str,
    /// Its rooms, users first, a floor a line: a file names only rooms of floors below its own, and none beside it.
    floors: &'static [&'static [&'static str]],
    /// How many names of other rooms are read at least: fewer are a sign that the paths are not understood any more.
    least: usize,
}

const MODEL: Layers = Layers {
    name: "model",
    floors: &[
        &["picture"],
        &["hook"],
        &["permission"],
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
        &["acp"],
        &["work"],
        &["agent"],
        &["base"],
    ],
    least: 300,
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
};

const SAFETY: Layers = Layers {
    name: "safety",
    floors: &[
        &["acp", "program_hooks"],
        &["attach", "undo"],
        &["opening", "rollback", "running"],
        &["checkpoint"],
        &["operation"],
        &["settings", "upkeep"],
        &["beside_log", "folders", "history", "user_programs"],
        &["context"],
        &["config", "lock", "own_verb", "project_hooks"],
    ],
    least: 250,
};

const AGENTS: Layers = Layers {
    name: "agents",
    floors: &[
        &["interventions", "keeper", "learnings", "open_panels"],
        &["agent_list", "purge", "recover"],
        &["deinit", "supervise"],
        &["crashed_tasks"],
        &["repair"],
        &["disk", "revert_task", "task_diff"],
        &["merge"],
        &["plan"],
        &["tasks"],
    ],
    least: 100,
};

const UI: Layers = Layers { name: "ui", floors: &[&["commands"], &["panel"], &["demo", "wording"], &["cli"]], least: 100 };

const BASE: Layers =
    Layers { name: "base", floors: &[&["files"], &["env", "own_process", "shell_word"], &["platform"], &["error"]], least: 20 };

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
        let (inside, face_path) = (format!("{}/", self.name), format!("{}/lib.rs", self.name));
        let mut files = sources();
        files.retain(|(path, _)| path.starts_with(&inside) && !is_of_tests(path));
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
fn rooms_of_the_model_name_only_floors_below() {
    MODEL.are_held();
}

#[test]
fn rooms_of_git_name_only_floors_below() {
    GIT.are_held();
}

#[test]
fn rooms_of_the_safety_net_name_only_floors_below() {
    SAFETY.are_held();
}

#[test]
fn rooms_of_the_control_room_name_only_floors_below() {
    AGENTS.are_held();
}

#[test]
fn rooms_of_the_base_and_of_the_interface_name_only_floors_below() {
    BASE.are_held();
    UI.are_held();
}

#[test]
fn the_room_of_a_path_is_found_in_every_way_to_write_it() {
    let face =
        passed_on("pub use base::head::Head;\npub use refs::edits::{RefEdit, RefValue as Value};\npub use base::limits;\n");
    let module = module_of("git/index/edit/trees.rs");
    for (path, expected) in [
        ("crate::capture::gaps::is_gap", Some("capture")),
        ("super::super::lock", Some("index")),
        ("super::super::super::restore", Some("restore")),
        ("axiom_git::Head", Some("base")),
        ("crate::limits::EXTRAS", Some("base")),
        ("super::super::super::RefEdit", Some("refs")),
        ("axiom_base::error::Error", None),
    ] {
        let found = named(&module, path);
        assert_eq!(GIT.room_of(&found[0], &face), expected, "{path}");
    }
    let code = "use crate::{\n    capture::{gaps::is_gap, raw},\n    Head as H,\n};\nfn f(x: &super::lock::Lock) {}";
    let found: Vec<String> = named(&module, code).iter().map(|path| path.join("::")).collect();
    let expected = ["git::capture::gaps::is_gap", "git::capture::raw", "git::Head", "git::index::edit::lock::Lock"];
    assert_eq!(found, expected);
}

/// A room has at most so many entries: more is a list, and not a place that somebody knows.
const MOST_ENTRIES: usize = 20;

/// Rooms with more, and why.
const FULL: [(&str, &str); 3] = [
    ("ui/commands", "a file or folder for each verb"),
    ("git/capture", "the rules of what is captured, which ask each other"),
    ("git/repo", "the facts of a repository, which are found with each other's help"),
];

/// How many entries each folder below `src` has; `x.rs` and `x/` are one, tests are none.
fn entries() -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, _) in sources().iter().filter(|(path, _)| !is_of_tests(path)) {
        let path = path.trim_end_matches(".rs").trim_end_matches("/mod").trim_end_matches("/lib");
        for (at, _) in path.match_indices('/') {
            let (room, below) = (&path[..at], &path[at + 1..]);
            let entry = below.split('/').next().unwrap_or_default();
            found.entry(room.to_owned()).or_default().insert(entry.to_owned());
        }
    }
    found
}

#[test]
fn a_room_has_few_entries() {
    let all = entries();
    assert!(all.len() > 60, "only {} rooms were read", all.len());
    let over: BTreeSet<&str> =
        all.iter().filter(|(_, below)| below.len() > MOST_ENTRIES).map(|(room, _)| room.as_str()).collect();
    assert_eq!(over, FULL.iter().map(|(room, _)| *room).collect(), "a room is divided, or is one of few that are explained");
}

/// A file has at most so many lines, its tests with them: more is several files.
const MOST_LINES: usize = 400;

#[test]
fn a_file_has_few_lines() {
    let all = sources();
    assert!(all.len() > 1000, "only {} files were read", all.len());
    let over: Vec<(&str, usize)> =
        all.iter().map(|(path, text)| (path.as_str(), text.lines().count())).filter(|(_, lines)| *lines > MOST_LINES).collect();
    assert!(over.is_empty(), "a file is divided by what it decides: {over:?}");
}

/// `# Errors` is where a code is a promise of a room's entry point. What everything may say (of files, locks, git) is no promise.
const MOST_PROMISES: usize = 60;

#[test]
fn few_functions_promise_codes() {
    let promises = sources().iter().map(|(_, text)| text.matches("/// # Errors").count()).sum::<usize>();
    assert!((40..=MOST_PROMISES).contains(&promises), "{promises} sections");
}
