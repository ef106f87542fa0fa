//! After damage to git's own files and objects, as a power loss leaves it: "Recovered." means that a checkpoint can be made, or the
//! exact way out is said, and following it helps. Nothing broken in one place damages new checkpoints.

use std::path::PathBuf;

use serde_json::Value;

use crate::common::{Run, TestEnv};

/// A repository with a commit, a checkpoint `c0` and another branch, one boot ago.
fn before() -> TestEnv {
    let env = TestEnv::new();
    env.write("sub/b.txt", "s\n");
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "with a folder"]);
    env.ok(&["checkpoint", "create", "c0"]);
    env
}

fn object(env: &TestEnv, of: &str) -> PathBuf {
    let oid = env.git(&["rev-parse", of]);
    env.repo().join(".git/objects").join(&oid[..2]).join(&oid[2..])
}

/// Leaves of an object a file without content, as git does that syncs none.
fn empty(env: &TestEnv, of: &str) {
    let file = object(env, of);
    std::fs::remove_file(&file).unwrap();
    std::fs::write(file, "").unwrap();
}

/// One boot later.
fn axiom(env: &TestEnv, args: &[&str]) -> Run {
    let mut command = env.axiom_command(&env.repo(), args);
    command.env("AXIOM_TEST_BOOT", "later");
    env.run(command, None)
}

fn ok(env: &TestEnv, args: &[&str]) -> Run {
    axiom(env, args).success()
}

/// The commands that `recover` offers for git's own files.
fn by_hand(env: &TestEnv) -> Vec<String> {
    let looked = ok(env, &["recover", "--json"]).json();
    let wedges = looked["wedges"].as_array().unwrap().iter().filter(|one| one["reason"] == "gitDamage");
    let hints = wedges.flat_map(|one| one["hints"].as_array().unwrap());
    hints.map(|hint| hint.as_str().unwrap().split("    ").next().unwrap().to_owned()).collect()
}

fn paste(env: &TestEnv, line: &str) {
    let mut shell = env.program("sh", &env.repo());
    shell.args(["-c", line]);
    env.run(shell, None).success();
}

/// A checkpoint is made now, and it is whole.
fn is_saved(env: &TestEnv, name: &str) {
    ok(env, &["checkpoint", "create", name]);
    ok(env, &["checkpoint", "verify", name]);
}

fn refs_not_held(env: &TestEnv, name: &str) -> Vec<String> {
    let made = ok(env, &["checkpoint", "create", name, "--json"]).json();
    ok(env, &["checkpoint", "verify", name]);
    made["refsNotHeld"].as_array().into_iter().flatten().map(|one| one.as_str().unwrap().to_owned()).collect()
}

#[test]
fn trees_that_an_index_names_are_written_again_at_any_depth() {
    let env = before();
    env.write("n/m/d", "deep\n");
    env.write("n/other", "x\n");
    env.git(&["add", "."]);
    let tree = env.git(&["write-tree"]);
    for path in ["n/m", "n", ""] {
        empty(&env, &format!("{tree}:{path}"));
    }
    let done = ok(&env, &["recover", "--yes"]);
    assert!(done.stdout.contains("Recovered.") && !done.stderr.contains("is lost"), "{done}");
    is_saved(&env, "c1");
    env.git(&["cat-file", "-e", &format!("{tree}:n/m/d")]);
}

#[test]
fn a_lost_tree_of_a_commit_is_made_again_from_what_is_known_of_its_folder() {
    let env = before();
    env.write("sub/b.txt", "changed\n");
    env.write("README", "changed too\n");
    env.git(&["commit", "-q", "-a", "-m", "two"]);
    // The index knows the new contents, and one more; the commit before knows that there is none.
    env.write("extra", "staged since\n");
    env.git(&["add", "extra"]);
    empty(&env, "HEAD:sub");
    empty(&env, "HEAD^{tree}");
    ok(&env, &["recover", "--yes"]);
    env.git(&["cat-file", "-e", "HEAD:sub/b.txt"]);
    env.git(&["cat-file", "-e", "HEAD:README"]);
    is_saved(&env, "c1");
}

