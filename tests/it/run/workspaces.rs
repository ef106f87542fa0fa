//! Agents that do to their workspace what they should not, and users who move branches meanwhile.

use std::path::Path;

use git_axiom::base::error::Code;
use git_axiom::base::files::{FileLock, LockAttempt};

use crate::common::TestEnv;
use crate::session_support::{World, wait_until};

/// In iteration 1 does something bad to the workspace and fails; later writes what it found.
fn mischief(world: &World, bad: &str) {
    let script = format!("if [ $AXIOM_ITERATION = 1 ]; then {bad}; exit 1; fi\necho mended > t.txt");
    world.task("t", &script, &[]);
}

#[test]
fn a_detached_head_is_brought_back_with_its_work() {
    let world = World::new();
    mischief(&world, "git checkout -q --detach; echo 1 > detached.txt; git add -A; git commit -qm detached; echo 2 > more.txt");
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "mended\n");
    assert_eq!((world.env.read("detached.txt"), world.env.read("more.txt")), ("1\n".into(), "2\n".into()));
    world.all_is_well();
}

#[test]
fn an_agent_on_a_branch_of_its_own_does_not_move_the_users_branches() {
    let world = World::new();
    world.env.git(&["branch", "precious"]);
    mischief(&world, "git checkout -q precious; echo 1 > other.txt");
    let head = world.env.git(&["rev-parse", "precious"]);
    let ended = world.autopilot(&["--max-iterations", "3"]);
    assert_eq!(world.env.git(&["rev-parse", "precious"]), head, "{}", ended.stderr);
    world.no_process_is_left();
    world.env.fsck();
}

#[test]
fn a_merge_that_was_left_with_conflicts_is_not_committed_as_if_it_were_settled() {
    let world = World::new();
    world.env.git(&["checkout", "-q", "-b", "other"]);
    world.env.write("README", "other\n");
    world.env.git(&["commit", "-q", "-a", "-m", "other"]);
    world.env.git(&["checkout", "-q", "main"]);
    let bad = "echo mine > README; git commit -qam mine; git merge -q other >/dev/null 2>&1; echo extra > extra.txt";
    let script = format!(
        "if [ $AXIOM_ITERATION = 1 ]; then {bad}; exit 1; fi\n\
         git checkout -q --ours README; git add -A; git commit -qm settled || exit 1; echo mended > t.txt"
    );
    world.task("t", &script, &[]);
    let ended = world.autopilot(&["--max-iterations", "3"]).code(0);
    let markers = world.env.try_git(&["grep", "-l", "<<<<<<<", "main"]);
    assert_eq!(markers.stdout, "", "{markers}{}", ended.stderr);
    assert_eq!(world.env.read("t.txt"), "mended\n");
    assert_eq!(world.env.read("extra.txt"), "extra\n");
    world.all_is_well();
}

#[test]
fn a_workspace_that_its_agent_deleted_is_made_again() {
    let world = World::new();
    mischief(&world, "echo 1 > kept.txt; git add -A; git commit -qm kept; rm -rf \"$AXIOM_WORKTREE\"");
    let ended = world.autopilot(&["--max-iterations", "5"]).code(0);
    assert_eq!(world.env.read("t.txt"), "mended\n", "{}", ended.stderr);
    assert_eq!(world.env.read("kept.txt"), "1\n");
    world.all_is_well();
}

#[test]
fn a_workspace_that_lost_its_git_file_never_turns_into_the_users_worktree() {
    let world = World::new();
    let before = world.make_dirty();
    mischief(&world, "echo 1 > kept.txt; rm .git; git add -A 2>/dev/null; git commit -qm wrong 2>/dev/null");
    let ended = world.autopilot(&["--max-iterations", "5"]).code(0);
    assert_eq!(world.users_things(), before, "{}", ended.stderr);
    assert_eq!((world.env.read("t.txt"), world.env.read("kept.txt")), ("mended\n".into(), "1\n".into()));
    world.all_is_well();
}

#[test]
fn a_lock_that_a_killed_git_left_in_the_workspace_stops_nobody() {
    let world = World::new();
    mischief(&world, "touch \"$(git rev-parse --git-dir)/index.lock\"; echo 1 > kept.txt");
    let ended = world.autopilot(&["--max-iterations", "20"]).code(0);
    assert_eq!((world.env.read("t.txt"), world.env.read("kept.txt")), ("mended\n".into(), "1\n".into()), "{}", ended.stderr);
    world.all_is_well();
}

