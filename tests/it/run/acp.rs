//! Agents that speak the Agent Client Protocol: a script in their place, which says line by line what a real one says.

use serde_json::Value;

use crate::session_support::{World, wait_until};

/// The agent: it opens its session, saves what it is told, and does at each prompt what is given; `ask ID INPUT` waits for a permission and
/// sets `$answer`, `update JSON` tells something, `ends REASON` ends the turn.
const AGENT: &str = r#"#!/bin/sh
say() { printf '%s\n' "$1"; }
heard() { IFS= read -r line || exit 0; printf '%s\n' "$line" >> 'BESIDE/heard'; }
update() { say "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\",\"update\":$1}}"; }
ask() {
    say "{\"jsonrpc\":\"2.0\",\"id\":\"$1\",\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s-1\",\"options\":[{\"optionId\":\"A\",\"kind\":\"allow_always\"},{\"optionId\":\"yes\",\"kind\":\"allow_once\"},{\"optionId\":\"no\",\"kind\":\"reject_once\"}],\"toolCall\":{\"toolCallId\":\"$1\",\"title\":\"a title\",\"kind\":\"execute\",\"rawInput\":$2}}}"
    heard
    case "$line" in *'"yes"'*) answer=yes;; *'"no"'*) answer=no;; *) answer=cancelled;; esac
    echo "$1 $answer" >> 'BESIDE/answers'
}
ends() { say "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"stopReason\":\"$1\",\"usage\":{\"inputTokens\":100,\"outputTokens\":20,\"totalTokens\":120}}}"; }
say 'a line that is no JSON'
heard
say '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}},"authMethods":[{"id":"l","name":"Log in","description":"run mine login"}]}}'
heard
case "$line" in *session/new*) opened='{"sessionId":"s-1"}';; *) opened='{}';; esac
OPENS
say "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":$opened}"
heard
PROMPTED
while heard; do :; done
"#;

/// A world with this agent; `agents` are lines of that section of the configuration.
fn world_of(opens: &str, prompted: &str, agents: &str) -> World {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let script = AGENT.replace("OPENS", opens).replace("PROMPTED", prompted).replace("BESIDE", &beside);
    let place = world.beside("program");
    std::fs::write(&place, script).unwrap();
    std::fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let command = place.display();
    let config = format!("[agents]\ndefault = 'mine'\n{agents}\n[agents.mine]\ncommand = ['{command}']\nprotocol = 'acp'\n");
    let folder = world.env.root().join("home/.config/git-axiom");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), config).unwrap();
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    world
}

/// The gate that is open and undecided.
fn open_gate(world: &World) -> Value {
    let mut found = None;
    wait_until("a gate is open", || {
        found = world.gates().into_iter().find(|gate| gate["decision"].is_null());
        found.is_some()
    });
    found.unwrap()
}

/// What the agent was told, by method.
fn methods(world: &World) -> Vec<String> {
    let lines = world.lines("heard").into_iter().map(|line| serde_json::from_str::<Value>(&line).unwrap());
    lines.filter_map(|line| line["method"].as_str().map(str::to_owned)).collect()
}

#[test]
fn a_turn_that_ends_with_a_change_completes_its_task() {
    let works = r#"update '{"sessionUpdate":"plan","entries":[{"content":"write it","status":"in_progress","priority":"high"}]}'
update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I wri"}}'
update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"te"}}'
update '{"sessionUpdate":"tool_call","toolCallId":"c","kind":"edit","title":"Write","status":"in_progress","rawInput":{"file_path":"new.txt","content":"1"}}'
echo 1 > new.txt
say '{"jsonrpc":"2.0","id":7,"method":"fs/write_text_file","params":{}}'; heard
update '{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}'
update '{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":0.5,"currency":"USD"}}'
update '{"sessionUpdate":"of the future"}'
ends end_turn"#;
    let world = world_of("", works, "");
    world.autopilot(&["--max-iterations", "3"]).code(0);
    assert_eq!(world.env.read("new.txt"), "1\n");
    let task = world.show("t");
    assert_eq!((&task["iterations"], &task["tokensUsed"]), (&1.into(), &120.into()), "{task}");
    assert_eq!(task["costUsd"], 0.5, "{task}");
    assert_eq!(methods(&world)[..3], ["initialize", "session/new", "session/prompt"]);
    let heard = world.lines("heard").join("\n");
    assert!(heard.contains("Do it.") && heard.contains("-32601"), "{heard}");
    let events = world.env.ok(&["events"]);
    assert!(events.contains("tool edit started: new.txt") && events.contains("write it"), "{events}");
    world.all_is_well();
}

