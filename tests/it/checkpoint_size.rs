//! What checkpoints take on disk: whole files of the repository's git folder, before and after.

use std::fmt::Write as _;
use std::path::Path;

use crate::common::TestEnv;

const KIB: u64 = 1024;

/// Bytes in all files below a folder, but for the snapshot of the state, which is replaced, not added to, and the few older ones
/// that reading the log backwards begins at.
fn size(folder: &Path) -> u64 {
    let files = walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap);
    let files = files.filter(|entry| !entry.file_name().to_str().is_some_and(is_snapshot)).map(|entry| entry.metadata().unwrap());
    files.filter(std::fs::Metadata::is_file).map(|meta| meta.len()).sum()
}

fn is_snapshot(name: &str) -> bool {
    name == "snapshot.json" || name.starts_with("anchor-")
}

/// Bytes that look like nothing that was there before.
fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[0]
    };
    (0..bytes).map(|_| next()).collect()
}

/// As [`noise`], in letters: two bits of each byte are lost, as in any text.
fn text(seed: u64, bytes: usize) -> String {
    noise(seed, bytes).into_iter().map(|byte| char::from(b'0' + byte % 64)).map(|c| if c == '\\' { 'x' } else { c }).collect()
}

/// What one more checkpoint adds.
fn added(env: &TestEnv, name: &str) -> u64 {
    let folder = env.repo().join(".git");
    let before = size(&folder);
    env.ok(&["checkpoint", "create", name]);
    size(&folder) - before
}

#[test]
fn with_a_thousand_tasks_of_4_kib_a_checkpoint_stays_small() {
    let env = TestEnv::new();
    let mut lines = String::new();
    for task in 0..1000 {
        let body = text(task, 4096);
        writeln!(lines, "{}", serde_json::json!({ "id": format!("task-{task}"), "title": format!("Task {task}"), "body": body }))
            .unwrap();
    }
    env.write("tasks.jsonl", &lines);
    env.ok(&["task", "import", "tasks.jsonl"]);
    std::fs::remove_file(env.repo().join("tasks.jsonl")).unwrap();
    for number in 0..4 {
        // What happened in between: tasks that changed, a file, a commit.
        env.write("README", format!("{number}\n"));
        env.git(&["commit", "-q", "-a", "-m", &number.to_string()]);
        env.ok(&["task", "edit", &format!("task-{number}"), "--title", "another"]);
        let bytes = added(&env, &format!("c{number}"));
        println!("checkpoint {number} adds {} KiB", bytes.div_ceil(KIB));
        assert!(bytes <= 200 * KIB, "checkpoint {number} adds {bytes} bytes");
    }
    env.ok(&["checkpoint", "compact"]);
    let folder = env.repo().join(".git");
    let before = size(&folder);
    for number in 4..8 {
        env.ok(&["task", "edit", &format!("task-{number}"), "--title", "another"]);
        env.ok(&["checkpoint", "create", &format!("c{number}")]);
    }
    env.ok(&["checkpoint", "compact"]);
    let each = size(&folder).saturating_sub(before) / 4;
    println!("after compact each adds {} KiB", each.div_ceil(KIB));
    assert!(each <= 16 * KIB, "after compact each adds {each} bytes");
}

