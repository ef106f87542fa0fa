//! What git does not track and the configuration decides on: ignored files that people cannot lose are held, others are kept out,
//! and what does not come back is named.

use std::os::unix::fs::PermissionsExt;

use crate::support::{Scratch, contents};

fn configure(scratch: &Scratch, key: &str, patterns: &[&str]) {
    for pattern in patterns {
        scratch.git(&["config", "--add", &format!("axiom.checkpoints.{key}"), pattern]);
    }
}

/// Secrets and a build, all ignored; `split` makes git itself do the capture.
fn with_secrets(split: bool) -> Scratch {
    let scratch = Scratch::new();
    if split {
        scratch.git(&["update-index", "--split-index"]);
    }
    scratch.write(".git/info/exclude", "/.worktrees/\n.env*\nsecrets/\nbuild/\n");
    for path in [".env", "app/.env.local", "secrets/a.pem", "secrets/b.txt", "build/x", "build/.env"] {
        scratch.write(path, format!("{path}\n"));
    }
    std::fs::set_permissions(scratch.path().join(".env"), std::fs::Permissions::from_mode(0o600)).unwrap();
    scratch
}

/// What a checkpoint says on standard error, and what it does not hold of one kind.
fn create(scratch: &Scratch, name: &str, kind: &str) -> (String, Vec<String>) {
    let output = scratch.axiom_with(&["checkpoint", "create", name], &[]);
    assert!(output.status.success());
    let shown = scratch.json(&["checkpoint", "show", name]);
    let paths = &shown["checkpoint"]["document"]["coverage"][scratch.path().to_str().unwrap()][kind]["paths"];
    let paths = paths.as_array().into_iter().flatten().map(|path| path.as_str().unwrap().to_owned()).collect();
    (String::from_utf8_lossy(&output.stderr).into_owned(), paths)
}

fn not_restored(told: &serde_json::Value) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    told["notRestored"].as_array().unwrap().iter().map(|line| (text(&line["path"]), text(&line["reason"]))).collect()
}

#[test]
fn ignored_files_that_are_included_are_held_counted_and_come_back() {
    for split in [false, true] {
        let scratch = with_secrets(split);
        configure(&scratch, "include", &[".env*", "secrets/*.pem"]);
        let before = contents(&scratch.path());
        let (said, ignored) = create(&scratch, "safe", "ignored");
        let words = "held by checkpoints.include: 3 ignored files (.env, app/.env.local, secrets/a.pem)";
        assert!(said.contains(words) && said.contains("2 ignored entries (build, secrets/b.txt)"), "split: {split}: {said}");
        assert_eq!(ignored, ["build", "secrets/b.txt"]);
        let held = scratch.git(&["ls-tree", "-r", "--name-only", "refs/axiom/captures/safe"]);
        assert_eq!(held, ".env\na.txt\napp/.env.local\nsecrets/a.pem\nstaged.txt\nsub/b.txt");
        scratch.write(".env", "overwritten\n");
        std::fs::remove_dir_all(scratch.path().join("app")).unwrap();
        scratch.remove("secrets/a.pem");
        let wrecked = contents(&scratch.path());
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(contents(&scratch.path()), before, "split: {split}");
        assert_eq!(scratch.path().join(".env").metadata().unwrap().permissions().mode() & 0o777, 0o600);
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(contents(&scratch.path()), wrecked, "split: {split}");
        // What came since is ignored all the same: it stays.
        scratch.write(".env.later", "later\n");
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(scratch.read(".env.later"), "later\n");
        assert_eq!(scratch.git(&["status", "--porcelain"]), "", "they are ignored as before");
        scratch.fsck();
    }
}

#[test]
fn a_checkpoint_of_known_paths_has_what_is_included_too() {
    let scratch = with_secrets(false);
    configure(&scratch, "include", &[".env*"]);
    scratch.axiom(&["checkpoint", "create", "base"]);
    scratch.write("a.txt", "changed\n");
    scratch.axiom(&["checkpoint", "create", "named", "--only", "a.txt"]);
    scratch.write(".env", "changed\n");
    scratch.axiom(&["checkpoint", "create", "looked", "--only", ".env"]);
    let held = |name: &str| scratch.git(&["show", &format!("refs/axiom/captures/{name}:.env")]);
    assert_eq!((held("named").as_str(), held("looked").as_str()), (".env", "changed"));
}

#[test]
fn what_is_excluded_is_kept_out_and_left_alone_where_an_older_checkpoint_holds_it() {
    for split in [false, true] {
        let scratch = Scratch::new();
        if split {
            scratch.git(&["update-index", "--split-index"]);
        }
        for path in ["big.bin", "data/x", "data/y", "kept", "a.txt"] {
            scratch.write(path, "then\n");
        }
        scratch.axiom(&["checkpoint", "create", "older"]);
        configure(&scratch, "exclude", &["big.bin", "data/", "a.txt"]);
        for path in ["big.bin", "data/x", "kept", "a.txt"] {
            scratch.write(path, "now\n");
        }
        scratch.remove("data/y");
        let told = scratch.json(&["rollback", "checkpoint", "older", "--dry-run"]);
        let expected = ["big.bin", "data/x", "data/y"].map(|path| (path.to_owned(), "excluded".to_owned()));
        assert_eq!(not_restored(&told), expected);
        scratch.axiom(&["rollback", "checkpoint", "older", "--yes"]);
        assert!(!scratch.has("data/y"));
        let read = ["big.bin", "data/x", "kept", "a.txt"].map(|path| scratch.read(path));
        assert_eq!(read, ["now\n", "now\n", "then\n", "then\n"], "what is tracked is held whatever its name, split: {split}");
        let (said, excluded) = create(&scratch, "newer", "excluded");
        assert_eq!(excluded, ["big.bin", "data"], "split: {split}");
        assert!(said.contains("2 entries excluded by checkpoints.exclude (big.bin, data)"), "{said}");
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(["big.bin", "kept", "a.txt"].map(|path| scratch.read(path)), ["now\n"; 3]);
    }
}

#[test]
fn what_is_not_held_is_named_before_and_what_does_not_come_back_after() {
    let scratch = with_secrets(false);
    let (said, _) = create(&scratch, "safe", "ignored");
    assert!(said.contains("not held: 4 ignored entries (.env, app/.env.local, build, …)"), "{said}");
    scratch.remove(".env");
    scratch.write("a.txt", "changed\n");
    let told = scratch.json(&["rollback", "checkpoint", "safe", "--dry-run"]);
    assert_eq!(not_restored(&told), [(".env".to_owned(), "ignored".to_owned())]);
    let went = scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert!(went.contains("\n    .env (ignored, and not in checkpoints.include)\n"), "{went}");
}

#[test]
fn a_file_that_differs_from_a_tracked_one_in_case_alone_is_held_where_git_ignores_case() {
    let scratch = Scratch::new();
    scratch.git(&["config", "core.ignorecase", "true"]);
    scratch.write("A.TXT", "upper\n");
    scratch.write(".git/info/exclude", "/.worktrees/\n*.log\n");
    scratch.write("x.LOG", "ignored by case\n");
    let (_, ignored) = create(&scratch, "safe", "ignored");
    assert_eq!(ignored, ["x.LOG"]);
    scratch.remove("A.TXT");
    scratch.write("a.txt", "changed\n");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!((scratch.read("A.TXT").as_str(), scratch.read("a.txt").as_str()), ("upper\n", "a\n"));
    scratch.axiom(&["undo", "--yes"]);
    assert!(!scratch.has("A.TXT") && scratch.has("x.LOG"));
}
