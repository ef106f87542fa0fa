//! Interventions at the moment in which an iteration ends, from another terminal, drawn by a seed: nothing is lost, and every task
//! ends in a state that the rules allow. `AXIOM_ROUNDS=200` for the long run; it prints how quickly agents obey.

use std::time::{Duration, Instant};

use crate::common::trials::AskedCases;
use crate::session_support::{Random, World, signal, wait_until};

const TASKS: usize = 4;

/// A task of three iterations; each adds a line to its file, says so elsewhere, and is just ending then.
fn counted(world: &World, id: &str) {
    let beside = world.env.root().display();
    world.task(
        id,
        &format!(
            "echo line >> {id}.txt; echo line >> '{beside}/{id}.lines'; touch '{beside}/ending'; sleep 0.02\n\
             test \"$(wc -l < {id}.txt)\" -ge 3"
        ),
        &[],
    );
}

/// Each line that an agent wrote is in the merged file.
fn all_lines_are_merged(world: &World, tasks: &[String], seed: u64) {
    for task in tasks {
        let (kept, told) =
            (world.env.read(&format!("{task}.txt")), std::fs::read_to_string(world.beside(&format!("{task}.lines"))));
        let (kept, told) = (kept.lines().count(), told.unwrap().lines().count());
        assert!(kept >= told && kept >= 3, "seed {seed}: {task} has {kept} lines, {told} were written");
    }
}

#[test]
fn whatever_a_human_does_when_an_iteration_ends_nothing_is_lost() {
    let asked = AskedCases::read();
    let (rounds, seed) = (asked.rounds(6), asked.seed(14));
    let (world, mut random) = (World::new(), Random::of(seed));
    let mut tasks: Vec<String> = Vec::new();
    let add = |tasks: &mut Vec<String>| {
        let id = format!("t{}", tasks.len());
        counted(&world, &id);
        tasks.push(id);
    };
    (0..TASKS).for_each(|_| add(&mut tasks));
    let mut live = world.start(&["--mode", "autopilot", "--agents", "2"]);
    let mut done = std::collections::BTreeMap::new();
    for round in 0..rounds {
        let _ = std::fs::remove_file(world.beside("ending"));
        world.env.ok(&["gate", "approve", "--all"]);
        if world.env.json(&["status"])["tasks"]["pending"].as_u64().unwrap() < 3 {
            add(&mut tasks);
        }
        let begun = Instant::now();
        while !world.beside("ending").exists() && begun.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(random.below(40_000)));
        let agents = world.agents();
        let Some(agent) = agents.iter().find(|agent| agent["taskId"].is_string()) else { continue };
        let (name, task) = (agent["id"].as_str().unwrap(), agent["taskId"].as_str().unwrap());
        let other = tasks.iter().rev().find(|other| *other != task && world.status_of(other) == "pending").cloned();
        let other = other.unwrap_or_else(|| task.to_owned());
        let verbs: [&[&str]; 10] = [
            &["stop", name],
            &["stop", name, "--retry"],
            &["kill", name],
            &["redirect", name, &other],
            &["redirect", name, &other, "--same-workspace", "--retry"],
            &["task", "block", task, "--reason", "wait"],
            &["pause"],
            &["pause", "--force"],
            &["task", "edit", task, "--title", "other"],
            &["mode", "review"],
        ];
        let verb = verbs[usize::try_from(random.below(verbs.len() as u64)).unwrap()];
        let run = world.env.axiom(verb);
        // Refused where the agent has just let go; never anything else.
        assert!(matches!(run.code, Some(0 | 1 | 2 | 4)), "round {round} of seed {seed}: {verb:?}\n{run}");
        assert!(!run.stderr.contains("INTERNAL"), "round {round} of seed {seed}: {verb:?}\n{run}");
        *done.entry(verb[0].to_owned()).or_insert(0) += usize::from(run.code == Some(0));
        match verb[0] {
            "pause" => drop(world.env.axiom(&["resume"])),
            "task" if verb[1] == "block" => drop(world.env.axiom(&["task", "unblock", task])),
            "mode" => drop(world.env.axiom(&["mode", "autopilot"])),
            _ => {}
        }
        assert!(live.runs(), "round {round} of seed {seed}: {verb:?}\n{}", live.stderr());
        for case in world.env.json(&["task", "list"])["tasks"].as_array().unwrap() {
            let status = case["status"].as_str().unwrap();
            let is_worked_on = world.agents().iter().any(|agent| agent["taskId"] == case["id"]);
            let allowed = matches!(status, "pending" | "done" | "blocked") || status == "active" || is_worked_on;
            assert!(allowed && case["retryCount"] == 0, "round {round} of seed {seed}: {verb:?}: {case}");
        }
    }
    world.env.ok(&["quit", "--yes"]);
    live.wait().code(0);
    world.env.axiom(&["task", "unblock"].into_iter().chain(tasks.iter().map(String::as_str)).collect::<Vec<_>>());
    world.autopilot(&["--retry", "--agents", "2"]).code(0);
    all_lines_are_merged(&world, &tasks, seed);
    eprintln!("interventions done: {done:?}");
    world.all_is_well();
}

