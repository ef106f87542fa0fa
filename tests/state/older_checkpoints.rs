//! The older checkpoints in a file of their own: whatever happens to it, the state is that of the log.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic)]

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{author, checkpoint};
use git_axiom::base::error::Code;
use git_axiom::model::base::ids::CheckpointName;
use git_axiom::model::state::current_state::State;
use git_axiom::model::state::event::Event;
use git_axiom::safety::upkeep::log_recovery::{NewLogSource, SnapshotReport, begin_anew, look};
use git_axiom::store::layout::StoreLayout;
use git_axiom::store::log_files::log;
use git_axiom::store::states::handle::Store;
use git_axiom::store::states::{checkpoints, rebuild};

fn replay(layout: &StoreLayout) -> State {
    let mut state = State::default();
    log::read_after(layout, 0, None, |envelope| state.apply(&envelope)).unwrap();
    state
}

fn name(number: u32) -> CheckpointName {
    CheckpointName::new(format!("Cp-{number}")).unwrap()
}

fn add(store: &mut Store, numbers: std::ops::Range<u32>) {
    for number in numbers {
        let event = Event::CheckpointCreated { checkpoint: checkpoint(name(number), store.state(), number) };
        store.append(&author(), vec![event]).unwrap();
    }
}

/// A store of twenty checkpoints and a snapshot, and one more checkpoint after it.
fn with_older(folder: &Path) -> (StoreLayout, PathBuf) {
    let layout = StoreLayout::new(folder);
    let mut store = Store::load(layout.clone()).unwrap();
    add(&mut store, 0..20);
    store.save_snapshot().unwrap();
    add(&mut store, 20..21);
    let [part] = checkpoints::all(&layout).unwrap().try_into().unwrap();
    (layout, part)
}

#[test]
fn what_most_commands_ask_is_answered_without_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let (layout, part) = with_older(dir.path());
    std::fs::remove_file(part).unwrap();
    std::fs::remove_file(layout.events()).unwrap();
    let snapshot = git_axiom::store::states::snapshot::load(&layout).unwrap();
    let git_axiom::store::states::snapshot::SnapshotFile::Good(loaded) = snapshot else { panic!("{snapshot:?}") };
    let all = &loaded.state.record.checkpoints;
    assert_eq!(all.len(), 20);
    assert!(all.is_taken("cp-0") && all.is_taken("cp-19") && !all.is_taken("cp-20") && !all.is_taken("cp"));
    let newest = all.newest(2).unwrap();
    assert_eq!(newest.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["Cp-18", "Cp-19"]);
    assert!(all.get(&name(19)).unwrap().is_some() && all.get(&name(99)).unwrap().is_none());
    let wanted = all.get(&name(0)).unwrap_err();
    assert_eq!(wanted.code(), Code::EventLogTruncated, "with neither file nor log there is nothing to read: {wanted}");
}

type Damage = fn(&Path);

const DAMAGES: [(&str, Damage); 5] = [
    ("missing", |part| std::fs::remove_file(part).unwrap()),
    ("emptied", |part| std::fs::write(part, "").unwrap()),
    ("cut", |part| {
        let bytes = std::fs::read(part).unwrap();
        std::fs::write(part, &bytes[..bytes.len() / 2]).unwrap();
    }),
    ("a bit", |part| {
        // Another id that is as good as the right one.
        let text = std::fs::read_to_string(part).unwrap();
        let at = text.find("\"capture\":\"").unwrap() + 15;
        let mut bytes = text.into_bytes();
        bytes[at] ^= 1;
        std::fs::write(part, bytes).unwrap();
    }),
    ("longer", |part| {
        let bytes = std::fs::read(part).unwrap();
        std::fs::write(part, [bytes.clone(), bytes].concat()).unwrap();
    }),
];

#[test]
fn a_damaged_file_is_found_and_its_contents_come_from_the_log() {
    for (what, damage) in DAMAGES {
        let dir = tempfile::tempdir().unwrap();
        let (layout, part) = with_older(dir.path());
        assert!(matches!(look(&layout).unwrap().snapshot, SnapshotReport::Good { .. }));
        damage(&part);
        let SnapshotReport::Damaged { why } = look(&layout).unwrap().snapshot else { panic!("{what} is not found") };
        assert!(why.contains("checkpoints-"), "{what}: {why}");
        let mut store = Store::load(layout.clone()).unwrap();
        assert_eq!(store.state(), &replay(&layout), "{what}");
        add(&mut store, 21..22);
        store.save_snapshot().unwrap();
        assert!(matches!(look(&layout).unwrap().snapshot, SnapshotReport::Good { .. }), "{what} stays damaged");
        assert_eq!(checkpoints::all(&layout).unwrap().len(), 1, "{what}");
        assert_eq!(Store::load(layout.clone()).unwrap().state(), &replay(&layout), "{what}");
    }
}

