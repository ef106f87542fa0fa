//! Repositories of the sizes that are measured.

use std::collections::BTreeMap;
use std::fmt::Write;

use git_axiom::model::base::ids::CheckpointName;
use git_axiom::model::base::names::Oid;
use git_axiom::model::checkpoint::record::CheckpointRecord;
use git_axiom::model::checkpoint::trigger::{CheckpointTrigger, CheckpointType};
use git_axiom::model::state::event::Event;

use super::history::Writer;
use super::scratch::Scratch;

/// Retention would delete old checkpoints with each new one, which is a row of its own.
pub const NO_RETENTION: &str = "git config axiom.checkpoints.maxCount 100000; git config axiom.checkpoints.maxAgeDays 100000";

/// A repository with so many files, a thousand a folder.
pub fn files(count: usize) -> Scratch {
    files_with(count, "")
}

/// The same, configured by a script before anything is added.
pub fn files_with(count: usize, configure: &str) -> Scratch {
    let scratch = Scratch::with_repository();
    scratch.sh(&format!("{NO_RETENTION}; {configure}"));
    for number in 0..count {
        if number % 1000 == 0 {
            std::fs::create_dir(scratch.path(&format!("repo/d{}", number / 1000))).unwrap();
        }
        std::fs::write(scratch.path(&format!("repo/{}", file(number))), format!("content of file {number}\n")).unwrap();
    }
    scratch.sh("git add -A && git -c gc.auto=0 commit -q -m files && git repack -q -a -d && git status > /dev/null");
    scratch.settle();
    scratch
}

/// The path of a file of such a repository.
pub fn file(number: usize) -> String {
    format!("d{}/file-{number}.txt", number / 1000)
}

/// A repository with so many checkpoints; our program was never used in it.
pub fn checkpoints(count: usize) -> Scratch {
    let scratch = Scratch::with_repository();
    scratch.sh(NO_RETENTION);
    if count == 0 {
        return scratch;
    }
    let mut stream = String::new();
    for number in 0..count {
        let name = format!("c{number:05}");
        let who = format!("A U Thor <author@example.org> {} +0000", 1_700_000_000 + number);
        write!(stream, "commit refs/axiom/captures/{name}\nmark :{}\ncommitter {who}\ndata 5\n{name:.5}\n", number + 1).unwrap();
        write!(stream, "tag axiom/{name}\nfrom :{}\ntagger {who}\ndata 2\nx\n\n", number + 1).unwrap();
    }
    scratch.import(&stream);
    let list = ["for-each-ref", "--format=%(refname) %(objectname)", "refs/axiom/captures", "refs/tags/axiom"];
    let text = scratch.output(&mut scratch.command("git", &list));
    let ids: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once(' ')).collect();
    let mut notes = "commit refs/notes/axiom\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nx\n".to_owned();
    let mut writer = Writer::new(scratch.layout());
    for number in 0..count {
        let name = format!("c{number:05}");
        let id = |prefix: &str| Oid::new(ids[format!("{prefix}{name}").as_str()]).unwrap();
        let tag = id("refs/tags/axiom/");
        let (folder, rest) = tag.as_str().split_at(2);
        write!(notes, "M 100644 inline {folder}/{rest}\ndata 2\n{{}}\n").unwrap();
        writer.push(Event::CheckpointCreated { checkpoint: checkpoint(&name, number, id("refs/axiom/captures/"), tag) });
    }
    scratch.import(&notes);
    writer.snapshot();
    writer.finish();
    scratch
}

/// The record of a checkpoint.
pub fn checkpoint(name: &str, number: usize, capture: Oid, tag: Oid) -> CheckpointRecord {
    CheckpointRecord {
        name: CheckpointName::new(name).unwrap(),
        kind: CheckpointType::Auto,
        trigger: CheckpointTrigger::Periodic,
        created_at: "2026-01-13T10:00:00Z".parse().unwrap(),
        git_commit: None,
        capture,
        tag,
        seq: number as u64,
        tasks_completed: 0,
        size: Some(1000),
        only: None,
        attached: None,
        marked: None,
    }
}

/// A history whose first commit has `files` files in 1,000 folders, and in which each other one changes those that `changed`
/// tells, the newest `of_task` for task `t1`, checked out.
pub fn history(files: usize, commits: usize, of_task: usize, changed: impl Fn(usize) -> Vec<usize>) -> Scratch {
    let scratch = Scratch::with_repository();
    scratch.sh(NO_RETENTION);
    let mut stream = String::new();
    for number in 0..commits {
        let task = number + of_task >= commits;
        let message =
            if task { format!("step {number} #t1 @ed-001\n\nAxiom-Task: t1\n") } else { format!("change {number}\n\nbody\n") };
        let who = format!("A U Thor <author@example.org> {} +0000", 1_700_000_000 + number);
        write!(stream, "commit refs/heads/main\ncommitter {who}\ndata {}\n{message}\n", message.len()).unwrap();
        for name in if number == 0 { (0..files).collect() } else { changed(number) } {
            let text = format!("{number} {name}\n");
            let path = format!("d{}/e{}/f{name}", name % 50, name % 1000);
            write!(stream, "M 100644 inline {path}\ndata {}\n{text}\n", text.len()).unwrap();
        }
    }
    scratch.import(&stream);
    scratch.git(&["reset", "-q", "--hard"]);
    scratch.settle();
    scratch
}
