//! The fixtures in `fixtures/logs/`: sound logs, one log per kind of damage, and what makes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use git_axiom::base::error::Code;
use git_axiom::model::base::ids::OperationId;
use git_axiom::model::base::sealed;
use git_axiom::model::state::current_state::State;
use git_axiom::model::state::event_envelope::{EventAuthor, EventEnvelope};
use git_axiom::store::beside::tasks;
use git_axiom::store::layout::StoreLayout;
use git_axiom::store::log_files::{line, log};
use git_axiom::store::states::handle::Store;
use git_axiom::store::states::snapshot;

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
pub fn history() -> Vec<EventEnvelope> {
    let mut state = State::default();
    let mut found: Vec<EventEnvelope> = Vec::new();
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
        let by = if found.len() < 6 { EventAuthor::User } else { EventAuthor::Supervisor };
        let txn = OperationId::new(format!("t{}", found.len() / 4)).unwrap();
        let envelope = EventEnvelope { seq: state.seq + 1, at, txn, by, event };
        state.apply(&envelope).unwrap_or_else(|error| panic!("{choice:?}: {error}"));
        found.push(envelope);
    }
    found
}

pub fn lines(history: &[EventEnvelope]) -> Vec<u8> {
    history.iter().flat_map(|envelope| line::encode(envelope).unwrap()).collect()
}

/// Bytes of the first `count` lines.
pub fn first(bytes: &[u8], count: usize) -> usize {
    bytes.split_inclusive(|byte| *byte == b'\n').take(count).map(<[u8]>::len).sum()
}

