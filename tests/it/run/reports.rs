//! What agents report, and what follows from how they end.

use serde_json::json;

use crate::session_support::{World, wait_until};

#[test]
fn signals_say_how_far_a_task_is_and_that_it_is_done() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let script = format!(
        "git axiom signal progress 40 && git axiom signal phase writing || exit 9\n\
         touch '{beside}/told'; while [ ! -f '{beside}/go' ]; do sleep 0.02; done\n\
         echo 1 > t.txt; git axiom signal complete; exit 3"
    );
    world.task("t", &script, &[]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("told");
    wait_until("both are shown", || {
        let agent = &world.agents()[0];
        agent["progress"] == 40 && agent["phase"] == "writing"
    });
    let status = world.env.json(&["status"]);
    let agent = &status["agents"][0];
    assert_eq!(agent["state"], "running");
    assert_eq!((agent["taskId"].as_str(), agent["iteration"].as_u64()), (Some("t"), Some(1)));
    assert_eq!((agent["phase"].as_str(), agent["branch"].as_str()), (Some("writing"), Some("refs/heads/axiom/t")));
    assert_eq!((status["session"]["state"].as_str(), &status["supervisor"]["alive"]), (Some("running"), &true.into()));
    assert_eq!(status["supervisor"]["pid"], live.pid());
    assert_eq!(status["tasks"]["active"], 1);
    world.signal_file("go");
    live.wait().code(0);
    assert_eq!(world.env.read("t.txt"), "1\n");
    world.all_is_well();
}

#[test]
fn what_an_agent_prints_is_activity() {
    let world = World::new();
    let wait = world.until_go();
    world.task("t", &format!("{wait}; echo hello; touch \"{}/printed\"; exec sleep 600", world.env.root().display()), &[]);
    let live = world.start_until_begun();
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    let begun = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    // Times of documents have whole seconds.
    wait_until("a second has passed", || {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() > begun + 1
    });
    let before = world.agents()[0]["lastActivity"].clone();
    world.signal_file("go");
    wait_until("what it printed is shown", || world.agents()[0]["lastLine"] == "hello");
    let after = world.agents()[0]["lastActivity"].clone();
    assert!(before.as_str() < after.as_str(), "{before} {after}");
    drop(live);
}

