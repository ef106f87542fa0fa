//! What a dry run named, against what changed then: the same, neither more nor less. Of each thing both are made a set of words.

use serde_json::Value;

use crate::common::Run;
use crate::histories::place::Place;
use crate::histories::seen::{Seen, Words};
use crate::histories::world::World;

/// The dry run named exactly what changed.
pub fn exactly(place: &Place, before: &World, after: &World, dry: &Run) {
    let document: Value = serde_json::from_str(&dry.stdout).unwrap();
    let seen = Seen { place, before, after, document: &document };
    let wrong = differing(vec![
        ("files", seen.files_named(), seen.files_changed()),
        ("staged", seen.staged_named(), seen.staged_changed()),
        ("HEADs", seen.heads_named(), seen.heads_changed()),
        ("operations", seen.operations_named(), seen.operations_changed()),
        ("refs", seen.refs_named(), seen.refs_changed()),
        ("stash", seen.stash_named(), seen.stash_changed()),
        ("tasks", seen.tasks_named(), seen.tasks_changed()),
        ("mode", seen.mode_named(), seen.mode_changed()),
        ("workspaces", seen.workspaces_named(), seen.workspaces_changed()),
    ]);
    assert!(wrong.is_empty(), "{}{}\n{dry}", place.story(), wrong.join("\n"));
}

/// The dry run of a merge named exactly what changed: files, the target, the workspace and the branch that go. That the task is
/// merged is said by its being one.
pub fn merged(place: &Place, before: &World, after: &World, dry: &Run) {
    let document: Value = serde_json::from_str(&dry.stdout).unwrap();
    let seen = Seen { place, before, after, document: &document };
    let target = document["target"].as_str().filter(|_| document["wasMergedBefore"] == false);
    let deleted = document["refs"].as_array().into_iter().flatten().map(|change| change["name"].as_str().unwrap());
    let refs = target.into_iter().chain(deleted).map(str::to_owned).collect();
    let wrong = differing(vec![
        ("files", seen.files_named(), seen.files_changed()),
        ("staged", Words::new(), seen.staged_changed()),
        ("HEADs", Words::new(), seen.heads_changed()),
        ("operations", Words::new(), seen.operations_changed()),
        ("refs", refs, seen.refs_changed()),
        ("stash", Words::new(), seen.stash_changed()),
        ("mode", Words::new(), seen.mode_changed()),
        ("workspaces", seen.workspaces_named(), seen.workspaces_changed()),
    ]);
    assert!(wrong.is_empty(), "{}{}\n{dry}", place.story(), wrong.join("\n"));
}

/// A line for each word that is on one side alone.
fn differing(all: Vec<(&str, Words, Words)>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (what, named, changed) in all {
        wrong.extend(changed.difference(&named).map(|one| format!("{what}: {one} changed, and was not named")));
        wrong.extend(named.difference(&changed).map(|one| format!("{what}: {one} was named, and did not change")));
    }
    wrong
}

/// The dry run named exactly the checkpoints that are gone then.
pub fn deleted(place: &Place, before: &Words, after: &Words, dry: &Run, run: &Run) {
    assert_eq!(dry.code, run.code, "{}the dry run said otherwise:\n{dry}\n{run}", place.story());
    let document: Value = serde_json::from_str(&dry.stdout).unwrap();
    let named = document["deleted"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let (named, gone): (Words, Words) = (named.collect(), before.difference(after).cloned().collect());
    assert_eq!(named, gone, "{}named by the dry run, and gone\n{dry}", place.story());
}
