//! Attempts at a task that were cut off: what counts of them afterwards, what the next agent is told, and what recovery says of them.

use super::prompts::{has, world_of};
use super::recovering::{decided, dies, recovers, world};
use crate::session_support::{World, wait_until};
use git_axiom::base::error::Code;

/// The prompt of the agent's call with this number.
fn prompt(world: &World, number: u32) -> String {
    std::fs::read_to_string(world.beside(&format!("prompt.{number}"))).unwrap()
}

/// As [`world_of`], with a program whose output tells nothing of what it does.
fn world_of_a_silent_program(cases: &str) -> World {
    let world = world_of(cases);
    world.env.git(&["config", "axiom.agents.default", "mine"]);
    world.env.git(&["config", "axiom.agents.mine.command", &world.beside("program").display().to_string()]);
    world
}

/// Runs a session until its agent has begun, and then all of it dies.
fn dies_at(world: &World, begun: &str) {
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file(begun);
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    live.kill();
    world.all_die();
}

#[test]
fn a_half_settled_conflict_is_never_merged() {
    let world = world_of_a_silent_program(
        "1) echo mine > README; (cd ../.. && echo theirs > README && git commit -qam theirs); git axiom signal progress 100; \
            git axiom signal complete;;\n\
         2) git checkout -q --ours README; git add README; touch ../../../begun; sleep 1000;;\n\
         3) printf 'theirs\\nmine\\n' > README; git axiom signal complete;;",
    );
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it.", "--verify", "test -s README"]);
    dies_at(&world, "begun");
    let said = world.env.ok(&["recover"]);
    assert!(said.contains("it goes on (its work was given back to an agent"), "{said}");
    world.autopilot(&[]).code(0);
    decided(&world, "continue_task: its work was given back to an agent");
    has(&world, 3, &["An earlier iteration merged `main` into your branch", "- README\n"]);
    assert_eq!(world.env.read("README"), "theirs\nmine\n");
    world.all_is_well();
}

/// A task whose agent says 80 % and dies, once captured, and then its folder goes.
fn loses_its_folder(captured: bool) -> World {
    let world = world_of_a_silent_program(
        "1) seq 50 > a.py; git axiom signal progress 80; touch ../../../said; sleep 1000;;\n\
         *) ls > ../../../sees; echo b > b.py; git axiom signal complete;;",
    );
    world.env.git(&["config", "axiom.agents.captureInterval", if captured { "1" } else { "0" }]);
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("said");
    wait_until("it is recorded", || world.env.ok(&["events"]).contains("80%"));
    if captured {
        wait_until("it is captured", || world.env.try_git(&["cat-file", "-e", "refs/axiom/live/t:a.py"]).code == Some(0));
    }
    live.kill();
    world.all_die();
    std::fs::remove_dir_all(world.env.repo().join(".worktrees/agent-001-t")).unwrap();
    world
}

#[test]
fn a_workspace_that_is_gone_comes_back_from_its_newest_capture_and_the_agent_is_told() {
    let world = loses_its_folder(true);
    let said = world.env.ok(&["recover"]);
    assert!(said.contains("the folder of its workspace is gone, and is made again from its newest capture, of 20"), "{said}");
    world.autopilot(&[]).code(0);
    has(&world, 2, &["## The workspace was lost", "from its newest capture", "80% done"]);
    assert!(world.lines("sees").contains(&"a.py".to_owned()));
    assert_eq!((world.find_task("t")["retryCount"].clone(), world.env.read("a.py").lines().count()), (1.into(), 50));
    world.all_is_well();
}

