//! Every verb, in one repository that goes through its states.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::grammar;
use crate::common::{Run, TestEnv, documents};

/// A repository, and the verbs that have answered in it.
struct Walk {
    env: TestEnv,
    answered: RefCell<BTreeSet<String>>,
}

impl Walk {
    fn new() -> Self {
        Self { env: TestEnv::new(), answered: RefCell::default() }
    }

    /// A verb that answers, with this exit status.
    #[track_caller]
    fn ends(&self, code: i32, args: &[&str]) -> Value {
        let run = self.env.axiom(&[&["--json"], args].concat());
        assert_eq!(run.code, Some(code), "{args:?}\n{run}");
        self.checked(&run)
    }

    #[track_caller]
    fn checked(&self, run: &Run) -> Value {
        let document = run.json();
        self.answered.borrow_mut().insert(document["verb"].as_str().unwrap().to_owned());
        assert_eq!(document["error"].is_object(), run.code != Some(0), "{run}");
        document
    }

    #[track_caller]
    fn ok(&self, args: &[&str]) -> Value {
        self.ends(0, args)
    }

    /// A verb that answers line by line.
    #[track_caller]
    fn lines(&self, args: &[&str]) {
        let run = self.env.axiom(&[&["--json"], args].concat()).success();
        for line in run.stdout.lines() {
            let document: Value = serde_json::from_str(line).unwrap();
            documents::check(&document);
            self.answered.borrow_mut().insert(document["verb"].as_str().unwrap().to_owned());
        }
        assert!(!run.stdout.is_empty(), "{run}");
    }
}

#[test]
fn every_verb_answers_as_the_page_says() {
    let walk = Walk::new();
    of_tasks(&walk);
    of_a_plan(&walk);
    of_checkpoints(&walk);
    of_a_session(&walk);
    of_gates(&walk);
    back_and_forth(&walk);
    in_the_background(&walk);
    let users = walk.env.root().join("home/.config/git-axiom");
    std::fs::create_dir_all(&users).unwrap();
    std::fs::write(users.join("config.toml"), "[state]\neventLogBackupCount = 3\n").unwrap();
    for args in [
        &["config", "show"][..],
        &["config", "show", "agents.count"],
        &["config", "check"],
        &["disk"],
        &["disk", "--clean"],
        &["config", "edit", "--user"],
        &["config", "reset", "--user", "--yes"],
        &["config", "restore", "--user", "--dry-run"],
        &["trust"],
        &["init", "--shared"],
        &["trust", "--list"],
        &["trust", "--revoke"],
        &["hooks", "list"],
        &["hooks", "log"],
        &["hooks", "run", "on-error"],
        &["hooks", "install", "notify"],
        &["hooks", "show", "notify"],
        &["graph", "--all", "--svg", "../graph.svg"],
        &["lock", "--list"],
        &["acp", "--print", "zed"],
        &["completions", "bash"],
        &["man", "task", "add"],
        &["help", "task", "add"],
        &["man", "--out", "../pages"],
    ] {
        walk.ok(args);
    }
    of_a_damaged_state(&walk);
    // Last: nothing of ours is left.
    walk.ok(&["purge", "nothing.txt", "--dry-run"]);
    walk.ok(&["deinit", "--yes"]);
    let answered = walk.answered.take();
    // The demo is a test of its own; the manager of checkpoints and the panel need a terminal.
    let elsewhere = ["demo", "checkpoint manage", "panel"].map(str::to_owned);
    let wanted: BTreeSet<String> = grammar().into_iter().filter(|verb| !elsewhere.contains(verb)).collect();
    assert_eq!(wanted.difference(&answered).collect::<Vec<_>>(), [] as [&str; 0], "these verbs did not come by");
}

