//! What a session cannot start with: a code, a hint, the documented exit status, and nothing left behind.

use git_axiom::base::error::Code;

use crate::common::TestEnv;
use crate::session_support::{World, wait_until};

const RUN: [&str; 4] = ["run", "--mode", "autopilot", "--until-idle"];

#[track_caller]
fn refused(env: &TestEnv, args: &[&str], code: Code) {
    let run = env.axiom(args).fails_with(code);
    assert!(run.stderr.contains("hint: "), "{run}");
}

#[test]
fn places_where_nothing_can_run() {
    let env = TestEnv::empty();
    std::fs::create_dir(env.repo()).unwrap();
    refused(&env, &RUN, Code::NotARepository);
    assert_eq!(std::fs::read_dir(env.repo()).unwrap().count(), 0);
    env.git_in(env.root(), &["init", "-q", "--bare", "repo"]);
    refused(&env, &RUN, Code::BareRepository);
    let env = TestEnv::unborn();
    env.ok(&["task", "add", "t"]);
    refused(&env, &RUN, Code::UnbornBranch);
    let env = TestEnv::new();
    env.git(&["checkout", "-q", "--detach"]);
    refused(&env, &RUN, Code::DetachedHead);
    env.git(&["config", "axiom.merge.target", "main"]);
    env.axiom(&RUN).success();
    env.git(&["config", "axiom.merge.target", "gone"]);
    refused(&env, &RUN, Code::TargetMissing);
    env.fsck();
}

#[test]
fn programs_and_values_that_cannot_be_used() {
    let world = World::new();
    world.task("t", "true", &[]);
    refused(&world.env, &[&RUN[..], &["--", "no-such-program"]].concat(), Code::ProgramNotFound);
    refused(&world.env, &[&RUN[..], &["--", "./README"]].concat(), Code::ProgramNotFound);
    world.env.axiom(&[&RUN[..], &["--agents", "0"]].concat()).fails_with(Code::InvalidInput);
    world.env.axiom(&[&RUN[..], &["--max-iterations", "0"]].concat()).fails_with(Code::InvalidInput);
    assert_eq!(world.env.axiom(&["run", "--mode", "wild"]).code, Some(2));
    assert_eq!(world.env.axiom(&["run", "--agents", "many"]).code, Some(2));
    world.env.git(&["config", "axiom.agents.default", "nobody"]);
    refused(&world.env, &RUN, Code::ConfigInvalid);
    assert_eq!(world.status_of("t"), "pending");
    world.all_is_well();
}

#[test]
fn a_task_without_a_script_fails_with_the_reason() {
    let world = World::new();
    world.env.ok(&["task", "add", "t", "--id", "t"]);
    let ended = world.autopilot(&["--max-iterations", "2"]).code(1);
    assert!(ended.stdout.contains("has no body"), "{}", ended.stdout);
    world.all_is_well();
}

#[test]
fn without_an_identity_nothing_begins() {
    let world = World::new();
    world.task("t", "true", &[]);
    let mut command = world.env.axiom_command(&world.env.repo(), RUN);
    for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
        command.env_remove(name);
    }
    command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "user.useConfigOnly").env("GIT_CONFIG_VALUE_0", "true");
    let run = world.env.run(command, None).fails_with(Code::IdentityMissing);
    assert!(run.stderr.contains("hint: "), "{run}");
    assert_eq!(world.status_of("t"), "pending");
    assert!(!world.env.repo().join(".worktrees").exists());
    world.all_is_well();
}

#[test]
fn a_second_supervisor_is_refused_and_harms_nothing() {
    let world = World::new();
    world.waiting_task("t");
    let live = world.start_until_begun();
    refused(&world.env, &RUN, Code::SupervisorRunning);
    let second = world.env.axiom(&["run", "--mode", "semi-auto"]).fails_with(Code::SupervisorRunning);
    assert_eq!(second.code, Some(5));
    assert_eq!(world.env.ok(&["mode"]), "autopilot", "the refused one changed nothing");
    world.env.axiom(&["recover", "--yes"]).fails_with(Code::SupervisorRunning);
    world.signal_file("go");
    live.wait().code(0);
    world.all_is_well();
}

#[test]
fn a_folder_where_the_workspace_should_be_is_left_alone() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    world.env.write(".worktrees/agent-001-t/mine.txt", "mine");
    let ended = world.autopilot(&[]).code(1);
    let why = "exists already, and git axiom did not make it";
    assert!(ended.stdout.contains("t is blocked") && ended.stdout.contains(why), "{}", ended.stdout);
    assert_eq!(world.env.read(".worktrees/agent-001-t/mine.txt"), "mine");
    std::fs::remove_dir_all(world.env.repo().join(".worktrees/agent-001-t")).unwrap();
    world.env.ok(&["task", "unblock", "t"]);
    world.autopilot(&[]).code(0);
    world.all_is_well();
}

#[test]
fn a_branch_in_the_way_of_the_task_branches_is_named() {
    let world = World::new();
    world.env.git(&["branch", "axiom"]);
    world.task("t", "echo 1 > t.txt", &[]);
    let ended = world.autopilot(&[]).code(1);
    assert!(ended.stdout.contains("t is blocked") && ended.stdout.contains("axiom"), "{}", ended.stdout);
    world.all_is_well();
}

#[test]
fn with_json_there_is_one_document_whatever_happens() {
    let world = World::new();
    world.task("t", "git axiom signal blocked why", &[]);
    let run = world.env.axiom(&[&["--json"], &RUN[..]].concat());
    assert_eq!(run.code, Some(1), "{run}");
    let answer = run.json();
    assert!(answer.to_string().contains("t is blocked: why"), "{answer}");
    world.env.ok(&["task", "edit", "t", "--body", "true"]);
    world.env.ok(&["task", "unblock", "t"]);
    let run = world.env.axiom(&[&["--json"], &RUN[..]].concat());
    assert_eq!((run.code, run.json()["ending"].as_str()), (Some(0), Some("allMerged")), "{run}");
    world.all_is_well();
}

#[test]
fn a_session_can_be_run_from_anywhere_in_the_repository() {
    let world = World::new();
    world.task("t", "pwd; echo 1 > t.txt", &[]);
    let live = {
        let mut command = world.env.axiom_command(&world.env.repo().join("src"), RUN);
        // What git sets for aliases and hooks must not reach the agent.
        command.env("GIT_PREFIX", "src/").env("GIT_DIR", world.env.repo().join(".git"));
        command.env("GIT_WORK_TREE", world.env.repo());
        crate::session_support::Live::start(command, world.env.root(), "sub")
    };
    live.wait().code(0);
    wait_until("merged", || world.env.repo().join("t.txt").exists());
    assert!(world.env.ok(&["output", "t"]).ends_with(".worktrees/agent-001-t"));
    world.all_is_well();
}
