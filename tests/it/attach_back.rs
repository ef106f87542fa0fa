//! What going back to a prompt takes back beside files: HEAD and branch, whatever the session's commands did to them, and refs that were
//! deleted. What others did meanwhile stays.

use std::path::{Path, PathBuf};

use git_axiom::base::error::Code;
use git_axiom::base::files::{FileLock, LockAttempt, is_locked};
use git_axiom::store::layout::StoreLayout;
use serde_json::{Value, json};

use crate::common::{Run, TestEnv};
use crate::session_support::wait_until;

/// An attached session in a folder of a repository.
struct CalledSession<'e> {
    env: &'e TestEnv,
    id: &'static str,
    folder: PathBuf,
}

impl CalledSession<'_> {
    fn hook(&self, event: &str, more: Value) -> Run {
        let mut payload = json!({"hook_event_name": event, "session_id": self.id, "cwd": self.folder});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let command = self.env.axiom_command(&self.folder, ["hook", "claude"]);
        self.env.run(command, Some(payload.to_string().as_bytes())).success()
    }

    fn prompt(&self) {
        self.hook("UserPromptSubmit", json!({"prompt": "x"}));
    }

    /// Runs a command between the two calls of its hook.
    fn shell(&self, command: &str) {
        let tool = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        self.hook("PreToolUse", tool.clone());
        self.env.run(shell(self.env, &self.folder, command), None).success();
        self.hook("PostToolUse", tool);
    }
}

fn shell(env: &TestEnv, folder: &Path, command: &str) -> std::process::Command {
    let mut program = env.program("sh", folder);
    program.args(["-e", "-c", command]);
    program
}

/// HEAD, all branches and tags of the user's, and what differs from HEAD.
fn at(env: &TestEnv, folder: &Path) -> [String; 4] {
    let head = env.try_git_in(folder, &["symbolic-ref", "-q", "HEAD"]).stdout;
    let commit = env.try_git_in(folder, &["rev-parse", "-q", "--verify", "HEAD"]).stdout;
    let main = env.try_git(&["rev-parse", "-q", "--verify", "refs/heads/main"]).stdout;
    [head, commit, main, env.git_in(folder, &["status", "--porcelain"])]
}

fn repository() -> TestEnv {
    let env = TestEnv::new();
    env.git(&["branch", "other"]);
    env.git(&["switch", "-q", "other"]);
    env.write("other.txt", "other\n");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "other"]);
    env.git(&["switch", "-q", "main"]);
    env.write("a.txt", "the human's\n");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "the human's"]);
    env.ok(&["init"]);
    env
}

/// Goes back to the prompt, takes that back, and does it again.
#[track_caller]
fn goes_back_and_forth(session: &CalledSession<'_>, number: u32, command: &str) {
    let env = session.env;
    let before = at(env, &session.folder);
    session.prompt();
    session.shell(command);
    let after = at(env, &session.folder);
    assert_ne!(before, after, "{command}");
    let number = number.to_string();
    let went = env.axiom(&["rollback", "checkpoint", "--prompt", &number, "--yes"]).success();
    assert_eq!(at(env, &session.folder), before, "{command}: {}", went.stderr);
    env.ok(&["undo", "--yes"]);
    assert_eq!(at(env, &session.folder), after, "{command}: undone");
    env.ok(&["redo", "--yes"]);
    assert_eq!(at(env, &session.folder), before, "{command}: again");
}

#[test]
fn head_and_branch_go_back_whatever_the_sessions_own_commands_did_to_them() {
    let env = repository();
    let session = CalledSession { env: &env, id: "s", folder: env.repo() };
    for (number, command) in [
        "git reset -q --hard HEAD~1",
        "git reset -q --soft HEAD~1",
        "echo z > a.txt; git commit -qa --amend -m amended",
        "git switch -qc feature; echo c > c.txt; git add -A; git commit -qm agent",
        "git checkout -q HEAD~1",
        "git rebase -q -f --signoff HEAD~1",
        "git branch -m trunk",
        "git switch -q other; git merge -q -m merged main; git branch -D main",
        "echo q > a.txt; git stash -q; git commit -q --allow-empty -m empty",
        "git checkout -qB main HEAD~1",
        "git switch -q --orphan alone",
    ]
    .into_iter()
    .enumerate()
    {
        goes_back_and_forth(&session, u32::try_from(number).unwrap() + 1, command);
    }
    env.ok(&["checkpoint", "verify"]);
    crate::attach_session::settle(&env.repo().join(".git"));
    env.fsck();
}

