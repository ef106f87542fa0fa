//! `git axiom plan …`.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a failing test may panic, and tests prepare files

use serde_json::Value;

use crate::common::TestEnv;

/// The file with the plan.
fn written(env: &TestEnv) -> Value {
    serde_json::from_slice(&std::fs::read(env.axiom_dir().join("state/planning-state.json")).unwrap()).unwrap()
}

fn code(env: &TestEnv, args: &[&str]) -> String {
    let run = env.axiom(&[&["--json"], args].concat());
    assert_ne!(run.code, Some(0), "{run}");
    run.json()["error"]["code"].as_str().unwrap().to_owned()
}

#[test]
#[allow(clippy::too_many_lines)] // one story, told by its outputs
fn a_plan_by_hand_becomes_tasks_and_one_undo_takes_them_back() {
    let env = TestEnv::new().with_fixed_clock();
    insta::assert_snapshot!(env.axiom(&["plan", "show"]), @r#"
    --- stderr
    error[NO_PLAN]: there is no plan
    hint: git axiom plan start GOAL    begins one
    --- exit 1
    "#);
    insta::assert_snapshot!(env.axiom(&["plan", "start", "Sign in with a key"]), @r#"
    A plan is open.
    Next: git axiom plan add TITLE    adds a task
    --- exit 0
    "#);
    insta::assert_snapshot!(env.axiom(&["plan", "start", "Another"]), @r#"
    --- stderr
    error[PLAN_OPEN]: a plan is open already: 'Sign in with a key', so 'Another' has to wait
    hint: git axiom plan show    shows it; finish or abandon it first
    --- exit 1
    "#);
    env.ok(&["plan", "add", "Server", "--kind", "group", "--id", "server"]);
    env.ok(&["plan", "add", "Store keys", "--id", "keys", "--parent", "server", "--body", "echo keys > keys.txt"]);
    insta::assert_snapshot!(env.axiom(&["plan", "add", "Check a key", "--after", "keys,page"]), @r#"
    task-001
    --- exit 0
    "#);
    assert_eq!(code(&env, &["plan", "add", "Twice", "--id", "KEYS"]), "DUPLICATE_ID");
    assert_eq!(code(&env, &["task", "add", "Elsewhere", "--id", "Keys"]), "DUPLICATE_ID");
    assert_eq!(env.ok(&["task", "add", "Elsewhere"]).trim(), "task-002", "the plan has promised task-001");
    assert_eq!(env.json(&["task", "list"])["tasks"].as_array().unwrap().len(), 1, "nothing of the plan is made");
    insta::assert_snapshot!(env.axiom(&["plan", "validate"]), @r#"
    problem: 'task-001' refers to 'page', which does not exist
    --- stderr
    error[PLAN_INVALID]: the tasks of the plan cannot be made as they are: 'task-001' refers to 'page', which does not exist
    hint: git axiom plan add TITLE --id ID    makes what is only outlined
    hint: git axiom plan abandon    then start anew with other tasks
    --- exit 1
    "#);
    env.ok(&["plan", "add", "A page", "--id", "page"]);
    assert_eq!(code(&env, &["plan", "finish", "--yes"]), "PLAN_NOT_APPROVED");
    env.ok(&["plan", "propose", "A server,\nthen a page."]);
    insta::assert_snapshot!(env.axiom(&["gate", "list"]), @r#"
    GATE                 SINCE     WHAT WAITS                                                                TO CONTINUE
    planning-proposal-1  12:00:13  version 1 of the plan 'Sign in with a key', 4 tasks: git axiom plan show  git axiom gate approve planning-proposal-1
    --- exit 0
    "#);
    env.ok(&["gate", "reject", "planning-proposal-1", "--reason", "Without a page?"]);
    assert_eq!(written(&env)["proposals"][0]["feedback"], "Without a page?");
    env.ok(&["plan", "propose", "With a page."]);
    env.ok(&["gate", "approve", "planning-proposal-2"]);
    let file = written(&env);
    assert_eq!(file["partialCases"]["created"], serde_json::json!(["server", "keys", "task-001", "page"]));
    assert_eq!(file["proposals"][1]["approved"], true);
    assert_eq!(file["directiveCase"], serde_json::json!({"id": "goal-001", "jtbd": "Sign in with a key"}));
    insta::assert_snapshot!(env.axiom(&["plan", "show"]), @r#"
    Sign in with a key
    phase validate, by hand

    Version 2 (approved):
      With a page.

    4 tasks:
    goal-001  Sign in with a key
    ├── server  Server
    │   └── keys  Store keys
    ├── task-001  Check a key  after keys, page
    └── page  A page

    Next: git axiom plan finish    makes the tasks
    --- exit 0
    "#);
    insta::assert_snapshot!(env.axiom(&["plan", "finish"]), @r#"
    --- stderr
    error[NEEDS_CONFIRMATION]: this needs a confirmation, and there is no terminal to ask at
    hint: try it with --dry-run, then run the command with --yes
    --- exit 3
    "#);
    assert_eq!(env.axiom(&["plan", "finish", "--dry-run"]).code, Some(0));
    let finished = env.json(&["plan", "finish", "--yes"]);
    assert_eq!(finished["taskIds"].as_array().unwrap().len(), 5);
    insta::assert_snapshot!(env.axiom(&["task", "list"]), @r#"
    ID        STATUS   PROGRESS  AFTER       TITLE
    goal-001  pending    0%      -           Sign in with a key [goal]
    keys      pending    0%      -           Store keys
    page      pending    0%      -           A page
    server    pending    0%      -           Server [group]
    task-001  waiting    0%      keys, page  Check a key
    task-002  pending    0%      -           Elsewhere
    --- exit 0
    "#);
    insta::assert_snapshot!(env.axiom(&["plan", "show"]), @r#"
    Sign in with a key
    finished, by hand

    Version 2 (approved):
      With a page.

    Became 5 tasks: goal-001, server, keys, task-001, page
    --- exit 0
    "#);
    let shown = env.json(&["task", "show", "keys"]);
    assert_eq!((&shown["parent"], &shown["body"]), (&"server".into(), &"echo keys > keys.txt".into()));
    assert_eq!(env.json(&["log"])["operations"][0]["what"], "plan finished: 5 tasks added");
    env.ok(&["undo", "--yes"]);
    let left = env.json(&["task", "list"]);
    let open: Vec<&Value> = left["tasks"].as_array().unwrap().iter().filter(|task| task["status"] != "archived").collect();
    assert_eq!(open.len(), 1, "{left}");
    env.ok(&["redo", "--yes"]);
    assert_eq!(env.json(&["task", "show", "keys"])["status"], "pending");
}

#[test]
fn an_agent_plans_and_a_human_decides() {
    let env = TestEnv::new();
    env.ok(&["plan", "start", "A goal"]);
    env.ok(&["plan", "add", "One", "--id", "one"]);
    env.ok(&["plan", "approve"]);
    let agent = |args: &[&str]| {
        let mut command = env.axiom_command(&env.repo(), [&["--json", "plan"], args].concat());
        command.env("AXIOM_TOKEN", "x").env("AXIOM_AGENT", "ed-001");
        env.run(command, None)
    };
    for args in [
        &["start", "x"][..],
        &["approve"],
        &["finish", "--yes"],
        &["abandon", "--yes"],
        &["recover"],
        &["answer", "x"],
        &["propose", "x"],
        &["revise", "x"],
    ] {
        let refused = agent(args);
        assert_eq!((refused.code, &refused.json()["error"]["code"]), (Some(3), &"NOT_FOR_AGENTS".into()), "{args:?}");
    }
    assert_eq!(agent(&["show"]).code, Some(0));
    assert_eq!(agent(&["add-case", "Two", "--id", "two"]).code, Some(0), "as it was called before");
    assert_eq!(code(&env, &["plan", "finish", "--yes"]), "PLAN_NOT_APPROVED");
    env.ok(&["plan", "approve"]);
    env.ok(&["plan", "finish", "--yes"]);
}

#[test]
fn a_rollback_leaves_the_plan_alone_and_its_file_is_written_again_where_it_is_damaged() {
    let env = TestEnv::new();
    env.ok(&["plan", "start", "A goal"]);
    env.ok(&["plan", "add", "One", "--id", "one"]);
    env.ok(&["plan", "propose", "so"]);
    env.ok(&["checkpoint", "create", "amid"]);
    env.ok(&["plan", "add", "Two", "--id", "two"]);
    let before = written(&env);
    let file = env.axiom_dir().join("state/planning-state.json");
    for damage in [&b""[..], b"{\"status\": \"plan", b"\0\0\0\0", b"{\"status\": \"done\"}\n"] {
        std::fs::write(&file, damage).unwrap();
        assert_eq!(env.json(&["plan", "show"])["partialCases"]["created"], serde_json::json!(["one", "two"]));
        env.ok(&["plan", "propose", "so"]);
        assert_eq!(written(&env)["partialCases"], before["partialCases"]);
    }
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    env.ok(&["plan", "approve"]);
    assert_eq!(written(&env)["phase"], "validate");
    let kept = std::fs::read_dir(env.axiom_dir().join("state/damaged")).unwrap().count();
    assert_eq!(kept, 4, "three that are no JSON, and the folder");
    env.ok(&["plan", "revise", "less"]);
    let now = written(&env);
    env.ok(&["rollback", "checkpoint", "amid", "--yes"]);
    assert_eq!(written(&env), now, "no rollback loses what was planned");
    assert_eq!(env.json(&["gate", "list"])["gates"], serde_json::json!([]), "the gate of then is not back");
    env.ok(&["plan", "abandon", "--yes", "--reason", "another way"]);
    assert_eq!(written(&env)["archived"][0]["created"], serde_json::json!(["one", "two"]));
    assert_eq!(code(&env, &["plan", "finish", "--yes"]), "NO_PLAN");
    env.ok(&["plan", "start", "Anew"]);
}
