//! What works where git does not know who the user is: on a new machine, in a container, in CI. What is saved is saved; only what goes onto
//! a branch needs a name.

use std::process::Command;

use git_axiom::base::error::Code;

use crate::common::{Run, TestEnv};
use crate::session_support::World;

const NAMES: [&str; 4] = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];

/// A way in which git can lack the identity: variables, and values of the configuration.
type Lack = (&'static [(&'static str, &'static str)], &'static [(&'static str, &'static str)]);

const LACKS: [Lack; 5] = [
    (&[], &[]),
    (&[("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "user.useConfigOnly"), ("GIT_CONFIG_VALUE_0", "true")], &[]),
    (&[], &[("user.name", ""), ("user.email", "a@example.org")]),
    (&[("GIT_COMMITTER_NAME", ""), ("GIT_COMMITTER_EMAIL", "a@example.org")], &[]),
    (&[("GIT_CONFIG_PARAMETERS", "'user.name'=' '")], &[("user.email", "a@example.org")]),
];

fn without(mut command: Command, vars: &[(&str, &str)]) -> Command {
    for name in NAMES {
        command.env_remove(name);
    }
    command.envs(vars.iter().copied());
    command
}

/// The net of a human's agent, from `attach` to `deinit`.
fn saves_and_goes_back(env: &TestEnv, vars: &[(&str, &str)]) {
    let axiom = |args: &[&str]| env.run(without(env.axiom_command(&env.repo(), args), vars), None).success();
    let hook = |event: &str| -> Run {
        let payload = serde_json::json!({"session_id": "s", "cwd": env.repo(), "hook_event_name": event, "prompt": "x"});
        let command = without(env.axiom_command(&env.repo(), ["hook", "claude"]), vars);
        env.run(command, Some(payload.to_string().as_bytes())).success()
    };
    for verb in [&["init"][..], &["attach", "claude"]] {
        let said = axiom(verb).stderr;
        assert_eq!(said.matches("git does not know who you are").count(), 1, "{verb:?}: {said}");
        assert!(said.contains("hint: git config --global user.name") && said.contains("hint: git config --global user.email"));
    }
    env.git(&["stash", "push", "-q"]);
    let stash = env.git(&["rev-parse", "stash"]);
    env.write("a.txt", "before the prompt\n");
    hook("UserPromptSubmit");
    assert_eq!(
        env.git(&["log", "-1", "--format=%an <%ae> %cn", "refs/axiom/captures/prompt-0001"]),
        "git axiom <git-axiom@localhost> git axiom"
    );
    assert!(!axiom(&["sessions"]).stdout.contains("UNPROTECTED"));
    env.write("a.txt", "by the agent\n");
    env.git(&["stash", "drop", "-q"]);
    axiom(&["checkpoint", "create", "named"]);
    axiom(&["rollback", "checkpoint", "--prompt", "1", "--all-worktrees", "--yes"]);
    assert_eq!(env.read("a.txt"), "before the prompt\n");
    assert_eq!(env.git(&["rev-parse", "stash"]), stash, "the entry of the stash is there again");
    axiom(&["undo", "--yes"]);
    assert_eq!(env.read("a.txt"), "by the agent\n");
    env.fsck();
    axiom(&["checkpoint", "delete", "named", "--yes", "--protected"]);
    axiom(&["detach", "claude"]);
    // What follows a prompt in the background may still be at work, and is not interrupted.
    let begun = std::time::Instant::now();
    loop {
        let run = env.run(without(env.axiom_command(&env.repo(), ["deinit", "--yes"]), vars), None);
        if !run.stderr.contains("error[BUSY]") || begun.elapsed() > std::time::Duration::from_secs(60) {
            run.success();
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(!env.axiom_dir().exists());
    assert_eq!(env.git(&["for-each-ref", "refs/axiom"]), "");
}

#[test]
fn everything_is_saved_and_taken_back_without_an_identity() {
    std::thread::scope(|all| {
        for (vars, config) in LACKS {
            all.spawn(move || {
                let env = TestEnv::new();
                env.write("a.txt", "first\n");
                env.git(&["add", "-A"]);
                env.git(&["commit", "-q", "-m", "a"]);
                env.write("a.txt", "for the stash\n");
                config.iter().for_each(|(key, value)| drop(env.git(&["config", key, value])));
                saves_and_goes_back(&env, vars);
            });
        }
    });
}

#[test]
fn who_has_an_identity_is_named_and_told_nothing() {
    let env = TestEnv::new();
    let who = [("GIT_COMMITTER_NAME", "CI"), ("GIT_COMMITTER_EMAIL", "ci@example.org")];
    let made = env.run(without(env.axiom_command(&env.repo(), ["init"]), &who), None).success();
    assert!(!made.stderr.contains("who you are"), "{made}");
    env.run(without(env.axiom_command(&env.repo(), ["checkpoint", "create", "x"]), &who), None).success();
    assert_eq!(env.git(&["log", "-1", "--format=%cn <%ce>", "refs/axiom/captures/x"]), "CI <ci@example.org>");
}

/// What goes onto a branch is in the user's name, so it is refused before anything is asked, run or changed.
#[test]
fn a_merge_needs_an_identity_and_says_so_before_anything_is_run_for_it() {
    let world = World::new();
    world.task("t", "echo x > made", &[]);
    world.env.git(&["config", "axiom.merge.verify", "touch ../verified"]);
    drop(world.start(&["--mode", "review", "--until-idle"]).wait());
    let refs = world.env.git(&["for-each-ref"]);
    let merge = without(world.env.axiom_command(&world.env.repo(), ["merge", "t"]), &[]);
    let run = world.env.run(merge, None).fails_with(Code::IdentityMissing);
    assert!(run.stderr.contains("hint: git config --global user.name"), "{run}");
    assert_eq!(world.env.git(&["for-each-ref"]), refs);
    assert_eq!(world.status_of("t"), "done");
}