fn of_tasks(walk: &Walk) {
    walk.ok(&["status"]);
    walk.ok(&["statusline"]);
    walk.ok(&["log"]);
    walk.ok(&["graph"]);
    walk.ok(&["task", "list"]);
    walk.ok(&["init"]);
    walk.ok(&["init"]);
    walk.ok(&["task", "add", "A group", "--id", "g", "--kind", "group"]);
    walk.ok(&["task", "add", "One", "--id", "one", "--parent", "g", "--persona", "ed", "--verify", "true", "--body", "x"]);
    walk.ok(&["task", "add", "Two", "--id", "two", "--after", "one"]);
    let long = "long ".repeat(500);
    walk.ok(&["task", "edit", "two", "--title", "2", "--body", &long, "--parent", "g"]);
    walk.ok(&["task", "show", "two"]);
    walk.ok(&["task", "block", "one", "--reason", "because"]);
    walk.ok(&["task", "list"]);
    walk.ok(&["task", "unblock", "one"]);
    walk.env
        .write("tasks.jsonl", "{\"title\": \"T\", \"id\": \"t\"}\n{\"title\": \"done\", \"id\": \"d\", \"status\": \"done\"}\n");
    walk.ok(&["task", "import", "tasks.jsonl"]);
    std::fs::remove_file(walk.env.repo().join("tasks.jsonl")).unwrap();
    walk.ok(&["task", "list"]);
    walk.ok(&["undo", "--dry-run"]);
    walk.ok(&["task", "archive", "one", "two", "g", "t", "d"]);
    walk.ok(&["task", "audit", "two"]);
    walk.ok(&["undo", "--yes"]);
    walk.ok(&["redo", "--dry-run"]);
    walk.ok(&["redo", "--yes"]);
    walk.ok(&["log", "--all"]);
    walk.ok(&["events"]);
}

fn of_a_plan(walk: &Walk) {
    walk.ok(&["plan", "start", "A goal", "--body", "more of it"]);
    walk.ok(&["plan", "add", "One of it", "--id", "of-it", "--persona", "ed", "--verify", "true"]);
    walk.ok(&["plan", "propose", "so"]);
    walk.ok(&["gate", "list"]);
    walk.ok(&["plan", "revise", "otherwise"]);
    walk.ends(2, &["plan", "answer", "nobody asked"]);
    walk.ok(&["plan", "approve"]);
    walk.ok(&["plan", "validate"]);
    walk.ok(&["plan", "show"]);
    walk.ok(&["plan", "finish", "--dry-run"]);
    walk.ok(&["plan", "finish", "--yes"]);
    walk.ok(&["plan", "show"]);
    walk.ok(&["undo", "--yes"]);
    walk.ok(&["plan", "start", "Another"]);
    walk.ends(1, &["plan", "validate"]);
    walk.ok(&["plan", "recover"]);
    walk.ok(&["plan", "recover", "--start-over"]);
    walk.ok(&["plan", "abandon", "--yes"]);
    walk.ok(&["events"]);
}

fn of_checkpoints(walk: &Walk) {
    walk.ok(&["checkpoint", "verify"]);
    walk.env.write(".gitignore", "*.ign\n");
    walk.env.write("x.ign", "ignored");
    walk.env.write("new.txt", "new");
    walk.ok(&["checkpoint", "create", "first"]);
    walk.env.write("README", "changed\n");
    walk.ok(&["checkpoint", "create", "known", "--only", "README", "nowhere"]);
    for args in [&["list"][..], &["show", "first"], &["show", "known"], &["diff", "first"], &["diff", "first", "known"]] {
        walk.ok(&[&["checkpoint"], args].concat());
    }
    walk.ok(&["checkpoint", "verify", "--quick"]);
    walk.env.git(&["notes", "--ref=axiom", "remove", "axiom/first"]);
    walk.ends(1, &["checkpoint", "verify"]);
    walk.ok(&["checkpoint", "verify", "--repair"]);
    walk.ok(&["checkpoint", "compact"]);
    walk.ok(&["checkpoint", "delete", "known", "--protected", "--dry-run"]);
    walk.ok(&["checkpoint", "delete", "known", "--protected", "--yes"]);
    walk.ok(&["undo", "--yes"]);
    walk.ok(&["checkpoint", "cleanup", "--keep", "1", "--yes"]);
    walk.ok(&["rollback", "checkpoint", "known", "--dry-run"]);
    walk.ok(&["restore", "first", "--dry-run", "--", "README"]);
    walk.ok(&["restore", "first", "--yes", "--", "README"]);
    walk.env.git(&["add", "-A"]);
    walk.env.git(&["commit", "-qm", "a start"]);
}

