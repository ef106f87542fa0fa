//! Whole conversations: what is said at each line, and which lines wait.

use serde_json::Value;

use super::hook_call::AcpSessionAct as Act;
use super::watcher::{AcpLineStep, AcpWatcher};
use crate::acp::line::AcpLine;

/// One step in short: the event's name, what happens, and whether the line waits.
type SaidStep = (String, Act, bool);

fn said(step: AcpLineStep) -> Option<SaidStep> {
    assert!(step.call.is_some() || !step.waits);
    step.call.map(|call| (call.name, call.act, step.waits))
}

fn editor(watcher: &mut AcpWatcher, line: &str) -> Option<SaidStep> {
    said(watcher.from_editor(&AcpLine::of(line)))
}

fn agent(watcher: &mut AcpWatcher, line: &str) -> Option<SaidStep> {
    said(watcher.from_agent(&AcpLine::of(line)))
}

/// All that is said over a recording.
fn over(recording: &str) -> Vec<SaidStep> {
    let mut watcher = AcpWatcher::new("agent".into());
    let mut all = Vec::new();
    for entry in recording.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let line = entry["m"].to_string();
        all.extend(if entry["dir"] == "<" { agent(&mut watcher, &line) } else { editor(&mut watcher, &line) });
    }
    all
}

