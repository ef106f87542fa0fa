//! Checkpoints and merges, through the binary, on real repositories.

use crate::support::Scratch;
use git_axiom::model::work::tasks::task::TaskStatus;

#[test]
fn a_checkpoint_holds_every_worktree_and_says_what_it_does_not_hold() {
    let scratch = Scratch::new();
    scratch.open_task("t1");
    std::fs::write(scratch.workspace("t1").join("half.txt"), "half done\n").unwrap();
    scratch.make_dirty();
    scratch.write(".gitignore", "*.log\n");
    scratch.write("x.log", "log");
    let before = scratch.users_view();
    let output = scratch.axiom_with(&["checkpoint", "create", "first"], &[]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "first\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("not held: 1 ignored entry"));
    assert_eq!(scratch.users_view(), before);
    assert_eq!(scratch.git(&["show", "axiom/captures/first:untracked.txt"]), "u");
    assert_eq!(scratch.git(&["show", "axiom/captures/first:staged.txt"]), "and edited");
    assert_eq!(scratch.git(&["show", "axiom/captures/first^2:staged.txt"]), "staged by the user");
    assert_eq!(scratch.git(&["rev-parse", "axiom/first^{commit}^"]), scratch.git(&["rev-parse", "HEAD"]));
    let shown = scratch.json(&["checkpoint", "show", "fir"]);
    let document = &shown["checkpoint"]["document"];
    assert_eq!(document["caseStates"]["t1"], "active");
    let capture = document["workspaces"][0]["capture"].as_str().unwrap();
    assert_eq!(scratch.git(&["show", &format!("{capture}:half.txt")]), "half done");
    assert_eq!(document["coverage"][scratch.path().to_str().unwrap()]["ignored"]["count"], 1);
    assert_eq!(document["branch"], "refs/heads/main");
    let listed = scratch.json(&["checkpoints", "list"]);
    assert_eq!(listed["checkpoints"][0]["name"], "first");
    assert_eq!(listed["checkpoints"][0]["type"], "named");
    scratch.refused(&["checkpoint", "create", "FIRST"], "DUPLICATE_ID", 2);
    scratch.refused(&["checkpoint", "create", "T1"], "DUPLICATE_ID", 2);
    scratch.refused(&["checkpoint", "show", "nope"], "UNKNOWN_CHECKPOINT", 2);
    scratch.fsck();
}

/// The task says that it is done, as one that recovery began anew with may; the branch of its name is not one that we made.
#[test]
fn a_branch_of_the_users_that_has_a_task_s_name_is_not_merged() {
    let scratch = Scratch::new();
    scratch.git(&["switch", "-q", "-c", "axiom/t1"]);
    scratch.write("mine.txt", "unfinished\n");
    scratch.git(&["add", "mine.txt"]);
    scratch.git(&["commit", "-q", "-m", "unfinished"]);
    scratch.git(&["switch", "-q", "main"]);
    scratch.add_task_that_is("t1", TaskStatus::Done);
    let before = scratch.git(&["rev-parse", "main", "axiom/t1"]);
    scratch.refused(&["merge", "t1"], "BRANCH_NOT_OURS", 1);
    assert_eq!(scratch.git(&["rev-parse", "main", "axiom/t1"]), before);
    assert!(!scratch.has("mine.txt") && scratch.task("t1").merged.is_none());
    // The way on that it names.
    scratch.git(&["branch", "-m", "axiom/t1", "mine"]);
    scratch.refused(&["merge", "t1"], "INVALID_TRANSITION", 1);
    assert!(!scratch.has("mine.txt"));
}

#[test]
fn a_checkpoint_works_on_an_unborn_branch_and_a_detached_head() {
    let scratch = Scratch::empty();
    scratch.write("new.txt", "1\n");
    scratch.axiom(&["checkpoint", "create", "unborn"]);
    assert_eq!(scratch.git(&["show", "axiom/captures/unborn:new.txt"]), "1");
    let scratch = Scratch::new();
    scratch.git(&["checkout", "-q", "--detach"]);
    scratch.axiom(&["checkpoint", "create", "detached"]);
    assert!(scratch.json(&["checkpoint", "show", "detached"])["checkpoint"]["document"]["branch"].is_null());
    scratch.fsck();
}

#[test]
fn a_missing_workspace_is_named_and_so_is_a_broken_one() {
    let scratch = Scratch::new();
    scratch.open_task("t1");
    std::fs::remove_dir_all(scratch.workspace("t1")).unwrap();
    scratch.axiom(&["checkpoint", "create", "c1"]);
    let shown = scratch.json(&["checkpoint", "show", "c1"]);
    let path = scratch.workspace("t1").display().to_string();
    assert_eq!(shown["checkpoint"]["document"]["coverage"][path.as_str()]["missing"], true);
    std::fs::create_dir(scratch.workspace("t1")).unwrap();
    std::fs::write(scratch.workspace("t1").join("x"), "x").unwrap();
    // It costs that workspace alone, and is said.
    scratch.axiom(&["checkpoint", "create", "second"]);
    let shown = scratch.json(&["checkpoint", "show", "second"]);
    assert!(!shown["checkpoint"]["document"]["coverage"][path.as_str()]["notCaptured"].is_null(), "{shown}");
}

#[test]
fn a_merge_moves_the_checked_out_target_and_keeps_what_is_the_users() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.make_dirty();
    scratch.write("stashed.txt", "x");
    let before = scratch.users_view();
    let old = scratch.head();
    scratch.axiom(&["merge", "t1"]);
    assert_eq!(scratch.users_view(), before.replace(old.as_str(), scratch.head().as_str()));
    assert_eq!(scratch.read("t1.txt"), "t1\n");
    let message = scratch.git(&["log", "-1", "--format=%B"]);
    assert_eq!(message, "Merge task t1: do t1 #t1 @ed-001\n\nAxiom-Task: t1\nAxiom-Agent: ed-001");
    assert_eq!(scratch.git(&["rev-list", "--count", "--min-parents=2", "HEAD"]), "1");
    let merged = scratch.task("t1").merged.unwrap();
    assert_eq!(merged.commit, scratch.head());
    assert!(!scratch.workspace("t1").exists(), "the workspace is put aside");
    assert!(scratch.store().state().restorable.workspaces.is_empty());
    assert_eq!(scratch.json(&["checkpoint", "list"])["checkpoints"][0]["trigger"], "before-merge");
    assert_eq!(scratch.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    assert_eq!(branches(&scratch), "main", "the target has the commits of the task's branch");
    scratch.fsck();
    // Again: nothing more.
    let again = scratch.json(&["merge", "t1"]);
    assert_eq!((&again["wasMergedBefore"], &again["undo"]), (&true.into(), &serde_json::Value::Null));
}

fn branches(scratch: &Scratch) -> String {
    scratch.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/"]).replace('\n', " ")
}

/// Back and forth again, with the branch each time; a plain undo means the merge, not the branch.
#[test]
fn an_undo_of_a_merge_brings_the_branch_back() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    let (tip, target) = (scratch.git(&["rev-parse", "axiom/t1"]), scratch.head());
    let dry = scratch.axiom(&["merge", "t1", "--dry-run"]);
    assert!(dry.contains("1 ref deleted\n    branch axiom/t1 (at "), "{dry}");
    scratch.axiom(&["merge", "t1"]);
    let merged = scratch.head();
    assert_eq!(branches(&scratch), "main");
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!((scratch.git(&["rev-parse", "axiom/t1"]), scratch.head()), (tip.clone(), target));
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!((branches(&scratch), scratch.head()), ("main".to_owned(), merged));
    scratch.axiom(&["undo", "--yes"]);
    // It is ours again: it is merged, and goes once more.
    scratch.axiom(&["merge", "t1"]);
    assert_eq!((branches(&scratch), scratch.git(&["rev-parse", "HEAD^2"])), ("main".to_owned(), tip));
    scratch.fsck();
}