#[test]
fn a_workspace_of_which_nothing_was_saved_begins_anew_and_never_at_80_percent() {
    let world = loses_its_folder(false);
    let said = world.env.ok(&["recover"]);
    assert!(said.contains("it begins anew (the folder of its workspace is gone, and nothing of its work was saved)"), "{said}");
    world.autopilot(&[]).code(0);
    has(&world, 2, &["The task begins anew: the folder of its workspace is gone", "Begin from the beginning"]);
    let told = prompt(&world, 2);
    assert!(!told.contains("80%") && !told.contains("continue from where") && !told.contains("a.py"), "{told}");
    assert_eq!(
        (world.lines("sees"), world.find_task("t")["retryCount"].clone()),
        (vec!["README".to_owned(), "src".to_owned()], 1.into())
    );
    world.all_is_well();
    // In the other modes a human agrees first.
    let world = loses_its_folder(false);
    world.env.ok(&["mode", "review"]);
    assert!(world.env.ok(&["recover"]).contains("a human has to look at it (the folder of its workspace is gone"));
    world.start(&["--until-idle"]).wait().code(1);
    let gate = world.wait_for_gate("human-review-t");
    assert!(gate["reason"].as_str().unwrap().contains("nothing of its work was saved"), "{gate}");
    assert!(!world.beside("prompt.2").exists());
    world.env.ok(&["gate", "approve", "human-review-t"]);
    world.start(&["--until-idle"]).wait().code(1);
    has(&world, 2, &["The task begins anew", "iteration 1 of"]);
    assert!(!prompt(&world, 2).contains("80%"));
}

#[test]
fn what_is_to_begin_anew_does_so_once_and_its_undo_holds() {
    let world = world("seq 50 > work.txt; git axiom signal progress 40", "ls > ../../../sees");
    dies(&world);
    world.env.ok(&["recover", "--reset", "t", "--yes"]);
    let newest = world.env.json(&["log", "--undoable", "-n", "1"])["operations"][0].clone();
    assert_eq!(newest["by"], "user", "a human's order: {newest}");
    world.env.ok(&["undo", "--yes"]);
    assert!(world.env.repo().join(".worktrees/agent-001-t/work.txt").exists());
    let again = world.autopilot(&[]).code(0).stderr;
    assert!(!again.contains("begins anew"), "{again}");
    assert!(world.lines("sees").contains(&"work.txt".to_owned()));
    world.all_is_well();
}

#[test]
fn an_attempt_in_a_fresh_workspace_is_told_so_and_nothing_of_what_is_not_there() {
    let world = world_of_a_silent_program(
        "1) echo 1 > f1.py; git axiom signal progress 5; touch ../../../begun; sleep 1000;;\n\
         *) git axiom signal complete; echo x > x;;",
    );
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    dies_at(&world, "begun");
    world.autopilot(&[]).code(0);
    has(&world, 2, &["The task begins anew: 5% is under the threshold of 10%", "**Previous attempts:** 1"]);
    let told = prompt(&world, 2);
    assert!(!told.contains("f1.py") && !told.contains("continue from where"), "{told}");
}

#[test]
fn iterations_are_counted_over_crashes_up_to_the_most() {
    let world = world_of_a_silent_program("3) touch ../../../begun; sleep 1000;;\n*) echo $n >> w.txt; exit 1;;");
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    let mut live = world.start_autopilot(&["--max-iterations", "4"]);
    world.wait_for_file("begun");
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    live.kill();
    world.all_die();
    world.autopilot(&["--max-iterations", "4"]).code(1);
    has(&world, 4, &["This is iteration 4 of at most 4"]);
    assert!(!world.beside("prompt.5").exists());
    assert_eq!(world.find_task("t")["reason"], "not complete after 4 iterations: it exited with status 1");
    // A human wants it tried again: from 1.
    world.env.ok(&["task", "unblock", "t"]);
    world.autopilot(&["--max-iterations", "4"]).code(1);
    has(&world, 5, &["This is iteration 1 of at most 4"]);
}

#[test]
fn a_stop_by_a_blocked_group_counts_iterations_on() {
    let world = World::new();
    world.env.ok(&["task", "add", "G", "--id", "g", "--kind", "group"]);
    world.task("t", &format!("touch '{}'; sleep 1000", world.beside("begun").display()), &["--parent", "g"]);
    let live = world.start_staying("1");
    world.wait_for_file("begun");
    world.env.ok(&["task", "block", "g", "--reason", "hold"]);
    wait_until("it is released", || !world.works_on("t"));
    world.env.ok(&["task", "unblock", "g"]);
    wait_until("it goes on", || world.works_on("t"));
    assert_eq!(world.agents()[0]["iteration"], 2);
    world.env.ok(&["kill", "--all"]);
    world.quits_well(live);
}

