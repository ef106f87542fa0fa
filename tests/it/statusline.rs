//! The line for tmux, shells and agent programs.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::TestEnv;

fn prompt(env: &TestEnv, session: &str) {
    let payload = json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": env.repo(), "prompt": "x"});
    env.axiom_fed(&["hook", "claude"], payload.to_string().as_bytes()).success();
}

#[test]
fn it_says_what_is_saved_and_what_waits() {
    let env = TestEnv::new();
    assert_eq!(env.axiom(&["statusline"]).success().stdout, "\n", "nobody has prepared this repository");
    env.ok(&["init"]);
    assert_eq!(env.axiom(&["statusline"]).success().stdout, "\n", "there is nothing to say");
    prompt(&env, "s-1");
    assert_eq!(env.ok(&["statusline"]), "protected, 1 prompt");
    env.ok(&["task", "add", "One", "--id", "one"]);
    env.ok(&["task", "block", "one", "--reason", "why not"]);
    assert_eq!(env.ok(&["statusline"]), "protected, 1 prompt · 1 stuck");
}

#[test]
fn it_speaks_of_the_session_that_asks() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    prompt(&env, "s-1");
    let asked = |session: &str| {
        let input = json!({"session_id": session, "workspace": {"current_dir": env.repo()}, "model": {"id": "x"}});
        let command = env.axiom_command(env.root(), ["statusline"]);
        env.run(command, Some(input.to_string().as_bytes())).success().stdout
    };
    assert_eq!(asked("s-1"), "protected, 1 prompt\n");
    assert_eq!(asked("s-2"), "not protected\n");
}

#[test]
fn outside_of_repositories_and_without_an_answer_it_is_an_empty_line() {
    let env = TestEnv::empty();
    let run = env.axiom_in(env.root(), &["statusline"]).success();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("\n", ""));
    let broken = env.run(env.axiom_command(env.root(), ["statusline"]), Some(b"{not json")).success();
    assert_eq!((broken.stdout.as_str(), broken.stderr.as_str()), ("\n", ""));
    // A pipe that nobody closes.
    let mut command = env.axiom_command(env.root(), ["statusline"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut held = child.stdin.take().unwrap();
    held.write_all(b"{").unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it waits for the end of standard input");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(child.wait().unwrap().success());
}