#[test]
fn head_and_branch_of_a_linked_worktree_go_back_from_a_subfolder_of_it() {
    let env = repository();
    let place = env.root().join("linked");
    env.git(&["worktree", "add", "-q", "-b", "topic", place.to_str().unwrap()]);
    std::fs::create_dir(place.join("sub")).unwrap();
    std::fs::write(place.join("sub/b.txt"), "b\n").unwrap();
    let session = CalledSession { env: &env, id: "s", folder: place.join("sub") };
    let main = at(&env, &env.repo());
    goes_back_and_forth(&session, 1, "git reset -q --hard HEAD~1");
    goes_back_and_forth(&session, 2, "git switch -qc feature; git add -A; git commit -qm agent");
    assert_eq!(at(&env, &env.repo()), main, "the main worktree stays");
}

/// The first commit of a repository goes back too.
#[test]
fn a_branch_without_commits_is_so_again() {
    let env = TestEnv::unborn();
    env.ok(&["init"]);
    let session = CalledSession { env: &env, id: "s", folder: env.repo() };
    goes_back_and_forth(&session, 1, "echo a > a.txt; git add -A; git commit -qm first");
}

#[test]
fn what_somebody_else_did_to_head_or_branch_stays_and_the_command_is_named() {
    let env = repository();
    let session = CalledSession { env: &env, id: "s", folder: env.repo() };
    let other = CalledSession { env: &env, id: "t", folder: env.repo() };
    let human = |command: &str| drop(env.run(shell(&env, &env.repo(), command), None).success());
    let mut number = 0;
    let mut stays = |what: &str, happens: &dyn Fn()| {
        number += 1;
        session.prompt();
        happens();
        let (before, number) = (at(&env, &env.repo()), number.to_string());
        let told = env.axiom(&["rollback", "checkpoint", "--prompt", &number, "--yes"]).success();
        assert_eq!(at(&env, &env.repo())[..3], before[..3], "{what}");
        let whole = format!("git axiom rollback checkpoint prompt-{number:0>4} --worktree ");
        assert!(told.stderr.contains(&whole), "{what}: {}", told.stderr);
        human("git switch -qf main; git reset -q --hard");
    };
    stays("a human's commit after the agent's", &|| {
        session.shell("echo 1 > a.txt; git commit -qam agent");
        human("echo 2 > a.txt; git commit -qam mine");
    });
    stays("a human's commits before the agent's reset", &|| {
        human("echo 3 > a.txt; git commit -qam mine; git commit -q --allow-empty -m 'mine too'");
        session.shell("git reset -q --hard HEAD~1");
    });
    stays("a human's switch", &|| human("git switch -q other"));
    stays("a human's commit on the branch that the agent left and came back to", &|| {
        session.shell("git switch -q other");
        human(
            "git worktree add -q ../beside main; cd ../beside; git commit -q --allow-empty -m mine; git worktree remove ../beside",
        );
        session.shell("git switch -q main");
    });
    stays("a commit of another session", &|| {
        other.prompt();
        other.shell("echo 4 > a.txt; git commit -qam theirs");
    });
}

