//! What hooks cost an agent that a human runs: whole processes in 50,000 files.

use std::cell::Cell;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use crate::bench::Bench;
use crate::measure::{in_turns_after, time};
use crate::repositories;
use crate::row::{Goal, Samples, Unit};
use crate::scratch::Scratch;

const FILES: usize = 50_000;
const ROUNDS: usize = 9;
/// How many files each of several worktrees has.
const EACH: usize = 5_000;

pub fn rows(bench: &mut Bench) {
    let scratch = repositories::files(FILES);
    scratch.axiom(&["init"]);
    scratch.settle();
    let number = Cell::new(0);
    // Where another program has changed something; what the last hook left to do in the background is done.
    let change = |path: &str| {
        idle(&scratch);
        number.set(number.get() + 1);
        std::fs::write(scratch.path("repo").join(path), format!("changed {}\n", number.get())).unwrap();
    };
    hook(&scratch, "UserPromptSubmit", r#""prompt":"x""#);
    let (file, edited) = (repositories::file(7), repositories::file(8));
    let risky = r#""tool_name":"Bash","tool_input":{"command":"rm -rf x"}"#;
    for (what, event, more) in [("a prompt", "UserPromptSubmit", r#""prompt":"x""#), ("a risky command", "PreToolUse", risky)] {
        let mut ours = || hook(&scratch, event, more);
        let pair = in_turns_after(ROUNDS, &mut || change(&file), &mut ours, &mut || scratch.git(&["status", "--porcelain"]));
        bench.beside(&format!("{what}, one file changed"), "git status", Goal::AtMost(1.1), pair);
    }
    let tool = |name: &str, path: &str| {
        let path = scratch.path("repo").join(path);
        format!(r#""tool_name":"{name}","tool_input":{{"file_path":"{}","command":"ls"}}"#, path.display())
    };
    let rows = [
        ("a harmless command", "PreToolUse", tool("Bash", &file), false),
        ("before an edit of a file as it was saved", "PreToolUse", tool("Edit", &repositories::file(9)), false),
        ("before an edit of a file that was changed", "PreToolUse", tool("Edit", &edited), true),
        ("after an edit", "PostToolUse", tool("Edit", &edited), true),
    ];
    for (what, event, more, changes) in rows {
        let mut before = || if changes { change(&edited) } else { idle(&scratch) };
        let samples = after(&mut before, &mut || hook(&scratch, event, &more));
        bench.alone(what, Unit::Seconds, Goal::AtMost(0.010), samples);
    }
    worktrees(bench);
    stale(bench);
    large(bench);
}

/// A prompt in `ours` beside one in `theirs`.
fn prompts(ours: &Scratch, theirs: &Scratch) -> (Samples, Samples) {
    let prompt = |scratch: &Scratch| hook(scratch, "UserPromptSubmit", r#""prompt":"x""#);
    let mut settle = || [ours, theirs].into_iter().for_each(idle);
    for _ in 0..2 {
        [ours, theirs].into_iter().for_each(prompt);
        settle();
    }
    in_turns_after(ROUNDS, &mut settle, &mut || prompt(ours), &mut || prompt(theirs))
}

/// The index has the stat data of no file, as after a restored backup.
fn stale(bench: &mut Bench) {
    let (stale, fresh) = (repositories::files(FILES), repositories::files(FILES));
    stale.sh("git ls-files -z | xargs -0 touch");
    for scratch in [&stale, &fresh] {
        scratch.axiom(&["init"]);
        scratch.settle();
    }
    std::thread::sleep(Duration::from_millis(1100));
    let what = "a prompt, all files touched since git looked at them";
    bench.beside(what, "the same in a fresh repository", Goal::AtMost(1.1), prompts(&stale, &fresh));
}

/// A few large files that git does not track, unchanged.
fn large(bench: &mut Bench) {
    let (large, without) = (repositories::files(1000), repositories::files(1000));
    large.sh("for i in 1 2 3 4 5 6; do head -c 45M /dev/urandom > data$i; done");
    for scratch in [&large, &without] {
        scratch.axiom(&["init"]);
        scratch.settle();
    }
    std::thread::sleep(Duration::from_millis(1100));
    let what = "a prompt beside 6 untracked files of 45 MB, unchanged";
    bench.beside(what, "the same without them", Goal::AtMost(1.1), prompts(&large, &without));
}

/// A prompt looks at all worktrees: beside what `git status` in each of them takes.
fn worktrees(bench: &mut Bench) {
    let scratch = repositories::files(EACH);
    scratch.axiom(&["init"]);
    let mut there = 1;
    for wanted in [4, 16] {
        for number in there..wanted {
            scratch.sh(&format!("git worktree add -q --detach ../w{number} && git -C ../w{number} status > /dev/null"));
        }
        there = wanted;
        scratch.settle();
        hook(&scratch, "UserPromptSubmit", r#""prompt":"x""#);
        let statuses: String = (1..wanted).map(|number| format!("; git -C ../w{number} status --porcelain")).collect();
        let mut ours = || hook(&scratch, "UserPromptSubmit", r#""prompt":"x""#);
        let mut gits = || scratch.sh(&format!("git status --porcelain{statuses}"));
        let pair = in_turns_after(ROUNDS, &mut || idle(&scratch), &mut ours, &mut gits);
        let what = format!("a prompt, {wanted} worktrees of {EACH} files each, nothing changed");
        bench.beside(&what, "git status in each of them", Goal::AtMost(1.1), pair);
    }
}

/// The time of some work, each after something that is not measured.
fn after(before: &mut dyn FnMut(), work: &mut dyn FnMut()) -> Samples {
    let times = (0..2 * ROUNDS).map(|_| {
        before();
        time(work)
    });
    Samples::times(&times.collect::<Vec<_>>())
}

/// The joiner has nothing to do.
pub(super) fn idle(scratch: &Scratch) {
    let spool = scratch.path("repo/.git/axiom/attach/spool");
    while std::fs::read_dir(&spool).is_ok_and(|mut lines| lines.next().is_some()) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(super) fn hook(scratch: &Scratch, event: &str, more: &str) {
    let folder = scratch.path("repo");
    let payload = format!(r#"{{"hook_event_name":"{event}","session_id":"bench","cwd":"{}",{more}}}"#, folder.display());
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"), &["hook", "claude"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}
