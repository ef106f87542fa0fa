//! `git axiom acp`: what goes through it is what came, prompts and deletions are saved before, and whatever ends, the rest ends too.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::TestEnv;
use crate::session_support::wait_until;

/// An editor with an agent behind us.
pub struct AcpEditor {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    read: PathBuf,
}

impl AcpEditor {
    fn start(mut command: Command, read: PathBuf) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, to, from, read }
    }

    /// With the agent of the tests, and one session in the repository.
    fn begin(env: &TestEnv, how: &str, options: &[&str]) -> Self {
        Self::begin_dying(env, how, options, "")
    }

    /// The same, where processes of ours die at this point.
    fn begin_dying(env: &TestEnv, how: &str, options: &[&str], point: &str) -> Self {
        let read = env.root().join("read");
        let agent = format!("{}/tests/it/acp_agent.sh", env!("CARGO_MANIFEST_DIR"));
        let words = ["acp"].into_iter().chain(options.iter().copied());
        let words: Vec<String> = words.chain(["--", "sh", &agent, read.to_str().unwrap(), how]).map(str::to_owned).collect();
        let mut command = env.axiom_command(&env.repo(), words);
        command.env("AXIOM_TEST_FAULT", point);
        let mut editor = Self::start(command, read);
        editor.say(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#);
        assert!(editor.hear().contains("protocolVersion"));
        editor.say(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"session/new","params":{{"cwd":"{}","mcpServers":[]}}}}"#,
            env.repo().display()
        ));
        assert!(editor.hear().ends_with("\"sessionId\":\"s1\"}}\r\n"));
        editor
    }

    fn say(&mut self, line: &str) {
        let to = self.to.as_mut().unwrap();
        to.write_all(format!("{line}\n").as_bytes()).unwrap();
        to.flush().unwrap();
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line
    }

    fn prompt(&mut self, text: &str) {
        self.say(&format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{{"sessionId":"s1","prompt":[{{"type":"text","text":"{text}"}}]}}}}"#
        ));
    }

    fn allow(&mut self) {
        self.say(r#"{"jsonrpc":"2.0","id":"p","result":{"outcome":{"outcome":"selected","optionId":"allow"}}}"#);
        assert!(self.hear().contains("completed"));
        assert!(self.hear().contains("end_turn"));
    }

    /// Ends the editor's side, and returns the exit status and what was said on the side.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.to.take());
        let ended = self.child.wait_with_output().unwrap();
        (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
    }

    fn agent_read(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.read).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn prepared() -> TestEnv {
    let env = TestEnv::new();
    env.ok(&["init"]);
    env.write("a.txt", "mine, not committed\n");
    env
}

/// What comes out of us with `cat` as the agent.
pub fn through(env: &TestEnv, folder: &Path, bytes: &[u8]) -> Vec<u8> {
    said_by(env.axiom_command(folder, ["acp", "--", "cat"]), bytes)
}

/// What a program says that gets these bytes.
fn said_by(mut command: Command, bytes: &[u8]) -> Vec<u8> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut to, sent) = (child.stdin.take().unwrap(), bytes.to_vec());
    let writer = std::thread::spawn(move || to.write_all(&sent));
    let out = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert_eq!(out.status.code(), Some(0));
    out.stdout
}

#[test]
fn every_byte_goes_through_as_it_came() {
    let env = TestEnv::new();
    let long = format!("{{\"x\":\"{}\"}}", "y".repeat(20 * 1024 * 1024));
    let odd = b"no json\r\n\n{\"id\":1,\"method\":\"x\xff\"}\r\n{\"a\":1}\n[1,2]\n\0\n{\"half".to_vec();
    for bytes in [Vec::new(), odd, long.into_bytes()] {
        for folder in [env.repo(), env.root().to_owned()] {
            assert!(through(&env, &folder, &bytes) == bytes);
        }
    }
}

