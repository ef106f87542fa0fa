//! `git axiom purge`: after it no object and no file of ours holds the bytes, proved by reading every one of them.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use crate::crash_points::points_of;
use crate::support::Scratch;

const SECRET: &str = "sk-secret-0123456789";

fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

fn has_it(bytes: &[u8]) -> bool {
    bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes())
}

/// Every object of the repository, and every file of ours and of the trash.
fn is_gone(scratch: &Scratch, when: &str) {
    let objects = scratch.try_git(&["cat-file", "--batch-all-objects", "--batch"]);
    assert!(objects.status.success());
    assert!(!has_it(&objects.stdout), "{when}: an object has it");
    for folder in [".git/axiom", ".worktrees/trash"] {
        for entry in walkdir::WalkDir::new(scratch.path().join(folder)).into_iter().flatten() {
            if entry.file_type().is_file() {
                assert!(!has_it(&std::fs::read(entry.path()).unwrap()), "{when}: {} has it", entry.path().display());
            }
        }
    }
}

/// The secret is in captures of both worktrees, in packs and loose, in a live capture, in texts, logs, notes and the trash.
fn with_secret() -> Scratch {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    scratch.axiom(&["task", "add", "short", "--body", &format!("use {SECRET}")]);
    scratch.axiom(&["task", "add", "long", "--body", &format!("{}\n{SECRET}\n", "text ".repeat(400))]);
    scratch.open_task("open");
    scratch.write(".env", &format!("API_KEY={SECRET}\nDEBUG=1\nENV=production\nEVENT=checkpointCreated\n"));
    std::fs::write(scratch.workspace("open").join(".env"), format!("API_KEY={SECRET}\n")).unwrap();
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.git(&["gc", "-q"]);
    scratch.write("a.txt", "two\n");
    scratch.write(".env", &format!("API_KEY={SECRET}\nDEBUG=2\n"));
    scratch.axiom(&["checkpoint", "create", "two"]);
    scratch.git(&["config", "axiom.checkpoints.tags", "none"]);
    scratch.write("a.txt", "three\n");
    scratch.axiom(&["checkpoint", "create", "three"]);
    let shown = scratch.json(&["checkpoint", "show", "two"]);
    let capture = shown["checkpoint"]["document"]["workspaces"][0]["capture"].as_str().unwrap().to_owned();
    scratch.git(&["update-ref", "refs/axiom/live/open", &capture]);
    scratch.axiom(&["checkpoint", "create", "going"]);
    scratch.axiom(&["checkpoint", "delete", "going", "--protected", "--yes"]);
    let logs = scratch.path().join(".git/axiom/agents/ed-001/logs");
    std::fs::create_dir_all(&logs).unwrap();
    std::fs::write(logs.join("open.jsonl"), format!("{{\"text\":\"found {SECRET}\"}}\n")).unwrap();
    scratch.write(".worktrees/trash/x/.env", &format!("API_KEY={SECRET}\n"));
    // It has a word of the secret's file, and nothing of the secret.
    scratch.write(".worktrees/trash/x/other", "stays in production\n");
    scratch
}

fn is_whole(scratch: &Scratch, when: &str) {
    is_gone(scratch, when);
    let verified = scratch.json(&["checkpoint", "verify"]);
    assert_eq!(verified["whole"], true, "{when}: {verified}");
    let list = scratch.json(&["checkpoint", "list"]);
    let names: Vec<&str> = list["checkpoints"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["one", "two", "three"], "{when}");
    assert_eq!(scratch.read(".worktrees/trash/x/other"), "stays in production\n");
    scratch.fsck();
}

