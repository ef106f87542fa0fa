//! Checkpoint, merge, rollback and undo, killed at every fault point: afterwards recovery leaves what was before or what
//! comes after, a second recovery changes nothing more, and nothing of the user's is lost.
//!
//! A third of the named points is hit, another third in each story; at every fourth, recovery itself is killed at one seeded point
//! too, and done twice. Every occurrence of every point, with every point of the recovery:
//! `AXIOM_ROUNDS=all cargo test --test it crash_ops`.

use crate::crash_points::{drawn, full, points_of};
use crate::support::{Scratch, contents};

struct Story {
    scratch: Scratch,
    args: Vec<String>,
}

/// All that a user can see and would miss. What the journal and its checkpoints add is left out.
fn fingerprint(scratch: &Scratch) -> String {
    let refs = scratch.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads"]);
    let head = scratch.git(&["symbolic-ref", "-q", "HEAD"]);
    let mut text = format!("{head}\n{refs}\n{}\n{:?}\n", scratch.users_view(), contents(&scratch.path()));
    let store = scratch.store();
    let restorable = &store.state().restorable;
    for case in restorable.tasks.values() {
        text.push_str(&format!("{} {} merged: {}\n", case.id, case.status, case.merged.is_some()));
    }
    for (task, workspace) in &restorable.workspaces {
        let folder = std::path::Path::new(&workspace.path);
        if !folder.exists() {
            text.push_str(&format!("{task} is lost\n"));
            continue;
        }
        let at = |args: &[&str]| scratch.git(&[&["-C", workspace.path.as_str()], args].concat());
        text.push_str(&format!("{task} {:?}\n", contents(folder)));
        text.push_str(&format!("{} {}\n", at(&["branch", "--show-current"]), at(&["status", "--porcelain=v2", "-uall"])));
    }
    // Commits that are made on the way have the time of their making in them.
    let merges = scratch.git(&["log", "--branches", "--min-parents=2", "--format=%H"]);
    let reverts = scratch.git(&["log", "--branches", "--grep=^Axiom-Reverts:", "--format=%H"]);
    for (number, id) in merges.lines().chain(reverts.lines()).enumerate() {
        text = text.replace(id, &format!("made-{number}"));
    }
    text
}

/// Tells the story once, then again and again with a death in it. `check` looks at what is beside the fingerprint.
fn survive(story: &Story, check: &dyn Fn(&Scratch, &str)) {
    let scratch = &story.scratch;
    let args: Vec<&str> = story.args.iter().map(String::as_str).collect();
    let saved = scratch.save_as("saved");
    let before = fingerprint(scratch);
    let points = drawn(points_of(scratch, &args), &args);
    assert!(points.len() > 5, "{points:?}");
    let after = fingerprint(scratch);
    let (mut were_before, mut were_after) = (0, 0);
    for (number, point) in points.iter().enumerate() {
        let mut inner = vec![None];
        let mut tried = 0;
        while tried < inner.len() {
            scratch.put_back(&saved);
            scratch.killed_at(&args, point);
            let thorough = full() || number % 4 == 0;
            if tried == 0 && thorough {
                let keep = scratch.save_as("dead");
                let mut inside = points_of(scratch, &["recover", "--yes"]);
                if !full() && !inside.is_empty() {
                    inside = vec![inside.swap_remove((number * 7 + 3) % inside.len())];
                }
                inner.extend(inside.into_iter().map(Some));
                scratch.put_back(&keep);
            }
            if let Some(inside) = &inner[tried] {
                scratch.killed_at(&["recover", "--yes"], inside);
            }
            let what = format!("{:?} killed at {point}, recovery at {:?}", story.args, inner[tried]);
            scratch.axiom(&["recover", "--yes"]);
            let state = scratch.store().state().clone();
            assert!(state.record.open.is_none() && state.record.checkpoint_intent.is_none(), "{what}");
            let now = fingerprint(scratch);
            assert!(now == before || now == after, "{what}:\n{now}\n--- before:\n{before}\n--- after:\n{after}");
            if now == before {
                were_before += 1
            } else {
                were_after += 1
            }
            check(scratch, &what);
            scratch.fsck();
            let locks = walkdir::WalkDir::new(scratch.path().join(".git")).into_iter().map(Result::unwrap);
            // That of a keeper stays with its run.
            let is_left = |name: &str| name.ends_with(".lock") && name != "keeper.lock";
            let locks: Vec<_> = locks.filter(|entry| is_left(&entry.file_name().to_string_lossy())).collect();
            assert!(locks.is_empty(), "{what}: {locks:?}");
            if thorough {
                scratch.axiom(&["recover", "--yes"]);
                assert_eq!(fingerprint(scratch), now, "{what}: recovery twice");
            }
            tried += 1;
        }
    }
    assert!(before == after || (were_before > 0 && were_after > 0), "{were_before} before, {were_after} after");
}

