//! Semi-auto: claims, merges and questions wait for a human.

use git_axiom::base::error::Code;

use crate::session_support::{World, wait_until};

const SEMI_AUTO: [&str; 3] = ["--mode", "semi-auto", "--until-idle"];

#[test]
fn each_claim_and_each_merge_waits_for_a_human() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    let live = world.start(&["--mode", "semi-auto"]);
    let gate = world.wait_for_gate("claim-t");
    assert_eq!((gate["kind"].as_str(), gate["taskId"].as_str()), (Some("claim"), Some("t")));
    assert_eq!(world.status_of("t"), "pending");
    assert_eq!(world.env.ok(&["gate", "approve", "t"]), "approved: claim-t: start t: t");
    world.wait_for_gate("merge-t");
    assert_eq!(world.status_of("t"), "done");
    assert!(!world.env.repo().join("t.txt").exists());
    world.env.ok(&["gate", "approve", "merge-t"]);
    wait_until("merged", || world.env.repo().join("t.txt").exists());
    wait_until("gates are closed", || world.gates().is_empty());
    world.quits_well(live);
}

#[test]
fn until_idle_ends_with_the_gates_as_reasons_and_goes_on_where_it_was() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    world.task("u", "echo 1 > u.txt", &["--after", "t"]);
    let ended = world.start(&SEMI_AUTO).wait().code(1);
    assert_eq!(ended.stdout, "t waits at gate claim-t: start t: t\nu waits for t\n");
    assert!(ended.stderr.contains("error[NOT_IDLE]"), "{}", ended.stderr);
    world.env.ok(&["gate", "approve", "claim-t"]);
    let ended = world.start(&SEMI_AUTO).wait().code(1);
    assert!(ended.stdout.contains("waits at gate merge-t"), "{}", ended.stdout);
    // Merging by hand, without a supervisor, closes the matter too.
    world.env.ok(&["merge", "t"]);
    let ended = world.start(&SEMI_AUTO).wait().code(1);
    assert_eq!(ended.stdout, "u waits at gate claim-u: start u: u\n");
    world.env.axiom(&["gate", "approve", "nope"]).fails_with(git_axiom::base::error::Code::UnknownGate);
    world.all_is_well();
}

#[test]
fn what_is_rejected_is_blocked_with_the_reason() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    world.task("u", "echo 1 > u.txt", &[]);
    let live = world.start(&["--mode", "semi-auto"]);
    world.wait_for_gate("claim-t");
    world.env.ok(&["gate", "reject", "claim-t", "--reason", "not today"]);
    wait_until("blocked", || world.status_of("t") == "blocked");
    assert_eq!(world.find_task("t")["reason"], "not today");
    world.wait_for_gate("claim-u");
    world.env.ok(&["gate", "approve", "claim-u"]);
    world.wait_for_gate("merge-u");
    world.env.ok(&["gate", "reject", "merge-u", "--reason", "not good enough"]);
    wait_until("blocked", || world.status_of("u") == "blocked");
    world.env.ok(&["task", "unblock", "u"]);
    world.wait_for_gate("claim-u");
    world.quits_well(live);
}

#[test]
fn what_was_rejected_before_autopilot_begins_stays_rejected() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    world.start(&SEMI_AUTO).wait().code(1);
    world.env.ok(&["gate", "reject", "t", "--reason", "no"]);
    let ended = world.autopilot(&[]).code(1);
    assert_eq!(ended.stdout, "t is blocked: no\n");
    world.all_is_well();
}

