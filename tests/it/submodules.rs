//! Submodules are held: captured in their own repositories, and taken back, deleted and verified with the checkpoint that names them.

use crate::session_support::World;
use crate::support::Scratch;

const FILE: [&str; 2] = ["-c", "protocol.file.allow=always"];

/// With a submodule `sm` that has another one, `in/deep`, and a checkpoint `safe` of work in both: staged, dirty, untracked, committed.
struct WithSubmodules {
    scratch: Scratch,
    _origins: [Scratch; 2],
}

impl WithSubmodules {
    fn new() -> Self {
        let (scratch, outer, inner) = (Scratch::new(), Scratch::new(), Scratch::new());
        let url = |of: &Scratch| of.path().display().to_string();
        outer.git(&[&FILE[..], &["submodule", "--quiet", "add", &url(&inner), "in/deep"]].concat());
        outer.git(&["commit", "-q", "-m", "deep"]);
        scratch.git(&[&FILE[..], &["submodule", "--quiet", "add", &url(&outer), "sm"]].concat());
        scratch.git(&[&FILE[..], &["submodule", "--quiet", "update", "--init", "--recursive"]].concat());
        scratch.git(&["commit", "-q", "-m", "submodule"]);
        let all = Self { scratch, _origins: [outer, inner] };
        all.scratch.write("sm/staged", "staged\n");
        all.scratch.git(&["-C", "sm", "add", "staged"]);
        all.scratch.write("sm/a.txt", "hours of work\n");
        all.scratch.write("sm/untracked", "u\n");
        all.scratch.write("sm/in/deep/own", "o\n");
        all.scratch.git(&["-C", "sm/in/deep", "add", "own"]);
        all.scratch.git(&["-C", "sm/in/deep", "commit", "-q", "-m", "own"]);
        all.scratch.write("sm/in/deep/a.txt", "deep work\n");
        all
    }

    fn saved() -> Self {
        let all = Self::new();
        all.scratch.axiom(&["checkpoint", "create", "safe"]);
        all
    }

    /// The workspace of a task that is begun, with its submodules.
    fn open_task(&self, id: &str) -> std::path::PathBuf {
        self.scratch.open_task(id);
        let there = self.scratch.workspace(id);
        let update = ["submodule", "--quiet", "update", "--init", "--recursive"];
        self.scratch.git(&[&["-C", there.to_str().unwrap()], &FILE[..], &update[..]].concat());
        there
    }

    /// Status, HEAD and files of all three; a submodule that is gone has none.
    fn view(&self) -> Vec<String> {
        let status = |folder: &str| {
            let there = self.scratch.has(&format!("{folder}/.git"));
            let args = ["-C", folder, "status", "--porcelain=v2", "--branch"];
            if there { self.scratch.git(&args) } else { "gone".to_owned() }
        };
        let files = crate::support::contents(&self.scratch.path());
        let files = files.into_iter().map(|(path, text)| format!("{} {}", path.display(), String::from_utf8_lossy(&text)));
        [".", "sm", "sm/in/deep"].map(status).into_iter().chain(files).collect()
    }
}

#[test]
fn what_an_agent_destroys_in_submodules_comes_back_and_undo_and_redo_know() {
    let all = WithSubmodules::saved();
    let scratch = &all.scratch;
    let before = all.view();
    let damages: [&[&[&str]]; 4] = [
        &[
            &["-C", "sm", "reset", "-q", "--hard"],
            &["-C", "sm", "clean", "-qfd"],
            &["-C", "sm", "commit", "-q", "--allow-empty", "-m", "more"],
            &["-C", "sm/in/deep", "checkout", "-q", "--detach", "HEAD~1", "--force"],
        ],
        &[&["rm", "-qrf", "sm"]],
        &[&["-C", "sm/in/deep", "checkout", "-q", "--", "."], &["rm", "-q", "--cached", "sm"]],
        &[&["-C", "sm", "rm", "-qf", "in/deep"]],
    ];
    for damage in damages {
        damage.iter().for_each(|args| drop(scratch.git(args)));
        let damaged = all.view();
        assert_ne!(damaged, before);
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(all.view(), before, "{damage:?}");
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(all.view(), damaged, "undo of {damage:?}");
        scratch.axiom(&["redo", "--yes"]);
        assert_eq!(all.view(), before, "redo of {damage:?}");
    }
    scratch.axiom(&["checkpoint", "verify"]);
    scratch.git(&["-C", "sm", "fsck"]);
}