#[test]
fn with_keep_merged_workspace_and_branch_stay_until_the_key_is_gone() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.git(&["config", "axiom.agents.keepMerged", "true"]);
    let dry = scratch.json(&["merge", "t1", "--dry-run"]);
    assert_eq!((&dry["workspaces"], &dry["refs"]), (&serde_json::json!([]), &serde_json::json!([])));
    scratch.axiom(&["merge", "t1"]);
    assert!(scratch.workspace("t1").join("t1.txt").exists() && branches(&scratch) == "axiom/t1 main");
    assert!(scratch.axiom(&["diff", "t1", "--stat"]).contains("t1.txt"), "what the merge brought");
    for step in ["undo", "redo"] {
        scratch.axiom(&[step, "--yes"]);
    }
    scratch.axiom(&["recover", "--yes"]);
    assert!(scratch.workspace("t1").exists() && branches(&scratch) == "axiom/t1 main");
    scratch.git(&["config", "--unset", "axiom.agents.keepMerged"]);
    scratch.axiom(&["recover", "--yes"]);
    assert!(!scratch.workspace("t1").exists() && branches(&scratch) == "main");
}

/// What somebody did with the branch since, or still does in a worktree of their own, stays.
#[test]
fn the_branch_of_a_merged_task_stays_where_somebody_uses_it() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.git(&["worktree", "add", "-q", "-f", "../mine", "axiom/t1"]);
    scratch.axiom(&["merge", "t1"]);
    assert_eq!(branches(&scratch), "axiom/t1 main");
    scratch.git(&["-C", "../mine", "commit", "-q", "--allow-empty", "-m", "mine"]);
    scratch.git(&["worktree", "remove", "--force", "../mine"]);
    scratch.axiom(&["recover", "--yes"]);
    assert_eq!(branches(&scratch), "axiom/t1 main", "main does not have that commit");
    scratch.git(&["merge", "-q", "axiom/t1"]);
    scratch.axiom(&["recover", "--yes"]);
    assert_eq!(branches(&scratch), "main");
}

