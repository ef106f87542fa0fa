//! `git axiom watch`: what settles is saved, whoever changed it, and the watch ends with its worktree.

use serde_json::Value;

use crate::session_support::wait_until;
use crate::support::Scratch;

/// The newest capture of the main worktree has this path with this content; `None`: not at all.
fn holds(scratch: &Scratch, path: &str, content: Option<&str>) -> bool {
    let list = scratch.json(&["checkpoint", "list"]);
    let newest = list["checkpoints"].as_array().unwrap().iter().max_by_key(|one| one["createdAt"].as_str().unwrap().to_owned());
    let Some(name) = newest.and_then(|one| one["name"].as_str()) else { return false };
    let shown = scratch.try_git(&["show", &format!("refs/axiom/captures/{name}:{path}")]);
    match content {
        None => !shown.status.success(),
        Some(content) => shown.status.success() && shown.stdout == content.as_bytes(),
    }
}

fn watches(scratch: &Scratch) -> Vec<Value> {
    scratch.json(&["sessions"])["watches"].as_array().unwrap().clone()
}

#[test]
fn what_settles_is_saved_and_what_is_ignored_is_not() {
    let scratch = Scratch::new();
    scratch.write(".gitignore", "out/\n*.log\n");
    scratch.write("out/deep/x", "1");
    let begun = scratch.json(&["watch", "--detach"]);
    assert_eq!(begun["state"], "watching");
    // The worktree and `sub`; neither `out` nor `.git`.
    assert_eq!((&begun["watch"]["watched"], &begun["watch"]["scanned"]), (&2.into(), &0.into()), "{begun}");
    assert!(scratch.axiom(&["status"]).contains("Watched: "));
    assert_eq!(scratch.json(&["status"])["attached"]["watches"][0]["alive"], true);
    scratch.refused(&["watch"], "BUSY", 5);
    wait_until("what was there is saved first", || holds(&scratch, ".gitignore", Some("out/\n*.log\n")));

    scratch.write("a.txt", "changed by an editor\n");
    scratch.write("new/deeper/b.txt", "b\n");
    scratch.write("noise.log", "1");
    wait_until("a changed file is saved", || holds(&scratch, "a.txt", Some("changed by an editor\n")));
    wait_until("a new folder is saved", || holds(&scratch, "new/deeper/b.txt", Some("b\n")));
    wait_until("new folders are watched", || watches(&scratch)[0]["watched"] == 4);
    // Far below a folder that came since, and under its new name.
    std::fs::rename(scratch.path().join("new"), scratch.path().join("moved")).unwrap();
    wait_until("a moved folder is saved", || {
        holds(&scratch, "moved/deeper/b.txt", Some("b\n")) && holds(&scratch, "new/deeper/b.txt", None)
    });
    scratch.write("moved/deeper/b.txt", "again\n");
    wait_until("a file in it is saved", || holds(&scratch, "moved/deeper/b.txt", Some("again\n")));
    scratch.write(".gitignore", "*.log\n");
    wait_until("what is not ignored any more is saved", || holds(&scratch, "out/deep/x", Some("1")));
    scratch.write("out/deep/x", "2");
    wait_until("and watched", || holds(&scratch, "out/deep/x", Some("2")));
    assert!(holds(&scratch, "noise.log", None));
    let triggers = scratch.json(&["checkpoint", "list"]);
    let triggers: Vec<&str> =
        triggers["checkpoints"].as_array().unwrap().iter().filter_map(|one| one["trigger"].as_str()).collect();
    assert!(triggers[0] == "attached-start" && triggers[1..].iter().all(|trigger| *trigger == "edits"), "{triggers:?}");

    // What has not settled is saved when it ends.
    scratch.write("a.txt", "at the end\n");
    assert_eq!(scratch.json(&["watch", "--stop"])["state"], "stopped");
    wait_until("the last change is saved", || holds(&scratch, "a.txt", Some("at the end\n")));
    assert_eq!(scratch.json(&["watch", "--stop"])["state"], "notWatched");
    assert!(watches(&scratch).is_empty());
}

#[test]
fn a_watch_ends_with_its_worktree_and_one_that_was_killed_is_told() {
    let scratch = Scratch::new();
    let linked = scratch.path().with_file_name("linked");
    let linked = linked.to_str().unwrap();
    scratch.git(&["worktree", "add", "-q", linked]);
    scratch.axiom(&["-C", linked, "watch", "--detach"]);
    let killed = scratch.json(&["watch", "--detach"])["watch"]["pid"].to_string();
    assert_eq!(watches(&scratch).len(), 2);
    scratch.git(&["worktree", "remove", "--force", linked]);
    wait_until("the watch of the removed worktree ends", || watches(&scratch).len() == 1);
    assert!(scratch.command("kill").args(["-9", &killed]).status().unwrap().success());
    wait_until("its end is seen", || watches(&scratch)[0]["alive"] == false);
    assert!(scratch.axiom(&["status"]).contains("UNPROTECTED: the watch of "));
    let again = scratch.json(&["watch", "--detach"])["watch"]["pid"].to_string();
    assert!(scratch.axiom(&["status"]).contains("Watched: "));
    // Of a process that has ended nothing is left here, whoever reaps it.
    let works = || std::fs::read(format!("/proc/{again}/cmdline")).is_ok_and(|line| !line.is_empty());
    assert!(works());
    std::fs::rename(scratch.path().join(".git/axiom"), scratch.path().join(".git/gone")).unwrap();
    wait_until("it ends when git axiom is taken out", || !works());
}

#[test]
#[cfg(target_os = "linux")]
fn where_the_system_watches_no_more_folders_are_scanned() {
    let scratch = Scratch::new();
    scratch.axiom(&["init"]);
    // A quarter of four: the worktree is watched, `sub` is not.
    let script = "echo 4 > /proc/sys/user/max_inotify_watches && exec \"$0\" watch --json";
    let mut command = scratch.command("unshare");
    command.args(["-Ur", "sh", "-c", script, env!("CARGO_BIN_EXE_git-axiom")]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().expect("unshare is needed for this test");
    wait_until("it has begun", || watches(&scratch).len() == 1);
    let watch = &watches(&scratch)[0];
    assert_eq!((&watch["watched"], &watch["scanned"]), (&1.into(), &1.into()));
    wait_until("the start is saved", || holds(&scratch, "sub/b.txt", Some("b\n")));
    scratch.write("sub/b.txt", "seen by a scan\n");
    scratch.write("sub/new/c.txt", "c\n");
    wait_until("a file that is not watched is saved", || {
        holds(&scratch, "sub/b.txt", Some("seen by a scan\n")) && holds(&scratch, "sub/new/c.txt", Some("c\n"))
    });
    scratch.axiom(&["watch", "--stop"]);
    assert!(child.wait().unwrap().success());
}
