//! Kills at points of our own, and what a person does after a crash.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::Value;

use crate::common::Run;
use crate::common::random::Random;
use crate::histories::oracle;
use crate::histories::place::Place;
use crate::histories::tool::forget_deleted;
use crate::histories::world::World;

/// Calls our program; once in `cases` it is killed at some point of its own, where it comes by there.
pub fn faulty(place: &mut Place, dice: &mut Random, args: &[&str], cases: u64) -> Run {
    if !dice.once_in(cases) {
        return place.axiom(args);
    }
    let points = fault_points();
    let point = format!("{}:{}", dice.pick(&points).unwrap(), 1 + dice.below(2));
    place.says(&format!("killed at {point}, if it comes by there:"));
    let mut command = place.env.axiom_command(&place.env.repo(), args);
    command.env("AXIOM_TEST_FAULT", point);
    place.axiom_run(command, args)
}

/// What a person does after a crash; nothing may be missing then.
pub fn after_kill(place: &mut Place, dice: &mut Random, before: &World, run: &Run) {
    let is_open = place.env.axiom(&["recover", "--json"]);
    let document: Value = serde_json::from_str(&is_open.stdout).unwrap_or_default();
    let abort = !document["openOperation"].is_null() && dice.once_in(2);
    if abort {
        let aborted = place.axiom(&["rollback", "--abort"]);
        assert_eq!(aborted.code, Some(0), "{}{aborted}", place.story());
        let mut after = place.look();
        // What agents did until the kill stays.
        if run.stderr.contains("session") {
            after = before.clone();
        }
        oracle::same(place, before, &after, "--abort does not bring back what was");
    }
    let recovered = place.axiom(&["recover", "--yes"]);
    assert_eq!(recovered.code, Some(0), "{}{recovered}", place.story());
    oracle::nothing_lost(place, before, &place.look());
    forget_deleted(place);
    let again = place.env.axiom(&["recover", "--json"]);
    let document: Value = serde_json::from_str(&again.stdout).unwrap_or_default();
    // What an agent had begun goes on with the next session.
    let waits = |key: &str| document[key].as_array().is_some_and(|all| !all.is_empty());
    assert!(document["needed"] == false || waits("resumable"), "{}recovery is never done: {again}", place.story());
}

/// The names of all points at which a debug build can be killed.
fn fault_points() -> Vec<&'static str> {
    static POINTS: OnceLock<Vec<String>> = OnceLock::new();
    let find = || {
        let mut points = BTreeSet::new();
        let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        for entry in walkdir::WalkDir::new(sources).into_iter().flatten().filter(|entry| entry.file_type().is_file()) {
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            let found = text.split("fault_point(\"").skip(1).filter_map(|rest| rest.split('"').next());
            points.extend(found.map(str::to_owned));
        }
        points.into_iter().collect()
    };
    POINTS.get_or_init(find).iter().map(String::as_str).collect()
}
