//! What is acknowledged is on disk: by the order in which the program passes its own named points, and by a trace of its
//! system calls.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use crate::common::TestEnv;
use crate::common::trials::AskedCases;

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

/// The calls that succeeded, and the git directory as they name it; `None` without strace. The order of our own points is checked
/// in any case; the trace needs strace, which README names.
fn trace(env: &TestEnv, args: &[&str]) -> Option<(Vec<Call>, String)> {
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
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            crate::skipped::skipped("strace is not installed: the trace of system calls was not checked");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
    let calls = text.lines().filter_map(|line| {
        let call = line.split_once(' ')?.1.trim_start();
        let name = call.split_once('(')?.0.to_owned();
        Some(Call { name, line: call.to_owned(), ok: !call.contains(" = -1 ") })
    });
    Some((calls.filter(|call| call.ok).collect(), env.repo().join(".git").display().to_string()))
}

#[test]
fn success_is_said_after_the_last_sync_by_the_kernels_account() {
    let env = prepared();
    for args in PROMISES {
        let Some((calls, git_dir)) = trace(&env, args) else { return };
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

/// What a power loss leaves of a file that was renamed and never synced is its name: so no object may have one before its
/// content is on disk, and no ref may name an object whose name is not.
#[test]
fn no_object_has_a_name_before_its_content_is_on_disk() {
    let env = prepared();
    for args in PROMISES {
        let Some((calls, git_dir)) = trace(&env, args) else { return };
        let (objects, refs, waiting) =
            (format!("{git_dir}/objects/"), format!("\"{git_dir}/refs/"), format!("{git_dir}/axiom/tmp/"));
        let (mut unsynced_content, mut unsynced_name, mut named) = (None, None, 0);
        for call in &calls {
            let (name, line) = (call.name.as_str(), call.line.as_str());
            let to = if is_change(call) { line.rsplit(", \"").next().unwrap_or_default() } else { "" };
            if name == "syncfs" {
                (unsynced_content, unsynced_name) = (None, None);
            } else if name.starts_with("rename") && to.starts_with(&objects) {
                assert!(unsynced_content.is_none(), "{args:?}: {line}\nafter {unsynced_content:?}");
                unsynced_name = Some(line);
                named += 1;
            } else if name.starts_with("write") && line.contains(&objects) {
                // Of git's own: each file is synced by itself.
                unsynced_content = Some(line);
            } else if matches!(name, "fsync" | "fdatasync") && line.contains(&objects) {
                unsynced_content = None;
            } else if line.contains(&waiting) && (name.starts_with("write") || is_change(call)) {
                unsynced_content = Some(line);
            } else if is_change(call) && line.contains(&refs) {
                assert!(unsynced_name.is_none(), "{args:?}: {line}\nafter {unsynced_name:?}");
            }
        }
        if args[0] == "checkpoint" {
            assert!(named > 5, "{args:?}: {named} objects");
        }
    }
}

fn is_change(call: &Call) -> bool {
    matches!(call.name.as_str(), "rename" | "renameat" | "renameat2" | "link" | "linkat")
}

/// Where a loose object is.
fn loose(env: &TestEnv, oid: &str) -> PathBuf {
    env.repo().join(".git/objects").join(&oid[..2]).join(&oid[2..])
}

/// What a power loss leaves of an object that was named and never synced.
fn empty(env: &TestEnv, oid: &str) {
    std::fs::remove_file(loose(env, oid)).unwrap();
    std::fs::write(loose(env, oid), "").unwrap();
}

#[test]
fn an_object_of_which_only_the_name_is_left_is_not_vouched_for_and_is_written_again() {
    let env = prepared();
    env.ok(&["checkpoint", "create", "one"]);
    let blob = env.git(&["rev-parse", "axiom/captures/one:untracked.txt"]);
    let tree = env.git(&["rev-parse", "axiom/captures/one^{tree}"]);
    empty(&env, &blob);
    let quick = env.axiom(&["checkpoint", "verify", "--quick"]);
    assert!(quick.code == Some(0) && quick.stdout.contains("Not read: file contents"), "{}", quick.stdout);
    let read = env.axiom(&["checkpoint", "verify"]);
    assert!(read.code == Some(1) && read.stdout.contains(&blob), "{}", read.stdout);
    let verified = env.axiom(&["checkpoint", "verify", "--json"]).stdout;
    assert!(verified.contains("\"whole\":false") && verified.contains("\"notRead\":null"), "{verified}");
    // The machine is started anew: a look says it, and changes nothing.
    empty(&env, &tree);
    let anew = |args: &[&str]| {
        let output = env.axiom_command(&env.repo(), args).env("AXIOM_TEST_BOOT", "another").output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let look = anew(&["recover"]);
    assert!(look.contains(&blob) && look.contains(&tree) && look.contains("recover --yes"), "{look}");
    assert_eq!(loose(&env, &blob).metadata().unwrap().len(), 0);
    anew(&["recover", "--yes"]);
    assert_eq!(env.git(&["cat-file", "blob", &blob]), "never committed");
    assert!(anew(&["checkpoint", "verify"]).contains("is intact"));
    env.fsck();
    assert_eq!(std::fs::read_dir(env.axiom_dir().join("quarantine")).unwrap().count(), 2, "what was there is kept");
}

#[test]
fn what_no_file_holds_any_more_is_said_to_be_lost_until_it_is_there_again() {
    let env = prepared();
    env.ok(&["checkpoint", "create", "one"]);
    let blob = env.git(&["rev-parse", "axiom/captures/one:untracked.txt"]);
    std::fs::remove_file(env.repo().join("untracked.txt")).unwrap();
    empty(&env, &blob);
    let anew = |args: &[&str]| {
        let output = env.axiom_command(&env.repo(), args).env("AXIOM_TEST_BOOT", "another").output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    anew(&["recover", "--yes"]);
    let (_, said) = anew(&["recover"]);
    assert!(said.contains(&format!("object {blob} is lost")), "{said}");
    let (whole, said) = anew(&["checkpoint", "verify"]);
    assert!(!whole && said.contains("objects are missing"), "{said}");
    // What git writes now is not taken for the empty file that was there.
    env.write("again.txt", "never committed\n");
    env.git(&["add", "again.txt"]);
    assert_eq!(env.git(&["cat-file", "blob", ":again.txt"]), "never committed");
    assert!(anew(&["recover"]).1.contains("Nothing has to be recovered"));
    assert!(anew(&["checkpoint", "verify"]).0);
}

/// Refs of ours, and that all of what they name is there.
fn prove_own_refs(env: &TestEnv, after: &[&str]) {
    let mut git = env.program("git", &env.repo());
    git.args(["rev-list", "--objects", "--quiet", "--glob=refs/axiom/*", "--glob=refs/tags/axiom/*"]);
    let output = git.args(["--glob=refs/notes/axiom", "--glob=refs/heads/axiom/*"]).output().unwrap();
    assert!(output.status.success(), "after {after:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// `git gc --prune=now` without a pause, for `AXIOM_SECONDS` seconds: when a command has returned, no ref of ours names
/// what is gone, and a `git gc` by itself succeeds.
#[test]
fn beside_a_loop_of_git_gc_no_ref_of_ours_names_what_is_gone() {
    let time = AskedCases::read().seconds(10);
    let env = prepared();
    let gc = || {
        let mut gc = env.program("git", &env.repo());
        gc.args(["gc", "-q", "--prune=now"]);
        gc
    };
    let (stop, collected) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut endless = gc();
    let (mut done, mut busy) = (0, 0);
    std::thread::scope(|scope| {
        let (stop, collected) = (&stop, &collected);
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                collected.fetch_add(usize::from(endless.output().unwrap().status.success()), Ordering::Relaxed);
            }
        });
        let end = Instant::now() + time;
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut round = 0;
            while Instant::now() < end {
                round += 1;
                env.write(&format!("untracked-{}.txt", round % 3), format!("round {round}"));
                env.write("README", format!("round {round}"));
                let name = format!("c{round}");
                let title = format!("task {round}");
                let body = "a long text ".repeat(200) + &title;
                let steps: [&[&str]; 4] = [
                    &["checkpoint", "create", &name],
                    &["task", "add", &title, "--body", &body],
                    &["rollback", "checkpoint", &name, "--yes"],
                    &["undo", "--yes"],
                ];
                for step in steps {
                    if step[0] == "rollback" {
                        env.write("README", format!("after {name}"));
                    }
                    let run = env.axiom(step);
                    prove_own_refs(&env, step);
                    match run.code {
                        Some(0) => done += 1,
                        // It says to try again; what builds on it is left out.
                        Some(5) => {
                            busy += 1;
                            break;
                        }
                        _ => panic!("{step:?}: {}{}", run.stdout, run.stderr),
                    }
                }
            }
        }));
        stop.store(true, Ordering::Relaxed);
        if let Err(panic) = outcome {
            std::panic::resume_unwind(panic);
        }
    });
    println!("{done} commands, {busy} busy, beside {} of git gc", collected.load(Ordering::Relaxed));
    assert!(done >= 4 && collected.load(Ordering::Relaxed) > 0, "{done} commands, {busy} busy");
    assert!(gc().status().unwrap().success(), "a gc by itself succeeds");
    let packs = std::fs::read_dir(env.repo().join(".git/objects/pack")).unwrap();
    assert!(packs.flatten().all(|entry| entry.path().extension().is_none_or(|kind| kind != "keep")), "a pack is kept for ever");
    env.ok(&["checkpoint", "verify"]);
    env.fsck();
}
