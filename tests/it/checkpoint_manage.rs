//! The checkpoint manager, at a pseudo terminal. Escape always leaves everything as it was.

use crate::support::{Scratch, contents};
use crate::terminal::Terminal;

const ESCAPE: &str = "\x1b";
const DOWN: &str = "\x1b[B";
const WHAT_NEXT: &str = "What next?";
// How far below the first action of the menu the others are.
const SHOW: &[&str] = &[DOWN, "\r"];
const ROLL_BACK: &[&str] = &[DOWN, DOWN, "\r"];
const DELETE: &[&str] = &[DOWN, DOWN, DOWN, "\r"];
const DELETE_OLD: &[&str] = &[DOWN, DOWN, DOWN, DOWN, "\r"];
const COMPACT: &[&str] = &[DOWN, DOWN, DOWN, DOWN, DOWN, "\r"];

fn manager(scratch: &Scratch) -> Terminal {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    command.args(["checkpoint", "manage"]);
    let mut terminal = Terminal::start(command);
    terminal.wait_for(WHAT_NEXT);
    terminal
}

fn with_checkpoints(wanted: &[&str]) -> Scratch {
    let scratch = Scratch::new();
    for name in wanted {
        scratch.axiom(&["checkpoint", "create", name]);
    }
    scratch
}

#[test]
fn it_counts_and_escape_changes_nothing_anywhere() {
    let scratch = with_checkpoints(&["a", "b"]);
    let everything = || {
        let refs = scratch.git(&["for-each-ref"]);
        format!("{refs}\n{}\n{:?}\n{}", scratch.users_view(), contents(&scratch.path()), scratch.store().state().seq)
    };
    let before = everything();
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    command.args(["checkpoint", "manage"]);
    let mut terminal = Terminal::start(command);
    let seen = terminal.wait_for(WHAT_NEXT);
    assert!(seen.contains("2/50 checkpoints (2 named, 0 automatic)"), "{seen}");
    // Each action is left again.
    terminal.keys(&["\r"]);
    terminal.wait_for("Its name");
    terminal.keys(&[ESCAPE]);
    terminal.wait_for(WHAT_NEXT);
    terminal.keys(SHOW);
    terminal.wait_for("Show which one?");
    terminal.keys(&[ESCAPE]);
    terminal.wait_for(WHAT_NEXT);
    terminal.keys(DELETE);
    terminal.wait_for("Space selects");
    terminal.keys(&[" ", ESCAPE]);
    terminal.wait_for(WHAT_NEXT);
    terminal.keys(DELETE_OLD);
    terminal.wait_for("Older than how many days");
    terminal.keys(&["\r"]);
    terminal.wait_for(WHAT_NEXT);
    terminal.keys(DELETE_OLD);
    terminal.wait_for("Older than how many days");
    terminal.keys(&["x", "\r"]);
    terminal.wait_for("is not a number of days");
    terminal.wait_for(WHAT_NEXT);
    terminal.keys(ROLL_BACK);
    terminal.wait_for("Roll back to which one?");
    terminal.keys(&[ESCAPE]);
    terminal.wait_for(WHAT_NEXT);
    terminal.keys(&[ESCAPE]);
    assert!(terminal.end().0.success());
    assert_eq!(everything(), before);
}

#[test]
fn it_deletes_what_was_selected_and_that_can_be_undone() {
    let scratch = with_checkpoints(&["a", "b", "c", "d", "e"]);
    let mut terminal = manager(&scratch);
    terminal.keys(DELETE);
    terminal.wait_for("Space selects");
    // The oldest two. Named ones are asked about twice.
    terminal.keys(&[" ", DOWN, " ", "\r"]);
    terminal.wait_for("Delete the protected ones too?");
    terminal.keys(&["y", "\r"]);
    let seen = terminal.wait_for("Delete?");
    assert!(seen.contains("Deletes a, b"), "{seen}");
    terminal.keys(&["n", "\r"]);
    terminal.wait_for(WHAT_NEXT);
    assert_eq!(scratch.checkpoints().len(), 5);
    terminal.keys(DELETE);
    terminal.wait_for("Space selects");
    terminal.keys(&[" ", DOWN, " ", "\r"]);
    terminal.wait_for("Delete the protected ones too?");
    terminal.keys(&["y", "\r"]);
    terminal.wait_for("Delete?");
    terminal.keys(&["y", "\r"]);
    let seen = terminal.wait_for(WHAT_NEXT);
    assert!(seen.contains("3/50 checkpoints"), "{seen}");
    terminal.keys(&[ESCAPE]);
    assert!(terminal.end().0.success());
    assert_eq!(scratch.checkpoints(), ["c", "d", "e"]);
    scratch.axiom(&["undo", "--yes"]);
    let names = scratch.checkpoints();
    assert!(["a", "b"].iter().all(|name| names.iter().any(|one| one == name)), "{names:?}");
}

