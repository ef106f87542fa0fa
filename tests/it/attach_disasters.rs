//! Hooks of attached agents where something else goes on or goes wrong: nothing keeps the agent from its work, and nothing is claimed
//! that was not saved.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use git_axiom::base::files::{FileLock, LockAttempt};
use git_axiom::store::layout::StoreLayout;
use serde_json::{Value, json};

use crate::session_support::wait_until;
use crate::support::Scratch;

fn hook(scratch: &Scratch, event: &str, more: Value, vars: &[(&str, &str)]) -> Output {
    let mut payload = json!({"hook_event_name": event, "session_id": "s", "cwd": scratch.path()});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    raw(scratch, payload.to_string().as_bytes(), vars)
}

fn raw(scratch: &Scratch, payload: &[u8], vars: &[(&str, &str)]) -> Output {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    command.args(["hook", "claude"]).envs(vars.iter().copied());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // One that was killed reads nothing.
    drop(child.stdin.take().unwrap().write_all(payload));
    child.wait_with_output().unwrap()
}

fn prompt(scratch: &Scratch) {
    quiet(&hook(scratch, "UserPromptSubmit", json!({"prompt": "x"}), &[]));
}

fn tool(name: &str, path: &str) -> Value {
    json!({"tool_name": name, "tool_input": {"file_path": path}})
}

fn quiet(output: &Output) {
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
}

fn holds(scratch: &Scratch, name: &str, path: &str, text: &str) -> bool {
    scratch.try_git(&["show", &format!("refs/axiom/captures/{name}:{path}")]).stdout == text.as_bytes()
}

