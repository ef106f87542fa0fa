//! What is promised for attached sessions beside what the other files test: other worktrees, hooks of the project, everybody at once,
//! and what the configuration changes.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use git_axiom::base::error::Code;
use git_axiom::store::beside::attach::AttachFiles;
use git_axiom::store::layout::StoreLayout;
use serde_json::{Value, json};

use crate::common::{Run, TestEnv};
use crate::session_support::{World, wait_until};

/// Calls a hook of a program in a folder.
fn hook(env: &TestEnv, program: &str, folder: &Path, event: &str, more: Value) -> Run {
    let mut payload = json!({"hook_event_name": event, "session_id": "s", "cwd": folder});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    env.run(env.axiom_command(folder, ["hook", program]), Some(payload.to_string().as_bytes())).success()
}

fn prompt(env: &TestEnv, session: &str, folder: &Path) -> Run {
    hook(env, "claude", folder, "UserPromptSubmit", json!({"prompt": format!("of {session}"), "session_id": session}))
}

fn risky(env: &TestEnv, program: &str) -> Run {
    hook(env, program, &env.repo(), "PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf x"}}))
}

fn made(env: &TestEnv, trigger: &str) -> usize {
    let list = env.json(&["checkpoint", "list"]);
    list["checkpoints"].as_array().unwrap().iter().filter(|one| one["trigger"] == trigger).count()
}

fn linked(env: &TestEnv, name: &str) -> std::path::PathBuf {
    let place = env.root().join(name);
    env.git(&["worktree", "add", "-q", "--detach", place.to_str().unwrap()]);
    place
}

/// Somebody, or an agent, deleted our folder: what cannot be saved is said, and asked about.
#[test]
fn without_our_folder_the_net_is_not_silently_off() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    prompt(&env, "s", &env.repo());
    // The joiner that the prompt started writes there, too.
    crate::attach_session::settle(&env.repo().join(".git"));
    std::fs::remove_dir_all(env.axiom_dir()).unwrap();
    assert!(!prompt(&env, "s", &env.repo()).stdout.contains("ask"));
    let asked = risky(&env, "claude");
    assert!(asked.stdout.contains("\"ask\"") && asked.stdout.contains("could not save"), "{asked}");
    let status = env.axiom(&["attach", "--status"]);
    assert!(status.code != Some(0) && status.stderr.contains("git axiom recover"), "{status}");
    env.ok(&["recover", "--from", "checkpoint", "--yes"]);
    prompt(&env, "s", &env.repo());
    assert!(!risky(&env, "claude").stdout.contains("\"ask\""));
    // Where there was never any checkpoint, nothing is said.
    let other = TestEnv::new();
    assert_eq!(risky(&other, "claude").stdout, "");
}

/// A prompt holds every worktree as it is, whoever changed it and however: what git's index does not know of, too.
#[test]
fn what_nobody_told_of_in_other_worktrees_is_held_right_after_a_prompt_and_all_of_them_come_back() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    let other = linked(&env, "other");
    prompt(&env, "s", &env.repo());
    // The same size, and no time of the index or of a folder changes.
    let (text, changed) = ("a project\n", "A PROJECT\n");
    assert_eq!(std::fs::read_to_string(other.join("README")).unwrap(), text);
    std::fs::write(other.join("README"), changed).unwrap();
    std::fs::write(other.join("untracked"), "by somebody\n").unwrap();
    prompt(&env, "s", &env.repo());
    let held = || {
        let refs = env.git(&["for-each-ref", "--format=%(refname:lstrip=3)", "refs/axiom/captures/edits-*"]);
        let holds =
            |name: &&str| env.git(&["rev-list", "--objects", &format!("refs/axiom/captures/{name}")]).contains(" untracked");
        refs.lines().find(holds).map(str::to_owned)
    };
    wait_until("the others are looked at in the background", || held().is_some());
    let after = held().unwrap();
    // The agent breaks both, without a command that looks risky.
    for folder in [&env.repo(), &other] {
        std::fs::write(folder.join("README"), "broken\n").unwrap();
    }
    std::fs::remove_file(other.join("untracked")).unwrap();
    let read = |folder: &Path| std::fs::read_to_string(folder.join("README")).unwrap();
    env.ok(&["rollback", "checkpoint", "--prompt", "2", "--yes"]);
    assert_eq!((read(&env.repo()).as_str(), read(&other).as_str()), (text, "broken\n"), "the session's worktree alone");
    env.ok(&["rollback", "checkpoint", "--prompt", "2", "--all-worktrees", "--yes"]);
    assert_eq!((read(&env.repo()).as_str(), read(&other).as_str()), (text, text), "as of its newest capture then");
    env.ok(&["rollback", "checkpoint", &after, "--all-worktrees", "--yes"]);
    assert_eq!((read(&env.repo()).as_str(), read(&other).as_str()), (text, changed));
    assert_eq!(std::fs::read_to_string(other.join("untracked")).unwrap(), "by somebody\n");
    env.ok(&["undo", "--yes"]);
    assert_eq!(read(&other), text);
    env.ok(&["undo", "--yes"]);
    assert_eq!(read(&other), "broken\n");
    env.ok(&["checkpoint", "verify"]);
}

