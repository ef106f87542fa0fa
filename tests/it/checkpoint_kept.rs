//! When a checkpoint is made by itself and when one goes by itself: the keys of `[checkpoints]` by their names.

use git_axiom::base::error::Code;

use crate::common::{Run, TestEnv};

/// A command `days` days after the first one, so that no test has to wait.
fn days_later(env: &TestEnv, days: u32, args: &[&str]) -> Run {
    let mut command = env.axiom_command(&env.repo(), args);
    let (month, day) = (2 + days / 28, 1 + days % 28);
    command.env("AXIOM_TEST_NOW", format!("2026-{month:02}-{day:02}T12:00:00Z"));
    env.run(command, None)
}

/// Those that nobody has named, oldest first.
fn unnamed(env: &TestEnv) -> Vec<String> {
    env.checkpoints().into_iter().filter(|name| name.starts_with("before-autopilot")).collect()
}

/// A checkpoint that nobody names: autopilot begins.
fn autopilot_begins(env: &TestEnv, days: u32, content: &str) {
    env.write("README", content);
    days_later(env, days, &["mode", "review"]).success();
    days_later(env, days, &["mode", "autopilot"]).success();
}

#[test]
fn checkpoints_before_autopilot_is_made_whenever_autopilot_begins_and_not_where_it_is_off() {
    let env = TestEnv::new();
    env.write("README", "not committed\n");
    for mode in ["review", "autopilot", "autopilot"] {
        env.ok(&["mode", mode]);
    }
    let made = unnamed(&env);
    assert_eq!(made.len(), 1, "once: {made:?}");
    assert_eq!(env.json(&["checkpoint", "show", &made[0]])["checkpoint"]["trigger"], "before-autopilot");
    env.write("README", "what autopilot did\n");
    env.ok(&["rollback", "checkpoint", &made[0], "--yes"]);
    assert_eq!(env.read("README"), "not committed\n");
    // By the session's own option too.
    env.ok(&["mode", "review"]);
    env.ok(&["run", "--mode", "autopilot", "--until-idle"]);
    assert_eq!(unnamed(&env).len(), 2);
    env.git(&["config", "axiom.checkpoints.beforeAutopilot", "false"]);
    env.ok(&["mode", "review"]);
    env.ok(&["mode", "autopilot"]);
    env.ok(&["mode", "semi-auto"]);
    env.ok(&["run", "--mode", "autopilot", "--until-idle"]);
    assert_eq!(unnamed(&env).len(), 2, "{:?}", env.checkpoints());
}

/// Without the checkpoint nothing begins.
#[test]
fn where_the_checkpoint_before_autopilot_cannot_be_made_the_mode_stays() {
    let env = TestEnv::new();
    env.ok(&["mode", "review"]);
    env.write("README", "changed\n");
    env.write(".git/refs/notes/axiom.lock", "");
    env.axiom(&["mode", "autopilot"]).fails_with(Code::GitLocked);
    assert_eq!(env.json(&["status"])["session"]["mode"], "review");
    env.git(&["config", "axiom.checkpoints.beforeAutopilot", "false"]);
    env.ok(&["mode", "autopilot"]);
}

#[test]
fn checkpoints_max_age_days_takes_what_is_older_except_for_the_newest_and_the_named() {
    let env = TestEnv::new();
    env.git(&["config", "axiom.checkpoints.maxAgeDays", "10"]);
    env.write("README", "named\n");
    days_later(&env, 0, &["checkpoint", "create", "mine"]).success();
    for number in 0..4 {
        autopilot_begins(&env, 0, &format!("{number}\n"));
    }
    let old = unnamed(&env);
    autopilot_begins(&env, 9, "nine\n");
    assert_eq!((old.len(), unnamed(&env).len()), (4, 5), "nine days are not ten");
    autopilot_begins(&env, 10, "ten\n");
    let left = unnamed(&env);
    assert_eq!(left.len(), 3, "the three newest stay, one of them ten days old: {left:?}");
    assert!(left.contains(&old[3]) && !left.contains(&old[2]), "{left:?}");
    assert!(env.checkpoints().contains(&"mine".to_owned()), "checkpoints.protectNamed");
    // What went can be brought back for a while, as whatever is deleted.
    autopilot_begins(&env, 21, "twenty-one\n");
    assert_eq!(unnamed(&env).len(), 3);
    assert!(env.checkpoints().contains(&"mine".to_owned()));
    env.fsck();
}

#[test]
fn without_checkpoints_protect_named_a_name_keeps_nothing() {
    for (protect, left) in [("true", vec!["n0", "n1", "n2", "n3", "n4"]), ("false", vec!["n2", "n3", "n4"])] {
        let env = TestEnv::new();
        env.git(&["config", "axiom.checkpoints.protectNamed", protect]);
        env.git(&["config", "axiom.checkpoints.maxAgeDays", "10"]);
        for number in 0..5 {
            env.write("README", format!("{number}\n"));
            let days = if number == 4 { 11 } else { 0 };
            days_later(&env, days, &["checkpoint", "create", &format!("n{number}")]).success();
        }
        assert_eq!(env.checkpoints(), left, "by age, protectNamed {protect}");
    }
    // By number.
    let env = TestEnv::new();
    env.git(&["config", "axiom.checkpoints.maxCount", "3"]);
    for number in 0..5 {
        env.write("README", format!("{number}\n"));
        env.ok(&["checkpoint", "create", &format!("n{number}")]);
    }
    assert_eq!(env.checkpoints().len(), 5);
    env.git(&["config", "axiom.checkpoints.protectNamed", "false"]);
    env.write("README", "the last\n");
    env.ok(&["checkpoint", "create", "n5"]);
    assert_eq!(env.checkpoints(), ["n3", "n4", "n5"]);
}
