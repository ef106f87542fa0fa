//! The prompts of rollback, at a pseudo terminal. Escape always leaves everything as it was.

use crate::support::{Scratch, contents};
use crate::terminal::Terminal;

const ESCAPE: &str = "\x1b";
const DOWN: &str = "\x1b[B";

fn at_terminal(scratch: &Scratch, args: &[&str]) -> Terminal {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    command.args(args);
    Terminal::start(command)
}

fn everything(scratch: &Scratch) -> String {
    let refs = scratch.git(&["for-each-ref"]);
    format!("{refs}\n{}\n{:?}\n{}", scratch.users_view(), contents(&scratch.path()), scratch.store().state().seq)
}

#[test]
fn the_menu_shows_what_it_reverts_and_goes_back_only_on_a_yes() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.axiom(&["checkpoint", "create", "older"]);
    scratch.axiom(&["merge", "t1"]);
    scratch.axiom(&["checkpoint", "create", "newer"]);
    let before = everything(&scratch);

    let mut menu = at_terminal(&scratch, &["rollback"]);
    let head = menu.wait_for("Make a new checkpoint");
    assert!(head.contains("Tasks: 1 done, 0 in progress, 0 pending"), "{head}");
    assert!(head.find("newer").unwrap() < head.find("older").unwrap(), "newest first: {head}");
    menu.keys(&[ESCAPE]);
    let (status, seen) = menu.end();
    assert!(status.success() && seen.contains("Nothing was changed"), "{seen}");
    assert_eq!(everything(&scratch), before);

    // Down from 'newer', past the checkpoints around the merge, to 'older'; a no, and Escape, lead back to the menu.
    let mut menu = at_terminal(&scratch, &["rollback"]);
    for answer in [&["n", "\r"][..], &[ESCAPE]] {
        menu.wait_for("Make a new checkpoint");
        menu.keys(&[DOWN, DOWN, DOWN, "\r"]);
        let details = menu.wait_for("Go back?");
        for wanted in ["Type: named", "Merge task t1", "no longer merged", "git axiom undo"] {
            assert!(details.contains(wanted), "{wanted}: {details}");
        }
        menu.keys(answer);
    }
    menu.wait_for("Make a new checkpoint");
    assert_eq!(everything(&scratch), before);
    menu.keys(&[DOWN, DOWN, DOWN, "\r"]);
    menu.wait_for("Go back?");
    menu.keys(&["y", "\r"]);
    let (status, seen) = menu.end();
    assert!(status.success() && seen.contains("Went back to checkpoint older"), "{seen}");
    assert!(!scratch.has("t1.txt") && scratch.task("t1").merged.is_none());
}

#[test]
fn the_menu_makes_checkpoints_and_needs_a_terminal() {
    let scratch = Scratch::new();
    scratch.refused(&["rollback"], "USAGE", 2);
    let mut menu = at_terminal(&scratch, &["rollback"]);
    menu.wait_for("Make a new checkpoint");
    menu.keys(&["\r"]);
    menu.wait_for("Its name");
    menu.keys(&["mine", "\r"]);
    let seen = menu.wait_for("Make a new checkpoint");
    assert!(seen.contains("Made checkpoint mine"), "{seen}");
    menu.keys(&[ESCAPE]);
    assert!(menu.end().0.success());
    assert_eq!(scratch.json(&["checkpoint", "list"])["checkpoints"][0]["name"], "mine");
}

#[test]
fn a_tasks_rollback_lists_its_commits_and_asks() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.axiom(&["merge", "t1"]);
    let before = everything(&scratch);
    for (answer, code) in [(&[ESCAPE][..], 3), (&["n", "\r"], 3), (&["\r"], 3), (&["y", "\r"], 0)] {
        let mut question = at_terminal(&scratch, &["rollback", "task", "t1"]);
        let list = question.wait_for("Take it back?");
        for wanted in ["Merge task t1", "1 commit reverted", "t1: done → pending, no longer merged", "t1.txt"] {
            assert!(list.contains(wanted), "{wanted}: {list}");
        }
        question.keys(answer);
        let (status, seen) = question.end();
        assert_eq!(status.code(), Some(code), "{answer:?}: {seen}");
        if code == 3 {
            assert_eq!(everything(&scratch), before);
        }
    }
    assert!(!scratch.has("t1.txt"));
}

/// The first use of `docs/USING.md`, line by line, as somebody types it.
#[test]
fn the_first_use_that_the_page_shows_works_as_written() {
    let scratch = Scratch::new();
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/USING.md")).unwrap();
    let (_, part) = page.split_once("## The first real use").unwrap();
    let blocks: Vec<&str> = part.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    // The second shows other agents, which are not installed here.
    let lines = [blocks[0], blocks[2]].into_iter().flat_map(str::lines);
    let lines: Vec<&str> = lines.map(|line| line.split("  #").next().unwrap().trim_end()).collect();
    assert!(lines.len() == 10 && lines.contains(&"git axiom undo"), "{lines:?}");
    let path = std::path::Path::new(env!("CARGO_BIN_EXE_git-axiom")).parent().unwrap();
    let path = format!("{}:{}", path.display(), std::env::var("PATH").unwrap());
    // One that watches for ever is seen once.
    for line in lines.iter().map(|line| line.replace(" --watch", "")) {
        let mut command = scratch.command("sh");
        command.args(["-c", &line]).env("PATH", &path).env("GIT_PAGER", "cat");
        let mut terminal = Terminal::start(command);
        if line == "git axiom panel" {
            terminal.wait_for("Timeline");
            terminal.keys(&["q"]);
        }
        if line == "git axiom undo" {
            let plan = terminal.wait_for("Take it back?");
            assert!(plan.contains("merge task-002 into main") && plan.contains("1 file deleted\r\n    loud.txt"), "{plan}");
            assert!(plan.contains("[y/N]") || !plan.contains("[Y/n]"), "{plan}");
            terminal.keys(&["y", "\r"]);
        }
        let (status, seen) = terminal.end();
        assert!(status.success(), "{line}: {seen}");
    }
    assert!(scratch.has("hello.txt") && !scratch.has("loud.txt"));
    // Again goes further back; no is what Enter means.
    for (answer, code) in [(&["\r"][..], 3), (&["y", "\r"], 0)] {
        let mut question = at_terminal(&scratch, &["undo"]);
        assert!(question.wait_for("Take it back?").contains("merge task-001 into main"));
        question.keys(answer);
        let (status, seen) = question.end();
        assert_eq!(status.code(), Some(code), "{seen}");
    }
    assert!(!scratch.has("hello.txt"));
}

/// The checkpoint of a prompt is known by what the prompt was.
#[test]
fn the_menu_shows_the_text_of_a_prompt() {
    let scratch = Scratch::new();
    scratch.axiom(&["attach", "claude"]);
    let payload = serde_json::json!({
        "session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "Tidy the parser", "cwd": scratch.path()
    });
    let mut hook = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    let mut hook = hook.args(["hook", "claude"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut hook.stdin.take().unwrap(), payload.to_string().as_bytes()).unwrap();
    assert!(hook.wait().unwrap().success());
    let mut menu = at_terminal(&scratch, &["rollback"]);
    menu.wait_for("prompt-0001  Tidy the parser");
    menu.keys(&[ESCAPE]);
    assert!(menu.end().0.success());
}
