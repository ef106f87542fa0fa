//! Checkpoints in repositories of every kind, and with input that cannot be used: a clear code, the documented exit
//! status, and never a checkpoint that claims more than it holds.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::common::TestEnv;

/// Expects an error, and that it left nothing of a checkpoint.
fn refused(env: &TestEnv, args: &[&str], code: &str, exit: i32) {
    let before = env.checkpoints();
    let run = env.axiom(args);
    assert!(run.stderr.contains(&format!("error[{code}]")), "{args:?}: {}", run.stderr);
    assert!(run.stderr.contains("hint: "), "{args:?}: no hint: {}", run.stderr);
    assert_eq!(run.code, Some(exit), "{args:?}: {}", run.stderr);
    assert_eq!(env.checkpoints(), before);
    let refs = env.git(&["for-each-ref", "--format=%(refname)", "refs/axiom/captures", "refs/tags/axiom"]);
    assert_eq!(refs.lines().filter(|name| name.starts_with("refs/axiom/captures/")).count(), before.len(), "{refs}");
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn names_that_are_taken_or_are_no_names_are_refused() {
    let env = TestEnv::new();
    env.ok(&["checkpoint", "create", "one"]);
    env.ok(&["task", "add", "a task", "--id", "t1"]);
    refused(&env, &["checkpoint", "create", "One"], "DUPLICATE_ID", 2);
    refused(&env, &["checkpoint", "create", "T1"], "DUPLICATE_ID", 2);
    for name in ["a b", "a/b", "..", "-x", "ä", "a.lock", "", &"x".repeat(101)] {
        let run = env.axiom(&["checkpoint", "create", "--", name]);
        assert_eq!(run.code, Some(2), "{name}: {}", run.stderr);
    }
    env.git(&["tag", "axiom/foreign"]);
    refused(&env, &["checkpoint", "create", "foreign"], "DUPLICATE_ID", 2);
    assert_eq!(env.checkpoints(), ["one"]);
}

#[test]
fn what_the_user_hid_from_status_is_held_all_the_same() {
    let env = TestEnv::new();
    env.git(&["config", "status.showUntrackedFiles", "no"]);
    env.git(&["config", "core.fileMode", "false"]);
    env.write("untracked", "u");
    env.write("run.sh", "#!/bin/sh\n");
    env.git(&["add", "--chmod=+x", "run.sh"]);
    env.write("run.sh", "#!/bin/sh\nchanged\n");
    env.ok(&["checkpoint", "create", "x"]);
    assert_eq!(env.git(&["show", "axiom/captures/x:untracked"]), "u");
    let mode = env.git(&["ls-tree", "axiom/captures/x", "run.sh"]);
    assert!(mode.starts_with("100755"), "{mode}");
}

#[test]
fn a_partial_clone_has_checkpoints_and_fetches_nothing_for_them() {
    let env = TestEnv::new();
    env.git(&["config", "uploadpack.allowFilter", "true"]);
    let source = format!("file://{}", env.repo().display());
    env.git_in(env.root(), &["clone", "-q", "--filter=blob:none", "--no-checkout", &source, "partial"]);
    let partial = env.root().join("partial");
    env.git_in(&partial, &["sparse-checkout", "set", "--cone", "none"]);
    env.git_in(&partial, &["checkout", "-q", "main"]);
    let missing = || env.git_in(&partial, &["rev-list", "--objects", "--missing=print", "HEAD"]).matches("\n?").count();
    let before = missing();
    assert!(before > 0, "the clone is not partial");
    std::fs::write(partial.join("new"), "new").unwrap();
    env.axiom_in(&partial, &["checkpoint", "create", "x"]).success();
    assert_eq!(env.git_in(&partial, &["show", "axiom/captures/x:new"]), "new");
    assert_eq!(missing(), before, "objects were fetched");
}

#[test]
fn a_repository_that_cannot_be_written_has_a_code() {
    let env = TestEnv::new();
    set_mode(env.root(), 0o755);
    set_mode(&env.repo().join(".git"), 0o555);
    let mut command = env.bound_by_permissions(&["checkpoint", "create", "x"]);
    command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "safe.directory").env("GIT_CONFIG_VALUE_0", "*");
    let output = command.output().unwrap();
    set_mode(&env.repo().join(".git"), 0o755);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(words.contains("error[") && words.contains("hint: "), "{words}");
    assert!(matches!(output.status.code(), Some(1)), "{words}");
    assert!(!env.axiom_dir().exists());
}

