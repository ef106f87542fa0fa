//! One stored log per kind of damage, in `fixtures/logs/`: what loading says of it, and what a look finds.
//!
//! `AXIOM_WRITE_FIXTURES=1 cargo test --test state fixtures` makes them anew; without it, they are compared.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic)]

use crate::support::fixtures::{CASES, LOG, SNAPSHOT, copy, fixtures, place, stored};
use git_axiom::base::error::{Code, Exit};
use git_axiom::safety::upkeep::log_recovery::look;
use git_axiom::store::states::handle::Store;

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

#[test]
fn each_damage_has_its_code_and_exit_status() {
    for (name, _, expected) in fixtures() {
        let (_dir, layout) = copy(name);
        match (Store::load(layout), expected) {
            (Ok(mut store), Ok(seq)) => {
                assert_eq!(store.state().seq, seq, "{name}");
                assert_eq!(store.take_warnings().len(), usize::from(name == "snapshot-damaged"), "{name}");
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

/// Root reads whatever the mode says, so that nothing is refused there.
#[test]
fn files_that_may_not_be_read_are_an_error_and_no_damage() {
    use std::os::unix::fs::PermissionsExt;
    for file in [LOG, SNAPSHOT, CASES] {
        let (dir, layout) = copy("good");
        let path = dir.path().join("axiom").join(file);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
        let may_read = std::fs::read(&path).is_ok();
        match Store::load(layout) {
            Ok(store) => {
                assert!(may_read || file != LOG, "{file}");
                assert_eq!(store.state().seq, 24, "{file}");
            }
            Err(error) => assert_eq!(error.code(), Code::IoFailed, "{file}: {error}"),
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
    good: good 24, bad None, after 0, torn 0, next 25: snapshot@16 events@24 backup@20 cases fresh
    good-sealed: good 24, bad None, after 0, torn 0, next 25: snapshot@16 events@24 backup@20 cases fresh
    good-more: good 51, bad None, after 0, torn 0, next 52: events@51 fresh
    backup-rolled-halfway: good 24, bad None, after 0, torn 0, next 25: snapshot@16 events@24 backup.1@20 cases fresh
    corrupted-while-a-backup-is-rolled: good 19, bad Some("EVENT_LOG_CORRUPTED"), after 4, torn 0, next 26: snapshot@16 partial@19 backup.1@20 cases fresh
    snapshot-too-new: EVENT_LOG_TOO_NEW
    snapshot-from-the-future: good 24, bad None, after 0, torn 0, next 100: snapshot@99 events@24 backup@20 cases fresh
    torn-last-line: good 23, bad None, after 0, torn 235, next 25: snapshot@16 events@23 backup@20 cases fresh
    nothing: good 0, bad None, after 0, torn 0, next 1: fresh
    line-twice: good 24, bad None, after 0, torn 0, next 25: snapshot@16 events@24 backup@20 cases fresh
    backup-half-written: good 24, bad None, after 0, torn 0, next 25: snapshot@16 events@24 backup@19 cases fresh
    snapshot-damaged: good 24, bad None, after 0, torn 0, next 25: events@24 backup@20 cases fresh
    bad-line-before-snapshot: good 2, bad Some("EVENT_LOG_CORRUPTED"), after 21, torn 0, next 26: snapshot@16 partial@24 backup@20 cases fresh
    corrupted-bit-flip: good 19, bad Some("EVENT_LOG_CORRUPTED"), after 4, torn 0, next 26: snapshot@16 partial@19 backup@20 cases fresh
    corrupted-snapshot-too: good 19, bad Some("EVENT_LOG_CORRUPTED"), after 4, torn 0, next 26: partial@19 backup@20 cases fresh
    corrupted-bit-flip-log-only: good 19, bad Some("EVENT_LOG_CORRUPTED"), after 4, torn 0, next 26: partial@19 fresh
    corrupted-segment: good 2, bad Some("EVENT_LOG_CORRUPTED"), after 21, torn 0, next 26: partial@2 cases fresh
    corrupted-json: good 19, bad Some("EVENT_LOG_CORRUPTED"), after 4, torn 0, next 26: partial@19 fresh
    truncated-before-snapshot: good 10, bad None, after 0, torn 0, next 25: snapshot@16 events@10 backup@20 cases fresh
    truncated-log-gone: good 0, bad None, after 0, torn 0, next 25: snapshot@16 backup@20 cases fresh
    truncated-only-tasks-left: good 0, bad None, after 0, torn 0, next 25: cases fresh
    truncated-only-an-empty-log-and-tasks-left: good 0, bad None, after 0, torn 0, next 25: cases fresh
    truncated-line-missing: good 11, bad Some("EVENT_LOG_TRUNCATED"), after 12, torn 0, next 25: partial@11 fresh
    truncated-segment-missing: good 0, bad Some("EVENT_LOG_TRUNCATED"), after 16, torn 0, next 25: cases fresh
    schema-unknown-event: good 23, bad Some("EVENT_SCHEMA_INVALID"), after 0, torn 0, next 25: partial@23 fresh
    schema-event-does-not-fit: good 23, bad Some("EVENT_SCHEMA_INVALID"), after 0, torn 0, next 25: partial@23 fresh
    too-new: EVENT_LOG_TOO_NEW
    too-old: good 0, bad Some("EVENT_LOG_TOO_OLD"), after 0, torn 0, next 49: cases fresh
    "#);
}
