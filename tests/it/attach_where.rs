//! Whose file `git axiom attach` changes, which path of ours it writes, and what it asks at a terminal.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use git_axiom::base::error::Code;

use crate::common::TestEnv;
use crate::terminal::Terminal;

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The folder of the built program.
fn built() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_git-axiom")).parent().unwrap()
}

/// Copies a program, in a process of its own: what this one has open for writing, its children may have open when it is started.
fn copy(from: &Path, to: &Path) {
    assert!(std::process::Command::new("cp").arg(from).arg(to).status().unwrap().success());
}

/// A program that says nothing, in a folder of programs.
fn install(folder: &Path, name: &str) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join(name), "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_users_own_files_are_changed_only_where_that_is_wanted_and_are_as_they_were_afterwards() {
    let env = TestEnv::new();
    let home = env.root().join("home");
    let (claude, codex) = (home.join("elsewhere/settings.json"), home.join(".codex/hooks.json"));
    let before = "{\n  \"model\": \"mine\"\n}";
    std::fs::create_dir_all(claude.parent().unwrap()).unwrap();
    std::fs::write(&claude, before).unwrap();
    let own = |verb: &str| {
        let mut command = env.axiom_command(&env.repo(), [verb, "claude", "codex", "gemini", "--user"]);
        command.env("CLAUDE_CONFIG_DIR", claude.parent().unwrap());
        env.run(command, None).success()
    };
    let said = own("attach");
    assert!(said.stderr.contains("git config axiom.attach off"), "{said}");
    for file in [&claude, &codex, &home.join(".gemini/settings.json")] {
        assert!(read(file).contains("hook"), "{}", file.display());
    }
    assert!(read(&claude).contains("\"model\": \"mine\""));
    for untouched in [".claude", ".codex", ".gemini"] {
        assert!(!env.repo().join(untouched).exists(), "{untouched}");
    }
    own("detach");
    assert_eq!(read(&claude), before);
    assert!(!codex.exists() && !home.join(".gemini").exists());
}