/// Where no session runs nobody has blocked the task yet: it can be unblocked all the same, and then nothing is left of the no.
#[test]
fn what_was_rejected_is_unblocked_before_a_session_has_blocked_it() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    world.start(&SEMI_AUTO).wait().code(1);
    world.env.axiom(&["task", "unblock", "t"]).fails_with(Code::InvalidTransition);
    world.env.ok(&["gate", "reject", "t", "--reason", "no"]);
    assert_eq!(world.env.ok(&["task", "unblock", "t"]), "t: pending");
    assert_eq!(world.gates().len(), 0);
    world.start(&SEMI_AUTO).wait().code(1);
    assert!(world.wait_for_gate("claim-t")["decision"].is_null());
    world.env.ok(&["gate", "approve", "t"]);
    world.start(&SEMI_AUTO).wait().code(1);
    // The same at the gate of its merge: it is asked about anew, and what was rejected is not merged meanwhile.
    world.env.ok(&["gate", "reject", "merge-t", "--reason", "no"]);
    assert_eq!(world.env.ok(&["task", "unblock", "t"]), "t: pending");
    assert_eq!((world.status_of("t").as_str(), world.gates().len()), ("pending", 0));
    // Blocked by hand and unblocked, it does not stay rejected either.
    world.start(&SEMI_AUTO).wait().code(1);
    world.env.ok(&["gate", "reject", "claim-t", "--reason", "no"]);
    world.env.ok(&["task", "block", "t", "--reason", "later"]);
    world.env.ok(&["task", "unblock", "t"]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "1\n");
    world.all_is_well();
}

#[test]
fn the_list_says_what_was_decided() {
    let world = World::new();
    for task in ["a", "b", "c"] {
        world.task(task, "true", &[]);
    }
    world.start(&SEMI_AUTO).wait().code(1);
    world.env.ok(&["gate", "approve", "a"]);
    world.env.ok(&["gate", "reject", "b", "--reason", "not \u{1b}[31mnow"]);
    let said = world.env.ok(&["gate", "list"]);
    let ends: Vec<&str> = said.lines().skip(1).map(|line| line.rsplit("  ").next().unwrap()).collect();
    assert_eq!(ends, ["(approved)", "(rejected: not \\e[31mnow)", "git axiom gate approve claim-c"], "{said}");
}

#[test]
fn a_question_waits_for_its_answer_and_the_next_prompt_holds_it() {
    let world = World::new();
    world.task("t", "", &[]);
    let agent = world.beside("agent.sh");
    let prompts = world.beside("prompts").display().to_string();
    let script = format!(
        "cat > '{prompts}'.$AXIOM_ITERATION\n\
         if [ $AXIOM_ITERATION = 1 ]; then git axiom signal waiting 'red or blue?'; exit 0; fi\necho $AXIOM_ITERATION > t.txt"
    );
    std::fs::write(&agent, script).unwrap();
    let live = world.start_autopilot(&["--", "sh", agent.to_str().unwrap()]);
    let gate = world.wait_for_gate("question-t");
    assert_eq!(gate["reason"], "red or blue?");
    assert_eq!(world.agents()[0]["state"], "waiting");
    let refused = world.env.axiom(&["gate", "approve", "question-t"]).fails_with(git_axiom::base::error::Code::InvalidInput);
    assert!(refused.stderr.contains("git axiom gate answer"), "{refused}");
    let live = {
        // With a question open, --until-idle ends: nobody may be there to answer.
        let ended = live.wait().code(1);
        assert!(ended.stdout.contains("t waits at gate question-t: red or blue?"), "{}", ended.stdout);
        world.env.ok(&["gate", "answer", "t", "neither, green"]);
        world.start_autopilot(&["--", "sh", agent.to_str().unwrap()])
    };
    live.wait().code(0);
    let second = std::fs::read_to_string(world.beside("prompts.2")).unwrap();
    assert!(second.contains("red or blue?") && second.contains("neither, green"), "{second}");
    assert!(!std::fs::read_to_string(world.beside("prompts.1")).unwrap().contains("green"));
    assert_eq!(world.env.git(&["show", "main:t.txt"]), "2");
    world.all_is_well();
}

