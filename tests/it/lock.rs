//! `git axiom lock`: real processes that hold, wait, are killed and leave others behind.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{NOBODY, Run, TestEnv, is_root};
use crate::session_support::{World, signal, wait_until};
use crate::skipped::skipped;
use git_axiom::base::error::Code;
use rustix::process::{Pid, Signal, kill_process_group};

/// The folder of the locks.
fn locks(env: &TestEnv) -> PathBuf {
    env.root().join("tmp").join(format!("git-axiom-{}", rustix::process::geteuid().as_raw())).join("locks")
}

fn command(env: &TestEnv, args: &[&str]) -> Command {
    let mut command = env.axiom_command(env.root(), [&["lock"], args].concat());
    command.stdin(Stdio::null());
    command
}

fn lock(env: &TestEnv, args: &[&str]) -> Run {
    env.run(command(env, args), None)
}

/// A `git axiom lock` in the background, in a process group of its own, with what it says in files. Its group is killed when
/// it is dropped.
struct Begun {
    child: Child,
    said: PathBuf,
}

impl Begun {
    fn new(env: &TestEnv, name: &str, args: &[&str]) -> Self {
        let said = env.root().join(format!("{name}.said"));
        let out = std::fs::File::create(&said).unwrap();
        let child = command(env, args).process_group(0).stdout(out.try_clone().unwrap()).stderr(out).spawn().unwrap();
        Self { child, said }
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    fn kill_group(&self) {
        let _ = kill_process_group(Pid::from_raw(self.pid()).unwrap(), Signal::KILL);
    }

    fn said(&self) -> String {
        std::fs::read_to_string(&self.said).unwrap()
    }

    fn waits(&self) -> bool {
        self.said().contains("waiting for lock")
    }

    /// Its exit status, once it has ended.
    fn code(&mut self) -> Option<i32> {
        let mut status = None;
        wait_until("it ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.and_then(|status| status.code())
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.kill_group();
        let _ = self.child.wait();
    }
}

/// Somebody who holds the lock until they are killed.
fn holder(env: &TestEnv, name: &str, args: &[&str]) -> Begun {
    let ready = env.root().join(format!("{name}.ready"));
    let script = format!("echo $$ > '{}'; sleep 600; :", ready.display());
    let begun = Begun::new(env, name, &[args, &["--", "sh", "-c", &script]].concat());
    wait_until("the lock is held", || is_written(&ready));
    begun
}

fn is_written(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.ends_with('\n'))
}

fn list(env: &TestEnv) -> Vec<serde_json::Value> {
    let run = env.run(env.axiom_command(env.root(), ["--json", "lock", "--list"]), None).success();
    run.json()["locks"].as_array().unwrap().clone()
}

/// What each of the sixteen does: nobody else has its slot, and it does not leave before three were in at once.
const COUNTED: &str = r#"
mkdir "slot-$AXIOM_LOCK_SLOT" || { echo "slot $AXIOM_LOCK_SLOT is taken" >> wrong; exit 1; }
mkdir "in/$$"
set -- in/*
echo "$#" >> seen
[ "$#" -lt 3 ] || : > full
tries=0
until [ -e full ] || [ "$tries" -gt 2000 ]; do sleep 0.01; tries=$((tries + 1)); done
sleep 0.02
rmdir "in/$$" "slot-$AXIOM_LOCK_SLOT"
echo . >> done"#;

#[test]
fn sixteen_processes_on_three_slots_are_never_more_than_three() {
    let env = TestEnv::empty();
    std::fs::create_dir(env.root().join("in")).unwrap();
    let mut all: Vec<Begun> = (0..16)
        .map(|number| {
            let name = format!("job-{number}");
            // Some wait without end, some for a time, and some try until it is free; names differ in case only.
            match number % 4 {
                0 | 1 => Begun::new(&env, &name, &["db", "--slots", "3", "--", "sh", "-c", COUNTED]),
                2 => Begun::new(&env, &name, &["DB", "--slots", "3", "--wait", "2min", "--", "sh", "-c", COUNTED]),
                _ => {
                    let program = env!("CARGO_BIN_EXE_git-axiom");
                    let script =
                        format!("until '{program}' lock db --slots 3 --wait 0 -- sh -c '{COUNTED}'; do sleep 0.01; done");
                    let out = std::fs::File::create(env.root().join(&name)).unwrap();
                    let mut command = env.program("sh", env.root());
                    command.args(["-c", &script]).process_group(0).stdout(out.try_clone().unwrap()).stderr(out);
                    Begun { child: command.spawn().unwrap(), said: env.root().join(&name) }
                }
            }
        })
        .collect();
    for job in &mut all {
        assert_eq!(job.code(), Some(0), "{}", job.said());
    }
    let read = |name: &str| std::fs::read_to_string(env.root().join(name)).unwrap_or_default();
    assert_eq!(read("wrong"), "");
    assert_eq!(read("done").lines().count(), 16);
    let seen: Vec<u32> = read("seen").lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!((seen.len(), seen.iter().max()), (16, Some(&3)), "{seen:?}");
}

#[test]
fn a_killed_process_group_frees_the_lock_at_once() {
    let env = TestEnv::empty();
    let mut longest = Duration::ZERO;
    for close in [&[][..], &["--close"]] {
        for round in 0..3 {
            let held = holder(&env, &format!("holder-{round}"), &[&["db"], close].concat());
            let mut waits = Begun::new(&env, "waits", &["db", "--", "true"]);
            wait_until("it waits", || waits.waits());
            let killed = Instant::now();
            held.kill_group();
            assert_eq!(waits.code(), Some(0), "{}", waits.said());
            longest = longest.max(killed.elapsed());
            std::fs::remove_file(env.root().join(format!("holder-{round}.ready"))).unwrap();
        }
    }
    println!("from the kill to the end of the next command: {longest:?} at most");
    assert!(longest < Duration::from_secs(2), "{longest:?}");
}

#[test]
fn what_a_command_left_behind_keeps_the_lock_unless_it_was_not_inherited() {
    let env = TestEnv::empty();
    let script = "sleep 600 > /dev/null 2>&1 < /dev/null & echo $! > left";
    let left = || std::fs::read_to_string(env.root().join("left")).unwrap().trim().parse::<i32>().unwrap();
    lock(&env, &["db", "--", "sh", "-c", script]).success();
    lock(&env, &["db", "--wait", "0", "--", "true"]).fails_with(Code::Busy);
    let held = list(&env);
    assert_eq!((held[0]["held"].as_bool(), held[0]["holder"]["runs"].as_bool()), (Some(true), Some(false)), "{held:?}");
    let mut waits = Begun::new(&env, "waits", &["db", "--", "true"]);
    wait_until("it waits", || waits.waits());
    assert!(waits.said().contains("left behind"), "{}", waits.said());
    assert!(signal(left(), Signal::KILL));
    assert_eq!(waits.code(), Some(0), "{}", waits.said());

    lock(&env, &["db", "--close", "--", "sh", "-c", script]).success();
    assert!(Path::new(&format!("/proc/{}", left())).exists());
    lock(&env, &["db", "--wait", "0", "--", "true"]).success();
    assert!(signal(left(), Signal::KILL));
}

#[test]
fn a_command_has_the_descriptor_above_those_of_scripts_or_not_at_all() {
    let env = TestEnv::empty();
    let held = "ls -l /proc/$$/fd | grep -c 'locks/'";
    let script = format!("{held}; exec 3>x 4>x 5>x 9>x; {held}");
    assert_eq!(lock(&env, &["db", "--", "bash", "-c", &script]).stdout, "1\n1\n");
    assert_eq!(lock(&env, &["db", "--close", "--", "bash", "-c", &script]).stdout, "0\n0\n");
}

#[test]
fn the_exit_status_is_that_of_the_command() {
    let env = TestEnv::empty();
    std::fs::write(env.root().join("plain"), "#!/bin/sh\n").unwrap();
    for close in [&[][..], &["--close"]] {
        let code = |command: &[&str]| lock(&env, &[&["x"], close, &["--"], command].concat());
        assert_eq!(code(&["true"]).code, Some(0));
        assert_eq!(code(&["sh", "-c", "echo out; echo err >&2; exit 7"]).stdout, "out\n");
        assert_eq!(code(&["sh", "-c", "exit 7"]).code, Some(7));
        assert_eq!(code(&["sh", "-c", "exit 255"]).code, Some(255));
        for (program, status) in [("no-such-program", 127), ("./no-such-program", 127), ("./plain", 126), (".", 126)] {
            let run = code(&[program, "x"]);
            assert_eq!(run.code, Some(status), "{run}");
            assert!(run.stderr.contains("error[PROGRAM_NOT_FOUND]: ") && run.stderr.contains(program), "{run}");
        }
        // The lock is free again.
        lock(&env, &["x", "--wait", "0", "--", "true"]).success();
    }
    // A program that a signal ends: as itself where it took our place, as a shell says it where we stand for it.
    let ended = ["--", "sh", "-c", "kill -TERM $$"];
    assert_eq!(lock(&env, &[&["x"][..], &ended].concat()).code, None);
    assert_eq!(lock(&env, &[&["x", "--close"][..], &ended].concat()).code, Some(128 + 15));
    let run = env.run(env.axiom_command(env.root(), ["--json", "lock", "x", "--", "no-such-program"]), None);
    assert_eq!((run.code, run.json()["error"]["code"].as_str()), (Some(127), Some("PROGRAM_NOT_FOUND")), "{run}");
}

#[test]
fn who_stands_for_a_command_passes_signals_on() {
    let env = TestEnv::empty();
    for (name, number) in [("TERM", Signal::TERM), ("INT", Signal::INT), ("HUP", Signal::HUP), ("USR1", Signal::USR1)] {
        let ready = env.root().join(format!("{name}.ready"));
        // INT is not ignored by a background job of this shell: it is the command itself.
        let script =
            format!("trap 'echo {name} > got; exit 9' {name}; echo > '{}'; while :; do sleep 0.01; done", ready.display());
        let mut begun = Begun::new(&env, name, &["x", "--close", "--", "sh", "-c", &script]);
        wait_until("it runs", || is_written(&ready));
        assert!(signal(begun.pid(), number));
        assert_eq!(begun.code(), Some(9), "{name}: {}", begun.said());
        assert_eq!(std::fs::read_to_string(env.root().join("got")).unwrap(), format!("{name}\n"));
    }
}

#[test]
fn a_lock_that_is_not_free_in_time_is_busy_and_says_who_holds_it() {
    let env = TestEnv::empty();
    let held = holder(&env, "holder", &["db"]);
    for wait in ["0", "1s"] {
        let run = lock(&env, &["db", "--wait", wait, "--", "touch", "ran"]).fails_with(Code::Busy);
        let says = [format!("held by process {} (sh -c 'echo $$ > ", held.pid()), ") since ".to_owned()];
        assert!(says.iter().all(|part| run.stderr.contains(part.as_str())), "{run}");
    }
    assert!(!env.root().join("ran").exists());
    // Others are none of its business.
    lock(&env, &["db2", "--wait", "0", "--", "true"]).success();
    let run = env.run(env.axiom_command(env.root(), ["--json", "lock", "db", "--wait", "0", "--", "true"]), None);
    assert_eq!((run.code, run.json()["error"]["code"].as_str()), (Some(5), Some("BUSY")), "{run}");
}

#[test]
fn those_who_wait_come_in_turn_and_one_that_is_killed_holds_nobody_up() {
    let env = TestEnv::empty();
    let held = holder(&env, "holder", &["db"]);
    let mut waiting = Vec::new();
    for number in 0..4 {
        let script = format!("echo {number} >> order");
        waiting.push(Begun::new(&env, &format!("waits-{number}"), &["db", "--wait", "2min", "--", "sh", "-c", &script]));
        wait_until("it waits", || waiting[number].waits());
    }
    // The first of them, and one in the middle.
    waiting[0].kill_group();
    waiting[2].kill_group();
    held.kill_group();
    for number in [1, 3] {
        assert_eq!(waiting[number].code(), Some(0), "{}", waiting[number].said());
    }
    let mut order: Vec<String> = std::fs::read_to_string(env.root().join("order")).unwrap().lines().map(str::to_owned).collect();
    order.sort();
    assert_eq!(order, ["1", "3"]);
}

#[test]
fn another_number_of_slots_is_said() {
    let env = TestEnv::empty();
    let _held = holder(&env, "holder", &["db", "--slots", "3"]);
    lock(&env, &["db", "--wait", "0", "--", "true"]).fails_with(Code::Busy);
    let run = lock(&env, &["db", "--slots", "2", "--wait", "0", "--", "sh", "-c", "echo $AXIOM_LOCK_SLOT"]).success();
    assert_eq!(run.stdout, "2\n");
    assert!(run.stderr.contains("with --slots 3, this command has --slots 2"), "{run}");
    // Who holds a slot is not in the queue any more.
    let run = lock(&env, &["db", "--slots", "3", "--wait", "20s", "--", "true"]).success();
    assert_eq!(run.stderr, "", "{run}");
}

#[test]
fn a_folder_that_is_not_this_users_alone_is_refused() {
    let env = TestEnv::empty();
    let refused = |what: &str| {
        for args in [&["db", "--", "touch", "ran"][..], &["--list"]] {
            let run = lock(&env, args).fails_with(Code::NotPrivate);
            assert!(run.stderr.contains("hint: ls -ld "), "{what}: {run}");
        }
        assert!(!env.root().join("ran").exists(), "{what}");
    };
    let (inner, elsewhere) = (locks(&env), env.root().join("elsewhere"));
    let outer = inner.parent().unwrap().to_owned();
    for path in [&outer, &inner] {
        lock(&env, &["db", "--", "true"]).success();
        assert_eq!(std::fs::metadata(path).unwrap().mode() & 0o7777, 0o700);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        refused("others may look into it");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::rename(path, &elsewhere).unwrap();
        symlink(&elsewhere, path).unwrap();
        refused("a link");
        std::fs::remove_file(path).unwrap();
        std::fs::write(path, "").unwrap();
        refused("a file");
        std::fs::remove_file(path).unwrap();
        std::fs::rename(&elsewhere, path).unwrap();
        if is_root() {
            std::os::unix::fs::chown(path, Some(NOBODY), None).unwrap();
            refused("of another user");
            std::os::unix::fs::chown(path, Some(0), None).unwrap();
        } else {
            skipped("only root can make a folder of another user");
        }
    }
    // A link in the place of a lock would write to what it leads to.
    std::fs::write(env.root().join("precious"), "precious").unwrap();
    symlink(env.root().join("precious"), inner.join("trap.1")).unwrap();
    lock(&env, &["trap", "--", "touch", "ran"]).fails_with(Code::NotPrivate);
    assert_eq!(std::fs::read_to_string(env.root().join("precious")).unwrap(), "precious");
    std::fs::remove_file(inner.join("trap.1")).unwrap();
    lock(&env, &["trap", "--", "true"]).success();
}

#[test]
fn the_list_says_what_is_free_and_who_holds_the_rest() {
    let env = TestEnv::empty();
    assert_eq!(lock(&env, &["--list"]).success().stdout, "No lock was taken yet.\n");
    assert!(!locks(&env).parent().unwrap().exists(), "looking makes nothing");
    lock(&env, &["port", "--", "true"]).success();
    let held = holder(&env, "holder", &["db", "--slots", "2"]);
    std::fs::write(locks(&env).join("not a lock"), "").unwrap();
    let found = list(&env);
    let short: Vec<_> =
        found.iter().map(|one| (one["name"].as_str().unwrap(), one["slot"].as_u64(), one["held"].as_bool())).collect();
    assert_eq!(short, [("db", Some(1), Some(true)), ("port", Some(1), Some(false))]);
    let holder = &found[0]["holder"];
    assert_eq!((holder["pid"].as_i64(), holder["slots"].as_u64()), (Some(held.pid().into()), Some(2)), "{holder}");
    assert_eq!(holder["folder"].as_str(), env.root().to_str());
    assert!(holder["command"].as_str().unwrap().starts_with("sh -c 'echo $$ > "), "{holder}");
    let text = lock(&env, &["--list"]).success().stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("LOCK") && lines[1].starts_with("db") && lines[1].contains("sh -c 'echo"), "{text}");
    assert!(lines[2].starts_with("port") && lines[2].ends_with("(free)") && lines.len() == 3, "{text}");
}

#[test]
fn a_hostile_command_line_is_shown_and_not_obeyed() {
    let env = TestEnv::empty();
    let evil = "x\u{1b}[2J\nINJECTED\u{202e}";
    let begun = Begun::new(&env, "evil", &["db", "--", "sh", "-c", "echo > evil.ready; sleep 600; :", evil]);
    wait_until("it runs", || is_written(&env.root().join("evil.ready")));
    for run in [lock(&env, &["--list"]).success(), lock(&env, &["db", "--wait", "0", "--", "true"]).fails_with(Code::Busy)] {
        let text = format!("{}{}", run.stdout, run.stderr);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
        assert!(!text.lines().any(|line| line.trim_start().starts_with("INJECTED")), "{text}");
    }
    assert!(list(&env)[0]["holder"]["command"].as_str().unwrap().ends_with(&format!("'{evil}'")));
    drop(begun);
}

#[test]
fn what_cannot_be_meant_is_a_usage_error() {
    let env = TestEnv::empty();
    for args in [
        &[][..],
        &["db"],
        &["db", "--"],
        &["--", "true"],
        &["db", "true"],
        &["../db", "--", "true"],
        &["db/x", "--", "true"],
        &[".", "--", "true"],
        &["db.1", "--", "true"],
        &["", "--", "true"],
        &["db", "--slots", "0", "--", "true"],
        &["db", "--slots", "1001", "--", "true"],
        &["db", "--wait", "soon", "--", "true"],
        &["db", "--wait=-1", "--", "true"],
        &["--list", "db"],
        &["--list", "--", "true"],
    ] {
        let run = lock(&env, args);
        assert_eq!(run.code, Some(2), "{args:?}\n{run}");
    }
    assert!(!locks(&env).exists());
}

#[test]
fn agents_and_verify_steps_may_take_locks() {
    let world = World::new();
    world.task(
        "t",
        "git axiom lock db -- sh -c 'echo in > locked.txt' && git axiom lock --list",
        &["--verify", "git axiom lock db --close -- test -s locked.txt"],
    );
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("locked.txt"), "in\n");
}
