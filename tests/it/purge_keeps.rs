//! What `git axiom purge` leaves alone: everything but the path, in checkpoints, in files of the user's, in tasks.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::Scratch;

const SECRET: &str = "sk-secret-0123456789";

fn names(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect()
}

fn is_whole(scratch: &Scratch) {
    assert_eq!(scratch.json(&["checkpoint", "verify"])["whole"], true);
    scratch.fsck();
}

/// How many objects have the secret.
fn objects_with_it(scratch: &Scratch) -> usize {
    let all = scratch.try_git(&["cat-file", "--batch-all-objects", "--batch"]).stdout;
    all.windows(SECRET.len()).filter(|part| *part == SECRET.as_bytes()).count()
}

/// Contents that other files have too, short and long, are no secret of the folder's; and what is taken out once can be again.
#[test]
fn what_other_paths_hold_stays_whatever_the_folder_holds() {
    let scratch = Scratch::new();
    let licence = "Permission is hereby granted, free of charge, to any person\n";
    let same = [("keep", ""), ("yes", "y"), ("word", "yes\n"), ("seven", "1234567"), ("eight", "12345678"), ("LICENCE", licence)];
    for (name, text) in same {
        scratch.write(&format!("secrets/{name}"), text);
        scratch.write(&format!("logs/{name}"), text);
    }
    scratch.write("secrets/key", format!("{SECRET}\n"));
    scratch.write("a.txt", "precious\n");
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.write("a.txt", "later\n");
    scratch.git(&["add", "logs/keep"]);
    scratch.git(&["commit", "-qm", "an empty file"]);
    scratch.axiom(&["checkpoint", "create", "two"]);
    std::fs::remove_dir_all(scratch.path().join("secrets")).unwrap();
    std::fs::remove_dir_all(scratch.path().join("logs")).unwrap();
    scratch.write("a.txt", "overwritten\n");
    let answer = scratch.json(&["purge", "secrets", "--yes"]);
    assert_eq!((names(&answer["madeAnew"]), names(&answer["gone"])), (vec!["one", "two"], vec![]), "{answer}");
    let held = answer["heldBy"].to_string();
    assert!(held.contains("logs/LICENCE in checkpoint one") && !held.contains("refs/heads/main"), "{held}");
    assert_eq!(objects_with_it(&scratch), 0);
    is_whole(&scratch);
    let again = scratch.json(&["purge", "secrets", "--yes"]);
    assert_eq!((&again["found"], &again["gone"]), (&json!(false), &json!([])), "{again}");
    let next = scratch.json(&["purge", "logs/eight", "--yes"]);
    assert_eq!(names(&next["madeAnew"]), ["one", "two"], "{next}");
    is_whole(&scratch);
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert_eq!((scratch.read("a.txt"), scratch.read("logs/LICENCE")), ("precious\n".into(), licence.into()));
    assert!(scratch.has("logs/keep") && scratch.has("logs/seven") && !scratch.has("logs/eight") && !scratch.has("secrets"));
}

