//! Repositories that are set up for many files: git axiom starts no more git there than elsewhere, and what git remembers of
//! the worktree never hides what was changed.

use std::os::unix::fs::PermissionsExt;

use crate::common::{TestEnv, git_since};

/// How a repository is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setup {
    Usual,
    /// `feature.manyFiles`: a compressed index without a checksum, an untracked cache.
    ManyFiles,
    /// A file system monitor, too. It says that nothing ever changes, so git looks only at what it has not seen yet.
    Monitored,
}

/// A repository with a checkpoint `then`, and a commit since that changes, adds and removes files in folders.
fn prepared(setup: Setup) -> TestEnv {
    let env = TestEnv::new();
    match setup {
        Setup::Usual => {}
        Setup::ManyFiles | Setup::Monitored => drop(env.git(&["config", "feature.manyFiles", "true"])),
    }
    for number in 0..30 {
        env.write(&format!("d{number}/file"), "then\n");
    }
    std::fs::remove_file(env.repo().join(".git/index")).unwrap();
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "files"]);
    env.axiom(&["init"]).success();
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "init", "--allow-empty"]);
    env.axiom(&["checkpoint", "create", "then"]).success();
    for number in 0..5 {
        env.write(&format!("d{number}/file"), "now\n");
        env.write(&format!("d{number}/new/file"), "new\n");
        std::fs::remove_file(env.repo().join(format!("d1{number}/file"))).unwrap();
    }
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "now"]);
    if setup == Setup::Monitored {
        env.write(".git/monitor", "#!/bin/sh\nprintf 'token\\0'\n");
        let hook = env.repo().join(".git/monitor");
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        env.git(&["config", "core.fsmonitor", hook.to_str().unwrap()]);
    }
    (0..3).for_each(|_| drop(env.git(&["status"])));
    env
}

/// The git commands that a verb starts, in order.
fn started(env: &TestEnv, args: &[&str]) -> Vec<String> {
    let trace = env.root().join("trace");
    let mut command = env.axiom_command(&env.repo(), args);
    command.env("GIT_TRACE2_EVENT", &trace);
    env.run(command, None).success();
    let events = std::fs::read_to_string(&trace).unwrap_or_default();
    drop(std::fs::remove_file(&trace));
    let events = events.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let named = events.filter(|event| event["event"] == "cmd_name");
    named.map(|event| event["name"].as_str().unwrap().to_owned()).collect()
}

/// What git says of the worktree, and what it says if it remembers nothing.
fn status(env: &TestEnv) -> [String; 2] {
    let forgetful = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false"];
    let status = ["status", "--porcelain", "-uall"];
    [env.git(&status), env.git(&[&forgetful[..], &status].concat())]
}

#[test]
fn rollbacks_of_many_files_are_as_elsewhere() {
    let mut usual = Vec::new();
    let has_no_sum = git_since(40, "an index without its sum");
    for setup in [Setup::Usual, Setup::ManyFiles, Setup::Monitored] {
        let env = prepared(setup);
        let chosen = || {
            let index = std::fs::read(env.repo().join(".git/index")).unwrap();
            (index[7], index.ends_with(&[0; 20]), memchr::memmem::find(&index, b"UNTR").is_some())
        };
        let before = chosen();
        assert_eq!(before, if setup == Setup::Usual { (2, false, false) } else { (4, has_no_sum, true) });
        let mut all = vec![started(&env, &["checkpoint", "create", "now"])];
        for (verb, text, is_new) in
            [(&["rollback", "checkpoint", "then", "--yes"][..], "then\n", false), (&["undo", "--yes"], "now\n", true)]
        {
            all.push(started(&env, verb));
            assert_eq!(chosen(), before, "{setup:?}");
            let [remembered, looked_at] = status(&env);
            assert_eq!(remembered, looked_at, "{setup:?}, {verb:?}");
            assert_eq!(env.read("d0/file"), text);
            assert_eq!(env.repo().join("d0/new/file").exists(), is_new);
            assert_eq!(remembered, "", "{setup:?}, {verb:?}");
            env.git(&["write-tree"]);
            env.fsck();
        }
        if setup == Setup::Usual {
            usual = all;
        } else {
            assert_eq!(all, usual, "{setup:?}");
        }
    }
}
