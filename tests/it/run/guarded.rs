//! Guarded files: a merge that changes what other programs run or obey waits until a human has seen which files.

use std::collections::BTreeMap;

use git_axiom::base::error::Code;
use serde_json::json;

use crate::session_support::{World, wait_until};

const TASKS: &str = ".claude/settings.json";

/// A task that changes a guarded file, done by an agent; its merge waits.
fn world_with_a_gate() -> World {
    let world = World::new();
    world.task("t", "mkdir .claude; echo 1 > .claude/settings.json; echo 1 > t.txt", &[]);
    let ended = world.autopilot(&[]).code(1);
    let said = "t waits at gate merge-t: t changes guarded files: .claude";
    assert!(ended.stdout.contains(said) && !world.env.repo().join("t.txt").exists(), "{}", ended.stdout);
    world
}

/// Changes the task's branch in its workspace, as an agent or a human might after the approval.
fn commit_in_workspace(world: &World, path: &str, text: &str) {
    let workspace = std::fs::read_dir(world.env.repo().join(".worktrees")).unwrap();
    let workspace = workspace.map(|entry| entry.unwrap().path()).find(|path| path.ends_with("agent-001-t")).unwrap();
    std::fs::create_dir_all(workspace.join(path).parent().unwrap()).unwrap();
    std::fs::write(workspace.join(path), text).unwrap();
    world.env.git_in(&workspace, &["add", "-A"]);
    world.env.git_in(&workspace, &["commit", "-qm", "more"]);
}

/// The files that the gates of merges show, by task, and their reasons.
fn shown(world: &World) -> BTreeMap<String, (Vec<String>, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let one = |gate: &serde_json::Value| {
        let files = gate["details"]["files"].as_array().map(|files| files.iter().map(text).collect()).unwrap_or_default();
        (text(&gate["taskId"]), (files, text(&gate["reason"])))
    };
    world.gates().iter().map(one).collect()
}

/// The project keeps what agents obey elsewhere, and links it to where they look.
#[test]
fn what_a_guarded_link_leads_to_is_guarded_too() {
    let world = World::new();
    let env = &world.env;
    env.write("tools/claude/settings.json", "{}\n");
    env.write("conf/x.txt", "1\n");
    for (link, to) in [(".claude", "tools/agent"), ("tools/agent", "claude"), (".vscode", "./conf"), (".envrc", "/etc/hostname")]
    {
        std::os::unix::fs::symlink(to, env.repo().join(link)).unwrap();
    }
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "project"]);
    world.task("agent", "echo 1 > tools/claude/settings.json", &[]);
    world.task("tasks", "echo 1 > conf/Tasks.json", &[]);
    world.task("moved", "ln -sfn ../conf tools/agent", &[]);
    world.task("plain", "echo 1 > conf/x.txt; echo 1 > tools/y; mkdir sub; mkdir sub/conf; echo 1 > sub/conf/tasks.json", &[]);
    world.autopilot(&[]).code(1);
    let expected = [
        ("agent", "tools/claude/settings.json", ".claude"),
        ("moved", "tools/agent", ".claude"),
        ("tasks", "conf/Tasks.json", ".vscode/tasks.json"),
    ];
    let expected: BTreeMap<String, (Vec<String>, String)> = expected
        .map(|(task, file, why)| (task.to_owned(), (vec![file.to_owned()], format!("{task} changes guarded files: {why}"))))
        .into();
    assert_eq!(shown(&world), expected);
    assert_eq!(env.read("conf/x.txt"), "1\n");
    // Who approves is told what.
    let approved = env.ok(&["gate", "approve", "merge-agent"]);
    assert_eq!(approved, "approved: merge-agent: agent changes guarded files: .claude\n  tools/claude/settings.json");
}

