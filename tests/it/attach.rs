//! Programs that a human runs are attached and detached: their files are as they were, whatever was in them.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a failing test may panic, and tests prepare files

use std::os::unix::fs::{PermissionsExt, symlink};

use crate::common::TestEnv;

const LOCAL: &str = ".claude/settings.local.json";

fn text(env: &TestEnv, path: &str) -> String {
    std::fs::read_to_string(env.repo().join(path)).unwrap()
}

#[test]
fn attached_and_detached_files_are_as_they_were_and_only_ours_is_cut_out_of_changed_ones() {
    let env = TestEnv::new();
    let before = "\u{feff}{\r\n\t\"model\": \"x\", \"a\" : [ ]\r\n}";
    env.write(LOCAL, before);
    env.ok(&["attach", "claude", "codex", "gemini", "opencode", "cursor", "aider"]);
    let attached = text(&env, LOCAL);
    assert!(attached.contains("UserPromptSubmit") && !attached.contains("WorktreeCreate"), "{attached}");
    assert_eq!(env.git(&["status", "--porcelain", "--", ".codex", ".gemini", ".aider.conf.yml"]), "", "excluded");
    let again = env.json(&["attach", "claude"]);
    assert_eq!(again["files"][0]["became"], "unchanged", "{again}");
    let status = env.json(&["attach", "--status"]);
    let events = status["events"].as_array().unwrap();
    assert!(
        events.iter().all(|event| event["found"] == "current" && event["works"] == true && event["fired"].is_null()),
        "{status}"
    );
    env.ok(&["detach"]);
    assert_eq!(text(&env, LOCAL), before);
    for gone in [".codex", ".gemini", ".opencode", ".cursor", ".aider.conf.yml"] {
        assert!(!env.repo().join(gone).exists(), "{gone}");
    }
    env.ok(&["attach", "claude"]);
    // A crash between what is kept and the file: the record is there, the file as before.
    env.write(LOCAL, before);
    env.ok(&["detach", "claude"]);
    assert_eq!(text(&env, LOCAL), before);
    env.ok(&["attach", "claude"]);
    env.write(LOCAL, text(&env, LOCAL).replace("\"x\"", "\"y\""));
    env.ok(&["detach"]);
    assert_eq!(text(&env, LOCAL), before.replace("\"x\"", "\"y\""));
}

#[test]
fn what_must_not_be_changed_is_left_alone() {
    let env = TestEnv::new();
    let left = |path: &str, program: &[&str], content: &str| {
        let run = env.axiom(&[&["attach"], program].concat());
        assert_ne!(run.code, Some(0), "{run}");
        assert_eq!(text(&env, path), content, "{run}");
    };
    env.write(LOCAL, "{\"a\": 1, // mine\n}");
    left(LOCAL, &["claude"], "{\"a\": 1, // mine\n}");
    env.write(LOCAL, "{}");
    std::fs::set_permissions(env.repo().join(LOCAL), std::fs::Permissions::from_mode(0o444)).unwrap();
    left(LOCAL, &["claude"], "{}");
    env.write(".codex/hooks.json", "{}");
    env.git(&["add", ".codex"]);
    left(".codex/hooks.json", &["codex"], "{}");
    std::fs::create_dir(env.root().join("out")).unwrap();
    symlink("../out", env.repo().join(".opencode")).unwrap();
    assert_eq!(env.axiom(&["attach", "opencode"]).code, Some(4));
    assert_eq!(std::fs::read_dir(env.root().join("out")).unwrap().count(), 0);
    let none = env.axiom(&["attach"]);
    assert!(none.code == Some(2) && none.stderr.contains("claude, codex, gemini"), "{none}");
}

#[test]
fn a_plugin_that_somebody_changed_is_neither_replaced_nor_deleted() {
    let env = TestEnv::new();
    let path = ".opencode/plugin/git-axiom.js";
    env.ok(&["attach", "opencode"]);
    let mine = format!("{}\n// mine\n", text(&env, path));
    env.write(path, &mine);
    for verb in ["attach", "detach"] {
        let run = env.axiom(&[verb, "opencode"]);
        assert!(run.code == Some(2) && run.stderr.contains("may hold what you wrote"), "{run}");
        assert_eq!(text(&env, path), mine);
    }
    std::fs::remove_file(env.repo().join(path)).unwrap();
    env.ok(&["attach", "opencode"]);
    env.ok(&["detach", "opencode"]);
    assert!(!env.repo().join(".opencode").exists());
}
