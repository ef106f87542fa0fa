//! The verbs of ours, each between two looks at everything.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::random::Random;
use crate::histories::back::{and_back, undo_of};
use crate::histories::faults::{after_kill, faulty};
use crate::histories::place::Place;
use crate::histories::{foretold, human, oracle, purged, session};

/// Does one thing with git axiom.
pub fn step(place: &mut Place, dice: &mut Random) {
    match dice.below(26) {
        0..=4 => create(place, dice),
        5 => only(place, dice),
        6..=9 => rollback_checkpoint(place, dice),
        10..=11 => rollback_task(place, dice),
        12 => destructive(place, dice, &["rollback", "session"], None),
        13..=14 => destructive(place, dice, &["undo"], None),
        15 => destructive(place, dice, &["redo"], None),
        16 => undo_any(place, dice),
        17 => merge(place, dice),
        18 => cases(place, dice),
        19..=21 => session::step(place, dice),
        22 => delete(place, dice),
        23..=24 => purged::step(place, dice),
        _ => housekeeping(place, dice),
    }
}

fn create(place: &mut Place, dice: &mut Random) {
    let name = format!("c{}", place.checkpoints.len());
    let before = place.look();
    let json = place.odd.is_any().then_some("--json");
    let run = faulty(place, dice, &["checkpoint", "create", &name].into_iter().chain(json).collect::<Vec<_>>(), 8);
    let after = place.look();
    oracle::same(place, &before, &after, "a checkpoint changes nothing");
    match run.code {
        Some(0) => {
            oracle::names_its_gaps(place, &before, &run);
            oracle::owes(place, &before);
            place.checkpoints.insert(name, before);
        }
        // Nothing else keeps one from being made, whatever is odd.
        Some(_) => assert!(run.stderr.contains("error[DUPLICATE_ID]"), "{}{run}", place.story()),
        None => after_kill(place, dice, &before, &run),
    }
}

fn only(place: &mut Place, dice: &mut Random) {
    let path = place.odd.path_or(dice.pick(&["a.txt", "sub", "new.txt", "d.txt"]).unwrap());
    let before = place.look();
    place.axiom(&["checkpoint", "create", "--only", path]);
    oracle::same(place, &before, &place.look(), "a checkpoint of known paths changes nothing");
}

fn rollback_checkpoint(place: &mut Place, dice: &mut Random) {
    let names: Vec<String> = place.checkpoints.keys().cloned().collect();
    let Some(name) = dice.pick(&names).cloned() else { return };
    match dice.below(6) {
        0 => {
            let folder = human::somewhere(place, dice);
            let folder = folder.to_str().unwrap();
            destructive(place, dice, &["rollback", "checkpoint", &name, "--worktree", folder], None);
        }
        1 => {
            let path = place.odd.path_or(dice.pick(&["a.txt", "sub", "new.txt", "d.txt"]).unwrap());
            destructive(place, dice, &["rollback", "checkpoint", &name, "--", path], None);
        }
        _ => destructive(place, dice, &["rollback", "checkpoint", &name], Some(&name)),
    }
}