/// Hooks of the project are told of what was made while the program waited, by the joiner: nobody waits for them.
#[test]
fn hooks_hear_of_a_prompt_and_no_agent_waits_for_them() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    let beside = env.root().display();
    let script = format!(
        "#!/bin/sh\nwhile [ ! -f '{beside}/go' ]; do sleep 0.02; done\necho \"$AXIOM_TRIGGER $AXIOM_CHECKPOINT\" >> '{beside}/heard'\n"
    );
    let path = ".axiom/hooks/post-checkpoint.sh";
    env.write(path, script);
    std::fs::set_permissions(env.repo().join(path), std::fs::Permissions::from_mode(0o755)).unwrap();
    env.ok(&["trust", "--yes"]);
    prompt(&env, "s", &env.repo());
    assert!(!env.root().join("heard").exists(), "the prompt has ended, and the hook has not");
    std::fs::write(env.root().join("go"), "").unwrap();
    let heard = || std::fs::read_to_string(env.root().join("heard")).unwrap_or_default();
    wait_until("the hook hears of it", || heard().contains("prompt prompt-0001"));
}

#[test]
fn no_first_line_is_kept_where_none_is_wanted() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    env.git(&["config", "axiom.attach.promptText", "none"]);
    prompt(&env, "s", &env.repo());
    assert!(env.json(&["prompts"])["prompts"][0]["text"].is_null());
    env.git(&["config", "axiom.attach.promptText", "local"]);
    prompt(&env, "s", &env.repo());
    assert_eq!(env.json(&["prompts"])["prompts"][0]["text"], "of s");
    let attach = env.axiom_dir().join("attach");
    let has_it = |path: &Path| std::fs::read_to_string(path).is_ok_and(|text| text.contains("of s"));
    let mut files = Vec::new();
    let mut open = vec![attach];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() { open.push(entry) } else { files.push(entry) }
        }
    }
    let with_text: Vec<_> = files.iter().filter(|path| has_it(path)).collect();
    assert_eq!(with_text.len(), 1, "{with_text:?}");
    assert_eq!(with_text[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    env.ok(&["prompts", "forget", "--all"]);
    assert!(!files.iter().any(|path| has_it(path)), "it is really gone");
}

/// Where what a command may destroy cannot be saved, the human is asked where the program can ask, if that is wanted.
#[test]
fn a_risky_command_that_nothing_was_saved_before_is_asked_about_or_told() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    // At this file git would wait for ever, so nothing is saved.
    let fifo = env.repo().join(".git/info/attributes");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let unprotected =
        || env.json(&["sessions"])["sessions"].as_array().unwrap().iter().filter(|one| !one["unprotected"].is_null()).count();
    let asked = risky(&env, "claude");
    assert!(asked.stdout.contains("\"permissionDecision\":\"ask\"") && asked.stdout.contains("could not save"), "{asked}");
    assert_eq!(risky(&env, "codex").stdout, "", "Codex cannot ask: it goes on");
    assert_eq!(unprotected(), 2);
    env.git(&["config", "axiom.attach.onFailure", "continue"]);
    assert_eq!(risky(&env, "claude").stdout, "");
    assert!(env.ok(&["status"]).contains("UNPROTECTED"));
    std::fs::remove_file(fifo).unwrap();
    assert_eq!(risky(&env, "claude").stdout, "");
    assert_eq!(unprotected(), 1, "only the other one");
}

