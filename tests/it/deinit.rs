//! `git axiom deinit`: everything of ours goes, nothing is lost, and what it prints brings all of it back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::TestEnv;
use crate::crash_points::{drawn, points_of};
use crate::support::Scratch;

/// A repository with checkpoints, a merged task, one that is not, changes that are not committed, ignored files, a foreign note, an
/// attached program.
fn in_use() -> Scratch {
    let scratch = Scratch::new();
    scratch.git(&["notes", "--ref=axiom", "add", "-m", "of somebody else", "HEAD"]);
    std::fs::write(scratch.path().join(".git/info/exclude"), "mine\n/.worktrees/\nignored.*\n").unwrap();
    scratch.axiom(&["init"]);
    scratch.axiom(&["attach", "codex"]);
    scratch.done_task("merged");
    scratch.axiom(&["merge", "merged"]);
    scratch.open_task("open");
    std::fs::write(scratch.workspace("open").join("work.txt"), "work\n").unwrap();
    std::fs::write(scratch.workspace("open").join("ignored.log"), "only here\n").unwrap();
    scratch.finish_task("open");
    std::fs::write(scratch.workspace("open").join("later.txt"), "not committed\n").unwrap();
    scratch.write("a.txt", "saved\n");
    scratch.axiom(&["checkpoint", "create", "good"]);
    scratch.write("a.txt", "changed\n");
    scratch.write("ignored.secret", "mine\n");
    scratch
}

/// All refs with their values, and the files of the user's, but for what is ours and goes.
fn refs(scratch: &Scratch) -> BTreeMap<String, String> {
    let listed = scratch.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
    listed.lines().filter_map(|line| line.split_once(' ')).map(|(name, oid)| (name.to_owned(), oid.to_owned())).collect()
}

fn beside(scratch: &Scratch) -> Vec<PathBuf> {
    let folder = scratch.path().parent().unwrap().to_owned();
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with("r-axiom-"));
    found
}

