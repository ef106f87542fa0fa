//! Checkpoints: whole processes, durable, beside the git commands that do the nearest thing.
//!
//! `AXIOM_BENCH_LARGE=1` also measures 200,000 files, and 16 worktrees of 50,000.

use std::fmt::Write;

use git_axiom::domain::base::ids::CheckpointName;
use git_axiom::domain::base::names::Oid;
use git_axiom::domain::checkpoint::document::{CheckpointRecord, CheckpointType, Trigger};
use git_axiom::domain::state::event::Event;
use git_axiom::store::layout::Layout;

use super::history::Writer;
use super::measure::{Row, in_turns, median};
use super::scratch::{PROGRAM, Scratch};

const DURABLE: &[&str] = &["-c", "core.fsync=all", "-c", "core.fsyncMethod=fsync"];

/// A script in the repository.
fn sh(scratch: &Scratch, script: &str) {
    scratch.run(&mut scratch.command("sh", &["-eu", "-c", script]));
}

/// A repository with so many files, a thousand a folder.
fn repository(files: usize) -> Scratch {
    let scratch = Scratch::with_repository();
    for number in 0..files {
        let folder = scratch.path(&format!("repo/d{}", number / 1000));
        if number % 1000 == 0 {
            std::fs::create_dir(&folder).unwrap();
        }
        std::fs::write(folder.join(format!("file-{number}.txt")), format!("content of file {number}\n")).unwrap();
    }
    sh(&scratch, "git add -A && git -c gc.auto=0 commit -q -m files && git repack -q -a -d && git status > /dev/null");
    // What was written in the same second as the index is read again by everybody.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    sh(&scratch, "git update-index -q --refresh && git status > /dev/null");
    scratch
}

fn create(scratch: &Scratch) {
    scratch.run(&mut scratch.command(PROGRAM, &["checkpoint", "create"]));
}

fn row(what: &str, beside: &str, goal: f64, rounds: usize, ours: &mut dyn FnMut(), theirs: &mut dyn FnMut()) -> Row {
    // Some take minutes to set up.
    eprintln!("  {what} …");
    let (ours, theirs) = in_turns(rounds, ours, theirs);
    Row { what: what.into(), beside: beside.into(), ours: median(&ours), theirs: median(&theirs), goal }
}

pub fn rows() -> Vec<Row> {
    let mut rows = vec![clean()];
    rows.extend(captures(50_000, "M", 0.65));
    if std::env::var_os("AXIOM_BENCH_LARGE").is_some() {
        rows.extend(captures(200_000, "L", 0.7));
        rows.push(worktrees());
    }
    rows.push(many_refs());
    rows.push(beside_many());
    rows.push(many_dirty());
    rows.extend(many_checkpoints());
    rows
}

fn clean() -> Row {
    let scratch = repository(1000);
    let mut number = 0;
    let mut pair = || {
        number += 1;
        let tag = format!("t{number}");
        scratch.run(&mut scratch.command("git", &[DURABLE, &["tag", "-a", "-m", "x", &tag]].concat()));
        scratch.run(&mut scratch.command("git", &[DURABLE, &["notes", "--ref=x", "add", "-m", "note", &tag]].concat()));
    };
    let beside = "git tag -a + git notes add, core.fsync=all";
    row("checkpoint of a clean repository, 1,000 files", beside, 1.0, 30, &mut || create(&scratch), &mut pair)
}

fn captures(files: usize, size: &str, goal: f64) -> Vec<Row> {
    let scratch = repository(files);
    let what = format!("checkpoint of a clean repository, {size}");
    let status = || sh(&scratch, "git status > /dev/null");
    let mut rows = vec![row(&what, "git status, warm", 1.1, 8, &mut || create(&scratch), &mut || status())];
    for number in 0..20 {
        std::fs::write(scratch.path(&format!("repo/d{number}/file-{}.txt", number * 1000)), "dirty\n").unwrap();
    }
    let script = "cp .git/index .git/copy; export GIT_INDEX_FILE=.git/copy; git add -A; git commit-tree -p HEAD -m x \
                  $(git write-tree) > /dev/null; rm .git/copy";
    let what = format!("checkpoint, {size}, 20 dirty");
    let beside = "copied index + add -A + write-tree + commit-tree";
    rows.push(row(&what, beside, goal, 8, &mut || create(&scratch), &mut || sh(&scratch, script)));
    let paths: Vec<String> = (0..20).map(|number| format!("d{number}/file-{}.txt", number * 1000)).collect();
    let mut known = vec!["checkpoint", "create", "--only"];
    known.extend(paths.iter().map(String::as_str));
    let mut round = 0;
    let mut ours = || {
        // Something new each time, as after an edit.
        round += 1;
        std::fs::write(scratch.path(&format!("repo/{}", paths[0])), format!("dirty {round}\n")).unwrap();
        scratch.run(&mut scratch.command(PROGRAM, &known));
    };
    let what = format!("checkpoint, {size}, 20 known paths");
    rows.push(row(&what, beside, 0.12, 15, &mut ours, &mut || sh(&scratch, script)));
    rows
}

