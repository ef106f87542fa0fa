//! Agent programs whose output says what they do: recordings of real ones, printed by a script in their place.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::session_support::{World, several_at_a_time, wait_until};

fn recording(name: &str) -> String {
    let file = if name.contains('.') { name.to_owned() } else { format!("{name}.jsonl") };
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/streams").join(file);
    path.display().to_string()
}

/// A world in which the preset of this name is a script, and a task `t`.
fn world_of(preset: &str, script: &str) -> World {
    let world = World::new();
    let place = world.beside("program");
    std::fs::write(&place, format!("#!/bin/sh\ncat > /dev/null\n{script}\n")).unwrap();
    std::fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.env.git(&["config", "axiom.agents.default", preset]);
    world.env.git(&["config", &format!("axiom.agents.{preset}.command"), &place.display().to_string()]);
    world.env.ok(&["task", "add", "t", "--id", "t", "--body", "Do it."]);
    world
}

fn run(world: &World, code: i32) {
    world.autopilot(&["--max-iterations", "5"]).code(code);
}

fn gate(world: &World) -> (String, Value) {
    let gates = world.gates();
    assert_eq!(gates.len(), 1, "{gates:?}");
    (gates[0]["reason"].as_str().unwrap().to_owned(), gates[0].clone())
}

/// Its last word was a success and it changed something: the work goes on to verify, and what it cost is known.
#[test]
fn a_successful_end_with_a_change_completes_the_task_and_tells_its_cost() {
    let table = [
        ("claude", Some(3450), Some(0.0162)),
        ("codex", Some(3450), None),
        ("gemini", Some(3450), None),
        ("opencode", Some(3450), Some(0.0)),
        ("pi", Some(3450), None),
        ("aider", None, None),
    ];
    several_at_a_time(table.to_vec(), |(preset, tokens, cost): (&str, Option<u64>, Option<f64>)| {
        let world = world_of(
            preset,
            &format!("echo 1 > new.txt; cat '{}'", recording(if preset == "aider" { "aider.txt" } else { preset })),
        );
        run(&world, 0);
        assert_eq!(world.env.read("new.txt"), "1\n", "{preset}");
        let task = world.show("t");
        assert_eq!((&task["iterations"], &task["tokensUsed"]), (&json!(1), &json!(tokens)), "{preset}: {task}");
        if preset == "aider" {
            return world.all_is_well();
        }
        if preset == "claude" || preset == "codex" || preset == "gemini" {
            assert_eq!(task["costUsd"], json!(cost), "{preset}");
        }
        let shown = world.env.ok(&["task", "show", "t"]);
        assert!(shown.lines().any(|line| line.starts_with("tokens: ") && line.ends_with(" 3,450")), "{preset}: {shown}");
        let events = world.env.ok(&["events"]);
        assert!(events.contains("session ") && events.contains(" started"), "{preset}: {events}");
        world.all_is_well();
    });
}

/// Lines that are broken, endless or hostile are in the log, and are otherwise ignored: what is said between them counts.
#[test]
fn hostile_lines_of_a_stream_change_nothing() {
    let hostile = [
        r"printf '\377\376\000\033[2J\033]0;evil\007\n'",
        r#"printf '{"type":"assistant","message":{"content":[{"type":"te\n'"#,
        r"head -c 300000 /dev/zero | tr '\000' '['; echo",
        r#"printf '{"type":"result","subtype":"success","is_error":false,"total_cost_usd":1e999}\n'"#,
        r#"printf '{"type":"result","total_cost_usd":-1,"usage":{"input_tokens":-5,"output_tokens":99999999999999999999}}\n'"#,
        r"head -c 20000000 /dev/zero | tr '\000' '{'; echo",
    ];
    let hostile = hostile.join("\n");
    let world = world_of("claude", &format!("{hostile}\necho 1 > new.txt; cat '{}'\nprintf '{{\"torn'", recording("claude")));
    run(&world, 0);
    let task = world.show("t");
    assert_eq!((&task["iterations"], &task["tokensUsed"], &task["costUsd"]), (&json!(1), &json!(3450), &json!(0.0162)), "{task}");
    let shown = world.env.ok(&["output", "t"]);
    assert!(shown.contains("a line of more than 8 MiB is left out") && shown.contains("all done"), "{}", shown.len());
    assert!(!shown.contains(['\u{1b}', '\u{7}', '\0']));
    world.all_is_well();
}

