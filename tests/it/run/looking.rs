//! Look before you approve: what a task changed, what a gate shows, and a human in the workspace of a task.

use git_axiom::base::error::Code;

use crate::session_support::{Live, World, wait_until};

#[test]
fn diff_shows_committed_and_untracked_work_and_the_merge_when_the_workspace_is_gone() {
    let world = World::new();
    let wait = world.until_go();
    let script = format!(
        "echo more >> README; git commit -qam 'More'; printf 'new\\n' > \"$(printf 'odd\\033[31m')\"; \
         head -c 3000000 /dev/zero | tr '\\0' x > large.txt; printf 'a\\0b' > bin; {wait}"
    );
    world.task("t", &script, &[]);
    world.env.axiom(&["diff", "t"]).fails_with(Code::InvalidTransition);
    world.env.axiom(&["diff", "none"]).fails_with(Code::UnknownTask);
    let live = world.start_until_begun();
    let patch = world.env.axiom(&["diff", "t"]).success().stdout;
    for wanted in ["+more", "\"b/odd\\033[31m\"", "+new", "Binary files /dev/null and b/large.txt differ", "b/bin differ"] {
        assert!(patch.contains(wanted), "{wanted}: {patch}");
    }
    assert!(!patch.contains('\u{1b}') && patch.len() < 4000, "{patch}");
    // The patch is one that git reads.
    std::fs::write(world.beside("patch"), patch.replace("Binary files", "# ")).unwrap();
    let told = world.env.json(&["diff", "t"]);
    let of = |path: &str| told["files"].as_array().unwrap().iter().find(|file| file["path"] == path).unwrap().clone();
    assert_eq!((&of("README")["insertions"], &of("README")["committed"]), (&1.into(), &true.into()));
    assert_eq!((&of("bin")["insertions"], &of("bin")["committed"]), (&serde_json::Value::Null, &false.into()));
    assert_eq!(told["commits"].as_array().unwrap().len(), 1);
    let stat = world.env.ok(&["diff", "t", "--stat"]);
    assert!(stat.contains("README") && stat.contains("not committed") && stat.contains("4 files"), "{stat}");
    world.signal_file("go");
    world.wait_until_merged("t");
    live.wait().code(0);
    let merged = world.env.json(&["diff", "t"]);
    assert!(merged["workspace"].is_null() && merged["files"].as_array().unwrap().len() == 4, "{merged}");
    assert!(world.env.ok(&["diff", "t"]).contains("+more"));
}

#[test]
fn a_gate_shows_commits_files_secrets_guarded_files_and_the_verification() {
    let world = World::new();
    world.task(
        "t",
        "mkdir -p .claude; echo 1 > .claude/x; git add -A; git commit -qm 'Add it'; echo key > .env; echo 2 > y",
        &["--verify", "unit=echo '3 passed in 0.1s'"],
    );
    let live = world.start(&["--mode", "review"]);
    world.wait_for_gate("merge-t");
    let shown = world.env.json(&["gate", "show", "t"]);
    assert_eq!((&shown["guarded"], &shown["secrets"]), (&serde_json::json!([".claude/x"]), &serde_json::json!([".env"])));
    assert_eq!((&shown["verified"], &shown["gate"]["kind"]), (&true.into(), &"merge".into()));
    assert_eq!(shown["commits"].as_array().unwrap().len(), 2);
    assert_eq!(shown["verification"], world.show("t")["verification"], "one place shows steps");
    let text = world.env.ok(&["gate", "show", "merge-t"]);
    for wanted in [
        "Add it",
        "Look like secrets: .env",
        "Guarded, and changed: .claude/x",
        "Not committed: .env",
        "unit: echo '3 passed in 0.1s'; passed, 3/3 tests passed",
        "git axiom gate approve",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    world.env.axiom(&["gate", "show", "none"]).fails_with(Code::UnknownGate);
    world.quits_well(live);
}

/// An editor that says that it runs, changes the folder that it gets, and ends when it is told to.
fn debugging(world: &World, name: &str) -> Live {
    let beside = world.env.root().display();
    let editor = format!(
        "f() {{ cd \"$1\" && echo human > human.txt; touch '{beside}/{name}'; while [ ! -f '{beside}/{name}-go' ]; do sleep 0.02; done; }}; f"
    );
    let mut command = world.env.axiom_command(&world.env.repo(), ["debug", "t"]);
    command.env("GIT_EDITOR", editor);
    let live = Live::start(command, world.env.root(), name);
    world.wait_for_file(name);
    live
}

#[test]
fn an_agent_is_held_while_a_human_is_in_its_workspace_and_goes_on_afterwards() {
    let world = World::new();
    let beside = world.env.root().display();
    let script = format!("touch '{beside}/begun'; while [ ! -f '{beside}/go' ]; do echo x >> '{beside}/beats'; sleep 0.01; done");
    world.task("t", &script, &[]);
    world.env.axiom(&["debug", "t"]).fails_with(Code::InvalidTransition);
    let live = world.start_until_begun();
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    let beats = || std::fs::metadata(world.beside("beats")).map_or(0, |meta| meta.len());
    let stands_still = || {
        let before = beats();
        std::thread::sleep(std::time::Duration::from_millis(150));
        beats() == before
    };
    let goes_on = |what: &str| {
        let before = beats();
        wait_until(what, || beats() > before);
    };
    let human = debugging(&world, "editor");
    assert!(stands_still(), "it is held");
    assert_eq!(world.agents()[0]["state"], "held");
    world.signal_file("editor-go");
    let said = human.wait().code(0);
    assert!(said.stdout.contains("agent-001 goes on"), "{}", said.stdout);
    goes_on("it goes on");
    wait_until("it is said to run", || world.agents()[0]["state"] == "running");
    // Whoever holds it may be killed.
    let mut human = debugging(&world, "killed");
    assert!(stands_still(), "it is held again");
    human.kill();
    goes_on("it goes on when nobody holds it any more");
    world.signal_file("killed-go");
    world.signal_file("go");
    world.wait_until_merged("t");
    live.wait().code(0);
    assert_eq!(world.env.read("human.txt"), "human\n");
    let audit = world.env.ok(&["task", "audit", "t"]);
    assert!(audit.contains("a human opens its workspace, agent-001 is held"), "{audit}");
    assert!(audit.contains("agent-001 is held no longer"), "{audit}");
    world.all_is_well();
}

#[test]
fn without_a_session_its_workspace_is_opened_as_it_is() {
    let world = World::new();
    world.waiting_task("t");
    let live = world.start_until_begun();
    world.env.ok(&["quit", "--yes"]);
    live.wait().code(0);
    let human = debugging(&world, "editor");
    world.signal_file("editor-go");
    let said = human.wait().code(0);
    assert!(!said.stdout.contains("goes on"), "{}", said.stdout);
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("human.txt"), "human\n");
    world.all_is_well();
}

