//! The recorded runs of real agents, as they are and damaged: what is seen of them, and that nothing does harm.

use serde_json::Value;

use super::line::{AcpLine, AcpLineKind};

/// Recordings: a line has a direction and a message.
pub(super) const RECORDINGS: [(&str, &str); 16] = [
    ("claude", include_str!("../../../fixtures/acp/claude-allow.jsonl")),
    ("claude", include_str!("../../../fixtures/acp/claude-cancel.jsonl")),
    ("claude", include_str!("../../../fixtures/acp/claude-kill.jsonl")),
    ("claude", include_str!("../../../fixtures/acp/claude-reject.jsonl")),
    ("codex", include_str!("../../../fixtures/acp/codex-allow.jsonl")),
    ("codex", include_str!("../../../fixtures/acp/codex-cancel.jsonl")),
    ("codex", include_str!("../../../fixtures/acp/codex-kill.jsonl")),
    ("codex", include_str!("../../../fixtures/acp/codex-reject.jsonl")),
    ("gemini", include_str!("../../../fixtures/acp/gemini-allow.jsonl")),
    ("gemini", include_str!("../../../fixtures/acp/gemini-cancel.jsonl")),
    ("gemini", include_str!("../../../fixtures/acp/gemini-kill.jsonl")),
    ("gemini", include_str!("../../../fixtures/acp/gemini-reject.jsonl")),
    ("opencode", include_str!("../../../fixtures/acp/opencode-allow.jsonl")),
    ("opencode", include_str!("../../../fixtures/acp/opencode-cancel.jsonl")),
    ("opencode", include_str!("../../../fixtures/acp/opencode-kill.jsonl")),
    ("opencode", include_str!("../../../fixtures/acp/opencode-reject.jsonl")),
];

/// The messages of a recording, each a line; those that the agent sent are `true`.
fn messages(recording: &str) -> Vec<(bool, String)> {
    let entries = recording.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries.filter(|entry| entry["m"].is_object()).map(|entry| (entry["dir"] == "<", entry["m"].to_string())).collect()
}

#[test]
fn every_message_is_what_a_whole_reading_says() {
    let mut count = 0;
    for (program, recording) in RECORDINGS {
        for (_, line) in messages(recording) {
            let (seen, whole) = (AcpLine::of(&line), serde_json::from_str::<Value>(&line).unwrap());
            let kind = match (whole.get("method").is_some(), whole.get("id").is_some()) {
                (true, true) => AcpLineKind::Request,
                (true, false) => AcpLineKind::Notification,
                (false, _) => AcpLineKind::Response,
            };
            assert_eq!(
                (seen.kind, seen.method.as_ref()),
                (kind, whole["method"].as_str().unwrap_or_default()),
                "{program}: {line}"
            );
            assert_eq!(seen.id_key(), whole.get("id").map(Value::to_string), "{program}: {line}");
            assert_eq!(seen.session().as_deref(), whole["params"]["sessionId"].as_str(), "{program}: {line}");
            assert_eq!(seen.text_result("stopReason").as_deref(), whole["result"]["stopReason"].as_str(), "{program}: {line}");
            count += 1;
        }
    }
    assert!(count > 300, "{count}");
}

#[test]
fn a_deletion_is_seen_before_it_is_asked_for_or_as_it_begins() {
    for (program, recording) in RECORDINGS {
        let acts: Vec<_> = messages(recording).iter().filter_map(|(_, line)| AcpLine::of(line).tool()).collect();
        assert!(acts.iter().all(|act| !act.id.is_empty()), "{program}");
        let writes = acts.iter().any(|act| {
            let paths = act.path.iter().chain(&act.located);
            paths.into_iter().any(|path| path.ends_with("a.txt"))
                || act.command.as_ref().is_some_and(|command| command.contains("a.txt"))
        });
        assert!(writes, "{program}: {acts:#?}");
        let deletes = |text: &str| text.contains("rm -rf README");
        let said = acts.iter().any(|act| act.command.as_deref().is_some_and(deletes));
        let titled = acts.iter().any(|act| act.kind == "execute" && deletes(&act.title));
        let asked = acts.iter().any(|act| deletes(&act.title));
        // Gemini sends no input: the title is all that there is. A rejected or cancelled turn of some ends before the command.
        assert!(said || (program == "gemini" && titled) || !asked, "{program}");
    }
}

