//! What is configured of a branch (`branch.NAME.*`) goes with it and comes back with it.

use crate::support::Scratch;

/// A branch with an upstream, a description of two lines and a key without a value.
fn with_upstream(scratch: &Scratch) {
    scratch.git(&["branch", "side"]);
    scratch.git(&["config", "branch.side.remote", "origin"]);
    scratch.git(&["config", "branch.side.merge", "refs/heads/side"]);
    scratch.git(&["config", "branch.side.description", "two lines;\n\"quoted\" # and all"]);
}

fn configured(scratch: &Scratch) -> String {
    let output = scratch.try_git(&["config", "--local", "--get-regexp", r"^branch\."]);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn it_comes_back_named_and_undo_and_redo_know_it() {
    let scratch = Scratch::new();
    with_upstream(&scratch);
    let (then, file) = (configured(&scratch), scratch.read(".git/config"));
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.git(&["branch", "-q", "-D", "side"]);
    let without = scratch.read(".git/config");
    assert_eq!(configured(&scratch), "");
    let dry = scratch.json(&["rollback", "checkpoint", "safe", "--dry-run"]);
    let words = scratch.axiom(&["rollback", "checkpoint", "safe", "--dry-run"]);
    assert!(words.contains(", with remote origin, merge side, description two lines;"), "{words}");
    assert_eq!(scratch.read(".git/config"), without);
    let done = scratch.json(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(dry["branchConfigs"], done["branchConfigs"]);
    assert_eq!(done["branchConfigs"][0]["branch"], "refs/heads/side");
    assert_eq!(done["branchConfigs"][0]["values"][1]["value"], "refs/heads/side");
    assert_eq!(configured(&scratch), then);
    assert_eq!(scratch.git(&["config", "branch.side.merge"]), "refs/heads/side");
    let undo = scratch.json(&["undo", "--dry-run"]);
    assert_eq!(undo["branchConfigs"][0]["action"], "removed");
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(scratch.read(".git/config"), without, "to the byte");
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!(configured(&scratch), then);
    assert_eq!(scratch.read(".git/config").lines().count(), file.lines().count());
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(scratch.read(".git/config"), without);
}

#[test]
fn what_is_configured_since_stays() {
    let scratch = Scratch::new();
    with_upstream(&scratch);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.git(&["branch", "-q", "-D", "side"]);
    scratch.git(&["config", "branch.side.remote", "mine"]);
    let now = scratch.read(".git/config");
    let done = scratch.json(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(done["branchConfigsLeft"][0], "refs/heads/side");
    assert_eq!((done["branchConfigs"].as_array().unwrap().len(), scratch.read(".git/config")), (0, now.clone()));
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(scratch.read(".git/config"), now);
    // What somebody adds to what came back is his, and an undo leaves it.
    scratch.git(&["config", "--remove-section", "branch.side"]);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    scratch.git(&["config", "branch.side.rebase", "true"]);
    let now = configured(&scratch);
    let undo = scratch.json(&["undo", "--yes"]);
    assert_eq!(undo["branchConfigs"].as_array().unwrap().len(), 0);
    assert_eq!(configured(&scratch), now);
}

#[test]
fn a_rollback_that_died_is_finished_or_taken_back() {
    for fault in ["journal.before-config", "git.config-locked", "git.config-moved"] {
        let scratch = Scratch::new();
        with_upstream(&scratch);
        let then = configured(&scratch);
        scratch.axiom(&["checkpoint", "create", "safe"]);
        scratch.git(&["branch", "-q", "-D", "side"]);
        let without = scratch.read(".git/config");
        for end in ["--abort", "--continue"] {
            let fault = format!("{fault}:1");
            scratch.killed_at(&["rollback", "checkpoint", "safe", "--yes"], &fault);
            scratch.axiom(&["rollback", end]);
            assert!(!scratch.has(".git/config.lock"), "{fault} {end}");
            if end == "--abort" {
                assert_eq!(scratch.read(".git/config"), without, "{fault}");
            } else {
                assert_eq!(configured(&scratch), then, "{fault}");
            }
        }
        scratch.fsck();
    }
}

#[test]
fn somebody_who_changes_the_configuration_stops_it_before_its_first_change() {
    let scratch = Scratch::new();
    with_upstream(&scratch);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.git(&["branch", "-q", "-D", "side"]);
    scratch.write(".git/config.lock", "");
    scratch.refused(&["rollback", "checkpoint", "safe", "--yes"], "GIT_LOCKED", 5);
    assert_eq!(scratch.git(&["branch", "--list", "side"]), "");
    scratch.remove(".git/config.lock");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(scratch.git(&["config", "branch.side.remote"]), "origin");
}