/// What ended with 0 and changed nothing has not done the task; the third time is the last.
#[test]
fn a_successful_end_without_a_change_is_another_iteration() {
    let world = world_of("claude", &format!("cat '{}'", recording("claude")));
    run(&world, 1);
    let task = world.show("t");
    assert_eq!((&task["status"], &task["iterations"]), (&json!("failed"), &json!(3)));
    let reason = task["reason"].as_str().unwrap();
    assert!(reason.contains("without a change") && reason.ends_with(": all done"), "{task}");
}

/// A refused tool, and a program that is not signed in: a human sees it after one iteration, however the program ends.
#[test]
fn what_only_a_human_can_mend_waits_at_a_gate_at_once() {
    let table = [
        ("claude", "claude-denied", 0, "toolDenied", "requires approval"),
        ("opencode", "opencode-denied", 0, "toolDenied", "rejected permission"),
        ("claude", "claude-error", 1, "signIn", "401"),
        ("codex", "codex-error", 1, "signIn", "401 Unauthorized"),
        ("gemini", "gemini-error", 145, "signIn", "[API Error: scripted error (401)]"),
        ("pi", "pi-error", 0, "signIn", "401 scripted error"),
        ("aider", "aider-error.txt", 0, "signIn", "AuthenticationError"),
        ("gemini", "gemini-sign-in.stderr", 41, "signIn", "must specify the GEMINI_API_KEY"),
        ("pi", "pi-sign-in.stderr", 1, "signIn", "No API key found"),
        ("codex", "codex-sandbox", 0, "toolDenied", "/etc/lab-denied"),
        ("codex", "codex-rejected.stderr", 0, "toolDenied", "rejected: rm"),
    ];
    several_at_a_time(table.to_vec(), |(preset, name, exit, cause, said): (&str, &str, i32, &str, &str)| {
        let to = if name.ends_with(".stderr") { " >&2" } else { "" };
        let recording = recording(name);
        let script =
            format!("[ -e \"$HOME/ready\" ] && {{ git axiom signal complete; exit; }}; cat '{recording}'{to}; exit {exit}");
        let world = world_of(preset, &script);
        run(&world, 1);
        let (reason, gate) = gate(&world);
        assert_eq!((&gate["kind"], &gate["details"]["cause"]), (&json!("human_review"), &json!(cause)), "{name}: {gate}");
        let to_do = if cause == "signIn" { format!("sign in with '{preset}'") } else { format!("agents.{preset}.command") };
        assert!(reason.contains(said) && reason.contains(&to_do), "{name}: {reason}");
        assert_eq!((world.status_of("t"), &world.show("t")["iterations"]), ("pending".to_owned(), &json!(1)), "{name}");
        // Nothing is started before a human has decided; then it is tried again.
        run(&world, 1);
        assert_eq!(world.show("t")["iterations"], 1, "{name}");
        std::fs::write(world.env.root().join("home/ready"), "").unwrap();
        world.env.ok(&["gate", "approve", "t"]);
        run(&world, 0);
        assert_eq!(world.gates().len(), 0, "{name}");
        world.all_is_well();
    });
}

#[test]
fn what_a_human_rejects_is_blocked() {
    let world = world_of("claude", &format!("cat '{}'", recording("claude-denied")));
    run(&world, 1);
    world.env.ok(&["gate", "reject", "t", "--reason", "not with me"]);
    run(&world, 1);
    assert_eq!((&world.show("t")["status"], &world.show("t")["reason"]), (&json!("blocked"), &json!("not with me")));
}

