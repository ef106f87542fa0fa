//! A repository that tries to make somebody run its commands, by everything but hooks here, by hooks in `hooks`: each trick plants a command that
//! leaves a witness, the verbs that a user would call run, and no witness is there. `trust` has tricks with links.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a failing test may panic, and tests prepare files

mod hooks;
mod replaced;
mod tricks;

use std::path::Path;

use crate::common::TestEnv;
use git_axiom::base::error::Code;
use tricks::{Fate, TRICKS};

const CONFIG: &str = ".axiom/config.toml";

/// A configuration that runs a command on each merge.
fn evil(run: &str) -> String {
    format!("[merge]\nverify = [\"{run}\"]\n")
}

fn config(env: &TestEnv, text: &str) {
    env.write(CONFIG, text);
}

/// The verbs that a user calls, in this order.
pub fn call_verbs(env: &TestEnv, mut after_each: impl FnMut(&[&str])) {
    for verb in [
        &["config", "show"][..],
        &["checkpoint", "create", "c"],
        &["run", "--mode", "autopilot", "--until-idle"],
        &["gate", "approve", "--all"],
        &["run", "--mode", "autopilot", "--until-idle"],
        &["merge", "t"],
        &["rollback", "checkpoint", "c", "--yes"],
        &["undo", "--yes"],
        &["recover", "--yes"],
        &["trust"],
        &["trust", "--show"],
    ] {
        env.axiom(verb);
        after_each(verb);
    }
}

fn play(make: fn(&TestEnv, &str)) -> (TestEnv, std::path::PathBuf) {
    let env = TestEnv::new();
    let witness = env.root().canonicalize().unwrap().join("witness");
    make(&env, &format!("touch {}", witness.display()));
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "project"]);
    env.ok(&["task", "add", "t", "--id", "t", "--body", "echo x > x"]);
    assert!(!witness.exists());
    (env, witness)
}

#[test]
fn whatever_is_in_a_clone_runs_nothing() {
    for (trick, fate, make) in TRICKS {
        let (env, witness) = play(make);
        call_verbs(&env, |verb| assert!(!witness.exists(), "{trick}: {verb:?}"));
        let shown = env.json(&["config", "show", "--changed"]);
        assert_eq!(shown["settings"], serde_json::json!([]), "{trick}");
        let asked = env.axiom(&["trust"]);
        match fate {
            Fate::Asked | Fate::AskedInVain => drop(asked.fails_with(Code::NeedsConfirmation)),
            Fate::Refused(code) => {
                asked.fails_with(code);
                env.axiom(&["trust", "--yes"]).fails_with(code);
            }
            Fate::NotRead => drop(asked.success()),
        }
        assert!(!witness.exists(), "{trick}");
    }
}

/// The tricks are real ones: whoever approves them gets what they do.
#[test]
fn what_a_human_approved_is_run() {
    for (trick, fate, make) in TRICKS {
        let (env, witness) = play(make);
        match fate {
            Fate::Asked => {
                env.axiom(&["run", "--mode", "autopilot", "--until-idle"]);
                env.ok(&["task", "add", "u", "--id", "u", "--body", "echo u > u"]);
            }
            Fate::AskedInVain => {}
            Fate::Refused(_) | Fate::NotRead => continue,
        }
        assert!(!witness.exists(), "{trick}");
        env.ok(&["trust", "--yes"]);
        call_verbs(&env, |_| {});
        assert_eq!(witness.exists(), fate == Fate::Asked, "{trick}");
    }
}

/// A copy of an approved repository has its files, and not its approval.
#[test]
fn a_copy_of_an_approved_repository_runs_nothing() {
    let env = TestEnv::new();
    let witness = env.root().canonicalize().unwrap().join("witness");
    config(&env, &evil(&format!("touch {}", witness.display())));
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "project"]);
    env.ok(&["trust", "--yes"]);
    let copy = env.root().join("copy");
    assert!(std::process::Command::new("cp").arg("-a").args([&env.repo(), &copy]).status().unwrap().success());
    let at = |args: &[&str]| env.axiom_in(&copy, args);
    at(&["task", "add", "t", "--id", "t", "--body", "echo x > x"]).success();
    at(&["run", "--mode", "autopilot", "--until-idle"]);
    at(&["merge", "t"]).fails_with(Code::NotTrusted);
    at(&["trust"]).fails_with(Code::NeedsConfirmation);
    assert!(!witness.exists());
}

/// The caller's environment leads neither to approvals nor to configuration within the repository.
#[test]
fn an_environment_that_leads_into_the_repository_approves_nothing() {
    let env = TestEnv::new();
    let witness = env.root().canonicalize().unwrap().join("witness");
    config(&env, &evil(&format!("touch {}", witness.display())));
    // What another user of the same files approved comes along: for another repository.
    env.write(".state/git-axiom/trust/x.json", "{}");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "project"]);
    env.ok(&["task", "add", "t", "--id", "t", "--body", "echo x > x"]);
    let state = env.repo().join(".state").display().to_string();
    for (name, value, code) in [
        ("XDG_STATE_HOME", state.as_str(), Code::NeedsConfirmation),
        ("XDG_STATE_HOME", ".state", Code::NeedsConfirmation),
        ("XDG_STATE_HOME", "/dev/null", Code::NeedsConfirmation),
        ("HOME", "", Code::NeedsConfirmation),
        ("GIT_DIR", ".git", Code::NeedsConfirmation),
        ("GIT_CONFIG_GLOBAL", "/dev/null", Code::NeedsConfirmation),
    ] {
        let with = |args: &[&str]| {
            let mut command = env.axiom_command(&env.repo(), args);
            command.env(name, value);
            env.run(command, None)
        };
        with(&["run", "--mode", "autopilot", "--until-idle"]);
        with(&["merge", "t"]).fails_with(Code::NotTrusted);
        with(&["trust"]).fails_with(code);
        assert!(!witness.exists(), "{name}={value}");
    }
    // Where nothing can be written, nothing is approved.
    let mut command = env.axiom_command(&env.repo(), ["trust", "--yes"]);
    command.env("XDG_STATE_HOME", "/dev/null");
    env.run(command, None).fails_with(Code::IoFailed);
    env.axiom(&["merge", "t"]).fails_with(Code::NotTrusted);
    assert!(!witness.exists());
}

/// Verbs that are called within a repository that is part of the clone's files. Its filters would run, as git runs them: see
/// docs/CONFIGURATION.md.
#[test]
fn a_repository_among_the_files_of_a_clone_runs_nothing() {
    let (env, witness) = play(|env, run| {
        env.git(&["init", "-q", "--bare", "bare"]);
        let text = format!(
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {run}\n\teditor = {run}\n\
             [diff]\n\texternal = {run}\n[gpg]\n\tprogram = {run}\n"
        );
        env.write("bare/config", text);
    });
    for verb in [&["status"][..], &["log"], &["config", "show"], &["checkpoint", "create", "c"], &["trust"], &["recover"]] {
        env.axiom_in(&env.repo().join("bare"), verb);
        assert!(!witness.exists(), "{verb:?}");
    }
    assert!(Path::new(&env.repo().join("bare/config")).exists());
}