/// Names that look like patterns, options or documents of ours mean themselves; and no name has to be UTF-8.
#[test]
fn a_path_means_itself_whatever_its_name_is() {
    let scratch = Scratch::new();
    let odd = scratch.path().join(OsStr::from_bytes(b"k\xe9y"));
    let all = ["[a-z]*", "b", "checkpoint.json", "tips", "--now", "with space"];
    for name in all {
        scratch.write(name, format!("{name} {SECRET}\n"));
    }
    std::fs::write(&odd, format!("odd {SECRET}\n")).unwrap();
    scratch.axiom(&["checkpoint", "create", "one"]);
    for name in all.iter().filter(|name| **name != "b") {
        let answer = scratch.json(&["purge", "--yes", &format!("./{name}")]);
        assert_eq!((names(&answer["madeAnew"]), names(&answer["gone"])), (vec!["one"], vec![]), "{name}: {answer}");
        is_whole(&scratch);
    }
    let run = |path: &OsStr| {
        let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
        let output = command.args(["purge", "--yes"]).arg(path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(odd.file_name().unwrap());
    let left = scratch.git(&["ls-tree", "-r", "--name-only", "refs/axiom/captures/one"]);
    assert_eq!(left.lines().filter(|line| !line.contains(".txt")).collect::<Vec<_>>(), ["b"]);
    is_whole(&scratch);
    let shown = scratch.json(&["checkpoint", "show", "one"]);
    assert!(shown.to_string().contains("6be979"), "the name in hexadecimal digits: {shown}");
}

/// A shell runs the body of a task: no mask may mean anything to it, and a human looks first, in autopilot too.
#[test]
fn a_task_whose_words_are_masked_waits_and_the_mask_means_nothing_to_a_shell() {
    let scratch = Scratch::new();
    scratch.write("out/old-artifacts/x", "x\n");
    scratch.write("out/keep.txt", "keep\n");
    scratch.git(&["add", "out"]);
    scratch.git(&["commit", "-qm", "out"]);
    scratch.write(".env", format!("API_KEY={SECRET}\nCACHE_DIR=old-artifacts\n"));
    scratch.axiom(&["init"]);
    scratch.axiom(&["task", "add", "clean", "--id", "clean", "--body", "rm -rf out/old-artifacts"]);
    scratch.axiom(&[
        "task",
        "add",
        "long",
        "--id",
        "long",
        "--body",
        &format!("{}\nrm -rf out/old-artifacts\n", "# text\n".repeat(400)),
    ]);
    scratch.axiom(&["task", "add", "step", "--id", "step", "--body", "true", "--verify", "test -d out/old-artifacts"]);
    scratch.axiom(&["task", "add", "other", "--body", "echo other > other.txt"]);
    scratch.axiom(&["checkpoint", "create", "one"]);
    let would = scratch.json(&["purge", ".env", "--dry-run"]);
    let answer = scratch.json(&["purge", ".env", "--yes"]);
    assert_eq!((names(&answer["maskedTasks"]), &would["maskedTasks"]), (vec!["clean", "long", "step"], &answer["maskedTasks"]));
    let shown = scratch.axiom(&["task", "show", "clean"]);
    assert!(shown.contains("rm -rf out/xxxxxxxxxxxxx") && !shown.contains('*'), "{shown}");
    let gates = scratch.json(&["gate", "list"]);
    let held: Vec<&Value> = gates["gates"].as_array().unwrap().iter().filter(|gate| gate["held"] == "masked").collect();
    assert_eq!(held.len(), 3, "{gates}");
    let status = scratch.axiom(&["status"]);
    assert!(status.contains("a purge masked"), "{status}");
    let _ = scratch.axiom_with(&["run", "--mode", "autopilot", "--until-idle"], &[]);
    let files = scratch.git(&["ls-tree", "-r", "--name-only", "main"]);
    assert!(files.contains("out/keep.txt") && files.contains("out/old-artifacts/x") && files.contains("other.txt"), "{files}");
    // Once a human has read it, it goes on.
    scratch.axiom(&["task", "edit", "clean", "--body", "echo clean > clean.txt"]);
    scratch.axiom(&["gate", "approve", "claim-clean"]);
    let _ = scratch.axiom_with(&["run", "--mode", "autopilot", "--until-idle"], &[]);
    assert!(scratch.git(&["ls-tree", "--name-only", "main"]).contains("clean.txt"));
}

/// Hooks, settings and what was approved: named with their paths, and as they were.
#[test]
fn files_of_the_users_are_named_and_stay_as_they_are() {
    let scratch = Scratch::new();
    let settings = format!("{{\"env\":{{\"API_KEY\":\"{SECRET}\"}}}}\n");
    scratch.write(".claude/settings.local.json", &settings);
    scratch.write(".env", format!("KEY={SECRET}\n"));
    scratch.axiom(&["init"]);
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.axiom(&["attach", "claude"]);
    let hook = format!("#!/bin/sh\ncurl -H 'key: {SECRET}' https://example.invalid || true\n");
    scratch.write(".git/axiom/hooks/post-checkpoint.sh", &hook);
    let place = scratch.path().join(".git/axiom/hooks/post-checkpoint.sh");
    std::fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    scratch.axiom(&["trust", "--yes"]);
    for args in [&["purge", ".env", "--dry-run"][..], &["purge", ".env", "--yes"]] {
        let held = scratch.json(args)["heldBy"].to_string();
        for part in
            ["hooks/post-checkpoint.sh", "attach/kept/", "git-axiom/trust/", ".claude/settings.local.json in checkpoint one"]
        {
            assert!(held.contains(part), "{args:?}: {part}: {held}");
        }
    }
    assert_eq!(scratch.read(".git/axiom/hooks/post-checkpoint.sh"), hook);
    scratch.axiom(&["detach", "claude"]);
    assert_eq!(scratch.read(".claude/settings.local.json"), settings);
}

/// Other saved files with the same value, what branches, remotes and the stash hold.
#[test]
fn whatever_has_the_value_still_is_named() {
    let scratch = Scratch::new();
    scratch.write(".env", format!("KEY={SECRET}\n"));
    scratch.write("config.js", format!("const key = \"{SECRET}\";\n"));
    scratch.write("copy", format!("KEY={SECRET}\n"));
    scratch.axiom(&["checkpoint", "create", "one"]);
    for name in ["config.js", "copy"] {
        scratch.remove(name);
    }
    scratch.git(&["add", ".env"]);
    scratch.git(&["commit", "-qm", "leak"]);
    scratch.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    scratch.git(&["rm", "-q", "--cached", ".env"]);
    scratch.git(&["commit", "-qm", "no leak"]);
    scratch.git(&["stash", "-q", "--include-untracked"]);
    let answer = scratch.json(&["purge", ".env", "--yes"]);
    let held = answer["heldBy"].to_string();
    for part in [
        "config.js in checkpoint one has the same value",
        "copy in checkpoint one",
        "refs/heads/main has",
        "refs/remotes/origin/main has",
        "other machines have it too",
        "refs/stash has",
    ] {
        assert!(held.contains(part), "{part}: {held}");
    }
    assert_eq!(names(&answer["madeAnew"]), ["one"]);
    is_whole(&scratch);
    // What it says to do works.
    let next = scratch.json(&["purge", "copy", "--yes"]);
    assert!(!next["heldBy"].to_string().contains("copy in checkpoint"), "{next}");
}

/// Who borrows objects by alternates is known to the borrower alone.
#[test]
fn a_clone_that_borrows_keeps_its_objects_unless_somebody_decides() {
    let scratch = Scratch::new();
    let text = format!("KEY={SECRET}\n");
    scratch.write(".env", &text);
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.remove(".env");
    let clone = scratch.path().with_file_name("clone");
    scratch.git(&["clone", "-q", "--shared", ".", clone.to_str().unwrap()]);
    std::fs::write(clone.join("mine"), &text).unwrap();
    let in_clone = |args: &[&str]| {
        let output = scratch.command("git").current_dir(&clone).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    // git writes no object that the other repository has.
    in_clone(&["add", "mine"]);
    in_clone(&["commit", "-qm", "mine"]);
    let would = scratch.axiom(&["purge", ".env", "--dry-run"]);
    assert!(would.contains("--shared or --reference may lose") && would.contains("/clone/.git'"), "{would}");
    for args in [&["purge", ".env"][..], &["purge", ".env", "--yes"]] {
        scratch.refused(args, "NEEDS_CONFIRMATION", 3);
    }
    let answer = scratch.json(&["purge", ".env", "--grace"]);
    assert_eq!((&answer["leftToGit"], names(&answer["madeAnew"])), (&json!(true), vec!["one"]));
    assert_eq!(scratch.git(&["ls-tree", "-r", "--name-only", "refs/axiom/captures/one"]).matches(".env").count(), 0);
    scratch.git(&["gc", "-q"]);
    in_clone(&["fsck", "--strict"]);
    is_whole(&scratch);
    // What was left can be deleted later.
    let later = scratch.json(&["purge", ".env", "--yes", "--now"]);
    assert_eq!(later["leftToGit"], false);
    assert_eq!(objects_with_it(&scratch), 0, "{later}");
    is_whole(&scratch);
}

#[test]
fn of_two_at_once_one_does_it_and_the_other_says_so() {
    let scratch = Scratch::new();
    for number in 0..3 {
        scratch.write(".env", format!("KEY={SECRET}-{number}\n"));
        scratch.axiom(&["checkpoint", "create", &format!("c{number}")]);
    }
    let begin = || {
        let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
        command.args(["purge", ".env", "--yes"]).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        command.spawn().unwrap()
    };
    let both = [begin(), begin()].map(|child| child.wait_with_output().unwrap());
    for output in &both {
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_busy = output.status.code() == Some(5) && !words.contains("git axiom quit");
        assert!(output.status.success() || is_busy, "{words}");
    }
    assert!(both.iter().any(|output| output.status.success()));
    assert_eq!(objects_with_it(&scratch), 0);
    is_whole(&scratch);
}

/// A capture in the index only, and one that a folder took the place of.
#[test]
fn what_is_staged_alone_is_taken_out_of_captures_too() {
    let scratch = Scratch::new();
    scratch.write(".env", format!("KEY={SECRET}\n"));
    scratch.git(&["add", ".env"]);
    scratch.remove(".env");
    scratch.write(".env/inner", "a folder now\n");
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.git(&["rm", "-q", "--cached", ".env"]);
    let answer = scratch.json(&["purge", ".env", "--yes"]);
    assert_eq!(names(&answer["madeAnew"]), ["one"], "{answer}");
    assert_eq!(objects_with_it(&scratch), 0, "{answer}");
    is_whole(&scratch);
    assert!(Path::new(&scratch.path()).join(".env/inner").exists());
}

/// Whatever held it at the first purge may hold it no longer at the next: the path is remembered, and the same words take it out.
#[test]
fn a_second_purge_takes_out_what_something_held_at_the_first() {
    let scratch = Scratch::new();
    scratch.write(".env", format!("KEY={SECRET}\n"));
    scratch.git(&["add", ".env"]);
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.write(".env", format!("KEY={SECRET}\nDEBUG=1\n"));
    scratch.axiom(&["checkpoint", "create", "two"]);
    let first = scratch.json(&["purge", ".env", "--yes"]);
    assert!(first["heldBy"].to_string().contains("an index holds"), "{first}");
    assert_eq!((names(&first["madeAnew"]), objects_with_it(&scratch)), (vec!["one", "two"], 1), "{first}");
    let nothing = scratch.json(&["purge", ".env", "--yes"]);
    assert!(nothing["heldBy"].to_string().contains("an index holds"), "{nothing}");
    scratch.git(&["rm", "-qf", "--cached", ".env"]);
    scratch.remove(".env");
    let second = scratch.json(&["purge", ".env", "--yes"]);
    assert_eq!((second["contents"].as_array().unwrap().len(), objects_with_it(&scratch)), (1, 0), "{second}");
    assert_eq!(scratch.json(&["purge", ".env", "--yes"])["found"], false);
    is_whole(&scratch);
}

/// A content of Git LFS: git has a pointer, we have a link, and the user's store is the user's.
#[test]
fn a_content_of_git_lfs_goes_from_ours_and_the_users_store_is_named() {
    let scratch = Scratch::new();
    if !scratch.try_git(&["lfs", "version"]).status.success() {
        return crate::skipped::skipped("git-lfs is not here");
    }
    scratch.git(&["lfs", "install", "--local"]);
    scratch.write(".gitattributes", "*.key filter=lfs diff=lfs merge=lfs -text\n");
    scratch.git(&["add", ".gitattributes"]);
    scratch.git(&["commit", "-qm", "attributes"]);
    scratch.write("a.key", format!("{SECRET}\n"));
    scratch.write("other.key", "another content\n");
    scratch.git(&["add", "a.key", "other.key"]);
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.git(&["rm", "-qf", "--cached", "a.key"]);
    scratch.remove("a.key");
    let kept = |folder: &str| {
        let all = walkdir::WalkDir::new(scratch.path().join(folder)).into_iter().flatten();
        let has =
            |entry: &walkdir::DirEntry| std::fs::read(entry.path()).is_ok_and(|text| text == format!("{SECRET}\n").as_bytes());
        all.filter(|entry| entry.file_type().is_file()).filter(has).count()
    };
    let answer = scratch.json(&["purge", "a.key", "--yes"]);
    assert_eq!(names(&answer["madeAnew"]), ["one"], "{answer}");
    assert!(answer["heldBy"].to_string().contains(".git/lfs/objects/"), "{answer}");
    assert_eq!((kept(".git/axiom/lfs"), kept(".git/lfs/objects")), (0, 1), "{answer}");
    is_whole(&scratch);
    scratch.remove("other.key");
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert_eq!((scratch.read("other.key"), scratch.has("a.key")), ("another content\n".into(), false));
}

/// With the submodule `libs/x`.
fn with_a_submodule(scratch: &Scratch) {
    let from = scratch.path().with_file_name("from");
    scratch.git(&["clone", "-q", ".", from.to_str().unwrap()]);
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from.to_str().unwrap(), "libs/x"];
    scratch.git(&add);
    scratch.git(&["commit", "-qm", "a submodule"]);
}

/// The file is in a submodule: its capture is in the submodule's repository, and is made anew there.
#[test]
fn a_path_in_a_submodule_is_taken_out_of_its_captures_there() {
    let scratch = Scratch::new();
    with_a_submodule(&scratch);
    scratch.write("libs/x/.env", format!("KEY={SECRET}\n"));
    scratch.write("libs/x/mine.txt", "mine\n");
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.write("libs/x/mine.txt", "later\n");
    scratch.axiom(&["checkpoint", "create", "two"]);
    scratch.remove("libs/x/.env");
    let in_module = || scratch.try_git(&["--git-dir=.git/modules/libs/x", "cat-file", "--batch-all-objects", "--batch"]).stdout;
    let has_it = |text: &[u8]| text.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
    assert!(has_it(&in_module()));
    let would = scratch.json(&["purge", "libs/x/.env", "--dry-run"]);
    assert!(has_it(&in_module()));
    let answer = scratch.json(&["purge", "libs/x/.env", "--yes"]);
    assert_eq!((names(&answer["madeAnew"]), &would["contents"]), (vec!["one", "two"], &answer["contents"]), "{answer}");
    assert!(!has_it(&in_module()), "{answer}");
    is_whole(&scratch);
    scratch.git(&["-C", "libs/x", "fsck", "--no-dangling"]);
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert_eq!((scratch.read("libs/x/mine.txt"), scratch.has("libs/x/.env")), ("mine\n".into(), false));
}

/// Whoever names a submodule, or a folder around it, means what is in it; which commit it is at is no secret.
#[test]
fn a_submodule_that_is_named_is_taken_out_with_all_that_is_in_it_and_goes_back_and_forth() {
    for named in ["libs/x", "libs"] {
        let scratch = Scratch::new();
        with_a_submodule(&scratch);
        // It is at a commit that the repository around it does not have.
        scratch.git(&["-C", "libs/x", "commit", "-q", "--allow-empty", "-m", "within"]);
        scratch.write("libs/x/.env", format!("KEY={SECRET}\n"));
        scratch.axiom(&["checkpoint", "create", "one"]);
        scratch.remove("libs/x/.env");
        scratch.json(&["purge", named, "--yes"]);
        let all = ["--git-dir=.git/modules/libs/x", "cat-file", "--batch-all-objects", "--batch"];
        assert!(!scratch.try_git(&all).stdout.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()), "{named}");
        let within = scratch.git(&["-C", "libs/x", "rev-parse", "HEAD"]);
        scratch.write("a.txt", "later\n");
        scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
        assert!(!scratch.has("libs/x/.env") && scratch.git(&["-C", "libs/x", "rev-parse", "HEAD"]) == within, "{named}");
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(scratch.read("a.txt"), "later\n", "{named}");
        is_whole(&scratch);
    }
}

/// What its captures lack is in its own history too, so nothing is secret; they are made anew all the same.
#[test]
fn a_submodule_that_holds_only_what_its_history_has_stays_held() {
    let scratch = Scratch::new();
    with_a_submodule(&scratch);
    let before = scratch.read("libs/x/a.txt");
    scratch.write("libs/x/a.txt", "newer\n");
    scratch.git(&["-C", "libs/x", "commit", "-qam", "newer"]);
    scratch.write("libs/x/a.txt", &before);
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.json(&["purge", "libs/x", "--yes"]);
    scratch.axiom(&["checkpoint", "verify", "one"]);
    is_whole(&scratch);
}
