//! `init --shared`: the files that a project begins with.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a failing test may panic, and tests prepare files

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::common::{TestEnv, documents};
use git_axiom::base::error::Code;
use serde_json::json;

const CONFIG: &str = ".axiom/config.toml";
const HOOKS: &str = ".axiom/hooks/README.md";

/// What the refusal says, and what is made before.
type Case = (&'static str, fn(&TestEnv));

fn exists(env: &TestEnv, path: &str) -> bool {
    env.repo().join(path).symlink_metadata().is_ok()
}

#[test]
fn it_writes_what_is_missing_says_so_and_may_be_repeated() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.axiom(&["init", "--shared"]).success(), @r"
    Initialised $ROOT/repo/.git/axiom
    Wrote .axiom/config.toml
    Wrote .axiom/hooks/README.md
    --- stderr
    next:  git add .axiom && git commit    gives them to everybody who works on the project
           git axiom trust                 approves them for you, here
    --- exit 0
    ");
    env.write(CONFIG, "# mine\n");
    insta::assert_snapshot!(env.axiom(&["init", "--shared"]).success(), @r"
    Already initialised: $ROOT/repo/.git/axiom
    Left as it is: .axiom/config.toml
    Left as it is: .axiom/hooks/README.md
    --- exit 0
    ");
    assert_eq!(env.read(CONFIG), "# mine\n");
    std::fs::remove_file(env.repo().join(HOOKS)).unwrap();
    let again = env.json(&["init", "--shared"]);
    documents::check(&again);
    assert_eq!(again["shared"], json!([{"path": CONFIG, "created": false}, {"path": HOOKS, "created": true}]));
    assert!(env.json(&["init"])["shared"].is_null());
}

#[test]
fn what_it_writes_can_be_approved_and_changes_nothing() {
    let env = TestEnv::new();
    let before = env.json(&["config", "show"])["settings"].clone();
    env.ok(&["init", "--shared"]);
    assert_eq!(env.json(&["trust", "--show"])["settings"], json!([]));
    env.ok(&["trust", "--yes"]);
    assert_eq!(env.json(&["config", "show"])["settings"], before);
    env.ok(&["config", "check"]);
    // A key goes below the comments, and the result counts once it is approved.
    let sample = env.read(CONFIG);
    env.write(CONFIG, format!("{sample}\n[agents]\ncount = 4\n"));
    env.ok(&["trust", "--yes"]);
    assert_eq!(env.json(&["config", "show", "agents.count"])["settings"][0]["value"], 4);
}

#[test]
fn it_writes_in_the_main_worktree_wherever_it_is_called() {
    let env = TestEnv::new();
    env.git(&["worktree", "add", "-q", "../linked"]);
    env.axiom_in(&env.root().join("linked"), &["init", "--shared"]).success();
    assert!(exists(&env, CONFIG) && !env.root().join("linked/.axiom").exists());
    env.write(".gitignore", ".axiom\n");
    std::fs::remove_dir_all(env.repo().join(".axiom")).unwrap();
    let noted = env.axiom_in(&env.repo().join("src"), &["init", "--shared"]).success();
    assert!(exists(&env, CONFIG) && noted.stderr.contains("'git add --force'"), "{noted}");
    env.git_in(env.root(), &["clone", "-q", "--bare", "repo", "bare.git"]);
    env.axiom_in(&env.root().join("bare.git"), &["init", "--shared"]).fails_with(Code::BareRepository);
}

#[test]
fn what_stands_in_the_way_is_left_alone() {
    let cases: [Case; 7] = [
        ("is a symbolic link", |env| symlink(env.root().join("outside"), env.repo().join(".axiom")).unwrap()),
        ("is a symbolic link", |env| symlink("nowhere", env.repo().join(".axiom")).unwrap()),
        ("is not a folder", |env| env.write(".axiom", "a file\n")),
        ("is another repository", |env| drop(env.git(&["init", "-q", ".axiom"]))),
        ("is a submodule", |env| {
            let commit = env.git(&["rev-parse", "HEAD"]);
            env.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},.axiom")]);
            std::fs::create_dir(env.repo().join(".axiom")).unwrap();
        }),
        ("is no folder", |env| env.write(".axiom/hooks", "a file\n")),
        ("is no folder", |env| {
            std::fs::create_dir(env.repo().join(".axiom")).unwrap();
            symlink(env.root().join("outside"), env.repo().join(".axiom/hooks")).unwrap();
        }),
    ];
    for (words, make) in cases {
        let env = TestEnv::new();
        std::fs::create_dir(env.root().join("outside")).unwrap();
        make(&env);
        let run = env.axiom(&["init", "--shared"]).fails_with(Code::InTheWay);
        assert!(run.stderr.contains(words), "{words}: {run}");
        assert!(!exists(&env, CONFIG) && !exists(&env, HOOKS), "{words}");
        assert_eq!(std::fs::read_dir(env.root().join("outside")).unwrap().count(), 0, "{words}");
    }
}

