//! Stopping, killing, pausing and quitting, with and without a living supervisor.

use git_axiom::base::error::Code;

use crate::session_support::{Ended, Live, World, several_at_a_time, signal, wait_until};

/// A task that leaves something and then never ends, ignoring SIGTERM where `stubborn`, with a child in another session.
fn endless(world: &World, id: &str, stubborn: bool) {
    let (beside, trap) = (world.env.root().display().to_string(), if stubborn { "trap '' TERM\n" } else { "" });
    let script = format!(
        "{trap}echo {id} >> '{beside}/counter'; echo half > {id}.txt; setsid sleep 2000 & touch '{beside}/begun-{id}'\n\
         while [ ! -f '{beside}/go' ]; do sleep 0.05; done; echo whole > {id}.txt"
    );
    world.task(id, &script, &[]);
}

fn started(world: &World, args: &[&str], tasks: &[&str]) -> Live {
    let live = world.start(&[&["--mode", "autopilot"], args].concat());
    for task in tasks {
        world.wait_for_file(&format!("begun-{task}"));
    }
    wait_until("they are known to run", || {
        world.agents().iter().filter(|agent| agent["state"] == "running").count() == tasks.len()
    });
    live
}

#[track_caller]
fn is_pending_with_its_work(world: &World, task: &str) {
    let found = world.find_task(task);
    assert_eq!((found["status"].as_str(), &found["retryCount"]), (Some("pending"), &0.into()), "{found}");
    assert_eq!(world.env.git(&["show", &format!("axiom/{task}:{task}.txt")]), "half", "its work is committed");
}

