//! What a human stopped, killed or took back waits for them, in autopilot too (promise 17); Ctrl+C, `quit`, a signal to the
//! whole group and a closed terminal hold nothing.

use std::os::unix::process::CommandExt;
use std::time::Duration;

use git_axiom::base::error::Code;
use git_axiom::model::base::ids::{RequestId, TaskId};
use git_axiom::model::state::event::Event;
use git_axiom::model::work::gates::gate::AfterHalt;
use git_axiom::model::work::sessions::session::SupervisorRequest;
use git_axiom::safety::context::placement::VerbPurpose;
use git_axiom::safety::opening;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::session_support::{Live, World, several_at_a_time, wait_until};

/// A task that counts its beginnings, and ends once it is told to go.
fn counted(world: &World, id: &str, more: &[&str]) {
    let beside = world.env.root().display().to_string();
    let script = format!(
        "echo {id} >> '{beside}/counter'; echo half > {id}.txt; touch '{beside}/begun-{id}'\n\
         while [ ! -f '{beside}/go' ]; do sleep 0.05; done; echo whole > {id}.txt"
    );
    world.task(id, &script, more);
}

fn running(world: &World, args: &[&str], tasks: &[&str]) -> Live {
    let live = world.start(&[&["--mode", "autopilot"], args].concat());
    for task in tasks {
        world.wait_for_file(&format!("begun-{task}"));
    }
    live
}

fn held(world: &World) -> Vec<String> {
    let gates = world.gates();
    let held = gates.iter().filter(|gate| gate["held"].is_string() && gate["decision"].is_null());
    held.map(|gate| format!("{} {}", gate["taskId"].as_str().unwrap(), gate["held"].as_str().unwrap())).collect()
}

/// Long enough for an autopilot to claim what it may.
fn a_while() {
    std::thread::sleep(Duration::from_millis(600));
}

#[test]
fn autopilot_does_not_begin_again_what_was_stopped_or_killed() {
    several_at_a_time(vec![("stop", "stopped"), ("kill", "killed")], |(verb, word)| {
        let world = World::new();
        counted(&world, "t", &[]);
        let live = running(&world, &[], &["t"]);
        let said = world.env.ok(&[verb, "agent-001"]);
        assert!(said.contains("git axiom gate approve claim-t"), "{said}");
        assert_eq!(held(&world), [format!("t {word}")]);
        // Others go on, by the very agent that is free now.
        world.task("u", "echo 1 > u.txt", &[]);
        wait_until("u is merged", || world.env.repo().join("u.txt").exists());
        a_while();
        assert_eq!((world.status_of("t").as_str(), world.lines("counter").len()), ("pending", 1), "{verb}");
        world.env.ok(&["quit"]);
        live.wait().code(0);
        // Whatever the mode, until a human says so: the reasons and the exit status do.
        let idle = world.autopilot(&[]).code(1);
        assert!(idle.stdout.contains("t waits at gate claim-t"), "{}", idle.stdout);
        assert!(idle.stderr.contains("git axiom gate approve claim-t"), "{}", idle.stderr);
        assert_eq!(world.lines("counter").len(), 1);
        world.signal_file("go");
        match verb {
            "stop" => {
                world.env.ok(&["gate", "approve", "--all"]);
                world.autopilot(&[]).code(0);
            }
            _ => drop(world.autopilot(&["--retry"]).code(0)),
        }
        assert_eq!((world.env.read("t.txt"), world.lines("counter").len()), ("whole\n".to_owned(), 2));
        assert!(world.gates().is_empty());
        world.all_is_well();
    });
}

#[test]
fn with_retry_it_is_begun_again_at_once() {
    let world = World::new();
    counted(&world, "t", &[]);
    let live = running(&world, &[], &["t"]);
    for (verb, begun) in [("stop", 2), ("kill", 3)] {
        world.env.ok(&[verb, "--all", "--retry"]);
        wait_until("it is begun again", || world.lines("counter").len() == begun);
        wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    }
    assert!(held(&world).is_empty());
    world.signal_file("go");
    wait_until("merged", || world.env.repo().join("t.txt").exists());
    world.quits_well(live);
}

/// An agent may let go of its task in the moment in which somebody stops it: what they meant is held all the same.
#[test]
fn a_stop_that_comes_when_the_agent_has_let_go_holds_the_task() {
    let world = World::new();
    counted(&world, "t", &[]);
    let live = world.start(&["--mode", "semi-auto"]);
    world.wait_for_gate("claim-t");
    let mut context = opening::open(&world.env.repo(), VerbPurpose::Write).unwrap();
    let request =
        SupervisorRequest::Stop { agents: vec![], tasks: vec![TaskId::new("t").unwrap()], afterwards: AfterHalt::Waits };
    context.append(Event::Requested { id: RequestId::new("r1").unwrap(), request, for_operation: false }).unwrap();
    wait_until("it is held", || held(&world) == ["t stopped"]);
    world.env.ok(&["mode", "autopilot"]);
    a_while();
    assert!(world.lines("counter").is_empty());
    world.env.ok(&["quit"]);
    live.wait().code(0);
}

