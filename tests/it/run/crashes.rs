//! What becomes of a task whose keeper was killed: by rules, by an evaluator, and what is kept aside.

use serde_json::Value;

use crate::session_support::{World, kill, wait_until};

/// A task that does `first` and then waits to be killed, the first time; then it does `again`.
fn world(first: &str, again: &str) -> World {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let script =
        format!("if [ ! -f '{beside}/begun' ]; then {first}; touch '{beside}/begun'; sleep 1000; fi\n{again}\necho done > t.txt");
    world.task("t", &script, &[]);
    world
}

/// Kills the keeper of the task's first iteration while its session runs, and waits for the session's end.
fn crash(world: &World) -> String {
    let live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    for (pid, _) in world.processes().iter().filter(|(_, words)| words.contains(" keeper ")) {
        kill(*pid);
    }
    live.wait().stderr
}

#[test]
fn work_that_is_there_is_gone_on_with() {
    let world = world("echo half > half.txt", "test -f half.txt");
    crash(&world);
    assert_eq!(world.env.read("half.txt"), "half\n");
    let audit = world.env.ok(&["task", "audit", "t"]);
    assert!(audit.contains("continue_task: its work is there: 1 changed file"), "{audit}");
    let task = world.find_task("t");
    assert_eq!(task["retryCount"], 1, "{task}");
    world.all_is_well();
}

#[test]
fn what_had_hardly_begun_begins_anew_and_is_kept_aside() {
    let world = world("git axiom signal progress 5; echo half > half.txt; sleep 0.2", "test ! -e half.txt");
    crash(&world);
    let audit = world.env.ok(&["task", "audit", "t"]);
    assert!(audit.contains("restart_task: 5% is under the threshold of 10%; what is there is kept aside"), "{audit}");
    let kept = world.env.git(&["for-each-ref", "--format=%(refname)", "refs/axiom/kept/"]);
    let held = kept.lines().any(|name| world.env.git(&["log", "-m", "--format=", "--name-only", name]).contains("half.txt"));
    assert!(held, "{kept}");
    world.all_is_well();
}

#[test]
fn an_evaluator_is_asked_and_a_bad_answer_is_none() {
    let world = world("echo half > half.txt", "true");
    let asked = world.beside("asked.json");
    let answer = r#"{"action":"human_review","reasoning":"I cannot tell"}"#;
    let command = format!("cat > '{}'; echo '{answer}'", asked.display());
    world.env.git(&["config", "axiom.recovery.evaluator", &command]);
    crash(&world);
    let gates = world.gates();
    assert_eq!(gates[0]["details"]["cause"], "recovery", "{gates:?}");
    assert!(gates[0]["reason"].as_str().unwrap().contains("I cannot tell"), "{gates:?}");
    let question: Value = serde_json::from_slice(&std::fs::read(&asked).unwrap()).unwrap();
    assert_eq!(question["currentTask"]["id"], "t", "{question}");
    assert!(question["fileState"]["fileCounts"]["totalFiles"].as_u64() > Some(1), "{question}");
    assert_eq!(question["fileState"]["recentFiles"][0]["path"], "half.txt", "{question}");
    // A human says that it is tried again.
    world.env.ok(&["gate", "approve", gates[0]["id"].as_str().unwrap()]);
    world.env.git(&["config", "axiom.recovery.evaluator", "echo maybe"]);
    std::fs::remove_file(world.beside("begun")).unwrap();
    let said = crash(&world);
    assert_eq!(world.find_task("t")["retryCount"], 2, "{said}");
    assert!(said.contains("gave no usable answer") && said.contains("the rules decide"), "{said}");
    assert!(world.env.ok(&["task", "audit", "t"]).contains("continue_task: its work is there"), "{said}");
}
