//! Rollbacks in a repository of 50,000 files and 10,000 commits, beside `git reset --keep` and `git revert`, of files in few
//! folders and in many; and of all files, beside `git restore`.

use crate::bench::Bench;
use crate::measure::time;
use crate::row::{Goal, Samples, Unit};
use crate::scratch::{PROGRAM, Scratch};
use crate::{history, machine, repositories};

const FILES: usize = 50_000;
const COMMITS: usize = 10_000;
/// The newest commits: a task's.
const TAIL: usize = 100;
const ROUNDS: usize = 7;

pub fn rows(bench: &mut Bench) {
    let one_each = |number: usize| vec![number % FILES];
    // Three files a commit, all in folders of their own.
    let spread = |number: usize| (0..3).map(|more| (3 * number + more) * 167 % FILES).collect();
    in_a_large_repository(bench, "100 files in 100 folders", one_each);
    in_a_large_repository(bench, "300 files in 300 folders", spread);
    of_all_files(bench);
    memory(bench);
    archived(bench);
}

/// What undoes a measured step is not measured.
fn measured(scratch: &Scratch, rounds: usize, works: &[&dyn Fn()]) -> Vec<Samples> {
    let mut times = vec![Vec::new(); works.len()];
    for _ in 0..rounds {
        for (work, times) in works.iter().zip(&mut times) {
            times.push(time(&mut || work()));
            scratch.git(&["reset", "-q", "--hard", "tip"]);
        }
    }
    times.iter().map(|times| Samples::times(times)).collect()
}

fn in_a_large_repository(bench: &mut Bench, changed_files: &str, changed: impl Fn(usize) -> Vec<usize>) {
    let scratch = repositories::history(FILES, COMMITS, TAIL, changed);
    let git = |args: &[&str]| scratch.git(args);
    let axiom = |args: &[&str]| scratch.axiom(args);
    git(&["branch", "tip"]);
    let back = format!("HEAD~{TAIL}");
    git(&["reset", "-q", "--keep", &back]);
    axiom(&["checkpoint", "create", "then"]);
    git(&["reset", "-q", "--keep", "tip"]);
    let works: [&dyn Fn(); 3] =
        [&|| axiom(&["rollback", "checkpoint", "then", "--yes"]), &|| axiom(&["checkpoint", "create"]), &|| {
            git(&["reset", "-q", "--keep", &back])
        }];
    let [rollback, save, reset] = measured(&scratch, ROUNDS, &works).try_into().unwrap();
    let what = |what: &str| format!("{what} ({changed_files})");
    let without = rollback.without(&save);
    let keep = "git reset --keep";
    let name = what("rollback, 100 commits back, without its safety checkpoint");
    bench.beside(&name, keep, Goal::AtMost(0.75), (without, reset.clone()));
    bench.beside("the same, safety checkpoint included", keep, Goal::None, (rollback, reset.clone()));
    bench.beside("the safety checkpoint alone", keep, Goal::None, (save, reset));
    let range = format!("{back}..HEAD");
    let works: [&dyn Fn(); 3] =
        [&|| axiom(&["rollback", "task", "t1", "--dry-run"]), &|| axiom(&["rollback", "task", "t1", "--yes"]), &|| {
            git(&["revert", "--no-edit", &range])
        }];
    let [dry, done, revert] = measured(&scratch, 3, &works).try_into().unwrap();
    let name = what("revert of 100 commits in memory (dry run of a task's rollback)");
    bench.beside(&name, "git revert", Goal::AtMost(0.06), (dry, revert.clone()));
    bench.beside("the same, carried out, safety checkpoint included", "git revert", Goal::AtMost(0.06), (done, revert));
}

/// A repository of so many files of which `changed` were others in the checkpoint `then`.
fn with_changed(files: usize, changed: usize) -> Scratch {
    let scratch = repositories::history(files, 2, 1, |_| (0..changed).collect());
    scratch.git(&["branch", "tip"]);
    scratch.git(&["reset", "-q", "--keep", "HEAD~1"]);
    scratch.axiom(&["checkpoint", "create", "then"]);
    scratch.git(&["reset", "-q", "--hard", "tip"]);
    scratch
}

/// Every file changes back.
fn of_all_files(bench: &mut Bench) {
    let rounds = |files: usize| -> [Samples; 3] {
        let scratch = with_changed(files, files);
        let works: [&dyn Fn(); 3] = [
            &|| scratch.axiom(&["rollback", "checkpoint", "then", "--yes"]),
            &|| scratch.axiom(&["checkpoint", "create"]),
            &|| scratch.git(&["restore", "--source=HEAD~1", "--", "."]),
        ];
        measured(&scratch, 3, &works).try_into().unwrap()
    };
    let [ours, save, theirs] = rounds(FILES);
    let large = ours.without(&save);
    let what = "rollback of 50,000 changed files, without its safety checkpoint";
    bench.beside(what, "git restore", Goal::None, (large.clone(), theirs));
    let [ours, save, _] = rounds(FILES / 4);
    let small = ours.without(&save);
    bench.growth("rollback", "changed files", Goal::AtMost(1.1), (FILES / 4, small), (FILES, large));
}

/// The memory of a rollback of 100 files.
fn memory(bench: &mut Bench) {
    let peak = |files: usize| {
        let scratch = with_changed(files, 100);
        let mut command = scratch.command(PROGRAM, &["rollback", "checkpoint", "then", "--yes"]);
        Samples::of(vec![machine::peak_memory(&mut command) as f64])
    };
    let (small, large) = (peak(FILES / 4), peak(FILES));
    let what = "memory of a rollback of 100 files";
    bench.growth_of(Unit::Bytes, what, "files of the repository", Goal::AtMost(0.5), (FILES / 4, small), (FILES, large));
}

/// What a rollback writes into the log beside tasks that it does not change.
fn archived(bench: &mut Bench) {
    let written = |tasks: usize| {
        let scratch = repositories::files(100);
        let archived = |number: u64| git_axiom::model::work::tasks::task::Task {
            status: git_axiom::model::work::tasks::task::TaskStatus::Archived,
            ..history::script(number, "true")
        };
        history::only_tasks(scratch.layout(), (0..tasks as u64).map(archived).collect());
        scratch.axiom(&["checkpoint", "create", "then"]);
        let bytes = (0..3).map(|round| {
            std::fs::write(scratch.path("repo/new"), format!("{round}")).unwrap();
            let before = scratch.layout().events().metadata().unwrap().len();
            scratch.axiom(&["rollback", "checkpoint", "then", "--yes"]);
            (scratch.layout().events().metadata().unwrap().len() - before) as f64
        });
        Samples::of(bytes.collect())
    };
    let (small, large) = (written(75), written(300));
    bench.growth_of(Unit::Bytes, "log of a rollback", "archived tasks", Goal::AtMost(0.1), (75, small), (300, large));
}
