//! The plugins of agent programs: their files are those that the code makes, one act is saved once, and commands are no prompts.

use std::path::Path;
use std::process::{Child, Stdio};

use git_axiom::model::program_hooks::plugins::plugin_files;
use serde_json::{Value, json};

use crate::common::TestEnv;

/// `AXIOM_UPDATE_DOCS=1` writes them.
#[test]
fn the_files_of_the_plugins_are_those_that_the_code_makes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = plugin_files();
    for file in &all {
        let path = root.join(&file.path);
        if std::env::var_os("AXIOM_UPDATE_DOCS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &file.text).unwrap();
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(there, file.text, "{}: AXIOM_UPDATE_DOCS=1 cargo test --test it plugins", file.path);
    }
    let found = walkdir::WalkDir::new(root.join("hooks/plugins")).into_iter().map(Result::unwrap);
    for entry in found.filter(|entry| entry.file_type().is_file()) {
        let path = entry.path().strip_prefix(root).unwrap().display().to_string();
        assert!(all.iter().any(|file| file.path == path), "nothing makes {path}");
    }
}

/// A hook of Claude Code, as a plugin, the user's own file or the repository's calls it.
fn call(env: &TestEnv, here: &Path, source: &[&str], event: &str, more: Value) -> Child {
    let mut command = env.axiom_command(here, ["hook", "claude"]);
    command.args(source).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut payload = json!({"session_id": "s", "cwd": here, "hook_event_name": event});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), payload.to_string().as_bytes()).unwrap();
    child
}

fn hook(env: &TestEnv, here: &Path, source: &[&str], event: &str, more: Value) -> String {
    let ended = call(env, here, source, event, more).wait_with_output().unwrap();
    assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

const PLUGIN: &[&str] = &["--plugin"];
const PROMPT: &str = "UserPromptSubmit";

fn prompts(env: &TestEnv) -> usize {
    env.json(&["prompts"])["prompts"].as_array().unwrap().len()
}

#[test]
fn a_session_with_a_plugin_and_attached_files_saves_each_prompt_once() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    let repo = env.repo();
    let several = |prompt: &str| {
        let sources: [&[&str]; 3] = [PLUGIN, &["--user"], &[]];
        let all = sources.map(|source| call(&env, &repo, source, PROMPT, json!({"prompt": prompt})));
        for one in all {
            assert!(one.wait_with_output().unwrap().status.success());
        }
    };
    several("one");
    assert_eq!(prompts(&env), 1, "at the same time");
    hook(&env, &repo, PLUGIN, PROMPT, json!({"prompt": "two"}));
    hook(&env, &repo, &[], PROMPT, json!({"prompt": "two"}));
    assert_eq!(prompts(&env), 2, "one after the other");
    hook(&env, &repo, PLUGIN, PROMPT, json!({"prompt": "two"}));
    assert_eq!(prompts(&env), 3, "the same words once more are another prompt");
    hook(&env, &repo, PLUGIN, PROMPT, json!({"prompt": "two"}));
    assert_eq!(prompts(&env), 4, "also where nobody else called");
    // A risky command that only one of them saved is saved, and the agent's own undo is asked for once.
    let undo = json!({"tool_name": "Bash", "tool_input": {"command": "git axiom undo --yes"}, "tool_use_id": "t"});
    let asked = [PLUGIN, &[]].map(|source| hook(&env, &repo, source, "PreToolUse", undo.clone()));
    assert!(asked[0].contains("\"ask\"") && asked[1].is_empty(), "{asked:?}");
}

/// Whoever dies has done nothing, so the other one does it.
#[test]
fn a_call_that_died_does_not_stand_for_the_other_one() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    let repo = env.repo();
    let mut command = env.axiom_command(&repo, ["hook", "claude", "--plugin"]);
    command.env("AXIOM_TEST_FAULT", "checkpoint.intended:1").stdin(Stdio::piped());
    let payload = json!({"session_id": "s", "cwd": repo, "hook_event_name": PROMPT, "prompt": "x"});
    assert_eq!(env.run(command, Some(payload.to_string().as_bytes())).code, None);
    hook(&env, &repo, &[], PROMPT, json!({"prompt": "x"}));
    assert_eq!(prompts(&env), 1);
    assert_eq!(env.json(&["sessions"])["sessions"][0]["prompts"], 1);
    // The same words again: the earlier call does not stand for one that dies now.
    env.write("a.txt", "since\n");
    let mut command = env.axiom_command(&repo, ["hook", "claude"]);
    command.env("AXIOM_TEST_FAULT", "checkpoint.intended:1").stdin(Stdio::piped());
    let payload = json!({"session_id": "s", "cwd": repo, "hook_event_name": PROMPT, "prompt": "x"});
    assert_eq!(env.run(command, Some(payload.to_string().as_bytes())).code, None);
    hook(&env, &repo, &["--plugin"], PROMPT, json!({"prompt": "x"}));
    assert_eq!(prompts(&env), 2);
}

/// aider says nothing at all of what it did.
#[test]
fn calls_without_words_are_the_same_only_in_one_worktree() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    let other = env.root().join("other");
    env.git(&["worktree", "add", "-q", other.to_str().unwrap()]);
    env.write("a.txt", "here\n");
    env.run(env.axiom_command(&env.repo(), ["hook", "aider"]), Some(b""));
    std::fs::write(other.join("a.txt"), "there\n").unwrap();
    env.run(env.axiom_command(&other, ["hook", "aider", "--user"]), Some(b""));
    assert_eq!(prompts(&env), 2);
}

