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
    let told = env.ok(&["attach", "cursor", "--dry-run"]);
    assert!(told.contains("would be made:") && !env.repo().join(".cursor").exists(), "{told}");
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

/// Texts of a configuration file: with tabs, in CRLF, with a mark at the beginning, of other tools, of one line, with odd spaces.
const JSONS: [&str; 9] = [
    "{}",
    "{\n\t\"a\": {\n\t\t\"b\": [1, 2]\n\t}\n}\n",
    "{\r\n  \"a\": 1,\r\n  \"b\": \"\\u00e9\\n\"\r\n}\r\n",
    "\u{feff}{ \"a\" : 1 }",
    "{\"hooks\":{}}\n",
    "{\n    \"hooks\": {\n        \"Stop\": [\n            {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\n        ]\n    },\n    \"z\": 1\n}",
    "{\"hooks\":{\"Stop\":[],\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"git-axiom-lint hook claude\"}]}]}}",
    "\n\n  { \"dup\": 1, \"dup\": 2 }  \n\n",
    "{\"a\":[[[[]]]],\"text\":\"\\\"hooks\\\": {\"}",
];
/// The same for YAML.
const YAMLS: [&str; 4] = ["model: x\n", "model: x", "# mine\r\nmodel: x\r\n", "\u{feff}auto-commits: false\n\n\n"];

/// The files of a corpus: for which program, where, and what is in them.
fn corpus() -> Vec<(&'static str, &'static str, &'static str)> {
    let files = [
        ("claude", LOCAL),
        ("codex", ".codex/hooks.json"),
        ("gemini", ".gemini/settings.json"),
        ("cursor", ".cursor/hooks.json"),
    ];
    let jsons = files.iter().flat_map(|(program, path)| JSONS.iter().map(|text| (*program, *path, *text)));
    jsons.chain(YAMLS.iter().map(|text| ("aider", ".aider.conf.yml", *text))).collect()
}

#[test]
fn a_corpus_of_forty_files_is_as_it_was_after_attach_and_detach() {
    let env = TestEnv::new();
    let corpus = corpus();
    assert_eq!(corpus.len(), 40);
    for (program, path, before) in corpus {
        env.write(path, before);
        env.ok(&["attach", program]);
        let attached = text(&env, path);
        assert_ne!(attached, before, "{program} {before:?}");
        assert_eq!(attached.contains("\r\n"), before.contains("\r\n"), "line ends are not mixed: {attached:?}");
        assert!(!before.contains("\r\n") || !attached.replace("\r\n", "").contains('\n'), "{attached:?}");
        env.ok(&["detach", program]);
        assert_eq!(text(&env, path), before, "{program}");
    }
}

/// Without what was kept, only ours is cut out: the file is another one then, and says the same.
#[test]
fn a_corpus_that_was_changed_in_between_says_the_same_without_ours() {
    let env = TestEnv::new();
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text.trim_start_matches('\u{feff}')).unwrap();
    for (program, path, before) in
        corpus().into_iter().filter(|(program, _, before)| *program != "aider" && !before.contains("dup"))
    {
        env.write(path, before);
        env.ok(&["attach", program]);
        // Somebody adds a key and an old hook of ours beside theirs.
        let changed = text(&env, path).replacen('{', "{\"new\": [true], ", 1);
        env.write(path, &changed);
        env.ok(&["attach", program]);
        assert_eq!(text(&env, path), changed, "{program}");
        env.ok(&["detach", program]);
        let after = value(&text(&env, path));
        assert_eq!(after["new"], serde_json::json!([true]));
        assert!(!after.to_string().contains("\"hook\",") && !after.to_string().contains("axiom hook"), "{after}");
        let rest = |mut value: serde_json::Value| {
            let object = value.as_object_mut().unwrap();
            object.remove("new");
            // Lists and groups that ours alone filled are gone with it.
            if let Some(hooks) = object.get_mut("hooks").and_then(serde_json::Value::as_object_mut) {
                hooks.retain(|_, list| list.as_array().is_none_or(|list| !list.is_empty()));
            }
            object.retain(|name, value| name != "hooks" || value.as_object().is_none_or(|hooks| !hooks.is_empty()));
            value
        };
        assert_eq!(rest(after), rest(value(before)), "{program} {before:?}");
    }
}

#[test]
fn hooks_of_an_older_version_are_replaced_in_their_place_and_cut_out() {
    let env = TestEnv::new();
    let old = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/nix/store/x-0.0.9/bin/git-axiom hook claude"}]},
      {"hooks": [{"type": "command", "command": "say done"}]}], "Gone": [{"hooks": [{"type": "command", "command": "git axiom hook claude"}]}]}}"#;
    env.write(LOCAL, old);
    env.ok(&["attach", "claude"]);
    let attached = text(&env, LOCAL);
    assert!(!attached.contains("0.0.9") && !attached.contains("\"Gone\"") && attached.contains("say done"), "{attached}");
    let status = env.json(&["attach", "--status", "claude"]);
    assert!(status["events"].as_array().unwrap().iter().all(|event| event["found"] == "current"), "{status}");
    env.ok(&["detach", "claude"]);
    let left: serde_json::Value = serde_json::from_str(&text(&env, LOCAL)).unwrap();
    assert_eq!(left, serde_json::json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}));
}

