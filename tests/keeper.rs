//! The keeper with real processes. This program is the test and, started with other arguments, the keeper itself, a
//! launcher that gets killed, or a helper that an agent calls.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use git_axiom::base::error::Code;
use git_axiom::model::base::ids::{AgentId, TaskId, Token};
use git_axiom::model::work::signals::signal::AgentSignal;
use git_axiom::process::client::control;
use git_axiom::process::client::launch::start_keeper;
use git_axiom::process::client::leftovers::end_leftovers;
use git_axiom::process::keeper::output::{LogLine, LogLineSource};
use git_axiom::process::keeper::{owner, spool};
use git_axiom::process::run_folder::record_files::VERSION;
use git_axiom::process::run_folder::spec::{DEFAULT_OUTPUT_CAP, KeeperSpec, KeeperStopSignal, SpawnIntentCheck};
use git_axiom::process::{EndCause, ExitRecord, KeeperRecord, KeeperState, keeper_state, read_signals};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = args.iter().skip(1).map(String::as_str).collect();
    match words.as_slice() {
        ["keeper", "--spec", spec] => {
            let wanted = |spec: &KeeperSpec| Ok(!spec.state_check.common_dir.join("unwanted").exists());
            let code = owner::run(Path::new(spec), &wanted).unwrap_or(1);
            std::process::exit(code);
        }
        ["launch", spec] => {
            start_keeper(&own(), Path::new(spec)).unwrap();
            std::thread::sleep(Duration::from_secs(60));
        }
        ["signal", kind, text] => std::process::exit(helper_signal(kind, text)),
        ["leftovers", dir, result] => helper_leftovers(Path::new(dir), Path::new(result)),
        ["hold", dir, seconds] => helper_hold(Path::new(dir), seconds.parse().unwrap()),
        filter => run_tests(filter.iter().find(|word| !word.starts_with('-')).copied().unwrap_or("")),
    }
}

type Test = (&'static str, fn(&Run));

const TESTS: &[Test] = &[
    ("a_plain_run_is_recorded", a_plain_run_is_recorded),
    ("the_agent_sees_its_surroundings", the_agent_sees_its_surroundings),
    ("every_descendant_is_ended", every_descendant_is_ended),
    ("stop_asks_and_then_kills", stop_asks_and_then_kills),
    ("a_polite_program_stops_by_itself", a_polite_program_stops_by_itself),
    ("kill_does_not_wait", kill_does_not_wait),
    ("a_keeper_without_socket_can_be_stopped", a_keeper_without_socket_can_be_stopped),
    ("limits_end_a_run", limits_end_a_run),
    ("a_flood_is_counted_and_capped", a_flood_is_counted_and_capped),
    ("a_large_prompt_that_nobody_reads_harms_nobody", a_large_prompt_that_nobody_reads_harms_nobody),
    ("prompts_arrive_whole", prompts_arrive_whole),
    ("a_program_that_does_not_exist_is_recorded", a_program_that_does_not_exist_is_recorded),
    ("a_lost_workspace_is_recorded", a_lost_workspace_is_recorded),
    ("an_unwanted_keeper_starts_nothing", an_unwanted_keeper_starts_nothing),
    ("an_iteration_runs_once", an_iteration_runs_once),
    ("a_workspace_has_one_keeper", a_workspace_has_one_keeper),
    ("signals_and_markers_are_recorded", signals_and_markers_are_recorded),
    ("a_killed_launcher_changes_nothing", a_killed_launcher_changes_nothing),
    ("a_killed_keeper_leaves_nothing_after_the_clean_up", a_killed_keeper_leaves_nothing_after_the_clean_up),
    ("cleaning_up_below_the_agent_spares_oneself", cleaning_up_below_the_agent_spares_oneself),
    ("a_log_on_a_full_disk_is_recorded", a_log_on_a_full_disk_is_recorded),
    ("a_crash_at_any_point_is_seen_as_what_it_is", a_crash_at_any_point_is_seen_as_what_it_is),
    ("a_hold_freezes_and_releases", a_hold_freezes_and_releases),
    ("busy_programs_are_held_quickly_every_time", busy_programs_are_held_quickly_every_time),
    ("a_hold_ends_with_its_holder", a_hold_ends_with_its_holder),
    ("an_agent_can_hold_the_others", an_agent_can_hold_the_others),
    ("no_lock_is_inherited", no_lock_is_inherited),
];

fn run_tests(filter: &str) {
    let wanted: Vec<&Test> = TESTS.iter().filter(|(name, _)| name.contains(filter)).collect();
    assert!(!wanted.is_empty(), "no test is called like '{filter}'");
    let mut failed = Vec::new();
    for (name, test) in wanted {
        let run = Run::new();
        let begun = Instant::now();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(&run)));
        let left = run.clean_up();
        let good = outcome.is_ok() && left.is_empty();
        println!("test {name} ... {} ({} ms)", if good { "ok" } else { "FAILED" }, begun.elapsed().as_millis());
        if !left.is_empty() {
            println!("  left behind: {left:?}");
        }
        if !good {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "failed: {failed:?}");
}