/// Every way in which work can change a guarded file, and what only looks like one.
#[test]
fn a_merge_waits_however_it_changes_a_guarded_file() {
    let world = World::new();
    let env = &world.env;
    for (path, text) in [
        (".husky/pre-commit", "exit 0\n"),
        (".vscode/settings.json", "{}\n"),
        (".github/workflows/ci.yml", "on: push\n"),
        (".gitattributes", "[attr]big filter=lfs\n"),
        ("d/.gitattributes", "*.key filter=crypt\n"),
        ("into.txt", "a text that is moved\n"),
    ] {
        env.write(path, text);
    }
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "project"]);
    let waits = [
        ("ours", "mkdir -p x/.axiom; echo 1 > x/.axiom/config.toml", "x/.axiom/config.toml", ".axiom"),
        ("nested", "mkdir -p sub/.claude; echo 1 > sub/.claude/settings.json", "sub/.claude/settings.json", ".claude"),
        ("case", "mkdir .CoDeX; echo 1 > .CoDeX/x", ".CoDeX/x", ".codex"),
        ("link", "ln -s elsewhere .gemini", ".gemini", ".gemini"),
        ("parent", "mv .vscode conf; ln -s conf .vscode", ".vscode", ".vscode/tasks.json"),
        (
            "submodule",
            "mkdir .opencode; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),.opencode; git commit -qm module",
            ".opencode",
            ".opencode",
        ),
        ("deletion", "git rm -q .husky/pre-commit", ".husky/pre-commit", ".husky"),
        ("in", "mkdir .cursor; git mv into.txt .cursor/into.txt", ".cursor/into.txt", ".cursor"),
        ("out", "git mv .github/workflows/ci.yml ci.yml", ".github/workflows/ci.yml", ".github/workflows"),
        ("driver", "mkdir a; echo '*.bin filter=x -text' > a/.gitattributes", "a/.gitattributes", "drivers in .gitattributes"),
        ("undriven", "git rm -q d/.gitattributes", "d/.gitattributes", "drivers in .gitattributes"),
        ("macro", "mkdir m; echo '*.bin big' > m/.gitattributes", "m/.gitattributes", "drivers in .gitattributes"),
        ("unread", "mkdir l; ln -s ../x l/.gitattributes", "l/.gitattributes", "drivers in .gitattributes"),
    ];
    for (task, script, _, _) in &waits {
        world.task(task, script, &[]);
    }
    world.task("plain", "mkdir p; echo '*.txt text' > p/.gitattributes; echo 1 > claude.md; mkdir .x; echo 1 > .x/envrc", &[]);
    world.autopilot(&[]).code(1);
    let expected = waits
        .map(|(task, _, file, why)| (task.to_owned(), (vec![file.to_owned()], format!("{task} changes guarded files: {why}"))));
    assert_eq!(shown(&world), BTreeMap::from(expected));
    assert!(env.repo().join("claude.md").exists(), "the rest is merged");
    // Each is merged once it was approved.
    env.ok(&["gate", "approve", "--all"]);
    world.autopilot(&[]).code(0);
    assert!(env.repo().join("x/.axiom/config.toml").exists() && env.repo().join(".vscode").is_symlink());
    world.all_is_well();
}

#[test]
fn an_approval_holds_for_the_files_that_were_shown_and_no_others() {
    let world = world_with_a_gate();
    world.env.ok(&["gate", "approve", "merge-t"]);
    commit_in_workspace(&world, ".envrc", "run evil\n");
    world.autopilot(&[]).code(1);
    let files = vec![TASKS.to_owned(), ".envrc".to_owned()];
    let seen = shown(&world)["t"].clone();
    assert_eq!((seen.0, seen.1.as_str()), (files, "t changes guarded files: .claude, .envrc"));
    assert!(!world.env.repo().join("t.txt").exists());
    // The same files with another content have not been seen either.
    world.env.ok(&["gate", "approve", "merge-t"]);
    commit_in_workspace(&world, ".envrc", "run something else\n");
    world.autopilot(&[]).code(1);
    assert!(world.gates()[0]["decision"].is_null() && !world.env.repo().join("t.txt").exists());
    // What else changes on the branch is not asked about again.
    world.env.ok(&["gate", "approve", "merge-t"]);
    commit_in_workspace(&world, "other.txt", "1\n");
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read(".envrc"), "run something else\n");
    assert!(world.env.repo().join("other.txt").exists());
    world.all_is_well();
}

