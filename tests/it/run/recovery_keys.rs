//! The keys of `[recovery]` by their names, with tasks that were cut off.

use crate::session_support::{World, wait_until};

use super::recovering::{decided, dies, recovers, world};

fn cut_off(reports: &str) -> World {
    let world = world(&format!("{reports}echo half > half.txt; git add . && git commit -qm half"), "echo whole > whole.txt");
    dies(&world);
    world
}

fn set(world: &World, key: &str, value: &str) {
    world.env.git(&["config", &format!("axiom.recovery.{key}"), value]);
}

/// `recover --yes` so many hours later.
fn recovers_later(world: &World, hours: i64) {
    let mut command = world.env.axiom_command(&world.env.repo(), ["recover", "--yes"]);
    let later = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(hours);
    command.env("AXIOM_TEST_NOW", later.to_string());
    world.env.run(command, None).success();
}

#[test]
fn recovery_auto_reset_orphaned_off_leaves_it_to_a_human() {
    let world = cut_off("");
    set(&world, "autoResetOrphaned", "false");
    recovers(&world);
    decided(&world, "human_review: recovery.autoResetOrphaned is off");
    let gates = world.gates();
    assert_eq!((gates.len(), &gates[0]["details"]["cause"]), (1, &"recovery".into()), "{gates:?}");
    world.autopilot(&[]).code(1);
    assert_ne!(world.status_of("t"), "done", "it waits");
    world.env.ok(&["gate", "approve", gates[0]["id"].as_str().unwrap()]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("whole.txt"), "whole\n");
    world.all_is_well();
}

#[test]
fn recovery_max_age_hours_is_how_old_work_may_be_that_goes_on() {
    for (value, hours, expected) in [
        (None, 23, "continue_task: "),
        (None, 25, "restart_task: its last sign of life was 25 hours ago"),
        (Some("2"), 3, "restart_task: its last sign of life was 3 hours ago"),
        (Some("48"), 25, "continue_task: "),
        (Some("0"), 1000, "continue_task: "),
    ] {
        let world = cut_off("");
        if let Some(value) = value {
            set(&world, "maxAgeHours", value);
        }
        recovers_later(&world, hours);
        decided(&world, expected);
    }
}

#[test]
fn recovery_resume_threshold_is_how_much_progress_is_gone_on_with() {
    for (value, progress, expected) in [
        (None, 9, "restart_task: 9% is under the threshold of 10%"),
        (None, 10, "continue_task: "),
        (Some("50"), 49, "restart_task: 49% is under the threshold of 50%"),
        (Some("0"), 1, "continue_task: "),
    ] {
        let world = world(&format!("git axiom signal progress {progress}; echo half > half.txt"), "true");
        if let Some(value) = value {
            set(&world, "resumeThreshold", value);
        }
        let mut live = world.start_autopilot(&[]);
        world.wait_for_file("begun");
        wait_until("its report is recorded", || world.agents().iter().any(|agent| agent["progress"] == progress));
        live.kill();
        world.all_die();
        recovers(&world);
        decided(&world, expected);
    }
}

#[test]
fn after_recovery_evaluator_timeout_the_rules_decide() {
    let world = cut_off("");
    set(&world, "evaluator", "sleep 1000");
    set(&world, "evaluatorTimeout", "1");
    let said = recovers(&world);
    assert!(said.contains("recovery.evaluator took longer than 1 second; the rules decide"), "{said}");
    decided(&world, "continue_task: ");
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("whole.txt"), "whole\n");
}