const LIMITED: &str = r#"
    echo '{"type":"system","subtype":"api_retry","attempt":1,"max_retries":1,"retry_delay_ms":700,"error_status":429,"error":"rate_limit"}'
    echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: 429 slow down"}'
"#;

/// A rate limit is waited for as long as the program was told to, and the iteration does not count.
#[test]
fn a_rate_limit_waits_and_does_not_count() {
    let world = world_of(
        "claude",
        &format!(
            "n=$(ls \"$HOME\" | grep -c try-); touch \"$HOME/try-$n\"\n[ $n -lt 6 ] && {{ {LIMITED} exit 1; }}\ngit axiom signal complete"
        ),
    );
    run(&world, 0);
    let task = world.show("t");
    assert_eq!((&task["status"], &task["iterations"]), (&json!("done"), &json!(1)), "{task}");
    let log = world.env.ok(&["log", "--all"]);
    assert!(log.contains("MODEL_BUSY") && log.contains("slow down"), "{log}");
    // The tries have the same number, and each is told apart.
    let shown = world.env.ok(&["output", "t"]);
    assert_eq!(shown.matches("\nIteration 1, claude, ").count(), 6, "{shown}");
}

/// A tag counts where the agent says it, in pieces too, and not where its prompt is echoed or another's token stands in it.
#[test]
fn tags_are_found_in_what_the_agent_says() {
    let world = world_of(
        "gemini",
        r#"
        say() { printf '{"type":"message","role":"%s","content":"%s","delta":%s}\n' "$@"; }
        [ -e "$HOME/again" ] && { say assistant "all\n<axiom $AXIOM_TOKEN>COMP" true; say assistant "LETE</axiom>" true; printf '{"type":"tool_use","tool_name":"x","tool_id":"1"}\n{"broken'; exit 3; }
        touch "$HOME/again"
        say user "<axiom $AXIOM_TOKEN>COMPLETE</axiom>" false
        say assistant "<axiom other>COMPLETE</axiom>" false
        exit 3
        "#,
    );
    run(&world, 0);
    assert_eq!(world.show("t")["iterations"], 2);
}

/// Its lines of JSON are read as words and tool calls; the original bytes, one iteration, matching lines and the last ones can be had.
#[test]
fn the_output_of_a_stream_is_shown_for_people() {
    let world = world_of("claude", &format!("echo plain >&2; sleep 0.3; echo 1 > new.txt; cat '{}'", recording("claude")));
    run(&world, 0);
    let shown = world.env.ok(&["output", "t"]);
    assert!(shown.starts_with("Iteration 1, claude, "), "{shown}");
    assert!(shown.contains("\n  plain\n") && shown.contains("\n  > ") && shown.contains("\n  = ended with success"), "{shown}");
    assert!(!shown.contains("{\"type\"") && shown.lines().skip(1).all(|line| line.starts_with("  ")), "{shown}");
    let raw = world.env.ok(&["output", "t", "--raw"]);
    let recorded = std::fs::read_to_string(recording("claude")).unwrap();
    assert_eq!(raw.trim_end().replacen("plain\n", "", 1), recorded.trim_end());
    let last = world.env.ok(&["output", "t", "-n", "2"]);
    assert!(last.lines().count() == 2 && shown.trim_end().ends_with(last.trim_end()), "{last}");
    let found = world.env.ok(&["output", "t", "--grep", "(?i)PLA.N"]);
    assert_eq!(found.lines().skip(1).collect::<Vec<_>>(), ["  plain"]);
    assert!(found.starts_with("Iteration 1"), "{found}");
    assert_eq!(world.env.ok(&["output", "t", "--iteration", "1"]).trim_end(), shown.trim_end());
    let none = world.env.axiom(&["output", "t", "--iteration", "7"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), ""), "{none}");
    assert!(none.stderr.contains("nothing of that was printed for 't'"), "{none}");
    let bad = world.env.axiom(&["output", "t", "--grep", "("]);
    bad.fails_with(git_axiom::base::error::Code::Usage);
    world.env.axiom(&["output", "t", "--raw", "--grep", "x"]).fails_with(git_axiom::base::error::Code::Usage);
    let documents = world.env.ok(&["output", "t", "--json", "-n", "1"]);
    let document: Value = serde_json::from_str(documents.trim_end()).unwrap();
    assert_eq!((documents.lines().count(), &document["program"]), (1, &json!("claude")), "{documents}");
}

