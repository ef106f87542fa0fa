//! What can be saved is saved; what cannot is left out, named, and left as it is by every rollback.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::Value;

use crate::common::TestEnv;
use crate::support::Scratch;

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// As the user whom permissions bind: its standard output, if it succeeded, and all that it said.
fn bound(scratch: &Scratch, args: &[&str]) -> (String, String) {
    let output = scratch.bound_by_permissions().args(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let all = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success(), "{args:?}: {all}");
    (text(&output.stdout), all)
}

/// All that it said, however it ended.
fn said(scratch: &Scratch, args: &[&str]) -> String {
    let output = scratch.bound_by_permissions().args(args).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// What plain git says of a repository that was given to that user.
fn git_there(scratch: &Scratch, args: &[&str]) -> String {
    scratch.git(&[&["-c", "safe.directory=*"], args].concat())
}

/// The coverage of one worktree, as `checkpoint create` says it.
fn coverage(made: &str, worktree: &Path) -> Value {
    let made: Value = serde_json::from_str(made).unwrap();
    made["coverage"][worktree.to_str().unwrap()].clone()
}

fn paths(sample: &Value) -> Vec<&str> {
    sample["paths"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect()
}

#[test]
fn what_cannot_be_read_is_a_gap_that_no_rollback_touches() {
    let scratch = Scratch::new();
    let root = scratch.path();
    scratch.write("sub/b.txt", "never read\n");
    scratch.write("secret", "x\n");
    scratch.write("closed/inner", "x\n");
    scratch.write("new", "n\n");
    let all = ["sub/b.txt", "secret", "closed"].map(|path| root.join(path));
    let lock = || all.iter().for_each(|place| set_mode(place, 0));
    lock();
    let (made, _) = bound(&scratch, &["checkpoint", "create", "safe", "--json"]);
    assert_eq!(paths(&coverage(&made, &root)["unreadable"]), ["closed", "secret", "sub/b.txt"]);
    let held = git_there(&scratch, &["ls-tree", "-r", "--name-only", "refs/axiom/captures/safe"]);
    assert_eq!(held, "a.txt\nnew\nstaged.txt\nsub/b.txt", "the tracked one has its blob of the index");
    // Everything else goes back, whether the gaps are still there or have become files that can be read.
    for readable in [false, true] {
        scratch.write("a.txt", "edited\n");
        scratch.write("later", "l\n");
        if readable {
            all.iter().for_each(|place| set_mode(place, if place.is_dir() { 0o755 } else { 0o644 }));
        }
        let modes = || all.each_ref().map(|place| place.metadata().unwrap().permissions().mode());
        let before = modes();
        let (_, words) = bound(&scratch, &["rollback", "checkpoint", "safe", "--yes"]);
        assert!(words.contains("secret") && words.contains("could not be read"), "{words}");
        assert_eq!(modes(), before, "closed by nobody again");
        bound(&scratch, &["rollback", "checkpoint", "safe", "--yes", "--", "sub"]);
        assert_eq!(modes(), before, "nor where only a folder is named");
        assert_eq!((scratch.read("a.txt").as_str(), scratch.has("later")), ("a\n", false));
    }
    let left = ["sub/b.txt", "secret", "closed/inner"].map(|path| scratch.read(path));
    assert_eq!(left, ["never read\n", "x\n", "x\n"]);
    // Plain git deletes none of the tracked ones either.
    git_there(&scratch, &["restore", "--source=refs/axiom/captures/safe", "--worktree", "--", ":/"]);
    assert!(scratch.has("sub/b.txt") && scratch.has("secret"));
}

#[test]
fn a_file_that_was_closed_after_git_took_it_for_unchanged_is_a_gap() {
    // By its own look, and where a folder that cannot be read leaves the whole capture to git.
    for closed in ["sub/b.txt", "sub"] {
        let scratch = Scratch::new();
        let root = scratch.path();
        scratch.write("sub/b.txt", "b\n");
        scratch.git(&["add", "sub"]);
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(100);
        for path in ["a.txt", "sub/b.txt"] {
            std::fs::File::open(root.join(path)).unwrap().set_modified(long_ago).unwrap();
        }
        bound(&scratch, &["init"]);
        git_there(&scratch, &["update-index", "-q", "--refresh"]);
        // git then sees what it sees within one second: no change of the file.
        git_there(&scratch, &["config", "core.trustctime", "false"]);
        set_mode(&root.join("a.txt"), 0o200);
        set_mode(&root.join(closed), 0);
        let (made, _) = bound(&scratch, &["checkpoint", "create", "safe", "--json"]);
        assert_eq!(paths(&coverage(&made, &root)["unreadable"]), ["a.txt", closed]);
        scratch.write("later", "l\n");
        bound(&scratch, &["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!((scratch.has("later"), scratch.read("a.txt").as_str()), (false, "a\n"));
        set_mode(&root.join(closed), 0o755);
        assert_eq!(scratch.read("sub/b.txt"), "b\n");
    }
}

#[test]
fn only_the_checkpoint_before_it_says_what_a_rollback_may_delete() {
    let scratch = Scratch::new();
    let root = scratch.path();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    // More than any list names.
    for number in 0..250 {
        scratch.write(&format!("data/{number}"), "x\n");
        set_mode(&root.join(format!("data/{number}")), 0);
    }
    scratch.write("data/open", "o\n");
    scratch.write("sub/b.txt", "mine\n");
    set_mode(&root.join("sub"), 0);
    bound(&scratch, &["rollback", "checkpoint", "safe", "--yes"]);
    set_mode(&root.join("sub"), 0o755);
    assert_eq!(std::fs::read_dir(root.join("data")).unwrap().count(), 250);
    assert_eq!(scratch.read("sub/b.txt"), "mine\n");
}

#[test]
fn what_cannot_be_looked_at_keeps_nothing_from_being_taken_out() {
    let scratch = Scratch::new();
    scratch.write("sub/b.txt", "a secret of some length\n");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    set_mode(&scratch.path().join("sub"), 0);
    let (_, words) = bound(&scratch, &["purge", "--yes", "--now", "--", "sub/b.txt"]);
    assert!(words.contains("perhaps the file itself, which cannot be seen"), "{words}");
    let (held, _) = bound(&scratch, &["checkpoint", "diff", "safe"]);
    assert!(!held.contains("a secret"), "{held}");
    set_mode(&scratch.path().join("sub"), 0o755);
}

#[test]
fn what_is_excluded_need_not_be_readable() {
    let scratch = Scratch::new();
    let root = scratch.path();
    scratch.write("pgdata/PG_VERSION", "15\n");
    set_mode(&root.join("pgdata"), 0);
    scratch.git(&["config", "--add", "axiom.checkpoints.exclude", "pgdata/"]);
    // The second setting has git look at the whole worktree.
    for slow in [false, true] {
        if slow {
            scratch.write(".gitattributes", "*.x filter=none\n");
        }
        let (made, _) = bound(&scratch, &["checkpoint", "create", "--json"]);
        let coverage = coverage(&made, &root);
        assert_eq!((paths(&coverage["excluded"]), &coverage["unreadable"]["count"]), (vec!["pgdata"], &Value::from(0)), "{slow}");
    }
}

#[test]
fn a_worktree_that_cannot_be_captured_costs_only_itself() {
    let scratch = Scratch::new();
    let beside = |name: &str| scratch.path().parent().unwrap().join(name);
    for name in ["again", "moved", "torn", "closed"] {
        scratch.git(&["worktree", "add", "-q", beside(name).to_str().unwrap(), "-b", name]);
    }
    // A server has made the folder again after the worktree was removed.
    std::fs::remove_dir_all(beside("again")).unwrap();
    std::fs::create_dir_all(beside("again").join("node_modules/.vite")).unwrap();
    // Its repository was moved.
    std::fs::write(beside("moved").join(".git"), "gitdir: /nowhere/.git/worktrees/moved\n").unwrap();
    std::fs::write(scratch.path().join(".git/worktrees/torn/gitdir"), beside("to").to_str().unwrap()).unwrap();
    set_mode(&beside("closed"), 0);
    let (made, _) = bound(&scratch, &["checkpoint", "create", "c", "--json"]);
    let made: Value = serde_json::from_str(&made).unwrap();
    for name in ["again", "moved", "torn", "closed"] {
        let why = &made["coverage"][beside(name).to_str().unwrap()]["notCaptured"];
        assert!(why.is_string(), "{name}: {made}");
    }
    let (_, words) = bound(&scratch, &["checkpoint", "create", "d"]);
    assert!(words.contains("worktrees that cannot be captured"), "{words}");
    scratch.write("a.txt", "edited\n");
    let (_, words) = bound(&scratch, &["rollback", "checkpoint", "c", "--yes"]);
    assert!(words.contains("cannot be captured"), "{words}");
    assert_eq!(scratch.read("a.txt"), "a\n");
    // No advice moves a folder: nothing else is certainly in one of these places.
    let words = said(&scratch, &["recover"]);
    assert!(words.contains("again") && !words.contains("mv '"), "{words}");
    said(&scratch, &["recover", "--yes"]);
    set_mode(&beside("closed"), 0o755);
    let back = std::fs::read_to_string(scratch.path().join(".git/worktrees/torn/gitdir")).unwrap();
    assert_eq!(back.trim_end(), beside("torn").join(".git").to_str().unwrap());
}

#[test]
fn what_an_agent_leaves_that_cannot_be_read_costs_its_task_nothing_else() {
    let scratch = Scratch::new();
    scratch.write("shut/inner", "x\n");
    set_mode(&scratch.path().join("shut"), 0);
    let script =
        "echo 1 > t.txt; mkdir closed; echo 2 > closed/f; chmod 0 closed; echo 3 > alone; chmod 0 alone; echo 4 >> a.txt";
    bound(&scratch, &["task", "add", "T", "--id", "t", "--body", script]);
    let (_, words) = bound(&scratch, &["run", "--mode", "autopilot", "--until-idle"]);
    assert!(words.contains("closed (cannot be read)") && words.contains("alone (cannot be read)"), "{words}");
    assert_eq!((scratch.read("t.txt").as_str(), scratch.read("a.txt").as_str()), ("1\n", "a\n4\n"));
    set_mode(&scratch.path().join("shut"), 0o755);
}

#[test]
fn an_undo_leaves_what_cannot_be_read_by_now_as_it_is() {
    let scratch = Scratch::new();
    let file = scratch.path().join("sub/b.txt");
    scratch.axiom(&["checkpoint", "create", "c"]);
    scratch.write("sub/b.txt", "edited\n");
    scratch.write("a.txt", "edited\n");
    scratch.axiom(&["rollback", "checkpoint", "c", "--yes"]);
    scratch.write("more", "x\n");
    set_mode(&file, 0);
    let (said, all) = bound(&scratch, &["undo", "--dry-run", "--json"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["unread"], serde_json::json!([file.to_str().unwrap()]), "{all}");
    let (_, words) = bound(&scratch, &["undo", "--yes"]);
    assert!(words.contains("left as it is, since it cannot be read"), "{words}");
    set_mode(&file, 0o644);
    assert_eq!((scratch.read("a.txt").as_str(), scratch.read("sub/b.txt").as_str()), ("edited\n", "b\n"));
}

#[test]
fn an_undo_does_not_close_again_what_the_rollback_left_as_it_was() {
    let scratch = Scratch::new();
    let file = scratch.path().join("sub/b.txt");
    scratch.axiom(&["checkpoint", "create", "c"]);
    scratch.write("a.txt", "edited\n");
    set_mode(&file, 0);
    let (_, words) = bound(&scratch, &["rollback", "checkpoint", "c", "--yes"]);
    assert!(words.contains("sub/b.txt"), "it is left, and named: {words}");
    set_mode(&file, 0o644);
    for dry in [true, false] {
        let (said, all) = bound(&scratch, &["undo", if dry { "--dry-run" } else { "--yes" }, "--json"]);
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said["permissions"], serde_json::json!([]), "{all}");
    }
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o644);
    assert_eq!(scratch.read("a.txt"), "edited\n");
}

#[test]
fn purge_goes_on_over_what_cannot_be_read_in_the_trash_and_names_it() {
    let scratch = Scratch::new();
    scratch.write("secret", "KEY=0123456789abcdef0123\n");
    bound(&scratch, &["checkpoint", "create", "c"]);
    scratch.write(".worktrees/trash/x/file", "KEY=0123456789abcdef0123\n");
    scratch.write(".worktrees/trash/x/folder/inner", "x\n");
    let closed = ["file", "folder"].map(|name| scratch.path().join(".worktrees/trash/x").join(name));
    closed.iter().for_each(|place| set_mode(place, 0));
    for args in [&["purge", "--dry-run", "--json", "secret"][..], &["purge", "--yes", "--json", "secret"]] {
        let (said, all) = bound(&scratch, args);
        assert!(closed.iter().all(|place| said.contains(&format!("'{}'", place.display()))), "{all}");
    }
    closed.iter().for_each(|place| set_mode(place, 0o755));
}

#[test]
fn an_index_that_cannot_be_read_costs_what_is_staged_and_no_file() {
    let scratch = Scratch::new();
    let linked = scratch.path().parent().unwrap().join("linked");
    scratch.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "-b", "linked"]);
    scratch.write("new", "n\n");
    scratch.write("a.txt", "edited\n");
    std::fs::write(linked.join("a.txt"), "there\n").unwrap();
    let index = scratch.path().join(".git/index");
    let (good, of_linked) = (std::fs::read(&index).unwrap(), scratch.path().join(".git/worktrees/linked/index"));
    // Torn, of no kind, of a newer one, and closed.
    let newer = [&b"DIRC\0\0\0\x63"[..], &good[8..]].concat();
    for (name, bytes, mode) in [("torn", &good[..20], 0o644), ("none", b"x", 0o644), ("newer", &newer, 0o644), ("shut", &good, 0)]
    {
        for place in [&index, &of_linked] {
            std::fs::write(place, bytes).unwrap();
            set_mode(place, mode);
        }
        let (made, _) = bound(&scratch, &["checkpoint", "create", name, "--json"]);
        assert_eq!(paths(&coverage(&made, &scratch.path())["unreadable"]), [".git/index"], "{name}: {made}");
        // A linked worktree whose git directory is closed is left out, and named.
        let linked = coverage(&made, &linked);
        assert!(paths(&linked["unreadable"]) == [".git/index"] || mode == 0 && linked["notCaptured"].is_string(), "{linked}");
        let held = |path: &str| git_there(&scratch, &["show", &format!("refs/axiom/captures/{name}:{path}")]);
        assert_eq!((held("a.txt").as_str(), held("new").as_str(), held("sub/b.txt").as_str()), ("edited", "n", "b"), "{name}");
        [&index, &of_linked].into_iter().for_each(|place| set_mode(place, 0o644));
    }
    // Nothing is changed in a worktree whose index is not known, and what mends it is named.
    std::fs::write(&index, &good[..20]).unwrap();
    scratch.write("a.txt", "again\n");
    let refused = said(&scratch, &["rollback", "checkpoint", "newer", "--yes"]);
    assert!(refused.contains("the index of") && refused.contains("git axiom recover"), "{refused}");
    assert!(!refused.contains("could not be put back"), "{refused}");
    assert_eq!((scratch.read("a.txt"), std::fs::read(&index).unwrap()), ("again\n".to_owned(), good[..20].to_vec()));
    bound(&scratch, &["recover", "--yes"]);
    let (_, words) = bound(&scratch, &["rollback", "checkpoint", "newer", "--yes"]);
    assert!(words.contains(".git/index (it could not be read"), "{words}");
    assert_eq!(scratch.read("a.txt"), "edited\n");
    bound(&scratch, &["undo", "--yes"]);
    assert_eq!(scratch.read("a.txt"), "again\n");
}

#[test]
fn a_registered_worktree_is_nobodys_content_whatever_its_git_file_is() {
    for rest in ["", "gitdir: ", "gitdir: /"] {
        let scratch = Scratch::new();
        scratch.axiom(&["checkpoint", "create", "safe"]);
        scratch.git(&["worktree", "add", "-q", "./wt", "-b", "side"]);
        scratch.write("wt/mine", "precious\n");
        let whole = scratch.read("wt/.git");
        scratch.write("wt/.git", rest);
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(scratch.read("wt/mine"), "precious\n", "{rest:?}");
        scratch.axiom(&["recover", "--yes"]);
        assert_eq!(scratch.read("wt/.git"), whole, "{rest:?}");
        scratch.axiom(&["undo", "--yes"]);
        scratch.axiom(&["checkpoint", "create", "after"]);
        let all = scratch.git(&["ls-tree", "-r", "--name-only", "refs/axiom/captures/after"]);
        assert!(!all.contains("wt/"), "{all}");
    }
}

#[test]
fn a_worktree_whose_git_file_is_a_link_to_its_entry_is_captured() {
    let scratch = Scratch::new();
    let side = scratch.path().parent().unwrap().join("side");
    scratch.git(&["worktree", "add", "-q", side.to_str().unwrap(), "-b", "side"]);
    std::fs::remove_file(side.join(".git")).unwrap();
    symlink(scratch.path().join(".git/worktrees/side"), side.join(".git")).unwrap();
    std::fs::write(side.join("mine"), "m\n").unwrap();
    let made = scratch.json(&["checkpoint", "create", "c"]);
    assert!(made["coverage"][side.to_str().unwrap()]["notCaptured"].is_null(), "{made}");
    let shown = scratch.json(&["checkpoint", "show", "c"]);
    let capture = shown["checkpoint"]["document"]["workspaces"][0]["capture"].as_str().unwrap();
    assert_eq!(scratch.git(&["show", &format!("{capture}:mine")]), "m");
}

#[test]
fn the_git_directory_is_never_content_whatever_its_name() {
    for (tracked, ignored) in [(false, false), (true, false), (false, true)] {
        let scratch = Scratch::new();
        let (root, dots) = (scratch.path(), scratch.path().join("cfg/dots.git"));
        std::fs::create_dir(root.join("cfg")).unwrap();
        scratch.write("cfg/rc", "one\n");
        std::fs::rename(root.join(".git"), &dots).unwrap();
        let command = |program: &str, args: &[&str]| {
            let mut command = scratch.command(program);
            let output = command.env("GIT_DIR", &dots).env("GIT_WORK_TREE", &root).args(args).output().unwrap();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            assert!(output.status.success(), "{args:?}: {}{}", text(&output.stdout), text(&output.stderr));
            text(&output.stdout)
        };
        let axiom = |args: &[&str]| command(env!("CARGO_BIN_EXE_git-axiom"), args);
        if tracked {
            command("git", &["add", "-f", "cfg/dots.git/description", "cfg/rc"]);
            command("git", &["commit", "-qm", "by mistake"]);
        }
        if ignored {
            scratch.write(".gitignore", "/cfg/\n");
            command("git", &["config", "--add", "axiom.checkpoints.include", "cfg/**"]);
        }
        let made: Value = serde_json::from_str(&axiom(&["checkpoint", "create", "c", "--json"])).unwrap();
        let named = &made["coverage"][root.to_str().unwrap()]["gitDirectories"];
        assert_eq!(paths(named), ["cfg/dots.git"], "{made}");
        let held = command("git", &["ls-tree", "-r", "--name-only", "refs/axiom/captures/c"]);
        let inside: Vec<&str> = held.lines().filter(|path| path.contains("dots.git/")).collect();
        // A file that the user once added stays as the index has it.
        assert_eq!(inside, if tracked { vec!["cfg/dots.git/description"] } else { vec![] }, "{held}");
        assert!(held.contains("cfg/rc"), "{held}");
        scratch.write("cfg/rc", "two\n");
        scratch.write("cfg/dots.git/description", "changed since\n");
        axiom(&["checkpoint", "create", "only", "--only", "cfg/rc"]);
        axiom(&["rollback", "checkpoint", "c", "--yes"]);
        assert_eq!(
            (scratch.read("cfg/rc").as_str(), scratch.read("cfg/dots.git/description").as_str()),
            ("one\n", "changed since\n")
        );
        axiom(&["undo", "--yes"]);
        assert_eq!(scratch.read("cfg/rc"), "two\n");
    }
}

/// `git-axiom` with these system calls played by strace; `None` where there is none.
fn played(scratch: &Scratch, plays: &[&str], args: &[&str]) -> Option<String> {
    let mut command = scratch.command("strace");
    command.args(["-f", "-qq", "-o", "/dev/null"]).args(plays).arg(env!("CARGO_BIN_EXE_git-axiom")).args(args);
    let Ok(output) = command.output() else {
        crate::skipped::skipped("there is no strace");
        return None;
    };
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {words}");
    Some(words)
}

#[test]
fn a_file_that_fails_in_the_middle_is_a_gap_for_both_ways_of_a_capture() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "lost on a bad block\n");
    scratch.write("new", "n\n");
    scratch.write("bad", "lost too\n");
    let bad = ["a.txt", "bad"].map(|path| scratch.path().join(path).display().to_string());
    let plays = ["-P", &bad[0], "-P", &bad[1], "-e", "trace=read,pread64", "-e", "inject=read,pread64:error=EIO"];
    // The second setting has git look at the whole worktree.
    for name in ["fast", "slow"] {
        if name == "slow" {
            scratch.write(".gitattributes", "*.x filter=none\n");
        }
        let Some(words) = played(&scratch, &plays, &["checkpoint", "create", name]) else { return };
        assert!(words.contains("2 entries that cannot be read (a.txt, bad)"), "{words}");
        let held = scratch.git(&["ls-tree", "-r", "--name-only", &format!("refs/axiom/captures/{name}")]);
        assert!(held.contains("new") && held.contains("a.txt") && !held.contains("bad"), "{held}");
    }
}

