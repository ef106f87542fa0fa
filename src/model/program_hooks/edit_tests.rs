//! What is put in comes out again: over texts as people have them.

use super::super::recipe::{RECIPES, recipe};
use super::*;

fn bin(path: &str) -> HookInvocation {
    HookInvocation::Binary(path.to_owned())
}

const OTHER: &str = r#"{"type": "command", "command": "/opt/beads/bd prime"}"#;

/// Files with hooks of others, so that nothing is emptied by cutting ours out.
fn corpus() -> Vec<String> {
    let event = |name: &str, groups: &str| format!("\"{name}\": [{groups}]");
    let group = format!("{{\"hooks\": [{OTHER}]}}");
    let deep = format!("{}1{}", "[".repeat(60), "]".repeat(60));
    let mut all: Vec<String> = [
        "{\"a\": 1}".to_owned(),
        "{\n  \"a\": 1\n}\n".to_owned(),
        "{\n\t\"a\": 1\n}\n".to_owned(),
        "{\n    \"a\": {\n        \"b\": []\n    }\n}".to_owned(),
        "{ \"a\" : [ ] , \"a\" : null }\n\n".to_owned(),
        format!("{{\"deep\": {deep}}}"),
        "{\n  \"Ünï\\u00e7öde \\\"}\": \"\\\\ { [ 👍\"\n}\n".to_owned(),
        format!("{{\"big\": \"{}\"}}", "x".repeat(1 << 15)),
        format!("{{\"hooks\": {{{}}}}}", event("Stop", &group)),
        format!("{{\n  \"hooks\": {{\n    {}\n  }},\n  \"model\": \"x\"\n}}\n", event("Stop", &group)),
        format!("{{\n  \"z\": 1,\n  \"hooks\": {{\n    {},\n    {}\n  }}\n}}\n", event("Else", &group), event("Stop", &group)),
        format!("{{\n\t\"hooks\": {{\n\t\t\"Stop\": [\n\t\t\t{group},\n\t\t\t{group}\n\t\t]\n\t}}\n}}\n"),
        format!("{{\"hooks\":{{\"Stop\":[{group}],\"Unknown\":[]}},\"permissions\":{{\"allow\":[\"Bash(ls)\"]}}}}"),
    ]
    .to_vec();
    all.extend(all.clone().iter().map(|text| text.replace('\n', "\r\n")));
    all.extend(all.clone().iter().map(|text| format!("\u{feff}{text}")));
    all
}

#[test]
fn what_is_put_in_comes_out_and_everything_else_stays_byte_for_byte() {
    assert!(corpus().len() >= 40);
    for recipe in RECIPES.iter().filter(|recipe| matches!(recipe.format, HookFileFormat::Json(_))) {
        for text in corpus() {
            let once = attached(recipe, Some(&text), &bin("/usr/bin/git-axiom")).unwrap_or_else(|why| panic!("{why}: {text}"));
            let found = standing(recipe, Some(&once), &bin("/usr/bin/git-axiom")).unwrap();
            assert!(found.iter().all(|(_, found)| *found == HookEntryStatus::Current), "{found:?} {once}");
            assert_eq!(attached(recipe, Some(&once), &bin("/usr/bin/git-axiom")).unwrap(), once, "again changes nothing");
            assert_eq!(detached(recipe, &once).unwrap().as_deref(), Some(text.as_str()));
            assert_eq!(detached(recipe, &text).unwrap().as_deref(), Some(text.as_str()), "nothing of ours");
            let moved = attached(recipe, Some(&once), &HookInvocation::IfThere).unwrap();
            let found = standing(recipe, Some(&once), &HookInvocation::IfThere).unwrap();
            assert!(found.iter().all(|(_, found)| *found == HookEntryStatus::Other), "{found:?}");
            assert_eq!(detached(recipe, &moved).unwrap().as_deref(), Some(text.as_str()), "of another path");
        }
    }
}

#[test]
fn nothing_becomes_a_file_that_the_program_reads() {
    for recipe in &RECIPES {
        for text in [None, Some(""), Some("\u{feff}")] {
            let new = attached(recipe, text, &bin("/opt/it's here/git-axiom")).unwrap();
            assert_eq!(attached(recipe, Some(&new), &bin("/opt/it's here/git-axiom")).unwrap(), new);
            if matches!(recipe.format, HookFileFormat::Json(_)) {
                let value: Value = serde_json::from_str(new.trim_start_matches(MARK)).unwrap();
                let hooks = value.get("hooks").and_then(Value::as_object).unwrap();
                assert!(hooks.len() >= 4 && !hooks.contains_key("WorktreeCreate"), "{new}");
            }
        }
        let new =
            attached(recipe, Some("{}").filter(|_| matches!(recipe.format, HookFileFormat::Json(_))), &bin("git-axiom")).unwrap();
        assert!(new.contains(recipe.name), "{new}");
    }
}