/// Deleted branches, tags and stash entries come back with the prompt, with the files alone too.
#[test]
fn deleted_refs_come_back_with_a_prompt() {
    for others in [false, true] {
        let env = repository();
        let session = CalledSession { env: &env, id: "s", folder: env.repo() };
        env.git(&["tag", "-a", "-m", "annotated", "v1"]);
        env.write("a.txt", "put aside\n");
        env.git(&["stash", "-q"]);
        let refs = || env.git(&["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags/v1", "refs/stash"]);
        let before = refs();
        session.prompt();
        session.shell("git branch -D other; git tag -d v1; git stash drop");
        if others {
            env.git(&["switch", "-q", "--detach"]);
        }
        env.git(&["branch", "mine"]);
        let without = env.axiom(&["rollback", "checkpoint", "--prompt", "1", "--dry-run", "--no-refs"]).success();
        assert!(!without.stdout.contains("branch other"), "{}", without.stdout);
        let preview = env.axiom(&["rollback", "checkpoint", "--prompt", "1", "--dry-run"]).success().stdout;
        assert!(preview.contains("branch other at") && preview.contains("tag v1 at"), "{preview}");
        assert!(preview.contains("1 stash entry brought back"), "{preview}");
        env.ok(&["rollback", "checkpoint", "--prompt", "1", "--yes"]);
        let mine = format!("{} refs/heads/mine", env.git(&["rev-parse", "HEAD"]));
        assert_eq!(refs().replace(&format!("{mine}\n"), ""), before, "those of others stay");
        let again = env.axiom(&["rollback", "checkpoint", "--prompt", "1", "--yes"]).success();
        assert!(again.stdout.starts_with("Nothing was changed"), "{}", again.stdout);
        env.ok(&["undo", "--yes"]);
        assert!(!refs().contains("refs/tags/v1") && !refs().contains("refs/stash"), "undone");
    }
}

/// Branches that moved stay and are named; with `--refs` they go back too, and with them the one that is checked out.
#[test]
fn branches_that_moved_go_back_where_that_is_asked_for() {
    let env = repository();
    let session = CalledSession { env: &env, id: "s", folder: env.repo() };
    let (before, other) = (at(&env, &env.repo()), env.git(&["rev-parse", "other"]));
    session.prompt();
    session.shell("git branch -f other main");
    env.git(&["commit", "-q", "--allow-empty", "-m", "mine"]);
    let told = env.axiom(&["rollback", "checkpoint", "--prompt", "1", "--dry-run"]).success().stdout;
    assert!(told.contains("branch other:") && told.contains("--refs does it"), "{told}");
    env.ok(&["rollback", "checkpoint", "--prompt", "1", "--refs", "--yes"]);
    assert_eq!((at(&env, &env.repo()), env.git(&["rev-parse", "other"])), (before, other));
}

/// What the program tells its agent by a prompt of its own has no number, and what follows is the human's prompt's.
#[test]
fn a_prompt_of_the_programs_own_belongs_to_the_humans_prompt_before_it() {
    let env = repository();
    let session = CalledSession { env: &env, id: "s", folder: env.repo() };
    session.prompt();
    session.shell("echo 1 > one.txt");
    session.hook("Stop", json!({}));
    session.hook("UserPromptSubmit", json!({"prompt": "<task-notification>\n<task-id>a1</task-id>\n</task-notification>"}));
    session.shell("rm -f a.txt");
    session.hook("Stop", json!({}));
    session.prompt();
    let prompts = env.json(&["prompts"]);
    let prompts = prompts["prompts"].as_array().unwrap();
    let shown: Vec<_> = prompts.iter().map(|one| (one["number"].as_u64(), one["files"].as_u64())).collect();
    assert_eq!(shown, [(Some(2), Some(0)), (Some(1), Some(2))]);
    assert_eq!(env.json(&["sessions"])["sessions"][0]["prompts"], 2);
}

