//! Short ways for what is done most: `rollback NAME`, `--prompt`, `--at`, `--session`, `restore FILE`, `prompts N`, `diff N`, `log -3`. What
//! could mean two things is refused, and nothing is changed.

use std::io::Write;
use std::process::Stdio;

use git_axiom::model::base::ids::TaskId;
use git_axiom::model::state::event::Event;
use git_axiom::model::work::gates::gate::{Gate, GateKind};
use serde_json::json;

use crate::support::{Scratch, contents};

/// Sends a prompt, as Claude Code does.
fn prompt(scratch: &Scratch, text: &str) {
    let payload = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": scratch.path(), "prompt": text});
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    command.args(["hook", "claude"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
}

/// What is said to a call that fails.
fn said(scratch: &Scratch, args: &[&str]) -> String {
    let output = scratch.axiom_with(args, &[]);
    assert!(!output.status.success(), "{args:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Refused with this code and with each of these words, and nothing changes.
fn refused(scratch: &Scratch, args: &[&str], code: &str, words: &[&str]) {
    let before = (contents(&scratch.path()), scratch.git(&["for-each-ref"]), scratch.users_view());
    let told = said(scratch, args);
    assert!(told.contains(&format!("error[{code}]")), "{args:?}: {told}");
    for word in words {
        assert!(told.contains(word), "{args:?}: '{word}' is missing: {told}");
    }
    assert_eq!((contents(&scratch.path()), scratch.git(&["for-each-ref"]), scratch.users_view()), before, "{args:?}");
}

#[test]
fn one_goes_back_by_the_exact_name_and_never_by_half_of_one() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "before-lunch"]);
    scratch.write("a.txt", "changed\n");
    let capture = scratch.json(&["checkpoint", "show", "before-lunch"])["checkpoint"]["capture"].clone();
    let capture = capture.as_str().unwrap_or_default().to_owned();
    scratch.add_task("before");
    for (name, words) in [
        ("before-lunc", &["did you mean 'git axiom rollback before-lunch'?"][..]),
        ("before-", &["did you mean 'git axiom rollback before-lunch'?"]),
        ("Before-Lunch", &["did you mean 'git axiom rollback before-lunch'?"]),
        ("beforelunch", &["did you mean 'git axiom rollback before-lunch'?"]),
        ("before", &["is a task", "git axiom rollback task before"]),
        ("HEAD~1", &["not to a commit"]),
        ("yesterday", &["git axiom rollback --at yesterday"]),
        ("nonsense", &["git axiom checkpoint list"]),
    ] {
        refused(&scratch, &["rollback", name, "-y"], "UNKNOWN_CHECKPOINT", words);
    }
    let undoable = scratch.json(&["log", "-1"])["operations"][0]["id"].as_str().unwrap().to_owned();
    refused(&scratch, &["rollback", &undoable, "-y"], "UNKNOWN_CHECKPOINT", &[&format!("git axiom undo {undoable}")]);
    if let Some(half) = capture.get(..20) {
        refused(&scratch, &["rollback", half, "-y"], "UNKNOWN_CHECKPOINT", &[]);
    }
    refused(&scratch, &["rollback", "--dry-run"], "USAGE", &["where to go back to"]);
    refused(&scratch, &["rollback", "-y"], "USAGE", &["where to go back to"]);
    refused(&scratch, &["rollback", "before-lunch"], "NEEDS_CONFIRMATION", &[]);
    for args in [&["rollback", "before-lunch", "-y"][..], &["rollback", &capture, "-y"], &["rollback", "--at", "now", "-y"]] {
        scratch.write("a.txt", "changed\n");
        if args.contains(&"--at") {
            // The newest by now is what the rollback before saved.
            scratch.axiom(&["checkpoint", "create", "newest"]);
            scratch.write("a.txt", "again\n");
            scratch.axiom(args);
            assert_eq!(scratch.read("a.txt"), "changed\n", "{args:?}");
            continue;
        }
        scratch.axiom(args);
        assert_eq!(scratch.read("a.txt"), "a\n", "{args:?}");
        assert_eq!(scratch.json(&[&args[..2], &["--dry-run"]].concat())["checkpoint"]["name"], "before-lunch");
    }
    scratch.fsck();
}

#[test]
fn a_checkpoint_is_not_called_as_a_verb_is_and_an_old_one_needs_the_long_way() {
    let scratch = Scratch::new();
    for name in ["task", "session", "checkpoint", "help", "Session"] {
        refused(&scratch, &["checkpoint", "create", name], "INVALID_ID", &["means something else"]);
    }
    refused(&scratch, &["rollback", "--session", "-y"], "UNKNOWN_CHECKPOINT", &["no session has made a checkpoint"]);
    scratch.axiom(&["checkpoint", "create", "tasks"]);
    scratch.write("a.txt", "changed\n");
    scratch.axiom(&["rollback", "tasks", "-y"]);
    assert_eq!(scratch.read("a.txt"), "a\n");
    for args in [
        &["rollback", "tasks", "--continue"][..],
        &["rollback", "--abort", "--prompt", "1"],
        &["rollback", "--continue", "--dry-run"],
    ] {
        scratch.refused(args, "USAGE", 2);
    }
    assert_eq!(scratch.axiom(&["rollback", "--continue", "--yes"]), "No operation is open.\n");
}

#[test]
fn a_prompt_is_named_by_its_number() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    prompt(&scratch, "make it new");
    scratch.write("a.txt", "by the agent\n");
    prompt(&scratch, "and newer");
    scratch.write("a.txt", "newer\n");
    let one = scratch.json(&["prompts", "1"]);
    assert_eq!((&one["prompt"]["number"], &one["changed"][0]["path"]), (&1.into(), &"a.txt".into()), "{one}");
    let text = scratch.axiom(&["prompts", "1"]);
    for word in ["make it new", "a.txt", "git axiom diff 1", "git axiom rollback --prompt 1", "git axiom restore --prompt 1 FILE"]
    {
        assert!(text.contains(word), "'{word}': {text}");
    }
    assert_eq!(scratch.axiom(&["diff", "1"]), scratch.axiom(&["diff", "--prompt", "1"]));
    assert_eq!(scratch.json(&["diff", "2"])["prompt"], 2);
    assert_eq!(scratch.json(&["prompts", "-1"])["prompts"].as_array().unwrap().len(), 1);
    refused(&scratch, &["rollback", "1", "-y"], "UNKNOWN_CHECKPOINT", &["git axiom rollback --prompt 1"]);
    refused(&scratch, &["prompts", "9"], "UNKNOWN_CHECKPOINT", &["there is no prompt 9", "git axiom prompts"]);
    refused(&scratch, &["prompts", "show", "1"], "USAGE", &["did you mean 'git axiom prompts 1'?"]);
    // A task of that id: then a number alone could mean two things.
    scratch.axiom(&["task", "add", "x", "--id", "2"]);
    refused(&scratch, &["diff", "2"], "AMBIGUOUS_NAME", &["git axiom diff --prompt 2"]);
    scratch.axiom(&["restore", "--prompt", "2", "a.txt", "-y"]);
    assert_eq!(scratch.read("a.txt"), "by the agent\n");
    scratch.axiom(&["rollback", "--prompt", "1", "-y"]);
    assert_eq!(scratch.read("a.txt"), "a\n");
    scratch.fsck();
}

