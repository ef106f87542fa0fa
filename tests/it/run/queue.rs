//! Tasks that are added, edited, blocked or archived while a session runs, and the checkpoints that it makes as they are completed.

use crate::session_support::{World, wait_until};

fn gatekeeper(world: &World) {
    let wait = world.until_go();
    world.task("first", &wait, &[]);
}

#[test]
fn what_is_queued_can_be_edited_blocked_archived_and_added_meanwhile() {
    let world = World::new();
    gatekeeper(&world);
    for task in ["edited", "blocked", "archived"] {
        world.task(task, &format!("echo old > {task}.txt"), &["--after", "first"]);
    }
    let live = world.start_autopilot(&["--agents", "1"]);
    world.wait_for_file("begun");
    world.env.ok(&["task", "edit", "edited", "--body", "echo new > edited.txt"]);
    world.env.ok(&["task", "block", "blocked", "--reason", "waits for the lawyers"]);
    world.env.ok(&["task", "archive", "archived"]);
    world.task("added", "echo new > added.txt", &["--after", "edited"]);
    world.signal_file("go");
    let ended = live.wait().code(1);
    assert_eq!(ended.stdout, "blocked is blocked: waits for the lawyers\n");
    assert_eq!((world.env.read("edited.txt"), world.env.read("added.txt")), ("new\n".into(), "new\n".into()));
    assert!(!world.env.repo().join("blocked.txt").exists() && !world.env.repo().join("archived.txt").exists());
    world.all_is_well();
}

#[test]
fn a_gate_whose_task_went_away_keeps_nobody_waiting() {
    let world = World::new();
    world.task("t", "true", &[]);
    world.task("u", "true", &[]);
    let live = world.start(&["--mode", "semi-auto"]);
    world.wait_for_gate("claim-t");
    world.wait_for_gate("claim-u");
    world.env.ok(&["task", "archive", "t"]);
    world.env.ok(&["task", "block", "u", "--reason", "later"]);
    wait_until("their gates are closed", || world.gates().is_empty());
    world.env.ok(&["quit"]);
    live.wait().code(0);
    world.env.ok(&["task", "archive", "u"]);
    world.start(&["--mode", "semi-auto", "--until-idle"]).wait().code(0);
    world.all_is_well();
}

#[test]
fn an_empty_list_of_tasks_ends_at_once_and_an_idle_session_costs_little() {
    let world = World::new();
    world.autopilot(&[]).code(0);
    let live = world.start(&["--mode", "autopilot"]);
    wait_until("it runs", || world.env.json(&["status"])["session"]["state"] == "running");
    std::thread::sleep(std::time::Duration::from_millis(200));
    let ticks = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", live.pid())).unwrap();
        let fields: Vec<u64> = stat.rsplit_once(") ").unwrap().1.split(' ').filter_map(|field| field.parse().ok()).collect();
        // Without the letter of the state: utime and stime are the 11th and 12th after it.
        fields[10] + fields[11]
    };
    let before = ticks();
    std::thread::sleep(std::time::Duration::from_secs(3));
    let used = ticks() - before;
    println!("an idle session uses {used} of 300 ticks");
    assert!(used <= 30, "an idle session uses {used} ticks of 300, even of a debug build");
    world.quits_well(live);
}

#[test]
fn a_checkpoint_is_made_each_time_that_so_many_tasks_are_completed() {
    for (every, expected) in [("2", 2), ("0", 0)] {
        let world = World::new();
        world.env.git(&["config", "axiom.checkpoints.periodic", every]);
        for id in ["a", "b", "c", "d", "e"] {
            world.task(id, &format!("echo 1 > {id}.txt"), &[]);
        }
        world.autopilot(&[]).code(0);
        let list = world.env.json(&["checkpoint", "list"]);
        let made = list["checkpoints"].as_array().unwrap().iter().filter(|one| one["trigger"] == "periodic").count();
        assert_eq!(made, expected, "{every}: {list}");
        world.all_is_well();
    }
}
