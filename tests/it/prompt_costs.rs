//! What a prompt costs where a repository is small: counted by the system's calls, never by time.

use std::io::Write;
use std::process::Stdio;

use crate::support::Scratch;
use crate::traced_calls::{is_sync, own_calls};

/// How many tracked files there are.
const FILES: usize = 200;

/// The calls of one prompt; `None` where there is no strace. Without what it leaves to do in the background, which is a process of
/// its own.
fn calls(scratch: &Scratch) -> Option<Vec<String>> {
    let trace = scratch.path().with_file_name("trace");
    let payload =
        serde_json::json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": scratch.path(), "prompt": "x"});
    let mut command = scratch.command("strace");
    // With it, only git knows where the repository is.
    command.env_remove("GIT_CEILING_DIRECTORIES");
    command.args(["-f", "-o"]).arg(&trace).args([env!("CARGO_BIN_EXE_git-axiom"), "hook", "claude"]);
    let Ok(mut child) = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
        crate::skipped::skipped("there is no strace");
        return None;
    };
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let text = std::fs::read_to_string(&trace).unwrap();
    Some(own_calls(&text).into_iter().map(str::to_owned).collect())
}

#[test]
fn a_prompt_in_a_small_repository_syncs_four_times_and_starts_no_git() {
    let scratch = Scratch::new();
    for number in 0..FILES {
        scratch.write(&format!("d{}/f{number}", number % 8), "x\n");
    }
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-qm", "many"]);
    scratch.axiom(&["init"]);
    let (mut syncs, mut all) = (Vec::new(), Vec::new());
    for round in 0..5 {
        if round % 2 == 1 {
            (0..3).for_each(|number| scratch.write(&format!("d1/f{}", 8 * number + 1), format!("changed {round}\n")));
        }
        let Some(calls) = calls(&scratch) else { return };
        syncs.push(calls.iter().filter(|call| is_sync(call)).count());
        all.push(calls.len());
        let started: Vec<&String> = calls.iter().skip(1).filter(|line| line.contains(" execve(")).collect();
        assert!(started.is_empty(), "{started:?}");
    }
    // The first one prepares; now and then one writes a snapshot of the state, in debug builds often.
    syncs.sort_unstable();
    assert!(syncs[..3].iter().all(|count| *count <= 4), "{syncs:?}");
    all.sort_unstable();
    assert!(all[2] <= 1_500, "{all:?}");
}