#[test]
fn files_come_back_from_the_newest_complete_checkpoint_that_has_them_otherwise() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "first"]);
    scratch.write("a.txt", "second\n");
    scratch.axiom(&["checkpoint", "create", "second"]);
    scratch.write("sub/b.txt", "third\n");
    // One that looked at this path alone is not complete.
    scratch.axiom(&["checkpoint", "create", "partial", "--only", "sub/b.txt"]);
    let plan = scratch.axiom_with(&["restore", "a.txt", "--dry-run"], &[]);
    let told = String::from_utf8_lossy(&plan.stderr).into_owned();
    assert!(told.contains("from first of "), "named with its time: {told}");
    assert_eq!(scratch.json(&["restore", "sub/b.txt", "--dry-run"])["checkpoint"]["name"], "second");
    assert_eq!(scratch.json(&["restore", "a.txt", "sub", "--dry-run"])["checkpoint"]["name"], "second", "one of them differs");
    scratch.remove("a.txt");
    scratch.axiom(&["restore", "a.txt", "-y"]);
    assert_eq!((scratch.read("a.txt"), scratch.read("sub/b.txt")), ("second\n".into(), "third\n".into()));
    scratch.axiom(&["undo", "-y"]);
    assert!(!scratch.has("a.txt"));
    // A new file is in no checkpoint: it is not taken away.
    scratch.write("new.txt", "new\n");
    refused(&scratch, &["restore", "new.txt", "-y"], "INVALID_INPUT", &["no complete checkpoint has 'new.txt'"]);
    refused(&scratch, &["restore", "new.txt", "a.txt", "-y"], "INVALID_INPUT", &["'new.txt'"]);
    refused(&scratch, &["restore", "frist", "sub", "-y"], "INVALID_INPUT", &["did you mean 'first'?"]);
    refused(&scratch, &["restore", "a.txt"], "NEEDS_CONFIRMATION", &[]);
    scratch.axiom(&["restore", "firs", "-y", "--", "a.txt"]);
    assert_eq!(scratch.read("a.txt"), "a\n");
    assert!(scratch.axiom(&["restore", "staged.txt", "-y"]).contains("Nothing was changed"));
    scratch.fsck();
}