#[test]
fn a_session_in_a_worktree_that_nothing_holds_is_unprotected_it_alone() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    let side = scratch.path().parent().unwrap().join("side");
    scratch.git(&["worktree", "add", "-q", side.to_str().unwrap(), "-b", "side"]);
    for (session, folder) in [("one", scratch.path()), ("two", side.clone())] {
        let text = format!(
            r#"{{"hook_event_name":"UserPromptSubmit","session_id":"{session}","cwd":"{}","prompt":"x"}}"#,
            folder.display()
        );
        let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
        command.args(["hook", "claude"]).current_dir(&folder).stdin(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }
    std::fs::write(side.join(".git"), "gitdir: /nowhere/.git/worktrees/side\n").unwrap();
    scratch.axiom(&["checkpoint", "create", "c"]);
    let sessions = scratch.json(&["sessions"]);
    let of = |folder: &Path| {
        let all = sessions["sessions"].as_array().unwrap();
        all.iter().find(|one| one["worktree"] == folder.to_str().unwrap()).unwrap()["unprotected"].clone()
    };
    assert!(of(&scratch.path()).is_null() && of(&side).is_string(), "{sessions}");
}

#[test]
fn an_index_that_cannot_be_given_its_time_hides_no_change_of_that_moment() {
    let scratch = Scratch::new();
    // git looks at the files by itself, on a copy of the index.
    scratch.git(&["config", "core.ignoreCase", "true"]);
    scratch.git(&["config", "core.trustctime", "false"]);
    scratch.write("f", "one\n");
    scratch.git(&["add", "f"]);
    scratch.git(&["commit", "-q", "-m", "f"]);
    // All of it happens in one moment: the same time, size and inode.
    let time = scratch.path().join("f").metadata().unwrap().modified().unwrap();
    let set = |path: &str| {
        let file = std::fs::File::options().write(true).open(scratch.path().join(path)).unwrap();
        file.set_modified(time).unwrap();
    };
    scratch.write("f", "two\n");
    set("f");
    set(".git/index");
    let Some(_) = played(&scratch, &["-e", "trace=utimensat", "-e", "inject=utimensat:retval=0"], &["checkpoint", "create", "c"])
    else {
        return;
    };
    assert_eq!(scratch.git(&["show", "refs/axiom/captures/c:f"]), "two");
}