/// Whoever goes back while an agent works is told that it does, and the agent hears of it at its next call, once.
#[test]
fn an_agent_in_the_middle_of_a_turn_is_named_and_hears_of_it_at_its_next_call() {
    let env = repository();
    let session = CalledSession { env: &env, id: "s", folder: env.repo() };
    let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": env.repo().join("a.txt")}});
    let works = "Claude Code has not ended prompt 1 in ";
    session.prompt();
    session.shell("echo 1 > one.txt; echo changed > a.txt");
    assert_eq!(session.hook("PreToolUse", edit.clone()).stdout, "", "nobody went back");
    let preview = env.axiom(&["rollback", "checkpoint", "--prompt", "1", "--dry-run"]).success();
    assert!(preview.stderr.contains(works), "{}", preview.stderr);
    env.ok(&["rollback", "checkpoint", "--prompt", "1", "--yes"]);
    let told: Value = serde_json::from_str(&session.hook("PreToolUse", edit.clone()).stdout).unwrap();
    let told = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(told.contains("out of date: a.txt; these files are no longer there: one.txt"), "{told}");
    assert_eq!(session.hook("PreToolUse", edit.clone()).stdout, "", "it was told");
    let undo = env.axiom(&["undo", "--yes"]).success();
    assert!(undo.stderr.contains(works), "{}", undo.stderr);
    let told = session.hook("PreToolUse", edit.clone()).stdout;
    assert!(told.contains("out of date: a.txt, one.txt"), "{told}");
    let prompt = session.hook("UserPromptSubmit", json!({"prompt": "y"}));
    assert_eq!(prompt.stdout, "", "it was told");
    session.hook("Stop", json!({}));
    let rests = env.axiom(&["rollback", "checkpoint", "--prompt", "1", "--yes"]).success();
    assert!(!rests.stderr.contains("has not ended"), "{}", rests.stderr);
    let prompt = session.hook("UserPromptSubmit", json!({"prompt": "z"}));
    assert!(prompt.stdout.contains("no longer there: one.txt"), "{}", prompt.stdout);
    // What another worktree's agent does not see is not told it.
    let place = env.root().join("linked");
    env.git(&["worktree", "add", "-q", "--detach", place.to_str().unwrap()]);
    let other = CalledSession { env: &env, id: "t", folder: place };
    other.prompt();
    env.write("a.txt", "once more\n");
    let elsewhere = env.axiom(&["restore", "prompt-0001", "--yes", "--", "a.txt"]).success();
    assert!(elsewhere.stderr.matches("has not ended").count() == 1, "{}", elsewhere.stderr);
    assert_eq!(other.hook("PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}})).stdout, "");
}

/// A subagent's own worktree: what was done there is shown with the prompt, and its files come back after the program has removed it, the ones
/// that git ignores around it too.
#[test]
fn what_a_subagent_did_in_a_worktree_of_its_own_is_shown_with_the_prompt_and_comes_back() {
    for ignored in [false, true] {
        let env = repository();
        if ignored {
            env.write(".gitignore", ".claude/\n");
        }
        let place = env.repo().join(".claude/worktrees/agent-a1");
        let session = CalledSession { env: &env, id: "s", folder: env.repo() };
        let agent = CalledSession { env: &env, id: "s", folder: place.clone() };
        let of_agent = json!({"agent_id": "a1", "agent_type": "general-purpose"});
        session.prompt();
        env.git(&["worktree", "add", "-q", "-b", "agent-a1", place.to_str().unwrap()]);
        std::fs::write(place.join("committed.txt"), "1\n").unwrap();
        agent.shell("git add -A; git commit -qm 'of the subagent'");
        std::fs::write(place.join("sub.txt"), "hours of work\n").unwrap();
        std::fs::write(place.join("run.sh"), "#!/bin/sh\n").unwrap();
        agent.shell("rm a.txt; chmod +x run.sh");
        agent.hook("SubagentStop", of_agent);
        session.hook("Stop", json!({}));
        let shown = || env.json(&["prompts"])["prompts"][0]["elsewhere"].clone();
        let all = json!([{"worktree": place, "files": 4, "insertions": 3, "deletions": 1}]);
        wait_until("everything is saved", || shown() == all);
        let stat = env.ok(&["diff", "--prompt", "1", "--stat"]);
        assert!(stat.contains(".claude/worktrees/agent-a1/sub.txt") && stat.contains("committed.txt"), "{stat}");
        let words = env.ok(&["prompts"]);
        assert!(words.contains("4 files +3 -1  in '.claude/worktrees/agent-a1'"), "{words}");
        assert_eq!(env.json(&["sessions"])["sessions"][0]["worktree"], env.repo().to_str().unwrap(), "its own");
        env.git(&["worktree", "remove", "--force", place.to_str().unwrap()]);
        env.git(&["branch", "-qD", "agent-a1"]);
        assert_eq!(shown(), all, "it is gone");
        let newest = env.json(&["checkpoint", "list"])["checkpoints"]
            .as_array()
            .unwrap()
            .iter()
            .max_by_key(|one| one["createdAt"].as_str().unwrap().to_owned())
            .unwrap()["name"]
            .as_str()
            .unwrap()
            .to_owned();
        let path = ".claude/worktrees/agent-a1/sub.txt";
        env.ok(&["restore", &newest, "--yes", "--", path]);
        assert_eq!(env.read(path), "hours of work\n");
        assert!(!place.join("run.sh").exists(), "what was not named");
        env.ok(&["undo", "--yes"]);
        assert!(!place.join("sub.txt").exists(), "undone");
        env.ok(&["restore", &newest, "--yes", "--", ".claude/worktrees/agent-a1"]);
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(place.join("run.sh").metadata().unwrap().permissions().mode() & 0o100, 0o100);
        assert!(place.join("committed.txt").exists() && !place.join("a.txt").exists());
        env.ok(&["checkpoint", "verify"]);
    }
}

/// One that was beside the repository has no worktree around it: the command that makes it again is named.
#[test]
fn a_worktree_that_was_elsewhere_and_is_gone_is_told_with_the_command_that_makes_it_again() {
    let env = repository();
    let place = env.root().join("beside");
    env.git(&["worktree", "add", "-q", "-b", "agent-a1", place.to_str().unwrap()]);
    std::fs::write(place.join("sub.txt"), "hours of work\n").unwrap();
    env.ok(&["checkpoint", "create", "held"]);
    env.git(&["worktree", "remove", "--force", place.to_str().unwrap()]);
    let refused = env.axiom(&["restore", "held", "--yes", "--", "../beside/sub.txt"]);
    let refused = refused.fails_with(Code::WorkspaceBroken);
    assert!(refused.stderr.contains("git worktree add"), "{}", refused.stderr);
    env.git(&["worktree", "add", "-q", place.to_str().unwrap(), "agent-a1"]);
    env.ok(&["restore", "held", "--yes", "--", "../beside/sub.txt"]);
    assert_eq!(std::fs::read_to_string(place.join("sub.txt")).unwrap(), "hours of work\n");
}

/// What a subagent did in a worktree that was there at the prompt goes back with it, unless somebody else moved HEAD there.
#[test]
fn a_subagents_worktree_goes_back_with_the_prompt_that_it_worked_for() {
    let env = repository();
    let place = env.repo().join(".claude/worktrees/agent-a1");
    let session = CalledSession { env: &env, id: "s", folder: env.repo() };
    let agent = CalledSession { env: &env, id: "s", folder: place.clone() };
    let human = |command: &str| drop(env.run(shell(&env, &place, command), None).success());
    let saved = |number: usize, files: u64| {
        let elsewhere = || {
            let prompts = env.json(&["prompts"]);
            let one = prompts["prompts"].as_array().unwrap().iter().find(|one| one["number"] == number).cloned().unwrap();
            one["elsewhere"][0]["files"].as_u64()
        };
        wait_until("it is saved", || elsewhere() == Some(files));
    };
    session.prompt();
    session.shell("git worktree add -q -b agent-a1 .claude/worktrees/agent-a1; echo here > one.txt");
    agent.shell("echo 1 > sub.txt; git add -A; git commit -qm first");
    agent.hook("SubagentStop", json!({"agent_id": "a1"}));
    saved(1, 1);
    session.prompt();
    wait_until("the other worktree is looked at", || {
        env.json(&["checkpoint", "show", "prompt-0002"])["checkpoint"]["document"]["workspaces"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
    });
    let before = at(&env, &place);
    agent.shell("echo 2 > sub.txt; rm a.txt; git commit -qam second; echo 3 > sub.txt");
    agent.hook("SubagentStop", json!({"agent_id": "a1"}));
    let after = at(&env, &place);
    saved(2, 2);
    let told = env.axiom(&["rollback", "checkpoint", "--prompt", "2", "--dry-run"]).success().stdout;
    assert!(told.contains(".claude/worktrees/agent-a1/sub.txt") && told.contains(" second (agent-a1)"), "{told}");
    env.ok(&["rollback", "checkpoint", "--prompt", "2", "--yes"]);
    assert_eq!((at(&env, &place), std::fs::read_to_string(place.join("sub.txt")).unwrap().as_str()), (before, "1\n"));
    env.ok(&["undo", "--yes"]);
    assert_eq!((at(&env, &place), std::fs::read_to_string(place.join("sub.txt")).unwrap().as_str()), (after, "3\n"));
    let newer = env.axiom(&["rollback", "checkpoint", "--prompt", "1", "--dry-run"]).success();
    assert!(newer.stderr.contains("which is newer than that prompt, stays as it is"), "{}", newer.stderr);
    human("git commit -qam mine");
    let last = at(&env, &place);
    let told = env.axiom(&["rollback", "checkpoint", "--prompt", "2", "--yes"]).success();
    assert!(told.stderr.contains("stays, since not it alone moved its HEAD"), "{}", told.stderr);
    assert_eq!(at(&env, &place), last);
}

/// A prompt before which nothing could be saved is in the timeline as such, in its place, and its text is forgotten with the others.
#[test]
fn a_prompt_that_could_not_be_saved_is_in_the_list_as_such() {
    let env = repository();
    env.git(&["config", "axiom.attach.deadline", "1"]);
    let session = CalledSession { env: &env, id: "s", folder: env.repo() };
    session.prompt();
    let lock = StoreLayout::new(&env.repo().join(".git")).locks().change();
    let LockAttempt::Taken(held) = FileLock::try_take(&lock).unwrap() else { panic!("nobody else has it") };
    session.hook("UserPromptSubmit", json!({"prompt": "tidy up\nand more"}));
    drop(held);
    session.prompt();
    let told = env.json(&["prompts"]);
    assert_eq!(told["prompts"].as_array().unwrap().len(), 2);
    let not_saved = told["notSaved"].as_array().unwrap();
    assert_eq!((not_saved.len(), &not_saved[0]["text"], &not_saved[0]["session"]), (1, &json!("tidy up"), &json!("claude-s")));
    let words = env.ok(&["prompts"]);
    let lines: Vec<&str> = words.lines().collect();
    assert!(lines[1].starts_with("2 ") && lines[3].starts_with("1 "), "{words}");
    assert!(lines[2].starts_with("- ") && lines[2].contains("NOT SAVED") && lines[2].contains("tidy up ("), "{words}");
    assert_eq!(env.ok(&["prompts", "forget", "--all"]), "Forgot the text of 3 prompts.");
    assert_eq!(env.json(&["prompts"])["notSaved"][0]["text"], Value::Null);
}

/// aider tells of the ends of its answers only: each is the moment before the next prompt, and the first is that of the attaching.
#[test]
fn what_aiders_answers_changed_is_listed_and_goes_back() {
    let env = repository();
    env.ok(&["attach", "aider"]);
    env.ok(&["attach", "aider"]);
    for name in ["f1.txt", "f2.txt"] {
        env.write(name, "by aider\n");
        env.run(env.axiom_command(&env.repo(), ["hook", "aider"]), Some(b"")).success();
    }
    let prompts = env.json(&["prompts"]);
    let shown: Vec<_> =
        prompts["prompts"].as_array().unwrap().iter().map(|one| (one["number"].as_u64(), one["files"].as_u64())).collect();
    assert_eq!(shown, [(Some(3), Some(0)), (Some(2), Some(1)), (Some(1), Some(1))]);
    assert!(env.ok(&["prompts"]).contains("your next prompt begins here"));
    env.ok(&["rollback", "checkpoint", "--prompt", "2", "--yes"]);
    assert!(env.repo().join("f1.txt").exists() && !env.repo().join("f2.txt").exists());
    env.ok(&["rollback", "checkpoint", "--prompt", "1", "--yes"]);
    assert!(!env.repo().join("f1.txt").exists());
}

/// The net may be off for a moment, but never without a word: a prompt in a repository that git refuses, or whose worktree is said to be
/// elsewhere, is in the list as one that was not saved.
#[test]
fn a_prompt_in_a_repository_that_cannot_be_used_is_listed_as_not_saved() {
    let env = repository();
    env.git(&["worktree", "add", "-q", "--detach", "../linked"]);
    let config = env.read(".git/config");
    for folder in [env.repo(), env.root().join("linked")] {
        let session = CalledSession { env: &env, id: "s", folder: folder.clone() };
        session.prompt();
        for broken in
            ["[core]\n\tworktree = /nowhere\n", "[extensions]\n\tunknown = 1\n\trepositoryFormatVersion = 1\n", "[torn\n"]
        {
            env.write(".git/config", format!("{config}{broken}"));
            session.hook("UserPromptSubmit", json!({"prompt": "go"}));
            env.write(".git/config", &config);
        }
    }
    let listed = env.json(&["prompts"]);
    let not_saved = listed["notSaved"].as_array().unwrap();
    let of = |folder: &Path| not_saved.iter().filter(|one| one["worktree"] == folder.to_str().unwrap()).count();
    assert!(of(&env.repo()) >= 2 && of(&env.root().join("linked")) >= 1, "{listed}");
    assert!(env.ok(&["prompts"]).contains("NOT SAVED"));
}

/// Ignored files that the project names are in a new workspace, but none that the task's branch would commit, and nothing outside of it.
#[test]
fn ignored_files_that_the_project_names_are_in_a_new_workspace() {
    let env = repository();
    env.write(".gitignore", ".env\ndeps/\n");
    env.write(".worktreeinclude", ".env\ndeps/\nplain.txt\nlinked/\n");
    std::os::unix::fs::symlink("/", env.repo().join("elsewhere")).unwrap();
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "named"]);
    env.write(".env", "KEY=1\n");
    env.write("deps/a/b.txt", "b\n");
    env.write("deps/not.log", "l\n");
    env.write("plain.txt", "untracked, not ignored\n");
    env.ok(&["init"]);
    env.write(".worktrees/trash/agent-001-old/.env", "of a workspace that is gone\n");
    let look = "for f in .env deps/a/b.txt plain.txt; do test -e $f && echo $f; done > seen.txt; ls -d .worktrees >> seen.txt; \
         git status --porcelain >> seen.txt";
    env.ok(&["task", "add", "look", "--body", look]);
    env.ok(&["run", "--mode", "autopilot", "--until-idle"]);
    assert_eq!(env.git(&["show", "main:seen.txt"]), ".env\ndeps/a/b.txt\n?? seen.txt");
    assert_eq!(env.git(&["ls-tree", "--name-only", "main", "--", ".env", "deps"]), "", "nothing of it is committed");
}

/// Claude Code calls no hook when a human presses Esc: what there is then is saved within three seconds, and the turn counts as ended. The
/// process that looks for it ends with the turn.
#[test]
fn what_there_is_when_a_human_interrupts_is_saved_soon_and_nothing_watches_after_the_turn() {
    let env = repository();
    let transcript = env.root().join("conversation.jsonl");
    let session = CalledSession { env: &env, id: "s", folder: env.repo() };
    // In a new session the program makes the file only after this hook.
    let prompt = || drop(session.hook("UserPromptSubmit", json!({"prompt": "x", "transcript_path": transcript})));
    let watches = || {
        let folder = env.axiom_dir().join("attach/watches");
        let locks = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        locks.filter(|path| path.extension().is_some_and(|end| end == "turn")).any(|path| is_locked(&path).unwrap())
    };
    let turns = || env.checkpoints_by("turn");
    prompt();
    wait_until("the turn is watched", watches);
    env.write("half.txt", "what the agent had written\n");
    let line = json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]}});
    std::fs::write(&transcript, format!("{{}}\n{line}\n")).unwrap();
    wait_until("it is saved", || turns().len() == 1);
    let held = env.git(&["show", &format!("refs/axiom/captures/{}:half.txt", turns()[0])]);
    assert_eq!(held, "what the agent had written");
    wait_until("nothing watches", || !watches());
    let told = env.axiom(&["rollback", "checkpoint", "--prompt", "1", "--dry-run"]).success();
    assert!(!told.stderr.contains("has not ended"), "{}", told.stderr);
    prompt();
    wait_until("the next turn is watched", watches);
    session.hook("Stop", json!({}));
    wait_until("nothing watches after the turn", || !watches());
}