#[test]
fn damaged_notes_stop_nothing_and_are_rebuilt() {
    for what in ["refs/notes/axiom", "refs/notes/axiom^{tree}"] {
        let env = TestEnv::new();
        env.ok(&["checkpoint", "create", "one"]);
        let gone = env.git(&["rev-parse", what]);
        let (folder, rest) = gone.split_at(2);
        std::fs::remove_file(env.repo().join(".git/objects").join(folder).join(rest)).unwrap();
        env.write("a.txt", "changed");
        env.ok(&["checkpoint", "create", "two"]);
        env.ok(&["rollback", "checkpoint", "one", "--yes"]);
        env.ok(&["checkpoint", "verify", "--repair"]);
        env.ok(&["recover", "--yes"]);
        env.ok(&["checkpoint", "verify"]);
        assert_eq!(env.git(&["notes", "--ref=axiom", "list"]).lines().count(), 3);
    }
}

#[test]
fn damage_is_told_and_what_can_be_rebuilt_is_rebuilt() {
    let env = TestEnv::new();
    env.ok(&["checkpoint", "create", "one"]);
    env.ok(&["checkpoint", "create", "two"]);
    env.git(&["notes", "--ref=axiom", "add", "-f", "-m", "somebody's words", "axiom/one"]);
    let run = env.axiom(&["checkpoint", "verify"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stdout.contains("one: its note differs from its document"), "{}", run.stdout);
    env.ok(&["checkpoint", "verify", "--repair"]);
    let tag = env.git(&["rev-parse", "axiom/two"]);
    env.git(&["tag", "-d", "axiom/two"]);
    env.git(&["update-ref", "-d", "refs/axiom/captures/one"]);
    assert_eq!(env.axiom(&["checkpoint", "verify"]).code, Some(1));
    env.ok(&["checkpoint", "verify", "--repair"]);
    assert_eq!(env.git(&["rev-parse", "axiom/two"]), tag, "the tag is the same to the byte");
    // A tag of somebody else's under the name of ours is told of and left alone.
    env.git(&["tag", "-f", "axiom/two", "HEAD"]);
    let run = env.axiom(&["checkpoint", "verify", "--repair"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stdout.contains("another tag has the name"), "{}", run.stdout);
    assert_eq!(env.git(&["rev-parse", "axiom/two"]), env.git(&["rev-parse", "HEAD"]));
    // A blob that is gone.
    env.write("only-here", "only in the third");
    env.ok(&["checkpoint", "create", "three"]);
    let blob = env.git(&["rev-parse", "axiom/captures/three:only-here"]);
    std::fs::remove_file(env.repo().join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    let run = env.axiom(&["checkpoint", "verify", "three"]);
    assert!(run.stdout.contains("objects are missing") && run.stdout.contains(&blob), "{}", run.stdout);
    assert_eq!(env.axiom(&["rollback", "checkpoint", "three", "--yes"]).code, Some(1));
}

#[test]
fn tags_and_notes_that_a_fetch_pruned_come_back_with_the_next_list() {
    let env = TestEnv::new();
    env.git_in(env.root(), &["clone", "-q", "--bare", "repo", "remote.git"]);
    env.git(&["remote", "add", "origin", "../remote.git"]);
    env.ok(&["checkpoint", "create", "one"]);
    env.ok(&["checkpoint", "create", "two"]);
    let tags = || env.git(&["for-each-ref", "refs/tags/axiom"]);
    let before = tags();
    env.git(&["fetch", "-q", "--prune", "--prune-tags", "origin", "+refs/notes/*:refs/notes/*"]);
    env.git(&["fetch", "-q", "--prune", "--prune-tags", "origin"]);
    assert_eq!(tags(), "", "the fetch pruned them");
    assert_eq!(env.checkpoints(), ["one", "two"]);
    assert_eq!(tags(), before);
    assert!(env.git(&["notes", "--ref=axiom", "show", "axiom/one"]).contains("\"name\": \"one\""));
}

#[test]
fn lost_notes_come_back_for_all_by_themselves() {
    let env = TestEnv::new();
    for name in ["one", "two", "three"] {
        env.ok(&["checkpoint", "create", name]);
    }
    let notes = || env.git(&["notes", "--ref=axiom", "list"]);
    let before = notes();
    env.git(&["update-ref", "-d", "refs/notes/axiom"]);
    env.ok(&["checkpoint", "list"]);
    assert_eq!(notes(), before);
    env.ok(&["checkpoint", "verify"]);
    // Made anew by the next checkpoint, before anybody looks.
    env.git(&["update-ref", "-d", "refs/notes/axiom"]);
    env.ok(&["checkpoint", "create", "four"]);
    env.ok(&["checkpoint", "list"]);
    assert_eq!(notes().lines().count(), 4);
    env.ok(&["checkpoint", "verify"]);
}

#[test]
fn what_others_wrote_into_a_note_of_ours_stays() {
    let env = TestEnv::new();
    env.ok(&["checkpoint", "create", "one"]);
    env.ok(&["checkpoint", "create", "two"]);
    let note = |name: &str| env.git(&["notes", "--ref=axiom", "show", &format!("axiom/{name}")]);
    env.git(&["notes", "--ref=axiom", "append", "-m", "and mine too", "axiom/one"]);
    let appended = note("one");
    env.ok(&["checkpoint", "verify"]);
    assert!(!env.ok(&["checkpoint", "verify", "--repair"]).contains("repaired"));
    assert_eq!(note("one"), appended);
    // Also where the tag is made again.
    env.git(&["tag", "-d", "axiom/one"]);
    env.ok(&["checkpoint", "list"]);
    assert_eq!(note("one"), appended);
    // And where it is deleted, and that is undone.
    let others = env.git(&["notes", "--ref=axiom", "list"]).lines().count();
    env.ok(&["checkpoint", "delete", "one", "two", "--protected", "--yes"]);
    assert_eq!(env.git(&["notes", "--ref=axiom", "list"]).lines().count(), others - 1, "ours alone is gone");
    env.ok(&["undo", "--yes"]);
    assert_eq!(note("one"), appended);
    // In the place of ours: ours comes back, theirs stays below it, and that is said.
    env.git(&["notes", "--ref=axiom", "add", "-f", "-m", "somebody's words", "axiom/two"]);
    assert_eq!(env.axiom(&["checkpoint", "verify"]).code, Some(1));
    let repaired = env.json(&["checkpoint", "verify", "--repair"]);
    assert_eq!((&repaired["whole"], &repaired["repaired"][0]["name"]), (&true.into(), &"two".into()));
    assert!(repaired["repaired"][0]["what"].as_str().unwrap().contains("its note differs from its document"));
    assert!(note("two").starts_with('{') && note("two").ends_with("somebody's words"), "{}", note("two"));
    env.git(&["tag", "-d", "axiom/two"]);
    let words = env.ok(&["checkpoint", "verify", "--repair"]);
    assert!(words.contains("repaired two: its tag axiom/two is gone"), "{words}");
    env.fsck();
}

#[test]
fn in_a_partial_clone_verify_fetches_nothing_and_tells_damage_from_what_is_owed() {
    let env = TestEnv::new();
    env.git(&["config", "uploadpack.allowFilter", "true"]);
    env.write("old", "only in the second commit");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "second"]);
    env.git(&["rm", "-q", "old"]);
    env.write("README", "third\n");
    env.git(&["commit", "-q", "-a", "-m", "third"]);
    let source = format!("file://{}", env.repo().display());
    env.git_in(env.root(), &["clone", "-q", "--filter=blob:none", "--no-checkout", &source, "partial"]);
    let partial = env.root().join("partial");
    env.git_in(&partial, &["sparse-checkout", "set", "--no-cone", "/README"]);
    env.git_in(&partial, &["checkout", "-q", "main"]);
    std::fs::write(partial.join("new"), "new").unwrap();
    env.axiom_in(&partial, &["checkpoint", "create", "x"]).success();
    let missing = || {
        let all = env.git_in(&partial, &["rev-list", "--objects", "--all", "--missing=print"]);
        all.lines().filter(|line| line.starts_with('?')).count()
    };
    let before = missing();
    assert!(before > 0, "the clone is not partial");
    for url in [source.as_str(), "file:///nowhere"] {
        env.git_in(&partial, &["remote", "set-url", "origin", url]);
        let run = env.axiom_in(&partial, &["checkpoint", "verify"]).success();
        assert!(run.stdout.contains("is intact") && run.stdout.contains("only at the remote"), "{}", run.stdout);
        assert_eq!(missing(), before, "objects were fetched");
    }
    let owed = env.axiom_in(&partial, &["checkpoint", "verify", "--json"]).json();
    assert_eq!(owed["checkpoints"][0]["owed"], 1, "src/lib.txt, and nothing of the history: {owed}");
    // What only this repository has is owed by nobody.
    let blob = env.git_in(&partial, &["rev-parse", "axiom/captures/x:new"]);
    std::fs::remove_file(partial.join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    let run = env.axiom_in(&partial, &["checkpoint", "verify"]);
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert!(run.stdout.contains("objects are missing") && run.stdout.contains(&blob), "{}", run.stdout);
}

#[test]
fn the_recipe_with_plain_git_brings_files_back() {
    let env = TestEnv::new();
    env.write("untracked", "u");
    env.write("README", "changed\n");
    env.ok(&["checkpoint", "create", "x"]);
    std::fs::remove_file(env.repo().join("untracked")).unwrap();
    env.write("README", "wrecked\n");
    assert!(env.git(&["diff", "--stat", "axiom/captures/x"]).contains("README"));
    env.git(&["restore", "--source=axiom/captures/x", "--worktree", "--", ":/"]);
    assert_eq!((env.read("untracked").as_str(), env.read("README").as_str()), ("u", "changed\n"));
}

#[test]
fn a_worktree_whose_folder_is_gone_or_locked_is_named() {
    let env = TestEnv::new();
    env.git(&["worktree", "add", "-q", "../gone"]);
    env.git(&["worktree", "add", "-q", "../locked"]);
    env.git(&["worktree", "lock", "../locked"]);
    std::fs::remove_dir_all(env.root().join("gone")).unwrap();
    std::fs::write(env.root().join("locked/new"), "in the locked one").unwrap();
    let made = env.json(&["checkpoint", "create", "x"]);
    assert_eq!(made["coverage"][env.root().join("gone").to_str().unwrap()]["missing"], true);
    let shown = env.json(&["checkpoint", "show", "x"]);
    let capture = shown["checkpoint"]["document"]["workspaces"][0]["capture"].as_str().unwrap().to_owned();
    assert_eq!(env.git(&["show", &format!("{capture}:new")]), "in the locked one");
}

#[test]
fn files_that_vanish_and_grow_meanwhile_never_make_a_false_checkpoint() {
    let env = TestEnv::new();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let busy = env.repo().join("busy");
        let stop = &stop;
        scope.spawn(move || {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                for number in 0..20 {
                    let path = busy.join(format!("f{number}"));
                    let _ = std::fs::remove_dir_all(&path);
                    let _ = std::fs::remove_file(&path);
                    let _ = std::fs::create_dir_all(&busy);
                    match number % 3 {
                        0 => drop(std::fs::write(&path, vec![b'x'; number * 10_000])),
                        1 => drop(std::fs::create_dir(&path)),
                        _ => {}
                    }
                }
            }
        });
        for number in 0..10 {
            let run = env.axiom(&["checkpoint", "create", &format!("c{number}")]);
            assert!(run.code == Some(0) || run.stderr.contains("error["), "{}", run.stderr);
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    env.ok(&["checkpoint", "verify"]);
    env.git(&["fsck", "--strict"]);
}

#[test]
fn a_hundred_thousand_untracked_files_are_held() {
    let env = TestEnv::new();
    for folder in 0..100 {
        let folder = env.repo().join(format!("many/{folder}"));
        std::fs::create_dir_all(&folder).unwrap();
        for file in 0..1000 {
            // A hundred contents: that many objects, a hundred thousand entries.
            std::fs::write(folder.join(file.to_string()), (file % 100).to_string()).unwrap();
        }
    }
    env.ok(&["checkpoint", "create", "x"]);
    let held = env.git(&["ls-tree", "-r", "--name-only", "axiom/captures/x", "many/"]);
    assert_eq!(held.lines().count(), 100_000);
}

/// On a real file system of a few megabytes, in a user namespace: whatever fills up when, there is a checkpoint that is
/// whole, or none and an error.
#[test]
fn a_full_disk_makes_no_false_checkpoint() {
    let script = r#"
set -eu
mount -t tmpfs -o size=3m,nr_inodes=20000 none "$DISK"
cd "$DISK"
git init -q -b main r && cd r
echo a > a && git add -A && git commit -q -m first
"$AXIOM" checkpoint create first > /dev/null
failed=0
for left in 400 200 120 80 60 40 28 20 16 12 8 4 0; do
    dd if=/dev/zero of=../filler bs=1k count=4000 2> /dev/null || true
    size=$(stat -c %s ../filler); truncate -s $((size - left * 1024)) ../filler
    head -c 30000 /dev/urandom > new || true
    if "$AXIOM" checkpoint create "c$left" > /dev/null 2> "$DISK.err"; then :; else
        failed=$((failed + 1))
        grep -q 'error\[' "$DISK.err" || { cat "$DISK.err"; exit 1; }
    fi
    rm -f ../filler
    "$AXIOM" recover --yes > /dev/null
    "$AXIOM" checkpoint verify > /dev/null
    git fsck --strict --no-dangling > /dev/null
done
echo "failed $failed"
"#;
    let env = TestEnv::empty();
    let disk = env.root().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mut command: Command = env.program("unshare", env.root());
    command.args(["-Urm", "sh", "-c", script]).env("DISK", &disk).env("AXIOM", env!("CARGO_BIN_EXE_git-axiom"));
    let output = command.output().expect("unshare is needed for this test");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    let failed: u32 = out.trim().strip_prefix("failed ").unwrap().parse().unwrap();
    assert!((1..13).contains(&failed), "of 13 fillings {failed} failed");
}

#[test]
fn a_list_of_the_newest_has_their_numbers_and_the_order_of_the_whole() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    for name in ["zebra", "middle", "ant"] {
        env.json(&["checkpoint", "create", name]);
    }
    let listed = |args: &[&str]| env.json(args)["checkpoints"].as_array().unwrap().clone();
    let all = listed(&["checkpoint", "list"]);
    assert_eq!(env.checkpoints(), ["zebra", "middle", "ant"]);
    for (count, first) in [("0", 3), ("1", 2), ("2", 1), ("3", 0), ("100", 0)] {
        assert_eq!(listed(&["checkpoint", "list", "-n", count]), all[first..], "{count}");
    }
    assert_eq!(listed(&["checkpoint", "list", "--max-count=2"]), all[1..]);
    // What got lost of one that is not shown comes back with the whole list, and where one that is shown lost something.
    env.git(&["pack-refs", "--all"]);
    env.git(&["tag", "-d", "axiom/zebra"]);
    env.git(&["update-ref", "-d", "refs/axiom/captures/middle"]);
    assert_eq!(listed(&["checkpoint", "list", "-n", "1"]), all[2..]);
    assert_eq!(env.git(&["tag"]), "axiom/ant\naxiom/middle");
    env.git(&["tag", "-d", "axiom/ant"]);
    assert_eq!(listed(&["checkpoint", "list", "-n", "1"]), all[2..]);
    assert_eq!(env.git(&["tag"]), "axiom/ant\naxiom/middle\naxiom/zebra");
    env.git(&["tag", "-d", "axiom/zebra"]);
    // A capture ref comes back with 'recover' or 'verify --repair': until then the list says that it is gone.
    let mut now = all.clone();
    now[1]["standing"] = "refGone".into();
    assert_eq!(listed(&["checkpoint", "list"]), now);
    assert_eq!(env.git(&["tag"]), "axiom/ant\naxiom/middle\naxiom/zebra");
}

#[test]
fn a_name_that_a_foreign_tag_has_says_whose_it_is_and_what_to_do() {
    let env = TestEnv::new();
    env.git(&["tag", "axiom/zz"]);
    let run = env.axiom(&["checkpoint", "create", "zz"]);
    for wanted in ["error[DUPLICATE_ID]", "the tag axiom/zz", "git tag -d axiom/zz"] {
        assert!(run.stderr.contains(wanted), "{wanted}: {}", run.stderr);
    }
    assert!(!run.stderr.contains("checkpoint list"), "{}", run.stderr);
    env.git(&["tag", "-d", "axiom/zz"]);
    env.ok(&["checkpoint", "create", "zz"]);
    // One that is known says so as before.
    let run = env.axiom(&["checkpoint", "create", "zz"]);
    assert!(run.stderr.contains("DUPLICATE_ID") && run.stderr.contains("checkpoint list"), "{}", run.stderr);
}

#[test]
fn a_capture_ref_without_a_checkpoint_is_told_by_verify_and_taken_for_none_by_recover() {
    let env = TestEnv::new();
    env.ok(&["checkpoint", "create", "one"]);
    let stray = "refs/axiom/captures/stray";
    env.git(&["update-ref", stray, "HEAD"]);
    let recovered = env.ok(&["recover", "--yes"]);
    assert!(!recovered.contains("stray"), "it is not added, so nothing may say so: {recovered}");
    let run = env.axiom(&["checkpoint", "verify"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stdout.contains(&format!("{stray} holds no checkpoint that can be read")), "{run}");
    assert!(run.stdout.contains(&format!("git update-ref -d {stray}")), "{run}");
    assert_eq!(env.axiom(&["checkpoint", "verify", "--repair"]).code, Some(1), "there is nothing to repair it from");
    env.git(&["update-ref", "-d", stray]);
    env.ok(&["checkpoint", "verify"]);
}
