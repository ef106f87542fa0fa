//! What is printed on a terminal: every verb at 80 and at 140 columns, in colours and without, compared with approved screens. A verb that
//! is added fails here until it is in one of the lists: `INSTA_UPDATE=always cargo test --test it screens`, and then the difference is
//! looked at before it is committed.

mod settings;

use std::fmt::Write;

use git_axiom::base::files::{FileLock, LockAttempt};
use git_axiom::model::base::ids::{AgentId, TaskId};
use git_axiom::model::state::event::Event;
use git_axiom::model::verbs;
use git_axiom::model::work::gates::gate::{Gate, GateKind};
use git_axiom::store::layout::StoreLayout;
use serde_json::json;

use crate::panel::every_key::steady;
use crate::support::Scratch;
use crate::terminal::Terminal;

/// When it is, to the programs that are called.
const NOW: &str = "2026-01-13T10:00:00Z";
/// The day before.
const YESTERDAY: &str = "2026-01-12T09:00:00Z";

/// The calls whose screens are approved.
const SCREENS: &[&str] = &[
    "",
    "-h",
    "help --all",
    "task -h",
    "rollback -h",
    "status",
    "log",
    "log --all",
    "graph",
    "events",
    "task list",
    "task show stuck",
    "task show model",
    "task audit model",
    "plan show",
    "gate list",
    "gate show question-login",
    "checkpoint list",
    "checkpoint show one",
    "checkpoint diff one",
    "checkpoint verify",
    "checkpoint delete one --dry-run",
    "checkpoint cleanup --dry-run",
    "prompts",
    "prompts 1",
    "sessions",
    "attach --status",
    "diff model",
    "diff model --stat",
    "diff 1",
    "stats",
    "learnings",
    "hooks list",
    "hooks log",
    "hooks show notify",
    "trust --list",
    "lock --list",
    "config show agents",
    "config check",
    "mode",
    "merge done --dry-run",
    "rollback one --dry-run",
    "rollback checkpoint one --dry-run",
    "rollback --prompt 1 --dry-run",
    "rollback session --dry-run",
    "rollback task done --dry-run",
    "restore one a.txt --dry-run",
    "undo --dry-run",
    "redo --dry-run",
    "recover --dry-run",
    "purge --dry-run a.txt",
    "deinit --dry-run",
    "output model",
    // What is refused.
    "tasks",
    "task show nothing",
    "rollback nothing --dry-run",
    "diff nothing",
];

/// The verbs that are not in the list above, and why.
const ELSEWHERE: &[(&str, &str)] = &[
    ("demo", "a test of its own"),
    ("panel", "every_key"),
    ("completions", "a script"),
    ("man", "a page for man"),
    ("agents", "says which programs this machine has"),
    ("disk", "says how much space this machine has"),
    ("init", "cli_init"),
    ("statusline", "a line for other programs: statusline"),
    ("run", "run"),
    ("watch", "watch"),
    ("open", "starts an editor"),
    ("signal", "for agents"),
    ("keeper", "for programs"),
    ("acp", "its output is the agent's"),
    ("hook", "for programs"),
    ("config", "config_edit: the others open an editor or change files"),
    ("plan", "cli_plan: the others change the plan"),
    ("task", "cli_task: the others change tasks"),
    ("checkpoint", "checkpoint_manage: the others change checkpoints"),
    ("hooks", "sample_hooks: the others run or write hooks"),
    ("gate", "run: the others decide"),
    ("learnings", "run: the others change learnings"),
    ("prompts", "attach_rest: the others forget texts"),
    ("detach", "attach: changes programs' files"),
    ("recover", "cli_recover: the others change tasks"),
    ("pause", "run: changes the session"),
    ("resume", "run: changes the session"),
    ("stop", "run: ends agents"),
    ("kill", "run: ends agents"),
    ("redirect", "run: changes the session"),
    ("quit", "run: ends the session"),
];

/// A repository in which every list has something to say.
fn repository() -> Scratch {
    let scratch = Scratch::new_in(tempfile::Builder::new().prefix("axiom-").rand_bytes(6).tempdir_in("/tmp").unwrap());
    let at = |now: &str, args: &[&str]| {
        let output = scratch.axiom_with(args, &[("AXIOM_TEST_NOW", now)]);
        assert!(output.status.success(), "{args:?}: {output:?}");
    };
    at(YESTERDAY, &["init"]);
    let long = "Sign in with a key, and with a password where there is none, and say what is missing";
    for (id, title) in [("model", "User model"), ("login", long), ("limits", "Rate limiting"), ("stuck", "Tokens")] {
        at(YESTERDAY, &["task", "add", title, "--id", id]);
    }
    at(NOW, &["task", "edit", "limits", "--after", "login"]);
    at(NOW, &["task", "block", "stuck", "--reason", "needs the password of the server that nobody has told the agent so far"]);
    scratch.write("a.txt", "before\n");
    at(YESTERDAY, &["checkpoint", "create", "one"]);
    scratch.write("a.txt", "after\n");
    prompt(&scratch, "tidy up the parser, then the tests of the parser, and tell me what you have left out on the way");
    scratch.write("a.txt", "the agent's\n");
    scratch.write("b.txt", "new\n");
    prompt(&scratch, "and now?");
    scratch.done_task("done");
    scratch.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "axiom/model",
        scratch.path().join(".worktrees/ed-002-model").to_str().unwrap(),
    ]);
    let (agent, task) = (AgentId::new("ed-002").unwrap(), TaskId::new("model").unwrap());
    let session = json!({
        "id": "s1", "startedAt": NOW, "pid": 1, "target": "refs/heads/main", "slots": 2, "maxIterations": 50, "state": "running",
        "startCheckpoint": "one",
    });
    let workspace = json!({
        "agent": "ed-002", "path": scratch.path().join(".worktrees/ed-002-model"), "branch": "refs/heads/axiom/model",
        "base": scratch.head(),
    });
    let now = NOW.parse().unwrap();
    let question = "Which of the two databases is meant, the one of the tests or the one of the server?".to_owned();
    let asks = Gate::of_task(GateKind::Question, &TaskId::new("login").unwrap(), question, now).unwrap();
    scratch.append(vec![
        Event::SessionStarted { session: serde_json::from_value(session).unwrap() },
        Event::WorkspaceOpened { task: task.clone(), workspace: serde_json::from_value(workspace).unwrap(), goes_on: false },
        Event::TaskClaimed { agent, task, complete: false },
        Event::GateOpened { gate: Box::new(asks) },
    ]);
    scratch.write(".worktrees/ed-002-model/new.txt", "new\n");
    scratch
}

