//! Untracked files that only their owner may read are held, and named where others may enter the git directory.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::common::TestEnv;
use crate::skipped::skipped;

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn named(env: &TestEnv, made: &serde_json::Value) -> Vec<String> {
    let sample = &made["coverage"][env.repo().to_str().unwrap()]["othersMayRead"]["paths"];
    sample.as_array().into_iter().flatten().map(|path| path.as_str().unwrap().to_owned()).collect()
}

#[test]
fn files_of_their_owner_alone_are_held_and_named_where_others_may_enter_the_git_directory() {
    let env = TestEnv::new();
    let root = env.root().canonicalize().unwrap();
    let is_closed = |folder: &Path| folder.metadata().is_ok_and(|meta| meta.mode() & 0o001 == 0);
    if root.ancestors().skip(1).any(is_closed) {
        return skipped("nobody else may enter the folder of the tests");
    }
    env.ok(&["init"]);
    for (path, mode) in [("key", 0o600), ("tighter", 0o400), ("usual", 0o644), ("README", 0o600)] {
        std::fs::write(env.repo().join(path), "x\n").unwrap();
        set_mode(&env.repo().join(path), mode);
    }
    let git_dir = env.repo().join(".git");
    [root.as_path(), &env.repo(), &git_dir, &git_dir.join("objects")].into_iter().for_each(|place| set_mode(place, 0o755));
    let made = env.json(&["checkpoint", "create", "open"]);
    assert_eq!(named(&env, &made), ["key", "tighter"], "a tracked one has been shared");
    let said = env.axiom(&["checkpoint", "create", "again"]).success().to_string();
    assert!(said.contains("2 files that only you may read (key, tighter)"), "{said}");
    assert!(env.axiom(&["attach", "--status"]).success().to_string().contains("only you may read key, tighter"));
    let held = env.git(&["ls-tree", "-r", "--name-only", "refs/axiom/captures/open"]);
    assert!(["key", "tighter"].iter().all(|path| held.lines().any(|line| line == *path)), "{held}");

    set_mode(&git_dir, 0o700);
    let made = env.json(&["checkpoint", "create", "closed"]);
    assert_eq!(named(&env, &made), Vec::<String>::new());
    // Where git makes the capture, too.
    std::fs::write(env.repo().join(".gitattributes"), "*.none filter=none\n").unwrap();
    set_mode(&git_dir, 0o755);
    assert_eq!(named(&env, &env.json(&["checkpoint", "create", "by-git"])), ["key", "tighter"]);
}
