//! What the hooks of agent programs lead to: payloads, written after the documented keys of each, go into the built program.

use std::io::Write;
use std::process::{Output, Stdio};

use git_axiom::model::checkpoint::trigger::CheckpointTrigger;

use crate::session_support::wait_until;
use crate::support::Scratch;

/// Calls a hook with a payload of the fixtures, in this repository.
fn hook(scratch: &Scratch, program: &str, payload: &str, more: &[(&str, &str)]) -> Output {
    let folder = scratch.path().display().to_string();
    let file = format!("{}/fixtures/attach/{program}/{payload}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).unwrap();
    let text = text.replace("\"/r/", &format!("\"{folder}/")).replace("\"/r\"", &format!("\"{folder}\""));
    call(scratch, program, text.as_bytes(), more)
}

fn call(scratch: &Scratch, program: &str, payload: &[u8], more: &[(&str, &str)]) -> Output {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    command.args(["hook", program]).envs(more.iter().copied());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload).unwrap();
    child.wait_with_output().unwrap()
}

fn quiet(output: &Output) {
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
}

fn checkpoints(scratch: &Scratch) -> Vec<String> {
    let list = scratch.json(&["checkpoint", "list"]);
    list["checkpoints"].as_array().unwrap().iter().map(|one| one["trigger"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_prompt_can_be_gone_back_to_and_the_agent_is_told() {
    let scratch = Scratch::new();
    quiet(&hook(&scratch, "claude", "UserPromptSubmit", &[]));
    assert!(checkpoints(&scratch).is_empty(), "nobody has prepared this repository");
    scratch.axiom(&["init"]);
    quiet(&hook(&scratch, "claude", "UserPromptSubmit", &[("AXIOM_TOKEN", "t")]));
    assert!(checkpoints(&scratch).is_empty(), "below a keeper");
    scratch.write("a.txt", "mine, not committed\n");
    quiet(&hook(&scratch, "claude", "UserPromptSubmit", &[]));
    assert_eq!(checkpoints(&scratch), ["prompt"]);
    quiet(&hook(&scratch, "claude", "PreToolUse-Bash", &[]));
    assert_eq!(checkpoints(&scratch), ["prompt"], "nothing had changed");
    scratch.write("a.txt", "the agent's\n");
    quiet(&hook(&scratch, "claude", "PreToolUse-Bash", &[]));
    assert_eq!(checkpoints(&scratch), ["prompt", "before-shell"]);
    scratch.write("b.txt", "the agent's\n");
    quiet(&hook(&scratch, "claude", "Stop", &[]));
    wait_until("the joiner saves the turn", || checkpoints(&scratch).ends_with(&["turn".to_owned()]));

    let prompts = scratch.json(&["prompts"]);
    assert_eq!(prompts["prompts"][0]["text"], "tidy up the parser");
    assert_eq!(prompts["prompts"][0]["files"], 2);
    let diff = scratch.json(&["diff", "--prompt", "1"]);
    let paths: Vec<&str> = diff["files"].as_array().unwrap().iter().filter_map(|file| file["path"].as_str()).collect();
    assert_eq!((paths, &diff["prompt"]), (vec!["a.txt", "b.txt"], &1.into()), "{diff}");
    assert!(scratch.axiom(&["diff", "--prompt", "1"]).contains("+the agent's"));
    assert_eq!(scratch.json(&["sessions"])["sessions"][0]["files"], 2);
    let everywhere = scratch.git(&["for-each-ref", "--format=%(contents)"]) + &scratch.axiom(&["events"]);
    assert!(!everywhere.contains("tidy"), "{everywhere}");
    assert_eq!(scratch.git(&["tag", "-l", "axiom/*"]), "");
    scratch.axiom(&["rollback", "checkpoint", "--prompt", "1", "--yes"]);
    assert_eq!(std::fs::read_to_string(scratch.path().join("a.txt")).unwrap(), "mine, not committed\n");
    assert!(!scratch.path().join("b.txt").exists());
    let told = hook(&scratch, "claude", "UserPromptSubmit", &[]);
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("out of date: a.txt; these files are no longer there: b.txt\""), "{told}");
    assert!(told.contains("additionalContext"), "{told}");
    // The first prompt ends where it was taken back.
    scratch.write("a.txt", "after the second prompt\n");
    let files = |number: &str| scratch.json(&["diff", "--prompt", number])["files"].as_array().unwrap().len();
    assert_eq!([files("1"), files("2")], [2, 1]);
    scratch.write("a.txt", "mine, not committed\n");
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(std::fs::read_to_string(scratch.path().join("a.txt")).unwrap(), "the agent's\n");
    scratch.axiom(&["checkpoint", "verify"]);
    scratch.axiom(&["prompts", "forget", "--all"]);
    assert!(scratch.json(&["prompts"])["prompts"][0]["text"].is_null());
}

/// What is told is what is on disk, whatever happened in between: after an undo the files are as the agent saw them last.
#[test]
fn an_agent_is_told_nothing_of_what_a_human_took_back_and_brought_back() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    quiet(&hook(&scratch, "claude", "UserPromptSubmit", &[]));
    scratch.write("a.txt", "the agent's\n");
    scratch.remove("sub/b.txt");
    scratch.write("staged.txt", "the agent's\n");
    let changed = || {
        let listed = scratch.json(&["prompts"])["prompts"][0]["files"].as_u64().unwrap();
        (listed, scratch.json(&["diff", "1"])["files"].as_array().unwrap().len())
    };
    scratch.axiom(&["rollback", "checkpoint", "--prompt", "1", "--yes"]);
    assert_eq!(changed(), (3, 3), "what was taken back");
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(changed(), (3, 3), "what is there again");
    quiet(&hook(&scratch, "claude", "UserPromptSubmit", &[]));
    // Of a step that stays, and one that went back and forth, only what differs is told; what was written since is nobody's old text.
    scratch.axiom(&["rollback", "checkpoint", "--prompt", "1", "--yes"]);
    scratch.write("staged.txt", "written since\n");
    let told = String::from_utf8(hook(&scratch, "claude", "UserPromptSubmit", &[]).stdout).unwrap();
    assert!(told.contains("out of date: a.txt, sub/b.txt\""), "{told}");
    quiet(&hook(&scratch, "claude", "UserPromptSubmit", &[]));
}

#[test]
fn no_payload_keeps_an_agent_from_its_work_but_a_verb_for_humans() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    for (program, payload) in [("claude", "{\"hook_ev"), ("claude", ""), ("codex", "[]"), ("nonsense", "{}"), ("gemini", "null")]
    {
        quiet(&call(&scratch, program, payload.as_bytes(), &[]));
    }
    let folder = scratch.path().display().to_string();
    let undo = format!(
        r#"{{"hook_event_name":"PreToolUse","tool_name":"Bash","session_id":"s","cwd":"{folder}","tool_input":{{"command":"git axiom undo --yes"}}}}"#
    );
    let asked = call(&scratch, "claude", undo.as_bytes(), &[]);
    assert!(asked.status.success() && String::from_utf8_lossy(&asked.stdout).contains("\"ask\""), "{asked:?}");
    let refused = call(&scratch, "codex", undo.as_bytes(), &[]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    scratch.axiom(&["checkpoint", "create", "x"]);
    let verbs: [&[&str]; 5] = [
        &["rollback", "checkpoint", "x", "--yes"],
        &["checkpoint", "delete", "x", "--yes"],
        &["checkpoint", "cleanup", "--yes"],
        &["trust", "--yes"],
        &["recover", "--yes"],
    ];
    for verb in verbs {
        let agrees = scratch.axiom_with(verb, &[("CLAUDECODE", "1")]);
        assert_eq!(agrees.status.code(), Some(3), "{verb:?} {agrees:?}");
    }
    // These words are for the command that is run.
    let runs = scratch.axiom_with(&["lock", "x", "--", "true", "--yes"], &[("CLAUDECODE", "1")]);
    assert!(runs.status.success(), "{runs:?}");
    scratch.axiom(&["rollback", "checkpoint", "x", "--yes"]);
}

/// An agent that a human runs decides nothing for them: not with its hooks, not without them. Where its program has asked, the verb is done
/// as long as that command runs.
#[test]
fn what_is_kept_for_humans_is_asked_for_and_then_done_once() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    scratch.axiom(&["task", "add", "T", "--id", "t"]);
    let folder = scratch.path().display().to_string();
    let shell = |event: &str, command: &str| {
        format!(
            r#"{{"hook_event_name":"{event}","tool_name":"Bash","session_id":"s","cwd":"{folder}","tool_input":{{"command":"{command}"}}}}"#
        )
    };
    let autopilot = |program: &str| {
        let variable = if program == "claude" { "CLAUDECODE" } else { "CODEX_THREAD_ID" };
        scratch.axiom_with(&["mode", "autopilot"], &[(variable, "1")]).status.code()
    };
    let mode = || scratch.axiom(&["mode"]).trim().to_owned();
    assert_eq!((autopilot("claude"), autopilot("codex"), mode().as_str()), (Some(3), Some(3), "semi-auto"), "nobody was asked");
    assert!(scratch.axiom_with(&["mode"], &[("CLAUDECODE", "1")]).status.success(), "it may look");
    let asked = call(&scratch, "claude", shell("PreToolUse", "git axiom mode autopilot").as_bytes(), &[]);
    assert!(String::from_utf8_lossy(&asked.stdout).contains("\"ask\""), "{asked:?}");
    let other = scratch.axiom_with(&["task", "edit", "t", "--verify", "true"], &[("CLAUDECODE", "1")]);
    assert_eq!(other.status.code(), Some(3), "it was asked for another verb: {other:?}");
    assert_eq!((autopilot("claude"), mode().as_str()), (Some(0), "autopilot"));
    quiet(&call(&scratch, "claude", shell("PostToolUse", "git axiom mode autopilot").as_bytes(), &[]));
    assert_eq!(autopilot("claude"), Some(3), "the command has ended");
    let refused = call(&scratch, "codex", shell("PreToolUse", "git axiom mode autopilot").as_bytes(), &[]);
    assert_eq!((refused.status.code(), autopilot("codex")), (Some(2), Some(3)), "nobody can be asked");
    // An alias of the repository, and what the human allows destroys nothing that was not saved.
    scratch.git(&["config", "alias.ax", "axiom"]);
    scratch.write("a.txt", "not saved yet\n");
    let asked = call(&scratch, "claude", shell("PreToolUse", "rm a.txt; git ax undo").as_bytes(), &[]);
    assert!(String::from_utf8_lossy(&asked.stdout).contains("git axiom undo"), "{asked:?}");
    assert_eq!(checkpoints(&scratch).last().map(String::as_str), Some("before-shell"));
    // Files that govern, by an edit tool.
    let edit = format!(
        r#"{{"hook_event_name":"PreToolUse","tool_name":"Edit","session_id":"s","cwd":"{folder}","tool_input":{{"file_path":"{folder}/.axiom/config.toml"}}}}"#
    );
    let asked = call(&scratch, "claude", edit.as_bytes(), &[]);
    assert!(String::from_utf8_lossy(&asked.stdout).contains("git axiom config edit"), "{asked:?}");
    let refused = call(&scratch, "codex", edit.as_bytes(), &[]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

#[test]
fn what_retention_takes_is_in_no_log_and_what_is_edited_elsewhere_is_shown() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    scratch.git(&["config", "axiom.attach.keepPrompts", "1"]);
    for round in 0..6 {
        scratch.write("a.txt", format!("{round}\n"));
        quiet(&hook(&scratch, "claude", "UserPromptSubmit", &[]));
    }
    scratch.write("a.txt", "the turn\n");
    quiet(&hook(&scratch, "claude", "Stop", &[]));
    let prompts = || checkpoints(&scratch).iter().filter(|trigger| *trigger == "prompt").count();
    // The newest three are kept anyway, and one of them is that of the turn.
    wait_until("older prompts are gone", || prompts() == 2);
    assert!(!scratch.axiom(&["log"]).contains("delete"), "{}", scratch.axiom(&["log"]));
    assert!(scratch.axiom(&["log", "--all"]).contains("delete 4 checkpoints"), "{}", scratch.axiom(&["log", "--all"]));

    let folder = scratch.path().display().to_string();
    for path in ["/elsewhere/x", "../beside", "a.txt"] {
        let write = format!(
            r#"{{"hook_event_name":"PreToolUse","tool_name":"Write","session_id":"s","cwd":"{folder}","tool_input":{{"file_path":"{path}"}}}}"#
        );
        quiet(&call(&scratch, "claude", write.as_bytes(), &[]));
    }
    let beside = scratch.path().with_file_name("beside").display().to_string();
    let status = scratch.json(&["status"]);
    let sessions = status["attached"]["sessions"].as_array().unwrap();
    let session = sessions.iter().find(|one| one["id"] == "claude-s").unwrap();
    assert_eq!(session["outside"], serde_json::json!(["/elsewhere/x", beside]));
    assert!(scratch.axiom(&["status"]).contains(&format!("outside of its worktree: {beside} and 1 more")));
}

#[test]
fn what_an_edit_is_about_to_replace_is_kept_first_and_nobody_waits_for_it() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    scratch.write(".gitignore", "secret\n");
    let older = scratch.path().with_file_name("older");
    std::fs::write(&older, "mine too\n").unwrap();
    quiet(&hook(&scratch, "claude", "UserPromptSubmit", &[]));
    let folder = scratch.path().display().to_string();
    let edit = |event: &str, path: &str| {
        let payload = format!(
            r#"{{"hook_event_name":"{event}","tool_name":"Write","session_id":"s","cwd":"{folder}","tool_input":{{"file_path":"{path}"}}}}"#
        );
        quiet(&call(&scratch, "claude", payload.as_bytes(), &[]));
    };
    scratch.write("a.txt", "mine, between the prompt and the edit\n");
    // It was changed before the prompt, and has come here since.
    std::fs::rename(&older, scratch.path().join("sub/new")).unwrap();
    scratch.write("secret", "of nobody's business\n");
    ["a.txt", "sub/new", "secret", "sub/b.txt", "missing", "../outside"].into_iter().for_each(|path| edit("PreToolUse", path));
    scratch.write("a.txt", "the agent's\n");
    scratch.write("sub/new", "the agent's\n");
    edit("PostToolUse", "a.txt");
    edit("PostToolUse", "sub/new");
    let of = |trigger: &str| scratch.checkpoints_by(trigger);
    let held = |name: &str, path: &str| scratch.try_git(&["show", &format!("refs/axiom/captures/{name}:{path}")]);
    let has = |name: &str, path: &str, text: &str| held(name, path).stdout == text.as_bytes();
    let ends =
        || of("edits").last().is_some_and(|name| has(name, "a.txt", "the agent's\n") && has(name, "sub/new", "the agent's\n"));
    wait_until("the edits are saved", ends);
    let first = &of("edits")[0];
    assert!(
        has(first, "a.txt", "mine, between the prompt and the edit\n") && has(first, "sub/new", "mine too\n"),
        "{:?}",
        of("edits")
    );
    assert!(!held(first, "secret").status.success(), "what is ignored is in no capture");
    let before = scratch.path().join(".git/axiom/attach/before");
    wait_until("the copies are gone", || std::fs::read_dir(&before).unwrap().count() == 0);
    scratch.axiom(&["rollback", "checkpoint", first, "--yes"]);
    assert_eq!(scratch.read("a.txt"), "mine, between the prompt and the edit\n");
    scratch.axiom(&["checkpoint", "verify"]);

    // After a commit there is nothing to build on: everything is looked at first.
    scratch.git(&["commit", "-qam", "theirs"]);
    scratch.write("sub/b.txt", "mine after the commit\n");
    edit("PreToolUse", "sub/b.txt");
    scratch.write("sub/b.txt", "the agent's\n");
    wait_until("kept after a commit", || of("edits").iter().any(|name| has(name, "sub/b.txt", "mine after the commit\n")));
    scratch.axiom(&["checkpoint", "verify"]);
}