#[test]
fn commands_of_a_plugin_are_no_prompts_and_undo_goes_back_to_before_the_last_one() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    let repo = env.repo();
    env.write("kept.txt", "mine\n");
    hook(&env, &repo, PLUGIN, PROMPT, json!({"prompt": "tidy up"}));
    std::fs::remove_file(repo.join("kept.txt")).unwrap();
    for text in ["/axiom:prompts", "/axiom:undo 1", " /axiom:undo\n", "<git-axiom-command>\nThe plan: …"] {
        hook(&env, &repo, PLUGIN, PROMPT, json!({"prompt": text}));
    }
    assert_eq!(prompts(&env), 1);
    let plan = env.ok(&["rollback", "--dry-run", "--prompt"]);
    assert!(plan.contains("prompt-0001") && plan.contains("kept.txt"), "{plan}");
    env.ok(&["rollback", "--prompt", "--yes"]);
    assert_eq!(std::fs::read_to_string(repo.join("kept.txt")).unwrap(), "mine\n");
    hook(&env, &repo, PLUGIN, PROMPT, json!({"prompt": "/axiom:undone"}));
    assert_eq!(prompts(&env), 2, "what is no command of ours is a prompt");
}

#[test]
fn a_hook_that_is_there_for_all_repositories_prepares_those_in_which_it_is_not_switched_off() {
    let env = TestEnv::new();
    let (repo, ours) = (env.repo(), env.repo().join(".git/axiom"));
    std::fs::create_dir_all(repo.join("sub/folder")).unwrap();
    hook(&env, &repo, &[], PROMPT, json!({"prompt": "x"}));
    assert!(!ours.exists(), "nobody named this repository");
    env.git(&["config", "axiom.attach", "off"]);
    hook(&env, &repo, PLUGIN, PROMPT, json!({"prompt": "x"}));
    hook(&env, &repo, &["--user"], PROMPT, json!({"prompt": "x"}));
    assert!(!ours.exists());
    env.git(&["config", "axiom.attach", "on"]);
    hook(&env, &repo.join("sub/folder"), PLUGIN, PROMPT, json!({"prompt": "x"}));
    assert_eq!(prompts(&env), 1);
    env.git(&["worktree", "add", "-q", "../linked"]);
    let linked = repo.parent().unwrap().join("linked");
    hook(&env, &linked, &["--user"], PROMPT, json!({"prompt": "y"}));
    assert_eq!(prompts(&env), 2);
    // A prepared one too, and then nothing is said to be missing.
    env.git(&["config", "axiom.attach", "false"]);
    hook(&env, &repo, PLUGIN, PROMPT, json!({"prompt": "z"}));
    let all = env.json(&["prompts"]);
    assert!(all["prompts"].as_array().unwrap().len() == 2 && all["notSaved"].as_array().unwrap().is_empty(), "{all}");
    hook(&env, &repo, &[], PROMPT, json!({"prompt": "z"}));
    assert_eq!(prompts(&env), 3, "what is attached to this very repository is not meant");
    env.ok(&["config", "check"]);
}

#[test]
fn a_repository_at_the_home_folder_is_saved_only_where_it_was_named() {
    let env = TestEnv::new();
    let home = env.root().join("home");
    std::fs::create_dir_all(home.join("below")).unwrap();
    assert!(std::process::Command::new("git").args(["init", "-q"]).arg(&home).status().unwrap().success());
    for here in [&home, &home.join("below")] {
        hook(&env, here, PLUGIN, PROMPT, json!({"prompt": "x"}));
        assert!(!home.join(".git/axiom").exists());
    }
    env.run(env.axiom_command(&home, ["init"]), None).success();
    hook(&env, &home, PLUGIN, PROMPT, json!({"prompt": "x"}));
    let all = env.run(env.axiom_command(&home, ["prompts", "--json"]), None).success();
    assert_eq!(serde_json::from_str::<Value>(&all.stdout).unwrap()["prompts"].as_array().unwrap().len(), 1);
}

#[test]
fn the_status_says_that_a_plugin_covers_where_the_programs_settings_say_so() {
    let env = TestEnv::new();
    env.ok(&["init"]);
    let settings = env.root().join("home/.claude/settings.json");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    std::fs::write(&settings, "{\"enabledPlugins\": {\"axiom@git-axiom\": true}}").unwrap();
    let shown = env.ok(&["attach", "--status"]);
    assert!(shown.contains("NOT protected with claude: its hook of a prompt has not fired here yet"), "{shown}");
    let stays = env.ok(&["deinit", "--dry-run"]);
    assert!(stays.contains("our plugin for Claude Code") && stays.contains("git config axiom.attach off"), "{stays}");
    hook(&env, &env.repo(), PLUGIN, PROMPT, json!({"prompt": "x"}));
    let status = env.json(&["attach", "--status"]);
    assert_eq!((&status["protected"], &status["events"][0]["found"]), (&true.into(), &"plugin".into()), "{status}");
    std::fs::write(&settings, "{\"enabledPlugins\": {\"axiom@git-axiom\": false}}").unwrap();
    assert_eq!(env.json(&["attach", "--status"])["events"].as_array().unwrap().len(), 0);
}
