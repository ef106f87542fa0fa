//! Filters that are missing, fail or do not answer: their files are held as they are, and everything else as ever.

use std::time::{Duration, Instant};

use crate::support::Scratch;

/// A repository with `m.bin`, whose filter `big` was not there yet when it was committed, and works by now as `config` says.
fn with_filter(config: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::new();
    scratch.write(".gitattributes", "*.bin filter=big\n*.good filter=good\n");
    scratch.write("m.bin", "base\n");
    scratch.write("x.good", "base\n");
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "with a filter"]);
    scratch.git(&["config", "filter.good.clean", "tr a-z A-Z"]);
    scratch.git(&["config", "filter.good.smudge", "tr A-Z a-z"]);
    for (key, value) in config {
        scratch.git(&["config", key, value]);
    }
    scratch
}

const MISSING: [&[(&str, &str)]; 4] = [
    &[("filter.big.clean", "no-such-program"), ("filter.big.smudge", "no-such-program")],
    &[("filter.big.clean", "no-such-program"), ("filter.big.smudge", "no-such-program"), ("filter.big.required", "true")],
    &[("filter.big.process", "no-such-program"), ("filter.big.required", "true")],
    &[("filter.big.clean", "cat >/dev/null; exit 1"), ("filter.big.smudge", "cat"), ("filter.big.required", "true")],
];

/// The paths that the newest document names of one kind.
fn named(document: &serde_json::Value, scratch: &Scratch, kind: &str) -> Vec<String> {
    let sample = &document["coverage"][scratch.path().to_str().unwrap()][kind]["paths"];
    sample.as_array().map(|all| all.iter().map(|path| path.as_str().unwrap().to_owned()).collect()).unwrap_or_default()
}

#[test]
fn a_file_whose_filter_cannot_run_is_held_as_it_is_and_comes_back_so() {
    for config in MISSING {
        let scratch = with_filter(config);
        scratch.write("m.bin", "line\r\nends\n");
        scratch.write("new.bin", "new\n");
        scratch.write("x.good", "edited\n");
        let made = scratch.json(&["checkpoint", "create", "one"]);
        assert_eq!(named(&made, &scratch, "unfiltered"), ["m.bin", "new.bin"], "{config:?}");
        // The other filter has done its work.
        assert_eq!(scratch.git(&["cat-file", "blob", "refs/axiom/captures/one:x.good"]), "EDITED");
        assert_eq!(scratch.git(&["cat-file", "blob", "refs/axiom/captures/one:m.bin"]), "line\r\nends");
        for (path, text) in [("m.bin", "later\n"), ("new.bin", "later\n"), ("x.good", "later\n"), ("a.txt", "later\n")] {
            scratch.write(path, text);
        }
        scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
        let now = ["m.bin", "new.bin", "x.good", "a.txt"].map(|path| scratch.read(path));
        assert_eq!(now, ["line\r\nends\n", "new\n", "edited\n", "a\n"], "{config:?}");
        scratch.axiom(&["undo", "--yes"]);
        let now = ["m.bin", "new.bin", "x.good", "a.txt"].map(|path| scratch.read(path));
        assert_eq!(now, ["later\n"; 4], "{config:?}");
    }
}

#[test]
fn a_checkpoint_of_known_paths_holds_such_a_file_too() {
    let scratch = with_filter(MISSING[1]);
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.write("m.bin", "edit\n");
    let made = scratch.json(&["checkpoint", "create", "two", "--only", "m.bin"]);
    assert_eq!(named(&made, &scratch, "unfiltered"), ["m.bin"]);
    scratch.write("m.bin", "lost\n");
    scratch.axiom(&["rollback", "checkpoint", "two", "--yes"]);
    assert_eq!(scratch.read("m.bin"), "edit\n");
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert_eq!(scratch.read("m.bin"), "base\n");
}

#[test]
fn a_filter_that_does_not_answer_is_waited_for_once() {
    let scratch = with_filter(&[("filter.big.clean", "sleep 1000; cat"), ("filter.big.smudge", "sleep 1000; cat")]);
    // As large as before: only the content tells that it differs.
    scratch.write("m.bin", "BASE\n");
    scratch.write("x.good", "edited\n");
    let begun = Instant::now();
    let made = scratch.json(&["checkpoint", "create", "one"]);
    let first = begun.elapsed();
    assert_eq!(named(&made, &scratch, "unfiltered"), ["m.bin"]);
    assert_eq!(scratch.git(&["cat-file", "blob", "refs/axiom/captures/one:x.good"]), "EDITED");
    let begun = Instant::now();
    scratch.write("m.bin", "more\n");
    scratch.axiom(&["checkpoint", "create", "two"]);
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    let then = begun.elapsed();
    assert_eq!(scratch.read("m.bin"), "BASE\n");
    assert!(first > Duration::from_secs(3), "it was asked: {first:?}");
    assert!(then < Duration::from_secs(30) && first < Duration::from_secs(30), "{first:?} {then:?}");
}

/// What all objects of the repository hold, as text.
fn all_contents(scratch: &Scratch) -> String {
    scratch.git(&["cat-file", "--batch-all-objects", "--batch"])
}

const ENCRYPTS: [(&str, &str); 3] = [
    ("filter.big.clean", "printf Salted__; tr a-z n-za-m"),
    ("filter.big.smudge", "tail -c +9 | tr n-za-m a-z"),
    ("filter.big.required", "true"),
];

