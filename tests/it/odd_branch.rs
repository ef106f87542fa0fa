//! A branch whose name is not UTF-8 is a branch like any other: checked out, deleted, merged into.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::common::{TestEnv, git_since};
use crate::session_support::World;

/// `café`, in Latin 1.
const ODD: &[u8] = b"caf\xe9";
/// The same in our words.
const SPELLED: &str = "refs/heads/caf\\351";

/// git with the name as a last argument.
fn git_odd(env: &TestEnv, args: &[&str], name: &[u8]) -> Vec<u8> {
    let output = env.program("git", &env.repo()).args(args).arg(OsStr::from_bytes(name)).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn head(env: &TestEnv) -> Vec<u8> {
    git_odd(env, &["symbolic-ref"], b"HEAD").trim_ascii_end().to_vec()
}

/// Repositories that are on such a branch: loose, packed, in a reftable.
fn on_an_odd_branch() -> Vec<TestEnv> {
    let with = |pack: bool, format: Option<&str>| {
        let env = TestEnv::empty();
        let format = format.map(|format| format!("--ref-format={format}"));
        let init: Vec<&str> = ["init", "-q", "-b", "main", "repo"].into_iter().chain(format.as_deref()).collect();
        env.git_in(env.root(), &init);
        env.write("README", "a project\n");
        env.git(&["add", "-A"]);
        env.git(&["commit", "-q", "-m", "first"]);
        git_odd(&env, &["branch", "-m", "main"], ODD);
        if pack {
            env.git(&["pack-refs", "--all"]);
        }
        env
    };
    let formats = [(false, None), (true, None), (false, Some("reftable"))].into_iter();
    let formats = formats.filter(|(_, format)| format.is_none() || git_since(45, "reftables"));
    formats.map(|(pack, format)| with(pack, format)).collect()
}

#[test]
fn checkpoints_and_ways_back_work_on_it() {
    for env in on_an_odd_branch() {
        env.ok(&["init"]);
        env.write("README", "uncommitted\n");
        env.ok(&["checkpoint", "create", "c"]);
        let shown = env.json(&["checkpoint", "show", "c"]);
        assert_eq!(shown["checkpoint"]["document"]["branch"], SPELLED, "{shown}");
        env.git(&["commit", "-qam", "second"]);
        let second = env.git(&["rev-parse", "HEAD"]);
        env.ok(&["rollback", "checkpoint", "c", "--yes"]);
        assert_eq!((env.read("README").as_str(), head(&env)), ("uncommitted\n", [b"refs/heads/", ODD].concat()));
        assert_ne!(env.git(&["rev-parse", "HEAD"]), second);
        env.ok(&["undo", "--yes"]);
        assert_eq!((env.git(&["rev-parse", "HEAD"]), env.git(&["status", "--porcelain"])), (second, String::new()));
        for args in [&["status"][..], &["log"], &["events"], &["checkpoint", "list"], &["recover"], &["checkpoint", "verify"]] {
            env.ok(args);
        }
        assert!(env.ok(&["log", "--json"]).contains("caf\\\\351"));
        env.fsck();
    }
}

#[test]
fn head_comes_back_to_it_and_it_comes_back_itself() {
    for env in on_an_odd_branch() {
        git_odd(&env, &["config", "branch.main.description"], b"x");
        let section = [b"\n[branch \"", ODD, b"\"]\n\tdescription = mine\n"].concat();
        let config = env.repo().join(".git/config");
        std::fs::write(&config, [std::fs::read(&config).unwrap(), section].concat()).unwrap();
        env.ok(&["checkpoint", "create", "c"]);
        env.git(&["checkout", "-q", "-b", "other"]);
        env.git(&["commit", "-q", "--allow-empty", "-m", "elsewhere"]);
        git_odd(&env, &["branch", "-q", "-D"], ODD);
        let odd = [b"refs/heads/", ODD].concat();
        env.ok(&["rollback", "checkpoint", "c", "--yes"]);
        assert_eq!(head(&env), odd);
        let said = [b"branch.", ODD, b".description"].concat();
        assert_eq!(git_odd(&env, &["config", "--get"], &said), b"mine\n");
        env.ok(&["undo", "--yes"]);
        assert_eq!(head(&env), b"refs/heads/other");
        let there = env.program("git", &env.repo()).args(["rev-parse", "-q", "--verify"]).arg(OsStr::from_bytes(&odd)).output();
        assert!(!there.unwrap().status.success(), "it is gone again");
        env.ok(&["redo", "--yes"]);
        assert_eq!(head(&env), odd);
        env.fsck();
    }
}

#[test]
fn agents_work_is_merged_into_it_and_taken_back() {
    for env in on_an_odd_branch() {
        let world = World::of(env);
        world.task("t", "git rev-parse --verify -q \"refs/heads/$AXIOM_TARGET\" && echo 1 > t.txt", &[]);
        world.autopilot(&[]).code(0);
        assert_eq!(world.env.read("t.txt"), "1\n");
        assert_eq!(world.env.json(&["status"])["session"]["metadata"]["target"], SPELLED);
        world.env.ok(&["rollback", "task", "t", "--yes"]);
        assert!(!world.env.repo().join("t.txt").exists());
        world.env.ok(&["undo", "--yes"]);
        assert_eq!(world.env.read("t.txt"), "1\n");
        world.env.ok(&["rollback", "session", "--yes"]);
        assert!(!world.env.repo().join("t.txt").exists());
        assert_eq!(head(&world.env), [b"refs/heads/", ODD].concat());
        world.all_is_well();
    }
}
