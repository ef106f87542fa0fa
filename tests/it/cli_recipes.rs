//! The way back without git axiom that `docs/LEAVING.md` shows, tried with plain git.

#![allow(clippy::unwrap_used)] // a failing test may panic

use crate::common::TestEnv;

#[test]
fn files_and_index_come_back_with_plain_git() {
    let env = TestEnv::new();
    env.write("README", "changed\n");
    env.write("src/lib.txt", "staged\n");
    env.git(&["add", "src/lib.txt"]);
    env.write("src/lib.txt", "and changed again\n");
    env.write("new.txt", "untracked\n");
    let status = env.git(&["status", "--porcelain"]);
    env.ok(&["task", "add", "a long one", "--body", &"x".repeat(2000)]);
    env.ok(&["checkpoint", "create", "good"]);
    assert_eq!(env.git(&["status", "--porcelain"]), status, "nothing of the user's has changed");

    assert_eq!(env.git(&["for-each-ref", "--format=%(refname)", "refs/axiom/captures"]), "refs/axiom/captures/good");
    let note: serde_json::Value = serde_json::from_str(&env.git(&["notes", "--ref=axiom", "show", "axiom/good"])).unwrap();
    assert_eq!(note["name"], "good");
    assert_eq!(env.git(&["diff", "--name-status", "axiom/captures/good"]), "D\tnew.txt", "git diff looks at tracked files only");
    assert_eq!(env.git(&["show", "axiom/captures/good:new.txt"]), "untracked");

    // Wrecked in all the usual ways.
    env.git(&["reset", "-q", "--hard"]);
    env.git(&["clean", "-q", "-fd"]);
    assert!(!env.repo().join("new.txt").exists());
    env.git(&["restore", "--source=axiom/captures/good", "--worktree", "--", ":/"]);
    assert_eq!((env.read("README"), env.read("new.txt")), ("changed\n".into(), "untracked\n".into()));
    assert_eq!(env.read("src/lib.txt"), "and changed again\n");

    env.git(&["reset", "-q", "--hard"]);
    env.git(&["clean", "-q", "-fd"]);
    env.git(&["stash", "apply", "-q", "--index", "axiom/captures/good^{commit}"]);
    assert_eq!(env.git(&["show", ":src/lib.txt"]), "staged");
    assert_eq!(env.read("src/lib.txt"), "and changed again\n");

    let id = note["stateSnapshot"]["tasks"]["task-001"]["body"]["blob"].as_str().unwrap().to_owned();
    assert_eq!(env.git(&["cat-file", "blob", &id]), "x".repeat(2000));

    // And all of it can be taken away.
    let refs = env.git(&["for-each-ref", "--format=delete %(refname)", "refs/axiom", "refs/tags/axiom", "refs/notes/axiom"]);
    let mut delete = env.program("git", &env.repo());
    delete.args(["update-ref", "--stdin"]);
    assert_eq!(env.run(delete, Some(format!("{refs}\n").as_bytes())).code, Some(0));
    assert_eq!(env.git(&["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
}

#[test]
fn an_ordinary_push_sends_nothing_uncommitted() {
    let env = TestEnv::new();
    env.write("secret.txt", "not committed\n");
    env.ok(&["checkpoint", "create", "good"]);
    env.git_in(env.root(), &["init", "-q", "--bare", "other.git"]);
    env.git(&["push", "-q", "--tags", "../other.git", "main"]);
    let sent = env.git_in(&env.root().join("other.git"), &["rev-list", "--objects", "--all"]);
    assert!(!sent.contains("secret.txt"), "{sent}");
    assert_eq!(env.git(&["describe", "--always"]), env.git(&["rev-parse", "--short", "HEAD"]));
    assert_eq!(env.git(&["stash", "list"]), "");
}