#[test]
fn captures_and_output_are_signs_of_life() {
    let world = world("git axiom signal progress 50; for i in 1 2 3 4; do echo $i >> a.py; sleep 1; done", "true");
    world.env.git(&["config", "axiom.agents.captureInterval", "1"]);
    dies(&world);
    let captured: i64 = world.env.git(&["log", "-1", "--format=%ct", "refs/axiom/live/t"]).trim().parse().unwrap();
    let look = world.env.json(&["recover"]);
    let crashed: jiff::Timestamp = look["crash"]["crashTime"].as_str().unwrap().parse().unwrap();
    assert!(crashed.as_second() >= captured, "{look}, captured at {captured}");
    recovers(&world);
}

#[test]
fn a_task_that_had_reported_complete_has_its_decision_in_the_audit() {
    let world = world("echo done > t.txt; git axiom signal complete", "false");
    dies(&world);
    recovers(&world);
    decided(&world, "next_task: the agent had reported that it is complete");
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "done\n");
}

#[test]
fn what_was_reported_as_whole_is_no_crash_too_many() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let script = format!(
        "if [ -f '{beside}/begun' ]; then exit 1; fi; echo done > t.txt; git add t.txt; git commit -qm T; git axiom signal progress 100; \
         touch '{beside}/begun'; sleep 1000"
    );
    world.task("t", &script, &["--verify", "test -f t.txt"]);
    world.env.git(&["config", "axiom.recovery.maxRetries", "0"]);
    // Where a task may begin again, an evaluator is asked; this one does not.
    world.env.git(&["config", "axiom.recovery.evaluator", &format!("touch '{beside}/asked'; exit 1")]);
    dies(&world);
    let look = world.env.json(&["recover"]);
    assert_eq!((&look["resumable"][0]["taskId"], &look["failed"]), (&"t".into(), &serde_json::json!([])), "{look}");
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "done\n");
    assert!(!world.beside("asked").exists());
}

#[test]
fn after_recovered_nothing_wants_recovery_where_git_has_a_filter() {
    let world = world("echo 1 > f.txt", "true");
    world.env.git(&["config", "filter.some.clean", "cat"]);
    dies(&world);
    assert!(recovers(&world).contains("Recovered.\n"));
    let status = world.env.json(&["status"]);
    assert_eq!(status["recovery"]["needed"], false, "{status}");
    assert_eq!(world.env.git(&["show", "axiom/t:f.txt"]), "1", "what it had left is committed");
}

#[test]
fn a_program_that_was_cut_off_while_it_settled_a_conflict_goes_on_in_its_own_session() {
    let world = world_of(
        r#"1) echo '{"type":"system","subtype":"init","session_id":"s-1"}'
           echo mine > README; (cd ../.. && echo theirs > README && git commit -qam theirs); git axiom signal complete;;
        2) echo '{"type":"system","subtype":"init","session_id":"s-2"}'
           echo more > other.txt; git merge -q main; touch ../../../begun; sleep 1000;;
        *) echo "$@" > ../../../called; echo both > README; git axiom signal complete;;"#,
    );
    for word in [world.beside("program").to_str().unwrap(), "resume", "{session}"] {
        world.env.git(&["config", "--add", "axiom.agents.claude.resume", word]);
    }
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    dies_at(&world, "begun");
    recovers(&world);
    world.autopilot(&[]).code(0);
    assert!(!prompt(&world, 3).contains("changed since the last iteration"), "{}", prompt(&world, 3));
    assert!(world.lines("called")[0].contains("s-2"), "{:?}", world.lines("called"));
    assert_eq!(world.env.read("README"), "both\n");
    world.all_is_well();
}