/// A task in autopilot, whose agent says all that an agent can say.
fn of_a_session(walk: &Walk) {
    let said = walk.env.root().join("said");
    let program = env!("CARGO_BIN_EXE_git-axiom");
    let signals = [
        "blocked x",
        "waiting x",
        "progress 40",
        "learning x --scope project",
        "phase x --confidence 0.8",
        "subtask x --done",
        "subtask y",
        "subtask z --planned",
        "estimate 20min",
        "depends x y",
        "file x --line 3 --section s --next n --confidence 0.5",
        "file y --related",
        "file z --test",
        "file w --done",
        "ready x y",
        "tool-started x",
        "tool-completed x",
        "complete",
    ];
    let script = signals.map(|signal| format!("{program} --json signal {signal} >> {}\n", said.display())).concat();
    let script = format!("echo one > one.txt\nprintf 'a\\377b\\nend'\n{script}");
    walk.ok(&["task", "add", "Says all", "--id", "all", "--body", &script]);
    walk.ok(&["run", "--mode", "autopilot", "--until-idle"]);
    for line in std::fs::read_to_string(&said).unwrap().lines() {
        let document: Value = serde_json::from_str(line).unwrap();
        documents::check(&document);
        walk.answered.borrow_mut().insert(document["verb"].as_str().unwrap().to_owned());
    }
    walk.lines(&["output", "all"]);
    walk.ok(&["agents"]);
    let learnt = walk.ok(&["learnings"])["learnings"][0]["id"].as_str().unwrap().to_owned();
    walk.ok(&["learnings", "edit", &learnt, "y"]);
    walk.ok(&["learnings", "forget", &learnt]);
    walk.ok(&["stats"]);
    walk.ok(&["attach", "claude"]);
    walk.ok(&["attach", "--status"]);
    walk.ok(&["detach"]);
    walk.ok(&["prompts"]);
    walk.ok(&["prompts", "forget", "--all"]);
    walk.ok(&["sessions", "--all"]);
    walk.ok(&["watch", "--detach"]);
    walk.ok(&["watch", "--stop"]);
    walk.ok(&["agents", "check", "shell"]);
    for args in [&["status"][..], &["task", "show", "all"], &["task", "audit", "all"], &["events"], &["log"]] {
        walk.ok(args);
    }
}

fn of_gates(walk: &Walk) {
    walk.ok(&["mode", "semi-auto"]);
    walk.ok(&["mode"]);
    walk.ok(&["task", "add", "Three", "--id", "three", "--body", "echo 3 > README"]);
    walk.ok(&["task", "add", "Four", "--id", "four", "--body", "exit 0"]);
    let ask = format!("test -e ../../asked || {{ touch ../../asked; {} signal waiting why; }}", env!("CARGO_BIN_EXE_git-axiom"));
    walk.ok(&["task", "add", "Asks", "--id", "asks", "--body", &ask]);
    walk.ends(1, &["run", "--until-idle"]);
    walk.ok(&["gate", "list"]);
    walk.ok(&["status"]);
    walk.ok(&["gate", "reject", "four", "--reason", "no"]);
    walk.ok(&["gate", "approve", "--all"]);
    walk.ok(&["gate", "list"]);
    walk.ends(1, &["run", "--until-idle"]);
    walk.ok(&["gate", "answer", "asks", "because"]);
    walk.env.write("README", "in the way\n");
    walk.env.git(&["commit", "-qam", "something else"]);
    let conflict = walk.ends(4, &["merge", "three"]);
    assert_eq!(conflict["error"]["code"], "MERGE_CONFLICT");
    walk.env.git(&["reset", "-q", "--hard", "HEAD^"]);
    walk.ok(&["merge", "three"]);
    walk.ok(&["merge", "three"]);
    std::fs::remove_file(walk.env.repo().join("asked")).unwrap();
}

