//! What is large beside a prompt: 30 worktrees, 500 MB of Git LFS, 2 GB that nobody ignores.

use std::cell::Cell;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::attach::{hook, idle};
use crate::bench::Bench;
use crate::measure::{in_turns, in_turns_after, time};
use crate::repositories;
use crate::row::{Goal, Samples, Unit};
use crate::scratch::Scratch;

const WORKTREES: usize = 30;
const FILES: usize = 10_000;
const ROUNDS: usize = 9;
/// How large each of the large files is: below `checkpoints.maxFileSize`.
const EACH: u64 = 49 << 20;
const PROMPT: &str = r#""prompt":"x""#;

pub fn rows(bench: &mut Bench) {
    worktrees(bench);
    lfs(bench);
    unignored(bench);
}

/// A prompt waits only for its own worktree.
fn worktrees(bench: &mut Bench) {
    let (one, many) = (repositories::files(FILES), repositories::files(FILES));
    for number in 1..WORKTREES {
        many.sh(&format!("git worktree add -q --detach ../w{number} && git -C ../w{number} status > /dev/null"));
    }
    let both = [&one, &many];
    let number = Cell::new(0);
    for scratch in both {
        scratch.axiom(&["init"]);
        scratch.settle();
        hook(scratch, "UserPromptSubmit", PROMPT);
    }
    let mut change = || {
        number.set(number.get() + 1);
        for scratch in both {
            idle(scratch);
            std::fs::write(scratch.path("repo").join(repositories::file(7)), format!("changed {}\n", number.get())).unwrap();
        }
    };
    let mut ours = || hook(&many, "UserPromptSubmit", PROMPT);
    let pair = in_turns_after(ROUNDS, &mut change, &mut ours, &mut || hook(&one, "UserPromptSubmit", PROMPT));
    let what = format!("a prompt, {WORKTREES} worktrees of {FILES} files each, one file changed");
    bench.beside(&what, "the same with one worktree", Goal::AtMost(1.1), pair);
    both.into_iter().for_each(idle);
}

/// A file of random bytes, which nothing compresses.
fn noise(path: &Path) {
    let mut source = std::fs::File::open("/dev/urandom").unwrap().take(EACH);
    let mut file = std::fs::File::create(path).unwrap();
    std::io::copy(&mut source, &mut file).unwrap();
    file.flush().unwrap();
}

fn committed(count: usize, configure: &str) -> Scratch {
    let scratch = Scratch::with_repository();
    scratch.sh(configure);
    (0..count).for_each(|number| noise(&scratch.path("repo").join(format!("{number}.bin"))));
    scratch.sh("git add -A && git commit -q -m large");
    scratch.settle();
    scratch
}

/// The bytes that a folder takes, each link of a file counted once.
fn taken(folder: &Path) -> f64 {
    let said = Command::new("du").args(["-s", "--block-size=1"]).arg(folder).output().unwrap();
    String::from_utf8(said.stdout).unwrap().split_whitespace().next().unwrap().parse().unwrap()
}

fn lfs(bench: &mut Bench) {
    let there = Command::new("git").args(["lfs", "version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !there.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: git-lfs is not installed");
        return;
    }
    let track = "git lfs install --local > /dev/null; git lfs track '*.bin' > /dev/null";
    let (lfs, plain) = (committed(10, track), committed(10, "true"));
    let create = |scratch: &Scratch| scratch.axiom(&["checkpoint", "create"]);
    [&lfs, &plain].into_iter().for_each(|scratch| scratch.axiom(&["init"]));
    let git_dir = lfs.path("repo/.git");
    let before = taken(&git_dir);
    create(&lfs);
    let added = Samples::of(vec![taken(&git_dir) - before]);
    bench.alone("bytes that a checkpoint of 490 MB of Git LFS adds", Unit::Bytes, Goal::AtMost(1e6), added);
    create(&plain);
    let pair = in_turns(ROUNDS, &mut || create(&lfs), &mut || create(&plain));
    bench.beside("checkpoint, 490 MB of Git LFS", "the same as plain files", Goal::AtMost(1.1), pair);
}

/// What a capture leaves in folders for what is only of the moment.
fn left_over(scratch: &Scratch) -> usize {
    let list = |path: &str| std::fs::read_dir(scratch.path(path)).into_iter().flatten().map(|entry| entry.unwrap());
    let is_temporary = |name: std::ffi::OsString| name.to_string_lossy().starts_with("tmp_");
    let packs = list("repo/.git/objects/pack").filter(|entry| is_temporary(entry.file_name())).count();
    packs + list("repo/.git/axiom/tmp").filter(|entry| entry.path().is_dir()).count()
}

fn unignored(bench: &mut Bench) {
    let scratch = repositories::files(1000);
    scratch.axiom(&["init"]);
    let prompt = || hook(&scratch, "UserPromptSubmit", PROMPT);
    prompt();
    let (mut first, mut background, mut again, mut left) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        idle(&scratch);
        (0..42).for_each(|number| noise(&scratch.path("repo").join(format!("data{number}"))));
        scratch.sh("sync");
        first.push(time(&mut || prompt()));
        background.push(time(&mut || idle(&scratch)));
        again.push(time(&mut || prompt()));
        idle(&scratch);
        left.push(left_over(&scratch) as f64);
    }
    bench.alone("a prompt beside 2 GB that nobody ignores, new", Unit::Seconds, Goal::AtMost(10.0), Samples::times(&first));
    bench.alone("then all of it is held in the background", Unit::Seconds, Goal::None, Samples::times(&background));
    bench.alone("a prompt beside 2 GB that were held once", Unit::Seconds, Goal::AtMost(10.0), Samples::times(&again));
    bench.alone("temporary files and folders that are left", Unit::Count, Goal::AtMost(0.0), Samples::of(left));
}
