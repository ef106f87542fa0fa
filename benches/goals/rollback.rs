//! Rollbacks in a repository of 50,000 files and 10,000 commits, beside `git reset --keep` and `git revert`, of files in few
//! folders and in many; of all files, beside `git restore`; and finding a task's commits among 100,000, beside `git log` with
//! trailers.

use std::process::Stdio;
use std::time::Duration;

use super::measure::{Row, in_turns, median, time};
use super::scratch::{PROGRAM, Scratch};

const FILES: usize = 50_000;
const COMMITS: usize = 10_000;
const MANY: usize = 100_000;
/// The newest commits: a task's.
const TAIL: usize = 100;
const ROUNDS: usize = 7;

pub fn rows() -> Vec<Row> {
    let one_each = |number: usize| vec![number % FILES];
    // Three files a commit, all in folders of their own.
    let spread = |number: usize| (0..3).map(|more| (3 * number + more) * 167 % FILES).collect();
    let mut rows = in_a_large_repository("", one_each);
    rows.extend(in_a_large_repository(" (300 files in 300 folders)", spread));
    rows.push(of_all_files());
    rows.extend(among_many_commits());
    rows
}

/// A history whose first commit has `files` files, and in which each other one changes those that `changed` tells, the newest
/// `of_task` for task `t1`, checked out.
fn repository(files: usize, commits: usize, of_task: usize, changed: impl Fn(usize) -> Vec<usize>) -> Scratch {
    let scratch = Scratch::with_repository();
    let who = |number: usize| format!("committer A U Thor <author@example.org> {} +0000\n", 1_700_000_000 + number);
    let mut stream = String::new();
    for number in 0..commits {
        let task = number + of_task >= commits;
        let message =
            if task { format!("step {number} #t1 @ed-001\n\nAxiom-Task: t1\n") } else { format!("change {number}\n\nbody\n") };
        stream.push_str(&format!("commit refs/heads/main\n{}data {}\n{message}\n", who(number), message.len()));
        let names = if number == 0 { (0..files).collect() } else { changed(number) };
        for name in names {
            let text = format!("{number} {name}\n");
            let path = format!("d{}/e{}/f{name}", name % 50, name % 1000);
            stream.push_str(&format!("M 100644 inline {path}\ndata {}\n{text}\n", text.len()));
        }
    }
    let mut command = scratch.command("git", &["fast-import", "--quiet", "--force"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), stream.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    scratch.run(&mut scratch.command("git", &["reset", "-q", "--hard"]));
    scratch
}

fn in_a_large_repository(where_from: &str, changed: impl Fn(usize) -> Vec<usize>) -> Vec<Row> {
    let scratch = repository(FILES, COMMITS, TAIL, changed);
    let git = |args: &[&str]| scratch.run(&mut scratch.command("git", args));
    let axiom = |args: &[&str]| scratch.run(&mut scratch.command(PROGRAM, args));
    git(&["branch", "tip"]);
    let back = format!("HEAD~{TAIL}");
    git(&["reset", "-q", "--keep", &back]);
    axiom(&["checkpoint", "create", "then"]);
    git(&["reset", "-q", "--keep", "tip"]);
    // What undoes a measured step is not measured.
    let measured = |work: &dyn Fn()| -> Duration {
        let took = time(&mut || work());
        git(&["reset", "-q", "--keep", "tip"]);
        took
    };
    let (mut rollbacks, mut saves, mut resets, mut takes, mut reverts) = (vec![], vec![], vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        rollbacks.push(measured(&|| axiom(&["rollback", "checkpoint", "then", "--yes"])));
        saves.push(measured(&|| axiom(&["checkpoint", "create"])));
        resets.push(measured(&|| git(&["reset", "-q", "--keep", &back])));
        takes.push(measured(&|| axiom(&["rollback", "task", "t1", "--dry-run"])));
    }
    for _ in 0..3 {
        reverts.push(measured(&|| git(&["revert", "--no-edit", &format!("{back}..HEAD")])));
    }
    let whole: Vec<Duration> = (0..3).map(|_| measured(&|| axiom(&["rollback", "task", "t1", "--yes"]))).collect();
    let middle = |mut times: Vec<Duration>| {
        times.sort();
        median(&times)
    };
    let (rollback, save, reset) = (middle(rollbacks), middle(saves), middle(resets));
    let revert = middle(reverts);
    let row = |what: &str, beside: &str, ours, theirs, goal| Row {
        what: format!("{what}{where_from}"),
        beside: beside.into(),
        ours,
        theirs,
        goal,
    };
    let keep = "git reset --keep";
    vec![
        row("rollback M, 100 commits back, without its safety checkpoint", keep, rollback.saturating_sub(save), reset, 0.75),
        row("the same, safety checkpoint included", keep, rollback, reset, f64::INFINITY),
        row("the safety checkpoint alone", keep, save, reset, f64::INFINITY),
        row("revert of 100 commits in memory, M (dry run of a task)", "git revert", middle(takes), revert, 0.06),
        row("the same, done, safety checkpoint included", "git revert", middle(whole), revert, 0.06),
    ]
}

/// Every file of 50,000 changes back.
fn of_all_files() -> Row {
    let scratch = repository(FILES, 2, 1, |_| (0..FILES).collect());
    let git = |args: &[&str]| scratch.run(&mut scratch.command("git", args));
    let axiom = |args: &[&str]| scratch.run(&mut scratch.command(PROGRAM, args));
    git(&["branch", "tip"]);
    git(&["reset", "-q", "--keep", "HEAD~1"]);
    axiom(&["checkpoint", "create", "then"]);
    git(&["reset", "-q", "--hard", "tip"]);
    let measured = |work: &dyn Fn()| -> Duration {
        let took = time(&mut || work());
        git(&["reset", "-q", "--hard", "tip"]);
        took
    };
    let (mut ours, mut saves, mut theirs) = (vec![], vec![], vec![]);
    for _ in 0..3 {
        ours.push(measured(&|| axiom(&["rollback", "checkpoint", "then", "--yes"])));
        saves.push(measured(&|| axiom(&["checkpoint", "create"])));
        theirs.push(measured(&|| git(&["restore", "--source=HEAD~1", "--", "."])));
    }
    for times in [&mut ours, &mut saves, &mut theirs] {
        times.sort();
    }
    Row {
        what: "rollback of 50,000 files, without its safety checkpoint".into(),
        beside: "git restore".into(),
        ours: median(&ours).saturating_sub(median(&saves)),
        theirs: median(&theirs),
        goal: f64::INFINITY,
    }
}

fn among_many_commits() -> Vec<Row> {
    let scratch = repository(100, MANY, 1, |number| vec![number % 100]);
    let format = "--format=%H%x00%s%x00%(trailers:key=Axiom-Task,valueonly)";
    // What is remembered is remembered where git axiom is used.
    scratch.run(&mut scratch.command(PROGRAM, &["task", "add", "something"]));
    let memory = scratch.path("repo/.git/axiom/tmp/scanned.json");
    let take = || scratch.run(&mut scratch.command(PROGRAM, &["rollback", "task", "t1", "--dry-run"]));
    let log = || scratch.run(&mut scratch.command("git", &["log", format]));
    let (first, beside_first) = in_turns(
        ROUNDS,
        &mut || {
            let _ = std::fs::remove_file(&memory);
            take();
        },
        &mut || log(),
    );
    let (again, beside_again) = in_turns(ROUNDS, &mut || take(), &mut || log());
    let row = |what: &str, ours: &[Duration], theirs: &[Duration], goal| Row {
        what: what.into(),
        beside: "git log with trailers".into(),
        ours: median(ours),
        theirs: median(theirs),
        goal,
    };
    vec![
        row("a task's commit found among 100,000 (dry run of its rollback)", &first, &beside_first, 1.0),
        row("the same, the history scanned before", &again, &beside_again, 0.03),
    ]
}