/// Rollbacks of all three kinds, with a conflict and without, and their undo.
fn back_and_forth(walk: &Walk) {
    walk.ok(&["rollback", "session", "--dry-run"]);
    walk.ok(&["rollback", "task", "all", "--dry-run"]);
    walk.ok(&["rollback", "task", "all", "--yes"]);
    walk.ok(&["undo", "--yes"]);
    walk.env.write("README", "built on it\n");
    walk.env.git(&["commit", "-qam", "built on three"]);
    walk.ends(4, &["rollback", "task", "three", "--yes"]);
    walk.ends(4, &["rollback", "task", "three", "--dry-run"]);
    let open = walk.ends(4, &["rollback", "task", "three", "--resolve", "--yes"]);
    walk.ok(&["status"]);
    walk.env.git(&["worktree", "remove", "--force", open["resolveIn"].as_str().unwrap()]);
    walk.env.git(&["branch", "aside"]);
    walk.env.git(&["config", "branch.aside.description", "what for"]);
    walk.env.git(&["tag", "v1"]);
    walk.env.write("README", "stashed\n");
    walk.env.git(&["stash", "-q"]);
    walk.ok(&["checkpoint", "create", "amid"]);
    walk.env.git(&["stash", "drop", "-q"]);
    walk.env.git(&["branch", "-q", "-D", "aside"]);
    walk.env.git(&["tag", "-f", "v1", "HEAD^"]);
    walk.env.git(&["checkout", "-q", "-b", "elsewhere"]);
    walk.env.git(&["commit", "-q", "--allow-empty", "-m", "since"]);
    walk.env.write("README", "staged\n");
    walk.env.git(&["add", "-A"]);
    walk.ok(&["task", "add", "Since", "--id", "since"]);
    walk.ok(&["rollback", "checkpoint", "amid", "--refs", "--dry-run"]);
    walk.ok(&["rollback", "checkpoint", "amid", "--refs", "--yes"]);
    walk.ok(&["undo", "--dry-run"]);
    walk.ok(&["undo", "--yes"]);
    walk.ok(&["log"]);
    walk.env.git(&["checkout", "-q", "-f", "main"]);
    walk.ok(&["rollback", "session", "--yes"]);
    walk.ok(&["rollback", "--continue"]);
    walk.env.killed_at(&["rollback", "checkpoint", "amid", "--yes"], "journal.begun:1");
    walk.ok(&["recover"]);
    walk.ok(&["status"]);
    walk.ok(&["log"]);
    walk.ok(&["rollback", "--abort"]);
    walk.ok(&["recover", "--yes"]);
    walk.ok(&["task", "add", "Lost", "--id", "lost"]);
    walk.ok(&["recover", "--all"]);
    walk.ok(&["recover", "inspect", "lost"]);
    walk.ok(&["recover", "export", "lost", "--output", "lost.json"]);
    walk.ok(&["recover", "abandon", "lost", "--yes"]);
    std::fs::remove_file(walk.env.repo().join("lost.json")).unwrap();
}

fn in_the_background(walk: &Walk) {
    walk.ok(&["task", "add", "Long", "--id", "long", "--body", "sleep 60"]);
    walk.ok(&["run", "--detach", "--mode", "autopilot"]);
    let agent = wait_for(walk, "long");
    for args in [&["status"][..], &["recover"], &["rollback", "checkpoint", "amid", "--dry-run"], &["pause"], &["resume"]] {
        walk.ok(args);
    }
    walk.ok(&["diff", "long"]);
    walk.ok(&["debug", "long"]);
    // While nothing is claimed.
    walk.ok(&["pause"]);
    walk.ok(&["task", "add", "Other", "--id", "other", "--body", "sleep 60"]);
    walk.ok(&["redirect", &agent, "other"]);
    walk.ok(&["resume"]);
    wait_for(walk, "other");
    walk.ok(&["gate", "show", "long"]);
    walk.ok(&["task", "block", "other", "--reason", "because"]);
    walk.ok(&["task", "unblock", "other"]);
    wait_for(walk, "other");
    walk.ok(&["pause", "--force"]);
    walk.ok(&["resume"]);
    let agent = wait_for(walk, "other");
    walk.ok(&["stop", &agent, "--retry"]);
    wait_for(walk, "other");
    walk.ok(&["kill", "--all"]);
    walk.ok(&["gate", "list"]);
    walk.ok(&["quit"]);
    let begun = Instant::now();
    while walk.ok(&["status"])["supervisor"]["alive"] == true {
        assert!(begun.elapsed() < Duration::from_secs(120), "the session does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The agent that works on a task.
fn wait_for(walk: &Walk, task: &str) -> String {
    let begun = Instant::now();
    loop {
        let status = walk.ok(&["status"]);
        let runs = |agent: &&Value| agent["taskId"] == task && agent["state"] == "running";
        if let Some(agent) = status["agents"].as_array().unwrap().iter().find(runs) {
            return agent["id"].as_str().unwrap().to_owned();
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "{status}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn of_a_damaged_state(walk: &Walk) {
    let state = walk.env.axiom_dir().join("state");
    std::fs::write(state.join("events.jsonl"), "nothing\n").unwrap();
    std::fs::remove_file(state.join("snapshot.json")).unwrap();
    let seen = walk.ends(6, &["recover"]);
    assert!(seen["damage"]["choices"].is_array(), "{seen}");
    walk.ok(&["recover", "--from", "checkpoint", "--yes"]);
    walk.ok(&["task", "list"]);
}
