//! The tag by which an agent reports is found in what it says, however the program cuts it, and not in the prompt that some
//! programs print.

use super::recordings_tests::seen;
use super::stream_event::StreamEvent;
use crate::agent::presets::preset;
use crate::base::ids::Token;
use crate::work::signals::markers::markers;
use crate::work::signals::signal::AgentSignal;

/// The reports in the output of a program.
fn reports(program: &str, lines: &[&str]) -> Vec<AgentSignal> {
    let adapter = preset(program).unwrap();
    let output = lines.join("\n");
    let token = Token::new("t0").unwrap();
    let texts = seen(&adapter, [output.as_bytes()]).into_iter().filter_map(|seen| match seen {
        StreamEvent::Text { text } => Some(text),
        StreamEvent::Session { .. }
        | StreamEvent::RequestSent(_)
        | StreamEvent::ResponseReceived(_)
        | StreamEvent::ToolStarted(_)
        | StreamEvent::ToolCompleted(_)
        | StreamEvent::Denied(_)
        | StreamEvent::Waits(_)
        | StreamEvent::Usage(_)
        | StreamEvent::Ended(_)
        | StreamEvent::Failed(_) => None,
    });
    texts.flat_map(|text| markers(&text, &token)).collect()
}

const DONE: [AgentSignal; 1] = [AgentSignal::Complete {}];

#[test]
fn the_tag_is_found_in_the_text_of_each_program() {
    let claude = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"all\n\n<axiom t0>COMPLETE</axiom>"}]}}"#;
    assert_eq!(reports("claude", &[claude]), DONE);
    let codex = r#"{"type":"item.completed","item":{"type":"agent_message","text":"all\n<axiom t0>COMPLETE</axiom>\n"}}"#;
    assert_eq!(reports("codex", &[codex]), DONE);
    let opencode = r#"{"type":"text","part":{"text":"<axiom t0>COMPLETE</axiom>"}}"#;
    assert_eq!(reports("opencode", &[r#"{"type":"text","part":{"text":"all"}}"#, opencode]), DONE);
    let pi = r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"<axiom t0>COMPLETE</axiom>"}]}}"#;
    assert_eq!(reports("pi", &[pi]), DONE);
    assert_eq!(reports("aider", &["all", "", "<axiom t0>COMPLETE</axiom>", "", "Tokens: 1"]), DONE);
}

#[test]
fn pieces_are_joined_until_something_else_comes() {
    let piece = |text: &str| format!(r#"{{"type":"message","role":"assistant","content":"{text}","delta":true}}"#);
    let pieces = [piece(r"all\n<axi"), piece("om t0>COMP"), "not JSON".into(), piece(r"LETE</axiom>\n")];
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    assert_eq!(reports("gemini", &pieces), DONE);
    assert_eq!(reports("gemini", &[&pieces[..], &[r#"{"type":"result","status":"success"}"#]].concat()), DONE);
    let between = [pieces[0], r#"{"type":"tool_use","tool_name":"glob","tool_id":"1"}"#, pieces[1], pieces[3]];
    assert_eq!(reports("gemini", &between), []);
}

#[test]
fn the_tag_in_the_prompt_and_in_what_tools_print_is_no_report() {
    let gemini = r#"{"type":"message","role":"user","content":"say\n<axiom t0>COMPLETE</axiom>"}"#;
    assert_eq!(reports("gemini", &[gemini]), []);
    let pi =
        r#"{"type":"message_end","message":{"role":"ROLE","content":[{"type":"text","text":"<axiom t0>COMPLETE</axiom>"}]}}"#;
    let all =
        r#"{"type":"agent_end","messages":[{"role":"user","content":[{"type":"text","text":"<axiom t0>COMPLETE</axiom>"}]}]}"#;
    assert_eq!(reports("pi", &[&pi.replace("ROLE", "user"), &pi.replace("ROLE", "toolResult"), all]), []);
    let claude = r#"{"type":"user","message":{"content":[{"type":"KIND","text":"<axiom t0>COMPLETE</axiom>","content":"<axiom t0>COMPLETE</axiom>"}]}}"#;
    assert_eq!(reports("claude", &[&claude.replace("KIND", "text"), &claude.replace("KIND", "tool_result")]), []);
    let codex =
        r#"{"type":"item.completed","item":{"type":"command_execution","aggregated_output":"<axiom t0>COMPLETE</axiom>"}}"#;
    assert_eq!(reports("codex", &[codex]), []);
}

#[test]
fn codex_is_denied_what_its_sandbox_forbids_but_not_the_lock_of_the_index() {
    let adapter = preset("codex").unwrap();
    let failing = |output: &str| {
        let line = serde_json::json!({"type": "item.completed", "item": {
            "id": "i", "type": "command_execution", "command": "c", "status": "failed", "exit_code": 1, "aggregated_output": output,
        }});
        let all = seen(&adapter, [line.to_string().as_bytes()]);
        all.iter().filter(|seen| matches!(seen, StreamEvent::Denied(_))).count()
    };
    assert_eq!(failing("touch: cannot touch '/etc/x': Read-only file system\n"), 1);
    assert_eq!(failing("fatal: Unable to create '/repo/.git/worktrees/w/index.lock': Read-only file system\n"), 0);
    assert_eq!(
        failing("fatal: Unable to create '/repo/x/index.lock': Read-only file system\ntouch: /etc/x: Read-only file system\n"),
        1
    );
    assert_eq!(failing("no such file"), 0);
}
