//! The floors of `src/git`: each of its rooms imports only those below it. The table of them, with what each does, is at the head of
//! `src/git/mod.rs`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The rooms, users first.
const FLOORS: [&str; 11] =
    ["workspace", "restore", "checkpoint", "capture", "lost", "history", "index", "refs", "objects", "repo", "base"];

/// Fewer files, or imports of another room, than that were not read: the code below does not understand the source any more.
const LEAST_FILES: usize = 100;
const LEAST_IMPORTS: usize = 300;

/// The source files of the rooms, by their paths below `src`, without what is only compiled for tests.
fn sources() -> Vec<(String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let all = walkdir::WalkDir::new(src.join("git")).into_iter().map(|entry| entry.unwrap().into_path());
    let files: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|end| end == "rs")).collect();
    let named = |file: &PathBuf| file.strip_prefix(&src).unwrap().to_str().unwrap().to_owned();
    let of_tests = |path: &str| path.ends_with("tests.rs") || path.contains("/tests/") || path == "git/repo/scratch.rs";
    let kept = files.iter().map(|file| (named(file), file)).filter(|(path, _)| !of_tests(path) && path != "git/mod.rs");
    kept.map(|(path, file)| (path, code_of(&std::fs::read_to_string(file).unwrap()))).collect()
}

/// A text without its comments and without its tests, which are its end.
fn code_of(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The module of a file, as the segments of its path.
fn module_of(path: &str) -> Vec<String> {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').map(str::to_owned).collect()
}

/// The paths in what stands after `use`: lists in braces are taken apart, new names (`as`) left out.
fn taken_apart(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((before, list)) = tree.split_once('{') else {
        return vec![tree.split_whitespace().next().unwrap_or_default().to_owned()];
    };
    let list = list.rsplit_once('}').map_or(list, |(list, _)| list);
    let (mut parts, mut depth) = (vec![String::new()], 0_usize);
    for letter in list.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().unwrap().push(letter);
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| taken_apart(part)).map(|part| format!("{before}{part}")).collect()
}

/// The paths that code names: those of imports, and all others that begin at the root or at a module above.
fn named(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut rest = String::new();
    for (number, part) in code.split("use ").enumerate() {
        let is_import = number > 0 && ["crate::", "super::"].iter().any(|root| part.starts_with(root));
        let (import, after) = part.split_once(';').filter(|_| is_import).unwrap_or(("", part));
        paths.extend(taken_apart(import).into_iter().filter(|path| !path.is_empty()));
        rest.push_str(after);
    }
    let is_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = rest.split(|c: char| !is_of_path(c));
    paths.extend(words.filter(|word| word.starts_with("crate::") || word.starts_with("super::")).map(str::to_owned));
    paths
}

/// What `git/mod.rs` passes on from its rooms: name and room.
fn passed_on(face: &str) -> BTreeMap<String, String> {
    let uses = face.split("use ").skip(1).filter_map(|part| part.split_once(';').map(|(tree, _)| tree.to_owned()));
    let lists = uses.flat_map(|tree| taken_apart(&tree));
    lists.filter_map(|path| Some((path.rsplit("::").next()?.to_owned(), path.split("::").next()?.to_owned()))).collect()
}

/// The room that a path in this module leads to, if it is one of ours.
fn room_of(module: &[String], path: &str, face: &BTreeMap<String, String>) -> Option<String> {
    let mut from = module.to_vec();
    let mut whole: Vec<String> = Vec::new();
    for (number, word) in path.split("::").enumerate() {
        match word {
            "crate" if number == 0 => from.clear(),
            "super" if whole.is_empty() => drop(from.pop()),
            _ => whole.push(word.to_owned()),
        }
    }
    from.append(&mut whole);
    let inside = (from.first()? == "git").then(|| from.get(1)).flatten()?;
    if FLOORS.contains(&inside.as_str()) { Some(inside.clone()) } else { face.get(inside).cloned() }
}

fn face() -> BTreeMap<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/git/mod.rs");
    passed_on(&code_of(&std::fs::read_to_string(path).unwrap()))
}

fn floor(room: &str) -> usize {
    FLOORS.iter().position(|one| *one == room).unwrap_or_else(|| panic!("git/{room} is on no floor"))
}

#[test]
fn each_room_of_git_imports_only_those_below_it() {
    let (face, sources) = (face(), sources());
    let (mut wrong, mut imports) = (Vec::new(), 0);
    for (path, code) in &sources {
        let module = module_of(path);
        let own = floor(&module[1]);
        let others = named(code).into_iter().filter_map(|named| Some((room_of(&module, &named, &face)?, named)));
        for (room, named) in others.filter(|(room, _)| *room != module[1]) {
            imports += 1;
            if floor(&room) < own {
                wrong.push(format!("{path} imports from the higher floor {room}: {named}"));
            }
        }
    }
    assert!(sources.len() >= LEAST_FILES && imports >= LEAST_IMPORTS, "{} files, {imports} imports", sources.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn each_floor_is_there() {
    let sources = sources();
    let empty: Vec<&str> =
        FLOORS.into_iter().filter(|room| !sources.iter().any(|(path, _)| module_of(path)[1] == *room)).collect();
    assert!(empty.is_empty(), "{empty:?}");
}

#[test]
fn the_room_of_a_path_is_found_in_every_way_to_write_it() {
    let face =
        passed_on("pub use base::head::Head;\npub use refs::edits::{RefEdit, RefValue as Value};\npub use base::limits;\n");
    let module = module_of("git/index/edit/trees.rs");
    let room = |path: &str| room_of(&module, path, &face);
    for (path, expected) in [
        ("crate::git::capture::gaps::is_gap", Some("capture")),
        ("super::super::lock", Some("index")),
        ("super::super::super::restore", Some("restore")),
        ("crate::git::Head", Some("base")),
        ("crate::git::limits::EXTRAS", Some("base")),
        ("super::super::super::RefEdit", Some("refs")),
        ("crate::error::Error", None),
    ] {
        assert_eq!(room(path).as_deref(), expected, "{path}");
    }
    let code = "use crate::git::{\n    capture::{gaps::is_gap, raw},\n    Head as H,\n};\nfn f(x: &super::lock::Lock) {}";
    assert_eq!(
        named(code),
        ["crate::git::capture::gaps::is_gap", "crate::git::capture::raw", "crate::git::Head", "super::lock::Lock"]
    );
    assert_eq!(code_of("a // crate::git::b\n#[cfg(test)]\nmod tests { super::x }"), "a ");
    assert_eq!(module_of("git/capture/fast/mod.rs"), ["git", "capture", "fast"]);
}
