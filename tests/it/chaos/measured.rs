//! A world whose agents tell what they use, with budgets and verify steps; and what is known of all that, which no crash may take back.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::chaos::before_after::{PLAN, script_of};
use crate::session_support::World;

/// What the program says: what it used, and how it ended.
const RULES: &str = r#"
[agents.mine.stream]
format = "jsonLines"
cost = "run"
rules = [
    { is = "usage", when = { "/type" = "usage" }, input = "/in", output = "/out", cost = "/cost" },
    { is = "final", when = { "/type" = "end" }, success = { "/type" = "end" } },
]
"#;

/// Runs the script of its task.
const PROGRAM: &str = r#"#!/bin/sh
cat > /dev/null
echo '{"type":"usage","in":3,"out":2,"cost":0.01}'
sh "$HOME/scripts/$AXIOM_TASK_ID" || exit 1
echo '{"type":"end"}'
git axiom signal complete
"#;

/// The phases of a plan, in their order.
const PHASES: [&str; 5] = ["understand", "analyze", "propose", "decompose", "validate"];

/// The tasks of [`PLAN`], each with a budget and two steps. A second iteration of `f` is more than its budget has.
pub fn world(first: impl Fn(&str) -> String) -> World {
    let world = World::new();
    world.program_of_ones_own(PROGRAM, RULES);
    world.env.git(&["config", "axiom.recovery.maxRetries", "50"]);
    for (id, more) in PLAN {
        script(&world, id, &script_of(&world, id, &first(id)));
        let look = format!("look=echo x >> \"$HOME/looked-{id}-$(git rev-parse HEAD)\"; sleep 0.05");
        let there = format!("test -s {id}.txt");
        let limits =
            if id == "f" { ["--max-tokens", "9", "--max-cost", "5"] } else { ["--max-tokens", "9000", "--max-cost", "5"] };
        let steps = ["--verify", look.as_str(), "--verify", there.as_str()];
        world.task(id, "Do it.", &[more, &limits, &steps].concat());
    }
    world
}

/// What the program does for a task.
pub fn script(world: &World, id: &str, content: &str) {
    let folder = world.beside("home/scripts");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(id), content).unwrap();
}

/// What a plan had come to.
#[derive(Debug)]
struct Planned {
    phase: usize,
    /// When each was made.
    proposals: BTreeSet<String>,
    approved: bool,
    created: BTreeSet<String>,
}

/// What is recorded of use, steps and the plan, while nobody supervises.
#[derive(Debug)]
pub struct Books {
    /// Tokens and cents, by task.
    used: BTreeMap<String, (u64, u64)>,
    /// How often the step ran that has passed, by task and commit.
    passed: BTreeMap<(String, String), usize>,
    plan: Option<Planned>,
}

impl Books {
    /// Looks.
    #[track_caller]
    pub fn look(world: &World, note: &str) -> Self {
        Self { used: used(world), passed: passed(world), plan: plan(world, note) }
    }

    /// What is known now goes on from what was known then.
    #[track_caller]
    pub fn goes_on_from(&self, before: &Self, note: &str) {
        for (task, (tokens, cents)) in &before.used {
            let now = self.used.get(task).copied().unwrap_or_default();
            assert!(now.0 >= *tokens && now.1 >= *cents, "{note}: {task} has used {tokens}, {cents}; then {now:?}");
        }
        for (of, runs) in &before.passed {
            assert_eq!(self.passed.get(of), Some(runs), "{note}: the step of {of:?} had passed, and ran again, or is forgotten");
        }
        let (Some(then), now) = (&before.plan, &self.plan) else { return };
        let now = now.as_ref().unwrap_or_else(|| panic!("{note}: the plan is gone: {then:?}"));
        assert!(now.phase >= then.phase && now.proposals.is_superset(&then.proposals), "{note}: {then:?}, then {now:?}");
        assert!(now.approved >= then.approved && now.created.is_superset(&then.created), "{note}: {then:?}, then {now:?}");
    }
}

fn used(world: &World) -> BTreeMap<String, (u64, u64)> {
    let stats = world.env.json(&["stats", "--by", "task"]);
    let cents = |sum: &Value| (sum["costUsd"].as_f64().unwrap_or(0.0) * 100.0).round() as u64;
    let of = |sum: &Value| (sum["name"].to_string(), (sum["tokens"].as_u64().unwrap_or(0), cents(sum)));
    stats["sums"].as_array().unwrap().iter().map(of).collect()
}

/// Of the first step of each task: how often it ran where its passing is recorded.
fn passed(world: &World) -> BTreeMap<(String, String), usize> {
    let log = std::fs::read_to_string(world.env.axiom_dir().join("state/events.jsonl")).unwrap_or_default();
    let events = log.lines().filter(|line| line.contains("stepVerified")).filter_map(|line| serde_json::from_str(line).ok());
    let results = events.map(|event: Value| event["event"]["stepVerified"].clone());
    let passed = results.filter(|one| {
        let command = one["result"]["command"].as_str().is_some_and(|command| command.starts_with("look="));
        command && one["result"]["failure"].is_null()
    });
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let of = passed.map(|one| (word(&one["id"]), word(&one["of"])));
    of.map(|(id, of)| (world.lines(&format!("home/looked-{id}-{of}")).len(), (id, of))).map(|(runs, of)| (of, runs)).collect()
}

/// The plan, in one of the documented states; `None` before it was begun.
#[track_caller]
fn plan(world: &World, note: &str) -> Option<Planned> {
    let shown = world.env.axiom(&["--json", "plan", "show"]);
    if shown.code != Some(0) {
        assert_eq!(shown.json()["error"]["code"], "NO_PLAN", "{note}: {shown}");
        return None;
    }
    let plan = shown.json();
    let phase = PHASES.iter().position(|phase| plan["phase"] == *phase);
    assert!(phase.is_some() && (plan["status"] == "planning" || plan["status"] == "done"), "{note}: {plan}");
    assert!(plan["running"].is_null() || plan["status"] == "planning", "{note}: {plan}");
    let ids = |list: &Value| list.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect::<BTreeSet<_>>();
    let (created, pending) = (ids(&plan["partialCases"]["created"]), ids(&plan["partialCases"]["pending"]));
    assert!(created.is_disjoint(&pending), "{note}: {plan}");
    let created = if plan["status"] == "done" { ids(&plan["became"]) } else { created };
    let proposals = plan["proposals"].as_array().unwrap();
    let approved = proposals.iter().any(|one| one["approved"] == true);
    let proposals = proposals.iter().map(|one| one["at"].as_str().unwrap().to_owned()).collect();
    Some(Planned { phase: phase.unwrap(), proposals, approved, created })
}