/// What is approved stays approved while the merge waits for something else.
#[test]
fn files_that_were_approved_are_not_asked_about_again_because_something_is_in_the_way() {
    let world = world_with_a_gate();
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.env.write("t.txt", "mine\n");
    world.autopilot(&[]).code(1);
    assert!(!shown(&world)["t"].1.contains("guarded"), "{:?}", shown(&world));
    std::fs::remove_file(world.env.repo().join("t.txt")).unwrap();
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.autopilot(&[]).code(0);
    world.all_is_well();
}

#[test]
fn in_semi_auto_one_gate_shows_them_and_one_that_showed_none_allows_none() {
    let world = World::new();
    world.task("t", "mkdir .claude; echo 1 > .claude/settings.json", &[]);
    world.task("u", "echo 1 > u.txt", &[]);
    let session = || world.start(&["--mode", "semi-auto", "--until-idle"]).wait();
    session().code(1);
    world.env.ok(&["gate", "approve", "--all"]);
    session().code(1);
    let gates = shown(&world);
    assert_eq!(gates["t"], (vec![TASKS.to_owned()], "t changes guarded files: .claude".to_owned()));
    assert_eq!(gates["u"], (Vec::new(), "merge u into main".to_owned()));
    let workspace = std::fs::read_dir(world.env.repo().join(".worktrees")).unwrap();
    let workspace = workspace.map(|entry| entry.unwrap().path()).find(|path| path.to_string_lossy().ends_with("-u")).unwrap();
    std::fs::write(workspace.join(".mcp.json"), "{}").unwrap();
    world.env.git_in(&workspace, &["add", "-A"]);
    world.env.git_in(&workspace, &["commit", "-qm", "more"]);
    world.env.ok(&["gate", "approve", "--all"]);
    session().code(1);
    assert!(world.env.repo().join(TASKS).exists() && !world.env.repo().join("u.txt").exists());
    assert_eq!(shown(&world)["u"].0, [".mcp.json"]);
    // A change of the mode lets nothing through.
    world.autopilot(&[]).code(1);
    world.env.ok(&["gate", "approve", "u"]);
    world.autopilot(&[]).code(0);
    world.all_is_well();
}

#[test]
fn a_gate_shows_a_hundred_files_and_how_many_more_there_are() {
    let world = World::new();
    world.task("t", "mkdir .claude; for i in $(seq 103); do echo $i > .claude/$i; done", &[]);
    world.autopilot(&[]).code(1);
    let details = world.gates()[0]["details"].clone();
    assert_eq!((details["files"].as_array().unwrap().len(), &details["moreFiles"]), (100, &json!(3)));
    let listed = world.env.ok(&["gate", "list"]);
    assert!(
        listed.contains("\nmerge-t: .claude/1\n")
            && listed.contains("\nmerge-t: and 3 more\nmerge-t: first look at them: git diff HEAD...axiom/t"),
        "{listed}"
    );
}

#[test]
fn by_hand_the_command_says_that_they_may_change() {
    let world = world_with_a_gate();
    for args in [&["merge", "t"][..], &["merge", "t", "--dry-run"]] {
        let refused = world.env.axiom(args).fails_with(Code::InTheWay);
        assert!(refused.stderr.contains(TASKS) && refused.stderr.contains("git axiom merge --allow-guarded t"), "{refused}");
    }
    let foreseen = world.env.json(&["merge", "t", "--dry-run", "--allow-guarded"]);
    assert_eq!(foreseen["files"].as_array().unwrap().len(), 2, "{foreseen}");
    world.env.ok(&["merge", "t", "--allow-guarded"]);
    assert!(world.env.repo().join(TASKS).exists() && world.gates().is_empty());
    world.all_is_well();
}