#[test]
fn parts_files_and_libraries_are_shown_and_outlive_a_crash() {
    let world = World::new();
    let wait = world.until_go();
    let script = format!(
        "git axiom signal subtask signature --done && git axiom signal subtask logic && git axiom signal subtask errors --planned &&\n\
         git axiom signal file src/a.rs --section parse --next print --line 127 --confidence 0.82 &&\n\
         git axiom signal file src/old.rs --related && git axiom signal file src/a_test.rs --test &&\n\
         git axiom signal phase 'Loop 3' --confidence 0.8 && git axiom signal estimate 20min && git axiom signal progress 80 &&\n\
         git axiom signal depends serde tokio || exit 9\n{wait}; echo 1 > t.txt"
    );
    world.env.ok(&["task", "add", "A group", "--id", "g", "--kind", "group"]);
    world.task("t", &script, &["--parent", "g", "--verify", "true"]);
    world.task("u", "echo 2 > u.txt", &["--parent", "g", "--after", "t", "--verify", "true"]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("all is heard", || {
        world.show("t")["reports"]["context"]["dependencies"].as_array().is_some_and(|all| all.len() == 2)
    });
    let agent = world.agents()[0].clone();
    assert_eq!((&agent["parts"]["total"], &agent["parts"]["completed"]), (&3.into(), &1.into()), "{agent}");
    assert!(agent["estimatedCompletion"].is_string() && agent["waitingSince"].is_null(), "{agent}");
    let words = world.env.ok(&["status"]);
    assert!(words.contains("1/3") && words.contains("Loop 3"), "{words}");
    let project = world.env.json(&["status"])["project"].clone();
    assert_eq!(project["currentTaskId"], "t");
    live.kill();
    // All of it is known without a supervisor.
    let shown = world.show("t");
    let reports = &shown["reports"];
    assert_eq!(reports["subtasks"][2], serde_json::json!({"name": "errors", "stage": "planned"}), "{shown}");
    assert_eq!((&reports["files"][0]["currentLine"], &reports["files"][0]["nextSection"]), (&127.into(), &"print".into()));
    assert_eq!(
        (&reports["context"]["relatedFiles"][0], &reports["context"]["testFiles"][0]),
        (&"src/old.rs".into(), &"src/a_test.rs".into())
    );
    assert_eq!((&shown["progress"], &shown["confidence"]), (&80.into(), &0.8.into()));
    let group = world.show("g");
    assert_eq!((&group["shown"], &group["progress"]), (&"inProgress".into(), &40.into()), "{group}");
    assert_eq!(group["parts"], serde_json::json!({"total": 2, "completed": 0, "inProgress": 1, "waiting": 1}), "{group}");
    assert_eq!(group["dependencies"], serde_json::json!({"u": ["t"]}), "{group}");
    let output = world.env.ok(&["output", "t"]);
    for part in ["subtask logic", "progress 80%", "phase Loop 3, 80% sure", "uses serde, tokio"] {
        assert!(output.contains(&format!("\n  = reports {part}")), "{part}\n{output}");
    }
    assert_eq!(world.env.ok(&["output", "t", "--raw"]), "");
    let words = world.env.ok(&["task", "show", "t"]);
    for part in ["logic, begun", "src/a.rs, line 127, after parse, next print, 82% sure", "serde, tokio", "Loop 3"] {
        assert!(words.contains(part), "{part}\n{words}");
    }
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    let metadata = world.env.json(&["status"])["project"]["metadata"].clone();
    assert_eq!((&metadata["testsPassing"], &metadata["filesModified"]), (&true.into(), &1.into()), "{metadata}");
    let (task, group) = (world.show("t"), world.show("g"));
    assert_eq!((&task["reports"]["testsPassing"], &task["reports"]["filesModified"]), (&true.into(), &1.into()), "{task}");
    assert_eq!((&group["shown"], &group["parts"]["completed"]), (&"completed".into(), &2.into()), "{group}");
    // With the work goes what was reported of it, and both come back.
    world.env.ok(&["rollback", "task", "t", "--cascade", "--yes"]);
    assert!(world.show("t")["reports"].is_null());
    world.env.ok(&["undo", "--yes"]);
    assert_eq!(world.show("t")["reports"], task["reports"]);
    world.all_is_well();
}

#[test]
fn a_capture_while_the_agent_works_is_recorded() {
    let world = World::new();
    world.env.git(&["config", "axiom.agents.captureInterval", "1"]);
    world.task("t", &format!("echo 1 > t.txt; echo at work; {}", world.until_go()), &[]);
    let live = world.start_autopilot(&[]);
    let captured = || world.env.ok(&["task", "audit", "t"]).contains("captured the workspace of t as ");
    wait_until("it is captured", captured);
    let status = world.env.json(&["status"]);
    assert_eq!(status["project"]["lastAction"], "captured the workspace of t", "{status}");
    let agent = &status["agents"][0];
    let shown = (&agent["insertions"], &agent["deletions"], &agent["lastLine"]);
    assert_eq!(shown, (&json!(1), &json!(0), &json!("at work")), "{status}");
    // It was heard of when it changed the file, not when that was captured.
    let events = world.env.json(&["events"]);
    let capture = events["events"].as_array().unwrap().iter().find(|one| one["event"] == "workspaceCaptured").unwrap();
    let time = |value: &serde_json::Value| value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert!(time(&agent["lastActivity"]) < time(&capture["at"]), "{status} {capture}");
    let text = world.env.ok(&["status"]);
    assert!(text.contains("\nNow:\n  agent-001  +1 -0  at work\n"), "{text}");
    // A capture is made, and recorded, only where something has changed since.
    std::thread::sleep(std::time::Duration::from_millis(2500));
    assert_eq!(world.env.ok(&["task", "audit", "t"]).matches("captured the workspace").count(), 1);
    world.signal_file("go");
    live.wait().code(0);
    world.all_is_well();
}

#[test]
fn a_blocked_agent_blocks_its_task_with_its_words() {
    let world = World::new();
    world.task("t", "echo half > half.txt; git axiom signal blocked 'no key for the API'", &[]);
    world.task("u", "echo 1", &["--after", "t"]);
    let ended = world.autopilot(&[]).code(1);
    assert_eq!(ended.stdout, "t is blocked: no key for the API\nu waits for t, which is blocked: no key for the API\n");
    assert_eq!(world.env.git(&["show", "axiom/t:half.txt"]), "half", "what it left is committed");
    // Unblocked, it goes on in the same workspace.
    world.env.ok(&["task", "edit", "t", "--body", "test -f half.txt && echo whole > whole.txt"]);
    world.env.ok(&["task", "unblock", "t"]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("whole.txt"), "whole\n");
    world.all_is_well();
}

#[test]
fn markers_count_with_the_right_token_only() {
    let world = World::new();
    let agent = world.beside("agent.sh");
    let script = "prompt=$(cat)\n\
        if [ $AXIOM_ITERATION = 1 ]; then echo '<axiom wrong>BLOCKED: never</axiom>'; echo \"$prompt\"; exit 1; fi\n\
        echo 1 > $AXIOM_TASK_ID.txt; echo \"<axiom $AXIOM_TOKEN>COMPLETE</axiom>\"; exit 1";
    std::fs::write(&agent, script).unwrap();
    world.task("t", "", &[]);
    world.autopilot(&["--", "sh", agent.to_str().unwrap()]).code(0);
    assert_eq!(world.env.read("t.txt"), "1\n");
    assert_eq!(world.show("t")["iterations"], 2, "{}", world.show("t"));
    world.all_is_well();
}

#[test]
fn an_agent_that_fails_gets_another_iteration_until_they_run_out() {
    let world = World::new();
    world.task("t", "echo $AXIOM_ITERATION/$AXIOM_MAX_ITERATIONS >> t.txt; exit 7", &[]);
    let ended = world.autopilot(&["--max-iterations", "3"]).code(1);
    assert_eq!(ended.stdout, "t is failed: not complete after 3 iterations: it exited with status 7\n");
    assert_eq!(world.env.git(&["show", "axiom/t:t.txt"]), "1/3\n2/3\n3/3");
    assert_eq!(world.commits_of("t", "axiom/t").len(), 3);
    assert_eq!(world.find_task("t")["retryCount"], 0);
    world.all_is_well();
}

#[test]
fn verify_steps_must_pass_and_a_failing_one_is_told_to_the_agent() {
    let world = World::new();
    world.task("t", "", &["--verify", "test -f a.txt", "--verify", "echo looking for b; test -f b.txt"]);
    let (agent, prompt) = (world.beside("agent.sh"), world.beside("prompt").display().to_string());
    let script = format!("cat > '{prompt}'.$AXIOM_ITERATION\nif [ -f a.txt ]; then echo b > b.txt; else echo a > a.txt; fi");
    std::fs::write(&agent, script).unwrap();
    let ended = world.autopilot(&["--", "sh", agent.to_str().unwrap()]).code(0);
    assert!(ended.stderr.contains("verify step 'echo looking for b; test -f b.txt' exited with status 1"), "{}", ended.stderr);
    let second = std::fs::read_to_string(world.beside("prompt.2")).unwrap();
    assert!(second.contains("looking for b"), "{second}");
    assert!(std::fs::read_to_string(world.beside("prompt.1")).unwrap().contains("test -f a.txt"));
    let audit = world.env.ok(&["task", "audit", "t"]);
    assert!(audit.contains("verified: test -f a.txt"), "{audit}");
    assert_eq!(world.env.read("b.txt"), "b\n");
    world.all_is_well();
}

#[test]
fn personas_name_the_agents_and_slots_are_respected() {
    let world = World::new();
    for (task, persona) in [("t", "ed"), ("u", "ed"), ("v", "tester")] {
        let (running, most) = (world.beside("running").display().to_string(), world.beside("most").display().to_string());
        let script = format!(
            "mkdir -p '{running}'; touch '{running}/{task}'; sleep 0.3; ls '{running}' | wc -l >> '{most}'; rm '{running}/{task}'; \
             echo $AXIOM_AGENT > {task}.txt"
        );
        world.task(task, &script, &["--persona", persona]);
    }
    world.autopilot(&["--agents", "1"]).code(0);
    assert_eq!(world.lines("most").iter().map(|line| line.trim()).collect::<Vec<_>>(), ["1", "1", "1"]);
    assert_eq!((world.env.read("t.txt"), world.env.read("v.txt")), ("ed-001\n".into(), "tester-001\n".into()));
    world.all_is_well();
}

#[test]
fn output_is_given_back_byte_by_byte() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    // Nothing is printed before somebody follows: there is no log then.
    let script = format!(
        "touch '{beside}/begun'; while [ ! -f '{beside}/speak' ]; do sleep 0.02; done; printf 'one\\n\\377\\376 two\\r\\n'; echo err >&2; printf 'no line end'\n\
         touch '{beside}/told'; while [ ! -f '{beside}/go' ]; do sleep 0.02; done; printf ' until now'"
    );
    world.task("t", &script, &[]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    let follow = crate::session_support::Live::start(
        world.env.axiom_command(&world.env.repo(), ["output", "--raw", "--follow", "t"]),
        world.env.root(),
        "follow",
    );
    std::thread::sleep(std::time::Duration::from_millis(500));
    world.signal_file("speak");
    world.wait_for_file("told");
    world.signal_file("go");
    live.wait().code(0);
    follow.wait().code(0);
    let expected = b"one\n\xff\xfe two\r\nno line end until now";
    let printed = |args: &[&str]| world.env.axiom_command(&world.env.repo(), args).output().unwrap().stdout;
    for output in [
        printed(&["output", "--raw", "t"]),
        printed(&["output", "--raw", "agent-001"]),
        std::fs::read(world.beside("follow.out")).unwrap(),
    ] {
        // The two channels are two pipes: what came first between them is not known for certain.
        let text = String::from_utf8_lossy(&output).replacen("err\n", "", 1);
        assert_eq!(text, String::from_utf8_lossy(expected));
        assert!(output.windows(3).any(|part| part == b"\xff\xfe "), "{output:?}");
    }
    world.env.axiom(&["output", "nobody"]).fails_with(git_axiom::base::error::Code::UnknownTask);
    world.all_is_well();
}

#[test]
fn agents_are_refused_what_is_for_humans() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let mut script = String::new();
    let verbs = [
        "gate approve x",
        "mode semi-auto",
        "run",
        "merge t",
        "rollback checkpoint x --yes",
        "undo --yes",
        "recover --yes",
        "recover --from fresh --yes",
    ];
    for verb in verbs {
        script.push_str(&format!("git axiom {verb} 2>>'{beside}/said'; echo $? >> '{beside}/codes'\n"));
    }
    script.push_str(&format!("git axiom task list > '{beside}/list' || exit 1\n"));
    world.task("t", &script, &[]);
    world.autopilot(&[]).code(0);
    let said = std::fs::read_to_string(world.beside("said")).unwrap();
    assert_eq!(world.lines("codes"), ["3"; 8], "{said}");
    assert_eq!(said.matches("error[NOT_FOR_AGENTS]").count(), 8, "{said}");
    assert!(std::fs::read_to_string(world.beside("list")).unwrap().contains('t'));
    // And nobody but an agent may signal.
    world.env.axiom(&["signal", "complete"]).fails_with(git_axiom::base::error::Code::InvalidInput);
    world.all_is_well();
}

