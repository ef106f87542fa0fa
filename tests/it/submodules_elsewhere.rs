//! Submodules whose repository was moved, replaced or torn: what is held of one comes back from where git keeps it now; what cannot is
//! named, and all else goes on.

use crate::support::Scratch;

const FILE: [&str; 2] = ["-c", "protocol.file.allow=always"];

/// With two submodules, `s` that has another one, `n`, and `t`; work in all.
struct Two {
    scratch: Scratch,
    origin: Scratch,
    _inner: Scratch,
}

impl Two {
    fn new() -> Self {
        let (scratch, origin, inner) = (Scratch::new(), Scratch::new(), Scratch::new());
        let url = |of: &Scratch| of.path().display().to_string();
        origin.git(&[&FILE[..], &["submodule", "--quiet", "add", &url(&inner), "n"]].concat());
        origin.git(&["commit", "-q", "-m", "nested"]);
        scratch.git(&[&FILE[..], &["submodule", "--quiet", "add", &url(&origin), "s"]].concat());
        scratch.git(&[&FILE[..], &["submodule", "--quiet", "add", &url(&inner), "t"]].concat());
        scratch.git(&[&FILE[..], &["submodule", "--quiet", "update", "--init", "--recursive"]].concat());
        scratch.git(&["commit", "-q", "-m", "submodules"]);
        for folder in ["s", "s/n", "t"] {
            scratch.write(&format!("{folder}/u"), "mine\n");
        }
        Self { scratch, origin, _inner: inner }
    }

    fn saved() -> Self {
        let all = Self::new();
        all.scratch.axiom(&["checkpoint", "create", "safe"]);
        all
    }

    fn remove(&self, path: &str) {
        std::fs::remove_dir_all(self.scratch.path().join(path)).unwrap();
    }

    fn back(&self) -> serde_json::Value {
        self.scratch.json(&["rollback", "checkpoint", "safe", "--yes"])
    }

    fn has_all(&self) -> bool {
        ["s/u", "s/n/u", "t/u"].iter().all(|path| self.scratch.has(path))
    }
}

fn reasons(told: &serde_json::Value) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    told["notRestored"].as_array().unwrap().iter().map(|one| (text(&one["path"]), text(&one["reason"]))).collect()
}

fn named(path: &str, reason: &str) -> (String, String) {
    (path.to_owned(), reason.to_owned())
}

/// `git rm` absorbs it, and our captures with it.
#[test]
fn a_submodule_with_a_git_folder_of_its_own_comes_back_from_where_git_moved_it() {
    for removal in [&["rm", "-qrf", "s"][..], &["submodule", "--quiet", "absorbgitdirs", "s"][..]] {
        let all = Two::new();
        let scratch = &all.scratch;
        std::fs::remove_file(scratch.path().join("s/.git")).unwrap();
        std::fs::rename(scratch.path().join(".git/modules/s"), scratch.path().join("s/.git")).unwrap();
        scratch.git(&["config", "--file", "s/.git/config", "--unset", "core.worktree"]);
        scratch.write("s/n/.git", "gitdir: ../.git/modules/n\n");
        scratch.git(&["config", "--file", "s/.git/modules/n/config", "core.worktree", "../../../n"]);
        scratch.axiom(&["checkpoint", "create", "safe"]);
        scratch.git(removal);
        assert!(scratch.has(".git/modules/s/HEAD"), "{removal:?}");
        scratch.write("a.txt", "other\n");
        if scratch.has("s/u") {
            std::fs::remove_file(scratch.path().join("s/u")).unwrap();
        }
        let done = all.back();
        assert_eq!(reasons(&done), [], "{removal:?}");
        assert!(all.has_all(), "{removal:?}");
        scratch.axiom(&["undo", "--yes"]);
        assert!(!scratch.has("s/u"), "{removal:?}");
        scratch.axiom(&["redo", "--yes"]);
        assert!(all.has_all(), "{removal:?}");
        // Its captures are collected, repaired and verified where they are now.
        scratch.git(&["-C", "s", "update-ref", "-d", "refs/axiom/captures/_superproject/safe"]);
        scratch.axiom(&["checkpoint", "verify", "safe", "--repair"]);
        scratch.axiom(&["checkpoint", "verify"]);
    }
}

#[test]
fn a_submodule_that_was_moved_is_named_with_the_way_to_get_it_back() {
    let all = Two::saved();
    let scratch = &all.scratch;
    scratch.git(&["mv", "t", "elsewhere"]);
    std::fs::remove_file(scratch.path().join("elsewhere/u")).unwrap();
    let told = scratch.axiom(&["rollback", "checkpoint", "safe", "--dry-run"]);
    assert!(told.contains("git submodule update --init t") && !told.contains("removed, or has lost it"), "{told}");
    assert_eq!(reasons(&all.back()), [named("t", "submoduleMoved")]);
    scratch.git(&[&FILE[..], &["submodule", "--quiet", "update", "--init", "t"]].concat());
    assert_eq!(reasons(&all.back()), []);
    assert!(all.has_all());
}

#[test]
fn a_repository_in_the_place_of_a_submodule_stays_and_all_else_goes_back() {
    let all = Two::saved();
    let scratch = &all.scratch;
    all.remove("s");
    scratch.git(&[&FILE[..], &["clone", "-q", &all.origin.path().display().to_string(), "s"]].concat());
    scratch.write("s/theirs", "t\n");
    scratch.write("a.txt", "broken\n");
    all.scratch.write("t/u", "broken\n");
    scratch.axiom(&["checkpoint", "diff", "safe"]);
    assert_eq!(reasons(&all.back()), [named("s", "submoduleReplaced"), named("s/n", "submoduleReplaced")]);
    assert_eq!((scratch.read("a.txt").as_str(), scratch.read("t/u").as_str()), ("a\n", "mine\n"));
    assert!(scratch.has("s/theirs") && !scratch.has("s/u"));
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!((scratch.read("a.txt").as_str(), scratch.read("t/u").as_str()), ("broken\n", "broken\n"));
}