#[test]
fn a_permission_is_a_gate_and_the_answer_goes_to_the_agent_once_only() {
    let works = r#"ask one '{"command":"rm -rf old && echo \u001b[2Jgone"}'
[ "$answer" = yes ] && echo 1 > allowed.txt
ask two '{"command":"git axiom signal progress 50"}'
ask three '{"file_path":"three.txt","content":"x"}'
ask four '{"file_path":"/etc/four.txt","content":"x"}'
ask five '{"command":"make x"}'
ask six '{"command":"make x"}'
git axiom signal complete; ends end_turn"#;
    let world = world_of("", works, "");
    let live = world.start_autopilot(&[]);
    let first = open_gate(&world);
    assert_eq!(first["kind"], "permission", "{first}");
    assert!(first["reason"].as_str().unwrap().contains("may run: rm -rf old"), "{first}");
    let shown = world.env.ok(&["gate", "show", first["id"].as_str().unwrap()]);
    assert!(shown.contains("a checkpoint is made before it") && !shown.contains('\u{1b}'), "{shown}");
    let refused =
        world.env.run(world.env.axiom_command(&world.env.repo(), ["gate", "answer", first["id"].as_str().unwrap(), "yes"]), None);
    assert!(refused.stderr.contains("'always'"), "{refused}");
    world.env.ok(&["gate", "approve", first["id"].as_str().unwrap()]);
    let second = open_gate(&world);
    let checkpoints = world.env.ok(&["checkpoint", "list"]);
    assert!(checkpoints.contains("before-shell"), "{checkpoints}");
    assert!(second["reason"].as_str().unwrap().contains("outside the workspace"), "{second}");
    world.env.ok(&["gate", "reject", second["id"].as_str().unwrap()]);
    let third = open_gate(&world);
    let details = third["details"].to_string();
    assert!(details.contains("allow command = make x"), "{details}");
    world.env.ok(&["gate", "answer", third["id"].as_str().unwrap(), "always"]);
    live.wait().code(0);
    // In the order of the alphabet.
    let answers = ["five yes", "four no", "one yes", "six yes", "three yes", "two yes"];
    assert_eq!(world.lines("answers"), answers);
    assert!(!world.lines("heard").join("\n").contains("\"A\""), "never an option of the agent's for always");
    assert!(world.gates().is_empty());
    let stats = world.env.json(&["stats"]);
    assert_eq!((&stats["total"]["permissionsAllowed"], &stats["total"]["permissionsRefused"]), (&2.into(), &1.into()), "{stats}");
    let events = world.env.ok(&["events"]);
    assert!(events.contains("asks whether it may") && events.contains("question 4: rejected"), "{events}");
    world.all_is_well();
}

#[test]
fn what_nobody_answers_is_rejected_in_time_and_the_agent_goes_on() {
    let works = "ask one '{\"command\":\"make x\"}'\necho 1 > new.txt; ends end_turn";
    let world = world_of("", works, "permissionTimeout = 1");
    world.autopilot(&[]).code(0);
    assert_eq!(world.lines("answers"), ["one no"]);
    assert!(world.env.ok(&["events"]).contains("nobody answered"));
    assert!(world.gates().is_empty());
    world.all_is_well();
}

#[test]
fn a_stop_cancels_the_turn_and_what_waits_and_the_session_is_gone_on_with() {
    let works = r#"case "$(cat 'BESIDE/heard')" in
*session/resume*) echo 1 > new.txt; git axiom signal complete; ends end_turn;;
*) update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}'
   ask one '{"command":"make x"}'; heard; ends cancelled;;
esac"#;
    let world = world_of("", works, "");
    let live = world.start_autopilot(&[]);
    open_gate(&world);
    world.env.ok(&["stop", "--all", "--retry"]);
    live.wait().code(0);
    assert_eq!(world.env.read("new.txt"), "1\n");
    let methods = methods(&world);
    assert!(methods.contains(&"session/cancel".to_owned()) && methods.contains(&"session/resume".to_owned()), "{methods:?}");
    assert!(world.gates().is_empty());
    world.no_process_is_left();
    world.all_is_well();
}

#[test]
fn an_agent_that_wants_its_user_to_sign_in_waits_at_a_gate_in_its_own_words() {
    let opens = r#"say '{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Authentication required"}}'; exit 0"#;
    let world = world_of(opens, "", "");
    world.autopilot(&[]).code(1);
    let gate = open_gate(&world);
    assert!(gate["reason"].as_str().unwrap().contains("Log in: run mine login"), "{gate}");
}

#[test]
fn a_refusal_is_an_iteration_without_an_end_and_the_next_one_goes_on() {
    let works =
        r#"if [ -e 'BESIDE/again' ]; then git axiom signal complete; ends end_turn; else touch 'BESIDE/again'; ends refusal; fi"#;
    let world = world_of("", works, "");
    world.autopilot(&["--max-iterations", "3"]).code(0);
    assert!(world.env.ok(&["events"]).contains("refused to go on"));
    assert_eq!(world.show("t")["iterations"], 2);
}

/// A text that makes a line longer than is held.
const BIG: &str = "big=$(head -c 9000000 /dev/zero | tr '\\0' x)\n";

#[test]
fn a_permission_that_is_asked_for_in_too_long_a_line_is_refused_and_the_agent_goes_on() {
    let asks = r#"ask one "{\"file_path\":\"big.txt\",\"content\":\"$big\"}"
echo 1 > new.txt; git axiom signal complete; ends end_turn"#;
    let world = world_of("", &format!("{BIG}{asks}"), "");
    world.autopilot(&["--max-iterations", "3"]).code(0);
    assert_eq!(world.lines("answers"), ["one no"]);
    assert_eq!((world.env.read("new.txt").as_str(), &world.show("t")["iterations"]), ("1\n", &1.into()));
    let events = world.env.ok(&["events", "--json"]);
    assert!(events.contains("in a line that is too long"), "{events}");
    world.all_is_well();
}

