//! A branch of the user's own that has the name of a task's is not merged, not moved and not deleted; and there is a way on.

use crate::session_support::World;

/// Unfinished work of the user's on a branch.
fn work_on(world: &World, branch: &str) -> String {
    world.env.git(&["switch", "-q", "-c", branch]);
    world.env.write("mine.txt", "unfinished\n");
    world.env.git(&["add", "mine.txt"]);
    world.env.git(&["commit", "-q", "-m", "unfinished"]);
    world.env.git(&["switch", "-q", "main"]);
    world.env.git(&["rev-parse", branch])
}

#[test]
fn a_branch_of_the_users_is_not_taken_for_a_task_s() {
    let world = World::new();
    let mine = work_on(&world, "axiom/t");
    world.task("t", "echo work > w.txt", &[]);
    world.autopilot(&[]).code(1);
    let task = world.find_task("t");
    assert_eq!(task["status"], "blocked");
    let reason = task["reason"].as_str().unwrap();
    assert!(reason.contains("'axiom/t' is not one that git axiom made") && reason.contains("git branch -m axiom/t"), "{reason}");
    world.env.axiom(&["rollback", "task", "t", "--yes"]);
    world.env.ok(&["rollback", "session", "--yes"]);
    assert_eq!(world.env.git(&["rev-parse", "axiom/t"]), mine);
    assert!(!world.env.repo().join("mine.txt").exists());
    // The way on that it names.
    world.env.git(&["branch", "-m", "axiom/t", "mine"]);
    world.env.axiom(&["task", "unblock", "t"]);
    // What was taken back waits for a human.
    world.autopilot(&["--retry"]).code(0);
    assert_eq!(world.env.read("w.txt"), "work\n");
    assert_eq!(world.env.git(&["rev-parse", "mine"]), mine);
    world.all_is_well();
}

#[test]
fn taking_back_a_task_that_we_never_worked_on_leaves_the_user_s_branch() {
    let world = World::new();
    let mine = work_on(&world, "axiom/t");
    let line = r#"{"id":"t","title":"t","status":"done"}"#;
    std::fs::write(world.beside("cases.jsonl"), format!("{line}\n")).unwrap();
    world.env.ok(&["task", "import", world.beside("cases.jsonl").to_str().unwrap()]);
    world.env.ok(&["rollback", "task", "t", "--yes"]);
    assert_eq!(world.env.git(&["rev-parse", "axiom/t"]), mine);
    assert!(!world.env.repo().join("mine.txt").exists());
}

#[test]
fn a_branch_that_is_in_the_way_of_all_is_said_by_init_and_at_the_claim() {
    let world = World::new();
    world.env.git(&["branch", "axiom"]);
    let said = world.env.axiom(&["init"]).success();
    assert!(said.stderr.contains("the branch 'axiom' is in the way") && said.stderr.contains("git branch -m axiom"), "{said}");
    world.task("t", "echo work > w.txt", &[]);
    world.autopilot(&[]).code(1);
    assert!(world.find_task("t")["reason"].as_str().unwrap().contains("'axiom'"));
    world.env.git(&["branch", "-m", "axiom", "old-axiom"]);
    world.env.ok(&["task", "unblock", "t"]);
    world.autopilot(&[]).code(0);
}

#[test]
fn our_own_branch_goes_on_after_a_crash_and_after_an_undo() {
    let world = World::new();
    world.task("t", "echo $AXIOM_ITERATION > w.txt; exit 1", &[]);
    world.autopilot(&["--max-iterations", "1"]).code(1);
    world.env.ok(&["rollback", "task", "t", "--yes"]);
    world.env.ok(&["undo", "--yes"]);
    assert_eq!(world.env.git(&["show", "axiom/t:w.txt"]), "1");
    world.env.ok(&["task", "edit", "t", "--body", "echo done > w.txt"]);
    world.env.axiom(&["task", "unblock", "t"]);
    world.env.axiom(&["gate", "approve", "--all"]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("w.txt"), "done\n");
}
