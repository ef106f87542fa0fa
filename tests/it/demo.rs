//! `git axiom demo`, run as a user would, where a machine is at its worst: no identity, no terminal, a temporary folder with
//! a blank and a quote in its name, and git's variables of somebody else's repository in the environment.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::TestEnv;
use crate::terminal::Terminal;
use serde_json::Value;

/// `git axiom demo` with nothing but the hostile surroundings; returns its temporary folder too.
fn demo(env: &TestEnv, args: &[&str]) -> (Command, PathBuf) {
    let tmp = env.root().join("it's a tmp");
    std::fs::create_dir(&tmp).unwrap();
    let mut command = env.axiom_command(env.root(), args);
    for name in ["AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL", "CONFIG_GLOBAL", "CONFIG_NOSYSTEM"] {
        command.env_remove(format!("GIT_{name}"));
    }
    // A configuration that would break everything if it were read.
    std::fs::write(env.root().join("home/.gitconfig"), "[core]\n\thooksPath = /nowhere\n[commit]\n\tgpgSign = true\n").unwrap();
    command.env("TMPDIR", &tmp).env("GIT_DIR", "/nowhere").env("GIT_INDEX_FILE", "/nowhere/index");
    command.env("AXIOM_AGENT", "ed-001").env("AXIOM_TOKEN", "t");
    (command, tmp)
}

/// The processes that have the temporary folder in their environment.
fn processes_of(tmp: &Path) -> Vec<String> {
    let marker = format!("TMPDIR={}", tmp.display()).into_bytes();
    let has = |pid: &str| {
        let env = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        env.windows(marker.len()).any(|window| window == marker)
    };
    let all = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    all.filter(|name| name.parse::<u32>().is_ok() && has(name)).collect()
}

fn failed(answer: &Value) -> Vec<&str> {
    let checks = answer["checks"].as_array().unwrap();
    checks.iter().filter(|check| check["ok"] == false).map(|check| check["id"].as_str().unwrap()).collect()
}

#[test]
fn the_demo_shows_what_it_does_and_passes_its_checks() {
    let env = TestEnv::empty();
    let (command, tmp) = demo(&env, &["demo"]);
    let run = env.run(command, None).success();
    assert_eq!(run.stdout.matches('✓').count(), 13, "{run}");
    assert!(!run.stdout.contains('✗'), "{run}");
    for command in ["$ git axiom run ", "$ kill -KILL ", "$ git axiom recover", "$ git axiom rollback ", "$ git axiom undo "] {
        assert!(run.stderr.contains(command), "{command} is not shown\n{run}");
    }
    assert!(run.stderr.contains("it has ended, and its result is used"), "{run}");
    let made: Vec<_> = std::fs::read_dir(&tmp).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(made.len(), 1, "one folder and nothing beside it: {made:?}");
    assert!(run.stdout.contains("rm -rf "), "{run}");
    assert_eq!(processes_of(&tmp), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(env.root().join("home")).unwrap().count(), 1, "nothing was written into the home");
}

#[test]
fn what_is_not_so_is_not_claimed() {
    let env = TestEnv::empty();
    let (mut command, tmp) = demo(&env, &["demo", "--json"]);
    let run = env.run(
        {
            command.env("AXIOM_TEST_DEMO_SABOTAGE", "1");
            command
        },
        None,
    );
    assert_eq!(run.code, Some(1), "{run}");
    let answer = run.json();
    assert_eq!(answer["passed"], false);
    // What was wrecked at the end; what happened before it stays true.
    assert_eq!(failed(&answer), ["adopted", "once", "merged", "contents", "yours", "undo", "fsck", "left"], "{run}");
    assert_eq!(processes_of(&tmp), Vec::<String>::new(), "what it found running was ended");
}

#[test]
fn an_interruption_leaves_nothing_running() {
    let env = TestEnv::empty();
    let (mut command, tmp) = demo(&env, &["demo", "--json"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // While two agents work and no supervisor is there.
    let begun = Instant::now();
    let working = || {
        let folders = std::fs::read_dir(&tmp).unwrap().map(|entry| entry.unwrap().path());
        let logs = folders.filter_map(|folder| std::fs::read_to_string(folder.join("agents.log")).ok());
        logs.map(|log| log.matches("started p").count()).sum::<usize>() == 3
    };
    while !working() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the agents never began");
        assert!(child.try_wait().unwrap().is_none(), "the demo ended early");
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["error"]["code"], "INTERRUPTED");
    assert_eq!(processes_of(&tmp), Vec::<String>::new());
}

#[test]
fn the_demo_is_seen_in_the_panel_and_played_to_its_end() {
    let env = TestEnv::empty();
    let (command, tmp) = demo(&env, &["demo", "--panel"]);
    let mut terminal = Terminal::start_in(command, (24, 100));
    // It comes as soon as there is a repository, and shows the agents of the demo.
    terminal.wait_for("\u{1b}[?1049h");
    terminal.wait_for("working");
    terminal.keys(&["2"]);
    terminal.wait_for("WAITED FOR");
    terminal.keys(&["q"]);
    std::thread::sleep(Duration::from_millis(300));
    // Where agents run just then, it asks; the session goes on in both cases.
    if !terminal.is_as_shells_want_it() {
        terminal.keys(&["l"]);
    }
    let (status, seen) = terminal.end();
    assert!(status.success(), "{seen}");
    let (_, after) = seen.rsplit_once("\u{1b}[?1049l").unwrap();
    assert!(after.contains("The demo is played to its end") && after.contains("All 13 checks passed"), "{after}");
    assert_eq!(processes_of(&tmp), Vec::<String>::new());
}
