//! What was approved, and something else that takes its place: between the approval and the run, or while a session runs.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::{CONFIG, call_verbs, config, evil};
use crate::common::TestEnv;
use git_axiom::base::error::Code;

/// A command that verifies merges and was approved, and what happens to it afterwards.
type Change = (&'static str, fn(&TestEnv, &str));

const APPROVED: &str = "[merge]\nverify = ['true']\n";

fn approvals(env: &TestEnv) -> std::path::PathBuf {
    env.root().join("home/.local/state/git-axiom/trust")
}

/// All of them.
const CHANGES: [Change; 9] = [
    ("another content", |env, run| config(env, &evil(run))),
    ("another content with the same times", |env, run| {
        let path = env.repo().join(CONFIG);
        let times = std::fs::metadata(&path).unwrap().modified().unwrap();
        config(env, &evil(run));
        std::fs::File::options().write(true).open(path).unwrap().set_modified(times).unwrap();
    }),
    ("a link to another file", |env, run| {
        env.write("c.toml", evil(run));
        std::fs::remove_file(env.repo().join(CONFIG)).unwrap();
        symlink("../c.toml", env.repo().join(CONFIG)).unwrap();
    }),
    ("a hard link to another file", |env, run| {
        env.write("c.toml", evil(run));
        std::fs::remove_file(env.repo().join(CONFIG)).unwrap();
        std::fs::hard_link(env.repo().join("c.toml"), env.repo().join(CONFIG)).unwrap();
    }),
    ("a checkout that brings it", |env, run| {
        env.git(&["switch", "-qc", "evil"]);
        config(env, &evil(run));
        env.git(&["commit", "-qam", "evil"]);
        env.git(&["switch", "-q", "main"]);
        env.git(&["merge", "-q", "evil"]);
    }),
    ("an approval that others could have written", |env, run| {
        config(env, &evil(run));
        env.ok(&["trust", "--yes"]);
        for entry in std::fs::read_dir(approvals(env)).unwrap() {
            std::fs::set_permissions(entry.unwrap().path(), PermissionsExt::from_mode(0o666)).unwrap();
        }
    }),
    ("an approval of somebody else", |env, run| {
        config(env, &evil(run));
        env.ok(&["trust", "--yes"]);
        for entry in std::fs::read_dir(approvals(env)).unwrap().filter(|_| crate::common::is_root()) {
            std::os::unix::fs::chown(entry.unwrap().path(), Some(crate::common::NOBODY), None).unwrap();
        }
        // Without the right to give files away, another trick of the same kind.
        if !crate::common::is_root() {
            std::fs::set_permissions(approvals(env), PermissionsExt::from_mode(0o777)).unwrap();
        }
    }),
    ("the approval of another repository in its place", |env, run| {
        let file = std::fs::read_dir(approvals(env)).unwrap().next().unwrap().unwrap().path();
        let text = std::fs::read_to_string(&file).unwrap().replace(&env.repo().display().to_string(), "/elsewhere");
        std::fs::write(&file, text).unwrap();
        config(env, &evil(run));
    }),
    ("a clone in the place of the repository", |env, run| {
        let elsewhere = env.root().join("elsewhere");
        std::fs::rename(env.repo(), &elsewhere).unwrap();
        env.git_in(env.root(), &["clone", "-q", "elsewhere", "repo"]);
        env.git(&["config", "user.name", "x"]);
        env.ok(&["task", "add", "t", "--id", "t", "--body", "echo x > x"]);
        env.axiom(&["run", "--mode", "autopilot", "--until-idle"]);
        config(env, &evil(run));
    }),
];

/// The tricks with which something else takes the place of what was approved.
#[test]
fn what_takes_the_place_of_what_was_approved_runs_nothing() {
    for (trick, change) in CHANGES {
        let env = TestEnv::new();
        let witness = env.root().canonicalize().unwrap().join("witness");
        config(&env, APPROVED);
        env.git(&["add", "-A"]);
        env.git(&["commit", "-qm", "project"]);
        env.ok(&["trust", "--yes"]);
        env.ok(&["task", "add", "t", "--id", "t", "--body", "echo x > x"]);
        env.axiom(&["run", "--mode", "semi-auto", "--until-idle"]);
        env.ok(&["gate", "approve", "--all"]);
        env.axiom(&["run", "--mode", "semi-auto", "--until-idle"]);
        change(&env, &format!("touch {}", witness.display()));
        env.axiom(&["merge", "t"]).fails_with(Code::NotTrusted);
        call_verbs(&env, |verb| assert!(!witness.exists(), "{trick}: {verb:?}"));
    }
}

/// What is approved is read once, when the session begins.
#[test]
fn a_change_while_a_session_runs_is_not_run_by_it() {
    let env = TestEnv::new();
    let witness = env.root().canonicalize().unwrap().join("witness");
    env.write(".git/info/exclude", "/.axiom\n.worktrees\n");
    config(&env, APPROVED);
    env.ok(&["trust", "--yes"]);
    let to = env.repo().join(CONFIG);
    let body = format!("printf '[merge]\\nverify = [\"touch {}\"]\\n' > '{}'; echo x > x", witness.display(), to.display());
    env.ok(&["task", "add", "t", "--id", "t", "--body", &body]);
    env.ok(&["run", "--mode", "autopilot", "--until-idle"]);
    assert!(env.repo().join("x").exists() && !witness.exists(), "merged with what was approved");
    env.ok(&["task", "add", "u", "--id", "u", "--body", "echo u > u"]);
    env.axiom(&["run", "--mode", "autopilot", "--until-idle"]);
    assert!(!env.repo().join("u").exists() && !witness.exists());
}
