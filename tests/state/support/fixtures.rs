//! The fixtures in `fixtures/logs/`: one stored log per kind of damage and per format version, and what makes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use git_axiom::domain::base::ids::TxnId;
use git_axiom::domain::base::sealed;
use git_axiom::domain::state::event::{By, Envelope, Event};
use git_axiom::domain::state::whole::State;
use git_axiom::error::Code;
use git_axiom::store::handle::Store;
use git_axiom::store::layout::Layout;
use git_axiom::store::{cases, line, log, snapshot};

use super::{Choice, propose};

/// The files of a store, by their path below `axiom/`.
pub type Files = BTreeMap<&'static str, Vec<u8>>;

pub const LOG: &str = "state/events.jsonl";
pub const SEALED: &str = "state/events-00000000000000000001.jsonl";
pub const BACKUP: &str = "state/events.jsonl.backup";
pub const OLDER_BACKUP: &str = "state/events.jsonl.backup.1";
/// What is left of a backup whose writing was cut off.
pub const UNFINISHED_BACKUP: &str = "state/.tmp-0123456789abcdef";
pub const SNAPSHOT: &str = "state/snapshot.json";
pub const CASES: &str = "cases.jsonl";

/// Twenty-four events of many kinds, with fixed times.
pub fn history() -> Vec<Envelope> {
    let mut state = State::default();
    let mut found: Vec<Envelope> = Vec::new();
    let wanted: [Choice; 24] = [
        (0, 8),
        (0, 13),
        (0, 20),
        (0, 28),
        (6, 5),
        (8, 0),
        (5, 3),
        (13, 4),
        (14, 9),
        (15, 77),
        (16, 14),
        (17, 12),
        (14, 10),
        (15, 78),
        (17, 6),
        (18, 0),
        (3, 1),
        (3, 112),
        (19, 4),
        (20, 0),
        (21, 0),
        (22, 3),
        (23, 3),
        (0, 33),
    ];
    for choice in wanted {
        let event = propose(&state, choice).unwrap_or_else(|| panic!("{choice:?} gives no event"));
        let at = format!("2026-01-13T10:00:{:02}.5Z", found.len()).parse().unwrap();
        let by = if found.len() < 6 { By::User } else { By::Supervisor };
        let txn = TxnId::new(format!("t{}", found.len() / 4)).unwrap();
        let envelope = Envelope { seq: state.seq + 1, at, txn, by, event };
        state.apply(&envelope).unwrap_or_else(|error| panic!("{choice:?}: {error}"));
        found.push(envelope);
    }
    found
}

pub fn lines(history: &[Envelope]) -> Vec<u8> {
    history.iter().flat_map(|envelope| line::encode(envelope).unwrap()).collect()
}

/// Bytes of the first `count` lines.
pub fn first(bytes: &[u8], count: usize) -> usize {
    bytes.split_inclusive(|byte| *byte == b'\n').take(count).map(<[u8]>::len).sum()
}

/// A sound store: the log with a snapshot at event 16, a backup of 20 events, the cases.
pub fn sound(history: &[Envelope], sealed_at: Option<usize>) -> Files {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::new(dir.path());
    layout.ensure().unwrap();
    let (old, new) = history.split_at(sealed_at.unwrap_or(0));
    let mut files = Files::new();
    if sealed_at.is_some() {
        files.insert(SEALED, lines(old));
    }
    files.insert(LOG, lines(new));
    files.insert(BACKUP, lines(&history[sealed_at.unwrap_or(0)..20]));
    place(&files, dir.path());
    let mut state = State::default();
    history[..16].iter().for_each(|envelope| state.apply(envelope).unwrap());
    // As version 1 wrote it: it kept no reports, and no sums but those by task.
    state.restorable.reports.clear();
    (state.record.ledger, state.record.session_spent, state.record.session_time) = Default::default();
    for record in state.record.cases.values_mut() {
        (record.tokens_doubt, record.cost_doubt, record.results) = Default::default();
        record.last_program.clear();
    }
    // It did not round costs. Only one case has any.
    let told =
        |envelope: &Envelope| if let Event::IterationEnded { report, .. } = &envelope.event { report.cost_usd } else { None };
    let mut costly = state.record.cases.values_mut().filter(|record| record.cost_usd.is_some());
    if let Some(record) = costly.next() {
        record.cost_usd = Some(history[..16].iter().filter_map(told).sum());
        assert!(costly.next().is_none());
    }
    let active = &history[sealed_at.unwrap_or(0)..16];
    let bytes = lines(active);
    let position = log::Position {
        first: active[0].seq,
        offset: bytes.len() as u64,
        sum: sealed::sum_of(&bytes[..bytes.len() - 1][bytes[..bytes.len() - 1].iter().rposition(|b| *b == b'\n').unwrap() + 1..]),
    };
    snapshot::save(&layout, &mut state, position, None, &mut None).unwrap();
    files.insert(SNAPSHOT, std::fs::read(layout.snapshot()).unwrap());
    let full = Store::load(layout.clone()).unwrap();
    cases::rewrite(&layout, full.state()).unwrap();
    files.insert(CASES, std::fs::read(layout.cases()).unwrap());
    files
}

