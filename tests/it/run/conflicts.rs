//! Merges that conflict: settled by applying the task's commits one by one, or given back to an agent.

use super::prompts::{has, world_of};
use crate::session_support::{World, several_at_a_time};
use git_axiom::base::error::Code;

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
         2) git merge --abort; git merge -q main; echo both > README; git commit -qam settled; git axiom signal complete;;",
    );
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    let ended = world.autopilot(&[]).code(0);
    assert!(ended.stderr.contains("t conflicts with main, and is given back to an agent"), "{}", ended.stderr);
    has(&world, 2, &["it conflicts with `main`", "no conflict marker", "- README\n", "theirs of main"]);
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
    world.env.git_in(workspace, &["commit", "-qam", "the markers stay"]);
    let text = world.env.ok(&["gate", "show", "t"]);
    assert!(text.contains("It does not conflict any more: approving tries to merge it."), "{text}");
    std::fs::write(workspace.join("README"), "both\n").unwrap();
    world.env.git_in(workspace, &["commit", "-qam", "settled"]);
    let text = world.env.ok(&["gate", "show", "t"]);
    assert!(text.contains("It does not conflict any more: approving merges it."), "{text}");
    assert!(world.beside("prompt.2").exists() && !world.beside("prompt.3").exists());
    world.all_is_well();
}

/// Runs the rest of a script where git's folder cannot be written to, as the sandboxes of some programs have it.
const READ_ONLY_GIT: &str = "git=$(git rev-parse --git-common-dir)\n\
    sandboxed() { unshare -rm sh -ec 'mount --bind \"$0\" \"$0\"; mount -o remount,bind,ro \"$0\"; eval \"$1\"' \"$git\" \"$1\"; }\n";

/// What the target has that the task does not: a conflict, a file that it deleted, others that it added.
const THEIRS: &str = "(cd ../.. && echo theirs > README && git rm -q old.txt && echo s > .env && echo n > new.txt && \
    git add -A . && git commit -qm theirs)";

#[test]
fn a_program_that_cannot_write_to_gits_folder_settles_a_conflict_by_editing_files() {
    let world = world_of(&format!(
        "1) echo mine > README; echo more >> old.txt; {THEIRS}; git axiom signal complete;;\n\
         2) {READ_ONLY_GIT} sandboxed 'git add -A 2>&1 | grep -i read-only > ../../../refused; git status --porcelain > ../../../seen; \
            cp README ../../../marked; echo left > left.txt; echo two > README; rm old.txt; git axiom signal progress 50; exit 3';;\n\
         3) {READ_ONLY_GIT} sandboxed 'echo both > README; git axiom signal complete';;"
    ));
    world.env.write("old.txt", "old\n");
    world.env.git(&["add", "-A"]);
    world.env.git(&["commit", "-qm", "old"]);
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    let ended = world.autopilot(&[]).code(0);
    assert!(!world.lines("refused").is_empty(), "{}", ended.stderr);
    let marked = world.lines("marked");
    assert!(marked[0].starts_with("<<<<<<<") && marked.contains(&"theirs".to_owned()), "{marked:?}");
    has(&world, 2, &["begun here", "- README\n", "- old.txt (`main` deleted it"]);
    // Only the agent can say whether the file is to be gone.
    has(&world, 3, &["- README (no conflict marker", "old.txt"]);
    assert_eq!((world.env.read("README").as_str(), world.env.read("left.txt").as_str()), ("both\n", "left\n"));
    assert_eq!(
        (world.env.read(".env").as_str(), world.env.read("new.txt").as_str()),
        ("s\n", "n\n"),
        "what is the target's stays"
    );
    assert!(!world.env.repo().join("old.txt").exists());
    assert_eq!(world.env.git(&["rev-list", "--merges", "--count", "main"]), "2", "the merge of the target, and that of the task");
    // What prepares an agent's work is in the log and is not what an undo takes back.
    assert!(world.env.ok(&["log"]).contains("begin the merge of main in the workspace of t"));
    let asked = world.env.axiom(&["undo", "--yes"]).fails_with(Code::NeedsConfirmation);
    assert!(asked.stderr.contains("merge t into main"), "{asked}");
    world.all_is_well();
}

#[test]
fn whoever_claims_that_a_conflict_is_settled_and_leaves_its_markers_is_not_believed_for_ever() {
    let mut world = world_of(&format!("1) echo mine > README; {THEIRS}; git axiom signal complete;;"));
    world.env.write("old.txt", "old\n");
    world.env.git(&["add", "-A"]);
    world.env.git(&["commit", "-qm", "old"]);
    world.env.git(&["config", "axiom.recovery.maxRetries", "2"]);
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    // The first false claim is counted once, also where the supervisor dies before its iteration is recorded.
    world.variables = vec![("AXIOM_TEST_FAULT".into(), "finish.leftovers-committed:2".into())];
    assert_eq!(world.autopilot(&[]).code, None);
    world.variables.clear();
    world.autopilot(&[]).code(1);
    assert_eq!(world.wait_for_gate("merge-t")["details"]["files"][0], "README");
    assert!(world.beside("prompt.3").exists() && !world.beside("prompt.4").exists());
    has(&world, 3, &["has a conflict that is not resolved", "- README\n"]);
    // It is all there for a human, and a checkpoint brings it back.
    let workspace = world.show("t")["workspace"].as_str().unwrap().to_owned();
    let workspace = std::path::Path::new(&workspace);
    let status = world.env.git_in(workspace, &["status", "--porcelain"]);
    assert!(status.contains("UU README"), "{status}");
    world.env.ok(&["checkpoint", "create", "open"]);
    std::fs::write(workspace.join("README"), "both\n").unwrap();
    world.env.git_in(workspace, &["commit", "-qam", "settled"]);
    world.env.ok(&["rollback", "checkpoint", "open", "--yes"]);
    assert_eq!(world.env.git_in(workspace, &["status", "--porcelain"]), status);
    world.env.ok(&["undo", "--yes"]);
    assert_eq!(world.env.git_in(workspace, &["log", "-1", "--format=%s"]), "settled");
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("README"), "both\n");
    world.all_is_well();
}

