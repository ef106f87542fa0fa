//! `git axiom agents check`: scripts in the place of agent programs, and what is said to be missing.
#![allow(clippy::disallowed_methods)]

use std::path::PathBuf;

use git_axiom::base::error::Code;
use serde_json::{Value, json};

use crate::common::{Run, TestEnv};
use crate::session_support::{several_at_a_time, wait_until};

/// What a program does for which all is well.
const WELL: &str = "echo ok > answer.txt; sh check.sh && git axiom signal complete";

fn recording(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/streams").join(name).display().to_string()
}

/// A repository in which the program of this preset is a script, with a temporary folder of its own.
struct Checked {
    env: TestEnv,
    temp: PathBuf,
    preset: &'static str,
}

impl Checked {
    fn of(preset: &'static str, script: &str) -> Self {
        let env = TestEnv::new();
        let (temp, place) = (env.root().join("temporary"), env.root().join("program"));
        std::fs::create_dir(&temp).unwrap();
        std::fs::write(&place, format!("#!/bin/sh\ncat > /dev/null\n{script}\n")).unwrap();
        std::fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        env.git(&["config", &format!("axiom.agents.{preset}.command"), &place.display().to_string()]);
        Self { env, temp, preset }
    }

    fn command(&self, args: &[&str]) -> std::process::Command {
        let all = [args, &["agents", "check", self.preset]].concat();
        let mut command = self.env.axiom_command(&self.env.repo(), all);
        command.env("TMPDIR", &self.temp);
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        self.env.run(self.command(args), None)
    }

    /// The findings, by their names.
    fn findings(&self) -> (Vec<String>, Value) {
        let run = self.run(&["--json"]);
        let document = run.json();
        let all = document["findings"].as_array().unwrap_or_else(|| panic!("{run}")).clone();
        assert_eq!(run.code, Some(i32::from(!all.is_empty())), "{run}");
        assert_eq!(document["ok"], json!(all.is_empty()));
        if !all.is_empty() {
            assert_eq!(document["error"]["code"], "AGENT_FAILED", "{run}");
        }
        (all.iter().map(|one| one["finding"].as_str().unwrap().to_owned()).collect(), document)
    }

    fn leaves_nothing(&self) {
        let left = || std::fs::read_dir(&self.temp).unwrap().flatten().map(|entry| entry.path()).collect::<Vec<_>>();
        assert_eq!(left(), [] as [PathBuf; 0], "{}", self.preset);
        assert_eq!(self.env.git(&["for-each-ref", "refs/axiom"]), "", "the user's own repository is as it was");
        assert!(!self.env.repo().join(".worktrees").exists() && !self.env.repo().join("answer.txt").exists());
    }
}

#[test]
fn a_program_that_works_is_ready_and_nothing_is_left() {
    let stream = format!("{WELL} && cat '{}'", recording("claude.jsonl"));
    // It tries again by itself, and that is waited for.
    let retries = format!("echo 'litellm.RateLimitError: 429'; sleep 1; {WELL}; echo 'Tokens: 9 sent, 9 received.'");
    let tag = r#"echo ok > answer.txt; echo written; echo; echo "<axiom $AXIOM_TOKEN>COMPLETE</axiom>"; echo 'Tokens: 1.0k sent, 50 received.'"#;
    let all = vec![("codex", WELL), ("claude", stream.as_str()), ("aider", retries.as_str()), ("aider", tag)];
    several_at_a_time(all, |(preset, script)| {
        let checked = Checked::of(preset, script);
        let (findings, document) = checked.findings();
        assert_eq!(findings, [] as [&str; 0], "{document}");
        if preset == "claude" {
            assert_eq!((&document["tokens"], &document["costUsd"]), (&json!(3450), &json!(0.0162)));
        }
        let run = checked.run(&[]).success();
        assert!(run.stdout.contains(&format!("{preset} is ready")) && run.stderr.contains("at most 3 minutes"), "{run}");
        checked.leaves_nothing();
    });
}

