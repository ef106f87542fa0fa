//! The client against what real agents said to another one: it says the same. And against what no agent should say.

use serde_json::{Value, json};

use super::client::{AcpClient, AcpEffect, AcpOpening, AcpPermissionRequest};
use super::recordings_tests::RECORDINGS;
use crate::agent::presets::preset;
use crate::agent::stream::decode::StreamDecoder;
use crate::agent::stream::stream_event::StreamEvent;
use crate::agent::stream::summary::StreamSummary;
use crate::agent::stream::trouble::ModelTrouble;
use crate::permission::requested::{PermissionAct, PermissionPlace, requested};

/// What is compared of a line to the agent: its method, or what it answers.
fn gist(line: &Value) -> Value {
    let of_error = line["error"]["code"].clone();
    json!([line["id"], line["method"], line["params"]["sessionId"], line["result"], of_error])
}

/// One run of a program: what was said to it, what it said, and the session that it was to go on with.
#[derive(Default)]
pub(super) struct RecordedRun {
    sent: Vec<Value>,
    pub(super) said: Vec<Value>,
    resumes: Option<String>,
}

pub(super) fn runs(recording: &str) -> Vec<RecordedRun> {
    let mut runs: Vec<RecordedRun> = Vec::new();
    for entry in recording.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let message = entry["m"].clone();
        if message["method"] == "initialize" {
            runs.push(RecordedRun::default());
        }
        let Some(run) = runs.last_mut().filter(|_| message.is_object()) else { continue };
        if entry["dir"] == "<" {
            run.said.push(message);
        } else {
            if message["method"] == "session/resume" || message["method"] == "session/load" {
                run.resumes = message["params"]["sessionId"].as_str().map(str::to_owned);
            }
            run.sent.push(message);
        }
    }
    runs
}

/// What a client did that heard this.
#[derive(Default)]
struct HeardRun {
    sent: Vec<Value>,
    asked: Vec<AcpPermissionRequest>,
    told: StreamSummary,
    texts: Vec<String>,
    ended: bool,
}

fn hear(run: &RecordedRun, program: &str, answers: &str) -> HeardRun {
    let adapter = preset(&format!("{program}-acp")).unwrap();
    let mut decoder = StreamDecoder::new(&adapter.stream, &adapter.tools);
    let opening =
        AcpOpening { folder: "/repo".into(), prompt: "p".into(), resumes: run.resumes.clone(), ..AcpOpening::default() };
    let (mut client, first) = AcpClient::begin(opening);
    let mut heard = HeardRun { told: StreamSummary::new(&adapter.stream), ..HeardRun::default() };
    let mut effects = vec![first];
    for line in std::iter::once(None).chain(run.said.iter().map(Some)) {
        if let Some(line) = line {
            let again = client.is_told_again();
            effects.extend(client.line(&line.to_string()));
            let seen = if again { None } else { decoder.line(line.to_string().as_bytes()) };
            effects.extend(seen.unwrap_or_default().into_iter().map(AcpEffect::Says));
        }
        while !effects.is_empty() {
            match effects.remove(0) {
                AcpEffect::Sends(line) => heard.sent.push(serde_json::from_str(&line).unwrap()),
                AcpEffect::Asks(asked) => {
                    match answers {
                        "cancel" => effects.extend(client.cancel()),
                        answer => effects.extend(client.answer(asked.number, answer != "reject")),
                    }
                    heard.asked.push(*asked);
                }
                AcpEffect::Says(StreamEvent::Text { text }) => heard.texts.push(text),
                AcpEffect::Says(event) => heard.told.add(&event),
                AcpEffect::Reports(_) => {}
                AcpEffect::Ends => heard.ended = true,
            }
        }
    }
    for event in decoder.end() {
        if let StreamEvent::Text { text } = event {
            heard.texts.push(text);
        }
    }
    heard
}

const MODES: [&str; 4] = ["allow", "cancel", "kill", "reject"];

