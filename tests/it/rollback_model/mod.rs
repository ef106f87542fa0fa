//! Random rows of edits, commits, merges, checkpoints, rollbacks, undos and redos, on a real repository and on a simple model
//! beside it. After every step both must be the same; and every content that was in the worktree when one of our operations
//! began must still be reachable from some ref at the end.
//!
//! `AXIOM_MODEL_ROWS` says how many rows, `AXIOM_MODEL_SEED` where to begin; a failure names its seed, and
//! `AXIOM_MODEL_SEED=n AXIOM_MODEL_ROWS=1 cargo test --test it rollback_model` tells it again.

mod model;
mod real;

use std::process::Command;

use crate::common::random::Random;
use model::{Model, Step};
use real::Real;

/// Rows that a test run tells.
const ROWS: u64 = 100;
/// Steps of a row.
const STEPS: u32 = 10;
/// Processes at once.
const WORKERS: u64 = 2;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The operations run in this very process, so it needs an environment of its own: the test starts itself again.
#[test]
fn random_rows_of_operations_do_what_the_model_says_and_lose_nothing() {
    if let Some(first) = number("AXIOM_MODEL_WORKER") {
        for seed in (first..number("AXIOM_MODEL_END").unwrap()).step_by(WORKERS as usize) {
            tell(seed);
        }
        return;
    }
    let seed = number("AXIOM_MODEL_SEED").unwrap_or(1);
    let end = seed + number("AXIOM_MODEL_ROWS").unwrap_or(ROWS);
    let home = tempfile::tempdir().unwrap();
    let workers = (0..WORKERS.min(end - seed)).map(|worker| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([
            "--exact",
            "rollback_model::random_rows_of_operations_do_what_the_model_says_and_lose_nothing",
            "--nocapture",
        ]);
        command.env("AXIOM_MODEL_WORKER", (seed + worker).to_string()).env("AXIOM_MODEL_END", end.to_string());
        // What a power loss does is not asked here, so nothing has to reach a disk.
        if std::path::Path::new("/dev/shm").is_dir() && number("AXIOM_MODEL_ON_DISK").is_none() {
            command.env("TMPDIR", "/dev/shm");
        }
        command.env("HOME", home.path()).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "A U Thor").env(format!("GIT_{who}_EMAIL"), "author@example.org");
        }
        command.spawn().unwrap()
    });
    let workers: Vec<_> = workers.collect();
    let failed = workers.into_iter().map(|mut worker| worker.wait().unwrap()).filter(|status| !status.success()).count();
    assert_eq!(failed, 0, "a row went wrong: see above");
}

fn tell(seed: u64) {
    let real = Real::new();
    let mut model = Model::new(&real);
    let mut random = Random::of(seed);
    let mut story = Vec::new();
    for _ in 0..STEPS {
        let step = Step::random(&mut |below| random.below(below), model.checkpoints());
        story.push(format!("{step:?}"));
        let told = || format!("AXIOM_MODEL_SEED={seed}: {}", story.join(", "));
        model.take(&step, &real, &told);
    }
    real.nothing_is_lost(&|| format!("AXIOM_MODEL_SEED={seed}: {}", story.join(", ")));
}