/// Present is not protected: what keeps a program from calling hooks that are in its file is told, with the file that says so.
#[test]
fn hooks_that_are_there_and_not_called_are_told() {
    let env = TestEnv::new();
    env.ok(&["attach", "claude", "codex", "gemini"]);
    let home = env.root().join("home");
    let managed = home.join("managed.json");
    let status = |program: &str| {
        let mut command = env.axiom_command(&env.repo(), ["attach", "--status", program, "--json"]);
        command.env("AXIOM_TEST_MANAGED", &managed);
        let answer: serde_json::Value = serde_json::from_str(&env.run(command, None).success().stdout).unwrap();
        crate::common::documents::check(&answer);
        let first = answer["events"][0].clone();
        (first["switchedOff"].as_bool().unwrap(), first["why"].as_str().unwrap_or_default().to_owned())
    };
    let write = |path: &str, text: &str| {
        std::fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
        std::fs::write(home.join(path), text).unwrap();
    };
    assert_eq!((status("claude").0, status("gemini").0), (false, false));
    let (off, why) = status("codex");
    assert!(off && why.contains("trust"), "{why}");
    assert!(env.ok(&["attach", "--status", "codex"]).contains("not trusted"));
    let hooks = env.repo().join(".codex/hooks.json");
    let trusted = format!("[hooks.state.\"{}:stop:0:0\"]\nenabled = true\ntrusted_hash = \"sha256:x\"\n", hooks.display());
    write(".codex/config.toml", &trusted);
    assert!(!status("codex").0);
    write(".codex/config.toml", &trusted.replace("enabled = true", "enabled = false"));
    assert!(status("codex").0);
    write(".gemini/settings.json", r#"{"hooksConfig": {"disabled": ["git-axiom"]}}"#);
    let (off, why) = status("gemini");
    assert!(off && why.contains("home/.gemini/settings.json") && why.contains("hooksConfig.disabled"), "{why}");
    write("managed.json", r#"{"allowManagedHooksOnly": true}"#);
    let (off, why) = status("claude");
    assert!(off && why.contains("managed.json") && why.contains("allowManagedHooksOnly"), "{why}");
    std::fs::remove_file(&managed).unwrap();
    write(".claude/settings.json", r#"{"disableAllHooks": true}"#);
    assert!(status("claude").0);
}

/// The plugin of opencode, in a real interpreter: what the hook answers becomes a part of the message.
#[test]
fn the_plugin_of_opencode_tells_the_agent_what_the_hook_answers() {
    let env = TestEnv::new();
    env.ok(&["attach", "opencode"]);
    let plugin = text(&env, ".opencode/plugin/git-axiom.js");
    let begin = plugin.find("const [BIN, ...ARGS] = ").unwrap();
    let end = begin + plugin[begin..].find('\n').unwrap();
    let fake = env.root().join("fake");
    std::fs::write(&fake, "#!/bin/sh\ncat > \"$0.said\"\necho '{\"additionalContext\":\"the human went back\"}'\n").unwrap();
    std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
    let plugin = format!("{}const [BIN, ...ARGS] = {:?}{}", &plugin[..begin], [fake.display().to_string()], &plugin[end..]);
    std::fs::write(env.root().join("plugin.mjs"), plugin).unwrap();
    let script = r#"
        import { GitAxiom } from "./plugin.mjs"
        const hooks = await GitAxiom({ directory: process.cwd() })
        const out = { parts: [{ id: "prt_1", type: "text", text: "tidy up", sessionID: "s" }] }
        await hooks["chat.message"]({ sessionID: "s" }, out)
        console.log(JSON.stringify(out.parts))
    "#;
    std::fs::write(env.root().join("try.mjs"), script).unwrap();
    let Ok(ran) = std::process::Command::new("node").arg("try.mjs").current_dir(env.root()).output() else {
        return crate::skipped::skipped("there is no node");
    };
    let parts: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!((&parts[0]["text"], &parts[1]["text"]), (&"tidy up".into(), &"the human went back".into()), "{parts}");
    assert!(parts[1]["synthetic"] == true && parts[1]["id"] != parts[0]["id"] && parts[1]["sessionID"] == "s", "{parts}");
    assert!(std::fs::read_to_string(env.root().join("fake.said")).unwrap().contains("\"prompt\":\"tidy up\""));
}