/// Two sessions of one worktree are told apart: in the timeline by the beginning of their ids, in a difference by a note.
#[test]
fn two_sessions_of_one_worktree_are_told_apart() {
    let env = repository();
    let [first, second] = ["aaaaaa-1", "bbbbbb-2"].map(|id| CalledSession { env: &env, id, folder: env.repo() });
    first.prompt();
    first.shell("echo 1 > one.txt");
    assert!(!env.ok(&["prompts"]).contains("claude aaaaaa"), "there is one");
    first.hook("Stop", json!({}));
    let saved = |name: &str| {
        let held = |capture: &str| env.try_git(&["ls-tree", "--name-only", capture]).stdout.contains(name);
        let captures = || env.git(&["for-each-ref", "--format=%(refname)", "refs/axiom/captures"]);
        wait_until("it is saved", || captures().lines().any(held));
    };
    saved("one.txt");
    second.prompt();
    second.shell("echo 2 > two.txt");
    second.hook("Stop", json!({}));
    saved("two.txt");
    let words = env.ok(&["prompts"]);
    assert!(words.contains("claude aaaaaa") && words.contains("claude bbbbbb"), "{words}");
    // The end of a turn is noted a moment after what it changed is saved.
    let says = || env.axiom(&["diff", "--prompt", "1", "--stat"]).success().stderr;
    wait_until("the difference names it", || says().contains("not this prompt alone changed: two.txt"));
    assert!(!env.axiom(&["diff", "--prompt", "2", "--stat"]).success().stderr.contains("not this prompt alone"));
}