#[test]
fn a_rollback_adds_to_the_log_what_it_changes_and_not_every_task() {
    let env = TestEnv::new();
    let line = |task: usize| format!("{}\n", serde_json::json!({ "id": format!("task-{task}"), "title": text(task as u64, 60) }));
    env.write("tasks.jsonl", (0..300).map(line).collect::<String>());
    env.ok(&["task", "import", "tasks.jsonl"]);
    std::fs::remove_file(env.repo().join("tasks.jsonl")).unwrap();
    env.ok(&["task", "archive", "task-7"]);
    env.ok(&["checkpoint", "create", "c"]);
    let log = env.repo().join(".git/axiom/state/events.jsonl");
    for round in 0..3 {
        env.ok(&["task", "edit", "task-1", "--title", &format!("another {round}")]);
        env.ok(&["task", "add", &format!("new {round}"), "--id", &format!("new-{round}")]);
        let before = std::fs::metadata(&log).unwrap().len();
        env.ok(&["rollback", "checkpoint", "c", "--yes"]);
        let bytes = std::fs::metadata(&log).unwrap().len() - before;
        assert!(bytes <= 8 * KIB, "rollback {round} adds {bytes} bytes to the log");
        let title = |id: &str| env.json(&["task", "show", id])["title"].clone();
        assert_eq!(title("task-1"), text(1, 60));
        assert_eq!(env.json(&["task", "show", &format!("new-{round}")])["status"], "archived");
        env.ok(&["undo", "--yes"]);
        assert_eq!(title("task-1"), format!("another {round}"));
        assert_eq!(env.json(&["task", "show", &format!("new-{round}")])["status"], "pending");
        assert_eq!(env.json(&["task", "show", "task-7"])["status"], "archived");
        env.ok(&["redo", "--yes"]);
        assert_eq!(title("task-1"), text(1, 60));
    }
}

#[test]
fn compact_packs_refs_too_and_every_checkpoint_stays() {
    let env = TestEnv::new();
    for number in 0..6 {
        env.write("f", format!("{number}\n"));
        env.ok(&["checkpoint", "create", &format!("c{number}")]);
    }
    let loose = || {
        let files = walkdir::WalkDir::new(env.repo().join(".git/refs")).into_iter().map(Result::unwrap);
        files.filter(|entry| entry.file_type().is_file()).count()
    };
    let refs = || env.git(&["for-each-ref"]);
    // What cuts the history of the notes moves their ref.
    env.ok(&["checkpoint", "compact"]);
    env.ok(&["checkpoint", "create", "c6"]);
    let before = refs();
    assert!(loose() >= 2 && before.lines().count() >= 15, "{before}");
    let notes = |refs: &str| refs.lines().filter(|line| !line.contains("notes/axiom")).map(str::to_owned).collect::<Vec<_>>();
    env.ok(&["checkpoint", "compact"]);
    assert_eq!(loose(), 0);
    assert_eq!(notes(&refs()), notes(&before));
    assert_eq!(env.json(&["checkpoint", "verify"])["checkpoints"].as_array().unwrap().len(), 7);
    env.ok(&["rollback", "checkpoint", "c2", "--yes"]);
    assert_eq!(env.read("f"), "2\n");
    env.ok(&["checkpoint", "delete", "c1", "--protected", "--yes"]);
    assert!(!refs().contains("captures/c1"));
}

#[test]
fn ten_changed_files_add_little_more_than_themselves() {
    let env = TestEnv::new();
    for file in 0..2000 {
        env.write(&format!("d{}/e{}/f{file}", file % 40, file % 200), text(file, 500));
    }
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "many"]);
    env.ok(&["checkpoint", "create", "clean"]);
    for file in 0..10 {
        // That cannot be compressed: its compressed size is its size.
        env.write(&format!("d{}/e{}/f{file}", file % 40, file % 200), noise(9000 + file, 20_000));
    }
    let bytes = added(&env, "dirty");
    println!("ten files of 20,000 bytes add {} KiB", bytes.div_ceil(KIB));
    assert!(bytes <= 2 * 10 * 20_000 + 64 * KIB, "{bytes} bytes");
}

#[test]
fn what_is_lost_and_only_a_reflog_reaches_keeps_nothing_from_ending_well() {
    let env = TestEnv::new();
    env.write("gone.txt", "gone");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "taken back"]);
    let tree = env.git(&["rev-parse", "HEAD^{tree}"]);
    env.git(&["reset", "-q", "--hard", "HEAD~1"]);
    std::fs::remove_file(env.repo().join(format!(".git/objects/{}/{}", &tree[..2], &tree[2..]))).unwrap();
    env.ok(&["checkpoint", "create", "one"]);
    let done = env.json(&["checkpoint", "compact"]);
    assert!(done["notPacked"].as_str().is_some_and(|why| why.contains(&tree)), "{done}");
    env.ok(&["checkpoint", "verify", "one"]);
}
