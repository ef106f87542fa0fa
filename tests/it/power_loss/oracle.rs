//! What has to be true after a power loss, by an account of its own: what was there before and after each step.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::common::files_below;
use crate::common::nothing_lost::Acknowledged;
use crate::power_loss::losses::Loss;
use crate::power_loss::replay::Replay;
use crate::power_loss::scenario::{Recorded, Step};

/// What is no file of a worktree.
const OWN: [&str; 3] = [".git", ".worktrees", "trash"];

/// What a repository holds, as far as it was promised.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Checkpoints, tasks and which of them are merged, the ids that `cases.jsonl` has, branches, tags, and captures.
    acknowledged: Acknowledged,
    /// Of each task, whether it is merged.
    tasks: BTreeMap<String, bool>,
    /// The user's branches.
    branches: Vec<String>,
    /// Of the main worktree.
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// Of the workspaces of agents.
    worked_on: BTreeMap<PathBuf, Vec<u8>>,
    status: String,
    /// As [`plan`] has it.
    plan: String,
}

/// How far a plan is, without its times: as `plan show --json` says.
pub fn plan(said: &str) -> String {
    let json: serde_json::Value = serde_json::from_str(said).unwrap_or_default();
    ["status", "phase", "proposals", "cases", "became", "problems"].map(|key| timeless(&json[key]).to_string()).join(" ")
}

/// A document without its times.
fn timeless(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Object(keys) => {
            let stays = keys.iter().filter(|(key, _)| !key.ends_with("At"));
            stays.map(|(key, value)| (key.clone(), timeless(value))).collect()
        }
        serde_json::Value::Array(items) => items.iter().map(timeless).collect(),
        plain @ (serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::Number(_)
        | serde_json::Value::String(_)) => plain.clone(),
    }
}

impl Facts {
    /// As a replay says, after it was asked.
    pub fn read(replay: &Replay) -> Self {
        let json = |name: &str| serde_json::from_str::<serde_json::Value>(&replay.answer(name).out).unwrap_or_default();
        let list = |name: &str| json(name)[name].as_array().cloned().unwrap_or_default();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let refs = replay.answer("refs").out;
        let promised =
            |name: &str| name.starts_with("refs/heads/") || name.starts_with("refs/tags/") || name.contains("/captures/");
        let mut acknowledged = Acknowledged::default();
        acknowledged.add_refs(&refs, promised);
        list("checkpoints").iter().for_each(|each| acknowledged.add("checkpoint", text(&each["name"]), ""));
        let tasks: BTreeMap<String, bool> =
            list("tasks").iter().map(|each| (text(&each["id"]), each["merged"].is_object())).collect();
        for (task, is_merged) in &tasks {
            acknowledged.add("task", task, "");
            if *is_merged {
                acknowledged.add("merge of task", task, "");
            }
        }
        // The source of a log that is begun anew may know fewer.
        let cases = std::fs::read_to_string(replay.repo().join(".git/axiom/cases.jsonl")).unwrap_or_default();
        for line in cases.lines() {
            let Some(after) = line.find("\"id\":\"").map(|at| &line[at + 6..]) else { continue };
            acknowledged.add("line of cases.jsonl", after.split('"').next().unwrap_or_default(), "");
        }
        let is_users = |line: &&str| line.contains(" refs/heads/") && !line.contains("/axiom/");
        Self {
            acknowledged,
            tasks,
            branches: refs.lines().filter(is_users).map(str::to_owned).collect(),
            files: files_below(&replay.repo(), &OWN),
            worked_on: files_below(&replay.repo().join(".worktrees"), &OWN),
            status: replay.answer("status").out,
            plan: plan(&replay.answer("plan").out),
        }
    }
}

/// What is true at the end of each step, the beginning first.
pub struct Oracle {
    facts: Vec<Facts>,
}

/// What was found wrong.
pub type Faults = Vec<String>;

impl Oracle {
    /// Looks at every step's end.
    pub fn of(recorded: &Recorded) -> Self {
        let disks = std::iter::once(&recorded.recording.before).chain(recorded.steps.iter().map(|done| &done.disk));
        let look = |disk| {
            let replay = Replay::write(&recorded.recording, disk, &recorded.env).reading();
            replay.ask(&recorded.env);
            Facts::read(&replay)
        };
        Self { facts: disks.map(look).collect() }
    }

