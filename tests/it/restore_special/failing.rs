//! Whatever fails after the first change of an operation puts everything back, or says exactly what is left; nothing stays
//! open. The system refuses one call after another, with real files and real git.

use crate::common::trials::AskedCases;
use crate::support::{Scratch, contents};

/// Each call in turn is refused with this: not permitted.
const EPERM: &str = "1";

/// Everything that an operation may change.
fn view(scratch: &Scratch) -> impl PartialEq + std::fmt::Debug + use<> {
    let files = contents(&scratch.path());
    let side = scratch.path().with_file_name("side");
    let side = if side.exists() { contents(&side) } else { Vec::new() };
    let refs = scratch.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags/v*"]);
    (files, side, refs, scratch.git(&["status", "--porcelain=v2", "--branch"]), scratch.git(&["ls-files", "--stage"]))
}

/// A checkpoint, and since then commits, edits, new and removed files, and something in the way that no checkpoint holds.
fn gone_on() -> Scratch {
    let scratch = Scratch::new();
    scratch.open_task("t1");
    scratch.write("deep/down/x", "x\n");
    scratch.write("gone", "gone\n");
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-qm", "more"]);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("a.txt", "committed\n");
    scratch.write(".gitignore", "gone\n");
    scratch.git(&["rm", "-q", "gone"]);
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-qm", "on"]);
    scratch.write("gone/below", "ignored\n");
    scratch.write("sub/b.txt", "edited\n");
    std::fs::remove_dir_all(scratch.path().join("deep")).unwrap();
    scratch.write("new/file", "new\n");
    std::fs::write(scratch.workspace("t1").join("half.txt"), "half\n").unwrap();
    scratch
}

fn nothing_open(scratch: &Scratch, note: &str) {
    assert!(scratch.store().state().record.open.is_none(), "{note}: an operation is open");
    assert!(!scratch.path().join(".git/index.lock").exists(), "{note}: locked");
}

/// How many of the changes of an operation are refused in turn, one by one; `AXIOM_ROUNDS=all` refuses each.
const SAMPLES: usize = 9;

/// Lets one change of an operation after another fail; `back` is what takes a success back.
fn changes_refused(scratch: &Scratch, args: &[&str], back: &[&str]) {
    let log = scratch.path().with_file_name("calls");
    scratch.axiom_with(args, &[("AXIOM_TEST_REFUSE_LOG", log.to_str().unwrap())]);
    let calls = std::fs::read_to_string(log).unwrap().lines().filter(|name| *name == "files.change").count();
    assert!(calls > SAMPLES, "{calls}");
    scratch.axiom(back);
    let before = view(scratch);
    let (stride, first) =
        if AskedCases::read().are_all() { (1, 1) } else { (calls.div_ceil(SAMPLES), std::process::id() as usize % 3 + 1) };
    for call in (first..=calls).step_by(stride) {
        let output = scratch.axiom_with(args, &[("AXIOM_TEST_REFUSE", &format!("files.change:{EPERM}:{call}"))]);
        let note = format!("{args:?}, change {call} of {calls}: {}", String::from_utf8_lossy(&output.stderr));
        nothing_open(scratch, &note);
        if output.status.success() {
            scratch.axiom(back);
        }
        assert_eq!(view(scratch), before, "{note}");
    }
    scratch.fsck();
}

#[test]
fn a_rollback_or_undo_of_which_one_change_is_refused_is_put_back() {
    let scratch = gone_on();
    changes_refused(&scratch, &["rollback", "checkpoint", "safe", "--yes"], &["undo", "--yes"]);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    changes_refused(&scratch, &["undo", "--yes"], &["redo", "--yes"]);
}

