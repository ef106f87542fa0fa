//! A clone that brings hooks: of each event, in each form of its name. None runs before it was approved, and each does afterwards, so
//! each is a real trick.

use std::os::unix::fs::PermissionsExt;

use crate::common::TestEnv;
use git_axiom::base::error::Code;
use git_axiom::model::work::hooks::hook_event::HookEvent;

fn plant(env: &TestEnv, path: &str, run: &str) {
    env.write(path, format!("#!/bin/sh\n{run}\n"));
    std::fs::set_permissions(env.repo().join(path), PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn no_hook_of_a_clone_runs_before_it_was_approved() {
    for event in HookEvent::ALL {
        let env = TestEnv::new();
        let witness = env.root().join("witness");
        let run = format!("touch {}", witness.display());
        for name in [format!("{event}"), format!("{event}.sh"), format!("{event}.d/10-x")] {
            plant(&env, &format!(".axiom/hooks/{name}"), &run);
            plant(&env, &format!(".git/axiom/hooks/{name}"), &run);
        }
        env.git(&["add", "-A"]);
        env.git(&["commit", "-q", "-m", "project"]);
        env.ok(&["task", "add", "t", "--id", "t", "--body", "echo x > x; git axiom signal learning y"]);
        env.ok(&["task", "add", "u", "--id", "u", "--body", "git axiom signal blocked z"]);
        for verb in [
            &["checkpoint", "create", "c"][..],
            &["run", "--mode", "autopilot", "--until-idle"],
            &["merge", "t"],
            &["hooks", "list"],
            &["hooks", "install", "notify"],
            &["rollback", "checkpoint", "c", "--yes"],
            &["undo", "--yes"],
            &["recover", "--yes"],
            &["trust", "--show"],
        ] {
            env.axiom(verb);
            assert!(!witness.exists(), "{event}: {verb:?}");
        }
        env.axiom(&["hooks", "run", event.as_str(), "--task", "t"]).fails_with(Code::NotTrusted);
        assert!(!witness.exists(), "{event}");
        env.ok(&["trust", "--yes"]);
        let tried = env.axiom(&["hooks", "run", event.as_str(), "--task", "t"]).success();
        assert!(witness.exists() && tried.stdout.lines().count() >= 6, "{event}: {tried}");
    }
}