#[test]
fn a_file_whose_filter_encrypts_and_does_not_run_is_left_out_and_not_stored_as_plain_text() {
    let scratch = with_filter(&ENCRYPTS);
    scratch.write("m.bin", "the old secret\n");
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "secret"]);
    scratch.git(&["config", "filter.big.clean", "no-such-program"]);
    scratch.git(&["config", "filter.big.smudge", "no-such-program"]);
    scratch.axiom(&["checkpoint", "create", "unchanged"]);
    scratch.write("m.bin", "the new secret\n");
    scratch.write("new.bin", "another new secret\n");
    scratch.write("a.txt", "edited\n");
    let made = scratch.json(&["checkpoint", "create", "one"]);
    assert_eq!(named(&made, &scratch, "encrypted"), ["m.bin", "new.bin"]);
    let all = all_contents(&scratch);
    assert!(!all.contains("new secret") && !all.contains("old secret"));
    scratch.write("a.txt", "later\n");
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    let now = ["m.bin", "new.bin", "a.txt"].map(|path| scratch.read(path));
    assert_eq!(now, ["the new secret\n", "another new secret\n", "edited\n"]);
}

/// Files of which git makes no object, with the attribute that asks for it.
const UNDECODABLE: [(&str, &[u8]); 5] = [
    ("text working-tree-encoding=UTF-16LE-BOM", b"odd\n\n"),
    ("working-tree-encoding=no-such-encoding", b"text\r\n"),
    ("working-tree-encoding=UTF-16", b"no mark\n"),
    ("working-tree-encoding=SHIFT-JIS", b"\x81\xff\xff\n"),
    ("working-tree-encoding", b"text\n"),
];

#[test]
fn a_file_that_is_not_in_its_encoding_is_held_as_it_is_and_costs_nothing_else() {
    for (attribute, bytes) in UNDECODABLE {
        let scratch = Scratch::new();
        scratch.write("old.rc", "old\n");
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-q", "-m", "more"]);
        scratch.axiom(&["checkpoint", "create", "before"]);
        scratch.write(".gitattributes", format!("*.rc {attribute}\n*.good working-tree-encoding=UTF-16LE\n"));
        for path in ["app.rc", "old.rc"] {
            std::fs::write(scratch.path().join(path), bytes).unwrap();
        }
        scratch.write("x.good", "g\0o\0\n\0");
        scratch.write("new", "precious\n");
        let made = scratch.json(&["checkpoint", "create", "one"]);
        assert_eq!(named(&made, &scratch, "unfiltered"), ["app.rc", "old.rc"], "{attribute}");
        let read = |path: &str| std::fs::read(scratch.path().join(path)).unwrap();
        scratch.axiom(&["rollback", "checkpoint", "before", "--yes"]);
        assert!(!scratch.has("app.rc") && !scratch.has("new") && scratch.read("old.rc") == "old\n", "{attribute}");
        scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
        assert_eq!((read("app.rc"), read("old.rc")), (bytes.to_vec(), bytes.to_vec()), "{attribute}");
        assert_eq!((read("x.good"), scratch.read("new")), (b"g\0o\0\n\0".to_vec(), "precious\n".to_owned()), "{attribute}");
        scratch.write("a.txt", "lost\n");
        scratch.write("app.rc", "edited\n");
        scratch.axiom(&["restore", "before", "--yes", "--", "a.txt"]);
        assert_eq!((scratch.read("a.txt"), scratch.read("app.rc")), ("a\n".to_owned(), "edited\n".to_owned()), "{attribute}");
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!((scratch.read("a.txt"), scratch.read("app.rc").len()), ("lost\n".to_owned(), 7), "{attribute}");
        scratch.fsck();
    }
}

#[test]
fn a_name_that_git_refuses_costs_only_itself_where_a_filter_does_not_run() {
    let scratch = with_filter(MISSING[1]);
    scratch.write("GIT~1/x.bin", "refused\n");
    scratch.write("new.bin", "held\n");
    let made = scratch.json(&["checkpoint", "create", "one"]);
    assert_eq!(named(&made, &scratch, "refusedNames"), ["GIT~1/x.bin"]);
    assert_eq!(named(&made, &scratch, "unfiltered"), ["new.bin"]);
    scratch.remove("new.bin");
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert_eq!((scratch.read("new.bin"), scratch.read("GIT~1/x.bin")), ("held\n".into(), "refused\n".into()));
}

#[test]
fn a_name_that_git_refuses_costs_only_itself_among_files_of_git_lfs() {
    let scratch = Scratch::new();
    for (key, value) in [("clean", "no-such-program"), ("smudge", "no-such-program"), ("required", "true")] {
        scratch.git(&["config", &format!("filter.lfs.{key}"), value]);
    }
    scratch.write(".gitattributes", "*.bin filter=lfs\n");
    scratch.write("GIT~1/x.bin", "refused\n");
    scratch.write("new.bin", "held\n");
    let made = scratch.json(&["checkpoint", "create", "one"]);
    assert_eq!(named(&made, &scratch, "refusedNames"), ["GIT~1/x.bin"]);
    scratch.remove("new.bin");
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert_eq!((scratch.read("new.bin"), scratch.read("GIT~1/x.bin")), ("held\n".into(), "refused\n".into()));
}
