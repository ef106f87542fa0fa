//! `merge.verify`: what comes of a merge is verified before any ref moves, for that very merge.

use std::path::Path;

use git_axiom::base::error::Code;
use rustix::process::Signal;

use crate::session_support::{Live, World, signal, wait_until};

/// A repository in which merges are verified by `command`.
fn verified_by(command: &str) -> World {
    let world = World::new();
    world.env.git(&["config", "axiom.merge.verify", command]);
    world
}

/// A command that says beside the repository that it began, with the tree that it sees, and waits there for a word to go on.
fn waits(world: &World) -> String {
    let root = world.env.root().display();
    format!(
        "git rev-parse HEAD^{{tree}} >> '{root}/began'; touch '{root}/verifying'; while ! [ -e '{root}/go' ]; do sleep 0.02; done"
    )
}

#[track_caller]
fn nothing_is_left(world: &World) {
    wait_until("the worktree of the verification is gone", || {
        let list = world.env.git(&["worktree", "list", "--porcelain"]);
        let folders = std::fs::read_dir(world.env.repo().join(".worktrees")).into_iter().flatten().flatten();
        let left = folders.filter(|entry| entry.file_name().to_string_lossy().starts_with("verify-")).count();
        !list.contains("verify-") && left == 0
    });
    let notes = std::fs::read_dir(world.env.axiom_dir().join("verifying"));
    assert_eq!(notes.into_iter().flatten().count(), 0);
    world.all_is_well();
}

#[test]
fn a_merge_that_does_not_pass_waits_for_a_human_who_says_what_follows() {
    let world = verified_by("if [ -e bad.txt ] && ! [ -e ../../../excused ]; then echo one; echo no good; exit 3; fi");
    world.task("good", "echo 1 > good.txt", &[]);
    world.task("bad", "echo 1 > bad.txt", &[]);
    world.task("worse", "echo 1 > bad.txt", &[]);
    world.autopilot(&[]).code(1);
    assert_eq!(world.env.git(&["ls-tree", "--name-only", "main", "good.txt", "bad.txt"]), "good.txt");
    let gate = world.wait_for_gate("human-review-bad");
    assert!(gate["reason"].as_str().unwrap().ends_with("exited with status 3"), "{gate}");
    assert_eq!(gate["details"]["cause"], "verifyFailed", "{gate}");
    assert!(gate["details"].to_string().contains("no good"), "{gate}");
    nothing_is_left(&world);
    // What failed for this very merge is not run again unasked.
    let runs = || world.env.ok(&["log"]).matches("the merge of bad is not verified").count();
    let before = runs();
    world.autopilot(&[]).code(1);
    assert_eq!(runs(), before);
    // Approved it is tried again; rejected the task is blocked.
    world.signal_file("excused");
    world.env.ok(&["gate", "approve", "human-review-bad"]);
    world.env.ok(&["gate", "reject", "human-review-worse", "--reason", "no"]);
    world.autopilot(&[]).code(1);
    assert_eq!(world.env.read("bad.txt"), "1\n");
    assert_eq!((world.status_of("bad"), world.status_of("worse")), ("done".into(), "blocked".into()));
    assert_eq!(world.gates().len(), 0);
    nothing_is_left(&world);
}

/// Each is well by itself; what comes of both is not.
#[test]
fn it_is_what_comes_of_the_merge_that_is_verified() {
    let world = verified_by("test $(ls *.part 2>/dev/null | wc -l) -lt 2");
    for task in ["a", "b"] {
        world.task(task, "echo 1 > $AXIOM_TASK_ID.part", &["--verify", "test $(ls *.part | wc -l) = 1"]);
    }
    world.autopilot(&[]).code(1);
    let merged = ["a", "b"].iter().filter(|task| !world.find_task(task)["merged"].is_null()).count();
    assert_eq!((merged, world.gates().len()), (1, 1));
    assert_eq!(world.env.git(&["ls-tree", "--name-only", "main"]).matches(".part").count(), 1);
    nothing_is_left(&world);
}

