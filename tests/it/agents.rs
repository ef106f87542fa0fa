//! `git axiom agents`: which agent programs there are.

use serde_json::{Value, json};

use crate::common::TestEnv;

fn agent<'a>(document: &'a Value, name: &str) -> &'a Value {
    document["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == name).unwrap()
}

#[test]
fn presets_and_own_programs_are_listed_with_what_would_run() {
    let env = TestEnv::new();
    let program = env.root().join("my agent");
    std::fs::write(&program, "#!/bin/sh\nprintf 'my-agent\\t4.2\\033[31m\\n'\n").unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = program.display().to_string();
    for (key, value) in [
        ("axiom.agents.mine.command", program.as_str()),
        ("axiom.agents.mine.version", program.as_str()),
        ("axiom.agents.codex.stopSignal", "TERM"),
        ("axiom.personas.reviewer.agent", "mine"),
    ] {
        env.git(&["config", key, value]);
    }
    let listed = env.json(&["agents"]);
    let mine = agent(&listed, "mine");
    assert_eq!((&mine["origin"], &mine["path"], &mine["personas"]), (&json!("own"), &json!(program), &json!(["reviewer"])));
    assert_eq!((&mine["exitCompletes"], &mine["isDefault"]), (&json!(false), &json!(false)));
    let codex = agent(&listed, "codex");
    assert_eq!(
        (&codex["origin"], &codex["stopSignal"], &codex["exitCompletes"]),
        (&json!("changed"), &json!("TERM"), &json!(false))
    );
    assert_eq!((&agent(&listed, "shell")["isDefault"], &agent(&listed, "claude")["origin"]), (&json!(true), &json!("preset")));
    let text = env.ok(&["agents"]);
    assert!(text.contains("my-agent") && text.contains("reviewer") && text.contains("shell runs: sh {promptFile}"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    env.git(&["config", "axiom.agents.other.stopSignal", "INT"]);
    let error = env.axiom(&["agents"]).fails_with(git_axiom::base::error::Code::ConfigInvalid);
    assert!(error.stderr.contains("agents.other has no command"), "{error}");
}
