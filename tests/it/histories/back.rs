//! Back and forth again: exactly what was before, exactly what was after.

use serde_json::Value;

use crate::common::Run;
use crate::common::random::Random;
use crate::histories::oracle;
use crate::histories::place::Place;
use crate::histories::world::World;

/// As it is where nobody is at work any more: going back has stopped agents, and an undo starts none.
fn at_rest(world: &World) -> World {
    let mut world = world.clone();
    for status in world.tasks.values_mut().filter(|status| *status == "active") {
        *status = "pending".to_owned();
    }
    world
}

/// Undo, and redo: exactly what was before, exactly what was after.
pub fn and_back(place: &mut Place, dice: &mut Random, before: &World, after: &World, run: &Run) {
    if dice.once_in(2) {
        return;
    }
    let Some(undo) = undo_of(run) else {
        return oracle::same(place, before, after, "something changed, and no undo was named");
    };
    let words: Vec<&str> = undo.split(' ').skip(2).collect();
    let back = place.axiom(&[&words[..], &["--yes", "--json"]].concat());
    assert_eq!(back.code, Some(0), "{}{back}", place.story());
    let undone = place.look();
    oracle::same(place, &at_rest(before), &without_taken(&undone, run, &back), "undo does not bring back what was");
    oracle::nothing_lost(place, after, &undone);
    if dice.once_in(2) {
        let words: Vec<String> = undo_of(&back).unwrap().split(' ').skip(2).map(str::to_owned).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let again = place.axiom(&[&words[..], &["--yes", "--json"]].concat());
        assert_eq!(again.code, Some(0), "{}{again}", place.story());
        let redone = place.look();
        oracle::same(place, after, &redone, "redo does not bring back what was undone");
    }
}

/// Without the entries of the stash that an agent had taken: they may be in what was merged, and come back with the undo of the merge.
fn without_taken(undone: &World, merged: &Run, back: &Run) -> World {
    let mut world = undone.clone();
    if document(merged)["verb"] == "merge" {
        let named = document(back)["stash"].clone();
        let is_named = |id: &String| named.as_array().into_iter().flatten().any(|line| line["id"] == id.as_str());
        world.stash.retain(|id| !is_named(id));
    }
    world
}

fn document(run: &Run) -> Value {
    run.stdout.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default()
}

pub fn undo_of(run: &Run) -> Option<String> {
    Some(document(run)["undo"].as_str()?.to_owned())
}