/// Permissions are those of a file or of a folder: what comes to the path as the other does not get them. And a folder that its owner
/// may not write in is closed again only when its files are in it.
#[test]
fn permissions_of_a_file_do_not_close_the_folder_that_comes_back_in_its_place() {
    let mut env = TestEnv::new();
    env.write("sub/b.txt", "1\n");
    env.write("read-only/f.txt", "1\n");
    env.git(&["add", "."]);
    env.git(&["commit", "-qm", "files"]);
    env.bind_by_permissions();
    let mode = |path: &str, mode: u32| set_mode(&env.repo().join(path), mode);
    env.write("read-only/f.txt", "2\n");
    mode("read-only", 0o555);
    env.ok(&["checkpoint", "create", "one"]);
    std::fs::remove_file(env.repo().join("sub/b.txt")).unwrap();
    env.write("sub/b.txt/within.txt", "w\n");
    env.give();
    env.ok(&["rollback", "checkpoint", "one", "--yes"]);
    mode("sub/b.txt", 0o400);
    env.ok(&["undo", "--yes"]);
    assert_eq!(env.read("sub/b.txt/within.txt"), "w\n");
    mode("read-only", 0o755);
    std::fs::remove_dir_all(env.repo().join("read-only")).unwrap();
    env.ok(&["rollback", "checkpoint", "one", "--yes"]);
    assert_eq!(env.read("read-only/f.txt"), "2\n");
    assert_eq!(env.repo().join("read-only").metadata().unwrap().permissions().mode() & 0o777, 0o555);
    mode("read-only", 0o755);
}

