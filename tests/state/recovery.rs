//! Beginning anew from what is left of a damaged log: every choice gives a log that works, killed at every step too.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic)]

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::fixtures::{LOG, UNFINISHED_BACKUP, copy, fixtures, flip};
use crate::support::{author, task};
use git_axiom::base::error::Code;
use git_axiom::model::state::event::Event;
use git_axiom::safety::upkeep::log_recovery::{NewLogSource, begin_anew, look};
use git_axiom::store::layout::StoreLayout;
use git_axiom::store::log_files::{backup, log};
use git_axiom::store::states::handle::Store;
use git_axiom::store::states::rebuild::is_adopted;

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
            let done = begin_anew(&layout, &author().txn, NewLogSource::Stored(choice.source)).unwrap();
            assert_eq!((done.seq, done.tasks as u64), (next, choice.tasks), "{what}");
            assert!(expected.is_err() || next > expected.unwrap(), "{what}");
            let kept = done.kept.clone().unwrap();
            for (path, bytes) in &files {
                // Half of a copy is no source of anything: `recover` removes it.
                if *path == UNFINISHED_BACKUP {
                    continue;
                }
                let name = Path::new(path).file_name().unwrap();
                assert!(std::fs::read(kept.join(name)).unwrap() == *bytes, "{what}: {path} is not kept");
            }
            check_works(&layout, &what, &choice.from);
        }
    }
}

fn check_works(layout: &StoreLayout, what: &str, from: &str) {
    let again = begin_anew(layout, &author().txn, NewLogSource::Stored(from.parse().unwrap())).unwrap();
    assert_eq!(again.kept, None, "{what}: a second run has nothing to do");
    let found = look(layout).unwrap();
    assert!(found.is_sound(), "{what}: {found:?}");
    let mut store = Store::load(layout.clone()).unwrap();
    let tasks = git_axiom::store::beside::tasks::load(layout).unwrap();
    assert_eq!(tasks.tasks, store.state().restorable.tasks, "{what}");
    store.append(&author(), vec![Event::TasksAdded { tasks: vec![task("one-more")] }]).unwrap();
    store.save_snapshot().unwrap();
    let loaded = Store::load(layout.clone()).unwrap();
    assert_eq!(loaded.state(), store.state(), "{what}");
    let mut replayed = git_axiom::model::state::current_state::State::default();
    log::read_after(layout, 0, None, |envelope| replayed.apply(&envelope)).unwrap();
    assert_eq!(&replayed, store.state(), "{what}");
}

/// Not a test by itself: a process that recovers the log in the folder that it is given, or rolls its backups.
#[test]
#[ignore = "a part that other tests start as a process"]
fn play() {
    let Some(folder) = std::env::var_os("AXIOM_TEST_FOLDER") else { return };
    let layout = StoreLayout::new(Path::new(&folder));
    match std::env::var("AXIOM_TEST_FROM").unwrap().as_str() {
        "" => backup::roll(&layout, 3).unwrap(),
        source => drop(begin_anew(&layout, &author().txn, NewLogSource::Stored(source.parse().unwrap())).unwrap()),
    }
}

fn recover_in_a_process(folder: &Path, vars: &[(&str, &str)]) -> std::process::Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "recovery::play", "--ignored", "--nocapture"]).env("AXIOM_TEST_FOLDER", folder);
    command.envs(vars.iter().copied()).stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap()
}

#[test]
fn recovery_killed_at_every_fault_point_leaves_the_old_log_or_the_new_one() {
    killed_everywhere("good-sealed", "snapshot", Ok(24));
}

#[test]
fn recovery_of_a_damaged_log_killed_at_every_fault_point_leaves_the_old_log_or_the_new_one() {
    killed_everywhere("corrupted-bit-flip", "partial", Err(Code::EventLogCorrupted));
    killed_everywhere("corrupted-segment", "partial", Err(Code::EventLogCorrupted));
    killed_everywhere("truncated-segment-missing", "cases", Err(Code::EventLogTruncated));
}

/// `before` is what loading the old log gives.
fn killed_everywhere(name: &str, source: &str, before: Result<u64, Code>) {
    let from = ("AXIOM_TEST_FROM", source);
    let (dir, _layout) = copy(name);
    let list = dir.path().join("points");
    assert!(recover_in_a_process(dir.path(), &[from, ("AXIOM_TEST_FAULT_LOG", list.to_str().unwrap())]).status.success());
    let text = std::fs::read_to_string(list).unwrap();
    let points: Vec<_> = text.lines().collect();
    for point in ["adopt.before-keep", "adopt.before-commit", "adopt.after-commit"] {
        assert!(points.contains(&point), "{point} is not reached");
    }
    let mut sides = [0, 0];
    for (index, point) in points.iter().enumerate() {
        let hit = points[..=index].iter().filter(|other| other == &point).count();
        let fault = format!("{point}:{hit}");
        let (dir, layout) = copy(name);
        let output = recover_in_a_process(dir.path(), &[from, ("AXIOM_TEST_FAULT", &fault)]);
        assert_eq!(output.status.signal(), Some(9), "{fault}: {}", String::from_utf8_lossy(&output.stderr));
        let adopted = is_adopted(&layout, source).unwrap();
        if !adopted {
            let found = Store::load(layout.clone()).map(|store| store.state().seq).map_err(|error| error.code());
            assert_eq!(found, before, "{name}, {fault}");
        }
        sides[usize::from(adopted)] += 1;
        begin_anew(&layout, &author().txn, NewLogSource::Stored(source.parse().unwrap())).unwrap();
        check_works(&layout, &format!("{name}, {fault}"), source);
    }
    assert!(sides[0] > 3 && sides[1] > 1, "{sides:?}");
}

/// Killed at each step of rolling the backups, and then the log is damaged too: the state goes on from a backup that is whole.
#[test]
fn killed_while_a_backup_is_rolled_a_whole_one_is_left_for_a_damaged_log() {
    let rolls = ("AXIOM_TEST_FROM", "");
    let mut reached = Vec::new();
    for fault in ["store.before-backup-move:1", "store.before-backup:1", "none:1"] {
        let (dir, layout) = copy("good");
        // Two older ones: both are moved.
        std::fs::copy(backup::path(&layout, 0), backup::path(&layout, 1)).unwrap();
        let output = recover_in_a_process(dir.path(), &[rolls, ("AXIOM_TEST_FAULT", fault)]);
        reached.push(output.status.signal());
        let log = dir.path().join("axiom").join(LOG);
        let mut bytes = std::fs::read(&log).unwrap();
        flip(&mut bytes, 20);
        std::fs::write(&log, bytes).unwrap();
        let found = look(&layout).unwrap();
        assert_eq!(found.error().map(|error| error.code()), Some(Code::EventLogCorrupted), "{fault}");
        assert!(found.backups.iter().all(|backup| backup.damage.is_none()), "{fault}: {:?}", found.backups);
        let choice = found.choices.iter().find(|choice| choice.from.starts_with("backup")).unwrap();
        assert!(choice.seq >= Some(20), "{fault}: {choice:?}");
        begin_anew(&layout, &author().txn, NewLogSource::Stored(choice.source)).unwrap();
        check_works(&layout, fault, &choice.from);
    }
    assert_eq!(reached, [Some(9), Some(9), None]);
}