#[test]
fn cached_trees_that_nobody_can_make_again_are_dropped_and_the_rest_of_the_index_stays() {
    let env = before();
    env.write("n/d", "deep\n");
    env.git(&["add", "."]);
    let tree = env.git(&["write-tree"]);
    let index = env.repo().join(".git/index");
    let (bytes, listed) = (std::fs::read(&index).unwrap(), env.git(&["ls-files", "-s", "--debug"]));
    // Another tree under the same name: not what the entries make.
    let raw: Vec<u8> = (0..20).map(|at| u8::from_str_radix(&tree[2 * at..2 * at + 2], 16).unwrap()).collect();
    let at = bytes.windows(20).position(|window| window == raw).unwrap();
    let mut other = bytes.clone();
    other[at] ^= 1;
    let end = other.len() - 20;
    other[end..].fill(0);
    std::fs::write(&index, other).unwrap();
    ok(&env, &["recover", "--yes"]);
    assert_eq!(env.git(&["ls-files", "-s", "--debug"]), listed);
    assert!(!env.repo().join(".git/index.lock").exists());
    is_saved(&env, "c1");
}

#[test]
fn a_torn_stash_is_named_and_its_way_out_brings_it_back() {
    let env = before();
    env.write("sub/b.txt", "put away\n");
    env.git(&["stash", "-q"]);
    let top = env.git(&["rev-parse", "stash"]);
    for rest in ["", &top[..20]] {
        std::fs::write(env.repo().join(".git/refs/stash"), rest).unwrap();
        ok(&env, &["recover", "--yes"]);
        let ways = by_hand(&env);
        assert_eq!(ways.len(), 1, "{ways:?}");
        paste(&env, &ways[0]);
        assert_eq!(env.git(&["rev-parse", "stash"]), top);
        assert_eq!(by_hand(&env), [] as [&str; 0]);
        std::fs::remove_file(env.repo().join(".git/damaged-refs-stash")).unwrap();
    }
    env.git(&["stash", "pop", "-q"]);
}

#[test]
fn what_is_broken_in_the_stash_or_a_branch_is_named_and_damages_no_checkpoint() {
    let env = before();
    env.write("idx", "i\n");
    env.git(&["add", "idx"]);
    env.git(&["stash", "-q"]);
    env.write("idx", "another\n");
    env.git(&["add", "idx"]);
    env.git(&["stash", "-q"]);
    empty(&env, "stash@{1}^2");
    env.git(&["checkout", "-q", "-b", "other"]);
    for text in ["one", "two"] {
        env.write("n", text);
        env.git(&["add", "n"]);
        env.git(&["commit", "-q", "-m", text]);
    }
    empty(&env, "HEAD~1");
    env.git(&["checkout", "-q", "main"]);
    let told = ok(&env, &["recover", "--yes"]);
    assert!(told.stdout.contains("by hand") && told.stdout.contains("stash@{1}") && told.stdout.contains("'other'"), "{told}");
    assert_eq!(refs_not_held(&env, "c1"), ["refs/heads/other", "refs/stash@{1}"]);
    let stash = env.git(&["rev-parse", "stash@{0}"]);
    let ways = by_hand(&env);
    ways.iter().filter(|way| way.starts_with("git update-ref") || way.contains("stash@")).for_each(|way| paste(&env, way));
    assert_eq!((logs_forget(&env), env.git(&["rev-parse", "stash@{0}"])), (Vec::new(), stash));
    env.git(&["fsck", "--no-dangling"]);
    assert_eq!(refs_not_held(&env, "c2"), [] as [&str; 0]);
}

#[test]
fn a_stash_of_which_an_object_is_simply_gone_damages_no_checkpoint() {
    let env = before();
    env.write("idx", "i\n");
    env.git(&["add", "idx"]);
    env.git(&["stash", "-q"]);
    std::fs::remove_file(object(&env, "stash^2")).unwrap();
    assert_eq!(refs_not_held(&env, "c1"), ["refs/stash@{0}"]);
}

