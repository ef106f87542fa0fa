//! The floors of `domain`: a room in it imports from those below it alone.

use std::collections::BTreeMap;
use std::path::Path;

/// Users first: each room may name those that come after it.
const FLOORS: [&str; 17] = [
    "picture",
    "hook",
    "attach",
    "program_hooks",
    "operation",
    "prompt",
    "queries",
    "state",
    "recovery",
    "planning",
    "journal",
    "verbs",
    "checkpoint",
    "work",
    "agent",
    "base",
    "mod",
];

/// The room that a file below `src/domain` is in.
fn room(path: &str) -> &str {
    path.split(['/', '.']).next().unwrap()
}

/// The rooms that a line of code of a file in `depth` folders below `domain` names.
fn named(line: &str, depth: usize) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or_default();
    let word = |text: &'_ str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_lowercase() || c == '_').len();
    let above = format!("{}super::", "super::".repeat(depth));
    let absolute = code.split("crate::domain::").skip(1);
    // `super` of a file that is directly in a room is the room; one more leads to the others.
    let relative = if depth > 0 { code.split(above.as_str()).skip(1).collect() } else { Vec::new() };
    absolute.chain(relative).map(|rest| &rest[..word(rest)]).collect()
}

#[test]
fn each_room_of_the_domain_names_only_those_below_it() {
    let floor: BTreeMap<&str, usize> = FLOORS.iter().enumerate().map(|(floor, room)| (*room, floor)).collect();
    let domain = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/domain");
    let (mut wrong, mut arrows) = (Vec::new(), 0);
    for entry in walkdir::WalkDir::new(&domain) {
        let path = entry.unwrap().into_path();
        let name = path.strip_prefix(&domain).unwrap().to_str().unwrap().to_owned();
        if !name.ends_with(".rs") || name.ends_with("tests.rs") || name == "mod.rs" {
            continue;
        }
        let here = *floor.get(room(&name)).unwrap_or_else(|| panic!("{name} is in no room that the floors know"));
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for line in code.lines() {
            for other in named(line, name.matches('/').count()) {
                let Some(there) = floor.get(other) else { continue };
                arrows += 1;
                if *there < here {
                    wrong.push(format!("{name} names {other}: {}", line.trim()));
                }
            }
        }
    }
    assert!(arrows > 300, "the source of the domain is read: {arrows}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn rooms_are_found_in_every_way_to_write_them() {
    assert_eq!(named("use crate::domain::state::event::Event;", 1), ["state"]);
    assert_eq!(named("use super::super::work::gate;", 1), ["work"]);
    assert!(named("use super::gate; // crate::domain::state", 1).is_empty());
    assert_eq!(room("work/gate.rs"), "work");
}
