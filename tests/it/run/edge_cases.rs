//! The documented edge cases of recovery, with real processes. The rules alone are in `model::recovery::scenarios`, by the same names.

use std::path::PathBuf;

use git_axiom::base::error::Code;
use serde_json::Value;

use super::recovering::{decided, dies, recovers, world};
use crate::session_support::{World, several_at_a_time, wait_until};

/// The folder of the only run.
fn run_folder(world: &World) -> PathBuf {
    let runs = world.env.axiom_dir().join("agents/agent-001/runs");
    std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().path()
}

/// What would be decided, as `recover` shows it before anything is changed.
#[track_caller]
fn would_begin_anew(world: &World, why: &str) {
    let look = world.env.json(&["recover"]);
    assert!(look["reset"][0]["reason"].as_str().is_some_and(|reason| reason.contains(why)), "{why}\n{look}");
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
    let world = world("echo half > half.txt", "test ! -e half.txt && echo done > t.txt");
    dies(&world);
    let spec = run_folder(&world).join("spec.json");
    let whole = std::fs::read(&spec).unwrap();
    std::fs::write(&spec, &whole[..whole.len() / 2]).unwrap();
    would_begin_anew(&world, "the record of the iteration is damaged");
    let state = world.env.axiom_dir().join("state");
    let mut log = std::fs::read(state.join("events.jsonl")).unwrap();
    log.extend_from_slice(b"{\"axiom\":1,\"seq\":");
    std::fs::write(state.join("events.jsonl"), log).unwrap();
    std::fs::write(state.join("snapshot.json"), "{").unwrap();
    let look = world.env.ok(&["recover"]);
    assert!(look.contains("left       an incomplete line of 17 bytes at the end of the event log"), "{look}");
    let said = recovers(&world);
    assert!(said.contains("warning[EVENT_LOG_TRUNCATED]: an incomplete end of 17 bytes was cut off the event log"), "{said}");
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
    let damages: Vec<(&str, Option<Vec<u8>>)> = vec![
        ("gone", None),
        ("NUL", Some(vec![0; 400])),
        ("another version", Some(git_axiom::model::base::sealed::seal(b"{\"v\":2}".to_vec(), &[]))),
    ];
    several_at_a_time(damages, |(what, content)| {
        let world = world("echo half > half.txt", "test ! -e half.txt && echo done > t.txt");
        dies(&world);
        let record = run_folder(&world).join("keeper.json");
        let whole: Value = serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
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
        world.no_process_is_left();
        // Where its folder for temporary files was, only that record knew.
        let _ = std::fs::remove_dir_all(whole["runtime"].as_str().unwrap());
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
    let mut killed = 0;
    for fault in
        ["store.before-append:1", "store.after-append:2", "git.before-commit:1", "crash.decided:1", "store.after-append:1"]
    {
        let mut command = world.env.axiom_command(&world.env.repo(), ["recover", "--yes"]);
        command.env("AXIOM_TEST_FAULT", fault);
        let run = world.env.run(command, None);
        assert!(run.code.is_none() || run.code == Some(0), "{fault}: {run}");
        killed += usize::from(run.code.is_none());
    }
    assert!(killed > 1, "{killed}");
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

/// Two iterations cannot have used no tokens: what is recorded of them is not believed, and the work begins anew.
#[test]
fn edge_case_7_log_and_record_disagree() {
    let rules = r#"
[agents.mine.stream]
format = "jsonLines"
rules = [
    { is = "text", when = { "/type" = "text" }, text = "/text" },
    { is = "usage", when = { "/type" = "usage" }, input = "/in", output = "/out" },
]
"#;
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let none = r#"echo '{"type":"text","text":"I work"}'; echo '{"type":"usage","in":0,"out":0}'"#;
    let script = format!(
        "#!/bin/sh\ncat > /dev/null; echo x >> '{beside}/counter'\ncase $(wc -l < '{beside}/counter') in\n\
         1) {none}; echo half > half.txt;;\n2) {none}; touch '{beside}/begun'; sleep 1000;;\n\
         *) test ! -e half.txt && echo done > t.txt && git axiom signal complete;;\nesac\n"
    );
    world.program_of_ones_own(&script, rules);
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("it is known what it used", || {
        world.agents().iter().any(|agent| agent["iteration"] == 2 && agent["tokensUsed"] == 0)
    });
    live.kill();
    world.all_die();
    would_begin_anew(&world, "its counters contradict each other: 2 iterations and no tokens");
    recovers(&world);
    decided(&world, "restart_task: its counters contradict each other");
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "done\n");
    world.all_is_well();
}
