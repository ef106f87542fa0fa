//! SIGKILL to supervisors, keepers, agents, planners, everything, and to recovery, several times in one history, while a human
//! intervenes.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use crate::chaos::before_after::{Before, all_is_done};
use crate::chaos::measured::{self, Books};
use crate::chaos::planner;
use crate::chaos::victims::Victim;
use crate::common::trials::{AskedCases, case_of};
use crate::session_support::{Live, Random, UsersThings, World, several_at_a_time};

const ARGS: [&str; 2] = ["--agents", "2"];

/// How often a human lets go on what waits in the end.
const ROUNDS: u32 = 6;

/// What a human does in another terminal.
const DEEDS: [&[&[&str]]; 4] = [
    &[&["pause"], &["resume"]],
    &[&["checkpoint", "create"]],
    &[&["stop", "agent-001"]],
    &[&["task", "edit", "e", "--max-tokens", "8000"]],
];

/// What happens, one after the other.
#[derive(Debug, Clone, Copy)]
struct Blow {
    victim: Victim,
    /// What a human does before.
    deed: Option<usize>,
    /// After the one before it.
    after: Duration,
    /// Which of several.
    which: u64,
    /// After how long each of these recoveries is killed, where there is no session any more.
    recoveries: [Option<Duration>; 2],
}

impl Blow {
    fn drawn(random: &mut Random) -> Self {
        let victims = [Victim::Supervisor, Victim::Keeper, Victim::Agent, Victim::Planner, Victim::Everything];
        let victim = victims[random.below(5) as usize];
        let deed = (random.below(2) > 0).then(|| random.below(DEEDS.len() as u64) as usize);
        let after = Duration::from_millis(random.below(1500));
        let mut recovery = || (random.below(3) > 0).then(|| Duration::from_millis(random.below(400)));
        Self { victim, deed, after, recoveries: [recovery(), recovery()], which: random.below(1 << 20) }
    }
}

/// A world and its session.
struct History {
    world: World,
    users: UsersThings,
    live: Option<Live>,
    /// A verb on the plan.
    planning: Option<Live>,
    before: Option<Before>,
    books: Option<Books>,
    note: String,
}

impl History {
    /// With tasks that say something, and note that it was taken: what was acknowledged has to be known in the end.
    fn new(note: String) -> Self {
        let world = measured::world(|id| format!("git axiom signal learning 'known by {id}' && echo {id} >> $HOME/acknowledged"));
        planner::prepare(&world);
        world.env.ok(&["checkpoint", "create", "mine"]);
        let users = world.make_dirty();
        Self { world, users, live: None, planning: None, before: None, books: None, note }
    }

    fn play(mut self, blows: &[Blow]) -> usize {
        let mut killed = 0;
        for (number, blow) in blows.iter().enumerate() {
            let live = self.live.get_or_insert_with(|| self.world.start_autopilot(&ARGS));
            self.planning = planner::goes_on(&self.world, number);
            std::thread::sleep(blow.after / 2);
            blow.deed.into_iter().for_each(|deed| intervenes(&self.world, DEEDS[deed], &self.note));
            std::thread::sleep(blow.after / 2);
            if matches!(blow.victim, Victim::Planner) {
                self.planning = None;
            }
            killed += usize::from(blow.victim.dies(&self.world, live, blow.which));
            let runs = live.runs();
            // Two verbs on one plan are not what is looked for: what does not end by itself soon is killed.
            self.planning = None;
            if !runs {
                self.live = None;
                self.crashed(blow);
            }
        }
        self.comes_to_its_end();
        killed
    }

    /// Nobody supervises: nothing was lost until now, nor is it by recoveries that die.
    fn crashed(&mut self, blow: &Blow) {
        self.look();
        for (number, after) in blow.recoveries.iter().enumerate().filter_map(|(number, after)| Some((number, (*after)?))) {
            let command = self.world.env.axiom_command(&self.world.env.repo(), ["recover", "--yes"]);
            let mut recovery = Live::start(command, self.world.env.root(), &format!("recovery-{number}"));
            std::thread::sleep(after);
            recovery.kill();
            self.look();
        }
    }

    fn look(&mut self) {
        let now = Before::look(&self.world, self.users.clone());
        if let Some(before) = self.before.replace(now) {
            before.nothing_is_lost(&self.world, &self.note);
        }
        let books = Books::look(&self.world, &self.note);
        if let Some(before) = &self.books {
            books.goes_on_from(before, &self.note);
        }
        self.books = Some(books);
    }

    fn comes_to_its_end(mut self) {
        let (world, note) = (&self.world, &self.note);
        let planned = planner::comes_to_its_end(world, note);
        let mut live = self.live.take();
        // What was stopped, or has used up its budget, waits for a human.
        for round in 0..=ROUNDS {
            let ended = live.take().unwrap_or_else(|| world.start_autopilot(&ARGS)).wait();
            if ended.code == Some(0) && planned.iter().all(|task| world.status_of(task) == "done") {
                break;
            }
            assert!(round < ROUNDS && matches!(ended.code, Some(0 | 1)), "{note}\n{}{}", ended.stdout, ended.stderr);
            let gates: Vec<String> = world.gates().iter().map(|gate| gate["id"].as_str().unwrap().to_owned()).collect();
            gates.iter().for_each(|gate| drop(world.env.ok(&["gate", "approve", gate])));
        }
        if let Some(before) = &self.books {
            Books::look(world, note).goes_on_from(before, note);
        }
        if let Some(before) = self.before {
            before.nothing_is_lost_or_left(world, note);
        }
        all_is_done(world, note);
        let known = world.env.ok(&["learnings", "--json"]);
        for id in world.lines("home/acknowledged") {
            assert!(known.contains(&format!("known by {id}")), "{note}: what {id} said was acknowledged\n{known}");
        }
    }
}

/// A human does something; what is refused was not done.
#[track_caller]
fn intervenes(world: &World, deed: &[&[&str]], note: &str) {
    for words in deed {
        let run = world.env.axiom(words);
        assert!(run.code.is_some_and(|code| code < 100), "{note}: {words:?}\n{run}");
    }
}

#[test]
fn whatever_dies_the_work_goes_on() {
    let seeds = AskedCases::read().seeds_or_clock("whatever dies", 6);
    let (wanted, killed) = (seeds.end - seeds.start, AtomicUsize::new(0));
    several_at_a_time(seeds.collect(), |seed| {
        let mut random = Random::of(seed);
        let blows: Vec<Blow> = (0..=random.below(3)).map(|_| Blow::drawn(&mut random)).collect();
        killed.fetch_add(History::new(format!("{}: {blows:?}", case_of(seed))).play(&blows), Relaxed);
    });
    assert!(wanted < 10 || killed.into_inner() > 0, "nothing that ran was killed");
}