fn begun() -> AcpWatcher {
    let mut watcher = AcpWatcher::new("agent".into());
    assert_eq!(editor(&mut watcher, r#"{"id":1,"method":"session/new","params":{"cwd":"/r"}}"#), None);
    let step = watcher.from_agent(&AcpLine::of(r#"{"id":1,"result":{"sessionId":"s"}}"#));
    let call = step.call.unwrap();
    assert_eq!((call.act, call.folder.as_str(), call.agent.as_str(), step.waits), (Act::Start, "/r", "agent", false));
    watcher
}

fn update(what: &str) -> String {
    format!("{{\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s\",\"update\":{{\"toolCallId\":\"c\",{what}}}}}}}")
}

#[test]
fn recorded_agents_wait_before_what_they_ask_for() {
    let recording = include_str!("../../../../fixtures/acp/claude-allow.jsonl");
    let said = over(recording);
    let waits: Vec<&Act> = said.iter().filter(|(_, _, waits)| *waits).map(|(_, act, _)| act).collect();
    let Act::Prompt(text) = waits[0] else { panic!("{waits:?}") };
    assert!(text.starts_with("FAKE:"));
    assert_eq!(
        waits[1..],
        [&Act::BeforeEdit(vec!["/repo/a.txt".into()]), &Act::BeforeShell("rm -rf README && echo gone".into())]
    );
    assert!(said.iter().all(|(name, _, _)| name != "unasked"), "{said:?}");
    assert_eq!(said.last().unwrap().1, Act::TurnEnd);
    for recording in [
        include_str!("../../../../fixtures/acp/opencode-allow.jsonl"),
        include_str!("../../../../fixtures/acp/gemini-allow.jsonl"),
    ] {
        let said = over(recording);
        assert!(
            said.iter().filter(|(_, _, waits)| *waits).count() >= 3 && said.iter().all(|(name, _, _)| name != "unasked"),
            "{said:?}"
        );
    }
}

#[test]
fn an_agent_that_asks_nobody_is_seen_as_one() {
    let said = over(include_str!("../../../../fixtures/acp/codex-allow.jsonl"));
    let announced: Vec<_> = said.iter().filter(|(name, _, _)| name == "announced").map(|(_, act, waits)| (act, waits)).collect();
    assert_eq!(announced.len(), 2, "{said:?}");
    assert!(announced.iter().all(|(_, waits)| !**waits));
    let unasked = said.iter().filter(|(name, act, _)| name == "unasked" && *act == Act::AfterShell).count();
    assert_eq!(unasked, 2, "both overwrite or delete: {said:?}");
}

#[test]
fn what_the_editor_does_for_the_agent_waits_too() {
    let mut watcher = begun();
    let write = r#"{"id":"w","method":"fs/write_text_file","params":{"sessionId":"s","path":"/r/a","content":"x"}}"#;
    assert_eq!(agent(&mut watcher, write), Some(("fs/write_text_file".into(), Act::BeforeEdit(vec!["/r/a".into()]), true)));
    let done = r#"{"id":"w","result":null}"#;
    assert_eq!(editor(&mut watcher, done).unwrap().1, Act::AfterEdit(vec!["/r/a".into()]));
    assert_eq!(editor(&mut watcher, done), None, "an answer counts once");
    let run = r#"{"id":2,"method":"terminal/create","params":{"sessionId":"s","command":"rm","args":["-rf","a b"],"cwd":"/r"}}"#;
    assert_eq!(agent(&mut watcher, run), Some(("terminal/create".into(), Act::BeforeShell("rm '-rf' 'a b'".into()), true)));
    assert_eq!(
        agent(&mut watcher, r#"{"id":3,"method":"terminal/wait_for_exit","params":{"sessionId":"s","terminalId":"t"}}"#),
        None
    );
    assert_eq!(editor(&mut watcher, r#"{"id":3,"result":{"exitCode":0}}"#).unwrap().1, Act::AfterShell);
}

#[test]
fn only_reading_needs_nothing() {
    let mut watcher = begun();
    let asks = |call: &str| {
        format!(
            "{{\"id\":9,\"method\":\"session/request_permission\",\"params\":{{\"sessionId\":\"s\",\"toolCall\":{{\"toolCallId\":\"p\",{call}}}}}}}"
        )
    };
    assert_eq!(agent(&mut watcher, &asks(r#""kind":"read","rawInput":{"path":"/r/a"}"#)), None);
    // A kind is a hint; a command is none.
    let act = agent(&mut watcher, &asks(r#""kind":"read","rawInput":{"command":"rm x"}"#)).unwrap();
    assert_eq!((act.1, act.2), (Act::BeforeShell("rm x".into()), true));
    let mut watcher = begun();
    for unknown in [r#""kind":"delete","rawInput":{"path":"/r/folder"}"#, r#""kind":"execute","title":"ls""#, r#""kind":"x""#] {
        assert_eq!(agent(&mut watcher, &asks(unknown)).unwrap().1, Act::BeforeEdit(Vec::new()), "{unknown}");
    }
    let odd = r#"{"id":9,"method":"session/request_permission","params":[]}"#;
    assert_eq!(agent(&mut watcher, odd).unwrap().1, Act::BeforeEdit(Vec::new()));
    // What was told before belongs to what is asked.
    let mut watcher = begun();
    assert!(agent(&mut watcher, &update(r#""sessionUpdate":"tool_call","kind":"edit","rawInput":{"path":"/r/a"}"#)).is_some());
    let asked = r#"{"id":9,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"}}}"#;
    assert_eq!(agent(&mut watcher, asked).unwrap().1, Act::BeforeEdit(vec!["/r/a".into()]));
}

#[test]
fn what_happened_earlier_is_not_saved_again() {
    let mut watcher = AcpWatcher::new(String::new());
    assert_eq!(editor(&mut watcher, r#"{"id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/r"}}"#), None);
    let call = update(r#""sessionUpdate":"tool_call","kind":"execute","status":"completed","rawInput":{"command":"rm x"}"#);
    assert_eq!(agent(&mut watcher, &call), None);
    assert_eq!(agent(&mut watcher, r#"{"id":1,"result":{}}"#).unwrap().1, Act::Start);
    let call = update(r#""sessionUpdate":"tool_call","kind":"execute","rawInput":{"command":"rm x"}"#);
    assert_eq!(agent(&mut watcher, &call), Some(("announced".into(), Act::BeforeShell("rm x".into()), false)));
    assert_eq!(agent(&mut watcher, &call), None, "once");
    let ended = update(r#""sessionUpdate":"tool_call_update","status":"completed""#);
    assert_eq!(agent(&mut watcher, &ended), Some(("unasked".into(), Act::AfterShell, false)));
}

#[test]
fn sessions_of_one_agent_are_apart_and_all_end() {
    let mut watcher = begun();
    editor(&mut watcher, r#"{"id":2,"method":"session/new","params":{"cwd":"/other"}}"#);
    agent(&mut watcher, r#"{"id":2,"result":{"sessionId":"t"}}"#);
    let prompt = |id: u32, session: &str| {
        format!("{{\"id\":{id},\"method\":\"session/prompt\",\"params\":{{\"sessionId\":\"{session}\",\"prompt\":[]}}}}")
    };
    for (id, session, folder) in [(3, "s", "/r"), (4, "t", "/other"), (5, "unheard of", "")] {
        let step = watcher.from_editor(&AcpLine::of(&prompt(id, session)));
        assert!(step.waits && step.tells);
        assert_eq!(step.call.unwrap().folder, folder);
    }
    let ended = watcher.from_agent(&AcpLine::of(r#"{"id":4,"result":{"stopReason":"cancelled"}}"#)).call.unwrap();
    assert_eq!((ended.session.as_str(), ended.act), ("t", Act::TurnEnd));
    assert_eq!(agent(&mut watcher, r#"{"id":3,"error":{"code":1}}"#).unwrap().1, Act::TurnEnd);
    editor(&mut watcher, r#"{"id":6,"method":"session/close","params":{"sessionId":"t"}}"#);
    assert_eq!(agent(&mut watcher, r#"{"id":6,"result":{}}"#).unwrap().1, Act::End);
    let ends: Vec<String> = watcher.ends().into_iter().map(|call| call.session).collect();
    assert_eq!(ends, ["s", "unheard of"]);
}

/// Ten thousand of everything, with ids that nobody answers.
#[test]
fn what_never_ends_is_forgotten() {
    let mut watcher = begun();
    for number in 0..10_000 {
        let asks = format!(
            "{{\"id\":{number},\"method\":\"session/request_permission\",\"params\":{{\"sessionId\":\"s{number}\",\"toolCall\":{{\"toolCallId\":\"c{number}\",\"kind\":\"execute\"}}}}}}"
        );
        assert!(agent(&mut watcher, &asks).is_some());
        editor(&mut watcher, &format!("{{\"id\":{number},\"method\":\"session/new\",\"params\":{{\"cwd\":\"/r\"}}}}"));
    }
    assert!(watcher.ends().len() <= 200);
    assert!(format!("{watcher:?}").len() < 1_000_000);
}
