//! The verify steps of a task: names, results that are bound to a commit and survive a crash, and what steps say of themselves.

use crate::session_support::{World, wait_until};
use git_axiom::base::error::Code;

/// A command that notes beside the repository that it ran.
fn noted(world: &World, file: &str, then: &str) -> String {
    format!("echo ran >> '{}'; {then}", world.beside(file).display())
}

#[test]
fn steps_have_names_and_results_and_only_what_failed_runs_again() {
    let world = World::new();
    let first = format!("lint=FOO=1 sh -c 'test $FOO = 1' && {}", noted(&world, "lint", "test -e a.txt"));
    // It fails the first time.
    let second = noted(
        &world,
        "unit",
        "echo 'test a::one ... ok'; if [ -e ../../../again ]; then echo 'test result: ok. 20 passed; 0 failed; 1 ignored; 0'; \
         else touch ../../../again; echo 'test result: FAILED. 15 passed; 5 failed; 1 ignored; 0'; exit 7; fi",
    );
    let third = "FOO=2 sh -c 'test $FOO = 2; echo \"{\\\"score\\\":0.88,\\\"last\\\":\\\"all\\\"}\" >> $AXIOM_VERIFY_REPORT'";
    let steps = ["--verify", &first, "--verify", &format!("unit={second}"), "--verify", third];
    // Both iterations come to the same commit.
    world.task("t", "echo 1 > a.txt", &steps);
    world.env.git(&["config", "axiom.merge.verify", "merged=echo '<testcase name=\"m\"/>' > $AXIOM_VERIFY_JUNIT"]);
    let ended = world.autopilot(&[]).code(0);
    assert!(ended.stderr.contains("verify step 'unit' exited with status 7, 15/20 passed, 1 skipped"), "{}", ended.stderr);
    assert_eq!((world.lines("lint").len(), world.lines("unit").len()), (1, 2));
    let checks = world.show("t")["verification"].clone();
    let of = |place: usize| (&checks[place]["name"], &checks[place]["state"], &checks[place]["exit"]);
    for (place, name) in [(0, "lint"), (1, "unit"), (3, "merged")] {
        assert_eq!(of(place), (&name.into(), &"passed".into(), &0.into()), "{checks}");
    }
    let tests = &checks[1]["tests"];
    assert_eq!((&tests["passed"], &tests["total"], &tests["last"]), (&20.into(), &20.into(), &"a::one".into()), "{checks}");
    assert_eq!((&checks[2]["name"], &checks[2]["reported"][0]["score"]), (&serde_json::Value::Null, &0.88.into()), "{checks}");
    assert_eq!((&checks[3]["of"], &checks[3]["tests"]["last"]), (&"merge".into(), &"m".into()), "{checks}");
    assert_eq!(checks[0]["commit"], world.env.git(&["rev-parse", "main^2"]));
    let log = std::fs::read_to_string(checks[1]["log"].as_str().unwrap()).unwrap();
    assert!(log.starts_with("test a::one ... ok\ntest result: ok."), "{log}");
    let shown = world.env.ok(&["task", "show", "t"]);
    assert!(shown.contains("; passed, 20/20 tests passed, the last was a::one, in "), "{shown}");
    assert!(shown.contains("score 0.88, last: all"), "{shown}");
    let refused = world.env.axiom(&["task", "add", "x", "--verify", "a=true", "--verify", "a=false"]);
    assert!(refused.fails_with(Code::InvalidInput).stderr.contains("two verify steps are called 'a'"));
    world.all_is_well();
}

