//! The event log among processes: appending at once, reading meanwhile, dying at every fault point, full disks.
//!
//! The processes are this test program itself, started again with a part to play.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::{author, task};
use git_axiom::base::error::Code;
use git_axiom::model::state::current_state::State;
use git_axiom::model::state::event::Event;
use git_axiom::store::beside::tasks;
use git_axiom::store::layout::StoreLayout;
use git_axiom::store::log_files::{log, segments};
use git_axiom::store::states::handle::Store;

const PART: &str = "AXIOM_TEST_PART";
const FOLDER: &str = "AXIOM_TEST_FOLDER";

fn add(id: &str) -> Event {
    Event::TasksAdded { tasks: vec![task(id)] }
}

fn start(part: &str, folder: &Path, vars: &[(&str, &str)]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "processes::play", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(PART, part).env(FOLDER, folder).envs(vars.iter().copied());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn finish(child: Child) {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
}

/// What the started processes do. Not a test by itself.
#[test]
#[ignore = "a part that other tests start as a process"]
fn play() {
    let Ok(part) = std::env::var(PART) else { return };
    let layout = StoreLayout::new(Path::new(&std::env::var(FOLDER).unwrap()));
    let mut store = Store::load(layout.clone()).unwrap();
    let (part, argument) = part.split_once(' ').unwrap();
    match part {
        // Appends a hundred tasks, one by one, each acknowledged.
        "append" => {
            for i in 0..100 {
                store.append(&author(), vec![add(&format!("{argument}-{i}"))]).unwrap();
            }
        }
        // One append of one task, an audit in a second one, a snapshot, a seal: every durable step there is.
        "steps" => {
            store.append(&author(), vec![add(argument)]).unwrap();
            println!("acknowledged");
            store.save_snapshot().unwrap();
            if let Some(first) = segments::list(&layout).unwrap().last().unwrap().first {
                segments::seal(&layout, first).unwrap();
            }
            Store::load(layout).unwrap().append(&author(), vec![add(&format!("{argument}-later"))]).unwrap();
        }
        "fill" => {
            let text = "x".repeat(900);
            loop {
                let id = format!("fill-{}", store.state().seq);
                let case = git_axiom::model::work::tasks::task::Task { title: text.clone(), ..task(&id) };
                if let Err(error) = store.append(&author(), vec![Event::TasksAdded { tasks: vec![case] }]) {
                    assert!(matches!(error.code(), Code::DiskFull | Code::IoFailed), "{error}");
                    break;
                }
                assert!(store.state().seq < 20_000, "nothing ever failed");
            }
            let seq = store.state().seq;
            assert_eq!(Store::load(layout).unwrap().state().seq, seq, "acknowledged and stored are the same");
            std::fs::write(Path::new(argument), seq.to_string()).unwrap();
        }
        other => panic!("no part {other}"),
    }
}

fn replayed(layout: &StoreLayout) -> State {
    let mut state = State::default();
    log::read_after(layout, 0, None, |envelope| state.apply(&envelope)).unwrap();
    state
}

#[test]
fn processes_that_append_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let layout = StoreLayout::new(dir.path());
    let names = ["a", "b", "c", "d"];
    names.map(|name| start(&format!("append {name}"), dir.path(), &[])).into_iter().for_each(finish);
    let state = replayed(&layout);
    let all: BTreeSet<_> = state.restorable.tasks.keys().map(ToString::to_string).collect();
    assert_eq!(all, names.iter().flat_map(|name| (0..100).map(move |i| format!("{name}-{i}"))).collect());
    assert_eq!(state.seq, 400);
    assert_eq!(Store::load(layout.clone()).unwrap().state(), &state);
    assert_eq!(tasks::load(&layout).unwrap().tasks, state.restorable.tasks);
}