#[test]
fn a_submodule_whose_configuration_is_torn_is_named_and_all_else_is_held() {
    let all = Two::new();
    let scratch = &all.scratch;
    scratch.git(&["-C", "t", "commit", "-q", "--allow-empty", "-m", "moved"]);
    let moved = scratch.git(&["-C", "t", "rev-parse", "HEAD"]);
    scratch.write(".git/modules/s/config", "[torn\n");
    let made = scratch.json(&["checkpoint", "create", "safe"]);
    let coverage = &made["coverage"][scratch.path().to_str().unwrap()];
    assert_eq!(coverage["dirtySubmodules"]["paths"], serde_json::json!(["s"]), "{made}");
    scratch.write("a.txt", "broken\n");
    scratch.git(&["-C", "t", "reset", "-q", "--hard", "HEAD~1"]);
    std::fs::remove_file(scratch.path().join("t/u")).unwrap();
    assert_eq!(reasons(&all.back()), [named("s", "dirtySubmodules")]);
    assert_eq!((scratch.read("a.txt").as_str(), scratch.read("t/u").as_str()), ("a\n", "mine\n"));
    assert_eq!(scratch.git(&["-C", "t", "rev-parse", "HEAD"]), moved);
}

#[test]
fn a_submodule_that_could_not_be_held_is_named_where_nothing_changes_too() {
    let all = Two::new();
    let scratch = &all.scratch;
    scratch.write("t/.git", "");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    std::fs::remove_file(scratch.path().join("t/u")).unwrap();
    let told = scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert!(told.contains("\n    t (a submodule that could not be held)"), "{told}");
}

#[test]
fn a_submodule_that_files_or_a_file_replaced_comes_back_at_once_and_an_undo_takes_that_back() {
    for path in ["s", "s/file", "s/u"] {
        let all = Two::saved();
        let scratch = &all.scratch;
        scratch.git(&["rm", "-qrf", "s"]);
        if path.contains('/') {
            std::fs::create_dir_all(scratch.path().join("s")).unwrap();
        }
        scratch.write(path, "mine\n");
        assert_eq!(reasons(&all.back()), [], "{path}");
        assert!(all.has_all(), "{path}");
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!((scratch.read(path).as_str(), scratch.has("s/.git"), scratch.has("s/n")), ("mine\n", false, false), "{path}");
        scratch.axiom(&["redo", "--yes"]);
        assert!(all.has_all(), "{path}");
    }
}

#[test]
fn a_submodule_that_was_not_there_then_stays_and_the_undo_knows() {
    let (scratch, inner) = (Scratch::new(), Scratch::new());
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &inner.path().display().to_string(), "sm"];
    scratch.git(&add);
    scratch.git(&["commit", "-q", "-m", "submodule"]);
    std::fs::remove_dir_all(scratch.path().join("sm")).unwrap();
    scratch.axiom(&["checkpoint", "create", "without"]);
    scratch.git(&["submodule", "--quiet", "update", "--init"]);
    scratch.write("sm/work", "work\n");
    let told = scratch.json(&["rollback", "checkpoint", "without", "--yes"]);
    assert_eq!((&told["submodules"][0]["path"], &told["undo"]), (&"sm".into(), &serde_json::Value::Null), "{told}");
    scratch.write("a.txt", "edited\n");
    scratch.axiom(&["rollback", "checkpoint", "without", "--yes"]);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!((scratch.read("a.txt").as_str(), scratch.read("sm/work").as_str()), ("edited\n", "work\n"));
}

#[test]
fn a_repository_in_the_index_whose_configuration_was_torn_stays_and_all_else_goes_back() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().join("s")).unwrap();
    scratch.git(&["-C", "s", "init", "-q"]);
    scratch.write("s/inner", "i\n");
    scratch.git(&["-C", "s", "add", "inner"]);
    scratch.git(&["-C", "s", "commit", "-q", "-m", "inner"]);
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "a repository in another"]);
    // Then the index is put together by git.
    scratch.write("announced", "x\n");
    scratch.git(&["add", "-N", "announced"]);
    scratch.git(&["config", "submodule.recurse", "true"]);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("s/.git/config", "[torn\n");
    scratch.write("s/inner", "edited\n");
    let read = |paths: [&str; 3]| paths.map(|path| scratch.read(path));
    for args in
        [&["rollback", "checkpoint", "safe", "--yes", "--json"][..], &["restore", "safe", "--yes", "--json", "--", "a.txt"]]
    {
        scratch.write("a.txt", "broken\n");
        scratch.git(&["update-index", "--force-remove", "announced"]);
        let told = serde_json::from_str(&scratch.axiom(args)).unwrap();
        let left = if args[0] == "restore" { vec![] } else { vec![named("s", "submoduleNotCaptured")] };
        assert_eq!(reasons(&told), left);
        assert_eq!(read(["a.txt", "s/inner", "s/.git/config"]), ["a\n", "edited\n", "[torn\n"], "{args:?}");
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(read(["a.txt", "s/inner", "s/.git/config"]), ["broken\n", "edited\n", "[torn\n"], "{args:?}");
    }
}