#[test]
fn a_target_that_moved_meanwhile_is_verified_again_and_agents_go_on() {
    let world = World::new();
    world.env.git(&["config", "axiom.merge.verify", &waits(&world)]);
    world.task("t", "echo 1 > t.txt", &[]);
    world.task(
        "slow",
        &format!("while ! [ -e '{}' ]; do sleep 0.02; done; echo 1 > slow.txt", world.beside("slow-go").display()),
        &[],
    );
    let live = world.start_autopilot(&["--agents", "1"]);
    world.wait_for_file("verifying");
    // The loop goes on: another task is claimed, a checkpoint is made and holds no worktree of a verification.
    wait_until("slow is claimed", || world.status_of("slow") == "active");
    let made = world.env.json(&["checkpoint", "create", "meanwhile"]);
    assert!(!made.to_string().contains("verify-t"), "{made}");
    assert!(!world.env.json(&["checkpoint", "show", "meanwhile"]).to_string().contains("verify-t"));
    world.env.write("mine.txt", "mine\n");
    world.env.git(&["add", "mine.txt"]);
    world.env.git(&["commit", "-q", "-m", "mine"]);
    world.signal_file("slow-go");
    world.signal_file("go");
    live.wait().code(0);
    let trees: Vec<String> = std::fs::read_to_string(world.beside("began")).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(trees.len(), 3, "{trees:?}");
    // Each merge has the tree that was verified for it.
    let merges = world.env.git(&["log", "--merges", "--format=%T", "--reverse", "main"]);
    assert_eq!(merges.lines().collect::<Vec<_>>(), [&trees[1], &trees[2]]);
    nothing_is_left(&world);
}

#[test]
fn whether_a_task_is_merged_is_asked_while_another_merge_is_verified() {
    let world = World::new();
    world.env.git(&["config", "axiom.merge.verify", &waits(&world)]);
    world.task("one", "echo 1 > one.txt", &[]);
    let live = world.start(&["--mode", "semi-auto"]);
    world.wait_for_gate("claim-one");
    world.env.ok(&["gate", "approve", "claim-one"]);
    world.wait_for_gate("merge-one");
    world.env.ok(&["gate", "approve", "merge-one"]);
    world.wait_for_file("verifying");
    world.task("two", "echo 2 > two.txt", &[]);
    world.wait_for_gate("claim-two");
    world.env.ok(&["gate", "approve", "claim-two"]);
    world.wait_for_gate("merge-two");
    assert!(world.find_task("one")["merged"].is_null(), "its merge is still verified");
    world.env.ok(&["gate", "approve", "merge-two"]);
    world.signal_file("go");
    world.wait_until_merged("one");
    world.wait_until_merged("two");
    world.quits_well(live);
    nothing_is_left(&world);
}