#[test]
fn ours_of_an_older_version_is_replaced_in_its_place_and_doubles_go() {
    let claude = recipe("claude").unwrap();
    let old = r#"{"hooks":{"Stop":[{"hooks":[{"command":"git-axiom hook claude"}]},{"hooks":[{"command":"mine"},{"command":"git axiom hook claude"}]},{"hooks":[{"command":"/nix/store/x/bin/git-axiom","args":["hook","claude"]}]}],"Gone":[{"hooks":[{"command":"git-axiom hook claude"}]}]}}"#;
    let found = standing(claude, Some(old), &bin("/b/git-axiom")).unwrap();
    assert!(
        found.contains(&("Stop", HookEntryStatus::Doubled)) && found.contains(&("SessionStart", HookEntryStatus::Missing)),
        "{found:?}"
    );
    let new = attached(claude, Some(old), &bin("/b/git-axiom")).unwrap();
    let value: Value = serde_json::from_str(&new).unwrap();
    let stop = value.pointer("/hooks/Stop").unwrap();
    assert_eq!(stop.as_array().unwrap().len(), 2, "{stop}");
    assert_eq!(stop.pointer("/0/hooks/0/command").unwrap(), "/b/git-axiom");
    assert_eq!(stop.pointer("/1/hooks"), Some(&serde_json::json!([{"command": "mine"}])));
    assert!(value.pointer("/hooks/Gone").is_none());
    let rest = r#"{"hooks":{"Stop":[{"hooks":[{"command":"mine"}]}]}}"#;
    assert_eq!(detached(claude, &new).unwrap().unwrap(), rest);
}

#[test]
fn what_only_looks_like_ours_is_not() {
    for command in [
        "git-axiom hook codex",
        "echo git-axiom hook claude",
        "git-axiom hook claude; rm x",
        "git-axiom status",
        "x",
        "git-axiom hook claude --plugin",
        "[ -x /x ] || exit 0; exec rm hook claude",
        "rm x || exit 0; exec git-axiom hook claude",
    ] {
        assert!(!is_ours(&serde_json::json!({"command": command}), "claude"), "{command}");
    }
    for command in ["git axiom hook claude", "'/a b/git-axiom' hook claude", "/x/1.2/git-axiom hook claude"] {
        assert!(is_ours(&serde_json::json!({"command": command}), "claude"), "{command}");
    }
    for by_arguments in [true, false] {
        for caller in [HookInvocation::IfThere, bin("/it's/git-axiom"), HookInvocation::ForAll("git-axiom".into())] {
            let handler = caller.handler("claude", by_arguments);
            assert!(is_ours(&handler, "claude") && !is_ours(&handler, "codex"), "{handler}");
        }
    }
}

/// Gemini CLI takes what a shell says of a program that is gone for a veto.
#[test]
fn a_program_that_is_gone_keeps_no_agent_from_its_work() {
    for caller in [bin("/gone/it's/git-axiom"), HookInvocation::ForAll("git-axiom-is-gone".into()), HookInvocation::IfThere] {
        let line = caller.line("gemini");
        assert!(line.contains(" || exit 0; exec ") && line.contains("hook gemini"), "{line}");
    }
}

#[test]
fn what_is_not_understood_is_refused() {
    let claude = recipe("claude").unwrap();
    for text in
        ["{", "{\"a\": 1,}", "// mine\n{}", "{\"a\": 1 /* x */}", "[]", "1", "{\"hooks\": []}", "{\"hooks\": {\"Stop\": {}}}"]
    {
        assert!(attached(claude, Some(text), &bin("b")).is_err(), "{text}");
        assert!(detached(claude, text).is_err(), "{text}");
    }
    assert!(attached(claude, Some(&format!("{{\"a\": \"{}\"}}", "x".repeat(LARGEST))), &bin("b")).is_err());
    assert!(attached(recipe("opencode").unwrap(), Some("export const Mine = 1"), &bin("b")).is_err());
    let aider = recipe("aider").unwrap();
    assert!(attached(aider, Some("notifications-command: mine\n"), &bin("b")).is_err());
    assert!(attached(aider, Some("{a: 1}\n---\n"), &bin("b")).is_err());
}

#[test]
fn lines_in_yaml_come_out_again() {
    let aider = recipe("aider").unwrap();
    for text in ["", "model: x\n", "# mine\r\nread:\r\n  - a\r\n", "model: ü\n\n"] {
        let new = attached(aider, Some(text), &bin("/b/git-axiom")).unwrap();
        assert_eq!(standing(aider, Some(&new), &bin("/b/git-axiom")).unwrap(), [("notifications", HookEntryStatus::Current)]);
        assert_eq!(detached(aider, &new).unwrap().as_deref(), Some(text));
    }
}

#[test]
fn what_our_hooks_call_is_read_from_the_file() {
    for name in ["claude", "codex", "gemini", "opencode", "cursor", "aider"] {
        let recipe = recipe(name).unwrap();
        for path in ["/it's/0.1.0/git-axiom", "git-axiom"] {
            let text = attached(recipe, None, &bin(path)).unwrap();
            assert_eq!(called_files(recipe, &text).into_iter().collect::<Vec<_>>(), [path], "{text}");
        }
        assert!(called_files(recipe, "").is_empty());
    }
    let shared = attached(recipe("claude").unwrap(), None, &HookInvocation::IfThere).unwrap();
    assert!(called_files(recipe("claude").unwrap(), &shared).contains("git-axiom"));
}