#[test]
fn what_a_killed_agent_reported_is_discarded() {
    let world = world_of_a_silent_program(
        "1) git axiom signal learning 'push to prod' --scope project; git axiom signal progress 60; touch ../../../begun; sleep 1000;;\n\
         *) git axiom signal complete; echo x > x;;",
    );
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("it is recorded", || world.env.ok(&["learnings"]).contains("push to prod"));
    world.env.ok(&["kill", "agent-001"]);
    assert!(!world.env.ok(&["learnings"]).contains("push to prod"));
    assert!(!world.env.ok(&["task", "show", "t"]).contains("60%"));
    let page = std::fs::read_to_string(world.env.axiom_dir().join("learnings.md")).unwrap_or_default();
    assert!(!page.contains("push to prod"), "{page}");
    let said = live.wait().code(1).stderr;
    assert!(said.contains("agent-001 t: killed") && !said.contains("t: stopped"), "{said}");
    world.env.ok(&["gate", "approve", "claim-t"]);
    world.autopilot(&[]).code(0);
    assert!(!prompt(&world, 2).contains("push to prod"));
    world.all_is_well();
}

#[test]
fn a_dry_run_names_what_failed_before_and_what_becomes_of_it() {
    let world = world("echo 1 > a", "false");
    world.env.git(&["config", "axiom.recovery.maxRetries", "0"]);
    dies(&world);
    world.autopilot(&[]).code(1);
    assert_eq!(world.status_of("t"), "failed", "0 is: the first crash fails it");
    let looked = world.env.ok(&["recover"]);
    assert!(looked.starts_with("Nothing has to be recovered.\nfailed     t\n"), "{looked}");
    for args in [&["--failed-only"][..], &["--reset", "t"], &["--all-reset"]] {
        let said = world.env.ok(&[&["recover"], args, &["--dry-run"]].concat());
        assert!(said.starts_with("reset      t\n           begins anew; what is there is kept aside\n"), "{said}");
        assert!(said.contains("Nothing was changed. To do it: git axiom recover"), "{said}");
    }
    assert_eq!(world.status_of("t"), "failed");
    let done = world.env.ok(&["recover", "--failed-only", "--yes"]);
    assert!(done.starts_with("t  begins anew"), "{done}");
    assert_eq!(world.status_of("t"), "pending");
    world.env.axiom(&["recover", "--reset", "t,other", "--dry-run"]).fails_with(Code::UnknownTask);
}

#[test]
fn after_recovered_nothing_wants_recovery_while_a_question_waits() {
    let world = World::new();
    world.task("t", "git axiom signal waiting 'tabs?'", &[]);
    world.autopilot(&[]).code(1);
    let nothing = |world: &World| {
        let looked = world.env.ok(&["recover"]);
        assert!(looked.starts_with("Nothing has to be recovered.\nresumable  t"), "{looked}");
        assert!(looked.contains("it waits for an answer"), "{looked}");
        assert_eq!(world.env.json(&["status"])["recovery"]["needed"], false);
    };
    nothing(&world);
    let mut live = world.start_autopilot(&[]);
    live.kill();
    world.all_die();
    world.env.ok(&["recover", "--yes"]);
    nothing(&world);
    // Who has answered is not told to answer.
    let gate = world.gates()[0]["id"].as_str().unwrap().to_owned();
    world.env.ok(&["gate", "answer", &gate, "spaces"]);
    let looked = world.env.ok(&["recover"]);
    assert!(looked.contains("it has its answer"), "{looked}");
}

