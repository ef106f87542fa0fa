//! What becomes of a task whose keeper was killed: by rules, by an evaluator, and what is kept aside.

use git_axiom::base::error::Code;
use serde_json::Value;

use crate::session_support::{World, kill, wait_until};
use crate::terminal::Terminal;

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

/// A task that reports how far it is and then loses its supervisor and its keeper.
fn lost() -> World {
    let reports =
        "git axiom signal progress 40; git axiom signal file src/a.rs --section one --next two --line 7; echo half > half.txt";
    let world = world(reports, "true");
    world.env.ok(&["task", "add", "Sprint", "--id", "sprint", "--kind", "group"]);
    world.env.ok(&["task", "edit", "t", "--parent", "sprint"]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("its reports are recorded", || {
        world.agents().iter().any(|agent| agent["state"] == "running") && world.env.ok(&["events"]).contains("src/a.rs")
    });
    live.kill();
    world.all_die();
    world
}

#[test]
fn recover_says_what_becomes_of_a_task_and_does_what_a_human_wants() {
    let world = lost();
    let looked = world.env.json(&["recover"]);
    let orphan = &looked["resumable"][0];
    assert_eq!((&orphan["taskId"], &orphan["decision"], &orphan["progress"]), (&"t".into(), &"continue_task".into(), &40.into()));
    assert_eq!((&orphan["lastFile"]["line"], &orphan["filesTotal"]), (&7.into(), &1.into()), "{looked}");
    assert!(looked["crash"]["crashDuration"].is_u64() && orphan["savedAt"].is_string(), "{looked}");
    let under = world.env.json(&["recover", "--threshold", "50"]);
    assert_eq!(under["reset"][0]["decision"], "restart_task", "{under}");
    // What it says does what it showed.
    let said = world.env.ok(&["recover", "--threshold", "50", "--only", "sprint"]);
    assert!(said.ends_with("To do it: git axiom recover --threshold 50 --only sprint --yes"), "{said}");
    let said = world.env.ok(&["recover"]);
    assert!(said.contains("last file: src/a.rs (line 7), after one, next two") && said.contains("Estimated work loss"), "{said}");
    assert!(said.contains("sprint: Sprint (interrupted, 40%)\n  interrupted  40%  t\n"), "{said}");
    // Nothing was changed so far, and of another task nothing is known.
    world.env.ok(&["task", "add", "Other", "--id", "other"]);
    world.env.axiom(&["recover", "--resume", "other"]).fails_with(Code::InvalidInput);
    world.env.git(&["config", "axiom.recovery.auto", "false"]);
    world.env.axiom(&["run", "--until-idle"]).fails_with(Code::RecoveryNeeded);
    let export = world.beside("crash.json");
    world.env.ok(&["recover", "export", "--output", export.to_str().unwrap()]);
    let exported: Value = serde_json::from_slice(&std::fs::read(&export).unwrap()).unwrap();
    assert_eq!(exported["tasks"][0]["lastCheckpoint"]["function"], "one", "{exported}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&export).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    world.env.axiom(&["recover", "export", "--output", export.to_str().unwrap()]).fails_with(Code::InvalidInput);
    world.env.axiom(&["recover", "--reset", "t"]).fails_with(Code::NeedsConfirmation);
    let done = world.env.json(&["recover", "--reset", "t", "--yes"]);
    assert_eq!(done["done"][0]["taskId"], "t", "{done}");
    assert!(done["done"][0]["what"].as_str().unwrap().starts_with("begins anew (a human decided so)"), "{done}");
    assert!(!world.env.repo().join(".worktrees/agent-001-t").exists(), "what is there is kept aside");
    assert_eq!(world.env.json(&["recover"])["needed"], false);
}

/// Two tasks of a group that a crash cut off: one that goes on by the rules, and one that begins anew.
fn two_lost() -> World {
    let world = World::new();
    world.env.ok(&["task", "add", "Sprint", "--id", "sprint", "--kind", "group"]);
    for (id, percent) in [("far", 80), ("near", 5)] {
        let begun = world.beside(&format!("begun-{id}"));
        let script =
            format!("git axiom signal progress {percent}; echo half > {id}.txt; touch '{}'; sleep 1000", begun.display());
        world.task(id, &script, &["--parent", "sprint"]);
    }
    let mut live = world.start_autopilot(&[]);
    ["begun-far", "begun-near"].iter().for_each(|begun| world.wait_for_file(begun));
    wait_until("both are known to run", || world.agents().iter().filter(|agent| agent["state"] == "running").count() == 2);
    live.kill();
    world.all_die();
    world
}

#[test]
fn a_dry_run_shows_what_its_options_do() {
    let world = two_lost();
    let shown = |args: &[&str]| {
        let args: Vec<&str> = [&["recover"][..], args, &["--dry-run"]].concat();
        let looked = world.env.json(&args);
        ["resumable", "reset", "left"].map(|key| {
            let tasks = looked[key].as_array().unwrap().iter();
            tasks.map(|task| task["taskId"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
        })
    };
    for (args, expected) in [
        (&[][..], ["far", "near", ""]),
        (&["--resume"], ["far", "near", ""]),
        (&["--resume", "sprint"], ["far", "near", ""]),
        (&["--resume", "near"], ["near", "", "far"]),
        (&["--reset", "sprint"], ["", "far near", ""]),
        (&["--reset", "far"], ["", "far", "near"]),
        (&["--all-reset"], ["", "far near", ""]),
        (&["--failed-only"], ["", "near", "far"]),
        (&["--only", "far"], ["far", "", "near"]),
        (&["--threshold", "90"], ["", "far near", ""]),
        (&["--threshold", "90", "--only", "far"], ["", "far", "near"]),
    ] {
        assert_eq!(shown(args), expected, "{args:?}");
    }
    let all_anew = world.env.json(&["recover", "--all-reset", "--dry-run"]);
    assert!(all_anew["reset"][0]["reason"].as_str().unwrap().contains("a human decided so"), "{all_anew}");
    let done = world.env.axiom(&["recover", "--failed-only", "--yes"]).success();
    assert!(done.stdout.contains("near  begins anew (a human decided so)"), "{done}");
    assert!(done.stdout.ends_with("As the crash left them stay 1 task: far.\nRecovered.\n"), "{done}");
    assert!(done.stderr.contains("2 agents were at work"), "{done}");
    assert_eq!(shown(&["--failed-only"]), ["", "", "far"]);
    assert_eq!(shown(&[]), ["far", "", ""]);
    let done = world.env.ok(&["recover", "--resume", "sprint"]);
    assert!(done.contains("far  goes on at 80%\n"), "{done}");
}

/// What nobody has recorded yet counts in what is shown as it will count when it is done, with the time at which it was said.
#[test]
fn what_an_agent_says_after_its_supervisor_died_is_shown_as_it_will_count() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let told = "git axiom signal progress 80 && git axiom signal file a.rs --line 7 --confidence 0.5";
    let script = format!(
        "if [ ! -f '{beside}/said' ]; then echo half > half.txt; touch '{beside}/begun'; while [ ! -f '{beside}/go' ]; do sleep 0.02; done\n\
         {told} && touch '{beside}/said'; sleep 1000; fi\ntest ! -e half.txt && echo done > t.txt"
    );
    world.task("t", &script, &[]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    live.kill();
    world.signal_file("go");
    world.wait_for_file("said");
    world.all_die();
    let looked = world.env.json(&["recover"]);
    let orphan = &looked["resumable"][0];
    assert_eq!((&orphan["progress"], &orphan["lastFile"]["line"]), (&80.into(), &7.into()), "{looked}");
    assert_eq!((&orphan["confidence"], &orphan["filesTotal"]), (&0.5.into(), &1.into()), "{looked}");
    let years_later = |args: &[&str]| {
        let mut command = world.env.axiom_command(&world.env.repo(), args);
        command.env("AXIOM_TEST_NOW", "2031-01-01T00:00:00Z");
        world.env.run(command, None).success()
    };
    let looked = years_later(&["recover"]).stdout;
    assert!(looked.contains("reset      t ") && looked.contains("its last sign of life was"), "{looked}");
    years_later(&["recover", "--yes"]);
    let audit = world.env.ok(&["task", "audit", "t"]);
    assert!(audit.contains("restart_task: its last sign of life was"), "{audit}");
    world.autopilot(&[]).code(0);
    world.all_is_well();
}

#[test]
fn what_an_agent_reported_as_complete_is_complete_though_its_keeper_died() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    world.task("t", &format!("echo whole > t.txt; git axiom signal complete; touch '{beside}/begun'; sleep 1000"), &[]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    live.kill();
    world.all_die();
    let looked = world.env.json(&["recover"]);
    let orphan = &looked["resumable"][0];
    assert!(orphan["reason"].as_str().unwrap().ends_with("its agent had reported that it is complete"), "{looked}");
    assert_eq!((&orphan["decision"], &looked["crash"]), (&Value::Null, &Value::Null), "{looked}");
    // It is not cut off, so it cannot begin anew; but it may be the only one that is taken up.
    world.env.axiom(&["recover", "--reset", "t", "--yes"]).fails_with(Code::InvalidInput);
    let done = world.env.ok(&["recover", "--only", "t", "--yes"]);
    assert!(done.contains("t  is taken up\n"), "{done}");
    world.autopilot(&[]).code(0);
    assert_eq!((world.env.read("t.txt"), world.find_task("t")["retryCount"].clone()), ("whole\n".into(), 0.into()));
    world.all_is_well();
}

#[test]
fn what_is_abandoned_leaves_the_plan_and_an_undo_brings_it_back() {
    let world = lost();
    world.env.axiom(&["recover", "abandon"]).fails_with(Code::NeedsConfirmation);
    let said = world.env.ok(&["recover", "abandon", "t", "--dry-run"]);
    assert!(said.contains("  t: t\n") && said.ends_with("To do it: git axiom recover abandon t"), "{said}");
    assert_eq!(world.status_of("t"), "active");
    world.env.ok(&["recover", "abandon", "t", "--yes"]);
    assert_eq!(world.status_of("t"), "archived");
    assert_eq!(world.env.git(&["show", "axiom/t:half.txt"]), "half");
    world.env.ok(&["undo", "--yes"]);
    assert_eq!(world.find_task("t")["status"], "pending");
    let context = &world.env.json(&["task", "show", "t"])["recoveryContext"];
    assert_eq!(context["instruction"], "Previous attempt crashed. Review log.", "{context}");
    assert_eq!(context["auditLog"].as_array().unwrap().last().unwrap()["event"], "crash_recovery", "{context}");
}

#[test]
fn recover_all_starts_sessions_again_that_died_and_no_others() {
    let world = lost();
    let other = World::new();
    let state = world.beside("state");
    let list = state.join("git-axiom/repositories.jsonl");
    let axiom = |world: &World, args: &[&str]| {
        let mut command = world.env.axiom_command(&world.env.repo(), args);
        command.env("XDG_STATE_HOME", &state);
        world.env.run(command, None)
    };
    axiom(&world, &["init"]).success();
    axiom(&other, &["init"]).success();
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&list).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    // One that is gone, and a line that is none.
    let more = "{\"id\":\"x\",\"commonDir\":\"/nowhere/.git\"}\nnonsense\n";
    std::fs::write(&list, std::fs::read_to_string(&list).unwrap() + more).unwrap();
    let said = axiom(&world, &["recover", "--all"]).success().stdout;
    assert!(said.contains("/repo: its session died, 1 active task\n") && said.contains("/repo: nothing to recover\n"), "{said}");
    assert_eq!(said.lines().count(), 3, "{said}");
    std::fs::write(other.env.axiom_dir().join("state/events.jsonl"), "damage\n").unwrap();
    let said = axiom(&world, &["recover", "--all", "--run"]).stdout;
    assert!(said.contains("; started again\n") && said.contains("EVENT_LOG"), "{said}");
    wait_until("its work is merged", || world.status_of("t") == "done");
    wait_until("it has ended", || world.processes().is_empty());
    // Its session told in numbers what it took up.
    let log = std::fs::read_to_string(world.env.axiom_dir().join("session.log")).unwrap();
    let told = "recovered: 1 task that a crash had cut off: 1 resumable, 0 reset, 0 failed\n";
    assert_eq!(log.matches(told).count(), 1, "{log}");
    world.all_is_well();
}

#[test]
fn what_a_human_chose_before_a_session_in_the_background_is_asked_once() {
    let world = lost();
    world.env.git(&["config", "axiom.recovery.auto", "false"]);
    let command = world.env.axiom_command(&world.env.repo(), ["run", "--detach", "--until-idle", "--mode", "autopilot"]);
    let mut terminal = Terminal::start(command);
    terminal.wait_for("What next?");
    // A session leaves nothing as it is.
    terminal.wait_for("the rest goes on");
    terminal.keys(&["\r"]);
    let (status, seen) = terminal.end();
    assert_eq!(status.code(), Some(0), "{seen}");
    wait_until("its work is merged", || world.status_of("t") == "done");
    wait_until("it has ended", || world.processes().is_empty());
    world.all_is_well();
}
