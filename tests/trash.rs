//! What operations put aside is kept for `keepDeletedDays`, and no longer; nothing else is ever emptied.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

mod common;

use common::TestEnv;

fn recover_on(env: &TestEnv, days: i64) {
    let mut command = env.axiom_command(&env.repo(), ["recover", "--yes"]);
    let then = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * days);
    command.env("AXIOM_TEST_NOW", then.to_string());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_trash_is_emptied_of_ours_after_its_time_and_of_nothing_else() {
    let env = TestEnv::new();
    env.write("f", "before\n");
    env.ok(&["checkpoint", "create", "c"]);
    // Where a file was, a folder with an ignored file: that goes to the trash.
    std::fs::remove_file(env.repo().join("f")).unwrap();
    env.write(".git/info/exclude", "*.ign\n");
    env.write("f/precious.ign", "precious\n");
    env.ok(&["rollback", "checkpoint", "c", "--yes"]);
    let trash = env.repo().join(".worktrees/trash");
    let held = || {
        let files = walkdir::WalkDir::new(&trash).into_iter().flatten();
        files.filter(|entry| entry.file_name() == "precious.ign").count()
    };
    assert_eq!(held(), 1);
    // Somebody's own things, in a place of the same name.
    for users in ["trash-of-mine", "0123456789abcdeg", "x"] {
        env.write(&format!(".worktrees/trash/{users}/keep"), "mine");
    }
    recover_on(&env, 6);
    assert_eq!(held(), 1);
    recover_on(&env, 8);
    assert_eq!(held(), 0);
    for users in ["trash-of-mine", "0123456789abcdeg", "x"] {
        assert_eq!(env.read(&format!(".worktrees/trash/{users}/keep")), "mine");
    }
    assert_eq!(env.read("f"), "before\n");
}
