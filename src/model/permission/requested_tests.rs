//! What agents ask for, read from inputs as they send them.

use serde_json::{Value, json};

use super::judge::risk;
use super::patch::MOST_PATHS;
use super::requested::{PermissionAct, PermissionPath, PermissionPlace, requested};

fn asked(kind: &str, input: &Value) -> PermissionAct {
    requested(kind, Some(input), None, &|_| PermissionPlace::Unclear)
}

fn said(paths: &[PermissionPath]) -> Vec<&str> {
    paths.iter().map(|path| path.said.as_str()).collect()
}

/// As four real programs say it.
#[test]
fn the_input_says_what_is_done() {
    for (input, expected) in [
        (json!({"file_path": "/r/a", "content": "x"}), &["/r/a"][..]),
        (json!({"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": false}), &["a"]),
        (json!({"filepath": "/r/a", "diff": "Index: /r/a\n===\n--- /r/a\n+++ /r/a\n@@ -0,0 +1 @@\n+x\n"}), &["/r/a", "/r/a"]),
        (json!({"filepath": "a", "diff": "--- a/a\n+++ b/../out\n"}), &["../out", "a", "a"]),
        (
            json!({"changes": {"/r/a": {"type": "add", "content": "x"}, "/r/b": {"update": {"unified_diff": "", "move_path": "/r/c"}}}}),
            &["/r/a", "/r/b", "/r/c"],
        ),
        (
            json!({"changes": [{"path": "a", "kind": {"type": "update", "move_path": null}, "diff": "@@"}, {"path": "b", "kind": {"type": "update", "move_path": "c"}}]}),
            &["a", "b", "c"],
        ),
        (json!({"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}), &["a"]),
    ] {
        let PermissionAct::Edit { paths } = asked("execute", &input) else { panic!("{input}") };
        let mut paths = said(&paths);
        paths.sort_unstable();
        assert_eq!(paths, expected, "{input}");
    }
    for (input, expected) in [
        (json!({"command": "rm x", "timeout": 5, "description": "d"}), "rm x"),
        (json!({"command": ["/bin/bash", "-lc", "rm x"], "cwd": "/r"}), "rm x"),
        (json!({"command": "/bin/bash -lc 'rm x && ls'", "cwd": "/r"}), "rm x && ls"),
        (json!({"command": ["git", "commit", "-m", "a b'c"]}), "git commit -m 'a b'\\''c'"),
    ] {
        let PermissionAct::Command { text, .. } = asked("read", &input) else { panic!("{input}") };
        assert_eq!(text, expected);
    }
    assert!(matches!(asked("read", &json!({"file_path": "a", "limit": 3})), PermissionAct::Read { .. }));
    assert!(matches!(asked("search", &json!({"pattern": "x"})), PermissionAct::Read { paths } if paths.is_empty()));
}

#[test]
fn what_is_not_understood_is_unknown_whatever_it_is_called() {
    for (kind, input) in [
        ("delete", json!({"path": "a"})),
        ("edit", json!({"path": "a"})),
        ("edit", json!({"content": "x"})),
        ("edit", json!({"file_path": 7, "content": "x"})),
        ("edit", json!({"file_path": "a", "content": "x", "andRun": "y"})),
        ("read", json!({"path": "a", "url": "http://x"})),
        ("execute", json!({"command": "ls", "cmd": "rm x"})),
        ("execute", json!({"command": "ls", "env": {"LD_PRELOAD": "x"}})),
        ("execute", json!({"command": {"text": "ls"}})),
        ("execute", json!({"command": ["ls", 7]})),
        ("execute", json!({"command": " "})),
        ("execute", json!({"command": "ls", "cwd": 7})),
        ("execute", json!({"command": "ls", "cwd": "a", "workdir": "b"})),
        ("edit", json!({"changes": {"a": 7}})),
        ("edit", json!({"edits": [[["a"]]]})),
        ("other", json!({})),
        ("read", json!([])),
        ("read", json!("ls")),
    ] {
        assert!(matches!(asked(kind, &input), PermissionAct::Unknown { .. }), "{kind} {input}");
    }
    let many = json!({"paths": vec!["a"; MOST_PATHS + 1], "content": "x"});
    assert!(matches!(asked("edit", &many), PermissionAct::Unknown { .. }));
}

#[test]
fn without_an_input_only_differences_say_what_is_written() {
    let of = |content: Value| requested("edit", None, Some(&content), &|_| PermissionPlace::Unclear);
    let diff = json!({"type": "diff", "path": "/r/a", "newText": "x"});
    let PermissionAct::Edit { paths } = of(json!([diff])) else { panic!() };
    assert_eq!(said(&paths), ["/r/a"]);
    for content in
        [json!([]), json!([diff, {"type": "content"}]), json!([{"type": "content", "path": "a"}]), json!([{"type": "diff"}])]
    {
        assert!(matches!(of(content.clone()), PermissionAct::Unknown { .. }), "{content}");
    }
}

/// Whatever else it says.
#[test]
fn what_goes_away_is_told_from_what_changes() {
    for (kind, input, gone) in [
        ("edit", json!({"changes": {"a": {"type": "delete", "content": "x"}, "b": {"type": "add", "content": "x"}}}), &["a"][..]),
        ("edit", json!({"changes": {"a": {"delete": {"content": "x"}}}}), &["a"]),
        ("edit", json!({"changes": {"a": {"type": "update", "unified_diff": "@@", "move_path": "c"}}}), &["a"]),
        (
            "edit",
            json!({"changes": [{"path": "a", "kind": {"type": "delete"}, "diff": "x"}, {"path": "b", "kind": {"type": "update", "move_path": null}}]}),
            &["a"],
        ),
        ("edit", json!({"filepath": "a", "diff": "--- a\n+++ /dev/null\n"}), &["a"]),
        ("edit", json!({"filepath": "a", "diff": "--- a\n+++ a\n"}), &[]),
        ("move", json!({"file_path": "a", "content": "x"}), &["a"]),
        ("edit", json!({"file_path": "a", "content": ""}), &[]),
    ] {
        let act = asked(kind, &input);
        let PermissionAct::Edit { paths } = &act else { panic!("{input}") };
        let mut goes: Vec<&str> = paths.iter().filter(|path| path.goes).map(|path| path.said.as_str()).collect();
        goes.dedup();
        assert_eq!(goes, gone, "{input}");
    }
    let difference = json!([{"type": "diff", "path": "a", "oldText": "x", "newText": ""}]);
    let act = requested("edit", None, Some(&difference), &|_| PermissionPlace::Inside { relative: "a".into() });
    assert_eq!(risk(&act).as_deref(), Some("the removal of a"));
    let plain = requested("edit", Some(&json!({"file_path": "a", "content": "x"})), None, &|_| PermissionPlace::Inside {
        relative: "a".into(),
    });
    assert_eq!(risk(&plain), None);
}