#[test]
fn the_mode_can_be_changed_while_it_runs() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    let live = world.start(&["--mode", "semi-auto", "--until-idle", "--agents", "1"]);
    // It would end at the gate: so this one runs without --until-idle.
    live.wait().code(1);
    let live = world.start(&["--agents", "1"]);
    world.wait_for_gate("claim-t");
    assert_eq!(world.env.ok(&["mode", "autopilot"]), "autopilot");
    wait_until("merged", || world.env.repo().join("t.txt").exists());
    // And back again, and forth while a merge waits.
    world.env.ok(&["mode", "semi-auto"]);
    world.task("u", "echo 1 > u.txt", &[]);
    world.wait_for_gate("claim-u");
    world.env.ok(&["gate", "approve", "claim-u"]);
    world.wait_for_gate("merge-u");
    world.env.ok(&["mode", "autopilot"]);
    wait_until("merged", || world.env.repo().join("u.txt").exists());
    let checkpoints = world.env.json(&["checkpoint", "list"]);
    assert!(checkpoints.to_string().contains("before-autopilot-"), "{checkpoints}");
    assert_eq!(world.env.ok(&["mode"]), "autopilot");
    world.quits_well(live);
}

/// Two tasks that write the same file at the same time; returns the one that waits at the gate of its conflict.
fn one_in_conflict(world: &World) -> String {
    let beside = world.env.root().display().to_string();
    for task in ["t", "u"] {
        let script = format!(
            "echo {task} > README; touch '{beside}/{task}'; while [ ! -f '{beside}/t' ] || [ ! -f '{beside}/u' ]; do sleep 0.02; done"
        );
        world.task(task, &script, &[]);
    }
    let ended = world.autopilot(&[]).code(1);
    let gates = world.gates();
    assert_eq!(gates.len(), 1, "{gates:?}");
    let loser = gates[0]["taskId"].as_str().unwrap().to_owned();
    let said = format!("{loser} waits at gate merge-{loser}: {loser} conflicted with main");
    assert!(ended.stdout.contains(&said), "{}", ended.stdout);
    loser
}

fn workspace_of(world: &World, task: &str) -> std::path::PathBuf {
    let mut all = std::fs::read_dir(world.env.repo().join(".worktrees")).unwrap().map(|entry| entry.unwrap().path());
    all.find(|path| path.to_str().unwrap().ends_with(&format!("-{task}"))).unwrap()
}

#[test]
fn a_conflict_with_what_was_taken_back_asks_nothing_unless_a_human_has_begun_to_settle_it() {
    for begun in [false, true] {
        let world = World::new();
        let loser = one_in_conflict(&world);
        let log = world.env.json(&["log"]);
        let is_merge = |one: &&serde_json::Value| one["what"].as_str().unwrap().starts_with("merge ");
        let merge = log["operations"].as_array().unwrap().iter().find(is_merge).unwrap()["id"].as_str().unwrap().to_owned();
        world.env.ok(&["undo", &merge, "--yes"]);
        let workspace = workspace_of(&world, &loser);
        if begun {
            std::fs::write(workspace.join("README"), "settled by hand\n").unwrap();
        }
        world.autopilot(&[]).code(1);
        let waiting: Vec<String> = world.gates().iter().map(|gate| gate["taskId"].as_str().unwrap().to_owned()).collect();
        assert_eq!(waiting.contains(&loser), begun, "{waiting:?}");
        assert_eq!(world.env.read("README").trim() == loser, !begun);
        assert_eq!(workspace.exists(), begun);
    }
}

#[test]
fn a_merge_conflict_waits_with_its_files_and_is_tried_again_when_approved() {
    let world = World::new();
    let loser = one_in_conflict(&world);
    assert_eq!(world.gates()[0]["details"], serde_json::json!({"files": ["README"]}));
    world.all_is_well();
    // A human settles it on the task's branch, in its workspace, and approves.
    let workspace = workspace_of(&world, &loser);
    world.env.git_in(&workspace, &["merge", "-q", "-X", "ours", "main", "-m", "settled"]);
    let gate = format!("merge-{loser}");
    assert!(world.env.ok(&["gate", "list"]).contains("git merge main"));
    world.env.ok(&["gate", "approve", &gate]);
    // By now it is settled, and nothing asks for that again.
    let told = [world.env.ok(&["status"]), world.env.ok(&["gate", "list"]), world.env.ok(&["gate", "show", &gate])];
    for text in &told {
        assert!(text.contains(&format!("{loser} conflicted with main")) && !text.contains("git merge main"), "{text}");
    }
    assert!(told[2].contains("Decided, for the session or the next 'git axiom run' to carry out: approved"), "{}", told[2]);
    assert!(told[2].contains("It does not conflict any more: it is merged once a session does that."), "{}", told[2]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("README").trim(), loser);
    world.all_is_well();
}