fn nothing_is_left(scratch: &Scratch) {
    let folders = [".git/refs/axiom", ".git/refs/tags/axiom", ".git/worktrees"];
    for path in [".git/axiom", ".git/axiom-deinit.json", ".worktrees", ".codex"].into_iter().chain(folders) {
        assert!(!scratch.has(path), "{path}");
    }
    let listed = refs(scratch);
    let names: Vec<&str> = listed.keys().map(String::as_str).collect();
    assert_eq!(names, ["refs/heads/axiom/open", "refs/heads/main", "refs/notes/axiom"]);
    assert_eq!(scratch.git(&["notes", "--ref=axiom", "list"]).lines().count(), 1);
    assert_eq!(scratch.git(&["rev-list", "--count", "refs/notes/axiom"]), "1");
    assert_eq!(scratch.git(&["notes", "--ref=axiom", "show", "HEAD~1"]), "of somebody else");
    assert_eq!(scratch.read(".git/info/exclude"), "mine\nignored.*\n");
    assert_eq!(scratch.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    assert_eq!((scratch.read("a.txt"), scratch.read("ignored.secret")), ("changed\n".into(), "mine\n".into()));
    scratch.fsck();
}

fn brought_back(scratch: &Scratch, restore: &Value) {
    for command in restore.as_array().unwrap() {
        let command = command.as_str().unwrap().replace("git axiom", env!("CARGO_BIN_EXE_git-axiom"));
        let run = scratch.command("sh").args(["-ec", &command]).output().unwrap();
        assert!(run.status.success(), "{command}: {}", String::from_utf8_lossy(&run.stderr));
    }
}

#[test]
fn everything_of_ours_goes_and_what_is_printed_brings_it_back() {
    let scratch = in_use();
    let before = refs(&scratch);
    let would = scratch.json(&["deinit", "--dry-run"]);
    assert_eq!((refs(&scratch), beside(&scratch)), (before.clone(), vec![]));
    scratch.refused(&["deinit"], "NEEDS_CONFIRMATION", 3);
    let answer = scratch.json(&["deinit", "--yes"]);
    nothing_is_left(&scratch);
    let folder = PathBuf::from(answer["folder"].as_str().unwrap());
    assert_eq!(beside(&scratch), std::slice::from_ref(&folder));
    assert_eq!(
        answer["workspaces"],
        serde_json::json!([{
            "path": scratch.workspace("open"), "movedTo": folder.join("workspaces/ed-001-open"), "notHeld": 1
        }])
    );
    assert_eq!(would["workspaces"][0]["notHeld"], 1);
    assert_eq!(would["folder"], answer["folder"], "the plan names the folder that is made");
    let stays: Vec<&str> = answer["stays"].as_array().unwrap().iter().map(|what| what.as_str().unwrap()).collect();
    assert!(
        stays.iter().any(|what| what.contains("branch axiom/open")) && stays.iter().any(|what| what.contains("notes of others"))
    );
    assert!(!stays.iter().any(|what| what.contains("approved")), "nothing was: {stays:?}");
    // What no capture holds is where it says.
    assert_eq!(std::fs::read_to_string(folder.join("workspaces/ed-001-open/ignored.log")).unwrap(), "only here\n");
    let mode = |path: &Path| std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions()) & 0o777;
    assert_eq!((mode(&folder), mode(&folder.join("axiom.bundle"))), (0o700, 0o600));
    // All objects that only our refs held may go: the bundle has them.
    scratch.git(&["reflog", "expire", "--expire=now", "--all"]);
    scratch.git(&["gc", "-q", "--prune=now"]);
    assert!(!scratch.try_git(&["cat-file", "-e", &before["refs/axiom/captures/good"]]).status.success());
    assert_eq!(scratch.json(&["deinit", "--yes"])["found"], false);
    brought_back(&scratch, &answer["restore"]);
    let after = refs(&scratch);
    let gone: Vec<&String> = before.keys().filter(|name| !after.contains_key(*name)).collect();
    assert_eq!(gone, [] as [&String; 0]);
    assert_eq!(scratch.json(&["checkpoint", "verify"])["whole"], true);
    assert_eq!(scratch.task("merged").title, "do merged");
    scratch.axiom(&["rollback", "checkpoint", "good", "--yes"]);
    assert_eq!(scratch.read("a.txt"), "saved\n");
}

#[test]
fn killed_anywhere_it_is_before_or_the_same_call_completes_it() {
    let scratch = in_use();
    let saved = scratch.save_as("saved");
    let args = ["deinit", "--yes"];
    let points = points_of(&scratch, &args);
    let ours = |point: &String| point.starts_with("deinit.") || point.starts_with("git.bundle") || point.starts_with("git.aside");
    let (ours, others): (Vec<_>, Vec<_>) = points.into_iter().partition(ours);
    assert!(ours.len() > 12, "{ours:?}");
    for point in ours.into_iter().chain(drawn(others, &args).into_iter().take(5)) {
        scratch.put_back(&saved);
        beside(&scratch).iter().for_each(|folder| std::fs::remove_dir_all(folder).unwrap());
        scratch.killed_at(&args, &point);
        let status = scratch.axiom_with(&["status"], &[]);
        if !status.status.success() {
            let words = String::from_utf8_lossy(&status.stderr).into_owned();
            assert!(words.contains("error[OPERATION_OPEN]") && words.contains("git axiom deinit"), "{point}: {words}");
        }
        let answer = scratch.json(&["deinit", "--yes"]);
        nothing_is_left(&scratch);
        let [folder] = beside(&scratch).try_into().unwrap_or_else(|all| panic!("{point}: {all:?}"));
        if point != "deinit.folder-moved:1" {
            assert_eq!(answer["folder"], folder.to_str().unwrap(), "{point}");
        }
        let mut names: Vec<String> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["axiom", "axiom.bundle", "trash", "workspaces"], "{point}");
        assert_eq!(std::fs::read_to_string(folder.join("workspaces/ed-001-open/later.txt")).unwrap(), "not committed\n");
        scratch.git(&["bundle", "verify", "-q", folder.join("axiom.bundle").to_str().unwrap()]);
        brought_back(&scratch, &answer["restore"]);
        assert_eq!(scratch.json(&["checkpoint", "verify"])["whole"], true, "{point}");
    }
}

