//! 100,000 tasks in groups of 100, those in groups of 10.

use git_axiom::model::base::ids::TaskId;
use git_axiom::model::work::tasks::task::{Task, TaskKind};

use crate::bench::Bench;
use crate::measure::in_turns;
use crate::row::{Goal, Samples, Unit};
use crate::scratch::{PROGRAM, Scratch};
use crate::{history, machine};

const TASKS: usize = 100_000;
const LIST: &[&str] = &["task", "list"];

pub fn rows(bench: &mut Bench) {
    let (few, many) = (in_groups(TASKS / 4), in_groups(TASKS));
    let (small, large) = in_turns(5, &mut || few.axiom(LIST), &mut || many.axiom(LIST));
    bench.alone("task list, 100,000 tasks in groups", Unit::Seconds, Goal::None, large.clone());
    bench.growth("task list", "tasks in groups", Goal::AtMost(1.1), (TASKS / 4, small), (TASKS, large));
    let memory = |scratch: &Scratch| Samples::of(vec![machine::peak_memory(&mut scratch.command(PROGRAM, LIST)) as f64]);
    let sizes = ((TASKS / 4, memory(&few)), (TASKS, memory(&many)));
    bench.growth_of(Unit::Bytes, "memory of task list", "tasks in groups", Goal::AtMost(1.0), sizes.0, sizes.1);
}

fn in_groups(tasks: usize) -> Scratch {
    let scratch = Scratch::with_repository();
    let id = |kind: &str, number: usize| TaskId::new(format!("{kind}-{number:06}")).unwrap();
    let group = |kind: TaskKind, id: TaskId, parent: Option<TaskId>| Task { id, kind, parent, ..history::script(0, "true") };
    let mut cases = Vec::new();
    for number in 0..tasks {
        let (upper, lower) = (id("epic", number / 1000), id("sprint", number / 100));
        if number % 1000 == 0 {
            cases.push(group(TaskKind::Goal, upper.clone(), None));
        }
        if number % 100 == 0 {
            cases.push(group(TaskKind::Group, lower.clone(), Some(upper)));
        }
        cases.push(Task { parent: Some(lower), ..history::script(number as u64, "true") });
    }
    history::only_tasks(scratch.layout(), cases);
    scratch
}