/// What passes between an editor that sends `asked` and an agent that says `said`, whatever it is asked: what each of them gets.
fn both_ways(env: &TestEnv, asked: &[u8], said: &[u8]) -> [Vec<u8>; 2] {
    let [to_say, got] = ["said", "got"].map(|name| env.root().join(name));
    std::fs::write(&to_say, said).unwrap();
    let script = "cat \"$0\" & cat > \"$1\"; wait";
    let words = ["acp", "--", "sh", "-c", script, to_say.to_str().unwrap(), got.to_str().unwrap()];
    [said_by(env.axiom_command(&env.repo(), words), asked), std::fs::read(got).unwrap()]
}

type ByteChange = fn(&[u8]) -> Vec<u8>;

/// Recorded between the four programs and a client that speaks raw lines (docs/ACP.md): neither side can tell that we are there.
#[test]
fn recordings_of_real_agents_go_through_both_ways_whatever_their_ends_of_lines() {
    let env = prepared();
    let folder = format!("{}/fixtures/acp-raw", env!("CARGO_MANIFEST_DIR"));
    let recorded = |name: &str, side: &str| {
        let text = std::fs::read_to_string(format!("{folder}/{name}.{side}")).unwrap();
        text.replace("\"/repo", &format!("\"{}", env.repo().display())).into_bytes()
    };
    let changed: [ByteChange; 4] = [
        |bytes| bytes.to_vec(),
        |bytes| bytes.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]),
        |bytes| bytes[..bytes.len() - 1].to_vec(),
        |bytes| bytes.iter().flat_map(|byte| if *byte == b'e' { vec![0xff, b'e'] } else { vec![*byte] }).collect(),
    ];
    for agent in
        ["claude-allow", "claude-cancel", "codex-allow", "gemini-allow", "gemini-cancel", "opencode-allow", "opencode-cancel"]
    {
        for change in changed {
            let (asked, said) = (change(&recorded(agent, "editor")), change(&recorded(agent, "agent")));
            assert!(both_ways(&env, &asked, &said) == [said, asked], "{agent}");
        }
    }
    assert!(!env.checkpoints_by("prompt").is_empty());
}

/// Each of its lines would wait for a checkpoint of its own.
#[test]
fn what_an_agent_has_said_that_has_ended_is_passed_on_at_once() {
    let env = prepared();
    let asks = |n: usize| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"session/request_permission\",\"params\":{{\"sessionId\":\"s\",\"toolCall\":{{\"toolCallId\":\"c{n}\",\"rawInput\":{{\"command\":\"rm -rf x{n}\"}}}}}}}}\n"
        )
    };
    let bytes: Vec<u8> = (0..200).map(asks).collect::<String>().into_bytes();
    assert!(through(&env, &env.repo(), &bytes) == bytes);
}

#[test]
fn a_prompt_is_saved_before_the_agent_reads_it_and_a_deletion_before_it_is_allowed() {
    let env = prepared();
    let mut editor = AcpEditor::begin(&env, "asks", &[]);
    editor.prompt("tidy up");
    let asked = editor.hear();
    assert!(asked.contains("request_permission"), "{asked}");
    assert_eq!(env.checkpoints_by("prompt").len(), 1);
    env.write("c.txt", "meanwhile\n");
    editor.allow();
    assert!(!env.repo().join("a.txt").exists());

    editor.prompt("again");
    editor.hear();
    assert_eq!(env.checkpoints_by("prompt").len(), 2, "{:?}", env.checkpoints());
    editor.allow();
    let prompts = env.json(&["prompts"]);
    assert_eq!(prompts["prompts"][1]["text"], "tidy up", "{prompts}");
    assert_eq!(prompts["prompts"][1]["program"], "acp");
    let session = env.json(&["sessions"])["sessions"][0].clone();
    assert_eq!(
        (&session["agent"], &session["prompts"], &session["alive"]),
        (&"acp_agent.sh".into(), &2.into(), &true.into()),
        "{session}"
    );
    assert!(session["unprotected"].is_null() && session["unasked"].is_null(), "{session}");

    env.ok(&["rollback", "checkpoint", "--prompt", "1", "--yes"]);
    assert_eq!(env.read("a.txt"), "mine, not committed\n");
    assert!(!env.repo().join("b.txt").exists());
    editor.prompt("and again");
    editor.hear();
    let read = editor.agent_read();
    let blocks = read.last().unwrap()["params"]["prompt"].as_array().unwrap().clone();
    assert_eq!(blocks[0]["text"], "and again");
    assert!(blocks[1]["text"].as_str().unwrap().starts_with("The human went back with git axiom"), "{blocks:?}");
    assert!(read[..read.len() - 1].iter().all(|line| !line.to_string().contains("went back")));
    editor.allow();
    env.ok(&["rollback", "checkpoint", "--prompt", "3", "--yes"]);
    env.ok(&["undo", "--yes"]);
    assert!(!env.repo().join("a.txt").exists() && env.repo().join("b.txt").exists());
    assert_eq!(editor.end(), (Some(0), String::new()));
    wait_until("the session has ended", || env.json(&["sessions"])["sessions"].as_array().unwrap().is_empty());
    env.ok(&["checkpoint", "verify"]);
}

