//! Tries the power losses of a plan, several at once.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::common::random::Random;
use crate::power_loss::disk::{Left, What};
use crate::power_loss::losses::{Loss, Window, windows};
use crate::power_loss::model::{Disk, Event, Node, Recording};
use crate::power_loss::oracle::{Facts, Faults, Oracle};
use crate::power_loss::replay::{Replay, sees_only_its_own};
use crate::power_loss::scenario::{Recorded, Scenario, Step};

/// Which losses are tried.
pub enum Plan {
    /// Those that a seed draws, until the time is over.
    Short {
        /// The seed.
        seed: u64,
        /// From the end of the recording.
        time: Duration,
    },
    /// For these seeds one of each window; with seed 0 all prefixes, single losses and pairs too.
    Long(Range<u64>),
}

/// After how many faults a scenario ends. `AXIOM_POWER_FAULTS=n` says another number: one, to stop and look at its disk, or many, to see
/// what they have in common. `AXIOM_POWER_KEEP` keeps the disks of faults.
const ENOUGH: usize = 5;

/// Records the scenario and tries the plan; returns the number of losses after which something was wrong.
pub fn run(scenario: &Scenario, plan: &Plan) -> usize {
    let begun = Instant::now();
    let recorded = scenario.record();
    let oracle = Oracle::of(&recorded);
    let windows = windows(&recorded.recording);
    eprintln!(
        "{}: {} events, {} windows, {:.1?}",
        recorded.name,
        recorded.recording.events.len(),
        windows.len(),
        begun.elapsed()
    );
    let enough = std::env::var("AXIOM_POWER_FAULTS").ok().and_then(|text| text.parse().ok()).unwrap_or(ENOUGH);
    let trial = Trial {
        recorded: &recorded,
        oracle: &oracle,
        enough,
        seen: Mutex::default(),
        faults: Mutex::default(),
        names: names(&recorded.recording),
    };
    let begun = Instant::now();
    match plan {
        Plan::Short { seed, time } => trial.all(drawn(&windows, *seed), begun + *time),
        Plan::Long(seeds) => {
            let never = begun + Duration::from_secs(1 << 30);
            if seeds.contains(&0) {
                trial.all(windows.iter().flat_map(Window::sharp), never);
                trial.all(windows.iter().flat_map(Window::plain), never);
                trial.all(windows.iter().flat_map(Window::pairs), never);
            }
            let seeded = seeds.clone().flat_map(|seed| windows.iter().map(move |window| window.seeded(seed)));
            trial.all(seeded, never);
        }
    }
    let (tried, faults) = (trial.seen.into_inner().unwrap().len(), trial.faults.into_inner().unwrap());
    assert!(tried > 0, "{}: no power loss was tried", recorded.name);
    eprintln!("{}: {tried} power losses tried in {:.1?}, {faults} with faults", recorded.name, begun.elapsed());
    faults
}

/// In an order that the seed says: one sharp loss of each window, then others.
fn drawn(windows: &[Window<'_>], seed: u64) -> impl Iterator<Item = Loss> + Send {
    let mut random = Random(seed);
    let mut order: Vec<usize> = (0..windows.len()).collect();
    let mut shuffled = Vec::new();
    while !order.is_empty() {
        shuffled.push(order.swap_remove(random.below(order.len() as u64) as usize));
    }
    let draws = (0..1000_u64).flat_map(move |round| shuffled.clone().into_iter().map(move |window| (round, window)));
    draws.map(move |(round, window)| {
        let window = &windows[window];
        let mut pick = |mut losses: Vec<Loss>| losses.swap_remove(random.below(losses.len() as u64) as usize);
        match round % 3 {
            0 => pick(window.sharp()),
            1 => window.seeded(random.below(1 << 32)),
            _ => pick(window.plain()),
        }
    })
}

struct Trial<'a> {
    recorded: &'a Recorded,
    oracle: &'a Oracle,
    enough: usize,
    /// Disks that were tried.
    seen: Mutex<HashSet<u64>>,
    faults: Mutex<usize>,
    names: HashMap<Node, String>,
}