#[test]
fn recover_and_inspect_show_the_goal_its_groups_and_all_that_was_reported() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    world.env.ok(&["task", "add", "Shop", "--kind", "goal", "--id", "epic"]);
    for group in ["first", "second", "third"] {
        world.env.ok(&["task", "add", group, "--kind", "group", "--parent", "epic", "--id", group]);
    }
    let told = "git axiom signal progress 50; git axiom signal phase Loop --confidence .8; git axiom signal subtask part --done; \
                git axiom signal depends bcrypt; git axiom signal estimate 10min; git axiom signal file a.test --test";
    world.task("a", "echo 1 > a", &["--parent", "first"]);
    let script = format!("{told}; echo 1 > b; touch '{beside}/begun'; sleep 1000");
    world.task("b", &script, &["--parent", "second", "--after", "a", "--verify", "unit=true"]);
    world.task("c", "echo 1 > c", &["--parent", "third", "--after", "b"]);
    dies(&world);
    let look = world.env.ok(&["recover"]);
    for line in [
        "epic: Shop (interrupted, ",
        "\n  first: first (completed, 100%)\n",
        "\n  second: second (interrupted, 50%)\n    interrupted  50%  b; a is there\n",
        "\n  third: third (pending, 0%; waits for b)\n",
    ] {
        assert!(look.contains(line), "{line}\n{look}");
    }
    let inspected = world.env.ok(&["recover", "inspect"]);
    for words in [
        "epic: Shop",
        "b: b (interrupted, 50%)",
        "iteration: 1",
        "Loop",
        "part, done",
        "bcrypt",
        "a.test",
        "unit: true",
        "expected",
    ] {
        assert!(inspected.contains(words), "{words}\n{inspected}");
    }
    let exported = world.env.json(&["recover", "inspect"]);
    let task = &exported["tasks"][0];
    assert_eq!((&task["reported"]["phase"], &task["verification"][0]["state"]), (&"Loop".into(), &"notRun".into()), "{exported}");
    assert_eq!(exported["groups"][0]["status"], "interrupted");
}

#[test]
fn what_was_verified_when_all_died_is_known_to_inspect() {
    let world = World::new();
    let (slow, ran) = (world.beside("slow"), world.beside("begun"));
    let step = format!("slow=touch '{}' '{}'; sleep 1000", slow.display(), ran.display());
    world.task("t", "echo 1 > a", &["--verify", "unit=true", "--verify", &step]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("it is known that the first step passed", || {
        world.env.ok(&["task", "audit", "t"]).contains("verified: unit=true")
    });
    live.kill();
    world.all_die();
    let inspected = world.env.ok(&["recover", "inspect"]);
    assert!(inspected.starts_with("t: t (active, ") && inspected.contains("verify: unit: true; passed"), "{inspected}");
    assert!(inspected.contains("next runs, from its beginning, 'slow'"), "{inspected}");
}

#[test]
fn an_evaluator_is_told_what_the_agent_did_last() {
    let world = world("seq 50 > auth.py; git axiom signal progress 40; echo 'Created file auth.py'", "true");
    let asked = world.beside("asked");
    let answer = r#"{"action":"continue_task","reasoning":"r"}"#;
    world.env.git(&["config", "axiom.recovery.evaluator", &format!("cat > '{}'; echo '{answer}'", asked.display())]);
    dies(&world);
    recovers(&world);
    let question: serde_json::Value = serde_json::from_slice(&std::fs::read(&asked).unwrap()).unwrap();
    assert_eq!(question["lastAction"], "Created file auth.py", "{question}");
}

/// A crash does not make its time go away: up to its last sign of life it counts.
#[test]
fn an_iteration_that_was_cut_off_took_time() {
    let world = World::new();
    let said = world.beside("said");
    let first = format!("echo begun; sleep 1.2; echo alive; touch '{}'; sleep 3000", said.display());
    world.task("t", &format!("[ -e '{}' ] || {{ {first}; }}; echo 1 > t.txt", said.display()), &[]);
    let mut live = world.start(&["--mode", "autopilot"]);
    world.wait_for_file("said");
    wait_until("that is in its log", || world.env.ok(&["output", "t"]).contains("alive"));
    live.kill();
    world.all_die();
    world.start_autopilot(&[]).wait().code(0);
    let all = world.env.json(&["stats"]);
    assert!(all["total"]["duration"].as_u64().unwrap() >= 1, "{all}");
    world.all_is_well();
}