#[test]
fn a_top_of_the_stash_that_is_empty_or_gone_costs_no_checkpoint_and_its_way_out_ends_it() {
    for (name, without_log) in [("empty", false), ("gone", false), ("gone", true)] {
        let env = before();
        for text in ["one", "two"] {
            env.write("sub/b.txt", text);
            env.git(&["stash", "-q"]);
        }
        match name {
            "empty" => empty(&env, "stash@{0}"),
            _ => std::fs::remove_file(object(&env, "stash@{0}")).unwrap(),
        }
        if without_log {
            std::fs::write(env.repo().join(".git/logs/refs/stash"), "").unwrap();
        }
        assert_eq!(refs_not_held(&env, "c1"), ["refs/stash@{0}"], "{name}");
        ok(&env, &["recover", "--yes"]);
        by_hand(&env).iter().for_each(|way| paste(&env, way));
        assert_eq!(by_hand(&env), [] as [&str; 0], "{name}");
        env.git(&["fsck"]);
        assert_eq!(env.git(&["stash", "list"]).lines().count(), usize::from(!without_log));
    }
}

/// Follows what `recover` offers for logs, once the refs are right; returns what it offers then.
fn logs_forget(env: &TestEnv) -> Vec<String> {
    by_hand(env).iter().filter(|way| way.contains(" reflog expire --stale-fix ")).for_each(|way| paste(env, way));
    by_hand(env)
}

/// Follows what `recover` offers first, and makes a checkpoint.
fn helps(env: &TestEnv, words: &str) {
    let told = ok(env, &["recover", "--yes"]);
    assert!(told.stdout.contains("by hand") && told.stdout.contains(words), "{told}");
    assert!(told.stdout.contains("except for what you have to do by hand"), "{told}");
    let way = by_hand(env).first().cloned().unwrap();
    paste(env, &way);
    let left = logs_forget(env);
    assert_eq!(left, [] as [&str; 0], "{way}");
    is_saved(env, "after");
    assert_eq!(env.read("mine.txt"), "mine\n");
}

#[test]
fn a_lost_commit_that_head_names_has_a_way_out_on_a_branch_and_on_none() {
    for (detached, gone) in [(false, false), (true, false), (false, true)] {
        let env = before();
        if detached {
            env.git(&["checkout", "-q", "--detach"]);
        }
        env.write("n.txt", "n\n");
        env.git(&["add", "."]);
        env.git(&["commit", "-q", "-m", "two"]);
        empty(&env, "HEAD");
        if gone {
            std::fs::remove_file(object(&env, "HEAD")).unwrap();
        }
        env.write("mine.txt", "mine\n");
        let status = ok(&env, &["status"]);
        assert!(status.stdout.contains("To be recovered") || !gone, "{status}");
        let created = axiom(&env, &["checkpoint", "create"]);
        assert!(created.stderr.contains("git axiom recover"), "{created}");
        assert_ne!(axiom(&env, &["rollback", "checkpoint", "c0", "--yes"]).code, Some(0));
        helps(&env, if detached { "is, is lost" } else { "'main'" });
        assert_eq!(env.read("n.txt"), "n\n");
    }
}

#[test]
fn logs_that_name_lost_commits_are_told_with_the_command_that_contents_git() {
    for lost in ["one", "one^{tree}", "one:README"] {
        let env = before();
        env.write("README", "one\n");
        env.git(&["commit", "-q", "-a", "-m", "one"]);
        let one = env.git(&["rev-parse", "HEAD"]);
        env.git(&["branch", "beside"]);
        env.git(&["branch", "-f", "beside", "HEAD~1"]);
        env.git(&["reset", "-q", "--hard", "HEAD~1"]);
        std::fs::remove_file(env.repo().join(".git/ORIG_HEAD")).unwrap();
        empty(&env, &lost.replace("one", &one));
        ok(&env, &["recover", "--yes"]);
        is_saved(&env, "c1");
        assert_ne!(env.try_git(&["fsck", "--no-dangling"]).code, Some(0), "{lost}");
        // The log of each branch, and of HEAD.
        let ways = by_hand(&env);
        assert_eq!(ways.len(), 3, "{lost}: {ways:?}");
        let before = env.git(&["for-each-ref"]);
        ways.iter().for_each(|way| paste(&env, way));
        assert_eq!(env.git(&["for-each-ref"]), before);
        ok(&env, &["recover", "--yes"]);
        assert!(by_hand(&env).is_empty(), "{lost}");
        env.git(&["fsck", "--no-dangling"]);
    }
}

