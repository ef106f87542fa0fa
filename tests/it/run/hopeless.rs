//! What cannot get anywhere ends soon and says why; what is no fault of the task counts for nothing.

use git_axiom::base::error::Code;
use git_axiom::base::files::{FileLock, LockAttempt};
use serde_json::Value;

use crate::session_support::{Live, World, wait_until};

/// A program of the user's own, with a script as its text, by which exit 0 completes nothing.
fn own_program(world: &World, script: &str) {
    let git = |key: &str, value: &str| world.env.git(&["config", "--add", &format!("axiom.agents.{key}"), value]);
    for word in ["sh", "-c", script] {
        git("mine.command", word);
    }
    git("mine.exitCompletes", "false");
    git("default", "mine");
}

fn iterations(world: &World, task: &str) -> u64 {
    world.show(task)["iterations"].as_u64().unwrap()
}

fn reason(world: &World, task: &str) -> String {
    world.find_task(task)["reason"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_third_same_end_fails_the_task_with_what_was_printed() {
    let world = World::new();
    own_program(&world, "echo working; echo \"not logged in (request $$ at $(date +%N))\" >&2; exit 1");
    world.task("t", "anything", &[]);
    let ended = world.autopilot(&[]).code(1);
    assert_eq!((world.status_of("t").as_str(), iterations(&world, "t")), ("failed", 3), "{}", ended.stderr);
    let why = reason(&world, "t");
    assert!(why.contains("exited with status 1") && why.contains("not logged in (request"), "{why}");
    world.all_is_well();
}

/// By the preset `shell` exit 0 completes a task: what fails in the same way three times is as hopeless.
#[test]
fn a_script_that_fails_the_same_way_three_times_is_failed() {
    let world = World::new();
    world.task("t", "echo 'no such compiler' >&2; exit 3", &[]);
    let ended = world.autopilot(&[]).code(1);
    assert_eq!((world.status_of("t").as_str(), iterations(&world, "t")), ("failed", 3), "{}", ended.stderr);
    let why = reason(&world, "t");
    assert!(why.contains("exited with status 3") && why.contains("no such compiler"), "{why}");
    world.all_is_well();
}

#[test]
fn a_program_that_hangs_in_the_same_way_three_times_is_failed() {
    let world = World::new();
    world.env.git(&["config", "axiom.agents.silenceLimit", "1"]);
    world.env.git(&["config", "axiom.agents.graceSeconds", "0"]);
    world.task("t", "echo thinking; exec sleep 4000", &[]);
    let ended = world.autopilot(&[]).code(1);
    assert_eq!((world.status_of("t").as_str(), iterations(&world, "t")), ("failed", 3), "{}", ended.stderr);
    assert_eq!(
        reason(&world, "t"),
        "it ended 3 times in a row in the same way and with the same files: it ran over its silence limit: thinking"
    );
    world.all_is_well();
}

/// Another exit, another file, another word, a signal: as long as anything moves there is hope.
#[test]
fn ends_that_differ_go_on_to_the_limit() {
    let changing = [
        "exit $((AXIOM_ITERATION % 2 + 1))",
        "echo $AXIOM_ITERATION > t.txt; exit 1",
        "[ $((AXIOM_ITERATION % 2)) = 0 ] && echo even || echo odd; exit 0",
        "git axiom signal progress 5; exit 0",
    ];
    for script in changing {
        let world = World::new();
        own_program(&world, script);
        world.task("t", "anything", &[]);
        world.autopilot(&["--max-iterations", "5"]).code(1);
        assert_eq!(iterations(&world, "t"), 5, "{script}: {}", reason(&world, "t"));
    }
}

#[test]
fn a_program_that_cannot_be_started_is_an_error_at_once() {
    let world = World::new();
    let agent = world.beside("agent");
    std::fs::write(&agent, "#!/nowhere/interpreter\n").unwrap();
    std::fs::set_permissions(&agent, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.task("t", "anything", &[]);
    world.autopilot(&["--", agent.to_str().unwrap()]).code(1);
    assert_eq!((world.status_of("t").as_str(), iterations(&world, "t")), ("blocked", 1));
    assert!(reason(&world, "t").contains("cannot start"), "{}", reason(&world, "t"));
}

#[test]
fn a_program_named_by_a_path_is_the_one_where_the_user_stands() {
    let world = World::new();
    let agent = world.env.repo().join("src/my-agent");
    std::fs::write(&agent, "#!/bin/sh\necho \"$1\" > said.txt\n").unwrap();
    std::fs::set_permissions(&agent, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.task("t", "anything", &[]);
    let args = ["run", "--mode", "autopilot", "--until-idle", "--", "./my-agent", "hello"];
    world.env.axiom_in(&world.env.repo(), &args).fails_with(Code::ProgramNotFound);
    world.env.axiom_in(&world.env.repo().join("src"), &args).success();
    assert_eq!(world.env.read("said.txt"), "hello\n");
}

/// What a package manager does to a session that runs.
#[test]
fn a_session_goes_on_when_its_binary_is_replaced() {
    let world = World::new();
    let wait = world.until_go();
    let own = world.beside("git-axiom");
    std::fs::copy(env!("CARGO_BIN_EXE_git-axiom"), &own).unwrap();
    world.task("t", &format!("{wait}; echo 1 > t.txt"), &[]);
    world.task("u", "echo 1 > u.txt", &["--after", "t"]);
    let mut command = world.env.program(&own, &world.env.repo());
    command.args(["run", "--mode", "autopilot", "--until-idle"]);
    let live = Live::start(command, world.env.root(), "replaced");
    world.wait_for_file("begun");
    std::fs::remove_file(&own).unwrap();
    std::fs::write(&own, "#!/bin/sh\nexit 9\n").unwrap();
    std::fs::set_permissions(&own, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.signal_file("go");
    live.wait().code(0);
    assert_eq!((world.env.read("u.txt").as_str(), iterations(&world, "u")), ("1\n", 1));
    std::fs::remove_file(&own).unwrap();
    world.all_is_well();
}

#[test]
fn an_iteration_that_did_not_start_counts_for_nothing() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    let locks = world.env.axiom_dir().join("locks");
    std::fs::create_dir_all(&locks).unwrap();
    let LockAttempt::Taken(lock) = FileLock::try_take(&locks.join("workspace-t")).unwrap() else { panic!("it is held") };
    let live = world.start_autopilot(&["--max-iterations", "1"]);
    wait_until("it was tried", || live.stderr().contains("t waits while its workspace is made"));
    drop(lock);
    live.wait().code(0);
    assert_eq!(iterations(&world, "t"), 1);
    world.all_is_well();
}

#[test]
fn with_one_slot_a_question_keeps_nobody_from_working() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let wait = world.until_go();
    let ask = format!(
        "[ -f '{beside}/asked' ] && echo 1 > q.txt && exit 0\ntouch '{beside}/asked'; git axiom signal waiting 'which one?'"
    );
    world.task("q", &ask, &[]);
    world.task("u", "echo 1 > u.txt", &[]);
    // Added before: where nothing but a question is left, the session ends.
    world.task("v", &wait, &["--after", "u"]);
    let live = world.start_autopilot(&["--agents", "1"]);
    world.wait_for_gate("question-q");
    wait_until("u is merged", || world.find_task("u")["merged"]["commit"].is_string());
    // The answer waits for the slot, which somebody has by now.
    world.wait_for_file("begun");
    world.env.ok(&["gate", "answer", "q", "that one"]);
    std::thread::sleep(std::time::Duration::from_millis(400));
    let running = |agents: &[Value]| agents.iter().filter(|agent| agent["state"] == "running").count();
    assert_eq!(running(&world.agents()), 1, "{:?}", world.agents());
    world.signal_file("go");
    live.wait().code(0);
    assert_eq!(world.env.read("q.txt"), "1\n");
    world.all_is_well();
}
