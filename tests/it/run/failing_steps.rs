//! What happens when a step of a session fails: the table in `docs/ERRORS.md`, seen from outside.

use std::path::PathBuf;

use crate::common::TestEnv;
use crate::session_support::{Live, World, kill, several_at_a_time, signal, wait_until};

/// A repository on a file system of 16 MB in a namespace of its own. `fill N` leaves N KiB of it, and never more meanwhile; `await`
/// waits until a command succeeds; `$OUT` is elsewhere.
const SMALL_DISK: &str = r#"
set -u
mount -t tmpfs -o size=16m,nr_inodes=20000 none "$DISK" || exit 7
fill() {
    head -c 64M /dev/zero >> "$DISK/filler" 2> /dev/null
    truncate -s $(($(stat -c %s "$DISK/filler") - $1 * 1024)) "$DISK/filler"
}
await() {
    n=0
    until eval "$1" > /dev/null 2>&1; do
        n=$((n + 1)); sleep 0.1
        [ $n -lt 600 ] || { echo "in vain: $1"; "$AXIOM" status; cat "$OUT/err"; kill $run 2> /dev/null; exit 9; }
    done
}
axiom() { "$AXIOM" "$@"; }
waits() { axiom status | grep "t  *waits while $1: DISK_FULL"; }
ends_well() {
    await 'git cat-file -e main:new.txt'
    # The branch moves before the log says so.
    await '! axiom status | grep DISK_FULL'
    axiom log --all | grep -q 'DISK_FULL' || { echo 'not in the log'; axiom log --all; exit 11; }
    axiom task show t --json | grep -q '"iterations": *1' || { echo 'an iteration was lost'; axiom task show t --json; exit 12; }
    axiom quit > /dev/null || exit 13
    wait $run || { echo "ended with $?"; cat "$OUT/err"; exit 14; }
    git fsck --strict --no-dangling > /dev/null || exit 15
}
cd "$DISK" && git init -q -b main r && cd r || exit 1
head -c 1000000 /dev/urandom > large && git add -A && git commit -q -m first || exit 1
"#;

#[track_caller]
fn on_a_small_disk(script: &str) {
    let env = TestEnv::empty();
    let (disk, out) = (env.root().join("disk"), env.root().join("out"));
    [&disk, &out].into_iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
    let mut command = env.program("unshare", env.root());
    // Whatever it leaves ends with its shell.
    command.args(["-Urmpf", "--kill-child", "--mount-proc", "timeout", "120", "sh", "-c", &[SMALL_DISK, script].concat()]);
    command.env("DISK", &disk).env("OUT", &out).env("AXIOM", env!("CARGO_BIN_EXE_git-axiom"));
    let output = command.output().expect("unshare is needed for this test");
    let said = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    assert!(output.status.success(), "{:?}: {said}", output.status.code());
}

#[test]
fn with_a_full_disk_a_task_waits_for_its_workspace_and_goes_on_by_itself() {
    on_a_small_disk(
        r#"
        axiom run --mode autopilot 2> "$OUT/err" > /dev/null & run=$!
        await 'axiom checkpoint list | grep session-start'
        fill 400
        axiom task add t --id t --body 'echo 1 > new.txt' > /dev/null || exit 2
        await 'waits "its workspace is made"'
        [ -z "$(axiom gate list | grep claim-t)" ] || exit 3
        rm "$DISK/filler"
        ends_well
        "#,
    );
}

/// One task is tried in each pause, not all in each pass; and one stands for all in `status` and in the log.
#[test]
fn with_a_full_disk_many_ready_tasks_are_not_all_tried_again_and_again() {
    on_a_small_disk(
        r#"
        AXIOM_TEST_FAULT_LOG="$OUT/points" axiom run --mode autopilot 2> "$OUT/err" > /dev/null & run=$!
        await 'axiom checkpoint list | grep session-start'
        fill 500
        # A workspace that is just being made takes all there is, until it has failed.
        for n in $(seq 40); do await "axiom task add t$n --id t$n --body 'exit 0'"; done
        tries() { grep -c '^claim.workspace-begins' "$OUT/points"; }
        await '[ $(tries) -ge 5 ]'
        # Git does not always say that the disk is full, such as where it closes a file: that is another cause, with a line of its own.
        [ $(axiom events | grep ' delayed ' | grep -c DISK_FULL) = 1 ] || { axiom events | grep ' delayed '; exit 3; }
        [ $(axiom status | grep -c 'waits while its workspace is made') = 1 ] || { axiom status; exit 4; }
        [ $(tries) -lt 40 ] || { tries; exit 5; }
        rm "$DISK/filler"
        # More would not fit: their workspaces go to the trash.
        await 'axiom status | grep -E "[5-9] merged"'
        axiom quit > /dev/null || exit 6
        wait $run || { cat "$OUT/err"; exit 7; }
        "#,
    );
}