#[test]
fn what_is_the_users_and_in_the_way_makes_the_merge_wait() {
    let world = World::new();
    world.task("t", "echo theirs > t.txt; echo theirs >> README", &[]);
    world.env.write("t.txt", "mine, untracked");
    let before = world.users_things();
    let ended = world.autopilot(&[]).code(1);
    assert!(ended.stdout.contains("waits at gate merge-t") && ended.stdout.contains("t.txt"), "{}", ended.stdout);
    assert_eq!((world.users_things(), world.env.read("t.txt").as_str()), (before, "mine, untracked"));
    std::fs::remove_file(world.env.repo().join("t.txt")).unwrap();
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "theirs\n");
    world.all_is_well();
}

#[test]
fn what_a_human_merged_with_git_itself_waits_at_no_gate() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    world.task("u", "echo 1 > u.txt", &[]);
    let live = world.start(&["--mode", "semi-auto"]);
    for task in ["t", "u"] {
        world.wait_for_gate(&format!("claim-{task}"));
        world.env.ok(&["gate", "approve", &format!("claim-{task}")]);
        world.wait_for_gate(&format!("merge-{task}"));
    }
    world.env.git(&["merge", "-q", "--no-ff", "-m", "mine", "axiom/t"]);
    wait_until("its gate is closed", || world.gates().len() == 1);
    assert!(world.find_task("t")["merged"].is_object(), "{}", world.find_task("t"));
    // What was not merged goes on waiting, also where the target moves.
    world.env.git(&["commit", "-q", "--allow-empty", "-m", "other"]);
    world.wait_for_gate("merge-u");
    assert!(world.find_task("u")["merged"].is_null());
    world.env.ok(&["gate", "approve", "merge-u"]);
    wait_until("merged", || world.env.repo().join("u.txt").exists());
    world.quits_well(live);
    world.all_is_well();
}

/// A program that asks once, in its first run; each run leaves its prompt in `prompts`.
fn asking_agent(world: &World) -> String {
    let beside = world.env.root().display().to_string();
    let agent = world.beside("agent.sh");
    let script = format!(
        "cat >> '{beside}/prompts'\n\
         if [ ! -f '{beside}/asked' ]; then touch '{beside}/asked'; git axiom signal waiting 'red or blue?'; exit 0; fi\n\
         echo 1 > t.txt"
    );
    std::fs::write(&agent, script).unwrap();
    agent.to_str().unwrap().to_owned()
}

/// The answer is lost neither by a crash between its gate and the program that gets it, nor by the end of the session.
#[test]
fn a_crash_between_an_answer_and_the_next_iteration_does_not_lose_the_answer() {
    for point in ["iterate.intended:2", "iterate.spec-written:2", "iterate.keeper-started:2", "settle.answered:1"] {
        let mut world = World::new();
        world.task("t", "", &[]);
        let agent = asking_agent(&world);
        world.variables = vec![("AXIOM_TEST_FAULT".into(), point.into())];
        let live = world.start(&["--mode", "autopilot", "--", "sh", &agent]);
        world.wait_for_gate("question-t");
        world.env.ok(&["gate", "answer", "t", "neither, green"]);
        assert_eq!(live.wait().code, None, "{point}");
        world.variables.clear();
        world.start_autopilot(&["--", "sh", &agent]).wait().code(0);
        let prompts = std::fs::read_to_string(world.beside("prompts")).unwrap();
        assert_eq!(prompts.matches("neither, green").count(), 1, "{point}: {prompts}");
        world.all_is_well();
    }
}

