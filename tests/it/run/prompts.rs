//! What agents are told: a script in the place of a program saves its prompts.

use git_axiom::base::error::Code;

use crate::session_support::{World, kill, wait_until};

/// A world in which the preset `claude` is a script that saves its prompts as `prompt.1`, `prompt.2`, … and then does what is given for
/// that number.
pub(super) fn world_of(cases: &str) -> World {
    let world = World::new();
    let (place, beside) = (world.beside("program"), world.env.root().display().to_string());
    let script = format!(
        "#!/bin/sh\nn=$(($(ls '{beside}' | grep -c '^prompt') + 1))\ncat > '{beside}/prompt.'$n\n\
         case $n in\n{cases}\n*) git axiom signal complete;;\nesac\n"
    );
    std::fs::write(&place, script).unwrap();
    std::fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.env.git(&["config", "axiom.agents.default", "claude"]);
    world.env.git(&["config", "axiom.agents.claude.command", &place.display().to_string()]);
    world
}

fn prompt(world: &World, number: u32) -> String {
    std::fs::read_to_string(world.beside(&format!("prompt.{number}"))).unwrap()
}

#[track_caller]
pub(super) fn has(world: &World, number: u32, parts: &[&str]) {
    let text = prompt(world, number);
    for part in parts {
        assert!(text.contains(part), "{part}\n--- prompt {number}\n{text}");
    }
}

#[track_caller]
fn lacks(world: &World, number: u32, parts: &[&str]) {
    let text = prompt(world, number);
    for part in parts {
        assert!(!text.contains(part), "{part}\n--- prompt {number}\n{text}");
    }
}

#[test]
fn each_iteration_is_told_what_the_one_before_it_came_to() {
    let world = world_of(
        r#"1) echo half > half.txt; echo secret > .env; git axiom signal progress 40; git axiom signal subtask parse --done
           echo '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Bash","input":{"command":"./deploy"}}]}}'
           exit 3;;
        2) git axiom signal complete;;
        3) echo good > good.txt; git axiom signal waiting 'Which one?';;"#,
    );
    world.env.ok(&["task", "add", "Fast", "--id", "goal", "--kind", "goal", "--body", "Be {{task.id}} fast."]);
    world.env.ok(&["task", "add", "Sprint", "--id", "sprint", "--kind", "group", "--parent", "goal"]);
    let verify = "test -f good.txt || { echo no good; false; }";
    world.env.ok(&["task", "add", "T", "--id", "t", "--parent", "sprint", "--body", "Do {{token}}.", "--verify", verify]);
    world.autopilot(&[]).code(1);
    world.env.ok(&["gate", "answer", "t", "The second."]);
    world.autopilot(&[]).code(0);
    has(
        &world,
        1,
        &["# Task t: T\n\nDo {{token}}.\n", "goal: Fast\n\nBe {{task.id}} fast.\n", "sprint: Sprint\n", "- `test -f good"],
    );
    lacks(&world, 1, &["The last iteration", "What is there", "Uncommitted", "Verification failed", "Answers"]);
    has(
        &world,
        2,
        &[
            "Iteration 1 did not complete the task: it exited with status 3\n",
            "repeat one:\n\n- Bash: ./deploy\n",
            " WIP: T (40%) #t @agent-001 (committed for you: what was left uncommitted then)\n",
            "- .env (left uncommitted: looks like a secret)\n",
            "- 40% done\n- parts done: parse\n",
            "This is iteration 2 of",
        ],
    );
    lacks(&world, 2, &["half.txt (", "Verification failed"]);
    has(
        &world,
        3,
        &["Iteration 2 ended as complete, and then the verification failed.", "## Verification failed\n\n", "no good"],
    );
    lacks(&world, 3, &["./deploy"]);
    has(&world, 4, &["Iteration 3 asked a human: Which one?", "You asked: Which one?\n\nThe answer: The second.\n"]);
    lacks(&world, 4, &["Verification failed"]);
    world.all_is_well();
}

#[test]
fn what_was_refused_and_what_humans_did_meanwhile_is_told() {
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/streams/claude-denied.jsonl");
    let waits = "touch \"$HOME/begun\"; while [ ! -f \"$HOME/go\" ]; do sleep 0.02; done";
    let world = world_of(&format!("1) cat '{recording}';;\n2) {waits};;"));
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "First text."]);
    world.autopilot(&[]).code(1);
    world.env.ok(&["gate", "approve", "t"]);
    let live = world.start_autopilot(&[]);
    wait_until("the second has begun", || world.env.root().join("home/begun").exists());
    has(
        &world,
        2,
        &[
            "refused it a tool",
            "A human wants it tried again.",
            "or ask a human:\n\n- Bash git push origin main: This command requires approval",
        ],
    );
    world.env.ok(&["task", "edit", "t", "--body", "Second text."]);
    world.env.ok(&["stop", "--all"]);
    live.wait();
    let workspace = world.env.repo().join(".worktrees/agent-001-t");
    std::fs::write(workspace.join("mine.txt"), "mine\n").unwrap();
    world.env.ok(&["gate", "approve", "t"]);
    world.autopilot(&[]).code(0);
    has(
        &world,
        3,
        &[
            "Second text.",
            "agent worked on it: text.",
            "Iteration 2 was stopped",
            "- mine.txt (changed since the last iteration)",
        ],
    );
    lacks(&world, 3, &["requires approval"]);
    world.all_is_well();
}