/// From the request's event to the signal that the agent gets.
#[test]
fn an_agent_obeys_within_a_moment() {
    let rounds = AskedCases::read().rounds(16) as usize / 4;
    let world = World::new();
    let beside = world.env.root().display();
    let script = format!(
        "trap \"date +%s%N > '{beside}/obeyed.tmp'; mv '{beside}/obeyed.tmp' '{beside}/obeyed'; exit 1\" TERM\n\
         touch '{beside}/begun'; while :; do sleep 0.005; done"
    );
    world.task("t", &script, &[]);
    world.task("u", &script, &[]);
    let live = world.start(&["--mode", "autopilot", "--agents", "1"]);
    let mut took: Vec<i64> = Vec::new();
    for round in 0..rounds * 4 {
        world.wait_for_file("begun");
        wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
        std::fs::remove_file(world.beside("begun")).unwrap();
        let task = world.agents()[0]["taskId"].as_str().unwrap().to_owned();
        let other = if task == "t" { "u" } else { "t" };
        let (redirect, block) = (["redirect", "agent-001", other, "--retry"], ["task", "block", &task, "--reason", "x"]);
        let verbs: [&[&str]; 4] = [&["stop", "--all", "--retry"], &["pause", "--force", "--wait"], &redirect, &block];
        let verb = verbs[round % 4];
        world.env.ok(verb);
        world.wait_for_file("obeyed");
        let obeyed: i64 = std::fs::read_to_string(world.beside("obeyed")).unwrap().trim().parse().unwrap();
        std::fs::remove_file(world.beside("obeyed")).unwrap();
        let asked = world.env.json(&["events"])["events"]
            .as_array()
            .unwrap()
            .iter()
            .rev()
            .find(|event| event["event"] == "requested")
            .cloned()
            .unwrap();
        let asked: jiff::Timestamp = asked["at"].as_str().unwrap().parse().unwrap();
        took.push(obeyed / 1_000_000 - asked.as_millisecond());
        match verb[0] {
            "pause" => drop(world.env.ok(&["resume"])),
            "task" => drop(world.env.ok(&["task", "unblock", &task])),
            _ => {}
        }
    }
    world.quits_well(live);
    took.sort_unstable();
    let (median, most) = (took[took.len() / 2], *took.last().unwrap());
    eprintln!("from the request to the signal: median {median} ms, most {most} ms, of {}", took.len());
    // A machine under load is slow; a poll once a second would be slower.
    assert!(median < 800, "{took:?}");
}

/// A human waits for one step of the supervisor, not for all that there is to do at that moment.
#[test]
fn a_request_comes_before_the_ends_of_other_iterations() {
    let world = World::new();
    let beside = world.env.root().display();
    // Work is committed slowly.
    world.env.git(&["config", "filter.slow.clean", &format!("touch '{beside}/cleaning'; sleep 0.3; cat")]);
    world.env.write(".gitattributes", "*.slow filter=slow\n");
    world.env.git(&["add", ".gitattributes"]);
    world.env.git(&["commit", "--quiet", "-m", "attributes"]);
    let tasks = ["a", "b", "c", "d", "e"];
    for task in tasks {
        let wait = format!("touch '{beside}/{task}.begun'; while [ ! -f '{beside}/go' ]; do sleep 0.02; done");
        world.task(task, &format!("{wait}; echo {task} > {task}.slow"), &[]);
    }
    world.task("long", &format!("touch '{beside}/long.begun'; sleep 60"), &[]);
    let live = world.start(&["--mode", "autopilot", "--agents", "6"]);
    tasks.iter().chain(&["long"]).for_each(|task| world.wait_for_file(&format!("{task}.begun")));
    wait_until("all are known to run", || world.agents().iter().filter(|agent| agent["state"] == "running").count() == 6);
    let agents = world.agents();
    let busy = agents.iter().find(|agent| agent["taskId"] == "long").unwrap()["id"].as_str().unwrap();
    signal(live.pid(), rustix::process::Signal::STOP);
    world.signal_file("go");
    wait_until("they have ended", || world.processes().into_iter().filter(|(_, words)| words.contains(" keeper ")).count() == 1);
    signal(live.pid(), rustix::process::Signal::CONT);
    world.wait_for_file("cleaning");
    world.env.ok(&["stop", busy]);
    let events = world.env.json(&["events"])["events"].clone();
    let names: Vec<&str> = events.as_array().unwrap().iter().map(|event| event["event"].as_str().unwrap()).collect();
    let place = |name: &str| names.iter().rposition(|each| *each == name).unwrap();
    let (asked, answered) = (place("requested"), place("requestHandled"));
    let meanwhile = names[asked..answered].iter().filter(|name| **name == "iterationEnded").count();
    assert!(meanwhile <= 1, "{:?}", &names[asked..=answered]);
    world.quits_well(live);
}