#[test]
fn where_the_log_is_damaged_too_a_snapshot_still_gives_its_state() {
    for (what, damage) in DAMAGES {
        let dir = tempfile::tempdir().unwrap();
        let (layout, part) = with_older(dir.path());
        damage(&part);
        std::fs::write(layout.events(), "no event\n").unwrap();
        let found = look(&layout).unwrap();
        assert!(found.choices.iter().any(|choice| choice.from == "snapshot"), "{what}: {found:?}");
        let done = begin_anew(&layout, &author().txn, NewLogSource::Stored(rebuild::RebuildSource::Snapshot)).unwrap();
        let kept = done.kept.unwrap();
        assert_eq!(kept.join(part.file_name().unwrap()).exists(), part.exists() || what != "missing", "{what} is not kept");
        let state = Store::load(layout.clone()).unwrap();
        assert!(state.state().record.checkpoints.get(&name(19)).unwrap().is_some(), "{what}");
    }
}

#[test]
fn deleting_an_older_one_is_seen_by_whoever_has_not_read_it() {
    let dir = tempfile::tempdir().unwrap();
    let (layout, _) = with_older(dir.path());
    let mut follower = Store::load(layout.clone()).unwrap();
    let mut store = Store::load(layout.clone()).unwrap();
    store.append(&author(), vec![Event::CheckpointsDeleted { names: vec![name(0), name(20)] }]).unwrap();
    follower.refresh().unwrap();
    assert!(!follower.state().record.checkpoints.is_taken("cp-0"));
    assert_eq!(follower.state().record.checkpoints.len(), 19);
    store.save_snapshot().unwrap();
    for state in [follower.state(), store.state(), Store::load(layout.clone()).unwrap().state()] {
        assert_eq!(state, &replay(&layout));
    }
}

/// Two processes that write snapshots in turn: the one never names a file that the other removed.
#[test]
fn of_two_writers_neither_names_a_file_that_the_other_removed() {
    let dir = tempfile::tempdir().unwrap();
    let (layout, _) = with_older(dir.path());
    let mut writers = [Store::load(layout.clone()).unwrap(), Store::load(layout.clone()).unwrap()];
    let mut number = 100;
    for (round, count) in [(0, 20), (1, 20), (0, 1), (1, 1), (0, 9), (0, 1), (1, 20), (0, 1)] {
        let writer = &mut writers[round];
        writer.refresh().unwrap();
        add(writer, number..number + count);
        number += count;
        writer.save_snapshot().unwrap();
        let found = look(&layout).unwrap();
        assert!(matches!(found.snapshot, SnapshotReport::Good { .. }), "{round} {count}: {found:?}");
        assert_eq!(checkpoints::all(&layout).unwrap().len(), 1, "{round} {count}");
        assert_eq!(Store::load(layout.clone()).unwrap().state(), &replay(&layout), "{round} {count}");
    }
}

/// Not a test by itself: a process that writes a snapshot in the folder that it is given.
#[test]
#[ignore = "a part that another test starts as a process"]
fn play() {
    let Some(folder) = std::env::var_os("AXIOM_TEST_FOLDER") else { return };
    let mut store = Store::load(StoreLayout::new(Path::new(&folder))).unwrap();
    add(&mut store, 21..40);
    store.save_snapshot().unwrap();
}

fn save_in_a_process(folder: &Path, vars: &[(&str, &str)]) -> std::process::Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "older_checkpoints::play", "--ignored", "--nocapture"]).env("AXIOM_TEST_FOLDER", folder);
    command.envs(vars.iter().copied()).stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap()
}

#[test]
fn killed_at_every_fault_point_of_a_snapshot_the_state_is_that_of_the_log() {
    let dir = tempfile::tempdir().unwrap();
    with_older(dir.path());
    let list = dir.path().join("points");
    assert!(save_in_a_process(dir.path(), &[("AXIOM_TEST_FAULT_LOG", list.to_str().unwrap())]).status.success());
    let text = std::fs::read_to_string(list).unwrap();
    let points: Vec<&str> = text.lines().skip_while(|point| *point != "store.before-part").collect();
    for wanted in ["store.before-part", "store.after-part", "store.before-snapshot", "store.before-remove-part"] {
        assert!(points.contains(&wanted), "{wanted} is not reached: {text}");
    }
    let begin = text.lines().count() - points.len();
    for (index, point) in points.iter().enumerate() {
        let hit = text.lines().take(begin + index + 1).filter(|other| other == point).count();
        let dir = tempfile::tempdir().unwrap();
        let (layout, _) = with_older(dir.path());
        let fault = format!("{point}:{hit}");
        let output = save_in_a_process(dir.path(), &[("AXIOM_TEST_FAULT", &fault)]);
        assert_eq!(output.status.signal(), Some(9), "{fault}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(Store::load(layout.clone()).unwrap().state(), &replay(&layout), "{fault}");
        assert!(look(&layout).unwrap().is_sound(), "{fault}");
        let mut store = Store::load(layout.clone()).unwrap();
        add(&mut store, 40..60);
        store.save_snapshot().unwrap();
        assert_eq!(checkpoints::all(&layout).unwrap().len(), 1, "{fault}: what a crash left is removed");
        assert_eq!(Store::load(layout.clone()).unwrap().state(), &replay(&layout), "{fault}");
    }
}