/// Whatever is there, even what nothing could be made of, is not replaced; nothing waits for it.
#[test]
fn odd_files_in_place_of_the_two_stay() {
    let env = TestEnv::new();
    std::fs::create_dir_all(env.repo().join(".axiom/hooks")).unwrap();
    symlink("nowhere", env.repo().join(CONFIG)).unwrap();
    let fifo = env.repo().join(HOOKS);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    let run = env.json(&["init", "--shared"]);
    assert_eq!(run["shared"], json!([{"path": CONFIG, "created": false}, {"path": HOOKS, "created": false}]));
    assert_eq!(std::fs::read_link(env.repo().join(CONFIG)).unwrap(), Path::new("nowhere"));
}

#[test]
fn no_agent_begins_the_project_s_files() {
    let env = TestEnv::new();
    for (args, allowed) in [(&["init"][..], true), (&["init", "--shared"], false)] {
        let mut agent = env.axiom_command(&env.repo(), args);
        agent.env("AXIOM_TOKEN", "x");
        let run = env.run(agent, None);
        if allowed {
            run.success()
        } else {
            run.fails_with(Code::NotForAgents)
        };
    }
    assert!(!exists(&env, ".axiom"));
}

#[test]
fn calls_at_the_same_time_and_crashes_leave_whole_files() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    for fault in 1..=2 {
        let mut command = env.axiom_command(&env.repo(), ["init", "--shared"]);
        command.env("AXIOM_TEST_FAULT", format!("files.before-create:{fault}"));
        assert_eq!(env.run(command, None).code, None, "the fault is reached");
        assert_eq!((exists(&env, CONFIG), exists(&env, HOOKS)), (fault == 2, false));
        env.ok(&["init", "--shared"]);
        assert!(env.read(CONFIG).ends_with("#stopSignal = \"TERM\"\n") && exists(&env, HOOKS));
        std::fs::remove_dir_all(env.repo().join(".axiom")).unwrap();
    }
    let running: Vec<_> = (0..4)
        .map(|_| {
            let mut command = env.axiom_command(&env.repo(), ["--json", "init", "--shared"]);
            command.stdout(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut created = 0;
    for child in running {
        let output = child.wait_with_output().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        created += answer["shared"].as_array().unwrap().iter().filter(|file| file["created"] == true).count();
    }
    assert_eq!(created, 2, "each file by one of them");
}

#[test]
fn agents_are_told_of_it_in_files_of_the_project() {
    let env = TestEnv::new();
    env.write("AGENTS.md", "# Rules\n");
    insta::assert_snapshot!(env.axiom(&["init", "--skill"]).success(), @r"
    Initialised $ROOT/repo/.git/axiom
    Changed AGENTS.md
    Wrote .claude/skills/git-axiom/SKILL.md
    --- stderr
    next:  git add AGENTS.md .claude/skills && git commit    gives them to everybody who works on the project
    --- exit 0
    ");
    let said = env.read("AGENTS.md");
    assert!(said.starts_with("# Rules\n\n<!-- >>> git axiom") && said.lines().count() <= 12, "{said}");
    let skill = env.read(".claude/skills/git-axiom/SKILL.md");
    // Every verb that agents are told of is one.
    let verbs = git_axiom::ui::commands::grammar::man_pages::verbs();
    for verb in skill.split("`git axiom ").skip(1).chain(said.split("`git axiom ").skip(1)) {
        let words: Vec<&str> = verb.split(['`', ' ', '\n']).take(2).collect();
        assert!(
            words[0] == "help" || words[0] == "VERB" || words[0] == "init" || verbs.iter().any(|known| known == words[0]),
            "{verb:.40}"
        );
    }
    let again = env.json(&["init", "--skill"]);
    assert_eq!(again["skill"][0], json!({"path": "AGENTS.md", "became": "unchanged"}));
}
