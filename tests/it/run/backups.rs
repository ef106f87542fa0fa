//! Backups of the event log while a session runs: `state.eventLogBackupInterval` and `state.eventLogBackupCount`.

use std::path::PathBuf;

use crate::session_support::{World, wait_until};

fn backup(world: &World, number: u32) -> PathBuf {
    let name = if number == 0 { "events.jsonl.backup".to_owned() } else { format!("events.jsonl.backup.{number}") };
    world.env.axiom_dir().join("state").join(name)
}

fn read(world: &World, number: u32) -> String {
    std::fs::read_to_string(backup(world, number)).unwrap_or_default()
}

/// Both backups as they stand at one moment: a session may move them on between two reads.
fn pair(world: &World) -> (String, String) {
    let mut found = (String::new(), String::new());
    wait_until("both backups are read between two copies", || {
        found = (read(world, 0), read(world, 1));
        read(world, 0) == found.0 && !found.0.is_empty() && !found.1.is_empty()
    });
    found
}

#[test]
fn state_event_log_backup_interval_is_how_often_a_session_copies_the_log() {
    let world = World::new();
    world.env.git(&["config", "axiom.state.eventLogBackupInterval", "1"]);
    world.env.git(&["config", "axiom.state.eventLogBackupCount", "2"]);
    let live = world.start(&["--mode", "semi-auto"]);
    let mut added = 0;
    let mut something_happens = || {
        added += 1;
        world.env.ok(&["task", "add", "x", "--id", &format!("x{added}")]);
    };
    for number in [0, 1] {
        wait_until("there is a backup", || {
            something_happens();
            backup(&world, number).exists()
        });
    }
    let (newest, older) = pair(&world);
    assert!(newest.ends_with('\n') && newest.starts_with(&older) && newest.len() > older.len(), "{newest}\n{older}");
    wait_until("there is another one", || {
        something_happens();
        read(&world, 0) != newest
    });
    assert!(!backup(&world, 2).exists(), "two are kept");
    world.quits_well(live);
    // They are what recovery can begin with.
    world.env.write(".git/axiom/state/events.jsonl", "garbage\n");
    let look = world.env.axiom(&["recover"]);
    assert!(look.stdout.contains("\n[B] backup: ") && look.stdout.contains("\n[B] backup.1: "), "{look}");
    world.env.ok(&["recover", "--from", "backup.1", "--yes"]);
    assert!(world.env.ok(&["task", "list"]).contains("x1"));
}

#[test]
fn before_the_interval_is_over_nothing_is_copied() {
    let world = World::new();
    world.env.git(&["config", "axiom.state.eventLogBackupInterval", "1h"]);
    world.task("t", "echo 1 > t.txt; sleep 2", &[]);
    world.autopilot(&[]).code(0);
    assert!(!backup(&world, 0).exists());
}