#[test]
fn stop_and_kill_leave_the_task_pending_and_what_it_did_committed() {
    let world = World::new();
    endless(&world, "t", false);
    endless(&world, "u", true);
    let live = started(&world, &["--agents", "2"], &["t", "u"]);
    world.env.axiom(&["pause"]).success();
    let agent_of = |task: &str| {
        let agents = world.agents();
        agents.iter().find(|agent| agent["taskId"] == task).unwrap()["id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (agent_of("t"), agent_of("u"));
    let said = world.env.ok(&["stop", &first]);
    assert_eq!(said, format!("Stopped {first}. To let its task continue: git axiom gate approve claim-t"));
    is_pending_with_its_work(&world, "t");
    world.env.ok(&["kill", &second]);
    is_pending_with_its_work(&world, "u");
    wait_until("sleepers are gone", || !world.processes().iter().any(|(_, words)| words.contains("2000")));
    world.env.axiom(&["stop", &first]).fails_with(Code::InvalidTransition);
    world.env.axiom(&["stop", "nobody-001"]).fails_with(Code::UnknownAgent);
    // Let go on, both do so where they were.
    world.signal_file("go");
    world.env.ok(&["gate", "approve", "--all"]);
    world.env.ok(&["resume"]);
    for task in ["t", "u"] {
        wait_until("merged", || world.find_task(task)["merged"]["commit"].is_string());
        assert_eq!(world.env.read(&format!("{task}.txt")), "whole\n");
    }
    world.quits_well(live);
}

#[test]
fn without_a_supervisor_stop_and_kill_work_too() {
    for verb in ["stop", "kill"] {
        let world = World::new();
        endless(&world, "t", false);
        let mut live = started(&world, &[], &["t"]);
        live.kill();
        assert!(world.processes().iter().any(|(_, words)| words.contains(" keeper ")), "the agent goes on");
        let recovery = world.env.json(&["recover"]);
        assert_eq!(recovery["resumable"][0]["taskId"], "t", "{recovery}");
        world.env.ok(&[verb, "--all"]);
        is_pending_with_its_work(&world, "t");
        world.all_is_well();
        world.env.axiom(&["pause"]).fails_with(Code::NoSupervisor);
        world.env.axiom(&["quit"]).fails_with(Code::NoSupervisor);
        assert_eq!(world.env.ok(&[verb, "--all"]), "No agent was running.");
    }
}

#[test]
fn pause_lets_iterations_end_and_begins_no_more() {
    let world = World::new();
    endless(&world, "t", false);
    world.task("u", "echo 1 > u.txt", &["--after", "t"]);
    let live = started(&world, &[], &["t"]);
    world.env.ok(&["pause"]);
    assert_eq!(world.env.json(&["status"])["session"]["state"], "pausing");
    let waiting = Live::start(world.env.axiom_command(&world.env.repo(), ["pause", "--wait"]), world.env.root(), "pause");
    world.signal_file("go");
    waiting.wait().code(0);
    let status = world.env.json(&["status"]);
    assert_eq!(status["session"]["state"], "paused");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(world.status_of("u"), "pending", "nothing new begins");
    world.env.ok(&["resume"]);
    wait_until("u is merged", || world.env.repo().join("u.txt").exists());
    // A forced pause stops what runs.
    std::fs::remove_file(world.beside("go")).unwrap();
    endless(&world, "v", false);
    world.wait_for_file("begun-v");
    world.env.ok(&["pause", "--force", "--wait"]);
    is_pending_with_its_work(&world, "v");
    world.quits_well(live);
}

/// Asked for while the supervisor looked elsewhere, by processes whose random parts would sort the other way round.
#[test]
fn requests_are_dealt_with_in_the_order_in_which_they_were_made() {
    let world = World::new();
    endless(&world, "t", false);
    let live = started(&world, &[], &["t"]);
    let supervisor = rustix::process::Pid::from_raw(live.pid()).unwrap();
    rustix::process::kill_process(supervisor, rustix::process::Signal::STOP).unwrap();
    let requests = || world.env.ok(&["events", "--json"]).matches("\"requested\"").count();
    let before = requests();
    let asked = ["pause", "resume", "pause", "resume"].iter().enumerate().map(|(count, verb)| {
        let mut command = world.env.axiom_command(&world.env.repo(), [verb]);
        command.env("AXIOM_TEST_IDS", (0x9000 - count * 0x1000).to_string());
        let asking = Live::start(command, world.env.root(), &format!("asks-{count}"));
        wait_until("it has asked", || requests() == before + count + 1);
        asking
    });
    let asked: Vec<Live> = asked.collect();
    rustix::process::kill_process(supervisor, rustix::process::Signal::CONT).unwrap();
    asked.into_iter().for_each(|one| drop(one.wait().code(0)));
    assert_eq!(world.env.json(&["status"])["session"]["state"], "running");
    world.signal_file("go");
    wait_until("it is merged", || world.find_task("t")["merged"]["commit"].is_string());
    world.quits_well(live);
}

#[test]
fn one_interrupt_stops_the_agents_and_keeps_their_work() {
    let world = World::new();
    endless(&world, "t", false);
    let live = started(&world, &[], &["t"]);
    live.interrupt();
    let ended = live.wait().code(130);
    assert!(ended.stderr.contains("shutting down"), "{}", ended.stderr);
    is_pending_with_its_work(&world, "t");
    world.all_is_well();
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "whole\n");
    assert_eq!(world.lines("counter"), ["t", "t"]);
    world.all_is_well();
}

/// A session with an endless task that is interrupted twice.
fn left_at_once(world: &World) -> Ended {
    endless(world, "t", true);
    let live = started(world, &[], &["t"]);
    live.interrupt();
    wait_until("it shuts down", || live.stderr().contains("shutting down"));
    std::thread::sleep(std::time::Duration::from_millis(300));
    live.interrupt();
    live.wait().code(130)
}

#[test]
fn a_second_interrupt_leaves_at_once_and_says_what_still_runs() {
    let world = World::new();
    let ended = left_at_once(&world);
    assert!(ended.stderr.contains("still running: agent-001"), "{}", ended.stderr);
    assert!(ended.stderr.contains("git axiom stop --all"), "{}", ended.stderr);
    assert_eq!(world.env.json(&["status"])["session"]["state"], "idle", "a human wanted it: that is no crash");
    world.signal_file("go");
    let next = world.autopilot(&[]).code(0);
    assert!(!next.stderr.contains("crash") && next.stderr.contains("was left at once"), "{}", next.stderr);
    assert_eq!(world.lines("counter"), ["t"], "it was taken over");
    world.all_is_well();
}

#[test]
fn what_a_second_interrupt_left_is_ended_without_a_session() {
    several_at_a_time(vec!["stop", "kill"], |verb| {
        let world = World::new();
        left_at_once(&world);
        let refused = world.env.axiom(&["quit"]).fails_with(Code::NoSupervisor);
        assert!(refused.stderr.contains("git axiom stop --all    ends what a session left: agent-001 on t"), "{refused}");
        world.env.ok(&[verb, "--all"]);
        let refused = world.env.axiom(&["quit", "--checkpoint"]).fails_with(Code::NoSupervisor);
        assert!(!refused.stderr.contains("stop --all") && refused.stderr.contains("checkpoint create"), "{refused}");
        world.no_process_is_left();
        is_pending_with_its_work(&world, "t");
        world.signal_file("go");
        world.autopilot(&["--retry"]).code(0);
        world.all_is_well();
    });
}

#[test]
fn stopping_an_agent_ends_its_verification_too() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    world.task("t", "echo half > t.txt", &["--verify", &format!("touch '{beside}/verifying'; sleep 3000")]);
    let live = world.start(&["--mode", "autopilot"]);
    world.wait_for_file("verifying");
    world.env.ok(&["pause"]);
    world.env.ok(&["stop", "agent-001"]);
    is_pending_with_its_work(&world, "t");
    wait_until("the step is ended", || !world.processes().iter().any(|(_, words)| words.contains("3000")));
    world.quits_well(live);
}