/// Readers load and follow, without a lock, while others append and the log is sealed again and again.
#[test]
fn readers_see_whole_lines_only_and_never_go_back() {
    let dir = tempfile::tempdir().unwrap();
    let layout = StoreLayout::new(dir.path());
    let mut writers: Vec<_> = ["a", "b"].map(|name| start(&format!("append {name}"), dir.path(), &[])).into_iter().collect();
    let mut follower = Store::load(layout.clone()).unwrap();
    let (mut seq, mut looks, mut seals) = (0, 0, 0);
    loop {
        let done = writers.iter_mut().all(|writer| writer.try_wait().unwrap().is_some());
        let loaded = Store::load(layout.clone()).unwrap();
        assert!(loaded.state().seq >= seq, "{} after {seq}", loaded.state().seq);
        seq = loaded.state().seq;
        follower.refresh().unwrap();
        assert!(follower.state().seq >= seq, "the follower is behind");
        seq = follower.state().seq;
        looks += 1;
        if looks % 5 == 0 && layout.locks().folder().is_dir() {
            let _lock =
                git_axiom::base::files::FileLock::take(&layout.locks().state(), std::time::Duration::from_secs(9)).unwrap();
            if let Some(Some(first)) = segments::list(&layout).ok().and_then(|all| all.last().map(|last| last.first)) {
                segments::seal(&layout, first).unwrap();
                seals += 1;
            }
        }
        if done {
            break;
        }
    }
    writers.into_iter().for_each(finish);
    assert_eq!(seq, 200);
    assert!(looks > 5 && seals > 0, "{looks} looks, {seals} seals");
    assert_eq!(follower.state(), &replayed(&layout));
}

/// Every prefix of a line that is being written is passed over, never taken for damage.
#[test]
fn a_line_that_is_being_written_is_not_seen() {
    let dir = tempfile::tempdir().unwrap();
    let layout = StoreLayout::new(dir.path());
    let mut store = Store::load(layout.clone()).unwrap();
    store.append(&author(), vec![add("a")]).unwrap();
    let one = std::fs::read(layout.events()).unwrap().len();
    store.append(&author(), vec![add("b")]).unwrap();
    let bytes = std::fs::read(layout.events()).unwrap();
    // Tasks are recorded after the line that changes them: while the very first one is written there are none.
    std::fs::remove_file(layout.tasks()).unwrap();
    for cut in 0..bytes.len() {
        std::fs::write(layout.events(), &bytes[..cut]).unwrap();
        let seen = Store::load(layout.clone()).unwrap().state().seq;
        assert_eq!(seen, u64::from(cut >= one), "cut at {cut}");
    }
}