#[test]
fn a_killed_session_leaves_nothing_of_a_verification_and_the_next_goes_on() {
    let world = World::new();
    let step = format!("(setsid env -i sh -c 'while :; do sleep 0.1; done' &) ; {}", waits(&world));
    world.env.git(&["config", "axiom.merge.verify", &step]);
    world.task("t", "echo 1 > t.txt", &[]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("verifying");
    live.kill();
    world.no_process_is_left();
    assert!(world.env.repo().join(".worktrees/verify-t").is_dir());
    world.signal_file("go");
    let ended = world.autopilot(&[]).code(0);
    assert!(ended.stderr.contains("verify-t', where a merge was verified, was cleared"), "{}", ended.stderr);
    assert_eq!(world.env.read("t.txt"), "1\n");
    nothing_is_left(&world);
}

#[test]
fn ctrl_c_ends_a_session_that_verifies_a_merge() {
    let world = World::new();
    world.env.git(&["config", "axiom.merge.verify", &waits(&world)]);
    world.task("t", "echo 1 > t.txt", &[]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("verifying");
    live.interrupt();
    live.wait().code(130);
    assert!(!world.env.repo().join("t.txt").exists());
    nothing_is_left(&world);
}

/// A task that is done and not merged.
fn done(world: &World) {
    world.env.git(&["config", "axiom.merge.verify", "false"]);
    world.task("t", "echo 1 > t.txt", &[]);
    world.autopilot(&[]).code(1);
}

#[test]
fn by_hand_it_is_verified_in_the_foreground() {
    let world = World::new();
    done(&world);
    world.env.git(&["config", "axiom.merge.verify", "echo seen; test -e mended"]);
    let refused = world.env.axiom(&["merge", "t"]).fails_with(Code::VerifyFailed);
    assert!(refused.stderr.contains("seen") && refused.stderr.contains("exited with status 1"), "{refused}");
    assert!(!world.env.repo().join("t.txt").exists());
    nothing_is_left(&world);
    // The same again: for whoever asks it is run again.
    world.env.axiom(&["merge", "t"]).fails_with(Code::VerifyFailed);
    world.env.git(&["config", "axiom.merge.verify", "test -e t.txt"]);
    world.env.ok(&["merge", "t"]);
    assert_eq!(world.env.read("t.txt"), "1\n");
    nothing_is_left(&world);
}

/// Three times a merge is verified that is another one each time; then whoever asks is told, and a session waits for a human.
#[test]
fn a_target_that_moves_each_time_is_given_up_after_three_tries() {
    let world = World::new();
    done(&world);
    let (tried, repo) = (world.beside("tried"), world.env.repo());
    let moves = format!("echo >> '{}'; git -C '{}' commit -q --allow-empty -m moved", tried.display(), repo.display());
    world.env.git(&["config", "axiom.merge.verify", &moves]);
    let tries = || std::fs::read_to_string(&tried).unwrap().lines().count();
    let refused = world.env.axiom(&["merge", "t"]).fails_with(Code::ChangedMeanwhile);
    assert!(refused.stderr.contains("the target moved each time"), "{refused}");
    assert_eq!(tries(), 3);
    nothing_is_left(&world);
    world.env.ok(&["gate", "approve", "human-review-t"]);
    let ended = world.autopilot(&[]).code(1);
    assert!(ended.stdout.contains("merge-t: the target moved each time"), "{}", ended.stdout);
    assert_eq!(tries(), 6);
    assert!(!repo.join("t.txt").exists());
    nothing_is_left(&world);
    // Once it rests, the same gate leads on.
    world.env.git(&["config", "axiom.merge.verify", "true"]);
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "1\n");
}

#[test]
fn by_hand_ctrl_c_ends_it_and_clears_up() {
    let world = World::new();
    done(&world);
    world.env.git(&["config", "axiom.merge.verify", &waits(&world)]);
    for name in [Signal::INT, Signal::TERM] {
        let _ = std::fs::remove_file(world.beside("verifying"));
        let merge = |by: &str| {
            let command = world.env.axiom_command(&world.env.repo(), ["merge", "t"]);
            Live::start(command, world.env.root(), &format!("{by}-{}", name.as_raw()))
        };
        let live = merge("first");
        world.wait_for_file("verifying");
        // Somebody else who wants the same hears that, and verifies nothing.
        let other = merge("other").wait().code(Code::Busy.exit() as i32);
        assert!(other.stderr.contains("is being verified by another process"), "{}", other.stderr);
        assert!(signal(live.pid(), name));
        live.wait().code(130);
        world.no_process_is_left();
        nothing_is_left(&world);
    }
    assert!(!world.env.repo().join("t.txt").exists());
}

#[test]
fn what_ends_its_own_keeper_has_not_passed() {
    let world = World::new();
    done(&world);
    world.env.git(&["config", "axiom.merge.verify", "kill -9 $PPID; exit 0"]);
    world.env.axiom(&["merge", "t"]).fails_with(Code::VerifyFailed);
    world.env.git(&["config", "axiom.merge.verify", "sleep 1000"]);
    world.env.git(&["config", "axiom.verify.timeLimit", "1"]);
    let refused = world.env.axiom(&["merge", "t"]).fails_with(Code::VerifyFailed);
    assert!(refused.stderr.contains("took longer than 1 second"), "{refused}");
    nothing_is_left(&world);
}

#[test]
fn the_wrapper_runs_each_step() {
    let world = World::new();
    done(&world);
    world.env.git(&["config", "axiom.merge.verify", "test \"$WRAPPED\" = yes"]);
    world.env.axiom(&["merge", "t"]).fails_with(Code::VerifyFailed);
    world.env.git(&["config", "axiom.verify.wrapper", "env"]);
    world.env.git(&["config", "--add", "axiom.verify.wrapper", "WRAPPED=yes"]);
    world.env.ok(&["merge", "t"]);
}

/// Where a clone's own configuration wants merges to be verified and nobody approved it, nothing of it runs and nothing passes.
#[test]
fn what_nobody_approved_neither_runs_nor_lets_pass() {
    let world = World::new();
    done(&world);
    world.env.git(&["config", "--unset", "axiom.merge.verify"]);
    let ran = world.beside("ran");
    world.env.write(".axiom/config.toml", format!("[merge]\nverify = [\"touch '{}'\"]\n", ran.display()));
    let refused = world.env.axiom(&["merge", "t"]).fails_with(Code::NotTrusted);
    assert!(refused.stderr.contains("git config axiom.merge.verify"), "{refused}");
    assert!(!Path::new(&ran).exists());
    world.env.git(&["config", "axiom.merge.verify", "true"]);
    world.env.ok(&["merge", "t"]);
    assert!(!Path::new(&ran).exists());
}

#[test]
fn what_is_somebody_elses_is_left_where_a_merge_would_be_verified() {
    let world = World::new();
    done(&world);
    world.env.git(&["config", "axiom.merge.verify", "true"]);
    world.env.write(".worktrees/verify-t/mine", "mine\n");
    world.env.axiom(&["merge", "t"]).fails_with(Code::WorkspaceInTheWay);
    assert_eq!(world.env.read(".worktrees/verify-t/mine"), "mine\n");
}
