//! Whatever an agent says: nobody waits for ever, and what went wrong is known.

use serde_json::{Value, json};

use super::client::{AcpClient, AcpEffect, AcpOpening};
use super::client_tests::{failure, prompting, request, runs};
use super::line::{AcpLine, AcpLineKind};
use super::recordings_tests::RECORDINGS;
use crate::agent::presets::preset;
use crate::agent::stream::stream_event::StreamEvent;
use crate::agent::stream::trouble::ModelTrouble;

/// Of a line that is too long only what is short is known.
#[test]
fn no_request_goes_unanswered_however_long_it_is() {
    let options = json!([{"optionId": "a", "kind": "allow_once"}, {"optionId": "r", "kind": "reject_once"}]);
    let effects = prompting().long_line(&request("\"x y\"", &options));
    let [AcpEffect::Sends(line), AcpEffect::Says(StreamEvent::Denied(denied))] = &effects[..] else { panic!("{effects:?}") };
    assert!(line.contains("\"r\"") && line.contains("x y") && denied.why.contains("too long"), "{effects:?}");
    let refused = prompting().long_line(r#"{"id":5,"method":"fs/write_text_file","params":{}}"#);
    assert!(matches!(&refused[..], [AcpEffect::Sends(line)] if line.contains("-32601")), "{refused:?}");
    assert_eq!(prompting().long_line(r#"{"id":3,"result":{"stopReason":"end_turn"}}"#), [AcpEffect::Ends]);
    assert_eq!(prompting().long_line(r#"{"method":"session/update"}"#), []);
    assert_eq!(prompting().long_line("a log of the agent's"), []);
    for (line, part) in [("{\"id\":5,\"meth", "cannot be read"), ("{\"x\":\"\"}", "cannot be read")] {
        assert!(failure(&prompting().long_line(line)).1.contains(part), "{line}");
    }
    let id = format!("\"{}\"", "x".repeat(100_000));
    assert!(failure(&prompting().line(&request(&id, &options))).1.contains("too long to be answered"));
    let mut client = prompting();
    assert_eq!(failure(&client.gives_up("why")).1, "why");
    assert_eq!(client.gives_up("why"), []);
}

/// What real agents said, damaged: nothing panics, and every request is answered, is asked about, or the turn ends.
#[test]
fn whatever_an_agent_says_no_request_is_left_open() {
    let said: Vec<String> = RECORDINGS
        .iter()
        .flat_map(|(_, recording)| runs(recording))
        .flat_map(|run| run.said)
        .map(|line| line.to_string())
        .collect();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |limit: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % limit as u64).unwrap()
    };
    for _ in 0..300 {
        let mut client = prompting();
        for _ in 0..20 {
            let mut line = said[below(said.len())].clone().into_bytes();
            for _ in 0..below(4) {
                let at = below(line.len());
                line[at] = b"{}[]\",:\\0-e\xff"[below(12)];
            }
            let text = String::from_utf8_lossy(&line);
            let effects = if below(5) == 0 { client.long_line(&text) } else { client.line(&text) };
            let is_request = AcpLine::of(&text).kind == AcpLineKind::Request;
            assert!(!is_request || !effects.is_empty(), "{text}");
            if effects.contains(&AcpEffect::Ends) {
                break;
            }
        }
        client.cancel();
    }
}

#[test]
fn a_turn_whose_last_words_are_those_of_a_trouble_has_failed_so() {
    let trouble = preset("codex-acp").unwrap().stream.trouble;
    let said = |text: &str, then: &str| {
        let (mut client, _) = AcpClient::begin(AcpOpening { trouble: trouble.clone(), ..AcpOpening::default() });
        client.line(r#"{"id":1,"result":{"protocolVersion":1}}"#);
        client.line(r#"{"id":2,"result":{"sessionId":"s"}}"#);
        let update =
            |update: Value| json!({"method": "session/update", "params": {"sessionId": "s", "update": update}}).to_string();
        client.line(&update(json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})));
        client.line(&update(json!({"sessionUpdate": then})));
        client.line(r#"{"id":3,"result":{"stopReason":"end_turn"}}"#)
    };
    let gave_up = "exceeded retry limit, last status: 429 Too Many Requests\n\n";
    assert_eq!(failure(&said(gave_up, "usage_update")).0, ModelTrouble::RateLimit);
    assert_eq!(failure(&said("exceeded retry limit, last status: 503 x", "usage_update")).0, ModelTrouble::Overload);
    assert_eq!(said(gave_up, "tool_call"), [AcpEffect::Ends]);
    assert_eq!(said(&format!("The log says: {gave_up}"), "usage_update"), [AcpEffect::Ends]);
}