/// Removes the loose object that git has for this name.
fn lose(scratch: &Scratch, name: &str) {
    let oid = scratch.git(&["rev-parse", name]);
    std::fs::remove_file(scratch.path().join(".git/objects").join(&oid[..2]).join(&oid[2..])).unwrap();
}

#[test]
fn staged_content_that_is_lost_costs_only_itself() {
    let scratch = Scratch::new();
    for (path, text) in [("s", "staged\n"), ("same", "as staged\n"), ("a.txt", "staged too\n"), ("gone", "of no file\n")] {
        scratch.write(path, text);
    }
    scratch.git(&["add", "-A"]);
    for name in [":s", ":same", ":a.txt", ":gone"] {
        lose(&scratch, name);
    }
    scratch.write("s", "changed since\n");
    scratch.write("a.txt", "changed since too\n");
    scratch.write("new", "precious\n");
    scratch.remove("gone");
    let made = scratch.axiom(&["checkpoint", "create", "one", "--json"]);
    let held = coverage(&made, &scratch.path());
    assert_eq!(paths(&held["stagedNotHeld"]), ["a.txt", "gone", "s"], "what the file still has is there again");
    let index = scratch.git(&["ls-tree", "-r", "--name-only", "refs/axiom/captures/one^2"]);
    assert_eq!(index.lines().collect::<Vec<_>>(), ["a.txt", "same", "staged.txt", "sub/b.txt"]);
    scratch.axiom(&["checkpoint", "verify", "one"]);
    for path in ["s", "new", "same", "a.txt"] {
        scratch.write(path, "later\n");
    }
    let told = scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert!(told.contains("s (what was staged of it was lost then"), "{told}");
    let read = |paths: [&str; 4]| paths.map(|path| scratch.read(path));
    assert_eq!(read(["s", "new", "same", "a.txt"]), ["changed since\n", "precious\n", "as staged\n", "changed since too\n"]);
    assert!(!scratch.has("gone"));
    assert_eq!(scratch.git(&["diff", "--cached", "--name-only"]), "same");
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(read(["s", "new", "same", "a.txt"]), ["later\n"; 4]);
    scratch.fsck();
}