#[test]
fn the_verification_of_a_supervisor_that_was_killed_is_ended_and_done_again() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let step = format!("if [ ! -f '{beside}/verifying' ]; then touch '{beside}/verifying'; sleep 3000; fi");
    world.task("t", "echo 1 > t.txt", &["--verify", &step]);
    let mut live = world.start(&["--mode", "autopilot"]);
    world.wait_for_file("verifying");
    live.kill();
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "1\n");
    world.all_is_well();
}

/// A task that is complete, as its agent says, and whose program then goes on for ever.
fn complete_and_endless(world: &World, id: &str, more: &[&str]) {
    let beside = world.env.root().display().to_string();
    let script = format!(
        "echo {id} >> '{beside}/counter'; echo whole > {id}.txt; git axiom signal complete\n\
         touch '{beside}/begun-{id}'; sleep 3000"
    );
    world.task(id, &script, more);
}

/// By Ctrl+C, by `quit`, by `stop`: what was complete by then is complete, and no agent works on it again.
#[test]
fn completed_work_survives_being_stopped() {
    several_at_a_time(vec!["interrupt", "quit", "stop"], |how| {
        let world = World::new();
        complete_and_endless(&world, "t", &[]);
        let step = format!("test -f '{}'", world.beside("go").display());
        complete_and_endless(&world, "u", &["--verify", &step]);
        let live = started(&world, &["--agents", "2"], &["t", "u"]);
        match how {
            "interrupt" => {
                live.interrupt();
                live.wait().code(130);
            }
            "quit" => {
                world.env.ok(&["quit"]);
                live.wait().code(0);
            }
            _ => {
                world.env.ok(&["pause"]);
                world.env.ok(&["stop", "--all"]);
                assert_eq!(world.status_of("t"), "done");
                assert_eq!(world.status_of("u"), "pending", "it is not verified yet");
                world.env.ok(&["quit"]);
                live.wait().code(0);
            }
        }
        assert_eq!((world.status_of("t"), world.status_of("u")), ("done".into(), "pending".into()), "{how}");
        world.all_is_well();
        world.signal_file("go");
        let more: &[&str] = if how == "stop" { &["--retry"] } else { &[] };
        world.autopilot(more).code(0);
        assert_eq!(world.lines("counter"), ["t", "u"], "{how}: each was worked on once");
        assert!(world.env.ok(&["task", "audit", "u"]).contains("verified: test -f"), "{how}");
        assert_eq!((world.env.read("t.txt"), world.env.read("u.txt")), ("whole\n".into(), "whole\n".into()), "{how}");
        world.all_is_well();
    });
}