#[test]
fn sixteen_recorded_runs_are_gone_through_as_they_were() {
    for (at, (program, recording)) in RECORDINGS.into_iter().enumerate() {
        let mode = MODES[at % MODES.len()];
        for run in runs(recording) {
            let heard = hear(&run, program, mode);
            let (ours, theirs): (Vec<Value>, Vec<Value>) =
                (heard.sent.iter().map(gist).collect(), run.sent.iter().map(gist).collect());
            // The answers of several threads may be in another order.
            let sorted = |mut all: Vec<Value>| {
                all.sort_by_key(Value::to_string);
                all
            };
            assert_eq!(sorted(ours), sorted(theirs), "{program} {mode}");
            let last = run.said.iter().rev().find(|line| line["result"]["stopReason"].is_string());
            assert_eq!(heard.ended, last.is_some(), "{program} {mode}");
            let success = heard.told.ended.as_ref().map(|ended| ended.success);
            assert_eq!(success, last.map(|line| line["result"]["stopReason"] == "end_turn"), "{program} {mode}");
            assert!(heard.told.session.is_some() || run.resumes.is_some(), "{program} {mode}");
            assert_eq!(heard.told.failed, None, "{program} {mode}");
        }
    }
}

#[test]
fn a_recorded_run_is_read_with_its_calls_tokens_and_cost() {
    for (program, calls, input, cost) in [
        ("claude", 2, 3300, Some(0.02025)),
        ("codex", 3, 3300, None),
        ("gemini", 2, 3300, None),
        ("opencode", 2, 1200, Some(0.0)),
    ] {
        let at = RECORDINGS.iter().position(|(name, _)| *name == program).unwrap();
        let heard = hear(&runs(RECORDINGS[at].1)[0], program, "allow");
        assert_eq!(heard.told.calls.count, calls, "{program}");
        assert!(heard.told.calls.begun.is_empty(), "{program}: {:?}", heard.told.calls.begun);
        assert_eq!((heard.told.usage.input, heard.told.usage.cost_usd), (Some(input), cost), "{program}");
        assert!(heard.texts.iter().any(|text| text.contains("done")), "{program}: {:?}", heard.texts);
    }
}

/// A file that is written, and a command that deletes.
#[test]
fn what_real_agents_ask_for_is_understood() {
    for (program, first, second) in
        [("claude", "edit", "command"), ("gemini", "edit", "unknown"), ("opencode", "edit", "command")]
    {
        let at = RECORDINGS.iter().position(|(name, _)| *name == program).unwrap();
        let heard = hear(&runs(RECORDINGS[at].1)[0], program, "allow");
        let kinds = heard.asked.iter().map(|asked| {
            let place = |path: &str| PermissionPlace::Inside { relative: path.to_owned() };
            match requested(&asked.kind, asked.input.as_ref(), asked.content.as_ref(), &place) {
                PermissionAct::Read { .. } => "read",
                PermissionAct::Edit { .. } => "edit",
                PermissionAct::Command { .. } => "command",
                PermissionAct::Unknown { .. } => "unknown",
            }
        });
        assert_eq!(kinds.collect::<Vec<_>>(), [first, second], "{program}");
    }
}