/// A human decides on what they held one by one: it is none of the twenty that are asked about at once.
#[test]
fn what_is_held_is_outside_the_cap_of_open_claim_gates() {
    let world = World::new();
    counted(&world, "t", &[]);
    counted(&world, "u", &[]);
    let live = running(&world, &["--agents", "2"], &["t", "u"]);
    world.env.ok(&["mode", "semi-auto"]);
    world.env.ok(&["stop", "--all"]);
    let cases: String = (0..25).map(|n| format!("{{\"id\": \"n{n}\", \"title\": \"n\"}}\n")).collect();
    std::fs::write(world.beside("cases"), cases).unwrap();
    world.env.ok(&["task", "import", world.beside("cases").to_str().unwrap()]);
    wait_until("twenty gates and the two", || world.gates().len() == 22);
    a_while();
    assert_eq!((world.gates().len(), held(&world).len()), (22, 2));
    world.env.ok(&["quit"]);
    live.wait().code(0);
}

#[test]
fn a_task_that_was_taken_back_waits_until_an_undo_takes_its_gate_away() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    world.task("t", &format!("echo t >> '{beside}/counter'; echo 1 > t.txt"), &[]);
    world.task("u", "echo 1 > u.txt", &["--after", "t"]);
    let live = world.start(&["--mode", "autopilot"]);
    wait_until("both are merged", || world.find_task("u")["merged"]["commit"].is_string());
    let done = world.env.json(&["rollback", "task", "t", "--cascade", "--yes"]);
    assert_eq!(done["gateIds"], serde_json::json!(["claim-t", "claim-u"]));
    a_while();
    assert_eq!(world.lines("counter").len(), 1, "nobody begins it again");
    assert_eq!(held(&world), ["t rolledBack", "u rolledBack"], "also one that waits for the other");
    world.env.ok(&["undo", done["undo"].as_str().unwrap().rsplit(' ').next().unwrap(), "--yes"]);
    assert!(held(&world).is_empty());
    assert_eq!(world.status_of("t"), "done");
    world.env.ok(&["redo", "--yes"]);
    assert_eq!(held(&world), ["t rolledBack", "u rolledBack"]);
    world.env.ok(&["gate", "approve", "--all"]);
    wait_until("both are merged again", || world.find_task("u")["merged"]["commit"].is_string());
    assert_eq!(world.lines("counter").len(), 2);
    world.env.ok(&["rollback", "task", "t", "--cascade", "--retry", "--yes"]);
    wait_until("it is begun again at once", || world.lines("counter").len() == 3);
    world.quits_well(live);
}

#[test]
fn going_back_to_a_checkpoint_holds_the_tasks_whose_status_it_changes_and_no_others() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    world.task("first", "echo 1 > first.txt", &[]);
    world.autopilot(&[]).code(0);
    world.task("done", &format!("echo done >> '{beside}/counter'; echo 1 > done.txt"), &[]);
    counted(&world, "stopped", &[]);
    counted(&world, "working", &[]);
    let live = running(&world, &["--agents", "3"], &["stopped", "working"]);
    wait_until("merged", || world.find_task("done")["merged"]["commit"].is_string());
    let agent = world.agents().iter().find(|a| a["taskId"] == "stopped").unwrap()["id"].as_str().unwrap().to_owned();
    world.env.ok(&["stop", &agent]);
    let done = world.env.json(&["rollback", "session", "--yes"]);
    assert_eq!(done["gateIds"], serde_json::json!(["claim-done", "claim-working"]));
    a_while();
    assert_eq!(held(&world), ["done rolledBack", "stopped stopped", "working rolledBack"]);
    assert_eq!(world.lines("counter"), ["done", "stopped", "working"]);
    world.env.ok(&["undo", done["undo"].as_str().unwrap().rsplit(' ').next().unwrap(), "--yes"]);
    assert_eq!(held(&world), ["stopped stopped"], "what was held before still is");
    world.quits_well(live);
}

