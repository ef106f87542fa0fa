//! `git axiom status`: its keys, and what a session's end, clean or not, makes of it.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // a failing test may panic, and tests prepare files

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::TestEnv;

#[test]
fn before_the_first_session() {
    let env = TestEnv::new().with_fixed_clock();
    insta::assert_snapshot!(env.axiom(&["status", "--json"]), @r#"
    {"schema":2,"verb":"status","session":{"id":null,"state":"idle","mode":"semi-auto","setAside":0,"lastAction":null,"lastActionAt":null,"updatedAt":null,"metadata":{"startedAt":null,"target":null,"slots":null,"startCheckpoint":null,"checkpoints":0,"events":0},"limits":null,"tokensUsed":null,"costUsd":null,"timeUsedMs":0,"timeUsedIsLeast":false},"project":{"currentTaskId":null,"currentAgentId":null,"lastAction":null,"status":"idle","updatedAt":null,"metadata":{"startedAt":null,"target":null,"slots":null,"startCheckpoint":null,"checkpoints":0,"events":0,"filesModified":0,"testsPassing":null}},"supervisor":{"alive":false,"pid":null},"agents":[],"tasks":{"pending":0,"active":0,"done":0,"blocked":0,"failed":0,"archived":0},"progress":{"total":0,"merged":0,"ready":0,"atGates":0,"doneAtGates":0,"waiting":0},"gates":[],"decided":[],"toMerge":[],"lostMerges":[],"stuck":[],"doing":[],"delays":[],"configuration":null,"settling":[],"recovery":{"needed":false,"reasons":[]},"attached":{"sessions":[],"watches":[]}}
    --- exit 0
    "#);
    assert!(!env.axiom_dir().exists(), "looking makes nothing");
}

/// Where no terminal is, nothing can be drawn over: that is said at once, with what leads on.
#[test]
fn watching_needs_a_terminal() {
    let env = TestEnv::new();
    let mut command = env.axiom_command(&env.repo(), ["status", "--watch"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut watch = command.spawn().unwrap();
    let begun = Instant::now();
    while watch.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = watch.kill();
    let ended = watch.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stdout.len()), (Some(2), 0));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("error[USAGE]: --watch draws on a terminal") && said.contains("--watch --json"), "{said}");
}

#[test]
fn only_one_call_of_git_is_made() {
    let env = TestEnv::new();
    env.ok(&["task", "add", "x", "--body", &"y".repeat(3000)]);
    // A git that counts its calls, in front of the real one.
    let bin = env.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let counter = env.root().join("calls");
    let real = env.run(
        {
            let mut c = env.program("sh", env.root());
            c.args(["-c", "command -v git"]);
            c
        },
        None,
    );
    let script = format!("#!/bin/sh\necho \"$*\" >> '{}'\nexec {} \"$@\"\n", counter.display(), real.stdout.trim());
    std::fs::write(bin.join("git"), script).unwrap();
    env.run(
        {
            let mut c = env.program("chmod", env.root());
            c.args(["755", "bin/git"]);
            c
        },
        None,
    )
    .success();
    let mut command = env.axiom_command(&env.repo(), ["status", "--json"]);
    command.env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    env.run(command, None).success();
    let calls = std::fs::read_to_string(counter).unwrap();
    assert_eq!(calls.lines().count(), 1, "{calls}");
}

#[test]
fn while_a_session_runs_and_after_its_supervisor_was_killed() {
    let env = TestEnv::new();
    env.ok(&["task", "add", "wait", "--body", "while ! [ -e ../../go ]; do sleep 0.05; done; echo x > x"]);
    let mut supervisor = env
        .axiom_command(&env.repo(), ["run", "--mode", "autopilot", "--until-idle"])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let wait_for = |what: &dyn Fn(&serde_json::Value) -> bool| {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let status = env.json(&["status"]);
            if what(&status) {
                return status;
            }
            assert!(Instant::now() < deadline, "{status}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let status = wait_for(&|status| status["agents"][0]["state"] == "running");
    assert_eq!(status["session"]["state"], "running");
    assert_eq!((&status["supervisor"]["alive"], &status["supervisor"]["pid"]), (&true.into(), &supervisor.id().into()));
    assert_eq!(status["agents"][0]["taskId"], "task-001");
    assert_eq!(status["tasks"]["active"], 1);
    let project = |status: &serde_json::Value| {
        ["status", "currentTaskId", "currentAgentId"].map(|key| status["project"][key].as_str().unwrap_or("-").to_owned())
    };
    let agent = status["agents"][0]["id"].as_str().unwrap();
    assert_eq!(project(&status), ["active", "task-001", agent]);
    let project_says = |key: &str| status["project"][key] == status["session"][key];
    assert!(["lastAction", "updatedAt"].into_iter().all(project_says), "{status}");
    assert_eq!(status["project"]["metadata"]["startedAt"], status["session"]["metadata"]["startedAt"]);
    assert!(status["project"]["metadata"]["testsPassing"].is_null(), "{status}");
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
    let status = wait_for(&|status| status["session"]["state"] == "crashed");
    assert_eq!((&status["supervisor"]["alive"], &status["recovery"]["needed"]), (&false.into(), &true.into()));
    assert_eq!(project(&status)[0], "active");
    env.write("go", "");
    env.axiom(&["run", "--mode", "autopilot", "--until-idle"]).success();
    let status = env.json(&["status"]);
    assert_eq!((&status["session"]["state"], &status["progress"]["merged"]), (&"idle".into(), &1.into()));
    assert_eq!(status["recovery"]["needed"], false);
    assert_eq!(project(&status), ["completed", "-", "-"]);
    assert_eq!(status["project"]["metadata"]["filesModified"], 1, "{status}");
    env.fsck();
}

/// A session that goes on prints no such hints: whoever looks finds them here.
#[test]
fn what_does_not_go_on_is_named_with_its_reason_and_the_way_out() {
    let env = TestEnv::new();
    env.ok(&["task", "add", "the one", "--id", "t"]);
    assert!(!env.ok(&["status"]).contains("Not going on"));
    env.ok(&["task", "block", "t", "--reason", "there is no key"]);
    let told = env.ok(&["status"]);
    assert!(told.contains("Not going on:\n  t  blocked  there is no key\n"), "{told}");
    assert!(told.contains("  git axiom task unblock t    makes it pending again\n"), "{told}");
    assert_eq!(env.json(&["status"])["stuck"][0]["reason"], "there is no key");
}