/// Of a program without rules all is text, and searched line by line.
#[test]
fn plain_output_is_searched_and_its_last_lines_are_found() {
    let world = World::new();
    world.task("t", "printf 'one\\ntwo\\n\\nthree'; echo x > x", &[]);
    world.autopilot(&[]).code(0);
    let of = |args: &[&str]| world.env.ok(&[&["output", "t"], args].concat());
    assert_eq!(of(&["--grep", "^t"]), "two\nthree");
    assert_eq!(of(&["-n", "1"]), "three");
    assert_eq!(of(&["-n", "3"]), "two\n\nthree");
}

/// A program that hangs while it waits for the model is ended by a limit, which is no fault of its agent.
#[test]
fn a_limit_that_ends_a_wait_for_the_model_does_not_count() {
    let retry = |status: u16, error: &str| {
        format!(
            r#"echo '{{"type":"system","subtype":"api_retry","retry_delay_ms":700,"error_status":{status},"error":"{error}"}}'; exec sleep 2000"#
        )
    };
    let once = r#"[ -e "$HOME/tried" ] && { git axiom signal complete; exit; }; touch "$HOME/tried";"#;
    let world = world_of("claude", &format!("{once} {}", retry(429, "rate_limit")));
    world.env.git(&["config", "axiom.agents.silenceLimit", "1"]);
    run(&world, 0);
    assert_eq!(world.show("t")["iterations"], 1);
    assert!(world.env.ok(&["log", "--all"]).contains("MODEL_BUSY: rate_limit"));
    world.all_is_well();
    let world = world_of("claude", &retry(401, "authentication_failed"));
    world.env.git(&["config", "axiom.agents.silenceLimit", "1"]);
    run(&world, 1);
    assert_eq!((&gate(&world).1["details"]["cause"], &world.show("t")["iterations"]), (&json!("signIn"), &json!(1)));
}

/// Whoever waits for its model is shown as waiting, and since when.
#[test]
fn an_agent_that_waits_for_its_model_is_shown_as_waiting() {
    let world = world_of(
        "claude",
        r#"echo '{"type":"system","subtype":"api_retry","retry_delay_ms":600000,"error_status":429,"error":"rate_limit"}'; exit 1"#,
    );
    let live = world.start_autopilot(&[]);
    wait_until("it waits", || world.agents().iter().any(|agent| agent["state"] == "waiting"));
    let status = world.env.ok(&["status"]);
    assert!(status.contains("Tried again by itself:") && status.contains("MODEL_BUSY"), "{status}");
    let told = world.env.json(&["status"]);
    assert!(
        status.contains(", until ") && told["delays"][0]["until"].as_str() > told["delays"][0]["failedAt"].as_str(),
        "{told}"
    );
    assert_eq!(told["project"]["lastAction"], "t waits while an iteration is started: MODEL_BUSY");
    world.quits_well(live);
}

/// More is told than is recorded of a run: the tag at its end counts all the same.
#[test]
fn a_tag_after_a_flood_is_heard() {
    let flood =
        r#"seq 2500 | sed 's/.*/{"type":"system","subtype":"api_retry","retry_delay_ms":1,"error_status":500,"error":"try &"}/'"#;
    let says = r#"printf '{"type":"assistant","message":{"content":[{"type":"text","text":"<axiom %s>COMPLETE</axiom>"}]}}\n' $AXIOM_TOKEN"#;
    let world = world_of("claude", &format!("echo 1 > new.txt; {flood}; {says}; exit 3"));
    run(&world, 0);
    assert_eq!((world.status_of("t"), &world.show("t")["iterations"]), ("done".to_owned(), &json!(1)));
    world.all_is_well();
}

