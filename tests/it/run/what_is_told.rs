//! What `status`, `log`, `graph`, `task` and `diff` tell is so: as git has it, by whoever did it, and as the processes are.

use serde_json::json;

use crate::session_support::{Live, World, wait_until};

/// Starts a session and waits until its agent, which waits, is known to run.
fn begun(world: &World, script: &str) -> Live {
    world.task("t", script, &[]);
    let live = world.start_until_begun();
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    live
}

#[test]
fn the_graph_names_what_is_not_merged_as_git_has_it() {
    let world = World::new();
    world.task("t", "echo one > t.txt; git add -A; git commit -qm one; echo two >> t.txt", &[]);
    world.task("old", "echo 1 > old.txt", &[]);
    let live = world.start(&["--mode", "review"]);
    world.wait_for_gate("merge-t");
    world.wait_for_gate("merge-old");
    world.env.ok(&["task", "archive", "old"]);
    let drawn = world.env.ok(&["graph"]);
    assert!(drawn.lines().next().unwrap().ends_with("; not merged: t: 2 lines"), "{drawn}");
    assert_eq!(world.env.json(&["graph"])["atRisk"]["workspaces"], json!([{"taskId": "t", "changedLines": 2}]));
    world.quits_well(live);
}

/// The lines of the log that a supervisor is said to have made.
fn of_a_supervisor(world: &World) -> usize {
    world.env.ok(&["log", "--all"]).matches(" supervisor ").count()
}

#[test]
fn without_a_session_the_log_says_who_asked_and_who_did_it() {
    for (verb, said) in [
        (&["stop", "agent-001"][..], "stop agent-001"),
        (&["kill", "agent-001"], "kill agent-001"),
        (&["task", "block", "t", "--reason", "not now"], "block t: not now"),
    ] {
        let world = World::new();
        let mut live = begun(&world, &format!("echo 1 > t.txt; {}", world.until_go()));
        live.kill();
        let (before, lines) = (of_a_supervisor(&world), world.env.ok(&["log"]).lines().count());
        world.env.ok(verb);
        let log = world.env.ok(&["log"]);
        let added: Vec<&str> = log.lines().skip(1).take(log.lines().count() - lines).collect();
        assert!(added.iter().any(|line| line.contains(" user ") && line.ends_with(said)), "{log}");
        assert!(added.iter().all(|line| line.contains(" user ") || line.contains(" recovery ")), "{log}");
        assert!(added.iter().filter(|line| line.contains(" user ")).count() == 1, "it is one command: {log}");
        assert_eq!(of_a_supervisor(&world), before, "none ran: {}", world.env.ok(&["log", "--all"]));
        world.all_is_well();
    }
}

#[test]
fn what_a_crash_cut_off_is_told_so_and_is_taken_up_by_recovery() {
    let world = World::new();
    let live = begun(&world, &format!("echo 1 > t.txt; sleep 1.5; echo works; {}", world.until_go()));
    world.all_die();
    drop(live);
    assert!(world.env.ok(&["task", "list"]).contains("interrupted"), "{}", world.env.ok(&["task", "list"]));
    assert_eq!(world.find_task("t")["shown"], "interrupted");
    let status = world.env.ok(&["status"]);
    assert!(status.contains("0 active, 1 interrupted"), "{status}");
    let before = of_a_supervisor(&world);
    assert_eq!(world.env.json(&["recover"])["crash"]["estimatedLoss"], 0, "its file is there");
    world.env.ok(&["recover", "--yes"]);
    let log = world.env.ok(&["log", "--all"]);
    let recovered = |what: &str| log.lines().any(|line| line.contains(" recovery ") && line.contains(what));
    assert!(recovered("agent-001 crashed, continue_task") && recovered("session found crashed"), "{log}");
    assert_eq!(of_a_supervisor(&world), before, "none ran: {log}");
    world.all_is_well();
    // The next attempt is cut off too.
    let live = world.start_autopilot(&[]);
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    world.all_die();
    drop(live);
    let inspected = world.env.ok(&["recover", "inspect"]);
    assert!(inspected.contains("retries: 1") && !inspected.contains("before:"), "{inspected}");
}

/// A session says what begins when it begins, not when it looks the next time.
#[test]
fn a_step_that_takes_less_than_a_second_is_seen_while_it_runs() {
    let world = World::new();
    let steps = ["--verify", "one=sleep 0.7", "--verify", "two=sleep 0.7", "--verify", "three=sleep 0.7"];
    world.task("t", "sleep 1; echo 1 > t.txt", &steps);
    let mut live = world.start_autopilot(&[]);
    let mut seen = std::collections::BTreeSet::new();
    while live.runs() {
        let status = world.env.json(&["status"]);
        let doing = status["doing"].clone();
        let steps = doing.as_array().unwrap().iter().filter(|one| one["what"] == "verifies");
        if steps.clone().next().is_some() && status["agents"][0]["taskId"] == "t" {
            assert_eq!(status["agents"][0]["state"], "verifying", "its program does not run: {status}");
        }
        seen.extend(steps.map(|one| one["name"].as_str().unwrap().to_owned()));
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["one", "three", "two"]);
    live.wait().code(0);
}

