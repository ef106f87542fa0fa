//! Bad input: a clear error with a code, a hint and the documented exit status, and nothing half-made.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a failing test may panic, and tests prepare files

use crate::common::{Run, TestEnv};
use git_axiom::base::error::Code;

fn add(env: &TestEnv, args: &[&str]) -> Run {
    env.axiom(&[&["task", "add"], args].concat())
}

#[test]
fn outside_of_any_repository() {
    let env = TestEnv::empty();
    insta::assert_snapshot!(env.axiom_in(env.root(), &["status"]), @r"
    --- stderr
    error[NOT_A_REPOSITORY]: '$ROOT' is in no git repository
    hint: cd into a repository, or make one with 'git init'
    --- exit 1
    ");
    env.axiom_in(env.root(), &["-C", "nowhere", "status"]).fails_with(Code::IoFailed);
}

#[test]
fn a_bare_repository_has_no_worktree() {
    let env = TestEnv::empty();
    env.git_in(env.root(), &["init", "-q", "--bare", "repo"]);
    insta::assert_snapshot!(env.axiom(&["init"]), @r"
    --- stderr
    error[BARE_REPOSITORY]: '$ROOT/repo' is bare: it has no working files
    hint: git worktree add PATH BRANCH    makes a worktree; then call git axiom in it
    --- exit 1
    ");
    assert!(!env.repo().join("axiom").exists(), "nothing half-made");
    for verb in [&["status"][..], &["log"], &["task", "add", "x"], &["gate", "list"]] {
        env.axiom(verb).fails_with(Code::BareRepository);
    }
}

#[test]
fn an_unborn_branch_can_hold_tasks() {
    let env = TestEnv::unborn();
    assert_eq!(env.ok(&["task", "add", "make the first commit", "--body", &"x".repeat(5000)]), "task-001");
    env.ok(&["status"]);
    let done = env.axiom_fed(&["task", "import", "-"], b"{\"title\": \"x\", \"status\": \"done\"}");
    insta::assert_snapshot!(done.fails_with(Code::UnbornBranch), @r"
    --- stderr
    error[UNBORN_BRANCH]: line 1: a done task needs a commit that holds its work, and no branch with one is checked out
    hint: check out the branch that has the work, or import such tasks with the status archived
    --- exit 1
    ");
}

#[test]
fn unknown_and_duplicate_ids() {
    let env = TestEnv::new();
    add(&env, &["x", "--id", "parser"]).success();
    insta::assert_snapshot!(env.axiom(&["task", "show", "lexer"]), @r"
    --- stderr
    error[UNKNOWN_TASK]: there is no task 'lexer'
    hint: see 'git axiom task list'
    --- exit 2
    ");
    insta::assert_snapshot!(env.axiom(&["task", "show", "Parser"]), @r"
    --- stderr
    error[UNKNOWN_TASK]: there is no task 'Parser'
    hint: did you mean 'parser'?
    --- exit 2
    ");
    insta::assert_snapshot!(add(&env, &["x", "--id", "PARSER"]), @r"
    --- stderr
    error[DUPLICATE_ID]: the id 'PARSER' is taken
    hint: ids and checkpoint names are unique without regard to case: choose another with --id
    --- exit 2
    ");
    insta::assert_snapshot!(env.axiom(&["checkpoint", "create", "Parser"]), @r"
    --- stderr
    error[DUPLICATE_ID]: the name 'Parser' is taken
    hint: a task is called 'parser', and tasks and checkpoints share their names
    --- exit 2
    ");
    for verb in ["edit", "block", "unblock", "archive", "audit"] {
        let more: &[&str] = match verb {
            "edit" => &["--title", "y"],
            "block" => &["--reason", "y"],
            _ => &[],
        };
        env.axiom(&[&["task", verb, "lexer"], more].concat()).fails_with(Code::UnknownTask);
    }
    // All or nothing.
    env.axiom(&["task", "archive", "parser", "lexer"]).fails_with(Code::UnknownTask);
    assert_eq!(env.json(&["task", "show", "parser"])["status"], "pending");
}

#[test]
fn ids_that_are_no_ref_parts() {
    let env = TestEnv::new();
    insta::assert_snapshot!(add(&env, &["x", "--id", "a/b"]), @r"
    --- stderr
    error[INVALID_ID]: 'a/b' cannot be a task id: it has the character '/'
    hint: use letters, digits, '-' and '_', beginning with a letter or digit
    --- exit 2
    ");
    let long = "x".repeat(101);
    for bad in ["", "-a", "a b", "a..b", "a.lock", "ä", "@{", "a\nb", "~1", &long] {
        add(&env, &["x", &format!("--id={bad}")]).fails_with(Code::InvalidId);
        env.axiom(&["task", "show", "--", bad]).fails_with(Code::InvalidId);
    }
    add(&env, &["x", "--persona", "a b"]).fails_with(Code::InvalidId);
    assert!(!env.axiom_dir().exists(), "nothing half-made");
}

#[test]
fn dependencies_that_cannot_be() {
    let env = TestEnv::new();
    add(&env, &["x", "--id", "a"]).success();
    add(&env, &["x", "--id", "b", "--after", "a"]).success();
    insta::assert_snapshot!(add(&env, &["x", "--after", "a,nowhere"]), @r"
    --- stderr
    error[UNKNOWN_DEPENDENCY]: 'task-001' refers to 'nowhere', which does not exist
    hint: add that task first, or import both in one file
    --- exit 2
    ");
    insta::assert_snapshot!(env.axiom(&["task", "edit", "a", "--after", "b"]), @r"
    --- stderr
    error[DEPENDENCY_CYCLE]: tasks would wait for themselves: a → b → a
    hint: leave one of these dependencies out
    --- exit 2
    ");
    env.axiom(&["task", "edit", "a", "--parent", "a"]).fails_with(Code::DependencyCycle);
    env.axiom(&["task", "edit", "a", "--parent", "nowhere"]).fails_with(Code::UnknownDependency);
    assert_eq!(env.json(&["task", "show", "a"])["after"], serde_json::json!([]));
}

#[test]
fn titles_and_bodies_that_cannot_be() {
    let env = TestEnv::new();
    add(&env, &["x".repeat(500).as_str()]).success();
    insta::assert_snapshot!(add(&env, &["x".repeat(501).as_str()]), @r"
    --- stderr
    error[TOO_LARGE]: the title has 501 characters, the limit is 500
    hint: put the details into the body: --body or --body-file
    --- exit 2
    ");
    insta::assert_snapshot!(add(&env, &["two\nlines"]), @r"
    --- stderr
    error[INVALID_INPUT]: the title has the character '\n'
    hint: a title is one line; put the rest into the body: --body or --body-file
    --- exit 2
    ");
    add(&env, &["  "]).fails_with(Code::InvalidInput);
    add(&env, &["\u{1b}[31mred"]).fails_with(Code::InvalidInput);
    add(&env, &["x", "--kind", "chore"]).fails_with(Code::InvalidInput);
    add(&env, &["x", "--verify", " "]).fails_with(Code::InvalidInput);
    env.write("latin1", b"caf\xe9 au lait");
    insta::assert_snapshot!(add(&env, &["x", "--body-file", "latin1"]), @r"
    --- stderr
    error[INVALID_INPUT]: '$ROOT/repo/latin1' is not UTF-8: byte 3 does not begin a character
    hint: convert it, for example with iconv
    --- exit 2
    ");
    add(&env, &["x", "--body-file", "missing"]).fails_with(Code::IoFailed);
    add(&env, &["x", "--body-file", "src"]).fails_with(Code::IoFailed);
    env.write("huge", vec![b'x'; 16 * 1024 * 1024 + 1]);
    add(&env, &["x", "--body-file", "huge"]).fails_with(Code::TooLarge);
    let many = "{\"title\": \"x\"}\n".repeat(100_001);
    env.axiom_fed(&["task", "import", "-"], many.as_bytes()).fails_with(Code::TooLarge);
    assert_eq!(env.json(&["task", "list"])["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn arguments_that_are_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let env = TestEnv::new();
    let title = std::ffi::OsStr::from_bytes(b"caf\xe9");
    let run = env.run(env.axiom_command(&env.repo(), [std::ffi::OsStr::new("task"), "add".as_ref(), title]), None);
    run.fails_with(Code::Usage);
    // What could not be gone back to is not begun.
    let odd = env.root().join(title);
    std::fs::rename(env.repo(), &odd).unwrap();
    env.axiom_in(&odd, &["task", "add", "x"]).fails_with(Code::RepositoryUnsupported);
    let folder = std::ffi::OsStr::from_bytes(b"repo/caf\xe9");
    std::fs::rename(&odd, env.repo()).unwrap();
    std::fs::create_dir(env.root().join(folder)).unwrap();
    let run = env.axiom_command(env.root(), ["-C".as_ref(), folder, "task".as_ref(), "add".as_ref(), "x".as_ref()]);
    env.run(run, None).success();
}

#[test]
fn transitions_that_cannot_be() {
    let env = TestEnv::new();
    add(&env, &["x", "--id", "a"]).success();
    insta::assert_snapshot!(env.axiom(&["task", "unblock", "a"]), @r"
    --- stderr
    error[INVALID_TRANSITION]: 'a' is pending, so it cannot be unblocked
    hint: agents may claim it already; 'git axiom task block a --reason R' prevents that
    --- exit 1
    ");
    env.ok(&["task", "archive", "a"]);
    env.axiom(&["task", "block", "a", "--reason", "x"]).fails_with(Code::InvalidTransition);
    insta::assert_snapshot!(env.axiom(&["task", "archive", "a"]), @r"
    a: was archived already
    --- exit 0
    ");
    insta::assert_snapshot!(env.axiom(&["task", "edit", "a"]), @r"
    --- stderr
    error[USAGE]: nothing to change was given
    hint: git axiom task edit -h    lists what can be
    --- exit 2
    ");
}

#[test]
fn a_repository_that_cannot_be_written() {
    let env = TestEnv::new();
    add(&env, &["x"]).success();
    let before = env.read(".git/axiom/state/events.jsonl");
    // As a user who may read everything and write nothing; root may write whatever the modes say.
    let call = |args: &[&str]| {
        let mut command = env.bound_by_permissions(args);
        command.envs([("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "safe.directory"), ("GIT_CONFIG_VALUE_0", "*")]);
        env.run(command, None)
    };
    let modes = |dirs: &str, files: &str| {
        let root = env.root().to_str().unwrap();
        for (kind, mode) in [("d", dirs), ("f", files)] {
            let mut chmod = env.program("find", env.root());
            chmod.args([root, "-type", kind, "-exec", "chmod", mode, "{}", "+"]);
            env.run(chmod, None).success();
        }
    };
    modes("a+rx,a-w", "a+r,a-w");
    let (read, written) = (call(&["task", "list"]), call(&["task", "add", "y"]));
    modes("u+w", "u+w");
    assert!(read.success().stdout.contains("task-001"), "reading needs no right to write");
    let written = written.fails_with(Code::IoFailed);
    assert!(written.stderr.contains("Permission denied") && written.stderr.contains(".git/axiom"), "{written}");
    assert_eq!(env.read(".git/axiom/state/events.jsonl"), before);
}

#[test]
fn a_damaged_log_is_said_to_be_damaged_and_left_alone() {
    let env = TestEnv::new();
    add(&env, &["x"]).success();
    add(&env, &["y"]).success();
    let log = env.read(".git/axiom/state/events.jsonl");
    let damaged = log.replacen("\"title\":\"x\"", "\"title\":\"z\"", 1);
    env.write(".git/axiom/state/events.jsonl", &damaged);
    for verb in [&["status"][..], &["task", "list"], &["task", "add", "z"], &["log"]] {
        let run = env.axiom(verb).fails_with(Code::EventLogCorrupted);
        assert!(run.stderr.contains("git axiom recover"), "{run}");
    }
    assert_eq!(env.read(".git/axiom/state/events.jsonl"), damaged);
}

#[test]
fn configuration_that_cannot_be_used() {
    let env = TestEnv::new();
    let home = env.root().join("home/.config/git-axiom");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("config.toml"), "[agents]\ncuont = 3\n").unwrap();
    insta::assert_snapshot!(env.axiom(&["config", "check"]), @r"
    --- stderr
    error[CONFIG_INVALID]: $ROOT/home/.config/git-axiom/config.toml:2: there is no key 'agents.cuont'
    hint: did you mean 'agents.count'?
    --- exit 1
    ");
    std::fs::write(home.join("config.toml"), "[agents]\ncount = 3\ntimeLimit = \"2h\"\n").unwrap();
    env.git(&["config", "axiom.agents.maxIterations", "9"]);
    env.write(".axiom/config.toml", "[agents]\ncount = 99\n");
    insta::assert_snapshot!(env.axiom(&["config", "show", "--changed"]), @r"
    agents.count          3     $ROOT/home/.config/git-axiom/config.toml:2
    agents.maxIterations  9     git config, $ROOT/repo/.git/config
    agents.timeLimit      7200  $ROOT/home/.config/git-axiom/config.toml:3
    --- stderr
    note: nothing of the project's files is applied or run before you approve them: git axiom trust
    --- exit 0
    ");
    env.git(&["config", "axiom.agents.count", "many"]);
    insta::assert_snapshot!(env.axiom(&["config", "check"]), @r#"
    --- stderr
    note: nothing of the project's files is applied or run before you approve them: git axiom trust
    error[CONFIG_INVALID]: git config, $ROOT/repo/.git/config: the value "many" of 'agents.count' cannot be used
    hint: it takes a whole number from 1 to 100
    --- exit 1
    "#);
    let shown = env.axiom(&["config", "show", "agents.count"]).success();
    assert!(shown.stdout.contains("config.toml:2") && shown.stderr.contains("note: left out: git config"), "{shown}");
    env.ok(&["status"]);
}

/// What saves and brings back works with a broken configuration, and deletes nothing that it may say to keep.
#[test]
fn the_safety_net_works_whatever_the_configuration_says() {
    let env = TestEnv::new();
    env.git(&["config", "axiom.checkpoints.maxCount", "3"]);
    env.git(&["config", "axiom.agents.count", "many"]);
    for number in 0..5 {
        env.write("README", format!("{number}\n"));
        let made = env.axiom(&["checkpoint", "create"]).success();
        assert!(made.stderr.starts_with("note: left out of the configuration, so nothing expires: git config, "), "{made}");
    }
    env.ok(&["checkpoint", "create", "c"]);
    env.write("README", "changed\n");
    assert_eq!(env.json(&["checkpoint", "list"])["checkpoints"].as_array().unwrap().len(), 6, "nothing expired");
    for verb in [
        &["status"][..],
        &["log"],
        &["recover"],
        &["recover", "--yes"],
        &["checkpoint", "verify"],
        &["rollback", "checkpoint", "c", "--yes"],
        &["undo", "--yes"],
        &["trust"],
        &["stop", "--all"],
    ] {
        let run = env.axiom(verb);
        assert!(!run.stderr.contains("CONFIG_INVALID"), "{verb:?}: {run}");
    }
    assert_eq!(env.read("README"), "changed\n");
    for verb in [&["run", "--until-idle"][..], &["mode", "autopilot"], &["merge", "t"]] {
        env.axiom(verb).fails_with(Code::ConfigInvalid);
    }
    env.git(&["config", "--unset", "axiom.agents.count"]);
    env.ok(&["checkpoint", "create"]);
    assert!(env.json(&["checkpoint", "list"])["checkpoints"].as_array().unwrap().len() < 6, "what is configured counts again");
}

#[test]
fn an_answer_that_cannot_be_printed_is_no_failure_of_the_command() {
    let env = TestEnv::new();
    let mut command = env.axiom_command(&env.repo(), ["checkpoint", "create", "c1"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command.stdin(std::process::Stdio::null()).stdout(full).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("error[IO_FAILED]: the command was done, but its answer could not be printed"), "{said}");
    assert!(!said.contains("run the command again"), "{said}");
    assert_eq!(env.json(&["checkpoint", "list"])["checkpoints"][0]["name"], "c1");
}

#[test]
fn the_state_is_not_given_up_without_a_word() {
    let env = TestEnv::new();
    env.ok(&["task", "add", "x", "--id", "x"]);
    env.ok(&["gate", "list"]);
    let before = env.read(".git/axiom/state/events.jsonl");
    let sound = env.axiom(&["recover", "--from", "fresh"]).fails_with(Code::NeedsConfirmation);
    assert!(sound.stderr.contains("the stored state is sound"), "{sound}");
    assert_eq!(env.read(".git/axiom/state/events.jsonl"), before);
    let damaged = before.replace("title", "tilte");
    env.write(".git/axiom/state/events.jsonl", &damaged);
    env.axiom(&["recover", "--from", "cases"]).fails_with(Code::NeedsConfirmation);
    assert_eq!(env.read(".git/axiom/state/events.jsonl"), damaged);
    env.ok(&["recover", "--from", "cases", "--yes"]);
    assert_eq!(env.json(&["task", "show", "x"])["status"], "pending");
    env.ok(&["recover", "--from", "fresh", "--yes"]);
}

/// git refuses it; its advice is a command to copy.
#[test]
fn a_repository_of_another_user_comes_with_gits_way_out() {
    if !crate::common::is_root() {
        return crate::skipped::skipped("only root can give a repository away");
    }
    let env = TestEnv::new();
    let given = std::process::Command::new("chown").args(["-R", "65534"]).arg(env.repo()).status().unwrap();
    assert!(given.success());
    let run = env.axiom(&["status"]).fails_with(Code::NotTheOwner);
    let hint = format!("hint: git config --global --add safe.directory {}", env.repo().display());
    assert!(run.stderr.contains(&hint) && !run.stderr.contains(";  ;"), "{run}");
}