pub fn flip(bytes: &mut [u8], line: usize) {
    let at = first(bytes, line - 1) + 60;
    bytes[at] ^= 4;
}

pub fn summed(mut body: Vec<u8>) -> Vec<u8> {
    let sum = crc32c::crc32c(&body);
    body.extend(format!(",\"sum\":\"{sum:08x}\"}}\n").as_bytes());
    body
}

/// A snapshot in which something else is written, with a checksum that fits.
fn rewritten(snapshot: &[u8], old: &str, new: &str) -> Vec<u8> {
    let text = std::str::from_utf8(snapshot).unwrap().replacen(old, new, 2);
    let (head, body) = text.split_once('\n').unwrap();
    let head = &head[..head.rfind(",\"sum\"").unwrap()];
    [sealed::seal(format!("{head}}}").into_bytes(), body.as_bytes()), body.as_bytes().to_vec()].concat()
}

/// What version 3 added: a hook that ran, and one that keeps a task.
fn hooked() -> Vec<u8> {
    let ran = r#"{"hookRan":{"run":{"event":"pre-task-start","hook":".axiom/hooks/pre-task-start","task":"a","tookMs":3,"failure":"exited with status 1","lines":["no"]}}}"#;
    let vetoed = r#"{"gateOpened":{"gate":{"id":"human-review-a","kind":"human_review","taskId":"a","reason":"no","cause":"hookVeto","openedAt":"2026-01-13T10:01:00Z"}}}"#;
    [line(3, 24, ran), line(3, 25, vetoed)].concat()
}