#[test]
fn an_answer_that_came_just_before_the_end_of_a_session_is_for_the_next_one() {
    let world = World::new();
    world.task("t", "", &[]);
    let agent = asking_agent(&world);
    let live = world.start(&["--mode", "autopilot", "--", "sh", &agent]);
    world.wait_for_gate("question-t");
    world.env.ok(&["pause"]);
    world.env.ok(&["gate", "answer", "t", "neither, green"]);
    world.env.ok(&["quit"]);
    live.wait().code(0);
    world.start_autopilot(&["--", "sh", &agent]).wait().code(0);
    let prompts = std::fs::read_to_string(world.beside("prompts")).unwrap();
    assert_eq!(prompts.matches("neither, green").count(), 1, "{prompts}");
    world.all_is_well();
}

#[test]
fn a_question_is_still_open_when_its_session_has_ended() {
    for end in ["quit", "an interrupt"] {
        let world = World::new();
        world.task("t", "", &[]);
        let agent = asking_agent(&world);
        let live = world.start(&["--mode", "autopilot", "--", "sh", &agent]);
        let asked = world.wait_for_gate("question-t");
        match end {
            "quit" => drop(world.env.ok(&["quit"])),
            _ => live.interrupt(),
        }
        live.wait();
        assert_eq!(world.wait_for_gate("question-t"), asked, "{end}");
        let waits = world.agents()[0].clone();
        assert_eq!(waits["state"], "waiting", "{end}");
        // Nobody works on it now.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        assert_eq!(world.agents()[0]["duration"], waits["duration"], "{end}");
        assert_eq!(world.env.json(&["recover"])["needed"], false, "{end}");
        world.env.ok(&["gate", "answer", "t", "neither, green"]);
        world.start_autopilot(&["--", "sh", &agent]).wait().code(0);
        let prompts = std::fs::read_to_string(world.beside("prompts")).unwrap();
        assert_eq!(prompts.matches("neither, green").count(), 1, "{end}: {prompts}");
        world.all_is_well();
    }
}

/// A merge.verify that notes each task that it looks at, and for `held` waits for the file `go`.
fn slow_verification(world: &World, held: &str) {
    let (order, go) = (world.beside("order"), world.beside("go"));
    let command = format!(
        "m=echo $AXIOM_TASK_ID >> '{}'; [ $AXIOM_TASK_ID != {held} ] || while ! [ -e '{}' ]; do sleep 0.05; done",
        order.display(),
        go.display()
    );
    world.env.git(&["config", "axiom.merge.verify", &command]);
}

#[test]
fn a_rejected_merge_is_blocked_while_another_one_is_verified_and_nobody_merges_it() {
    let world = World::new();
    world.task("a", "echo 1 > a.txt", &[]);
    world.task("b", "echo 1 > b.txt", &[]);
    slow_verification(&world, "a");
    let live = world.start(&["--mode", "review"]);
    world.wait_for_gate("merge-a");
    world.wait_for_gate("merge-b");
    world.env.ok(&["gate", "approve", "merge-a"]);
    world.wait_for_file("order");
    world.env.ok(&["gate", "reject", "merge-b", "--reason", "unsafe"]);
    wait_until("it is blocked", || world.status_of("b") == "blocked");
    assert_eq!((world.status_of("a").as_str(), world.find_task("b")["reason"].as_str()), ("done", Some("unsafe")));
    world.signal_file("go");
    wait_until("the other one is merged", || world.env.repo().join("a.txt").exists());
    world.quits_well(live);
}