#[test]
fn a_name_that_is_a_checkpoint_and_a_file_is_refused() {
    let scratch = Scratch::new();
    scratch.write("both", "1\n");
    scratch.write("gone", "1\n");
    scratch.axiom(&["checkpoint", "create", "both"]);
    scratch.axiom(&["checkpoint", "create", "gone"]);
    scratch.axiom(&["checkpoint", "create", "good"]);
    scratch.write("both", "2\n");
    scratch.write("a.txt", "2\n");
    scratch.remove("gone");
    for name in ["both", "gone"] {
        refused(&scratch, &["restore", name, "-y"], "AMBIGUOUS_NAME", &[&format!("git axiom restore -- {name}")]);
        refused(&scratch, &["restore", name, "a.txt", "-y"], "AMBIGUOUS_NAME", &[&format!("git axiom restore {name} -- a.txt")]);
    }
    refused(&scratch, &["restore", "good", "-y"], "USAGE", &["no path is given", "git axiom rollback good"]);
    refused(&scratch, &["restore", "-y"], "USAGE", &["no path is given"]);
    refused(&scratch, &["restore", "--at", "now", "good", "a.txt", "-y"], "USAGE", &["'good' is a checkpoint"]);
    refused(&scratch, &["restore", "goo", "a.txt", "-y"], "INVALID_INPUT", &["did you mean 'good'?"]);
    scratch.axiom(&["restore", "good", "a.txt", "-y"]);
    assert_eq!(scratch.read("a.txt"), "a\n");
    scratch.axiom(&["restore", "-y", "--", "both"]);
    assert_eq!((scratch.read("both"), scratch.has("gone")), ("1\n".into(), false));
    scratch.axiom(&["restore", "both", "-y", "--", "gone"]);
    assert!(scratch.has("gone"));
}

#[test]
fn a_task_with_two_gates_is_refused_and_never_taken_for_anothers_gate() {
    let scratch = Scratch::new();
    for task in ["t", "recovery", "other"] {
        scratch.add_task(task);
    }
    let gate = |kind, task: &str| {
        let task = TaskId::new(task).unwrap();
        let about = Gate::of_task(kind, &task, "it waits".into(), jiff::Timestamp::UNIX_EPOCH).unwrap();
        Event::GateOpened { gate: Box::new(about) }
    };
    scratch.append(vec![gate(GateKind::Claim, "t"), gate(GateKind::Recovery, "t")]);
    refused(
        &scratch,
        &["gate", "approve", "t"],
        "AMBIGUOUS_NAME",
        &["git axiom gate show claim-t", "git axiom gate show recovery-t"],
    );
    // 'recovery' is the beginning of another task's gate.
    refused(&scratch, &["gate", "approve", "recovery"], "UNKNOWN_GATE", &["task 'recovery' waits at no gate of its own"]);
    refused(&scratch, &["gate", "approve", "all"], "UNKNOWN_GATE", &["git axiom gate approve --all"]);
    scratch.append(vec![gate(GateKind::Claim, "other")]);
    assert_eq!(scratch.json(&["gate", "approve", "other"])["gateIds"], json!(["claim-other"]));
}

#[test]
fn a_verb_alone_does_its_commonest_thing() {
    let scratch = Scratch::new();
    scratch.axiom(&["task", "add", "x"]);
    scratch.axiom(&["checkpoint", "create", "one"]);
    for (alone, whole) in [
        (&["task"][..], &["task", "list"][..]),
        (&["checkpoint"], &["checkpoint", "list"]),
        (&["checkpoints"], &["checkpoint", "list"]),
        (&["gate"], &["gate", "list"]),
        (&["config"], &["config", "show"]),
        (&["hooks"], &["hooks", "list"]),
    ] {
        assert_eq!(scratch.axiom(alone), scratch.axiom(whole), "{alone:?}");
        assert_eq!(scratch.json(alone), scratch.json(whole), "{alone:?}");
    }
    assert_eq!(scratch.axiom(&["log", "-1"]), scratch.axiom(&["log", "-n", "1"]));
    assert_eq!(scratch.axiom(&["log", "-2"]).lines().count(), 3);
    for verb in ["open", "debug"] {
        scratch.refused(&[verb, "task-001"], "INVALID_TRANSITION", 1);
    }
    for args in [&["stop", "--now", "nobody"][..], &["kill", "nobody"]] {
        scratch.refused(args, "UNKNOWN_AGENT", 2);
    }
    assert_eq!(scratch.axiom(&["stop", "--all", "--now"]), "No agent was running.\n");
}
