//! `git axiom init`.

use std::path::Path;

use git_axiom::base::error::Code;

use crate::common::{Run, TestEnv};
use crate::terminal::Terminal;

/// A call with a folder before those of PATH, and with these folders of pages.
fn init_with(env: &TestEnv, bin: &Path, pages: &Path) -> Run {
    let mut command = env.axiom_command(&env.repo(), ["init"]);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(bin.to_owned()).chain(std::env::split_paths(&path))).unwrap();
    command.env("PATH", path).env("MANPATH", pages);
    env.run(command, None).success()
}

#[test]
fn init_may_be_repeated_and_names_what_comes_next() {
    let env = TestEnv::new();
    let (bin, pages) = (env.root().join("bin"), env.root().join("pages"));
    std::fs::create_dir(&bin).unwrap();
    env.ok(&["man", "--out", pages.join("man1").to_str().unwrap()]);
    let run = init_with(&env, &bin, &pages);
    let next = "\
git axiom task add TITLE --body SCRIPT    adds a task
       git axiom run                             starts agents on the tasks
       git axiom demo                            shows all of it in a scratch repository
";
    assert!(run.stdout.starts_with("Initialised ") && run.stderr.starts_with("next:  ") && run.stderr.ends_with(next), "{run}");
    insta::assert_snapshot!(env.axiom(&["init"]), @r"
    Already initialised: $ROOT/repo/.git/axiom
    --- exit 0
    ");
    assert_eq!(env.json(&["init"])["created"], false);
    assert_eq!(env.git(&["status", "--porcelain"]), "", "nothing of ours shows in the worktree");
    // Where an agent program is installed, the net comes first.
    let env = TestEnv::new();
    let bin = env.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("claude"), "").unwrap();
    let run = init_with(&env, &bin, &pages);
    assert!(run.stderr.starts_with("next:  git axiom attach claude") && run.stderr.ends_with(next), "{run}");
}

#[test]
fn a_missing_manual_is_said_once_and_put_where_man_looks() {
    let env = TestEnv::new();
    let nowhere = env.root().join("nowhere");
    std::fs::create_dir(&nowhere).unwrap();
    let has_man = std::process::Command::new("man").arg("-w").output().is_ok();
    let run = init_with(&env, &nowhere, &nowhere);
    let told = "hint: git axiom man --install    puts the pages where man looks";
    assert_eq!(run.stderr.contains(told), has_man, "{run}");
    assert!(!init_with(&env, &nowhere, &nowhere).stderr.contains(told), "only once");
    env.axiom(&["man", "--install"]).fails_with(Code::NeedsConfirmation);
    let own = env.root().join("home/share/man");
    let mut install = env.axiom_command(&env.repo(), ["man", "--install", "--yes"]);
    install.env("MANPATH", &own);
    let run = env.run(install, None).success();
    let folder = if has_man { "home/share/man/man1" } else { "home/.local/share/man/man1" };
    assert!(run.stdout.contains(folder) && env.root().join(folder).join("git-axiom.1").exists(), "{run}");
    if has_man {
        assert!(run.stderr.contains("git axiom --help    opens the manual"), "{run}");
    }
}

#[test]
fn init_asks_nothing() {
    let settings = |env: &TestEnv| {
        let of = |key: &str| env.try_git(&["config", "--get-all", key]).stdout;
        (of("transfer.hideRefs").lines().count(), of("axiom.agents.workspaceRoot"))
    };
    for (args, expected) in [
        (&["init"][..], (0, "")),
        (&["init", "--yes"], (0, "")),
        (&["init", "--hide-refs", "--workspaces-beside"], (3, "../repo-worktrees\n")),
    ] {
        let env = TestEnv::new();
        let (status, seen) = Terminal::start(env.axiom_command(&env.repo(), args)).end();
        assert!(status.success() && seen.contains("Initialised") && !seen.contains("[y/N]"), "{args:?}: {seen}");
        assert_eq!(settings(&env), (expected.0, expected.1.to_owned()), "{args:?}");
    }
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
