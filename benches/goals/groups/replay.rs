//! Replaying a million events, checksums and state included, beside serde_json reading a whole file of the same events
//! with an internally tagged type (a `type` key within the object), neither checked nor applied.

use std::collections::BTreeMap;

use git_axiom::model::base::names::Oid;
use git_axiom::model::state::event::Event;
use git_axiom::store::layout::StoreLayout;
use git_axiom::store::log_files::{line, segments};
use git_axiom::store::states::handle::Store;
use serde::Deserialize;

use crate::bench::Bench;
use crate::history::{self, Writer};
use crate::measure::in_turns;
use crate::repositories;
use crate::row::{Goal, grouped};
use crate::scratch::Scratch;

const EVENTS: u64 = 1_000_000;
const CHECKPOINTS: usize = 20_000;
const ROUNDS: usize = 5;

/// What somebody would write who reads such a log with serde alone.
#[derive(Deserialize)]
#[allow(dead_code)]
struct Plain {
    v: u32,
    seq: u64,
    at: jiff::Timestamp,
    txn: String,
    by: String,
    event: PlainEvent,
    sum: String,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
#[allow(dead_code)]
enum PlainEvent {
    TasksAdded { tasks: Vec<serde_json::Value> },
    TaskClaimed { agent: String, task: String },
    IterationIntended { agent: String, iteration: u32, token: String },
    IterationStarted { agent: String, token: String, pid: u32 },
    Signalled { agent: String, token: String, signal: PlainSignal },
    IterationEnded { agent: String, token: String, report: PlainReport },
    WorkReleased { agent: String, status: String, reason: String, retry: bool },
    Audited { id: String, text: String },
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
#[allow(dead_code)]
enum PlainSignal {
    Progress { percent: u8 },
    ToolStarted { name: String },
    ToolCompleted { name: String },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code)]
struct PlainReport {
    outcome: BTreeMap<String, serde_json::Value>,
    exit_code: Option<i32>,
    from: String,
    to: String,
    files: Vec<String>,
    duration_ms: u64,
    tokens: Option<u64>,
    cost_usd: Option<f64>,
}

pub fn rows(bench: &mut Bench) {
    events(bench);
    checkpoints(bench);
}

fn events(bench: &mut Bench) {
    let scratch = Scratch::new();
    let layout = StoreLayout::new(&scratch.path("repo"));
    let mut writer = Writer::new(layout.clone());
    writer.push(Event::TasksAdded { tasks: (0..1000).map(history::task).collect() });
    for number in 0.. {
        if writer.state.seq >= EVENTS {
            break;
        }
        history::iteration(&mut writer, number);
    }
    writer.finish();
    let plain = scratch.path("plain.jsonl");
    std::fs::write(&plain, internally_tagged(&layout)).unwrap();
    let (seq, megabytes) = (writer.state.seq, writer.bytes / 1_000_000);
    drop(writer);
    let times = in_turns(ROUNDS, &mut || assert_eq!(Store::load(layout.clone()).unwrap().state().seq, seq), &mut || {
        let text = std::fs::read_to_string(&plain).unwrap();
        let events: u64 = text.lines().map(|line| serde_json::from_str::<Plain>(line).unwrap()).map(|_| 1).sum();
        assert_eq!(events, seq);
    });
    let what = format!("replay of {} events ({megabytes} MB)", grouped(seq as usize));
    bench.beside(&what, "serde_json, internally tagged", Goal::AtMost(0.55), times);
}

/// Nothing but checkpoints: each is looked up by name.
fn checkpoints(bench: &mut Bench) {
    let scratch = Scratch::new();
    let log = |count: usize| {
        let layout = StoreLayout::new(&scratch.path(&format!("with-{count}")));
        let mut writer = Writer::new(layout.clone());
        for number in 0..count {
            let id = |kind: u64| Oid::new(format!("{:040x}", number as u64 * 2 + kind)).unwrap();
            let checkpoint = repositories::checkpoint(&format!("c{number:05}"), number, id(0), id(1));
            writer.push(Event::CheckpointCreated { checkpoint });
        }
        writer.finish();
        layout
    };
    let (few, many) = (log(CHECKPOINTS / 4), log(CHECKPOINTS));
    let load = |layout: &StoreLayout| drop(Store::load(layout.clone()).unwrap());
    let (small, large) = in_turns(ROUNDS, &mut || load(&few), &mut || load(&many));
    bench.growth("replay of checkpoints", "checkpoints", Goal::AtMost(1.1), (CHECKPOINTS / 4, small), (CHECKPOINTS, large));
}

/// The same lines with `{"type":"audited",…}` instead of `{"audited":{…}}`.
fn internally_tagged(layout: &StoreLayout) -> Vec<u8> {
    let mut all = Vec::new();
    for segment in segments::list(layout).unwrap() {
        let bytes = std::fs::read(&segment.path).unwrap();
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let envelope = line::decode(line).unwrap();
            let tag = format!("\"event\":{{\"{}\":{{", envelope.event.name());
            let text = std::str::from_utf8(line).unwrap();
            let text = text.replacen(&tag, &format!("\"event\":{{\"type\":\"{}\",", envelope.event.name()), 1);
            all.extend(text.replacen("}},\"sum\"", "},\"sum\"", 1).as_bytes());
            all.push(b'\n');
        }
    }
    all
}