/// What version 4 added: an agent's estimate, a planned part, a library.
fn reported() -> Vec<u8> {
    let signal =
        |seq, signal: &str| line(4, seq, &format!(r#"{{"signalled":{{"agent":"ed-001","token":"k24","signal":{{{signal}}}}}}}"#));
    [
        line(1, 24, r#"{"taskClaimed":{"agent":"ed-001","task":"case-13"}}"#),
        line(1, 25, r#"{"iterationIntended":{"agent":"ed-001","iteration":1,"token":"k24","from":"0000000000000000000000000000000000000009","exitCompletes":true}}"#),
        signal(26, r#""kind":"estimate","seconds":1200"#),
        signal(27, r#""kind":"subtask","name":"parts","done":false,"planned":true"#),
        signal(28, r#""kind":"depends","names":["serde"]"#),
    ]
    .concat()
}

/// What version 5 added: a verify step with a name, and the result of a single step.
fn verified() -> Vec<u8> {
    let step = |seq, failure: &str| {
        let run = r#""run":{"exit":1,"durationMs":1500,"tests":{"passed":15,"failed":5,"skipped":0},"reported":[{"score":0.5}]}"#;
        let result = format!(r#"{{"command":"unit=make test",{failure}"lines":["no good"],{run}}}"#);
        let of = "0000000000000000000000000000000000000009";
        line(5, seq, &format!(r#"{{"stepVerified":{{"id":"case-13","of":"{of}","result":{result}}}}}"#))
    };
    [
        line(
            5,
            24,
            r#"{"casesChanged":{"edits":[{"id":"case-13","changes":[{"verify":{"old":[],"new":["unit=make test"]}}]}]}}"#,
        ),
        step(25, r#""failure":"exited with status 1","#),
        step(26, ""),
    ]
    .concat()
}

/// What version 6 added: a persona that looks at the work, what its program used, what is told of requests and answers, branches of
/// merged tasks that are deleted, files that come back from a capture, the gate of a full disk, what is decided after a
/// pause, and plans.
fn looked_at() -> Vec<u8> {
    let used = r#""used":{"program":"claude","tokens":1200,"costUsd":0.25}"#;
    let run = format!(r#""run":{{"exit":0,"durationMs":1500,{used}}}"#);
    let result = format!(r#"{{"command":"review=@reviewer","failure":"did not pass: no","lines":["no"],{run}}}"#);
    let of = "0000000000000000000000000000000000000009";
    let steps = r#"[{"verify":{"old":[],"new":["review=@reviewer"]}}]"#;
    let heard = |what: &str| format!(r#"{{"signalled":{{"agent":"ed-001","token":"k24","signal":{{"kind":{what}}}}}}}"#);
    [
        line(6, 24, &format!(r#"{{"casesChanged":{{"edits":[{{"id":"case-13","changes":{steps}}}]}}}}"#)),
        line(6, 25, &format!(r#"{{"stepVerified":{{"id":"case-13","of":"{of}","result":{result}}}}}"#)),
        line(6, 26, r#"{"taskClaimed":{"agent":"ed-001","task":"case-13"}}"#),
        line(6, 27, r#"{"iterationIntended":{"agent":"ed-001","iteration":1,"token":"k24","from":"0000000000000000000000000000000000000009","exitCompletes":true}}"#),
        line(6, 28, &heard(r#""requestSent","hash":"00ff""#)),
        line(6, 29, &heard(r#""responseReceived","id":"msg-1","hash":"00ff""#)),
        line(6, 30, &format!(r#"{{"mergedBranchesLeave":{{"refs":[{{"name":"refs/heads/axiom/a","value":{{"old":"{of}","new":null}}}}]}}}}"#)),
        line(6, 31, r#"{"mergedBranchesLeft":{"gone":["refs/heads/axiom/a"]}}"#),
        line(6, 32, r#"{"operationBegan":{"operation":{"kind":{"beginMerge":{"task":"case-13"}},"title":"x"}}}"#),
        line(6, 33, r#"{"operationEnded":{"end":"done","edits":[]}}"#),
        line(6, 34, r#"{"operationBegan":{"operation":{"kind":{"recoverFiles":{"task":"case-13"}},"title":"x"}}}"#),
        line(6, 35, r#"{"operationEnded":{"end":"done","edits":[]}}"#),
        line(6, 36, r#"{"gateOpened":{"gate":{"id":"disk-space","kind":"disk","reason":"no space","openedAt":"2026-01-13T10:01:00Z"}}}"#),
        line(6, 37, &format!(r#"{{"iterationEnded":{{"agent":"ed-001","token":"k24","report":{{"outcome":"stopped","from":"{of}","to":"{of}","durationMs":5,"conflictRound":2}}}}}}"#)),
        line(6, 38, r#"{"recoveryDecided":{"agent":"ed-001","decision":{"action":"continue_task","reasoning":"its work is there","by":"rules","follow":"restartIteration"},"paused":true}}"#),
        line(6, 39, r#"{"planned":{"step":{"started":{"plan":{"status":"planning","phase":"understand","directiveCase":{"id":"directive-001","jtbd":"Keys"},"attempt":1,"lastCheckpoint":"2026-01-13T10:01:00Z"}}}}}"#),
        line(6, 40, r#"{"planned":{"step":{"casesMade":{"cases":[{"id":"keys","kind":"task","title":"Store keys","status":"pending","createdAt":"2026-01-13T10:01:00Z"}],"approved":true}}}}"#),
        line(6, 41, r#"{"planned":{"step":{"proposed":{"text":"so"}}}}"#),
        line(6, 42, r#"{"planned":{"step":{"revised":{"feedback":"shorter"}}}}"#),
        line(6, 43, r#"{"planned":{"step":{"proposed":{"text":"short"}}}}"#),
        line(6, 44, r#"{"planned":{"step":{"checked":{"problems":[]}}}}"#),
        line(6, 45, r#"{"planned":{"step":{"approved":{"version":2}}}}"#),
    ]
    .concat()
}

/// A fixture: its name, its files, and what loading it gives.
pub type Fixture = (&'static str, Files, Result<u64, Code>);

fn line(version: u32, seq: u64, event: &str) -> Vec<u8> {
    let line = format!(r#"{{"v":{version},"seq":{seq},"at":"2026-01-13T10:01:00Z","txn":"t9","by":"user","event":{event}"#);
    summed(line.into_bytes())
}

fn log_only(bytes: Vec<u8>) -> Files {
    Files::from([(LOG, bytes)])
}

/// Those that are sound, as builds of each format wrote them.
fn of_each_format(history: &[Envelope]) -> Vec<Fixture> {
    let with = |line: Vec<u8>| [lines(&history[..23]), line].concat();
    let began = r#"{"operationBegan":{"operation":{"kind":{"rollbackCheckpoint":{"checkpoint":"c"}},"title":"x","changes":{"mode":"autopilot","gates":{"g":null}}}}}"#;
    let ended = r#"{"operationEnded":{"end":"done","edits":[],"changes":{"mode":"autopilot","gates":{"g":null}}}}"#;
    vec![
        ("good-v1", sound(history, None), Ok(24)),
        ("good-v1-sealed", sound(history, Some(8)), Ok(24)),
        ("good-v2", log_only(with([line(2, 24, began), line(2, 25, ended)].concat())), Ok(25)),
        ("good-v3", log_only(with(hooked())), Ok(25)),
        ("good-v4", log_only(with(reported())), Ok(28)),
        ("good-v5", log_only(with(verified())), Ok(26)),
        ("good-v6", log_only(with(looked_at())), Ok(45)),
    ]
}

/// Where copies of the log are not what they should be: backups that were being rolled when all died, and snapshots of a later program and
/// of events that the log does not have.
fn of_copies(history: &[Envelope]) -> Vec<Fixture> {
    let change = |change: &dyn Fn(&mut Files)| {
        let mut files = sound(history, None);
        change(&mut files);
        files
    };
    let with_snapshot = |old: &str, new: &str| {
        change(&|files| {
            let snapshot = files.get_mut(SNAPSHOT).unwrap();
            *snapshot = rewritten(snapshot, old, new);
        })
    };
    vec![
        // Killed between the move of the old backup and the writing of the new one, and while that was written.
        (
            "backup-rolled-halfway",
            change(&|files| {
                let old = files.remove(BACKUP).unwrap();
                files.insert(OLDER_BACKUP, old);
            }),
            Ok(24),
        ),
        (
            "corrupted-while-a-backup-is-rolled",
            change(&|files| {
                let old = files.remove(BACKUP).unwrap();
                files.insert(UNFINISHED_BACKUP, old[..old.len() / 2].to_vec());
                files.insert(OLDER_BACKUP, old);
                flip(files.get_mut(LOG).unwrap(), 20);
            }),
            Err(Code::EventLogCorrupted),
        ),
        ("snapshot-too-new", with_snapshot("\"v\":1,", "\"v\":99,"), Err(Code::EventLogTooNew)),
        ("snapshot-from-the-future", with_snapshot("\"seq\":16,", "\"seq\":99,"), Err(Code::EventLogTruncated)),
    ]
}

/// Every fixture.
pub fn fixtures() -> Vec<Fixture> {
    let history = history();
    let good = || sound(&history, None);
    let change = |change: &dyn Fn(&mut Files)| {
        let mut files = good();
        change(&mut files);
        files
    };
    let all = lines(&history);
    let event = |seq, event| line(1, seq, event);
    let with = |line: Vec<u8>| [lines(&history[..23]), line].concat();
    let missing = |files: &mut Files| drop(files.remove(SEALED));
    let mut no_segment = sound(&history, Some(8));
    missing(&mut no_segment);
    no_segment.remove(SNAPSHOT);
    let mut bad_segment = sound(&history, Some(8));
    bad_segment.remove(SNAPSHOT);
    flip(bad_segment.get_mut(SEALED).unwrap(), 3);
    let only_cases = Files::from([(CASES, good()[CASES].clone())]);
    let emptied = Files::from([(CASES, good()[CASES].clone()), (LOG, Vec::new())]);
    let mut flipped = all.clone();
    flip(&mut flipped, 20);
    let mut bad_json = lines(&history[..19]);
    bad_json.extend(b"{\"v\":1,\"seq\":20,\"at\":\n");
    bad_json.extend(lines(&history[20..]));
    let damaged = vec![
        ("torn-last-line", change(&|files| files.get_mut(LOG).unwrap().truncate(all.len() - 30)), Ok(23)),
        ("nothing", Files::from([(LOG, Vec::new())]), Ok(0)),
        (
            "line-twice",
            change(&|files| *files.get_mut(LOG).unwrap() = [&all[..first(&all, 20)], &all[first(&all, 19)..]].concat()),
            Ok(24),
        ),
        ("backup-half-written", change(&|files| files.get_mut(BACKUP).unwrap().truncate(first(&all, 20) - 30)), Ok(24)),
        ("snapshot-damaged", change(&|files| files.get_mut(SNAPSHOT).unwrap()[400] ^= 1), Ok(24)),
        ("bad-line-before-snapshot", change(&|files| flip(files.get_mut(LOG).unwrap(), 3)), Ok(24)),
        ("corrupted-bit-flip", change(&|files| flip(files.get_mut(LOG).unwrap(), 20)), Err(Code::EventLogCorrupted)),
        (
            "corrupted-snapshot-too",
            change(&|files| {
                files.get_mut(SNAPSHOT).unwrap()[400] ^= 1;
                flip(files.get_mut(LOG).unwrap(), 20);
            }),
            Err(Code::EventLogCorrupted),
        ),
        ("corrupted-bit-flip-log-only", log_only(flipped), Err(Code::EventLogCorrupted)),
        ("corrupted-segment", bad_segment, Err(Code::EventLogCorrupted)),
        ("corrupted-json", log_only(bad_json), Err(Code::EventLogCorrupted)),
        (
            "truncated-before-snapshot",
            change(&|files| files.get_mut(LOG).unwrap().truncate(first(&all, 10))),
            Err(Code::EventLogTruncated),
        ),
        ("truncated-log-gone", change(&|files| drop(files.remove(LOG))), Err(Code::EventLogTruncated)),
        ("truncated-only-cases-left", only_cases, Err(Code::EventLogTruncated)),
        ("truncated-only-an-empty-log-and-cases-left", emptied, Err(Code::EventLogTruncated)),
        (
            "truncated-line-missing",
            log_only([lines(&history[..11]), lines(&history[12..])].concat()),
            Err(Code::EventLogTruncated),
        ),
        ("truncated-segment-missing", no_segment, Err(Code::EventLogTruncated)),
        ("schema-unknown-event", log_only(with(event(24, r#"{"caseTeleported":{"id":"a"}}"#))), Err(Code::EventSchemaInvalid)),
        (
            "schema-event-does-not-fit",
            log_only(with(event(24, r#"{"audited":{"id":"no-such-case","text":"x"}}"#))),
            Err(Code::EventSchemaInvalid),
        ),
        ("too-new", log_only(with(summed(br#"{"v":99,"number":24,"what":{}"#.to_vec()))), Err(Code::EventLogTooNew)),
    ];
    [of_each_format(&history), of_copies(&history), damaged].concat()
}

pub fn place(files: &Files, folder: &Path) -> Layout {
    let root = folder.join("axiom");
    for (path, bytes) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    Layout::new(folder)
}

pub fn stored(name: &str) -> PathBuf {
    fixture("logs").join(name)
}

/// A file below `fixtures`. The target for fuzzing includes this file from a package of its own, one folder below.
pub fn fixture(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let above = here.parent().unwrap_or(here);
    let root = if here.join("fixtures").is_dir() { here } else { above };
    root.join("fixtures").join(name)
}

/// A copy of the stored fixture, to be changed at will.
pub fn copy(name: &str) -> (tempfile::TempDir, Layout) {
    let dir = tempfile::tempdir().unwrap();
    for entry in walkdir::WalkDir::new(stored(name)) {
        let entry = entry.unwrap();
        let target = dir.path().join(entry.path().strip_prefix(stored(name)).unwrap());
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(target).unwrap();
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
    let layout = Layout::new(dir.path());
    (dir, layout)
}
