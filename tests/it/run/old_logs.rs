//! What becomes of the logs of agents: compressed after a while and read as before, and the oldest go where all are too large.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use git_axiom::base::error::Code;
use rustix::process::Signal;

use crate::common::Run;
use crate::session_support::{Live, World, signal, wait_until};

/// Prints what does not get shorter, and changes a file.
const NOISE: &str = "head -c 900000 /dev/urandom | od -An -vtx1 -w64; echo 1 > $AXIOM_TASK_ID.txt";

fn later(world: &World, days: i64, args: &[&str]) -> Run {
    let mut command = world.env.axiom_command(&world.env.repo(), args);
    let then = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * days + 1);
    command.env("AXIOM_TEST_NOW", then.to_string());
    world.env.run(command, None)
}

/// The names of all files of logs.
fn logs(world: &World) -> Vec<String> {
    let found = walkdir::WalkDir::new(world.env.axiom_dir().join("agents")).into_iter().flatten();
    let logs = found.filter(|entry| entry.file_type().is_file() && entry.path().parent().unwrap().ends_with("logs"));
    let mut names: Vec<String> = logs.map(|entry| entry.file_name().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

fn path_of(world: &World, name: &str) -> PathBuf {
    let mut found = walkdir::WalkDir::new(world.env.axiom_dir().join("agents")).into_iter().flatten();
    found.find(|entry| entry.file_name() == name).unwrap_or_else(|| panic!("no {name}")).into_path()
}

fn aged(world: &World, name: &str, days: u64) {
    let then = SystemTime::now() - Duration::from_secs(days * 24 * 3600);
    std::fs::File::open(path_of(world, name)).unwrap().set_modified(then).unwrap();
}

fn all_forms(world: &World) -> Vec<String> {
    let forms: [&[&str]; 5] = [
        &["output", "t", "--raw"],
        &["output", "t"],
        &["output", "t", "-n", "2"],
        &["output", "t", "--grep", "line 7"],
        &["output", "t", "--iteration", "1", "-n", "1"],
    ];
    let agent = world.agents()[0]["id"].as_str().unwrap().to_owned();
    let mut all: Vec<String> = forms.iter().map(|args| world.env.ok(args)).collect();
    all.push(world.env.ok(&["output", &agent]));
    all.push(world.env.axiom(&["output", "t", "--json"]).success().stdout);
    all
}

#[test]
fn log_compress_days_old_logs_are_compressed_and_read_as_before() {
    let world = World::new();
    world.task("t", "for n in $(seq 30000); do echo \"line $n of it\"; done; echo last >&2; exit 1", &[]);
    world.autopilot(&["--agents", "1", "--max-iterations", "1"]);
    assert_eq!((world.status_of("t"), logs(&world)), ("failed".into(), vec!["t.jsonl".to_owned()]));
    let before = all_forms(&world);
    assert!(before[0].contains("line 29999 of it") && before[2].lines().count() == 2, "{}", before[2]);
    later(&world, 6, &["recover", "--yes"]).success();
    assert_eq!(logs(&world), ["t.jsonl"], "not yet");
    let size = path_of(&world, "t.jsonl").metadata().unwrap().len();
    let told = later(&world, 7, &["recover", "--yes"]).success();
    assert!(told.stderr.contains("1 log compressed"), "{told}");
    assert_eq!(logs(&world), ["t.1.jsonl.gz"]);
    let packed = path_of(&world, "t.1.jsonl.gz");
    assert!(packed.metadata().unwrap().len() < size / 5);
    assert_eq!(all_forms(&world), before);
    let unpacked = Command::new("gzip").arg("-dc").arg(&packed).output().unwrap();
    assert!(unpacked.status.success() && unpacked.stdout.len() as u64 == size);
    let disk = world.env.json(&["disk"]);
    let row = disk["uses"].as_array().unwrap().iter().find(|row| row["what"] == "logs").unwrap();
    assert_eq!((&row["count"], &row["bytes"]), (&1.into(), &packed.metadata().unwrap().len().into()), "{row}");
    assert_eq!(row["limit"], 2000_u64 << 20);
    // What the task prints from now on is a file of its own.
    world.env.ok(&["task", "edit", "t", "--body", "echo anew; echo 1 > t.txt"]);
    world.env.ok(&["task", "unblock", "t"]);
    world.autopilot(&["--agents", "1"]);
    assert_eq!(logs(&world), ["t.1.jsonl.gz", "t.jsonl"]);
    assert_eq!(world.env.ok(&["output", "t", "--raw"]), format!("{}\nanew", before[0]));
    // Which of two streams is read first is not certain.
    let last = before[2].lines().last().unwrap();
    assert_eq!(world.env.ok(&["output", "t", "-n", "2"]), format!("{last}\nanew"));
    world.all_is_well();
}

/// As with a pager that nobody scrolls: the agent was sent away meanwhile, and another iteration has begun a new file.
#[test]
fn who_follows_the_output_misses_nothing_of_a_log_that_is_put_aside_meanwhile() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let script = format!(
        "if [ ! -e '{beside}/first' ]; then touch '{beside}/first'; echo one; {wait}; fi\n\
         echo two; echo three; touch '{beside}/second'; {wait}; echo 1 > t.txt",
        wait = world.until_go()
    );
    world.task("t", &script, &[]);
    let live = world.start_until_begun();
    let follow = world.env.axiom_command(&world.env.repo(), ["output", "--raw", "--follow", "t"]);
    let follow = Live::start(follow, world.env.root(), "follow");
    let seen = || std::fs::read_to_string(world.beside("follow.out")).unwrap();
    wait_until("it is followed", || seen() == "one\n");
    assert!(signal(follow.pid(), Signal::STOP));
    world.env.ok(&["kill", "agent-001"]);
    live.wait();
    later(&world, 8, &["recover", "--yes"]).success();
    assert_eq!(logs(&world), ["t.1.jsonl.gz"]);
    world.env.ok(&["gate", "approve", "claim-t"]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("second");
    // Its keeper may still have to read what it printed.
    wait_until("the new file begins", || logs(&world) == ["t.1.jsonl.gz", "t.jsonl"]);
    assert!(signal(follow.pid(), Signal::CONT));
    wait_until("it goes on", || seen().contains("three"));
    world.signal_file("go");
    live.wait().code(0);
    follow.wait().code(0);
    assert_eq!(seen(), "one\ntwo\nthree\n");
    world.all_is_well();
}

#[test]
fn killed_while_a_log_is_compressed_each_line_is_there_once() {
    let world = World::new();
    world.task("t", "for n in $(seq 9); do echo \"line $n\"; done; echo 1 > t.txt", &[]);
    world.autopilot(&[]);
    let (log, printed) = (path_of(&world, "t.jsonl"), world.env.ok(&["output", "t", "--raw"]));
    let (folder, content) = (log.parent().unwrap().to_owned(), std::fs::read(&log).unwrap());
    for point in ["tidy.log-aside", "files.packed", "tidy.log-packed", "tidy.before-removal"] {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(&log, &content).unwrap();
        aged(&world, "t.jsonl", 9);
        // The last one is reached for the trash: only there is something to delete.
        let mut command = world.env.axiom_command(&world.env.repo(), ["recover", "--yes"]);
        command.env("AXIOM_TEST_FAULT", format!("{point}:1"));
        let killed = command.output().unwrap();
        if point != "tidy.before-removal" {
            use std::os::unix::process::ExitStatusExt;
            assert_eq!(killed.status.signal(), Some(9), "{point} was not reached");
        }
        assert_eq!(world.env.ok(&["output", "t", "--raw"]), printed, "{point}");
        world.env.ok(&["recover", "--yes"]);
        assert_eq!(
            logs(&world).iter().filter(|name| !name.starts_with(".tmp-")).collect::<Vec<_>>(),
            ["t.1.jsonl.gz"],
            "{point}"
        );
        assert_eq!(world.env.ok(&["output", "t", "--raw"]), printed, "{point}");
        let mut month = world.env.axiom_command(&world.env.repo(), ["recover", "--yes"]);
        month.env("AXIOM_TEST_NOW", (jiff::Timestamp::now() + jiff::SignedDuration::from_hours(48)).to_string());
        assert!(month.output().unwrap().status.success());
        assert_eq!(logs(&world), ["t.1.jsonl.gz"], "{point}: nothing is left of it");
    }
}

#[test]
fn the_log_of_a_running_program_is_left_alone() {
    let world = World::new();
    world.env.git(&["config", "axiom.agents.logLimit", "1"]);
    world.task("t", &format!("echo begins; {}; echo ends; echo 1 > t.txt", world.until_go()), &[]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    // The keeper writes what the program printed a moment later.
    wait_until("its log is there", || logs(&world) == ["t.jsonl"]);
    aged(&world, "t.jsonl", 30);
    world.env.ok(&["disk", "--clean"]);
    assert_eq!(logs(&world), ["t.jsonl"]);
    world.signal_file("go");
    live.wait().code(0);
    assert_eq!(world.env.ok(&["output", "t", "--raw"]), "begins\nends");
}

#[test]
fn log_limit_the_oldest_logs_of_finished_tasks_go_first() {
    let world = World::new();
    world.env.git(&["config", "axiom.system.logCompressDays", "100"]);
    for task in ["a", "b", "c"] {
        world.task(task, NOISE, &[]);
    }
    world.task("failed", &format!("{NOISE}; exit 1"), &[]);
    world.autopilot(&["--agents", "1", "--max-iterations", "1"]);
    assert_eq!(world.status_of("failed"), "failed");
    for (name, days) in [("failed.jsonl", 9), ("b.jsonl", 3), ("a.jsonl", 2), ("c.jsonl", 1)] {
        aged(&world, name, days);
        assert!(path_of(&world, name).metadata().unwrap().len() > 2 << 20);
    }
    let all = ["a.jsonl", "b.jsonl", "c.jsonl", "failed.jsonl"];
    for (limit, left) in
        [("0", &all[..]), ("20", &all), ("12", &["a.jsonl", "c.jsonl", "failed.jsonl"]), ("1", &["failed.jsonl"])]
    {
        world.env.git(&["config", "axiom.agents.logLimit", limit]);
        let cleaned = world.env.ok(&["disk", "--clean"]);
        assert_eq!(logs(&world), left, "{limit} MB: {cleaned}");
        assert!(limit == "0" || cleaned.contains(&format!(" of {limit}.0 MiB")), "{cleaned}");
    }
    let gone = world.env.axiom(&["output", "a"]).fails_with(Code::UnknownTask);
    assert!(gone.stderr.contains("agents.logLimit"), "{gone}");
    assert!(world.env.ok(&["output", "failed", "--raw"]).len() > 1 << 20);
    // What is decided may go.
    world.env.ok(&["task", "archive", "failed"]);
    let told = world.env.ok(&["disk", "--clean"]);
    assert!(told.contains("1 old log deleted: more than agents.logLimit") && logs(&world).is_empty(), "{told}");
    world.all_is_well();
}