fn args(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Every checkpoint that the state knows is there with its three refs, and the other way round.
fn checkpoints_are_whole(scratch: &Scratch, what: &str) {
    let mut names = scratch.checkpoints();
    names.sort();
    let refs = scratch.git(&["for-each-ref", "--format=%(refname)", "refs/axiom/captures", "refs/tags/axiom"]);
    let below = |prefix: &str| refs.lines().filter_map(|name| name.strip_prefix(prefix)).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(below("refs/axiom/captures/"), names, "{what}");
    assert_eq!(below("refs/tags/axiom/"), names, "{what}");
    for name in names {
        let note = scratch.git(&["notes", "--ref=axiom", "show", &format!("axiom/{name}")]);
        assert!(note.contains(&format!("\"name\": \"{name}\"")), "{what}: {note}");
    }
}

fn with_work() -> Scratch {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.done_task("t2");
    std::fs::write(scratch.workspace("t2").join("loose.txt"), "loose\n").unwrap();
    scratch.make_dirty();
    scratch
}

fn gone_on() -> Scratch {
    let scratch = with_work();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.axiom(&["merge", "t1"]);
    scratch.done_task("t3");
    std::fs::write(scratch.workspace("t2").join("loose.txt"), "changed\n").unwrap();
    scratch.write("sub/b.txt", "edited again\n");
    scratch.git(&["add", "sub/b.txt"]);
    scratch.remove("untracked.txt");
    scratch
}

#[test]
fn a_checkpoint_killed_anywhere_is_there_or_not() {
    let story = Story { scratch: with_work(), args: args(&["checkpoint", "create", "c1"]) };
    survive(&story, &checkpoints_are_whole);
}

#[test]
fn a_merge_killed_anywhere_is_made_or_not() {
    let story = Story { scratch: with_work(), args: args(&["merge", "t1"]) };
    survive(&story, &checkpoints_are_whole);
}

#[test]
fn a_rollback_killed_anywhere_is_done_or_not() {
    let story = Story { scratch: gone_on(), args: args(&["rollback", "checkpoint", "safe", "--yes"]) };
    survive(&story, &checkpoints_are_whole);
}

#[test]
fn an_undo_killed_anywhere_is_done_or_not() {
    let scratch = gone_on();
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    let story = Story { scratch, args: args(&["undo", "--yes"]) };
    survive(&story, &checkpoints_are_whole);
}

#[test]
fn a_tasks_rollback_killed_anywhere_is_done_or_not() {
    let story = Story { scratch: built_upon(), args: args(&["rollback", "task", "t1", "--cascade", "--yes"]) };
    survive(&story, &checkpoints_are_whole);
}

#[test]
fn an_undo_of_a_tasks_rollback_killed_anywhere_is_done_or_not() {
    let scratch = built_upon();
    scratch.axiom(&["rollback", "task", "t1", "--cascade", "--yes"]);
    let story = Story { scratch, args: args(&["undo", "--yes"]) };
    survive(&story, &checkpoints_are_whole);
}

/// A merged task, and one that was done on top of it, with loose ends.
fn built_upon() -> Scratch {
    let scratch = with_work();
    scratch.axiom(&["merge", "t1"]);
    scratch.axiom(&["task", "edit", "t2", "--after", "t1"]);
    scratch
}

#[test]
fn an_interrupted_rollback_is_reversed_by_abort_or_finished_by_continue() {
    ended_either_way(&gone_on(), &["rollback", "checkpoint", "safe", "--yes"]);
}

#[test]
fn an_interrupted_rollback_of_a_task_is_reversed_by_abort_or_finished_by_continue() {
    ended_either_way(&built_upon(), &["rollback", "task", "t1", "--cascade", "--yes"]);
}

#[test]
fn an_interrupted_rollback_of_a_session_is_reversed_by_abort_or_finished_by_continue() {
    let scratch = Scratch::new();
    scratch.make_dirty();
    scratch.axiom(&["task", "add", "one", "--body", "echo 1 > one.txt"]);
    scratch.axiom(&["run", "--mode", "autopilot", "--until-idle"]);
    assert!(scratch.has("one.txt"));
    scratch.write("sub/b.txt", "edited again\n");
    ended_either_way(&scratch, &["rollback", "session", "--yes"]);
}

#[test]
fn an_interrupted_rollback_of_one_worktree_is_reversed_by_abort_or_finished_by_continue() {
    let scratch = gone_on();
    let workspace = scratch.workspace("t2").display().to_string();
    ended_either_way(&scratch, &["rollback", "checkpoint", "safe", "--worktree", &workspace, "--yes"]);
}

/// A task done since `safe`, whose workspace somebody removed.
fn lost() -> Scratch {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.done_task("t2");
    std::fs::remove_dir_all(scratch.workspace("t2")).unwrap();
    scratch
}

#[test]
fn an_interrupted_rollback_that_forgets_a_lost_workspace_is_ended_either_way() {
    ended_either_way(&lost(), &["rollback", "checkpoint", "safe", "--yes"]);
}

#[test]
fn an_undo_that_knows_a_lost_workspace_again_is_done_or_not() {
    let scratch = lost();
    scratch.axiom(&["rollback", "task", "t2", "--yes"]);
    let story = Story { scratch, args: args(&["undo", "--yes"]) };
    survive(&story, &checkpoints_are_whole);
}

/// A task that has left its workspace to another one, and the checkpoint from before.
fn handed_on() -> (Scratch, String) {
    let scratch = Scratch::new();
    scratch.write(".git/info/exclude", "*.ignored\n");
    let add = |id: &str| {
        let body = format!("echo 1 > {id}.txt; echo {id} > only.ignored; git axiom signal waiting '?'");
        scratch.axiom(&["task", "add", id, "--id", id, "--body", &body])
    };
    let run = ["run", "--mode", "autopilot", "--agents", "1", "--until-idle"];
    add("one");
    scratch.refused(&run, "NOT_IDLE", 1);
    add("two");
    scratch.axiom(&["redirect", "agent-001", "two", "--same-workspace"]);
    scratch.refused(&run, "NOT_IDLE", 1);
    let before = scratch.checkpoints().into_iter().find(|name| name.starts_with("before-redirect")).unwrap();
    (scratch, before)
}

#[test]
fn a_rollback_that_puts_one_workspace_in_the_place_of_another_is_done_or_not() {
    let (scratch, before) = handed_on();
    let story = Story { scratch, args: args(&["rollback", &before, "--yes"]) };
    survive(&story, &checkpoints_are_whole);
    // It was done last, or not.
    story.scratch.axiom(&["rollback", &before, "--yes"]);
    let story = Story { scratch: story.scratch, args: args(&["undo", "--yes"]) };
    survive(&story, &checkpoints_are_whole);
}

#[test]
fn an_interrupted_rollback_that_puts_one_workspace_in_the_place_of_another_is_ended_either_way() {
    let (scratch, before) = handed_on();
    ended_either_way(&scratch, &["rollback", &before, "--yes"]);
}

fn ended_either_way(scratch: &Scratch, rollback: &[&str]) {
    let before = fingerprint(scratch);
    let saved = scratch.save_as("saved");
    let points = points_of(scratch, rollback);
    let after = fingerprint(scratch);
    let begun = points.iter().position(|point| point == "journal.begun:1").unwrap();
    let ended = points.iter().position(|point| point == "journal.before-end:1").unwrap();
    let mut open = 0;
    for (number, point) in points[begun..=ended].iter().enumerate() {
        // One of the ways at each point, by turns, or both.
        let ways = [("--abort", &before), ("--continue", &after)].into_iter().enumerate();
        for (_, (way, wanted)) in ways.filter(|(turn, _)| full() || number % 2 == *turn) {
            scratch.put_back(&saved);
            scratch.killed_at(rollback, point);
            if scratch.store().state().record.open.is_none() {
                continue;
            }
            open += 1;
            scratch.refused(&["merge", "t2"], "OPERATION_OPEN", 6);
            scratch.refused(&["checkpoint", "create", "x"], "OPERATION_OPEN", 6);
            scratch.refused(rollback, "OPERATION_OPEN", 6);
            scratch.axiom(&["rollback", way]);
            assert_eq!(&fingerprint(scratch), wanted, "{point} {way}");
            scratch.axiom(&["rollback", way]);
            assert_eq!(&fingerprint(scratch), wanted, "{point} {way}, twice");
            scratch.fsck();
        }
    }
    assert!(open > 4, "{points:?}");
}
