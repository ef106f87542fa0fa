//! What the list of prompts says of those that were taken back.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::Scratch;

fn prompt(scratch: &Scratch, text: &str) {
    let payload = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": scratch.path(), "prompt": text});
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    let mut child = command.args(["hook", "claude"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

fn marks(scratch: &Scratch) -> Vec<(u64, bool)> {
    let answer = scratch.json(&["prompts"]);
    let prompts = answer["prompts"].as_array().unwrap();
    prompts.iter().map(|one| (one["number"].as_u64().unwrap(), one["takenBackBy"] != Value::Null)).collect()
}

#[test]
fn a_prompt_is_taken_back_until_its_rollback_is_undone() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    for text in ["one", "two", "three"] {
        prompt(&scratch, text);
        scratch.write(&format!("{text}.txt"), text);
    }
    assert_eq!(marks(&scratch), [(3, false), (2, false), (1, false)]);
    scratch.axiom(&["restore", "--prompt", "2", "three.txt", "--yes"]);
    assert_eq!(marks(&scratch), [(3, false), (2, false), (1, false)], "one file is not all that they did");
    scratch.axiom(&["rollback", "--prompt", "2", "--yes"]);
    assert_eq!(marks(&scratch), [(3, true), (2, true), (1, false)]);
    let shown = scratch.axiom(&["prompts"]);
    assert_eq!(shown.matches("taken back").count(), 2, "{shown}");
    prompt(&scratch, "four");
    assert_eq!(marks(&scratch)[0], (4, false), "it came after the rollback");
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(marks(&scratch), [(4, false), (3, false), (2, false), (1, false)]);
}