const WORKTREES: usize = 16;

/// One checkpoint of many worktrees, beside capturing them by git one after another.
fn worktrees() -> Row {
    let scratch = repository(50_000);
    for number in 0..WORKTREES {
        sh(&scratch, &format!("git worktree add -q --detach ../w{number}"));
    }
    std::thread::sleep(std::time::Duration::from_millis(1100));
    for number in 0..WORKTREES {
        sh(&scratch, &format!("cd ../w{number} && git update-index -q --refresh"));
        for file in 0..20 {
            std::fs::write(scratch.path(&format!("w{number}/d{file}/file-{}.txt", file * 1000)), "dirty\n").unwrap();
        }
    }
    let script = "for tree in ../w*; do (cd $tree; index=$(git rev-parse --git-path index); cp $index $index.copy; \
                  export GIT_INDEX_FILE=$index.copy; git add -A; git commit-tree -p HEAD -m x $(git write-tree) > /dev/null; \
                  rm $index.copy); done";
    let beside = "copied index + add -A + write-tree + commit-tree, one after another";
    row("checkpoint of 16 more worktrees, 20 dirty of M each", beside, 0.5, 3, &mut || create(&scratch), &mut || {
        sh(&scratch, script)
    })
}

const REFS: usize = 10_000;

/// A repository of 300 files and a history of 500 commits, with so many packed refs: half of them branches with a commit of their
/// own, a quarter tags, a quarter annotated ones.
fn with_refs(count: usize) -> Scratch {
    let scratch = repository(300);
    let who = |number: usize| format!("A U Thor <author@example.org> {} +0000", 1_700_000_000 + number);
    let mut stream = String::new();
    for number in 0..500 {
        let from = if number == 0 { "refs/heads/main^0".to_owned() } else { format!(":{number}") };
        write!(stream, "commit refs/heads/main\nmark :{}\ncommitter {}\ndata 2\nx\nfrom {from}\n\n", number + 1, who(number))
            .unwrap();
    }
    for number in 0..count {
        let (who, branch) = (who(1000 + number), 1000 + number - number % 4);
        match number % 4 {
            2 => write!(stream, "reset refs/tags/light-{number:05}\nfrom :{branch}\n\n"),
            3 => write!(stream, "tag annotated-{number:05}\nfrom :{branch}\ntagger {who}\ndata 2\nx\n\n"),
            _ => {
                let (mark, from) = (1000 + number, number % 500 + 1);
                write!(stream, "commit refs/heads/b/{number:05}\nmark :{mark}\ncommitter {who}\ndata 2\nx\nfrom :{from}\n\n")
            }
        }
        .unwrap();
    }
    feed(&scratch, &stream);
    // What retention deletes with each new one would be measured as well.
    sh(
        &scratch,
        "git reset -q --hard && git pack-refs --all && git repack -q -a -d && git config axiom.checkpoints.maxCount 100000",
    );
    std::thread::sleep(std::time::Duration::from_millis(1100));
    sh(&scratch, "git update-index -q --refresh && git status > /dev/null");
    scratch
}

fn many_refs() -> Row {
    let (none, many) = (with_refs(0), with_refs(REFS));
    let what = "checkpoint of a clean repository, 300 files, 10,000 packed refs";
    row(what, "the same without these refs", 1.1, 40, &mut || create(&many), &mut || create(&none))
}