#[test]
fn a_session_ends_with_its_process() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    // A program that is no shell by its name: those are passed.
    let agent = env.root().join("agent");
    // Not copied by this process: what it has open for writing, its children may have open when it is started.
    assert!(std::process::Command::new("cp").arg("-L").arg("/bin/sh").arg(&agent).status().unwrap().success());
    let payload = env.root().join("payload");
    let text = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": env.repo(), "prompt": "x"});
    std::fs::write(&payload, text.to_string()).unwrap();
    let mut command = env.axiom_command(&env.repo(), ["hook"]);
    let program = command.get_program().to_owned();
    let mut started = std::process::Command::new(&agent);
    started.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(env.repo());
    started.args(["-c", "\"$1\" hook claude < \"$2\"; read x", "agent"]).arg(program).arg(&payload);
    command.stdin(Stdio::null());
    let mut child = started.stdin(Stdio::piped()).spawn().unwrap();
    let alive =
        || env.json(&["sessions", "--all"])["sessions"].as_array().unwrap().iter().filter(|one| one["alive"] == true).count();
    wait_until("it is there", || alive() == 1);
    assert_eq!(env.json(&["sessions"])["sessions"].as_array().unwrap().len(), 1);
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(alive(), 0);
    assert_eq!(env.json(&["sessions"])["sessions"].as_array().unwrap().len(), 0);
    assert_eq!(env.json(&["sessions", "--all"])["sessions"].as_array().unwrap().len(), 1);
}

/// Two agents of a human's, each in a worktree, the human, and a supervisor with an agent of its own.
#[test]
fn everybody_at_once_in_one_repository() {
    let world = World::new();
    let env = &world.env;
    world.waiting_task("t");
    let live = world.start_until_begun();
    let other = linked(env, "other");
    let rounds = 6;
    let agent = |session: &'static str, folder: &Path| {
        for round in 0..rounds {
            let said = prompt(env, session, folder);
            assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", ""), "{session}, {round}");
            let file = folder.join(format!("{session}.txt"));
            std::fs::write(&file, format!("{round}\n")).unwrap();
            let more = json!({"session_id": session, "tool_name": "Write", "tool_input": {"file_path": file}});
            hook(env, "claude", folder, "PostToolUse", more);
            hook(env, "claude", folder, "Stop", json!({"session_id": session}));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| agent("one", &env.repo()));
        scope.spawn(|| agent("two", &other));
        scope.spawn(|| {
            for round in 0..rounds {
                env.write("human.txt", format!("{round}\n"));
                env.ok(&["checkpoint", "create", &format!("human-{round}")]);
                env.git(&["commit", "-q", "--allow-empty", "-m", "mine"]);
            }
        });
    });
    assert_eq!((made(env, "prompt"), made(env, "manual")), (2 * rounds, rounds));
    let unprotected = |one: &Value| !one["unprotected"].is_null();
    assert!(!env.json(&["sessions"])["sessions"].as_array().unwrap().iter().any(unprotected));
    world.signal_file("go");
    world.wait_until_merged("t");
    live.wait().code(0);
    let files = AttachFiles::of(&StoreLayout::new(&env.repo().join(".git")));
    wait_until("everything that was handed over is saved", || files.lines().is_empty());
    assert!(made(env, "turn") > 0);
    env.ok(&["checkpoint", "verify"]);
    crate::attach_session::settle(&env.repo().join(".git"));
    env.fsck();
    env.ok(&["rollback", "checkpoint", "--prompt", "1", "--all-worktrees", "--dry-run"]);
}

