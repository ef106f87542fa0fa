//! `git axiom run --detach`: a session that no terminal holds, and its errors of starting said where it was asked for.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a failing test may panic, and tests look at processes

use crate::common::TestEnv;
use crate::session_support::wait_until;
use git_axiom::base::error::Code;

/// Ends what a failing test would leave behind.
struct Ended<'a>(&'a TestEnv);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.write("go", "");
            let _ = self.0.axiom(&["quit"]);
        }
    }
}

#[test]
fn a_session_in_the_background_has_begun_when_it_is_said_to_and_can_be_ended() {
    let env = TestEnv::new();
    env.ok(&["task", "add", "wait", "--id", "t", "--body", "while ! [ -e ../../go ]; do sleep 0.05; done; echo x > x"]);
    // What earlier sessions said has almost the size at which it is put aside.
    let log = env.axiom_dir().join("session.log");
    std::fs::write(&log, "x".repeat(4_999_990)).unwrap();
    let begun = env.json(&["run", "--detach", "--mode", "autopilot"]);
    let _ended = Ended(&env);
    let status = env.json(&["status"]);
    assert_eq!((&status["supervisor"]["alive"], &status["supervisor"]["pid"]), (&true.into(), &begun["pid"]));
    assert_eq!(status["session"]["id"], begun["sessionId"]);
    assert!(!status["session"]["metadata"]["startCheckpoint"].is_null(), "one can go back to its beginning");
    let pid = begun["pid"].to_string();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    if let Ok(stat) = stat {
        let session = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(3).unwrap().to_owned();
        assert_eq!(session, pid, "no terminal of ours ends it");
    }
    env.axiom(&["run", "--detach"]).fails_with(Code::SupervisorRunning);
    env.write("go", "");
    wait_until("the task is merged", || !env.json(&["task", "show", "t"])["merged"].is_null());
    env.ok(&["quit"]);
    wait_until("the session ends", || env.json(&["status"])["supervisor"]["alive"] == false);
    assert_eq!(begun["log"], log.display().to_string());
    let said = std::fs::read_to_string(&log).unwrap();
    assert!(said.len() < 100_000 && said.contains("session ended: asked to quit"), "{}", said.len());
    let aside = std::fs::read_to_string(log.with_extension("log.1")).unwrap();
    assert!(aside.starts_with("xxx") && aside.len() < 5_001_000 && !aside.contains("session ended"), "put aside while it runs");
    let what = |args: &[&str]| {
        let log = env.json(args);
        let all: Vec<_> = log["operations"].as_array().unwrap().iter().map(|one| one["what"].to_string()).collect();
        all.join("\n")
    };
    let (listed, every) = (what(&["log"]), what(&["log", "--all"]));
    for effect in ["session begins", "session ended", "merge t into main", "checkpoint session-start", "add t", "end the session"]
    {
        assert!(listed.contains(effect), "{effect}: {listed}");
    }
    for step in ["claimed t", "begins iteration 1"] {
        assert!(every.contains(step) && !listed.contains(step), "{step}: {listed}\n\n{every}");
    }
    env.fsck();
}

#[test]
fn several_gates_are_approved_at_once() {
    let env = TestEnv::new();
    for id in ["a", "b"] {
        env.ok(&["task", "add", id, "--id", id, "--body", &format!("echo {id} > {id}")]);
    }
    env.json(&["run", "--detach", "--mode", "semi-auto"]);
    let _ended = Ended(&env);
    let waiting = |kind: &str| {
        let gates = env.json(&["gate", "list"]);
        let open = |gate: &&serde_json::Value| gate["kind"] == kind && gate["decision"].is_null();
        gates["gates"].as_array().unwrap().iter().filter(open).count()
    };
    wait_until("two tasks wait to be claimed", || waiting("claim") == 2);
    env.axiom(&["gate", "approve", "a", "nowhere"]).fails_with(Code::UnknownGate);
    assert_eq!(waiting("claim"), 2, "all or none");
    assert_eq!(env.ok(&["gate", "approve", "a", "b"]), "approved: claim-a: start a: a\napproved: claim-b: start b: b");
    wait_until("two tasks wait to be merged", || waiting("merge") == 2);
    assert_eq!(env.json(&["gate", "approve", "--all"])["gateIds"], serde_json::json!(["merge-a", "merge-b"]));
    wait_until("both are merged", || env.json(&["status"])["progress"]["merged"] == 2);
    env.ok(&["quit"]);
    wait_until("the session ends", || env.json(&["status"])["supervisor"]["alive"] == false);
}

#[test]
fn why_it_does_not_start_is_said_here() {
    let env = TestEnv::unborn();
    env.axiom(&["run", "--detach"]).fails_with(Code::UnbornBranch);
    let env = TestEnv::new();
    let run = env.axiom(&["run", "--detach", "--", "no-such-program"]).fails_with(Code::ProgramNotFound);
    assert!(run.stderr.contains("hint: give its full path"), "{run}");
    let run = env.axiom(&["--json", "run", "--detach", "--", "no-such-program"]).fails_with(Code::ProgramNotFound);
    assert_eq!(run.json()["error"]["code"], "PROGRAM_NOT_FOUND");
    assert_eq!(env.json(&["status"])["supervisor"]["alive"], false);
}