#[test]
fn an_agent_is_told_nothing_where_that_is_not_wanted() {
    let env = prepared();
    let mut editor = AcpEditor::begin(&env, "asks", &["--tell=no"]);
    for text in ["one", "two"] {
        editor.prompt(text);
        editor.hear();
        editor.allow();
        env.ok(&["rollback", "checkpoint", "--prompt", "1", "--yes"]);
    }
    assert!(editor.agent_read().iter().all(|line| !line.to_string().contains("went back")));
}

#[test]
fn an_agent_that_asks_nobody_is_saved_as_it_begins_and_named() {
    let env = prepared();
    let mut editor = AcpEditor::begin(&env, "announces", &[]);
    editor.prompt("x");
    assert!(editor.hear().contains("tool_call"));
    env.write("c.txt", "since the prompt\n");
    assert!(editor.hear().contains("completed"));
    assert!(editor.hear().contains("end_turn"));
    wait_until("it is seen", || env.json(&["sessions"])["sessions"][0]["unasked"] == 1);
    let said = env.ok(&["sessions"]);
    assert!(said.contains("asked nobody before 1 risky command"), "{said}");
    drop(editor);
}

#[test]
fn what_could_not_be_saved_goes_on_and_is_said() {
    let env = prepared();
    env.git(&["config", "axiom.attach.deadline", "1"]);
    let mut editor = AcpEditor::begin(&env, "asks", &[]);
    wait_until("the session is known", || !env.json(&["sessions"])["sessions"].as_array().unwrap().is_empty());
    let lock = git_axiom::base::files::FileLock::try_take(&env.axiom_dir().join("locks/change")).unwrap();
    let begun = Instant::now();
    editor.prompt("x");
    assert!(editor.hear().contains("request_permission"));
    assert!(begun.elapsed() < Duration::from_secs(15));
    drop(lock);
    let said = env.ok(&["sessions"]);
    assert!(said.contains("UNPROTECTED"), "{said}");
}

#[test]
fn of_a_hasty_agent_it_is_said_what_was_not_noted_and_no_line_goes_on_unsaved() {
    let env = prepared();
    let mut editor = AcpEditor::begin(&env, "hurries", &[]);
    editor.prompt("x");
    while !editor.hear().is_empty() {}
    let (status, said) = editor.end();
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("something was not noted") && !said.contains("unsaved"), "{said}");
    assert_eq!(env.checkpoints_by("prompt").len(), 1);
}

#[test]
fn nothing_is_saved_twice_or_outside_of_a_repository() {
    let env = prepared();
    for variable in ["AXIOM_TOKEN", "AXIOM_ACP"] {
        let mut command = env.axiom_command(&env.repo(), ["acp", "--", "cat"]);
        command.env(variable, "x");
        let mut editor = AcpEditor::start(command, PathBuf::new());
        editor.prompt("x");
        assert!(editor.hear().contains("session/prompt"));
        assert_eq!(editor.end().0, Some(0));
    }
    assert!(env.checkpoints_by("prompt").is_empty());
    let mut editor = AcpEditor::start(env.axiom_command(env.root(), ["acp", "--", "cat"]), PathBuf::new());
    for _ in 0..2 {
        editor.prompt("x");
        assert!(editor.hear().contains("session/prompt"));
    }
    let (status, said) = editor.end();
    assert_eq!((status, said.matches("nothing is saved").count()), (Some(0), 1), "{said}");
}