#[test]
fn a_prompt_during_a_rebase_a_gc_or_another_operation_is_saved_and_can_be_gone_back_to() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    scratch.git(&["switch", "-q", "-c", "side"]);
    scratch.write("a.txt", "side\n");
    scratch.git(&["commit", "-qam", "side"]);
    scratch.git(&["switch", "-q", "main"]);
    scratch.write("a.txt", "main\n");
    scratch.git(&["commit", "-qam", "main"]);
    scratch.git(&["switch", "-q", "side"]);
    assert!(!scratch.try_git(&["rebase", "main"]).status.success());
    let conflict = scratch.read("a.txt");
    prompt(&scratch);
    scratch.write("a.txt", "the agent's\n");
    scratch.write("b.txt", "the agent's\n");
    scratch.axiom(&["rollback", "checkpoint", "--prompt", "1", "--yes"]);
    assert!(scratch.read("a.txt") == conflict && !scratch.has("b.txt"));
    assert!(scratch.git(&["status"]).contains("rebase in progress"));
    scratch.git(&["rebase", "--abort"]);

    // Another operation of ours: the hook waits for it.
    let lock = StoreLayout::new(&scratch.path().join(".git")).locks().change();
    let LockAttempt::Taken(held) = FileLock::try_take(&lock).unwrap() else { panic!("it is free") };
    let waiting = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let begun = Instant::now();
            // The agent is told that the human went back.
            let told = hook(&scratch, "UserPromptSubmit", json!({"prompt": "x"}), &[]);
            assert!(told.status.success() && !told.stdout.is_empty(), "{told:?}");
            begun.elapsed()
        });
        std::thread::sleep(Duration::from_millis(300));
        drop(held);
        waiting.join().unwrap()
    });
    assert!(waiting >= Duration::from_millis(300), "{waiting:?}");

    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                scratch.git(&["gc", "-q", "--prune=now"]);
            }
        });
        for round in 0..4 {
            scratch.write("a.txt", format!("{round}\n"));
            prompt(&scratch);
            quiet(&hook(&scratch, "PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "rm x"}}), &[]));
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(scratch.checkpoints_by("prompt").len(), 6);
    scratch.axiom(&["checkpoint", "verify"]);
}

/// A real file system without space left.
#[test]
fn a_full_disk_is_told_and_the_agent_goes_on() {
    let script = r#"
        set -e
        mount -t tmpfs -o size=24m tmpfs "$1"
        cp -a "$2" "$1/r" && cd "$1/r"
        say() { printf '{"hook_event_name":"%s","session_id":"s","cwd":"%s"%s}' "$1" "$PWD" "$2" | "$axiom" hook claude; }
        axiom="$3"
        say UserPromptSubmit ',"prompt":"one"'
        echo changed > a.txt
        cat /dev/zero > filler 2>/dev/null || true
        rm='{"command":"rm -rf x"}'
        say PreToolUse ",\"tool_name\":\"Bash\",\"tool_input\":$rm" > "$1.answer" || exit 7
        say UserPromptSubmit ',"prompt":"two"' > "$1.answer2" || exit 8
        "$axiom" status > "$1.out" 2>&1 || true
        rm filler
        grep -q '"permissionDecision":"ask"' "$1.answer" || { cat "$1.out"; exit 9; }
        test ! -s "$1.answer2"
        grep -q UNPROTECTED "$1.out" || { cat "$1.out"; exit 10; }
        say PreToolUse ",\"tool_name\":\"Bash\",\"tool_input\":$rm" > "$1.answer"
        test ! -s "$1.answer"
        "$axiom" sessions | grep -q ' protected '
        "$axiom" checkpoint verify
    "#;
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    for (key, value) in [("diskWarningThreshold", "3"), ("diskCriticalThreshold", "2"), ("diskEmergencyThreshold", "1")] {
        scratch.git(&["config", &format!("axiom.system.{key}"), value]);
    }
    let disk = scratch.path().with_file_name("disk");
    std::fs::create_dir(&disk).unwrap();
    let mut command = scratch.command("unshare");
    command.args(["-Urm", "bash", "-c", script, "bash"]).arg(&disk).arg(scratch.path()).arg(env!("CARGO_BIN_EXE_git-axiom"));
    let output = command.output().expect("unshare is needed for this test");
    assert!(output.status.success(), "{:?} {output:?}", output.status);
}

#[test]
fn a_hundred_worktrees_are_saved_and_only_what_changed_costs_objects() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    for number in 0..100 {
        scratch.git(&["worktree", "add", "-q", "--detach", &format!("../w{number}")]);
    }
    prompt(&scratch);
    scratch.write("../w7/a.txt", "changed elsewhere\n");
    let objects = || scratch.git(&["rev-list", "--all", "--objects"]).lines().count();
    let before = objects();
    prompt(&scratch);
    assert!(objects() - before < 20, "{} objects for one changed file", objects() - before);
    let [_, second] = scratch.checkpoints_by("prompt").try_into().unwrap();
    let shown = scratch.json(&["checkpoint", "show", &second]);
    let held = shown["checkpoint"]["document"]["workspaces"].as_array().map(Vec::len);
    assert_eq!(held, Some(100));
    scratch.axiom(&["checkpoint", "verify", &second]);
}

#[test]
fn payloads_of_every_size_and_shape_end_quietly() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    let folder = scratch.path().display().to_string();
    let large = "x".repeat(10 * 1024 * 1024);
    let prompt =
        format!("{{\"hook_event_name\":\"UserPromptSubmit\",\"session_id\":\"s\",\"cwd\":\"{folder}\",\"prompt\":\"{large}\"}}");
    quiet(&raw(&scratch, prompt.as_bytes(), &[]));
    assert_eq!(scratch.checkpoints_by("prompt").len(), 1);
    quiet(&raw(&scratch, &prompt.as_bytes()[..prompt.len() / 2], &[]));
    let lines = prompt.replace(&large, "one\\r\\ntwo").replace(',', ",\r\n");
    quiet(&raw(&scratch, format!("\u{feff}{lines}\r\n").as_bytes(), &[]));
    // One that was not sent to its end is acted upon as far as it came.
    assert_eq!(scratch.checkpoints_by("prompt").len(), 3);
    for event in ["MessageDisplay", "", "../../x", "PreToolUse"] {
        quiet(&hook(&scratch, event, json!({"tool_name": "NoSuchTool", "tool_input": [1, {"a": null}]}), &[]));
    }
    quiet(&raw(&scratch, &[0xff; 4096], &[]));
    assert_eq!(scratch.checkpoints_by("prompt").len(), 3);
    // What was not understood is noted nowhere.
    assert!(!scratch.path().join(".git/axiom/attach/fired/x").exists());
}

