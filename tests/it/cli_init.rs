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