#[test]
fn what_cannot_be_put_back_either_is_named_and_the_operation_ends_all_the_same() {
    let scratch = gone_on();
    // From the second file on nothing can be moved any more, neither way: as where a folder became immutable.
    let vars = [("AXIOM_TEST_REFUSE", "files.no-replace:1:2+")];
    let output = scratch.axiom_with(&["rollback", "checkpoint", "safe", "--yes"], &vars);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("could not be put back") && words.contains("trash"), "{words}");
    assert!(words.contains("git axiom rollback checkpoint before-rollback"), "{words}");
    nothing_open(&scratch, &words);
    // The way out that is named leads out.
    let name = words.split("rollback checkpoint ").nth(1).unwrap().split(' ').next().unwrap();
    scratch.axiom(&["rollback", "checkpoint", name, "--yes"]);
    assert_eq!((scratch.read("a.txt"), scratch.read("new/file")), ("committed\n".into(), "new\n".into()));
    assert_eq!((scratch.read("sub/b.txt"), scratch.read("gone/below")), ("edited\n".into(), "ignored\n".into()));
}

#[test]
fn a_worktree_that_was_removed_meanwhile_is_left_out_and_named() {
    for way in [&["rollback", "--abort"][..], &["rollback", "--continue"], &["recover", "--yes"]] {
        let scratch = Scratch::new();
        let side = scratch.path().with_file_name("side");
        scratch.git(&["worktree", "add", "-q", "-b", "side", side.to_str().unwrap()]);
        scratch.axiom(&["checkpoint", "create", "safe"]);
        std::fs::write(side.join("a.txt"), "edited\n").unwrap();
        let args = ["rollback", "checkpoint", "safe", "--worktree", side.to_str().unwrap(), "--yes"];
        scratch.killed_at(&args, "git.restore-placed:1");
        scratch.git(&["worktree", "remove", "--force", side.to_str().unwrap()]);
        let output = scratch.axiom_with(way, &[]);
        let words = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        nothing_open(&scratch, &words);
        assert!(words.contains("side', which was removed meanwhile"), "{way:?}: {words}");
        assert_eq!(output.status.code(), Some(if way[1] == "--continue" { 1 } else { 0 }), "{words}");
        scratch.axiom(&["checkpoint", "create"]);
    }
}

const EDITED: [&str; 6] = ["a.txt", "sub/b.txt", "staged.txt", "deep/down/x", "new/file", "gone/below"];

/// Runs as a process of its own: an editor that unlinks and writes, until it is killed. Does nothing otherwise.
#[test]
fn an_editor() {
    let Some(root) = std::env::var_os("AXIOM_TEST_EDITOR").map(std::path::PathBuf::from) else { return };
    let mut saved = 0;
    while root.exists() {
        for file in EDITED {
            saved += 1;
            let place = root.join(file);
            let _ = std::fs::remove_file(&place);
            for above in file.match_indices('/') {
                let _ = std::fs::create_dir(root.join(&file[..above.0]));
            }
            let _ = std::fs::write(&place, format!("save {saved}\n"));
            std::thread::sleep(std::time::Duration::from_micros(700));
        }
    }
}

/// Ends with the test, whichever way that ends.
struct Editor(std::process::Child);

impl Drop for Editor {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn an_editor_that_unlinks_and_rewrites_keeps_nothing_open() {
    let scratch = gone_on();
    let mut editor = std::process::Command::new(std::env::current_exe().unwrap());
    editor.args(["--exact", "restore_special::failing::an_editor", "-q"]).env("AXIOM_TEST_EDITOR", scratch.path());
    let editor = editor.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let editor = Editor(editor.spawn().unwrap());
    let rounds = AskedCases::read().rounds(8);
    let mut put_back = 0;
    for round in 0..rounds {
        for args in [&["rollback", "checkpoint", "safe", "--yes"][..], &["undo", "--yes"]] {
            let output = scratch.axiom_with(args, &[]);
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            nothing_open(&scratch, &format!("round {round}, {args:?}: {words}"));
            // Where the rollback was put back, there is nothing of one's own to undo.
            let refused = ["NOTHING_TO_UNDO", "NOT_UNDOABLE", "NEEDS_CONFIRMATION"].iter().any(|code| words.contains(code));
            assert!(matches!(output.status.code(), Some(0 | 4)) || refused, "round {round}, {args:?}: {words}");
            put_back += u32::from(words.contains("everything was put back"));
        }
    }
    drop(editor);
    assert!(put_back > 0 || rounds < 8, "it never came in between");
    scratch.fsck();
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(scratch.read("a.txt"), "a\n");
}