/// Numbers that look random and are the same in each run.
struct LineDice(u64);

impl LineDice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end.max(1)).unwrap()).unwrap()
    }
}

fn damaged(dice: &mut LineDice, line: &str) -> Vec<u8> {
    let mut bytes = line.as_bytes().to_vec();
    for _ in 0..=dice.below(4) {
        let (at, other) = (dice.below(bytes.len()), dice.below(bytes.len()));
        let (from, to) = (at.min(other), at.max(other));
        match dice.below(6) {
            0 => bytes.truncate(to),
            1 => drop(bytes.drain(from..to)),
            2 => bytes.extend_from_within(from..to),
            3 if to > 0 => bytes[from] ^= 1 << dice.below(8),
            4 if to > 0 => bytes[from] = b"{}[]\",:\\\r\n0-e\xff\xd8\0"[dice.below(16)],
            _ => drop(bytes.splice(from..from, b"\"\\ud83d\xff".iter().copied())),
        }
    }
    bytes
}

#[test]
fn damaged_lines_do_no_harm() {
    let mut dice = LineDice(0x9E37_79B9_7F4A_7C15);
    let lines: Vec<String> = RECORDINGS.iter().flat_map(|(_, recording)| messages(recording)).map(|(_, line)| line).collect();
    let mut understood = 0;
    for round in 0..20_000 {
        let bytes = damaged(&mut dice, &lines[round % lines.len()]);
        let text = String::from_utf8_lossy(&bytes);
        let line = AcpLine::of(&text);
        understood += usize::from(line.kind != AcpLineKind::NotRpc);
        let said =
            [line.session(), line.update(), line.id_key(), Some(line.prompt_text()), line.tool().map(|act| format!("{act:?}"))];
        assert!(said.iter().flatten().all(|said| said.len() < 8 * text.len() + 1000), "{text}");
    }
    assert!(understood > 1000, "{understood}");
}

#[test]
fn hostile_lines_are_read_as_others_or_as_nothing() {
    let long = "x".repeat(10 * 1024 * 1024);
    let line = format!(
        "{{\"id\":1,\"method\":\"session/prompt\",\"params\":{{\"prompt\":[{{\"text\":\"{long}\"}}],\"sessionId\":\"s\"}}}}"
    );
    let seen = AcpLine::of(&line);
    assert_eq!((seen.kind, seen.session().as_deref(), seen.prompt_text().len()), (AcpLineKind::Request, Some("s"), long.len()));
    let deep = format!(
        "{{\"method\":\"session/update\",\"params\":{{\"x\":{},\"sessionId\":\"s\"}}}}",
        "[".repeat(100_000) + &"]".repeat(100_000)
    );
    assert_eq!(AcpLine::of(&deep).session().as_deref(), Some("s"));
    // A program that reads it takes the last of two, and so do we.
    let twice = r#"{"id":1,"method":"a","id":2,"method":"session/cancel","params":{"sessionId":"x"},"params":{"sessionId":"y"}}"#;
    let seen = AcpLine::of(twice);
    assert_eq!((seen.id, seen.method.as_ref(), seen.session().as_deref()), (Some("2"), "session/cancel", Some("y")));
    let bytes = b"{\"id\":1,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"a\xff\",\"prompt\":[]}}\r\n";
    let text = String::from_utf8_lossy(bytes);
    assert_eq!(AcpLine::of(&text).session().unwrap(), "a\u{fffd}");
    let end = r#"{"method":"session/cancel","params":{"sessionId":"s"}}"#;
    assert_eq!(AcpLine::of(end).kind, AcpLineKind::Notification, "a last line has no end");
}