/// The processes whose command line has this word.
fn with_word(word: &str) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let is_there = line.split(|byte| *byte == 0).any(|part| part == word.as_bytes());
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        is_there && !stat.contains(") Z ")
    })
    .collect()
}

/// The hooks that answer the wrappers of a repository.
fn hooks_in(folder: &Path) -> Vec<i32> {
    let is_there = |pid: &i32| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder);
    with_word("--each-line").into_iter().filter(is_there).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn one_hook_answers_all_calls_and_where_it_was_killed_another_one_does() {
    let env = prepared();
    let mut editor = AcpEditor::begin(&env, "asks", &[]);
    let mut turn = |text: &str| {
        editor.prompt(text);
        assert!(editor.hear().contains("request_permission"));
        hooks_in(&env.repo())
    };
    let first = turn("one");
    assert_eq!(first.len(), 1);
    assert_eq!(turn("two"), first);
    assert!(Command::new("kill").args(["-9", &first[0].to_string()]).status().unwrap().success());
    let stat = format!("/proc/{}/stat", first[0]);
    wait_until("it has ended", || std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z ")));
    let second = turn("three");
    assert!(second.len() == 1 && second != first, "{first:?} {second:?}");
    assert_eq!(env.checkpoints_by("prompt").len(), 3);
    let (status, said) = editor.end();
    assert!(status == Some(0) && !said.contains("saved"), "{status:?} {said}");
    assert!(hooks_in(&env.repo()).is_empty());
}

#[test]
fn a_hook_that_dies_in_the_middle_is_said_and_its_line_goes_on() {
    let env = prepared();
    let mut editor = AcpEditor::begin_dying(&env, "asks", &[], "checkpoint.created:1");
    editor.prompt("x");
    assert!(editor.hear().contains("request_permission"));
    let told = env.ok(&["prompts"]);
    assert!(told.contains("NOT SAVED"), "{told}");
    let (status, said) = editor.end();
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("nothing was saved") && said.contains("ended before it had answered"), "{said}");
}

/// An agent that does not want to end, with a process that has left its group.
fn stubborn(env: &TestEnv, word: &str) -> AcpEditor {
    let script = "trap '' TERM HUP; setsid sh -c 'sleep 1000; :' $0 & while :; do sleep 1; done";
    let words = ["acp", "--", "sh", "-c", script, word];
    AcpEditor::start(env.axiom_command(&env.repo(), words), PathBuf::new())
}

#[cfg(target_os = "linux")]
#[test]
fn whatever_ends_nothing_is_left() {
    let env = prepared();
    for (number, end) in ["editor", "killed", "asked"].into_iter().enumerate() {
        let word = format!("axiom-acp-test-{}-{number}", std::process::id());
        let mut editor = stubborn(&env, &word);
        wait_until("the agent runs", || with_word(&word).len() >= 3);
        let pid = editor.child.id().to_string();
        match end {
            "editor" => drop(editor.to.take()),
            "killed" => drop(Command::new("kill").args(["-9", &pid]).status().unwrap()),
            _ => drop(Command::new("kill").arg(&pid).status().unwrap()),
        }
        let begun = Instant::now();
        editor.child.wait().unwrap();
        wait_until(end, || with_word(&word).is_empty());
        assert!(begun.elapsed() < Duration::from_secs(20), "{end}");
    }
}

#[test]
fn the_agents_status_is_ours() {
    let env = prepared();
    let mut editor = AcpEditor::begin(&env, "dies", &[]);
    editor.prompt("x");
    assert_eq!(editor.hear(), "");
    assert_eq!(editor.end().0, Some(7));
    let status = |words: &[&str]| env.axiom(&[&["acp", "--"], words].concat()).code;
    assert_eq!(status(&["/nowhere/agent"]), Some(127));
    assert_eq!(status(&["/dev/null"]), Some(126));
    assert_eq!(status(&["sh", "-c", "kill -9 $$"]), Some(137));
}