/// A client whose prompt is under way.
pub(super) fn prompting() -> AcpClient {
    let (mut client, _) = AcpClient::begin(AcpOpening::default());
    client.line(
        r#"{"id":1,"result":{"protocolVersion":1,"authMethods":[{"id":"a","name":"Log in","description":"run x login"}]}}"#,
    );
    client.line(r#"{"id":2,"result":{"sessionId":"s"}}"#);
    client
}

pub(super) fn failure(effects: &[AcpEffect]) -> (ModelTrouble, String) {
    let [AcpEffect::Says(StreamEvent::Failed(failed)), AcpEffect::Ends] = effects else { panic!("{effects:?}") };
    (failed.trouble, failed.message.clone())
}

#[test]
fn every_end_of_a_turn_and_every_error_is_told() {
    for (line, trouble, part) in [
        (r#"{"id":3,"result":{"stopReason":"refusal"}}"#, ModelTrouble::Other, "refused"),
        (r#"{"id":3,"result":{"stopReason":"max_tokens"}}"#, ModelTrouble::Other, "max_tokens"),
        (r#"{"id":3,"result":{"stopReason":"max_turn_requests"}}"#, ModelTrouble::Other, "requests"),
        (r#"{"id":3,"result":{"stopReason":"new_reason"}}"#, ModelTrouble::Other, "new_reason"),
        (r#"{"id":3,"result":7}"#, ModelTrouble::Other, "''"),
        (r#"{"id":3,"error":{"code":-32000,"message":"Authentication required"}}"#, ModelTrouble::SignIn, "Log in: run x login"),
        (
            r#"{"id":3,"error":{"code":-32603,"message":"Internal error","data":{"details":"status 429"}}}"#,
            ModelTrouble::RateLimit,
            "429",
        ),
        (r#"{"id":3,"error":{"code":-32603,"message":"API Error: 529 overloaded"}}"#, ModelTrouble::Overload, "529"),
        (r#"{"id":3,"error":"odd"}"#, ModelTrouble::Other, ""),
    ] {
        let (found, why) = failure(&prompting().line(line));
        assert_eq!(found, trouble, "{line}");
        assert!(why.contains(part), "{why}");
    }
    assert_eq!(prompting().line(r#"{"id":3,"result":{"stopReason":"end_turn"}}"#), [AcpEffect::Ends]);
    let breaks_off =
        |line: &str| matches!(&prompting().line(line)[0], AcpEffect::Says(StreamEvent::Failed(failed)) if failed.broke_off);
    assert!(breaks_off(r#"{"id":3,"error":{"code":-32603,"message":"the program exited unexpectedly"}}"#));
    assert!(!breaks_off(r#"{"id":3,"error":{"code":-32603,"message":"status 429"}}"#));
    assert!(!breaks_off(r#"{"id":3,"result":{"stopReason":"refusal"}}"#));
    assert!(failure(&prompting().hears_no_more()).1.contains("in the middle of its turn"));
    let mut cancelled = prompting();
    cancelled.cancel();
    assert_eq!(cancelled.hears_no_more(), []);
    let (mut client, _) = AcpClient::begin(AcpOpening::default());
    let (_, why) = failure(&client.line(r#"{"id":1,"result":{"protocolVersion":2}}"#));
    assert!(why.contains("version 2"));
}

#[test]
fn a_session_is_resumed_else_loaded_and_what_is_told_again_is_known_as_such() {
    let opening = || AcpOpening { resumes: Some("old".into()), ..AcpOpening::default() };
    let method = |effects: &[AcpEffect]| match effects.last() {
        Some(AcpEffect::Sends(line)) => serde_json::from_str::<Value>(line).unwrap()["method"].as_str().unwrap().to_owned(),
        other => panic!("{other:?}"),
    };
    let (mut client, _) = AcpClient::begin(opening());
    let can = r#"{"id":1,"result":{"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}}}}"#;
    assert_eq!(method(&client.line(can)), "session/resume");
    assert_eq!(method(&client.line(r#"{"id":2,"error":{"code":-32601,"message":"no"}}"#)), "session/load");
    assert!(client.is_told_again());
    let effects = client.line(r#"{"id":3,"result":null}"#);
    assert_eq!(effects[0], AcpEffect::Says(StreamEvent::Session { id: "old".into() }));
    assert_eq!((method(&effects), client.is_told_again()), ("session/prompt".to_owned(), false));
    let (mut client, _) = AcpClient::begin(opening());
    assert_eq!(method(&client.line(r#"{"id":1,"result":{"agentCapabilities":{"loadSession":true}}}"#)), "session/load");
    failure(&client.line(r#"{"id":2,"error":{"code":-32002,"message":"gone"}}"#));
    let (mut client, _) = AcpClient::begin(opening());
    failure(&client.line(r#"{"id":1,"result":{}}"#));
}

#[test]
fn the_mode_is_set_where_it_is_another_one() {
    let begun = |modes: &str| {
        let (mut client, _) = AcpClient::begin(AcpOpening { mode: Some("asks".into()), ..AcpOpening::default() });
        client.line(r#"{"id":1,"result":{"protocolVersion":1}}"#);
        let effects = client.line(&format!("{{\"id\":2,\"result\":{{\"sessionId\":\"s\",\"modes\":{modes}}}}}"));
        (client, effects)
    };
    let says = |effects: &[AcpEffect], part: &str| matches!(effects, [AcpEffect::Sends(line)] if line.contains(part));
    let (mut client, effects) = begun(r#"{"currentModeId":"auto"}"#);
    assert!(says(&effects, "session/set_mode") && says(&effects, "\"asks\""), "{effects:?}");
    assert!(says(&client.line(r#"{"id":3,"result":{}}"#), "session/prompt"));
    assert_eq!(client.line(r#"{"id":4,"result":{"stopReason":"end_turn"}}"#), [AcpEffect::Ends]);
    let (mut client, _) = begun("null");
    failure(&client.line(r#"{"id":3,"error":{"code":-32602,"message":"no such mode"}}"#));
    assert!(says(&begun(r#"{"currentModeId":"asks"}"#).1, "session/prompt"));
}

/// A request whose options are these.
pub(super) fn request(id: &str, options: &Value) -> String {
    format!(
        r#"{{"id":{id},"method":"session/request_permission","params":{{"sessionId":"s","toolCall":{{"rawInput":{{"command":"ls"}}}},"options":{options}}}}}"#
    )
}

#[test]
fn only_options_for_once_are_ever_chosen() {
    let all = json!([{"optionId": "A", "kind": "allow_always"}, {"optionId": "a", "kind": "allow_once"}, {"optionId": "R", "kind": "reject_always"}, {"optionId": "r", "kind": "reject_once"}]);
    let always = json!([{"optionId": "A", "kind": "allow_always"}, {"optionId": "R", "kind": "reject_always"}]);
    for (options, allowed, expected) in [
        (&all, true, json!({"outcome": "selected", "optionId": "a"})),
        (&all, false, json!({"outcome": "selected", "optionId": "r"})),
        (&always, true, json!({"outcome": "cancelled"})),
        (&always, false, json!({"outcome": "cancelled"})),
        (&json!(7), true, json!({"outcome": "cancelled"})),
    ] {
        let mut client = prompting();
        let asked = client.line(&request("\"x y\"", options));
        assert!(matches!(&asked[..], [AcpEffect::Asks(_)]), "{asked:?}");
        let Some(AcpEffect::Sends(line)) = client.answer(1, allowed) else { panic!() };
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&line["id"], &line["result"]["outcome"]), (&json!("x y"), &expected));
        assert_eq!(client.answer(1, true), None, "it is answered once");
    }
}

#[test]
fn a_cancel_answers_all_and_afterwards_everything_is_cancelled() {
    let mut client = prompting();
    client.line(&request("0", &json!([])));
    client.line(&request("1", &json!([])));
    let sent = client.cancel();
    assert_eq!(sent.len(), 3);
    assert!(matches!(&sent[0], AcpEffect::Sends(line) if line.contains("session/cancel")));
    assert!(matches!(&sent[2], AcpEffect::Sends(line) if line.contains("cancelled")));
    assert!(matches!(&client.line(&request("2", &json!([])))[..], [AcpEffect::Sends(line)] if line.contains("cancelled")));
    assert_eq!(client.cancel(), []);
    assert_eq!(client.line(r#"{"id":3,"result":{"stopReason":"cancelled"}}"#), [AcpEffect::Ends]);
    let (mut early, _) = AcpClient::begin(AcpOpening::default());
    assert_eq!(early.cancel(), [AcpEffect::Ends]);
}

#[test]
fn what_no_agent_should_say_does_no_harm() {
    let mut client = prompting();
    for number in 0..10_000 {
        let effects = client.line(&request(&number.to_string(), &json!([])));
        assert_eq!(effects.len(), 1);
    }
    let long = "x".repeat(100_000);
    for line in [
        "",
        "npm warn x",
        "[]",
        "{}",
        "{\"id\":99,\"result\":{}}",
        "{\"id\":\"3\",\"result\":{\"stopReason\":\"end_turn\"}}",
        "{\"id\":null,\"result\":1}",
        r#"{"method":"_x/y","params":[]}"#,
        r#"{"method":"session/update","params":{"update":{"sessionUpdate":"plan","entries":[[]]}}}"#,
        r#"{"method":"session/update","params":{"update":{"sessionUpdate":"of the future"}}}"#,
        &format!("{{\"id\":5,\"method\":\"session/request_permission\",\"params\":{}{}}}", "[".repeat(5000), "]".repeat(5000)),
    ] {
        let effects = client.line(line);
        assert!(!effects.contains(&AcpEffect::Ends), "{line}");
    }
    let Some(AcpEffect::Sends(line)) = client.line(&format!("{{\"id\":7,\"method\":\"{long}\"}}")).pop() else { panic!() };
    assert!(line.contains("-32601") && line.len() < 300);
    assert_eq!(client.line(r#"{"id":3,"result":{"stopReason":"end_turn"}}"#), [AcpEffect::Ends]);
    assert!(client.line(r#"{"id":3,"result":{"stopReason":"end_turn"}}"#).is_empty(), "requests after the end");
}
