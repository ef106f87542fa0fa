//! Cases that are tried by processes of their own: the test starts itself again, with an environment in which nothing of the machine is, in
//! memory where that can be (what a power loss does is not asked there).

use std::io::Write;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;

use super::fixed::FIXED;
use super::trials::{AskedCases, case_of};

/// Processes at once.
const WORKERS: u64 = 2;

/// The share of a worker and the file that counts what was tried, between this process and those that it starts.
const SHARE: &str = "AXIOM_WORKER_SHARE";
const TRIED: &str = "AXIOM_WORKER_TRIED";

/// Tries the cases of `seeds`, each once, by processes of their own. `test` is the name of the calling test as `--exact` expects it; `begin`
/// prepares what one process needs for all of its cases, and returns what tries one. One that goes wrong does not keep the others from
/// being tried; a worker that tried none (a test by another name) is a failure.
pub fn try_each<F: FnMut(u64)>(test: &str, seeds: Range<u64>, begin: impl FnOnce() -> F) {
    if let Ok(worker) = std::env::var(SHARE) {
        let mut tried = std::fs::OpenOptions::new().append(true).open(std::env::var_os(TRIED).unwrap()).unwrap();
        let mut one = begin();
        let mut wrong = Vec::new();
        for seed in seeds.skip(worker.parse().unwrap()).step_by(WORKERS as usize) {
            if catch_unwind(AssertUnwindSafe(|| one(seed))).is_err() {
                eprintln!("went wrong: {}", case_of(seed));
                wrong.push(seed);
            }
            writeln!(tried, "{seed}").unwrap();
        }
        return assert!(wrong.is_empty(), "cases that went wrong: {wrong:?}");
    }
    let (home, tried) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
    let start = |worker: u64| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]).env_clear().envs(FIXED.iter().copied());
        command.envs(std::env::vars_os().filter(|(name, _)| {
            let name = name.to_string_lossy();
            name == "PATH" || name == "TMPDIR" || name.starts_with("AXIOM_")
        }));
        let in_memory = std::env::var_os("TMPDIR").is_some_and(|folder| Path::new(&folder).starts_with("/dev/shm"));
        if !in_memory && Path::new("/dev/shm").is_dir() {
            command.env("TMPDIR", "/dev/shm");
        }
        command.env("HOME", home.path()).env(SHARE, worker.to_string()).env(TRIED, tried.path());
        command.spawn().unwrap()
    };
    let count = seeds.end - seeds.start;
    let workers: Vec<_> = (0..WORKERS.min(count)).map(start).collect();
    let failed = workers.into_iter().map(|mut worker| worker.wait().unwrap()).filter(|status| !status.success()).count();
    assert_eq!(failed, 0, "a case went wrong: see above");
    let tried = std::fs::read_to_string(tried.path()).unwrap().lines().count() as u64;
    assert_eq!(tried, count, "cases that were tried");
}

/// The cases that are asked for, each once, as [`try_each`].
pub fn try_asked<F: FnMut(u64)>(test: &str, (first, usual): (u64, u64), begin: impl FnOnce() -> F) {
    try_each(test, AskedCases::read().seeds(first, usual), begin);
}