#[test]
fn a_configuration_is_printed_for_each_client() {
    let env = TestEnv::new();
    for client in ["zed", "jetbrains", "acpx"] {
        let said = env.axiom(&["acp", "--print", client, "--", "gemini", "--acp"]).success().stdout;
        let config: Value = serde_json::from_str(&said).unwrap();
        assert!(config.to_string().contains("\"acp\",\"--\",\"gemini\",\"--acp\""), "{config}");
    }
    assert!(env.ok(&["acp", "--print", "codecompanion"]).contains("\"claude-agent-acp\""));
    assert!(env.ok(&["acp", "--print", "agent-shell"]).starts_with("(setq agent-shell-anthropic-claude-acp-command"));
}

#[test]
fn an_editor_gets_its_agents_and_has_its_file_back_to_the_byte() {
    let env = TestEnv::new();
    let home = env.root().join("home");
    let call = |words: &[&str]| {
        let mut command = env.axiom_command(&env.repo(), words);
        let path = std::env::var("PATH").unwrap();
        command.env("HOME", &home).env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
        command.env("PATH", format!("{}:{path}", env.root().join("bin").display()));
        env.run(command, None)
    };
    std::fs::create_dir_all(env.root().join("bin")).unwrap();
    std::fs::write(env.root().join("bin/codex-acp"), "").unwrap();
    let (zed, acpx) = (home.join(".config/zed/settings.json"), home.join(".acpx/config.json"));
    std::fs::create_dir_all(zed.parent().unwrap()).unwrap();
    let before = "{\n    \"theme\": \"mine\"\n}\n";
    std::fs::write(&zed, before).unwrap();
    call(&["attach", "zed", "acpx"]).success();
    let read = |path: &Path| -> Value { serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() };
    assert_eq!(read(&zed)["agent_servers"]["Codex, with git axiom"]["args"], serde_json::json!(["acp", "--", "codex-acp"]));
    assert_eq!(read(&acpx)["agents"]["codex"]["args"][2], "codex-acp");
    call(&["detach", "zed", "acpx"]).success();
    assert_eq!(std::fs::read_to_string(&zed).unwrap(), before);
    assert!(!home.join(".acpx").exists());
    assert_eq!(call(&["attach", "zed", "claude"]).code, Some(2));
    std::fs::write(&zed, "// mine\n{}\n").unwrap();
    call(&["attach", "zed"]).fails_with(git_axiom::base::error::Code::InvalidInput);
}

#[test]
fn a_hook_of_the_agents_own_program_saves_only_before_it_acts_and_in_the_same_session() {
    let env = prepared();
    let mut editor = AcpEditor::begin(&env, "asks", &[]);
    wait_until("the session is known", || !env.json(&["sessions"])["sessions"].as_array().unwrap().is_empty());
    let hook = |event: &str| {
        let mut command = env.axiom_command(&env.repo(), ["hook", "claude"]);
        command.env("AXIOM_ACP", "1");
        let input = serde_json::json!({"command": "rm -f a.txt"});
        let payload = serde_json::json!({"hook_event_name": event, "session_id": "s1", "cwd": env.repo(),
            "prompt": "x", "tool_name": "Bash", "tool_input": input});
        env.run(command, Some(payload.to_string().as_bytes())).success();
    };
    hook("UserPromptSubmit");
    assert!(env.checkpoints_by("prompt").is_empty(), "its editor's prompt is saved");
    env.write("c.txt", "new\n");
    hook("PreToolUse");
    assert_eq!(env.checkpoints_by("before-shell").len(), 1);
    let sessions = env.json(&["sessions"])["sessions"].clone();
    assert_eq!((sessions.as_array().unwrap().len(), &sessions[0]["program"]), (1, &"acp".into()), "{sessions}");
    editor.prompt("x");
    assert!(editor.hear().contains("request_permission"));
    // An agent that its editor started does not decide in the human's place.
    let mut undo = env.axiom_command(&env.repo(), ["undo", "--yes"]);
    undo.env("AXIOM_ACP", "1");
    env.run(undo, None).fails_with(git_axiom::base::error::Code::NotForAgents);
}