#[test]
fn a_begun_merge_is_taken_back_by_an_undo_begun_again_by_a_redo_and_settled_afterwards() {
    let world = world_of(&format!(
        "1) echo mine > README; echo m > mine.txt; {THEIRS}; git axiom signal complete;;\n\
         2) git axiom signal waiting 'whose line?';;\n\
         *) echo both > README; git axiom signal complete;;"
    ));
    world.env.write("old.txt", "old\n");
    world.env.git(&["add", "-A"]);
    world.env.git(&["commit", "-qm", "old"]);
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    world.autopilot(&[]).code(1);
    world.wait_for_gate("question-t");
    let workspace = world.show("t")["workspace"].as_str().unwrap().to_owned();
    let workspace = std::path::Path::new(&workspace);
    let git = |args: &[&str]| world.env.git_in(workspace, args);
    let is = || {
        let merging = world.env.try_git_in(workspace, &["rev-parse", "-q", "--verify", "MERGE_HEAD"]).code == Some(0);
        (merging, git(&["status", "--porcelain"]), std::fs::read_to_string(workspace.join("README")).unwrap())
    };
    let (head, open) = (git(&["rev-parse", "HEAD"]), is());
    assert!(open.0 && open.1.contains("UU README") && open.2.contains("<<<<<<<"), "{open:?}");
    let log = world.env.json(&["log"]);
    let transactions = log["operations"].as_array().unwrap();
    let is_begin = |one: &&serde_json::Value| one["what"].as_str().unwrap().starts_with("begin the merge of main");
    let id = transactions.iter().find(is_begin).unwrap()["id"].as_str().unwrap().to_owned();
    let titles = transactions.iter().map(|one| one["what"].as_str().unwrap()).collect::<Vec<_>>().join("\n");
    assert!(titles.contains("and is given back to its agent") && !titles.contains("unblock"), "{titles}");
    // What the agent did in the middle of it is not thrown away.
    std::fs::write(workspace.join("README"), "half settled\n").unwrap();
    let refused = world.env.axiom(&["undo", &id, "--yes"]).fails_with(Code::ChangedMeanwhile);
    assert!(refused.stderr.contains("README"), "{refused}");
    assert_eq!(is().2, "half settled\n");
    std::fs::write(workspace.join("README"), &open.2).unwrap();
    world.env.ok(&["undo", &id, "--yes"]);
    assert_eq!(is(), (false, String::new(), "mine\n".to_owned()));
    assert_eq!((git(&["rev-parse", "HEAD"]), workspace.join("old.txt").exists()), (head, true));
    assert!(!workspace.join("new.txt").exists() && workspace.join("mine.txt").exists());
    world.env.ok(&["redo", "--yes"]);
    assert_eq!(is(), open);
    world.env.ok(&["undo", &id, "--yes"]);
    assert!(!is().0);
    // The next iteration finds it begun anew.
    world.env.ok(&["gate", "answer", "question-t", "both"]);
    world.autopilot(&[]).code(0);
    has(&world, 3, &["begun here", "- README"]);
    assert_eq!((world.env.read("README"), world.env.read("mine.txt")), ("both\n".to_owned(), "m\n".to_owned()));
    world.all_is_well();
}

/// The supervisor is killed while it begins the merge in the workspace, and while it concludes it.
#[test]
fn a_crash_on_the_way_leaves_a_merge_that_the_next_session_finishes() {
    let begins =
        ["journal.before-begin", "journal.begun", "journal.files-restored", "journal.index-installed", "journal.before-end"];
    let begins = begins.map(|point| format!("{point}:1"));
    // The first of these is the commit of the first iteration.
    let concludes = ["git.before-stage:2", "git.before-commit:2", "git.after-commit:2"].map(str::to_owned);
    several_at_a_time(begins.into_iter().chain(concludes).collect(), |point: String| {
        let mut world = world_of(
            "1) echo mine > README; (cd ../.. && echo theirs > README && echo n > new.txt && git add -A . && git commit -qm theirs)\n\
             git axiom signal complete;;\n\
             *) grep -q theirs README && echo both > README; git axiom signal complete;;",
        );
        world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
        world.variables = vec![("AXIOM_TEST_FAULT".into(), point.clone())];
        assert_eq!(world.autopilot(&[]).code, None, "{point}");
        world.variables.clear();
        let ended = world.autopilot(&[]).code(0);
        let found = (world.env.read("README"), world.env.read("new.txt"));
        assert_eq!(found, ("both\n".to_owned(), "n\n".to_owned()), "{point}: {}", ended.stderr);
        assert_eq!(world.env.git(&["rev-list", "--merges", "--count", "main"]), "2", "{point}");
        world.all_is_well();
    });
}