/// Without a session, too: it neither stands still while a program runs, nor goes on or back when it has ended.
#[test]
fn the_time_of_agents_is_that_in_which_their_programs_ran() {
    let world = World::new();
    world.waiting_task("t");
    let mut live = world.start_until_begun();
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    let time = || world.env.json(&["status"])["session"]["timeUsedMs"].as_u64().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    let before = time();
    live.kill();
    let after = time();
    assert!(before >= 500 && after >= before, "{before} {after}");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(time() >= after + 300, "it runs, without a session");
    wait_until("its agent's time goes on, too", || world.agents()[0]["duration"].as_u64() >= Some(1));
    world.signal_file("go");
    wait_until("it has ended", || world.agents()[0]["state"] == "ended");
    let ended = time();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(time(), ended);
    world.env.ok(&["recover", "--yes"]);
    assert_eq!(time(), ended);
}

/// What is being done, where a verb of this name does it.
fn done_by(world: &World, verb: &str) -> Vec<serde_json::Value> {
    let doing = world.env.json(&["status"])["doing"].clone();
    doing.as_array().unwrap().iter().filter(|one| one["verb"] == verb).cloned().collect()
}

#[test]
fn what_verbs_do_without_a_session_is_seen_from_elsewhere() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let step =
        format!("echo checks; [ -f '{beside}/died' ] || {{ touch '{beside}/checked'; sleep 1000; }}; {}", world.until_go());
    world.task("t", "echo 1 > t.txt", &["--verify", &format!("tests={step}")]);
    let mut live = world.start(&["--mode", "review"]);
    world.wait_for_file("checked");
    let seen = || world.env.json(&["status"])["doing"].as_array().unwrap().iter().any(|one| one["what"] == "verifies");
    wait_until("the session says so", seen);
    live.kill();
    world.all_die();
    world.signal_file("died");
    // 'recover' verifies what the crash cut off.
    let recovery = Live::start(world.env.axiom_command(&world.env.repo(), ["recover", "--yes"]), world.env.root(), "recovery");
    let of = |verb: &str, what: &str| done_by(&world, verb).into_iter().find(|one| one["what"] == what);
    wait_until("it is seen", || of("recover", "verifies").is_some());
    assert!(of("recover", "recovers").is_some());
    let verifies = of("recover", "verifies").unwrap();
    assert_eq!(
        (&verifies["taskId"], &verifies["name"], &verifies["pid"]),
        (&json!("t"), &json!("tests"), &json!(recovery.pid()))
    );
    let status = world.env.json(&["status"]);
    assert_eq!(status["supervisor"], json!({ "alive": false, "pid": null }), "no session runs: {status}");
    let said = world.env.ok(&["status"]);
    let words = format!("t: its verify step 'tests' runs, by 'git axiom recover' (process {}), for ", recovery.pid());
    assert!(said.contains(&words) && said.contains("No session runs"), "{said}");
    world.signal_file("go");
    recovery.wait().code(0);
    assert!(done_by(&world, "recover").is_empty());
    // So does 'merge', and it tells hooks.
    let checks = format!("touch '{beside}/merging'; while [ ! -f '{beside}/merge-go' ]; do sleep 0.02; done");
    world.env.git(&["config", "axiom.merge.verify", &checks]);
    let mut merge = Live::start(world.env.axiom_command(&world.env.repo(), ["merge", "t"]), world.env.root(), "merge");
    wait_until("it is seen", || of("merge", "verifiesMerge").is_some_and(|one| one["pid"] == merge.pid()));
    // What is killed does nothing any more, whatever it has left.
    merge.kill();
    assert!(done_by(&world, "merge").is_empty());
    world.signal_file("merge-go");
    world.env.ok(&["merge", "t"]);
    let left = std::fs::read_dir(world.env.axiom_dir().join("state")).unwrap().flatten();
    assert_eq!(left.filter(|entry| entry.file_name().to_string_lossy().starts_with("doing-")).count(), 0);
    world.all_is_well();
}

