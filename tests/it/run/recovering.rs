//! The documented scenarios of recovery, with real processes; edge cases are in `edge_cases`, the points at which a crash may come in
//! `crash_points`. The rules alone are in `model::recovery::scenarios`, by the same names.

use crate::session_support::{World, wait_until};

/// A task `t` that does `first` and then waits to be killed, the first time; then it does `again`.
pub(super) fn world(first: &str, again: &str) -> World {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let script = format!("if [ ! -f '{beside}/begun' ]; then {first}; touch '{beside}/begun'; sleep 1000; fi\n{again}");
    world.task("t", &script, &[]);
    world
}

/// Runs a session until its task has begun, and then the machine dies.
pub(super) fn dies(world: &World) {
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    live.kill();
    world.all_die();
}

/// What was decided, as the audit has it.
#[track_caller]
pub(super) fn decided(world: &World, expected: &str) {
    let audit = world.env.ok(&["task", "audit", "t"]);
    assert!(audit.contains(expected), "{expected}\n{audit}");
}

pub(super) fn recovers(world: &World) -> String {
    let run = world.env.axiom(&["recover", "--yes"]).success();
    format!("{}{}", run.stdout, run.stderr)
}

#[test]
fn scenario_1_orchestrator_crash_mid_task() {
    let world = world("seq 100 > auth.py", "test $(wc -l < auth.py) = 100 && echo more >> auth.py");
    dies(&world);
    recovers(&world);
    decided(&world, "continue_task: its work is there: 1 changed file");
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("auth.py").lines().count(), 101);
    world.all_is_well();
}

#[test]
fn scenario_2_server_restart_during_tests() {
    let beside = "../../../";
    let work = "for n in 1 2 3 4; do echo $n > part-$n.py; done; git add . && git commit -qm 'All parts' && \
                echo t > test_all.py && git add . && git commit -qm 'Tests'";
    let tests = format!("echo 15/20 passed >> {beside}tests");
    let mut world = world(&format!("{work}; {tests}"), &format!("test -f test_all.py && {tests}"));
    world.variables = vec![("AXIOM_TEST_BOOT".into(), "one".into())];
    dies(&world);
    world.variables = vec![("AXIOM_TEST_BOOT".into(), "two".into())];
    let said = world.autopilot(&[]).code(0).stderr;
    assert!(said.contains("the machine stopped"), "{said}");
    decided(&world, "continue_task: its agent made 2 commits; 5 changed files");
    assert_eq!(world.lines("tests").len(), 2, "the tests run again, whole");
    assert_eq!(world.env.read("part-4.py"), "4\n");
    world.all_is_well();
}

/// What an evaluator says counts, where the rules would say something else.
#[test]
fn scenarios_1_2_and_4_with_an_evaluator() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let commits = "git add . && git commit -qm 'All parts'";
    let tasks = [
        ("implement-auth", "seq 100 > auth.py".to_owned(), "next_task"),
        ("run-tests", format!("echo 1 > part.py; {commits}"), "restart_task"),
        ("refactor-code", "for n in $(seq 30); do echo $n > file-$n.py; done".to_owned(), "continue_task"),
    ];
    for (task, first, _) in &tasks {
        let first = format!("{first}; touch '{beside}/begun-{task}'; sleep 1000");
        world.task(task, &format!("if [ ! -f '{beside}/begun-{task}' ]; then {first}; fi\necho done > {task}.txt"), &[]);
    }
    let answers: String = tasks
        .iter()
        .map(|(task, _, action)| {
            format!("*'\"id\":\"{task}\"'*) echo '{{\"action\":\"{action}\",\"reasoning\":\"I looked at {task}\"}}';; ")
        })
        .collect();
    world.env.git(&["config", "axiom.recovery.evaluator", &format!("case $(cat) in {answers}esac")]);
    let mut live = world.start_autopilot(&["--agents", "3"]);
    tasks.iter().for_each(|(task, ..)| world.wait_for_file(&format!("begun-{task}")));
    wait_until("all are known to run", || world.agents().iter().filter(|agent| agent["state"] == "running").count() == 3);
    live.kill();
    world.all_die();
    recovers(&world);
    for (task, _, action) in &tasks {
        let audit = world.env.ok(&["task", "audit", task]);
        assert!(audit.contains(&format!("{action}: I looked at {task}")), "{audit}");
    }
    world.autopilot(&[]).code(0);
    let is_there = |file: &str| world.env.repo().join(file).exists();
    assert!(is_there("auth.py") && !is_there("implement-auth.txt"), "it was complete");
    assert!(!is_there("part.py") && is_there("run-tests.txt"), "it began anew");
    assert!(is_there("file-30.py") && is_there("refactor-code.txt"), "it went on");
    world.all_is_well();
}

