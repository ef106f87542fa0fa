//! Questions that wait besides gates, answered in the panel: what a crash left, and the project's files.

use crate::session_support::World;

use super::{Panel, in_scratch, with_a_task};

/// A session that died in the middle of `t`, whose work has begun.
fn died() -> World {
    let world = World::new();
    world.waiting_task("t");
    let mut live = world.start_until_begun();
    crate::session_support::wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    live.kill();
    world.all_die();
    world
}

/// The panel with the question of the recovery open.
fn asked(world: &World) -> Panel {
    let mut panel = Panel::of(world, (30, 100));
    panel.shows(&["recover", "the last session ended unexpectedly: 3, then Enter, or git axiom recover"]);
    panel.type_keys(&["3"]);
    panel.shows(&["recovery", "no supervisor attends to agent-001"]);
    panel.type_keys(&["\r"]);
    panel.shows(&["RECOVERY", "resumable  t (agent-001, iteration 1", "Leave it waiting", "(recommended)", "[o] Abandon"]);
    panel
}

fn closed(mut panel: Panel) {
    panel.type_keys(&["\x1b", "q"]);
    assert!(panel.terminal.end().0.success());
}

#[test]
fn a_crash_is_recovered_where_it_is_shown() {
    let world = died();
    let mut panel = asked(&world);
    // The first choice, and Escape, change nothing.
    panel.type_keys(&["\r", "\r"]);
    panel.shows(&["RECOVERY", "Leave it waiting"]);
    panel.type_keys(&["w"]);
    panel.shows(&["WHAT IS THERE", "t: t (interrupted", "workspace:"]);
    panel.type_keys(&["\x1b"]);
    assert_eq!(world.env.json(&["recover"])["needed"], true, "nothing was changed");
    panel.type_keys(&["\r"]);
    panel.shows(&["RECOVERY", "[y] Go on from what is there"]);
    panel.type_keys(&["y"]);
    panel.shows(&["RECOVERING", "t  goes on", "Recovered."]);
    panel.type_keys(&["\x1b"]);
    panel.shows(&["Nothing waits for you", "no session"]);
    assert_eq!(world.env.json(&["recover"])["needed"], false);
    assert_eq!(world.status_of("t"), "pending");
    closed(panel);
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "1\n");
    world.all_is_well();
}

#[test]
fn what_was_cut_off_is_abandoned_as_it_was_shown() {
    let world = died();
    let mut panel = asked(&world);
    panel.type_keys(&["a"]);
    panel.shows(&["BEGIN ANEW WHAT CANNOT GO ON", "as it is   1 task: t"]);
    panel.type_keys(&["\x1b", "\r"]);
    panel.shows(&["RECOVERY", "[o] Abandon"]);
    panel.type_keys(&["o"]);
    panel.shows(&["ABANDON", "This takes out of the plan:", "t: ", "Branches and workspaces stay.", "git axiom undo"]);
    assert_eq!(world.status_of("t"), "active");
    panel.type_keys(&["\r"]);
    panel.shows(&["1 task abandoned. To take that back: git axiom undo"]);
    assert_eq!(world.status_of("t"), "archived");
    closed(panel);
    world.env.ok(&["undo", "--yes"]);
    assert_eq!(world.status_of("t"), "pending");
}

#[test]
fn the_projects_files_are_approved_exactly_as_they_were_shown() {
    let scratch = with_a_task();
    scratch.write(".axiom/config.toml", "[agents]\ncount = 5\n");
    let standing = || scratch.json(&["trust", "--show"])["standing"].as_str().unwrap().to_owned();
    let mut panel = in_scratch(&scratch);
    panel.shows(&["3 Gates (1)", "1 for you"]);
    panel.type_keys(&["3"]);
    panel.shows(&["trust", "nothing of the project's files"]);
    panel.type_keys(&["\r"]);
    panel.shows(&["THE PROJECT'S FILES", "agents.count  5  (now 2)", "count = 5", "[a] Approve exactly this"]);
    // Somebody changes them before the answer.
    scratch.write(".axiom/config.toml", "[agents]\ncount = 6\n");
    panel.type_keys(&["a"]);
    panel.shows(&["CHANGED_MEANWHILE", "nothing was approved"]);
    assert_eq!(standing(), "waiting");
    panel.type_keys(&["\x1b", "\r"]);
    panel.shows(&["agents.count  6  (now 2)"]);
    panel.type_keys(&["a"]);
    panel.shows(&["Approved 1 file. To take it back: git axiom trust --revoke", "Nothing waits for you"]);
    assert_eq!(standing(), "approved");
    // What cannot be applied cannot be approved.
    scratch.write(".axiom/config.toml", "[agents]\ncount = \"many\"\n");
    panel.type_keys(&[":", "t", "a", "s", "k", " ", "l", "i", "s", "t", "\r"]);
    panel.shows(&["[exit status 0"]);
    panel.type_keys(&["\r"]);
    panel.shows(&["trust", "have changed"]);
    panel.type_keys(&["\r"]);
    let screen = panel.shows(&["The project's configuration cannot be applied", "[Esc] close"]);
    assert!(!screen.contains("[a]"), "{screen}");
    panel.type_keys(&["\x1b", "q"]);
    assert!(panel.terminal.end().0.success());
}

#[test]
fn project_files_that_are_long_are_read_and_approved_elsewhere() {
    let scratch = with_a_task();
    scratch.write(".axiom/config.toml", format!("[agents]\ncount = 5\n{}", "# more\n".repeat(300)));
    let mut panel = in_scratch(&scratch);
    panel.type_keys(&["3"]);
    panel.shows(&["trust", "nothing of the project's files"]);
    panel.type_keys(&["\r"]);
    let screen = panel.shows(&["302 lines", "in another terminal: git axiom trust", "[Esc] close"]);
    assert!(!screen.contains("[a]"), "{screen}");
    panel.type_keys(&["a", "\x1b", "q"]);
    assert!(panel.terminal.end().0.success());
    assert_eq!(scratch.json(&["trust", "--show"])["standing"], "waiting");
}

#[test]
fn before_old_checkpoints_go_there_is_one_of_what_is_there() {
    let scratch = with_a_task();
    for text in ["1\n", "2\n", "3\n", "4\n"] {
        scratch.write("a.txt", text);
        scratch.axiom(&["checkpoint", "create"]);
    }
    let triggers = || {
        let list = scratch.json(&["checkpoint", "list"]);
        list["checkpoints"].as_array().unwrap().iter().filter(|one| one["trigger"] == "before-cleanup").count()
    };
    let mut panel = in_scratch(&scratch);
    panel.type_keys(&["C", "o"]);
    panel.shows(&["DELETE OLD CHECKPOINTS"]);
    panel.type_keys(&["0", "\r"]);
    panel.shows(&["DELETE CHECKPOINTS", "Deletes 1 checkpoint", "git axiom undo"]);
    assert_eq!(triggers(), 0);
    panel.type_keys(&["\r"]);
    panel.shows(&["Deleted 1 checkpoint"]);
    assert_eq!(triggers(), 1);
    panel.type_keys(&["\x1b", "\x1b", "q"]);
    assert!(panel.terminal.end().0.success());
}
