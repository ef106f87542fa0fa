//! A live session, with a real supervisor and agents: `q` where agents run, `d`, and the mouse.

use crate::session_support::{Live, World, kill, wait_until};

use super::Panel;

/// A session with one agent at work, and the panel on it.
fn at_work(world: &World) -> (Live, Panel) {
    world.waiting_task("t");
    let live = world.start_until_begun();
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    let panel = Panel::of(world, (24, 80));
    panel.shows(&["running", "agent-001", "1 working"]);
    (live, panel)
}

fn asked(panel: &mut Panel) {
    panel.type_keys(&["q"]);
    panel.shows(&["QUIT?", "1 agent is running: agent-001 on t", "Leave it running", "Cancel"]);
}

fn made(world: &World, trigger: &str) -> usize {
    let made = world.env.json(&["checkpoint", "list"]);
    made["checkpoints"].as_array().unwrap().iter().filter(|made| made["trigger"] == trigger).count()
}

#[test]
fn q_asks_cancels_and_quits() {
    let world = World::new();
    let (live, mut panel) = at_work(&world);
    // Cancel by Escape, and by its own row.
    asked(&mut panel);
    panel.type_keys(&["\x1b"]);
    panel.shows(&["agent-001", "1 working"]);
    asked(&mut panel);
    panel.type_keys(&["\x1b[F", "\r"]);
    assert_eq!(world.agents()[0]["state"], "running");
    assert!(panel.terminal.is_running());
    asked(&mut panel);
    panel.type_keys(&["q"]);
    assert!(panel.terminal.end().0.success());
    live.wait().code(0);
    assert_eq!((made(&world, "manual"), world.status_of("t").as_str()), (0, "pending"));
    // What the agent did is committed.
    assert_eq!(world.env.git(&["show", "axiom/t:t.txt"]), "1");
    world.all_is_well();
}

#[test]
fn q_makes_a_checkpoint_first_where_it_is_told_to() {
    let world = World::new();
    let (live, mut panel) = at_work(&world);
    asked(&mut panel);
    panel.type_keys(&["s"]);
    assert!(panel.terminal.end().0.success());
    live.wait().code(0);
    assert_eq!(made(&world, "manual"), 1);
    world.all_is_well();
}

#[test]
fn d_opens_the_workspace_holds_its_agent_and_lets_it_go_on() {
    let world = World::new();
    let beside = world.env.root().display();
    let script = format!("touch '{beside}/begun'; while [ ! -f '{beside}/go' ]; do echo x >> '{beside}/beats'; sleep 0.01; done");
    world.task("t", &script, &[]);
    let live = world.start_until_begun();
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    let beats = || std::fs::metadata(world.beside("beats")).map_or(0, |meta| meta.len());
    let editor = format!(
        "f() {{ cd \"$1\" && echo human > human.txt; touch '{beside}/editor'; while [ ! -f '{beside}/editor-go' ]; do sleep 0.02; done; }}; f"
    );
    let mut command = world.env.axiom_command(&world.env.repo(), ["panel"]);
    command.env("GIT_EDITOR", editor);
    let mut panel = Panel::start(command, (24, 80));
    panel.shows(&["running", "agent-001"]);
    panel.type_keys(&["d"]);
    world.wait_for_file("editor");
    let before = beats();
    std::thread::sleep(std::time::Duration::from_millis(150));
    assert_eq!(beats(), before, "it is held");
    world.signal_file("editor-go");
    panel.shows(&["agent-001 goes on in", "agent-001", "1 working"]);
    let before = beats();
    wait_until("it goes on", || beats() > before);
    panel.type_keys(&["q", "l"]);
    assert!(panel.terminal.end().0.success());
    world.signal_file("go");
    world.wait_until_merged("t");
    live.wait().code(0);
    assert_eq!(world.env.read("human.txt"), "human\n");
    world.all_is_well();
}

/// A click on a cell, from 1; a terminal tells of press and release.
fn click(column: u16, row: u16) -> String {
    format!("\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m")
}

const WHEEL_UP: &str = "\x1b[<64;5;5M";
const WHEEL_DOWN: &str = "\x1b[<65;5;5M";

#[test]
fn clicks_select_and_the_wheel_scrolls() {
    let world = World::new();
    let wait = world.until_go();
    world.task("a", &format!("for n in $(seq 100); do echo line $n; done; {wait}"), &[]);
    world.task("b", "echo 1 > b.txt", &["--after", "a"]);
    let live = world.start_until_begun();
    let mut panel = Panel::of(&world, (24, 80));
    let screen = panel.shows(&["running", "agent-001", "2 Tasks (2)"]);
    // A click on a tab shows its view; the tabs are in the second line.
    let tab = |name: &str| u16::try_from(screen.lines().nth(1).unwrap().find(name).unwrap() + 1).unwrap();
    panel.type_keys(&[&click(tab("Tasks"), 2)]);
    let screen = panel.shows(&["WAITED FOR"]);
    // A click on a row selects it.
    let row = screen.lines().position(|line| line.trim_start().starts_with("b ")).unwrap() + 1;
    panel.type_keys(&[&click(5, u16::try_from(row).unwrap())]);
    panel.shows(&["after a"]);
    panel.type_keys(&[&click(tab("Output"), 2)]);
    panel.shows(&["agent-001 on a: follows", "line 100"]);
    panel.type_keys(&[WHEEL_UP, WHEEL_UP]);
    let screen = panel.shows(&["6 lines above the end"]);
    assert!(!screen.contains("line 100"), "{screen}");
    panel.type_keys(&[WHEEL_DOWN, WHEEL_DOWN]);
    panel.shows(&["agent-001 on a: follows", "line 100"]);
    // In a list the wheel moves the selection; in a dialog it moves there, and a click does nothing.
    panel.type_keys(&["2", WHEEL_UP, WHEEL_UP, "?"]);
    panel.shows(&["KEYS", "Selected agent"]);
    panel.type_keys(&[WHEEL_DOWN, &click(5, 5)]);
    let screen = panel.shows(&["KEYS"]);
    assert!(screen.contains("Stop the agent"), "{screen}");
    panel.type_keys(&["\x1b"]);
    let screen = panel.shows(&["WAITED FOR"]);
    assert!(!screen.contains("after a"), "the first row is selected again: {screen}");
    panel.type_keys(&["q", "l"]);
    assert!(panel.terminal.end().0.success());
    world.signal_file("go");
    live.wait().code(0);
}

/// No event tells of it: it is seen of the processes, also where the panel has read these events before.
#[test]
fn after_a_crash_nothing_is_said_to_be_active_on_which_nobody_works() {
    let world = World::new();
    let (mut live, mut panel) = at_work(&world);
    panel.type_keys(&["2"]);
    panel.shows(&["DONE", "active"]);
    live.kill();
    world.keepers_die();
    panel.shows(&["interrupted", "crashed", "1 working"]);
    panel.type_keys(&["1"]);
    panel.shows(&["orphaned"]);
    for (pid, words) in world.processes() {
        if !words.contains(" panel") {
            kill(pid);
        }
    }
    panel.shows(&["dead", "crashed", "0 working"]);
    panel.type_keys(&["q"]);
    assert!(panel.terminal.end().0.success());
}