#[test]
fn a_side_of_a_conflict_that_is_lost_costs_only_itself() {
    let scratch = Scratch::new();
    scratch.branch_in_conflict("other");
    assert!(!scratch.try_git(&["merge", "other"]).status.success());
    let sides = scratch.git(&["ls-files", "-u"]);
    let entry = |stage: &str, oid: &str| format!("100644 {oid} {stage}\ta.txt\n");
    let staged: String = sides
        .lines()
        .map(|line| line.split(' ').nth(1).unwrap())
        .zip(["1", "2", "3"])
        .map(|(oid, stage)| {
            // A base that is in no commit.
            entry(stage, if stage == "1" { "1111111111111111111111111111111111111111" } else { oid })
        })
        .collect();
    let zeros = format!("0 {} 0\ta.txt\n", "0".repeat(40));
    let list = scratch.path().join("../list");
    std::fs::write(&list, zeros + &staged).unwrap();
    let mut command = scratch.command("git");
    command.args(["update-index", "--index-info"]).stdin(std::fs::File::open(list).unwrap());
    assert!(command.status().unwrap().success());
    scratch.write("new", "precious\n");
    let made = scratch.axiom(&["checkpoint", "create", "one", "--json"]);
    assert_eq!(paths(&coverage(&made, &scratch.path())["stagedNotHeld"]), ["a.txt"]);
    scratch.remove("new");
    let merged = scratch.read("a.txt");
    scratch.git(&["reset", "-q"]);
    scratch.write("a.txt", "lost\n");
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert_eq!((scratch.read("new"), scratch.read("a.txt")), ("precious\n".to_owned(), merged));
    assert_eq!(scratch.git(&["ls-files", "-u"]).lines().count(), 2);
}