/// aider sends nothing: the folder in which its command runs says which repository it is. Cursor names the folders that are open.
#[test]
fn programs_that_name_no_folder_of_their_own_are_understood() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    env.write("README", "by aider\n");
    let said = env.run(env.axiom_command(&env.repo(), ["hook", "aider"]), Some(b"")).success();
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", ""));
    assert_eq!(made(&env, "prompt"), 1, "its next prompt begins there");
    let payload = json!({
        "hook_event_name": "beforeSubmitPrompt", "conversation_id": "c", "cursor_version": "1", "workspace_roots": [env.repo()],
        "prompt": "x",
    });
    env.run(env.axiom_command(env.root(), ["hook", "cursor"]), Some(payload.to_string().as_bytes())).success();
    assert_eq!(made(&env, "prompt"), 2);
}

/// What agents and humans say to each other is nobody's business: it is in no trace, and in no file but the one for it.
#[test]
fn payloads_are_not_logged() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    let payload =
        json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": env.repo(), "prompt": "a\nword-of-mine"});
    let mut command = env.axiom_command(&env.repo(), ["hook", "claude"]);
    // Traces are asked for, of the joiner too.
    let trace = env.repo().join(".git/trace");
    command.env("AXIOM_LOG", format!("trace>{}", trace.display()));
    let said = env.run(command, Some(payload.to_string().as_bytes())).success();
    assert!(!format!("{}{}", said.stdout, said.stderr).contains("word-of-mine"), "{said}");
    let files = AttachFiles::of(&StoreLayout::new(&env.repo().join(".git")));
    wait_until("the joiner has ended", || files.lines().is_empty());
    let mut open = vec![env.repo().join(".git")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                open.push(entry);
                continue;
            }
            let bytes = std::fs::read(&entry).unwrap_or_default();
            assert!(!String::from_utf8_lossy(&bytes).contains("word-of-mine"), "{}", entry.display());
        }
    }
}

/// `rollback session` goes back to the beginning of a supervised session; one that is attached is none.
#[test]
fn an_attached_session_is_none_to_roll_back() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    hook(&env, "claude", &env.repo(), "SessionStart", json!({"source": "startup"}));
    wait_until("its start is saved", || made(&env, "attached-start") == 1);
    prompt(&env, "s", &env.repo());
    env.axiom(&["rollback", "session", "--yes"]).fails_with(Code::UnknownCheckpoint);
}

/// One file of a prompt's moment comes back, and nothing else.
#[test]
fn single_files_come_back_from_a_prompt() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    env.write("other.txt", "before\n");
    prompt(&env, "s", &env.repo());
    for path in ["README", "other.txt"] {
        env.write(path, "the agent's\n");
    }
    env.ok(&["rollback", "checkpoint", "--prompt", "1", "--yes", "--", "README"]);
    assert_eq!((env.read("README").as_str(), env.read("other.txt").as_str()), ("a project\n", "the agent's\n"));
    env.ok(&["undo", "--yes"]);
    assert_eq!(env.read("README"), "the agent's\n");
}

/// Present is not protected: of each event it is told when it really came last.
#[test]
fn an_event_that_came_is_told_from_one_that_never_did() {
    let env = TestEnv::new();
    env.ok(&["attach", "claude"]);
    let never = |event: &str| {
        let status = env.json(&["attach", "--status", "claude"]);
        let events = status["events"].as_array().unwrap();
        events.iter().find(|one| one["event"] == event).unwrap()["fired"].is_null()
    };
    assert!(never("UserPromptSubmit") && never("Stop"));
    prompt(&env, "s", &env.repo());
    assert!(!never("UserPromptSubmit") && never("Stop"));
    let told = env.ok(&["attach", "--status", "claude"]);
    let line = |event: &str| told.lines().find(|line| line.contains(event)).unwrap().to_owned();
    assert!(line("Stop  ").contains("not yet") && !line("UserPromptSubmit").contains("not yet"), "{told}");
}