#[test]
fn head_and_branch_go_back_with_a_prompt_while_only_its_session_has_committed() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    let folder = scratch.path().display().to_string();
    let shell = |event: &str| {
        let payload = format!(
            r#"{{"hook_event_name":"{event}","tool_name":"Bash","session_id":"s","cwd":"{folder}","tool_input":{{"command":"git commit"}}}}"#
        );
        quiet(&call(&scratch, "claude", payload.as_bytes(), &[]));
    };
    let prompt = || {
        let payload = format!(r#"{{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"{folder}","prompt":"x"}}"#);
        assert!(call(&scratch, "claude", payload.as_bytes(), &[]).status.success());
    };
    let commits = |text: &str| {
        scratch.write("a.txt", text);
        scratch.git(&["commit", "-qam", text.trim()]);
        scratch.head()
    };
    let agent_commits = |text: &str| {
        shell("PreToolUse");
        let head = commits(text);
        shell("PostToolUse");
        head
    };
    let said = |args: &[&str]| String::from_utf8(scratch.axiom_with(args, &[]).stderr).unwrap();
    let first = scratch.head();
    prompt();
    agent_commits("the agent's\n");
    let second = agent_commits("the agent's, again\n");
    let told = said(&["rollback", "checkpoint", "--prompt", "1", "--yes"]);
    assert!(told.contains("the branch goes back too") && told.contains("2 commits of this session"), "{told}");
    assert_eq!((scratch.head(), scratch.read("a.txt").as_str()), (first, "a\n"));
    assert_eq!(scratch.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!((scratch.head(), scratch.read("a.txt").as_str()), (second, "the agent's, again\n"));
    // Somebody else commits between two calls of the agent: nobody's branch is moved.
    prompt();
    agent_commits("the agent's third\n");
    let human = commits("mine\n");
    agent_commits("the agent's fourth\n");
    let last = scratch.head();
    let told = said(&["rollback", "checkpoint", "--prompt", "2", "--yes"]);
    assert!(told.contains("not provably by commits of its session alone") && told.contains("only files come back"), "{told}");
    assert_eq!((scratch.head(), scratch.read("a.txt").as_str()), (last, "the agent's, again\n"));
    scratch.git(&["merge-base", "--is-ancestor", human.as_str(), "HEAD"]);
    scratch.axiom(&["checkpoint", "verify"]);
}

/// What is committed while a command of the session runs is the session's only where the command says so itself, and nobody else can have
/// done it.
#[test]
fn only_commits_that_are_provably_of_the_session_go_back() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    scratch.git(&["config", "alias.ci", "commit -a"]);
    let folder = scratch.path().display().to_string();
    let hook = |session: &str, event: &str, more: &str| {
        let payload = format!(r#"{{"hook_event_name":"{event}","session_id":"{session}","cwd":"{folder}"{more}}}"#);
        assert!(call(&scratch, "claude", payload.as_bytes(), &[]).status.success());
    };
    let shell = |session: &str, event: &str, command: &str| {
        hook(session, event, &format!(r#","tool_name":"Bash","tool_input":{{"command":"{command}"}}"#));
    };
    let commit = |subject: &str| {
        scratch.write("a.txt", format!("{subject}\n"));
        scratch.git(&["commit", "-qam", subject]);
    };
    let mut prompts = 0;
    // The command of a session, the subject that is committed meanwhile, the session whose command runs beside it, and whether it goes back.
    for (command, subject, beside, goes) in [
        ("git ci -m own", "own", None, true),
        ("cd sub && git commit -qam 'own too'", "own too", None, true),
        ("npm test", "a human's", None, false),
        ("make release", "released", None, false),
        ("npm test && git commit -am 'not reached'", "a human's", None, false),
        ("git commit -am x", "x", Some(("git commit -am x", "other")), false),
        ("npm test", "the other's", Some(("git commit -am x", "other")), false),
    ] {
        prompts += 1;
        let before = scratch.head();
        hook("s", "UserPromptSubmit", r#","prompt":"x""#);
        shell("s", "PreToolUse", command);
        if let Some((command, session)) = beside {
            shell(session, "PreToolUse", command);
        }
        commit(subject);
        if let Some((command, session)) = beside {
            shell(session, "PostToolUse", command);
        }
        shell("s", "PostToolUse", command);
        let number = prompts.to_string();
        let told = scratch.axiom_with(&["rollback", "checkpoint", "--prompt", &number, "--dry-run"], &[]);
        let told = String::from_utf8(told.stderr).unwrap();
        assert_eq!(told.contains("the branch goes back too"), goes, "{command} {subject}: {told}");
        assert_eq!(told.contains("not provably"), !goes, "{command} {subject}: {told}");
        if goes {
            assert!(told.contains(&format!(" {subject}\n")), "each commit is listed: {told}");
            scratch.axiom(&["rollback", "checkpoint", "--prompt", &number, "--yes"]);
            assert_eq!(scratch.head(), before);
        }
    }
}

#[test]
fn a_rollback_to_a_prompt_names_what_the_human_changed_while_the_session_rested() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    let folder = scratch.path().display().to_string();
    let hook = |session: &str, event: &str, more: &str| {
        let payload = format!(r#"{{"hook_event_name":"{event}","session_id":"{session}","cwd":"{folder}"{more}}}"#);
        assert!(call(&scratch, "claude", payload.as_bytes(), &[]).status.success());
    };
    let made = |trigger: &str, many: usize| {
        wait_until(trigger, || checkpoints(&scratch).iter().filter(|made| *made == trigger).count() == many);
    };
    hook("s", "UserPromptSubmit", r#","prompt":"x""#);
    scratch.write("agents.txt", "the agent's\n");
    hook("s", "Stop", "");
    made("turn", 1);
    scratch.write("mine.txt", "mine\n");
    hook("s", "UserPromptSubmit", r#","prompt":"y""#);
    scratch.write("agents2.txt", "the agent's\n");
    hook("s", "Stop", "");
    made("turn", 2);
    scratch.write("a.txt", "mine too\n");
    let told =
        String::from_utf8(scratch.axiom_with(&["rollback", "checkpoint", "--prompt", "1", "--dry-run"], &[]).stderr).unwrap();
    assert!(told.contains("changed since by you or another session too: a.txt, mine.txt\n"), "{told}");
}

#[test]
fn lines_of_two_worktrees_that_wait_for_one_joiner_are_saved_for_each_session() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    let other = scratch.path().with_file_name("other");
    scratch.git(&["worktree", "add", "-q", "--detach", other.to_str().unwrap()]);
    let prompt = |folder: &std::path::Path, session: &str| {
        let folder = folder.display();
        let payload = format!(
            r#"{{"hook_event_name":"UserPromptSubmit","session_id":"{session}","cwd":"{folder}","prompt":"of {session}"}}"#
        );
        quiet(&call(&scratch, "claude", payload.as_bytes(), &[]));
    };
    prompt(&scratch.path(), "one");
    prompt(&other, "two");
    // What a prompt leaves to the background looks at the other worktree too: it would save what is edited meanwhile for one session.
    let spool = scratch.path().join(".git/axiom/attach/spool");
    wait_until("what the prompts left is done", || std::fs::read_dir(&spool).unwrap().next().is_none());
    let edited = |folder: &std::path::Path, session: &str| {
        std::fs::write(folder.join("a.txt"), format!("of {session}\n")).unwrap();
        let path = folder.join("a.txt").display().to_string();
        let folder = folder.display();
        let payload = format!(
            r#"{{"hook_event_name":"PostToolUse","tool_name":"Write","session_id":"{session}","cwd":"{folder}","tool_input":{{"file_path":"{path}"}}}}"#
        );
        quiet(&call(&scratch, "claude", payload.as_bytes(), &[]));
    };
    edited(&scratch.path(), "one");
    edited(&other, "two");
    let sessions = || {
        let store = scratch.store();
        let all = store.state().record.checkpoints.all().unwrap();
        let edits = all.iter().filter(|record| record.trigger == CheckpointTrigger::Edits);
        edits.filter_map(|record| Some(record.attached.as_ref()?.session.clone())).collect::<Vec<_>>()
    };
    wait_until("both are saved", || {
        sessions().iter().any(|one| one == "claude-one") && sessions().iter().any(|one| one == "claude-two")
    });
    scratch.axiom(&["checkpoint", "verify"]);
}

/// What a hook around an edit costs does not grow with the repository: it looks at the one file, and never into the index.
#[test]
fn a_hook_around_an_edit_reads_little_and_not_the_index() {
    let scratch = Scratch::new();
    for number in 0..2_000 {
        scratch.write(&format!("many/d{}/f{number}", number % 40), "x\n");
    }
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-qm", "many"]);
    scratch.axiom(&["init"]);
    quiet(&hook(&scratch, "claude", "UserPromptSubmit", &[]));
    let trace = scratch.path().with_file_name("trace");
    for event in ["PreToolUse", "PostToolUse"] {
        scratch.write("a.txt", format!("changed before {event}\n"));
        let payload = serde_json::json!({"hook_event_name": event, "tool_name": "Write", "session_id": "s", "cwd": scratch.path(),
            "tool_input": {"file_path": scratch.path().join("a.txt")}});
        let mut command = scratch.command("strace");
        // Not what it leaves to do in the background, which is a process of its own.
        command.arg("-o").arg(&trace).args([env!("CARGO_BIN_EXE_git-axiom"), "hook", "claude"]);
        let Ok(mut child) = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn() else {
            return crate::skipped::skipped("there is no strace");
        };
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        let calls = std::fs::read_to_string(&trace).unwrap();
        let is_read = |line: &&str| line.starts_with("read(") || line.starts_with("pread64(");
        let size = |line: &str| line.rsplit_once("= ").and_then(|(_, size)| size.trim().parse::<u64>().ok()).unwrap_or(0);
        let read: u64 = calls.lines().filter(is_read).map(size).sum();
        let index = calls.lines().find(|line| line.starts_with("open") && line.contains(".git/index\""));
        assert!(read < 64 * 1024 && index.is_none(), "{event}: {read} bytes, {index:?}");
        assert!(calls.lines().count() < 1_000, "{event}: {} calls", calls.lines().count());
    }
}