#[test]
fn an_agent_that_asks_and_does_not_read_is_ended() {
    let asks = r#"n=0
while [ $((n += 1)) -le 10000 ]; do
    say "{\"jsonrpc\":\"2.0\",\"id\":$n,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s-1\",\"options\":[{\"optionId\":\"no\",\"kind\":\"reject_once\"}],\"toolCall\":{\"toolCallId\":\"c\",\"rawInput\":{\"command\":\"ls\"}}}}"
done
sleep 600"#;
    let world = world_of("", asks, "");
    world.autopilot(&["--max-iterations", "1"]);
    let events = world.env.ok(&["events"]);
    assert!(events.contains("does not read what it is answered"), "{events}");
    world.no_process_is_left();
}

#[test]
fn a_checkpoint_is_made_before_a_file_of_the_workspace_is_removed_unasked() {
    let works = r#"ask one '{"changes":{"old.txt":{"type":"delete","content":"x"}}}'
echo 1 > new.txt; git axiom signal complete; ends end_turn"#;
    let world = world_of("", works, "");
    world.autopilot(&[]).code(0);
    assert_eq!(world.lines("answers"), ["one yes"]);
    let checkpoints = world.env.ok(&["checkpoint", "list"]);
    assert!(checkpoints.contains("before-shell"), "{checkpoints}");
    assert!(world.gates().is_empty());
    world.all_is_well();
}

#[test]
fn a_last_line_without_an_end_is_the_end_of_the_turn() {
    let works = r#"echo 1 > new.txt
printf '%s' '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","usage":{"inputTokens":100,"outputTokens":20,"totalTokens":120}}}'
exit 0"#;
    let world = world_of("", works, "");
    world.autopilot(&["--max-iterations", "3"]).code(0);
    let task = world.show("t");
    assert_eq!((&task["iterations"], &task["tokensUsed"]), (&1.into(), &120.into()), "{task}");
    world.all_is_well();
}

/// As Codex does: who is refused something ends its turn.
#[test]
fn an_agent_whose_turn_ends_by_a_rejection_is_told_of_it_in_its_next_one() {
    let works = r#"case "$line" in
*'These tool calls were refused'*) echo 1 > new.txt; git axiom signal complete; ends end_turn;;
*) echo 0 > old.txt; ask one '{"command":"make x"}'; ends cancelled;;
esac"#;
    let world = world_of("", works, "permissionTimeout = 1");
    world.autopilot(&["--max-iterations", "3"]).code(0);
    let task = world.show("t");
    assert_eq!((world.lines("answers"), &task["iterations"]), (vec!["one no".to_owned()], &2.into()), "{task}");
    assert!(world.lines("heard").join("").contains("run: make x (rejected, nobody answered)"));
    world.all_is_well();
}

#[test]
fn what_a_rule_forbids_is_asked_nobody_and_logged_and_the_agent_is_told() {
    let works = r#"case "$line" in
*'These tool calls were refused'*) echo 1 > new.txt; git axiom signal complete; ends end_turn;;
*) echo 0 > old.txt; ask one '{"command":"make x"}'; ends cancelled;;
esac"#;
    let world = world_of("", works, "permissionRules = [\"reject command make *\"]");
    world.autopilot(&["--max-iterations", "3"]).code(0);
    assert_eq!(world.lines("answers"), ["one no"]);
    assert!(world.lines("heard").join("").contains("run: make x (a rule says so: reject command make *)"));
    let (events, stats) = (world.env.ok(&["events"]), world.env.json(&["stats"]));
    assert!(events.contains("may not run: make x (a rule says so: reject command make *)"), "{events}");
    assert_eq!((&stats["total"]["permissionsRefused"], world.gates().len()), (&1.into(), 0), "{stats}");
    world.all_is_well();
}

/// As adapters do whose program was killed.
#[test]
fn a_turn_that_is_broken_off_is_gone_on_with_in_its_session() {
    let error = r#"say '{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"Internal error","data":{"details":"the process exited unexpectedly"}}}'"#;
    broken_off_by(error);
    broken_off_by("exit 1");
}

fn broken_off_by(end: &str) {
    let works = r#"case "$(cat 'BESIDE/heard')" in
*session/resume*) echo 1 > new.txt; git axiom signal complete; ends end_turn;;
*) update '{"sessionUpdate":"tool_call","toolCallId":"c","kind":"execute","status":"in_progress","rawInput":{"command":"make x"}}'
   END;;
esac"#;
    let world = world_of("", &works.replace("END", end), "");
    world.autopilot(&["--max-iterations", "3"]).code(0);
    assert_eq!(world.env.read("new.txt"), "1\n");
    let heard = world.lines("heard").join("\n");
    assert!(heard.contains("session/resume") && heard.contains("# Go on with task"), "{heard}");
    world.all_is_well();
}
