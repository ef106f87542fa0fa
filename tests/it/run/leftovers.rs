//! What an iteration leaves uncommitted: committed as WIP, secrets and large files left out and named.

use crate::session_support::World;

#[test]
fn leftovers_are_committed_with_trailers_but_for_secrets_and_large_files() {
    let world = World::new();
    world.env.git(&["config", "axiom.checkpoints.maxFileSize", "1"]);
    let script = "echo 1 > kept.txt; rm src/lib.txt; ln -s kept.txt link; printf x > \"$(printf 'odd\\377name')\"\n\
        mkdir .axiom-x; echo KEY=1 > .env; echo k > server.pem; head -c 2000000 /dev/zero > large.bin\n\
        git init -q inner; echo i > inner/file; mkfifo pipe; exit 1";
    world.task("t", script, &[]);
    let ended = world.autopilot(&["--max-iterations", "1"]).code(1);
    let message = world.env.git(&["log", "-1", "--format=%B", "axiom/t"]);
    assert!(message.starts_with("WIP: t #t @agent-001\n"), "{message}");
    for trailer in ["Axiom-Task: t", "Axiom-Agent: agent-001", "Axiom-Iteration: 1"] {
        assert!(message.lines().any(|line| line == trailer), "{message}");
    }
    let tree = world.env.git(&["ls-tree", "-r", "--name-only", "axiom/t"]);
    assert_eq!(tree, "README\nkept.txt\nlink\n\"odd\\377name\"");
    for name in [".env", "server.pem", "large.bin", "inner"] {
        assert!(ended.stderr.contains(&format!("not committed: {name}")), "{name}\n{}", ended.stderr);
        assert!(world.env.repo().join(".worktrees/agent-001-t").join(name).exists(), "{name} stays");
    }
    world.all_is_well();
}

#[test]
fn a_wip_commit_says_how_far_the_work_is_and_a_complete_one_is_none() {
    let world = World::new();
    world.env.git(&["config", "axiom.agents.captureInterval", "1"]);
    let script = format!(
        "if [ $AXIOM_ITERATION = 2 ]; then echo 2 >> t.txt; git axiom signal complete; exit 0; fi\n\
         echo 1 > t.txt; git axiom signal progress 80 && git axiom signal file t.txt --confidence 0.82 || exit 9\n{}; exit 1",
        world.until_go()
    );
    world.task("t", &script, &[]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    let captured = || world.env.ok(&["task", "audit", "t"]).contains("captured the workspace");
    crate::session_support::wait_until("it is captured", captured);
    let capture = world.env.git(&["rev-parse", "refs/axiom/live/t"]);
    world.signal_file("go");
    live.wait().code(0);
    let commits = world.env.git(&["log", "--no-merges", "--format=%B", "-2", "HEAD"]);
    assert!(commits.contains("WIP: t (80%) #t @agent-001\n"), "{commits}");
    assert!(commits.contains("Files in progress:\n- t.txt (82% confidence)\n"), "{commits}");
    let last = commits.lines().find(|line| line.starts_with("Last capture: ")).unwrap_or_default();
    assert!(last.ends_with(&format!("Z {capture}")), "{commits}");
    assert!(commits.starts_with("t #t @agent-001\n"), "{commits}");
    world.all_is_well();
}

#[test]
fn what_was_left_out_survives_the_merge_in_the_trash() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt; echo KEY=1 > .env; echo log > x.log; echo '*.log' > .gitignore", &[]);
    world.autopilot(&[]).code(0);
    let trash = world.env.repo().join(".worktrees/trash");
    let found: Vec<_> = walkdir::WalkDir::new(trash).into_iter().flatten().map(|entry| entry.file_name().to_owned()).collect();
    for name in [".env", "x.log"] {
        assert!(found.iter().any(|each| each == name), "{name} is gone: {found:?}");
    }
    assert!(world.env.try_git(&["cat-file", "-e", "main:.env"]).code != Some(0));
    world.all_is_well();
}

#[test]
fn an_agent_that_commits_itself_and_leaves_nothing_gets_no_wip_commit() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt; git add -A; git commit -qm 'my own words'", &[]);
    world.autopilot(&[]).code(0);
    let subjects = world.env.git(&["log", "--topo-order", "--format=%s", "main"]);
    assert_eq!(subjects, "Merge task t: t #t @agent-001\nmy own words\nfirst");
    world.all_is_well();
}

#[test]
fn a_lock_that_a_killed_git_left_costs_no_further_iteration() {
    let world = World::new();
    let script = "if [ $AXIOM_ITERATION = 1 ]; then : > \"$(git rev-parse --git-dir)/index.lock\"; exit 1; fi\n\
        echo 1 > t.txt; git add -A && git commit -qm mine";
    world.task("t", script, &[]);
    let ended = world.autopilot(&["--max-iterations", "2"]).code(0);
    assert!(ended.stderr.contains("t waits while") && ended.stderr.contains("GIT_LOCKED"), "{}", ended.stderr);
    assert_eq!(world.env.git(&["show", "main:t.txt"]), "1");
    world.all_is_well();
}

#[test]
fn a_task_that_changes_nothing_is_merged_where_the_target_stands() {
    let world = World::new();
    world.task("t", "true", &[]);
    let head = world.env.git(&["rev-parse", "HEAD"]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(world.find_task("t")["merged"]["commit"], head.as_str());
    world.all_is_well();
}

#[test]
fn what_a_keeper_left_in_the_temporary_folder_goes_with_the_next_session_and_its_notes_after_a_while() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    world.autopilot(&[]).code(0);
    let agents = world.env.axiom_dir().join("agents");
    let records = || {
        let files = walkdir::WalkDir::new(&agents).into_iter().flatten();
        files.filter(|entry| entry.file_name() == "keeper.json").map(|entry| entry.into_path()).collect::<Vec<_>>()
    };
    // As if the keeper had died right before it removed the folder, and its supervisor before it noticed.
    let record: serde_json::Value = serde_json::from_slice(&std::fs::read(&records()[0]).unwrap()).unwrap();
    let runtime = std::path::PathBuf::from(record["runtime"].as_str().unwrap());
    assert!(!runtime.exists());
    std::fs::create_dir_all(runtime.join("tmp")).unwrap();
    world.autopilot(&[]).code(0);
    assert!(!runtime.exists());
    assert_eq!(records().len(), 1);
    let mut later = world.env.axiom_command(&world.env.repo(), ["recover", "--yes"]);
    later.env("AXIOM_TEST_NOW", (jiff::Timestamp::now() + jiff::SignedDuration::from_hours(8 * 24)).to_string());
    assert!(later.output().unwrap().status.success());
    assert!(records().is_empty(), "{:?}", records());
    // What it printed stays.
    assert!(world.env.axiom(&["output", "t"]).code == Some(0));
    world.all_is_well();
}
