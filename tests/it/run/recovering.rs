//! The documented scenarios, edge cases and crash points of recovery, with real processes. The rules alone are in
//! `domain::recovery::scenarios`, by the same names.

use std::path::PathBuf;

use git_axiom::error::Code;

use crate::session_support::{World, several_at_a_time, wait_until};

/// A task `t` that does `first` and then waits to be killed, the first time; then it does `again`.
fn world(first: &str, again: &str) -> World {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let script = format!("if [ ! -f '{beside}/begun' ]; then {first}; touch '{beside}/begun'; sleep 1000; fi\n{again}");
    world.task("t", &script, &[]);
    world
}

/// Runs a session until its task has begun, and then the machine dies.
fn dies(world: &World) {
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    live.kill();
    world.all_die();
}

/// What was decided, as the audit has it.
#[track_caller]
fn decided(world: &World, expected: &str) {
    let audit = world.env.ok(&["task", "audit", "t"]);
    assert!(audit.contains(expected), "{expected}\n{audit}");
}

fn recovers(world: &World) -> String {
    let run = world.env.axiom(&["recover", "--yes"]).success();
    format!("{}{}", run.stdout, run.stderr)
}

/// What would be decided, as `recover` shows it before anything is changed.
#[track_caller]
fn would_begin_anew(world: &World, why: &str) {
    let look = world.env.json(&["recover"]);
    assert!(look["reset"][0]["reason"].as_str().is_some_and(|reason| reason.contains(why)), "{why}\n{look}");
}

/// The folder of the only run.
fn run_folder(world: &World) -> PathBuf {
    let runs = world.env.axiom_dir().join("agents/agent-001/runs");
    std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().path()
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

#[test]
fn edge_case_1_concurrent_daemon_startup() {
    let world = world("echo half > half.txt", "sleep 0.5; echo done > t.txt");
    dies(&world);
    let mut ended: Vec<_> =
        [world.start_autopilot(&[]), world.start_autopilot(&[])].map(crate::session_support::Live::wait).into();
    ended.sort_by_key(|one| one.code);
    assert_eq!(ended[0].code, Some(0), "{ended:?}");
    let refused = Code::SupervisorRunning;
    assert_eq!(ended[1].code, Some(refused.exit() as i32), "{ended:?}");
    assert!(ended[1].stderr.contains(&format!("error[{refused}]")), "{ended:?}");
    assert_eq!(world.find_task("t")["retryCount"], 1);
    world.all_is_well();
}

#[test]
fn edge_case_2_partial_json_write() {
    let world = world("echo half > half.txt", "test ! -e half.txt; echo done > t.txt");
    dies(&world);
    let spec = run_folder(&world).join("spec.json");
    let whole = std::fs::read(&spec).unwrap();
    std::fs::write(&spec, &whole[..whole.len() / 2]).unwrap();
    would_begin_anew(&world, "the record of the iteration is damaged");
    let state = world.env.axiom_dir().join("state");
    let mut log = std::fs::read(state.join("events.jsonl")).unwrap();
    log.extend_from_slice(b"{\"v\":6,\"seq\":");
    std::fs::write(state.join("events.jsonl"), log).unwrap();
    std::fs::write(state.join("snapshot.json"), "{").unwrap();
    let look = world.env.ok(&["recover"]);
    assert!(look.contains("left       an incomplete line of 13 bytes at the end of the event log"), "{look}");
    let said = recovers(&world);
    assert!(said.contains("warning[EVENT_LOG_TRUNCATED]: an incomplete end of 13 bytes was cut off the event log"), "{said}");
    let kept = walkdir::WalkDir::new(world.env.axiom_dir()).into_iter().flatten();
    let kept = kept.filter(|entry| entry.file_name().to_string_lossy().starts_with("events-torn-")).count();
    assert_eq!(kept, 1, "what was cut off is kept");
    decided(&world, "restart_task: the record of the iteration is damaged");
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "done\n");
    world.all_is_well();
}

/// As the second edge case, for the keeper's own record: nothing that a crash leaves of it keeps the work from going on.
#[test]
fn a_damaged_record_of_a_keeper_costs_one_attempt() {
    let damages: Vec<(&str, Option<Vec<u8>>)> =
        vec![("gone", None), ("NUL", Some(vec![0; 400])), ("another version", Some(b"{\"v\":2}\n".to_vec()))];
    several_at_a_time(damages, |(what, content)| {
        let world = world("echo half > half.txt", "test ! -e half.txt; echo done > t.txt");
        dies(&world);
        let record = run_folder(&world).join("keeper.json");
        match content {
            Some(bytes) => std::fs::write(&record, bytes).unwrap(),
            None => std::fs::remove_file(&record).unwrap(),
        }
        let said = world.autopilot(&[]).code(0).stderr;
        assert_eq!(
            (world.env.read("t.txt"), world.find_task("t")["retryCount"].clone()),
            ("done\n".into(), 1.into()),
            "{what}: {said}"
        );
        // Where its folder for temporary files was, only that record knew.
        world.no_process_is_left();
        world.env.fsck();
    });
}

