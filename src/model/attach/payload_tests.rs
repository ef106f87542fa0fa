//! A payload for each event is in `fixtures/attach`: what Claude Code 2.1.330, Codex 0.169, Gemini CLI 0.61 and opencode 1.18 sent,
//! with other paths and ids; those of Cursor, the edit tool and the interrupt of Codex, and the removed worktree of Claude Code are written
//! after the documented keys.

use super::super::shorten::{JsonShortener, KEPT};
use super::*;

/// What is read of what a program sends.
fn sent(program: AttachedProgram, bytes: &[u8]) -> Option<AgentHookEvent> {
    let mut shortener = JsonShortener::default();
    bytes.chunks(1000).for_each(|piece| shortener.add(piece));
    read(program, &shortener.end())
}

fn fixture(program: AttachedProgram, name: &str) -> Vec<u8> {
    let path = format!("{}/../../fixtures/attach/{program}/{name}.json", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn of_fixture(program: AttachedProgram, name: &str) -> Option<AgentHookEvent> {
    read(program, &fixture(program, name))
}

fn words(moment: &AgentHookMoment) -> String {
    match moment {
        AgentHookMoment::SessionStart => "start".into(),
        AgentHookMoment::AnswerEnd => "answer end".to_owned(),
        AgentHookMoment::OwnPrompt => "own prompt".to_owned(),
        AgentHookMoment::PluginCommand => "plugin command".to_owned(),
        AgentHookMoment::Prompt { text } => format!("prompt {}", text.lines().next().unwrap_or_default()),
        AgentHookMoment::BeforeEdit { paths } => format!("before-edit {}", paths.join(" ")),
        AgentHookMoment::BeforeShell { command } => format!("before-shell {command}"),
        AgentHookMoment::AfterEdit { paths } => format!("after-edit {}", paths.join(" ")),
        AgentHookMoment::AfterShell => "after-shell".into(),
        AgentHookMoment::TurnEnd => "turn".into(),
        AgentHookMoment::SubagentEnd => "subagent".into(),
        AgentHookMoment::WorktreeRemove => "worktree".into(),
        AgentHookMoment::SessionEnd => "end".into(),
    }
}

#[test]
fn every_event_of_every_program_is_understood() {
    use AttachedProgram::{Claude, Codex, Cursor, Gemini, Opencode};
    for (program, name, expected) in [
        (Claude, "SessionStart", "start"),
        (Claude, "UserPromptSubmit", "prompt tidy up the parser"),
        (Claude, "PreToolUse-Write", "before-edit /r/b.txt"),
        (Claude, "PreToolUse-Edit", "before-edit /r/src/a.rs"),
        (Claude, "PreToolUse-Bash", "before-shell rm -rf build && ls"),
        (Claude, "PostToolUse-Bash", "after-shell"),
        (Claude, "PostToolUseFailure-Bash", "after-shell"),
        (Claude, "PostToolBatch", "after-edit /r/b.txt"),
        (Claude, "Stop", "turn"),
        (Claude, "StopFailure", "turn"),
        (Claude, "SubagentStop", "subagent"),
        (Claude, "WorktreeRemove", "worktree"),
        (Claude, "SessionEnd", "end"),
        (Codex, "SessionStart", "start"),
        (Codex, "UserPromptSubmit", "prompt tidy up the parser"),
        (Codex, "PreToolUse-apply_patch", "before-edit new.txt src/a.rs old.txt moved.txt"),
        (Codex, "PreToolUse-Bash", "before-shell git checkout -- ."),
        (Codex, "PreToolUse-Bash-apply_patch", "before-edit new.txt src/a.rs x"),
        (Codex, "PostToolUse-Bash", "after-shell"),
        (Codex, "PostToolUse-apply_patch", "after-edit new.txt src/a.rs old.txt moved.txt"),
        (Codex, "Stop", "turn"),
        (Codex, "Interrupt", "turn"),
        (Codex, "SessionEnd", "end"),
        (Gemini, "SessionStart", "start"),
        (Gemini, "BeforeAgent", "prompt tidy up the parser"),
        (Gemini, "BeforeTool-write_file", "before-edit src/a.rs"),
        (Gemini, "BeforeTool-run_shell_command", "before-shell rm x"),
        (Gemini, "AfterTool-run_shell_command", "after-shell"),
        (Gemini, "AfterTool-write_file", "after-edit src/a.rs"),
        (Gemini, "AfterAgent", "turn"),
        (Opencode, "UserPromptSubmit", "prompt tidy up the parser"),
        (Opencode, "PreToolUse-bash", "before-shell rm x"),
        (Opencode, "PreToolUse-write", "before-edit b.txt"),
        (Opencode, "PostToolUse-write", "after-edit b.txt"),
        (Opencode, "PostToolUse-bash", "after-shell"),
        (Opencode, "Stop", "turn"),
        (Cursor, "beforeSubmitPrompt", "prompt tidy up the parser"),
        (Cursor, "preToolUse-Write", "before-edit /r/src/a.rs"),
        (Cursor, "beforeShellExecution", "before-shell rm x"),
        (Cursor, "afterFileEdit", "after-edit /r/src/a.rs"),
        (Cursor, "stop", "turn"),
    ] {
        let event = of_fixture(program, name).unwrap_or_else(|| panic!("{program} {name}: nothing"));
        assert_eq!(words(&event.moment), expected, "{program} {name}");
        assert_eq!(event.folder.as_deref(), Some("/r"), "{program} {name}");
        assert!(!event.session.is_empty(), "{program} {name}");
    }
}

#[test]
fn what_another_program_sends_is_told_apart_and_what_is_not_known_is_nothing() {
    let cursors = fixture(AttachedProgram::Cursor, "beforeSubmitPrompt");
    for program in [AttachedProgram::Claude, AttachedProgram::Codex, AttachedProgram::Gemini, AttachedProgram::Opencode] {
        assert_eq!(read(program, &cursors), None, "{program}");
    }
    assert_eq!(read(AttachedProgram::Cursor, &fixture(AttachedProgram::Claude, "UserPromptSubmit")), None);
    let copilot = br#"{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/r","prompt":"x",
        "transcript_path":"/home/u/.copilot/session.jsonl"}"#;
    assert_eq!(read(AttachedProgram::Claude, copilot), None);
    for unknown in [
        r#"{"hook_event_name":"MessageDisplay","session_id":"s","cwd":"/r"}"#,
        r#"{"hook_event_name":"PreToolUse","tool_name":"Read","session_id":"s","cwd":"/r"}"#,
        r#"{"hook_event_name":7}"#,
        "[]",
        "null",
        "",
        "{\"hook_event_name\":\"UserPromptSubmit\",\"prom",
    ] {
        for program in AttachedProgram::ALL.into_iter().filter(|program| *program != AttachedProgram::Aider) {
            assert_eq!(read(program, unknown.as_bytes()), None, "{program} {unknown}");
        }
    }
    assert_eq!(read(AttachedProgram::Aider, b"").map(|event| event.moment), Some(AgentHookMoment::AnswerEnd));
}

#[test]
fn large_texts_line_ends_and_wrong_types_are_read_all_the_same() {
    let large = "é".repeat(5 * 1024 * 1024);
    let text = format!(
        "\u{feff}{{\r\n\"hook_event_name\":\"UserPromptSubmit\",\r\n\"session_id\":\"s\",\"cwd\":\"/r\",\"prompt\":\"{large}\"}}\r\n"
    );
    let Some(AgentHookEvent { moment: AgentHookMoment::Prompt { text }, .. }) = sent(AttachedProgram::Claude, text.as_bytes())
    else {
        panic!()
    };
    assert!(text.len() <= KEPT && text.chars().all(|c| c == 'é') && !text.is_empty());
    let wrong = br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":"x","session_id":3,"cwd":["/r"]}"#;
    let event = read(AttachedProgram::Claude, wrong).unwrap();
    assert_eq!((event.session.as_str(), event.folder), ("", None));
    assert_eq!(event.moment, AgentHookMoment::BeforeShell { command: String::new() });
    let mut bytes = fixture(AttachedProgram::Claude, "UserPromptSubmit");
    let at = bytes.windows(4).position(|part| part == b"tidy").unwrap();
    bytes[at] = 0xff;
    assert!(read(AttachedProgram::Claude, &bytes).is_some());
}

#[test]
fn of_a_long_command_or_patch_it_is_known_that_there_is_more() {
    let moment = |input: serde_json::Value| {
        // The keys that say what it is come last.
        let text =
            format!(r#"{{"tool_input":{input},"tool_name":"Bash","hook_event_name":"PreToolUse","session_id":"s","cwd":"/r"}}"#);
        sent(AttachedProgram::Claude, text.as_bytes()).unwrap().moment
    };
    let long = "x".repeat(2 * KEPT);
    let AgentHookMoment::BeforeShell { command } =
        moment(serde_json::json!({"command": format!("cat <<EOF\n{long}\nEOF\nrm a")}))
    else {
        panic!()
    };
    assert!(command.ends_with(CUT) && shell::risk(&command, &|_| None).is_some());
    let AgentHookMoment::BeforeShell { command } = moment(serde_json::json!({"description": long, "command": "ls"})) else {
        panic!()
    };
    assert_eq!((command.as_str(), shell::risk(&command, &|_| None)), ("ls", None));
    let patch = format!("*** Begin Patch\n*** Update File: a\n@@\n+{long}\n*** Update File: b\n");
    assert_eq!(paths_of(&serde_json::json!({"patch": &patch[..1000]})), ["a"]);
    let mut shortener = JsonShortener::default();
    shortener.add(serde_json::json!({"patch": patch}).to_string().as_bytes());
    let shortened: Value = serde_json::from_slice(&shortener.end()).unwrap();
    assert!(paths_of(&shortened).is_empty(), "then everything is looked at");
    assert!(is_payload(b"{}") && !is_payload(b"{\"a\"") && !is_payload(b"x"));
}

#[test]
fn a_patch_within_a_shell_command_names_its_files_unless_the_command_does_more() {
    let moment = |command: &str| {
        let payload = serde_json::json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "session_id": "s", "cwd": "/r",
            "tool_input": {"command": command}});
        read(AttachedProgram::Codex, payload.to_string().as_bytes()).unwrap().moment
    };
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a\n@@\n-rm x\n*** End Patch\nEOF";
    assert_eq!(words(&moment(patch)), "before-edit a");
    assert!(matches!(moment(&format!("{patch}\nrm -rf b")), AgentHookMoment::BeforeShell { .. }));
    assert!(matches!(moment("apply_patch --help"), AgentHookMoment::BeforeShell { .. }));
}

