//! What a person reads of the recordings, and of bad lines.

use std::collections::BTreeMap;

use serde_json::json;

use super::readable::{ReadableLine, ReadableLineKind, ReadableOutput};
use crate::agent::overlay::overlaid;
use crate::agent::presets;

fn of(preset: &str) -> ReadableOutput {
    let adapter = overlaid(Some(presets::preset_value(preset).unwrap()), json!({})).unwrap();
    ReadableOutput::new(&adapter.stream, &adapter.tools)
}

fn mark(part: ReadableLineKind) -> &'static str {
    match part {
        ReadableLineKind::Said => "",
        ReadableLineKind::Call => "> ",
        ReadableLineKind::Result => "  ",
        ReadableLineKind::Removed => "  -",
        ReadableLineKind::Added => "  +",
        ReadableLineKind::Trouble => "! ",
        ReadableLineKind::Remark => "= ",
        ReadableLineKind::Other => "? ",
    }
}

fn shown(lines: &[ReadableLine]) -> Vec<String> {
    lines.iter().map(|line| format!("{}{}", mark(line.part), line.text)).collect()
}

fn read(preset: &str, text: &str) -> Vec<String> {
    let mut readable = of(preset);
    let mut lines: Vec<ReadableLine> = text.lines().flat_map(|line| readable.line(line.as_bytes())).collect();
    lines.extend(readable.end());
    shown(&lines)
}

fn recording(name: &str) -> String {
    std::fs::read_to_string(format!("{}/../../fixtures/streams/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn recordings_are_read_as_words_calls_and_ends() {
    for (preset, name, calls, last) in [
        ("claude", "claude", true, "= ended with success"),
        ("claude", "claude-error", false, "! failed"),
        ("codex", "codex", true, "= ended with success"),
        ("gemini", "gemini", true, "= ended with success"),
        ("opencode", "opencode", true, ""),
        ("pi", "pi", true, "= ended with success"),
    ] {
        let lines = read(preset, &recording(name));
        assert_eq!(lines.iter().any(|line| line.starts_with("> ")), calls, "{name}: {lines:#?}");
        assert!(lines.iter().any(|line| line.starts_with(last)), "{name}: {lines:#?}");
        assert!(lines.iter().all(|line| !line.contains("{\"type\"") && !line.contains('\n')), "{name}: {lines:#?}");
    }
}

#[test]
fn an_edit_shows_the_lines_that_change_and_a_long_result_its_beginning() {
    let call = |id: &str, name: &str, input: serde_json::Value| {
        json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}})
            .to_string()
    };
    let end = |id: &str, output: &str, failed: bool| {
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed});
        json!({"type": "user", "message": {"content": [result]}}).to_string()
    };
    let many = (1..=12).map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
    let lines = [
        call("a", "Edit", json!({"file_path": "x.rs", "old_string": "1\n2\n3", "new_string": "1\ntwo\n3"})),
        end("a", "The file was changed.", false),
        call("b", "Bash", json!({"command": "cargo test\nmore"})),
        call("c", "Read", json!({"file_path": "y"})),
        end("b", &many, false),
        end("c", "1\n2\n3\n4", false),
        call("d", "Bash", json!({"command": "false"})),
        end("d", "no", true),
    ];
    let expected = [
        "> Edit x.rs",
        "  -2",
        "  +two",
        "> Bash cargo test more",
        "> Read y",
        "> Bash has ended",
        "  1",
        "  2",
        "  3",
        "  4",
        "  5",
        "  6",
        "  7",
        "  8",
        "  9",
        "  10",
        "  … 2 more lines",
        "> Read has ended",
        "  1",
        "  2",
        "  3",
        "  … 1 more line",
        "> Bash false",
        "  no",
        "! failed",
    ];
    assert_eq!(read("claude", &lines.join("\n")), expected);
}

#[test]
fn what_is_no_json_is_text_and_kinds_without_a_rule_are_left_out() {
    let text = "warning: x\n{\"type\":\"new kind\"}\n{broken\n[1]\n\u{1b}[31mred";
    assert_eq!(read("claude", text), ["? warning: x", "? {broken", "? [1]", "? \u{1b}[31mred"]);
    let mut plain = ReadableOutput::new(&super::rules::StreamRules::default(), &BTreeMap::new());
    assert_eq!(shown(&plain.line(b"said\xff")), ["said\u{fffd}"]);
}

#[test]
fn lines_of_standard_error_that_a_rule_knows_are_said_as_what_they_are() {
    let read = |preset: &str, name: &str| {
        let text =
            std::fs::read_to_string(format!("{}/../../fixtures/streams/{name}.stderr", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let mut readable = of(preset);
        let mut lines: Vec<ReadableLine> = text.lines().flat_map(|line| readable.error_line(line.as_bytes())).collect();
        lines.extend(readable.end());
        shown(&lines)
    };
    let refused =
        "! refused: `/bin/bash -c 'rm -rf /tmp/lab-x'` rejected: rm -f style commands are not permitted. Use a safer approach";
    assert_eq!(read("codex", "codex-rejected"), [refused]);
    let waits = "= waits for the model: Attempt 1 failed with status 429. Retrying with backoff... _ApiError: scripted error";
    let yolo = "? YOLO mode is enabled. All tool calls will be automatically approved.";
    assert_eq!(read("gemini", "gemini-limited"), [yolo, waits]);
    assert_eq!(read("pi", "pi-sign-in")[0], "! failed: No API key found for the selected model.");
}

/// What a program answers to a call that it refused is the refusal once more.
#[test]
fn a_refusal_is_said_once() {
    for (preset, name, call, why) in [
        ("claude", "claude-denied", "> Bash git push", "requires approval"),
        ("codex", "codex-sandbox", "> command_execution /bin/bash -c 'sleep 2; echo x", "/etc/lab-denied: Read-only"),
        ("opencode", "opencode-denied", "> bash echo x", "rejected permission"),
    ] {
        let lines = read(preset, &recording(name));
        let said: Vec<&String> = lines.iter().filter(|line| line.contains(why)).collect();
        assert!(said.len() == 1 && said[0].starts_with("! refused "), "{name}: {lines:#?}");
        let at = lines.iter().position(|line| line.contains(why)).unwrap();
        assert!(lines[at - 1].starts_with(call), "{name}: {lines:#?}");
        assert!(!lines.iter().any(|line| line.ends_with("has ended")), "{name}: {lines:#?}");
    }
}