impl Trial<'_> {
    fn all(&self, losses: impl Iterator<Item = Loss> + Send, until: Instant) {
        let losses = Mutex::new(losses);
        std::thread::scope(|scope| {
            let processors = std::thread::available_parallelism().map_or(2, usize::from);
            for _ in 0..if sees_only_its_own() { processors } else { 1 } {
                scope.spawn(|| {
                    while Instant::now() < until && *self.faults.lock().unwrap() < self.enough {
                        let Some(loss) = losses.lock().unwrap().next() else { return };
                        self.one(&loss);
                    }
                });
            }
        });
    }

    fn one(&self, loss: &Loss) {
        let mut loss = loss.clone();
        self.spare(&mut loss);
        let loss = &loss;
        let disk = loss.moment.0.after(&loss.moment.1, &loss.left);
        if !self.seen.lock().unwrap().insert(hash(&disk, self.recorded, loss.moment.0.events)) {
            return;
        }
        let replay = Replay::write(&self.recorded.recording, &disk, &self.recorded.env);
        replay.ask(&self.recorded.env);
        let mut faults = self.oracle.judge(self.recorded, loss, &replay);
        let session =
            self.recorded.steps.len() == 1 && matches!(self.recorded.steps[0].step, Step::Verb(args) if args[0] == "run");
        if session && faults.is_empty() && loss.moment.0.events.is_multiple_of(4) {
            faults.extend(self.gone_on(&replay));
        }
        if !faults.is_empty() {
            *self.faults.lock().unwrap() += 1;
            let lost = in_words(&self.names, loss);
            let kept = std::env::var_os("AXIOM_POWER_KEEP").map(|_| replay.keep());
            eprintln!("--- {}, {}: {}\n{lost}kept: {kept:?}", self.recorded.name, loss.what, faults.join("\n"));
        }
    }

    /// With `AXIOM_POWER_SPARE=part`, contents of files whose path has that part are not lost: to see what lies behind a fault
    /// that is known.
    fn spare(&self, loss: &mut Loss) {
        let Ok(spared) = std::env::var("AXIOM_POWER_SPARE") else { return };
        for (loose, left) in loss.moment.1.iter().zip(&mut loss.left) {
            if let What::Contents(node, _) = &loose.what
                && self.names.get(node).is_some_and(|name| spared.split(',').any(|part| name.contains(part)))
            {
                *left = Left::All;
            }
        }
    }

    /// The session is gone on with, and comes to the same end.
    fn gone_on(&self, replay: &Replay) -> Faults {
        replay.ask_on(&self.recorded.env);
        let run = replay.answer("run");
        let mut faults = Facts::read(replay).differs(self.oracle.end());
        for name in ["ways", "run", "fsck", "verify"] {
            let answer = replay.answer(name);
            if answer.code != 0 {
                faults.push(format!("{name} afterwards: exit {}\n{}{}", answer.code, answer.out, answer.err));
            }
        }
        if !faults.is_empty() {
            faults.push(format!("{}{}", run.out, run.err));
        }
        faults
    }
}

fn hash(disk: &Disk, recorded: &Recorded, events: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    recorded.steps.iter().take_while(|done| done.events <= events).count().hash(&mut hasher);
    for (path, node) in disk.paths() {
        path.hash(&mut hasher);
        disk.contents.get(&node).map(|content| content.hash).hash(&mut hasher);
    }
    hasher.finish()
}

/// Where each node was last.
fn names(recording: &Recording) -> HashMap<Node, String> {
    let before = recording.before.paths().into_iter().map(|(path, node)| (node, path.display().to_string()));
    let mut names: HashMap<Node, String> = before.collect();
    for event in &recording.events {
        let Event::Names(changed) = event else { continue };
        for (folder, name, node) in changed {
            let folder = names.get(folder).cloned().unwrap_or_default();
            node.iter().for_each(|node| drop(names.insert(*node, format!("{folder}/{name}"))));
        }
    }
    names
}

/// What is lost.
fn in_words(names: &HashMap<Node, String>, loss: &Loss) -> String {
    let named = |node: &Node| names.get(node).map_or("", String::as_str);
    let mut text = String::new();
    for (loose, left) in loss.moment.1.iter().zip(&loss.left).filter(|(_, left)| **left != Left::All) {
        text += &match &loose.what {
            What::Contents(node, _) => format!("  {left:?} of the content of {} ({})\n", named(node), loose.event),
            What::Names(changed) => {
                let words = changed.iter().map(|(folder, name, node)| {
                    let sign = if node.is_some() { "+" } else { "-" };
                    format!("{sign}{}/{name}", named(folder))
                });
                format!("  lost: {} ({})\n", words.collect::<Vec<_>>().join(" "), loose.event)
            }
        };
    }
    text
}
