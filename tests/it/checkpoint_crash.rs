//! Deleting, cleaning up and compacting, killed at fault points: all of it or none of it, and git finds nothing
//! wrong. Every occurrence of every point: `AXIOM_ROUNDS=all cargo test --test it checkpoint_crash`.

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::crash_points::{drawn, points_of};
use crate::support::Scratch;

/// The checkpoints by what each place says of them: the state, capture refs, tags, notes. All must say the same.
fn checkpoints(scratch: &Scratch) -> Vec<String> {
    let mut names = scratch.checkpoints();
    names.sort();
    for prefix in ["refs/axiom/captures/", "refs/tags/axiom/"] {
        let refs = scratch.git(&["for-each-ref", "--format=%(refname)", prefix]);
        let found: Vec<&str> = refs.lines().filter_map(|name| name.strip_prefix(prefix)).collect();
        assert_eq!(found, names, "{prefix}");
    }
    let notes = scratch.git(&["notes", "--ref=axiom", "list"]);
    // One of them is somebody else's.
    assert_eq!(notes.lines().count(), names.len() + 1, "{notes}");
    names
}

fn with_checkpoints() -> Scratch {
    let scratch = Scratch::new();
    scratch.git(&["notes", "--ref=axiom", "add", "-m", "of somebody else", "HEAD"]);
    for name in ["one", "two", "three", "four", "five"] {
        scratch.write("file.txt", name);
        scratch.axiom(&["checkpoint", "create", name]);
    }
    scratch
}

/// Kills `args` at every point; afterwards, with the recovery done, `accept` gets what is there.
fn survive(args: &[&str], accept: &dyn Fn(&[String])) {
    let scratch = with_checkpoints();
    let saved = scratch.save_as("saved");
    let points = drawn(points_of(&scratch, args), args);
    assert!(points.len() > 3, "{points:?}");
    accept(&checkpoints(&scratch));
    let (mut before, mut after) = (0, 0);
    for point in &points {
        scratch.put_back(&saved);
        scratch.killed_at(args, point);
        scratch.axiom(&["recover", "--yes"]);
        let now = checkpoints(&scratch);
        if now.iter().any(|name| name == "one") {
            before += 1
        } else {
            after += 1
        }
        accept(&now);
        let verified = scratch.json(&["checkpoint", "verify"]);
        assert_eq!(verified["whole"], true, "{point}: {verified}");
        scratch.fsck();
        assert_eq!(scratch.git(&["notes", "--ref=axiom", "show", "HEAD"]), "of somebody else");
        scratch.axiom(&["recover", "--yes"]);
        assert_eq!(checkpoints(&scratch), now, "{point}: recovery twice");
    }
    println!("{args:?}: {} points, {before} before, {after} after", points.len());
}

fn all_or_none(names: &[String], these: &[&str]) {
    let there = these.iter().filter(|name| names.iter().any(|other| other == *name)).count();
    assert!(there == 0 || there == these.len(), "{names:?}");
}

#[test]
fn deleting_killed_anywhere_deletes_all_or_none() {
    survive(&["checkpoint", "delete", "one", "two", "--protected", "--yes"], &|names| all_or_none(names, &["one", "two"]));
}

#[test]
fn cleaning_up_killed_anywhere_deletes_all_or_none() {
    let args = ["checkpoint", "cleanup", "--older-than", "0d", "--keep", "3", "--protected", "--yes"];
    survive(&args, &|names| all_or_none(names, &["one", "two"]));
}

#[test]
fn compacting_killed_anywhere_loses_nothing() {
    survive(&["checkpoint", "compact"], &|names| assert_eq!(names, ["five", "four", "one", "three", "two"]));
}

#[test]
fn what_somebody_prunes_beside_a_checkpoint_is_captured_again() {
    let scratch = Scratch::new();
    scratch.write("new.txt", "precious\n");
    let blob = scratch.git(&["hash-object", "new.txt"]);
    let (folder, rest) = blob.split_at(2);
    let object = scratch.path().join(".git/objects").join(folder).join(rest);
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    let mut child = command.args(["checkpoint", "create", "c"]).env("AXIOM_TEST_STOP", "git.before-refs:1").spawn().unwrap();
    let pid = Pid::from_child(&child);
    let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
    assert!(status.stopped(), "{status:?}");
    std::fs::remove_file(&object).unwrap();
    kill_process(pid, Signal::CONT).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(scratch.git(&["show", "refs/axiom/captures/c:new.txt"]), "precious");
    scratch.axiom(&["checkpoint", "verify"]);
    scratch.fsck();
}

#[test]
fn refs_that_somebody_packs_while_they_are_read_are_found() {
    for moment in 1.. {
        let scratch = Scratch::new();
        scratch.axiom(&["checkpoint", "create", "packed"]);
        scratch.git(&["pack-refs", "--all"]);
        scratch.axiom(&["checkpoint", "create", "loose"]);
        let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
        let stop = format!("git.loose-refs-read:{moment}");
        let delete = command.args(["checkpoint", "delete", "packed", "loose", "--protected", "--yes"]);
        let mut child = delete.env("AXIOM_TEST_STOP", stop).stdout(std::process::Stdio::null()).spawn().unwrap();
        let pid = Pid::from_child(&child);
        let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
        if !status.stopped() {
            assert!(moment > 3 && status.exit_status() == Some(0), "{moment}: {status:?}");
            break;
        }
        // It fails where the program has locked them.
        scratch.try_git(&["pack-refs", "--all"]);
        kill_process(pid, Signal::CONT).unwrap();
        assert!(child.wait().unwrap().success(), "{moment}");
        assert_eq!(scratch.git(&["for-each-ref", "refs/axiom/captures", "refs/tags/axiom"]), "", "{moment}");
        scratch.fsck();
    }
}

#[test]
fn a_tag_without_object_that_a_checkpoint_left_stops_no_other() {
    let scratch = Scratch::new();
    scratch.killed_at(&["checkpoint", "create", "c"], "checkpoint.objects:1");
    let tag = scratch.path().join(".git/refs/tags/axiom/c");
    std::fs::create_dir_all(tag.parent().unwrap()).unwrap();
    std::fs::write(&tag, format!("{}\n", "1".repeat(40))).unwrap();
    scratch.axiom(&["checkpoint", "create", "d"]);
    assert!(!tag.exists());
    scratch.fsck();
}

/// What a capture that is killed leaves goes with the next one, however young it is; what was about to get its names waits for whoever
/// finishes that.
#[test]
fn what_a_killed_capture_left_goes_with_whoever_meets_it_next() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    let left = || {
        let folders = std::fs::read_dir(scratch.path().join(".git/axiom/tmp")).unwrap().map(|entry| entry.unwrap().file_name());
        let ours = folders.filter(|name| name.to_string_lossy().starts_with("git-") && name != "git-program");
        ours.count()
    };
    let killed = |number: u32, point: &str| {
        scratch.write("big.bin", format!("{number}\n").repeat(100_000));
        scratch.killed_at(&["checkpoint", "create"], point);
        assert_ne!(left(), 0, "{point}");
    };
    killed(1, "git.before-object-sync:1");
    scratch.axiom(&["checkpoint", "create"]);
    assert_eq!(left(), 0, "the next capture");
    for (number, verb) in [["checkpoint", "compact"], ["disk", "--clean"]].iter().enumerate() {
        for (more, point) in ["git.before-object-sync:1", "git.objects-synced:1"].iter().enumerate() {
            killed(10 * number as u32 + more as u32 + 2, point);
            scratch.axiom(verb);
            assert_eq!(left(), 0, "{verb:?} {point}");
        }
    }
    scratch.fsck();
}
