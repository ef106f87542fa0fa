//! What an attached program waits for: its own worktree, and the ignored files that a risky command names.

use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::session_support::wait_until;
use crate::support::Scratch;

fn hook(scratch: &Scratch, event: &str, more: Value) -> Output {
    use std::io::Write;
    let mut payload = json!({"hook_event_name": event, "session_id": "s", "cwd": scratch.path()});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    command.args(["hook", "claude"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    output
}

fn prompt(scratch: &Scratch) {
    hook(scratch, "UserPromptSubmit", json!({"prompt": "x"}));
}

fn before_shell(scratch: &Scratch, command: &str) {
    hook(scratch, "PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": command}}));
}

#[test]
fn what_a_risky_command_names_is_held_though_it_is_ignored_and_comes_back() {
    let scratch = Scratch::new();
    scratch.write(".gitignore", ".env\nnode_modules/\nkeys/\n*.no\n");
    scratch.git(&["add", "."]);
    scratch.git(&["commit", "-qm", "ignore"]);
    scratch.axiom(&["init"]);
    scratch.git(&["config", "axiom.checkpoints.exclude", "*.no"]);
    for (path, text) in [(".env", "KEY=1\n"), ("keys/a", "a\n"), ("keys/deep/b", "b\n"), ("x.no", "no\n"), ("sub/c", "c\n")] {
        scratch.write(path, text);
    }
    for number in 0..1001 {
        scratch.write(&format!("node_modules/{number}"), "");
    }
    let held = |name: &str| scratch.git(&["ls-tree", "-r", "--name-only", &format!("refs/axiom/captures/{name}")]);
    prompt(&scratch);
    assert!(!held(&scratch.checkpoints_by("prompt")[0]).contains(".env"), "only what is named");
    before_shell(&scratch, "cd sub && sudo sh -c \"rm -rf ../.env ../ke* ../x.no\" && rm -rf ../node_modules");
    let name = scratch.checkpoints_by("before-shell").remove(0);
    let paths = held(&name);
    assert!([".env", "keys/a", "keys/deep/b"].iter().all(|path| paths.lines().any(|line| line == *path)), "{paths}");
    assert!(!paths.contains("x.no") && !paths.contains("node_modules"), "{paths}");
    let shown = scratch.axiom(&["checkpoint", "show", &name]);
    assert!(shown.contains("node_modules") && shown.contains("x.no"), "named as not held: {shown}");
    std::fs::remove_file(scratch.path().join(".env")).unwrap();
    std::fs::remove_dir_all(scratch.path().join("keys")).unwrap();
    scratch.axiom(&["rollback", "checkpoint", &name, "--yes"]);
    assert_eq!((scratch.read(".env"), scratch.read("keys/deep/b")), ("KEY=1\n".into(), "b\n".into()));
    // One that is about to be overwritten, where nothing else has changed.
    before_shell(&scratch, "echo > .env");
    scratch.write(".env", "\n");
    let name = scratch.checkpoints_by("before-shell").remove(0);
    scratch.axiom(&["rollback", "checkpoint", &name, "--yes"]);
    assert_eq!(scratch.read(".env"), "KEY=1\n");
}