fn prompt(scratch: &Scratch, text: &str) {
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": scratch.path(), "prompt": text});
    let mut command = scratch.command("sh");
    command.args(["-c", "printf %s \"$1\" | \"$2\" hook claude", "sh", &prompt.to_string(), env!("CARGO_BIN_EXE_git-axiom")]);
    assert!(command.env("AXIOM_TEST_NOW", NOW).status().unwrap().success());
}

/// What a call prints on a terminal of so many columns.
fn on_terminal(scratch: &Scratch, call: &str, columns: u16, vars: &[(&str, &str)]) -> String {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    command.args(call.split_whitespace()).env("AXIOM_TEST_NOW", NOW).env("GIT_PAGER", "cat");
    // Locks are those of the machine otherwise.
    command.env("AXIOM_TEST_SHARED", scratch.path().parent().unwrap()).envs(vars.iter().copied());
    let (_, seen) = Terminal::start_in(command, (24, columns)).end();
    seen.replace("\r\n", "\n")
}

/// A text without the escapes that colour it.
fn uncolored(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').unwrap_or_else(|| panic!("no colour: {part:?}")).1)
}

/// A text whose escapes can be read.
fn readable(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (color, rest) = part.split_once('m').unwrap_or((part, ""));
        format!("{text}‹{color}›{rest}")
    })
}

#[track_caller]
fn fits(call: &str, screen: &str, columns: u16) {
    // A patch is as git prints it, and a script as it is.
    if call.contains("diff ") && !call.contains("--stat") || call == "hooks show notify" {
        return;
    }
    for line in screen.lines() {
        // A path or a name that is longer than the terminal stays whole, to be copied.
        let is_one_word = !line.trim().contains(' ');
        assert!(is_one_word || line.chars().count() <= usize::from(columns), "'{call}' at {columns} columns: {line}");
    }
}

#[test]
fn every_screen_of_every_verb_is_approved() {
    let scratch = repository();
    let lock = StoreLayout::new(&scratch.path().join(".git")).locks().supervisor();
    let LockAttempt::Taken(_supervisor) = FileLock::try_take(&lock).unwrap() else { panic!("it is free") };
    let folder = scratch.path().parent().unwrap().display().to_string();
    for columns in [80, 140] {
        let (mut plain, mut colors) = (String::new(), String::new());
        for call in SCREENS {
            let none = on_terminal(&scratch, call, columns, &[("NO_COLOR", "1")]);
            assert!(!none.contains('\x1b'), "'{call}' without colours: {none:?}");
            fits(call, &none, columns);
            let steadily = |text: &str| -> String {
                let lines = text.lines().map(|line| steady(&line.replace(&folder, "/tmp/axiom-000000")) + "\n");
                lines.collect()
            };
            write!(plain, "== git axiom {call}\n{}\n", steadily(&none)).unwrap();
            let colored = on_terminal(&scratch, call, columns, &[]);
            assert_eq!(steadily(&uncolored(&colored)), steadily(&none), "'{call}' is the same in colours");
            let colored: String = readable(&colored).lines().filter(|line| line.contains('‹')).map(&steadily).collect();
            write!(colors, "== git axiom {call}\n{colored}\n").unwrap();
        }
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "approved" }, {
            insta::assert_snapshot!(format!("{columns}-plain"), plain);
            insta::assert_snapshot!(format!("{columns}-colors"), colors);
        });
    }
}

#[test]
fn every_verb_is_in_a_list() {
    let begins = |call: &str, name: &str| call == name || call.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '));
    let is_shown = |name: &str| SCREENS.iter().any(|call| begins(call, name));
    let is_elsewhere = |name: &str| ELSEWHERE.iter().any(|(other, _)| begins(name, other));
    let missing = verbs::all().map(|row| row.name).filter(|name| !is_shown(name) && !is_elsewhere(name));
    assert_eq!(missing.collect::<Vec<_>>(), [] as [&str; 0], "these verbs are in no list");
    for (name, _) in ELSEWHERE {
        assert!(verbs::row(name).is_some(), "there is no verb '{name}'");
    }
}