#[test]
fn a_partial_clone_whose_remote_is_gone_is_held_without_what_was_never_fetched() {
    let scratch = Scratch::new();
    scratch.git(&["config", "uploadpack.allowFilter", "true"]);
    let from = scratch.path();
    let (gone, clone) = (from.with_file_name("gone"), from.with_file_name("clone"));
    let url = format!("file://{}", from.display());
    scratch.git(&["clone", "-q", "--no-checkout", "--filter=blob:none", &url, clone.to_str().unwrap()]);
    std::fs::rename(&from, gone).unwrap();
    std::fs::rename(&clone, &from).unwrap();
    scratch.git(&["reset", "-q"]);
    scratch.write("new", "precious\n");
    scratch.write("a.txt", "mine\n");
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.axiom(&["checkpoint", "verify", "one"]);
    scratch.write("new", "lost\n");
    scratch.write("a.txt", "lost\n");
    scratch.write("sub/b.txt", "later\n");
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert_eq!((scratch.read("new"), scratch.read("a.txt")), ("precious\n".to_owned(), "mine\n".to_owned()));
    assert!(!scratch.has("sub/b.txt"));
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!((scratch.read("new"), scratch.read("sub/b.txt")), ("lost\n".to_owned(), "later\n".to_owned()));
}