    /// Judges what is there after a power loss and recovery.
    pub fn judge(&self, recorded: &Recorded, loss: &Loss, replay: &Replay) -> Faults {
        let events = loss.moment.0.events;
        let steps = &recorded.steps;
        // How many steps had ended, and how many until the last promise.
        let ended = steps.iter().take_while(|done| done.events <= events).count();
        let promised = (0..ended).rev().find(|step| matches!(steps[*step].step, Step::Verb(_))).map_or(0, |step| step + 1);
        let under_way = steps.get(ended).map(|done| done.step);
        let first_loose = if promised == 0 { 0 } else { steps[promised - 1].events };
        let of_user = |step: usize| {
            let from = if step == 0 { 0 } else { steps[step - 1].events };
            matches!(steps[step].step, Step::User(_)) && loss.takes_of(from.max(first_loose), steps[step].events)
        };
        let users_loss = matches!(under_way, Some(Step::User(_))) || (promised..ended).any(of_user);
        let mut faults = self.of_programs(replay, users_loss);
        let [before, after] = ["before", "after"].map(|name| replay.answer(name).out);
        if before != after {
            faults.push(format!("the second recovery changed something: {}", differing(&before, &after)));
        }
        let purged = steps[..promised].iter().any(|done| matches!(done.step, Step::Verb(args) if args[0] == "purge"));
        let secrets = replay.answer("secret").out;
        if purged && !["", "0"].contains(&secrets.trim()) {
            faults.push(format!("{} lines of objects have what was purged", secrets.trim()));
        }
        let now = Facts::read(replay);
        let last = if under_way.is_some() { ended + 1 } else { ended };
        let possible = &self.facts[promised..=last];
        let session = matches!(under_way, Some(Step::Verb(args)) if args[0] == "run");
        let promised = Acknowledged::of_all(possible.iter().map(|facts| &facts.acknowledged));
        faults.extend(promised.lost(&now.acknowledged));
        if !possible.iter().any(|facts| facts.plan == now.plan) {
            faults.push(format!("the plan: {}, of {:?}", now.plan, possible.iter().map(|facts| &facts.plan).collect::<Vec<_>>()));
        }
        if !users_loss && !session {
            faults.extend(now.is_none_of(possible));
        }
        if !users_loss && session {
            faults.extend(now.files_of_none(possible, |facts| &facts.files));
        }
        if steps.iter().any(|done| matches!(done.step, Step::Verb(args) if args.contains(&"--files"))) {
            faults.extend(now.files_of_none(possible, |facts| &facts.worked_on));
        }
        faults
    }

    fn of_programs(&self, replay: &Replay, users_loss: bool) -> Faults {
        let mut faults = Faults::new();
        // An agent's git syncs nothing either.
        let users_loss = users_loss || replay.answer("named").out.contains("\"gitDamage\"");
        for name in ["completed", "recover", "again", "fsck", "verify", "checkpoints", "tasks", "refs", "status"] {
            let answer = replay.answer(name);
            let wrong = answer.err.contains("panicked") || answer.code < 0 || answer.code > 128;
            // What git left unsynced is the user's own loss; that we say so is all that can be asked.
            if wrong || (answer.code != 0 && !users_loss) {
                faults.push(format!("{name}: exit {}\n{}{}", answer.code, answer.out, answer.err));
            }
        }
        let [fsck, verify] = ["fsck", "verify"].map(|name| replay.answer(name).code);
        if verify != 0 && fsck == 0 {
            faults.push("verify finds damage, and git does not".into());
        }
        faults
    }
}

/// The lines that only one of two texts has.
fn differing(before: &str, after: &str) -> String {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<String>>();
    let (before, after) = (lines(before), lines(after));
    let only = |sign: &str, one: &BTreeSet<String>, other: &BTreeSet<String>| -> Vec<String> {
        one.difference(other).map(|line| format!("\n  {sign} {line}")).collect()
    };
    [only("-", &before, &after), only("+", &after, &before)].concat().concat()
}

impl Facts {
    /// That it is exactly one of these: files, branches, and what git says of the index.
    fn is_none_of(&self, possible: &[Facts]) -> Faults {
        let same = |facts: &Facts| facts.files == self.files && facts.branches == self.branches && facts.status == self.status;
        if possible.iter().any(same) {
            return vec![];
        }
        let mut faults = self.files_of_none(possible, |facts| &facts.files);
        let known: Vec<_> = possible.iter().map(|facts| (&facts.branches, &facts.status)).collect();
        faults.push(format!("a mixture: {:?}\n{}\nof {known:?}", self.branches, self.status));
        faults
    }

    /// Files that are as they never were.
    fn files_of_none(&self, possible: &[Facts], of: fn(&Facts) -> &BTreeMap<PathBuf, Vec<u8>>) -> Faults {
        let paths: BTreeSet<&PathBuf> = possible.iter().chain([self]).flat_map(|facts| of(facts).keys()).collect();
        let wrong = |path: &&&PathBuf| !possible.iter().any(|facts| of(facts).get(**path) == of(self).get(**path));
        let say = |path: &PathBuf| {
            let length = of(self).get(path).map(Vec::len);
            let known: Vec<_> = possible.iter().map(|facts| of(facts).get(path).map(Vec::len)).collect();
            format!("{} has {length:?} bytes, of {known:?}", path.display())
        };
        paths.iter().filter(wrong).map(|path| say(path)).collect()
    }

    /// What differs of the end of a session when it was gone on with.
    pub fn differs(&self, end: &Facts) -> Faults {
        let mut faults = self.files_of_none(std::slice::from_ref(end), |facts| &facts.files);
        if self.tasks != end.tasks {
            faults.push(format!("tasks: {:?}, not {:?}", self.tasks, end.tasks));
        }
        faults
    }
}

impl Oracle {
    /// The last step's facts.
    pub fn end(&self) -> &Facts {
        self.facts.last().unwrap()
    }
}