/// The supervisor dies before a keeper runs: no program was started, and none will be.
#[test]
fn a_task_whose_program_was_never_started_is_interrupted_everywhere() {
    for point in ["iterate.spec-written:1", "iterate.intended:1"] {
        let mut world = World::new();
        world.task("t", "echo 1 > t.txt", &[]);
        world.variables = vec![("AXIOM_TEST_FAULT".into(), point.into())];
        assert_eq!(world.autopilot(&[]).code, None, "{point}");
        world.variables.clear();
        assert_eq!(
            (&world.find_task("t")["shown"], &world.agents()[0]["state"]),
            (&json!("interrupted"), &json!("dead")),
            "{point}"
        );
        let status = world.env.ok(&["status"]);
        assert!(status.contains("0 active, 1 interrupted"), "{point}: {status}");
        world.autopilot(&[]).code(0);
        world.all_is_well();
    }
}

#[test]
fn a_task_that_had_nothing_to_merge_says_so() {
    let world = World::new();
    world.task("one", "echo 1 > one.txt", &[]);
    world.task("none", "git axiom signal complete", &["--after", "one"]);
    world.autopilot(&[]).code(0);
    let shown = world.env.ok(&["task", "show", "none"]);
    assert!(shown.contains("nothing to merge: main has all of it"), "{shown}");
    assert!(world.env.ok(&["task", "show", "one"]).contains(" into main"));
    let log = world.env.ok(&["log"]);
    assert!(log.contains("none has nothing to merge"), "{log}");
    assert_eq!(world.env.json(&["diff", "none"])["files"], json!([]), "the commit is another task's");
    assert_eq!(world.env.ok(&["diff", "none", "--stat"]), "There is nothing that the target does not have already.");
    assert_eq!(world.env.json(&["diff", "one"])["files"].as_array().unwrap().len(), 1);
}

#[test]
fn a_session_that_quits_is_ending_and_an_agent_runs_until_it_is_ended() {
    let world = World::new();
    let live = begun(&world, &format!("trap '' TERM; {}", world.until_go()));
    world.env.ok(&["quit"]);
    let status = world.env.json(&["status"]);
    let seen = (&status["session"]["state"], &status["project"]["status"], &status["agents"][0]["state"]);
    assert_eq!(seen, (&"ending".into(), &"active".into(), &"running".into()), "{status}");
    assert!(world.env.ok(&["status"]).starts_with("Session ending, "));
    wait_until("it is being ended", || world.agents()[0]["state"] == "stopping");
    world.signal_file("go");
    live.wait();
    let told = world.env.ok(&["status"]);
    assert!(told.contains("Last: session ended: asked to quit, "), "{told}");
    world.all_is_well();
}

#[test]
fn what_waits_at_a_gate_does_not_wait_for_others() {
    let world = World::new();
    world.task("a", "echo 1 > a.txt", &[]);
    world.task("b", "echo 1 > b.txt", &["--after", "a"]);
    let live = world.start(&["--mode", "semi-auto"]);
    world.wait_for_gate("claim-a");
    let status = world.env.ok(&["status"]);
    assert!(status.contains("2 pending (0 ready, 1 at gates, 1 waiting)"), "{status}");
    let progress = &world.env.json(&["status"])["progress"];
    assert_eq!((&progress["ready"], &progress["atGates"], &progress["waiting"]), (&0.into(), &1.into(), &1.into()));
    assert_eq!(world.env.ok(&["task", "list", "--status", "waiting"]).lines().count(), 2, "the heading, and b");
    world.quits_well(live);
}

#[test]
fn an_archived_task_that_was_never_finished_is_not_complete() {
    let world = World::new();
    world.task("t", "", &[]);
    world.env.ok(&["task", "archive", "t"]);
    assert_eq!(world.find_task("t")["progress"], 0);
}

/// What an agent expected counts while it works, and who works is who is seen to work.
#[test]
fn whose_agent_is_gone_expects_nothing_and_works_nowhere() {
    let world = World::new();
    world.task("t", "git axiom signal estimate 20min; exec sleep 1000", &[]);
    let mut live = world.start_autopilot(&[]);
    wait_until("it is heard", || world.agents().iter().any(|agent| agent["estimatedCompletion"].is_string()));
    assert!(world.env.ok(&["task", "show", "t"]).contains("expected:"));
    let working = || world.env.json(&["agents"])["working"].as_array().unwrap().len();
    assert_eq!(working(), 1);
    live.kill();
    assert_eq!(working(), 1, "its keeper goes on");
    world.all_die();
    assert_eq!(working(), 0);
    world.env.ok(&["recover", "--yes"]);
    let shown = world.env.ok(&["task", "show", "t"]);
    assert!(!shown.contains("expected:"), "nobody works on it: {shown}");
    let graph = world.env.ok(&["graph"]);
    assert!(graph.contains("the session is found crashed") && !graph.contains("the session ends"), "{graph}");
}