#[test]
fn what_is_odd_among_gits_files_of_an_operation_is_left_out_and_named() {
    let scratch = Scratch::new();
    scratch.write("new", "precious\n");
    symlink("/nonexistent", scratch.path().join(".git/rebase-merge")).unwrap();
    let made = scratch.axiom(&["checkpoint", "create", "one", "--json"]);
    assert_eq!(paths(&coverage(&made, &scratch.path())["unreadable"]), [".git/rebase-merge"]);
    scratch.remove("new");
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert_eq!(scratch.read("new"), "precious\n");
    assert!(scratch.has(".git/rebase-merge"));
    scratch.remove(".git/rebase-merge");
    scratch.write(".git/MERGE_MSG", "a message\n");
    std::fs::create_dir(scratch.path().join(".git/sequencer")).unwrap();
    symlink("/etc/passwd", scratch.path().join(".git/sequencer/todo")).unwrap();
    let made = scratch.axiom(&["checkpoint", "create", "two", "--json"]);
    assert_eq!(paths(&coverage(&made, &scratch.path())["unreadable"]), [".git/sequencer/todo"]);
    scratch.remove(".git/MERGE_MSG");
    scratch.axiom(&["rollback", "checkpoint", "two", "--yes"]);
    assert_eq!(scratch.read(".git/MERGE_MSG"), "a message\n");
}

#[test]
fn a_fifo_that_git_would_read_is_named_and_waited_for_by_nobody() {
    for path in [".git/info/attributes", ".gitignore"] {
        let scratch = Scratch::new();
        scratch.axiom(&["checkpoint", "create", "one"]);
        assert!(scratch.command("mkfifo").arg(path).status().unwrap().success());
        for args in [&["checkpoint", "create", "two"][..], &["rollback", "checkpoint", "one", "--yes"]] {
            scratch.refused(args, "IN_THE_WAY", 4);
        }
        scratch.remove(path);
        scratch.axiom(&["checkpoint", "create", "two"]);
    }
}

