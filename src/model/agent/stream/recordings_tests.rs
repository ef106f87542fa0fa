//! The recordings of real programs in `fixtures/streams`, and what each of them says.

use super::decode::StreamDecoder;
use super::rules::AgentOutputStream;
use super::stream_event::StreamEvent;
use super::summary::StreamSummary;
use crate::agent::adapter::AgentAdapter;
use crate::agent::presets::preset;

macro_rules! recordings {
    ($($name:literal $preset:literal;)*) => {
        /// Names, presets and contents.
        pub(super) const RECORDINGS: &[(&str, &str, &[u8])] =
            &[$(($name, $preset, include_bytes!(concat!("../../../../fixtures/streams/", $name))),)*];
    };
}

recordings! {
    "claude.jsonl" "claude"; "claude-denied.jsonl" "claude"; "claude-error.jsonl" "claude";
    "codex.jsonl" "codex"; "codex-denied.jsonl" "codex"; "codex-error.jsonl" "codex";
    "gemini.jsonl" "gemini"; "gemini-denied.jsonl" "gemini"; "gemini-error.jsonl" "gemini";
    "opencode.jsonl" "opencode"; "opencode-denied.jsonl" "opencode"; "opencode-error.jsonl" "opencode";
    "pi.jsonl" "pi"; "pi-error.jsonl" "pi"; "aider.txt" "aider"; "aider-error.txt" "aider";
    "codex-sandbox.jsonl" "codex"; "codex-limited.jsonl" "codex"; "pi-limited.jsonl" "pi";
    "codex-rejected.stderr" "codex"; "gemini-sign-in.stderr" "gemini"; "pi-sign-in.stderr" "pi";
    "gemini-limited.jsonl" "gemini"; "gemini-limited.stderr" "gemini";
}

pub(super) fn seen<'a>(adapter: &AgentAdapter, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<StreamEvent> {
    seen_of(AgentOutputStream::Standard, adapter, pieces)
}

fn seen_of<'a>(
    output: AgentOutputStream,
    adapter: &AgentAdapter,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<StreamEvent> {
    let mut decoder = StreamDecoder::of(output, &adapter.stream, &adapter.tools);
    let mut all: Vec<StreamEvent> = pieces.into_iter().flat_map(|piece| decoder.feed(piece)).collect();
    all.extend(decoder.end());
    all
}

pub(super) fn recording(name: &str) -> (AgentAdapter, &'static [u8]) {
    let (_, program, bytes) = RECORDINGS.iter().find(|(recording, ..)| *recording == name).unwrap();
    (preset(program).unwrap(), bytes)
}

fn sum(adapter: &AgentAdapter, all: &[StreamEvent]) -> StreamSummary {
    let mut summary = StreamSummary::new(&adapter.stream);
    all.iter().for_each(|seen| summary.add(seen));
    summary
}

/// One line for each.
fn shown(all: &[StreamEvent]) -> String {
    let line = |seen: &StreamEvent| match seen {
        StreamEvent::Session { id } => format!("session {}", &id[..8]),
        StreamEvent::Text { text } => format!("text {text:?}"),
        StreamEvent::RequestSent(_) => "request".into(),
        StreamEvent::ResponseReceived(answer) => {
            assert_eq!(answer.hash.as_ref().map(String::len), Some(64));
            answer.id.as_ref().map_or_else(|| "response".into(), |id| format!("response {}", end(Some(id))))
        }
        StreamEvent::ToolStarted(call) => {
            assert_eq!(call.hash.len(), 64);
            format!("begins {} ({:?}) {} {}", call.name, call.kind, end(call.id.as_deref()), call.input)
        }
        StreamEvent::ToolCompleted(call) => {
            let failed = if call.failed { " failed" } else { "" };
            let exit = call.exit.map_or(String::new(), |status| format!(" exit {status}"));
            format!("ended {} {}{failed}{exit} {:?}", call.name, end(call.id.as_deref()), call.output)
        }
        StreamEvent::Denied(denied) => {
            let about = denied.about.as_ref().map_or_else(String::new, |about| format!("{about:?}: "));
            format!("denied {} {} {about}{:?}", denied.tool, end(denied.id.as_deref()), denied.why)
        }
        StreamEvent::Waits(waits) => {
            format!(
                "waits {:?} {:?} for {:?}: {}",
                waits.trouble,
                waits.status,
                waits.seconds,
                waits.why.chars().take(20).collect::<String>()
            )
        }
        StreamEvent::Usage(usage) => {
            format!("usage {:?} {:?} {:?} ${:?}", usage.input, usage.output, usage.cached, usage.cost_usd)
        }
        StreamEvent::Ended(ended) => format!("final {} {:?}", if ended.success { "success" } else { "failure" }, ended.text),
        StreamEvent::Failed(failed) => format!("error {:?} {:?} {}", failed.trouble, failed.status, &failed.message),
    };
    let lines: Vec<String> = all.iter().map(line).collect();
    lines.join("\n").replace("Some(", "(").replace("None", "-")
}

/// The end of a long id.
fn end(id: Option<&str>) -> &str {
    id.map_or("-", |id| &id[id.len().saturating_sub(6)..])
}

/// The sum in one line.
fn shown_sum(sum: &StreamSummary) -> String {
    let usage = sum.usage;
    let mut line = format!(
        "= {:?} {:?} {:?} ${:?}, {} texts, {} calls, {} requests, {} refused, {} open",
        usage.input,
        usage.output,
        usage.cached,
        usage.cost_usd,
        sum.texts,
        sum.calls.count,
        sum.requests,
        sum.calls.denied.len(),
        sum.calls.begun.len()
    );
    let ended = sum.ended.as_ref().map(|ended| if ended.success { "success" } else { "failure" });
    line.push_str(&format!(", {}", ended.unwrap_or("no end")));
    if let Some(failed) = &sum.failed {
        line.push_str(&format!(", {:?}", failed.trouble));
    }
    line.replace("Some(", "(").replace("None", "-")
}

fn output_of(name: &str) -> AgentOutputStream {
    if name.ends_with(".stderr") { AgentOutputStream::Error } else { AgentOutputStream::Standard }
}

pub(super) fn check(name: &str, expected: &str) {
    let (adapter, bytes) = recording(name);
    let all = seen_of(output_of(name), &adapter, [bytes]);
    let found = format!("{}\n{}", shown(&all), shown_sum(&sum(&adapter, &all)));
    assert!(found == expected.trim(), "{name}:\n{found}\n");
}

/// A last line without its line end counts, and how the bytes come makes no difference.
#[test]
fn the_pieces_in_which_bytes_come_make_no_difference() {
    for (name, program, bytes) in RECORDINGS {
        let adapter = preset(program).unwrap();
        let output = output_of(name);
        let whole = seen_of(output, &adapter, [*bytes]);
        assert!(!whole.is_empty(), "{name}");
        assert_eq!(seen_of(output, &adapter, bytes.chunks(1)), whole, "{name}");
        assert_eq!(seen_of(output, &adapter, [bytes.trim_ascii_end()]), whole, "{name}");
        for size in [2, 3, 7, 64, 1000, 4096] {
            assert_eq!(seen_of(output, &adapter, bytes.chunks(size)), whole, "{name} {size}");
        }
        let windows = bytes.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]);
        assert_eq!(seen_of(output, &adapter, [&windows[..]]), whole, "{name}");
    }
}