#[test]
fn an_index_without_content_or_cut_off_is_made_again_and_kept() {
    for linked in [false, true] {
        for length in [0, 60] {
            let env = before();
            let place = env.root().join("wt");
            env.git(&["worktree", "add", "-q", "-b", "side", place.to_str().unwrap()]);
            let index = env.repo().join(if linked { ".git/worktrees/wt/index" } else { ".git/index" });
            let worktree = if linked { place } else { env.repo() };
            std::fs::write(worktree.join("mine.txt"), "mine\n").unwrap();
            let bytes = std::fs::read(&index).unwrap();
            std::fs::write(&index, &bytes[..length]).unwrap();
            let looked = ok(&env, &["recover"]);
            assert!(looked.stdout.contains("index"), "{looked}");
            assert_eq!(std::fs::read(&index).unwrap().len(), length, "looking changes nothing");
            let done = ok(&env, &["recover", "--yes"]);
            assert!(done.stdout.contains("Recovered.\n"), "{done}");
            assert_eq!(env.git_in(&worktree, &["status", "--porcelain"]), "?? mine.txt");
            is_saved(&env, "after");
            assert_eq!(ok(&env, &["recover"]).stdout, "Nothing has to be recovered.\n");
        }
    }
}

#[test]
fn a_ref_without_content_or_that_is_gone_has_a_way_out() {
    let damages: [fn(&TestEnv); 2] = [
        |env| env.write(".git/refs/heads/main", ""),
        |env| {
            env.git(&["pack-refs", "--all"]);
            env.write(".git/packed-refs", "");
        },
    ];
    for damage in damages {
        let env = before();
        env.write("mine.txt", "mine\n");
        let head = env.git(&["rev-parse", "HEAD"]);
        damage(&env);
        helps(&env, "'main'");
        assert_eq!(env.git(&["rev-parse", "HEAD"]), head);
        assert!(ok(&env, &["checkpoint", "list"]).stdout.contains("c0"));
        ok(&env, &["checkpoint", "verify", "c0"]);
    }
    let env = before();
    env.git(&["branch", "other"]);
    env.write("mine.txt", "mine\n");
    env.write(".git/refs/heads/other", "");
    assert_eq!(refs_not_held(&env, "c1"), ["refs/heads/other"]);
    helps(&env, "'other'");
}

#[test]
fn staged_content_that_is_lost_is_named_and_can_be_staged_again_or_given_up() {
    for (number, gone) in [(0, false), (1, true)] {
        let env = before();
        env.write("s t", "staged\n");
        env.git(&["add", "."]);
        if gone {
            std::fs::remove_file(object(&env, ":s t")).unwrap();
        } else {
            empty(&env, ":s t");
        }
        env.write("s t", "since\n");
        env.write("mine.txt", "mine\n");
        let told = ok(&env, &["recover", "--yes"]);
        assert!(told.stdout.contains("s t"), "{told}");
        let ways = by_hand(&env);
        paste(&env, &ways[number]);
        assert_eq!(by_hand(&env), [] as [&str; 0], "{ways:?}");
        is_saved(&env, "after");
        assert_eq!(env.read("s t"), "since\n");
    }
}

#[test]
fn a_history_that_is_broken_below_head_takes_the_net_from_nothing() {
    let env = before();
    for text in ["one", "two"] {
        env.write("n", text);
        env.git(&["add", "n"]);
        env.git(&["commit", "-q", "-m", text]);
    }
    empty(&env, "HEAD~1");
    env.write("mine.txt", "mine\n");
    let told = ok(&env, &["recover", "--yes"]);
    assert!(told.stdout.contains("history of the branch 'main'"), "{told}");
    assert_eq!(refs_not_held(&env, "c1"), ["refs/heads/main"]);
    assert_ne!(axiom(&env, &["rollback", "checkpoint", "c0", "--yes"]).code, Some(0), "what it would take off is not known");
    assert_eq!(env.read("mine.txt"), "mine\n");
}

