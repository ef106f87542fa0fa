//! Attached programs where people really stand: in a linked worktree, a subfolder, a submodule, a worktree of a bare repository.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::{Run, TestEnv};

const LOCAL: &str = ".claude/settings.local.json";

/// Another worktree of the repository.
fn linked(env: &TestEnv, name: &str) -> PathBuf {
    let place = env.root().join(name);
    env.git(&["worktree", "add", "-q", "-b", name, place.to_str().unwrap()]);
    place.canonicalize().unwrap()
}

fn hook_with(env: &TestEnv, program: &str, folder: &Path, event: &str, vars: &[(&str, &str)]) -> Run {
    let payload = json!({"hook_event_name": event, "session_id": "s", "cwd": folder, "prompt": "x"});
    let mut command = env.axiom_command(folder, ["hook", program]);
    command.envs(vars.iter().copied());
    env.run(command, Some(payload.to_string().as_bytes())).success()
}

fn hook(env: &TestEnv, program: &str, folder: &Path, event: &str) -> Run {
    hook_with(env, program, folder, event, &[])
}

fn status(env: &TestEnv, folder: &Path) -> Value {
    env.axiom_in(folder, &["attach", "--status", "--json"]).success().json()
}

/// What a program says of itself in a worktree: whether it protects there, and why not.
fn of_program(env: &TestEnv, folder: &Path, program: &str) -> Option<(bool, String)> {
    let all = status(env, folder);
    let one = all["programs"].as_array().unwrap().iter().find(|one| one["program"] == program)?.clone();
    Some((one["protected"] == true, one["why"].as_str().unwrap_or_default().to_owned()))
}

/// All that is ours in git's folder for a worktree.
fn ours_in_entry(env: &TestEnv, name: &str) -> bool {
    env.repo().join(".git/worktrees").join(name).join("axiom").exists()
}

#[test]
fn each_program_is_attached_where_it_reads_its_file_and_detached_from_wherever_it_was_written() {
    let env = TestEnv::new();
    let feat = linked(&env, "feat");
    let before = "{\n  \"mine\": true\n}\n";
    std::fs::create_dir(feat.join(".gemini")).unwrap();
    std::fs::write(feat.join(".gemini/settings.json"), before).unwrap();
    let all = ["claude", "codex", "gemini", "opencode", "cursor", "aider"];
    let said = env.axiom_in(&feat, &[&["attach"], &all[..]].concat()).success();
    assert!(
        said.stderr.contains("Gemini CLI: covers only") && said.stderr.contains("Claude Code: covers all worktrees"),
        "{said}"
    );
    let is_there = |folder: &Path, path: &str| folder.join(path).exists();
    for path in
        [LOCAL, ".codex", ".gemini/settings.json", ".opencode/plugin/git-axiom.js", ".cursor/hooks.json", ".aider.conf.yml"]
    {
        assert!(is_there(&feat, path), "{path}");
    }
    assert!(!is_there(&feat, ".codex/hooks.json"), "Codex reads that of the main worktree there");
    assert!(is_there(&env.repo(), LOCAL) && is_there(&env.repo(), ".codex/hooks.json"));
    for path in [".gemini", ".opencode", ".cursor", ".aider.conf.yml"] {
        assert!(!is_there(&env.repo(), path), "{path}: only sessions in the linked worktree are covered");
    }
    assert_eq!(env.git_in(&feat, &["status", "--porcelain"]), "", "excluded");
    assert!(env.axiom_in(&feat, &["attach", "claude"]).success().stdout.contains("unchanged"));
    let told = env.json(&["detach", "--dry-run"]);
    assert_eq!(told["files"].as_array().unwrap().iter().filter(|file| file["became"] != "unchanged").count(), 7, "{told}");
    // From the main worktree, what was written in the other one goes as well.
    env.ok(&["detach"]);
    for path in [".claude", ".codex", ".opencode", ".cursor", ".aider.conf.yml"] {
        assert!(!is_there(&feat, path) && !is_there(&env.repo(), path), "{path}");
    }
    assert_eq!(std::fs::read_to_string(feat.join(".gemini/settings.json")).unwrap(), before);
    assert!(!ours_in_entry(&env, "feat"), "nothing is left in git's folder for it");
}