/// Hooks name a program that was removed, or stood in another folder: they do nothing, so that worktree is not protected.
#[test]
fn hooks_that_name_a_program_that_is_gone_protect_nothing() {
    let env = TestEnv::new();
    env.ok(&["attach", "claude"]);
    prompt(&env, "s", &env.repo());
    assert!(env.ok(&["attach", "--status"]).starts_with("This worktree is protected with claude"));
    let file = env.repo().join(".claude/settings.local.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let named = text.split('"').find(|word| word.ends_with("git-axiom")).unwrap();
    std::fs::write(&file, text.replace(named, "/gone/0.0.9/bin/git-axiom")).unwrap();
    let told = env.ok(&["attach", "--status"]);
    assert!(told.starts_with("This worktree is NOT protected with claude: the command that its hooks call is gone"), "{told}");
    assert!(told.contains("cannot be called") && told.contains("git axiom attach claude"), "{told}");
    env.ok(&["attach", "claude"]);
    assert!(env.ok(&["attach", "--status"]).starts_with("This worktree is protected with claude"));
}

/// Worktrees of the user's own go back with what was checked out there, whether the branch moved, was left or was deleted; and they are told as
/// what they are, once.
#[test]
fn own_worktrees_go_back_with_their_branches() {
    for more in [&[][..], &["--refs"]] {
        let env = TestEnv::new();
        env.ok(&["init"]);
        let [moved, left, deleted] = ["moved", "left", "deleted"].map(|name| {
            let place = env.root().join(name);
            env.git(&["worktree", "add", "-q", "-b", name, place.to_str().unwrap()]);
            place
        });
        let first = env.git(&["rev-parse", "HEAD"]);
        prompt(&env, "s", &env.repo());
        std::fs::write(moved.join("README"), "committed\n").unwrap();
        env.git_in(&moved, &["commit", "-qam", "on it"]);
        std::fs::write(moved.join("README"), "and more\n").unwrap();
        env.git_in(&left, &["switch", "-q", "-c", "another"]);
        env.git_in(&deleted, &["switch", "-q", "--detach"]);
        env.git(&["branch", "-q", "-D", "deleted"]);
        let state = || {
            let of = |place: &Path| {
                let head = env.git_in(place, &["log", "-1", "--format=%H %D"]);
                format!(
                    "{head} {} {}",
                    env.git_in(place, &["status", "--porcelain"]),
                    std::fs::read_to_string(place.join("README")).unwrap()
                )
            };
            let all = [&env.repo(), &moved, &left, &deleted].map(|place| of(place));
            (all, env.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads"]))
        };
        let before = state();
        let plan = [&["rollback", "checkpoint", "prompt-0001", "--all-worktrees", "--dry-run"], more].concat();
        let shown = env.ok(&plan);
        assert!(!shown.contains("is not moved back") && !shown.contains("left alone"), "{shown}");
        // From one of them, too: nobody asks which is meant.
        let go = [&["rollback", "checkpoint", "--prompt", "1", "--all-worktrees", "--yes"], more].concat();
        env.axiom_in(&left, &go).success();
        for (place, branch) in [(&moved, "moved"), (&left, "left"), (&deleted, "deleted")] {
            assert_eq!(env.git_in(place, &["symbolic-ref", "--short", "HEAD"]), branch);
            assert_eq!(env.git_in(place, &["rev-parse", "HEAD"]), first);
            assert_eq!(env.git_in(place, &["status", "--porcelain"]), "");
        }
        env.ok(&["undo", "--yes"]);
        assert_eq!(state(), before);
        crate::attach_session::settle(&env.repo().join(".git"));
        env.fsck();
    }
}

#[test]
fn a_hook_ends_with_0_whatever_its_arguments_are() {
    let env = TestEnv::new();
    for args in
        [&["hook"][..], &["hook", "nonsense"], &["hook", "--later"], &["hook", "claude", "--later"], &["hook", "a", "b", "c"]]
    {
        let run = env.run(env.axiom_command(&env.repo(), args), Some(b"{}"));
        assert_eq!(run.code, Some(0), "{args:?}: {run}");
    }
    assert!(env.ok(&["hook", "-h"]).contains("Usage"));
}
