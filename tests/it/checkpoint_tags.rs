//! `checkpoints.tags`: which checkpoints get a tag. Those without one have their note on the capture, and are rolled back to,
//! verified, healed and deleted like the others.

use serde_json::Value;

use crate::crash_points::{drawn, points_of};
use crate::support::Scratch;

const NAMES: &str = "--format=%(refname:strip=3)";

fn tags(scratch: &Scratch) -> String {
    scratch.git(&["for-each-ref", NAMES, "refs/tags/axiom/"])
}

/// The ids of the captures of these checkpoints that have a note.
fn noted(scratch: &Scratch, names: &[&str]) -> Vec<bool> {
    let notes = scratch.git(&["notes", "--ref=axiom", "list"]);
    let has = |name: &&str| notes.contains(&format!(" {}", scratch.git(&["rev-parse", &format!("refs/axiom/captures/{name}")])));
    names.iter().map(has).collect()
}

fn one<'a>(list: &'a Value, name: &str) -> &'a Value {
    list["checkpoints"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap()
}

#[test]
fn the_setting_decides_at_creation_and_nothing_later_changes_what_was_decided() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "first"]);
    scratch.git(&["config", "axiom.checkpoints.tags", "none"]);
    scratch.write("file.txt", "second\n");
    scratch.axiom(&["checkpoint", "create", "second"]);
    scratch.git(&["config", "axiom.checkpoints.tags", "named"]);
    scratch.write("file.txt", "third\n");
    scratch.axiom(&["checkpoint", "create", "third"]);
    scratch.axiom(&["rollback", "checkpoint", "second", "--yes"]);
    assert_eq!(scratch.read("file.txt"), "second\n");
    // The automatic checkpoint of the rollback has none either.
    assert_eq!(tags(&scratch), "first\nthird");
    let list = scratch.json(&["checkpoint", "list"]);
    let automatic = list["checkpoints"].as_array().unwrap().last().unwrap();
    assert_eq!((&automatic["trigger"], &automatic["tag"]), (&"before-rollback".into(), &Value::Null));
    assert_eq!((&one(&list, "second")["tag"], &one(&list, "second")["tagId"]), (&Value::Null, &Value::Null));
    assert_eq!(one(&list, "second")["commitsSince"], 0);
    assert_eq!(one(&list, "third")["tag"], "refs/tags/axiom/third");
    let automatic = automatic["name"].as_str().unwrap();
    assert_eq!(noted(&scratch, &["first", "second", "third", automatic]), [false, true, false, true]);
    let note = scratch.git(&["notes", "--ref=axiom", "show", "axiom/captures/second"]);
    assert_eq!(serde_json::from_str::<Value>(&note).unwrap()["name"], "second");
    assert!(scratch.axiom(&["checkpoint", "show", "second"]).contains("none"));
    // With the setting as it was before, nothing makes the tags that were not wanted.
    scratch.git(&["config", "--unset", "axiom.checkpoints.tags"]);
    assert_eq!(scratch.json(&["checkpoint", "verify", "--repair"])["whole"], true);
    assert_eq!(tags(&scratch), "first\nthird");
}

#[test]
fn a_lost_note_on_a_capture_is_made_again_and_a_deleted_checkpoint_takes_it_along() {
    let scratch = Scratch::new();
    scratch.git(&["config", "axiom.checkpoints.tags", "none"]);
    scratch.git(&["notes", "--ref=axiom", "add", "-m", "of somebody else", "HEAD"]);
    for name in ["one", "two", "three", "four"] {
        scratch.write("file.txt", name);
        scratch.axiom(&["checkpoint", "create", name]);
    }
    let capture = scratch.git(&["rev-parse", "refs/axiom/captures/two"]);
    scratch.git(&["notes", "--ref=axiom", "remove", &capture]);
    let verified = scratch.axiom_with(&["checkpoint", "verify", "two", "--json"], &[]);
    assert!(String::from_utf8_lossy(&verified.stdout).contains("its note is gone"));
    scratch.axiom(&["checkpoint", "verify", "two", "--repair"]);
    assert_eq!(noted(&scratch, &["two"]), [true]);
    scratch.axiom(&["checkpoint", "delete", "one", "--protected", "--yes"]);
    assert_eq!(scratch.git(&["notes", "--ref=axiom", "list"]).lines().count(), 4);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(noted(&scratch, &["one", "two", "three", "four"]), [true; 4]);
    assert_eq!(tags(&scratch), "");
}

#[test]
fn killed_anywhere_without_a_tag_it_is_all_there_or_not_at_all() {
    let scratch = Scratch::new();
    scratch.git(&["config", "axiom.checkpoints.tags", "none"]);
    for name in ["one", "two", "three", "four"] {
        scratch.write("file.txt", name);
        scratch.axiom(&["checkpoint", "create", name]);
    }
    for args in [&["checkpoint", "create", "next"][..], &["checkpoint", "delete", "one", "--protected", "--yes"]] {
        let saved = scratch.save_as("saved");
        let points = points_of(&scratch, args);
        let ours = |point: &String| point.starts_with("checkpoint.") || point.starts_with("git.checkpoint");
        let (ours, others): (Vec<_>, Vec<_>) = points.into_iter().partition(ours);
        for point in ours.into_iter().chain(drawn(others, args).into_iter().take(2)) {
            scratch.put_back(&saved);
            scratch.killed_at(args, &point);
            scratch.axiom(&["recover", "--yes"]);
            let list = scratch.json(&["checkpoint", "list"]);
            let names: Vec<&str> =
                list["checkpoints"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
            assert!(noted(&scratch, &names).into_iter().all(|noted| noted), "{point}: {names:?}");
            let notes = scratch.git(&["notes", "--ref=axiom", "list"]);
            assert_eq!(notes.lines().count(), names.len(), "{point}: {names:?} and {notes}");
            assert_eq!(scratch.json(&["checkpoint", "verify"])["whole"], true, "{point}");
        }
        scratch.put_back(&saved);
    }
}

/// git lets no tag be named as the folder of others. A tag is an extra: without room for it, all else is saved as ever.
#[test]
fn a_tag_named_as_our_folder_of_tags_stops_no_checkpoint() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    scratch.git(&["tag", "axiom"]);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("a.txt", "edited\n");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!((scratch.read("a.txt"), tags(&scratch)), ("a\n".into(), String::new()));
    scratch.axiom(&["undo", "--yes"]);
    scratch.axiom(&["checkpoint", "verify"]);
    assert_eq!(scratch.read("a.txt"), "edited\n");
}
