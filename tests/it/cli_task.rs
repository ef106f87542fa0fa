//! `git axiom task …`.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a failing test may panic, and tests prepare files

use std::path::Path;

use crate::common::TestEnv;
use git_axiom::base::error::Code;

fn ids(list: &serde_json::Value) -> Vec<&str> {
    list["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect()
}

#[test]
#[allow(clippy::too_many_lines)] // one story, told by its outputs
fn a_first_use() {
    let env = TestEnv::new().with_fixed_clock();
    insta::assert_snapshot!(env.axiom(&["task", "list"]), @r"
    --- stderr
    There is no task yet: add one with 'git axiom task add TITLE'.
    --- exit 0
    ");
    insta::assert_snapshot!(env.axiom(&["task", "add", "Write the parser", "--body", "cargo new parser"]), @r"
    task-001
    --- exit 0
    ");
    insta::assert_snapshot!(env.axiom(&["task", "add", "Test it", "--after", "task-001", "--verify", "cargo test"]), @r"
    task-002
    --- exit 0
    ");
    insta::assert_snapshot!(env.axiom(&["task", "list"]), @r"
    ID        STATUS   PROGRESS  AFTER     TITLE
    task-001  pending    0%      -         Write the parser
    task-002  waiting    0%      task-001  Test it
    --- exit 0
    ");
    insta::assert_snapshot!(env.axiom(&["task", "show", "task-001"]), @r"
    task-001: Write the parser
    status:    pending
    progress:  0%
    added:     12:00:01

      cargo new parser
    --- exit 0
    ");
    insta::assert_snapshot!(env.axiom(&["task", "show", "task-002"]), @r"
    task-002: Test it
    status:     waiting
    progress:   0%
    after:      task-001
    waits for:  task-001
    verify:     cargo test
    added:      12:00:02
    --- exit 0
    ");
    insta::assert_snapshot!(env.axiom(&["task", "edit", "task-002", "--title", "Test all of it", "--after", ""]), @r#"
    task-002: title "Test it" → "Test all of it"
    task-002: after task-001 → none
    --- exit 0
    "#);
    insta::assert_snapshot!(env.axiom(&["task", "edit", "task-002", "--title", "Test all of it"]), @r"
    task-002: nothing to change, it has these values already
    --- exit 0
    ");
    insta::assert_snapshot!(env.axiom(&["task", "block", "task-002", "--reason", "no tests yet"]), @r"
    task-002: blocked
    --- exit 0
    ");
    insta::assert_snapshot!(env.axiom(&["task", "unblock", "task-002"]), @r"
    task-002: pending
    --- exit 0
    ");
    insta::assert_snapshot!(env.axiom(&["task", "archive", "task-002", "task-001"]), @r"
    task-002: archived
    task-001: archived
    --- exit 0
    ");
    insta::assert_snapshot!(env.axiom(&["task", "list"]), @r"
    --- stderr
    2 archived, shown with --all
    --- exit 0
    ");
    insta::assert_snapshot!(env.axiom(&["task", "audit", "task-002"]), @r#"
    12:00:02  user  added: Test it
    12:00:06  user  title "Test it" → "Test all of it"; after task-001 → none
    12:00:08  user  status pending → blocked; reason none → no tests yet
    12:00:09  user  status blocked → pending; reason no tests yet → none
    12:00:10  user  status pending → archived
    --- exit 0
    "#);
    insta::assert_snapshot!(env.axiom(&["log", "-n", "3"]), @r"
    ID                  TIME      BY    UNDO  WHAT
    t000a0001000000005  12:00:10  user  yes   archive 2 tasks
    t00090001000000004  12:00:09  user  no    unblock task-002
    t00080001000000003  12:00:08  user  no    block task-002
    --- exit 0
    ");
    insta::assert_snapshot!(env.axiom(&["status"]), @r"
    No session runs; mode semi-auto.
    Tasks: 0 pending (0 ready, 0 at gates, 0 waiting), 0 active, 0 done (0 merged), 0 blocked, 0 failed.

    Last: changed 2 tasks, 12:00:10.
    --- exit 0
    ");
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    env.fsck();
}

#[test]
fn the_keys_of_the_list() {
    let env = TestEnv::new().with_fixed_clock();
    env.ok(&["task", "add", "Group", "--kind", "group", "--id", "g"]);
    env.ok(&["task", "add", "One", "--parent", "g", "--persona", "ed", "--verify", "true", "--body", "x"]);
    insta::assert_snapshot!(env.axiom(&["task", "list", "--json"]), @r#"
    {"schema":2,"verb":"task list","tasks":[{"id":"g","title":"Group","kind":"group","status":"pending","shown":"pending","progress":0,"parent":null,"after":[],"needs":[],"startEarly":false,"waitsFor":[],"persona":null,"verify":[],"limits":{},"reason":null,"merged":null,"agentId":null,"retryCount":0,"iterations":0,"tokensUsed":null,"costUsd":null,"duration":0,"timeUnknown":0,"createdAt":"2026-01-13T12:00:00.000Z","bodySize":0,"parts":{"total":1,"completed":0,"inProgress":0,"waiting":0},"startedAt":null,"lastCheckpoint":null,"waitingSince":null,"confidence":null,"dependencies":{}},{"id":"task-001","title":"One","kind":"task","status":"pending","shown":"pending","progress":0,"parent":"g","after":[],"needs":[],"startEarly":false,"waitsFor":[],"persona":"ed","verify":["true"],"limits":{},"reason":null,"merged":null,"agentId":null,"retryCount":0,"iterations":0,"tokensUsed":null,"costUsd":null,"duration":0,"timeUnknown":0,"createdAt":"2026-01-13T12:00:01.000Z","bodySize":1,"parts":{"total":0,"completed":0,"inProgress":0,"waiting":0},"startedAt":null,"lastCheckpoint":null,"waitingSince":null,"confidence":null}]}
    --- exit 0
    "#);
}

#[test]
fn generated_ids_go_on_and_skip_what_is_taken_in_any_spelling() {
    let env = TestEnv::new();
    assert_eq!(env.ok(&["task", "add", "x"]), "task-001");
    assert_eq!(env.ok(&["task", "add", "x", "--id", "TASK-007"]), "TASK-007");
    assert_eq!(env.ok(&["task", "add", "x"]), "task-008");
    env.ok(&["task", "archive", "task-008"]);
    assert_eq!(env.ok(&["task", "add", "x"]), "task-009", "an archived id is not used again");
}

/// The words of other programs for the kinds are read, and ours are written.
#[test]
fn the_kinds_of_tasks_have_other_names_on_input() {
    let env = TestEnv::new();
    for (number, word) in ["goal", "directive", "epic"].iter().enumerate() {
        assert_eq!(env.ok(&["task", "add", "x", "--kind", word]), format!("goal-00{}", number + 1));
    }
    for (number, word) in ["group", "operation", "sprint"].iter().enumerate() {
        assert_eq!(env.ok(&["task", "add", "x", "--kind", word]), format!("group-00{}", number + 1));
    }
    env.write("tasks", b"{\"title\": \"x\", \"kind\": \"directive\"}\n{\"title\": \"x\", \"kind\": \"case\"}\n");
    env.ok(&["task", "import", "tasks"]);
    let kinds =
        env.json(&["task", "list"])["tasks"].as_array().unwrap().iter().map(|task| task["kind"].clone()).collect::<Vec<_>>();
    let count = |word: &str| kinds.iter().filter(|kind| *kind == word).count();
    assert_eq!([count("goal"), count("group"), count("task"), kinds.len()], [4, 3, 1, 8]);
}

#[test]
fn many_that_add_at_once_get_an_id_each() {
    let env = TestEnv::new();
    let mut children: Vec<_> = (0..12)
        .map(|n| {
            let title = format!("task {n}");
            let mut command = env.axiom_command(&env.repo(), ["task", "add", &title, "--body", &"x".repeat(2000 + n)]);
            command.stdout(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
    let list = env.json(&["task", "list"]);
    let expected: Vec<String> = (1..=12).map(|n| format!("task-{n:03}")).collect();
    assert_eq!(ids(&list), expected);
    for id in expected {
        let shown = env.json(&["task", "show", &id]);
        assert!(shown["body"].as_str().unwrap().len() >= 2000, "every long text is kept");
    }
    env.git(&["gc", "-q", "--prune=now"]);
    assert!(env.json(&["task", "show", "task-001"])["body"].as_str().unwrap().len() >= 2000, "also by gc");
    env.fsck();
}

#[test]
fn long_bodies_come_from_files_and_standard_input_and_stay_out_of_the_log() {
    let env = TestEnv::new();
    let body = "a line of the script\n".repeat(500);
    env.write("body.txt", &body);
    env.ok(&["task", "add", "from a file", "--body-file", "body.txt"]);
    env.axiom_fed(&["task", "add", "from a pipe", "--body-file", "-"], body.as_bytes()).success();
    let sub = env.repo().join("src");
    env.axiom_in(&sub, &["task", "add", "from below", "--body-file", "../body.txt"]).success();
    env.axiom_in(env.root(), &["-C", "repo/src", "task", "add", "by -C", "--body-file", "../body.txt"]).success();
    for n in 1..=4 {
        assert_eq!(env.json(&["task", "show", &format!("task-00{n}")])["body"], body);
    }
    assert!(env.ok(&["task", "show", "task-001"]).ends_with("a line of the script"));
    let log = std::fs::read_to_string(env.axiom_dir().join("state/events.jsonl")).unwrap();
    assert!(!log.contains("a line of the script"));
}

#[test]
fn statuses_filter_the_list_and_have_aliases() {
    let env = TestEnv::new();
    env.ok(&["task", "add", "a", "--id", "a"]);
    env.ok(&["task", "add", "b", "--id", "b", "--after", "a"]);
    env.ok(&["task", "add", "c", "--id", "c"]);
    env.ok(&["task", "block", "c", "--reason", "why not"]);
    assert_eq!(ids(&env.json(&["task", "list", "--status", "todo"])), ["a", "b"]);
    assert_eq!(ids(&env.json(&["task", "list", "--status", "waiting"])), ["b"]);
    assert_eq!(ids(&env.json(&["task", "list", "--status", "stuck,waiting"])), ["b", "c"]);
    env.axiom(&["task", "list", "--status", "nope"]).fails_with(Code::InvalidInput);
}

#[test]
fn an_import_is_all_or_nothing() {
    let env = TestEnv::new().with_fixed_clock();
    env.ok(&["task", "add", "here already", "--id", "old"]);
    let events = || env.json(&["status"])["session"]["metadata"]["events"].clone();
    let before = events();
    for (lines, code, words) in [
        ("{\"title\": \"x\"}\n{\"title\": 5}", Code::InvalidInput, "line 2"),
        ("{\"title\": \"x\", \"colour\": 1}", Code::InvalidInput, "unknown field `colour`"),
        ("\n{\"id\": \"a b\", \"title\": \"x\"}", Code::InvalidId, "line 2"),
        ("{\"id\": \"OLD\", \"title\": \"x\"}", Code::DuplicateId, "line 1: the id 'OLD' is taken"),
        ("{\"id\": \"a\", \"title\": \"x\"}\n{\"id\": \"A\", \"title\": \"x\"}", Code::DuplicateId, "taken by line 1"),
        ("{\"title\": \"x\", \"after\": [\"nowhere\"]}", Code::UnknownDependency, "line 1"),
        (
            "{\"id\": \"a\", \"title\": \"x\", \"after\": \"b\"}\n{\"id\": \"b\", \"title\": \"x\", \"after\": \"a\"}",
            Code::DependencyCycle,
            "a → b → a",
        ),
        ("{\"title\": \"x\", \"status\": \"maybe\"}", Code::InvalidInput, "line 1: 'maybe' is not a status"),
        ("{\"title\": \"\"}", Code::InvalidInput, "line 1"),
    ] {
        let run = env.axiom_fed(&["task", "import", "-"], lines.as_bytes()).fails_with(code);
        assert!(run.stderr.contains(words), "{words}\n{run}");
        assert_eq!(events(), before, "nothing was added by {lines}");
    }
    let lines = "{\"title\": \"needs b\", \"after\": [\"b\"], \"status\": \"doing\"}\n\
                 {\"id\": \"b\", \"title\": \"a group\", \"kind\": \"sprint\"}\n\
                 {\"id\": \"c\", \"title\": \"part\", \"parent\": \"b\", \"status\": \"done\"}\n";
    insta::assert_snapshot!(env.axiom_fed(&["task", "import", "-"], lines.as_bytes()), @r"
    task-001
    b
    c
    --- stderr
    3 tasks imported.
    1 of them was active and is pending here: no agent works on it.
    --- exit 0
    ");
    insta::assert_snapshot!(env.axiom(&["task", "list"]), @r"
    ID        STATUS        PROGRESS  AFTER  TITLE
    b         completed     100%      -      a group [group]
    c         done, merged  100%      -      part
    old       pending         0%      -      here already
    task-001  pending         0%      b      needs b
    --- exit 0
    ");
    assert_eq!(events(), before.as_u64().unwrap() + 1, "one event");
    assert_eq!(env.json(&["task", "show", "c"])["merged"]["commit"], env.git(&["rev-parse", "HEAD"]));
}

#[test]
fn what_was_listed_can_be_imported_elsewhere() {
    let env = TestEnv::new();
    env.ok(&["task", "add", "one", "--id", "a", "--verify", "true"]);
    env.ok(&["task", "add", "two", "--id", "b", "--after", "a"]);
    let list = env.json(&["task", "list"]);
    let lines: Vec<String> = list["tasks"].as_array().unwrap().iter().map(ToString::to_string).collect();
    let other = TestEnv::new();
    other.axiom_fed(&["task", "import", "-"], lines.join("\n").as_bytes()).success();
    assert_eq!(ids(&other.json(&["task", "list"])), ["a", "b"]);
}

#[test]
fn it_works_from_everywhere_in_the_repository() {
    let env = TestEnv::new();
    env.ok(&["task", "add", "x"]);
    env.git(&["worktree", "add", "-q", "../linked"]);
    let linked = env.root().join("linked");
    let git_dir = env.repo().join(".git");
    for folder in [&env.repo().join("src"), &linked, &git_dir] {
        assert_eq!(ids(&env.axiom_in(folder, &["task", "list", "--json"]).success().json()), ["task-001"]);
    }
    let mut elsewhere = env.axiom_command(Path::new("/"), ["task", "list", "--json"]);
    elsewhere.env("GIT_DIR", &git_dir);
    assert_eq!(ids(&env.run(elsewhere, None).success().json()), ["task-001"]);
    // As git calls it, and through an alias.
    let bin = Path::new(env!("CARGO_BIN_EXE_git-axiom")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    for args in [&["axiom", "task", "list", "--json"][..], &["-c", "alias.ax=axiom task", "ax", "list", "--json"]] {
        let mut git = env.program("git", &env.repo());
        git.env("PATH", &path).args(args);
        assert_eq!(ids(&env.run(git, None).success().json()), ["task-001"]);
    }
}

#[test]
fn people_see_their_own_time_and_scripts_utc() {
    let env = TestEnv::new().with_fixed_clock();
    env.ok(&["task", "add", "x"]);
    let at = |args: &[&str], vars: [(&str, &str); 2]| {
        let mut command = env.axiom_command(&env.repo(), args);
        command.envs(vars.into_iter().filter(|(name, _)| !name.is_empty()));
        env.run(command, None).success().stdout
    };
    let tokyo = ("TZ", "JST-9");
    for args in [&["log"][..], &["events"], &["task", "audit", "task-001"], &["task", "show", "task-001"], &["status"]] {
        let today = at(args, [tokyo, ("", "")]);
        assert!(today.contains("21:00:00") && !today.contains("2026-01-13"), "the date is today's: {args:?}: {today}");
        let tomorrow = at(args, [tokyo, ("AXIOM_TEST_NOW", "2026-01-13T15:00:01Z")]);
        assert!(tomorrow.contains("2026-01-13 21:00:00") && !tomorrow.contains("+0900"), "{args:?}: {tomorrow}");
        let summer = at(args, [("TZ", "CET-1CEST,M3.5.0,M10.5.0/3"), ("AXIOM_TEST_NOW", "2026-07-13T12:00:00Z")]);
        assert!(summer.contains("2026-01-13 13:00:00 +0100"), "the zone is another one now: {args:?}: {summer}");
    }
    // A name and the column beside it tell the same time.
    at(&["checkpoint", "create"], [tokyo, ("", "")]);
    let list = at(&["checkpoint", "list"], [tokyo, ("", "")]);
    let row = list.lines().nth(1).unwrap();
    let time = row.split_whitespace().nth(1).unwrap().replace(':', "-");
    assert!(row.contains(&format!("manual-2026-01-13T{time}")), "{list}");
    assert!(at(&["log", "--json"], [tokyo, ("", "")]).contains("\"at\":\"2026-01-13T12:00:00"));
}

#[test]
fn the_log_tells_what_can_be_taken_back() {
    let env = TestEnv::new().with_fixed_clock();
    insta::assert_snapshot!(env.axiom(&["log"]), @r"
    --- stderr
    There is no operation yet.
    --- exit 0
    ");
    env.ok(&["task", "add", "x", "--id", "a"]);
    env.ok(&["task", "edit", "a", "--title", "y"]);
    env.ok(&["undo", "--yes"]);
    insta::assert_snapshot!(env.axiom(&["log"]), @r"
    ID                  TIME      BY    UNDO    WHAT
    t00030001000000002  12:00:03  user  yes     undo of 'edit a: title'
    t00020001000000001  12:00:02  user  undone  edit a: title
    t00010001000000000  12:00:01  user  yes     add a: x
    --- exit 0
    ");
    // What was changed since is named, with a way on.
    env.ok(&["task", "edit", "a", "--title", "z"]);
    insta::assert_snapshot!(env.axiom(&["undo", "--yes", "t00030001000000002"]), @r"
    --- stderr
    error[CHANGED_MEANWHILE]: what the undo would restore was changed since; nothing was touched: task a was changed
    hint: since then: edit a: title (12:00:05, user); to take that back first: git axiom undo t00050001000000004
    hint: git axiom log --undoable    lists what can be taken back; git axiom undo ID    takes one of them back
    --- exit 4
    ");
}

#[test]
fn lists_are_in_the_order_in_which_people_count() {
    let env = TestEnv::new();
    for id in ["t10", "t9", "t1", "a2", "t2"] {
        env.ok(&["task", "add", "x", "--id", id]);
    }
    let order = ["a2", "t1", "t2", "t9", "t10"];
    let list = env.ok(&["task", "list"]);
    let ids: Vec<&str> = list.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(ids, order);
    let json = env.axiom(&["task", "list", "--json"]).json();
    assert_eq!(json["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect::<Vec<_>>(), order);
}