#[test]
fn instructions_are_edited_in_the_editor() {
    let world = World::new();
    world.task("t", "echo 1", &[]);
    let edit = |editor: &str| {
        let mut command = world.env.axiom_command(&world.env.repo(), ["task", "edit", "t", "--editor"]);
        command.env("GIT_EDITOR", editor);
        world.env.run(command, None)
    };
    edit("f() { echo 'and 2' >> \"$1\"; }; f").success();
    assert_eq!(world.show("t")["body"], "echo 1and 2");
    let failed = edit("false").fails_with(Code::IoFailed);
    assert!(failed.stderr.contains("your text is in"), "{failed}");
    assert_eq!(world.show("t")["body"], "echo 1and 2");
    let left = std::fs::read_dir(world.env.root().join("tmp")).unwrap().flatten();
    left.for_each(|file| std::fs::remove_file(file.path()).unwrap());
    assert!(edit("true").success().stdout.contains("nothing to change"));
}

/// From an agent to its task, what it changed and what it printed, also where it has ended and printed nothing.
#[test]
fn an_agent_leads_to_its_task_and_to_what_it_did() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    world.autopilot(&[]).code(0);
    let printed = world.env.axiom(&["output", "agent-001"]).success();
    assert_eq!(printed.stdout, "");
    for said in ["note: nothing was printed for 't'", "hint: git axiom diff t ", "hint: git axiom task show t "] {
        assert!(printed.stderr.contains(said), "{said}: {printed}");
    }
    let diff = world.env.axiom(&["diff", "agent-001"]).success();
    assert!(diff.stdout.contains("+++ b/t.txt") && diff.stderr.contains("the newest task of agent-001 is t"), "{diff}");
    assert_eq!(world.env.json(&["diff", "agent-001"])["taskId"], "t");
    let shown = world.env.axiom(&["task", "show", "agent-001"]).fails_with(Code::UnknownTask);
    assert!(shown.stderr.contains("hint: git axiom task show t "), "{shown}");
    let shown = world.env.ok(&["task", "show", "t"]);
    for command in ["git axiom diff t ", "git axiom output t ", "git axiom task audit t "] {
        assert!(shown.contains(command), "{command}: {shown}");
    }
    assert_eq!(world.env.json(&["agents"])["idle"], serde_json::json!([{"id": "agent-001", "taskId": "t"}]));
    let agents = world.env.ok(&["agents"]);
    assert!(agents.contains("git axiom diff agent-001") && agents.contains("git axiom output agent-001"), "{agents}");
}