/// The user merged the branch with git: only the task changes, and that can be taken back.
#[test]
fn a_merge_that_git_made_before_is_noted_and_its_undo_is_named() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.git(&["merge", "-q", "axiom/t1"]);
    let noted = scratch.json(&["merge", "t1"]);
    assert_eq!(noted["wasMergedBefore"], true);
    assert!(scratch.task("t1").merged.is_some());
    let undo: Vec<&str> = noted["undo"].as_str().unwrap().split(' ').skip(2).collect();
    assert_eq!(branches(&scratch), "main");
    scratch.axiom(&[&undo[..], &["--yes"]].concat());
    assert_eq!((scratch.task("t1").merged, branches(&scratch)), (None, "axiom/t1 main".to_owned()));
}

#[test]
fn a_preview_of_a_merge_says_what_becomes_of_the_workspace() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    let dry = || {
        let dry = ["merge", "t1", "--dry-run"];
        (scratch.json(&dry)["workspaces"][0]["action"].clone(), scratch.axiom(&dry))
    };
    let (action, words) = dry();
    assert!(action == "putAside" && words.contains("t1: moved to the trash"), "{words}");
    std::fs::remove_dir_all(scratch.workspace("t1")).unwrap();
    let (action, words) = dry();
    assert!(action == "forgotten" && words.contains("t1: forgotten, its folder is gone"), "{words}");
    scratch.axiom(&["merge", "t1"]);
    assert!(scratch.has("t1.txt") && scratch.store().state().restorable.workspaces.is_empty());
}

#[test]
fn a_merge_that_cannot_be_made_changes_nothing() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.write("t1.txt", "mine");
    let (before, head) = (scratch.users_view(), scratch.head());
    scratch.refused(&["merge", "t1"], "IN_THE_WAY", 4);
    assert_eq!((scratch.users_view(), scratch.head()), (before, head));
    scratch.write("t1.txt", "committed");
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-qm", "conflicting"]);
    scratch.refused(&["merge", "t1"], "MERGE_CONFLICT", 4);
    scratch.open_task("t2");
    scratch.refused(&["merge", "t2"], "INVALID_TRANSITION", 1);
    scratch.refused(&["merge", "t3"], "UNKNOWN_TASK", 2);
    assert!(scratch.store().state().record.open.is_none());
    assert!(scratch.task("t1").merged.is_none());
}

#[test]
fn a_merge_into_a_branch_that_is_not_checked_out_and_one_that_changes_our_own_configuration() {
    let scratch = Scratch::new();
    scratch.open_task("t1");
    std::fs::create_dir(scratch.workspace("t1").join(".axiom")).unwrap();
    std::fs::write(scratch.workspace("t1").join(".axiom/config.toml"), "").unwrap();
    scratch.finish_task("t1");
    scratch.refused(&["merge", "t1"], "IN_THE_WAY", 4);
    scratch.axiom(&["merge", "--allow-axiom", "t1"]);
    assert!(scratch.has(".axiom/config.toml"));
    scratch.done_task("t2");
    scratch.git(&["branch", "-q", "other"]);
    let session = git_axiom::model::work::sessions::session::Session {
        id: git_axiom::model::base::ids::SessionId::new("s1").unwrap(),
        started_at: jiff::Timestamp::UNIX_EPOCH,
        pid: 1,
        target: git_axiom::model::base::names::RefName::branch("other"),
        slots: 1,
        max_iterations: 1,
        limits: git_axiom::model::work::money::budget::BudgetLimits::default(),
        task_limits: git_axiom::model::work::money::budget::BudgetLimits::default(),
        state: git_axiom::model::work::sessions::session::SessionState::Ended,
        paused_at: None,
        start_checkpoint: None,
        in_linked_worktree: false,
    };
    scratch.append(vec![git_axiom::model::state::event::Event::SessionStarted { session }]);
    let head = scratch.head();
    scratch.axiom(&["merge", "t2"]);
    assert_eq!(scratch.head(), head);
    assert_eq!(scratch.git(&["show", "other:t2.txt"]), "t2");
    scratch.git(&["branch", "-qD", "other"]);
    scratch.done_task("t3");
    scratch.refused(&["merge", "t3"], "TARGET_MISSING", 1);
    scratch.fsck();
}

/// `checkpoints.beforeMerge` is about the checkpoint before a merge alone.
#[test]
fn without_the_checkpoint_before_it_a_merge_has_the_one_after_it() {
    let scratch = Scratch::new();
    scratch.git(&["config", "axiom.checkpoints.beforeMerge", "false"]);
    scratch.done_task("t1");
    scratch.axiom(&["merge", "t1"]);
    let list = scratch.json(&["checkpoint", "list"]);
    let triggers: Vec<&str> =
        list["checkpoints"].as_array().unwrap().iter().map(|one| one["trigger"].as_str().unwrap()).collect();
    assert_eq!(triggers, ["after-merge"]);
}
