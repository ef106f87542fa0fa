//! `git axiom init`.

use crate::common::TestEnv;
use crate::terminal::Terminal;

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
fn the_first_init_asks_about_settings_of_gits_and_no_is_the_default() {
    let at_terminal = |env: &TestEnv, args: &[&str]| Terminal::start(env.axiom_command(&env.repo(), args));
    let settings = |env: &TestEnv| {
        let of = |key: &str| env.try_git(&["config", "--get-all", key]).stdout;
        (of("transfer.hideRefs").lines().count(), of("axiom.agents.workspaceRoot"))
    };
    let (hide, beside) = ("sees our refs. Hide them? [y/N]", "In ../repo-worktrees instead? [y/N]");
    for (keys, expected) in [(["\r", "\r"], (0, "")), (["y", "n"], (3, "")), (["n", "y"], (0, "../repo-worktrees\n"))] {
        let env = TestEnv::new();
        let mut init = at_terminal(&env, &["init"]);
        for (question, key) in [hide, beside].into_iter().zip(keys) {
            init.wait_for(question);
            init.keys(&[key]);
            if key != "\r" {
                init.keys(&["\r"]);
            }
        }
        let (status, seen) = init.end();
        assert!(status.success() && seen.contains("Initialised"), "{seen}");
        assert_eq!(settings(&env), (expected.0, expected.1.to_owned()), "{keys:?}");
        // Asked once.
        let (status, seen) = at_terminal(&env, &["init"]).end();
        assert!(status.success() && !seen.contains('?'), "{seen}");
    }
    for args in [&["init", "--yes"][..], &["init", "--non-interactive"], &["init", "--json"]] {
        let env = TestEnv::new();
        let (status, seen) = at_terminal(&env, args).end();
        assert!(status.success() && !seen.contains("Hide them"), "{seen}");
        assert_eq!(settings(&env), (0, String::new()));
    }
    let env = TestEnv::new();
    env.git(&["config", "axiom.agents.workspaceRoot", "../mine"]);
    let (status, seen) = at_terminal(&env, &["init", "--hide-refs"]).end();
    assert!(status.success() && !seen.contains('?'), "what is decided is not asked: {seen}");
    assert_eq!(settings(&env), (3, "../mine\n".to_owned()));
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