#[test]
fn a_template_of_ones_own_makes_the_prompt_and_a_wrong_one_is_named() {
    let world = world_of("");
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Text {{goal}}."]);
    world.env.git(&["config", "axiom.agents.promptTemplate", "{{task.name}}"]);
    let said = world.env.axiom(&["run", "--until-idle"]).fails_with(Code::ConfigInvalid);
    assert!(said.stderr.contains("task.name") && said.stderr.contains("task.title"), "{}", said.stderr);
    world.env.git(&["config", "axiom.agents.promptTemplate", "{{task.id}} {{task.body}}\n{{#lastEnd}}never{{/lastEnd}}"]);
    world.autopilot(&[]).code(0);
    assert_eq!(prompt(&world, 1), "t Text {{goal}}.\n");
    world.all_is_well();
}

#[test]
fn the_prompt_after_a_crash_and_after_a_stop_says_what_is_known_of_the_attempt() {
    let call = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Bash","input":{"command":"./deploy"}}]}}"#;
    let world = world_of(&format!(
        "1) echo '{call}'; echo half > half.txt; git axiom signal progress 40; sleep 1000;;\n\
         2) cp \"$AXIOM_RECOVERY_CONTEXT\" \"$HOME/context.json\"; touch \"$HOME/two\"; sleep 1000;;\n\
         3) touch \"$HOME/three\"; sleep 1000;;\n\
         4) echo \"${{AXIOM_RECOVERY_CONTEXT-none}}\" > \"$HOME/four\"; git axiom signal complete;;"
    ));
    let home = world.env.root().join("home");
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    let live = world.start_autopilot(&[]);
    wait_until("it has told where it is", || {
        world.agents().iter().any(|agent| agent["state"] == "running" && agent["progress"] == 40)
            && world.env.ok(&["output", "t"]).contains("deploy")
    });
    for (pid, _) in world.processes().iter().filter(|(_, words)| words.contains(" keeper ")) {
        kill(*pid);
    }
    wait_until("the second has begun", || home.join("two").exists());
    has(
        &world,
        2,
        &[
            "## Recovery Context\n\nThis Task was previously attempted but crashed.\n\n**Previous attempts:** 1\n",
            "- Files modified: half.txt\n",
            "- Committed of what was left: ",
            "- Crashed during iteration 1\n- Where it was: Bash had begun: ./deploy; whether it had its effect has to be found out before",
            "\n- What was decided then: continue_task: Bash had begun: ./deploy; ",
            "\n- The last lines of its output:\n",
        ],
    );
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let context = read(&std::fs::read_to_string(home.join("context.json")).unwrap());
    assert_eq!(context["instruction"], "Previous attempt crashed. Review log.", "{context}");
    assert_eq!((&context["previousAttempts"], &context["workspaceHasChanges"]), (&1.into(), &false.into()), "{context}");
    let stop = || {
        wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
        world.env.ok(&["stop", "--all"]);
    };
    stop();
    live.wait();
    world.env.ok(&["gate", "approve", "t"]);
    let live = world.start_autopilot(&[]);
    wait_until("the third has begun", || home.join("three").exists());
    has(&world, 3, &["attempted but was stopped.\n\n**Previous attempts:** 2\n", "- Stopped during iteration 2\n"]);
    lacks(&world, 3, &["The last lines"]);
    let shown = &world.env.json(&["task", "show", "t"])["recoveryContext"];
    assert_eq!(shown["instruction"], "Previous attempt was stopped. Go on where it was.", "{shown}");
    stop();
    live.wait();
    world.env.git(&["config", "axiom.recovery.injectAuditLog", "false"]);
    world.env.ok(&["gate", "approve", "t"]);
    world.autopilot(&[]).code(0);
    lacks(&world, 4, &["Recovery Context"]);
    assert_eq!(std::fs::read_to_string(home.join("four")).unwrap(), "none\n");
    world.all_is_well();
}

/// After `pause --force` the next prompt says where the program was, as after a crash.
#[test]
fn the_prompt_after_a_forced_pause_says_where_the_program_was() {
    let call = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Bash","input":{"command":"./deploy"}}]}}"#;
    let world = world_of(&format!("1) echo '{call}'; echo half > half.txt; touch \"$HOME/begun\"; sleep 1000;;"));
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    let live = world.start_autopilot(&[]);
    wait_until("it is heard", || world.env.ok(&["events"]).contains("tool Bash"));
    world.env.ok(&["pause", "--force", "--wait"]);
    world.env.ok(&["resume"]);
    live.wait();
    has(
        &world,
        2,
        &[
            "attempted but was stopped.",
            "- Stopped during iteration 1\n- Where it was: Bash had begun: ./deploy; whether it had its effect",
        ],
    );
    assert_eq!(world.find_task("t")["retryCount"], 0);
    world.all_is_well();
}

#[test]
fn who_goes_on_after_a_merge_that_did_not_pass_is_told_its_last_lines() {
    let world = world_of("1) echo 1 > bad.txt; git axiom signal complete;;\n2) rm bad.txt; git axiom signal complete;;");
    world.env.git(&["config", "axiom.merge.verify", "! test -e bad.txt || { echo no good; exit 3; }"]);
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    world.autopilot(&[]).code(1);
    world.env.ok(&["gate", "reject", "human-review-t", "--reason", "mend it"]);
    world.autopilot(&[]).code(1);
    world.env.ok(&["task", "unblock", "t"]);
    world.autopilot(&[]).code(0);
    has(
        &world,
        2,
        &["The result of its merge did not pass: merge.verify", "exited with status 3. Its last lines:\n\n```\nno good\n```"],
    );
}