/// A torn line is kept aside, cut off, and recorded; what follows it is as if it had never been.
#[test]
fn a_torn_line_is_kept_aside_cut_off_and_reported() {
    let dir = tempfile::tempdir().unwrap();
    let layout = StoreLayout::new(dir.path());
    let mut store = Store::load(layout.clone()).unwrap();
    store.append(&author(), vec![add("a")]).unwrap();
    let torn = br#"{"axiom":1,"seq":2,"at":"2026"#;
    let mut bytes = std::fs::read(layout.events()).unwrap();
    bytes.extend_from_slice(torn);
    std::fs::write(layout.events(), &bytes).unwrap();
    // Also where the change that follows is refused: the cut is recorded.
    let mut other = Store::load(layout.clone()).unwrap();
    assert_eq!(other.append(&author(), vec![add("a")]).unwrap_err().code(), Code::DuplicateId);
    let mut repaired = Vec::new();
    log::read_after(&layout, 0, None, |envelope| {
        if let Event::LogRepaired { bytes, kept } = envelope.event {
            repaired.push((bytes, kept));
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(repaired.len(), 1);
    assert_eq!(repaired[0].0, torn.len() as u64);
    assert_eq!(std::fs::read(&repaired[0].1).unwrap(), torn);
    store.append(&author(), vec![add("b")]).unwrap();
    assert_eq!(store.state(), &replayed(&layout));
    assert_eq!(store.state().seq, 3);
}

/// A reader that has seen lines of a write that then failed and was cut back starts anew instead of going its own way.
#[test]
fn a_log_that_was_cut_back_is_read_anew() {
    let dir = tempfile::tempdir().unwrap();
    let layout = StoreLayout::new(dir.path());
    let mut store = Store::load(layout.clone()).unwrap();
    store.append(&author(), vec![add("a")]).unwrap();
    let before = std::fs::read(layout.events()).unwrap();
    store.append(&author(), vec![add("b")]).unwrap();
    // Seen by the follower `store`; then gone, and something else of the same length is in its place.
    std::fs::write(layout.events(), &before).unwrap();
    store.refresh().unwrap();
    assert_eq!(store.state().restorable.tasks.len(), 1);
    store.append(&author(), vec![add("b")]).unwrap();
    std::fs::write(layout.events(), &before).unwrap();
    Store::load(layout.clone()).unwrap().append(&author(), vec![add("c")]).unwrap();
    store.append(&author(), vec![add("d")]).unwrap();
    let ids: Vec<_> = store.state().restorable.tasks.keys().map(ToString::to_string).collect();
    assert_eq!(ids, ["a", "c", "d"]);
    assert_eq!(store.state(), &replayed(&layout));
}

#[test]
fn an_older_snapshot_never_replaces_a_newer_one() {
    let dir = tempfile::tempdir().unwrap();
    let layout = StoreLayout::new(dir.path());
    let mut old = Store::load(layout.clone()).unwrap();
    old.append(&author(), vec![add("a")]).unwrap();
    let mut new = Store::load(layout.clone()).unwrap();
    new.append(&author(), vec![add("b")]).unwrap();
    new.save_snapshot().unwrap();
    let newer = std::fs::read(layout.snapshot()).unwrap();
    old.save_snapshot().unwrap();
    assert_eq!(std::fs::read(layout.snapshot()).unwrap(), newer);
}

/// Killed at each fault point in turn: before or after, never between; the next process goes on.
#[test]
fn killed_at_every_fault_point_the_log_holds_before_or_after() {
    let points = reached_points();
    for name in ["store.before-append", "store.after-append", "store.after-sync", "store.before-seal", "store.before-snapshot"] {
        assert!(points.iter().any(|(point, _)| point == name), "{name} is not reached: {points:?}");
    }
    let mut acknowledgements = 0;
    for (point, hit) in points {
        let dir = tempfile::tempdir().unwrap();
        let layout = prepared(dir.path());
        let fault = format!("{point}:{hit}");
        let output = start("steps x", dir.path(), &[("AXIOM_TEST_FAULT", &fault)]).wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(9), "{fault}: {}", String::from_utf8_lossy(&output.stderr));
        let mut store = Store::load(layout.clone()).unwrap();
        let tasks = &store.state().restorable.tasks;
        let (x, later) = (tasks.contains_key("x"), tasks.contains_key("x-later"));
        assert!(tasks.contains_key("first") && (x || !later), "{fault}");
        let acknowledged = String::from_utf8_lossy(&output.stdout).contains("acknowledged");
        assert!(x || !acknowledged, "{fault}: what was acknowledged is there");
        acknowledgements += usize::from(acknowledged);
        store.append(&author(), vec![add("next")]).unwrap();
        store.save_snapshot().unwrap();
        assert_eq!(Store::load(layout.clone()).unwrap().state(), store.state(), "{fault}");
        assert_eq!(&replayed(&layout), store.state(), "{fault}");
        assert_eq!(tasks::load(&layout).unwrap().tasks, store.state().restorable.tasks, "{fault}");
    }
    assert!(acknowledgements > 3, "the later points come after the acknowledgement");
}

/// What `cases.jsonl` could not take is in it again after whatever comes next: another change of a task, an event that has
/// nothing to do with it, a snapshot; by the same process or another; without its file, with a torn end, with an old one.
#[test]
fn tasks_that_could_not_be_recorded_are_caught_up() {
    type Harm = fn(&StoreLayout);
    let harms: [(&str, Harm); 3] = [
        ("a file that is gone", |layout| std::fs::remove_file(layout.tasks()).unwrap()),
        ("a torn end", |layout| {
            let bytes = std::fs::read(layout.tasks()).unwrap();
            std::fs::write(layout.tasks(), &bytes[..bytes.len() - 9]).unwrap();
        }),
        ("a write that failed", |_| {}),
    ];
    let audit = || Event::Audited { id: task("a").id, text: "seen".into() };
    type Next = fn(&mut Store, Event);
    let nexts: [(&str, Next); 4] = [
        ("an append", |store, _| drop(store.append(&author(), vec![add("c")]).unwrap())),
        ("another event", |store, audit| drop(store.append(&author(), vec![audit]).unwrap())),
        ("a snapshot", |store, _| store.save_snapshot().unwrap()),
        ("another process", |store, audit| {
            drop(Store::load(store.layout().clone()).unwrap().append(&author(), vec![audit]).unwrap());
            store.refresh().unwrap();
        }),
    ];
    for (harm, harmed) in harms {
        for (next, come) in nexts {
            for with_snapshot in [false, true] {
                let what = format!("{harm}, then {next}, snapshot before: {with_snapshot}");
                let dir = tempfile::tempdir().unwrap();
                let layout = StoreLayout::new(dir.path());
                let mut store = Store::load(layout.clone()).unwrap();
                store.append(&author(), vec![add("a")]).unwrap();
                if harm == "a write that failed" {
                    let aside = dir.path().join("aside");
                    std::fs::rename(layout.tasks(), &aside).unwrap();
                    std::fs::create_dir(layout.tasks()).unwrap();
                    store.append(&author(), vec![add("b")]).unwrap();
                    if with_snapshot {
                        store.save_snapshot().unwrap();
                    }
                    std::fs::remove_dir(layout.tasks()).unwrap();
                    std::fs::rename(&aside, layout.tasks()).unwrap();
                } else {
                    store.append(&author(), vec![add("b")]).unwrap();
                    if with_snapshot {
                        store.save_snapshot().unwrap();
                    }
                    harmed(&layout);
                }
                let mut store = Store::load(layout.clone()).unwrap();
                come(&mut store, audit());
                assert_eq!(tasks::load(&layout).unwrap().tasks, store.state().restorable.tasks, "{what}");
            }
        }
    }
}

/// A log with one event and the beginning of a second, so that cutting it off is among the steps.
fn prepared(folder: &Path) -> StoreLayout {
    let layout = StoreLayout::new(folder);
    Store::load(layout.clone()).unwrap().append(&author(), vec![add("first")]).unwrap();
    let mut bytes = std::fs::read(layout.events()).unwrap();
    bytes.extend_from_slice(b"{\"axiom\":1,\"seq\":2");
    std::fs::write(layout.events(), bytes).unwrap();
    layout
}

fn reached_points() -> Vec<(String, usize)> {
    let dir = tempfile::tempdir().unwrap();
    prepared(dir.path());
    let list = dir.path().join("points");
    finish(start("steps x", dir.path(), &[("AXIOM_TEST_FAULT_LOG", list.to_str().unwrap())]));
    let mut points: Vec<(String, usize)> = Vec::new();
    for line in std::fs::read_to_string(list).unwrap().lines() {
        let hit = points.iter().filter(|(name, _)| name == line).count() + 1;
        points.push((line.to_owned(), hit));
    }
    points
}

/// The file may not grow any more: the write fails half-way, and nothing is lost.
#[test]
fn a_write_that_fails_half_way_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let count = dir.path().join("count");
    let mut command = Command::new("sh");
    // 64 blocks of 512 bytes; the signal that goes with the limit is ignored, so that the write fails instead.
    command.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact processes::play --ignored --nocapture"]);
    command.arg(std::env::current_exe().unwrap());
    command.env(PART, format!("fill {}", count.display())).env(FOLDER, dir.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    finish(command.process_group(0).spawn().unwrap());
    after_failed_write(dir.path(), &count);
}

/// A real file system of 1 MiB, in a namespace of its own, that runs full.
#[test]
fn a_full_disk_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let count = dir.path().join("count");
    let (small, copy) = (dir.path().join("small"), dir.path().join("copy"));
    std::fs::create_dir(&small).unwrap();
    let script =
        "mount -t tmpfs -o size=1m tmpfs \"$1\" && \"$0\" --exact processes::play --ignored --nocapture && cp -a \"$1\" \"$2\"";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    command.arg(std::env::current_exe().unwrap()).args([&small, &copy]);
    command.env(PART, format!("fill {}", count.display())).env(FOLDER, &small).stdout(Stdio::null()).stderr(Stdio::piped());
    finish(command.spawn().unwrap());
    after_failed_write(&copy, &count);
}

fn after_failed_write(folder: &Path, count: &Path) {
    let acknowledged: u64 = std::fs::read_to_string(count).unwrap().parse().unwrap();
    assert!(acknowledged > 5, "{acknowledged}");
    let layout = StoreLayout::new(folder);
    let mut store = Store::load(layout.clone()).unwrap();
    assert_eq!(store.state().seq, acknowledged);
    assert_eq!(replayed(&layout), *store.state());
    store.append(&author(), vec![add("there-is-space-again")]).unwrap();
    assert_eq!(&replayed(&layout), store.state());
}
