//! Checkpoints of known paths: what they hold, that they never claim more, and that nothing else is built on them.

use crate::support::{Scratch, contents};

fn at(capture: &str, path: &str) -> String {
    format!("refs/axiom/captures/{capture}:{path}")
}

/// What standard error said.
fn told(scratch: &Scratch, args: &[&str]) -> String {
    let output = scratch.axiom_with(args, &[]);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn only_what_is_named_is_looked_at_and_every_verb_says_so() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "full"]);
    for name in ["a.txt", "new/x", "unnamed"] {
        scratch.write(name, "now\n");
    }
    std::fs::remove_dir_all(scratch.path().join("sub")).unwrap();
    let line = "only 3 paths were checked; the rest is taken from checkpoint full";
    let said = told(&scratch, &["checkpoint", "create", "some", "--only", "a.txt", "new", "--", "sub/b.txt"]);
    assert!(said.contains(line), "{said}");
    let held = scratch.git(&["ls-tree", "-r", "--name-only", "refs/axiom/captures/some"]);
    assert_eq!(held, "a.txt\nnew/x\nstaged.txt");
    assert_eq!(scratch.git(&["show", &at("some", "a.txt")]), "now");

    let shown = scratch.json(&["checkpoint", "show", "some"]);
    let only = &shown["checkpoint"]["document"]["coverage"][scratch.path().to_str().unwrap()]["only"];
    assert_eq!(only["allElseAsOf"], "full");
    assert_eq!(only["paths"], serde_json::json!(["a.txt", "new", "sub"]), "a folder that is gone is one path");
    let capture = scratch.git(&["rev-parse", "refs/axiom/captures/full"]);
    let short = serde_json::json!({"count": 3, "allElseAsOf": "full", "allElseCapture": capture, "allElseGone": false});
    assert_eq!(shown["checkpoint"]["only"], short);
    let people = scratch.axiom(&["checkpoint", "show", "some"]);
    assert!(people.contains(line) && people.contains("\nchecked: "), "{people}");
    let list = scratch.axiom(&["checkpoint", "list"]);
    assert!(list.contains("named, 3 paths"), "{list}");
    assert!(scratch.json(&["checkpoint", "list"])["checkpoints"][0].get("only").is_none());
    assert!(told(&scratch, &["checkpoint", "diff", "some"]).contains(line));
    assert!(scratch.axiom(&["checkpoint", "verify"]).contains("intact"));

    let preview = scratch.axiom(&["rollback", "checkpoint", "some", "--dry-run"]);
    assert!(preview.contains(line), "{preview}");
    assert_eq!(scratch.json(&["rollback", "checkpoint", "some", "--dry-run"])["checkpoint"]["only"]["count"], 3);
    // What nobody named goes back to the complete checkpoint, and undo brings it back.
    let before = contents(&scratch.path());
    scratch.axiom(&["rollback", "checkpoint", "some", "--yes"]);
    assert!(!scratch.has("unnamed") && !scratch.has("sub/b.txt"));
    assert_eq!(scratch.read("a.txt"), "now\n");
    let safety = scratch.json(&["checkpoint", "list"])["checkpoints"][2].clone();
    assert_eq!(safety["trigger"], "before-rollback");
    assert!(safety.get("only").is_none(), "what is made for safety looks at everything");
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(contents(&scratch.path()), before);
    scratch.fsck();
}

#[test]
fn what_was_named_before_is_looked_at_again() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "full"]);
    scratch.write("a.txt", "one\n");
    scratch.axiom(&["checkpoint", "create", "first", "--only", "a.txt"]);
    scratch.write("a.txt", "two\n");
    scratch.write("sub/b.txt", "two\n");
    scratch.axiom(&["checkpoint", "create", "second", "--only", "sub/b.txt"]);
    assert_eq!(scratch.git(&["show", &at("second", "a.txt")]), "two");
    assert_eq!(scratch.git(&["show", &at("second", "sub/b.txt")]), "two");
    // A complete one begins anew.
    scratch.axiom(&["checkpoint", "create", "full-2"]);
    scratch.write("a.txt", "three\n");
    let said = told(&scratch, &["checkpoint", "create", "third", "--only", "sub/b.txt"]);
    assert!(said.contains("only 1 path was checked; the rest is taken from checkpoint full-2"), "{said}");
    assert_eq!(scratch.git(&["show", &at("third", "a.txt")]), "two");
    // The newest complete one is what they are built on: it stays as long as they do.
    scratch.axiom(&["checkpoint", "delete", "full", "--protected", "--yes"]);
    assert!(scratch.axiom(&["checkpoint", "verify"]).contains("intact"));
}