#[test]
fn locks_that_a_git_left_a_moment_ago_do_not_stop_the_next_session() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    // Where the checkpoint of the session's start writes its notes, and where the merge writes.
    for lock in ["refs/notes/axiom.lock", "refs/heads/main.lock", "HEAD.lock", "index.lock"] {
        let lock = world.env.repo().join(".git").join(lock);
        std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
        std::fs::write(lock, "").unwrap();
    }
    let ended = world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "1\n", "{}", ended.stderr);
    world.all_is_well();
}

/// git waits for us then, as a git in this repository: it must not pass for one at work.
#[test]
fn called_as_a_command_of_gits_recovery_removes_dead_locks_too() {
    let env = TestEnv::new();
    for called in [&["axiom", "recover", "--yes"] as &[&str], &["-C", ".", "axiom", "recover", "--yes"], &["ax", "--yes"]] {
        env.git(&["config", "alias.ax", "axiom recover"]);
        for lock in ["index.lock", "objects/maintenance.lock"] {
            std::fs::write(env.repo().join(".git").join(lock), "").unwrap();
        }
        let ours = Path::new(env!("CARGO_BIN_EXE_git-axiom")).parent().unwrap();
        let path =
            std::env::join_paths([ours.to_owned()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())));
        let mut command = env.program("git", &env.repo());
        command.args(called).env("PATH", path.unwrap());
        let run = env.run(command, None).success();
        for lock in ["index.lock", "objects/maintenance.lock"] {
            assert!(!env.repo().join(".git").join(lock).exists(), "{called:?} leaves {lock}: {}{}", run.stdout, run.stderr);
        }
    }
}

#[test]
fn a_deleted_task_branch_and_a_reset_one_harm_nothing_else() {
    let world = World::new();
    mischief(&world, "git reset -q --hard HEAD; git update-ref -d refs/heads/axiom/t; echo 1 > kept.txt");
    let ended = world.autopilot(&["--max-iterations", "3"]);
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    world.no_process_is_left();
    world.env.fsck();
}

#[test]
fn a_target_that_is_deleted_while_it_runs_makes_the_merge_wait() {
    let world = World::new();
    world.env.git(&["branch", "goal"]);
    world.env.git(&["config", "axiom.merge.target", "goal"]);
    world.waiting_task("t");
    world.task("u", "echo 1 > u.txt", &["--after", "t"]);
    let live = world.start_until_begun();
    let old = world.env.git(&["rev-parse", "goal"]);
    world.env.git(&["branch", "-q", "-D", "goal"]);
    world.signal_file("go");
    let ended = live.wait().code(1);
    assert!(
        ended.stdout.contains("t waits at gate merge-t: could not be merged: the target branch 'goal' is gone"),
        "{}",
        ended.stdout
    );
    world.env.axiom(&["run", "--until-idle"]).fails_with(git_axiom::base::error::Code::TargetMissing);
    world.env.git(&["branch", "goal", &old]);
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.git(&["show", "goal:t.txt"]), "1");
    assert!(!world.env.repo().join("t.txt").exists(), "main is not the target");
    world.all_is_well();
}

#[test]
fn a_target_that_is_checked_out_elsewhere_is_updated_there() {
    let world = World::new();
    let other = world.beside("elsewhere");
    world.env.git(&["worktree", "add", "-q", "-b", "goal", other.to_str().unwrap()]);
    world.env.git(&["config", "axiom.merge.target", "goal"]);
    std::fs::write(other.join("mine.txt"), "mine").unwrap();
    world.task("t", "echo 1 > t.txt", &[]);
    world.autopilot(&[]).code(0);
    assert_eq!(std::fs::read_to_string(other.join("t.txt")).unwrap(), "1\n");
    assert_eq!(world.env.git_in(&other, &["status", "--porcelain"]), "?? mine.txt");
    assert!(!world.env.repo().join("t.txt").exists());
    world.all_is_well();
}

#[test]
fn a_user_who_commits_to_the_target_meanwhile_is_merged_with() {
    let world = World::new();
    world.waiting_task("t");
    let live = world.start_until_begun();
    world.env.write("mine.txt", "mine\n");
    world.env.git(&["add", "mine.txt"]);
    world.env.git(&["commit", "-q", "-m", "mine"]);
    world.signal_file("go");
    live.wait().code(0);
    assert_eq!((world.env.read("t.txt"), world.env.read("mine.txt")), ("1\n".into(), "mine\n".into()));
    world.all_is_well();
}

