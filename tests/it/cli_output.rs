//! What goes where: the answer to standard output, everything else to standard error.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a failing test may panic, and tests prepare files

use std::process::Stdio;

use crate::common::TestEnv;
use git_axiom::base::error::Code;

#[test]
fn with_json_there_is_exactly_one_document_also_for_errors() {
    let env = TestEnv::new();
    for (args, code) in [
        (&["task", "show", "nowhere"][..], Code::UnknownTask),
        (&["task", "add", "x", "--id", "a/b"], Code::InvalidId),
        (&["task", "ad"], Code::Usage),
        (&["task", "add"], Code::Usage),
        (&["nonsense"], Code::Usage),
        (&[], Code::Usage),
    ] {
        let run = env.axiom(&[args, &["--json"]].concat()).fails_with(code);
        assert_eq!(run.json()["error"]["code"], code.as_str());
        let run = env.axiom(&[&["--json"], args].concat()).fails_with(code);
        assert!(!run.json()["error"]["hints"].as_array().unwrap().is_empty(), "{run}");
    }
    env.ok(&["task", "add", "x"]);
    for args in [
        &["init"][..],
        &["task", "list"],
        &["task", "show", "task-001"],
        &["task", "edit", "task-001", "--title", "y"],
        &["task", "block", "task-001", "--reason", "z"],
        &["task", "unblock", "task-001"],
        &["task", "audit", "task-001"],
        &["task", "archive", "task-001"],
        &["status"],
        &["log"],
        &["events"],
        &["config", "show"],
        &["config", "check"],
        &["completions", "bash"],
        &["man", "task"],
    ] {
        let run = env.axiom(&[args, &["--json"]].concat()).success();
        run.json();
        assert_eq!(run.stderr, "", "people's words are left out\n{run}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let env = TestEnv::new();
    let lines: String = (0..5000).map(|n| format!("{{\"title\": \"task number {n}\"}}\n")).collect();
    env.axiom_fed(&["task", "import", "-"], lines.as_bytes()).success();
    for args in [&["task", "list"][..], &["task", "list", "--json"], &["events"], &["completions", "bash"]] {
        let mut command = env.axiom_command(&env.repo(), args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let env = TestEnv::new();
    env.ok(&["task", "add", "x"]);
    let mut command = env.axiom_command(&env.repo(), ["task", "list"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .contains("error[IO_FAILED]: the command was done, but its answer could not be printed")
    );
}

#[test]
fn following_ends_when_the_reader_has_gone() {
    use std::io::{BufRead, BufReader};
    let env = TestEnv::new();
    env.ok(&["task", "add", "one"]);
    let mut command = env.axiom_command(&env.repo(), ["events", "--follow", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("\"one\""));
    env.ok(&["task", "add", "two"]);
    assert!(lines.next().unwrap().unwrap().contains("\"two\""), "what comes later is seen");
    drop(lines);
    env.ok(&["task", "add", "three"]);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while child.try_wait().unwrap().is_none() {
        assert!(std::time::Instant::now() < deadline, "it goes on for nobody");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn no_colour_reaches_a_pipe() {
    let env = TestEnv::new();
    let run = env.axiom(&["task", "show", "nowhere"]);
    assert!(!run.stderr.contains('\u{1b}'), "{run}");
    let mut forced = env.axiom_command(&env.repo(), ["task", "show", "nowhere"]);
    forced.envs([("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]);
    assert!(!env.run(forced, None).stderr.contains('\u{1b}'), "NO_COLOR wins");
}

#[test]
fn help_of_every_verb_goes_to_standard_output() {
    let env = TestEnv::empty();
    for page in git_axiom::ui::commands::grammar::man_pages::pages().unwrap() {
        let args: Vec<&str> = page.verb.iter().map(String::as_str).chain(["-h"]).collect();
        let run = env.axiom_in(env.root(), &args).success();
        let shown = if page.verb.is_empty() { "all: git axiom help --all" } else { "Usage: git axiom" };
        assert!(run.stdout.contains(shown) && run.stderr.is_empty(), "{run}");
    }
}

#[test]
fn help_is_wrapped_by_hand_and_not_again() {
    fn check(command: &clap::Command) {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in text.lines() {
            assert!(line.chars().count() <= 96, "{}: {line}", command.get_name());
        }
        command.get_subcommands().for_each(check);
    }
    let mut command = <git_axiom::ui::commands::grammar::arguments::Cli as clap::CommandFactory>::command();
    command.build();
    check(&command);
}

#[test]
fn usage_errors_name_what_can_be_said() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.axiom(&["mode", "fast"]), @r"
    --- stderr
    error[INVALID_INPUT]: 'fast' is not a mode
    hint: modes are semi-auto, review and autopilot
    --- exit 2
    ");
    insta::assert_snapshot!(env.axiom(&["stop"]), @r"
    --- stderr
    error[USAGE]: no agent was named
    hint: git axiom stop AGENT    for one that 'git axiom status' lists
    hint: git axiom stop --all    for all of them
    --- exit 2
    ");
    insta::assert_snapshot!(env.axiom(&["rollback", "--nonsense"]), @r"
    --- stderr
    error[USAGE]: 'git axiom rollback' has no option '--nonsense'
    hint: usage: git axiom rollback [OPTIONS] [NAME] [-- <PATH>...], or git axiom rollback <COMMAND>
    hint: git axiom rollback -h    says all of it
    --- exit 2
    ");
    insta::assert_snapshot!(env.axiom(&["gate", "approve"]), @r"
    --- stderr
    error[USAGE]: GATE is missing after 'git axiom gate approve'
    hint: git axiom gate list    lists what waits for you
    hint: usage: git axiom gate approve <GATE>..., or git axiom gate approve --all
    hint: git axiom gate approve -h    says all of it
    --- exit 2
    ");
    insta::assert_snapshot!(env.axiom(&["gate", "approve", "--all"]), @r"
    Nothing waits for an approval.
    --- exit 0
    ");
}

#[test]
fn tracing_goes_where_it_is_asked() {
    let env = TestEnv::new();
    let log = env.root().join("trace");
    let mut command = env.axiom_command(&env.repo(), ["task", "list"]);
    command.env("AXIOM_LOG", format!("trace>{}", log.display()));
    env.run(command, None).success();
    assert!(log.exists());
}

/// What a supporter gets: what happened, how long it took, how much it was; no words of agents.
#[test]
fn traces_of_a_session_have_numbers_and_no_words() {
    let mut world = crate::session_support::World::new();
    let log = world.beside("trace");
    world.variables = vec![("AXIOM_LOG".into(), format!("info>{}", log.display()))];
    world.task(
        "t",
        "echo 'my secret'; git axiom signal learning 'my secret'; echo 1 > t.txt",
        &["--verify", "unit=echo '3 passed in 1s'"],
    );
    world.autopilot(&[]).code(0);
    let traced = std::fs::read_to_string(&log).unwrap();
    for wanted in [
        "session{pid=",
        ": sessionStarted session=",
        "taskClaimed agent=agent-001 task=t",
        "iterationIntended agent=agent-001 iteration=1 program= resumes=false task=t",
        "iterationEnded agent=agent-001 outcome=complete ms=",
        "stepVerified task=t passed=true exit=0 ms=",
        " tests=3/3",
        "merge{task=t}: ",
        "merge ends outcome=\"merged\"",
        "operationEnded end=done",
        "recovery: ",
        "time.busy=",
        "sessionChanged state=ended iterations=1 merged=1 failed=0 programMs=",
    ] {
        assert!(traced.contains(wanted), "{wanted}: {traced}");
    }
    assert!(!traced.contains("secret"), "{traced}");
    world.all_is_well();
}
