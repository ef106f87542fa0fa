//! Hooks of the project and of this clone: what each event tells them, what those that decide keep from happening, and what
//! hooks cannot do.

#![allow(clippy::disallowed_methods)] // tests prepare files

use std::os::unix::fs::PermissionsExt;

use git_axiom::base::error::Code;
use git_axiom::model::work::hooks::hook_event::HookEvent;
use serde_json::{Value, json};

use crate::session_support::{World, wait_until};

/// Makes a hook of this clone.
fn hook(world: &World, name: &str, script: &str) {
    let path = format!(".git/axiom/hooks/{name}");
    world.env.write(&path, format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(world.env.repo().join(path), PermissionsExt::from_mode(0o755)).unwrap();
}

/// Approves what there is.
fn approve(world: &World) {
    world.env.ok(&["trust", "--yes"]);
}

/// The documents that hooks found on their standard input, with the variables that they had.
fn seen(world: &World, event: &str) -> Vec<Value> {
    world.lines(&format!("seen-{event}")).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Hooks of every event that write down what they see: the document, and beside it the variables and the folder. Each in one
/// write, since hooks of several tasks run at once.
fn observers(world: &World) {
    let root = world.env.root().display().to_string();
    for event in HookEvent::ALL {
        let script = format!(
            "input=$(cat)\nprintf '%s\\n' \"$input\" >> '{root}/seen-{event}'\n\
             vars=$(env | grep '^AXIOM_')\nprintf 'pwd=%s\\n%s\\nend\\n' \"$PWD\" \"$vars\" >> '{root}/vars-{event}'"
        );
        hook(world, &format!("{event}.d/10-observe"), &script);
    }
    approve(world);
}

/// The variables of the calls of an event's hook, one text for each.
fn variables(world: &World, event: &str) -> Vec<String> {
    let all = std::fs::read_to_string(world.beside(&format!("vars-{event}"))).unwrap_or_default();
    all.split("end\n").filter(|one| !one.is_empty()).map(|one| format!("\n{one}")).collect()
}

/// Every variable of the event had a value in one of its calls.
fn has_all(world: &World, event: HookEvent) {
    let all = variables(world, event.as_str());
    for variable in event.variables() {
        let begins = format!("\n{}=", variable.name());
        let has = |one: &String| one.split_once(&begins).is_some_and(|(_, value)| !value.starts_with('\n'));
        assert!(all.iter().any(has), "{event}: {} in {all:#?}", variable.name());
    }
}

#[test]
fn every_event_reaches_its_hooks_with_its_variables() {
    let world = World::new();
    observers(&world);
    world.env.git(&["config", "axiom.merge.verify", "! test -e bad.txt"]);
    world.task("one", "git axiom signal learning 'use tabs' --scope task; echo 1 > same.txt; git axiom signal complete", &[]);
    world.task("bad", "echo 1 > bad.txt", &[]);
    world.task("stuck", "git axiom signal blocked 'no key'", &[]);
    world.task(
        "two",
        "while ! git -C \"$AXIOM_WORKTREE\" cat-file -e main:same.txt 2>/dev/null; do sleep 0.05; done; echo 2 > same.txt",
        &[],
    );
    world.autopilot(&["--agents", "4"]).code(1);
    let holds = |event: &str, lines: &[&str]| {
        let all = variables(&world, event);
        let found = all.iter().any(|one| lines.iter().all(|line| one.contains(&format!("\n{line}\n"))));
        assert!(found, "{event}: {lines:?} in {all:#?}");
    };
    let repo = world.env.repo().display().to_string();
    let workspace = world.show("bad")["task"]["workspace"]["path"].as_str().map(str::to_owned);
    let workspace = workspace.unwrap_or_else(|| {
        let agents = std::fs::read_dir(world.env.repo().join(".worktrees")).unwrap();
        let name = agents.flatten().map(|entry| entry.path()).find(|path| path.to_string_lossy().ends_with("-bad")).unwrap();
        name.display().to_string()
    });
    holds("pre-task-start", &["AXIOM_EVENT=pre-task-start", "AXIOM_TASK_ID=bad", &format!("AXIOM_WORKTREE={workspace}")]);
    holds("pre-task-start", &[&format!("pwd={workspace}"), "AXIOM_HOOK_DEPTH=1"]);
    holds("post-task-complete", &["AXIOM_TASK_ID=one", "AXIOM_STATUS=done", "AXIOM_BRANCH=axiom/one"]);
    holds("post-task-complete", &["AXIOM_TASK_ID=stuck", "AXIOM_STATUS=failed"]);
    holds("pre-merge", &["AXIOM_TASK_ID=one", "AXIOM_BRANCH=axiom/one", "AXIOM_TARGET=main"]);
    let merged = world.find_task("one")["merged"]["commit"].as_str().unwrap().to_owned();
    holds("post-merge", &["AXIOM_TASK_ID=one", &format!("AXIOM_COMMIT_HASH={merged}")]);
    holds("on-conflict", &["AXIOM_TASK_ID=two", "AXIOM_FILES=same.txt", "AXIOM_LEVEL=human"]);
    holds("on-learning", &["AXIOM_SCOPE=task", "AXIOM_CONTENT=use tabs"]);
    holds("on-error", &["AXIOM_ERROR_TYPE=VERIFY_FAILED", "AXIOM_TASK_ID=bad"]);
    holds("post-checkpoint", &["AXIOM_TRIGGER=after-merge", &format!("AXIOM_COMMIT_HASH={merged}"), &format!("pwd={repo}")]);
    HookEvent::ALL.into_iter().filter(|event| *event != HookEvent::OnPause).for_each(|event| has_all(&world, event));
    // The tree is that of the merge, whatever is in the workspace.
    let tree = seen(&world, "pre-merge").iter().find(|told| told["taskId"] == "one").unwrap()["mergeTree"].clone();
    assert_eq!(tree.as_str().unwrap(), world.env.git(&["rev-parse", &format!("{merged}^{{tree}}")]));
    let learnt = &seen(&world, "on-learning")[0];
    assert!(learnt["learningId"].as_str().unwrap().starts_with("learning-") && learnt["schema"] == 2, "{learnt}");
    assert!(variables(&world, "on-pause").is_empty());
    // What is run is shown, and no step of its own to undo.
    let all = world.env.ok(&["log", "--all"]);
    assert!(all.contains("hook post-merge this clone's hooks/post-merge.d/10-observe for one passed"), "{all}");
    let listed = world.env.json(&["hooks", "list"]);
    assert!(listed["hooks"].as_array().unwrap().iter().all(|hook| hook["approved"] == true), "{listed}");
    world.all_is_well();
}

#[test]
fn a_pause_is_told_once_with_what_runs() {
    let world = World::new();
    observers(&world);
    world.waiting_task("t");
    let live = world.start_until_begun();
    world.env.ok(&["pause"]);
    wait_until("the pause is told", || !seen(&world, "on-pause").is_empty());
    world.signal_file("go");
    wait_until("paused", || world.env.json(&["status"])["session"]["state"] == "paused");
    world.env.ok(&["quit"]);
    live.wait().code(0);
    let told = seen(&world, "on-pause");
    assert_eq!((told.len(), &told[0]["runningTasks"]), (1, &serde_json::json!(["t"])), "{told:?}");
    assert!(variables(&world, "on-pause")[0].contains("\nAXIOM_RUNNING_TASKS=t\n"));
    has_all(&world, HookEvent::OnPause);
}

#[test]
fn a_hook_that_fails_before_a_start_leaves_the_task_pending_until_a_human_decides() {
    let world = World::new();
    let root = world.env.root().display().to_string();
    let veto = format!("echo asked >> '{root}/asked'; [ -e '{root}/may' ] || {{ echo 'no, not yet'; exit 3; }}");
    hook(&world, "pre-task-start", &veto);
    approve(&world);
    world.task("t", "echo 1 > t.txt", &[]);
    world.task("u", "echo 1 > u.txt", &[]);
    let head = world.env.git(&["rev-parse", "main"]);
    let ended = world.autopilot(&[]).code(1);
    assert!(ended.stdout.contains("waits at gate human-review-t: hook pre-task-start"), "{}", ended.stdout);
    assert_eq!((world.status_of("t").as_str(), world.env.git(&["rev-parse", "main"])), ("pending", head));
    let gate = world.wait_for_gate("human-review-t");
    assert_eq!(
        (gate["details"]["cause"].as_str(), gate["details"]["notes"][0].as_str()),
        (Some("hookVeto"), Some("no, not yet"))
    );
    // Not asked again unasked, and no mode closes the gate.
    world.autopilot(&[]).code(1);
    assert_eq!(world.lines("asked").len(), 2);
    // Approving asks the hook again; rejecting blocks the task.
    world.env.ok(&["gate", "reject", "human-review-u", "--reason", "not needed"]);
    world.env.ok(&["gate", "approve", "human-review-t"]);
    world.autopilot(&[]).code(1);
    assert_eq!((world.lines("asked").len(), world.status_of("t"), world.status_of("u")), (3, "pending".into(), "blocked".into()));
    world.signal_file("may");
    world.env.ok(&["gate", "approve", "human-review-t"]);
    world.autopilot(&[]).code(1);
    assert_eq!((world.env.read("t.txt").as_str(), world.gates().len()), ("1\n", 0));
    world.all_is_well();
}

#[test]
fn a_hook_that_fails_before_a_merge_leaves_everything_as_it_is() {
    let world = World::new();
    let root = world.env.root().display().to_string();
    hook(&world, "pre-merge.sh", &format!("[ -e '{root}/may' ] || {{ echo tests failed; exit 1; }}"));
    approve(&world);
    world.task("t", "echo 1 > t.txt", &[]);
    let head = world.env.git(&["rev-parse", "main"]);
    world.autopilot(&[]).code(1);
    let unchanged = || assert_eq!((world.status_of("t").as_str(), world.env.git(&["rev-parse", "main"])), ("done", head.clone()));
    unchanged();
    let gate = world.wait_for_gate("merge-t");
    assert_eq!(
        (gate["details"]["cause"].as_str(), gate["details"]["notes"][0].as_str()),
        (Some("hookVeto"), Some("tests failed"))
    );
    // No mode closes it.
    world.autopilot(&[]).code(1);
    world.start(&["--mode", "semi-auto", "--until-idle"]).wait().code(1);
    unchanged();
    // By hand it is asked too.
    let refused = world.env.axiom(&["merge", "t"]).fails_with(Code::VerifyFailed);
    assert!(refused.stderr.contains("hook pre-merge") && refused.stderr.contains("tests failed"), "{refused}");
    unchanged();
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.autopilot(&[]).code(1);
    unchanged();
    world.signal_file("may");
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.autopilot(&[]).code(0);
    assert_eq!((world.env.read("t.txt").as_str(), world.gates().len()), ("1\n", 0));
    world.all_is_well();
}

#[test]
fn what_a_hook_let_pass_holds_for_that_merge_alone() {
    let world = World::new();
    let root = world.env.root().display().to_string();
    // The target moves while the hook is asked: at first once, later each time.
    let moves = "git -c user.name=x -c user.email=x@x commit-tree -p main -m moved 'main^{tree}'";
    let script = format!(
        "echo \"$AXIOM_MERGE_TREE $(git rev-parse main)\" >> '{root}/asked'\n\
         [ -e '{root}/once' ] && ! [ -e '{root}/always' ] && exit 0\n\
         touch '{root}/once'; git update-ref refs/heads/other $({moves})"
    );
    hook(&world, "pre-merge", &script);
    approve(&world);
    world.env.git(&["branch", "other"]);
    world.env.git(&["config", "axiom.merge.target", "other"]);
    let script = script.replace("main", "other");
    hook(&world, "pre-merge", &script);
    approve(&world);
    world.task("t", "echo 1 > t.txt", &[]);
    world.autopilot(&[]).code(0);
    let asked = world.lines("asked");
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert_ne!(asked[0], asked[1]);
    assert_eq!(world.env.git(&["show", "other:t.txt"]), "1");
    // A target that moves each time: three times, then a human.
    world.signal_file("always");
    world.task("u", "echo 1 > u.txt", &[]);
    world.autopilot(&[]).code(1);
    assert_eq!(world.lines("asked").len(), 5);
    assert!(world.wait_for_gate("merge-u")["reason"].as_str().unwrap().contains("moved each time"));
}

#[test]
fn a_hook_that_nobody_approved_does_not_run_and_what_it_decides_waits() {
    let world = World::new();
    let root = world.env.root().display().to_string();
    world.task("t", "echo 1 > t.txt", &[]);
    for event in HookEvent::ALL {
        hook(&world, event.as_str(), &format!("touch '{root}/witness'"));
    }
    world.autopilot(&[]).code(1);
    let gate = world.wait_for_gate("human-review-t");
    assert!(gate["details"]["cause"] == "hookVeto" && gate["reason"].as_str().unwrap().contains("git axiom trust"), "{gate}");
    assert_eq!(world.status_of("t"), "pending");
    world.env.axiom(&["hooks", "run", "on-error"]).fails_with(Code::NotTrusted);
    // Approved before, and gone now: it may have been deleted to get around it.
    for event in HookEvent::ALL {
        std::fs::remove_file(world.env.axiom_dir().join("hooks").join(event.as_str())).unwrap();
    }
    world.env.ok(&["gate", "approve", "human-review-t"]);
    world.autopilot(&[]).code(0);
    hook(&world, "pre-merge", "exit 0");
    approve(&world);
    world.task("u", "echo 1 > u.txt", &[]);
    std::fs::remove_file(world.env.axiom_dir().join("hooks/pre-merge")).unwrap();
    world.autopilot(&[]).code(1);
    world.env.axiom(&["merge", "u"]).fails_with(Code::NotTrusted);
    assert!(!world.beside("witness").exists() && !world.env.repo().join("u.txt").exists());
    approve(&world);
    world.env.ok(&["merge", "u"]);
}

#[test]
fn what_waits_for_an_approval_says_so_once_that_is_given() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    hook(&world, "pre-task-start", "exit 0");
    world.autopilot(&[]).code(1);
    let told = || [world.env.ok(&["gate", "list"]), world.env.ok(&["status"]), world.gates()[0]["reason"].to_string()];
    assert!(told().iter().all(|text| text.contains("git axiom trust")), "{:?}", told());
    approve(&world);
    let now = "the project's files are approved by now; approve to ask its hook again";
    assert!(told().iter().all(|text| text.contains(now) && !text.contains("git axiom trust")), "{:?}", told());
    let decided = world.env.ok(&["gate", "approve", "t"]);
    let now = "the project's files are approved by now";
    assert!(decided.contains(now) && !decided.contains("git axiom trust"), "{decided}");
    assert!(told().iter().all(|text| text.contains(now) && !text.contains("approve to ask")), "{:?}", told());
    assert!(!told().iter().any(|text| text.contains("git axiom trust")), "{:?}", told());
    world.autopilot(&[]).code(0);
}

#[test]
fn a_merge_that_waited_for_nothing_but_an_approval_goes_on_once_that_is_given() {
    let world = World::new();
    for task in ["t", "u"] {
        world.task(task, &format!("echo 1 > {task}.txt"), &[]);
    }
    hook(&world, "pre-merge", "exit 0");
    let ended = world.autopilot(&[]).code(1);
    let hints: Vec<&str> = ended.stderr.lines().filter(|line| line.starts_with("hint: ")).collect();
    assert!(hints[0].starts_with("hint: git axiom trust ") && hints[1].contains("git axiom run --until-idle"), "{hints:?}");
    assert!(!hints.iter().any(|hint| hint.contains("gate approve")), "nothing is left to approve at them: {hints:?}");
    assert_eq!(hints.iter().filter(|hint| hint.contains("git axiom trust")).count(), 1, "{hints:?}");
    approve(&world);
    world.autopilot(&[]).code(0);
    assert!(world.env.repo().join("t.txt").exists() && world.env.repo().join("u.txt").exists());
    // A hook that allows it has verified nothing.
    let (shown, audit) = (world.show("t"), world.env.ok(&["task", "audit", "t"]));
    assert!(shown["progress"]["testsPassing"].is_null() && !shown.to_string().contains("\"testsPassing\":true"), "{shown}");
    assert!(audit.contains("pre-merge hooks allow the merge of t") && !audit.contains("is verified"), "{audit}");
}

#[test]
fn what_was_approved_runs_whatever_is_there_by_now() {
    let world = World::new();
    let root = world.env.root().display().to_string();
    hook(&world, "lib/say", &format!("echo lib >> '{root}/said'"));
    hook(&world, "pre-task-start", &format!("echo good >> '{root}/said'; \"$AXIOM_HOOK_DIR/lib/say\"; sh \"${{0%/*}}/lib/say\""));
    approve(&world);
    let evil = format!("#!/bin/sh\\necho evil >> \\'{root}/said\\'\\n");
    let own = world.env.axiom_dir().join("hooks");
    // The agent of the first task changes the hooks here, in its workspace, and where they are run from.
    let script = format!(
        "for file in '{own}/pre-task-start' '{own}/lib/say' .axiom/hooks/pre-task-start; do mkdir -p \"${{file%/*}}\"; \
         printf '{evil}' > \"$file\"; chmod +x \"$file\"; done; \
         for file in '{trusted}'/*/own/hooks/lib/say; do chmod u+w \"$file\"; printf '{evil}' > \"$file\"; done",
        own = own.display(),
        trusted = world.env.axiom_dir().join("tmp/trusted").display(),
        evil = evil.replace("\\'", ""),
    );
    world.task("a", &script, &[]);
    world.task("b", "echo 1 > b.txt", &["--after", "a"]);
    let live = world.start(&["--mode", "autopilot"]);
    // What brings hooks waits for a human.
    world.wait_for_gate("merge-a");
    assert_eq!(world.lines("said"), ["good", "lib", "lib"], "sorted");
    world.env.ok(&["gate", "approve", "merge-a"]);
    world.wait_until_merged("b");
    assert_eq!(world.lines("said"), ["good", "good", "lib", "lib", "lib", "lib"]);
    world.quits_well(live);
}

/// Nobody is told that what was due has happened, and nobody says that it was told.
#[test]
fn hooks_that_a_kill_kept_from_being_told_are_named_and_recorded() {
    for verb in [&["recover", "--yes"][..], &["run", "--until-idle", "--mode", "autopilot"]] {
        let world = World::new();
        let root = world.env.root().display().to_string();
        hook(&world, "post-task-complete", &format!("touch '{root}/runs'; sleep 1000"));
        hook(&world, "on-gate", &format!("echo told >> '{root}/gate'"));
        approve(&world);
        world.task("t", "echo 1 > t.txt", &[]);
        let mut live = world.start(&["--mode", "review"]);
        world.wait_for_file("runs");
        world.wait_for_gate("merge-t");
        live.kill();
        world.all_die();
        let died = jiff::Timestamp::now();
        let looked = world.env.ok(&["recover"]);
        let named =
            ["hook on-gate this clone's hooks/on-gate for t was not run: ", "hooks/post-task-complete for t may not have run"];
        assert!(named.iter().all(|named| looked.contains(named)), "{looked}");
        let said = world.env.axiom(verb).success();
        assert!(named.iter().all(|named| said.stderr.contains(named)), "{said}");
        let log = world.env.json(&["hooks", "log"]);
        let runs = log["runs"].as_array().unwrap();
        let of = |event: &str| runs.iter().filter(|run| run["event"] == event).collect::<Vec<_>>();
        assert_eq!((of("on-gate").len(), of("post-task-complete").len()), (1, 1), "{log}");
        assert!(of("on-gate")[0]["failure"].as_str().unwrap().starts_with("was not run: "), "{log}");
        let began: jiff::Timestamp = of("post-task-complete")[0]["at"].as_str().unwrap().parse().unwrap();
        assert!(began < died, "it has the time at which it began: {log}");
        assert!(of("post-task-complete")[0]["tookMs"].is_null() && of("on-gate")[0]["tookMs"].is_null(), "{log}");
        assert!(!world.env.ok(&["hooks", "log"]).contains(" ms)"), "nobody knows how long it took");
        assert!(!world.beside("gate").exists());
        assert!(!world.env.ok(&["recover"]).contains("on-gate"), "it is said once");
    }
}

#[test]
fn hooks_that_misbehave_end_and_hurt_nobody() {
    let world = World::new();
    let root = world.env.root().display().to_string();
    // Only the first may reach it, on a machine that is busy with other tests as well.
    world.env.git(&["config", "axiom.hooks.timeout", "5"]);
    let own = |name: &str| world.env.axiom_dir().join("hooks/post-checkpoint.d").join(name);
    for (name, script) in [
        ("10-hangs", "sleep 1000 & sleep 1000".to_owned()),
        ("20-loud", "yes 'some words' | head -c 10000000; echo the end; exit 1".to_owned()),
        ("30-forks", "setsid sleep 1000 >/dev/null 2>&1 & nohup sleep 1000 & exit 0".to_owned()),
        ("40-mute", "exec >&- 2>&-; exit 4".to_owned()),
        ("50-self", format!("chmod u+w \"$0\"; echo 'touch {root}/evil' >> \"$0\"; exit 0")),
    ] {
        hook(&world, &format!("post-checkpoint.d/{name}"), &script);
    }
    let write = |name: &str, text: &str, mode: u32| {
        std::fs::write(own(name), text).unwrap();
        std::fs::set_permissions(own(name), PermissionsExt::from_mode(mode)).unwrap();
    };
    write("60-not-executable", "#!/bin/sh\n", 0o644);
    write("70-no-interpreter", "#!/no/such/shell\n", 0o755);
    write("80-crlf", "#!/bin/sh\r\necho x\r\n", 0o755);
    approve(&world);
    let made = world.env.axiom(&["checkpoint", "create", "c"]).success();
    assert_eq!(made.stdout, "c\n");
    world.env.ok(&["checkpoint", "create", "d"]);
    let log = world.env.json(&["hooks", "log"]);
    crate::common::documents::check(&log);
    let runs = log["runs"].as_array().unwrap();
    let failure = |name: &str| {
        let run = runs.iter().find(|run| run["hook"].as_str().unwrap().ends_with(name)).unwrap();
        (run["failure"].as_str().unwrap_or("passed").to_owned(), run["lines"].as_array().unwrap().len())
    };
    assert_eq!(failure("10-hangs").0, "took longer than 5 seconds");
    assert_eq!(failure("20-loud"), ("exited with status 1".to_owned(), 20));
    assert_eq!(failure("30-forks").0, "passed");
    assert_eq!(failure("40-mute").0, "exited with status 4");
    assert_eq!(failure("50-self").0, "passed");
    assert!(failure("60-not-executable").0.starts_with("is not executable"));
    assert!(failure("70-no-interpreter").0.contains("/no/such/shell"), "{}", failure("70-no-interpreter").0);
    assert!(failure("80-crlf").0.starts_with("has CRLF line ends"));
    assert_eq!(runs.len(), 16);
    assert!(!world.beside("evil").exists());
    assert!(made.stderr.contains("hook post-checkpoint this clone's hooks/post-checkpoint.d/10-hangs took longer"), "{made}");
    world.no_process_is_left();
}

#[test]
fn hooks_may_call_git_axiom_but_decide_nothing_and_do_not_call_each_other_for_ever() {
    let world = World::new();
    let root = world.env.root().display().to_string();
    let script = format!(
        "git axiom checkpoint create >> '{root}/made' 2>&1\n\
         for verb in 'trust --yes' 'merge t' 'gate approve --all' 'stop --all' 'undo --yes'; do\n\
         env -u AXIOM_STEPS -u AXIOM_HOOK_DEPTH git axiom $verb >> '{root}/refused' 2>&1 && touch '{root}/evil'; done; true"
    );
    hook(&world, "post-checkpoint", &script);
    approve(&world);
    world.env.ok(&["checkpoint", "create", "first"]);
    let names = world.env.json(&["checkpoint", "list"])["checkpoints"].as_array().unwrap().len();
    assert_eq!(names, 4, "three hooks deep");
    let refused = std::fs::read_to_string(world.beside("refused")).unwrap();
    assert_eq!(refused.matches("NOT_FOR_AGENTS").count(), 15, "{refused}");
    assert!(!world.beside("evil").exists());
}

#[test]
fn hooks_are_tried_and_installed() {
    let world = World::new();
    let root = world.env.root().display().to_string();
    world.task("t", "echo 1 > t.txt", &[]);
    let shown = world.env.ok(&["hooks", "list"]);
    assert!(shown.starts_with("There are no hooks."), "{shown}");
    assert!(world.env.ok(&["hooks", "install"]).contains("tests-before-merge.sh"));
    world.env.axiom(&["hooks", "install", "nottify"]).fails_with(Code::InvalidInput);
    let answer = world.env.json(&["hooks", "install", "commit-messages"]);
    crate::common::documents::check(&answer);
    assert_eq!(answer["files"][0]["is"], "new");
    let path = world.env.axiom_dir().join("hooks/pre-merge.d/commit-messages.sh");
    assert!(path.metadata().unwrap().permissions().mode() & 0o111 != 0);
    assert_eq!(world.env.json(&["hooks", "install", "commit-messages.sh"])["files"][0]["is"], "same");
    std::fs::write(&path, "mine").unwrap();
    let kept = world.env.axiom(&["hooks", "install", "commit-messages"]);
    assert!(kept.stdout.contains("Left alone") && std::fs::read_to_string(&path).unwrap() == "mine", "{kept}");
    std::fs::remove_file(&path).unwrap();
    hook(&world, "pre-merge", &format!("env | grep '^AXIOM_' > '{root}/trial'; echo looked; exit 2"));
    world.env.axiom(&["hooks", "run", "pre-merge", "--task", "t"]).fails_with(Code::NotTrusted);
    approve(&world);
    let tried = world.env.axiom(&["hooks", "run", "pre-merge", "--task", "t"]);
    assert!(
        tried.code == Some(1) && tried.stdout.contains("exited with status 2") && tried.stdout.contains("  looked"),
        "{tried}"
    );
    let trial = std::fs::read_to_string(world.beside("trial")).unwrap();
    for line in ["AXIOM_TRIAL=1", "AXIOM_TASK_ID=t", "AXIOM_TARGET=main", "AXIOM_EVENT=pre-merge"] {
        assert!(trial.lines().any(|one| one == line), "{line} in {trial}");
    }
    world.env.axiom(&["hooks", "run", "pre-merge"]).fails_with(Code::Usage);
    world.env.axiom(&["hooks", "run", "pre-merge", "--task", "x"]).fails_with(Code::UnknownTask);
    let log = world.env.json(&["hooks", "log"]);
    assert_eq!((log["runs"][0]["trial"].as_bool(), log["runs"].as_array().unwrap().len()), (Some(true), 1), "{log}");
}

#[test]
fn a_trial_tells_what_the_event_itself_would() {
    let world = World::new();
    observers(&world);
    world.task("t", "true", &[]);
    let commit = |text: &str| {
        world.env.write("same.txt", text);
        world.env.git(&["add", "same.txt"]);
        world.env.git(&["commit", "--quiet", "--message", text]);
    };
    world.env.git(&["checkout", "--quiet", "-b", "axiom/t"]);
    commit("theirs");
    world.env.git(&["checkout", "--quiet", "main"]);
    commit("ours");
    let trial = |event: &str| {
        world.env.ok(&["hooks", "run", event, "--task", "t"]);
        seen(&world, event).remove(0)
    };
    for (event, level) in [("on-conflict", json!("human")), ("pre-merge", Value::Null)] {
        let told = trial(event);
        assert_eq!((&told["files"], &told["level"], &told["schema"]), (&json!(["same.txt"]), &level, &json!(2)), "{told}");
    }
    let told = trial("on-error");
    assert_eq!((&told["errorType"], &told["message"]), (&json!("AGENT_FAILED"), &json!("a trial")), "{told}");
    assert_eq!(trial("on-learning")["scope"], "project");
}

/// A hook that says beside the repository that it was asked, and answers when it may.
fn slow_veto(world: &World) {
    let root = world.env.root().display().to_string();
    hook(
        world,
        "pre-task-start",
        &format!("echo asked >> '{root}/asked'; touch '{root}/asking'; while ! [ -e '{root}/answer' ]; do sleep 0.02; done"),
    );
    approve(world);
}

#[test]
fn what_a_human_does_while_a_hook_is_asked_counts() {
    let changes: [(&str, &[&str]); 4] = [
        ("rolled back", &["rollback", "session", "--yes"]),
        ("with a dependency", &["task", "edit", "t", "--after", "other"]),
        ("asked for", &["mode", "semi-auto"]),
        ("blocked", &["task", "block", "t", "--reason", "no"]),
    ];
    for (what, change) in changes {
        let world = World::new();
        slow_veto(&world);
        world.task("t", "echo 1 > t.txt", &[]);
        if what == "with a dependency" {
            world.task("other", "echo 1 > o.txt", &[]);
            world.env.ok(&["task", "block", "other", "--reason", "later"]);
        }
        let live = world.start(&["--mode", "autopilot"]);
        world.wait_for_file("asking");
        world.env.ok(change);
        std::fs::remove_file(world.beside("asking")).unwrap();
        if what == "rolled back" {
            // It is asked again, for another workspace, once a human allows it.
            let gates = world.gates();
            for gate in gates {
                world.env.axiom(&["gate", "approve", gate["id"].as_str().unwrap()]);
            }
            world.signal_file("answer");
            world.wait_until_merged("t");
        } else {
            std::thread::sleep(std::time::Duration::from_millis(300));
            world.signal_file("answer");
            std::thread::sleep(std::time::Duration::from_millis(300));
            assert!(!world.env.repo().join("t.txt").exists(), "{what}");
            assert_ne!(world.status_of("t"), "active", "{what}");
        }
        world.quits_well(live);
        world.all_is_well();
    }
}

#[test]
fn in_semi_auto_a_veto_is_rejected_and_ends_an_idle_session() {
    let world = World::new();
    let root = world.env.root().display().to_string();
    hook(&world, "pre-task-start", &format!("echo asked >> '{root}/asked'; exit 1"));
    approve(&world);
    world.task("t", "echo 1 > t.txt", &[]);
    let idle = ["--mode", "semi-auto", "--until-idle"];
    world.start(&idle).wait().code(1);
    world.env.ok(&["gate", "approve", "claim-t"]);
    let ended = world.start(&idle).wait().code(1);
    assert!(ended.stdout.contains("waits at gate"), "{}", ended.stdout);
    assert_eq!(world.lines("asked").len(), 1);
    world.env.ok(&["gate", "reject", "human-review-t", "--reason", "no"]);
    hook(&world, "pre-task-start", "exit 0");
    approve(&world);
    let ended = world.start(&idle).wait().code(1);
    assert_eq!(ended.stdout, "t is blocked: no\n");
    world.all_is_well();
}

#[test]
fn hooks_are_not_asked_in_a_folder_that_is_another_repository() {
    let world = World::new();
    let root = world.env.root().display().to_string();
    hook(&world, "pre-merge", &format!("git rev-parse --git-dir > '{root}/asked-in'"));
    hook(&world, "on-learning", &format!("pwd > '{root}/learnt-in'"));
    approve(&world);
    let fake = "rm .git; git init -q .; git commit -q --allow-empty -m fake";
    world.task("t", "echo 1 > t.txt", &["--verify", &format!("{fake}; true")]);
    world.task("u", &format!("echo 1 > u.txt; {fake}; git axiom signal learning x"), &[]);
    world.autopilot(&[]).code(1);
    assert!(!world.beside("asked-in").exists());
    let gate = world.wait_for_gate("merge-t");
    assert!(gate["reason"].as_str().unwrap().contains("not that of this repository"), "{gate}");
    assert_eq!(world.lines("learnt-in"), [world.env.repo().display().to_string()]);
    assert!(!world.env.repo().join("t.txt").exists());
}

#[test]
fn a_merge_that_waits_for_an_approval_goes_on_in_the_same_session() {
    let world = World::new();
    hook(&world, "pre-merge", "exit 0");
    world.task("t", "echo 1 > t.txt", &[]);
    let live = world.start(&["--mode", "autopilot"]);
    let gate = world.wait_for_gate("merge-t");
    assert!(gate["reason"].as_str().unwrap().contains("git axiom trust"), "{gate}");
    approve(&world);
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.wait_until_merged("t");
    world.quits_well(live);
}

#[test]
fn more_decisions_than_gates_are_opened_at_once_are_all_carried_out_or_wait() {
    let world = World::new();
    for n in 0..30 {
        world.task(&format!("t{n:02}"), "true", &[]);
    }
    for n in 0..5 {
        world.env.ok(&["task", "block", &format!("t{n:02}"), "--reason", "later"]);
    }
    let idle = ["--mode", "semi-auto", "--until-idle"];
    world.start(&idle).wait().code(1);
    assert_eq!(world.gates().len(), 20);
    for n in 0..5 {
        world.env.ok(&["task", "unblock", &format!("t{n:02}")]);
    }
    // Beyond the twenty that are asked about at once.
    world.env.ok(&["gate", "approve", "claim-t24"]);
    world.env.ok(&["gate", "reject", "claim-t23", "--reason", "no"]);
    world.start(&idle).wait().code(1);
    assert_eq!((world.status_of("t24"), world.status_of("t23")), ("done".into(), "blocked".into()));
    // Twenty vetoes wait; what a human approved beside them waits with them, and the session ends.
    hook(&world, "pre-task-start", "exit 1");
    approve(&world);
    world.env.ok(&["gate", "approve", "--all"]);
    world.start(&idle).wait().code(1);
    let vetoes = world.gates().iter().filter(|gate| gate["kind"] == "human_review").count();
    assert_eq!(vetoes, 20);
    world.start(&["--mode", "autopilot", "--until-idle"]).wait().code(1);
}

#[test]
fn while_a_session_runs_it_is_said_that_hooks_of_now_do_not_count_in_it() {
    let world = World::new();
    world.waiting_task("t");
    let live = world.start_until_begun();
    hook(&world, "pre-merge", "exit 1");
    let says = |args: &[&str]| world.env.axiom(args).success().to_string().contains("A session runs, and goes by the hooks");
    assert!(says(&["trust", "--yes"]) && says(&["hooks", "list"]) && says(&["config", "show"]) && says(&["config", "check"]));
    world.signal_file("go");
    world.env.ok(&["quit", "--yes"]);
    live.wait();
    assert!(!says(&["hooks", "list"]) && !says(&["config", "show"]));
}

#[test]
fn what_a_session_does_about_hooks_that_changed_or_were_never_approved_is_said() {
    let world = World::new();
    hook(&world, "pre-merge", "exit 0");
    approve(&world);
    world.waiting_task("t");
    let live = world.start_until_begun();
    hook(&world, "pre-merge", "exit 1");
    let told = |args: &[&str]| world.env.axiom(args).success().to_string();
    let listed = told(&["hooks", "list"]);
    assert!(listed.contains("do not run, but in the session that runs, as they were when it began"), "{listed}");
    let noted = told(&["config", "show"]);
    assert!(noted.contains("; the session that runs goes on with the hooks with which it began: git axiom trust"), "{noted}");
    assert!(told(&["trust", "--revoke"]).contains("A session runs, and goes by the hooks"), "it goes on with them");
    world.signal_file("go");
    live.wait().code(0);
    assert!(world.env.repo().join("t.txt").exists());

    // One that began before anybody approved them takes them up.
    world.task("u", "echo 1 > u.txt", &[]);
    let live = world.start(&["--mode", "autopilot"]);
    world.wait_for_gate("merge-u");
    let trusted = told(&["trust", "--yes"]);
    assert!(trusted.contains("it takes up those that you approve"), "{trusted}");
    world.env.ok(&["gate", "approve", "merge-u"]);
    wait_until("its hook refuses it", || world.wait_for_gate("merge-u")["reason"].as_str().unwrap().contains("pre-merge"));
    assert!(told(&["hooks", "list"]).contains("A session runs, and goes by the hooks and the configuration"));
    world.quits_well(live);
    assert!(!told(&["hooks", "list"]).contains("session"));
}

#[test]
fn a_hook_of_a_merge_is_in_the_log_while_the_rest_is_verified() {
    let world = World::new();
    hook(&world, "pre-merge", "exit 0");
    approve(&world);
    let (begun, go) = (world.beside("begun"), world.beside("go"));
    let step = format!("touch '{}'; while [ ! -e '{}' ]; do sleep 0.02; done", begun.display(), go.display());
    world.env.git(&["config", "axiom.merge.verify", &step]);
    world.task("t", "echo 1 > t.txt", &[]);
    let live = world.start(&["--mode", "autopilot"]);
    world.wait_for_file("begun");
    let runs = || world.env.json(&["hooks", "log"])["runs"].as_array().unwrap().len();
    wait_until("the hook is in the log", || runs() == 1);
    world.signal_file("go");
    world.wait_until_merged("t");
    assert_eq!(runs(), 1, "once");
    world.quits_well(live);
}
