//! What every question at a terminal keeps to, whatever is asked: see `ui::cli::prompt`.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::time::{Duration, Instant};

use crate::support::Scratch;
use crate::terminal::Terminal;
use rustix::process::{Signal, WaitOptions, kill_process, waitpid};

const ESCAPE: &str = "\x1b";
const END: &str = "\x1b[F";
const QUESTION: &str = "Take it back? [y/N]";

fn at_terminal(scratch: &Scratch, args: &[&str]) -> Terminal {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    command.args(args);
    Terminal::start(command)
}

/// Something that a question can be asked about.
fn with_a_task() -> Scratch {
    let scratch = Scratch::new();
    scratch.axiom(&["task", "add", "x", "--id", "x"]);
    scratch
}

fn tasks(scratch: &Scratch) -> usize {
    scratch.json(&["task", "list"])["tasks"].as_array().unwrap().iter().filter(|task| task["status"] != "archived").count()
}

fn cursor_is_shown(seen: &str) -> bool {
    seen.rfind("\x1b[?25h") > seen.rfind("\x1b[?25l")
}

#[test]
fn a_no_is_no_error_and_escape_is_one_at_once() {
    let scratch = with_a_task();
    for no in [&[ESCAPE][..], &["n", "\r"], &["\r"], &["y", ESCAPE]] {
        let mut question = at_terminal(&scratch, &["undo"]);
        question.wait_for(QUESTION);
        question.keys(no);
        let (status, seen) = question.end();
        assert_eq!(status.code(), Some(3), "{no:?}: {seen}");
        assert!(seen.ends_with("Nothing was changed.\r\n") && !seen.contains("error["), "{no:?}: {seen}");
    }
    assert_eq!(tasks(&scratch), 1);
}

#[test]
fn what_is_pasted_or_was_typed_before_the_question_is_no_answer() {
    let scratch = with_a_task();
    let mut question = at_terminal(&scratch, &["undo"]);
    question.type_at_once("y\ny\n");
    question.wait_for(QUESTION);
    for pasted in ["\x1b[200~y\r\x1b[201~", "y\rls\r", "\x1b[200~y\r", "\x1b[201~"] {
        std::thread::sleep(Duration::from_millis(200));
        assert!(question.is_running(), "{pasted:?}");
        question.type_at_once(pasted);
        if pasted != "\x1b[200~y\r" {
            question.wait_for("pasted text is not an answer");
        }
    }
    question.wait_for(QUESTION);
    question.keys(&["\r"]);
    assert_eq!(question.end().0.code(), Some(3));
    assert_eq!(tasks(&scratch), 1);
    // One answer on a slow line is an answer.
    let mut question = at_terminal(&scratch, &["undo"]);
    question.wait_for(QUESTION);
    std::thread::sleep(Duration::from_millis(200));
    question.type_at_once("y\r");
    assert!(question.end().0.success());
    assert_eq!(tasks(&scratch), 0);
}