/// Its branch moved since: what was complete then is not what would be verified now.
#[test]
fn completed_work_that_somebody_changed_since_is_worked_on_again() {
    let world = World::new();
    let step = format!("test -f '{}'", world.beside("go").display());
    for id in ["moved", "edited", "blocked"] {
        complete_and_endless(&world, id, &["--verify", &step]);
    }
    let live = started(&world, &["--agents", "3"], &["moved", "edited", "blocked"]);
    world.env.ok(&["pause"]);
    world.env.ok(&["stop", "--all"]);
    world.env.ok(&["quit"]);
    live.wait().code(0);
    let tip = world.env.git(&["rev-parse", "main"]);
    world.env.git(&["worktree", "remove", "--force", ".worktrees/agent-001-moved"]);
    let found = world.env.git(&["worktree", "list"]);
    assert!(!found.contains("-moved"), "{found}");
    world.env.git(&["update-ref", "refs/heads/axiom/moved", &tip]);
    let beside = world.env.root().display().to_string();
    world.env.ok(&["task", "edit", "edited", "--body", &format!("echo edited again >> '{beside}/counter'")]);
    world.env.ok(&["task", "edit", "moved", "--body", &format!("echo moved again >> '{beside}/counter'")]);
    world.env.ok(&["task", "block", "blocked", "--reason", "later"]);
    world.env.ok(&["task", "unblock", "blocked"]);
    world.signal_file("go");
    world.autopilot(&["--retry"]).code(0);
    assert_eq!(world.lines("counter"), ["blocked", "edited", "edited again", "moved", "moved again"]);
    world.all_is_well();
}

/// What a killed agent said counts no more, however long ago it said it; what it had written can be got back.
#[test]
fn a_kill_discards_what_was_said_and_captures_the_workspace_first() {
    for with_supervisor in [true, false] {
        let world = World::new();
        complete_and_endless(&world, "t", &[]);
        let mut live = started(&world, &[], &["t"]);
        if with_supervisor {
            world.env.ok(&["pause"]);
        } else {
            live.kill();
        }
        world.env.ok(&["kill", "--all"]);
        assert_eq!(world.status_of("t"), "pending");
        assert_eq!(world.env.git(&["show", "refs/axiom/live/t:t.txt"]), "whole");
        let head = world.env.git(&["rev-parse", "refs/axiom/live/t^1"]);
        assert_eq!(head, world.env.git(&["rev-parse", "main"]), "captured before anything was committed");
        if with_supervisor {
            world.env.ok(&["quit"]);
            live.wait().code(0);
        }
        world.env.ok(&["task", "edit", "t", "--body", "echo again > t.txt"]);
        world.autopilot(&["--retry"]).code(0);
        assert_eq!(world.env.read("t.txt"), "again\n");
        world.all_is_well();
    }
}

/// A merge that an interrupt meets is finished, and recorded.
#[test]
fn a_merge_under_way_is_finished() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let hook = world.env.repo().join(".git/hooks/reference-transaction");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = prepared ] && grep -q ' refs/heads/main$' && touch '{beside}/merging' && sleep 1\nexit 0\n"
    );
    std::fs::write(&hook, script).unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.task("t", "echo 1 > t.txt", &[]);
    let mut command = world.run_command(&["--mode", "autopilot"]);
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let live = Live::start(command, world.env.root(), "run-merge");
    world.wait_for_file("merging");
    // As a terminal does it: to the whole group.
    let group = rustix::process::Pid::from_raw(live.pid()).unwrap();
    rustix::process::kill_process_group(group, rustix::process::Signal::INT).unwrap();
    live.wait().code(130);
    assert!(world.find_task("t")["merged"]["commit"].is_string(), "{}", world.find_task("t"));
    assert_eq!(world.env.read("t.txt"), "1\n");
    assert_eq!(world.env.git(&["status", "--porcelain"]), "");
    world.all_is_well();
}

