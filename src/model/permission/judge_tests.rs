//! The policy as a table.

use serde_json::{Value, json};

use super::judge::{PermissionVerdict, judge, rule_for_always};
use super::requested::{PermissionPlace, requested};
use crate::work::permissions::permission_rule::{PermissionMode, PermissionPolicy};

const WORKSPACE: &str = "/w";

/// As the keeper finds it out, without a file system: `link` leads elsewhere.
fn place(path: &str) -> PermissionPlace {
    let relative = path.strip_prefix("/w/").unwrap_or(path);
    match relative {
        "/w" => PermissionPlace::Inside { relative: String::new() },
        _ if relative.starts_with('/') || relative.contains("..") => PermissionPlace::Outside { path: relative.to_owned() },
        "link" => PermissionPlace::Unclear,
        _ if relative.starts_with(".git/") => PermissionPlace::BelowGit { relative: relative.to_owned() },
        _ => PermissionPlace::Inside { relative: relative.to_owned() },
    }
}

fn verdict(mode: PermissionMode, rules: &[&str], kind: &str, input: &Value) -> &'static str {
    let rules = rules.iter().map(|rule| rule.parse().unwrap()).collect();
    let policy = PermissionPolicy { mode, rules, guarded: vec![".envrc".into(), ".github/workflows".into()] };
    match judge(&policy, &requested(kind, Some(input), None, &place), WORKSPACE) {
        PermissionVerdict::Allowed => "allowed",
        PermissionVerdict::Asked { .. } => "asked",
        PermissionVerdict::Rejected { .. } => "rejected",
    }
}

/// What is asked for, and what follows in the modes `ask`, `workspace` and `allow`.
#[test]
fn each_mode_asks_about_what_it_says() {
    let edit = |path: &str| ("edit", json!({"file_path": path, "content": "x"}));
    let read = |path: &str| ("read", json!({"file_path": path}));
    let run = |text: &str| ("execute", json!({"command": text}));
    for ((kind, input), expected) in [
        (read("a"), ["allowed", "allowed", "allowed"]),
        (read("/etc/passwd"), ["asked", "asked", "allowed"]),
        (read(".git/config"), ["asked", "asked", "allowed"]),
        (read("link"), ["asked", "asked", "allowed"]),
        (("search", json!({"pattern": "x"})), ["allowed", "allowed", "allowed"]),
        (edit("a"), ["asked", "allowed", "allowed"]),
        (edit("/w/src/a.rs"), ["asked", "allowed", "allowed"]),
        (edit("../x"), ["asked", "asked", "allowed"]),
        (edit("/etc/x"), ["asked", "asked", "allowed"]),
        (edit("link"), ["asked", "asked", "allowed"]),
        (edit("b/.envrc"), ["asked", "asked", "allowed"]),
        (edit(".GitHub/Workflows/x.yml"), ["asked", "asked", "allowed"]),
        (edit(".git/hooks/pre-commit"), ["asked", "asked", "allowed"]),
        (edit(".git/config"), ["asked", "asked", "asked"]),
        (edit(".axiom/config.toml"), ["asked", "asked", "asked"]),
        (("edit", json!({"changes": {"a": {"type": "add"}, "/etc/x": {"type": "add"}}})), ["asked", "asked", "allowed"]),
        (run("ls"), ["asked", "asked", "allowed"]),
        (run("rm -rf /"), ["asked", "asked", "allowed"]),
        (run("git axiom signal complete"), ["allowed", "allowed", "allowed"]),
        (run("git axiom signal waiting 'rm; which?'"), ["allowed", "allowed", "allowed"]),
        (run("git axiom signal complete; rm x"), ["asked", "asked", "allowed"]),
        (run("git axiom signal learning \"$(cat /etc/passwd)\""), ["asked", "asked", "allowed"]),
        (run("X=1 git axiom signal complete"), ["asked", "asked", "allowed"]),
        (run("git axiom gate approve --all"), ["asked", "asked", "asked"]),
        (run("cd x && git axiom rollback checkpoint x"), ["asked", "asked", "asked"]),
        (("fetch", json!({"url": "http://x"})), ["asked", "asked", "allowed"]),
        (("edit", json!({"path": "a"})), ["asked", "asked", "allowed"]),
    ] {
        let modes = [PermissionMode::Ask, PermissionMode::Workspace, PermissionMode::Allow];
        // Where a rule forbids something, what is not understood may be that.
        let is_unclear = ["url", "link"].iter().any(|word| input.to_string().contains(word)) && kind != "read";
        if is_unclear {
            assert_eq!(verdict(PermissionMode::Allow, &["reject command git push *"], kind, &input), "asked", "{input}");
        }
        assert_eq!(modes.map(|mode| verdict(mode, &[], kind, &input)), expected, "{input}");
    }
}

#[test]
fn the_first_rule_that_fits_counts_before_the_mode() {
    let run = |text: &str| ("execute", json!({"command": text}));
    let edit = |path: &str| ("edit", json!({"file_path": path, "content": "x"}));
    for (rules, (kind, input), expected) in [
        (&["allow command cargo test *"][..], run("cargo test"), "allowed"),
        (&["allow command cargo test *"], run("cargo test && rm x"), "asked"),
        (&["reject command git push *", "allow command"], run("git push"), "rejected"),
        (&["reject command git push *", "allow command"], run("sh -c 'git push'"), "rejected"),
        (&["allow command", "reject command git push *"], run("git push"), "allowed"),
        (&["ask edit *.sql"], edit("a.sql"), "asked"),
        (&["reject edit"], edit("a"), "rejected"),
        (&["reject any"], run("git axiom signal complete"), "allowed"),
        (&["reject any"], ("other", json!({"x": 1})), "rejected"),
        (&["allow any"], ("other", json!({"x": 1})), "asked"),
        (&["allow edit"], edit("b/.envrc"), "asked"),
        (&["allow edit = b/.envrc"], edit("b/.envrc"), "allowed"),
        (&["allow edit"], edit(".git/hooks/x"), "asked"),
        (&["allow edit"], edit("/etc/x"), "asked"),
        (&["allow edit /etc/**"], edit("/etc/x"), "allowed"),
        (&["allow command"], run("git axiom gate approve --all"), "asked"),
        (&["allow command ls"], ("execute", json!({"command": "ls", "cwd": "/etc"})), "asked"),
        (&["allow command ls"], ("execute", json!({"command": "ls", "cwd": "/w/a"})), "allowed"),
    ] {
        assert_eq!(verdict(PermissionMode::Workspace, rules, kind, &input), expected, "{rules:?} {input}");
    }
}

/// What an agent calls a call, and where it says that it is, changes nothing.
#[test]
fn no_kind_makes_it_milder() {
    let input = json!({"command": "rm -rf ."});
    for kind in ["read", "search", "think", "edit", "", "git axiom signal"] {
        assert_eq!(verdict(PermissionMode::Workspace, &[], kind, &input), "asked", "{kind}");
    }
}

#[test]
fn what_is_always_allowed_is_allowed_in_the_workspace_itself() {
    let at = |folder: &str| {
        verdict(PermissionMode::Workspace, &["allow command = make x"], "execute", &json!({"command": "make x", "cwd": folder}))
    };
    assert_eq!((at("/w"), at("sub"), at("/elsewhere")), ("allowed", "asked", "asked"));
    let act = requested("execute", Some(&json!({"command": "make x", "cwd": "/w"})), None, &place);
    assert_eq!(rule_for_always(&act).unwrap().to_string(), "allow command = make x");
}
