//! A persona as a verify step: its program looks at the work and passes it or not; what it changes does not become part of it.

use git_axiom::base::error::Code;
use serde_json::{Value, json};

use crate::session_support::{World, wait_until};

/// A world with a persona `reviewer`, whose program is the script.
fn reviewed_by(script: &str) -> World {
    let world = World::new();
    world.env.git(&["config", "axiom.personas.reviewer.agent", "shell"]);
    world.env.git(&["config", "axiom.personas.reviewer.prompt", script]);
    world
}

fn checks(world: &World, task: &str) -> Value {
    world.show(task)["verification"].clone()
}

#[test]
fn a_persona_gives_work_back_with_its_reason_and_passes_it_and_its_merge() {
    let world = reviewed_by(
        "echo looking; sleep 0.3; if grep -q 2 a.txt; then git axiom signal complete; else git axiom signal blocked 'a.txt has to say 2'; fi",
    );
    world.env.git(&["config", "axiom.merge.verify", "@reviewer"]);
    let script = "if [ -e ../../../once ]; then echo 2 > a.txt; else touch ../../../once; echo 1 > a.txt; fi";
    world.task("t", script, &["--verify", "there=test -e a.txt", "--verify", "review=@reviewer", "--verify", "true"]);
    let ended = world.autopilot(&[]).code(0);
    assert!(ended.stderr.contains("verify step 'review' did not pass: a.txt has to say 2"), "{}", ended.stderr);
    let all = checks(&world, "t");
    let states: Vec<&Value> = all.as_array().unwrap().iter().map(|check| &check["state"]).collect();
    assert_eq!(states, ["passed"; 4], "{all}");
    assert_eq!((&all[1]["name"], &all[1]["command"], &all[3]["of"]), (&json!("review"), &json!("@reviewer"), &json!("merge")));
    assert_eq!((&all[1]["used"]["program"], &all[1]["exit"]), (&json!("shell"), &json!(0)), "{all}");
    assert_eq!(world.env.ok(&["output", "t", "--step", "review"]), "looking\n  = reports complete");
    assert_eq!(world.env.ok(&["output", "t", "--step", "merge/1", "-n", "1"]), "  = reports complete");
    let refused = world.env.axiom(&["output", "t", "--step", "revew"]).fails_with(Code::InvalidInput);
    assert!(refused.stderr.contains("review"), "{}", refused.stderr);
    assert_eq!(world.env.read("a.txt"), "2\n");
    // A mistyped persona would let nothing pass.
    let refused = world.env.axiom(&["task", "add", "x", "--verify", "@revewer"]).fails_with(Code::InvalidInput);
    assert!(
        refused.stderr.contains("'revewer', which is not configured") && refused.stderr.contains("reviewer"),
        "{}",
        refused.stderr
    );
    world.all_is_well();
}

#[test]
fn what_a_persona_changes_is_not_passed_not_merged_and_not_lost() {
    let world = reviewed_by(
        "case $(cat a.txt) in writes) echo mine > extra.txt;; stages) echo more >> a.txt; git add a.txt;; commits) git commit -q --allow-empty -m x;; esac; \
         echo done > ignored.log; git axiom signal complete",
    );
    world.env.git(&["config", "axiom.recovery.maxRetries", "1"]);
    for task in ["writes", "stages", "commits"] {
        let script = format!("echo {task} > a.txt; echo '*.log' > .gitignore");
        world.task(task, &script, &["--verify", "review=@reviewer"]);
    }
    world.task("looks", "echo 1 > b.txt; echo looks > a.txt; echo '*.log' > .gitignore", &["--verify", "review=@reviewer"]);
    world.autopilot(&[]).code(1);
    for (task, what) in [("writes", "extra.txt"), ("stages", "a.txt"), ("commits", "a commit")] {
        let gate = world.wait_for_gate(&format!("human-review-{task}"));
        let why = format!("verify step 'review' changed the workspace, which only the agent of the task may do: {what}");
        assert!(gate["reason"].as_str().unwrap().contains(&why), "{gate}");
        assert_eq!(checks(&world, task)[0]["state"], "failed");
    }
    let workspace = world.show("writes")["workspace"].as_str().unwrap().to_owned();
    let workspace = world.env.repo().join(workspace);
    assert_eq!(std::fs::read_to_string(workspace.join("extra.txt")).unwrap(), "mine\n", "it is left where it is");
    assert_eq!(world.env.git(&["show", "refs/axiom/live/writes:extra.txt"]), "mine");
    assert_eq!(world.env.git(&["ls-tree", "--name-only", "axiom/writes", "extra.txt"]), "", "and is in no commit");
    // Ignored files are its own affair.
    assert_eq!((world.status_of("looks").as_str(), world.env.read("b.txt").as_str()), ("done", "1\n"));
    world.all_is_well();
}