#[test]
fn what_is_missing_is_named() {
    let play = |name: &str, exit: u8| format!("cat '{}'; exit {exit}", recording(name));
    let retry = r#"echo '{"type":"system","subtype":"api_retry","retry_delay_ms":600000,"error_status":401,"error":"authentication_failed"}'; sleep 2000"#;
    let table: Vec<(&'static str, String, &[&str], &str)> = vec![
        ("claude", play("claude-error.jsonl", 1), &["notSignedIn"], "401 scripted error"),
        ("claude", retry.into(), &["notSignedIn"], "authentication_failed"),
        ("pi", format!("cat '{}' >&2; exit 1", recording("pi-sign-in.stderr")), &["notSignedIn"], "No API key found"),
        ("claude", format!("{WELL}; {}", play("claude-denied.jsonl", 0)), &["toolDenied"], "requires approval"),
        ("opencode", play("opencode-denied.jsonl", 0), &["toolDenied"], "rejected permission"),
        ("codex", play("codex-limited.jsonl", 1), &["modelBusy"], "429 Too Many Requests"),
        ("claude", format!("echo ok > answer.txt; {}", play("claude.jsonl", 0)), &["noSignal"], "no report came"),
        ("claude", play("claude.jsonl", 0), &["noSignal", "nothingWritten"], "did not write answer.txt"),
        ("gemini", "echo 'This folder is not trusted: trust the FOLDER first' >&2; exit 55".into(), &["folderNotTrusted"], "55"),
        ("gemini", "echo odd >&2; exit 3".into(), &["failed"], "status 3; it said: odd"),
        ("codex", "git axiom signal waiting 'Which colour?'".into(), &["asked"], "Which colour?"),
        ("codex", "git axiom signal blocked 'no compiler'".into(), &["failed"], "no compiler"),
    ];
    several_at_a_time(table, |(preset, script, expected, said)| {
        let checked = Checked::of(preset, &script);
        let (findings, document) = checked.findings();
        assert_eq!(findings, expected, "{document}");
        let text = document["findings"].to_string();
        assert!(text.contains(said) || said == "55", "{text}");
        checked.leaves_nothing();
    });
}

#[test]
fn another_git_axiom_that_its_commands_find_first_is_named() {
    let checked = Checked::of("codex", &format!("PATH=\"$HOME/other:$PATH\"\n{WELL}"));
    let other = checked.env.root().join("home/other");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("git-axiom"), "#!/bin/sh\necho 'error: unknown verb'; exit 2\n").unwrap();
    std::fs::set_permissions(other.join("git-axiom"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (findings, document) = checked.findings();
    assert_eq!(findings, ["failed", "otherGitAxiom"], "{document}");
    assert!(document.to_string().contains("home/other/git-axiom"), "{document}");
    checked.leaves_nothing();
}

#[test]
fn a_program_that_is_not_there_is_named_and_no_unknown_one_is_tried() {
    let checked = Checked::of("claude", WELL);
    checked.env.git(&["config", "axiom.agents.claude.command", "/nowhere/claude\u{1b}[31m"]);
    let (findings, document) = checked.findings();
    assert_eq!((findings, &document["path"]), (vec!["programNotFound".to_owned()], &Value::Null));
    let run = checked.run(&[]).fails_with(Code::AgentFailed);
    assert!(run.stderr.contains("agents.claude.command") && !format!("{run}").contains('\u{1b}'), "{run}");
    checked.env.axiom(&["agents", "check", "clod"]).fails_with(Code::ConfigInvalid);
    checked.leaves_nothing();
}

#[test]
fn an_interrupt_ends_the_program_and_leaves_nothing() {
    let checked = Checked::of("claude", "echo $$ > \"$HOME/pid\"; setsid sleep 2000 & sleep 2000");
    let mut command = checked.command(&[]);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    let pid = checked.env.root().join("home/pid");
    wait_until("it runs", || std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n')));
    let own = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(own, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let program: i32 = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    let program = rustix::process::Pid::from_raw(program).unwrap();
    assert!(rustix::process::test_kill_process(program).is_err(), "the program has ended");
    checked.leaves_nothing();
}

#[test]
fn agents_may_not_start_it() {
    let checked = Checked::of("claude", WELL);
    let mut command = checked.command(&[]);
    command.env("AXIOM_TOKEN", "x");
    checked.env.run(command, None).fails_with(Code::NotForAgents);
    checked.leaves_nothing();
}