#[test]
fn no_object_and_no_file_of_ours_has_it_any_more() {
    let scratch = with_secret();
    let dangling = scratch.git(&["hash-object", "-w", "a.txt"]);
    scratch.git(&["repack", "-adq", "--keep-unreachable"]);
    let before = scratch.git(&["for-each-ref"]);
    let would = scratch.json(&["purge", ".env", "--dry-run"]);
    assert_eq!(scratch.git(&["for-each-ref"]), before);
    assert_eq!(would["madeAnew"], serde_json::json!(["one", "two", "three"]));
    scratch.refused(&["purge", ".env"], "NEEDS_CONFIRMATION", 3);
    let answer = scratch.json(&["purge", ".env", "--yes"]);
    assert_eq!((&answer["madeAnew"], &answer["gone"]), (&would["madeAnew"], &serde_json::json!([])));
    assert_eq!(answer["contents"], would["contents"]);
    let held = answer["heldBy"].to_string();
    assert!(held.contains("/.env' itself") && !held.contains("refs/"), "{held}");
    is_whole(&scratch, "after it");
    // What nothing refers to and is not ours stays.
    scratch.git(&["cat-file", "-e", &dangling]);
    let shown = scratch.axiom(&["checkpoint", "show", "one"]);
    assert!(shown.contains("purged") && shown.contains(".env"), "{shown}");
    assert!(scratch.axiom(&["log"]).contains("purge .env"));
    // A rollback leaves the path alone.
    scratch.write(".env", "mine\n");
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert_eq!((scratch.read(".env"), scratch.read("a.txt")), ("mine\n".into(), "a\n".into()));
    assert_eq!(scratch.json(&["purge", "nothing.txt", "--yes"])["found"], false);
}

#[test]
fn what_a_branch_has_stays_and_is_named() {
    let scratch = Scratch::new();
    scratch.write(".env", &format!("API_KEY={SECRET}\n"));
    scratch.axiom(&["checkpoint", "create", "one"]);
    let id = scratch.git(&["hash-object", ".env"]);
    scratch.git(&["switch", "-q", "-c", "leaked"]);
    scratch.git(&["add", ".env"]);
    scratch.git(&["commit", "-q", "-m", "leak"]);
    scratch.git(&["switch", "-q", "main"]);
    let answer = scratch.json(&["purge", &id, "--yes"]);
    assert!(answer["heldBy"].to_string().contains("refs/heads/leaked"), "{answer}");
    scratch.git(&["cat-file", "-e", &id]);
    assert_eq!(scratch.json(&["checkpoint", "verify"])["whole"], true);
    scratch.git(&["branch", "-qD", "leaked"]);
    scratch.git(&["reflog", "expire", "--expire=now", "--all"]);
    let again = scratch.json(&["purge", &id, "--yes"]);
    assert_eq!(again["heldBy"], serde_json::json!([]), "{again}");
    is_gone(&scratch, "after the branch");
    assert_eq!(scratch.json(&["checkpoint", "verify"])["whole"], true);
}

#[test]
fn killed_anywhere_the_same_call_completes_it() {
    let scratch = with_secret();
    let saved = scratch.path().with_file_name("saved");
    copy(&scratch.path(), &saved);
    let args = ["purge", ".env", "--yes"];
    let points = points_of(&scratch, &args);
    let ours = |point: &String| ["purge.", "git.pack", "git.after-refs", "files."].iter().any(|name| point.starts_with(name));
    let ours: Vec<String> = points.into_iter().filter(ours).collect();
    assert!(ours.len() > 7, "{ours:?}");
    for point in ours {
        copy(&saved, &scratch.path());
        let killed = scratch.axiom_with(&args, &[("AXIOM_TEST_FAULT", &point)]);
        assert_eq!(killed.status.signal(), Some(9), "{point} was not reached");
        scratch.axiom(&["status"]);
        if scratch.has(".git/axiom-purge.json") {
            scratch.refused(&["checkpoint", "create", "no"], "OPERATION_OPEN", 6);
            scratch.json(&["purge", "--continue"]);
        } else {
            scratch.json(&args);
        }
        is_whole(&scratch, &point);
    }
}

#[test]
fn it_is_for_humans_and_waits_for_nobody() {
    let scratch = with_secret();
    let token = [("AXIOM_TOKEN", "k1"), ("AXIOM_AGENT", "ed-001")];
    assert_eq!(scratch.axiom_with(&["purge", ".env", "--yes"], &token).status.code(), Some(3));
    let lock = std::fs::File::open(scratch.path().join(".git/axiom/locks/operation")).unwrap();
    drop(lock);
    let file = std::fs::File::create(scratch.path().join(".git/axiom/locks/workspace-open")).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    scratch.refused(&["purge", ".env", "--yes"], "BUSY", 5);
    scratch.refused(&["purge", "../outside", "--yes"], "INVALID_INPUT", 2);
    scratch.refused(&["purge", "--continue"], "INVALID_INPUT", 2);
}
