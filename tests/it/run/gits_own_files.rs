//! Files of git's that we edit keep mode and owner; root makes nothing in another's repository.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use git_axiom::base::error::Code;

use crate::common::{NOBODY, is_root};
use crate::session_support::World;

fn look(path: &Path) -> (u32, u32, u32) {
    let meta = path.symlink_metadata().unwrap();
    (meta.mode() & 0o7777, meta.uid(), meta.gid())
}

/// What is below the git directory and not ours, that somebody of the group may not read or a folder that he may not write in.
fn closed_to_the_group(git_dir: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(git_dir).into_iter().filter_entry(|entry| !entry.path().ends_with(".git/axiom"));
    let is_closed = |path: &PathBuf| {
        let meta = path.symlink_metadata().unwrap();
        if meta.is_dir() { meta.mode() & 0o070 != 0o070 } else { meta.mode() & 0o040 == 0 }
    };
    entries.map(|entry| entry.unwrap().into_path()).filter(is_closed).collect()
}

#[test]
fn in_a_group_s_repository_others_still_read_what_is_git_s() {
    let world = World::new();
    let env = &world.env;
    let git_dir = env.repo().join(".git");
    env.git(&["config", "core.sharedRepository", "group"]);
    for entry in walkdir::WalkDir::new(&git_dir).into_iter().map(Result::unwrap) {
        let meta = entry.path().symlink_metadata().unwrap();
        let more = if meta.is_dir() { 0o2070 } else { 0o060 & (meta.mode() | 0o040) };
        std::fs::set_permissions(entry.path(), std::fs::Permissions::from_mode(meta.mode() | more)).unwrap();
    }
    let exclude = git_dir.join("info/exclude");
    std::fs::create_dir_all(exclude.parent().unwrap()).unwrap();
    std::fs::write(&exclude, "secret.env\n").unwrap();
    std::fs::set_permissions(exclude.parent().unwrap(), std::fs::Permissions::from_mode(0o2775)).unwrap();
    std::fs::set_permissions(&exclude, std::fs::Permissions::from_mode(0o664)).unwrap();
    if is_root() {
        std::os::unix::fs::chown(&exclude, None, Some(NOBODY)).unwrap();
    }
    let before = look(&exclude);
    // A merge that waits with a conflict comes back with its files.
    env.git(&["switch", "-q", "-c", "other"]);
    env.write("README", "other\n");
    env.git(&["commit", "-q", "-a", "-m", "other"]);
    env.git(&["switch", "-q", "main"]);
    env.write("README", "main\n");
    env.git(&["commit", "-q", "-a", "-m", "main"]);
    env.try_git(&["merge", "other"]);
    env.ok(&["checkpoint", "create", "merging"]);
    env.git(&["merge", "--abort"]);
    env.ok(&["rollback", "checkpoint", "merging", "--yes"]);
    assert!(git_dir.join("MERGE_HEAD").exists());
    env.git(&["merge", "--abort"]);
    world.task("t", "echo work > w.txt", &[]);
    world.autopilot(&[]).code(0);
    assert_eq!(look(&exclude), before);
    assert!(std::fs::read_to_string(&exclude).unwrap().starts_with("secret.env\n"));
    let closed = closed_to_the_group(&git_dir);
    assert!(closed.is_empty(), "{closed:#?}");
}

#[test]
fn an_index_and_packed_refs_keep_their_modes() {
    let world = World::new();
    let env = &world.env;
    env.ok(&["checkpoint", "create", "one"]);
    env.ok(&["checkpoint", "create", "two"]);
    env.git(&["pack-refs", "--all"]);
    let files = ["index", "packed-refs"].map(|name| env.repo().join(".git").join(name));
    for file in &files {
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o660)).unwrap();
    }
    env.write("README", "changed\n");
    env.git(&["add", "README"]);
    std::fs::set_permissions(&files[0], std::fs::Permissions::from_mode(0o660)).unwrap();
    env.ok(&["rollback", "checkpoint", "one", "--yes"]);
    env.ok(&["checkpoint", "delete", "two", "--protected", "--yes"]);
    for file in &files {
        assert_eq!(look(file).0, 0o660, "{}", file.display());
    }
}

#[test]
fn root_makes_nothing_in_a_user_s_repository() {
    if !is_root() {
        // The rule has a test of its own in `safety::ownership`.
        return crate::skipped::skipped("only root gives files away");
    }
    let world = World::new();
    for entry in walkdir::WalkDir::new(world.env.repo()).into_iter().map(Result::unwrap) {
        std::os::unix::fs::lchown(entry.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let as_root = |args: &[&str]| {
        let mut command = world.env.axiom_command(&world.env.repo(), args);
        // As `sudo` says it: git lets root in then.
        command.env("SUDO_UID", NOBODY.to_string());
        world.env.run(command, None)
    };
    for args in [&["init"][..], &["checkpoint", "create", "x"], &["task", "add", "t"], &["run", "--until-idle"]] {
        as_root(args).fails_with(Code::NotTheOwner);
    }
    as_root(&["status"]).success();
    let foreign = walkdir::WalkDir::new(world.env.repo()).into_iter().map(Result::unwrap);
    let foreign: Vec<_> = foreign.filter(|entry| look(entry.path()).1 != NOBODY).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}