#[test]
fn it_is_refused_while_somebody_works_or_the_place_is_taken() {
    let scratch = in_use();
    let lock = |name: &str| {
        let file =
            std::fs::File::options().create(true).truncate(false).write(true).open(scratch.path().join(".git/axiom").join(name));
        let file = file.unwrap();
        rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
        file
    };
    let before = refs(&scratch);
    for (name, code) in [
        ("locks/supervisor", "SUPERVISOR_RUNNING"),
        ("locks/workspace-open", "BUSY"),
        ("locks/planning", "BUSY"),
        ("attach/joiner.lock", "BUSY"),
        ("attach/watches/x.lock", "BUSY"),
    ] {
        std::fs::create_dir_all(scratch.path().join(".git/axiom/attach/watches")).unwrap();
        let held = lock(name);
        scratch.refused(&["deinit", "--yes"], code, 5);
        scratch.refused(&["deinit", "--dry-run"], code, 5);
        drop(held);
    }
    for place in [".", "a.txt", "inside", "nowhere/folder", ".git/x"] {
        scratch.refused(&["deinit", "--yes", "--to", place], "INVALID_INPUT", 2);
    }
    let token = [("AXIOM_TOKEN", "k1"), ("AXIOM_AGENT", "ed-001")];
    assert_eq!(scratch.axiom_with(&["deinit", "--yes"], &token).status.code(), Some(3));
    // A bundle that git cannot make takes nothing out.
    let capture = scratch.git(&["rev-parse", "refs/axiom/captures/good^{tree}"]);
    let (folder, rest) = capture.split_at(2);
    let object = scratch.path().join(".git/objects").join(folder).join(rest);
    let kept = std::fs::read(&object).unwrap();
    std::fs::remove_file(&object).unwrap();
    let failed = scratch.axiom_with(&["deinit", "--yes"], &[]);
    assert!(!failed.status.success(), "{}", String::from_utf8_lossy(&failed.stdout));
    std::fs::write(&object, kept).unwrap();
    let after = refs(&scratch);
    assert!(before.iter().all(|(name, oid)| name == "refs/notes/axiom" || after.get(name) == Some(oid)));
    assert_eq!(beside(&scratch), [] as [PathBuf; 0]);
    assert!(scratch.has(".codex") && !scratch.has(".git/axiom-deinit.json"));
}

/// The agents work in linked worktrees, and the folder is beside the bare repository.
#[test]
fn a_bare_repository_with_its_worktrees_is_left_and_brought_back() {
    let env = TestEnv::new();
    let root = env.root().to_owned();
    env.git_in(&root, &["clone", "-q", "--bare", "repo", "repo.git"]);
    std::fs::remove_dir_all(env.repo()).unwrap();
    let git_dir = root.join("repo.git");
    env.git_in(&git_dir, &["worktree", "add", "-q", "../repo", "main"]);
    env.ok(&["init"]);
    env.write("README", "saved");
    env.ok(&["checkpoint", "create", "good"]);
    env.write("README", "changed");
    let before = env.git(&["for-each-ref", "refs/axiom", "refs/tags"]);
    let answer = env.json(&["deinit", "--yes"]);
    assert!(!git_dir.join("axiom").exists() && env.git(&["for-each-ref", "refs/axiom", "refs/tags"]).is_empty());
    let folder = PathBuf::from(answer["folder"].as_str().unwrap());
    assert!(folder.starts_with(&root) && !folder.starts_with(&git_dir), "{}", folder.display());
    assert_eq!((env.read("README"), env.git(&["worktree", "list"]).lines().count()), ("changed".into(), 2));
    env.git(&["gc", "-q", "--prune=now"]);
    for command in answer["restore"].as_array().unwrap() {
        let command = command.as_str().unwrap().replace("git axiom", env!("CARGO_BIN_EXE_git-axiom"));
        let run = env.program("sh", &env.repo()).args(["-ec", &command]).output().unwrap();
        assert!(run.status.success(), "{command}: {}", String::from_utf8_lossy(&run.stderr));
    }
    let after = env.git(&["for-each-ref", "refs/axiom", "refs/tags"]);
    assert!(before.lines().all(|line| after.contains(line)), "{after}");
    env.ok(&["rollback", "checkpoint", "good", "--yes"]);
    assert_eq!(env.read("README"), "saved");
}