#[test]
fn a_user_who_looks_into_a_workspace_meanwhile_is_no_matter() {
    let world = World::new();
    world.waiting_task("t");
    let live = world.start_until_begun();
    let workspace = world.env.repo().join(".worktrees/agent-001-t");
    assert_eq!(world.env.git_in(&workspace, &["status", "--porcelain"]), "?? t.txt");
    assert_eq!(world.env.axiom_in(&workspace, &["status", "--json"]).success().json()["tasks"]["active"], 1);
    world.signal_file("go");
    live.wait().code(0);
    wait_until("put aside", || !workspace.exists());
    world.all_is_well();
}

/// A keeper that is just ending holds its workspace a moment longer: the merge stands, and the workspace goes afterwards.
#[test]
fn a_workspace_that_cannot_be_put_aside_at_its_merge_goes_a_moment_later() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    let live = world.start(&["--mode", "semi-auto"]);
    world.wait_for_gate("claim-t");
    world.env.ok(&["gate", "approve", "claim-t"]);
    world.wait_for_gate("merge-t");
    let path = world.env.axiom_dir().join("locks/workspace-t");
    let mut held = None;
    wait_until("the lock is free", || {
        held = FileLock::try_take(&path).ok().and_then(|attempt| match attempt {
            LockAttempt::Taken(lock) => Some(lock),
            LockAttempt::Held => None,
        });
        held.is_some()
    });
    world.env.ok(&["gate", "approve", "merge-t"]);
    wait_until("it is said", || live.stderr().contains("the workspace of t is not put aside yet: an agent still works in"));
    let workspace = world.env.repo().join(".worktrees/agent-001-t");
    assert!(world.find_task("t")["merged"].is_object() && world.gates().is_empty() && workspace.is_dir());
    drop(held);
    wait_until("it is put aside", || !workspace.exists());
    world.quits_well(live);
}

#[test]
fn a_workspace_that_is_broken_for_a_while_does_not_delay_the_merge_of_another() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let script = format!(
        "if [ $AXIOM_ITERATION = 1 ]; then mv .git '{beside}/dot-git'; touch '{beside}/begun'; sleep 1000; fi; echo mended > t.txt"
    );
    world.task("t", &script, &[]);
    world.task("u", &format!("while [ ! -f '{beside}/begun' ]; do sleep 0.02; done; echo 1 > u.txt"), &[]);
    let ended = world.autopilot(&["--agents", "2"]).code(0);
    assert!(!ended.stderr.contains("u is not merged yet"), "{}", ended.stderr);
    assert_eq!((world.env.read("t.txt"), world.env.read("u.txt")), ("mended\n".into(), "1\n".into()));
    world.all_is_well();
}

#[test]
fn wherever_the_folder_of_the_workspaces_is_the_user_sees_none_of_it() {
    for root in ["..worktrees", "a/../b", "a/../../next", "ABSOLUTE"] {
        let world = World::new();
        let absolute = world.env.repo().join("deep/absolute").display().to_string();
        world.env.git(&["config", "axiom.agents.workspaceRoot", if root == "ABSOLUTE" { &absolute } else { root }]);
        world.waiting_task("t");
        let live = world.start_until_begun();
        assert_eq!(world.env.git(&["status", "--porcelain"]), "", "{root}");
        world.env.ok(&["checkpoint", "create", "while"]);
        let held = world.env.git(&["ls-tree", "-r", "--name-only", "refs/axiom/captures/while"]);
        assert!(!held.contains("t.txt"), "{root}: {held}");
        world.signal_file("go");
        live.wait().code(0);
        world.env.ok(&["rollback", "checkpoint", "while", "--yes"]);
        world.env.ok(&["undo", "--yes"]);
        assert_eq!(world.env.read("t.txt"), "1\n", "{root}");
        assert_eq!(world.env.git(&["status", "--porcelain"]), "", "{root}");
        world.all_is_well();
    }
    let world = World::new();
    world.task("t", "true", &[]);
    for root in [".", "a/.."] {
        world.env.git(&["config", "axiom.agents.workspaceRoot", root]);
        world.autopilot(&[]).code(Code::ConfigInvalid.exit() as i32);
    }
}
