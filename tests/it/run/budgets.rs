//! Budgets of tasks and of the session: an agent program that says what it uses is stopped where nothing is left, and a human decides.

use git_axiom::base::error::Code;
use serde_json::json;

use crate::session_support::{World, wait_until};

/// What a program of one's own says: the cost and the tokens of a run so far.
const RULES: &str = r#"
[agents.mine.stream]
format = "jsonLines"
cost = "run"
rules = [
    { is = "session", when = { "/type" = "session" }, id = "/id" },
    { is = "toolStarted", when = { "/type" = "tool" }, name = "/name", id = "/id" },
    { is = "toolCompleted", when = { "/type" = "toolEnd" }, id = "/id" },
    { is = "usage", when = { "/type" = ["usage", "end"] }, input = "/in", output = "/out", cost = "/cost" },
    { is = "final", when = { "/type" = "end" }, success = { "/type" = "end" } },
]
"#;

/// A world whose program is a script that does what is given for the number of its run, and completes the task in later ones. It says
/// with `use` what it uses, and with `ends` that as its last word: nobody stops it for its budget then.
fn world_of(cases: &str, more: &str) -> World {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let script = format!(
        "#!/bin/sh\nn=$(($(ls '{beside}' | grep -c '^args') + 1))\necho \"$*\" > '{beside}/args.'$n; cat > /dev/null\n\
         say() {{ echo \"{{\\\"type\\\":\\\"$1\\\",\\\"in\\\":$2,\\\"out\\\":$3,\\\"cost\\\":$4}}\"; }}\n\
         use() {{ say usage \"$@\"; }}; ends() {{ say end \"$@\"; }}\n\
         case $n in\n{cases}\n*) use 1 1 0.01; git axiom signal complete;;\nesac\n"
    );
    world.program_of_ones_own(&script, &format!("{RULES}{more}"));
    world
}

#[test]
fn a_task_waits_at_its_boundary_and_goes_on_once_or_with_more_or_not() {
    let world = world_of("1|2|3|4) ends 10 5 0.6;;", "");
    world.env.ok(&["task", "add", "T", "--id", "t", "--max-cost", "1"]);
    world.autopilot(&[]).code(1);
    let gates = world.env.json(&["gate", "list", "--json"]);
    assert_eq!(gates["gates"][0]["id"], "budget-t");
    let limit = json!({"of": "cost", "limit": 1.0, "used": 1.2, "over": 0.2, "known": true});
    assert_eq!(gates["gates"][0]["details"]["limits"], json!([limit]));
    let shown = world.env.json(&["task", "show", "t", "--json"]);
    assert_eq!((&shown["used"], &shown["limits"]), (&json!([limit]), &json!({"maxCost": 1.0})));
    assert_eq!((&shown["status"], &shown["retryCount"], &shown["iterations"]), (&json!("pending"), &json!(0), &json!(2)));
    assert!(world.env.ok(&["task", "show", "t"]).contains("$1.20 of $1.00, $0.20 over"));
    assert!(world.env.ok(&["status"]).contains("t has used up its budget: $1.20 of $1.00, $0.20 over"));

    assert_eq!(world.env.json(&["gate", "approve", "--all"])["gateIds"], json!([]), "nobody spends more unawares");
    world.env.ok(&["gate", "approve", "budget-t"]);
    world.autopilot(&[]).code(1);
    assert_eq!(world.program_args().len(), 4, "as much again, counted from the approval");
    let since = "$1.20 of $1.00 since more was allowed, $0.20 over";
    assert!(world.env.ok(&["status"]).contains(&format!("t has used up its budget: {since}")));
    assert!(world.env.ok(&["task", "show", "t"]).contains(since));

    world.env.axiom(&["gate", "answer", "budget-t", "much"]).fails_with(Code::InvalidInput);
    world.env.ok(&["gate", "reject", "budget-t", "--reason", "too dear"]);
    world.autopilot(&[]).code(1);
    assert_eq!(world.env.json(&["task", "show", "t", "--json"])["reason"], "too dear");
    world.env.ok(&["task", "unblock", "t"]);
    world.autopilot(&[]).code(1);
    assert_eq!(world.program_args().len(), 4, "it still has nothing left");
    world.env.ok(&["gate", "answer", "budget-t", "$9"]);
    assert_eq!(world.env.json(&["task", "show", "t", "--json"])["limits"], json!({"maxCost": 9.0}));
    world.autopilot(&[]).code(0);
    assert_eq!(world.program_args().len(), 5);
    assert!(world.env.ok(&["task", "audit", "t"]).contains("limits $1.00 → $9.00"));
    let total = json!({"iterations": 5, "tokens": 62, "tokensUnknown": 0, "costUsd": 2.41, "costUnknown": 0});
    for by in ["task", "agent", "persona", "program", "day"] {
        let stats = world.env.json(&["stats", "--by", by, "--json"]);
        for (key, value) in total.as_object().unwrap() {
            assert_eq!((&stats["total"][key], &stats["sums"][0][key]), (value, value), "{by} {key}");
        }
        assert_eq!((&stats["sums"][0]["merged"], stats["sums"].as_array().unwrap().len()), (&json!(1), 1), "{by}");
        assert!(world.env.ok(&["stats", "--by", by]).lines().all(|line| line.chars().count() <= 80));
    }
    assert_eq!(world.env.json(&["stats", "--by", "program", "--json"])["sums"][0]["name"], "mine");
    assert!(world.env.ok(&["stats", "--csv"]).contains("t,T,5,62,0,2.41,0,"));
    world.all_is_well();
}

