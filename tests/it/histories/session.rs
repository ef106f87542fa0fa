//! Sessions of agents, to their end.

use serde_json::Value;

use crate::common::random::Random;
use crate::histories::faults::{after_kill, faulty};
use crate::histories::place::Place;
use crate::histories::{oracle, places, transcript};

/// A session with one new task or two, to its end.
pub fn step(place: &mut Place, dice: &mut Random) {
    for _ in 0..=dice.below(2) {
        let text = place.text().replace('\n', ";");
        let file = *dice.pick(&["work.txt", "a.txt", "sub/b.txt", "d.txt"]).unwrap();
        let odd = places::of_an_agent(place);
        let body = format!("{odd}mkdir -p sub; echo '{text}' >> {file}; echo '{text}' > $AXIOM_TASK_ID.txt");
        place.axiom(&["task", "add", "a piece of work", "--body", &body]);
    }
    let before = place.look();
    let begun = before.clone();
    let mode = *dice.pick(&["autopilot", "autopilot", "semi-auto"]).unwrap();
    let agents = transcript::agents();
    let run = faulty(place, dice, &["run", "--mode", mode, "--until-idle", "--agents", agents], 8);
    oracle::nothing_lost(place, &before, &place.look());
    let killed = run.code.is_none();
    if killed {
        after_kill(place, dice, &before, &run);
    }
    if mode == "semi-auto" {
        let gates = place.env.axiom(&["gate", "list", "--json"]);
        let document: Value = serde_json::from_str(&gates.stdout).unwrap_or_default();
        for gate in document["gates"].as_array().into_iter().flatten() {
            if dice.below(3) > 0 {
                place.axiom(&["gate", "approve", gate["id"].as_str().unwrap()]);
            }
        }
        let before = place.look();
        place.axiom(&["run", "--until-idle", "--agents", transcript::agents()]);
        oracle::nothing_lost(place, &before, &place.look());
    }
    if !killed {
        places::comes_back(place, &begun);
    }
}
