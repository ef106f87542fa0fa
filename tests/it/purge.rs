//! `git axiom purge`: after it no object and no file of ours holds the bytes, proved by reading every one of them.

use std::process::Command;

use crate::crash_points::points_of;
use crate::skipped::skipped;
use crate::support::Scratch;

const SECRET: &str = "sk-secret-0123456789";

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
            if entry.path().extension().is_some_and(|extension| extension == "gz") {
                let unpacked = Command::new("gzip").arg("-dc").arg(entry.path()).output().unwrap();
                assert!(unpacked.status.success() && !has_it(&unpacked.stdout), "{when}: {} has it", entry.path().display());
            }
        }
    }
}

/// The secret is in captures of both worktrees, in packs and loose, in a live capture, in texts, logs, notes and the trash.
fn with_secret() -> Scratch {
    let scratch = Scratch::new();
    with_secret_in(&scratch);
    scratch
}

fn with_secret_in(scratch: &Scratch) {
    scratch.axiom(&["init"]);
    scratch.axiom(&["task", "add", "short", "--body", &format!("use {SECRET}")]);
    scratch.axiom(&["task", "add", "long", "--body", &format!("{}\n{SECRET}\n", "text ".repeat(400))]);
    scratch.open_task("open");
    scratch.write(".env", format!("API_KEY={SECRET}\nDEBUG=1\nENV=production\nEVENT=checkpointCreated\n"));
    std::fs::write(scratch.workspace("open").join(".env"), format!("API_KEY={SECRET}\n")).unwrap();
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.git(&["gc", "-q"]);
    scratch.write("a.txt", "two\n");
    scratch.write(".env", format!("API_KEY={SECRET}\nDEBUG=2\n"));
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
    let line = format!("{{\"text\":\"found {SECRET}\"}}\n");
    std::fs::write(logs.join("open.jsonl"), &line).unwrap();
    std::fs::write(logs.join("open.1.jsonl.gz"), git_axiom::base::files::packed(line.repeat(50_000).as_bytes()).unwrap())
        .unwrap();
    // What a crash left of compressing one.
    std::fs::write(logs.join(".tmp-0123456789abcdef"), &line).unwrap();
    scratch.write(".worktrees/trash/x/.env", format!("API_KEY={SECRET}\n"));
    // It has a word of the secret's file, and nothing of the secret.
    scratch.write(".worktrees/trash/x/other", "stays in production\n");
}

fn is_whole(scratch: &Scratch, when: &str) {
    is_gone(scratch, when);
    let verified = scratch.json(&["checkpoint", "verify"]);
    assert_eq!(verified["whole"], true, "{when}: {verified}");
    assert_eq!(scratch.checkpoints(), ["one", "two", "three"], "{when}");
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
    // What was remembered of the file's content is forgotten: the next capture has all that it names.
    scratch.write(".env", format!("API_KEY={SECRET}\n"));
    scratch.axiom(&["checkpoint", "create", "with-it"]);
    scratch.axiom(&["purge", ".env", "--yes"]);
    scratch.axiom(&["checkpoint", "create", "again"]);
    assert_eq!(scratch.json(&["checkpoint", "verify"])["whole"], true);
    scratch.git(&["cat-file", "-e", "refs/axiom/captures/again:.env"]);
    scratch.fsck();
}

#[test]
fn what_a_branch_has_stays_and_is_named() {
    let scratch = Scratch::new();
    scratch.write(".env", format!("API_KEY={SECRET}\n"));
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
    let saved = scratch.save_as("saved");
    let args = ["purge", ".env", "--yes"];
    let points = points_of(&scratch, &args);
    let ours = |point: &String| ["purge.", "git.pack", "git.after-refs", "files."].iter().any(|name| point.starts_with(name));
    let ours: Vec<String> = points.into_iter().filter(ours).collect();
    assert!(ours.len() > 7, "{ours:?}");
    for point in ours {
        scratch.put_back(&saved);
        scratch.killed_at(&args, &point);
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
    let lock = std::fs::File::open(scratch.path().join(".git/axiom/locks/change")).unwrap();
    drop(lock);
    let file = std::fs::File::create(scratch.path().join(".git/axiom/locks/workspace-open")).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    scratch.refused(&["purge", ".env", "--yes"], "BUSY", 5);
    scratch.refused(&["purge", "../outside", "--yes"], "INVALID_INPUT", 2);
    scratch.refused(&["purge", "--continue"], "INVALID_INPUT", 2);
}

/// Nobody can say that it is gone from there.
#[test]
fn a_log_that_cannot_be_read_is_named() {
    let scratch = with_secret();
    let log = scratch.path().join(".git/axiom/agents/ed-001/logs/open.2.jsonl.gz");
    let packed = git_axiom::base::files::packed(SECRET.as_bytes()).unwrap();
    std::fs::write(&log, &packed[..packed.len() - 3]).unwrap();
    for args in [&["purge", ".env", "--dry-run"][..], &["purge", ".env", "--yes"]] {
        let held = scratch.json(args)["heldBy"].to_string();
        assert!(held.contains("open.2.jsonl.gz") && held.contains("delete it if it may have it"), "{args:?}: {held}");
    }
    std::fs::remove_file(&log).unwrap();
    is_whole(&scratch, "after it");
}

/// A repository of another format; `None` where this git has none of that kind.
fn of_format(option: &str) -> Option<Scratch> {
    let scratch = Scratch::empty();
    std::fs::remove_dir_all(scratch.path().join(".git")).unwrap();
    if !scratch.try_git(&["init", "-q", "-b", "main", option]).status.success() {
        skipped(&format!("this git has no 'git init {option}'"));
        return None;
    }
    scratch.write(".git/info/exclude", "/.worktrees/\n");
    for (path, text) in [("a.txt", "a\n"), ("sub/b.txt", "b\n"), ("staged.txt", "s\n")] {
        scratch.write(path, text);
    }
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "first"]);
    Some(scratch)
}