/// A try that comes to nothing leaves no folder of a run and no events.
#[test]
fn with_a_full_disk_an_iteration_is_begun_once_there_is_space() {
    on_a_small_disk(
        r#"
        { echo 'echo 1 > new.txt'; head -c 900000 /dev/zero | tr '\0' '#'; } > "$OUT/body"
        axiom run --mode autopilot 2> "$OUT/err" > /dev/null & run=$!
        await 'axiom checkpoint list | grep session-start'
        axiom task add other --id other --body "touch '$OUT/begun'; while [ ! -e '$OUT/go' ]; do sleep 0.1; done" > /dev/null
        await '[ -e "$OUT/begun" ]'
        fill 1600
        axiom task add t --id t --body-file "$OUT/body" > /dev/null || exit 2
        await 'waits "an iteration is started"'
        sleep 2
        [ $(ls .git/axiom/agents/*/runs | grep -c '^[0-9a-f]') = 2 ] || { ls .git/axiom/agents/*/runs; exit 3; }
        [ $(axiom events | grep -c ' iterationIntended ') = 1 ] || { axiom events | grep 'iteration'; exit 4; }
        touch "$OUT/go"
        rm "$DISK/filler"
        ends_well
        "#,
    );
}

/// Even where not one more event can be written.
#[test]
fn with_a_full_disk_the_end_of_an_iteration_waits_and_is_committed_once_there_is_space() {
    on_a_small_disk(
        r#"
        axiom task add t --id t --body "head -c 1000000 /dev/urandom > more; touch '$OUT/begun'
            while [ ! -e '$OUT/go' ]; do sleep 0.1; done; echo 1 > new.txt" > /dev/null || exit 2
        axiom run --mode autopilot 2> "$OUT/err" > /dev/null & run=$!
        await '[ -e "$OUT/begun" ]'
        fill 300
        touch "$OUT/go"
        await 'waits "its work is committed"'
        # What the session tries again gives its space back in between: full is full when something else finds no room either.
        await 'rm -f "$DISK/probe"; fill 0; ! head -c 60000 /dev/zero > "$DISK/probe"'
        rm -f "$DISK/probe"
        fill 0
        sleep 1
        kill -0 $run || { cat "$OUT/err"; exit 4; }
        rm "$DISK/filler"
        ends_well
        "#,
    );
}

/// Whichever event cannot be written: nothing is lost, nothing is done twice, and the session goes on. Only its beginning and its
/// last event end it.
#[test]
fn a_disk_that_is_full_at_any_one_event_ends_no_session_in_its_middle() {
    several_at_a_time((1..=24).collect(), |event: u32| {
        let mut world = World::new();
        world.task("t", "echo 1 > t.txt", &[]);
        world.variables = vec![("AXIOM_TEST_REFUSE".into(), format!("store.append:28:{event}"))];
        let first = world.autopilot(&[]);
        if first.code != Some(0) {
            assert!(first.stderr.contains("error[DISK_FULL]"), "{event}: {}", first.stderr);
            let merged = world.find_task("t")["merged"]["commit"].is_string();
            assert!(merged || world.status_of("t") == "pending", "{event}: {}", first.stderr);
            world.variables.clear();
            world.autopilot(&[]).code(0);
        }
        assert_eq!(world.env.read("t.txt"), "1\n");
        assert_eq!(world.show("t")["iterations"], 1, "{event}: {}", first.stderr);
        world.all_is_well();
    });
}

/// Whichever event cannot be synced, and with whatever copies of the state follow: nobody knows whether it is on the disk, so nothing
/// more is recorded by this process. What comes next finds the state whole, and does nothing twice.
#[test]
fn a_failed_sync_of_any_one_event_ends_the_session_and_the_next_one_goes_on() {
    several_at_a_time((1..=24).collect(), |event: u32| {
        let mut world = World::new();
        world.task("t", "echo 1 >> t.txt", &[]);
        world.variables = vec![("AXIOM_TEST_REFUSE".into(), format!("store.sync:5:{event}"))];
        let first = world.autopilot(&[]);
        world.variables.clear();
        if first.code != Some(0) {
            assert!(first.stderr.contains("error[IO_FAILED]"), "{event}: {}", first.stderr);
            world.env.ok(&["status"]);
            world.autopilot(&[]).code(0);
        }
        assert_eq!(world.env.read("t.txt"), "1\n", "{event}: {}", first.stderr);
        world.all_is_well();
    });
}

/// A session whose agent is known to run a program that ends only when it is told to; with the program's process id.
fn endless_agent(world: &World) -> (Live, i32) {
    let beside = world.env.root().display().to_string();
    world.task(
        "t",
        &format!(
            "echo half > t.txt; echo $$ > '{beside}/pid'; touch '{beside}/begun'
        [ -e '{beside}/go' ] || exec sleep 2000"
        ),
        &[],
    );
    let live = world.start_until_begun();
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    (live, std::fs::read_to_string(world.beside("pid")).unwrap().trim().parse().unwrap())
}

/// Whoever asks for the end of a session gets it, with the agents' programs, even where nothing can be recorded any more.
#[test]
fn a_session_whose_log_cannot_be_written_is_ended_by_a_signal() {
    let mut world = World::new();
    let log = world.beside("calls");
    world.variables = vec![("AXIOM_TEST_REFUSE_LOG".into(), log.display().to_string())];
    let (mut live, program) = endless_agent(&world);
    // How many events there are until then.
    let known = std::fs::read_to_string(&log).unwrap().lines().filter(|line| *line == "store.append").count();
    live.kill();
    kill(program);
    for number in [rustix::process::Signal::TERM, rustix::process::Signal::HUP, rustix::process::Signal::INT] {
        let mut world = World::new();
        world.variables = vec![("AXIOM_TEST_REFUSE".into(), format!("store.append:28:{}+", known + 1))];
        let (live, program) = endless_agent(&world);
        signal(live.pid(), number);
        let ended = live.wait();
        assert!(ended.code == Some(1) && ended.stderr.contains("error[DISK_FULL]"), "{ended:?}");
        assert!(ended.stderr.contains("agents are stopped without a record: DISK_FULL"), "{ended:?}");
        assert!(!signal(program, rustix::process::Signal::CONT), "the program runs on");
        world.variables.clear();
        world.signal_file("go");
        world.autopilot(&[]).code(0);
        assert_eq!((world.show("t")["iterations"].as_u64(), world.env.read("t.txt").as_str()), (Some(2), "half\n"));
        world.all_is_well();
    }
}

#[test]
fn with_a_full_disk_a_merge_waits_and_is_made_once_there_is_space() {
    on_a_small_disk(
        r#"
        axiom task add t --id t --body 'head -c 1000000 /dev/urandom > more; echo 1 > new.txt' > /dev/null || exit 2
        axiom run --mode semi-auto 2> "$OUT/err" > /dev/null & run=$!
        await 'axiom gate approve claim-t'
        await 'axiom gate list | grep merge-t'
        fill 400
        axiom gate approve merge-t > /dev/null || exit 3
        await 'waits "it is merged"'
        git cat-file -e main:new.txt 2> /dev/null && exit 4
        rm "$DISK/filler"
        ends_well
        "#,
    );
}

/// From now on no worktree can be made while the returned file exists.
fn breakable(world: &World) -> PathBuf {
    let broken = world.beside("broken");
    world.env.write(".gitattributes", "filtered filter=f\n");
    world.env.write("filtered", "x\n");
    world.env.git(&["add", "."]);
    world.env.git(&["commit", "-q", "-m", "filter"]);
    let smudge = format!("test ! -e '{}' && cat", broken.display());
    for (key, value) in [("smudge", smudge.as_str()), ("clean", "cat"), ("required", "true")] {
        world.env.git(&["config", &format!("filter.f.{key}"), value]);
    }
    broken
}

fn idle_session(world: &World) -> Live {
    let live = world.start(&["--mode", "autopilot"]);
    wait_until("it runs", || world.env.json(&["status"])["session"]["state"] == "running");
    wait_until("it rests", || world.env.json(&["checkpoint", "list"])["checkpoints"][0].is_object());
    live
}

fn delays(world: &World) -> Vec<serde_json::Value> {
    world.env.json(&["status"])["delays"].as_array().unwrap().clone()
}

#[test]
fn a_workspace_that_cannot_be_made_for_a_moment_needs_no_human() {
    let world = World::new();
    let obstacle = breakable(&world);
    let live = idle_session(&world);
    std::fs::write(&obstacle, "").unwrap();
    world.task("t", "echo 1 > t.txt", &[]);
    wait_until("it is tried again", || delays(&world).iter().any(|delay| delay["tried"].as_u64() >= Some(2)));
    let delay = delays(&world).remove(0);
    assert_eq!((delay["taskId"].as_str(), delay["step"].as_str()), (Some("t"), Some("claim")), "{delay}");
    let said = world.env.ok(&["status"]);
    assert!(said.contains("Tried again by itself:") && said.contains("t  is tried again while its workspace is made"), "{said}");
    std::fs::remove_file(obstacle).unwrap();
    world.wait_until_merged("t");
    assert!(delays(&world).is_empty(), "{:?}", delays(&world));
    let audit = world.env.ok(&["task", "audit", "t"]);
    assert!(audit.contains("t is tried again while its workspace is made (failed 2 of 8 times)"), "{audit}");
    assert!(!audit.contains("gate"), "{audit}");
    world.quits_well(live);
}

#[test]
fn what_a_human_approved_is_tried_again_without_asking_again() {
    let world = World::new();
    let obstacle = breakable(&world);
    std::fs::write(&obstacle, "").unwrap();
    world.task("t", "echo 1 > t.txt", &[]);
    let live = world.start(&["--mode", "semi-auto"]);
    world.wait_for_gate("claim-t");
    world.env.ok(&["gate", "approve", "claim-t"]);
    wait_until("it is tried again", || delays(&world).iter().any(|delay| delay["tried"].as_u64() >= Some(2)));
    assert!(world.gates().iter().all(|gate| !gate["decision"].is_null()), "{:?}", world.gates());
    std::fs::remove_file(obstacle).unwrap();
    world.wait_for_gate("merge-t");
    assert_eq!(world.env.ok(&["task", "audit", "t"]).matches("gate claim-t: start t").count(), 1);
    world.quits_well(live);
}

#[test]
fn a_workspace_that_can_never_be_made_waits_at_a_gate_with_the_cause_and_others_go_on() {
    let world = World::new();
    let broken = breakable(&world);
    world.waiting_task("other");
    let live = world.start(&["--mode", "autopilot"]);
    world.wait_for_file("begun");
    std::fs::write(&broken, "").unwrap();
    world.task("t", "echo 1 > t.txt", &[]);
    wait_until("it is tried again", || !delays(&world).is_empty());
    world.signal_file("go");
    world.wait_until_merged("other");
    let gate = world.wait_for_gate("claim-t");
    assert_eq!((gate["held"].as_str(), world.status_of("t").as_str()), (Some("failed"), "pending"), "{gate}");
    let note = gate["details"]["notes"][0].as_str().unwrap();
    assert!(note.starts_with("DISK_CHECKOUT_FAILED: ") && note.contains("could not be written"), "{gate}");
    assert!(delays(&world).is_empty());
    std::fs::remove_file(&broken).unwrap();
    world.env.ok(&["gate", "approve", "claim-t"]);
    world.wait_until_merged("t");
    world.quits_well(live);
}

/// The lock of a git that runs: not counted, however long it takes.
#[test]
fn a_lock_of_gits_is_waited_for_and_not_counted() {
    let world = World::new();
    let live = idle_session(&world);
    let lock = world.env.repo().join(".git/refs/heads/axiom/t.lock");
    std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
    // Somebody has it open, so it is no dead one.
    let held = std::fs::File::create(&lock).unwrap();
    world.task("t", "echo 1 > t.txt", &[]);
    wait_until("it waits", || delays(&world).iter().any(|delay| delay["code"] == "GIT_LOCKED" && delay["tried"].is_null()));
    assert_eq!((world.status_of("t").as_str(), world.gates().len()), ("pending", 0));
    std::fs::remove_file(&lock).unwrap();
    drop(held);
    world.wait_until_merged("t");
    world.quits_well(live);
}

/// Somebody looks at the files of a keeper, and nobody else can.
fn unreadable(world: &World) -> (PathBuf, PathBuf) {
    let runs = world.env.axiom_dir().join("agents/agent-001/runs");
    let run = std::fs::read_dir(runs).unwrap().flatten().next().unwrap().path();
    let (record, aside) = (run.join("keeper.json"), run.join("aside.json"));
    std::fs::rename(&record, &aside).unwrap();
    std::fs::create_dir(&record).unwrap();
    (record, aside)
}

fn readable_again((record, aside): (PathBuf, PathBuf)) {
    std::fs::remove_dir(&record).unwrap();
    std::fs::rename(aside, record).unwrap();
}

/// Whoever asked gets the error; the session goes on, and what was shown as waiting is not shown once it went well.
#[test]
fn a_request_that_fails_is_answered_and_ends_no_session() {
    let world = World::new();
    let (mut live, _) = endless_agent(&world);
    let files = unreadable(&world);
    wait_until("it cannot be watched", || delays(&world).iter().any(|delay| delay["step"] == "watch"));
    let refused = world.env.axiom(&["stop", "agent-001"]).fails_with(git_axiom::base::error::Code::KeeperFailed);
    assert!(refused.stderr.contains("keeper.json"), "{refused}");
    assert!(live.runs());
    readable_again(files);
    wait_until("it is watched again", || delays(&world).is_empty());
    assert_eq!(world.agents()[0]["state"], "running");
    world.env.ok(&["stop", "agent-001"]);
    live.wait().code(1);
    world.all_is_well();
}

/// Its own command was first, so nothing is tried again for it.
#[test]
fn a_task_that_is_blocked_while_its_claim_fails_is_not_shown_as_tried_again() {
    let world = World::new();
    let obstacle = breakable(&world);
    let (begun, go) = (world.beside("claiming"), world.beside("go"));
    let smudge = format!(
        "touch '{}'; while [ -e '{}' ] && [ ! -e '{}' ]; do sleep 0.05; done; test ! -e '{1}' && cat",
        begun.display(),
        obstacle.display(),
        go.display()
    );
    let live = idle_session(&world);
    std::fs::write(&obstacle, "").unwrap();
    world.env.git(&["config", "filter.f.smudge", &smudge]);
    world.task("t", "echo 1 > t.txt", &[]);
    world.wait_for_file("claiming");
    world.env.ok(&["task", "block", "t", "--reason", "not now"]);
    world.signal_file("go");
    world.env.ok(&["quit"]);
    live.wait().code(0);
    let events = world.env.ok(&["events"]);
    assert!(!events.contains(" delayed "), "{events}");
    assert_eq!(world.status_of("t"), "blocked");
    world.all_is_well();
}

/// It says what is true: the program has ended.
#[test]
fn a_stop_whose_end_cannot_be_committed_says_what_it_waits_for() {
    let world = World::new();
    let (live, _) = endless_agent(&world);
    let workspace = world.env.repo().join(".worktrees/agent-001-t");
    let git_dir = PathBuf::from(world.env.git_in(&workspace, &["rev-parse", "--absolute-git-dir"]));
    let lock = git_dir.join("index.lock");
    // Somebody has it open, so it is no dead one.
    let held = std::fs::File::create(&lock).unwrap();
    let refused = world.env.axiom(&["stop", "agent-001"]).fails_with(git_axiom::base::error::Code::GitLocked);
    assert!(
        refused.stderr.contains("the program of agent-001 has ended; its task waits while its work is committed"),
        "{refused}"
    );
    std::fs::remove_file(&lock).unwrap();
    drop(held);
    wait_until("it is released", || world.status_of("t") == "pending");
    live.wait().code(1);
    world.all_is_well();
}