#[test]
fn the_preview_names_files_by_their_path_from_the_superproject_and_paths_alone_come_back() {
    let all = WithSubmodules::saved();
    let scratch = &all.scratch;
    scratch.write("sm/a.txt", "lost\n");
    scratch.write("sm/in/deep/a.txt", "lost\n");
    scratch.write("a.txt", "mine\n");
    let dry = scratch.json(&["rollback", "checkpoint", "safe", "--dry-run"]);
    let paths: Vec<&str> = dry["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["sm/a.txt", "sm/in/deep/a.txt", "a.txt"], "{dry}");
    assert_eq!(dry["submodules"].as_array().unwrap().len(), 0, "none stays: {dry}");
    let changed = scratch.json(&["checkpoint", "diff", "safe"]);
    let paths: Vec<&str> = changed["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["a.txt", "sm/a.txt", "sm/in/deep/a.txt"], "{changed}");
    assert!(scratch.axiom(&["checkpoint", "diff", "safe"]).contains("+++ b/sm/in/deep/a.txt"));
    scratch.axiom(&["restore", "safe", "--yes", "--", "sm/in/deep/a.txt"]);
    assert_eq!((scratch.read("sm/in/deep/a.txt"), scratch.read("sm/a.txt")), ("deep work\n".into(), "lost\n".into()));
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes", "--", "sm"]);
    assert_eq!((scratch.read("sm/a.txt"), scratch.read("a.txt")), ("hours of work\n".into(), "mine\n".into()));
    scratch.refused(&["restore", "safe", "--yes", "--", "sm/none"], "INVALID_INPUT", 2);
}

#[test]
fn a_crash_in_the_middle_of_submodules_is_finished_or_taken_back() {
    let all = WithSubmodules::saved();
    let scratch = &all.scratch;
    let before = all.view();
    for point in
        ["journal.before-submodule:1", "journal.submodule-connected:2", "journal.files-restored:3", "journal.before-end:1"]
    {
        for way in ["--abort", "--continue"] {
            std::fs::remove_dir_all(scratch.path().join("sm")).unwrap();
            let damaged = all.view();
            scratch.killed_at(&["rollback", "checkpoint", "safe", "--yes"], point);
            scratch.axiom(&["rollback", way]);
            let wanted = if way == "--abort" { &damaged } else { &before };
            assert_eq!(&all.view(), wanted, "{point} {way}");
            scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
            assert_eq!(all.view(), before, "{point} {way}");
        }
    }
}

#[test]
fn captures_in_submodules_live_as_long_as_their_checkpoint() {
    let all = WithSubmodules::saved();
    let scratch = &all.scratch;
    let refs = || scratch.git(&["-C", "sm", "for-each-ref", "--format=%(refname)", "refs/axiom/captures"]);
    assert_eq!(refs(), "refs/axiom/captures/_superproject/safe");
    scratch.git(&["-C", "sm", "reflog", "expire", "--expire=now", "--all"]);
    scratch.git(&["-C", "sm", "gc", "-q", "--prune=now"]);
    scratch.axiom(&["checkpoint", "verify", "safe"]);
    // A lost ref is made again while its objects are there.
    scratch.git(&["-C", "sm", "update-ref", "-d", "refs/axiom/captures/_superproject/safe"]);
    scratch.refused(&["checkpoint", "verify", "safe"], "CHECKPOINT_DAMAGED", 1);
    scratch.axiom(&["checkpoint", "verify", "safe", "--repair"]);
    assert_eq!(refs(), "refs/axiom/captures/_superproject/safe");
    // Deleted, brought back, deleted for good.
    scratch.axiom(&["checkpoint", "delete", "safe", "--protected", "--yes"]);
    scratch.axiom(&["undo", "--yes"]);
    scratch.axiom(&["checkpoint", "verify", "safe"]);
    scratch.git(&["config", "axiom.checkpoints.keepDeletedDays", "0"]);
    scratch.axiom(&["checkpoint", "delete", "safe", "--protected", "--yes"]);
    scratch.axiom(&["checkpoint", "create", "later"]);
    let now = refs();
    assert!(now.contains("_superproject/later") && !now.contains("_superproject/safe"), "{now}");
}

/// Another checkpoint gets the name of a deleted one that can still be brought back: each has what it has of the submodule.
#[test]
fn a_deleted_checkpoint_whose_name_was_given_again_keeps_what_it_has_of_submodules() {
    let all = WithSubmodules::saved();
    let scratch = &all.scratch;
    let before = all.view();
    let delete = || {
        scratch.axiom(&["checkpoint", "delete", "safe", "--protected", "--yes"]);
        scratch.json(&["log", "-n", "1"])["operations"][0]["id"].as_str().unwrap().to_owned()
    };
    let first = delete();
    scratch.write("sm/a.txt", "something else\n");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    delete();
    scratch.git(&["-C", "sm", "reflog", "expire", "--expire=now", "--all"]);
    scratch.git(&["-C", "sm", "gc", "-q", "--prune=now"]);
    scratch.axiom(&["undo", &first, "--yes"]);
    scratch.axiom(&["checkpoint", "verify", "safe"]);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(all.view(), before);
    // Kept only as long as it can be brought back.
    let refs = || scratch.git(&["-C", "sm", "for-each-ref", "--format=%(refname)", "refs/axiom/captures"]);
    let capture = scratch.git(&["rev-parse", "refs/axiom/captures/safe"]);
    assert!(refs().contains(&format!("_superproject/safe.{capture}")), "{}", refs());
    scratch.git(&["config", "axiom.checkpoints.keepDeletedDays", "0"]);
    delete();
    scratch.axiom(&["checkpoint", "create", "later"]);
    assert!(!refs().contains(&format!("_superproject/safe.{capture}")), "{}", refs());
}

#[test]
fn a_removed_submodule_is_not_held_any_more_and_the_rest_is() {
    let all = WithSubmodules::saved();
    let scratch = &all.scratch;
    scratch.git(&["rm", "-qf", "sm"]);
    std::fs::remove_dir_all(scratch.path().join(".git/modules/sm")).unwrap();
    scratch.write("a.txt", "edited\n");
    let verified = scratch.json(&["checkpoint", "verify", "safe"]);
    let named = verified["checkpoints"][0]["submodulesNotHeld"].as_array().unwrap();
    assert!(named.iter().any(|one| one.as_str().unwrap().contains("is not held any more")), "{verified}");
    let done = scratch.json(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(done["notRestored"][0]["reason"], "submoduleNotHeld", "{done}");
    assert_eq!(scratch.read("a.txt"), "a\n");
}

/// As a linked worktree with submodules that is removed and made again at the same place: nothing of the checkpoint is damaged.
#[test]
fn a_submodule_that_was_removed_and_made_again_is_another_one() {
    let all = WithSubmodules::saved();
    let scratch = &all.scratch;
    for folder in ["sm", ".git/modules/sm"] {
        std::fs::remove_dir_all(scratch.path().join(folder)).unwrap();
    }
    scratch.git(&[&FILE[..], &["submodule", "--quiet", "update", "--init", "--recursive"]].concat());
    let verified = scratch.json(&["checkpoint", "verify", "safe"]);
    let named = verified["checkpoints"][0]["submodulesNotHeld"].as_array().unwrap();
    assert!(named.len() == 2 && named.iter().all(|one| one.as_str().unwrap().ends_with("another one made")), "{verified}");
}

/// Git forgets then where the submodule was.
#[test]
fn a_submodule_that_was_deinitialised_comes_back_with_its_work() {
    let all = WithSubmodules::saved();
    let scratch = &all.scratch;
    let before = all.view();
    scratch.git(&["submodule", "--quiet", "deinit", "-f", "sm"]);
    assert!(!scratch.has("sm/a.txt"));
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(all.view(), before);
    assert_eq!(scratch.git(&["-C", ".git/modules/sm", "config", "core.worktree"]), "../../../sm");
    scratch.axiom(&["undo", "--yes"]);
    assert!(!scratch.has("sm/a.txt"));
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!(all.view(), before);
    scratch.axiom(&["checkpoint", "verify"]);
}

#[test]
fn a_rollback_over_a_submodule_at_another_commit_than_recorded_is_undone_and_done_again() {
    let damages: [&[&[&str]]; 3] = [
        &[&["submodule", "--quiet", "deinit", "--force", "sm"]],
        &[&["rm", "-qrf", "sm"]],
        &[&["mv", "sm", "moved"], &["commit", "-q", "-m", "moved"]],
    ];
    for damage in damages {
        let all = WithSubmodules::new();
        let scratch = &all.scratch;
        scratch.git(&["-C", "sm", "commit", "-qam", "not recorded"]);
        scratch.axiom(&["checkpoint", "create", "safe"]);
        damage.iter().for_each(|args| drop(scratch.git(args)));
        let damaged = all.view();
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        let back = all.view();
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(all.view(), damaged, "undo of {damage:?}");
        scratch.axiom(&["redo", "--yes"]);
        assert_eq!(all.view(), back, "redo of {damage:?}");
    }
}

#[test]
fn what_is_taken_out_of_a_submodule_is_so_where_its_folder_was_deleted() {
    let all = WithSubmodules::saved();
    let scratch = &all.scratch;
    std::fs::remove_dir_all(scratch.path().join("sm")).unwrap();
    scratch.axiom(&["purge", "--yes", "--now", "--", "sm/untracked"]);
    scratch.axiom(&["checkpoint", "verify", "safe"]);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!((scratch.read("sm/a.txt").as_str(), scratch.has("sm/untracked")), ("hours of work\n", false));
}

/// A `.git` that leads elsewhere, though git follows it.
#[test]
fn a_submodule_whose_git_folder_is_elsewhere_is_named_and_left_alone() {
    let (all, other) = (WithSubmodules::new(), Scratch::new());
    let scratch = &all.scratch;
    scratch.write("sm/.git", format!("gitdir: {}/.git\n", other.path().display()));
    let made = scratch.json(&["checkpoint", "create", "safe"]);
    let coverage = &made["coverage"][scratch.path().to_str().unwrap()];
    assert_eq!(coverage["dirtySubmodules"]["paths"][0], "sm", "{made}");
    assert_eq!(other.git(&["for-each-ref", "refs/axiom"]), "");
    scratch.write("sm/a.txt", "later\n");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(scratch.read("sm/a.txt"), "later\n");
}

/// Neither its hooks nor its filters start.
#[test]
fn the_configuration_of_a_submodule_starts_nothing() {
    let all = WithSubmodules::new();
    let scratch = &all.scratch;
    let trace = scratch.path().parent().unwrap().join("started");
    let script = format!("#!/bin/sh\necho started >> {}\ncat\n", trace.display());
    for hook in ["reference-transaction", "post-index-change", "post-checkout"] {
        scratch.write(&format!(".git/modules/sm/hooks/{hook}"), &script);
        scratch.command("chmod").args(["+x", &format!(".git/modules/sm/hooks/{hook}")]).status().unwrap();
    }
    scratch.write("sm/.gitattributes", "* filter=evil\n");
    for key in ["clean", "smudge"] {
        scratch.git(&["-C", "sm", "config", &format!("filter.evil.{key}"), &format!("echo started >> {}; cat", trace.display())]);
    }
    scratch.git(&["-C", "sm", "config", "core.fsmonitor", &format!("echo started >> {}", trace.display())]);
    let text = scratch.read("sm/a.txt");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("sm/a.txt", "lost\n");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(scratch.read("sm/a.txt"), text);
    assert!(!trace.exists(), "{}", std::fs::read_to_string(&trace).unwrap_or_default());
}

#[test]
fn what_an_agent_commits_in_a_submodule_is_where_the_merge_needs_it() {
    let (world, inner) = (World::new(), Scratch::new());
    let env = &world.env;
    let url = inner.path().display().to_string();
    env.git(&[&FILE[..], &["submodule", "--quiet", "add", &url, "sm"]].concat());
    env.git(&["commit", "-q", "-m", "submodule"]);
    let work = "git -c protocol.file.allow=always submodule --quiet update --init; cd sm; echo agent > agent.txt; git add .; \
                git -c user.name=a -c user.email=a@x commit -qm 'in sm'; cd ..; git add sm";
    world.task("t", work, &[]);
    world.autopilot(&[]).code(0);
    let id = env.git(&["rev-parse", "HEAD:sm"]).trim().to_owned();
    env.git(&["-C", "sm", "cat-file", "-e", &id]);
    env.git(&["-C", "sm", "gc", "-q", "--prune=now"]);
    env.git(&["submodule", "--quiet", "update"]);
    assert!(env.repo().join("sm/agent.txt").exists());
    // A commit that nobody has.
    let lost = "git update-index --cacheinfo 160000,1234567812345678123456781234567812345678,sm; git commit -qm lost";
    world.task("lost", lost, &[]);
    let ended = world.autopilot(&[]).code(1);
    assert!(ended.stdout.contains("moves the submodule 'sm'"), "{}", ended.stdout);
}

/// Its repository went with the workspace, and the trash was emptied.
#[test]
fn a_workspace_that_is_made_again_gets_its_submodules_too() {
    let all = WithSubmodules::new();
    let scratch = &all.scratch;
    let there = all.open_task("t1");
    let at = |args: &[&str]| scratch.git(&[&["-C", there.to_str().unwrap()], args].concat());
    at(&["-C", "sm", "switch", "-q", "-c", "work"]);
    std::fs::write(there.join("sm/committed"), "c\n").unwrap();
    at(&["-C", "sm", "add", "committed"]);
    at(&["-C", "sm", "commit", "-q", "-m", "of an agent"]);
    std::fs::write(there.join("sm/staged"), "s\n").unwrap();
    at(&["-C", "sm", "add", "staged"]);
    std::fs::write(there.join("sm/a.txt"), "edited\n").unwrap();
    std::fs::write(there.join("sm/in/deep/untracked"), "u\n").unwrap();
    let view = || {
        let status = |folder: &str| at(&["-C", folder, "status", "--porcelain=v2", "--branch"]);
        ([".", "sm", "sm/in/deep"].map(status), crate::support::contents(&there))
    };
    let before = view();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    let done = scratch.json(&["rollback", "task", "t1", "--yes"]);
    let undo: Vec<&str> = done["undo"].as_str().unwrap().split(' ').skip(2).collect();
    assert!(!there.exists());
    let empty = |folder: &str| {
        let folder = scratch.path().join(folder);
        std::fs::read_dir(&folder).unwrap().for_each(|one| std::fs::remove_dir_all(one.unwrap().path()).unwrap());
    };
    empty(".worktrees/trash");
    empty(".git/axiom/trash");
    in_mains(scratch, &["gc", "-q", "--prune=now"]);
    scratch.axiom(&[&undo[..], &["--yes"]].concat());
    assert_eq!(view(), before, "by undo");
    scratch.axiom(&["checkpoint", "verify", "safe"]);
    scratch.axiom(&["redo", "--yes"]);
    empty(".worktrees/trash");
    empty(".git/axiom/trash");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(view(), before, "by a rollback");
    at(&["-C", "sm", "fsck"]);
}

fn in_mains(scratch: &Scratch, args: &[&str]) {
    scratch.git(&[&["-C", "sm"], args].concat());
}

/// Git goes into the folder that `core.worktree` names before it does anything.
#[test]
fn a_submodule_whose_folder_is_gone_is_taken_out_and_brought_home_to_all_the_same() {
    let all = WithSubmodules::saved();
    let scratch = &all.scratch;
    let there = all.open_task("t1");
    let at = |args: &[&str]| scratch.git(&[&["-C", there.to_str().unwrap()], args].concat());
    std::fs::write(there.join("sm/agent.txt"), "agent\n").unwrap();
    at(&["-C", "sm", "add", "."]);
    at(&["-C", "sm", "commit", "-q", "-m", "in sm"]);
    let commit = at(&["-C", "sm", "rev-parse", "HEAD"]);
    scratch.finish_task("t1");
    std::fs::remove_dir_all(scratch.path().join("sm")).unwrap();
    scratch.axiom(&["merge", "t1"]);
    scratch.git(&["--git-dir=.git/modules/sm", "--work-tree=.", "cat-file", "-e", &commit]);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--dry-run"]);
    std::fs::remove_dir_all(scratch.path().join("sm")).ok();
    scratch.axiom(&["deinit", "--yes"]);
    let left = scratch.git(&["--git-dir=.git/modules/sm", "--work-tree=.", "for-each-ref", "refs/axiom/captures"]);
    assert_eq!(left, "");
}

/// `fetch.prune` would delete captures, hidden refs would not be found, and git reads nothing from a submodule whose folder is gone.
#[test]
fn what_workspaces_have_of_submodules_comes_home_whatever_the_users_fetches_are_like() {
    const FOLDERS: [&str; 2] = ["sm", "sm/in/deep"];
    let all = WithSubmodules::saved();
    let scratch = &all.scratch;
    for (key, value) in [("fetch.prune", "true"), ("fetch.pruneTags", "true"), ("fetch.fsckObjects", "true")] {
        FOLDERS.iter().for_each(|folder| drop(scratch.git(&["-C", folder, "config", key, value])));
    }
    let tasks = ["t1", "t2"];
    let commits = tasks.map(|task| {
        let there = all.open_task(task);
        scratch.finish_task(task);
        let at = |args: &[&str]| scratch.git(&[&["-C", there.to_str().unwrap()], args].concat());
        FOLDERS.map(|folder| {
            at(&["-C", folder, "commit", "-q", "--allow-empty", "-m", task]);
            at(&["-C", folder, "config", "transfer.hideRefs", "refs/axiom"]);
            at(&["-C", folder, "rev-parse", "HEAD"])
        })
    });
    scratch.axiom(&["checkpoint", "create", "second"]);
    tasks.iter().for_each(|task| std::fs::remove_dir_all(scratch.workspace(task)).unwrap());
    let done = scratch.json(&["rollback", "checkpoint", "second", "--yes"]);
    assert_eq!(done["notRestored"], serde_json::json!([]), "{done}");
    for (folder, commit) in commits.iter().flat_map(|of_task| FOLDERS.iter().zip(of_task)) {
        scratch.git(&["-C", folder, "gc", "-q", "--prune=now"]);
        scratch.git(&["-C", folder, "cat-file", "-e", commit]);
        scratch.git(&["-C", folder, "rev-parse", "--verify", &format!("refs/axiom/brought/{commit}")]);
    }
    scratch.axiom(&["checkpoint", "verify"]);
}

/// After `git submodule deinit` a repository names no folder: by its place alone it is the main worktree's.
#[test]
fn what_comes_home_is_never_taken_for_the_main_worktrees_own() {
    let all = WithSubmodules::saved();
    let scratch = &all.scratch;
    std::fs::write(all.open_task("t1").join("sm/a.txt"), "of an agent\n").unwrap();
    scratch.axiom(&["checkpoint", "create", "second"]);
    scratch.axiom(&["rollback", "task", "t1", "--yes"]);
    let own = || scratch.git(&["--git-dir=.git/modules/sm", "rev-parse", "refs/axiom/captures/_superproject/second"]);
    let before = own();
    scratch.git(&["submodule", "--quiet", "deinit", "-f", "sm"]);
    drop(scratch.axiom_with(&["checkpoint", "verify", "--repair"], &[]));
    assert_eq!(own(), before);
}

#[test]
fn what_a_summary_names_in_a_submodule_has_its_path_from_the_superproject() {
    let all = WithSubmodules::saved();
    let scratch = &all.scratch;
    scratch.write("sm/in/deep/a.txt", "later\n");
    assert_eq!(scratch.axiom(&["checkpoint", "diff", "safe", "--name-only"]), "sm/in/deep/a.txt\n");
    let stat = scratch.axiom(&["checkpoint", "diff", "safe", "--stat"]);
    assert!(stat.starts_with(" sm/in/deep/a.txt |"), "{stat}");
    assert!(scratch.axiom(&["checkpoint", "diff", "safe"]).contains("+++ b/sm/in/deep/a.txt"));
}

#[test]
fn purge_goes_into_submodules_by_content_and_names_the_same_value_there() {
    let all = WithSubmodules::new();
    let scratch = &all.scratch;
    let secret = "token = sk-live-4f9a8b7c6d5e4f3a2b1c\n";
    scratch.write("own.env", secret);
    scratch.write("sm/inner.env", secret);
    scratch.write("sm/in/deep/only.env", "password = hunter2-and-more-of-it\n");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    let dry = scratch.json(&["purge", "own.env", "--dry-run"]).to_string();
    assert!(dry.contains("sm/inner.env in checkpoint safe has the same value"), "{dry}");
    let id = scratch.git(&["-C", "sm/in/deep", "hash-object", "only.env"]);
    std::fs::remove_file(scratch.path().join("sm/in/deep/only.env")).unwrap();
    scratch.git(&["-C", "sm/in/deep", "cat-file", "-e", &id]);
    scratch.axiom(&["purge", &id, "--now", "--yes"]);
    assert!(!scratch.command("git").args(["-C", "sm/in/deep", "cat-file", "-e", &id]).status().unwrap().success());
    scratch.axiom(&["checkpoint", "verify"]);
    assert!(
        scratch.git(&["-C", "sm", "cat-file", "blob", "refs/axiom/captures/_superproject/safe:inner.env"]).contains("sk-live")
    );
}
