//! What is acknowledged is on disk: by the order in which the program passes its own named points, and by a trace of its
//! system calls.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, clippy::disallowed_methods)]

mod common;

use std::process::Command;

use common::TestEnv;

/// The commands whose success is a promise, each on a repository that the earlier ones have prepared.
const PROMISES: &[&[&str]] = &[
    &["task", "add", "One", "--id", "one", "--body", "echo one > one.txt"],
    &["task", "edit", "one", "--title", "Uno"],
    &["checkpoint", "create", "first"],
    &["mode", "autopilot"],
    &["rollback", "checkpoint", "first", "--yes"],
    &["undo", "--yes"],
];

/// Something untracked, so that captures and rollbacks have objects to write.
fn prepared() -> TestEnv {
    let env = TestEnv::new();
    env.write("untracked.txt", "never committed\n");
    env.ok(&["init"]);
    env
}

#[test]
fn success_is_said_after_the_last_sync_by_the_programs_own_points() {
    let env = prepared();
    for args in PROMISES {
        let log = env.root().join(format!("points-{}", args.join("-")));
        let mut command = env.axiom_command(&env.repo(), *args);
        command.env("AXIOM_TEST_FAULT_LOG", &log);
        assert!(command.output().unwrap().status.success(), "{args:?}");
        let points = std::fs::read_to_string(&log).unwrap();
        let points: Vec<&str> = points.lines().collect();
        let said = points.iter().rposition(|point| *point == "screen.answer").unwrap_or_else(|| panic!("{args:?}: {points:?}"));
        let synced = points.iter().rposition(|point| *point == "store.after-sync").expect("an event is synced");
        assert!(synced < said, "{args:?}: {points:?}");
        assert_eq!(said + 1, points.len(), "{args:?}: nothing is changed after success was said: {points:?}");
    }
}

/// One traced call: which, and the paths and arguments as strace prints them.
struct Call {
    name: String,
    line: String,
    ok: bool,
}

fn trace(env: &TestEnv, args: &[&str]) -> Option<Vec<Call>> {
    let program = env.axiom_command(&env.repo(), args.iter().copied());
    let file = env.root().join("trace");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-s", "64", "-o"]).arg(&file);
    strace
        .args(["-e", "trace=write,pwrite64,fsync,fdatasync,syncfs,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir"]);
    strace.arg("--").arg(program.get_program()).args(program.get_args()).current_dir(env.repo()).env_clear();
    for (name, value) in program.get_envs() {
        if let Some(value) = value {
            strace.env(name, value);
        }
    }
    let output = match strace.output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => panic!("{error}"),
    };
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
    let calls = text.lines().filter_map(|line| {
        let call = line.split_once(' ')?.1.trim_start();
        let name = call.split_once('(')?.0.to_owned();
        Some(Call { name, line: call.to_owned(), ok: !call.contains(" = -1 ") })
    });
    Some(calls.filter(|call| call.ok).collect())
}

#[test]
fn success_is_said_after_the_last_sync_by_the_kernels_account() {
    let env = prepared();
    for args in PROMISES {
        let Some(calls) = trace(&env, args) else {
            // The order of our own points is checked in any case; the trace needs strace, which README names.
            eprintln!("strace is not installed: the trace of system calls was not checked");
            return;
        };
        let git_dir = env.repo().join(".git").display().to_string();
        let said = calls
            .iter()
            .rposition(|call| call.name == "write" && (call.line.starts_with("write(1<") && !call.line.contains(&git_dir)))
            .unwrap_or_else(|| panic!("{args:?} says nothing"));
        for later in &calls[said + 1..] {
            assert!(!later.line.contains(&git_dir), "{args:?}: after success was said: {}", later.line);
        }
        let last = |what: &dyn Fn(&Call) -> bool| calls[..said].iter().rposition(what);
        let appended = last(&|call| call.name == "write" && call.line.contains("/state/events.jsonl>")).expect("an event");
        let synced = last(&|call| call.name == "fdatasync" && call.line.contains("/state/events.jsonl>"));
        assert!(synced > Some(appended), "{args:?}: the log is not synced");
        let object = last(&|call| call.name != "write" && is_change(call) && call.line.contains("/objects/"));
        let durable = last(&|call| matches!(call.name.as_str(), "fsync" | "fdatasync" | "syncfs"));
        assert!(object.is_none() || durable > object, "{args:?}: an object is not synced");
        let renamed = last(&|call| call.name.starts_with("rename") && call.line.contains(".git/refs/"));
        let folder = last(&|call| {
            call.name == "syncfs" || matches!(call.name.as_str(), "fsync" | "fdatasync") && call.line.contains(".git/refs")
        });
        assert!(renamed.is_none() || folder > renamed, "{args:?}: the folder of a ref is not synced");
    }
}

fn is_change(call: &Call) -> bool {
    matches!(call.name.as_str(), "rename" | "renameat" | "renameat2" | "link" | "linkat")
}