/// Also in a shell that resets `PATH`, and where another program is called `git-axiom`: paths are those of the agent's folder.
#[test]
fn an_agent_finds_this_git_axiom_and_no_other() {
    let world = World::new();
    let env = &world.env;
    let other = env.root().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("git-axiom"), "#!/bin/sh\necho another; exit 9\n").unwrap();
    std::fs::set_permissions(other.join("git-axiom"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let body = "git axiom signal phase first && git config user.nick > nick
        mkdir \"it's\" && cd \"it's\" && echo 'exit 0' > note && PATH=$PLAIN
        git axiom task add second --id second --body-file note && git axiom signal phase second";
    world.task("t", body, &[]);
    let plain = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([other].into_iter().chain(std::env::split_paths(&plain))).unwrap();
    let mut run = env.axiom_command(&env.repo(), ["run", "--mode", "autopilot", "--until-idle", "--max-iterations", "1"]);
    run.env("PATH", path).env("PLAIN", plain).env("GIT_CONFIG_PARAMETERS", r"'user.nick'='A '\''B'\'''");
    env.run(run, None).success();
    assert_eq!(env.read("nick"), "A 'B'\n");
    assert_eq!(world.status_of("second"), "done");
    let told = env.ok(&["log", "--all"]);
    assert!(told.contains("phase first") && told.contains("phase second"), "{told}");
}