#[test]
fn files_of_gits_that_stop_every_command_are_told_with_their_way_out() {
    let stops = |env: &TestEnv, what: &str| {
        env.write("mine.txt", "mine\n");
        for verb in [&["recover"][..], &["checkpoint", "create"]] {
            let run = axiom(env, verb);
            let hint = run.stderr.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap_or_else(|| panic!("{run}"));
            assert!(run.stderr.contains(what) && hint.contains("    "), "{run}");
            if verb == ["checkpoint", "create"] {
                paste(env, hint.split("    ").next().unwrap());
            }
        }
        is_saved(env, "after");
    };
    let env = before();
    env.write(".git/HEAD", "");
    stops(&env, "HEAD");
    let env = before();
    env.git(&["tag", "t1"]);
    env.git(&["pack-refs", "--all"]);
    let packed = env.read(".git/packed-refs");
    env.write(".git/packed-refs", &packed[..packed.len() - 30]);
    stops(&env, "packed-refs");
    env.git(&["rev-parse", "HEAD"]);
    let env = before();
    env.git(&["config", "extensions.worktreeConfig", "true"]);
    env.write(".git/config.worktree", "[core\n");
    stops(&env, "config.worktree");
    // These stop nothing.
    let env = before();
    for file in ["ORIG_HEAD", "FETCH_HEAD", "description"] {
        env.write(&format!(".git/{file}"), "");
    }
    is_saved(&env, "c1");
    assert_eq!(ok(&env, &["recover"]).stdout, "Nothing has to be recovered.\n");
}

fn standings(env: &TestEnv) -> Vec<(String, String)> {
    let listed = env.json(&["checkpoint", "list"]);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    listed["checkpoints"].as_array().unwrap().iter().map(|one| (text(&one["name"]), text(&one["standing"]))).collect()
}

#[test]
fn refs_of_checkpoints_that_another_command_took_are_made_again() {
    let env = before();
    env.ok(&["checkpoint", "create", "c1"]);
    for name in env.git(&["for-each-ref", "--format=%(refname)", "refs/axiom", "refs/tags/axiom", "refs/notes"]).lines() {
        env.git(&["update-ref", "-d", name]);
    }
    assert_eq!(standings(&env), [("c0".to_owned(), "refGone".to_owned()), ("c1".to_owned(), "refGone".to_owned())]);
    let looked = env.ok(&["recover"]);
    assert!(looked.contains("checkpoint verify --repair") && !looked.contains("--from fresh"), "{looked}");
    let verified = env.axiom(&["checkpoint", "verify"]);
    assert!(verified.stderr.contains("verify --repair") && !verified.stderr.contains("delete"), "{verified}");
    env.ok(&["recover", "--yes"]);
    assert_eq!(standings(&env), [("c0".to_owned(), "there".to_owned()), ("c1".to_owned(), "there".to_owned())]);
    env.ok(&["checkpoint", "verify"]);
    env.git(&["update-ref", "-d", "refs/axiom/captures/c0"]);
    env.ok(&["checkpoint", "verify", "--repair"]);
    env.ok(&["rollback", "checkpoint", "c0", "--yes"]);
}

fn filter_repo(env: &TestEnv) -> bool {
    let mut command = env.program("git", &env.repo());
    command.args(["filter-repo", "--force", "--quiet", "--invert-paths", "--path", "secret"]);
    command.output().is_ok_and(|output| output.status.success())
}

