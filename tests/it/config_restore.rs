//! Configuration files that cannot be read: what stands in for them, `config restore` and `reset`, with and without a terminal.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a failing test may panic, and tests prepare files

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::common::{NOBODY, TestEnv, documents, is_root};
use crate::terminal::Terminal;
use git_axiom::base::error::Code;
use serde_json::Value;

const PROJECT: &str = ".axiom/config.toml";
const RESTORED: &str = "warning[CONFIG_BACKUP_RESTORED]: ";

fn users(env: &TestEnv) -> PathBuf {
    env.root().join("home/.config/git-axiom/config.toml")
}

fn backup(env: &TestEnv) -> PathBuf {
    env.root().join("home/.local/state/git-axiom/config.toml.backup")
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn value(env: &TestEnv, key: &str) -> Value {
    env.json(&["config", "show", key])["settings"][0]["value"].clone()
}

/// Removes whatever is there.
fn clear(path: &Path) {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => std::fs::remove_dir(path).unwrap(),
        Ok(_) => std::fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

/// A word of the reason, and what brings it about.
type Breaks = (&'static str, fn(&Path));

/// The ways in which a file cannot be read as a configuration.
const BROKEN: [Breaks; 6] = [
    ("config.toml:1: this is not valid TOML", |path| write(path, "[agents\ncount = 3\n")),
    ("it is UTF-16", |path| write(path, b"\xff\xfe[\0a\0]\0")),
    ("is not UTF-8", |path| write(path, b"# caf\xe9\n")),
    ("a folder", |path| std::fs::create_dir(path).unwrap()),
    ("a symbolic link that leads nowhere", |path| symlink("nowhere", path).unwrap()),
    ("not a regular file", |path| {
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    }),
];

#[test]
fn config_backup_restored_for_a_file_that_cannot_be_read_and_config_damaged_without_a_backup() {
    let env = TestEnv::new();
    for (number, (why, breaks)) in (1..).zip(BROKEN) {
        // Nothing has loaded yet.
        clear(&users(&env));
        clear(&backup(&env));
        std::fs::create_dir_all(users(&env).parent().unwrap()).unwrap();
        breaks(&users(&env));
        let refused = env.axiom(&["run", "--until-idle"]).fails_with(Code::ConfigDamaged);
        assert!(refused.code == Some(6) && refused.stderr.contains(why), "{why}: {refused}");
        env.axiom(&["config", "restore", "--user", "--yes"]).fails_with(Code::NoBackup);
        let saved = env.axiom(&["checkpoint", "create"]).success();
        assert!(saved.stderr.contains("note: left out of the configuration"), "{saved}");
        // A good load, and then.
        clear(&users(&env));
        write(&users(&env), "[agents]\ncount = 7\n");
        assert_eq!(value(&env, "agents.count"), 7);
        assert_eq!(std::fs::metadata(backup(&env)).unwrap().permissions().mode() & 0o777, 0o600);
        clear(&users(&env));
        breaks(&users(&env));
        let run = env.axiom(&["run", "--until-idle"]).success();
        assert!(run.stderr.contains(RESTORED) && run.stderr.contains(why), "{why}: {run}");
        env.axiom(&["run", "--until-idle"]).success();
        let events = env.ok(&["events"]);
        let recorded: Vec<&str> = events.lines().filter(|line| line.contains("configBackupRestored")).collect();
        assert!(recorded.len() == number && recorded[number - 1].contains(why), "once each, {why}: {events}");
        let shown = env.axiom(&["config", "show", "agents.count"]).success();
        assert!(shown.stdout.contains("config.toml.backup:2") && shown.stdout.contains('7'), "{shown}");
        assert_eq!(env.axiom(&["config", "check"]).fails_with(Code::ConfigDamaged).code, Some(6));
        assert!(users(&env).symlink_metadata().is_ok(), "{why}: it is left alone");
    }
    clear(&users(&env));
}

#[test]
fn an_empty_file_sets_nothing_and_takes_no_backup_away() {
    let env = TestEnv::new();
    write(&users(&env), "[agents]\ncount = 7\n");
    assert_eq!(value(&env, "agents.count"), 7);
    write(&users(&env), "");
    assert_eq!(value(&env, "agents.count"), 2);
    // A wrong key is said, not passed over, and is no backup either.
    write(&users(&env), "[agents]\ncuont = 3\n");
    env.axiom(&["mode", "autopilot"]).fails_with(Code::ConfigInvalid);
    let restored = env.json(&["config", "restore", "--user", "--yes"]);
    documents::check(&restored);
    let kept = PathBuf::from(restored["kept"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "[agents]\ncuont = 3\n");
    assert_eq!(std::fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(value(&env, "agents.count"), 7);
    // A backup that others may write is none.
    std::fs::set_permissions(backup(&env), PermissionsExt::from_mode(0o622)).unwrap();
    write(&users(&env), "[");
    let refused = env.axiom(&["run", "--until-idle"]).fails_with(Code::ConfigDamaged);
    assert!(refused.stderr.contains("can be written by others"), "{refused}");
}

#[test]
fn restore_and_reset_ask_keep_what_is_there_and_say_where() {
    let env = TestEnv::new();
    env.axiom(&["config", "restore"]).fails_with(Code::Usage);
    write(&users(&env), "[agents]\ncount = 7\n");
    env.ok(&["config", "check"]);
    write(&users(&env), "[agents\n");
    let before = || std::fs::read_to_string(users(&env)).unwrap();
    for verb in ["restore", "reset"] {
        env.axiom(&["config", verb]).fails_with(Code::NeedsConfirmation);
        let planned = env.axiom(&["config", verb, "--dry-run"]).success();
        assert!(planned.stdout.contains("Nothing was changed."), "{planned}");
        assert_eq!(before(), "[agents\n");
    }
    let restored = env.ok(&["config", "restore", "--yes"]);
    assert_eq!(before(), "[agents]\ncount = 7\n");
    let kept = restored.lines().find_map(|line| line.strip_prefix("What was in it: ")).unwrap();
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "[agents\n");
    assert_eq!(env.json(&["config", "restore", "--user", "--yes"])["changed"], false);
    assert_eq!(env.json(&["config", "reset", "--user", "--yes"])["changed"], true);
    assert_eq!((before().as_str(), value(&env, "agents.count")), ("", Value::from(2)));
}

#[test]
fn restore_reset_and_quit_are_asked_at_a_terminal_and_not_with_non_interactive() {
    let env = TestEnv::new();
    let at_terminal = |args: &[&str]| Terminal::start(env.axiom_command(&env.repo(), args));
    write(&users(&env), "[agents\n");
    // Nothing to restore from: run asks, and a no changes nothing.
    let mut run = at_terminal(&["run", "--until-idle"]);
    let seen = run.wait_for("[Q] Quit");
    assert!(!seen.contains("[R] Restore"), "{seen}");
    run.keys(&["\x1b[B", "\r"]);
    assert_eq!(run.end().0.code(), Some(6));
    assert_eq!(at_terminal(&["--non-interactive", "run", "--until-idle"]).end().0.code(), Some(6));
    let mut run = at_terminal(&["run", "--until-idle"]);
    run.wait_for("[F] Reset");
    run.keys(&["\r"]);
    let (status, seen) = run.end();
    assert!(status.success() && seen.contains("What was in it:"), "{seen}");
    assert_eq!(std::fs::read_to_string(users(&env)).unwrap(), "");
    // With a backup.
    write(&users(&env), "[agents]\ncount = 7\n");
    env.ok(&["config", "check"]);
    write(&users(&env), "[agents\n");
    let mut check = at_terminal(&["config", "check"]);
    check.wait_for("[R] Restore");
    check.keys(&["\r"]);
    assert!(check.end().0.success());
    assert_eq!(value(&env, "agents.count"), 7);
}

#[test]
fn what_was_approved_stands_in_for_the_projects_file_until_it_is_revoked() {
    let env = TestEnv::new();
    let good = "[agents]\ncount = 7\n\n[merge]\nverify = ['true']\n";
    env.write(PROJECT, good);
    env.write(".axiom/hooks/on-error.sh", "#!/bin/sh\n");
    env.ok(&["trust", "--yes"]);
    for breaks in [
        |env: &TestEnv| env.write(PROJECT, "[agents\n"),
        |env: &TestEnv| {
            clear(&env.repo().join(PROJECT));
            env.write(&format!("{PROJECT}/x"), "");
        },
    ] {
        breaks(&env);
        let shown = env.axiom(&["config", "show", "agents.count"]).success();
        assert!(shown.stderr.contains(RESTORED) && shown.stdout.contains("(as approved):2"), "{shown}");
        env.ok(&["run", "--until-idle"]);
        // Not where other files have changed too.
        env.write(".axiom/hooks/on-error.sh", "#!/bin/sh\n:\n");
        assert_eq!(value(&env, "agents.count"), 2);
        env.write(".axiom/hooks/on-error.sh", "#!/bin/sh\n");
        assert_eq!(value(&env, "agents.count"), 7);
    }
    std::fs::remove_dir_all(env.repo().join(PROJECT)).unwrap();
    env.write(PROJECT, "[agents\n");
    env.ok(&["config", "restore", "--yes"]);
    assert_eq!((env.read(PROJECT).as_str(), value(&env, "agents.count")), (good, Value::from(7)));
    assert_eq!(env.json(&["trust"])["standing"], "approved");
    // A revoked approval is none.
    env.ok(&["trust", "--revoke"]);
    env.write(PROJECT, "[agents\n");
    assert_eq!(value(&env, "agents.count"), 2);
    env.axiom(&["config", "restore", "--repo", "--yes"]).fails_with(Code::NoBackup);
    assert_eq!(env.json(&["config", "reset", "--repo", "--yes"])["changed"], true);
    assert_eq!(env.read(PROJECT), "");
}

/// Root reads everything, so this is somebody else.
#[test]
fn a_file_that_this_user_may_not_read_is_like_one_that_cannot_be_read_and_is_left_alone() {
    let env = TestEnv::new();
    write(&users(&env), "[agents]\ncount = 7\n");
    std::fs::create_dir_all(env.root().join("home/.local")).unwrap();
    if is_root() {
        for entry in walkdir::WalkDir::new(env.root()).into_iter().flatten() {
            std::os::unix::fs::lchown(entry.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    let call = |args: &[&str]| env.run(env.bound_by_permissions(args), None);
    let set_mode = |mode| std::fs::set_permissions(users(&env), PermissionsExt::from_mode(mode)).unwrap();
    set_mode(0o000);
    // Nothing has loaded yet.
    let refused = call(&["run", "--until-idle"]).fails_with(Code::ConfigDamaged);
    assert!(refused.code == Some(6) && refused.stderr.contains("Permission denied"), "{refused}");
    call(&["config", "reset", "--user", "--yes"]).fails_with(Code::IoFailed);
    call(&["checkpoint", "create"]).success();
    // A good load, and then.
    set_mode(0o600);
    call(&["config", "check"]).success();
    set_mode(0o000);
    let run = call(&["run", "--until-idle"]).success();
    assert!(run.stderr.contains(RESTORED) && run.stderr.contains("Permission denied"), "{run}");
    let shown = call(&["config", "show", "agents.count"]).success();
    assert!(shown.stdout.contains("config.toml.backup:2") && shown.stdout.contains('7'), "{shown}");
    assert_eq!(users(&env).metadata().unwrap().permissions().mode() & 0o777, 0, "it is left alone");
    set_mode(0o600);
    assert_eq!(std::fs::read_to_string(users(&env)).unwrap(), "[agents]\ncount = 7\n");
}
