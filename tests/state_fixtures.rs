//! One stored log per kind of damage, in `fixtures/logs/`: what loading says of it, what a look finds, and that every
//! choice of recovery gives a log that works, killed at every step too.
//!
//! `AXIOM_WRITE_FIXTURES=1 cargo test --test state_fixtures` makes them anew; without it, they are compared.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic)]

mod state_support;

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use git_axiom::domain::event::{By, Envelope, Event};
use git_axiom::domain::ids::TxnId;
use git_axiom::error::{Code, Exit};
use git_axiom::ops::log_recovery::{Beginning, begin_anew, look};
use git_axiom::store::handle::Store;
use git_axiom::store::layout::Layout;
use git_axiom::store::rebuild::{Source, is_adopted};
use git_axiom::store::{line, log, snapshot};
use state_support::{Choice, author, propose, task};

/// The files of a store, by their path below `axiom/`.
type Files = BTreeMap<&'static str, Vec<u8>>;

const LOG: &str = "state/events.jsonl";
const SEALED: &str = "state/events-00000000000000000001.jsonl";
const BACKUP: &str = "state/events.jsonl.backup";
const SNAPSHOT: &str = "state/snapshot.json";
const CASES: &str = "cases.jsonl";

/// Twenty-four events of many kinds, with fixed times.
fn history() -> Vec<Envelope> {
    let mut state = git_axiom::domain::state::State::default();
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

fn lines(history: &[Envelope]) -> Vec<u8> {
    history.iter().flat_map(|envelope| line::encode(envelope).unwrap()).collect()
}

/// Bytes of the first `count` lines.
fn first(bytes: &[u8], count: usize) -> usize {
    bytes.split_inclusive(|byte| *byte == b'\n').take(count).map(<[u8]>::len).sum()
}

/// A sound store: the log with a snapshot at event 16, a backup of 20 events, the cases.
fn sound(history: &[Envelope], sealed_at: Option<usize>) -> Files {
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
    let mut state = git_axiom::domain::state::State::default();
    history[..16].iter().for_each(|envelope| state.apply(envelope).unwrap());
    let active = &history[sealed_at.unwrap_or(0)..16];
    let bytes = lines(active);
    let position = log::Position {
        first: active[0].seq,
        offset: bytes.len() as u64,
        sum: line::sum_of(&bytes[..bytes.len() - 1][bytes[..bytes.len() - 1].iter().rposition(|b| *b == b'\n').unwrap() + 1..]),
    };
    snapshot::save(&layout, &state, position).unwrap();
    files.insert(SNAPSHOT, std::fs::read(layout.snapshot()).unwrap());
    let full = Store::load(layout.clone()).unwrap();
    git_axiom::store::cases::rewrite(&layout, full.state()).unwrap();
    files.insert(CASES, std::fs::read(layout.cases()).unwrap());
    files
}

fn flip(bytes: &mut [u8], line: usize) {
    let at = first(bytes, line - 1) + 60;
    bytes[at] ^= 4;
}

fn summed(mut body: Vec<u8>) -> Vec<u8> {
    let sum = crc32c::crc32c(&body);
    body.extend(format!(",\"sum\":\"{sum:08x}\"}}\n").as_bytes());
    body
}

/// Every fixture: its name, its files, and what loading it gives.
fn fixtures() -> Vec<(&'static str, Files, Result<u64, Code>)> {
    let history = history();
    let good = || sound(&history, None);
    let change = |change: &dyn Fn(&mut Files)| {
        let mut files = good();
        change(&mut files);
        files
    };
    let log_only = |bytes: Vec<u8>| Files::from([(LOG, bytes)]);
    let all = lines(&history);
    let event = |seq: u64, event: &str| {
        summed(format!(r#"{{"v":1,"seq":{seq},"at":"2026-01-13T10:01:00Z","txn":"t9","by":"user","event":{event}"#).into_bytes())
    };
    let with = |line: Vec<u8>| [lines(&history[..23]), line].concat();
    let missing = |files: &mut Files| drop(files.remove(SEALED));
    let mut no_segment = sound(&history, Some(8));
    missing(&mut no_segment);
    no_segment.remove(SNAPSHOT);
    let mut flipped = all.clone();
    flip(&mut flipped, 20);
    let mut bad_json = lines(&history[..19]);
    bad_json.extend(b"{\"v\":1,\"seq\":20,\"at\":\n");
    bad_json.extend(lines(&history[20..]));
    vec![
        ("good-v1", good(), Ok(24)),
        ("good-v1-sealed", sound(&history, Some(8)), Ok(24)),
        ("torn-last-line", change(&|files| files.get_mut(LOG).unwrap().truncate(all.len() - 30)), Ok(23)),
        ("snapshot-damaged", change(&|files| files.get_mut(SNAPSHOT).unwrap()[400] ^= 1), Ok(24)),
        ("bad-line-before-snapshot", change(&|files| flip(files.get_mut(LOG).unwrap(), 3)), Ok(24)),
        ("corrupted-bit-flip", change(&|files| flip(files.get_mut(LOG).unwrap(), 20)), Err(Code::EventLogCorrupted)),
        ("corrupted-bit-flip-log-only", log_only(flipped), Err(Code::EventLogCorrupted)),
        ("corrupted-json", log_only(bad_json), Err(Code::EventLogCorrupted)),
        (
            "truncated-before-snapshot",
            change(&|files| files.get_mut(LOG).unwrap().truncate(first(&all, 10))),
            Err(Code::EventLogTruncated),
        ),
        ("truncated-log-gone", change(&|files| drop(files.remove(LOG))), Err(Code::EventLogTruncated)),
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
        ("too-new-v2", log_only(with(summed(br#"{"v":2,"number":24,"what":{}"#.to_vec()))), Err(Code::EventLogTooNew)),
    ]
}

fn place(files: &Files, folder: &Path) -> Layout {
    let root = folder.join("axiom");
    for (path, bytes) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    Layout::new(folder)
}

fn stored(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs").join(name)
}

#[test]
fn the_fixtures_are_what_the_generator_makes() {
    for (name, files, _) in fixtures() {
        let root = stored(name).join("axiom");
        if std::env::var_os("AXIOM_WRITE_FIXTURES").is_some() {
            let _ = std::fs::remove_dir_all(&root);
            place(&files, &stored(name));
        }
        for (path, bytes) in &files {
            let found = std::fs::read(root.join(path)).unwrap_or_else(|e| panic!("{name}/{path}: {e}"));
            assert!(found == *bytes, "{name}/{path} differs: the stored format has changed");
        }
        let count =
            walkdir::WalkDir::new(&root).into_iter().filter(|entry| entry.as_ref().unwrap().file_type().is_file()).count();
        assert_eq!(count, files.len(), "{name} has files that the generator does not make");
    }
}

/// A copy of the stored fixture, to be changed at will.
fn copy(name: &str) -> (tempfile::TempDir, Layout) {
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

#[test]
fn each_damage_has_its_code_and_exit_status() {
    for (name, _, expected) in fixtures() {
        let (_dir, layout) = copy(name);
        match (Store::load(layout), expected) {
            (Ok(store), Ok(seq)) => {
                assert_eq!(store.state().seq, seq, "{name}");
                assert_eq!(store.warnings().len(), usize::from(name == "snapshot-damaged"), "{name}");
            }
            (Err(error), Err(code)) => {
                assert_eq!(error.code(), code, "{name}: {error}");
                assert_eq!(error.code().exit(), Exit::Damaged, "{name}");
                assert!(!error.hints().is_empty(), "{name} gives no hint");
            }
            (found, expected) => panic!("{name}: {expected:?} expected, {:?} found", found.map(|store| store.state().seq)),
        }
    }
}

#[test]
fn a_look_reports_what_is_there_and_changes_nothing() {
    let mut report = String::new();
    for (name, files, expected) in fixtures() {
        let (dir, layout) = copy(name);
        let found = match look(&layout) {
            Ok(found) => found,
            Err(error) => {
                assert_eq!(Err(error.code()), expected, "{name}");
                report.push_str(&format!("{name}: {}\n", error.code()));
                continue;
            }
        };
        assert_eq!(found.error().map(|error| error.code()), expected.err(), "{name}");
        let from: Vec<_> =
            found.choices.iter().map(|c| c.seq.map_or(c.from.clone(), |seq| format!("{}@{seq}", c.from))).collect();
        report.push_str(&format!(
            "{name}: good {}, bad {:?}, after {}, torn {}, next {}: {}\n",
            found.good_events,
            found.first_bad.as_ref().map(|bad| bad.code),
            found.good_after,
            found.torn,
            found.next_seq,
            from.join(" ")
        ));
        for (path, bytes) in files {
            assert!(std::fs::read(dir.path().join("axiom").join(path)).unwrap() == bytes, "{name}: {path} was changed");
        }
    }
    insta::assert_snapshot!(report, @r#"
    good-v1: good 24, bad None, after 0, torn 0, next 25: snapshot@16 events@24 backup@20 cases fresh
    good-v1-sealed: good 24, bad None, after 0, torn 0, next 25: snapshot@16 events@24 backup@20 cases fresh
    torn-last-line: good 23, bad None, after 0, torn 231, next 25: snapshot@16 events@23 backup@20 cases fresh
    snapshot-damaged: good 24, bad None, after 0, torn 0, next 25: events@24 backup@20 cases fresh
    bad-line-before-snapshot: good 2, bad Some("EVENT_LOG_CORRUPTED"), after 21, torn 0, next 26: snapshot@16 partial@24 backup@20 cases fresh
    corrupted-bit-flip: good 19, bad Some("EVENT_LOG_CORRUPTED"), after 4, torn 0, next 26: snapshot@16 partial@19 backup@20 cases fresh
    corrupted-bit-flip-log-only: good 19, bad Some("EVENT_LOG_CORRUPTED"), after 4, torn 0, next 26: partial@19 fresh
    corrupted-json: good 19, bad Some("EVENT_LOG_CORRUPTED"), after 4, torn 0, next 26: partial@19 fresh
    truncated-before-snapshot: good 10, bad None, after 0, torn 0, next 25: snapshot@16 events@10 backup@20 cases fresh
    truncated-log-gone: good 0, bad None, after 0, torn 0, next 25: snapshot@16 backup@20 cases fresh
    truncated-line-missing: good 11, bad Some("EVENT_LOG_TRUNCATED"), after 12, torn 0, next 25: partial@11 fresh
    truncated-segment-missing: good 0, bad Some("EVENT_LOG_TRUNCATED"), after 16, torn 0, next 25: cases fresh
    schema-unknown-event: good 23, bad Some("EVENT_SCHEMA_INVALID"), after 0, torn 0, next 25: partial@23 fresh
    schema-event-does-not-fit: good 23, bad Some("EVENT_SCHEMA_INVALID"), after 0, torn 0, next 25: partial@23 fresh
    too-new-v2: EVENT_LOG_TOO_NEW
    "#);
}

/// From every choice: the log works, the numbers go on above all known ones, the old files are kept, a second run does
/// nothing.
#[test]
fn every_choice_of_recovery_gives_a_log_that_works() {
    for (name, files, expected) in fixtures().into_iter().filter(|(_, _, expected)| *expected != Err(Code::EventLogTooNew)) {
        let choices = look(&copy(name).1).unwrap().choices;
        for choice in choices {
            let (_dir, layout) = copy(name);
            let what = format!("{name} from {}", choice.from);
            let next = look(&layout).unwrap().next_seq;
            let done = begin_anew(&layout, &author().txn, Beginning::Stored(choice.source)).unwrap();
            assert_eq!((done.seq, done.cases as u64), (next, choice.cases), "{what}");
            assert!(expected.is_err() || next > expected.unwrap(), "{what}");
            let kept = done.kept.clone().unwrap();
            for (path, bytes) in &files {
                let name = Path::new(path).file_name().unwrap();
                assert!(std::fs::read(kept.join(name)).unwrap() == *bytes, "{what}: {path} is not kept");
            }
            check_works(&layout, &what, &choice.from);
        }
    }
}

fn check_works(layout: &Layout, what: &str, from: &str) {
    let again = begin_anew(layout, &author().txn, Beginning::Stored(from.parse().unwrap())).unwrap();
    assert_eq!(again.kept, None, "{what}: a second run has nothing to do");
    let found = look(layout).unwrap();
    assert!(found.is_sound(), "{what}: {found:?}");
    let mut store = Store::load(layout.clone()).unwrap();
    let cases = git_axiom::store::cases::load(layout).unwrap();
    assert_eq!(cases.cases, store.state().restorable.cases, "{what}");
    store.append(&author(), vec![Event::CasesAdded { cases: vec![task("one-more")] }]).unwrap();
    store.save_snapshot().unwrap();
    let loaded = Store::load(layout.clone()).unwrap();
    assert_eq!(loaded.state(), store.state(), "{what}");
    let mut replayed = git_axiom::domain::state::State::default();
    log::read_after(layout, 0, None, |envelope| replayed.apply(&envelope)).unwrap();
    assert_eq!(&replayed, store.state(), "{what}");
}

/// Not a test by itself: a process that recovers the log in the folder that it is given.
#[test]
#[ignore = "a part that another test starts as a process"]
fn play() {
    let Some(folder) = std::env::var_os("AXIOM_TEST_FOLDER") else { return };
    let source = std::env::var("AXIOM_TEST_FROM").unwrap().parse().unwrap();
    begin_anew(&Layout::new(Path::new(&folder)), &author().txn, Beginning::Stored(source)).unwrap();
}

fn recover_in_a_process(folder: &Path, vars: &[(&str, &str)]) -> std::process::Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "play", "--ignored", "--nocapture"]).env("AXIOM_TEST_FOLDER", folder);
    command.envs(vars.iter().copied()).stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap()
}

#[test]
fn recovery_killed_at_every_fault_point_leaves_the_old_log_or_the_new_one() {
    let (name, from) = ("good-v1-sealed", ("AXIOM_TEST_FROM", "snapshot"));
    let (dir, _layout) = copy(name);
    let list = dir.path().join("points");
    assert!(recover_in_a_process(dir.path(), &[from, ("AXIOM_TEST_FAULT_LOG", list.to_str().unwrap())]).status.success());
    let text = std::fs::read_to_string(list).unwrap();
    let points: Vec<_> = text.lines().collect();
    for point in ["adopt.before-keep", "adopt.before-commit", "adopt.after-commit", "adopt.before-put-aside"] {
        assert!(points.contains(&point), "{point} is not reached");
    }
    let mut sides = [0, 0];
    for (index, point) in points.iter().enumerate() {
        let hit = points[..=index].iter().filter(|other| other == &point).count();
        let fault = format!("{point}:{hit}");
        let (dir, layout) = copy(name);
        let output = recover_in_a_process(dir.path(), &[from, ("AXIOM_TEST_FAULT", &fault)]);
        assert_eq!(output.status.signal(), Some(9), "{fault}: {}", String::from_utf8_lossy(&output.stderr));
        let store = Store::load(layout.clone()).unwrap_or_else(|error| panic!("{fault}: {error}"));
        let adopted = is_adopted(&layout, "snapshot").unwrap();
        assert!(adopted || store.state().seq == 24, "{fault}");
        sides[usize::from(adopted)] += 1;
        begin_anew(&layout, &author().txn, Beginning::Stored(Source::Snapshot)).unwrap();
        assert_eq!(Store::load(layout.clone()).unwrap().state().seq, 25, "{fault}");
        check_works(&layout, &fault, "snapshot");
    }
    assert!(sides[0] > 3 && sides[1] > 2, "{sides:?}");
}
