//! Random rows of edits, commits, merges, checkpoints, rollbacks, undos and redos, on a real repository and on a simple model
//! beside it. After every step both must be the same; and every content that was in the worktree when one of our operations
//! began must still be reachable from some ref at the end.
//!
//! Histories (`tests/it/histories`) hold a verb against its own dry run; this says by itself what has to come of it: which commits of a task
//! are reverted, and what is refused. A rollback that reverts only the newest commit of a task fails here within 100 rows, and passes 60
//! histories, since its preview says the same.
//!
//! `AXIOM_ROUNDS` says how many rows; a failure names its seed.

mod model;
mod real;

use crate::common::random::Random;
use crate::common::trials::case_of;
use crate::common::workers::try_asked;
use model::{Model, Step};
use real::Real;

/// Where a test run begins, and how many rows it tells.
const TOLD: (u64, u64) = (1, 100);
/// Steps of a row.
const STEPS: u32 = 10;

#[test]
fn random_rows_of_operations_do_what_the_model_says_and_lose_nothing() {
    try_asked("rollback_model::random_rows_of_operations_do_what_the_model_says_and_lose_nothing", TOLD, || tell);
}

fn tell(seed: u64) {
    let real = Real::new();
    let mut model = Model::new(&real);
    let mut random = Random::of(seed);
    let mut story = Vec::new();
    for _ in 0..STEPS {
        let step = Step::random(&mut |below| random.below(below), model.checkpoints());
        story.push(format!("{step:?}"));
        let told = || format!("{}: {}", case_of(seed), story.join(", "));
        model.take(&step, &real, &told);
    }
    real.nothing_is_lost(&|| format!("{}: {}", case_of(seed), story.join(", ")));
}
