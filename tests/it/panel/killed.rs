//! What ends the panel without asking: it panics, or is killed.

use rustix::process::{Signal, kill_process};

use super::{Panel, in_scratch, with_a_task};

#[test]
fn after_a_panic_the_terminal_is_as_it_was_before_anything_is_said() {
    let scratch = with_a_task();
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    command.arg("panel").env("AXIOM_TEST_PANIC", "panel.input");
    let mut panel = Panel::start(command, (24, 80));
    panel.shows(&["No agent has worked yet"]);
    panel.type_keys(&["j"]);
    while panel.terminal.is_running() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(panel.terminal.is_as_shells_want_it());
    let (status, seen) = panel.terminal.end();
    assert!(!status.success());
    // The hook of panics gives it back: where a panic aborts, nothing else would.
    let (_, after) = seen.split_once("\x1b[?1049l").unwrap();
    assert!(after.contains("AXIOM_TEST_PANIC: panel.input") && !after.contains("\x1b[?1049h"), "{seen:?}");
    assert!(!seen.split_once("\x1b[?1049l").unwrap().0.contains("AXIOM_TEST_PANIC"), "{seen:?}");
    let marks = scratch.path().join(".git/axiom/panels");
    assert_eq!(std::fs::read_dir(marks).unwrap().count(), 0, "its terminal was given back");
}

#[test]
fn after_a_kill_the_next_start_says_reset_once_and_a_living_panel_is_left_alone() {
    let scratch = with_a_task();
    let mut killed = in_scratch(&scratch);
    killed.shows(&["No agent has worked yet"]);
    let mut other = in_scratch(&scratch);
    assert!(!other.shows(&["No agent has worked yet"]).contains("reset"), "the first one lives");
    kill_process(killed.terminal.pid(), Signal::KILL).unwrap();
    while killed.terminal.is_running() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(!killed.terminal.is_as_shells_want_it());
    let mut next = in_scratch(&scratch);
    next.shows(&["a panel was killed here", "type: reset"]);
    let mut again = in_scratch(&scratch);
    assert!(!again.shows(&["No agent has worked yet"]).contains("reset"), "it is said once");
    for panel in [&mut next, &mut again, &mut other] {
        panel.type_keys(&["q"]);
    }
    for panel in [next, again, other] {
        assert!(panel.terminal.end().0.success());
    }
    assert_eq!(std::fs::read_dir(scratch.path().join(".git/axiom/panels")).unwrap().count(), 0);
}

#[test]
fn wrong_keys_are_told_by_config_check_too() {
    let scratch = with_a_task();
    for (keys, why) in [("tasks=s", "'s' is the key of 'stop' and of 'tasks'"), ("stopp=z", "there is no command 'stopp'")] {
        scratch.git(&["config", "axiom.panel.keys", keys]);
        scratch.refused(&["config", "check"], "CONFIG_INVALID", 1);
        let said = String::from_utf8(scratch.axiom_with(&["config", "check"], &[]).stderr).unwrap();
        assert!(said.contains(why), "{said}");
    }
    scratch.git(&["config", "axiom.panel.keys", "tasks=T"]);
    scratch.axiom(&["config", "check"]);
}