#[test]
fn scenario_3_long_pause() {
    let mut world = world("echo half > half.txt", "test -f half.txt && echo whole > whole.txt");
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    world.env.ok(&["pause", "--force", "--wait"]);
    live.kill();
    world.all_die();
    world.variables = vec![("AXIOM_TEST_NOW".into(), "2031-01-01T00:00:00Z".into())];
    let said = world.autopilot(&[]).code(0).stderr;
    let decision = "continue_task: its work is there: 1 changed file";
    assert!(said.contains(&format!("t was paused; {decision}")), "{said}");
    let audit = world.env.ok(&["task", "audit", "t"]);
    let place = |what: &str| audit.rfind(what).unwrap_or_else(|| panic!("{what}\n{audit}"));
    assert!(place(decision) < place("begins iteration"), "before the work goes on\n{audit}");
    assert_eq!(world.env.read("whole.txt"), "whole\n");
    assert_eq!(world.find_task("t")["retryCount"], 0, "a pause is no crash");
}

/// Where a session was paused and then ended, an evaluator decides before its work goes on, once for each task.
#[test]
fn scenario_3_long_pause_with_an_evaluator() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    for task in ["anew", "asks"] {
        let first = format!("echo half > {task}-half.txt; touch '{beside}/begun-{task}'; sleep 1000");
        world.task(task, &format!("if [ ! -f '{beside}/begun-{task}' ]; then {first}; fi\necho done > {task}.txt"), &[]);
    }
    let answer = |action| format!(r#"{{"action":"{action}","reasoning":"I looked"}}"#);
    let (anew, asks) = (answer("restart_task"), answer("human_review"));
    let command = format!("tee -a '{beside}/asked' | grep -q '\"id\":\"anew\"' && echo '{anew}' || echo '{asks}'");
    world.env.git(&["config", "axiom.recovery.evaluator", &command]);
    let live = world.start_autopilot(&[]);
    ["begun-anew", "begun-asks"].iter().for_each(|begun| world.wait_for_file(begun));
    world.env.ok(&["pause", "--force", "--wait"]);
    world.quits_well(live);
    // Stopped where it was decided and not done yet: it is done, and not decided again.
    let mut stopped = world.env.axiom_command(&world.env.repo(), ["run", "--mode", "autopilot", "--until-idle"]);
    stopped.env("AXIOM_TEST_FAULT", "pause.decided:1");
    assert_eq!(world.env.run(stopped, None).code, None);
    world.autopilot(&[]).code(1);
    let is_there = |file: &str| world.env.repo().join(file).exists();
    assert!(is_there("anew.txt") && !is_there("anew-half.txt"), "what was there is kept aside");
    let gates = world.gates();
    let reason = gates[0]["reason"].as_str().unwrap();
    assert!(reason.contains("asks: it was cut off: I looked"), "{gates:?}");
    world.env.ok(&["gate", "approve", gates[0]["id"].as_str().unwrap()]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("asks-half.txt"), "half\n");
    for task in ["anew", "asks"] {
        let audit = world.env.ok(&["task", "audit", task]);
        assert_eq!(audit.matches("takes up what was paused").count(), 1, "{audit}");
        assert_eq!(world.find_task(task)["retryCount"], 0, "a pause is no crash");
    }
    world.all_is_well();
}

#[test]
fn scenario_4_unclear_state() {
    let world = world("for n in $(seq 30); do echo $n > file-$n.py; done", "echo done > t.txt");
    dies(&world);
    recovers(&world);
    let gates = world.gates();
    assert_eq!(gates[0]["details"]["cause"], "recovery", "{gates:?}");
    assert!(gates[0]["reason"].as_str().unwrap().contains("30 changed files"), "{gates:?}");
    world.env.ok(&["gate", "approve", gates[0]["id"].as_str().unwrap()]);
    world.autopilot(&[]).code(0);
    assert_eq!((world.env.read("t.txt"), world.env.read("file-30.py")), ("done\n".into(), "30\n".into()));
    world.all_is_well();
}