#[test]
fn a_program_that_says_what_it_uses_is_stopped_while_it_runs_and_goes_on_in_its_session() {
    let runs = r#"1) echo '{"type":"session","id":"s-1"}'; echo half > half.txt; use 10 5 0.5
        echo '{"type":"tool","name":"Bash","id":"1"}'; use 20 5 1.5; sleep 0.3
        touch tool-ended; echo '{"type":"toolEnd","id":"1"}'; while :; do sleep 0.05; done;;"#;
    let world = world_of(runs, "[budget]\nmaxCost = 1\n");
    world.env.ok(&["task", "add", "T", "--id", "t"]);
    world.autopilot(&[]).code(1);
    let gate = &world.env.json(&["gate", "list", "--json"])["gates"][0];
    assert_eq!((&gate["id"], &gate["details"]["limits"][0]["over"]), (&json!("budget-t"), &json!(0.5)));
    let shown = world.env.json(&["task", "show", "t", "--json"]);
    assert_eq!((&shown["status"], &shown["retryCount"], &shown["costUsd"]), (&json!("pending"), &json!(0), &json!(1.5)));
    assert_eq!(world.env.git(&["show", "axiom/t:half.txt"]).trim(), "half");
    world.env.git(&["show", "axiom/t:tool-ended"]);
    world.env.ok(&["task", "edit", "t", "--max-cost", "10"]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.program_args(), ["anew", "on s-1"]);
    assert!(world.env.ok(&["gate", "list"]).contains("Nothing waits"));
    world.all_is_well();
}

#[test]
fn a_program_that_has_said_its_last_word_ends_by_itself_though_nothing_is_left() {
    let runs = r#"1) echo '{"type":"end","in":20,"out":5,"cost":1.5}'; sleep 0.5; echo last > last.txt;;"#;
    let world = world_of(runs, "[budget]\nmaxCost = 1\n");
    world.env.ok(&["task", "add", "T", "--id", "t"]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("last.txt"), "last\n");
    assert_eq!(world.program_args().len(), 1);
    world.all_is_well();
}

#[test]
fn what_claude_tells_of_each_answer_counts_once_and_while_it_runs() {
    let world = World::new();
    let (place, beside) = (world.beside("program"), world.env.root().display().to_string());
    let answer = r#"{\"type\":\"assistant\",\"message\":{\"id\":\"$1\",\"content\":[],\"usage\":{\"input_tokens\":1000,\"output_tokens\":1}}}"#;
    let result = r#"{"type":"result","subtype":"success","is_error":false,"usage":{"input_tokens":1000,"output_tokens":50}}"#;
    let script = format!(
        "#!/bin/sh\ncat > /dev/null; say() {{ echo \"{answer}\"; }}\n\
         if [ -f '{beside}/second' ]; then say m3; say m3; echo '{result}'; git axiom signal complete; exit 0; fi\n\
         touch '{beside}/second'; say m1; say m1; sleep 0.3; say m2; while :; do sleep 0.05; done\n"
    );
    std::fs::write(&place, script).unwrap();
    std::fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.env.git(&["config", "axiom.agents.default", "claude"]);
    world.env.git(&["config", "axiom.agents.claude.command", &place.display().to_string()]);
    world.env.ok(&["task", "add", "T", "--id", "t", "--max-tokens", "2000"]);
    world.autopilot(&[]).code(1);
    let limit = &world.env.json(&["gate", "list", "--json"])["gates"][0]["details"]["limits"][0];
    assert_eq!((&limit["of"], &limit["used"], &limit["known"]), (&json!("tokens"), &json!(2002), &json!(false)));
    world.env.ok(&["task", "edit", "t", "--max-tokens", "100000"]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.json(&["stats", "--json"])["total"]["tokens"], 2002 + 1050, "the sum at the end is not added");
    world.all_is_well();
}