#[test]
fn where_there_is_nothing_to_build_on_everything_is_looked_at() {
    let scratch = Scratch::new();
    scratch.write("unnamed", "x\n");
    let said = told(&scratch, &["checkpoint", "create", "first", "--only", "a.txt"]);
    assert!(said.contains("everything was checked: there is no complete checkpoint yet"), "{said}");
    assert!(scratch.json(&["checkpoint", "list"])["checkpoints"][0].get("only").is_none());
    assert_eq!(scratch.git(&["show", &at("first", "unnamed")]), "x");
    // A rollback writes files that nobody names.
    scratch.write("unnamed", "y\n");
    scratch.axiom(&["rollback", "checkpoint", "first", "--yes"]);
    scratch.write("later", "x\n");
    let made = scratch.json(&["checkpoint", "create", "second", "--only", "a.txt"]);
    assert!(made["lookedAtAll"].as_str().unwrap().contains("changed by git axiom itself"), "{made}");
    assert_eq!(scratch.git(&["show", &at("second", "later")]), "x");
    scratch.write(".gitignore", "later\n");
    let said = told(&scratch, &["checkpoint", "create", "third", "--only", ".gitignore"]);
    assert!(said.contains("everything was checked: the worktree '"), "{said}");
    let held = scratch.git(&["ls-tree", "-r", "--name-only", "refs/axiom/captures/third"]);
    assert!(!held.contains("later") && held.contains("unnamed"), "{held}");
    assert!(told(&scratch, &["checkpoint", "create", "all", "--only", "."]).contains("everything was checked"));
}

#[test]
fn other_worktrees_are_as_they_were_unless_their_head_moved() {
    let scratch = Scratch::new();
    let other = scratch.path().parent().unwrap().join("other");
    let third = scratch.path().parent().unwrap().join("third");
    for place in [&other, &third] {
        scratch.git(&["worktree", "add", "-q", "--detach", place.to_str().unwrap()]);
    }
    scratch.axiom(&["checkpoint", "create", "full"]);
    std::fs::write(other.join("a.txt"), "other\n").unwrap();
    std::fs::write(third.join("a.txt"), "third\n").unwrap();
    scratch.git(&["-C", third.to_str().unwrap(), "commit", "-q", "-a", "-m", "third"]);
    std::fs::write(third.join("sub/b.txt"), "third\n").unwrap();
    scratch.write("a.txt", "main\n");
    let made = scratch.json(&["checkpoint", "create", "some", "--only", "a.txt"]);
    let only = |place: &std::path::Path| made["coverage"][place.to_str().unwrap()]["only"]["paths"].clone();
    assert_eq!(only(&scratch.path()), serde_json::json!(["a.txt"]));
    assert_eq!(only(&other), serde_json::json!([]));
    assert_eq!(only(&third), serde_json::json!(["a.txt"]), "what was committed there since");
    let capture = |name: &str, place: &std::path::Path| {
        let shown = scratch.json(&["checkpoint", "show", name]);
        let all = shown["checkpoint"]["document"]["workspaces"].as_array().unwrap().clone();
        let one = all.into_iter().find(|one| one["path"] == place.to_str().unwrap()).unwrap();
        one["capture"].as_str().unwrap().to_owned()
    };
    assert_eq!(capture("some", &other), capture("full", &other));
    assert_eq!(scratch.git(&["show", &format!("{}:a.txt", capture("some", &third))]), "third");
    assert_eq!(scratch.git(&["show", &format!("{}:sub/b.txt", capture("some", &third))]), "b");
    // A path is looked for in the worktree that it is in, from wherever one stands.
    let there = other.join("a.txt");
    scratch.axiom(&["checkpoint", "create", "there", "--only", there.to_str().unwrap()]);
    assert_eq!(scratch.git(&["show", &format!("{}:a.txt", capture("there", &other))]), "other");
    scratch.axiom(&["-C", "../other", "checkpoint", "create", "relative", "--only", "sub/../a.txt"]);
    assert_eq!(scratch.git(&["show", &format!("{}:a.txt", capture("relative", &other))]), "other");
    scratch.refused(&["checkpoint", "create", "--only", "/nowhere/x"], "INVALID_INPUT", 2);
    scratch.refused(&["checkpoint", "create", "--only", ".git/config"], "INVALID_INPUT", 2);
    scratch.refused(&["checkpoint", "create", "--only"], "USAGE", 2);
    // One that is new has nothing to be built on.
    scratch.git(&["worktree", "add", "-q", "--detach", "../fourth"]);
    assert!(told(&scratch, &["checkpoint", "create", "new", "--only", "a.txt"]).contains("does not hold"));
    assert!(scratch.axiom(&["checkpoint", "verify"]).contains("intact"));
}