/// `git` as its caller's process group knows it: the dispatcher, and `git-axiom` below it.
fn as_git_axiom(world: &World, args: &[&str]) -> std::process::Command {
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_git-axiom"));
    let path = format!("{}:{}", own.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut command = world.env.program("git", &world.env.repo());
    command.env("PATH", path).arg("axiom").args(args);
    command
}

/// The session ends as after Ctrl+C: agents stopped, work kept, nothing held, nothing crashed.
#[track_caller]
fn ended_in_order(world: &World) {
    wait_until("the session has ended", || world.env.json(&["status"])["supervisor"]["alive"] == false);
    world.no_process_is_left();
    let status = world.env.json(&["status"]);
    assert_eq!(status["recovery"]["needed"], false, "{status}");
    let events = world.env.ok(&["events"]);
    assert!(events.contains("interrupted") && !events.contains("crashed"), "{events}");
    assert!(held(world).is_empty());
    assert_eq!(world.status_of("t"), "pending");
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    world.all_is_well();
}

/// A program that ends a group signals its leader and the group: `timeout 3 git axiom run`. A terminal that closes hangs up
/// on everybody, and the shell hands that on.
#[test]
fn a_signal_to_the_whole_group_ends_the_session_in_order_however_often_it_comes() {
    several_at_a_time(vec![Signal::TERM, Signal::HUP, Signal::INT], |signal| {
        let world = World::new();
        counted(&world, "t", &[]);
        let mut command = as_git_axiom(&world, &["run", "--mode", "autopilot"]);
        command.process_group(0);
        let live = Live::start(command, world.env.root(), "as-git");
        world.wait_for_file("begun-t");
        let group = Pid::from_raw(live.pid()).unwrap();
        let _ = rustix::process::kill_process(group, signal);
        for _ in 0..2 {
            let _ = kill_process_group(group, signal);
        }
        if signal != Signal::INT {
            std::thread::sleep(Duration::from_millis(500));
            let _ = kill_process_group(group, signal);
        }
        drop(live);
        ended_in_order(&world);
    });
}

#[test]
fn timeout_leaves_no_orphan() {
    let world = World::new();
    counted(&world, "t", &[]);
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_git-axiom")).parent().unwrap();
    let mut command = world.env.program("timeout", &world.env.repo());
    command.env("PATH", format!("{}:{}", own.display(), std::env::var("PATH").unwrap()));
    command.args(["3", "git", "axiom", "run", "--mode", "autopilot"]);
    let live = Live::start(command, world.env.root(), "timeout");
    world.wait_for_file("begun-t");
    live.wait();
    ended_in_order(&world);
}

/// A terminal that is closed: its programs are hung up on, and whatever they print fails.
#[test]
fn a_closed_terminal_ends_the_session_in_order() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let world = World::new();
    counted(&world, "t", &[]);
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let screen = std::fs::File::options().read(true).write(true).open(name).unwrap();
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_git-axiom")).parent().unwrap();
    // A shell that knows jobs, and hands a hangup on to them.
    let mut command = world.env.program("setsid", &world.env.repo());
    command.env("PATH", format!("{}:{}", own.display(), std::env::var("PATH").unwrap())).env("TERM", "xterm");
    command.args(["--ctty", "bash", "--norc", "-i", "-c", "git axiom run --mode autopilot; true"]);
    command.stdin(screen.try_clone().unwrap()).stdout(screen.try_clone().unwrap()).stderr(screen.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    drop((command, screen));
    let reader = std::thread::spawn({
        let begun = world.beside("begun-t");
        move || {
            rustix::io::ioctl_fionbio(&master, true).unwrap();
            let (mut said, mut buffer) = (Vec::new(), [0_u8; 4096]);
            for _ in 0..3000 {
                match rustix::io::read(&master, &mut buffer) {
                    Ok(count) => said.extend_from_slice(&buffer[..count]),
                    Err(_) if begun.exists() => break,
                    Err(_) => std::thread::sleep(Duration::from_millis(10)),
                }
            }
            String::from_utf8_lossy(&said).into_owned()
        }
    });
    let said = reader.join().unwrap();
    assert!(world.beside("begun-t").exists(), "{said}");
    child.wait().unwrap();
    ended_in_order(&world);
}

/// A keeper that was killed leaves its program, and nobody to ask: what changes files ends it first, or refuses.
#[test]
fn a_program_whose_keeper_died_writes_into_nothing_that_goes_back() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    world.task("t", &format!("touch '{beside}/begun'; while :; do echo more >> growing.txt; sleep 0.05; done"), &[]);
    world.env.ok(&["checkpoint", "create", "before"]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("the iteration is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    live.kill();
    world.keepers_die();
    assert!(!world.processes().is_empty(), "its program goes on");
    world.env.axiom(&["deinit", "--yes"]).fails_with(Code::Busy);
    world.env.axiom(&["rollback", "checkpoint", "before", "--no-stop", "--yes"]).fails_with(Code::Busy);
    assert!(!world.processes().is_empty(), "who refuses ends nothing");
    world.env.ok(&["rollback", "checkpoint", "before", "--yes"]);
    world.no_process_is_left();
}