#[test]
fn what_is_protected_stays_and_the_rest_goes() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create"]);
    for name in ["a", "b"] {
        scratch.axiom(&["checkpoint", "create", name]);
    }
    let mut terminal = manager(&scratch);
    terminal.keys(DELETE);
    terminal.wait_for("Space selects");
    terminal.keys(&[" ", DOWN, " ", "\r"]);
    let seen = terminal.wait_for("Delete the protected ones too?");
    assert!(seen.contains("Protected: a\r\n"), "{seen}");
    terminal.keys(&["n", "\r"]);
    terminal.wait_for("Deletes manual-");
    terminal.wait_for("Delete?");
    terminal.keys(&["y", "\r"]);
    terminal.wait_for("2/50 checkpoints");
    terminal.wait_for(WHAT_NEXT);
    terminal.keys(&[ESCAPE]);
    assert!(terminal.end().0.success());
    assert_eq!(scratch.checkpoints(), ["a", "b"]);
}

#[test]
fn it_packs_and_goes_back_after_showing_what_that_reverts() {
    let scratch = with_checkpoints(&["a"]);
    scratch.write("a.txt", "changed\n");
    let mut terminal = manager(&scratch);
    terminal.keys(COMPACT);
    terminal.wait_for(" loose objects; the repository took");
    terminal.wait_for(WHAT_NEXT);
    terminal.keys(ROLL_BACK);
    terminal.wait_for("Roll back to which one?");
    terminal.keys(&["\r"]);
    let seen = terminal.wait_for("Go back?");
    assert!(seen.contains("Type: named") && seen.contains("a.txt"), "{seen}");
    assert_eq!(scratch.read("a.txt"), "changed\n");
    terminal.keys(&["y", "\r"]);
    let (status, seen) = terminal.end();
    assert!(status.success() && seen.contains("git axiom undo"), "{seen}");
    assert_eq!(scratch.read("a.txt"), "a\n");
}

/// All of it by the menu: none is there, one is made, looked at, and made under a name; one without a name is not called automatic.
#[test]
fn it_makes_checkpoints_and_shows_what_they_hold() {
    let scratch = Scratch::new();
    let mut terminal = manager(&scratch);
    terminal.keys(SHOW);
    terminal.wait_for("There is no checkpoint yet.");
    terminal.wait_for(WHAT_NEXT);
    terminal.keys(&["\r"]);
    terminal.wait_for("Its name");
    terminal.keys(&["\r"]);
    let seen = terminal.wait_for("1/50 checkpoints (0 named, 1 manual, 0 automatic)");
    assert!(seen.contains("Made checkpoint manual-"), "{seen}");
    terminal.wait_for(WHAT_NEXT);
    terminal.keys(SHOW);
    terminal.wait_for("Show which one?");
    terminal.keys(&["\r"]);
    let seen = terminal.wait_for("refs/axiom/captures/manual-");
    assert!(seen.contains(", manual\r\n"), "{seen}");
    terminal.wait_for(WHAT_NEXT);
    terminal.keys(&[ESCAPE]);
    assert!(terminal.end().0.success());
    let listed = scratch.axiom(&["checkpoint", "list"]);
    assert!(listed.contains("  manual  manual-") && !listed.contains("auto"), "{listed}");
}

#[test]
fn without_a_terminal_it_names_the_verbs_that_do_the_same() {
    let scratch = with_checkpoints(&["a"]);
    scratch.refused(&["checkpoint", "manage"], "NEEDS_CONFIRMATION", 3);
}

/// What is deleted by its age is no choice of single checkpoints: what is there now is saved before.
#[test]
fn before_old_ones_go_there_is_a_checkpoint_of_what_is_there() {
    let scratch = Scratch::new();
    for text in ["1\n", "2\n", "3\n", "4\n"] {
        scratch.write("a.txt", text);
        scratch.axiom(&["checkpoint", "create"]);
    }
    scratch.write("a.txt", "now\n");
    let mut terminal = manager(&scratch);
    terminal.keys(DELETE_OLD);
    terminal.wait_for("Older than how many days");
    terminal.keys(&["0", "\r"]);
    terminal.wait_for("Delete?");
    terminal.keys(&["y", "\r"]);
    terminal.wait_for(WHAT_NEXT);
    terminal.keys(&[ESCAPE]);
    assert!(terminal.end().0.success());
    let names = scratch.checkpoints();
    assert!(names.len() == 4, "the three newest, and one of what is there: {names:?}");
    let list = scratch.json(&["checkpoint", "list"]);
    let saved = list["checkpoints"].as_array().unwrap().iter().find(|one| one["trigger"] == "before-cleanup").unwrap();
    let saved = saved["capture"].as_str().unwrap();
    assert_eq!(scratch.git(&["show", &format!("{saved}:a.txt")]), "now");
}