#[test]
fn the_user_says_what_is_guarded_and_a_project_only_adds_to_it() {
    let world = World::new();
    let env = &world.env;
    env.write(".git/info/exclude", "/.axiom\n.worktrees\n");
    env.write(".axiom/config.toml", "[merge]\nguarded = ['deploy']\n");
    let guards = |text: &str| env.json(&["config", "show", "merge.guarded"])["settings"][0]["value"].to_string().contains(text);
    assert!(guards(".claude") && !guards("deploy"), "nobody approved it");
    let approved = env.axiom(&["trust", "--yes"]).success();
    assert!(approved.stderr.contains("merge.guarded  [\"deploy\"]  (added to [\".claude\""), "{approved}");
    let setting = env.json(&["trust"])["settings"][0].clone();
    assert_eq!((&setting["value"], &setting["adds"]), (&json!(["deploy"]), &json!(true)));
    assert!(guards(".claude") && guards("deploy"));
    // It counts no more, and what it protected stays protected.
    env.write(".axiom/config.toml", "[merge]\nguarded = []\n");
    assert!(guards(".claude") && guards("deploy"));
    world.task("t", "mkdir deploy; echo 1 > deploy/prod.sh", &[]);
    world.autopilot(&[]).code(1);
    assert_eq!(shown(&world)["t"].0, ["deploy/prod.sh"]);
    env.ok(&["trust", "--revoke"]);
    assert!(guards(".claude") && !guards("deploy"));
    // This clone's own configuration replaces all but what is git axiom's.
    env.git(&["config", "axiom.merge.guarded", "Makefile"]);
    assert!(guards("Makefile") && !guards(".claude"));
    world.task("u", "mkdir .claude; echo 1 > .claude/x", &[]);
    world.task("v", "mkdir sub; echo all: > sub/makefile", &[]);
    world.task("w", "mkdir -p sub/.axiom; echo 1 > sub/.axiom/x", &[]);
    world.autopilot(&[]).code(1);
    let tasks: Vec<String> = shown(&world).into_keys().collect();
    assert_eq!(tasks, ["t", "v", "w"]);
    for refused in ["*.sh", "!x", "/abs", ".."] {
        env.git(&["config", "axiom.merge.guarded", refused]);
        env.axiom(&["config", "check"]).fails_with(Code::ConfigInvalid);
    }
}

/// An undo brings the gate of the merge back: it shows the guarded files, so that one approval is enough; also where no session runs.
#[test]
fn the_gate_of_an_undone_merge_shows_the_guarded_files() {
    let world = world_with_a_gate();
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.autopilot(&[]).code(0);
    let undo = || {
        let last = world.env.json(&["log", "--undoable"])["operations"][0]["id"].as_str().unwrap().to_owned();
        world.env.ok(&["undo", &last, "--yes"]);
    };
    undo();
    let refused = world.env.axiom(&["gate", "approve", "merge-t"]).fails_with(Code::ChangedMeanwhile);
    assert!(refused.stderr.contains(TASKS) && refused.stderr.contains("git axiom gate show merge-t"), "{}", refused.stderr);
    let (files, reason) = shown(&world).remove("t").unwrap();
    assert_eq!((files, reason.as_str()), (vec![TASKS.to_owned()], "its merge was taken back; t changes guarded files: .claude"));
    assert!(world.env.ok(&["status"]).contains("first look at them: git diff HEAD...axiom/t"));
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.autopilot(&[]).code(0);
    assert!(world.env.repo().join("t.txt").exists());
    // A session shows them by itself, each time.
    let live = world.start_staying("1");
    for _ in 0..2 {
        undo();
        wait_until("the gate shows them", || shown(&world).get("t").is_some_and(|(files, _)| files == &[TASKS]));
        world.env.ok(&["gate", "approve", "merge-t"]);
        wait_until("merged", || world.find_task("t")["merged"]["commit"].is_string());
    }
    world.env.ok(&["quit", "--yes", "--wait"]);
    live.wait();
    world.all_is_well();
}