#[test]
fn with_ids_of_sha256_and_with_refs_in_a_reftable_it_is_gone_too() {
    for option in ["--object-format=sha256", "--ref-format=reftable"] {
        let Some(scratch) = of_format(option) else { continue };
        with_secret_in(&scratch);
        scratch.json(&["purge", ".env", "--yes"]);
        is_whole(&scratch, option);
        let commit = scratch.git(&["hash-object", "-w", "a.txt"]);
        let again = scratch.json(&["purge", &commit, "--dry-run"]);
        assert_eq!(again["heldBy"], serde_json::json!([]), "{option}");
    }
}

/// What was not fetched stays so, and nobody has to be reached.
#[test]
fn in_a_partial_clone_nothing_is_fetched_and_what_was_promised_stays_so() {
    let scratch = Scratch::new();
    for number in 0..4 {
        scratch.write("a.txt", format!("version {number}\n"));
        scratch.git(&["commit", "-qam", "next"]);
    }
    scratch.git(&["config", "uploadpack.allowFilter", "true"]);
    let origin = scratch.path().with_file_name("origin");
    std::fs::rename(scratch.path(), &origin).unwrap();
    std::fs::create_dir(scratch.path()).unwrap();
    let url = format!("file://{}", origin.display());
    scratch.git(&["clone", "-q", "--filter=blob:none", &url, "."]);
    scratch.write(".git/info/exclude", "/.worktrees/\n");
    let promised = || {
        let listed = scratch.git(&["rev-list", "--objects", "--missing=print", "main"]);
        listed.lines().filter(|line| line.starts_with('?')).count()
    };
    let before = promised();
    assert!(before > 2, "{before}");
    std::fs::rename(&origin, origin.with_file_name("gone")).unwrap();
    with_secret_in(&scratch);
    let packs = || {
        let entries = std::fs::read_dir(scratch.path().join(".git/objects/pack")).unwrap();
        entries.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "promisor")).count()
    };
    let promisors = packs();
    assert!(promisors > 0);
    let answer = scratch.json(&["purge", ".env", "--yes"]);
    assert!(!answer["contents"].as_array().unwrap().is_empty(), "{answer}");
    is_gone(&scratch, "in a partial clone");
    assert_eq!((promised(), packs() > 0), (before, true));
    assert_eq!(scratch.json(&["checkpoint", "verify"])["whole"], true);
    assert_eq!(scratch.git(&["log", "--format=%s", "main"]).lines().count(), 5);
}

/// Holds `SECRET` in conflict stages of an index, and nowhere else.
fn in_stages(scratch: &Scratch) -> String {
    scratch.write("conflict.txt", format!("ours\n{SECRET}\n"));
    let id = scratch.git(&["hash-object", "-w", "conflict.txt"]);
    let stages: String = (1..=3).map(|stage| format!("100644 {id} {stage}\tconflict.txt\n")).collect();
    std::fs::write(scratch.path().join("stages"), stages).unwrap();
    let run = scratch.command("sh").args(["-ec", "git update-index --index-info < stages; rm stages conflict.txt"]).output();
    assert!(run.unwrap().status.success());
    id
}

#[test]
fn conflict_stages_hold_it_as_long_as_they_are_there_and_captures_lose_theirs() {
    let scratch = Scratch::new();
    let id = in_stages(&scratch);
    scratch.axiom(&["checkpoint", "create", "one"]);
    let first = scratch.json(&["purge", &id, "--yes"]);
    assert!(first["heldBy"].to_string().contains("an index"), "{first}");
    assert_eq!(first["madeAnew"], serde_json::json!(["one"]), "whoever else holds it: {first}");
    scratch.git(&["cat-file", "-e", &id]);
    scratch.git(&["update-index", "--force-remove", "conflict.txt"]);
    let held = scratch.json(&["purge", &id, "--yes"])["heldBy"].to_string();
    assert!(held.contains("--resolve-undo"), "git keeps what was resolved: {held}");
    scratch.git(&["update-index", "--clear-resolve-undo"]);
    let answer = scratch.json(&["purge", &id, "--yes"]);
    assert_eq!((&answer["heldBy"], &answer["contents"]), (&serde_json::json!([]), &serde_json::json!([id])));
    is_gone(&scratch, "after the stages");
    assert_eq!(scratch.json(&["checkpoint", "verify"])["whole"], true);
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert_eq!(scratch.git(&["ls-files", "-u"]), "", "stages without contents do not come back");
}