/// What a program tells its model of tasks that have ended, and wake-ups, is no prompt of a human; one that a program of a human's sends is.
#[test]
fn what_a_program_sends_itself_is_told_from_what_a_human_sends() {
    let of = |prompt: &str, more: &str| {
        let payload =
            format!(r#"{{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/r","prompt":"{prompt}"{more}}}"#);
        read(AttachedProgram::Claude, payload.as_bytes()).unwrap().moment
    };
    let note = r"<task-notification>\n<task-id>a1</task-id>\n</task-notification>";
    assert_eq!(of(note, ""), AgentHookMoment::OwnPrompt);
    for command in ["/axiom:undo", "/axiom:undo 3", " /axiom:prompts", "<git-axiom-command>\\nThe plan"] {
        assert_eq!(of(command, ""), AgentHookMoment::PluginCommand, "{command}");
    }
    for prompt in ["/axiom:undone", "say /axiom:undo", "axiom:undo"] {
        assert_eq!(of(prompt, ""), AgentHookMoment::Prompt { text: prompt.to_owned() });
    }
    for source in ["system", "loop_wakeup", "schedule_wakeup", "poll_event"] {
        assert_eq!(of("go on", &format!(r#","source":"{source}""#)), AgentHookMoment::OwnPrompt, "{source}");
    }
    for source in ["user", "sdk"] {
        let moment = of("go on", &format!(r#","source":"{source}""#));
        assert_eq!(moment, AgentHookMoment::Prompt { text: "go on".into() }, "{source}");
    }
    let quoted = "what does <task-notification> mean?";
    assert_eq!(of(quoted, ""), AgentHookMoment::Prompt { text: quoted.into() });
}
