//! `git axiom plan` with a planner: a script that prints.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a failing test may panic, and tests prepare files

use serde_json::{Value, json};

use crate::common::{Run, TestEnv};
use crate::session_support::{Live, processes_of, wait_until};
use crate::terminal::Terminal;

/// Asks once, and proposes more where the human wants more. It leaves a file where it runs.
const SCRIPT: &str = r#"
touch left-by-the-planner
echo "I am in the phase $AXIOM_PLAN_PHASE of '$AXIOM_PLAN_GOAL'."
case $AXIOM_PLAN_PHASE in
understand) echo '{"question": "Which key?"}' ;;
analyze) echo '{"analysis": "It is small."}' ;;
propose)
    echo '{"proposal": "Two steps."}'
    echo '{"id": "store", "title": "Store keys"}'
    echo '{"id": "check", "title": "Check a key", "after": "store"}'
    if grep -q 'a page too' "$AXIOM_PLAN_STATE"; then echo '{"id": "page", "title": "A page"}'; fi ;;
decompose)
    echo '{"id": "store", "title": "Store keys", "body": "echo keys > keys.txt", "verify": ["test -e keys.txt"]}'
    echo '{"id": "check", "title": "Check a key", "body": "true"}'
    echo '{"title": "A page", "body": "true"}' ;;
esac
"#;

/// Four tasks, at once and without a question.
const PLAIN: &str = r#"for n in 1 2 3 4; do echo "{\"id\": \"op-00$n\", \"title\": \"Step $n\", \"body\": \"true\"}"; done"#;

fn start(env: &TestEnv, script: &str) -> Run {
    std::fs::write(env.root().join("planner.sh"), script).unwrap();
    env.axiom(&["plan", "start", "Sign in", "--agent", "shell", "--script", "../planner.sh"])
}

fn with(script: &str) -> TestEnv {
    let env = TestEnv::new();
    env.git(&["commit", "-q", "--allow-empty", "-m", "start"]);
    start(&env, script).success();
    env
}

fn written(env: &TestEnv) -> Value {
    serde_json::from_slice(&std::fs::read(env.axiom_dir().join("state/planning-state.json")).unwrap()).unwrap()
}

/// A verb that is killed at a fault point.
fn killed(env: &TestEnv, args: &[&str], point: &str) {
    let mut command = env.axiom_command(&env.repo(), args);
    command.env("AXIOM_TEST_FAULT", point);
    let run = env.run(command, None);
    assert_eq!(run.code, None, "{point} was not reached by {args:?}\n{run}");
    assert!(written(env)["running"].is_string(), "{point}");
}

fn code(run: &Run) -> Value {
    run.json()["error"]["code"].clone()
}

