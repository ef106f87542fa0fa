//! Git hooks that call `git axiom` while an operation of its own is under way.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a failing test may panic, and tests prepare files

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use crate::common::TestEnv;

/// A hook that calls what `calls` say, with `$A` as the program, and writes what came of it to `said` beside the repository.
fn hook(env: &TestEnv, name: &str, calls: &str) {
    let program = env!("CARGO_BIN_EXE_git-axiom");
    let said = env.root().join("said");
    let script = format!("#!/bin/sh\nA='{program}'\nexec >> '{}' 2>&1 < /dev/null\n{calls}\nexit 0\n", said.display());
    let path = format!(".git/hooks/{name}");
    env.write(&path, script);
    std::fs::set_permissions(env.repo().join(path), std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_hook_below_an_operation_is_refused_at_once_and_can_look() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    let calls = "unset GIT_DIR GIT_INDEX_FILE\ncase $1 in committed) ;; *) exit 0 ;; esac\ncd ../.. 2>/dev/null || :\n\
        repo=\"$(dirname \"$0\")/../..\"\n\
        \"$A\" -C \"$repo\" checkpoint create inner; echo \"checkpoint $?\"\n\
        \"$A\" -C \"$repo\" status > /dev/null; echo \"status $?\"\n\
        \"$A\" -C \"$repo\" task add seen > /dev/null; echo \"task $?\"";
    hook(&env, "reference-transaction", calls);
    let begun = Instant::now();
    env.axiom(&["checkpoint", "create", "outer"]).success();
    assert!(begun.elapsed() < Duration::from_secs(15), "it waited: {:?}", begun.elapsed());
    let said = std::fs::read_to_string(env.root().join("said")).unwrap();
    assert!(said.contains("error[BUSY]: called from a git hook during an operation of git axiom"), "{said}");
    for line in ["checkpoint 5", "status 0", "task 0"] {
        assert!(said.lines().any(|each| each == line), "{line}\n{said}");
    }
    std::fs::remove_file(env.repo().join(".git/hooks/reference-transaction")).unwrap();
    let names = env.json(&["checkpoint", "list"]);
    assert_eq!(names["checkpoints"].as_array().unwrap().len(), 1, "{names}");
    env.ok(&["checkpoint", "create", "inner"]);
}

#[test]
fn a_hook_of_the_users_own_git_makes_checkpoints() {
    let env = TestEnv::new();
    hook(&env, "pre-commit", "\"$A\" checkpoint create before; echo \"checkpoint $?\"");
    env.write("README", "more\n");
    env.git(&["commit", "-qam", "second"]);
    let said = std::fs::read_to_string(env.root().join("said")).unwrap();
    assert!(said.lines().any(|each| each == "checkpoint 0"), "{said}");
}
