//! The user's stash, which is one for all worktrees: agents take entries of it.

use serde_json::Value;

use super::Oddity;
use crate::histories::place::Place;
use crate::histories::world::World;
use crate::histories::{held, oracle};

/// What an agent does to it, and how its work goes on.
pub fn of_an_agent(place: &mut Place) -> &'static str {
    let odd = &mut place.odd;
    if !odd.has(Oddity::Stash) || !odd.once_in(2) {
        return "";
    }
    if odd.once_in(2) { "git stash drop -q; " } else { "git stash pop -q || git reset -q --hard; " }
}

pub fn step(place: &mut Place) {
    let path = place.env.repo().join("a.txt");
    if path.is_file() && !path.is_symlink() {
        super::write(place, &path);
    }
    place.git(&["stash", "push", "-q"]);
}

/// After a session: what agents took is kept, named in the log, and comes back by the command that is named there.
pub fn comes_back(place: &mut Place, before: &World) {
    let taken = |place: &Place| -> Vec<String> {
        let now = place.look().stash;
        before.stash.iter().filter(|id| !now.contains(id)).cloned().collect()
    };
    let gone = taken(place);
    if gone.is_empty() {
        return;
    }
    let lost = held::refs(place).lost(gone.iter().map(String::as_str));
    assert!(lost.is_empty(), "{}agents took stash entries, and nothing keeps them: {lost:?}", place.story());
    if place.odd.once_in(2) {
        return;
    }
    let log: Value = serde_json::from_str(&place.env.axiom(&["log", "--json"]).stdout).unwrap();
    let all = log["operations"].as_array().unwrap();
    let undoable = all
        .iter()
        .filter(|one| one["undoable"] == true && one["what"].as_str().is_some_and(|what| what.starts_with("the stash entr")));
    let ids: Vec<String> = undoable.map(|one| one["id"].as_str().unwrap().to_owned()).collect();
    assert!(!ids.is_empty(), "{}the log does not name what agents took from the stash: {log}", place.story());
    for id in ids {
        let before = place.look();
        let undone = place.axiom(&["undo", &id, "--yes", "--json"]);
        assert_eq!(undone.code, Some(0), "{}{undone}", place.story());
        oracle::nothing_lost(place, &before, &place.look());
    }
    let gone = taken(place);
    assert!(gone.is_empty(), "{}stash entries that agents took did not come back: {gone:?}\n{log:#}", place.story());
}