/// Runs a script in a namespace of its own, where it may mount: `$DISK` is a file system of 24 MB. The repository is `$REPO`.
fn with_a_disk(scratch: &Scratch, script: &str) {
    let disk = scratch.path().with_file_name("disk");
    std::fs::create_dir_all(&disk).unwrap();
    let beginning = r#"
        mount -t tmpfs -o size=24m none "$DISK"
        axiom() { "$AXIOM" "$@"; }
        whole() { test "$(axiom checkpoint verify --json | grep -c '"whole": *true')" = 1; }
    "#;
    let mut command = scratch.command("unshare");
    command.args(["-Urm", "sh", "-euc", &[beginning, script].concat()]);
    command.env("DISK", &disk).env("AXIOM", env!("CARGO_BIN_EXE_git-axiom"));
    let output = command.output().expect("unshare is needed for this test");
    let said = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    assert!(output.status.success(), "{:?}: {said}", output.status.code());
}

#[test]
fn the_folder_may_be_on_another_file_system() {
    let scratch = in_use();
    with_a_disk(
        &scratch,
        r#"
        axiom deinit --yes --to "$DISK/left" > ../out 2>&1 || { cat ../out; exit 2; }
        test ! -e .git/axiom && test ! -e .worktrees || exit 3
        test "$(cat "$DISK/left/workspaces/ed-001-open/ignored.log")" = "only here" || exit 4
        test "$(cat "$DISK/left/workspaces/ed-001-open/later.txt")" = "not committed" || exit 5
        test -d "$DISK/left/axiom/state" || exit 6
        git bundle verify -q "$DISK/left/axiom.bundle" || exit 7
        git for-each-ref refs/axiom | grep . && exit 8
        git fsck --strict --no-dangling || exit 9
        "#,
    );
}

#[test]
fn a_disk_that_fills_in_the_middle_loses_nothing_and_the_same_call_goes_on() {
    let scratch = in_use();
    with_a_disk(
        &scratch,
        r#"
        head -c 2M /dev/urandom > big && git add big && axiom checkpoint create big > ../out
        before=$(git for-each-ref refs/axiom refs/tags/axiom refs/notes/axiom)
        # No room for the bundle: nothing was taken out.
        head -c 23M /dev/zero > "$DISK/filler"
        axiom deinit --yes --to "$DISK/left" > ../out 2>&1 && exit 2
        grep -q 'error\[DISK_FULL\]' ../out && grep -q 'nothing was taken out' ../out || { cat ../out; exit 3; }
        test ! -e "$DISK/left" && test ! -e .git/axiom-deinit.json && whole || exit 4
        git for-each-ref refs/axiom refs/tags/axiom | while read line; do :; done
        # Room for the bundle, and not for what is moved there.
        head -c 8M /dev/urandom > .worktrees/ed-001-open/ignored.big
        rm "$DISK/filler"; head -c 14M /dev/zero > "$DISK/filler"
        axiom deinit --yes --to "$DISK/left" > ../out 2>&1 && exit 5
        grep -q 'error\[DISK_FULL\]' ../out || { cat ../out; exit 6; }
        find . "$DISK/left" -name 'ignored.big*' -size +8000k | grep -q . || exit 7
        find . "$DISK/left" -name later.txt | grep -q . || exit 7
        axiom status > ../out 2>&1 && exit 8
        grep -q 'error\[OPERATION_OPEN\]' ../out && grep -q 'git axiom deinit' ../out || { cat ../out; exit 9; }
        rm "$DISK/filler"
        axiom deinit --yes > ../out 2>&1 || { cat ../out; exit 10; }
        test ! -e .git/axiom && test ! -e .worktrees || exit 11
        test "$(stat -c %s "$DISK/left/workspaces/ed-001-open/ignored.big")" = 8388608 || exit 12
        test "$(cat "$DISK/left/workspaces/ed-001-open/later.txt")" = "not committed" || exit 13
        git bundle verify -q "$DISK/left/axiom.bundle" || exit 14
        git fsck --strict --no-dangling || exit 15
        "#,
    );
}

