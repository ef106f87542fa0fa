//! What `status`, `log`, `graph`, `task` and `diff` tell is so: as git has it, by whoever did it, and as the processes are.

use serde_json::json;

use crate::session_support::World;

#[test]
fn the_graph_names_what_is_not_merged_as_git_has_it() {
    let world = World::new();
    world.task("t", "echo one > t.txt; git add -A; git commit -qm one; echo two >> t.txt", &[]);
    world.task("old", "echo 1 > old.txt", &[]);
    let live = world.start(&["--mode", "review"]);
    world.wait_for_gate("merge-t");
    world.wait_for_gate("merge-old");
    world.env.ok(&["task", "archive", "old"]);
    let drawn = world.env.ok(&["graph"]);
    assert!(drawn.lines().next().unwrap().ends_with("; not merged: t: 2 lines"), "{drawn}");
    assert_eq!(world.env.json(&["graph"])["atRisk"]["workspaces"], json!([{"taskId": "t", "changedLines": 2}]));
    world.quits_well(live);
}

#[test]
fn an_archived_task_that_was_never_finished_is_not_complete() {
    let world = World::new();
    world.task("t", "", &[]);
    world.env.ok(&["task", "archive", "t"]);
    assert_eq!(world.find_task("t")["progress"], 0);
}
