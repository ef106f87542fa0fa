//! Markers of a conflict that git does not know of any more: whatever an agent stages or commits, they do not get into the target.

use super::prompts::{has, world_of};

/// Two files in conflict, with the target's commit made behind the agent's back.
const CONFLICT: &str = "1) echo mine > README; echo mine > other; (cd ../.. && echo theirs > README && echo theirs > other && \
    git commit -qam theirs); git axiom signal complete;;";

fn both_sides(then: &str) -> crate::session_support::World {
    let world = world_of(&format!("{CONFLICT}\n{then}"));
    world.env.write("other", "other\n");
    world.env.git(&["add", "-A"]);
    world.env.git(&["commit", "-qm", "other"]);
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    world
}

#[test]
fn what_is_staged_with_its_markers_is_no_settled_conflict() {
    let world = both_sides(
        "2) echo both > README; git add -A; git axiom signal complete;;\n\
         3) git diff --name-only --cached > ../../../staged; echo both > other; git axiom signal complete;;",
    );
    world.autopilot(&[]).code(0);
    has(&world, 3, &["has a conflict that is not resolved", "- other"]);
    assert_eq!((world.env.read("README").as_str(), world.env.read("other").as_str()), ("both\n", "both\n"));
    // What it did is there: nobody is told to begin from the beginning.
    for number in [2, 3] {
        let prompt = std::fs::read_to_string(world.beside(&format!("prompt.{number}"))).unwrap();
        assert!(prompt.contains("conflict") && !prompt.contains("begins anew"), "{prompt}");
    }
    assert!(!world.env.git(&["log", "-p", "-m", "--format=%H", "main"]).contains("+<<<<<<<"));
    world.all_is_well();
}

#[test]
fn what_is_staged_with_its_markers_is_not_committed_for_an_agent_that_is_killed() {
    let world = both_sides(
        "2) echo both > README; git add -A; kill -9 $PPID; sleep 100;;\n*) echo both > other; git axiom signal complete;;",
    );
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("other"), "both\n");
    assert!(!world.env.git(&["log", "-p", "-m", "--format=%H", "main"]).contains("+<<<<<<<"));
    world.all_is_well();
}

#[test]
fn what_is_committed_with_its_markers_waits_for_a_human() {
    let world = both_sides("*) echo both > README; git add -A; git commit -qm all; git axiom signal complete;;");
    world.autopilot(&[]).code(1);
    assert_eq!(world.env.read("other"), "theirs\n", "nothing is merged");
    let gates = world.gates();
    let reason = gates[0]["reason"].as_str().unwrap();
    assert!(gates.len() == 1 && reason.contains("other") && reason.contains("markers of a conflict"), "{gates:?}");
    let dry = world.env.axiom(&["merge", "t"]);
    assert!(dry.code != Some(0) && dry.stderr.contains("markers of a conflict") && !dry.stderr.contains("stash"), "{dry}");
    // Settled by hand.
    let workspace = world.show("t")["workspace"].as_str().unwrap().to_owned();
    let workspace = std::path::Path::new(&workspace);
    std::fs::write(workspace.join("other"), "both\n").unwrap();
    world.env.git_in(workspace, &["commit", "-qam", "settled"]);
    world.env.ok(&["gate", "approve", "--all"]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("other"), "both\n");
    world.all_is_well();
}

/// The target moves between the conflict that was given to the agent and the merge that it made.
#[test]
fn what_another_merge_than_the_given_one_left_is_seen_too() {
    let world = both_sides(
        "2) git merge --abort; (cd ../.. && echo more > new && git add new && echo later > third && git add third && git commit -qm later); \
            echo mine > third; git add third; git commit -qm third; git merge -q main; echo both > README; echo both > other; \
            git add -A; git commit -qm all; git axiom signal complete;;",
    );
    world.autopilot(&[]).code(1);
    let gates = world.gates();
    assert!(gates[0]["reason"].as_str().unwrap().contains("third still with the markers"), "{gates:?}");
    assert_eq!(world.env.read("third"), "later\n");
    // A human may want them.
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.autopilot(&[]).code(0);
    assert!(world.env.read("third").contains("<<<<<<<"));
    world.all_is_well();
}