/// The hook or the joiner dies at a step: what it was about to save is saved by the next one, and what was not kept is not claimed.
#[test]
fn a_crash_at_any_step_of_what_is_kept_before_an_edit_loses_nothing_that_was_kept() {
    let points = ["attach.copied", "attach.joining", "checkpoint.captured", "checkpoint.published", "attach.saved"];
    for point in points {
        let scratch = Scratch::new();
        scratch.axiom(&["init"]);
        prompt(&scratch);
        scratch.write("a.txt", "mine\n");
        let fault = format!("{point}:1");
        let died = hook(&scratch, "PreToolUse", tool("Write", "a.txt"), &[("AXIOM_TEST_FAULT", &fault)]);
        let was_kept = point != "attach.copied";
        assert_eq!(died.status.success(), was_kept, "{point}: {died:?}");
        let joiner = StoreLayout::new(&scratch.path().join(".git")).root().join("attach/joiner.lock");
        wait_until("the joiner is gone", || !git_axiom::base::files::is_locked(&joiner).unwrap());
        scratch.write("a.txt", "the agent's\n");
        let has = |text: &str| scratch.checkpoints_by("edits").iter().any(|name| holds(&scratch, name, "a.txt", text));
        // A joiner that begins only now may take this one's line too, and die with it: the next one saves it.
        wait_until("the edit is saved", || {
            quiet(&hook(&scratch, "PostToolUse", tool("Write", "a.txt"), &[]));
            has("the agent's\n")
        });
        assert_eq!(has("mine\n"), was_kept, "{point}: {:?}", scratch.checkpoints_by("edits"));
        scratch.axiom(&["checkpoint", "verify"]);
    }
}

#[test]
fn input_of_any_size_and_order_is_acted_upon_and_what_cannot_be_read_is_unprotected() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    prompt(&scratch);
    scratch.write("u.txt", "precious\n");
    // What says which event it is comes last.
    let long = "a".repeat(3_000_000);
    let payload = format!(
        r#"{{"tool_input":{{"command":"ls; cat <<EOF\n{long}\nEOF\nrm -rf x"}},"tool_name":"Bash","tool_use_id":"1","cwd":{},"session_id":"s","hook_event_name":"PreToolUse"}}"#,
        json!(scratch.path())
    );
    quiet(&raw(&scratch, payload.as_bytes(), &[]));
    let saved = scratch.checkpoints_by("before-shell");
    assert!(saved.len() == 1 && holds(&scratch, &saved[0], "u.txt", "precious\n"), "{saved:?}");
    let sessions = || scratch.axiom(&["sessions"]);
    assert!(!sessions().contains("UNPROTECTED"), "{}", sessions());
    scratch.write("u.txt", "more\n");
    quiet(&raw(&scratch, b"{\"hook_event_name\": ]", &[]));
    assert!(sessions().contains("UNPROTECTED"), "{}", sessions());
    wait_until("what there is then is saved in the background", || {
        scratch.checkpoints_by("edits").iter().any(|name| holds(&scratch, name, "u.txt", "more\n"))
    });
    prompt(&scratch);
    assert!(!sessions().contains("UNPROTECTED"), "the session of the same process: {}", sessions());
}

#[test]
fn a_git_directory_that_is_closed_is_said_though_nobody_could_write_it_down() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    let program = scratch.bound_by_permissions().get_program().to_str().unwrap().to_owned();
    let bound = || {
        let mut command = scratch.command(&program);
        if crate::common::is_root() {
            command.uid(crate::common::NOBODY).gid(crate::common::NOBODY);
        }
        command
    };
    let call = |event: &str, more: Value| {
        let mut payload = json!({"hook_event_name": event, "session_id": "s", "cwd": scratch.path()});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut command = bound();
        command.args(["hook", "claude"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        quiet(&child.wait_with_output().unwrap());
    };
    let unprotected = || {
        let output = bound().args(["status", "--json"]).output().unwrap();
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        told["attached"]["sessions"][0]["unprotected"].as_str().map(str::to_owned)
    };
    call("UserPromptSubmit", json!({"prompt": "one"}));
    call("PostToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "x"}}));
    wait_until("the joiner ends", || !is_joining(&scratch));
    assert_eq!(unprotected(), None);
    let set = |how: &str| assert!(scratch.command("chmod").args(["-R", how, ".git"]).status().unwrap().success());
    call("SessionStart", json!({"source": "resume"}));
    set("a-w");
    call("UserPromptSubmit", json!({"prompt": "two"}));
    let why = unprotected().unwrap();
    assert!(why.contains("no checkpoint can be written in") && why.contains("Permission denied"), "{why}");
    wait_until("the joiner gives up", || !is_joining(&scratch));
    set("u+w");
    call("UserPromptSubmit", json!({"prompt": "three"}));
    wait_until("the joiner ends", || !is_joining(&scratch));
    assert_eq!(unprotected(), None);
}

fn is_joining(scratch: &Scratch) -> bool {
    let place = scratch.path().join(".git/axiom/attach/joiner.lock");
    place.exists() && git_axiom::base::files::is_locked(&place).unwrap()
}