/// What is taken out must never be found by the `git add` of a repository that this one lies in.
#[test]
fn the_folder_is_beside_the_outermost_worktree_however_that_is_known() {
    for way in ["submodule", "in its worktree", "core.worktree", "GIT_WORK_TREE"] {
        let scratch = Scratch::new();
        let inner = scratch.path().join("deep/inner");
        let git = |args: &[&str]| scratch.git(args);
        std::fs::create_dir_all(inner.parent().unwrap()).unwrap();
        match way {
            "submodule" => {
                let from = scratch.save_as("from");
                let from = from.to_str().unwrap().to_owned();
                git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &from, "deep/inner"]);
            }
            "GIT_WORK_TREE" => {
                git(&["init", "-q", "deep/inner"]);
                std::fs::rename(inner.join(".git"), scratch.path().with_file_name("files.git")).unwrap();
            }
            _ => drop(git(&["init", "-q", "deep/inner"])),
        }
        if way == "core.worktree" {
            let moved = scratch.path().join(".files");
            std::fs::rename(scratch.path().join(".git"), &moved).unwrap();
            scratch.git(&["--git-dir=.files", "config", "core.worktree", scratch.path().to_str().unwrap()]);
        }
        let run = |args: &[&str]| {
            let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
            command.args(args).current_dir(&inner);
            if way == "GIT_WORK_TREE" {
                command.env("GIT_DIR", scratch.path().with_file_name("files.git")).env("GIT_WORK_TREE", &inner);
            }
            let output = command.output().unwrap();
            assert!(output.status.success(), "{way} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
            serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default()
        };
        run(&["init"]);
        std::fs::write(inner.join(".env"), "KEY=secret\n").unwrap();
        run(&["checkpoint", "create", "one"]);
        let would = run(&["deinit", "--dry-run", "--json"]);
        let answer = run(&["deinit", "--yes", "--json"]);
        for folder in [&would["folder"], &answer["folder"]] {
            let folder = PathBuf::from(folder.as_str().unwrap());
            assert_eq!(folder.parent(), scratch.path().canonicalize().unwrap().parent(), "{way}: {}", folder.display());
        }
    }
}

#[test]
fn where_nothing_can_be_written_beside_it_another_place_is_named_before_anything_is_done() {
    let scratch = Scratch::new();
    let inner = scratch.path();
    scratch.axiom(&["init"]);
    let outer = inner.parent().unwrap();
    std::fs::create_dir_all(outer.join(".git")).unwrap();
    std::fs::write(outer.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let top = outer.parent().unwrap();
    let refused = |mut command: Command, args: &[&str]| {
        let output = command.args(args).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(words.contains("error[INVALID_INPUT]") && words.contains("deinit --to DIR"), "{args:?}: {words}");
    };
    let program = || scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    // In the outer worktree, by whatever name.
    for place in [outer.join("x"), inner.join("x")] {
        refused(program(), &["deinit", "--yes", "--to", place.to_str().unwrap()]);
    }
    let folder = tempfile::Builder::new().prefix("shut-").tempdir_in(top).unwrap();
    let shut = folder.path().join("top");
    std::fs::rename(inner, &shut).unwrap();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o555)).unwrap();
    let mut command = scratch.bound_by_permissions();
    if crate::common::is_root() {
        assert!(Command::new("chown").args(["-R", "65534:65534"]).arg(&shut).status().unwrap().success());
    }
    command.current_dir(&shut);
    refused(command, &["deinit", "--yes"]);
    assert!(shut.join(".git/axiom").is_dir() && !shut.join(".git/axiom-deinit.json").exists());
}
