//! A prompt where a repository is small, as most are: processor time beside `git status`, and counted calls of the system.

use std::path::PathBuf;

use super::attach::idle;
use crate::bench::Bench;
use crate::measure::processor_time;
use crate::repositories;
use crate::row::{Goal, Samples, Unit};
use crate::scratch::{PROGRAM, Scratch};
use crate::traced_calls::{is_sync, own_calls};

const ROUNDS: usize = 15;
/// How many files somebody changed since the last prompt.
const CHANGED: usize = 3;

pub fn rows(bench: &mut Bench) {
    for files in [200, 1000] {
        of_size(bench, files);
    }
}

fn of_size(bench: &mut Bench, files: usize) {
    let scratch = repositories::files(files);
    scratch.axiom(&["init"]);
    let payload = scratch.path("payload");
    let (folder, event) = (scratch.path("repo"), "UserPromptSubmit");
    let text = format!(r#"{{"hook_event_name":"{event}","session_id":"bench","cwd":"{}","prompt":"x"}}"#, folder.display());
    std::fs::write(&payload, text).unwrap();
    scratch.settle();
    let prompt = format!("'{PROGRAM}' hook claude < '{}' > /dev/null", payload.display());
    let mut round = 0;
    let mut change = || {
        idle(&scratch);
        round += 1;
        for number in 0..CHANGED {
            let path = scratch.path("repo").join(repositories::file(number));
            std::fs::write(path, format!("round {round}, file {number}\n")).unwrap();
        }
    };
    // The first one prepares.
    for _ in 0..3 {
        change();
        scratch.sh(&prompt);
    }
    let (mut ours, mut gits) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        change();
        ours.push(processor_time(&scratch, &prompt));
        gits.push(processor_time(&scratch, "git status --porcelain > /dev/null"));
    }
    let what = format!("a prompt in {files} files, {CHANGED} changed, processor time");
    bench.beside(&what, "git status", Goal::AtMost(2.0), (Samples::of(ours), Samples::of(gits)));
    change();
    let Some((calls, syncs)) = counted(&scratch, &prompt) else {
        eprintln!("NOT MEASURED: system calls, because strace is not installed here");
        return;
    };
    bench.alone(&format!("system calls of it, {files} files"), Unit::Count, Goal::AtMost(1500.0), Samples::of(vec![calls]));
    bench.alone(&format!("of these, syncs, {files} files"), Unit::Count, Goal::AtMost(4.0), Samples::of(vec![syncs]));
}

/// How many calls of the system, and how many syncs, a prompt makes, without the process that it leaves in the background.
fn counted(scratch: &Scratch, prompt: &str) -> Option<(f64, f64)> {
    let trace: PathBuf = scratch.path("trace");
    let traced = scratch.command("sh", &["-c", &format!("strace -f -o '{}' {prompt}", trace.display())]).status();
    traced.ok().filter(std::process::ExitStatus::success)?;
    let text = std::fs::read_to_string(&trace).ok()?;
    let own = own_calls(&text);
    let syncs = own.iter().filter(|call| is_sync(call));
    Some((own.len() as f64, syncs.count() as f64))
}