#[test]
fn whatever_ends_a_menu_the_terminal_is_as_it_was() {
    let scratch = with_a_task();
    let mut menu = at_terminal(&scratch, &["rollback"]);
    menu.wait_for("Make a new checkpoint");
    std::thread::sleep(Duration::from_millis(100));
    assert!(!menu.is_as_shells_want_it());
    menu.keys(&["\x03"]);
    while menu.is_running() {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(menu.is_as_shells_want_it());
    let (status, seen) = menu.end();
    assert_eq!(status.code(), Some(130), "{seen}");
    assert!(seen.contains("\x1b[?25l") && cursor_is_shown(&seen) && seen.ends_with('\n'), "{seen:?}");

    let mut menu = at_terminal(&scratch, &["rollback"]);
    menu.wait_for("Make a new checkpoint");
    kill_process(menu.pid(), Signal::TERM).unwrap();
    while menu.is_running() {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(menu.is_as_shells_want_it());
    let (status, seen) = menu.end();
    assert_eq!(status.signal(), Some(15), "{seen}");
    assert!(cursor_is_shown(&seen), "{seen:?}");
}

#[test]
fn ctrl_z_stops_with_the_terminal_put_back_and_the_question_is_asked_again() {
    let scratch = with_a_task();
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    // As a shell with jobs starts it.
    command.arg("undo").process_group(0);
    let mut question = Terminal::start(command);
    question.wait_for(QUESTION);
    question.keys(&["\x1a"]);
    let started = Instant::now();
    let stopped = loop {
        match waitpid(Some(question.pid()), WaitOptions::UNTRACED | WaitOptions::NOHANG).unwrap() {
            Some((_, status)) => break status,
            None => assert!(started.elapsed() < Duration::from_secs(120), "it is not stopped"),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(stopped.stopped(), "{stopped:?}");
    assert!(question.is_as_shells_want_it());
    kill_process(question.pid(), Signal::CONT).unwrap();
    question.wait_for(QUESTION);
    question.keys(&["y", "\r"]);
    assert!(question.end().0.success());
    assert_eq!(tasks(&scratch), 0);
}

#[test]
fn a_menu_scrolls_within_the_screen() {
    let scratch = Scratch::new();
    for number in 0..12 {
        scratch.axiom(&["checkpoint", "create", &format!("number-{number}")]);
    }
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    command.arg("rollback");
    let mut menu = Terminal::start_in(command, (8, 40));
    menu.wait_for("of 13");
    menu.keys(&[END]);
    let drawn = menu.wait_for("13 of 13");
    let drawn = drawn.rsplit("\x1b[J").next().unwrap();
    assert!(drawn.contains("> Make a new checkpoint") && drawn.contains("#   time "), "{drawn}");
    assert!(drawn.lines().count() <= 8 && drawn.lines().all(|line| line.trim_end().chars().count() < 40), "{drawn}");
    menu.keys(&[ESCAPE]);
    assert!(menu.end().0.success());
}

#[test]
fn q_and_ctrl_c_end_a_watch() {
    let scratch = with_a_task();
    for (key, code) in [("q", 0), ("\x03", 130)] {
        let mut watch = at_terminal(&scratch, &["status", "--watch"]);
        watch.wait_for("q ends this.");
        watch.keys(&[key]);
        while watch.is_running() {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(watch.is_as_shells_want_it());
        let (status, seen) = watch.end();
        assert_eq!(status.code(), Some(code), "{seen}");
    }
}

/// A rollback to where everything is already asks nothing and makes nothing; one that only changes what is beside the files does.
#[test]
fn a_rollback_that_changes_nothing_says_so_and_does_nothing() {
    let scratch = with_a_task();
    scratch.write("a.txt", "changed\n");
    scratch.axiom(&["checkpoint", "create", "here"]);
    let seq = scratch.store().state().seq;
    for args in
        [&["rollback", "checkpoint", "here"][..], &["restore", "here", "--", "a.txt"], &["rollback", "checkpoint", "here", "-y"]]
    {
        let (status, seen) = at_terminal(&scratch, args).end();
        assert!(status.success() && seen.contains("Nothing was changed: ") && !seen.contains("[y/N]"), "{args:?}: {seen}");
    }
    let answer = scratch.json(&["rollback", "checkpoint", "here", "--yes"]);
    assert!(answer["safety"].is_null() && answer["undo"].is_null(), "{answer}");
    assert_eq!(scratch.store().state().seq, seq);

    scratch.git(&["update-index", "--skip-worktree", "staged.txt"]);
    let changes: &[&dyn Fn()] = &[
        &|| {},
        &|| drop(scratch.git(&["add", "a.txt"])),
        &|| drop(scratch.git(&["tag", "-f", "v1"])),
        &|| drop(scratch.axiom(&["task", "block", "x", "--reason", "y"])),
        &|| drop(scratch.axiom(&["mode", "autopilot"])),
        &|| scratch.write("new.txt", "new\n"),
        &|| drop(scratch.git(&["checkout", "-q", "-b", "other"])),
    ];
    for (number, change) in changes.iter().enumerate() {
        change();
        if number == 2 {
            scratch.axiom(&["checkpoint", "create", "tagged"]);
            scratch.git(&["tag", "-d", "v1"]);
        }
        let to = if number == 2 { "tagged" } else { "here" };
        // Without it, a task that was taken back waits at a gate: that is another state.
        let answer = scratch.json(&["rollback", "checkpoint", to, "--yes", "--retry"]);
        assert!(answer["safety"].is_string(), "change {number}: {answer}");
        assert!(scratch.json(&["rollback", "checkpoint", to, "--yes"])["safety"].is_null(), "change {number}");
    }
}
