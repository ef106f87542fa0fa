//! An agent cannot weaken control: what a human decides is refused below a keeper, and in a verify step too.

use crate::session_support::World;

const REFUSED: &[&str] = &[
    "kill --all",
    "stop --all",
    "stop agent-001",
    "pause",
    "resume",
    "quit",
    "run",
    "merge t",
    "mode autopilot",
    "gate approve --all",
    "rollback session --yes",
    "restore mine --yes",
    "undo --yes",
    "recover --yes",
    "task edit t --verify true",
    "task edit t --title x",
    "task archive t",
    "task block t --reason r",
    "task unblock t",
    "task import /dev/null",
];

const WORKS: &[&str] = &["status", "task show t", "log", "gate list", "mode", "signal progress 5", "checkpoint create mine"];

/// A script that calls each with `git axiom`, and writes down what came of it.
fn calls(verbs: &[&str], prefix: &str, into: &str) -> String {
    let call = |verb: &&str| {
        format!(
            "{prefix} git axiom {verb} > '{into}.one' 2>&1; echo \"$? {verb}\" $(grep -o '^error.[A-Z_]*' '{into}.one') >> '{into}'\n"
        )
    };
    verbs.iter().map(call).collect()
}

#[track_caller]
fn all_refused(world: &World, file: &str) {
    let lines = world.lines(file);
    assert_eq!(lines.len(), REFUSED.len(), "{lines:?}");
    let others: Vec<&String> = lines.iter().filter(|line| !line.ends_with("error[NOT_FOR_AGENTS")).collect();
    assert!(others.is_empty(), "{others:?}");
}

#[test]
fn what_humans_decide_is_refused_to_agents_and_to_verify_steps() {
    let world = World::new();
    let beside = |name: &str| world.beside(name).display().to_string();
    let script = [
        calls(REFUSED, "", &beside("agent")),
        // Whatever it calls itself.
        calls(REFUSED, "env -u AXIOM_AGENT", &beside("nameless")),
        calls(WORKS, "", &beside("works")),
        "echo 1 > t.txt".to_owned(),
    ];
    // What a step leaves in another session is ended as well.
    let forgets = "env -u AXIOM_TOKEN -u AXIOM_AGENT -u AXIOM_VERIFY";
    let step = format!(
        "{} {} setsid env -i sleep 3000 & true",
        calls(REFUSED, "", &beside("step")),
        calls(REFUSED, forgets, &beside("forgets"))
    );
    world.task("t", &script.concat(), &["--verify", &step]);
    let path = format!("{}:", std::path::Path::new(env!("CARGO_BIN_EXE_git-axiom")).parent().unwrap().display());
    let live = {
        let mut command = world.run_command(&["--mode", "autopilot", "--until-idle"]);
        command.env("PATH", path + &std::env::var("PATH").unwrap());
        crate::session_support::Live::start(command, world.env.root(), "control")
    };
    live.wait().code(0);
    for file in ["agent", "nameless", "step", "forgets"] {
        all_refused(&world, file);
    }
    let works = world.lines("works");
    assert!(works.len() == WORKS.len() && works.iter().all(|line| line.starts_with("0 ")), "{works:?}");
    assert_eq!(world.env.read("t.txt"), "1\n");
    world.all_is_well();
}

/// An agent that makes tasks without end is told so, and nobody else is kept from making more.
#[test]
fn an_agent_adds_tasks_up_to_a_limit() {
    let world = World::new();
    let add = "i=0; while [ $i -lt 23 ]; do i=$((i+1)); git-axiom task add more --body true >> \"$out\" 2>&1; done";
    let out = world.beside("added").display().to_string();
    world.task("t", &format!("PATH=\"{}:$PATH\"; out='{out}'; {add}; echo 1 > t.txt", bin()), &[]);
    world.autopilot(&["--agents", "1"]).code(0);
    let lines = world.lines("added");
    assert_eq!(lines.iter().filter(|line| line.starts_with("task-")).count(), 20, "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("error[TOO_MANY_TASKS]")).count(), 3, "{lines:?}");
    world.env.ok(&["task", "add", "mine"]);
    world.all_is_well();
}

fn bin() -> String {
    std::path::Path::new(env!("CARGO_BIN_EXE_git-axiom")).parent().unwrap().display().to_string()
}