#[test]
fn a_prompt_holds_its_own_worktree_of_now_and_the_newest_capture_of_the_others() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    let other = scratch.path().with_file_name("other");
    scratch.git(&["worktree", "add", "-q", "-b", "side", other.to_str().unwrap()]);
    prompt(&scratch);
    let captured = || std::fs::read(other.join("u.txt")).unwrap();
    std::fs::write(other.join("u.txt"), "in the other\n").unwrap();
    scratch.write("u.txt", "own\n");
    prompt(&scratch);
    let name = scratch.checkpoints_by("prompt").into_iter().max().unwrap();
    assert_eq!(scratch.git(&["show", &format!("refs/axiom/captures/{name}:u.txt")]), "own");
    // What changed in the other one is saved right after, without anything that happens.
    let held = || {
        let all = scratch.git(&["rev-list", "--all", "--objects"]);
        all.lines().any(|line| line.ends_with(" u.txt") && scratch.git(&["cat-file", "-p", &line[..40]]) == "in the other")
    };
    wait_until("the others are looked at in the background", held);
    let dry = scratch.json(&["rollback", "checkpoint", &name, "--all-worktrees", "--dry-run"]);
    let moments = dry["moments"].as_array().unwrap();
    assert!(moments.len() == 1 && moments[0]["worktree"] == other.to_str().unwrap(), "{dry}");
    let told = scratch.axiom(&["rollback", "checkpoint", &name, "--all-worktrees", "--dry-run"]);
    assert!(told.contains("last capture before the checkpoint"), "{told}");
    assert_eq!(captured(), b"in the other\n");
    scratch.axiom(&["rollback", "checkpoint", &name, "--all-worktrees", "--yes"]);
    assert!(!other.join("u.txt").exists(), "as it was at the prompt before");
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(captured(), b"in the other\n");

    // One that is new is named, and held by the next.
    let new = scratch.path().with_file_name("new");
    scratch.git(&["worktree", "add", "-q", "-b", "new", new.to_str().unwrap()]);
    prompt(&scratch);
    let name = scratch.checkpoints_by("prompt").into_iter().max().unwrap();
    let shown = scratch.axiom(&["checkpoint", "show", &name]);
    assert!(shown.contains("not captured yet"), "{shown}");
    wait_until("the new one is captured in the background", || {
        let newest =
            scratch.json(&["checkpoint", "list"])["checkpoints"].as_array().unwrap()[0]["name"].as_str().unwrap().to_owned();
        !scratch.axiom(&["checkpoint", "show", &newest]).contains("not captured yet")
    });
    // A session in a linked worktree: the main one is of an earlier moment.
    scratch.write("u.txt", "since\n");
    std::fs::write(other.join("u.txt"), "more\n").unwrap();
    hook(&scratch, "UserPromptSubmit", json!({"prompt": "x", "session_id": "t", "cwd": other}));
    let name = scratch.checkpoints_by("prompt").into_iter().max().unwrap();
    assert_eq!(scratch.git(&["show", &format!("refs/axiom/captures/{name}:u.txt")]), "own");
    scratch.axiom(&["checkpoint", "verify", &name]);
    scratch.fsck();
}

#[test]
fn a_folder_that_only_holds_repositories_says_that_nothing_is_saved_there_and_can_be_attached_for_the_user() {
    let scratch = Scratch::new();
    let folder = scratch.path().parent().unwrap().join("workspace");
    std::fs::create_dir_all(folder.join("one/.git")).unwrap();
    let axiom = |args: &[&str]| {
        let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
        command.args(args).current_dir(&folder).output().unwrap()
    };
    hook(&scratch, "UserPromptSubmit", json!({"prompt": "x", "cwd": folder}));
    let shown = axiom(&["attach", "--status"]);
    let text = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.status.success() && text.contains("NOT PROTECTED") && text.contains("one"), "{shown:?}");
    assert!(text.contains("was not saved"), "{text}");
    let answer: Value = serde_json::from_slice(&axiom(&["attach", "--status", "--json"]).stdout).unwrap();
    assert!(answer["lastPrompt"]["program"] == "claude" && answer["repositories"].as_array().unwrap().len() == 1, "{answer}");
    let attached = axiom(&["attach", "claude", "--user"]);
    assert!(attached.status.success(), "{attached:?}");
    let told = String::from_utf8_lossy(&attached.stderr).into_owned();
    assert!(told.contains("Not saved: ignored files"), "{told}");
    let detached = axiom(&["detach", "claude", "--user"]);
    assert!(detached.status.success(), "{detached:?}");
    assert_eq!(axiom(&["attach", "claude"]).status.code(), Some(1), "only the user's own file");
}