#[test]
fn a_killed_run_counts_as_the_most_that_is_known() {
    let world = world_of("1) use 10 5 0.6;;\n2) kill -9 $$;;", "");
    world.env.ok(&["task", "add", "T", "--id", "t", "--max-cost", "1"]);
    world.autopilot(&[]).code(1);
    let used = &world.env.json(&["task", "show", "t", "--json"])["used"][0];
    assert_eq!((&used["used"], &used["known"]), (&json!(1.2), &json!(false)));
    assert!(world.env.ok(&["task", "show", "t"]).contains("at least $1.20 of $1.00"));
    world.all_is_well();
}

#[test]
fn a_session_claims_nothing_more_when_its_budget_is_used_up() {
    let world = world_of("1) use 100 20 0.1; git axiom signal complete;;\n*) git axiom signal complete; use 1 1 0.01;;", "");
    for id in ["a", "b"] {
        world.env.ok(&["task", "add", id, "--id", id]);
    }
    let ended = world.autopilot(&["--agents", "1", "--max-tokens", "100"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(
        ended.stdout.contains("budget--session: the session has used up its budget: 120 of 100 tokens, 20 over"),
        "{}",
        ended.stdout
    );
    assert_eq!(world.program_args().len(), 1);
    let status = world.env.json(&["status", "--json"]);
    let of = &status["session"];
    assert_eq!((&of["limits"], &of["tokensUsed"]), (&json!({"maxTokens": 100}), &json!(120)));
    assert!(status["gates"][0]["taskId"].is_null());
    // The budget of the next session is a new one.
    world.autopilot(&[]).code(0);
    assert!(world.env.ok(&["gate", "list"]).contains("Nothing waits"));
    assert!(world.env.ok(&["log", "--all"]).contains("a has nothing to merge"), "it is no edit of a human's");
    // Nothing is left that could wait at a gate.
    world.env.ok(&["task", "add", "c", "--id", "c"]);
    world.autopilot(&["--max-tokens", "1"]).code(0);
    assert!(world.env.ok(&["gate", "list"]).contains("Nothing waits"));
    world.all_is_well();
}

/// The keys of the configuration do what the options do, and an option is before its key.
#[test]
fn budget_session_max_cost_tokens_and_time_limit_a_session() {
    let uses = "1) use 100 20 0.1; git axiom signal complete;;\n*) git axiom signal complete; use 1 1 0.01;;";
    for (key, value, kept) in [
        ("sessionMaxCost", "0.05", json!({"maxCost": 0.05})),
        ("sessionMaxTokens", "100", json!({"maxTokens": 100})),
        ("sessionMaxTime", "1s", json!({"maxTime": 1})),
    ] {
        let first = if key == "sessionMaxTime" { "1) sleep 1.5; git axiom signal complete;;" } else { uses };
        let world = world_of(first, "");
        world.env.git(&["config", &format!("axiom.budget.{key}"), value]);
        for id in ["a", "b"] {
            world.env.ok(&["task", "add", id, "--id", id]);
        }
        let ended = world.autopilot(&["--agents", "1"]);
        assert_eq!(ended.code, Some(1), "{key}: {}", ended.stderr);
        assert!(ended.stdout.contains("budget--session: the session has used up its budget: "), "{key}: {}", ended.stdout);
        assert_eq!(world.program_args().len(), 1, "{key}");
        assert_eq!(world.env.json(&["status", "--json"])["session"]["limits"], kept, "{key}");
        world.autopilot(&["--agents", "1", "--max-cost", "9", "--max-tokens", "9M", "--max-time", "1h"]).code(0);
        world.all_is_well();
    }
}

#[test]
fn a_session_goes_on_when_a_human_allows_as_much_again_and_ends_when_not() {
    // It has said that it is complete before it is stopped.
    let world = world_of("1|2|3) git axiom signal complete; use 100 20 0.1;;", "");
    for id in ["a", "b", "c"] {
        world.env.ok(&["task", "add", id, "--id", id]);
    }
    let live = world.start(&["--mode", "autopilot", "--agents", "1", "--max-cost", "0.05"]);
    let is_open = || world.env.ok(&["gate", "list"]).contains("budget--session");
    wait_until("the gate is open", is_open);
    world.wait_until_merged("a");
    assert_eq!(world.program_args().len(), 1);
    assert!(world.env.ok(&["gate", "list"]).contains("end the session: git axiom gate reject"));
    let decided = world.env.ok(&["gate", "approve", "budget--session"]);
    assert!(decided.contains("has used up its budget") && !decided.contains("git axiom gate"), "{decided}");
    world.wait_until_merged("b");
    wait_until("the gate is open again", is_open);
    world.env.ok(&["gate", "reject", "budget--session"]);
    live.wait().code(0);
    assert_eq!((world.program_args().len(), world.status_of("c")), (2, "pending".to_owned()));
    world.all_is_well();
}

#[test]
fn time_is_limited_while_a_program_runs() {
    let world = world_of("1) echo half > half.txt; while :; do sleep 0.05; done;;", "");
    world.env.ok(&["task", "add", "T", "--id", "t", "--max-time", "1s"]);
    world.autopilot(&[]).code(1);
    let used = &world.env.json(&["task", "show", "t", "--json"])["used"][0];
    assert_eq!((&used["of"], &used["limit"]), (&json!("time"), &json!(1)));
    assert_eq!(world.env.git(&["show", "axiom/t:half.txt"]).trim(), "half");
    assert!(world.env.ok(&["gate", "list"]).contains("budget-t"));
}

#[test]
fn a_limit_that_nobody_could_keep_is_refused() {
    let world = World::new();
    world.env.axiom(&["task", "add", "T", "--max-cost", "5"]).fails_with(Code::UsageUnknown);
    world.env.axiom(&["task", "add", "T", "--max-tokens", "5k"]).fails_with(Code::UsageUnknown);
    world.env.axiom(&["run", "--max-cost", "5", "--", "true"]).fails_with(Code::UsageUnknown);
    world.env.axiom(&["task", "add", "T", "--max-time", "soon"]).fails_with(Code::InvalidInput);
    world.env.ok(&["task", "add", "T", "--max-time", "1h"]);
    // Codex tells tokens and no cost: with a price, the cost is known.
    let folder = world.env.root().join("home/.config/git-axiom");
    std::fs::create_dir_all(&folder).unwrap();
    let config = "[agents]\ndefault = 'codex'\n";
    std::fs::write(folder.join("config.toml"), config).unwrap();
    let refused = world.env.axiom(&["task", "add", "T", "--max-cost", "5"]).fails_with(Code::UsageUnknown);
    assert!(refused.stderr.contains("agents.codex.price"), "{}", refused.stderr);
    let price = "[agents.codex]\nprice = { input = 1.25, cachedInput = 0.125, output = 10 }\n";
    std::fs::write(folder.join("config.toml"), format!("{config}{price}")).unwrap();
    world.env.ok(&["task", "add", "T", "--max-cost", "5"]);
}

/// What is shown while a program runs is what is counted for the limit.
#[test]
fn what_an_iteration_has_used_that_runs_is_shown() {
    let world = world_of("1) use 10 5 0.6; touch ../../../begun; while [ ! -e ../../../go ]; do sleep 0.02; done;;", "");
    world.env.ok(&["task", "add", "T", "--id", "t", "--max-cost", "1", "--max-time", "1h"]);
    let live = world.start_autopilot(&["--max-tokens", "1000"]);
    world.wait_for_file("begun");
    let agent = || world.agents()[0].clone();
    wait_until("its time counts", || agent()["limits"][1]["used"].as_u64() >= Some(1));
    wait_until("what it said counts", || agent()["limits"][0]["used"] == json!(0.6));
    let told = world.env.ok(&["status"]);
    assert!(told.contains("$0.60 of $1.00; ") && told.contains("$0.60, 15 tokens"), "{told}");
    let shown = world.env.json(&["task", "show", "t"]);
    assert_eq!(shown["used"][0]["used"], json!(0.6), "{shown}");
    assert!(shown["used"][1]["used"].as_u64() >= Some(1), "{shown}");
    world.env.write("../go", "");
    live.wait();
    let shown = world.env.json(&["task", "show", "t"]);
    assert_eq!(shown["used"][0]["used"], json!(0.61), "nothing is counted twice: {shown}");
}

#[test]
fn what_a_crashed_session_used_counts_in_the_one_that_goes_on_with_it() {
    let waits = "touch ../../../begun; while [ ! -e ../../../go ]; do sleep 0.02; done";
    let world = world_of(
        &format!("1) git axiom signal complete; use 100 20 0.1;;\n2) {waits}; git axiom signal complete; use 100 20 0.1;;"),
        "",
    );
    for id in ["a", "b", "c"] {
        world.env.ok(&["task", "add", id, "--id", id]);
    }
    let mut live = world.start(&["--mode", "autopilot", "--agents", "1", "--max-tokens", "200"]);
    world.wait_for_file("begun");
    live.kill();
    world.env.write("../go", "");
    let ended = world.autopilot(&[]).code(1);
    assert!(ended.stdout.contains("budget--session: the session has used up its budget: 240 of 200 tokens"), "{}", ended.stdout);
    assert_eq!((world.program_args().len(), world.status_of("c")), (2, "pending".to_owned()));
    world.all_is_well();
}