/// The logs of steps go with what else a merged task leaves; somebody may still want those of one that waits.
#[test]
fn logs_of_steps_expire_once_their_task_is_merged() {
    let world = World::new();
    world.env.git(&["config", "axiom.merge.verify", "merged=true"]);
    world.task("t", "echo 1 > a.txt", &["--verify", "unit=echo fine"]);
    world.task("u", "echo 1 > u.txt", &["--verify", "unit=echo no good; false"]);
    world.autopilot(&["--max-iterations", "1"]).code(1);
    let checks = world.env.axiom_dir().join("checks");
    let later = |days: i64| {
        let mut command = world.env.axiom_command(&world.env.repo(), ["recover", "--yes"]);
        let then = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * days);
        let ended = command.env("AXIOM_TEST_NOW", then.to_string()).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        ["t/task/unit/log", "t/merge/merged/log", "u/task/unit/log"].map(|log| checks.join(log).exists())
    };
    assert_eq!(later(6), [true; 3]);
    assert_eq!(later(8), [false, false, true]);
    assert!(!checks.join("t").exists());
    // What is known of them stays.
    assert_eq!(world.show("t")["verification"][0]["state"], "passed");
    let gone = world.env.axiom(&["output", "t", "--step", "unit"]);
    assert!(gone.code != Some(0) && gone.stderr.contains("unit"), "{gone}");
}

#[test]
fn verifications_that_go_on_failing_wait_for_a_human_and_what_was_mended_is_verified_at_once() {
    let world = World::new();
    world.env.git(&["config", "axiom.recovery.maxRetries", "2"]);
    let step = format!("works=echo no good; {}", noted(&world, "tried", "test -e ../../../mended"));
    let script = format!("echo 1 > a.txt; echo >> '{}'", world.beside("iterations").display());
    world.task("t", &script, &["--verify", &step]);
    world.task("u", "echo 1 > u.txt", &["--verify", "works=false"]);
    world.autopilot(&[]).code(1);
    assert_eq!((world.lines("tried").len(), world.lines("iterations").len()), (2, 2));
    let gate = world.wait_for_gate("human-review-t");
    assert_eq!(gate["details"]["cause"], "verifyFailed", "{gate}");
    assert!(gate["reason"].as_str().unwrap().contains("verify step 'works' exited with status 1"), "{gate}");
    assert!(gate["details"]["notes"].to_string().contains("no good"), "{gate}");
    assert_eq!(world.status_of("t"), "pending");
    // Nobody has decided: nothing is tried again.
    world.autopilot(&[]).code(1);
    assert_eq!(world.lines("tried").len(), 2);
    world.signal_file("mended");
    world.env.ok(&["gate", "approve", "human-review-t"]);
    world.env.ok(&["gate", "reject", "human-review-u", "--reason", "no"]);
    world.autopilot(&[]).code(1);
    assert_eq!((world.lines("tried").len(), world.lines("iterations").len()), (3, 2), "it is verified, and nothing else");
    assert_eq!((world.env.read("a.txt").as_str(), world.status_of("u").as_str()), ("1\n", "blocked"));
    assert_eq!(world.gates().len(), 0);
    world.all_is_well();
}

#[test]
fn after_a_crash_what_has_passed_is_not_run_again_and_what_was_cut_off_finds_what_it_reported() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let slow = format!(
        "if grep -q 60 $AXIOM_VERIFY_REPORT; then cp $AXIOM_VERIFY_REPORT '{beside}/handed-back'; else \
         echo '{{\"percent\":60,\"last\":\"parser\",\"next\":\"printer\"}}' >> $AXIOM_VERIFY_REPORT; touch '{beside}/begun'; sleep 100; fi"
    );
    let quick = noted(&world, "quick", "true");
    world.task("t", "echo 1 > a.txt", &["--verify", &format!("quick={quick}"), "--verify", &format!("slow={slow}")]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("the first result is recorded", || world.show("t")["verification"][0]["state"] == "passed");
    live.kill();
    world.no_process_is_left();
    // The same for the result of its merge.
    let waits = format!("touch '{beside}/merging'; while ! [ -e '{beside}/go' ]; do sleep 0.02; done");
    for step in [noted(&world, "built", "test -e a.txt"), waits] {
        world.env.git(&["config", "--add", "axiom.merge.verify", &step]);
    }
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("merging");
    wait_until("the first result is recorded", || world.show("t")["verification"][2]["state"] == "passed");
    live.kill();
    world.no_process_is_left();
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    assert_eq!((world.lines("quick").len(), world.lines("built").len()), (1, 1));
    assert!(std::fs::read_to_string(world.beside("handed-back")).unwrap().contains("parser"));
    let checks = world.show("t")["verification"].clone();
    assert_eq!(checks[1]["reported"][0]["next"], "printer", "{checks}");
    world.all_is_well();
}