/// As after a 'git switch' in a program that goes on in the folder that it had.
#[test]
fn what_is_done_in_a_folder_that_is_gone_is_saved_all_the_same() {
    let env = TestEnv::new();
    env.write("pkg/f", "1\n");
    env.write("precious.txt", "precious\n");
    env.ok(&["init"]);
    let payload = |event: &str, more: Value| {
        let mut payload = json!({"hook_event_name": event, "session_id": "s", "cwd": env.repo().join("pkg")});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        env.run(env.axiom_command(&env.repo(), ["hook", "claude"]), Some(payload.to_string().as_bytes())).success();
    };
    payload("UserPromptSubmit", json!({"prompt": "one"}));
    std::fs::remove_dir_all(env.repo().join("pkg")).unwrap();
    payload("UserPromptSubmit", json!({"prompt": "two"}));
    let prompts = env.json(&["prompts"]);
    assert_eq!(prompts["prompts"].as_array().unwrap().len(), 2, "{prompts}");
    env.git(&["cat-file", "-e", "refs/axiom/captures/prompt-0002:precious.txt"]);
}

/// git looks at no executable bit there; file systems of containers and of Windows have it all the same.
#[test]
fn an_executable_comes_back_as_one_where_git_does_not_look_at_that() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::new();
    env.git(&["config", "core.fileMode", "false"]);
    let file = env.repo().join("run.sh");
    let mode = || file.metadata().unwrap().permissions().mode() & 0o777;
    env.write("run.sh", "#!/bin/sh\n");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    env.ok(&["checkpoint", "create", "then"]);
    std::fs::remove_file(&file).unwrap();
    env.ok(&["rollback", "checkpoint", "then", "--yes"]);
    assert_eq!(mode(), 0o755);
    env.write("run.sh", "#!/bin/sh\ntrue\n");
    env.ok(&["rollback", "checkpoint", "then", "--yes"]);
    env.ok(&["undo", "--yes"]);
    assert_eq!((mode(), env.read("run.sh").as_str()), (0o755, "#!/bin/sh\ntrue\n"));
}