#[test]
fn a_folder_gets_its_sticky_bit_back() {
    let scratch = Scratch::new();
    scratch.write("shared/x", "x\n");
    let place = scratch.path().join("shared");
    set_mode(&place, 0o1777);
    scratch.axiom(&["checkpoint", "create", "one"]);
    set_mode(&place, 0o700);
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    let mode = || place.metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(), 0o1777);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(mode(), 0o700);
    std::fs::remove_dir_all(&place).unwrap();
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert_eq!(mode(), 0o1777);
}

#[test]
fn what_lies_now_where_there_was_no_file_of_the_worktree_is_named_and_stays() {
    let scratch = Scratch::new();
    assert!(scratch.command("mkfifo").arg("pipe").status().unwrap().success());
    std::fs::create_dir(scratch.path().join("nested")).unwrap();
    scratch.git(&["-C", "nested", "init", "-q"]);
    scratch.write("nested/q", "q\n");
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.remove("pipe");
    scratch.write("pipe/x", "x\n");
    std::fs::remove_dir_all(scratch.path().join("nested/.git")).unwrap();
    scratch.write("nested/q", "edited\n");
    let told = scratch.json(&["rollback", "checkpoint", "one", "--dry-run"]);
    let named: Vec<_> = told["notRestored"].as_array().unwrap().iter().map(|one| (&one["path"], &one["reason"])).collect();
    assert_eq!(named, [(&"pipe".into(), &"special".into()), (&"nested".into(), &"nestedRepositories".into())]);
    let told = scratch.axiom(&["rollback", "checkpoint", "one", "--dry-run"]);
    assert!(told.contains("pipe (not a regular file)") && told.contains("nested (a nested repository)"), "{told}");
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert_eq!((scratch.read("pipe/x"), scratch.read("nested/q")), ("x\n".into(), "edited\n".into()));
}

#[test]
fn a_worktree_that_was_moved_is_brought_back_by_the_command_that_is_said() {
    let scratch = Scratch::new();
    scratch.git(&["worktree", "add", "-q", "-b", "other", "../w2"]);
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.git(&["worktree", "move", "../w2", "../w3"]);
    let told = scratch.json(&["rollback", "checkpoint", "one", "--all-worktrees", "--dry-run"]);
    let command = told["gone"][0]["madeBy"].as_str().unwrap().to_owned();
    assert!(command.starts_with("git worktree move "), "{told}");
    assert!(scratch.command("sh").args(["-c", &command]).status().unwrap().success());
    std::fs::write(scratch.path().join("../w2/a.txt"), "lost\n").unwrap();
    scratch.axiom(&["rollback", "checkpoint", "one", "--all-worktrees", "--yes"]);
    assert_eq!(std::fs::read_to_string(scratch.path().join("../w2/a.txt")).unwrap(), "a\n");
}

#[test]
fn what_stands_in_the_place_of_a_worktree_is_not_moved_into_by_the_command_that_is_said() {
    let scratch = Scratch::new();
    scratch.git(&["worktree", "add", "-q", "-b", "other", "../w2"]);
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.git(&["worktree", "move", "../w2", "../w3"]);
    std::fs::create_dir(scratch.path().join("../w2")).unwrap();
    std::fs::write(scratch.path().join("../w2/mine"), "mine\n").unwrap();
    let told = scratch.json(&["rollback", "checkpoint", "one", "--all-worktrees", "--dry-run"]);
    let command = told["gone"][0]["madeBy"].as_str().unwrap().replace("ELSEWHERE", "../aside");
    assert!(scratch.command("sh").args(["-c", &command]).status().unwrap().success(), "{command}");
    let read = |path: &str| std::fs::read_to_string(scratch.path().join(path)).unwrap();
    assert_eq!([read("../aside/mine"), read("../w3/a.txt"), read("../w2/a.txt")], ["mine\n", "a\n", "a\n"], "{command}");
}

/// git keeps its place for it.
#[test]
fn files_of_a_worktree_in_this_one_that_git_still_lists_come_back_with_the_command_that_is_said() {
    let scratch = Scratch::new();
    scratch.git(&["worktree", "add", "-q", "-b", "other", "wt/x"]);
    scratch.write("wt/x/u", "precious\n");
    scratch.axiom(&["checkpoint", "create", "one"]);
    std::fs::remove_dir_all(scratch.path().join("wt")).unwrap();
    let restore = ["restore", "one", "--yes", "--", "wt/x/u"];
    let refused = scratch.axiom_with(&restore, &[]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    let command = said.lines().find_map(|line| line.strip_prefix("hint: git worktree ")).unwrap();
    let command = format!("git worktree {}", command.split("    ").next().unwrap());
    assert!(scratch.command("sh").args(["-c", &command]).status().unwrap().success(), "{command}");
    scratch.axiom(&restore);
    assert_eq!(scratch.read("wt/x/u"), "precious\n");
}