#[test]
fn edge_case_3_clock_skew() {
    let mut world = world("echo half > half.txt", "echo done > t.txt");
    dies(&world);
    world.variables = vec![("AXIOM_TEST_NOW".into(), "2020-01-01T00:00:00Z".into())];
    world.autopilot(&[]).code(0);
    decided(&world, "continue_task");
}

#[test]
fn edge_case_4_very_large_conversations() {
    let world = world("echo half > half.txt; echo said", "echo done > t.txt");
    let mut live = world.start_autopilot(&[]);
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    let log = world.env.axiom_dir().join("agents/agent-001/logs/t.jsonl");
    wait_until("what it said is in the log", || log.metadata().is_ok_and(|meta| meta.len() > 0));
    world.wait_for_file("begun");
    live.kill();
    world.all_die();
    let line = std::fs::read_to_string(&log).unwrap().lines().next_back().unwrap().to_owned() + "\n";
    let mut whole = std::fs::read(&log).unwrap();
    whole.extend_from_slice(line.repeat((100 << 20) / line.len()).as_bytes());
    std::fs::write(&log, whole).unwrap();
    let begun = std::time::Instant::now();
    recovers(&world);
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    decided(&world, "continue_task: its work is there: 1 changed file");
}

#[test]
fn edge_case_5_recovery_during_recovery() {
    let world = world("echo half > half.txt", "test -f half.txt && echo done > t.txt");
    dies(&world);
    for fault in
        ["store.before-append:1", "store.after-append:2", "git.before-commit:1", "crash.decided:1", "store.after-append:1"]
    {
        let mut command = world.env.axiom_command(&world.env.repo(), ["recover", "--yes"]);
        command.env("AXIOM_TEST_FAULT", fault);
        let run = world.env.run(command, None);
        assert!(run.code.is_none() || run.code == Some(0), "{fault}: {run}");
    }
    recovers(&world);
    assert_eq!(world.find_task("t")["retryCount"], 1);
    assert_eq!(world.commits_of("t", "axiom/t").len(), 1);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "done\n");
    world.all_is_well();
}

#[test]
fn edge_case_6_task_deleted_during_crash() {
    let world = world("echo half > half.txt", "test ! -e half.txt && echo done > t.txt");
    dies(&world);
    std::fs::remove_dir_all(world.env.axiom_dir().join("agents/agent-001")).unwrap();
    would_begin_anew(&world, "nothing is recorded of the iteration");
    recovers(&world);
    decided(&world, "restart_task: nothing is recorded of the iteration");
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "done\n");
    world.no_process_is_left();
    world.env.fsck();
}

#[test]
fn crash_point_implementation() {
    let told = "seq 245 > catalog.ts; git axiom signal file list.ts --done --confidence 0.9 && \
                git axiom signal file catalog.ts --section searchProducts --next filterProducts --line 245 --confidence 0.82 && \
                git axiom signal progress 80";
    let world = world(told, "test $(wc -l < catalog.ts) = 245 && echo done > t.txt");
    dies(&world);
    recovers(&world);
    decided(&world, "continue_task: 80% of it was reported as done");
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("catalog.ts").lines().count(), 245);
    world.all_is_well();
}

/// The step that ran runs again, whole; what had passed before it is not run again. Scenario 2 is this one: a restart of the server
/// during tests.
#[test]
fn crash_point_tests() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let tests = format!(
        "echo from the first on >> '{beside}/tests'; echo 15/20 passed; [ -f '{beside}/begun' ] || {{ touch '{beside}/begun'; sleep 1000; }}"
    );
    let built = format!("echo built >> '{beside}/built'");
    world.task("t", "echo 1 > t.txt", &["--verify", &format!("build={built}"), "--verify", &format!("tests={tests}")]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("the first result is recorded", || world.show("t")["verification"][0]["state"] == "passed");
    live.kill();
    world.all_die();
    assert!(world.env.ok(&["output", "t", "--step", "tests"]).contains("15/20 passed"));
    recovers(&world);
    world.autopilot(&[]).code(0);
    assert_eq!((world.lines("built").len(), world.lines("tests").len()), (1, 2));
    assert_eq!(world.find_task("t")["retryCount"], 0, "its work was done");
    world.all_is_well();
}

#[test]
fn crash_point_waiting() {
    let world = world("echo half > half.txt", "echo done > t.txt");
    let beside = world.env.root().display().to_string();
    world.task("later", &format!("echo later >> '{beside}/counter'; test -f t.txt && echo 1 > later.txt"), &["--after", "t"]);
    dies(&world);
    recovers(&world);
    let waiting = world.find_task("later");
    assert_eq!((waiting["status"].as_str(), &waiting["retryCount"]), (Some("pending"), &0.into()), "{waiting}");
    world.autopilot(&[]).code(0);
    assert_eq!((world.lines("counter").len(), world.env.read("later.txt")), (1, "1\n".into()));
    world.all_is_well();
}
