//! Filters in agents' workspaces: one that fails holds up its own task, and git-crypt finds its keys.

use std::process::Command;

use crate::common::TestEnv;
use crate::skipped::skipped;

#[test]
fn a_filter_that_fails_holds_up_its_own_task_at_a_gate_that_names_it() {
    let env = TestEnv::new();
    env.write(".gitattributes", "*.f filter=bad\n");
    env.git(&["config", "filter.bad.clean", "false"]);
    env.git(&["config", "filter.bad.required", "true"]);
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "a filter"]);
    env.ok(&["task", "add", "one", "--id", "one", "--body", "echo x > x.f"]);
    env.ok(&["task", "add", "two", "--id", "two", "--body", "echo two > two.txt"]);
    env.axiom(&["run", "--mode", "autopilot", "--until-idle", "--agents", "2"]);
    assert_eq!(env.git(&["show", "main:two.txt"]), "two");
    let gates = env.json(&["gate", "list"])["gates"].to_string();
    assert!(gates.contains("'bad'") && gates.contains("one"), "{gates}");
}

/// A repository with `key.secret` in git-crypt; `None` where it is not installed.
fn with_git_crypt() -> Option<TestEnv> {
    if Command::new("git-crypt").arg("--version").output().is_err() {
        skipped("git-crypt is not installed");
        return None;
    }
    let env = TestEnv::new();
    env.git(&["crypt", "init"]);
    env.write(".gitattributes", "*.secret filter=git-crypt diff=git-crypt\n");
    env.write("key.secret", "the secret\n");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "a secret"]);
    Some(env)
}

#[test]
fn agents_work_on_files_of_git_crypt() {
    let Some(env) = with_git_crypt() else { return };
    env.ok(&["task", "add", "t", "--id", "t", "--body", "cp key.secret seen.txt; echo more >> key.secret"]);
    env.ok(&["run", "--mode", "autopilot", "--until-idle"]);
    assert_eq!(env.git(&["show", "main:seen.txt"]), "the secret");
    assert_eq!(std::fs::read_to_string(env.repo().join("key.secret")).unwrap(), "the secret\nmore\n");
    let stored = env.program("git", &env.repo()).args(["cat-file", "blob", "main:key.secret"]).output().unwrap().stdout;
    assert!(stored.starts_with(b"\0GITCRYPT\0"));
}

#[test]
fn a_repository_that_git_crypt_has_locked_waits_at_a_gate() {
    let Some(env) = with_git_crypt() else { return };
    env.git(&["crypt", "lock"]);
    env.ok(&["task", "add", "t", "--id", "t", "--body", "echo never > never.txt"]);
    env.axiom(&["run", "--mode", "autopilot", "--until-idle"]);
    let gates = env.json(&["gate", "list"])["gates"].to_string();
    assert!(gates.contains("git-crypt unlock"), "{gates}");
    env.git(&["fsck", "--strict"]);
}

/// Its hook asks git for one object after another, and looks for its folder through a `.git` that it makes a link.
#[test]
fn agents_work_on_files_of_git_annex() {
    if Command::new("git-annex").arg("version").output().is_err() {
        return skipped("git-annex is not installed");
    }
    let env = TestEnv::new();
    env.git(&["annex", "init", "--quiet", "here"]);
    env.git(&["config", "annex.largefiles", "largerthan=1kb"]);
    let content = |seed: u8| (0..3000u32).map(|n| seed ^ (n % 251) as u8).collect::<Vec<u8>>();
    env.write("locked.bin", content(1));
    env.git(&["annex", "add", "--quiet", "locked.bin"]);
    env.write("unlocked.bin", content(2));
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "annexed"]);
    assert!(env.git(&["cat-file", "blob", "HEAD:unlocked.bin"]).starts_with("/annex/objects/"));
    let task = "cat locked.bin unlocked.bin | cksum > seen.txt; cat unlocked.bin locked.bin > new.bin";
    env.ok(&["task", "add", "t", "--id", "t", "--body", task]);
    let begun = std::time::Instant::now();
    env.ok(&["run", "--mode", "autopilot", "--until-idle"]);
    assert!(begun.elapsed() < std::time::Duration::from_secs(240), "the hook of git-annex hung");
    let whole = |names: [&str; 2]| names.map(|name| std::fs::read(env.repo().join(name)).unwrap()).concat();
    let (both, seen) = (whole(["locked.bin", "unlocked.bin"]), env.git(&["show", "main:seen.txt"]));
    assert!(seen.trim().ends_with(&format!(" {}", both.len())), "{seen}");
    assert!(env.git(&["cat-file", "blob", "main:new.bin"]).starts_with("/annex/objects/"));
    assert_eq!(std::fs::read(env.repo().join("new.bin")).unwrap(), whole(["unlocked.bin", "locked.bin"]));
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    // Back to before the merge and forth again: the bytes are there each time.
    env.write("unlocked.bin", content(3));
    env.ok(&["checkpoint", "create", "edited"]);
    env.git(&["checkout", "-q", "--", "unlocked.bin"]);
    env.ok(&["rollback", "checkpoint", "edited", "--yes"]);
    assert_eq!(std::fs::read(env.repo().join("unlocked.bin")).unwrap(), content(3));
}