#[test]
fn a_planner_asks_proposes_again_and_makes_what_a_human_approved() {
    let env = with(SCRIPT);
    assert_eq!(env.json(&["gate", "list"])["gates"][0]["id"], "planning-question-1");
    env.ok(&["gate", "answer", "planning-question-1", "An RSA key"]);
    assert_eq!(env.json(&["plan", "propose"])["next"]["command"], "git axiom plan approve");
    let first = written(&env);
    assert_eq!((&first["phase"], &first["analysis"]), (&json!("propose"), &json!("It is small.")));
    assert_eq!(first["clarifications"][0]["answer"], "An RSA key");
    assert_eq!(first["partialCases"], json!({"created": [], "pending": ["store", "check"]}));
    env.ok(&["plan", "revise", "a page too"]);
    assert_eq!(env.json(&["gate", "list"])["gates"][0]["id"], "planning-proposal-2");
    assert_eq!(code(&env.axiom(&["--json", "plan", "finish", "--yes"])), "PLAN_INVALID", "outlined only");
    let approved = env.json(&["plan", "approve", "2"]);
    assert_eq!((&approved["phase"], &approved["problems"], &approved["running"]), (&json!("validate"), &json!([]), &Value::Null));
    assert_eq!(approved["partialCases"]["created"], json!(["store", "check", "page"]));
    env.ok(&["plan", "finish", "--yes"]);
    let store = env.json(&["task", "show", "store"]);
    assert_eq!((&store["body"], &store["verify"]), (&json!("echo keys > keys.txt"), &json!(["test -e keys.txt"])));
    assert_eq!(env.json(&["task", "show", "check"])["after"], json!(["store"]));
    assert_eq!(env.git(&["status", "--porcelain"]), "", "the planner runs elsewhere");
    assert_eq!(env.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_planner_of_no_use_has_its_code_and_a_way_on() {
    let env = TestEnv::new();
    env.git(&["commit", "-q", "--allow-empty", "-m", "start"]);
    let no_agent = env.axiom(&["--json", "plan", "start", "x", "--agent", "nobody"]);
    assert_eq!(code(&no_agent), "CONFIG_INVALID");
    assert_eq!(code(&env.axiom(&["--json", "plan", "start", "x", "--agent", "shell"])), "INVALID_INPUT");
    let cycle = r#"echo '{"id": "a", "title": "A", "after": "b"}'; echo '{"id": "b", "title": "B", "after": "a"}'"#;
    let in_phase = |phase: &str, end: &str| format!("if [ $AXIOM_PLAN_PHASE = {phase} ]; then {end}; fi\n{PLAIN}");
    for (script, code) in [
        ("true".to_owned(), "PLANNER_FAILED"),
        ("head -c 10000 /dev/urandom; echo '{ [ }'".to_owned(), "PLANNER_FAILED"),
        ("yes $(printf %0999d 0) | head -c 100000000".to_owned(), "TOO_LARGE"),
        ("seq -f '{\"title\": \"%g\"}' 10000".to_owned(), "TOO_LARGE"),
        (cycle.to_owned(), "PLAN_INVALID"),
        ("echo '{\"id\": \"a\", \"title\": \"A\"}'; echo '{\"id\": \"A\", \"title\": \"B\"}'".to_owned(), "PLAN_INVALID"),
        ("echo '{\"title\": \"A\", \"after\": \"nowhere\"}'".to_owned(), "PLAN_INVALID"),
        ("exit 3".to_owned(), "PLANNER_FAILED"),
        (in_phase("analyze", "kill -9 $$"), "PLANNER_FAILED"),
        (in_phase("propose", "exit 3"), "PLANNER_FAILED"),
    ] {
        let run = start(&env, &script);
        assert!(run.stderr.contains(&format!("error[{code}]")), "{script}: {run}");
        assert!(run.stderr.contains("hint: git axiom plan ") && !run.stderr.contains("verdict"), "{script}: {run}");
        let shown = env.json(&["plan", "show"]);
        assert_eq!((&shown["running"], &shown["next"]["command"]), (&Value::Null, &json!("git axiom plan propose")), "{script}");
        env.ok(&["plan", "abandon", "--yes"]);
    }
    // What it printed before it died is kept, and it goes on.
    let dies = format!("if [ $AXIOM_PLAN_PHASE = decompose ]; then {} ; exit 3; fi\n{PLAIN}", PLAIN.replace("1 2 3 4", "1 2"));
    start(&env, &dies).success();
    let run = env.axiom(&["--json", "plan", "approve"]);
    assert_eq!(code(&run), "PLANNER_FAILED", "{run}");
    assert_eq!(written(&env)["partialCases"], json!({"created": ["op-001", "op-002"], "pending": ["op-003", "op-004"]}));
    for (id, title) in [("op-003", "Three"), ("op-004", "Four")] {
        env.ok(&["plan", "add", title, "--id", id]);
    }
    env.ok(&["plan", "finish", "--yes"]);
}

#[test]
fn a_planner_that_is_killed_at_every_step_is_resumed_and_comes_to_the_same() {
    let env = TestEnv::new();
    env.git(&["commit", "-q", "--allow-empty", "-m", "start"]);
    std::fs::write(env.root().join("planner.sh"), SCRIPT).unwrap();
    let begin = ["plan", "start", "Sign in", "--agent", "shell", "--script", "../planner.sh"];
    let resume = ["plan", "recover", "--resume"];
    killed(&env, &begin, "plan.planner-started:1");
    assert_eq!(code(&env.axiom(&["--json", "plan", "propose"])), "RECOVERY_NEEDED");
    assert_eq!(env.json(&["recover"])["wedges"][0]["reason"], "planCutOff");
    for point in ["plan.place-made:1", "plan.planner-ended:1", "plan.before-rest:1"] {
        killed(&env, &resume, point);
    }
    // UNDERSTAND: questions and answers are preserved.
    let asked = env.json(&resume);
    assert_eq!((&asked["phase"], asked["clarifications"].as_array().unwrap().len()), (&json!("understand"), 1));
    killed(&env, &["plan", "answer", "An RSA key"], "plan.understood:1");
    // ANALYZE: it is run again.
    killed(&env, &resume, "plan.planner-ended:1");
    assert_eq!(written(&env)["phase"], "analyze");
    killed(&env, &resume, "plan.analyzed:1");
    // PROPOSE: the last version.
    killed(&env, &resume, "plan.proposed:1");
    let proposed = env.json(&resume);
    assert_eq!(
        (&proposed["proposals"].as_array().unwrap().len(), &proposed["next"]["command"]),
        (&1, &json!("git axiom plan approve"))
    );
    assert_eq!(proposed["clarifications"][0]["answer"], "An RSA key");
    // DECOMPOSE: from partialCases.pending.
    killed(&env, &["plan", "approve"], "plan.before-task:2");
    assert_eq!(written(&env)["partialCases"], json!({"created": ["store"], "pending": ["check"]}));
    killed(&env, &resume, "plan.tasks-made:1");
    // VALIDATE: the loop goes on.
    killed(&env, &resume, "plan.checked:1");
    let done = env.json(&resume);
    assert_eq!((&done["phase"], &done["next"]["command"]), (&json!("validate"), &json!("git axiom plan finish")));
    let mut finish = env.axiom_command(&env.repo(), ["plan", "finish", "--yes"]);
    finish.env("AXIOM_TEST_FAULT", "store.after-append:1");
    assert_eq!(env.run(finish, None).code, None);
    assert_eq!(env.json(&["plan", "show"])["became"], json!(["goal-001", "store", "check"]), "all of it, at once");
    assert_eq!(env.json(&["recover"])["wedges"], json!([]));
}

/// Half-made or whole: what is left of the place where a planner worked is told apart from that of a verification.
#[test]
fn what_a_dead_planner_left_is_said_to_be_a_planners() {
    let env = with(SCRIPT);
    let place = env.repo().join(".worktrees/verify-goal-001");
    let answer = ["plan", "answer", "An RSA key"];
    for (args, point) in [(&answer[..], "git.after-worktree-add:1"), (&["plan", "recover", "--resume"], "plan.place-made:1")] {
        killed(&env, args, point);
        assert!(place.exists(), "{point}");
        let left = format!("'{}', where a planner worked: it is removed", place.display());
        assert!(env.json(&["recover"])["leftovers"].as_array().unwrap().contains(&json!(left)), "{point}");
        let done = env.axiom(&["recover", "--yes"]).success();
        assert!(done.stderr.contains("verify-goal-001', where a planner worked, was cleared"), "{point}: {done}");
        assert!(!place.exists() && env.git(&["worktree", "list"]).lines().count() == 1, "{point}");
        assert_eq!(env.json(&["recover"])["leftovers"], json!([]), "{point}");
    }
}

/// The verb dies, and its planner's keeper not yet: the next one ends it, and nothing of it is left.
#[test]
fn a_planner_that_outlives_its_verb_is_ended_by_the_next_one() {
    let env = TestEnv::new();
    env.git(&["commit", "-q", "--allow-empty", "-m", "start"]);
    let root = env.root().display();
    let stubborn = format!("[ -e '{root}/begun' ] || {{ touch '{root}/begun'; trap '' TERM; while :; do sleep 0.1; done; }}");
    std::fs::write(env.root().join("planner.sh"), format!("{stubborn}\n{PLAIN}")).unwrap();
    let begin = ["plan", "start", "Sign in", "--agent", "shell", "--script", "../planner.sh"];
    for round in 0..4 {
        let _ = std::fs::remove_file(env.root().join("begun"));
        let command = env.axiom_command(&env.repo(), if round == 0 { &begin[..] } else { &["plan", "recover", "--resume"] });
        let mut verb = Live::start(command, env.root(), &format!("plan-{round}"));
        wait_until("the planner has begun", || env.root().join("begun").exists());
        verb.kill();
    }
    assert_eq!(env.json(&["plan", "recover", "--resume"])["next"]["command"], "git axiom plan approve");
    wait_until("no process is left", || processes_of(&env.root().join("home")).is_empty());
    let left: Vec<_> = std::fs::read_dir(env.root().join("tmp")).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// What it becomes is no task yet: its files are no leftovers of one that is gone.
#[test]
fn repairs_leave_the_files_of_a_planner_that_runs() {
    let env = TestEnv::new();
    env.git(&["commit", "-q", "--allow-empty", "-m", "start"]);
    let root = env.root().display();
    let waits = format!("touch '{root}/begun'; while ! [ -e '{root}/go' ]; do sleep 0.02; done");
    std::fs::write(env.root().join("planner.sh"), format!("{waits}\n{PLAIN}")).unwrap();
    let begin = ["plan", "start", "Sign in", "--agent", "shell", "--script", "../planner.sh"];
    let verb = Live::start(env.axiom_command(&env.repo(), begin), env.root(), "plan");
    wait_until("the planner has begun", || env.root().join("begun").exists());
    env.ok(&["recover", "--yes"]);
    std::fs::write(env.root().join("go"), "").unwrap();
    verb.wait().code(0);
    assert_eq!(env.json(&["plan", "show"])["next"]["command"], "git axiom plan approve");
    let left: Vec<_> = std::fs::read_dir(env.root().join("tmp")).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// What the planner printed is lost too: it would count.
fn lose_what_was_printed(env: &TestEnv) {
    std::fs::remove_file(env.axiom_dir().join("checks/goal-001/plan/decompose/log.jsonl")).unwrap();
}

#[test]
fn what_a_planner_printed_before_a_crash_of_git_axiom_counts() {
    let env = with(PLAIN);
    killed(&env, &["plan", "approve"], "plan.before-task:2");
    let kept = env.json(&["plan", "recover", "--non-interactive"]);
    assert_eq!((&kept["choice"], kept["taskIds"].as_array().unwrap().len()), (&json!("keep"), 5), "{kept}");
}

#[test]
fn with_nobody_there_the_rule_decides_and_is_logged() {
    let env = with(PLAIN);
    killed(&env, &["plan", "approve"], "plan.before-task:2");
    lose_what_was_printed(&env);
    // 1 of 4: start over.
    let over = env.json(&["plan", "recover", "--non-interactive"]);
    assert_eq!((&over["choice"], &over["attempt"]), (&json!("startOver"), &json!(2)));
    assert_eq!(over["archived"][0]["created"], json!(["op-001"]));
    assert_eq!(over["archived"][0]["pending"], json!(["op-002", "op-003", "op-004"]));
    assert_eq!(over["next"]["command"], "git axiom plan approve", "it began anew");
    let log = env.ok(&["log", "--all"]);
    assert!(log.contains("started over: nobody was there to ask, and 1 of 4 tasks created (25 %)"), "{log}");
    // 2 of 4: keep and skip.
    killed(&env, &["plan", "approve"], "plan.before-task:3");
    lose_what_was_printed(&env);
    let kept = env.json(&["plan", "recover"]);
    assert_eq!((&kept["choice"], &kept["status"]), (&json!("keep"), &json!("done")));
    assert_eq!(kept["taskIds"], json!(["goal-001", "op-001", "op-002"]));
    assert_eq!(env.json(&["task", "show", "op-002"])["status"], "pending");
    assert!(env.ok(&["log"]).contains("2 of 4 tasks created (50 %)"));
    env.ok(&["undo", "--yes"]);
    assert_eq!(env.json(&["task", "show", "op-002"])["status"], "archived");
}

#[test]
fn at_a_terminal_the_three_choices_are_offered() {
    let env = with(PLAIN);
    killed(&env, &["plan", "approve"], "plan.before-task:4");
    let ask = |keys: &[&str]| {
        let mut terminal = Terminal::start(env.axiom_command(&env.repo(), ["plan", "recover"]));
        for offered in ["[R] Resume from phase (decompose", "[S] Start planning over", "[K] Keep tasks, skip"] {
            terminal.wait_for(offered);
        }
        terminal.keys(keys);
        terminal.end()
    };
    let (status, seen) = ask(&["\x1b"]);
    assert_eq!(status.code(), Some(3), "{seen}");
    let (status, seen) = ask(&["\r"]);
    assert!(status.success(), "{seen}");
    assert_eq!(written(&env)["partialCases"]["pending"], json!([]));
    env.ok(&["plan", "finish", "--yes"]);
}

/// A stand-in for a model's program: what it says is in its JSON, with tokens and what it cost.
#[test]
fn what_a_planner_used_is_in_stats_also_where_it_was_of_no_use() {
    let env = TestEnv::new();
    env.git(&["commit", "-q", "--allow-empty", "-m", "start"]);
    let says = |text: &str| json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}).to_string();
    let end = |tokens: u64, cost: f64| {
        json!({"type": "result", "subtype": "success", "is_error": false, "result": "", "total_cost_usd": cost,
            "usage": {"input_tokens": tokens, "output_tokens": 5}})
        .to_string()
    };
    let case = says(r#"{"id": "store", "title": "Store keys", "body": "true"}"#);
    let said = [says(r#"{"analysis": "small"}"#), says(r#"{"proposal": "One step."}"#), case, end(995, 0.25)].join("\n");
    std::fs::write(env.root().join("said"), &said).unwrap();
    std::fs::write(env.root().join("nothing"), end(95, 0.5)).unwrap();
    let program = |file: &str| format!(r#"cat > /dev/null; cat '{}'"#, env.root().join(file).display());
    let config = env.root().join("home/.config/git-axiom/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    let write = |file: &str| {
        let text = format!("[agents.claude]\ncommand = ['sh', '-c', \"\"\"{}\"\"\"]\n", program(file));
        std::fs::write(&config, text).unwrap();
    };
    write("nothing");
    env.axiom(&["plan", "start", "Sign in", "--agent", "claude"]).fails_with(git_axiom::base::error::Code::PlannerFailed);
    let sum = |by: &str| env.json(&["stats", "--by", by]);
    let first = sum("program");
    assert_eq!((&first["total"]["tokens"], &first["total"]["costUsd"]), (&json!(100), &json!(0.5)), "{first}");
    write("said");
    env.json(&["plan", "propose"]);
    let all = sum("program");
    let runs = (all["total"]["tokens"].as_u64().unwrap() - 100) / 1000;
    assert!(runs >= 1 && all["total"]["tokens"] == 100 + runs * 1000, "{all}");
    assert_eq!(all["sums"][0]["name"], "claude");
    for (by, name) in [("task", "goal-001"), ("agent", "planner-001"), ("persona", "planner")] {
        let lines = sum(by);
        assert_eq!((&lines["sums"][0]["name"], &lines["sums"][0]["tokens"]), (&json!(name), &all["total"]["tokens"]), "{lines}");
    }
    for by in ["task", "agent", "persona", "program", "day"] {
        assert_eq!(sum(by)["sums"][0]["iterations"], runs + 1, "each of its runs is one: {by}");
    }
    let shown = env.ok(&["stats", "--by", "agent"]);
    let line = shown.lines().find(|line| line.starts_with("planner-001")).unwrap();
    assert_eq!(line.split_whitespace().nth(1), Some((runs + 1).to_string().as_str()), "{shown}");
    assert!(env.ok(&["stats"]).contains("goal-001"));
}

#[test]
fn plan_recover_takes_the_option_that_every_verb_has() {
    let env = with(PLAIN);
    killed(&env, &["plan", "approve"], "plan.before-task:2");
    lose_what_was_printed(&env);
    let mut asked = Terminal::start(env.axiom_command(&env.repo(), ["plan", "recover"]));
    asked.wait_for("[K] Keep tasks");
    asked.keys(&["\x1b"]);
    assert_eq!(asked.end().0.code(), Some(3));
    for args in [["--non-interactive", "plan", "recover"], ["plan", "recover", "--non-interactive"]] {
        let (status, seen) = Terminal::start(env.axiom_command(&env.repo(), args)).end();
        assert!(status.success() && !seen.contains("[K] Keep"), "{args:?}: {seen}");
    }
    assert!(!env.ok(&["plan", "recover", "-h"]).contains("Decide by the rule"));
}

/// Half an answer is none: where its program did not end well, the plan stays in its phase. Tasks stand each for itself.
#[test]
fn a_planner_that_does_not_end_well_moves_no_phase_on_and_its_tasks_count() {
    let script = r#"case $AXIOM_PLAN_PHASE in
        propose) echo '{"proposal": "Two steps."}'; echo '{"id": "a", "title": "One"}'; [ -e ../well ] || kill -9 $$; echo '{"id": "b", "title": "Two"}' ;;
        decompose) echo '{"id": "a", "title": "One", "body": "true"}'; [ -e ../better ] || exit 3; echo '{"id": "b", "title": "Two", "body": "true"}' ;;
        *) echo '{"understood": true, "analysis": "small"}' ;;
    esac"#
        .replace("../", "$AXIOM_TEST_BESIDE/");
    let env = TestEnv::new();
    env.git(&["commit", "-q", "--allow-empty", "-m", "start"]);
    let script = script.replace("$AXIOM_TEST_BESIDE", &env.root().display().to_string());
    let run = start(&env, &script).fails_with(git_axiom::base::error::Code::PlannerFailed);
    assert!(run.stderr.contains("the plan stays in the phase propose"), "{run}");
    let plan = env.json(&["plan", "show"]);
    assert_eq!((&plan["phase"], plan["proposals"].as_array().map(Vec::len)), (&json!("propose"), Some(0)), "{plan}");
    let said = env.ok(&["output", "planner-001"]);
    assert!(said.contains("Two steps."), "what it printed is seen: {said}");
    std::fs::write(env.root().join("well"), "").unwrap();
    env.ok(&["plan", "propose"]);
    assert!(env.ok(&["plan", "propose"]).contains("The planner has nothing to do."));
    env.axiom(&["plan", "approve"]).fails_with(git_axiom::base::error::Code::PlannerFailed);
    assert_eq!(written(&env)["partialCases"]["pending"], json!(["b"]), "the first task is made");
    std::fs::write(env.root().join("better"), "").unwrap();
    env.ok(&["plan", "propose"]);
    env.ok(&["plan", "finish", "--yes"]);
    assert_eq!(env.json(&["task", "show", "b"])["status"], "pending");
}

/// Ended by a human: tasks that it had printed are made, and what it had used counts.
#[test]
fn a_planner_that_is_stopped_keeps_its_tasks_and_what_it_used() {
    let env = TestEnv::new();
    env.git(&["commit", "-q", "--allow-empty", "-m", "start"]);
    let says = |text: &str, tokens: u64| {
        let usage = json!({"input_tokens": tokens, "output_tokens": 0});
        let message = json!({"id": text, "content": [{"type": "text", "text": text}], "usage": usage});
        json!({"type": "assistant", "message": message}).to_string()
    };
    let end = json!({"type": "result", "subtype": "success", "is_error": false, "result": "", "usage": {"input_tokens": 10, "output_tokens": 0}});
    let outline = [
        r#"{"understood": true, "analysis": "small"}"#,
        r#"{"proposal": "Two."}"#,
        r#"{"id": "a", "title": "A"}"#,
        r#"{"id": "b", "title": "B"}"#,
    ];
    let outline: Vec<String> = outline.iter().map(|text| says(text, 0)).collect();
    std::fs::write(env.root().join("outline"), outline.join("\n") + "\n" + &end.to_string()).unwrap();
    std::fs::write(env.root().join("half"), says(r#"{"id": "a", "title": "A", "body": "true"}"#, 700)).unwrap();
    let root = env.root().display();
    let script = format!(
        "cat > /dev/null; if [ $AXIOM_PLAN_PHASE = decompose ]; then cat {root}/half; echo; touch {root}/begun; sleep 3000; fi; cat {root}/outline"
    );
    let config = env.root().join("home/.config/git-axiom/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(&config, format!("[agents.claude]\ncommand = ['sh', '-c', \"\"\"{script}\"\"\"]\n")).unwrap();
    env.ok(&["plan", "start", "Sign in", "--agent", "claude"]);
    let tokens = || env.json(&["stats"])["total"]["tokens"].as_u64().unwrap();
    let before = tokens();
    let verb = Live::start(env.axiom_command(&env.repo(), ["plan", "approve"]), env.root(), "plan");
    wait_until("it has printed a task", || env.root().join("begun").exists());
    wait_until("that is read", || env.ok(&["output", "planner-001"]).contains("body"));
    assert!(env.ok(&["kill", "planner-001"]).contains("Killed planner-001."));
    verb.wait().code(130);
    assert_eq!(written(&env)["partialCases"], json!({"created": ["a"], "pending": ["b"]}));
    assert_eq!(tokens(), before + 700);
    assert!(!env.ok(&["log", "--all"]).contains("INTERRUPTED"), "a human's end is no failure");
    // A crash of git axiom is told by `status` too.
    std::fs::remove_file(env.root().join("begun")).unwrap();
    let mut verb = Live::start(env.axiom_command(&env.repo(), ["plan", "propose"]), env.root(), "plan-again");
    wait_until("it has begun again", || env.root().join("begun").exists());
    verb.kill();
    let reasons = env.json(&["status"])["recovery"]["reasons"].to_string();
    assert!(reasons.contains("planning was cut off in the phase decompose"), "{reasons}");
}