#[test]
fn a_path_through_a_link_is_looked_at_on_both_sides() {
    let scratch = Scratch::new();
    std::os::unix::fs::symlink("sub", scratch.path().join("link")).unwrap();
    scratch.axiom(&["checkpoint", "create", "full"]);
    scratch.write("sub/b.txt", "now\n");
    scratch.axiom(&["checkpoint", "create", "some", "--only", "link/b.txt"]);
    assert_eq!(scratch.git(&["show", &at("some", "sub/b.txt")]), "now");
    assert_eq!(scratch.git(&["ls-tree", "refs/axiom/captures/some", "link"]).split(' ').next(), Some("120000"));
}

#[test]
fn merges_look_at_everything_before_and_after() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "full"]);
    scratch.write("unnamed", "x\n");
    scratch.axiom(&["checkpoint", "create", "some", "--only", "a.txt"]);
    scratch.done_task("task-1");
    scratch.axiom(&["merge", "task-1"]);
    let list = scratch.json(&["checkpoint", "list"])["checkpoints"].as_array().unwrap().clone();
    for one in list.iter().filter(|one| one["trigger"] != "manual") {
        assert!(one.get("only").is_none(), "{one}");
        assert_eq!(scratch.git(&["show", &at(one["name"].as_str().unwrap(), "unnamed")]), "x");
    }
    assert!(list.iter().any(|one| one["trigger"] == "before-merge"), "{list:?}");
}

#[test]
fn what_is_named_in_the_folder_of_the_workspaces_is_named_as_not_held() {
    let scratch = Scratch::new();
    scratch.write(".worktrees/earlier", "e\n");
    scratch.write(".worktrees/gone", "g\n");
    scratch.axiom(&["checkpoint", "create", "full"]);
    scratch.remove(".worktrees/gone");
    scratch.write(".worktrees/mine", "m\n");
    scratch.write("a.txt", "now\n");
    let made = scratch.json(&["checkpoint", "create", "some", "--only", ".worktrees/mine", "a.txt"]);
    let coverage = &made["coverage"][scratch.path().to_str().unwrap()];
    assert_eq!(coverage["only"]["paths"], serde_json::json!(["a.txt"]));
    assert_eq!(coverage["ignored"], serde_json::json!({"count": 2, "paths": [".worktrees/earlier", ".worktrees/mine"]}));
    assert_eq!(scratch.git(&["show", &at("some", "a.txt")]), "now");
}

#[test]
fn a_checkpoint_that_gets_the_name_again_is_not_what_all_else_is_as_of() {
    let scratch = Scratch::new();
    scratch.write("u", "big\n");
    scratch.axiom(&["checkpoint", "create", "b"]);
    scratch.write("a.txt", "now\n");
    scratch.axiom(&["checkpoint", "create", "q", "--only", "a.txt"]);
    scratch.axiom(&["checkpoint", "delete", "b", "--yes", "--protected"]);
    let line = "the rest is taken from checkpoint b, which was deleted since";
    for again in [false, true] {
        if again {
            scratch.write("u", "small\n");
            scratch.axiom(&["checkpoint", "create", "b"]);
        }
        let shown = scratch.axiom(&["checkpoint", "show", "q"]);
        assert_eq!(shown.matches(line).count(), 2, "{shown}");
        assert!(scratch.axiom(&["rollback", "checkpoint", "q", "--dry-run"]).contains(line));
        assert!(told(&scratch, &["checkpoint", "diff", "q"]).contains(line));
        assert_eq!(scratch.json(&["checkpoint", "show", "q"])["checkpoint"]["only"]["allElseGone"], true);
    }
}

#[test]
fn named_paths_that_are_nowhere_are_told_of() {
    let scratch = Scratch::new();
    scratch.write("untracked", "u\n");
    scratch.axiom(&["checkpoint", "create", "full"]);
    scratch.write("new", "n\n");
    scratch.git(&["add", "new"]);
    for gone in ["untracked", "new", "a.txt", "sub/b.txt"] {
        scratch.remove(gone);
    }
    scratch.write("fresh", "f\n");
    let args =
        ["checkpoint", "create", "some", "--only", "a.txt", "q2", "untracked", "new", "sub", "sub/*", "fresh", "staged.txt"];
    let made = scratch.json(&args);
    let place = |path: &str| scratch.path().join(path).display().to_string();
    assert_eq!(made["nowhere"], serde_json::json!([place("q2"), place("sub/*")]));
    let said = told(&scratch, &["checkpoint", "create", "--only", "a.txt", "q2"]);
    let line = format!(
        "'{}' exists neither here nor in the base checkpoint; if it is the checkpoint's name, put it before --only",
        place("q2")
    );
    assert!(said.contains(&line) && said.matches("exists neither").count() == 1, "{said}");
    assert!(scratch.json(&["checkpoint", "create", "--only", "fresh"]).get("nowhere").is_none());
}