#[test]
fn a_persona_ends_with_its_session_and_within_its_limit_and_looks_again() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let waits = format!("if [ ! -e '{beside}/go' ]; then touch '{beside}/looks'; sleep 1000 & sleep 1000; fi; echo ok");
    world.env.git(&["config", "axiom.personas.reviewer.agent", "shell"]);
    world.env.git(&["config", "axiom.personas.reviewer.prompt", &waits]);
    world.task("t", "echo 1 > a.txt", &["--verify", "@reviewer"]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("looks");
    live.kill();
    world.no_process_is_left();
    // Its time limit ends it too, and says nothing for the work.
    world.env.git(&["config", "axiom.recovery.maxRetries", "1"]);
    world.env.git(&["config", "axiom.verify.timeLimit", "1"]);
    world.autopilot(&[]).code(1);
    let gate = world.wait_for_gate("human-review-t");
    assert!(gate["reason"].as_str().unwrap().contains("came to no verdict: it ran over its time limit"), "{gate}");
    world.no_process_is_left();
    world.signal_file("go");
    world.env.ok(&["gate", "approve", "human-review-t"]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.show("t")["verification"][0]["state"], "passed");
    world.all_is_well();
}

#[test]
fn what_a_persona_uses_counts_and_a_service_that_refuses_says_nothing_of_the_work() {
    let rules = r#"
[agents.mine.stream]
format = "jsonLines"
cost = "run"
rules = [
    { is = "text", when = { "/type" = "text" }, text = "/text" },
    { is = "usage", when = { "/type" = "usage" }, input = "/in", output = "/out", cost = "/cost" },
    { is = "final", when = { "/type" = "end" }, success = { "/good" = true } },
]
[personas.reviewer]
prompt = "You are strict."
"#;
    let world = World::new();
    let beside = world.env.root().display().to_string();
    // It works where the prompt says so, and looks otherwise: its first look comes to no verdict, its second is a tag.
    let script = format!(
        "#!/bin/sh\nprompt=$(cat)\nuse() {{ echo \"{{\\\"type\\\":\\\"usage\\\",\\\"in\\\":$1,\\\"out\\\":$2,\\\"cost\\\":$3}}\"; }}\n\
         case $prompt in\n*'# Check the work on task t'*) printf '%s' \"$prompt\" > '{beside}/looked'; use 100 10 0.25\n\
         if [ -e '{beside}/again' ]; then tag=$(printf '%s' \"$prompt\" | grep -o '<axiom [a-z0-9]*>COMPLETE</axiom>')\n\
         printf '%s\\n' \"{{\\\"type\\\":\\\"text\\\",\\\"text\\\":\\\"Good.\\\\n$tag\\\"}}\"; else touch '{beside}/again'; fi\n\
         echo '{{\"type\":\"end\",\"good\":true}}';;\n\
         *) echo 1 >> a.txt; use 10 1 0.5; git axiom signal complete;;\nesac\n"
    );
    world.program_of_ones_own(&script, rules);
    world.task("goal", "Everything is better.", &["--kind", "goal"]);
    world.task("t", "Write a.txt.", &["--parent", "goal", "--verify", "@reviewer", "--max-cost", "9"]);
    let ended = world.autopilot(&[]).code(0);
    assert!(ended.stderr.contains("came to no verdict"), "{}", ended.stderr);
    let told = std::fs::read_to_string(world.beside("looked")).unwrap();
    for words in ["You are strict.", "Write a.txt.", "Everything is better.", "- a.txt", "git diff", "signal blocked REASON"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let shown = world.show("t");
    assert_eq!((&shown["iterations"], &shown["tokensUsed"], &shown["costUsd"]), (&json!(2), &json!(242), &json!(1.5)), "{shown}");
    let used = &shown["verification"][0]["used"];
    assert_eq!(*used, json!({"program": "mine", "tokens": 110, "costUsd": 0.25}), "{shown}");
    let stats = world.env.json(&["stats", "--by", "persona"]);
    let of = |name: &str| stats["sums"].as_array().unwrap().iter().find(|line| line["name"] == name).cloned().unwrap_or_default();
    assert_eq!((&of("reviewer")["costUsd"], &of("reviewer")["iterations"]), (&json!(0.5), &json!(0)), "{stats}");
    world.all_is_well();
}

/// Its result is lost, and it was paid: by a stop, and by a kill of its session with all that it had started.
#[test]
fn what_a_persona_used_counts_where_its_look_was_cut_off() {
    let rules = r#"
[agents.mine.stream]
format = "jsonLines"
cost = "run"
rules = [{ is = "usage", when = { "/type" = "usage" }, input = "/in", output = "/out", cost = "/cost" }]
[personas.reviewer]
prompt = "You are strict."
"#;
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let script = format!(
        "#!/bin/sh\nprompt=$(cat)\nuse() {{ echo \"{{\\\"type\\\":\\\"usage\\\",\\\"in\\\":$1,\\\"out\\\":$2,\\\"cost\\\":$3}}\"; }}\n\
         case $prompt in\n*'# Check the work on task t'*) use 100 10 0.25; sleep 0.3; touch '{beside}/looks'\n\
         if [ ! -e '{beside}/go' ]; then sleep 1000; fi; git axiom signal complete;;\n\
         *) [ -e a.txt ] || use 10 1 0.5; echo 1 > a.txt; git axiom signal complete;;\nesac\n"
    );
    world.program_of_ones_own(&script, rules);
    world.task("t", "Write a.txt.", &["--verify", "@reviewer"]);
    let tokens = || world.show("t")["tokensUsed"].clone();
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("looks");
    assert_eq!(tokens(), json!(11), "nothing of a look is counted before its end");
    world.env.ok(&["stop", "--all"]);
    wait_until("the look is counted", || tokens() == json!(121));
    std::fs::remove_file(world.beside("looks")).unwrap();
    live.kill();
    world.all_die();
    let mut live = world.start_autopilot(&["--retry"]);
    world.wait_for_file("looks");
    live.kill();
    world.all_die();
    world.signal_file("go");
    // 'recover' counts what was cut off, and has the persona look again.
    world.env.ok(&["recover", "--yes"]);
    assert_eq!(tokens(), json!(341), "each is counted once: {}", world.env.ok(&["log", "--all"]));
    world.autopilot(&["--retry"]).code(0);
    assert_eq!(tokens(), json!(341));
    let stats = world.env.json(&["stats", "--by", "persona"]);
    let of = |name: &str| stats["sums"].as_array().unwrap().iter().find(|line| line["name"] == name).cloned().unwrap_or_default();
    assert_eq!((&of("reviewer")["tokens"], &of("reviewer")["costUsd"]), (&json!(330), &json!(0.75)), "{stats}");
    world.all_is_well();
}

/// Its program is one of the session's: its time counts in the session and towards the task's limit, while it looks and once it has ended.
#[test]
fn the_time_of_a_persona_counts_while_it_looks_and_afterwards() {
    let world = World::new();
    let script = format!("{}; git axiom signal complete", world.until_go());
    world.env.git(&["config", "axiom.personas.reviewer.agent", "shell"]);
    world.env.git(&["config", "axiom.personas.reviewer.prompt", &script]);
    let slow = "echo a command of ours is no agent; sleep 0.7";
    world.task("t", "echo 1 > a.txt", &["--verify", slow, "--verify", "@reviewer", "--max-time", "60s"]);
    let live = world.start_autopilot(&["--max-time", "60s"]);
    let status = || world.env.json(&["status"]);
    wait_until("it looks", || status()["doing"].to_string().contains("@reviewer"));
    let (used, limit) = (
        || status()["session"]["timeUsedMs"].as_u64().unwrap(),
        || status()["agents"][0]["limits"][0]["used"].as_u64().unwrap_or_default(),
    );
    let before = used();
    assert!(before < 700, "the time of a command is not that of agents: {before}");
    wait_until("its time goes on", || used() >= before + 1000 && limit() >= 1);
    let said = world.env.ok(&["task", "show", "t"]);
    assert!(said.contains("s of 1min") && !said.contains("budget:         0s"), "{said}");
    let then = used();
    world.signal_file("go");
    live.wait().code(0);
    assert!(used() >= then, "{then}");
    let stats = world.env.json(&["stats", "--by", "persona"]);
    assert!(stats["total"]["duration"].as_u64().unwrap() >= 1, "{stats}");
    world.all_is_well();
}

/// Nobody saw the end of its look: it was there until its last sign of life at least, and that is said of each sum.
#[test]
fn the_time_of_a_look_that_a_crash_cut_off_counts_as_the_least() {
    let world = World::new();
    let script = format!("{}; git axiom signal complete", world.until_go());
    world.env.git(&["config", "axiom.personas.reviewer.agent", "shell"]);
    world.env.git(&["config", "axiom.personas.reviewer.prompt", &script]);
    world.task("t", "echo 1 > a.txt", &["--verify", "@reviewer", "--max-time", "60s"]);
    let mut live = world.start_autopilot(&[]);
    let status = || world.env.json(&["status"]);
    wait_until("it has looked for a while", || status()["session"]["timeUsedMs"].as_u64().unwrap() >= 2500);
    live.kill();
    world.no_process_is_left();
    let crashed = status();
    let session = &crashed["session"];
    assert!(session["timeUsedMs"].as_u64().unwrap() >= 1000 && session["timeUsedIsLeast"] == true, "{session}");
    let said = world.env.ok(&["task", "show", "t"]);
    assert!(said.contains("at least") && said.contains("s of 1min"), "{said}");
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    let stats = world.env.json(&["stats", "--by", "persona"]);
    let looks = stats["sums"].as_array().unwrap().iter().find(|line| line["name"] == "reviewer").unwrap();
    assert!(looks["timeUnknown"] == 1 && looks["duration"].as_u64().unwrap() >= 1, "{stats}");
    world.all_is_well();
}

/// A session has the configuration of its begin: what was configured since is known to the next one, and that is said.
#[test]
fn a_persona_that_was_configured_while_a_session_runs_is_known_to_the_next_one() {
    let world = World::new();
    world.env.git(&["config", "axiom.recovery.maxRetries", "1"]);
    world.task("first", &world.until_go(), &[]);
    let live = world.start_autopilot(&[]);
    wait_until("it works", || world.agents().iter().any(|agent| agent["state"] == "running"));
    world.env.git(&["config", "axiom.personas.reviewer.agent", "shell"]);
    world.env.git(&["config", "axiom.personas.reviewer.prompt", "git axiom signal complete"]);
    world.task("t", "echo 1 > a.txt", &["--verify", "@reviewer"]);
    let gate = world.wait_for_gate("human-review-t");
    let why = "the persona 'reviewer' was configured after this session began: 'git axiom quit', and the next one knows it";
    assert!(gate["reason"].as_str().unwrap().contains(why), "{gate}");
    world.signal_file("go");
    live.wait();
    world.env.ok(&["gate", "approve", "human-review-t"]);
    world.autopilot(&[]).code(0);
    world.all_is_well();
}
