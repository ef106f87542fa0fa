//! `git axiom init`.

use crate::common::TestEnv;

#[test]
fn init_may_be_repeated() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.axiom(&["init"]), @r"
    Initialised $ROOT/repo/.git/axiom
    --- stderr
    next:  git axiom task add TITLE --body SCRIPT    adds a task
           git axiom run                             starts agents on the tasks
           git axiom demo                            shows all of it in a scratch repository
    --- exit 0
    ");
    insta::assert_snapshot!(env.axiom(&["init"]), @r"
    Already initialised: $ROOT/repo/.git/axiom
    --- exit 0
    ");
    assert_eq!(env.json(&["init"])["created"], false);
    assert_eq!(env.git(&["status", "--porcelain"]), "", "nothing of ours shows in the worktree");
}

#[test]
fn refs_are_hidden_where_that_is_wanted_and_deinit_takes_out_only_what_init_wrote() {
    let env = TestEnv::new();
    env.git(&["config", "--add", "transfer.hideRefs", "refs/mine"]);
    env.git(&["config", "--add", "transfer.hideRefs", "refs/axiom"]);
    assert_eq!(env.json(&["init", "--hide-refs"])["hidden"], serde_json::json!(["refs/tags/axiom", "refs/notes/axiom"]));
    assert_eq!(env.json(&["init", "--hide-refs"])["hidden"], serde_json::json!([]));
    env.ok(&["checkpoint", "create", "one"]);
    let seen = env.git(&["ls-remote", "."]);
    assert!(!seen.contains("axiom"), "{seen}");
    env.json(&["deinit", "--yes"]);
    assert_eq!(env.git(&["config", "--get-all", "transfer.hideRefs"]), "refs/mine\nrefs/axiom");
}

#[test]
fn workspaces_are_made_beside_the_repository_where_that_is_wanted() {
    let env = TestEnv::new();
    assert_eq!(env.json(&["init", "--workspaces-beside"])["workspaceRoot"], "../repo-worktrees");
    assert_eq!(env.git(&["config", "axiom.agents.workspaceRoot"]), "../repo-worktrees");
    env.git(&["config", "axiom.agents.workspaceRoot", "../elsewhere"]);
    assert_eq!(env.json(&["init", "--workspaces-beside"])["workspaceRoot"], "../elsewhere");
}