fn many_dirty() -> Row {
    let scratch = repository(2000);
    let mut round = 0;
    // New contents for each of them: an object that is there is not written again.
    let mut dirty = || {
        round += 1;
        for number in 0..1000 {
            let path = scratch.path(&format!("repo/d0/file-{number}.txt"));
            std::fs::write(path, format!("round {round}, file {number}\n")).unwrap();
        }
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let script = "cp .git/index .git/copy; export GIT_INDEX_FILE=.git/copy; git add -A; git commit-tree -p HEAD -m x \
                  $(git write-tree) > /dev/null; rm .git/copy";
    for _ in 0..6 {
        dirty();
        ours.push(super::measure::time(&mut || create(&scratch)));
        dirty();
        theirs.push(super::measure::time(&mut || sh(&scratch, script)));
    }
    ours.sort();
    theirs.sort();
    Row {
        what: "checkpoint, 1,000 dirty files, durable".into(),
        beside: "the same by git, loose objects, not durable".into(),
        ours: median(&ours),
        theirs: median(&theirs),
        goal: 1.3,
    }
}

const MANY: usize = 10_000;

/// A repository with 10,000 checkpoints, refs packed.
fn with_many() -> Scratch {
    let scratch = Scratch::with_repository();
    let mut stream = String::new();
    for number in 0..MANY {
        let name = format!("c{number:05}");
        let who = format!("A U Thor <author@example.org> {} +0000", 1_700_000_000 + number);
        write!(stream, "commit refs/axiom/captures/{name}\nmark :{}\ncommitter {who}\ndata 5\n{name:.5}\n", number + 1).unwrap();
        write!(stream, "tag axiom/{name}\nfrom :{}\ntagger {who}\ndata 2\nx\n\n", number + 1).unwrap();
    }
    feed(&scratch, &stream);
    let list = scratch
        .command("git", &["for-each-ref", "--format=%(refname) %(objectname)", "refs/axiom/captures", "refs/tags/axiom"])
        .stdout(std::process::Stdio::piped())
        .output()
        .unwrap();
    let text = String::from_utf8(list.stdout).unwrap();
    let ids: std::collections::BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once(' ')).collect();
    let mut notes = "commit refs/notes/axiom\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nx\n".to_owned();
    let mut writer = Writer::new(Layout::new(&scratch.path("repo/.git")));
    for number in 0..MANY {
        let name = format!("c{number:05}");
        let id = |prefix: &str| Oid::new(ids[format!("{prefix}{name}").as_str()]).unwrap();
        let tag = id("refs/tags/axiom/");
        let (folder, rest) = tag.as_str().split_at(2);
        write!(notes, "M 100644 inline {folder}/{rest}\ndata 2\n{{}}\n").unwrap();
        let checkpoint = CheckpointRecord {
            name: CheckpointName::new(name.clone()).unwrap(),
            kind: CheckpointType::Auto,
            trigger: Trigger::Periodic,
            created_at: "2026-01-13T10:00:00Z".parse().unwrap(),
            git_commit: None,
            capture: id("refs/axiom/captures/"),
            tag,
            seq: number as u64,
            tasks_completed: 0,
            size: Some(1000),
            only: None,
        };
        writer.push(Event::CheckpointCreated { checkpoint });
    }
    feed(&scratch, &notes);
    writer.snapshot();
    writer.finish();
    sh(&scratch, "git pack-refs --all");
    scratch
}

fn feed(scratch: &Scratch, stream: &str) {
    let file = scratch.path("stream");
    std::fs::write(&file, stream).unwrap();
    let mut command = scratch.command("git", &["fast-import", "--quiet"]);
    scratch.run(command.stdin(std::fs::File::open(file).unwrap()));
}

/// One more checkpoint beside 10,000 others, refs packed, and beside none, in repositories that are the same otherwise.
fn beside_many() -> Row {
    let (none, many) = (Scratch::with_repository(), with_many());
    for scratch in [&none, &many] {
        // Retention would delete the old ones, which is another row.
        sh(scratch, "git config axiom.checkpoints.maxCount 100000; git config axiom.checkpoints.maxAgeDays 100000");
        std::thread::sleep(std::time::Duration::from_millis(1100));
        sh(scratch, "git update-index -q --refresh && git status > /dev/null");
    }
    let what = "checkpoint of a clean repository beside 10,000 others, refs packed";
    row(what, "the same beside none", 1.1, 40, &mut || create(&many), &mut || create(&none))
}

fn many_checkpoints() -> Vec<Row> {
    let scratch = with_many();
    let list = || scratch.run(&mut scratch.command(PROGRAM, &["checkpoint", "list"]));
    let subjects = || sh(&scratch, "git for-each-ref --format='%(refname) %(subject)' refs/tags/axiom > /dev/null");
    let mut rows =
        vec![row("list of 10,000 checkpoints", "for-each-ref with subject", 0.3, 15, &mut || list(), &mut || subjects())];
    let newest = || scratch.run(&mut scratch.command(PROGRAM, &["checkpoint", "list", "-n", "20"]));
    let what = "list of the newest 20 of 10,000 checkpoints";
    rows.push(row(what, "for-each-ref with subject", 0.15, 15, &mut || newest(), &mut || subjects()));
    let theirs = with_many();
    let script = "git for-each-ref --format='%(objectname)' refs/tags/axiom | head -n 9990 | git notes --ref=axiom remove --stdin; \
                  git for-each-ref --format='delete %(refname)' refs/tags/axiom refs/axiom/captures | head -n 9990 | git update-ref --stdin; \
                  git for-each-ref --format='delete %(refname)' refs/tags/axiom | head -n 9990 | git update-ref --stdin";
    let verb = ["checkpoint", "cleanup", "--older-than", "1d", "--keep", "10", "--protected", "--yes"];
    rows.push(Row {
        what: "cleanup of 9,990 of 10,000 checkpoints, once".into(),
        beside: "update-ref --stdin + notes remove".into(),
        ours: super::measure::time(&mut || scratch.run(&mut scratch.command(PROGRAM, &verb))),
        theirs: super::measure::time(&mut || sh(&theirs, script)),
        goal: 0.1,
    });
    rows
}