#[test]
fn a_rewrite_of_the_history_ends_checkpoints_and_all_say_the_same() {
    let env = before();
    env.write("secret", "hunter2\n");
    env.git(&["add", "secret"]);
    env.git(&["commit", "-q", "-m", "with a secret"]);
    env.ok(&["checkpoint", "create", "c1"]);
    if !filter_repo(&env) {
        eprintln!("skipped: git filter-repo is missing");
        return;
    }
    let ended: Vec<String> =
        standings(&env).into_iter().filter(|(_, standing)| standing == "rewritten").map(|(name, _)| name).collect();
    assert!(ended.contains(&"c1".to_owned()), "{:?}", standings(&env));
    let forget = format!("git axiom checkpoint delete --protected --yes {}", ended.join(" "));
    assert!(env.ok(&["checkpoint", "list"]).contains(&forget));
    assert!(env.axiom(&["checkpoint", "verify"]).stderr.contains(&forget));
    let recovered = env.ok(&["recover", "--yes"]);
    assert!(recovered.contains(&forget) && !recovered.contains("--from fresh"), "{recovered}");
    assert!(standings(&env).iter().any(|(name, standing)| name == "c1" && standing == "rewritten"), "nothing is made again");
    let args: Vec<&str> = forget.split(' ').skip(2).collect();
    env.ok(&args);
    assert!(standings(&env).iter().all(|(_, standing)| standing == "there"), "{:?}", standings(&env));
    assert_eq!(env.ok(&["recover"]).trim_end(), "Nothing has to be recovered.");
    env.ok(&["checkpoint", "create", "c1"]);
    env.ok(&["checkpoint", "verify"]);
}

/// The other entries of a split index are in a file of their own.
#[test]
fn a_split_index_whose_other_file_is_lost_is_made_again() {
    for is_empty in [false, true] {
        let env = before();
        env.git(&["update-index", "--split-index"]);
        env.ok(&["checkpoint", "create", "c1"]);
        let files = std::fs::read_dir(env.repo().join(".git")).unwrap().map(|entry| entry.unwrap().path());
        let shared =
            files.into_iter().find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("sharedindex.")).unwrap();
        if is_empty {
            std::fs::write(&shared, "").unwrap()
        } else {
            std::fs::remove_file(&shared).unwrap()
        }
        assert!(ok(&env, &["recover"]).stdout.contains("the index of"));
        ok(&env, &["recover", "--yes"]);
        is_saved(&env, "c2");
        assert_eq!(env.git(&["status", "--porcelain"]), "");
    }
}

/// git reads none of it then. What is offered makes it whole.
#[test]
fn packed_refs_that_were_cut_off_are_named_wherever_that_was() {
    for cut in [1, 30, 41, 50, 90] {
        let env = before();
        env.git(&["tag", "-a", "-m", "t", "zzzz"]);
        env.git(&["pack-refs", "--all"]);
        let file = env.repo().join(".git/packed-refs");
        let whole = std::fs::read(&file).unwrap();
        std::fs::write(&file, &whole[..whole.len() - cut]).unwrap();
        let refused = axiom(&env, &["checkpoint", "create", "c1"]);
        assert_eq!(refused.code == Some(0), env.try_git(&["status"]).code == Some(0), "{cut}: {refused}");
        if let Some(line) = refused.stderr.lines().find_map(|line| line.strip_prefix("hint: mv ")) {
            paste(&env, &format!("mv {}", line.split("    ").next().unwrap()));
        }
        is_saved(&env, "c2");
    }
}

#[test]
fn a_purge_that_was_cut_off_is_named_with_its_way_out() {
    let env = before();
    env.write("secret.txt", "secret\n");
    env.ok(&["checkpoint", "create", "c1"]);
    env.killed_at(&["purge", "secret.txt", "--yes"], "purge.journal:1");
    axiom(&env, &["checkpoint", "create", "c2"]).fails_with(git_axiom::base::error::Code::OperationOpen);
    let looked = ok(&env, &["recover", "--json"]).json();
    assert_eq!(looked["wedges"][0]["reason"], "purgeCutOff", "{looked}");
    assert!(looked["wedges"][0]["hints"][0].as_str().unwrap().starts_with("git axiom purge --continue "), "{looked}");
    ok(&env, &["purge", "--continue", "--yes"]);
    is_saved(&env, "c3");
}