/// A supervisor may be in the middle of a merge, or be slow: agents obey all the same, and it learns what a human wanted before it sees
/// that their programs have ended.
#[test]
fn agents_obey_while_the_supervisor_does_something_else() {
    several_at_a_time(
        vec![
            (&["stop", "agent-001"][..], "pending", "stopped"),
            (&["task", "block", "t", "--reason", "later"], "blocked", ""),
            (&["pause", "--force"], "pending", ""),
        ],
        |(verb, status, held)| {
            let world = World::new();
            let beside = world.env.root().display().to_string();
            let script = format!("trap \"touch '{beside}/obeyed'; exit 1\" TERM; echo x > x; touch '{beside}/begun-t'\n");
            world.task("t", &(script + "while true; do sleep 0.05; done"), &[]);
            let live = started(&world, &["--max-iterations", "3"], &["t"]);
            signal(live.pid(), rustix::process::Signal::STOP);
            let asking = Live::start(world.env.axiom_command(&world.env.repo(), verb), world.env.root(), "asks");
            world.wait_for_file("obeyed");
            wait_until("its keeper has ended", || !world.processes().iter().any(|(_, words)| words.contains(" keeper ")));
            signal(live.pid(), rustix::process::Signal::CONT);
            asking.wait().code(0);
            wait_until("the task is free", || world.status_of("t") == status);
            let gates = world.gates();
            let said = gates.iter().find_map(|gate| gate["held"].as_str()).unwrap_or_default();
            assert_eq!(said, held, "{verb:?} {gates:?}");
            let ends = world.env.ok(&["log", "--all"]);
            assert!(ends.contains("ended: stopped") && !ends.contains("unfinished"), "{verb:?}: no attempt counts: {ends}");
            world.quits_well(live);
        },
    );
}

#[test]
fn an_agent_that_is_being_ended_is_stopping() {
    let world = World::new();
    world.env.git(&["config", "axiom.agents.graceSeconds", "2"]);
    let begun = world.beside("begun");
    world.task("t", &format!("trap '' TERM; touch '{}'; while :; do sleep 0.1; done", begun.display()), &[]);
    let live = world.start(&["--mode", "autopilot"]);
    world.wait_for_file("begun");
    let mut command = world.env.axiom_command(&world.env.repo(), ["stop", "agent-001"]);
    let mut stop = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    wait_until("it is stopping", || world.agents()[0]["state"] == "stopping");
    assert!(stop.wait().unwrap().success());
    assert_eq!(world.agents()[0]["state"], "idle");
    world.quits_well(live);
}

#[test]
fn with_all_agents_the_verification_of_a_merge_is_stopped_and_waits() {
    let world = World::new();
    let (begun, go) = (world.beside("begun"), world.beside("go"));
    let command = format!("[ -e '{}' ] || {{ touch '{}'; sleep 3000; }}", go.display(), begun.display());
    world.env.git(&["config", "axiom.merge.verify", &command]);
    world.task("t", "echo 1 > t.txt", &[]);
    let live = world.start(&["--mode", "autopilot"]);
    world.wait_for_file("begun");
    let said = world.env.ok(&["stop", "--all"]);
    assert!(said.contains("git axiom gate approve merge-t"), "{said}");
    wait_until("its processes are gone", || !world.processes().iter().any(|(_, words)| words.contains("3000")));
    assert_eq!((world.status_of("t").as_str(), world.gates().len()), ("done", 1));
    world.signal_file("go");
    world.env.ok(&["gate", "approve", "merge-t"]);
    wait_until("it is merged", || world.env.repo().join("t.txt").exists());
    world.quits_well(live);
}