#[test]
fn orig_head_fetch_head_and_reflogs_hold_it_and_are_named() {
    let scratch = Scratch::new();
    scratch.write("leak.txt", format!("{SECRET}\n"));
    scratch.axiom(&["checkpoint", "create", "one"]);
    let id = scratch.git(&["hash-object", "leak.txt"]);
    scratch.git(&["add", "leak.txt"]);
    scratch.git(&["commit", "-qm", "leak"]);
    let leak = scratch.git(&["rev-parse", "HEAD"]);
    scratch.git(&["reset", "-q", "--hard", "HEAD~1"]);
    scratch.write(".git/FETCH_HEAD", format!("{leak}\t\tbranch 'x' of elsewhere\n"));
    let held = || scratch.json(&["purge", &id, "--yes"])["heldBy"].to_string();
    for (holder, gives_up) in [
        ("a reflog", &["reflog", "expire", "--expire=now", "--all"][..]),
        ("ORIG_HEAD of", &["update-ref", "-d", "ORIG_HEAD"]),
        ("FETCH_HEAD of", &[]),
    ] {
        let told = held();
        assert!(told.contains(holder), "{holder}: {told}");
        scratch.git(&["cat-file", "-e", &format!("{leak}:leak.txt")]);
        match gives_up {
            [] => std::fs::remove_file(scratch.path().join(".git/FETCH_HEAD")).unwrap(),
            args => drop(scratch.git(args)),
        }
    }
    assert_eq!(held(), "[]");
    is_gone(&scratch, "after all of them");
    assert_eq!(scratch.json(&["checkpoint", "verify"])["whole"], true);
}

#[test]
fn reflogs_of_our_refs_are_ours_and_keep_nothing() {
    for format in ["--ref-format=files", "--ref-format=reftable"] {
        let Some(scratch) = of_format(format) else { continue };
        scratch.git(&["config", "core.logAllRefUpdates", "always"]);
        scratch.axiom(&["checkpoint", "create", "clean"]);
        with_secret_in(&scratch);
        // A live capture that had it and was replaced: only its reflog knows.
        scratch.write(".env", format!("API_KEY={SECRET}\nDEBUG=3\n"));
        scratch.axiom(&["checkpoint", "create", "replaced"]);
        scratch.git(&["update-ref", "refs/axiom/live/other", "refs/axiom/captures/replaced"]);
        scratch.git(&["update-ref", "refs/axiom/live/other", "refs/axiom/captures/clean"]);
        scratch.axiom(&["checkpoint", "delete", "replaced", "--protected", "--yes"]);
        let answer = scratch.json(&["purge", ".env", "--yes"]);
        assert!(!answer["heldBy"].to_string().contains("reflog"), "{format}: {answer}");
        is_gone(&scratch, format);
        assert_eq!(scratch.json(&["checkpoint", "verify"])["whole"], true);
        let log = scratch.git(&["log", "-g", "--format=%H", "HEAD", "--"]);
        assert!(!log.is_empty(), "the user's own stay");
    }
}

/// A commit cannot be made anew: whoever holds it alone goes.
#[test]
fn a_checkpoint_that_alone_holds_a_commit_with_it_goes_as_a_whole() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "before"]);
    scratch.git(&["switch", "-qc", "leaked"]);
    scratch.write("leak.txt", format!("{SECRET}\n"));
    scratch.git(&["add", "leak.txt"]);
    scratch.git(&["commit", "-qm", "leak"]);
    scratch.axiom(&["checkpoint", "create", "on-it"]);
    scratch.git(&["switch", "-q", "main"]);
    scratch.axiom(&["checkpoint", "create", "beside-it"]);
    scratch.git(&["branch", "-qD", "leaked"]);
    scratch.git(&["reflog", "expire", "--expire=now", "--all"]);
    scratch.axiom(&["checkpoint", "create", "after"]);
    let would = scratch.json(&["purge", "leak.txt", "--dry-run"]);
    let answer = scratch.json(&["purge", "leak.txt", "--yes"]);
    assert_eq!((&answer["gone"], &would["gone"]), (&serde_json::json!(["beside-it", "on-it"]), &answer["gone"]));
    is_gone(&scratch, "after it");
    assert_eq!(scratch.checkpoints(), ["before", "after"]);
    assert_eq!(scratch.json(&["checkpoint", "verify"])["whole"], true);
    assert_eq!(scratch.git(&["for-each-ref", "refs/tags/axiom", "--format=%(refname:short)"]), "axiom/after\naxiom/before");
    scratch.fsck();
}