/// A sound store: the log with a snapshot at event 16, a backup of 20 events, the tasks.
pub fn sound(history: &[EventEnvelope], sealed_at: Option<usize>) -> Files {
    let dir = tempfile::tempdir().unwrap();
    let layout = StoreLayout::new(dir.path());
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
    let active = &history[sealed_at.unwrap_or(0)..16];
    let bytes = lines(active);
    let position = log::LogPosition {
        first: active[0].seq,
        offset: bytes.len() as u64,
        sum: sealed::sum_of(&bytes[..bytes.len() - 1][bytes[..bytes.len() - 1].iter().rposition(|b| *b == b'\n').unwrap() + 1..]),
    };
    snapshot::save(&layout, &mut state, position, 16, &mut None).unwrap();
    files.insert(SNAPSHOT, std::fs::read(layout.snapshot()).unwrap());
    let full = Store::load(layout.clone()).unwrap();
    tasks::rewrite(&layout, full.state()).unwrap();
    files.insert(CASES, std::fs::read(layout.tasks()).unwrap());
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

/// Events of kinds that the history lacks.
const MORE: [&str; 28] = [
    r#"{"hookRan":{"run":{"event":"pre-task-start","hook":".axiom/hooks/pre-task-start","task":"a","tookMs":3,"failure":"exited with status 1","lines":["no"]}}}"#,
    r#"{"gateOpened":{"gate":{"id":"human-review-a","kind":"human_review","taskId":"a","reason":"no","cause":"hookVeto","openedAt":"2026-01-13T10:01:00Z"}}}"#,
    r#"{"tasksChanged":{"edits":[{"id":"task-13","changes":[{"verify":{"old":[],"new":["unit=make test","review=@reviewer"]}}]}]}}"#,
    r#"{"stepVerified":{"id":"task-13","of":"0000000000000000000000000000000000000009","result":{"command":"unit=make test","failure":"exited with status 1","lines":["no good"],"run":{"exit":1,"durationMs":1500,"tests":{"passed":15,"failed":5,"skipped":0},"reported":[{"score":0.5}]}}}}"#,
    r#"{"stepVerified":{"id":"task-13","of":"0000000000000000000000000000000000000009","result":{"command":"review=@reviewer","failure":"did not pass: no","lines":["no"],"run":{"exit":0,"durationMs":1500,"used":{"program":"claude","tokens":1200,"costUsd":0.25}}}}}"#,
    r#"{"taskClaimed":{"agent":"ed-001","task":"task-13"}}"#,
    r#"{"iterationIntended":{"agent":"ed-001","iteration":1,"token":"k24","from":"0000000000000000000000000000000000000009","exitCompletes":true}}"#,
    r#"{"signalled":{"agent":"ed-001","token":"k24","signal":{"kind":"estimate","seconds":1200}}}"#,
    r#"{"signalled":{"agent":"ed-001","token":"k24","signal":{"kind":"subtask","name":"parts","done":false,"planned":true}}}"#,
    r#"{"signalled":{"agent":"ed-001","token":"k24","signal":{"kind":"depends","names":["serde"]}}}"#,
    r#"{"signalled":{"agent":"ed-001","token":"k24","signal":{"kind":"requestSent","hash":"00ff"}}}"#,
    r#"{"signalled":{"agent":"ed-001","token":"k24","signal":{"kind":"responseReceived","id":"msg-1","hash":"00ff"}}}"#,
    r#"{"mergedBranchesLeave":{"refs":[{"name":"refs/heads/axiom/a","value":{"old":"0000000000000000000000000000000000000009","new":null}}]}}"#,
    r#"{"mergedBranchesLeft":{"gone":["refs/heads/axiom/a"]}}"#,
    r#"{"operationBegan":{"operation":{"kind":{"rollbackCheckpoint":{"checkpoint":"c"}},"title":"x","changes":{"mode":"autopilot","gates":{"g":null}}}}}"#,
    r#"{"operationEnded":{"end":"done","edits":[],"changes":{"mode":"autopilot","gates":{"g":null}}}}"#,
    r#"{"operationBegan":{"operation":{"kind":{"recoverFiles":{"task":"task-13"}},"title":"x"}}}"#,
    r#"{"operationEnded":{"end":"done","edits":[]}}"#,
    r#"{"gateOpened":{"gate":{"id":"disk-space","kind":"disk","reason":"no space","openedAt":"2026-01-13T10:01:00Z"}}}"#,
    r#"{"iterationEnded":{"agent":"ed-001","token":"k24","report":{"outcome":"stopped","from":"0000000000000000000000000000000000000009","to":"0000000000000000000000000000000000000009","durationMs":5,"conflictRound":2}}}"#,
    r#"{"recoveryDecided":{"agent":"ed-001","decision":{"action":"continue_task","reasoning":"its work is there","by":"rules","follow":"restartIteration"},"paused":true}}"#,
    r#"{"planned":{"step":{"started":{"plan":{"status":"planning","phase":"understand","goal":{"id":"goal-001","jtbd":"Keys"},"attempt":1,"lastCheckpoint":"2026-01-13T10:01:00Z"}}}}}"#,
    r#"{"planned":{"step":{"tasksMade":{"tasks":[{"id":"keys","kind":"task","title":"Store keys","status":"pending","createdAt":"2026-01-13T10:01:00Z"}],"approved":true}}}}"#,
    r#"{"planned":{"step":{"proposed":{"text":"so"}}}}"#,
    r#"{"planned":{"step":{"revised":{"feedback":"shorter"}}}}"#,
    r#"{"planned":{"step":{"proposed":{"text":"short"}}}}"#,
    r#"{"planned":{"step":{"checked":{"problems":[]}}}}"#,
    r#"{"planned":{"step":{"approved":{"version":2}}}}"#,
];

/// The history as builds from before the first release wrote it.
fn from_before(lines: &[u8]) -> Vec<u8> {
    let of = |line: &str| line.replacen("\"axiom\":1", "\"v\":6", 1).rsplit_once(",\"sum\"").unwrap().0.to_owned();
    std::str::from_utf8(lines).unwrap().lines().flat_map(|line| summed(of(line).into_bytes())).collect()
}

/// A fixture: its name, its files, and what loading it gives.
pub type Fixture = (&'static str, Files, Result<u64, Code>);

fn line(seq: u64, event: &str) -> Vec<u8> {
    let line = format!(r#"{{"axiom":1,"seq":{seq},"at":"2026-01-13T10:01:00Z","txn":"t9","by":"user","event":{event}"#);
    summed(line.into_bytes())
}

fn log_only(bytes: Vec<u8>) -> Files {
    Files::from([(LOG, bytes)])
}

/// Those that are sound.
fn whole(history: &[EventEnvelope]) -> Vec<Fixture> {
    let more = MORE.iter().zip(24..).flat_map(|(event, seq)| line(seq, event));
    vec![
        ("good", sound(history, None), Ok(24)),
        ("good-sealed", sound(history, Some(8)), Ok(24)),
        ("good-more", log_only(lines(&history[..23]).into_iter().chain(more).collect()), Ok(51)),
    ]
}

/// Where copies of the log are not what they should be: backups that were being rolled when all died, and snapshots of a later program and
/// of events that the log does not have.
fn of_copies(history: &[EventEnvelope]) -> Vec<Fixture> {
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
        ("snapshot-too-new", with_snapshot("\"axiom\":1,", "\"axiom\":99,"), Err(Code::EventLogTooNew)),
        ("snapshot-from-the-future", with_snapshot("\"seq\":16,", "\"seq\":99,"), Err(Code::EventLogTruncated)),
    ]
}

/// What a later program wrote, and one from before the first release.
fn of_other_versions(history: &[EventEnvelope]) -> Vec<Fixture> {
    let mut old = sound(history, None);
    [LOG, BACKUP].into_iter().for_each(|file| *old.get_mut(file).unwrap() = from_before(&old[file]));
    let snapshot = rewritten(&old[SNAPSHOT], "\"axiom\":1,", "\"v\":8,");
    old.insert(SNAPSHOT, snapshot);
    let newer = summed(br#"{"axiom":99,"number":24,"what":{}"#.to_vec());
    vec![
        ("too-new", log_only([lines(&history[..23]), newer].concat()), Err(Code::EventLogTooNew)),
        ("too-old", old, Err(Code::EventLogTooOld)),
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
    let event = |seq, event| line(seq, event);
    let with = |line: Vec<u8>| [lines(&history[..23]), line].concat();
    let missing = |files: &mut Files| drop(files.remove(SEALED));
    let mut no_segment = sound(&history, Some(8));
    missing(&mut no_segment);
    no_segment.remove(SNAPSHOT);
    let mut bad_segment = sound(&history, Some(8));
    bad_segment.remove(SNAPSHOT);
    flip(bad_segment.get_mut(SEALED).unwrap(), 3);
    let only_tasks = Files::from([(CASES, good()[CASES].clone())]);
    let emptied = Files::from([(CASES, good()[CASES].clone()), (LOG, Vec::new())]);
    let mut flipped = all.clone();
    flip(&mut flipped, 20);
    let mut bad_json = lines(&history[..19]);
    bad_json.extend(b"{\"axiom\":1,\"seq\":20,\"at\":\n");
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
        ("truncated-only-tasks-left", only_tasks, Err(Code::EventLogTruncated)),
        ("truncated-only-an-empty-log-and-tasks-left", emptied, Err(Code::EventLogTruncated)),
        (
            "truncated-line-missing",
            log_only([lines(&history[..11]), lines(&history[12..])].concat()),
            Err(Code::EventLogTruncated),
        ),
        ("truncated-segment-missing", no_segment, Err(Code::EventLogTruncated)),
        ("schema-unknown-event", log_only(with(event(24, r#"{"caseTeleported":{"id":"a"}}"#))), Err(Code::EventSchemaInvalid)),
        (
            "schema-event-does-not-fit",
            log_only(with(event(24, r#"{"audited":{"id":"no-such-task","text":"x"}}"#))),
            Err(Code::EventSchemaInvalid),
        ),
    ];
    [whole(&history), of_copies(&history), damaged, of_other_versions(&history)].concat()
}

pub fn place(files: &Files, folder: &Path) -> StoreLayout {
    let root = folder.join("axiom");
    for (path, bytes) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    StoreLayout::new(folder)
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
pub fn copy(name: &str) -> (tempfile::TempDir, StoreLayout) {
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
    let layout = StoreLayout::new(dir.path());
    (dir, layout)
}
