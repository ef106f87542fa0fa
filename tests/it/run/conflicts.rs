//! Merges that conflict: settled by applying the task's commits one by one, or given back to an agent.

use super::prompts::{has, world_of};
use crate::session_support::World;
use git_axiom::error::Code;

#[test]
fn what_the_target_has_of_a_task_already_does_not_conflict_and_is_verified_by_the_tasks_own_steps() {
    let world = World::new();
    let own = world.beside("own");
    let step = format!("own=echo ran >> '{}'; test -e b.txt && ! [ -e ../../../bad ]", own.display());
    world.env.git(&["config", "axiom.merge.verify", "false"]);
    let script =
        "echo 2 > f.txt; git add f.txt; git commit -qm 'the first'; echo b > b.txt; git add b.txt; git commit -qm 'the second'";
    world.task("t", script, &["--verify", &step]);
    world.autopilot(&[]).code(1);
    world.env.git(&["config", "--unset", "axiom.merge.verify"]);
    // Somebody takes a part of it, and works on.
    // With a line of its own: in the same second it would be the very same commit.
    world.env.git(&["cherry-pick", "-x", "axiom/t~1"]);
    world.env.write("f.txt", "3\n");
    world.env.git(&["commit", "-qam", "further"]);
    let conflicts = |branch: &str| world.env.try_git(&["merge-tree", "--write-tree", "main", branch]).code;
    assert_eq!(conflicts("axiom/t"), Some(1), "the tips conflict");
    world.signal_file("bad");
    let refused = world.env.axiom(&["merge", "t"]).fails_with(Code::VerifyFailed);
    assert!(refused.stderr.contains("'own' exited with status 1"), "{refused}");
    assert_eq!(world.lines("own").len(), 2, "for the work, and for what comes of the merge");
    std::fs::remove_file(world.beside("bad")).unwrap();
    let work = world.env.git(&["rev-parse", "axiom/t"]);
    world.env.ok(&["merge", "t"]);
    assert_eq!((world.env.read("f.txt").as_str(), world.env.read("b.txt").as_str()), ("3\n", "b\n"));
    assert_eq!(world.env.git(&["rev-parse", "main^2"]), work, "the work is what it was");
    world.env.ok(&["undo", "--yes"]);
    assert!(!world.env.repo().join("b.txt").exists());
    world.all_is_well();
}

#[test]
fn a_conflict_is_given_back_to_an_agent_that_is_told_both_sides() {
    let world = world_of(
        "1) echo mine > README; (cd ../.. && echo theirs > README && git commit -qam 'theirs of main'); git axiom signal complete;;\n\
         2) git merge -q main; echo both > README; git commit -qam settled; git axiom signal complete;;",
    );
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    let ended = world.autopilot(&[]).code(0);
    assert!(ended.stderr.contains("t conflicts with main, and is given back to an agent"), "{}", ended.stderr);
    has(&world, 2, &["it conflicts with `main`", "`git merge main`", "- README\n", "theirs of main"]);
    assert_eq!(world.env.read("README"), "both\n");
    let audit = world.env.ok(&["task", "audit", "t"]);
    assert!(audit.contains("and is given back to its agent"), "{audit}");
    world.all_is_well();
    // An agent that settles nothing is not asked for ever.
    let world = world_of(
        "1) echo mine > README; (cd ../.. && echo theirs > README && git commit -qam theirs); git axiom signal complete;;\n\
         *) echo x >> x.txt; git axiom signal complete;;",
    );
    world.env.git(&["config", "axiom.recovery.maxRetries", "1"]);
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    world.autopilot(&[]).code(1);
    assert_eq!(world.wait_for_gate("merge-t")["details"]["files"][0], "README");
    // Whoever settles it sees who changed what, on both sides.
    let shown = world.env.json(&["gate", "show", "t"])["conflict"].clone();
    assert_eq!(
        (&shown["files"], &shown["ours"]["taskIds"]),
        (&serde_json::json!(["README"]), &serde_json::json!(["t"])),
        "{shown}"
    );
    let subjects =
        |side: &str| shown[side]["commits"].as_array().unwrap().iter().map(|one| one["subject"].clone()).collect::<Vec<_>>();
    assert_eq!((subjects("theirs"), &shown["theirs"]["branch"]), (vec!["theirs".into()], &"refs/heads/main".into()), "{shown}");
    assert_eq!((subjects("ours").len(), &shown["ours"]["commits"][0]["files"][0]), (1, &"README".into()), "{shown}");
    let text = world.env.ok(&["gate", "show", "t"]);
    assert!(
        text.contains("Changed on axiom/t (at ") && text.contains("Changed on main (at ") && text.contains(" theirs\n"),
        "{text}"
    );
    // Settled by hand.
    let workspace = world.show("t")["workspace"].as_str().unwrap().to_owned();
    let workspace = std::path::Path::new(&workspace);
    assert_ne!(world.env.try_git_in(workspace, &["merge", "-q", "main"]).code, Some(0));
    std::fs::write(workspace.join("README"), "both\n").unwrap();
    world.env.git_in(workspace, &["commit", "-qam", "settled"]);
    let text = world.env.ok(&["gate", "show", "t"]);
    assert!(text.contains("It does not conflict any more: approving merges it."), "{text}");
    assert!(world.beside("prompt.2").exists() && !world.beside("prompt.3").exists());
    world.all_is_well();
}