#[test]
fn a_shared_file_does_nothing_where_there_is_no_git_axiom() {
    let env = TestEnv::new();
    // It is called by its name, so it has to be found by it.
    env.axiom(&["attach", "claude", "--shared"]).fails_with(Code::InvalidInput);
    let mut command = env.axiom_command(&env.repo(), ["attach", "claude", "--shared"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", built().display()));
    env.run(command, None).success();
    let file = env.repo().join(".claude/settings.json");
    let json: serde_json::Value = serde_json::from_str(&read(&file)).unwrap();
    let command = json["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    assert!(!command.contains(env!("CARGO_BIN_EXE_git-axiom")), "{command}");
    assert_eq!(
        env.git(&["status", "--porcelain", "-uall", "--", ".claude"]),
        "?? .claude/settings.json",
        "it is to be committed"
    );
    let nowhere = std::process::Command::new("/bin/sh").args(["-c", &command]).env("PATH", "/nowhere").output().unwrap();
    assert!(nowhere.status.success() && nowhere.stdout.is_empty() && nowhere.stderr.is_empty(), "{nowhere:?}");
    env.ok(&["detach", "claude", "--shared"]);
    assert!(!env.repo().join(".claude").exists());
}

/// A path of one version is gone after the next update, and with it every hook.
#[test]
fn the_path_that_is_written_stays_when_git_axiom_is_updated() {
    let env = TestEnv::new();
    let version = env.root().join("mise/installs/git-axiom/0.1.0");
    std::fs::create_dir_all(&version).unwrap();
    copy(Path::new(env!("CARGO_BIN_EXE_git-axiom")), &version.join("git-axiom"));
    let shims = env.root().join("shims");
    std::fs::create_dir_all(&shims).unwrap();
    symlink(version.join("git-axiom"), shims.join("git-axiom")).unwrap();
    let attach = |path: &str| {
        let prepared = env.axiom_command(&env.repo(), ["attach", "codex"]);
        let mut command = std::process::Command::new(version.join("git-axiom"));
        command.args(prepared.get_args()).current_dir(env.repo()).env_clear();
        command.envs(prepared.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("PATH", path);
        env.run(command, None).success();
        read(&env.repo().join(".codex/hooks.json"))
    };
    let usual = std::env::var("PATH").unwrap();
    let written = attach(&format!("{}:{usual}", shims.display()));
    assert!(written.contains(&format!("{}/git-axiom hook codex", shims.display())), "{written}");
    assert!(!written.contains("/mise/installs/"), "{written}");
    // Found by the version's own folder alone: then by its name.
    env.ok(&["detach", "codex"]);
    let written = attach(&format!("{}:{usual}", version.display()));
    assert!(written.contains("exec git-axiom hook codex\""), "{written}");
}

#[test]
fn without_a_name_a_terminal_asks_which_of_the_installed_ones() {
    let env = TestEnv::new();
    let programs = env.root().join("programs");
    for name in ["claude", "codex", "gemini"] {
        install(&programs, name);
    }
    let ask = || {
        let mut command = env.axiom_command(&env.repo(), ["attach"]);
        // The built program is found by its name as well.
        command.env("PATH", format!("{}:{}:/usr/bin:/bin", programs.display(), built().display()));
        let mut terminal = Terminal::start(command);
        let seen = terminal.wait_for("Gemini CLI");
        assert!(seen.contains("Which programs?") && seen.contains("Claude Code") && seen.contains("Codex"), "{seen}");
        assert!(!seen.contains("Cursor") && !seen.contains("aider"), "{seen}");
        terminal
    };
    let mut terminal = ask();
    terminal.keys(&["\x1b"]);
    terminal.end();
    assert!(!env.repo().join(".claude").exists() && !env.repo().join(".codex").exists(), "Escape changes nothing");
    let mut terminal = ask();
    terminal.keys(&[" ", "\x1b[B", "\x1b[B", " ", "\r"]);
    assert!(terminal.end().0.success());
    let there = |path: &str| env.repo().join(path).exists();
    assert!(there(".claude/settings.local.json") && there(".gemini/settings.json") && !there(".codex"));
}

/// Enter on the one that is there takes it; an empty choice says that nothing was done.
#[test]
fn the_only_installed_program_is_taken_by_enter() {
    let env = TestEnv::new();
    let programs = env.root().join("programs");
    install(&programs, "claude");
    let ask = || {
        let mut command = env.axiom_command(&env.repo(), ["attach"]);
        command.env("PATH", format!("{}:{}:/usr/bin:/bin", programs.display(), built().display()));
        let mut terminal = Terminal::start(command);
        assert!(terminal.wait_for("[x] Claude Code").contains("Space marks"));
        terminal
    };
    let mut terminal = ask();
    terminal.keys(&[" ", "\r"]);
    assert!(terminal.wait_for("Nothing is attached").contains("Nothing is attached"));
    terminal.end();
    assert!(!env.repo().join(".claude").exists());
    let mut terminal = ask();
    terminal.keys(&["\r"]);
    assert!(terminal.end().0.success());
    assert!(env.repo().join(".claude/settings.local.json").exists());
}

/// Nothing approves itself: what is left to the human is said.
#[test]
fn what_the_human_still_has_to_do_is_said() {
    let env = TestEnv::new();
    for (program, todo) in
        [("codex", "trust the hooks"), ("opencode", "restart opencode"), ("claude", "git axiom attach --status")]
    {
        let said = env.axiom(&["attach", program]).success();
        assert!(said.stderr.contains(todo), "{said}");
    }
}

#[test]
fn deinit_detaches_and_takes_the_skill_out_again() {
    let env = TestEnv::new();
    env.write("AGENTS.md", "# Mine\n");
    env.ok(&["init", "--skill"]);
    env.ok(&["attach", "claude", "codex"]);
    assert!(read(&env.repo().join("AGENTS.md")).contains("git axiom") && env.repo().join(".claude/skills").exists());
    env.ok(&["deinit", "--yes"]);
    assert_eq!(read(&env.repo().join("AGENTS.md")), "# Mine\n");
    for gone in [".claude", ".codex", ".git/axiom"] {
        assert!(!env.repo().join(gone).exists(), "{gone}");
    }
}