#[test]
fn hooks_that_a_branch_brought_are_taken_out_where_detach_is_called_alone() {
    let env = TestEnv::new();
    let file = ".gemini/settings.json";
    let mut attach = env.axiom_command(&env.repo(), ["attach", "gemini", "--shared"]);
    let ours = Path::new(env!("CARGO_BIN_EXE_git-axiom")).parent().unwrap();
    attach.env("PATH", format!("{}:/usr/bin:/bin", ours.display()));
    env.run(attach, None).success();
    env.git(&["add", "-f", file]);
    env.git(&["commit", "-q", "-m", "hooks for everybody"]);
    let feat = linked(&env, "feat");
    env.ok(&["detach", "gemini", "--shared"]);
    assert!(!env.repo().join(file).exists() && feat.join(file).exists());
    assert_eq!(env.git_in(&feat, &["status", "--porcelain"]), "");
}

#[test]
fn status_answers_for_the_worktree_in_which_it_is_asked() {
    let env = TestEnv::new();
    env.ok(&["attach", "gemini", "claude"]);
    let feat = linked(&env, "feat");
    let first = |folder: &Path| env.axiom_in(folder, &["attach", "--status"]).success().stdout.lines().next().unwrap().to_owned();
    assert!(
        first(&env.repo()).starts_with("This worktree is NOT protected with claude: its hook of a prompt has not fired here")
    );
    hook(&env, "claude", &env.repo(), "UserPromptSubmit");
    assert!(first(&env.repo()).starts_with("This worktree is protected with claude since "), "{}", first(&env.repo()));
    assert_eq!(of_program(&env, &env.repo(), "gemini").map(|one| one.0), Some(false), "another program");
    // One file covers all: but nothing has fired in the other one.
    assert_eq!(of_program(&env, &feat, "claude").map(|one| one.0), Some(false));
    assert_eq!(of_program(&env, &feat, "gemini"), None, "it reads no file of the main worktree");
    assert!(status(&env, &feat)["events"].as_array().unwrap().iter().all(|event| event["program"] == "claude"));
    std::fs::create_dir(feat.join("deep")).unwrap();
    hook(&env, "claude", &feat.join("deep"), "UserPromptSubmit");
    assert!(first(&feat.join("deep")).starts_with("This worktree is protected with claude since "));
    assert_eq!(env.json(&["sessions"])["sessions"].as_array().unwrap().len(), 1);
    // What seldom fires is apart from what protects.
    let told = env.axiom_in(&feat, &["attach", "--status", "claude"]).success().stdout;
    let rows: Vec<&str> = told.lines().filter(|line| line.starts_with("claude  ")).collect();
    assert_eq!(rows.len(), 6, "{told}");
    assert!(told.contains("claude: seldom, and not yet: PostToolUseFailure") && told.contains("SessionEnd"), "{told}");
    assert!(told.lines().all(|line| line.len() <= 80 || line.starts_with("This worktree")), "{told}");
    env.ok(&["detach", "claude"]);
    assert!(first(&feat).starts_with("This worktree is NOT protected: no program is attached in it"), "{}", first(&feat));
}

#[test]
fn of_a_worktree_that_is_removed_nothing_is_left_and_a_new_one_of_its_name_begins_anew() {
    let env = TestEnv::new();
    let feat = linked(&env, "feat");
    env.axiom_in(&feat, &["attach", "claude", "gemini"]).success();
    hook(&env, "claude", &feat, "UserPromptSubmit");
    assert!(ours_in_entry(&env, "feat"));
    env.git(&["worktree", "remove", feat.to_str().unwrap()]);
    assert!(!env.repo().join(".git/worktrees/feat").exists());
    // A hook that still comes for it makes nothing of it again.
    hook(&env, "claude", &env.repo(), "WorktreeRemove");
    env.git(&["worktree", "add", "-q", feat.to_str().unwrap(), "feat"]);
    assert!(!ours_in_entry(&env, "feat"));
    assert_eq!(of_program(&env, &feat, "claude").map(|one| one.0), Some(false), "its hooks have not fired in this one");
    assert_eq!(of_program(&env, &feat, "gemini"), None);
    // What was handed over is saved in the background first.
    let busy = || env.axiom(&["deinit", "--yes"]).code == Some(5);
    while busy() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(!ours_in_entry(&env, "feat") && !env.axiom_dir().exists());
}