/// Options before the paths.
fn with<'a>(args: &[&'a str], options: &[&'a str]) -> Vec<&'a str> {
    let end = args.iter().position(|arg| *arg == "--").unwrap_or(args.len());
    [&args[..end], options, &args[end..]].concat()
}

fn tasks(place: &mut Place) -> Vec<String> {
    if !place.env.axiom_dir().is_dir() {
        return Vec::new();
    }
    let run = place.env.axiom(&["task", "list", "--json"]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    document["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
}

fn rollback_task(place: &mut Place, dice: &mut Random) {
    let all = tasks(place);
    if let Some(task) = dice.pick(&all) {
        destructive(place, dice, &["rollback", "task", task], None);
    }
}

fn merge(place: &mut Place, dice: &mut Random) {
    let all = tasks(place);
    let Some(task) = dice.pick(&all) else { return };
    let before = place.look();
    let dry = place.axiom(&["merge", task, "--dry-run", "--json"]);
    oracle::same(place, &before, &place.look(), "a dry run changed something");
    let run = faulty(place, dice, &["merge", task, "--json"], 6);
    let after = place.look();
    oracle::nothing_lost(place, &before, &after);
    if run.code.is_some() {
        assert_eq!(dry.code, run.code, "{}the dry run said otherwise:\n{dry}\n{run}", place.story());
    }
    match run.code {
        Some(0) => {
            foretold::merged(place, &before, &after, &dry);
            // What was merged already needs no checkpoint.
            if before.has_other_contents(&after) {
                oracle::owes(place, &before);
            }
            // The workspace of what was merged is put aside afterwards, and stays so: its branch has it all.
            let mut wanted = before;
            wanted.worktrees.retain(|name, _| after.worktrees.contains_key(name));
            and_back(place, dice, &wanted, &after, &run);
        }
        Some(_) => {
            oracle::same(place, &before, &after, "a merge that failed changed something");
        }
        None => after_kill(place, dice, &before, &run),
    }
}

fn undo_any(place: &mut Place, dice: &mut Random) {
    let run = place.env.axiom(&["log", "--json"]);
    let Ok(document) = serde_json::from_str::<Value>(&run.stdout) else { return };
    let Some(all) = document["operations"].as_array() else { return };
    let all: Vec<&str> = all.iter().filter(|one| one["undoable"] == true).filter_map(|one| one["id"].as_str()).collect();
    if let Some(id) = dice.pick(&all) {
        destructive(place, dice, &["undo", id], None);
    }
}

/// A verb that changes files or refs: its dry run, itself, perhaps killed, and perhaps back and forth again.
fn destructive(place: &mut Place, dice: &mut Random, args: &[&str], checkpoint: Option<&str>) {
    let before = place.look();
    let dry = place.axiom(&with(args, &["--dry-run", "--json"]));
    let still = place.look();
    oracle::same(place, &before, &still, "a dry run changed something");
    let run = faulty(place, dice, &with(args, &["--yes", "--json"]), 5);
    let after = place.look();
    oracle::nothing_lost(place, &before, &after);
    match run.code {
        Some(0) => {
            assert_eq!(dry.code, Some(0), "{}the dry run was refused, and it was done:\n{dry}", place.story());
            foretold::exactly(place, &before, &after, &dry);
            if before.has_other_contents(&after) {
                oracle::owes(place, &before);
            }
            if let Some(name) = checkpoint {
                oracle::is_as_saved(place, name, (&before, &after), &dry);
            }
            if let ["rollback", "task", task] = args {
                // As if nobody had worked on it.
                assert_eq!(after.tasks.get(*task).map(String::as_str), Some("pending"), "{}{run}", place.story());
            }
            and_back(place, dice, &before, &after, &run);
        }
        // Nothing names what undo would take back, and it was not a person's: a dry run shows it all the same.
        Some(3) if args == ["undo"] && run.stdout.contains("NEEDS_CONFIRMATION") => {
            oracle::same(place, &before, &after, "a verb that failed changed something");
        }
        Some(_) => {
            oracle::same(place, &before, &after, "a verb that failed changed something");
            assert_eq!(dry.code, run.code, "{}the dry run said otherwise:\n{dry}\n{run}", place.story());
        }
        None => after_kill(place, dice, &before, &run),
    }
}

fn cases(place: &mut Place, dice: &mut Random) {
    let all = tasks(place);
    let task = dice.pick(&all).cloned().unwrap_or_else(|| "task-001".into());
    let before = place.look();
    let args: &[&str] = match dice.below(5) {
        0 => &["task", "block", &task, "--reason", "because"],
        1 => &["task", "unblock", &task],
        2 => &["task", "edit", &task, "--title", "another title"],
        3 => &["mode", "autopilot"],
        _ => &["mode", "semi-auto"],
    };
    let run = place.axiom(args);
    let mut after = place.look();
    if run.code == Some(0) {
        after.mode.clone_from(&before.mode);
        after.tasks.clone_from(&before.tasks);
        after.titles.clone_from(&before.titles);
    }
    oracle::same(place, &before, &after, "a verb of tasks changed files or refs");
}

fn delete(place: &mut Place, dice: &mut Random) {
    let names: Vec<String> = place.checkpoints.keys().cloned().collect();
    let Some(name) = dice.pick(&names).cloned() else { return };
    let before = place.look();
    let args: &[&str] = if dice.once_in(3) {
        &["checkpoint", "cleanup", "--keep", "3", "--protected", "--yes", "--json"]
    } else {
        &["checkpoint", "delete", &name, "--protected", "--yes", "--json"]
    };
    let (listed, dry) = (listed(place), place.axiom(&[args, &["--dry-run"]].concat()));
    let run = faulty(place, dice, args, 6);
    if run.code.is_none() {
        after_kill(place, dice, &before, &run);
    } else {
        foretold::deleted(place, &listed, &self::listed(place), &dry, &run);
    }
    forget_deleted(place);
    if let (Some(0), Some(undo), true) = (run.code, undo_of(&run), dice.once_in(2)) {
        let words: Vec<&str> = undo.split(' ').skip(2).collect();
        let back = place.axiom(&[&words[..], &["--yes", "--json"]].concat());
        assert_eq!(back.code, Some(0), "{}{back}", place.story());
    }
    let after = place.look();
    oracle::same(place, &before, &after, "deleting checkpoints changed files or refs");
}

/// Checkpoints that are no longer listed cannot be gone back to.
pub fn forget_deleted(place: &mut Place) {
    let names = listed(place);
    place.checkpoints.retain(|name, _| names.contains(name));
}

fn listed(place: &Place) -> BTreeSet<String> {
    let list = place.env.axiom(&["checkpoint", "list", "--json"]);
    let document: Value = serde_json::from_str(&list.stdout).unwrap_or_default();
    let names = document["checkpoints"].as_array().into_iter().flatten().filter_map(|one| one["name"].as_str());
    names.map(str::to_owned).collect()
}

fn housekeeping(place: &mut Place, dice: &mut Random) {
    let before = place.look();
    let args: &[&str] = match dice.below(5) {
        0 => &["checkpoint", "verify"],
        1 => &["checkpoint", "verify", "--repair"],
        2 => &["checkpoint", "compact"],
        3 => &["recover", "--yes"],
        _ => &["init"],
    };
    let run = place.axiom(args);
    // A person may have deleted the notes or tags: that is said, and costs nothing that `--repair` does not bring back. What is not held
    // any more, since its workspace was removed, is said beside it.
    let only_lost = |line: &str| {
        let named = line.ends_with("its note is gone") || (line.contains(": its tag ") && line.ends_with(" is gone"));
        named || (line.contains(": the submodule ") && line.contains(" is not held any more: "))
    };
    let named = args == ["checkpoint", "verify"] && run.code == Some(1) && run.stdout.lines().all(only_lost);
    assert!(run.code == Some(0) || named, "{}{run}", place.story());
    let after = place.look();
    oracle::same(place, &before, &after, "housekeeping changed files or refs");
}