#[test]
fn what_a_human_has_decided_is_said_until_it_is_done_and_a_rejection_stands_without_a_session() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    world.start(&["--mode", "review", "--until-idle"]).wait().code(1);
    world.env.ok(&["gate", "reject", "merge-t", "--reason", "unsafe"]);
    let said = world.env.ok(&["status"]);
    assert!(
        said.contains("carried out by 'git axiom run', as soon as that is possible") && said.contains("(rejected: unsafe)"),
        "{said}"
    );
    for args in [&["merge", "t"][..], &["merge", "t", "--dry-run"]] {
        let refused = world.env.axiom(args).fails_with(Code::InvalidTransition);
        assert!(refused.stderr.contains("rejected: unsafe") && refused.stderr.contains("gate approve merge-t"), "{refused}");
    }
    world.env.ok(&["gate", "approve", "merge-t"]);
    assert!(world.env.ok(&["status"]).contains("(approved)"));
    world.env.ok(&["merge", "t"]);
    assert_eq!(world.env.read("t.txt"), "1\n");
    world.all_is_well();
}

#[test]
fn nothing_waits_for_a_human_where_the_mode_asks_nobody() {
    let world = World::new();
    for task in ["a", "b"] {
        world.task(task, &format!("echo 1 > {task}.txt"), &[]);
    }
    slow_verification(&world, "a");
    let live = world.start(&["--mode", "review"]);
    world.wait_for_gate("merge-a");
    world.wait_for_gate("merge-b");
    world.env.ok(&["mode", "autopilot"]);
    world.wait_for_file("order");
    wait_until("nothing waits for a human", || world.gates().is_empty());
    let said = world.env.ok(&["status"]);
    assert!(said.contains("Done, to be merged: a, b"), "{said}");
    world.signal_file("go");
    wait_until("both are merged", || ["a.txt", "b.txt"].iter().all(|file| world.env.repo().join(file).exists()));
    world.quits_well(live);
}

/// Another merge would make worthless what it has passed.
#[test]
fn what_has_passed_its_verification_is_merged_first() {
    let world = World::new();
    let may = world.beside("may");
    world.task("z", "echo 1 > z.txt", &[]);
    world.task("a", &format!("while ! [ -e '{}' ]; do sleep 0.05; done; echo 1 > a.txt", may.display()), &[]);
    slow_verification(&world, "z");
    let live = world.start_autopilot(&["--agents", "2"]);
    world.wait_for_file("order");
    world.signal_file("may");
    wait_until("the other one is done", || world.status_of("a") == "done");
    world.signal_file("go");
    live.wait().code(0);
    assert_eq!(std::fs::read_to_string(world.beside("order")).unwrap(), "z\na\n", "each is verified once");
    world.all_is_well();
}

#[test]
fn an_agent_on_whose_work_nobody_goes_on_does_not_run() {
    let world = World::new();
    let hangs = world.beside("hangs");
    world.task("t", "echo 1 > t.txt", &["--verify", &format!("touch '{}'; sleep 3000", hangs.display())]);
    let mut live = world.start(&["--mode", "autopilot"]);
    world.wait_for_file("hangs");
    assert_eq!(world.agents()[0]["state"], "verifying");
    live.kill();
    wait_until("nobody works on it", || world.agents()[0]["state"] == "ended");
    let said = world.env.ok(&["gate", "list"]);
    assert!(said.contains("To be recovered: ") && !said.contains("Nothing waits"), "{said}");
    world.all_die();
}

/// What a rollback of a task does to gates is in its plan, and so it comes.
#[test]
fn the_plan_of_a_rolled_back_task_names_its_gates() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    world.start(&["--until-idle", "--mode", "review"]).wait();
    assert_eq!(world.gate_ids(), ["merge-t"]);
    let lines = |plan: &serde_json::Value| {
        let of = |gate: &serde_json::Value| format!("{} {}", gate["id"].as_str().unwrap(), gate["action"].as_str().unwrap());
        plan["gates"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    let plan = world.env.json(&["rollback", "task", "t", "--dry-run"]);
    assert_eq!(lines(&plan), ["merge-t closed", "claim-t opened"], "{plan}");
    let done = world.env.json(&["rollback", "task", "t", "--yes"]);
    assert_eq!((lines(&done), world.gate_ids()), (lines(&plan), vec!["claim-t".to_owned()]), "{done}");
    world.all_is_well();
}