#[test]
fn hooks_save_in_a_worktree_of_a_bare_repository_in_a_subfolder_and_below_a_git_hook() {
    let env = TestEnv::new();
    let prompts = |folder: &Path| {
        let all = env.axiom_in(folder, &["prompts", "--json"]).success().json();
        all["prompts"].as_array().unwrap().len()
    };
    let bare = env.root().join("bare.git");
    env.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let [one, two] = ["one", "two"].map(|name| env.root().join(name));
    for (place, branch) in [(&one, "a"), (&two, "b")] {
        env.git_in(&bare, &["worktree", "add", "-q", "-b", branch, place.to_str().unwrap()]);
    }
    env.axiom_in(&one, &["attach", "claude"]).success();
    for (count, place) in [(1, &one), (2, &two)] {
        std::fs::write(place.join("new.txt"), "new\n").unwrap();
        hook(&env, "claude", place, "UserPromptSubmit");
        assert_eq!(prompts(place), count, "{}", place.display());
        assert_eq!(of_program(&env, place, "claude").map(|one| one.0), Some(true), "{}", place.display());
    }
    env.ok(&["attach", "claude"]);
    let sub = env.repo().join("deep/er");
    std::fs::create_dir_all(&sub).unwrap();
    hook(&env, "claude", &sub, "UserPromptSubmit");
    assert_eq!(prompts(&env.repo()), 1);
    // git sets these for its hooks, from which a program may have been started; the agent may work elsewhere since.
    let git_dir = env.repo().join(".git");
    for (value, folder) in
        [(git_dir.to_str().unwrap(), &env.repo()), (".git", &env.repo()), (".git", &sub), (bare.to_str().unwrap(), &sub)]
    {
        let before = prompts(&env.repo());
        hook_with(&env, "claude", folder, "UserPromptSubmit", &[("GIT_DIR", value), ("GIT_INDEX_FILE", ".git/index")]);
        assert_eq!(prompts(&env.repo()), before + 1, "{value}");
    }
}

#[test]
fn a_hook_in_a_submodule_saves_the_repository_around_it() {
    let env = TestEnv::new();
    let other = env.root().join("library");
    env.git_in(env.root(), &["init", "-q", other.to_str().unwrap()]);
    env.git_in(&other, &["commit", "-q", "--allow-empty", "-m", "first"]);
    env.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.to_str().unwrap(), "lib"]);
    env.git(&["commit", "-q", "-m", "with a submodule"]);
    env.ok(&["attach", "claude"]);
    let lib = env.repo().join("lib");
    hook(&env, "claude", &lib, "UserPromptSubmit");
    let session = env.json(&["sessions"])["sessions"][0].clone();
    assert_eq!((&session["worktree"], &session["prompts"]), (&json!(env.repo()), &json!(1)), "{session}");
    assert!(env.git(&["for-each-ref", "refs/axiom/captures"]).contains("prompt-0001"));
    // A repository that is no submodule is none of ours.
    let nested = env.repo().join("nested");
    env.git(&["init", "-q", "nested"]);
    hook(&env, "claude", &nested, "UserPromptSubmit");
    assert_eq!(env.json(&["sessions"])["sessions"][0]["prompts"], 1);
}

/// What `detach` puts back in a linked worktree may hold the secret as well: it is named, and stays as it was.
#[test]
fn purge_names_what_is_put_back_in_a_linked_worktree() {
    let env = TestEnv::new();
    let feat = linked(&env, "feat");
    let file = feat.join(".gemini/settings.json");
    let before = "{\"env\": {\"KEY\": \"sk-secret-0123456789\"}}\n";
    std::fs::create_dir(feat.join(".gemini")).unwrap();
    std::fs::write(&file, before).unwrap();
    env.write(".env", "KEY=sk-secret-0123456789\n");
    env.ok(&["checkpoint", "create", "one"]);
    env.axiom_in(&feat, &["attach", "gemini"]).success();
    let held = env.json(&["purge", ".env", "--yes"])["heldBy"].to_string();
    assert!(held.contains("worktrees/feat/axiom/attach/kept/"), "{held}");
    env.axiom_in(&feat, &["detach", "gemini"]).success();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
}