fn own() -> PathBuf {
    std::env::current_exe().unwrap()
}

fn helper_signal(kind: &str, text: &str) -> i32 {
    let folder = PathBuf::from(std::env::var_os("AXIOM_SPOOL").unwrap());
    let token = Token::new(std::env::var("AXIOM_TOKEN").unwrap()).unwrap();
    let signal = match kind {
        "complete" => AgentSignal::Complete {},
        "progress" => AgentSignal::Progress { percent: text.parse().unwrap() },
        _ => AgentSignal::Blocked { reason: text.to_owned() },
    };
    match spool::submit(&folder, &token, signal, spool::PATIENCE) {
        Ok(()) => 0,
        Err(error) => {
            println!("{error}");
            1
        }
    }
}

fn helper_hold(dir: &Path, seconds: u64) {
    let KeeperState::Alive(record) = keeper_state(dir).unwrap() else { panic!("no keeper") };
    let guard = control::hold(&record, Duration::from_secs(30)).unwrap();
    println!("held {} {}", guard.held(), guard.is_stable());
    std::thread::sleep(Duration::from_secs(seconds));
    assert!(guard.release().unwrap());
}

fn helper_leftovers(dir: &Path, result: &Path) {
    let KeeperState::Dead(record) = keeper_state(dir).unwrap() else { panic!("not dead") };
    let ended = end_leftovers(&record).unwrap();
    std::fs::write(result, format!("{} {}\n", ended.ended.len(), ended.survivors.len())).unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

/// A run in a scratch folder, with a mark of its own that all its processes carry.
struct Run {
    root: tempfile::TempDir,
    token: Token,
}

impl Run {
    fn new() -> Self {
        let root = tempfile::Builder::new().prefix("keeper-test").tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("trees/ws")).unwrap();
        std::fs::write(root.path().join("trees/ws/.git"), "gitdir: nowhere\n").unwrap();
        std::fs::write(root.path().join("prompt"), "do it\n").unwrap();
        Self { root, token: Token::new(git_axiom::base::env::fresh_id()).unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn spec(&self, script: &str) -> KeeperSpec {
        let marker = ("TEST_ROOT".to_owned(), self.root.path().as_os_str().to_owned());
        let helper = ("HELPER".to_owned(), own().into_os_string());
        KeeperSpec {
            v: VERSION,
            agent: AgentId::new("ed-001").unwrap(),
            task: TaskId::new("t1").unwrap(),
            iteration: 1,
            token: self.token.clone(),
            dir: self.path("runs/1"),
            program: "sh".into(),
            args: vec!["-c".into(), script.into()],
            prompt_file: self.path("prompt"),
            workspace: self.path("trees/ws"),
            log: self.path("log.jsonl"),
            workspace_lock: self.path("ws.lock"),
            state_check: SpawnIntentCheck { common_dir: self.root.path().to_owned(), intent_seq: None },
            grace_seconds: 1,
            time_limit_seconds: None,
            silence_limit_seconds: None,
            stop_signal: KeeperStopSignal::Term,
            reading: git_axiom::process::run_folder::spec::OutputDecoding::default(),
            output_cap: DEFAULT_OUTPUT_CAP,
            acp: None,
            env: BTreeMap::from([marker, helper, ("AXIOM_TASK_ID".to_owned(), "t1".into())]),
        }
    }

    fn start(&self, spec: &KeeperSpec) -> KeeperRecord {
        start_keeper(&own(), &spec.write().unwrap()).unwrap();
        match keeper_state(&spec.dir).unwrap() {
            KeeperState::Alive(record) => record,
            KeeperState::Ended(_) => serde_json::from_slice(&std::fs::read(spec.dir.join("keeper.json")).unwrap()).unwrap(),
            other @ (KeeperState::NotStarted | KeeperState::Starting | KeeperState::Dead(_) | KeeperState::Unproved(_)) => {
                panic!("{other:?}")
            }
        }
    }

    fn end(&self, spec: &KeeperSpec) -> ExitRecord {
        wait_for("the end", || match keeper_state(&spec.dir).unwrap() {
            KeeperState::Ended(exit) => Some(exit),
            dead @ (KeeperState::Dead(_) | KeeperState::Unproved(_)) => panic!("{dead:?}"),
            KeeperState::Alive(_) | KeeperState::Starting | KeeperState::NotStarted => None,
        })
    }

    fn run(&self, script: &str) -> ExitRecord {
        let spec = self.spec(script);
        self.start(&spec);
        self.end(&spec)
    }

    fn log(&self) -> Vec<LogLine> {
        let text = std::fs::read_to_string(self.path("log.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn printed(&self) -> String {
        let lines = self.log();
        let bytes: Vec<u8> = lines.iter().filter(|line| line.stream == LogLineSource::Stdout).flat_map(LogLine::bytes).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The processes that belong to this test, by the mark in their environment or by their command line.
    fn processes(&self) -> Vec<i32> {
        let mark = self.root.path().as_os_str().as_encoded_bytes();
        let has = |file: PathBuf| std::fs::read(file).is_ok_and(|all| all.windows(mark.len()).any(|part| part == mark));
        std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
            .filter(|pid| has(format!("/proc/{pid}/environ").into()) || has(format!("/proc/{pid}/cmdline").into()))
            .collect()
    }

    fn clean_up(&self) -> Vec<i32> {
        let begun = Instant::now();
        while !self.processes().is_empty() && begun.elapsed() < Duration::from_secs(3) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let left = self.processes();
        for pid in &left {
            signal(*pid, rustix::process::Signal::KILL);
        }
        left
    }
}

fn signal(pid: i32, signal: rustix::process::Signal) {
    let _ = rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal);
}

fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn pid_in(path: &Path) -> i32 {
    wait_for("a process number", || std::fs::read_to_string(path).ok()?.trim().parse().ok())
}

fn state_of(pid: i32) -> char {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return '-' };
    stat[stat.rfind(')').unwrap() + 2..].chars().next().unwrap()
}

fn a_plain_run_is_recorded(run: &Run) {
    let exit = run.run("cat; echo out; echo err >&2; printf '\\377\\n'; exit 3");
    assert_eq!((exit.cause, exit.code, exit.signal), (EndCause::Exited, Some(3), None));
    assert_eq!((exit.output.bytes, exit.output.lines, exit.output.dropped), (16, 4, 0));
    let lines = run.log();
    assert!(lines.iter().any(|line| line.stream == LogLineSource::Stderr && line.text.as_deref() == Some("err")));
    assert!(lines.iter().any(|line| line.hex.as_deref() == Some("ff")));
    assert!(run.printed().starts_with("do it\nout\n"));
    assert!(exit.survivors.is_empty() && exit.output.log_error.is_none());
}

fn the_agent_sees_its_surroundings(run: &Run) {
    let script = "tr '\\0' '\\n' < /proc/$$/environ | grep '^PWD=' | cut -c5-; pwd; echo $GIT_CEILING_DIRECTORIES; echo x > $TMPDIR/file; stat -c %a $TMPDIR; echo $TMPDIR; \
                  echo g=$GIT_DIR; ls /proc/self/fd | wc -l; echo $AXIOM_TASK_ID; ps -o sid= -p $$";
    let exit = run.run(script);
    assert_eq!(exit.code, Some(0));
    let printed = run.printed();
    let lines: Vec<&str> = printed.lines().map(str::trim).collect();
    let workspace = run.path("trees/ws");
    assert_eq!(lines[0], workspace.to_str().unwrap());
    assert_eq!(lines[1], workspace.to_str().unwrap());
    assert_eq!(lines[2], run.path("trees").to_str().unwrap());
    assert_eq!((lines[3], lines[5], lines[6], lines[7]), ("700", "g=", "4", "t1"));
    wait_for("the temporary folder to go", || (!Path::new(lines[4]).exists()).then_some(()));
}

/// Starts a program without the variables of the agent, where even so it is known whose it is (docs/PLATFORMS.md).
const FORGOTTEN: &str = if git_axiom::base::platform::ADOPTS_ORPHANS { "env -i" } else { "env" };

fn every_descendant_is_ended(run: &Run) {
    let script = format!(
        "setsid sh -c 'trap \"\" TERM; echo $$ > a; while :; do sleep 0.1; done' & \
         (setsid {FORGOTTEN} sh -c 'trap \"\" TERM; echo $$ > b; exec sleep 300' &) ; \
         while ! [ -s a ] || ! [ -s b ]; do sleep 0.01; done"
    );
    let exit = run.run(&script);
    assert!(exit.ended_descendants >= 2, "{exit:?}");
    assert_eq!((exit.cause, exit.code), (EndCause::Exited, Some(0)));
    for name in ["a", "b"] {
        // Whoever adopted it waits for it when it likes.
        assert!(matches!(state_of(pid_in(&run.path("trees/ws").join(name))), '-' | 'Z'));
    }
}

fn stop_asks_and_then_kills(run: &Run) {
    let spec = run.spec("trap 'echo asked' TERM; echo up; while :; do sleep 0.05; done");
    let record = run.start(&spec);
    control::ping(&record).unwrap();
    wait_for("output", || run.printed().contains("up").then_some(()));
    let begun = Instant::now();
    control::stop(&record).unwrap();
    let exit = run.end(&spec);
    assert!(begun.elapsed() >= Duration::from_millis(900), "it has its grace time");
    assert_eq!((exit.cause, exit.code, exit.signal), (EndCause::Stopped, None, Some(9)));
    assert!(run.printed().contains("asked"));
    let error = wait_for("silence", || control::ping(&record).err());
    assert_eq!(error.code(), Code::KeeperFailed);
}

fn a_polite_program_stops_by_itself(run: &Run) {
    let mut spec = run.spec("trap 'exit 7' INT; echo up; while :; do sleep 0.05; done");
    spec.stop_signal = KeeperStopSignal::Int;
    spec.grace_seconds = 30;
    let record = run.start(&spec);
    wait_for("output", || run.printed().contains("up").then_some(()));
    control::stop(&record).unwrap();
    let exit = run.end(&spec);
    assert_eq!((exit.cause, exit.code), (EndCause::Stopped, Some(7)));
}

fn kill_does_not_wait(run: &Run) {
    let mut spec = run.spec("trap '' TERM; echo up; while :; do sleep 0.05; done");
    spec.grace_seconds = 30;
    let record = run.start(&spec);
    wait_for("output", || run.printed().contains("up").then_some(()));
    let begun = Instant::now();
    control::kill(&record).unwrap();
    let exit = run.end(&spec);
    assert_eq!((exit.cause, exit.signal), (EndCause::Killed, Some(9)));
    assert!(begun.elapsed() < Duration::from_secs(3));
}

fn a_keeper_without_socket_can_be_stopped(run: &Run) {
    let spec = run.spec("sleep 300");
    let record = run.start(&spec);
    std::fs::remove_file(&record.socket).unwrap();
    control::stop(&record).unwrap();
    assert_eq!(run.end(&spec).cause, EndCause::Stopped);
}

fn limits_end_a_run(run: &Run) {
    let mut spec = run.spec("trap '' TERM; while :; do echo x; sleep 0.1; done");
    spec.time_limit_seconds = Some(1);
    run.start(&spec);
    assert_eq!(run.end(&spec).cause, EndCause::TimeLimit);
    let mut spec = run.spec("echo x; sleep 300");
    spec.dir = run.path("runs/2");
    spec.silence_limit_seconds = Some(1);
    run.start(&spec);
    assert_eq!(run.end(&spec).cause, EndCause::SilenceLimit);
}

fn a_flood_is_counted_and_capped(run: &Run) {
    let mut spec =
        run.spec("yes 'some words on a line' | head -c 200000000; echo; echo \"<axiom $AXIOM_TOKEN>COMPLETE</axiom>\"");
    spec.output_cap = 1_000_000;
    run.start(&spec);
    let exit = run.end(&spec);
    assert!(exit.output.bytes > 200_000_000 && exit.output.dropped > 199_000_000, "{exit:?}");
    assert!(std::fs::metadata(&spec.log).unwrap().len() < 1_001_000);
    assert_eq!(run.log().last().unwrap().stream, LogLineSource::Keeper);
    assert_eq!(exit.markers, [AgentSignal::Complete {}]);
}

fn a_large_prompt_that_nobody_reads_harms_nobody(run: &Run) {
    std::fs::write(run.path("prompt"), vec![b'p'; 10_000_000]).unwrap();
    assert_eq!(run.run("exec <&-; exit 0").code, Some(0));
}

fn prompts_arrive_whole(run: &Run) {
    std::fs::write(run.path("prompt"), vec![b'p'; 10_000_000]).unwrap();
    run.run("wc -c");
    assert_eq!(run.printed().trim(), "10000000");
    let mut spec = run.spec("wc -c < \"$0\"; wc -c");
    spec.dir = run.path("runs/2");
    spec.args.push("{promptFile}".into());
    run.start(&spec);
    run.end(&spec);
    assert_eq!(run.printed(), "10000000\n10000000\n0\n");
    let mut spec = run.spec(":");
    spec.dir = run.path("runs/3");
    spec.args.push("{prompt}".into());
    run.start(&spec);
    let EndCause::SpawnFailed { why } = run.end(&spec).cause else { panic!("10 MB are no argument") };
    assert!(why.contains("too long"), "{why}");
}

fn a_program_that_does_not_exist_is_recorded(run: &Run) {
    let mut spec = run.spec("");
    spec.program = "no-such-program-here".into();
    run.start(&spec);
    let exit = run.end(&spec);
    let EndCause::SpawnFailed { why } = exit.cause else { panic!("{exit:?}") };
    assert!(why.contains("no-such-program-here") && exit.code.is_none(), "{why}");
}

fn a_lost_workspace_is_recorded(run: &Run) {
    let spec = run.spec("echo up; rm .git; sleep 300");
    run.start(&spec);
    assert_eq!(run.end(&spec).cause, EndCause::LostWorkspace);
    let mut spec = run.spec("touch started");
    spec.dir = run.path("runs/2");
    run.start(&spec);
    assert_eq!(run.end(&spec).cause, EndCause::LostWorkspace);
    assert!(!run.path("trees/ws/started").exists());
}

fn an_unwanted_keeper_starts_nothing(run: &Run) {
    std::fs::write(run.path("unwanted"), "").unwrap();
    let spec = run.spec("touch started");
    let error = start_keeper(&own(), &spec.write().unwrap()).unwrap_err();
    assert_eq!(error.code(), Code::KeeperFailed);
    wait_for("it to go", || (keeper_state(&spec.dir).unwrap() == KeeperState::NotStarted).then_some(()));
    assert!(!run.path("trees/ws/started").exists());
}

fn an_iteration_runs_once(run: &Run) {
    let spec = run.spec("echo once");
    run.start(&spec);
    run.end(&spec);
    let error = start_keeper(&own(), &spec.write().unwrap()).unwrap_err();
    assert!(error.to_string().contains("started before"), "{error}");
    assert_eq!(run.printed(), "once\n");
}

fn a_workspace_has_one_keeper(run: &Run) {
    let spec = run.spec("sleep 300");
    let record = run.start(&spec);
    let mut second = run.spec("touch started");
    second.dir = run.path("runs/2");
    let error = start_keeper(&own(), &second.write().unwrap()).unwrap_err();
    assert!(error.to_string().contains("in use by another keeper"), "{error}");
    control::kill(&record).unwrap();
    run.end(&spec);
    // As soon as the first is recorded as ended, the next one can start.
    run.start(&second);
    assert_eq!(run.end(&second).code, Some(0));
}

fn signals_and_markers_are_recorded(run: &Run) {
    let script = "\"$HELPER\" signal progress 40 && \"$HELPER\" signal blocked why || exit 9; \
                  AXIOM_TOKEN=other \"$HELPER\" signal complete x && exit 8; \
                  echo \"<axiom $AXIOM_TOKEN>PROGRESS: 50</axiom>\"; echo '<axiom other>COMPLETE</axiom>'";
    let exit = run.run(script);
    assert_eq!((exit.code, exit.signals), (Some(0), 2), "{}", run.printed());
    assert!(run.printed().contains("another iteration"));
    assert_eq!(exit.markers, [AgentSignal::Progress { percent: 50 }]);
    let read = read_signals(&run.path("runs/1"), 0).unwrap();
    let said: Vec<AgentSignal> = read.signals.into_iter().map(|received| received.signal).collect();
    assert_eq!(said, [AgentSignal::Progress { percent: 40 }, AgentSignal::Blocked { reason: "why".into() }]);
}

fn a_killed_launcher_changes_nothing(run: &Run) {
    let spec = run.spec("echo up; while ! [ -e go ]; do sleep 0.05; done; echo end");
    let path = spec.write().unwrap();
    let mut launcher = Command::new(own()).arg("launch").arg(&path).stdin(Stdio::null()).spawn().unwrap();
    wait_for("output", || run.printed().contains("up").then_some(()));
    let KeeperState::Alive(record) = keeper_state(&spec.dir).unwrap() else { panic!("not alive") };
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", record.keeper.pid)).unwrap();
    let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
    assert_eq!(fields[3], record.keeper.pid.to_string(), "it leads a session of its own");
    assert_ne!(fields[1], launcher.id().to_string(), "it is not the launcher's child");
    launcher.kill().unwrap();
    launcher.wait().unwrap();
    signal(record.keeper.pid, rustix::process::Signal::INT);
    signal(record.keeper.pid, rustix::process::Signal::HUP);
    std::fs::write(run.path("trees/ws/go"), "").unwrap();
    let exit = run.end(&spec);
    assert_eq!((exit.cause, exit.code), (EndCause::Exited, Some(0)));
    assert_eq!(run.printed(), "up\nend\n");
}

fn a_killed_keeper_leaves_nothing_after_the_clean_up(run: &Run) {
    let script = format!(
        "setsid sh -c 'trap \"\" TERM; echo $$ > a; while :; do sleep 0.1; done' & \
         (setsid {FORGOTTEN} sh -c 'echo $$ > b; exec sleep 300' &) ; trap '' TERM PIPE; while :; do sleep 0.1; done"
    );
    let spec = run.spec(&script);
    let record = run.start(&spec);
    let pids = ["a", "b"].map(|name| pid_in(&run.path("trees/ws").join(name)));
    wait_for("the note of the family", || {
        let noted = std::fs::read_to_string(record.runtime.join("family.json")).ok()?;
        pids.iter().all(|pid| noted.contains(&format!("\"pid\":{pid},"))).then_some(())
    });
    assert!(end_leftovers(&record).is_err(), "never below a living keeper");
    signal(record.keeper.pid, rustix::process::Signal::KILL);
    let dead = wait_for("death", || match keeper_state(&spec.dir).unwrap() {
        KeeperState::Dead(record) => Some(record),
        KeeperState::Alive(_) => None,
        other @ (KeeperState::NotStarted | KeeperState::Starting | KeeperState::Ended(_) | KeeperState::Unproved(_)) => {
            panic!("{other:?}")
        }
    });
    assert!(dead.program.is_some());
    let ended = end_leftovers(&dead).unwrap();
    assert!(ended.ended.len() >= 3 && ended.survivors.is_empty(), "{ended:?}");
    for pid in pids {
        wait_for("its end", || matches!(state_of(pid), '-' | 'Z').then_some(()));
    }
    assert!(!dead.runtime.exists());
    assert!(end_leftovers(&dead).unwrap().ended.is_empty());
}

fn cleaning_up_below_the_agent_spares_oneself(run: &Run) {
    let script = "trap '' PIPE; (sleep 300 & echo $! > b); echo $$ > a; while ! [ -e dead ]; do sleep 0.05; done; \
                  \"$HELPER\" leftovers \"$RUN_DIR\" \"$PWD/result\"";
    let mut spec = run.spec(script);
    spec.env.insert("RUN_DIR".into(), spec.dir.clone().into_os_string());
    let record = run.start(&spec);
    let workspace = run.path("trees/ws");
    let (a, b) = (pid_in(&workspace.join("a")), pid_in(&workspace.join("b")));
    signal(record.keeper.pid, rustix::process::Signal::KILL);
    wait_for("death", || matches!(keeper_state(&spec.dir).unwrap(), KeeperState::Dead(_)).then_some(()));
    std::fs::write(workspace.join("dead"), "").unwrap();
    let result =
        wait_for("the result", || std::fs::read_to_string(workspace.join("result")).ok().filter(|said| said.ends_with('\n')));
    assert_eq!(result, "1 0\n");
    assert!(matches!(state_of(b), '-' | 'Z'), "its sibling is ended");
    assert!(!matches!(state_of(a), '-' | 'Z'), "its parent is not");
    let KeeperState::Dead(record) = keeper_state(&spec.dir).unwrap() else { panic!("not dead") };
    assert!(end_leftovers(&record).unwrap().ended.len() >= 2);
}

fn a_log_on_a_full_disk_is_recorded(run: &Run) {
    let mut spec = run.spec("head -c 3000000 /dev/zero; echo; exit 4");
    spec.log = "/dev/full".into();
    run.start(&spec);
    let exit = run.end(&spec);
    assert_eq!((exit.code, exit.output.bytes, exit.output.dropped), (Some(4), 3_000_001, 3_000_001));
    assert!(exit.output.log_error.is_some_and(|why| why.contains("/dev/full")));
}

fn a_crash_at_any_point_is_seen_as_what_it_is(run: &Run) {
    let points = [
        ("keeper.locked", "none"),
        ("keeper.recorded", "dead"),
        ("keeper.program-started", "dead"),
        ("keeper.program-recorded", "dead"),
        ("keeper.ended", "dead"),
        ("keeper.end-recorded", "ended"),
    ];
    for (number, (point, expected)) in points.into_iter().enumerate() {
        // Where the program runs at the crash, it would run on: the clean-up has to find it.
        let mut spec = run.spec(if point.starts_with("keeper.program") { "sleep 300" } else { "sleep 0.1" });
        spec.dir = run.path(&format!("runs/{number}"));
        spec.token = Token::new(format!("{}-{number}", run.token)).unwrap();
        let path = spec.write().unwrap();
        let launched = Command::new(own())
            .args(["keeper", "--spec"])
            .arg(&path)
            .env("AXIOM_TEST_FAULT", format!("{point}:1"))
            .stdin(Stdio::null())
            .process_group(0)
            .output()
            .unwrap();
        assert!(launched.status.success());
        let state = wait_for("the crash", || {
            let locked = git_axiom::base::files::is_locked(&spec.dir.join("keeper.lock")).unwrap();
            let begun = spec.dir.join("keeper.lock").exists();
            (begun && !locked).then(|| keeper_state(&spec.dir).unwrap())
        });
        match (state, expected) {
            (KeeperState::NotStarted, "none") => {}
            (KeeperState::Ended(exit), "ended") => {
                assert_eq!(exit.code, Some(0));
                let record = serde_json::from_slice(&std::fs::read(spec.dir.join("keeper.json")).unwrap()).unwrap();
                end_leftovers(&record).unwrap();
            }
            (KeeperState::Dead(record), "dead") => {
                end_leftovers(&record).unwrap();
                assert!(!record.runtime.exists());
            }
            (state, _) => panic!("{point}: {state:?}"),
        }
    }
}

fn a_hold_freezes_and_releases(run: &Run) {
    let script = "(setsid sh -c 'echo $$ > a; while :; do echo x >> grows; sleep 0.01; done' &); \
                  sleep 300 & echo $! > b; kill -STOP $!; echo up; while :; do :; done";
    let spec = run.spec(script);
    let record = run.start(&spec);
    let (a, b) = (pid_in(&run.path("trees/ws/a")), pid_in(&run.path("trees/ws/b")));
    wait_for("output", || run.printed().contains("up").then_some(()));
    wait_for("the stop", || (state_of(b) == 'T').then_some(()));
    let first = control::hold(&record, Duration::from_secs(20)).unwrap();
    assert!(first.is_stable() && first.held() >= 2, "{first:?}");
    let second = control::hold(&record, Duration::from_secs(20)).unwrap();
    let size = || std::fs::metadata(run.path("trees/ws/grows")).unwrap().len();
    let before = size();
    assert_eq!(state_of(a), 'T');
    assert!(first.release().unwrap());
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(size(), before, "the second hold still has it");
    assert!(second.release().unwrap());
    wait_for("growth", || (size() > before).then_some(()));
    assert_eq!(state_of(b), 'T', "what was stopped before stays so");
    let short = control::hold(&record, Duration::from_millis(50)).unwrap();
    let before = size();
    wait_for("growth", || (size() > before).then_some(()));
    assert!(!short.release().unwrap(), "a hold that ran out says so");
    let _held = control::hold(&record, Duration::from_secs(20)).unwrap();
    control::stop(&record).unwrap();
    assert_eq!(run.end(&spec).cause, EndCause::Stopped);
}

fn busy_programs_are_held_quickly_every_time(run: &Run) {
    // Shells start programs by vfork: a child that is stopped before its exec leaves its parent waiting in the kernel.
    let script = "for i in 1 2 3; do sh -c 'while :; do /bin/true; done' & done; echo up; while :; do /bin/true; done";
    let spec = run.spec(script);
    let record = run.start(&spec);
    wait_for("output", || run.printed().contains("up").then_some(()));
    for _ in 0..40 {
        let begun = Instant::now();
        let guard = control::hold(&record, Duration::from_secs(20)).unwrap();
        assert!(guard.is_stable() && begun.elapsed() < Duration::from_secs(1), "{:?} {guard:?}", begun.elapsed());
        assert!(guard.release().unwrap());
    }
    control::kill(&record).unwrap();
    run.end(&spec);
}

fn a_hold_ends_with_its_holder(run: &Run) {
    // Without children: a shell that waits for one to begin (vfork) is held with that one, and is not told as stopped.
    let spec = run.spec("echo $$ > a; while :; do :; done");
    let record = run.start(&spec);
    let pid = pid_in(&run.path("trees/ws/a"));
    let mut holder = Command::new(own()).arg("hold").arg(&spec.dir).arg("60").stdout(Stdio::null()).spawn().unwrap();
    wait_for("the hold", || (state_of(pid) == 'T').then_some(()));
    holder.kill().unwrap();
    holder.wait().unwrap();
    wait_for("the release", || (state_of(pid) != 'T').then_some(()));
    control::kill(&record).unwrap();
    run.end(&spec);
}

fn an_agent_can_hold_the_others(run: &Run) {
    let script = "sh -c 'echo $$ > a; while :; do :; done' & while ! [ -s a ]; do sleep 0.01; done; \
                  \"$HELPER\" hold \"$RUN_DIR\" 1; exit $?";
    let mut spec = run.spec(script);
    spec.env.insert("RUN_DIR".into(), spec.dir.clone().into_os_string());
    run.start(&spec);
    let pid = pid_in(&run.path("trees/ws/a"));
    wait_for("the hold", || (state_of(pid) == 'T').then_some(()));
    let exit = run.end(&spec);
    assert_eq!((exit.cause, exit.code), (EndCause::Exited, Some(0)), "{}", run.printed());
    assert!(run.printed().contains("true"));
}

fn no_lock_is_inherited(run: &Run) {
    use git_axiom::base::files::{FileLock, LockAttempt, is_locked};
    let path = run.path("operation.lock");
    let LockAttempt::Taken(lock) = FileLock::try_take(&path).unwrap() else { panic!("held") };
    // As while a git child that has to hold the lock is being started.
    rustix::io::fcntl_setfd(lock.descriptor(), rustix::io::FdFlags::empty()).unwrap();
    let spec = run.spec("sleep 300");
    let record = run.start(&spec);
    drop(lock);
    assert!(!is_locked(&path).unwrap());
    control::kill(&record).unwrap();
    run.end(&spec);
}
