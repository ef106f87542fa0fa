//! Shallow and partial clones, names that collide without regard to case, and somebody who saves all the time.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::{Scratch, contents};

/// A clone with these options, as a scratch repository of its own.
fn cloned(options: &[&str]) -> (Scratch, Scratch) {
    let (origin, scratch) = (Scratch::new(), Scratch::empty());
    origin.write("a.txt", "two\n");
    origin.git(&["commit", "-q", "-a", "-m", "two"]);
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", origin.path().display());
    std::fs::remove_dir_all(scratch.path()).unwrap();
    let path = scratch.path().display().to_string();
    let clone = [&["clone", "-q", "--no-local"], options, &[url.as_str(), path.as_str()]].concat();
    assert!(scratch.command("git").args(clone).current_dir("/").status().unwrap().success());
    scratch.write(".git/info/exclude", "/.worktrees/\n");
    (scratch, origin)
}

#[test]
fn clones_that_lack_objects_go_back_and_again() {
    for options in [&["--depth=1"][..], &["--filter=blob:none"], &["--filter=tree:0"]] {
        let (scratch, origin) = cloned(options);
        // What is not there cannot be fetched.
        std::fs::rename(origin.path(), origin.path().with_file_name("away")).unwrap();
        scratch.make_dirty();
        let (view, files) = (scratch.users_view(), contents(&scratch.path()));
        scratch.axiom(&["checkpoint", "create", "safe"]);
        scratch.git(&["commit", "-q", "-a", "-m", "more"]);
        scratch.remove("untracked.txt");
        let after = contents(&scratch.path());
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!((scratch.users_view(), contents(&scratch.path())), (view, files), "{options:?}");
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(contents(&scratch.path()), after, "{options:?}");
    }
}

#[test]
fn names_that_differ_in_case_only_stay_apart() {
    let scratch = Scratch::new();
    scratch.write("Name", "upper\n");
    scratch.write("name", "lower\n");
    scratch.write("Dir/x", "upper\n");
    scratch.write("dir/x", "lower\n");
    let before = contents(&scratch.path());
    if before.len() < 7 {
        return crate::skipped::skipped("this file system takes names that differ in case for the same");
    }
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.remove("Name");
    scratch.write("name", "changed\n");
    std::fs::remove_dir_all(scratch.path().join("Dir")).unwrap();
    let after = contents(&scratch.path());
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(contents(&scratch.path()), before);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(contents(&scratch.path()), after);
}

/// Every text that was saved is somewhere: in the worktree, in the trash, or in a git object.
fn is_somewhere(scratch: &Scratch, text: &str) -> bool {
    let walk = walkdir::WalkDir::new(scratch.path()).into_iter().filter_map(Result::ok);
    // Of git's own folder only the trash counts, where a file goes that took the place of another meanwhile.
    let counts = |path: &std::path::Path| {
        let inside = path.components().any(|part| part.as_os_str() == ".git");
        !inside || path.starts_with(scratch.path().join(".git/axiom/trash"))
    };
    let mut files = walk.filter(|entry| entry.file_type().is_file() && counts(entry.path()));
    if files.any(|entry| std::fs::read(entry.path()).is_ok_and(|bytes| bytes == text.as_bytes())) {
        return true;
    }
    let file = scratch.path().with_file_name("text");
    std::fs::write(&file, text).unwrap();
    let id = scratch.git(&["hash-object", file.to_str().unwrap()]);
    scratch.try_git(&["cat-file", "-e", &id]).status.success()
}

#[test]
fn an_editor_that_saves_all_the_time_loses_nothing_but_what_it_overwrote_itself() {
    let scratch = Scratch::new();
    scratch.write("doc", "start\n");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    let (over, place) = (AtomicBool::new(false), scratch.path().join("doc"));
    // As editors save: a new file takes the place of the old one. What it takes the place of is its own loss, so it
    // looks first and notes what it saw.
    let (saved, replaced) = std::thread::scope(|scope| {
        let editor = scope.spawn(|| {
            let (mut saved, mut replaced) = (Vec::new(), Vec::new());
            for number in 0_u32.. {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                let (text, new) = (format!("text {number}\n"), place.with_file_name("doc~"));
                std::fs::write(&new, &text).unwrap();
                let aside = scratch.path().with_file_name("editor").join(number.to_string());
                std::fs::create_dir_all(aside.parent().unwrap()).unwrap();
                // Its own backup: what was there is not lost to it.
                if std::fs::rename(&place, &aside).is_ok() {
                    replaced.push(std::fs::read_to_string(&aside).unwrap());
                }
                if std::fs::hard_link(&new, &place).is_ok() {
                    saved.push(text);
                }
                std::fs::remove_file(&new).ok();
                std::thread::sleep(std::time::Duration::from_millis(3));
            }
            (saved, replaced)
        });
        for _ in 0..4 {
            for args in [
                &["rollback", "checkpoint", "safe", "--yes"][..],
                &["rollback", "--continue"],
                &["rollback", "--abort"],
                &["undo", "--yes"],
                &["rollback", "--abort"],
            ] {
                let output = scratch.axiom_with(args, &[]);
                assert!(matches!(output.status.code(), Some(0..=6)), "{args:?}: {output:?}");
            }
        }
        over.store(true, Ordering::SeqCst);
        editor.join().unwrap()
    });
    assert!(saved.len() > 20, "it was at it: {}", saved.len());
    let last = saved.last().unwrap();
    for text in saved.iter().filter(|text| !replaced.contains(text)) {
        assert!(is_somewhere(&scratch, text), "{text:?} is lost; the last is {last:?}");
    }
    scratch.fsck();
    assert!(scratch.axiom(&["recover"]).contains("Nothing"), "no operation is open");
}

#[test]
fn a_place_that_cannot_be_named_is_refused_before_anything_is_made() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let scratch = Scratch::new();
    let odd = scratch.path().parent().unwrap().join(OsStr::from_bytes(b"odd\xff"));
    if !scratch.command("git").args(["init", "-q"]).arg(&odd).status().unwrap().success() {
        return crate::skipped::skipped("this file system takes no names that are not UTF-8");
    }
    let refused = |folder: &std::path::Path, args: &[&str]| {
        let output = scratch.command(env!("CARGO_BIN_EXE_git-axiom")).current_dir(folder).args(args).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(words.contains("error[REPOSITORY_UNSUPPORTED]") && words.contains("is not UTF-8"), "{words}");
        words
    };
    for args in [&["checkpoint", "create", "safe"][..], &["status"], &["init"]] {
        refused(&odd, args);
    }
    assert!(!odd.join(".git/axiom").exists());
    // One worktree of several.
    std::fs::remove_dir_all(&odd).unwrap();
    assert!(scratch.command("git").args(["worktree", "add", "-q"]).arg(&odd).status().unwrap().success());
    let made = scratch.command(env!("CARGO_BIN_EXE_git-axiom")).args(["checkpoint", "create", "safe"]).output().unwrap();
    let words = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(made.status.success() && words.contains("1 worktree that cannot be captured"), "{words}");
    std::fs::remove_dir_all(&odd).unwrap();
    scratch.axiom(&["checkpoint", "create", "whole"]);
}