/// Requests, answers, calls and questions are recorded with what the program tells of them, to recognise them again.
#[test]
fn markers_bear_the_ids_and_hashes_of_what_they_mark() {
    let world = world_of("claude", &format!("cat '{}'; echo 1 > new.txt; git axiom signal complete", recording("claude")));
    run(&world, 0);
    let events = world.env.json(&["events"])["events"].as_array().unwrap().clone();
    let signals: Vec<Value> = events.iter().filter_map(|one| one["data"].get("signal").cloned()).collect();
    let of = |kind: &str| signals.iter().filter(|signal| signal["kind"] == kind).cloned().collect::<Vec<_>>();
    let hashes = |kind: &str| of(kind).iter().filter_map(|one| one["hash"].as_str().map(str::len)).collect::<Vec<_>>();
    for (kind, times) in [("requestSent", 3), ("responseReceived", 3), ("toolStarted", 2), ("toolCompleted", 2)] {
        assert_eq!(hashes(kind), vec![64; times], "{kind}: {signals:#?}");
    }
    let ids: Vec<Value> = of("responseReceived").iter().map(|one| one["id"].clone()).collect();
    assert_eq!(ids, ["msg_000158", "msg_000159", "msg_000160"]);
}

/// Of an error that a program prints with all the calls that led to it, a person reads the text.
#[test]
fn an_error_with_its_calls_is_read_as_one_line() {
    let script = format!("cat '{}' >&2; git axiom signal complete; echo 1 > new.txt", recording("gemini-limited.stderr"));
    let world = world_of("gemini", &script);
    run(&world, 0);
    let shown = world.env.ok(&["output", "t"]);
    let lines: Vec<&str> = shown.lines().skip(1).map(str::trim).collect();
    let failed = "= waits for the model: Attempt 1 failed with status 429. Retrying with backoff... _ApiError: scripted error";
    assert_eq!(lines, ["YOLO mode is enabled. All tool calls will be automatically approved.", failed, "= reports complete"]);
    assert!(world.env.ok(&["output", "t", "--raw"]).contains("    at throwErrorIfNotOK"));
}

/// Each persona with its own program, all at work at the same time: what each prints is read by its own rules.
#[test]
fn several_programs_work_side_by_side() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let meet =
        format!("touch '{beside}/begun-'$AXIOM_TASK_ID; while [ $(ls '{beside}' | grep -c begun-) -lt 3 ]; do sleep 0.02; done");
    for (persona, preset) in [("ed", "claude"), ("reviewer", "gemini"), ("tester", "shell")] {
        let place = world.beside(preset);
        let body = if preset == "shell" { format!("{meet}; echo $AXIOM_AGENT > tester.txt") } else { "Do it.".to_owned() };
        if preset != "shell" {
            let script =
                format!("#!/bin/sh\ncat > /dev/null; {meet}\ncat '{}'; echo $AXIOM_AGENT > {persona}.txt", recording(preset));
            std::fs::write(&place, script).unwrap();
            std::fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            world.env.git(&["config", &format!("axiom.agents.{preset}.command"), &place.display().to_string()]);
        }
        world.env.git(&["config", &format!("axiom.personas.{persona}.agent"), preset]);
        world.env.ok(&["task", "add", persona, "--id", persona, "--persona", persona, "--body", &body]);
    }
    world.autopilot(&["--agents", "3"]).code(0);
    let of = |persona: &str| {
        let output = world.env.ok(&["output", persona, "--json", "-n", "1"]);
        let program = serde_json::from_str::<Value>(output.lines().next().unwrap_or("null")).unwrap()["program"].clone();
        (world.env.read(&format!("{persona}.txt")), world.show(persona)["tokensUsed"].clone(), program)
    };
    assert_eq!(of("ed"), ("ed-001\n".to_owned(), json!(3450), json!("claude")));
    assert_eq!(of("reviewer"), ("reviewer-001\n".to_owned(), json!(3450), json!("gemini")));
    assert_eq!(of("tester"), ("tester-001\n".to_owned(), Value::Null, Value::Null));
    world.all_is_well();
}
